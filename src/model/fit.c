/* fit.c - a fit from its plan to the model: what all estimators share. */
#include "kept.h"

#include <stdio.h>

#define INTEGRAL_NEEDED 0.05 /* nats: the largest error of a log integral, where no larger `accuracy` is asked for */
#define MANY_TURNS (10.0 * NPMD_PI) /* any branch of an angle is welcome, but nobody counts turns like this */

npmd_status plan_make(catalog estimators, const settings *asked, const fit_origin *origin, const npmd_domain *dom,
                      size_t n, fit_plan *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const backend_ops *ops = NULL;
    fit_plan p = { .asked = *asked, .full = *asked, .estimators = estimators, .domain = dom, .n = n };
    if (origin != NULL)
        p.origin = *origin;
    TRY(mirror_check(asked, dom, err));
    if (asked->base > BASE_AUTO && asked->estimator != FIT_FIELD)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "`base`: `estimator` %s has none, a field has", estimator_name(asked)));
    if (p.full.members == 0)
        p.full.members = (int)settings_usual(asked, "members", dom, n);
    p.kind = estimators(&p.full, dom);
    TRY(backend_find(p.full.machine.device, &ops, err));
    TRY(p.kind->complete(&p, err));
    *out = p;
done:
    return st;
}

npmd_status plan_derive(const fit_plan *from, const derived *d, size_t n, fit_plan *out, npmd_error *err)
{
    fit_origin origin = from->origin;
    origin.bases = NULL; /* which belong to other points */
    if (!d->weights) {
        origin.model = NULL;
        origin.model_hash[0] = '\0';
    }
    if (!d->encoding)
        origin = (fit_origin){ 0 };
    const npmd_status st = plan_make(from->estimators, &d->set, &origin, from->domain, n, out, err);
    out->rough = st == NPMD_OK && d->rough;
    return st;
}

/* The largest error that a log integral may have. */
static double integral_needed(const npmd_model *m)
{
    return fmax(INTEGRAL_NEEDED, m->set.descent.accuracy);
}

/* A density whose integral is not known is none. Members of a log mean are asked for v alone, and a fit that was
 * interrupted is kept with the warning that it has. */
static npmd_status integral_known(const fit *f, npmd_error *err)
{
    const npmd_model *m = f->model;
    const double needed = integral_needed(m);
    if (m->facts.log_integral_se <= needed || f->plan->rough || m->facts.interrupted)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_NUMERIC,
                     "the log integral is known to %.2g nats only, %.2g were needed: the density has peaks that points "
                     "do not meet often enough; a larger `tau` makes it smoother, `accuracy` %.2g takes it as it is",
                     m->facts.log_integral_se, needed, 1.2 * m->facts.log_integral_se);
}

npmd_status fit_run(const fit_plan *plan, const npmd_points *points, const fit_watch *watch, npmd_model **out,
                    npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points own = *points; /* another look at the same rows: what equals what depends on the settings */
    npmd_model *m = NULL;
    fit_watch told = *watch;
    fit f = { .plan = plan, .points = &own, .watch = &told };
    char unused[200];
    const double started = clock_seconds();
    if (watch->kept != NULL && watch->checkpoint[0] == '\0')
        return kept_run(watch->kept, plan, points, watch, out, err);
    own.unordered = plan->asked.unordered != 0;
    TRY(points_check_distinct(&own, "the data", err));
    if (!plan->kind->keeps && (watch->checkpoint[0] != '\0' || watch->resume[0] != '\0')) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "`estimator` %s keeps no checkpoints: do without `checkpoint` and `resume`", plan->kind->name);
        goto done;
    }
    TRY(kept_open(watch, &f.kept, err));
    if (f.kept != NULL)
        told.progress = kept_told, told.user = f.kept;
    TRY(memory_new(&m, 1, err));
    TRY(domain_copy(plan->domain, &m->domain, err));
    m->kind = plan->kind;
    m->set = plan->full;
    m->total = own.total;
    m->facts.working_bytes = plan->bytes + points_bytes(&own);
    m->facts.n = own.n;
    m->facts.seed = plan->full.seed;
    m->facts.members = 1;
    m->facts.twins = -1; /* whoever was asked for the fit counts them, once for all fits that it takes */
    m->facts.convex_optimum = m->facts.convex_gap = m->facts.convex_gap_accuracy = NAN;
    m->held_out_nll = m->held_out_nll_se = NAN;
    memcpy(m->started_from, plan->origin.model_hash, sizeof m->started_from);
    memcpy(m->encoded_from, plan->origin.encoded_hash, sizeof m->encoded_from);
    f.model = m;
    TRY(plan->kind->fit(&f, err));
    TRY(integral_known(&f, err));
    if (settings_unused(&plan->asked, plan->domain, unused, sizeof unused) > 0)
        model_warn(m, "`estimator` %s does not use %s", estimator_name(&m->set), unused);
    if (own.angle_most > MANY_TURNS)
        model_warn(m,
                   "an angle of %.4g radians is among the points, more than five turns: are they degrees? "
                   "`coords` degrees takes them as such",
                   own.angle_most);
    TRY(points_seen(&own, &m->seen, &m->seen_count, err));
    m->facts.tau = m->set.tau;
    m->facts.seconds = fit_clock(&f, started);
    if (kept_failure(f.kept)[0] != '\0')
        snprintf(m->facts.checkpoint_failure, sizeof m->facts.checkpoint_failure, "%s", kept_failure(f.kept));
    *out = m;
    m = NULL;
