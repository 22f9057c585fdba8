/* test_geometry.c - circle and sphere against what is known: exact quadrature, addition theorems, a
 * recurrence of the test's own in long double, differences along great circles, and the laws of uniform
 * and Cauchy points. */
#include "check.h"
#include "points.h"

#define DEGREE 64 /* the highest degree held to 1e-11 */

/* ---- Harmonics of the test's own --------------------------------------------------------------------------------- */

/* Real harmonic of degree l and order m at x in long double, from the unnormalised associated Legendre
 * functions
 *     P_mm = (2m - 1)!! s^m,  (l - m) P_lm = (2l - 1) z P_(l-1)m - (l + m - 1) P_(l-2)m,  s^2 = x^2 + y^2,
 * the factorials of the norm and cos(m phi), sin(|m| phi) with phi = atan2(y, x); sign (-1)^m. It divides
 * by nothing that vanishes, but knows longitude: quite another route than the library's. */
static long double own_harmonic(const long double x[3], int l, int m)
{
    const int a = abs(m);
    const long double s = sqrtl(x[0] * x[0] + x[1] * x[1]), phi = atan2l(x[1], x[0]);
    long double p = 1.0L, before = 0.0L, norm = (2 * l + 1) / (4.0L * CHECK_PI);
    for (int i = 1; i <= a; i++)
        p *= (2 * i - 1) * s;
    for (int k = a + 1; k <= l; k++) {
        const long double next = ((2 * k - 1) * x[2] * p - (k + a - 1) * before) / (k - a);
        before = p;
        p = next;
    }
    for (int i = l - a + 1; i <= l + a; i++)
        norm /= i;
    const long double turn = m >= 0 ? cosl(a * phi) : sinl(a * phi);
    return (a % 2 ? -1 : 1) * sqrtl(a > 0 ? 2 * norm : norm) * p * turn;
}

/* Points that have given trouble elsewhere: the poles, 1e-8 away from them in several directions, the
 * equator, the axes, both signs of zero, and random ones. */
static int trying_points(double (*x)[3], int random)
{
    int n = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double away[][2] = { { 0, 0 },        { 1e-8, 0 },     { 0, 1e-8 },
                                   { -6e-9, 8e-9 }, { 1e-4, -1e-4 }, { -0.0, 1e-300 } };
        for (size_t i = 0; i < sizeof away / sizeof *away; i++, n++) {
            x[n][0] = away[i][0];
            x[n][1] = away[i][1];
            x[n][2] = sign * sqrt(1.0 - away[i][0] * away[i][0] - away[i][1] * away[i][1]);
        }
        x[n][0] = sign, x[n][1] = 0.0, x[n++][2] = 0.0;
        x[n][0] = 0.0, x[n][1] = sign, x[n++][2] = -0.0;
    }
    uint64_t state = 1;
    for (int i = 0; i < random; i++, n++)
        test_unit_vector(&state, x[n]);
    return n;
}

/* ---- S1 ---------------------------------------------------------------------------------------------------------- */

/* Library values come by doubling angles: e^{ikx} is a product of two factors of half the frequency, so
 * errors add up to at most k times those of cos x and sin x (0.5 ulp each) and of one complex product (2
 * eps): (0.5 sqrt 2 + 2) k eps. */
static double circle_bound(int k)
{
    return 4.0 * k * DBL_EPSILON;
}

