/* test_kernels.c - every compilation of the inner loops that this machine can run, against plain loops in
 * double.
 *
 * u = 2^-24 is half the distance of float32 numbers near 1. A sum of k products computed in any order, with
 * or without fused multiply-add, differs from the exact one by at most g(k + 1) sum |a b|, g(k) = k u / (1
 * - k u) (Higham 2002, section 3.1); the tolerances below are that bound with the number of roundings
 * written out. */
#include "check.h"
#include "kernels.h"

#include <stdbool.h>

#define U 0x1p-24
/* Absolute error of sine and cosine for |x| <= 8192; derived at sincos_is_accurate. */
#define SINCOS_ERROR 1e-7

static const char *const VARIANTS[] = { "avx512", "avx2", "plain" };
enum { VARIANT_COUNT = 3 };

static double rounding(double k)
{
    return k * U / (1.0 - k * U);
}

static float *floats(size_t n)
{
    float *p = calloc(n + 1, sizeof *p);
    assert_non_null(p);
    return p;
}

static float *random_floats(size_t n, double size, uint64_t *seed)
{
    float *p = floats(n);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(size * (2.0 * test_uniform(seed) - 1.0));
    return p;
}

/* The largest of found / bound; NaN becomes infinity. */
static void keep_worst(double *worst, double found, double expected, double bound)
{
    const double ratio = fabs(found - expected) / bound;
    if (!(ratio <= *worst))
        *worst = isnan(ratio) ? (bound == 0.0 && found == expected ? *worst : INFINITY) : ratio;
}

static void report(const kernels *k, const char *what, double worst)
{
    char text[96];
    snprintf(text, sizeof text, "%s %s: error / bound", k->name, what);
    check_below(text, worst, 1.0);
}

static void the_best_variant_is_there(void **state)
{
    (void)state;
    assert_non_null(kernels_select("plain"));
    assert_non_null(kernels_select(NULL));
    assert_null(kernels_select("none such"));
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *k = kernels_select(VARIANTS[v]);
        print_message("    %s: %s\n", VARIANTS[v], k == NULL ? "not on this machine" : "present");
        if (k != NULL)
            assert_string_equal(k->name, VARIANTS[v]);
    }
}

/* ---- products ------------------------------------------------------------------------------------------ */

static void product_case(const kernels *kern, size_t m, size_t n, size_t k, bool by_rows, int add,
                         double *worst)
{
    enum { PAD = 16 };
    const float untouched = 123.5f;
    const size_t ldb = n + PAD, ldc = n + PAD, lda = (by_rows ? k : m) + 3;
    uint64_t seed = 1000 * m + 100 * n + k;
    float *a = random_floats((by_rows ? m : k) * lda, 1.0, &seed), *b = random_floats(k * ldb, 1.0, &seed);
    float *c = random_floats(m * ldc, 1.0, &seed), *before = floats(m * ldc);
    const strided A = { a, by_rows ? lda : 1, by_rows ? 1 : lda };
    for (size_t i = 0; i < m; i++)
        for (size_t j = n; j < ldc; j++)
            c[i * ldc + j] = untouched;
    memcpy(before, c, m * ldc * sizeof *c);
    kern->product(m, n, k, A, b, ldb, c, ldc, add);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = add ? before[i * ldc + j] : 0.0, size = fabs(sum);
            for (size_t p = 0; p < k; p++) {
                const double t = (double)a[i * A.row + p * A.column] * (double)b[p * ldb + j];
                sum += t;
                size += fabs(t);
            }
            /* k products, k - 1 sums, one more sum with add */
            keep_worst(worst, c[i * ldc + j], sum, rounding((double)k + 2.0) * size);
        }
        for (size_t j = n; j < ldc; j++)
            assert_true(c[i * ldc + j] == untouched);
    }
    free(a);
    free(b);
    free(c);
    free(before);
}

