/* charts.c - panels of curves in a grid, and numbers from JSON lines. */
#include "figures.h"

#include <stdio.h>

#define EDGE 4.0
#define GAP 12.0

double json_number_at(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

double json_number_in(const json_t *list, size_t row, size_t column)
{
    const json_t *v = json_array_get(json_array_get(list, row), column);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

const char *json_text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

bool figure_experiment(const figure *f, const char *name)
{
    for (int k = 0; k < f->logs; k++)
        if (!f->log[k].experiment || strcmp(json_text_at(json_array_get(f->log[k].rows, 0), "experiment"), name) != 0)
            return false;
    return f->logs > 0;
}

bool figure_of_fits(const figure *f)
{
    for (int k = 0; k < f->logs; k++)
        if (f->log[k].experiment)
            return false;
    return f->logs > 0;
}

void figure_method(const json_t *row, char name[96])
{
    snprintf(name, 96, "%.40s, %.40s", json_text_at(row, "method"), json_text_at(row, "settings"));
}

static void marks_draw(figure *f, box at, const chart *c)
{
    for (int k = 0; k < c->marks.count; k++) {
        const curve *m = &c->marks.curve[k];
        const double bottom = at.y + at.height - 4.0 * k;
        for (size_t i = 0; i < m->count; i++) {
            const double x = at.x + at.width * axis_place(&c->x, m->x[i]);
            canvas_line(f->page, x, bottom, x, bottom - 3.4, &m->line);
        }
    }
}

static void chart_draw(figure *f, box cell, const chart *c)
{
    const margins m = axes_margins(cell, &c->x, &c->y, 0);
    const box at = { cell.x + m.left, cell.y + 12.0, cell.width - m.left - m.right, cell.height - m.bottom - 12.0 };
    axes_draw(f->page, at, &c->x, &c->y, AXES_GRID);
    curves_draw(f->page, at, &c->curves, &c->x, &c->y);
    marks_draw(f, at, c);
    if (c->legend >= 0)
        curves_legend(f->page, at, c->legend, &c->curves, &c->x, &c->y);
    title_draw(f->page, at, c->title);
}

/* The range asked for is one of heights: it suits panels of one quantity. */
static npmd_status charts_range(const figure *f, chart *list, int count, npmd_error *err)
{
    const double from = f->ask->range[0], to = f->ask->range[1];
    for (int k = 0; k < count; k++) {
        const axis *first = &list[0].y, *y = &list[k].y;
        if (k > 0
            && (y->kind != first->kind || y->name == NULL || first->name == NULL || strcmp(y->name, first->name) != 0))
            return npmd_fail(
                err, NPMD_ERR_ARGUMENT,
                "`range` %g:%g would be one range for %d panels of different quantities, '%s' and '%s' among "
                "them: leave it out",
                from, to, count, list[0].title, list[k].title);
        if (y->kind == AXIS_LOG && !(from > 0.0))
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "`range` %g:%g does not begin above 0, as the log scale of '%s' needs", from, to,
                             list[k].title);
    }
    for (int k = 0; k < count; k++)
        list[k].y.from = from, list[k].y.to = to;
    return NPMD_OK;
}

npmd_status charts_draw(figure *f, chart *list, int count, int columns, const char *nothing, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int shown = 0;
    for (int k = 0; k < count; k++) {
        if (!curves_fit(&list[k].curves, &list[k].x, &list[k].y))
            continue;
        const chart one = list[k];
        list[k] = list[shown];
        list[shown++] = one;
    }
    if (shown == 0)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "%s: %s", f->logs > 0 ? f->log[0].path : "the model", nothing));
    if (f->ask->ranges > 0)
        TRY(charts_range(f, list, shown, err));
    columns = shown < columns ? shown : columns;
    const int rows = (shown + columns - 1) / columns;
    const double width = figure_width(f, columns == 1 ? COLUMN_MM : PAGE_MM), top = EDGE + figure_top(f);
    const double each = (width - 2.0 * EDGE - (columns - 1) * GAP) / columns;
    const double high = columns == 1 ? 0.72 * each : fmin(0.92 * each, 150.0);
    const panel_grid g = { EDGE, top, each, high, GAP, 8.0, columns };
    TRY(figure_room(f, width, columns, each, 84.0, err));
    TRY(figure_page(f, width, top + rows * high + (rows - 1) * 8.0 + EDGE, err));
    for (int k = 0; k < shown; k++)
        chart_draw(f, panel_box(&g, k), &list[k]);
    figure_shows(f, shown, &list[0].y);
done:
    return st;
}

void charts_free(chart *list, int count)
{
    for (int k = 0; k < count; k++) {
        curves_free(&list[k].curves);
        curves_free(&list[k].marks);
    }
}
