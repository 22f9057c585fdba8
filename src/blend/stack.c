/* stack.c - several estimators, mixed or chosen among by held-out points.
 *
 * Every part is fitted to most of the points and judged at the others (judging.c); stack_weights.c says how they are
 * mixed, or which of them stands alone. Parts with enough weight are then fitted to all points, with the choices made
 * before. A field judges itself on the very same points while its settings are chosen, so that it is fitted but once.
 *
 * `stack` is a mixture, if of one part. `auto` becomes that part, where one stands alone. */
#include "blend.h"
#include "stack_weights.h"

#include <stdio.h>

#define LEAST_WEIGHT 0.02 /* a part with less is not worth a second fit */
#define LEAST_POINTS 20   /* to hold some of them out */
#define GRAM_DRAWS 20000  /* from each part */

static const part_kind KINDS[] = {
    { FIT_FIELD, 0, false },
    { FIT_SERIES, 0, false },
    { FIT_KDE, BANDWIDTH_FIXED, true },
    { FIT_KDE, BANDWIDTH_ADAPTIVE, true },
    { FIT_KDE, BANDWIDTH_MIXTURE, true },
    { FIT_UNIFORM, 0, true },
};
#define PARTS ((int)(sizeof KINDS / sizeof *KINDS))
static_assert(PARTS <= STACK_MOST_PARTS, "as many weights");

typedef struct stack {
    fit *fit;
    npmd_model *model; /* the fit's */
    double started;
    const char *now; /* being fitted */
    bool stopped;
    judging judging;
    npmd_model *judged[PARTS]; /* of the first share, whose choices hold for all points; NULL: could not be fitted */
    npmd_model *part[PARTS];   /* fitted to all points; NULL: not yet */
    double *logs;              /* (PARTS, judged): log densities of the points held out, per volume */
    double weight[PARTS];
} stack;

static int stack_progress(const npmd_report *now, void *user)
{
    stack *s = user;
    npmd_report report = *now;
    report.part = s->now;
    report.seconds = fit_clock(s->fit, s->started);
    if (watch_tell(s->fit->watch, &report) != 0)
        s->stopped = true;
    return s->stopped;
}

/* Of part k: as it is fitted to all points the first time, judged, fitted to all points again. */
enum { KEPT_FIRST = 1, KEPT_AGAIN, KEPT_JUDGED, KEPT_NAMES = KEPT_JUDGED + JUDGING_MOST };
static fit_watch part_watch(stack *s, int k, int what)
{
    fit_watch watch = *s->fit->watch;
    watch.progress = stack_progress;
    watch.user = s;
    watch.truth = NULL;
    watch.held_out = NULL;
    watch.kept = s->fit->kept;
    watch.kept_as = k * KEPT_NAMES + what;
    watch.checkpoint[0] = watch.resume[0] = '\0';
    return watch;
}

/* Part k, as it is judged (last false), or as it goes into the stack. */
static derived part_settings(const stack *s, int k, const npmd_model *before, bool last)
{
    const settings *set = &s->model->set;
    const bool resampled = last && set->bootstrap && KINDS[k].estimator != FIT_UNIFORM;
    derived d = derive_part(&s->fit->plan->asked, &KINDS[k], last ? set->members : 1, resampled, last,
                            before == NULL ? NULL : &before->set);
    d.set.holdout = KINDS[k].estimator == FIT_FIELD ? set->holdout : d.set.holdout;
    d.set.folds = set->folds;
    return d;
}

/* Fits it to all points; one that cannot be fitted is left out, *out NULL, and why says the reason. */
static npmd_status part_fit(stack *s, int k, int what, const derived *d, npmd_model **out, npmd_error *why,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_watch watch = part_watch(s, k, what);
    fit_plan *plan = NULL;
    *out = NULL;
    TRY(memory_new(&plan, 1, err));
    st = plan_derive(s->fit->plan, d, s->fit->points->n, plan, why);
    if (st == NPMD_OK)
        st = fit_run(plan, s->fit->points, &watch, out, why);
    if (st == NPMD_ERR_NUMERIC || st == NPMD_ERR_ARGUMENT || (st == NPMD_STOPPED && s->stopped))
        st = NPMD_OK;
    else if (st != NPMD_OK)
        npmd_fail(err, st, "%s: %.230s", s->now, why->text);
done:
    memory_free(plan);
    return st;
}

