/* kde.c - kernels about the points: fitting, values and jets, the file. kde.h defines the estimate. */
#include "kde.h"

#include <stdio.h>

static void kde_free(void *state)
{
    kde_state *k = state;
    if (k == NULL)
        return;
    for (int p = 0; p < k->parts; p++)
        kde_part_close(&k->part[p]);
    kde_view_close(&k->view);
    kde_cloud_close(&k->cloud);
    memory_free(k);
}

/* The numbers of all parts side by side, as the file has them. */
static void kde_seal(kde_state *k)
{
    for (int p = 0; p < k->parts; p++) {
        k->weights[p] = k->part[p].weight;
        k->kappas[p] = k->part[p].kappa;
        k->neighbours[p] = k->part[p].neighbours;
    }
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

static npmd_status kde_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = p->domain;
    settings *o = &p->full;
    kernel_settings *k = &o->kernels;
    const size_t columns = (size_t)kde_columns(dom), whole = (size_t)dom->columns, D = sizeof(double);
    int given = 0;
    settings_fill(o, settings_readers(o, dom), dom, p->n);
    o->tau = 0.0;         /* nothing is penalised */
    o->descent.batch = 0; /* a preset may have left a share of n */
    if (k->kappas > 1 && k->kappas != dom->factors)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "`kappa` has %d values, but %s has %d factors", k->kappas, dom->text,
                      dom->factors));
    for (int d = 0; d < dom->factors; d++) {
        k->kappa[d] = k->kappas > 1 ? k->kappa[d] : k->kappa[0];
        given += k->kappa[d] > 0.0;
    }
    k->kappas = dom->factors;
    if (given != 0 && given != dom->factors)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "`kappa`: give every factor a concentration, or none"));
    if (given != 0 && k->bandwidth == BANDWIDTH_MIXTURE)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                      "`kappa` goes with `bandwidth` fixed or adaptive; a mixture has many concentrations"));
    /* the points, merged and shuffled; their scaled coordinates, twice over while something is chosen; scales and
     * offsets of the parts; distances */
    const size_t parts = k->bandwidth == BANDWIDTH_MIXTURE ? 32 : 2,
                 cloud = (whole + columns + 1) * D + columns * (D + sizeof(float)),
                 arrays = parts * (3 * D + 2 * sizeof(float)), distances = k->bandwidth == BANDWIDTH_FIXED ? 0 : 6 * D,
                 room = 10 * D + 4 * D;
    p->bytes = p->n * (2 * cloud + arrays + distances + room);
done:
    return st;
}

/* The chosen recipe on all points. local of adaptive parts from the distances of kinds different k. */
static npmd_status kde_make_parts(kde_state *k, const settings *opt, const kde_recipe *r, kde_watch *w, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *distance2 = NULL;
    w->doing = "the kernels were being made";
    k->uniform = r->uniform;
    for (int p = 0; p < r->parts; p++) {
        kde_part *part = &k->part[p];
        double kappa = r->kappa[p];
        k->parts = p + 1;
        TRY(kde_part_open(part, &k->view, r->neighbours[p] > 0, err));
        part->weight = r->weight[p];
        part->neighbours = r->neighbours[p];
        if (part->neighbours > 0) {
            if (distance2 == NULL)
                TRY(memory_new(&distance2, k->cloud.n, err));
            if (p == 0 || r->neighbours[p - 1] != part->neighbours)
                TRY(kde_neighbours(&k->view, 1, &part->neighbours, w, opt->machine.threads, distance2, err));
            const double mean = kde_local(distance2, k->cloud.n, part->local);
            kappa = opt->kernels.bandwidth == BANDWIDTH_MIXTURE ? kappa * mean : kappa;
        } else {
            for (int d = 0; d < k->cloud.domain->factors; d++)
                kappa = fmin(kappa, KDE_KAPPA_MOST / k->view.ratio[d]);
        }
        kde_part_set(part, &k->view, kappa);
    }
done:
    memory_free(distance2);
    return st;
}

#define SURE 3.0 /* standard errors */

