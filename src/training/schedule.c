/* schedule.c - the schedule of the learning rate, and the guard on the gradient's length. */
#include "training.h"

#define RUNNING 0.98 /* memory of the running gradient length: about 50 steps; cuda_terms.cuh has it, too */
#define SETTLE 20    /* steps before the guard acts */

/* The cyclic rates of Smith (2017) as PyTorch runs them: a cycle is 2 x half steps, and Adam's beta1 moves
 * against the rate between 0.9 and 0.8. triangular2 halves the amplitude with every cycle. */
static schedule_point triangular(const settings *opt, int64_t step, bool halving)
{
    const int64_t cycle = step / (2 * opt->descent.cycle), within = step % (2 * opt->descent.cycle);
    const double height = 1.0 - fabs((double)within / (double)opt->descent.cycle - 1.0);
    const double amplitude = height * (halving ? exp2(-(double)cycle) : 1.0);
    return (schedule_point){ opt->descent.rate_min + (opt->descent.rate - opt->descent.rate_min) * amplitude,
                             0.9 - 0.1 * amplitude };
}

schedule_point schedule_at(const settings *opt, int64_t step)
{
    schedule_point at = { opt->descent.rate, 0.9 };
    switch (opt->descent.schedule) {
    case SCHEDULE_COSINE: {
        const double course = (double)(step + 1) / (double)opt->descent.steps;
        at.rate = opt->descent.rate_min
                  + 0.5 * (opt->descent.rate - opt->descent.rate_min) * (1.0 + cos(NPMD_PI * fmin(1.0, course)));
        break;
    }
    case SCHEDULE_TRIANGULAR:
        at = triangular(opt, step, false);
        break;
    case SCHEDULE_TRIANGULAR2:
        at = triangular(opt, step, true);
        break;
    default:
        break;
    }
    if (step < opt->descent.warmup)
        at.rate *= (double)(step + 1) / (double)opt->descent.warmup;
    return at;
}

optimiser_step schedule_step(const settings *opt, const rate_share *shares, int64_t step, double *beta1_product,
                             double *beta2_product)
{
    const schedule_point now = schedule_at(opt, step);
    *beta1_product *= now.beta1;
    *beta2_product *= 0.999;
    return (optimiser_step){ .kind = (optimiser_kind)opt->descent.optimiser,
                             .rate = now.rate,
                             .beta1 = now.beta1,
                             .beta2 = 0.999,
                             .epsilon = 1e-8,
                             .correction1 = 1.0 - *beta1_product,
                             .correction2 = 1.0 - *beta2_product,
                             .max_norm = opt->descent.clip > 0.0 && step >= SETTLE ? -1.0 : INFINITY,
                             .shares = shares };
}

double schedule_guard(double clip, const optimiser_step *step, double running_log_norm)
{
    return step->max_norm < 0.0 ? clip * exp(running_log_norm) : step->max_norm;
}

double schedule_running(int64_t step, double running_log_norm, double norm, double max_norm)
{
    const double taken = log(fmax(fmin(norm, max_norm), 1e-300));
    return step == 0 ? taken : RUNNING * running_log_norm + (1.0 - RUNNING) * taken;
}
