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

/* A linear field's pilots: criterion, difference and its error are made again here from the log densities of the same
 * fit, the mean of f^2 from equidistant nodes, which integrate a smooth periodic function to rounding. */
static void criteria_are_what_they_say(void **state)
{
    (void)state;
    enum { N = 400, SIDE = 64, NODES = SIDE * SIDE };
    static const size_t side[2] = { SIDE, SIDE };
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, N, 0.7, 3);
    double *x = doubles((size_t)NODES * 2), *v = doubles(NODES);
    quadrature_torus(2, side, false, 0, NODES, x);
    for (int likelihood = 0; likelihood < 2; likelihood++) {
        npmd_options opt;
        fit_plan plan;
        pilots *p = NULL;
        int which[2] = { -1, -1 };
        double made[2] = { 0.0, 0.0 }, *contribution[2], difference = 0.0, se = 0.0, sum = 0.0, squares = 0.0;
        options_of(&opt, SMALL);
        opt.set.criterion = likelihood;
        assert_int_equal(plan_make(estimators_all, &opt.set, NULL, dom, N, &plan, NULL), NPMD_OK);
        assert_int_equal(memory_new(&p, 1, NULL), NPMD_OK);
        assert_int_equal(pilots_open(p, pts, &plan.full, &(fit_watch){ 0 }, NULL), NPMD_OK);
        assert_true(p->usable);
        assert_int_equal(p->held_out->n, N / 10);
        assert_int_equal(p->training->n, N - N / 10);
        const size_t n = p->held_out->n;
        for (int i = 0; i < 2; i++) {
            const double tau = i == 0 ? 1e-4 : 1e-2;
            assert_int_equal(pilot_fit(p, &plan, &plan.full, tau, 40, 1, "", &which[i], NULL), NPMD_OK);
            npmd_options alone = opt; /* the same fit by itself */
            alone.set = plan.full;
            alone.set.tau = tau;
            alone.set.descent.accuracy = 3e-3;
            alone.set.descent.batch = 0;
            npmd_model *m = fit_of(p->training, &alone);
            contribution[i] = doubles(n);
            assert_int_equal(npmd_log_density(m, p->held_out->x, n, contribution[i], NULL), NPMD_OK);
            values_of(m, 0, x, NODES, JET_VALUE, v);
            for (size_t j = 0; !likelihood && j < NODES; j++)
                made[i] += exp(2.0 * (v[j] - m->facts.log_integral)) / NODES;
            for (size_t j = 0; j < n; j++) {
                contribution[i][j] = likelihood ? -contribution[i][j] : -2.0 * exp(contribution[i][j]) * dom->volume;
                made[i] += contribution[i][j] / (double)n;
            }
            npmd_model_free(m);
        }
        for (size_t j = 0; j < n; j++)
            sum += (contribution[1][j] - contribution[0][j]) / (double)n;
        for (size_t j = 0; j < n; j++)
            squares += pow(contribution[1][j] - contribution[0][j] - sum, 2.0);
        pilot_compare(p, which[1], which[0], &difference, &se);
        /* equal fits: only the log integral, to 1e-3, and looks that are a few steps old tell them apart. The last 2 of
         * 10 looks are at most 4 of 40 steps old, where the rate has fallen to (1 + cos(0.9 pi)) / 2 = 2.4 % of its
         * highest: v moves by at most 4 steps x 2.4e-5 a weight there, a thousandth of its values */
        check_below("criterion", fabs(p->pilot[which[0]].row.criterion - made[0]), 5e-3 * fabs(made[0]));
        check_below("difference", fabs(difference - (made[1] - made[0])), 5e-3 * fabs(made[0]));
        check_below("its error", fabs(se / (sqrt(squares / (double)(n - 1) / (double)n)) - 1.0), 1e-2);
        free(contribution[0]), free(contribution[1]);
        pilots_close(p);
        memory_free(p);
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
    assert_int_equal(c.training + c.held_out, 400);
    int last = 0;
    for (int i = 0; i < c.rows; i++) {
        const npmd_choice_row row = row_of(m, i);
        assert_true(strcmp(row.settings, "rate=0") == 0 || strcmp(row.settings, "rate=5e-3") == 0);
        assert_true(row.difference_se >= 0.0);
        if (row.difference == 0.0)
            last = i;
    }
    assert_string_equal(row_of(m, last).settings, "rate=5e-3");
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
    npmd_points *pts = clusters(dom, 400, 0.5, 4), *few = clusters(dom, 20, 0.5, 4);
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
    assert_non_null(strstr(err.text, "20 points are too few"));
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
