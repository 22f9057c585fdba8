/* kde_draw.c - draws from kernels, and the integral of their square. */
#include "kde.h"

/* ---- draws ------------------------------------------------------------------------------------------------- */

/* A part by its weight, a point by its own, then each factor from its kernel. */
enum { SLOT_PART, SLOT_POINT, SLOT_UNIFORM, SLOT_KERNEL = SLOT_UNIFORM + DOMAIN_MAX_DIMENSION };

typedef struct drawing {
    const kde_state *k;
    double *cumulative; /* (n): weights of the points */
    rng_key key;
} drawing;

static npmd_status drawing_open(drawing *d, const kde_state *k, uint64_t seed, npmd_error *err)
{
    double sum = 0.0;
    *d = (drawing){ .k = k, .key = rng_key_make(seed, RNG_SAMPLE, 0) };
    const npmd_status st = memory_new(&d->cumulative, k->cloud.n, err);
    for (size_t i = 0; st == NPMD_OK && i < k->cloud.n; i++)
        d->cumulative[i] = sum += k->cloud.weight[i];
    return st;
}

/* The point that row comes from; SIZE_MAX: from the uniform density. */
static size_t draw_one(const drawing *draw, size_t row, double *y)
{
    const kde_state *k = draw->k;
    const npmd_domain *dom = k->cloud.domain;
    double u[DOMAIN_MAX_DIMENSION], left = rng_uniform(draw->key, row, SLOT_PART) - k->uniform;
    if (left < 0.0) {
        for (int t = 0; t < dom->dimension; t++)
            u[t] = rng_uniform(draw->key, row, (uint32_t)(SLOT_UNIFORM + t));
        domain_uniform_point(dom, u, y);
        return SIZE_MAX;
    }
    int p = 0;
    while (p + 1 < k->parts && left >= k->part[p].weight)
        left -= k->part[p++].weight;
    const double target = rng_uniform(draw->key, row, SLOT_POINT) * draw->cumulative[k->cloud.n - 1];
    size_t low = 0, high = k->cloud.n - 1; /* the first whose cumulative weight is above the target */
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (draw->cumulative[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    const double scale = k->part[p].scale_wide[k->view.place[low]];
    for (int d = 0; d < dom->factors; d++)
        dom->factor[d]->kernel_draw(dom->factor[d], k->cloud.x + low * (size_t)dom->columns + dom->column[d],
                                    scale * k->view.ratio[d], draw->key, row,
                                    (uint32_t)(SLOT_KERNEL + d * KERNEL_SLOTS), y + dom->column[d]);
    return low;
}

npmd_status kde_draw(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x,
                     npmd_error *err)
{
    drawing draw;
    (void)how; /* unused without OpenMP */
    const npmd_status st = drawing_open(&draw, m->state, seed, err);
#pragma omp parallel for schedule(static, 1024) num_threads(threads_wanted(how == NULL ? 0 : how->threads))
    for (size_t i = 0; i < (st == NPMD_OK ? n : 0); i++)
        draw_one(&draw, i, x + i * (size_t)m->domain->columns);
    memory_free(draw.cumulative);
    return st;
}

/* ---- the square -------------------------------------------------------------------------------------------- */

/* With f_i all kernels about point i, whatever their part, and f_0 the uniform share:
 *
 *     integral of f^2 = sum_i integral of f_i^2 + E (f(x) - f_i(x)),   x drawn from f, i the point it was drawn about.
 *
 * The first sum is known in closed form: two kernels about one point multiply to a kernel of the sum of their
 * concentrations. It holds the peaks of narrow kernels, which draws would meet too rarely to tell; what is left to them
 * are the overlaps of neighbours. All of it relative to the uniform measure. */

#define DRAWS 4096 /* at a time, */
#define MOST_DRAWS ((size_t)1 << 18)
#define CLOSE_ENOUGH 1e-3 /* of the square */

static double own_square(const kde_state *k, size_t row)
{
    const size_t at = k->view.place[row];
    double sum = 0.0;
    for (int p = 0; p < k->parts; p++)
        for (int q = 0; q < k->parts; q++) {
            const kde_part *a = &k->part[p], *b = &k->part[q];
            sum += a->weight * b->weight
                   * exp(a->offset_wide[at] + b->offset_wide[at]
                         - kde_log_constant(&k->view, a->scale_wide[at] + b->scale_wide[at]));
        }
    return sum;
}

static double own_value(const kde_state *k, size_t row, const double *x)
{
    const size_t at = k->view.place[row];
    double e[KDE_MOST_COLUMNS], z = 0.0, sum = 0.0;
    kde_embed(k->cloud.domain, x, e);
    for (int j = 0; j < k->cloud.columns; j++) {
        const double difference = k->view.root[j] * e[j] - k->view.wide[(size_t)j * k->view.ld + at];
        z += difference * difference;
    }
    for (int p = 0; p < k->parts; p++)
        sum += k->part[p].weight * exp(k->part[p].offset_wide[at] - k->part[p].scale_wide[at] * z);
    return sum;
}

npmd_status kde_square(const npmd_model *m, const npmd_compute *how, uint64_t seed, double enough,
                       double *square, double *se, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const kde_state *k = m->state;
    const size_t columns = (size_t)m->domain->columns;
    double *x = NULL, *v = NULL, own = 0.0, mean = 0.0, squares = 0.0; /* squares: about the mean */
    size_t n = 0, about[DRAWS];
    drawing draw;
    TRY(drawing_open(&draw, k, seed, err));
    TRY(memory_new(&x, DRAWS * columns, err));
    TRY(memory_new(&v, DRAWS, err));
    for (size_t i = 0; i < k->cloud.n; i++)
        own += own_square(k, i);
    do {
        for (size_t i = 0; i < DRAWS; i++)
            about[i] = draw_one(&draw, n + i, x + i * columns);
        TRY(m->kind->evaluate(m, how, x, DRAWS, JET_VALUE, v, err));
        for (size_t i = 0; i < DRAWS; i++) {
            const double itself = about[i] == SIZE_MAX ? 0.0 : own_value(k, about[i], x + i * columns),
                         others = exp(v[i]) - itself, from = others - mean;
            mean += from / (double)++n;
            squares += from * (others - mean);
        }
        *se = sqrt(squares / (double)(n - 1) / (double)n);
    } while (*se > fmax(enough, CLOSE_ENOUGH * (own + mean)) && n < MOST_DRAWS);
    *square = own + mean;
done:
    memory_free(draw.cumulative);
    memory_free(x);
    memory_free(v);
    return st;
}
