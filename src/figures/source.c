/* source.c - densities at points: of models and truths, whole, or with factors fixed and integrated out.
 *
 *     log g(a) = log integral over r of f(a, fixed, r) dr = log volume(r) + log sum_k w_k f(a, fixed, r_k)
 *
 * by the product of the factors' quadrature rules. The rule is chosen by comparing two of them at a few of the nodes. */
#include "figures.h"

#define CHUNK 65536 /* points evaluated at a time */

/* So many points more are done. What is expected may grow on the way; what is reported does not fall. */
static npmd_status figure_tell(figure *f, double points, npmd_error *err)
{
    f->done += points;
    if (f->expected > 0.0)
        f->told = fmax(f->told, fmin(f->done / f->expected, 1.0));
    if (compute_tell(f->ask->how, "picture", f->told) != 0)
        return npmd_fail(err, NPMD_STOPPED, "stopped before the picture was drawn");
    return NPMD_OK;
}

/* A density may be zero at a node, whose log, -inf, has no cubic through it: it is shown as the least of the others. */
static npmd_status zeros_raise(const source *s, double *value, size_t n, npmd_error *err)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (isnan(value[i]) || value[i] == INFINITY)
            return npmd_fail(err, NPMD_ERR_NUMERIC, "%s: log density %g at node %zu of %zu cannot be drawn",
                             s->name, value[i], i + 1, n);
        if (isfinite(value[i]))
            least = fmin(least, value[i]);
    }
    if (n > 0 && least == INFINITY)
        return npmd_fail(err, NPMD_ERR_NUMERIC, "%s: the density is zero at all of %zu nodes", s->name, n);
    for (size_t i = 0; i < n; i++)
        value[i] = fmax(value[i], least);
    return NPMD_OK;
}

npmd_status source_values(figure *f, const source *s, bool spread, const double *x, size_t n, double *out,
                          npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute *how = f->ask->how;
    const size_t columns = (size_t)f->domain->columns;
    for (size_t first = 0; first < n; first += CHUNK) {
        const size_t count = n - first < CHUNK ? n - first : CHUNK;
        const double *rows = x + first * columns;
        if (s->truth != NULL) {
            TRY(truth_log_density(s->truth, rows, count, out + first, err));
        } else if (spread) {
            {
            evaluator e = { 0 };
            TRY(evaluator_open(&e, s->model, how, err));
            st = blend_spread(&e, rows, count, out + first, err);
            evaluator_close(&e);
            TRY(st);
        }
        } else {
            TRY(model_values(s->model, how, rows, count, out + first, err));
            const double offset = model_offset(s->model);
            for (size_t i = 0; i < count; i++)
                out[first + i] -= offset;
        }
        TRY(figure_tell(f, (double)count, err));
    }
    TRY(zeros_raise(s, out, n, err));
done:
    return st;
}

/* ---- Integrating factors out ---------------------------------------------------------------------------- */

typedef struct rest_rule { /* the product of the rules of some factors */
    size_t nodes;
    double *x;      /* (nodes, columns of the domain): only those factors' columns are filled */
    double *weight; /* (nodes), sum 1 */
    double volume;
} rest_rule;

static void rest_free(rest_rule *r)
{
    memory_free(r->x);
    memory_free(r->weight);
}

/* Puts one more factor's rule under the nodes so far: every node becomes as many as that rule has. */
static npmd_status rest_multiply(rest_rule *r, const npmd_domain *dom, int factor, size_t N, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const manifold *m = dom->factor[factor];
    const size_t more = m->rule_nodes(m, N), columns = (size_t)dom->columns, own = (size_t)m->columns;
    double *x = NULL, *weight = NULL;
    rest_rule next = { .nodes = r->nodes * more, .volume = r->volume * m->volume };
    TRY(memory_new(&x, more * own, err));
    TRY(memory_new(&weight, more, err));
    TRY(memory_new(&next.x, next.nodes * columns, err));
    TRY(memory_new(&next.weight, next.nodes, err));
    TRY(m->rule(m, N, x, weight, err));
    for (size_t i = 0; i < r->nodes; i++)
        for (size_t k = 0; k < more; k++) {
            double *row = next.x + (i * more + k) * columns;
            memcpy(row, r->x + i * columns, columns * sizeof *row);
            memcpy(row + dom->column[factor], x + k * own, own * sizeof *row);
            next.weight[i * more + k] = r->weight[i] * weight[k];
        }
    rest_free(r);
    *r = next;
    next = (rest_rule){ 0 };
done:
    rest_free(&next);
    memory_free(x);
    memory_free(weight);
    return st;
}

/* The N of a factor's rule: a circle has as many nodes as a sphere has along its equator. */
static size_t rule_size(const npmd_domain *dom, int d, size_t N)
{
    return dom->factor[d]->dimension == 1 ? 2 * N : N;
}

/* Nodes of the product, as a number that cannot overflow. */
static double rest_count(const npmd_domain *dom, unsigned factors, size_t N)
{
    double nodes = 1.0;
    for (int d = 0; d < dom->factors; d++)
        if (factors >> d & 1)
            nodes *= (double)dom->factor[d]->rule_nodes(dom->factor[d], rule_size(dom, d, N));
    return nodes;
}

static npmd_status rest_open(const npmd_domain *dom, unsigned factors, size_t N, rest_rule *out,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    rest_rule r = { .nodes = 1, .volume = 1.0 };
    TRY(memory_new(&r.x, dom->columns, err));
    TRY(memory_new(&r.weight, 1, err));
    r.weight[0] = 1.0;
    for (int d = 0; d < dom->factors; d++)
        if (factors >> d & 1)
            TRY(rest_multiply(&r, dom, d, rule_size(dom, d, N), err));
    *out = r;
    r = (rest_rule){ 0 };
done:
    rest_free(&r);
    return st;
}

