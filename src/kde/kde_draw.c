/* kde_draw.c - draws from kernels, and means under them. */
#include "kde.h"

/* ---- draws ------------------------------------------------------------------------------------------------------- */

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

/* The first entry of cumulative (n) above the target. */
static size_t find_above(const double *cumulative, size_t n, double target)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (cumulative[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void draw_uniform(const kde_state *k, rng_key key, size_t row, double *y)
{
    double u[DOMAIN_MAX_DIMENSION];
    for (int t = 0; t < k->cloud.domain->dimension; t++)
        u[t] = rng_uniform(key, row, (uint32_t)(SLOT_UNIFORM + t));
    domain_uniform_point(k->cloud.domain, u, y);
}

/* From the kernel of part p about a point. */
static void draw_about(const kde_state *k, int p, size_t point, rng_key key, size_t row, double *y)
{
    const npmd_domain *dom = k->cloud.domain;
    const double scale = k->part[p].scale_wide[k->view.place[point]];
    for (int d = 0; d < dom->factors; d++)
        dom->factor[d]->kernel_draw(dom->factor[d], k->cloud.x + point * (size_t)dom->columns + dom->column[d],
                                    scale * k->view.ratio[d], key, row, (uint32_t)(SLOT_KERNEL + d * KERNEL_SLOTS),
                                    y + dom->column[d]);
}

static void draw_one(const drawing *draw, size_t row, double *y)
{
    const kde_state *k = draw->k;
    double left = rng_uniform(draw->key, row, SLOT_PART) - k->uniform;
    int p = 0;
    if (left < 0.0) {
        draw_uniform(k, draw->key, row, y);
        return;
    }
    while (p + 1 < k->parts && left >= k->part[p].weight)
        left -= k->part[p++].weight;
    const double target = rng_uniform(draw->key, row, SLOT_POINT) * draw->cumulative[k->cloud.n - 1];
    draw_about(k, p, find_above(draw->cumulative, k->cloud.n, target), draw->key, row, y);
}

npmd_status kde_draw(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x, npmd_error *err)
{
    drawing draw;
    (void)how; /* unused without OpenMP */
    const npmd_status st = drawing_open(&draw, m->state, seed, err);
#pragma omp parallel for schedule(static, 1024) num_threads(compute_threads(how))
    for (size_t i = 0; i < (st == NPMD_OK ? n : 0); i++)
        draw_one(&draw, i, x + i * (size_t)m->domain->columns);
    memory_free(draw.cumulative);
    return st;
}

/* ---- means under the estimate ------------------------------------------------------------------------------------ */

/* With pi_c the weight of kernel c, one of part p about point i, and pi_0 that of the uniform density:
 *
 *     mean of g under f = pi_0 E_uniform g + sum_c pi_c E_c g.
 *
 * The g that matters is f itself or has peaks where f has them: at the narrowest kernels, which draws by pi_c would
 * meet too rarely to tell. So c is drawn with probability
 *
 *     q_c = (pi_c + s_c / sum_b s_b) / 2,     q_0 = pi_0 / 2,
 *
 * s_c the share of c in the sum over the points of the integral of f_i^2, f_i all kernels about point i; and a draw
 * counts pi_c / q_c, at most 2. The share is known in closed form, for two kernels about one point multiply to a kernel
 * of the sum of their concentrations. */

#define DRAWS 4096 /* draws at a time */
#define MOST_DRAWS ((size_t)1 << 18)
#define CLOSE_ENOUGH 1e-3 /* of the mean */

/* s_c of the kernel of part p about a point. */
static double own_square(const kde_state *k, size_t point, int p)
{
    const size_t at = k->view.place[point];
    const kde_part *a = &k->part[p];
    double sum = 0.0;
    for (int q = 0; q < k->parts; q++) {
        const kde_part *b = &k->part[q];
        sum += a->weight * b->weight
               * exp(a->offset_wide[at] + b->offset_wide[at]
                     - kde_log_constant(&k->view, a->scale_wide[at] + b->scale_wide[at]));
    }
    return sum;
}

/* cumulative (n, parts): sums of q_c; those before all of them, q_0, are left out. */
static void cumulate(const kde_state *k, double *cumulative)
{
    const size_t parts = (size_t)k->parts;
    double all = 0.0, sum = 0.0;
    for (size_t c = 0; c < k->cloud.n * parts; c++)
        all += cumulative[c] = own_square(k, c / parts, (int)(c % parts));
    for (size_t c = 0; c < k->cloud.n * parts; c++) {
        const double weight = k->part[c % parts].weight * k->cloud.weight[c / parts];
        cumulative[c] = sum += 0.5 * (weight + cumulative[c] / all);
    }
}

/* A draw y, and what it counts. */
static double draw_weighted(const kde_state *k, const double *cumulative, rng_key key, size_t row, double *y)
{
    const size_t parts = (size_t)k->parts, count = k->cloud.n * parts;
    const double target = rng_uniform(key, row, SLOT_PART) * (0.5 * k->uniform + cumulative[count - 1])
                          - 0.5 * k->uniform;
    if (target < 0.0) {
        draw_uniform(k, key, row, y);
        return 2.0;
    }
    const size_t c = find_above(cumulative, count, target);
    draw_about(k, (int)(c % parts), c / parts, key, row, y);
    return k->part[c % parts].weight * k->cloud.weight[c / parts] / (cumulative[c] - (c > 0 ? cumulative[c - 1] : 0.0));
}

npmd_status kde_mean(const npmd_model *m, uint64_t seed, values_fn log_g, void *self, double enough, double *mean,
                     double *se, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const kde_state *k = m->state;
    const rng_key key = rng_key_make(seed, RNG_SAMPLE, 1);
    const size_t columns = (size_t)m->domain->columns;
    double *cumulative = NULL, *x = NULL, *v = NULL, counts[DRAWS], squares = 0.0; /* about the mean */
    size_t n = 0;
    TRY(memory_new(&cumulative, k->cloud.n * (size_t)k->parts, err));
    TRY(memory_new(&x, DRAWS * columns, err));
    TRY(memory_new(&v, DRAWS, err));
    cumulate(k, cumulative);
    *mean = 0.0;
    do {
        for (size_t i = 0; i < DRAWS; i++)
            counts[i] = draw_weighted(k, cumulative, key, n + i, x + i * columns);
        TRY(log_g(self, x, DRAWS, v, err));
        for (size_t i = 0; i < DRAWS; i++) {
            const double g = counts[i] * exp(v[i]), from = g - *mean;
            *mean += from / (double)++n;
            squares += from * (g - *mean);
        }
        *se = sqrt(squares / (double)(n - 1) / (double)n);
    } while (*se > fmax(enough, CLOSE_ENOUGH * *mean) && n < MOST_DRAWS);
done:
    memory_free_all(cumulative, x, v);
    return st;
}
