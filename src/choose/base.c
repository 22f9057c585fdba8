/* base.c - the base f0 of a field, f = f0 exp(v) / Z: where it comes from, points of its measure, the integral.
 *
 * A base that is fitted to the field's own points knows them: f0 is larger at a point because that point was there, and
 * a v learnt against it would have to take that back. So training sees the measure mean_k f0^(-k), f0^(-k) fitted
 * without fold k; the data term has no f0 in it. The model has the f0 of all points, and its log Z belongs to that one.
 *
 * Points of a step: of each measure f0^(-k) a share of its own, some of them uniform, the others drawn from it. As
 * numbers of each kind are fixed, alpha the uniform share among them, every point counts f0 / (alpha + (1 - alpha) f0),
 * f0 relative to the uniform measure, which is bounded by 1 / (1 - alpha) (Veach's balance heuristic). To draw a point
 * from kernels takes no time, but their density there takes longer than the network. So EVERY steps share a pool with
 * known densities, and select from it at random, each point about EVERY / STEPS_WORTH times; then comes a new one. Other
 * models draw by rejection, which takes longer still: they have one large pool, once.
 *
 * Pools are functions of the seed and their number. A search, whose courses all begin at step 0, has them once. */
#include "choose.h"

#define LEAST_POINTS 50 /* fewer are not divided into folds */
#define EVERY 128       /* steps of a pool */
#define STEPS_WORTH 16  /* a pool is as large as so many steps */
#define LARGE_POOL 131072
#define DRAWS 16384 /* of the integral, at a time */
#define MOST_DRAWS ((size_t)1 << 20)
#define ACCURATE 5e-4                /* of the log integral: what draws reach in good time */
#define MOST_NODES ((size_t)1 << 18) /* peaks that so many do not resolve are met by draws */

static npmd_status step_points(void *self, int64_t step, size_t count, double *x, double *weight, npmd_error *err);

static bool draws_exactly(const npmd_model *m)
{
    bool exactly = m->kind->draw != NULL;
    for (int k = 0; k < m->parts && exactly; k++)
        exactly = draws_exactly(m->part[k]);
    return exactly;
}

static const npmd_model *base_member(const base_set *b, int k)
{
    return b->folds > 0 ? b->fold[k] : b->whole;
}

static int base_members(const base_set *b)
{
    return b->folds > 0 ? b->folds : 1;
}

/* ---- where it comes from ----------------------------------------------------------------------------------------- */

npmd_status base_plan(const fit_plan *of, size_t n, fit_plan *out, npmd_error *err)
{
    const derived d = derive_base(&of->asked, of->domain);
    return plan_derive(of, &d, n, out, err);
}

npmd_status plan_over(const fit_plan *plan, base_kind base, fit_plan *out, npmd_error *err)
{
    const derived d = derive_over(&plan->asked, (int)base);
    return plan_derive(plan, &d, plan->n, out, err);
}

size_t base_bytes(const fit_plan *of, const fit_plan *base)
{
    const size_t points = BASE_POOLS * (STEPS_WORTH * (size_t)of->full.descent.q1 + DRAWS);
    return (BASE_FOLDS + 1) * (base == NULL ? 0 : base->bytes)
           + points * ((size_t)of->domain->columns + 1) * sizeof(double);
}

/* Without fold k; what was chosen for all points stands, where a choice takes long. */
static npmd_status fold_fit(base_set *b, int k, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_plan *of = b->of;
    const npmd_points *pts = b->points;
    const size_t first = pts->n * (size_t)k / BASE_FOLDS, last = pts->n * ((size_t)k + 1) / BASE_FOLDS;
    const derived d = derive_as_before(derive_base(&of->asked, of->domain), &b->whole->set);
    npmd_points *left_out = NULL, *others = NULL;
    fit_plan *plan = NULL;
    fit_watch watch = *b->watch;
    watch.kept = NULL; /* it is fitted while a field is, which may be kept itself */
    TRY(memory_new(&plan, 1, err));
    TRY(points_hold_out(pts, rng_key_make(of->asked.seed, RNG_TUNE, 3), first, last - first, of->asked.ties, SIZE_MAX,
                        &left_out, &others, err));
    if (others->n < 2 || points_check_distinct(others, "", NULL) != NPMD_OK)
        goto done; /* there are no folds of such points */
    TRY(plan_derive(of, &d, others->n, plan, err));
    TRY(fit_run(plan, others, &watch, &b->fold[k], err));
    b->folds = k + 1;
    if (b->fold[k]->facts.interrupted) /* a step against half a base would be another one */
        st = npmd_fail(err, NPMD_STOPPED, "interrupted while the base was fitted");
done:
    points_free(left_out);
    points_free(others);
    memory_free(plan);
    return st;
}

