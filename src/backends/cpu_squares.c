/* cpu_squares.c - the gradient of a term, and the sum over points of the squares of each point's part of it.
 *
 * The part of one point in the gradient of the weight from unit i to unit o is sum_r d_r,o h_r,i: r over the rows of
 * its jet, d the adjoint and h the layer below. The squares, summed over points,
 *
 *     sum over points (sum_r d_r,o h_r,i)^2 = sum over r <= s of (2 - [r = s]) (d_r d_s)' (h_r h_s),
 *
 * are one matrix product for each pair of rows: the gradient of a single point is never formed. A variance is a small
 * difference of such sums, so they are in double, in which the product of two float32 numbers is exact. */
#include "cpu.h"

typedef struct squares_room { /* one for each thread; below and bar (points, units) */
    double *below, *bar;
    float *unused; /* (width) */
} squares_room;

struct squares {
    int threads;
    squares_room *room;
    double *gradient[LANES], *square[LANES]; /* laid out as a lane's gradient */
};

void squares_close(squares *q)
{
    if (q == NULL)
        return;
    for (int t = 0; q->room != NULL && t < q->threads; t++) {
        memory_free(q->room[t].below);
        memory_free(q->room[t].bar);
        memory_free(q->room[t].unused);
    }
    for (int n = 0; n < LANES; n++) {
        memory_free(q->gradient[n]);
        memory_free(q->square[n]);
    }
    memory_free(q->room);
    memory_free(q);
}

static size_t room_size(const cpu *c)
{
    return c->tile_values * (c->features > c->width ? c->features : c->width);
}

static npmd_status squares_open(cpu *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    squares *q = NULL;
    if (c->squares != NULL)
        return NPMD_OK;
    TRY(memory_new(&q, 1, err));
    q->threads = c->threads;
    TRY(memory_new(&q->room, c->threads, err));
    for (int t = 0; t < c->threads; t++) {
        TRY(memory_new(&q->room[t].below, room_size(c), err));
        TRY(memory_new(&q->room[t].bar, room_size(c), err));
        TRY(memory_new(&q->room[t].unused, c->width, err));
    }
    for (int n = 0; n < LANES; n++) {
        TRY(memory_new(&q->gradient[n], c->gradient_size, err));
        TRY(memory_new(&q->square[n], c->gradient_size, err));
    }
    c->squares = q;
    q = NULL;
done:
    squares_close(q);
    return st;
}

size_t squares_bytes(const cpu *c)
{
    return sizeof(double) * 2 * (LANES * c->gradient_size + (size_t)c->threads * room_size(c));
}

/* ---- one tile ---------------------------------------------------------------------------------------------------- */

/* out (points, units) = factor a b, or factor a when b.p is NULL; in the order in which a and b lie in memory. */
static strided_double tile_multiply(size_t points, size_t units, double factor, strided a, strided b, double *out)
{
    const bool by_rows = a.column == 1;
    const size_t outer = by_rows ? points : units, inner = by_rows ? units : points, step = by_rows ? a.row : a.column;
    for (size_t i = 0; i < outer; i++) {
        const float *x = a.p + i * step, *y = b.p == NULL ? NULL : b.p + i * step;
        double *to = out + i * inner;
        if (y == NULL)
            for (size_t j = 0; j < inner; j++)
                to[j] = factor * (double)x[j];
        else
            for (size_t j = 0; j < inner; j++)
                to[j] = factor * (double)x[j] * (double)y[j];
    }
    return by_rows ? (strided_double){ .p = out, .row = inner, .column = 1 }
                   : (strided_double){ .p = out, .row = 1, .column = inner };
}

static strided jet_row(strided all, size_t m, int r)
{
    return (strided){ .p = all.p + (size_t)r * m * all.row, .row = all.row, .column = all.column };
}

/* out (inputs, outputs) += factor (h_r h_s)' (d_r d_s); s < 0: factor h_r' d_r. */
static void add_product(const cpu *c, const squares_room *room, const layer_view *v, size_t m, strided h, strided d,
                        int r, int s, double *out)
{
    const strided none = { 0 };
    const strided_double below = tile_multiply(m, v->inputs, 1.0, jet_row(h, m, r), s < 0 ? none : jet_row(h, m, s),
                                               room->below);
    tile_multiply(m, v->outputs, s > r ? 2.0 : 1.0, jet_row(d, m, r), s < 0 ? none : jet_row(d, m, s), room->bar);
    c->kernels->product_double(v->inputs, v->outputs, m,
                               (strided_double){ .p = below.p, .row = below.column, .column = below.row }, room->bar,
                               v->outputs, out, v->ld_out, 1);
}

/* Of weights on one output: a point asks for sum_r g_r h_r,u. */
static void add_output(size_t m, int R, size_t units, strided h, const float *g, double *gradient, double *square)
{
    const bool by_rows = h.column == 1;
    const size_t outer = by_rows ? m : units, inner = by_rows ? units : m;
    for (size_t i = 0; i < outer; i++)
        for (size_t j = 0; j < inner; j++) {
            const size_t p = by_rows ? i : j, u = by_rows ? j : i;
            double sum = 0.0;
            for (size_t k = p; k < (size_t)R * m; k += m)
                sum += (double)g[k] * (double)h.p[k * h.row + u * h.column];
            gradient[u] += sum;
            square[u] += sum * sum;
        }
}

