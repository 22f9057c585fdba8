/* view_values.c - the density at the nodes of one factor, or at all pairs of nodes of two.
 *
 * A model with more factors is integrated over the others, node by node. Marginal densities of a pair are weighted sums
 * over the nodes,
 *
 *     f_1(x_i) = sum_j w_j f(x_i, y_j),      f(y_j | x_i) = f(x_i, y_j) / f_1(x_i),
 *
 * so that every conditional density has mass 1 on the page; the same holds for a page that shows one factor of two. The
 * error of such sums is measured at a few nodes, unless the values are integrals themselves, each of which takes
 * long. */
#include "view.h"

#define TOGETHER ((size_t)1 << 20) /* values that are asked for at a time, where they are summed */
#define COMPARED 4                 /* nodes of each factor */
#define VALUES_SHARE 0.95          /* of the time that a page takes, as it is told */
#define LONGEST 1800.0             /* seconds that integrals may take */
#define TRIED 20.0                 /* and after which the rest is foretold */

static npmd_status told(const view_values *v, double done, npmd_error *err)
{
    if (compute_tell(v->what->how, "page", done) != 0)
        return npmd_fail(err, NPMD_STOPPED, "the page was not made: the caller asked to stop");
    return NPMD_OK;
}

/* What the library says where it was stopped, as a caller of the page hears it. */
static npmd_status outcome(npmd_status st, npmd_error *err)
{
    return st != NPMD_STOPPED ? st : npmd_fail(err, NPMD_STOPPED, "the page was not made: the caller asked to stop");
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

/* How many nodes a factor gets: a smooth picture of one; of two, about two million pairs at most, one of them shown or
 * both. */
static size_t nodes_usual(const domain_look *dom, unsigned shown, int factor, bool whole)
{
    const bool circle = dom->factor[factor].kind == FACTOR_CIRCLE;
    bool other_circle = false, pair = false;
    if (dom->factors == 2 && !whole)
        return !circle ? 1442 : (shown >> factor & 1u) != 0 ? 180 : 256;
    for (int d = 0; d < dom->factors; d++)
        if (d != factor && (shown >> d & 1u) != 0) {
            pair = true;
            other_circle = dom->factor[d].kind == FACTOR_CIRCLE;
        }
    if (!pair)
        return circle ? (whole ? 720 : 180) : whole ? 40962 : 642;
    if (circle)
        return whole ? (other_circle ? 256 : 90) : 48;
    return whole ? (other_circle ? 4002 : 1442) : 162;
}

static npmd_status factors_choose(const domain_look *dom, unsigned asked, unsigned *shown, npmd_error *err)
{
    const unsigned all = (1u << dom->factors) - 1u;
    int count = 0;
    *shown = asked != 0 ? asked : all & 3u;
    for (int d = 0; d < dom->factors; d++)
        count += (int)(*shown >> d & 1u);
    if ((*shown & ~all) == 0 && count >= 1 && count <= 2)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "a page shows one or two factors of %s; %d were asked for", dom->text,
                     count);
}

static npmd_status factors_open(view_values *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const domain_look *dom = &v->domain;
    int shown = 0;
    TRY(factors_choose(dom, v->what->factors, &v->shown, err));
    for (int d = 0; d < dom->factors; d++)
        shown += (int)(v->shown >> d & 1u);
    for (int d = 0; d < dom->factors; d++) {
        const size_t usual = nodes_usual(dom, v->shown, d, shown == dom->factors);
        if ((v->shown >> d & 1u) != 0) {
            view_factor *f = &v->factor[v->factors++];
            TRY(view_factor_open(f, dom, d, v->what->nodes > 0 ? v->what->nodes : usual, v->what->how, err));
        } else if (dom->factors == 2) {
            TRY(view_factor_open(&v->hidden, dom, d, usual, v->what->how, err));
        }
    }
done:
    return st;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static size_t columns_of(const view_values *v)
{
    return v->factors == 2 ? v->factor[1].n : 1;
}

/* All pairs, as rows of the product of the factors shown. */
static void pairs_fill(const view_values *v, size_t pairs, double *x)
{
    const size_t columns = columns_of(v);
    for (size_t k = 0; k < pairs; k++)
        for (int s = 0; s < v->factors; s++) {
            const view_factor *f = &v->factor[s];
            const size_t node = s == 0 ? k / columns : k % columns, width = (size_t)f->on->columns;
            memcpy(x, f->x + node * width, width * sizeof *x);
            x += width;
        }
}

/* Where nothing is integrated out. */
static npmd_status values_evaluate(view_values *v, npmd_error *err)
{
    const double *x[2] = { v->factor[0].x, v->factor[1].x };
    const size_t n[2] = { v->factor[0].n, v->factor[1].n };
    compute_part part = { v->what->how, "page", 0.0, VALUES_SHARE };
    const npmd_compute own = compute_of_part(&part);
    return outcome(npmd_evaluate_grid(v->model, x, n, NPMD_LOG_DENSITY, &own, v->log_f, err), err);
}

/* log sum_j w_j exp v_j, the largest term taken out; v_j stands at v[j step]. */
static double log_sum(const double *weight, size_t n, const double *v, size_t step)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t j = 0; j < n; j++)
        top = fmax(top, v[j * step]);
    if (top == -INFINITY)
        return top;
    for (size_t j = 0; j < n; j++)
        sum += weight[j] * exp(v[j * step] - top);
    return top + log(sum);
}

