/* bench_field.c - the networks and sizes of the published experiments, at their start.
 *
 * Presets give network and encoding. Points are uniform: the time of a step does not depend on where they lie. */
#include "bench.h"

#include <stdio.h>

#define QUICK 128 /* a quick run has this many times fewer points */
#define LEAST 64  /* but no fewer than these */

const bench_size BENCH_SIZES[BENCH_SIZE_COUNT] = {
    { "t2", "T2", "T2", "paper-t2", false, false, 9000, 9000, 1024, 1024, 0, 0, 0 },
    { "t4-authors", "T4, authors' sizes", "T4", "paper-t4", false, false, 95000, 47500, 65536, 16384, 0, 0, 0 },
    { "t4", "T4, paper's sizes", "T4", "paper-t4", false, false, 100000, 50000, 1024, 1024, 0, 0, 0 },
    { "s2s2", "S2 x S2", "S2 x S2", "paper-s2s2", false, true, 230822, 115411, 100000, 10000, 0, 0, 0 },
    { "s2s2-rotated", "S2 x S2, rotated", "S2 x S2", "paper-s2s2", true, true, 230822, 115411, 100000, 10000, 0, 0, 0 },
};

bench_size bench_size_asked(const bench *b, const bench_size *s)
{
    bench_size out = *s;
    size_t *const counts[] = { &out.n, &out.batch, &out.q1, &out.q2 };
    const size_t quarter = s->large && !b->asked->full ? 4 : 1, part = b->asked->quick ? quarter * QUICK : quarter;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *counts[i] = (*counts[i] + part / 2) / part;
        if (*counts[i] < LEAST)
            *counts[i] = LEAST;
    }
    return out;
}

static npmd_status uniform_points(const npmd_domain *dom, size_t n, int threads, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    double *weight = NULL;
    point_source s;
    TRY(points_make(dom, n, &pts, err));
    TRY(memory_new(&weight, n, err));
    source_uniform(&s, dom, n, false, rng_key_make(1, RNG_TEST, 1));
    source_fill_all(&s, 0, n, threads, pts->x, weight);
    *out = pts;
    pts = NULL;
done:
    memory_free(weight);
    points_free(pts);
    return st;
}

static npmd_status size_options(const bench_size *s, int threads, npmd_options *asked, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    settings *o = &asked->set;
    options_init(asked);
    TRY(options_set(asked, "preset", s->preset, err));
    o->machine.threads = threads;
    o->descent.batch = (int64_t)s->batch;
    o->descent.batch_share = 0;
    o->descent.q1 = (int64_t)s->q1;
    o->descent.q2 = (int64_t)s->q2;
    if (s->rotated)
        o->encoding.separable = 0;
    if (s->features > 0)
        o->encoding.features = s->features;
    if (s->width > 0)
        o->network.width = s->width;
    if (s->depth > 0)
        o->network.depth = s->depth;
done:
    return st;
}

npmd_status bench_field_open(bench_field *f, const bench_size *s, int threads, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options *asked = NULL;
    fit_plan plan;
    TRY(memory_new(&asked, 1, err));
    TRY(domain_parse(s->domain, NULL, NULL, &f->domain, err));
    TRY(size_options(s, threads, asked, err));
    TRY(plan_make(estimators_all, &asked->set, &(fit_origin){ 0 }, f->domain, s->n, &plan, err));
    f->options = plan.full;
    TRY(uniform_points(f->domain, s->n, threads, &f->points, err));
    TRY(encoding_draw(f->domain, &f->options, &f->encoding, err));
    f->plan = (field_plan){ .domain = f->domain,
                            .encoding = &f->encoding,
                            .shape = training_shape(&f->options, f->domain),
                            .rotated = f->encoding.blocks > 0 };
    f->plan.shape.square = f->encoding.square;
    TRY(memory_new(&f->theta, field_parameters(&f->plan.shape), err));
    field_start(&f->plan.shape, f->options.network.start == 1, 1, f->theta);
done:
    memory_free(asked);
    return st;
}

void bench_field_close(bench_field *f)
{
    memory_free(f->theta);
    encoding_free(&f->encoding);
    points_free(f->points);
    domain_free(f->domain);
}

npmd_status bench_field_backend(const bench_field *f, const char *device, int threads, bool exact, const double *theta,
                                backend *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    field_plan plan = f->plan;
    plan.exact = exact;
    TRY(backend_open(device, threads, &plan, out, err));
    TRY(out->ops->set_points(out->self, f->points, err));
    TRY(out->ops->put(out->self, VECTOR_THETA, theta, err));
done:
    return st;
}

/* As field_fit.c names them in a model's file. */
static npmd_status add_layers(const field_shape *s, const double *theta, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char name[64];
    for (int l = 1; l <= s->depth; l++) {
        const size_t shape[2] = { (size_t)field_outputs(s, l), (size_t)field_inputs(s, l) };
        snprintf(name, sizeof name, "layer.%d.weight", l);
        TRY(record_add(rec, name, TENSOR_F64, 2, shape, theta + field_weights(s, l), err));
        snprintf(name, sizeof name, "layer.%d.bias", l);
        TRY(record_add(rec, name, TENSOR_F64, 1, shape, theta + field_biases(s, l), err));
    }
    if (s->skip)
        TRY(record_add(rec, "skip.weight", TENSOR_F64, 1, &(size_t){ (size_t)s->features }, theta + field_skip(s),
                       err));
done:
    return st;
}

npmd_status bench_field_model(const bench_field *f, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = NULL;
    record rec = { 0 };
    TRY(memory_new(&m, 1, err));
    m->kind = &ESTIMATOR_FIELD;
    m->set = f->options;
    m->total = (double)f->points->n;
    m->facts.n = f->points->n;
    TRY(domain_copy(f->domain, &m->domain, err));
    TRY(encoding_save(&f->encoding, &rec, err));
    TRY(add_layers(&f->plan.shape, f->theta, &rec, err));
    TRY(m->kind->load(m, &rec, "the benchmark's network", err));
    *out = m;
    m = NULL;
done:
    record_free(&rec);
    model_free(m);
    return st;
}
