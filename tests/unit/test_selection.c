/* test_selection.c - choosing on held-out points: the criterion and the errors of differences against sums made here,
 * the vertex against parabolas, the evidence in files, and a selection whose answer is known. */
#include "estimate.h"

static const char *const SMALL[] = { "features", "4",     "width", "8",      "depth", "2",       "q1", "256", "q2",
                                     "32",       "steps", "40",    "warmup", "5",     "threads", "1",  NULL };

static void vertex_of_parabolas(void **state)
{
    (void)state;
    /* a (t - t0)^2 at -1, 0, 1 has its vertex at t0 */
    for (double t0 = -0.5; t0 <= 0.5; t0 += 0.125) {
        const double here = 3.0 * t0 * t0, below = 3.0 * (1.0 + t0) * (1.0 + t0) - here,
                     above = 3.0 * (1.0 - t0) * (1.0 - t0) - here;
        /* sums and differences of numbers up to 7, a few roundings each */
        check_below("vertex", fabs(choice_vertex(below, above) - t0), 1e-14);
    }
    assert_true(choice_vertex(-1.0, 2.0) == -0.5); /* better below: no further than halfway */
    assert_true(choice_vertex(2.0, -1.0) == 0.5);
    assert_true(choice_vertex(-1.0, -2.0) == 0.5);
    assert_true(choice_vertex(0.0, 0.0) == 0.0);
    assert_true(choice_vertex(NAN, 1.0) == 0.0 && choice_vertex(1.0, NAN) == 0.0);
}

/* Fits to two shares: criterion, difference and its error are made again here from the log densities of the same fits,
 * the mean of f^2 from equidistant nodes, which integrate a smooth periodic function to rounding. */
static void criteria_are_what_they_say(void **state)
{
    (void)state;
    enum { N = 400, SIDE = 64, NODES = SIDE * SIDE, FOLDS = 2, EACH = N / 5, JUDGED = FOLDS * EACH };
    static const size_t side[2] = { SIDE, SIDE };
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, N, 0.7, 3);
    double *x = doubles((size_t)NODES * 2), *v = doubles(NODES);
    quadrature_torus(2, side, false, 0, NODES, x);
    for (int likelihood = 0; likelihood < 2; likelihood++) {
        npmd_options opt;
        fit_plan plan;
        judging j;
        verdict said[2] = { 0 };
        double made[2] = { 0.0, 0.0 }, contribution[2][JUDGED], errors = 0.0, difference = 0.0, se = 0.0, sum = 0.0,
               squares = 0.0;
        options_of(&opt, SMALL);
        assert_int_equal(options_set(&opt, "folds", "2", NULL), NPMD_OK);
        opt.set.criterion = likelihood;
        assert_int_equal(plan_make(estimators_all, &opt.set, NULL, dom, N, &plan, NULL), NPMD_OK);
        const npmd_compute how = model_compute(&plan.full);
        assert_int_equal(judging_open(&j, pts, &plan.full, JUDGING_TRAINING, NULL), NPMD_OK);
        assert_int_equal(j.folds, FOLDS);
        assert_int_equal(j.judged, JUDGED);
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < FOLDS; k++) {
                double mean = 0.0, spread = 0.0, *at = contribution[i] + k * EACH;
                opt.set.tau = i == 0 ? 1e-4 : 1e-2;
                npmd_model *m = fit_of(j.training[k], &opt);
                assert_int_equal(judging_hear(&j, k, m, &how, &said[i], NULL), NPMD_OK);
                assert_int_equal(npmd_log_density(m, j.held_out[k]->x, EACH, at, NULL), NPMD_OK);
                values_of(m, 0, x, NODES, JET_VALUE, v);
                for (size_t q = 0; !likelihood && q < NODES; q++)
                    made[i] += exp(2.0 * (v[q] - m->facts.log_integral)) / NODES / FOLDS;
                for (int q = 0; q < EACH; q++) {
                    at[q] = likelihood ? -at[q] : -2.0 * exp(at[q]) * dom->volume;
                    made[i] += at[q] / JUDGED;
                    mean += at[q] / EACH;
                }
                for (int q = 0; q < EACH; q++)
                    spread += pow(at[q] - mean, 2.0);
                errors += i == 0 ? spread / EACH / (EACH - 1) / FOLDS / FOLDS : 0.0; /* shares by themselves */
                npmd_model_free(m);
            }
        for (int q = 0; q < JUDGED; q++)
            sum += (contribution[1][q] - contribution[0][q]) / JUDGED;
        for (int q = 0; q < JUDGED; q++)
            squares += pow(contribution[1][q] - contribution[0][q] - sum, 2.0);
        judging_compare(&j, &said[1], &said[0], &difference, &se);
        /* equal fits and equal sums; a score's rule for f^2 is as fine as that of f has to be for 2e-5, and not finer */
        const double most = likelihood ? 1e-12 : 5e-4 * fabs(made[0]);
        check_below("criterion", fabs(said[0].criterion - made[0]), most);
        check_below("difference", fabs(difference - (made[1] - made[0])), most);
        check_below("its error", fabs(se / (sqrt(squares) / JUDGED) - 1.0), 1e-9);
        if (likelihood) { /* of all points at once */
            errors = 0.0;
            for (int q = 0; q < JUDGED; q++)
                errors += pow(contribution[0][q] - made[0], 2.0) / JUDGED / JUDGED;
        }
        /* a share's own divides by n - 1, with the error of its integral; that of all points by n */
        check_below("error of the criterion", fabs(said[0].se / sqrt(errors) - 1.0), likelihood ? 1e-9 : 1e-6);
        memory_free(said[0].log_density), memory_free(said[1].log_density);
        judging_close(&j);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x), free(v);
}

