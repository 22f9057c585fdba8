/* bench_device.c - steps and evaluations on a device that runs many steps in one call.
 *
 * The gradient of every term is first compared with the reference, at the start and after 100 steps, with fast and with
 * exact products. A step is then timed as in training: many in one call, nothing read in between. The floor is the time
 * of the step's products at TENSOR_RATE, the rate of large TF32 products on an H200. */
#include "bench.h"

#define TENSOR_RATE 400e12
#define FAST_BOUND 2e-3  /* TF32 has 10 bits: 5e-4 an operand, forward and back */
#define EXACT_BOUND 1e-5 /* float32: as the cpu */
#define EARLY_STEPS 100
#define EVALUATED 1e9

static npmd_status run_steps(bench_descent *r, size_t count, double rate, step_record *found, npmd_error *err)
{
    optimiser_step step[BACKEND_MOST_STEPS];
    const step_recipe recipe = objective_recipe(&r->objective);
    for (size_t i = 0; i < count; i++)
        step[i] = bench_adam(rate, 1.0 - pow(0.9, (double)(r->step + (int64_t)i + 1)),
                             1.0 - pow(0.999, (double)(r->step + (int64_t)i + 1)));
    const npmd_status st = r->backend.ops->run(r->backend.self, &recipe, r->step, count, step, 0.0, 0.0, found, err);
    r->step += (int64_t)count;
    return st;
}

static npmd_status steps_call(void *self, npmd_error *err)
{
    bench_descent *r = self;
    step_record found[BACKEND_MOST_STEPS];
    return run_steps(r, r->together, 1e-9, found, err);
}

/* Gradient of one term alone, of a step of the small options. */
static npmd_status term_gradient(bench_descent *r, int which, double *g, double *sum, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *opt = r->objective.opt;
    point_source s;
    term_request what = { .points = &s };
    TRY(r->backend.ops->put(r->backend.self, VECTOR_GRADIENT, g, err));
    if (which == 0) {
        source_data(&s, r->objective.points, 0, (size_t)opt->descent.batch, true,
                    rng_key_make(opt->seed, RNG_BATCH, 0));
        what.kind = TERM_DATA;
        what.factor = -1.0;
    } else if (which == 1) {
        TRY(objective_integral_points(&r->objective, 0, (size_t)opt->descent.q1, &s, err));
        what.kind = TERM_INTEGRAL;
        what.factor = 1.0;
    } else {
        source_uniform(&s, r->objective.domain, (size_t)opt->descent.q2, true,
                       rng_key_make(opt->seed, RNG_PENALTY_POINTS, 0));
        what.kind = TERM_LAPLACIAN;
        what.factor = opt->tau;
    }
    TRY(r->backend.ops->term(r->backend.self, &what, sum, err));
    TRY(r->backend.ops->get(r->backend.self, VECTOR_GRADIENT, g, err));
done:
    return st;
}

/* Distance of each term's gradient from the reference's, relative to its norm. */
static npmd_status term_errors(const bench *b, const bench_field *f, bool exact, const double *theta, double error[3],
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = field_parameters(&f->plan.shape);
    settings small = f->options;
    double *g[2] = { NULL, NULL }, sum = 0.0;
    bench_descent r[2] = { 0 };
    small.descent.batch = small.descent.q1 =
        300; /* of fewer, single points show TF32's error without the mean over them */
    small.descent.q2 = 60;
    for (int i = 0; i < 2; i++) {
        TRY(memory_new(&g[i], n, err));
        TRY(bench_descent_open(&r[i], f, &small, i == 0 ? "reference" : b->asked->how.device, 0, exact, theta, err));
    }
    for (int which = 0; which < 3; which++) {
        for (int i = 0; i < 2; i++) {
            memset(g[i], 0, n * sizeof *g[i]);
            TRY(term_gradient(&r[i], which, g[i], &sum, err));
        }
        error[which] = bench_distance(g[1], g[0], n);
    }
done:
    for (int i = 0; i < 2; i++) {
        bench_descent_close(&r[i]);
        memory_free(g[i]);
    }
    return st;
}

static npmd_status verify(const bench *b, const bench_field *f, const char *what, double worst[2], json_t *row,
                          npmd_error *err)
{
    static const char *const TERMS[] = { "data", "integral", "penalty" };
    npmd_status st = NPMD_OK;
    const size_t n = field_parameters(&f->plan.shape);
    double *theta = NULL, error[3];
    bench_descent r = { 0 };
    step_record found[EARLY_STEPS];
    TRY(memory_new(&theta, n, err));
    memcpy(theta, f->theta, n * sizeof *theta);
    worst[0] = worst[1] = 0.0;
    for (int state = 0; state < 2; state++) {
        for (int exact = 0; exact < 2; exact++) {
            TRY(bench_say(b, err, "%s, %s products, %s", what, exact ? "exact" : "fast",
                          state ? "after 100 steps" : "start"));
            TRY(term_errors(b, f, exact, theta, error, err));
            for (int t = 0; t < 3; t++) {
                const cli_words key = cli_words_of("error_%s_%s_%s", TERMS[t], exact ? "exact" : "fast",
                                                   state ? "100" : "0");
                TRY(BENCH_PUT(row, err, REAL(key.text, error[t])));
                worst[exact] = fmax(worst[exact], error[t]);
            }
        }
        if (state == 0) {
            TRY(bench_descent_open(&r, f, &f->options, b->asked->how.device, 0, false, theta, err));
            TRY(run_steps(&r, EARLY_STEPS, 1e-4, found, err));
            TRY(r.backend.ops->get(r.backend.self, VECTOR_THETA, theta, err));
            bench_descent_close(&r);
        }
    }
done:
    bench_descent_close(&r);
    memory_free(theta);
    return st;
}

