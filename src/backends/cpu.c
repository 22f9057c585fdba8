/* cpu.c - the cpu backend: float32 tiles of points that stay in cache through encoding, all layers, and back.
 *
 * Tiles are dealt to LANES lanes by their number; a lane adds its tiles' gradients in order, and lanes are added in
 * order and in double precision. Threads take whole lanes, so the result does not depend on how many there are.
 *
 * Weights are kept twice in float32, with omega folded in: as (inputs, outputs) for the way forward, as (outputs,
 * inputs) for the way back; gradients as (inputs, outputs). theta and its moments are kept in double. */
#include "cpu.h"

static int thread_count(int asked)
{
    const int most = threads_wanted(asked);
    return most < LANES ? most : LANES;
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

static void cpu_layout(cpu *c)
{
    const field_shape *f = &c->plan.shape;
    size_t at = 0, gradient = 0;
    c->width = round_up((size_t)f->width, TILE_UNITS);
    c->ld = c->width + TILE_UNITS;
    c->features = round_up((size_t)f->features, TILE_UNITS);
    c->hidden = f->depth - 1;
    c->has_linear = f->skip || f->depth == 1;
    for (int l = 0; l < c->hidden; l++) {
        layer_view *v = &c->layer[l];
        v->inputs = l == 0 ? c->features : c->width;
        v->outputs = c->width;
        v->ld_in = v->inputs + TILE_UNITS;
        v->ld_out = c->ld;
        v->forward = at;
        at += v->inputs * v->ld_out;
        v->backward = at;
        at += l == 0 ? 0 : v->outputs * v->ld_in;
        v->bias = at;
        at += v->outputs;
        v->gradient = gradient;
        gradient += v->inputs * v->ld_out;
        v->bias_gradient = gradient;
        gradient += v->outputs;
    }
    c->output = at;
    c->linear = at + c->width;
    c->weights_size = c->linear + c->features;
    c->output_gradient = gradient;
    c->linear_gradient = gradient + c->width;
    c->constant_gradient = c->linear_gradient + c->features;
    c->gradient_size = c->constant_gradient + TILE_UNITS;
}

/* Points in a tile: as many as keep its activations within TILE_BYTES. */
static void cpu_tiles(cpu *c)
{
    const size_t layers = (size_t)c->hidden, jet = (size_t)c->plan.shape.directions + 2;
    const size_t row_bytes = sizeof(float) * ((2 * layers + 2) * c->ld + 2 * c->features);
    size_t rows = TILE_BYTES / row_bytes / TILE_ROWS * TILE_ROWS;
    rows = rows < 48 ? 48 : rows > TILE_MOST ? TILE_MOST : rows;
    c->tile_values = rows;
    c->tile_jets = round_up(rows / jet, TILE_ROWS);
    if (c->tile_jets * jet > rows && c->tile_jets > TILE_ROWS)
        c->tile_jets -= TILE_ROWS;
    c->rows = c->tile_jets * jet > rows ? c->tile_jets * jet : rows;
}

/* Copies theta to the float32 buffers. */
static void cpu_refresh(cpu *c)
{
    const field_shape *f = &c->plan.shape;
    const double *theta = c->vector[VECTOR_THETA], omega = field_omega(f);
    for (int l = 0; l < c->hidden; l++) {
        const layer_view *v = &c->layer[l];
        const size_t inputs = (size_t)field_inputs(f, l + 1), outputs = (size_t)f->width;
        const double *W = theta + field_weights(f, l + 1), *b = theta + field_biases(f, l + 1);
        for (size_t j = 0; j < outputs; j++) {
            for (size_t i = 0; i < inputs; i++) {
                const float w = (float)(omega * W[j * inputs + i]);
                c->weights[v->forward + i * v->ld_out + j] = w;
                if (l > 0)
                    c->weights[v->backward + j * v->ld_in + i] = w;
            }
            c->weights[v->bias + j] = (float)(omega * b[j]);
        }
    }
    const double *W = theta + field_weights(f, f->depth);
    for (size_t j = 0; c->hidden > 0 && j < (size_t)f->width; j++)
        c->weights[c->output + j] = (float)W[j];
    /* the linear part: the skip, and the whole network when it has one layer */
    for (size_t k = 0; k < (size_t)f->features; k++)
        c->weights[c->linear + k] = (float)((f->skip ? theta[field_skip(f) + k] : 0.0) + (f->depth == 1 ? W[k] : 0.0));
    c->constant = (float)theta[field_biases(f, f->depth)];
}

/* Adds the lanes, in order, to the gradient in double; lanes are left zero. */
static void cpu_collect(cpu *c)
{
    const field_shape *f = &c->plan.shape;
    double *gradient = c->vector[VECTOR_GRADIENT];
    const double omega = field_omega(f);
    if (!c->gradient_in_lanes)
        return;
    for (int n = 0; n < LANES; n++) {
        const float *g = c->lanes[n].gradient;
        for (int l = 0; l < c->hidden; l++) {
            const layer_view *v = &c->layer[l];
            const size_t inputs = (size_t)field_inputs(f, l + 1), outputs = (size_t)f->width;
            double *W = gradient + field_weights(f, l + 1), *b = gradient + field_biases(f, l + 1);
            for (size_t j = 0; j < outputs; j++) {
                for (size_t i = 0; i < inputs; i++)
                    W[j * inputs + i] += omega * (double)g[v->gradient + i * v->ld_out + j];
                b[j] += omega * (double)g[v->bias_gradient + j];
            }
        }
        double *W = gradient + field_weights(f, f->depth);
        for (size_t j = 0; c->hidden > 0 && j < (size_t)f->width; j++)
            W[j] += (double)g[c->output_gradient + j];
        for (size_t k = 0; k < (size_t)f->features; k++) {
            const double linear = (double)g[c->linear_gradient + k];
            if (f->skip)
                gradient[field_skip(f) + k] += linear;
            if (f->depth == 1)
                W[k] += linear;
        }
        gradient[field_biases(f, f->depth)] += (double)g[c->constant_gradient];
        memset(c->lanes[n].gradient, 0, c->gradient_size * sizeof(float));
    }
    c->gradient_in_lanes = false;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static void workspace_free(workspace *w)
{
    memory_free(w->x);
    memory_free(w->weight);
    memory_free(w->scratch);
    memory_free(w->table);
    memory_free(w->eta);
    memory_free(w->gathered);
    memory_free(w->pre);
    memory_free(w->post);
    memory_free(w->bar[0]);
    memory_free(w->bar[1]);
    memory_free(w->v);
    memory_free(w->g);
    memory_free(w->block);
}

static void cpu_close(void *self)
{
    cpu *c = self;
    if (c == NULL)
        return;
    for (int i = 0; i < VECTORS; i++)
        memory_free(c->vector[i]);
    for (int t = 0; c->space != NULL && t < c->threads; t++)
        workspace_free(&c->space[t]);
    for (int l = 0; l < LANES; l++)
        memory_free(c->lanes[l].gradient);
    for (int d = 0; d < NPMD_MAX_FACTORS; d++)
        memory_free(c->table[d].function);
    memory_free(c->slot);
    memory_free(c->rotation);
    memory_free(c->space);
    memory_free(c->weights);
    memory_free(c->cache);
    squares_close(c->squares);
    memory_free(c);
}

/* The eigenfunctions that occur, factor by factor. Plane waves need the cosine and the sine of |frequency|,
 * which stand side by side: the slot is that of the cosine, or -1 for frequency 0. */
static npmd_status cpu_tables(cpu *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const encoding *enc = c->plan.encoding;
    const npmd_domain *dom = c->plan.domain;
    int *place = NULL;
    size_t offset = 0;
    TRY(memory_new(&c->slot, (size_t)enc->vectors * (size_t)dom->factors, err));
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        factor_table *t = &c->table[d];
        const int functions = m->functions(m, enc->frequency[d]);
        memory_free(place);
        place = NULL;
        TRY(memory_new(&place, functions, err)); /* 1 + slot */
        TRY(memory_new(&t->function, functions, err));
        for (int k = 0; k < enc->vectors; k++) {
            const size_t at = (size_t)k * (size_t)dom->factors + (size_t)d;
            const int number = enc->function[at], first = enc->waves ? 2 * abs(number) - 1 : number;
            if (enc->waves && number == 0) {
                c->slot[at] = -1;
                continue;
            }
            if (place[first] == 0) {
                t->function[t->used] = first;
                place[first] = ++t->used;
                if (enc->waves)
                    t->function[t->used++] = first + 1;
            }
            c->slot[at] = place[first] - 1;
        }
        t->offset = offset;
        offset += (size_t)(1 + m->dimension) * (size_t)t->used * c->tile_values;
    }
    for (int t = 0; t < c->threads; t++)
        TRY(memory_new(&c->space[t].table, offset + 1, err));
done:
    memory_free(place);
    return st;
}

/* Matrices (features, functions) in float32, every one padded with zero rows. */
static npmd_status cpu_rotation(cpu *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const encoding *enc = c->plan.encoding;
    const double *from = enc->rotation, *scale = enc->scale;
    size_t numbers = 0;
    for (int b = 0; b < enc->blocks; b++)
        numbers += round_up((size_t)enc->block[b].features, ROTATED_ROWS) * (size_t)enc->block[b].functions;
    TRY(memory_new(&c->rotation, numbers, err));
    float *to = c->rotation;
    for (int b = 0; b < enc->blocks; b++) {
        const size_t features = (size_t)enc->block[b].features, functions = (size_t)enc->block[b].functions;
        for (size_t i = 0; i < features; i++, scale++)
            for (size_t j = 0; j < functions; j++)
                to[i * functions + j] = (float)(*scale * *from++);
        to += round_up(features, ROTATED_ROWS) * functions;
    }
done:
    return st;
}

static npmd_status workspace_open(cpu *c, workspace *w, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t layers = (size_t)c->hidden, rows = c->rows;
    const bool rotated = c->plan.encoding->blocks > 0;
    size_t scratch = 1;
    for (int d = 0; d < c->plan.domain->factors; d++) {
        const manifold *m = c->plan.domain->factor[d];
        const size_t need = JET_POINTS * (size_t)(1 + m->dimension)
                            * (size_t)m->functions(m, c->plan.encoding->frequency[d]);
        scratch = need > scratch ? need : scratch;
    }
    TRY(memory_new(&w->x, c->tile_values * (size_t)c->plan.domain->columns, err));
    TRY(memory_new(&w->weight, c->tile_values, err));
    TRY(memory_new(&w->scratch, scratch, err));
    /* more features than there are: a sine nobody wants, or the padding of the last matrix */
    TRY(memory_new(&w->eta, (c->features + (rotated ? ROTATED_ROWS : 1)) * (rows + TILE_ROWS), err));
    if (rotated)
        TRY(memory_new(&w->block, ENCODING_BLOCK * (rows + TILE_ROWS), err));
    TRY(memory_new(&w->gathered, c->tile_values * (c->features + TILE_UNITS), err));
    TRY(memory_new(&w->pre, layers * rows * c->ld + 1, err));
    TRY(memory_new(&w->post, layers * rows * c->ld + 1, err));
    TRY(memory_new(&w->bar[0], rows * c->ld, err));
    TRY(memory_new(&w->bar[1], rows * c->ld, err));
    TRY(memory_new(&w->v, rows + TILE_ROWS, err));
    TRY(memory_new(&w->g, rows + TILE_ROWS, err));
done:
    return st;
}

static npmd_status cpu_open(const field_plan *plan, int device, int threads, void **self, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cpu *c = NULL;
    (void)device;
    TRY(memory_new(&c, 1, err));
    c->plan = *plan;
    c->kernels = kernels_select(NULL);
    c->threads = thread_count(threads);
    c->parameters = field_parameters(&plan->shape);
    cpu_layout(c);
    cpu_tiles(c);
    TRY(memory_new(&c->vector[VECTOR_THETA], c->parameters, err));
    TRY(memory_new(&c->weights, c->weights_size, err));
    TRY(memory_new(&c->space, c->threads, err));
    for (int t = 0; t < c->threads; t++)
        TRY(workspace_open(c, &c->space[t], err));
    TRY(cpu_tables(c, err));
    if (plan->encoding->blocks > 0)
        TRY(cpu_rotation(c, err));
    *self = c;
    c = NULL;
done:
    cpu_close(c);
    return st;
}

/* What only training needs; evaluation does without. */
static npmd_status cpu_open_training(cpu *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int i = 0; i < VECTORS; i++)
        if (c->vector[i] == NULL)
            TRY(memory_new(&c->vector[i], c->parameters, err));
    for (int l = 0; l < LANES; l++)
        if (c->lanes[l].gradient == NULL)
            TRY(memory_new(&c->lanes[l].gradient, c->gradient_size, err));
done:
    return st;
}

