/* stack.c - several estimators, mixed with weights from held-out points.
 *
 * Every part is fitted to most of the points and evaluated at the others; EM (mixture_weights.c) finds the weights
 * under which these are most likely. Parts with enough weight are then fitted to all points, with the choices made
 * before. A mixture of good estimates is better than each of them where they err in different places: fields in the
 * tails, series on the flanks, kernels on clusters. */
#include "blend.h"

#include <stdio.h>

#define RESAMPLES 50      /* of the points held out, over which weights are averaged */
#define LEAST_WEIGHT 0.02 /* a part with less is not worth a second fit */
#define LEAST_POINTS 20   /* to hold some of them out */

static const part_kind KINDS[] = {
    { FIT_FIELD, 0, false },
    { FIT_SERIES, 0, false },
    { FIT_KDE, BANDWIDTH_FIXED, true },
    { FIT_KDE, BANDWIDTH_ADAPTIVE, true },
    { FIT_KDE, BANDWIDTH_MIXTURE, true },
    { FIT_UNIFORM, 0, true },
};
#define PARTS ((int)(sizeof KINDS / sizeof *KINDS))

typedef struct stack {
    fit *fit;
    npmd_model *model; /* the fit's */
    double started;
    const char *now; /* being fitted */
    bool stopped;
    npmd_model *part[PARTS]; /* NULL: could not be fitted */
    double *logs;            /* (PARTS, held): log densities relative to uniform of the points held out */
    double *weight;          /* (held) */
    size_t held;
} stack;

static int stack_progress(const npmd_report *now, void *user)
{
    stack *s = user;
    npmd_report report = *now;
    report.part = s->now;
    report.seconds = clock_seconds() - s->started;
    if (watch_tell(s->fit->watch, &report) != 0)
        s->stopped = true;
    return s->stopped;
}

/* Fits part k; one that cannot be fitted here is left out, and the model says why. */
static npmd_status part_fit(stack *s, int k, const npmd_points *pts, const npmd_model *before, bool last,
                            npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const part_kind *kind = &KINDS[k];
    const settings *set = &s->model->set;
    const bool resampled = last && set->bootstrap && kind->estimator != FIT_UNIFORM;
    const derived d = derive_part(&s->fit->plan->asked, kind, set->members, resampled, last,
                                  before == NULL ? NULL : &before->set);
    fit_watch watch = *s->fit->watch;
    fit_plan *plan = NULL;
    npmd_error why = { 0 };
    watch.progress = stack_progress;
    watch.user = s;
    watch.truth = NULL;
    watch.held_out = NULL;
    s->now = settings_part_name(&d.set);
    TRY(memory_new(&plan, 1, err));
    st = plan_derive(s->fit->plan, &d, pts->n, plan, &why);
    if (st == NPMD_OK)
        st = fit_run(plan, pts, &watch, out, &why);
    if (st == NPMD_OK)
        goto done;
    const bool impossible = st == NPMD_ERR_NUMERIC || (st == NPMD_ERR_ARGUMENT && !last);
    if (!impossible && !(st == NPMD_STOPPED && s->stopped)) {
        npmd_fail(err, st, "%s: %.230s", s->now, why.text);
        goto done;
    }
    if (impossible && last)
        model_warn(s->model,
                   "its part \"%s\" could not be fitted to all points, and stays that of most of them: %.120s", s->now,
                   why.text);
    else if (impossible && before == NULL)
        model_warn(s->model, "without its part \"%s\": %.180s", s->now, why.text);
    *out = NULL;
    st = NPMD_OK;
done:
    memory_free(plan);
    return st;
}

/* Fits the parts to all points but one share, and asks them for it. */
static npmd_status fold_run(stack *s, int fold, size_t count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *held_out = NULL, *training = NULL;
    const npmd_compute how = model_compute(&s->model->set);
    const size_t all = count * (size_t)s->model->set.folds, first = (size_t)fold * count;
    TRY(points_hold_out(s->fit->points, rng_key_make(s->model->set.seed, RNG_TUNE, 7), first, count, s->model->set.ties,
                        SIZE_MAX, &held_out, &training, err));
    TRY(points_check_distinct(training, "the points that are not held out", err));
    for (size_t i = 0; i < held_out->n; i++)
        s->weight[first + i] = points_weight(held_out, i);
    for (int k = 0; k < PARTS && !s->stopped; k++) {
        double *logs = s->logs + (size_t)k * all + first;
        npmd_model *fitted = NULL;
        if (fold > 0 && s->part[k] == NULL)
            continue;
        TRY(part_fit(s, k, training, s->part[k], false, &fitted, err));
        if (fitted != NULL && (!fitted->facts.interrupted || fold == 0)) {
            model_free(s->part[k]);
            s->part[k] = fitted;
            TRY(model_values(fitted, &how, held_out->x, held_out->n, logs, err));
            for (size_t i = 0; i < held_out->n; i++)
                logs[i] -= fitted->facts.log_integral;
        } else {
            model_free(fitted);
            if (!s->stopped) { /* it failed on this share: it cannot be judged */
                model_free(s->part[k]);
                s->part[k] = NULL;
            }
        }
    }
    if (!s->stopped || fold == 0)
        s->held = first + held_out->n;
done:
    points_free(held_out);
    points_free(training);
    return st;
}

