/* cuda_layers.cu - the network on the device: its vectors, the room its terms work in, and the kernels of
 * cuda_fused.cuh (small networks of sines, TF32) or of cuda_products.cuh and cuda_terms.cuh (all others). All work goes
 * to streams and nothing waits, so that a step can become a graph. */
#include "cuda_fused.cuh"

#include <stdlib.h>

namespace
{

const size_t WORKSPACE_BYTES = (size_t)2 << 30; /* of one term; longer ones go through it in pieces */
enum { MOST_CONTROLS = 1024 };                  /* BACKEND_MOST_STEPS */

struct workspace {
    size_t rows;   /* at a time: what the buffers hold */
    size_t points; /* of a whole term: row and weight */
    float *eta, *pre[DEVICE_MAX_DEPTH], *post[DEVICE_MAX_DEPTH], *bar[DEVICE_MAX_DEPTH];
    float *v_part, *v_linear, *g, *weight, *top, *linear, *part[DEVICE_MAX_DEPTH];
    int32_t *row;
    double *sums;
    int splits[DEVICE_MAX_DEPTH], blocks; /* of a gradient's rows; of points at the top */
};

size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}
int tiles(int n)
{
    return (n + TILE - 1) / TILE;
}

} // namespace

struct network {
    network_plan plan;
    layout o;
    bool fused;                      /* terms go through fused_rows */
    double *vector[NETWORK_VECTORS]; /* the gradient has DEVICE_SLOTS of them */
    float *copies;
    double *part;     /* squares of the gradient's length */
    double *scalar;   /* sums of the slots, then the running length */
    int64_t *counter; /* step, first */
    device_control *control;
    device_log *logs;
    size_t *share_end;
    double *share;
    int shares;
    workspace space[DEVICE_SLOTS];
    cudaStream_t side[DEVICE_SLOTS]; /* where gradients are made */
};

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const int status_ = (int)(call);                                                                               \
        if (status_ != 0)                                                                                              \
            return status_;                                                                                            \
    } while (0)

static cudaStream_t cuda_stream(device_stream *s)
{
    return (cudaStream_t)s;
}

static layout make_layout(const network_plan *p)
{
    layout o = {};
    o.depth = p->depth, o.hidden = p->depth - 1, o.features = p->features, o.width = p->width, o.skip = p->skip;
    o.ldk = (int)round_up((size_t)p->features, 32), o.ldw = (int)round_up((size_t)p->width, 32);
    o.omega = p->omega;
    size_t at = 0, copy = 0;
    for (int l = 0; l < p->depth; l++) {
        const size_t inputs = (size_t)(l == 0 ? p->features : p->width),
                     units = l == p->depth - 1 ? 1 : (size_t)p->width;
        o.weight[l] = at;
        o.bias[l] = at + inputs * units;
        at += inputs * units + units;
        if (l < o.hidden) {
            const size_t size = (size_t)o.ldw * (size_t)(l == 0 ? o.ldk : o.ldw);
            o.forward[l] = copy;
            o.backward[l] = copy + size;
            copy += l == 0 ? size : 2 * size;
            o.shift[l] = copy;
            copy += (size_t)o.ldw;
        }
    }
    o.linear = at;
    o.parameters = at + (p->skip ? (size_t)p->features : 0);
    o.output = copy;
    o.linear_copy = copy + (size_t)o.ldw;
    o.constant = o.linear_copy + (size_t)o.ldk;
    o.copies = o.constant + 32;
    return o;
}

static int has_linear(const network_plan *p)
{
    return p->skip || p->depth == 1;
}

/* Whether a block of the device that is in use holds the whole network's activations. */
static bool can_fuse(const network_plan *p, const layout *o)
{
    int device = 0, most = 0;
    if (p->exact || p->relu || o->ldw > TILE || o->hidden < 2 || o->hidden > FUSED_SINES)
        return false;
    return cudaGetDevice(&device) == cudaSuccess
           && cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess
           && most >= fused_room(o->hidden) * (int)sizeof(float);
}

