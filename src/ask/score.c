/* score.c - scores of a model on held-out points, and against a known density. */
#include "ask.h"

#define VALUES_SHARE 0.5 /* of the time that a score takes, as it is told: how long its integral takes is not known */

/* ---- on held-out points ------------------------------------------------------------------------------------------ */

/* Means over the domain, relative to the uniform measure: what a score knows of a density as a whole. */
typedef struct whole {
    double mass, mass_se;     /* the mean of f */
    double square, square_se; /* of f^2 */
} whole;

/* By a rule, or by points about those given and where f itself has its mass: a rule by both, so that what normalised the
 * model is not what checks it. */
static npmd_status whole_by_integral(const npmd_domain *dom, values_fn log_f, void *self, const npmd_points *pts,
                                     uint64_t seed, int threads, whole *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    integral_result z;
    TRY(integrate(&(integral_request){ .domain = dom,
                                       .about = pts,
                                       .seed = seed,
                                       .purpose = RNG_SCORE,
                                       .target = domain_has_rules(dom) ? 2e-5 : 1e-3,
                                       .most_points = (size_t)1 << 20,
                                       .twice = true,
                                       .threads = threads },
                  log_f, self, &z, err));
    out->mass = exp(z.log_integral);
    out->mass_se = out->mass * z.log_integral_se;
    out->square = exp(z.log_square);
    out->square_se = z.square_se * out->square / z.square;
done:
    return st;
}

/* f = smooth + peaked, as relative densities: peaked the kernels in a mixture, smooth all else. */
typedef struct halves {
    blend_parts smooth, peaked;
    const asking *ask;
} halves;

/* Asks, and then the leaves, in pieces. */
static npmd_status leaves_values(const halves *f, const blend_parts *p, const double *x, size_t n, double *out,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t piece = compute_is_watched(f->ask->how) ? ASKING_PIECE : n;
    for (size_t first = 0; first < n; first += piece) {
        const size_t count = n - first < piece ? n - first : piece;
        TRY(asking_go_on(f->ask, err));
        TRY(blend_leaves_values(p, x + first * (size_t)p->domain->columns, count, out + first, err));
    }
done:
    return st;
}

static npmd_status smooth_values(void *self, const double *x, size_t n, double *out, npmd_error *err)
{
    const halves *f = self;
    return leaves_values(f, &f->smooth, x, n, out, err);
}

static npmd_status peaked_values(void *self, const double *x, size_t n, double *out, npmd_error *err)
{
    const halves *f = self;
    return leaves_values(f, &f->peaked, x, n, out, err);
}

/* Adds weight times the mean of exp log_g under one of the peaked parts. */
static npmd_status add_mean(const halves *f, int k, uint64_t seed, values_fn log_g, double enough, double weight,
                            whole *out, npmd_error *err)
{
    double mean = 0.0, se = 0.0;
    const npmd_model *part = f->peaked.part[k].model;
    const npmd_status st = part->kind->mean(part, hash_word(seed, (uint64_t)k), log_g, (void *)(uintptr_t)f, enough,
                                            &mean, &se, err);
    out->square += weight * mean;
    out->square_se = hypot(out->square_se, weight * se);
    return st;
}

/* mean peaked^2 = sum of w_k w_l mean f_k f_l: in closed form, unless there are too many kernels. */
static npmd_status add_peaked(const halves *f, uint64_t seed, double enough, whole *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const blend_parts *p = &f->peaked;
    double sum = 0.0;
    for (int k = 0; k < p->parts && !isnan(sum); k++)
        for (int l = 0; l <= k && !isnan(sum); l++) {
            const npmd_model *a = p->part[k].model, *b = p->part[l].model;
            double mean = NAN;
            TRY(asking_go_on(f->ask, err));
            if (a->kind == b->kind && a->kind->overlap != NULL)
                TRY(a->kind->overlap(a, b, f->ask->how, &mean, err));
            sum += (k == l ? 1.0 : 2.0) * p->weight[k] * p->weight[l] * mean;
        }
    if (!isnan(sum)) {
        out->square += sum;
        goto done;
    }
    for (int k = 0; k < p->parts; k++)
        TRY(add_mean(f, k, seed, peaked_values, enough, p->weight[k], out, err));
done:
    return st;
}

