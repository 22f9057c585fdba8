/* kernels.c - inner loops on vectors of the machine's width. Compiled once for each instruction set with KERNELS
 * defined as plain, avx2 or avx512; the source is the same for all. */
#include "kernels.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VECTOR 16 /* floats in a register */
#define MR 8      /* rows of a register block: MR x NV accumulators, NV + 1 operands */
#define NV 3
#elif defined(__AVX2__)
#define VECTOR 8
#define MR 4
#define NV 2
#else
#define VECTOR 4
#define MR 4
#define NV 2
#endif

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

typedef float vec __attribute__((vector_size(4 * VECTOR)));
typedef float vec_memory __attribute__((vector_size(4 * VECTOR), aligned(4), may_alias)); /* anywhere in memory */
typedef double dvec __attribute__((vector_size(4 * VECTOR)));
typedef double dvec_memory __attribute__((vector_size(4 * VECTOR), aligned(8), may_alias));
typedef int32_t mask __attribute__((vector_size(4 * VECTOR)));
typedef int64_t dmask __attribute__((vector_size(4 * VECTOR)));

static inline vec load(const float *p)
{
    return *(const vec_memory *)p;
}

static inline void store(float *p, vec a)
{
    *(vec_memory *)p = a;
}

static inline vec spread(float a)
{
    return a - (vec){ 0 };
}

/* clamp: a within -limit .. limit, NaN where a is NaN. choose_odd: yes where the integer q is odd, else no. any: is a
 * number of the mask not zero? Written out, since compilers make several instructions of what is one. */
#if defined(__AVX512F__)
static inline vec clamp(vec a, float limit)
{
    return (vec)_mm512_max_ps(_mm512_set1_ps(-limit), _mm512_min_ps(_mm512_set1_ps(limit), (__m512)a));
}

static inline vec choose_odd(mask q, vec yes, vec no)
{
    return (vec)_mm512_mask_blend_ps(_mm512_test_epi32_mask((__m512i)q, _mm512_set1_epi32(1)), (__m512)no, (__m512)yes);
}

static inline vec vec_max(vec a, float least)
{
    return (vec)_mm512_max_ps((__m512)a, _mm512_set1_ps(least));
}

static inline vec vec_sqrt(vec a)
{
    return (vec)_mm512_sqrt_ps((__m512)a);
}

static inline int any(mask a)
{
    return _mm512_test_epi32_mask((__m512i)a, (__m512i)a) != 0;
}
#elif defined(__AVX2__)
static inline vec clamp(vec a, float limit)
{
    return (vec)_mm256_max_ps(_mm256_set1_ps(-limit), _mm256_min_ps(_mm256_set1_ps(limit), (__m256)a));
}

static inline vec choose_odd(mask q, vec yes, vec no) /* by the highest bit of each number */
{
    return (vec)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)(q << 31));
}

static inline vec vec_max(vec a, float least)
{
    return (vec)_mm256_max_ps((__m256)a, _mm256_set1_ps(least));
}

static inline vec vec_sqrt(vec a)
{
    return (vec)_mm256_sqrt_ps((__m256)a);
}

static inline int any(mask a)
{
    return !_mm256_testz_si256((__m256i)a, (__m256i)a);
}
#else
static inline vec choose(mask which, vec yes, vec no)
{
    return (vec)((which & (mask)yes) | (~which & (mask)no));
}

static inline vec clamp(vec a, float limit)
{
    a = choose(a > limit, spread(limit), a);
    return choose(a < -limit, spread(-limit), a);
}

static inline vec choose_odd(mask q, vec yes, vec no)
{
    return choose(-(q & 1), yes, no);
}

static inline vec vec_max(vec a, float least)
{
    return choose(a < least, spread(least), a);
}

static inline vec vec_sqrt(vec a)
{
    for (int i = 0; i < VECTOR; i++)
        a[i] = sqrtf(a[i]);
    return a;
}

static inline int any(mask a)
{
    int32_t found = 0;
    for (int i = 0; i < VECTOR; i++)
        found |= a[i];
    return found != 0;
}
#endif

static inline float add_up(vec a)
{
    float sum = 0.0f;
    for (int i = 0; i < VECTOR; i++)
        sum += a[i];
    return sum;
}