size_t backend_bytes(const char *device, int threads, const field_plan *plan, size_t n)
{
    const size_t parameters = field_parameters(&plan->shape), K = (size_t)plan->shape.features;
    /* products that a rotation combines: at most, when every feature is a block of its own */
    const size_t combined = plan->rotated ? K * ENCODING_BLOCK : 0,
                 indices = combined * (size_t)plan->domain->factors * sizeof(int);
    size_t bytes = VECTORS * parameters * sizeof(double) + combined * sizeof(double) + indices;
    if (device[0] != '\0' && strcmp(device, "cpu") != 0) /* tiles and caches are the cpu's; a card has its own memory */
        return bytes;
    cpu c = { .plan = *plan };
    cpu_layout(&c);
    cpu_tiles(&c);
    const size_t tile = (size_t)(2 * c.hidden + 2) * c.rows * c.ld + 2 * c.rows * (c.features + TILE_UNITS)
                        + (plan->rotated ? ENCODING_BLOCK * c.rows : 0);
    bytes += sizeof(float)
             * (LANES * c.gradient_size + c.weights_size + ROTATED_ROWS * combined
                + (size_t)thread_count(threads) * tile);
    bytes += indices;
    if (n * K * sizeof(float) <= CACHE_BYTES)
        bytes += n * K * sizeof(float);
    return bytes;
}

