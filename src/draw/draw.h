/* draw.h - pictures: a canvas with two writers (.png and .svg), colour maps, and the furniture of figures.
 *
 * All sizes are in points (1/72 inch); x runs right and y down from the top left corner of the page. What draws on a
 * canvas returns nothing: the canvas remembers the first failure, and canvas_write reports it. Equal calls give equal
 * bytes. */
#ifndef NPMD_DRAW_H
#define NPMD_DRAW_H

#include "core.h"

typedef struct colour {
    unsigned char red, green, blue; /* sRGB */
} colour;
typedef struct spot { /* a place on the page */
    double x, y;
} spot;
typedef struct box { /* left and top, and how far it reaches */
    double x, y, width, height;
} box;
typedef struct stroke { /* of a line, with round ends and corners */
    double width;
    colour ink;
    double clear;     /* share of what lies beneath that shows: 0 covers, 1 is not seen */
    double dash, gap; /* lengths; dash 0: unbroken */
} stroke;
typedef struct lettering {
    double size; /* of the font; a capital is TEXT_CAPITAL times as high */
    colour ink;
    bool bold;
} lettering;
#define TEXT_CAPITAL 0.716
/* Which part of the text stands at the place given. */
typedef enum text_place { TEXT_LEFT, TEXT_CENTRE, TEXT_RIGHT } text_place;

/* ---- canvas.c; its two writers and their pictures in memory are in raster.h ------------------------------- */

typedef struct canvas canvas;
#define CANVAS_DPI 300.0 /* dots an inch where nothing else is said: of a .png, and of images in an .svg */

/* A white page for a .png or .svg, by the suffix of the path, which is the caller's. */
npmd_status canvas_open(const char *path, double width, double height, double dpi, canvas **out, npmd_error *err);
npmd_status canvas_write(canvas *c, npmd_error *err); /* the first failure, or the file */
void canvas_free(canvas *c);                          /* accepts NULL */
double canvas_width(const canvas *c);
double canvas_height(const canvas *c);
/* How many pixels an image of this length should have: at least 1. */
int canvas_pixels(const canvas *c, double length);

void canvas_line(canvas *c, double x0, double y0, double x1, double y1, const stroke *how);
void canvas_polyline(canvas *c, const spot *p, size_t count, bool closed, const stroke *how);
void canvas_polygon(canvas *c, const spot *p, size_t count, colour ink, double clear); /* filled, even-odd */
void canvas_box(canvas *c, box at, colour ink, double clear);                          /* filled */
void canvas_frame(canvas *c, box at, const stroke *how);                               /* its edge */
void canvas_circle(canvas *c, double x, double y, double radius, const stroke *how);   /* its edge */
/* Filled discs of one radius, each over those before it. */
void canvas_discs(canvas *c, const spot *p, size_t count, double radius, colour ink, double clear);
/* Text in UTF-8 with its baseline at (x, y), turned counterclockwise by so many degrees (90: read from below). ASCII,
 * the Greek and the signs of letters.c, and raised and lowered digits are known to a .png; anything else becomes a
 * question mark there. A byte that is no UTF-8 becomes U+FFFD. */
void canvas_text(canvas *c, double x, double y, text_place place, double turned, const lettering *how,
                 const char *text);
/* As much of a text as the room of `size` bytes holds, cut between two characters. */
void text_copy(char *out, size_t size, const char *text);
/* As the letters of a .png have it; an .svg leaves its font to the reader, and may come out a little narrower or
 * wider. */
double canvas_text_width(const lettering *how, const char *text);
/* rgba (height, width, 4), alpha not multiplied in, its first row at the top, stretched to the box. */
void canvas_image(canvas *c, box at, const unsigned char *rgba, int width, int height);
/* What follows is seen within the box only, until canvas_unclip. Clips do not nest. */
void canvas_clip(canvas *c, box at);
void canvas_unclip(canvas *c);

/* ---- colour.c ------------------------------------------------------------------------------------------ */

typedef enum colour_map {
    MAP_RISING,  /* dark violet to yellow: lightness rises with the value                     */
    MAP_FALLING, /* white to dark blue: lightness falls, and nothing is the paper's colour     */
    MAP_BALANCED /* blue, white at 1/2, red: lightness falls to both sides, equally on both    */
} colour_map;
/* The colour of t in [0, 1], beyond which the ends go on. Equal steps of t look equally large, also in grey. */
colour map_colour(colour_map which, double t);
/* The k-th of the colours that tell lines apart, k = 0, 1, ...; they differ in lightness too, and repeat. */
#define LINE_COLOURS 8
colour line_colour(int k);
double colour_lightness(colour c); /* of OKLab, 0 black to 1 white */

/* ---- axis.c: numbers along a line ----------------------------------------------------------------------- */