/* What the options ask for, as a recipe; ratio (factors) of the concentrations. cloud: what is left out, point by
 * point. */
static npmd_status kde_choose(npmd_model *m, kde_state *k, const kde_cloud *cloud, kde_watch *w, double *ratio,
                              kde_recipe *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    settings *opt = &m->set;
    const int factors = m->domain->factors;
    kde_choice choice = { .criterion = NAN };
    *out = (kde_recipe){ .parts = 1, .weight = { 1.0 } };
    for (int d = 0; d < factors; d++)
        ratio[d] = opt->kernels.kappa[0] > 0.0 ? opt->kernels.kappa[d] / opt->kernels.kappa[0] : 1.0;
    if (opt->kernels.bandwidth != BANDWIDTH_FIXED && opt->kernels.neighbours > 0
        && (size_t)opt->kernels.neighbours >= k->cloud.n)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "`neighbours` %d: there are %zu distinct points", opt->kernels.neighbours,
                      k->cloud.n));
    const bool factor = opt->kernels.concentration == 1 && factors > 1;
    if (opt->kernels.kappa[0] == 0.0 && (opt->kernels.bandwidth == BANDWIDTH_FIXED || factor)) {
        TRY(kde_choose_fixed(cloud, opt, w, &choice, err));
        for (int d = 0; d < factors; d++)
            ratio[d] = choice.kappa[d] / choice.kappa[0];
    } else {
        memcpy(choice.kappa, opt->kernels.kappa, sizeof choice.kappa);
    }
    if (opt->kernels.bandwidth == BANDWIDTH_ADAPTIVE)
        TRY(kde_choose_adaptive(cloud, opt, ratio, w, &choice, err));
    out->kappa[0] = choice.kappa[0];
    out->neighbours[0] = choice.neighbours;
    m->facts.objective = choice.criterion;
    k->queries = (int64_t)choice.queries;
    if (opt->kernels.bandwidth == BANDWIDTH_MIXTURE) {
        TRY(kde_choose_mixture(cloud, opt, ratio, w, out, err));
        m->facts.objective = log(m->domain->volume) - out->held_out;
        k->queries = (int64_t)out->queries;
    } else {
        for (int d = 0; d < factors; d++)
            opt->kernels.kappa[d] = choice.kappa[d];
        opt->kernels.neighbours = choice.neighbours;
    }
    if (choice.bound)
        model_warn(
            m,
            "the concentration stands at its bound of %g: the points may be rounded or repeated; give `kappa`, or "
            "`bandwidth` mixture%s",
            choice.most, cloud->same == NULL ? "" : ", or `ties` together");
    if (out->repeats > SURE * out->held_out_se)
        model_warn(m,
                   "points that equal another one account for %.2g of the held-out log-likelihood, %.2f nats a point: "
                   "if they are repeated by mistake, it says little of new points; `ties` together then",
                   out->repeats, out->held_out - log(m->domain->volume));
done:
    return st;
}

