/* bench.h - how fast this machine does the library's work.
 *
 * Everything is compared with plain double loops or with the reference backend before it is timed; what is wrong is not
 * timed. Times are medians of repeats within one run, with quartiles; ceilings are the best of their repeats, since
 * other programs can only lower them.
 *
 * The floor of a step is the time of its matrix products at the rate of this machine: the exact operation count divided
 * by the number of threads times the rate of one thread at 512 x W x W, measured in the same run. */
#ifndef NPMD_BENCH_H
#define NPMD_BENCH_H

#include "api.h"
#include "console.h"

#define BENCH_WIDTHS 2 /* number of widths at which the product rate is measured */
#define BENCH_ROWS 512
static const int BENCH_WIDTH[BENCH_WIDTHS] = { 128, 256 };

typedef struct bench_request { /* all zero: kernels, steps and evaluation, in about a minute */
    npmd_compute how;          /* threads and device */
    int quick;                 /* 1: small sizes and few repeats, in a few seconds */
    int full;                  /* 1: S2 x S2 at full size, and a density of 10^7 points */
    int scaling;               /* 1: also the cost of a step as a function of every size */
    const char *only;          /* one part, kernel, variant or size; NULL: all */
    const char *folder;        /* for temporary files; NULL: leaves out the density from file to file */
    /* Called before each measurement, and between its repeats with next NULL; nonzero: stop. May be NULL. */
    int (*progress)(const char *next, void *user);
    void *user;
} bench_request;

typedef struct bench {
    const bench_request *asked;
    const kernels *kernels; /* the variant chosen on this machine */
    int threads;
    double product_rate[BENCH_WIDTHS]; /* operations per second of one thread */
    double bandwidth, bandwidth_cache; /* bytes per second: all threads from memory; one thread from its cache */
} bench;

/* ---- bench.c ----------------------------------------------------------------------------------------------------- */

/* Verifies kernels, steps and evaluation (NPMD_ERR_NUMERIC says what is wrong), then times them: one JSON object,
 * described in docs/performance.md. text_free frees it. */
