/* descent.c - steps of Adam on an objective that is no field's: -mean v over data + mean exp v over the domain. */
#include "estimators.h"

#define SIGN_OF_LIFE 0.2 /* seconds between calls of progress */

void descent_batch(const npmd_options *opt, const npmd_points *pts, int64_t step, point_source *out)
{
    const int64_t an_epoch = objective_steps_an_epoch(opt, pts->n), epoch = step / an_epoch;
    const size_t batch = (size_t)opt->batch < pts->n ? (size_t)opt->batch : pts->n;
    source_data(out, pts, (size_t)(step % an_epoch) * batch, batch, batch < pts->n,
                rng_key_make(opt->seed, RNG_BATCH, (uint64_t)epoch));
}

npmd_status descent_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                            npmd_error *err)
{
    npmd_options o = *opt, fallback;
    npmd_options_init(&fallback);
    o.features = fallback.features;
    o.spectrum_law = fallback.spectrum_law;
    o.separable = fallback.separable;
    o.max_frequencies = 0;
    memset(o.max_frequency, 0, sizeof o.max_frequency);
    o.tau = 0.0;
    o.penalty = NPMD_PENALTY_NONE;
    return options_resolve(&o, dom, n, out, err);
}

/* ---- the loop ------------------------------------------------------------------------------------------- */

typedef struct descent_state {
    double *gradient, *moment1, *moment2;
    double beta1_product, beta2_product, running_log_norm, rate;
} descent_state;

static void descent_step(const descent *what, int64_t step, descent_state *s)
{
    const npmd_options *opt = &what->model->options;
    optimiser_step by = schedule_step(opt, what->shares, step, &s->beta1_product, &s->beta2_product);
    by.max_norm = schedule_guard(opt, &by, s->running_log_norm);
    s->rate = by.rate;
    const double norm = optimiser_apply(&by, what->parameters, what->theta, s->gradient, s->moment1,
                                        s->moment2);
    s->running_log_norm = schedule_running(step, s->running_log_norm, norm, by.max_norm);
}

static npmd_status descent_report(const descent *what, npmd_report *report, bool *stop, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = what->model;
    if (report->logged && m->options.truth != NULL) {
        TRY(what->log_integral(what->self, &report->log_integral, err));
        TRY(report_truth(m, model_own_values, m, report, err));
    }
    if (m->options.progress(report, m->options.user) != 0) {
        m->facts.interrupted = 1;
        *stop = true;
    }
done:
    return st;
}

npmd_status descend(const descent *what, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = what->model;
    const npmd_options *opt = &m->options;
    const int64_t tenth = opt->steps / 10, tail = tenth < 1 ? 1 : tenth > 200 ? 200 : tenth;
    const double an_epoch = (double)objective_steps_an_epoch(opt, what->n), started = clock_seconds();
    double last_sign = started, sum = 0.0, total = NAN;
    int64_t step = 0, summed = 0;
    bool stop = false;
    descent_state s = { .beta1_product = 1.0, .beta2_product = 1.0 };
    TRY(memory_new(&s.gradient, what->parameters, err));
    TRY(memory_new(&s.moment1, what->parameters, err));
    TRY(memory_new(&s.moment2, what->parameters, err));
    while (step < opt->steps && !stop) {
        double data = 0.0, integral = 0.0;
        TRY(what->terms(what->self, step, s.gradient, &data, &integral, err));
        total = data + integral;
        if (!isfinite(total)) {
            st = npmd_fail(
                err, NPMD_ERR_NUMERIC,
                "the objective stopped being finite at step %lld (data %.4g, integral %.4g); lower "
                "--rate",
                (long long)step + 1, data, integral);
            goto done;
        }
        descent_step(what, step, &s);
        if (step++ >= opt->steps - tail) {
            sum += total;
            summed++;
        }
        m->facts.steps = step;
        if (what->look != NULL)
            TRY(what->look(what->self, step, &stop, err));
        const bool logged = step % opt->log_every == 0 || step == opt->steps || stop;
        const double now = clock_seconds();
        if (opt->progress != NULL && (logged || now - last_sign >= SIGN_OF_LIFE)) {
            npmd_report report = report_new(step, opt->steps, 1, now - started);
            report.logged = logged;
            report.epoch = (double)step / an_epoch;
            report.rate = s.rate;
            report.data = data;
            report.integral = integral;
            report.penalty = 0.0;
            report.objective = total;
            report.log_integral = log(integral);
            last_sign = now;
            TRY(descent_report(what, &report, &stop, err));
        }
    }
    m->facts.objective = summed > 0 ? sum / (double)summed : total;
    if (m->facts.interrupted)
        model_warn(m, "the fit was interrupted after %lld of %lld steps", (long long)step,
                   (long long)opt->steps);
done:
    memory_free(s.gradient);
    memory_free(s.moment1);
    memory_free(s.moment2);
    return st;
}