static void circle_values_at_high_frequency(void **state)
{
    (void)state;
    const int F = 200, count = CIRCLE.functions(&CIRCLE, F);
    assert_int_equal(count, 401);
    double *jet = doubles(2 * (size_t)count), worst = 0.0, worst_200 = 0.0;
    uint64_t seed = 2;
    for (int i = 0; i < 500; i++) {
        const double x = i == 0 ? 0.0 : 2.0 * (double)CHECK_PI * test_uniform(&seed);
        CIRCLE.jets(&CIRCLE, 1, &x, 1, F, 2, jet);
        for (int k = 0; k <= F; k++) {
            const long double c = k == 0 ? 1.0L / sqrtl(2.0L * CHECK_PI) : 1.0L / sqrtl(CHECK_PI);
            const long double cosine = c * cosl(k * (long double)x), sine = c * sinl(k * (long double)x);
            const double *value = jet, *slope = jet + count;
            const int at = k == 0 ? 0 : 2 * k - 1;
            double error = fabs((double)((long double)value[at] - cosine));
            error = fmax(error, fabs((double)((long double)slope[at] + k * sine)) / fmax(1, k));
            if (k > 0) {
                error = fmax(error, fabs((double)((long double)value[2 * k] - sine)));
                error = fmax(error, fabs((double)((long double)slope[2 * k] - k * cosine)) / k);
            }
            check_quiet("circle jet", error, circle_bound(k) + DBL_EPSILON);
            worst = fmax(worst, error / circle_bound(k > 0 ? k : 1));
            worst_200 = fmax(worst_200, k == F ? error : 0.0);
        }
    }
    check_below("S1 at frequency 200 against cosl, sinl", worst_200, circle_bound(F));
    print_message("    largest error over its bound, all frequencies: %.2f\n", worst);
    free(jet);
}

static void circle_numbers_and_eigenvalues(void **state)
{
    (void)state;
    for (int j = 0; j < 401; j++) {
        const int k = (j + 1) / 2;
        assert_int_equal(CIRCLE.frequency(&CIRCLE, j), k);
        assert_true(CIRCLE.eigenvalue(&CIRCLE, j) == (double)k * k);
    }
    for (int j = 0; j < 65 * 65; j++) {
        const int l = SPHERE.frequency(&SPHERE, j);
        assert_true(l * l <= j && j < (l + 1) * (l + 1));
        assert_true(SPHERE.eigenvalue(&SPHERE, j) == (double)l * (l + 1));
        assert_int_equal(SPHERE.functions(&SPHERE, l), (l + 1) * (l + 1));
    }
}

/* 512 equidistant nodes integrate products of frequencies up to 400 < 512 exactly. The Gram matrix of
 * values is the identity, that of derivatives the eigenvalues; errors: 2 x circle_bound a product of
 * functions below 1, and the sum of 512 terms of weight 2 pi/512 adds 512 eps at the very most. */
static void circle_is_orthonormal(void **state)
{
    (void)state;
    const int F = 200, count = CIRCLE.functions(&CIRCLE, F), nodes = 512;
    const double bound = 2.0 * circle_bound(F) + nodes * DBL_EPSILON;
    double *jets = doubles(2 * (size_t)count * (size_t)nodes), worst = 0.0, worst_slope = 0.0;
    for (int i = 0; i < nodes; i++) {
        const double x = 2.0 * (double)CHECK_PI * (i + 0.3) / nodes;
        CIRCLE.jets(&CIRCLE, 1, &x, 1, F, 2, jets + 2 * (size_t)count * (size_t)i);
    }
    uint64_t seed = 3;
    for (int trial = 0; trial < 6000; trial++) {
        int a = (int)(count * test_uniform(&seed)), b = (int)(count * test_uniform(&seed));
        if (trial < count)
            a = b = trial;
        double gram = 0.0, slopes = 0.0;
        for (int i = 0; i < nodes; i++) {
            const double *value = jets + 2 * (size_t)count * (size_t)i, *slope = value + count;
            gram += 2.0 * (double)CHECK_PI / nodes * value[a] * value[b];
            slopes += 2.0 * (double)CHECK_PI / nodes * slope[a] * slope[b];
        }
        const double size = fmax(1.0, sqrt(CIRCLE.eigenvalue(&CIRCLE, a) * CIRCLE.eigenvalue(&CIRCLE, b)));
        worst = fmax(worst, fabs(gram - (a == b)));
        worst_slope = fmax(worst_slope, fabs(slopes - (a == b ? CIRCLE.eigenvalue(&CIRCLE, a) : 0.0)) / size);
    }
    check_below("S1 values, Gram matrix", worst, bound);
    check_below("S1 derivatives, Gram matrix / eigenvalue", worst_slope, bound);
    free(jets);
}

/* ---- S2: quadrature, addition theorem, values, derivatives ------------------------------------------------------- */

/* Gauss-Legendre with 65 nodes x 130 longitudes is exact for polynomials of degree 129, and products of
 * harmonics have at most 128. 200 functions: every order of degrees 0 to 4 and of 64, the rest at random.
 * Rounding: values are good to 1e-13 of their size (held below), products of unit norm, so 2e-13 and the
 * sums; 1e-12 leaves a factor 5. */
