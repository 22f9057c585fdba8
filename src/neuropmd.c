/* neuropmd.c - the public functions that join folders: files to points, options and back, pictures, facts of
 * the build. */
#include "estimators.h"
#include "io.h"

#include <stdio.h>

#ifndef NPMD_VERSION
#define NPMD_VERSION "0.1.0"
#endif

const char *npmd_version(void)
{
    return NPMD_VERSION;
}

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef _OPENMP
#define WITH_OPENMP 1
#else
#define WITH_OPENMP 0
#endif
#ifndef NPMD_WITH_CUDA /* the build says 1 */
#define NPMD_WITH_CUDA 0
#endif

npmd_status npmd_build_describe(char **json, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *devices = NPMD_WITH_CUDA ? json_pack("[s,s,s]", "cpu", "reference", BACKEND_CUDA.name)
                                     : json_pack("[s,s]", "cpu", "reference");
    json_t *object = json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:[s,s]}", "version", npmd_version(),
                               "compiler", COMPILER, "kernels", cpu_kernels_name(), "openmp", WITH_OPENMP,
                               "cuda", NPMD_WITH_CUDA, "devices", devices, "manifolds", CIRCLE.name,
                               SPHERE.name);
    TRY(json_to_text(object, JSON_INDENT(2), json, err));
done:
    json_decref(object);
    return st;
}

/* ---- options ------------------------------------------------------------------------------------------- */

npmd_status npmd_options_read(npmd_options *opt, const char *json_path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options changed = *opt;
    file_bytes bytes = { 0 };
    json_t *root = NULL;
    TRY(file_read(json_path, &bytes, err));
    TRY(json_from_text((const char *)bytes.data, bytes.size, json_path, &root, err));
    if (!json_is_object(root)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: one JSON object with options was expected", json_path);
        goto done;
    }
    TRY(options_from_json(&changed, root, json_path, err));
    *opt = changed;
done:
    json_decref(root);
    file_bytes_free(&bytes);
    return st;
}

/* ---- points -------------------------------------------------------------------------------------------- */

npmd_status npmd_coords_parse(const char *text, unsigned *out, npmd_error *err)
{
    unsigned coords = 0;
    for (const char *at = text; *at != '\0';) {
        const size_t size = strcspn(at, ",");
        if (size == 6 && strncmp(at, "latlon", size) == 0)
            coords |= NPMD_COORDS_LATLON;
        else if (size == 7 && strncmp(at, "degrees", size) == 0)
            coords |= NPMD_COORDS_DEGREES;
        else
            return npmd_fail(
                err, NPMD_ERR_ARGUMENT,
                "--coords: \"%.40s\" was found where latlon, degrees or latlon,degrees was expected", text);
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
    const char *hint = !other_fits ? "" : latlon ? "; try without --coords latlon" : "; try --coords latlon";
    return npmd_fail(err, NPMD_ERR_SHAPE, "%s has %zu column%s, points of %s%s need %zu%s", path, found,
                     found == 1 ? "" : "s", dom->text, coords == 0 ? "" : " in these coordinates", columns,
                     hint);
}

static npmd_status check_coords(const npmd_domain *dom, unsigned coords, npmd_error *err)
{
    unsigned unused = coords;
    for (int d = 0; d < dom->factors; d++)
        unused &= ~dom->factor[d]->foreign_coords;
    if (unused == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "--coords %s: %s has no %s",
                     unused & NPMD_COORDS_LATLON ? "latlon" : "degrees", dom->text,
                     unused & NPMD_COORDS_LATLON ? "S2" : "S1");
}

static npmd_status points_read_mapped(const char *path, const npmd_domain *dom, unsigned coords,
                                      npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    number_rows file = { 0 };
    npmd_points *pts = NULL;
    size_t rows = 0, bad = 0;
    int d = 0;
    const char *reason = NULL;
    char where[320];
    TRY(rows_map(path, &file, &rows, err));
    st = check_columns(path, dom, coords, file.columns, err);
    if (st != NPMD_OK) {
        file.release(file.owner);
        goto done;
    }
    TRY(points_map(dom, &file, rows, coords, &pts, &bad, &d, &reason, err));
    if (reason != NULL) {
        snprintf(where, sizeof where, "%s row %zu", path, bad + 1);
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: factor %d (%s) %s", where, d + 1, dom->factor[d]->name,
                       reason);
        goto done;
    }
    *out = pts;
done:
    return st;
}

