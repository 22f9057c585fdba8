/* uniform.c - the uniform density: v = 0. What a fit is compared with, and a stack's part for points that are like no
 * other. */
#include "estimators.h"

static npmd_status uniform_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n,
                                   npmd_options *out, size_t *working_bytes, npmd_error *err)
{
    npmd_options o = *opt;
    const npmd_status st = options_resolve_device(&o, err);
    (void)dom, (void)n;
    o.tau = 0.0;
    *out = o;
    *working_bytes = 0;
    return st;
}

static npmd_status uniform_fit(npmd_model *m, const npmd_options *asked, const npmd_points *pts,
                               npmd_error *err)
{
    (void)asked, (void)pts, (void)err;
    m->facts.objective = 1.0; /* as a field's: the integral of exp 0 */
    return NPMD_OK;
}

static npmd_status uniform_evaluate(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                                    jet_rows rows, double *out, npmd_error *err)
{
    (void)how, (void)x, (void)err;
    memset(out, 0, n * (rows == JET_VALUE ? 1 : (size_t)m->domain->dimension + 2) * sizeof *out);
    return NPMD_OK;
}

const estimator ESTIMATOR_UNIFORM = {
    .name = "uniform",
    .resolve = uniform_resolve,
    .fit = uniform_fit,
    .evaluate = uniform_evaluate,
};