static npmd_status kde_fit(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    kde_state *k = NULL;
    kde_recipe recipe;
    kde_cloud drawn = { 0 };
    double ratio[NPMD_MAX_FACTORS];
    kde_watch w = { .watch = f->watch, .doing = "the points were read", .started = clock_seconds(), .objective = NAN };
    TRY(memory_new(&k, 1, err));
    m->state = k;
    TRY(kde_watch_go(&w, err));
    TRY(kde_cloud_make(f->points, m->set.seed, TIES_TOGETHER, &k->cloud, err));
    k->cloud.domain = m->domain;
    const bool apart = m->set.ties == TIES_APART && k->cloud.distinct < k->cloud.rows;
    if (apart)
        TRY(kde_cloud_make(f->points, m->set.seed, TIES_APART, &drawn, err));
    TRY(kde_choose(m, k, apart ? &drawn : &k->cloud, &w, ratio, &recipe, err));
    TRY(kde_view_open(&k->cloud, 1, "cpu", &k->view, err));
    kde_view_scale(&k->view, ratio);
    TRY(kde_make_parts(k, &m->set, &recipe, &w, err));
    m->facts.steps = w.step;
    kde_seal(k);
    m->facts.log_integral = 0.0;
    m->facts.log_integral_se = 0.0;
done:
    kde_cloud_close(&drawn);
    return st;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static npmd_status kde_values(const kde_state *k, const kde_view *view, int threads, const double *x, size_t n,
                              double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = k->cloud.domain;
    const size_t columns = (size_t)k->cloud.columns, whole = (size_t)dom->columns;
    double *e = NULL, *logs = NULL;
    TRY(memory_new(&e, n * columns, err));
    TRY(memory_new(&logs, n, err));
#pragma omp parallel for schedule(static, 1024) num_threads(threads_wanted(threads))
    for (size_t i = 0; i < n; i++) {
        kde_embed(dom, x + i * whole, e + i * columns);
        out[i] = k->uniform > 0.0 ? log(k->uniform) : -INFINITY;
    }
    for (int p = 0; p < k->parts; p++) {
        const double share = log(k->part[p].weight),
                     least = k->uniform > 0.0 ? log(k->uniform) - share - 40.0 : -INFINITY;
        TRY(kde_log_sums(view, &k->part[p], e, n, SIZE_MAX, least, threads, NULL, logs, err));
        for (size_t i = 0; i < n; i++)
            out[i] = log_add(out[i], share + logs[i]);
    }
done:
    memory_free_all(e, logs);
    return st;
}

/* The jet of v = log sum_t exp a_t. With p_t = exp(a_t - v):
 *     v_k = sum_t p_t a_tk,   lap v = sum_t p_t (lap a_t + |grad a_t|^2) - |grad v|^2.
 * a_t = const + sum_d kappa_d (e_d . y_d): the coordinates of a unit sphere S^m are eigenfunctions, lap e = -m e, so
 * lap a_t = -sum_d m_d kappa_d cos_d, and |grad a_t|^2 = sum_d kappa_d^2 (1 - cos_d^2). Sums keep the largest a_t met
 * so far apart. */
typedef struct jet_sum {
    double top, total, slope[DOMAIN_MAX_DIMENSION], bend; /* all but top over exp(top) */
} jet_sum;

static void jet_add(jet_sum *s, int dimension, double a, const double *slope, double bend)
{
    if (a > s->top) {
        const double shrink = exp(s->top - a);
        s->total *= shrink;
        s->bend *= shrink;
        for (int t = 0; t < dimension; t++)
            s->slope[t] *= shrink;
        s->top = a;
    }
    const double p = exp(a - s->top);
    if (p == 0.0)
        return;
    s->total += p;
    s->bend += p * bend;
    for (int t = 0; t < dimension; t++)
        s->slope[t] += p * slope[t];
}

static void kde_jet(const kde_state *k, const double *x, double *out)
{
    const npmd_domain *dom = k->cloud.domain;
    const kde_view *v = &k->view;
    const size_t columns = (size_t)k->cloud.columns;
    double e[KDE_MOST_COLUMNS], frame[DOMAIN_MAX_DIMENSION * MANIFOLD_MAX_COLUMNS], slope[DOMAIN_MAX_DIMENSION] = { 0 };
    jet_sum sum = { .top = -INFINITY };
    kde_embed(dom, x, e);
    for (int d = 0; d < dom->factors; d++)
        dom->factor[d]->embed_frame(dom->factor[d], x + dom->column[d],
                                    frame + dom->direction[d] * MANIFOLD_MAX_COLUMNS);
    if (k->uniform > 0.0)
        jet_add(&sum, dom->dimension, log(k->uniform), slope, 0.0);
    for (int p = 0; p < k->parts; p++)
        for (size_t i = 0; i < k->cloud.n; i++) {
            const kde_part *part = &k->part[p];
            const size_t at = v->place[i];
            double a = log(part->weight) + part->offset_wide[at], bend = 0.0;
            for (int d = 0, j = 0; d < dom->factors; d++) {
                const manifold *m = dom->factor[d];
                const double kappa = part->scale_wide[at] * v->ratio[d], *y = k->cloud.e + i * columns + j;
                double half = 0.0; /* 1 - cos */
                for (int c = 0; c < m->embedding; c++)
                    half += 0.5 * (e[j + c] - y[c]) * (e[j + c] - y[c]);
                for (int t = 0; t < m->dimension; t++) {
                    const double *along = frame + dom->direction[d] * MANIFOLD_MAX_COLUMNS + t * m->embedding;
                    double dot = 0.0;
                    for (int c = 0; c < m->embedding; c++)
                        dot += along[c] * y[c];
                    slope[dom->direction[d] + t] = kappa * dot;
                }
                a -= kappa * half;
                bend += kappa * kappa * half * (2.0 - half) - m->dimension * kappa * (1.0 - half);
                j += m->embedding;
            }
            jet_add(&sum, dom->dimension, a, slope, bend);
        }
    double *lap = &out[dom->dimension + 1];
    out[0] = sum.top + log(sum.total);
    *lap = sum.bend / sum.total;
    for (int t = 0; t < dom->dimension; t++) {
        out[1 + t] = sum.slope[t] / sum.total;
        *lap -= out[1 + t] * out[1 + t];
    }
}

static npmd_status kde_evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = e->model;
    const kde_state *k = m->state;
    kde_view view = k->view; /* where sums are made is the caller's choice */
    const int threads = compute_threads(e->how);
    const size_t jet = (size_t)m->domain->dimension + 2, columns = (size_t)m->domain->columns;
    TRY(backend_find_device(compute_device(e->how), &view.ops, &view.device, err));
    if (rows == JET_VALUE && view.ops != &BACKEND_REFERENCE) {
        TRY(kde_values(k, &view, threads, x, n, out, err));
        goto done;
    }
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads_wanted(threads))
    for (size_t i = 0; i < n; i++) {
        double one[DOMAIN_MAX_DIMENSION + 2];
        kde_jet(k, x + i * columns, rows == JET_VALUE ? one : out + i * jet);
        if (rows == JET_VALUE)
            out[i] = one[0];
    }
