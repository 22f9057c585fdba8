/* relu.c - the paper's plain network: ReLU layers on the point's own columns, stopped early.
 *
 *     h_0 = x,   h_l = max(0, W_l h_(l-1) + b_l) for l = 1 .. L-1,   v = W_L h_(L-1) + b_L
 *
 * x are angles in radians in [0, 2 pi) and unit vectors: the paper's identity encoding, which does not know that 0 and
 * 2 pi are one point. v is piecewise linear in x, so there is no roughness to penalise: the objective is
 * -mean v over data + mean exp v over the domain, and a share of the points is held out. At every look at them
 *
 *     criterion = mean of f^2 - 2 mean of f at held-out points,      f the normalised relative density,
 *
 * the integrated squared error but for a constant; the weights with the least criterion are the model.
 *
 * In double: the loops are short, and their adjoint can be held against differences. */
#include "estimators.h"

#include <stdio.h>

#define TILE 64         /* points that pass through the layers together */
#define LOOKS 50        /* at the held-out points, in a fit of full length */
#define LEAST_POINTS 20 /* fewer are too few to hold any out */
#define MOST_LOOK_POINTS 65536

/* ---- the network ---------------------------------------------------------------------------------------- */

typedef struct relu_lane {
    double *x, *weight;          /* of a tile: (TILE, columns), (TILE) */
    double *h[FIELD_MAX_DEPTH];  /* (TILE, ld): h_0 .. h_(L-1) */
    double *bar, *next;          /* (TILE, ld) */
    double *W[FIELD_MAX_DEPTH];  /* gradients: (units, ld), for layers 1 .. L-1 */
    double *b[FIELD_MAX_DEPTH];  /* (ld) */
    double *output, output_bias; /* (ld) */
    double v[TILE], sum;
} relu_lane;

struct relu_work {
    const npmd_domain *domain;
    const kernels *inner;
    field_shape shape;
    int threads;
    bool gradients;           /* there is room for them */
    size_t inputs, units, ld; /* of the first layer and of the others, filled up with zeros */
    double *block;
    double *W[FIELD_MAX_DEPTH], *transposed[FIELD_MAX_DEPTH]; /* (outputs, ld), (inputs, ld) */
    double *b[FIELD_MAX_DEPTH], *output, output_bias;         /* (ld) */
    relu_lane lane[LANES];
};

static size_t padded(size_t count, size_t to)
{
    return (count + to - 1) / to * to;
}

static size_t layer_inputs(const relu_work *w, int l)
{
    return l == 1 ? w->inputs : w->units;
}

/* Cuts the block into its parts; with block NULL only counts its doubles. */
static size_t work_cut(relu_work *w, double *block)
{
    const size_t ld = w->ld, rows = w->units > w->inputs ? w->units : w->inputs;
    const int layers = w->shape.depth;
    size_t used = 0;
#define CUT(pointer, count) (pointer) = block == NULL ? NULL : block + used, used += padded(count, 8)
    for (int l = 1; l < layers; l++) {
        CUT(w->W[l], w->units * ld);
        CUT(w->transposed[l], rows * ld);
        CUT(w->b[l], ld);
    }
    CUT(w->output, ld);
    for (int i = 0; i < LANES; i++) {
        relu_lane *lane = &w->lane[i];
        CUT(lane->x, TILE * (size_t)w->domain->columns);
        CUT(lane->weight, TILE);
        for (int l = 0; l < layers; l++)
            CUT(lane->h[l], TILE * ld);
        CUT(lane->bar, TILE * ld);
        CUT(lane->next, TILE * ld);
        if (!w->gradients)
            continue;
        for (int l = 1; l < layers; l++) {
            CUT(lane->W[l], w->units * ld);
            CUT(lane->b[l], ld);
        }
        CUT(lane->output, ld);
    }
#undef CUT
    return used;
}

