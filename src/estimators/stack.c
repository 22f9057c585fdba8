/* stack.c - several estimators, mixed as held-out points ask for.
 *
 * Every part is fitted to most of the points and asked for its density at the others; the weights under which these are
 * most likely come from EM (mixture_weights.c). Parts that matter are then fitted to all points, with what they chose
 * before. A mixture of good estimates is better than each of them where they err in different places: fields in the
 * tails, series on the flanks, kernels on clusters. */
#include "estimators.h"

#include <stdio.h>

#define HOLDOUT 0.2
#define RESAMPLES 50      /* of the points held out, over which weights are averaged */
#define LEAST_WEIGHT 0.02 /* a part with less is not worth a second fit */
#define LEAST_POINTS 20   /* to hold some of them out */

typedef struct part_kind {
    const char *name;
    npmd_estimator estimator;
    npmd_bandwidth bandwidth;
    bool chooses_again; /* when fitted to all points: its choice is cheap, and not that of fewer points */
} part_kind;
static const part_kind KINDS[] = {
    { "field", NPMD_FIELD, 0, false },
    { "series", NPMD_SERIES, 0, false },
    { "kernels, one width", NPMD_KDE, NPMD_BANDWIDTH_FIXED, true },
    { "kernels, widths by distance", NPMD_KDE, NPMD_BANDWIDTH_ADAPTIVE, true },
    { "kernels, several widths", NPMD_KDE, NPMD_BANDWIDTH_MIXTURE, true },
    { "uniform", NPMD_UNIFORM, 0, true },
};
#define PARTS ((int)(sizeof KINDS / sizeof *KINDS))

typedef struct stack {
    npmd_model *model;
    const npmd_options *asked;
    const npmd_points *points;
    double started;
    const part_kind *now; /* being fitted */
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
    report.part = s->now->name;
    report.seconds = clock_seconds() - s->started;
    if (s->asked->progress != NULL && s->asked->progress(&report, s->asked->user) != 0)
        s->stopped = true;
    return s->stopped;
}

/* Found with fewer points, and as good for all of them. */
static void take_choice(const part_kind *kind, const npmd_options *found, const npmd_options *asked,
                        npmd_options *o)
{
    if (kind->chooses_again)
        return;
    o->tau = found->tau;
    if (asked->steps == 0 && asked->epochs == 0) {
        o->steps = found->steps;
        o->warmup = found->warmup;
    }
    if (kind->estimator == NPMD_SERIES) {
        memcpy(o->max_frequency, found->max_frequency, sizeof o->max_frequency);
        o->max_frequencies = found->max_frequencies;
    }
}

/* Fits part k; one that cannot be fitted here is left away, and the model says why. */
static npmd_status part_fit(stack *s, int k, const npmd_points *pts, const npmd_model *before, bool last,
                            npmd_model **out, npmd_error *err)
{
    const part_kind *kind = &KINDS[k];
    const bool resampled = last && s->model->options.bootstrap && kind->estimator != NPMD_UNIFORM;
    npmd_options o = *s->asked;
    npmd_error why = { 0 };
    o.estimator = (int)kind->estimator;
    o.bandwidth = (int)kind->bandwidth;
    o.members = kind->estimator == NPMD_FIELD || resampled ? s->model->options.members : 1;
    o.bootstrap = resampled;
    o.progress = stack_progress;
    o.user = s;
    o.truth = NULL;
    o.held_out = NULL;
    o.convex_gap = 0;
    memset(o.given, 0, sizeof o.given);
    if (before != NULL)
        take_choice(kind, &before->options, s->asked, &o);
    s->now = kind;
    const npmd_status st = npmd_fit(s->model->domain, pts, &o, out, &why);
    if (st == NPMD_OK)
        return st;
    const bool impossible = st == NPMD_ERR_NUMERIC || (st == NPMD_ERR_ARGUMENT && !last);
    if (impossible || (st == NPMD_STOPPED && s->stopped)) {
        if (impossible && last)
            model_warn(
                s->model,
                "its part \"%s\" could not be fitted to all points, and stays that of most of them: %.120s",
                kind->name, why.text);
        else if (impossible && before == NULL)
            model_warn(s->model, "without its part \"%s\": %.180s", kind->name, why.text);
        *out = NULL;
        return NPMD_OK;
    }
    return npmd_fail(err, st, "%s: %.230s", kind->name, why.text);
}

/* Fits the parts to all points but one share, and asks them for it. */
static npmd_status fold_run(stack *s, int fold, size_t count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *held_out = NULL, *training = NULL;
    const npmd_compute how = compute_of(&s->model->options);
    const size_t all = count * (size_t)s->model->options.folds, first = (size_t)fold * count;
    TRY(points_hold_out(s->points, rng_key_make(s->model->options.seed, RNG_TUNE, 7), first, count, &held_out,
                        &training, err));
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
            npmd_model_free(s->part[k]);
            s->part[k] = fitted;
            TRY(model_values(fitted, &how, held_out->x, held_out->n, logs, err));
            for (size_t i = 0; i < held_out->n; i++)
                logs[i] -= fitted->facts.log_integral;
        } else {
            npmd_model_free(fitted);
            if (!s->stopped) { /* it failed on this share: it cannot be judged */
                npmd_model_free(s->part[k]);
                s->part[k] = NULL;
            }
        }
    }
    if (!s->stopped || fold == 0)
        s->held = first + held_out->n;
