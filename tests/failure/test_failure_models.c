/* test_failure_models.c - fitted models and known densities, asked, written and read while memory runs out, or a disk
 * is full or cannot be read: they say so and leave everything as it was (sweep.h). */
#include "neuropmd-draw.h"
#include "sweep.h"
#include "view.h"

static npmd_status run_save(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_save(s->model[MIXED], in_folder(&s->at, "out.safetensors"), err);
}

static npmd_status run_describe(stage *s, outcome *o, npmd_error *err)
{
    return npmd_model_describe(s->model[MIXED], &o->text, err);
}

static npmd_status run_load(stage *s, outcome *o, npmd_error *err)
{
    return npmd_load(in_folder(&s->at, "mixed.safetensors"), &o->model, err);
}

static npmd_status run_bytes(stage *s, outcome *o, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *bytes = NULL;
    size_t size = 0;
    if ((st = npmd_model_pack(s->model[MIXED], &bytes, &size, err)) == NPMD_OK)
        st = npmd_model_unpack(bytes, size, &o->model, err);
    npmd_text_free(bytes);
    return st;
}

#define MODEL(name)                                                                                                    \
    static npmd_status run_save_##name(stage *s, outcome *o, npmd_error *err)                                          \
    {                                                                                                                  \
        (void)o;                                                                                                       \
        return npmd_save(s->name, in_folder(&s->at, "out.safetensors"), err);                                          \
    }                                                                                                                  \
    static npmd_status run_load_##name(stage *s, outcome *o, npmd_error *err)                                          \
    {                                                                                                                  \
        return npmd_load(in_folder(&s->at, #name ".safetensors"), &o->model, err);                                     \
    }                                                                                                                  \
    static npmd_status run_describe_##name(stage *s, outcome *o, npmd_error *err)                                      \
    {                                                                                                                  \
        return npmd_model_describe(s->name, &o->text, err);                                                            \
    }                                                                                                                  \
    static npmd_status run_laplacian_##name(stage *s, outcome *o, npmd_error *err)                                     \
    {                                                                                                                  \
        return npmd_evaluate_at(s->name, s->points[MIXED], NPMD_LAPLACIAN, NULL, o->value, err);                       \
    }
MODEL(squared)
MODEL(relu)
MODEL(series)
MODEL(kernels)

static npmd_status run_save_surface(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_save(s->surface, in_folder(&s->at, "out.safetensors"), err);
}

static npmd_status run_load_surface(stage *s, outcome *o, npmd_error *err)
{
    return npmd_load(in_folder(&s->at, "surface.safetensors"), &o->model, err);
}

static npmd_status run_describe_surface(stage *s, outcome *o, npmd_error *err)
{
    return npmd_model_describe(s->surface, &o->text, err);
}

static npmd_status run_sample_surface(stage *s, outcome *o, npmd_error *err)
{
    return npmd_sample(s->surface, 5, 100, NULL, o->value, &o->facts, err);
}

static npmd_status run_kernels_density(stage *s, outcome *o, npmd_error *err)
{
    return npmd_log_density(s->kernels, s->x[MIXED], 100, o->value, err);
}

/* The model of the torus, as one of pairs without an order. */
static npmd_status run_unordered(stage *s, outcome *o, npmd_error *err)
{
    s->model[TORUS]->set.unordered = 1;
    const npmd_status st = npmd_evaluate_at(s->model[TORUS], s->points[TORUS], NPMD_LAPLACIAN, NULL, o->value, err);
    s->model[TORUS]->set.unordered = 0;
    return st;
}

static npmd_status run_sample_kernels(stage *s, outcome *o, npmd_error *err)
{
    return npmd_sample(s->kernels, 5, 100, NULL, o->value, &o->facts, err);
}

static npmd_status run_log_density(stage *s, outcome *o, npmd_error *err)
{
    return npmd_log_density(s->model[MIXED], s->x[MIXED], 100, o->value, err);
}

static npmd_status run_gradient(stage *s, outcome *o, npmd_error *err)
{
    return npmd_evaluate_at(s->model[TORUS], s->points[TORUS], NPMD_GRADIENT, NULL, o->value, err);
}

static npmd_status run_intensity(stage *s, outcome *o, npmd_error *err)
{
    return npmd_evaluate_at(s->model[MIXED], s->points[MIXED], NPMD_INTENSITY,
                            &(npmd_compute){ .size = sizeof(npmd_compute), .device = "reference" }, o->value, err);
}

static npmd_status run_score(stage *s, outcome *o, npmd_error *err)
{
    return npmd_score_points(s->model[TORUS], s->points[TORUS], 3, NULL, &o->score, err);
}

static npmd_status run_score_kernels(stage *s, outcome *o, npmd_error *err)
{
    return npmd_score_points(s->kernels, s->points[MIXED], 3, NULL, &o->score, err);
}

static npmd_status run_sample(stage *s, outcome *o, npmd_error *err)
{
    return npmd_sample(s->model[TORUS], 5, 100, NULL, o->value, &o->facts, err);
}

static npmd_status run_sample_given(stage *s, outcome *o, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *circle = NULL;
    npmd_points *at = NULL;
    if ((st = npmd_domain_part(s->domain[TORUS], 1u, &circle, err)) == NPMD_OK
        && (st = points_from((const double[]){ 1.0 }, 1, circle, &at, err)) == NPMD_OK)
        st = npmd_sample_given(s->model[TORUS], 1u, at, 5, 100, NULL, o->value, &o->facts, err);
    npmd_points_free(at);
    npmd_domain_free(circle);
    return st;
}

static npmd_status run_conditional(stage *s, outcome *o, npmd_error *err)
{
    npmd_points *one = NULL;
    npmd_status st = points_from(s->x[MIXED], 1, s->domain[MIXED], &one, err);
    if (st == NPMD_OK)
        st = npmd_conditional_at(s->model[MIXED], 2u, one, NPMD_DENSITY, 0.5, 1, NULL, o->value, NULL, err);
    npmd_points_free(one);
    return st;
}

static npmd_status run_evaluate_to(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_evaluate_to(s->model[MIXED], s->points[MIXED], NPMD_GRADIENT, NULL, in_folder(&s->at, "out.npy"), err);
}

static npmd_status run_plot(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    const npmd_model *const models[1] = { s->model[TORUS] };
    const npmd_plot_request ask = {
        .size = sizeof ask, .model = models, .models = 1, .dpi = 30.0, .grid = 24, .title = "all"
    };
    return npmd_plot(&ask, in_folder(&s->at, "out.png"), NULL, err);
}

static npmd_status run_plot_svg(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    const npmd_model *const models[1] = { s->model[MIXED] };
    const npmd_plot_request ask = {
        .size = sizeof ask, .model = models, .models = 1, .dpi = 30.0, .grid = 10, .data = s->points[MIXED]
    };
    return npmd_plot(&ask, in_folder(&s->at, "out.svg"), NULL, err);
}

static npmd_status run_view(stage *s, outcome *o, npmd_error *err)
{
    const npmd_view_request what = {
        .size = sizeof what, .nodes = 8, .accuracy = 0.5, .data = s->points[MIXED], .title = "<&>"
    };
    (void)o;
    return npmd_view(s->series, &what, in_folder(&s->at, "out.html"), NULL, err);
}

static npmd_status run_view_surface(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    const npmd_view_request what = { .size = sizeof what, .nodes = 8 };
    return npmd_view(s->surface, &what, in_folder(&s->at, "out.html"), NULL, err);
}

static npmd_status run_compare(stage *s, outcome *o, npmd_error *err)
{
    return npmd_compare(s->model[TORUS], s->normals, NPMD_GRID_AUTHORS, 0, 1, NULL, &o->comparison, err);
}

static npmd_status run_compare_grid(stage *s, outcome *o, npmd_error *err)
{
    return npmd_compare(s->model[TORUS], s->grid, NPMD_GRID_FINE, 0, 1, NULL, &o->comparison, err);
}

static npmd_status run_compare_points(stage *s, outcome *o, npmd_error *err)
{
    return npmd_compare(s->model[MIXED], s->fisher, NPMD_GRID_FINE, 2048, 1,
                        &(npmd_compute){ .size = sizeof(npmd_compute), .device = "reference" }, &o->comparison, err);
}

static npmd_status run_points_write(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_points_write(in_folder(&s->at, "out.csv"), s->domain[TORUS], NPMD_COORDS_DEGREES, s->large, LARGE / 2,
                             err);
}

static npmd_status run_array_write(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_array_write(in_folder(&s->at, "out.npy"), s->large, LARGE / 2, 2, err);
}

static npmd_status run_text_write(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_text_write(in_folder(&s->at, "out.txt"), "a line\n", err);
}

static npmd_status run_check(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_array_check(in_folder(&s->at, "out.tsv"), err);
}

static npmd_status run_claim(stage *s, outcome *o, npmd_error *err)
{
    npmd_claim *claim = NULL;
    (void)o;
    const npmd_status st = npmd_output_claim(in_folder(&s->at, "out.tsv"), &claim, err);
    npmd_claim_free(claim);
    return st;
}

static void models_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "save", .run = run_save, .file = "out.safetensors" },
        { .name = "describe", .run = run_describe },
        { .name = "load", .run = run_load },
        { .name = "to bytes and back", .run = run_bytes },
        { .name = "save a squared family", .run = run_save_squared, .file = "out.safetensors" },
        { .name = "load a squared family", .run = run_load_squared },
        { .name = "describe a squared family", .run = run_describe_squared },
        { .name = "Laplacian of a squared family", .run = run_laplacian_squared },
        { .name = "save a ReLU network", .run = run_save_relu, .file = "out.safetensors" },
        { .name = "load a ReLU network", .run = run_load_relu },
        { .name = "describe a ReLU network", .run = run_describe_relu },
        { .name = "Laplacian of a ReLU network", .run = run_laplacian_relu },
        { .name = "save a surface", .run = run_save_surface, .file = "out.safetensors" },
        { .name = "load a surface", .run = run_load_surface },
        { .name = "describe a surface", .run = run_describe_surface },
        { .name = "sample a surface", .run = run_sample_surface, .branch = true },
        { .name = "save a series", .run = run_save_series, .file = "out.safetensors" },
        { .name = "load a series", .run = run_load_series },
        { .name = "describe a series", .run = run_describe_series },
        { .name = "Laplacian of a series", .run = run_laplacian_series },
        { .name = "Laplacian of kernels", .run = run_laplacian_kernels },
        { .name = "save kernels", .run = run_save_kernels, .file = "out.safetensors" },
        { .name = "describe kernels", .run = run_describe_kernels },
        { .name = "load kernels", .run = run_load_kernels },
        { .name = "log density of kernels", .run = run_kernels_density },
        { .name = "Laplacian of unordered pairs", .run = run_unordered },
        { .name = "draws from kernels", .run = run_sample_kernels },
        { .name = "log density", .run = run_log_density },
        { .name = "gradient", .run = run_gradient },
        { .name = "intensity, reference", .run = run_intensity },
        { .name = "score", .run = run_score, .branch = true },
        { .name = "score of kernels", .run = run_score_kernels, .branch = true },
        { .name = "sample", .run = run_sample, .branch = true },
        { .name = "sample, given a factor", .run = run_sample_given, .branch = true },
        { .name = "conditional density", .run = run_conditional, .branch = true },
        { .name = "gradient to a file", .run = run_evaluate_to, .file = "out.npy" },
        { .name = "plot", .run = run_plot, .file = "out.png" },
        { .name = "plot of factors, .svg", .run = run_plot_svg, .file = "out.svg" },
        { .name = "comparison with a mixture", .run = run_compare, .branch = true },
        { .name = "comparison with a grid", .run = run_compare_grid, .branch = true },
        { .name = "comparison by points", .run = run_compare_points, .branch = true },
        { .name = "points to .csv", .run = run_points_write, .file = "out.csv" },
        { .name = "array to .npy", .run = run_array_write, .file = "out.npy" },
        { .name = "text to a file", .run = run_text_write, .file = "out.txt" },
        { .name = "check of an output", .run = run_check, .file = "out.tsv" },
        { .name = "claim of an output", .run = run_claim, .file = "out.tsv" },
    };
    SWEEP_MEMORY(*state, OPS);
}

