/* tail.c - the largest weights of a sum, and what they say of its error.
 *
 * The standard error of a mean is estimated from the terms that were met. Where the largest of them follow a Pareto law
 * of index k, terms have a variance only for k < 1/2, and from k = 0.7 on the estimate cannot be trusted at any number
 * of points that is in reach (Vehtari, Simpson, Gelman, Yao, Gabry: Pareto smoothed importance sampling). The law is
 * fitted as in Zhang and Stephens (2009), and gives what the mean would have from terms that are yet to be met. */
#include "sampling.h"

#define HEAVY 0.7
#define FURTHER 100.0 /* times as many points: how far the law is believed */

void tail_add(tail *t, double log_weight)
{
    size_t at = 0;
    if (t->kept == TAIL_MOST && !(log_weight > t->log_weight[0]))
        return;
    if (t->kept < TAIL_MOST) { /* a heap, its least on top: rises from the end, */
        at = t->kept++;
        for (; at > 0 && t->log_weight[(at - 1) / 2] > log_weight; at = (at - 1) / 2)
            t->log_weight[at] = t->log_weight[(at - 1) / 2];
    } else { /* or sinks in place of the least */
        for (size_t child; (child = 2 * at + 1) < t->kept; at = child) {
            if (child + 1 < t->kept && t->log_weight[child + 1] < t->log_weight[child])
                child++;
            if (t->log_weight[child] >= log_weight)
                break;
            t->log_weight[at] = t->log_weight[child];
        }
    }
    t->log_weight[at] = log_weight;
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The generalised Pareto law of excesses x (n), falling: its index k and scale sigma. */
static double pareto_fit(const double *x, size_t n, double *sigma)
{
    double b = 0.0, k = 0.0, theta[128], log_likelihood[128], sum = 0.0;
    const double quarter = x[n - 1 - n / 4];
    const int m = 30 + (int)sqrt((double)n) < 128 ? 30 + (int)sqrt((double)n) : 128;
    for (int j = 0; j < m; j++) {
        theta[j] = 1.0 / x[0] + (1.0 - sqrt(m / (j + 0.5))) / (3.0 * quarter);
        k = 0.0;
        for (size_t i = 0; i < n; i++)
            k += log1p(-theta[j] * x[i]) / (double)n;
        log_likelihood[j] = (double)n * (log(-theta[j] / k) - k - 1.0);
    }
    for (int j = 0; j < m; j++) {
        sum = 0.0;
        for (int i = 0; i < m; i++)
            sum += exp(log_likelihood[i] - log_likelihood[j]);
        b += theta[j] / sum;
    }
    k = 0.0;
    for (size_t i = 0; i < n; i++)
        k += log1p(-b * x[i]) / (double)n;
    *sigma = -k / b;
    return ((double)n * k + 5.0) / ((double)n + 10.0); /* a weak prior at 1/2, as in that paper */
}

double tail_missing(tail *t, size_t terms, double log_sum, double *index)
{
    double excess[TAIL_MOST], sigma = 0.0, mean = 0.0;
    const double root = 3.0 * sqrt((double)terms), fifth = 0.2 * (double)terms;
    const size_t wanted = (size_t)fmin(root, fifth), n = wanted < t->kept ? wanted : t->kept - 1;
    *index = -INFINITY;
    if (t->kept < 26)
        return 0.0;
    /* falling for now; rising again below, which is a heap, too */
    qsort(t->log_weight, t->kept, sizeof *t->log_weight, falling);
    const double top = t->log_weight[0], threshold = exp(t->log_weight[n] - top);
    for (size_t i = 0; i < n; i++) {
        excess[i] = exp(t->log_weight[i] - top) - threshold;
        mean += excess[i] / (double)n;
    }
    for (size_t i = 0; i < t->kept / 2; i++) {
        const double swap = t->log_weight[i];
        t->log_weight[i] = t->log_weight[t->kept - 1 - i];
        t->log_weight[t->kept - 1 - i] = swap;
    }
    if (!(excess[n - 1 - n / 4] > 0.0))
        return 0.0;
    const double k = *index = pareto_fit(excess, n, &sigma), rest = 1.0 / (FURTHER * (double)n);
    if (!(k > HEAVY))
        return 0.0;
    /* the mean of the law up to its quantile 1 - rest */
    const double power = fabs(1.0 - k) < 1e-6 ? -log(rest) : (1.0 - pow(rest, 1.0 - k)) / (1.0 - k);
    const double further = sigma / k * (power - (1.0 - rest));
    return log1p(fmax(0.0, further - mean) * (double)n * exp(top - log_sum));
}