/* Of two factors: log_f (count) at nodes x of one of them, by sums over n nodes y of the other; value (count n) is
 * room. */
static npmd_status sums_over(const view_values *v, int factor, const double *x, size_t count, const double *y,
                             const double *weight, size_t n, const npmd_compute *how, double *value, double *log_f,
                             npmd_error *err)
{
    const double *grid[2] = { factor == 0 ? x : y, factor == 0 ? y : x };
    const size_t nodes[2] = { factor == 0 ? count : n, factor == 0 ? n : count };
    const npmd_status st = npmd_evaluate_grid(v->model, grid, nodes, NPMD_LOG_DENSITY, how, value, err);
    /* the values of a node stand side by side, or as far apart as it has fellows */
    for (size_t i = 0; st == NPMD_OK && i < count; i++)
        log_f[i] = factor == 0 ? log_sum(weight, n, value + i * n, 1) : log_sum(weight, n, value + i, count);
    return st;
}

/* Where one factor of two is shown: sums over the nodes of the other. */
static npmd_status values_sum(view_values *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const view_factor *f = &v->factor[0], *over = &v->hidden;
    const size_t together = over->n < TOGETHER ? TOGETHER / over->n : 1, most = f->n < together ? f->n : together;
    compute_part part = { v->what->how, "page", 0.0, 0.0 };
    const npmd_compute own = compute_of_part(&part);
    double *value = NULL;
    TRY(memory_new(&value, most * over->n, err));
    for (size_t first = 0; first < f->n; first += most) {
        const size_t count = f->n - first < most ? f->n - first : most;
        part.from = part.to;
        part.to = VALUES_SHARE * (double)(first + count) / (double)f->n;
        TRY(sums_over(v, f->factor, f->x + first * (size_t)f->on->columns, count, over->x, over->weight, over->n, &own,
                      value, v->log_f + first, err));
    }
done:
    memory_free(value);
    return outcome(st, err);
}

/* ---- integrals --------------------------------------------------------------------------------------------------- */

/* Integrals over the other factors, while they are computed: what takes too long is given up. Where the density has its
 * mass is learnt first, so that time counts from the first integral that is done; before it the total time cannot be
 * predicted. */
typedef struct integrals {
    const view_values *v;
    double began, first;      /* seconds: when it did, and when the first were done; first 0: none is */
    size_t all, before, done; /* integrals; before: done at first */
    bool late;
} integrals;

static double integrals_foretold(const integrals *g) /* seconds of all of them; 0: not known */
{
    const double seconds = clock_seconds() - g->first;
    return g->first > 0.0 && g->done > g->before && seconds >= TRIED
               ? seconds / (double)(g->done - g->before) * (double)g->all
               : 0.0;
}

static int integrals_progress(const npmd_report *now, void *user)
{
    integrals *g = user;
    g->done = (size_t)lrint(now->done * (double)g->all);
    if (g->first <= 0.0 && g->done > 0) {
        g->first = clock_seconds();
        g->before = g->done;
    }
    g->late = g->done == 0 ? clock_seconds() - g->began > LONGEST : integrals_foretold(g) > LONGEST;
    return g->late || told(g->v, VALUES_SHARE * now->done, NULL) != NPMD_OK;
}

