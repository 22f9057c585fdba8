/* backend.h - sums over points of a term of the objective, and its gradient.
 *
 * Every term is a sum over points of a function of the jet of v: the data (w v), the integral (w exp v), the penalties
 * (w (Lap v)^2, w |grad v|^2). A backend computes points, encoding, field and adjoint in its own way; reference.c
 * defines the answer in plain double-precision loops, and conformance tests hold the others to it. */
#ifndef NPMD_BACKEND_H
#define NPMD_BACKEND_H

#include "field.h"
#include "sampling.h"

typedef enum term_kind { TERM_DATA, TERM_INTEGRAL, TERM_LAPLACIAN, TERM_GRADIENT } term_kind;

typedef struct term_request {
    term_kind kind;
    const point_source *points;
    /* the gradient accumulates factor x d(sum)/d theta; -1 for the data, 1 for the integral, tau for a penalty */
    double factor;
} term_request;

typedef enum backend_vector { VECTOR_THETA, VECTOR_GRADIENT, VECTOR_MOMENT1, VECTOR_MOMENT2, VECTORS } backend_vector;

typedef struct rate_share { /* parameters up to end (exclusive) move at this share of the rate */
    size_t end;
    double share;
} rate_share;

typedef struct optimiser_step {
    optimiser_kind kind;
    double rate, beta1, beta2, epsilon;
    double correction1, correction2; /* 1 - product of the betas so far */
    double max_norm;                 /* a longer gradient is shortened to this; infinity: never */
    const rate_share *shares;        /* for consecutive parts of theta; NULL: 1 throughout */
} optimiser_step;

/* All of a training step but its number, for backends that run many steps in one call. */
typedef struct step_recipe {
    uint64_t seed;
    int64_t batch, q1, q2, steps_an_epoch;
    bool quasi;
    const proposal *importance; /* gives share, rho and number of centres; NULL: uniform points */
    const double *cumulative;   /* running sums of the data's weights; NULL: no weights */
    bool penalised;
    term_kind penalty;
    double tau;
} step_recipe;

typedef struct step_record {        /* what a step reached, before its update */
    double data, integral, penalty; /* the three sums */
    double norm, running_log_norm;  /* of the gradient; log of its running length after the step */
} step_record;

typedef struct field_plan {
    const npmd_domain *domain;
    const encoding *encoding;
    field_shape shape;
    bool rotated; /* for backend_bytes, which may be called before there is an encoding */
    bool exact;   /* train with products accurate to float32, where a device has faster ones */
} field_plan;

typedef enum jet_rows { JET_VALUE, JET_ALL } jet_rows;

#define BACKEND_MOST_STEPS 1024

/* out (n): sum over centres c of exp(offset_c - scale_c |x_i - y_c|^2), without c = skip_i (negative: over all). */
typedef struct kernel_request {
    int columns;
    size_t centres;              /* also the leading dimension of y */
    const float *y;              /* (columns, centres) */
    const float *scale, *offset; /* (centres) */
    size_t n;
    const float *x;      /* (n, columns) */
    const int64_t *skip; /* (n) */
    double *out;         /* (n) */
} kernel_request;

typedef struct backend_ops {
    const char *name;
    /* Is the device of this number, from 0, present? NULL: always. */
    npmd_status (*present)(int device, npmd_error *err);
    npmd_status (*open)(const field_plan *plan, int device, int threads, void **self, npmd_error *err);
    /* The data that SOURCE_DATA terms will refer to: may cache their encodings. */
    npmd_status (*set_points)(void *self, const npmd_points *pts, npmd_error *err);
    /* *sum = sum_i w_i g(jet of v at x_i); the gradient accumulates until update. */
    npmd_status (*term)(void *self, const term_request *what, double *sum, npmd_error *err);
    /* gradient (parameters) = factor x d(sum)/d theta, and square (parameters) = the sum over points of the square of
     * each point's part of it. The accumulated gradient stays as it is. NULL: ask a cpu backend with the same plan and
     * theta. */
    npmd_status (*squares)(void *self, const term_request *what, double *gradient, double *square, npmd_error *err);
    npmd_status (*update)(void *self, const optimiser_step *step, double *gradient_norm, npmd_error *err);
    /* Steps first .. first + count - 1 in one call, at most BACKEND_MOST_STEPS. A negative max_norm stands for clip x
     * exp(running); running starts as given. NULL: steps are taken one by one. */
    npmd_status (*run)(void *self, const step_recipe *recipe, int64_t first, size_t count, const optimiser_step *steps,
                       double clip, double running, step_record *out, npmd_error *err);
    /* out (n) values, or (n, directions + 2) jets. */
    npmd_status (*evaluate)(void *self, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
    /* Sums of w exp v and (w exp v)^2 over a source, formed where v is computed. NULL: the caller does that. */
    npmd_status (*integrate)(void *self, const point_source *points, double *sum, double *square, npmd_error *err);
    /* For estimators that put a kernel about every point; needs no open backend. NULL: the caller does that. */
    npmd_status (*kernel_sums)(int device, const kernel_request *what, npmd_error *err);
    npmd_status (*get)(void *self, backend_vector which, double *out, npmd_error *err);
    npmd_status (*put)(void *self, backend_vector which, const double *in, npmd_error *err);
    void (*close)(void *self);
} backend_ops;

typedef struct backend {
    const backend_ops *ops;
    void *self;
} backend;

/* The backend of that name: "cpu" (also ""), "reference", "cuda", "cuda:1". NPMD_ERR_DEVICE for one that only another
 * build or machine has. */
npmd_status backend_find(const char *device, const backend_ops **out, npmd_error *err);
/* The same, with the number of the device. */
npmd_status backend_find_device(const char *device, const backend_ops **out, int *number, npmd_error *err);
npmd_status backend_open(const char *device, int threads, const field_plan *plan, backend *out, npmd_error *err);
void backend_close(backend *b);
/* Bytes that open and set_points will take. */
size_t backend_bytes(const char *device, int threads, const field_plan *plan, size_t n);
size_t backend_squares_bytes(int threads, const field_plan *plan); /* bytes that squares takes, on a cpu */

extern const backend_ops BACKEND_REFERENCE, BACKEND_CPU, BACKEND_CUDA;
const char *cpu_kernels_name(void); /* "avx512", "avx2", "plain": the variant chosen on this machine */
/* Switches an open cpu backend to this variant, which the machine must have; tests hold all of them to the
 * reference. */
void cpu_set_kernels(void *self, const kernels *variant);

/* ---- optimiser.c: shared by the backends that keep theta in host memory ------------------------------------------ */

/* Updates theta and sets the gradient to zero; all vectors have length n. Returns the gradient's norm before
 * shortening. */
double optimiser_apply(const optimiser_step *step, size_t n, double *theta, double *gradient, double *moment1,
                       double *moment2);

#endif