/* The same bound with u = 2^-53; the reference sums in long double. */
static void product_double_case(const kernels *kern, size_t m, size_t n, size_t k, bool by_rows, int add,
                                double *worst)
{
    enum { PAD = 8 };
    const double untouched = 123.5;
    const size_t ldb = n + PAD, ldc = n + PAD, lda = (by_rows ? k : m) + 3;
    uint64_t seed = 1000 * m + 100 * n + k;
    double *a = doubles((by_rows ? m : k) * lda), *b = doubles(k * ldb), *c = doubles(m * ldc),
           *before = doubles(m * ldc);
    const strided_double A = { a, by_rows ? lda : 1, by_rows ? 1 : lda };
    for (size_t i = 0; i < (by_rows ? m : k) * lda; i++)
        a[i] = 2.0 * test_uniform(&seed) - 1.0;
    for (size_t i = 0; i < k * ldb; i++)
        b[i] = 2.0 * test_uniform(&seed) - 1.0;
    for (size_t i = 0; i < m * ldc; i++)
        before[i] = c[i] = i % ldc < n ? 2.0 * test_uniform(&seed) - 1.0 : untouched;
    kern->product_double(m, n, k, A, b, ldb, c, ldc, add);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            long double sum = add ? before[i * ldc + j] : 0.0, size = fabsl(sum);
            for (size_t p = 0; p < k; p++) {
                const long double t = (long double)a[i * A.row + p * A.column] * (long double)b[p * ldb + j];
                sum += t;
                size += fabsl(t);
            }
            keep_worst(worst, (double)((long double)c[i * ldc + j] - sum), 0.0,
                       ((double)k + 2.0) * 0x1p-53 * (double)size);
        }
        for (size_t j = n; j < ldc; j++)
            assert_true(c[i * ldc + j] == untouched);
    }
    free(a);
    free(b);
    free(c);
    free(before);
}

static void products(void **state)
{
    (void)state;
    static const size_t M[] = { 8, 16, 24, 80 }, N[] = { 16, 32, 48, 64, 80, 112 }, K[] = { 1, 3, 17, 130 };
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        double worst = 0.0, worst_double = 0.0;
        if (kern == NULL)
            continue;
        for (size_t i = 0; i < sizeof M / sizeof *M; i++)
            for (size_t j = 0; j < sizeof N / sizeof *N; j++)
                for (size_t p = 0; p < sizeof K / sizeof *K; p++)
                    for (int way = 0; way < 4; way++) {
                        product_case(kern, M[i], N[j], K[p], way % 2 != 0, way / 2, &worst);
                        product_double_case(kern, M[i], N[j], K[p], way % 2 != 0, way / 2, &worst_double);
                    }
        report(kern, "product", worst);
        report(kern, "product in double", worst_double);
    }
}

/* ---- sine layers --------------------------------------------------------------------------------------- */

enum { POINTS = 16, UNITS = 48, LD = 64 };

