/* neuropmd.c - the public functions that join folders: files to points, options and back, pictures, facts of
 * the build. */
#include "draw.h"
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

npmd_status npmd_build_describe(char **json, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = json_pack("{s:s, s:s, s:s, s:b, s:[s,s], s:[s,s]}", "version", npmd_version(),
                               "compiler", COMPILER, "kernels", cpu_kernels_name(), "openmp", WITH_OPENMP,
                               "devices", "cpu", "reference", "manifolds", CIRCLE.name, SPHERE.name);
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

static bool is_foreign(const manifold *m, unsigned coords)
{
    return (m->foreign_coords & coords) != 0;
}

static size_t file_columns(const npmd_domain *dom, unsigned coords)
{
    size_t columns = 0;
    for (int d = 0; d < dom->factors; d++)
        columns += (size_t)(is_foreign(dom->factor[d], coords) ? dom->factor[d]->foreign_columns
                                                               : dom->factor[d]->columns);
    return columns;
}

/* One row of a file to one canonical point; the reason if it is none. */
static const char *row_to_point(const npmd_domain *dom, unsigned coords, const double *row, double *x,
                                int *factor)
{
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        double *at = x + dom->column[d];
        const char *reason = NULL;
        *factor = d;
        if (is_foreign(m, coords)) {
            reason = m->from_foreign(row, at);
            row += m->foreign_columns;
        } else {
            memcpy(at, row, (size_t)m->columns * sizeof *row);
            reason = m->canonical(at);
            row += m->columns;
        }
        if (reason != NULL)
            return reason;
    }
    return NULL;
}

npmd_status npmd_points_read(const char *path, const npmd_domain *dom, unsigned coords, npmd_points **out,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    npmd_points *pts = NULL;
    unsigned unused = coords;
    const size_t columns = file_columns(dom, coords);
    for (int d = 0; d < dom->factors; d++)
        unused &= ~dom->factor[d]->foreign_coords;
    if (unused != 0) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "--coords %s: %s has no %s",
                       unused & NPMD_COORDS_LATLON ? "latlon" : "degrees", dom->text,
                       unused & NPMD_COORDS_LATLON ? "S2" : "S1");
        goto done;
    }
    TRY(table_read(path, &t, err));
    if (t.columns != columns) {
        const bool latlon = (coords & NPMD_COORDS_LATLON) != 0;
        const bool other_fits = t.columns == file_columns(dom, coords ^ NPMD_COORDS_LATLON);
        const char *hint = !other_fits ? ""
                           : latlon    ? "; try without --coords latlon"
                                       : "; try --coords latlon";
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%s has %zu column%s, points of %s%s need %zu%s", path, t.columns,
                       t.columns == 1 ? "" : "s", dom->text, coords == 0 ? "" : " in these coordinates",
                       columns, hint);
        goto done;
    }
    TRY(points_make(dom, t.rows, &pts, err));
    for (size_t i = 0; i < t.rows; i++) {
        int d = 0;
        const char *reason = row_to_point(dom, coords, t.data + i * columns,
                                          pts->x + i * (size_t)dom->columns, &d);
        if (reason != NULL) {
            char where[320];
            table_where(&t, i, where, sizeof where);
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: factor %d (%s) %s", where, d + 1, dom->factor[d]->name,
                           reason);
            goto done;
        }
    }
    *out = pts;
    pts = NULL;
done:
    npmd_points_free(pts);
    table_free(&t);
    return st;
}

npmd_status npmd_points_weigh(npmd_points *pts, const char *weights_path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    double *weight = NULL, total = 0.0;
    char where[320];
    TRY(table_read(weights_path, &t, err));
    if (t.columns != 1 || t.rows != pts->n) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%s holds %zu x %zu numbers, %zu weights are needed, one a point",
                       weights_path, t.rows, t.columns, pts->n);
        goto done;
    }
    for (size_t i = 0; i < t.rows; i++) {
        if (t.data[i] < 0.0) {
            table_where(&t, i, where, sizeof where);
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: weight %g is negative", where, t.data[i]);
            goto done;
        }
        total += t.data[i];
    }
    if (!(total > 0.0) || !isfinite(total)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the weights add up to %g", weights_path, total);
        goto done;
    }
    TRY(memory_new(&weight, pts->n, err));
    for (size_t i = 0; i < t.rows; i++)
        weight[i] = t.data[i] / total * (double)pts->n;
    memory_free(pts->weight);
    pts->weight = weight;
    pts->total = total;
done:
    table_free(&t);
    return st;
}

npmd_status npmd_points_write(const char *path, const npmd_domain *dom, unsigned coords, const double *x,
                              size_t n, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = file_columns(dom, coords);
    double *rows = NULL;
    if (n > SIZE_MAX / columns) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "%zu points are more than this machine can address", n);
        goto done;
    }
    TRY(memory_new(&rows, n * columns, err));
    for (size_t i = 0; i < n; i++) {
        double *row = rows + i * columns;
        for (int d = 0; d < dom->factors; d++) {
            const manifold *m = dom->factor[d];
            const double *at = x + i * (size_t)dom->columns + dom->column[d];
            if (is_foreign(m, coords))
                m->to_foreign(at, row);
            else
                memcpy(row, at, (size_t)m->columns * sizeof *row);
            row += is_foreign(m, coords) ? m->foreign_columns : m->columns;
        }
    }
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

npmd_status npmd_plot(const npmd_model *m, const npmd_truth *truth, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = npmd_model_domain(m);
    const int grid = 240;
    const size_t nodes = (size_t)grid * (size_t)grid;
    double *x = NULL, *panel[2] = { NULL, NULL };
    if (!dom->torus || dom->dimension != 2) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "a map can be drawn of a density on T2; this model lies on %s",
                       dom->text);
        goto done;
    }
    if (truth != NULL)
        TRY(model_check_domain(m, npmd_truth_domain(truth), "truth lies", err));
    TRY(memory_new(&x, 2 * nodes, err));
    TRY(memory_new(&panel[0], nodes, err));
    TRY(memory_new(&panel[1], nodes, err));
    for (size_t i = 0; i < nodes; i++) {
        x[2 * i] = TWO_PI * (double)(i / (size_t)grid) / grid;
        x[2 * i + 1] = TWO_PI * (double)(i % (size_t)grid) / grid;
    }
    TRY(npmd_log_density(m, x, nodes, panel[1], err));
    if (truth != NULL)
        TRY(npmd_truth_log_density(truth, x, nodes, panel[0], err));
    for (size_t i = 0; i < nodes; i++) {
        panel[0][i] = exp(panel[0][i]);
        panel[1][i] = exp(panel[1][i]);
    }
    const char *const titles[2] = { "truth", "estimate" };
    const int first = truth == NULL ? 1 : 0;
    TRY(draw_torus_maps(path, 2 - first, titles + first, (const double *const *)panel + first, grid, err));
done:
    memory_free(x);
    memory_free(panel[0]);
    memory_free(panel[1]);
    return st;
}
