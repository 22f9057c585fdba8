/* canvas_svg.c - a canvas that becomes an .svg (version 1.1): lines, areas and text stay vectors; images are embedded
 * as .png in base64.
 *
 * Numbers are written in hundredths of a point, from integers, so that neither the locale nor the last bit of a
 * computation changes the file. */
#include "raster.h"
#include "io.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct svg_page {
    char *text;
    size_t size, capacity;
    int clips;
    bool clipped;
} svg_page;

static void svg_put(canvas *c, const char *text, size_t size)
{
    svg_page *page = c->state;
    if (c->st != NPMD_OK)
        return;
    c->st = memory_grow((void **)&page->text, &page->capacity, page->size + size, 1, &c->failure);
    if (c->st != NPMD_OK)
        return;
    memcpy(page->text + page->size, text, size);
    page->size += size;
}

/* Whole numbers and words only: see svg_number. */
static void svg_print(canvas *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void svg_print(canvas *c, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert(size >= 0 && (size_t)size < sizeof text);
    svg_put(c, text, (size_t)size);
}

/* In hundredths, without trailing zeros: "12.5", "-0.07". */
static void svg_number(canvas *c, double value)
{
    const double far = 1e7; /* far outside any page, and finite */
    const long long hundredths = llrint(100.0 * fmin(fmax(isnan(value) ? 0.0 : value, -far), far));
    const long long whole = llabs(hundredths) / 100, part = llabs(hundredths) % 100;
    svg_print(c, "%s%lld", hundredths < 0 ? "-" : "", whole);
    if (part % 10 != 0)
        svg_print(c, ".%02lld", part);
    else if (part != 0)
        svg_print(c, ".%lld", part / 10);
}

static void svg_attribute(canvas *c, const char *name, double value)
{
    svg_print(c, " %s=\"", name);
    svg_number(c, value);
    svg_put(c, "\"", 1);
}

static void svg_colour(canvas *c, const char *name, colour ink)
{
    svg_print(c, " %s=\"#%02x%02x%02x\"", name, ink.red, ink.green, ink.blue);
}

static void svg_opacity(canvas *c, const char *name, double clear)
{
    if (clear > 0.0)
        svg_attribute(c, name, 1.0 - clear);
}

static void svg_points(canvas *c, const spot *p, size_t count)
{
    svg_print(c, " points=\"");
    for (size_t k = 0; k < count; k++) {
        svg_print(c, k == 0 ? "" : k % 16 == 0 ? "\n" : " ");
        svg_number(c, p[k].x);
        svg_put(c, ",", 1);
        svg_number(c, p[k].y);
    }
    svg_put(c, "\"", 1);
}

static npmd_status svg_open(canvas *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    svg_page *page = NULL;
    TRY(memory_new(&page, 1, err));
    c->state = page;
    svg_print(c, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                 "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" width=\"");
    svg_number(c, c->width);
    svg_print(c, "pt\" height=\"");
    svg_number(c, c->height);
    svg_print(c, "pt\" viewBox=\"0 0 ");
    svg_number(c, c->width);
    svg_put(c, " ", 1);
    svg_number(c, c->height);
    svg_print(c, "\" font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\">\n<rect");
    svg_attribute(c, "width", c->width);
    svg_attribute(c, "height", c->height);
    svg_print(c, " fill=\"#ffffff\"/>\n");
done:
    return st;
}

static void svg_close(canvas *c)
{
    svg_page *page = c->state;
    if (page != NULL)
        free(page->text); /* memory_grow is realloc */
    memory_free(page);
}

static void svg_polyline(canvas *c, const spot *p, size_t count, bool closed, const stroke *how)
{
    svg_print(c, closed ? "<polygon fill=\"none\"" : "<polyline fill=\"none\"");
    svg_colour(c, "stroke", how->ink);
    svg_attribute(c, "stroke-width", how->width);
    svg_opacity(c, "stroke-opacity", how->clear);
    svg_print(c, " stroke-linejoin=\"round\" stroke-linecap=\"round\"");
    if (how->dash > 0.0) {
        svg_print(c, " stroke-dasharray=\"");
        svg_number(c, how->dash);
        svg_put(c, ",", 1);
        svg_number(c, how->gap);
        svg_put(c, "\"", 1);
    }
    svg_points(c, p, count);
    svg_print(c, "/>\n");
}

static void svg_polygon(canvas *c, const spot *p, size_t count, colour ink, double clear)
{
    svg_print(c, "<polygon fill-rule=\"evenodd\"");
    svg_colour(c, "fill", ink);
    svg_opacity(c, "fill-opacity", clear);
    svg_points(c, p, count);
    svg_print(c, "/>\n");
}

static void svg_discs(canvas *c, const spot *p, size_t count, double radius, colour ink, double clear)
{
    svg_print(c, "<g");
    svg_colour(c, "fill", ink);
    svg_opacity(c, "fill-opacity", clear);
    svg_print(c, ">\n");
    for (size_t k = 0; k < count; k++) {
        svg_print(c, "<circle");
        svg_attribute(c, "cx", p[k].x);
        svg_attribute(c, "cy", p[k].y);
        svg_attribute(c, "r", radius);
        svg_print(c, "/>\n");
    }
    svg_print(c, "</g>\n");
}

/* Signs that XML keeps for itself are spelt out; control characters, for which it has no word, are left out. */
static void svg_escape(canvas *c, const char *text)
{
    for (; *text != 0; text++) {
        if (strncmp(text, "\xEF\xBF\xBE", 3) == 0 || strncmp(text, "\xEF\xBF\xBF", 3) == 0) {
            svg_put(c, "\xEF\xBF\xBD", 3); /* U+FFFE and U+FFFF are characters that XML may not hold */
            text += 2;
            continue;
        }
        const char *word = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
        if (word != NULL)
            svg_put(c, word, strlen(word));
        else if ((unsigned char)*text >= ' ')
            svg_put(c, text, 1);
    }
}

static void svg_text(canvas *c, double x, double y, text_place place, double turned, const lettering *how,
                     const char *text)
{
    static const char *const ANCHOR[] = { "start", "middle", "end" };
    svg_print(c, "<text");
    svg_attribute(c, "x", x);
    svg_attribute(c, "y", y);
    svg_attribute(c, "font-size", how->size);
    svg_colour(c, "fill", how->ink);
    if (place != TEXT_LEFT)
        svg_print(c, " text-anchor=\"%s\"", ANCHOR[place]);
    if (how->bold)
        svg_print(c, " font-weight=\"bold\"");
    if (turned != 0.0) { /* an .svg turns clockwise */
        svg_print(c, " transform=\"rotate(");
        svg_number(c, -turned);
        svg_put(c, " ", 1);
        svg_number(c, x);
        svg_put(c, " ", 1);
        svg_number(c, y);
        svg_print(c, ")\"");
    }
    svg_put(c, ">", 1);
    svg_escape(c, text);
    svg_print(c, "</text>\n");
}

static void svg_place(canvas *c, box at)
{
    svg_attribute(c, "x", at.x);
    svg_attribute(c, "y", at.y);
    svg_attribute(c, "width", at.width);
    svg_attribute(c, "height", at.height);
}

static void svg_image(canvas *c, box at, const unsigned char *rgba, int width, int height)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    char four[4];
    c->st = png_encode(rgba, width, height, 4, 0.0, &bytes, &size, &c->failure);
    if (c->st != NPMD_OK)
        return;
    svg_print(c, "<image");
    svg_place(c, at);
    svg_print(c, " preserveAspectRatio=\"none\" xlink:href=\"data:image/png;base64,");
    for (size_t i = 0; i < size; i += 3)
        svg_put(c, four, base64_encode(bytes + i, size - i < 3 ? size - i : 3, four));
    svg_print(c, "\"/>\n");
    memory_free(bytes);
}

static void svg_clip(canvas *c, const box *at)
{
    svg_page *page = c->state;
    if (page->clipped)
        svg_print(c, "</g>\n");
    page->clipped = at != NULL;
    if (at == NULL)
        return;
    page->clips++;
    svg_print(c, "<clipPath id=\"clip%d\"><rect", page->clips);
    svg_place(c, *at);
    svg_print(c, "/></clipPath>\n<g clip-path=\"url(#clip%d)\">\n", page->clips);
}

static npmd_status svg_write(canvas *c, npmd_error *err)
{
    const svg_page *page = c->state;
    svg_clip(c, NULL);
    svg_print(c, "</svg>\n");
    if (c->st != NPMD_OK)
        return npmd_fail(err, c->st, "%s", c->failure.text);
    return file_write(c->path, page->text, page->size, err);
}

const canvas_writer CANVAS_SVG = {
    .open = svg_open,
    .polyline = svg_polyline,
    .polygon = svg_polygon,
    .discs = svg_discs,
    .text = svg_text,
    .image = svg_image,
    .clip = svg_clip,
    .write = svg_write,
    .close = svg_close,
};
