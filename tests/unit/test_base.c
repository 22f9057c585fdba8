/* test_base.c - fields that change a base density: against closed forms, through files, resumed, on any number of
 * threads; and the base alone where nothing is gained over it.
 *
 * The known base is a mixture of two kernels on T2, f0 = mean over c of prod_d exp(kappa cos(x_d - c_d)) / (2 pi
 * I_0(kappa)). Data come from g = f0 exp(h) / Z with h = a cos x_1 + b sin x_2, by rejection. h is in the span of the
 * coordinates, so a field of one layer can be g itself; Z is a mean of quotients of Bessel functions, here by
 * quadrature. */
#include "estimate.h"
#include "truths.h"

#define KAPPA 4.0
#define A 1.0
#define B 0.8
#define LINEAR "depth", "1", "skip", "off", "encoding", "coordinates", "penalty", "none"
#define SMALL "width", "16", "depth", "3", "encoding", "coordinates", "omega", "2.5", "tau", "1e-4", "q2", "64"

static const double CENTRES[] = { 1.0, 4.5, 4.0, 2.0 };

static double known_log_base(const double *x)
{
    const double norm = log(2.0 * (double)CHECK_PI * (double)scaled_bessel(0, KAPPA)); /* scaled by exp(-kappa) */
    double sum = 0.0;
    for (int c = 0; c < 2; c++)
        sum += 0.5 * exp(KAPPA * (cos(x[0] - CENTRES[2 * c]) + cos(x[1] - CENTRES[2 * c + 1]) - 2.0) - 2.0 * norm);
    return log(sum);
}

static double known_change(const double *x)
{
    return A * cos(x[0]) + B * sin(x[1]);
}

/* log of the integral of f0 exp h, on equidistant nodes: the error of frequencies above 200 is below any rounding. */
static double known_log_z(void)
{
    enum { NODES = 200 };
    const double step = 2.0 * (double)CHECK_PI / NODES;
    double sum = 0.0;
    for (int i = 0; i < NODES * NODES; i++) {
        const double x[2] = { i / NODES * step, i % NODES * step };
        sum += exp(known_log_base(x) + known_change(x)) * step * step;
    }
    return log(sum);
}

typedef struct stage {
    place at;
    npmd_domain *torus;
    npmd_model *base;
    const char *path; /* of the base */
} stage;

static int stage_open(void **state)
{
    stage *s = calloc(1, sizeof *s);
    npmd_options opt;
    npmd_error err = { 0 };
    if (s == NULL || place_open(&s->at) != 0)
        return -1;
    *state = s;
    s->torus = domain_of("T2");
    npmd_points *centres = points_of(s->torus, CENTRES, 2);
    options_of(&opt, (const char *const[]){ "estimator", "kde", "kappa", "4", NULL });
    s->base = fit_of(centres, &opt);
    s->path = strdup(in_folder(&s->at, "base"));
    must(npmd_save(s->base, s->path, &err), &err);
    npmd_points_free(centres);
    return 0;
}

static int stage_close(void **state)
{
    stage *s = *state;
    npmd_model_free(s->base);
    npmd_domain_free(s->torus);
    free((void *)(uintptr_t)s->path);
    const int result = place_close(&s->at);
    free(s);
    return result;
}

/* n draws of f0, or of g. */
static npmd_points *draws(const stage *s, size_t n, bool changed, uint64_t seed)
{
    const size_t room = changed ? 20 * n : n;
    double *y = doubles(2 * room);
    uint64_t coin = seed + 1000;
    size_t kept = 0;
    npmd_error err = { 0 };
    must(model_sample(s->base, seed, room, NULL, y, &err), &err);
    for (size_t i = 0; i < room && kept < n; i++)
        if (!changed || log(test_uniform(&coin)) < known_change(y + 2 * i) - A - B)
            memcpy(y + 2 * kept++, y + 2 * i, 2 * sizeof *y);
    assert_int_equal(kept, n);
    npmd_points *pts = points_of(s->torus, y, n);
    free(y);
    return pts;
}