static void sine_case(const kernels *kern, int T, int lap, double *forward, double *adjoint)
{
    const size_t rows = (size_t)(1 + T + lap), step = (size_t)POINTS * LD, size = rows * step;
    uint64_t seed = (uint64_t)(10 * T + lap + 5);
    float *a = random_floats(size, 6.0, &seed), *pre = floats(size), *post = floats(size);
    float *bar = random_floats(size, 1.0, &seed), *bar_before = floats(size);
    float *bias = random_floats(UNITS, 1.0, &seed), *gradient = random_floats(UNITS, 1.0, &seed);
    float gradient_before[UNITS];
    double sum[UNITS], sum_size[UNITS];
    memcpy(pre, a, size * sizeof *a);
    memcpy(bar_before, bar, size * sizeof *a);
    memcpy(gradient_before, gradient, sizeof gradient_before);
    kern->sine_forward(POINTS, T, lap, UNITS, LD, bias, pre, post);
    for (size_t i = 0; i < POINTS; i++)
        for (size_t j = 0; j < UNITS; j++) {
            const size_t at = i * LD + j, below = at + (size_t)(T + 1) * step;
            const double x = (double)a[at] + (double)bias[j];
            double norm2 = 0.0;
            /* the argument is rounded once: u |x|, and the functions have slope at most 1 */
            const double trig = SINCOS_ERROR + U * fabs(x);
            keep_worst(forward, post[at], sin(x), trig);
            keep_worst(forward, pre[at], cos(x), trig);
            for (int t = 1; t <= T; t++) {
                const size_t k = at + (size_t)t * step;
                const double a_t = a[k];
                norm2 += a_t * a_t;
                keep_worst(forward, post[k], cos(x) * a_t, fabs(a_t) * (trig + rounding(1)) + 1e-30);
                assert_true(pre[k] == a[k]);
            }
            if (lap) { /* norm2: T products and sums; two products, one difference */
                const double size_of = fabs((double)a[below]) + norm2;
                keep_worst(forward, post[below], cos(x) * a[below] - sin(x) * norm2,
                           size_of * (trig + rounding(T + 3)));
                assert_true(pre[below] == a[below]);
            }
        }
    if (T == 0) { /* values alone: the same bound */
        float *values = floats(size);
        memcpy(values, a, size * sizeof *a);
        kern->sine_values(POINTS, UNITS, LD, bias, values);
        for (size_t i = 0; i < POINTS; i++)
            for (size_t j = 0; j < UNITS; j++) {
                const double x = (double)a[i * LD + j] + (double)bias[j];
                keep_worst(forward, values[i * LD + j], sin(x), SINCOS_ERROR + U * fabs(x));
            }
        free(values);
    }
    kern->sine_adjoint(POINTS, T, lap, UNITS, LD, pre, post, bar, gradient);
    for (size_t j = 0; j < UNITS; j++)
        sum[j] = gradient_before[j], sum_size[j] = fabs(sum[j]);
    for (size_t i = 0; i < POINTS; i++)
        for (size_t j = 0; j < UNITS; j++) {
            /* the adjoint of what the forward pass stored: its numbers are exact here. h = sin a, h_t = c
             * a_t, h_lap = c a_lap - s sum a_t^2 */
            const size_t at = i * LD + j, below = at + (size_t)(T + 1) * step;
            const double c = pre[at], s = post[at], l = lap ? (double)bar_before[below] : 0.0;
            double value = c * bar_before[at], value_size = fabs(value), norm2 = 0.0;
            for (int t = 1; t <= T; t++) {
                const size_t k = at + (size_t)t * step;
                const double a_t = pre[k], h_t = bar_before[k];
                norm2 += a_t * a_t;
                value -= s * a_t * h_t;
                value_size += fabs(s * a_t * h_t);
                /* at most 3 products after another and one difference */
                keep_worst(adjoint, bar[k], c * h_t - 2.0 * s * a_t * l,
                           rounding(4) * (fabs(c * h_t) + 2.0 * fabs(s * a_t * l)));
            }
            if (lap) {
                value -= s * pre[below] * l + c * norm2 * l;
                value_size += fabs(s * pre[below] * l) + fabs(c * norm2 * l);
                keep_worst(adjoint, bar[below], c * l, rounding(1) * fabs(c * l));
            }
            /* cross and norm2: T + 1 sums of products; two or three products and two differences on top */
            keep_worst(adjoint, bar[at], value, rounding(T + 7) * value_size);
            sum[j] += value;
            sum_size[j] += value_size;
        }
    for (size_t j = 0; j < UNITS; j++)
        keep_worst(adjoint, gradient[j], sum[j], rounding(POINTS + T + 7) * sum_size[j]);
    free(a);
    free(pre);
    free(post);
    free(bar);
    free(bar_before);
    free(bias);
    free(gradient);
}

static void sine_layers(void **state)
{
    (void)state;
    static const int SHAPE[][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 4, 0 }, { 4, 1 } };
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        double forward = 0.0, adjoint = 0.0;
        if (kern == NULL)
            continue;
        for (size_t i = 0; i < sizeof SHAPE / sizeof *SHAPE; i++)
            sine_case(kern, SHAPE[i][0], SHAPE[i][1], &forward, &adjoint);
        report(kern, "sine_forward", forward);
        report(kern, "sine_adjoint", adjoint);
    }
}

/* ---- the linear output and the skip -------------------------------------------------------------------- */

static void output_case(const kernels *kern, size_t rows, size_t n, double *worst)
{
    const size_t ld = n + 16;
    uint64_t seed = rows + n;
    float *h = random_floats(rows * ld, 1.0, &seed), *w = random_floats(n, 1.0, &seed);
    float *v = random_floats(rows, 1.0, &seed), *v0 = floats(rows), *bar = floats(rows * ld);
    float *g = random_floats(rows, 1.0, &seed), *dw = random_floats(n, 1.0, &seed), *dw0 = floats(n);
    memcpy(v0, v, rows * sizeof *v);
    memcpy(dw0, dw, n * sizeof *dw);
    kern->output_forward(rows, n, ld, h, w, v);
    kern->output_adjoint(rows, n, ld, h, w, g, bar, dw);
    for (size_t i = 0; i < rows; i++) {
        double sum = v0[i], size = fabs(sum);
        for (size_t j = 0; j < n; j++) {
            const double t = (double)h[i * ld + j] * w[j];
            sum += t;
            size += fabs(t);
            keep_worst(worst, bar[i * ld + j], (double)g[i] * w[j], rounding(1) * fabs((double)g[i] * w[j]));
        }
        keep_worst(worst, v[i], sum, rounding((double)n + 2.0) * size);
    }
    for (size_t j = 0; j < n; j++) {
        double sum = dw0[j], size = fabs(sum);
        for (size_t i = 0; i < rows; i++) {
            sum += (double)g[i] * h[i * ld + j];
            size += fabs((double)g[i] * h[i * ld + j]);
        }
        keep_worst(worst, dw[j], sum, rounding((double)rows + 2.0) * size);
    }
    free(h);
    free(w);
    free(v);
    free(v0);
    free(bar);
    free(g);
    free(dw);
    free(dw0);
}