done:
    model_free(m);
    kept_close(f.kept);
    return st;
}

int fit_stop(void *user)
{
    const fit *f = user;
    fit_facts *facts = &f->model->facts;
    npmd_report report = report_new(facts->steps, f->model->set.descent.steps, 1 + facts->restarts, facts->seconds);
    report.objective = facts->objective;
    if (f->watch->progress != NULL && watch_tell(f->watch, &report) != 0)
        facts->interrupted = 1;
    return f->watch->progress != NULL && facts->interrupted;
}

int64_t fit_log_every(const fit *f)
{
    return watch_log_every(f->watch, &f->plan->full);
}

static double fit_accuracy(const npmd_model *m)
{
    return m->set.descent.accuracy > 0.0 ? m->set.descent.accuracy : settings_accuracy(m->domain);
}

integral_request fit_integral(fit *f, size_t most_points)
{
    const npmd_model *m = f->model;
    return (integral_request){ .domain = m->domain,
                               .about = f->points,
                               .seed = m->set.seed,
                               .purpose = RNG_NORMALISE,
                               .target = fit_accuracy(m),
                               .most_points = most_points,
                               .useless = 2.0 * integral_needed(m),
                               .threads = m->set.machine.threads,
                               .stop = fit_stop,
                               .user = f };
}

void fit_normalised(fit *f, const integral_result *z)
{
    npmd_model *m = f->model;
    m->facts.log_integral = z->log_integral;
    m->facts.log_integral_se = z->log_integral_se;
    if (z->log_integral_se > 2.0 * fit_accuracy(m))
        model_warn(m, "the log integral is known to %.1e only, from %zu points", z->log_integral_se, z->points);
}

npmd_status fit_normalise(fit *f, values_fn values, void *self, size_t most_points, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const integral_request what = fit_integral(f, most_points);
    integral_result z;
    TRY(integrate(&what, values, self, &z, err));
    fit_normalised(f, &z);
done:
    return st;
}

npmd_status fit_normalise_model(fit *f, size_t most_points, const integral_result *known, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute how = model_compute(&f->model->set);
    const integral_request what = fit_integral(f, most_points);
    evaluator e = { 0 };
    integral_result z;
    TRY(evaluator_open(&e, f->model, &how, err));
    if (known != NULL) {
        z = *known;
        TRY(integral_settle(&what, evaluator_values, &e, &z, err));
    } else {
        TRY(integrate(&what, evaluator_values, &e, &z, err));
    }
    if (known != NULL && z.log_integral == known->log_integral && z.log_integral_se == known->log_integral_se) {
        f->model->facts.log_integral = z.log_integral; /* who knew it has said how well */
        f->model->facts.log_integral_se = z.log_integral_se;
    } else {
        fit_normalised(f, &z);
    }
done:
    evaluator_close(&e);
    return st;
}

npmd_status fit_truth(const fit *f, values_fn values, void *self, npmd_report *report, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_truth *t = f->watch->truth;
    const npmd_domain *dom = f->plan->domain;
    const bool authors = dom->torus && dom->dimension == 2 && t->kind != TRUTH_GRID;
    shifted now = { values, self, report->log_integral + log(dom->volume) };
    npmd_comparison c;
    TRY(truth_compare(t, shifted_values, &now, authors ? NPMD_GRID_AUTHORS : NPMD_GRID_FINE, authors ? 0 : 32768,
                      f->model->set.seed, &c, err));
    report->nise = c.nise;
    report->ae = c.ae;
done:
    return st;
}
