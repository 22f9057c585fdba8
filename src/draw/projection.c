/* projection.c - the sphere on paper: Mollweide's equal-area ellipse, and the orthographic view. */
#include "draw.h"

/* The auxiliary angle of Mollweide: 2 theta + sin 2 theta = pi sin(latitude). With a = 2 theta the left side is convex
 * or concave between 0 and pi, so Newton's steps from the outside converge; near a pole, where the slope 1 + cos a
 * vanishes, a = pi - d has d - sin d = pi (1 - sin latitude), d about cbrt(6 (..)), from which it starts. */
static double mollweide_angle(double sine)
{
    const double s = fabs(sine), missing = NPMD_PI * (1.0 - s);
    double d = fmin(cbrt(6.0 * missing), NPMD_PI);
    for (int step = 0; step < 60; step++) {
        const double slope = 1.0 - cos(d);
        if (slope < 1e-300)
            break;
        const double change = (d - sin(d) - missing) / slope;
        d = fmin(fmax(d - change, 0.0), NPMD_PI);
        if (fabs(change) < 1e-15 * (1.0 + d))
            break;
    }
    return copysign(0.5 * (NPMD_PI - d), sine);
}

spot mollweide_forward(const double p[3], double longitude)
{
    const double theta = mollweide_angle(p[2]);
    const double east = remainder(atan2(p[1], p[0]) - longitude, TWO_PI);
    return (spot){ 2.0 / NPMD_PI * east * cos(theta), sin(theta) };
}

bool mollweide_inverse(double x, double y, double longitude, double p[3])
{
    if (!(x * x / 4.0 + y * y <= 1.0))
        return false;
    const double theta = asin(y), cosine = cos(theta);
    const double z = (2.0 * theta + sin(2.0 * theta)) / NPMD_PI, rho = sqrt(fmax(1.0 - z * z, 0.0));
    const double east = cosine > 0.0 ? NPMD_PI * x / (2.0 * cosine) : 0.0;
    p[0] = rho * cos(longitude + east);
    p[1] = rho * sin(longitude + east);
    p[2] = z;
    return true;
}

/* Right and up of a viewer who looks from `towards` at the centre; at a pole, right is the direction of 90 degrees
 * east. */
static void view_frame(const double towards[3], double right[3], double up[3])
{
    const double rho = hypot(towards[0], towards[1]);
    right[0] = rho > 1e-12 ? -towards[1] / rho : 0.0;
    right[1] = rho > 1e-12 ? towards[0] / rho : 1.0;
    right[2] = 0.0;
    cross3(towards, right, up);
}

bool orthographic_forward(const double p[3], const double towards[3], spot *out)
{
    double right[3], up[3];
    view_frame(towards, right, up);
    *out = (spot){ dot3(p, right), dot3(p, up) };
    return dot3(p, towards) >= 0.0;
}

bool orthographic_inverse(double x, double y, const double towards[3], double p[3])
{
    double right[3], up[3];
    const double depth2 = 1.0 - x * x - y * y;
    if (!(depth2 >= 0.0))
        return false;
    view_frame(towards, right, up);
    for (int k = 0; k < 3; k++)
        p[k] = x * right[k] + y * up[k] + sqrt(depth2) * towards[k];
    return true;
}
