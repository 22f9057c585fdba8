/* test_figures.c - the numbers behind the pictures: masses, marginals, conditional densities and probability content
 * against closed forms; and that every kind of figure is drawn, twice alike. */
#include "api.h"
#include "check.h"
#include "figures.h"
#include "model.h"
#include "truths.h"

#define KAPPA_1 3.0
#define KAPPA_2 9.0

/* A figure of one truth, as npmd_plot would make it; domain_look_close closes its domain. */
static void figure_of(const npmd_truth *t, const npmd_plot_request *ask, source *s, domain_look *dom, figure *f)
{
    npmd_error err = { 0 };
    must(domain_look_open(dom, npmd_truth_domain(t), &err), &err);
    *s = (source){ .truth = t };
    *f = (figure){ .ask = ask, .domain = dom, .from = s, .sources = 1 };
    f->facts.mass_error = NAN;
}

static const char *product_text(char text[256])
{
    snprintf(text, 256,
             "{\"domain\":\"T2\",\"kind\":\"von Mises-Fisher mixture\",\"weights\":[1],"
             "\"means\":[[1,4]],\"kappas\":[[%g,%g]]}",
             KAPPA_1, KAPPA_2);
    return text;
}

static double von_mises(double kappa, double x)
{
    const double half = sin(0.5 * x);
    return exp(-2.0 * kappa * half * half) / (TWO_PI * (double)scaled_bessel(0, kappa));
}

/* ---- Probability content ----------------------------------------------------------------------------------------- */

/* The region above the level, integrated afresh on a much finer grid of the exact density. Cells that the edge of the
 * region cuts are counted whole or not at all, on either grid: with N nodes a side they are about 4 N at most (a convex
 * region crosses every column and row twice), each with the mass level h^2, half of which is wrong on average at the
 * worst. */
static void contents_are_as_stated(void **state)
{
    enum { N = 240, FINE = 1440 };
    static const double SHARE[] = { 0.5, 0.9, 0.99 };
    place *at = *state;
    char text[256];
    npmd_truth *t = truth_of(at, product_text(text));
    const npmd_plot_request ask = { 0 };
    const view whole = { .shown = 3 };
    npmd_error err = { 0 };
    source s;
    domain_look dom;
    figure f;
    sheet *sh = NULL;
    double *one = malloc(2 * FINE * sizeof *one);
    assert_non_null(one);
    figure_of(t, &ask, &s, &dom, &f);
    must(panel_sheets(&f, SHEET_TORUS, N, &whole, &sh, &err), &err);
    /* the rule is exact for frequencies below 240, of which a kernel of kappa 9 has nothing left */
    check_below("mass on T2", f.facts.mass_error, 1e-12);
    for (int i = 0; i < FINE; i++) {
        one[i] = von_mises(KAPPA_1, TWO_PI * i / FINE - 1.0);
        one[FINE + i] = von_mises(KAPPA_2, TWO_PI * i / FINE - 4.0);
    }
    for (int k = 0; k < 3; k++) {
        double level = 0.0, inside = 0.0;
        const double h = TWO_PI / N, cell = TWO_PI / FINE * TWO_PI / FINE;
        must(sheet_content_level(sh, SHARE[k], &level, &err), &err);
        for (int i = 0; i < FINE; i++)
            for (int j = 0; j < FINE; j++)
                inside += one[i] * one[FINE + j] > level ? cell * one[i] * one[FINE + j] : 0.0;
        check_below("share within a contour beside what it says", fabs(inside - SHARE[k]),
                    0.5 * 4.0 * N * level * h * h);
    }
    free(one);
    panel_sheets_free(&f, sh);
    domain_look_close(&dom);
    npmd_truth_free(t);
}

/* ---- Between nodes ----------------------------------------------------------------------------------------------- */

/* A cubic through four nodes is wrong by at most h^3 |g'''| / 15 or so for this spline (third order), g = log f =
 * kappa cos x: kappa h^3 with h = 2 pi / N, on the sphere pi / N; kappa 60 and 5. */