/* What part k, fitted to the other points, says of those held out. */
static npmd_status part_judge(stack *s, int k, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_watch watch = part_watch(s, k, KEPT_JUDGED);
    const size_t judged = s->judging.judged;
    double *logs = s->logs + (size_t)k * judged;
    derived d = part_settings(s, k, NULL, false);
    npmd_error why = { 0 };
    verdict v = { 0 };
    bool possible = true;
    s->now = settings_part_name(&d.set);
    if (KINDS[k].estimator == FIT_FIELD) { /* its choice holds points out, too */
        TRY(part_fit(s, k, KEPT_FIRST, &d, &s->part[k], &why, err));
        npmd_model *field = s->part[k];
        possible = field != NULL;
        if (possible && field->choice.log_density != NULL && field->choice.held_out == judged) {
            memcpy(logs, field->choice.log_density, judged * sizeof *logs);
            s->judged[k] = field;
            goto done;
        }
        if (possible)
            d = part_settings(s, k, field, false); /* nothing was left to choose */
    }
    if (possible)
        TRY(judging_fit(&s->judging, s->fit->plan, &d, &watch, &v, &s->judged[k], &why));
    if (s->judged[k] != NULL)
        memcpy(logs, v.log_density, judged * sizeof *logs);
    if (s->judged[k] == NULL && !s->stopped)
        model_warn(s->model, "without its part \"%s\": %.180s", s->now, why.text);
done:
    memory_free(v.log_density);
    if (st != NPMD_OK && why.text[0] != '\0' && err->text[0] == '\0')
        npmd_fail(err, st, "%s: %.230s", s->now, why.text);
    return st;
}

/* The means of f_p f_q over the domain, from draws of all parts: f_p f_q over their mean is bounded by its sources. */
static npmd_status gram_of(const stack *s, const int *which, int parts, double *gram, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute how = model_compute(&s->model->set);
    const size_t n = GRAM_DRAWS;
    double *x = NULL, *v = NULL;
    memset(gram, 0, (size_t)(parts * parts) * sizeof *gram);
    TRY(memory_new(&x, n * (size_t)s->model->domain->columns, err));
    TRY(memory_new(&v, (size_t)parts * n, err));
    for (int from = 0; from < parts; from++) {
        TRY(model_sample(s->judged[which[from]], s->model->set.seed + (uint64_t)from, n, &how, x, err));
        for (int p = 0; p < parts; p++) {
            const npmd_model *m = s->judged[which[p]];
            TRY(model_values(m, &how, x, n, v + (size_t)p * n, err));
            for (size_t i = 0; i < n; i++)
                v[(size_t)p * n + i] = exp(v[(size_t)p * n + i] - m->facts.log_integral);
        }
        for (size_t i = 0; i < n; i++) {
            double all = 0.0;
            for (int p = 0; p < parts; p++)
                all += v[(size_t)p * n + i] / parts;
            for (int p = 0; p < parts; p++)
                for (int q = 0; q < parts; q++)
                    gram[p * parts + q] += v[(size_t)p * n + i] * v[(size_t)q * n + i] / (all * (double)n * parts);
        }
    }
done:
    memory_free(x);
    memory_free(v);
    return st;
}

/* The log density of the mixture at the points held out. */
static void mix_logs(const stack *s, double *mixed)
{
    for (size_t i = 0; i < s->judging.judged; i++) {
        mixed[i] = -INFINITY;
        for (int k = 0; k < PARTS; k++)
            if (s->weight[k] > 0.0)
                mixed[i] = log_add(mixed[i], log(s->weight[k]) + s->logs[(size_t)k * s->judging.judged + i]);
    }
}

/* The weights of the parts. */
static npmd_status weigh(stack *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = s->judging.judged;
    const double log_volume = log(s->model->domain->volume);
    double *logs = NULL, mix[PARTS], gram[PARTS * PARTS], sum = 0.0;
    int which[PARTS], parts = 0;
    for (int k = 0; k < PARTS; k++)
        if (s->judged[k] != NULL)
            which[parts++] = k;
    if (parts == 0) {
        st = npmd_fail(err, NPMD_STOPPED, "interrupted before the first part of the stack was fitted");
        goto done;
    }
    TRY(memory_new(&logs, (size_t)parts * n, err));
    for (int p = 0; p < parts; p++)
        for (size_t i = 0; i < n; i++)
            logs[(size_t)p * n + i] = s->logs[(size_t)which[p] * n + i] + log_volume;
    if (s->model->set.stack_by == CRITERION_ISE)
        TRY(gram_of(s, which, parts, gram, err));
    TRY(stack_weights(&(stack_judged){ .parts = parts,
                                       .n = n,
                                       .logs = logs,
                                       .weight = s->judging.weight,
                                       .by = s->model->set.stack_by,
                                       .gram = gram },
                      mix, err));
    for (int p = 0; p < parts; p++) {
        s->weight[which[p]] = mix[p] < LEAST_WEIGHT ? 0.0 : mix[p];
        sum += s->weight[which[p]];
    }
    for (int k = 0; k < PARTS; k++)
        s->weight[k] /= sum;
done:
    memory_free(logs);
    return st;
}

