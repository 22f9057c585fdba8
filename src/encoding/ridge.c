/* ridge.c - the law of the shallow-network theorem: independent draws with probability q = w / r_max,
 *
 *     w = S / (S + eps) = 1 / (1 + u^s),    S = (1 + lambda)^-s,    u = eps^(1/s) (1 + lambda),
 *
 * nearly flat while S > eps, then decaying like S. r_max is the sum of w over all members; a cosine and a sine count as
 * two. A feature is then multiplied by sqrt(S / q) = sqrt((S + eps) r_max).
 *
 * A listed product is summed. Any other is drawn by rejection from a shifted power law: by Hoelder's inequality, for s
 * > 1, s' = s / (s - 1) and every b >= 1, with beta = (b - 1) eps^(1/s),
 *
 *     (beta + u)^s <= (beta^s' + 1)^(s-1) (1 + u^s),    so    w <= (1 + beta^s')^(s-1) / eps (b + lambda)^-s,
 *
 * and for s <= 1, where x^s is subadditive, the same with the limit max(1, beta^s) in place of the power. b = 1 is the
 * power law itself (w <= S / eps); beta = 1 gives 2^(s-1) (1 + u)^-s. We take the b whose envelope has the least sum,
 * which power_law.c knows in closed form: with beta = 1 alone the acceptance falls like 2^-s in many dimensions. r_max
 * is that sum times the mean acceptance. */
#include "spectrum.h"

#define RIDGE_DRAWS 65536 /* of the estimate: its relative error is about 0.003 */
#define RIDGE_ROUNDS 8
#define SHIFTS 40

static double softplus(double z) /* log(1 + e^z) */
{
    return fmax(z, 0.0) + log1p(exp(-fabs(z)));
}

static double log_weight(double lambda, double decay, double log_eps) /* log w */
{
    return -softplus(log_eps + decay * log1p(lambda));
}

/* A vector of plane waves is a cosine and a sine; with signs, the raw members hold it and its negative. */
static double features_a_raw_member(const spectrum *s, bool listed)
{
    return s->waves && (listed || !s->signs) ? 2.0 : 1.0;
}

/* ---- a listed product -------------------------------------------------------------------------------------------- */

static npmd_status ridge_list(ridge_law *law, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const spectrum *s = law->spectrum;
    const size_t raw = (size_t)spectrum_raw(s);
    int function[NPMD_MAX_FACTORS];
    double lambda = 0.0, sum = 0.0;
    TRY(memory_new(&law->member, raw, err));
    TRY(memory_new(&law->cumulative, raw, err));
    for (size_t i = 0; i < raw; i++)
        if (spectrum_member(s, i, function, &lambda)) {
            sum += exp(log_weight(lambda, law->decay, law->log_eps));
            law->member[law->members] = i;
            law->cumulative[law->members++] = sum;
        }
    law->r_max = features_a_raw_member(s, true) * sum;
done:
    return st;
}