/* sin x and cos x: x = q pi/2 + r with |r| <= pi/4, q pi/2 subtracted in three parts of few bits (so that the
 * products are exact), then the minimax polynomials of Cephes:
 *     sin r = r + r z (S0 + S1 z + S2 z^2),   cos r = 1 - z/2 + z z (C0 + C1 z + C2 z^2),   z = r^2.
 * Absolute error below 1e-7 for |x| <= 8192; bounded by 1 + 1e-6 for any finite x; NaN stays NaN. */
#define S0 -1.6666654611e-1f
#define S1 8.3321608736e-3f
#define S2 -1.9515295891e-4f
#define C0 4.166664568298827e-2f
#define C1 -1.388731625493765e-3f
#define C2 2.443315711809948e-5f

static inline vec quarter_turns(vec x, mask *q) /* r */
{
    const vec shifted = x * 0.63661977236758134308f
                        + 12582912.0f; /* 1.5 x 2^23: rounds to an integer in the low bits */
    const vec k = shifted - 12582912.0f;
    *q = (mask)shifted;
    return clamp(((x - k * 1.5703125f) - k * 4.837512969970703125e-4f) - k * 7.54978995489188216e-8f,
                 0.8f); /* beyond the range of the reduction */
}

static inline void vec_sincos(vec x, vec *sine, vec *cosine)
{
    mask q;
    const vec r = quarter_turns(x, &q), z = r * r;
    const vec s = ((S2 * z + S1) * z + S0) * z * r + r;
    const vec c = ((C2 * z + C1) * z + C0) * z * z - 0.5f * z + 1.0f;
    const mask s_sign = (q << 30) & INT32_MIN, c_sign = ((q + 1) << 30) & INT32_MIN;
    *sine = (vec)((mask)choose_odd(q, c, s) ^ s_sign);
    *cosine = (vec)((mask)choose_odd(q, s, c) ^ c_sign);
}