static void sphere_is_orthonormal(void **state)
{
    (void)state;
    enum { TAKEN = 200, LATITUDES = DEGREE + 1, LONGITUDES = 2 * DEGREE + 2 };
    const int count = SPHERE.functions(&SPHERE, DEGREE);
    int taken[TAKEN];
    uint64_t seed = 4;
    for (int i = 0; i < TAKEN; i++)
        taken[i] = i < 25 ? i : i < 154 ? DEGREE * DEGREE + i - 25 : (int)(count * test_uniform(&seed));
    double node[LATITUDES], weight[LATITUDES], *jet = doubles(3 * (size_t)count);
    double *gram = doubles(TAKEN * TAKEN), *slopes = doubles(TAKEN * TAKEN), row[3][TAKEN];
    gauss_legendre(LATITUDES, node, weight);
    for (int i = 0; i < LATITUDES; i++)
        for (int j = 0; j < LONGITUDES; j++) {
            const double phi = 2.0 * (double)CHECK_PI * (j + 0.37) / LONGITUDES, s = sqrt(1.0 - node[i] * node[i]);
            const double x[3] = { s * cos(phi), s * sin(phi), node[i] };
            const double w = weight[i] * 2.0 * (double)CHECK_PI / LONGITUDES;
            SPHERE.jets(&SPHERE, 1, x, 3, DEGREE, 3, jet);
            for (int r = 0; r < 3; r++)
                for (int a = 0; a < TAKEN; a++)
                    row[r][a] = jet[(size_t)r * (size_t)count + (size_t)taken[a]];
            for (int a = 0; a < TAKEN; a++)
                for (int b = 0; b <= a; b++) {
                    gram[a * TAKEN + b] += w * row[0][a] * row[0][b];
                    slopes[a * TAKEN + b] += w * (row[1][a] * row[1][b] + row[2][a] * row[2][b]);
                }
        }
    double worst = 0.0, worst_slope = 0.0;
    for (int a = 0; a < TAKEN; a++)
        for (int b = 0; b <= a; b++) {
            const int same = taken[a] == taken[b];
            const double lambda = sqrt(SPHERE.eigenvalue(&SPHERE, taken[a]) * SPHERE.eigenvalue(&SPHERE, taken[b]));
            worst = fmax(worst, fabs(gram[a * TAKEN + b] - same));
            worst_slope = fmax(worst_slope, fabs(slopes[a * TAKEN + b] - same * lambda) / fmax(1.0, lambda));
        }
    check_below("S2 values to degree 64, Gram matrix", worst, 1e-12);
    check_below("S2 gradients to degree 64, Gram matrix / eigenvalue", worst_slope, 1e-12);
    free(jet), free(gram), free(slopes);
}

/* sum_m Y_lm^2 = (2l + 1)/(4 pi) and sum_m |grad Y_lm|^2 = l (l + 1)(2l + 1)/(4 pi) at every point: exact
 * statements about all functions of a degree at once. Bound 1e-11: a three-term recurrence of 64 steps
 * loses at most about l^2 eps = 1e-12 (each step's rounding grows no faster than the functions
 * themselves), and squares double it. */
static void addition_theorem(void **state)
{
    (void)state;
    double x[100][3], *jet = doubles(3 * (size_t)SPHERE.functions(&SPHERE, DEGREE)), worst = 0.0, worst_slope = 0.0;
    const int n = trying_points(x, 80), count = SPHERE.functions(&SPHERE, DEGREE);
    for (int i = 0; i < n; i++) {
        SPHERE.jets(&SPHERE, 1, x[i], 3, DEGREE, 3, jet);
        for (int l = 0; l <= DEGREE; l++) {
            double values = 0.0, slopes = 0.0;
            for (int k = l * l; k < (l + 1) * (l + 1); k++) {
                values += jet[k] * jet[k];
                slopes += jet[count + k] * jet[count + k] + jet[2 * count + k] * jet[2 * count + k];
            }
            const double expected = (2 * l + 1) / (4.0 * (double)CHECK_PI), lambda = (double)l * (l + 1);
            worst = fmax(worst, fabs(values / expected - 1.0));
            if (l > 0)
                worst_slope = fmax(worst_slope, fabs(slopes / (lambda * expected) - 1.0));
            else
                assert_true(slopes == 0.0);
        }
    }
    check_below("addition theorem, values, poles among the points", worst, 1e-11);
    check_below("addition theorem, gradients", worst_slope, 1e-11);
    free(jet);
}

