/* maps.h - points of the factors as pure functions, for the processor and for devices alike: uniform points, the images
 * of uniform points under the Cauchy kernels, tangent frames, the shape functions of finite elements.
 *
 * circle.c, sphere.c and surface_factor.c put them into the manifolds' tables. */
#ifndef NPMD_MAPS_H
#define NPMD_MAPS_H

#include "numbers.h"

#include <math.h>
#include <stddef.h>

/* ---- the circle -------------------------------------------------------------------------------------------------- */

SHARED_INLINE double circle_wrap(double x) /* into [0, 2 pi); x is finite */
{
    if (x >= 0.0 && x < TWO_PI)
        return x;
    double angle = fmod(x, TWO_PI);
    if (angle < 0.0)
        angle += TWO_PI;
    return angle < TWO_PI ? angle : 0.0; /* a tiny negative angle rounds up to 2 pi */
}

SHARED_INLINE void circle_uniform(const double *u, double *x)
{
    *x = TWO_PI * *u;
}

/* Wrapped Cauchy about x: the Moebius map of the disc that takes 0 to rho e^{ix} moves angle a to
 * x + 2 atan((1 - rho)/(1 + rho) tan(a/2)). */
SHARED_INLINE void circle_cauchy(const double *x, double rho, const double *u, double *y)
{
    *y = circle_wrap(*x + 2.0 * atan((1.0 - rho) / (1.0 + rho) * tan(NPMD_PI * (*u - 0.5))));
}

/* ---- the sphere -------------------------------------------------------------------------------------------------- */

/* Archimedes: z is uniform in [-1, 1], the longitude uniform and independent of it. */
SHARED_INLINE void sphere_uniform(const double *u, double *x)
{
    const double z = 2.0 * u[0] - 1.0, r = 2.0 * sqrt(u[0] * (1.0 - u[0])), angle = TWO_PI * u[1];
    x[0] = r * cos(angle);
    x[1] = r * sin(angle);
    x[2] = z;
}

/* Two unit vectors orthogonal to x and to each other, without a branch near the poles (Duff et al., JCGT
 * 2017). */
SHARED_INLINE void sphere_frame(const double *x, double *frame)
{
    const double sign = copysign(1.0, x[2]), a = -1.0 / (sign + x[2]), b = x[0] * x[1] * a;
    frame[0] = 1.0 + sign * x[0] * x[0] * a;
    frame[1] = sign * b;
    frame[2] = -sign * x[0];
    frame[3] = b;
    frame[4] = sign + x[1] * x[1] * a;
    frame[5] = -x[1];
}

/* Spherical Cauchy about x (Kato and McCullagh 2020): by the same Moebius map as on the circle, the height
 * h = 2 u - 1 of a uniform point about the axis x moves to ((1 + r^2) h + 2 r)/(1 + r^2 + 2 r h). */
SHARED_INLINE void sphere_cauchy(const double *x, double rho, const double *u, double *y)
{
    const double h = 2.0 * u[0] - 1.0, r2 = 1.0 + rho * rho;
    const double cosine = fmin(1.0, fmax(-1.0, (r2 * h + 2.0 * rho) / (r2 + 2.0 * rho * h)));
    const double sine = sqrt((1.0 - cosine) * (1.0 + cosine)), angle = TWO_PI * u[1];
    double frame[6];
    sphere_frame(x, frame);
    for (int i = 0; i < 3; i++)
        y[i] = cosine * x[i] + sine * (cos(angle) * frame[i] + sin(angle) * frame[3 + i]);
    const double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]); /* 1 but for rounding */
    for (int i = 0; i < 3; i++)
        y[i] /= length;
}

/* The inverse of sphere_uniform. */
SHARED_INLINE void sphere_square(const double *e, double *square)
{
    const double turn = atan2(e[1], e[0]) / TWO_PI;
    square[0] = fmin(1.0, fmax(0.0, 0.5 * (e[2] + 1.0)));
    square[1] = turn < 0.0 ? fmin(1.0, turn + 1.0) : turn;
}