/* The columns of the factors in a row, from those of a node, where they stand side by side. */
static void node_put(const npmd_domain *dom, unsigned factors, const double *node, double *row)
{
    for (int d = 0; d < dom->factors; d++)
        if (factors >> d & 1) {
            const size_t columns = (size_t)dom->factor[d]->columns;
            memcpy(row + dom->column[d], node, columns * sizeof *row);
            node += columns;
        }
}

static int node_columns(const npmd_domain *dom, unsigned factors)
{
    int columns = 0;
    for (int d = 0; d < dom->factors; d++)
        columns += factors >> d & 1 ? dom->factor[d]->columns : 0;
    return columns;
}

static npmd_status rest_integrate(figure *f, const source *s, const view *v, const rest_rule *r,
                                  const double *nodes, size_t n, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = f->domain;
    const size_t columns = (size_t)dom->columns, width = (size_t)node_columns(dom, v->shown);
    const size_t together = r->nodes < CHUNK ? CHUNK / r->nodes : 1; /* nodes shown in one evaluation */
    double *x = NULL, *value = NULL;
    TRY(memory_new(&x, together * r->nodes * columns, err));
    TRY(memory_new(&value, together * r->nodes, err));
    for (size_t first = 0; first < n; first += together) {
        const size_t some = n - first < together ? n - first : together;
        for (size_t i = 0; i < some; i++)
            for (size_t k = 0; k < r->nodes; k++) {
                double *row = x + (i * r->nodes + k) * columns;
                memcpy(row, r->x + k * columns, columns * sizeof *row);
                node_put(dom, v->shown, nodes + (first + i) * width, row);
                for (int d = 0; d < dom->factors; d++)
                    if (v->given >> d & 1)
                        memcpy(row + dom->column[d], v->fixed + dom->column[d],
                               (size_t)dom->factor[d]->columns * sizeof *row);
            }
        TRY(source_values(f, s, false, x, some * r->nodes, value, err));
        for (size_t i = 0; i < some; i++) {
            const double *logs = value + i * r->nodes;
            double top = -INFINITY, sum = 0.0;
            for (size_t k = 0; k < r->nodes; k++)
                top = fmax(top, logs[k]);
            for (size_t k = 0; k < r->nodes; k++)
                sum += r->weight[k] * exp(logs[k] - top);
            out[first + i] = top + log(sum * r->volume);
        }
    }
done:
    memory_free(x);
    memory_free(value);
    return st;
}

/* ---- Which rule ------------------------------------------------------------------------------------------- */

#define TRIED 24         /* nodes at which two rules are compared */
#define AGREE 0.01       /* in the log: what is drawn with colours need not be better */
#define MOST_NODES 20000 /* of the rest's rule: beyond, the finest so far is taken */
#define COARSEST 12

/* The work of the coarsest product is counted before anything is allocated. A single factor is never too much: a surface has
 * as many nodes as it has. */
#define MOST_OPENED 1e6 /* nodes of the coarsest rule */
#define MOST_POINTS 4e8 /* evaluations of one marginal density: the three spheres of S2^3 need this much */
static npmd_status rest_check(const npmd_domain *dom, unsigned rest, size_t n, npmd_error *err)
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

/* The coarsest of the rules 12, 24, 48, ... that agrees with the next at the nodes where the function is largest. */
static npmd_status rest_choose(figure *f, const source *s, const view *v, unsigned rest, const double *nodes,
                               size_t n, rest_rule *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t width = (size_t)node_columns(f->domain, v->shown), tried = n < TRIED ? n : TRIED;
    double *some = NULL, coarse[TRIED], fine[TRIED];
    rest_rule now = { 0 }, next = { 0 };
    TRY(memory_new(&some, tried * width, err));
    for (size_t i = 0; i < tried; i++) /* spread over the sheet by the golden section */
        memcpy(some + i * width,
               nodes + (size_t)(fmod(0.5 + 0.6180339887498949 * (double)i, 1.0) * (double)n) * width,
               width * sizeof *some);
    TRY(rest_open(f->domain, rest, COARSEST, &now, err));
    TRY(rest_integrate(f, s, v, &now, some, tried, coarse, err));
    for (size_t N = 2 * COARSEST; rest_count(f->domain, rest, N) <= MOST_NODES; N *= 2) {
        double worst = 0.0, top = -INFINITY;
        TRY(rest_open(f->domain, rest, N, &next, err));
        TRY(rest_integrate(f, s, v, &next, some, tried, fine, err));
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
    memory_free(some);
    return st;
}

npmd_status view_values(figure *f, const source *s, const view *v, const double *nodes, size_t n, double *out,
                        npmd_error *err)
{
    npmd_status st = NPMD_OK;
    rest_rule r = { 0 };
    const unsigned all = (1U << f->domain->factors) - 1, rest = all & ~v->shown & ~v->given;
    TRY(rest_check(f->domain, rest, n, err));
    if (rest == 0)
        TRY(rest_open(f->domain, 0, 1, &r, err));
    else
        TRY(rest_choose(f, s, v, rest, nodes, n, &r, err));
    f->expected = fmax(f->expected, f->done + (double)r.nodes * (double)n);
    TRY(rest_integrate(f, s, v, &r, nodes, n, out, err));
done:
    rest_free(&r);
    return st;
}
