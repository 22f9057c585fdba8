/* rivals.c - the cheap estimators, fitted to the same points as a field while its settings were chosen, and judged on
 * the same held-out points: what the user would have had without a network. */
#include "choose.h"

#include <stdio.h>

/* Functions of a series that is fitted in seconds. */
#define MOST_FUNCTIONS 20000.0

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
    if (best == NULL || !(best->difference < -2.0 * best->difference_se))
        return;
    const bool by_kernels = strncmp(best->estimator, "kde", 3) == 0;
    model_warn(m,
               "held-out points prefer %s to this field, by %.3g nats a point: `estimator` %s%s takes %s, `estimator` "
               "auto the best of all",
               by_kernels ? "kernels" : "a series", -best->difference, by_kernels ? "kde" : "series",
               strstr(best->estimator, "mixture") != NULL ? " with `bandwidth` mixture" : "",
               by_kernels ? "them" : "it");
}

npmd_status rivals_hear(const judging *j, const fit_plan *plan, const fit_watch *watch, npmd_model *m, bool *stopped,
                        npmd_error *err)
{
    npmd_status st = NPMD_OK;
    choice_record *heard = &m->choice;
    rivals_watch told = { .watch = watch };
    const fit_watch quiet = { .progress = rivals_progress, .user = &told };
    verdict v = { 0 };
    fit_plan *own = NULL;
    TRY(memory_new(&own, 1, err));
    for (size_t i = 0; i < sizeof RIVALS / sizeof *RIVALS && !told.stopped; i++) {
        part_kind kind = RIVALS[i];
        npmd_model *first = NULL;
        choice_rival *r = &heard->rival[heard->rivals];
        if (kind.estimator == FIT_KDE && plan->domain->surfaces)
            kind.bandwidth = BANDWIDTH_FIXED;
        const derived d = derive_part(&plan->asked, &kind, 1, false, false, NULL);
        if (plan_derive(plan, &d, j->training[0]->n, own, NULL) != NPMD_OK || !affordable(own))
            continue;
        TRY(judging_fit(j, plan, &d, &quiet, &v, &first, err));
        if (first == NULL) { /* it is not for these points, or nobody waits for it any more */
            memory_free(v.log_density);
            v.log_density = NULL;
            continue;
        }
        model_free(first);
        snprintf(r->estimator, sizeof r->estimator, "%s", settings_part_name(&d.set));
        judging_mean(j, v.log_density, &r->nll, &r->nll_se);
        r->nll = -r->nll;
        judging_difference(j, heard->log_density, v.log_density, &r->difference, &r->difference_se);
        heard->rivals++;
        memory_free(v.log_density);
        v.log_density = NULL;
    }
    warn_of_better(m);
    *stopped = told.stopped;
done:
    memory_free(v.log_density);
    memory_free(own);
    return st;
}
