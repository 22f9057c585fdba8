/* select.c - a fit whose options are chosen first: lists of values, every combination of them, each with its own tau,
 * length, omega and encoding where the options leave them open.
 *
 * All are judged on the same held-out points (judging.c), in two rounds:
 *
 *   1. every combination: of a field the first course of its search (search.c), of others the fit itself;
 *   2. the better half, at least two: the rest of its search.
 *
 * The best is fitted to all points with what was found. */
#include "choose.h"

#include <stdio.h>

#define MOST_SETTINGS 64

typedef struct setting { /* one combination */
    char text[sizeof((choice_row *)NULL)->settings];
    npmd_options options;
    fit_plan plan;
    search *search;         /* of a field; NULL: another estimator */
    verdict own;            /* of another estimator */
    const verdict *verdict; /* by which it is judged; NULL: it failed */
    int row;                /* of another estimator in the record */
} setting;

typedef struct selection {
    kept_fits *kept;
    judging judging;
    setting *all;
    int count;
    const fit_watch *watch;
    choice_record record;
    int stop;
} selection;

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
    const int total = (int)combinations;
    TRY(memory_new(&all, (size_t)total, err));
    for (int s = 0; s < total; s++) {
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
    *count = total;
    *out = all;
    all = NULL;
done:
    memory_free(all);
    return st;
}

/* ---- the rounds -------------------------------------------------------------------------------------------------- */

static int selection_progress(const npmd_report *now, void *user)
{
    selection *s = user;
    s->stop = s->stop || watch_choosing(s->watch, now) != 0;
    return s->stop;
}

/* An estimator without a search: the fit itself. */
static npmd_status setting_fit(selection *s, setting *one, const fit_watch *watch, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const derived d = derive_pilot(&one->plan.asked, one->plan.asked.tau, one->plan.asked.descent.steps);
    npmd_model *first = NULL;
    TRY(judging_fit(&s->judging, &one->plan, &d, watch, &one->own, &first, err));
    choice_row row = { .stage = 1,
                       .steps = first == NULL ? 0 : first->facts.steps,
                       .tau = one->plan.asked.tau < 0.0 ? NAN : one->plan.asked.tau,
                       .criterion = first == NULL ? NAN : one->own.criterion,
                       .criterion_se = first == NULL ? NAN : one->own.se,
                       .difference = NAN,
                       .difference_se = NAN };
    snprintf(row.settings, sizeof row.settings, "%s", one->text);
    one->verdict = first == NULL ? NULL : &one->own;
    one->row = s->record.rows;
    TRY(choice_add(&s->record, &row, err));
done:
    model_free(first);
    return st;
}

static npmd_status setting_first(selection *s, setting *one, const fit_watch *watch, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (one->plan.asked.estimator != FIT_FIELD)
        return setting_fit(s, one, watch, err);
    TRY(search_open(&one->plan, &s->judging, one->text, watch, &s->record, &one->search, err));
    TRY(search_start(one->search, err));
    one->verdict = search_verdict(one->search);
done:
    return st;
}

static npmd_status setting_rest(setting *one, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (one->search == NULL || one->verdict == NULL)
        return NPMD_OK;
    TRY(search_go_on(one->search, err));
    one->verdict = search_verdict(one->search);
done:
    return st;
}

static double criterion_of(const setting *one)
{
    return one->verdict == NULL ? INFINITY : one->verdict->criterion;
}

/* The best first; equal ones stay in order. */
static void settings_sort(setting **order, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && criterion_of(order[j]) < criterion_of(order[j - 1]); j--) {
            setting *swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
}

static npmd_status settings_compare(selection *s, setting **order, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_watch watch = { .progress = selection_progress, .user = s, .kept = s->kept };
    for (int i = 0; i < s->count && !s->stop; i++)
        TRY(setting_first(s, order[i], &watch, err));
    settings_sort(order, s->count);
    const int half = (s->count + 1) / 2, kept = half < 2 ? s->count : half;
    for (int i = 0; i < kept && !s->stop; i++)
        TRY(setting_rest(order[i], err));
    settings_sort(order, kept);
done:
    return st;
}

