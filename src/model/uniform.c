/* uniform.c - the uniform density: v = 0. A baseline, and a part of a stack for points far from all others. */
#include "model.h"

static npmd_status uniform_complete(fit_plan *p, npmd_error *err)
{
    (void)err;
    p->full.tau = 0.0; /* nothing is penalised */
    return NPMD_OK;
}

static npmd_status uniform_fit(fit *f, npmd_error *err)
{
    (void)err;
    f->model->facts.objective = 1.0; /* as a field's: the integral of exp 0 */
    return NPMD_OK;
}

static npmd_status uniform_evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out,
                                    npmd_error *err)
{
    const npmd_model *m = e->model;
    (void)x, (void)err;
    memset(out, 0, n * (rows == JET_VALUE ? 1 : (size_t)m->domain->dimension + 2) * sizeof *out);
    return NPMD_OK;
}

const estimator ESTIMATOR_UNIFORM = {
    .name = "uniform",
    .complete = uniform_complete,
    .fit = uniform_fit,
    .evaluate = uniform_evaluate,
};
