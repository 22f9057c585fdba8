/* marginals.c - densities of models and truths at nodes; some factors may be fixed, others integrated out.
 *
 *     log g(a) = log integral over r of f(a, fixed, r) dr = log volume(r) + log sum_k w_k f(a, fixed, r_k)
 *
 * by the product of the factors' quadrature rules. The rule is chosen by comparing two of them at a few of the
 * nodes. */
#include "figures.h"

#define CHUNK 65536                /* rows of a truth at a time */
#define TOGETHER ((size_t)1 << 20) /* values of one question, where they are summed */

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The share done after this many more points. The expected number may grow meanwhile; the share reported does not
 * fall. */
static double share_after(const figure *f, double points)
{
    return f->expected > 0.0 ? fmax(f->told, fmin((f->done + points) / f->expected, 1.0)) : f->told;
}

static npmd_status figure_tell(figure *f, double points, npmd_error *err)
{
    f->told = share_after(f, points);
    f->done += points;
    if (compute_tell(f->how, "picture", f->told) != 0)
        return npmd_fail(err, NPMD_STOPPED, "stopped before the picture was drawn");
    return NPMD_OK;
}

static size_t nodes_count(const figure *f, unsigned factors, const size_t *n)
{
    size_t count = 1;
    for (int d = 0; d < f->domain->factors; d++)
        count *= factors >> d & 1 ? n[d] : 1;
    return count;
}

/* Rows first .. first + count - 1 of all combinations: x (count, columns). */
static void rows_fill(const domain_look *dom, const figure_nodes *at, size_t first, size_t count, double *x)
{
    for (size_t i = 0; i < count; i++, x += dom->columns) {
        size_t left = first + i;
        for (int d = dom->factors - 1; d >= 0; d--) {
            const size_t columns = (size_t)dom->factor[d].columns;
            memcpy(x + dom->factor[d].column, at->x[d] + left % at->n[d] * columns, columns * sizeof *x);
            left /= at->n[d];
        }
    }
}

static npmd_status truth_values(figure *f, const npmd_truth *t, const figure_nodes *at, size_t points, double *out,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t most = points < CHUNK ? points : CHUNK;
    double *x = NULL;
    TRY(memory_new(&x, most * (size_t)f->domain->columns, err));
    for (size_t first = 0; first < points; first += most) {
        const size_t count = points - first < most ? points - first : most;
        rows_fill(f->domain, at, first, count, x);
        TRY(npmd_truth_log_density(t, x, count, f->how, out + first, err));
        TRY(figure_tell(f, (double)count, err));
    }
done:
    memory_free(x);
    return st;
}

npmd_status source_values(figure *f, const source *s, bool spread, const figure_nodes *at, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t points = nodes_count(f, ~0U, at->n);
    if (s->truth != NULL)
        return truth_values(f, s->truth, at, points, out, err);
    compute_part part = { f->how, "picture", f->told, share_after(f, (double)points) };
    const npmd_compute own = compute_of_part(&part);
    st = npmd_evaluate_grid(s->model, at->x, at->n, spread ? NPMD_SPREAD : NPMD_LOG_DENSITY, &own, out, err);
    if (st == NPMD_STOPPED)
        return npmd_fail(err, NPMD_STOPPED, "stopped before the picture was drawn");
    TRY(st);
    TRY(figure_tell(f, (double)points, err));
done:
    return st;
}

npmd_status zeros_raise(const source *s, double *value, size_t n, npmd_error *err)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!(value[i] <= LOG_MOST))
            return npmd_fail(err, NPMD_ERR_NUMERIC,
                             "%s: log density %g at node %zu of %zu cannot be drawn, at most %g was expected", s->name,
                             value[i], i + 1, n, LOG_MOST);
        if (isfinite(value[i]))
            least = fmin(least, value[i]);
        most = fmax(most, value[i]);
    }
    if (n > 0 && least == INFINITY)
        return npmd_fail(err, NPMD_ERR_NUMERIC, "%s: the density is zero at all of %zu nodes", s->name, n);
    least = fmax(least, most - LOG_DEEPEST);
    for (size_t i = 0; i < n; i++)
        value[i] = fmax(value[i], least);
    return NPMD_OK;
}

/* ---- Integrating factors out ------------------------------------------------------------------------------------- */

typedef struct rest_rule { /* the product of the rules of some factors */
    size_t nodes;
    double *x[NPMD_MAX_FACTORS]; /* of each of them */
    size_t n[NPMD_MAX_FACTORS];
    double *weight; /* (nodes), sum 1 */
    double volume;
} rest_rule;

static void rest_free(rest_rule *r)
{
    for (int d = 0; d < NPMD_MAX_FACTORS; d++)
        memory_free(r->x[d]);
    memory_free(r->weight);
    *r = (rest_rule){ 0 };
}

/* The N of a factor's rule: a circle has as many nodes as a sphere has along its equator. */
static size_t rule_size(const factor_look *of, size_t N)
{
    return of->dimension == 1 ? 2 * N : N;
}

