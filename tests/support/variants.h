/* variants.h - every variant of the inner loops that this machine can run, and bounds of their errors.
 *
 * u = 2^-24 is the unit roundoff of float32. A sum of k products computed in any order, with or without fused
 * multiply-add, differs from the exact one by at most g(k + 1) sum |a b|, g(k) = k u / (1 - k u) (Higham 2002, section
 * 3.1); the tolerances of the tests are that bound with the number of roundings written out. */
#ifndef NPMD_TEST_VARIANTS_H
#define NPMD_TEST_VARIANTS_H

#include "check.h"
#include "kernels.h"

#include <stdbool.h>

#define U 0x1p-24
/* Absolute error of sine and cosine for |x| <= 8192; derived in test_sincos.c. */
#define SINCOS_ERROR 1e-7

static const char *const VARIANTS[] = { "avx512", "avx2", "plain" };
enum { VARIANT_COUNT = 3 };

static inline double rounding(double k)
{
    return k * U / (1.0 - k * U);
}

static inline float *floats(size_t n)
{
    float *p = calloc(n + 1, sizeof *p);
    assert_non_null(p);
    return p;
}

static inline float *random_floats(size_t n, double size, uint64_t *seed)
{
    float *p = floats(n);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(size * (2.0 * test_uniform(seed) - 1.0));
    return p;
}

/* The largest of found / bound; NaN becomes infinity. */
static inline void keep_worst(double *worst, double found, double expected, double bound)
{
    const double ratio = fabs(found - expected) / bound;
    if (!(ratio <= *worst))
        *worst = isnan(ratio) ? (bound == 0.0 && found == expected ? *worst : INFINITY) : ratio;
}

static inline void report_worst(const kernels *k, const char *what, double worst)
{
    char text[96];
    snprintf(text, sizeof text, "%s %s: error / bound", k->name, what);
    check_below(text, worst, 1.0);
}

#endif
