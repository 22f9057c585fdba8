/* test_mesh.c - measures of surfaces against closed forms, and every defect that a mesh may have, one at a time: named,
 * placed and counted. */
#include "meshes.h"
#include "surface.h"

/* A mesh of our own numbers. */
static mesh make(const double *x, size_t vertices, const int32_t *face, size_t faces)
{
    mesh m = { 0 };
    npmd_error err = { 0 };
    double *points = NULL;
    int32_t *corners = NULL;
    must(memory_new(&points, 3 * vertices, &err), &err);
    must(memory_new(&corners, 3 * faces, &err), &err);
    memcpy(points, x, 3 * vertices * sizeof *x);
    memcpy(corners, face, 3 * faces * sizeof *face);
    must(mesh_make(vertices, points, faces, corners, "made", &m, &err), &err);
    return m;
}

static mesh make_shape(const shape *s)
{
    return make(s->x, s->vertices, s->face, s->faces);
}

static void refused(const double *x, size_t vertices, const int32_t *face, size_t faces, const char *words)
{
    mesh m = make(x, vertices, face, faces);
    npmd_error err = { 0 };
    assert_int_equal(mesh_check(&m, "made", &err), NPMD_ERR_FORMAT);
    assert_says(&err, words);
    mesh_free(&m);
}

/* Area: a tetrahedron of side 2 sqrt(2) has 4 sqrt(3)/4 8, an octahedron of side sqrt(2) 8 sqrt(3)/4 2, an icosahedron
 * of side 2 20 sqrt(3)/4 4. The last has coordinates rounded to float, by at most 2^-24 relative: twice that in the
 * area; sums of 20 terms round at most 20 eps. */
static void areas(void **state)
{
    (void)state;
    const shape *const SHAPES[] = { &TETRAHEDRON, &OCTAHEDRON, &ICOSAHEDRON };
    const double expected[] = { 8.0 * sqrt(3.0), 4.0 * sqrt(3.0), 20.0 * sqrt(3.0) };
    const double bound[] = { 40 * DBL_EPSILON, 40 * DBL_EPSILON, 0x1p-23 };
    double area[12];
    for (int i = 0; i < 3; i++) {
        mesh m = make_shape(SHAPES[i]);
        check_below("relative error of the area", fabs(m.area / expected[i] - 1.0), bound[i]);
        mesh_vertex_areas(&m, area);
        for (size_t v = 0; v < m.vertices; v++) /* all vertices are alike */
            check_quiet("a vertex's share", fabs(area[v] * (double)m.vertices / expected[i] - 1.0), bound[i]);
        mesh_free(&m);
    }
}

static void points_of_faces(void **state)
{
    (void)state;
    mesh m = make_shape(&OCTAHEDRON);
    double x[3];
    mesh_point(&m, 0, 0.25, 0.5, x); /* 1/4 (1, 0, 0) + 1/4 (0, 1, 0) + 1/2 (0, 0, 1) */
    assert_true(x[0] == 0.25 && x[1] == 0.25 && x[2] == 0.5);
    mesh_free(&m);
}

static void hashes(void **state)
{
    (void)state;
    double x[12];
    int32_t face[12];
    memcpy(x, TETRAHEDRON.x, sizeof x);
    memcpy(face, TETRAHEDRON.face, sizeof face);
    x[0] = 0.0;
    mesh a = make(x, 4, face, 4);
    x[0] = -0.0;
    mesh b = make(x, 4, face, 4);
    assert_true(a.hash == b.hash); /* equal numbers */
    mesh_free(&b);
    x[0] = nextafter(0.0, 1.0);
    b = make(x, 4, face, 4);
    assert_true(a.hash != b.hash);
    mesh_free(&b);
    x[0] = 0.0;
    face[0] = face[1];
    b = make(x, 4, face, 4);
    assert_true(a.hash != b.hash);
    mesh_free(&b);
    mesh_free(&a);
}

