/* device_table.h - the factors' eigenfunctions at the points of a group, computed in double, stored in a table of
 * floats. */
#ifndef NPMD_DEVICE_TABLE_H
#define NPMD_DEVICE_TABLE_H

#include "device_view.h"

/* ---- table ------------------------------------------------------------------------------------------------------- */

/* CIRCLE_UNIT frequencies from CIRCLE_UNIT unit + 1 on, by the angle-sum recurrence; unit 0 also has the constant. */
SHARED_INLINE void table_circle(const encoder_view *v, int d, int unit, double angle, int jets, float *table)
{
    const int *slot = v->slot + v->slots[d], first = CIRCLE_UNIT * unit + 1, slope = v->slope[d];
    const int end = first + CIRCLE_UNIT <= v->frequency[d] ? first + CIRCLE_UNIT : v->frequency[d] + 1;
    const double c0 = v->waves ? 1.0 : 0.39894228040143267794, /* 1 / sqrt(2 pi) */
        c1 = v->waves ? 1.0 : 0.56418958354775628695;          /* 1 / sqrt(pi) */
    double c, s, turn_c, turn_s;
    if (unit == 0 && slot[0] >= 0) {
        table[slot[0]] = (float)c0;
        if (v->waves)
            table[slot[0] + 1] = 0.0f;
        else if (jets)
            table[slot[0] + slope] = 0.0f;
    }
    if (first >= end)
        return;
    sincos(angle, &turn_s, &turn_c);
    sincos(first * angle, &s, &c);
    for (int k = first; k < end; k++) {
        if (v->waves) {
            const wave both = { (float)c, (float)s };
            if (slot[k] >= 0)
                *(wave *)(table + slot[k]) = both;
        } else {
            const int cosine = slot[2 * k - 1], sine = slot[2 * k];
            if (cosine >= 0) {
                table[cosine] = (float)(c1 * c);
                if (jets)
                    table[cosine + slope] = (float)(-k * c1 * s);
            }
            if (sine >= 0) {
                table[sine] = (float)(c1 * s);
                if (jets)
                    table[sine + slope] = (float)(k * c1 * c);
            }
        }
        const double turned = c * turn_c - s * turn_s;
        s = s * turn_c + c * turn_s;
        c = turned;
    }
}

/* The frame's derivatives of a function with this gradient in R^3. */
SHARED_INLINE void table_slopes(const double frame[6], double x, double y, double z, float *first, int used)
{
    first[0] = (float)(frame[0] * x + frame[1] * y + frame[2] * z);
    first[used] = (float)(frame[3] * x + frame[4] * y + frame[5] * z);
}

/* All degrees of order a, as sphere_jets, together with order a + 1, which the derivatives need. */
SHARED_INLINE void table_sphere(const encoder_view *v, int d, int a, const double *x, int jets, float *table)
{
    const int L = v->frequency[d], row = v->degree + 1, *slot = v->slot + v->slots[d], slope = v->slope[d],
              used = v->used[d];
    const legendre_step *here = v->legendre + a * row, *above = here + row;
    const double sign = (a % 2 ? -1.0 : 1.0) * (a > 0 ? 1.41421356237309504880 : 1.0), z = x[2];
    double re = 1.0, im = 0.0, re_1 = 0.0, im_1 = 0.0, frame[6]; /* (x + i y)^a, and the power below */
    for (int i = 0; i < a; i++) {
        re_1 = re;
        im_1 = im;
        re = re_1 * x[0] - im_1 * x[1];
        im = re_1 * x[1] + im_1 * x[0];
    }
    if (jets)
        sphere_frame(x, frame);
    double p = sign * v->diagonal[a], p_1 = 0.0, q = 0.0, q_1 = 0.0; /* order a and a + 1, degrees l and l - 1 */
    for (int l = a; l <= L; l++) {
        if (l > a) {
            const double p_l = here[l].c * (z * p) - here[l].above * p_1;
            p_1 = p;
            p = p_l;
        }
        if (jets && l > a) {
            const double q_l = l == a + 1 ? sign * v->diagonal[a + 1] : above[l].c * (z * q) - above[l].above * q_1;
            q_1 = q;
            q = q_l;
        }
        const int cosine = slot[l * l + l + a], sine = a == 0 ? -1 : slot[l * l + l - a];
        const double aq = a * p, dq = jets ? here[l].next * q : 0.0;
        if (cosine >= 0) {
            table[cosine] = (float)(p * re);
            if (jets)
                table_slopes(frame, aq * re_1, -aq * im_1, dq * re, table + cosine + slope, used);
        }
        if (sine >= 0) {
            table[sine] = (float)(p * im);
            if (jets)
                table_slopes(frame, aq * im_1, aq * re_1, dq * im, table + sine + slope, used);
        }
    }
}

