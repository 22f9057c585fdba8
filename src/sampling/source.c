/* source.c - point sources: the points of a term as functions of their index. */
#include "sampling.h"

void source_fixed(point_source *s, const npmd_domain *dom, const double *x, const double *weight, size_t count)
{
    *s = (point_source){ .kind = SOURCE_FIXED, .domain = dom, .count = count, .x = x, .weight = weight };
}

void source_data(point_source *s, const npmd_points *pts, size_t first, size_t count, bool shuffled, rng_key epoch)
{
    *s = (point_source){ .kind = SOURCE_DATA,
                         .domain = pts->domain,
                         .count = count,
                         .points = pts,
                         .first = first,
                         .shuffled = shuffled,
                         .key = epoch };
}

void source_uniform(point_source *s, const npmd_domain *dom, size_t count, bool quasi, rng_key key)
{
    *s = (point_source){ .kind = SOURCE_UNIFORM, .domain = dom, .count = count, .quasi = quasi, .key = key };
    if (quasi)
        sobol_open(&s->sequence, dom->dimension, key);
}

void source_importance(point_source *s, const proposal *p, size_t count, bool quasi, rng_key key)
{
    *s = (point_source){
        .kind = SOURCE_IMPORTANCE, .domain = p->domain, .count = count, .importance = p, .quasi = quasi, .key = key
    };
    if (quasi)
        sobol_open(&s->sequence, p->domain->dimension + 1, key);
}

size_t source_data_row(const point_source *s, size_t i)
{
    return s->shuffled ? (size_t)rng_permute(s->key, s->first + i, s->points->n) : s->first + i;
}

/* The point of the unit cube behind index i. */
static void source_cube(const point_source *s, size_t i, int dimensions, double *u)
{
    if (s->quasi)
        sobol_point(&s->sequence, (uint32_t)i, u);
    else
        for (int d = 0; d < dimensions; d++)
            u[d] = rng_uniform(s->key, i, (uint32_t)d);
}

/* The proposal of a chain that the first coordinate falls on; it is stretched to its share. */
static const proposal *chain_pick(const proposal *p, double *u)
{
    while (p->beside != NULL && *u < p->beside_share) {
        *u /= p->beside_share;
        p = p->beside;
    }
    if (p->beside != NULL)
        *u = (*u - p->beside_share) / (1.0 - p->beside_share);
    return p;
}

/* The first coordinate chooses a proposal of the chain, there the uniform share or a centre; the others the point. */
static double importance_point(const point_source *s, size_t i, double *x)
{
    const npmd_domain *dom = s->domain;
    double u[DOMAIN_MAX_DIMENSION + 1];
    source_cube(s, i, dom->dimension + 1, u);
    const proposal *p = chain_pick(s->importance, u);
    if (u[0] < p->share) {
        domain_uniform_point(dom, u + 1, x);
    } else {
        const double at = (u[0] - p->share) / (1.0 - p->share) * p->centres;
        const int c = at < p->centres - 1 ? (int)at : p->centres - 1;
        for (int d = 0; d < dom->factors; d++)
            dom->factor[d]->cauchy(dom->factor[d], p->centre + (size_t)c * (size_t)dom->columns + dom->column[d],
                                   p->rho, u + 1 + dom->direction[d], x + dom->column[d]);
    }
    return 1.0 / proposal_density(s->importance, x);
}

void source_fill(const point_source *s, size_t first, size_t count, double *x, double *weight)
{
    const size_t columns = (size_t)s->domain->columns;
    const double average = 1.0 / (double)s->count;
    double u[DOMAIN_MAX_DIMENSION];
    assert(first + count <= s->count);
    for (size_t j = 0; j < count; j++) {
        const size_t i = first + j;
        double *at = x + j * columns;
        switch (s->kind) {
        case SOURCE_FIXED:
            memcpy(at, s->x + i * columns, columns * sizeof *at);
            weight[j] = s->weight == NULL ? average : s->weight[i];
            break;
        case SOURCE_DATA: {
            const size_t row = source_data_row(s, i);
            points_row(s->points, row, at);
            weight[j] = points_weight(s->points, row) * average;
            break;
        }
        case SOURCE_UNIFORM:
            source_cube(s, i, s->domain->dimension, u);
            domain_uniform_point(s->domain, u, at);
            weight[j] = average;
            break;
        case SOURCE_IMPORTANCE:
            weight[j] = average * importance_point(s, i, at);
            break;
        }
    }
}

void source_fill_all(const point_source *s, size_t first, size_t count, int threads, double *x, double *weight)
{
    const size_t block = 256, blocks = (count + block - 1) / block, columns = (size_t)s->domain->columns;
    (void)threads; /* unused without OpenMP */
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_wanted(threads))
    for (size_t k = 0; k < blocks; k++) {
        const size_t at = k * block, some = count - at < block ? count - at : block;
        source_fill(s, first + at, some, x + at * columns, weight + at);
    }
}
