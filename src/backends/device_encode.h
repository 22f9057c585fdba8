/* device_encode.h - features from the tables of a group, one thread for each feature: products over the factors, plane
 * waves, rotated blocks, or the point's columns. device_view.h describes all phases. */
#ifndef NPMD_DEVICE_ENCODE_H
#define NPMD_DEVICE_ENCODE_H

#include "device_make.h"
#include "device_table.h"

/* ---- encode ------------------------------------------------------------------------------------------------------ */

/* To the nearest number with 10 mantissa bits, ties away from zero: the part of a float that the tensor units read. */
SHARED_INLINE float round_feature(float x, int tf32)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = tf32 ? (bits + 0x1000u) & 0xFFFFE000u : bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Threads form rows of `across` neighbouring columns, as many rows as fit. */
SHARED_INLINE int threads_across(int columns, int threads)
{
    return columns < threads ? columns : threads;
}

/* Products over up to DEVICE_REGISTERS factors; eta: the rows of the group's first point. */
SHARED_INLINE void encode_products(const encoder_view *v, int thread, int threads, int m, int jets, const float *table,
                                   float *eta)
{
    const int ld = v->ld, K = v->features, D = v->factors, T = jets ? v->dimension : 0, stride = v->stride[jets],
              tf32 = v->round_tf32, across = threads_across(ld, threads), rows = threads / across;
    const size_t a_point = (size_t)(jets ? T + 2 : 1) * (size_t)ld;
    if (thread >= rows * across)
        return;
    for (int k = thread % across; k < ld; k += across) {
        int place[DEVICE_REGISTERS];
        float scale = 0.0f, minus_lambda = 0.0f;
        for (int d = 0; d < DEVICE_REGISTERS; d++)
            place[d] = k < K && d < D ? v->place[(size_t)d * (size_t)v->vectors + (size_t)k] : 0;
        if (k < K) {
            scale = v->scale[k];
            minus_lambda = v->minus_lambda[k];
        }
        for (int i = thread / across; i < m; i += rows) {
            const float *at = table + i * stride;
            float *out = eta + (size_t)i * a_point + (size_t)k, values[DEVICE_REGISTERS], product = scale;
            for (int d = 0; d < DEVICE_REGISTERS; d++) {
                values[d] = d < D ? at[place[d]] : 1.0f;
                product *= values[d];
            }
            out[0] = round_feature(product, tf32);
            for (int r = 1; r <= T; r++) {
                const int f = v->row_factor[r], shift = v->row_shift[r];
                float derivative = scale;
                for (int d = 0; d < DEVICE_REGISTERS; d++)
                    derivative *= d == f ? at[place[d] + shift] : values[d];
                out[(size_t)r * (size_t)ld] = round_feature(derivative, tf32);
            }
            if (jets)
                out[(size_t)(T + 1) * (size_t)ld] = round_feature(minus_lambda * product, tf32);
        }
    }
}

SHARED_INLINE void encode_padding(const encoder_view *v, int thread, int threads, int m, int jets, float *eta)
{
    const int ld = v->ld, K = v->features, padding = ld - K, rows = m * (jets ? v->dimension + 2 : 1);
    for (int task = thread; task < rows * padding; task += threads)
        eta[(size_t)(task / padding) * (size_t)ld + (size_t)(K + task % padding)] = 0.0f;
}

/* Turns a plane wave by a factor's cosine and sine, or back. */
SHARED_INLINE wave wave_turn(wave w, wave by, float sign)
{
    const float s = sign * by.s;
    const wave out = { w.c * by.c - w.s * s, w.s * by.c + w.c * s };
    return out;
}

