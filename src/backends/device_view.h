/* device_view.h - points and their encodings as a device makes them: what one thread of a group does.
 *
 * A group is up to GROUP_POINTS points of one block of threads. It goes through phases, separated by barriers:
 *
 *     make     (device_make.h) one thread for each point and factor: the factor's coordinates, from a data row, a
 *              uniform point or a draw of the proposal
 *     table    (device_table.h) one thread for each point and unit: the factors' eigenfunctions, computed in double,
 *              stored as floats; on a surface one warp for each point, its threads share the functions
 *     encode   (device_encode.h) one thread for each feature: products over the factors, written side by side; or the
 *              point's columns, which need no table
 *
 * Everything is plain C that both compilers take; cuda_points.cu adds the barriers, and a test runs the phases thread
 * by thread on the processor. Only functions that some feature needs have a place in the table: a point's table holds
 * all values, factor after factor, then (with jets) all derivatives, direction after direction. */
#ifndef NPMD_DEVICE_VIEW_H
#define NPMD_DEVICE_VIEW_H

#include "cuda_device.h"
#include "maps.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GROUP_POINTS 32
#define GROUP_THREADS 256
#define WARP_THREADS 32      /* threads that read memory together */
#define CIRCLE_UNIT 10       /* frequencies that one thread tabulates */
#define DEVICE_DIRECTIONS 32 /* most tangent directions */
#define DEVICE_REGISTERS 4   /* factors whose values a thread keeps in registers */
#define ROTATED_POINTS 4     /* points that share the loads of the rotation */

typedef struct legendre_step { /* as in sphere.c: p_la = c z p_(l-1)a - above p_(l-2)a; p_la' = next p_l(a+1) */
    double c, above, next;
} legendre_step;

typedef struct wave { /* cosine and sine of one frequency; or a number as the sum of two floats */
    float c, s;
} __attribute__((aligned(8))) wave;

typedef struct encoder_view {
    int factors, columns, dimension, embedding, features, ld, waves, vectors, blocks, round_tf32;
    int kind[DEVICE_MAX_FACTORS], column[DEVICE_MAX_FACTORS], direction[DEVICE_MAX_FACTORS],
        frequency[DEVICE_MAX_FACTORS];
    int embedded[DEVICE_MAX_FACTORS]; /* first coordinate of a factor's unit vector */
    int unit[DEVICE_MAX_FACTORS + 1]; /* units of factor d: unit[d] .. unit[d + 1] - 1 */
    int slots[DEVICE_MAX_FACTORS];    /* start of a factor's part of slot */
    int used[DEVICE_MAX_FACTORS];     /* functions with a place */
    int slope[DEVICE_MAX_FACTORS];    /* distance from a value's place to that of its first derivative */
    int row_factor[DEVICE_DIRECTIONS + 1], row_shift[DEVICE_DIRECTIONS + 1]; /* of derivative rows 1 .. dimension */
    int stride[2];                 /* floats in a point's table: values only; with derivatives */
    int degree;                    /* highest degree on any sphere */
    int first[DEVICE_MAX_FACTORS]; /* a factor's first place */
    const int *slot;               /* place of a factor's eigenfunction (waves: frequency), or -1 */
    /* (factors, vectors) places; waves: 2 x place, + 1 for a negative frequency; rotated: (most functions, factors,
     * K) */
    const int *place;
    const float *wavenumber;           /* waves: (factors, vectors) */
    const float *scale, *minus_lambda; /* (K) */
    const int *functions;              /* rotated: (K) functions in a feature's block */
    const float *rotation;             /* rotated: (most functions, K) */
    const legendre_step *legendre;     /* (degree + 2, degree + 1): order, degree */
    const double *diagonal;            /* (degree + 2): p_aa */
    const uint32_t *sobol;             /* (dimension + 1, 32) direction numbers */
    /* of the factors that are surfaces; phi has only the columns with a place, in their order */
    device_surface surface[DEVICE_MAX_FACTORS];
} encoder_view;

/* Lays the plan out in one block of host memory of *bytes bytes, freed by encoder_view_free. 0, or a device status. */
int encoder_view_make(const encoder_plan *plan, encoder_view *out, void **block, size_t *bytes);
/* Points the view, made for the block at from, at a copy of that block at to. */
void encoder_view_move(encoder_view *v, const void *from, void *to);
void encoder_view_free(void *block);

#ifdef __cplusplus
}
#endif

#endif