static relu_work work_shape(const npmd_domain *dom, const field_shape *shape, int threads, bool gradients)
{
    relu_work w = { .domain = dom,
                    .inner = kernels_select(NULL),
                    .shape = *shape,
                    .threads = threads,
                    .gradients = gradients,
                    .inputs = padded((size_t)shape->features, TILE_UNITS),
                    .units = padded((size_t)shape->width, TILE_UNITS) };
    w.ld = (w.inputs > w.units ? w.inputs : w.units) + 8;
    return w;
}

npmd_status relu_work_open(const npmd_domain *dom, const field_shape *shape, int threads, bool gradients,
                           relu_work **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    relu_work *w = NULL;
    TRY(memory_new(&w, 1, err));
    *w = work_shape(dom, shape, threads, gradients);
    TRY(memory_new(&w->block, work_cut(w, NULL), err));
    work_cut(w, w->block);
    *out = w;
    w = NULL;
done:
    relu_work_close(w);
    return st;
}

void relu_work_close(relu_work *w)
{
    if (w == NULL)
        return;
    memory_free(w->block);
    memory_free(w);
}

void relu_work_put(relu_work *w, const double *theta)
{
    const field_shape *s = &w->shape;
    for (int l = 1; l < s->depth; l++) {
        const size_t inputs = (size_t)field_inputs(s, l), outputs = (size_t)field_outputs(s, l);
        const double *W = theta + field_weights(s, l);
        for (size_t i = 0; i < outputs; i++)
            for (size_t j = 0; j < inputs; j++)
                w->W[l][i * w->ld + j] = w->transposed[l][j * w->ld + i] = W[i * inputs + j];
        memcpy(w->b[l], theta + field_biases(s, l), outputs * sizeof *theta);
    }
    memcpy(w->output, theta + field_weights(s, s->depth), (size_t)field_inputs(s, s->depth) * sizeof *theta);
    w->output_bias = theta[field_biases(s, s->depth)];
}

/* v at the lane's points x, rows beyond count being zero. */
static void tile_forward(const relu_work *w, relu_lane *lane, const double *x, size_t count)
{
    const size_t ld = w->ld, columns = (size_t)w->domain->columns;
    const int L = w->shape.depth;
    memset(lane->h[0], 0, TILE * ld * sizeof *lane->h[0]);
    for (size_t i = 0; i < count; i++)
        memcpy(lane->h[0] + i * ld, x + i * columns, columns * sizeof *x);
    for (int l = 1; l < L; l++) {
        w->inner->product_double(TILE, w->units, layer_inputs(w, l),
                                 (strided_double){ lane->h[l - 1], ld, 1 }, w->transposed[l], ld, lane->h[l],
                                 ld, 0);
        for (size_t i = 0; i < TILE; i++)
            for (size_t j = 0; j < w->units; j++) {
                const double a = lane->h[l][i * ld + j] + w->b[l][j];
                lane->h[l][i * ld + j] = a > 0.0 ? a : a == a ? 0.0 : a; /* NaN stays */
            }
    }
    for (size_t i = 0; i < count; i++) {
        const double *h = lane->h[L - 1] + i * ld;
        double v = w->output_bias;
        for (size_t j = 0; j < layer_inputs(w, L); j++)
            v += h[j] * w->output[j];
        lane->v[i] = v;
    }
}

/* The gradients by the weights of sum_i v_bar_i v_i are added to the lane's, where there is room for them; else bar
 * becomes the derivative by h_0. */
