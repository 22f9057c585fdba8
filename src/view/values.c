/* values.c - the density at the nodes of one factor, or at all pairs of nodes of two.
 *
 * A model of more factors is integrated over the others by npmd_marginal_at. Marginal densities of a pair are sums by the
 * weights of the nodes,
 *
 *     f_1(x_i) = sum_j w_j f(x_i, y_j),      f(y_j | x_i) = f(x_i, y_j) / f_1(x_i),
 *
 * so that every conditional density of the page has mass 1 on the page; how far such sums are from the integrals is
 * measured at a few nodes, unless the values are integrals themselves, of which each takes long. */
#include "view.h"

#define PIECE 65536      /* pairs that are evaluated together */
#define MARGINAL_PIECE 4 /* the same where each is an integral */
#define COMPARED 4       /* nodes of each factor */

static npmd_status told(const view_values *v, double done, npmd_error *err)
{
    if (v->what->progress != NULL && v->what->progress(done, v->what->user) != 0)
        return npmd_fail(err, NPMD_STOPPED, "the page was not made: the caller asked to stop");
    return NPMD_OK;
}

/* ---- where ------------------------------------------------------------------------------------------------ */

/* How many nodes a factor gets: a smooth picture of one; of two, about two million pairs at most. */
static size_t nodes_usual(const npmd_domain *dom, unsigned shown, int factor, bool whole)
{
    const bool circle = strcmp(dom->factor[factor]->name, CIRCLE.name) == 0;
    bool other_circle = false, pair = false;
    for (int d = 0; d < dom->factors; d++)
        if (d != factor && (shown >> d & 1u) != 0) {
            pair = true;
            other_circle = strcmp(dom->factor[d]->name, CIRCLE.name) == 0;
        }
    if (!pair)
        return circle ? (whole ? 720 : 180) : whole ? 40962 : 642;
    if (circle)
        return whole ? (other_circle ? 256 : 90) : 48;
    return whole ? (other_circle ? 4002 : 1442) : 162;
}

static npmd_status factors_choose(const npmd_domain *dom, unsigned asked, unsigned *shown, npmd_error *err)
{
    const unsigned all = dom->factors >= 32 ? ~0u : (1u << dom->factors) - 1u;
    int count = 0;
    *shown = asked != 0 ? asked : all & 3u;
    for (int d = 0; d < dom->factors; d++)
        count += (int)(*shown >> d & 1u);
    if ((*shown & ~all) == 0 && count >= 1 && count <= 2)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "a page shows one or two factors of %s; %d were asked for",
                     dom->text, count);
}

