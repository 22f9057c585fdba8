/* series_sgd.c - a series by the published solver, stochastic gradients: a field of one layer on all functions of the
 * basis, whose weights become the coefficients. */
#include "field_fit.h"

static npmd_status series_stochastic(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model, *linear = NULL;
    series_state *s = m->state;
    fit_plan *plan = NULL;
    const derived d = derive_linear(&f->plan->asked, &m->set, (int)s->basis.coefficients);
    TRY(memory_new(&plan, 1, err));
    TRY(plan_derive(f->plan, &d, f->points->n, plan, err));
    TRY(fit_run(plan, f->points, f->watch, &linear, err));
    const field_state *field = linear->state;
    const encoding *enc = &field->encoding;
    const double *weight = field->theta + field_weights(&field->shape, 1);
    for (int k = 0; k < enc->features; k++) {
        size_t at = 0;
        for (int factor = 0; factor < s->basis.factors; factor++)
            at = at * (factor == s->basis.factors - 1 ? s->basis.last : s->basis.functions[factor])
                 + (size_t)enc->function[(size_t)k * (size_t)s->basis.factors + (size_t)factor];
        s->c[at] = weight[k] * enc->scale[k] / sqrt(m->domain->volume);
    }
    s->stochastic = true;
    m->set = linear->set; /* what was left open, as it was chosen */
    m->set.estimator = FIT_SERIES;
    m->set.encoding.features = 0;
    m->facts.steps = linear->facts.steps;
    m->facts.restarts = linear->facts.restarts;
    m->facts.interrupted = linear->facts.interrupted;
    m->facts.objective = linear->facts.objective;
    /* without its constant, which only the Poisson form has */
    TRY(series_integral(&s->basis, s->c, m->set.machine.threads, &s->found, err));
    for (int i = 0; i < linear->warnings; i++)
        model_warn(m, "%s", linear->warning[i]);
    m->choice = linear->choice;
    linear->choice = (choice_record){ 0 };
done:
    model_free(linear);
    memory_free(plan);
    return st;
}

static npmd_status series_sgd_fit(fit *f, npmd_error *err)
{
    return series_fit_by(f, series_stochastic, err);
}

const estimator ESTIMATOR_SERIES_SGD = {
    .name = "series",
    .complete = series_complete,
    .fit = series_sgd_fit,
    .evaluate = series_values_at,
    .save = series_save,
    .load = series_load,
    .describe = series_describe,
    .free = series_free,
};