/* The rows of plane wave j at one point, scaled; at is column j of the point's value. */
SHARED_INLINE void write_wave(const encoder_view *v, int j, int jets, wave w, float minus_lambda, float *at)
{
    const int V = v->vectors, tf32 = v->round_tf32, T = v->dimension, both = V + j < v->features;
    const size_t ld = (size_t)v->ld;
    at[0] = round_feature(w.c, tf32);
    if (both)
        at[V] = round_feature(w.s, tf32);
    for (int r = 1; jets && r <= T; r++) {
        const float f = v->wavenumber[(size_t)(r - 1) * (size_t)V + (size_t)j];
        at[(size_t)r * ld] = round_feature(-f * w.s, tf32);
        if (both)
            at[(size_t)r * ld + (size_t)V] = round_feature(f * w.c, tf32);
    }
    if (jets) {
        at[(size_t)(T + 1) * ld] = round_feature(minus_lambda * w.c, tf32);
        if (both)
            at[(size_t)(T + 1) * ld + (size_t)V] = round_feature(minus_lambda * w.s, tf32);
    }
}

/* Plane waves over up to DEVICE_REGISTERS factors; jets is a constant for the compiler. */
SHARED_INLINE void encode_waves(const encoder_view *v, int thread, int threads, int m, int jets, const float *table,
                                float *eta)
{
    const int V = v->vectors, D = v->factors, stride = v->stride[jets], across = threads_across(V, threads),
              rows = threads / across;
    const size_t a_point = (size_t)(jets ? v->dimension + 2 : 1) * (size_t)v->ld;
    encode_padding(v, thread, threads, m, jets, eta);
    if (thread >= rows * across)
        return;
    for (int j = thread % across; j < V; j += across) {
        const float minus_lambda = v->minus_lambda[j]; /* cosine and sine have one eigenvalue, one scale */
        const wave start = { v->scale[j], 0.0f };
        int place[DEVICE_REGISTERS];
        float sign[DEVICE_REGISTERS];
        for (int d = 0; d < DEVICE_REGISTERS; d++) {
            const int both = d < D ? v->place[(size_t)d * (size_t)V + (size_t)j] : 0;
            place[d] = both >> 1;
            sign[d] = both & 1 ? -1.0f : 1.0f;
        }
        for (int i = thread / across; i < m; i += rows) {
            const float *at = table + i * stride;
            wave w = start;
            for (int d = 0; d < DEVICE_REGISTERS; d++)
                if (d < D)
                    w = wave_turn(w, *(const wave *)(at + place[d]), sign[d]);
            write_wave(v, j, jets, w, minus_lambda, eta + (size_t)i * a_point + (size_t)j);
        }
    }
}

/* The same for any number of factors: places are loaded again for every point. */
SHARED_INLINE void encode_waves_many(const encoder_view *v, int thread, int threads, int m, int jets,
                                     const float *table, float *eta)
{
    const int V = v->vectors, across = threads_across(V, threads), rows = threads / across;
    const size_t a_point = (size_t)(jets ? v->dimension + 2 : 1) * (size_t)v->ld;
    encode_padding(v, thread, threads, m, jets, eta);
    if (thread >= rows * across)
        return;
    for (int j = thread % across; j < V; j += across)
        for (int i = thread / across; i < m; i += rows) {
            const float *at = table + (size_t)i * (size_t)v->stride[jets];
            wave w = { v->scale[j], 0.0f };
            for (int d = 0; d < v->factors; d++) {
                const int place = v->place[(size_t)d * (size_t)V + (size_t)j];
                w = wave_turn(w, *(const wave *)(at + (place >> 1)), place & 1 ? -1.0f : 1.0f);
            }
            write_wave(v, j, jets, w, v->minus_lambda[j], eta + (size_t)i * a_point + (size_t)j);
        }
}

/* The point's own columns, one thread for each (point, factor): their derivatives are the factor's frame along its own
 * directions, 0 along all others. x (m, columns). */