static void tile_adjoint(const relu_work *w, relu_lane *lane, const double *v_bar, size_t count)
{
    const size_t ld = w->ld;
    const int L = w->shape.depth;
    memset(lane->bar, 0, TILE * ld * sizeof *lane->bar);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < layer_inputs(w, L); j++)
            lane->bar[i * ld + j] = v_bar[i] * w->output[j];
    for (size_t i = 0; w->gradients && i < count; i++) {
        lane->output_bias += v_bar[i];
        for (size_t j = 0; j < layer_inputs(w, L); j++)
            lane->output[j] += v_bar[i] * lane->h[L - 1][i * ld + j];
    }
    for (int l = L - 1; l >= 1; l--) {
        for (size_t i = 0; i < count; i++) /* through the ReLU */
            for (size_t j = 0; j < w->units; j++)
                lane->bar[i * ld + j] = lane->h[l][i * ld + j] > 0.0 ? lane->bar[i * ld + j] : 0.0;
        if (w->gradients) {
            for (size_t i = 0; i < count; i++)
                for (size_t j = 0; j < w->units; j++)
                    lane->b[l][j] += lane->bar[i * ld + j];
            w->inner->product_double(w->units, layer_inputs(w, l), TILE, (strided_double){ lane->bar, 1, ld },
                                     lane->h[l - 1], ld, lane->W[l], ld, 1);
            if (l == 1)
                break; /* nobody asks for the derivative by x */
        }
        w->inner->product_double(TILE, layer_inputs(w, l), w->units, (strided_double){ lane->bar, ld, 1 },
                                 w->W[l], ld, lane->next, ld, 0);
        double *swap = lane->bar;
        lane->bar = lane->next;
        lane->next = swap;
    }
}

static void lane_clear(const relu_work *w, relu_lane *lane)
{
    for (int l = 1; l < w->shape.depth; l++) {
        memset(lane->W[l], 0, w->units * w->ld * sizeof *lane->W[l]);
        memset(lane->b[l], 0, w->ld * sizeof *lane->b[l]);
    }
    memset(lane->output, 0, w->ld * sizeof *lane->output);
    lane->output_bias = lane->sum = 0.0;
}

static void gather(const relu_work *w, double *gradient)
{
    const field_shape *s = &w->shape;
    for (int i = 0; i < LANES; i++) {
        const relu_lane *lane = &w->lane[i];
        for (int l = 1; l < s->depth; l++) {
            const size_t inputs = (size_t)field_inputs(s, l), outputs = (size_t)field_outputs(s, l);
            double *W = gradient + field_weights(s, l), *b = gradient + field_biases(s, l);
            for (size_t j = 0; j < outputs; j++) {
                for (size_t k = 0; k < inputs; k++)
                    W[j * inputs + k] += lane->W[l][j * w->ld + k];
                b[j] += lane->b[l][j];
            }
        }
        for (int k = 0; k < field_inputs(s, s->depth); k++)
            gradient[field_weights(s, s->depth) + (size_t)k] += lane->output[k];
        gradient[field_biases(s, s->depth)] += lane->output_bias;
    }
}

void relu_term(relu_work *w, const point_source *points, bool exponential, double factor, double *gradient,
               double *sum)
{
    const size_t tiles = (points->count + TILE - 1) / TILE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_wanted(w->threads))
    for (int i = 0; i < LANES; i++) {
        relu_lane *lane = &w->lane[i];
        lane_clear(w, lane);
        for (size_t t = (size_t)i; t < tiles; t += LANES) {
            const size_t left = points->count - t * TILE, count = left < TILE ? left : TILE;
            double v_bar[TILE];
            source_fill(points, t * TILE, count, lane->x, lane->weight);
            tile_forward(w, lane, lane->x, count);
            for (size_t k = 0; k < count; k++) {
                const double rate = exponential ? exp(lane->v[k]) : 1.0;
                lane->sum += lane->weight[k] * (exponential ? rate : lane->v[k]);
                v_bar[k] = factor * lane->weight[k] * rate;
            }
            tile_adjoint(w, lane, v_bar, count);
        }
    }
    *sum = 0.0;
    for (int i = 0; i < LANES; i++)
        *sum += w->lane[i].sum;
    gather(w, gradient);
}

/* ---- the model ------------------------------------------------------------------------------------------ */

