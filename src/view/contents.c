/* contents.c - the data of the page: one JSON object that describes everything, and the arrays it names.
 *
 *   head          title, domain, factors with their kinds, units and sizes, step and top of the levels, what is
 *                 thinned
 *   values        levels of log f, (nodes of factor 1, nodes of factor 2), predicted and in planes (pack.c)
 *   nodesK        of a thinned mesh: the vertex of each node
 *   vertexK       of a surface: vertices as shares of the box about it; faceK: corners, each less the one before
 *   sphereK       of a sphere drawn on a surface: where on the sphere each vertex is
 *   pointsK       data: angles as shares of a turn, unit vectors and positions as shares of their box
 *   placesK       data on a sphere that is drawn on a surface: their places there */
#include "view.h"

#include <stdio.h>

/* "points" and 0 to "points1". */
typedef struct blob_name {
    char text[32];
} blob_name;
static blob_name name_of(const char *what, int s)
{
    blob_name n;
    snprintf(n.text, sizeof n.text, "%s%d", what, s + 1);
    return n;
}

typedef struct bounds {
    double low[3], high[3];
} bounds;
static bounds bounds_about(const double *x, size_t n)
{
    bounds b = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (size_t i = 0; i < 3 * n; i++) {
        b.low[i % 3] = fmin(b.low[i % 3], x[i]);
        b.high[i % 3] = fmax(b.high[i % 3], x[i]);
    }
    return b;
}
static const bounds UNIT_BOUNDS = { { -1.0, -1.0, -1.0 }, { 1.0, 1.0, 1.0 } };

