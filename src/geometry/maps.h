/* maps.h - points of the factors as pure functions, for the processor and for a device alike: uniform points,
 * the images of uniform points under the Cauchy kernels, tangent frames.
 *
 * circle.c and sphere.c put them into the manifolds' tables. */
#ifndef NPMD_MAPS_H
#define NPMD_MAPS_H

#include "numbers.h"

#include <math.h>

/* ---- the circle ---------------------------------------------------------------------------------------- */

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

/* ---- the sphere ---------------------------------------------------------------------------------------- */

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

#endif
