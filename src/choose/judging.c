/* judging.c - points held out in turn, and what fits to the others say of them.
 *
 * All that is compared is judged on the same points, so that differences, point by point, are known far better than
 * values. Where points are few, one share says little: several are held out in turn, and what all fits say of all of
 * them counts together. */
#include "choose.h"

#define LEAST_POINTS 20 /* fewer say nothing */
#define MOST_HELD_OUT 16384
#define ENOUGH_HELD_OUT 2000 /* if one share has as many, it is enough */
#define USUAL_FOLDS 5        /* at most */

int watch_choosing(const fit_watch *w, const npmd_report *now)
{
    npmd_report report = *now;
    report.attempt = 0;
    report.logged = 0;
    return watch_tell(w, &report);
}

/* How many shares of this many points are held out in turn. */
static int folds_of(const settings *set, size_t count)
{
    const double most = fmin(floor(1.0 / set->holdout + 1e-9), JUDGING_MOST),
                 enough = ceil((double)ENOUGH_HELD_OUT / (double)count);
    return (int)(set->folds > 0 ? fmin(set->folds, most) : fmin(fmin(enough, USUAL_FOLDS), most));
}

double judging_points(const settings *set, size_t n)
{
    const double share = fmin(floor(set->holdout * (double)n), MOST_HELD_OUT);
    return share < 2.0 ? 0.0 : share * folds_of(set, (size_t)share);
}

npmd_status judging_open(judging *j, const npmd_points *pts, const settings *set, size_t most, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const rng_key key = rng_key_make(set->seed, RNG_TUNE, 2);
    const size_t share = (size_t)(set->holdout * (double)pts->n), count = share < MOST_HELD_OUT ? share : MOST_HELD_OUT;
    *j = (judging){ .criterion = set->criterion, .seed = set->seed, .volume = pts->domain->volume };
    if (pts->n < LEAST_POINTS || count < 2)
        return NPMD_OK;
    const int folds = folds_of(set, count);
    for (int k = 0; k < folds; k++) {
        TRY(points_hold_out(pts, key, (size_t)k * count, count, set->ties, most, &j->held_out[k], &j->training[k],
                            err));
        if (j->training[k]->n < LEAST_POINTS / 2 || points_check_distinct(j->training[k], "", NULL) != NPMD_OK) {
            points_free(j->training[k]), points_free(j->held_out[k]);
            j->training[k] = j->held_out[k] = NULL;
            break;
        }
        j->judged += j->held_out[k]->n;
        j->folds = k + 1;
    }
    if (j->folds == 0)
        goto done;
    TRY(memory_new(&j->weight, j->judged, err));
    TRY(memory_new(&j->room, j->judged, err));
    for (size_t k = 0, at = 0; k < (size_t)j->folds; k++)
        for (size_t i = 0; i < j->held_out[k]->n; i++)
            j->weight[at++] = points_weight(j->held_out[k], i);
done:
    if (st != NPMD_OK)
        judging_close(j);
    return st;
}

void judging_close(judging *j)
{
    for (int k = 0; k < JUDGING_MOST; k++) {
        points_free(j->training[k]);
        points_free(j->held_out[k]);
    }
    memory_free(j->weight);
    memory_free(j->room);
    *j = (judging){ 0 };
}

void judging_mean(const judging *j, const double *value, double *mean, double *se)
{
    double total = 0.0, sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < j->judged; i++) {
        total += j->weight[i];
        sum += j->weight[i] * value[i];
    }
    *mean = sum / total;
    for (size_t i = 0; i < j->judged; i++)
        squares += j->weight[i] * j->weight[i] * (value[i] - *mean) * (value[i] - *mean);
    *se = sqrt(squares) / total;
}

void judging_difference(const judging *j, const double *a, const double *b, double *mean, double *se)
{
    for (size_t i = 0; i < j->judged; i++)
        j->room[i] = a[i] - b[i];
    judging_mean(j, j->room, mean, se);
}

npmd_status judging_hear(const judging *j, int fold, const npmd_model *m, const npmd_compute *how, verdict *v,
                         npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t at = 0;
    for (int k = 0; k < fold; k++)
        at += j->held_out[k]->n;
    if (fold == 0) {
        *v = (verdict){ 0 };
        TRY(memory_new(&v->log_density, j->judged, err));
    }
    TRY(model_evaluate_at(m, j->held_out[fold], NPMD_LOG_DENSITY, how, v->log_density + at, err));
    if (j->criterion == CRITERION_ISE) {
        const double share = (double)j->held_out[fold]->n / (double)j->judged;
        npmd_score score;
        TRY(model_score(m, j->held_out[fold], j->seed, how, &score, err));
        v->criterion += share * score.ise_criterion_relative;
        v->se = hypot(v->se, share * j->volume * score.ise_criterion_se);
    } else if (fold == j->folds - 1) {
        judging_mean(j, v->log_density, &v->criterion, &v->se);
        v->criterion = -v->criterion;
    }
done:
    return st;
}

/* What point i contributes to the criterion. */
static double contribution(const judging *j, const verdict *v, size_t i)
{
    return j->criterion == CRITERION_LIKELIHOOD ? -v->log_density[i] : -2.0 * j->volume * exp(v->log_density[i]);
}

void judging_compare(const judging *j, const verdict *v, const verdict *other, double *difference, double *se)
{
    double mean = 0.0;
    for (size_t i = 0; i < j->judged; i++)
        j->room[i] = contribution(j, v, i) - contribution(j, other, i);
    judging_mean(j, j->room, &mean, se);
    *difference = v->criterion - other->criterion;
}

npmd_status judging_fit(const judging *j, const fit_plan *plan, const derived *d, const fit_watch *watch, verdict *v,
                        npmd_model **first, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute how = model_compute(&plan->full);
    fit_plan *own = NULL;
    npmd_model *m = NULL;
    bool possible = true;
    fit_watch each = *watch;
    *first = NULL;
    TRY(memory_new(&own, 1, err));
    for (int k = 0; k < j->folds && possible; k++) {
        const derived now = k == 0 ? *d : derive_as_before(*d, &(*first)->set);
        st = plan_derive(plan, &now, j->training[k]->n, own, err);
        if (st == NPMD_OK)
            st = fit_run(own, j->training[k], &each, &m, err);
        each.kept_as += each.kept_as > 0; /* names follow each other */
        possible = st != NPMD_ERR_NUMERIC && st != NPMD_ERR_ARGUMENT && st != NPMD_STOPPED
                   && !(st == NPMD_OK && m->facts.interrupted);
        if (!possible)
            st = NPMD_OK;
        TRY(st);
        if (possible)
            TRY(judging_hear(j, k, m, &how, v, err));
        if (k == 0)
            *first = m;
        else
            model_free(m);
        m = NULL;
    }
    if (!possible) {
        model_free(*first);
        *first = NULL;
    }
done:
    model_free(m);
    if (st != NPMD_OK) {
        model_free(*first);
        *first = NULL;
    }
    memory_free(own);
    return st;
}
