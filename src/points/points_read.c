/* points_read.c - points from files or arrays in memory, with weights from either.
 *
 * Large .npy files are mapped and arrays may be borrowed: their rows stay in place and are converted when needed,
 * always to the same numbers. Points of a surface are located once, and kept. */
#include "points.h"
#include "io.h"

#include <stdio.h>

npmd_status coords_parse(const char *text, unsigned *out, npmd_error *err)
{
    unsigned coords = 0;
    for (const char *at = text; *at != '\0';) {
        const size_t size = strcspn(at, ",");
        if (size == 6 && strncmp(at, "latlon", size) == 0)
            coords |= NPMD_COORDS_LATLON;
        else if (size == 7 && strncmp(at, "degrees", size) == 0)
            coords |= NPMD_COORDS_DEGREES;
        else
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "`coords`: \"%.40s\" was found where latlon, degrees or latlon,degrees was expected",
                             text);
        at += size;
        at += *at == ',';
    }
    *out = coords;
    return NPMD_OK;
}

#define MAPPED ((size_t)64 << 20) /* files of more bytes stay where they are */

static bool is_large_npy(const char *path)
{
    return file_has_suffix(path, ".npy") && file_size(path) > MAPPED;
}

static void map_release(void *owner)
{
    npy_map_close(owner);
    memory_free(owner);
}

/* The rows of a large .npy file, where they lie. */
static npmd_status rows_map(const char *path, number_rows *out, size_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npy_map *map = NULL;
    TRY(memory_new(&map, 1, err));
    TRY(npy_map_open(path, map, err));
    *out = (number_rows){
        .bytes = map->rows, .f4 = map->f4, .columns = map->columns, .owner = map, .release = map_release
    };
    *rows = map->count;
    map = NULL;
done:
    memory_free(map);
    return st;
}

static npmd_status check_columns(const char *path, const npmd_domain *dom, unsigned coords, size_t found,
                                 npmd_error *err)
{
    const size_t columns = points_file_columns(dom, coords);
    if (found == columns)
        return NPMD_OK;
    const bool latlon = (coords & NPMD_COORDS_LATLON) != 0;
    const bool other_fits = found == points_file_columns(dom, coords ^ NPMD_COORDS_LATLON);
    const char *hint = !other_fits ? "" : latlon ? "; try without `coords` latlon" : "; try `coords` latlon";
    return npmd_fail(err, NPMD_ERR_SHAPE, "%s has %zu column%s, points of %s%s need %zu%s", path, found,
                     found == 1 ? "" : "s", dom->text, coords == 0 ? "" : " in these coordinates", columns, hint);
}

static npmd_status check_coords(const npmd_domain *dom, unsigned coords, npmd_error *err)
{
    unsigned unused = coords;
    for (int d = 0; d < dom->factors; d++)
        unused &= ~dom->factor[d]->foreign_coords;
    if (unused == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "`coords` %s: %s has no %s",
                     unused & NPMD_COORDS_LATLON ? "latlon" : "degrees", dom->text,
                     unused & NPMD_COORDS_LATLON ? "S2" : "S1");
}

/* Points of rows that stay where they are; takes the rows over, also on failure. */
static npmd_status points_of_rows(const char *where, const npmd_domain *dom, unsigned coords, number_rows *rows,
                                  size_t n, npmd_points **out, npmd_error *err)
{
    size_t bad = 0;
    int d = 0;
    const char *reason = NULL;
    npmd_points *pts = NULL;
    npmd_status st = check_columns(where, dom, coords, rows->columns, err);
    if (st != NPMD_OK) {
        rows_release(rows);
        return st;
    }
    st = points_map(dom, rows, n, coords, &pts, &bad, &d, &reason, err);
    if (st != NPMD_OK)
        return st;
    if (reason != NULL)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%.300s row %zu: factor %d (%s) %s", where, bad + 1, d + 1,
                         dom->factor[d]->name, reason);
    *out = pts;
    return NPMD_OK;
}

static npmd_status points_read_mapped(const char *path, const npmd_domain *dom, unsigned coords, npmd_points **out,
                                      npmd_error *err)
{
    number_rows file = { 0 };
    size_t rows = 0;
    const npmd_status st = rows_map(path, &file, &rows, err);
    return st != NPMD_OK ? st : points_of_rows(path, dom, coords, &file, rows, out, err);
}

npmd_status points_read(const char *path, const npmd_domain *dom, unsigned coords, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    npmd_points *pts = NULL;
    TRY(check_coords(dom, coords, err));
    if (is_large_npy(path) && !dom->surfaces) /* a surface's points are looked for once, and kept */
        return points_read_mapped(path, dom, coords, out, err);
    TRY(table_read(path, &t, err));
    TRY(check_columns(path, dom, coords, t.columns, err));
    TRY(points_make(dom, t.rows, &pts, err));
    const size_t bad = points_take(pts, coords, t.data);
    if (bad < t.rows) {
        char where[320], reason[POINTS_REASON];
        table_where(&t, bad, where, sizeof where);
        points_reason(dom, coords, t.data + bad * t.columns, reason);
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: %s", where, reason);
        goto done;
    }
    *out = pts;
    pts = NULL;
done:
    points_free(pts);
    table_free(&t);
    return st;
}

