/* cuda_device.h - what the device side of the cuda backend offers to its host side; no other file includes it.
 *
 * Plain C: cuda.c (the host side: backend table, sizes, the loop) is compiled by the C compiler and sees nothing of
 * CUDA; cuda_points.cu makes points and their encodings, cuda_layers.cu takes rows through the layers and back,
 * cuda_memory.cu owns memory, streams and graphs.
 *
 * A point with its jet is R consecutive rows: R = 1 (value) or R = dimension + 2 (value, derivatives along the frame,
 * Laplacian). Matrices are row-major float32 with a leading dimension that is a multiple of 32, padding zero. Functions
 * return 0 or a status that device_text explains. All work goes to the stream; a function waits only where it says
 * so. */
#ifndef NPMD_CUDA_DEVICE_H
#define NPMD_CUDA_DEVICE_H

#include "maps.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct device_stream device_stream; /* stands for a cudaStream_t */
const char *device_text(int status);        /* a sentence for a status */
#define DEVICE_HOST_MEMORY (-1)             /* statuses of our own; CUDA's are positive */
#define DEVICE_REFUSED (-2)

/* ---- cuda_kernels.cu: sums of kernels ---------------------------------------------------------------------------- */

/* As kernel_request of backend.h, from and to host arrays; waits. */
#define DEVICE_MOST_COLUMNS 48
int kernels_add(int columns, size_t centres, const float *y, const float *scale, const float *offset, size_t n,
                const float *x, const int64_t *skip, double *out);
size_t kernels_bytes(int columns, size_t centres, size_t n); /* bytes that kernels_add takes */

/* ---- cuda_points.cu ---------------------------------------------------------------------------------------------- */

#define DEVICE_MAX_FACTORS 16
typedef enum device_manifold { DEVICE_CIRCLE, DEVICE_SPHERE, DEVICE_SURFACE } device_manifold;

/* A triangulated surface (surface_factor.h). Points are doubles everywhere, so that a face's number is exact. */
typedef struct device_surface {
    surface_map map;
    int corners;          /* nodes of an element: 3 or 6 */
    const int32_t *node;  /* (faces, corners) */
    const double *metric; /* (faces, 3) */
    size_t nodes;
    int functions;    /* columns of phi */
    const float *phi; /* (nodes, functions) */
} device_surface;

/* The encoding, described by the host; arrays are host memory and are copied by encoder_open. */
typedef struct encoder_plan {
    int factors, columns, dimension;
    device_manifold kind[DEVICE_MAX_FACTORS];
    int column[DEVICE_MAX_FACTORS], direction[DEVICE_MAX_FACTORS];
    int features, ld; /* K, and K rounded up to a multiple of 32 */
    /* as in encoding.h: whether plane waves; rows of function (0: the features are the point's columns) */
    int waves, vectors;
    const int *function;          /* (vectors, factors) */
    const double *lambda, *scale; /* (K) */
    int frequency[DEVICE_MAX_FACTORS];
    device_surface surface[DEVICE_MAX_FACTORS];  /* of the factors that are surfaces */
    int blocks;                                  /* number of rotated blocks; 0: nothing is rotated */
    const int *block_features, *block_functions; /* (blocks) */
    const double *rotation;
    int round_tf32; /* write features rounded to the nearest number with 10 mantissa bits */
} encoder_plan;

/* Belongs to the device that is in use when it is opened. Calls of one encoder go to one stream at a time, since points
 * whose tables are too large for shared memory (a hundred thousand functions) use memory that it owns. */
typedef struct encoder encoder;
int encoder_open(const encoder_plan *plan, encoder **out);
int encoder_bytes(const encoder_plan *plan, size_t *bytes); /* memory of its tables on the device */
void encoder_close(encoder *e);

typedef enum device_source_kind {
    DEVICE_FIXED,     /* x (count, columns) and weight (count; NULL: 1 / count) on the device */
    DEVICE_DATA,      /* rows of the data, shuffled anew every epoch */
    DEVICE_UNIFORM,   /* uniform points */
    DEVICE_IMPORTANCE /* the proposal of sampling.h */
} device_source_kind;

/* Like point_source, but a function of a step counter on the device, so that one graph serves every step. The key of a
 * step is (seed, purpose, *step), of an epoch (seed, purpose, *step / steps_an_epoch). */
typedef struct device_source {
    device_source_kind kind;
    size_t count; /* points of the term; weights are divided by it */
    uint32_t seed[2], purpose;
    const int64_t *step;      /* on the device; NULL (FIXED): step 0 */
    int quasi;                /* scrambled Sobol, else independent */
    const double *x, *weight; /* FIXED; DATA: all n rows; weight NULL: 1 (DATA, mean 1), 1 / count (FIXED) */
    size_t n;                 /* DATA: rows */
    size_t first, batch;      /* DATA: first row of a step is first + step % steps_an_epoch * batch */
    int64_t steps_an_epoch;
    int shuffled;
    double share, rho;        /* IMPORTANCE */
    int centres;              /* as proposal_open rounds them: a multiple of 8 */
    uint32_t centre_purpose;  /* purpose in the key of the draw of centres */
    const double *cumulative; /* running sums of the weights as proposal_aim takes them; NULL: no weights */
    size_t cumulative_stride; /* points for each of these sums */
    double *centre;           /* (centres, columns): device memory for the centres of this step */
    double *embedded;         /* (embedding columns, centres): likewise, each number as a pair of floats */
} device_source;