static void list_draw(const ridge_law *law, double u, int *function)
{
    const double wanted = u * law->cumulative[law->members - 1];
    size_t low = 0, high = law->members - 1;
    double lambda;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (law->cumulative[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    spectrum_member(law->spectrum, law->member[low], function, &lambda);
}

/* ---- any other --------------------------------------------------------------------------------------------------- */

/* Aims at this shift; returns the log of the envelope's sum, and in *log_height the log of its height. */
static double envelope_aim(power_law *envelope, double decay, double log_eps, double shift, double *log_height)
{
    const double log_beta = log(shift - 1.0) + log_eps / decay; /* -infinity at shift 1 */
    const double power = decay > 1.0 ? (decay - 1.0) * softplus(decay / (decay - 1.0) * log_beta)
                                     : fmax(0.0, decay * log_beta);
    *log_height = power - log_eps;
    return *log_height + power_law_aim(envelope, decay, shift);
}

/* The shift with the least sum, among 1 and some that grow to ten times the highest eigenvalue; the log of
 * that sum. */
static double envelope_best(power_law *envelope, const spectrum *s, double decay, double log_eps, double *shift,
                            double *log_height)
{
    double highest = 1.0, least = INFINITY;
    for (int d = 0; d < s->factors; d++)
        highest += s->lambda[d][s->choices[d] - 1];
    for (int i = 0; i < SHIFTS; i++) {
        const double tried = i == 0 ? 1.0 : 1.0 + 0.1 * pow(100.0 * highest, (i - 1.0) / (SHIFTS - 2.0));
        const double sum = envelope_aim(envelope, decay, log_eps, tried, log_height);
        if (sum < least) {
            least = sum;
            *shift = tried;
        }
    }
    return envelope_aim(envelope, decay, log_eps, *shift, log_height);
}

/* Log of the envelope at lambda. */
static double log_envelope(double lambda, double decay, double shift, double log_height)
{
    return log_height - decay * log(shift + lambda);
}

static npmd_status ridge_reject(ridge_law *law, rng_key key, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const spectrum *s = law->spectrum;
    int function[NPMD_MAX_FACTORS];
    double mean = 0.0, square = 0.0;
    TRY(memory_new(&law->envelope, 1, err));
    power_law_open(s, true, law->envelope);
    const double log_sum = envelope_best(law->envelope, s, law->decay, law->log_eps, &law->shift, &law->log_height);
    for (uint64_t i = 0; i < RIDGE_DRAWS; i++) {
        const double lambda = power_law_draw(law->envelope, s, key, i, function);
        const double accepted = exp(log_weight(lambda, law->decay, law->log_eps)
                                    - log_envelope(lambda, law->decay, law->shift, law->log_height));
        mean += accepted / RIDGE_DRAWS;
        square += accepted * accepted / RIDGE_DRAWS;
    }
    const double total = features_a_raw_member(s, false) * exp(log_sum);
    law->r_max = total * mean;
    law->r_max_se = total * sqrt(fmax(0.0, square - mean * mean) / RIDGE_DRAWS);
done:
    return st;
}

static bool reject_draw(const ridge_law *law, rng_key key, uint64_t *attempt, int *function)
{
    while (*attempt < MOST_ATTEMPTS) {
        const uint64_t now = (*attempt)++;
        const double lambda = power_law_draw(law->envelope, law->spectrum, key, now, function);
        const double log_accepted = log_weight(lambda, law->decay, law->log_eps)
                                    - log_envelope(lambda, law->decay, law->shift, law->log_height);
        if (log(rng_uniform(key, now, (uint32_t)(1 + law->spectrum->factors))) < log_accepted
            && spectrum_accept(law->spectrum, function))
            return true;
    }
    return false;
}

/* ---- the law ----------------------------------------------------------------------------------------------------- */

npmd_status ridge_open(const spectrum *s, bool listed, double decay, double eps, rng_key key, ridge_law *out,
                       npmd_error *err)
{
    npmd_status st = NPMD_OK;
    ridge_law law = { .spectrum = s, .decay = decay, .log_eps = log(eps) };
    assert(decay > 0.0 && eps > 0.0);
    if (listed)
        TRY(ridge_list(&law, err));
    else
        TRY(ridge_reject(&law, key, err));
    *out = law;
    law = (ridge_law){ 0 };
done:
    ridge_close(&law);
    return st;
}

void ridge_close(ridge_law *law)
{
    memory_free(law->member);
    memory_free(law->cumulative);
    memory_free(law->envelope);
    *law = (ridge_law){ 0 };
}

npmd_status ridge_draw(const ridge_law *law, rng_key key, int want, int *function, npmd_error *err)
{
    const size_t row = (size_t)law->spectrum->factors;
    uint64_t attempt = 0;
    for (int k = 0; k < want; k++)
        if (law->envelope == NULL)
            list_draw(law, rng_uniform(key, (uint64_t)k, 0), function + (size_t)k * row);
        else if (!reject_draw(law, key, &attempt, function + (size_t)k * row))
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "only %d of %d features could be drawn: lower `features` or `spectrum-decay`", k, want);
    return NPMD_OK;
}

/* ---- eps from r_max ---------------------------------------------------------------------------------------------- */

typedef struct weighed { /* r_max(eps) = sum_i weight_i w(lambda_i) */
    size_t count;
    double *lambda, *weight;
} weighed;

/* Falls as eps grows: bisection between low and high. */
static double weighed_solve(const weighed *sum, double decay, double target, double low, double high)
{
    for (int step = 0; step < 60 && high - low > 1e-12 * fmax(1.0, fabs(low)); step++) {
        const double middle = 0.5 * (low + high);
        double r_max = 0.0;
        for (size_t i = 0; i < sum->count; i++)
            r_max += sum->weight[i] * exp(log_weight(sum->lambda[i], decay, middle));
        if (r_max > target)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* sum->lambda (count) holds eigenvalues of weight one: equal ones are joined, times features_each. */
static void weighed_join(weighed *sum, double features_each)
{
    size_t distinct = 0;
    qsort(sum->lambda, sum->count, sizeof *sum->lambda, by_value);
    for (size_t i = 0; i < sum->count; i++) {
        if (distinct == 0 || sum->lambda[i] != sum->lambda[distinct - 1]) {
            sum->lambda[distinct] = sum->lambda[i];
            sum->weight[distinct++] = 0.0;
        }
        sum->weight[distinct - 1] += features_each;
    }
    sum->count = distinct;
}

/* A listed product: its distinct eigenvalues and how many features each has. At eps = the least S every w is
 * at least 1/2; and w <= S / eps. */
static npmd_status choose_listed(const spectrum *s, double decay, double target, double *log_eps, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t raw = (size_t)spectrum_raw(s);
    int function[NPMD_MAX_FACTORS];
    double total = 0.0;
    weighed sum = { 0 };
    TRY(memory_new(&sum.lambda, raw, err));
    TRY(memory_new(&sum.weight, raw, err));
    for (size_t i = 0; i < raw; i++)
        sum.count += spectrum_member(s, i, function, &sum.lambda[sum.count]);
    weighed_join(&sum, features_a_raw_member(s, true));
    for (size_t i = 0; i < sum.count; i++)
        total += sum.weight[i] * pow(1.0 + sum.lambda[i], -decay);
    const double least = -decay * log1p(sum.lambda[sum.count - 1]);
    *log_eps = weighed_solve(&sum, decay, target, least - 1.0, fmax(log(total / target), least) + 1.0);
done:
    memory_free(sum.lambda);
    memory_free(sum.weight);
    return st;
}

/* Any other: the sum of the best envelope is an upper bound, which gives a first eps above the one wanted;
 * draws from that envelope estimate r_max at smaller ones, and so on until eps stays where it is. */
static npmd_status choose_by_draws(const spectrum *s, double decay, double target, rng_key key, double *log_eps,
                                   npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double each = features_a_raw_member(s, false);
    int function[NPMD_MAX_FACTORS];
    double low = -700.0, high = 100.0, shift = 1.0, log_height = 0.0;
    power_law *envelope = NULL;
    weighed sum = { 0 };
    TRY(memory_new(&envelope, 1, err));
    TRY(memory_new(&sum.lambda, RIDGE_DRAWS, err));
    TRY(memory_new(&sum.weight, RIDGE_DRAWS, err));
    power_law_open(s, true, envelope);
    while (high - low > 0.1) {
        const double middle = 0.5 * (low + high);
        if (each * exp(envelope_best(envelope, s, decay, middle, &shift, &log_height)) > target)
            low = middle;
        else
            high = middle;
    }
    double now = high;
    for (int round = 0; round < RIDGE_ROUNDS; round++) {
        const double total = each * exp(envelope_best(envelope, s, decay, now, &shift, &log_height)), before = now;
        sum.count = RIDGE_DRAWS;
        for (size_t i = 0; i < RIDGE_DRAWS; i++)
            sum.lambda[i] = power_law_draw(envelope, s, key, i, function);
        weighed_join(&sum, total / RIDGE_DRAWS);
        for (size_t i = 0; i < sum.count; i++)
            sum.weight[i] /= exp(log_envelope(sum.lambda[i], decay, shift, log_height));
        now = weighed_solve(&sum, decay, target, before - decay, before + decay);
        if (fabs(now - before) < 0.02 * decay)
            break;
    }
    *log_eps = now;
done:
    memory_free(envelope);
    memory_free(sum.lambda);
    memory_free(sum.weight);
    return st;
}

npmd_status ridge_choose(const spectrum *s, bool listed, double decay, double target, rng_key key, double *eps,
                         npmd_error *err)
{
    double log_eps = 0.0;
    const npmd_status st = listed ? choose_listed(s, decay, target, &log_eps, err)
                                  : choose_by_draws(s, decay, target, key, &log_eps, err);
    if (st == NPMD_OK)
        *eps = exp(fmax(log_eps, -700.0)); /* a steep law that draws nearly all there is: no smaller number */
    return st;
}
