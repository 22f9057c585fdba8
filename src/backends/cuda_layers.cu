/* cuda_layers.cu - rows through the sine layers and back, on the device.
 *
 * Three matrix products carry all the work, on tensor cores in TF32 with float32 sums (or, exact, as three such
 * products of the high and low halves, which leaves float32's own error):
 *     forward     A_l = H_(l-1) W_l' + b_l,   then H_l = sin of the jet           (product_rows, FORWARD)
 *     backward    Hbar_(l-1) = Abar_l W_l,    then the adjoint of the sine        (product_rows, BACKWARD)
 *     gradient    dW_l = Abar_l' H_(l-1),     split over the rows                 (product_gradient)
 * What lies between two products happens on the tile in shared memory before it is written: one read and one write of
 * every activation a layer. Everything is summed in an order that the shapes fix: equal bytes on one kind of card. */
#include "cuda_device.h"

#include <cuda_runtime.h>
#include <stdlib.h>

namespace
{

/* Two blocks a multiprocessor, 128 rows each; halves of that, four at a time, were 8 % slower. */
enum { ROWS = 128, ROW_STAGES = 3, ROW_THREADS = 2 * ROWS, ROW_BLOCKS = 2 };
enum { TILE = 128, DEEP = 32, STAGES = 3, THREADS = 256, PAD = DEEP + 4, SLAB = TILE + 8 };
enum { STAGED = TILE + 4 }; /* leading dimension of a tile between product and sine */
enum { SEED_BLOCKS = 264, TOP_BLOCKS = 1056, TOP_POINTS = 8, SEED_THREADS = 128 };
enum { GRADIENT_BLOCKS = 264 }; /* blocks a gradient is split into: two for every multiprocessor of an H200 */

__device__ __forceinline__ float to_tf32(float x, bool exact)
{
    if (exact)
        return x;
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return __uint_as_float(y);
}

/* sin and cos to 4e-7: the argument is brought to [-pi, pi] first, where the hardware's are that good. Exact: to 1e-7. */
__device__ __forceinline__ void sine_cosine(float a, bool exact, float *s, float *c)
{
    if (exact) {
        sincosf(a, s, c);
        return;
    }
    const float k = rintf(a * 0.15915494309f);
    float r = fmaf(k, -6.28318548203f, a); /* 2 pi = 6.28318548203 - 1.74845553e-7 */
    r = fmaf(k, 1.74845553e-7f, r);
    *s = __sinf(r);
    *c = __cosf(r);
}

/* A sine and its cosine in one word: the sine with TF32's 10 bits of mantissa, which are all that a product reads, and in
 * the 13 bits below them the cosine as a sign and 12 bits, to 1.2e-4. Half the bytes of a layer of values. */
__device__ __forceinline__ float pack(float s, float c)
{
    const unsigned size = (unsigned)(fabsf(c) * 4095.0f + 0.5f);
    return __uint_as_float((__float_as_uint(to_tf32(s, false)) & 0xffffe000u) | (c < 0.0f ? 4096u : 0u)
                           | min(size, 4095u));
}
__device__ __forceinline__ float packed_sine(float w)
{
    return __uint_as_float(__float_as_uint(w) & 0xffffe000u);
}
__device__ __forceinline__ float packed_cosine(float w)
{
    const unsigned bits = __float_as_uint(w) & 0x1fffu;
    const float size = (float)(bits & 4095u) * (1.0f / 4095.0f);
    return bits & 4096u ? -size : size;
}

__device__ __forceinline__ void copy16(float *to, const float *from, bool there)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(there ? 16 : 0));
}
__device__ __forceinline__ void copy_commit()
{
    asm volatile("cp.async.commit_group;");
}
template <int N> __device__ __forceinline__ void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N));
}

__device__ __forceinline__ void load_matrices(unsigned r[4], const float *at)
{
    const unsigned a = (unsigned)__cvta_generic_to_shared(at);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(a));
}

