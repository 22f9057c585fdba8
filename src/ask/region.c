/* region.c - a density on two surfaces, integrated over regions of them.
 *
 *     f_E(y) = integral over x in E of f(x, y) dx ~ sum over nodes i in E of area_i f(x_i, y)
 *     C_ab   = integral over x in a, y in b of f  ~ sum over nodes j in b of area_j f_a(y_j)
 *
 * The error is estimated with the other rule of region_nodes.c, at evenly chosen vertices. */
#include "region.h"

const char *region_what_name(int i)
{
    static const char *const NAMES[] = { "log-density", "density", "relative", "intensity", "probability", "counts" };
    return i >= 0 && i < (int)(sizeof NAMES / sizeof *NAMES) ? NAMES[i] : NULL;
}

npmd_status region_what_parse(const char *text, npmd_region_what *out, npmd_error *err)
{
    for (int i = 0; region_what_name(i) != NULL; i++)
        if (strcmp(text, region_what_name(i)) == 0) {
            *out = (npmd_region_what)i;
            return NPMD_OK;
        }
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "`what`: \"%.40s\" was found where log-density, density, relative, intensity, probability "
                     "or counts was expected of a region",
                     text);
}

static int size_order(const void *p, const void *q)
{
    const double a = fabs(*(const double *)p), b = fabs(*(const double *)q);
    return (a > b) - (a < b);
}

static void error_facts(double *relative, size_t count, npmd_region_facts *facts)
{
    facts->error_median = facts->error_largest = 0.0;
    if (count == 0)
        return;
    qsort(relative, count, sizeof *relative, size_order);
    facts->error_median = fabs(relative[count / 2]);
    facts->error_largest = fabs(relative[count - 1]);
}

/* ---- the map of a region ----------------------------------------------------------------------------------------- */

double region_as_asked(const npmd_model *m, npmd_region_what what, double volume, double area, double log_density)
{
    switch (what) {
    case NPMD_REGION_LOG_DENSITY:
        return log_density;
    case NPMD_REGION_RELATIVE:
        return volume * exp(log_density);
    case NPMD_REGION_INTENSITY:
        return m->total * exp(log_density);
    case NPMD_REGION_PROBABILITY:
        return area * exp(log_density);
    case NPMD_REGION_COUNTS:
        return m->total * area * exp(log_density);
    case NPMD_REGION_DENSITY:
    default:
        return exp(log_density);
    }
}

/* The nodes of these regions alone, as one region. */
static npmd_status nodes_of_regions(region_nodes *out, const region_nodes *all, const int *region, int regions,
                                    npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *keep = NULL;
    TRY(memory_new(&keep, all->n, err));
    for (size_t i = 0; i < all->n; i++)
        for (int r = 0; r < regions; r++)
            keep[i] |= all->region[i] == region[r];
    TRY(region_nodes_pick(out, all, keep, err));
    if (out->n > 0)
        memset(out->region, 0, out->n * sizeof *out->region);
done:
    memory_free(keep);
    return st;
}

typedef struct region_map {
    pair_values pairs;
    int over;                               /* the factor of the region, from 0 */
    region_nodes all, rows, inside, others; /* of both factors; of the region by either rule */
    row_sums sums;
    rule_pair rules;
} region_map;

static void map_close(region_map *g)
{
    pairs_close(&g->pairs);
    region_nodes_close(&g->all);
    region_nodes_close(&g->rows);
    region_nodes_close(&g->inside);
    region_nodes_close(&g->others);
    sums_close(&g->sums);
    rules_pair_close(&g->rules);
}

static npmd_status map_open(region_map *g, const npmd_model *m, const npmd_region_request *at, int factor,
                            const int *region, int regions, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_labels *l = at->labels[factor - 1];
    region_nodes cells = { 0 };
    g->over = factor - 1;
    for (int r = 0; r < regions; r++)
        if (l == NULL || region[r] < 0 || region[r] >= region_count(l))
            TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "region number %d is not among the %d of factor %d", region[r],
                          l == NULL ? 0 : region_count(l), factor));
    TRY(pairs_open(&g->pairs, m, at, "map", err));
    TRY(region_nodes_open(&g->all, m->domain, g->over, at, false, err));
    TRY(region_nodes_open(&g->rows, m->domain, 1 - g->over, at, false, err));
    TRY(region_nodes_open(&cells, m->domain, g->over, at, true, err));
    TRY(nodes_of_regions(&g->inside, &g->all, region, regions, err));
    TRY(nodes_of_regions(&g->others, &cells, region, regions, err));
    if (g->inside.n == 0)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "no vertex lies in the region"));
    g->pairs.all = (double)g->inside.n * (double)g->rows.n;
    TRY(sums_open(&g->sums, rows_of_a_piece(g->inside.n), 1, err));