/* sin x alone: one polynomial, with the coefficients of the sine or of the cosine. */
static inline vec vec_sin(vec x)
{
    mask q;
    const vec r = quarter_turns(x, &q), z = r * r;
    const vec a0 = choose_odd(q, spread(C0), spread(S0)), a1 = choose_odd(q, spread(C1), spread(S1)),
              a2 = choose_odd(q, spread(C2), spread(S2));
    const vec first = choose_odd(q, 1.0f - 0.5f * z, r), factor = choose_odd(q, z, r);
    const vec s = ((a2 * z + a1) * z + a0) * z * factor + first;
    return (vec)((mask)s ^ ((q << 30) & INT32_MIN));
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

#define REAL float
#define LANES VECTOR
#define VEC vec
#define VEC_MEMORY vec_memory
#define STRIDED strided
#define BLOCK block
#define PRODUCT product
#include "kernels_product.h"
#define REAL double
#define LANES (VECTOR / 2)
#define VEC dvec
#define VEC_MEMORY dvec_memory
#define STRIDED strided_double
#define BLOCK block_double
#define PRODUCT product_double
#include "kernels_product.h"

/* ---- sine layers ------------------------------------------------------------------------------------------------- */

static void sine_forward(size_t m, int T, int lap, size_t n, size_t ld, const float *bias, float *pre, float *post)
{
    const size_t step = m * ld; /* from one row of a jet to the next */
    for (size_t i = 0; i < m; i++)
        for (size_t u = 0; u < n; u += VECTOR) {
            float *a = pre + i * ld + u, *h = post + i * ld + u;
            vec s, c, norm2 = { 0 };
            vec_sincos(load(a) + load(bias + u), &s, &c);
            store(a, c);
            store(h, s);
            for (int t = 0; t < T; t++) {
                a += step, h += step;
                const vec a_t = load(a);
                store(h, c * a_t);
                norm2 += a_t * a_t;
            }
            if (lap)
                store(h + step, c * load(a + step) - s * norm2);
        }
}

static void sine_values(size_t m, size_t n, size_t ld, const float *bias, float *a)
{
    for (size_t i = 0; i < m; i++)
        for (size_t u = 0; u < n; u += VECTOR)
            store(a + i * ld + u, vec_sin(load(a + i * ld + u) + load(bias + u)));
}

static void sine_adjoint(size_t m, int T, int lap, size_t n, size_t ld, const float *pre, const float *post, float *bar,
                         float *bias_gradient)
{
    const size_t step = m * ld, below = (size_t)(T + 1) * step;
    for (size_t i = 0; i < m; i++)
        for (size_t u = 0; u < n; u += VECTOR) {
            const size_t at = i * ld + u;
            const vec c = load(pre + at), s = load(post + at);
            vec value = c * load(bar + at);
            if (T > 0) {
                const vec lap_bar = lap ? load(bar + below + at) : (vec){ 0 };
                vec norm2 = { 0 }, cross = { 0 };
                for (size_t k = at + step; k < below; k += step) {
                    const vec a_t = load(pre + k), h_t = load(bar + k);
                    norm2 += a_t * a_t;
                    cross += a_t * h_t;
                    store(bar + k, c * h_t - 2.0f * s * a_t * lap_bar);
                }
                if (lap) {
                    cross += load(pre + below + at) * lap_bar;
                    store(bar + below + at, c * lap_bar);
                }
                value -= s * cross + c * norm2 * lap_bar;
            }
            store(bar + at, value);
            store(bias_gradient + u, load(bias_gradient + u) + value);
        }
}

/* ---- ReLU layers: rows pass but where a <= 0, so that NaN stays -------------------------------------------------- */

static inline vec pass(vec a, vec row)
{
    return (vec)(~(mask)(a <= 0.0f) & (mask)row);
}

static void relu_forward(size_t m, int T, int lap, size_t n, size_t ld, const float *bias, float *pre, float *post)
{
    const size_t step = m * ld, size = (size_t)(1 + T + lap) * step;
    for (size_t i = 0; i < m; i++)
        for (size_t u = 0; u < n; u += VECTOR) {
            const size_t at = i * ld + u;
            const vec a = load(pre + at) + load(bias + u);
            store(post + at, pass(a, a));
            for (size_t k = at + step; k < size; k += step)
                store(post + k, pass(a, load(pre + k)));
        }
}

static void relu_values(size_t m, size_t n, size_t ld, const float *bias, float *a)
{
    for (size_t i = 0; i < m; i++)
        for (size_t u = 0; u < n; u += VECTOR) {
            const vec here = load(a + i * ld + u) + load(bias + u);
            store(a + i * ld + u, pass(here, here));
        }
}

/* h = 0 tells where a <= 0. */
static void relu_adjoint(size_t m, int T, int lap, size_t n, size_t ld, const float *pre, const float *post, float *bar,
                         float *bias_gradient)
{
    const size_t step = m * ld, size = (size_t)(1 + T + lap) * step;
    (void)pre;
    for (size_t i = 0; i < m; i++)
        for (size_t u = 0; u < n; u += VECTOR) {
            const size_t at = i * ld + u;
            const vec h = load(post + at), value = pass(h, load(bar + at));
            store(bar + at, value);
            store(bias_gradient + u, load(bias_gradient + u) + value);
            for (size_t k = at + step; k < size; k += step)
                store(bar + k, pass(h, load(bar + k)));
        }
}

/* ---- the linear output, and the skip ----------------------------------------------------------------------------- */

static float dot(size_t n, const float *a, const float *b)
{
    vec sum = { 0 };
    size_t i = 0;
    for (; i + VECTOR <= n; i += VECTOR)
        sum += load(a + i) * load(b + i);
    float rest = 0.0f;
    for (; i < n; i++)
        rest += a[i] * b[i];
    return add_up(sum) + rest;
}

/* y += a x */
static void axpy(size_t n, float a, const float *x, float *y)
{
    size_t i = 0;
    for (; i + VECTOR <= n; i += VECTOR)
        store(y + i, load(y + i) + a * load(x + i));
    for (; i < n; i++)
        y[i] += a * x[i];
}

static void output_forward(size_t rows, size_t n, size_t ld, const float *h, const float *w, float *v)
{
    for (size_t i = 0; i < rows; i++)
        v[i] += dot(n, h + i * ld, w);
}

static void output_adjoint(size_t rows, size_t n, size_t ld, const float *h, const float *w, const float *g, float *bar,
                           float *w_gradient)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t u = 0; u < n; u += VECTOR) {
            store(bar + i * ld + u, g[i] * load(w + u));
            store(w_gradient + u, load(w_gradient + u) + g[i] * load(h + i * ld + u));
        }
}

