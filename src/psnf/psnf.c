/* psnf.c - a product squared neural family (Tsuchida, Ong and Sejdinovic 2023, 2024).
 *
 *     rate(x) = |V psi(x)|^2 + v0^2,      psi_i(x) = exp(w_i . e(x) + b_i),
 *
 * relative to the uniform measure; e(x) holds the unit vectors of all factors side by side. The mean of a product of
 * two units over the domain is known, and so is that of the rate:
 *
 *     G_ij = exp(b_i + b_j) prod_d M_d(|w_i + w_j|_d),      Z = tr(Q G) + v0^2,      Q = V'V,
 *
 * |.|_d the norm of factor d's coordinates, M_d(r) the mean of exp(r e_1) over its unit sphere. W, V and v0 minimise
 * the Poisson form -mean over data of log rate + Z; there is no penalty. b is fixed, since it is redundant with the
 * columns of V.
 *
 * With Q, a step takes two products with all points instead of three. At a point of weight p, with y = Q psi,
 *
 *     rate = psi . y + v0^2,   c = -p / rate,   S += c psi psi',   w_i bar += 2 c psi_i y_i e,   v0 bar += 2 c v0,
 *
 * and at the end V bar = 2 V (S + G), w_i bar += 2 sum_j Q_ij G_ij (log M_d)'(r) / r (w_i + w_j)_d, v0 bar += 2 v0. */
#include "psnf.h"

#define TILE 64                /* points that pass through the products together */
#define EVALUATE_TILE 32       /* fewer, since a jet has many rows */
#define ASYMPTOTIC 20.0        /* the series in 1/r is exact to exp(-2 r) from here on */
#define START_SHARE 5.0        /* of the rate, with units of mean square 1 */
#define PUBLISHED_VARIANCE 4.0 /* over the number of factors */

/* ---- the mean of an exponential over a unit sphere --------------------------------------------------------------- */

/* 0F1(; a; q) = sum_k q^k / (k! a (a + 1) .. (a + k - 1)), all terms positive. */
static double confluent(double a, double q)
{
    double sum = 1.0, term = 1.0;
    for (int k = 1; term > 1e-17 * sum; k++)
        sum += term *= q / (k * (a + k - 1.0));
    return sum;
}

/* I_nu(r) sqrt(2 pi r) exp(-r) for large r: 1 - (4 nu^2 - 1)/(8 r) + (4 nu^2 - 1)(4 nu^2 - 9)/(2! (8 r)^2) - ... */
static double asymptotic(double nu, double r)
{
    double sum = 1.0, term = 1.0;
    for (int k = 1; k < 2.0 * ASYMPTOTIC && fabs(term) > 1e-17; k++)
        sum += term *= -(4.0 * nu * nu - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * r * k);
    return sum;
}