typedef struct relu_state {
    field_shape shape;
    double *theta;
} relu_state;

static field_shape relu_shape(const npmd_options *opt, const npmd_domain *dom)
{
    return (field_shape){
        .features = dom->columns, .width = opt->width, .depth = opt->depth, .directions = dom->dimension
    };
}

static void relu_free(void *state)
{
    relu_state *r = state;
    if (r == NULL)
        return;
    memory_free(r->theta);
    memory_free(r);
}

static npmd_status relu_make(npmd_model *m, relu_state **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    relu_state *r = NULL;
    TRY(memory_new(&r, 1, err));
    m->state = r; /* freed with the model */
    r->shape = relu_shape(&m->options, m->domain);
    TRY(memory_new(&r->theta, field_parameters(&r->shape), err));
    *out = r;
done:
    return st;
}

/* The jet follows from the gradient by x: v_t = grad . x_t along the frame, and since second derivatives by x vanish
 * where there are any, lap v = grad . lap x: -dimension x for a unit vector, 0 for an angle. The kinks between, where v has
 * no Laplacian, are not seen. */
static void point_jet(const npmd_domain *dom, const double *x, double v, const double *gradient, double *jet)
{
    double lap = 0.0;
    jet[0] = v;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        const double *at = x + dom->column[d], *g = gradient + dom->column[d];
        double frame[MANIFOLD_MAX_DIMENSION * MANIFOLD_MAX_COLUMNS];
        m->frame(m, at, frame);
        for (int t = 0; t < m->dimension; t++) {
            double *v_t = jet + 1 + dom->direction[d] + t;
            *v_t = 0.0;
            for (int j = 0; j < m->columns; j++)
                *v_t += g[j] * frame[t * m->columns + j];
        }
        for (int j = 0; m->columns > m->dimension && j < m->columns; j++)
            lap -= m->dimension * at[j] * g[j];
    }
    jet[dom->dimension + 1] = lap;
}

/* Tiles are dealt to the lanes as in training, each lane having its own rows. */
static void work_evaluate(relu_work *w, const double *x, size_t n, jet_rows rows, double *out)
{
    const size_t tiles = (n + TILE - 1) / TILE, columns = (size_t)w->domain->columns,
                 size = rows == JET_VALUE ? 1 : (size_t)w->domain->dimension + 2;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_wanted(w->threads))
    for (int i = 0; i < LANES; i++) {
        relu_lane *lane = &w->lane[i];
        double one[TILE];
        for (int k = 0; k < TILE; k++)
            one[k] = 1.0;
        for (size_t t = (size_t)i; t < tiles; t += LANES) {
            const size_t first = t * TILE, count = n - first < TILE ? n - first : TILE;
            tile_forward(w, lane, x + first * columns, count);
            if (rows == JET_VALUE) {
                memcpy(out + first, lane->v, count * sizeof *out);
                continue;
            }
            tile_adjoint(w, lane, one, count);
            for (size_t k = 0; k < count; k++)
                point_jet(w->domain, x + (first + k) * columns, lane->v[k], lane->bar + k * w->ld,
                          out + (first + k) * size);
        }
    }
}

static npmd_status relu_evaluate(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                                 jet_rows rows, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const relu_state *r = m->state;
    relu_work *w = NULL;
    TRY(relu_work_open(m->domain, &r->shape, how == NULL ? 0 : how->threads, false, &w, err));
    relu_work_put(w, r->theta);
    work_evaluate(w, x, n, rows, out);
done:
    relu_work_close(w);
    return st;
}

/* ---- fitting -------------------------------------------------------------------------------------------- */

static size_t look_points(const npmd_options *opt) /* of the integrals of a look */
{
    return opt->q1 < MOST_LOOK_POINTS / 2 ? 2 * (size_t)opt->q1 : MOST_LOOK_POINTS;
}

