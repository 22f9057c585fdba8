/* kind_values.c - numbers on the vertices of a surface, from marginal, eigen or any other program. */
#include "brain.h"

static bool values_takes(const figure *f)
{
    const npmd_plot_surfaces *ask = f->ask->surfaces;
    return f->sources == 0 && ask != NULL && ask->surface != NULL && ask->values != NULL;
}

/* Points of a file, x y z, brought to the surface's vertices' scale: where they are. */
static npmd_status dots_read(const npmd_plot_surfaces *ask, surface_scene *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    double *x = NULL;
    TRY(table_read(ask->points, &t, err));
    if (t.columns != 3)
        TRY(npmd_fail(err, NPMD_ERR_SHAPE, "%s has %zu columns, points on a surface have 3: x y z", ask->points,
                      t.columns));
    TRY(memory_new(&x, 3 * t.rows, err));
    memcpy(x, t.data, 3 * t.rows * sizeof *x);
    surface_scene_points(s, x, t.rows);
done:
    table_free(&t);
    return st;
}

static npmd_status values_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_plot_surfaces *ask = f->ask->surfaces;
    surface_scene s = { 0 };
    surface_views views;
    vertex_columns c = { 0 };
    shade how;
    int column = 0;
    TRY(surface_views_find(ask, ask->surface, &views, err));
    TRY(surface_scene_read(ask->surface, &s, err));
    TRY(vertex_columns_read(ask->values, s.m->vertices, &c, err));
    TRY(vertex_columns_find(&c, ask->column != NULL ? ask->column : "1", ask->values, &column, err));
    if (ask->labels != NULL)
        TRY(surface_scene_region(&s, ask->labels, ask->region, err));
    if (ask->points != NULL)
        TRY(dots_read(ask, &s, err));
    TRY(values_shade(f, c.name[column], c.value[column], c.vertices, &how, err));
    const relief_scene scene = surface_scene_relief(&s, c.value[column], &how);
    TRY(surface_single_draw(f, &scene, &views, &how, err));
    f->facts.data = s.points.count;
done:
    vertex_columns_free(&c);
    surface_scene_free(&s);
    return st;
}

const figure_kind KIND_VALUES = { .name = "values",
                                  .help = "values on the vertices of a surface, from four sides",
                                  .fits = values_takes,
                                  .wants = "a file of values and `surface`",
                                  .takes = values_takes,
                                  .uses = USES_RANGE | USES_LOG,
                                  .draw = values_draw };
