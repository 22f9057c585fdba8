/* cuda_kernels.cu - sums of kernels about many centres: all pairs, in float32.
 *
 *     out_i = sum over c of exp(offset_c - scale_c |x_i - y_c|^2)
 *
 * A thread has one query; a block goes through a share of the centres, by tiles in shared memory that all its threads
 * read together. Sums within a tile are float32, sums of tiles double; a second kernel adds the shares in order, so
 * that the result depends on the sizes alone. A pair takes 3 columns + 2 multiplications and an exponential; none is
 * skipped, since a pair is cheaper here than a test whether it matters. */
#include "cuda_device.h"

#include <cuda_runtime.h>

#define QUERIES 256 /* threads */
#define TILE 128    /* centres in shared memory, as many as a float32 sum takes */
#define SHARE 16384 /* centres of a block */
#define LOG2_E 1.4426950408889634f

/* columns is COLUMNS, padded with zeros. part (shares, n) */
template <int COLUMNS>
__global__ void __launch_bounds__(QUERIES)
    add_kernels(size_t centres, const float *__restrict__ y, const float *__restrict__ scale,
                const float *__restrict__ offset, int columns, size_t n, const float *__restrict__ x,
                const int64_t *__restrict__ skip, double *__restrict__ part)
{
    __shared__ float at[COLUMNS][TILE], slope[TILE], top[TILE];
    const size_t query = (size_t)blockIdx.x * QUERIES + threadIdx.x, first = (size_t)blockIdx.y * SHARE,
                 last = first + SHARE < centres ? first + SHARE : centres;
    const bool real = query < n;
    const int64_t own = real ? skip[query] : -1;
    float q[COLUMNS];
    double total = 0.0;
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        q[j] = real && j < columns ? x[query * (size_t)columns + (size_t)j] : 0.0f;
    for (size_t from = first; from < last; from += TILE) {
        __syncthreads();
        for (int i = (int)threadIdx.x; i < COLUMNS * TILE; i += QUERIES) {
            const int j = i / TILE, c = i % TILE;
            at[j][c] = j < columns && from + (size_t)c < last ? y[(size_t)j * centres + from + (size_t)c] : 0.0f;
        }
        for (int c = (int)threadIdx.x; c < TILE; c += QUERIES) {
            const bool there = from + (size_t)c < last; /* in powers of two */
            slope[c] = there ? -LOG2_E * scale[from + (size_t)c] : 0.0f;
            top[c] = there ? LOG2_E * fmaxf(offset[from + (size_t)c], -1e6f) : -1e6f;
        }
        __syncthreads();
        float sum = 0.0f;
        const int64_t mine = own - (int64_t)from;
#pragma unroll 4
        for (int c = 0; c < TILE; c++) {
            float z = 0.0f;
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                const float difference = q[j] - at[j][c];
                z = fmaf(difference, difference, z);
            }
            const float term = exp2f(fmaf(slope[c], z, top[c]));
            sum += c == mine ? 0.0f : term;
        }
        total += (double)sum;
    }
    if (real)
        part[(size_t)blockIdx.y * n + query] = total;
}

__global__ void add_shares(size_t shares, size_t n, const double *part, double *out)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0.0;
    if (i >= n)
        return;
    for (size_t s = 0; s < shares; s++)
        sum += part[s * n + i];
    out[i] = sum;
}

typedef struct sums_room {
    float *y, *scale, *offset, *x;
    int64_t *skip;
    double *part, *out;
} sums_room;

static size_t shares_of(size_t centres)
{
    return (centres + SHARE - 1) / SHARE;
}

extern "C" size_t kernels_bytes(int columns, size_t centres, size_t n)
{
    return (centres * ((size_t)columns + 2) + n * (size_t)columns) * sizeof(float) + n * sizeof(int64_t)
           + n * (shares_of(centres) + 1) * sizeof(double);
}

template <int COLUMNS> static void launch(const sums_room *r, int columns, size_t centres, size_t n)
{
    const dim3 grid((unsigned)((n + QUERIES - 1) / QUERIES), (unsigned)shares_of(centres));
    add_kernels<COLUMNS><<<grid, QUERIES>>>(centres, r->y, r->scale, r->offset, columns, n, r->x, r->skip, r->part);
}

static cudaError_t take(void **p, const void *from, size_t bytes)
{
    cudaError_t e = cudaMalloc(p, bytes);
    if (e == cudaSuccess && from != NULL)
        e = cudaMemcpy(*p, from, bytes, cudaMemcpyHostToDevice);
    return e;
}

extern "C" int kernels_add(int columns, size_t centres, const float *y, const float *scale, const float *offset,
                           size_t n, const float *x, const int64_t *skip, double *out)
{
    sums_room r = {};
    const size_t width = (size_t)columns, shares = shares_of(centres);
    if (n == 0)
        return 0;
    if (columns > DEVICE_MOST_COLUMNS || centres == 0 || shares > 65535)
        return DEVICE_REFUSED;
    cudaError_t e = take((void **)&r.y, y, centres * width * sizeof *y);
    if (e == cudaSuccess)
        e = take((void **)&r.scale, scale, centres * sizeof *scale);
    if (e == cudaSuccess)
        e = take((void **)&r.offset, offset, centres * sizeof *offset);
    if (e == cudaSuccess)
        e = take((void **)&r.x, x, n * width * sizeof *x);
    if (e == cudaSuccess)
        e = take((void **)&r.skip, skip, n * sizeof *skip);
    if (e == cudaSuccess)
        e = take((void **)&r.part, NULL, shares * n * sizeof *r.part);
    if (e == cudaSuccess)
        e = take((void **)&r.out, NULL, n * sizeof *r.out);
    if (e == cudaSuccess) {
        if (columns <= 2)
            launch<2>(&r, columns, centres, n);
        else if (columns <= 4)
            launch<4>(&r, columns, centres, n);
        else if (columns <= 6)
            launch<6>(&r, columns, centres, n);
        else if (columns <= 8)
            launch<8>(&r, columns, centres, n);
        else if (columns <= 12)
            launch<12>(&r, columns, centres, n);
        else if (columns <= 16)
            launch<16>(&r, columns, centres, n);
        else
            launch<DEVICE_MOST_COLUMNS>(&r, columns, centres, n);
        add_shares<<<(unsigned)((n + 255) / 256), 256>>>(shares, n, r.part, r.out);
        e = cudaGetLastError();
    }
    if (e == cudaSuccess)
        e = cudaMemcpy(out, r.out, n * sizeof *out, cudaMemcpyDeviceToHost);
    void *const taken[] = { r.y, r.scale, r.offset, r.x, r.skip, r.part, r.out };
    for (void *p : taken)
        (void)cudaFree(p);
    if (e != cudaSuccess)
        (void)cudaGetLastError();
    return (int)e;
}
