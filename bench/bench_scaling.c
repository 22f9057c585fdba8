/* bench_scaling.c - the cost as a function of every size, each varied alone. */
#include "bench.h"

#include <stdio.h>

#define QUICK 16 /* a quick run has this many times fewer points */

typedef enum scaled { SCALED_BATCH, SCALED_Q1, SCALED_Q2, SCALED_K, SCALED_W, SCALED_L, SCALED_D } scaled;
enum { VALUES = 4 };

/* The first three grow the points of one term, which is timed alone; the others the network, under a whole
 * step. The exponent of the operation count stands beside the measured one: a sum of terms of which some do not
 * grow has an exponent below that of the one that does. */
static const struct scaling_row {
    const char *name, *what;
    scaled which;
    int value[VALUES];
} SCALINGS[] = {
    { "n", "data term", SCALED_BATCH, { 4096, 8192, 16384, 32768 } },
    { "q1", "integral term", SCALED_Q1, { 4096, 8192, 16384, 32768 } },
    { "q2", "penalty term", SCALED_Q2, { 1024, 2048, 4096, 8192 } },
    { "K", "step", SCALED_K, { 64, 128, 256, 512 } },
    { "W", "step", SCALED_W, { 64, 128, 256, 512 } },
    { "L", "step", SCALED_L, { 2, 4, 6, 8 } },
    { "D", "step", SCALED_D, { 2, 3, 4, 6 } },
};
static const bench_size BASE = { "base", "T4", "T4", "paper-t4", false, false, 16384, 16384, 8192, 2048, 256, 128, 4 };

typedef struct term_run {
    backend backend;
    term_request what;
} term_run;

static npmd_status term_call(void *self, npmd_error *err)
{
    double sum = 0.0;
    const term_run *t = self;
    return t->backend.ops->term(t->backend.self, &t->what, &sum, err);
}

static npmd_status term_time(const bench *b, const bench_field *f, scaled which, bench_times *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    point_source source;
    term_run t = { .what = { .kind = which == SCALED_BATCH ? TERM_DATA
                                     : which == SCALED_Q1  ? TERM_INTEGRAL
                                                           : TERM_LAPLACIAN,
                             .points = &source,
                             .factor = 1e-6 } };
    const size_t count = (size_t)(which == SCALED_Q1 ? f->options.descent.q1 : f->options.descent.q2);
    if (which == SCALED_BATCH)
        source_data(&source, f->points, 0, f->points->n, false, (rng_key){ 0 });
    else
        source_uniform(&source, f->domain, count, true, rng_key_make(1, RNG_TEST, 2));
    TRY(bench_field_backend(f, "cpu", b->threads, false, f->theta, &t.backend, err));
    TRY(bench_time(b, bench_effort_step(b), term_call, &t, out, err));
done:
    backend_close(&t.backend);
    return st;
}

/* The base size with one number changed; domain is room for the name of a torus. */
static bench_size scaled_size(scaled which, int value, int part, char domain[16])
{
    bench_size s = BASE;
    s.n = s.batch = s.batch / (size_t)part;
    s.q1 /= (size_t)part;
    s.q2 /= (size_t)part;
    if (which == SCALED_BATCH)
        s.n = s.batch = (size_t)value;
    else if (which == SCALED_Q1 || which == SCALED_Q2)
        *(which == SCALED_Q1 ? &s.q1 : &s.q2) = (size_t)value;
    else if (which != SCALED_D)
        *(which == SCALED_K ? &s.features : which == SCALED_W ? &s.width : &s.depth) = value;
    snprintf(domain, 16, "T%d", value);
    s.domain = which == SCALED_D ? domain : s.domain;
    return s;
}

static npmd_status scaling_point(const bench *b, const struct scaling_row *r, int value, int part, double *ms,
                                 double *flop, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench_field f = { 0 };
    bench_times t;
    char domain[16];
    const bench_size s = scaled_size(r->which, value, part, domain);
    TRY(bench_say(b, err, "scaling, %s = %d", r->name, value));
    TRY(bench_field_open(&f, &s, b->threads, err));
    if (r->which <= SCALED_Q2)
        TRY(term_time(b, &f, r->which, &t, err));
    else
        TRY(bench_step_time(b, &f, b->threads, bench_effort_step(b), &t, err));
    const field_shape *shape = &f.plan.shape;
    const double batch = (double)s.batch, q1 = (double)s.q1, q2 = (double)s.q2;
    *ms = 1e3 * t.median;
    *flop = r->which == SCALED_BATCH ? bench_step_flop(shape, batch, 0.0, 0.0)
            : r->which == SCALED_Q1  ? bench_step_flop(shape, 0.0, q1, 0.0)
            : r->which == SCALED_Q2  ? bench_step_flop(shape, 0.0, 0.0, q2)
                                     : bench_step_flop(shape, batch, q1, q2);
done:
    bench_field_close(&f);
    return st;
}

static npmd_status scaling_row(const bench *b, const struct scaling_row *r, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int part = b->asked->quick ? QUICK : 1;
    double x[VALUES], ms[VALUES], flop[VALUES];
    json_t *row = bench_row(rows), *values = json_array(), *times = json_array();
    for (int i = 0; i < VALUES; i++) {
        const int value = r->which <= SCALED_Q2 ? r->value[i] / part : r->value[i];
        TRY(scaling_point(b, r, value, part, &ms[i], &flop[i], err));
        TRY(json_append(values, json_integer(value), err));
        x[i] = value;
        TRY(json_append(times, json_real(ms[i]), err));
    }
    TRY(BENCH_PUT(row, err, TEXT("name", r->name), TEXT("what", r->what)));
    TRY(json_put(row, "values", json_incref(values), err));
    TRY(json_put(row, "ms", json_incref(times), err));
    TRY(BENCH_PUT(row, err, REAL("exponent", bench_slope(x, ms, VALUES)),
                  REAL("exponent_counted", bench_slope(x, flop, VALUES))));
done:
    json_decref(values);
    json_decref(times);
    return st;
}

npmd_status bench_scaling(const bench *b, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t part = b->asked->quick ? QUICK : 1;
    json_t *rows = json_array();
    for (size_t i = 0; i < sizeof SCALINGS / sizeof *SCALINGS; i++)
        TRY(scaling_row(b, &SCALINGS[i], rows, err));
    TRY(BENCH_PUT(bench_object(into, "base"), err, TEXT("domain", BASE.domain), WHOLE("n", BASE.batch / part),
                  WHOLE("q1", BASE.q1 / part), WHOLE("q2", BASE.q2 / part), BENCH_SHAPE(&BASE)));
    TRY(json_put(into, "rows", json_incref(rows), err));
done:
    json_decref(rows);
    return st;
}