__device__ __forceinline__ void multiply_add(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* x = high + low up to 2^-24, both with 10 bits of mantissa. */
__device__ __forceinline__ void halves(unsigned x, unsigned *high, unsigned *low)
{
    const float h = to_tf32(__uint_as_float(x), false);
    *high = __float_as_uint(h);
    *low = __float_as_uint(to_tf32(__uint_as_float(x) - h, false));
}

/* A warp's 64 x 32 part of the tile, 8 deep: sum (4 x 4 blocks of 16 x 8) += a (4) b (4). */
template <bool EXACT>
__device__ __forceinline__ void multiply_tile(float sum[4][4][4], const unsigned a[4][4],
                                              const unsigned b[4][2])
{
    if constexpr (!EXACT) {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply_add(sum[i][j], a[i], b[j][0], b[j][1]);
    } else {
        unsigned b_high[4][2], b_low[4][2];
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                halves(b[j][h], &b_high[j][h], &b_low[j][h]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned high[4], low[4];
#pragma unroll
            for (int h = 0; h < 4; h++)
                halves(a[i][h], &high[h], &low[h]);
#pragma unroll
            for (
                int j = 0; j < 4;
                j++) { /* the small ones first; sums of the tensor cores are cut off, not rounded: short ones */
                float part[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
                multiply_add(part, low, b_high[j][0], b_high[j][1]);
                multiply_add(part, high, b_low[j][0], b_low[j][1]);
                multiply_add(part, high, b_high[j][0], b_high[j][1]);
#pragma unroll
                for (int h = 0; h < 4; h++)
                    sum[i][j][h] += part[h];
            }
        }
    }
}

/* ---- rows times weights --------------------------------------------------------------------------------- */

enum product_kind { FORWARD, BACKWARD };

struct rows_arguments {
    const float *below;    /* (rows, ld_below): what is multiplied */
    const int32_t *gather; /* row of below behind a row; NULL: itself. Only where R = 1 */
    int ld_below;          /* a multiple of DEEP, all of it is multiplied */
    const float *weights;  /* (units, ld_below) */
    int units;             /* a multiple of 32; leading dimension of all that follows */
    const float *bias;     /* (units): FORWARD */
    /* (rows, units) each, NULL: not wanted. FORWARD: what goes into the sines, and the sines. BACKWARD: reads the first,
     * and writes adjoints of it to the second. Values with TF32 are packed words in both. */
    float *pre, *post;
    const float *output; /* (units): FORWARD, at the top: v_part[column of tiles][row] = post . output */
    float *v_part;
    size_t rows;
    int R;
};

/* The jet of sine on the staged tile, in place. */
__device__ void sine_forward(const rows_arguments &q, float *tile, size_t first, int rows, int column0,
                             bool exact)
{
    const int mine = (int)threadIdx.x % TILE, half = (int)threadIdx.x / TILE, column = column0 + mine,
              R = q.R;
    const bool inside = column < q.units;
    const float bias = inside ? q.bias[column] : 0.0f;
    for (int p = half * R; p < rows; p += ROW_THREADS / TILE * R) {
        float *at = tile + p * STAGED + mine;
        const size_t to = (first + (size_t)p) * (size_t)q.units + (size_t)column;
        const float a = at[0] + bias;
        float s, c, norm2 = 0.0f;
        sine_cosine(a, exact, &s, &c);
        if (inside && q.pre != NULL)
            q.pre[to] = a;
        at[0] = s;
        if (inside && q.post != NULL)
            q.post[to] = to_tf32(s, exact);
        for (int r = 1; r < R; r++) {
            const float slope = at[r * STAGED], lap = r == R - 1 ? c * slope - s * norm2 : c * slope;
            const size_t there = to + (size_t)r * (size_t)q.units;
            norm2 += slope * slope;
            if (inside && q.pre != NULL)
                q.pre[there] = slope;
            at[r * STAGED] = lap;
            if (inside && q.post != NULL)
                q.post[there] = to_tf32(lap, exact);
        }
    }
}

/* The R rows of one point and unit: h holds the adjoint of sine's jet, a the jet that went in, next is told the adjoint
 * of a row by row.
 *     abar   = hbar cos a - sin a sum_t hbar_t a_t - lbar (sin a lap a + cos a sum_t a_t^2)
 *     abar_t = hbar_t cos a - 2 lbar sin a a_t,      lap abar = lbar cos a */
enum { SHORT_JET = 8 }; /* rows of a jet that are read together */

/* a: the first SHORT_JET rows, so that they stay in registers; more(r) reads the others. */
template <class H, class A, class N>
__device__ __forceinline__ void sine_adjoint(int R, float s, float c, const H &h, const float a[SHORT_JET],
                                             const A &more, const N &next)
{
    const float lbar = h(R - 1);
    float along = 0.0f, norm2 = 0.0f, lap = R <= SHORT_JET ? 0.0f : more(R - 1);
    const auto row = [&](int r, float slope) {
        const float hbar = h(r);
        along += hbar * slope;
        norm2 += slope * slope;
        next(r, hbar * c - 2.0f * lbar * s * slope);
    };
#pragma unroll
    for (int r = 1; r < SHORT_JET; r++)
        if (r < R - 1)
            row(r, a[r]);
        else if (r == R - 1)
            lap = a[r];
    for (int r = SHORT_JET; r < R - 1; r++)
        row(r, more(r));
    next(0, h(0) * c - s * along - lbar * (s * lap + c * norm2));
    next(R - 1, lbar * c);
}

/* a[r] = the r-th of R rows, all on their way at once; longer jets are read where they lie. */
__device__ __forceinline__ void read_jet(const float *from, size_t ld, int R, float a[SHORT_JET])
{
#pragma unroll
    for (int r = 0; r < SHORT_JET; r++)
        a[r] = r < R ? __ldg(from + (size_t)r * ld) : 0.0f;
}

__device__ void sine_backward(const rows_arguments &q, const float *tile, size_t first, int rows, int column0,
                              bool exact)
{
    const int mine = (int)threadIdx.x % TILE, half = (int)threadIdx.x / TILE, column = column0 + mine,
              R = q.R;
    const size_t ld = (size_t)q.units;
    if (column >= q.units)
        return;
    for (int p = half * R; p < rows; p += ROW_THREADS / TILE * R) {
        const float *h = tile + p * STAGED + mine;
        const size_t at = (first + (size_t)p) * ld + (size_t)column;
        float a[SHORT_JET], s, c;
        read_jet(q.pre + at, ld, R, a);
        sine_cosine(a[0], exact, &s, &c);
        const auto bar = [&](int r) { return h[r * STAGED]; };
        const auto next = [&](int r, float value) { q.post[at + (size_t)r * ld] = to_tf32(value, exact); };
        sine_adjoint(
            R, s, c, bar, a, [&](int r) { return __ldg(q.pre + at + (size_t)r * ld); }, next);
    }
}

/* Values: what a thread holds of the product goes through the sine and out, without a stop in shared memory. */
template <bool EXACT>
__device__ __forceinline__ void values_forward(const rows_arguments &q, float sum[4][4][4], float *room,
                                               size_t first, int rows, int row0, int unit)
{
    const int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
    float v[4][2] = {};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int column = unit + 8 * j + 2 * t;
        if (column >= q.units)
            continue;
        const float2 bias = *(const float2 *)(q.bias + column);
        const float2 output = q.v_part != NULL ? *(const float2 *)(q.output + column)
                                               : make_float2(0.0f, 0.0f);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int row = row0 + 16 * i + g + 8 * h;
                const size_t to = (first + (size_t)row) * (size_t)q.units + (size_t)column;
                const float2 a = make_float2(sum[i][j][2 * h] + bias.x, sum[i][j][2 * h + 1] + bias.y);
                float2 s, c;
                sine_cosine(a.x, EXACT, &s.x, &c.x);
                sine_cosine(a.y, EXACT, &s.y, &c.y);
                v[i][h] += s.x * output.x + s.y * output.y;
                if (row >= rows)
                    continue;
                const float2 word = EXACT ? s : make_float2(pack(s.x, c.x), pack(s.y, c.y));
                if (q.pre != NULL)
                    *(float2 *)(q.pre + to) = EXACT ? a : word;
                if (q.post != NULL)
                    *(float2 *)(q.post + to) = word;
            }
    }
    if (q.v_part == NULL)
        return;
    __syncthreads(); /* the room is free */
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float here = v[i][h];
            here += __shfl_xor_sync(0xffffffffu, here, 1);
            here += __shfl_xor_sync(0xffffffffu, here, 2);
            if (t == 0)
                room[(int)threadIdx.x / 32 % 4 * ROWS + row0 + 16 * i + g + 8 * h] = here;
        }
    __syncthreads();
    if ((int)threadIdx.x < rows) {
        const float *at = room + threadIdx.x;
        q.v_part[(size_t)blockIdx.y * q.rows + first + threadIdx.x] = (at[0] + at[ROWS])
                                                                      + (at[2 * ROWS] + at[3 * ROWS]);
    }
}

template <bool EXACT>
__device__ __forceinline__ void values_backward(const rows_arguments &q, float sum[4][4][4], size_t first,
                                                int rows, int row0, int unit)
{
    const int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 word[2][4];
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int row = row0 + 16 * i + g + 8 * h, column = unit + 8 * j + 2 * t;
                const bool there = row < rows && column < q.units;
                word[h][j] = there ? __ldg((const float2 *)(q.pre + (first + (size_t)row) * (size_t)q.units
                                                            + (size_t)column))
                                   : make_float2(0.0f, 0.0f);
            }
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int row = row0 + 16 * i + g + 8 * h, column = unit + 8 * j + 2 * t;
                float2 s, c = make_float2(packed_cosine(word[h][j].x), packed_cosine(word[h][j].y));
                if (EXACT) {
                    sine_cosine(word[h][j].x, true, &s.x, &c.x);
                    sine_cosine(word[h][j].y, true, &s.y, &c.y);
                }
                if (row < rows && column < q.units)
                    *(float2 *)(q.post + (first + (size_t)row) * (size_t)q.units
                                + (size_t)column) = make_float2(to_tf32(c.x * sum[i][j][2 * h], EXACT),
                                                                to_tf32(c.y * sum[i][j][2 * h + 1], EXACT));
            }
    }
}

