/* raster.c - a picture in memory: areas, lines, letters, and the way out as .png.
 *
 * Lines and letters are strokes: a pixel is covered by 1/2 + (half the thickness) - (its distance from the
 * stroke), cut to [0, 1], which smooths every edge over one pixel. A letter is a short drawing in whole
 * numbers, capitals 28 units high, small letters 20, so that one design serves every size and direction. */
#include "draw.h"
#include "io.h"

#include <png.h>

/* ---- The raster ---------------------------------------------------------------------------------------- */

npmd_status raster_open(int width, int height, colour background, raster *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    raster r = { .width = width, .height = height };
    assert(width > 0 && height > 0);
    TRY(memory_new(&r.pixels, 3 * (size_t)width * (size_t)height, err));
    raster_fill(&r, 0, 0, width, height, background);
    *out = r;
done:
    return st;
}

void raster_free(raster *r)
{
    if (r == NULL)
        return;
    memory_free(r->pixels);
    *r = (raster){ 0 };
}

npmd_status raster_write(const raster *r, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    unsigned char *bytes = NULL;
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)r->width,
                        .height = (png_uint_32)r->height,
                        .format = PNG_FORMAT_RGB };
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image); /* without it libpng would compress twice */
    TRY(memory_new(&bytes, size, err));
    if (!png_image_write_to_memory(&image, bytes, &size, 0, r->pixels, 0, NULL)) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "cannot write %s: %s", path, image.message);
        goto done;
    }
    TRY(file_writer_open(path, &w, err));
    TRY(file_writer_put(w, bytes, size, err));
    st = file_writer_commit(w, err);
    w = NULL;
done:
    png_image_free(&image);
    file_writer_abandon(w);
    memory_free(bytes);
    return st;
}

static unsigned char *pixel_at(raster *r, int x, int y)
{
    return r->pixels + 3 * ((size_t)y * (size_t)r->width + (size_t)x);
}

void raster_pixel(raster *r, int x, int y, colour c)
{
    if (x < 0 || y < 0 || x >= r->width || y >= r->height)
        return;
    unsigned char *p = pixel_at(r, x, y);
    p[0] = c.red, p[1] = c.green, p[2] = c.blue;
}

void raster_fill(raster *r, int x, int y, int width, int height, colour c)
{
    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++)
            raster_pixel(r, i, j, c);
}

void raster_frame(raster *r, int x, int y, int width, int height, colour c)
{
    raster_fill(r, x - 1, y - 1, width + 2, 1, c);
    raster_fill(r, x - 1, y + height, width + 2, 1, c);
    raster_fill(r, x - 1, y, 1, height, c);
    raster_fill(r, x + width, y, 1, height, c);
}

/* ---- Strokes ------------------------------------------------------------------------------------------- */

typedef struct point {
    double x, y;
} point;
typedef struct segment {
    point a, b;
} segment;

static double segment_distance(const segment *s, point p)
{
    const double dx = s->b.x - s->a.x, dy = s->b.y - s->a.y, length2 = dx * dx + dy * dy;
    double t = length2 > 0.0 ? ((p.x - s->a.x) * dx + (p.y - s->a.y) * dy) / length2 : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    return hypot(p.x - s->a.x - t * dx, p.y - s->a.y - t * dy);
}

static unsigned char mix(unsigned char under, unsigned char over, double cover)
{
    return (unsigned char)lrint(under + cover * (over - under));
}

/* Draws the union of the segments: a pixel is inked once, however many of them touch it. */
static void segments_draw(raster *r, const segment *s, size_t count, double thickness, colour c)
{
    const double reach = 0.5 * thickness + 0.5;
    double left = r->width, right = 0.0, top = r->height, bottom = 0.0;
    for (size_t k = 0; k < count; k++) {
        left = fmin(left, fmin(s[k].a.x, s[k].b.x) - reach);
        right = fmax(right, fmax(s[k].a.x, s[k].b.x) + reach);
        top = fmin(top, fmin(s[k].a.y, s[k].b.y) - reach);
        bottom = fmax(bottom, fmax(s[k].a.y, s[k].b.y) + reach);
    }
    const int x0 = (int)fmax(left, 0.0), x1 = (int)fmin(right + 1.0, r->width);
    const int y0 = (int)fmax(top, 0.0), y1 = (int)fmin(bottom + 1.0, r->height);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            double distance = reach;
            for (size_t k = 0; k < count; k++)
                distance = fmin(distance, segment_distance(&s[k], (point){ x + 0.5, y + 0.5 }));
            const double cover = fmin(reach - distance, 1.0);
            unsigned char *p = pixel_at(r, x, y);
            p[0] = mix(p[0], c.red, cover);
            p[1] = mix(p[1], c.green, cover);
            p[2] = mix(p[2], c.blue, cover);
        }
}

