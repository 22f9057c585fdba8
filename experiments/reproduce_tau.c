/* reproduce_tau.c - Figure S6: the ISE criterion on held-out points beside the true error, while fits with several taus
 * run.
 *
 *     ise = mean f^2 - 2 mean f(x_i),   f relative to the uniform measure, x_i the held-out points
 *
 * Up to a constant it estimates the integrated squared error, so its curves should be in the order of those of nISE. A
 * tenth of the points is held out, the same for every tau. The criterion is computed every 100 steps; the paper chooses
 * by its mean over the last 50 values (5,000 steps). */
#include "reproduce.h"

#include <inttypes.h>
#include <math.h>

enum { LOOK_EVERY = 100, WINDOW = 50 };

typedef struct course { /* of one fit */
    double ise[WINDOW]; /* the last looks, in turn */
    int looks;
} course;

static double smoothed(const course *w)
{
    const int count = w->looks < WINDOW ? w->looks : WINDOW;
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += w->ise[i];
    return count > 0 ? sum / count : NAN;
}

static void keep_row(reproduce_child *c, const npmd_report *now)
{
    course *w = c->course;
    if (c->rows[0].length == 0) /* begun, or begun again */
        w->looks = 0;
    if (!isfinite(now->ise))
        return;
    w->ise[w->looks++ % WINDOW] = now->ise;
    reproduce_text_row(
        &c->rows[0],
        (const double[]){ (double)now->step, now->epoch, now->ise, now->ise_se, smoothed(w), now->nise, now->ae }, 7);
    c->result.figure[FIGURE_ISE_SE] = now->ise_se;
}

/* Every 100 steps, of a short try 50 times. */
static npmd_status look_often(npmd_options *options, npmd_error *err)
{
    const int64_t steps = (int64_t)npmd_options_number(options, "steps");
    int64_t every = LOOK_EVERY;
    char digits[32];
    if (steps > 0 && steps / WINDOW < LOOK_EVERY)
        every = steps > WINDOW ? steps / WINDOW : 1;
    snprintf(digits, sizeof digits, "%" PRId64, every);
    return npmd_options_set(options, "log-every", digits, err);
}

npmd_status measure_tau(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    /* the files of the authors hold their points component by component: they are shuffled */
    const uint64_t seed = c->plan->seed + (uint64_t)c->task->replicate;
    course w = { .looks = 0 };
    TRY(reproduce_options(c, err));
    TRY(reproduce_hold_out(c, &seed, err));
    TRY(look_often(c->options, err));
    npmd_options_truth(c->options, c->truth);
    npmd_options_hold_out(c->options, c->held_out);
    c->profile = true;
    c->keep_row = keep_row;
    c->course = &w;
    TRY(reproduce_fit(c, err));
    c->result.figure[FIGURE_ISE_RELATIVE] = smoothed(&w);
    TRY(reproduce_compare(c, err));
done:
    return st;
}