/* Floats a row takes, and rows worked on at a time. */
static size_t row_floats(const layout *o, bool fused)
{
    const size_t hidden = (size_t)o->hidden;
    if (fused)
        return (size_t)o->ldk + (size_t)o->ldw + 2;
    return (size_t)o->ldk + (hidden > 0 ? (3 * hidden - 1) * (size_t)o->ldw : 0) + (size_t)tiles(o->ldw) + 2;
}

static size_t rows_at_a_time(const layout *o, bool fused, size_t points, int R)
{
    const size_t most = WORKSPACE_BYTES / sizeof(float) / row_floats(o, fused) / (size_t)R * (size_t)R;
    const size_t all = points * (size_t)R, least = (size_t)R * TILE;
    return all < most ? all : most > least ? most : least;
}

static int gradient_splits(const layout *o, bool fused, int l, size_t rows)
{
    if (fused && l > 0)
        return FUSED_BLOCKS;
    const int blocks = tiles(o->ldw) * tiles(l == 0 ? o->ldk : o->ldw), most = GRADIENT_BLOCKS / blocks;
    const size_t wanted = (rows + 127) / 128;
    return wanted < 1 ? 1 : most < 1 ? 1 : wanted < (size_t)most ? (int)wanted : most;
}

size_t network_term_bytes(const network_plan *plan, size_t points, int jets)
{
    const layout o = make_layout(plan);
    const bool fused = can_fuse(plan, &o);
    const size_t rows = rows_at_a_time(&o, fused, points, jets ? plan->directions + 2 : 1);
    size_t bytes = sizeof(float) * rows * row_floats(&o, fused) + points * 8;
    if (fused && jets)
        bytes += sizeof(float) * FUSED_BLOCKS * FUSED_TILE * (size_t)o.hidden;
    for (int l = 0; l < o.hidden; l++)
        bytes += sizeof(float) * (size_t)gradient_splits(&o, fused, l, rows) * (size_t)o.ldw
                 * (size_t)((l == 0 ? o.ldk : o.ldw) + 1);
    return bytes + sizeof(float) * TOP_BLOCKS * (size_t)(o.ldw + o.ldk);
}

static void workspace_close(workspace *w)
{
    device_free(w->eta), device_free(w->v_part), device_free(w->v_linear), device_free(w->g), device_free(w->weight);
    device_free(w->top), device_free(w->linear), device_free(w->row), device_free(w->sums);
    for (int l = 0; l < DEVICE_MAX_DEPTH; l++)
        device_free(w->pre[l]), device_free(w->post[l]), device_free(w->bar[l]), device_free(w->part[l]);
    *w = workspace{};
}

static int floats_new(float **out, size_t count)
{
    return device_new((void **)out, (count + 32) * sizeof(float));
}

int network_reserved(const network *net, int slot, size_t points, int jets)
{
    const workspace *w = &net->space[slot];
    return w->eta != NULL && w->points >= points && (!net->fused || !jets || w->pre[0] != NULL)
           && w->rows >= rows_at_a_time(&net->o, net->fused, points, jets ? net->plan.directions + 2 : 1);
}

int network_reserve(network *net, int slot, size_t points, int jets)
{
    const layout *o = &net->o;
    const size_t rows = rows_at_a_time(o, net->fused, points, jets ? net->plan.directions + 2 : 1);
    workspace *w = &net->space[slot];
    if (network_reserved(net, slot, points, jets))
        return 0;
    const size_t room = rows > w->rows ? rows : w->rows, all = points > w->points ? points : w->points;
    workspace_close(w);
    const size_t blocks = all / TOP_POINTS;
    w->blocks = blocks < 1 ? 1 : blocks < (size_t)TOP_BLOCKS ? (int)blocks : (int)TOP_BLOCKS;
    CHECK(floats_new(&w->eta, room * (size_t)o->ldk));
    for (int l = 0; l < o->hidden; l++) {
        const size_t size = (size_t)o->ldw * (size_t)((l == 0 ? o->ldk : o->ldw) + 1);
        if (!net->fused || l == 0)
            CHECK(floats_new(&w->bar[l], room * (size_t)o->ldw));
        if (!net->fused)
            CHECK(floats_new(&w->pre[l], room * (size_t)o->ldw));
        if (!net->fused && l < o->hidden - 1)
            CHECK(floats_new(&w->post[l], room * (size_t)o->ldw));
        w->splits[l] = gradient_splits(o, net->fused, l, room);
        CHECK(floats_new(&w->part[l], (size_t)w->splits[l] * size));
    }
    if (net->fused && jets)
        CHECK(floats_new(&w->pre[0], (size_t)FUSED_BLOCKS * FUSED_TILE * (size_t)o->hidden));
    if (!net->fused)
        CHECK(floats_new(&w->v_part, room * (size_t)tiles(o->ldw)));
    CHECK(floats_new(&w->v_linear, room));
    CHECK(floats_new(&w->g, room));
    CHECK(floats_new(&w->weight, all));
    CHECK(floats_new(&w->top, (size_t)(net->fused ? FUSED_BLOCKS : w->blocks) * (size_t)o->ldw));
    CHECK(floats_new(&w->linear, (size_t)w->blocks * (size_t)o->ldk));
    CHECK(device_new((void **)&w->row, (all + 32) * sizeof(int32_t)));
    CHECK(device_new((void **)&w->sums, 2 * SEED_BLOCKS * sizeof(double)));
    w->rows = room;
    w->points = all;
    return 0;
}