void raster_line(raster *r, double x0, double y0, double x1, double y1, double thickness, colour c)
{
    const segment s = { { x0, y0 }, { x1, y1 } };
    segments_draw(r, &s, 1, thickness, c);
}

/* ---- Letters ------------------------------------------------------------------------------------------- */

#define CAPITAL 28       /* units in the height of a capital */
#define GAP 6            /* units between letters */
#define ARC_STEP 15.0    /* degrees; at 20 pixels the chord is within 1/20 of a pixel of the arc */
#define MOST_SEGMENTS 80 /* in one letter */

/* A drawing: "m x y" moves the pen, "l x y ..." draws lines to the points, "a x y rx ry from to" an arc of an
 * ellipse (degrees, counterclockwise when they increase), after which the pen is at its end. y runs up from
 * the baseline. */
typedef struct glyph {
    uint32_t code; /* Unicode */
    int width;
    const char *drawing;
} glyph;

static const glyph GLYPHS[] = {
    { '?', 16, "a8 21 7 7 170 -60 l8 12 8 9 m8 0 l8 1" }, /* first: it stands for what is not here */
    { ' ', 5, "" },
    { '0', 18, "a9 14 8 14 0 360" },
    { '1', 18, "m4 22 l11 28 11 0" },
    { '2', 18, "a9 20 8 8 170 -38 l1 0 17 0" },
    { '3', 18, "a8 21 7 7 150 -90 a8 7 9 7 90 -150" },
    { '4', 18, "m13 0 l13 28 0 8 18 8" },
    { '5', 18, "m15 28 l4 28 3 15 a9 9 8 9 138 -150" },
    { '6', 18, "a9 9 8 9 0 360 a15 9 14 19 180 95" },
    { '7', 18, "m1 28 l17 28 6 0" },
    { '8', 18, "a9 21 7 7 0 360 a9 7 8 7 0 360" },
    { '9', 18, "a9 19 8 9 0 360 a3 19 14 19 0 -85" },
    { 'A', 20, "m0 0 l10 28 20 0 m4 10 l16 10" },
    { 'B', 18, "m2 0 l2 28 9 28 a9 21 7 7 90 -90 l2 14 m9 14 a9 7 9 7 90 -90 l2 0" },
    { 'C', 21, "a12 14 11 14 48 312" },
    { 'D', 21, "m2 0 l2 28 8 28 a8 14 12 14 90 -90 l2 0" },
    { 'E', 16, "m16 28 l2 28 2 0 16 0 m2 14 l14 14" },
    { 'F', 15, "m15 28 l2 28 2 0 m2 14 l13 14" },
    { 'G', 23, "a12 14 11 14 48 355 m14 13 l23 13" },
    { 'H', 20, "m2 0 l2 28 m18 0 l18 28 m2 14 l18 14" },
    { 'I', 4, "m2 0 l2 28" },
    { 'J', 15, "m13 28 l13 8 a7 8 6 8 0 -165" },
    { 'K', 18, "m2 0 l2 28 m17 28 l2 11 m8 17 l18 0" },
    { 'L', 15, "m2 28 l2 0 15 0" },
    { 'M', 24, "m2 0 l2 28 12 6 22 28 22 0" },
    { 'N', 20, "m2 0 l2 28 18 0 18 28" },
    { 'O', 26, "a13 14 12 14 0 360" },
    { 'P', 18, "m2 0 l2 28 9 28 a9 20 8 8 90 -90 l2 12" },
    { 'Q', 26, "a13 14 12 14 0 360 m16 7 l24 -2" },
    { 'R', 18, "m2 0 l2 28 9 28 a9 20 8 8 90 -90 l2 12 m9 12 l18 0" },
    { 'S', 18, "a9 21 7 7 35 270 a9 7 8 7 90 -150" },
    { 'T', 18, "m0 28 l18 28 m9 28 l9 0" },
    { 'U', 20, "m2 28 l2 9 a10 9 8 9 180 360 l18 28" },
    { 'V', 20, "m0 28 l10 0 20 28" },
    { 'W', 28, "m0 28 l7 0 14 24 21 0 28 28" },
    { 'X', 18, "m1 28 l17 0 m17 28 l1 0" },
    { 'Y', 18, "m0 28 l9 13 18 28 m9 13 l9 0" },
    { 'Z', 18, "m1 28 l17 28 1 0 17 0" },
    { 'a', 18, "a9 10 8 10 0 360 m17 20 l17 0" },
    { 'b', 18, "m1 28 l1 0 m1 10 a9 10 8 10 180 540" },
    { 'c', 16, "a10 10 9 10 48 312" },
    { 'd', 18, "m17 28 l17 0 a9 10 8 10 0 360" },
    { 'e', 18, "m1 10 l17 10 a9 10 8 10 0 312" },
    { 'f', 11, "a11 22 6 6 80 180 l5 0 m0 19 l11 19" },
    { 'g', 18, "a9 10 8 10 0 360 m17 20 l17 -1 a9 -1 8 7 0 -150" },
    { 'h', 18, "m2 28 l2 0 m2 12 a9 12 7 8 180 0 l16 0" },
    { 'i', 4, "m2 20 l2 0 m2 27 l2 28" },
    { 'j', 6, "m4 20 l4 -3 a-1 -3 5 5 0 -90 m4 27 l4 28" },
    { 'k', 15, "m2 28 l2 0 m14 20 l2 8 m7 13 l15 0" },
    { 'l', 4, "m2 28 l2 0" },
    { 'm', 28, "m2 20 l2 0 m2 13 a8 13 6 7 180 0 l14 0 m14 13 a20 13 6 7 180 0 l26 0" },
    { 'n', 18, "m2 20 l2 0 m2 12 a9 12 7 8 180 0 l16 0" },
    { 'o', 20, "a10 10 9 10 0 360" },
    { 'p', 18, "m1 20 l1 -8 m1 10 a9 10 8 10 180 540" },
    { 'q', 18, "m17 20 l17 -8 a9 10 8 10 0 360" },
    { 'r', 11, "m2 20 l2 0 m2 11 a10 11 8 9 180 78" },
    { 's', 15, "a8 15 6 5 40 270 a8 5 7 5 90 -145" },
    { 't', 11, "m5 26 l5 5 a10 5 5 5 180 280 m0 20 l11 20" },
    { 'u', 18, "m2 20 l2 8 a9 8 7 8 180 360 m16 20 l16 0" },
    { 'v', 18, "m1 20 l9 0 17 20" },
    { 'w', 24, "m0 20 l6 0 12 17 18 0 24 20" },
    { 'x', 16, "m1 20 l15 0 m15 20 l1 0" },
    { 'y', 18, "m1 20 l9 0 m17 20 l6 -8" },
    { 'z', 15, "m1 20 l14 20 1 0 14 0" },
    { '.', 4, "m2 0 l2 1" },
    { ',', 5, "m3 1 l1 -5" },
    { ':', 4, "m2 1 l2 2 m2 17 l2 18" },
    { ';', 5, "m3 2 l1 -4 m3 17 l3 18" },
    { '!', 4, "m2 28 l2 9 m2 0 l2 1" },
    { '\'', 3, "m2 28 l2 21" },
    { '"', 8, "m2 28 l2 21 m7 28 l7 21" },
    { '-', 12, "m1 11 l11 11" },
    { '_', 16, "m0 -4 l16 -4" },
    { '+', 20, "m2 12 l18 12 m10 4 l10 20" },
    { '=', 20, "m2 8 l18 8 m2 16 l18 16" },
    { '<', 18, "m16 20 l2 12 16 4" },
    { '>', 18, "m2 20 l16 12 2 4" },
    { '*', 14, "m7 28 l7 16 m2 25 l12 19 m12 25 l2 19" },
    { '/', 12, "m0 -4 l12 31" },
    { '%', 26, "a6 22 5 6 0 360 a20 6 5 6 0 360 m22 28 l4 0" },
    { '(', 8, "a14 13 12 19 130 230" },
    { ')', 8, "a-6 13 12 19 50 -50" },
    { '[', 8, "m8 31 l2 31 2 -5 8 -5" },
    { ']', 8, "m0 31 l6 31 6 -5 0 -5" },
    { '|', 4, "m2 31 l2 -5" },
    { '^', 14, "m1 20 l7 28 13 20" },
    { 0x00B2, 12, "a6 24 5 5 170 -38 l1 13 11 13" },                                         /* raised 2 */
    { 0x00B7, 4, "m2 12 l2 13" },                                                            /* middle dot */
    { 0x00D7, 18, "m3 5 l15 17 m3 17 l15 5" },                                               /* times */
    { 0x03C0, 22, "a6 15 5 5 165 90 l22 20 m8 20 l7 8 5 0 m16 20 l16 4 a20 4 4 4 180 280" }, /* pi */
    { 0x2081, 8, "m1 4 l5 7 5 -7" },                                                         /* lowered 1 */
    { 0x2082, 12, "a6 3 5 5 170 -38 l1 -7 11 -7" },                                          /* lowered 2 */
};
#define GLYPH_COUNT (sizeof GLYPHS / sizeof GLYPHS[0])

