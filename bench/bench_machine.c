/* bench_machine.c - the ceilings: most operations and bytes per second.
 *
 * Operations: the chosen kernel's product at 512 x W x W in float32, every thread on its own matrices. Bytes: the triad
 * a = b + s c, 24 bytes for each number, as McCalpin's STREAM counts them, over arrays that no cache holds and over
 * arrays of a tile's size, which stay in the second-level cache. */
#include "bench.h"

/* ---- Products ---------------------------------------------------------------------------------------------------- */

typedef struct product_run {
    const kernels *kernels;
    int threads, calls;          /* products that a thread makes in one call */
    size_t width, ld, a, b, one; /* offsets of B and C in a thread's share, and its size */
    float *room;
} product_run;

static npmd_status product_call(void *self, npmd_error *err)
{
    const product_run *p = self;
    (void)err;
#pragma omp parallel for schedule(static, 1) num_threads(p->threads)
    for (int t = 0; t < p->threads; t++) {
        float *A = p->room + (size_t)t * p->one, *B = A + p->a, *C = B + p->b;
        for (int c = 0; c < p->calls; c++)
            p->kernels->product(BENCH_ROWS, p->width, p->width, (strided){ A, p->ld, 1 }, B, p->ld, C, p->ld, 0);
    }
    return NPMD_OK;
}

/* The largest error against sums in double, relative to the sum of the absolute terms; a few rows tell. */
static double product_error(const product_run *p)
{
    const float *A = p->room, *B = A + p->a, *C = B + p->b;
    double worst = 0.0;
    for (size_t i = 0; i < BENCH_ROWS; i += 37)
        for (size_t j = 0; j < p->width; j++) {
            double sum = 0.0, size = 0.0;
            for (size_t k = 0; k < p->width; k++) {
                const double term = (double)A[i * p->ld + k] * (double)B[k * p->ld + j];
                sum += term;
                size += fabs(term);
            }
            const double error = fabs((double)C[i * p->ld + j] - sum) / size;
            worst = error <= worst ? worst : isnan(error) ? INFINITY : error;
        }
    return worst;
}

static npmd_status machine_product(bench *b, int which, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t W = (size_t)BENCH_WIDTH[which], ld = W + TILE_UNITS;
    product_run p = { .kernels = b->kernels, .threads = 1, .calls = 1, .width = W, .ld = ld };
    const double flop = 2.0 * BENCH_ROWS * (double)(W * W);
    const rng_key key = rng_key_make(1, RNG_TEST, W);
    bench_times one, all;
    json_t *row = bench_row(rows);
    p.a = BENCH_ROWS * ld;
    p.b = W * ld;
    p.one = 2 * p.a + p.b + TILE_UNITS;
    TRY(bench_say(b, err, "product rate at %d x %zu x %zu", BENCH_ROWS, W, W));
    TRY(memory_new(&p.room, (size_t)b->threads * p.one, err));
    for (size_t i = 0; i < (size_t)b->threads * p.one; i++)
        p.room[i] = (float)(2.0 * rng_uniform(key, i, 0) - 1.0);
    TRY(bench_time(b, bench_effort_kernel(b), product_call, &p, &one, err));
    const double error = product_error(&p), bound = ((double)W + 2.0) * 0x1p-24; /* W products and sums */
    TRY(bench_verify("the product of the machine's ceiling", error, bound, err));
    p.threads = b->threads;
    p.calls = 8; /* so that starting the threads does not count */
    TRY(bench_time(b, bench_effort_kernel(b), product_call, &p, &all, err));
    b->product_rate[which] = flop / one.best;
    TRY(BENCH_PUT(row, err, WHOLE("rows", BENCH_ROWS), WHOLE("width", W), REAL("gflops_one", 1e-9 * flop / one.best),
                  REAL("gflops_one_median", 1e-9 * flop / one.median),
                  REAL("gflops_all", 1e-9 * flop * p.calls * p.threads / all.best),
                  REAL("gflops_all_median", 1e-9 * flop * p.calls * p.threads / all.median), REAL("error", error),
                  REAL("bound", bound)));
done:
    memory_free(p.room);
    return st;
}