typedef enum axis_kind {
    AXIS_LINEAR,
    AXIS_LOG,    /* both ends positive; ticks at powers of ten */
    AXIS_PI,     /* radians: ticks at simple multiples of pi */
    AXIS_DEGREES /* whole degrees: ticks at divisors of 360 */
} axis_kind;
typedef struct axis {
    axis_kind kind;
    double from, to;  /* from stands at the left or at the bottom; from < to */
    const char *name; /* with its unit; NULL: none */
} axis;
#define AXIS_TICKS 64
#define AXIS_LABEL 32
typedef struct axis_tick {
    double value;
    char label[AXIS_LABEL]; /* "": a small tick without one */
} axis_tick;
typedef struct axis_ticks {
    int count;
    axis_tick tick[AXIS_TICKS];
} axis_ticks;
/* Steps of 1, 2 or 5 times a power of ten, about `most` labels at most. */
void axis_mark(const axis *a, int most, axis_ticks *out);
double axis_place(const axis *a, double value); /* 0 at from, 1 at to */
/* The range of these numbers, a little wider, with both ends at round numbers where that costs little. */
void axis_fit(axis *a, double least, double most);
/* A number as people write it: 3 digits, a power of ten where that is shorter. */
void number_words(double value, char text[AXIS_LABEL]);

/* ---- furniture.c: axes, colour bars, legends ------------------------------------------------------------ */

/* Letters and lines of all figures: legible when a picture of 85 mm is printed in its size. */
extern const lettering LETTER_TITLE, LETTER_NAME, LETTER_LABEL, LETTER_SMALL;
extern const stroke STROKE_AXIS, STROKE_GRID;
extern const colour INK, PAPER;

typedef enum axes_parts { /* bits: what is left out */
                          AXES_NO_X_LABELS = 1,
                          AXES_NO_Y_LABELS = 2,
                          AXES_NO_X_NAME = 4,
                          AXES_NO_Y_NAME = 8,
                          AXES_NO_X_END = 64, /* the last label, where the next panel's first would touch it */
                          AXES_NO_Y_END = 128,
                          AXES_GRID = 16, /* and what is added: pale lines at the ticks */
                          AXES_RIGHT =
                              32 /* labels and name of y at the right edge, for a second axis; no frame, no x */
} axes_parts;
typedef struct margins { /* room that stands outside of a box */
    double left, right, top, bottom;
} margins;
margins axes_margins(box at, const axis *x, const axis *y, unsigned parts);
/* The frame of a box with ticks, labels and names; the box is what the axes span. */
void axes_draw(canvas *c, box at, const axis *x, const axis *y, unsigned parts);
spot axes_spot(box at, const axis *x, const axis *y, double x_value, double y_value);

typedef struct shade { /* from a number to a colour */
    colour_map map;
    axis scale;        /* its name says quantity and measure: "density per rad\xC2\xB2" */
    bool below, above; /* some values lie beyond that end: the bar ends in a point there */
} shade;
colour shade_colour(const shade *s, double value);
double bar_room(box at, const shade *s); /* across the bar: what labels and name take beside its width or height */
/* Upright with labels at the right, or lying (wider than high) with labels below. */
void bar_draw(canvas *c, box at, const shade *s);

typedef struct legend_row {
    const char *label;
    stroke line; /* width 0: none */
    double disc; /* radius of a mark in its colour; 0: none */
} legend_row;
/* At the corner of a box: 0 top left, 1 top right, 2 bottom left, 3 bottom right, and half way up 4 left, 5 right; on
 * white that shows a little through. */
void legend_draw(canvas *c, box at, int corner, const legend_row *row, int rows);
box legend_size(const legend_row *row, int rows);
/* A title over a box, made smaller until it fits. */
void title_draw(canvas *c, box over, const char *text);
/* Text that must fit into a width: made smaller, at most to 2/3, then cut with an ellipsis. */
void text_fit(canvas *c, double x, double y, text_place place, double turned, const lettering *how, double width,
              const char *text);

/* Panels of one size in rows: where the k-th stands. */
typedef struct panel_grid {
    double x, y, width, height; /* of the first panel */
    double between_x, between_y;
    int columns;
} panel_grid;
box panel_box(const panel_grid *g, int k);

/* ---- contour.c ------------------------------------------------------------------------------------------ */

/* The lines f = level of a function known at (columns, rows) nodes, f[i * rows + j] at x = i, y = j, linear between
 * them along the edges. Each line is given once, joined, in the coordinates of the nodes. */
typedef void (*contour_line)(const spot *p, size_t count, bool closed, void *user);
npmd_status contour_trace(const double *f, int columns, int rows, double level, contour_line line, void *user,
                          npmd_error *err);

/* ---- projection.c: the sphere on paper ----------------------------------------------------------------- */

/* Mollweide: all of the sphere on an ellipse of half-axes 2 and 1, areas in proportion (4 pi on 2 pi); the meridian
 * `longitude` (radians) is in the middle, north is up. Forward gives x right and y up. */
spot mollweide_forward(const double p[3], double longitude);
bool mollweide_inverse(double x, double y, double longitude, double p[3]); /* false: outside */
/* Orthographic: the half of the sphere that faces the direction `towards` on the unit disc, north up. false: behind, or
 * outside. */
bool orthographic_forward(const double p[3], const double towards[3], spot *out);
bool orthographic_inverse(double x, double y, const double towards[3], double p[3]);

#endif
