/* test_judging.c - what held-out points say: shares of the points, means and paired differences against sums made here,
 * the rule by which a course goes on against courses trained here, rivals against fits of their own, the weights of a
 * stack against optima known beforehand, and what auto becomes. */
#include "estimate.h"
#include "blend.h"
#include "stack_weights.h"

#define QUICK                                                                                                          \
    "width", "8", "depth", "2", "q1", "128", "q2", "32", "warmup", "5", "threads", "1", "convex-gap", "off", "seed", "3"

static fit_plan plan_with(const npmd_domain *dom, size_t n, const char *const *pair)
{
    npmd_options opt;
    npmd_error err = { 0 };
    fit_plan plan;
    options_of(&opt, pair);
    if (plan_make(estimators_all, &opt.set, NULL, dom, n, &plan, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return plan;
}
#define PLAN_WITH(dom, n, ...) plan_with(dom, n, (const char *const[]){ __VA_ARGS__, NULL })

static npmd_model *fit_with(const npmd_points *pts, const char *const *pair)
{
    npmd_options opt;
    options_of(&opt, pair);
    return fit_of(pts, &opt);
}
#define FIT_WITH(pts, ...) fit_with(pts, (const char *const[]){ __VA_ARGS__, NULL })

static void open_judging(judging *j, const npmd_points *pts, const settings *set)
{
    npmd_error err = { 0 };
    if (judging_open(j, pts, set, JUDGING_TRAINING, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

static size_t row_number(const npmd_points *all, double x)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->x[i] == x)
            return i;
    fail_msg("a point that was not there");
    return 0;
}

/* Held-out shares have no point in common; a share and what it is judged by are all points, each once. */
static void shares_are_disjoint(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        const char *holdout, *folds;
        int shares;
        size_t each;
    } CASES[] = { { 100, "0.2", "0", 5, 20 },      { 5000, "0.2", "0", 2, 1000 }, { 20000, "0.2", "0", 1, 4000 },
                  { 1000, "0.2", "3", 3, 200 },    { 1000, "0.2", "10", 5, 200 }, { 1000, "0.1", "10", 10, 100 },
                  { 1000, "0.5", "0", 2, 500 },    { 1000, "0", "0", 5, 200 },    { 1000, "0", "8", 8, 125 },
                  { 200, "0.001", "0", 0, 0 },     { 19, "0.5", "0", 0, 0 },      { 20, "0.2", "0", 5, 4 },
                  { 200000, "0.2", "0", 1, 16384 } };
    npmd_domain *dom = domain_of("S1");
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        const size_t n = CASES[c].n;
        npmd_points *pts = clusters(dom, n, 0.0, 3 + c);
        int *times = calloc(n, sizeof *times);
        judging j;
        const fit_plan plan = PLAN_WITH(dom, n, "holdout", CASES[c].holdout, "folds", CASES[c].folds, "tau", "1e-3");
        open_judging(&j, pts, &plan.full);
        assert_int_equal(j.folds, CASES[c].shares);
        assert_int_equal(j.judged, (size_t)CASES[c].shares * CASES[c].each);
        if (n >= 20) /* fewer are not asked */
            assert_true(judging_points(&plan.full, n) == (double)j.judged);
        assert_non_null(times);
        for (int k = 0; k < j.folds; k++) {
            assert_int_equal(j.held_out[k]->n, CASES[c].each);
            assert_int_equal(j.training[k]->n, n - CASES[c].each);
            for (size_t i = 0; n <= 5000 && i < j.held_out[k]->n; i++)
                times[row_number(pts, j.held_out[k]->x[i])]++;
        }
        for (size_t i = 0, seen = 0; n <= 5000 && j.folds > 0 && i < n; i++) {
            assert_true(times[i] <= 1);
            seen += (size_t)times[i];
            if (i == n - 1)
                assert_int_equal(seen, j.judged);
        }
        for (int k = 0; k < j.folds && n <= 1000; k++) {
            memset(times, 0, n * sizeof *times);
            for (size_t i = 0; i < j.held_out[k]->n; i++)
                times[row_number(pts, j.held_out[k]->x[i])]++;
            for (size_t i = 0; i < j.training[k]->n; i++)
                times[row_number(pts, j.training[k]->x[i])]++;
            for (size_t i = 0; i < n; i++)
                assert_int_equal(times[i], 1);
        }
        judging_close(&j);
        free(times);
        npmd_points_free(pts);
    }
    npmd_domain_free(dom);
}

/* Five points with weights: sums made here. */
static void differences_are_paired(void **state)
{
    (void)state;
    enum { N = 5 };
    double weight[N] = { 1.0, 2.0, 0.5, 0.0, 1.5 }, room[N], a[N] = { 1.0, -2.0, 0.25, 9.0, 3.0 },
           b[N] = { 0.5, -1.0, 0.0, -9.0, 3.5 }, mean = 0.0, se = 0.0;
    judging j = { .judged = N, .weight = weight, .room = room, .volume = 2.0 };
    const double sum = 1.0 * 1.0 + 2.0 * -2.0 + 0.5 * 0.25 + 1.5 * 3.0,
                 apart = (1.0 * 0.5 + 2.0 * -1.0 + 0.5 * 0.25 + 1.5 * -0.5) / 5.0;
    judging_mean(&j, a, &mean, &se);
    check_below("mean", fabs(mean - sum / 5.0), 1e-15);
    const double each[N] = { 1.0 * (1.0 - mean), 2.0 * (-2.0 - mean), 0.5 * (0.25 - mean), 0.0, 1.5 * (3.0 - mean) };
    double squares = 0.0;
    for (int i = 0; i < N; i++)
        squares += each[i] * each[i];
    check_below("its error", fabs(se - sqrt(squares) / 5.0), 1e-15);
    judging_difference(&j, a, b, &mean, &se);
    check_below("difference", fabs(mean - apart), 1e-15);
    squares = pow(1.0 * (0.5 - apart), 2.0) + pow(2.0 * (-1.0 - apart), 2.0) + pow(0.5 * (0.25 - apart), 2.0)
              + pow(1.5 * (-0.5 - apart), 2.0);
    check_below("its error", fabs(se - sqrt(squares) / 5.0), 1e-15);
    /* of the likelihood the difference of the criteria is that of the points, turned round */
    verdict v = { .log_density = a, .criterion = 7.0 }, w = { .log_density = b, .criterion = 4.0 };
    double by = 0.0, by_se = 0.0;
    j.criterion = CRITERION_LIKELIHOOD;
    judging_compare(&j, &v, &w, &by, &by_se);
    assert_true(by == 3.0);
    check_below("the same error", fabs(by_se - se), 1e-15);
    j.criterion = CRITERION_ISE; /* -2 volume f, point by point */
    judging_compare(&j, &v, &w, &by, &by_se);
    for (int i = 0; i < N; i++) {
        a[i] = -4.0 * exp(a[i]);
        b[i] = -4.0 * exp(b[i]);
    }
    judging_difference(&j, a, b, &mean, &se);
    assert_true(by == 3.0 && by_se == se);
}

/* ---- courses ----------------------------------------------------------------------------------------------------- */

static course_kind kind_of(const settings *set)
{
    return (course_kind){ set->network.omega, set->tau, set->network.width, set->network.depth, set->encoding.from };
}

/* The next look of a course, as search.c says it: from the weights of the look before, at a rate that falls anew. */
static void look_by_hand(const judging *j, const fit_plan *plan, int look, npmd_model **model, verdict *v)
{
    npmd_error err = { 0 };
    const int64_t steps = look == 0 ? 125 : (int64_t)125 << (look - 1);
    const course_kind kind = kind_of(&plan->full);
    const derived d = derive_course(&plan->asked, &plan->full, &kind, steps);
    const npmd_compute how = model_compute(&plan->full);
    for (int k = 0; k < j->folds; k++) {
        npmd_model *before = model[k];
        const fit_origin origin = { .model = before, .encoded = before, .model_path = "", .encoded_path = "" };
        fit_plan own;
        if (plan_make(plan->estimators, &d.set, &origin, plan->domain, j->training[k]->n, &own, &err) != NPMD_OK
            || fit_run(&own, j->training[k], &(fit_watch){ 0 }, &model[k], &err) != NPMD_OK
            || judging_hear(j, k, model[k], &how, v, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        npmd_model_free(before);
    }
}

/* A course is as long as its rule says, of looks trained here: the first one ends where a doubling has lost more than its
 * error, and waits at four looks for others to challenge it; of the best one the shortest that is as good as any is kept. */
static void courses_end_by_their_rule(void **state)
{
    (void)state;
    static const double SPREAD[] = { 0.05, 0.5, 0.0 };
    npmd_domain *dom = domain_of("S1");
    int looks[3] = { 0 };
    for (int c = 0; c < 3; c++) {
        npmd_points *pts = clusters(dom, 200, SPREAD[c], 5);
        const fit_plan plan = PLAN_WITH(dom, 200, "tau", "1e-5", "omega", "2.5", "encoding", "coordinates", "folds",
                                        "2", QUICK);
        npmd_model *model[JUDGING_MOST] = { NULL };
        verdict v[10] = { 0 };
        choice_record found = { 0 };
        search *s = NULL;
        judging j;
        settings set = plan.full;
        bool on = true;
        open_judging(&j, pts, &plan.full);
        assert_int_equal(search_open(&plan, &j, "words", &(fit_watch){ 0 }, &found, &s, NULL), NPMD_OK);
        assert_int_equal(search_start(s, NULL), NPMD_OK);
        for (int i = 0; on; i++) {
            double gain = 0.0, se = 0.0;
            assert_true(i < found.rows);
            look_by_hand(&j, &plan, i, model, &v[i]);
            assert_int_equal(found.row[i].steps, 125 << i);
            assert_true(found.row[i].criterion == v[i].criterion && found.row[i].criterion_se == v[i].se);
            assert_string_equal(found.row[i].settings, "words omega=2.5 encoding=coordinates");
            looks[c] = i + 1;
            if (i == 0)
                continue;
            judging_difference(&j, v[i].log_density, v[i - 1].log_density, &gain, &se);
            on = i < 3 && gain > -se;
        }
        assert_int_equal(found.rows, looks[c]);
        /* the best look, and a length about it */
        int least = 0, best = -1;
        for (int i = 0; i < looks[c]; i++)
            least = v[i].criterion < v[least].criterion ? i : least;
        for (int i = 0; i <= least && best < 0; i++) {
            double gain = 0.0, se = 0.0;
            judging_difference(&j, v[least].log_density, v[i].log_density, &gain, &se);
            best = i == least || gain <= 0.5 * se ? i : -1;
        }
        assert_true(search_verdict(s)->criterion == v[best].criterion);
        search_differences(s, search_verdict(s));
        for (int i = 0; i < looks[c]; i++) {
            assert_int_equal(found.row[i].kept, i == best);
            check_below("difference to the best", fabs(found.row[i].difference - (v[i].criterion - v[best].criterion)),
                        1e-14);
        }
        search_take(s, &set);
        assert_true(set.descent.steps >= (int64_t)((125 << best) * 0.7)
                    && set.descent.steps <= (int64_t)((125 << best) * 1.42));
        assert_true(set.tau == 1e-5 && set.network.omega == 2.5);
        for (int k = 0; k < j.folds; k++)
            npmd_model_free(model[k]);
        for (int i = 0; i < looks[c]; i++)
            memory_free(v[i].log_density);
        search_close(s);
        choice_close(&found);
        judging_close(&j);
        npmd_points_free(pts);
    }
    printf("courses of %d, %d and %d looks\n", looks[0], looks[1], looks[2]);
    assert_true(looks[0] > looks[2]); /* a sharp density takes long, noise does not */
    npmd_domain_free(dom);
}

/* Where tau and the length are given, nothing is chosen; where one is, the other is. */
static void what_is_given_stays(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 150, 0.5, 5), *few = clusters(dom, 60, 0.5, 5);
    npmd_model *m = FIT_WITH(pts, "tau", "1e-3", "steps", "30", QUICK);
    npmd_choice c = NPMD_SIZED(npmd_choice);
    assert_int_equal(npmd_model_choice(m, &c, NULL), NPMD_OK);
    assert_true(c.rows == 0 && c.rivals == 0 && isnan(c.nll));
    npmd_model_free(m);
    m = FIT_WITH(pts, "steps", "30", "rivals", "off", "folds", "1", QUICK);
    assert_int_equal(npmd_model_choice(m, &c, NULL), NPMD_OK);
    assert_true(c.rows > 1 && c.rivals == 0 && isfinite(c.nll) && c.held_out == 30 && c.training == 120);
    assert_string_equal(c.criterion, "likelihood");
    assert_int_equal(m->facts.steps, 30);
    for (int i = 0; i < c.rows; i++)
        assert_int_equal(m->choice.row[i].steps, 30);
    npmd_model_free(m);
    m = FIT_WITH(pts, "tau", "1e-3", "rivals", "off", "folds", "1", QUICK);
    assert_int_equal(npmd_model_choice(m, &c, NULL), NPMD_OK);
    assert_true(c.rows > 1 && c.rivals == 0 && m->set.tau == 1e-3 && m->facts.steps == m->set.descent.steps);
    npmd_model_free(m);
    m = FIT_WITH(few, QUICK); /* too few to learn settings from */
    assert_int_equal(npmd_model_choice(m, &c, NULL), NPMD_OK);
    assert_true(c.rows == 0 && c.rivals == 0 && isnan(c.nll) && m->facts.steps == 500);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_points_free(few);
    npmd_domain_free(dom);
}

/* ---- rivals ------------------------------------------------------------------------------------------------------ */

/* The rivals' scores are those of separate fits, made here of the same points; so is the field's. */
static void rivals_are_fits_of_their_own(void **state)
{
    (void)state;
    static const char *const NAME[] = { "series", "kde mixture" };
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 300, 0.5, 5);
    npmd_model *m = FIT_WITH(pts, "steps", "40", "folds", "2", QUICK), *own[2] = { NULL };
    const fit_plan plan = PLAN_WITH(dom, 300, "steps", "40", "folds", "2", QUICK);
    npmd_choice c = NPMD_SIZED(npmd_choice);
    npmd_rival none = NPMD_SIZED(npmd_rival);
    judging j;
    open_judging(&j, pts, &plan.full);
    double *field = doubles(j.judged), *rival = doubles(j.judged), mean = 0.0, se = 0.0;
    assert_int_equal(npmd_model_choice(m, &c, NULL), NPMD_OK);
    assert_int_equal(c.rivals, 2);
    assert_int_equal(j.folds, 2);
    assert_int_equal(c.held_out, j.judged);
    for (int i = -1; i < 2; i++) {
        npmd_options opt;
        npmd_rival r = NPMD_SIZED(npmd_rival);
        size_t at = 0;
        options_of(&opt, (const char *const[]){ "estimator",
                                                i < 0    ? "field"
                                                : i == 0 ? "series"
                                                         : "kde",
                                                "bandwidth", i == 1 ? "mixture" : "fixed", "steps", "40", "folds", "2",
                                                QUICK, NULL });
        if (i < 0) { /* with what was found, as rough as it was compared */
            const course_kind kind = kind_of(&m->set);
            opt.set = derive_course(&plan.asked, &plan.full, &kind, 40).set;
            opt.set.rivals = 0;
        }
        for (int k = 0; k < 2; k++) {
            if (i == 0 && k > 0) /* what the first series chose stands */
                opt.set = derive_as_before((derived){ .set = opt.set }, &own[0]->set).set;
            own[k] = fit_of(j.training[k], &opt);
            assert_int_equal(
                npmd_log_density(own[k], j.held_out[k]->x, j.held_out[k]->n, (i < 0 ? field : rival) + at, NULL),
                NPMD_OK);
            at += j.held_out[k]->n;
        }
        for (int k = 0; k < 2; k++)
            npmd_model_free(own[k]);
        /* equal fits and equal sums */
        if (i < 0) {
            judging_mean(&j, field, &mean, &se);
            check_below("the field's", fabs(c.nll + mean), 1e-12);
            check_below("its error", fabs(c.nll_se - se), 1e-12);
            continue;
        }
        assert_int_equal(npmd_model_rival(m, i, &r, NULL), NPMD_OK);
        assert_string_equal(r.estimator, NAME[i]);
        judging_mean(&j, rival, &mean, &se);
        check_below("a rival's", fabs(r.nll + mean), 1e-12);
        check_below("its error", fabs(r.nll_se - se), 1e-12);
        judging_difference(&j, field, rival, &mean, &se);
        check_below("difference", fabs(r.difference - mean), 1e-12);
        check_below("its error", fabs(r.difference_se - se), 1e-12);
        check_below("difference of the means", fabs(r.difference - (r.nll - c.nll)), 1e-12);
    }
    assert_int_equal(npmd_model_rival(m, 2, &none, NULL), NPMD_ERR_ARGUMENT);
    assert_int_equal(npmd_model_rival(m, -1, &none, NULL), NPMD_ERR_ARGUMENT);
    npmd_model *back = saved_and_loaded(m);
    npmd_choice again = NPMD_SIZED(npmd_choice);
    assert_int_equal(npmd_model_choice(back, &again, NULL), NPMD_OK);
    assert_true(again.rivals == 2 && again.nll == c.nll && again.nll_se == c.nll_se);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(back->choice.rival[i].estimator, NAME[i]);
        assert_true(back->choice.rival[i].difference == m->choice.rival[i].difference);
    }
    npmd_model_free(back);
    npmd_model_free(m);
    free(field), free(rival);
    judging_close(&j);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static bool warned(const npmd_model *m, const char *words)
{
    for (int i = 0; npmd_model_warning(m, i) != NULL; i++)
        if (strstr(npmd_model_warning(m, i), words) != NULL)
            return true;
    return false;
}

/* A field that learns nothing is told so; one that is as good as any is not. */
static void better_rivals_are_told(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 300, 0.3, 5), *even = clusters(dom, 300, 0.0, 5);
    npmd_model *m = FIT_WITH(pts, "steps", "20", "rate", "0", "skip-start", "zero", "folds", "1", QUICK);
    assert_true(m->choice.rival[0].difference < -2.0 * m->choice.rival[0].difference_se);
    assert_true(warned(m, "held-out points prefer"));
    assert_true(warned(m, "`estimator` auto"));
    npmd_model_free(m);
    m = FIT_WITH(pts, "steps", "20", "rate", "0", "skip-start", "zero", "folds", "1", "rivals", "off", QUICK);
    assert_int_equal(m->choice.rivals, 0);
    assert_false(warned(m, "held-out points prefer"));
    npmd_model_free(m);
    m = FIT_WITH(even, "steps", "20", "folds", "1", QUICK);
    assert_int_equal(m->choice.rivals, 2);
    assert_false(warned(m, "held-out points prefer"));
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_points_free(even);
    npmd_domain_free(dom);
}