size_t backend_squares_bytes(int threads, const field_plan *plan)
{
    cpu c = { .plan = *plan, .threads = thread_count(threads) };
    cpu_layout(&c);
    cpu_tiles(&c);
    return squares_bytes(&c);
}

/* ---- the table of functions -------------------------------------------------------------------------------------- */

static npmd_status cpu_term(void *self, const term_request *what, double *sum, npmd_error *err)
{
    cpu *c = self;
    const bool lap = what->kind == TERM_LAPLACIAN, jets = lap || what->kind == TERM_GRADIENT;
    const int T = jets ? c->plan.shape.directions : 0;
    const size_t most = jets ? c->tile_jets : c->tile_values, count = what->points->count;
    const size_t tiles = (count + most - 1) / most;
    const npmd_status st = cpu_open_training(c, err);
    if (st != NPMD_OK)
        return st;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int n = 0; n < LANES; n++) {
        workspace *w = &c->space[omp_get_thread_num()];
        double sum_here = 0.0; /* written once: lanes share cache lines */
        for (size_t tile = (size_t)n; tile < tiles; tile += LANES) {
            const size_t first = tile * most, here = count - first < most ? count - first : most;
            const size_t m = round_up(here, TILE_ROWS);
            const strided eta = tile_points(c, w, what->points, first, here, m, T, lap);
            tile_forward(c, w, eta, m, T, lap);
            sum_here += tile_seed(w, what, here, m, T, lap);
            tile_backward(c, w, eta, m, T, lap, c->lanes[n].gradient);
        }
        c->lanes[n].sum = sum_here;
    }
    *sum = 0.0;
    for (int n = 0; n < LANES; n++)
        *sum += c->lanes[n].sum;
    c->gradient_in_lanes = true;
    return NPMD_OK;
}

