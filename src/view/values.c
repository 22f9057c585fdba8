/* values.c - the density at the nodes of one factor, or at all pairs of nodes of two.
 *
 * A model of more factors is integrated over the others, a node at a time. Marginal densities of a pair are sums by the
 * weights of the nodes,
 *
 *     f_1(x_i) = sum_j w_j f(x_i, y_j),      f(y_j | x_i) = f(x_i, y_j) / f_1(x_i),
 *
 * so that every conditional density of the page has mass 1 on the page; and so is the one that a page of one factor of
 * two shows. How far such sums are from the integrals is measured at a few nodes, unless the values are integrals
 * themselves, of which each takes long. */
#include "view.h"

#define PIECE 8192     /* pairs that are evaluated together */
#define COMPARED 4     /* nodes of each factor */
#define LONGEST 1800.0 /* seconds that integrals may take */
#define TRIED 20.0     /* and after which the rest is foretold */

static npmd_status told(view_values *v, double done, npmd_error *err)
{
    v->done = done;
    if (compute_tell(v->what->how, "page", done) != 0)
        return npmd_fail(err, NPMD_STOPPED, "the page was not made: the caller asked to stop");
    return NPMD_OK;
}

/* The same from inside a long computation; before the first integral is there nothing foretells how long it will be. */
static int still_told(void *user)
{
    view_values *v = user;
    v->late = v->began > 0.0 && v->done <= 0.0 && clock_seconds() - v->began > LONGEST;
    return v->late || told(v, v->done, NULL) != NPMD_OK;
}

/* ---- where ------------------------------------------------------------------------------------------------ */

/* How many nodes a factor gets: a smooth picture of one; of two, about two million pairs at most, one of them shown or
 * both. */
static size_t nodes_usual(const npmd_domain *dom, unsigned shown, int factor, bool whole)
{
    const bool circle = strcmp(dom->factor[factor]->name, CIRCLE.name) == 0;
    bool other_circle = false, pair = false;
    if (dom->factors == 2 && !whole)
        return !circle ? 1442 : (shown >> factor & 1u) != 0 ? 180 : 256;
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
    const asking ask = { still_told, v };
    int shown = 0;
    TRY(factors_choose(dom, v->what->factors, &v->shown, err));
    for (int d = 0; d < dom->factors; d++)
        shown += (int)(v->shown >> d & 1u);
    for (int d = 0; d < dom->factors; d++) {
        const size_t usual = nodes_usual(dom, v->shown, d, shown == dom->factors);
        if ((v->shown >> d & 1u) != 0) {
            view_factor *f = &v->factor[v->factors++];
            TRY(view_factor_open(f, dom, d, v->what->nodes > 0 ? v->what->nodes : usual, &ask, err));
        } else if (dom->factors == 2) {
            TRY(view_factor_open(&v->hidden, dom, d, usual, &ask, err));
        }
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
        TRY(model_values(m, v->what->how, x, count, v->log_f + first, err));
        for (size_t k = first; k < first + count; k++)
            v->log_f[k] -= offset;
    }
done:
    memory_free(x);
    return st;
}

/* log sum_j w_j exp v_j, the largest term taken out; v_j stands at v[j step]. */
static double log_sum(const view_factor *over, const double *v, size_t step)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t j = 0; j < over->n; j++)
        top = fmax(top, v[j * step]);
    if (top == -INFINITY)
        return top;
    for (size_t j = 0; j < over->n; j++)
        sum += over->weight[j] * exp(v[j * step] - top);
    return top + log(sum);
}

/* Where one factor of two is shown: sums over the nodes of the other. */
static npmd_status values_sum(view_values *v, size_t nodes, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = v->model;
    const npmd_domain *dom = m->domain;
    const view_factor *f = &v->factor[0], *over = &v->hidden;
    const size_t columns = (size_t)dom->columns, width = (size_t)f->on->columns,
                 across = (size_t)over->on->columns;
    const double offset = model_offset(m);
    const size_t together = over->n < PIECE ? PIECE / over->n : 1; /* nodes */
    double *x = NULL, *value = NULL;
    TRY(memory_new(&x, together * over->n * columns, err));
    TRY(memory_new(&value, together * over->n, err));
    for (size_t first = 0; first < nodes; first += together) {
        const size_t count = nodes - first < together ? nodes - first : together;
        TRY(told(v, 0.95 * (double)first / (double)nodes, err));
        for (size_t k = 0; k < count * over->n; k++) {
            double *row = x + k * columns;
            memcpy(row + dom->column[f->factor], f->x + (first + k / over->n) * width, width * sizeof *x);
            memcpy(row + dom->column[over->factor], over->x + k % over->n * across, across * sizeof *x);
        }
        TRY(model_values(m, v->what->how, x, count * over->n, value, err));
        for (size_t i = 0; i < count; i++)
            v->log_f[first + i] = log_sum(over, value + i * over->n, 1) - offset;
    }
done:
    memory_free(x);
    memory_free(value);
    return st;
}

/* The first integrals foretell the time of all. */
static npmd_status reach_check(const view_values *v, size_t computed, size_t nodes, double seconds,
                               npmd_error *err)
{
    const double all = seconds / (double)computed * (double)nodes;
    if (seconds < TRIED || all <= LONGEST)
        return NPMD_OK;
    return npmd_fail(
        err, NPMD_ERR_ARGUMENT,
        "%zu integrals over the other factors of %s would take about %.0f minutes, as the first %zu do; "
        "at most %.0f are spent: ask for fewer `nodes`, one factor, or a larger `accuracy`",
        nodes, v->model->domain->text, all / 60.0, computed, LONGEST / 60.0);
}

