/* power_law.c - draws from a product with probability proportional to (b + lambda)^-s, where lambda = sum_d lambda_d.
 * That does not factorise, but
 *
 *     (b + lambda)^-s = 1/Gamma(s) integral over t > 0 of t^(s-1) e^(-t b) prod_d e^(-t lambda_d) dt
 *
 * is a mixture over t of laws that do: draw t, then every factor independently. The integral is a trapezoid sum in log
 * t, whose integrand is smooth and decays at both ends: for s > 1/2 the error of the sum is far below what draws could
 * show. The constant is excluded by conditioning, since in many dimensions nearly every draw would give it. */
#include "spectrum.h"

/* The law of one node: its totals, and the log of its mass. */
static double power_law_node(const spectrum *s, power_law *mix, int j)
{
    double log_total = 0.0, log_left = 0.0;
    for (int d = 0; d < s->factors; d++) {
        double tail = 0.0; /* by itself: beside the first, large t would round it away */
        for (int i = 1; i < s->choices[d]; i++)
            tail += exp(-mix->t[j] * s->lambda[d][i]);
        mix->tail[j][d] = tail;
        mix->total[j][d] = exp(-mix->t[j] * s->lambda[d][0]) + tail;
        log_total += s->lambda[d][0] == 0.0 ? log1p(tail) : log(mix->total[j][d]);
    }
    mix->some_left[j][s->factors] = 0.0;
    for (int d = s->factors - 1; mix->no_zero && d >= 0; d--) { /* number 0 has lambda 0, so probability 1 / total */
        log_left += log1p(mix->tail[j][d]);
        mix->some_left[j][d] = -expm1(-log_left);
    }
    return log_total + (mix->no_zero ? log(mix->some_left[j][0]) : 0.0);
}

/* Nodes are equidistant in log t, from 1e-9 to 300. */
static double node_log_t(int j)
{
    const double first = log(1e-9), step = (log(300.0) - first) / (POWER_LAW_NODES - 1);
    return first + step * j;
}

void power_law_open(const spectrum *s, bool power, power_law *mix)
{
    mix->nodes = power ? POWER_LAW_NODES : 1;
    mix->no_zero = s->waves ? s->signs : !s->constant;
    for (int j = 0; j < mix->nodes; j++) {
        mix->t[j] = power ? exp(node_log_t(j)) : 0.0;
        mix->log_total[j] = power_law_node(s, mix, j);
    }
}

double power_law_aim(power_law *mix, double decay, double shift)
{
    double log_mass[POWER_LAW_NODES], top = -INFINITY, sum = 0.0;
    int sign;
    for (int j = 0; j < mix->nodes; j++) { /* dt = t d(log t) */
        log_mass[j] = mix->log_total[j];
        log_mass[j] += mix->nodes > 1 ? decay * node_log_t(j) - mix->t[j] * shift : 0.0;
        top = fmax(top, log_mass[j]);
    }
    for (int j = 0; j < mix->nodes; j++)
        mix->cumulative[j] = sum += exp(log_mass[j] - top);
    for (int j = 0; j < mix->nodes; j++)
        mix->cumulative[j] /= sum;
    return top + log(sum) + (mix->nodes > 1 ? log(node_log_t(1) - node_log_t(0)) - lgamma_r(decay, &sign) : 0.0);
}

/* The choice on factor d behind u, from number first (0 or 1) on, in proportion to e^(-t lambda). */
static int power_law_choice(const power_law *mix, const spectrum *s, int node, int d, int first, double u)
{
    double rest = u * (first == 0 ? mix->total[node][d] : mix->tail[node][d]);
    int i = first;
    for (; i < s->choices[d] - 1; i++) {
        rest -= exp(-mix->t[node] * s->lambda[d][i]);
        if (rest <= 0.0)
            break;
    }
    return i;
}

double power_law_draw(const power_law *mix, const spectrum *s, rng_key key, uint64_t attempt, int *function)
{
    const double u = rng_uniform(key, attempt, 0);
    double lambda = 0.0;
    int low = 0, high = mix->nodes - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (mix->cumulative[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    bool all_zero = mix->no_zero; /* so far, and it must not stay so */
    for (int d = 0; d < s->factors; d++) {
        const double w = rng_uniform(key, attempt, (uint32_t)(1 + d));
        int i = 0;
        if (all_zero) {
            const double zero = mix->some_left[low][d + 1] / mix->total[low][d] / mix->some_left[low][d];
            if (w >= zero) {
                i = power_law_choice(mix, s, low, d, 1, (w - zero) / (1.0 - zero));
                all_zero = false;
            }
        } else {
            i = power_law_choice(mix, s, low, d, 0, w);
        }
        function[d] = s->number[d][i];
        lambda += s->lambda[d][i];
    }
    return lambda;
}
