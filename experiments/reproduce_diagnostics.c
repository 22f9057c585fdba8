/* reproduce_diagnostics.c - convergence while a field is fitted (the paper's Figure S7): its distance from the truth,
 * the ISE criterion on held-out points, the signal-to-noise ratios of the gradients, and the running minima of each,
 * which an early stopping rule looks for.
 *
 * Every tenth point is held out. */
#include "reproduce.h"

#include <math.h>

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

npmd_status measure_diagnostics(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(reproduce_options(c, err));
    TRY(reproduce_hold_out(c, NULL, err));
    npmd_options_truth(c->options, c->truth);
    npmd_options_hold_out(c->options, c->held_out);
    c->profile = true;
    c->keep_row = keep_row;
    TRY(reproduce_fit(c, err));
    TRY(reproduce_compare(c, err));
done:
    return st;
}
