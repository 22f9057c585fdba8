/* base.c - the base f0 of a field, f = f0 exp(v) / Z: where it comes from, points of its measure, the integral.
 *
 * A base that is fitted to the field's own points knows them: f0 is larger at a point because that point was there, and
 * a v learnt against it would have to take that back. So training sees the measure mean_k f0^(-k), f0^(-k) fitted
 * without fold k; the data term has no f0 in it. The model has the f0 of all points, and its log Z belongs to that one.
 *
 * Points of a step: of each measure f0^(-k) a share of its own, some of them uniform, the others drawn from it. As
 * numbers of each kind are fixed, alpha the uniform share among them, every point counts f0 / (alpha + (1 - alpha) f0),
 * f0 relative to the uniform measure, which is bounded by 1 / (1 - alpha) (Veach's balance heuristic). Kernels draw by
 * themselves, and all points of a step are new. Other models draw by rejection, which takes far longer than a step: of
 * these there is one large pool, drawn once, and each step selects anew from it. */
#include "choose.h"

#define LEAST_POINTS 50 /* fewer are not divided into folds */
#define POOL 131072
#define DRAWS 16384 /* of the integral, at a time */
#define MOST_DRAWS ((size_t)1 << 20)

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
    const derived d = derive_base(&of->asked);
    return plan_derive(of, &d, n, out, err);
}

size_t base_bytes(const fit_plan *of, const fit_plan *base)
{
    return (BASE_FOLDS + 1) * (base == NULL ? 0 : base->bytes)
           + (POOL + (size_t)of->full.descent.q1) * ((size_t)of->domain->columns + 1) * sizeof(double);
}

/* Without fold k; what was chosen for all points stands, where a choice takes long. */
static npmd_status fold_fit(base_set *b, const fit_plan *of, const npmd_points *pts, int k, const fit_watch *watch,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t first = pts->n * (size_t)k / BASE_FOLDS, last = pts->n * ((size_t)k + 1) / BASE_FOLDS;
    derived d = derive_base(&of->asked);
    npmd_points *left_out = NULL, *others = NULL;
    fit_plan *plan = NULL;
    if (of->asked.base == BASE_SERIES) {
        d.set.tau = b->whole->set.tau;
        memcpy(d.set.encoding.max_frequency, b->whole->set.encoding.max_frequency, sizeof d.set.encoding.max_frequency);
        d.set.encoding.max_frequencies = b->whole->set.encoding.max_frequencies;
    }
    TRY(memory_new(&plan, 1, err));
    TRY(points_hold_out(pts, rng_key_make(of->asked.seed, RNG_TUNE, 3), first, last - first, &left_out, &others, err));
    if (others->n < 2 || points_check_distinct(others, "", NULL) != NPMD_OK)
        goto done; /* there are no folds of such points */
    TRY(plan_derive(of, &d, others->n, plan, err));
    TRY(fit_run(plan, others, watch, &b->fold[k], err));
    b->folds = k + 1;
done:
    points_free(left_out);
    points_free(others);
    memory_free(plan);
    return st;
}

static npmd_status base_fit(base_set *b, const fit_plan *of, const npmd_points *pts, const fit_watch *watch,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    fit_plan *plan = NULL;
    TRY(memory_new(&plan, 1, err));
    TRY(base_plan(of, pts->n, plan, err));
    TRY(fit_run(plan, pts, watch, &b->whole, err));
    for (int k = 0; pts->n >= LEAST_POINTS && k < BASE_FOLDS && b->folds == k; k++)
        TRY(fold_fit(b, of, pts, k, watch, err));
    for (int k = 0; b->folds < BASE_FOLDS && k < b->folds; k++) {
        model_free(b->fold[k]);
        b->fold[k] = NULL;
    }
    b->folds = b->folds < BASE_FOLDS ? 0 : BASE_FOLDS;
done:
    memory_free(plan);
    return st;
}

/* The pool: as many draws of each member, with the logs of their densities relative to uniform. */
static npmd_status base_draw_pool(base_set *b, const settings *full, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute how = model_compute(full);
    const int members = base_members(b);
    const size_t columns = (size_t)b->whole->domain->columns, each = POOL / (size_t)members;
    TRY(memory_new(&b->pool, (size_t)members * each * columns, err));
    TRY(memory_new(&b->pool_log, (size_t)members * each, err));
    b->pooled = each;
    for (int k = 0; k < members; k++) {
        const npmd_model *m = base_member(b, k);
        double *x = b->pool + (size_t)k * each * columns, *log_f = b->pool_log + (size_t)k * each;
        TRY(model_sample(m, hash_word(full->seed, (uint64_t)k), each, &how, x, err));
        TRY(model_values(m, &how, x, each, log_f, err));
        for (size_t i = 0; i < each; i++)
            log_f[i] -= m->facts.log_integral;
    }
done:
    return st;
}

npmd_status base_open(base_set *out, const fit_plan *of, const npmd_points *pts, const fit_watch *watch,
                      npmd_error *err)
{
    npmd_status st = NPMD_OK;
    base_set b = { 0 };
    if (of->origin.base != NULL)
        b.whole = model_share(of->origin.base);
    else
        TRY(base_fit(&b, of, pts, watch, err));
    if (!draws_exactly(b.whole))
        TRY(base_draw_pool(&b, &of->full, err));
    *out = b;
    b = (base_set){ 0 };
done:
    base_close(&b);
    return st;
}

