/* reproduce_diagnostics.c - convergence while a field is fitted (the paper's Figure S7): its distance from the truth,
 * the ISE criterion on held-out points, the signal-to-noise ratios of the gradients, and the running minima of each,
 * which an early stopping rule looks for.
 *
 * Every tenth point is held out. */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>

enum { HELD_OUT = 10 };

static const reproduce_figure LAST_MINIMUM[REPRODUCE_CRITERIA] = { FIGURE_MINIMUM_ISE, FIGURE_MINIMUM_A,
                                                                   FIGURE_MINIMUM_B, FIGURE_MINIMUM_C };

/* A line of the log becomes a row; a criterion below all before it is marked by 1. */
static void keep_row(reproduce_child *c, const npmd_report *now)
{
    const double criterion[REPRODUCE_CRITERIA] = { now->ise, now->snr_a, now->snr_b, now->snr_c };
    double *figure = c->result.figure, minimum[REPRODUCE_CRITERIA];
    if (c->rows[0].length == 0)
        for (int i = 0; i < REPRODUCE_CRITERIA; i++)
            c->least[i] = INFINITY;
    for (int i = 0; i < REPRODUCE_CRITERIA; i++) {
        minimum[i] = criterion[i] < c->least[i];
        if (minimum[i] > 0.0) {
            c->least[i] = criterion[i];
            figure[LAST_MINIMUM[i]] = now->epoch;
        }
    }
    figure[FIGURE_ISE_RELATIVE] = now->ise;
    figure[FIGURE_ISE_SE] = now->ise_se;
    figure[FIGURE_SNR_A] = now->snr_a;
    figure[FIGURE_SNR_B] = now->snr_b;
    figure[FIGURE_SNR_C] = now->snr_c;
    reproduce_text_row(&c->rows[0],
                       (const double[]){ (double)now->step, now->epoch, now->seconds, now->objective, now->nise,
                                         now->ae, now->ise, now->ise_se, now->snr_a, now->snr_b, now->snr_c, minimum[0],
                                         minimum[1], minimum[2], minimum[3] },
                       15);
}

/* The points whose number is, or is not, a multiple of HELD_OUT. */
static npmd_status take_points(const npmd_points *from, const npmd_domain *domain, bool multiples, npmd_points **out,
                               npmd_error *err)
{
    const size_t n = npmd_points_count(from), columns = (size_t)npmd_domain_columns(domain);
    double *x = malloc(n * columns * sizeof *x);
    size_t have = 0;
    if (!x)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    for (size_t i = 0; i < n; i++)
        if (((i + 1) % HELD_OUT == 0) == multiples)
            npmd_points_row(from, i, x + columns * have++);
    const npmd_status st = reproduce_points(x, have, domain, out, err);
    free(x);
    return st;
}

npmd_status measure_diagnostics(reproduce_child *c, npmd_error *err)
{
    const npmd_domain *domain = npmd_truth_domain(c->truth);
    const npmd_points *all = c->points;
    npmd_points *training = NULL, *held_out = NULL;
    npmd_model *model = NULL;
    npmd_options *options = NULL;
    npmd_status st = reproduce_options(c, &options, err);
    if (st == NPMD_OK)
        st = take_points(all, domain, false, &training, err);
    if (st == NPMD_OK)
        st = take_points(all, domain, true, &held_out, err);
    if (st == NPMD_OK) {
        npmd_options_truth(options, c->truth);
        npmd_options_hold_out(options, held_out);
        c->points = training;
        c->profile = true;
        c->keep_row = keep_row;
        st = reproduce_fit(c, options, &model, err);
        c->points = all;
    }
    if (st == NPMD_OK)
        st = reproduce_compare(c, model, err);
    npmd_model_free(model);
    npmd_points_free(training);
    npmd_points_free(held_out);
    npmd_options_free(options);
    return st;
}
