/* parameters.c - the vector theta: the offsets of the layers, and their start. */
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

/* Sines. Sitzmann et al. 2020: weights U(+-sqrt(6/W)/omega) give pre-activations omega (W h + b) of variance 1 when
 * h = sin of a wide variable (variance 1/2). The K features have mean square 1 instead, so the first layer
 * takes U(+-sqrt(3/K)/omega), with the sum of their mean squares in the place of K where these differ; the
 * authors' code takes U(+-1/K), meant for coordinates in [-1, 1]. Biases U(+-1/sqrt(inputs)). */
static void sine_start(const field_shape *f, int l, bool authors, uint64_t seed, double *W, double *b)
{
    const int inputs = field_inputs(f, l), outputs = field_outputs(f, l);
    const rng_key key = rng_key_make(seed, RNG_START, (uint64_t)l);
    const double square = f->square > 0.0 ? f->square : inputs;
    const double first = authors ? 1.0 / inputs : sqrt(3.0 / square) / f->omega;
    const double weight = l == 1 ? first : sqrt(6.0 / inputs) / f->omega, bias = 1.0 / sqrt(inputs);
    for (size_t i = 0; i < (size_t)inputs * (size_t)outputs; i++)
        W[i] = weight * (2.0 * rng_uniform(key, i, 0) - 1.0);
    for (size_t i = 0; i < (size_t)outputs; i++)
        b[i] = bias * (2.0 * rng_uniform(key, i, 2) - 1.0);
}

/* ReLUs. He et al. 2015: weights N(0, 2/inputs), biases zero, and an output that is zero. authors: all
 * parameters U(+-1/sqrt(inputs)), as PyTorch starts a layer. */
static void relu_start(const field_shape *f, int l, bool authors, uint64_t seed, double *W, double *b)
{
    const int inputs = field_inputs(f, l), outputs = field_outputs(f, l);
    const rng_key key = rng_key_make(seed, RNG_START, (uint64_t)l + 1);
    const double bound = 1.0 / sqrt((double)inputs);
    for (int i = 0; i < outputs; i++, W += inputs) {
        for (int j = 0; j < inputs; j++)
            W[j] = authors         ? bound * (2.0 * rng_uniform(key, (uint64_t)i, (uint32_t)j) - 1.0)
                   : l == f->depth ? 0.0
                                   : sqrt(2.0) * bound * rng_normal(key, (uint64_t)i, (uint32_t)j);
        b[i] = authors ? bound * (2.0 * rng_uniform(key, (uint64_t)i, (uint32_t)inputs) - 1.0) : 0.0;
    }
}

void field_start_kinks(const field_shape *f, const double *eta, double *theta)
{
    const double *W = theta + field_weights(f, 1);
    double *b = theta + field_biases(f, 1);
    assert(f->activation == FIELD_RELU);
    for (int i = 0; f->depth > 1 && i < f->width; i++) {
        b[i] = 0.0;
        for (int j = 0; j < f->features; j++)
            b[i] -= *W++ * *eta++;
    }
}

/* The skip starts at zero: the linear part is then the convex one. */
void field_start(const field_shape *f, bool authors, uint64_t seed, double *theta)
{
    for (int l = 1; l <= f->depth; l++)
        (f->activation == FIELD_SINE ? sine_start : relu_start)(f, l, authors, seed, theta + field_weights(f, l),
                                                                theta + field_biases(f, l));
    if (f->skip)
        memset(theta + field_skip(f), 0, (size_t)f->features * sizeof *theta);
}