npmd_status bench_run(const bench_request *what, char **json, npmd_error *err);
extern const char *const BENCH_VARIANTS[]; /* of the kernels, widest vectors first; NULL ends the list */
/* Was this part asked for, or the row of this name in it? Either may be NULL. */
bool bench_wants(const bench *b, const char *part, const char *name);
/* Tells the caller what comes next; NPMD_STOPPED if the answer is to stop. */
npmd_status bench_say(const bench *b, npmd_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
npmd_status bench_go_on(const bench *b, npmd_error *err); /* the same without a text */
/* NPMD_ERR_NUMERIC unless error <= bound. */
npmd_status bench_verify(const char *what, double error, double bound, npmd_error *err);

#define BENCH_PUT(object, err, ...) cli_facts_put(object, CLI_FACTS(__VA_ARGS__), err)
#define BENCH_SHAPE(f) WHOLE("features", (f)->features), WHOLE("width", (f)->width), WHOLE("depth", (f)->depth)
/* An empty object at the end of a list, or in an object under a key; NULL: no memory, which putting into it says. */
json_t *bench_row(json_t *rows);
json_t *bench_object(json_t *into, const char *key);

/* ---- bench_words.c ----------------------------------------------------------------------------------------------- */

/* The results of bench_run as tables of at most 100 columns. */
npmd_status bench_words(const char *json, char **text, npmd_error *err);

/* ---- bench_time.c ------------------------------------------------------------------------------------------------ */

typedef struct bench_times { /* seconds per call */
    int repeats;
    double median, low, high; /* low and high: quartiles */
    double best;              /* for ceilings, which other programs can only lower */
    double cpu;               /* processor time of all threads, mean: other programs do not lengthen it */
} bench_times;

typedef struct bench_effort {
    double repeat;   /* seconds of a repeat, which is as many calls as that takes */
    double seconds;  /* seconds for all repeats, within least and most */
    int least, most; /* repeats */
} bench_effort;
bench_effort bench_effort_kernel(const bench *b);
bench_effort bench_effort_step(const bench *b);

typedef npmd_status (*bench_call)(void *self, npmd_error *err);
/* One call to warm up, then the repeats. Allocates nothing. */
npmd_status bench_time(const bench *b, bench_effort effort, bench_call call, void *self, bench_times *out,
                       npmd_error *err);
double bench_slope(const double *x, const double *y, int count); /* slope of log y against log x */

/* ---- bench_count.c: operations and bytes ------------------------------------------------------------------------- */

/* Operations of the products of one row: forward; and forward and back, without the gradient of the input. */
double bench_forward_flop(const field_shape *f);
double bench_row_flop(const field_shape *f);
/* Rows of a step: a value is one row, a jet directions + 2. */
double bench_step_rows(const field_shape *f, double batch, double q1, double q2);
double bench_step_flop(const field_shape *f, double batch, double q1, double q2);
/* Bytes that a step moves outside the tiles: encodings of the batch, the vectors of the parameters, the gradients of
 * the lanes. */
double bench_step_bytes(const field_shape *f, double batch);

/* ---- bench_machine.c, bench_kernels.c ---------------------------------------------------------------------------- */

npmd_status bench_machine(bench *b, json_t *into, npmd_error *err); /* also sets the rates of b */
npmd_status bench_kernels(const bench *b, json_t *rows, npmd_error *err);
const char *bench_kernel_name(int i); /* NULL after the last */
/* Product rate of one thread, at the width nearest to this one. */
double bench_rate(const bench *b, int width);

/* ---- bench_field.c: the networks and sizes of the published experiments ------------------------------------------ */

typedef struct bench_size {
    const char *name, *title, *domain, *preset;
    bool rotated, large; /* large: a quarter of it, unless full is asked for */
    size_t n, batch, q1, q2;
    int features, width, depth; /* 0: the preset's */
} bench_size;
extern const bench_size BENCH_SIZES[];
#define BENCH_SIZE_COUNT 5
bench_size bench_size_asked(const bench *b, const bench_size *s); /* reduced as quick or full ask */

/* A network at its start, and uniform points. The plan points into this struct, which must not be moved. */
typedef struct bench_field {
    npmd_domain *domain;
    npmd_points *points;
    settings options;
    encoding encoding;
    field_plan plan;
    double *theta;
} bench_field;
npmd_status bench_field_open(bench_field *f, const bench_size *s, int threads, npmd_error *err);
void bench_field_close(bench_field *f);
/* Opens a backend with the points of f, at theta; exact: without the fast products of a device. */
npmd_status bench_field_backend(const bench_field *f, const char *device, int threads, bool exact, const double *theta,
                                backend *out, npmd_error *err);
npmd_status bench_field_model(const bench_field *f, npmd_model **out, npmd_error *err);

/* ---- bench_steps.c, bench_evaluate.c, bench_scaling.c ------------------------------------------------------------ */

typedef struct bench_descent { /* steps on a backend */
    objective objective;
    backend backend;
    int64_t step;
    size_t together; /* steps in one call, of a device */
} bench_descent;
npmd_status bench_descent_open(bench_descent *d, const bench_field *f, const settings *opt, const char *device,
                               int threads, bool exact, const double *theta, npmd_error *err);
void bench_descent_close(bench_descent *d); /* and all zero again */
optimiser_step bench_adam(double rate, double correction1, double correction2);
double bench_distance(const double *found, const double *expected, size_t n); /* relative to the norm of expected */

npmd_status bench_steps(const bench *b, json_t *rows, npmd_error *err);
/* Times whole steps of the cpu backend. */
npmd_status bench_step_time(const bench *b, const bench_field *f, int threads, bench_effort effort, bench_times *out,
                            npmd_error *err);
npmd_status bench_evaluation(const bench *b, json_t *rows, npmd_error *err);
npmd_status bench_density(const bench *b, json_t *row, npmd_error *err);
npmd_status bench_scaling(const bench *b, json_t *into, npmd_error *err);
npmd_status bench_device(const bench *b, json_t *rows, npmd_error *err); /* steps on a device other than the cpu */

#endif