/* mean f^2 = mean smooth^2 + 2 E smooth under peaked + mean peaked^2: points about those given would miss narrow kernels,
 * whose squares may be most of it. Kernels integrate to one by their closed form. Pairs without an order need nothing
 * else: what the kernels are asked for is symmetric. */
static npmd_status whole_of_halves(const halves *f, const npmd_points *pts, uint64_t seed, double enough, whole *out,
                                   npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *out = (whole){ 0 };
    if (f->smooth.parts > 0)
        TRY(whole_by_integral(f->smooth.domain, smooth_values, (void *)(uintptr_t)f, pts, seed,
                              f->ask->how == NULL ? 0 : f->ask->how->threads, out, err));
    out->mass += 1.0;
    for (int k = 0; k < f->smooth.parts; k++)
        out->mass -= f->smooth.weight[k];
    for (int k = 0; f->smooth.parts > 0 && k < f->peaked.parts; k++)
        TRY(add_mean(f, k, seed, smooth_values, 0.5 * enough, 2.0 * f->peaked.weight[k], out, err));
    TRY(add_peaked(f, seed, enough, out, err));
done:
    return st;
}

/* A density that changes a base: f and f0, relative. */
typedef struct changed {
    evaluator *of, *base;
    const asking *ask;
    double power; /* of f: log g = power log f - log f0 */
} changed;

static npmd_status changed_values(void *self, const double *x, size_t n, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const changed *c = self;
    double *base = NULL;
    TRY(memory_new(&base, n, err));
    TRY(asked_values(&(asked_evaluator){ c->of, c->ask }, x, n, out, err));
    TRY(evaluate(c->base, x, n, JET_VALUE, base, err));
    for (size_t i = 0; i < n; i++)
        out[i] = c->power * (out[i] - c->of->model->facts.log_integral)
                 - (base[i] - c->base->model->facts.log_integral);
done:
    memory_free(base);
    return st;
}

/* The base of a model, or of the members of a log mean, where it has peaks; else NULL. */
static evaluator *peaked_base(evaluator *e)
{
    if (e->base != NULL)
        return e->base->model->kind->mean != NULL ? e->base : NULL;
    return e->part != NULL && e->model->kind->evaluate == blend_log_mean ? peaked_base(&e->part[0]) : NULL;
}

/* mean f = E0 f / f0 and mean f^2 = E0 f^2 / f0, under a base of kernels: by its draws, which meet its peaks. */
static npmd_status whole_over_base(evaluator *e, evaluator *base, const asking *ask, uint64_t seed, double enough,
                                   whole *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *b = base->model;
    changed c = { e, base, ask, 1.0 };
    TRY(b->kind->mean(b, hash_word(seed, RNG_SCORE), changed_values, &c, 1e-3, &out->mass, &out->mass_se, err));
    c.power = 2.0;
    TRY(b->kind->mean(b, hash_word(seed, RNG_SCORE), changed_values, &c, enough, &out->square, &out->square_se, err));
done:
    return st;
}

static npmd_status whole_of(const npmd_model *m, const npmd_points *pts, uint64_t seed, const asking *ask,
                            double enough, whole *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute *how = ask->how;
    halves f = { .ask = ask };
    evaluator e = { 0 }, *base = NULL;
    asked_evaluator asked = { &e, ask };
    shifted relative = { asked_values, &asked, m->facts.log_integral };
    TRY(blend_leaves(m, true, how, &f.peaked, err));
    if (f.peaked.parts > 0) {
        TRY(blend_leaves(m, false, how, &f.smooth, err));
        TRY(whole_of_halves(&f, pts, seed, enough, out, err));
        goto done;
    }
    TRY(evaluator_open(&e, m, how, err));
    base = peaked_base(&e);
    if (base != NULL)
        TRY(whole_over_base(&e, base, ask, seed, enough, out, err));
    else
        TRY(whole_by_integral(m->domain, shifted_values, &relative, pts, seed, how == NULL ? 0 : how->threads, out,
                              err));
done:
    evaluator_close(&e);
    blend_leaves_close(&f.smooth);
    blend_leaves_close(&f.peaked);
    return st;
}

