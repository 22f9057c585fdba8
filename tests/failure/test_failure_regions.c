/* test_failure_regions.c - integrals over regions while memory runs out or a disk is full (sweep.h). */
#include "spheres.h"
#include "sweep.h"

static npmd_model *model; /* uniform on S2 x S2: what fails is not its own evaluation */
static npmd_region_request at = NPMD_SIZED(npmd_region_request);

static void open_model(void)
{
    static const double ROWS[2][6] = { { 0, 0, 1, 1, 0, 0 }, { 0, 0, 1, 0, 1, 0 } };
    npmd_error err = { 0 };
    npmd_domain *dom = NULL;
    npmd_points *pts = NULL;
    npmd_options opt;
    options_init(&opt);
    opt.set.estimator = FIT_UNIFORM;
    must(npmd_domain_parse("S2 x S2", &dom, &err), &err);
    must(points_from(ROWS[0], 2, dom, &pts, &err), &err);
    must(npmd_fit(dom, pts, &opt, &model, &err), &err);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static int regions_open(void **state)
{
    npmd_error err = { 0 };
    npmd_surface *sphere = NULL;
    npmd_labels *parts = NULL;
    if (stage_open(state) != 0)
        return -1;
    stage *s = *state;
    icosphere ico = icosphere_make(0, 1.0);
    char *off = icosphere_off(&ico);
    must(npmd_surface_read(put_text(&s->at, "ico.off", off), &sphere, &err), &err);
    must(npmd_labels_read(put_text(&s->at, "ico.csv", "0\n0\n0\n1\n1\n1\n1\n-1\n-1\n1\n0\n0\n"), sphere, &parts, &err),
         &err);
    at.surface[0] = at.surface[1] = sphere;
    at.labels[0] = at.labels[1] = parts;
    open_model();
    free(off);
    icosphere_free(&ico);
    return 0;
}

static int regions_close(void **state)
{
    npmd_surface *sphere = (npmd_surface *)(uintptr_t)at.surface[0];
    npmd_labels *parts = (npmd_labels *)(uintptr_t)at.labels[0];
    npmd_surface_free(sphere);
    npmd_labels_free(parts);
    npmd_model_free(model);
    return stage_close(state);
}

static npmd_status run_log_area(stage *s, outcome *o, npmd_error *err)
{
    static const double X[2][3] = { { 0, 0, 1 }, { 0.6, 0.8, 0 } };
    (void)s;
    return npmd_surface_log_area(at.surface[0], at.surface[1], X[0], 2, o->value, err);
}

static npmd_status run_map(stage *s, outcome *o, npmd_error *err)
{
    const int region = 0;
    npmd_region_facts facts = NPMD_SIZED(npmd_region_facts);
    (void)s;
    return npmd_region_map(model, &at, 1, &region, 1, NPMD_REGION_DENSITY, o->value, &facts, err);
}

static npmd_status run_matrix(stage *s, outcome *o, npmd_error *err)
{
    npmd_region_facts facts = NPMD_SIZED(npmd_region_facts);
    (void)s;
    return npmd_region_matrix(model, &at, NPMD_REGION_PROBABILITY, o->value, &facts, err);
}

static npmd_status run_matrix_write(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_region_matrix_write(&at, s->large, in_folder(&s->at, "out.csv"), err);
}

static npmd_status run_dense(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_region_dense(model, &at, NPMD_REGION_DENSITY, in_folder(&s->at, "out.npy"), err);
}

static void regions_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "areas on a sphere", .run = run_log_area },
        { .name = "map of a region", .run = run_map },
        { .name = "matrix of regions", .run = run_matrix },
        { .name = "matrix to a file", .run = run_matrix_write, .file = "out.csv" },
        { .name = "all pairs of vertices", .run = run_dense, .file = "out.npy" },
    };
    SWEEP_MEMORY(*state, OPS);
}

static void regions_to_a_bad_disk(void **state)
{
    static const operation OPS[] = {
        { .name = "matrix to a file", .run = run_matrix_write, .file = "out.csv" },
        { .name = "all pairs of vertices", .run = run_dense, .file = "out.npy" },
    };
    static const allowance CALLS[] = {
        { FAULT_OPEN, EMFILE, 1, 1 }, { FAULT_WRITE, ENOSPC, 1, 0 },  { FAULT_SYNC, EIO, 1, 1 },
        { FAULT_CLOSE, EIO, 1, 3 },   { FAULT_RENAME, EACCES, 1, 0 },
    };
    SWEEP_FILES(*state, OPS, CALLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_without_memory),
        cmocka_unit_test(regions_to_a_bad_disk),
    };
    return cmocka_run_group_tests(tests, regions_open, regions_close);
}
