/* shapes.c - closed surfaces of triangles, made by hand and by subdivision. */
#include "shapes.h"

static void made(size_t vertices, double *x, size_t faces, int32_t *face, mesh *out)
{
    npmd_error err = { 0 };
    must(mesh_make(vertices, x, faces, face, "a shape", out, &err), &err);
}

void shape_of(const double *x, size_t vertices, const int32_t *face, size_t faces, mesh *out)
{
    double *points = NULL;
    int32_t *corners = NULL;
    npmd_error err = { 0 };
    must(memory_new(&points, 3 * vertices, &err), &err);
    must(memory_new(&corners, 3 * faces, &err), &err);
    memcpy(points, x, 3 * vertices * sizeof *x);
    memcpy(corners, face, 3 * faces * sizeof *face);
    made(vertices, points, faces, corners, out);
}

void shape_tetrahedron(mesh *out)
{
    static const double X[] = { 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1 };
    static const int32_t FACE[] = { 0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2 };
    shape_of(X, 4, FACE, 4, out);
}

void shape_octahedron(mesh *out)
{
    static const double X[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1 };
    static const int32_t FACE[] = { 0, 1, 2, 1, 3, 2, 3, 4, 2, 4, 0, 2, 1, 0, 5, 3, 1, 5, 4, 3, 5, 0, 4, 5 };
    shape_of(X, 6, FACE, 8, out);
}

void shape_square(int n, mesh *out)
{
    const size_t side = (size_t)n + 1;
    double *x = NULL;
    int32_t *face = NULL, *at = NULL;
    npmd_error err = { 0 };
    must(memory_new(&x, 3 * side * side, &err), &err);
    must(memory_new(&face, 6 * (size_t)(n * n), &err), &err);
    at = face;
    for (size_t i = 0; i < side * side; i++) {
        x[3 * i] = (double)(i % side) / n;
        x[3 * i + 1] = (double)(i / side) / n;
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
            const int32_t two[6] = { a, b, d, a, d, c };
            memcpy(at, two, sizeof two);
            at += 6;
        }
    made(side * side, x, 2 * (size_t)(n * n), face, out);
}

/* ---- The sphere -------------------------------------------------------------------------------------------------- */

/* The middle of an edge: looked up among those made so far, by hashing its two ends. */
typedef struct middles {
    size_t room, vertices;
    int32_t (*ends)[2], *middle;
    double *x;
} middles;

static int32_t middle_of(middles *m, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t at = (size_t)(((uint64_t)(uint32_t)low << 32 | (uint32_t)high) * 0x9E3779B97F4A7C15u >> 20) % m->room;
    for (; m->ends[at][1] != 0; at = (at + 1) % m->room)
        if (m->ends[at][0] == low && m->ends[at][1] == high)
            return m->middle[at];
    double *x = m->x + 3 * m->vertices, length = 0.0;
    for (int k = 0; k < 3; k++) {
        x[k] = m->x[3 * low + k] + m->x[3 * high + k];
        length += x[k] * x[k];
    }
    for (int k = 0; k < 3; k++)
        x[k] /= sqrt(length);
    m->ends[at][0] = low;
    m->ends[at][1] = high; /* never 0: it is the larger end */
    return m->middle[at] = (int32_t)m->vertices++;
}

static int32_t *subdivide(middles *m, int32_t *face, size_t faces)
{
    int32_t *finer = NULL;
    npmd_error err = { 0 };
    must(memory_new(&finer, 12 * faces, &err), &err);
    must(memory_new(&m->ends, m->room = 4 * faces, &err), &err);
    must(memory_new(&m->middle, m->room, &err), &err);
    for (size_t f = 0; f < faces; f++) {
        const int32_t a = face[3 * f], b = face[3 * f + 1], c = face[3 * f + 2];
        const int32_t ab = middle_of(m, a, b), bc = middle_of(m, b, c), ca = middle_of(m, c, a);
        const int32_t four[12] = { a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca };
        memcpy(finer + 12 * f, four, sizeof four);
    }
    memory_free(m->ends);
    memory_free(m->middle);
    memory_free(face);
    return finer;
}

static void icosphere(int times, double bump, mesh *out)
{
    static const int32_t FACE[60] = { 0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
                                      4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
                                      6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1 };
    const double golden = (1.0 + sqrt(5.0)) / 2.0, length = sqrt(1.0 + golden * golden);
    middles m = { .vertices = 12 };
    int32_t *face = NULL;
    size_t faces = 20;
    npmd_error err = { 0 };
    must(memory_new(&m.x, 3 * ((size_t)10 << 2 * times) + 6, &err), &err);
    must(memory_new(&face, 60, &err), &err);
    memcpy(face, FACE, sizeof FACE);
    for (size_t i = 0; i < 12; i++) { /* (-+1, +-golden, 0) and its rotations, by fours */
        const size_t zero = (2 + i / 4) % 3, one = (zero + 1) % 3, other = (zero + 2) % 3;
        m.x[3 * i + one] = (i % 2 == 0 ? -1.0 : 1.0) / length;
        m.x[3 * i + other] = (i % 4 < 2 ? golden : -golden) / length;
    }
    for (int turn = 0; turn < times; turn++, faces *= 4)
        face = subdivide(&m, face, faces);
    for (size_t i = 0; i < m.vertices; i++) {
        double *x = m.x + 3 * i;
        const double radius = 1.0 + bump * sin(5.0 * x[0]) * sin(4.0 * x[1] + 1.0) * cos(7.0 * x[2]);
        for (int k = 0; k < 3; k++)
            x[k] *= radius;
    }
    made(m.vertices, m.x, faces, face, out);
}

void shape_icosphere(int times, mesh *out)
{
    icosphere(times, 0.0, out);
}

void shape_bumpy(int times, mesh *out)
{
    icosphere(times, 0.2, out);
}