static npmd_status relu_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                                size_t *working_bytes, npmd_error *err)
{
    npmd_status st = domain_refuse_surfaces(dom, "--estimator relu: its features are", err);
    if (st == NPMD_OK)
        st = descent_resolve(opt, dom, n, out, err);
    if (st != NPMD_OK)
        return st;
    if (out->holdout == 0.0)
        out->holdout = 0.1;
    if (out->patience == 0)
        out->patience = 20;
    if (opt->accuracy == 0.0) /* kinks and the jump at 2 pi keep quadrature from converging fast */
        out->accuracy = dom->dimension <= 2 ? 1e-4 : 5e-4;
    const field_shape shape = relu_shape(out, dom);
    relu_work w = work_shape(dom, &shape, 1, true);
    *working_bytes = (2 * work_cut(&w, NULL) + 5 * field_parameters(&shape)
                      + (n + look_points(out)) * ((size_t)dom->columns + 2))
                         * sizeof(double)
                     + integrate_bytes(dom);
    return NPMD_OK;
}

/* authors: all parameters U(+-1/sqrt(inputs)), as PyTorch starts a layer. unit: weights N(0, 2 / inputs) (He et al.
 * 2015), and the kinks of the first layer pass through data points. The output starts at zero. */
static void relu_start(const npmd_model *m, const npmd_points *pts, relu_state *r)
{
    const field_shape *s = &r->shape;
    const bool authors = m->options.start != 0;
    const rng_key rows = rng_key_make(m->options.seed, RNG_START, 1);
    for (int l = 1; l <= s->depth; l++) {
        const rng_key key = rng_key_make(m->options.seed, RNG_START, (uint64_t)l + 1);
        const int inputs = field_inputs(s, l), outputs = field_outputs(s, l);
        const double bound = 1.0 / sqrt((double)inputs);
        for (int i = 0; i < outputs; i++) {
            double *W = r->theta + field_weights(s, l) + (size_t)i * (size_t)inputs,
                   *b = r->theta + field_biases(s, l) + i, x[DOMAIN_MAX_COLUMNS];
            for (int j = 0; j < inputs; j++)
                W[j] = authors         ? bound * (2.0 * rng_uniform(key, (uint64_t)i, (uint32_t)j) - 1.0)
                       : l == s->depth ? 0.0
                                       : sqrt(2.0) * bound * rng_normal(key, (uint64_t)i, (uint32_t)j);
            if (authors)
                *b = bound * (2.0 * rng_uniform(key, (uint64_t)i, (uint32_t)inputs) - 1.0);
            if (authors || l > 1 || l == s->depth)
                continue;
            points_row(pts, (size_t)rng_permute(rows, (uint64_t)i % pts->n, pts->n), x);
            for (int j = 0; j < inputs; j++)
                *b -= W[j] * x[j];
        }
    }
}

typedef struct relu_fit_state {
    npmd_model *model;
    relu_work *work;
    objective terms;                        /* its source of integral points */
    const npmd_points *training, *held_out; /* held_out NULL: none */
    double *best, *value;                   /* (parameters); (held-out points) */
    double *x, *weight, *v;                 /* (points, ...): fixed, so that looks can be compared */
    size_t points;
    double criterion; /* the least so far */
    int64_t best_steps, since;
} relu_fit_state;

static npmd_status fit_terms(void *self, int64_t step, double *gradient, double *data, double *integral,
                             npmd_error *err)
{
    relu_fit_state *f = self;
    const relu_state *r = f->model->state;
    point_source points;
    double mean = 0.0;
    (void)err;
    relu_work_put(f->work, r->theta);
    descent_batch(&f->model->options, f->training, step, &points);
    relu_term(f->work, &points, false, -1.0, gradient, &mean);
    objective_integral_points(&f->terms, step, (size_t)f->model->options.q1, &points);
    relu_term(f->work, &points, true, 1.0, gradient, integral);
    *data = -mean;
    return NPMD_OK;
}