static void sheets_agree_between_nodes(void **state)
{
    place *at = *state;
    npmd_truth *t = truth_of(at, S2_FISHER);
    const npmd_plot_request ask = { 0 };
    const view whole = { .shown = 1 };
    npmd_error err = { 0 };
    source s;
    domain_look dom;
    figure f;
    sheet *sh = NULL;
    uint64_t seed = 5;
    double worst = 0.0;
    figure_of(t, &ask, &s, &dom, &f);
    must(panel_sheets(&f, SHEET_SPHERE, 120, &whole, &sh, &err), &err);
    check_below("mass on S2", f.facts.mass_error, 1e-10);
    assert_true(sh->x[2] < sh->x[5]); /* from south to north */
    for (int k = 0; k < 3000; k++) {
        double x[3], exact;
        test_unit_vector(&seed, x);
        if (k < 20) /* near the poles, where the grid comes together */
            x[0] *= 1e-3, x[1] *= 1e-3;
        const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        for (int d = 0; d < 3; d++)
            x[d] /= length;
        must(npmd_truth_log_density(t, x, 1, NULL, &exact, &err), &err);
        worst = fmax(worst, fabs(log(sheet_at(sh, x)) - exact));
    }
    const double h = NPMD_PI / 120.0;
    /* where the two kernels meet, log f = log(e^a + e^b) bends by (a - b)' ^3 / 6 sqrt 3, (a - b)' up to 65 */
    check_below("log density between nodes", worst, (60.0 + 65.0 * 65.0 * 65.0 / 10.4) * h * h * h / 8.0);
    panel_sheets_free(&f, sh);
    domain_look_close(&dom);
    npmd_truth_free(t);
}

/* ---- Marginal and conditional densities -------------------------------------------------------------------------- */

static double fisher(double kappa, double cosine) /* on S2, per steradian */
{
    return kappa == 0.0 ? 1.0 / (4.0 * NPMD_PI)
                        : kappa / (TWO_PI * (1.0 - exp(-2.0 * kappa))) * exp(kappa * (cosine - 1.0));
}

/* S2S1_FISHER's three kernels, each a product, so its marginals are the sums of their factors. */
static const double WEIGHT[3] = { 0.2, 0.3, 0.5 }, KAPPA[3][2] = { { 0, 2 }, { 8, 0 }, { 20, 9 } };
static const double MEAN[3][4] = { { 0, 0, 1, 0 }, { 0.6, 0, 0.8, 3 }, { 0, -1, 0, 6 } };

static void marginals_are_those_of_the_kernels(void **state)
{
    place *at = *state;
    npmd_truth *t = truth_of(at, S2S1_FISHER);
    const npmd_plot_request ask = { 0 };
    npmd_error err = { 0 };
    source s;
    domain_look dom;
    figure f;
    sheet *ball = NULL, *ring = NULL;
    double worst = 0.0;
    figure_of(t, &ask, &s, &dom, &f);
    must(panel_sheets(&f, SHEET_SPHERE, 24, &(view){ .shown = 1 }, &ball, &err), &err);
    must(panel_sheets(&f, SHEET_CIRCLE, 64, &(view){ .shown = 2 }, &ring, &err), &err);
    for (size_t k = 0; k < 24 * 48; k++) {
        double exact = 0.0;
        const double *x = ball->x + 3 * k;
        for (int c = 0; c < 3; c++)
            exact += WEIGHT[c] * fisher(KAPPA[c][0], x[0] * MEAN[c][0] + x[1] * MEAN[c][1] + x[2] * MEAN[c][2]);
        worst = fmax(worst, fabs(ball->value[k] - log(exact)));
    }
    for (size_t k = 0; k < 64; k++) {
        double exact = 0.0;
        for (int c = 0; c < 3; c++)
            exact += WEIGHT[c] * von_mises(KAPPA[c][1], ring->x[k] - MEAN[c][3]);
        worst = fmax(worst, fabs(ring->value[k] - log(exact)));
    }
    /* rules are refined until two agree within 1 % where they are compared; they converge geometrically, so the better
     * of the two is far within that, and the one kept is within it */
    check_below("log of the marginals beside the kernels' own", worst, 0.01);
    check_below("mass of the marginals", f.facts.mass_error, 0.01);
    panel_sheets_free(&f, ball);
    panel_sheets_free(&f, ring);
    domain_look_close(&dom);
    npmd_truth_free(t);
}