/* v_part: each row of the tile times the output weights of its columns; a warp a row. */
__device__ void output_rows(const rows_arguments &q, const float *tile, size_t first, int rows, int column0)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    float weight[TILE / 32];
    for (int j = 0; j < TILE / 32; j++)
        weight[j] = column0 + lane + 32 * j < q.units ? q.output[column0 + lane + 32 * j] : 0.0f;
    for (int row = warp; row < rows; row += ROW_THREADS / 32) {
        float sum = 0.0f;
        for (int j = 0; j < TILE / 32; j++)
            sum += weight[j] * tile[row * STAGED + lane + 32 * j];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (lane == 0)
            q.v_part[(size_t)blockIdx.y * q.rows + first + (size_t)row] = sum;
    }
}

template <product_kind KIND, bool EXACT, bool JETS>
__global__ void __launch_bounds__(ROW_THREADS, ROW_BLOCKS) product_rows(const rows_arguments q)
{
    extern __shared__ __align__(16) float room[];
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int tile_rows = JETS ? ROWS / q.R * q.R : ROWS, column0 = (int)blockIdx.y * TILE;
    const size_t first = (size_t)blockIdx.x * (size_t)tile_rows;
    const int rows = q.rows - first < (size_t)tile_rows ? (int)(q.rows - first) : tile_rows;
    const int chunks = q.ld_below / DEEP;
    float sum[4][4][4] = {};

    /* a thread brings 16 bytes of rows thread/8, thread/8 + STEP, ... */
    const int my_row = (int)threadIdx.x / 8, my_part = (int)threadIdx.x % 8 * 4;
    enum { STEP = ROW_THREADS / 8, A_COPIES = ROWS / STEP, B_COPIES = TILE / STEP };
    const float *from_a[A_COPIES],
        *from_b = q.weights + (size_t)(column0 + my_row) * (size_t)q.ld_below + my_part;
    unsigned there = 0;
#pragma unroll
    for (int i = 0; i < A_COPIES; i++) {
        const int row = my_row + STEP * i;
        const bool a_there = row < rows;
        size_t at = a_there ? first + (size_t)row : 0;
        if (q.gather != NULL)
            at = (size_t)q.gather[at];
        from_a[i] = q.below + at * (size_t)q.ld_below + my_part;
        there |= (a_there ? 1u : 0u) << i;
    }
#pragma unroll
    for (int i = 0; i < B_COPIES; i++)
        there |= (column0 + my_row + STEP * i < q.units ? 1u : 0u) << (A_COPIES + i);
    auto bring = [&](int chunk) {
        if (chunk < chunks) {
            float *a = room + chunk % ROW_STAGES * ((ROWS + TILE) * PAD) + my_row * PAD + my_part,
                  *b = a + ROWS * PAD;
#pragma unroll
            for (int i = 0; i < A_COPIES; i++)
                copy16(a + STEP * i * PAD, from_a[i] + chunk * DEEP, there >> i & 1u);
#pragma unroll
            for (int i = 0; i < B_COPIES; i++) {
                const bool b_there = there >> (A_COPIES + i) & 1u;
                copy16(b + STEP * i * PAD,
                       b_there ? from_b + STEP * i * q.ld_below + chunk * DEEP : q.weights, b_there);
            }
        }
        copy_commit(); /* an empty group keeps the count */
    };
    for (int stage = 0; stage < ROW_STAGES - 1; stage++)
        bring(stage);
    const int row0 = warp / 4 * 64, unit0 = warp % 4 * 32;
    for (int chunk = 0; chunk < chunks; chunk++) {
        copy_wait<ROW_STAGES - 2>();
        __syncthreads();
        bring(chunk + ROW_STAGES - 1);
        const float *a_tile = room + chunk % ROW_STAGES * ((ROWS + TILE) * PAD),
                    *b_tile = a_tile + ROWS * PAD;
#pragma unroll
        for (int k = 0; k < DEEP; k += 8) {
            unsigned a[4][4], b[4][2];
#pragma unroll
            for (int i = 0; i < 4; i++)
                load_matrices(a[i], a_tile + (row0 + 16 * i + lane % 16) * PAD + k + lane / 16 * 4);
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                unsigned pair[4];
                load_matrices(pair, b_tile + (unit0 + 8 * j + lane % 8 + lane / 16 * 8) * PAD + k
                                        + lane / 8 % 2 * 4);
                b[j][0] = pair[0], b[j][1] = pair[1], b[j + 1][0] = pair[2], b[j + 1][1] = pair[3];
            }
            multiply_tile<EXACT>(sum, a, b);
        }
    }
    copy_wait<0>();
    if constexpr (!JETS) {
        if (KIND == FORWARD)
            values_forward<EXACT>(q, sum, room, first, rows, row0, column0 + unit0);
        else
            values_backward<EXACT>(q, sum, first, rows, row0, column0 + unit0);
        return;
    }
    __syncthreads();
    const int g = lane / 4, t = lane % 4;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float *at = room + (row0 + 16 * i + g) * STAGED + unit0 + 8 * j + 2 * t;
            *(float2 *)at = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)(at + 8 * STAGED) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
    __syncthreads();
    if (KIND == FORWARD) {
        sine_forward(q, room, first, rows, column0, EXACT);
        if (q.v_part != NULL) {
            __syncthreads();
            output_rows(q, room, first, rows, column0);
        }
    } else {
        sine_backward(q, room, first, rows, column0, EXACT);
    }
}

/* ---- weights from rows ---------------------------------------------------------------------------------- */

struct gradient_arguments {
    const float *bar;      /* (rows, units) */
    const float *below;    /* (rows, inputs) */
    const int32_t *gather; /* of below */
    int units, inputs;
    int rows, R, splits; /* a workspace holds fewer than 2^31 numbers */
    int rows_a_split;    /* a multiple of DEEP */
    float *part;         /* (splits, units (inputs + 1)): the matrix, then the biases */
    int add;
};