static void linear_forward(size_t rows, size_t K, strided eta, const float *c, float *v)
{
    if (eta.column == 1)
        for (size_t i = 0; i < rows; i++)
            v[i] += dot(K, eta.p + i * eta.row, c);
    else
        for (size_t k = 0; k < K; k++)
            axpy(rows, c[k], eta.p + k * eta.column, v);
}

static void linear_adjoint(size_t rows, size_t K, strided eta, const float *g, float *c_gradient)
{
    if (eta.column == 1)
        for (size_t i = 0; i < rows; i++)
            axpy(K, g[i], eta.p + i * eta.row, c_gradient);
    else
        for (size_t k = 0; k < K; k++)
            c_gradient[k] += dot(rows, eta.p + k * eta.column, g);
}

/* ---- the encoding: count is a multiple of TILE_ROWS -------------------------------------------------------------- */

static void multiply(size_t count, float factor, const float *a, const float *b, float *out)
{
    for (size_t i = 0; i < count; i += VECTOR)
        store(out + i, factor * load(a + i) * load(b + i));
}

static void scale(size_t count, float factor, const float *a, float *out)
{
    for (size_t i = 0; i < count; i += VECTOR)
        store(out + i, factor * load(a + i));
}

static void turn(size_t count, const float *c, const float *s, float sign, float *re, float *im)
{
    for (size_t i = 0; i < count; i += VECTOR) {
        const vec a = load(c + i), b = sign * load(s + i), x = load(re + i), y = load(im + i);
        store(re + i, x * a - y * b);
        store(im + i, x * b + y * a);
    }
}

/* ---- kernel sums ------------------------------------------------------------------------------------------------- */

static double cauchy_mean(int factors, const int *embedding, const int *power, const double *e, size_t centres,
                          const double *centre, double a, double b)
{
    dvec sum = { 0 };
    for (size_t c = 0; c < centres; c += VECTOR / 2) {
        const double *at = centre + c;
        dvec inverse = 1.0 - (dvec){ 0 };
        for (int d = 0, column = 0; d < factors; d++) {
            dvec cosine = { 0 };
            for (int i = 0; i < embedding[d]; i++, column++, at += centres)
                cosine += e[column] * *(const dvec_memory *)at;
            for (int t = 0; t < power[d]; t++)
                inverse *= a - b * cosine;
        }
        sum += 1.0 / inverse;
    }
    double total = 0.0;
    for (int i = 0; i < VECTOR / 2; i++)
        total += sum[i];
    return total / (double)centres;
}

/* ---- kernel estimates -------------------------------------------------------------------------------------------- */

/* exp x for -87 <= x <= 87: x = k log 2 + r, |r| <= log(2)/2, k log 2 subtracted in two parts, then the polynomial
 * of Cephes. Relative error below 3e-7; beyond the range the value at its end; NaN stays NaN. */
static inline vec vec_exp(vec x)
{
    x = clamp(x, 87.0f);
    const vec shifted = x * 1.44269504088896341f + 12582912.0f; /* 1.5 x 2^23, as in quarter_turns */
    const vec k = shifted - 12582912.0f;
    const vec r = (x - k * 0.693359375f) + k * 2.12194440e-4f, z = r * r;
    const vec p = ((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f) * r
                   + 1.6666665459e-1f)
                      * r
                  + 5.0000001201e-1f;
    return (p * z + r + 1.0f) * (vec)(((mask)shifted << 23) + (127 << 23));
}