/* Puts one more factor's rule under the nodes so far: every node becomes as many as that rule has. */
static npmd_status rest_multiply(rest_rule *r, const factor_look *of, int d, size_t N, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t more = npmd_domain_rule_nodes(of->alone, N);
    double *weight = NULL, *all = NULL;
    TRY(memory_new(&r->x[d], more * (size_t)of->columns, err));
    TRY(memory_new(&weight, more, err));
    TRY(memory_new(&all, r->nodes * more, err));
    TRY(npmd_domain_rule(of->alone, N, r->x[d], weight, err));
    for (size_t i = 0; i < r->nodes; i++)
        for (size_t k = 0; k < more; k++)
            all[i * more + k] = r->weight[i] * weight[k];
    memory_free(r->weight);
    r->weight = all;
    all = NULL;
    r->n[d] = more;
    r->nodes *= more;
    r->volume *= of->volume;
done:
    memory_free_all(weight, all);
    return st;
}

/* Nodes of the product, as a number that cannot overflow. */
static double rest_count(const domain_look *dom, unsigned factors, size_t N)
{
    double nodes = 1.0;
    for (int d = 0; d < dom->factors; d++)
        if (factors >> d & 1)
            nodes *= (double)npmd_domain_rule_nodes(dom->factor[d].alone, rule_size(&dom->factor[d], N));
    return nodes;
}

static npmd_status rest_open(const domain_look *dom, unsigned factors, size_t N, rest_rule *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    rest_rule r = { .nodes = 1, .volume = 1.0 };
    TRY(memory_new(&r.weight, 1, err));
    r.weight[0] = 1.0;
    for (int d = 0; d < dom->factors; d++)
        if (factors >> d & 1)
            TRY(rest_multiply(&r, &dom->factor[d], d, rule_size(&dom->factor[d], N), err));
    *out = r;
    r = (rest_rule){ 0 };
done:
    rest_free(&r);
    return st;
}

static int first_of(unsigned factors)
{
    int d = 0;
    while (!(factors >> d & 1))
        d++;
    return d;
}

/* Where combination i of the nodes of some factors stands among those of all. */
static size_t combination(const figure *f, unsigned factors, const size_t *n, size_t i)
{
    size_t at = 0, stride = 1;
    for (int d = f->domain->factors - 1; d >= 0; d--) {
        if (factors >> d & 1) {
            at += i % n[d] * stride;
            i /= n[d];
        }
        stride *= n[d];
    }
    return at;
}

/* log(volume x sum_k w_k exp(logs[at[k]])), the largest term taken out. */
static double rest_sum(const rest_rule *r, const double *logs, const size_t *at)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t k = 0; k < r->nodes; k++)
        top = fmax(top, logs[at[k]]);
    if (top == -INFINITY)
        return top;
    for (size_t k = 0; k < r->nodes; k++)
        sum += r->weight[k] * exp(logs[at[k]] - top);
    return top + log(sum * r->volume);
}

/* A whole grid of shown nodes, some nodes of the first factor shown at a time. */
static npmd_status rest_integrate(figure *f, const source *s, const view *v, const rest_rule *r,
                                  const figure_nodes *shown, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const domain_look *dom = f->domain;
    const int lead = first_of(v->shown);
    const unsigned all = (1U << dom->factors) - 1, rest = all & ~v->shown & ~v->given;
    const size_t across = nodes_count(f, v->shown & ~(1U << lead), shown->n), one = across * r->nodes,
                 together = one < TOGETHER ? TOGETHER / one : 1,
                 most = shown->n[lead] < together ? shown->n[lead] : together;
    figure_nodes at = *shown;
    size_t *place = NULL;
    double *value = NULL;
    TRY(memory_new(&value, most * one, err));
    TRY(memory_new(&place, r->nodes, err));
    for (int d = 0; d < dom->factors; d++)
        if (!(v->shown >> d & 1)) {
            at.x[d] = v->given >> d & 1 ? v->fixed + dom->factor[d].column : r->x[d];
            at.n[d] = v->given >> d & 1 ? 1 : r->n[d];
        }
    for (size_t first = 0; first < shown->n[lead]; first += most) {
        at.n[lead] = shown->n[lead] - first < most ? shown->n[lead] - first : most;
        at.x[lead] = shown->x[lead] + first * (size_t)dom->factor[lead].columns;
        TRY(source_values(f, s, false, &at, value, err));
        for (size_t k = 0; k < r->nodes; k++)
            place[k] = combination(f, rest, at.n, k);
        for (size_t i = 0; i < at.n[lead] * across; i++)
            out[first * across + i] = rest_sum(r, value + combination(f, v->shown, at.n, i), place);
    }
done:
    memory_free_all(value, place);
    return st;
}

/* ---- Which rule -------------------------------------------------------------------------------------------------- */

#define TRIED 24         /* nodes at which two rules are compared */
#define AGREE 0.01       /* in the log: what is drawn with colours need not be better */
#define MOST_NODES 20000 /* of the rest's rule: beyond, the finest so far is taken */
#define COARSEST 12