template <bool EXACT>
__global__ void __launch_bounds__(THREADS, 2) product_gradient(const gradient_arguments q)
{
    extern __shared__ __align__(16) float room[];
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int unit0 = (int)blockIdx.y * TILE, input0 = (int)blockIdx.x * TILE;
    const int begin = (int)blockIdx.z * q.rows_a_split, end = min(begin + q.rows_a_split, q.rows);
    const int chunks = begin < end ? (end - begin + DEEP - 1) / DEEP : 0;
    float sum[4][4][4] = {}, bias = 0.0f;

    /* a thread brings 16 bytes of rows thread/32, + 8, ... of both */
    const int my_row = (int)threadIdx.x / 32, my_part = (int)threadIdx.x % 32 * 4;
    const bool bar_there = unit0 + my_part < q.units, below_there = input0 + my_part < q.inputs;
    const float *bar = q.bar + (bar_there ? unit0 + my_part : 0)
                       + (unsigned)(begin + my_row) * (unsigned)q.units;
    const float *below = q.below + (below_there ? input0 + my_part : 0);
    int row = begin + my_row; /* of the chunk to come */
    float *to = room + my_row * SLAB + my_part, *const to_end = to + STAGES * 2 * DEEP * SLAB;
    auto bring = [&]() {
        if (row - my_row < end) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const bool there = row + 8 * i < end;
                copy16(to + 8 * i * SLAB, there ? bar + 8 * i * q.units : q.bar, there && bar_there);
                const int at = there ? row + 8 * i : begin;
                copy16(to + (DEEP + 8 * i) * SLAB,
                       below + (size_t)(q.gather == NULL ? at : __ldg(q.gather + at)) * (size_t)q.inputs,
                       there && below_there);
            }
            bar += DEEP * q.units;
            row += DEEP;
            to += 2 * DEEP * SLAB;
            if (to == to_end)
                to -= STAGES * 2 * DEEP * SLAB;
        }
        copy_commit();
    };
    for (int stage = 0; stage < STAGES - 1; stage++)
        bring();
    /* Blocks of 16 x 8 take every fourth unit and input, so that a thread's four blocks lie side by side: the order of
     * units and inputs within a product is free. */
    const int row0 = warp / 4 * 64, column0 = warp % 4 * 32;
    for (int chunk = 0; chunk < chunks; chunk++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        bring();
        const float *a_tile = room + (chunk % STAGES) * (2 * DEEP * SLAB), *b_tile = a_tile + DEEP * SLAB;
        if (blockIdx.x
            == 0) { /* the bias moves with value rows alone; the two halves of threads take turns */
            const int unit = (int)threadIdx.x % TILE, half = (int)threadIdx.x / TILE;
            if (q.R == 1) {
#pragma unroll 4
                for (int k = 0; k < DEEP; k += 2)
                    bias += a_tile[(k + half) * SLAB + unit];
            } else {
                const int skip = (begin + chunk * DEEP) % q.R;
                for (int k = (skip == 0 ? 0 : q.R - skip) + half * q.R; k < DEEP; k += 2 * q.R)
                    bias += a_tile[k * SLAB + unit];
            }
        }
#pragma unroll 1 /* more would not fit the registers */
        for (int k = 0; k < DEEP; k += 8) {
            unsigned a[4][4], b[4][2];
#pragma unroll
            for (int h = 0; h < 4; h++) {
                const float4 four = *(const float4 *)(a_tile + (k + t + h / 2 * 4) * SLAB + row0 + h % 2 * 32
                                                      + 4 * g);
                a[0][h] = __float_as_uint(four.x), a[1][h] = __float_as_uint(four.y);
                a[2][h] = __float_as_uint(four.z), a[3][h] = __float_as_uint(four.w);
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float4 four = *(const float4 *)(b_tile + (k + t + 4 * h) * SLAB + column0 + 4 * g);
                b[0][h] = __float_as_uint(four.x), b[1][h] = __float_as_uint(four.y);
                b[2][h] = __float_as_uint(four.z), b[3][h] = __float_as_uint(four.w);
            }
            multiply_tile<EXACT>(sum, a, b);
        }
    }
    float *part = q.part + (size_t)blockIdx.z * (size_t)q.units * (size_t)(q.inputs + 1);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int h = 0; h < 4;
             h++) { /* h % 2: of the two neighbours in a block's row, h / 2: of its upper and lower half */
            const int unit = unit0 + row0 + h / 2 * 32 + 4 * g + i,
                      input = input0 + column0 + 4 * (2 * t + h % 2);
            if (unit >= q.units || input >= q.inputs)
                continue;
            float4 *at = (float4 *)(part + (size_t)unit * (size_t)q.inputs + (size_t)input);
            float4 value = make_float4(sum[i][0][h], sum[i][1][h], sum[i][2][h], sum[i][3][h]);
            if (q.add) {
                const float4 before = *at;
                value = make_float4(value.x + before.x, value.y + before.y, value.z + before.z,
                                    value.w + before.w);
            }
            *at = value;
        }
    if (blockIdx.x > 0)
        return;
    __syncthreads();
    room[threadIdx.x] = bias;
    __syncthreads();
    if (threadIdx.x < TILE && unit0 + (int)threadIdx.x < q.units) {
        float *at = part + (size_t)q.units * (size_t)q.inputs + (size_t)(unit0 + (int)threadIdx.x);
        bias += room[TILE + threadIdx.x];
        *at = q.add ? *at + bias : bias;
    }
}

/* ---- the output and the terms --------------------------------------------------------------------------- */

/* v (rows) = linear part: a warp a row. */
__global__ void linear_rows(const float *eta, const int32_t *gather, int ld, const float *linear, size_t rows,
                            float *v)
{
    const int lane = (int)threadIdx.x % 32;
    const size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    const float *at = eta + (gather == NULL ? row : (size_t)gather[row]) * (size_t)ld;
    float sum = 0.0f;
    for (int k = lane; k < ld; k += 32)
        sum += at[k] * linear[k];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
        v[row] = sum;
}

struct seed_arguments {
    int kind, R, parts, has_linear;
    const float *v_part; /* (parts, rows) */
    const float *v_linear;
    const float *constant; /* output bias, on the device */
    const float *weight;   /* (points) */
    float factor;
    size_t points;
    float *g;     /* (rows): factor x derivative of the term by v's jet */
    double *sums; /* (blocks, 2): of the term, and of g over value rows */
    int add;
    double *out;   /* evaluation: (points, R); nothing else then */
    int integrate; /* sums of w exp v and of its square; nothing else then */
};

__device__ __forceinline__ float row_value(const seed_arguments &q, size_t row, bool value)
{
    const size_t rows = q.points * (size_t)q.R;
    float v = value ? *q.constant : 0.0f;
    for (int part = 0; part < q.parts; part++)
        v += q.v_part[(size_t)part * rows + row];
    return q.has_linear ? v + q.v_linear[row] : v;
}

__global__ void __launch_bounds__(SEED_THREADS) term_seed(const seed_arguments q)
{
    __shared__ double room[2][SEED_THREADS];
    double sum = 0.0, constant = 0.0;
    for (size_t i = (size_t)blockIdx.x * SEED_THREADS + threadIdx.x; i < q.points;
         i += (size_t)gridDim.x * SEED_THREADS) {
        const size_t row = i * (size_t)q.R;
        if (q.out != NULL) {
            for (int r = 0; r < q.R; r++)
                q.out[row + (size_t)r] = (double)row_value(q, row + (size_t)r, r == 0);
            continue;
        }
        if (q.integrate) {
            const double here = (double)q.weight[i] * exp((double)row_value(q, row, true));
            sum += here;
            constant += here * here;
            continue;
        }
        const float pull = q.weight[i] * q.factor;
        const double weight = (double)q.weight[i];
        if (q.kind == DEVICE_TERM_DATA || q.kind == DEVICE_TERM_INTEGRAL) {
            const float v = row_value(q, row, true), e = q.kind == DEVICE_TERM_DATA ? 1.0f : expf(v);
            sum += weight * (double)(q.kind == DEVICE_TERM_DATA ? v : e);
            q.g[row] = pull * e;
            constant += (double)(pull * e);
        } else {
            q.g[row] = 0.0f;
            for (int r = 1; r < q.R; r++) {
                const bool wanted = (q.kind == DEVICE_TERM_LAPLACIAN) == (r == q.R - 1);
                const float v = wanted ? row_value(q, row + (size_t)r, false) : 0.0f;
                sum += weight * (double)v * (double)v;
                q.g[row + (size_t)r] = 2.0f * pull * v;
            }
        }
    }
    if (q.out != NULL)
        return;
    room[0][threadIdx.x] = sum;
    room[1][threadIdx.x] = constant;
    for (int step = SEED_THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        for (int which = 0; which < 2 && (int)threadIdx.x < step; which++)
            room[which][threadIdx.x] += room[which][threadIdx.x + step];
    }
    __syncthreads();
    if (threadIdx.x < 2) {
        double *to = q.sums + 2 * blockIdx.x + threadIdx.x;
        const double here = room[threadIdx.x][0];
        *to = q.add ? *to + here : here;
    }
}

