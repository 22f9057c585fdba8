/* surface_scene.c - a surface with an outlined region and points on it, and pages of its views. */
#include "brain.h"

const colour SURFACE_GROUND = { 226, 225, 222 };
static const colour OUTLINE = { 15, 15, 20 }, DOT = { 20, 20, 24 }, DOT_EDGE = { 255, 255, 255 };

/* ---- what is drawn on a surface ---------------------------------------------------------------------------------- */

npmd_status surface_scene_read(const char *path, surface_scene *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(mesh_read(path, &out->own, err));
    TRY(mesh_check(&out->own, path, err));
    out->m = &out->own;
done:
    return st;
}

/* Rows of vertices from pole to pole; a pole stands there as often as a row has vertices, so that every cell is two
 * triangles, of which one is empty at a pole. */
npmd_status ball_make(int steps, mesh *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t around = 2 * (size_t)steps;
    mesh b = { .vertices = ((size_t)steps + 1) * around, .faces = 2 * (size_t)steps * around, .area = 4.0 * NPMD_PI };
    TRY(memory_new(&b.x, 3 * b.vertices, err));
    TRY(memory_new(&b.face, 3 * b.faces, err));
    for (size_t i = 0; i < b.vertices; i++) {
        const double theta = NPMD_PI * (double)(i / around) / steps;
        const double phi = NPMD_PI * (double)(i % around) / steps;
        double *x = b.x + 3 * i;
        x[0] = sin(theta) * cos(phi), x[1] = sin(theta) * sin(phi), x[2] = cos(theta);
    }
    int32_t *f = b.face;
    for (size_t i = 0; i < (size_t)steps * around; i++, f += 6) {
        const int32_t a = (int32_t)i, next = (int32_t)(i / around * around + (i + 1) % around);
        const int32_t below = (int32_t)around;
        const int32_t two[6] = { a, a + below, next + below, a, next + below, next };
        memcpy(f, two, sizeof two);
    }
    *out = b;
    b = (mesh){ 0 };
done:
    mesh_free(&b);
    return st;
}

void surface_scene_free(surface_scene *s)
{
    mesh_free(&s->own);
    memory_free_all(s->outline, s->point);
    *s = (surface_scene){ 0 };
}

/* Its middle, and how far away its farthest vertex is. */
static void region_measure(surface_scene *s, const bool *inside)
{
    const mesh *m = s->m;
    double count = 0.0;
    for (size_t i = 0; i < m->vertices; i++)
        if (inside[i]) {
            count += 1.0;
            for (size_t k = 0; k < 3; k++)
                s->centre[k] += m->x[3 * i + k];
        }
    for (int k = 0; k < 3 && count > 0.0; k++)
        s->centre[k] /= count;
    for (size_t i = 0; i < m->vertices; i++) {
        const double *x = m->x + 3 * i;
        if (inside[i])
            s->radius = fmax(s->radius, sqrt(pow(x[0] - s->centre[0], 2.0) + pow(x[1] - s->centre[1], 2.0)
                                             + pow(x[2] - s->centre[2], 2.0)));
    }
}

npmd_status surface_scene_region(surface_scene *s, const char *labels_path, const char *region, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    labels l = { 0 };
    bool *inside = NULL;
    TRY(labels_read(labels_path, s->m->vertices, &l, err));
    const int found = labels_find(&l, region);
    if (found < 0)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "%s has no region '%.60s'; it has %d, the first of them '%.60s'",
                      labels_path, region, l.regions, l.regions > 0 ? l.name[0] : ""));
    TRY(memory_new(&inside, s->m->vertices, err));
    for (size_t i = 0; i < s->m->vertices; i++)
        inside[i] = l.region[i] == found;
    TRY(mesh_outline(s->m, inside, &s->outline, &s->lines.segments, err));
    region_measure(s, inside);
    s->lines.x = s->outline;
    s->lines.ink = OUTLINE;
    s->lines.thickness = 0.9;