static void linear_case(const kernels *kern, size_t rows, size_t K, bool by_rows, double *worst)
{
    const size_t ld = (by_rows ? K : rows) + 5;
    uint64_t seed = 7 * rows + K;
    float *p = random_floats((by_rows ? rows : K) * ld, 1.0, &seed);
    float *c = random_floats(K, 1.0, &seed), *g = random_floats(rows, 1.0, &seed);
    float *v = random_floats(rows, 1.0, &seed), *v0 = floats(rows);
    float *dc = random_floats(K, 1.0, &seed), *dc0 = floats(K);
    const strided eta = { p, by_rows ? ld : 1, by_rows ? 1 : ld };
    memcpy(v0, v, rows * sizeof *v);
    memcpy(dc0, dc, K * sizeof *dc);
    kern->linear_forward(rows, K, eta, c, v);
    kern->linear_adjoint(rows, K, eta, g, dc);
    for (size_t i = 0; i < rows; i++) {
        double sum = v0[i], size = fabs(sum);
        for (size_t k = 0; k < K; k++) {
            sum += (double)c[k] * p[i * eta.row + k * eta.column];
            size += fabs((double)c[k] * p[i * eta.row + k * eta.column]);
        }
        keep_worst(worst, v[i], sum, rounding((double)K + 2.0) * size);
    }
    for (size_t k = 0; k < K; k++) {
        double sum = dc0[k], size = fabs(sum);
        for (size_t i = 0; i < rows; i++) {
            sum += (double)g[i] * p[i * eta.row + k * eta.column];
            size += fabs((double)g[i] * p[i * eta.row + k * eta.column]);
        }
        keep_worst(worst, dc[k], sum, rounding((double)rows + 2.0) * size);
    }
    free(p);
    free(c);
    free(g);
    free(v);
    free(v0);
    free(dc);
    free(dc0);
}

static void outputs(void **state)
{
    (void)state;
    static const size_t ROWS[] = { 1, 16, 37, 96 }, K[] = { 1, 3, 17, 130 }, N[] = { 16, 48, 128 };
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        double output = 0.0, linear = 0.0;
        if (kern == NULL)
            continue;
        for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
            for (size_t j = 0; j < sizeof N / sizeof *N; j++)
                output_case(kern, ROWS[i], N[j], &output);
            for (size_t j = 0; j < sizeof K / sizeof *K; j++)
                for (int way = 0; way < 2; way++)
                    linear_case(kern, ROWS[i], K[j], way != 0, &linear);
        }
        report(kern, "output", output);
        report(kern, "linear", linear);
    }
}

/* ---- elementwise, and kernel sums ---------------------------------------------------------------------- */

static void elementwise(void **state)
{
    (void)state;
    enum { COUNT = 208 };
    uint64_t seed = 3;
    float *a = random_floats(COUNT, 2.0, &seed), *b = random_floats(COUNT, 2.0, &seed), *out = floats(COUNT);
    float *re = random_floats(COUNT, 1.0, &seed), *im = random_floats(COUNT, 1.0, &seed);
    float *x = floats(COUNT), *y = floats(COUNT);
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        double worst = 0.0;
        if (kern == NULL)
            continue;
        kern->multiply(COUNT, 0.5f, a, b, out); /* one rounding, the same everywhere */
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == (float)(0.5 * (double)a[i] * b[i]));
        kern->scale(COUNT, 0.7f, a, out);
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == (float)((double)0.7f * a[i]));
        for (int sign = -1; sign <= 1; sign += 2) {
            memcpy(x, re, COUNT * sizeof *x);
            memcpy(y, im, COUNT * sizeof *y);
            kern->turn(COUNT, a, b, (float)sign, x, y);
            for (int i = 0; i < COUNT; i++) { /* two products, one sum */
                const double c = a[i], s = sign * (double)b[i];
                keep_worst(&worst, x[i], re[i] * c - im[i] * s,
                           rounding(2) * (fabs(re[i] * c) + fabs(im[i] * s)));
                keep_worst(&worst, y[i], re[i] * s + im[i] * c,
                           rounding(2) * (fabs(re[i] * s) + fabs(im[i] * c)));
            }
        }
        report(kern, "turn", worst);
    }
    free(a);
    free(b);
    free(out);
    free(re);
    free(im);
    free(x);
    free(y);
}