static npmd_status whole_fit(base_set *b, const settings *before, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    derived d = derive_base(&b->of->asked, b->of->domain);
    fit_plan *plan = NULL;
    if (before != NULL)
        d = derive_as_before(d, before);
    TRY(memory_new(&plan, 1, err));
    TRY(plan_derive(b->of, &d, b->points->n, plan, err));
    TRY(fit_run(plan, b->points, b->watch, &b->whole, err));
done:
    memory_free(plan);
    return st;
}

/* Training asks for them, at its first step. */
static npmd_status folds_fit(base_set *b, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (b->divided)
        return NPMD_OK;
    for (int k = 0; b->points != NULL && b->points->n >= LEAST_POINTS && k < BASE_FOLDS && b->folds == k; k++)
        TRY(fold_fit(b, k, err));
    for (int k = 0; b->folds < BASE_FOLDS && k < b->folds; k++) {
        model_free(b->fold[k]);
        b->fold[k] = NULL;
    }
    b->folds = b->folds < BASE_FOLDS ? 0 : BASE_FOLDS;
    b->divided = true;
done:
    return st;
}

npmd_status base_open(base_set *b, const fit_plan *of, const npmd_points *pts, const settings *before,
                      const fit_watch *watch, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *b = (base_set){ .of = of, .watch = watch, .measure = { .points = step_points, .self = b } };
    if (of->origin.base != NULL) {
        b->whole = model_share(of->origin.base);
    } else {
        b->points = pts;
        TRY(whole_fit(b, before, err));
    }
    b->draws = draws_exactly(b->whole);
done:
    if (st != NPMD_OK)
        base_close(b);
    return st;
}

static void pool_close(base_pool *p)
{
    memory_free_all(p->x, p->log_f);
    *p = (base_pool){ 0 };
}

void base_close(base_set *b)
{
    model_free(b->whole);
    for (int k = 0; k < BASE_FOLDS; k++)
        model_free(b->fold[k]);
    for (int i = 0; i < BASE_POOLS; i++) {
        pool_close(&b->steps[i]);
        pool_close(&b->integral[i]);
    }
    *b = (base_set){ 0 };
}

/* ---- points of its measure --------------------------------------------------------------------------------------- */

/* x (count, columns): some uniform points, then draws from m; log_f (count): its log density, relative to uniform. */
static npmd_status draw_points(const base_set *b, const npmd_model *m, rng_key key, uint64_t seed, size_t some,
                               size_t count, double *x, double *log_f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *full = &b->of->full;
    const npmd_compute how = model_compute(full);
    point_source s;
    if (some > 0) {
        source_uniform(&s, m->domain, some, full->descent.sequence == SEQUENCE_SOBOL, key);
        source_fill_all(&s, 0, some, how.threads, x, log_f); /* equal weights, which are not needed */
    }
    if (count > some)
        TRY(model_sample(m, seed, count - some, &how, x + some * (size_t)m->domain->columns, err));
    TRY(model_values(m, &how, x, count, log_f, err));
    for (size_t i = 0; i < count; i++)
        log_f[i] -= m->facts.log_integral;
done:
    return st;
}

static size_t uniform_share(const base_set *b, size_t count)
{
    return (size_t)llround(b->of->full.descent.uniform_share * (double)count);
}

