/* cuda.c - the cuda backend, host side: the data and everything of a training step live on the device.
 *
 * Values that leave the device come from exact products, whatever it trains with, since a log integral must be more
 * accurate than TF32.
 *
 * run captures one step, with its three terms on separate streams, into a graph that it launches repeatedly; step
 * counter, learning rates and the guard on the gradient lie on the device, so that the host waits once for many steps.
 * term and update do the same work step by step; tests hold them to the reference. */
#include "backend.h"
#include "cuda_device.h"
#include "surface_factor.h"

#include <stdio.h>

#define EVALUATED ((size_t)1 << 20) /* points at a time */
#define GIB ((double)((size_t)1 << 30))

typedef struct cuda {
    field_plan plan;
    int device;
    network_plan shape;
    encoder *encoder; /* of training */
    network *network;
    encoder *encoder_exact; /* of evaluation: the same two, or a pair of its own that follows theta */
    network *network_exact;
    bool behind; /* the pair of its own has an older theta */
    device_stream *stream[DEVICE_SLOTS];
    const npmd_points *points;
    double *x, *weight;                   /* of the data, on the device */
    float *cache;                         /* (n, ld): their encodings, or NULL */
    double *fixed_x, *fixed_weight, *out; /* room for points that come from the host, and for values */
    size_t fixed_points;
    double *centre, *embedded;
    int centres;
    double *cumulative;
    const double *cumulative_of; /* the host array that was copied */
    int64_t *probe;              /* a step counter for term */
    device_graph *graph;
    step_recipe recipe; /* that the graph was made for */
    double *room;       /* (parameters) */
} cuda;

static npmd_status cuda_fail(const cuda *c, int status, const char *doing, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_DEVICE, "`device` cuda:%d: %s: %s", c->device, doing, device_text(status));
}