SHARED_INLINE void encode_columns(const encoder_view *v, int thread, int threads, int m, int jets, const double *x,
                                  float *eta)
{
    const int T = jets ? v->dimension : 0, tf32 = v->round_tf32;
    const size_t ld = (size_t)v->ld, a_point = (size_t)(jets ? T + 2 : 1) * ld;
    encode_padding(v, thread, threads, m, jets, eta);
    for (int task = thread; task < m * v->factors; task += threads) {
        const int i = task / v->factors, d = task - i * v->factors, circle = v->kind[d] == DEVICE_CIRCLE,
                  columns = circle ? 1 : 3, first = v->direction[d] + 1;
        const double *at = x + i * v->columns + v->column[d];
        float *out = eta + (size_t)i * a_point + (size_t)v->column[d];
        double frame[6] = { 1.0 };
        if (jets && !circle)
            sphere_frame(at, frame);
        for (int j = 0; j < columns; j++) {
            const float value = (float)at[j];
            out[j] = round_feature(value, tf32);
            for (int r = 1; r <= T; r++) {
                const int t = r - first, own = t >= 0 && t < (circle ? 1 : 2);
                out[(size_t)r * ld + (size_t)j] = own ? round_feature((float)frame[t * columns + j], tf32) : 0.0f;
            }
            if (jets)
                out[(size_t)(T + 1) * ld + (size_t)j] = round_feature(v->minus_lambda[v->column[d] + j] * value, tf32);
        }
    }
}

/* Sums over the functions of a feature's block of rotation x product, row by row; without a rotation, one product. A
 * few points at a time share the loads of rotation and places. */
SHARED_INLINE void encode_sums(const encoder_view *v, int thread, int threads, int m, int jets, const float *table,
                               float *eta)
{
    const int K = v->features, D = v->factors, T = jets ? v->dimension : 0, tf32 = v->round_tf32,
              across = threads_across(K, threads), rows = threads / across;
    const size_t stride = (size_t)v->stride[jets], ld = (size_t)v->ld, a_point = (size_t)(jets ? T + 2 : 1) * ld;
    encode_padding(v, thread, threads, m, jets, eta);
    if (thread >= rows * across)
        return;
    for (int k = thread % across; k < K; k += across) {
        const int functions = v->blocks > 0 ? v->functions[k] : 1;
        for (int i = thread / across * ROTATED_POINTS; i < m; i += rows * ROTATED_POINTS) {
            const float *at[ROTATED_POINTS];
            for (int q = 0; q < ROTATED_POINTS; q++) /* beyond the last point: the last again */
                at[q] = table + (size_t)(i + q < m ? i + q : m - 1) * stride;
            for (int r = 0; r <= T; r++) {
                const int f = r > 0 ? v->row_factor[r] : -1, shift = v->row_shift[r];
                float sum[ROTATED_POINTS] = { 0.0f, 0.0f, 0.0f, 0.0f };
                for (int j = 0; j < functions; j++) {
                    const float by = v->blocks > 0 ? v->rotation[(size_t)j * (size_t)K + (size_t)k] : 1.0f;
                    float product[ROTATED_POINTS] = { by, by, by, by };
                    for (int d = 0; d < D; d++) {
                        const int place = v->place[((size_t)j * (size_t)D + (size_t)d) * (size_t)K + (size_t)k]
                                          + (d == f ? shift : 0);
                        for (int q = 0; q < ROTATED_POINTS; q++)
                            product[q] *= at[q][place];
                    }
                    for (int q = 0; q < ROTATED_POINTS; q++)
                        sum[q] += product[q];
                }
                for (int q = 0; q < ROTATED_POINTS && i + q < m; q++) {
                    float *out = eta + (size_t)(i + q) * a_point + (size_t)k;
                    const float value = v->scale[k] * sum[q];
                    out[(size_t)r * ld] = round_feature(value, tf32);
                    if (r == 0 && jets)
                        out[(size_t)(T + 1) * ld] = round_feature(v->minus_lambda[k] * value, tf32);
                }
            }
        }
    }
}

#endif
