/* test_labels.c - regions of vertices from every format; labels of another mesh and damaged files are refused in words.
 * And surfaces and labels through the public header. */
#include "meshes.h"
#include "surface.h"

static void assert_regions(const char *path, size_t vertices, const char *const *names, int regions,
                           const int32_t *region)
{
    labels l = { 0 };
    npmd_error err = { 0 };
    must(labels_read(path, vertices, &l, &err), &err);
    assert_int_equal(l.vertices, vertices);
    assert_int_equal(l.regions, regions);
    for (int i = 0; i < regions; i++) {
        assert_string_equal(l.name[i], names[i]);
        assert_int_equal(labels_find(&l, names[i]), i);
    }
    assert_int_equal(labels_find(&l, "nowhere"), -1);
    assert_memory_equal(l.region, region, vertices * sizeof *region);
    labels_free(&l);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void tables(void **state)
{
    place *p = *state;
    static const char *const NUMBERS[] = { "label 0", "label 3", "label 12" }, *const NAMES[] = { "a, b", "cuneus" };
    static const int32_t NUMBER[] = { 1, -1, 2, 0, 1 }, NAME[] = { 1, 0, -1, 1, 1 };
    assert_regions(put_text(p, "a.csv", "3\n-1\n12\n0\n3\n"), 5, NUMBERS, 3, NUMBER);
    assert_regions(put_text(p, "a.csv", "label # of each\n\n3\n-1\n12\n0\n3"), 5, NUMBERS, 3, NUMBER);
    assert_regions(put_text(p, "a.tsv", "4\t3\n1\t-1\n0\t3\n2\t12\n3\t0\n"), 5, NUMBERS, 3, NUMBER);
    assert_regions(put_text(p, "a.csv", "vertex,label\r\n4,3\r\n1,\r\n0,3\r\n2,12\r\n3,0\r\n"), 5, NUMBERS, 3, NUMBER);
    assert_regions(put_text(p, "a.csv", "0,cuneus\n1,\"a, b\"\n2,\n3, cuneus \n4;\"cuneus\"\n"), 5, NAMES, 2, NAME);
    assert_regions(put_text(p, "a.txt", "cuneus\n\"a, b\"\n\"\"\ncuneus\ncuneus\n"), 5, NAMES, 2, NAME);
    labels l = { 0 };
    npmd_error err = { 0 };
    must(labels_read(put_text(p, "a.csv", "3\n1\n"), 2, &l, &err), &err);
    assert_int_equal(labels_find(&l, "3"), 1);
    labels_free(&l);
}

typedef struct bad_labels {
    const char *name, *text, *words;
} bad_labels;

static void bad_texts(void **state)
{
    place *p = *state;
    static const bad_labels CASES[] = {
        { "a.csv", "1\n2\n", "a.csv has labels of 2 vertices, but the surface has 4: are they of another mesh?" },
        { "a.csv", "", "a.csv has labels of 0 vertices" },
        { "a.csv", "1\n2\n3\n4\n5\n6\n", "a.csv has labels of 6 vertices" },
        { "a.csv", "0,1\n1,1\n2,1\n2,1\n", "a.csv line 4: each vertex of 0 to 3 was expected once" },
        { "a.csv", "0,1\n1,1\n2,1\n4,1\n", "a.csv line 4: each vertex of 0 to 3" },
        { "a.csv", "0,1\n1,1\nx,1\n3,1\n", "a.csv line 3: each vertex of 0 to 3" },
        { "a.csv", "0,1\n1\n2,1\n3,1\n", "a.csv line 2: 1 fields were found, 2 expected" },
        { "a.label", "", "it ends where #!ascii label was expected" },
        { "a.label", "3\n", "'3' was found where #!ascii label was expected" },
        { "a.label", "# x\n1\n4 0 0 0 0\n", "a.label line 3: vertex 4, but the surface has 4" },
        { "a.label", "# x\n1\n-1 0 0 0 0\n", "a.label line 3: -1 was found where a vertex" },
        { "a.label", "# x\n2\n1 0 0 0 0\n", "it ends where a vertex was expected" },
        { "a.label", "# x\n1\n1 0 0\n", "it ends where three coordinates and a number was expected" },
        { "a.label", "# x\n1\n1 0 0 0 0\n2 0 0 0 0\n", "line 4: '2' was found where the end of the file" },
        { "a.lab", "", "a.lab: unknown kind of labels, expected .annot, .label" },
        { "a.gii", "<GIFTI/>", "a.gii has 0 arrays of intent NIFTI_INTENT_LABEL, expected 1" },
        { "a.annot", "\1\2", "byte 1: it ends where the number of vertices" },
        { "a.npy", "\1\2", "a.npy is not an .npy file" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        labels l = { 0 };
        npmd_error err = { 0 };
        const npmd_status st = labels_read(put_text(p, CASES[k].name, CASES[k].text), 4, &l, &err);
        if (st != NPMD_ERR_FORMAT)
            fail_msg("case %zu, which should say '%s': status %d, '%s'", k, CASES[k].words, (int)st, err.text);
        assert_says(&err, CASES[k].words);
        assert_null(l.region);
    }
}

static void label_files(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "lh.cortex" };
    assert_regions(put_text(p, "lh.cortex.label",
                            "#!ascii label  , from subject bert vox2ras=TkReg\n2\n4  -1.5 2 3 0.0\n0  1 2 3 0.25\n"),
                   5, NAMES, 1, (const int32_t[]){ 0, -1, -1, -1, 0 });
}

/* ---- .annot ------------------------------------------------------------------------------------------------------ */

static void text_put(buffer *b, const char *text)
{
    buffer_number(b, (double)strlen(text) + 1, 'i', true);
    buffer_put(b, text, strlen(text) + 1);
}

/* Three vertices in the last region, the first and none. */
static void annot_make(int version, buffer *b)
{
    static const int ANNOTATION[] = { 3 + 256 * 2 + 65536 * 1, 25 + 256 * 5 + 65536 * 25, 0 };
    static const char *const NAME[] = { "unknown", "second", "third region" };
    static const int COLOUR[][4] = { { 25, 5, 25, 0 }, { 9, 9, 9, 0 }, { 3, 2, 1, 0 } };
    buffer_number(b, 3, 'i', true);
    for (int i = 0; i < 3; i++) { /* in another order */
        buffer_number(b, 2 - i, 'i', true);
        buffer_number(b, ANNOTATION[2 - i], 'i', true);
    }
    buffer_number(b, 1, 'i', true);
    if (version == 2) {
        buffer_number(b, -2, 'i', true);
        buffer_number(b, 40, 'i', true);
    } else {
        buffer_number(b, 3, 'i', true);
    }
    text_put(b, "colours.txt");
    if (version == 2)
        buffer_number(b, 3, 'i', true);
    for (int i = 0; i < 3; i++) {
        if (version == 2)
            buffer_number(b, 10 + i, 'i', true);
        text_put(b, NAME[i]);
        for (int k = 0; k < 4; k++)
            buffer_number(b, COLOUR[i][k], 'i', true);
    }
}

static void annotations(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "unknown", "second", "third region" };
    for (int version = 1; version <= 2; version++) {
        buffer b = { 0 };
        labels l = { 0 };
        npmd_error err = { 0 };
        annot_make(version, &b);
        assert_regions(put_bytes(p, "lh.aparc.annot", b.data, b.size), 3, NAMES, 3, (const int32_t[]){ 2, 0, -1 });
        assert_int_equal(labels_read(in_folder(p, "lh.aparc.annot"), 4, &l, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "has labels of 3 vertices, but the surface has 4");
        for (size_t size = 0; size < b.size; size++) {
            assert_int_equal(labels_read(put_bytes(p, "cut.annot", b.data, size), 3, &l, &err), NPMD_ERR_FORMAT);
            assert_says(&err, "cut.annot");
            assert_null(l.region);
        }
        b.data[27] = 7; /* the colour of vertex 0 */
        assert_int_equal(labels_read(put_bytes(p, "cut.annot", b.data, b.size), 3, &l, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "cut.annot: vertex 0 has the annotation 66055, which its table of colours lacks");
        b.data[27] = 3;
        b.data[23] = 1; /* vertex 1 once more */
        assert_int_equal(labels_read(put_bytes(p, "cut.annot", b.data, b.size), 3, &l, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "byte 21: vertex 1 was found where each of 0 to 2 was expected once");
        b.data[23] = 0;
        b.data[31] = 0; /* no table */
        assert_int_equal(labels_read(put_bytes(p, "cut.annot", b.data, b.size), 3, &l, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "no table of colours follows");
        free(b.data);
    }
}

/* ---- GIFTI and NumPy --------------------------------------------------------------------------------------------- */

static const char *put_gifti(place *p, const char *entries, const double *key, size_t count)
{
    buffer b = { 0 };
    buffer_print(&b, "<?xml version=\"1.0\"?>\n<GIFTI Version=\"1.0\"><LabelTable>%s</LabelTable>\n", entries);
    buffer_print(&b,
                 "<DataArray Intent=\"NIFTI_INTENT_LABEL\" DataType=\"NIFTI_TYPE_INT32\" Dimensionality=\"1\" "
                 "ArrayIndexingOrder=\"RowMajorOrder\" Dim0=\"%zu\" Encoding=\"GZipBase64Binary\" "
                 "Endian=\"LittleEndian\"><Data>",
                 count);
    gifti_data_put(&b, key, count, 1, 'i', 'z', false, false);
    buffer_print(&b, "</Data></DataArray></GIFTI>");
    const char *path = put_bytes(p, "aparc.label.gii", b.data, b.size);
    free(b.data);
    return path;
}

static void gifti_labels(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "???", "a & b", "c" };
    static const char TABLE[] = "<Label Key=\"12\" Red=\"1\">c</Label><Label Key=\"0\"><![CDATA[???]]></Label>\n"
                                "<Label Index=\"7\">a &amp; b</Label>";
    labels l = { 0 };
    npmd_error err = { 0 };
    assert_regions(put_gifti(p, TABLE, (const double[]){ 7, 0, 12, 12 }, 4), 4, NAMES, 3,
                   (const int32_t[]){ 1, 0, 2, 2 });
    assert_int_equal(labels_read(put_gifti(p, TABLE, (const double[]){ 7, 1 }, 2), 2, &l, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "vertex 1 has the key 1, which its LabelTable lacks");
    assert_int_equal(labels_read(p->path, 3, &l, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "has labels of 2 vertices, but the surface has 3");
    assert_int_equal(
        labels_read(put_gifti(p, "<Label Key=\"1\">a</Label><Label Key=\"1\">b</Label>", (const double[]){ 1 }, 1), 1,
                    &l, &err),
        NPMD_ERR_FORMAT);
    assert_says(&err, "two labels of key 1");
}

static const char *put_npy(place *p, const char *type, const char *shape_text, const void *data, size_t size)
{
    buffer b = { 0 };
    char header[128];
    const int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type,
                                shape_text);
    buffer_put(&b, "\x93NUMPY\x01", 8); /* with the zero that ends the text */
    buffer_number(&b, length, 'b', false);
    buffer_number(&b, 0, 'b', false);
    buffer_put(&b, header, (size_t)length);
    buffer_put(&b, data, size);
    const char *path = put_bytes(p, "labels.npy", b.data, b.size);
    free(b.data);
    return path;
}

static void npy_labels(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "label 2", "label 100" };
    static const int32_t REGION[] = { 1, 0, -1 };
    const int64_t i8[] = { 100, 2, -1 };
    const int32_t i4[] = { 100, 2, -1 };
    const int16_t i2[] = { 100, 2, -1 };
    const int8_t i1[] = { 100, 2, -1 };
    const double f8[] = { 100, 2, -1 };
    const float f4[] = { 100, 2, 0.5F };
    labels l = { 0 };
    npmd_error err = { 0 };
    assert_regions(put_npy(p, "<i8", "(3,)", i8, sizeof i8), 3, NAMES, 2, REGION);
    assert_regions(put_npy(p, "<i4", "(3, 1)", i4, sizeof i4), 3, NAMES, 2, REGION);
    assert_regions(put_npy(p, "<i2", "(3,)", i2, sizeof i2), 3, NAMES, 2, REGION);
    assert_regions(put_npy(p, "|i1", "(3,)", i1, sizeof i1), 3, NAMES, 2, REGION);
    assert_regions(put_npy(p, "<f8", "(3,)", f8, sizeof f8), 3, NAMES, 2, REGION);
    assert_regions(put_npy(p, "<u2", "(2,)", i2, 4), 2, NAMES, 2, (const int32_t[]){ 1, 0 });
    assert_int_equal(labels_read(put_npy(p, "<f4", "(3,)", f4, sizeof f4), 3, &l, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "labels.npy row 3: one integer was expected");
    assert_int_equal(labels_read(put_npy(p, "<i4", "(3,)", i4, sizeof i4), 4, &l, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "has labels of 3 vertices, but the surface has 4");
    assert_int_equal(labels_read(put_npy(p, "<i4", "(1, 3)", i4, sizeof i4), 3, &l, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "header says 1 x 3, one column was expected");
    assert_int_equal(labels_read(put_npy(p, "<i4", "(1152921504606846976,)", i4, sizeof i4), 3, &l, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "but 12 bytes follow");
    assert_int_equal(labels_read(put_npy(p, "<u8", "(3,)", i8, sizeof i8), 3, &l, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "row 3: a number below 2^63 was expected");
    assert_int_equal(labels_read(put_npy(p, ">i4", "(3,)", i4, sizeof i4), 3, &l, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "numbers of type '>i4'");
}

/* fsaverage5's left hemisphere after Desikan, as it came and as numbers: the same regions. */
static void shared_labels(void **state)
{
    place *p = *state;
    labels annot = { 0 }, npy = { 0 };
    npmd_error err = { 0 };
    const char *path = shared_file(p, "data/mesh/nilearn_test.annot");
    const char *other = shared_file(p, "data/mesh/aparc_left_labels_fsaverage5.npy");
    if (path == NULL || other == NULL)
        return;
    must(labels_read(path, 10242, &annot, &err), &err);
    must(labels_read(other, 10242, &npy, &err), &err);
    assert_true(labels_find(&annot, "medialorbitofrontal") >= 0);
    assert_int_equal(labels_read(path, 10241, &npy, &err), NPMD_ERR_FORMAT);
    size_t equal = 0;
    for (size_t i = 0; i < 10242; i++) {
        int number = -1;
        if (npy.region[i] >= 0)
            assert_int_equal(sscanf(npy.name[npy.region[i]], "label %d", &number), 1);
        equal += number == annot.region[i];
    }
    print_message("    %zu of 10242 vertices have the same region in both files, %d regions\n", equal, annot.regions);
    labels_free(&annot);
    labels_free(&npy);
}

/* ---- the public header ------------------------------------------------------------------------------------------- */

static void public_functions(void **state)
{
    place *p = *state;
    npmd_surface *s = NULL, *none = NULL;
    npmd_labels *l = NULL;
    npmd_error err = { 0 };
    buffer b = { 0 };
    double x[3], value[6] = { 1, 2, 3, 4, 5, 6 }, area[6], sum = 0.0;
    int32_t corner[3];
    const double *columns[] = { value };
    const char *names[] = { "value" };
    FILE_KINDS[0].make(&OCTAHEDRON, FILE_KINDS[0].variant, &b);
    must(npmd_surface_read(put_bytes(p, "a.obj", b.data, b.size), &s, &err), &err);
    assert_int_equal(npmd_surface_vertices(s), 6);
    assert_int_equal(npmd_surface_faces(s), 8);
    check_below("area", fabs(npmd_surface_area(s) - 4.0 * sqrt(3.0)), 16 * DBL_EPSILON * 7.0);
    npmd_surface_vertex(s, 5, x);
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == -1);
    npmd_surface_face(s, 7, corner);
    assert_true(corner[0] == 0 && corner[1] == 3 && corner[2] == 5);
    npmd_surface_vertex_areas(s, area);
    for (int i = 0; i < 6; i++)
        sum += area[i];
    check_below("sum of the vertices' areas", fabs(sum - npmd_surface_area(s)), 16 * DBL_EPSILON * 7.0);
    must(npmd_surface_write(s, in_folder(p, "out.gii.gz"), names, columns, 1, &err), &err);
    must(npmd_surface_read(in_folder(p, "out.gii.gz"), &none, &err), &err);
    npmd_surface_free(none);
    none = NULL;
    assert_int_equal(npmd_surface_write(s, in_folder(p, "out.vtk"), names, columns, -1, &err), NPMD_ERR_ARGUMENT);
    must(npmd_labels_read(put_text(p, "a.csv", "a\na\nb\n\"\"\nb\na\n"), s, &l, &err), &err);
    assert_int_equal(npmd_labels_regions(l), 2);
    assert_string_equal(npmd_labels_name(l, 1), "b");
    assert_int_equal(npmd_labels_find(l, "b"), 1);
    assert_int_equal(npmd_labels_find(l, "c"), -1);
    assert_int_equal(npmd_labels_region_of(l, 2), 1);
    assert_int_equal(npmd_labels_region_of(l, 3), -1);
    /* one face less: read, but not closed; counted from 1 as .obj files do */
    char *last = strrchr((char *)b.data, 'f');
    assert_int_equal(npmd_surface_read(put_bytes(p, "a.obj", b.data, (size_t)(last - (char *)b.data)), &none, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "a.obj is not closed: 3 edges have one face only, in 1 loop; the first is the edge of vertices 1 "
                      "and 4 in face 4");
    assert_null(none);
    npmd_labels_free(l);
    npmd_surface_free(s);
    npmd_labels_free(NULL);
    npmd_surface_free(NULL);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),        cmocka_unit_test(bad_texts),        cmocka_unit_test(label_files),
        cmocka_unit_test(annotations),   cmocka_unit_test(gifti_labels),     cmocka_unit_test(npy_labels),
        cmocka_unit_test(shared_labels), cmocka_unit_test(public_functions),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