/* S2 x S1 x S2, as the proposal uses it. a - b cos is at least a - b, and carries an error of at most
 * (columns + 3) half-distances (2^-53) of a + b; there are P = 5 such factors in a product, one division,
 * `centres` sums. */
static void kernel_sums(void **state)
{
    (void)state;
    enum { FACTORS = 3, COLUMNS = 8, CENTRES = 40 };
    static const int embedding[FACTORS] = { 3, 2, 3 }, power[FACTORS] = { 2, 1, 2 };
    static const double RHO[] = { 0.0, 0.4, 0.9, 0.98 };
    double *centre = doubles(COLUMNS * CENTRES), e[COLUMNS];
    uint64_t seed = 9;
    for (int c = -1; c < CENTRES; c++) {
        double at[COLUMNS];
        const double angle = 2.0 * (double)CHECK_PI * test_uniform(&seed);
        test_unit_vector(&seed, at);
        at[3] = cos(angle), at[4] = sin(angle);
        test_unit_vector(&seed, at + 5);
        for (int i = 0; i < COLUMNS; i++)
            *(c < 0 ? &e[i] : &centre[i * CENTRES + c]) = at[i];
    }
    for (int i = 0; i < COLUMNS; i++)
        centre[i * CENTRES + 7] = e[i]; /* one stands on the point */
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        double worst = 0.0;
        if (kern == NULL)
            continue;
        for (size_t r = 0; r < sizeof RHO / sizeof *RHO; r++) {
            const double rho = RHO[r], a = (1.0 + rho * rho) / (1.0 - rho * rho),
                         b = 2.0 * rho / (1.0 - rho * rho);
            double sum = 0.0;
            for (int c = 0; c < CENTRES; c++) {
                double product = 1.0;
                for (int d = 0, column = 0; d < FACTORS; d++) {
                    double cosine = 0.0;
                    for (int i = 0; i < embedding[d]; i++, column++)
                        cosine += e[column] * centre[column * CENTRES + c];
                    product *= pow(a - b * cosine, -power[d]);
                }
                sum += product / CENTRES;
            }
            const double bound = 0x1p-53 * (5.0 * 6.0 * (a + b) / (a - b) + CENTRES + 8.0);
            keep_worst(&worst, kern->cauchy_mean(FACTORS, embedding, power, e, CENTRES, centre, a, b) / sum,
                       1.0, 2.0 * bound); /* the loop above errs as much */
        }
        report(kern, "cauchy_mean", worst);
    }
    free(centre);
}

/* ---- kernel estimates ---------------------------------------------------------------------------------- */

/* Cephes: below 2 ulp of float32 within -87 .. 87, 2.4e-7; the polynomial and its scaling round five times. */
#define EXP_ERROR 3e-7

static void exponentials(void **state)
{
    (void)state;
    enum { COUNT = 1000003 };
    float *x = floats(COUNT), *y = floats(COUNT);
    uint64_t seed = 77;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((i % 2 ? 87.0 : 2.0) * (2.0 * test_uniform(&seed) - 1.0));
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        double worst = 0.0;
        char text[64];
        if (kern == NULL)
            continue;
        kern->exp(COUNT, x, y);
        for (int i = 0; i < COUNT; i++)
            worst = fmax(worst, fabs((double)y[i] / exp((double)x[i]) - 1.0));
        snprintf(text, sizeof text, "%s exp, relative, %d points in |x| <= 87", kern->name, COUNT);
        check_below(text, worst, EXP_ERROR);
        const float far[5] = { -1e30f, -88.0f, 100.0f, 0.0f, NAN };
        kern->exp(5, far, y);
        assert_true(y[0] > 0.0f && y[0] < 2e-38f && y[1] == y[0]);
        assert_true(y[2] > 6e37f && isfinite(y[2]) && y[3] == 1.0f && isnan(y[4]));
    }
    free(x);
    free(y);
}

/* Exponents z are sums of `columns` squares, each rounded thrice, and s z + o twice: rounding(columns + 5) of their
 * size, which shows as many times in exp. In double there is next to nothing. The integrals err by the polynomials of
 * Abramowitz and Stegun (5e-7), by a root, two divisions and a product a factor, on arguments r below 80. */
