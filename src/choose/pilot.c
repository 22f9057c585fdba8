/* pilot.c - short fits to a part of the points, compared on the points that were held out from them.
 *
 * All start from one seed and are judged on the same points, so their differences are known far better than their
 * values: with c_i the contribution of point i to the criterion, the error of a difference is that of the mean of c_i -
 * c_i'.
 *
 *     ise          mean f^2 - 2 mean f(x_i),  f relative to the uniform measure; a mean over the last looks
 *     likelihood   -mean log f(x_i),          f per volume */
#include "choose.h"

#include <stdio.h>

#define LEAST_POINTS 200 /* fewer say nothing */
/* points, which are copied; the time of a step does not depend on it, since its batch is far smaller */
#define MOST_TRAINING 262144
#define MOST_HELD_OUT 16384
#define LOOKS 10         /* looks at the criterion during a fit */
#define LOOKS_SMOOTHED 2 /* last looks that are averaged, against the noise of the last steps */

typedef struct pilot_watch { /* passes on progress reports, marked as attempt 0 */
    pilots *all;
    double ise[LOOKS_SMOOTHED], ise_se;
    int looks, attempt;
} pilot_watch;

static int pilot_progress(const npmd_report *now, void *user)
{
    pilot_watch *w = user;
    pilots *p = w->all;
    npmd_report report = *now;
    if (now->attempt != w->attempt) /* started again */
        w->looks = 0;
    w->attempt = now->attempt;
    if (now->logged && isfinite(now->ise)) {
        w->ise[w->looks++ % LOOKS_SMOOTHED] = now->ise;
        w->ise_se = now->ise_se;
    }
    report.attempt = 0;
    report.logged = 0;
    p->stop = p->stop || watch_tell(p->watch, &report) != 0;
    return p->stop;
}

npmd_status pilots_open(pilots *p, const npmd_points *pts, const settings *set, const fit_watch *watch, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const rng_key key = rng_key_make(set->seed, RNG_TUNE, 2);
    const size_t share = (size_t)(set->holdout * (double)pts->n),
                 out_count = share < MOST_HELD_OUT ? share : MOST_HELD_OUT, rest = pts->n - out_count,
                 most = rest < MOST_TRAINING ? rest : MOST_TRAINING;
    size_t next = 0, own = 0;
    uint64_t *twins = NULL;
    *p = (pilots){ .criterion = set->criterion, .watch = watch, .how = model_compute(set) };
    if (pts->n < LEAST_POINTS || out_count < 2)
        return NPMD_OK;
    TRY(points_part(pts, key, &next, out_count, NULL, 0, &p->held_out, err));
    TRY(points_twins(p->held_out, &twins, err));
    const size_t avoided = set->ties == TIES_TOGETHER ? out_count : 0;
    own = next;
    TRY(points_part(pts, key, &next, most, twins, avoided, &p->training, err));
    TRY(points_part(pts, key, &own, out_count, twins, avoided, &p->own, err));
    p->usable = p->training->n >= LEAST_POINTS / 2 && points_check_distinct(p->training, "", NULL) == NPMD_OK;
    p->whole = (double)most > 0.8 * (double)pts->n;
    TRY(memory_new(&p->rise, p->held_out->n, err));
done:
    memory_free(twins);
    if (st != NPMD_OK)
        pilots_close(p);
    return st;
}

void pilots_close(pilots *p)
{
    for (int i = 0; i < p->count; i++)
        memory_free(p->pilot[i].log_density);
    points_free(p->training);
    points_free(p->held_out);
    points_free(p->own);
    memory_free(p->rise);
    *p = (pilots){ 0 };
}