static npmd_model *selected(const npmd_points *pts, const npmd_options *opt, const char *const *over, int lists)
{
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    if (npmd_select(pts->domain, pts, opt, over, lists, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return m;
}

static npmd_choice_row row_of(const npmd_model *m, int i)
{
    npmd_choice_row row = NPMD_SIZED(npmd_choice_row);
    assert_int_equal(npmd_model_choice_row(m, i, &row, NULL), NPMD_OK);
    return row;
}

/* A network beats its start, which a rate of zero leaves it at. The evidence survives the file, and equal selections
 * are equal models. */
static void the_better_setting_wins(void **state)
{
    (void)state;
    static const char *const OVER[] = { "rate=0:5e-3", "tau" };
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, 400, 0.5, 4);
    npmd_options opt;
    npmd_model *loaded = NULL;
    char path[300];
    options_of(&opt, SMALL);
    opt.set.network.skip_start = SKIP_ZERO;
    npmd_model *m = selected(pts, &opt, OVER, 2);
    npmd_choice c = NPMD_SIZED(npmd_choice), again = NPMD_SIZED(npmd_choice);
    assert_int_equal(npmd_model_choice(m, &c, NULL), NPMD_OK);
    assert_true(m->set.descent.rate == 5e-3);
    assert_true(c.rows >= 4);
    assert_true(c.training == 320 && c.held_out == 400); /* five shares in turn */
    int last = 0;
    for (int i = 0; i < c.rows; i++) {
        const npmd_choice_row row = row_of(m, i);
        assert_true(strncmp(row.settings, "rate=0 omega=", 13) == 0
                    || strncmp(row.settings, "rate=5e-3 omega=", 16) == 0);
        assert_true(row.difference_se >= 0.0);
        if (row.difference == 0.0)
            last = i;
    }
    assert_true(strncmp(row_of(m, last).settings, "rate=5e-3 ", 10) == 0);
    temporary_path(path, sizeof path);
    assert_int_equal(npmd_save(m, path, NULL), NPMD_OK);
    assert_int_equal(npmd_load(path, &loaded, NULL), NPMD_OK);
    assert_int_equal(npmd_model_choice(loaded, &again, NULL), NPMD_OK);
    assert_int_equal(again.rows, c.rows);
    assert_string_equal(c.criterion, "ise");
    assert_string_equal(again.criterion, c.criterion);
    assert_int_equal(again.held_out, c.held_out);
    for (int i = 0; i < c.rows; i++) { /* one by one: between the members there may be anything */
        const npmd_choice_row a = row_of(loaded, i), b = row_of(m, i);
        assert_true(a.stage == b.stage && a.steps == b.steps && a.kept == b.kept);
        assert_true(a.tau == b.tau && a.criterion == b.criterion && a.criterion_se == b.criterion_se);
        assert_true(a.difference == b.difference && a.difference_se == b.difference_se);
        assert_string_equal(a.settings, b.settings);
    }
    npmd_choice_row none = NPMD_SIZED(npmd_choice_row);
    assert_int_equal(npmd_model_choice_row(m, c.rows, &none, NULL), NPMD_ERR_ARGUMENT);
    assert_int_equal(npmd_model_choice_row(m, -1, &none, NULL), NPMD_ERR_ARGUMENT);
    npmd_model_free(loaded);
    loaded = selected(pts, &opt, OVER, 2);
    assert_true(loaded->facts.tau == m->facts.tau);
    npmd_model_free(loaded);
    npmd_model_free(m);
    unlink(path);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static void lists_that_make_no_sense(void **state)
{
    (void)state;
    static const struct {
        const char *list, *says;
    } CASES[] = { { "rate", "option=value" },
                  { "rate=", "`rate`" },
                  { "nonsense=1:2", "nonsense" },
                  { "width=8:many", "many" },
                  { "width=1:2:3:4:5:6:7:8:9", "81 combinations" } };
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, 400, 0.5, 4), *few = clusters(dom, 19, 0.5, 4);
    npmd_options opt;
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    options_of(&opt, SMALL);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *const over[] = { CASES[i].list, "depth=1:2:3:4:5:6:7:8:9" };
        assert_int_equal(npmd_select(dom, pts, &opt, over, i == 4 ? 2 : 1, &m, &err), NPMD_ERR_ARGUMENT);
        if (strstr(err.text, CASES[i].says) == NULL)
            fail_msg("%s: %s", CASES[i].list, err.text);
    }
    assert_int_equal(npmd_select(dom, few, &opt, NULL, 0, &m, &err), NPMD_ERR_SHAPE);
    assert_non_null(strstr(err.text, "19 points are too few"));
    assert_null(m);
    npmd_points_free(pts);
    npmd_points_free(few);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertex_of_parabolas),
        cmocka_unit_test(criteria_are_what_they_say),
        cmocka_unit_test(the_better_setting_wins),
        cmocka_unit_test(lists_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
