/* cpu_tile.c - one tile of points: encoding, forward, the term's derivative, and back; all in float32. */
#include "cpu.h"

/* ---- encoding a tile --------------------------------------------------------------------------------------------- */

_Static_assert(TILE_ROWS % JET_POINTS == 0, "a tile is whole groups of points");

/* table (1 + dimension, used, m) of each factor, from jets in double precision. */
static void tile_tables(const cpu *c, workspace *w, size_t m, bool jets)
{
    const npmd_domain *dom = c->plan.domain;
    const bool waves = c->plan.encoding->waves;
    const double unit = waves ? sqrt(NPMD_PI) : 1.0; /* waves: plain cosines and sines */
    for (int d = 0; d < dom->factors; d++) {
        const manifold *man = dom->factor[d];
        const factor_table *t = &c->table[d];
        const int frequency = c->plan.encoding->frequency[d], functions = man->functions(man, frequency);
        const int parts = jets && !waves ? 1 + man->dimension : 1;
        const size_t columns = (size_t)dom->columns;
        for (size_t i = 0; i < m; i += JET_POINTS) {
            man->jets(man, JET_POINTS, w->x + i * columns + dom->column[d], columns, frequency, parts, w->scratch);
            for (int r = 0; r < parts; r++)
                for (int j = 0; j < t->used; j++) {
                    const double *from = w->scratch + (size_t)(r * functions + t->function[j]) * JET_POINTS;
                    float *to = w->table + t->offset + (size_t)(r * t->used + j) * m + i;
                    for (size_t k = 0; k < JET_POINTS; k++)
                        to[k] = (float)(unit * from[k]);
                }
        }
    }
}

/* scale x product number j and its derivatives, at out one row after another, m points each. */
static void encode_product(const cpu *c, const workspace *w, int j, float scale, size_t m, int T, float *out)
{
    const kernels *kernel = c->kernels;
    const npmd_domain *dom = c->plan.domain;
    const int D = dom->factors, *slot = c->slot + (size_t)j * (size_t)D;
    for (int row = 0, d_row = 0; row <= T;
         row++, out += m) { /* row 0: values; then the direction row - 1, of factor d_row */
        while (row > 0 && row > dom->direction[d_row] + dom->factor[d_row]->dimension)
            d_row++;
        const float *first = NULL;
        for (int d = 0; d < D; d++) {
            const factor_table *t = &c->table[d];
            const int part = row > 0 && d == d_row ? row - dom->direction[d] : 0;
            const float *values = w->table + t->offset + (size_t)(part * t->used + slot[d]) * m;
            if (D == 1)
                kernel->scale(m, scale, values, out);
            else if (d == 1)
                kernel->multiply(m, scale, first, values, out);
            else if (d > 1)
                kernel->multiply(m, 1.0f, values, out, out);
            else
                first = values;
        }
    }
}

/* Feature k stands at eta + k ld, its rows one after another, m points each. */
static void encode_products(const cpu *c, workspace *w, size_t m, int T, size_t ld)
{
    const encoding *enc = c->plan.encoding;
    for (int k = 0; k < enc->features; k++)
        encode_product(c, w, k, (float)enc->scale[k], m, T, w->eta + (size_t)k * ld);
}

/* Block by block: eta (features, rows) = matrix (features, functions) x products (functions, rows). The zero
 * rows of a padded matrix fall on the features of the next block, which is yet to come. */
static void encode_rotated(const cpu *c, workspace *w, size_t m, int T, size_t ld)
{
    const encoding *enc = c->plan.encoding;
    const float *matrix = c->rotation;
    float *eta = w->eta;
    for (int b = 0, j = 0; b < enc->blocks; b++) {
        const size_t features = (size_t)enc->block[b].features, functions = (size_t)enc->block[b].functions,
                     padded = round_up(features, ROTATED_ROWS);
        for (size_t i = 0; i < functions; i++, j++)
            encode_product(c, w, j, 1.0f, m, T, w->block + i * ld);
        c->kernels->product(padded, (size_t)(1 + T) * m, functions,
                            (strided){ .p = matrix, .row = functions, .column = 1 }, w->block, ld, eta, ld, 0);
        matrix += padded * functions;
        eta += features * ld;
    }
}

