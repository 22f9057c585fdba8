/* outline.c - contour lines of functions on the vertices, and the boundaries of regions, as segments on the surface.
 *
 * On a face with corners on both sides of the level, one corner is alone on its side; the line crosses the two edges at
 * that corner. The outline of a region is where the indicator of the vertices inside, averaged twice over the
 * neighbours of each vertex, equals 1/2: the exact boundary zigzags between vertices from face to face. */
#include "surface.h"

/* Which corner of the face is alone: 0, 1, 2; -1: all are on one side. */
static int corner_alone(const mesh *m, size_t face, const double *f, double level)
{
    const int32_t *c = m->face + 3 * face;
    const bool above[3] = { f[c[0]] > level, f[c[1]] > level, f[c[2]] > level };
    const int count = above[0] + above[1] + above[2];
    if (count == 0 || count == 3)
        return -1;
    for (int k = 0; k < 2; k++)
        if (above[k] == (count == 1))
            return k;
    return 2;
}

/* Where f, linear between a and b, is the level. */
static void edge_cross(const mesh *m, const double *f, double level, int32_t a, int32_t b, double *out)
{
    const double t = (level - f[a]) / (f[b] - f[a]);
    for (size_t k = 0; k < 3; k++)
        out[k] = (1.0 - t) * m->x[3 * (size_t)a + k] + t * m->x[3 * (size_t)b + k];
}

npmd_status mesh_contour(const mesh *m, const double *f, double level, double **segments, size_t *count,
                         npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *x = NULL;
    size_t found = 0;
    for (size_t i = 0; i < m->faces; i++)
        found += corner_alone(m, i, f, level) >= 0;
    TRY(memory_new(&x, 6 * found, err));
    double *at = x;
    for (size_t i = 0; i < m->faces; i++) {
        const int alone = corner_alone(m, i, f, level);
        const int32_t *c = m->face + 3 * i;
        for (int end = 1; end <= 2 && alone >= 0; end++, at += 3)
            edge_cross(m, f, level, c[alone], c[(alone + end) % 3], at);
    }
    *segments = x;
    *count = found;
done:
    return st;
}

/* g (vertices) = (f + mean of f over the neighbours) / 2; sum and weight (vertices) are room. A neighbour is met once
 * in each of the two faces at the edge, so the mean is right without a list of edges. */
static void neighbours_average(const mesh *m, const double *f, double *sum, double *weight, double *g)
{
    memset(sum, 0, m->vertices * sizeof *sum);
    memset(weight, 0, m->vertices * sizeof *weight);
    for (size_t i = 0; i < m->faces; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t *c = m->face + 3 * i;
            sum[c[k]] += f[c[(k + 1) % 3]] + f[c[(k + 2) % 3]];
            weight[c[k]] += 2.0;
        }
    for (size_t i = 0; i < m->vertices; i++)
        g[i] = weight[i] > 0.0 ? 0.5 * f[i] + 0.5 * sum[i] / weight[i] : f[i];
}

npmd_status mesh_outline(const mesh *m, const bool *inside, double **segments, size_t *count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *room = NULL;
    TRY(memory_new(&room, 4 * m->vertices, err));
    double *f = room, *g = room + m->vertices;
    for (size_t i = 0; i < m->vertices; i++)
        f[i] = inside[i] ? 1.0 : 0.0;
    neighbours_average(m, f, g + m->vertices, g + 2 * m->vertices, g);
    neighbours_average(m, g, g + m->vertices, g + 2 * m->vertices, f);
    TRY(mesh_contour(m, f, 0.5, segments, count, err));
done:
    memory_free(room);
    return st;
}