/* Copies. A bad row is named as the caller knows it: by its number, or where there is one alone as "the point". */
static npmd_status points_copy(const double *rows, size_t n, size_t columns, const npmd_domain *dom, unsigned coords,
                               bool alone, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    char reason[POINTS_REASON];
    TRY(check_coords(dom, coords, err));
    TRY(check_columns(alone ? "the point" : "the array", dom, coords, columns, err));
    TRY(points_make(dom, n, &pts, err));
    const size_t bad = points_take(pts, coords, rows);
    if (bad < n) {
        points_reason(dom, coords, rows + bad * columns, reason);
        st = alone ? npmd_fail(err, NPMD_ERR_FORMAT, "the point: %s", reason)
                   : npmd_fail(err, NPMD_ERR_FORMAT, "the array row %zu: %s", bad + 1, reason);
        goto done;
    }
    *out = pts;
    pts = NULL;
done:
    points_free(pts);
    return st;
}

npmd_status points_from_rows(const double *rows, size_t n, size_t columns, const npmd_domain *dom, unsigned coords,
                             npmd_points **out, npmd_error *err)
{
    return points_copy(rows, n, columns, dom, coords, n == 1, out, err);
}

npmd_status points_borrow(const void *rows, int float32, size_t n, size_t columns, const npmd_domain *dom,
                          unsigned coords, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    number_rows own = { .bytes = rows, .f4 = float32 != 0, .columns = columns };
    double *copy = NULL;
    TRY(check_coords(dom, coords, err));
    if (!dom->surfaces)
        return points_of_rows("the array", dom, coords, &own, n, out, err);
    if (columns > 0 && n > SIZE_MAX / columns) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "%zu points are more than this machine can address", n);
        goto done;
    }
    TRY(memory_new(&copy, n * columns, err));
    for (size_t i = 0; i < n * columns; i++)
        copy[i] = number_at(&own, i);
    TRY(points_from_rows(copy, n, columns, dom, coords, out, err));
done:
    memory_free(copy);
    return st;
}

npmd_status points_user_rows(const npmd_points *pts, unsigned coords, double *rows, npmd_error *err)
{
    const size_t columns = points_file_columns(pts->domain, coords);
    double x[DOMAIN_MAX_COLUMNS];
    const npmd_status st = check_coords(pts->domain, coords, err);
    for (size_t i = 0; st == NPMD_OK && i < pts->n; i++) {
        points_user_row(pts, i, x);
        points_to_row(pts->domain, coords, x, rows + i * columns);
    }
    return st;
}

/* The sum of the weights, each checked. */
static npmd_status weights_total(const char *path, const number_rows *rows, size_t n, double *out, npmd_error *err)
{
    double total = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double w = number_at(rows, i);
        if (!(w >= 0.0) || !isfinite(w))
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s, weight %zu: %g is %s", path, i + 1, w,
                             w < 0.0 ? "negative" : "not finite");
        total += w;
    }
    if (!(total > 0.0) || !isfinite(total) || !isfinite((double)n / total))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: the weights add up to %g", path, total);
    *out = total;
    return NPMD_OK;
}

/* Takes the rows over on success: those of a mapped file stay there, others are copied. */
static npmd_status points_weigh_by_rows(npmd_points *pts, const char *where, const number_rows *rows, size_t count,
                                        npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double total = 0.0, *weight = NULL;
    if (rows->columns != 1 || count != pts->n) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%s holds %zu x %zu numbers, %zu weights are needed, one for each point",
                       where, count, rows->columns, pts->n);
        goto done;
    }
    TRY(weights_total(where, rows, count, &total, err));
    if (rows->release == NULL) {
        TRY(memory_new(&weight, pts->n, err));
        for (size_t i = 0; i < count; i++)
            weight[i] = (double)pts->n / total * number_at(rows, i); /* as points_weight does it */
    }
    points_unweigh(pts);
    pts->weight = weight;
    pts->total = total;
    pts->weight_scale = (double)pts->n / total;
    if (rows->release != NULL)
        pts->weight_file = *rows;
done:
    return st;
}

npmd_status points_weigh(npmd_points *pts, const char *weights_path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    number_rows rows = { 0 };
    size_t count = 0;
    if (is_large_npy(weights_path)) {
        TRY(rows_map(weights_path, &rows, &count, err));
    } else {
        TRY(table_read(weights_path, &t, err));
        rows = (number_rows){ .bytes = (const unsigned char *)t.data, .columns = t.columns };
        count = t.rows;
    }
    TRY(points_weigh_by_rows(pts, weights_path, &rows, count, err));
    rows = (number_rows){ 0 };
done:
    rows_release(&rows);
    table_free(&t);
    return st;
}

npmd_status points_weigh_by(npmd_points *pts, const double *weight, size_t n, npmd_error *err)
{
    const number_rows rows = { .bytes = (const unsigned char *)weight, .columns = 1 };
    return points_weigh_by_rows(pts, "the array of weights", &rows, n, err);
}

npmd_status points_write(const char *path, const npmd_domain *dom, unsigned coords, const double *x, size_t n,
                         npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = points_file_columns(dom, coords);
    double *rows = NULL;
    TRY(check_coords(dom, coords, err));
    if (n > SIZE_MAX / columns) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "%zu points are more than this machine can address", n);
        goto done;
    }
    TRY(memory_new(&rows, n * columns, err));
    for (size_t i = 0; i < n; i++)
        points_to_row(dom, coords, x + i * (size_t)dom->columns, rows + i * columns);
    TRY(table_write(path, rows, n, columns, err));
done:
    memory_free(rows);
    return st;
}
