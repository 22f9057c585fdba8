/* test_blend.c - models made of models: values, jets and integrals of ensembles and mixtures, spread, draws, files,
 * fits that resume, weights of a stack. */
#include "estimate.h"
#include "place.h"

#include <time.h>

#define SMALL "width", "8", "steps", "20", "q1", "256", "q2", "64", "tau", "1e-3", "warmup", "0", "convex-gap", "off"

static npmd_model *fit_with(const npmd_points *pts, const char *const *pair)
{
    npmd_options opt;
    options_of(&opt, pair);
    return fit_of(pts, &opt);
}
#define FIT_WITH(pts, ...) fit_with(pts, (const char *const[]){ __VA_ARGS__, NULL })

static void relative_log_density(const npmd_model *m, const double *x, size_t n, double *out)
{
    values_of(m, 1, x, n, JET_VALUE, out);
    for (size_t i = 0; i < n; i++)
        out[i] -= m->facts.log_integral;
}

/* The integral over the domain of exp(v - log Z) du by the rules of its factors, with so many nodes a side: smooth
 * models need 48, and twice as many give the same to 1e-9. */
static double mass(const npmd_model *m, int nodes)
{
    rules r = { 0 };
    npmd_error err = { 0 };
    double x[DOMAIN_MAX_COLUMNS], v = 0.0, sum = 0.0;
    if (rules_open(&r, m->domain, (size_t)nodes, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < r.total; i++) {
        const double w = rules_point(&r, m->domain, i, x);
        relative_log_density(m, x, 1, &v);
        sum += w * exp(v);
    }
    rules_close(&r);
    return sum;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void values_of_members(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, 300, 0.5, 5);
    for (int mixed = 0; mixed < 2; mixed++) {
        enum { AT = 50 };
        npmd_model *m = FIT_WITH(pts, "members", "3", "combine", mixed ? "mixture" : "log", SMALL),
                   *alone = FIT_WITH(pts, "members", "1", SMALL);
        double v[AT], one[AT], expected[AT] = { 0 }, worst = 0.0, least = INFINITY;
        assert_int_equal(m->parts, 3);
        assert_int_equal(m->facts.members, 3);
        for (int k = 0; k < 3; k++) {
            relative_log_density(m->part[k], pts->x, AT, one);
            for (int i = 0; i < AT; i++)
                expected[i] += (mixed ? exp(one[i]) : one[i]) / 3.0;
        }
        values_of(m, 1, pts->x, AT, JET_VALUE, v);
        for (int i = 0; i < AT; i++)
            worst = fmax(worst, fabs(v[i] - (mixed ? log(expected[i]) : expected[i])));
        check_below(mixed ? "mixture of members" : "log mean of members", worst, 1e-13);
        /* the first member is what a fit alone would be, the others are not */
        values_of(alone, 1, pts->x, AT, JET_VALUE, one);
        values_of(m->part[0], 1, pts->x, AT, JET_VALUE, v);
        assert_memory_equal(one, v, sizeof v);
        for (int k = 1; k < 3; k++) {
            values_of(m->part[k], 1, pts->x, AT, JET_VALUE, v);
            for (int i = 0; i < AT; i++)
                least = fmin(least, fabs(v[i] - one[i]));
            assert_int_not_equal(m->part[k]->facts.seed, m->part[k - 1]->facts.seed);
        }
        assert_true(least > 0.0);
        check_below("mass - 1", fabs(mass(m, 48) - 1.0), 1e-5); /* the accuracy that is asked for in two dimensions */
        npmd_model_free(m);
        npmd_model_free(alone);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* Differences of fourth order with step 1e-2: truncation h^4 = 1e-8 times derivatives of up to sixth order over 30,
 * about 10 of the Laplacian here; rounding 1e-16 / h^2. Series are computed in double. */
static void jets_of_mixtures(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_points *pts = clusters(dom, 200, 0.5, 7);
    static const char *const RULE[] = { "log", "mixture" };
    for (int rule = 0; rule < 2; rule++) {
        npmd_model *m = FIT_WITH(pts, "estimator", "series", "max-frequency", "3", "tau", "1e-3", "members", "3",
                                 "bootstrap", "on", "combine", RULE[rule]);
        const size_t rows = (size_t)dom->dimension + 2;
        double worst = 0.0, scale = 0.0;
        for (size_t i = 0; i < 20; i++) {
            double jet[5], expected[5];
            values_of(m, 1, pts->x + i * 4, 1, JET_ALL, jet);
            jet_by_differences(m, NULL, pts->x + i * 4, 1e-2, expected);
            for (size_t j = 0; j < rows; j++) {
                worst = fmax(worst, fabs(jet[j] - expected[j]));
                scale = fmax(scale, fabs(expected[j]));
            }
        }
        check_below("jet of a blend against differences", worst / scale, 1e-6);
        npmd_model_free(m);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* ---- spread ------------------------------------------------------------------------------------------------------ */

static void spread_of_members(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 200, 0.4, 9);
    npmd_error err = { 0 };
    enum { AT = 20, MEMBERS = 4 };
    double out[AT], v[MEMBERS][AT];
    npmd_model *m = FIT_WITH(pts, "estimator", "series", "tau", "1e-4", "members", "4", "bootstrap", "on");
    npmd_points *at = points_of(dom, pts->x, AT);
    assert_int_equal(npmd_evaluate_at(m, at, NPMD_SPREAD, NULL, out, &err), NPMD_OK);
    for (int k = 0; k < MEMBERS; k++)
        relative_log_density(m->part[k], pts->x, AT, v[k]);
    double worst = 0.0;
    for (int i = 0; i < AT; i++) { /* the first member saw the points themselves and does not count */
        const double mean = (v[1][i] + v[2][i] + v[3][i]) / 3.0;
        const double square = pow(v[1][i] - mean, 2.0) + pow(v[2][i] - mean, 2.0) + pow(v[3][i] - mean, 2.0);
        worst = fmax(worst, fabs(out[i] - sqrt(square / 2.0)));
        assert_true(out[i] > 0.0);
    }
    check_below("spread", worst, 1e-12);
    npmd_model *one = FIT_WITH(pts, "estimator", "series", "tau", "1e-4");
    assert_int_equal(npmd_evaluate_at(one, at, NPMD_SPREAD, NULL, out, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "`members`"));
    npmd_model_free(one);
    npmd_model_free(m);
    npmd_points_free(at);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* Half the band from the members and the pair themselves, with Student's quantiles from tables, which have five digits;
 * the series in its place is right to 4e-3 with 3 degrees of freedom, of a quantile of 3.2. Members 2 .. M saw resamples, and
 * the mean of all M has 1 / M of each. */
static void band_of_members(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        int freedom;
        double quantile, tolerance;
    } CASES[] = { { "3", 1, 12.7062, 1e-5 },
                  { "4", 2, 4.30265, 1e-5 },
                  { "5", 3, 3.18245, 2e-3 },
                  { "8", 6, 2.44691, 1e-4 },
                  { "16", 14, 2.14479, 1e-5 } };
    static const char *const FIT[][4] = { { "series", "tau", "1e-4", "log" },
                                          { "kde", "kappa", "20", "mixture" },
                                          { "psnf", "tau", "1e-4", "log" } };
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 200, 0.4, 9);
    npmd_points *at = points_of(dom, pts->x, 10);
    npmd_error err = { 0 };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (size_t j = 0; j < (i == 1 ? 3 : 2); j++) {
            npmd_model *m = FIT_WITH(pts, "estimator", FIT[j][0], FIT[j][1], FIT[j][2], "members", CASES[i].members,
                                     "bootstrap", "on", "combine", FIT[j][3]);
            npmd_model *back = saved_and_loaded(m);
            const int M = CASES[i].freedom + 2, pair = m->parts - M;
            double band[10], again[10], v[18][10], worst = 0.0;
            assert_int_equal(pair, j < 2 ? 2 : 0); /* a squared family has no pair */
            assert_int_equal(npmd_model_parts(m), M);
            assert_int_equal(m->facts.members, M);
            assert_int_equal(npmd_evaluate_at(m, at, NPMD_BAND, NULL, band, &err), NPMD_OK);
            assert_int_equal(npmd_evaluate_at(back, at, NPMD_BAND, NULL, again, &err), NPMD_OK);
            assert_memory_equal(band, again, sizeof band);
            for (int k = 0; k < m->parts; k++)
                relative_log_density(m->part[k], pts->x, 10, v[k]);
            for (int p = 0; p < 10; p++) {
                double mean = 0.0, square = 0.0;
                for (int k = 1; k < M; k++)
                    mean += v[k][p] / (M - 1);
                for (int k = 1; k < M; k++)
                    square += pow(v[k][p] - mean, 2.0) / (M - 2);
                const double bias = pair > 0 ? (v[M][p] - v[M + 1][p]) / 2.0 : 0.0;
                const double expected = sqrt(pow(CASES[i].quantile, 2.0) * square * (1.0 + (M - 1.0) / (M * M))
                                             + pow(1.959964 * bias, 2.0));
                worst = fmax(worst, fabs(band[p] / expected - 1.0));
                assert_true(pair == 0 || bias != 0.0);
            }
            check_below("band", worst, CASES[i].tolerance);
            npmd_model_free(back);
            npmd_model_free(m);
        }
    npmd_model *one = FIT_WITH(pts, "members", "2", SMALL);
    double out[10];
    assert_int_equal(npmd_evaluate_at(one, at, NPMD_BAND, NULL, out, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "`bootstrap`"));
    npmd_model_free(one);
    npmd_points_free(at);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* The pair is no part of the density: without it, values and draws are the same. */
static void pair_weighs_nothing(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 200, 0.4, 9);
    npmd_error err = { 0 };
    enum { AT = 30 };
    for (int mixed = 0; mixed < 2; mixed++) {
        npmd_model *m = FIT_WITH(pts, "estimator", "kde", "members", "4", "bootstrap", "on", "combine",
                                 mixed ? "mixture" : "log");
        double v[2][AT], x[2][AT];
        assert_int_equal(m->parts, 6);
        for (int k = 0; k < 2; k++) {
            values_of(m, 1, pts->x, AT, JET_VALUE, v[k]);
            must(npmd_sample(m, 3, AT, NULL, x[k], NULL, &err), &err);
            for (int j = 4; j < 6 && k == 0; j++) {
                assert_true(m->part_weight[j] == 0.0);
                model_free(m->part[j]);
            }
            m->parts = 4;
        }
        assert_memory_equal(v[0], v[1], sizeof v[0]);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        npmd_model_free(m);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* ---- files and resuming ------------------------------------------------------------------------------------------ */

static void saved(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, 200, 0.5, 3);
    npmd_model *m = FIT_WITH(pts, "estimator", "stack", "members", "2", SMALL), *back = saved_and_loaded(m);
    enum { AT = 40 };
    double a[AT], b[AT];
    assert_int_equal(back->parts, m->parts);
    values_of(m, 1, pts->x, AT, JET_VALUE, a);
    values_of(back, 1, pts->x, AT, JET_VALUE, b);
    assert_memory_equal(a, b, sizeof a);
    npmd_model_free(m);
    m = FIT_WITH(pts, "members", "2", SMALL);
    refuses_tensor(m, "part.2.layer.1.weight", tensor_not_finite, "not finite");
    npmd_model_free(m);
    npmd_model_free(back);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

typedef struct stop_at {
    int member;
    int64_t step;
} stop_at;

static int stop_there(const npmd_report *now, void *user)
{
    const stop_at *at = user;
    return now->member == at->member && now->step >= at->step;
}

static void resumed(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, 200, 0.5, 3);
    npmd_options opt;
    npmd_error err = { 0 };
    npmd_model *whole = NULL, *none = NULL, *again = NULL;
    char path[300], file[320];
    enum { AT = 40 };
    double a[AT], b[AT];
    stop_at at = { 2, 7 };
    temporary_path(path, sizeof path);
    options_of(&opt, (const char *const[]){ "members", "3", "log-every", "1", SMALL, NULL });
    whole = fit_of(pts, &opt);
    options_of(&opt, (const char *const[]){ "members", "3", "log-every", "1", "checkpoint", path, SMALL, NULL });
    opt.watch.progress = stop_there;
    opt.watch.user = &at;
    assert_int_equal(npmd_fit(dom, pts, &opt, &none, &err), NPMD_STOPPED);
    assert_null(none);
    options_of(&opt, (const char *const[]){ "members", "3", "log-every", "1", "resume", path, SMALL, NULL });
    again = fit_of(pts, &opt);
    values_of(whole, 1, pts->x, AT, JET_VALUE, a);
    values_of(again, 1, pts->x, AT, JET_VALUE, b);
    assert_memory_equal(a, b, sizeof a);
    snprintf(file, sizeof file, "%s.parts", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(file), 0);
    /* without a checkpoint the members that are whole make the model */
    options_of(&opt, (const char *const[]){ "members", "3", "log-every", "1", SMALL, NULL });
    at.member = 3;
    opt.watch.progress = stop_there;
    opt.watch.user = &at;
    npmd_model *part = fit_of(pts, &opt);
    assert_int_equal(part->parts, 2);
    assert_int_equal(part->facts.interrupted, 1);
    npmd_model_free(part);
    npmd_model_free(whole);
    npmd_model_free(again);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* Parts that do not overlap: their weights are the shares of the points that each of them makes likely. */
static void weights_of_disjoint_parts(void **state)
{
    (void)state;
    double logs[3 * 10], weight[10], mix[3];
    for (int i = 0; i < 10; i++) {
        weight[i] = i == 0 ? 2.0 : 1.0;
        for (int p = 0; p < 3; p++)
            logs[p * 10 + i] = p == (i < 4 ? 0 : 1) ? 0.7 : -800.0;
    }
    const double tops = mixture_densities(logs, weight, 3, 10), value = mixture_weights(logs, weight, tops, 3, 10, mix);
    check_below("share of the first part", fabs(mix[0] - 5.0 / 11.0), 1e-12);
    check_below("share of the second part", fabs(mix[1] - 6.0 / 11.0), 1e-12);
    check_below("share of a part for nothing", mix[2], 1e-12);
    check_below("value", fabs(value - (0.7 + 5.0 / 11.0 * log(5.0 / 11.0) + 6.0 / 11.0 * log(6.0 / 11.0))), 1e-12);
}

static void stacked(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 400, 0.5, 11);
    npmd_model *m = FIT_WITH(pts, "estimator", "stack", "members", "2", "folds", "3", SMALL);
    enum { AT = 30, DRAWS = 20000 };
    double v[AT], one[AT], expected[AT] = { 0 }, sum = 0.0, worst = 0.0;
    npmd_error err = { 0 };
    for (int k = 0; k < m->parts; k++) {
        sum += m->part_weight[k];
        relative_log_density(m->part[k], pts->x, AT, one);
        for (int i = 0; i < AT; i++)
            expected[i] += m->part_weight[k] * exp(one[i]);
        /* weights that fit 400 points with six numbers, averaged over resamples, lose 6 / (2 x 400) at most on
         * average */
        assert_true(m->held_out_nll <= m->part[k]->held_out_nll + 7.5e-3);
    }
    check_below("sum of the weights - 1", fabs(sum - 1.0), 1e-12);
    values_of(m, 1, pts->x, AT, JET_VALUE, v);
    for (int i = 0; i < AT; i++)
        worst = fmax(worst, fabs(v[i] - log(expected[i])));
    check_below("values of a stack", worst, 1e-12);
    check_below("mass - 1", fabs(mass(m, 4096) - 1.0), 1e-5); /* some of its kernels are narrow */
    /* draws: the mean of cos x against its integral, within 4.5 standard errors */
    double *x = doubles(DRAWS), mean = 0.0, integral = 0.0, square = 0.0;
    assert_int_equal(npmd_sample(m, 3, DRAWS, NULL, x, NULL, &err), NPMD_OK);
    for (int i = 0; i < DRAWS; i++)
        mean += cos(x[i]) / DRAWS;
    for (int i = 0; i < 512; i++) {
        const double at = 2.0 * (double)CHECK_PI * i / 512;
        double f = 0.0;
        relative_log_density(m, &at, 1, &f);
        integral += exp(f) * cos(at) / 512;
        square += exp(f) * cos(at) * cos(at) / 512;
    }
    check_below("mean of cos over draws, standard errors",
                fabs(mean - integral) / sqrt((square - integral * integral) / DRAWS), 4.5);
    free(x);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static npmd_probability near(const npmd_model *m, const double *centre, const double *radius)
{
    npmd_error err = { 0 };
    npmd_probability found = NPMD_SIZED(npmd_probability);
    npmd_points *at = points_of(m->domain, centre, 1);
    if (npmd_probability_near(m, at, radius, 1e-4, 1, NULL, &found, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    npmd_points_free(at);
    return found;
}

/* A kernel about one point (a second one carries a weight of next to nothing): on S2 the ball about it holds
 * (1 - exp(kappa (cos r - 1))) / (1 - exp(-2 kappa)), on S1 the integral of its density. */
static void regions(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1"), *circle = domain_of("S1");
    const double x[8] = { 0, 0.6, 0.8, 2.0, 0, 0.6, 0.8, 2.0 + 1e-7 }, radius[2] = { 0.4, 0.7 }, kappa = 6.0;
    npmd_points *pts = points_of(dom, x, 2);
    npmd_model *m = FIT_WITH(pts, "estimator", "kde", "kappa", "6");
    double on_circle = 0.0, all = 0.0;
    for (int i = 0; i < 20000; i++) { /* midpoint rule */
        const double t = -(double)CHECK_PI + 2.0 * (double)CHECK_PI * (i + 0.5) / 20000,
                     f = exp(kappa * (cos(t) - 1.0));
        all += f;
        on_circle += fabs(t) <= radius[1] ? f : 0.0;
    }
    const double expected = on_circle / all * expm1(kappa * (cos(radius[0]) - 1.0)) / expm1(-2.0 * kappa);
    npmd_probability found = near(m, x, radius);
    check_below("ball about a kernel", fabs(found.probability / expected - 1.0), 2e-4); /* the rule's steps: 1e-4 */
    check_below("its share", fabs(found.share - 0.5 * (1.0 - cos(0.4)) * 0.7 / (double)CHECK_PI), 1e-15);
    assert_true(isnan(found.low));
    found = near(m, x, (const double[]){ (double)CHECK_PI, (double)CHECK_PI });
    check_below("anywhere - 1", fabs(found.probability - 1.0), 1e-3);
    npmd_model_free(m);
    npmd_points_free(pts);
    /* members: the interval lies about the probability */
    pts = clusters(circle, 200, 0.5, 13);
    m = FIT_WITH(pts, "estimator", "series", "tau", "1e-4", "members", "8", "bootstrap", "on");
    found = near(m, (const double[]){ 2.0 }, (const double[]){ 0.5 });
    assert_int_equal(found.members, 7);
    assert_true(0.0 < found.low && found.low < found.probability && found.probability < found.high && found.high < 1.0);
    npmd_model_free(m);
    m = FIT_WITH(pts, "members", "2", SMALL); /* the scatter of training is not that of the points */
    found = near(m, (const double[]){ 2.0 }, (const double[]){ 0.5 });
    assert_true(isnan(found.low) && isnan(found.high));
    npmd_error err = { 0 };
    npmd_points *at = points_of(circle, (const double[]){ 2.0 }, 1);
    assert_int_equal(npmd_probability_near(m, at, (const double[]){ 4.0 }, 0.0, 1, NULL, &found, &err),
                     NPMD_ERR_ARGUMENT);
    npmd_points_free(at);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    npmd_domain_free(circle);
}

/* ---- what cannot be ---------------------------------------------------------------------------------------------- */

static void refused(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 100, 0.5, 11);
    npmd_options opt;
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    options_of(&opt, (const char *const[]){ "estimator", "series", "members", "4", NULL });
    assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "`bootstrap`"));
    options_of(&opt, (const char *const[]){ "members", "2", "bootstrap", "on", NULL });
    assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_ARGUMENT);
    options_of(&opt, (const char *const[]){ "estimator", "kde", "checkpoint", "/nonexistent", NULL });
    assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_ARGUMENT);
    assert_null(m);
    npmd_model *flat = FIT_WITH(pts, "estimator", "uniform");
    double f = 0.0;
    assert_int_equal(npmd_log_density(flat, pts->x, 1, &f, &err), NPMD_OK);
    check_below("uniform", fabs(f + log(2.0 * (double)CHECK_PI)), 1e-15);
    npmd_model_free(flat);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* ---- a file whose header lists very many tensors ----------------------------------------------------------------- */

/* Seconds of this thread to load a blend with so many tensors that nobody asks for, as bytes: the least of three. */
static double load_seconds(const npmd_model *m, size_t count)
{
    char *packed = NULL, *full = NULL, name[32];
    size_t size = 0;
    double least = INFINITY;
    record rec = { 0 };
    npmd_error err = { 0 };
    must(npmd_model_pack(m, &packed, &size, &err), &err);
    must(record_parse("the model", &(file_bytes){ (unsigned char *)packed, size }, &rec, &err), &err);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "part.%zu.x%zu", 1 + i % 3, i);
        must(record_add(&rec, name, TENSOR_F64, 1, (const size_t[]){ 0 }, NULL, &err), &err);
    }
    must(record_pack(&rec, &full, &size, &err), &err);
    for (int k = 0; k < 3; k++) {
        struct timespec before, after;
        npmd_model *back = NULL;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
        must(npmd_model_unpack(full, size, &back, &err), &err);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
        least = fmin(least, (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec));
        npmd_model_free(back);
    }
    record_free(&rec);
    npmd_text_free(packed);
    npmd_text_free(full);
    return least;
}

/* Four times the tensors take four times as long, and not sixteen times; 9 lies between. */
static void parts_of_many_tensors(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 60, 0.5, 11);
    npmd_model *m = FIT_WITH(pts, "estimator", "series", "tau", "1e-3", "members", "3", "bootstrap", "on");
    const double few = load_seconds(m, 3000);
    check_below("time of 12,000 tensors over that of 3,000", load_seconds(m, 12000) / few, 9.0);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_members),
        cmocka_unit_test(jets_of_mixtures),
        cmocka_unit_test(spread_of_members),
        cmocka_unit_test(band_of_members),
        cmocka_unit_test(pair_weighs_nothing),
        cmocka_unit_test(saved),
        cmocka_unit_test(resumed),
        cmocka_unit_test(weights_of_disjoint_parts),
        cmocka_unit_test(stacked),
        cmocka_unit_test(regions),
        cmocka_unit_test(refused),
        cmocka_unit_test(parts_of_many_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
