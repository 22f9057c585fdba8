/* outline.c - the boundary of a region of vertices, as line segments on the surface.
 *
 * A vertex stands for what is closest to it, so a region ends in the middle of an edge that leads out of it. A face with
 * corners on both sides has one that is alone on its side; the boundary crosses the two edges from there. */
#include "surface.h"

/* Which corner of the face is alone: 0, 1, 2; -1: all are on one side. */
static int corner_alone(const mesh *m, size_t face, const bool *inside)
{
    const int32_t *c = m->face + 3 * face;
    const int within = inside[c[0]] + inside[c[1]] + inside[c[2]];
    if (within == 0 || within == 3)
        return -1;
    for (int k = 0; k < 2; k++)
        if (inside[c[k]] == (within == 1))
            return k;
    return 2;
}

npmd_status mesh_outline(const mesh *m, const bool *inside, double **segments, size_t *count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *x = NULL;
    size_t found = 0;
    for (size_t f = 0; f < m->faces; f++)
        found += corner_alone(m, f, inside) >= 0;
    TRY(memory_new(&x, 6 * found, err));
    double *at = x;
    for (size_t f = 0; f < m->faces; f++) {
        const int alone = corner_alone(m, f, inside);
        for (int end = 1; end <= 2 && alone >= 0; end++, at += 3) {
            const int32_t *c = m->face + 3 * f;
            const double *a = m->x + 3 * (size_t)c[alone], *b = m->x + 3 * (size_t)c[(alone + end) % 3];
            for (int k = 0; k < 3; k++)
                at[k] = 0.5 * (a[k] + b[k]);
        }
    }
    *segments = x;
    *count = found;
done:
    return st;
}