/* The place of the pool of this number: the first ones stay. */
static base_pool *pool_place(base_pool *list, uint64_t number)
{
    return &list[number < BASE_POOLS ? number : BASE_POOLS - 1];
}

/* The pool of this number of all members (each (members, each)), or of the whole base. */
static npmd_status pool_open(base_set *b, bool whole, uint64_t number, size_t each, base_pool **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int members = whole ? 1 : base_members(b);
    const size_t columns = (size_t)b->whole->domain->columns, all = each * (size_t)members;
    const rng_purpose purpose = whole ? RNG_NORMALISE : RNG_INTEGRAL_POINTS;
    const uint64_t seed = b->of->full.seed;
    base_pool *p = pool_place(whole ? b->integral : b->steps, number);
    *out = p;
    if (p->x != NULL && p->number == number && p->each == each)
        return NPMD_OK;
    pool_close(p);
    TRY(memory_new(&p->x, all * columns, err));
    TRY(memory_new(&p->log_f, all, err));
    for (int k = 0; k < members; k++) {
        const uint64_t at = number * BASE_FOLDS + (uint64_t)k;
        TRY(draw_points(b, whole ? b->whole : base_member(b, k), rng_key_make(seed, purpose, at),
                        hash_word(hash_word(seed, (uint64_t)purpose), at), uniform_share(b, each), each,
                        p->x + (size_t)k * each * columns, p->log_f + (size_t)k * each, err));
    }
    p->number = number;
    p->each = each;
done:
    if (st != NPMD_OK)
        pool_close(p);
    return st;
}

/* What a point counts, with f0 = exp(log_f) relative to uniform. */
static double balance(double alpha, double log_f)
{
    return alpha == 0.0 ? 1.0 : 1.0 / (alpha * exp(-log_f) + 1.0 - alpha);
}

/* Of member k some uniform points and some of its draws, at random, none twice unless there are too few. */
static void select_points(const base_set *b, const base_pool *p, size_t k, rng_key key, size_t count, double scale,
                          double *x, double *weight)
{
    const size_t columns = (size_t)b->whole->domain->columns, uniform = uniform_share(b, p->each),
                 some = uniform_share(b, count);
    const double alpha = (double)some / (double)count;
    for (size_t i = 0; i < count; i++) {
        const size_t from = i < some ? 0 : uniform, room = i < some ? uniform : p->each - uniform,
                     at = i < some ? i : i - some;
        const size_t row = k * p->each + from + (size_t)rng_permute(key, at % room, room);
        memcpy(x + i * columns, p->x + row * columns, columns * sizeof *x);
        weight[i] = scale * balance(alpha, p->log_f[row]);
    }
}

static npmd_status step_points(void *self, int64_t step, size_t count, double *x, double *weight, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    base_set *b = self;
    base_pool *pool = NULL;
    TRY(folds_fit(b, err));
    const size_t members = (size_t)base_members(b), used = members < count ? members : count;
    const size_t all = b->draws ? STEPS_WORTH * (size_t)b->of->full.descent.q1 : LARGE_POOL;
    TRY(pool_open(b, false, b->draws ? (uint64_t)step / EVERY : 0, all / members + 1, &pool, err));
    for (size_t j = 0; j < used; j++) {
        const size_t k = ((size_t)step + j) % members, first = count * j / used, some = count * (j + 1) / used - first;
        select_points(b, pool, k, rng_key_make(b->of->full.seed, RNG_CENTRES, (uint64_t)step * BASE_FOLDS + k), some,
                      1.0 / (double)(some * used), x + first * (size_t)b->whole->domain->columns, weight + first);
    }
done:
    return st;
}

/* ---- the integral ------------------------------------------------------------------------------------------------ */

typedef struct running { /* a mean, and the squares about it */
    double mean, squares;
} running;

static void running_add(running *r, double value, size_t n)
{
    const double from = value - r->mean;
    r->mean += from / (double)n;
    r->squares += from * (value - r->mean);
}

/* Z = mean of c exp v = 1 + mean of c (exp v - 1), c what a point counts: the second is exact at v = 0, and has far less
 * noise near it. Which of the two has less says their spread. */
