/* cuda_terms.cuh - the output, the terms of the objective, their gradients, and a step of the optimiser, on the device;
 * cuda_layers.cu alone includes it. Partial sums of blocks are added in an order that depends on the shapes alone. */
#ifndef NPMD_CUDA_TERMS_CUH
#define NPMD_CUDA_TERMS_CUH

#include "cuda_products.cuh"

namespace
{

enum { SEED_BLOCKS = 264, TOP_BLOCKS = 1056, TOP_POINTS = 8, SEED_THREADS = 128 };

/* ---- the output and the terms ------------------------------------------------------------------------------------ */

/* v (rows) = linear part: one warp for each row. */
__global__ void linear_rows(const float *eta, const int32_t *gather, int ld, const float *linear, size_t rows, float *v)
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

/* A point's share of the term, from v(r), its jet: g(r, ...) is told factor x derivative by it. */
template <class V, class G>
__device__ __forceinline__ void seed_point(int kind, int R, float weight, float factor, const V &v, const G &g,
                                           double *sum, double *constant)
{
    const float pull = weight * factor;
    if (kind == DEVICE_TERM_DATA || kind == DEVICE_TERM_INTEGRAL) {
        const float here = v(0), e = kind == DEVICE_TERM_DATA ? 1.0f : expf(here);
        *sum += (double)weight * (double)(kind == DEVICE_TERM_DATA ? here : e);
        *constant += (double)(pull * e);
        g(0, pull * e);
        return;
    }
    g(0, 0.0f);
    for (int r = 1; r < R; r++) {
        const bool wanted = (kind == DEVICE_TERM_LAPLACIAN) == (r == R - 1);
        const float here = wanted ? v(r) : 0.0f;
        *sum += (double)weight * (double)here * (double)here;
        g(r, 2.0f * pull * here);
    }
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
        seed_point(
            q.kind, q.R, q.weight[i], q.factor, [&](int r) { return row_value(q, row + (size_t)r, r == 0); },
            [&](int r, float g) { q.g[row + (size_t)r] = g; }, &sum, &constant);
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

/* Through the output weights and the last activations: one thread for each unit, points in groups. */
template <bool EXACT, bool RELU> __global__ void __launch_bounds__(TILE) top_backward(const top_arguments q)
{
    const int unit = (int)blockIdx.y * TILE + (int)threadIdx.x, R = q.R;
    if (unit >= q.units)
        return;
    const float output = q.output[unit];
    const size_t group = (q.points + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * group, ld = (size_t)q.units;
    const size_t end = begin + group < q.points ? begin + group : q.points;
    float along = 0.0f;
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
                float s = word_value<RELU>(word[k]), c = word_slope<RELU>(word[k]);
                if (EXACT)
                    activate<RELU>(word[k], true, &s, &c);
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
        activate<RELU>(a[0], EXACT, &s, &c);
        const auto bar = [&](int r) { return output * __ldg(q.g + row + r); };
        const auto next = [&](int r, float value) { q.bar[at + (size_t)r * ld] = to_tf32(value, EXACT); };
        const auto more = [&](int r) { return __ldg(q.pre + at + (size_t)r * ld); };
        /* of the activation: what the output's weights see */
        const auto jet = [&](int r, float slope) {
            along += __ldg(q.g + row + r) * (r < R - 1 ? c * slope : activate_laplacian<RELU>(s, c, slope, norm2));
            norm2 += slope * slope;
        };
        along += __ldg(q.g + row) * s;
#pragma unroll
        for (int r = 1; r < SHORT_JET; r++)
            if (r < R)
                jet(r, a[r]);
        for (int r = SHORT_JET; r < R; r++)
            jet(r, more(r));
        if constexpr (RELU)
            relu_adjoint(R, c, bar, next);
        else
            sine_adjoint(R, s, c, bar, a, more, next);
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
        sum += __ldg(g + i) * __ldg(eta + (gather == NULL ? i : (size_t)__ldg(gather + i)) * (size_t)ld + (size_t)k);
    float *to = part + (size_t)blockIdx.x * (size_t)ld + (size_t)k;
    *to = add ? *to + sum : sum;
}

/* ---- gradients, steps -------------------------------------------------------------------------------------------- */

struct layout { /* where everything stands */
    int depth, hidden, features, width, ldk, ldw, skip;
    double omega;
    size_t weight[DEVICE_MAX_DEPTH], bias[DEVICE_MAX_DEPTH]; /* in theta, layer 1 at 0 */
    size_t linear, parameters;
    size_t forward[DEVICE_MAX_DEPTH], backward[DEVICE_MAX_DEPTH], shift[DEVICE_MAX_DEPTH]; /* in the float copies */
    size_t output, linear_copy, constant, copies;
};

struct place {       /* of a parameter */
    int layer;       /* 0 .. hidden - 1: of a hidden layer; hidden: output; then constant, linear part */
    int unit, input; /* input -1: a bias */
};

__device__ place parameter_place(const layout &o, size_t i)
{
    if (i >= o.linear)
        return { o.hidden + 2, 0, (int)(i - o.linear) };
    int l = o.depth - 1;
    while (i < o.weight[l])
        l--;
    const int inputs = l == 0 ? o.features : o.width;
    if (i >= o.bias[l])
        return l == o.depth - 1 ? place{ o.hidden + 1, 0, 0 } : place{ l, (int)(i - o.bias[l]), -1 };
    const unsigned at = (unsigned)(i - o.weight[l]); /* a layer has fewer than 2^32: division of 64 bits is slow */
    if (l < o.depth - 1)
        return { l, (int)(at / (unsigned)inputs), (int)(at % (unsigned)inputs) };
    return { o.depth == 1 ? o.hidden + 2 : o.hidden, 0, (int)at };
}

struct collect_arguments {
    const float *part[DEVICE_MAX_DEPTH];
    int splits[DEVICE_MAX_DEPTH];
    const float *top, *linear; /* (blocks, ldw), (blocks, ldk) */
    int top_blocks, linear_blocks, seed_blocks;
    const double *sums; /* (seed_blocks, 2) */
    double *sum, *gradient;
};

enum { COLLECT_PARAMETERS = 128, COLLECT_LANES = 4 }; /* many loads on their way in few threads */

/* The parts of parameter p: their number, the first, and how far they lie apart. */
template <class T> struct parts_of {
    const T *first;
    int count;
    size_t apart;
};

template <class T> __device__ double lane_sum(const parts_of<T> &p)
{
    double sum = 0.0;
#pragma unroll 16
    for (int s = (int)threadIdx.y; s < p.count; s += COLLECT_LANES)
        sum += (double)p.first[(size_t)s * p.apart];
    return sum;
}

/* gradient += what the blocks of a term left; the block after the last parameter adds the term's own sum. Lanes of
 * threads take every COLLECT_LANES-th part and are added in order. */
__global__ void __launch_bounds__(COLLECT_PARAMETERS *COLLECT_LANES) collect(const layout o, const collect_arguments q)
{
    __shared__ double room[COLLECT_LANES][COLLECT_PARAMETERS];
    const size_t i = (size_t)blockIdx.x * COLLECT_PARAMETERS + threadIdx.x;
    const bool last = blockIdx.x == gridDim.x - 1;
    const place p = i < o.parameters ? parameter_place(o, i) : place{ o.hidden + 1, 0, 0 };
    double sum = 0.0;
    if (last) {
        sum = threadIdx.x == 0 ? lane_sum(parts_of<double>{ q.sums, q.seed_blocks, 2 }) : 0.0;
    } else if (i >= o.parameters) {
        sum = 0.0;
    } else if (p.layer < o.hidden) {
        const int inputs = p.layer == 0 ? o.ldk : o.ldw;
        const size_t at = p.input < 0 ? (size_t)o.ldw * (size_t)inputs + (size_t)p.unit
                                      : (size_t)p.unit * (size_t)inputs + (size_t)p.input;
        sum = o.omega
              * lane_sum(
                  parts_of<float>{ q.part[p.layer] + at, q.splits[p.layer], (size_t)o.ldw * (size_t)(inputs + 1) });
    } else if (p.layer == o.hidden) {
        sum = lane_sum(parts_of<float>{ q.top + p.input, q.top_blocks, (size_t)o.ldw });
    } else if (p.layer == o.hidden + 1) {
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
__global__ void __launch_bounds__(UPDATE_THREADS) gradient_length(size_t parameters, double *gradient, double *part)
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
    if (p.layer < o.hidden) {
        const float w = to_tf32((float)(o.omega * theta), exact);
        const int inputs = p.layer == 0 ? o.ldk : o.ldw;
        if (p.input < 0) {
            copies[o.shift[p.layer] + (size_t)p.unit] = (float)(o.omega * theta);
            return;
        }
        copies[o.forward[p.layer] + (size_t)p.unit * (size_t)inputs + (size_t)p.input] = w;
        if (p.layer > 0)
            copies[o.backward[p.layer] + (size_t)p.input * (size_t)o.ldw + (size_t)p.unit] = w;
    } else if (p.layer == o.hidden) {
        copies[o.output + (size_t)p.input] = (float)theta;
    } else if (p.layer == o.hidden + 1) {
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
    return i < o.linear ? (i < (size_t)o.features ? theta + all[o.linear + i] : theta) : theta + all[i - o.linear];
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

#endif