enum { ROWS_STREAM = ROW_STAGES * (ROWS + TILE) * PAD, ROWS_TILE = ROWS * STAGED };
enum {
    ROWS_ROOM = (ROWS_STREAM > ROWS_TILE ? ROWS_STREAM : ROWS_TILE) * (int)sizeof(float),
    SLAB_ROOM = STAGES * 2 * DEEP * SLAB * (int)sizeof(float)
};

typedef void (*rows_function)(const rows_arguments);
template <bool EXACT, bool RELU> static rows_function rows_kernel(product_kind kind, bool jets)
{
    if (jets)
        return kind == FORWARD ? product_rows<FORWARD, EXACT, true, RELU> : product_rows<BACKWARD, EXACT, true, RELU>;
    return kind == FORWARD ? product_rows<FORWARD, EXACT, false, RELU> : product_rows<BACKWARD, EXACT, false, RELU>;
}
template <bool EXACT> static rows_function rows_kernel(const network *net, product_kind kind, bool jets)
{
    return net->plan.relu ? rows_kernel<EXACT, true>(kind, jets) : rows_kernel<EXACT, false>(kind, jets);
}

typedef void (*fused_function)(const fused_arguments);
template <int SINES> static fused_function fused_kernel(int R)
{
    switch (R) { /* numbers of rows that occur often are known to the compiler */
    case 1:
        return fused_rows<SINES, 1>;
    case 4:
        return fused_rows<SINES, 4>;
    case 6:
        return fused_rows<SINES, 6>;
    default:
        return fused_rows<SINES, 0>;
    }
}
static fused_function fused_kernel(const network *net, int R)
{
    return net->o.hidden == 2 ? fused_kernel<2>(R) : fused_kernel<3>(R);
}

template <bool EXACT> static int allow_room(const network *net)
{
    for (int k = 0; k < 4; k++)
        CHECK(cudaFuncSetAttribute(rows_kernel<EXACT>(net, k % 2 ? BACKWARD : FORWARD, k / 2),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, ROWS_ROOM));
    CHECK(cudaFuncSetAttribute(product_gradient<EXACT>, cudaFuncAttributeMaxDynamicSharedMemorySize, SLAB_ROOM));
    return 0;
}

