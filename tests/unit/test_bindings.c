/* test_bindings.c - what bindings of other languages stand on: points and weights from arrays, copied or borrowed,
 * models as bytes, options by name and their table, structs that begin with their size. */
#include "check.h"
#include "points.h"
#include "neuropmd-draw.h"

enum { ROWS = 40 };

static npmd_domain *domain_of(const char *text)
{
    npmd_domain *dom = NULL;
    assert_int_equal(npmd_domain_parse(text, &dom, NULL), NPMD_OK);
    return dom;
}

static void rows_of(uint64_t seed, double *rows, size_t n) /* latitude, longitude, an angle in degrees */
{
    for (size_t i = 0; i < n; i++) {
        rows[3 * i] = 180.0 * test_uniform(&seed) - 90.0;
        rows[3 * i + 1] = 360.0 * test_uniform(&seed);
        rows[3 * i + 2] = 720.0 * test_uniform(&seed) - 360.0;
    }
}

#define BOTH (NPMD_COORDS_LATLON | NPMD_COORDS_DEGREES)

/* Copied, borrowed, borrowed as float32: the same points, to the bit, as those that are converted one by one. */
static void arrays_are_points(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_points *pts[3] = { NULL }, *one = NULL;
    npmd_error err = { 0 };
    double rows[3 * ROWS], x[4], expected[4];
    float narrow[3 * ROWS];
    rows_of(1, rows, ROWS);
    for (int i = 0; i < 3 * ROWS; i++)
        rows[i] = narrow[i] = (float)rows[i];
    assert_int_equal(npmd_points_columns(dom, BOTH), 3);
    assert_int_equal(npmd_points_columns(dom, 0), 4);
    if (npmd_points_from(rows, ROWS, 3, dom, BOTH, &pts[0], &err) != NPMD_OK
        || npmd_points_borrow(rows, 0, ROWS, 3, dom, BOTH, &pts[1], &err) != NPMD_OK
        || npmd_points_borrow(narrow, 1, ROWS, 3, dom, BOTH, &pts[2], &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_true(npmd_points_bytes(pts[0]) == ROWS * 4 * sizeof(double) && npmd_points_bytes(pts[1]) == 0);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(npmd_points_from(rows + 3 * i, 1, 3, dom, BOTH, &one, NULL), NPMD_OK);
        npmd_points_row(one, 0, expected);
        npmd_points_free(one);
        for (int k = 0; k < 3; k++) {
            npmd_points_row(pts[k], i, x);
            assert_memory_equal(x, expected, sizeof x);
        }
    }
    for (int k = 0; k < 3; k++)
        npmd_points_free(pts[k]);
    npmd_domain_free(dom);
}

/* Out again in the coordinates they came in: an angle modulo a turn. Degrees of at most 360 go through radians and
 * sines and back, each with a few roundings; near a pole asin loses as much as 1 / cos of the latitude, which is above
 * 1/50 here. */
static void points_are_arrays(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_points *pts = NULL;
    double rows[3 * ROWS], out[3 * ROWS], worst = 0.0;
    rows_of(2, rows, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        rows[3 * i] *= 0.98;
    assert_int_equal(npmd_points_from(rows, ROWS, 3, dom, BOTH, &pts, NULL), NPMD_OK);
    assert_int_equal(npmd_points_rows(pts, BOTH, out, NULL), NPMD_OK);
    for (int i = 0; i < 3 * ROWS; i++)
        worst = fmax(worst, fabs(remainder(out[i] - rows[i], 360.0)));
    check_below("degrees, there and back", worst, 50.0 * 360.0 * 8.0 * DBL_EPSILON);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static void bad_arrays_are_refused(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1"), *torus = domain_of("T2");
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    double rows[3 * ROWS], weight[ROWS];
    rows_of(3, rows, ROWS);
    rows[3 * 6] = NAN;
    assert_int_equal(npmd_points_from(rows, ROWS, 3, dom, BOTH, &pts, &err), NPMD_ERR_FORMAT);
    assert_non_null(strstr(err.text, "the array row 7: factor 1 (S2)"));
    assert_int_equal(npmd_points_borrow(rows, 0, ROWS, 3, dom, BOTH, &pts, &err), NPMD_ERR_FORMAT);
    assert_non_null(strstr(err.text, "the array row 7: factor 1 (S2)"));
    assert_int_equal(npmd_points_from(rows, ROWS, 3, dom, 0, &pts, &err), NPMD_ERR_SHAPE);
    assert_non_null(strstr(err.text, "the array has 3 columns, points of S2 x S1 need 4"));
    assert_int_equal(npmd_points_borrow(rows, 0, ROWS, 3, dom, 0, &pts, &err), NPMD_ERR_SHAPE);
    assert_int_equal(npmd_points_borrow(rows, 0, ROWS, 2, torus, NPMD_COORDS_LATLON, &pts, &err), NPMD_ERR_ARGUMENT);
    assert_null(pts);
    rows[3 * 6] = 0.0;
    assert_int_equal(npmd_points_from(rows, ROWS, 3, dom, BOTH, &pts, &err), NPMD_OK);
    for (int i = 0; i < ROWS; i++)
        weight[i] = i;
    assert_int_equal(npmd_points_weigh_by(pts, weight, ROWS - 1, &err), NPMD_ERR_SHAPE);
    assert_int_equal(npmd_points_weigh_by(pts, weight, ROWS, &err), NPMD_OK);
    check_below("weights: their sum", fabs(pts->total - ROWS * (ROWS - 1) / 2.0), 0.0);
    weight[5] = -1.0;
    assert_int_equal(npmd_points_weigh_by(pts, weight, ROWS, &err), NPMD_ERR_FORMAT);
    assert_non_null(strstr(err.text, "the array of weights, weight 6: -1 is negative"));
    check_below("weights: those of before", fabs(points_weight(pts, 5) - 5.0 * ROWS / pts->total), 1e-15);
    npmd_points_free(pts);
    npmd_domain_free(torus);
    npmd_domain_free(dom);
}

/* Points of a surface are copied when they are borrowed: its corners, as doubles and as float32. */
static void points_of_a_surface(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("mesh:tests/fixtures/surface/bumpy.off");
    npmd_surface *surface = NULL;
    npmd_points *pts = NULL;
    double rows[3 * ROWS], x[3];
    float narrow[3 * ROWS];
    assert_int_equal(npmd_surface_read("tests/fixtures/surface/bumpy.off", &surface, NULL), NPMD_OK);
    for (size_t i = 0; i < ROWS; i++)
        npmd_surface_vertex(surface, i, rows + 3 * i);
    for (int i = 0; i < 3 * ROWS; i++)
        narrow[i] = (float)rows[i];
    for (int single = 0; single < 2; single++) {
        assert_int_equal(npmd_points_borrow(single ? (const void *)narrow : rows, single, ROWS, 3, dom, 0, &pts, NULL),
                         NPMD_OK);
        for (size_t i = 0; i < ROWS; i++) {
            npmd_points_row(pts, i, x);
            for (int j = 0; j < 3; j++) /* a mesh of size 1 or so: the rounding of float32 */
                check_quiet("a corner", fabs(x[j] - rows[3 * i + (size_t)j]), single ? 1e-5 : 1e-12);
        }
        npmd_points_free(pts);
    }
    npmd_surface_free(surface);
    npmd_domain_free(dom);
}

/* The bytes are those of the file, and make the same model. */
static void models_are_bytes(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_points *pts = NULL;
    npmd_model *m = NULL, *again = NULL;
    npmd_options *opt = npmd_options_new();
    npmd_error err = { 0 };
    char *bytes[2] = { NULL }, path[300], *held = NULL;
    size_t size[2] = { 0 };
    double rows[3 * ROWS];
    rows_of(4, rows, ROWS);
    assert_int_equal(npmd_options_set(opt, "estimator", "kde", NULL), NPMD_OK);
    assert_int_equal(npmd_options_set(opt, "kappa", "5", NULL), NPMD_OK);
    assert_int_equal(npmd_points_from(rows, ROWS, 3, dom, BOTH, &pts, NULL), NPMD_OK);
    if (npmd_fit(dom, pts, opt, &m, &err) != NPMD_OK || npmd_model_pack(m, &bytes[0], &size[0], &err) != NPMD_OK
        || npmd_model_unpack(bytes[0], size[0], &again, &err) != NPMD_OK
        || npmd_model_pack(again, &bytes[1], &size[1], &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    temporary_path(path, sizeof path);
    assert_int_equal(npmd_save(m, path, NULL), NPMD_OK);
    FILE *in = fopen(path, "rb");
    held = malloc(size[0] + 1);
    assert_true(in != NULL && held != NULL);
    assert_int_equal(fread(held, 1, size[0] + 1, in), size[0]);
    assert_memory_equal(held, bytes[0], size[0]);
    fclose(in);
    unlink(path);
    /* Every prefix is refused, and so is a flipped byte of the header's length. */
    npmd_model *none = NULL;
    for (size_t cut = 0; cut < size[0]; cut += 1 + cut / 8)
        assert_int_equal(npmd_model_unpack(bytes[0], cut, &none, &err), NPMD_ERR_FORMAT);
    assert_non_null(strstr(err.text, "the model in memory"));
    bytes[0][6] = (char)0xff;
    assert_int_equal(npmd_model_unpack(bytes[0], size[0], &none, &err), NPMD_ERR_FORMAT);
    assert_null(none);
    free(held);
    npmd_text_free(bytes[0]);
    npmd_text_free(bytes[1]);
    npmd_model_free(again);
    npmd_model_free(m);
    npmd_options_free(opt);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* ---- options by name --------------------------------------------------------------------------------------------- */

static const char *name_of(int i)
{
    return npmd_option_text(i, NPMD_OPTION_NAME);
}

/* The text of every option is taken again and comes back; what is a number is the same as a number. */
static void options_come_back(void **state)
{
    (void)state;
    static const char *const SET[][2] = { { "preset", "paper-s2s2" }, { "estimator", "stack" },
                                          { "tau", "auto" },          { "seed", "18446744073709551615" },
                                          { "members", "7" },         { "max-frequency", "3,4" },
                                          { "kappa", "0.1,2,3e4" },   { "rate", "0.1" },
                                          { "batch", "n/3" },         { "device", "cuda:1" },
                                          { "checkpoint", "a b" },    { "skip-start", "zero" } };
    for (int changed = 0; changed < 2; changed++) {
        npmd_options *opt = npmd_options_new(), *again = npmd_options_new();
        assert_true(opt != NULL && again != NULL);
        for (size_t k = 0; changed && k < sizeof SET / sizeof *SET; k++)
            assert_int_equal(npmd_options_set(opt, SET[k][0], SET[k][1], NULL), NPMD_OK);
        for (int i = 0; name_of(i) != NULL; i++) { /* the preset comes first, and all it sets after it */
            char text[256];
            assert_true(npmd_options_get(opt, name_of(i), text, sizeof text) < sizeof text);
            assert_int_equal(npmd_options_set(again, name_of(i), text, NULL), NPMD_OK);
        }
        for (int i = 0; name_of(i) != NULL; i++) {
            char a[256], b[256], *end = NULL;
            const size_t size = npmd_options_get(opt, name_of(i), a, sizeof a);
            assert_int_equal(npmd_options_get(again, name_of(i), b, sizeof b), size);
            assert_int_equal(strlen(a), size);
            assert_string_equal(a, b);
            const double number = npmd_options_number(opt, name_of(i)), same = npmd_options_number(again, name_of(i)),
                         said = strtod(a, &end);
            assert_memory_equal(&number, &same, sizeof number);
            if (size > 0 && *end == '\0') /* the text is a number, and no list of several */
                assert_true(number == said);
        }
        npmd_options_free(opt);
        npmd_options_free(again);
    }
}

static void options_are_read(void **state)
{
    (void)state;
    npmd_options *opt = npmd_options_new();
    char text[8] = "abcdefg";
    assert_non_null(opt);
    assert_int_equal(npmd_options_get(opt, "concentration-rule", text, sizeof text), strlen("least-squares"));
    assert_string_equal(text, "least-s"); /* cut, with the length of all of it */
    assert_int_equal(npmd_options_get(opt, "estimator", text, sizeof text), strlen("field"));
    assert_string_equal(text, "field");
    assert_int_equal(npmd_options_get(opt, "tau", NULL, 0), strlen("auto"));
    assert_int_equal(npmd_options_get(opt, "no-such", text, sizeof text), 0);
    assert_true(npmd_options_number(opt, "tau") < 0.0); /* open */
    assert_int_equal(npmd_options_set(opt, "estimator", "kde", NULL), NPMD_OK);
    assert_true(npmd_options_number(opt, "estimator") == 2.0); /* its place among the values */
    assert_true(isnan(npmd_options_number(opt, "device")) && isnan(npmd_options_number(opt, "no-such")));
    npmd_options_free(opt);
}

static void options_name_their_readers(void **state)
{
    (void)state;
    static const char *const ALL[] = { "field", "series", "kde", "psnf", "relu", "stack", "uniform" };
    for (int i = 0; name_of(i) != NULL; i++) {
        char readers[64] = "";
        for (size_t k = 0; k < sizeof ALL / sizeof *ALL; k++)
            if (npmd_option_is_read(i, ALL[k])) {
                strcat(readers, " ");
                strcat(readers, ALL[k]);
            }
        if (strcmp(name_of(i), "seed") == 0)
            assert_string_equal(readers, " field series kde psnf relu stack uniform");
        if (strcmp(name_of(i), "kappa") == 0)
            assert_string_equal(readers, " kde stack");
        if (strcmp(name_of(i), "patience") == 0)
            assert_string_equal(readers, " field relu stack");
        assert_string_not_equal(readers, "");
        assert_int_equal(npmd_option_is_read(i, "no-such"), 0);
    }
    assert_int_equal(npmd_option_is_read(-1, "field"), 0);
    assert_int_equal(npmd_option_is_read(10000, "field"), 0);
}

/* ---- structs that begin with their size -------------------------------------------------------------------------- */

#define BEGINS_WITH_SIZE(type) static_assert(offsetof(type, size) == 0, #type)
BEGINS_WITH_SIZE(npmd_report);
BEGINS_WITH_SIZE(npmd_compute);
BEGINS_WITH_SIZE(npmd_surface_options);
BEGINS_WITH_SIZE(npmd_fit_facts);
BEGINS_WITH_SIZE(npmd_part);
BEGINS_WITH_SIZE(npmd_choice);
BEGINS_WITH_SIZE(npmd_choice_row);
BEGINS_WITH_SIZE(npmd_sample_facts);
BEGINS_WITH_SIZE(npmd_probability);
BEGINS_WITH_SIZE(npmd_score);
BEGINS_WITH_SIZE(npmd_comparison);
BEGINS_WITH_SIZE(npmd_recipe);
BEGINS_WITH_SIZE(npmd_region_request);
BEGINS_WITH_SIZE(npmd_region_facts);
BEGINS_WITH_SIZE(npmd_endpoints_request);
BEGINS_WITH_SIZE(npmd_endpoints_facts);
BEGINS_WITH_SIZE(npmd_plot_surfaces);
BEGINS_WITH_SIZE(npmd_plot_request);
BEGINS_WITH_SIZE(npmd_plot_facts);
BEGINS_WITH_SIZE(npmd_view_request);
BEGINS_WITH_SIZE(npmd_view_facts);

/* Members on a torus, whose every struct of results can be asked for. */
typedef struct sized_stage {
    npmd_domain *domain;
    npmd_points *points;
    npmd_truth *truth;
    npmd_model *model;
} sized_stage;

static sized_stage sized_open(void)
{
    sized_stage s = { .domain = domain_of("T2") };
    npmd_options *opt = npmd_options_new();
    double rows[2 * ROWS];
    uint64_t seed = 5;
    npmd_error err = { 0 };
    for (int i = 0; i < 2 * ROWS; i++)
        rows[i] = 3.0 + test_normal(&seed);
    if (npmd_options_set(opt, "estimator", "kde", &err) != NPMD_OK
        || npmd_options_set(opt, "kappa", "5", &err) != NPMD_OK
        || npmd_options_set(opt, "members", "3", &err) != NPMD_OK
        || npmd_options_set(opt, "bootstrap", "on", &err) != NPMD_OK
        || npmd_points_from(rows, ROWS, 2, s.domain, NPMD_COORDS_DEFAULT, &s.points, &err) != NPMD_OK
        || npmd_fit(s.domain, s.points, opt, &s.model, &err) != NPMD_OK
        || npmd_truth_make("t2-authors", 1, &s.truth, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    npmd_options_free(opt);
    return s;
}

static void sized_close(sized_stage *s)
{
    npmd_model_free(s->model);
    npmd_truth_free(s->truth);
    npmd_points_free(s->points);
    npmd_domain_free(s->domain);
}

static npmd_status ask_facts(const sized_stage *s, void *out, npmd_error *err)
{
    return npmd_model_facts(s->model, out, err);
}
static npmd_status ask_part(const sized_stage *s, void *out, npmd_error *err)
{
    return npmd_model_part(s->model, 1, out, err);
}
static npmd_status ask_choice(const sized_stage *s, void *out, npmd_error *err)
{
    return npmd_model_choice(s->model, out, err);
}
static npmd_status ask_sample(const sized_stage *s, void *out, npmd_error *err)
{
    double x[2];
    return npmd_sample(s->model, 1, 1, NULL, x, out, err);
}
static npmd_status ask_probability(const sized_stage *s, void *out, npmd_error *err)
{
    npmd_points *one = NULL;
    npmd_status st = npmd_points_from((const double[]){ 3, 3 }, 1, 2, s->domain, 0, &one, err);
    if (st == NPMD_OK)
        st = npmd_probability_near(s->model, one, (const double[]){ 1, 1 }, 0.0, 1, NULL, out, err);
    npmd_points_free(one);
    return st;
}
static npmd_status ask_score(const sized_stage *s, void *out, npmd_error *err)
{
    return npmd_score_points(s->model, s->points, 1, NULL, out, err);
}
static npmd_status ask_comparison(const sized_stage *s, void *out, npmd_error *err)
{
    return npmd_compare(s->model, s->truth, NPMD_GRID_AUTHORS, 0, 1, NULL, out, err);
}

/* A caller that was built with an older header has a shorter struct: it is filled as far as it goes, and nothing beyond
 * is touched. One of a newer header has a longer struct: what this library does not know is zero. One that forgot the
 * size is told so. */
static void results_of_any_size(void **state)
{
    (void)state;
    enum { MOST = 512 };
    static const struct {
        const char *name;
        size_t size;
        npmd_status (*ask)(const sized_stage *s, void *out, npmd_error *err);
    } CASES[] = {
        { "facts", sizeof(npmd_fit_facts), ask_facts },         { "part", sizeof(npmd_part), ask_part },
        { "choice", sizeof(npmd_choice), ask_choice },          { "facts", sizeof(npmd_sample_facts), ask_sample },
        { "found", sizeof(npmd_probability), ask_probability }, { "score", sizeof(npmd_score), ask_score },
        { "found", sizeof(npmd_comparison), ask_comparison }
    };
    sized_stage s = sized_open();
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        const size_t whole = CASES[k].size;
        union {
            size_t size;
            unsigned char byte[MOST];
        } known, found, untouched;
        npmd_error err = { 0 };
        assert_true(whole + 32 <= MOST);
        memset(&untouched, 0xA5, sizeof untouched);
        known = untouched;
        known.size = whole;
        if (CASES[k].ask(&s, &known, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        assert_int_equal(known.size, whole);
        assert_memory_equal(known.byte + whole, untouched.byte + whole, MOST - whole);
        const size_t word = sizeof(double), older[] = { word, 2 * word, whole / 2 / word * word, whole - word };
        for (size_t o = 0; o < sizeof older / sizeof *older; o++) { /* its size alone, one member, some, all but one */
            const size_t size = older[o];
            found = untouched;
            found.size = size;
            assert_int_equal(CASES[k].ask(&s, &found, NULL), NPMD_OK);
            assert_int_equal(found.size, size);
            if (size >= 2 * sizeof size) /* the first member; between later ones there may be anything */
                assert_memory_equal(found.byte + sizeof size, known.byte + sizeof size, sizeof(double));
            assert_memory_equal(found.byte + size, untouched.byte + size, MOST - size);
        }
        found = untouched; /* a newer one */
        found.size = whole + 32;
        assert_int_equal(CASES[k].ask(&s, &found, NULL), NPMD_OK);
        assert_int_equal(found.size, whole + 32);
        assert_memory_equal(found.byte + sizeof whole, known.byte + sizeof whole, sizeof(double));
        for (size_t i = whole; i < whole + 32; i++)
            assert_int_equal(found.byte[i], 0);
        assert_memory_equal(found.byte + whole + 32, untouched.byte + whole + 32, MOST - whole - 32);
        found = untouched; /* one without */
        found.size = 0;
        untouched.size = 0;
        assert_int_equal(CASES[k].ask(&s, &found, &err), NPMD_ERR_ARGUMENT);
        if (strstr(err.text, "begins with size 0") == NULL || strstr(err.text, CASES[k].name) == NULL)
            fail_msg("%s: %s", CASES[k].name, err.text);
        assert_memory_equal(&found, &untouched, sizeof found);
    }
    sized_close(&s);
}

/* The same of what is asked for: an older one has no device, whatever stands where it would be. */
static void requests_of_any_size(void **state)
{
    (void)state;
    sized_stage s = sized_open();
    double plain[ROWS], other[ROWS];
    npmd_error err = { 0 };
    assert_int_equal(npmd_evaluate_at(s.model, s.points, NPMD_LOG_DENSITY, NULL, plain, NULL), NPMD_OK);
    npmd_compute how = { .size = offsetof(npmd_compute, device), .threads = 1, .device = "no device at all" };
    assert_int_equal(npmd_evaluate_at(s.model, s.points, NPMD_LOG_DENSITY, &how, other, NULL), NPMD_OK);
    assert_memory_equal(plain, other, sizeof plain);
    how.size = sizeof how;
    assert_int_equal(npmd_evaluate_at(s.model, s.points, NPMD_LOG_DENSITY, &how, other, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "no device at all"));
    struct {
        npmd_compute known;
        double later[4];
    } newer = { { .size = sizeof newer, .threads = 1 }, { 1, 2, 3, 4 } };
    assert_int_equal(npmd_evaluate_at(s.model, s.points, NPMD_LOG_DENSITY, &newer.known, other, NULL), NPMD_OK);
    assert_memory_equal(plain, other, sizeof plain);
    how = (npmd_compute){ .threads = 1 };
    assert_int_equal(npmd_evaluate_at(s.model, s.points, NPMD_LOG_DENSITY, &how, other, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "begins with size 0: begin it with NPMD_SIZED"));
    npmd_domain *dom = NULL;
    assert_int_equal(npmd_domain_parse_with("T2", &(npmd_surface_options){ .elements = 1 }, &dom, &err),
                     NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "begins with size 0"));
    npmd_endpoints *ends = NULL;
    assert_int_equal(npmd_endpoints_find(&(npmd_endpoints_request){ .files = 1 }, &ends, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "begins with size 0"));
    assert_int_equal(npmd_view(s.model, &(npmd_view_request){ .nodes = 8 }, "none.html", NULL, &err),
                     NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "begins with size 0"));
    assert_int_equal(npmd_plot(&(npmd_plot_request){ .models = 0 }, "none.png", NULL, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "begins with size 0"));
    const npmd_plot_request ask = { .size = sizeof ask, .how = &how };
    assert_int_equal(npmd_plot(&ask, "none.png", NULL, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "begins with size 0"));
    assert_true(dom == NULL && ends == NULL);
    sized_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_points),      cmocka_unit_test(points_are_arrays),
        cmocka_unit_test(bad_arrays_are_refused), cmocka_unit_test(points_of_a_surface),
        cmocka_unit_test(models_are_bytes),       cmocka_unit_test(options_come_back),
        cmocka_unit_test(options_are_read),       cmocka_unit_test(options_name_their_readers),
        cmocka_unit_test(results_of_any_size),    cmocka_unit_test(requests_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
