/* schedule.c - the course of the learning rate. */
#include "training.h"

/* The cyclic rates of Smith (2017) as PyTorch runs them: a cycle is 2 x half steps, and Adam's beta1 moves
 * against the rate between 0.9 and 0.8. triangular2 halves the amplitude with every cycle. */
static schedule_point triangular(const npmd_options *opt, int64_t step, bool halving)
{
    const int64_t cycle = step / (2 * opt->cycle), within = step % (2 * opt->cycle);
    const double height = 1.0 - fabs((double)within / (double)opt->cycle - 1.0);
    const double amplitude = height * (halving ? exp2(-(double)cycle) : 1.0);
    return (schedule_point){ opt->rate_min + (opt->rate - opt->rate_min) * amplitude, 0.9 - 0.1 * amplitude };
}

schedule_point schedule_at(const npmd_options *opt, int64_t step)
{
    schedule_point at = { opt->rate, 0.9 };
    switch (opt->schedule) {
    case NPMD_SCHEDULE_COSINE: {
        const double course = (double)(step + 1) / (double)opt->steps;
        at.rate = opt->rate_min
                  + 0.5 * (opt->rate - opt->rate_min) * (1.0 + cos(NPMD_PI * fmin(1.0, course)));
        break;
    }
    case NPMD_SCHEDULE_TRIANGULAR:
        at = triangular(opt, step, false);
        break;
    case NPMD_SCHEDULE_TRIANGULAR2:
        at = triangular(opt, step, true);
        break;
    default:
        break;
    }
    if (step < opt->warmup)
        at.rate *= (double)(step + 1) / (double)opt->warmup;
    return at;
}
