/* step.c - one optimisation step and the evaluation of a density, at the sizes of the published experiments.
 *
 * The gradient of a small step is first held to the reference backend. The floor of a step is its exact
 * operation count (products only; the first layer needs no gradient of its input; a jet counts p + 2 rows)
 * over the product rate of one core, measured here, times the number of threads. */
#include "estimators.h"

#include <stdio.h>

typedef struct size_row {
    const char *name, *domain;
    int features, width, depth;
    bool separable;
    size_t batch, q1, q2;
    int frequency;
} size_row;

static const size_row SIZES[] = {
    { "T2", "T2", 128, 128, 3, true, 9000, 1024, 1024, 10 },
    { "T4, authors' sizes", "T4", 256, 128, 4, false, 47500, 65536, 16384, 20 },
    { "T4, paper's sizes", "T4", 256, 128, 4, false, 50000, 1024, 1024, 20 },
    { "S2 x S2, a quarter", "S2 x S2", 256, 256, 6, true, 28853, 25000, 2500, 10 },
    { "the same, rotated", "S2 x S2", 256, 256, 6, false, 28853, 25000, 2500, 10 },
};

static npmd_options size_options(const size_row *s)
{
    npmd_options o;
    npmd_options_init(&o);
    o.features = s->features;
    o.width = s->width;
    o.depth = s->depth;
    o.separable = s->separable;
    o.batch = (int64_t)s->batch;
    o.q1 = (int64_t)s->q1;
    o.q2 = (int64_t)s->q2;
    o.max_frequency[0] = s->frequency;
    o.integral = NPMD_INTEGRAL_UNIFORM;
    o.spectrum_law = NPMD_LAW_UNIFORM;
    o.skip = 0;
    o.tau = 1e-5;
    return o;
}

/* Products of one step: forward, weight gradient, input gradient above the first layer. */
static double step_flop(const size_row *s, int p)
{
    const double K = s->features, W = s->width, hidden = (s->depth - 2) * W * W + W;
    const double row = 2.0 * (2.0 * (K * W + hidden) + hidden);
    return row * ((double)s->batch + (double)s->q1 + (p + 2.0) * (double)s->q2);
}

