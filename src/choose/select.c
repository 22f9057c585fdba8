/* select.c - a fit whose options are chosen first: lists of values, every combination of them, each with its own tau.
 *
 * Successive halving on one set of held-out points (pilot.c):
 *
 *   1. every combination: a short fit at its default tau;
 *   2. the better half, at least two: each with its own tau (search_tau.c) where the options leave that open;
 *   3. the better half of these, at least two: fits as long as the one to all points will be.
 *
 * The best of the last stage is fitted to all points. With a single combination this is a plain fit. */
#include "choose.h"

#include <stdio.h>

#define MOST_SETTINGS 64

typedef struct setting { /* one combination */
    char text[sizeof((choice_row *)NULL)->settings];
    npmd_options options;
    fit_plan plan;
    double tau;    /* as it stands now; negative: the estimator sees to it */
    int64_t steps; /* of the fit to all points; 0: as it was asked for */
    int pilot;     /* the latest, by which it is judged */
} setting;

/* ---- the lists --------------------------------------------------------------------------------------------------- */

/* Where the value of that number begins in "name=v1:v2:v3", which ends at a colon; NULL: there is no such. */
static const char *list_value(const char *list, int number)
{
    const char *at = strchr(list, '=');
    for (at = at == NULL ? NULL : at + 1; at != NULL && number > 0; number--) {
        at = strchr(at, ':');
        at = at == NULL ? NULL : at + 1;
    }
    return at;
}

static int list_length(const char *list)
{
    int length = 0;
    while (list_value(list, length) != NULL)
        length++;
    return length;
}

/* What all fits are judged by, or what changes no answer, cannot be what is chosen. */
static bool list_varies(const char *name)
{
    static const char *const FIXED[] = { "criterion", "holdout",    "threads",       "device",
                                         "seed",      "checkpoint", "resume",        "checkpoint-every",
                                         "log-every", "start-from", "encoding-from", "preset" };
    for (size_t i = 0; i < sizeof FIXED / sizeof *FIXED; i++)
        if (strcmp(FIXED[i], name) == 0)
            return false;
    return true;
}

/* One more option of a combination, and its words. */
static npmd_status setting_add(setting *s, const char *list, int number, npmd_error *err)
{
    char name[64] = "", value[64] = "";
    const size_t used = strlen(s->text), length = strcspn(list, "=");
    const char *at = list_value(list, number);
    if (at == NULL || length >= sizeof name || strcspn(at, ":") >= sizeof value)
        return npmd_fail(
            err, NPMD_ERR_ARGUMENT,
            "\"%.60s\" was found where option=value:value was expected, with values of at most %zu letters", list,
            sizeof value - 1);
    memcpy(name, list, length);
    memcpy(value, at, strcspn(at, ":"));
    if (!list_varies(name))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "\"%.60s\": `%s` is not one of the options that can be chosen", list,
                         name);
    if ((size_t)snprintf(s->text + used, sizeof s->text - used, "%s%s=%s", used > 0 ? " " : "", name, value)
        >= sizeof s->text - used)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "\"%.60s\": at most %zu letters for all options that vary", list,
                         sizeof s->text - 1);
    return options_set(&s->options, name, value, err);
}

static npmd_status settings_make(const fit_plan *base, const npmd_options *asked, const char *const *over, int lists,
                                 setting **out, int *count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    setting *all = NULL;
    double combinations = 1.0;
    for (int i = 0; i < lists; i++)
        combinations *= strchr(over[i], '=') == NULL ? 1.0 : list_length(over[i]);
    if (combinations > MOST_SETTINGS) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "%.0f combinations were asked for; at most %d", combinations,
                       MOST_SETTINGS);
        goto done;
    }
    *count = (int)combinations;
    TRY(memory_new(&all, (size_t)*count, err));
    for (int s = 0; s < *count; s++) {
        int rest = s;
        all[s].options = *asked;
        for (int i = 0; i < lists; i++) {
            if (strcmp(over[i], "tau") == 0) { /* its own grid */
                all[s].options.set.tau = -1.0;
                continue;
            }
            const int length = list_length(over[i]);
            TRY(setting_add(&all[s], over[i], length > 0 ? rest % length : 0, err));
            rest /= length > 0 ? length : 1;
        }
        TRY(plan_make(base->estimators, &all[s].options.set, &base->origin, base->domain, base->n, &all[s].plan, err));
    }
    *out = all;
    all = NULL;
done:
    memory_free(all);
    return st;
}

/* ---- the stages -------------------------------------------------------------------------------------------------- */

static bool is_field(const setting *s)
{
    return s->plan.asked.estimator == FIT_FIELD;
}

