/* map_torus.c - a density on T2 as a coloured square, x1 to the right and x2 upwards, both from 0 to 2 pi. */
#include "figures.h"

/* White on dark colours, dark on pale ones. */
static stroke contour_stroke(const shade *h)
{
    return (stroke){ .width = 0.6, .ink = h->map == MAP_RISING ? PAPER : INK, .clear = 0.1 };
}

int figure_levels(const figure *f, const double **level)
{
    static const double USUAL[] = { 50.0, 90.0, 99.0 };
    *level = f->ask->levels == 0 ? USUAL : f->ask->level;
    return f->ask->levels == 0 ? (f->ask->data == NULL ? 3 : -1) : f->ask->levels;
}

npmd_status map_levels(const figure *f, const sheet *s, map_lines *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double *level = NULL;
    const int most = (int)(sizeof out->level / sizeof out->level[0]), count = figure_levels(f, &level);
    out->count = 0;
    if (s->unit == 0.0)
        return NPMD_OK; /* not a density */
    for (int k = 0; k < count && k < most; k++)
        TRY(sheet_content_level(s, level[k] / 100.0, &out->level[out->count++], err));
done:
    return st;
}

typedef struct torus_pen {
    canvas *page;
    box at;
    int nodes; /* along a side, without the one that closes it */
    stroke how;
    spot *room; /* for a line; as many as there are */
    size_t capacity;
    npmd_status st;
} torus_pen;

static void torus_line(const spot *p, size_t count, bool closed, void *user)
{
    torus_pen *pen = user;
    if (pen->st == NPMD_OK)
        pen->st = memory_grow((void **)&pen->room, &pen->capacity, count, sizeof *pen->room, NULL);
    if (pen->st != NPMD_OK)
        return;
    for (size_t k = 0; k < count; k++)
        pen->room[k] = (spot){ pen->at.x + pen->at.width * p[k].x / pen->nodes,
                               pen->at.y + pen->at.height * (1.0 - p[k].y / pen->nodes) };
    canvas_polyline(pen->page, pen->room, count, closed, &pen->how);
}

/* Contours of the interpolated function, on a grid of its own: as smooth as the colours are. */
#define CONTOUR_NODES 240
static npmd_status torus_contours(figure *f, box at, const sheet *s, const shade *h, const map_lines *lines,
                                  npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int side = CONTOUR_NODES + 1;
    double *v = NULL;
    torus_pen pen = { .page = f->page, .at = at, .nodes = CONTOUR_NODES, .how = contour_stroke(h) };
    TRY(memory_new(&v, (size_t)side * (size_t)side, err));
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            const double x[2] = { TWO_PI * i / CONTOUR_NODES, TWO_PI * j / CONTOUR_NODES };
            v[(size_t)i * (size_t)side + (size_t)j] = log(sheet_at(s, x));
        }
    for (int k = 0; k < lines->count; k++)
        TRY(contour_trace(v, side, side, log(lines->level[k]), torus_line, &pen, err));
    if (pen.st != NPMD_OK)
        st = npmd_fail(err, pen.st, "not enough memory for the contours");
done:
    memory_free(v);
    free(pen.room); /* memory_grow is realloc */
    return st;
}

npmd_status map_torus(figure *f, box at, const sheet *s, const shade *h, const map_lines *lines, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int width = canvas_pixels(f->page, at.width), height = canvas_pixels(f->page, at.height);
    unsigned char *rgba = NULL;
    TRY(memory_new(&rgba, 4 * (size_t)width * (size_t)height, err));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const double p[2] = { TWO_PI * (x + 0.5) / width, TWO_PI * (height - y - 0.5) / height };
            const colour ink = shade_colour(h, sheet_at(s, p));
            const unsigned char pixel[4] = { ink.red, ink.green, ink.blue, 255 };
            memcpy(rgba + 4 * ((size_t)y * (size_t)width + (size_t)x), pixel, 4);
        }
    canvas_image(f->page, at, rgba, width, height);
    canvas_clip(f->page, at);
    if (lines != NULL)
        TRY(torus_contours(f, at, s, h, lines, err));
    canvas_unclip(f->page);
done:
    memory_free(rgba);
    return st;
}

typedef struct torus_dots {
    box at;
    int column_x, column_y;
} torus_dots;

static bool torus_dot(const double *row, void *user, spot *out)
{
    const torus_dots *d = user;
    *out = (spot){ d->at.x + d->at.width * row[d->column_x] / TWO_PI,
                   d->at.y + d->at.height * (1.0 - row[d->column_y] / TWO_PI) };
    return true;
}

void map_torus_data(figure *f, box at, int column_x, int column_y)
{
    torus_dots dots = { at, column_x, column_y };
    canvas_clip(f->page, at);
    figure_dots(f, at.width, torus_dot, &dots);
    canvas_unclip(f->page);
}
