/* test_failure_surfaces.c - surfaces and labels, read and written while memory runs out, or a disk is full or cannot be
 * read: they say so and leave everything as it was (sweep.h). */
#include "meshes.h"
#include "surface.h"
#include "neuropmd-draw.h"
#include "sweep.h"

static npmd_status surface_read(stage *s, const char *name, outcome *o, npmd_error *err)
{
    npmd_surface *surface = NULL;
    const npmd_status st = npmd_surface_read(in_folder(&s->at, name), &surface, err);
    if (st != NPMD_OK)
        return st;
    for (size_t i = 0; i < npmd_surface_vertices(surface); i++)
        npmd_surface_vertex(surface, i, o->value + 3 * i);
    o->entropy = npmd_surface_area(surface);
    npmd_surface_free(surface);
    return NPMD_OK;
}

#define SURFACE(kind, name)                                                                                            \
    static npmd_status run_##kind(stage *s, outcome *o, npmd_error *err)                                               \
    {                                                                                                                  \
        return surface_read(s, name, o, err);                                                                          \
    }
SURFACE(obj, "plain.obj")
SURFACE(off, "plain.off")
SURFACE(ply, "big.ply")
SURFACE(vtk, "binary5.vtk")
SURFACE(freesurfer, "lh.white")
SURFACE(gifti_text, "text.gii")
SURFACE(gifti, "zip_columns.gii")
SURFACE(gzip, "packed.gii.gz")

static npmd_status run_describe(stage *s, outcome *o, npmd_error *err)
{
    return npmd_surface_describe(in_folder(&s->at, "little.ply"), &o->text, err);
}

static npmd_status labels_take(stage *s, const char *name, outcome *o, npmd_error *err)
{
    labels l = { 0 };
    const npmd_status st = labels_read(in_folder(&s->at, name), 3, &l, err);
    if (st != NPMD_OK)
        return st;
    for (size_t i = 0; i < 3; i++)
        o->value[i] = l.region[i];
    for (int i = 0; i < l.regions; i++)
        o->value[3 + i] = (double)strlen(l.name[i]);
    labels_free(&l);
    return NPMD_OK;
}

#define LABELS(kind, name)                                                                                             \
    static npmd_status run_labels_##kind(stage *s, outcome *o, npmd_error *err)                                        \
    {                                                                                                                  \
        return labels_take(s, name, o, err);                                                                           \
    }
LABELS(annot, "a.annot")
LABELS(label, "a.label")
LABELS(csv, "a.csv")
LABELS(gifti, "a.label.gii")
LABELS(npy, "labels.npy")
LABELS(npy_reals, "reals.npy")

static npmd_status surface_write(const char *name, stage *s, npmd_error *err)
{
    const mesh m = { .vertices = OCTAHEDRON.vertices,
                     .faces = OCTAHEDRON.faces,
                     .x = (double *)(uintptr_t)OCTAHEDRON.x, /* not written to */
                     .face = (int32_t *)(uintptr_t)OCTAHEDRON.face };
    const vertex_values values[] = { { "one", OCTAHEDRON.x }, { "another one", OCTAHEDRON.x + 6 } };
    return mesh_write(in_folder(&s->at, name), &m, values, 2, err);
}

static npmd_status run_write_gifti(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return surface_write("out.gii", s, err);
}

static npmd_status run_write_packed(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return surface_write("out.gii.gz", s, err);
}

static npmd_status run_write_vtk(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return surface_write("out.vtk", s, err);
}

static npmd_status values_take(stage *s, const char *name, outcome *o, npmd_error *err)
{
    vertex_columns c = { 0 };
    const npmd_status st = vertex_columns_read(in_folder(&s->at, name), OCTAHEDRON.vertices, &c, err);
    if (st != NPMD_OK)
        return st;
    for (int k = 0; k < c.columns; k++)
        memcpy(o->value + (size_t)k * c.vertices, c.value[k], c.vertices * sizeof *o->value);
    vertex_columns_free(&c);
    return NPMD_OK;
}