static void kernel_estimates(void **state)
{
    (void)state;
    enum { CENTRES = 512, QUERIES = 7, FACTORS = 3, COLUMNS = 8 };
    static const int embedding[FACTORS] = { 3, 2, 3 };
    static const float KAPPA[] = { 0.05f, 1.0f, 8.0f, 40.0f };
    float *centre = floats(COLUMNS * CENTRES), *scale = floats(CENTRES), *offset = floats(CENTRES),
          *query = floats(QUERIES * COLUMNS), *z = floats(CENTRES);
    double *centre_wide = doubles(COLUMNS * CENTRES), *scale_wide = doubles(CENTRES),
           *offset_wide = doubles(CENTRES), *query_wide = doubles(QUERIES * COLUMNS);
    for (size_t k = 0; k < sizeof KAPPA / sizeof *KAPPA; k++) {
        uint64_t seed = 5 + k;
        for (int c = 0; c < CENTRES + QUERIES; c++) {
            double at[COLUMNS];
            const double angle = 2.0 * (double)CHECK_PI * test_uniform(&seed);
            test_unit_vector(&seed, at);
            at[3] = cos(angle), at[4] = sin(angle);
            test_unit_vector(&seed, at + 5);
            for (int j = 0; j < COLUMNS; j++) {
                const float x = (float)(sqrt(0.5 * (double)KAPPA[k]) * at[j]);
                if (c < CENTRES)
                    centre_wide[j * CENTRES + c] = (double)(centre[j * CENTRES + c] = x);
                else
                    query_wide[(c - CENTRES) * COLUMNS + j] =
                        (double)(query[(c - CENTRES) * COLUMNS + j] = x);
            }
            if (c < CENTRES) {
                scale_wide[c] = (double)(scale[c] = (float)(0.5 + test_uniform(&seed)));
                offset_wide[c] = (double)(offset[c] = (float)(-3.0 * test_uniform(&seed)));
            }
        }
        for (int v = 0; v < VARIANT_COUNT; v++) {
            const kernels *kern = kernels_select(VARIANTS[v]);
            double sum[QUERIES] = { 0 }, sums = 0.0, logs = 0.0, pairs = 0.0, distances = 0.0;
            const double kappa = (double)KAPPA[k];
            float twice[FACTORS], gain[FACTORS];
            if (kern == NULL)
                continue;
            for (int d = 0; d < FACTORS; d++) {
                twice[d] = 2.0f * KAPPA[k];
                gain[d] = 1.5f;
            }
            kern->kernel_sums(QUERIES, COLUMNS, query, CENTRES, centre, CENTRES, scale, offset, sum);
            for (int q = 0; q < QUERIES; q++) {
                double exact = 0.0, without = 0.0, size = 0.0, one[2] = { 0 }, expected[2] = { 0 };
                kern->squared_distances(COLUMNS, query + q * COLUMNS, CENTRES, centre, CENTRES, z);
                for (int c = 0; c < CENTRES; c++) {
                    double all = 0.0, square = offset_wide[c], product = 1.0;
                    for (int d = 0, column = 0; d < FACTORS; d++) {
                        double far = 0.0;
                        for (int j = 0; j < embedding[d]; j++, column++)
                            far += pow(query_wide[q * COLUMNS + column] - centre_wide[column * CENTRES + c],
                                       2.0);
                        const double s = sqrt(fmax(0.0, 1.0 - far / (2.0 * kappa))), r = 2.0 * kappa * s;
                        double i0 = 0.0, term = 1.0; /* exp(-r) I_0(r) as the mean of exp(r (cos t - 1)) */
                        for (int t = 0; t < 256 && embedding[d] == 2; t++)
                            i0 += exp(r * (cos(2.0 * (double)CHECK_PI * t / 256.0) - 1.0)) / 256.0;
                        term = embedding[d] == 2 ? i0 : r > 0.0 ? -expm1(-2.0 * r) / r : 2.0;
                        all += far;
                        square -= far / (1.0 + s);
                        product *= 1.5 * term;
                    }
                    const double value = exp(offset_wide[c] - scale_wide[c] * all);
                    exact += value;
                    without += c == 100 ? 0.0 : value;
                    size += value
                            * (rounding(COLUMNS + 5) * (scale_wide[c] * all + fabs(offset_wide[c]))
                               + EXP_ERROR);
                    expected[0] += exp(offset_wide[c] - all);
                    expected[1] += product * exp(square);
                    keep_worst(&distances, (double)z[c], all, rounding(COLUMNS + 3) * all + 1e-30);
                }
                keep_worst(&sums, sum[q], exact, size + rounding(CENTRES / 4 + 8) * exact);
                const double found = kern->kernel_log_sum(COLUMNS, query_wide + q * COLUMNS, CENTRES,
                                                          centre_wide, CENTRES, scale_wide, offset_wide, 100);
                keep_worst(&logs, found, log(without), 1e-13);
                kern->kernel_pairs(FACTORS, embedding, -1e9f, twice, gain, query + q * COLUMNS, CENTRES,
                                   centre, CENTRES, offset, &one[0], &one[1]);
                /* exponents up to 6 kappa and 3, where they still count up to 30 */
                const double bound = rounding(CENTRES / 4 + 8) + EXP_ERROR
                                     + rounding(COLUMNS + 8) * fmin(6.0 * kappa + 3.0, 30.0);
                keep_worst(&pairs, one[0], expected[0], bound * expected[0]);
                keep_worst(&pairs, one[1], expected[1],
                           (bound + FACTORS * (5e-7 + rounding(8))) * expected[1]);
            }
            report(kern, "kernel_sums", sums);
            report(kern, "kernel_log_sum", logs);
            report(kern, "kernel_pairs", pairs);
            report(kern, "squared_distances", distances);
        }
    }
    free(centre);
    free(scale);
    free(offset);
    free(query);
    free(z);
    free(centre_wide);
    free(scale_wide);
    free(offset_wide);
    free(query_wide);
}