/* Same functions, same numbering (l^2 + l + m) and sign as the test's own. The scale is the size of degree
 * l, from the addition theorem; bound as there, for values, not squares. */
static void sphere_values(void **state)
{
    (void)state;
    double x[60][3], *jet = doubles(3 * (size_t)SPHERE.functions(&SPHERE, DEGREE)), worst = 0.0;
    const int n = trying_points(x, 40);
    for (int i = 0; i < n; i++) {
        const long double at[3] = { x[i][0], x[i][1], x[i][2] };
        SPHERE.jets(&SPHERE, 1, x[i], 3, DEGREE, 3, jet);
        for (int l = 0; l <= DEGREE; l += l < 6 ? 1 : 3)
            for (int m = -l; m <= l; m++) {
                const double size = sqrt((2 * l + 1) / (4.0 * (double)CHECK_PI));
                const double error = fabs((double)((long double)jet[l * l + l + m] - own_harmonic(at, l, m)));
                worst = fmax(worst, error / size);
            }
    }
    check_below("S2 values against long double, degree 64", worst, 1e-12);
    free(jet);
}

/* Frames are tangent, orthonormal and of the documented shape everywhere, the poles included. A few
 * products of numbers below 1, and 1/(1 + |z|) in [1/2, 1]: 16 eps. */
static void frames_are_orthonormal(void **state)
{
    (void)state;
    double x[1016][3], worst = 0.0, frame[6];
    const int n = trying_points(x, 1000);
    for (int i = 0; i < n; i++) {
        SPHERE.frame(&SPHERE, x[i], frame);
        double product[5] = { 0 };
        for (int c = 0; c < 3; c++) {
            product[0] += frame[c] * frame[c];
            product[1] += frame[3 + c] * frame[3 + c];
            product[2] += frame[c] * frame[3 + c];
            product[3] += frame[c] * x[i][c];
            product[4] += frame[3 + c] * x[i][c];
        }
        for (int k = 0; k < 5; k++)
            worst = fmax(worst, fabs(product[k] - (k < 2)));
    }
    check_below("S2 frames: orthonormal and tangent", worst, 16.0 * DBL_EPSILON);
    const double angle = 1.0;
    CIRCLE.frame(&CIRCLE, &angle, frame);
    assert_true(frame[0] == 1.0);
}

/* Along the great circle c(h) = cos h x + sin h t the derivative of Y at h = 0 is the jet's row for frame
 * vector t. Central differences of the test's own Y in long double with h = 1e-5: truncation h^2 l^3/6 =
 * 1.7e-11 l^3, rounding 1e-19/h; relative to the size l |Y|. Largest at l = 12: 2.4e-9, with the rows' own
 * 1e-11. */
static void derivatives_along_great_circles(void **state)
{
    (void)state;
    const int L = 12, count = SPHERE.functions(&SPHERE, L);
    const long double h = 1e-5L;
    double x[40][3], *jet = doubles(3 * (size_t)count), worst = 0.0, frame[6];
    const int n = trying_points(x, 24);
    for (int i = 0; i < n; i++) {
        SPHERE.jets(&SPHERE, 1, x[i], 3, L, 3, jet);
        SPHERE.frame(&SPHERE, x[i], frame);
        for (int t = 0; t < 2; t++) {
            long double ahead[3], behind[3];
            for (int c = 0; c < 3; c++) {
                ahead[c] = cosl(h) * x[i][c] + sinl(h) * frame[3 * t + c];
                behind[c] = cosl(h) * x[i][c] - sinl(h) * frame[3 * t + c];
            }
            for (int l = 1; l <= L; l++)
                for (int m = -l; m <= l; m++) {
                    const long double slope = (own_harmonic(ahead, l, m) - own_harmonic(behind, l, m)) / (2 * h);
                    const double size = l * sqrt((2 * l + 1) / (4.0 * (double)CHECK_PI));
                    const double found = jet[(t + 1) * count + l * l + l + m];
                    worst = fmax(worst, fabs((double)((long double)found - slope)) / size);
                }
        }
    }
    check_below("S2 frame derivatives against great circles", worst, 2.4e-9 + 1e-11);
    free(jet);
}