#define DEVICE(call, doing)                                                                                            \
    do {                                                                                                               \
        const int status_ = (call);                                                                                    \
        if (status_ != 0) {                                                                                            \
            st = cuda_fail(c, status_, (doing), err);                                                                  \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* Says how much is wanted and how much there is before anything is taken. */
static npmd_status cuda_ask(const cuda *c, size_t bytes, const char *what, npmd_error *err)
{
    device_facts facts;
    const int status = device_describe(c->device, &facts);
    if (status != 0)
        return cuda_fail(c, status, what, err);
    if (bytes <= facts.memory_free)
        return NPMD_OK;
    return npmd_fail(
        err, NPMD_ERR_DEVICE,
        "`device` cuda:%d: %s would take %.1f GiB, %.1f of the %.1f GiB of %s are free; lower `batch`, `q1` "
        "or `q2`, or choose `device` cpu",
        c->device, what, (double)bytes / GIB, (double)facts.memory_free / GIB, (double)facts.memory / GIB, facts.name);
}

static npmd_status cuda_present(int device, npmd_error *err)
{
    int count = 0;
    const int status = device_count(&count);
    if (status != 0)
        return npmd_fail(err, NPMD_ERR_DEVICE, "`device` cuda:%d: no CUDA device was found: %s; choose `device` cpu",
                         device, device_text(status));
    if (device >= count)
        return npmd_fail(err, NPMD_ERR_DEVICE, "`device` cuda:%d: this machine has %d CUDA device%s, counted from 0",
                         device, count, count == 1 ? "" : "s");
    return NPMD_OK;
}

static void cuda_close(void *self)
{
    cuda *c = self;
    if (c == NULL)
        return;
    (void)device_use(c->device);
    device_graph_close(c->graph);
    if (c->network_exact != c->network)
        network_close(c->network_exact);
    if (c->encoder_exact != c->encoder)
        encoder_close(c->encoder_exact);
    network_close(c->network);
    encoder_close(c->encoder);
    void *const taken[] = { c->x,   c->weight, c->cache,    c->fixed_x,    c->fixed_weight,
                            c->out, c->centre, c->embedded, c->cumulative, c->probe };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        device_free(taken[i]);
    for (int s = 0; s < DEVICE_SLOTS; s++)
        device_stream_close(c->stream[s]);
    memory_free(c->room);
    memory_free(c);
}

static device_surface cuda_surface(const surface *s)
{
    return (device_surface){ .map = s->map,
                             .corners = s->at.corners,
                             .node = s->at.node,
                             .metric = s->metric[0],
                             .nodes = s->at.nodes,
                             .functions = s->pairs,
                             .phi = s->phi };
}

static npmd_status cuda_encoder(cuda *c, bool exact, encoder **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const encoding *enc = c->plan.encoding;
    const npmd_domain *dom = c->plan.domain;
    int *counts = NULL;
    encoder_plan p = { .factors = dom->factors,
                       .columns = dom->columns,
                       .dimension = dom->dimension,
                       .features = enc->features,
                       .ld = (enc->features + 31) / 32 * 32,
                       .waves = enc->waves,
                       .vectors = enc->vectors,
                       .function = enc->function,
                       .lambda = enc->lambda,
                       .scale = enc->scale,
                       .blocks = enc->blocks,
                       .rotation = enc->rotation,
                       .round_tf32 = !exact };
    size_t bytes = 0;
    for (int d = 0; d < dom->factors; d++) {
        const surface *on = surface_of(dom->factor[d]);
        p.kind[d] = on != NULL ? DEVICE_SURFACE : dom->factor[d] == &CIRCLE ? DEVICE_CIRCLE : DEVICE_SPHERE;
        p.column[d] = dom->column[d];
        p.direction[d] = dom->direction[d];
        p.frequency[d] = enc->frequency[d];
        if (on != NULL)
            p.surface[d] = cuda_surface(on);
    }
    TRY(memory_new(&counts, 2 * (size_t)enc->blocks + 1, err));
    for (int b = 0; b < enc->blocks; b++) {
        counts[b] = enc->block[b].features;
        counts[enc->blocks + b] = enc->block[b].functions;
    }
    p.block_features = counts;
    p.block_functions = counts + enc->blocks;
    DEVICE(encoder_bytes(&p, &bytes), "the encoding");
    TRY(cuda_ask(c, bytes, "the encoding", err));
    DEVICE(encoder_open(&p, out), "the encoding");
done:
    memory_free(counts);
    return st;
}

static npmd_status cuda_open(const field_plan *plan, int device, int threads, void **self, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = NULL;
    (void)threads;
    TRY(memory_new(&c, 1, err));
    c->plan = *plan;
    c->device = device;
    c->shape = (network_plan){ .features = plan->shape.features,
                               .width = plan->shape.width,
                               .depth = plan->shape.depth,
                               .directions = plan->shape.directions,
                               .skip = plan->shape.skip,
                               .relu = plan->shape.activation == FIELD_RELU,
                               .omega = field_omega(&plan->shape),
                               .exact = plan->exact };
    DEVICE(device_use(device), "choosing it");
    for (int s = 0; s < DEVICE_SLOTS; s++)
        DEVICE(device_stream_open(&c->stream[s]), "a stream");
    TRY(cuda_encoder(c, plan->exact, &c->encoder, err));
    DEVICE(network_open(&c->shape, &c->network), "the network");
    DEVICE(device_new((void **)&c->probe, sizeof *c->probe), "a counter");
    TRY(memory_new(&c->room, field_parameters(&plan->shape), err));
    *self = c;
    c = NULL;
done:
    cuda_close(c);
    return st;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static npmd_status cuda_set_points(void *self, const npmd_points *pts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = self;
    const size_t columns = (size_t)c->plan.domain->columns, ld = (size_t)(c->plan.encoding->features + 31) / 32 * 32,
                 numbers = pts->n * columns, some = (size_t)1 << 16;
    const bool weighted = points_weighted(pts);
    double *room = NULL;
    device_facts facts;
    DEVICE(device_use(c->device), "choosing it");
    device_free(c->x), device_free(c->weight), device_free(c->cache);
    c->x = c->weight = NULL;
    c->cache = NULL;
    device_graph_close(c->graph);
    c->graph = NULL;
    TRY(cuda_ask(c, (numbers + (weighted ? pts->n : 0)) * sizeof(double), "the data", err));
    TRY(memory_new(&room, some * (columns + 1), err));
    DEVICE(device_new((void **)&c->x, numbers * sizeof(double)), "the data");
    if (weighted)
        DEVICE(device_new((void **)&c->weight, pts->n * sizeof(double)), "the weights");
    for (size_t first = 0; first < pts->n; first += some) {
        const size_t count = pts->n - first < some ? pts->n - first : some;
        DEVICE(device_put(c->x + first * columns, points_rows(pts, first, count, room),
                          count * columns * sizeof(double), c->stream[0]),
               "copying the data");
        for (size_t i = 0; weighted && i < count; i++)
            room[some * columns + i] = points_weight(pts, first + i);
        if (weighted)
            DEVICE(device_put(c->weight + first, room + some * columns, count * sizeof(double), c->stream[0]),
                   "copying the weights");
        DEVICE(device_wait(c->stream[0]), "copying the data");
    }
    c->points = pts;
    DEVICE(device_describe(c->device, &facts), "its memory");
    if (pts->n < (size_t)1 << 31 && pts->n * ld * sizeof(float) <= facts.memory_free / 4) {
        device_source s = { .kind = DEVICE_FIXED, .count = pts->n, .x = c->x, .step = c->probe };
        float *weight = NULL;
        DEVICE(device_new((void **)&c->cache, (pts->n * ld + 32) * sizeof(float)), "encodings of the data");
        DEVICE(device_new((void **)&weight, pts->n * sizeof(float)), "encodings of the data");
        const int status = encoder_run(c->encoder, &s, 0, pts->n, 0, c->cache, weight, NULL, c->stream[0]);
        const int waited = device_wait(c->stream[0]);
        device_free(weight);
        DEVICE(status != 0 ? status : waited, "encoding the data");
    }
done:
    memory_free(room);
    return st;
}

/* Memory on the device for this many points from the host. */
static npmd_status cuda_fixed_room(cuda *c, size_t points, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (points <= c->fixed_points)
        return NPMD_OK;
    device_free(c->fixed_x), device_free(c->fixed_weight), device_free(c->out);
    c->fixed_x = c->fixed_weight = c->out = NULL;
    c->fixed_points = 0;
    DEVICE(device_new((void **)&c->fixed_x, points * (size_t)c->plan.domain->columns * sizeof(double)), "points");
    DEVICE(device_new((void **)&c->fixed_weight, points * sizeof(double)), "weights");
    DEVICE(device_new((void **)&c->out, points * (size_t)(c->plan.shape.directions + 2) * sizeof(double)), "values");
    c->fixed_points = points;
done:
    return st;
}

static npmd_status cuda_centre_room(cuda *c, int centres, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (centres == c->centres)
        return NPMD_OK;
    device_free(c->centre), device_free(c->embedded);
    c->centre = c->embedded = NULL;
    c->centres = 0;
    DEVICE(device_new((void **)&c->centre, (size_t)centres * (size_t)c->plan.domain->columns * sizeof(double)),
           "centres");
    DEVICE(
        device_new((void **)&c->embedded, (size_t)centres * (size_t)domain_embedding(c->plan.domain) * sizeof(double)),
        "centres");
    c->centres = centres;
done:
    return st;
}

static void source_key(device_source *s, uint64_t seed, rng_purpose purpose)
{
    const rng_key key = rng_key_make(seed, purpose, 0);
    s->seed[0] = key.seed[0];
    s->seed[1] = key.seed[1];
    s->purpose = key.purpose;
}

/* A host source as the device sees it; what it refers to is copied. */
static npmd_status cuda_source(cuda *c, const point_source *from, device_source *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)c->plan.domain->columns;
    const int64_t step = from->key.step;
    float *pairs = NULL;
    *s = (device_source){ .count = from->count,
                          .seed = { from->key.seed[0], from->key.seed[1] },
                          .purpose = from->key.purpose,
                          .step = c->probe,
                          .quasi = from->quasi,
                          .steps_an_epoch = 1 };
    DEVICE(device_put(c->probe, &step, sizeof step, c->stream[0]), "a counter");
    DEVICE(device_wait(c->stream[0]), "a counter");
    switch (from->kind) {
    case SOURCE_FIXED:
        s->kind = DEVICE_FIXED;
        TRY(cuda_fixed_room(c, from->count, err));
        s->x = c->fixed_x;
        s->weight = from->weight == NULL ? NULL : c->fixed_weight;
        DEVICE(device_put(c->fixed_x, from->x, from->count * columns * sizeof(double), c->stream[0]), "points");
        if (from->weight != NULL)
            DEVICE(device_put(c->fixed_weight, from->weight, from->count * sizeof(double), c->stream[0]), "weights");
        break;
    case SOURCE_DATA:
        s->kind = DEVICE_DATA;
        assert(from->points == c->points);
        s->x = c->x;
        s->weight = c->weight;
        s->n = from->points->n;
        s->first = from->first;
        s->shuffled = from->shuffled;
        break;
    case SOURCE_UNIFORM:
        s->kind = DEVICE_UNIFORM;
        break;
    case SOURCE_IMPORTANCE: {
        const proposal *p = from->importance;
        s->kind = DEVICE_IMPORTANCE;
        s->share = p->share;
        s->rho = p->rho;
        s->centres = p->centres;
        TRY(cuda_centre_room(c, p->centres, err));
        s->centre = c->centre;
        s->embedded = c->embedded;
        DEVICE(device_put(c->centre, p->centre, (size_t)p->centres * columns * sizeof(double), c->stream[0]),
               "centres");
        const size_t numbers = (size_t)p->centres * (size_t)domain_embedding(c->plan.domain);
        TRY(memory_new(&pairs, 2 * numbers, err));
        for (size_t i = 0; i < numbers; i++) { /* two floats for a double, as the device wants them */
            pairs[2 * i] = (float)p->embedded[i];
            pairs[2 * i + 1] = (float)(p->embedded[i] - (double)pairs[2 * i]);
        }
        DEVICE(device_put(c->embedded, pairs, 2 * numbers * sizeof *pairs, c->stream[0]), "centres");
        break;
    }
    }
    DEVICE(device_wait(c->stream[0]), "points");
done:
    memory_free(pairs);
    return st;
}

/* ---- one by one -------------------------------------------------------------------------------------------------- */

static const device_term TERM[] = { [TERM_DATA] = DEVICE_TERM_DATA,
                                    [TERM_INTEGRAL] = DEVICE_TERM_INTEGRAL,
                                    [TERM_LAPLACIAN] = DEVICE_TERM_LAPLACIAN,
                                    [TERM_GRADIENT] = DEVICE_TERM_GRADIENT };
static const int SLOT[] = { [TERM_DATA] = 0, [TERM_INTEGRAL] = 1, [TERM_LAPLACIAN] = 2, [TERM_GRADIENT] = 2 };

static bool has_jets(term_kind kind)
{
    return kind == TERM_LAPLACIAN || kind == TERM_GRADIENT;
}

static npmd_status cuda_reserve(cuda *c, term_kind kind, size_t points, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (network_reserved(c->network, SLOT[kind], points, has_jets(kind)))
        return NPMD_OK;
    device_graph_close(c->graph); /* it knows the old addresses */
    c->graph = NULL;
    TRY(cuda_ask(c, network_term_bytes(&c->shape, points, has_jets(kind)), "a step", err));
    DEVICE(network_reserve(c->network, SLOT[kind], points, has_jets(kind)), "room for a step");
done:
    return st;
}

static npmd_status cuda_term(void *self, const term_request *what, double *sum, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = self;
    device_source s;
    DEVICE(device_use(c->device), "choosing it");
    TRY(cuda_reserve(c, what->kind, what->points->count, err));
    TRY(cuda_source(c, what->points, &s, err));
    DEVICE(network_term(c->network, SLOT[what->kind], TERM[what->kind], c->encoder, &s, what->factor, c->cache,
                        c->stream[0]),
           "a term");
    DEVICE(network_sum(c->network, SLOT[what->kind], sum, c->stream[0]), "a term");
done:
    return st;
}

static npmd_status cuda_shares(cuda *c, const rate_share *shares, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t end[FIELD_MAX_DEPTH + 1];
    double share[FIELD_MAX_DEPTH + 1];
    int count = 0;
    for (bool last = shares == NULL; !last; count++) {
        end[count] = shares[count].end;
        share[count] = shares[count].share;
        last = end[count] >= field_parameters(&c->plan.shape);
    }
    DEVICE(network_shares(c->network, count, end, share, c->stream[0]), "rates");
done:
    return st;
}

static device_control control_of(const optimiser_step *step)
{
    return (device_control){ .rate = step->rate,
                             .beta1 = step->beta1,
                             .beta2 = step->beta2,
                             .epsilon = step->epsilon,
                             .correction1 = step->correction1,
                             .correction2 = step->correction2,
                             .max_norm = step->max_norm,
                             .sgd = step->kind == OPTIMISER_SGD };
}

static npmd_status cuda_update(void *self, const optimiser_step *step, double *gradient_norm, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = self;
    const device_control control = control_of(step);
    device_log log;
    DEVICE(device_use(c->device), "choosing it");
    TRY(cuda_shares(c, step->shares, err));
    DEVICE(network_prepare(c->network, 0, 1, &control, 0.0, c->stream[0]), "an update");
    DEVICE(network_update(c->network, c->stream[0]), "an update");
    DEVICE(network_logs(c->network, 1, &log, c->stream[0]), "an update");
    c->behind = true;
    *gradient_norm = log.norm;
done:
    return st;
}

/* Opens what evaluates, and brings its theta up to date. */
static npmd_status cuda_exact(cuda *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (c->shape.exact) {
        c->network_exact = c->network;
        c->encoder_exact = c->encoder;
    }
    if (c->encoder_exact == NULL)
        TRY(cuda_encoder(c, true, &c->encoder_exact, err));
    if (c->network_exact == NULL) {
        network_plan exact = c->shape;
        exact.exact = 1;
        DEVICE(network_open(&exact, &c->network_exact), "the network");
        c->behind = true;
    }
    if (c->behind) {
        DEVICE(network_get(c->network, NETWORK_THETA, c->room, c->stream[0]), "theta");
        DEVICE(network_put(c->network_exact, NETWORK_THETA, c->room, c->stream[0]), "theta");
        c->behind = false;
    }
done:
    return st;
}

static npmd_status cuda_evaluate_room(cuda *c, size_t points, bool jets, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    network_plan exact = c->shape;
    exact.exact = 1;
    TRY(cuda_exact(c, err));
    if (network_reserved(c->network_exact, 0, points, jets))
        return NPMD_OK;
    if (c->network_exact == c->network) { /* the graph knows the old addresses */
        device_graph_close(c->graph);
        c->graph = NULL;
    }
    TRY(cuda_ask(c, network_term_bytes(&exact, points, jets), "an evaluation", err));
    DEVICE(network_reserve(c->network_exact, 0, points, jets), "room for points");
done:
    return st;
}

static npmd_status cuda_evaluate(void *self, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = self;
    const size_t R = rows == JET_ALL ? (size_t)c->plan.shape.directions + 2 : 1,
                 columns = (size_t)c->plan.domain->columns, most = n < EVALUATED ? n : EVALUATED;
    DEVICE(device_use(c->device), "choosing it");
    TRY(cuda_evaluate_room(c, most, rows == JET_ALL, err));
    TRY(cuda_fixed_room(c, most, err));
    for (size_t first = 0; first < n; first += most) {
        const size_t count = n - first < most ? n - first : most;
        const device_source s = { .kind = DEVICE_FIXED, .count = count, .x = c->fixed_x, .step = c->probe };
        DEVICE(device_put(c->fixed_x, x + first * columns, count * columns * sizeof(double), c->stream[0]), "points");
        DEVICE(network_evaluate(c->network_exact, 0, c->encoder_exact, &s, 0, count, rows == JET_ALL, c->out,
                                c->stream[0]),
               "values");
        DEVICE(device_get(out + first * R, c->out, count * R * sizeof(double), c->stream[0]), "values");
    }
done:
    return st;
}

static npmd_status cuda_integrate(void *self, const point_source *points, double *sum, double *square, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = self;
    device_source s;
    double sums[2] = { 0.0, 0.0 };
    const size_t most = points->count < EVALUATED ? points->count : EVALUATED;
    DEVICE(device_use(c->device), "choosing it");
    TRY(cuda_evaluate_room(c, most, false, err));
    TRY(cuda_source(c, points, &s, err));
    DEVICE(network_integrate(c->network_exact, 0, c->encoder_exact, &s, 0, points->count, sums, c->stream[0]),
           "an integral");
    *sum = sums[0];
    *square = sums[1];
done:
    return st;
}

static const network_vector VECTOR[] = { [VECTOR_THETA] = NETWORK_THETA,
                                         [VECTOR_GRADIENT] = NETWORK_GRADIENT,
                                         [VECTOR_MOMENT1] = NETWORK_MOMENT1,
                                         [VECTOR_MOMENT2] = NETWORK_MOMENT2 };

static npmd_status cuda_get(void *self, backend_vector which, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = self;
    DEVICE(device_use(c->device), "choosing it");
    DEVICE(network_get(c->network, VECTOR[which], out, c->stream[0]), "reading a vector");
done:
    return st;
}

static npmd_status cuda_put(void *self, backend_vector which, const double *in, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = self;
    DEVICE(device_use(c->device), "choosing it");
    DEVICE(network_put(c->network, VECTOR[which], in, c->stream[0]), "writing a vector");
    c->behind = c->behind || which == VECTOR_THETA;
done:
    return st;
}

/* ---- many steps -------------------------------------------------------------------------------------------------- */

/* Running sums for draws in proportion to weights, as many as points_cumulative makes. */
static npmd_status cuda_cumulative(cuda *c, const step_recipe *r, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (r->cumulative == NULL || r->cumulative == c->cumulative_of)
        return NPMD_OK;
    device_free(c->cumulative);
    c->cumulative = NULL;
    c->cumulative_of = NULL;
    const size_t bytes = (c->points->n + CUMULATIVE_SHELF - 1) / CUMULATIVE_SHELF * sizeof(double);
    DEVICE(device_new((void **)&c->cumulative, bytes), "sums of weights");
    DEVICE(device_put(c->cumulative, r->cumulative, bytes, c->stream[0]), "sums of weights");
    DEVICE(device_wait(c->stream[0]), "sums of weights");
    c->cumulative_of = r->cumulative;
done:
    return st;
}

static npmd_status cuda_capture(cuda *c, const step_recipe *r, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int64_t *step = network_step(c->network);
    bool capturing = false;
    device_source data = { .kind = DEVICE_DATA,
                           .count = (size_t)r->batch,
                           .step = step,
                           .x = c->x,
                           .weight = c->weight,
                           .n = c->points->n,
                           .batch = (size_t)r->batch,
                           .steps_an_epoch = r->steps_an_epoch,
                           .shuffled = (size_t)r->batch < c->points->n };
    device_source integral = { .kind = DEVICE_UNIFORM, .count = (size_t)r->q1, .step = step, .quasi = r->quasi };
    device_source penalty = { .kind = DEVICE_UNIFORM, .count = (size_t)r->q2, .step = step, .quasi = r->quasi };
    source_key(&data, r->seed, RNG_BATCH);
    source_key(&integral, r->seed, RNG_INTEGRAL_POINTS);
    source_key(&penalty, r->seed, RNG_PENALTY_POINTS);
    if (r->importance != NULL) {
        TRY(cuda_centre_room(c, r->importance->centres, err));
        TRY(cuda_cumulative(c, r, err));
        integral.kind = DEVICE_IMPORTANCE;
        integral.share = r->importance->share;
        integral.rho = r->importance->rho;
        integral.centres = r->importance->centres;
        integral.centre_purpose = RNG_CENTRES;
        integral.x = c->x;
        integral.n = c->points->n;
        integral.cumulative = r->cumulative == NULL ? NULL : c->cumulative;
        integral.cumulative_stride = CUMULATIVE_SHELF;
        integral.weight = c->weight;
        integral.centre = c->centre;
        integral.embedded = c->embedded;
    }
    device_stream **s = c->stream;
    DEVICE(device_capture_begin(s[0]), "a graph");
    capturing = true;
    DEVICE(device_follow(s[1], s[0]), "a graph");
    DEVICE(device_follow(s[2], s[0]), "a graph");
    DEVICE(network_term(c->network, 0, DEVICE_TERM_DATA, c->encoder, &data, -1.0, c->cache, s[0]), "a graph");
    DEVICE(network_term(c->network, 1, DEVICE_TERM_INTEGRAL, c->encoder, &integral, 1.0, NULL, s[1]), "a graph");
    if (r->penalised)
        DEVICE(network_term(c->network, 2, TERM[r->penalty], c->encoder, &penalty, r->tau, NULL, s[2]), "a graph");
    DEVICE(device_follow(s[0], s[1]), "a graph");
    DEVICE(device_follow(s[0], s[2]), "a graph");
    DEVICE(network_update(c->network, s[0]), "a graph");
    capturing = false;
    DEVICE(device_capture_end(s[0], &c->graph), "a graph");
    c->recipe = *r;
done:
    if (capturing) { /* a stream must not stay in that state */
        device_graph *broken = NULL;
        if (device_capture_end(c->stream[0], &broken) == 0)
            device_graph_close(broken);
    }
    return st;
}

static bool same_recipe(const step_recipe *a, const step_recipe *b)
{
    return a->batch == b->batch && a->q1 == b->q1 && a->q2 == b->q2 && a->steps_an_epoch == b->steps_an_epoch
           && a->seed == b->seed && a->quasi == b->quasi && a->importance == b->importance
           && a->cumulative == b->cumulative && a->penalised == b->penalised && a->penalty == b->penalty
           && a->tau == b->tau;
}

static npmd_status cuda_run(void *self, const step_recipe *r, int64_t first, size_t count, const optimiser_step *steps,
                            double clip, double running, step_record *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda *c = self;
    device_control *control = NULL;
    device_log *log = NULL;
    assert(count <= BACKEND_MOST_STEPS);
    TRY(memory_new(&control, count, err));
    TRY(memory_new(&log, count, err));
    DEVICE(device_use(c->device), "choosing it");
    TRY(cuda_reserve(c, TERM_DATA, (size_t)r->batch, err));
    TRY(cuda_reserve(c, TERM_INTEGRAL, (size_t)r->q1, err));
    if (r->penalised)
        TRY(cuda_reserve(c, r->penalty, (size_t)r->q2, err));
    for (size_t i = 0; i < count; i++) {
        control[i] = control_of(&steps[i]);
        control[i].clip = clip;
    }
    TRY(cuda_shares(c, steps[0].shares, err));
    DEVICE(network_prepare(c->network, first, count, control, running, c->stream[0]), "steps");
    if (c->graph != NULL && !same_recipe(&c->recipe, r)) {
        device_graph_close(c->graph);
        c->graph = NULL;
    }
    if (c->graph == NULL)
        TRY(cuda_capture(c, r, err));
    for (size_t i = 0; i < count; i++)
        DEVICE(device_graph_launch(c->graph, c->stream[0]), "a step");
    DEVICE(network_logs(c->network, count, log, c->stream[0]), "steps");
    c->behind = true;
    for (size_t i = 0; i < count; i++)
        out[i] = (step_record){ .data = log[i].sum[0],
                                .integral = log[i].sum[1],
                                .penalty = r->penalised ? log[i].sum[2] : 0.0,
                                .norm = log[i].norm,
                                .running_log_norm = log[i].running_log_norm };
done:
    memory_free(control);
    memory_free(log);
    return st;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static npmd_status cuda_kernel_sums(int device, const kernel_request *w, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cuda self = { .device = device }, *c = &self; /* for messages */
    DEVICE(device_use(device), "choosing it");
    TRY(cuda_ask(c, kernels_bytes(w->columns, w->centres, w->n), "kernels", err));
    DEVICE(kernels_add(w->columns, w->centres, w->y, w->scale, w->offset, w->n, w->x, w->skip, w->out), "kernels");
done:
    return st;
}

const backend_ops BACKEND_CUDA = {
    .name = "cuda",
    .present = cuda_present,
    .open = cuda_open,
    .set_points = cuda_set_points,
    .term = cuda_term,
    .update = cuda_update,
    .run = cuda_run,
    .evaluate = cuda_evaluate,
    .integrate = cuda_integrate,
    .kernel_sums = cuda_kernel_sums,
    .get = cuda_get,
    .put = cuda_put,
    .close = cuda_close,
};