/* The mesh that a factor is drawn on; NULL: the page draws a circle or a globe of its own. */
static const mesh *drawn_on(const view_values *v, int s)
{
    if (v->factor[s].on->kind == FACTOR_SURFACE)
        return &v->factor[s].own;
    return v->surface[s].vertices > 0 ? &v->surface[s] : NULL;
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static npmd_status json_bounds(json_t *into, const bounds *b, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *list = json_array();
    TRY(json_put(into, "box", list, err)); /* owns it from here on */
    for (int k = 0; k < 6; k++)
        TRY(json_append(list, json_real(k < 3 ? b->low[k] : b->high[k - 3]), err));
done:
    return st;
}

static npmd_status head_factor(const view_values *v, int s, json_t *list, npmd_error *err)
{
    static const char *const KIND[] = { [FACTOR_CIRCLE] = "S1", [FACTOR_SPHERE] = "S2", [FACTOR_SURFACE] = "mesh" };
    npmd_status st = NPMD_OK;
    const view_factor *f = &v->factor[s];
    const mesh *on = drawn_on(v, s);
    json_t *o = json_object();
    TRY(json_append(list, o, err));
    TRY(json_put(o, "kind", json_string(KIND[f->on->kind]), err));
    TRY(json_put(o, "factor", json_integer(f->factor + 1), err));
    TRY(json_put(o, "name", v->what->name[s] == NULL ? json_null() : json_string(v->what->name[s]), err));
    TRY(json_put(o, "nodes", json_integer((json_int_t)f->n), err));
    TRY(json_put(o, "resolution", json_integer(f->resolution), err));
    TRY(json_put(o, "thinned", json_boolean(f->vertex != NULL), err));
    TRY(json_put(o, "volume", json_real(f->on->volume), err));
    if (on != NULL) {
        const bounds b = bounds_about(on->x, on->vertices);
        TRY(json_put(o, "vertices", json_integer((json_int_t)on->vertices), err));
        TRY(json_put(o, "faces", json_integer((json_int_t)on->faces), err));
        TRY(json_bounds(o, &b, err));
    }
done:
    return st;
}

/* 256 colours, six hexadecimal digits each. */
static npmd_status head_colours(json_t *head, npmd_error *err)
{
    char text[6 * 256 + 1];
    for (int i = 0; i < 256; i++) {
        const colour c = map_colour(MAP_RISING, i / 255.0);
        snprintf(text + 6 * i, 7, "%02x%02x%02x", c.red, c.green, c.blue);
    }
    return json_put(head, "colours", json_string(text), err);
}

static npmd_status head_write(const view_values *v, view_page *p, const npmd_view_facts *facts, double top,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_fit_facts fit = NPMD_SIZED(npmd_fit_facts);
    char estimator[ESTIMATOR_NAME];
    json_t *head = json_object(), *factors = json_array();
    TRY(json_put(head, "factors", factors, err));
    TRY(npmd_model_facts(v->model, &fit, err));
    TRY(estimator_of(v->model, estimator, err));
    TRY(json_put(head, "title", v->what->title == NULL ? json_null() : json_string(v->what->title), err));
    TRY(json_put(head, "version", json_string(npmd_version()), err));
    TRY(json_put(head, "domain", json_string(v->domain.text), err));
    TRY(json_put(head, "domain_factors", json_integer(v->domain.factors), err));
    TRY(json_put(head, "estimator", json_string(estimator), err));
    TRY(json_put(head, "n", json_integer((json_int_t)fit.n), err));
    TRY(json_put(head, "coords", json_integer((json_int_t)v->what->coords), err));
    TRY(json_put(head, "top", json_real(top), err));
    TRY(json_put(head, "step", json_real(v->step), err));
    TRY(json_put(head, "mass", json_real(v->mass), err));
    TRY(json_put(head, "sum_error", json_real(v->sum_error), err));
    TRY(json_put(head, "compared", json_integer((json_int_t)v->compared), err));
    TRY(json_put(head, "points", json_integer((json_int_t)facts->points), err));
    TRY(json_put(head, "points_shown", json_integer((json_int_t)facts->points_shown), err));
    for (int s = 0; s < v->factors; s++)
        TRY(head_factor(v, s, factors, err));
    TRY(head_colours(head, err));
    TRY(page_json(p, "head", head, err));
done:
    json_decref(head);
    return st;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static npmd_status levels_write(view_page *p, const char *name, uint16_t *level, size_t rows, size_t columns,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *bytes = NULL;
    TRY(memory_new(&bytes, 2 * rows * columns, err));
    pack_predict(level, rows, columns);
    pack_planes(level, rows * columns, bytes);
    TRY(page_blob(p, name, bytes, 2 * rows * columns, err));
done:
    memory_free(bytes);
    return st;
}

static npmd_status values_write(const view_values *v, view_page *p, double top, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t rows = v->factor[0].n, columns = v->factors == 2 ? v->factor[1].n : 1;
    uint16_t *level = NULL;
    TRY(memory_new(&level, rows * columns, err));
    pack_levels(v->log_f, rows * columns, top, v->step, level);
    /* a single factor is one row: neighbours stand side by side */
    TRY(levels_write(p, "values", level, columns == 1 ? 1 : rows, columns == 1 ? rows : columns, err));
done:
    memory_free(level);
    return st;
}

/* Numbers of 32 bits, each less the one before it, as four planes of bytes. */
static npmd_status integers_write(view_page *p, const char *name, const int32_t *number, size_t n, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *bytes = NULL;
    TRY(memory_new(&bytes, 4 * n, err));
    for (size_t i = 0; i < n; i++) {
        const uint32_t d = (uint32_t)number[i] - (i > 0 ? (uint32_t)number[i - 1] : 0u);
        for (size_t plane = 0; plane < 4; plane++)
            bytes[plane * n + i] = (unsigned char)(d >> 8 * plane & 0xff);
    }
    TRY(page_blob(p, name, bytes, 4 * n, err));
done:
    memory_free(bytes);
    return st;
}

/* x (n, 3) as shares of a box, one coordinate after the other: three rows of n. */
static npmd_status places_write(view_page *p, const char *name, const double *x, size_t n, const bounds *b,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    uint16_t *share = NULL;
    TRY(memory_new(&share, 3 * n, err));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++)
            share[k * n + i] = pack_share(x[3 * i + k], b->low[k], b->high[k]);
    TRY(levels_write(p, name, share, 1, 3 * n, err));
done:
    memory_free(share);
    return st;
}

/* Directions of the vertices of a sphere about the origin, of any radius. */
static npmd_status sphere_write(view_page *p, int s, const mesh *sphere, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *unit = NULL;
    TRY(memory_new(&unit, 3 * sphere->vertices, err));
    for (size_t i = 0; i < 3 * sphere->vertices; i++) {
        const double *x = sphere->x + i / 3 * 3;
        unit[i] = sphere->x[i] / sqrt(dot3(x, x));
    }
    TRY(places_write(p, name_of("sphere", s).text, unit, sphere->vertices, &UNIT_BOUNDS, err));
done:
    memory_free(unit);
    return st;
}

static npmd_status surface_write(const view_values *v, int s, view_page *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const view_factor *f = &v->factor[s];
    const mesh *m = drawn_on(v, s);
    if (f->vertex != NULL)
        TRY(integers_write(p, name_of("nodes", s).text, f->vertex, f->n, err));
    if (m == NULL)
        goto done;
    const bounds b = bounds_about(m->x, m->vertices);
    TRY(places_write(p, name_of("vertex", s).text, m->x, m->vertices, &b, err));
    TRY(integers_write(p, name_of("face", s).text, m->face, 3 * m->faces, err));
    if (f->on->kind == FACTOR_SPHERE)
        TRY(sphere_write(p, s, &v->sphere[s], err));
done:
    return st;
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* row (shown): which of n rows are shown; all, or some anywhere, in the order of the file. */
static void rows_choose(uint64_t seed, size_t n, size_t shown, unsigned char *taken, size_t *row)
{
    const rng_key key = rng_key_make(seed, RNG_VIEW, 2);
    for (size_t i = 0; i < shown; i++)
        taken[shown == n ? i : (size_t)rng_permute(key, i, n)] = 1;
    for (size_t i = 0, k = 0; i < n; i++)
        if (taken[i])
            row[k++] = i;
}

/* x (n, 3): unit vectors, to the surface whose faces the sphere has. */
static npmd_status carry_to_surface(const mesh *sphere, const mesh *cortex, double *x, size_t n, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    locator *near = NULL;
    const double radius = sqrt(dot3(sphere->x, sphere->x));
    TRY(locator_open(sphere, &near, err));
    for (size_t i = 0; i < n; i++) {
        surface_point at;
        const double p[3] = { radius * x[3 * i], radius * x[3 * i + 1], radius * x[3 * i + 2] };
        locator_nearest(near, p, &at);
        mesh_point(cortex, at.face, at.u, at.v, x + 3 * i);
    }
done:
    locator_close(near);
    return st;
}

static npmd_status angles_write(view_page *p, const char *name, const double *x, size_t n, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    uint16_t *share = NULL;
    TRY(memory_new(&share, n, err));
    for (size_t i = 0; i < n; i++)
        share[i] = (uint16_t)(lrint(65536.0 * x[i] / TWO_PI) & 0xffff);
    TRY(levels_write(p, name, share, 1, n, err));
done:
    memory_free(share);
    return st;
}

static npmd_status dots_write(const view_values *v, int s, const size_t *row, size_t n, view_page *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const view_factor *f = &v->factor[s];
    const size_t width = (size_t)f->on->columns;
    double whole[LOOK_COLUMNS], *x = NULL;
    TRY(memory_new(&x, n * width, err));
    for (size_t i = 0; i < n; i++) {
        npmd_points_row(v->what->data, row[i], whole);
        memcpy(x + i * width, whole + f->on->column, width * sizeof *x);
    }
    if (f->on->kind == FACTOR_CIRCLE) {
        TRY(angles_write(p, name_of("points", s).text, x, n, err));
        goto done;
    }
    const mesh *on = drawn_on(v, s);
    const bounds about = on != NULL ? bounds_about(on->x, on->vertices) : UNIT_BOUNDS;
    TRY(places_write(p, name_of("points", s).text, x, n, f->on->kind == FACTOR_SURFACE ? &about : &UNIT_BOUNDS, err));
    if (f->on->kind == FACTOR_SPHERE && on != NULL) {
        TRY(carry_to_surface(&v->sphere[s], on, x, n, err));
        TRY(places_write(p, name_of("places", s).text, x, n, &about, err));
    }
done:
    memory_free(x);
    return st;
}

static npmd_status data_write(const view_values *v, view_page *p, const npmd_view_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *taken = NULL;
    size_t *row = NULL;
    if (facts->points_shown == 0)
        goto done;
    TRY(memory_new(&taken, facts->points, err));
    TRY(memory_new(&row, facts->points_shown, err));
    rows_choose(v->what->seed, facts->points, facts->points_shown, taken, row);
    for (int s = 0; s < v->factors; s++)
        TRY(dots_write(v, s, row, facts->points_shown, p, err));
done:
    memory_free_all(taken, row);
    return st;
}

npmd_status contents_write_shapes(const view_values *v, view_page *p, const npmd_view_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int s = 0; s < v->factors; s++)
        TRY(surface_write(v, s, p, err));
    TRY(data_write(v, p, facts, err));
done:
    return st;
}

npmd_status contents_write_values(const view_values *v, view_page *p, const npmd_view_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double top = -INFINITY;
    for (size_t k = 0; k < view_values_count(v); k++)
        top = fmax(top, v->log_f[k]);
    TRY(head_write(v, p, facts, top, err));
    TRY(values_write(v, p, top, err));
done:
    return st;
}
