/* device_encode.h - points and their encodings as a device makes them: what one thread of a group does.
 *
 * A group is up to GROUP_POINTS points of one block of threads. It goes through phases, with a barrier
 * between two:
 *
 *     make     a thread a (point, factor): the factor's coordinates; a data row, a uniform point, a draw
 *     table    a thread a (point, unit): the factors' eigenfunctions, in double, left in a table of floats;
 *              on a surface a warp a point, its threads the functions
 *     encode   a thread a feature: products over the factors, written side by side; or the columns as they are, which
 *              need no table
 *
 * Everything is plain C that both compilers take; cuda_points.cu adds the barriers, and a test runs the
 * phases thread by thread on the processor. Only functions that some feature needs have a place in the table:
 * a point's table holds all values, factor after factor, then (with jets) all derivatives, direction after
 * direction. */
#ifndef NPMD_DEVICE_ENCODE_H
#define NPMD_DEVICE_ENCODE_H

#include "cuda_device.h"
#include "maps.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GROUP_POINTS 32
#define GROUP_THREADS 256
#define WARP_THREADS 32      /* that read memory together */
#define CIRCLE_UNIT 10       /* frequencies that one thread tabulates */
#define DEVICE_DIRECTIONS 32 /* most tangent directions */
#define DEVICE_REGISTERS 4   /* factors whose values a thread keeps in registers */
#define ROTATED_POINTS 4     /* points that share a look at the rotation */

typedef struct legendre_step { /* as sphere.c: p_la = c z p_(l-1)a - above p_(l-2)a; p_la' = next p_l(a+1) */
    double c, above, next;
} legendre_step;

typedef struct
    wave { /* cosine and sine of one frequency; or a number in two floats, their sum; in one load */
    float c, s;
} __attribute__((aligned(8))) wave;

typedef struct encoder_view {
    int factors, columns, dimension, embedding, features, ld, waves, vectors, blocks, round_tf32;
    int kind[DEVICE_MAX_FACTORS], column[DEVICE_MAX_FACTORS], direction[DEVICE_MAX_FACTORS],
        frequency[DEVICE_MAX_FACTORS];
    int embedded[DEVICE_MAX_FACTORS]; /* where a factor's unit vector begins */
    int unit[DEVICE_MAX_FACTORS + 1]; /* units of factor d: unit[d] .. unit[d + 1] - 1 */
    int slots[DEVICE_MAX_FACTORS];    /* where a factor's places begin in slot */
    int used[DEVICE_MAX_FACTORS];     /* functions with a place */
    int slope[DEVICE_MAX_FACTORS];    /* from a value's place to its first derivative's */
    int row_factor[DEVICE_DIRECTIONS + 1],
        row_shift[DEVICE_DIRECTIONS + 1]; /* of derivative rows 1 .. dimension */
    int stride[2];                        /* floats in a point's table: values only; with derivatives */
    int degree;                           /* the highest of all spheres */
    int first[DEVICE_MAX_FACTORS];        /* a factor's first place */
    const int *slot;  /* eigenfunction (waves: frequency) of a factor to its place, or -1 */
    const int *place; /* (factors, vectors); waves: 2 x place, + 1 for a negative frequency; rotated: (most
                              * functions, factors, K) */
    const float *wavenumber;           /* waves: (factors, vectors) */
    const float *scale, *minus_lambda; /* (K) */
    const int *functions;              /* rotated: (K) functions in a feature's block */
    const float *rotation;             /* rotated: (most functions, K) */
    const legendre_step *legendre;     /* (degree + 2, degree + 1): order, degree */
    const double *diagonal;            /* (degree + 2): p_aa */
    const uint32_t *sobol;             /* (dimension + 1, 32) direction numbers */
    /* of surfaces; phi has only the columns with a place, in their order */
    device_surface surface[DEVICE_MAX_FACTORS];
} encoder_view;

/* Describes the plan in one block of host memory; bytes long, freed by the caller. 0, or a device status. */
int encoder_view_make(const encoder_plan *plan, encoder_view *out, void **block, size_t *bytes);
/* Points the view at a copy of its block that begins at to. */
void encoder_view_move(encoder_view *v, const void *from, void *to);
void encoder_view_free(void *block);

#ifdef __cplusplus
}
#endif

/* ---- make ---------------------------------------------------------------------------------------------- */

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
    return s->shuffled ? (size_t)philox_permute(source_key(s, s->purpose, step / s->steps_an_epoch), at, s->n)
                       : at;
}

/* Weight of a data row, x 1 / count. */
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

/* A point of factor d as a unit vector: columns x to e (3; on a circle 2). */
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
SHARED_INLINE void draw_factor(const encoder_view *v, int d, const double *centre, double rho,
                               const double *u, double *x)
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

/* Factor d of point i: its columns at x. For importance points also its unit vector, at e, as pairs of floats
 * whose sum has twice a float's digits. *weight is written by factor 0, but for importance points. */
SHARED_INLINE void make_factor(const encoder_view *v, const device_source *s, int64_t step,
                               const uint32_t *scramble, size_t i, int d, double *x, wave *e, float *weight)
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

