/* seen.c - hashes of the rows a model was fitted to, so that a score on the same rows carries a warning. */
#include "model.h"

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

npmd_status points_seen(const npmd_points *pts, uint64_t **out, size_t *count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    uint64_t *hash = NULL;
    /* about twice as many as are kept lie below this limit; what lies above is not even stored */
    const double share = 2.0 * SEEN_MOST / (double)pts->n;
    const uint64_t limit = share >= 1.0 ? UINT64_MAX : (uint64_t)(share * 0x1p64);
    const size_t room = share >= 1.0 ? pts->n : 4 * (size_t)SEEN_MOST;
    size_t have = 0, kept = 0;
    TRY(memory_new(&hash, room, err));
    for (size_t i = 0; i < pts->n && have < room; i++) {
        const uint64_t h = points_row_hash(pts, i);
        if (h <= limit)
            hash[have++] = h;
    }
    qsort(hash, have, sizeof *hash, by_value);
    for (size_t i = 0; i < have; i++)
        if (kept == 0 || hash[i] != hash[kept - 1])
            hash[kept++] = hash[i];
    *count = kept < SEEN_MOST ? kept : SEEN_MOST;
    *out = hash;
    hash = NULL;
done:
    memory_free(hash);
    return st;
}

double points_seen_before(const npmd_points *pts, const uint64_t *seen, size_t count)
{
    size_t tested = 0, found = 0;
    if (count == 0)
        return NAN;
    const uint64_t limit = count == SEEN_MOST ? seen[count - 1] : UINT64_MAX;
    for (size_t i = 0; i < pts->n; i++) {
        const uint64_t h = points_row_hash(pts, i);
        if (h > limit)
            continue;
        tested++;
        found += bsearch(&h, seen, count, sizeof h, by_value) != NULL;
    }
    return tested == 0 ? 0.0 : round((double)found / (double)tested * (double)pts->n);
}