/* Means of exp v and exp 2v over the domain. */
static npmd_status look_integrals(relu_fit_state *f, double *log_integral, double *square, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double top = -INFINITY, sum = 0.0, sum2 = 0.0;
    TRY(model_own_values(f->model, f->x, f->points, f->v, err));
    for (size_t i = 0; i < f->points; i++)
        top = fmax(top, f->v[i]);
    for (size_t i = 0; i < f->points; i++) {
        const double rate = exp(f->v[i] - top);
        sum += f->weight[i] * rate;
        sum2 += f->weight[i] * rate * rate;
    }
    *log_integral = top + log(sum);
    *square = sum2 / (sum * sum);
done:
    return st;
}

static npmd_status fit_log_integral(void *self, double *out, npmd_error *err)
{
    double square;
    return look_integrals(self, out, &square, err);
}

static npmd_status fit_look(void *self, int64_t steps, bool *stop, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    relu_fit_state *f = self;
    const relu_state *r = f->model->state;
    const npmd_options *opt = &f->model->options;
    const int64_t every = opt->steps < LOOKS ? 1 : opt->steps / LOOKS;
    double mean = 0.0, se = 0.0, log_integral = 0.0, square = 0.0;
    if (f->held_out == NULL || (steps % every != 0 && steps != opt->steps))
        goto done;
    TRY(look_integrals(f, &log_integral, &square, err));
    TRY(model_own_values(f->model, f->held_out->x, f->held_out->n, f->value, err));
    for (size_t i = 0; i < f->held_out->n; i++)
        f->value[i] = exp(f->value[i] - log_integral);
    weighted_mean(f->held_out, f->value, &mean, &se);
    const double criterion = square - 2.0 * mean;
    if (criterion < f->criterion) {
        f->criterion = criterion;
        f->best_steps = steps;
        f->since = 0;
        memcpy(f->best, r->theta, field_parameters(&r->shape) * sizeof *f->best);
    } else {
        *stop = ++f->since >= opt->patience;
    }
done:
    return st;
}

static npmd_status relu_fit(npmd_model *m, const npmd_options *asked, const npmd_points *pts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    relu_state *r = NULL;
    npmd_points *training = NULL, *held_out = NULL;
    relu_fit_state f = { .model = m, .criterion = INFINITY, .points = look_points(&m->options) };
    point_source looks;
    const size_t out = (size_t)(m->options.holdout * (double)pts->n);
    (void)asked;
    TRY(relu_make(m, &r, err));
    const size_t parameters = field_parameters(&r->shape);
    if (pts->n >= LEAST_POINTS && out > 0)
        TRY(points_hold_out(pts, rng_key_make(m->options.seed, RNG_TUNE, 3), 0, out, &held_out, &training,
                            err));
    const bool early = training != NULL && training->n > 0; /* else all are twins of those held out */
    f.training = early ? training : pts;
    f.held_out = early ? held_out : NULL;
    TRY(relu_work_open(m->domain, &r->shape, m->options.threads, true, &f.work, err));
    TRY(memory_new(&f.best, parameters, err));
    TRY(memory_new(&f.value, out + 1, err));
    TRY(objective_open(&f.terms, m->domain, f.training, &m->options, err));
    m->options.proposal_rho = f.terms.proposal.rho;
    TRY(memory_new(&f.x, f.points * (size_t)m->domain->columns, err));
    TRY(memory_new(&f.weight, f.points, err));
    TRY(memory_new(&f.v, f.points, err));
    objective_integral_points(&f.terms, UINT32_MAX, f.points, &looks); /* no step's own */
    source_fill_all(&looks, 0, f.points, m->options.threads, f.x, f.weight);
    relu_start(m, f.training, r);
    TRY(descend(&(descent){ .model = m,
                            .n = f.training->n,
                            .parameters = parameters,
                            .theta = r->theta,
                            .terms = fit_terms,
                            .look = fit_look,
                            .log_integral = fit_log_integral,
                            .self = &f },
                err));
    if (f.best_steps > 0)
        memcpy(r->theta, f.best, parameters * sizeof *r->theta);
    if (f.best_steps > 0 && f.best_steps < m->facts.steps)
        model_warn(m, "stopped early: of %lld steps, the held-out points liked the weights after %lld best",
                   (long long)m->facts.steps, (long long)f.best_steps);
    TRY(model_normalise(m, model_own_values, m, pts, (size_t)1 << 21, err));
done:
    objective_close(&f.terms);
    relu_work_close(f.work);
    memory_free(f.best);
    memory_free(f.value);
    memory_free(f.x);
    memory_free(f.weight);
    memory_free(f.v);
    npmd_points_free(training);
    npmd_points_free(held_out);
    return st;
}

