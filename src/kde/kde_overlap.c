/* kde_overlap.c - the mean of the product of two estimates over the domain, in closed form.
 *
 * The product of two kernels about y and y' is a kernel again, in every factor: with a, b their concentrations and r =
 * |a e(y) + b e(y')|,
 *
 *     a (cos - 1) + b (cos' - 1) = r (cos'' - 1) + (r - a - b),      r - a - b = -a b |e(y) - e(y')|^2 / (r + a + b),
 *
 * so that its mean over the uniform measure is exp(r - a - b) / c(r), c the constants of kde_log_constant. The sum over all
 * pairs of kernels is exact, and takes as long as there are pairs. */
#include "kde.h"

#define MOST_PAIRS 1e8 /* some seconds */
#define NOTHING 80.0   /* nats below the pair at distance 0: a share of 1e-34 */

typedef struct side { /* of a product */
    const kde_state *k;
    size_t kernels;
    bool mirrored; /* its two factors exchanged */
} side;

static double side_log_weight(const side *s, size_t kernel)
{
    const kde_part *p = &s->k->part[kernel % (size_t)s->k->parts];
    return log(p->weight) + p->offset_wide[s->k->view.place[kernel / (size_t)s->k->parts]];
}

/* Its unit vectors, and its concentrations by factors. */
static const double *side_kernel(const side *s, size_t kernel, double *kappa, double room[KDE_MOST_COLUMNS])
{
    const kde_state *k = s->k;
    const npmd_domain *dom = k->cloud.domain;
    const size_t point = kernel / (size_t)k->parts, columns = (size_t)k->cloud.columns;
    const double scale = k->part[kernel % (size_t)k->parts].scale_wide[k->view.place[point]];
    const double *e = k->cloud.e + point * columns;
    for (int d = 0; d < dom->factors; d++)
        kappa[d] = scale * k->view.ratio[s->mirrored ? 1 - d : d];
    if (!s->mirrored)
        return e;
    memcpy(room, e + columns / 2, columns / 2 * sizeof *e); /* of two equal factors */
    memcpy(room + columns / 2, e, columns / 2 * sizeof *e);
    return room;
}

/* log of the mean of exp(sum over d of a_d (cos_d - 1) + b_d (cos'_d - 1)); -INFINITY: next to nothing. */
static double pair_log_mean(const npmd_domain *dom, const double *e, const double *a, const double *f, const double *b)
{
    double resultant[NPMD_MAX_FACTORS], sum = 0.0;
    for (int d = 0, j = 0; d < dom->factors; d++) {
        double apart = 0.0;
        for (int i = 0; i < dom->factor[d]->embedding; i++, j++)
            apart += (e[j] - f[j]) * (e[j] - f[j]);
        const double both = a[d] + b[d], cross = a[d] * b[d] * apart;
        resultant[d] = sqrt(fmax(0.0, both * both - cross));
        sum -= cross / (resultant[d] + both);
    }
    if (!(sum >= -NOTHING))
        return -INFINITY;
    for (int d = 0; d < dom->factors; d++)
        sum -= dom->factor[d]->log_kernel(dom->factor[d], resultant[d]);
    return sum - log(dom->volume);
}

/* The sum over kernels first .. last - 1 of b of their products with one of a. */
static double row_sum(const side *a, size_t kernel, const side *b, size_t first, size_t last, const double *log_weight)
{
    const npmd_domain *dom = a->k->cloud.domain;
    double kappa[NPMD_MAX_FACTORS], other[NPMD_MAX_FACTORS], room[KDE_MOST_COLUMNS], sum = 0.0;
    const double *e = side_kernel(a, kernel, kappa, room);
    const double own = side_log_weight(a, kernel);
    for (size_t c = first; c < last; c++) {
        double turned[KDE_MOST_COLUMNS];
        const double *f = side_kernel(b, c, other, turned);
        sum += exp(own + log_weight[c] + pair_log_mean(dom, e, kappa, f, other));
    }
    return sum;
}

/* Over all pairs; those of one and the same estimate are there twice, but for a kernel with itself. */
static npmd_status pairs_sum(const side *a, const side *b, int threads, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const bool same = a->k == b->k && !b->mirrored;
    double *row = NULL, *log_weight = NULL;
    (void)threads; /* unused without OpenMP */
    *out = 0.0;
    TRY(memory_new(&row, a->kernels, err));
    TRY(memory_new(&log_weight, b->kernels, err));
    for (size_t c = 0; c < b->kernels; c++)
        log_weight[c] = side_log_weight(b, c);
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (size_t c = 0; c < a->kernels; c++)
        row[c] = same ? row_sum(a, c, b, c, c + 1, log_weight) + 2.0 * row_sum(a, c, b, c + 1, b->kernels, log_weight)
                      : row_sum(a, c, b, 0, b->kernels, log_weight);
    for (size_t c = 0; c < a->kernels; c++)
        *out += row[c];
done:
    memory_free_all(row, log_weight);
    return st;
}

npmd_status kde_overlap(const npmd_model *a, const npmd_model *b, const npmd_compute *how, double *mean,
                        npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const kde_state *k = a->state, *l = b->state;
    const side one = { k, k->cloud.n * (size_t)k->parts, false };
    side other = { l, l->cloud.n * (size_t)l->parts, false };
    const bool mirrored = model_mirrored(a); /* and so is the other: the mean over both orders of one of them */
    double sum = 0.0, turned = 0.0;
    *mean = NAN;
    if ((double)one.kernels * (double)other.kernels * (mirrored ? 2.0 : 1.0) > MOST_PAIRS)
        return NPMD_OK;
    TRY(pairs_sum(&one, &other, compute_threads(how), &sum, err));
    if (mirrored) {
        other.mirrored = true;
        TRY(pairs_sum(&one, &other, compute_threads(how), &turned, err));
        sum = 0.5 * (sum + turned);
    }
    *mean = sum + k->uniform + l->uniform - k->uniform * l->uniform;
done:
    return st;
}
