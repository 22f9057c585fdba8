/* points.c - rows of a domain, checked and brought to canonical form, with optional weights.
 *
 * The rows of a large file stay in the file: each is converted when needed, always to the same numbers, so that results
 * do not depend on where the points are kept. */
#include "points.h"

#include <stdio.h>

static npmd_status points_new(const npmd_domain *dom, size_t n, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    TRY(memory_new(&pts, 1, err));
    TRY(domain_copy(dom, &pts->owned, err));
    pts->domain = pts->owned;
    pts->n = n;
    pts->total = (double)n;
    *out = pts;
    pts = NULL;
done:
    points_free(pts);
    return st;
}

npmd_status points_make(const npmd_domain *dom, size_t n, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    if (n > SIZE_MAX / (size_t)dom->columns) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "%zu points of %s are more than this machine can address", n, dom->text);
        goto done;
    }
    TRY(points_new(dom, n, &pts, err));
    TRY(memory_new(&pts->x, n * (size_t)dom->columns, err));
    *out = pts;
    pts = NULL;
done:
    points_free(pts);
    return st;
}

/* For work that nobody gave a number of threads to. */
static int threads_here(size_t blocks)
{
    if (blocks < 2 || threads_check(0, NULL) != NPMD_OK) /* where they cannot be had one does it all */
        return 1;
    const int most = threads_wanted(0);
    return blocks < (size_t)most ? (int)blocks : most;
}

/* ---- rows of a file ---------------------------------------------------------------------------------------------- */

static bool is_foreign(const manifold *m, unsigned coords)
{
    return (m->foreign_coords & coords) != 0;
}

size_t points_file_columns(const npmd_domain *dom, unsigned coords)
{
    size_t columns = 0;
    for (int d = 0; d < dom->factors; d++)
        columns += (size_t)(is_foreign(dom->factor[d], coords) ? dom->factor[d]->foreign_columns
                                                               : dom->factor[d]->columns);
    return columns;
}

static double limit(const npmd_domain *dom, const manifold *m)
{
    return dom->max_distance > 0.0 ? dom->max_distance : m->reach;
}

const char *points_from_row(const npmd_domain *dom, unsigned coords, const double *row, double *x, int *factor)
{
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        double *at = x + dom->column[d];
        const char *reason = NULL;
        *factor = d;
        if (is_foreign(m, coords)) {
            reason = m->from_foreign(m, row, at);
            row += m->foreign_columns;
        } else if (m->locate != NULL) {
            const double distance = m->locate(m, row, at);
            reason = isnan(distance) ? "is not finite" : distance <= limit(dom, m) ? NULL : "is too far away";
            row += m->columns;
        } else {
            memcpy(at, row, (size_t)m->columns * sizeof *row);
            reason = m->canonical(m, at);
            row += m->columns;
        }
        if (reason != NULL)
            return reason;
    }
    return NULL;
}

void points_reason(const npmd_domain *dom, unsigned coords, const double *row, char text[POINTS_REASON])
{
    double x[DOMAIN_MAX_COLUMNS];
    int d = 0;
    const char *reason = points_from_row(dom, coords, row, x, &d);
    const manifold *m = dom->factor[d];
    for (int e = 0; e < d; e++)
        row += is_foreign(dom->factor[e], coords) ? dom->factor[e]->foreign_columns : dom->factor[e]->columns;
    if (m->locate == NULL || isnan(m->locate(m, row, x)))
        snprintf(text, POINTS_REASON, "factor %d (%s) %s", d + 1, m->name, reason);
    else
        snprintf(text, POINTS_REASON,
                 "factor %d (%s) lies %.4g away from the surface, at most %.4g is allowed; `max-distance` X "
                 "allows more",
                 d + 1, m->name, m->locate(m, row, x), limit(dom, m));
}

/* The largest angle in radians of a row as it was given: what is read wrongly may show there, and nowhere later. */
static double angle_most(const npmd_domain *dom, unsigned coords, const double *row)
{
    double most = 0.0;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        if (m == &CIRCLE && !is_foreign(m, coords))
            most = fmax(most, fabs(*row));
        row += is_foreign(m, coords) ? m->foreign_columns : m->columns;
    }
    return most;
}

