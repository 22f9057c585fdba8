/* test_failure_inputs.c - domains, points, JSON and options while memory runs out or a disk cannot be read:
 * they say so and leave everything as it was (sweep.h). */
#include "sweep.h"

static npmd_status run_domain(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_domain_parse("S2 x S1^3", &o->domain, err);
}

static npmd_status run_surface(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_domain_parse("S1 x " SURFACE_DOMAIN "^2", &o->domain, err);
}

static npmd_status run_surface_points(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_read(in_folder(&s->at, "surface.npy"), npmd_model_domain(s->surface), 0, &o->points, err);
}

static npmd_status run_points(stage *s, outcome *o, npmd_error *err)
{
    return points_from(s->x[MIXED], POINTS, s->domain[MIXED], &o->points, err);
}

static npmd_status run_points_rows(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_from(s->x[MIXED], POINTS, 4, s->domain[MIXED], 0, &o->points, err);
}

static npmd_status run_points_borrow(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_borrow(s->x[MIXED], 0, POINTS, 4, s->domain[MIXED], 0, &o->points, err);
}

static npmd_status run_surface_borrow(stage *s, outcome *o, npmd_error *err)
{
    npmd_domain *wide = NULL; /* any point of space will do */
    npmd_status st = npmd_domain_within(npmd_model_domain(s->surface), INFINITY, &wide, err);
    if (st == NPMD_OK)
        st = npmd_points_borrow(s->x[MIXED], 0, 50, 3, wide, 0, &o->points, err);
    npmd_domain_free(wide);
    return st;
}

static npmd_status run_points_csv(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_read(in_folder(&s->at, "mixed.csv"), s->domain[MIXED], NPMD_COORDS_LATLON | NPMD_COORDS_DEGREES,
                            &o->points, err);
}

static npmd_status run_points_npy(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_read(in_folder(&s->at, "torus.npy"), s->domain[TORUS], 0, &o->points, err);
}

static npmd_status run_points_narrow(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_read(in_folder(&s->at, "narrow.npy"), s->domain[TORUS], 0, &o->points, err);
}

static void prepare_points(stage *s, outcome *o)
{
    npmd_error err = { 0 };
    must(run_points(s, o, &err), &err);
    must(npmd_points_weigh(o->points, in_folder(&s->at, "weights.csv"), &err), &err);
}

static npmd_status run_weigh(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_weigh(o->points, in_folder(&s->at, "others.npy"), err);
}

static npmd_status run_weigh_by(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    double weight[POINTS];
    for (int i = 0; i < POINTS; i++)
        weight[i] = 1.0 + i;
    return npmd_points_weigh_by(o->points, weight, POINTS, err);
}

static npmd_status run_options_read(stage *s, outcome *o, npmd_error *err)
{
    return npmd_options_read(&o->options, in_folder(&s->at, "options.json"), err);
}

/* The only one without a status: NULL is all it says. */
static npmd_status run_options_new(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    o->made = npmd_options_new();
    return o->made != NULL ? NPMD_OK : npmd_fail(err, NPMD_ERR_MEMORY, "no options");
}

/* A tree that is read, grows beyond its first index, loses a member and is printed. */
static npmd_status run_json(stage *s, outcome *o, npmd_error *err)
{
    static const char TEXT[] = "{\"a\": [1, 2.5, [], {\"b\": null}], \"c\": \"\\u00e9\", \"d\": {}}";
    npmd_status st = NPMD_OK;
    json_t *value = NULL;
    char key[16];
    (void)s;
    TRY(json_from_text(TEXT, sizeof TEXT - 1, "a text", &value, err));
    for (unsigned i = 0; i < 20; i++) {
        snprintf(key, sizeof key, "key %u", i);
        TRY(json_put(value, key, i % 2 ? json_unsigned(UINT64_MAX - i) : json_any_text("caf\xE9"), err));
    }
    json_object_del(value, "a");
    TRY(json_to_text(value, JSON_INDENT(2), &o->text, err));
done:
    json_decref(value);
    return st;
}

static npmd_status run_build(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_build_describe(&o->text, err);
}

static npmd_status run_option_usual(stage *s, outcome *o, npmd_error *err)
{
    char text[32] = "";
    const npmd_status st = npmd_option_usual("steps", NULL, s->domain[TORUS], POINTS, text, sizeof text, err);
    if (st == NPMD_OK)
        o->value[0] = strtod(text, NULL);
    return st;
}

static npmd_status run_rule(stage *s, outcome *o, npmd_error *err)
{
    assert_int_equal(npmd_domain_rule_nodes(s->domain[TORUS], 10), 100);
    return npmd_domain_rule(s->domain[TORUS], 10, o->value, o->value + 200, err);
}

static void inputs_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "domain", .run = run_domain },
        { .name = "domain with a surface", .run = run_surface },
        { .name = "points of a surface", .run = run_surface_points },
        { .name = "points from memory", .run = run_points },
        { .name = "points from rows", .run = run_points_rows },
        { .name = "points of borrowed rows", .run = run_points_borrow },
        { .name = "points of borrowed rows, on a surface", .run = run_surface_borrow },
        { .name = "points from .csv, other coordinates", .run = run_points_csv },
        { .name = "points from .npy", .run = run_points_npy },
        { .name = "points from .npy, float32", .run = run_points_narrow },
        { .name = "weights in the place of others", .run = run_weigh, .prepare = prepare_points },
        { .name = "weights from memory", .run = run_weigh_by, .prepare = prepare_points },
        { .name = "JSON", .run = run_json },
        { .name = "options from a file", .run = run_options_read },
        { .name = "options for bindings", .run = run_options_new },
        { .name = "what an option usually is", .run = run_option_usual },
        { .name = "a quadrature rule", .run = run_rule },
        { .name = "description of the build", .run = run_build },
    };
    SWEEP_MEMORY(*state, OPS);
}

static void inputs_from_a_bad_disk(void **state)
{
    static const operation OPS[] = {
        { .name = "points from .csv", .run = run_points_csv },
        { .name = "points from .npy", .run = run_points_npy },
        { .name = "weights", .run = run_weigh, .prepare = prepare_points },
        { .name = "options", .run = run_options_read },
    };
    SWEEP_FILES(*state, OPS, READING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_without_memory),
        cmocka_unit_test(inputs_from_a_bad_disk),
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
