/* test_choice.c - the tau that a fit chooses does better on fresh points than the default that it leaves. */
#include "estimate.h"

static double *wrapped_normals(size_t n, int columns, double sd, uint64_t seed)
{
    double *x = doubles(n * (size_t)columns);
    for (size_t i = 0; i < n * (size_t)columns; i++)
        x[i] = 3.0 + sd * test_normal(&seed);
    return x;
}

/* 250 points of a smooth density on T4 are learnt by heart at the default tau, which was made for many: a network
 * of 24 units has ten times as many parameters. The held-out points ask for more smoothing, and the held-out
 * likelihood of the result is better than that of the default. */
static void few_points_ask_for_a_higher_tau(void **state)
{
    (void)state;
    enum { N = 250, TEST = 1000 };
    static const char *const SETTING[] = {
        "features", "64",   "max-frequency", "4",  "width",   "24", "depth", "3",   "q1",   "256",
        "q2",       "32",   "warmup",        "20", "threads", "1",  "steps", "100", "rate", "5e-3",
        "accuracy", "0.02", "centres",       "64", NULL
    };
    npmd_domain *dom = domain_of("T4");
    double *x = wrapped_normals(N, 4, 0.8, 8), *fresh = wrapped_normals(TEST, 4, 0.8, 80), nll[2];
    npmd_points *pts = points_of(dom, x, N), *test = points_of(dom, fresh, TEST);
    for (int chosen = 0; chosen < 2; chosen++) {
        npmd_options opt;
        npmd_score score = NPMD_SIZED(npmd_score);
        options_of(&opt, SETTING);
        assert_int_equal(npmd_options_set(&opt, "tau", chosen ? "auto" : "1e-4", NULL), NPMD_OK);
        npmd_model *m = fit_of(pts, &opt);
        assert_int_equal(npmd_score_points(m, test, 1, NULL, &score, NULL), NPMD_OK);
        nll[chosen] = score.nll;
        print_message("    tau %g, %lld steps: held-out nll %.3f\n", m->facts.tau, (long long)m->facts.steps,
                      score.nll);
        if (chosen) {
            assert_true(m->facts.tau > 1e-4);
            assert_int_equal(m->facts.steps, 100); /* a length that was asked for stays */
        }
        npmd_model_free(m);
    }
    assert_true(nll[1] < nll[0]);
    npmd_points_free(pts);
    npmd_points_free(test);
    npmd_domain_free(dom);
    free(x);
    free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_points_ask_for_a_higher_tau),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
