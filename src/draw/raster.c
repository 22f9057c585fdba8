/* raster.c - a picture in memory: strokes, areas and images, and its .png.
 *
 * A stroke covers a pixel by 1/2 + (half its thickness) - (the pixel's distance from it), cut to [0, 1], which smooths
 * every edge over one pixel. An area covers it by the share of the pixel inside, exact along x and taken on AREA_LINES
 * lines along y. */
#include "raster.h"

#include <png.h>
#include <zlib.h>

npmd_status raster_open(int width, int height, colour background, raster *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    raster r = { .width = width, .height = height, .clip_x1 = width, .clip_y1 = height };
    const size_t count = (size_t)width * (size_t)height;
    assert(width > 0 && height > 0);
    r.left = width, r.top = height;
    TRY(memory_new(&r.pixels, 3 * count, err));
    TRY(memory_new(&r.mask, count, err));
    TRY(memory_new(&r.row, (size_t)width + 1, err));
    for (size_t i = 0; i < count; i++) {
        r.pixels[3 * i] = background.red;
        r.pixels[3 * i + 1] = background.green;
        r.pixels[3 * i + 2] = background.blue;
    }
    *out = r;
    r = (raster){ 0 };
done:
    raster_free(&r);
    return st;
}

void raster_free(raster *r)
{
    memory_free_all(r->pixels, r->mask, r->row);
    *r = (raster){ 0 };
}

/* ---- Gathering --------------------------------------------------------------------------------------------------- */

/* Rows and columns that may be touched, within the picture; false: none. */
static bool raster_touch(raster *r, double x0, double x1, double y0, double y1, int bounds[4])
{
    if (!(x1 >= 0.0 && y1 >= 0.0 && x0 <= r->width && y0 <= r->height)) /* also where one is NaN */
        return false;
    bounds[0] = (int)fmax(floor(x0), 0.0);
    bounds[1] = (int)fmin(ceil(x1), r->width);
    bounds[2] = (int)fmax(floor(y0), 0.0);
    bounds[3] = (int)fmin(ceil(y1), r->height);
    r->left = bounds[0] < r->left ? bounds[0] : r->left;
    r->right = bounds[1] > r->right ? bounds[1] : r->right;
    r->top = bounds[2] < r->top ? bounds[2] : r->top;
    r->bottom = bounds[3] > r->bottom ? bounds[3] : r->bottom;
    return true;
}

static void raster_gather(raster *r, int x, int y, double cover)
{
    unsigned char *m = r->mask + (size_t)y * (size_t)r->width + (size_t)x;
    const unsigned char level = (unsigned char)lrint(255.0 * fmin(fmax(cover, 0.0), 1.0));
    *m = level > *m ? level : *m;
}

static double segment_distance(spot a, spot b, double x, double y)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    double t = length2 > 0.0 ? ((x - a.x) * dx + (y - a.y) * dy) / length2 : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    return hypot(x - a.x - t * dx, y - a.y - t * dy);
}

/* A line thinner than a pixel is drawn a pixel wide and paler. */
void raster_segment(raster *r, spot a, spot b, double thickness)
{
    const double wide = fmax(thickness, 1.0), strength = thickness / wide, reach = 0.5 * wide + 0.5;
    int at[4];
    if (!raster_touch(r, fmin(a.x, b.x) - reach, fmax(a.x, b.x) + reach, fmin(a.y, b.y) - reach, fmax(a.y, b.y) + reach,
                      at))
        return;
    const double dx = b.x - a.x, dy = b.y - a.y;
    for (int y = at[2]; y < at[3]; y++) {
        /* the part of the segment within reach of this row bounds the columns to look at */
        double t0 = 0.0, t1 = 1.0;
        if (fabs(dy) > 1e-9) {
            const double u = (y + 0.5 - reach - a.y) / dy, v = (y + 0.5 + reach - a.y) / dy;
            t0 = fmin(fmax(fmin(u, v), 0.0), 1.0);
            t1 = fmin(fmax(fmax(u, v), 0.0), 1.0);
        }
        const double xa = a.x + t0 * dx, xb = a.x + t1 * dx;
        const int x0 = (int)fmax(floor(fmin(xa, xb) - reach), at[0]);
        const int x1 = (int)fmin(ceil(fmax(xa, xb) + reach), at[1]);
        for (int x = x0; x < x1; x++)
            raster_gather(r, x, y, strength * (reach - segment_distance(a, b, x + 0.5, y + 0.5)));
    }
}