/* A box of two columns: inside, beside, and at a corner. */
static void boxes(void **state)
{
    (void)state;
    enum { BOXES = 16 };
    float low[2 * BOXES], high[2 * BOXES], z[BOXES];
    for (int b = 0; b < BOXES; b++) {
        low[b] = (float)b, high[b] = (float)b + 0.5f;
        low[BOXES + b] = -1.0f, high[BOXES + b] = 1.0f;
    }
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        if (kern == NULL)
            continue;
        kern->box_distances(2, (const float[]){ 2.25f, 3.0f }, BOXES, low, high, BOXES, z);
        assert_true(z[2] == 4.0f && z[0] == 4.0f + 1.75f * 1.75f && z[4] == 4.0f + 1.75f * 1.75f);
        kern->box_distances(2, (const float[]){ 2.25f, 0.5f }, BOXES, low, high, BOXES, z);
        assert_true(z[2] == 0.0f && z[3] == 0.75f * 0.75f);
    }
}

/* ---- sine and cosine ----------------------------------------------------------------------------------- */

typedef struct sincos_error {
    double absolute;
    double
        ulp; /* in distances of float32 numbers, where |expected| >= 1/2; near a zero only the other counts */
} sincos_error;

static void sincos_judge(sincos_error *worst, float found, double expected)
{
    const double error = fabs((double)found - expected);
    if (!(error <= worst->absolute))
        worst->absolute = isnan(error) ? INFINITY : error;
    if (fabs(expected) >= 0.5 && !(error * 0x1p24 <= worst->ulp))
        worst->ulp = isnan(error) ? INFINITY : error * 0x1p24;
}

/* The bound 1e-7. x = q pi/2 + r: k has at most 13 bits for |x| <= 8192, the first two parts of pi/2 have 8
 * and 11, so their products with k and the differences are exact with or without FMA (multiples of 2^-23
 * below 4); the third difference rounds r, |r| < 0.8, by 2^-25 = 3.0e-8; the parts miss pi/2 by 2e-15,
 * times k <= 5216. Sine: 3.0e-8 from r, 3.0e-8 from the last sum, five roundings of the cubic term, which
 * is below 0.085: 5 x 6.0e-8 x 0.085 = 2.5e-8; together 8.5e-8. Cosine: r by |sin r| <= 0.71: 2.1e-8; z =
 * r^2 < 0.62, halved: 1.5e-8; the sum with -z/2 in (1/4, 1/2): 1.5e-8; the last sum, in (1/2, 1): 3.0e-8;
 * five roundings of the quartic term, below 0.016: 0.5e-8; together 8.6e-8. The polynomials themselves err
 * by less than 1e-8 (Cephes). So 1e-7 holds for the plain variant too. */
