/* relief_over.c - lines and points on a shaded surface, and behind it.
 *
 * The visibility of a line is tested along its middle, that of a point at its centre; otherwise a slope would hide half
 * of a disc or stroke that lies on it. Lines and points behind a translucent surface are marked as such, and relief.c
 * lays the surface over them. Nearer lines cover farther ones; points cover lines, nearer points farther ones. */
#include "relief.h"

enum { SEEN = 1, BENEATH = 2 };

typedef struct over_job {
    const relief_scene *scene;
    const relief_view *view;
    const relief_window *window;
    const relief_samples *samples;
    relief_over *over;
} over_job;

/* How a place relates to the surface there: SEEN, BENEATH it, or 0 where an opaque surface hides it. */
static unsigned char place_seen(const over_job *j, double x, double y, double depth)
{
    const relief_samples *s = j->samples;
    if (x < 0.0 || y < 0.0 || x >= s->width || y >= s->height)
        return SEEN;
    const double surface = (double)s->depth[(size_t)y * (size_t)s->width + (size_t)x];
    if (depth + j->scene->lift >= surface)
        return SEEN;
    return j->scene->opacity < 1.0 ? BENEATH : 0;
}

/* The rows and columns that [low, high] touches, within the band. */
static void rows_touched(const over_job *j, double low, double high, int *from, int *to)
{
    *from = (int)fmax(low, j->over->first);
    *to = (int)fmin(high + 1.0, j->over->first + j->over->rows);
}

static void columns_touched(const over_job *j, double low, double high, int *from, int *to)
{
    *from = (int)fmax(low, 0.0);
    *to = (int)fmin(high + 1.0, j->samples->width);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static relief_light light_dimmed(relief_light l, double brightness)
{
    const float b = (float)brightness;
    return (relief_light){ b * l.red, b * l.green, b * l.blue };
}

/* A tube is brightest where it runs across the view: sin of its angle with the line of sight, held off black. */
static double tube_brightness(const over_job *j, const double *x)
{
    double d[3];
    minus3(x + 3, x, d);
    const double along = dot3(d, j->view->toward), length2 = dot3(d, d);
    return length2 > 0.0 ? 0.45 + 0.55 * sqrt(fmax(1.0 - along * along / length2, 0.0)) : 1.0;
}

static void segment_draw(const over_job *j, relief_spot a, relief_spot b, double half, relief_light ink)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    int y0, y1, x0, x1;
    rows_touched(j, fmin(a.y, b.y) - half, fmax(a.y, b.y) + half, &y0, &y1);
    columns_touched(j, fmin(a.x, b.x) - half, fmax(a.x, b.x) + half, &x0, &x1);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            const double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
            const double t = length2 > 0.0 ? fmin(fmax((px * dx + py * dy) / length2, 0.0), 1.0) : 0.0;
            const double ex = px - t * dx, ey = py - t * dy;
            if (ex * ex + ey * ey > half * half)
                continue;
            const size_t o = (size_t)(y - j->over->first) * (size_t)j->samples->width + (size_t)x;
            const double depth = a.z + t * (b.z - a.z);
            if (j->over->cover[o] && (double)j->over->depth[o] >= depth)
                continue;
            const unsigned char seen = place_seen(j, a.x + t * dx, a.y + t * dy, depth);
            if (seen == 0)
                continue;
            j->over->cover[o] = seen;
            j->over->depth[o] = (float)depth;
            j->over->light[o] = ink;
        }
}

static void lines_draw(const over_job *j, const relief_lines *lines)
{
    const double half = 0.5 * lines->thickness * j->window->point * RELIEF_SIDE;
    const relief_light one = relief_linear(lines->ink);
    for (size_t i = 0; i < lines->segments; i++) {
        const double *x = lines->x + 6 * i;
        const relief_spot a = relief_project(j->view, j->window, x);
        const relief_spot b = relief_project(j->view, j->window, x + 3);
        if (fmax(a.y, b.y) + half < j->over->first || fmin(a.y, b.y) - half > j->over->first + j->over->rows)
            continue;
        const relief_light ink = lines->inks ? relief_linear(lines->inks[i]) : one;
        segment_draw(j, a, b, half, lines->round ? light_dimmed(ink, tube_brightness(j, x)) : ink);
    }
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* Among themselves the nearer disc covers the farther, edge and all; the first of equally near ones stays. What is seen
 * is not covered by what lies beneath the surface. */
static void points_draw(const over_job *j, const relief_points *points)
{
    const double unit = j->window->point * RELIEF_SIDE;
    const double inner = points->radius * unit, outer = (points->radius + points->rim) * unit;
    const relief_light ink = relief_linear(points->ink), edge = relief_linear(points->edge);
    for (size_t i = 0; i < points->count; i++) {
        const relief_spot c = relief_project(j->view, j->window, points->x + 3 * i);
        int y0, y1, x0, x1;
        if (c.y + outer < j->over->first || c.y - outer > j->over->first + j->over->rows)
            continue;
        const unsigned char seen = place_seen(j, c.x, c.y, c.z);
        rows_touched(j, c.y - outer, c.y + outer, &y0, &y1);
        columns_touched(j, c.x - outer, c.x + outer, &x0, &x1);
        for (int y = y0; y < y1 && seen; y++)
            for (int x = x0; x < x1; x++) {
                const double away = hypot(x + 0.5 - c.x, y + 0.5 - c.y);
                const size_t o = (size_t)(y - j->over->first) * (size_t)j->samples->width + (size_t)x;
                if (away > outer || (j->over->cover[o] && (double)j->over->depth[o] >= c.z)
                    || (j->over->cover[o] == SEEN && seen == BENEATH))
                    continue;
                j->over->cover[o] = seen;
                j->over->depth[o] = (float)c.z;
                j->over->light[o] = away <= inner ? ink : edge;
            }
    }
}

/* Discs lie over all lines: what those covered is as if infinitely far. */
static void lines_sink(relief_over *over, int width)
{
    for (size_t o = 0; o < (size_t)over->rows * (size_t)width; o++)
        over->depth[o] = -INFINITY;
}

void relief_over_draw(const relief_scene *scene, const relief_view *view, const relief_window *window,
                      const relief_samples *s, relief_over *over)
{
    const over_job j = { scene, view, window, s, over };
    for (int i = 0; i < scene->line_sets; i++)
        lines_draw(&j, &scene->lines[i]);
    lines_sink(over, s->width);
    for (int i = 0; i < scene->point_sets; i++)
        points_draw(&j, &scene->points[i]);
}