static double product_rate(void)
{
    enum { N = 128, LD = N + TILE_UNITS };
    static float a[N * LD], b[N * LD], c[N * LD];
    const kernels *k = kernels_select(NULL);
    double best = INFINITY;
    for (int r = 0; r < 200; r++) {
        const double start = clock_seconds();
        for (int i = 0; i < 20; i++)
            k->product(N, N, N, (strided){ a, LD, 1 }, b, LD, c, LD, 0);
        best = fmin(best, (clock_seconds() - start) / 20);
    }
    return 2.0 * N * N * N / best;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static npmd_status random_points(const npmd_domain *dom, size_t n, npmd_points **out, npmd_error *err)
{
    point_source s;
    npmd_points *pts = NULL;
    double weight;
    const npmd_status st = points_make(dom, n, &pts, err);
    if (st != NPMD_OK)
        return st;
    source_uniform(&s, dom, n, false, rng_key_make(1, RNG_TEST, 1));
    for (size_t i = 0; i < n; i++)
        source_fill(&s, i, 1, pts->x + i * (size_t)dom->columns, &weight);
    *out = pts;
    return NPMD_OK;
}

/* Distance of two gradients of one small step, relative. */
static npmd_status step_error(const field_plan *plan, const npmd_points *pts, npmd_options opt,
                              const double *theta, double *error, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = field_parameters(&plan->shape);
    double *g[2] = { NULL, NULL }, difference = 0.0, size = 0.0;
    backend b = { 0 };
    opt.batch = 100;
    opt.q1 = 100;
    opt.q2 = 20;
    for (int i = 0; i < 2; i++) {
        objective o = { 0 };
        objective_value value;
        TRY(memory_new(&g[i], n, err));
        TRY(backend_open(i == 0 ? "reference" : "cpu", 0, plan, &b, err));
        TRY(b.ops->set_points(b.self, pts, err));
        TRY(b.ops->put(b.self, VECTOR_THETA, theta, err));
        TRY(objective_open(&o, plan->domain, pts, &opt, err));
        st = objective_step(&o, &b, 0, &value, err);
        objective_close(&o);
        TRY(st);
        TRY(b.ops->get(b.self, VECTOR_GRADIENT, g[i], err));
        backend_close(&b);
    }
    for (size_t i = 0; i < n; i++) {
        difference += (g[1][i] - g[0][i]) * (g[1][i] - g[0][i]);
        size += g[0][i] * g[0][i];
    }
    *error = sqrt(difference / size);
done:
    backend_close(&b);
    memory_free(g[0]);
    memory_free(g[1]);
    return st;
}

static npmd_status time_row(const size_row *s, double rate, int *failed, npmd_error *err)
{
    enum { REPEATS = 7, EVALUATED = 200000 };
    npmd_status st = NPMD_OK;
    npmd_domain *dom = NULL;
    npmd_points *pts = NULL;
    encoding enc = { 0 };
    objective o = { 0 };
    backend b = { 0 };
    double *theta = NULL, *v = NULL, seconds[REPEATS], norm = 0.0, error = 0.0;
    npmd_options opt = size_options(s), resolved;
    TRY(npmd_domain_parse(s->domain, &dom, err));
    TRY(random_points(dom, s->batch > EVALUATED ? s->batch : EVALUATED, &pts, err));
    TRY(options_resolve(&opt, dom, pts->n, &resolved, err));
    TRY(encoding_draw(dom, &resolved, &enc, err));
    const field_plan plan = { .domain = dom, .encoding = &enc, .shape = options_shape(&resolved, dom) };
    TRY(memory_new(&theta, field_parameters(&plan.shape), err));
    TRY(memory_new(&v, EVALUATED, err));
    field_start(&plan.shape, false, 1, theta);
    TRY(step_error(&plan, pts, resolved, theta, &error, err));
    *failed += !(error < 1e-4);
    pts->n = s->batch; /* the data of the step are the first rows */
    TRY(backend_open("cpu", 0, &plan, &b, err));
    TRY(b.ops->set_points(b.self, pts, err));
    TRY(b.ops->put(b.self, VECTOR_THETA, theta, err));
    TRY(objective_open(&o, dom, pts, &resolved, err));
    for (int r = 0; r < REPEATS; r++) {
        objective_value value;
        const optimiser_step step = { NPMD_ADAM, 1e-6, 0.9, 0.999, 1e-8, 0.1, 0.001, INFINITY };
        const double start = clock_seconds();
        TRY(objective_step(&o, &b, r, &value, err));
        TRY(b.ops->update(b.self, &step, &norm, err));
        seconds[r] = clock_seconds() - start;
    }
    qsort(seconds, REPEATS, sizeof *seconds, by_size);
    const double start = clock_seconds(), floor_seconds = step_flop(s, dom->dimension) / rate;
    TRY(b.ops->evaluate(b.self, pts->x, EVALUATED, JET_VALUE, v, err));
    const double evaluated = EVALUATED / (clock_seconds() - start);
    printf("%-20s %10.1f %10.1f %8.2f %14.2f %12.1e\n", s->name, 1e3 * seconds[REPEATS / 2],
           1e3 * floor_seconds, seconds[REPEATS / 2] / floor_seconds, 1e-6 * evaluated, error);
done:
    objective_close(&o);
    backend_close(&b);
    encoding_free(&enc);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    memory_free(theta);
    memory_free(v);
    return st;
}

int main(void)
{
    npmd_error err = { 0 };
    const int threads = threads_wanted(0);
    int failed = 0;
    const double rate = product_rate();
    printf("\none step, %d threads; floor: its products at %d x %.1f GFLOP/s (one core, %s)\n\n", threads,
           threads, 1e-9 * rate, cpu_kernels_name());
    printf("%-20s %10s %10s %8s %14s %12s\n", "", "ms", "floor ms", "ratio", "Mpoints/s eval", "error");
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        if (time_row(&SIZES[i], rate * threads, &failed, &err) != NPMD_OK) {
            fprintf(stderr, "%s: %s\n", SIZES[i].name, err.text);
            return 1;
        }
    return failed != 0;
}
