/* holdout.c - parts of the points: some to fit to, others to choose by.
 *
 * A held-out point must not be learnt from an equal one, so rows that equal a held-out row are left out of the other
 * part; for unordered pairs also those with the two points exchanged. */
#include "choose.h"

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Weights, whose sum is total, become n on the sum; all of them 0 stay so. */
static void weights_scale(npmd_points *pts, double total)
{
    for (size_t i = 0; pts->weight != NULL && total > 0.0 && i < pts->n; i++)
        pts->weight[i] *= (double)pts->n / total;
}

npmd_status points_part(const npmd_points *pts, rng_key key, size_t *next, size_t count, const uint64_t *avoid,
                        size_t avoided, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *part = NULL;
    const size_t columns = (size_t)pts->domain->columns;
    double total = 0.0;
    size_t have = 0;
    TRY(points_make(pts->domain, count, &part, err));
    part->unordered = pts->unordered;
    if (points_weighted(pts))
        TRY(memory_new(&part->weight, count, err));
    for (; have < count && *next < pts->n; ++*next) {
        const size_t row = (size_t)rng_permute(key, *next, pts->n);
        const uint64_t hash = points_row_hash(pts, row);
        if (avoided > 0 && bsearch(&hash, avoid, avoided, sizeof hash, by_value) != NULL)
            continue;
        points_row(pts, row, part->x + have * columns);
        if (part->weight != NULL)
            total += part->weight[have] = points_weight(pts, row);
        have++;
    }
    part->n = have;
    part->total = (double)have;
    weights_scale(part, total);
    *out = part;
    part = NULL;
done:
    points_free(part);
    return st;
}

npmd_status points_resample(const npmd_points *pts, rng_key key, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *drawn = NULL;
    const size_t columns = (size_t)pts->domain->columns;
    double total = 0.0;
    TRY(points_make(pts->domain, pts->n, &drawn, err));
    drawn->unordered = pts->unordered;
    if (points_weighted(pts))
        TRY(memory_new(&drawn->weight, pts->n, err));
    for (size_t i = 0; i < pts->n; i++) {
        const size_t row = (size_t)(rng_uniform(key, i, 0) * (double)pts->n);
        points_row(pts, row, drawn->x + i * columns);
        if (drawn->weight != NULL)
            total += drawn->weight[i] = points_weight(pts, row);
    }
    weights_scale(drawn, total);
    *out = drawn;
    drawn = NULL;
done:
    points_free(drawn);
    return st;
}

npmd_status points_twins(const npmd_points *pts, uint64_t **out, npmd_error *err)
{
    uint64_t *hash = NULL;
    const npmd_status st = memory_new(&hash, pts->n, err);
    if (st != NPMD_OK)
        return st;
    for (size_t i = 0; i < pts->n; i++)
        hash[i] = points_row_hash(pts, i);
    qsort(hash, pts->n, sizeof *hash, by_value);
    *out = hash;
    return NPMD_OK;
}

npmd_status points_hold_out(const npmd_points *pts, rng_key key, size_t first, size_t count, npmd_points **held_out,
                            npmd_points **training, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *out = NULL, *rest = NULL;
    uint64_t *twins = NULL;
    size_t next = first;
    TRY(points_part(pts, key, &next, count, NULL, 0, &out, err));
    TRY(points_twins(out, &twins, err));
    next = 0; /* all but the twins: the rows held out are among them */
    TRY(points_part(pts, key, &next, pts->n - out->n, twins, out->n, &rest, err));
    *held_out = out;
    *training = rest;
    out = rest = NULL;
done:
    memory_free(twins);
    points_free(out);
    points_free(rest);
    return st;
}
