/* relief.h - a triangle mesh seen from one side, as a block of pixels.
 *
 * The eye looks from infinitely far away (orthographic projection): lengths across the picture are true. A view is
 * three orthonormal vectors; a point x of space is shown at (right . x, up . x), and of two points at one place the one
 * with the larger toward . x is visible. A pixel is the average of RELIEF_SIDE^2 samples in linear light. The picture
 * does not depend on the number of threads. */
#ifndef NPMD_RELIEF_H
#define NPMD_RELIEF_H

#include "draw.h"

#define RELIEF_SIDE 3 /* samples along the side of a pixel */

typedef struct relief_view {
    double right[3], up[3], toward[3]; /* right = up x toward */
} relief_view;
/* The view from the direction toward, with up (not parallel to it) upwards. */
relief_view relief_view_make(const double toward[3], const double up[3]);

/* The part of the plane (right . x, up . x) that is shown: its left and upper edge, and pixels per unit of length. */
typedef struct relief_window {
    double left, top, scale;
    int width, height; /* in pixels */
    double point;      /* pixels per point of the page, the unit of thickness and radius */
} relief_window;
/* The smallest rectangle that holds these points: low (2), high (2). */
void relief_extent(const double *x, size_t n, const relief_view *view, double *low, double *high);

typedef struct relief_lines {
    size_t segments;
    const double *x;    /* (segments, 2, 3) */
    const colour *inks; /* (segments); NULL: ink */
    colour ink;
    double thickness; /* in pixels */
    bool round;       /* shaded like thin tubes: darker where they point to the eye */
} relief_lines;

typedef struct relief_points {
    size_t count;
    const double *x; /* (count, 3) */
    colour ink, edge;
    double radius, rim; /* of the disc, and the width of its edge, in points */
} relief_points;

typedef struct relief_scene {
    size_t vertices, faces;
    const double *x;     /* (vertices, 3) */
    const int32_t *face; /* (faces, 3) */
    const double *value; /* (vertices), NaN: the ground; NULL: the ground everywhere */
    const shade *how;    /* from values to colours; NULL only if value is NULL */
    colour ground;
    double opacity; /* of the surface where it faces the eye; 1: opaque */
    double lift;    /* lines and points are visible down to this depth below the surface */
    const relief_lines *lines;
    int line_sets;
    const relief_points *points;
    int point_sets; /* points are drawn over lines */
} relief_scene;

typedef struct relief_image {
    int width, height;
    unsigned char *rgba; /* (height, width, 4), sRGB, not premultiplied; 0 where there is nothing */
} relief_image;
npmd_status relief_render(const relief_scene *scene, const relief_view *view, const relief_window *window, int threads,
                          relief_image *out, npmd_error *err);
void relief_image_free(relief_image *image);

/* ---- relief_page.c: views of surfaces in rows and columns, with names, titles and colour bars -------------------- */

typedef struct relief_panel {
    const relief_scene *scene; /* NULL: nothing is drawn here */
    relief_view view;
    const char *name; /* of the view; NULL: none */
    int group;        /* panels of one group, 0 .. RELIEF_GROUPS - 1, have one scale */
    double radius;    /* of a close-up about the centre; 0: all of the scene */
    double centre[3];
} relief_panel;
#define RELIEF_GROUPS 4

typedef struct relief_page {
    int rows, columns;
    const relief_panel *panel;   /* (rows, columns) */
    double cell;                 /* width of a panel, in points */
    double share[RELIEF_GROUPS]; /* share of the cell's width that the widest view of a group takes; 0: all of it */
    double head, foot;           /* room above and below everything, for the caller */
    const char *const *titles;   /* (columns), over each column; NULL: none */
    const shade *bars;           /* one below each column, or a single one at the right; NULL: none */
    int bar_count;               /* 0, 1 or columns */
    const legend_row *legend;    /* below all */
    int legend_rows;
} relief_page;
void relief_page_size(const relief_page *page, double *width, double *height); /* in points */
npmd_status relief_page_draw(const relief_page *page, canvas *c, int threads, npmd_error *err);

/* ---- between relief.c and relief_over.c -------------------------------------------------------------------------- */

typedef struct relief_light {
    float red, green, blue; /* linear light */
} relief_light;
relief_light relief_linear(colour c);

/* The samples of a whole picture; row j, column i is [j * width + i], and covers [i, i + 1) x [j, j + 1). */
typedef struct relief_samples {
    int width, height;
    int32_t *face; /* the visible face; -1: none */
    float *depth;  /* its toward . x; -infinity: no face */
} relief_samples;

/* A point in units of samples: x to the right, y down; z is its depth. */
typedef struct relief_spot {
    double x, y, z;
} relief_spot;
relief_spot relief_project(const relief_view *view, const relief_window *window, const double *x);

/* Lines and points in sample rows first .. first + rows - 1: cover is 1 where there is one, 2 where it lies beneath the
 * surface. All arrays are (rows, width); cover is zero on entry. */
typedef struct relief_over {
    int first, rows;
    unsigned char *cover;
    float *depth;
    relief_light *light;
} relief_over;
void relief_over_draw(const relief_scene *scene, const relief_view *view, const relief_window *window,
                      const relief_samples *s, relief_over *over);

#endif