static npmd_status integrals_refuse(const integrals *g, npmd_error *err)
{
    const char *domain = g->v->domain.text;
    if (g->done == 0)
        return npmd_fail(
            err, NPMD_ERR_ARGUMENT,
            "after %.0f minutes not one integral over the other factors of %s was done: a sharp density on "
            "so many factors is out of reach",
            LONGEST / 60.0, domain);
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "%zu integrals over the other factors of %s would take about %.0f minutes, as the first %zu do; "
                     "at most %.0f are spent: ask for fewer `nodes`, one factor, or a larger `accuracy`",
                     g->all, domain, integrals_foretold(g) / 60.0, g->done, LONGEST / 60.0);
}

/* n points of the product of these factors: rows x (n, columns). */
static npmd_status points_of(const view_values *v, unsigned factors, const double *x, size_t n, npmd_points **out,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *part = NULL;
    TRY(npmd_domain_part(v->domain.of, factors, &part, err));
    TRY(npmd_points_from(x, n, (size_t)npmd_domain_columns(part), part, NPMD_COORDS_DEFAULT, out, err));
done:
    npmd_domain_free(part);
    return st;
}

static npmd_status values_integrate(view_values *v, size_t pairs, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    integrals g = { .v = v, .began = clock_seconds(), .all = pairs };
    npmd_compute own = { .size = sizeof own };
    npmd_points *at = NULL;
    double *x = NULL;
    size_t columns = 0;
    if (v->what->how != NULL)
        own = *v->what->how;
    own.progress = integrals_progress;
    own.user = &g;
    for (int s = 0; s < v->factors; s++)
        columns += (size_t)v->factor[s].on->columns;
    TRY(memory_new(&x, pairs * columns, err));
    pairs_fill(v, pairs, x);
    TRY(points_of(v, v->shown, x, pairs, &at, err));
    TRY(npmd_marginal_at(v->model, v->shown, at, NPMD_LOG_DENSITY, v->what->accuracy, v->what->seed, &own, v->log_f,
                         NULL, err));
done:
    npmd_points_free(at);
    memory_free(x);
    return st == NPMD_STOPPED && g.late ? integrals_refuse(&g, err) : outcome(st, err);
}

/* ---- marginal densities ------------------------------------------------------------------------------------------ */