/* ---- the file: layer.1.weight, layer.1.bias, ... -------------------------------------------------------- */

static void tensor_at(const field_shape *s, int layer, bool bias, char name[64], int *dimensions,
                      size_t shape[2], size_t *offset)
{
    snprintf(name, 64, "layer.%d.%s", layer, bias ? "bias" : "weight");
    *dimensions = bias ? 1 : 2;
    shape[0] = (size_t)field_outputs(s, layer);
    shape[1] = (size_t)field_inputs(s, layer);
    *offset = bias ? field_biases(s, layer) : field_weights(s, layer);
}

static npmd_status relu_save(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const relu_state *r = m->state;
    for (int i = 0; i < 2 * r->shape.depth; i++) {
        char name[64];
        int dimensions;
        size_t shape[2], offset;
        tensor_at(&r->shape, i / 2 + 1, i % 2 != 0, name, &dimensions, shape, &offset);
        TRY(record_add(rec, name, TENSOR_F64, dimensions, shape, r->theta + offset, err));
    }
done:
    return st;
}

/* Into theta, or, when it is NULL, only looks whether all is there. */
static npmd_status take_tensors(const field_shape *s, const record *rec, const char *path, double *theta,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int i = 0; i < 2 * s->depth; i++) {
        char name[64];
        int dimensions;
        size_t shape[2], offset;
        const tensor *t = NULL;
        tensor_at(s, i / 2 + 1, i % 2 != 0, name, &dimensions, shape, &offset);
        TRY(record_find(rec, path, name, TENSOR_F64, dimensions, shape, &t, err));
        const size_t count = dimensions == 2 ? shape[0] * shape[1] : shape[0];
        if (theta == NULL)
            continue;
        memcpy(theta + offset, t->data, count * sizeof *theta);
        for (size_t k = 0; k < count; k++)
            if (!isfinite(theta[offset + k])) {
                st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor %s holds a number that is not finite", path,
                               name);
                goto done;
            }
    }
done:
    return st;
}

static npmd_status relu_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    relu_state *r = NULL;
    if (m->options.depth < 1) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: its options do not describe a network on %s", path,
                       m->domain->text);
        goto done;
    }
    const field_shape shape = relu_shape(&m->options, m->domain);
    TRY(take_tensors(&shape, rec, path, NULL,
                     err)); /* before anything is allocated by what the options claim */
    TRY(relu_make(m, &r, err));
    TRY(take_tensors(&shape, rec, path, r->theta, err));
done:
    return st;
}

static npmd_status relu_describe(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const relu_state *r = m->state;
    TRY(json_put(into, "parameters", json_integer((json_int_t)field_parameters(&r->shape)), err));
    TRY(json_put(into, "relu_layers", json_integer(r->shape.depth - 1), err));
done:
    return st;
}

const estimator ESTIMATOR_RELU = {
    .name = "relu",
    .resolve = relu_resolve,
    .fit = relu_fit,
    .evaluate = relu_evaluate,
    .save = relu_save,
    .load = relu_load,
    .describe = relu_describe,
    .free = relu_free,
};