/* The weights under which the points held out are most likely, averaged over resamples of these points. Parts that do
 * about as well as each other share the weight between them then, where a single optimum would give all of it to the
 * one that chance prefers; parts that are worse get none either way. mix (PARTS): 0 for what is not there. */
static npmd_status weigh_parts(const stack *s, size_t all, double mix[PARTS], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int threads = threads_wanted(s->model->set.machine.threads);
    double *density = NULL, *weight = NULL, found[RESAMPLES][PARTS];
    int parts = 0, used = 0;
    for (int k = 0; k < PARTS; k++) {
        parts += s->part[k] != NULL;
        mix[k] = 0.0;
    }
    TRY(memory_new(&density, (size_t)parts * s->held, err));
    TRY(memory_new(&weight, (size_t)threads * s->held, err));
    for (int k = 0, p = 0; k < PARTS; k++)
        if (s->part[k] != NULL)
            memcpy(density + (size_t)p++ * s->held, s->logs + (size_t)k * all, s->held * sizeof *density);
    (void)mixture_densities(density, s->weight, parts, s->held); /* the weights alone are wanted */
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int r = 0; r < RESAMPLES; r++) {
        double *times = weight + (size_t)omp_get_thread_num() * s->held;
        const rng_key key = rng_key_make(s->model->set.seed, RNG_MEMBER, UINT32_MAX - (uint64_t)r);
        memset(times, 0, s->held * sizeof *times);
        for (size_t i = 0; i < s->held; i++) {
            const size_t row = (size_t)(rng_uniform(key, i, 0) * (double)s->held);
            times[row] += s->weight[row];
        }
        (void)mixture_weights(density, times, 0.0, parts, s->held, found[r]);
    }
    for (int r = 0; r < RESAMPLES; r++) {
        if (isnan(found[r][0]))
            continue; /* every point drawn has weight 0 */
        used++;
        for (int k = 0, p = 0; k < PARTS; k++)
            mix[k] += s->part[k] != NULL ? found[r][p++] : 0.0;
    }
    for (int k = 0; k < PARTS; k++)
        mix[k] /= used;
    if (used == 0)
        st = npmd_fail(err, NPMD_ERR_SHAPE, "the points held out for a stack's weights all have weight 0");
done:
    memory_free(density);
    memory_free(weight);
    return st;
}

/* The weights of the parts, and what the points held out say of each and of the mixture. */
static npmd_status weigh(stack *s, size_t all, double weight[PARTS], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *mixed = NULL, mean = 0.0, sum = 0.0;
    const double log_volume = log(s->model->domain->volume);
    npmd_points held_out = { .domain = s->model->domain, .n = s->held, .weight = s->weight, .weight_scale = 1.0 };
    int parts = 0;
    for (int k = 0; k < PARTS; k++)
        if (s->part[k] != NULL) {
            parts++;
            weighted_mean(&held_out, s->logs + (size_t)k * all, &mean, &s->part[k]->held_out_nll_se);
            s->part[k]->held_out_nll = log_volume - mean;
        }
    if (parts == 0) {
        st = npmd_fail(err, NPMD_STOPPED, "interrupted before the first part of the stack was fitted");
        goto done;
    }
    TRY(memory_new(&mixed, s->held, err));
    TRY(weigh_parts(s, all, weight, err));
    for (int k = 0; k < PARTS; k++) {
        weight[k] = weight[k] < LEAST_WEIGHT ? 0.0 : weight[k];
        sum += weight[k];
    }
    for (int k = 0; k < PARTS; k++)
        weight[k] /= sum;
    for (size_t i = 0; i < s->held; i++) {
        double density = 0.0;
        for (int k = 0; k < PARTS; k++)
            density += weight[k] > 0.0 ? weight[k] * exp(s->logs[(size_t)k * all + i]) : 0.0;
        mixed[i] = log(density);
    }
    weighted_mean(&held_out, mixed, &mean, &s->model->held_out_nll_se);
    s->model->held_out_nll = log_volume - mean;
done:
    memory_free(mixed);
    return st;
}

/* The parts that matter, fitted to all points, in the place of those before. */
static npmd_status refit(stack *s, const double weight[PARTS], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int k = 0; k < PARTS && !s->stopped; k++) {
        npmd_model *fitted = NULL;
        if (s->part[k] == NULL || weight[k] == 0.0)
            continue;
        TRY(part_fit(s, k, s->fit->points, s->part[k], true, &fitted, err));
        if (fitted == NULL || fitted->facts.interrupted) { /* the fit to fewer points stays */
            model_free(fitted);
            continue;
        }
        fitted->held_out_nll = s->part[k]->held_out_nll;
        fitted->held_out_nll_se = s->part[k]->held_out_nll_se;
        model_free(s->part[k]);
        s->part[k] = fitted;
    }
