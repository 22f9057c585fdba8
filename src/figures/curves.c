/* curves.c - numbers against numbers: lines in axes, with gaps where a number is missing. */
#include "figures.h"

#include <stdio.h>

npmd_status curve_add(curve_set *set, size_t points, const char *name, curve **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    curve c = { .count = points };
    TRY(memory_new(&c.x, points, err));
    TRY(memory_new(&c.y, points, err));
    text_copy(c.name, sizeof c.name, name);
    c.line = (stroke){ .width = 1.0, .ink = line_colour(set->count) };
    TRY(memory_grow((void **)&set->curve, &set->capacity, (size_t)set->count + 1, sizeof c, err));
    set->curve[set->count++] = c;
    *out = &set->curve[set->count - 1];
    c = (curve){ 0 };
done:
    memory_free_all(c.x, c.y);
    return st;
}

void curves_free(curve_set *set)
{
    for (int k = 0; k < set->count; k++) {
        memory_free_all(set->curve[k].x, set->curve[k].y);
    }
    free(set->curve); /* memory_grow is realloc */
    *set = (curve_set){ 0 };
}

/* Numbers near the ends of what a double holds are left out: differences of two of them, and ticks beyond them, would
 * not be finite. */
static bool number_fits(const axis *a, double value)
{
    return fabs(value) <= 1e300 && (a->kind != AXIS_LOG || value >= 1e-300);
}

bool curves_fit(const curve_set *set, axis *x, axis *y)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (int k = 0; k < set->count; k++)
        for (size_t i = 0; i < set->curve[k].count; i++) {
            const double u = set->curve[k].x[i], v = set->curve[k].y[i];
            if (!number_fits(x, u) || !number_fits(y, v))
                continue;
            x0 = fmin(x0, u), x1 = fmax(x1, u);
            y0 = fmin(y0, v), y1 = fmax(y1, v);
        }
    if (!(x0 <= x1))
        return false;
    axis_fit(x, x0, x1);
    axis_fit(y, y0, y1);
    return true;
}

void curves_draw(canvas *c, box at, const curve_set *set, const axis *x, const axis *y)
{
    canvas_clip(c, at);
    for (int k = 0; k < set->count; k++) {
        const curve *one = &set->curve[k];
        spot run[256];
        size_t count = 0;
        for (size_t i = 0; i <= one->count; i++) {
            const bool there = i < one->count && number_fits(x, one->x[i]) && number_fits(y, one->y[i]);
            if (there && one->disc > 0.0) {
                const spot p = axes_spot(at, x, y, one->x[i], one->y[i]);
                canvas_discs(c, &p, 1, one->disc, one->line.ink, 0.0);
            }
            if (there)
                run[count++] = axes_spot(at, x, y, one->x[i], one->y[i]);
            if (count > 0 && (!there || count == sizeof run / sizeof run[0])) {
                canvas_polyline(c, run, count, false, &one->line);
                run[0] = run[count - 1]; /* a long line goes on where it was */
                count = there ? 1 : 0;
            }
        }
    }
    canvas_unclip(c);
}

/* How many points of the curves, and between them, lie in a box given in shares of the axes. */
static size_t curves_covered(const curve_set *set, const axis *h, const axis *v, double left, double top, double wide,
                             double high)
{
    enum { BETWEEN = 8 };
    size_t covered = 0;
    for (int k = 0; k < set->count; k++) {
        const curve *one = &set->curve[k];
        for (size_t i = 1; i < one->count; i++)
            for (int s = 0; s < BETWEEN; s++) {
                const double t = (double)s / BETWEEN;
                const double x = (1.0 - t) * axis_place(h, one->x[i - 1]) + t * axis_place(h, one->x[i]) - left;
                const double y = 1.0 - (1.0 - t) * axis_place(v, one->y[i - 1]) - t * axis_place(v, one->y[i]) - top;
                covered += x >= 0.0 && x <= wide && y >= 0.0 && y <= high;
            }
    }
    return covered;
}

/* A row a named curve; where there are more than there is room for, the last row says how many. */
#define LEGEND_MOST 24
static int legend_rows(const curve_set *set, legend_row row[LEGEND_MOST], char more[32])
{
    int rows = 0, named = 0;
    for (int k = 0; k < set->count; k++) {
        if (set->curve[k].name[0] == 0)
            continue;
        if (rows < LEGEND_MOST)
            row[rows++] = (legend_row){ .label = set->curve[k].name, .line = set->curve[k].line };
        named++;
    }
    if (named > LEGEND_MOST) {
        snprintf(more, 32, "and %d more", named - LEGEND_MOST + 1);
        row[LEGEND_MOST - 1] = (legend_row){ .label = more };
    }
    return rows;
}

#define LEGEND_PLACES 6
/* The corner whose legend covers the least of the curves. */
static int legend_corner(box at, int preferred, const curve_set *set, const axis *h, const axis *v)
{
    legend_row row[LEGEND_MOST];
    char more[32];
    int best = preferred;
    const int rows = legend_rows(set, row, more);
    size_t fewest = SIZE_MAX;
    const box size = legend_size(row, rows);
    for (int corner = 0; corner < LEGEND_PLACES; corner++) {
        const double wide = size.width / at.width, high = size.height / at.height;
        const double left = corner % 2 == 0 ? 0.0 : 1.0 - wide, top = corner < 2   ? 0.0
                                                                      : corner < 4 ? 1.0 - high
                                                                                   : 0.5 * (1.0 - high);
        const size_t covered = curves_covered(set, h, v, left, top, 1.1 * wide, 1.1 * high);
        if (covered < fewest || (covered == fewest && corner == preferred))
            fewest = covered, best = corner;
    }
    return best;
}

void curves_legend(canvas *c, box at, int corner, const curve_set *set, const axis *x, const axis *y)
{
    legend_row row[LEGEND_MOST];
    char more[32];
    const int rows = legend_rows(set, row, more);
    if (rows > 0)
        legend_draw(c, at, legend_corner(at, corner, set, x, y), row, rows);
}
