/* bench_evaluate.c - points per second: the networks in memory, and a density from file to file. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Relative to the root mean square of the values: u = 6e-8, sums over up to 256 units, a gain of omega = 10 for
 * each of at most 5 sine layers; the conformance tests hold values of smaller networks to 1e-5. */
#define VALUE_BOUND 1e-4
enum { CHECKED = 64 }; /* points at which the reference is asked, too */

/* Largest distance of two sets of values, relative to the root mean square of the second. */
static double values_error(const double *found, const double *expected, size_t n)
{
    double worst = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double error = fabs(found[i] - expected[i]);
        worst = error <= worst ? worst : isnan(error) ? INFINITY : error;
        square += expected[i] * expected[i] / (double)n;
    }
    return worst / sqrt(square);
}

/* ---- In memory --------------------------------------------------------------------------------------------------- */

typedef struct value_run {
    backend backend;
    const double *x;
    size_t n;
    double *v;
} value_run;

static npmd_status value_call(void *self, npmd_error *err)
{
    const value_run *r = self;
    return r->backend.ops->evaluate(r->backend.self, r->x, r->n, JET_VALUE, r->v, err);
}

static npmd_status value_error(const bench_field *f, const double *v, double *error, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    backend reference = { 0 };
    double expected[CHECKED];
    TRY(bench_field_backend(f, "reference", 1, false, f->theta, &reference, err));
    TRY(reference.ops->evaluate(reference.self, f->points->x, CHECKED, JET_VALUE, expected, err));
    *error = values_error(v, expected, CHECKED);
done:
    backend_close(&reference);
    return st;
}

static npmd_status evaluation_row(const bench *b, const bench_size *s, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench_field f = { 0 };
    value_run r = { 0 };
    bench_times t;
    double error = 0.0;
    const cli_words what = cli_words_of("evaluation %s", s->name);
    json_t *row = bench_row(rows);
    TRY(bench_say(b, err, "%s", what.text));
    TRY(bench_field_open(&f, s, b->threads, err));
    TRY(backend_open("cpu", b->threads, &f.plan, &r.backend, err));
    TRY(r.backend.ops->put(r.backend.self, VECTOR_THETA, f.theta, err));
    TRY(memory_new(&r.v, s->n, err));
    r.x = f.points->x;
    r.n = s->n;
    TRY(value_call(&r, err));
    TRY(value_error(&f, r.v, &error, err));
    TRY(bench_verify(what.text, error, VALUE_BOUND, err));
    TRY(bench_time(b, bench_effort_step(b), value_call, &r, &t, err));
    const field_shape *shape = &f.plan.shape;
    const double n = (double)s->n, flop = bench_forward_flop(shape),
                 limit = b->threads * bench_rate(b, shape->width) / flop;
    TRY(BENCH_PUT(row, err, TEXT("name", s->name), TEXT("domain", f.domain->text), WHOLE("n", n), BENCH_SHAPE(shape),
                  REAL("error", error), REAL("bound", VALUE_BOUND), WHOLE("flop", flop), WHOLE("repeats", t.repeats),
                  REAL("points_per_second", n / t.median), REAL("points_per_second_low", n / t.high),
                  REAL("points_per_second_high", n / t.low), REAL("floor_points_per_second", limit),
                  REAL("share", n / t.median / limit)));
done:
    backend_close(&r.backend);
    memory_free(r.v);
    bench_field_close(&f);
    return st;
}

npmd_status bench_evaluation(const bench *b, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int i = 0; i < BENCH_SIZE_COUNT; i++) {
        bench_size s = BENCH_SIZES[i];
        if (strcmp(s.name, "t4-authors") == 0) /* the network of t4 */
            continue;
        s.n = b->asked->quick ? 1000 : 200000;
        if (bench_wants(b, "evaluation", s.name))
            TRY(evaluation_row(b, &s, rows, err));
    }
done:
    return st;
}

/* ---- From file to file ------------------------------------------------------------------------------------------- */

enum { PIECE = 32768 }; /* points that are written together */

typedef struct density_run { /* in a folder of its own, which goes at the end */
    char folder[PLAN_MAX_PATH], points[PLAN_MAX_PATH + 16], values[PLAN_MAX_PATH + 16];
    bool made;
    size_t n;
    const npmd_domain *domain;
    const npmd_model *model;
    npmd_compute how;
    bool mapped;
    double read, written; /* seconds of the last call */
} density_run;

static npmd_status density_open(density_run *d, const char *parent, npmd_error *err)
{
    if (strlen(parent) > sizeof d->folder - 32)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "the folder for temporary files has a name of %zu characters",
                         strlen(parent));
    snprintf(d->folder, sizeof d->folder, "%s/neuropmd-bench-XXXXXX", parent);
    if (mkdtemp(d->folder) == NULL)
        return npmd_fail(err, NPMD_ERR_FILE, "cannot make a folder in %.300s: %s", parent, strerror(errno));
    d->made = true;
    snprintf(d->points, sizeof d->points, "%s/points.npy", d->folder);
    snprintf(d->values, sizeof d->values, "%s/values.npy", d->folder);
    return NPMD_OK;
}