/* ---- Uniform points ---------------------------------------------------------------------------------------------- */

/* The image of the uniform measure on the unit square must annihilate every harmonic of degree 1 .. 20.
 * Quadrature on the square that is exact for the pulled-back harmonics - Gauss-Legendre in u_1
 * (polynomials in z), equidistant in u_2 (trigonometric) - turns that into a sum that vanishes to
 * rounding: 40 x 64 terms below sqrt(41/4 pi) = 1.8. */
static void uniform_maps_preserve_area(void **state)
{
    (void)state;
    enum { L = 20, NODES = 40, TURNS = 64 };
    const int count = SPHERE.functions(&SPHERE, L);
    double node[NODES], weight[NODES], *jet = doubles(3 * (size_t)count), *mean = doubles((size_t)count), worst = 0.0;
    gauss_legendre(NODES, node, weight);
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < TURNS; j++) {
            const double u[2] = { (1.0 + node[i]) / 2.0, (j + 0.5) / TURNS };
            double x[3];
            SPHERE.uniform(&SPHERE, u, x);
            check_quiet("a uniform point is a unit vector", fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1.0),
                        8.0 * DBL_EPSILON);
            SPHERE.jets(&SPHERE, 1, x, 3, L, 3, jet);
            for (int k = 0; k < count; k++)
                mean[k] += weight[i] / 2.0 / TURNS * jet[k];
        }
    check_quiet("the constant", fabs(mean[0] - 1.0 / sqrt(4.0 * (double)CHECK_PI)), 1e-13);
    for (int k = 1; k < count; k++)
        worst = fmax(worst, fabs(mean[k]));
    check_below("S2: mean of harmonics of degree 1 .. 20 under the uniform map", worst, 1e-13);
    const double ends[4][2] = { { 0, 0 }, { 1, 0.5 }, { 0.5, 0 }, { 0x1.fffffffffffffp-1, 0x1.fffffffffffffp-1 } };
    for (int i = 0; i < 4; i++) {
        double x[3];
        SPHERE.uniform(&SPHERE, ends[i], x);
        check_quiet("ends of the square", fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1.0), 8.0 * DBL_EPSILON);
    }
    for (int k = 1; k < 50; k++) {
        double re = 0.0, im = 0.0;
        for (int i = 0; i < 128; i++) {
            const double u = (i + 0.25) / 128;
            double x;
            CIRCLE.uniform(&CIRCLE, &u, &x);
            assert_true(x >= 0.0 && x < 2.0 * (double)CHECK_PI);
            re += cos(k * x) / 128;
            im += sin(k * x) / 128;
        }
        check_quiet("S1: moments under the uniform map", hypot(re, im), 1e-13);
    }
    free(jet), free(mean);
}

/* ---- Reading points ---------------------------------------------------------------------------------------------- */

/* fl(2 pi) differs from 2 pi by 2.45e-16, so k turns differ by k 2.45e-16: less than half an ulp of the
 * angle itself. */
static void circle_canonical_form(void **state)
{
    (void)state;
    static const double ANGLE[] = {
        0.0,  -0.0, 1.0,  6.283185307179586, 6.2831853071795871, -1e-20, -1e-300, -1.0, 7.0, -7.0, 1e3,
        -1e3, 1e6,  -1e6, 6.2831853071795858
    };
    for (size_t i = 0; i < sizeof ANGLE / sizeof *ANGLE; i++) {
        double x = ANGLE[i];
        assert_null(CIRCLE.canonical(&CIRCLE, &x));
        assert_true(x >= 0.0 && x < TWO_PI);
        const double bound = fabs(ANGLE[i]) * 0x1p-52 + 4.0 * DBL_EPSILON;
        check_quiet("wrapping keeps the cosine", fabs(cos(x) - cos(ANGLE[i])), bound);
        check_quiet("wrapping keeps the sine", fabs(sin(x) - sin(ANGLE[i])), bound);
        const double once = x;
        assert_null(CIRCLE.canonical(&CIRCLE, &x));
        assert_true(x == once);
    }
    static const double BAD[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 3; i++) {
        double x = BAD[i];
        assert_non_null(CIRCLE.canonical(&CIRCLE, &x));
        assert_non_null(CIRCLE.from_foreign(&CIRCLE, &BAD[i], &x));
    }
}

