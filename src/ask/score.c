/* score.c - scores of a model on held-out points, and against a known density. */
#include "ask.h"

#define VALUES_SHARE 0.5 /* of the time that a score takes, as it is told: how long its integral takes is not known */

/* ---- on held-out points ------------------------------------------------------------------------------------------ */

/* The mean of the squared relative density by a rule, or by points about those given; the log integral is checked as
 * well. */
static npmd_status square_by_integral(const npmd_domain *dom, values_fn log_f, void *self, const npmd_points *pts,
                                      uint64_t seed, int threads, npmd_score *s, double *square, double *se,
                                      npmd_error *err)
{
    npmd_status st = NPMD_OK;
    integral_result z;
    TRY(integrate(&(integral_request){ .domain = dom,
                                       .about = pts,
                                       .seed = seed,
                                       .purpose = RNG_SCORE,
                                       .target = domain_has_rules(dom) ? 2e-5 : 1e-3,
                                       .most_points = (size_t)1 << 20,
                                       .threads = threads },
                  log_f, self, &z, err));
    s->log_integral = z.log_integral;
    s->log_integral_se = z.log_integral_se;
    *square = exp(z.log_square);
    *se = z.square_se * *square / z.square;
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

/* log(2 smooth + peaked) */
static npmd_status outer_values(void *self, const double *x, size_t n, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const halves *f = self;
    double *smooth = NULL;
    TRY(memory_new(&smooth, n, err));
    TRY(leaves_values(f, &f->smooth, x, n, smooth, err));
    TRY(leaves_values(f, &f->peaked, x, n, out, err));
    for (size_t i = 0; i < n; i++)
        out[i] = log_add(out[i], smooth[i] + log(2.0));
done:
    memory_free(smooth);
    return st;
}

/* mean f^2 = mean smooth^2 + E (2 smooth + peaked) under peaked: points about those given would miss narrow kernels,
 * whose squares may be most of it. Pairs without an order need nothing else: what the kernels are asked for is
 * symmetric. */
static npmd_status square_of_halves(halves *f, const npmd_points *pts, uint64_t seed, double enough, double *square,
                                    double *se, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_score unused;
    double mean, mean_se;
    *square = *se = 0.0;
    if (f->smooth.parts > 0)
        TRY(square_by_integral(f->smooth.domain, smooth_values, f, pts, seed,
                               f->ask->how == NULL ? 0 : f->ask->how->threads, &unused, square, se, err));
    for (int k = 0; k < f->peaked.parts; k++) {
        const npmd_model *part = f->peaked.part[k].model;
        TRY(part->kind->mean(part, hash_word(seed, (uint64_t)k), outer_values, f, enough, &mean, &mean_se, err));
        *square += f->peaked.weight[k] * mean;
        *se = hypot(*se, f->peaked.weight[k] * mean_se);
    }
done:
    return st;
}

static npmd_status mean_square(const npmd_model *m, const npmd_points *pts, uint64_t seed, const asking *ask,
                               double enough, npmd_score *s, double *square, double *se, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute *how = ask->how;
    halves f = { .ask = ask };
    evaluator whole = { 0 };
    asked_evaluator asked = { &whole, ask };
    shifted relative = { asked_values, &asked, m->facts.log_integral };
    TRY(blend_leaves(m, true, how, &f.peaked, err));
    if (f.peaked.parts > 0 && !domain_has_rules(m->domain)) {
        s->log_integral_se = m->facts.log_integral_se; /* it integrates to one as its parts do */
        TRY(blend_leaves(m, false, how, &f.smooth, err));
        TRY(square_of_halves(&f, pts, seed, enough, square, se, err));
    } else {
        TRY(evaluator_open(&whole, m, how, err));
        TRY(square_by_integral(m->domain, shifted_values, &relative, pts, seed, how == NULL ? 0 : how->threads, s,
                               square, se, err));
    }
done:
    evaluator_close(&whole);
    blend_leaves_close(&f.smooth);
    blend_leaves_close(&f.peaked);
    return st;
}

npmd_status model_score(const npmd_model *m, const npmd_points *pts, uint64_t seed, const npmd_compute *how,
                        npmd_score *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double volume = m->domain->volume;
    double *value = NULL, mean = 0.0, se = 0.0, square = 0.0, square_se = 0.0; /* relative to uniform */
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
    TRY(mean_square(m, pts, seed, &ask, 0.2 * se * volume, &s, &square, &square_se, err));
    s.ise_criterion = square / volume - 2.0 * mean;
    s.ise_criterion_se = hypot(square_se / volume, 2.0 * se);
    s.ise_criterion_relative = s.ise_criterion * volume;
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
    TRY(model_check_domain(m, t->domain, "truth lies", err));
    TRY(evaluator_open(&c.of, m, how, err));
    TRY(truth_compare(t, shifted_values, &estimate, grid, points, seed, out, err));
done:
    evaluator_close(&c.of);
    return st;
}