/* The work of the coarsest product is counted before anything is allocated. A single factor is never too much: a
 * surface has as many nodes as it has. */
#define MOST_OPENED 1e6 /* nodes of the coarsest rule */
#define MOST_POINTS 4e8 /* evaluations of one marginal density: the three spheres of S2^3 need this much */
static npmd_status rest_check(const domain_look *dom, unsigned rest, size_t n, npmd_error *err)
{
    const double nodes = rest_count(dom, rest, COARSEST);
    if ((rest & (rest - 1)) == 0 || (nodes <= MOST_OPENED && nodes * (double)n <= MOST_POINTS))
        return NPMD_OK;
    return npmd_fail(
        err, NPMD_ERR_ARGUMENT,
        "a density on %s with so many factors integrated out is a sum over %.3g nodes at each of %zu places, more "
        "than is drawn: fix some factors by `given` and `at`; a torus is drawn by `kind` corner from draws",
        dom->text, nodes, n);
}

/* Some of the nodes shown. Those of two factors are no grid: one question for each. */
static npmd_status rest_try(figure *f, const source *s, const view *v, const rest_rule *r, const figure_nodes *shown,
                            const size_t *some, size_t tried, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int lead = first_of(v->shown);
    const size_t columns = (size_t)f->domain->factor[lead].columns;
    double x[TRIED * LOOK_COLUMNS / NPMD_MAX_FACTORS];
    for (size_t i = 0; i < tried && v->shown == 1U << lead; i++)
        memcpy(x + i * columns, shown->x[lead] + some[i] * columns, columns * sizeof *x);
    if (v->shown == 1U << lead) {
        figure_nodes line = { 0 };
        line.x[lead] = x;
        line.n[lead] = tried;
        return rest_integrate(f, s, v, r, &line, out, err);
    }
    for (size_t i = 0; i < tried; i++) {
        figure_nodes one = { 0 };
        size_t left = some[i];
        for (int d = f->domain->factors - 1; d >= 0; d--)
            if (v->shown >> d & 1) {
                one.x[d] = shown->x[d] + left % shown->n[d] * (size_t)f->domain->factor[d].columns;
                one.n[d] = 1;
                left /= shown->n[d];
            }
        TRY(rest_integrate(f, s, v, r, &one, out + i, err));
    }
done:
    return st;
}

/* The coarsest of the rules 12, 24, 48, ... that agrees with the next at the nodes where the function is largest. */
static npmd_status rest_choose(figure *f, const source *s, const view *v, unsigned rest, const figure_nodes *shown,
                               size_t n, rest_rule *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t tried = n < TRIED ? n : TRIED;
    size_t some[TRIED];
    double coarse[TRIED], fine[TRIED];
    rest_rule now = { 0 }, next = { 0 };
    for (size_t i = 0; i < tried; i++) /* spread over the sheet by the golden section */
        some[i] = (size_t)(fmod(0.5 + 0.6180339887498949 * (double)i, 1.0) * (double)n);
    TRY(rest_open(f->domain, rest, COARSEST, &now, err));
    TRY(rest_try(f, s, v, &now, shown, some, tried, coarse, err));
    for (size_t N = 2 * COARSEST; rest_count(f->domain, rest, N) <= MOST_NODES; N *= 2) {
        double worst = 0.0, top = -INFINITY;
        TRY(rest_open(f->domain, rest, N, &next, err));
        TRY(rest_try(f, s, v, &next, shown, some, tried, fine, err));
        for (size_t i = 0; i < tried; i++)
            top = fmax(top, fine[i]);
        for (size_t i = 0; i < tried; i++)
            worst = fmax(worst, fabs(fine[i] - coarse[i]) * exp(0.25 * (fine[i] - top)));
        memcpy(coarse, fine, sizeof fine);
        if (worst <= AGREE)
            break;
        rest_free(&now);
        now = next;
        next = (rest_rule){ 0 };
    }
    *out = now;
    now = (rest_rule){ 0 };
done:
    rest_free(&now);
    rest_free(&next);
    return st;
}

npmd_status view_values(figure *f, const source *s, const view *v, const figure_nodes *shown, double *out,
                        npmd_error *err)
{
    npmd_status st = NPMD_OK;
    rest_rule r = { 0 };
    const unsigned all = (1U << f->domain->factors) - 1, rest = all & ~v->shown & ~v->given;
    const size_t n = nodes_count(f, v->shown, shown->n);
    TRY(rest_check(f->domain, rest, n, err));
    if (rest == 0)
        TRY(rest_open(f->domain, 0, 1, &r, err));
    else
        TRY(rest_choose(f, s, v, rest, shown, n, &r, err));
    f->expected = fmax(f->expected, f->done + (double)r.nodes * (double)n);
    TRY(rest_integrate(f, s, v, &r, shown, out, err));
    TRY(zeros_raise(s, out, n, err));
done:
    rest_free(&r);
    return st;
}