static npmd_model *fit_with(const npmd_points *pts, const char *base, const char *const *pair)
{
    npmd_options opt;
    npmd_error err = { 0 };
    options_of(&opt, pair);
    must(npmd_options_set(&opt, "base", base, &err), &err);
    return fit_of(pts, &opt);
}
#define FIT(pts, base, ...) fit_with(pts, base, (const char *const[]){ __VA_ARGS__, NULL })

static void evaluated(const npmd_model *m, const npmd_points *at, npmd_what what, double *out)
{
    npmd_error err = { 0 };
    must(npmd_evaluate_at(m, at, what, &(npmd_compute){ .size = sizeof(npmd_compute), .threads = 1 }, out, &err), &err);
}

/* The base itself is what this file says it is, so that the other tests mean something. */
static void base_in_closed_form(void **state)
{
    const stage *s = *state;
    enum { AT = 200 };
    npmd_points *at = clusters(s->torus, AT, 0.0, 3);
    double found[AT], worst = 0.0;
    evaluated(s->base, at, NPMD_LOG_DENSITY, found);
    for (int i = 0; i < AT; i++)
        worst = fmax(worst, fabs(found[i] - known_log_base(at->x + 2 * i)));
    check_below("log f0", worst, 1e-5); /* kernels are summed in float32 */
    npmd_points_free(at);
}

/* A base that is the truth: v = 0 within its error. A fit of p free functions to n points of the truth learns p / 2n
 * nats too much, on average, with a standard deviation of sqrt(p / 2) / n; p = 4 here. Five standard deviations, and
 * as much again for the noise of the integral's points, of which a hundred steps see 16 n. */
static void truth_as_base(void **state)
{
    const stage *s = *state;
    enum { N = 4000 };
    npmd_points *pts = draws(s, N, false, 5), *at = draws(s, N, false, 6);
    npmd_model *m = FIT(pts, s->path, LINEAR, "steps", "100", "warmup", "10", "rate-min", "0");
    double *ratio = doubles(N), divergence = 0.0;
    evaluated(m, at, NPMD_RATIO, ratio);
    for (int i = 0; i < N; i++)
        divergence += (ratio[i] - 1.0 - log(ratio[i])) / N; /* of f0 from f, as a mean of positive numbers */
    check_below("nats from the truth", divergence, 2.0 * (4.0 / 2.0 + 5.0 * sqrt(2.0)) / N);
    check_below("|log Z|", fabs(m->facts.log_integral), 0.1);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_points_free(at);
    free(ratio);
}

/* The ratio of two known densities, g / f0 = exp(h) / Z, by a field of one layer, which can be it, and by a network. The
 * error of log g in mean square under g is twice the divergence, p / n of the linear fit with p = 4 (see above); a network
 * has more freedom, of some tens of functions. */
static void known_ratio(void **state)
{
    const stage *s = *state;
    enum { N = 4000 };
    static const double FREE[] = { 4.0, 60.0 };
    npmd_points *pts = draws(s, N, true, 7), *at = draws(s, N, true, 8);
    const double log_z = known_log_z();
    double *ratio = doubles(N), *log_f = doubles(N), *log_base = doubles(N);
    for (int k = 0; k < 2; k++) {
        npmd_model *m = k == 0 ? FIT(pts, s->path, LINEAR, "steps", "400") : FIT(pts, s->path, SMALL, "steps", "300");
        double square = 0.0, apart = 0.0;
        evaluated(m, at, NPMD_RATIO, ratio);
        evaluated(m, at, NPMD_LOG_DENSITY, log_f);
        evaluated(s->base, at, NPMD_LOG_DENSITY, log_base);
        for (int i = 0; i < N; i++) {
            const double error = log(ratio[i]) - known_change(at->x + 2 * i) + log_z;
            square += error * error / N;
            apart = fmax(apart, fabs(log(ratio[i]) - log_f[i] + log_base[i]));
        }
        check_below("mean square of log ratio - (h - log Z)", square, 4.0 * (FREE[k] + 5.0 * sqrt(2.0 * FREE[k])) / N);
        check_below("log ratio - (log f - log f0)", apart, 1e-5); /* sums of float32, in other tiles */
        npmd_model_free(m);
    }
    npmd_points_free(pts);
    npmd_points_free(at);
    free(ratio), free(log_f), free(log_base);
}