done:
    return st;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void local_name(int part, char name[64])
{
    snprintf(name, 64, "part.local.%d", part + 1);
}

static npmd_status kde_save(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const kde_state *k = m->state;
    const size_t n = k->cloud.n, parts = (size_t)k->parts;
    char name[64];
    TRY(record_add(rec, "points", TENSOR_F64, 2, (const size_t[]){ n, (size_t)m->domain->columns }, k->cloud.x, err));
    TRY(record_add(rec, "points.weight", TENSOR_F64, 1, &n, k->cloud.weight, err));
    TRY(record_add(rec, "ratio", TENSOR_F64, 1, &(size_t){ (size_t)m->domain->factors }, k->view.ratio, err));
    TRY(record_add(rec, "part.weight", TENSOR_F64, 1, &parts, k->weights, err));
    TRY(record_add(rec, "part.kappa", TENSOR_F64, 1, &parts, k->kappas, err));
    TRY(record_add(rec, "part.neighbours", TENSOR_I32, 1, &parts, k->neighbours, err));
    TRY(record_add(rec, "uniform", TENSOR_F64, 1, &(size_t){ 1 }, &k->uniform, err));
    TRY(record_add(rec, "queries", TENSOR_I64, 1, &(size_t){ 1 }, &k->queries, err));
    for (int p = 0; p < k->parts; p++)
        if (k->part[p].local != NULL) {
            local_name(p, name);
            TRY(record_add(rec, name, TENSOR_F64, 1, &n, k->part[p].local, err));
        }
done:
    return st;
}

static npmd_status bad(npmd_error *err, const char *path, const char *name, size_t i, double value,
                       const char *expected)
{
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %s, number %zu: %g, expected %s", path, name, i + 1, value, expected);
}