/* A factor's columns, their derivatives along its own directions, and none along all others. */
static void encode_columns(const cpu *c, workspace *w, size_t m, int T, size_t ld)
{
    const npmd_domain *dom = c->plan.domain;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *man = dom->factor[d];
        const int columns = man->columns, directions = T > 0 ? man->dimension : 0;
        float *eta = w->eta + (size_t)dom->column[d] * ld;
        for (int j = 0; j < columns; j++)
            memset(eta + (size_t)j * ld + m, 0, (size_t)T * m * sizeof *eta);
        for (size_t i = 0; i < m; i++) {
            const double *x = w->x + i * (size_t)dom->columns + dom->column[d];
            double frame[MANIFOLD_MAX_DIMENSION * MANIFOLD_MAX_COLUMNS];
            if (T > 0)
                man->frame(man, x, frame);
            for (int j = 0; j < columns; j++) {
                float *at = eta + (size_t)j * ld + i;
                at[0] = (float)x[j];
                for (int t = 0; t < directions; t++)
                    at[(size_t)(1 + dom->direction[d] + t) * m] = (float)frame[t * columns + j];
            }
        }
    }
}

/* The last row of all but waves: -lambda x value. */
static void encode_laplacians(const cpu *c, workspace *w, size_t m, int T, size_t ld)
{
    const encoding *enc = c->plan.encoding;
    for (int k = 0; k < enc->features; k++) {
        float *eta = w->eta + (size_t)k * ld;
        c->kernels->scale(m, (float)-enc->lambda[k], eta, eta + (size_t)(T + 1) * m);
    }
}

static void encode_waves(const cpu *c, workspace *w, size_t m, int T, bool lap, size_t ld)
{
    const kernels *kernel = c->kernels;
    const encoding *enc = c->plan.encoding;
    const int D = c->plan.domain->factors;
    for (int k = 0; k < enc->vectors; k++) {
        const int *frequency = enc->function + (size_t)k * (size_t)D, *slot = c->slot + (size_t)k * (size_t)D;
        const bool has_sine = enc->vectors + k < enc->features;
        float *re = w->eta + (size_t)k * ld;
        float *im = w->eta + (has_sine ? (size_t)(enc->vectors + k) : c->features) * ld; /* or the spare row */
        const float scale = (float)enc->scale[k];
        bool begun = false;
        for (int d = 0; d < D; d++)
            if (slot[d] >= 0) {
                const float *cosine = w->table + c->table[d].offset + (size_t)slot[d] * m,
                            sign = frequency[d] < 0 ? -1.0f : 1.0f;
                if (begun) {
                    kernel->turn(m, cosine, cosine + m, sign, re, im);
                } else {
                    kernel->scale(m, scale, cosine, re);
                    kernel->scale(m, scale * sign, cosine + m, im);
                    begun = true;
                }
            }
        for (size_t i = 0; !begun && i < m; i++) { /* the constant */
            re[i] = scale;
            im[i] = 0.0f;
        }
        for (int d = 0; d < T; d++) {
            kernel->scale(m, (float)-frequency[d], im, re + (size_t)(d + 1) * m);
            kernel->scale(m, (float)frequency[d], re, im + (size_t)(d + 1) * m);
        }
        if (lap) {
            kernel->scale(m, (float)-enc->lambda[k], re, re + (size_t)(T + 1) * m);
            kernel->scale(m, (float)-enc->lambda[k], im, im + (size_t)(T + 1) * m);
        }
    }
}

