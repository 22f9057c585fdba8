/* core.h - the foundation of all other folders: errors, checked memory, random numbers, quasi-random points.
 *
 * A random number is a pure function of (seed, purpose, step, index, slot), never of the order of calls, so that points
 * are the same on one thread, on many, or on another device. */
#ifndef NPMD_CORE_H
#define NPMD_CORE_H

#include "neuropmd.h"
#include "numbers.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are read and written as they lie in memory");

/* The project's only control-flow macro: a function that owns something has one exit, at the label done. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((st = (call)) != NPMD_OK)                                                                                  \
            goto done;                                                                                                 \
    } while (0)

/* ---- status.c ---------------------------------------------------------------------------------------------------- */

/* Writes the sentence into err (which may be NULL) and returns st. */
npmd_status npmd_fail(npmd_error *err, npmd_status st, const char *format, ...) __attribute__((format(printf, 3, 4)));

const char *status_text(npmd_status st);
const char *version_text(void);

/* The one place that decides which numbers may be given to a caller: those that are finite. what, for the sentence: "the
 * value"; columns: numbers in a row, 0: they stand in no rows; first: rows before these. */
npmd_status numbers_known(const char *what, const double *x, size_t n, size_t columns, size_t first, npmd_error *err);

/* ---- memory.c: zeroed, aligned to a cache line, sizes multiplied with an overflow check -------------------------- */

#define MEMORY_ALIGNMENT 64
npmd_status memory_take(void **out, size_t count, size_t size, npmd_error *err);
#define memory_new(pointer, count, err) memory_take((void **)(pointer), (size_t)(count), sizeof **(pointer), (err))
void memory_free(void *p);
/* Frees each of these, for a function that took several. */
#define memory_free_all(...)                                                                                           \
    memory_free_each((void *[]){ __VA_ARGS__ }, sizeof((void *[]){ __VA_ARGS__ }) / sizeof(void *))
void memory_free_each(void *const *p, size_t count);
/* frees a text that the library gave to a caller */
void text_free(char *text);
npmd_status memory_text(char **out, const char *text, npmd_error *err); /* copies a text */
/* Makes room for at least need elements, for readers that do not know a file's length. */
npmd_status memory_grow(void **p, size_t *capacity, size_t need, size_t size, npmd_error *err);

/* ---- random.c: Philox4x32-10 (Salmon et al. 2011) ---------------------------------------------------------------- */

typedef enum rng_purpose {
    RNG_ENCODING = 1,
    RNG_START,
    RNG_BATCH,
    RNG_INTEGRAL_POINTS,
    RNG_PENALTY_POINTS,
    RNG_CENTRES,
    RNG_NORMALISE,
    RNG_COMPARE,
    RNG_TRUTH,
    RNG_SIMULATE,
    RNG_TUNE,
    RNG_SCORE,
    RNG_SAMPLE,
    RNG_SKETCH,
    RNG_MARGINAL,
    RNG_MEMBER,
    RNG_REGION,
    RNG_TEST,
    RNG_DIAGNOSE,
    RNG_VIEW
} rng_purpose;

void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
rng_key rng_key_make(uint64_t seed, rng_purpose purpose, uint64_t step);
double rng_uniform(rng_key key, uint64_t index, uint32_t slot); /* in (0, 1), 52 bits */
double rng_normal(rng_key key, uint64_t index, uint32_t slot);
uint32_t rng_word(rng_key key, uint64_t index, uint32_t slot);

/* A bijection of {0 .. n-1} that needs no memory: the place of index i in the shuffled order of this key. */
uint64_t rng_permute(rng_key key, uint64_t i, uint64_t n);

/* ---- sobol.c: Owen-scrambled Sobol points, in [0,1)^dimensions --------------------------------------------------- */

#define SOBOL_MAX_DIMENSIONS 64
typedef struct sobol {
    int dimensions;
    uint32_t scramble[SOBOL_MAX_DIMENSIONS], direction[SOBOL_MAX_DIMENSIONS][32];
} sobol;
void sobol_open(sobol *s, int dimensions, rng_key key);      /* a fresh scramble */
void sobol_point(const sobol *s, uint32_t index, double *u); /* u (dimensions) */
/* The direction numbers of one dimension, most significant digit first. */
void sobol_directions(int dimension, uint32_t v[32]);
uint32_t sobol_raw(int dimension, uint32_t index); /* before scrambling */

/* ---- hashing: a 64-bit word into a running hash, by multiplying and folding (constants of splitmix64) ------------ */