/* The first row that is no point is the same for any number of threads. */
size_t points_take(npmd_points *pts, unsigned coords, const double *rows)
{
    const size_t columns = points_file_columns(pts->domain, coords), block = 1024,
                 blocks = (pts->n + block - 1) / block;
    size_t bad = pts->n;
#pragma omp parallel for schedule(dynamic, 1) reduction(min                                                            \
                                                        : bad)                                                         \
    num_threads(threads_here(blocks)) if (pts->domain->surfaces)
    for (size_t b = 0; b < blocks; b++) {
        int d = 0;
        for (size_t i = b * block; i < pts->n && i < (b + 1) * block && i < bad; i++)
            if (points_from_row(pts->domain, coords, rows + i * columns, pts->x + i * (size_t)pts->domain->columns, &d)
                != NULL)
                bad = i;
    }
    for (size_t i = 0; i < pts->n && bad == pts->n; i++)
        pts->angle_most = fmax(pts->angle_most, angle_most(pts->domain, coords, rows + i * columns));
    return bad;
}

npmd_status points_from(const double *x, size_t n, const npmd_domain *dom, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    char reason[POINTS_REASON];
    TRY(points_make(dom, n, &pts, err));
    const size_t bad = points_take(pts, NPMD_COORDS_DEFAULT, x);
    if (bad < n) {
        points_reason(dom, NPMD_COORDS_DEFAULT, x + bad * (size_t)dom->columns, reason);
        st = npmd_fail(err, NPMD_ERR_FORMAT, "row %zu, %s", bad + 1, reason);
        goto done;
    }
    *out = pts;
    pts = NULL;
done:
    points_free(pts);
    return st;
}

void points_to_row(const npmd_domain *dom, unsigned coords, const double *x, double *row)
{
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        if (is_foreign(m, coords))
            m->to_foreign(m, x + dom->column[d], row);
        else
            memcpy(row, x + dom->column[d], (size_t)m->columns * sizeof *row);
        row += is_foreign(m, coords) ? m->foreign_columns : m->columns;
    }
}

void rows_release(number_rows *rows)
{
    if (rows->release != NULL)
        rows->release(rows->owner);
    *rows = (number_rows){ 0 };
}

static void mapped_given(const npmd_points *pts, size_t i, double *row)
{
    for (size_t c = 0; c < pts->file.columns; c++)
        row[c] = number_at(&pts->file, i * pts->file.columns + c);
}

static const char *mapped_row(const npmd_points *pts, size_t i, double *x, int *factor)
{
    double row[DOMAIN_MAX_COLUMNS];
    mapped_given(pts, i, row);
    return points_from_row(pts->domain, pts->coords, row, x, factor);
}

/* The first row that is no point, or n; and the largest angle of those before it. */
static size_t first_bad_row(const npmd_points *pts, double *angle)
{
    double most = 0.0;
    const size_t block = 65536, blocks = (pts->n + block - 1) / block;
    size_t bad = pts->n;
#pragma omp parallel for schedule(dynamic, 1) reduction(min                                                            \
                                                        : bad) reduction(max                                           \
                                                                         : most) num_threads(threads_here(blocks))
    for (size_t b = 0; b < blocks; b++) {
        double x[DOMAIN_MAX_COLUMNS], row[DOMAIN_MAX_COLUMNS];
        int d = 0;
        for (size_t i = b * block; i < pts->n && i < (b + 1) * block && i < bad; i++) {
            mapped_given(pts, i, row);
            if (points_from_row(pts->domain, pts->coords, row, x, &d) != NULL)
                bad = i;
            most = fmax(most, angle_most(pts->domain, pts->coords, row));
        }
    }
    *angle = most;
    return bad;
}