/* In double, for -700 <= x <= 700: the Taylor series up to r^13, whose next term is below 5e-18. */
static inline dvec dvec_exp(dvec x)
{
    const dmask below = (dmask)(x < -700.0);
    x = (dvec)((below & (dmask)(-700.0 - (dvec){ 0 })) | (~below & (dmask)x));
    const dvec shifted = x * 1.44269504088896340736 + 0x1.8p52;
    const dvec k = shifted - 0x1.8p52;
    const dvec r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
    dvec p = 1.0 / 6227020800.0 - (dvec){ 0 };
    static const double INVERSE[13] = { 1.0 / 479001600.0,
                                        1.0 / 39916800.0,
                                        1.0 / 3628800.0,
                                        1.0 / 362880.0,
                                        1.0 / 40320.0,
                                        1.0 / 5040.0,
                                        1.0 / 720.0,
                                        1.0 / 120.0,
                                        1.0 / 24.0,
                                        1.0 / 6.0,
                                        0.5,
                                        1.0,
                                        1.0 };
    UNROLL
    for (int i = 0; i < 13; i++)
        p = p * r + INVERSE[i];
    return p * (dvec)(((dmask)shifted + 1023) << 52);
}

static void exp_all(size_t count, const float *x, float *y)
{
    size_t i = 0;
    for (; i + VECTOR <= count; i += VECTOR)
        store(y + i, vec_exp(load(x + i)));
    if (i < count) {
        float rest[VECTOR] = { 0 };
        memcpy(rest, x + i, (count - i) * sizeof *rest);
        const vec last = vec_exp(load(rest));
        memcpy(y + i, &last, (count - i) * sizeof *rest);
    }
}

/* Several queries share what is loaded of the centres. Inlined with constant columns and queries. */
#define SUM_QUERIES 4
static inline __attribute__((always_inline)) void sum_block(int queries, int columns, const float *query,
                                                            size_t centres, const float *centre, size_t ld,
                                                            const float *scale, const float *offset, double *sum)
{
    vec total[SUM_QUERIES];
    UNROLL
    for (int q = 0; q < queries; q++)
        total[q] = (vec){ 0 };
    for (size_t c = 0; c < centres; c += VECTOR) {
        vec z[SUM_QUERIES];
        UNROLL
        for (int q = 0; q < queries; q++)
            z[q] = (vec){ 0 };
        for (int j = 0; j < columns; j++) {
            const vec y = load(centre + (size_t)j * ld + c);
            UNROLL
            for (int q = 0; q < queries; q++) {
                const vec difference = y - query[q * columns + j];
                z[q] += difference * difference;
            }
        }
        const vec s = load(scale + c), o = load(offset + c);
        UNROLL
        for (int q = 0; q < queries; q++)
            total[q] += vec_exp(o - s * z[q]);
    }
    UNROLL
    for (int q = 0; q < queries; q++)
        sum[q] += (double)add_up(total[q]);
}

static void kernel_sums(size_t queries, int columns, const float *query, size_t centres, const float *centre, size_t ld,
                        const float *scale, const float *offset, double *sum)
{
    for (size_t q = 0; q < queries;) {
        const float *at = query + q * (size_t)columns;
        const int some = queries - q >= SUM_QUERIES ? SUM_QUERIES : 1;
#define SUM_CASE(columns_)                                                                                             \
    case columns_:                                                                                                     \
        if (some == SUM_QUERIES)                                                                                       \
            sum_block(SUM_QUERIES, columns_, at, centres, centre, ld, scale, offset, sum + q);                         \
        else                                                                                                           \
            sum_block(1, columns_, at, centres, centre, ld, scale, offset, sum + q);                                   \
        break
        switch (columns) {
            SUM_CASE(2);
            SUM_CASE(3);
            SUM_CASE(4);
            SUM_CASE(5);
            SUM_CASE(6);
            SUM_CASE(8);
        default:
            if (some == SUM_QUERIES)
                sum_block(SUM_QUERIES, columns, at, centres, centre, ld, scale, offset, sum + q);
            else
                sum_block(1, columns, at, centres, centre, ld, scale, offset, sum + q);
        }
        q += (size_t)some;
    }
}