static void pages_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "view", .run = run_view, .file = "out.html" },
        { .name = "view of a surface", .run = run_view_surface, .file = "out.html" },
    };
    if (VIEW_BUNDLE_SIZE == 0) {
        print_message("this build has no page\n");
        skip();
    }
    SWEEP_MEMORY(*state, OPS);
}

/* ---- Known densities --------------------------------------------------------------------------------------------- */

static npmd_status run_make(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_truth_make("t4", 3, &o->truth, err);
}

static npmd_status run_make_gauntlet(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_truth_make("gauntlet:few-t2", 3, &o->truth, err);
}

static npmd_status run_read_normals(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_read(in_folder(&s->at, "normals.json"), &o->truth, err);
}

static npmd_status run_read_fisher(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_read(in_folder(&s->at, "fisher.json"), &o->truth, err);
}

static npmd_status run_read_shapes(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_read(in_folder(&s->at, "shapes.json"), &o->truth, err);
}

static npmd_status run_write_shapes(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    npmd_truth *t = NULL;
    npmd_status st = npmd_truth_read(in_folder(&s->at, "shapes.json"), &t, err);
    if (st == NPMD_OK)
        st = npmd_truth_write(t, in_folder(&s->at, "out.json"), err);
    npmd_truth_free(t);
    return st;
}