static void marginal_sum(const view_values *v, int s, double *log_marginal)
{
    const size_t columns = v->factor[1].n;
    const view_factor *over = &v->factor[1 - s];
    for (size_t i = 0; i < v->factor[s].n; i++)
        log_marginal[i] = log_sum(over->weight, over->n, v->log_f + (s == 0 ? i * columns : i), s == 0 ? 1 : columns);
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

/* By the library's integral. */
static npmd_status marginal_integrals(const view_values *v, int factor, const double *x, const npmd_compute *how,
                                      double *log_f, double *se, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *at = NULL;
    TRY(points_of(v, 1u << factor, x, COMPARED, &at, err));
    TRY(npmd_marginal_at(v->model, 1u << factor, at, NPMD_LOG_DENSITY, v->what->accuracy, v->what->seed, how, log_f, se,
                         err));
done:
    npmd_points_free(at);
    return st;
}

/* One sum over the rule of the other factor, of this resolution. */
static npmd_status marginal_rule(const view_values *v, int factor, const double *x, size_t resolution,
                                 const npmd_compute *how, double *log_f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const factor_look *over = &v->domain.factor[1 - factor];
    const size_t nodes = npmd_domain_rule_nodes(over->alone, resolution);
    double *y = NULL, *weight = NULL, *value = NULL;
    TRY(memory_new(&y, nodes * (size_t)over->columns, err));
    TRY(memory_new(&weight, nodes, err));
    TRY(memory_new(&value, nodes * COMPARED, err));
    TRY(npmd_domain_rule(over->alone, resolution, y, weight, err));
    TRY(sums_over(v, factor, x, COMPARED, y, weight, nodes, how, value, log_f, err));
    for (size_t k = 0; k < COMPARED; k++)
        log_f[k] += log(over->volume);
done:
    memory_free_all(y, weight, value);
    return st;
}

/* Over a surface: the library's integral would learn where the density is large, which takes longer than the page. The
 * resolution of the rule is doubled until the sums settle; their last change stands for their error. */
#define RULE_COARSEST 16
#define RULE_FINEST 64
static npmd_status marginal_rules(const view_values *v, int factor, const double *x, const npmd_compute *how,
                                  double *log_f, double *se, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double enough = v->what->accuracy > 0.0 ? v->what->accuracy : NPMD_ACCURACY;
    double before[COMPARED], worst = INFINITY;
    TRY(marginal_rule(v, factor, x, RULE_COARSEST, how, log_f, err));
    for (size_t resolution = 2 * RULE_COARSEST; resolution <= RULE_FINEST && worst > enough; resolution *= 2) {
        memcpy(before, log_f, sizeof before);
        TRY(marginal_rule(v, factor, x, resolution, how, log_f, err));
        worst = 0.0;
        for (size_t k = 0; k < COMPARED; k++) {
            se[k] = fabs(log_f[k] - before[k]);
            worst = fmax(worst, se[k]);
        }
    }
done:
    return st;
}

/* fmax passes NaN over. */
static double larger(double a, double b)
{
    return isnan(b) || b > a ? b : a;
}

/* The integral has an error of its own, which counts as well. */
static npmd_status marginal_compare(view_values *v, int s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const view_factor *f = &v->factor[s];
    const size_t width = (size_t)f->on->columns;
    const double from = VALUES_SHARE + 0.02 * s;
    compute_part part = { v->what->how, "page", from, from + 0.02 };
    const npmd_compute own = compute_of_part(&part);
    size_t node[COMPARED];
    double x[COMPARED * LOOK_COLUMNS / NPMD_MAX_FACTORS], log_f[COMPARED], se[COMPARED];
    const bool surface = v->domain.factor[1 - f->factor].kind == FACTOR_SURFACE;
    for (int k = 0; k < COMPARED; k++) {
        node[k] = compared_node(v, s, k);
        memcpy(x + (size_t)k * width, f->x + node[k] * width, width * sizeof *x);
    }
    TRY((surface ? marginal_rules : marginal_integrals)(v, f->factor, x, &own, log_f, se, err));
    for (int k = 0; k < COMPARED; k++)
        v->sum_error = larger(v->sum_error, fabs(expm1(summed(v, s)[node[k]] - log_f[k])) + se[k]);
    v->compared += COMPARED;
done:
    return outcome(st, err);
}

static void mass_sum(view_values *v)
{
    const double *log_f = summed(v, 0);
    v->mass = 0.0;
    for (size_t i = 0; i < v->factor[0].n; i++)
        v->mass += v->factor[0].weight[i] * exp(log_f[i]);
}

/* What the page says of its values is a number, or there is no page. */
static npmd_status sums_check(const view_values *v, npmd_error *err)
{
    if (!isfinite(v->mass))
        return npmd_fail(err, NPMD_ERR_NUMERIC,
                         "the density has mass %g on %zu nodes, a finite one was expected: it cannot be shown", v->mass,
                         v->factor[0].n);
    if (!isfinite(v->sum_error))
        return npmd_fail(err, NPMD_ERR_NUMERIC,
                         "marginal densities by the nodes are off by a factor of %g, so the page would be wrong: ask "
                         "for more `nodes`, or show one factor",
                         v->sum_error);
    return NPMD_OK;
}

npmd_status view_values_open(view_values *v, const npmd_model *m, const npmd_view_request *what, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *v = (view_values){ .model = m, .what = what };
    if (what->nodes > VIEW_NODES_MOST)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "`nodes` is %zu, expected an integer from 1 to %d", what->nodes,
                      VIEW_NODES_MOST));
    TRY(domain_look_open(&v->domain, npmd_model_domain(m), err));
    TRY(factors_open(v, err));
    v->step = v->factors == 2 ? VIEW_STEP_PAIR : VIEW_STEP_ONE;
done:
    return outcome(st, err);
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
    if (v->factors == v->domain.factors)
        TRY(values_evaluate(v, err));
    else if (v->hidden.n > 0)
        TRY(values_sum(v, err));
    else
        TRY(values_integrate(v, pairs, err));
    TRY(values_check(v, err));
    for (int s = 0; s < 2 && v->factors == 2; s++) {
        TRY(memory_new(&v->log_marginal[s], v->factor[s].n, err));
        marginal_sum(v, s, v->log_marginal[s]);
    }
    mass_sum(v);
    for (int s = 0; s < v->factors && v->domain.factors == 2; s++)
        TRY(marginal_compare(v, s, err));
    TRY(sums_check(v, err));
done:
    return st;
}

void view_values_close(view_values *v)
{
    view_factor_close(&v->factor[0]);
    view_factor_close(&v->factor[1]);
    view_factor_close(&v->hidden);
    for (int s = 0; s < 2; s++) {
        mesh_free(&v->surface[s]);
        mesh_free(&v->sphere[s]);
    }
    domain_look_close(&v->domain);
    memory_free_all(v->log_f, v->log_marginal[0], v->log_marginal[1]);
    *v = (view_values){ 0 };
}
