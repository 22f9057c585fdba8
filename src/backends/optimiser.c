/* optimiser.c - one step of Adam (Kingma and Ba 2015) or of plain gradient descent, in double precision. */
#include "backend.h"

double optimiser_apply(const optimiser_step *step, size_t n, double *theta, double *gradient, double *moment1,
                       double *moment2)
{
    double norm2 = 0.0;
    for (size_t i = 0; i < n; i++)
        norm2 += gradient[i] * gradient[i];
    const double norm = sqrt(norm2), shorten = norm > step->max_norm ? step->max_norm / norm : 1.0;
    const rate_share *part = step->shares;
    for (size_t i = 0; i < n; i++) {
        while (part != NULL && i >= part->end)
            part++;
        const double rate = part == NULL ? step->rate : part->share * step->rate;
        const double g = shorten * gradient[i];
        gradient[i] = 0.0;
        if (step->kind == OPTIMISER_SGD) {
            theta[i] -= rate * g;
            continue;
        }
        moment1[i] = step->beta1 * moment1[i] + (1.0 - step->beta1) * g;
        moment2[i] = step->beta2 * moment2[i] + (1.0 - step->beta2) * g * g;
        theta[i] -= rate * (moment1[i] / step->correction1) / (sqrt(moment2[i] / step->correction2) + step->epsilon);
    }
    return norm;
}