/* f(x1 | x2) of a product is f(x1): whatever is given. */
static void conditionals_are_normalised(void **state)
{
    place *at = *state;
    char text[256];
    npmd_truth *t = truth_of(at, product_text(text));
    const npmd_plot_request ask = { 0 };
    npmd_error err = { 0 };
    const double fixed[2] = { 0.0, 2.5 };
    source s;
    domain_look dom;
    figure f;
    sheet *ring = NULL;
    double worst = 0.0;
    figure_of(t, &ask, &s, &dom, &f);
    must(panel_sheets(&f, SHEET_CIRCLE, 90, &(view){ .shown = 1, .given = 2, .fixed = fixed }, &ring, &err), &err);
    for (int k = 0; k < 90; k++)
        worst = fmax(worst, fabs(ring->value[k] - log(von_mises(KAPPA_1, ring->x[k] - 1.0))));
    /* logs of up to 25, rounded, and a normaliser of 90 terms */
    check_below("conditional density of a product beside its factor", worst, 1e-12);
    check_below("its mass", fabs(sheet_mass(ring) - 1.0), 1e-13);
    panel_sheets_free(&f, ring);
    domain_look_close(&dom);
    npmd_truth_free(t);
}

/* ---- Every kind -------------------------------------------------------------------------------------------------- */

static void fit_small(const char *domain, size_t n, npmd_points **points, npmd_model **model)
{
    npmd_error err = { 0 };
    npmd_domain *dom = NULL;
    npmd_options opt;
    uint64_t seed = 11;
    must(npmd_domain_parse(domain, &dom, &err), &err);
    const size_t columns = (size_t)npmd_domain_columns(dom);
    double *u = malloc(n * 8 * sizeof *u), *x = malloc(n * columns * sizeof *x);
    for (size_t i = 0; i < n * 8; i++) /* gathered in a part of the cube */
        u[i] = 0.2 + 0.5 * test_uniform(&seed);
    must(npmd_domain_uniform(dom, u, n, x, &err), &err);
    must(points_from(x, n, dom, points, &err), &err);
    options_init(&opt);
    must(npmd_options_set(&opt, "estimator", "kde", &err), &err);
    must(npmd_options_set(&opt, "kappa", "6", &err), &err);
    must(npmd_fit(dom, *points, &opt, model, &err), &err);
    free(u);
    free(x);
    npmd_domain_free(dom);
}

static void draw_twice(place *at, const npmd_plot_request *ask, const char *kind, int panels)
{
    npmd_error err = { 0 };
    npmd_plot_facts facts = NPMD_SIZED(npmd_plot_facts);
    static const char *const NAMES[] = { "one.png", "two.png", "one.svg", "two.svg" };
    for (int k = 0; k < 4; k++) {
        must(npmd_plot(ask, in_folder(at, NAMES[k]), &facts, &err), &err);
        assert_string_equal(facts.kind, kind);
        assert_int_equal(facts.panels, panels);
        assert_true(facts.width_mm > 80.0 && facts.height_mm > 20.0 && facts.low < facts.high);
    }
    assert_same_bytes(in_folder(at, "one.png"), in_folder(at, "two.png"));
    assert_same_bytes(in_folder(at, "one.svg"), in_folder(at, "two.svg"));
}

static void every_domain_is_drawn(void **state)
{
    static const struct {
        const char *domain, *kind;
        int panels, grid;
    } CASES[] = { { "S1", "circle", 1, 60 }, { "T2", "torus", 1, 40 },        { "S2", "sphere", 3, 24 },
                  { "T3", "corner", 6, 16 }, { "S2 x S1", "factors", 2, 12 }, { "T5", "corner", 15, 16 } };
    place *at = *state;
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        npmd_points *points = NULL;
        npmd_model *model = NULL;
        fit_small(CASES[k].domain, 40, &points, &model);
        const npmd_model *const models[1] = { model };
        const npmd_plot_request ask = {
            .size = sizeof ask, .model = models, .models = 1, .data = points, .dpi = 40.0, .grid = CASES[k].grid
        };
        draw_twice(at, &ask, CASES[k].kind, CASES[k].panels);
        npmd_model_free(model);
        npmd_points_free(points);
    }
}