struct top_arguments {
    const float *pre, *g, *output; /* (rows, units), (rows), (units) */
    int units, R;
    size_t points;
    float *bar;  /* (rows, units) */
    float *part; /* (blocks, units): of the output weights */
    int add;
};

/* Through the output weights and the last sines: a thread a unit, points in groups. */
template <bool EXACT> __global__ void __launch_bounds__(TILE) top_backward(const top_arguments q)
{
    const int unit = (int)blockIdx.y * TILE + (int)threadIdx.x, R = q.R;
    if (unit >= q.units)
        return;
    const float output = q.output[unit];
    const size_t group = (q.points + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * group,
                 ld = (size_t)q.units;
    const size_t end = begin + group < q.points ? begin + group : q.points;
    float along = 0.0f;
    {
        if (R == 1) {
            for (size_t i = begin; i < end; i += SHORT_JET) {
                float word[SHORT_JET], g[SHORT_JET];
#pragma unroll
                for (int k = 0; k < SHORT_JET; k++) {
                    const bool there = i + (size_t)k < end;
                    word[k] = there ? __ldg(q.pre + (i + (size_t)k) * ld + (size_t)unit) : 0.0f;
                    g[k] = there ? __ldg(q.g + i + (size_t)k) : 0.0f;
                }
#pragma unroll
                for (int k = 0; k < SHORT_JET; k++) {
                    float s = packed_sine(word[k]), c = packed_cosine(word[k]);
                    if (EXACT)
                        sine_cosine(word[k], true, &s, &c);
                    along += g[k] * s;
                    if (i + (size_t)k < end)
                        q.bar[(i + (size_t)k) * ld + (size_t)unit] = to_tf32(g[k] * output * c, EXACT);
                }
            }
        }
        for (size_t i = begin; R > 1 && i < end; i++) {
            const size_t row = i * (size_t)R, at = row * ld + (size_t)unit;
            float a[SHORT_JET], s, c, norm2 = 0.0f;
            read_jet(q.pre + at, ld, R, a);
            sine_cosine(a[0], EXACT, &s, &c);
            const auto bar = [&](int r) { return output * __ldg(q.g + row + r); };
            const auto next = [&](int r, float value) { q.bar[at + (size_t)r * ld] = to_tf32(value, EXACT); };
            const auto more = [&](int r) { return __ldg(q.pre + at + (size_t)r * ld); };
            const auto jet = [&](int r,
                                 float slope) { /* of the sine: what the output's weights see */
                                                along += __ldg(q.g + row + r)
                                                         * (r < R - 1 ? c * slope : c * slope - s * norm2);
                                                norm2 += slope * slope;
            };
            along += __ldg(q.g + row) * s;
#pragma unroll
            for (int r = 1; r < SHORT_JET; r++)
                if (r < R)
                    jet(r, a[r]);
            for (int r = SHORT_JET; r < R; r++)
                jet(r, more(r));
            sine_adjoint(R, s, c, bar, a, more, next);
        }
    }
    float *to = q.part + (size_t)blockIdx.x * ld + (size_t)unit;
    *to = q.add ? *to + along : along;
}

/* part (blocks, ld) = sum over a block's rows of g eta. */
__global__ void linear_adjoint(const float *eta, const int32_t *gather, int ld, const float *g, size_t rows,
                               float *part, int add)
{
    const int k = (int)blockIdx.y * TILE + (int)threadIdx.x;
    if (k >= ld)
        return;
    const size_t group = (rows + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * group;
    const size_t end = begin + group < rows ? begin + group : rows;
    float sum = 0.0f;
#pragma unroll 8
    for (size_t i = begin; i < end; i++)
        sum += __ldg(g + i)
               * __ldg(eta + (gather == NULL ? i : (size_t)__ldg(gather + i)) * (size_t)ld + (size_t)k);
    float *to = part + (size_t)blockIdx.x * (size_t)ld + (size_t)k;
    *to = add ? *to + sum : sum;
}

/* ---- gradients, steps ----------------------------------------------------------------------------------- */

struct layout { /* where everything stands */
    int depth, sines, features, width, ldk, ldw, skip;
    double omega;
    size_t weight[DEVICE_MAX_DEPTH], bias[DEVICE_MAX_DEPTH]; /* in theta, layer 1 at 0 */
    size_t linear, parameters;
    size_t forward[DEVICE_MAX_DEPTH], backward[DEVICE_MAX_DEPTH],
        shift[DEVICE_MAX_DEPTH]; /* in the float copies */
    size_t output, linear_copy, constant, copies;
};

struct place { /* of a parameter */
    int layer; /* 0 .. sines - 1: of a sine layer; sines: output; sines + 1: constant; sines + 2: linear part */
    int unit, input; /* input -1: a bias */
};

__device__ place parameter_place(const layout &o, size_t i)
{
    if (i >= o.linear)
        return { o.sines + 2, 0, (int)(i - o.linear) };
    int l = o.depth - 1;
    while (i < o.weight[l])
        l--;
    const int inputs = l == 0 ? o.features : o.width;
    if (i >= o.bias[l])
        return l == o.depth - 1 ? place{ o.sines + 1, 0, 0 } : place{ l, (int)(i - o.bias[l]), -1 };
    const size_t at = i - o.weight[l];
    if (l < o.depth - 1)
        return { l, (int)(at / (size_t)inputs), (int)(at % (size_t)inputs) };
    return { o.depth == 1 ? o.sines + 2 : o.sines, 0, (int)at };
}

struct collect_arguments {
    const float *part[DEVICE_MAX_DEPTH];
    int splits[DEVICE_MAX_DEPTH];
    const float *top, *linear; /* (blocks, ldw), (blocks, ldk) */
    int top_blocks, linear_blocks, seed_blocks;
    const double *sums; /* (seed_blocks, 2) */
    double *sum, *gradient;
};

enum { COLLECT_PARAMETERS = 32, COLLECT_LANES = 16 };

/* The parts of parameter p: their number, the first, and how far they lie apart. */
template <class T> struct parts_of {
    const T *first;
    int count;
    size_t apart;
};

template <class T> __device__ double lane_sum(const parts_of<T> &p)
{
    double sum = 0.0;
#pragma unroll 4
    for (int s = (int)threadIdx.y; s < p.count; s += COLLECT_LANES)
        sum += (double)p.first[(size_t)s * p.apart];
    return sum;
}

/* gradient += what the blocks of a term left; the block after the last parameter adds the term's own sum. Lanes of
 * threads take every COLLECT_LANES-th part and are added in order. */
__global__ void __launch_bounds__(COLLECT_PARAMETERS *COLLECT_LANES)
    collect(const layout o, const collect_arguments q)
{
    __shared__ double room[COLLECT_LANES][COLLECT_PARAMETERS];
    const size_t i = (size_t)blockIdx.x * COLLECT_PARAMETERS + threadIdx.x;
    const bool last = blockIdx.x == gridDim.x - 1;
    const place p = i < o.parameters ? parameter_place(o, i) : place{ o.sines + 1, 0, 0 };
    double sum = 0.0;
    if (last) {
        sum = threadIdx.x == 0 ? lane_sum(parts_of<double>{ q.sums, q.seed_blocks, 2 }) : 0.0;
    } else if (i >= o.parameters) {
        sum = 0.0;
    } else if (p.layer < o.sines) {
        const int inputs = p.layer == 0 ? o.ldk : o.ldw;
        const size_t at = p.input < 0 ? (size_t)o.ldw * (size_t)inputs + (size_t)p.unit
                                      : (size_t)p.unit * (size_t)inputs + (size_t)p.input;
        sum = o.omega
              * lane_sum(parts_of<float>{ q.part[p.layer] + at, q.splits[p.layer],
                                          (size_t)o.ldw * (size_t)(inputs + 1) });
    } else if (p.layer == o.sines) {
        sum = lane_sum(parts_of<float>{ q.top + p.input, q.top_blocks, (size_t)o.ldw });
    } else if (p.layer == o.sines + 1) {
        sum = lane_sum(parts_of<double>{ q.sums + 1, q.seed_blocks, 2 });
    } else {
        sum = lane_sum(parts_of<float>{ q.linear + p.input, q.linear_blocks, (size_t)o.ldk });
    }
    room[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0)
        return;
    for (int lane = 1; lane < COLLECT_LANES; lane++)
        sum += room[lane][threadIdx.x];
    if (last && threadIdx.x == 0)
        *q.sum = sum;
    else if (!last && i < o.parameters)
        q.gradient[i] += sum;
}

enum { UPDATE_THREADS = 256 };

/* Adds the slots in order to the first; part (blocks): squares of the length. */
__global__ void __launch_bounds__(UPDATE_THREADS)
    gradient_length(size_t parameters, double *gradient, double *part)
{
    __shared__ double room[UPDATE_THREADS];
    const size_t i = (size_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    double g = 0.0;
    if (i < parameters) {
        for (int slot = 0; slot < DEVICE_SLOTS; slot++)
            g += gradient[(size_t)slot * parameters + i];
        gradient[i] = g;
        for (int slot = 1; slot < DEVICE_SLOTS; slot++)
            gradient[(size_t)slot * parameters + i] = 0.0;
    }
    room[threadIdx.x] = g * g;
    for (int step = UPDATE_THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < step)
            room[threadIdx.x] += room[threadIdx.x + step];
    }
    if (threadIdx.x == 0)
        part[blockIdx.x] = room[0];
}

__device__ void refresh(const layout &o, size_t i, double theta, float *copies, bool exact)
{
    const place p = parameter_place(o, i);
    if (p.layer < o.sines) {
        const float w = to_tf32((float)(o.omega * theta), exact);
        const int inputs = p.layer == 0 ? o.ldk : o.ldw;
        if (p.input < 0) {
            copies[o.shift[p.layer] + (size_t)p.unit] = (float)(o.omega * theta);
            return;
        }
        copies[o.forward[p.layer] + (size_t)p.unit * (size_t)inputs + (size_t)p.input] = w;
        if (p.layer > 0)
            copies[o.backward[p.layer] + (size_t)p.input * (size_t)o.ldw + (size_t)p.unit] = w;
    } else if (p.layer == o.sines) {
        copies[o.output + (size_t)p.input] = (float)theta;
    } else if (p.layer == o.sines + 1) {
        copies[o.constant] = (float)theta;
    } else {
        copies[o.linear_copy + (size_t)p.input] = (float)theta;
    }
}

/* The linear part of a network of one layer with a skip: the two are one. */
__device__ double linear_sum(const layout &o, size_t i, double theta, const double *all)
{
    if (o.depth > 1 || !o.skip)
        return theta;
    return i < o.linear ? (i < (size_t)o.features ? theta + all[o.linear + i] : theta)
                        : theta + all[i - o.linear];
}

struct update_arguments {
    double *theta, *gradient, *moment1, *moment2;
    float *copies;
    const double *part;
    int parts;
    const device_control *control;
    const int64_t *step, *first;
    const double *running;
    const size_t *share_end;
    const double *share;
    int shares, exact;
};

/* By all threads of the block, in a fixed order. */
__device__ double gradient_norm(const double *part, int parts)
{
    __shared__ double room[UPDATE_THREADS];
    double sum = 0.0;
    for (int b = (int)threadIdx.x; b < parts; b += UPDATE_THREADS)
        sum += part[b];
    room[threadIdx.x] = sum;
    for (int step = UPDATE_THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < step)
            room[threadIdx.x] += room[threadIdx.x + step];
    }
    __syncthreads();
    return sqrt(room[0]);
}

__device__ double most_norm(const device_control &now, double running)
{
    return now.max_norm < 0.0 ? now.clip * exp(running) : now.max_norm;
}

__global__ void __launch_bounds__(UPDATE_THREADS) update(const layout o, const update_arguments q)
{
    const size_t i = (size_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    const device_control now = q.control[*q.step - *q.first];
    const double length = gradient_norm(q.part, q.parts);
    if (i >= o.parameters)
        return;
    const double most = most_norm(now, *q.running), shorten = length > most ? most / length : 1.0;
    double rate = now.rate, theta = q.theta[i];
    for (int s = 0; s < q.shares; s++)
        if (i < q.share_end[s]) {
            rate *= q.share[s];
            break;
        }
    const double g = shorten * q.gradient[i];
    q.gradient[i] = 0.0;
    if (now.sgd) {
        theta -= rate * g;
    } else {
        const double m1 = now.beta1 * q.moment1[i] + (1.0 - now.beta1) * g;
        const double m2 = now.beta2 * q.moment2[i] + (1.0 - now.beta2) * g * g;
        q.moment1[i] = m1;
        q.moment2[i] = m2;
        theta -= rate * (m1 / now.correction1) / (sqrt(m2 / now.correction2) + now.epsilon);
    }
    q.theta[i] = theta;
    refresh(o, i, theta, q.copies, q.exact != 0); /* a linear_sum comes afterwards */
}

__global__ void refresh_all(const layout o, const double *theta, float *copies, int exact)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < o.parameters)
        refresh(o, i, linear_sum(o, i, theta[i], theta), copies, exact != 0);
}

