/* holdout.c - parts of the points: some to fit to, others to choose by.
 *
 * Held-out points stand for new points of the same source. Where that repeats points, new points equal some that were
 * fitted, and so may held-out ones: they are held out apart, each for itself. Where repeats are an artefact, a held-out
 * point must not be learnt from an equal one: equal rows are held out together, so that rows that equal a held-out row
 * are in neither part; for unordered pairs also those with the two points exchanged. */
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

typedef struct left_out { /* of a part */
    size_t first, last;   /* places first .. last - 1 of the shuffled order */
    const uint64_t *hash; /* (hashes), sorted: of rows */
    size_t hashes;
} left_out;

/* Up to count rows of the shuffled order, from *next on, that are not left out. */
static npmd_status part_without(const npmd_points *pts, rng_key key, size_t *next, size_t count,
                                const left_out *without, npmd_points **out, npmd_error *err)
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
        if (*next >= without->first && *next < without->last)
            continue;
        const size_t row = (size_t)rng_permute(key, *next, pts->n);
        const uint64_t hash = without->hashes > 0 ? points_row_hash(pts, row) : 0;
        if (without->hashes > 0 && bsearch(&hash, without->hash, without->hashes, sizeof hash, by_value) != NULL)
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

/* Up to count rows of the shuffled order, from *next on, whose hash is not in avoid (avoided, sorted). */
static npmd_status points_part(const npmd_points *pts, rng_key key, size_t *next, size_t count, const uint64_t *avoid,
                               size_t avoided, npmd_points **out, npmd_error *err)
{
    return part_without(pts, key, next, count, &(left_out){ .hash = avoid, .hashes = avoided }, out, err);
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

/* Sorted hashes of all rows. */
static npmd_status points_twins(const npmd_points *pts, uint64_t **out, npmd_error *err)
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

npmd_status points_hold_out(const npmd_points *pts, rng_key key, size_t first, size_t count, int ties, size_t most,
                            npmd_points **held_out, npmd_points **training, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *out = NULL, *rest = NULL;
    uint64_t *twins = NULL;
    size_t next = first;
    TRY(points_part(pts, key, &next, count, NULL, 0, &out, err));
    left_out without = { .first = first, .last = next };
    if (ties == TIES_TOGETHER) {
        TRY(points_twins(out, &twins, err));
        without.hash = twins;
        without.hashes = out->n;
    }
    const size_t left = pts->n - out->n;
    next = 0;
    TRY(part_without(pts, key, &next, left < most ? left : most, &without, &rest, err));
    *held_out = out;
    *training = rest;
    out = rest = NULL;
done:
    memory_free(twins);
    points_free(out);
    points_free(rest);
    return st;
}

npmd_status points_count_twins(const npmd_points *pts, size_t *out, npmd_error *err)
{
    uint64_t *hash = NULL;
    size_t count = 0;
    const npmd_status st = points_twins(pts, &hash, err);
    if (st != NPMD_OK)
        return st;
    for (size_t i = 0; i < pts->n; i++)
        count += (i > 0 && hash[i] == hash[i - 1]) || (i + 1 < pts->n && hash[i] == hash[i + 1]);
    memory_free(hash);
    *out = count;
    return NPMD_OK;
}

typedef struct weighed { /* a row's hash and weight */
    uint64_t hash;
    double weight;
} weighed;

static int by_hash(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

npmd_status points_squared_weights(const npmd_points *pts, int ties, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    weighed *row = NULL;
    double sum = 0.0, together = 0.0;
    if (ties == TIES_APART) {
        for (size_t i = 0; i < pts->n; i++)
            sum += points_weight(pts, i) * points_weight(pts, i);
        *out = sum;
        return NPMD_OK;
    }
    TRY(memory_new(&row, pts->n, err));
    for (size_t i = 0; i < pts->n; i++)
        row[i] = (weighed){ points_row_hash(pts, i), points_weight(pts, i) };
    qsort(row, pts->n, sizeof *row, by_hash);
    for (size_t i = 0; i < pts->n; i++) {
        together = i > 0 && row[i].hash == row[i - 1].hash ? together + row[i].weight : row[i].weight;
        if (i + 1 == pts->n || row[i + 1].hash != row[i].hash)
            sum += together * together;
    }
    *out = sum;
done:
    memory_free(row);
    return st;
}
