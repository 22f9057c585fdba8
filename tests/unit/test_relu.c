/* test_relu.c - ReLU networks: the jet against differences, early stopping, what a fit promises. */
#include "estimate.h"

static const char *const DOMAINS[] = { "S1^2", "S1^4", "S2", "S2 x S1" };
enum { DOMAIN_COUNT = 4 };
static const npmd_compute IN_DOUBLE = { .threads = 1, .device = "reference" };

static const char *const SMALL[] = { "estimator", "relu", "width",   "20",    "steps",    "40",   "seed",
                                     "5",         "q1",   "1024",    "depth", "3",        "rate", "1e-2",
                                     "warmup",    "0",    "threads", "1",     "accuracy", "1e-2", NULL };

/* ---- the network: its adjoint is in test_adjoint.c and test_columns.c -------------------------------------------- */

/* Where no kink lies within the differences' reach, nine points of ten at least, they know the jet: exact but for
 * rounding on circles; on spheres, where v is linear in the unit vector, with an error of h^4 / 90. */
static void jets_by_differences(void **state)
{
    (void)state;
    enum { N = 100 };
    for (int i = 0; i < DOMAIN_COUNT; i++) {
        npmd_options opt;
        npmd_domain *dom = domain_of(DOMAINS[i]);
        npmd_points *pts = clusters(dom, 300, 0.5, 3);
        const size_t rows = (size_t)dom->dimension + 2, columns = (size_t)dom->columns;
        double *x = doubles(N * columns), *jet = doubles(N * rows), *v = doubles(N), expected[DOMAIN_MAX_DIMENSION + 2],
               steepest = 0.0;
        int agree = 0;
        options_of(&opt, SMALL);
        npmd_model *m = fit_of(pts, &opt);
        cluster_points(dom, N, 0.0, 6, x);
        values_on(m, &IN_DOUBLE, x, N, JET_ALL, jet);
        values_on(m, &IN_DOUBLE, x, N, JET_VALUE, v);
        for (size_t k = 0; k < N; k++) {
            double worst = 0.0;
            jet_by_differences(m, &IN_DOUBLE, x + k * columns, 3e-4, expected);
            assert_true(jet[k * rows] == v[k]);
            for (size_t r = 1; r < rows; r++) {
                worst = fmax(worst, fabs(jet[k * rows + r] - expected[r]));
                steepest = fmax(steepest, fabs(jet[k * rows + r]));
            }
            /* 64 u max |v| / (12 h^2) = 1e-7 a direction */
            agree += worst < 1e-5;
        }
        print_message("    %s: %d of %d jets agree, the largest entry %.2g\n", DOMAINS[i], agree, N, steepest);
        assert_true(agree >= 9 * N / 10 && steepest > 0.1);
        npmd_model_free(m);
        npmd_points_free(pts);
        npmd_domain_free(dom);
        free(x);
        free(jet);
        free(v);
    }
}

/* ---- fits -------------------------------------------------------------------------------------------------------- */

/* Few points, a wide network and a high rate: the held-out points turn soon. The weights of the best look are those of
 * a fit that ends there. */
static void early_stopping_restores_the_best(void **state)
{
    (void)state;
    npmd_options opt;
    npmd_domain *dom = domain_of("S1^2");
    npmd_points *pts = clusters(dom, 80, 0.5, 3);
    long long done = 0, best = 0;
    double a[80], b[80];
    options_of(&opt, SMALL);
    npmd_options_set(&opt, "schedule", "fixed", NULL);
    npmd_options_set(&opt, "holdout", "0.25", NULL);
    npmd_options_set(&opt, "patience", "6", NULL);
    opt.set.network.width = 64;
    opt.set.descent.rate = 0.03;
    opt.set.descent.steps = 49; /* a look after every step */
    npmd_model *m = fit_of(pts, &opt);
    assert_int_equal(m->warnings, 1);
    assert_int_equal(
        sscanf(npmd_model_warning(m, 0),
               "stopped early, after %lld of 49 steps: 20 held-out points liked the weights after %lld best", &done,
               &best),
        2);
    print_message("    %lld steps, the best after %lld\n", done, best);
    assert_true(done == best + 6 && m->facts.steps == done && done < 49);
    values_of(m, 1, pts->x, pts->n, JET_VALUE, a);
    npmd_model_free(m);
    opt.set.descent.steps = best;
    m = fit_of(pts, &opt);
    assert_int_equal(m->warnings, 0);
    values_of(m, 1, pts->x, pts->n, JET_VALUE, b);
    assert_memory_equal(a, b, sizeof a);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* A point and its twins are never on both sides. */
static void twins_are_held_out_together(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *held_out = NULL, *training = NULL;
    npmd_error err = { 0 };
    double x[90];
    for (int i = 0; i < 90; i++)
        x[i] = 0.1 * (i / 3);
    npmd_points *pts = points_of(dom, x, 90);
    assert_int_equal(
        points_hold_out(pts, rng_key_make(1, RNG_TUNE, 3), 0, 20, TIES_TOGETHER, SIZE_MAX, &held_out, &training, &err),
        NPMD_OK);
    assert_int_equal(held_out->n, 20);
    assert_true(training->n > 0 && training->n <= 70);
    for (size_t i = 0; i < held_out->n; i++)
        for (size_t j = 0; j < training->n; j++)
            assert_true(held_out->x[i] != training->x[j]);
    npmd_points_free(pts);
    npmd_points_free(held_out);
    npmd_points_free(training);
    npmd_domain_free(dom);
}

static void fits_on_every_domain(void **state)
{
    (void)state;
    for (int i = 0; i < DOMAIN_COUNT; i++)
        check_fit(DOMAINS[i], SMALL, 0.4, 0.8);
}

/* Early stopping leaves uniform data about as they are. */
static void uniform_data(void **state)
{
    (void)state;
    /* the noise of all 20 x 20 + ... = 501 parameters would be sqrt(501 / 3600) */
    check_uniform_data(SMALL, 0.37);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    check_threads(SMALL);
}

static int stop_at_seven(const npmd_report *now, void *user)
{
    (void)user;
    assert_true(fabs(now->objective - now->data - now->integral) < 1e-12 || now->step == 7);
    return now->step == 7;
}

static void stops_and_says_what_is_wrong(void **state)
{
    (void)state;
    npmd_options opt;
    npmd_domain *dom = domain_of("S1^2");
    npmd_points *pts = clusters(dom, 200, 0.5, 3);
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    options_of(&opt, SMALL);
    opt.watch.log_every = 1;
    npmd_options_watch(&opt, stop_at_seven, NULL);
    m = fit_of(pts, &opt);
    assert_true(m->facts.interrupted && m->facts.steps == 7);
    refuses_tensor(m, "layer.2.weight", tensor_not_finite, "layer.2.weight holds a number that is not finite");
    refuses_tensor(m, "layer.3.bias", tensor_renamed, "layer.3.bias");
    npmd_model_free(m);
    m = NULL;
    options_of(&opt, SMALL);
    opt.set.descent.rate = 1e4;
    assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_NUMERIC);
    assert_null(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jets_by_differences),
        cmocka_unit_test(early_stopping_restores_the_best),
        cmocka_unit_test(twins_are_held_out_together),
        cmocka_unit_test(fits_on_every_domain),
        cmocka_unit_test(uniform_data),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(stops_and_says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