/* The step is over: its log row, the running length, the counter. */
__global__ void __launch_bounds__(UPDATE_THREADS)
    finish(const double *part, int parts, const device_control *control, int64_t *step, const int64_t *first,
           double *running, const double *sum, device_log *row)
{
    const int64_t at = *step - *first;
    const double norm = gradient_norm(part, parts), most = most_norm(control[at], *running);
    if (threadIdx.x > 0)
        return;
    const double here = ::log(fmax(fmin(norm, most), 1e-300));
    *running = *step == 0 ? here : 0.98 * *running + (1.0 - 0.98) * here;
    for (int slot = 0; slot < DEVICE_SLOTS; slot++)
        row[at].sum[slot] = sum[slot];
    row[at].norm = norm;
    row[at].running_log_norm = *running;
    ++*step;
}

} // namespace

/* ---- the network ---------------------------------------------------------------------------------------- */

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

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const int status_ = (int)(call);                                                                     \
        if (status_ != 0)                                                                                    \
            return status_;                                                                                  \
    } while (0)

static cudaStream_t cuda_stream(device_stream *s)
{
    return (cudaStream_t)s;
}

static layout make_layout(const network_plan *p)
{
    layout o = {};
    o.depth = p->depth, o.sines = p->depth - 1, o.features = p->features, o.width = p->width,
    o.skip = p->skip;
    o.ldk = (int)round_up((size_t)p->features, 32), o.ldw = (int)round_up((size_t)p->width, 32);
    o.omega = p->omega;
    size_t at = 0, copy = 0;
    for (int l = 0; l < p->depth; l++) {
        const size_t inputs = (size_t)(l == 0 ? p->features : p->width),
                     units = l == p->depth - 1 ? 1 : (size_t)p->width;
        o.weight[l] = at;
        o.bias[l] = at + inputs * units;
        at += inputs * units + units;
        if (l < o.sines) {
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

/* Floats a row takes, and rows worked on at a time. */
static size_t row_floats(const layout *o)
{
    const size_t sines = (size_t)o->sines;
    return (size_t)o->ldk + (sines > 0 ? (3 * sines - 1) * (size_t)o->ldw : 0) + (size_t)tiles(o->ldw) + 2;
}

static size_t rows_at_a_time(const layout *o, size_t points, int R)
{
    const size_t most = WORKSPACE_BYTES / sizeof(float) / row_floats(o) / (size_t)R * (size_t)R;
    const size_t all = points * (size_t)R, least = (size_t)R * TILE;
    return all < most ? all : most > least ? most : least;
}

static int gradient_splits(const layout *o, int l, size_t rows)
{
    const int blocks = tiles(o->ldw) * tiles(l == 0 ? o->ldk : o->ldw), most = GRADIENT_BLOCKS / blocks;
    const size_t wanted = (rows + 127) / 128;
    return wanted < 1 ? 1 : most < 1 ? 1 : wanted < (size_t)most ? (int)wanted : most;
}

size_t network_term_bytes(const network_plan *plan, size_t points, int jets)
{
    const layout o = make_layout(plan);
    const size_t rows = rows_at_a_time(&o, points, jets ? plan->directions + 2 : 1);
    size_t bytes = sizeof(float) * rows * row_floats(&o) + points * 8;
    for (int l = 0; l < o.sines; l++)
        bytes += sizeof(float) * (size_t)gradient_splits(&o, l, rows) * (size_t)o.ldw
                 * (size_t)((l == 0 ? o.ldk : o.ldw) + 1);
    return bytes + sizeof(float) * TOP_BLOCKS * (size_t)(o.ldw + o.ldk);
}

static void workspace_close(workspace *w)
{
    device_free(w->eta), device_free(w->v_part), device_free(w->v_linear), device_free(w->g),
        device_free(w->weight);
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
    return w->eta != NULL && w->points >= points
           && w->rows >= rows_at_a_time(&net->o, points, jets ? net->plan.directions + 2 : 1);
}

int network_reserve(network *net, int slot, size_t points, int jets)
{
    const layout *o = &net->o;
    const size_t rows = rows_at_a_time(o, points, jets ? net->plan.directions + 2 : 1);
    workspace *w = &net->space[slot];
    if (network_reserved(net, slot, points, jets))
        return 0;
    const size_t room = rows > w->rows ? rows : w->rows, all = points > w->points ? points : w->points;
    workspace_close(w);
    const size_t blocks = all / TOP_POINTS;
    w->blocks = blocks < 1 ? 1 : blocks < (size_t)TOP_BLOCKS ? (int)blocks : (int)TOP_BLOCKS;
    CHECK(floats_new(&w->eta, room * (size_t)o->ldk));
    for (int l = 0; l < o->sines; l++) {
        const size_t size = (size_t)o->ldw * (size_t)((l == 0 ? o->ldk : o->ldw) + 1);
        CHECK(floats_new(&w->pre[l], room * (size_t)o->ldw));
        CHECK(floats_new(&w->bar[l], room * (size_t)o->ldw));
        if (l < o->sines - 1)
            CHECK(floats_new(&w->post[l], room * (size_t)o->ldw));
        w->splits[l] = gradient_splits(o, l, room);
        CHECK(floats_new(&w->part[l], (size_t)w->splits[l] * size));
    }
    CHECK(floats_new(&w->v_part, room * (size_t)tiles(o->ldw)));
    CHECK(floats_new(&w->v_linear, room));
    CHECK(floats_new(&w->g, room));
    CHECK(floats_new(&w->weight, all));
    CHECK(floats_new(&w->top, (size_t)w->blocks * (size_t)o->ldw));
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
template <bool EXACT> static rows_function rows_kernel(product_kind kind, bool jets)
{
    if (jets)
        return kind == FORWARD ? product_rows<FORWARD, EXACT, true> : product_rows<BACKWARD, EXACT, true>;
    return kind == FORWARD ? product_rows<FORWARD, EXACT, false> : product_rows<BACKWARD, EXACT, false>;
}

template <bool EXACT> static int allow_room(void)
{
    for (int k = 0; k < 4; k++)
        CHECK(cudaFuncSetAttribute(rows_kernel<EXACT>(k % 2 ? BACKWARD : FORWARD, k / 2),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, ROWS_ROOM));
    CHECK(cudaFuncSetAttribute(product_gradient<EXACT>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               SLAB_ROOM));
    return 0;
}

static int network_fill(network *net)
{
    const size_t P = net->o.parameters, blocks = (P + UPDATE_THREADS - 1) / UPDATE_THREADS;
    for (int v = 0; v < NETWORK_VECTORS; v++)
        CHECK(device_new((void **)&net->vector[v],
                         (v == NETWORK_GRADIENT ? DEVICE_SLOTS : 1) * P * sizeof(double)));
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
    return net->plan.exact ? allow_room<true>() : allow_room<false>();
}

int network_open(const network_plan *plan, network **out)
{
    network *net = (network *)calloc(1, sizeof *net);
    if (net == NULL)
        return DEVICE_HOST_MEMORY;
    net->plan = *plan;
    net->o = make_layout(plan);
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

size_t network_parameters(const network *net)
{
    return net->o.parameters;
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
        refresh_all<<<(unsigned)((P + 255) / 256), 256, 0, cuda_stream(stream)>>>(
            net->o, net->vector[which], net->copies, net->plan.exact);
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

/* Points [.., ..) that stand in eta, or in the cache at row: v's parts, and with adjoint all that a gradient needs. */
template <bool EXACT>
static int pass_forward(network *net, workspace *w, const float *below, const int32_t *gather, size_t rows,
                        int R, bool adjoint, cudaStream_t stream)
{
    const layout *o = &net->o;
    const unsigned tile_rows = (unsigned)(ROWS / R * R),
                   row_tiles = (unsigned)((rows + tile_rows - 1) / tile_rows);
    for (int l = 0; l < o->sines; l++) {
        const bool top = l == o->sines - 1;
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
        rows_kernel<EXACT>(
            FORWARD, R > 1)<<<dim3(row_tiles, (unsigned)tiles(o->ldw)), ROW_THREADS, ROWS_ROOM, stream>>>(q);
        CHECK(cudaGetLastError());
    }
    if (has_linear(&net->plan)) {
        linear_rows<<<(unsigned)((rows + 7) / 8), 256, 0, stream>>>(
            below, gather, o->ldk, net->copies + o->linear_copy, rows, w->v_linear);
        CHECK(cudaGetLastError());
    }
    return 0;
}

static int pass_seed(network *net, workspace *w, device_term kind, const float *weight, size_t points, int R,
                     double factor, int add, double *out, cudaStream_t stream, int integrate = 0)
{
    const layout *o = &net->o;
    seed_arguments q = {};
    q.kind = kind;
    q.R = R;
    q.parts = o->sines > 0 ? tiles(o->ldw) : 0;
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
static int pass_backward(network *net, workspace *w, const float *below, const int32_t *gather, size_t points,
                         int R, int add, cudaStream_t stream, cudaStream_t side)
{
    const layout *o = &net->o;
    const size_t rows = points * (size_t)R;
    const unsigned tile_rows = (unsigned)(ROWS / R * R),
                   row_tiles = (unsigned)((rows + tile_rows - 1) / tile_rows);
    if (has_linear(&net->plan)) {
        linear_adjoint<<<dim3((unsigned)w->blocks, (unsigned)tiles(o->ldk)), TILE, 0, stream>>>(
            below, gather, o->ldk, w->g, rows, w->linear, add);
        CHECK(cudaGetLastError());
    }
    if (o->sines == 0)
        return 0;
    top_arguments top = {};
    top.pre = w->pre[o->sines - 1];
    top.g = w->g;
    top.output = net->copies + o->output;
    top.units = o->ldw;
    top.R = R;
    top.points = points;
    top.bar = w->bar[o->sines - 1];
    top.part = w->top;
    top.add = add;
    top_backward<EXACT><<<dim3((unsigned)w->blocks, (unsigned)tiles(o->ldw)), TILE, 0, stream>>>(top);
    CHECK(cudaGetLastError());
    CHECK(device_follow((device_stream *)side, (device_stream *)stream));
    for (int l = o->sines - 1; l >= 0; l--) { /* gradients stand aside: the way back does not wait for them */
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
            <<<dim3((unsigned)tiles(q.inputs), (unsigned)tiles(q.units), (unsigned)q.splits), THREADS,
               SLAB_ROOM, side>>>(q);
        CHECK(cudaGetLastError());
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
        rows_kernel<EXACT>(
            BACKWARD, R > 1)<<<dim3(row_tiles, (unsigned)tiles(o->ldw)), ROW_THREADS, ROWS_ROOM, stream>>>(p);
        CHECK(cudaGetLastError());
        CHECK(device_follow((device_stream *)side, (device_stream *)stream));
    }
    return device_follow((device_stream *)stream, (device_stream *)side);
}

int network_term(network *net, int slot, device_term kind, const encoder *e, const device_source *s,
                 double factor, const float *cache, device_stream *stream)
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
        CHECK((net->plan.exact ? pass_forward<true> : pass_forward<false>)(net, w, below, gather,
                                                                           points * (size_t)R, R, true, to));
        CHECK(pass_seed(net, w, kind, weight, points, R, factor, add, NULL, to));
        CHECK((net->plan.exact ? pass_backward<true> : pass_backward<false>)(net, w, below, gather, points, R,
                                                                             add, to, net->side[slot]));
    }
    collect_arguments q = {};
    for (int l = 0; l < o->sines; l++) {
        q.part[l] = w->part[l];
        q.splits[l] = s->count == 0 ? 0 : w->splits[l];
    }
    q.top = w->top;
    q.linear = w->linear;
    q.top_blocks = q.linear_blocks = s->count == 0 ? 0 : w->blocks;
    q.seed_blocks = SEED_BLOCKS;
    q.sums = w->sums;
    q.sum = net->scalar + slot;
    q.gradient = net->vector[NETWORK_GRADIENT] + (size_t)slot * o->parameters;
    collect<<<(unsigned)((o->parameters + COLLECT_PARAMETERS - 1) / COLLECT_PARAMETERS + 1),
              dim3(COLLECT_PARAMETERS, COLLECT_LANES), 0, to>>>(*o, q);
    return (int)cudaGetLastError();
}

int network_evaluate(network *net, int slot, const encoder *e, const device_source *s, size_t first,
                     size_t count, int jets, double *out, device_stream *stream)
{
    workspace *w = &net->space[slot];
    const int R = jets ? net->plan.directions + 2 : 1;
    const size_t most = w->rows / (size_t)R;
    for (size_t at = 0; at < count; at += most) {
        const size_t points = count - at < most ? count - at : most;
        CHECK(encoder_run(e, s, first + at, points, jets, w->eta, w->weight, NULL, stream));
        CHECK((net->plan.exact ? pass_forward<true> : pass_forward<false>)(net, w, w->eta, NULL,
                                                                           points * (size_t)R, R, false,
                                                                           cuda_stream(stream)));
        CHECK(pass_seed(net, w, DEVICE_TERM_DATA, w->weight, points, R, 1.0, 0, out + at * (size_t)R,
                        cuda_stream(stream)));
    }
    return 0;
}

int network_integrate(network *net, int slot, const encoder *e, const device_source *s, size_t first,
                      size_t count, double *sums, device_stream *stream)
{
    workspace *w = &net->space[slot];
    double part[2 * SEED_BLOCKS];
    for (size_t at = 0; at < count; at += w->rows) {
        const size_t points = count - at < w->rows ? count - at : w->rows;
        CHECK(encoder_run(e, s, first + at, points, 0, w->eta, w->weight, NULL, stream));
        CHECK((net->plan.exact ? pass_forward<true> : pass_forward<false>)(net, w, w->eta, NULL, points, 1,
                                                                           false, cuda_stream(stream)));
        CHECK(pass_seed(net, w, DEVICE_TERM_INTEGRAL, w->weight, points, 1, 1.0, at > 0, NULL,
                        cuda_stream(stream), 1));
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
    const cudaError_t waits = recorded != cudaSuccess ? recorded
                                                      : cudaStreamWaitEvent(cuda_stream(s), event, 0);
    cudaEventDestroy(event);
    return (int)waits;
}