/* f integrates to one: by draws of the base and by quadrature. */
static void mass_is_one(void **state)
{
    const stage *s = *state;
    npmd_points *pts = draws(s, 1000, true, 9);
    npmd_model *m = FIT(pts, s->path, SMALL, "steps", "60");
    npmd_error err = { 0 };
    integral_result z;
    const npmd_compute how = { .size = sizeof how, .threads = 1 };
    evaluator e = { 0 };
    must(evaluator_open(&e, m, &how, &err), &err);
    must(integrate(&(integral_request){ .domain = s->torus, .target = 1e-6, .most_points = 1 << 20, .threads = 1 },
                   evaluator_values, &e, &z, &err),
         &err);
    check_below("log integral", fabs(z.log_integral - m->facts.log_integral), 2e-5); /* twice the accuracy asked for */
    evaluator_close(&e);
    fit_plan *plan = calloc(1, sizeof *plan);
    npmd_options opt;
    base_set b = { 0 };
    options_of(&opt, (const char *const[]){ SMALL, "steps", "60", NULL });
    opt.set.base = BASE_MODEL;
    must(plan_make(estimators_all, &opt.set, &(fit_origin){ .base = s->base }, s->torus, pts->n, plan, &err), &err);
    must(base_open(&b, plan, pts, NULL, &(fit_watch){ 0 }, &err), &err);
    evaluator field = { .model = m, .how = &how };
    must(m->kind->open(m, &how, &field.open, &err), &err);
    npmd_model alone = *m; /* its v without the base */
    alone.base = NULL;
    field.model = &alone;
    integral_result drawn;
    must(base_integral(&b, &(integral_request){ .target = 2e-3 }, evaluator_values, &field, &drawn, &err), &err);
    check_below("by draws, in standard errors", fabs(drawn.log_integral - z.log_integral) / drawn.log_integral_se, 4.0);
    m->kind->close(field.open);
    base_close(&b);
    free(plan);
    npmd_model_free(m);
    npmd_points_free(pts);
}

/* Values and jets are the sums of the two, and the jet is that of the values: differences of fourth order at h = 0.03
 * have an error of about h^4 times a fifth derivative, some hundred here, and 1e-6 / h of float32. */
static void jets_add_up(void **state)
{
    (void)state;
    static const char *const DOMAINS[] = { "T2", "S2 x S1" };
    for (int k = 0; k < 2; k++) {
        enum { AT = 10, MOST = DOMAIN_MAX_DIMENSION + 2 };
        npmd_domain *dom = domain_of(DOMAINS[k]);
        npmd_points *pts = clusters(dom, 300, 0.5, 3);
        npmd_model *m = FIT(pts, "kde", "kappa", "5", SMALL, "steps", "20", "q1", "256", "device", "reference");
        const npmd_compute how = { .size = sizeof how, .threads = 1, .device = "reference" };
        const size_t length = (size_t)dom->dimension + 2;
        double jet[AT * MOST], base[AT * MOST], change[AT * MOST], expected[MOST], worst = 0.0, differs = 0.0;
        npmd_error err = { 0 };
        evaluator e = { 0 };
        assert_non_null(m->base);
        values_on(m, &how, pts->x, AT, JET_ALL, jet);
        values_on(m->base, &how, pts->x, AT, JET_ALL, base);
        must(evaluator_open(&e, m, &how, &err), &err);
        must(m->kind->evaluate(&e, pts->x, AT, JET_ALL, change, &err), &err);
        evaluator_close(&e);
        for (size_t i = 0; i < AT * length; i++)
            worst = fmax(worst, fabs(jet[i] - base[i] - change[i]) / fmax(1.0, fabs(jet[i])));
        for (size_t i = 0; i < AT; i++) {
            jet_by_differences(m, &how, pts->x + i * (size_t)dom->columns, 0.03, expected);
            for (int t = 1; t <= dom->dimension; t++)
                differs = fmax(differs, fabs(jet[i * length + (size_t)t] - expected[t]));
        }
        check_below("jet - (base's + v's)", worst, 1e-14);
        check_below("gradient - differences", differs, 1e-3);
        npmd_model_free(m);
        npmd_points_free(pts);
        npmd_domain_free(dom);
    }
}