static npmd_status run_values_gifti(stage *s, outcome *o, npmd_error *err)
{
    return values_take(s, "packed.gii.gz", o, err);
}

static npmd_status run_values_vtk(stage *s, outcome *o, npmd_error *err)
{
    return values_take(s, "values.vtk", o, err);
}

static npmd_status run_plot(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    char file[4][1024];
    static const char *const NAMES[4] = { "plain.off", "values.vtk", "six.csv", "out.png" };
    for (int k = 0; k < 4; k++)
        snprintf(file[k], sizeof file[k], "%s", in_folder(&s->at, NAMES[k]));
    const npmd_plot_surfaces surfaces = { .size = sizeof surfaces,
                                          .surface = file[0],
                                          .values = file[1],
                                          .labels = file[2],
                                          .region = "west",
                                          .views = "+x" };
    const npmd_compute how = { .size = sizeof how, .threads = 1 };
    const npmd_plot_request ask = { .size = sizeof ask, .surfaces = &surfaces, .dpi = 30.0, .how = &how };
    return npmd_plot(&ask, file[3], NULL, err);
}

static npmd_status run_plot_matrix(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    char file[2][1024];
    snprintf(file[0], sizeof file[0], "%s", in_folder(&s->at, "matrix.csv"));
    snprintf(file[1], sizeof file[1], "%s", in_folder(&s->at, "out.svg"));
    const npmd_plot_surfaces surfaces = { .size = sizeof surfaces, .values = file[0] };
    const npmd_plot_request ask = { .size = sizeof ask, .surfaces = &surfaces, .kind = "matrix", .dpi = 30.0 };
    return npmd_plot(&ask, file[1], NULL, err);
}

static void annot_put(stage *s)
{
    buffer b = { 0 };
    static const int NUMBERS[] = { 3, 0, 66051, 1, 0, 2, 66051, 1, -2, 9, 2 }; /* up to the file name */
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        buffer_number(&b, NUMBERS[i], 'i', true);
    buffer_put(&b, "t", 2);
    static const int MORE[] = { 1, 0, 2 }; /* entries, a structure, the length of its name */
    for (size_t i = 0; i < sizeof MORE / sizeof *MORE; i++)
        buffer_number(&b, MORE[i], 'i', true);
    buffer_put(&b, "r", 2);
    for (int colour = 3; colour >= 0; colour--)
        buffer_number(&b, colour, 'i', true);
    put_bytes(&s->at, "a.annot", b.data, b.size);
    free(b.data);
}

/* What they read lies in the stage's folder. */
static int surfaces_open(void **state)
{
    if (stage_open(state) != 0)
        return -1;
    stage *s = *state;
    outcome none = { 0 };
    npmd_error err = { 0 };
    static const double REGIONS[3] = { 4, -1, 2 };
    for (size_t k = 0; k < FILE_KIND_COUNT; k++) {
        buffer b = { 0 };
        FILE_KINDS[k].make(&OCTAHEDRON, FILE_KINDS[k].variant, &b);
        put_bytes(&s->at, FILE_KINDS[k].name, b.data, b.size);
        free(b.data);
    }
    must(run_write_packed(s, &none, &err), &err);
    if (rename(in_folder(&s->at, "out.gii.gz"), in_folder(&s->at, "packed.gii.gz")) != 0)
        return -1;
    must(run_write_vtk(s, &none, &err), &err);
    if (rename(in_folder(&s->at, "out.vtk"), in_folder(&s->at, "values.vtk")) != 0)
        return -1;
    put_text(&s->at, "six.csv", "west\nwest\neast\neast\nnorth\nsouth\n");
    put_text(&s->at, "matrix.csv", "region,a,b\na,1,2\nb,3,4\n");
    annot_put(s);
    put_text(&s->at, "a.label", "#!ascii label\n2\n0 1 2 3 0\n2 1 2 3 0\n");
    put_text(&s->at, "a.csv", "vertex,label\n2,west\n0,east\n1,\n");
    put_text(&s->at, "a.label.gii",
             "<GIFTI><LabelTable><Label Key=\"0\">none</Label><Label Key=\"7\">east</Label></LabelTable>"
             "<DataArray Intent=\"NIFTI_INTENT_LABEL\" DataType=\"NIFTI_TYPE_INT32\" Dimensionality=\"1\" Dim0=\"3\" "
             "ArrayIndexingOrder=\"RowMajorOrder\" Encoding=\"ASCII\"><Data>7 0 7</Data></DataArray></GIFTI>");
    must(npmd_array_write(in_folder(&s->at, "reals.npy"), REGIONS, 3, 1, &err), &err);
    buffer b = { 0 };
    buffer_put(&b, "\x93NUMPY\x01\x00\x3a\x00{'descr': '<i4', 'fortran_order': False, 'shape': (3,), } ", 10 + 58);
    for (int i = 0; i < 3; i++)
        buffer_number(&b, REGIONS[i], 'i', false);
    put_bytes(&s->at, "labels.npy", b.data, b.size);
    free(b.data);
    return 0;
}