npmd_status model_score(const npmd_model *m, const npmd_points *pts, uint64_t seed, const npmd_compute *how,
                        npmd_score *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double volume = m->domain->volume;
    double *value = NULL, mean = 0.0, se = 0.0; /* relative to uniform */
    whole w = { 0 };
    npmd_score s = { .n = pts->n };
    asking ask = { .how = how, .doing = "score", .done = VALUES_SHARE };
    compute_part values = { how, ask.doing, 0.0, VALUES_SHARE };
    const npmd_compute own = compute_of_part(&values);
    TRY(model_check_domain(m, pts->domain, "points lie", err));
    TRY(memory_new(&value, pts->n, err));
    TRY(model_evaluate_at(m, pts, NPMD_LOG_DENSITY, &own, value, err));
    weighted_mean(pts, value, &mean, &s.nll_se);
    s.nll = -mean;
    for (size_t i = 0; i < pts->n; i++)
        value[i] = exp(value[i]);
    weighted_mean(pts, value, &mean, &se);
    /* the integral of f^2, its error a tenth of that of 2 mean where it can be chosen */
    TRY(whole_of(m, pts, seed, &ask, 0.2 * se * volume, &w, err));
    s.log_integral = log(w.mass);
    s.log_integral_se = w.mass_se / w.mass;
    s.ise_criterion = w.square / volume - 2.0 * mean;
    s.ise_criterion_se = hypot(w.square_se / volume, 2.0 * se);
    s.ise_criterion_relative = s.ise_criterion * volume;
    TRY(numbers_known("the -log likelihood", (const double[]){ s.nll, s.nll_se }, 2, 0, 0, err));
    TRY(numbers_known("the log integral", (const double[]){ s.log_integral, s.log_integral_se }, 2, 0, 0, err));
    TRY(numbers_known("the ISE criterion",
                      (const double[]){ s.ise_criterion, s.ise_criterion_se, s.ise_criterion_relative }, 3, 0, 0, err));
    npmd_points alike = *pts; /* what the model takes for equal */
    alike.unordered = m->set.unordered != 0;
    s.training_rows = points_seen_before(&alike, m->seen, m->seen_count);
    *out = s;
done:
    memory_free(value);
    return st;
}

/* ---- against a known density ------------------------------------------------------------------------------------- */

#define USUAL_POINTS ((size_t)1 << 20) /* of most comparisons; others have fewer, and are done before their share is */

typedef struct counted { /* an estimate, and how far its comparison is */
    evaluator of;
    asking ask;
    double seen, all; /* points */
} counted;

static npmd_status counted_values(void *self, const double *x, size_t n, double *v, npmd_error *err)
{
    counted *c = self;
    c->ask.done = c->seen / c->all;
    c->seen += (double)n;
    return asked_values(&(asked_evaluator){ &c->of, &c->ask }, x, n, v, err);
}

npmd_status model_compare(const npmd_model *m, const npmd_truth *t, npmd_grid grid, size_t points, uint64_t seed,
                          const npmd_compute *how, npmd_comparison *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    counted c = { .ask = { .how = how, .doing = "comparison" }, .all = (double)(points > 0 ? points : USUAL_POINTS) };
    shifted estimate = { counted_values, &c, model_offset(m) };
    npmd_comparison found = { 0 };
    TRY(model_check_domain(m, t->domain, "truth lies", err));
    TRY(evaluator_open(&c.of, m, how, err));
    TRY(truth_compare(t, shifted_values, &estimate, grid, points, seed, &found, err));
    TRY(numbers_known("the comparison",
                      (const double[]){ found.nise, found.ae, found.fr, found.fr2, found.kl, found.nise_undivided }, 6,
                      0, 0, err));
    *out = found;
done:
    evaluator_close(&c.of);
    return st;
}
