/* stack_weights.c - how several densities are mixed, by what held-out points say of them.
 *
 * Three ways: the best density alone, all alike, and the weights that the criterion asks for. The points say which of
 * these is best for points that it has not seen: each is found on four fifths of them and judged on the fifth, in turn.
 * So a mixture never costs more than it gains, and a density that is surely best alone stands alone.
 *
 *     likelihood   mean of log sum_p w_p f_p(x_i)                      mixture_weights.c
 *     ise          sum_pq w_p w_q (f_p, f_q) - 2 mean of sum_p w_p f_p(x_i)    a quadratic form on the simplex */
#include "stack_weights.h"

#define TURNS 5
#define ROUNDS 4000

enum { WAY_ALONE, WAY_ALIKE, WAY_MIXED, WAYS };

/* The criterion of one mix over points of this weight; smaller is better. */
static double criterion_of(const stack_judged *j, const double *weight, const double *mix)
{
    double sum = 0.0, total = 0.0, square = 0.0;
    for (size_t i = 0; i < j->n; i++) {
        double top = -INFINITY, density = 0.0;
        if (weight[i] == 0.0)
            continue;
        for (int p = 0; p < j->parts; p++)
            top = mix[p] > 0.0 ? fmax(top, j->logs[(size_t)p * j->n + i]) : top;
        for (int p = 0; p < j->parts; p++)
            density += mix[p] > 0.0 ? mix[p] * exp(j->logs[(size_t)p * j->n + i] - top) : 0.0;
        sum += weight[i] * (j->by == CRITERION_LIKELIHOOD ? -(top + log(density)) : -2.0 * exp(top) * density);
        total += weight[i];
    }
    for (int p = 0; j->by == CRITERION_ISE && p < j->parts; p++)
        for (int q = 0; q < j->parts; q++)
            square += mix[p] * mix[q] * j->gram[p * j->parts + q];
    return square + sum / total;
}

/* Exponentiated gradients on w'Gw - 2 w'm, which stay on the simplex. */
static void least_square(const stack_judged *j, const double *weight, double *mix)
{
    const int parts = j->parts;
    double mean[STACK_MOST_PARTS] = { 0 }, total = 0.0, most = 0.0;
    for (size_t i = 0; i < j->n; i++) {
        total += weight[i];
        for (int p = 0; p < parts; p++)
            mean[p] += weight[i] * exp(j->logs[(size_t)p * j->n + i]);
    }
    for (int p = 0; p < parts; p++) {
        mean[p] /= total;
        mix[p] = 1.0 / parts;
        most = fmax(most, fmax(mean[p], j->gram[p * parts + p]));
    }
    for (int round = 0; round < ROUNDS; round++) {
        double next[STACK_MOST_PARTS], sum = 0.0;
        for (int p = 0; p < parts; p++) {
            double slope = -2.0 * mean[p];
            for (int q = 0; q < parts; q++)
                slope += 2.0 * j->gram[p * parts + q] * mix[q];
            sum += next[p] = mix[p] * exp(-slope / (4.0 * most));
        }
        for (int p = 0; p < parts; p++)
            mix[p] = next[p] / sum;
    }
}

static npmd_status best_mix(const stack_judged *j, const double *weight, double *mix, npmd_error *err)
{
    double *density = NULL;
    if (j->by == CRITERION_ISE) {
        least_square(j, weight, mix);
        return NPMD_OK;
    }
    const npmd_status st = memory_new(&density, (size_t)j->parts * j->n, err);
    if (st != NPMD_OK)
        return st;
    memcpy(density, j->logs, (size_t)j->parts * j->n * sizeof *density);
    (void)mixture_densities(density, weight, j->parts, j->n);
    (void)mixture_weights(density, weight, 0.0, j->parts, j->n, mix);
    memory_free(density);
    return NPMD_OK;
}

static int best_alone(const stack_judged *j, const double *weight)
{
    double least = INFINITY;
    int best = 0;
    for (int p = 0; p < j->parts; p++) {
        double alone[STACK_MOST_PARTS] = { 0 };
        alone[p] = 1.0;
        const double value = criterion_of(j, weight, alone);
        if (value < least) {
            least = value;
            best = p;
        }
    }
    return best;
}

static npmd_status way_mix(const stack_judged *j, int way, const double *weight, double *mix, npmd_error *err)
{
    for (int p = 0; p < j->parts; p++)
        mix[p] = way == WAY_ALIKE ? 1.0 / j->parts : 0.0;
    if (way == WAY_ALONE)
        mix[best_alone(j, weight)] = 1.0;
    return way == WAY_MIXED ? best_mix(j, weight, mix, err) : NPMD_OK;
}

npmd_status stack_weights(const stack_judged *j, double *mix, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *some = NULL, value[WAYS] = { 0 }, total = 0.0;
    int best = WAY_ALONE;
    assert(j->parts <= STACK_MOST_PARTS);
    for (size_t i = 0; i < j->n; i++)
        total += j->weight[i];
    if (!(total > 0.0)) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "the points held out for a stack's weights all have weight 0");
        goto done;
    }
    TRY(memory_new(&some, 2 * j->n, err));
    for (size_t turn = 0; turn < TURNS && j->n >= 2 * TURNS; turn++) {
        double *others = some + j->n, share = 0.0;
        for (size_t i = 0; i < j->n; i++) {
            some[i] = i % TURNS == turn ? j->weight[i] : 0.0;
            others[i] = j->weight[i] - some[i];
            share += some[i];
        }
        for (int way = 0; share > 0.0 && share < total && way < WAYS; way++) {
            TRY(way_mix(j, way, others, mix, err));
            value[way] += share / total * criterion_of(j, some, mix);
        }
    }
    for (int way = 0; way < WAYS; way++)
        best = value[way] < value[best] ? way : best;
    TRY(way_mix(j, best, j->weight, mix, err));
done:
    memory_free(some);
    return st;
}