#define AREA_LINES 8 /* in a row of pixels */

/* The share of each pixel of this row between x0 and x1, added. */
static void row_span(raster *r, double x0, double x1, float weight)
{
    const double a = fmax(x0, 0.0), b = fmin(x1, r->width);
    if (!(a < b))
        return;
    const int i = (int)a, j = (int)b;
    if (i == j) {
        r->row[i] += weight * (float)(b - a);
        return;
    }
    r->row[i] += weight * (float)(i + 1 - a);
    for (int k = i + 1; k < j; k++)
        r->row[k] += weight;
    r->row[j] += weight * (float)(b - j); /* row has a place more than there are columns */
}

/* The next crossing of the line at y to the right of `after` (and of equal ones, the next in number). */
static bool crossing_next(const spot *p, size_t count, double y, double *after, size_t *edge)
{
    double best = INFINITY;
    size_t found = count;
    for (size_t k = 0; k < count; k++) {
        const spot a = p[k], b = p[k + 1 < count ? k + 1 : 0];
        if ((a.y <= y) == (b.y <= y))
            continue;
        const double x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
        const bool later = x > *after || (x == *after && *edge < count && k > *edge);
        if (later && x < best)
            best = x, found = k;
    }
    *after = best;
    *edge = found;
    return found < count;
}

void raster_polygon(raster *r, const spot *p, size_t count)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    int at[4];
    for (size_t k = 0; k < count; k++) {
        x0 = fmin(x0, p[k].x), x1 = fmax(x1, p[k].x);
        y0 = fmin(y0, p[k].y), y1 = fmax(y1, p[k].y);
    }
    if (!raster_touch(r, x0, x1, y0, y1, at))
        return;
    for (int y = at[2]; y < at[3]; y++) {
        memset(r->row, 0, ((size_t)r->width + 1) * sizeof *r->row);
        for (int line = 0; line < AREA_LINES; line++) {
            const double level = y + (line + 0.5) / AREA_LINES;
            double from = -INFINITY;
            size_t edge = count;
            while (crossing_next(p, count, level, &from, &edge)) {
                double to = from;
                if (crossing_next(p, count, level, &to, &edge))
                    row_span(r, from, to, 1.0F / AREA_LINES);
                from = to;
            }
        }
        for (int x = at[0]; x < at[1]; x++)
            raster_gather(r, x, y, (double)r->row[x]);
    }
}

/* ---- Showing ----------------------------------------------------------------------------------------------------- */

/* The share of [i, i + 1) that lies within [from, to]. */
static double share_within(int i, double from, double to)
{
    return fmin(fmax(fmin(i + 1.0, to) - fmax(i, from), 0.0), 1.0);
}

static void pixel_mix(unsigned char *p, const unsigned char over[3], double cover)
{
    for (int k = 0; k < 3; k++)
        p[k] = (unsigned char)lrint(p[k] + cover * (over[k] - p[k]));
}

void raster_ink(raster *r, colour ink, double clear)
{
    const unsigned char over[3] = { ink.red, ink.green, ink.blue };
    for (int y = r->top; y < r->bottom; y++) {
        const double down = share_within(y, r->clip_y0, r->clip_y1);
        for (int x = r->left; x < r->right; x++) {
            unsigned char *m = r->mask + (size_t)y * (size_t)r->width + (size_t)x;
            if (*m == 0)
                continue;
            const double cover = *m / 255.0 * (1.0 - clear) * down * share_within(x, r->clip_x0, r->clip_x1);
            pixel_mix(r->pixels + 3 * ((size_t)y * (size_t)r->width + (size_t)x), over, cover);
            *m = 0;
        }
    }
    r->left = r->width, r->right = 0, r->top = r->height, r->bottom = 0;
}

