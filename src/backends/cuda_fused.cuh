/* cuda_fused.cuh - rows through all layers and back in one block, on the device; cuda_layers.cu alone includes it.
 *
 * For networks of two or three sine layers of up to 128 units and TF32 products. A block takes 128 rows from encodings
 * to the adjoints of the first layer: activations stay in shared memory, weights stream through it, and the gradients
 * of all layers but the first stay in registers from tile to tile. A row moves through device memory only as its
 * encoding (written, and read twice, since product_gradient makes the first layer's gradient) and as the first layer's
 * adjoint: 4.5 KB instead of 11.5 with 256 inputs.
 *
 * Jets need both the inputs and the outputs of the sines; the inputs stay in device memory that belongs to the block,
 * and so in the cache.
 *
 * A block takes every FUSED_BLOCKS-th tile and leaves one partial sum: the order of summation depends on the shapes
 * alone. */
#ifndef NPMD_CUDA_FUSED_CUH
#define NPMD_CUDA_FUSED_CUH

#include "cuda_terms.cuh"

namespace
{

enum {
    TALL = 2,
    FUSED_THREADS = 1024 / TALL
}; /* a warp has 16 TALL x 32 of a product; 4: half as many warps, slower */
enum { FUSED_LANES = FUSED_THREADS / TILE, FUSED_STAGES = 4, FUSED_SINES = 3 };
enum { FUSED_BLOCKS = 132 }; /* one for every multiprocessor of an H200 */
enum { FUSED_TILE = ROWS * TILE, FUSED_CHUNK = TILE * DEEP, FUSED_RING = 2 * FUSED_CHUNK };

/* Floats of shared memory: activations, weights, the rows' parts of v, their g. */
constexpr int fused_room(int sines)
{
    return sines * FUSED_TILE + FUSED_RING + 5 * ROWS;
}

struct fused_arguments {
    const float *eta;      /* (rows, ldk) */
    const int32_t *gather; /* of eta; NULL: itself */
    int ldk, units;
    const float *forward[FUSED_SINES], *backward[FUSED_SINES], *bias[FUSED_SINES];
    const float *output, *constant;
    const float *v_linear; /* (rows), or NULL */
    int kind, R;
    const float *weight; /* (points) */
    float factor;
    size_t rows;
    float *bar;               /* (rows, units): adjoints of the first layer */
    float *g;                 /* (rows), or NULL: wanted by the linear part */
    float *pre;               /* (blocks, sines, ROWS, TILE): room for jets */
    float *part[FUSED_SINES]; /* from 1; (blocks, units (units + 1)): the matrix, then the biases */
    float *top;               /* (blocks, units) */
    double *sums;             /* (blocks, 2) */
    int add;
};

/* Tiles lie row by row without padding. Groups of four columns change places within a row so that eight rows of one
 * group (a product's rows) and four rows of two neighbouring ones (a gradient's) lie in different banks. */
__device__ __forceinline__ int turn(int row)
{
    return (row & 3) * 2 + (row >> 2 & 1);
}
__device__ __forceinline__ int place_in(int row, int column)
{
    return row * TILE + (column ^ (((row & 7) * 9) & 28)); /* 4 turn(row), in fewer operations */
}

/* The thread's number, as if it were a new one: what follows from it is worked out anew and takes no registers in
 * between; those of the gradients and of a product are all there are. */
__device__ __forceinline__ int thread_again()
{
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

/* sum += 32 columns of a (rows LD apart) times a chunk of weights; as product_rows. */
template <int LD>
__device__ __forceinline__ void multiply_chunk(float sum[TALL][4][4], const float *a_tile, const float *b_tile)
{
    const int thread = thread_again(), warp = thread / 32, lane = thread % 32, by = turn(lane % 8);
    const float *a_at = a_tile + (warp / 4 * (16 * TALL) + lane % 16) * LD,
                *b_at = b_tile + (warp % 4 * 32 + lane % 8 + lane / 16 * 8) * DEEP;
#pragma unroll
    for (int k = 0; k < DEEP / 4; k += 2) {
        const int a_group = ((k + lane / 16) ^ by) << 2, b_group = ((k + lane / 8 % 2) ^ by) << 2;
        unsigned a[TALL][4], b[4][2];
#pragma unroll
        for (int i = 0; i < TALL; i++)
            load_matrices(a[i], a_at + 16 * i * LD + a_group);
#pragma unroll
        for (int j = 0; j < 4; j += 2) {
            unsigned pair[4];
            load_matrices(pair, b_at + 8 * j * DEEP + b_group);
            b[j][0] = pair[0], b[j][1] = pair[1], b[j + 1][0] = pair[2], b[j + 1][1] = pair[3];
        }
        multiply_tile<false, TALL>(sum, a, b);
    }
}

/* sum += bar' below over the rows of two tiles; units in the order of product_gradient. */
__device__ __forceinline__ void multiply_transposed(float sum[TALL][4][4], const float *bar, const float *below)
{
    const int thread = thread_again(), warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
    const float *a_at = bar + t * TILE + warp / 4 * (16 * TALL) + g % 2 * 2,
                *b_at = below + t * TILE + warp % 4 * 32 + g % 4;
#pragma unroll 1
    for (int k = 0; k < ROWS; k += 8, a_at += 8 * TILE, b_at += 8 * TILE) {
        unsigned a[TALL][4], b[4][2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int by = turn(t + 4 * h);
#pragma unroll
            for (int i = 0; i < TALL; i++) {
                const float2 two = *(const float2 *)(a_at + 4 * h * TILE + i / 2 * 32
                                                     + (((i % 2 * 4 + g / 2) ^ by) << 2));
                a[i][2 * h] = __float_as_uint(two.x), a[i][2 * h + 1] = __float_as_uint(two.y);
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
                b[j][h] = __float_as_uint(b_at[4 * h * TILE + (((2 * j + g / 4) ^ by) << 2)]);
        }
        multiply_tile<false, TALL>(sum, a, b);
    }
}

/* What the threads hold of a product to a tile. */
__device__ __forceinline__ void stage(const float sum[TALL][4][4], float *tile)
{
    const int thread = thread_again(), warp = thread / 32, lane = thread % 32, row = warp / 4 * (16 * TALL) + lane / 4;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float *to = tile + place_in(row, warp % 4 * 32 + 8 * j + 2 * (lane % 4));
#pragma unroll
        for (int i = 0; i < TALL; i++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                *(float2 *)(to + (16 * i + 8 * h) * TILE) = make_float2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
    }
}

/* The block's place in everything. */
template <int SINES, int JET> struct fused_tile {
    const fused_arguments &q;
    float *room;
    size_t first;
    int rows;
    float bias[SINES], top; /* sums of adjoints over value rows; of the output's weights */
    double sum, constant;

    /* Rows of a point: JET, or, where that is 0, any number. */
    __device__ __forceinline__ int R() const
    {
        return JET > 0 ? JET : q.R;
    }
    /* In shared memory: the activations of the first layer, the tile in work, those of the second, the weights, the
     * rows' parts of v, their g. */
    __device__ __forceinline__ float *post(int l) const
    {
        return room + (l == 0 ? 0 : 2 * FUSED_TILE);
    }
    __device__ __forceinline__ float *cur() const
    {
        return room + FUSED_TILE;
    }
    __device__ __forceinline__ float *ring() const
    {
        return room + SINES * FUSED_TILE;
    }
    __device__ __forceinline__ float *v_part() const
    {
        return ring() + FUSED_RING;
    }
    __device__ __forceinline__ float *g() const
    {
        return v_part() + 4 * ROWS;
    }
    __device__ __forceinline__ float *pre(int l) const
    {
        return q.pre + ((size_t)blockIdx.x * SINES + (size_t)l) * FUSED_TILE;
    }
    /* does(unit, lane): in passes a thread has a unit, and every FUSED_LANES-th row or point. */
    template <class F> __device__ __forceinline__ void pass(const F &does) const
    {
        const int thread = thread_again();
        does(thread % TILE, thread / TILE);
    }

    /* A chunk of 32 columns of weights. */
    __device__ __forceinline__ void bring_rows(float *to, const float *from, int ld) const
    {
        const int thread = thread_again(), row = thread / 8, part = thread % 8;
        to += row * DEEP + ((part ^ turn(row)) << 2);
        from += row * ld + part * 4;
#pragma unroll
        for (int i = 0; i < TILE; i += FUSED_THREADS / 8)
            copy16(to + i * DEEP, row + i < q.units ? from + i * ld : from, row + i < q.units);
    }
    __device__ __forceinline__ void bring_weights(const float *from, int n) const
    {
        bring_rows(ring() + n % 2 * FUSED_CHUNK, from, q.units);
        copy_commit();
    }
    /* acc += tile times weights, whose first chunk is the n-th and on its way; those that come next follow it. */
    __device__ __forceinline__ void multiply(float acc[TALL][4][4], const float *tile, const float *weights,
                                             const float *next, int *n) const
    {
#pragma unroll 1
        for (int column = 0; column < q.units; column += DEEP, ++*n) {
            copy_wait<0>();
            __syncthreads();
            if (column + DEEP < q.units)
                bring_weights(weights + column + DEEP, *n + 1);
            else if (next != NULL)
                bring_weights(next, *n + 1);
            multiply_chunk<TILE>(acc, tile + column, ring() + *n % 2 * FUSED_CHUNK);
        }
    }
    /* The first layer: encodings and weights through a ring of their own, which ends free. */
    __device__ __forceinline__ void bring_first(int chunk) const
    {
        if (chunk * DEEP < q.ldk) {
            const int thread = thread_again(), row = thread / 8, part = thread % 8;
            float *to = room + chunk % FUSED_STAGES * (2 * FUSED_CHUNK);
#pragma unroll
            for (int i = 0; i < TILE; i += FUSED_THREADS / 8) {
                const size_t at = first + (size_t)(row + i < rows ? row + i : 0),
                             behind = q.gather == NULL ? at : (size_t)__ldg(q.gather + at);
                copy16(to + (row + i) * DEEP + ((part ^ turn(row)) << 2),
                       q.eta + behind * (size_t)q.ldk + (chunk * DEEP + part * 4), row + i < rows);
            }
            bring_rows(to + FUSED_CHUNK, q.forward[0] + chunk * DEEP, q.ldk);
        }
        copy_commit(); /* an empty group keeps the count */
    }
    __device__ __forceinline__ void multiply_first(float acc[TALL][4][4]) const
    {
        for (int chunk = 0; chunk < FUSED_STAGES - 1; chunk++)
            bring_first(chunk);
#pragma unroll 1
        for (int chunk = 0; chunk * DEEP < q.ldk; chunk++) {
            copy_wait<FUSED_STAGES - 2>();
            __syncthreads();
            bring_first(chunk + FUSED_STAGES - 1);
            const float *at = room + chunk % FUSED_STAGES * (2 * FUSED_CHUNK);
            multiply_chunk<DEEP>(acc, at, at + FUSED_CHUNK);
        }
        __syncthreads();
    }

    /* g from v, one thread for each point; sums are the thread's own. */
    __device__ __forceinline__ void seed()
    {
        __syncthreads();
        const int R = this->R(), mine = thread_again(), row = mine * R;
        const float shift0 = __ldg(q.constant);
        if (mine < ROWS / R && row >= rows)
            for (int r = 0; r < R; r++)
                g()[row + r] = 0.0f;
        if (row < rows) {
            const auto v = [&](int r) {
                const float *at = v_part() + row + r;
                const float here = (JET != 1 ? at[0] : (at[0] + at[ROWS]) + (at[2 * ROWS] + at[3 * ROWS]))
                                   + (r == 0 ? shift0 : 0.0f);
                return q.v_linear == NULL ? here : here + __ldg(q.v_linear + first + (size_t)(row + r));
            };
            const auto put = [&](int r, float value) {
                g()[row + r] = value;
                if (q.g != NULL)
                    q.g[first + (size_t)(row + r)] = value;
            };
            seed_point(q.kind, R, __ldg(q.weight + first / (size_t)R + (size_t)mine), q.factor, v, put, &sum,
                       &constant);
        }
        __syncthreads();
    }

    /* ---- values: what a thread holds of a product goes through the sine where it is */

    __device__ __forceinline__ void values_up(int l, float acc[TALL][4][4])
    {
        const bool last = l == SINES - 1;
        float *to = last ? cur() : post(l), v[TALL][2] = {};
        const int thread = thread_again(), lane = thread % 32, warp = thread / 32,
                  row = warp / 4 * (16 * TALL) + lane / 4;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int column = warp % 4 * 32 + 8 * j + 2 * (lane % 4);
            const bool inside = column < q.units;
            const float2 none = make_float2(0.0f, 0.0f),
                         shift = inside ? __ldg((const float2 *)(q.bias[l] + column)) : none,
                         output = last && inside ? __ldg((const float2 *)(q.output + column)) : none;
#pragma unroll
            for (int i = 0; i < TALL; i++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float2 s, c;
                    sine_cosine(acc[i][j][2 * h] + shift.x, false, &s.x, &c.x);
                    sine_cosine(acc[i][j][2 * h + 1] + shift.y, false, &s.y, &c.y);
                    v[i][h] += s.x * output.x + s.y * output.y;
                    *(float2 *)(to + place_in(row, column) + (16 * i + 8 * h) * TILE) = make_float2(pack(s.x, c.x),
                                                                                                    pack(s.y, c.y));
                }
        }
        if (!last)
            return;
#pragma unroll
        for (int i = 0; i < TALL; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float here = v[i][h];
                here += __shfl_xor_sync(0xffffffffu, here, 1);
                here += __shfl_xor_sync(0xffffffffu, here, 2);
                if (lane % 4 == 0)
                    v_part()[warp % 4 * ROWS + row + 16 * i + 8 * h] = here;
            }
    }
    __device__ __forceinline__ void values_top()
    {
        pass([&](int unit, int lane) {
            const float output = unit < q.units ? __ldg(q.output + unit) : 0.0f;
#pragma unroll 2
            for (int row8 = 0; row8 < ROWS; row8 += 8) /* places repeat every eight rows */
#pragma unroll
                for (int k = 0; k < 8; k += FUSED_LANES) {
                    float *at = cur() + place_in(k + lane, unit) + row8 * TILE;
                    const float word = *at, pull = g()[row8 + k + lane],
                                bar = to_tf32(pull * output * packed_cosine(word), false);
                    top += pull * packed_sine(word);
                    bias[SINES - 1] += bar;
                    *at = bar;
                }
        });
    }
    /* From layer l + 1 to layer l; the first layer's adjoints leave. */
    __device__ __forceinline__ void values_down(int l, float acc[TALL][4][4])
    {
        const int thread = thread_again(), lane = thread % 32, warp = thread / 32,
                  row = warp / 4 * (16 * TALL) + lane / 4;
        const float *words = post(l);
        if (l > 0)
            __syncthreads(); /* nobody reads the adjoints above any more */
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int column = warp % 4 * 32 + 8 * j + 2 * (lane % 4), at = place_in(row, column);
#pragma unroll
            for (int i = 0; i < TALL; i++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const float2 word = *(const float2 *)(words + at + (16 * i + 8 * h) * TILE);
                    const float2 bar = make_float2(to_tf32(packed_cosine(word.x) * acc[i][j][2 * h], false),
                                                   to_tf32(packed_cosine(word.y) * acc[i][j][2 * h + 1], false));
                    if (l > 0)
                        *(float2 *)(cur() + at + (16 * i + 8 * h) * TILE) = bar;
                    else if (row + 16 * i + 8 * h < rows && column < q.units)
                        *(float2 *)(q.bar + first * (size_t)q.units
                                    + ((row + 16 * i + 8 * h) * q.units + column)) = bar;
                }
        }
        if (l == 0)
            return;
        __syncthreads();
        pass([&](int unit, int from) {
#pragma unroll 4
            for (int row8 = 0; row8 < ROWS; row8 += 8)
#pragma unroll
                for (int k = 0; k < 8; k += FUSED_LANES)
                    bias[l] += cur()[place_in(k + from, unit) + row8 * TILE];
        });
    }

    /* ---- jets: the rows of a point meet in the tile in work */

    __device__ __forceinline__ void jets_up(int l, float acc[TALL][4][4])
    {
        const bool last = l == SINES - 1;
        float *to = last ? cur() : post(l);
        stage(acc, cur());
        __syncthreads();
        pass([&](int unit, int lane) {
            const int R = this->R();
            const float shift = unit < q.units ? __ldg(q.bias[l] + unit) : 0.0f;
            float *keep = pre(l) + unit;
#pragma unroll 1
            for (int row = lane * R; row < rows; row += FUSED_LANES * R) {
                const float a = cur()[place_in(row, unit)] + shift;
                float s, c, norm2 = 0.0f;
                sine_cosine(a, false, &s, &c);
                keep[row * TILE] = a;
                to[place_in(row, unit)] = last ? s : to_tf32(s, false);
#pragma unroll(JET > 0 ? JET : 4)
                for (int r = 1; r < R; r++) {
                    const int at = place_in(row + r, unit);
                    const float slope = cur()[at], here = r == R - 1 ? c * slope - s * norm2 : c * slope;
                    norm2 += slope * slope;
                    keep[(row + r) * TILE] = slope;
                    to[at] = last ? here : to_tf32(here, false);
                }
            }
            for (int row = rows + lane; row < ROWS; row += FUSED_LANES) /* a product multiplies them by zero */
                to[place_in(row, unit)] = 0.0f;
        });
        if (!last)
            return;
        __syncthreads();
        const int thread = thread_again(), lane = thread % 32;
        float weight[TILE / 32];
#pragma unroll
        for (int j = 0; j < TILE / 32; j++)
            weight[j] = lane + 32 * j < q.units ? __ldg(q.output + lane + 32 * j) : 0.0f;
#pragma unroll 2
        for (int row = thread / 32; row < rows; row += FUSED_THREADS / 32) {
            float v = 0.0f;
#pragma unroll
            for (int j = 0; j < TILE / 32; j++)
                v += weight[j] * cur()[place_in(row, lane + 32 * j)];
            for (int step = 16; step > 0; step /= 2)
                v += __shfl_xor_sync(0xffffffffu, v, step);
            if (lane == 0)
                v_part()[row] = v;
        }
    }
    /* bar_of(row): the adjoint of what leaves layer l's sines; put(row, value): of what goes in. */
    template <class H, class P>
    __device__ __forceinline__ void jets_adjoint(int l, int unit, int lane, const H &bar_of, const P &put)
    {
        enum { TOGETHER = 2 }; /* points whose jets are on their way at once */
        const int R = this->R();
        const float *keep = pre(l) + unit;
#pragma unroll 1
        for (int row = lane * R; row < rows; row += TOGETHER * FUSED_LANES * R) {
            float a[TOGETHER][SHORT_JET];
#pragma unroll
            for (int p = 0; p < TOGETHER; p++)
#pragma unroll
                for (int r = 0; r < SHORT_JET; r++) {
                    const int at = row + p * FUSED_LANES * R;
                    a[p][r] = r < R && at < rows ? keep[(at + r) * TILE] : 0.0f;
                }
#pragma unroll
            for (int p = 0; p < TOGETHER; p++) {
                const int at = row + p * FUSED_LANES * R;
                float s, c;
                if (at >= rows)
                    break;
                sine_cosine(a[p][0], false, &s, &c);
                sine_adjoint(
                    R, s, c, [&](int r) { return bar_of(at + r); }, a[p], [&](int r) { return keep[(at + r) * TILE]; },
                    [&](int r, float value) {
                        const float bar = to_tf32(value, false);
                        bias[l] += r == 0 ? bar : 0.0f;
                        put(at + r, bar);
                    });
            }
        }
    }
    __device__ __forceinline__ void jets_top()
    {
        pass([&](int unit, int lane) {
            const float output = unit < q.units ? __ldg(q.output + unit) : 0.0f;
#pragma unroll 1
            for (int row = lane * R(); row < rows; row += FUSED_LANES * R())
#pragma unroll(JET > 0 ? JET : 4)
                for (int r = 0; r < R(); r++)
                    top += g()[row + r] * cur()[place_in(row + r, unit)];
            jets_adjoint(
                SINES - 1, unit, lane, [&](int row) { return g()[row] * output; },
                [&](int row, float bar) { cur()[place_in(row, unit)] = bar; });
        });
    }
    __device__ __forceinline__ void jets_down(int l, float acc[TALL][4][4])
    {
        __syncthreads(); /* nobody reads the adjoints above any more */
        stage(acc, cur());
        __syncthreads();
        pass([&](int unit, int lane) {
            const auto bar_of = [&](int row) { return cur()[place_in(row, unit)]; };
            if (l > 0)
                jets_adjoint(l, unit, lane, bar_of, [&](int row, float bar) { cur()[place_in(row, unit)] = bar; });
            else if (unit < q.units)
                jets_adjoint(l, unit, lane, bar_of, [&](int row, float bar) {
                    q.bar[first * (size_t)q.units + (size_t)(row * q.units + unit)] = bar;
                });
        });
        if (l > 0)
            __syncthreads();
    }

    /* ---- what the block leaves */

    __device__ __forceinline__ void leave(float *to, float value) /* of the halves */
    {
        __syncthreads();
        room[threadIdx.x] = value;
        __syncthreads();
        const int unit = (int)threadIdx.x;
        if (unit < q.units) {
            for (int lane = 1; lane < FUSED_LANES; lane++)
                value += room[lane * TILE + unit];
            to[unit] = q.add ? to[unit] + value : value;
        }
    }
    __device__ __forceinline__ void leave_sums()
    {
        double *both = (double *)room;
        __syncthreads();
        both[threadIdx.x] = sum;
        both[FUSED_THREADS + threadIdx.x] = constant;
        for (int step = FUSED_THREADS / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int which = 0; which < 2 && (int)threadIdx.x < step; which++)
                both[which * FUSED_THREADS + threadIdx.x] += both[which * FUSED_THREADS + threadIdx.x + step];
        }
        __syncthreads();
        if (threadIdx.x < 2) {
            double *to = q.sums + 2 * blockIdx.x + threadIdx.x;
            const double here = both[threadIdx.x * FUSED_THREADS];
            *to = q.add ? *to + here : here;
        }
    }
};