static inline uint64_t hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
    h *= 0x94d049bb133111ebu;
    return h ^ h >> 32;
}
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t size)
{
    h = hash_word(h, size);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const unsigned char *)bytes + at, size - at < sizeof word ? size - at : sizeof word);
        h = hash_word(h, word);
    }
    return h;
}

/* log(exp a + exp b); either may be -infinity. */
static inline double log_add(double a, double b)
{
    const double top = fmax(a, b);
    return top == -INFINITY ? top : top + log(exp(a - top) + exp(b - top));
}

/* ---- vectors of three -------------------------------------------------------------------------------------------- */

static inline double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void minus3(const double *a, const double *b, double *out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}
static inline void cross3(const double *a, const double *b, double *out) /* neither a nor b */
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* ---- utf8.c ------------------------------------------------------------------------------------------------------ */

/* Bytes of the UTF-8 character at p, or 0: shortest form only, no surrogates, at most U+10FFFF. */
size_t utf8_length(const char *p, const char *end);
size_t utf8_wrong(const char *text); /* place of the first byte that is not UTF-8, from 1; 0: all is UTF-8 */
/* A copy with U+FFFD for each byte that is not UTF-8, which the caller frees. */
npmd_status utf8_mend(const char *text, char **out, npmd_error *err);
size_t utf8_put(uint32_t code, char *out);        /* at most 4 bytes; returns how many */
uint32_t utf8_code(const char *p, size_t length); /* code point of a character of this length */

/* ---- status.c ---------------------------------------------------------------------------------------------------- */

/* How a computation runs; how may be NULL throughout. */
static inline const char *compute_device(const npmd_compute *how)
{
    return how == NULL || how->device == NULL ? "" : how->device;
}
int compute_tell(const npmd_compute *how, const char *doing, double done); /* nonzero: stop */
/* The same as a status, between two pieces of a long computation: NPMD_STOPPED if the caller asks to stop. */
npmd_status compute_go_on(const npmd_compute *how, const char *doing, double done, npmd_error *err);
static inline bool compute_is_watched(const npmd_compute *how)
{
    return how != NULL && how->progress != NULL;
}
/* For a part of a longer computation: its reports appear under the name of the whole, as shares from .. to. The result
 * points to the part. */
typedef struct compute_part {
    const npmd_compute *how; /* compute of the whole; may be NULL */
    const char *doing;
    double from, to;
} compute_part;
npmd_compute compute_of_part(compute_part *part);
/* A report without computed values: they are NaN. */
npmd_report report_new(int64_t step, int64_t steps, int attempt, double seconds);
double clock_seconds(void); /* monotonic */

/* ---- sized.c: structs that begin with their size ----------------------------------------------------------------- */

/* Copies the caller's struct, of this version or another, into own; fields that it does not have become zero. given
 * NULL: all are zero. */
npmd_status sized_take(const void *given, void *own, size_t size, const char *name, npmd_error *err);
/* Copies as much of own as the caller's struct has room for, whose size stays. */
npmd_status sized_give(const void *own, size_t size, void *given, const char *name, npmd_error *err);
/* Checks the size at the start of the caller's struct; NULL passes. */
npmd_status sized_check(const void *given, const char *name, npmd_error *err);
#define SIZED_CHECK(given, err) sized_check((given), #given, (err))
#define SIZED_TAKE(given, own, err) sized_take((given), (own), sizeof *(own), #given, (err))
#define SIZED_GIVE(own, given, err) sized_give((own), sizeof *(own), (given), #given, (err))

/* ---- threads.c, and lanes ------------------------------------------------------------------------------------------ */

#ifdef _OPENMP
#include <omp.h>
#else /* a build without OpenMP has one thread */
static inline int omp_get_thread_num(void)
{
    return 0;
}
static inline int omp_get_max_threads(void)
{
    return 1;
}
#endif

#define THREADS_MOST 4096
/* 0: all cores, or one in a child made by fork where the parent used several. Says that so many are used here. */
int threads_wanted(int asked);
/* At every door of the library, before the first parallel region: may so many be used, and can they be started? */
npmd_status threads_check(int asked, npmd_error *err);
npmd_status compute_check(const npmd_compute *how, npmd_error *err); /* of how, which may be NULL */

static inline int compute_threads(const npmd_compute *how)
{
    return threads_wanted(how == NULL ? 0 : how->threads);
}

/* Work is dealt to a fixed number of lanes, so that sums do not depend on the number of threads. */
#define LANES 16

#endif
