/* canvas.c - the page that figures are drawn on, whatever file it becomes. */
#include "raster.h"
#include "io.h"

npmd_status canvas_open(const char *path, double width, double height, double dpi, canvas **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    canvas *c = NULL;
    const canvas_writer *writer = file_has_suffix(path, ".png")   ? &CANVAS_PNG
                                  : file_has_suffix(path, ".svg") ? &CANVAS_SVG
                                                                  : NULL;
    assert(width > 0.0 && height > 0.0 && dpi > 0.0);
    if (writer == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "a picture is written as .png or .svg, but its name is '%s'", path);
    TRY(memory_new(&c, 1, err));
    *c = (canvas){ .writer = writer, .path = path, .width = width, .height = height, .dpi = dpi };
    TRY(writer->open(c, err));
    *out = c;
    c = NULL;
done:
    canvas_free(c);
    return st;
}

npmd_status canvas_write(canvas *c, npmd_error *err)
{
    if (c->st != NPMD_OK)
        return npmd_fail(err, c->st, "%s", c->failure.text);
    return c->writer->write(c, err);
}

void canvas_free(canvas *c)
{
    if (c == NULL)
        return;
    c->writer->close(c);
    memory_free(c);
}

double canvas_width(const canvas *c)
{
    return c->width;
}

double canvas_height(const canvas *c)
{
    return c->height;
}

int canvas_pixels(const canvas *c, double length)
{
    return (int)fmax(rint(length * c->dpi / 72.0), 1.0);
}

void canvas_polyline(canvas *c, const spot *p, size_t count, bool closed, const stroke *how)
{
    if (count > 0 && c->st == NPMD_OK)
        c->writer->polyline(c, p, count, closed, how);
}

void canvas_line(canvas *c, double x0, double y0, double x1, double y1, const stroke *how)
{
    const spot p[2] = { { x0, y0 }, { x1, y1 } };
    canvas_polyline(c, p, 2, false, how);
}

void canvas_polygon(canvas *c, const spot *p, size_t count, colour ink, double clear)
{
    if (count > 2 && c->st == NPMD_OK)
        c->writer->polygon(c, p, count, ink, clear);
}

static void box_corners(box at, spot p[4])
{
    p[0] = (spot){ at.x, at.y };
    p[1] = (spot){ at.x + at.width, at.y };
    p[2] = (spot){ at.x + at.width, at.y + at.height };
    p[3] = (spot){ at.x, at.y + at.height };
}

void canvas_box(canvas *c, box at, colour ink, double clear)
{
    spot p[4];
    box_corners(at, p);
    canvas_polygon(c, p, 4, ink, clear);
}

void canvas_frame(canvas *c, box at, const stroke *how)
{
    spot p[4];
    box_corners(at, p);
    canvas_polyline(c, p, 4, true, how);
}

void canvas_discs(canvas *c, const spot *p, size_t count, double radius, colour ink, double clear)
{
    if (count > 0 && c->st == NPMD_OK)
        c->writer->discs(c, p, count, radius, ink, clear);
}

void text_copy(char *out, size_t size, const char *text)
{
    size_t n = strlen(text);
    assert(size > 0);
    if (n >= size) { /* the bytes within a character begin with 10 */
        n = size - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(out, text, n);
    out[n] = 0;
}

void canvas_text(canvas *c, double x, double y, text_place place, double turned, const lettering *how, const char *text)
{
    char *mended = NULL;
    if (text[0] != 0 && c->st == NPMD_OK && utf8_wrong(text) != 0)
        c->st = utf8_mend(text, &mended, &c->failure);
    if (text[0] != 0 && c->st == NPMD_OK)
        c->writer->text(c, x, y, place, turned, how, mended != NULL ? mended : text);
    memory_free(mended);
}

double canvas_text_width(const lettering *how, const char *text)
{
    return letters_width(how->size, text);
}

void canvas_image(canvas *c, box at, const unsigned char *rgba, int width, int height)
{
    if (c->st == NPMD_OK)
        c->writer->image(c, at, rgba, width, height);
}

void canvas_clip(canvas *c, box at)
{
    if (c->st == NPMD_OK)
        c->writer->clip(c, &at);
}

void canvas_unclip(canvas *c)
{
    if (c->st == NPMD_OK)
        c->writer->clip(c, NULL);
}