/* What the points held out say of the mixture, of its parts, and of what has no part in it. */
static npmd_status hear(stack *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = s->model;
    const size_t n = s->judging.judged;
    double *mixed = NULL;
    TRY(memory_new(&mixed, n, err));
    mix_logs(s, mixed);
    judging_mean(&s->judging, mixed, &m->held_out_nll, &m->held_out_nll_se);
    m->held_out_nll = -m->held_out_nll;
    m->choice.training = s->judging.training[0]->n;
    m->choice.held_out = n;
    m->choice.criterion = m->set.stack_by;
    for (int k = 0; k < PARTS; k++) {
        const double *logs = s->logs + (size_t)k * n;
        if (s->judged[k] == NULL)
            continue;
        choice_rival *r = &m->choice.rival[m->choice.rivals++];
        snprintf(r->estimator, sizeof r->estimator, "%s", settings_part_name(&s->judged[k]->set));
        judging_mean(&s->judging, logs, &r->nll, &r->nll_se);
        r->nll = -r->nll;
        judging_difference(&s->judging, mixed, logs, &r->difference, &r->difference_se);
        s->judged[k]->held_out_nll = r->nll;
        s->judged[k]->held_out_nll_se = r->nll_se;
    }
done:
    memory_free(mixed);
    return st;
}

/* The parts that matter, fitted to all points. */
static npmd_status refit(stack *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const bool once = s->model->set.members == 1 && !s->model->set.bootstrap;
    for (int k = 0; k < PARTS && !s->stopped; k++) {
        const derived d = part_settings(s, k, s->judged[k], true);
        npmd_model *fitted = NULL;
        npmd_error why = { 0 };
        if (s->weight[k] == 0.0 || (once && s->part[k] != NULL))
            continue;
        s->now = settings_part_name(&d.set);
        TRY(part_fit(s, k, KEPT_AGAIN, &d, &fitted, &why, err));
        if (fitted == NULL || fitted->facts.interrupted) { /* that of fewer points, or of one member, stays */
            model_free(fitted);
            if (!s->stopped && s->part[k] == NULL)
                model_warn(s->model,
                           "its part \"%s\" could not be fitted to all points, and stays that of most of them: %.120s",
                           s->now, why.text);
            continue;
        }
        fitted->held_out_nll = s->judged[k]->held_out_nll;
        fitted->held_out_nll_se = s->judged[k]->held_out_nll_se;
        if (s->judged[k] == s->part[k])
            s->judged[k] = NULL;
        model_free(s->part[k]);
        s->part[k] = fitted;
    }
done:
    return st;
}

/* Part k as it is now, taken out of the stack. */
static npmd_model *part_take(stack *s, int k)
{
    npmd_model *part = s->part[k] != NULL ? s->part[k] : s->judged[k];
    if (s->judged[k] == part)
        s->judged[k] = NULL;
    if (s->part[k] == part)
        s->part[k] = NULL;
    return part;
}

static void take_facts(npmd_model *m, const npmd_model *part)
{
    m->facts.steps += part->facts.steps;
    m->facts.restarts += part->facts.restarts;
    for (int i = 0; i < part->warnings; i++)
        model_warn(m, "%s: %.220s", settings_part_name(&part->set), part->warning[i]);
}

/* The stack's parts become the model's. */
static npmd_status settle_mixture(stack *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = s->model;
    int parts = 0;
    for (int k = 0; k < PARTS; k++)
        parts += s->weight[k] > 0.0;
    m->kind = &ESTIMATOR_STACK;
    m->set.estimator = FIT_STACK;
    TRY(blend_open(m, parts, err));
    m->facts.members = 1;
    parts = 0;
    for (int k = 0; k < PARTS; k++)
        if (s->weight[k] > 0.0) {
            npmd_model *part = m->part[parts] = part_take(s, k);
            m->part_weight[parts++] = s->weight[k];
            take_facts(m, part);
            m->facts.log_integral_se += s->weight[k] * part->facts.log_integral_se;
            if (part->facts.members > m->facts.members)
                m->facts.members = part->facts.members;
            if (KINDS[k].estimator == FIT_FIELD)
                m->set.tau = part->set.tau;
        }
    m->facts.objective = m->held_out_nll;
done:
    return st;
}