static npmd_status cpu_update(void *self, const optimiser_step *step, double *gradient_norm, npmd_error *err)
{
    cpu *c = self;
    const npmd_status st = cpu_open_training(c, err);
    if (st != NPMD_OK)
        return st;
    cpu_collect(c);
    *gradient_norm = optimiser_apply(step, c->parameters, c->vector[VECTOR_THETA], c->vector[VECTOR_GRADIENT],
                                     c->vector[VECTOR_MOMENT1], c->vector[VECTOR_MOMENT2]);
    cpu_refresh(c);
    return NPMD_OK;
}

static npmd_status cpu_evaluate(void *self, const double *x, size_t n, jet_rows what, double *out, npmd_error *err)
{
    cpu *c = self;
    const bool lap = what == JET_ALL;
    const int T = lap ? c->plan.shape.directions : 0;
    const size_t most = lap ? c->tile_jets : c->tile_values, tiles = (n + most - 1) / most, R = (size_t)(1 + T + lap);
    (void)err;
#pragma omp parallel for schedule(dynamic, 4) num_threads(c->threads)
    for (size_t tile = 0; tile < tiles; tile++) {
        workspace *w = &c->space[omp_get_thread_num()];
        const size_t first = tile * most, here = n - first < most ? n - first : most, m = round_up(here, TILE_ROWS);
        point_source s;
        source_fixed(&s, c->plan.domain, x, NULL, n);
        const strided eta = tile_points(c, w, &s, first, here, m, T, lap);
        if (lap)
            tile_forward(c, w, eta, m, T, lap);
        else
            tile_values(c, w, eta, m);
        for (size_t i = 0; i < here; i++)
            for (size_t r = 0; r < R; r++)
                out[(first + i) * R + r] = (double)w->v[r * m + i];
    }
    return NPMD_OK;
}

