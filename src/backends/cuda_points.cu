/* cuda_points.cu - points of a term and their encodings, made on the device: the phases of device_view.h, with the
 * barriers between them.
 *
 * One kernel for each call: a block of threads takes a group of points through all phases and goes on to its next
 * group, so that a point's coordinates and eigenfunctions never leave the chip. Tables are in shared memory; where
 * those of a single point are too large for it, in memory that encoder_open took. */
#include "device_encode.h"

#include <cuda_runtime.h>
#include <stdlib.h>

#define ORDINARY_SHARED ((size_t)48 * 1024) /* what every kernel may have without asking */
#define CENTRE_THREADS 128

struct encoder {
    encoder_view view;
    void *memory;  /* the view's block on the device */
    float *tables; /* (blocks, stride[1]): where shared memory is too small, else NULL */
    int blocks;    /* of threads: those that hold tables, or as many as keep the device busy */
    int multiprocessors;
    size_t most_shared;
};

/* ---- the room of a group in shared memory ------------------------------------------------------------------------ */

typedef struct group_room { /* offsets in bytes; every piece begins at a multiple of 8 */
    size_t e, weight, scramble, table, bytes;
} group_room;

static __host__ __device__ __forceinline__ size_t round_8(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static __host__ __device__ __forceinline__ group_room room_of(const encoder_view *v, int points, int jets,
                                                              bool tables_elsewhere)
{
    group_room r;
    r.e = (size_t)points * (size_t)v->columns * sizeof(double); /* behind x */
    r.weight = r.e + (size_t)points * (size_t)v->embedding * sizeof(wave);
    r.scramble = r.weight + round_8((size_t)points * sizeof(float));
    r.table = r.scramble + round_8((DEVICE_DIRECTIONS + 1) * sizeof(uint32_t));
    r.bytes = r.table + (tables_elsewhere ? 0 : (size_t)points * (size_t)v->stride[jets] * sizeof(float));
    return r;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

typedef struct group_request {
    size_t first, count;
    int points, jets; /* points of a group */
    float *eta, *weight;
    double *x_out;
    float *tables;
} group_request;

enum { ENCODE_PRODUCTS, ENCODE_WAVES, ENCODE_ANY, ENCODE_COLUMNS }; /* ANY: what the first two do not serve */

static __device__ __forceinline__ int64_t step_of(const device_source *s)
{
    return s->step == NULL ? 0 : *s->step;
}

/* Not inlined: it is large, slow to compile, and called once a point and factor. */
static __device__ __noinline__ void make_one(const encoder_view *v, const device_source *s, int64_t step,
                                             const uint32_t *scramble, size_t i, int d, double *x, wave *e,
                                             float *weight)
{
    make_factor(v, s, step, scramble, i, d, x, e, weight);
}

/* Likewise: its registers would be taken from encodings that have no surface. */
static __device__ __noinline__ void table_surfaces(const encoder_view *v, int m, const double *x, int jets,
                                                   float *table)
{
    fill_surfaces(v, (int)threadIdx.x, GROUP_THREADS, m, x, jets, table);
}

/* Weights of importance points: a warp takes four points, its lanes the centres. */
static __device__ __forceinline__ void weigh_importance(const encoder_view *v, const device_source *s, int m,
                                                        const wave *e, float *weight)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = GROUP_THREADS / 32;
    const double rho = s->rho, near = (1.0 - rho) / (1.0 + rho), slope = rho / (1.0 - rho * rho);
    for (int i = 4 * warp; i < m; i += 4 * warps) {
        float sum[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
        const wave *const at[4] = { e + i * v->embedding, e + min(i + 1, m - 1) * v->embedding,
                                    e + min(i + 2, m - 1) * v->embedding, e + min(i + 3, m - 1) * v->embedding };
        for (int c = lane; c < s->centres; c += 32)
            cauchy_add(v, s, (float)near, (float)slope, c, at, sum);
        for (int q = 0; q < 4; q++)
            for (int other = 16; other > 0; other /= 2)
                sum[q] += __shfl_xor_sync(0xFFFFFFFFu, sum[q], other);
        for (int q = 0; q < 4; q++)
            if (lane == q && i + q < m)
                weight[i + q] = importance_weight(s, sum[q]);
    }
}

template <int KIND, bool ELSEWHERE>
__global__ void __launch_bounds__(GROUP_THREADS, 4)
    encode_groups(const __grid_constant__ encoder_view v, const __grid_constant__ device_source s,
                  const __grid_constant__ group_request g)
{
    extern __shared__ double shared[];
    const int thread = (int)threadIdx.x, jets = g.jets, G = g.points;
    const group_room room = room_of(&v, G, jets, ELSEWHERE);
    char *base = (char *)shared;
    double *x = shared;
    wave *e = (wave *)(base + room.e);
    float *weight = (float *)(base + room.weight);
    uint32_t *scramble = (uint32_t *)(base + room.scramble);
    float *table = ELSEWHERE ? g.tables + (size_t)blockIdx.x * (size_t)G * (size_t)v.stride[jets]
                             : (float *)(base + room.table);
    const size_t groups = (g.count + (size_t)G - 1) / (size_t)G,
                 a_point = (size_t)(jets ? v.dimension + 2 : 1) * (size_t)v.ld;
    const bool fresh = s.kind == DEVICE_UNIFORM || s.kind == DEVICE_IMPORTANCE;
    const int64_t step = step_of(&s);

    if (fresh && s.quasi && thread <= v.dimension)
        scramble[thread] = philox_word(source_key(&s, s.purpose, step), (uint64_t)thread, 0);
    for (size_t group = blockIdx.x; group < groups; group += gridDim.x) {
        const size_t begin = group * (size_t)G;
        const int m = g.count - begin < (size_t)G ? (int)(g.count - begin) : G;
        __syncthreads(); /* the scrambles are there, and nobody reads the last group any more */
        for (int task = thread; task < m * v.factors; task += GROUP_THREADS) {
            const int d = task / m, i = task - d * m;
            make_one(&v, &s, step, scramble, g.first + begin + (size_t)i, d, x + i * v.columns + v.column[d],
                     e + i * v.embedding + v.embedded[d], weight + i);
        }
        __syncthreads();
        if (s.kind == DEVICE_IMPORTANCE) {
            weigh_importance(&v, &s, m, e, weight);
            __syncthreads();
        }
        if (thread < m)
            g.weight[begin + (size_t)thread] = weight[thread];
        if (g.x_out != NULL)
            for (int j = thread; j < m * v.columns; j += GROUP_THREADS)
                g.x_out[begin * (size_t)v.columns + (size_t)j] = x[j];
        if (KIND == ENCODE_COLUMNS) {
            encode_columns(&v, thread, GROUP_THREADS, m, jets, x, g.eta + begin * a_point);
            continue;
        }
        fill_tables(&v, thread, GROUP_THREADS, m, x, jets, table);
        table_surfaces(&v, m, x, jets, table);
        __syncthreads();
        float *eta = g.eta + begin * a_point;
        if (KIND == ENCODE_PRODUCTS && jets) /* a constant saves the loops over rows */
            encode_products(&v, thread, GROUP_THREADS, m, 1, table, eta);
        else if (KIND == ENCODE_PRODUCTS)
            encode_products(&v, thread, GROUP_THREADS, m, 0, table, eta);
        else if (KIND == ENCODE_WAVES && jets)
            encode_waves(&v, thread, GROUP_THREADS, m, 1, table, eta);
        else if (KIND == ENCODE_WAVES)
            encode_waves(&v, thread, GROUP_THREADS, m, 0, table, eta);
        else if (v.waves)
            encode_waves_many(&v, thread, GROUP_THREADS, m, jets, table, eta);
        else
            encode_sums(&v, thread, GROUP_THREADS, m, jets, table, eta);
    }
}

__global__ void aim_centres(const __grid_constant__ encoder_view v, const __grid_constant__ device_source s)
{
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c < s.centres)
        aim_centre(&v, &s, step_of(&s), c);
}

__global__ void find_rows(const __grid_constant__ device_source s, int32_t *row, float *weight)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.count)
        return;
    const size_t r = source_row(&s, step_of(&s), i);
    row[i] = (int32_t)r;
    weight[i] = (float)source_row_weight(&s, r);
}