/* M(r) = Gamma(a) (2/r)^(a - 1) I_(a-1)(r) = 0F1(; a; r^2/4), a = embedding / 2; M' = r / (2 a) 0F1(; a + 1; r^2/4). */
double sphere_log_mean(int embedding, double r, double *slope)
{
    const double a = 0.5 * embedding, nu = a - 1.0;
    if (r < ASYMPTOTIC) {
        const double q = 0.25 * r * r, mean = confluent(a, q);
        *slope = confluent(a + 1.0, q) / (embedding * mean);
        return log(mean);
    }
    const double sum = asymptotic(nu, r);
    *slope = asymptotic(nu + 1.0, r) / (sum * r);
    return r + log(sum * tgamma(a)) - 0.5 * log(TWO_PI * r) + nu * log(2.0 / r);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

size_t psnf_parameters(const psnf *p)
{
    const size_t H = (size_t)p->width;
    return H * (size_t)p->embedding + H * H + 1;
}

static double *psnf_V(const psnf *p)
{
    return p->theta + (size_t)p->width * (size_t)p->embedding;
}

static double *psnf_v0(const psnf *p)
{
    return p->theta + psnf_parameters(p) - 1;
}

static size_t padded(size_t count, size_t to)
{
    return (count + to - 1) / to * to;
}

/* ---- one step: all that it needs is taken before ----------------------------------------------------------------- */

typedef struct psnf_lane {
    double *x, *weight, *e; /* of a tile: (TILE, columns), (TILE), (TILE, embedding) */
    double *psi, *y;        /* (TILE, ld) */
    double *S, *W_gradient; /* (units, ld); (embedding, ld) */
    double data, v0_gradient;
} psnf_lane;

struct psnf_work {
    const npmd_domain *domain;
    const kernels *inner;
    int threads, embedding;
    size_t width, units, ld; /* units: the width, filled up with zeros; ld: from one row to the next */
    double *block;           /* the fit's only large allocation */
    double *W;               /* (embedding, ld) */
    double *V, *Q, *G, *S;   /* (units, ld) */
    double *slope;           /* (factors, units, ld): (log M)'(r) / r */
    double log_scale;        /* G is to be multiplied by exp(this) */
    psnf_lane lane[LANES];
};

static size_t lane_doubles(const npmd_domain *dom, size_t units, size_t ld)
{
    const size_t E = (size_t)domain_embedding(dom), columns = (size_t)dom->columns;
    return padded(TILE * (columns + 1 + E), 8) + (2 * TILE + units + E) * ld;
}

static size_t work_doubles(const npmd_domain *dom, size_t width)
{
    const size_t units = padded(width, TILE_UNITS), ld = units + 8;
    return (size_t)domain_embedding(dom) * ld + (4 + (size_t)dom->factors) * units * ld
           + LANES * lane_doubles(dom, units, ld);
}

npmd_status psnf_work_open(const npmd_domain *dom, const psnf *p, int threads, psnf_work **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    psnf_work *w = NULL;
    const size_t E = (size_t)p->embedding, columns = (size_t)dom->columns;
    TRY(memory_new(&w, 1, err));
    w->domain = dom;
    w->inner = kernels_select(NULL);
    w->threads = threads;
    w->embedding = p->embedding;
    w->width = (size_t)p->width;
    w->units = padded(w->width, TILE_UNITS);
    w->ld = w->units + 8;
    TRY(memory_new(&w->block, work_doubles(dom, w->width), err));
    const size_t square = w->units * w->ld;
    double *at = w->block;
    w->V = at, at += square;
    w->Q = at, at += square;
    w->G = at, at += square;
    w->S = at, at += square;
    w->slope = at, at += (size_t)dom->factors * square;
    w->W = at, at += E * w->ld;
    for (int l = 0; l < LANES; l++) {
        psnf_lane *lane = &w->lane[l];
        lane->psi = at, at += TILE * w->ld;
        lane->y = at, at += TILE * w->ld;
        lane->S = at, at += square;
        lane->W_gradient = at, at += E * w->ld;
        lane->x = at;
        lane->weight = at + TILE * columns;
        lane->e = at + TILE * (columns + 1);
        at += padded(TILE * (columns + 1 + E), 8);
    }
    *out = w;
    w = NULL;
done:
    psnf_work_close(w);
    return st;
}

void psnf_work_close(psnf_work *w)
{
    if (w == NULL)
        return;
    memory_free(w->block);
    memory_free(w);
}

/* C (units, units) = A (units, units) B, rows dealt to the threads. */
static void square_product(const psnf_work *w, strided_double A, const double *B, double *C)
{
    const size_t rows = 16, blocks = w->units / rows;
#pragma omp parallel for schedule(static) num_threads(threads_wanted(w->threads))
    for (size_t b = 0; b < blocks; b++) {
        const strided_double part = { A.p + b * rows * A.row, A.row, A.column };
        w->inner->product_double(rows, w->units, w->units, part, B, w->ld, C + b * rows * w->ld, w->ld, 0);
    }
}

/* log G_ij, and the slopes that its gradient needs. */
static double log_product(const psnf_work *w, const psnf *p, size_t i, size_t j)
{
    const size_t E = (size_t)w->embedding, square = w->units * w->ld;
    const double *wi = p->theta + i * E, *wj = p->theta + j * E;
    double sum = p->bias[i] + p->bias[j];
    for (int d = 0; d < w->domain->factors; d++) {
        const int columns = w->domain->factor[d]->embedding;
        double r2 = 0.0, slope = 0.0;
        for (int k = 0; k < columns; k++, wi++, wj++)
            r2 += (*wi + *wj) * (*wi + *wj);
        sum += sphere_log_mean(columns, sqrt(r2), &slope);
        w->slope[(size_t)d * square + i * w->ld + j] = w->slope[(size_t)d * square + j * w->ld + i] = slope;
    }
    return sum;
}

/* V, Q, G and W in the form that the products want. */
static void work_prepare(psnf_work *w, const psnf *p)
{
    const size_t H = w->width, E = (size_t)w->embedding, ld = w->ld;
    for (size_t i = 0; i < H; i++) {
        memcpy(w->V + i * ld, psnf_V(p) + i * H, H * sizeof *w->V);
        for (size_t k = 0; k < E; k++)
            w->W[k * ld + i] = p->theta[i * E + k];
    }
    square_product(w, (strided_double){ w->V, 1, ld }, w->V, w->Q);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads_wanted(w->threads))
    for (size_t i = 0; i < H; i++)
        for (size_t j = 0; j <= i; j++)
            w->G[i * ld + j] = w->G[j * ld + i] = log_product(w, p, i, j);
    w->log_scale = 0.0;
    for (size_t i = 0; i < H; i++) /* G_ij <= sqrt(G_ii G_jj) */
        w->log_scale = fmax(w->log_scale, w->G[i * ld + i]);
    for (size_t i = 0; i < H; i++)
        for (size_t j = 0; j < H; j++)
            w->G[i * ld + j] = exp(w->G[i * ld + j] - w->log_scale);
}