static int network_fill(network *net)
{
    const size_t P = net->o.parameters, blocks = (P + UPDATE_THREADS - 1) / UPDATE_THREADS;
    for (int v = 0; v < NETWORK_VECTORS; v++)
        CHECK(device_new((void **)&net->vector[v], (v == NETWORK_GRADIENT ? DEVICE_SLOTS : 1) * P * sizeof(double)));
    CHECK(device_new((void **)&net->copies, net->o.copies * sizeof(float)));
    CHECK(device_new((void **)&net->part, blocks * sizeof(double)));
    CHECK(device_new((void **)&net->scalar, (DEVICE_SLOTS + 1) * sizeof(double)));
    CHECK(device_new((void **)&net->counter, 2 * sizeof(int64_t)));
    CHECK(device_new((void **)&net->control, MOST_CONTROLS * sizeof(device_control)));
    CHECK(device_new((void **)&net->logs, MOST_CONTROLS * sizeof(device_log)));
    CHECK(device_new((void **)&net->share_end, (DEVICE_MAX_DEPTH + 2) * sizeof(size_t)));
    CHECK(device_new((void **)&net->share, (DEVICE_MAX_DEPTH + 2) * sizeof(double)));
    for (int slot = 0; slot < DEVICE_SLOTS; slot++)
        CHECK(cudaStreamCreateWithFlags(&net->side[slot], cudaStreamNonBlocking));
    for (int jets = 0; net->fused && jets < 2; jets++)
        CHECK(cudaFuncSetAttribute(fused_kernel(net, jets ? net->plan.directions + 2 : 1),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   fused_room(net->o.hidden) * (int)sizeof(float)));
    return net->plan.exact ? allow_room<true>(net) : allow_room<false>(net);
}

int network_open(const network_plan *plan, network **out)
{
    network *net = (network *)calloc(1, sizeof *net);
    if (net == NULL)
        return DEVICE_HOST_MEMORY;
    net->plan = *plan;
    net->o = make_layout(plan);
    net->fused = can_fuse(plan, &net->o);
    const int status = network_fill(net);
    if (status != 0) {
        network_close(net);
        return status;
    }
    *out = net;
    return 0;
}

void network_close(network *net)
{
    if (net == NULL)
        return;
    for (int v = 0; v < NETWORK_VECTORS; v++)
        device_free(net->vector[v]);
    for (int slot = 0; slot < DEVICE_SLOTS; slot++) {
        workspace_close(&net->space[slot]);
        if (net->side[slot] != NULL)
            (void)cudaStreamDestroy(net->side[slot]);
    }
    device_free(net->copies), device_free(net->part), device_free(net->scalar), device_free(net->counter);
    device_free(net->control), device_free(net->logs), device_free(net->share_end), device_free(net->share);
    free(net);
}

const int64_t *network_step(const network *net)
{
    return net->counter;
}

int network_put(network *net, network_vector which, const double *in, device_stream *stream)
{
    const size_t P = net->o.parameters;
    CHECK(device_put(net->vector[which], in, P * sizeof(double), stream));
    if (which == NETWORK_GRADIENT)
        CHECK(device_zero(net->vector[which] + P, (DEVICE_SLOTS - 1) * P * sizeof(double), stream));
    if (which == NETWORK_THETA) {
        refresh_all<<<(unsigned)((P + 255) / 256), 256, 0, cuda_stream(stream)>>>(net->o, net->vector[which],
                                                                                  net->copies, net->plan.exact);
        CHECK(cudaGetLastError());
    }
    return device_wait(stream); /* in is the caller's */
}

int network_get(network *net, network_vector which, double *out, device_stream *stream)
{
    const size_t P = net->o.parameters;
    if (which == NETWORK_GRADIENT) {
        gradient_length<<<(unsigned)((P + UPDATE_THREADS - 1) / UPDATE_THREADS), UPDATE_THREADS, 0,
                          cuda_stream(stream)>>>(P, net->vector[which], net->part);
        CHECK(cudaGetLastError());
    }
    return device_get(out, net->vector[which], P * sizeof(double), stream);
}

int network_shares(network *net, int count, const size_t *end, const double *share, device_stream *stream)
{
    net->shares = count;
    CHECK(device_put(net->share_end, end, (size_t)count * sizeof *end, stream));
    CHECK(device_put(net->share, share, (size_t)count * sizeof *share, stream));
    return device_wait(stream);
}

static int pass_linear(network *net, workspace *w, const float *below, const int32_t *gather, size_t rows,
                       cudaStream_t stream)
{
    if (!has_linear(&net->plan))
        return 0;
    linear_rows<<<(unsigned)((rows + 7) / 8), 256, 0, stream>>>(below, gather, net->o.ldk,
                                                                net->copies + net->o.linear_copy, rows, w->v_linear);
    return (int)cudaGetLastError();
}

