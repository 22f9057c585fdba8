/* field.h - the network v(x) = net(eta(x)) [+ c . eta(x)], with the jet through it and the exact adjoint.
 *
 *     h_0 = eta,   h_l = f(W_l h_(l-1) + b_l) for l = 1 .. L-1,   v = W_L h_(L-1) + b_L + c . eta
 *
 * f(a) = sin(omega a), or max(0, a): a ReLU network is piecewise linear in eta. L (depth) counts affine layers; L = 1
 * is the linear series. All parameters are in one vector theta: W_1 (width, K) row-major, b_1, W_2, b_2, ..., W_L (1,
 * width), b_L (1), then the skip c (K).
 *
 * A jet has dimension + 2 rows: the value, one derivative for each tangent direction, the Laplacian. */
#ifndef NPMD_FIELD_H
#define NPMD_FIELD_H

#include "encoding.h"

#define FIELD_MAX_DEPTH 32

typedef enum field_activation { FIELD_SINE, FIELD_RELU } field_activation;

typedef struct field_shape {
    int features, width, depth, directions; /* K, W, L, tangent directions */
    bool skip;
    field_activation activation;
    double omega;  /* of sines */
    double square; /* sum of the mean squares of the features, for the start; 0: each is 1 */
} field_shape;

static inline int field_inputs(const field_shape *f, int layer) /* layer 1 .. depth */
{
    return layer == 1 ? f->features : f->width;
}
static inline int field_outputs(const field_shape *f, int layer)
{
    return layer == f->depth ? 1 : f->width;
}
size_t field_weights(const field_shape *f, int layer); /* offset of W_layer in theta */
size_t field_biases(const field_shape *f, int layer);
size_t field_skip(const field_shape *f);
size_t field_parameters(const field_shape *f); /* length of theta */

/* The factor of the argument of every activation. */
static inline double field_omega(const field_shape *f)
{
    return f->activation == FIELD_SINE ? f->omega : 1.0;
}

/* The parameters at the start of a fit, see parameters.c. authors: as in the published code. */
void field_start(const field_shape *f, bool authors, uint64_t seed, double *theta);
/* Sets the biases of a first layer of ReLUs so that the kink of unit i passes through row i of eta (width, K). */
void field_start_kinks(const field_shape *f, const double *eta, double *theta);

/* Reference implementation, double, one point. rows = 1 or directions + 2; eta (rows, K); v (rows).
 * tape (field_tape doubles) keeps what the adjoint needs. */
size_t field_tape(const field_shape *f);
void field_forward(const field_shape *f, const double *theta, const double *eta, int rows, double *tape, double *v);
/* gradient += sum over rows r of v_bar[r] d v[r] / d theta, for the point of the last field_forward with this tape. */
void field_adjoint(const field_shape *f, const double *theta, const double *eta, int rows, double *tape,
                   const double *v_bar, double *gradient);

#endif
