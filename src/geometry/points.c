/* points.c - rows of a domain, checked and brought to canonical form, with optional weights. */
#include "geometry.h"

npmd_status points_make(const npmd_domain *dom, size_t n, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    TRY(memory_new(&pts, 1, err));
    TRY(domain_copy(dom, &pts->owned, err));
    pts->domain = pts->owned;
    pts->n = n;
    pts->total = (double)n;
    if (n > SIZE_MAX / (size_t)dom->columns) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "%zu points of %s are more than this machine can address", n,
                       dom->text);
        goto done;
    }
    TRY(memory_new(&pts->x, n * (size_t)dom->columns, err));
    *out = pts;
    pts = NULL;
done:
    npmd_points_free(pts);
    return st;
}

npmd_status npmd_points_from(const double *x, size_t n, const npmd_domain *dom, npmd_points **out,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    TRY(points_make(dom, n, &pts, err));
    memcpy(pts->x, x, n * (size_t)dom->columns * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        int d = 0;
        const char *reason = domain_canonical(dom, pts->x + i * (size_t)dom->columns, &d);
        if (reason != NULL) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "row %zu, factor %d (%s) %s", i + 1, d + 1,
                           dom->factor[d]->name, reason);
            goto done;
        }
    }
    *out = pts;
    pts = NULL;
done:
    npmd_points_free(pts);
    return st;
}

npmd_status points_check_distinct(const npmd_points *pts, const char *where, npmd_error *err)
{
    const size_t bytes = (size_t)pts->domain->columns * sizeof(double);
    size_t first = 0; /* that counts: a weight of zero does not */
    while (first < pts->n && pts->weight != NULL && pts->weight[first] == 0.0)
        first++;
    for (size_t i = first + 1; i < pts->n; i++)
        if ((pts->weight == NULL || pts->weight[i] > 0.0)
            && memcmp(points_at(pts, first), points_at(pts, i), bytes) != 0)
            return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %zu point%s%s, and at least two distinct ones are needed",
                     where, pts->n, pts->n == 1 ? "" : "s, all equal",
                     pts->weight == NULL ? "" : " where the weight is not zero");
}

size_t npmd_points_count(const npmd_points *pts)
{
    return pts->n;
}

void npmd_points_row(const npmd_points *pts, size_t i, double *x)
{
    memcpy(x, points_at(pts, i), (size_t)pts->domain->columns * sizeof *x);
}

void npmd_points_free(npmd_points *pts)
{
    if (pts == NULL)
        return;
    npmd_domain_free(pts->owned);
    memory_free(pts->x);
    memory_free(pts->weight);
    memory_free(pts);
}
