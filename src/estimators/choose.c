/* choose.c - a tau for data that came without one.
 *
 * The default suits densities as smooth as the dimension suggests and as many points as it takes. Clustered data
 * want far less smoothing, few points in many dimensions far more. Both say so: short fits on a part of the points
 * are compared on held-out ones. Where the points of the fit are much more likely than the held-out ones, it
 * learns noise, and tau is raised by tens, else lowered, as long as the held-out log-likelihood rises by more than
 * noise. Most data stay with the default.
 *
 * What makes a fit learn noise is its length as well. The evidence for a raised tau is that of the short fits, so
 * the fit to all points then is as short. */
#include "estimators.h"

#define LEAST_POINTS 200 /* fewer say nothing */
#define MOST_TRAINING 20000
#define MOST_HELD_OUT 2000
#define PILOT_STEPS 120
#define PILOT_STEPS_TORUS 200 /* on T3 and above, where it is the noise that must show */
#define MOST_MOVES 3
#define LEAST_GAIN 0.03 /* nats a point */
#define NOISE_LEARNT                                                                                         \
    0.1 /* nats that a point gains by being one of the fit's: below, there is nothing to mend */

typedef struct pilot { /* passes signs of life on, marked as attempt 0 */
    const npmd_options *asked;
    checkpoint *checkpoint;
    int64_t steps;
    int stop;
} pilot;

static int pilot_progress(const npmd_report *now, void *user)
{
    pilot *p = user;
    npmd_report report = *now;
    report.attempt = 0;
    report.logged = 0;
    checkpoint_keep(p->checkpoint, NULL, NULL);
    if (p->asked->progress != NULL)
        p->stop = p->stop || p->asked->progress(&report, p->asked->user) != 0;
    return p->stop;
}

static int64_t pilot_steps(const npmd_model *m)
{
    const int64_t most = m->domain->torus && m->domain->dimension > 2 ? PILOT_STEPS_TORUS : PILOT_STEPS;
    return m->options.steps < most ? m->options.steps : most;
}

/* The log density of every held-out point after a short fit, and the mean over as many of its own; a fit that fails
 * has none. */
static npmd_status pilot_fit(pilot *p, const npmd_options *opt, double tau, const npmd_points *training,
                             const npmd_points *held_out, const npmd_points *own, double *log_density,
                             double *own_mean, bool *failed, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options o = *opt;
    npmd_model *m = NULL;
    npmd_compute how = { .threads = opt->threads };
    double se = 0.0;
    memcpy(how.device, opt->device, sizeof how.device);
    o.tau = tau;
    o.steps = p->steps;
    o.epochs = 0;
    o.batch = 0;
    o.truth = NULL;
    o.held_out = NULL;
    o.accuracy = 3e-3; /* hundredths of a nat are compared */
    o.checkpoint[0] = o.resume[0] = '\0';
    o.start_from[0] = '\0'; /* that model may have seen the points held out here */
    o.convex_gap = 0;
    memset(o.given, 0, sizeof o.given); /* it was looked at before */
    o.progress = pilot_progress;
    o.user = p;
    st = npmd_fit(training->domain, training, &o, &m, err);
    *failed = st == NPMD_ERR_NUMERIC;
    if (*failed)
        st = NPMD_OK;
    else if (st == NPMD_OK) {
        TRY(npmd_evaluate_at(m, own, NPMD_LOG_DENSITY, &how, log_density, err));
        weighted_mean(own, log_density, own_mean, &se);
        TRY(npmd_evaluate_at(m, held_out, NPMD_LOG_DENSITY, &how, log_density, err));
    }
done:
    npmd_model_free(m);
    return st;
}

npmd_status choose_tau(npmd_model *m, const npmd_options *asked, const npmd_points *pts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_options *opt = &m->options;
    const rng_key key = rng_key_make(opt->seed, RNG_TUNE, 2);
    const size_t tenth = pts->n / 10, out_count = tenth < MOST_HELD_OUT ? tenth : MOST_HELD_OUT;
    const size_t rest = pts->n - out_count, most_training = rest < MOST_TRAINING ? rest : MOST_TRAINING;
    size_t next_row = 0, own_row = 0;
    uint64_t *twins = NULL;
    const double first = opt->tau;
    npmd_points *training = NULL, *held_out = NULL, *own = NULL;
    double *now = NULL, *next = NULL, *rise = NULL, gain = 0.0, se = 0.0, sum = 0.0, own_mean = 0.0,
           mean = 0.0;
    bool failed = false;
    pilot p = { .asked = opt, .checkpoint = m->checkpoint, .steps = pilot_steps(m) };
    if (pts->n < LEAST_POINTS || opt->penalty == NPMD_PENALTY_NONE)
        return NPMD_OK;
    TRY(points_part(pts, key, &next_row, out_count, NULL, 0, &held_out, err));
    TRY(points_twins(held_out, &twins, err));
    own_row = next_row;
    TRY(points_part(pts, key, &next_row, most_training, twins, out_count, &training, err));
    TRY(points_part(pts, key, &own_row, out_count, twins, out_count, &own, err));
    if (training->n < LEAST_POINTS / 2 || points_check_distinct(training, "", NULL) != NPMD_OK)
        goto done; /* nothing to learn from: the default stands */
    TRY(memory_new(&now, out_count, err));
    TRY(memory_new(&next, out_count, err));
    TRY(memory_new(&rise, out_count, err));
    TRY(pilot_fit(&p, opt, opt->tau, training, held_out, own, now, &own_mean, &failed, err));
    weighted_mean(held_out, now, &mean, &se);
    /* a small part of the points learns more noise than all of them would */
    const bool most = (double)most_training > 0.8 * (double)pts->n, noise = own_mean - mean > NOISE_LEARNT;
    double factor = noise && most ? 10.0 : 0.1;
    for (int move = 0; move < MOST_MOVES && !failed && !p.stop;) {
        TRY(pilot_fit(&p, opt, opt->tau * factor, training, held_out, own, next, &own_mean, &failed, err));
        for (size_t i = 0; i < out_count; i++)
            rise[i] = next[i] - now[i];
        weighted_mean(held_out, rise, &gain, &se);
        /* less smoothing must be earned; where noise is learnt, more is taken for any gain */
        const bool better = factor > 1.0 ? gain > se : gain > 3.0 * se && gain > LEAST_GAIN;
        if (failed || p.stop)
            break;
        if (better) {
            m->options.tau *= factor;
            sum += gain;
            memcpy(now, next, out_count * sizeof *now);
            move++;
        } else if (factor > 1.0 && move == 0) {
            factor = 0.1; /* clustered data are learnt by heart, too, and want less smoothing all the same */
        } else {
            break;
        }
    }
    if (p.stop)
        TRY(checkpoint_stop(m->checkpoint, NULL, NULL, err));
    /* a length that was asked for stays */
    if (opt->tau > first && asked->steps == 0 && asked->epochs == 0 && p.steps < opt->steps) {
        m->options.steps = p.steps;
        if (opt->warmup > p.steps / 2)
            m->options.warmup = p.steps / 2;
    }
    if (opt->tau != first)
        model_warn(
            m,
            "tau was %s from %.2g to %.2g%s: held-out points gained %.2f nats each; give --tau to decide yourself",
            opt->tau < first ? "lowered" : "raised", first, opt->tau,
            opt->steps == p.steps ? ", with fewer steps" : "", sum);
done:
    npmd_points_free(training);
    npmd_points_free(held_out);
    npmd_points_free(own);
    memory_free(twins);
    memory_free(now);
    memory_free(next);
    memory_free(rise);
    return st;
}
