/* region_sums.c - a model at pairs of nodes, and sums over the nodes of regions.
 *
 * The model is evaluated in pieces: a row is one node y of one factor with all nodes x of the other. A row is summed in
 * the order of its nodes, so that nothing depends on the number of threads, and scaled by its largest term, so that log
 * densities far from all data are finite. */
#include "region.h"
#include "surface_factor.h"

/* ---- values at pairs --------------------------------------------------------------------------------------------- */

void pairs_close(pair_values *p)
{
    evaluator_close(&p->of);
    memory_free_all(p->x, p->log_f);
}

npmd_status pairs_open(pair_values *p, const npmd_model *m, const npmd_region_request *at, const char *doing,
                       npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = m->domain;
    *p = (pair_values){ .model = m, .at = at, .doing = doing };
    bool surfaces = dom->factors == 2;
    for (int d = 0; d < dom->factors; d++)
        surfaces = surfaces && (dom->factor[d] == &SPHERE || surface_of(dom->factor[d]) != NULL);
    if (!surfaces)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                      "regions need a model on two surfaces, S2 or mesh:FILE each; this one is on %s", dom->text));
    TRY(evaluator_open(&p->of, m, at->how, err));
    TRY(memory_new(&p->x, REGION_PIECE * (size_t)dom->columns, err));
    TRY(memory_new(&p->log_f, REGION_PIECE, err));
done:
    return st;
}

size_t rows_of_a_piece(size_t nodes)
{
    return nodes >= REGION_PIECE ? 1 : REGION_PIECE / nodes;
}

npmd_status pairs_evaluate(pair_values *p, int over, node_range nodes, node_range rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = p->model->domain;
    const size_t columns = (size_t)dom->columns, pairs = nodes.count * rows.count;
    const size_t node_bytes = (size_t)dom->factor[over]->columns * sizeof(double),
                 row_bytes = (size_t)dom->factor[1 - over]->columns * sizeof(double);
    const double offset = model_offset(p->model);
    assert(pairs <= REGION_PIECE);
    for (size_t i = 0; i < pairs; i++) {
        const size_t node = nodes.first + i % nodes.count, row = rows.first + i / nodes.count;
        double *x = p->x + i * columns;
        memcpy(x + dom->column[over], nodes.nodes->x + 3 * node, node_bytes);
        memcpy(x + dom->column[1 - over], rows.nodes->x + 3 * row, row_bytes);
    }
    TRY(evaluate(&p->of, p->x, pairs, JET_VALUE, p->log_f, err));
    for (size_t i = 0; i < pairs; i++) {
        p->log_f[i] -= offset;
        if (isnan(p->log_f[i]))
            TRY(npmd_fail(err, NPMD_ERR_NUMERIC, "the density is not a number at a pair of nodes"));
    }
    p->done += (double)pairs;
    if (compute_tell(p->at->how, p->doing, p->done / p->all) != 0)
        st = npmd_fail(err, NPMD_STOPPED, "stopped at %.0f %%, nothing was written", 100.0 * p->done / p->all);
done:
    return st;
}

/* ---- sums over regions ------------------------------------------------------------------------------------------- */

void sums_close(row_sums *s)
{
    memory_free_all(s->top, s->sum);
}

npmd_status sums_open(row_sums *s, size_t rows, size_t regions, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *s = (row_sums){ .regions = regions };
    TRY(memory_new(&s->top, rows, err));
    TRY(memory_new(&s->sum, rows * regions, err));
done:
    return st;
}

/* sum_a <- sum_a + the sum over nodes i of region a of area_i exp(log_f_i - top), top the largest so far. */
static void row_add(node_range nodes, const double *log_f, size_t regions, double *top, double *sum)
{
    const double *area = nodes.nodes->area + nodes.first;
    const int32_t *region = nodes.nodes->region + nodes.first;
    double largest = *top;
    for (size_t i = 0; i < nodes.count; i++)
        largest = log_f[i] > largest ? log_f[i] : largest;
    if (largest == -INFINITY)
        return; /* no density here, and nothing to scale by */
    const double shrink = exp(*top - largest);
    for (size_t a = 0; a < regions; a++)
        sum[a] *= shrink;
    for (size_t i = 0; i < nodes.count; i++)
        sum[region[i]] += area[i] * exp(log_f[i] - largest);
    *top = largest;
}

