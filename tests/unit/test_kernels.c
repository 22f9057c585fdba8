/* test_kernels.c - products, sine and ReLU layers, outputs and elementwise loops, in every compilation that this
 * machine can run, against plain loops in double. */
#include "variants.h"

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

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void product_case(const kernels *kern, size_t m, size_t n, size_t k, bool by_rows, int add, double *worst)
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
static void product_double_case(const kernels *kern, size_t m, size_t n, size_t k, bool by_rows, int add, double *worst)
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
        report_worst(kern, "product", worst);
        report_worst(kern, "product in double", worst_double);
    }
}

/* ---- sine layers ------------------------------------------------------------------------------------------------- */

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
    kern->sine.forward(POINTS, T, lap, UNITS, LD, bias, pre, post);
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
        kern->sine.values(POINTS, UNITS, LD, bias, values);
        for (size_t i = 0; i < POINTS; i++)
            for (size_t j = 0; j < UNITS; j++) {
                const double x = (double)a[i * LD + j] + (double)bias[j];
                keep_worst(forward, values[i * LD + j], sin(x), SINCOS_ERROR + U * fabs(x));
            }
        free(values);
    }
    kern->sine.adjoint(POINTS, T, lap, UNITS, LD, pre, post, bar, gradient);
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
        report_worst(kern, "sine_forward", forward);
        report_worst(kern, "sine_adjoint", adjoint);
    }
}

/* ---- ReLU layers: nothing is rounded but a + bias and the sums of biases ----------------------------------------- */

static void relu_case(const kernels *kern, int T, int lap, double *worst)
{
    const size_t step = (size_t)POINTS * LD, size = (size_t)(1 + T + lap) * step;
    uint64_t seed = (uint64_t)(10 * T + lap + 5);
    float *a = random_floats(size, 6.0, &seed), *pre = floats(size), *post = floats(size), *values = floats(size);
    float *bar = random_floats(size, 1.0, &seed), *before = floats(size);
    float *bias = random_floats(UNITS, 1.0, &seed), *gradient = random_floats(UNITS, 1.0, &seed);
    double sum[UNITS], sum_size[UNITS];
    a[0] = NAN;
    a[1] = -bias[1]; /* a kink: off */
    memcpy(pre, a, size * sizeof *a);
    memcpy(values, a, size * sizeof *a);
    memcpy(before, bar, size * sizeof *a);
    for (size_t j = 0; j < UNITS; j++)
        sum[j] = gradient[j], sum_size[j] = fabs(sum[j]);
    kern->relu.forward(POINTS, T, lap, UNITS, LD, bias, pre, post);
    kern->relu.values(POINTS, UNITS, LD, bias, values);
    kern->relu.adjoint(POINTS, T, lap, UNITS, LD, pre, post, bar, gradient);
    for (size_t i = 0; i < POINTS; i++)
        for (size_t j = 0; j < UNITS; j++) {
            const size_t at = i * LD + j;
            const float here = a[at] + bias[j];
            const bool on = at == 0 || here > 0.0f;
            assert_true(at == 0 ? isnan(post[0]) && isnan(values[0]) : post[at] == (on ? here : 0.0f));
            assert_true(at == 0 || values[at] == post[at]);
            for (size_t k = at + step; k < size; k += step)
                assert_true(post[k] == (on ? a[k] : 0.0f));
            for (size_t k = at; k < size; k += step)
                assert_true(bar[k] == (on ? before[k] : 0.0f));
            sum[j] += (double)bar[at];
            sum_size[j] += fabs((double)bar[at]);
        }
    for (size_t j = 0; j < UNITS; j++)
        keep_worst(worst, gradient[j], sum[j], rounding(POINTS) * sum_size[j]);
    free(a), free(pre), free(post), free(values), free(bar), free(before), free(bias), free(gradient);
}

static void relu_layers(void **state)
{
    (void)state;
    static const int SHAPE[][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 4, 0 }, { 4, 1 } };
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *kern = kernels_select(VARIANTS[v]);
        double worst = 0.0;
        if (kern == NULL)
            continue;
        for (size_t i = 0; i < sizeof SHAPE / sizeof *SHAPE; i++)
            relu_case(kern, SHAPE[i][0], SHAPE[i][1], &worst);
        report_worst(kern, "relu, sums of biases", worst);
    }
}

/* ---- the linear output and the skip ------------------------------------------------------------------------------ */

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
        report_worst(kern, "output", output);
        report_worst(kern, "linear", linear);
    }
}

/* ---- elementwise, and kernel sums -------------------------------------------------------------------------------- */

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
                keep_worst(&worst, x[i], re[i] * c - im[i] * s, rounding(2) * (fabs(re[i] * c) + fabs(im[i] * s)));
                keep_worst(&worst, y[i], re[i] * s + im[i] * c, rounding(2) * (fabs(re[i] * s) + fabs(im[i] * c)));
            }
        }
        report_worst(kern, "turn", worst);
    }
    free(a);
    free(b);
    free(out);
    free(re);
    free(im);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_variant_is_there),
        cmocka_unit_test(products),
        cmocka_unit_test(sine_layers),
        cmocka_unit_test(relu_layers),
        cmocka_unit_test(outputs),
        cmocka_unit_test(elementwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