done:
    region_nodes_close(&cells);
    return st;
}

static void map_facts(region_map *g, npmd_region_facts *facts)
{
    double inside = 0.0, whole = 0.0;
    for (size_t i = 0; i < g->inside.n; i++)
        inside += g->inside.area[i];
    for (size_t i = 0; i < g->all.n; i++)
        whole += g->all.area[i];
    facts->share = inside / whole;
    facts->compared = g->rules.rows.n;
    error_facts(g->rules.relative, g->rules.rows.n, facts);
}

npmd_status model_region_map(const npmd_model *m, const npmd_region_request *at, int factor, const int *region,
                             int regions, npmd_region_what what, double *out, npmd_region_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    region_map g = { 0 };
    npmd_region_facts found = { .within = NAN, .sum_error = NAN };
    if (factor != 1 && factor != 2)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`factor` is %d, expected 1 or 2", factor);
    TRY(map_open(&g, m, at, factor, region, regions, err));
    if (facts != NULL) {
        g.pairs.all += (double)rules_rows(g.rows.n) * (double)(g.inside.n + g.others.n);
        TRY(rules_compare(&g.rules, &g.pairs, g.over, &g.inside, &g.others, &g.rows, 1, err));
        map_facts(&g, &found);
    }
    const size_t most = rows_of_a_piece(g.inside.n);
    const double volume = m->domain->factor[1 - g.over]->volume;
    for (size_t first = 0; first < g.rows.n; first += most) {
        const node_range rows = { &g.rows, first, g.rows.n - first < most ? g.rows.n - first : most };
        TRY(sums_fill(&g.sums, &g.pairs, g.over, &g.inside, rows, err));
        for (size_t i = 0; i < rows.count; i++) {
            const double log_density = g.sums.top[i] + log(g.sums.sum[i]), area = g.rows.area[first + i];
            if (!(g.sums.sum[i] >= 0.0))
                TRY(npmd_fail(err, NPMD_ERR_NUMERIC,
                              "the density of the region is negative at vertex %zu: the region lies where the "
                              "sphere is folded over, and its area counts as negative",
                              first + i));
            if (what == NPMD_REGION_LOG_DENSITY && !isfinite(log_density))
                TRY(npmd_fail(err, NPMD_ERR_NUMERIC, "the density vanishes at vertex %zu, it has no log", first + i));
            out[first + i] = region_as_asked(m, what, volume, area, log_density);
            found.probability += area * exp(log_density);
        }
    }
    if (facts != NULL)
        *facts = found;
done:
    map_close(&g);
    return st;
}

/* ---- the matrix of all regions ----------------------------------------------------------------------------------- */

typedef struct region_matrix {
    pair_values pairs;
    region_nodes nodes[2];
    size_t regions[2];
    row_sums sums;
    double *value; /* (regions of factor 1, of factor 2) */
} region_matrix;

static void matrix_close(region_matrix *g)
{
    pairs_close(&g->pairs);
    for (int d = 0; d < 2; d++)
        region_nodes_close(&g->nodes[d]);
    sums_close(&g->sums);
    memory_free(g->value);
}

static npmd_status matrix_open(region_matrix *g, const npmd_model *m, const npmd_region_request *at, bool compare,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(pairs_open(&g->pairs, m, at, "matrix", err));
    for (int d = 0; d < 2; d++) {
        if (at->labels[d] == NULL)
            TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "a matrix of regions needs labels of both factors"));
        TRY(region_nodes_open(&g->nodes[d], m->domain, d, at, false, err));
        g->regions[d] = (size_t)region_count(at->labels[d]);
    }
    g->pairs.all = (double)g->nodes[0].n * (double)g->nodes[1].n;
    for (int d = 0; compare && d < 2; d++)
        g->pairs.all += (double)rules_rows(g->nodes[1 - d].n) * (double)(g->nodes[d].n + 3 * at->surface[d]->m.faces);
    TRY(sums_open(&g->sums, rows_of_a_piece(g->nodes[0].n), g->regions[0], err));
    TRY(memory_new(&g->value, g->regions[0] * g->regions[1], err));