double bench_rate(const bench *b, int width)
{
    return b->product_rate[width <= (BENCH_WIDTH[0] + BENCH_WIDTH[1]) / 2 ? 0 : 1];
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct triad_run {
    int threads;
    size_t count;
    double *a, *b, *c;
} triad_run;

static npmd_status triad_call(void *self, npmd_error *err)
{
    const triad_run *t = self;
    double *restrict a = t->a;
    const double *b = t->b, *c = t->c;
    (void)err;
#pragma omp parallel for schedule(static) num_threads(t->threads)
    for (size_t i = 0; i < t->count; i++)
        a[i] = b[i] + 3.0 * c[i];
    return NPMD_OK;
}

/* Three arrays of that many bytes; all threads are asked only where all is given. */
static npmd_status triad_time(const bench *b, size_t bytes, bench_effort effort, bench_times *one, bench_times *all,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    triad_run t = { .threads = 1, .count = bytes / sizeof(double) };
    double error = 0.0;
    TRY(memory_new(&t.a, t.count, err));
    TRY(memory_new(&t.b, t.count, err));
    TRY(memory_new(&t.c, t.count, err));
    for (size_t i = 0; i < t.count; i++) {
        t.b[i] = (double)i;
        t.c[i] = 0.5 * (double)i;
    }
    TRY(bench_time(b, effort, triad_call, &t, one, err));
    t.threads = b->threads;
    if (all != NULL)
        TRY(bench_time(b, effort, triad_call, &t, all, err));
    for (size_t i = 0; i < t.count; i++)
        error = fmax(error, fabs(t.a[i] - 2.5 * (double)i)); /* small whole numbers and halves: exact */
    TRY(bench_verify("the triad of the memory's ceiling", error, 0.0, err));
done:
    memory_free(t.a);
    memory_free(t.b);
    memory_free(t.c);
    return st;
}

static npmd_status machine_memory(bench *b, json_t *machine, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    /* three arrays of 64 MiB are beyond the caches of a core and of most sockets */
    const size_t large = (size_t)(b->asked->quick ? 32 : 64) << 20, small = (size_t)96 << 10;
    const bench_effort effort = { .seconds = b->asked->quick ? 0.02 : 0.6, .least = 3, .most = 13 };
    bench_times one, all, cached;
    TRY(bench_say(b, err, "memory bandwidth"));
    TRY(triad_time(b, large, effort, &one, &all, err));
    TRY(triad_time(b, small, bench_effort_kernel(b), &cached, NULL, err));
    b->bandwidth = 3.0 * (double)large / all.best;
    b->bandwidth_cache = 3.0 * (double)small / cached.best;
    TRY(BENCH_PUT(bench_object(machine, "memory"), err, WHOLE("array_bytes", large),
                  REAL("gbs_one", 3e-9 * (double)large / one.best), REAL("gbs_all", 1e-9 * b->bandwidth)));
    TRY(BENCH_PUT(bench_object(machine, "cache"), err, WHOLE("array_bytes", small),
                  REAL("gbs_one", 1e-9 * b->bandwidth_cache)));
done:
    return st;
}

npmd_status bench_machine(bench *b, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *text = NULL;
    json_t *build = NULL, *rows = json_array();
    double load = NAN; /* of the last minute: what else ran here */
    if (getloadavg(&load, 1) != 1)
        load = NAN;
    TRY(npmd_build_describe(&text, err));
    TRY(json_from_text(text, strlen(text), "the build", &build, err));
    TRY(json_put(into, "version", json_incref(json_object_get(build, "version")), err));
    TRY(json_put(into, "compiler", json_incref(json_object_get(build, "compiler")), err));
    TRY(BENCH_PUT(into, err, TEXT("kernels", b->kernels->name), WHOLE("threads", b->threads), REAL("load", load)));
    for (int i = 0; i < BENCH_WIDTHS; i++)
        TRY(machine_product(b, i, rows, err));
    TRY(json_put(into, "product", json_incref(rows), err));
    TRY(machine_memory(b, into, err));
done:
    json_decref(rows);
    json_decref(build);
    text_free(text);
    return st;
}