static npmd_status run_read_grid(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_read(in_folder(&s->at, "grid.npy"), &o->truth, err);
}

static npmd_status run_truth_write(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_truth_write(s->normals, in_folder(&s->at, "out.json"), err);
}

static npmd_status run_truth_sample(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_sample(s->normals, 7, 100, NULL, o->value, err);
}

static npmd_status run_truth_density(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_log_density(s->normals, s->x[TORUS], 100, NULL, o->value, err);
}

static npmd_status run_entropy(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_entropy(s->fisher, 1, NULL, &o->entropy, &o->se, err);
}

static void truths_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "recipe", .run = run_make },
        { .name = "recipe of the gauntlet", .run = run_make_gauntlet },
        { .name = "normals from a file", .run = run_read_normals },
        { .name = "kernels from a file", .run = run_read_fisher },
        { .name = "shapes from a file", .run = run_read_shapes },
        { .name = "shapes to a file", .run = run_write_shapes, .file = "out.json" },
        { .name = "grid from a file", .run = run_read_grid },
        { .name = "truth to a file", .run = run_truth_write, .file = "out.json" },
        { .name = "draws from a truth", .run = run_truth_sample },
        { .name = "log density of a truth", .run = run_truth_density },
        { .name = "entropy of a truth", .run = run_entropy, .branch = true },
    };
    SWEEP_MEMORY(*state, OPS);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static const allowance WRITING[] = {
    { FAULT_OPEN, EMFILE, 1, 1 }, { FAULT_WRITE, ENOSPC, 1, 0 }, { FAULT_CHMOD, EPERM, 1, 0 },
    { FAULT_SYNC, EIO, 1, 1 },    { FAULT_CLOSE, EIO, 1, 3 },    { FAULT_RENAME, EACCES, 1, 0 },
};

