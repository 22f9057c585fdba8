/* test_probability.c - probabilities of regions where the density has peaks that uniform points do not meet. */
#include "place.h"

/* Six kernels 1e-4 wide: the probability of a ball is the share of the kernels that lie in it. Points uniform in the ball
 * met none, and said e^-400 +- 0. */
static void needles(void **state)
{
    static const struct {
        const char *domain;
        double x[6][4];
        size_t columns;
    } CASES[] = {
        { "T2", { { 1, 1 }, { 1.2, 1.1 }, { 4, 1 }, { 4, 5 }, { 2, 6 }, { 3, 3 } }, 2 },
        { "S2", { { 0, 0, 1 }, { 0.28, 0, 0.96 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, -1 }, { -1, 0, 0 } }, 3 },
        { "S2 x S1",
          { { 0, 0, 1, 1 }, { 0.28, 0, 0.96, 1.2 }, { 0, 0, 1, 4 }, { 0, 1, 0, 1 }, { 0, 0, -1, 2 }, { -1, 0, 0, 2 } },
          4 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        npmd_error err = { 0 };
        npmd_domain *dom = NULL;
        npmd_points *pts = NULL, *centre = NULL;
        npmd_model *m = NULL;
        npmd_probability p = NPMD_SIZED(npmd_probability);
        const npmd_compute how = { .size = sizeof how, .threads = 1 };
        npmd_options *opt = npmd_options_new();
        const double near[NPMD_MAX_FACTORS] = { 0.4, 0.4 };
        const double all[NPMD_MAX_FACTORS] = { 3.14159265358979, 3.14159265358979 };
        double x[6 * 4];
        for (size_t k = 0; k < 6; k++)
            memcpy(x + k * CASES[i].columns, CASES[i].x[k], CASES[i].columns * sizeof *x);
        must(npmd_domain_parse(CASES[i].domain, &dom, &err), &err);
        must(npmd_points_from(x, 6, CASES[i].columns, dom, NPMD_COORDS_DEFAULT, &pts, &err), &err);
        must(npmd_points_from(x, 1, CASES[i].columns, dom, NPMD_COORDS_DEFAULT, &centre, &err), &err);
        must(npmd_options_set(opt, "estimator", "kde", &err), &err);
        must(npmd_options_set(opt, "kappa", "1e8", &err), &err);
        must(npmd_fit(dom, pts, opt, &m, &err), &err);
        must(npmd_probability_near(m, centre, near, 0.01, 1, &how, &p, &err), &err);
        check_below("a third of the kernels, errors", fabs(p.probability - 1.0 / 3.0) / p.se, 4.0);
        check_below("the error that is stated", p.se, 0.01 * p.probability);
        must(npmd_probability_near(m, centre, all, 0.01, 1, &how, &p, &err), &err);
        check_below("everywhere", 1.0 - p.probability, 1e-3);
        npmd_options_free(opt);
        npmd_model_free(m);
        npmd_points_free(centre);
        npmd_points_free(pts);
        npmd_domain_free(dom);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(needles) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