done:
    memory_free(inside);
    labels_free(&l);
    return st;
}

void surface_scene_points(surface_scene *s, double *x, size_t count)
{
    s->point = x;
    s->points = (relief_points){
        .count = count, .x = x, .ink = DOT, .edge = DOT_EDGE, .radius = count > 2000 ? 0.5 : 0.8, .rim = 0.25
    };
}

relief_scene surface_scene_relief(const surface_scene *s, const double *value, const shade *how)
{
    const mesh *m = s->m;
    return (relief_scene){ .vertices = m->vertices,
                           .faces = m->faces,
                           .x = m->x,
                           .face = m->face,
                           .value = value,
                           .how = how,
                           .ground = SURFACE_GROUND,
                           .opacity = 1.0,
                           /* an edge's length: a line that cuts a corner of a fold is still on it */
                           .lift = sqrt(m->area / (double)m->faces),
                           .lines = &s->lines,
                           .line_sets = s->lines.segments > 0,
                           .points = &s->points,
                           .point_sets = s->points.count > 0 };
}

/* ---- scales ------------------------------------------------------------------------------------------------------ */

bool values_range(const double *value, size_t n, double *least, double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (fabs(value[i]) <= 1e300) { /* so that differences of two are numbers, too */
            *least = fmin(*least, value[i]);
            *most = fmax(*most, value[i]);
        }
    return *least <= *most;
}

npmd_status values_shade(const figure *f, const char *name, const double *value, size_t n, shade *out, npmd_error *err)
{
    double least = 0.0, most = 0.0;
    if (!values_range(value, n, &least, &most))
        return npmd_fail(err, NPMD_ERR_NUMERIC, "none of the values of '%.60s' is finite", name);
    const bool signs = least < 0.0 && most > 0.0 && !f->ask->log_scale && f->ask->ranges == 0;
    if (f->ask->log_scale && least <= 0.0) { /* the least that is not zero */
        least = INFINITY;
        for (size_t i = 0; i < n; i++)
            if (value[i] > 0.0)
                least = fmin(least, value[i]);
        if (!(least <= most))
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "a log scale needs values above zero; the largest of '%.60s' is %g", name, most);
    }
    *out = figure_shade(f, name, least, most, 0);
    out->map = signs ? MAP_BALANCED : MAP_FALLING;
    if (signs) {
        out->scale.to = fmax(-least, most);
        out->scale.from = -out->scale.to;
    }
    return NPMD_OK;
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

npmd_status surface_page_draw(figure *f, const relief_page *page, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double width = 0.0, height = 0.0;
    TRY(figure_room(f, figure_width(f, PAGE_MM), page->columns, page->cell, 14.0, err));
    relief_page_size(page, &width, &height);
    TRY(figure_page(f, width, height, err));
    TRY(relief_page_draw(page, f->page, f->how == NULL ? 0 : f->how->threads, err));
    f->facts.panels = page->rows * page->columns;
    if (page->bar_count > 0) {
        f->facts.low = page->bars[0].scale.from;
        f->facts.high = page->bars[0].scale.to;
    }
done:
    return st;
}

npmd_status surface_single_draw(figure *f, const relief_scene *scene, const surface_views *views, const shade *how,
                                npmd_error *err)
{
    relief_panel panel[VIEWS_MOST + 1] = { { 0 } };
    const int columns = views->count == 1 ? 1 : 2;
    const double width = figure_width(f, columns == 1 ? COLUMN_MM : PAGE_MM * 0.8);
    for (int k = 0; k < views->count; k++)
        panel[k] = (relief_panel){ .scene = scene, .view = views->view[k], .name = views->name[k] };
    const relief_page page = { .rows = (views->count + columns - 1) / columns,
                               .columns = columns,
                               .panel = panel,
                               .cell = (width - 70.0) / columns,
                               .head = figure_top(f),
                               .bars = how,
                               .bar_count = how != NULL };
    return surface_page_draw(f, &page, err);
}
