/* device_make.h - points of a term, one thread for each (point, factor): data rows, uniform points, draws of the
 * proposal. */
#ifndef NPMD_DEVICE_MAKE_H
#define NPMD_DEVICE_MAKE_H

#include "device_view.h"

/* ---- make -------------------------------------------------------------------------------------------------------- */

SHARED_INLINE rng_key source_key(const device_source *s, uint32_t purpose, int64_t step)
{
    rng_key key;
    key.seed[0] = s->seed[0];
    key.seed[1] = s->seed[1];
    key.step = (uint32_t)step;
    key.purpose = purpose;
    return key;
}

SHARED_INLINE size_t source_row(const device_source *s, int64_t step, size_t i)
{
    const size_t at = s->first + (size_t)(step % s->steps_an_epoch) * s->batch + i;
    return s->shuffled ? (size_t)philox_permute(source_key(s, s->purpose, step / s->steps_an_epoch), at, s->n) : at;
}

/* Weight of a data row over count. */
SHARED_INLINE double source_row_weight(const device_source *s, size_t row)
{
    return (s->weight == NULL ? 1.0 : s->weight[row]) * (1.0 / (double)s->count);
}

/* Coordinate d of the point of the unit cube behind index i. */
SHARED_INLINE double source_coordinate(const encoder_view *v, const device_source *s, rng_key key,
                                       const uint32_t *scramble, size_t i, int d)
{
    if (!s->quasi)
        return philox_uniform(key, i, (uint32_t)d);
    const uint32_t *direction = v->sobol + 32 * d, index = (uint32_t)i;
    uint32_t x = 0;
    for (int k = 0; k < 32 && index >> k != 0; k++)
        x ^= direction[k] & (0u - (index >> k & 1u));
    return sobol_unit(x, scramble[d]);
}

/* A point of factor d as a unit vector: from its columns x to e (3, or 2 on a circle). */
SHARED_INLINE void embed_factor(const encoder_view *v, int d, const double *x, double *e)
{
    if (v->kind[d] == DEVICE_CIRCLE)
        sincos(x[0], &e[1], &e[0]);
    else if (v->kind[d] == DEVICE_SURFACE)
        surface_map_embed(&v->surface[d].map, x, e);
    else
        for (int c = 0; c < 3; c++)
            e[c] = x[c];
}

/* The image of u: a uniform point of factor d, or a draw about a centre. */
SHARED_INLINE void draw_factor(const encoder_view *v, int d, const double *centre, double rho, const double *u,
                               double *x)
{
    const surface_map *map = &v->surface[d].map;
    if (v->kind[d] == DEVICE_CIRCLE && centre == NULL)
        circle_uniform(u, x);
    else if (v->kind[d] == DEVICE_CIRCLE)
        circle_cauchy(centre, rho, u, x);
    else if (v->kind[d] == DEVICE_SPHERE && centre == NULL)
        sphere_uniform(u, x);
    else if (v->kind[d] == DEVICE_SPHERE)
        sphere_cauchy(centre, rho, u, x);
    else if (centre == NULL)
        surface_map_from(map, u, x);
    else
        surface_map_cauchy(map, centre, rho, u, x);
}

/* Factor d of point i: its columns, to x. For importance points also its unit vector, to e, as pairs of floats whose
 * sum has twice a float's digits. Factor 0 writes *weight, unless these are importance points. */
SHARED_INLINE void make_factor(const encoder_view *v, const device_source *s, int64_t step, const uint32_t *scramble,
                               size_t i, int d, double *x, wave *e, float *weight)
{
    const int columns = v->kind[d] == DEVICE_CIRCLE ? 1 : 3, dimension = v->kind[d] == DEVICE_CIRCLE ? 1 : 2;
    const int importance = s->kind == DEVICE_IMPORTANCE;
    const double average = 1.0 / (double)s->count;
    double share_of = average, u[2] = { 0.0, 0.0 };
    if (s->kind == DEVICE_FIXED || s->kind == DEVICE_DATA) {
        const size_t row = s->kind == DEVICE_FIXED ? i : source_row(s, step, i);
        const double *from = s->x + row * (size_t)v->columns + v->column[d];
        for (int c = 0; c < columns; c++)
            x[c] = from[c];
        if (s->kind == DEVICE_DATA)
            share_of = source_row_weight(s, row);
        else if (s->weight != NULL)
            share_of = s->weight[row];
    } else {
        const rng_key key = source_key(s, s->purpose, step);
        const double *centre = NULL;
        for (int t = 0; t < dimension; t++)
            u[t] = source_coordinate(v, s, key, scramble, i, v->direction[d] + t + importance);
        if (importance) { /* the first coordinate chooses the uniform share or a centre */
            const double first = source_coordinate(v, s, key, scramble, i, 0),
                         at = (first - s->share) / (1.0 - s->share) * s->centres;
            const int c = at < s->centres - 1 ? (int)at : s->centres - 1;
            if (!(first < s->share))
                centre = s->centre + (size_t)c * (size_t)v->columns + v->column[d];
        }
        draw_factor(v, d, centre, s->rho, u, x);
    }
    if (importance) {
        double unit[3];
        embed_factor(v, d, x, unit);
        for (int c = 0; c <= dimension; c++) {
            e[c].c = (float)unit[c];
            e[c].s = (float)(unit[c] - (double)e[c].c);
        }
    } else if (d == 0) {
        *weight = (float)share_of;
    }
}