static void sincos_is_accurate(void **state)
{
    (void)state;
    enum { CHUNK = 65536, CHUNKS = 10000000 / CHUNK + 1, NEAR = 16 };
    float *x = floats(CHUNK), *s = floats(CHUNK), *c = floats(CHUNK);
    double *sine = doubles(CHUNK), *cosine = doubles(CHUNK);
    sincos_error worst[VARIANT_COUNT] = { { 0 } };
    uint64_t seed = 50;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        for (int i = 0; i < CHUNK; i++) {
            const double u = 2.0 * test_uniform(&seed) - 1.0,
                         q = floor(10430.0 * (test_uniform(&seed) - 0.5));
            x[i] = (float)(chunk % 4 == 0   ? 8192.0 * u                            /* all */
                           : chunk % 4 == 1 ? NEAR * u                              /* where layers live */
                           : chunk % 4 == 2 ? q * (double)CHECK_PI / 2.0 + 1e-3 * u /* zeros */
                                            : (q + 0.5) * (double)CHECK_PI / 2.0 + 1e-3 * u); /* seams */
            if (fabsf(x[i]) > 8192.0f)
                x[i] = 8192.0f;
            sine[i] = sin((double)x[i]);
            cosine[i] = cos((double)x[i]);
        }
        for (int v = 0; v < VARIANT_COUNT; v++) {
            const kernels *kern = kernels_select(VARIANTS[v]);
            if (kern == NULL)
                continue;
            kern->sincos(CHUNK, x, s, c);
            for (int i = 0; i < CHUNK; i++) {
                sincos_judge(&worst[v], s[i], sine[i]);
                sincos_judge(&worst[v], c[i], cosine[i]);
            }
        }
    }
    for (int v = 0; v < VARIANT_COUNT; v++) {
        char text[96];
        if (kernels_select(VARIANTS[v]) == NULL)
            continue;
        snprintf(text, sizeof text, "%s sincos, %d points in |x| <= 8192", VARIANTS[v], CHUNKS * CHUNK);
        check_below(text, worst[v].absolute, SINCOS_ERROR);
        /* between 1/2 and 1 an ulp is 2^-24 = 6.0e-8, and 1e-7 is 1.68 of them: there the polynomials have to do
         * better than their bound, and they do */
        snprintf(text, sizeof text, "%s sincos, ulp where the value is 1/2 or more", VARIANTS[v]);
        check_below(text, worst[v].ulp, 1.5);
    }
    free(x);
    free(s);
    free(c);
    free(sine);
    free(cosine);
}

/* Beyond 8192 there is no accuracy, but no surprise either; an infinity has no sine, and NaN stays NaN. The
 * counts are odd: the last vector is short. */
static void sincos_is_bounded(void **state)
{
    (void)state;
    enum { COUNT = 200003 };
    float *x = floats(COUNT), *s = floats(COUNT), *c = floats(COUNT);
    uint64_t seed = 61;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((i % 2 ? 1.0 : -1.0) * exp2(13.0 + 114.9 * test_uniform(&seed)));
    x[0] = FLT_MAX;
    x[1] = -FLT_MAX;
    x[2] = 8192.0f * (float)CHECK_PI;
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        double most = 0.0;
        char text[64];
        if (kern == NULL)
            continue;
        kern->sincos(COUNT, x, s, c);
        for (int i = 0; i < COUNT; i++) {
            const double size = fmax(fabs((double)s[i]), fabs((double)c[i]));
            if (!(size <= most) || isnan(s[i]) || isnan(c[i]))
                most = isnan(s[i]) || isnan(c[i]) ? INFINITY : size;
        }
        snprintf(text, sizeof text, "%s: |sin|, |cos| - 1 of huge x", kern->name);
        check_below(text, most - 1.0, 1e-6);
        const float odd[5] = { NAN, INFINITY, -INFINITY, 0.0f, -0.0f };
        kern->sincos(5, odd, s, c);
        assert_true(isnan(s[0]) && isnan(c[0]));
        for (int i = 1; i < 3; i++)
            assert_true(isnan(s[i]) || fabsf(s[i]) <= 1.0f + 1e-6f);
        for (int i = 3; i < 5; i++)
            assert_true(s[i] == 0.0f && c[i] == 1.0f);
    }
    free(x);
    free(s);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_variant_is_there),
        cmocka_unit_test(products),
        cmocka_unit_test(sine_layers),
        cmocka_unit_test(outputs),
        cmocka_unit_test(elementwise),
        cmocka_unit_test(kernel_sums),
        cmocka_unit_test(exponentials),
        cmocka_unit_test(kernel_estimates),
        cmocka_unit_test(boxes),
        cmocka_unit_test(sincos_is_accurate),
        cmocka_unit_test(sincos_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