/* tr(Q G), to be multiplied by exp(log_scale). */
static double work_trace(const psnf_work *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < w->width; i++) {
        double row = 0.0;
        for (size_t j = 0; j < w->width; j++)
            row += w->Q[i * w->ld + j] * w->G[i * w->ld + j];
        sum += row;
    }
    return sum;
}

double psnf_log_integral(psnf_work *w, const psnf *p)
{
    work_prepare(w, p);
    const double v0 = *psnf_v0(p);
    return w->log_scale + log(work_trace(w) + v0 * v0 * exp(-w->log_scale));
}

/* psi (units) = exp(W' e + b), zero beyond the width. */
static void units_at(const psnf_work *w, const psnf *p, const double *e, double *psi)
{
    memcpy(psi, p->bias, w->width * sizeof *psi);
    for (int k = 0; k < w->embedding; k++) {
        const double ek = e[k], *row = w->W + (size_t)k * w->ld;
        for (size_t i = 0; i < w->width; i++)
            psi[i] += ek * row[i];
    }
    for (size_t i = 0; i < w->width; i++)
        psi[i] = exp(psi[i]);
}

/* Adds a tile of points to the lane's sums. */
static void lane_tile(const psnf_work *w, const psnf *p, const point_source *data, size_t first, size_t count,
                      psnf_lane *lane)
{
    const size_t E = (size_t)w->embedding, columns = (size_t)w->domain->columns, ld = w->ld;
    const double v0 = *psnf_v0(p);
    source_fill(data, first, count, lane->x, lane->weight);
    for (size_t i = 0; i < count; i++) {
        domain_embed(w->domain, lane->x + i * columns, lane->e + i * E);
        units_at(w, p, lane->e + i * E, lane->psi + i * ld);
    }
    memset(lane->psi + count * ld, 0, (TILE - count) * ld * sizeof *lane->psi);
    w->inner->product_double(TILE, w->units, w->units, (strided_double){ lane->psi, ld, 1 }, w->Q, ld, lane->y, ld, 0);
    for (size_t i = 0; i < count; i++) {
        double *psi = lane->psi + i * ld, *y = lane->y + i * ld, rate = 0.0;
        for (size_t h = 0; h < w->width; h++)
            rate += psi[h] * y[h];
        rate = fmax(rate, 0.0) + v0 * v0; /* rounding may leave a little less than nothing */
        const double c = -lane->weight[i] / rate;
        lane->data -= lane->weight[i] * log(rate);
        lane->v0_gradient += 2.0 * c * v0;
        for (size_t h = 0; h < w->width; h++)
            y[h] *= 2.0 * c * psi[h];
        for (size_t k = 0; k < E; k++) {
            const double ek = lane->e[i * E + k];
            double *bar = lane->W_gradient + k * ld;
            for (size_t h = 0; h < w->width; h++)
                bar[h] += ek * y[h];
        }
        for (size_t h = 0; h < w->width; h++)
            y[h] = c * psi[h];
    }
    memset(lane->y + count * ld, 0, (TILE - count) * ld * sizeof *lane->y);
    w->inner->product_double(w->units, w->units, TILE, (strided_double){ lane->y, 1, ld }, lane->psi, ld, lane->S, ld,
                             1);
}

