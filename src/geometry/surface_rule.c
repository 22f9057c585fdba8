/* surface_rule.c - a quadrature rule on a surface.
 *
 * Nodes are a Fibonacci lattice of the square, mapped to the surface (surface_map.c): with equal weights they integrate
 * as quasi-random points do. The weights are then moved as little as possible (least squares) so that the first K
 * eigenfunctions, a quarter of the nodes at most, are integrated exactly:
 *
 *     w = 1/n + Psi mu / n,   Psi' w = (1, 0, 0, ...),   Psi (n, K) of mean square 1,
 *
 * (Psi' Psi / n) mu = the error of equal weights. The matrix is near the identity: a few steps of conjugate gradients.
 * If a weight becomes negative, half the functions are used. */
#include "surface_factor.h"

#define MOST_STEPS 200
#define GOLDEN 0.6180339887498949 /* (sqrt 5 - 1) / 2 */
#define LEAST_FUNCTIONS 16
#define MOST_TABLE ((size_t)1 << 24) /* numbers of Psi */

/* Three times the nodes of S2: what is not corrected converges more slowly. */
size_t surface_rule_nodes(const manifold *self, size_t N)
{
    (void)self;
    return 6 * N * N;
}

typedef struct correction {
    size_t n, K, ld; /* nodes, functions in use, and in a row of psi */
    double *psi;     /* (n, ld), of mean square 1 */
    double *mu, *miss, *along, *image;
} correction;

/* out = Psi' (weights) over n, where the weights are Psi mu: one pass over the table. */
static void correction_apply(const correction *c, const double *mu, double *out)
{
    memset(out, 0, c->K * sizeof *out);
    for (size_t i = 0; i < c->n; i++) {
        const double *psi = c->psi + i * c->ld;
        double sum = 0.0;
        for (size_t k = 0; k < c->K; k++)
            sum += psi[k] * mu[k];
        for (size_t k = 0; k < c->K; k++)
            out[k] += sum / (double)c->n * psi[k];
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void correction_solve(correction *c)
{
    memset(c->mu, 0, c->K * sizeof *c->mu);
    memset(c->miss, 0, c->K * sizeof *c->miss);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 1; k < c->K; k++)
            c->miss[k] -= c->psi[i * c->ld + k] / (double)c->n;
    memcpy(c->along, c->miss, c->K * sizeof *c->along);
    double square = dot(c->miss, c->miss, c->K);
    for (int step = 0; step < MOST_STEPS && square > 1e-28; step++) {
        correction_apply(c, c->along, c->image);
        const double length = square / dot(c->along, c->image, c->K), before = square;
        for (size_t k = 0; k < c->K; k++) {
            c->mu[k] += length * c->along[k];
            c->miss[k] -= length * c->image[k];
        }
        square = dot(c->miss, c->miss, c->K);
        for (size_t k = 0; k < c->K; k++)
            c->along[k] = c->miss[k] + square / before * c->along[k];
    }
}

static bool correction_weights(const correction *c, double *weight)
{
    double least = INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        weight[i] = (1.0 + dot(c->psi + i * c->ld, c->mu, c->K)) / (double)c->n;
        least = fmin(least, weight[i]);
    }
    return least > 0.0;
}

/* Psi, from jets of several points at a time. */
static npmd_status correction_table(const manifold *self, const double *x, correction *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double unit = sqrt(self->volume);
    const int frequency = self->frequency(self, (int)c->ld - 1);
    double *jet = NULL;
    TRY(memory_new(&jet, c->ld * JET_POINTS, err));
    for (size_t i = 0; i < c->n; i += JET_POINTS) {
        const size_t some = c->n - i < JET_POINTS ? c->n - i : JET_POINTS;
        self->jets(self, some, x + 3 * i, 3, frequency, 1, jet);
        for (size_t j = 0; j < some; j++)
            for (size_t k = 0; k < c->ld; k++)
                c->psi[(i + j) * c->ld + k] = unit * jet[k * some + j];
    }
done:
    memory_free(jet);
    return st;
}

npmd_status surface_rule(const manifold *self, size_t N, double *x, double *weight, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const surface *s = self->state;
    correction c = { .n = surface_rule_nodes(self, N) };
    size_t most = c.n / 4 < (size_t)s->pairs ? c.n / 4 : (size_t)s->pairs;
    if (most * c.n > MOST_TABLE)
        most = MOST_TABLE / c.n;
    c.ld = (size_t)self->functions(self, self->frequency(self, (int)(most > 0 ? most : 1)) - 1);
    for (size_t i = 0; i < c.n; i++) {
        const double turn = (double)i * GOLDEN;
        self->uniform(self, (const double[]){ ((double)i + 0.5) / (double)c.n, turn - floor(turn) }, x + 3 * i);
        weight[i] = 1.0 / (double)c.n;
    }
    TRY(memory_new(&c.psi, c.n * c.ld, err));
    TRY(memory_new(&c.mu, 4 * c.ld, err));
    c.miss = c.mu + c.ld;
    c.along = c.miss + c.ld;
    c.image = c.along + c.ld;
    TRY(correction_table(self, x, &c, err));
    for (c.K = c.ld; c.K >= LEAST_FUNCTIONS; c.K /= 2) {
        correction_solve(&c);
        if (correction_weights(&c, weight))
            break;
    }
    for (size_t i = 0; c.K < LEAST_FUNCTIONS && i < c.n; i++)
        weight[i] = 1.0 / (double)c.n;
done:
    memory_free(c.psi);
    memory_free(c.mu);
    return st;
}
