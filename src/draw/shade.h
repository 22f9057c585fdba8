/* shade.h - a triangle mesh seen from one side, as a block of pixels that a picture places like any image.
 *
 * The eye looks from infinitely far away (orthographic projection): lengths across the picture are true. A view is three
 * orthonormal vectors; a point x of space is shown at (right . x, up . x), and of two points at one place that with the
 * larger toward . x is seen. Pixels are averages of SHADE_SIDE^2 samples each, formed in linear light. They do not depend
 * on the number of threads. */
#ifndef NPMD_SHADE_H
#define NPMD_SHADE_H

#include "draw.h"

#define SHADE_SIDE 3 /* samples along the side of a pixel */

typedef struct shade_view {
    double right[3], up[3], toward[3]; /* right = up x toward */
} shade_view;
/* The view from the side that toward points at, with up (not parallel to it) upwards. */
shade_view shade_view_make(const double toward[3], const double up[3]);

/* What part of the plane of (right . x, up . x) is shown: the left edge, the upper edge, pixels a unit of length. */
typedef struct shade_window {
    double left, top, scale;
    int width, height; /* in pixels */
} shade_window;
/* The least rectangle that holds these points: low (2), high (2). */
void shade_extent(const double *x, size_t n, const shade_view *view, double *low, double *high);

/* A ramp of colours that values are shown by; what is below low has the first, what is above high the last. */
typedef struct shade_ramp {
    const colour *colours;
    int count;
    double low, high;
    bool log; /* values between are placed by their logarithm; low > 0 */
} shade_ramp;

typedef struct shade_lines {
    size_t segments;
    const double *x;    /* (segments, 2, 3) */
    const colour *inks; /* (segments); NULL: ink */
    colour ink;
    double thickness; /* in pixels */
    bool round;       /* lit like thin tubes: those that point to the eye are darker */
} shade_lines;

typedef struct shade_points {
    size_t count;
    const double *x; /* (count, 3) */
    colour ink, edge;
    double radius, rim; /* of the disc, and the width of its edge around it, in pixels */
} shade_points;

typedef struct shade_scene {
    size_t vertices, faces;
    const double *x;        /* (vertices, 3) */
    const int32_t *face;    /* (faces, 3) */
    const double *value;    /* (vertices), NaN: the ground; NULL: the ground everywhere */
    const shade_ramp *ramp; /* NULL only where value is */
    colour ground;
    double opacity; /* of the surface where it faces the eye; 1: nothing behind it is seen */
    double lift;    /* lines and points are seen if they lie at most so far below the surface */
    const shade_lines *lines;
    int line_sets;
    const shade_points *points;
    int point_sets; /* points are drawn over lines */
} shade_scene;

typedef struct shade_image {
    int width, height;
    unsigned char *rgba; /* (height, width, 4), sRGB, not multiplied by alpha; 0 where there is nothing */
} shade_image;
npmd_status shade_render(const shade_scene *scene, const shade_view *view, const shade_window *window,
                         int threads, shade_image *out, npmd_error *err);
void shade_image_free(shade_image *image);

/* ---- between shade.c and shade_over.c ------------------------------------------------------------------ */

typedef struct shade_light {
    float red, green, blue; /* linear light */
} shade_light;
shade_light shade_linear(colour c);

/* The samples of a whole picture; row j, column i is [j * width + i], and covers [i, i + 1) x [j, j + 1). */
typedef struct shade_samples {
    int width, height;
    int32_t *face; /* that is seen; -1: none */
    float *depth;  /* toward . x of it; -infinity: nothing is there */
} shade_samples;

/* A point as the samples have it: x to the right, y down, in samples; z is its depth. */
typedef struct shade_spot {
    double x, y, z;
} shade_spot;
shade_spot shade_project(const shade_view *view, const shade_window *window, const double *x);

/* What is drawn over the surface, of rows first .. first + rows - 1: cover is 1 where there is something (2: beneath the
 * surface). All arrays (rows, width); cover comes zeroed. */
typedef struct shade_over {
    int first, rows;
    unsigned char *cover;
    float *depth;
    shade_light *light;
} shade_over;
void shade_over_draw(const shade_scene *scene, const shade_view *view, const shade_window *window,
                     const shade_samples *s, shade_over *over);

#endif
