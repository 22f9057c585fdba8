/* test_convex.c - the linear part at its optimum, fits that begin with another model, the gap to the convex
 * optimum, and options that nobody reads.
 *
 * The full product basis is spanned by products, by plane waves and by rotated products alike, so the
 * convex start of each must be the series, which another solver finds by another quadrature. */
#include "estimate.h"
#include "api.h"

static const struct {
    const char *domain, *frequency, *features, *separable;
} SPANS[] = { { "S1", "5", "10", "on" },
              { "T2", "2", "24", "on" },
              { "T3", "1", "26", "off" },
              { "S2", "3", "15", "on" },
              { "S2 x S1", "2", "44", "off" } };
enum { SPAN_COUNT = sizeof SPANS / sizeof *SPANS, POINTS = 400 };

typedef struct spanned {
    npmd_domain *dom;
    npmd_points *pts;
    settings opt; /* full, of a field of one layer that spans the basis */
    encoding enc;
    objective o;
    npmd_model *series;
} spanned;

static void spanned_open(spanned *s, int i)
{
    npmd_error err = { 0 };
    npmd_options opt;
    *s = (spanned){ .dom = domain_of(SPANS[i].domain) };
    s->pts = clusters(s->dom, POINTS, 0.5, 11);
    options_of(&opt, (const char *const[]){ "tau", "1e-2", "depth", "1", "max-frequency", SPANS[i].frequency,
                                            "features", SPANS[i].features, "separable", SPANS[i].separable,
                                            "spectrum-law", "uniform", "integral", "uniform", NULL });
    if (full_settings(&opt, s->dom, POINTS, &s->opt, &err) != NPMD_OK
        || encoding_draw(s->dom, &s->opt, &s->enc, &err) != NPMD_OK
        || objective_open(&s->o, s->dom, s->pts, &s->opt, &err) != NPMD_OK)
        fail_msg("%s: %s", SPANS[i].domain, err.text);
    options_of(
        &opt, (const char *const[]){ "estimator", "series", "tau", "1e-2", "max-frequency", SPANS[i].frequency, NULL });
    s->series = fit_of(s->pts, &opt);
}

static void spanned_close(spanned *s)
{
    objective_close(&s->o);
    encoding_free(&s->enc);
    npmd_model_free(s->series);
    npmd_points_free(s->pts);
    npmd_domain_free(s->dom);
}

/* sum_k c_k eta_k(x) */
static double linear_value(const encoding *enc, const double *c, const double *x)
{
    double *work = doubles(encoding_work(enc)), *eta = doubles((size_t)enc->features), sum = 0.0;
    encoding_jet(enc, x, 1, work, eta);
    for (int k = 0; k < enc->features; k++)
        sum += c[k] * eta[k];
    free(work);
    free(eta);
    return sum;
}

/* Orthonormal sums of at most 120 terms: rounding alone is left. */
static void projection_is_exact(void **state)
{
    (void)state;
    for (int i = 0; i < SPAN_COUNT; i++) {
        spanned s;
        double v[POINTS], most = 0.0, worst = 0.0;
        spanned_open(&s, i);
        double *c = doubles((size_t)s.enc.features);
        assert_int_equal(origin_project(s.series, &s.enc, c), s.enc.features);
        values_of(s.series, 1, s.pts->x, POINTS, JET_VALUE, v);
        for (int k = 0; k < POINTS; k++) {
            most = fmax(most, fabs(v[k]));
            worst = fmax(worst, fabs(v[k] - linear_value(&s.enc, c, s.pts->x + k * s.dom->columns)));
        }
        assert_true(most > 0.5);
        if (!(worst < 1e-12 * (1.0 + most)))
            fail_msg("%s: %g", SPANS[i].domain, worst);
        free(c);
        spanned_close(&s);
    }
}

/* Features that the basis does not hold count as such, and get 0. */
static void projection_counts(void **state)
{
    (void)state;
    npmd_options opt;
    spanned s;
    encoding wide;
    spanned_open(&s, 1);
    options_of(&opt, (const char *const[]){ "max-frequency", "3", "features", "48", "spectrum-law", "uniform", NULL });
    assert_int_equal(full_settings(&opt, s.dom, POINTS, &opt.set, NULL), NPMD_OK);
    assert_int_equal(encoding_draw(s.dom, &opt.set, &wide, NULL), NPMD_OK);
    double c[48];
    assert_int_equal(origin_project(s.series, &wide, c), 24);
    for (int k = 0; k < 48; k++)
        if (wide.function[2 * k] > 4 || wide.function[2 * k + 1] > 4)
            assert_true(c[k] == 0.0);
    encoding_free(&wide);
    spanned_close(&s);
}

