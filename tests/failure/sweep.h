/* sweep.h - an operation of the library, done again and again with another call of the system failing each time.
 *
 * Every operation is done once undisturbed, and then with its k-th allocation failing, k = 1, 2, ... (every seventh,
 * and with NPMD_DEEP set each one), until none is left to fail; a second time with the k-th and all later ones failing.
 * After each failure
 *
 *   - the status is NPMD_ERR_MEMORY, in the error as well, with a sentence;
 *   - no output was written to, the old file stands byte for byte, and there is no other file in its folder;
 *   - every block of memory is free again and every file closed.
 *
 * An operation that ends well has the undisturbed result to the last bit: nothing may get lost in silence.
 * Files are treated alike: the k-th write, fsync, rename, ... fails, and the status is NPMD_ERR_FILE. */
#ifndef NPMD_TEST_SWEEP_H
#define NPMD_TEST_SWEEP_H

#include "api.h"
#include "faults.h"
#include "place.h"

#include <errno.h>

#define SURFACE_DOMAIN "mesh:tests/fixtures/surface/bumpy.off" /* tests run from the root of the source tree */
enum { TORUS, MIXED, DOMAINS };
enum { POINTS = 220, VALUES = 600, LARGE = 20000 }; /* enough for a choice of tau; more than one write */

typedef struct stage { /* what the operations are given */
    place at;
    npmd_domain *domain[DOMAINS];
    npmd_points *points[DOMAINS]; /* those of MIXED are weighted */
    npmd_model *model[DOMAINS];
    npmd_model *squared, *relu, *kernels, *series; /* on MIXED */
    npmd_model *surface;                           /* a series on a triangulated surface */
    npmd_truth *normals, *grid;                    /* on the torus */
    npmd_truth *fisher;                            /* on MIXED */
    double x[DOMAINS][POINTS * 4], large[LARGE];
} stage;

typedef struct outcome { /* what they may write to */
    npmd_domain *domain;
    npmd_points *points;
    npmd_model *model;
    npmd_truth *truth;
    npmd_options *made;
    char *text;
    npmd_options options;
    npmd_score score;
    npmd_comparison comparison;
    npmd_sample_facts facts;
    double entropy, se, value[VALUES];
} outcome;

typedef struct operation {
    const char *name;
    npmd_status (*run)(stage *s, outcome *o, npmd_error *err);
    void (*prepare)(stage *s, outcome *o); /* undisturbed, before each run; may be NULL */
    const char *file;                      /* that it writes; NULL: none */
    bool branch; /* takes long, and is done once, with a child for each failure: see faults.h */
    bool spares; /* some of its allocations it can do without */
    bool keeps;  /* it leaves files for a fit that resumes it */
} operation;

int stage_open(void **state); /* a group's setup and teardown */
int stage_close(void **state);

/* Pairs of name and value, NULL at the end; everything else as small as it can be. */
void fit_options(npmd_options *opt, const char *const *pair);

bool sweep_deep(void); /* is NPMD_DEEP set? */
/* Every allocation of every operation: the k-th, and the k-th with all later ones. */
void sweep_memory(stage *s, const operation *ops, size_t count);
#define SWEEP_MEMORY(s, ops) sweep_memory(s, ops, sizeof(ops) / sizeof *(ops))

/* How many failing calls of a kind an operation bears. One fsync, with its open and close: that of the folder, after
 * the new file is in its place; and the closes of the folder and the lock that were held (src/io/file.c). */
typedef struct allowance {
    fault_call call;
    int reason;
    long least, borne; /* calls that must fail the operation, at least; calls that must not, at most */
} allowance;

static const allowance READING[] = {
    { FAULT_OPEN, EMFILE, 1, 0 },
    { FAULT_STAT, EIO, 1, 0 },
    { FAULT_READ, EIO, 1, 0 },
    { FAULT_CLOSE, EIO, 0, 1 }, /* all was read */
};

/* Every call of these kinds of every operation. */
void sweep_files(stage *s, const operation *ops, size_t count, const allowance *calls, size_t kinds);
#define SWEEP_FILES(s, ops, calls)                                                                                     \
    sweep_files(s, ops, sizeof(ops) / sizeof *(ops), calls, sizeof(calls) / sizeof *(calls))

#endif