/* ---- the proposal's centres and density ---------------------------------------------------------------- */

/* The row that the share u of the total weight falls on, as points_pick of proposal.c. */
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
    return (float)(1.0 / (double)s->count
                   / (s->share + (1.0 - s->share) * ((double)sum / (double)s->centres)));
}

/* ---- table --------------------------------------------------------------------------------------------- */

/* Frequencies CIRCLE_UNIT unit + 1 and on, by turning; unit 0 also has the constant. */
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

/* All degrees of order a, as sphere_jets; the order above, which the derivatives need, is run along. */
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
    double p = sign * v->diagonal[a], p_1 = 0.0, q = 0.0,
           q_1 = 0.0; /* order a and a + 1, degrees l and l - 1 */
    for (int l = a; l <= L; l++) {
        if (l > a) {
            const double p_l = here[l].c * (z * p) - here[l].above * p_1;
            p_1 = p;
            p = p_l;
        }
        if (jets && l > a) {
            const double q_l = l == a + 1 ? sign * v->diagonal[a + 1]
                                          : above[l].c * (z * q) - above[l].above * q_1;
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

/* Thread `thread` of so many: its share of the m points' tables, as far as factors are circles and spheres; x (m,
 * columns). Neighbouring threads take neighbouring points and the same unit, so that they do the same. */
SHARED_INLINE void fill_tables(const encoder_view *v, int thread, int threads, int m, const double *x,
                               int jets, float *table)
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

/* One part (value, derivative) of the functions with a place: out[j] = sum_c N_c phi_c[j]. corners, a constant to the
 * compiler. */
SHARED_INLINE void table_elements(const device_surface *s, int corners, const double *x, int part, int lane,
                                  float *out)
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

/* Factor d of the m points, if it is a surface: neighbouring threads take neighbouring functions, which lie side by side
 * in memory, a warp a part of a point. */
SHARED_INLINE void table_surface(const encoder_view *v, int d, int thread, int threads, int m,
                                 const double *x, int jets, float *table)
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

/* The share of the thread in the tables of all surfaces. */
SHARED_INLINE void fill_surfaces(const encoder_view *v, int thread, int threads, int m, const double *x,
                                 int jets, float *table)
{
    for (int d = 0; d < v->factors; d++)
        if (v->kind[d] == DEVICE_SURFACE)
            table_surface(v, d, thread, threads, m, x, jets, table);
}

/* ---- encode -------------------------------------------------------------------------------------------- */

/* To the nearest number with 10 mantissa bits, ties away from zero: what the tensor units read of a float. */
SHARED_INLINE float round_feature(float x, int tf32)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = tf32 ? (bits + 0x1000u) & 0xFFFFE000u : bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Threads stand in rows of `across` neighbouring columns, as many rows as fit. */
SHARED_INLINE int threads_across(int columns, int threads)
{
    return columns < threads ? columns : threads;
}

/* Products over up to DEVICE_REGISTERS factors; eta is where the group's first point begins. */
SHARED_INLINE void encode_products(const encoder_view *v, int thread, int threads, int m, int jets,
                                   const float *table, float *eta)
{
    const int ld = v->ld, K = v->features, D = v->factors, T = jets ? v->dimension : 0,
              stride = v->stride[jets], tf32 = v->round_tf32, across = threads_across(ld, threads),
              rows = threads / across;
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

/* Plane waves over up to DEVICE_REGISTERS factors; jets, a constant to the compiler. */
SHARED_INLINE void encode_waves(const encoder_view *v, int thread, int threads, int m, int jets,
                                const float *table, float *eta)
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

/* The same for any number of factors: places are read again for every point. */
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

/* The point's own columns, a thread a (point, factor): along a factor's directions they have its frame as derivatives,
 * along all others none. x (m, columns). */
SHARED_INLINE void encode_columns(const encoder_view *v, int thread, int threads, int m, int jets,
                                  const double *x, float *eta)
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
                out[(size_t)r * ld + (size_t)j] = own ? round_feature((float)frame[t * columns + j], tf32)
                                                      : 0.0f;
            }
            if (jets)
                out[(size_t)(T + 1) * ld + (size_t)j] = round_feature(
                    v->minus_lambda[v->column[d] + j] * value, tf32);
        }
    }
}

/* Sums over the functions of a feature's block of rotation x product, row by row; without a rotation a sum of
 * one product. A few points at a time share the look at rotation and places. */
SHARED_INLINE void encode_sums(const encoder_view *v, int thread, int threads, int m, int jets,
                               const float *table, float *eta)
{
    const int K = v->features, D = v->factors, T = jets ? v->dimension : 0, tf32 = v->round_tf32,
              across = threads_across(K, threads), rows = threads / across;
    const size_t stride = (size_t)v->stride[jets], ld = (size_t)v->ld,
                 a_point = (size_t)(jets ? T + 2 : 1) * ld;
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
                        const int place =
                            v->place[((size_t)j * (size_t)D + (size_t)d) * (size_t)K + (size_t)k]
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
