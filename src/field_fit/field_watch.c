/* field_watch.c - measurements of a field while it is fitted: its distance from a truth, its criterion on held-out
 * points, the signal-to-noise ratios of its gradients, and whether it is time to stop. */
#include "field_fit.h"

npmd_status backend_values(void *self, const double *x, size_t n, double *v, npmd_error *err)
{
    const backend *b = self;
    return b->ops->evaluate(b->self, x, n, JET_VALUE, v, err);
}

npmd_status field_values_at(void *self, const double *x, size_t n, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_values *f = self;
    double *base = NULL;
    TRY(backend_values(f->backend, x, n, out, err));
    if (f->base.model == NULL)
        goto done;
    TRY(memory_new(&base, n, err));
    TRY(evaluate(&f->base, x, n, JET_VALUE, base, err));
    for (size_t i = 0; i < n; i++)
        out[i] += base[i] - f->base.model->facts.log_integral;
done:
    memory_free(base);
    return st;
}

/* mean f^2 - 2 mean over held-out points of f, relative to the uniform measure. */
static npmd_status watch_ise(const npmd_points *held_out, field_values *v, const integral_result *z,
                             npmd_report *report, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *f = NULL, *room = NULL, mean = 0.0, se = 0.0;
    TRY(memory_new(&f, held_out->n, err));
    if (held_out->x == NULL) /* in a file */
        TRY(memory_new(&room, held_out->n * (size_t)held_out->domain->columns, err));
    TRY(field_values_at(v, points_rows(held_out, 0, held_out->n, room), held_out->n, f, err));
    for (size_t i = 0; i < held_out->n; i++)
        f[i] = exp(f[i] - z->log_integral);
    weighted_mean(held_out, f, &mean, &se);
    report->ise = z->square - 2.0 * mean;
    report->ise_se = hypot(z->square_se, 2.0 * se);
done:
    memory_free(f);
    memory_free(room);
    return st;
}

/* The normalised density of this moment against the truth, and on held-out points. */
static npmd_status watch_density(const field_watch *w, npmd_report *report, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = w->fit->model;
    integral_result z;
    TRY(integrate(&(integral_request){ .domain = m->domain,
                                       .about = w->fit->points,
                                       .seed = m->set.seed,
                                       .purpose = RNG_NORMALISE,
                                       .target = 1e-3,
                                       .most_points = 32768,
                                       .threads = m->set.machine.threads },
                  field_values_at, w->values, &z, err));
    report->log_integral = z.log_integral;
    if (w->watch->truth != NULL && report->logged)
        TRY(fit_truth(w->fit, field_values_at, w->values, report, err));
    if (w->watch->held_out != NULL)
        TRY(watch_ise(w->watch->held_out, w->values, &z, report, err));
done:
    return st;
}

static npmd_status watch_look(void *self, npmd_report *report, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    field_watch *w = self;
    snr_values found;
    if ((w->watch->truth != NULL && report->logged) || w->watch->held_out != NULL)
        TRY(watch_density(w, report, err));
    if (w->ratios.parameters > 0) {
        TRY(snr_at(&w->ratios, w->terms, w->backend, report->step, &found, err));
        report->snr_a = found.a;
        report->snr_b = found.b;
        report->snr_c = found.c;
    }
done:
    return st;
}

static npmd_status watch_judge(void *self, const npmd_report *report, double objective_mean, bool *enough,
                               npmd_error *err)
{
    field_watch *w = self;
    return stopping_judge(&w->rule, w->backend, report, objective_mean, enough, err);
}

static void watch_again(void *self)
{
    field_watch *w = self;
    stopping_again(&w->rule);
}

npmd_status field_watch_open(field_watch *w, const field_plan *plan, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *set = &w->fit->model->set;
    w->table = (train_look){ .look = watch_look, .self = w };
    if (set->descent.snr || set->descent.stop == STOP_SNR)
        TRY(snr_open(&w->ratios, plan, w->backend, set->machine.threads, err));
    if (set->descent.stop != STOP_NONE) {
        TRY(stopping_open(&w->rule, set, field_parameters(&plan->shape), err));
        w->table.judge = watch_judge;
        w->table.again = watch_again;
        w->table.every = w->rule.every;
    }
done:
    return st;
}

const train_look *field_watch_look(const field_watch *w)
{
    const bool looks = w->watch->truth != NULL || w->watch->held_out != NULL || w->ratios.parameters > 0
                       || w->rule.rule != STOP_NONE;
    return looks ? &w->table : NULL;
}

stopping *field_watch_rule(field_watch *w)
{
    return w->rule.rule == STOP_NONE ? NULL : &w->rule;
}

void field_watch_close(field_watch *w)
{
    snr_close(&w->ratios);
    stopping_close(&w->rule);
}

npmd_status field_watch_settle(const field_watch *w, train_result *done_by, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = w->fit->model;
    backend *b = w->backend;
    const bool enough = done_by->state.enough;
    const long long steps = done_by->steps, all = m->set.descent.steps, best = (long long)w->rule.number[STOPPING_STEP];
    if (m->set.descent.stop == STOP_NONE || done_by->interrupted || done_by->linear)
        goto done;
    m->facts.stopped = enough ? m->set.descent.stop : STOP_NONE;
    if (w->rule.best != NULL && best > 0) {
        TRY(b->ops->put(b->self, VECTOR_THETA, w->rule.best, err));
        m->facts.kept_step = best;
        done_by->objective = w->rule.number[STOPPING_OBJECTIVE];
    }
    if (enough && m->set.descent.stop == STOP_ISE)
        model_warn(m,
                   "stopped early, after %lld of %lld steps: %zu held-out points liked the weights after "
                   "%lld best, and these were kept",
                   steps, all, w->watch->held_out->n, best);
    else if (enough)
        model_warn(m,
                   "stopped early, after %lld of %lld steps: the signal-to-noise ratio of the gradients was "
                   "least after %lld",
                   steps, all, best);
    else if (m->set.descent.stop == STOP_ISE && best < steps)
        model_warn(m, "of %lld steps, %zu held-out points liked the weights after %lld best: these were kept", steps,
                   w->watch->held_out->n, best);
done:
    return st;
}
