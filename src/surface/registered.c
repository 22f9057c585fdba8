/* registered.c - a surface and the sphere that it is registered to, with the same vertices and faces.
 *
 * A point of a face goes to the point of the sphere's face with the same barycentric coordinates, q, and from there
 * along its ray to x = q / |q| on the unit sphere. The first map scales area by the ratio of the two faces; the second,
 * with n the normal of the sphere's face, takes the area dA about q to (n . x) / |q|^2 dA. */
#include "surface.h"

/* FreeSurfer's spheres have one radius to single precision; those that other tools resampled stay within this. A
 * brain's own surface, taken for a sphere by mistake, is off by tens of percent. */
#define RADIUS_TOLERANCE 0.01

enum { ROUNDS = 16 };
#define OUTSIDE 1e-9 /* of a face: rounding of a barycentric coordinate */

static npmd_status sphere_check(const mesh *m, const char *name, npmd_error *err)
{
    const double first = hypot(hypot(m->x[0], m->x[1]), m->x[2]);
    for (size_t i = 0; i < m->vertices; i++) {
        const double *x = m->x + 3 * i, r = hypot(hypot(x[0], x[1]), x[2]);
        if (!(r > 0.0) || !(fabs(r - first) <= RADIUS_TOLERANCE * first))
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s is no sphere about the origin: vertex 0 lies %g from it, vertex %zu %g", name, first,
                             i, r);
    }
    return NPMD_OK;
}

npmd_status sphere_radii_check(const mesh *m, npmd_error *err)
{
    double least = INFINITY, most = 0.0;
    for (size_t i = 0; i < m->vertices; i++) {
        const double r = sqrt(dot3(m->x + 3 * i, m->x + 3 * i));
        least = fmin(least, r);
        most = fmax(most, r);
    }
    if (least > 0.0 && most <= (1.0 + RADIUS_TOLERANCE) * least)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "the vertices of the sphere are %.6g to %.6g away from the origin, expected the same "
                     "distance to 1 %%: is it a registered sphere?",
                     least, most);
}

npmd_status registered_check(const mesh *surface, const char *surface_name, const mesh *sphere, const char *sphere_name,
                             npmd_error *err)
{
    if (sphere->vertices != surface->vertices || sphere->faces != surface->faces)
        return npmd_fail(err, NPMD_ERR_SHAPE,
                         "%s has %zu vertices and %zu faces, but %s has %zu and %zu: they are not registered",
                         sphere_name, sphere->vertices, sphere->faces, surface_name, surface->vertices, surface->faces);
    for (size_t i = 0; i < 3 * surface->faces; i++)
        if (sphere->face[i] != surface->face[i])
            return npmd_fail(err, NPMD_ERR_SHAPE, "face %zu of %s is another one in %s: they are not registered", i / 3,
                             surface_name, sphere_name);
    return sphere_check(sphere, sphere_name, err);
}

/* normal = (b - a) x (c - a): twice the face's area is its length, which is returned. */
static double face_normal(const mesh *m, size_t face, double normal[3])
{
    const int32_t *corner = m->face + 3 * face;
    const double *a = m->x + 3 * (size_t)corner[0], *b = m->x + 3 * (size_t)corner[1],
                 *c = m->x + 3 * (size_t)corner[2];
    double ab[3], ac[3];
    minus3(b, a, ab);
    minus3(c, a, ac);
    cross3(ab, ac, normal);
    return sqrt(dot3(normal, normal));
}

/* Where the ray along x meets the plane of a face, t x, and whether within it: the signs of the three triple
 * products. */
static bool face_on_ray(const mesh *sphere, size_t face, const double x[3], double normal[3], double *t)
{
    const int32_t *corner = sphere->face + 3 * face;
    double volume[3], sum = 0.0, least = INFINITY;
    const double length = face_normal(sphere, face, normal), ahead = dot3(normal, x);
    *t = dot3(normal, sphere->x + 3 * (size_t)corner[0]) / ahead;
    for (int k = 0; k < 3; k++) {
        const double *a = sphere->x + 3 * (size_t)corner[k], *b = sphere->x + 3 * (size_t)corner[(k + 1) % 3];
        volume[k] = x[0] * (a[1] * b[2] - a[2] * b[1]) + x[1] * (a[2] * b[0] - a[0] * b[2])
                    + x[2] * (a[0] * b[1] - a[1] * b[0]);
        sum += volume[k];
    }
    for (int k = 0; k < 3; k++)
        least = fmin(least, volume[k] / sum);
    return length > 0.0 && *t > 0.0 && isfinite(*t) && least >= -OUTSIDE;
}

double registered_log_area(const mesh *surface, const mesh *sphere, const locator *near, const double x[3])
{
    const double radius = sqrt(dot3(sphere->x, sphere->x));
    double q[3], normal[3], other[3], t = radius;
    surface_point at = { 0 };
    bool found = false;
    /* The face on the ray is the closest one, or nearly: where the ray meets its plane the closest is looked for
     * again. */
    for (int round = 0; round < ROUNDS && !found && t > 0.0 && isfinite(t); round++) {
        for (int i = 0; i < 3; i++)
            q[i] = t * x[i];
        locator_nearest(near, q, &at);
        found = face_on_ray(sphere, at.face, x, normal, &t);
    }
    for (size_t face = 0; !found && face < sphere->faces; face++) { /* of a very coarse or folded sphere */
        found = face_on_ray(sphere, face, x, normal, &t);
        at.face = face;
    }
    if (!found)
        return NAN;
    /* the length of the normal, twice the area of the sphere's face, stands in both ratios and cancels */
    return log(fabs(dot3(normal, x)) / (t * t * face_normal(surface, at.face, other)));
}
