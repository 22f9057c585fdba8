/* grid.c - a model at all combinations of nodes of its factors.
 *
 * Nodes are brought to canonical form, and located on a surface, once for each factor, not for each combination. Rows
 * are made piece by piece; the last factor runs fastest. */
#include "ask.h"

#include <float.h>

typedef struct grid {
    const npmd_domain *domain;
    npmd_points *node[NPMD_MAX_FACTORS]; /* of each factor alone */
    size_t points;                       /* combinations */
} grid;

static void grid_close(grid *g)
{
    for (int d = 0; d < g->domain->factors; d++)
        points_free(g->node[d]);
}

/* A number that is canonical but for its last digits is taken as it is given: nodes of a rule mean what they say, and a
 * unit vector that is divided by its length once more is another one. */
static void digits_restore(npmd_points *pts, const double *x)
{
    for (size_t i = 0; !pts->domain->surfaces && i < pts->n * (size_t)pts->domain->columns; i++)
        if (fabs(pts->x[i] - x[i]) <= 4.0 * DBL_EPSILON)
            pts->x[i] = x[i];
}

static npmd_status grid_open(grid *g, const npmd_domain *dom, const double *const *x, const size_t *n, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *factor = NULL;
    npmd_error why = { 0 };
    *g = (grid){ .domain = dom, .points = 1 };
    for (int d = 0; d < dom->factors; d++) {
        if (n[d] > 0 && g->points > SIZE_MAX / sizeof(double) / n[d])
            TRY(npmd_fail(err, NPMD_ERR_MEMORY, "a grid of so many nodes is more than this machine can address"));
        g->points *= n[d];
        TRY(domain_part(dom, 1u << d, &factor, err));
        st = points_from_rows(x[d], n[d], (size_t)factor->columns, factor, NPMD_COORDS_DEFAULT, &g->node[d], &why);
        if (st != NPMD_OK) {
            npmd_fail(err, st, "nodes of factor %d: %s", d + 1, why.text);
            goto done;
        }
        digits_restore(g->node[d], x[d]);
        domain_free(factor);
        factor = NULL;
    }
done:
    domain_free(factor);
    return st;
}

/* Rows first .. first + count - 1. */
static void grid_rows(const grid *g, size_t first, size_t count, double *x)
{
    const npmd_domain *dom = g->domain;
    for (size_t i = 0; i < count; i++, x += dom->columns) {
        size_t left = first + i;
        for (int d = dom->factors - 1; d >= 0; d--) {
            const size_t columns = (size_t)dom->factor[d]->columns;
            memcpy(x + dom->column[d], g->node[d]->x + left % g->node[d]->n * columns, columns * sizeof *x);
            left /= g->node[d]->n;
        }
    }
}

npmd_status model_evaluate_grid(const npmd_model *m, const double *const *x, const size_t *n, npmd_what what,
                                const npmd_compute *how, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    grid g = { .domain = m->domain };
    evaluator of = { 0 };
    double *row = NULL, *jet = NULL;
    TRY(grid_open(&g, m->domain, x, n, err));
    const size_t columns = what_columns(m, what), most = piece_points(how), piece = g.points < most ? g.points : most;
    TRY(evaluator_open(&of, m, how, err));
    TRY(memory_new(&row, piece * (size_t)m->domain->columns, err));
    if (what_needs_jets(what))
        TRY(memory_new(&jet, piece * ((size_t)m->domain->dimension + 2), err));
    for (size_t first = 0; first < g.points; first += piece) {
        const size_t count = g.points - first < piece ? g.points - first : piece;
        TRY(compute_go_on(how, "values", (double)first / (double)g.points, err));
        grid_rows(&g, first, count, row);
        TRY(evaluate_what(&of, what, row, count, jet, out + first * columns, err));
        TRY(numbers_known("the value", out + first * columns, count * columns, columns, first, err));
    }
done:
    evaluator_close(&of);
    grid_close(&g);
    memory_free_all(row, jet);
    return st;
}