/* The encoding of the m points in w->x, by features. */
static strided tile_encode(const cpu *c, workspace *w, size_t m, int T, bool lap)
{
    const size_t ld = (size_t)(1 + T + lap) * m + TILE_ROWS;
    const encoding *enc = c->plan.encoding;
    if (!enc->columns)
        tile_tables(c, w, m, T > 0);
    if (enc->columns)
        encode_columns(c, w, m, T, ld);
    else if (enc->waves)
        encode_waves(c, w, m, T, lap, ld);
    else if (enc->blocks > 0)
        encode_rotated(c, w, m, T, ld);
    else
        encode_products(c, w, m, T, ld);
    if (lap && !enc->waves)
        encode_laplacians(c, w, m, T, ld);
    for (size_t k = (size_t)enc->features; k < c->features; k++) /* padding; ld changes between terms */
        memset(w->eta + k * ld, 0, ld * sizeof(float));
    return (strided){ .p = w->eta, .row = 1, .column = ld };
}

/* The cached encodings of the data rows behind points first .. first + count - 1, by rows. */
static strided tile_gather(const cpu *c, workspace *w, const point_source *s, size_t first, size_t count, size_t m)
{
    const size_t K = (size_t)c->plan.encoding->features, ld = c->features + TILE_UNITS;
    size_t rows[TILE_MOST];
    assert(m <= TILE_MOST);
    for (size_t i = 0; i < m; i++)
        rows[i] = source_data_row(s, first + (i < count ? i : 0));
    for (size_t i = 0; i < m; i++) {
        const size_t row = rows[i];
        if (i + 2 < m) /* rows lie anywhere in memory: what comes next is on its way meanwhile */
            for (size_t k = 0; k < K; k += 16)
                __builtin_prefetch(c->cache + rows[i + 2] * K + k);
        memcpy(w->gathered + i * ld, c->cache + row * K, K * sizeof(float));
        if (i < count)
            w->weight[i] = points_weight(s->points, row) / (double)s->count;
    }
    return (strided){ .p = w->gathered, .row = ld, .column = 1 };
}

/* Points first .. first + count - 1 of the source, padded to m points by copies of the first. */
strided tile_points(const cpu *c, workspace *w, const point_source *s, size_t first, size_t count, size_t m, int T,
                    bool lap)
{
    const size_t columns = (size_t)c->plan.domain->columns;
    if (c->cache != NULL && T == 0 && s->kind == SOURCE_DATA && s->points == c->points)
        return tile_gather(c, w, s, first, count, m);
    source_fill(s, first, count, w->x, w->weight);
    for (size_t i = count; i < m; i++)
        memcpy(w->x + i * columns, w->x, columns * sizeof *w->x);
    return tile_encode(c, w, m, T, lap);
}

/* ---- forward and back -------------------------------------------------------------------------------------------- */

/* w->v from the last hidden layer h and the encoding; the m value rows come first. */
static void tile_output(const cpu *c, workspace *w, strided eta, const float *h, size_t m, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        w->v[i] = i < m ? c->constant : 0.0f;
    if (c->hidden > 0)
        c->kernels->output_forward(rows, c->width, c->ld, h, c->weights + c->output, w->v);
    if (c->has_linear)
        c->kernels->linear_forward(rows, (size_t)c->plan.shape.features, eta, c->weights + c->linear, w->v);
}

/* w->v (rows m) from the encoding; activations stay in w->pre and w->post for the way back. */
void tile_forward(const cpu *c, workspace *w, strided eta, size_t m, int T, bool lap)
{
    const kernels *kernel = c->kernels;
    const layer_kernels *activation = cpu_activation(c);
    const size_t rows = (size_t)(1 + T + lap) * m;
    strided below = eta;
    size_t inner = (size_t)c->plan.shape.features;
    for (int l = 0; l < c->hidden; l++) {
        const layer_view *v = &c->layer[l];
        float *pre = w->pre + (size_t)l * c->rows * c->ld, *post = w->post + (size_t)l * c->rows * c->ld;
        kernel->product(rows, v->outputs, inner, below, c->weights + v->forward, v->ld_out, pre, c->ld, 0);
        activation->forward(m, T, lap, v->outputs, c->ld, c->weights + v->bias, pre, post);
        below = (strided){ .p = post, .row = c->ld, .column = 1 };
        inner = c->width;
    }
    tile_output(c, w, eta, below.p, m, rows);
}