/* ---- a triangulated surface: points (face, u, v) ----------------------------------------------------------------- */

/* A bijection of the surface and the unit square that preserves area up to a factor; surface_map.c makes it. The square
 * is also the sphere, by Archimedes: ((z + 1) / 2, longitude / 2 pi). Each face has its own rectangle, a leaf of a tree
 * of rectangles. */
typedef struct surface_map {
    size_t faces;
    double (*corner)[4]; /* (faces): low and high of the first coordinate, then of the second */
    int32_t *order;      /* (faces): the faces in the order of the leaves */
    /* (faces): the node with leaves low .. high - 1 has its entry at (low + high) / 2: axis is the coordinate that it
     * splits, split the place */
    double *split;
    unsigned char *axis;
} surface_map;

/* The place of a coordinate between low and high, in [0, 1]. */
SHARED_INLINE double surface_between(double low, double high, double at)
{
    return high > low ? fmin(1.0, fmax(0.0, (at - low) / (high - low))) : 0.0;
}

SHARED_INLINE void surface_map_to(const surface_map *map, const double *x, double *square)
{
    const double *corner = map->corner[(size_t)x[0]], root = x[1] + x[2];
    const double s = fmin(1.0, root * root), t = root > 0.0 ? x[2] / root : 0.0;
    square[0] = corner[0] + s * (corner[1] - corner[0]);
    square[1] = corner[2] + t * (corner[3] - corner[2]);
}

/* The face is found by comparisons alone: equal places in the square give equal faces on every machine. */
SHARED_INLINE void surface_map_from(const surface_map *map, const double *square, double *x)
{
    size_t low = 0, high = map->faces;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if ((map->axis[middle] ? square[1] : square[0]) < map->split[middle])
            high = middle;
        else
            low = middle;
    }
    const int32_t face = map->order[low];
    const double *corner = map->corner[face], root = sqrt(surface_between(corner[0], corner[1], square[0])),
                 t = surface_between(corner[2], corner[3], square[1]);
    x[0] = (double)face;
    x[1] = root * (1.0 - t);
    x[2] = root * t;
}

SHARED_INLINE void surface_map_embed(const surface_map *map, const double *x, double *e)
{
    double square[2];
    surface_map_to(map, x, square);
    sphere_uniform(square, e);
}

/* The sphere's Cauchy kernel, carried over by the map. */
SHARED_INLINE void surface_map_cauchy(const surface_map *map, const double *x, double rho, const double *u, double *y)
{
    double centre[3], e[3], square[2];
    surface_map_embed(map, x, centre);
    sphere_cauchy(centre, rho, u, e);
    sphere_square(e, square);
    surface_map_from(map, square, y);
}

#define SURFACE_CORNERS 6 /* most nodes of an element */

/* Shape functions N of an element with 3 or 6 nodes at (u, v), part 0, or their derivatives along the first or second
 * vector of the face's frame, part 1 and 2: N (corners). metric: derivatives of u along both vectors, of v along the
 * second. See surface_factor.c for N. */
SHARED_INLINE void surface_shape(const double *metric, int corners, double u, double v, int part, double *N)
{
    const double L[3] = { 1.0 - u - v, u, v }, du = part == 1 ? metric[0] : metric[1], dv = part == 1 ? 0.0 : metric[2],
                 d[3] = { -du - dv, du, dv };
    for (int c = 0; c < 3; c++) {
        const int next = c == 2 ? 0 : c + 1;
        if (corners == 3) {
            N[c] = part == 0 ? L[c] : d[c];
        } else if (part == 0) {
            N[c] = L[c] * (2.0 * L[c] - 1.0);
            N[3 + c] = 4.0 * L[c] * L[next];
        } else {
            N[c] = d[c] * (4.0 * L[c] - 1.0);
            N[3 + c] = 4.0 * (d[c] * L[next] + L[c] * d[next]);
        }
    }
}

#endif