/* Adds the gradients of all lanes and of the integral; S is G and the lanes' sums. */
static void gather(psnf_work *w, const psnf *p, double scale, double *gradient)
{
    const size_t H = w->width, E = (size_t)w->embedding, ld = w->ld, square = w->units * ld;
#pragma omp parallel for schedule(static) num_threads(threads_wanted(w->threads))
    for (size_t i = 0; i < H; i++) {
        double *S = w->S + i * ld, *bar = gradient + i * E;
        for (size_t j = 0; j < H; j++)
            S[j] = scale * w->G[i * ld + j];
        for (int l = 0; l < LANES; l++) {
            for (size_t j = 0; j < H; j++)
                S[j] += w->lane[l].S[i * ld + j];
            for (size_t k = 0; k < E; k++)
                bar[k] += w->lane[l].W_gradient[k * ld + i];
        }
        for (size_t j = 0; j < H; j++) {
            const double product = 2.0 * scale * w->Q[i * ld + j] * w->G[i * ld + j];
            const double *wi = p->theta + i * E, *wj = p->theta + j * E;
            for (int d = 0, k = 0; d < w->domain->factors; d++) {
                const double part = product * w->slope[(size_t)d * square + i * ld + j];
                for (int end = k + w->domain->factor[d]->embedding; k < end; k++)
                    bar[k] += part * (wi[k] + wj[k]);
            }
        }
    }
    square_product(w, (strided_double){ w->V, ld, 1 }, w->S, w->G); /* G has done its work */
    double *V_gradient = gradient + H * E;
    for (size_t i = 0; i < H; i++)
        for (size_t j = 0; j < H; j++)
            V_gradient[i * H + j] += 2.0 * w->G[i * ld + j];
}

void psnf_terms(psnf_work *w, const psnf *p, const point_source *data, double *gradient, double *data_term,
                double *integral)
{
    const size_t tiles = (data->count + TILE - 1) / TILE, square = w->units * w->ld;
    const double v0 = *psnf_v0(p);
    double sum = 0.0, v0_gradient = 2.0 * v0;
    work_prepare(w, p);
    const double scale = exp(w->log_scale);
    *integral = scale * work_trace(w) + v0 * v0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_wanted(w->threads))
    for (int l = 0; l < LANES; l++) {
        psnf_lane *lane = &w->lane[l];
        memset(lane->S, 0, square * sizeof *lane->S);
        memset(lane->W_gradient, 0, (size_t)w->embedding * w->ld * sizeof *lane->W_gradient);
        lane->data = lane->v0_gradient = 0.0;
        for (size_t t = (size_t)l; t < tiles; t += LANES)
            lane_tile(w, p, data, t * TILE, data->count - t * TILE < TILE ? data->count - t * TILE : TILE, lane);
    }
    for (int l = 0; l < LANES; l++) {
        sum += w->lane[l].data;
        v0_gradient += w->lane[l].v0_gradient;
    }
    gather(w, p, scale, gradient);
    gradient[psnf_parameters(p) - 1] += v0_gradient;
    *data_term = sum;
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