/* One thread's share of the m points' tables, for factors that are circles and spheres; x (m, columns). Neighbouring
 * threads take neighbouring points and the same unit, so that their branches agree. */
SHARED_INLINE void fill_tables(const encoder_view *v, int thread, int threads, int m, const double *x, int jets,
                               float *table)
{
    const int units = v->unit[v->factors], stride = v->stride[jets];
    for (int task = thread; task < units * m; task += threads) {
        const int u = task / m, i = task - u * m;
        int d = 0;
        while (u >= v->unit[d + 1])
            d++;
        const double *at = x + i * v->columns + v->column[d];
        if (v->kind[d] == DEVICE_CIRCLE)
            table_circle(v, d, u - v->unit[d], *at, jets, table + i * stride);
        else
            table_sphere(v, d, u - v->unit[d], at, jets, table + i * stride);
    }
}

/* One part (value or a derivative) of the functions with a place: out[j] = sum_c N_c phi_c[j]. corners is a constant
 * for the compiler. */
SHARED_INLINE void table_elements(const device_surface *s, int corners, const double *x, int part, int lane, float *out)
{
    const size_t face = (size_t)x[0];
    const float *phi[SURFACE_CORNERS];
    double N[SURFACE_CORNERS];
    surface_shape(s->metric + 3 * face, corners, x[1], x[2], part, N);
    for (int c = 0; c < corners; c++)
        phi[c] = s->phi + (size_t)s->node[face * (size_t)corners + (size_t)c] * (size_t)s->functions;
    for (int j = lane; j < s->functions; j += WARP_THREADS) {
        double sum = 0.0;
        for (int c = 0; c < corners; c++)
            sum += N[c] * (double)phi[c][j];
        out[j] = (float)sum;
    }
}

/* Factor d of the m points, a surface: one warp for each part of a point; neighbouring threads take neighbouring
 * functions, which lie side by side in memory. */
SHARED_INLINE void table_surface(const encoder_view *v, int d, int thread, int threads, int m, const double *x,
                                 int jets, float *table)
{
    const device_surface *s = &v->surface[d];
    const int lane = thread % WARP_THREADS, warps = threads / WARP_THREADS, parts = jets ? 3 : 1;
    for (int task = thread / WARP_THREADS; task < m * parts; task += warps) {
        const int i = task / parts, part = task - i * parts; /* parts of a point read the same rows */
        const double *at = x + i * v->columns + v->column[d];
        float *out = table + (size_t)i * (size_t)v->stride[jets] + v->first[d];
        if (part > 0)
            out += v->slope[d] + (part - 1) * v->used[d];
        if (s->corners == 3)
            table_elements(s, 3, at, part, lane, out);
        else
            table_elements(s, 6, at, part, lane, out);
    }
}

/* One thread's share of the tables of all surfaces. */
SHARED_INLINE void fill_surfaces(const encoder_view *v, int thread, int threads, int m, const double *x, int jets,
                                 float *table)
{
    for (int d = 0; d < v->factors; d++)
        if (v->kind[d] == DEVICE_SURFACE)
            table_surface(v, d, thread, threads, m, x, jets, table);
}

#endif