static npmd_status cpu_set_points(void *self, const npmd_points *pts, npmd_error *err)
{
    cpu *c = self;
    const size_t K = (size_t)c->plan.encoding->features, most = c->tile_values, tiles = (pts->n + most - 1) / most;
    memory_free(c->cache);
    c->cache = NULL;
    c->points = pts;
    if (pts->n > CACHE_BYTES / sizeof(float) / K)
        return NPMD_OK;
    float *cache = NULL;
    const npmd_status st = memory_new(&cache, pts->n * K, err);
    if (st != NPMD_OK)
        return st;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (size_t tile = 0; tile < tiles; tile++) {
        workspace *w = &c->space[omp_get_thread_num()];
        const size_t first = tile * most, here = pts->n - first < most ? pts->n - first : most;
        const size_t m = round_up(here, TILE_ROWS);
        point_source s;
        source_data(&s, pts, 0, pts->n, false, (rng_key){ 0 });
        const strided eta = tile_points(c, w, &s, first, here, m, 0, false);
        for (size_t i = 0; i < here; i++)
            for (size_t k = 0; k < K; k++)
                cache[(first + i) * K + k] = eta.p[i * eta.row + k * eta.column];
    }
    c->cache = cache;
    return NPMD_OK;
}

static npmd_status cpu_get(void *self, backend_vector which, double *out, npmd_error *err)
{
    cpu *c = self;
    const npmd_status st = which == VECTOR_THETA ? NPMD_OK : cpu_open_training(c, err);
    if (st != NPMD_OK)
        return st;
    if (which == VECTOR_GRADIENT)
        cpu_collect(c);
    memcpy(out, c->vector[which], c->parameters * sizeof *out);
    return NPMD_OK;
}

static npmd_status cpu_put(void *self, backend_vector which, const double *in, npmd_error *err)
{
    cpu *c = self;
    const npmd_status st = which == VECTOR_THETA ? NPMD_OK : cpu_open_training(c, err);
    if (st != NPMD_OK)
        return st;
    if (which == VECTOR_GRADIENT)
        cpu_collect(c); /* empties the lanes */
    memcpy(c->vector[which], in, c->parameters * sizeof *in);
    if (which == VECTOR_THETA)
        cpu_refresh(c);
    return NPMD_OK;
}

const char *cpu_kernels_name(void)
{
    return kernels_select(NULL)->name;
}

void cpu_set_kernels(void *self, const kernels *variant)
{
    cpu *c = self;
    c->kernels = variant; /* buffers have the same layout for all */
}

const backend_ops BACKEND_CPU = {
    .name = "cpu",
    .open = cpu_open,
    .set_points = cpu_set_points,
    .term = cpu_term,
    .squares = cpu_squares,
    .update = cpu_update,
    .evaluate = cpu_evaluate,
    .get = cpu_get,
    .put = cpu_put,
    .close = cpu_close,
};