done:
    return st;
}

/* The stack's parts become the model's. */
static npmd_status settle(stack *s, const double weight[PARTS], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = s->model;
    int parts = 0;
    for (int k = 0; k < PARTS; k++)
        parts += s->part[k] != NULL && weight[k] > 0.0;
    TRY(blend_open(m, parts, err));
    parts = 0;
    for (int k = 0; k < PARTS; k++)
        if (s->part[k] != NULL && weight[k] > 0.0) {
            npmd_model *part = s->part[k];
            s->part[k] = NULL;
            m->part[parts] = part;
            m->part_weight[parts++] = weight[k];
            m->facts.steps += part->facts.steps;
            m->facts.restarts += part->facts.restarts;
            m->facts.log_integral_se += weight[k] * part->facts.log_integral_se;
            for (int i = 0; i < part->warnings; i++)
                model_warn(m, "%s: %.220s", settings_part_name(&part->set), part->warning[i]);
            if (KINDS[k].estimator == FIT_FIELD)
                m->set.tau = part->set.tau;
        }
    m->facts.members = 1;
    for (int k = 0; k < m->parts; k++)
        if (m->part[k]->facts.members > m->facts.members)
            m->facts.members = m->part[k]->facts.members;
    m->facts.objective = m->held_out_nll;
done:
    return st;
}

static npmd_status stack_fit(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    const npmd_points *pts = f->points;
    stack s = { .fit = f, .model = m, .started = clock_seconds() };
    const double share = fmin(m->set.holdout, 1.0 / m->set.folds);
    const size_t some = (size_t)(share * (double)pts->n), count = some > 0 ? some : 1,
                 all = count * (size_t)m->set.folds;
    double weight[PARTS] = { 0.0 };
    TRY(memory_new(&s.logs, (size_t)PARTS * all, err));
    TRY(memory_new(&s.weight, all, err));
    for (int fold = 0; fold < m->set.folds && !s.stopped; fold++)
        TRY(fold_run(&s, fold, count, err));
    TRY(weigh(&s, all, weight, err));
    TRY(refit(&s, weight, err));
    TRY(settle(&s, weight, err));
    if (s.stopped) {
        m->facts.interrupted = 1;
        model_warn(m, "the fit was interrupted: some parts were fitted to a part of the points, or are missing");
    }
done:
    for (int k = 0; k < PARTS; k++)
        model_free(s.part[k]);
    memory_free(s.logs);
    memory_free(s.weight);
    return st;
}

/* Sizes are those of its field; the memory that of the part which takes most. */
static npmd_status stack_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings asked = p->full;
    fit_plan *part = NULL;
    size_t most = 0;
    if (asked.bootstrap && asked.members < 3) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "`bootstrap` on needs at least 3 members, `members` %d were asked for",
                       asked.members);
        goto done;
    }
    if (p->n < LEAST_POINTS) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%zu points are too few for a stack, which holds some out; at least %d",
                       p->n, LEAST_POINTS);
        goto done;
    }
    TRY(memory_new(&part, 1, err));
    for (int k = PARTS - 1; k >= 0; k--) { /* the field last: its sizes are kept */
        settings one = asked;
        one.estimator = (int)KINDS[k].estimator;
        one.members = 1;
        one.bootstrap = 0;
        st = plan_make(p->estimators, &one, &p->origin, p->domain, p->n, part, err);
        if (st == NPMD_ERR_ARGUMENT && KINDS[k].estimator != FIT_FIELD)
            continue; /* it will be left out */
        TRY(st);
        most = part->bytes > most ? part->bytes : most;
    }
    settings *o = &p->full;
    *o = part->full;
    o->estimator = FIT_STACK;
    o->members = asked.members;
    o->bootstrap = asked.bootstrap;
    o->holdout = asked.holdout > 0.0 ? asked.holdout : settings_usual(o, "holdout", p->domain, p->n);
    const double held = fmin(o->holdout * o->folds, 1.0) * (double)p->n;
    if (held < 2.0) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "`holdout` %g: a stack needs two points held out at least, of %zu",
                       o->holdout, p->n);
        goto done;
    }
    /* the points, those held out and those that are not; log densities of the former, and once more for the weights */
    p->bytes = most
               + (size_t)((double)p->n * p->domain->columns
                          + held * (2 * PARTS + threads_wanted(o->machine.threads) + 1))
                     * sizeof(double);
done:
    memory_free(part);
    return st;
}

const estimator ESTIMATOR_STACK = {
    .name = "stack",
    .complete = stack_complete,
    .fit = stack_fit,
    .evaluate = blend_mixture,
    .draw = blend_draw,
    .load = blend_load,
    .describe = blend_describe,
};