static void sphere_canonical_form(void **state)
{
    (void)state;
    static const double LENGTH[] = { 1.0, 1.0009, 0.9991, 1.0 + 1e-9 };
    uint64_t seed = 6;
    for (int trial = 0; trial < 400; trial++) {
        double unit[3], x[3];
        test_unit_vector(&seed, unit);
        for (int c = 0; c < 3; c++)
            x[c] = LENGTH[trial % 4] * unit[c];
        assert_null(SPHERE.canonical(&SPHERE, x));
        double r2 = 0.0, apart = 0.0;
        for (int c = 0; c < 3; c++) {
            r2 += x[c] * x[c];
            apart = fmax(apart, fabs(x[c] - unit[c]));
        }
        check_quiet("length after normalisation", fabs(r2 - 1.0), 8.0 * DBL_EPSILON);
        check_quiet("direction kept", apart, 8.0 * DBL_EPSILON);
    }
    static const double BAD[][3] = { { 0, 0, 0 },         { 1.0011, 0, 0 },        { 0, 0.9989, 0 },
                                     { 2, 0, 0 },         { NAN, 0, 1 },           { 0, INFINITY, 0 },
                                     { 0, 1, -INFINITY }, { 1e300, 1e300, 1e300 }, { 1e-300, 0, 0 } };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        double x[3] = { BAD[i][0], BAD[i][1], BAD[i][2] };
        const char *reason = SPHERE.canonical(&SPHERE, x);
        assert_non_null(reason);
        assert_true(strlen(reason) > 5);
    }
}

static void rows_are_checked(void **state)
{
    (void)state;
    npmd_domain *dom = NULL;
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_domain_parse("S2 x S1", &dom, NULL), NPMD_OK);
    double x[3][4] = { { 0, 0, 1, -1 }, { 0, 1.0005, 0, 8 }, { 1, 0, 0, 3 } };
    assert_int_equal(points_from(&x[0][0], 3, dom, &pts, &err), NPMD_OK);
    assert_int_equal(npmd_points_count(pts), 3);
    double row[4];
    npmd_points_row(pts, 1, row);
    assert_true(row[0] == 0.0 && row[1] == 1.0 && row[2] == 0.0);
    check_quiet("angle", fabs(row[3] - (8.0 - 2.0 * (double)CHECK_PI)), 8.0 * DBL_EPSILON);
    npmd_points_free(pts);
    pts = (npmd_points *)&x;
    x[2][3] = NAN;
    assert_int_equal(points_from(&x[0][0], 3, dom, &pts, &err), NPMD_ERR_FORMAT);
    assert_non_null(strstr(err.text, "3")); /* the row, the factor */
    assert_non_null(strstr(err.text, "S1"));
    assert_ptr_equal(pts, &x);
    npmd_domain_free(dom);
}