static int pass_linear_adjoint(network *net, workspace *w, const float *below, const int32_t *gather, size_t rows,
                               int add, cudaStream_t stream)
{
    if (!has_linear(&net->plan))
        return 0;
    linear_adjoint<<<dim3((unsigned)w->blocks, (unsigned)tiles(net->o.ldk)), TILE, 0, stream>>>(
        below, gather, net->o.ldk, w->g, rows, w->linear, add);
    return (int)cudaGetLastError();
}

/* The gradient of hidden layer l, from its adjoints and what came in. */
template <bool EXACT>
static int pass_gradient(network *net, workspace *w, int l, const float *below, const int32_t *gather, size_t rows,
                         int R, int add, cudaStream_t stream)
{
    const layout *o = &net->o;
    gradient_arguments q = {};
    q.bar = w->bar[l];
    q.below = l == 0 ? below : w->post[l - 1];
    q.gather = l == 0 ? gather : NULL;
    q.units = o->ldw;
    q.inputs = l == 0 ? o->ldk : o->ldw;
    q.rows = (int)rows;
    q.R = R;
    q.splits = w->splits[l];
    q.rows_a_split = (int)round_up((rows + (size_t)q.splits - 1) / (size_t)q.splits, DEEP);
    q.part = w->part[l];
    q.add = add;
    product_gradient<EXACT>
        <<<dim3((unsigned)tiles(q.inputs), (unsigned)tiles(q.units), (unsigned)q.splits), THREADS, SLAB_ROOM, stream>>>(
            q);
    return (int)cudaGetLastError();
}

/* Points [.., ..) that stand in eta, or in the cache at row: v's parts, and with adjoint all that a gradient needs. */
template <bool EXACT>
static int pass_forward(network *net, workspace *w, const float *below, const int32_t *gather, size_t rows, int R,
                        bool adjoint, cudaStream_t stream)
{
    const layout *o = &net->o;
    const unsigned tile_rows = (unsigned)(ROWS / R * R), row_tiles = (unsigned)((rows + tile_rows - 1) / tile_rows);
    for (int l = 0; l < o->hidden; l++) {
        const bool top = l == o->hidden - 1;
        rows_arguments q = {};
        q.below = l == 0 ? below : w->post[l - 1];
        q.gather = l == 0 ? gather : NULL;
        q.ld_below = l == 0 ? o->ldk : o->ldw;
        q.weights = net->copies + o->forward[l];
        q.units = o->ldw;
        q.bias = net->copies + o->shift[l];
        q.pre = adjoint && (top || R > 1 || EXACT) ? w->pre[l]
                                                   : NULL; /* packed words stand in post, at the top in pre */
        q.post = top ? NULL : w->post[l];
        q.output = top ? net->copies + o->output : NULL;
        q.v_part = top ? w->v_part : NULL;
        q.rows = rows;
        q.R = R;
        rows_kernel<EXACT>(net, FORWARD,
                           R > 1)<<<dim3(row_tiles, (unsigned)tiles(o->ldw)), ROW_THREADS, ROWS_ROOM, stream>>>(q);
        CHECK(cudaGetLastError());
    }
    return pass_linear(net, w, below, gather, rows, stream);
}

static int pass_seed(network *net, workspace *w, device_term kind, const float *weight, size_t points, int R,
                     double factor, int add, double *out, cudaStream_t stream, int integrate = 0)
{
    const layout *o = &net->o;
    seed_arguments q = {};
    q.kind = kind;
    q.R = R;
    q.parts = o->hidden > 0 ? tiles(o->ldw) : 0;
    q.has_linear = has_linear(&net->plan);
    q.v_part = w->v_part;
    q.v_linear = w->v_linear;
    q.constant = net->copies + o->constant;
    q.weight = weight;
    q.factor = (float)factor;
    q.points = points;
    q.g = w->g;
    q.sums = w->sums;
    q.add = add;
    q.out = out;
    q.integrate = integrate;
    term_seed<<<out != NULL ? (unsigned)((points + SEED_THREADS - 1) / SEED_THREADS) : (unsigned)SEED_BLOCKS,
                SEED_THREADS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}