void tile_values(const cpu *c, workspace *w, strided eta, size_t m)
{
    const kernels *kernel = c->kernels;
    const layer_kernels *activation = cpu_activation(c);
    strided below = eta;
    size_t inner = (size_t)c->plan.shape.features;
    for (int l = 0; l < c->hidden; l++) {
        const layer_view *v = &c->layer[l];
        float *h = w->bar[l % 2];
        kernel->product(m, v->outputs, inner, below, c->weights + v->forward, v->ld_out, h, c->ld, 0);
        activation->values(m, v->outputs, c->ld, c->weights + v->bias, h);
        below = (strided){ .p = h, .row = c->ld, .column = 1 };
        inner = c->width;
    }
    tile_output(c, w, eta, below.p, m, m);
}

/* Adds to the lane's gradient what w->g (rows m), the derivative with respect to w->v, asks for. */
void tile_backward(const cpu *c, workspace *w, strided eta, size_t m, int T, bool lap, float *gradient)
{
    const kernels *kernel = c->kernels;
    const layer_kernels *activation = cpu_activation(c);
    const size_t rows = (size_t)(1 + T + lap) * m;
    float constant = 0.0f;
    for (size_t i = 0; i < m; i++)
        constant += w->g[i];
    gradient[c->constant_gradient] += constant;
    if (c->has_linear)
        kernel->linear_adjoint(rows, (size_t)c->plan.shape.features, eta, w->g, gradient + c->linear_gradient);
    if (c->hidden == 0)
        return;
    float *bar = w->bar[0], *next = w->bar[1];
    kernel->output_adjoint(rows, c->width, c->ld, w->post + (size_t)(c->hidden - 1) * c->rows * c->ld,
                           c->weights + c->output, w->g, bar, gradient + c->output_gradient);
    for (int l = c->hidden - 1; l >= 0; l--) {
        const layer_view *v = &c->layer[l];
        const size_t at = (size_t)l * c->rows * c->ld;
        activation->adjoint(m, T, lap, v->outputs, c->ld, w->pre + at, w->post + at, bar, gradient + v->bias_gradient);
        /* the transpose of what lies below, times bar */
        const strided below = l == 0 ? (strided){ .p = eta.p, .row = eta.column, .column = eta.row }
                                     : (strided){ .p = w->post + at - c->rows * c->ld, .row = 1, .column = c->ld };
        kernel->product(v->inputs, v->outputs, rows, below, bar, c->ld, gradient + v->gradient, v->ld_out, 1);
        if (l > 0) {
            kernel->product(rows, v->inputs, v->outputs, (strided){ .p = bar, .row = c->ld, .column = 1 },
                            c->weights + v->backward, v->ld_in, next, c->ld, 0);
            float *swap = bar;
            bar = next;
            next = swap;
        }
    }
}

/* The sum over the tile's points of w_i g(jet), and w->g = factor x its derivative; padding gets none. */
double tile_seed(workspace *w, const term_request *what, size_t count, size_t m, int T, bool lap)
{
    double sum = 0.0;
    memset(w->g, 0, (size_t)(1 + T + lap) * m * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        const double weight = w->weight[i], pull = weight * what->factor;
        switch (what->kind) {
        case TERM_DATA:
            sum += weight * (double)w->v[i];
            w->g[i] = (float)pull;
            break;
        case TERM_INTEGRAL: {
            const double e = exp((double)w->v[i]);
            sum += weight * e;
            w->g[i] = (float)(pull * e);
            break;
        }
        case TERM_LAPLACIAN: {
            const double laplacian = (double)w->v[(size_t)(T + 1) * m + i];
            sum += weight * laplacian * laplacian;
            w->g[(size_t)(T + 1) * m + i] = (float)(2.0 * pull * laplacian);
            break;
        }
        case TERM_GRADIENT:
            for (int t = 1; t <= T; t++) {
                const double slope = (double)w->v[(size_t)t * m + i];
                sum += weight * slope * slope;
                w->g[(size_t)t * m + i] = (float)(2.0 * pull * slope);
            }
            break;
        }
    }
    return sum;
}
