/* mixture_weights.c - the mixture weights of given densities that maximise the likelihood, by EM: a concave problem
 * with one optimum.
 *
 *     share of part p in point i = w_p f_p(x_i) / sum_q w_q f_q(x_i),   w_p <- mean over points of its share */
#include "choose.h"

#define MOST_ROUNDS 2000
#define TOLERANCE 1e-7 /* nats per point */

double mixture_densities(double *logs, const double *weight, int parts, size_t n)
{
    double tops = 0.0;
    for (size_t i = 0; i < n; i++) {
        double top = -INFINITY;
        for (int p = 0; p < parts; p++)
            top = fmax(top, logs[(size_t)p * n + i]);
        for (int p = 0; p < parts; p++)
            logs[(size_t)p * n + i] = exp(logs[(size_t)p * n + i] - top);
        tops += weight[i] * top;
    }
    return tops;
}

double mixture_weights(const double *density, const double *weight, double tops, int parts, size_t n, double *mix)
{
    double value = -INFINITY, total = 0.0, next[MIXTURE_MOST_PARTS], share[MIXTURE_MOST_PARTS];
    assert(parts <= MIXTURE_MOST_PARTS);
    for (size_t i = 0; i < n; i++)
        total += weight[i];
    for (int p = 0; p < parts; p++)
        mix[p] = total > 0.0 ? 1.0 / parts : NAN;
    for (int round = 0; total > 0.0 && round < MOST_ROUNDS; round++) {
        double sum = tops;
        memset(next, 0, sizeof next);
        for (size_t i = 0; i < n; i++) {
            double mixed = 0.0;
            if (weight[i] == 0.0)
                continue;
            for (int p = 0; p < parts; p++)
                mixed += share[p] = mix[p] * density[(size_t)p * n + i];
            for (int p = 0; p < parts; p++)
                next[p] += weight[i] * share[p] / mixed;
            sum += weight[i] * log(mixed);
        }
        for (int p = 0; p < parts; p++)
            mix[p] = next[p] / total;
        const double gain = sum / total - value;
        value = sum / total;
        if (gain < TOLERANCE)
            break;
    }
    return value;
}
