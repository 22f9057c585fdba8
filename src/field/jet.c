/* jet.c - a jet through the network, and its adjoint: the definition that faster backends are held to.
 *
 * Rows of a jet: 0 the value, 1 .. T the derivatives along an orthonormal frame, T + 1 the Laplacian. An affine layer
 * acts on each row alike (its bias on the value only). Through h = sin(omega a), with s = sin(omega a) and c = omega
 * cos(omega a):
 *
 *     h = s,    h_t = c a_t,    lap h = c lap a - omega^2 s sum_t a_t^2
 *
 * and backwards, a bar marking the derivative of the result with respect to that quantity,
 *
 *     a_t bar   = c h_t bar - 2 omega^2 s a_t lap h bar
 *     lap a bar = c lap h bar
 *     a bar     = c h bar - omega^2 s (sum_t a_t h_t bar + lap a lap h bar) - omega^2 c sum_t a_t^2 lap h bar
 *
 * Through h = max(0, a) every row passes where a > 0, and none elsewhere, there and back:
 *
 *     h_t = 1[a > 0] a_t,    lap h = 1[a > 0] lap a;      a_t bar = 1[a > 0] h_t bar, and so for all rows
 *
 * which is the jet except at the kinks a = 0, where there is none. NaN counts as a > 0, so that it propagates.
 *
 * The tape holds, layer by layer, a (rows, W) and h (rows, W), and two spare blocks for the way back. */
#include "field.h"

static size_t field_block(const field_shape *f)
{
    return (size_t)(f->directions + 2) * (size_t)f->width;
}

size_t field_tape(const field_shape *f)
{
    return 2 * field_block(f) * (size_t)f->depth;
}

/* out (rows, m) = in (rows, n) W' + bias on the first row. */
static void affine(const double *W, const double *b, const double *in, int rows, int n, int m, double *out)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < m; j++) {
            double sum = r == 0 ? b[j] : 0.0;
            for (int i = 0; i < n; i++)
                sum += W[(size_t)j * (size_t)n + (size_t)i] * in[(size_t)r * (size_t)n + (size_t)i];
            out[(size_t)r * (size_t)m + (size_t)j] = sum;
        }
}

static void sine_forward(const double *a, int rows, int W, double omega, double *h)
{
    for (int j = 0; j < W; j++) {
        const double s = sin(omega * a[j]), c = omega * cos(omega * a[j]);
        double norm2 = 0.0;
        h[j] = s;
        if (rows == 1)
            continue;
        const size_t lap = (size_t)(rows - 1) * (size_t)W + (size_t)j;
        for (size_t k = (size_t)(W + j); k < lap; k += (size_t)W) { /* the T derivative rows */
            h[k] = c * a[k];
            norm2 += a[k] * a[k];
        }
        h[lap] = c * a[lap] - omega * omega * s * norm2;
    }
}

/* h_bar (rows, W) becomes a_bar in place. */
static void sine_adjoint(const double *a, int rows, int W, double omega, double *h_bar)
{
    for (int j = 0; j < W; j++) {
        const double s = sin(omega * a[j]), c = omega * cos(omega * a[j]), w2s = omega * omega * s;
        if (rows == 1) {
            h_bar[j] *= c;
            continue;
        }
        const size_t lap = (size_t)(rows - 1) * (size_t)W + (size_t)j;
        const double lap_bar = h_bar[lap];
        double norm2 = 0.0, cross = a[lap] * lap_bar;
        for (size_t k = (size_t)(W + j); k < lap; k += (size_t)W) {
            norm2 += a[k] * a[k];
            cross += a[k] * h_bar[k];
            h_bar[k] = c * h_bar[k] - 2.0 * w2s * a[k] * lap_bar;
        }
        h_bar[lap] = c * lap_bar;
        h_bar[j] = c * h_bar[j] - w2s * cross - omega * omega * c * norm2 * lap_bar;
    }
}

/* out (rows, W) = in where a > 0, else 0. */
static void relu_pass(const double *a, const double *in, int rows, int W, double *out)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < W; j++) {
            const size_t at = (size_t)r * (size_t)W + (size_t)j;
            out[at] = a[j] <= 0.0 ? 0.0 : in[at];
        }
}

static void activation_forward(const field_shape *f, const double *a, int rows, double *h)
{
    if (f->activation == FIELD_SINE)
        sine_forward(a, rows, f->width, f->omega, h);
    else
        relu_pass(a, a, rows, f->width, h);
}

static void activation_adjoint(const field_shape *f, const double *a, int rows, double *h_bar)
{
    if (f->activation == FIELD_SINE)
        sine_adjoint(a, rows, f->width, f->omega, h_bar);
    else
        relu_pass(a, h_bar, rows, f->width, h_bar);
}

void field_forward(const field_shape *f, const double *theta, const double *eta, int rows, double *tape, double *v)
{
    const size_t block = field_block(f);
    const double *h = eta;
    for (int l = 1; l < f->depth; l++) {
        double *a = tape + 2 * block * (size_t)(l - 1), *out = a + block;
        affine(theta + field_weights(f, l), theta + field_biases(f, l), h, rows, field_inputs(f, l), f->width, a);
        activation_forward(f, a, rows, out);
        h = out;
    }
    affine(theta + field_weights(f, f->depth), theta + field_biases(f, f->depth), h, rows, field_inputs(f, f->depth), 1,
           v);
    if (f->skip)
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < f->features; k++)
                v[r] += theta[field_skip(f) + (size_t)k] * eta[(size_t)r * (size_t)f->features + (size_t)k];
}

/* gradient of W (m, n) += out_bar' in, of b += the value row of out_bar; in_bar (rows, n) = out_bar W unless
 * NULL. */
static void affine_adjoint(const double *W, const double *in, const double *out_bar, int rows, int n, int m,
                           double *W_gradient, double *b_gradient, double *in_bar)
{
    for (int j = 0; j < m; j++)
        b_gradient[j] += out_bar[j];
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int j = 0; j < m; j++) {
                const double bar = out_bar[(size_t)r * (size_t)m + (size_t)j];
                W_gradient[(size_t)j * (size_t)n + (size_t)i] += bar * in[(size_t)r * (size_t)n + (size_t)i];
                sum += bar * W[(size_t)j * (size_t)n + (size_t)i];
            }
            if (in_bar != NULL)
                in_bar[(size_t)r * (size_t)n + (size_t)i] = sum;
        }
}

void field_adjoint(const field_shape *f, const double *theta, const double *eta, int rows, double *tape,
                   const double *v_bar, double *gradient)
{
    const size_t block = field_block(f);
    double *spare[2] = { tape + 2 * block * (size_t)(f->depth - 1), tape + 2 * block * (size_t)(f->depth - 1) + block };
    const double *out_bar = v_bar;
    if (f->skip)
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < f->features; k++)
                gradient[field_skip(f) + (size_t)k] += v_bar[r] * eta[(size_t)r * (size_t)f->features + (size_t)k];
    for (int l = f->depth; l >= 1; l--) {
        const double *below = l == 1 ? eta : tape + 2 * block * (size_t)(l - 2) + block;
        double *below_bar = l == 1 ? NULL : spare[l % 2];
        affine_adjoint(theta + field_weights(f, l), below, out_bar, rows, field_inputs(f, l), field_outputs(f, l),
                       gradient + field_weights(f, l), gradient + field_biases(f, l), below_bar);
        if (l > 1)
            activation_adjoint(f, tape + 2 * block * (size_t)(l - 2), rows, below_bar);
        out_bar = below_bar;
    }
}