/* ---- the weights of a stack -------------------------------------------------------------------------------------- */

static void weigh(int parts, size_t n, const double *logs, const double *weight, int by, const double *gram,
                  double *mix)
{
    npmd_error err = { 0 };
    double sum = 0.0;
    const stack_judged j = { .parts = parts, .n = n, .logs = logs, .weight = weight, .by = by, .gram = gram };
    if (stack_weights(&j, mix, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    for (int p = 0; p < parts; p++)
        sum += mix[p];
    check_below("sum of the weights - 1", fabs(sum - 1.0), 1e-12);
}

/* The truth among densities that have little where the points are: alone. And among smooth ones that are wrong: points
 * of the density 2 x on 0 .. 1 against 1 and 2 (1 - x). */
static void the_truth_stands_alone(void **state)
{
    (void)state;
    enum { N = 400 };
    static double logs[3 * N], weight[N];
    double mix[3];
    uint64_t seed = 7;
    for (size_t i = 0; i < N; i++) {
        const double x = sqrt(((double)(i * 163 % N) + 0.5) / N);
        weight[i] = 0.5 + test_uniform(&seed);
        logs[i] = -5.0 - test_uniform(&seed);
        logs[N + i] = log(2.0 * x);
        logs[2 * N + i] = -8.0;
    }
    for (int by = 0; by < 2; by++) {
        /* squares: of 2 x the mean 4/3; the others are high where no point is */
        const double gram[9] = { 9.0, 0.01, 0.01, 0.01, 4.0 / 3.0, 0.01, 0.01, 0.01, 9.0 };
        weigh(3, N, logs, weight, by, gram, mix);
        assert_true(mix[0] == 0.0 && mix[1] == 1.0 && mix[2] == 0.0);
    }
    for (size_t i = 0; i < N; i++) {
        const double x = exp(logs[N + i]) / 2.0;
        weight[i] = 1.0;
        logs[i] = 0.0;
        logs[2 * N + i] = log(2.0 * (1.0 - x) + 1e-300);
    }
    for (int by = 0; by < 2; by++) {
        const double gram[9] = { 1.0, 1.0, 1.0, 1.0, 4.0 / 3.0, 2.0 / 3.0, 1.0, 2.0 / 3.0, 4.0 / 3.0 };
        weigh(3, N, logs, weight, by, gram, mix);
        assert_true(mix[0] == 0.0 && mix[1] == 1.0 && mix[2] == 0.0);
    }
}

/* Two halves of the domain, density 2 each: of the points a share of 0.7 lies in one. Both criteria ask for 0.7. Of the
 * squared error, (2 w^2 + 2 (1 - w)^2) - 4 (0.7 w + 0.3 (1 - w)). */
static void complementary_parts_are_mixed(void **state)
{
    (void)state;
    enum { N = 200 };
    double logs[2 * N], densities[2 * N], weight[N], mix[2], by_em[2];
    const double gram[4] = { 2.0, 0.0, 0.0, 2.0 };
    for (int i = 0; i < N; i++) {
        const bool first = i * 37 % N < 140;
        weight[i] = 1.0;
        logs[i] = first ? log(2.0) : -30.0;
        logs[N + i] = first ? -30.0 : log(2.0);
    }
    memcpy(densities, logs, sizeof logs);
    mixture_densities(densities, weight, 2, N);
    mixture_weights(densities, weight, 0.0, 2, N, by_em);
    for (int by = 0; by < 2; by++) {
        weigh(2, N, logs, weight, by, gram, mix);
        check_below("share", fabs(mix[0] - 0.7), 1e-9);
        if (by == CRITERION_LIKELIHOOD)
            assert_true(mix[0] == by_em[0] && mix[1] == by_em[1]);
    }
}

/* Twenty points, of which every fifth share has another majority: weights found on four shares are wrong on the fifth,
 * and those of nobody's choice are best. */
static void few_points_mix_alike(void **state)
{
    (void)state;
    static const int OF_FIRST[5] = { 3, 1, 3, 1, 2 };
    double logs[40], weight[20], mix[2];
    const double gram[4] = { 2.0, 0.0, 0.0, 2.0 };
    for (int i = 0; i < 20; i++) {
        const bool first = i / 5 < OF_FIRST[i % 5];
        weight[i] = 1.0;
        logs[i] = first ? log(2.0) : -3.0;
        logs[20 + i] = first ? -3.0 : log(2.0);
    }
    for (int by = 0; by < 2; by++) {
        weigh(2, 20, logs, weight, by, gram, mix);
        assert_true(mix[0] == 0.5 && mix[1] == 0.5);
    }
}

/* The least of the quadratic form on a fine grid of weights, for two densities that overlap: 1 + a cos x and 1 + b sin x
 * with points of their mixture. */
static void ise_weights_are_the_least(void **state)
{
    (void)state;
    enum { N = 2000, GRID = 100000 };
    static double logs[2 * N], weight[N];
    static const double A = 0.9, B = 0.8;
    const double gram[4] = { 1.0 + A * A / 2.0, 1.0, 1.0, 1.0 + B * B / 2.0 };
    uint64_t seed = 11;
    double mix[2], mean[2] = { 0.0, 0.0 }, total = 0.0, least = INFINITY, best = 0.0;
    for (int i = 0; i < N; i++) {
        double x = 0.0, f = 0.0;
        do { /* by rejection from 0.35 of the first and 0.65 of the second */
            x = 2.0 * (double)CHECK_PI * test_uniform(&seed);
            f = 1.0 + 0.35 * A * cos(x) + 0.65 * B * sin(x);
        } while (2.0 * test_uniform(&seed) > f);
        logs[i] = log(1.0 + A * cos(x));
        logs[N + i] = log(1.0 + B * sin(x));
        weight[i] = 0.5 + test_uniform(&seed);
        total += weight[i];
        mean[0] += weight[i] * exp(logs[i]);
        mean[1] += weight[i] * exp(logs[N + i]);
    }
    for (int i = 0; i <= GRID; i++) {
        const double w = (double)i / GRID, u = 1.0 - w,
                     value = w * w * gram[0] + 2.0 * w * u * gram[1] + u * u * gram[3]
                             - 2.0 * (w * mean[0] + u * mean[1]) / total;
        if (value < least) {
            least = value;
            best = w;
        }
    }
    weigh(2, N, logs, weight, CRITERION_ISE, gram, mix);
    assert_true(best > 0.1 && best < 0.9);
    check_below("weight against a grid", fabs(mix[0] - best), 1.0 / GRID);
}

static void points_without_weight(void **state)
{
    (void)state;
    const double logs[40] = { 0.0 }, weight[20] = { 0.0 };
    double mix[2];
    npmd_error err = { 0 };
    const stack_judged j = { .parts = 2, .n = 20, .logs = logs, .weight = weight, .by = CRITERION_LIKELIHOOD };
    assert_int_equal(stack_weights(&j, mix, &err), NPMD_ERR_SHAPE);
    assert_non_null(strstr(err.text, "weight 0"));
}

/* ---- auto -------------------------------------------------------------------------------------------------------- */

static const char *estimator_of(const npmd_model *m)
{
    npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
    assert_int_equal(npmd_model_facts(m, &facts, NULL), NPMD_OK);
    return facts.estimator;
}

#define AUTO "estimator", "auto", "tau", "1e-3", "steps", "20", "rate", "0", "skip-start", "zero", QUICK

/* The best part is the model, that of a fit alone; others that were judged stay as its rivals. */
static void auto_becomes_a_part(void **state)
{
    (void)state;
    static const struct {
        double spread;
        const char *becomes;
    } CASES[] = { { 0.0, "uniform" }, { 0.5, "series" } };
    npmd_domain *dom = domain_of("S1");
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        enum { AT = 50, NODES = 4096 };
        double node[NODES], log_f[NODES], integral = 0.0;
        npmd_points *pts = clusters(dom, 300, CASES[c].spread, 8);
        npmd_model *m = FIT_WITH(pts, AUTO), *back = saved_and_loaded(m);
        double a[AT], b[AT];
        assert_string_equal(estimator_of(m), CASES[c].becomes);
        assert_string_equal(estimator_of(back), CASES[c].becomes);
        assert_int_equal(m->parts, 0);
        assert_int_equal(m->choice.rivals, 5); /* six were judged */
        assert_true(isfinite(m->held_out_nll) && back->held_out_nll == m->held_out_nll);
        for (int i = 0; i < m->choice.rivals; i++)
            assert_string_not_equal(m->choice.rival[i].estimator, CASES[c].becomes);
        assert_int_equal(npmd_log_density(m, pts->x, AT, a, NULL), NPMD_OK);
        assert_int_equal(npmd_log_density(back, pts->x, AT, b, NULL), NPMD_OK);
        assert_memory_equal(a, b, sizeof a);
        if (c == 0)
            for (int i = 0; i < AT; i++)
                assert_true(fabs(b[i] + log(dom->volume)) < 1e-14);
        /* all of the part is there: what is left of one has another integral */
        for (int i = 0; i < NODES; i++)
            node[i] = TWO_PI * i / NODES;
        assert_int_equal(npmd_log_density(m, node, NODES, log_f, NULL), NPMD_OK);
        for (int i = 0; i < NODES; i++)
            integral += exp(log_f[i]) * TWO_PI / NODES;
        check_below("integral - 1", fabs(integral - 1.0), 4.0 * m->facts.log_integral_se + 1e-9);
        npmd_model_free(m);
        npmd_model_free(back);
        npmd_points_free(pts);
    }
    npmd_domain_free(dom);
}

/* Where no part stands alone, auto is the stack, part by part. */
static void auto_falls_back_to_a_stack(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 200, 0.4, 3);
    npmd_model *m = FIT_WITH(pts, AUTO), *stack = FIT_WITH(pts, AUTO, "estimator", "stack", "members", "1"),
               *back = saved_and_loaded(m);
    enum { AT = 50 };
    double a[AT], b[AT], c[AT];
    assert_string_equal(estimator_of(m), "stack");
    assert_string_equal(estimator_of(back), "stack");
    assert_true(m->parts >= 2 && m->parts == stack->parts && m->parts == back->parts);
    assert_int_equal(m->choice.rivals, 6);
    assert_true(m->held_out_nll == stack->held_out_nll);
    for (int k = 0; k < m->parts; k++) {
        assert_true(m->part_weight[k] == stack->part_weight[k]);
        assert_string_equal(estimator_of(m->part[k]), estimator_of(stack->part[k]));
    }
    assert_int_equal(npmd_log_density(m, pts->x, AT, a, NULL), NPMD_OK);
    assert_int_equal(npmd_log_density(stack, pts->x, AT, b, NULL), NPMD_OK);
    assert_int_equal(npmd_log_density(back, pts->x, AT, c, NULL), NPMD_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_equal(a, c, sizeof a);
    npmd_model_free(m);
    npmd_model_free(stack);
    npmd_model_free(back);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_disjoint),          cmocka_unit_test(differences_are_paired),
        cmocka_unit_test(courses_end_by_their_rule),    cmocka_unit_test(what_is_given_stays),
        cmocka_unit_test(rivals_are_fits_of_their_own), cmocka_unit_test(better_rivals_are_told),
        cmocka_unit_test(the_truth_stands_alone),       cmocka_unit_test(complementary_parts_are_mixed),
        cmocka_unit_test(few_points_mix_alike),         cmocka_unit_test(ise_weights_are_the_least),
        cmocka_unit_test(points_without_weight),        cmocka_unit_test(auto_becomes_a_part),
        cmocka_unit_test(auto_falls_back_to_a_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
