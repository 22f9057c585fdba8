/* quadrature.c - nodes and weights: product grids on tori, Gauss-Legendre.
 *
 * On a torus equal weights on a half-open grid converge faster than any power of the step for a smooth
 * function; on S2 Gauss-Legendre nodes in z = cos(colatitude) times equally spaced longitudes do the same. */
#include "geometry.h"

void quadrature_torus(int dimension, const size_t *side, bool closed, size_t first, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        size_t rest = first + i;
        for (int d = dimension - 1; d >= 0; d--) {
            const size_t G = side[d];
            x[i * (size_t)dimension + (size_t)d] = TWO_PI * (double)(rest % G) / (double)(closed ? G - 1 : G);
            rest /= G;
        }
    }
}

/* Newton's method on the Legendre polynomial P_n, from Tricomi's approximation of its zeros; P_n and P_n' by
 * the three-term recurrence. The weights are 2 / ((1 - z^2) P_n'(z)^2), halved here. */
void quadrature_legendre(size_t n, double *z, double *weight)
{
    assert(n > 0);
    for (size_t i = 0; i < (n + 1) / 2; i++) {
        const double N = (double)n;
        double root = cos(NPMD_PI * ((double)i + 0.75) / (N + 0.5)) * (1.0 - (N - 1.0) / (8.0 * N * N * N));
        double slope = 1.0;
        for (int step = 0; step < 8; step++) { /* quadratic: four are enough, eight cost nothing */
            double p = 1.0, before = 0.0;
            for (size_t k = 1; k <= n; k++) {
                const double K = (double)k, next = ((2.0 * K - 1.0) * root * p - (K - 1.0) * before) / K;
                before = p;
                p = next;
            }
            slope = N * (root * p - before) / (root * root - 1.0);
            root -= p / slope;
        }
        if (2 * i + 1 == n)
            root = 0.0; /* the middle one, by symmetry */
        z[i] = -root;
        z[n - 1 - i] = root;
        weight[i] = weight[n - 1 - i] = 1.0 / ((1.0 - root * root) * slope * slope);
    }
}