/* The optimum over 32,768 or more scrambled Sobol points against the optimum by exact quadrature. For these
 * smooth integrands a mean over such points is wrong by about q^(-3/2) times a constant of size 10 for
 * every dimension: 2e-6 to 1e-4. Where f is least an error d of its gradient moves c by H^-1 d, H >= 0.01
 * there, in truth about 1 (features have mean square 1): v may move by 1e-2 where most of 1 is seen, the
 * value of f by the error of log Z alone, 1e-3 at most. */
static void convex_start_is_the_series(void **state)
{
    (void)state;
    for (int i = 0; i < SPAN_COUNT; i++) {
        spanned s;
        npmd_error err = { 0 };
        linear_gain start = { 0 };
        double v[POINTS], worst = 0.0;
        spanned_open(&s, i);
        assert_int_equal(linear_gain_open(&start, &s.enc, &s.o, &err), NPMD_OK);
        const double step = start.reached;
        assert_int_equal(convex_start(&start, &s.enc, &s.o, &err), NPMD_OK);
        assert_true(start.reached >= step); /* the optimum is no worse than a point of a line */
        values_of(s.series, 1, s.pts->x, POINTS, JET_VALUE, v);
        for (int k = 0; k < POINTS; k++)
            worst = fmax(worst, fabs(v[k] - linear_value(&s.enc, start.coefficient, s.pts->x + k * s.dom->columns)));
        const double value = 1.0 - start.reached - s.series->facts.objective,
                     constant = start.constant + s.series->facts.log_integral;
        if (!(worst < 1e-2 && fabs(value) < 1e-3 && fabs(constant) < 1e-2))
            fail_msg("%s: v %g, f %g, constant %g", SPANS[i].domain, worst, value, constant);
        linear_gain_close(&start);
        spanned_close(&s);
    }
}

/* A function that was drawn several times is one function: the start is that of the encoding without its
 * copies. Both solve one problem by the same points, so that rounding alone, through a Hessian of condition
 * 1e6 at most, is left. */
static void copies_share(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 22);
    npmd_options opt;
    settings full;
    encoding ridge, plain;
    objective o;
    linear_gain start[2] = { { 0 } };
    int function[2 * 40], distinct = 0;
    options_of(&opt, (const char *const[]){ "max-frequency", "3", "features", "40", "spectrum-law", "ridge", "tau",
                                            "1e-3", NULL });
    assert_int_equal(full_settings(&opt, dom, POINTS, &full, NULL), NPMD_OK);
    assert_int_equal(encoding_draw(dom, &full, &ridge, NULL), NPMD_OK);
    for (int k = 0; k < ridge.features; k++) {
        int j = 0;
        while (j < distinct && memcmp(function + 2 * j, ridge.function + 2 * k, 2 * sizeof *function) != 0)
            j++;
        memcpy(function + 2 * j, ridge.function + 2 * k, 2 * sizeof *function);
        distinct += j == distinct;
    }
    assert_true(distinct < ridge.features); /* there are copies */
    assert_int_equal(encoding_make(dom, true, distinct, distinct, function, SCALE_UNIT, &plain, NULL), NPMD_OK);
    assert_int_equal(objective_open(&o, dom, pts, &full, NULL), NPMD_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(linear_gain_open(&start[i], i == 0 ? &ridge : &plain, &o, NULL), NPMD_OK);
        assert_int_equal(convex_start(&start[i], i == 0 ? &ridge : &plain, &o, NULL), NPMD_OK);
    }
    for (int k = 0; k < POINTS; k++)
        check_quiet("copies",
                    fabs(linear_value(&ridge, start[0].coefficient, pts->x + 2 * k)
                         - linear_value(&plain, start[1].coefficient, pts->x + 2 * k)),
                    1e-8);
    /* and so they do when they come from a series */
    options_of(&opt, (const char *const[]){ "estimator", "series", "tau", "1e-3", "max-frequency", "3", NULL });
    npmd_model *series = fit_of(pts, &opt);
    origin_project(series, &ridge, start[0].coefficient);
    origin_project(series, &plain, start[1].coefficient);
    for (int k = 0; k < POINTS; k++)
        check_quiet("copies of a series",
                    fabs(linear_value(&ridge, start[0].coefficient, pts->x + 2 * k)
                         - linear_value(&plain, start[1].coefficient, pts->x + 2 * k)),
                    1e-11);
    npmd_model_free(series);
    linear_gain_close(&start[0]);
    linear_gain_close(&start[1]);
    objective_close(&o);
    encoding_free(&ridge);
    encoding_free(&plain);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* At the optimum the moments of the model, less the penalty, are those of the data. On the points that it
 * was found by, the gradient's decrement is below 1e-7, so |g| <= sqrt(2e-7 x largest eigenvalue of H, 50
 * here at most) < 4e-3. */