static void makes_refused(void **state)
{
    (void)state;
    static const struct {
        double x;
        int32_t corner;
        size_t faces;
        const char *words;
    } CASES[] = {
        { NAN, 0, 4, "made: vertex 0: coordinate x is NaN where a finite number was expected" },
        { -INFINITY, 0, 4, "made: vertex 0: coordinate x is infinite" },
        { 1, -1, 4, "made: face 0 has a corner at vertex -1, but the vertices are 0 to 3" },
        { 1, 4, 4, "made: face 0 has a corner at vertex 4" },
        { 1, 0, 0, "made has 4 vertices and 0 faces" },
        { 1e300, 0, 4, "made: the area of its faces is too large" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        mesh m = { 0 };
        npmd_error err = { 0 };
        double *x = NULL;
        int32_t *face = NULL;
        must(memory_new(&x, 12, &err), &err);
        must(memory_new(&face, 12, &err), &err);
        memcpy(x, TETRAHEDRON.x, 12 * sizeof *x);
        memcpy(face, TETRAHEDRON.face, 12 * sizeof *face);
        x[0] = CASES[k].x;
        face[0] = CASES[k].corner;
        if (CASES[k].x == 1e300)
            x[4] = 1e300;
        assert_int_equal(mesh_make(4, x, CASES[k].faces, face, "made", &m, &err), NPMD_ERR_FORMAT);
        assert_says(&err, CASES[k].words);
        assert_null(m.x);
    }
}

/* ---- what must hold of a surface --------------------------------------------------------------------------------- */

static void closed_surfaces_pass(void **state)
{
    (void)state;
    const shape *const SHAPES[] = { &TETRAHEDRON, &OCTAHEDRON, &ICOSAHEDRON };
    npmd_error err = { 0 };
    for (int i = 0; i < 3; i++) {
        mesh m = make_shape(SHAPES[i]);
        must(mesh_check(&m, "made", &err), &err);
        for (size_t f = 0; f < m.faces; f++) { /* inside out is as good */
            const int32_t first = m.face[3 * f];
            m.face[3 * f] = m.face[3 * f + 1];
            m.face[3 * f + 1] = first;
        }
        must(mesh_check(&m, "made", &err), &err);
        mesh_free(&m);
    }
}

/* A torus of 2 x 3 x n faces is a surface as well: the genus does not matter. */
static void torus_passes(void **state)
{
    (void)state;
    enum { N = 7, M = 5 };
    double x[3 * N * M];
    int32_t face[6 * N * M], *at = face;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            const double u = 2 * (double)CHECK_PI * i / N, v = 2 * (double)CHECK_PI * j / M;
            double *p = x + 3 * (i * M + j);
            p[0] = (3 + cos(v)) * cos(u);
            p[1] = (3 + cos(v)) * sin(u);
            p[2] = sin(v);
            const int32_t a = i * M + j, b = (i + 1) % N * M + j, c = (i + 1) % N * M + (j + 1) % M,
                          d = i * M + (j + 1) % M;
            const int32_t two[6] = { a, b, c, a, c, d };
            memcpy(at, two, sizeof two);
            at += 6;
        }
    mesh m = make(x, N * M, face, 2 * N * M);
    npmd_error err = { 0 };
    must(mesh_check(&m, "made", &err), &err);
    mesh_free(&m);
}

static void faces_without_area(void **state)
{
    (void)state;
    int32_t face[12];
    double x[12];
    memcpy(face, TETRAHEDRON.face, sizeof face);
    face[6] = face[7];
    refused(TETRAHEDRON.x, 4, face, 4, "made: face 2 (2, 2, 3) has a vertex twice");
    memcpy(x, TETRAHEDRON.x, sizeof x);
    for (int i = 0; i < 3; i++) /* between two others, up to rounding */
        x[9 + i] = x[i] + (x[3 + i] - x[i]) / 3.0;
    refused(x, 4, TETRAHEDRON.face, 4, "made: face 1 (0, 3, 1) has no area: its corners lie on a line");
    memcpy(x + 9, x, 3 * sizeof *x);
    refused(x, 4, TETRAHEDRON.face, 4, "made: face 1 (0, 3, 1) has no area: its corners lie on a line (and 1 more)");
    /* thin but honest */
    memcpy(x, TETRAHEDRON.x, sizeof x);
    for (int i = 0; i < 3; i++)
        x[9 + i] = x[i] + (x[3 + i] - x[i]) / 2.0 + (i == 0 ? 1e-9 : 0.0);
    mesh m = make(x, 4, TETRAHEDRON.face, 4);
    npmd_error err = { 0 };
    must(mesh_check(&m, "made", &err), &err);
    mesh_free(&m);
}

static void repeated_faces(void **state)
{
    (void)state;
    int32_t face[18];
    memcpy(face, TETRAHEDRON.face, 12 * sizeof *face);
    memcpy(face + 12, (const int32_t[]){ 2, 0, 1, 3, 2, 1 }, 6 * sizeof *face);
    refused(TETRAHEDRON.x, 4, face, 5, "made: face 4 has the same corners as face 0");
    refused(TETRAHEDRON.x, 4, face, 6, "made: face 4 has the same corners as face 0 (and 1 more)");
}

static void holes(void **state)
{
    (void)state;
    int32_t face[24];
    memcpy(face, OCTAHEDRON.face, sizeof face);
    refused(OCTAHEDRON.x, 6, face, 7,
            "made is not closed: 3 edges have one face only, in 1 loop; the first is the edge of vertices 0 and 3 in "
            "face 3");
    memcpy(face, OCTAHEDRON.face + 3, 21 * sizeof *face); /* without the first, and its opposite */
    memmove(face + 15, face + 18, 3 * sizeof *face);
    refused(OCTAHEDRON.x, 6, face, 6, "made is not closed: 6 edges have one face only, in 2 loops");
}

