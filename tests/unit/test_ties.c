/* test_ties.c - points that occur more than once, held out apart or together: the split, the count, and what kernels
 * make of it. */
#include "kernel_fits.h"

static npmd_model *fit_with(const npmd_points *pts, const char *ties, const char *const *pair)
{
    npmd_options opt;
    npmd_error err = { 0 };
    options_of(&opt, pair);
    must(npmd_options_set(&opt, "ties", ties, &err), &err);
    return fit_of(pts, &opt);
}

/* Rows of x (n) whose value is v. */
static size_t rows_of(const npmd_points *pts, double v)
{
    size_t count = 0;
    for (size_t i = 0; i < pts->n; i++)
        count += pts->x[i] == v;
    return count;
}

/* Apart: every row is in one of the parts. Together: none of the one equals one of the other. The rows held out are the
 * same, and so is the order of the others. */
static void parts_of_points(void **state)
{
    (void)state;
    enum { N = 90, FIRST = 15, OUT = 20, MOST = 30 };
    npmd_domain *dom = domain_of("S1");
    npmd_points *held_out[2] = { NULL }, *training[2] = { NULL }, *some = NULL, *again = NULL;
    const rng_key key = rng_key_make(1, RNG_TUNE, 3);
    npmd_error err = { 0 };
    double x[N];
    for (int i = 0; i < N; i++)
        x[i] = 0.1 * (i / 3);
    npmd_points *pts = points_of(dom, x, N);
    for (int ties = TIES_APART; ties <= TIES_TOGETHER; ties++) {
        must(points_hold_out(pts, key, FIRST, OUT, ties, SIZE_MAX, &held_out[ties], &training[ties], &err), &err);
        assert_int_equal(held_out[ties]->n, OUT);
        assert_memory_equal(held_out[ties]->x, held_out[0]->x, OUT * sizeof *x);
    }
    assert_int_equal(training[TIES_APART]->n, N - OUT);
    for (int i = 0; i < N; i += 3)
        assert_int_equal(rows_of(held_out[0], x[i]) + rows_of(training[TIES_APART], x[i]), 3);
    size_t next = 0; /* what is left together is left apart, too, in the same order */
    for (size_t i = 0; i < training[TIES_TOGETHER]->n; i++, next++) {
        assert_int_equal(rows_of(held_out[0], training[TIES_TOGETHER]->x[i]), 0);
        while (training[TIES_APART]->x[next] != training[TIES_TOGETHER]->x[i])
            assert_true(rows_of(held_out[0], training[TIES_APART]->x[next++]) > 0);
    }
    must(points_hold_out(pts, key, FIRST, OUT, TIES_APART, MOST, &again, &some, &err), &err);
    assert_int_equal(some->n, MOST);
    assert_memory_equal(some->x, training[TIES_APART]->x, MOST * sizeof *x);
    for (int ties = 0; ties < 2; ties++) {
        npmd_points_free(held_out[ties]);
        npmd_points_free(training[ties]);
    }
    npmd_points_free(some);
    npmd_points_free(again);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* Both of a pair count, all three of three; an unordered pair equals itself with its points exchanged. */
static void twins_are_counted(void **state)
{
    (void)state;
    npmd_domain *line = domain_of("S1"), *pairs = domain_of("T2");
    const double x[] = { 1.0, 2.0, 1.0, 3.0, 4.0, 4.0, 4.0, 5.0 }, y[] = { 1.0, 2.0, 2.0, 1.0, 3.0, 4.0 };
    npmd_points *a = points_of(line, x, 8), *b = points_of(pairs, y, 3);
    npmd_error err = { 0 };
    size_t count = 9;
    double squares = 0.0;
    must(points_count_twins(a, &count, &err), &err);
    assert_int_equal(count, 5);
    must(points_squared_weights(a, TIES_APART, &squares, &err), &err);
    assert_true(squares == 8.0);
    must(points_squared_weights(a, TIES_TOGETHER, &squares, &err), &err);
    assert_true(squares == 4.0 + 1.0 + 1.0 + 9.0 + 1.0);
    must(points_count_twins(b, &count, &err), &err);
    assert_int_equal(count, 0);
    b->unordered = true;
    must(points_count_twins(b, &count, &err), &err);
    assert_int_equal(count, 2);
    npmd_points_free(a);
    npmd_points_free(b);
    npmd_domain_free(line);
    npmd_domain_free(pairs);
}

/* Without twins the rule is nothing: equal to the last bit. */
static void no_twins_no_difference(void **state)
{
    (void)state;
    enum { N = 300 };
    static const char *const HOW[][10] = {
        { "estimator", "kde", "concentration-rule", "ise", NULL },
        { "estimator", "kde", "concentration-rule", "likelihood", NULL },
        { "estimator", "kde", "bandwidth", "adaptive", NULL },
        { "estimator", "kde", "bandwidth", "mixture", NULL },
        { "estimator", "series", "max-frequency", "4", NULL },
        { "steps", "20", "width", "8", "tau", "1e-3", "stop", "ise", NULL },
    };
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, N, 0.5, 4);
    double one[N], other[N];
    for (size_t k = 0; k < sizeof HOW / sizeof *HOW; k++) {
        npmd_model *a = fit_with(pts, "apart", HOW[k]), *b = fit_with(pts, "together", HOW[k]);
        assert_int_equal(a->facts.twins, 0);
        assert_true(a->facts.objective == b->facts.objective);
        values_of(a, 1, pts->x, N, JET_VALUE, one);
        values_of(b, 1, pts->x, N, JET_VALUE, other);
        assert_memory_equal(one, other, sizeof one);
        npmd_model_free(a);
        npmd_model_free(b);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

enum { PLACES = 40 };

/* Every third point is one of PLACES, the others are spread about a pole: an atomic part and a continuous one. */
static npmd_points *places_and_points(const npmd_domain *dom, size_t n, uint64_t seed)
{
    double spot[PLACES * 3], *x = doubles(n * 3);
    uint64_t where = 77;
    for (size_t i = 0; i < PLACES + n; i++) {
        double *at = i < PLACES ? spot + 3 * i : x + 3 * (i - PLACES), r = 0.0;
        uint64_t *from = i < PLACES ? &where : &seed;
        for (int j = 0; j < 3; j++) {
            at[j] = (j == 2) + 0.5 * test_normal(from);
            r += at[j] * at[j];
        }
        for (int j = 0; j < 3; j++)
            at[j] /= sqrt(r);
        if (i >= PLACES && i % 3 == 0)
            memcpy(at, spot + 3 * (size_t)(test_uniform(&seed) * PLACES), 3 * sizeof *at);
    }
    npmd_points *pts = points_of(dom, x, n);
    free(x);
    return pts;
}

static double mean_log_density(const npmd_model *m, const npmd_points *pts)
{
    double *f = doubles(pts->n), sum = 0.0;
    log_density(m, "cpu", pts->x, pts->n, f);
    for (size_t i = 0; i < pts->n; i++) {
        assert_true(isfinite(f[i]));
        sum += f[i] / (double)pts->n;
    }
    free(f);
    return sum;
}

static bool warns_of_ties(const npmd_model *m)
{
    bool found = false;
    for (int i = 0; i < m->warnings; i++)
        found = found || strstr(m->warning[i], "`ties` together") != NULL;
    return found;
}

/* New points come back to the places of old ones. A mixture that held points out apart knows, and says so: its narrowest
 * kernels have the share of the places, a third, and no concentration is above its bound. New points at the places gain
 * some log(1e8 / 240,000), others lose log(2/3) at worst; what it promised of new points is what it keeps, within the
 * noise of both. */
static void mixtures_see_places(void **state)
{
    (void)state;
    enum { N = 1500, DRAWS = 500 };
    static const char *const MIXTURE[] = { "estimator", "kde", "bandwidth", "mixture", NULL };
    npmd_domain *dom = domain_of("S2");
    npmd_points *old = places_and_points(dom, N, 5), *new = places_and_points(dom, N, 6);
    npmd_model *apart = fit_with(old, "apart", MIXTURE), *together = fit_with(old, "together", MIXTURE);
    const kde_state *k = apart->state;
    const double a = mean_log_density(apart, new), b = mean_log_density(together, new);
    double narrow = 0.0, largest = 0.0, *x = doubles(DRAWS * 3);
    npmd_error err = { 0 };
    for (int p = 0; p < k->parts; p++) {
        largest = fmax(largest, k->part[p].neighbours == 0 ? k->part[p].kappa : 0.0);
        narrow += k->part[p].neighbours == 0 && k->part[p].kappa > 1e6 ? k->part[p].weight : 0.0;
    }
    print_message("    new points: apart %.3f, together %.3f, promised %.3f; narrow %.3f, kappa to %.3g\n", a, b,
                  -apart->facts.objective, narrow, largest);
    assert_true(apart->facts.twins > N / 4);
    assert_true(a > b + 1.0);
    assert_true(fabs(a + apart->facts.objective) < 0.5); /* 1500 points of a log density that spreads over 6 nats */
    assert_true(largest > 1e6 && largest <= KDE_KAPPA_MOST * (1.0 + 1e-9));
    assert_true(fabs(narrow - 1.0 / 3.0) < 0.05); /* four standard errors of a share of 1500 */
    assert_true(warns_of_ties(apart) && !warns_of_ties(together));
    npmd_model *back = saved_and_loaded(apart);
    assert_true(mean_log_density(back, new) == a && back->facts.twins == apart->facts.twins);
    must(npmd_sample(apart, 3, DRAWS, NULL, x, NULL, &err), &err);
    for (int i = 0; i < DRAWS; i++)
        check_quiet("draws on the sphere",
                    fabs(x[3 * i] * x[3 * i] + x[3 * i + 1] * x[3 * i + 1] + x[3 * i + 2] * x[3 * i + 2] - 1.0), 1e-12);
    npmd_model_free(back);
    npmd_model_free(apart);
    npmd_model_free(together);
    npmd_points_free(old);
    npmd_points_free(new);
    npmd_domain_free(dom);
    free(x);
}

/* Angles rounded to hundredths, each of them many times: kernels are no narrower than the rounding, 12 / delta^2. */
static void rounding_bounds_the_concentration(void **state)
{
    (void)state;
    enum { N = 900 };
    static const char *const HOW[][8] = { { "estimator", "kde", "bandwidth", "mixture", NULL },
                                          { "estimator", "kde", "concentration-rule", "least-squares", NULL },
                                          { "estimator", "kde", "concentration-rule", "likelihood", NULL } };
    npmd_domain *dom = domain_of("S1");
    double x[N];
    uint64_t seed = 8;
    for (int i = 0; i < N; i++)
        x[i] = round(100.0 * (3.0 + 0.5 * test_normal(&seed))) / 100.0;
    npmd_points *pts = points_of(dom, x, N);
    for (size_t h = 0; h < sizeof HOW / sizeof *HOW; h++) {
        npmd_model *m = fit_with(pts, "apart", HOW[h]);
        const kde_state *k = m->state;
        for (int p = 0; p < k->parts; p++)
            for (size_t at = 0; at < k->view.ld; at++)
                assert_true(k->part[p].scale_wide[at] <= 12e4 * 1.01); /* float32 sees the distance to 1 % */
        npmd_model_free(m);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* Resampled points repeat what was there once: members that see them hold it out together. */
static void resamples_are_an_artefact(void **state)
{
    (void)state;
    static const char *const HOW[] = { "estimator", "kde",     "bandwidth", "mixture", "bootstrap",
                                       "on",        "members", "3",         NULL };
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, 200, 0.5, 4);
    npmd_model *m = fit_with(pts, "apart", HOW);
    assert_int_equal(m->parts, 3);
    assert_int_equal(m->part[0]->set.ties, TIES_APART);
    assert_int_equal(m->part[2]->set.ties, TIES_TOGETHER);
    assert_int_equal(m->facts.twins, 0);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_points),
        cmocka_unit_test(twins_are_counted),
        cmocka_unit_test(no_twins_no_difference),
        cmocka_unit_test(mixtures_see_places),
        cmocka_unit_test(rounding_bounds_the_concentration),
        cmocka_unit_test(resamples_are_an_artefact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