static void density_close(density_run *d)
{
    if (!d->made)
        return;
    unlink(d->points);
    unlink(d->values);
    rmdir(d->folder);
}

static npmd_status density_points(const density_run *d, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table_writer *w = NULL;
    double *x = NULL, *weight = NULL;
    point_source s;
    TRY(memory_new(&x, PIECE * (size_t)d->domain->columns, err));
    TRY(memory_new(&weight, PIECE, err));
    TRY(table_writer_open(d->points, (size_t)d->domain->columns, d->n, &w, err));
    source_uniform(&s, d->domain, d->n, false, rng_key_make(1, RNG_TEST, 3));
    for (size_t first = 0; first < d->n; first += PIECE) {
        const size_t some = d->n - first < PIECE ? d->n - first : PIECE;
        source_fill_all(&s, first, some, d->how.threads, x, weight);
        TRY(table_writer_put(w, x, some, err));
    }
    st = table_writer_commit(w, err);
    w = NULL;
done:
    table_writer_abandon(w);
    memory_free(x);
    memory_free(weight);
    return st;
}

/* What `neuropmd density` does once it has its model. */
static npmd_status density_call(void *self, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    density_run *d = self;
    npmd_points *pts = NULL;
    const double start = clock_seconds();
    TRY(points_read(d->points, d->domain, NPMD_COORDS_DEFAULT, &pts, err));
    d->read = clock_seconds() - start;
    d->mapped = pts->x == NULL;
    TRY(model_evaluate_to(d->model, pts, NPMD_LOG_DENSITY, &d->how, d->values, err));
    d->written = clock_seconds() - start - d->read;
done:
    points_free(pts);
    return st;
}

/* The first values in the file against the reference at the first points. */
static npmd_status density_error(const density_run *d, double *error, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npy_map x = { 0 }, v = { 0 };
    npmd_points *first = NULL;
    double at[CHECKED * MANIFOLD_MAX_COLUMNS * 2], found[CHECKED], expected[CHECKED];
    TRY(npy_map_open(d->points, &x, err));
    TRY(npy_map_open(d->values, &v, err));
    assert(x.columns <= MANIFOLD_MAX_COLUMNS * 2 && v.count == d->n && d->n >= CHECKED);
    memcpy(at, x.rows, CHECKED * x.columns * sizeof *at);
    memcpy(found, v.rows, sizeof found);
    TRY(points_from(at, CHECKED, d->domain, &first, err));
    TRY(model_evaluate_at(d->model, first, NPMD_LOG_DENSITY, &(npmd_compute){ .device = "reference" }, expected, err));
    *error = values_error(found, expected, CHECKED);
done:
    points_free(first);
    npy_map_close(&x);
    npy_map_close(&v);
    return st;
}

npmd_status bench_density(const bench *b, json_t *row, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench_size s = BENCH_SIZES[0];
    bench_field f = { 0 };
    npmd_model *model = NULL;
    density_run d = { .n = b->asked->quick  ? 10000
                           : b->asked->full ? 10000000
                                            : 1000000,
                      .how = { .threads = b->threads } };
    bench_effort effort = bench_effort_step(b);
    bench_times t;
    double error = 0.0;
    s.n = CHECKED;
    effort.least = 3;
    effort.most = 5;
    TRY(bench_say(b, err, "density of %zu points, from file to file", d.n));
    TRY(bench_field_open(&f, &s, b->threads, err));
    TRY(bench_field_model(&f, &model, err));
    d.domain = f.domain;
    d.model = model;
    TRY(density_open(&d, b->asked->folder, err));
    TRY(density_points(&d, err));
    TRY(density_call(&d, err));
    TRY(density_error(&d, &error, err));
    TRY(bench_verify("density from file to file", error, VALUE_BOUND, err));
    TRY(bench_time(b, effort, density_call, &d, &t, err));
    const double n = (double)d.n, flop = bench_forward_flop(&f.plan.shape),
                 limit = b->threads * bench_rate(b, f.plan.shape.width) / flop;
    TRY(BENCH_PUT(row, err, TEXT("name", s.name), FLAG("mapped", d.mapped), WHOLE("n", n), REAL("error", error),
                  REAL("bound", VALUE_BOUND), WHOLE("repeats", t.repeats), REAL("seconds", t.median),
                  REAL("seconds_low", t.low), REAL("seconds_high", t.high), REAL("read_seconds", d.read),
                  REAL("evaluate_seconds", d.written), REAL("points_per_second", n / t.median),
                  REAL("floor_points_per_second", limit), REAL("share", n / t.median / limit)));
done:
    density_close(&d);
    model_free(model);
    bench_field_close(&f);
    return st;
}
