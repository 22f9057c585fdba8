/* test_unordered.c - pairs without an order: the density is the mean of both orders, with its jet, its integral and its
 * draws; a pair held out is not learnt from its mirror image; options and files know. */
#include "estimate.h"

#define FEW "width", "8", "steps", "20", "q1", "256", "q2", "64", "tau", "1e-3", "warmup", "0", "convex-gap", "off"
#define PAIRS 200

/* Pairs with an order: the second point is the first one moved, so f(x, y) is far from f(y, x). */
static npmd_points *ordered_pairs(const npmd_domain *dom)
{
    const int columns = dom->columns, half = columns / 2;
    double *x = doubles((size_t)(PAIRS * columns));
    uint64_t seed = 7;
    for (int i = 0; i < PAIRS; i++)
        for (int j = 0; j < columns; j++)
            x[i * columns + j] = (j < half ? 1.0 : 2.5) * (j % half == 0) + (j >= half && j % half == 1)
                                 + 0.3 * test_normal(&seed);
    for (int i = 0; half == 3 && i < 2 * PAIRS; i++) {
        double *at = x + 3 * i;
        const double r = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
        for (int j = 0; j < 3; j++)
            at[j] /= r;
    }
    npmd_points *pts = points_of(dom, x, PAIRS);
    free(x);
    return pts;
}

static npmd_model *fit_pairs(const npmd_points *pts, const char *const *pair)
{
    npmd_options opt;
    options_of(&opt, pair);
    opt.set.unordered = 1;
    return fit_of(pts, &opt);
}
#define FIT_PAIRS(pts, ...) fit_pairs(pts, (const char *const[]){ __VA_ARGS__, NULL })