static npmd_status factors_open(view_values *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = v->model->domain;
    TRY(factors_choose(dom, v->what->factors, &v->shown, err));
    int shown = 0;
    for (int d = 0; d < dom->factors; d++)
        shown += (int)(v->shown >> d & 1u);
    for (int d = 0; d < dom->factors; d++)
        if ((v->shown >> d & 1u) != 0) {
            const size_t usual = nodes_usual(dom, v->shown, d, shown == dom->factors);
            view_factor *f = &v->factor[v->factors++];
            TRY(view_factor_open(f, dom, d, v->what->nodes > 0 ? v->what->nodes : usual, err));
        }
done:
    return st;
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static size_t columns_of(const view_values *v)
{
    return v->factors == 2 ? v->factor[1].n : 1;
}

/* Pairs first .. first + count - 1, as rows of the product of the factors shown. */
static void pairs_fill(const view_values *v, size_t first, size_t count, double *x)
{
    const size_t columns = columns_of(v);
    for (size_t k = 0; k < count; k++)
        for (int s = 0; s < v->factors; s++) {
            const view_factor *f = &v->factor[s];
            const size_t node = s == 0 ? (first + k) / columns : (first + k) % columns;
            const size_t width = (size_t)f->on->columns;
            memcpy(x, f->x + node * width, width * sizeof *x);
            x += width;
        }
}

/* Where nothing is integrated out. */
static npmd_status values_evaluate(view_values *v, size_t pairs, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = v->model;
    const double offset = model_offset(m);
    double *x = NULL;
    TRY(memory_new(&x, (pairs < PIECE ? pairs : PIECE) * (size_t)m->domain->columns, err));
    for (size_t first = 0; first < pairs; first += PIECE) {
        const size_t count = pairs - first < PIECE ? pairs - first : PIECE;
        TRY(told(v, 0.95 * (double)first / (double)pairs, err));
        pairs_fill(v, first, count, x);
        TRY(model_values(m, &v->what->how, x, count, v->log_f + first, err));
        for (size_t k = first; k < first + count; k++)
            v->log_f[k] -= offset;
    }
done:
    memory_free(x);
    return st;
}

static npmd_status values_integrate(view_values *v, size_t pairs, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *part = NULL;
    npmd_points *at = NULL;
    TRY(npmd_domain_part(v->model->domain, v->shown, &part, err));
    TRY(points_make(part, pairs < MARGINAL_PIECE ? pairs : MARGINAL_PIECE, &at, err));
    for (size_t first = 0; first < pairs; first += MARGINAL_PIECE) {
        TRY(told(v, 0.95 * (double)first / (double)pairs, err));
        at->n = pairs - first < MARGINAL_PIECE ? pairs - first : MARGINAL_PIECE;
        pairs_fill(v, first, at->n, at->x);
        TRY(npmd_marginal_at(v->model, v->shown, at, NPMD_LOG_DENSITY, v->what->accuracy, v->what->seed,
                             &v->what->how, v->log_f + first, NULL, err));
    }
done:
    npmd_points_free(at);
    npmd_domain_free(part);
    return st;
}

/* ---- marginal densities -------------------------------------------------------------------------------------- */

/* log_sum (nodes of factor s) = log sum_j w_j f, the largest term taken out. */
static void marginal_sum(const view_values *v, int s, double *log_sum)
{
    const view_factor *over = &v->factor[1 - s];
    const size_t columns = v->factor[1].n, step = s == 0 ? 1 : columns;
    for (size_t i = 0; i < v->factor[s].n; i++) {
        const double *row = v->log_f + (s == 0 ? i * columns : i);
        double top = -INFINITY, sum = 0.0;
        for (size_t j = 0; j < over->n; j++)
            top = fmax(top, row[j * step]);
        for (size_t j = 0; j < over->n; j++)
            sum += over->weight[j] * exp(row[j * step] - top);
        log_sum[i] = top + log(sum);
    }
}

/* The node of the highest marginal density, and others anywhere. */
static size_t compared_node(const view_values *v, int s, int k)
{
    const size_t n = v->factor[s].n;
    size_t best = 0;
    if (k > 0)
        return (size_t)rng_permute(rng_key_make(v->what->seed, RNG_VIEW, (uint64_t)s), (uint64_t)k, n);
    for (size_t i = 1; i < n; i++)
        if (v->log_marginal[s][i] > v->log_marginal[s][best])
            best = i;
    return best;
}

static npmd_status marginal_compare(view_values *v, int s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *part = NULL;
    npmd_points *at = NULL;
    const view_factor *f = &v->factor[s];
    const size_t width = (size_t)f->on->columns;
    size_t node[COMPARED];
    double log_f[COMPARED];
    TRY(npmd_domain_part(v->model->domain, 1u << f->factor, &part, err));
    TRY(points_make(part, COMPARED, &at, err));
    for (int k = 0; k < COMPARED; k++) {
        node[k] = compared_node(v, s, k);
        memcpy(at->x + (size_t)k * width, f->x + node[k] * width, width * sizeof *at->x);
    }
    TRY(npmd_marginal_at(v->model, 1u << f->factor, at, NPMD_LOG_DENSITY, v->what->accuracy, v->what->seed,
                         &v->what->how, log_f, NULL, err));
    for (int k = 0; k < COMPARED; k++)
        v->sum_error = fmax(v->sum_error, fabs(expm1(v->log_marginal[s][node[k]] - log_f[k])));
    v->compared += COMPARED;
done:
    npmd_points_free(at);
    npmd_domain_free(part);
    return st;
}

static void mass_sum(view_values *v)
{
    const double *log_f = v->factors == 2 ? v->log_marginal[0] : v->log_f;
    v->mass = 0.0;
    for (size_t i = 0; i < v->factor[0].n; i++)
        v->mass += v->factor[0].weight[i] * exp(log_f[i]);
}

npmd_status view_values_open(view_values *v, const npmd_model *m, const npmd_view_request *what,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *v = (view_values){ .model = m, .what = what };
    TRY(factors_open(v, err));
    v->step = v->factors == 2 ? VIEW_STEP_PAIR : VIEW_STEP_ONE;
    const size_t columns = columns_of(v);
    if (columns > SIZE_MAX / v->factor[0].n / sizeof(double)) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "%zu x %zu nodes are more than this machine can count",
                       v->factor[0].n, columns);
        goto done;
    }
    const size_t pairs = v->factor[0].n * columns;
    TRY(memory_new(&v->log_f, pairs, err));
    if (v->factors == m->domain->factors)
        TRY(values_evaluate(v, pairs, err));
    else
        TRY(values_integrate(v, pairs, err));
    for (size_t k = 0; k < pairs; k++)
        if (isnan(v->log_f[k]) || v->log_f[k] == INFINITY) {
            st = npmd_fail(err, NPMD_ERR_NUMERIC, "log density %g at node %zu, a finite one was expected",
                           v->log_f[k], k + 1);
            goto done;
        }
    for (int s = 0; s < 2 && v->factors == 2; s++) {
        TRY(memory_new(&v->log_marginal[s], v->factor[s].n, err));
        marginal_sum(v, s, v->log_marginal[s]);
    }
    mass_sum(v);
    for (int s = 0; s < 2 && v->factors == 2 && m->domain->factors == 2; s++) {
        TRY(told(v, 0.95 + 0.02 * s, err));
        TRY(marginal_compare(v, s, err));
    }
done:
    return st;
}

void view_values_close(view_values *v)
{
    view_factor_close(&v->factor[0]);
    view_factor_close(&v->factor[1]);
    memory_free(v->log_f);
    memory_free(v->log_marginal[0]);
    memory_free(v->log_marginal[1]);
    *v = (view_values){ 0 };
}