static void moments_are_met(void **state)
{
    (void)state;
    spanned s;
    linear_gain start = { 0 };
    spanned_open(&s, 1);
    const int K = s.enc.features;
    assert_int_equal(linear_gain_open(&start, &s.enc, &s.o, NULL), NPMD_OK);
    assert_int_equal(convex_start(&start, &s.enc, &s.o, NULL), NPMD_OK);
    double *work = doubles(encoding_work(&s.enc)), *eta = doubles((size_t)K), *g = doubles((size_t)K), mass = 0.0;
    point_source points;
    enum { NODES = 65536 };
    assert_int_equal(objective_integral_points(&s.o, 0, NODES, &points, NULL), NPMD_OK);
    for (size_t i = 0; i < NODES; i++) {
        double x[2], weight;
        source_fill(&points, i, 1, x, &weight);
        encoding_jet(&s.enc, x, 1, work, eta);
        double v = start.constant;
        for (int k = 0; k < K; k++)
            v += start.coefficient[k] * eta[k];
        for (int k = 0; k < K; k++)
            g[k] += weight * exp(v) * eta[k];
        mass += weight * exp(v);
    }
    for (size_t i = 0; i < POINTS; i++) {
        encoding_jet(&s.enc, s.pts->x + 2 * i, 1, work, eta);
        for (int k = 0; k < K; k++)
            g[k] -= eta[k] / POINTS;
    }
    assert_true(fabs(mass - 1.0) < 1e-12);
    for (int k = 0; k < K; k++) {
        const double lambda = s.enc.lambda[k];
        g[k] += 2.0 * s.opt.tau * lambda * lambda * start.coefficient[k];
        if (!(fabs(g[k]) < 4e-3))
            fail_msg("feature %d: %g", k, g[k]);
    }
    free(work);
    free(eta);
    free(g);
    linear_gain_close(&start);
    spanned_close(&s);
}

/* ---- in a fit ---------------------------------------------------------------------------------------------------- */

/* Steps that do not move: what a fit starts from is what it ends with. */
#define STILL "rate", "0", "steps", "2", "warmup", "0", "q1", "64", "q2", "32", "tau", "1e-3"
#define SMALL "width", "8", "features", "12", "spectrum-law", "uniform", "max-frequency", "2"

static const double *skip_of(const npmd_model *m)
{
    const field_state *s = m->state;
    return s->theta + field_skip(&s->shape);
}