/* exp(-r) I_0(r) times exp(*more): polynomials 9.8.1 and 9.8.2 of Abramowitz and Stegun, relative error below 5e-7. */
static inline vec vec_circle(vec r, vec *more)
{
    const vec t = 3.75f / vec_max(r, 1e-6f);
    const vec far = ((((((((0.00392377f * t - 0.01647633f) * t + 0.02635537f) * t - 0.02057706f) * t + 0.00916281f) * t
                        - 0.00157565f)
                           * t
                       + 0.00225319f)
                          * t
                      + 0.01328592f)
                         * t
                     + 0.39894228f)
                    / vec_sqrt(vec_max(r, 1e-6f));
    const mask near = (mask)(r < 3.75f);
    if (!any(near))
        return far;
    const vec u = (r * (1.0f / 3.75f)) * (r * (1.0f / 3.75f));
    const vec middle = (((((0.0045813f * u + 0.0360768f) * u + 0.2659732f) * u + 1.2067492f) * u + 3.0899424f) * u
                        + 3.5156229f)
                           * u
                       + 1.0f;
    *more -= (vec)(near & (mask)r);
    return (vec)((near & (mask)middle) | (~near & (mask)far));
}

/* (1 - exp(-2 r)) / r; below 1/4 its Taylor series, where the difference would lose digits. */
static inline vec vec_sphere(vec r)
{
    const vec safe = vec_max(r, 1e-6f);
    if (!any((mask)(r < 9.0f)))
        return 1.0f / safe;
    const vec t = -2.0f * r, far = (1.0f - vec_exp(t)) / safe;
    const vec near =
        ((((((t * (1.0f / 5040.0f) + 1.0f / 720.0f) * t + 1.0f / 120.0f) * t + 1.0f / 24.0f) * t + 1.0f / 6.0f) * t
          + 0.5f)
             * t
         + 1.0f)
        * 2.0f;
    const mask small = (mask)(r < 0.25f);
    return (vec)((small & (mask)near) | (~small & (mask)far));
}

static inline __attribute__((always_inline)) void pairs_block(
    int factors, const int *embedding, int same, float least, const float *twice, const float *gain, const float *query,
    size_t centres, const float *centre, size_t ld, const float *offset, double *kernel,
    double *overlap) /* same: the embedding of all factors, 0 when they differ */
{
    vec kernels_total = { 0 }, overlaps_total = { 0 };
    for (size_t c = 0; c < centres; c += VECTOR) {
        vec z[16], sum = { 0 };
        const float *y = centre + c, *x = query;
        const vec o = load(offset + c);
        for (int d = 0; d < factors; d++) {
            const int columns = same ? same : embedding[d];
            z[d] = (vec){ 0 };
            for (int j = 0; j < columns; j++, x++, y += ld) {
                const vec difference = load(y) - *x;
                z[d] += difference * difference;
            }
            sum += z[d];
        }
        if (!any((mask)(o - 0.5f * sum > least)))
            continue;
        vec exponent = o, product = spread(1.0f);
        for (int d = 0; d < factors; d++) {
            const vec root = vec_sqrt(vec_max(1.0f - z[d] / twice[d], 0.0f)), r = twice[d] * root;
            exponent -= z[d] / (1.0f + root);
            product *= gain[d] * ((same ? same : embedding[d]) == 2 ? vec_circle(r, &exponent) : vec_sphere(r));
        }
        kernels_total += vec_exp(o - sum);
        overlaps_total += product * vec_exp(exponent);
    }
    *kernel += (double)add_up(kernels_total);
    *overlap += (double)add_up(overlaps_total);
}

static void kernel_pairs(int factors, const int *embedding, float least, const float *twice, const float *gain,
                         const float *query, size_t centres, const float *centre, size_t ld, const float *offset,
                         double *kernel, double *overlap)
{
    int same = embedding[0];
    for (int d = 1; d < factors; d++)
        same = embedding[d] == same ? same : 0;
#define PAIRS(factors_, same_)                                                                                         \
    pairs_block(factors_, embedding, same_, least, twice, gain, query, centres, centre, ld, offset, kernel, overlap)
    if (same == 2 && factors == 2)
        PAIRS(2, 2);
    else if (same == 2 && factors == 3)
        PAIRS(3, 2);
    else if (same == 2 && factors == 4)
        PAIRS(4, 2);
    else if (same == 3 && factors == 1)
        PAIRS(1, 3);
    else if (same == 3 && factors == 2)
        PAIRS(2, 3);
    else
        PAIRS(factors, 0);
}

