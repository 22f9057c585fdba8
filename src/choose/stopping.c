/* stopping.c - early stopping of a field's fit (the paper's supplement, "Convergence Diagnostics").
 *
 * A criterion is computed at looks, 200 in a fit of full length: for `ise` the ISE criterion on held-out points, for
 * `snr` the sum of the signal-to-noise ratios of the gradients of data and integral; both fall as long as there is
 * something to learn. Both are noisy, from points that are fresh at every look, so the running mean over about SMOOTH
 * looks is used: patience looks without a new minimum end the fit. With `ise` the best weights are kept; with `snr`,
 * which only says that the signal is used up, the last ones. */
#include "choose.h"

#define LOOKS 200
#define LOOKS_RELU 50 /* it learns in larger strides, and a look is as dear as many of its steps */
#define SMOOTH 5

size_t stopping_held_out(const settings *set, size_t n)
{
    return (size_t)(set->holdout * (double)n);
}

npmd_status stopping_hold_out(const settings *set, const npmd_points *pts, npmd_points **held_out,
                              npmd_points **training, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *out = NULL, *rest = NULL;
    TRY(points_hold_out(pts, rng_key_make(set->seed, RNG_TUNE, 3), 0, stopping_held_out(set, pts->n), set->ties,
                        SIZE_MAX, &out, &rest, err));
    TRY(points_check_distinct(rest, "what is left to fit to by `stop` ise", err));
    *held_out = out;
    *training = rest;
    out = rest = NULL;
done:
    points_free(out);
    points_free(rest);
    return st;
}

npmd_status stopping_open(stopping *s, const settings *opt, size_t parameters, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *s = (stopping){ .rule = opt->descent.stop, .patience = opt->descent.patience, .parameters = parameters };
    const int64_t looks = opt->estimator == FIT_RELU ? LOOKS_RELU : LOOKS;
    s->every = opt->descent.steps < looks ? 1 : opt->descent.steps / looks;
    stopping_again(s);
    if (s->rule == STOP_ISE)
        TRY(memory_new(&s->best, parameters, err));
done:
    return st;
}

void stopping_close(stopping *s)
{
    memory_free(s->best);
    *s = (stopping){ 0 };
}

void stopping_again(stopping *s)
{
    memset(s->number, 0, sizeof s->number);
    s->number[STOPPING_LEAST] = INFINITY;
}

bool stopping_sound(const double number[STOPPING_NUMBERS], int64_t step)
{
    const bool counts = number[STOPPING_LOOKS] >= 0.0 && number[STOPPING_SINCE] >= 0.0
                        && number[STOPPING_SINCE] <= number[STOPPING_LOOKS] && number[STOPPING_STEP] >= 0.0
                        && number[STOPPING_STEP] <= (double)step;
    return counts && isfinite(number[STOPPING_LOOKS]) && isfinite(number[STOPPING_OBJECTIVE])
           && !isnan(number[STOPPING_MEAN]) && !isnan(number[STOPPING_LEAST])
           && (number[STOPPING_ENOUGH] == 0.0 || number[STOPPING_ENOUGH] == 1.0);
}

npmd_status stopping_judge(stopping *s, backend *b, const npmd_report *now, double mean, bool *enough, npmd_error *err)
{
    double *number = s->number;
    const double found = s->rule == STOP_ISE ? now->ise : now->snr_a + now->snr_b;
    number[STOPPING_LOOKS] += 1.0;
    number[STOPPING_MEAN] += (found - number[STOPPING_MEAN]) / fmin(number[STOPPING_LOOKS], SMOOTH);
    if (!(number[STOPPING_MEAN] < number[STOPPING_LEAST])) {
        number[STOPPING_SINCE] += 1.0;
        *enough = number[STOPPING_SINCE] >= (double)s->patience;
        number[STOPPING_ENOUGH] = *enough;
        return NPMD_OK;
    }
    number[STOPPING_LEAST] = number[STOPPING_MEAN];
    number[STOPPING_SINCE] = 0.0;
    number[STOPPING_STEP] = (double)now->step;
    number[STOPPING_OBJECTIVE] = mean;
    return s->best == NULL ? NPMD_OK : b->ops->get(b->self, VECTOR_THETA, s->best, err);
}