template <bool EXACT>
static int pass_backward(network *net, workspace *w, const float *below, const int32_t *gather, size_t points, int R,
                         int add, cudaStream_t stream, cudaStream_t side)
{
    const layout *o = &net->o;
    const size_t rows = points * (size_t)R;
    const unsigned tile_rows = (unsigned)(ROWS / R * R), row_tiles = (unsigned)((rows + tile_rows - 1) / tile_rows);
    CHECK(pass_linear_adjoint(net, w, below, gather, rows, add, stream));
    if (o->hidden == 0)
        return 0;
    top_arguments top = {};
    top.pre = w->pre[o->hidden - 1];
    top.g = w->g;
    top.output = net->copies + o->output;
    top.units = o->ldw;
    top.R = R;
    top.points = points;
    top.bar = w->bar[o->hidden - 1];
    top.part = w->top;
    top.add = add;
    const auto backward = net->plan.relu ? top_backward<EXACT, true> : top_backward<EXACT, false>;
    backward<<<dim3((unsigned)w->blocks, (unsigned)tiles(o->ldw)), TILE, 0, stream>>>(top);
    CHECK(cudaGetLastError());
    CHECK(device_follow((device_stream *)side, (device_stream *)stream));
    /* gradients stand aside: the way back does not wait for them */
    for (int l = o->hidden - 1; l >= 0; l--) {
        CHECK(pass_gradient<EXACT>(net, w, l, below, gather, rows, R, add, side));
        if (l == 0)
            break;
        rows_arguments p = {};
        p.below = w->bar[l];
        p.ld_below = o->ldw;
        p.weights = net->copies + o->backward[l];
        p.units = o->ldw;
        p.pre = R > 1 || EXACT ? w->pre[l - 1] : w->post[l - 1];
        p.post = w->bar[l - 1];
        p.rows = rows;
        p.R = R;
        rows_kernel<EXACT>(net, BACKWARD,
                           R > 1)<<<dim3(row_tiles, (unsigned)tiles(o->ldw)), ROW_THREADS, ROWS_ROOM, stream>>>(p);
        CHECK(cudaGetLastError());
        CHECK(device_follow((device_stream *)side, (device_stream *)stream));
    }
    return device_follow((device_stream *)stream, (device_stream *)side);
}

static unsigned fused_blocks(size_t rows, int R)
{
    const size_t tile = (size_t)(ROWS / R * R), all = (rows + tile - 1) / tile;
    return all < FUSED_BLOCKS ? (unsigned)all : (unsigned)FUSED_BLOCKS;
}

/* All of a term's pass in one kernel, but for the first layer's gradient and the linear part. */
static int pass_fused(network *net, workspace *w, device_term kind, const float *below, const int32_t *gather,
                      const float *weight, size_t points, int R, double factor, int add, cudaStream_t stream)
{
    const layout *o = &net->o;
    const size_t rows = points * (size_t)R;
    fused_arguments q = {};
    q.eta = below;
    q.gather = gather;
    q.ldk = o->ldk;
    q.units = o->ldw;
    for (int l = 0; l < o->hidden; l++) {
        q.forward[l] = net->copies + o->forward[l];
        q.backward[l] = net->copies + o->backward[l];
        q.bias[l] = net->copies + o->shift[l];
        q.part[l] = w->part[l];
    }
    q.output = net->copies + o->output;
    q.constant = net->copies + o->constant;
    q.v_linear = has_linear(&net->plan) ? w->v_linear : NULL;
    q.kind = kind;
    q.R = R;
    q.weight = weight;
    q.factor = (float)factor;
    q.rows = rows;
    q.bar = w->bar[0];
    q.g = has_linear(&net->plan) ? w->g : NULL;
    q.pre = w->pre[0];
    q.top = w->top;
    q.sums = w->sums;
    q.add = add;
    CHECK(pass_linear(net, w, below, gather, rows, stream));
    fused_kernel(
        net, R)<<<fused_blocks(rows, R), FUSED_THREADS, (unsigned)fused_room(o->hidden) * sizeof(float), stream>>>(q);
    CHECK(cudaGetLastError());
    CHECK(pass_linear_adjoint(net, w, below, gather, rows, add, stream));
    return pass_gradient<false>(net, w, 0, below, gather, rows, R, add, stream);
}

