/* diagnose.c - was there something to find, and was it found? */
#include "training.h"

npmd_status linear_gain_compute(const encoding *enc, const npmd_points *pts, const npmd_options *opt, linear_gain *out,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t K = (size_t)enc->features, most = 20000; /* points: the noise is known, so some are enough */
    const size_t n = pts->n < most ? pts->n : most;
    const rng_key key = rng_key_make(opt->seed, RNG_TUNE, 1);
    const double tau = opt->penalty == NPMD_PENALTY_LAPLACIAN ? opt->tau : 0.0;
    double *work = NULL, *eta = NULL, *mean = NULL, weight = 0.0, weight2 = 0.0;
    TRY(memory_new(&work, encoding_work(enc), err));
    TRY(memory_new(&eta, K, err));
    TRY(memory_new(&mean, K, err));
    for (size_t i = 0; i < n; i++) {
        const size_t row = (size_t)rng_permute(key, i, pts->n);
        const double w = pts->weight == NULL ? 1.0 : pts->weight[row];
        encoding_jet(enc, points_at(pts, row), 1, work, eta);
        weight += w;
        weight2 += w * w;
        for (size_t k = 0; k < K; k++)
            mean[k] += w * eta[k];
    }
    *out = (linear_gain){ 0 };
    for (size_t k = 0; k < K && weight > 0.0; k++) {
        if (enc->lambda[k] == 0.0)
            continue; /* the constant gains nothing */
        const double mean_square = enc->scale[k] * enc->scale[k] * (enc->separable ? 1.0 / enc->domain->volume : 0.5);
        const double shrink = 1.0 / (1.0 + 2.0 * tau * enc->lambda[k] * enc->lambda[k]), g = mean[k] / weight;
        out->gain += 0.5 * g * g / mean_square * shrink;
        out->noise += 0.5 * weight2 / (weight * weight) * shrink;
    }
done:
    memory_free(work);
    memory_free(eta);
    memory_free(mean);
    return st;
}

bool has_collapsed(linear_gain possible, double reached)
{
    return possible.gain > 3.0 * possible.noise && reached > 1.0 - 0.5 * possible.gain;
}