/* A strip of 7 triangles whose ends are joined with a half turn: vertex i, i + 1, i + 2 modulo 7. */
static void moebius_band(void **state)
{
    (void)state;
    double x[21];
    int32_t face[21];
    for (int i = 0; i < 7; i++) {
        const double u = 2 * (double)CHECK_PI * i / 7;
        x[3 * i] = (2 + (i % 2 ? 0.5 : -0.5) * cos(u / 2)) * cos(u);
        x[3 * i + 1] = (2 + (i % 2 ? 0.5 : -0.5) * cos(u / 2)) * sin(u);
        x[3 * i + 2] = (i % 2 ? 0.5 : -0.5) * sin(u / 2);
        face[3 * i] = i;
        face[3 * i + 1] = (i + (i % 2 ? 2 : 1)) % 7;
        face[3 * i + 2] = (i + (i % 2 ? 1 : 2)) % 7;
    }
    refused(x, 7, face, 7, "made is not closed: 7 edges have one face only, in 1 loop");
}

/* The projective plane on six vertices (half an icosahedron) is closed, and has no consistent orientation. */
static void projective_plane(void **state)
{
    (void)state;
    double x[18];
    uint64_t seed = 3;
    for (int i = 0; i < 6; i++)
        test_unit_vector(&seed, x + 3 * i);
    static const int32_t FACE[30] = { 0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0, 5, 1,
                                      1, 2, 4, 2, 3, 5, 3, 4, 1, 4, 5, 2, 5, 1, 3 };
    refused(x, 6, FACE, 10, "are oriented against each other: both run along the edge of vertices");
}

static void turned_face(void **state)
{
    (void)state;
    int32_t face[24];
    memcpy(face, OCTAHEDRON.face, sizeof face);
    face[6] = OCTAHEDRON.face[7];
    face[7] = OCTAHEDRON.face[6];
    refused(OCTAHEDRON.x, 6, face, 8,
            "made: faces 1 and 2 are oriented against each other: both run along the edge of vertices 1 and 4 in the "
            "same direction (and 2 more)");
}

static void crowded_edge(void **state)
{
    (void)state;
    double x[18];
    int32_t face[24];
    memcpy(x, TETRAHEDRON.x, 12 * sizeof *x);
    memcpy(x + 12, (const double[]){ 3, 0, 1, 3, 1, 0 }, 6 * sizeof *x);
    memcpy(face, TETRAHEDRON.face, 12 * sizeof *face);
    for (int i = 0; i < 12; i++) /* another tetrahedron on the edge of 0 and 1 */
        face[12 + i] = TETRAHEDRON.face[i] < 2 ? TETRAHEDRON.face[i] : TETRAHEDRON.face[i] + 2;
    refused(x, 6, face, 8, "made: the edge of vertices 0 and 1 has 4 faces (0, 1, 4, ...), expected 2");
}

static void apart_or_touching(void **state)
{
    (void)state;
    double x[24];
    int32_t face[24];
    for (int i = 0; i < 24; i++)
        x[i] = i < 12 ? TETRAHEDRON.x[i] : TETRAHEDRON.x[i - 12] + (i % 3 == 0 ? 10.0 : 0.0);
    for (int i = 0; i < 24; i++)
        face[i] = i < 12 ? TETRAHEDRON.face[i] : TETRAHEDRON.face[i - 12] + 4;
    refused(x, 8, face, 8,
            "made is in 2 pieces, one was expected: that of face 0 has 4 of the 8 faces, and face 4 lies in another");
    for (int i = 12; i < 24; i++)
        face[i] = TETRAHEDRON.face[i - 12] + 3; /* the second's first vertex is the first one's last */
    refused(x, 7, face, 8, "made: at vertex 3 parts of the surface touch in a point: its faces are not one fan");
}

static void unused_vertices(void **state)
{
    (void)state;
    double x[21] = { 0 };
    memcpy(x, OCTAHEDRON.x, 18 * sizeof *x);
    refused(x, 7, OCTAHEDRON.face, 8, "made: vertex 6 is a corner of no face");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(areas),
        cmocka_unit_test(points_of_faces),
        cmocka_unit_test(hashes),
        cmocka_unit_test(makes_refused),
        cmocka_unit_test(closed_surfaces_pass),
        cmocka_unit_test(torus_passes),
        cmocka_unit_test(faces_without_area),
        cmocka_unit_test(repeated_faces),
        cmocka_unit_test(holes),
        cmocka_unit_test(moebius_band),
        cmocka_unit_test(projective_plane),
        cmocka_unit_test(turned_face),
        cmocka_unit_test(crowded_edge),
        cmocka_unit_test(apart_or_touching),
        cmocka_unit_test(unused_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
