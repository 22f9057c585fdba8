/* registered.c - a surface and the sphere that it is registered to: vertex by vertex the same mesh.
 *
 * A point of a face goes to the point of the sphere's face with the same barycentric coordinates, q, and from there along
 * its ray to x = q / |q| on the unit sphere. The first map has the ratio of the two faces' areas; the second, with n the
 * normal of the sphere's face, takes the area dA about q to (n . x) / |q|^2 dA. */
#include "surface.h"

/* FreeSurfer's spheres have one radius to single precision; those that other tools resampled stay within this. A brain's
 * own surface, taken for a sphere by mistake, is off by tens of percent. */
#define RADIUS_TOLERANCE 0.01

enum { ROUNDS = 16 };

static npmd_status sphere_check(const mesh *m, const char *name, npmd_error *err)
{
    const double first = hypot(hypot(m->x[0], m->x[1]), m->x[2]);
    for (size_t i = 0; i < m->vertices; i++) {
        const double *x = m->x + 3 * i, r = hypot(hypot(x[0], x[1]), x[2]);
        if (!(r > 0.0) || !(fabs(r - first) <= RADIUS_TOLERANCE * first))
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s is no sphere about the origin: vertex 0 lies %g from it, vertex %zu %g",
                             name, first, i, r);
    }
    return NPMD_OK;
}

npmd_status registered_check(const mesh *surface, const char *surface_name, const mesh *sphere,
                             const char *sphere_name, npmd_error *err)
{
    if (sphere->vertices != surface->vertices || sphere->faces != surface->faces)
        return npmd_fail(err, NPMD_ERR_SHAPE,
                         "%s has %zu vertices and %zu faces, but %s has %zu and %zu: they are not registered",
                         sphere_name, sphere->vertices, sphere->faces, surface_name, surface->vertices,
                         surface->faces);
    for (size_t i = 0; i < 3 * surface->faces; i++)
        if (sphere->face[i] != surface->face[i])
            return npmd_fail(err, NPMD_ERR_SHAPE,
                             "face %zu of %s is another one in %s: they are not registered", i / 3,
                             surface_name, sphere_name);
    return sphere_check(sphere, sphere_name, err);
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* normal = (b - a) x (c - a): twice the face's area is its length, which is returned. */
static double face_normal(const mesh *m, size_t face, double normal[3])
{
    const int32_t *corner = m->face + 3 * face;
    const double *a = m->x + 3 * (size_t)corner[0], *b = m->x + 3 * (size_t)corner[1],
                 *c = m->x + 3 * (size_t)corner[2];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        normal[i] = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
    }
    return sqrt(dot(normal, normal));
}

double registered_log_area(const mesh *surface, const mesh *sphere, const locator *near, const double x[3])
{
    const double radius = sqrt(dot(sphere->x, sphere->x));
    double q[3] = { radius * x[0], radius * x[1], radius * x[2] }, normal[3] = { 0 }, other[3], t = radius;
    surface_point at = { .face = SIZE_MAX };
    /* The face on the ray: where the ray meets the plane of the closest one, the closest is looked for again. */
    for (int round = 0; round < ROUNDS; round++) {
        const size_t before = at.face;
        locator_nearest(near, q, &at);
        if (at.face == before)
            break;
        face_normal(sphere, at.face, normal);
        t = dot(normal, sphere->x + 3 * (size_t)sphere->face[3 * at.face]) / dot(normal, x);
        for (int i = 0; i < 3; i++)
            q[i] = t * x[i];
    }
    /* the length of the normal, twice the area of the sphere's face, stands in both ratios and cancels */
    return log(fabs(dot(normal, x)) / (t * t * face_normal(surface, at.face, other)));
}
