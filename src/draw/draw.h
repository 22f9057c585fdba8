/* draw.h - pictures: a raster with smooth lines and letters, and maps of densities on the torus.
 *
 * Pixel (0, 0) is at the top left; x runs right, y down. A coordinate names a point of the plane, so pixel i
 * covers [i, i + 1). Everything is clipped to the raster. */
#ifndef NPMD_DRAW_H
#define NPMD_DRAW_H

#include "core.h"

/* ---- raster.c ---------------------------------------------------------------------------------------- */

typedef struct colour {
    unsigned char red, green, blue; /* sRGB */
} colour;

typedef struct raster {
    int width, height;
    unsigned char *pixels; /* (height, width, 3) */
} raster;
npmd_status raster_open(int width, int height, colour background, raster *out, npmd_error *err);
void raster_free(raster *r);
npmd_status raster_write(const raster *r, const char *path, npmd_error *err); /* as .png */

void raster_pixel(raster *r, int x, int y, colour c);
void raster_fill(raster *r, int x, int y, int width, int height, colour c);
void raster_frame(raster *r, int x, int y, int width, int height, colour c); /* just outside the area */
void raster_line(raster *r, double x0, double y0, double x1, double y1, double thickness, colour c);

typedef struct lettering {
    double height;    /* of a capital letter, in pixels */
    double thickness; /* of the strokes, in pixels */
    colour ink;
} lettering;
/* Which part of the text stands at (x, y). */
typedef enum text_place { TEXT_LEFT, TEXT_CENTRE, TEXT_RIGHT } text_place;
/* Text in UTF-8 with its baseline at y; turned: read from below, with its baseline at x. Letters, digits,
 * common signs, Greek pi, raised 2 and lowered 1 and 2 are known; anything else becomes a question mark. */
void raster_text(raster *r, double x, double y, text_place place, bool turned, const lettering *how,
                 const char *text);
double raster_text_width(const lettering *how, const char *text);

/* ---- map.c --------------------------------------------------------------------------------------------- */

/* The colour of t in [0, 1], dark violet to yellow. Equal steps of t look equally large, also in grey. */
colour map_colour(double t);

/* One or two densities on T2 side by side with one colour scale, as .png. density[p] is (grid, grid), with
 * density[p][i * grid + j] = f(x1 = 2 pi i / grid, x2 = 2 pi j / grid) >= 0. */
npmd_status draw_torus_maps(const char *path, int panels, const char *const *titles,
                            const double *const *density, int grid, npmd_error *err);

#endif