/* The mean colour of the image over [u0, u1) x [v0, v1) in its pixels, by whole pixels; alpha weighs. */
static double image_mean(const unsigned char *rgba, int width, int height, const double u[2], const double v[2],
                         unsigned char mean[3])
{
    double sum[4] = { 0.0 };
    int count = 0;
    const int i0 = (int)fmin(fmax(floor(u[0] + 0.5), 0.0), width - 1),
              j0 = (int)fmin(fmax(floor(v[0] + 0.5), 0.0), height - 1);
    const int i1 = (int)fmin(fmax(floor(u[1] + 0.5), i0 + 1), width),
              j1 = (int)fmin(fmax(floor(v[1] + 0.5), j0 + 1), height);
    for (int j = j0; j < j1; j++)
        for (int i = i0; i < i1; i++, count++) {
            const unsigned char *p = rgba + 4 * ((size_t)j * (size_t)width + (size_t)i);
            for (int k = 0; k < 3; k++)
                sum[k] += (double)p[k] * p[3];
            sum[3] += p[3];
        }
    for (int k = 0; k < 3; k++)
        mean[k] = (unsigned char)(sum[3] > 0.0 ? lrint(sum[k] / sum[3]) : 0);
    return sum[3] / (255.0 * count);
}

void raster_image(raster *r, box at, const unsigned char *rgba, int width, int height)
{
    const double x1 = at.x + at.width, y1 = at.y + at.height;
    const double wide = width / at.width, high = height / at.height; /* pixels of the image in one of ours */
    for (int y = (int)fmax(floor(at.y), 0.0); y < (int)fmin(ceil(y1), r->height); y++)
        for (int x = (int)fmax(floor(at.x), 0.0); x < (int)fmin(ceil(x1), r->width); x++) {
            unsigned char over[3];
            /* of an image that is coarser than ours, the pixel below our centre */
            const double u = (x + 0.5 - at.x) * wide, v = (y + 0.5 - at.y) * high;
            const double us[2] = { wide > 1.0 ? u - 0.5 * wide : floor(u),
                                   wide > 1.0 ? u + 0.5 * wide : floor(u) + 1.0 };
            const double vs[2] = { high > 1.0 ? v - 0.5 * high : floor(v),
                                   high > 1.0 ? v + 0.5 * high : floor(v) + 1.0 };
            const double alpha = image_mean(rgba, width, height, us, vs, over);
            const double cover = alpha * share_within(x, fmax(at.x, r->clip_x0), fmin(x1, r->clip_x1))
                                 * share_within(y, fmax(at.y, r->clip_y0), fmin(y1, r->clip_y1));
            pixel_mix(r->pixels + 3 * ((size_t)y * (size_t)r->width + (size_t)x), over, cover);
        }
}

/* ---- The way out ------------------------------------------------------------------------------------------------- */

static void put_word(unsigned char *p, uint32_t value) /* most significant byte first */
{
    for (int k = 0; k < 4; k++)
        p[k] = (unsigned char)(value >> (24 - 8 * k));
}

/* A .png begins with 8 bytes of signature and 25 of the header chunk; pixels a metre may stand after them. */
#define PNG_HEAD 33
#define PNG_PHYS 21
static void png_put_resolution(unsigned char *bytes, size_t *size, double dpi)
{
    unsigned char *p = bytes + PNG_HEAD;
    const uint32_t metre = (uint32_t)lrint(dpi / 0.0254);
    memmove(p + PNG_PHYS, p, *size - PNG_HEAD);
    put_word(p, 9);
    memcpy(p + 4, "pHYs", 4);
    put_word(p + 8, metre);
    put_word(p + 12, metre);
    p[16] = 1; /* the unit is the metre */
    put_word(p + 17, (uint32_t)crc32(0, p + 4, 13));
    *size += PNG_PHYS;
}

npmd_status png_encode(const unsigned char *pixels, int width, int height, int channels, double dpi,
                       unsigned char **bytes, size_t *size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *made = NULL;
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)width,
                        .height = (png_uint_32)height,
                        .format = channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB };
    png_alloc_size_t room = PNG_IMAGE_PNG_SIZE_MAX(image); /* without it libpng would compress twice */
    TRY(memory_new(&made, room + PNG_PHYS, err));
    if (!png_image_write_to_memory(&image, made, &room, 0, pixels, 0, NULL))
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "a picture of %d x %d pixels cannot be compressed: %s", width, height,
                      image.message));
    *size = room;
    if (dpi > 0.0)
        png_put_resolution(made, size, dpi);
    *bytes = made;
    made = NULL;
done:
    png_image_free(&image);
    memory_free(made);
    return st;
}
