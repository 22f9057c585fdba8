/* test_kernel_sums.c - sums of kernels about centres, their exponentials and boxes, in every compilation that this
 * machine can run, against plain loops in double. */
#include "variants.h"

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
            const double rho = RHO[r], a = (1.0 + rho * rho) / (1.0 - rho * rho), b = 2.0 * rho / (1.0 - rho * rho);
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
            keep_worst(&worst, kern->cauchy_mean(FACTORS, embedding, power, e, CENTRES, centre, a, b) / sum, 1.0,
                       2.0 * bound); /* the loop above errs as much */
        }
        report_worst(kern, "cauchy_mean", worst);
    }
    free(centre);
}

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
    double *centre_wide = doubles(COLUMNS * CENTRES), *scale_wide = doubles(CENTRES), *offset_wide = doubles(CENTRES),
           *query_wide = doubles(QUERIES * COLUMNS);
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
                    query_wide[(c - CENTRES) * COLUMNS + j] = (double)(query[(c - CENTRES) * COLUMNS + j] = x);
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
                            far += pow(query_wide[q * COLUMNS + column] - centre_wide[column * CENTRES + c], 2.0);
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
                    size += value * (rounding(COLUMNS + 5) * (scale_wide[c] * all + fabs(offset_wide[c])) + EXP_ERROR);
                    expected[0] += exp(offset_wide[c] - all);
                    expected[1] += product * exp(square);
                    keep_worst(&distances, (double)z[c], all, rounding(COLUMNS + 3) * all + 1e-30);
                }
                keep_worst(&sums, sum[q], exact, size + rounding(CENTRES / 4 + 8) * exact);
                const double found = kern->kernel_log_sum(COLUMNS, query_wide + q * COLUMNS, CENTRES, centre_wide,
                                                          CENTRES, scale_wide, offset_wide, 100);
                keep_worst(&logs, found, log(without), 1e-13);
                kern->kernel_pairs(FACTORS, embedding, -1e9f, twice, gain, query + q * COLUMNS, CENTRES, centre,
                                   CENTRES, offset, &one[0], &one[1]);
                /* exponents up to 6 kappa and 3, where they still count up to 30 */
                const double bound = rounding(CENTRES / 4 + 8) + EXP_ERROR
                                     + rounding(COLUMNS + 8) * fmin(6.0 * kappa + 3.0, 30.0);
                keep_worst(&pairs, one[0], expected[0], bound * expected[0]);
                keep_worst(&pairs, one[1], expected[1], (bound + FACTORS * (5e-7 + rounding(8))) * expected[1]);
            }
            report_worst(kern, "kernel_sums", sums);
            report_worst(kern, "kernel_log_sum", logs);
            report_worst(kern, "kernel_pairs", pairs);
            report_worst(kern, "squared_distances", distances);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_sums),
        cmocka_unit_test(exponentials),
        cmocka_unit_test(kernel_estimates),
        cmocka_unit_test(boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