int network_term(network *net, int slot, device_term kind, const encoder *e, const device_source *s, double factor,
                 const float *cache, device_stream *stream)
{
    const layout *o = &net->o;
    workspace *w = &net->space[slot];
    const int jets = kind == DEVICE_TERM_LAPLACIAN || kind == DEVICE_TERM_GRADIENT,
              R = jets ? net->plan.directions + 2 : 1;
    const bool cached = cache != NULL && s->kind == DEVICE_DATA && !jets;
    const size_t most = w->rows / (size_t)R;
    const float *weight = w->weight;
    cudaStream_t to = cuda_stream(stream);
    if (cached)
        CHECK(source_rows(s, w->row, w->weight, stream));
    if (s->kind == DEVICE_IMPORTANCE && s->x != NULL)
        CHECK(source_aim(e, s, stream));
    if (s->count == 0)
        CHECK(cudaMemsetAsync(w->sums, 0, 2 * SEED_BLOCKS * sizeof(double), to));
    for (size_t first = 0; first < s->count; first += most) {
        const size_t points = s->count - first < most ? s->count - first : most;
        const int add = first > 0;
        const float *below = cached ? cache : w->eta;
        const int32_t *gather = cached ? w->row + first : NULL;
        if (!cached)
            CHECK(encoder_run(e, s, first, points, jets, w->eta, w->weight, NULL, stream));
        weight = cached ? w->weight + first : w->weight;
        if (net->fused) {
            CHECK(pass_fused(net, w, kind, below, gather, weight, points, R, factor, add, to));
            continue;
        }
        CHECK((net->plan.exact ? pass_forward<true> : pass_forward<false>)(net, w, below, gather, points * (size_t)R, R,
                                                                           true, to));
        CHECK(pass_seed(net, w, kind, weight, points, R, factor, add, NULL, to));
        CHECK((net->plan.exact ? pass_backward<true> : pass_backward<false>)(net, w, below, gather, points, R, add, to,
                                                                             net->side[slot]));
    }
    /* the first piece is the largest: all of its blocks left a part */
    const int fused = (int)fused_blocks((s->count < most ? s->count : most) * (size_t)R, R);
    collect_arguments q = {};
    for (int l = 0; l < o->hidden; l++) {
        q.part[l] = w->part[l];
        q.splits[l] = s->count == 0 ? 0 : net->fused && l > 0 ? fused : w->splits[l];
    }
    q.top = w->top;
    q.linear = w->linear;
    q.linear_blocks = s->count == 0 ? 0 : w->blocks;
    q.top_blocks = net->fused ? fused : q.linear_blocks;
    q.seed_blocks = net->fused ? fused : SEED_BLOCKS;
    q.sums = w->sums;
    q.sum = net->scalar + slot;
    q.gradient = net->vector[NETWORK_GRADIENT] + (size_t)slot * o->parameters;
    collect<<<(unsigned)((o->parameters + COLLECT_PARAMETERS - 1) / COLLECT_PARAMETERS + 1),
              dim3(COLLECT_PARAMETERS, COLLECT_LANES), 0, to>>>(*o, q);
    return (int)cudaGetLastError();
}

int network_evaluate(network *net, int slot, const encoder *e, const device_source *s, size_t first, size_t count,
                     int jets, double *out, device_stream *stream)
{
    if (net->fused) /* values come from exact networks: there is no room for them here */
        return DEVICE_REFUSED;
    workspace *w = &net->space[slot];
    const int R = jets ? net->plan.directions + 2 : 1;
    const size_t most = w->rows / (size_t)R;
    for (size_t at = 0; at < count; at += most) {
        const size_t points = count - at < most ? count - at : most;
        CHECK(encoder_run(e, s, first + at, points, jets, w->eta, w->weight, NULL, stream));
        CHECK((net->plan.exact ? pass_forward<true> : pass_forward<false>)(net, w, w->eta, NULL, points * (size_t)R, R,
                                                                           false, cuda_stream(stream)));
        CHECK(pass_seed(net, w, DEVICE_TERM_DATA, w->weight, points, R, 1.0, 0, out + at * (size_t)R,
                        cuda_stream(stream)));
    }
    return 0;
}

