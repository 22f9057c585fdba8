/* rivals.c - the cheap estimators, fitted to the same points as a field while its settings are chosen, and judged on the
 * same held-out points: what the user would have without a network. They come first: a field that will surely not reach
 * the best of them need not be trained to its end, and has it for its base. */
#include "choose.h"

#include <stdio.h>

/* Functions of a series that is fitted in seconds. */
#define MOST_FUNCTIONS 10000.0

static const part_kind RIVALS[] = { { FIT_SERIES, 0, true }, { FIT_KDE, BANDWIDTH_MIXTURE, true } };

/* A rival of many factors is a series with too many functions. */
static bool affordable(const fit_plan *rival)
{
    double functions = 1.0;
    if (rival->full.estimator != FIT_SERIES)
        return true;
    for (int d = 0; d < rival->domain->factors; d++) {
        const manifold *m = rival->domain->factor[d];
        functions *= m->functions(m, rival->full.encoding.max_frequency[d]);
    }
    return functions <= MOST_FUNCTIONS;
}

typedef struct rivals_watch {
    const fit_watch *watch;
    bool stopped;
} rivals_watch;

static int rivals_progress(const npmd_report *now, void *user)
{
    rivals_watch *w = user;
    w->stopped = w->stopped || watch_choosing(w->watch, now) != 0;
    return w->stopped;
}

/* The best of them, if it is surely better than the field. */
static void warn_of_better(npmd_model *m)
{
    const choice_record *c = &m->choice;
    const choice_rival *best = NULL;
    for (int i = 0; i < c->rivals; i++)
        if (best == NULL || c->rival[i].nll < best->nll)
            best = &c->rival[i];
    if (best == NULL || !(best->difference < -NO_ACCIDENT * best->difference_se))
        return;
    const bool by_kernels = strncmp(best->estimator, "kde", 3) == 0;
    model_warn(m,
               "held-out points prefer %s to this field, by %.3g nats a point: `estimator` %s%s takes %s, `estimator` "
               "auto the best of all",
               by_kernels ? "kernels" : "a series", -best->difference, by_kernels ? "kde" : "series",
               strstr(best->estimator, "mixture") != NULL ? " with `bandwidth` mixture" : "",
               by_kernels ? "them" : "it");
}

npmd_status rivals_fit(rivals *r, const judging *j, const fit_plan *plan, const fit_watch *watch, bool *stopped,
                       npmd_error *err)
{
    npmd_status st = NPMD_OK;
    rivals_watch told = { .watch = watch };
    const fit_watch quiet = { .progress = rivals_progress, .user = &told, .kept = watch->kept };
    fit_plan *own = NULL;
    *r = (rivals){ 0 };
    TRY(memory_new(&own, 1, err));
    for (size_t i = 0; i < sizeof RIVALS / sizeof *RIVALS && !told.stopped; i++) {
        part_kind kind = RIVALS[i];
        npmd_model *first = NULL;
        heard_rival *one = &r->heard[r->count];
        if (kind.estimator == FIT_KDE && plan->domain->surfaces)
            kind.bandwidth = BANDWIDTH_FIXED;
        const derived d = derive_part(&plan->asked, &kind, 1, false, false, NULL);
        if (plan_derive(plan, &d, j->training[0]->n, own, NULL) != NPMD_OK || !affordable(own))
            continue;
        TRY(judging_fit(j, plan, &d, &quiet, &one->verdict, &first, err));
        if (first == NULL) { /* it is not for these points, or nobody waits for it any more */
            memory_free(one->verdict.log_density);
            *one = (heard_rival){ 0 };
            continue;
        }
        model_free(first);
        one->estimator = (int)kind.estimator;
        snprintf(one->name, sizeof one->name, "%s", settings_part_name(&d.set));
        r->count++;
    }
    *stopped = told.stopped;
done:
    memory_free(own);
    return st;
}

void rivals_close(rivals *r)
{
    for (size_t i = 0; i < sizeof r->heard / sizeof *r->heard; i++)
        memory_free(r->heard[i].verdict.log_density);
    *r = (rivals){ 0 };
}

const heard_rival *rivals_best(const rivals *r)
{
    const heard_rival *best = NULL;
    for (int i = 0; i < r->count; i++)
        if (best == NULL || r->heard[i].verdict.criterion < best->verdict.criterion)
            best = &r->heard[i];
    return best;
}

void rivals_record(const rivals *r, const judging *j, npmd_model *m)
{
    choice_record *into = &m->choice;
    for (int i = 0; i < r->count; i++) {
        const double *log_density = r->heard[i].verdict.log_density;
        choice_rival *row = &into->rival[into->rivals++];
        snprintf(row->estimator, sizeof row->estimator, "%s", r->heard[i].name);
        judging_mean(j, log_density, &row->nll, &row->nll_se);
        row->nll = -row->nll;
        judging_difference(j, into->log_density, log_density, &row->difference, &row->difference_se);
    }
    if (!m->set.of_blend)
        warn_of_better(m);
}
