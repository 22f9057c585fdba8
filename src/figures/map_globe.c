/* map_globe.c - a density on the sphere: the whole in Mollweide's projection, or one half in an orthographic view, with
 * a graticule every 30 degrees. */
#include "figures.h"

#include <stdio.h>

/* The map fills its box: an ellipse twice as wide as high, or a disc. To the plane of the projection, y up, and
 * back. */
static void box_plane(box at, const globe *g, double x, double y, double *u, double *v)
{
    *u = (2.0 * (x - at.x) / at.width - 1.0) * (g->whole ? 2.0 : 1.0);
    *v = 1.0 - 2.0 * (y - at.y) / at.height;
}

static spot plane_box(box at, const globe *g, spot p)
{
    return (spot){ at.x + at.width * 0.5 * (1.0 + p.x / (g->whole ? 2.0 : 1.0)), at.y + at.height * 0.5 * (1.0 - p.y) };
}

static bool globe_forward(box at, const globe *g, const double p[3], spot *out)
{
    spot q;
    bool seen = true;
    if (g->whole)
        q = mollweide_forward(p, g->longitude);
    else
        seen = orthographic_forward(p, g->towards, &q);
    *out = plane_box(at, g, q);
    return seen;
}

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

static npmd_status globe_image(figure *f, box at, const sheet *s, const shade *h, const globe *g, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int width = canvas_pixels(f->page, at.width), height = canvas_pixels(f->page, at.height);
    unsigned char *rgba = NULL;
    TRY(memory_new(&rgba, 4 * (size_t)width * (size_t)height, err));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double u, v, p[3];
            box_plane(at, g, at.x + at.width * (x + 0.5) / width, at.y + at.height * (y + 0.5) / height, &u, &v);
            /* a pixel across the edge is coloured as the point of the edge, and hidden by the outline's stroke */
            const double beyond = g->whole ? sqrt(u * u / 4.0 + v * v) : hypot(u, v), slack = 1.0 + 3.0 / height;
            if (beyond > slack)
                continue;
            if (beyond > 1.0)
                u *= (1.0 - 1e-9) / beyond, v *= (1.0 - 1e-9) / beyond;
            if (!(g->whole ? mollweide_inverse(u, v, g->longitude, p) : orthographic_inverse(u, v, g->towards, p)))
                continue;
            const colour ink = shade_colour(h, sheet_at(s, p));
            const double alpha = fmin(fmax((slack - beyond) / (slack - 1.0), 0.0), 1.0);
            const unsigned char pixel[4] = { ink.red, ink.green, ink.blue, (unsigned char)lrint(255.0 * alpha) };
            memcpy(rgba + 4 * ((size_t)y * (size_t)width + (size_t)x), pixel, 4);
        }
    canvas_image(f->page, at, rgba, width, height);
done:
    memory_free(rgba);
    return st;
}

/* ---- Lines on the sphere ----------------------------------------------------------------------------------------- */

typedef struct globe_pen { /* draws what is seen of a line, point by point */
    canvas *page;
    box at;
    const globe *g;
    stroke how;
    spot run[128];
    size_t count;
} globe_pen;

static void pen_lift(globe_pen *pen)
{
    if (pen->count > 1)
        canvas_polyline(pen->page, pen->run, pen->count, false, &pen->how);
    pen->count = 0;
}

static void pen_move(globe_pen *pen, const double p[3])
{
    spot q;
    if (!globe_forward(pen->at, pen->g, p, &q)) {
        pen_lift(pen);
        return;
    }
    /* across the seam of the ellipse a line begins anew */
    if (pen->count > 0 && fabs(q.x - pen->run[pen->count - 1].x) > 0.25 * pen->at.width)
        pen_lift(pen);
    pen->run[pen->count++] = q;
    if (pen->count == sizeof pen->run / sizeof pen->run[0]) {
        const spot last = q;
        pen_lift(pen);
        pen->run[pen->count++] = last;
    }
}

static void lonlat_point(double longitude, double latitude, double p[3])
{
    p[0] = cos(latitude) * cos(longitude);
    p[1] = cos(latitude) * sin(longitude);
    p[2] = sin(latitude);
}

#define RADIANS (NPMD_PI / 180.0)
static void globe_graticule(figure *f, box at, const globe *g, const shade *h)
{
    globe_pen pen = { .page = f->page,
                      .at = at,
                      .g = g,
                      .how = { .width = 0.35, .ink = h->map == MAP_RISING ? PAPER : INK, .clear = 0.7 } };
    double p[3];
    for (int longitude = -180; longitude < 180; longitude += 30) { /* to the poles every 90 degrees, else to 60 */
        const int most = longitude % 90 == 0 ? 90 : 60;
        for (int latitude = -most; latitude <= most; latitude += 2) {
            lonlat_point(RADIANS * longitude, RADIANS * latitude, p);
            pen_move(&pen, p);
        }
        pen_lift(&pen);
    }
    for (int latitude = -60; latitude <= 60; latitude += 30) {
        for (int longitude = 0; longitude <= 360; longitude += 2) {
            lonlat_point((g->whole ? g->longitude - NPMD_PI + 1e-9 : 0.0) + RADIANS * longitude * (1.0 - 1e-9),
                         RADIANS * latitude, p);
            pen_move(&pen, p);
        }
        pen_lift(&pen);
    }
}