static const operation READS[] = {
    { .name = "surface from .obj", .run = run_obj },
    { .name = "surface from .off", .run = run_off },
    { .name = "surface from .ply", .run = run_ply },
    { .name = "surface from .vtk", .run = run_vtk },
    { .name = "surface of FreeSurfer", .run = run_freesurfer },
    { .name = "surface from .gii, in text", .run = run_gifti_text },
    { .name = "surface from .gii, compressed", .run = run_gifti },
    { .name = "surface from .gii.gz", .run = run_gzip },
    { .name = "surface described", .run = run_describe },
    { .name = "labels from .annot", .run = run_labels_annot },
    { .name = "labels from .label", .run = run_labels_label },
    { .name = "labels from .csv", .run = run_labels_csv },
    { .name = "labels from .gii", .run = run_labels_gifti },
    { .name = "labels from .npy", .run = run_labels_npy },
    { .name = "values from .gii.gz", .run = run_values_gifti },
    { .name = "values from .vtk", .run = run_values_vtk },
};
static const operation WRITES[] = {
    { .name = "surface to .gii", .run = run_write_gifti, .file = "out.gii" },
    { .name = "surface to .gii.gz", .run = run_write_packed, .file = "out.gii.gz" },
    { .name = "surface to .vtk", .run = run_write_vtk, .file = "out.vtk" },
};
static const operation PLOTS[] = {
    { .name = "plot of values", .run = run_plot, .file = "out.png" },
    { .name = "plot of a matrix", .run = run_plot_matrix, .file = "out.svg" },
};

static void surfaces_without_memory(void **state)
{
    static const operation REALS[] = { { .name = "labels from .npy of reals", .run = run_labels_npy_reals } };
    SWEEP_MEMORY(*state, READS);
    SWEEP_MEMORY(*state, REALS);
    SWEEP_MEMORY(*state, WRITES);
    SWEEP_MEMORY(*state, PLOTS);
}

static void surfaces_from_a_bad_disk(void **state)
{
    SWEEP_FILES(*state, READS, READING);
}

static void surfaces_to_a_full_disk(void **state)
{
    static const allowance WRITING[] = {
        { FAULT_WRITE, ENOSPC, 1, 0 }, { FAULT_SYNC, EIO, 1, 1 },    { FAULT_CLOSE, EIO, 1, 3 },
        { FAULT_RENAME, EIO, 1, 0 },   { FAULT_CHMOD, EPERM, 1, 0 }, { FAULT_OPEN, EACCES, 2, 1 },
    };
    SWEEP_FILES(*state, WRITES, WRITING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_without_memory),
        cmocka_unit_test(surfaces_from_a_bad_disk),
        cmocka_unit_test(surfaces_to_a_full_disk),
    };
    return cmocka_run_group_tests(tests, surfaces_open, stage_close);
}
