/* canvas_png.c - a canvas that becomes a .png: points are converted to pixels, and the raster draws. */
#include "raster.h"
#include "io.h"

static const colour WHITE = { 255, 255, 255 };

typedef struct png_page {
    raster r;
    double scale; /* pixels a point */
} png_page;

static npmd_status png_open(canvas *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    png_page *page = NULL;
    const double most = 32767.0, scale = c->dpi / 72.0;
    if (c->width * scale > most || c->height * scale > most)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "a picture of %.0f x %.0f pixels is larger than %.0f along a side; give fewer dots an inch",
                         c->width * scale, c->height * scale, most);
    TRY(memory_new(&page, 1, err));
    page->scale = scale;
    TRY(raster_open(canvas_pixels(c, c->width), canvas_pixels(c, c->height), WHITE, &page->r, err));
    c->state = page;
    page = NULL;
done:
    memory_free(page);
    return st;
}

static void png_close(canvas *c)
{
    png_page *page = c->state;
    if (page != NULL)
        raster_free(&page->r);
    memory_free(page);
}

static spot png_spot(const png_page *page, spot p)
{
    return (spot){ page->scale * p.x, page->scale * p.y };
}

/* One segment of a line, cut into dashes; *walked is the length of the line before it. */
static void png_dashes(png_page *page, spot a, spot b, const stroke *how, double *walked)
{
    const double length = hypot(b.x - a.x, b.y - a.y), period = how->dash + how->gap;
    const double thickness = page->scale * how->width;
    for (double s = 0.0; s < length;) {
        const double phase = fmod(*walked + s, period);
        const bool on = phase < how->dash;
        /* at least a thousandth of a period: rounding must not stop the walk */
        const double step = fmax((on ? how->dash : period) - phase, 1e-3 * period);
        const double t0 = s / length, t1 = fmin(s + step, length) / length;
        if (on)
            raster_segment(&page->r, png_spot(page, (spot){ a.x + t0 * (b.x - a.x), a.y + t0 * (b.y - a.y) }),
                           png_spot(page, (spot){ a.x + t1 * (b.x - a.x), a.y + t1 * (b.y - a.y) }), thickness);
        s += step;
    }
    *walked += length;
}

static void png_polyline(canvas *c, const spot *p, size_t count, bool closed, const stroke *how)
{
    png_page *page = c->state;
    double walked = 0.0;
    for (size_t k = 0; k + 1 < count + (closed ? 1 : 0); k++) {
        const spot a = p[k], b = p[(k + 1) % count];
        if (how->dash > 0.0)
            png_dashes(page, a, b, how, &walked);
        else
            raster_segment(&page->r, png_spot(page, a), png_spot(page, b), page->scale * how->width);
    }
    raster_ink(&page->r, how->ink, how->clear);
}

static void png_polygon(canvas *c, const spot *p, size_t count, colour ink, double clear)
{
    png_page *page = c->state;
    spot *q = NULL;
    c->st = memory_new(&q, count, &c->failure);
    if (c->st != NPMD_OK)
        return;
    for (size_t k = 0; k < count; k++)
        q[k] = png_spot(page, p[k]);
    raster_polygon(&page->r, q, count);
    raster_ink(&page->r, ink, clear);
    memory_free(q);
}

static void png_discs(canvas *c, const spot *p, size_t count, double radius, colour ink, double clear)
{
    png_page *page = c->state;
    for (size_t k = 0; k < count; k++) {
        const spot at = png_spot(page, p[k]);
        raster_segment(&page->r, at, at, 2.0 * page->scale * radius);
        raster_ink(&page->r, ink, clear);
    }
}

static void png_text(canvas *c, double x, double y, text_place place, double turned, const lettering *how,
                     const char *text)
{
    png_page *page = c->state;
    letters_draw(&page->r, page->scale * x, page->scale * y, place, turned, page->scale * how->size, how->bold, text);
    raster_ink(&page->r, how->ink, 0.0);
}

static void png_image(canvas *c, box at, const unsigned char *rgba, int width, int height)
{
    png_page *page = c->state;
    const double s = page->scale;
    raster_image(&page->r, (box){ s * at.x, s * at.y, s * at.width, s * at.height }, rgba, width, height);
}

static void png_clip(canvas *c, const box *at)
{
    png_page *page = c->state;
    raster *r = &page->r;
    const double s = page->scale;
    r->clip_x0 = at == NULL ? 0.0 : fmax(s * at->x, 0.0);
    r->clip_y0 = at == NULL ? 0.0 : fmax(s * at->y, 0.0);
    r->clip_x1 = at == NULL ? r->width : fmin(s * (at->x + at->width), r->width);
    r->clip_y1 = at == NULL ? r->height : fmin(s * (at->y + at->height), r->height);
}

static npmd_status png_write(canvas *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    png_page *page = c->state;
    unsigned char *bytes = NULL;
    size_t size = 0;
    TRY(png_encode(page->r.pixels, page->r.width, page->r.height, 3, c->dpi, &bytes, &size, err));
    TRY(file_write(c->path, bytes, size, err));
done:
    memory_free(bytes);
    return st;
}

const canvas_writer CANVAS_PNG = {
    .open = png_open,
    .polyline = png_polyline,
    .polygon = png_polygon,
    .discs = png_discs,
    .text = png_text,
    .image = png_image,
    .clip = png_clip,
    .write = png_write,
    .close = png_close,
};
