/* check.h - what the tests share: comparisons that print what they measured, a random generator, and Gauss-Legendre
 * nodes. Nothing here calls the library. */
#ifndef NPMD_TEST_CHECK_H
#define NPMD_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK_PI 3.141592653589793238462643383279502884L

/* Fails unless found <= bound; NaN fails. Prints the number in either case. */
static inline void check_below(const char *what, double found, double bound)
{
    print_message("    %-64s %9.2e  (bound %.2e)\n", what, found, bound);
    if (!(found <= bound))
        fail_msg("%s: found %.3e, bound %.3e", what, found, bound);
}

/* The same, silent when it holds; for loops. */
static inline void check_quiet(const char *what, double found, double bound)
{
    if (!(found <= bound))
        fail_msg("%s: found %.6e, bound %.3e", what, found, bound);
}

/* |a - b| / |b| in the Euclidean norm; 0 when both vanish. */
static inline double relative_norm(const double *a, const double *b, size_t n)
{
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < n; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    if (difference == 0.0)
        return 0.0;
    return sqrt(difference) / sqrt(size);
}

/* Sets a locale that writes 0,5 for 1/2; false: none is installed. setlocale(LC_NUMERIC, "C") undoes it. */
static inline bool comma_locale(void)
{
    static const char *const NAMES[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR", "ps_AF.UTF-8" };
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        if (setlocale(LC_NUMERIC, NAMES[k]) != NULL)
            return true;
    return false;
}

static inline double *doubles(size_t n)
{
    double *p = calloc(n + 1, sizeof *p); /* never of size zero */
    assert_non_null(p);
    return p;
}

/* splitmix64 (Steele, Lea, Flood 2014): independent of the library's generator. */
static inline double test_uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return ((double)(z >> 12) + 0.5) * 0x1p-52;
}

static inline double test_normal(uint64_t *state)
{
    const double u = test_uniform(state), v = test_uniform(state);
    return sqrt(-2.0 * log(u)) * cos(2.0 * (double)CHECK_PI * v);
}

/* A uniformly distributed unit vector. */
static inline void test_unit_vector(uint64_t *state, double x[3])
{
    double r2 = 0.0;
    for (int i = 0; i < 3; i++) {
        x[i] = test_normal(state);
        r2 += x[i] * x[i];
    }
    for (int i = 0; i < 3; i++)
        x[i] /= sqrt(r2);
}

/* The value that a chi-square variable exceeds with the probability that a normal one exceeds z (Wilson and Hilferty
 * 1931). */
static inline double chi_square_bound(int freedom, double z)
{
    const double k = freedom, c = 2.0 / (9.0 * k), t = 1.0 - c + z * sqrt(c);
    return k * t * t * t;
}

/* Nodes and weights on [-1, 1], by Newton's method on P_n. */
static inline void gauss_legendre(int n, double *node, double *weight)
{
    for (int i = 0; i < n; i++) {
        long double z = cosl(CHECK_PI * ((long double)i + 0.75L) / ((long double)n + 0.5L)), slope = 1.0L;
        for (int iteration = 0; iteration < 30; iteration++) {
            long double p = 1.0L, before = 0.0L;
            for (int l = 1; l <= n; l++) {
                const long double next = ((2 * l - 1) * z * p - (l - 1) * before) / l;
                before = p;
                p = next;
            }
            slope = (long double)n * (z * p - before) / (z * z - 1.0L);
            z -= p / slope;
        }
        node[i] = (double)z;
        weight[i] = (double)(2.0L / ((1.0L - z * z) * slope * slope));
    }
}

/* Makes an empty temporary file; the caller unlinks it. */
static inline void temporary_path(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");
    snprintf(path, size, "%.200s/npmd-test-XXXXXX", base != NULL && *base ? base : P_tmpdir);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

#endif
