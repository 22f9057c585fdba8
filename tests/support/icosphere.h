/* icosphere.h - an icosahedron, refined and projected on a sphere: a mesh file whose eigenfunctions are known. Nothing
 * here calls the library. */
#ifndef NPMD_TEST_ICOSPHERE_H
#define NPMD_TEST_ICOSPHERE_H

#include "place.h"

typedef struct icosphere {
    size_t vertices, faces;
    double *x;     /* (vertices, 3) */
    int32_t *face; /* (faces, 3) */
} icosphere;

static inline int32_t icosphere_middle(icosphere *s, int32_t (*edge)[3], size_t *edges, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    for (size_t i = 0; i < *edges; i++)
        if (edge[i][0] == low && edge[i][1] == high)
            return edge[i][2];
    const int32_t made = (int32_t)s->vertices++;
    double *at = s->x + 3 * made, length = 0.0;
    for (int i = 0; i < 3; i++) {
        at[i] = s->x[3 * a + i] + s->x[3 * b + i];
        length += at[i] * at[i];
    }
    for (int i = 0; i < 3; i++)
        at[i] /= sqrt(length);
    edge[*edges][0] = low;
    edge[*edges][1] = high;
    edge[(*edges)++][2] = made;
    return made;
}

/* On the unit sphere, with 10 x 4^level + 2 vertices. */
static inline icosphere icosphere_make(int level)
{
    const double t = 0.5 * (1.0 + sqrt(5.0)), r = sqrt(1.0 + t * t);
    const double first[12][3] = {
        { -1, t, 0 },  { 1, t, 0 },  { -1, -t, 0 }, { 1, -t, 0 }, { 0, -1, t },  { 0, 1, t },
        { 0, -1, -t }, { 0, 1, -t }, { t, 0, -1 },  { t, 0, 1 },  { -t, 0, -1 }, { -t, 0, 1 }
    };
    static const int32_t FACE[20][3] = { { 0, 11, 5 }, { 0, 5, 1 },  { 0, 1, 7 },   { 0, 7, 10 }, { 0, 10, 11 },
                                         { 1, 5, 9 },  { 5, 11, 4 }, { 11, 10, 2 }, { 10, 7, 6 }, { 7, 1, 8 },
                                         { 3, 9, 4 },  { 3, 4, 2 },  { 3, 2, 6 },   { 3, 6, 8 },  { 3, 8, 9 },
                                         { 4, 9, 5 },  { 2, 4, 11 }, { 6, 2, 10 },  { 8, 6, 7 },  { 9, 8, 1 } };
    const size_t faces = (size_t)20 << (2 * level);
    icosphere s = { .vertices = 12, .faces = 20, .x = doubles(3 * (faces / 2 + 2)) };
    s.face = calloc(3 * faces, sizeof *s.face);
    int32_t(*edge)[3] = calloc(3 * faces / 2, sizeof *edge), *finer = calloc(3 * faces, sizeof *finer);
    assert_true(s.face != NULL && edge != NULL && finer != NULL);
    for (int i = 0; i < 36; i++)
        s.x[i] = first[i / 3][i % 3] / r;
    memcpy(s.face, FACE, sizeof FACE);
    for (int l = 0; l < level; l++) {
        size_t edges = 0;
        for (size_t f = 0; f < s.faces; f++) {
            const int32_t *c = s.face + 3 * f, a = icosphere_middle(&s, edge, &edges, c[0], c[1]),
                          b = icosphere_middle(&s, edge, &edges, c[1], c[2]),
                          d = icosphere_middle(&s, edge, &edges, c[2], c[0]);
            const int32_t four[12] = { c[0], a, d, a, c[1], b, d, b, c[2], a, b, d };
            memcpy(finer + 12 * f, four, sizeof four);
        }
        s.faces *= 4;
        memcpy(s.face, finer, 3 * s.faces * sizeof *finer);
    }
    free(edge);
    free(finer);
    /* without its symmetry, so that no eigenvalue is multiple: vertices move by up to a twentieth of an edge */
    uint64_t seed = 20;
    for (size_t i = 0; i < s.vertices; i++) {
        double length = 0.0;
        for (int c = 0; c < 3; c++) {
            s.x[3 * i + (size_t)c] += 0.05 * (test_uniform(&seed) - 0.5) / (double)(1 << level);
            length += s.x[3 * i + (size_t)c] * s.x[3 * i + (size_t)c];
        }
        for (int c = 0; c < 3; c++)
            s.x[3 * i + (size_t)c] /= sqrt(length);
    }
    return s;
}

static inline void icosphere_free(icosphere *s)
{
    free(s->x);
    free(s->face);
}

/* Writes the sphere of this radius as an .off file. */
static inline const char *put_icosphere(place *p, const char *name, int level, double radius)
{
    icosphere s = icosphere_make(level);
    const char *path = in_folder(p, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "OFF\n%zu %zu 0\n", s.vertices, s.faces);
    for (size_t i = 0; i < s.vertices; i++)
        fprintf(file, "%.17g %.17g %.17g\n", radius * s.x[3 * i], radius * s.x[3 * i + 1], radius * s.x[3 * i + 2]);
    for (size_t i = 0; i < s.faces; i++)
        fprintf(file, "3 %d %d %d\n", s.face[3 * i], s.face[3 * i + 1], s.face[3 * i + 2]);
    assert_int_equal(fclose(file), 0);
    icosphere_free(&s);
    return path;
}

#endif