/* What the fitted model has to say of the held-out points. */
static npmd_status pilot_judge(const pilots *p, const pilot_watch *w, const npmd_model *m, pilot *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_score score;
    double se = 0.0;
    TRY(model_evaluate_at(m, p->own, NPMD_LOG_DENSITY, &p->how, out->log_density, err));
    weighted_mean(p->own, out->log_density, &out->own_mean, &se);
    TRY(model_evaluate_at(m, p->held_out, NPMD_LOG_DENSITY, &p->how, out->log_density, err));
    weighted_mean(p->held_out, out->log_density, &out->mean, &se);
    out->log_volume = log(m->domain->volume);
    out->row.steps = m->facts.steps;
    out->row.criterion = -out->mean;
    out->row.criterion_se = se;
    if (p->criterion == CRITERION_ISE && w->looks > 0) {
        const int count = w->looks < LOOKS_SMOOTHED ? w->looks : LOOKS_SMOOTHED;
        out->row.criterion = 0.0;
        for (int i = 0; i < count; i++)
            out->row.criterion += w->ise[i] / count;
        out->row.criterion_se = w->ise_se;
    } else if (p->criterion == CRITERION_ISE) { /* an estimator without steps */
        TRY(model_score(m, p->held_out, m->set.seed, &p->how, &score, err));
        out->row.criterion = score.ise_criterion_relative;
        out->row.criterion_se = score.ise_criterion_se * m->domain->volume;
    }
done:
    return st;
}

npmd_status pilot_fit(pilots *p, const fit_plan *plan, const settings *base, double tau, int64_t steps, int stage,
                      const char *words, int *which, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    pilot *now = &p->pilot[p->count];
    npmd_model *m = NULL;
    fit_plan *own = NULL;
    pilot_watch watch = { .all = p };
    const derived d = derive_pilot(base, tau, steps);
    assert(p->count < PILOTS_MOST);
    *now = (pilot){ .row = { .stage = stage, .steps = steps, .tau = tau < 0.0 ? NAN : tau } };
    now->row.criterion = now->row.criterion_se = now->row.difference = now->row.difference_se = NAN;
    snprintf(now->row.settings, sizeof now->row.settings, "%s", words);
    TRY(memory_new(&now->log_density, p->held_out->n, err));
    *which = p->count++;
    TRY(memory_new(&own, 1, err));
    TRY(plan_derive(plan, &d, p->training->n, own, err));
    st = fit_run(own, p->training,
                 &(fit_watch){ .progress = pilot_progress,
                               .user = &watch,
                               .held_out = p->criterion == CRITERION_ISE ? p->held_out : NULL,
                               .log_every = steps > LOOKS ? steps / LOOKS : 1 },
                 &m, err);
    now->failed = st == NPMD_ERR_NUMERIC;
    if (now->failed)
        st = NPMD_OK;
    else if (st == NPMD_OK)
        st = pilot_judge(p, &watch, m, now, err);
done:
    model_free(m);
    memory_free(own);
    return st;
}

void pilot_gain(const pilots *p, int from, int to, double *gain, double *se)
{
    const pilot *a = &p->pilot[from], *b = &p->pilot[to];
    for (size_t i = 0; i < p->held_out->n; i++)
        p->rise[i] = b->log_density[i] - a->log_density[i];
    weighted_mean(p->held_out, p->rise, gain, se);
}

void pilot_compare(const pilots *p, int which, int other, double *difference, double *se)
{
    const pilot *a = &p->pilot[which], *b = &p->pilot[other];
    double mean = 0.0;
    *difference = *se = NAN;
    if (a->failed || b->failed)
        return;
    for (size_t i = 0; i < p->held_out->n; i++) {
        const double u = a->log_density[i], v = b->log_density[i];
        p->rise[i] = p->criterion == CRITERION_LIKELIHOOD ? v - u
                                                          : 2.0 * (exp(v + b->log_volume) - exp(u + a->log_volume));
    }
    weighted_mean(p->held_out, p->rise, &mean, se);
    *difference = a->row.criterion - b->row.criterion;
}

bool pilot_better(const pilots *p, int which, int other)
{
    const pilot *a = &p->pilot[which], *b = &p->pilot[other];
    return !a->failed && (b->failed || a->row.criterion < b->row.criterion);
}

npmd_status pilots_record(pilots *p, int best, choice_record *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    into->criterion = p->criterion;
    into->training = p->training->n;
    into->held_out = p->held_out->n;
    for (int i = 0; i < p->count; i++) {
        choice_row *row = &p->pilot[i].row;
        pilot_compare(p, i, best, &row->difference, &row->difference_se);
        TRY(choice_add(into, row, err));
    }
done:
    return st;
}