/* The sizes that a field would have, without encoding and penalty. */
static npmd_status psnf_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    settings *o = &p->full;
    TRY(domain_refuse_surfaces(p->domain, "`estimator` psnf: its features are", err));
    TRY(training_complete_bare(o, 1u << FIT_FIELD, p->domain, p->n, err));
    const psnf shape = { .width = o->network.width, .embedding = domain_embedding(p->domain) };
    p->bytes = (work_doubles(p->domain, (size_t)o->network.width) + 4 * psnf_parameters(&shape)) * sizeof(double);
done:
    return st;
}

/* authors: W ~ N(0, 4/D), b = 0. unit: every unit stands on a data point, w_i = length x e, with lengths about n^(2/(4
 * + p)), the rate of the kernels that suit n points of a smooth density, and b gives psi_i the mean square 1. V ~ N(0,
 * 1/H^2), v0 = 1 in both. */
static npmd_status psnf_start(const npmd_model *m, const npmd_points *pts, psnf *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *opt = &m->set;
    const npmd_domain *dom = m->domain;
    const rng_key key = rng_key_make(opt->seed, RNG_START, 0);
    const size_t H = (size_t)p->width, E = (size_t)p->embedding;
    const bool authors = opt->network.start != 0;
    const double published = sqrt(PUBLISHED_VARIANCE / dom->factors),
                 typical = pow((double)pts->n, 2.0 / (4.0 + dom->dimension));
    double *cumulative = NULL;
    proposal on = { 0 }; /* draws data points by their weights */
    TRY(points_cumulative(pts, &cumulative, err));
    TRY(proposal_open(dom, 1.0, 0.0, p->width, &on, err));
    proposal_aim(&on, pts, cumulative, rng_key_make(opt->seed, RNG_START, 1));
    for (size_t i = 0; i < H; i++) {
        double *w = p->theta + i * E, unused, norm = 0.0;
        domain_embed(dom, on.centre + i * (size_t)dom->columns, w);
        for (int d = 0, at = 0; d < dom->factors; d++) {
            const int columns = dom->factor[d]->embedding;
            const double length = typical * exp(0.5 * rng_normal(key, i, (uint32_t)d));
            for (int end = at + columns; at < end; at++)
                w[at] *= length;
            norm += sphere_log_mean(columns, 2.0 * length, &unused);
        }
        for (size_t k = 0; authors && k < E; k++)
            w[k] = published * rng_normal(key, i, (uint32_t)(NPMD_MAX_FACTORS + k));
        p->bias[i] = authors ? 0.0 : -0.5 * norm;
        for (size_t j = 0; j < H; j++)
            psnf_V(p)[i * H + j] = rng_normal(key, i, (uint32_t)(NPMD_MAX_FACTORS + E + j)) / (double)H;
    }
    *psnf_v0(p) = 1.0;
done:
    proposal_close(&on);
    memory_free(cumulative);
    return st;
}

typedef struct psnf_steps { /* a family that is trained */
    psnf *family;
    psnf_work *work;
    const fit *fit;
    double *gradient, *moment1, *moment2; /* (parameters) */
} psnf_steps;

static npmd_status psnf_advance(void *self, int64_t first, size_t count, optimiser_step *step, double running,
                                step_record *out, npmd_error *err)
{
    const psnf_steps *t = self;
    const settings *set = &t->fit->model->set;
    point_source batch;
    double data = 0.0;
    (void)count, (void)err;
    batch_points(set, t->fit->points, first, &batch);
    *out = (step_record){ 0 };
    psnf_terms(t->work, t->family, &batch, t->gradient, &data, &out->integral);
    out->data = -data;
    step->max_norm = schedule_guard(set->descent.clip, step, running);
    if (!isfinite(data + out->integral)) {
        out->norm = NAN;
        return NPMD_OK;
    }
    out->norm = optimiser_apply(step, psnf_parameters(t->family), t->family->theta, t->gradient, t->moment1,
                                t->moment2);
    out->running_log_norm = schedule_running(first, running, out->norm, step->max_norm);
    return NPMD_OK;
}