template <int SINES, int JET>
__global__ void __launch_bounds__(FUSED_THREADS, 1) fused_rows(const __grid_constant__ fused_arguments q)
{
    extern __shared__ __align__(16) float room[];
    fused_tile<SINES, JET> at = { q, room, 0, 0, {}, 0.0f, 0.0, 0.0 };
    const size_t tile_rows = (size_t)(ROWS / at.R() * at.R());
    float part[SINES - 1][TALL][4][4] = {};

    for (size_t first = blockIdx.x * tile_rows; first < q.rows; first += gridDim.x * tile_rows) {
        at.first = first;
        at.rows = (int)(q.rows - first < tile_rows ? q.rows - first : tile_rows);
        int chunk = 0;
        __syncthreads(); /* nobody works on the last tile any more */
        at.bring_weights(q.forward[1], 0);
#pragma unroll
        for (int l = 0; l < SINES; l++) {
            float acc[TALL][4][4] = {};
            if (l == 0)
                at.multiply_first(acc);
            else
                at.multiply(acc, at.post(l - 1), q.forward[l], l + 1 < SINES ? q.forward[l + 1] : q.backward[l],
                            &chunk);
            if (JET != 1)
                at.jets_up(l, acc);
            else
                at.values_up(l, acc);
        }
        at.seed();
        if (JET != 1)
            at.jets_top();
        else
            at.values_top();
        __syncthreads();
#pragma unroll
        for (int l = SINES - 1; l > 0; l--) {
            float acc[TALL][4][4] = {};
            multiply_transposed(part[l - 1], at.cur(), at.post(l - 1));
            at.multiply(acc, at.cur(), q.backward[l], l > 1 ? q.backward[l - 1] : NULL, &chunk);
            if (JET != 1)
                at.jets_down(l - 1, acc);
            else
                at.values_down(l - 1, acc);
        }
    }
    copy_wait<0>();
#pragma unroll
    for (int l = 1; l < SINES; l++) {
        float *to = q.part[l] + (size_t)blockIdx.x * (size_t)q.units * (size_t)(q.units + 1);
        write_gradient<TALL>(part[l - 1], to, q.units, q.units, 0, 0, q.add);
        at.leave(to + (size_t)q.units * (size_t)q.units, at.bias[l]);
    }
    at.leave(q.top + (size_t)blockIdx.x * (size_t)q.units, at.top);
    at.leave_sums();
}

} // namespace

#endif