done:
    return st;
}

/* C_ab = sum over nodes j of b of area_j x the integral over a at y_j. */
static npmd_status matrix_fill(region_matrix *g, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const region_nodes *y = &g->nodes[1];
    const size_t most = rows_of_a_piece(g->nodes[0].n), A = g->regions[0], B = g->regions[1];
    for (size_t first = 0; first < y->n; first += most) {
        const node_range rows = { y, first, y->n - first < most ? y->n - first : most };
        TRY(sums_fill(&g->sums, &g->pairs, 0, &g->nodes[0], rows, err));
        for (size_t j = 0; j < rows.count; j++) {
            const double weight = y->area[first + j] * exp(g->sums.top[j]);
            for (size_t a = 0; a < A; a++)
                g->value[a * B + (size_t)y->region[first + j]] += weight * g->sums.sum[j * A + a];
        }
    }
done:
    return st;
}

/* One factor's part of the error: relative (regions) of those that have any mass, how many they are, and of the sum. */
static npmd_status matrix_compare(region_matrix *g, int d, double *relative, size_t *count, double *of_sum,
                                  size_t *compared, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_region_request *at = g->pairs.at;
    region_nodes cells = { 0 };
    rule_pair both = { 0 };
    double by_vertices = 0.0, by_others = 0.0;
    TRY(region_nodes_open(&cells, g->pairs.model->domain, d, at, true, err));
    TRY(rules_compare(&both, &g->pairs, d, &g->nodes[d], &cells, &g->nodes[1 - d], g->regions[d], err));
    for (size_t a = 0; a < g->regions[d]; a++) {
        by_vertices += both.vertices[a];
        by_others += both.others[a];
        if (both.vertices[a] > 0.0)
            relative[(*count)++] = both.others[a] / both.vertices[a] - 1.0;
    }
    *of_sum += fabs(by_others / by_vertices - 1.0);
    *compared += both.rows.n;
done:
    region_nodes_close(&cells);
    rules_pair_close(&both);
    return st;
}

static npmd_status matrix_facts(region_matrix *g, npmd_region_facts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_region_request *at = g->pairs.at;
    npmd_region_facts f = { .share = NAN, .sum_error = g->pairs.model->facts.log_integral_se };
    double *relative = NULL;
    size_t count = 0;
    TRY(memory_new(&relative, g->regions[0] + g->regions[1], err));
    for (size_t a = 0; a < g->regions[0]; a++)
        for (size_t b = 0; b < g->regions[1]; b++) {
            const double value = g->value[a * g->regions[1] + b];
            f.probability += value;
            if (strcmp(region_name(at->labels[0], (int)a), region_name(at->labels[1], (int)b)) == 0)
                f.within += value;
        }
    for (int d = 0; d < 2; d++)
        TRY(matrix_compare(g, d, relative, &count, &f.sum_error, &f.compared, err));
    error_facts(relative, count, &f);
    *out = f;
done:
    memory_free(relative);
    return st;
}

npmd_status model_region_matrix(const npmd_model *m, const npmd_region_request *at, npmd_region_what what, double *out,
                                npmd_region_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    region_matrix g = { 0 };
    npmd_region_facts found = { 0 };
    if (what != NPMD_REGION_PROBABILITY && what != NPMD_REGION_COUNTS)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`what`: of a matrix of regions there is probability or counts");
    TRY(matrix_open(&g, m, at, facts != NULL, err));
    TRY(matrix_fill(&g, err));
    if (facts != NULL)
        TRY(matrix_facts(&g, &found, err));
    for (size_t i = 0; i < g.regions[0] * g.regions[1]; i++)
        out[i] = (what == NPMD_REGION_COUNTS ? m->total : 1.0) * g.value[i];
    if (facts != NULL)
        *facts = found;
done:
    matrix_close(&g);
    return st;
}