static double kernel_log_sum(int columns, const double *query, size_t centres, const double *centre, size_t ld,
                             const double *scale, const double *offset, size_t skip)
{
    double exponent[KERNEL_BLOCK], top = -INFINITY, total = 0.0;
    for (size_t first = 0; first < centres; first += KERNEL_BLOCK) {
        const size_t count = centres - first < KERNEL_BLOCK ? centres - first : KERNEL_BLOCK;
        double highest = -INFINITY;
        for (size_t c = 0; c < count; c += VECTOR / 2) {
            const double *y = centre + first + c;
            dvec z = { 0 };
            for (int j = 0; j < columns; j++, y += ld) {
                const dvec difference = *(const dvec_memory *)y - query[j];
                z += difference * difference;
            }
            *(dvec_memory *)(exponent + c) = *(const dvec_memory *)(offset + first + c)
                                             - *(const dvec_memory *)(scale + first + c) * z;
        }
        if (first <= skip && skip - first < count)
            exponent[skip - first] = -INFINITY;
        for (size_t c = 0; c < count; c++)
            highest = exponent[c] > highest ? exponent[c] : highest;
        if (highest == -INFINITY)
            continue;
        if (highest > top) {
            total = top == -INFINITY ? 0.0 : total * exp(top - highest);
            top = highest;
        }
        dvec sum = { 0 };
        for (size_t c = 0; c < count; c += VECTOR / 2)
            sum += dvec_exp(*(const dvec_memory *)(exponent + c) - top);
        for (int i = 0; i < VECTOR / 2; i++)
            total += sum[i];
    }
    return top == -INFINITY ? top : top + log(total);
}

static void box_distances(int columns, const float *query, size_t boxes, const float *low, const float *high, size_t ld,
                          float *out)
{
    for (size_t b = 0; b < boxes; b += VECTOR) {
        vec z = { 0 };
        for (int j = 0; j < columns; j++) {
            const size_t at = (size_t)j * ld + b;
            const vec below = vec_max(load(low + at) - query[j], 0.0f),
                      above = vec_max(query[j] - load(high + at), 0.0f);
            z += below * below + above * above;
        }
        store(out + b, z);
    }
}

static void squared_distances(int columns, const float *query, size_t centres, const float *centre, size_t ld,
                              float *out)
{
    for (size_t c = 0; c < centres; c += VECTOR) {
        vec z = { 0 };
        for (int j = 0; j < columns; j++) {
            const vec difference = load(centre + (size_t)j * ld + c) - query[j];
            z += difference * difference;
        }
        store(out + c, z);
    }
}

static void sincos_all(size_t count, const float *x, float *s, float *c)
{
    vec sine, cosine;
    size_t i = 0;
    for (; i + VECTOR <= count; i += VECTOR) {
        vec_sincos(load(x + i), &sine, &cosine);
        store(s + i, sine);
        store(c + i, cosine);
    }
    if (i < count) {
        float rest[VECTOR] = { 0 };
        memcpy(rest, x + i, (count - i) * sizeof *rest);
        vec_sincos(load(rest), &sine, &cosine);
        memcpy(s + i, &sine, (count - i) * sizeof *rest);
        memcpy(c + i, &cosine, (count - i) * sizeof *rest);
    }
}

extern const kernels JOIN(kernels_, KERNELS);
const kernels JOIN(kernels_, KERNELS) = {
    .name = TEXT(KERNELS),
    .product = product,
    .product_double = product_double,
    .sine = { .forward = sine_forward, .values = sine_values, .adjoint = sine_adjoint },
    .relu = { .forward = relu_forward, .values = relu_values, .adjoint = relu_adjoint },
    .output_forward = output_forward,
    .output_adjoint = output_adjoint,
    .linear_forward = linear_forward,
    .linear_adjoint = linear_adjoint,
    .multiply = multiply,
    .scale = scale,
    .turn = turn,
    .cauchy_mean = cauchy_mean,
    .kernel_sums = kernel_sums,
    .kernel_pairs = kernel_pairs,
    .kernel_log_sum = kernel_log_sum,
    .box_distances = box_distances,
    .squared_distances = squared_distances,
    .sincos = sincos_all,
    .exp = exp_all,
};