static void writing_to_a_bad_disk(void **state)
{
    static const operation OPS[] = {
        { .name = "save", .run = run_save, .file = "out.safetensors" },
        { .name = "plot", .run = run_plot, .file = "out.png" },
        { .name = "points to .csv", .run = run_points_write, .file = "out.csv" },
        { .name = "array to .npy", .run = run_array_write, .file = "out.npy" },
        { .name = "truth to a file", .run = run_truth_write, .file = "out.json" },
    };
    SWEEP_FILES(*state, OPS, WRITING);
}

static void pages_on_a_bad_disk(void **state)
{
    static const operation OPS[] = { { .name = "view of a surface", .run = run_view_surface, .file = "out.html" } };
    if (VIEW_BUNDLE_SIZE == 0) {
        print_message("this build has no page\n");
        skip();
    }
    SWEEP_FILES(*state, OPS, WRITING);
}

static void models_and_truths_from_a_bad_disk(void **state)
{
    static const operation OPS[] = {
        { .name = "load", .run = run_load },
        { .name = "normals from a file", .run = run_read_normals },
        { .name = "grid from a file", .run = run_read_grid },
    };
    SWEEP_FILES(*state, OPS, READING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_without_memory), cmocka_unit_test(pages_without_memory),
        cmocka_unit_test(truths_without_memory), cmocka_unit_test(writing_to_a_bad_disk),
        cmocka_unit_test(pages_on_a_bad_disk),   cmocka_unit_test(models_and_truths_from_a_bad_disk),
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