static npmd_status device_row(const bench *b, const bench_size *s, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench_field f = { 0 };
    bench_times times;
    bench_descent r = { 0 };
    double worst[2];
    const cli_words what = cli_words_of("step %s", s->name);
    json_t *row = bench_row(rows);
    TRY(bench_say(b, err, "%s", what.text));
    TRY(bench_field_open(&f, s, b->threads, err));
    TRY(verify(b, &f, what.text, worst, row, err));
    TRY(bench_verify(what.text, worst[0], FAST_BOUND, err));
    TRY(bench_verify(what.text, worst[1], EXACT_BOUND, err));
    TRY(bench_descent_open(&r, &f, &f.options, b->asked->how.device, 0, false, f.theta, err));
    const field_shape *shape = &f.plan.shape;
    const double flop = bench_step_flop(shape, (double)s->batch, (double)s->q1, (double)s->q2),
                 floor_seconds = flop / TENSOR_RATE;
    r.together = 64;
    TRY(bench_time(b, (bench_effort){ .repeat = 0.0, .seconds = 4.0, .least = 5, .most = 25 }, steps_call, &r, &times,
                   err));
    const double each = 1e3 / (double)r.together;
    TRY(BENCH_PUT(row, err, TEXT("name", s->name), TEXT("title", s->title), WHOLE("n", s->n), WHOLE("batch", s->batch),
                  WHOLE("q1", s->q1), WHOLE("q2", s->q2), BENCH_SHAPE(shape), REAL("error_fast", worst[0]),
                  REAL("bound_fast", FAST_BOUND), REAL("error_exact", worst[1]), REAL("bound_exact", EXACT_BOUND),
                  WHOLE("flop", flop)));
    TRY(BENCH_PUT(row, err, WHOLE("repeats", times.repeats), REAL("ms", each * times.median),
                  REAL("ms_low", each * times.low), REAL("ms_high", each * times.high),
                  REAL("floor_ms", 1e3 * floor_seconds), REAL("ratio", 1e-3 * each * times.median / floor_seconds),
                  REAL("tflops", 1e-12 * flop / (1e-3 * each * times.median))));
done:
    bench_descent_close(&r);
    bench_field_close(&f);
    return st;
}

/* The integral of the T2 network by points made on the device. */
static npmd_status integral_row(const bench *b, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench_field f = { 0 };
    bench_descent r = { 0 };
    point_source s;
    double sum = 0.0, square = 0.0, points = 0.0;
    const size_t some = (size_t)1 << 28;
    json_t *row = bench_row(rows);
    const bench_size size = bench_size_asked(b, &BENCH_SIZES[0]);
    TRY(bench_say(b, err, "evaluation"));
    TRY(bench_field_open(&f, &size, b->threads, err));
    TRY(bench_descent_open(&r, &f, &f.options, b->asked->how.device, 0, false, f.theta, err));
    source_uniform(&s, f.domain, some / 16, true, rng_key_make(1, RNG_TEST, 0));
    TRY(r.backend.ops->integrate(r.backend.self, &s, &sum, &square, err)); /* memory, code */
    const double started = clock_seconds();
    for (; points < (b->asked->quick ? EVALUATED / 16 : EVALUATED); points += (double)some) {
        source_uniform(&s, f.domain, some, true, rng_key_make(1, RNG_TEST, (uint64_t)(points / (double)some)));
        TRY(r.backend.ops->integrate(r.backend.self, &s, &sum, &square, err));
    }
    const double seconds = clock_seconds() - started;
    TRY(BENCH_PUT(row, err, TEXT("name", "t2 values"), REAL("points", points), REAL("seconds", seconds),
                  REAL("per_second", points / seconds), REAL("seconds_1e9", 1e9 * seconds / points)));
done:
    bench_descent_close(&r);
    bench_field_close(&f);
    return st;
}

npmd_status bench_device(const bench *b, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int i = 0; i < BENCH_SIZE_COUNT; i++)
        if (bench_wants(b, "steps", BENCH_SIZES[i].name)) {
            bench_size s = bench_size_asked(b, &BENCH_SIZES[i]);
            if (!b->asked->quick)
                s = BENCH_SIZES[i]; /* a device is there for the full size */
            TRY(device_row(b, &s, rows, err));
        }
    if (bench_wants(b, "evaluation", NULL))
        TRY(integral_row(b, rows, err));
done:
    return st;
}
