/* test_bindings.c - what bindings of other languages stand on: points and weights from arrays, copied or borrowed, models as
 * bytes, the layout of structs, the table of options. */
#include "check.h"
#include "geometry.h"

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
    if (npmd_points_from_rows(rows, ROWS, 3, dom, BOTH, &pts[0], &err) != NPMD_OK
        || npmd_points_borrow(rows, 0, ROWS, 3, dom, BOTH, &pts[1], &err) != NPMD_OK
        || npmd_points_borrow(narrow, 1, ROWS, 3, dom, BOTH, &pts[2], &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_true(npmd_points_bytes(pts[0]) == ROWS * 4 * sizeof(double) && npmd_points_bytes(pts[1]) == 0);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(npmd_points_from_row(rows + 3 * i, 3, dom, BOTH, &one, NULL), NPMD_OK);
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

/* Out again in the coordinates they came in: an angle modulo a turn. Degrees of at most 360 go through radians and sines and
 * back, each with a few roundings; near a pole asin loses as much as 1 / cos of the latitude, which is above 1/50 here. */
static void points_are_arrays(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_points *pts = NULL;
    double rows[3 * ROWS], out[3 * ROWS], worst = 0.0;
    rows_of(2, rows, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        rows[3 * i] *= 0.98;
    assert_int_equal(npmd_points_from_rows(rows, ROWS, 3, dom, BOTH, &pts, NULL), NPMD_OK);
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
    assert_int_equal(npmd_points_from_rows(rows, ROWS, 3, dom, BOTH, &pts, &err), NPMD_ERR_FORMAT);
    assert_non_null(strstr(err.text, "the array row 7: factor 1 (S2)"));
    assert_int_equal(npmd_points_borrow(rows, 0, ROWS, 3, dom, BOTH, &pts, &err), NPMD_ERR_FORMAT);
    assert_non_null(strstr(err.text, "the array row 7: factor 1 (S2)"));
    assert_int_equal(npmd_points_from_rows(rows, ROWS, 3, dom, 0, &pts, &err), NPMD_ERR_SHAPE);
    assert_non_null(strstr(err.text, "the array has 3 columns, points of S2 x S1 need 4"));
    assert_int_equal(npmd_points_borrow(rows, 0, ROWS, 3, dom, 0, &pts, &err), NPMD_ERR_SHAPE);
    assert_int_equal(npmd_points_borrow(rows, 0, ROWS, 2, torus, NPMD_COORDS_LATLON, &pts, &err),
                     NPMD_ERR_ARGUMENT);
    assert_null(pts);
    rows[3 * 6] = 0.0;
    assert_int_equal(npmd_points_from_rows(rows, ROWS, 3, dom, BOTH, &pts, &err), NPMD_OK);
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
        assert_int_equal(
            npmd_points_borrow(single ? (const void *)narrow : rows, single, ROWS, 3, dom, 0, &pts, NULL),
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
    npmd_options opt;
    npmd_error err = { 0 };
    char *bytes[2] = { NULL }, path[300], *held = NULL;
    size_t size[2] = { 0 };
    double rows[3 * ROWS];
    rows_of(4, rows, ROWS);
    options_init(&opt);
    assert_int_equal(npmd_options_set(&opt, "estimator", "kde", NULL), NPMD_OK);
    assert_int_equal(npmd_options_set(&opt, "kappa", "5", NULL), NPMD_OK);
    assert_int_equal(npmd_points_from_rows(rows, ROWS, 3, dom, BOTH, &pts, NULL), NPMD_OK);
    if (npmd_fit(dom, pts, &opt, &m, &err) != NPMD_OK
        || npmd_model_pack(m, &bytes[0], &size[0], &err) != NPMD_OK
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
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* A field begins where the one before it ends, or less than its alignment later, which is at most 8: a larger gap is a field
 * that was forgotten. (An int between two doubles leaves a gap of 4, and could hide one int.) */
static void structs_have_no_gaps(void **state)
{
    (void)state;
    size_t end = 0, whole = 0;
    const char *of = NULL;
    int structs = 0;
    for (int i = 0; i < npmd_field_count(); i++) {
        const npmd_field_text f = npmd_field_describe(i);
        if (strcmp(f.name, "") == 0) {
            assert_true(whole - end < sizeof(double)); /* of the struct before */
            of = f.of;
            whole = f.size;
            end = 0;
            structs++;
            continue;
        }
        assert_string_equal(f.of, of);
        if (f.offset < end || f.offset - end >= sizeof(double))
            fail_msg("%s.%s is at %zu, the field before it ends at %zu", f.of, f.name, f.offset, end);
        end = f.offset + f.size;
    }
    assert_true(whole - end < sizeof(double));
    assert_true(structs >= 15);
    assert_null(npmd_field_describe(-1).of);
    assert_null(npmd_field_describe(npmd_field_count()).of);
}

static void fields_are_where_they_are(void **state)
{
    (void)state;
    static const npmd_field_text KNOWN[] = {
        { "npmd_error", "text", "chars", offsetof(npmd_error, text), 512 },
        { "npmd_report", "step", "int", offsetof(npmd_report, step), 8 },
        { "npmd_report", "part", "text", offsetof(npmd_report, part), sizeof(char *) },
        { "npmd_fit_facts", "seed", "unsigned", offsetof(npmd_fit_facts, seed), 8 },
        { "npmd_comparison", "kl", "double", offsetof(npmd_comparison, kl), 8 },
        { "npmd_choice", "row", "other", offsetof(npmd_choice, row), sizeof(void *) },
        { "npmd_probability", "", "struct", 0, sizeof(npmd_probability) },
    };
    for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++) {
        bool found = false;
        for (int i = 0; i < npmd_field_count(); i++) {
            const npmd_field_text f = npmd_field_describe(i);
            found = found
                    || (strcmp(f.of, KNOWN[k].of) == 0 && strcmp(f.name, KNOWN[k].name) == 0
                        && strcmp(f.type, KNOWN[k].type) == 0 && f.offset == KNOWN[k].offset
                        && f.size == KNOWN[k].size);
        }
        if (!found)
            fail_msg("%s.%s was not found", KNOWN[k].of, KNOWN[k].name);
    }
}

static void options_name_their_readers(void **state)
{
    (void)state;
    for (int i = 0; i < npmd_option_count(); i++) {
        const npmd_option_text o = npmd_option_describe(i);
        const unsigned all = (2u << FIT_UNIFORM) - 1u;
        if (strcmp(o.name, "seed") == 0)
            assert_int_equal(o.estimators, all);
        if (strcmp(o.name, "kappa") == 0)
            assert_int_equal(o.estimators, 1u << FIT_KDE | 1u << FIT_STACK);
        if (strcmp(o.name, "patience") == 0)
            assert_int_equal(o.estimators, 1u << FIT_RELU | 1u << FIT_FIELD | 1u << FIT_STACK);
        assert_true(o.estimators != 0 && o.estimators <= all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_points),         cmocka_unit_test(points_are_arrays),
        cmocka_unit_test(bad_arrays_are_refused),    cmocka_unit_test(points_of_a_surface),
        cmocka_unit_test(models_are_bytes),          cmocka_unit_test(structs_have_no_gaps),
        cmocka_unit_test(fields_are_where_they_are), cmocka_unit_test(options_name_their_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
