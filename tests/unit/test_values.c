/* test_values.c - columns of numbers on the vertices: what is written reads back, other programs' ways of writing them,
 * values of another mesh; and the outline of a region. */
#include "shapes.h"

static void written_columns_read_back(void **state)
{
    place *p = *state;
    static const char *const FILES[] = { "a.gii", "a.gii.gz", "a.shape.gii", "a.vtk" };
    const double first[6] = { 0.5, -1.25, 3.0, 4.0, 0.0, 7.5 }, second[6] = { 1, 2, 3, 4, 5, 6 };
    const vertex_values columns[2] = { { "f of E", first }, { "second", second } };
    mesh m;
    shape_octahedron(&m);
    for (int i = 0; i < 4; i++) {
        npmd_error err = { 0 };
        vertex_columns c = { 0 };
        int found = -1;
        const char *path = in_folder(p, FILES[i]);
        must(mesh_write(path, &m, columns, 2, &err), &err);
        must(vertex_columns_read(path, 6, &c, &err), &err);
        assert_int_equal(c.columns, 2);
        assert_string_equal(c.name[0], "f of E");
        assert_memory_equal(c.value[0], first, sizeof first); /* all of them float32 numbers */
        assert_memory_equal(c.value[1], second, sizeof second);
        must(vertex_columns_find(&c, "second", path, &found, &err), &err);
        assert_int_equal(found, 1);
        must(vertex_columns_find(&c, "1", path, &found, &err), &err);
        assert_int_equal(found, 0);
        assert_int_equal(vertex_columns_find(&c, "third", path, &found, &err), NPMD_ERR_ARGUMENT);
        assert_says(&err, "has no column 'third'; it has 'f of E', 'second'");
        vertex_columns_free(&c);
    }
    mesh_free(&m);
}

static void other_vtk_files_are_read(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    vertex_columns c = { 0 };
    const char *path = put_text(
        p, "b.vtk",
        "# vtk DataFile Version 4.2\ntitle\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n"
        "0 0 0 1 0 0 0 1 0 0 0 1\nPOLYGONS 4 16\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"
        "CELL_DATA 4\nSCALARS skipped int\nLOOKUP_TABLE mine\n1 2 3 4\nLOOKUP_TABLE mine 1\n0 0 0 1\n"
        "POINT_DATA 4\nNORMALS n float\n0 0 1 0 0 1 0 0 1 0 0 1\n"
        "FIELD FieldData 2\nvector 2 4 float\n1 2 3 4 5 6 7 8\nheat%201 1 4 double\n4 3 2 1.5\n"
        "METADATA\nINFORMATION 0\n\n");
    must(vertex_columns_read(path, 4, &c, &err), &err);
    assert_int_equal(c.columns, 1);
    assert_string_equal(c.name[0], "heat 1");
    assert_true(c.value[0][0] == 4.0 && c.value[0][3] == 1.5);
    vertex_columns_free(&c);
    assert_int_equal(vertex_columns_read(path, 5, &c, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "values of 4 vertices, but the surface has 5");
    path = put_text(p, "c.vtk",
                    "# vtk DataFile Version 4.2\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n"
                    "0 0 0 1 0 0 0 1 0 0 0 1\nPOINT_DATA 4\nSCALARS a float\nLOOKUP_TABLE default\n1 2 3\n");
    assert_int_equal(vertex_columns_read(path, 4, &c, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "it ends where a value was expected");
}

static void tables_have_a_row_for_every_vertex(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    vertex_columns c = { 0 };
    const char *path = put_text(p, "d.csv", "1,10\n2,20\n3,30\n");
    must(vertex_columns_read(path, 3, &c, &err), &err);
    assert_string_equal(c.name[1], "column 2");
    assert_true(c.value[1][2] == 30.0);
    vertex_columns_free(&c);
    assert_int_equal(vertex_columns_read(path, 4, &c, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "values of 3 vertices, but the surface has 4");
}

static double length_of(const double *segments, size_t count)
{
    double length = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double *s = segments + 6 * i;
        length += sqrt(pow(s[0] - s[3], 2.0) + pow(s[1] - s[4], 2.0) + pow(s[2] - s[5], 2.0));
    }
    return length;
}

/* Height 1/2 on the octahedron: a square whose sides join the middles of the edges that meet in the pole, sqrt(2)/2
 * long. Height 0.3 on a sphere: a circle of radius sqrt(1 - 0.09). Faces of level 4 have edges of at most e = 0.08, so
 * that a chord lacks e^2 / 24 of its arc, and lies within e^2 / 8 of the sphere: a thousandth is allowed. */
static void contours_have_their_length(void **state)
{
    (void)state;
    npmd_error err = { 0 };
    double *segments = NULL, *height = NULL;
    size_t count = 0;
    mesh m;
    for (int level = 0; level < 2; level++) {
        if (level == 0)
            shape_octahedron(&m);
        else
            shape_icosphere(4, &m);
        height = doubles(m.vertices);
        for (size_t i = 0; i < m.vertices; i++)
            height[i] = m.x[3 * i + 2];
        must(mesh_contour(&m, height, level == 0 ? 0.5 : 0.3, &segments, &count, &err), &err);
        const double wanted = level == 0 ? 4.0 * sqrt(0.5) : TWO_PI * sqrt(1.0 - 0.09);
        assert_true(level == 1 || count == 4);
        assert_true(fabs(length_of(segments, count) - wanted) < (level == 0 ? 1e-14 : 1e-3) * wanted);
        memory_free(segments);
        free(height);
        mesh_free(&m);
    }
}

/* A hemisphere: its outline runs within an edge of the great circle, 0.08 on level 4. */
static void an_outline_goes_around_its_region(void **state)
{
    (void)state;
    npmd_error err = { 0 };
    double *segments = NULL;
    size_t count = 0;
    mesh m;
    shape_icosphere(4, &m);
    bool *inside = calloc(m.vertices, sizeof *inside);
    assert_non_null(inside);
    for (size_t i = 0; i < m.vertices; i++)
        inside[i] = 0.6 * m.x[3 * i] + 0.8 * m.x[3 * i + 1] > 0.0;
    must(mesh_outline(&m, inside, &segments, &count, &err), &err);
    assert_true(count > 40);
    for (size_t i = 0; i < 2 * count; i++)
        assert_true(fabs(0.6 * segments[3 * i] + 0.8 * segments[3 * i + 1]) < 0.08);
    assert_true(length_of(segments, count) > 0.99 * TWO_PI);
    memory_free(segments);
    free(inside);
    mesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_columns_read_back),          cmocka_unit_test(other_vtk_files_are_read),
        cmocka_unit_test(tables_have_a_row_for_every_vertex), cmocka_unit_test(contours_have_their_length),
        cmocka_unit_test(an_outline_goes_around_its_region),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