npmd_status npmd_points_read(const char *path, const npmd_domain *dom, unsigned coords, npmd_points **out,
                             npmd_error *err)
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
    npmd_points_free(pts);
    table_free(&t);
    return st;
}

npmd_status npmd_points_from_row(const double *row, size_t columns, const npmd_domain *dom, unsigned coords,
                                 npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    char reason[POINTS_REASON];
    TRY(check_coords(dom, coords, err));
    TRY(check_columns("the point", dom, coords, columns, err));
    TRY(points_make(dom, 1, &pts, err));
    if (points_take(pts, coords, row) == 0) {
        points_reason(dom, coords, row, reason);
        st = npmd_fail(err, NPMD_ERR_FORMAT, "the point: %s", reason);
        goto done;
    }
    *out = pts;
    pts = NULL;
done:
    npmd_points_free(pts);
    return st;
}

/* The sum of the weights, each checked. */
static npmd_status weights_total(const char *path, const number_rows *rows, size_t n, double *out,
                                 npmd_error *err)
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

npmd_status npmd_points_weigh(npmd_points *pts, const char *weights_path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    number_rows rows = { 0 };
    size_t count = 0;
    double total = 0.0, *weight = NULL;
    if (is_large_npy(weights_path)) {
        TRY(rows_map(weights_path, &rows, &count, err));
    } else {
        TRY(table_read(weights_path, &t, err));
        rows = (number_rows){ .bytes = (const unsigned char *)t.data, .columns = t.columns };
        count = t.rows;
    }
    if (rows.columns != 1 || count != pts->n) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%s holds %zu x %zu numbers, %zu weights are needed, one a point",
                       weights_path, count, rows.columns, pts->n);
        goto done;
    }
    TRY(weights_total(weights_path, &rows, count, &total, err));
    if (rows.release == NULL) {
        TRY(memory_new(&weight, pts->n, err));
        for (size_t i = 0; i < count; i++)
            weight[i] = (double)pts->n / total * t.data[i]; /* as points_weight does it */
    }
    points_unweigh(pts);
    pts->weight = weight;
    pts->total = total;
    pts->weight_scale = (double)pts->n / total;
    if (rows.release != NULL)
        pts->weight_file = rows;
    rows = (number_rows){ 0 };
done:
    if (rows.release != NULL)
        rows.release(rows.owner);
    table_free(&t);
    return st;
}

npmd_status npmd_points_write(const char *path, const npmd_domain *dom, unsigned coords, const double *x,
                              size_t n, npmd_error *err)
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

/* ---- arrays and pictures ------------------------------------------------------------------------------- */

npmd_status npmd_array_write(const char *path, const double *a, size_t rows, size_t cols, npmd_error *err)
{
    return table_write(path, a, rows, cols, err);
}

npmd_status npmd_array_check(const char *path, npmd_error *err)
{
    return table_output_check(path, err);
}

npmd_status npmd_output_check(const char *path, npmd_error *err)
{
    return file_output_check(path, err);
}

npmd_status npmd_surface_check(const char *path, npmd_error *err)
{
    return mesh_output_check(path, err);
}

npmd_status npmd_text_write(const char *path, const char *text, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    TRY(file_writer_open(path, &w, err));
    TRY(file_writer_put(w, text, strlen(text), err));
    file_writer *whole = w;
    w = NULL; /* freed in any case */
    TRY(file_writer_commit(whole, err));
done:
    file_writer_abandon(w);
    return st;
}
