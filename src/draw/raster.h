/* raster.h - behind a canvas: the table of functions of a writer, and pictures in memory with their letters. */
#ifndef NPMD_RASTER_H
#define NPMD_RASTER_H

#include "draw.h"

/* ---- canvas.c, canvas_png.c, canvas_svg.c ------------------------------------------------------------------------ */

typedef struct canvas_writer {
    npmd_status (*open)(canvas *c, npmd_error *err);
    void (*polyline)(canvas *c, const spot *p, size_t count, bool closed, const stroke *how);
    void (*polygon)(canvas *c, const spot *p, size_t count, colour ink, double clear);
    void (*discs)(canvas *c, const spot *p, size_t count, double radius, colour ink, double clear);
    void (*text)(canvas *c, double x, double y, text_place place, double turned, const lettering *how,
                 const char *text);
    void (*image)(canvas *c, box at, const unsigned char *rgba, int width, int height);
    void (*clip)(canvas *c, const box *at); /* NULL: the whole page */
    npmd_status (*write)(canvas *c, npmd_error *err);
    void (*close)(canvas *c);
} canvas_writer;
struct canvas {
    const canvas_writer *writer;
    const char *path;
    double width, height, dpi;
    npmd_status st; /* the first failure */
    npmd_error failure;
    void *state; /* the writer's */
};
extern const canvas_writer CANVAS_PNG, CANVAS_SVG;

/* ---- raster.c: a picture in memory ------------------------------------------------------------------------------- */

/* Pixel (0, 0) is at the top left; coordinates are those of points of the plane, so that pixel i covers [i, i + 1).
 * Shapes are first gathered in the mask, so that a pixel is inked once however many strokes touch it. */
typedef struct raster {
    int width, height;
    unsigned char *pixels;        /* (height, width, 3) */
    unsigned char *mask;          /* (height, width): 255 covered; zero between two calls */
    float *row;                   /* (width + 1): for polygons */
    int left, right, top, bottom; /* bounds of the part of the mask that may differ from zero */
    double clip_x0, clip_x1;      /* nothing is drawn outside these bounds */
    double clip_y0, clip_y1;
} raster;
npmd_status raster_open(int width, int height, colour background, raster *out, npmd_error *err);
void raster_free(raster *r);
/* Gathers a segment into the mask; raster_ink then draws all that was gathered. */
void raster_segment(raster *r, spot a, spot b, double thickness);
void raster_polygon(raster *r, const spot *p, size_t count);
void raster_ink(raster *r, colour ink, double clear);
void raster_image(raster *r, box at, const unsigned char *rgba, int width, int height);
/* A .png in memory, of pixels (height, width, channels), channels 3 or 4; dpi 0: the file has none. */
npmd_status png_encode(const unsigned char *pixels, int width, int height, int channels, double dpi,
                       unsigned char **bytes, size_t *size, npmd_error *err);

/* ---- letters.c --------------------------------------------------------------------------------------------------- */

/* Gathers text into the mask; size and place in pixels. */
void letters_draw(raster *r, double x, double y, text_place place, double turned, double size, bool bold,
                  const char *text);
double letters_width(double size, const char *text);
bool letters_know(const char *text); /* does the font have all of these characters? */

#endif