/* The model becomes its only part. */
static void settle_alone(stack *s, int k)
{
    npmd_model *m = s->model, *part = part_take(s, k);
    npmd_domain *domain = m->domain;
    const fit_facts own = m->facts;
    const choice_record heard = m->choice;
    take_facts(m, part);
    m->kind = part->kind;
    m->state = part->state; /* which borrows from its domain */
    m->domain = part->domain;
    m->set = part->set;
    m->facts = part->facts;
    m->facts.working_bytes = own.working_bytes;
    m->linear = part->linear;
    m->part = part->part;
    m->part_weight = part->part_weight;
    m->parts = part->parts;
    m->base = part->base;
    memcpy(m->started_from, part->started_from, sizeof m->started_from);
    memcpy(m->encoded_from, part->encoded_from, sizeof m->encoded_from);
    m->choice = part->choice;
    m->choice.training = heard.training;
    m->choice.held_out = heard.held_out;
    m->choice.rivals = 0;
    for (int i = 0; i < heard.rivals; i++)
        if (heard.rival[i].difference != 0.0) /* not itself */
            m->choice.rival[m->choice.rivals++] = heard.rival[i];
    part->state = NULL;
    part->domain = domain;
    part->part = NULL;
    part->part_weight = NULL;
    part->parts = 0;
    part->base = NULL;
    part->choice = (choice_record){ 0 };
    model_free(part);
}

static npmd_status stack_fit(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    stack s = { .fit = f, .model = m, .started = clock_seconds() };
    int alone = -1, parts = 0;
    settings judged = m->set;
    judged.criterion = CRITERION_LIKELIHOOD;
    TRY(kept_compose(f, err));
    TRY(judging_open(&s.judging, f->points, &judged, JUDGING_TRAINING, err));
    if (s.judging.folds == 0) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "too few distinct points to hold some of the %zu out for a stack",
                       f->points->n);
        goto done;
    }
    TRY(memory_new(&s.logs, (size_t)PARTS * s.judging.judged, err));
    for (int k = 0; k < PARTS && !s.stopped; k++)
        TRY(part_judge(&s, k, err));
    if (s.stopped)
        TRY(kept_stop(f->kept, err));
    TRY(weigh(&s, err));
    TRY(hear(&s, err));
    TRY(refit(&s, err));
    if (s.stopped)
        TRY(kept_stop(f->kept, err));
    for (int k = 0; k < PARTS; k++)
        if (s.weight[k] > 0.0) {
            alone = k;
            parts++;
        }
    if (m->set.estimator == FIT_AUTO && parts == 1)
        settle_alone(&s, alone);
    else
        TRY(settle_mixture(&s, err));
    if (s.stopped) {
        m->facts.interrupted = 1;
        model_warn(m, "the fit was interrupted: some parts were fitted to a part of the points, or are missing");
    }
done:
    for (int k = 0; k < PARTS; k++) {
        if (s.judged[k] != s.part[k])
            model_free(s.judged[k]);
        model_free(s.part[k]);
    }
    judging_close(&s.judging);
    memory_free(s.logs);
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
    o->estimator = asked.estimator;
    o->members = asked.members;
    o->bootstrap = asked.bootstrap;
    o->holdout = asked.holdout > 0.0 ? asked.holdout : settings_usual(&asked, "holdout", p->domain, p->n);
    const double held = judging_points(o, p->n);
    if (held < 2.0) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "`holdout` %g: a stack needs two points held out at least, of %zu",
                       o->holdout, p->n);
        goto done;
    }
    /* the points, those held out and those that are not; log densities of the former, and once more for the weights */
    p->bytes = most + (size_t)((double)p->n * p->domain->columns + held * (3 * PARTS + 4)) * sizeof(double);
done:
    memory_free(part);
    return st;
}

const estimator ESTIMATOR_STACK = {
    .name = "stack",
    .keeps = true,
    .complete = stack_complete,
    .fit = stack_fit,
    .evaluate = blend_mixture,
    .draw = blend_draw,
    .load = blend_load,
    .describe = blend_describe,
};

const estimator ESTIMATOR_AUTO = { .name = "auto", .keeps = true, .complete = stack_complete, .fit = stack_fit };