static npmd_status values_integrate(view_values *v, size_t pairs, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    marginal_integral g = { 0 };
    double x[DOMAIN_MAX_COLUMNS], se = 0.0;
    TRY(told(v, 0.0, err));
    v->began = clock_seconds();
    TRY(marginal_open(&g, v->model, v->shown, v->what->accuracy, v->what->seed, v->what->how,
                      &(asking){ still_told, v }, err));
    const double began = clock_seconds();
    for (size_t k = 0; k < pairs; k++) {
        TRY(told(v, 0.95 * (double)k / (double)pairs, err));
        pairs_fill(v, k, 1, x);
        TRY(marginal_log_density(&g, x, &v->log_f[k], &se, err));
        TRY(reach_check(v, k + 1, pairs, clock_seconds() - began, err));
    }
done:
    if (st == NPMD_STOPPED && v->late)
        st = npmd_fail(
            err, NPMD_ERR_ARGUMENT,
            "after %.0f minutes not one integral over the other factors of %s was done: a sharp density on "
            "so many factors is out of reach",
            LONGEST / 60.0, v->model->domain->text);
    marginal_close(&g);
    return st;
}

/* ---- marginal densities -------------------------------------------------------------------------------------- */

static void marginal_sum(const view_values *v, int s, double *log_marginal)
{
    const size_t columns = v->factor[1].n;
    for (size_t i = 0; i < v->factor[s].n; i++)
        log_marginal[i] = log_sum(&v->factor[1 - s], v->log_f + (s == 0 ? i * columns : i),
                                  s == 0 ? 1 : columns);
}

/* Marginal densities of a factor shown, by sums. */
static const double *summed(const view_values *v, int s)
{
    return v->factors == 2 ? v->log_marginal[s] : v->log_f;
}

/* The node of the highest marginal density, and others anywhere. */
static size_t compared_node(const view_values *v, int s, int k)
{
    const size_t n = v->factor[s].n;
    size_t best = 0;
    if (k > 0)
        return (size_t)rng_permute(rng_key_make(v->what->seed, RNG_VIEW, (uint64_t)s), (uint64_t)k, n);
    for (size_t i = 1; i < n; i++)
        if (summed(v, s)[i] > summed(v, s)[best])
            best = i;
    return best;
}

/* The integral has an error of its own, which counts as well. */
static npmd_status marginal_compare(view_values *v, int s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    marginal_integral g = { 0 };
    const view_factor *f = &v->factor[s];
    TRY(marginal_open_plain(&g, v->model, 1u << f->factor, v->what->accuracy, v->what->seed, v->what->how,
                            &(asking){ still_told, v }, err));
    for (int k = 0; k < COMPARED; k++) {
        const size_t node = compared_node(v, s, k);
        double log_f = 0.0, se = 0.0;
        TRY(marginal_log_density(&g, f->x + node * (size_t)f->on->columns, &log_f, &se, err));
        v->sum_error = fmax(v->sum_error, fabs(expm1(summed(v, s)[node] - log_f)) + se);
    }
    v->compared += COMPARED;
done:
    marginal_close(&g);
    return st;
}

static void mass_sum(view_values *v)
{
    const double *log_f = summed(v, 0);
    v->mass = 0.0;
    for (size_t i = 0; i < v->factor[0].n; i++)
        v->mass += v->factor[0].weight[i] * exp(log_f[i]);
}

npmd_status view_values_open(view_values *v, const npmd_model *m, const npmd_view_request *what,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *v = (view_values){ .model = m, .what = what };
    if (what->nodes > VIEW_NODES_MOST) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "`nodes` is %zu, expected an integer from 1 to %d",
                       what->nodes, VIEW_NODES_MOST);
        goto done;
    }
    TRY(factors_open(v, err));
    v->step = v->factors == 2 ? VIEW_STEP_PAIR : VIEW_STEP_ONE;
done:
    return st;
}

size_t view_values_count(const view_values *v)
{
    return v->factor[0].n * columns_of(v);
}

static npmd_status values_check(const view_values *v, npmd_error *err)
{
    for (size_t k = 0; k < view_values_count(v); k++)
        if (isnan(v->log_f[k]) || v->log_f[k] == INFINITY)
            return npmd_fail(err, NPMD_ERR_NUMERIC, "log density %g at node %zu, a finite one was expected",
                             v->log_f[k], k + 1);
    return NPMD_OK;
}

npmd_status view_values_compute(view_values *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t pairs = view_values_count(v);
    TRY(memory_new(&v->log_f, pairs, err));
    if (v->factors == v->model->domain->factors)
        TRY(values_evaluate(v, pairs, err));
    else if (v->hidden.n > 0)
        TRY(values_sum(v, pairs, err));
    else
        TRY(values_integrate(v, pairs, err));
    TRY(values_check(v, err));
    for (int s = 0; s < 2 && v->factors == 2; s++) {
        TRY(memory_new(&v->log_marginal[s], v->factor[s].n, err));
        marginal_sum(v, s, v->log_marginal[s]);
    }
    mass_sum(v);
    for (int s = 0; s < v->factors && v->model->domain->factors == 2; s++) {
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
    view_factor_close(&v->hidden);
    memory_free(v->log_f);
    memory_free(v->log_marginal[0]);
    memory_free(v->log_marginal[1]);
    *v = (view_values){ 0 };
}