static bool is_searched(const setting *s)
{
    return is_field(s) && s->plan.asked.tau < 0.0 && s->plan.asked.penalty != PENALTY_NONE;
}

/* A short fit, at the tau that a field begins its search with; other estimators do as they do. */
static npmd_status setting_first(pilots *p, setting *s, npmd_error *err)
{
    const settings *base = is_field(s) ? &s->plan.full : &s->plan.asked;
    s->tau = base->tau;
    return pilot_fit(p, &s->plan, base, s->tau, is_field(s) ? pilot_steps(s->plan.domain, base) : base->descent.steps,
                     1, s->text, &s->pilot, err);
}

static npmd_status setting_search(pilots *p, setting *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    tau_found found;
    if (!is_searched(s))
        return NPMD_OK;
    TRY(search_tau(p, &s->plan, s->text, s->pilot, &found, err));
    s->tau = found.tau;
    s->pilot = found.best;
    if (found.moved > 0 && s->plan.asked.descent.steps == 0 && s->plan.asked.descent.epochs == 0)
        s->steps = found.steps;
done:
    return st;
}

static npmd_status setting_whole(pilots *p, setting *s, npmd_error *err)
{
    const int64_t steps = s->steps > 0 ? s->steps : s->plan.full.descent.steps;
    if (!is_field(s) || p->pilot[s->pilot].row.steps >= steps)
        return NPMD_OK; /* it was as long already */
    return pilot_fit(p, &s->plan, &s->plan.full, s->tau, steps, 3, s->text, &s->pilot, err);
}

/* The best of the first count come first, in their order; how many go on: half, but two at least, of the last stage
 * one. */
static int settings_keep(pilots *p, setting **order, int count, bool last)
{
    for (int i = 1; i < count; i++) /* insertion: few, and equal ones stay in order */
        for (int j = i; j > 0 && pilot_better(p, order[j]->pilot, order[j - 1]->pilot); j--) {
            setting *swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    const int half = (count + 1) / 2, kept = last ? 1 : half >= 2 || count < 2 ? half : 2;
    for (int i = 0; i < kept; i++)
        p->pilot[order[i]->pilot].row.kept = 1;
    return kept;
}

static npmd_status settings_compare(pilots *p, setting **order, int count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_status (*const STAGE[])(pilots *, setting *, npmd_error *) = { setting_first, setting_search, setting_whole };
    const int stages = count == 1 ? 2 : 3; /* one alone need not be compared */
    for (int stage = 0; stage < stages && !p->stop; stage++) {
        for (int i = 0; i < count && !p->stop; i++)
            TRY(STAGE[stage](p, order[i], err));
        if (!p->stop)
            count = settings_keep(p, order, count, stage == stages - 1);
    }
done:
    return st;
}

npmd_status select_run(const fit_plan *base, const npmd_options *asked, const npmd_points *pts, const char *const *over,
                       int lists, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_watch *watch = &asked->watch;
    setting *all = NULL, *order[MOST_SETTINGS];
    pilots *p = NULL;
    npmd_model *m = NULL;
    int count = 0;
    TRY(settings_make(base, asked, over, lists, &all, &count, err));
    for (int i = 0; i < count; i++)
        order[i] = &all[i];
    settings judged = asked->set;
    if (judged.holdout == 0.0)
        judged.holdout = settings_usual(&(settings){ .estimator = FIT_FIELD }, "holdout", base->domain, pts->n);
    TRY(memory_new(&p, 1, err));
    TRY(pilots_open(p, pts, &judged, watch, err));
    if (!p->usable) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%zu points are too few to hold some of them out and choose by", pts->n);
        goto done;
    }
    TRY(settings_compare(p, order, count, err));
    if (p->stop && (watch->checkpoint[0] != '\0' || watch->resume[0] != '\0')) {
        st = npmd_fail(err, NPMD_STOPPED, "interrupted while it was choosing, which keeps nothing to go on from");
        goto done;
    }
    setting *best = order[0];
    best->options.set.tau = best->tau;
    if (best->steps > 0)
        best->options.set.descent.steps = best->steps;
    TRY(plan_make(base->estimators, &best->options.set, &base->origin, base->domain, base->n, &best->plan, err));
    TRY(fit_run(&best->plan, pts, watch, &m, err));
    if (p->stop)
        model_warn(m, "the choice was interrupted: these settings are not the best of all that were asked for");
    choice_close(&m->choice); /* of an estimator that chose once more by itself */
    TRY(pilots_record(p, best->pilot, &m->choice, err));
    *out = m;
    m = NULL;
done:
    model_free(m);
    if (p != NULL)
        pilots_close(p);
    memory_free(p);
    memory_free(all);
    return st;
}