/* Files give the same bytes and values again, with a base of each kind; and a base may have a base. */
static void files(void **state)
{
    stage *s = *state;
    enum { N = 200 };
    npmd_points *pts = draws(s, N, true, 11);
    npmd_model *series = FIT(pts, "series", SMALL, "steps", "20");
    npmd_error err = { 0 };
    const char *path = in_folder(&s->at, "with-a-series");
    must(npmd_save(series, path, &err), &err);
    npmd_model *twice = FIT(pts, path, SMALL, "steps", "20", "members", "2");
    npmd_model *kde = FIT(pts, "kde", SMALL, "steps", "20");
    for (int k = 0; k < 3; k++) {
        const npmd_model *m = k == 0 ? series : k == 1 ? twice : kde;
        npmd_model *back = saved_and_loaded(m);
        double a[N], b[N];
        evaluated(m, pts, NPMD_LOG_DENSITY, a);
        evaluated(back, pts, NPMD_LOG_DENSITY, b);
        assert_memory_equal(a, b, sizeof a);
        evaluated(m, pts, NPMD_RATIO, a);
        evaluated(back, pts, NPMD_RATIO, b);
        assert_memory_equal(a, b, sizeof a);
        npmd_model_free(back);
    }
    refuses_tensor(series, "base.series.coefficients", tensor_renamed, "series.coefficients");
    double ratio[N];
    assert_int_equal(npmd_evaluate_at(s->base, pts, NPMD_RATIO, NULL, ratio, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "has no base");
    npmd_model_free(series);
    npmd_model_free(twice);
    npmd_model_free(kde);
    npmd_points_free(pts);
}

/* Draws: the means of cos x_1 and sin x_2 against those of the density, by quadrature. */
static void draws_follow_the_density(void **state)
{
    const stage *s = *state;
    enum { N = 20000, NODES = 100 };
    npmd_points *pts = draws(s, 2000, true, 12), *grid = NULL;
    npmd_model *m = FIT(pts, s->path, SMALL, "steps", "100");
    double *x = doubles(2 * (size_t)N), *node = doubles(2 * NODES * NODES), *f = doubles(NODES * NODES);
    double mean[2] = { 0 }, expected[2] = { 0 };
    npmd_error err = { 0 };
    for (int i = 0; i < NODES * NODES; i++) {
        node[2 * i] = i / NODES * 2.0 * (double)CHECK_PI / NODES;
        node[2 * i + 1] = i % NODES * 2.0 * (double)CHECK_PI / NODES;
    }
    grid = points_of(s->torus, node, NODES * NODES);
    evaluated(m, grid, NPMD_RELATIVE, f);
    for (int i = 0; i < NODES * NODES; i++) {
        expected[0] += f[i] * cos(node[2 * i]) / (NODES * NODES);
        expected[1] += f[i] * sin(node[2 * i + 1]) / (NODES * NODES);
    }
    must(model_sample(m, 3, N, NULL, x, &err), &err);
    for (int i = 0; i < N; i++) {
        mean[0] += cos(x[2 * i]) / N;
        mean[1] += sin(x[2 * i + 1]) / N;
    }
    for (int k = 0; k < 2; k++) /* a cosine has variance at most 1 */
        check_below("mean of draws", fabs(mean[k] - expected[k]), 4.0 / sqrt((double)N));
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_points_free(grid);
    free(x), free(node), free(f);
}

/* ---- the same answer ---------------------------------------------------------------------------------------------- */

static int stop_at_thirty(const npmd_report *now, void *user)
{
    (void)user;
    return now->attempt > 0 && now->step == 30;
}

static void bytes_of(stage *s, const npmd_model *m, const char *name)
{
    npmd_error err = { 0 };
    must(npmd_save(m, in_folder(&s->at, name), &err), &err);
}

/* Stopped and resumed, and on other numbers of threads: equal bytes. Of a base that draws, and of one with a pool. */
static void equal_bytes(void **state)
{
    stage *s = *state;
    static const char *const BASES[] = { "kde", "series" };
    npmd_points *pts = draws(s, 300, true, 13);
    for (int k = 0; k < 2; k++) {
        npmd_options opt;
        npmd_error err = { 0 };
        npmd_model *m = NULL;
        options_of(&opt,
                   (const char *const[]){ SMALL, "steps", "150", "q1", "256", "base", BASES[k], "threads", "1", NULL });
        m = fit_of(pts, &opt);
        bytes_of(s, m, "whole");
        npmd_model_free(m);
        opt.set.machine.threads = 3;
        m = fit_of(pts, &opt);
        bytes_of(s, m, "threads");
        npmd_model_free(m);
        m = NULL;
        must(npmd_options_set(&opt, "checkpoint", in_folder(&s->at, "state"), &err), &err);
        npmd_options_watch(&opt, stop_at_thirty, NULL);
        assert_int_equal(npmd_fit(s->torus, pts, &opt, &m, &err), NPMD_STOPPED);
        npmd_options_watch(&opt, NULL, NULL);
        must(npmd_options_set(&opt, "resume", in_folder(&s->at, "state"), &err), &err);
        m = fit_of(pts, &opt);
        assert_int_equal(m->facts.resumed, 30);
        bytes_of(s, m, "parts");
        npmd_model_free(m);
        m = NULL;
        must(npmd_options_set(&opt, "base", BASES[1 - k], &err), &err);
        assert_int_equal(npmd_fit(s->torus, pts, &opt, &m, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "another `base`");
        assert_same_bytes(in_folder(&s->at, "whole"), in_folder(&s->at, "threads"));
        assert_same_bytes(in_folder(&s->at, "whole"), in_folder(&s->at, "parts"));
        unlink(in_folder(&s->at, "state"));
    }
    npmd_points_free(pts);
}

/* ---- what held-out points say ------------------------------------------------------------------------------------- */

static double held_out(const npmd_model *m, const npmd_points *at)
{
    double *log_f = doubles(at->n), mean = 0.0;
    evaluated(m, at, NPMD_LOG_DENSITY, log_f);
    for (size_t i = 0; i < at->n; i++)
        mean -= log_f[i] / (double)at->n;
    free(log_f);
    return mean;
}

/* With the truth as the base there is nothing to gain: the answer is the base, v = 0, log Z = 0 and one warning. */
static void base_alone(void **state)
{
    const stage *s = *state;
    enum { N = 500 };
    npmd_points *pts = draws(s, N, false, 14);
    npmd_model *m = FIT(pts, s->path, "width", "16", "encoding", "coordinates", "omega", "2.5", "tau", "1e-5", "q1",
                        "512");
    double ratio[N];
    evaluated(m, pts, NPMD_RATIO, ratio);
    for (int i = 0; i < N; i++)
        if (fabs(ratio[i] - 1.0) > 1e-12)
            fail_msg("a ratio of %g", ratio[i]);
    assert_true(m->facts.log_integral == 0.0 && m->facts.steps == 0);
    assert_int_equal(m->warnings, 1);
    assert_non_null(strstr(m->warning[0], "the model is the base, v = 0"));
    npmd_model_free(m);
    npmd_points_free(pts);
}

/* Clusters: with kernels as the base, a held-out point has no less density than with kernels alone, up to the error of
 * that difference on 4,000 points, whose log ratios have a standard deviation of at most a half. */
static void kernels_as_base(void **state)
{
    const stage *s = *state;
    npmd_points *pts = draws(s, 500, true, 15), *at = draws(s, 4000, true, 16);
    npmd_options opt;
    options_of(&opt, (const char *const[]){ "estimator", "kde", "bandwidth", "mixture", NULL });
    npmd_model *kde = fit_of(pts, &opt), *m = FIT(pts, "kde", "width", "16", "encoding", "coordinates", "omega", "2.5",
                                                  "tau", "1e-5", "q1", "512");
    check_below("nats lost by a change of kernels", held_out(m, at) - held_out(kde, at), 2.0 * 0.5 / sqrt(4000.0));
    npmd_model_free(kde);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_points_free(at);
}

/* ---- refusals ----------------------------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    stage *s = *state;
    npmd_domain *sphere = domain_of("S2");
    npmd_points *pts = draws(s, 60, false, 17), *other = clusters(sphere, 60, 0.5, 3);
    static const struct {
        const char *name, *value, *says;
    } CASES[] = { { "estimator", "series", "`estimator` series has none" },
                  { "estimator", "stack", "`estimator` stack has none" },
                  { "skip-start", "convex", "starts at v = 0" } };
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    npmd_options opt;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        options_of(&opt, (const char *const[]){ "base", s->path, CASES[i].name, CASES[i].value, NULL });
        assert_int_equal(npmd_fit(s->torus, pts, &opt, &m, &err), NPMD_ERR_ARGUMENT);
        assert_says(&err, CASES[i].says);
    }
    options_of(&opt, (const char *const[]){ "base", s->path, NULL });
    assert_int_equal(npmd_fit(sphere, other, &opt, &m, &err), NPMD_ERR_SHAPE);
    assert_says(&err, "is a model on S1^2, this fit is on S2");
    options_of(&opt, (const char *const[]){ "base", in_folder(&s->at, "nothing"), NULL });
    assert_int_equal(npmd_fit(s->torus, pts, &opt, &m, &err), NPMD_ERR_FILE);
    assert_null(m);
    npmd_points_free(pts);
    npmd_points_free(other);
    npmd_domain_free(sphere);
}

/* `auto` that takes a field alone takes its base with it: what is left of a model without its base has another integral.
 * Equidistant nodes are exact to rounding for peaks as wide as these. */
static void auto_keeps_the_base(void **state)
{
    (void)state;
    enum { NODES = 4096 };
    double node[NODES], log_f[NODES], integral = 0.0;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, 150, 0.3, 2);
    npmd_options opt;
    options_of(&opt, (const char *const[]){ "estimator", "auto", "width", "8", "depth", "2", "q1", "128", "q2", "32",
                                            "omega", "2.5", "folds", "2", NULL });
    npmd_model *m = fit_of(pts, &opt);
    assert_int_equal(m->set.estimator, FIT_FIELD);
    assert_non_null(m->base);
    for (int i = 0; i < NODES; i++)
        node[i] = TWO_PI * i / NODES;
    assert_int_equal(npmd_log_density(m, node, NODES, log_f, NULL), NPMD_OK);
    for (int i = 0; i < NODES; i++)
        integral += exp(log_f[i]) * TWO_PI / NODES;
    check_below("integral - 1", fabs(integral - 1.0), 4.0 * m->facts.log_integral_se + 1e-9);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_in_closed_form),
        cmocka_unit_test(truth_as_base),
        cmocka_unit_test(auto_keeps_the_base),
        cmocka_unit_test(known_ratio),
        cmocka_unit_test(mass_is_one),
        cmocka_unit_test(jets_add_up),
        cmocka_unit_test(files),
        cmocka_unit_test(draws_follow_the_density),
        cmocka_unit_test(equal_bytes),
        cmocka_unit_test(base_alone),
        cmocka_unit_test(kernels_as_base),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
