/* kernels.c - the rate of each kernel on one core, after it was held to plain double loops. */
#include "core.h"
#include "kernels.h"

#include <stdio.h>

#define POINTS 128
#define UNITS 128
#define LD (UNITS + TILE_UNITS)

static float A[POINTS * LD], B[UNITS * LD], C[UNITS * LD], D[POINTS * LD], bias[UNITS];

static void fill(float *p, size_t n, uint64_t what)
{
    const rng_key key = rng_key_make(1, RNG_TEST, what);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(2.0 * rng_uniform(key, i, 0) - 1.0);
}

/* Median over repeats of the seconds a call takes. */
static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_seconds(void (*call)(const kernels *), const kernels *k)
{
    enum { REPEATS = 41, CALLS = 40 };
    double seconds[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        const double start = clock_seconds();
        for (int c = 0; c < CALLS; c++)
            call(k);
        seconds[r] = (clock_seconds() - start) / CALLS;
    }
    qsort(seconds, REPEATS, sizeof *seconds, by_size);
    return seconds[REPEATS / 2];
}

static void call_layer(const kernels *k)
{
    k->product(POINTS, UNITS, UNITS, (strided){ A, LD, 1 }, B, LD, D, LD, 0);
}

static void call_gradient(const kernels *k)
{
    k->product(UNITS, UNITS, POINTS, (strided){ A, 1, LD }, D, LD, C, LD, 0);
}

static void call_sine(const kernels *k)
{
    k->sine_forward(POINTS, 0, 0, UNITS, LD, bias, A, D);
    fill(A, 16, 7); /* sine_forward leaves cosines: keep the argument from settling */
}

/* Largest error of a layer product against double. */
static double layer_error(const kernels *k)
{
    double worst = 0.0;
    call_layer(k);
    for (size_t i = 0; i < POINTS; i += 7)
        for (size_t j = 0; j < UNITS; j += 5) {
            double sum = 0.0;
            for (size_t p = 0; p < UNITS; p++)
                sum += (double)A[i * LD + p] * (double)B[p * LD + j];
            worst = fmax(worst, fabs(sum - (double)D[i * LD + j]));
        }
    return worst;
}

int main(void)
{
    static const char *const NAMES[] = { "avx512", "avx2", "plain" };
    int failed = 0;
    printf("kernels, one core, tiles of %d points and %d units, float32\n\n", POINTS, UNITS);
    printf("%-8s %16s %16s %16s %14s\n", "", "layer GFLOP/s", "gradient GFLOP/s", "sincos ns",
           "error of layer");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const kernels *k = kernels_select(NAMES[i]);
        if (k == NULL)
            continue;
        fill(A, POINTS * LD, 1);
        fill(B, UNITS * LD, 2);
        const double error = layer_error(k), flop = 2.0 * POINTS * UNITS * UNITS;
        const double layer = median_seconds(call_layer, k), gradient = median_seconds(call_gradient, k);
        const double sine = median_seconds(call_sine, k);
        failed += error > 1e-4; /* 128 products of numbers below 1, float32: 128 x 6e-8 x a few */
        printf("%-8s %16.1f %16.1f %16.2f %14.1e\n", NAMES[i], 1e-9 * flop / layer, 1e-9 * flop / gradient,
               1e9 * sine / (POINTS * UNITS), error);
    }
    return failed != 0;
}