npmd_status base_integral(base_set *b, const integral_request *what, values_fn v, void *self, integral_result *out,
                          npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *change = NULL;
    const double alpha = (double)uniform_share(b, DRAWS) / DRAWS;
    running plain = { 0 }, control = { 0 };
    size_t n = 0;
    assert(b->draws);
    TRY(memory_new(&change, DRAWS, err));
    for (uint64_t number = 0;; number++) {
        base_pool *pool = NULL;
        TRY(pool_open(b, true, number, DRAWS, &pool, err));
        TRY(v(self, pool->x, DRAWS, change, err));
        for (size_t i = 0; i < DRAWS; i++) {
            const double counts = balance(alpha, pool->log_f[i]);
            n++;
            running_add(&plain, counts * exp(change[i]), n);
            running_add(&control, counts * expm1(change[i]), n);
        }
        const bool near = control.squares < plain.squares && control.mean > -1.0;
        const double z = near ? 1.0 + control.mean : plain.mean, squares = near ? control.squares : plain.squares;
        *out = (integral_result){ .log_integral = log(z),
                                  .log_integral_se = hypot(sqrt(squares / (double)(n - 1) / (double)n) / z,
                                                           b->whole->facts.log_integral_se),
                                  .points = n };
        if (!isfinite(out->log_integral) || !isfinite(squares)) {
            st = npmd_fail(err, NPMD_ERR_NUMERIC, "the integral of the density is not finite");
            goto done;
        }
        if (out->log_integral_se <= fmax(what->target, ACCURATE) || n >= MOST_DRAWS
            || (what->stop != NULL && what->stop(what->user)))
            break;
    }
done:
    memory_free(change);
    return st;
}

/* ---- the log integral of a model --------------------------------------------------------------------------------- */

/* Draws know it at once where v is near 0. Quadrature, where there are rules, knows it best, unless the base has peaks
 * that are too narrow for it, and takes longest. */
npmd_status base_normalise(fit *f, base_set *b, values_fn total, void *total_self, values_fn change, void *change_self,
                           npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = f->model;
    integral_request what = fit_integral(f, b->draws ? MOST_NODES : (size_t)1 << 22);
    integral_result z = { .log_integral_se = INFINITY }, drawn = { .log_integral_se = INFINITY };
    if (b->draws)
        TRY(base_integral(b, &what, change, change_self, &drawn, err));
    if (!b->draws || (domain_has_rules(m->domain) && drawn.log_integral_se > 2.0 * what.target))
        TRY(integrate(&what, total, total_self, &z, err));
    fit_normalised(f, integral_of_two(&drawn, &z));
done:
    return st;
}

typedef struct blended { /* a blend, and the base of its first member */
    evaluator all, base;
} blended;

static npmd_status blended_change(void *self, const double *x, size_t n, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    blended *e = self;
    double *base = NULL;
    TRY(memory_new(&base, n, err));
    TRY(evaluate(&e->all, x, n, JET_VALUE, out, err));
    TRY(evaluate(&e->base, x, n, JET_VALUE, base, err));
    for (size_t i = 0; i < n; i++)
        out[i] -= base[i] - e->base.model->facts.log_integral;
done:
    memory_free(base);
    return st;
}

npmd_status base_normalise_blend(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *first = f->model->part[0]->base;
    const npmd_compute how = model_compute(&f->model->set);
    fit_plan *of = NULL; /* whose settings are those of a member, complete */
    base_set b = { 0 };
    blended e = { 0 };
    TRY(memory_new(&of, 1, err));
    of->full = f->model->part[0]->set;
    b = (base_set){ .of = of, .whole = model_share(first), .draws = draws_exactly(first) };
    TRY(evaluator_open(&e.all, f->model, &how, err));
    TRY(evaluator_open(&e.base, first, &how, err));
    TRY(base_normalise(f, &b, evaluator_values, &e.all, blended_change, &e, err));
done:
    evaluator_close(&e.all);
    evaluator_close(&e.base);
    base_close(&b);
    memory_free(of);
    return st;
}