npmd_status points_map(const npmd_domain *dom, const number_rows *file, size_t n, unsigned coords, npmd_points **out,
                       size_t *bad_row, int *factor, const char **reason, npmd_error *err)
{
    npmd_points *pts = NULL;
    double x[DOMAIN_MAX_COLUMNS];
    const npmd_status st = points_new(dom, n, &pts, err);
    *reason = NULL;
    if (st != NPMD_OK) {
        rows_release(&(number_rows){ .owner = file->owner, .release = file->release });
        return st;
    }
    assert(file->columns == points_file_columns(dom, coords));
    pts->file = *file;
    pts->coords = coords;
    *bad_row = first_bad_row(pts, &pts->angle_most);
    if (*bad_row < n) {
        *reason = mapped_row(pts, *bad_row, x, factor);
        points_free(pts);
        return NPMD_OK;
    }
    *out = pts;
    return NPMD_OK;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

const double *points_rows(const npmd_points *pts, size_t first, size_t count, double *room)
{
    const size_t columns = (size_t)pts->domain->columns;
    int d = 0;
    if (pts->x != NULL)
        return pts->x + first * columns;
    for (size_t i = 0; i < count; i++)
        mapped_row(pts, first + i, room + i * columns, &d);
    return room;
}

void points_row(const npmd_points *pts, size_t i, double *x)
{
    const double *row = points_rows(pts, i, 1, x);
    if (row != x)
        memcpy(x, row, (size_t)pts->domain->columns * sizeof *x);
}

void points_user_row(const npmd_points *pts, size_t i, double *x)
{
    points_row(pts, i, x);
    domain_position(pts->domain, x);
}

npmd_status points_check_distinct(const npmd_points *pts, const char *where, npmd_error *err)
{
    const size_t bytes = (size_t)pts->domain->columns * sizeof(double);
    double one[DOMAIN_MAX_COLUMNS], other[DOMAIN_MAX_COLUMNS];
    size_t first = 0; /* that counts: a weight of zero does not */
    while (first < pts->n && points_weight(pts, first) == 0.0)
        first++;
    for (size_t i = first + 1; i < pts->n; i++)
        if (points_weight(pts, i) > 0.0
            && memcmp(points_rows(pts, first, 1, one), points_rows(pts, i, 1, other), bytes) != 0)
            return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %zu point%s%s, and at least two distinct ones are needed", where,
                     pts->n, pts->n == 1 ? "" : "s, all equal",
                     points_weighted(pts) ? " where the weight is not zero" : "");
}

static uint64_t hash_number(uint64_t h, double x)
{
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return hash_word(h, word);
}

/* Blocks are hashed side by side, and their hashes in order. */
uint64_t points_hash(const npmd_points *pts)
{
    const size_t block = 65536, blocks = (pts->n + block - 1) / block;
    uint64_t h = hash_word(0, pts->n);
    for (const char *c = pts->domain->text; *c != '\0'; c++)
        h = hash_word(h, (unsigned char)*c);
    h = hash_number(h, pts->total);
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads_here(blocks))
    for (size_t b = 0; b < blocks; b++) {
        double room[DOMAIN_MAX_COLUMNS];
        uint64_t own = 0;
        for (size_t i = b * block; i < pts->n && i < (b + 1) * block; i++) {
            const double *x = points_rows(pts, i, 1, room);
            for (int c = 0; c < pts->domain->columns; c++)
                own = hash_number(own, x[c]);
            if (points_weighted(pts))
                own = hash_number(own, points_weight(pts, i));
        }
#pragma omp ordered
        h = hash_word(h, own);
    }
    return h;
}

void points_unweigh(npmd_points *pts)
{
    rows_release(&pts->weight_file);
    memory_free(pts->weight);
    pts->weight = NULL;
    pts->total = (double)pts->n;
}

size_t points_bytes(const npmd_points *pts)
{
    const size_t numbers = (pts->x == NULL ? 0 : (size_t)pts->domain->columns) + (pts->weight == NULL ? 0 : 1);
    return pts->n * numbers * sizeof(double);
}

void points_free(npmd_points *pts)
{
    if (pts == NULL)
        return;
    domain_free(pts->owned);
    points_unweigh(pts);
    rows_release(&pts->file);
    memory_free(pts->x);
    memory_free(pts);
}

void weighted_mean(const npmd_points *pts, const double *value, double *mean, double *se)
{
    double sum = 0.0, total = 0.0, squares = 0.0;
    for (size_t i = 0; i < pts->n; i++) {
        const double w = points_weight(pts, i);
        sum += w * value[i];
        total += w;
    }
    *mean = sum / total;
    for (size_t i = 0; i < pts->n; i++) {
        const double w = points_weight(pts, i), r = w * (value[i] - *mean);
        squares += r * r;
    }
    *se = pts->n > 1 ? sqrt(squares) / total * sqrt((double)pts->n / ((double)pts->n - 1.0)) : NAN;
}

uint64_t points_row_hash(const npmd_points *pts, size_t row)
{
    double x[DOMAIN_MAX_COLUMNS];
    const size_t size = (size_t)pts->domain->columns * sizeof *x;
    points_row(pts, row, x);
    if (!pts->unordered)
        return hash_bytes(0, x, size);
    const uint64_t first = hash_bytes(0, x, size / 2), second = hash_bytes(0, x + pts->domain->columns / 2, size / 2);
    return hash_word(hash_word(1, first < second ? first : second), first < second ? second : first);
}