static void skip_starts_as_asked(void **state)
{
    (void)state;
    static const char *const STARTS[] = { "zero", "step", "convex" };
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 12);
    double length[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        npmd_options opt;
        options_of(&opt, (const char *const[]){ STILL, SMALL, "skip-start", STARTS[i], NULL });
        npmd_model *m = fit_of(pts, &opt);
        for (int k = 0; k < 12; k++)
            length[i] += skip_of(m)[k] * skip_of(m)[k];
        npmd_model_free(m);
    }
    assert_true(length[0] == 0.0);
    assert_true(length[1] > 0.01);
    assert_true(length[2] > 0.01 && length[2] != length[1]);
    npmd_options opt;
    npmd_error err = { 0 };
    options_of(&opt, (const char *const[]){ "skip-start", "convex", "features", "1100", NULL });
    assert_int_equal(full_settings(&opt, dom, POINTS, &opt.set, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "1024"));
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static npmd_model *saved_at(const npmd_points *pts, const char *const *pair, char *path, size_t size)
{
    npmd_options opt;
    npmd_error err = { 0 };
    options_of(&opt, pair);
    npmd_model *m = fit_of(pts, &opt);
    temporary_path(path, size);
    if (npmd_save(m, path, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return m;
}

static void fields_start_from_fields(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 13);
    char path[300];
    npmd_model *first = saved_at(pts,
                                 (const char *const[]){ "width", "8", "features", "12", "steps", "5", "q1", "64", "q2",
                                                        "32", "tau", "1e-3", "separable", "off", "seed", "5", NULL },
                                 path, sizeof path);
    npmd_options opt; /* another seed; the encoding's options are left open */
    options_of(&opt, (const char *const[]){ STILL, "width", "8", "seed", "6", "start-from", path, NULL });
    npmd_model *second = fit_of(pts, &opt);
    const field_state *a = first->state, *b = second->state;
    const size_t n = field_parameters(&a->shape);
    assert_int_equal(n, field_parameters(&b->shape));
    assert_memory_equal(a->theta, b->theta, n * sizeof *a->theta); /* theta is kept in float32 by both */
    double v[2][50];
    values_of(first, 1, pts->x, 50, JET_VALUE, v[0]);
    values_of(second, 1, pts->x, 50, JET_VALUE, v[1]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
    assert_true(strlen(second->started_from) == 16);
    npmd_model *back = saved_and_loaded(second);
    assert_string_equal(back->started_from, second->started_from);
    char *json = NULL;
    assert_int_equal(npmd_model_describe(back, &json, NULL), NPMD_OK);
    assert_null(strstr(json, path)); /* no path */
    npmd_text_free(json);
    /* the encoding alone: other weights */
    options_of(&opt, (const char *const[]){ STILL, "width", "4", "seed", "6", "encoding-from", path, NULL });
    npmd_model *third = fit_of(pts, &opt);
    assert_int_equal(third->set.encoding.features, 12);
    assert_int_equal(third->set.encoding.separable, 0);
    assert_string_equal(third->encoded_from, second->started_from);
    assert_true(third->started_from[0] == '\0');
    unlink(path);
    npmd_model_free(first);
    npmd_model_free(second);
    npmd_model_free(third);
    npmd_model_free(back);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* The density of a series stands at the start of a field whose features span it: v differs by its constant
 * alone, to the rounding of the float32 network, 1e-5 for values below 10. The network itself is silent
 * with its last layer at 0, so it is a field of one layer that shows it. */
static void fields_start_from_series(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 14);
    char path[300];
    double v[2][100];
    npmd_model *series = saved_at(
        pts, (const char *const[]){ "estimator", "series", "tau", "1e-3", "max-frequency", "2", NULL }, path,
        sizeof path);
    npmd_options opt;
    options_of(&opt, (const char *const[]){ STILL, "depth", "1", "features", "24", "max-frequency", "2", "spectrum-law",
                                            "uniform", "start-from", path, NULL });
    npmd_model *m = fit_of(pts, &opt);
    values_of(series, 1, pts->x, 100, JET_VALUE, v[0]);
    values_of(m, 1, pts->x, 100, JET_VALUE, v[1]);
    for (int i = 0; i < 100; i++)
        assert_true(fabs(v[0][i] - series->facts.log_integral - (v[1][i] - m->facts.log_integral)) < 1e-5);
    assert_true(fabs(m->facts.log_integral) < 1e-3); /* the constant was solved for */
    assert_non_null(strstr(npmd_model_warning(m, 0), "24 of the 24"));
    npmd_model_free(m);
    npmd_model_free(series);
    unlink(path);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static void refuses(const npmd_points *pts, const char *const *pair, npmd_status status, const char *said)
{
    npmd_options opt;
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    options_of(&opt, pair);
    const npmd_status st = npmd_fit(pts->domain, pts, &opt, &m, &err);
    if (st != status || strstr(err.text, said) == NULL)
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", (int)st, err.text, (int)status, said);
    assert_null(m);
}

static void other_models_are_refused(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2"), *line = domain_of("S1");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 15), *other = clusters(line, POINTS, 0.5, 15);
    char field[300], kernels_path[300], series[300];
    npmd_model_free(saved_at(pts, (const char *const[]){ STILL, SMALL, NULL }, field, sizeof field));
    npmd_model_free(saved_at(pts, (const char *const[]){ "estimator", "kde", "kappa", "5", NULL }, kernels_path,
                             sizeof kernels_path));
    npmd_model_free(saved_at(pts,
                             (const char *const[]){ "estimator", "series", "tau", "1", "max-frequency", "1", NULL },
                             series, sizeof series));
    const struct {
        const char *name, *value, *path;
        npmd_status status;
        const char *said;
    } cases[] = { { "width", "9", field, NPMD_ERR_SHAPE, "width 8, this fit has 3 and 9" },
                  { "depth", "2", field, NPMD_ERR_SHAPE, "depth 3" },
                  { "skip", "off", field, NPMD_ERR_SHAPE, "`skip` on" },
                  { "omega", "3", field, NPMD_ERR_SHAPE, "`omega` 2.5, this fit has 3" },
                  { "features", "10", field, NPMD_ERR_SHAPE, "`features` 12" },
                  { "max-frequency", "3", field, NPMD_ERR_SHAPE, "`max-frequency` [2,2]" },
                  { "seed", "2", kernels_path, NPMD_ERR_SHAPE, "`estimator` kde, expected a field or a series" },
                  { "skip", "off", series, NPMD_ERR_ARGUMENT, "`skip` off" },
                  { "seed", "2", "/nowhere/at/all", NPMD_ERR_FILE, "/nowhere" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(pts,
                (const char *const[]){ STILL, "width", "8", cases[i].name, cases[i].value, "start-from", cases[i].path,
                                       NULL },
                cases[i].status, cases[i].said);
    refuses(pts, (const char *const[]){ STILL, "encoding-from", series, NULL }, NPMD_ERR_SHAPE, "expected a field");
    refuses(pts, (const char *const[]){ STILL, "width", "8", "start-from", field, "encoding-from", series, NULL },
            NPMD_ERR_SHAPE, "expected a field");
    refuses(other, (const char *const[]){ STILL, "width", "8", "start-from", field, NULL }, NPMD_ERR_SHAPE,
            "is a model on S1^2, this fit is on S1");
    unlink(field);
    unlink(kernels_path);
    unlink(series);
    npmd_points_free(pts);
    npmd_points_free(other);
    npmd_domain_free(dom);
    npmd_domain_free(line);
}

/* ---- the gap ----------------------------------------------------------------------------------------------------- */

/* A field of one layer at its convex start is the optimum of its own space, whose value the series knows:
 * the gap is the difference. The start was found by 65,536 points and is kept in float32; both errors are
 * of second order in f, below (1e-4)^2 and (1e-6)^2. */
static void gap_of_linear_fields(void **state)
{
    (void)state;
    static const struct {
        const char *domain, *frequency, *features, *tau;
    } CASES[] = { { "S1", "3", "6", "1e-3" }, { "T2", "2", "24", "1e-3" }, { "S2", "3", "15", "1e-3" } };
    for (int i = 0; i < 3; i++) {
        npmd_domain *dom = domain_of(CASES[i].domain);
        npmd_points *pts = clusters(dom, POINTS, 0.5, 16);
        npmd_options opt;
        options_of(&opt, (const char *const[]){ STILL, "tau", CASES[i].tau, "depth", "1", "skip-start", "convex",
                                                "features", CASES[i].features, "max-frequency", CASES[i].frequency,
                                                "spectrum-law", "uniform", "convex-gap", "on", NULL });
        npmd_model *m = fit_of(pts, &opt);
        options_of(&opt, (const char *const[]){ "estimator", "series", "tau", CASES[i].tau, "max-frequency",
                                                CASES[i].frequency, NULL });
        npmd_model *series = fit_of(pts, &opt);
        const double expected = series->facts.objective - m->facts.convex_optimum, gap = m->facts.convex_gap;
        if (!(gap > 0.0 && fabs(gap - expected) < 1e-5 && m->facts.convex_gap_accuracy < 0.1 * gap))
            fail_msg("%s: gap %g, expected %g, accuracy %g", CASES[i].domain, gap, expected,
                     m->facts.convex_gap_accuracy);
        npmd_model *back = saved_and_loaded(m);
        assert_true(back->facts.convex_gap == gap && back->facts.convex_optimum == m->facts.convex_optimum);
        npmd_model_free(back);
        npmd_model_free(series);
        npmd_model_free(m);
        npmd_points_free(pts);
        npmd_domain_free(dom);
    }
}

/* With all functions up to 40 on the circle nothing is left: the noise beyond gains sum_(k > 40) 2 / (2 n 2
 * tau k^4) = 1 / (3 n 40^3 2 tau) = 7e-6 nats at n = 400, tau = 1e-3. */
static void gap_tends_to_nothing(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 17);
    npmd_options opt;
    options_of(&opt,
               (const char *const[]){ STILL, "depth", "1", "skip-start", "convex", "features", "80", "max-frequency",
                                      "40", "spectrum-law", "uniform", "convex-gap", "on", NULL });
    npmd_model *m = fit_of(pts, &opt);
    const double gap = m->facts.convex_gap, accuracy = m->facts.convex_gap_accuracy;
    if (!(gap >= -accuracy && gap < 7e-6 + accuracy + 1e-6 && accuracy <= 2e-5))
        fail_msg("gap %g, accuracy %g", gap, accuracy);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* The limit that two frequencies tell is where higher ones lead: the series at 48 on T2, whose rest is
 * known to be below 1.6e-5 x (its own law: (pi/2 + 1) / (2 n 2 tau 48^2) at n = 400, tau = 0.05). */
static void optimum_is_the_limit(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 18);
    npmd_options opt;
    double optimum = NAN, accuracy = INFINITY;
    options_of(&opt, (const char *const[]){ "estimator", "series", "tau", "0.05", "max-frequency", "48", NULL });
    npmd_model *series = fit_of(pts, &opt);
    fit_plan plan;
    assert_int_equal(plan_make(estimators_all, &opt.set, NULL, dom, POINTS, &plan, NULL), NPMD_OK);
    fit f = { .plan = &plan, .points = pts, .watch = &(fit_watch){ 0 }, .model = series };
    assert_int_equal(gap_optimum(&f, &optimum, &accuracy, NULL), NPMD_OK);
    const double rest = ((double)CHECK_PI / 2.0 + 1.0) / (4.0 * POINTS * 0.05 * 48.0 * 48.0),
                 found = series->facts.objective - 1.0 - optimum;
    if (!(accuracy <= 1e-5 && found > 0.0 && fabs(found - rest) < accuracy + 0.25 * rest))
        fail_msg("optimum %g below the series at 48, expected %g, accuracy %g", found, rest, accuracy);
    npmd_model_free(series);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static void gap_is_not_claimed(void **state)
{
    (void)state;
    static const struct {
        const char *domain, *name, *value, *gap, *said;
    } CASES[] = { { "T2", "penalty", "gradient", "on", "`penalty` laplacian" },
                  { "T2", "penalty", "none", "on", "`penalty` laplacian" },
                  { "T2", "tau", "0", "on", "`penalty` laplacian" },
                  { "T2", "tau", "1e-9", "on", "higher frequencies" },
                  { "T3", "seed", "1", "on", "one and two dimensions" },
                  { "T2", "seed", "1", "off", NULL },
                  { "T2", "seed", "1", "auto", NULL } /* two steps are less work than a gap */ };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        npmd_domain *dom = domain_of(CASES[i].domain);
        npmd_points *pts = clusters(dom, POINTS, 0.5, 19);
        npmd_options opt;
        bool said = false;
        options_of(&opt, (const char *const[]){ STILL, SMALL, "convex-gap", CASES[i].gap, CASES[i].name, CASES[i].value,
                                                NULL });
        npmd_model *m = fit_of(pts, &opt);
        assert_true(isnan(m->facts.convex_gap) && isnan(m->facts.convex_optimum));
        for (int k = 0; npmd_model_warning(m, k) != NULL; k++)
            said = said || strstr(npmd_model_warning(m, k), CASES[i].said == NULL ? "convex" : CASES[i].said) != NULL;
        assert_int_equal(said, CASES[i].said != NULL);
        npmd_model_free(m);
        npmd_points_free(pts);
        npmd_domain_free(dom);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 20);
    double kept[2][4];
    double *theta[2] = { NULL };
    size_t n = 0;
    for (int t = 0; t < 2; t++) {
        npmd_options opt;
        options_of(&opt, (const char *const[]){ STILL, "rate", "1e-3", "width", "8", "features", "60", "skip-start",
                                                "convex", "convex-gap", "on", NULL });
        opt.set.machine.threads = 1 + 2 * t;
        npmd_model *m = fit_of(pts, &opt);
        const double facts[4] = { m->facts.convex_gap, m->facts.convex_optimum, m->facts.convex_gap_accuracy,
                                  m->facts.objective };
        const field_state *found = m->state;
        n = field_parameters(&found->shape);
        theta[t] = doubles(n);
        memcpy(theta[t], found->theta, n * sizeof *found->theta);
        memcpy(kept[t], facts, sizeof facts);
        npmd_model_free(m);
    }
    assert_memory_equal(kept[0], kept[1], sizeof kept[0]);
    assert_memory_equal(theta[0], theta[1], n * sizeof **theta);
    for (int t = 0; t < 2; t++)
        free(theta[t]);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* ---- options that nobody reads ----------------------------------------------------------------------------------- */

static const npmd_domain PLAIN = { 0 }, SURFACES = { .surfaces = true }; /* all that counts here */

static void unused_options_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *estimator, *solver, *names;
    } CASES[] = { { "field", "newton", "`kappa`" },           { "series", "newton", "`width`, `steps`, `kappa`" },
                  { "series", "sgd", "`width`, `kappa`" },    { "kde", "newton", "`holdout`, `width`, `steps`" },
                  { "psnf", "newton", "`holdout`, `kappa`" }, { "relu", "newton", "`kappa`" } };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        npmd_options opt;
        char names[200];
        options_of(&opt, (const char *const[]){ "preset", "paper-t2", "estimator", CASES[i].estimator, "width", "8",
                                                "steps", "5", "holdout", "0.2", "kappa", "3", "threads", "1", NULL });
        assert_int_equal(npmd_options_set(&opt, "solver", CASES[i].solver, NULL), NPMD_OK);
        if (strcmp(CASES[i].estimator, "series") != 0)
            memset(opt.set.given, 0, sizeof opt.set.given); /* solver would be named, too */
        for (int k = 0; strcmp(CASES[i].estimator, "series") != 0 && k < 4; k++) {
            static const char *const GIVEN[][2] = {
                { "width", "8" }, { "steps", "5" }, { "holdout", "0.2" }, { "kappa", "3" }
            };
            assert_int_equal(npmd_options_set(&opt, GIVEN[k][0], GIVEN[k][1], NULL), NPMD_OK);
        }
        settings_unused(&opt.set, &PLAIN, names, sizeof names);
        assert_string_equal(names, CASES[i].names);
    }
    npmd_options opt;
    char little[16];
    options_of(&opt, (const char *const[]){ "estimator", "kde", "width", "8", "depth", "2", "omega", "3", NULL });
    assert_int_equal(settings_unused(&opt.set, &PLAIN, little, sizeof little), 3);
    assert_string_equal(little, "`width`, `de...");
    options_of(&opt, (const char *const[]){ "estimator", "kde", "holdout", "0.2", "bandwidth", "mixture", NULL });
    assert_int_equal(settings_unused(&opt.set, &PLAIN, little, sizeof little), 0); /* its weights are held out for */
    options_of(&opt, (const char *const[]){ "estimator", "kde", "max-frequency", "5", NULL });
    assert_int_equal(settings_unused(&opt.set, &PLAIN, little, sizeof little), 1);
    assert_int_equal(settings_unused(&opt.set, &SURFACES, little, sizeof little), 0); /* heat kernels end there */
}

static void fits_warn_of_unused_options(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S1");
    npmd_points *pts = clusters(dom, POINTS, 0.5, 21);
    npmd_options opt;
    options_of(&opt,
               (const char *const[]){ "preset", "quick", "estimator", "kde", "kappa", "3", "width", "300", NULL });
    npmd_model *m = fit_of(pts, &opt);
    assert_int_equal(m->warnings, 1);
    assert_string_equal(npmd_model_warning(m, 0), "`estimator` kde does not use `width`");
    npmd_model_free(m);
    options_of(&opt, (const char *const[]){ "preset", "quick", "estimator", "kde", "kappa", "3", NULL });
    m = fit_of(pts, &opt);
    assert_int_equal(m->warnings, 0);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_is_exact),
        cmocka_unit_test(projection_counts),
        cmocka_unit_test(convex_start_is_the_series),
        cmocka_unit_test(copies_share),
        cmocka_unit_test(moments_are_met),
        cmocka_unit_test(skip_starts_as_asked),
        cmocka_unit_test(fields_start_from_fields),
        cmocka_unit_test(fields_start_from_series),
        cmocka_unit_test(other_models_are_refused),
        cmocka_unit_test(gap_of_linear_fields),
        cmocka_unit_test(gap_tends_to_nothing),
        cmocka_unit_test(optimum_is_the_limit),
        cmocka_unit_test(gap_is_not_claimed),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(unused_options_are_named),
        cmocka_unit_test(fits_warn_of_unused_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