static void latitude_longitude_and_degrees(void **state)
{
    (void)state;
    static const struct {
        double in[2], x[3];
    } KNOWN[] = {
        { { 0, 0 }, { 1, 0, 0 } },
        { { 0, 90 }, { 0, 1, 0 } },
        { { 0, -90 }, { 0, -1, 0 } },
        { { 0, 180 }, { -1, 0, 0 } },
        { { 90, 0 }, { 0, 0, 1 } },
        { { -90, 77 }, { 0, 0, -1 } },
        { { 0, 450 }, { 0, 1, 0 } },
        { { 30, 0 }, { 0.86602540378443864676, 0, 0.5 } },
        { { -45, 135 }, { -0.5, 0.5, -0.70710678118654752440 } },
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        double x[3], back[2], again[3];
        assert_null(SPHERE.from_foreign(&SPHERE, KNOWN[i].in, x));
        for (int c = 0; c < 3; c++)
            check_quiet("latitude, longitude", fabs(x[c] - KNOWN[i].x[c]), 2.0 * DBL_EPSILON);
        SPHERE.to_foreign(&SPHERE, x, back);
        assert_null(SPHERE.from_foreign(&SPHERE, back, again));
        for (int c = 0; c < 3; c++) /* degrees carry pi/180 rounding on up to 180: 4 x 180 eps / 57 */
            check_quiet("there and back", fabs(x[c] - again[c]), 16.0 * DBL_EPSILON);
    }
    static const double BAD[][2] = { { 90.001, 0 }, { -91, 0 }, { NAN, 0 }, { 0, NAN }, { 0, INFINITY } };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        double x[3];
        assert_non_null(SPHERE.from_foreign(&SPHERE, BAD[i], x));
    }
    assert_int_equal(SPHERE.foreign_columns, 2);
    assert_int_equal(SPHERE.foreign_coords, NPMD_COORDS_LATLON);
    assert_int_equal(CIRCLE.foreign_columns, 1);
    assert_int_equal(CIRCLE.foreign_coords, NPMD_COORDS_DEGREES);
    static const double DEGREES[][2] = { { 0, 0 },      { 360, 0 },   { 720, 0 },    { -360, 0 },   { 90, 0.25 },
                                         { -90, 0.75 }, { 180, 0.5 }, { 450, 0.25 }, { 3690, 0.25 } };
    for (size_t i = 0; i < sizeof DEGREES / sizeof *DEGREES; i++) {
        double x, back;
        assert_null(CIRCLE.from_foreign(&CIRCLE, DEGREES[i], &x));
        check_quiet("degrees", fabs(x - DEGREES[i][1] * 2.0 * (double)CHECK_PI), 8.0 * DBL_EPSILON);
        CIRCLE.to_foreign(&CIRCLE, &x, &back);
        check_quiet("there and back", fabs(back - 360.0 * DEGREES[i][1]), 720.0 * DBL_EPSILON);
    }
}

/* ---- Cauchy kernels ---------------------------------------------------------------------------------------------- */

/* k(c) = ((1 - rho^2)/(1 + rho^2 - 2 rho c))^p is a density relative to the uniform measure, and the map
 * "cauchy" pushes the uniform measure of the cube onto it. On S1 its moments are E cos j(y - x) = rho^j;
 * on S2 those of P_l(x . y) are taken from the density by Gauss-Legendre. Under the map the same moments
 * come from quadrature on the cube. Both integrands are analytic with their nearest singularity at
 * distance 1 - rho, so 2000 nodes reach rounding up to rho = 0.95: convergence e^(-2000 (1 - rho)) or
 * faster. Bound: 2000 terms, sizes up to the peak ((1 + rho)/(1 - rho))^2 = 1500, eps. */
static void circle_cauchy_law(void **state)
{
    (void)state;
    enum { NODES = 2000 };
    static const double RHO[] = { 0.0, 0.3, 0.8, 0.95 };
    double worst = 0.0;
    for (int r = 0; r < 4; r++) {
        const double rho = RHO[r], x = 4.0;
        double mass = 0.0;
        for (int i = 0; i < NODES; i++) {
            const double c = cos(2.0 * (double)CHECK_PI * (i + 0.5) / NODES);
            mass += (1.0 - rho * rho) / (1.0 + rho * rho - 2.0 * rho * c) / NODES;
        }
        check_quiet("S1 kernel: total mass", fabs(mass - 1.0), 1e-11);
        for (int j = 1; j < 8; j++) {
            double re = 0.0, im = 0.0;
            for (int i = 0; i < NODES; i++) {
                const double u = (i + 0.5) / NODES;
                double y;
                CIRCLE.cauchy(&CIRCLE, &x, rho, &u, &y);
                assert_true(y >= 0.0 && y < TWO_PI);
                re += cos(j * (y - x)) / NODES;
                im += sin(j * (y - x)) / NODES;
            }
            worst = fmax(worst, hypot(re - pow(rho, j), im));
        }
    }
    check_below("S1 Cauchy draws: moments rho^j", worst, 1e-11);
}