static npmd_status steps_log_integral(const psnf_steps *t, int64_t step, double *out, npmd_error *err)
{
    *out = psnf_log_integral(t->work, t->family);
    if (!isfinite(*out))
        return npmd_fail(err, NPMD_ERR_NUMERIC, "the integral is not finite after step %lld; lower `rate`",
                         (long long)step);
    return NPMD_OK;
}

static npmd_status psnf_look(void *self, npmd_report *report, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const psnf_steps *t = self;
    TRY(steps_log_integral(t, report->step, &report->log_integral, err));
    TRY(fit_truth(t->fit, model_own_values, t->fit->model, report, err));
done:
    return st;
}

static void psnf_free(void *state)
{
    psnf *p = state;
    if (p == NULL)
        return;
    memory_free(p->theta);
    memory_free(p->bias);
    memory_free(p);
}

static npmd_status psnf_make(npmd_model *m, psnf **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    psnf *p = NULL;
    TRY(memory_new(&p, 1, err));
    m->state = p; /* freed with the model */
    p->width = m->set.network.width;
    p->embedding = domain_embedding(m->domain);
    TRY(memory_new(&p->theta, psnf_parameters(p), err));
    TRY(memory_new(&p->bias, p->width, err));
    *out = p;
done:
    return st;
}

static npmd_status psnf_fit(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    psnf *p = NULL;
    psnf_steps steps = { .fit = f };
    const rate_share faster = { SIZE_MAX, START_SHARE };
    const train_look look = { .look = psnf_look, .self = &steps };
    fit_watch watch = *f->watch;
    train_attempt a = { .at = { .beta1_product = 1.0, .beta2_product = 1.0 } };
    watch.log_every = fit_log_every(f);
    TRY(psnf_make(m, &p, err));
    steps.family = p;
    TRY(psnf_work_open(m->domain, p, m->set.machine.threads, &steps.work, err));
    TRY(memory_new(&steps.gradient, psnf_parameters(p), err));
    TRY(memory_new(&steps.moment1, psnf_parameters(p), err));
    TRY(memory_new(&steps.moment2, psnf_parameters(p), err));
    TRY(psnf_start(m, f->points, p, err));
    TRY(train_attempt_run(
        &(train_run){ .what = &(trainee){ .self = &steps, .advance = psnf_advance },
                      .set = &m->set,
                      .n = f->points->n,
                      .shares = m->set.descent.layer_rates && m->set.network.start == 0 ? &faster : NULL,
                      .watch = &watch,
                      .look = watch.truth == NULL ? NULL : &look,
                      .started = clock_seconds() },
        &a, err));
    if (a.runaway) {
        st = npmd_fail(err, NPMD_ERR_NUMERIC, "the objective ran away at step %lld; lower `rate`",
                       (long long)a.at.step);
        goto done;
    }
    m->facts.steps = a.at.step;
    m->facts.objective = train_reached(&a);
    m->facts.interrupted = a.stopped;
    if (a.stopped)
        model_warn(m, "the fit was interrupted after %lld of %lld steps", (long long)a.at.step,
                   (long long)m->set.descent.steps);
    TRY(steps_log_integral(&steps, a.at.step, &m->facts.log_integral, err));
    m->facts.log_integral_se = 0.0; /* a closed form */
done:
    psnf_work_close(steps.work);
    memory_free(steps.gradient);
    memory_free(steps.moment1);
    memory_free(steps.moment2);
    return st;
}

/* ---- values and jets --------------------------------------------------------------------------------------------- */