/* Points that are what they were when they were saved, but for the last digits that canonical() may turn. */
static npmd_status load_points(kde_state *k, const npmd_domain *dom, const record *rec, const char *path,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const tensor *x = NULL, *weight = NULL;
    const size_t columns = (size_t)dom->columns;
    double sum = 0.0, row[DOMAIN_MAX_COLUMNS];
    TRY(record_find(rec, path, "points", TENSOR_F64, 2, (const size_t[]){ 0, columns }, &x, err));
    TRY(record_find(rec, path, "points.weight", TENSOR_F64, 1, &(size_t){ x->shape[0] }, &weight, err));
    if (x->shape[0] == 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: there are no points", path));
    TRY(kde_cloud_open(dom, x->shape[0], &k->cloud, err));
    memcpy(k->cloud.x, x->data, k->cloud.n * columns * sizeof(double));
    memcpy(k->cloud.weight, weight->data, k->cloud.n * sizeof(double));
    for (size_t i = 0; i < k->cloud.n; i++) {
        const double w = k->cloud.weight[i];
        int factor = 0;
        memcpy(row, k->cloud.x + i * columns, columns * sizeof *row);
        const char *reason = domain_canonical(dom, row, &factor);
        for (size_t j = 0; reason == NULL && j < columns; j++)
            if (!(fabs(row[j] - k->cloud.x[i * columns + j]) <= 1e-12))
                reason = "is not in its canonical form";
        if (reason != NULL)
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: points, row %zu, factor %d %s", path, i + 1, factor + 1, reason));
        if (!(w > 0.0 && w <= 1.0 + 1e-9))
            TRY(bad(err, path, "points.weight", i, w, "a share of 1"));
        sum += w;
        kde_embed(dom, k->cloud.x + i * columns, k->cloud.e + i * (size_t)k->cloud.columns);
    }
    if (!(fabs(sum - 1.0) <= 1e-6))
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: points.weight sums to %g, expected 1", path, sum);
done:
    return st;
}

static npmd_status load_part(kde_state *k, int p, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    kde_part *part = &k->part[p];
    const tensor *local = NULL;
    char name[64];
    double largest = 0.0;
    for (int d = 0; d < k->cloud.domain->factors; d++)
        largest = fmax(largest, k->view.ratio[d]);
    if (!(k->weights[p] > 0.0 && k->weights[p] <= 1.0 + 1e-9))
        TRY(bad(err, path, "part.weight", (size_t)p, k->weights[p], "a share of 1"));
    const double most = k->neighbours[p] == 0 ? KDE_KAPPA_MOST * (1.0 + 1e-9) / largest : 1e20;
    if (k->neighbours[p] < 0 || !(k->kappas[p] > 0.0 && k->kappas[p] <= most))
        TRY(bad(err, path, "part.kappa", (size_t)p, k->kappas[p], "a concentration"));
    local_name(p, name);
    if (k->neighbours[p] > 0)
        TRY(record_find(rec, path, name, TENSOR_F64, 1, &k->cloud.n, &local, err));
    k->parts = p + 1;
    TRY(kde_part_open(part, &k->view, k->neighbours[p] > 0, err));
    part->weight = k->weights[p];
    part->neighbours = k->neighbours[p];
    for (size_t i = 0; local != NULL && i < k->cloud.n; i++) {
        part->local[i] = ((const double *)local->data)[i];
        if (!(part->local[i] >= 1e-20 && part->local[i] <= 1e20))
            TRY(bad(err, path, name, i, part->local[i], "a positive number up to 1e20"));
    }
    kde_part_set(part, &k->view, k->kappas[p]);
done:
    return st;
}

static npmd_status kde_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    kde_state *k = NULL;
    const tensor *ratio = NULL, *weight = NULL, *kappa = NULL, *neighbours = NULL, *uniform = NULL, *queries = NULL;
    const double *number = NULL;
    TRY(record_find(rec, path, "ratio", TENSOR_F64, 1, &(size_t){ (size_t)m->domain->factors }, &ratio, err));
    TRY(record_find(rec, path, "part.weight", TENSOR_F64, 1, &(size_t){ 0 }, &weight, err));
    const size_t parts = weight->shape[0];
    if (parts < 1 || parts > KDE_MOST_PARTS)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: %zu parts, expected 1 to %d", path, parts, KDE_MOST_PARTS));
    TRY(record_find(rec, path, "part.kappa", TENSOR_F64, 1, &parts, &kappa, err));
    TRY(record_find(rec, path, "part.neighbours", TENSOR_I32, 1, &parts, &neighbours, err));
    TRY(record_find(rec, path, "uniform", TENSOR_F64, 1, &(size_t){ 1 }, &uniform, err));
    TRY(record_find(rec, path, "queries", TENSOR_I64, 1, &(size_t){ 1 }, &queries, err));
    number = ratio->data;
    for (int d = 0; d < m->domain->factors; d++)
        if (!(number[d] >= 1e-16 && number[d] <= 1e16))
            TRY(bad(err, path, "ratio", (size_t)d, number[d], "a positive number"));
    if (m->facts.log_integral != 0.0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: a log integral of %g, kernels have 0", path, m->facts.log_integral));
    TRY(memory_new(&k, 1, err));
    m->state = k;
    memcpy(k->weights, weight->data, parts * sizeof(double));
    memcpy(k->kappas, kappa->data, parts * sizeof(double));
    memcpy(k->neighbours, neighbours->data, parts * sizeof(int));
    memcpy(&k->uniform, uniform->data, sizeof(double));
    memcpy(&k->queries, queries->data, sizeof(int64_t));
    TRY(load_points(k, m->domain, rec, path, err));
    TRY(kde_view_open(&k->cloud, 1, "cpu", &k->view, err));
    kde_view_scale(&k->view, number);
    double sum = k->uniform;
    for (int p = 0; p < (int)parts; p++) {
        TRY(load_part(k, p, rec, path, err));
        sum += k->weights[p];
    }
    if (!(k->uniform >= 0.0 && fabs(sum - 1.0) <= 1e-6))
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: uniform (%g) and part.weight sum to %g, expected 1", path, k->uniform,
                       sum);
done:
    return st;
}

