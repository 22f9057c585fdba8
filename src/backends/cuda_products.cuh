/* cuda_products.cuh - rows through a hidden layer and back, on the device; cuda_layers.cu alone includes it.
 *
 * Three matrix products carry all the work, on tensor cores in TF32 with float32 sums (or, exact, as three such
 * products of the high and low halves, which leaves float32's own error):
 *     forward     A_l = H_(l-1) W_l' + b_l,   then the activation of the jet      (product_rows, FORWARD)
 *     backward    Hbar_(l-1) = Abar_l W_l,    then the activation's adjoint       (product_rows, BACKWARD)
 *     gradient    dW_l = Abar_l' H_(l-1),     split over the rows                 (product_gradient)
 * What comes between two products is applied to the tile before it is written: one read and one write of every
 * activation in each layer. The order of summation depends on the shapes alone: equal bytes on one kind of card. */
#ifndef NPMD_CUDA_PRODUCTS_CUH
#define NPMD_CUDA_PRODUCTS_CUH

#include "cuda_device.h"

#include <cuda_runtime.h>

namespace
{

/* Two blocks a multiprocessor, 128 rows each; halves of that, four at a time, were 8 % slower. */
enum { ROWS = 128, ROW_STAGES = 3, ROW_THREADS = 2 * ROWS, ROW_BLOCKS = 2 };
enum { TILE = 128, DEEP = 32, STAGES = 3, THREADS = 256, PAD = DEEP + 4, SLAB = TILE + 8 };
enum { STAGED = TILE + 4 };     /* leading dimension of a tile between product and activation */
enum { GRADIENT_BLOCKS = 264 }; /* blocks a gradient is split into: two for every multiprocessor of an H200 */

__device__ __forceinline__ float to_tf32(float x, bool exact)
{
    if (exact)
        return x;
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return __uint_as_float(y);
}

/* sin and cos to 4e-7: the argument is brought to [-pi, pi] first, where the hardware's are that good. Exact: to
 * 1e-7. */
__device__ __forceinline__ void sine_cosine(float a, bool exact, float *s, float *c)
{
    if (exact) {
        sincosf(a, s, c);
        return;
    }
    const float k = fmaf(a, 0.15915494309f, 12582912.0f) - 12582912.0f; /* rounded, below 2^22 turns */
    float r = fmaf(k, -6.28318548203f, a);                              /* 2 pi = 6.28318548203 - 1.74845553e-7 */
    r = fmaf(k, 1.74845553e-7f, r);
    asm("sin.approx.ftz.f32 %0, %1;" : "=f"(*s) : "f"(r));
    asm("cos.approx.ftz.f32 %0, %1;" : "=f"(*c) : "f"(r));
}

/* A sine and its cosine in one word: the sine with TF32's 10 bits of mantissa, which are all that a product reads, and
 * in the 13 bits below them the cosine x 4095, rounded, to 1.2e-4. Half the bytes of a layer of values. An addition of
 * 1.5 x 2^23 leaves that integer, two's complement, in a float's low bits; 2^23 + 4096 brings it back. */
__device__ __forceinline__ float pack(float s, float c)
{
    const unsigned cosine = __float_as_uint(fmaf(c, 4095.0f, 12582912.0f));
    return __uint_as_float((__float_as_uint(to_tf32(s, false)) & 0xffffe000u) | (cosine & 0x1fffu));
}
__device__ __forceinline__ float packed_sine(float w)
{
    return __uint_as_float(__float_as_uint(w) & 0xffffe000u);
}
__device__ __forceinline__ float packed_cosine(float w)
{
    return (__uint_as_float((__float_as_uint(w) & 0x1fffu) ^ 0x4b001000u) - 8392704.0f) * (1.0f / 4095.0f);
}

/* ---- activations: sines, or ReLUs h = max(0, a) ------------------------------------------------------------------ */

/* h(a) and h'(a). A ReLU is off where a <= 0, so that NaN stays. */
template <bool RELU> __device__ __forceinline__ void activate(float a, bool exact, float *h, float *slope)
{
    if constexpr (RELU) {
        *h = a <= 0.0f ? 0.0f : a;
        *slope = a <= 0.0f ? 0.0f : 1.0f;
    } else {
        sine_cosine(a, exact, h, slope);
    }
}

/* Both in one word; a ReLU's h says by itself whether it is on. */
template <bool RELU> __device__ __forceinline__ float word_of(float h, float slope)
{
    return RELU ? to_tf32(h, false) : pack(h, slope);
}
template <bool RELU> __device__ __forceinline__ float word_value(float w)
{
    return RELU ? w : packed_sine(w);
}
template <bool RELU> __device__ __forceinline__ float word_slope(float w)
{
    return RELU ? (w <= 0.0f ? 0.0f : 1.0f) : packed_cosine(w);
}

/* The last row of a jet's activation, its Laplacian, from what went in; norm2 = sum_t a_t^2. */
template <bool RELU> __device__ __forceinline__ float activate_laplacian(float h, float slope, float lap, float norm2)
{
    return RELU ? slope * lap : slope * lap - h * norm2;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

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

/* A warp's part of the tile, 64 x 32 or 32 x 32, 8 deep: sum (TALL x 4 blocks of 16 x 8) += a (TALL) b (4). */
template <bool EXACT, int TALL = 4>
__device__ __forceinline__ void multiply_tile(float sum[TALL][4][4], const unsigned a[TALL][4], const unsigned b[4][2])
{
    if constexpr (!EXACT) {
#pragma unroll
        for (int i = 0; i < TALL; i++)
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
        for (int i = 0; i < TALL; i++) {
            unsigned high[4], low[4];
#pragma unroll
            for (int h = 0; h < 4; h++)
                halves(a[i][h], &high[h], &low[h]);
#pragma unroll
            for (int j = 0; j < 4;
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

/* ---- rows times weights ------------------------------------------------------------------------------------------ */

enum product_kind { FORWARD, BACKWARD };

struct rows_arguments {
    const float *below;    /* (rows, ld_below): what is multiplied */
    const int32_t *gather; /* row of below behind a row; NULL: itself. Only where R = 1 */
    int ld_below;          /* a multiple of DEEP, all of it is multiplied */
    const float *weights;  /* (units, ld_below) */
    int units;             /* a multiple of 32; leading dimension of all that follows */
    const float *bias;     /* (units): FORWARD */
    /* (rows, units) each, NULL: not wanted. FORWARD: what goes into the activations, and what comes out. BACKWARD:
     * reads the first, and writes adjoints of it to the second. Values with TF32 are packed words in both. */
    float *pre, *post;
    const float *output; /* (units): FORWARD, at the top: v_part[column of tiles][row] = post . output */
    float *v_part;
    size_t rows;
    int R;
};

/* The activation of jets on the staged tile, in place. */
template <bool RELU>
__device__ void jets_forward(const rows_arguments &q, float *tile, size_t first, int rows, int column0, bool exact)
{
    const int mine = (int)threadIdx.x % TILE, half = (int)threadIdx.x / TILE, column = column0 + mine, R = q.R;
    const bool inside = column < q.units;
    const float bias = inside ? q.bias[column] : 0.0f;
    for (int p = half * R; p < rows; p += ROW_THREADS / TILE * R) {
        float *at = tile + p * STAGED + mine;
        const size_t to = (first + (size_t)p) * (size_t)q.units + (size_t)column;
        const float a = at[0] + bias;
        float s, c, norm2 = 0.0f;
        activate<RELU>(a, exact, &s, &c);
        if (inside && q.pre != NULL)
            q.pre[to] = a;
        at[0] = s;
        if (inside && q.post != NULL)
            q.post[to] = to_tf32(s, exact);
        for (int r = 1; r < R; r++) {
            const float slope = at[r * STAGED],
                        lap = r == R - 1 ? activate_laplacian<RELU>(s, c, slope, norm2) : c * slope;
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

/* The same of a ReLU, slope 0 or 1: every row passes, or none. */
template <class H, class N> __device__ __forceinline__ void relu_adjoint(int R, float slope, const H &h, const N &next)
{
    for (int r = 0; r < R; r++)
        next(r, slope * h(r));
}

/* a[r] = the r-th of R rows, all on their way at once; longer jets are read where they lie. */
__device__ __forceinline__ void read_jet(const float *from, size_t ld, int R, float a[SHORT_JET])
{
#pragma unroll
    for (int r = 0; r < SHORT_JET; r++)
        a[r] = r < R ? __ldg(from + (size_t)r * ld) : 0.0f;
}

template <bool RELU>
__device__ void jets_backward(const rows_arguments &q, const float *tile, size_t first, int rows, int column0,
                              bool exact)
{
    const int mine = (int)threadIdx.x % TILE, half = (int)threadIdx.x / TILE, column = column0 + mine, R = q.R;
    const size_t ld = (size_t)q.units;
    if (column >= q.units)
        return;
    for (int p = half * R; p < rows; p += ROW_THREADS / TILE * R) {
        const float *h = tile + p * STAGED + mine;
        const size_t at = (first + (size_t)p) * ld + (size_t)column;
        float a[SHORT_JET], s, c;
        const auto bar = [&](int r) { return h[r * STAGED]; };
        const auto next = [&](int r, float value) { q.post[at + (size_t)r * ld] = to_tf32(value, exact); };
        read_jet(q.pre + at, ld, R, a);
        activate<RELU>(a[0], exact, &s, &c);
        if constexpr (RELU)
            relu_adjoint(R, c, bar, next);
        else
            sine_adjoint(
                R, s, c, bar, a, [&](int r) { return __ldg(q.pre + at + (size_t)r * ld); }, next);
    }
}

/* Values: what a thread holds of the product goes through the activation and out, without a stop in shared memory. */
template <bool EXACT, bool RELU>
__device__ __forceinline__ void values_forward(const rows_arguments &q, float sum[4][4][4], float *room, size_t first,
                                               int rows, int row0, int unit)
{
    const int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
    float v[4][2] = {};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int column = unit + 8 * j + 2 * t;
        if (column >= q.units)
            continue;
        const float2 bias = *(const float2 *)(q.bias + column);
        const float2 output = q.v_part != NULL ? *(const float2 *)(q.output + column) : make_float2(0.0f, 0.0f);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int row = row0 + 16 * i + g + 8 * h;
                const size_t to = (first + (size_t)row) * (size_t)q.units + (size_t)column;
                const float2 a = make_float2(sum[i][j][2 * h] + bias.x, sum[i][j][2 * h + 1] + bias.y);
                float2 s, c;
                activate<RELU>(a.x, EXACT, &s.x, &c.x);
                activate<RELU>(a.y, EXACT, &s.y, &c.y);
                v[i][h] += s.x * output.x + s.y * output.y;
                if (row >= rows)
                    continue;
                const float2 word = EXACT ? s : make_float2(word_of<RELU>(s.x, c.x), word_of<RELU>(s.y, c.y));
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

template <bool EXACT, bool RELU>
__device__ __forceinline__ void values_backward(const rows_arguments &q, float sum[4][4][4], size_t first, int rows,
                                                int row0, int unit)
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
                word[h][j] = there ? __ldg(
                                 (const float2 *)(q.pre + (first + (size_t)row) * (size_t)q.units + (size_t)column))
                                   : make_float2(0.0f, 0.0f);
            }
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int row = row0 + 16 * i + g + 8 * h, column = unit + 8 * j + 2 * t;
                float2 s, c = make_float2(word_slope<RELU>(word[h][j].x), word_slope<RELU>(word[h][j].y));
                if (EXACT) {
                    activate<RELU>(word[h][j].x, true, &s.x, &c.x);
                    activate<RELU>(word[h][j].y, true, &s.y, &c.y);
                }
                if (row < rows && column < q.units)
                    *(float2 *)(q.post + (first + (size_t)row) * (size_t)q.units + (size_t)column) = make_float2(
                        to_tf32(c.x * sum[i][j][2 * h], EXACT), to_tf32(c.y * sum[i][j][2 * h + 1], EXACT));
            }
    }
}

/* v_part: each row of the tile times the output weights of its columns; one warp for each row. */
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

template <product_kind KIND, bool EXACT, bool JETS, bool RELU>
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
    const float *from_a[A_COPIES], *from_b = q.weights + (size_t)(column0 + my_row) * (size_t)q.ld_below + my_part;
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
            float *a = room + chunk % ROW_STAGES * ((ROWS + TILE) * PAD) + my_row * PAD + my_part, *b = a + ROWS * PAD;
#pragma unroll
            for (int i = 0; i < A_COPIES; i++)
                copy16(a + STEP * i * PAD, from_a[i] + chunk * DEEP, there >> i & 1u);
#pragma unroll
            for (int i = 0; i < B_COPIES; i++) {
                const bool b_there = there >> (A_COPIES + i) & 1u;
                copy16(b + STEP * i * PAD, b_there ? from_b + STEP * i * q.ld_below + chunk * DEEP : q.weights,
                       b_there);
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
        const float *a_tile = room + chunk % ROW_STAGES * ((ROWS + TILE) * PAD), *b_tile = a_tile + ROWS * PAD;
#pragma unroll
        for (int k = 0; k < DEEP; k += 8) {
            unsigned a[4][4], b[4][2];
#pragma unroll
            for (int i = 0; i < 4; i++)
                load_matrices(a[i], a_tile + (row0 + 16 * i + lane % 16) * PAD + k + lane / 16 * 4);
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                unsigned pair[4];
                load_matrices(pair, b_tile + (unit0 + 8 * j + lane % 8 + lane / 16 * 8) * PAD + k + lane / 8 % 2 * 4);
                b[j][0] = pair[0], b[j][1] = pair[1], b[j + 1][0] = pair[2], b[j + 1][1] = pair[3];
            }
            multiply_tile<EXACT>(sum, a, b);
        }
    }
    copy_wait<0>();
    if constexpr (!JETS) {
        if (KIND == FORWARD)
            values_forward<EXACT, RELU>(q, sum, room, first, rows, row0, column0 + unit0);
        else
            values_backward<EXACT, RELU>(q, sum, first, rows, row0, column0 + unit0);
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
        jets_forward<RELU>(q, room, first, rows, column0, EXACT);
        if (q.v_part != NULL) {
            __syncthreads();
            output_rows(q, room, first, rows, column0);
        }
    } else {
        jets_backward<RELU>(q, room, first, rows, column0, EXACT);
    }
}

/* ---- weights from rows ------------------------------------------------------------------------------------------- */

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

/* What a block of threads holds of a gradient to part (units, inputs) from unit0, input0 on. Of 16 units the upper half
 * of a product takes the even ones, the lower the odd ones: then a pair of neighbours in shared memory is a pair of
 * registers. The order of units within a product is free. */
template <int TALL>
__device__ __forceinline__ void write_gradient(const float sum[TALL][4][4], float *part, int units, int inputs,
                                               int unit0, int input0, int add)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < TALL; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int unit = unit0 + warp / 4 * (16 * TALL) + 16 * i + 2 * (lane / 4) + h,
                          input = input0 + warp % 4 * 32 + 8 * j + 2 * (lane % 4);
                if (unit >= units || input >= inputs)
                    continue;
                float2 *at = (float2 *)(part + (size_t)unit * (size_t)inputs + (size_t)input),
                       value = make_float2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
                if (add)
                    value = make_float2(value.x + at->x, value.y + at->y);
                *at = value;
            }
}

template <bool EXACT> __global__ void __launch_bounds__(THREADS, 2) product_gradient(const gradient_arguments q)
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
    const float *bar = q.bar + (bar_there ? unit0 + my_part : 0) + (unsigned)(begin + my_row) * (unsigned)q.units;
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
    const int row0 = warp / 4 * 64, column0 = warp % 4 * 32;
    for (int chunk = 0; chunk < chunks; chunk++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        bring();
        const float *a_tile = room + (chunk % STAGES) * (2 * DEEP * SLAB), *b_tile = a_tile + DEEP * SLAB;
        if (blockIdx.x == 0) { /* the bias moves with value rows alone; the two halves of threads take turns */
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
#pragma unroll(EXACT ? 1 : 2) /* as many as the registers hold */
        for (int k = 0; k < DEEP; k += 8) {
            unsigned a[4][4], b[4][2];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float *a_at = a_tile + (k + t + 4 * h) * SLAB + row0 + 2 * g,
                            *b_at = b_tile + (k + t + 4 * h) * SLAB + column0 + g;
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float2 two = *(const float2 *)(a_at + 16 * i);
                    a[i][2 * h] = __float_as_uint(two.x), a[i][2 * h + 1] = __float_as_uint(two.y);
                }
#pragma unroll
                for (int j = 0; j < 4; j++)
                    b[j][h] = __float_as_uint(b_at[8 * j]);
            }
            multiply_tile<EXACT>(sum, a, b);
        }
    }
    float *part = q.part + (size_t)blockIdx.z * (size_t)q.units * (size_t)(q.inputs + 1);
    write_gradient<4>(sum, part, q.units, q.inputs, unit0, input0, q.add);
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

} // namespace

#endif