/* Takes one character off the text; a byte that begins none counts as one that is not known. */
static uint32_t code_take(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    const int more = p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : 3;
    uint32_t code = more == 0 ? p[0] : p[0] & (0x3FU >> more);
    int k = 1;
    for (; k <= more && (p[k] & 0xC0) == 0x80; k++)
        code = code << 6 | (p[k] & 0x3FU);
    *text += k;
    return code;
}

static const glyph *glyph_find(uint32_t code)
{
    for (size_t k = 0; k < GLYPH_COUNT; k++)
        if (GLYPHS[k].code == code)
            return &GLYPHS[k];
    return &GLYPHS[0];
}

/* Where a letter stands: origin on the baseline, pixels a unit, and the directions of reading and of up. */
typedef struct stance {
    point origin;
    double scale;
    bool turned;
} stance;

static point stance_map(const stance *s, double x, double y)
{
    const double right = s->scale * x, up = s->scale * y;
    if (s->turned)
        return (point){ s->origin.x - up, s->origin.y - right };
    return (point){ s->origin.x + right, s->origin.y - up };
}

/* The segments of a drawing; returns how many. */
static size_t glyph_segments(const char *drawing, const stance *where, segment out[MOST_SEGMENTS])
{
    size_t count = 0;
    double pen_x = 0.0, pen_y = 0.0;
    char command = 'm';
    for (char *p = (char *)(uintptr_t)drawing; *p != 0;) { /* strtol wants it so; nothing is written */
        long v[6];
        while (*p == ' ')
            p++;
        if (*p == 'm' || *p == 'l' || *p == 'a')
            command = *p++;
        for (int k = 0; k < (command == 'a' ? 6 : 2); k++)
            v[k] = strtol(p, &p, 10);
        const int steps = command == 'a' ? (int)ceil((double)labs(v[5] - v[4]) / ARC_STEP) : 1;
        for (int k = 0; k <= steps; k++) {
            double x = (double)v[0], y = (double)v[1];
            if (command == 'a') {
                const double angle = NPMD_PI / 180.0 * ((double)v[4] + (double)(v[5] - v[4]) * k / steps);
                x += (double)v[2] * cos(angle);
                y += (double)v[3] * sin(angle);
            }
            if (k > 0 && command != 'm') {
                assert(count < MOST_SEGMENTS);
                out[count++] = (segment){ stance_map(where, pen_x, pen_y), stance_map(where, x, y) };
            }
            if (k > 0 || command != 'l') /* a line starts where the pen is, not where it goes */
                pen_x = x, pen_y = y;
        }
    }
    return count;
}

double raster_text_width(const lettering *how, const char *text)
{
    int units = 0;
    while (*text != 0)
        units += glyph_find(code_take(&text))->width + GAP;
    return how->height / CAPITAL * (units > 0 ? units - GAP : 0);
}

void raster_text(raster *r, double x, double y, text_place place, bool turned, const lettering *how,
                 const char *text)
{
    segment s[MOST_SEGMENTS];
    stance where = { { x, y }, how->height / CAPITAL, turned };
    const double width = raster_text_width(how, text) / where.scale;
    const double start = place == TEXT_LEFT ? 0.0 : place == TEXT_CENTRE ? -0.5 * width : -width;
    where.origin = stance_map(&where, start, 0.0);
    while (*text != 0) {
        const glyph *g = glyph_find(code_take(&text));
        const size_t count = glyph_segments(g->drawing, &where, s);
        segments_draw(r, s, count, how->thickness, how->ink);
        where.origin = stance_map(&where, g->width + GAP, 0.0);
    }
}
