/* test_series_choose.c - the choice of tau and of the highest frequency.
 *
 * Every row of the path is held to fits of their own, on the same parts of the points, at that tau and frequency. The
 * path is solved to 1e-5 nats: v is known to sqrt(mean of dv^2 under f) = sqrt(2e-5), so mean f^2 to 2 sqrt(mean f^3)
 * sqrt(2e-5), and 2 mean f(x_i) to as much. */
#include "estimate.h"
#include "api.h"

enum { POINTS = 400 };

/* mean f^2 - 2 mean f(x_i) over the held-out points, or -mean log f(x_i), for a fit to the others; f relative. The mean of f^2 over SIDE^4
 * equidistant nodes, which a smooth periodic function lets converge faster than any power. */
static double criterion(const npmd_points *training, const npmd_points *held_out, bool ise, double tau,
                        double frequency, double *cube)
{
    enum { SIDE = 20, NODES = SIDE * SIDE * SIDE * SIDE };
    static const size_t side[4] = { SIDE, SIDE, SIDE, SIDE };
    char tau_text[32], frequency_text[32];
    npmd_options opt;
    double *x = doubles((size_t)NODES * 4), *v = doubles(NODES), square = 0.0, mean = 0.0;
    snprintf(tau_text, sizeof tau_text, "%.17g", tau);
    snprintf(frequency_text, sizeof frequency_text, "%.0f", frequency);
    options_of(&opt,
               (const char *const[]){ "estimator", "series", "tau", tau_text, "max-frequency", frequency_text, NULL });
    npmd_model *m = fit_of(training, &opt);
    quadrature_torus(4, side, false, 0, NODES, x);
    values_of(m, 0, x, NODES, JET_VALUE, v);
    for (size_t i = 0; i < NODES; i++)
        square += exp(2.0 * (v[i] - m->facts.log_integral)) / NODES;
    *cube = 0.0;
    for (size_t i = 0; i < NODES; i++)
        *cube += exp(3.0 * (v[i] - m->facts.log_integral)) / NODES;
    values_of(m, 0, held_out->x, held_out->n, JET_VALUE, v);
    for (size_t i = 0; i < held_out->n; i++)
        mean += (ise ? exp(v[i] - m->facts.log_integral) : v[i] - m->facts.log_integral) / (double)held_out->n;
    npmd_model_free(m);
    free(x), free(v);
    return ise ? square - 2.0 * mean : -mean;
}

static void chosen_by(bool ise)
{
    npmd_domain *dom = domain_of("T4");
    npmd_points *pts = clusters(dom, POINTS, 0.7, 5);
    judging j;
    npmd_options opt;
    series_basis basis;
    series_path path;
    double *c = NULL, worst = 0.0;
    int level = 0, best = -1;
    options_of(&opt, (const char *const[]){ "estimator", "series", "tau", "1e-3", "max-frequency", "3", "folds", "2",
                                            "criterion", ise ? "ise" : "likelihood", NULL });
    npmd_model *m = fit_of(pts, &opt);
    fit_plan plan;
    assert_int_equal(plan_make(estimators_all, &opt.set, NULL, dom, POINTS, &plan, NULL), NPMD_OK);
    fit f = { .plan = &plan, .points = pts, .watch = &(fit_watch){ 0 }, .model = m };
    series_watch watch = { .fit = &f, .started = clock_seconds() };
    assert_int_equal(series_basis_open(&basis, dom, (const int[]){ 3, 3, 3, 3 }, NULL), NPMD_OK);
    assert_int_equal(memory_new(&c, basis.size, NULL), NPMD_OK);
    assert_int_equal(series_choose(&watch, true, &basis, &c, &level, &path, NULL), NPMD_OK);

    settings judged = plan.full;
    judged.holdout = m->set.holdout;
    assert_int_equal(judging_open(&j, pts, &judged, SIZE_MAX, NULL), NPMD_OK);
    assert_int_equal(j.folds, 2); /* of 40 points each */
    bool lowered = false;
    for (int i = 0; i < path.size; i++) {
        if (path.row[i][2] == m->set.encoding.max_frequency[0] && (best < 0 || path.row[i][1] < path.row[best][1]))
            best = i;
        lowered = lowered || path.row[i][2] < 3.0;
        double cube = 0.0;
        double expected = 0.0, most = 0.0;
        for (int k = 0; k < j.folds; k++) {
            expected += criterion(j.training[k], j.held_out[k], ise, path.row[i][0], path.row[i][2], &cube) / j.folds;
            most = fmax(most, cube);
        }
        worst = fmax(worst, fabs(path.row[i][1] - expected) / sqrt(most));
    }
    check_below("criterion of the path, over sqrt(mean f^3)", worst, 4.0 * sqrt(2e-5));
    assert_true(lowered); /* tried at least once, better or not */
    assert_true(best >= 0);
    for (int i = 0; i < path.size; i++) /* no other frequency is better by more than what is worth it */
        assert_true(path.row[i][1] > path.row[best][1] - 5e-4 * (ise ? fabs(path.row[best][1]) : 1.0));
    for (int d = 0; d < 4; d++) {
        assert_int_equal(m->set.encoding.max_frequency[d], (int)path.row[best][2]);
        assert_int_equal(basis.frequency[d], (int)path.row[best][2]);
    }
    /* the vertex lies within half a step of the best row */
    assert_true(fabs(log10(m->set.tau / path.row[best][0])) <= 0.25 + 1e-12);
    memory_free(c);
    series_basis_close(&basis);
    judging_close(&j);
    npmd_points_free(pts);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

static void chosen_by_held_out_points(void **state)
{
    (void)state;
    chosen_by(true);
    chosen_by(false);
}

/* Given frequencies stay, and below four dimensions they stay in any case. */
static void frequencies_that_stay(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, POINTS, 0.7, 6);
    npmd_options opt;
    options_of(&opt, (const char *const[]){ "estimator", "series", NULL });
    npmd_model *m = fit_of(pts, &opt);
    assert_int_equal(m->set.encoding.max_frequency[0], 10);
    assert_true(m->set.tau > 0.0);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_by_held_out_points),
        cmocka_unit_test(frequencies_that_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