/* Of biases, which only values feel. */
static void add_biases(size_t m, size_t units, size_t ld, const float *d, double *gradient, double *square)
{
    for (size_t p = 0; p < m; p++)
        for (size_t u = 0; u < units; u++) {
            const double one = (double)d[p * ld + u];
            gradient[u] += one;
            square[u] += one * one;
        }
}

/* As tile_backward, with the squares. */
static void tile_squares(const cpu *c, workspace *w, const squares_room *room, strided eta, size_t m, int T, bool lap,
                         double *gradient, double *square)
{
    const kernels *kernel = c->kernels;
    const layer_kernels *activation = cpu_activation(c);
    const int R = 1 + T + lap;
    const size_t rows = (size_t)R * m, block = c->rows * c->ld;
    add_biases(m, 1, 1, w->g, gradient + c->constant_gradient, square + c->constant_gradient);
    if (c->has_linear)
        add_output(m, R, (size_t)c->plan.shape.features, eta, w->g, gradient + c->linear_gradient,
                   square + c->linear_gradient);
    if (c->hidden == 0)
        return;
    float *bar = w->bar[0], *next = w->bar[1];
    const strided top = { .p = w->post + (size_t)(c->hidden - 1) * block, .row = c->ld, .column = 1 };
    add_output(m, R, c->width, top, w->g, gradient + c->output_gradient, square + c->output_gradient);
    kernel->output_adjoint(rows, c->width, c->ld, top.p, c->weights + c->output, w->g, bar, room->unused);
    for (int l = c->hidden - 1; l >= 0; l--) {
        const layer_view *v = &c->layer[l];
        const size_t at = (size_t)l * block;
        const strided d = { .p = bar, .row = c->ld, .column = 1 },
                      h = l == 0 ? eta : (strided){ .p = w->post + at - block, .row = c->ld, .column = 1 };
        activation->adjoint(m, T, lap, v->outputs, c->ld, w->pre + at, w->post + at, bar, room->unused);
        add_biases(m, v->outputs, c->ld, bar, gradient + v->bias_gradient, square + v->bias_gradient);
        for (int r = 0; r < R; r++) {
            add_product(c, room, v, m, h, d, r, -1, gradient + v->gradient);
            for (int s = r; s < R; s++)
                add_product(c, room, v, m, h, d, r, s, square + v->gradient);
        }
        if (l > 0) {
            kernel->product(rows, v->inputs, v->outputs, d, c->weights + v->backward, v->ld_in, next, c->ld, 0);
            float *swap = bar;
            bar = next;
            next = swap;
        }
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* out (parameters) = the sum over lanes; omega, or its square, is folded into the weights of the hidden layers. */
static void lanes_collect(const cpu *c, double *const lanes[LANES], double omega, double *out)
{
    const field_shape *f = &c->plan.shape;
    double *all = lanes[0];
    for (int n = 1; n < LANES; n++)
        for (size_t i = 0; i < c->gradient_size; i++)
            all[i] += lanes[n][i];
    for (int l = 0; l < c->hidden; l++) {
        const layer_view *v = &c->layer[l];
        const size_t inputs = (size_t)field_inputs(f, l + 1), outputs = (size_t)f->width;
        double *W = out + field_weights(f, l + 1), *b = out + field_biases(f, l + 1);
        for (size_t j = 0; j < outputs; j++) {
            for (size_t i = 0; i < inputs; i++)
                W[j * inputs + i] = omega * all[v->gradient + i * v->ld_out + j];
            b[j] = omega * all[v->bias_gradient + j];
        }
    }
    double *W = out + field_weights(f, f->depth);
    for (size_t j = 0; c->hidden > 0 && j < (size_t)f->width; j++)
        W[j] = all[c->output_gradient + j];
    for (size_t k = 0; f->depth == 1 && k < (size_t)f->features; k++)
        W[k] = all[c->linear_gradient + k];
    for (size_t k = 0; f->skip && k < (size_t)f->features; k++)
        out[field_skip(f) + k] = all[c->linear_gradient + k];
    out[field_biases(f, f->depth)] = all[c->constant_gradient];
}

npmd_status cpu_squares(void *self, const term_request *what, double *gradient, double *square, npmd_error *err)
{
    cpu *c = self;
    const bool lap = what->kind == TERM_LAPLACIAN, jets = lap || what->kind == TERM_GRADIENT;
    const int T = jets ? c->plan.shape.directions : 0;
    const size_t most = jets ? c->tile_jets : c->tile_values, count = what->points->count;
    const size_t tiles = (count + most - 1) / most;
    const npmd_status st = squares_open(c, err);
    if (st != NPMD_OK)
        return st;
    const squares *q = c->squares;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int n = 0; n < LANES; n++) {
        const int thread = omp_get_thread_num();
        workspace *w = &c->space[thread];
        memset(q->gradient[n], 0, c->gradient_size * sizeof(double));
        memset(q->square[n], 0, c->gradient_size * sizeof(double));
        for (size_t tile = (size_t)n; tile < tiles; tile += LANES) {
            const size_t first = tile * most, here = count - first < most ? count - first : most;
            const size_t m = round_up(here, TILE_ROWS);
            const strided eta = tile_points(c, w, what->points, first, here, m, T, lap);
            tile_forward(c, w, eta, m, T, lap);
            tile_seed(w, what, here, m, T, lap);
            tile_squares(c, w, &q->room[thread], eta, m, T, lap, q->gradient[n], q->square[n]);
        }
    }
    const double omega = field_omega(&c->plan.shape);
    lanes_collect(c, q->gradient, omega, gradient);
    lanes_collect(c, q->square, omega * omega, square);
    return NPMD_OK;
}
