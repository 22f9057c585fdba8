/* test_series_choose.c - the choice of tau and of the highest frequency.
 *
 * Every row of the path is held to a fit of its own: on the same part of the points, at that tau and frequency, its
 * criterion is what npmd_score_points says of the held-out points. The path is solved to 1e-6 nats, so a relative density is
 * known to sqrt(2e-6) = 1.4e-3 in the mean square, and the criterion to a few times that. */
#include "estimate.h"
#include "series.h"

enum { POINTS = 400 };

/* What npmd_score_points says of the held-out points, for a fit to the others. */
static double criterion(const npmd_points *training, const npmd_points *held_out, double tau, double frequency)
{
    char tau_text[32], frequency_text[32];
    npmd_options opt;
    npmd_score score;
    npmd_error err = { 0 };
    snprintf(tau_text, sizeof tau_text, "%.17g", tau);
    snprintf(frequency_text, sizeof frequency_text, "%.0f", frequency);
    options_of(&opt, (const char *const[]){ "estimator", "series", "tau", tau_text, "max-frequency", frequency_text,
                                            NULL });
    npmd_model *m = fit_of(training, &opt);
    if (npmd_score_points(m, held_out, 1, NULL, &score, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    npmd_model_free(m);
    return score.ise_criterion_relative;
}

static void chosen_by_held_out_points(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T4");
    npmd_points *pts = clusters(dom, POINTS, 0.7, 5), *training = NULL, *held_out = NULL;
    npmd_options opt;
    series_basis basis;
    series_path path;
    double *c = NULL, worst = 0.0;
    int level = 0, best = 0;
    options_of(&opt, (const char *const[]){ "estimator", "series", "tau", "1e-3", "max-frequency", "3", NULL });
    npmd_model *m = fit_of(pts, &opt);
    series_watch watch = { .model = m, .started = clock_seconds() };
    assert_int_equal(series_basis_open(&basis, dom, (const int[]){ 3, 3, 3, 3 }, NULL), NPMD_OK);
    assert_int_equal(memory_new(&c, basis.size, NULL), NPMD_OK);
    assert_int_equal(series_choose(&watch, pts, true, &basis, &c, &level, &path, NULL), NPMD_OK);

    assert_int_equal(points_hold_out(pts, rng_key_make(m->options.seed, RNG_TUNE, 2),
                                     (size_t)(m->options.holdout * POINTS), &held_out, &training, NULL),
                     NPMD_OK);
    bool lowered = false;
    for (int i = 0; i < path.size; i++) {
        best = path.row[i][1] < path.row[best][1] ? i : best;
        lowered = lowered || path.row[i][2] < 3.0;
        const double expected = criterion(training, held_out, path.row[i][0], path.row[i][2]);
        printf("%g %g  %.6f %.6f\n", path.row[i][0], path.row[i][2], path.row[i][1], expected);
        worst = fmax(worst, fabs(path.row[i][1] - expected) / (1.0 + fabs(expected)));
    }
    check_below("criterion of the path", worst, 5e-3);
    assert_true(lowered); /* tried at least once, better or not */
    for (int d = 0; d < 4; d++) {
        assert_int_equal(m->options.max_frequency[d], (int)path.row[best][2]);
        assert_int_equal(basis.frequency[d], (int)path.row[best][2]);
    }
    /* the vertex lies within half a step of the best row */
    assert_true(fabs(log10(m->options.tau / path.row[best][0])) <= 0.25 + 1e-12);
    memory_free(c);
    series_basis_close(&basis);
    npmd_points_free(training);
    npmd_points_free(held_out);
    npmd_points_free(pts);
    npmd_model_free(m);
    npmd_domain_free(dom);
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
    assert_int_equal(m->options.max_frequency[0], 10);
    assert_true(m->options.tau > 0.0);
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
