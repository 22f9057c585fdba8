/* parameters.c - the vector theta: where each layer stands, and how it starts. */
#include "field.h"

size_t field_weights(const field_shape *f, int layer)
{
    size_t at = 0;
    for (int l = 1; l < layer; l++)
        at += (size_t)field_outputs(f, l) * ((size_t)field_inputs(f, l) + 1);
    return at;
}

size_t field_biases(const field_shape *f, int layer)
{
    return field_weights(f, layer) + (size_t)field_outputs(f, layer) * (size_t)field_inputs(f, layer);
}

size_t field_skip(const field_shape *f)
{
    return field_weights(f, f->depth + 1);
}

size_t field_parameters(const field_shape *f)
{
    return field_skip(f) + (f->skip ? (size_t)f->features : 0);
}

/* Sitzmann et al. 2020: weights U(+-sqrt(6/W)/omega) give pre-activations omega (W h + b) of variance 1 when
 * h = sin of a wide variable (variance 1/2). The K features have mean square 1 instead, so the first layer
 * takes U(+-sqrt(3/K)/omega), with the sum of their mean squares in the place of K where these differ; the
 * authors' code takes U(+-1/K), meant for coordinates in [-1, 1]. Biases U(+-1/sqrt(inputs)). The skip starts
 * at zero: the linear part is then the convex one. */
void field_start(const field_shape *f, bool authors, uint64_t seed, double *theta)
{
    for (int l = 1; l <= f->depth; l++) {
        const int inputs = field_inputs(f, l), outputs = field_outputs(f, l);
        const rng_key key = rng_key_make(seed, RNG_START, (uint64_t)l);
        const double square = f->square > 0.0 ? f->square : inputs;
        const double first = authors ? 1.0 / inputs : sqrt(3.0 / square) / f->omega;
        const double weight = l == 1 ? first : sqrt(6.0 / inputs) / f->omega, bias = 1.0 / sqrt(inputs);
        double *W = theta + field_weights(f, l), *b = theta + field_biases(f, l);
        for (size_t i = 0; i < (size_t)inputs * (size_t)outputs; i++)
            W[i] = weight * (2.0 * rng_uniform(key, i, 0) - 1.0);
        for (size_t i = 0; i < (size_t)outputs; i++)
            b[i] = bias * (2.0 * rng_uniform(key, i, 2) - 1.0);
    }
    if (f->skip)
        memset(theta + field_skip(f), 0, (size_t)f->features * sizeof *theta);
}