static void jets_of(const npmd_model *m, const double *x, size_t n, jet_rows rows, double *out)
{
    npmd_error err = { 0 };
    if (model_evaluate(m, &(npmd_compute){ .threads = 1 }, x, n, rows, out, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

/* With f = exp v in either order, g = (f1 + f2) / 2:
 *     grad log g = (f1 grad v1 + f2 grad v2) / (f1 + f2),
 *     lap log g  = (f1 (lap v1 + |grad v1|^2) + f2 (...)) / (f1 + f2) - |grad log g|^2
 * where the derivatives of v2, taken at (y, x), have their factors exchanged. */
static void expected_jet(const npmd_model *m, const double *x, double *jet)
{
    const int D = m->domain->dimension;
    double y[DOMAIN_MAX_COLUMNS], a[DOMAIN_MAX_DIMENSION + 2], b[DOMAIN_MAX_DIMENSION + 2], square = 0.0;
    const int half = m->domain->columns / 2;
    memcpy(y, x + half, (size_t)half * sizeof *y);
    memcpy(y + half, x, (size_t)half * sizeof *y);
    values_of(m, 1, x, 1, JET_ALL, a); /* of the estimator itself, which knows an order */
    values_of(m, 1, y, 1, JET_ALL, b);
    const double f1 = exp(a[0]), f2 = exp(b[0]);
    double lap1 = a[D + 1], lap2 = b[D + 1];
    for (int t = 0; t < D; t++) {
        const double other = b[1 + (t + D / 2) % D];
        jet[1 + t] = (f1 * a[1 + t] + f2 * other) / (f1 + f2);
        lap1 += a[1 + t] * a[1 + t];
        lap2 += other * other;
        square += jet[1 + t] * jet[1 + t];
    }
    jet[0] = log(0.5 * (f1 + f2));
    jet[D + 1] = (f1 * lap1 + f2 * lap2) / (f1 + f2) - square;
}

static void jets(void **state)
{
    (void)state;
    static const char *const DOMAINS[] = { "T2", "S2 x S2" };
    static const char *const ESTIMATORS[] = { "field", "series", "kde" };
    for (int k = 0; k < 6; k++) {
        enum { AT = 20, MOST = DOMAIN_MAX_DIMENSION + 2 };
        npmd_domain *dom = domain_of(DOMAINS[k / 3]);
        npmd_points *pts = ordered_pairs(dom);
        npmd_model *m = k % 3 == 0
                            ? FIT_PAIRS(pts, "estimator", ESTIMATORS[k % 3], FEW)
                            : FIT_PAIRS(pts, "estimator", ESTIMATORS[k % 3], "max-frequency", "2", "tau", "1e-2");
        const int length = dom->dimension + 2;
        double found[AT * MOST], mirrored[AT], value[AT], expected[MOST], y[AT * 6], worst = 0.0, apart = 0.0;
        jets_of(m, pts->x, AT, JET_ALL, found);
        jets_of(m, pts->x, AT, JET_VALUE, value);
        mirror_rows(dom, pts->x, AT, y);
        jets_of(m, y, AT, JET_VALUE, mirrored);
        for (int i = 0; i < AT; i++) {
            expected_jet(m, pts->x + i * dom->columns, expected);
            for (int j = 0; j < length; j++)
                worst = fmax(worst, fabs(found[i * length + j] - expected[j]) / fmax(1.0, fabs(expected[j])));
            apart = fmax(apart, fabs(value[i] - mirrored[i]));
        }
        /* the network runs in float32, in tiles whose neighbours are others here; what is done to its numbers is exact
         * to some roundings of double */
        check_below(DOMAINS[k / 3], worst, k % 3 == 0 ? 1e-4 : 1e-11);
        check_below("f(x, y) - f(y, x)", apart, k % 3 == 0 ? 1e-5 : 1e-15);
        npmd_model_free(m);
        npmd_points_free(pts);
        npmd_domain_free(dom);
    }
}

/* Members and the parts of a stack are symmetric, so what is made of them is: no second mean is taken. */
static void blends(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = ordered_pairs(dom);
    for (int k = 0; k < 2; k++) {
        enum { AT = 30 };
        npmd_model *m = FIT_PAIRS(pts, "members", "2", "combine", k ? "mixture" : "log", FEW);
        double y[2 * AT], a[AT], b[AT], own[AT], worst = 0.0;
        mirror_rows(dom, pts->x, AT, y);
        jets_of(m, pts->x, AT, JET_VALUE, a);
        jets_of(m, y, AT, JET_VALUE, b);
        values_of(m, 1, pts->x, AT, JET_VALUE, own);
        assert_memory_equal(own, a, sizeof own);
        for (int i = 0; i < AT; i++)
            worst = fmax(worst, fabs(a[i] - b[i]));
        check_below("a blend in both orders", worst, 1e-5);
        assert_true(m->part[0]->set.unordered);
        npmd_model_free(m);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* On T2 the mean over a grid of 64 x 64 integrates a series of frequency 3 in the log to far below its 1e-5. */
static void integral_and_file(void **state)
{
    (void)state;
    enum { SIDE = 64 };
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = ordered_pairs(dom);
    npmd_model *m = FIT_PAIRS(pts, "estimator", "series", "max-frequency", "3", "tau", "1e-3");
    npmd_model *back = saved_and_loaded(m);
    double *x = doubles(2 * SIDE * SIDE), *f = doubles(SIDE * SIDE), *again = doubles(SIDE * SIDE), sum = 0.0;
    npmd_error err = { 0 };
    char *text = NULL;
    for (int i = 0; i < SIDE * SIDE; i++) {
        x[2 * i] = 2.0 * (double)CHECK_PI * (i % SIDE) / SIDE;
        x[2 * i + 1] = 2.0 * (double)CHECK_PI * (i / SIDE) / SIDE;
    }
    assert_int_equal(npmd_log_density(m, x, SIDE * SIDE, f, &err), NPMD_OK);
    assert_int_equal(npmd_log_density(back, x, SIDE * SIDE, again, &err), NPMD_OK);
    assert_memory_equal(f, again, SIDE * SIDE * sizeof *f);
    for (int i = 0; i < SIDE * SIDE; i++)
        sum += exp(f[i]) * dom->volume / (SIDE * SIDE);
    check_below("mass - 1", fabs(sum - 1.0), 1e-5);
    assert_int_equal(npmd_model_describe(m, &text, &err), NPMD_OK);
    assert_non_null(strstr(text, "\"unordered\": \"on\""));
    assert_int_equal(m->facts.n, PAIRS);
    npmd_text_free(text);
    free(x);
    free(f);
    free(again);
    npmd_model_free(back);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* In the data x < y always, far from 0: of N draws half have x < y, within four standard errors 4 sqrt(N) / 2. */
static void draws(void **state)
{
    (void)state;
    enum { N = 4000 };
    npmd_domain *dom = domain_of("T2");
    double *data = doubles(2 * PAIRS), *x = doubles(2 * N);
    uint64_t seed = 3;
    for (int i = 0; i < PAIRS; i++) {
        data[2 * i] = 1.5 + 0.2 * test_uniform(&seed);
        data[2 * i + 1] = 4.0 + 0.2 * test_uniform(&seed);
    }
    npmd_points *pts = points_of(dom, data, PAIRS);
    for (int k = 0; k < 2; k++) {
        npmd_error err = { 0 };
        npmd_model *m = k ? FIT_PAIRS(pts, "estimator", "kde", "kappa", "30")
                          : FIT_PAIRS(pts, "estimator", "series", "max-frequency", "3", "tau", "1e-3");
        int rising = 0;
        assert_int_equal(npmd_sample(m, 5, N, NULL, x, NULL, &err), NPMD_OK);
        for (int i = 0; i < N; i++)
            rising += x[2 * i] < x[2 * i + 1];
        check_below("share of x < y", fabs(rising - 0.5 * N), 2.0 * sqrt(N));
        npmd_model_free(m);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(data);
    free(x);
}

/* Every pair is there in both orders: what is held out has no mirror image among the others, unless order means
 * something. */
static void mirror_images_are_twins(void **state)
{
    (void)state;
    enum { N = 40, OUT = 8 };
    npmd_domain *dom = domain_of("T2");
    npmd_points *one = clusters(dom, N, 0.5, 9);
    double x[4 * N];
    npmd_error err = { 0 };
    memcpy(x, one->x, 2 * N * sizeof *x);
    mirror_rows(dom, one->x, N, x + 2 * N);
    npmd_points *both = points_of(dom, x, 2 * N);
    for (int unordered = 0; unordered < 2; unordered++) {
        npmd_points *held_out = NULL, *training = NULL;
        int images = 0;
        both->unordered = unordered;
        assert_int_equal(points_hold_out(both, rng_key_make(1, RNG_TUNE, 3), 0, OUT, TIES_TOGETHER, SIZE_MAX, &held_out,
                                         &training, &err),
                         NPMD_OK);
        for (size_t i = 0; i < held_out->n; i++)
            for (size_t j = 0; j < training->n; j++)
                images += held_out->x[2 * i] == training->x[2 * j + 1] && held_out->x[2 * i + 1] == training->x[2 * j];
        assert_true(unordered ? images == 0 : images > 0);
        assert_int_equal(training->unordered, unordered);
        npmd_points_free(held_out);
        npmd_points_free(training);
    }
    /* a model of unordered pairs has seen the mirror image of what it saw */
    npmd_model *m = FIT_PAIRS(one, "estimator", "kde", "kappa", "5");
    npmd_points *images = points_of(dom, x + 2 * N, N);
    npmd_score s = NPMD_SIZED(npmd_score);
    assert_int_equal(npmd_score_points(m, images, 1, NULL, &s, &err), NPMD_OK);
    assert_true(s.training_rows == N);
    npmd_model_free(m);
    npmd_points_free(images);
    npmd_points_free(both);
    npmd_points_free(one);
    npmd_domain_free(dom);
}

static void two_equal_factors(void **state)
{
    (void)state;
    static const char *const DOMAINS[] = { "S1", "S2", "S2 x S1", "S1^3", "S2^4" };
    for (size_t i = 0; i < sizeof DOMAINS / sizeof *DOMAINS; i++) {
        npmd_domain *dom = domain_of(DOMAINS[i]);
        npmd_points *pts = clusters(dom, 50, 0.5, 1);
        npmd_options opt;
        npmd_error err = { 0 };
        npmd_model *m = NULL;
        options_init(&opt);
        opt.set.unordered = 1;
        assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_ARGUMENT);
        assert_null(m);
        assert_non_null(strstr(err.text, "two equal factors"));
        npmd_points_free(pts);
        npmd_domain_free(dom);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jets),
        cmocka_unit_test(blends),
        cmocka_unit_test(integral_and_file),
        cmocka_unit_test(draws),
        cmocka_unit_test(mirror_images_are_twins),
        cmocka_unit_test(two_equal_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