npmd_status sums_fill(row_sums *s, pair_values *p, int over, const region_nodes *nodes, node_range rows,
                      npmd_error *err)
{
    npmd_status st = NPMD_OK;
    memset(s->sum, 0, rows.count * s->regions * sizeof *s->sum);
    for (size_t r = 0; r < rows.count; r++)
        s->top[r] = -INFINITY;
    for (size_t first = 0; first < nodes->n; first += REGION_PIECE) {
        const node_range some = { nodes, first, nodes->n - first < REGION_PIECE ? nodes->n - first : REGION_PIECE };
        TRY(pairs_evaluate(p, over, some, rows, err));
#pragma omp parallel for schedule(static) num_threads(compute_threads(p->at->how))
        for (size_t r = 0; r < rows.count; r++)
            row_add(some, p->log_f + r * some.count, s->regions, &s->top[r], s->sum + r * s->regions);
    }
done:
    return st;
}

/* ---- the other rule ---------------------------------------------------------------------------------------------- */

#define COMPARED_LEAST 16
#define COMPARED_MOST 256
/* A vertex has six thirds of faces: this many vertices take an eighth of the time of all. */
#define COMPARED_SHARE 48

size_t rules_rows(size_t vertices)
{
    const size_t some = vertices / COMPARED_SHARE;
    const size_t count = some < COMPARED_LEAST ? COMPARED_LEAST : some > COMPARED_MOST ? COMPARED_MOST : some;
    return count < vertices ? count : vertices;
}

void rules_pair_close(rule_pair *r)
{
    region_nodes_close(&r->rows);
    memory_free_all(r->relative, r->vertices, r->others);
}

/* Rows chosen evenly from all. */
static npmd_status rules_choose(rule_pair *r, const region_nodes *all, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *keep = NULL;
    const size_t count = rules_rows(all->n);
    TRY(memory_new(&keep, all->n, err));
    for (size_t i = 0; i < count; i++)
        keep[i * all->n / count] = 1;
    TRY(region_nodes_pick(&r->rows, all, keep, err));
done:
    memory_free(keep);
    return st;
}

/* log_total (rows): of all regions together; by_region (regions) gets the sums over the rows. */
static npmd_status rules_sum(const rule_pair *r, pair_values *p, int over, const region_nodes *nodes, row_sums *s,
                             double *log_total, double *by_region, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t most = rows_of_a_piece(nodes->n);
    for (size_t first = 0; first < r->rows.n; first += most) {
        const node_range rows = { &r->rows, first, r->rows.n - first < most ? r->rows.n - first : most };
        TRY(sums_fill(s, p, over, nodes, rows, err));
        for (size_t i = 0; i < rows.count; i++) {
            double total = 0.0;
            for (size_t a = 0; a < s->regions; a++) {
                const double sum = s->sum[i * s->regions + a];
                total += sum;
                by_region[a] += r->rows.area[first + i] * sum * exp(s->top[i]);
            }
            log_total[first + i] = s->top[i] + log(total);
        }
    }
done:
    return st;
}

npmd_status rules_compare(rule_pair *r, pair_values *p, int over, const region_nodes *vertices,
                          const region_nodes *others, const region_nodes *all, size_t regions, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    row_sums s = { 0 };
    double *log_vertices = NULL;
    TRY(rules_choose(r, all, err));
    TRY(memory_new(&log_vertices, r->rows.n, err));
    TRY(memory_new(&r->relative, r->rows.n, err));
    TRY(memory_new(&r->vertices, regions, err));
    TRY(memory_new(&r->others, regions, err));
    TRY(sums_open(&s, rows_of_a_piece(vertices->n), regions, err)); /* there are more of the others */
    TRY(rules_sum(r, p, over, vertices, &s, log_vertices, r->vertices, err));
    TRY(rules_sum(r, p, over, others, &s, r->relative, r->others, err));
    for (size_t i = 0; i < r->rows.n; i++) /* without any density both rules agree */
        r->relative[i] = isfinite(log_vertices[i]) ? exp(r->relative[i] - log_vertices[i]) - 1.0 : 0.0;
done:
    memory_free(log_vertices);
    sums_close(&s);
    return st;
}