/* The differences of all rows to the best, point by point. */
static void selection_record(selection *s, const setting *best)
{
    s->record.criterion = s->judging.criterion;
    s->record.training = s->judging.training[0]->n;
    s->record.held_out = s->judging.judged;
    for (int i = 0; i < s->count; i++) {
        const setting *one = &s->all[i];
        if (one->search != NULL) {
            search_differences(one->search, best->verdict);
        } else if (one->verdict != NULL) {
            choice_row *row = &s->record.row[one->row];
            judging_compare(&s->judging, one->verdict, best->verdict, &row->difference, &row->difference_se);
            row->kept = one == best;
        }
    }
}

static void selection_close(selection *s)
{
    for (int i = 0; i < s->count; i++) {
        search_close(s->all[i].search);
        memory_free(s->all[i].own.log_density);
    }
    memory_free(s->all);
    choice_close(&s->record);
    kept_close(s->kept);
    judging_close(&s->judging);
}

/* The published criterion, unless another one was asked for. */
static settings judged_settings(const fit_plan *base, const npmd_options *asked)
{
    settings set = asked->set;
    if (!settings_given(&set, "criterion"))
        set.criterion = CRITERION_ISE;
    if (set.holdout == 0.0)
        set.holdout = settings_usual(&(settings){ .estimator = FIT_FIELD, .folds = set.folds }, "holdout", base->domain,
                                     base->n);
    return set;
}

/* What is kept is that of a fit with the options asked for, and with these lists. */
static npmd_status selection_keep(selection *s, const fit_plan *base, const npmd_points *pts, const char *const *over,
                                  int lists, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit as = { .plan = base, .points = pts, .watch = s->watch };
    json_t *what = NULL, *list = NULL;
    TRY(kept_open(s->watch, &s->kept, err));
    if (s->kept == NULL)
        goto done;
    TRY(described_fit(&as, &what, err));
    list = json_array();
    for (int i = 0; i < lists; i++)
        TRY(json_append(list, json_any_text(over[i]), err));
    TRY(json_put(what, "over", json_incref(list), err));
    TRY(kept_compose_as(s->kept, s->watch, what, err));
done:
    json_decref(list);
    json_decref(what);
    return st;
}

/* How the fit of what was chosen is watched. */
static fit_watch selection_last(const selection *s)
{
    fit_watch watch = *s->watch;
    if (s->kept == NULL)
        return watch;
    watch.progress = kept_told;
    watch.user = s->kept;
    watch.kept = s->kept;
    watch.kept_as = 1;
    watch.checkpoint[0] = watch.resume[0] = '\0';
    return watch;
}

npmd_status select_run(const fit_plan *base, const npmd_options *asked, const npmd_points *pts, const char *const *over,
                       int lists, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings judged = judged_settings(base, asked);
    selection s = { .watch = &asked->watch };
    setting *order[MOST_SETTINGS];
    npmd_model *m = NULL;
    TRY(settings_make(base, asked, over, lists, &s.all, &s.count, err));
    for (int i = 0; i < s.count; i++)
        order[i] = &s.all[i];
    TRY(judging_open(&s.judging, pts, &judged, JUDGING_TRAINING, err));
    if (s.judging.folds == 0) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%zu points are too few to hold some of them out and choose by", pts->n);
        goto done;
    }
    TRY(selection_keep(&s, base, pts, over, lists, err));
    TRY(settings_compare(&s, order, err));
    if (s.stop)
        TRY(kept_stop(s.kept, err));
    setting *best = order[0];
    if (best->verdict == NULL) {
        st = s.stop ? npmd_fail(err, NPMD_STOPPED, "interrupted before the first fit was done")
                    : npmd_fail(err, NPMD_ERR_NUMERIC, "none of the %d combinations could be fitted", s.count);
        goto done;
    }
    if (best->search != NULL)
        search_take(best->search, &best->options.set);
    best->options.set.rivals = 0;
    TRY(plan_make(base->estimators, &best->options.set, &base->origin, base->domain, base->n, &best->plan, err));
    const fit_watch last = selection_last(&s);
    TRY(fit_run(&best->plan, pts, &last, &m, err));
    if (s.stop)
        model_warn(m, "the choice was interrupted: these settings are not the best of all that were asked for");
    selection_record(&s, best);
    judging_mean(&s.judging, best->verdict->log_density, &m->held_out_nll, &m->held_out_nll_se);
    m->held_out_nll = -m->held_out_nll;
    choice_close(&m->choice); /* of an estimator that chose once more by itself */
    m->choice = s.record;
    s.record = (choice_record){ 0 };
    *out = m;
    m = NULL;
done:
    model_free(m);
    selection_close(&s);
    return st;
}
