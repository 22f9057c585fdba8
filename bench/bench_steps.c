/* bench_steps.c - one optimisation step at the sizes of the published experiments.
 *
 * The gradient of a small step is first compared with the reference backend. */
#include "bench.h"

/* Relative to the gradient's norm, as in tests/conformance: float32 forward and back, each with u sqrt(K) a sum
 * and a gain of omega a layer. Something misplaced is of order 0.1. */
#define GRADIENT_BOUND 1e-4

npmd_status bench_descent_open(bench_descent *d, const bench_field *f, const settings *opt, const char *device,
                               int threads, bool exact, const double *theta, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(bench_field_backend(f, device, threads, exact, theta, &d->backend, err));
    TRY(objective_open(&d->objective, f->domain, f->points, opt, err));
done:
    return st;
}

void bench_descent_close(bench_descent *d)
{
    objective_close(&d->objective);
    backend_close(&d->backend);
    *d = (bench_descent){ 0 };
}

optimiser_step bench_adam(double rate, double correction1, double correction2)
{
    return (optimiser_step){ .kind = OPTIMISER_ADAM,
                             .rate = rate,
                             .beta1 = 0.9,
                             .beta2 = 0.999,
                             .epsilon = 1e-8,
                             .correction1 = correction1,
                             .correction2 = correction2,
                             .max_norm = INFINITY };
}

double bench_distance(const double *found, const double *expected, size_t n)
{
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < n; i++) {
        difference += (found[i] - expected[i]) * (found[i] - expected[i]);
        size += expected[i] * expected[i];
    }
    return sqrt(difference / size);
}

/* Points, terms, gradient and update: all that training does in a step. The rate is too small to go anywhere. */
static npmd_status step_call(void *self, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench_descent *s = self;
    objective_value value;
    double norm = 0.0;
    const optimiser_step update = bench_adam(1e-9, 1.0, 1.0);
    TRY(objective_step(&s->objective, &s->backend, s->step++, &value, err));
    TRY(s->backend.ops->update(s->backend.self, &update, &norm, err));
done:
    return st;
}

/* Distance of the gradient of a small step from the reference's, relative. */
static npmd_status step_error(const bench *b, const bench_field *f, double *error, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = field_parameters(&f->plan.shape);
    settings small = f->options;
    double *g[2] = { NULL, NULL };
    bench_descent s = { 0 };
    small.descent.batch = b->asked->quick ? 17 : 100;
    small.descent.q1 = small.descent.batch;
    small.descent.q2 = b->asked->quick ? 3 : 20;
    for (int i = 0; i < 2; i++) {
        objective_value value;
        TRY(memory_new(&g[i], n, err));
        TRY(bench_descent_open(&s, f, &small, i == 0 ? "reference" : "cpu", b->threads, false, f->theta, err));
        TRY(objective_step(&s.objective, &s.backend, 0, &value, err));
        TRY(s.backend.ops->get(s.backend.self, VECTOR_GRADIENT, g[i], err));
        bench_descent_close(&s);
    }
    *error = bench_distance(g[1], g[0], n);
done:
    bench_descent_close(&s);
    memory_free(g[0]);
    memory_free(g[1]);
    return st;
}

npmd_status bench_step_time(const bench *b, const bench_field *f, int threads, bench_effort effort, bench_times *out,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench_descent s = { 0 };
    TRY(bench_descent_open(&s, f, &f->options, "cpu", threads, false, f->theta, err));
    TRY(bench_time(b, effort, step_call, &s, out, err));
done:
    bench_descent_close(&s);
    return st;
}

static npmd_status step_row(const bench *b, const bench_size *s, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench_field f = { 0 };
    bench_times all, one;
    bench_effort effort = bench_effort_step(b);
    double error = 0.0;
    const cli_words what = cli_words_of("step %s", s->name);
    json_t *row = bench_row(rows);
    TRY(bench_say(b, err, "%s", what.text));
    TRY(bench_field_open(&f, s, b->threads, err));
    TRY(step_error(b, &f, &error, err));
    TRY(bench_verify(what.text, error, GRADIENT_BOUND, err));
    TRY(bench_say(b, err, "%s, %d thread%s", what.text, b->threads, b->threads == 1 ? "" : "s"));
    TRY(bench_step_time(b, &f, b->threads, effort, &all, err));
    one = all;
    if (b->threads > 1) {
        effort.least = 3; /* it only tells how threads help */
        TRY(bench_say(b, err, "%s, 1 thread", what.text));
        TRY(bench_step_time(b, &f, 1, effort, &one, err));
    }
    const field_shape *shape = &f.plan.shape;
    const double batch = (double)s->batch, q1 = (double)s->q1, q2 = (double)s->q2;
    const double flop = bench_step_flop(shape, batch, q1, q2), bytes = bench_step_bytes(shape, batch);
    const double floor_seconds = flop / (b->threads * bench_rate(b, shape->width));
    TRY(BENCH_PUT(row, err, TEXT("name", s->name), TEXT("title", s->title), TEXT("domain", f.domain->text),
                  WHOLE("n", s->n), WHOLE("batch", batch), WHOLE("q1", q1), WHOLE("q2", q2), BENCH_SHAPE(shape),
                  REAL("error", error), REAL("bound", GRADIENT_BOUND), WHOLE("flop", flop), WHOLE("bytes", bytes)));
    TRY(BENCH_PUT(row, err, WHOLE("repeats", all.repeats), REAL("ms", 1e3 * all.median), REAL("ms_low", 1e3 * all.low),
                  REAL("ms_high", 1e3 * all.high), REAL("floor_ms", 1e3 * floor_seconds),
                  REAL("ratio", all.median / floor_seconds), REAL("gflops", 1e-9 * flop / all.median),
                  REAL("bytes_ms", 1e3 * bytes / b->bandwidth), REAL("cpu_ms", 1e3 * all.cpu),
                  REAL("ms_one_thread", 1e3 * one.median), REAL("cpu_ms_one_thread", 1e3 * one.cpu),
                  REAL("speedup", one.median / all.median),
                  WHOLE("working_bytes", backend_bytes("cpu", b->threads, &f.plan, s->n))));
done:
    bench_field_close(&f);
    return st;
}

npmd_status bench_steps(const bench *b, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int i = 0; i < BENCH_SIZE_COUNT; i++)
        if (bench_wants(b, "steps", BENCH_SIZES[i].name)) {
            const bench_size s = bench_size_asked(b, &BENCH_SIZES[i]);
            TRY(step_row(b, &s, rows, err));
        }
done:
    return st;
}
