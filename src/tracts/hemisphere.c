/* hemisphere.c - a cortical surface and the sphere that it is registered to: vertex by vertex the same mesh. */
#include "tracts.h"

/* FreeSurfer's spheres have one radius to single precision; those that other tools resampled stay within this. A brain's
 * own surface, taken for a sphere by mistake, is off by tens of percent. */
#define RADIUS_TOLERANCE 0.01

static npmd_status sphere_check(const mesh *m, const char *path, npmd_error *err)
{
    const double first = hypot(hypot(m->x[0], m->x[1]), m->x[2]);
    for (size_t i = 0; i < m->vertices; i++) {
        const double *x = m->x + 3 * i, r = hypot(hypot(x[0], x[1]), x[2]);
        if (!(r > 0.0) || !(fabs(r - first) <= RADIUS_TOLERANCE * first))
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s is no sphere about the origin: vertex 0 lies %g from it, vertex %zu %g",
                             path, first, i, r);
    }
    return NPMD_OK;
}

static npmd_status faces_check(const mesh *surface, const char *surface_path, const mesh *sphere,
                               const char *sphere_path, npmd_error *err)
{
    if (sphere->vertices != surface->vertices || sphere->faces != surface->faces)
        return npmd_fail(err, NPMD_ERR_SHAPE,
                         "%s has %zu vertices and %zu faces, but %s has %zu and %zu: they are not registered",
                         sphere_path, sphere->vertices, sphere->faces, surface_path, surface->vertices,
                         surface->faces);
    for (size_t i = 0; i < 3 * surface->faces; i++)
        if (sphere->face[i] != surface->face[i])
            return npmd_fail(err, NPMD_ERR_SHAPE,
                             "face %zu of %s is another one in %s: they are not registered", i / 3,
                             surface_path, sphere_path);
    return NPMD_OK;
}

npmd_status hemisphere_open(const char *surface, const char *sphere, hemisphere *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *out = (hemisphere){ 0 };
    TRY(mesh_read(surface, &out->surface, err));
    if (sphere != NULL) {
        TRY(mesh_read(sphere, &out->sphere, err));
        TRY(faces_check(&out->surface, surface, &out->sphere, sphere, err));
        TRY(sphere_check(&out->sphere, sphere, err));
    }
    TRY(locator_open(&out->surface, &out->near, err));
done:
    if (st != NPMD_OK)
        hemisphere_close(out);
    return st;
}

void hemisphere_close(hemisphere *h)
{
    locator_close(h->near);
    mesh_free(&h->surface);
    mesh_free(&h->sphere);
    *h = (hemisphere){ 0 };
}

/* x = (1 - u - v) s_a + u s_b + v s_c on the sphere's face, which lies below it: brought to unit length. */
void hemisphere_place(const hemisphere *h, const surface_point *at, double x[3])
{
    const bool round = h->sphere.vertices > 0;
    mesh_point(round ? &h->sphere : &h->surface, at->face, at->u, at->v, x);
    if (round) {
        const double r = hypot(hypot(x[0], x[1]), x[2]);
        for (int i = 0; i < 3; i++)
            x[i] /= r;
    }
}