void base_close(base_set *b)
{
    model_free(b->whole);
    for (int k = 0; k < BASE_FOLDS; k++)
        model_free(b->fold[k]);
    memory_free_all(b->pool, b->pool_log);
    *b = (base_set){ 0 };
}

/* ---- points of its measure --------------------------------------------------------------------------------------- */

/* What a point counts, with f0 = exp(log_f) relative to uniform. */
static double balance(double alpha, double log_f)
{
    return alpha == 0.0 ? 1.0 : 1.0 / (alpha * exp(-log_f) + 1.0 - alpha);
}

/* Those of one member's measure: some uniform, then draws from it; log_f (count): its log density there. */
static npmd_status member_points(const base_points *p, const evaluator *of, int k, rng_key key, uint64_t seed,
                                 size_t count, double *x, double *log_f, double *alpha, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const base_set *b = p->set;
    const size_t columns = (size_t)of->model->domain->columns, some = (size_t)llround(p->share * (double)count);
    size_t known = 0; /* of the last points the density is known */
    point_source s;
    if (some > 0) {
        source_uniform(&s, of->model->domain, some, p->quasi, key);
        source_fill_all(&s, 0, some, p->how.threads, x, log_f); /* equal weights, which are not needed */
    }
    if (b->pool == NULL) {
        TRY(model_sample(of->model, seed, count - some, &p->how, x + some * columns, err));
    } else {
        const size_t first = (size_t)k * b->pooled;
        for (size_t i = some; i < count; i++) {
            const size_t row = first + (size_t)rng_permute(key, (i - some) % b->pooled, b->pooled);
            memcpy(x + i * columns, b->pool + row * columns, columns * sizeof *x);
            log_f[i] = b->pool_log[row];
        }
        known = count - some;
    }
    if (count > known)
        TRY(evaluate(of, x, count - known, JET_VALUE, log_f, err));
    for (size_t i = 0; i < count - known; i++)
        log_f[i] -= of->model->facts.log_integral;
    *alpha = (double)some / (double)count;
done:
    return st;
}

static npmd_status step_points(void *self, int64_t step, size_t count, double *x, double *weight, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const base_points *p = self;
    const size_t members = (size_t)base_members(p->set), used = members < count ? members : count;
    for (size_t j = 0; j < used; j++) {
        const size_t k = ((size_t)step + j) % members, first = count * j / used, some = count * (j + 1) / used - first;
        const uint64_t at = (uint64_t)step * BASE_FOLDS + k;
        double alpha = 0.0, *own = weight + first;
        TRY(member_points(p, &p->of[k], (int)k, rng_key_make(p->seed, RNG_INTEGRAL_POINTS, at),
                          hash_word(hash_word(p->seed, RNG_INTEGRAL_POINTS), at), some,
                          x + first * (size_t)p->set->whole->domain->columns, own, &alpha, err));
        for (size_t i = 0; i < some; i++)
            own[i] = balance(alpha, own[i]) / (double)(some * used);
    }
done:
    return st;
}

npmd_status base_points_open(base_points *p, const base_set *set, const settings *full, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *p = (base_points){ .set = set,
                        .how = model_compute(full),
                        .seed = full->seed,
                        .share = full->descent.uniform_share,
                        .quasi = full->descent.sequence == SEQUENCE_SOBOL,
                        .measure = { .points = step_points, .self = p } };
    for (int k = 0; k < base_members(set); k++)
        TRY(evaluator_open(&p->of[k], base_member(set, k), &p->how, err));
done:
    return st;
}

void base_points_close(base_points *p)
{
    for (int k = 0; k < BASE_FOLDS; k++)
        evaluator_close(&p->of[k]);
}

/* ---- the integral ------------------------------------------------------------------------------------------------ */

bool base_draws(const base_set *b)
{
    return draws_exactly(b->whole);
}

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
npmd_status base_integral(const base_set *b, const settings *full, const integral_request *what, values_fn v,
                          void *self, integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute how = model_compute(full);
    const base_set whole = { .whole = b->whole };
    base_points p = { .set = &whole, .how = how, .share = full->descent.uniform_share };
    evaluator of = { 0 };
    double *x = NULL, *log_f = NULL, *change = NULL, alpha = 0.0;
    running plain = { 0 }, control = { .mean = 0.0 };
    size_t n = 0;
    assert(base_draws(b));
    TRY(evaluator_open(&of, b->whole, &p.how, err));
    TRY(memory_new(&x, DRAWS * (size_t)b->whole->domain->columns, err));
    TRY(memory_new(&log_f, DRAWS, err));
    TRY(memory_new(&change, DRAWS, err));
    for (uint64_t batch = 0;; batch++) {
        TRY(member_points(&p, &of, 0, rng_key_make(what->seed, what->purpose, batch),
                          hash_word(hash_word(what->seed, (uint64_t)what->purpose), batch), DRAWS, x, log_f, &alpha,
                          err));
        TRY(v(self, x, DRAWS, change, err));
        for (size_t i = 0; i < DRAWS; i++) {
            const double counts = balance(alpha, log_f[i]);
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
        if (out->log_integral_se <= what->target || n >= MOST_DRAWS || (what->stop != NULL && what->stop(what->user)))
            break;
    }
done:
    evaluator_close(&of);
    memory_free_all(x, log_f, change);
    return st;
}