/* IMPORTANCE: chooses the centres of this step from the data (x, weight, n of the source), before encoder_run. With x
 * NULL the centres are already set. */
int source_aim(const encoder *e, const device_source *s, device_stream *stream);
/* DATA: row (count) of the data behind every point of the step, and its weight / count; n < 2^31. */
int source_rows(const device_source *s, int32_t *row, float *weight, device_stream *stream);
/* Points first .. first + count - 1 of the source: eta (count R, ld), R rows for each point; weight (count). x_out
 * (count, columns) gets the points themselves, or is NULL. */
int encoder_run(const encoder *e, const device_source *s, size_t first, size_t count, int jets, float *eta,
                float *weight, double *x_out, device_stream *stream);

/* ---- cuda_layers.cu ---------------------------------------------------------------------------------------------- */

typedef enum device_term {
    DEVICE_TERM_DATA,
    DEVICE_TERM_INTEGRAL,
    DEVICE_TERM_LAPLACIAN,
    DEVICE_TERM_GRADIENT
} device_term;

#define DEVICE_MAX_DEPTH 32
#define DEVICE_SLOTS 3 /* terms that may be in flight together: the data, the integral, the penalty */

typedef struct network_plan { /* as field_shape */
    int features, width, depth, directions, skip;
    int relu; /* 1: ReLUs, 0: sines */
    double omega;
    int exact; /* 1: products in three parts, accurate to float32 instead of TF32 */
} network_plan;

/* One row for each step; the network reads the row of its step counter. */
typedef struct device_control {
    double rate, beta1, beta2, epsilon, correction1, correction2;
    double max_norm; /* a longer gradient is shortened to this; negative: to clip x the running length */
    double clip;
    int64_t sgd; /* 1: plain gradient descent, 0: Adam */
} device_control;

typedef struct device_log { /* the record of a step */
    double sum[DEVICE_SLOTS];
    double norm, running_log_norm;
} device_log;

typedef enum network_vector {
    NETWORK_THETA,
    NETWORK_GRADIENT,
    NETWORK_MOMENT1,
    NETWORK_MOMENT2,
    NETWORK_VECTORS
} network_vector;

typedef struct network network;
int network_open(const network_plan *plan, network **out);
void network_close(network *net);
/* Bytes that a term of this many points takes on the device. */
size_t network_term_bytes(const network_plan *plan, size_t points, int jets);
/* Memory for terms of this slot with up to this many points; must come before network_term. */
int network_reserve(network *net, int slot, size_t points, int jets);
int network_reserved(const network *net, int slot, size_t points, int jets); /* is there such memory? */
int network_put(network *net, network_vector which, const double *in, device_stream *stream);
int network_get(network *net, network_vector which, double *out, device_stream *stream); /* waits */
/* Parameters up to end[i] (exclusive) move at share[i] of the rate; count 0: all at the rate. */
int network_shares(network *net, int count, const size_t *end, const double *share, device_stream *stream);
/* Adds a term's gradient to its slot and sets its sum. cache: encodings of the data (n, ld), or NULL. */
int network_term(network *net, int slot, device_term kind, const encoder *e, const device_source *s, double factor,
                 const float *cache, device_stream *stream);
/* Updates theta, sets the gradient to zero, writes the log row of this step and increments the step counter. */
int network_update(network *net, device_stream *stream);
/* Prepares steps first .. first + count - 1 with these rows; running: log of the running length of the gradient. */
int network_prepare(network *net, int64_t first, size_t count, const device_control *rows, double running,
                    device_stream *stream);
const int64_t *network_step(const network *net); /* the step counter, on the device */
/* Log rows of the steps since network_prepare; waits. */
int network_logs(network *net, size_t count, device_log *out, device_stream *stream);
int network_sum(network *net, int slot, double *sum, device_stream *stream); /* waits */
/* out (count) values or (count, directions + 2) jets of points first .. first + count - 1 of the source, on the
 * device. */
int network_evaluate(network *net, int slot, const encoder *e, const device_source *s, size_t first, size_t count,
                     int jets, double *out, device_stream *stream);
/* Adds to sums[2] the sums of w exp v and (w exp v)^2 over points first .. first + count - 1; waits. */
int network_integrate(network *net, int slot, const encoder *e, const device_source *s, size_t first, size_t count,
                      double *sums, device_stream *stream);
int device_follow(device_stream *s, device_stream *after); /* s waits for what is now queued in after */

/* ---- cuda_memory.cu ---------------------------------------------------------------------------------------------- */

int device_count(int *count);
typedef struct device_facts {
    char name[128];
    int major, minor, multiprocessors, driver, runtime;
    size_t memory, memory_free, l2, shared_per_block;
} device_facts;
int device_describe(int device, device_facts *out);
int device_use(int device);
int device_new(void **out, size_t bytes); /* zeroed */
void device_free(void *p);
/* Host to device; from is ordinary memory, which the caller may change at once. */
int device_put(void *to, const void *from, size_t bytes, device_stream *stream);
int device_get(void *to, const void *from, size_t bytes, device_stream *stream); /* device to host, waits */
int device_zero(void *p, size_t bytes, device_stream *stream);
int device_stream_open(device_stream **out);
void device_stream_close(device_stream *s);
int device_wait(device_stream *s);
typedef struct device_graph device_graph;
int device_capture_begin(device_stream *s);
int device_capture_end(device_stream *s, device_graph **out);
int device_graph_launch(device_graph *g, device_stream *s);
void device_graph_close(device_graph *g);

#ifdef __cplusplus
}
#endif
#endif