done:
    npmd_points_free(held_out);
    npmd_points_free(training);
    return st;
}

/* The weights under which the points held out are most likely, averaged over resamples of these points. Parts that do
 * about as well as each other share the weight between them then, where a single optimum would give all of it to the one
 * that chance prefers; parts that are worse get none either way. mix (PARTS): 0 for what is not there. */
static npmd_status weigh_parts(const stack *s, size_t all, double mix[PARTS], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int threads = threads_wanted(s->model->options.threads);
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
        const rng_key key = rng_key_make(s->model->options.seed, RNG_MEMBER, UINT32_MAX - (uint64_t)r);
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
    npmd_points held_out = {
        .domain = s->model->domain, .n = s->held, .weight = s->weight, .weight_scale = 1.0
    };
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
        TRY(part_fit(s, k, s->points, s->part[k], true, &fitted, err));
        if (fitted == NULL || fitted->facts.interrupted) { /* the fit to fewer points stays */
            npmd_model_free(fitted);
            continue;
        }
        fitted->held_out_nll = s->part[k]->held_out_nll;
        fitted->held_out_nll_se = s->part[k]->held_out_nll_se;
        npmd_model_free(s->part[k]);
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
                model_warn(m, "%s: %.220s", KINDS[k].name, part->warning[i]);
            if (KINDS[k].estimator == NPMD_FIELD)
                m->options.tau = part->options.tau;
        }
    m->facts.members = 1;
    for (int k = 0; k < m->parts; k++)
        if (m->part[k]->facts.members > m->facts.members)
            m->facts.members = m->part[k]->facts.members;
    m->facts.objective = m->held_out_nll;
done:
    return st;
}

static npmd_status stack_fit(npmd_model *m, const npmd_options *asked, const npmd_points *pts,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    stack s = { .model = m, .asked = asked, .points = pts, .started = clock_seconds() };
    const double share = fmin(m->options.holdout, 1.0 / m->options.folds);
    const size_t some = (size_t)(share * (double)pts->n), count = some > 0 ? some : 1,
                 all = count * (size_t)m->options.folds;
    double weight[PARTS] = { 0.0 };
    TRY(memory_new(&s.logs, (size_t)PARTS * all, err));
    TRY(memory_new(&s.weight, all, err));
    for (int fold = 0; fold < m->options.folds && !s.stopped; fold++)
        TRY(fold_run(&s, fold, count, err));
    TRY(weigh(&s, all, weight, err));
    TRY(refit(&s, weight, err));
    TRY(settle(&s, weight, err));
    if (s.stopped) {
        m->facts.interrupted = 1;
        model_warn(m,
                   "the fit was interrupted: some parts were fitted to a part of the points, or are missing");
    }
done:
    for (int k = 0; k < PARTS; k++)
        npmd_model_free(s.part[k]);
    memory_free(s.logs);
    memory_free(s.weight);
    return st;
}

/* Sizes are those of its field; the memory that of the part which takes most. */
static npmd_status stack_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                                 size_t *working_bytes, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options o = *opt, unused;
    size_t bytes = 0, most = 0;
    if (opt->bootstrap && opt->members < 3) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--bootstrap on needs at least 3 members, --members %d were asked for", opt->members);
        goto done;
    }
    if (n < LEAST_POINTS) {
        st = npmd_fail(err, NPMD_ERR_SHAPE,
                       "%zu points are too few for a stack, which holds some out; at least %d", n,
                       LEAST_POINTS);
        goto done;
    }
    o.bootstrap = 0;
    for (int k = PARTS - 1; k >= 0; k--) { /* the field last: its sizes are kept */
        o.estimator = (int)KINDS[k].estimator;
        o.members = 1;
        st = npmd_options_resolve(&o, dom, n, KINDS[k].estimator == NPMD_FIELD ? out : &unused, &bytes, err);
        if (st == NPMD_ERR_ARGUMENT && KINDS[k].estimator != NPMD_FIELD)
            continue; /* it will be left away */
        TRY(st);
        most = bytes > most ? bytes : most;
    }
    out->estimator = NPMD_STACK;
    out->members = opt->members;
    out->bootstrap = opt->bootstrap;
    out->holdout = opt->holdout > 0.0 ? opt->holdout : opt->folds > 1 ? 1.0 / opt->folds : HOLDOUT;
    const double held = fmin(out->holdout * out->folds, 1.0) * (double)n;
    if (held < 2.0) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--holdout %g: a stack needs two points held out at least, of %zu", out->holdout, n);
        goto done;
    }
    /* the points, those held out and those that are not; log densities of the former, and once more for the weights */
    *working_bytes = most
                     + (size_t)((double)n * dom->columns
                                + held * (2 * PARTS + threads_wanted(opt->threads) + 1))
                           * sizeof(double);
done:
    return st;
}

const estimator ESTIMATOR_STACK = {
    .name = "stack",
    .resolve = stack_resolve,
    .fit = stack_fit,
    .evaluate = blend_mixture,
    .draw = blend_draw,
    .load = blend_load,
    .describe = blend_describe,
};