static npmd_status kde_describe(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const kde_state *k = m->state;
    json_t *parts = json_array();
    double largest = 0.0;
    TRY(json_put(into, "distinct_points", json_integer((json_int_t)k->cloud.n), err));
    TRY(json_put(into, "kernel_terms", json_integer((json_int_t)k->cloud.n * k->parts), err));
    TRY(json_put(into, "criterion", json_known(m->facts.objective), err));
    TRY(json_put(into, "criterion_points", json_integer((json_int_t)k->queries), err));
    TRY(json_put(into, "uniform_weight", json_real(k->uniform), err));
    for (int p = 0; p < k->parts; p++) {
        const kde_part *part = &k->part[p];
        json_t *one = NULL, *kappas = NULL;
        TRY(json_append(parts, one = json_object(), err)); /* which owns it from here on */
        TRY(json_put(one, "weight", json_real(part->weight), err));
        TRY(json_put(one, "neighbours", json_integer(part->neighbours), err));
        TRY(json_put(one, part->local == NULL ? "kappa" : "kappa_geometric_mean", kappas = json_array(), err));
        for (int d = 0; d < m->domain->factors; d++)
            TRY(json_append(kappas, json_real(part->kappa * k->view.ratio[d]), err));
        for (size_t at = 0; at < k->view.ld; at++)
            for (int d = 0; d < m->domain->factors; d++)
                largest = fmax(largest, part->scale_wide[at] * k->view.ratio[d]);
    }
    TRY(json_put(into, "largest_kappa", json_real(largest), err));
    TRY(json_put(into, "parts", json_incref(parts), err));
done:
    json_decref(parts);
    return st;
}

const estimator ESTIMATOR_KDE = {
    .name = "kde",
    .complete = kde_complete,
    .fit = kde_fit,
    .evaluate = kde_evaluate,
    .draw = kde_draw,
    .mean = kde_mean,
    .overlap = kde_overlap,
    .save = kde_save,
    .load = kde_load,
    .describe = kde_describe,
    .free = kde_free,
};