/* ---- the proposal's centres and density -------------------------------------------------------------------------- */

/* The row at the share u of the total weight, as points_pick of proposal.c. */
SHARED_INLINE size_t source_pick(const device_source *s, double u)
{
    if (s->cumulative == NULL) {
        const size_t row = (size_t)(u * (double)s->n);
        return row < s->n ? row : s->n - 1;
    }
    size_t low = 0, high = (s->n - 1) / s->cumulative_stride, last = 0;
    const double target = u * s->cumulative[high];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->cumulative[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    double sum = low == 0 ? 0.0 : s->cumulative[low - 1];
    const size_t end = (low + 1) * s->cumulative_stride;
    for (size_t i = low * s->cumulative_stride; i < s->n && i < end && sum < target; i++) {
        const double weight = s->weight[i];
        sum += weight;
        last = weight > 0.0 ? i : last;
    }
    return last;
}

/* Centre c of the step: its columns, and its unit vectors as float pairs, coordinate j at (j, c). */
SHARED_INLINE void aim_centre(const encoder_view *v, const device_source *s, int64_t step, int c)
{
    const rng_key key = source_key(s, s->centre_purpose, step);
    const double u = ((double)c + philox_uniform(key, (uint64_t)c, 0)) / (double)s->centres;
    const double *from = s->x + source_pick(s, u) * (size_t)v->columns;
    wave *pairs = (wave *)s->embedded;
    for (int d = 0; d < v->factors; d++) {
        double unit[3];
        embed_factor(v, d, from + v->column[d], unit);
        for (int j = 0; j < (v->kind[d] == DEVICE_CIRCLE ? 2 : 3); j++) {
            wave *to = pairs + (size_t)(v->embedded[d] + j) * (size_t)s->centres + (size_t)c;
            to->c = (float)unit[j];
            to->s = (float)(unit[j] - (double)to->c);
        }
    }
    for (int j = 0; j < v->columns; j++)
        s->centre[(size_t)c * (size_t)v->columns + (size_t)j] = from[j];
}

/* Adds kernel c at each of four points, e (embedding) pairs each, to sum. With 1 - cos = |e - c|^2 / 2 the
 * denominator is (a - b) + b (1 - cos): all terms are positive, and floats keep their digits near a centre.
 * */
SHARED_INLINE void cauchy_add(const encoder_view *v, const device_source *s, float near, float slope, int c,
                              const wave *const e[4], float sum[4])
{
    const wave *pairs = (const wave *)s->embedded + c;
    float inverse[4] = { 1.0f, 1.0f, 1.0f, 1.0f };
    for (int d = 0, at = 0; d < v->factors; d++) {
        float square[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
        const int circle = v->kind[d] == DEVICE_CIRCLE;
        for (int end = at + (circle ? 2 : 3); at < end; at++) {
            const wave centre = pairs[(size_t)at * (size_t)s->centres];
            for (int q = 0; q < 4; q++) {
                const wave point = e[q][at];
                const float apart = (point.c - centre.c) + (point.s - centre.s);
                square[q] += apart * apart;
            }
        }
        for (int q = 0; q < 4; q++) {
            const float below = near + slope * square[q];
            inverse[q] *= circle ? below : below * below;
        }
    }
    for (int q = 0; q < 4; q++)
        sum[q] += 1.0f / inverse[q];
}

SHARED_INLINE float importance_weight(const device_source *s, float sum)
{
    return (float)(1.0 / (double)s->count / (s->share + (1.0 - s->share) * ((double)sum / (double)s->centres)));
}

#endif