static void conditionals_and_contours_are_drawn(void **state)
{
    place *at = *state;
    npmd_error err = { 0 };
    npmd_points *points = NULL, *there = NULL;
    npmd_domain *one = NULL;
    npmd_model *model = NULL;
    const double x[1] = { 2.0 }, range[4] = { 1e-3, 1.0, 0.01, 0.5 }, level[2] = { 30.0, 80.0 };
    fit_small("T2", 40, &points, &model);
    must(npmd_domain_parse("S1", &one, &err), &err);
    must(points_from(x, 1, one, &there, &err), &err);
    const npmd_model *const models[2] = { model, model };
    npmd_plot_request ask = { .size = sizeof ask, .model = models, .models = 1, .given = 1, .at = there, .dpi = 40.0 };
    draw_twice(at, &ask, "factors", 2);
    ask = (npmd_plot_request){ .size = sizeof ask,
                               .model = models,
                               .models = 2,
                               .range = range,
                               .ranges = 2,
                               .log_scale = 1,
                               .level = level,
                               .levels = 2,
                               .what = NPMD_PLOT_RELATIVE,
                               .dpi = 40.0,
                               .grid = 40,
                               .title = "two" };
    draw_twice(at, &ask, "torus", 4);
    npmd_points_free(there);
    npmd_points_free(points);
    npmd_domain_free(one);
    npmd_model_free(model);
}

static const char LOG[] = "{\"step\": 1, \"epoch\": 1, \"rate\": 0.1, \"data\": 0, \"integral\": 1, \"penalty\": 2, "
                          "\"objective\": 1.5, \"snr_a\": 3, \"snr_b\": 2, \"snr_c\": 1, \"ae\": 1}\n"
                          "{\"step\": 2, \"epoch\": 2, \"rate\": 0.2, \"data\": -1, \"integral\": 1.1, \"penalty\": 3, "
                          "\"objective\": 0.5, \"snr_a\": 2, \"snr_b\": 1, \"snr_c\": 0.5, \"ae\": 0.4}\n"
                          "{\"step\": 3, \"cut o";
static const char RESULTS[] =
    "{\"experiment\": \"spectral-bias\", \"domain\": \"T2\", \"replicate\": 1, \"method\": \"field\", \"settings\": \"best\", "
    "\"profile\": [[1,1,0.1,1,0.8,1.6],[2,2,0.2,0.9,0.5,1.2]], \"spectrum\": [[1,0,0,1,1],[1,1,-2,0.1,0.2],[2,0,0,1,1]], "
    "\"status\": \"done\"}\n";

