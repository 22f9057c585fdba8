/* line.h - second-order dual numbers: f(t) = value + slope t + bend t^2 / 2 + ... along a straight line.
 *
 * Arithmetic propagates the value and the first and second derivative in t exactly, up to rounding, without a step
 * size. Directions are taken one at a time; a Laplacian is a sum of bends. */
#ifndef NPMD_TEST_LINE_H
#define NPMD_TEST_LINE_H

#include <math.h>

typedef struct line {
    double value, slope, bend;
} line;

static inline line line_constant(double c)
{
    return (line){ c, 0.0, 0.0 };
}

static inline line line_moving(double at, double velocity)
{
    return (line){ at, velocity, 0.0 };
}

static inline line line_add(line a, line b)
{
    return (line){ a.value + b.value, a.slope + b.slope, a.bend + b.bend };
}

static inline line line_scale(double c, line a)
{
    return (line){ c * a.value, c * a.slope, c * a.bend };
}

static inline line line_times(line a, line b)
{
    return (line){ a.value * b.value, a.slope * b.value + a.value * b.slope,
                   a.bend * b.value + 2.0 * a.slope * b.slope + a.value * b.bend };
}

/* f(a) from f, f', f'' at a's value. */
static inline line line_chain(line a, double f, double f1, double f2)
{
    return (line){ f, f1 * a.slope, f1 * a.bend + f2 * a.slope * a.slope };
}

static inline line line_sin(line a)
{
    return line_chain(a, sin(a.value), cos(a.value), -sin(a.value));
}

static inline line line_cos(line a)
{
    return line_chain(a, cos(a.value), -sin(a.value), -cos(a.value));
}

static inline line line_power(line a, int n)
{
    line p = line_constant(1.0);
    while (n-- > 0)
        p = line_times(p, a);
    return p;
}

#endif
