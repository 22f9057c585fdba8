/* diagnose.c - what a fit could gain, and whether it collapsed. */
#include "training.h"

#define GAIN_POINTS 20000 /* data points: the noise is known, so some are enough */
#define GAIN_NODES 8192   /* points of the integral */
#define GAIN_HALVINGS 8
#define LEAST_GAIN 0.01 /* nats: less cannot be told from the noise of the objective */

/* g (K): data means of the features at mean square 1; the effective number of points. */
static void feature_means(const encoding *enc, const npmd_points *pts, uint64_t seed, const double *unit, double *work,
                          double *eta, double *g, double *effective)
{
    const size_t K = (size_t)enc->features, n = pts->n < GAIN_POINTS ? pts->n : GAIN_POINTS;
    const rng_key key = rng_key_make(seed, RNG_TUNE, 1);
    double weight = 0.0, weight2 = 0.0, x[DOMAIN_MAX_COLUMNS];
    for (size_t i = 0; i < n; i++) {
        const size_t row = (size_t)rng_permute(key, i, pts->n);
        const double w = points_weight(pts, row);
        encoding_jet(enc, points_rows(pts, row, 1, x), 1, work, eta);
        weight += w;
        weight2 += w * w;
        for (size_t k = 0; k < K; k++)
            g[k] += w * unit[k] * eta[k];
    }
    for (size_t k = 0; k < K && weight > 0.0; k++)
        g[k] /= weight;
    *effective = weight2 > 0.0 ? weight * weight / weight2 : 1.0;
}

/* The best of a mean_data(d) - log mean exp(a d) - a^2 roughness over a = 1, 1/2, 1/4, ...: the constant is
 * free. On entry the coefficients are those of d, on return of a d. */
static npmd_status line_search(const encoding *enc, objective *o, double slope, double roughness, double *work,
                               double *eta, linear_gain *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double x[DOMAIN_MAX_COLUMNS], *weight = NULL, *d = NULL, best = 0.0;
    point_source s;
    TRY(memory_new(&weight, GAIN_NODES, err));
    TRY(memory_new(&d, GAIN_NODES, err));
    TRY(objective_integral_points(o, 0, GAIN_NODES, &s, err));
    for (size_t i = 0; i < GAIN_NODES; i++) {
        source_fill(&s, i, 1, x, &weight[i]);
        encoding_jet(enc, x, 1, work, eta);
        for (int k = 0; k < enc->features; k++)
            d[i] += out->coefficient[k] * eta[k];
    }
    for (int halving = 0; halving < GAIN_HALVINGS; halving++) {
        const double a = ldexp(1.0, -halving);
        double mass = 0.0, total = 0.0;
        for (size_t i = 0; i < GAIN_NODES; i++) {
            mass += weight[i] * exp(a * d[i]);
            total += weight[i];
        }
        const double log_mass = log(mass / total), gain = a * slope - log_mass - a * a * roughness;
        if (gain > out->gain) {
            out->gain = gain;
            out->constant = -log_mass;
            best = a;
        }
    }
    for (int k = 0; k < enc->features; k++)
        out->coefficient[k] *= best;
done:
    memory_free(weight);
    memory_free(d);
    return st;
}

npmd_status linear_gain_open(linear_gain *out, const encoding *enc, objective *o, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t K = (size_t)enc->features;
    const settings *opt = o->opt;
    const double tau = penalty_weight(opt);
    linear_gain found = { 0 };
    double *work = NULL, *eta = NULL, *g = NULL, *unit = NULL, effective = 1.0, slope = 0.0, roughness = 0.0;
    TRY(memory_new(&work, encoding_work(enc), err));
    TRY(memory_new(&eta, K, err));
    TRY(memory_new(&g, K, err));
    TRY(memory_new(&unit, K, err));
    TRY(memory_new(&found.coefficient, K, err));
    for (size_t k = 0; k < K; k++) /* the constant gains nothing */
        unit[k] = feature_unit(enc, (int)k);
    feature_means(enc, o->points, o->opt->seed, unit, work, eta, g, &effective);
    for (size_t k = 0; k < K; k++) {
        const double rough = penalty_rough(opt, enc->lambda[k]);
        /* a function that was drawn several times moves once: its copies share the step */
        const double copies = enc->copies == NULL ? 1.0 : enc->copies[k];
        const double shrink = 1.0 / (1.0 + 2.0 * tau * rough), c = g[k] * shrink / copies;
        found.gain0 += 0.5 * g[k] * c;
        found.noise += unit[k] == 0.0 ? 0.0 : 0.5 / effective * shrink / copies;
        slope += g[k] * c;
        roughness += tau * c * c * rough * copies;
        found.coefficient[k] = unit[k] * c;
    }
    TRY(line_search(enc, o, slope, roughness, work, eta, &found, err));
    found.gain = fmin(found.gain, found.gain0);
    found.reached = found.gain;
    *out = found;
    found.coefficient = NULL;
done:
    linear_gain_close(&found);
    memory_free(work);
    memory_free(eta);
    memory_free(g);
    memory_free(unit);
    return st;
}

void linear_gain_close(linear_gain *gain)
{
    memory_free(gain->coefficient);
    gain->coefficient = NULL;
}

bool has_collapsed(const linear_gain *possible, double reached)
{
    return possible->gain0 > 3.0 * possible->noise && possible->gain > LEAST_GAIN
           && reached > 1.0 - 0.5 * possible->gain;
}
