/* marginal.c - marginal and conditional densities over some of the factors.
 *
 *     f_A(x_A) = integral over the other factors of f(x_A, y) dy,      f(y | x_A) = f(x_A, y) / f_A(x_A)
 *
 * One integral for each point: in one and two dimensions by quadrature; above, with points from the proposal that the
 * model's sketch gives for this slice, since a slice of a peaked density is peaked as well. */
#include "ask.h"

#define COARSEST 32
#define MOST_POINTS ((size_t)1 << 19) /* of one integral */
#define CENTRES 512
#define VALUES_SHARE 0.05 /* of the time that a conditional density takes, as it is told: integrals are the rest */

typedef struct marginal_integral {
    slice at;
    sketch learnt; /* only where there is no quadrature */
    double accuracy, log_volume;
    uint64_t seed;
    int threads;
} marginal_integral;

static void marginal_close(marginal_integral *g)
{
    slice_close(&g->at);
    sketch_close(&g->learnt);
}

/* Once for many points: this learns where the model has its mass, which may take longer than an integral. */
static npmd_status marginal_open(marginal_integral *g, const npmd_model *m, unsigned factors, double accuracy,
                                 uint64_t seed, const npmd_compute *how, const asking *ask, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *g = (marginal_integral){ .accuracy = accuracy > 0.0 ? accuracy : NPMD_ACCURACY,
                              .seed = seed,
                              .threads = how == NULL ? 0 : how->threads };
    TRY(slice_open(&g->at, m, how, factors, ask, err));
    g->log_volume = log(m->domain->volume / g->at.rest->volume);
    if (!domain_has_rules(g->at.rest))
        TRY(sketch_open(&g->learnt, m, how, seed, ask, err));
done:
    return st;
}

/* log f_A at one point of the factors, and its standard error. */
static npmd_status marginal_log_density(marginal_integral *g, const double *x, double *log_density, double *se,
                                        npmd_error *err)
{
    npmd_status st = NPMD_OK;
    proposal q = { 0 };
    integral_result z;
    slice_fix(&g->at, x);
    if (g->learnt.pool != NULL)
        TRY(sketch_proposal(&g->learnt, &g->at, CENTRES, rng_key_make(g->seed, RNG_MARGINAL, 1000), &q, err));
    TRY(integrate(&(integral_request){ .domain = g->at.rest,
                                       .aimed = g->learnt.pool == NULL ? NULL : &q,
                                       .coarsest = COARSEST,
                                       .seed = g->seed,
                                       .purpose = RNG_MARGINAL,
                                       .target = g->accuracy,
                                       .most_points = MOST_POINTS,
                                       .threads = g->threads },
                  slice_values, &g->at, &z, err));
    *log_density = z.log_integral - g->at.model->facts.log_integral - g->log_volume;
    *se = z.log_integral_se;
done:
    proposal_close(&q);
    return st;
}

static npmd_status what_check(npmd_what what, npmd_error *err)
{
    if (what == NPMD_LOG_DENSITY || what == NPMD_DENSITY || what == NPMD_RELATIVE || what == NPMD_INTENSITY)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "of a marginal or conditional density there is log-density, density, relative or intensity");
}

/* From the log density on a domain of this volume to what was asked for. */
static double as_asked(const npmd_model *m, npmd_what what, double volume, double log_density)
{
    if (what == NPMD_LOG_DENSITY)
        return log_density;
    return exp(log_density) * (what == NPMD_RELATIVE ? volume : what == NPMD_INTENSITY ? m->total : 1.0);
}

static npmd_status marginal_known(double value, double se, size_t row, npmd_error *err)
{
    return numbers_known("the value", (const double[]){ value, se }, 2, 2, row, err);
}

npmd_status model_marginal_at(const npmd_model *m, unsigned factors, const npmd_points *pts, npmd_what what,
                              double accuracy, uint64_t seed, const npmd_compute *how, double *out, double *log_se,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    marginal_integral g = { 0 };
    asking ask = { .how = how, .doing = "marginal" };
    double x[DOMAIN_MAX_COLUMNS], se = 0.0;
    TRY(slice_check(m, factors, pts, err));
    TRY(what_check(what, err));
    if (pts->domain->factors == m->domain->factors) {
        for (size_t i = 0; log_se != NULL && i < pts->n; i++)
            log_se[i] = m->facts.log_integral_se;
        return model_evaluate_at(m, pts, what, how, out, err);
    }
    TRY(marginal_open(&g, m, factors, accuracy, seed, how, &ask, err));
    for (size_t i = 0; i < pts->n; i++) {
        ask.done = (double)i / (double)pts->n;
        points_row(pts, i, x);
        double log_density = 0.0;
        TRY(marginal_log_density(&g, x, &log_density, &se, err));
        out[i] = as_asked(m, what, pts->domain->volume, log_density);
        if (log_se != NULL)
            log_se[i] = se;
        TRY(marginal_known(out[i], se, i, err));
    }
done:
    marginal_close(&g);
    return st;
}

npmd_status model_conditional_at(const npmd_model *m, unsigned given, const npmd_points *pts, npmd_what what,
                                 double accuracy, uint64_t seed, const npmd_compute *how, double *out, double *log_se,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    marginal_integral g = { 0 };
    asking ask = { .how = how, .doing = "conditional" };
    compute_part values = { how, ask.doing, 0.0, VALUES_SHARE };
    const npmd_compute own = compute_of_part(&values);
    double row[DOMAIN_MAX_COLUMNS], x[2][DOMAIN_MAX_COLUMNS] = { { 0.0 } }, below = 0.0, se = 0.0, *joint = NULL;
    TRY(what_check(what, err));
    TRY(memory_new(&joint, pts->n, err));
    TRY(model_evaluate_at(m, pts, NPMD_LOG_DENSITY, &own, joint, err));
    ask.done = VALUES_SHARE;
    TRY(marginal_open(&g, m, given, accuracy, seed, how, &ask, err));
    for (size_t i = 0; i < pts->n; i++) {
        ask.done = VALUES_SHARE + (1.0 - VALUES_SHARE) * (double)i / (double)pts->n;
        points_row(pts, i, row);
        factors_gather(m->domain, given, row, x[1]);
        /* a map of one conditional density has the same given values in every row */
        if (i == 0 || memcmp(x[0], x[1], sizeof x[0]) != 0)
            TRY(marginal_log_density(&g, x[1], &below, &se, err));
        memcpy(x[0], x[1], sizeof x[0]);
        out[i] = as_asked(m, what, g.at.rest->volume, joint[i] - below);
        if (log_se != NULL)
            log_se[i] = se;
        TRY(marginal_known(out[i], se, i, err));
    }
done:
    memory_free(joint);
    marginal_close(&g);
    return st;
}