int network_integrate(network *net, int slot, const encoder *e, const device_source *s, size_t first, size_t count,
                      double *sums, device_stream *stream)
{
    if (net->fused) /* values come from exact networks: there is no room for them here */
        return DEVICE_REFUSED;
    workspace *w = &net->space[slot];
    double part[2 * SEED_BLOCKS];
    for (size_t at = 0; at < count; at += w->rows) {
        const size_t points = count - at < w->rows ? count - at : w->rows;
        CHECK(encoder_run(e, s, first + at, points, 0, w->eta, w->weight, NULL, stream));
        CHECK((net->plan.exact ? pass_forward<true> : pass_forward<false>)(net, w, w->eta, NULL, points, 1, false,
                                                                           cuda_stream(stream)));
        CHECK(pass_seed(net, w, DEVICE_TERM_INTEGRAL, w->weight, points, 1, 1.0, at > 0, NULL, cuda_stream(stream), 1));
    }
    CHECK(device_get(part, w->sums, sizeof part, stream));
    for (int b = 0; count > 0 && b < SEED_BLOCKS; b++)
        for (int k = 0; k < 2; k++)
            sums[k] += part[2 * b + k];
    return 0;
}

int network_update(network *net, device_stream *stream)
{
    const size_t P = net->o.parameters;
    const unsigned blocks = (unsigned)((P + UPDATE_THREADS - 1) / UPDATE_THREADS);
    cudaStream_t to = cuda_stream(stream);
    gradient_length<<<blocks, UPDATE_THREADS, 0, to>>>(P, net->vector[NETWORK_GRADIENT], net->part);
    CHECK(cudaGetLastError());
    update_arguments q = {};
    q.theta = net->vector[NETWORK_THETA];
    q.gradient = net->vector[NETWORK_GRADIENT];
    q.moment1 = net->vector[NETWORK_MOMENT1];
    q.moment2 = net->vector[NETWORK_MOMENT2];
    q.copies = net->copies;
    q.part = net->part;
    q.parts = (int)blocks;
    q.control = net->control;
    q.step = net->counter;
    q.first = net->counter + 1;
    q.running = net->scalar + DEVICE_SLOTS;
    q.share_end = net->share_end;
    q.share = net->share;
    q.shares = net->shares;
    q.exact = net->plan.exact;
    update<<<blocks, UPDATE_THREADS, 0, to>>>(net->o, q);
    CHECK(cudaGetLastError());
    if (net->o.depth == 1 && net->o.skip) {
        refresh_all<<<blocks, UPDATE_THREADS, 0, to>>>(net->o, q.theta, net->copies, net->plan.exact);
        CHECK(cudaGetLastError());
    }
    finish<<<1, UPDATE_THREADS, 0, to>>>(net->part, (int)blocks, net->control, net->counter, net->counter + 1,
                                         net->scalar + DEVICE_SLOTS, net->scalar, net->logs);
    return (int)cudaGetLastError();
}

int network_prepare(network *net, int64_t first, size_t count, const device_control *rows, double running,
                    device_stream *stream)
{
    const int64_t counter[2] = { first, first };
    if (count > MOST_CONTROLS)
        return (int)cudaErrorInvalidValue;
    CHECK(device_put(net->counter, counter, sizeof counter, stream));
    CHECK(device_put(net->control, rows, count * sizeof *rows, stream));
    CHECK(device_put(net->scalar + DEVICE_SLOTS, &running, sizeof running, stream));
    return device_wait(stream);
}

int network_logs(network *net, size_t count, device_log *out, device_stream *stream)
{
    return device_get(out, net->logs, count * sizeof *out, stream);
}

int network_sum(network *net, int slot, double *sum, device_stream *stream)
{
    return device_get(sum, net->scalar + slot, sizeof *sum, stream);
}

int device_follow(device_stream *s, device_stream *after)
{
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const cudaError_t recorded = cudaEventRecord(event, cuda_stream(after));
    const cudaError_t waits = recorded != cudaSuccess ? recorded : cudaStreamWaitEvent(cuda_stream(s), event, 0);
    cudaEventDestroy(event);
    return (int)waits;
}