static void logs_are_drawn(void **state)
{
    place *at = *state;
    npmd_error err = { 0 };
    char log[1024], results[1024];
    const char *file[1] = { log };
    snprintf(log, sizeof log, "%s", put_text(at, "log.jsonl", LOG));
    snprintf(results, sizeof results, "%s", put_text(at, "results.jsonl", RESULTS));
    assert_int_equal(npmd_plot_is_lines(log), 1);
    npmd_plot_request ask = { .size = sizeof ask, .file = file, .files = 1, .dpi = 40.0 };
    draw_twice(at, &ask, "training", 6);
    ask.kind = "snr";
    draw_twice(at, &ask, "snr", 2);
    ask.kind = "tau";
    assert_int_equal(npmd_plot(&ask, in_folder(at, "x.png"), NULL, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "results of reproduce tau");
    ask.kind = NULL;
    file[0] = results;
    draw_twice(at, &ask, "learning", 2);
    ask.kind = "spectra";
    draw_twice(at, &ask, "spectra", 6);
    ask.kind = "nonsense";
    assert_int_equal(npmd_plot(&ask, in_folder(at, "x.png"), NULL, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "training");
    file[0] = put_text(at, "other.jsonl", "{\"a\": 1}\n");
    ask.kind = NULL;
    assert_int_equal(npmd_plot(&ask, in_folder(at, "x.png"), NULL, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "entry 1");
}

/* ---- What is no number ------------------------------------------------------------------------------------------- */

/* A row without a tau, or with one of no sense, and numbers at both ends of what a double holds. */
static const char COURSES[] =
    "{\"experiment\": \"tau\", \"domain\": \"T2\", \"method\": \"a\", \"course\": "
    "[[1,1,1e308,0,1,1],[2,2,-1e308,0,2,5e-324],[3,3,0.5,0,3,2]]}\n"
    "{\"experiment\": \"tau\", \"domain\": \"T2\", \"method\": \"b\", \"tau\": -1e308, \"course\": [[1,1,2,0,2,1],[2,2,3,0,2,3]]}\n"
    "{\"experiment\": \"tau\", \"domain\": \"T2\", \"method\": \"c\", \"tau\": 5e-324, \"course\": [[1,1,2,0,2,1],[2,2,3,0,2,3]]}\n"
    "{\"experiment\": \"tau\", \"domain\": \"T2\", \"method\": \"d\", \"tau\": 1e-3, \"course\": [[1,1,2,0,2,1],[2,2,3,0,2,3]]}\n";

static void odd_numbers_of_logs_are_drawn(void **state)
{
    place *at = *state;
    const char *file[1] = { put_text(at, "courses.jsonl", COURSES) };
    char path[1024];
    snprintf(path, sizeof path, "%s", file[0]);
    file[0] = path;
    const npmd_plot_request ask = { .size = sizeof ask, .file = file, .files = 1, .dpi = 40.0 };
    draw_twice(at, &ask, "tau", 3);
    size_t size = 0;
    unsigned char *svg = get_bytes(in_folder(at, "one.svg"), &size);
    assert_null(strstr((const char *)svg, "nan"));
    assert_null(strstr((const char *)svg, "inf"));
    free(svg);
}

/* The gate: what is NaN or beyond any density is refused in words, and what is between steep nodes stays a number. */
static void what_is_no_density_is_refused(void **state)
{
    static const double WRONG[] = { NAN, INFINITY, LOG_MOST + 1.0 };
    (void)state;
    npmd_error err = { 0 };
    const source s = { .name = "estimate" };
    for (size_t k = 0; k < 3; k++) {
        double value[3] = { 0.0, WRONG[k], 1.0 };
        assert_int_equal(zeros_raise(&s, value, 3, &err), NPMD_ERR_NUMERIC);
        assert_says(&err, "at node 2 of 3 cannot be drawn");
    }
    double steep[6] = { -INFINITY, 0.0, 0.0, -1e308, -DBL_MAX, LOG_MOST };
    must(zeros_raise(&s, steep, 6, &err), &err);
    sheet ring = { 0 };
    must(sheet_open(SHEET_CIRCLE, 6, &ring, &err), &err);
    memcpy(ring.value, steep, sizeof steep);
    for (int i = 0; i <= 600; i++) {
        const double x = TWO_PI * i / 600.0, shown = sheet_at(&ring, &x);
        assert_true(isfinite(shown) && isfinite(log(shown)));
    }
    sheet_free(&ring);
}

/* A model file whose log integral is off by 2,000 nats is still a model file. */
static void a_density_beyond_numbers_is_no_picture(void **state)
{
    place *at = *state;
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    must(npmd_load("tests/old/field_t2.safetensors", &m, &err), &err);
    m->facts.log_integral -= 2000.0;
    const npmd_model *const models[1] = { m };
    const npmd_plot_request ask = { .size = sizeof ask, .model = models, .models = 1, .dpi = 40.0, .grid = 24 };
    assert_int_equal(npmd_plot(&ask, in_folder(at, "x.png"), NULL, &err), NPMD_ERR_NUMERIC);
    assert_says(&err, "cannot be drawn");
    assert_int_equal(access(at->path, F_OK), -1);
    npmd_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_as_stated),
        cmocka_unit_test(sheets_agree_between_nodes),
        cmocka_unit_test(marginals_are_those_of_the_kernels),
        cmocka_unit_test(conditionals_are_normalised),
        cmocka_unit_test(every_domain_is_drawn),
        cmocka_unit_test(conditionals_and_contours_are_drawn),
        cmocka_unit_test(logs_are_drawn),
        cmocka_unit_test(odd_numbers_of_logs_are_drawn),
        cmocka_unit_test(what_is_no_density_is_refused),
        cmocka_unit_test(a_density_beyond_numbers_is_no_picture),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