typedef struct psnf_view { /* what evaluation reads, and one room a thread */
    const psnf *family;
    const npmd_domain *domain;
    const kernels *inner;
    int rows; /* of a jet */
    size_t units, ld, room_doubles;
    double *V_transposed; /* (units, ld) */
    double *room;         /* (threads, room_doubles): jets of e, psi and V psi */
} psnf_view;

/* Rows of psi, each scaled by exp(-shift): psi, psi_t = psi a_t, lap psi = psi (lap a + sum_t a_t^2), a = w . e + b. */
static double psi_jet(const psnf_view *s, const double *e, double *psi)
{
    const psnf *p = s->family;
    const size_t E = (size_t)p->embedding, row = EVALUATE_TILE * s->ld;
    double shift = 0.0;
    for (int i = 0; i < p->width; i++) {
        double norm2 = 0.0;
        for (int t = 0; t < s->rows; t++) {
            const double *w = p->theta + (size_t)i * E;
            double a = t == 0 ? p->bias[i] : 0.0;
            for (size_t k = 0; k < E; k++)
                a += w[k] * e[(size_t)t * E + k];
            psi[(size_t)t * row + (size_t)i] = a;
            norm2 += 0 < t && t < s->rows - 1 ? a * a : 0.0;
        }
        if (s->rows > 1)
            psi[(size_t)(s->rows - 1) * row + (size_t)i] += norm2;
        shift = fmax(shift, psi[i]);
    }
    for (int i = 0; i < p->width; i++) {
        psi[i] = exp(psi[i] - shift);
        for (int t = 1; t < s->rows; t++)
            psi[(size_t)t * row + (size_t)i] *= psi[i];
    }
    return shift;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* v = log R, R = |u|^2 + v0^2, u = V psi:  R_t = 2 u . u_t,  lap R = 2 sum_t |u_t|^2 + 2 u . lap u,
 * v_t = R_t / R,  lap v = lap R / R - sum_t v_t^2. */
static void rate_jet(const psnf_view *s, const double *u, double shift, double *out)
{
    const size_t row = EVALUATE_TILE * s->ld, H = (size_t)s->family->width;
    const double v0 = *psnf_v0(s->family) * exp(-shift), R = dot(u, u, H) + v0 * v0;
    double lap = 0.0;
    out[0] = log(R) + 2.0 * shift;
    if (s->rows == 1)
        return;
    for (int t = 1; t < s->rows - 1; t++) {
        const double *u_t = u + (size_t)t * row;
        out[t] = 2.0 * dot(u, u_t, H) / R;
        lap += 2.0 * dot(u_t, u_t, H) / R - out[t] * out[t];
    }
    out[s->rows - 1] = lap + 2.0 * dot(u, u + (size_t)(s->rows - 1) * row, H) / R;
}

static void evaluate_tile(const psnf_view *s, const double *x, size_t count, double *out)
{
    const size_t rows = (size_t)s->rows, size = rows * EVALUATE_TILE * s->ld;
    double *psi = s->room + (size_t)omp_get_thread_num() * s->room_doubles, *u = psi + size, *e = u + size;
    double shift[EVALUATE_TILE];
    for (size_t i = 0; i < count; i++) {
        const double *at = x + i * (size_t)s->domain->columns;
        if (rows == 1)
            domain_embed(s->domain, at, e);
        else
            domain_embed_jet(s->domain, at, e);
        shift[i] = psi_jet(s, e, psi + i * s->ld);
    }
    s->inner->product_double(rows * EVALUATE_TILE, s->units, s->units, (strided_double){ psi, s->ld, 1 },
                             s->V_transposed, s->ld, u, s->ld, 0);
    for (size_t i = 0; i < count; i++)
        rate_jet(s, u + i * s->ld, shift[i], out + i * rows);
}

static npmd_status psnf_evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = e->model;
    const psnf *p = m->state;
    const size_t H = (size_t)p->width, tiles = (n + EVALUATE_TILE - 1) / EVALUATE_TILE;
    const int threads = compute_threads(e->how);
    psnf_view s = { .family = p,
                    .domain = m->domain,
                    .inner = kernels_select(NULL),
                    .rows = rows == JET_VALUE ? 1 : m->domain->dimension + 2,
                    .units = padded(H, TILE_UNITS) };
    s.ld = s.units + 8;
    s.room_doubles = padded((size_t)s.rows * (2 * EVALUATE_TILE * s.ld + (size_t)p->embedding), 8);
    TRY(memory_new(&s.V_transposed, s.units * s.ld, err));
    TRY(memory_new(&s.room, (size_t)threads * s.room_doubles, err));
    for (size_t i = 0; i < H; i++)
        for (size_t j = 0; j < H; j++)
            s.V_transposed[j * s.ld + i] = psnf_V(p)[i * H + j];
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (size_t t = 0; t < tiles; t++) {
        const size_t first = t * EVALUATE_TILE, count = n - first < EVALUATE_TILE ? n - first : EVALUATE_TILE;
        evaluate_tile(&s, x + first * (size_t)m->domain->columns, count, out + first * (size_t)s.rows);
    }
done:
    memory_free(s.V_transposed);
    memory_free(s.room);
    return st;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

typedef struct psnf_part {
    const char *name;
    int dimensions;
    size_t shape[2];
    double *data; /* NULL as long as there is no state */
} psnf_part;
enum { PARTS = 4 };

static void psnf_parts(const psnf *p, psnf_part part[PARTS])
{
    const size_t H = (size_t)p->width, E = (size_t)p->embedding;
    const bool there = p->theta != NULL;
    part[0] = (psnf_part){ "W", 2, { H, E }, p->theta };
    part[1] = (psnf_part){ "V", 2, { H, H }, there ? psnf_V(p) : NULL };
    part[2] = (psnf_part){ "v0", 1, { 1 }, there ? psnf_v0(p) : NULL };
    part[3] = (psnf_part){ "b", 1, { H }, p->bias };
}

static npmd_status psnf_save(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    psnf_part part[PARTS];
    psnf_parts(m->state, part);
    for (int i = 0; i < PARTS; i++)
        TRY(record_add(rec, part[i].name, TENSOR_F64, part[i].dimensions, part[i].shape, part[i].data, err));
done:
    return st;
}

static npmd_status psnf_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    psnf *p = NULL;
    psnf_part part[PARTS];
    const tensor *t[PARTS];
    psnf_parts(&(psnf){ .width = m->set.network.width, .embedding = domain_embedding(m->domain) }, part);
    for (int i = 0; i < PARTS; i++) /* before anything is allocated by what the options claim */
        TRY(record_find(rec, path, part[i].name, TENSOR_F64, part[i].dimensions, part[i].shape, &t[i], err));
    TRY(psnf_make(m, &p, err));
    psnf_parts(p, part);
    for (int i = 0; i < PARTS; i++) {
        const size_t count = part[i].shape[0] * (part[i].dimensions == 2 ? part[i].shape[1] : 1);
        memcpy(part[i].data, t[i]->data, count * sizeof *part[i].data);
        for (size_t k = 0; k < count; k++)
            if (!isfinite(part[i].data[k])) {
                st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor %s holds a number that is not finite", path,
                               part[i].name);
                goto done;
            }
    }
done:
    return st;
}

static npmd_status psnf_describe(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const psnf *p = m->state;
    TRY(json_put(into, "parameters", json_integer((json_int_t)psnf_parameters(p)), err));
    TRY(json_put(into, "width", json_integer(p->width), err));
    TRY(json_put(into, "integral", json_string("closed form"), err));
done:
    return st;
}

const estimator ESTIMATOR_PSNF = {
    .name = "psnf",
    .complete = psnf_complete,
    .fit = psnf_fit,
    .evaluate = psnf_evaluate,
    .save = psnf_save,
    .load = psnf_load,
    .describe = psnf_describe,
    .free = psnf_free,
};
