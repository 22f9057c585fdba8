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
#include <stdlib.h>

enum { LOOK_EVERY = 100, WINDOW = 50 };

/* A stream of 64-bit words: splitmix64. */
static uint64_t next_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The files of the authors hold their points component by component: they are shuffled first. */
static npmd_status hold_out(reproduce_child *c, npmd_points **held_out, npmd_points **rest, npmd_error *err)
{
    const npmd_domain *domain = npmd_truth_domain(c->truth);
    const size_t n = npmd_points_count(c->points), columns = (size_t)npmd_domain_columns(domain), out = n / 10;
    uint64_t state = c->plan->seed + (uint64_t)c->task->replicate;
    size_t *row = malloc(n * sizeof *row);
    double *x = malloc(n * columns * sizeof *x);
    npmd_status st = row && x ? NPMD_OK : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    for (size_t i = 0; st == NPMD_OK && i < n; i++)
        row[i] = i;
    for (size_t i = n; st == NPMD_OK && i > 1; i--) {
        const size_t j = (size_t)(next_word(&state) % i), swap = row[j];
        row[j] = row[i - 1];
        row[i - 1] = swap;
    }
    for (size_t i = 0; st == NPMD_OK && i < n; i++)
        npmd_points_row(c->points, row[i], x + i * columns);
    if (st == NPMD_OK)
        st = reproduce_points(x, out, domain, held_out, err);
    if (st == NPMD_OK)
        st = reproduce_points(x + out * columns, n - out, domain, rest, err);
    free(row);
    free(x);
    return st;
}

typedef struct course { /* of one fit */
    reproduce_child *child;
    double ise[WINDOW]; /* the last looks, in turn */
    int looks, attempt;
} course;

static double smoothed(const course *w)
{
    const int count = w->looks < WINDOW ? w->looks : WINDOW;
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += w->ise[i];
    return count > 0 ? sum / count : NAN;
}

static int watch(const npmd_report *now, void *user)
{
    course *w = user;
    reproduce_child *c = w->child;
    reproduce_child_tell(c, now);
    if (now->attempt != w->attempt) { /* begun again */
        w->looks = 0;
        c->rows[0].length = 0;
    }
    w->attempt = now->attempt;
    if (!now->logged || !isfinite(now->ise))
        return 0;
    w->ise[w->looks++ % WINDOW] = now->ise;
    reproduce_text_row(
        &c->rows[0],
        (const double[]){ (double)now->step, now->epoch, now->ise, now->ise_se, smoothed(w), now->nise, now->ae }, 7);
    c->result.figure[FIGURE_ISE_SE] = now->ise_se;
    return 0;
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
    npmd_options *options = NULL;
    npmd_points *held_out = NULL, *rest = NULL;
    npmd_model *model = NULL;
    course w = { .child = c };
    npmd_status st = reproduce_options(c, &options, err);
    if (st == NPMD_OK)
        st = hold_out(c, &held_out, &rest, err);
    if (st == NPMD_OK)
        st = look_often(options, err);
    const double started = cli_clock();
    if (st == NPMD_OK) {
        npmd_options_watch(options, watch, &w);
        npmd_options_truth(options, c->truth);
        npmd_options_hold_out(options, held_out);
        st = npmd_fit(npmd_truth_domain(c->truth), rest, options, &model, err);
    }
    if (st == NPMD_OK) {
        npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
        npmd_model_facts(model, &facts, NULL);
        c->result.figure[FIGURE_SECONDS] = cli_clock() - started;
        c->result.figure[FIGURE_TAU] = facts.tau;
        c->result.figure[FIGURE_ISE_RELATIVE] = smoothed(&w);
        st = reproduce_compare(c, model, err);
    }
    npmd_model_free(model);
    npmd_points_free(held_out);
    npmd_points_free(rest);
    npmd_options_free(options);
    return st;
}