static void globe_outline(figure *f, box at)
{
    enum { CORNERS = 180 };
    spot p[CORNERS];
    for (int k = 0; k < CORNERS; k++)
        p[k] = (spot){ at.x + 0.5 * at.width * (1.0 + cos(TWO_PI * k / CORNERS)),
                       at.y + 0.5 * at.height * (1.0 + sin(TWO_PI * k / CORNERS)) };
    canvas_polyline(f->page, p, CORNERS, true, &STROKE_AXIS);
}

/* Contours are traced on a grid of longitude and latitude that goes round and reaches over both poles. */
#define CONTOUR_ROWS 180
#define CONTOUR_COLUMNS 360
static void contour_point(double column, double row, double p[3])
{
    lonlat_point(TWO_PI * column / CONTOUR_COLUMNS, NPMD_PI * (row / CONTOUR_ROWS - 0.5), p);
}

static void globe_line(const spot *p, size_t count, bool closed, void *user)
{
    globe_pen *pen = user;
    double q[3];
    for (size_t k = 0; k < count + (closed ? 1 : 0); k++) {
        contour_point(p[k % count].x, p[k % count].y, q);
        pen_move(pen, q);
    }
    pen_lift(pen);
}

static npmd_status globe_contours(figure *f, box at, const sheet *s, const shade *h, const globe *g,
                                  const map_lines *lines, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int columns = CONTOUR_COLUMNS + 1, rows = CONTOUR_ROWS + 1;
    double *v = NULL;
    globe_pen pen = { .page = f->page,
                      .at = at,
                      .g = g,
                      .how = { .width = 0.6, .ink = h->map == MAP_RISING ? PAPER : INK, .clear = 0.1 } };
    TRY(memory_new(&v, (size_t)columns * (size_t)rows, err));
    for (int i = 0; i < columns; i++)
        for (int j = 0; j < rows; j++) {
            double p[3];
            contour_point(i, j, p);
            v[(size_t)i * (size_t)rows + (size_t)j] = log(sheet_at(s, p));
        }
    for (int k = 0; k < lines->count; k++)
        TRY(contour_trace(v, columns, rows, log(lines->level[k]), globe_line, &pen, err));
done:
    memory_free(v);
    return st;
}

npmd_status map_globe(figure *f, box at, const sheet *s, const shade *h, const globe *g, const map_lines *lines,
                      npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(globe_image(f, at, s, h, g, err));
    globe_graticule(f, at, g, h);
    if (lines != NULL)
        TRY(globe_contours(f, at, s, h, g, lines, err));
    globe_outline(f, at);
done:
    return st;
}

typedef struct globe_dots {
    box at;
    const globe *g;
    int column;
} globe_dots;

static bool globe_dot(const double *row, void *user, spot *out)
{
    const globe_dots *d = user;
    return globe_forward(d->at, d->g, row + d->column, out);
}

void map_globe_data(figure *f, box at, const globe *g, int column)
{
    globe_dots dots = { at, g, column };
    figure_dots(f, at.height, globe_dot, &dots);
}

void map_globe_mark(figure *f, box at, const globe *g, const double p[3])
{
    const stroke under = { .width = 2.2, .ink = PAPER }, over = { .width = 1.1, .ink = { 214, 40, 57 } };
    const double arm = 3.2;
    spot q;
    if (!globe_forward(at, g, p, &q))
        return;
    for (int pass = 0; pass < 2; pass++) {
        const stroke *how = pass == 0 ? &under : &over;
        canvas_line(f->page, q.x - arm, q.y - arm, q.x + arm, q.y + arm, how);
        canvas_line(f->page, q.x - arm, q.y + arm, q.x + arm, q.y - arm, how);
    }
}

void globe_words(const globe *g, char text[48])
{
    const double latitude = asin(fmin(fmax(g->towards[2], -1.0), 1.0)) / RADIANS,
                 longitude = atan2(g->towards[1], g->towards[0]) / RADIANS;
    snprintf(text, 48, "from %.0f\xC2\xB0 %s, %.0f\xC2\xB0 %s", fabs(latitude), latitude < 0.0 ? "S" : "N",
             fabs(longitude), longitude < 0.0 ? "W" : "E");
}
