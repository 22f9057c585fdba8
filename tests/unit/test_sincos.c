/* test_sincos.c - sine and cosine in float32, in every compilation that this machine can run, against those of the C
 * library in double. */
#include "variants.h"

typedef struct sincos_error {
    double absolute;
    double ulp; /* in distances of float32 numbers, where |expected| >= 1/2; near a zero only the other counts */
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
            const double u = 2.0 * test_uniform(&seed) - 1.0, q = floor(10430.0 * (test_uniform(&seed) - 0.5));
            x[i] = (float)(chunk % 4 == 0   ? 8192.0 * u                                      /* all */
                           : chunk % 4 == 1 ? NEAR * u                                        /* where layers live */
                           : chunk % 4 == 2 ? q * (double)CHECK_PI / 2.0 + 1e-3 * u           /* zeros */
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
        cmocka_unit_test(sincos_is_accurate),
        cmocka_unit_test(sincos_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