/* ---- host -------------------------------------------------------------------------------------------------------- */

static int kind_of(const encoder *e)
{
    const encoder_view *v = &e->view;
    if (v->vectors == 0)
        return ENCODE_COLUMNS;
    if (e->tables != NULL || v->blocks > 0 || v->factors > DEVICE_REGISTERS)
        return ENCODE_ANY;
    return v->waves ? ENCODE_WAVES : ENCODE_PRODUCTS;
}

typedef void (*group_kernel)(encoder_view, device_source, group_request);

static group_kernel kernel_of(const encoder *e)
{
    if (e->tables != NULL)
        return encode_groups<ENCODE_ANY, true>;
    switch (kind_of(e)) {
    case ENCODE_PRODUCTS:
        return encode_groups<ENCODE_PRODUCTS, false>;
    case ENCODE_WAVES:
        return encode_groups<ENCODE_WAVES, false>;
    case ENCODE_COLUMNS:
        return encode_groups<ENCODE_COLUMNS, false>;
    default:
        return encode_groups<ENCODE_ANY, false>;
    }
}

/* Points of a group: as many as fit ordinary shared memory, or a few in all there is; fewer where a call has
 * too few points to give every multiprocessor two groups. 0: not even one fits. */
static int group_points(const encoder *e, size_t count, int jets)
{
    const encoder_view *v = &e->view;
    int points = GROUP_POINTS;
    if (e->tables != NULL)
        return 1;
    while (points > 4 && room_of(v, points, jets, false).bytes > ORDINARY_SHARED)
        points /= 2;
    while (points > 0 && room_of(v, points, jets, false).bytes > e->most_shared)
        points /= 2;
    while (points > 4 && (count + (size_t)points - 1) / (size_t)points < 2 * (size_t)e->multiprocessors)
        points /= 2;
    return points;
}

