/* entropy.c - the differential entropy of a known density: - integral of f log f, nats, per volume.
 *
 * On T1 and T2 by a half-open grid, doubled until mass and entropy settle; elsewhere, or where no grid of an affordable
 * size resolves the density, by the mean of -log f over draws from the density itself. */
#include "truth.h"

#define ENTROPY_TOLERANCE 1e-9
#define ENTROPY_SIDE_MOST 4096 /* on T2: seconds, and kernels 0.003 radians wide; on T1 its square */
#define ENTROPY_DRAWS ((size_t)1 << 19)
#define ENTROPY_STEP 1024 /* of RNG_TRUTH: below it stand the components of a recipe */

/* Mass and entropy on a grid of side nodes a circle; x and log_f have room for a chunk. */
static void entropy_on_grid(const npmd_truth *t, size_t side, double *x, double *log_f, double *mass, double *entropy)
{
    const int D = t->domain->dimension;
    const size_t sides[2] = { side, side }, nodes = D == 1 ? side : side * side;
    const double cell = t->domain->volume / (double)nodes;
    *mass = *entropy = 0.0;
    for (size_t first = 0; first < nodes; first += TRUTH_CHUNK) {
        const size_t n = nodes - first < TRUTH_CHUNK ? nodes - first : TRUTH_CHUNK;
        double chunk_mass = 0.0, chunk_entropy = 0.0; /* sums of sums: their rounding stays far below 1e-9 */
        quadrature_torus(D, sides, false, first, n, x);
        mixture_log_densities(t, x, n, log_f);
        for (size_t i = 0; i < n; i++) {
            const double f = cell * exp(log_f[i]);
            chunk_mass += f;
            chunk_entropy -= f > 0.0 ? f * log_f[i] : 0.0;
        }
        *mass += chunk_mass;
        *entropy += chunk_entropy;
    }
}

/* Two grids that agree, both with mass 1. */
static bool entropy_by_grids(const npmd_truth *t, double *x, double *log_f, double *out)
{
    const size_t most = t->domain->dimension == 1 ? ENTROPY_SIDE_MOST * ENTROPY_SIDE_MOST : ENTROPY_SIDE_MOST;
    double before = NAN;
    for (size_t side = 128; side <= most; side *= 2) {
        double mass = 0.0, entropy = 0.0;
        entropy_on_grid(t, side, x, log_f, &mass, &entropy);
        if (fabs(mass - 1.0) <= ENTROPY_TOLERANCE && fabs(entropy - before) <= ENTROPY_TOLERANCE) {
            *out = entropy;
            return true;
        }
        before = entropy;
    }
    return false;
}

/* The mean of -log f over draws, and its standard error; the sums are taken about the first value. */
static void entropy_by_draws(const npmd_truth *t, uint64_t seed, double *x, double *log_f, double *out, double *se)
{
    const rng_key key = rng_key_make(seed, RNG_TRUTH, ENTROPY_STEP);
    double origin = 0.0, sum = 0.0, sum2 = 0.0;
    for (size_t first = 0; first < ENTROPY_DRAWS; first += TRUTH_CHUNK) {
        mixture_draws(t, key, first, TRUTH_CHUNK, x);
        mixture_log_densities(t, x, TRUTH_CHUNK, log_f);
        if (first == 0)
            origin = log_f[0];
        for (size_t i = 0; i < TRUTH_CHUNK; i++) {
            const double e = origin - log_f[i];
            sum += e;
            sum2 += e * e;
        }
    }
    const double n = (double)ENTROPY_DRAWS, mean = sum / n;
    *out = mean - origin;
    *se = sqrt(fmax(0.0, sum2 / n - mean * mean) / (n - 1.0));
}

/* Of the values themselves: mean of -f log f with f relative, plus log volume. */
static double entropy_of_nodes(const npmd_truth *t)
{
    double sum = 0.0;
    for (size_t i = 0; i < t->nodes; i++)
        sum -= t->grid[i] > 0.0 ? t->grid[i] * log(t->grid[i]) : 0.0;
    return sum / (double)t->nodes + log(t->domain->volume);
}

npmd_status truth_entropy(const npmd_truth *t, uint64_t seed, double *entropy, double *se, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *x = NULL, *log_f = NULL, value = 0.0, error = 0.0;
    if (t->kind == TRUTH_GRID) {
        value = entropy_of_nodes(t);
    } else {
        TRY(memory_new(&x, (size_t)TRUTH_CHUNK * (size_t)t->domain->columns, err));
        TRY(memory_new(&log_f, TRUTH_CHUNK, err));
        const bool flat = t->domain->torus && t->domain->dimension <= 2;
        if (!flat || !entropy_by_grids(t, x, log_f, &value))
            entropy_by_draws(t, seed, x, log_f, &value, &error);
    }
    *entropy = value;
    if (se != NULL)
        *se = error;
done:
    memory_free(log_f);
    memory_free(x);
    return st;
}