static double legendre(int l, double z)
{
    double p = 1.0, before = 0.0;
    for (int k = 1; k <= l; k++) {
        const double next = ((2 * k - 1) * z * p - (k - 1) * before) / k;
        before = p;
        p = next;
    }
    return p;
}

static void sphere_cauchy_law(void **state)
{
    (void)state;
    enum { NODES = 1000, TURNS = 8, L = 6 };
    static const double RHO[] = { 0.0, 0.3, 0.8, 0.95 };
    double *node = doubles(NODES), *weight = doubles(NODES), x[20][3], worst = 0.0, sideways = 0.0;
    const int points = trying_points(x, 4);
    gauss_legendre(NODES, node, weight);
    for (int r = 0; r < 4; r++) {
        const double rho = RHO[r];
        double moment[L + 1] = { 0 };
        for (int i = 0; i < NODES; i++)
            for (int l = 0; l <= L; l++)
                moment[l] += weight[i] / 2.0 * pow((1.0 - rho * rho) / (1.0 + rho * rho - 2.0 * rho * node[i]), 2)
                             * legendre(l, node[i]);
        check_quiet("S2 kernel: total mass", fabs(moment[0] - 1.0), 1e-11);
        for (int k = 0; k < points; k++) {
            double drawn[L + 1] = { 0 }, centre[3] = { 0 };
            for (int i = 0; i < NODES; i++)
                for (int j = 0; j < TURNS; j++) {
                    const double u[2] = { (1.0 + node[i]) / 2.0, (j + 0.5) / TURNS }, w = weight[i] / 2.0 / TURNS;
                    double y[3];
                    SPHERE.cauchy(&SPHERE, x[k], rho, u, y);
                    check_quiet("a draw is a unit vector", fabs(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] - 1.0),
                                8.0 * DBL_EPSILON);
                    for (int l = 0; l <= L; l++)
                        drawn[l] += w * legendre(l, x[k][0] * y[0] + x[k][1] * y[1] + x[k][2] * y[2]);
                    for (int c = 0; c < 3; c++)
                        centre[c] += w * y[c];
                }
            for (int l = 0; l <= L; l++)
                worst = fmax(worst, fabs(drawn[l] - moment[l]));
            for (int c = 0; c < 3; c++) /* symmetric about x: the mean is moment 1 times x */
                sideways = fmax(sideways, fabs(centre[c] - moment[1] * x[k][c]));
        }
    }
    check_below("S2 Cauchy draws: moments of P_l(x . y)", worst, 1e-11);
    check_below("S2 Cauchy draws: the mean lies on the axis", sideways, 1e-11);
    free(node), free(weight);
}

/* e(x) . e(y) is the cosine of the distance. */
static void embeddings(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (int i = 0; i < 100; i++) {
        const double a = 6.0 * test_uniform(&seed), b = 6.0 * test_uniform(&seed);
        double e[3], f[3], x[3];
        CIRCLE.embed(&CIRCLE, &a, e);
        CIRCLE.embed(&CIRCLE, &b, f);
        check_quiet("S1 embedding", fabs(e[0] * f[0] + e[1] * f[1] - cos(a - b)), 8.0 * DBL_EPSILON);
        test_unit_vector(&seed, x);
        SPHERE.embed(&SPHERE, x, e);
        assert_memory_equal(e, x, sizeof x);
    }
    assert_int_equal(CIRCLE.embedding, 2);
    assert_int_equal(SPHERE.embedding, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circle_values_at_high_frequency),
        cmocka_unit_test(circle_numbers_and_eigenvalues),
        cmocka_unit_test(circle_is_orthonormal),
        cmocka_unit_test(sphere_is_orthonormal),
        cmocka_unit_test(addition_theorem),
        cmocka_unit_test(sphere_values),
        cmocka_unit_test(frames_are_orthonormal),
        cmocka_unit_test(derivatives_along_great_circles),
        cmocka_unit_test(uniform_maps_preserve_area),
        cmocka_unit_test(circle_canonical_form),
        cmocka_unit_test(sphere_canonical_form),
        cmocka_unit_test(rows_are_checked),
        cmocka_unit_test(latitude_longitude_and_degrees),
        cmocka_unit_test(circle_cauchy_law),
        cmocka_unit_test(sphere_cauchy_law),
        cmocka_unit_test(embeddings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