/* Shared memory above the ordinary is given on demand, once for each kernel. */
static cudaError_t prepare(encoder *e)
{
    int device = 0, most = 0;
    cudaError_t err = cudaGetDevice(&device);
    if (err == cudaSuccess)
        err = cudaDeviceGetAttribute(&e->multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (err == cudaSuccess)
        err = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (err != cudaSuccess)
        return err;
    cudaFuncAttributes loaded; /* kernels are loaded now: while a graph is recorded it may be too late */
    err = cudaFuncGetAttributes(&loaded, aim_centres);
    if (err == cudaSuccess)
        err = cudaFuncGetAttributes(&loaded, find_rows);
    if (err != cudaSuccess)
        return err;
    e->most_shared = (size_t)most;
    e->blocks = 16 * e->multiprocessors;
    if (group_points(e, SIZE_MAX / 2, 1) > 0)
        return cudaFuncSetAttribute(kernel_of(e), cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    e->blocks = 2 * e->multiprocessors;
    err = cudaMalloc((void **)&e->tables, (size_t)e->blocks * (size_t)e->view.stride[1] * sizeof(float));
    return err != cudaSuccess ? err : cudaFuncGetAttributes(&loaded, kernel_of(e));
}

extern "C" int encoder_open(const encoder_plan *plan, encoder **out)
{
    void *block = NULL;
    size_t bytes = 0;
    encoder *e = (encoder *)calloc(1, sizeof *e);
    if (e == NULL)
        return DEVICE_HOST_MEMORY;
    int status = encoder_view_make(plan, &e->view, &block, &bytes);
    if (status == 0)
        status = (int)cudaMalloc(&e->memory, bytes);
    if (status == 0)
        status = (int)cudaMemcpy(e->memory, block, bytes, cudaMemcpyHostToDevice);
    if (status == 0) {
        encoder_view_move(&e->view, block, e->memory);
        status = (int)prepare(e);
    }
    if (status == 0) /* copies from ordinary memory may still be under way, and our streams do not wait for them */
        status = (int)cudaStreamSynchronize(cudaStreamLegacy);
    encoder_view_free(block);
    if (status != 0) {
        encoder_close(e);
        (void)cudaGetLastError();
        return status;
    }
    *out = e;
    return 0;
}

extern "C" void encoder_close(encoder *e)
{
    if (e == NULL)
        return;
    (void)cudaFree(e->memory);
    (void)cudaFree(e->tables);
    free(e);
}

extern "C" int encoder_run(const encoder *e, const device_source *s, size_t first, size_t count, int jets, float *eta,
                           float *weight, double *x_out, device_stream *stream)
{
    if (count == 0)
        return 0;
    group_request g = { first, count, group_points(e, count, jets != 0), jets != 0, eta, weight, x_out, e->tables };
    const size_t groups = (count + (size_t)g.points - 1) / (size_t)g.points,
                 shared = room_of(&e->view, g.points, g.jets, e->tables != NULL).bytes;
    const unsigned blocks = (unsigned)(groups < (size_t)e->blocks ? groups : (size_t)e->blocks);
    kernel_of(e)<<<blocks, GROUP_THREADS, shared, (cudaStream_t)(void *)stream>>>(e->view, *s, g);
    return (int)cudaGetLastError();
}

extern "C" int source_aim(const encoder *e, const device_source *s, device_stream *stream)
{
    if (s->kind != DEVICE_IMPORTANCE || s->centres <= 0)
        return DEVICE_REFUSED;
    const unsigned blocks = (unsigned)(s->centres + CENTRE_THREADS - 1) / CENTRE_THREADS;
    aim_centres<<<blocks, CENTRE_THREADS, 0, (cudaStream_t)(void *)stream>>>(e->view, *s);
    return (int)cudaGetLastError();
}

extern "C" int source_rows(const device_source *s, int32_t *row, float *weight, device_stream *stream)
{
    if (s->kind != DEVICE_DATA || s->n > (size_t)INT32_MAX)
        return DEVICE_REFUSED;
    if (s->count == 0)
        return 0;
    const unsigned blocks = (unsigned)((s->count + GROUP_THREADS - 1) / GROUP_THREADS);
    find_rows<<<blocks, GROUP_THREADS, 0, (cudaStream_t)(void *)stream>>>(*s, row, weight);
    return (int)cudaGetLastError();
}
