/* draw.h - pictures: a canvas with two writers (.png and .svg), colour maps, and the furniture of figures.
 *
 * All sizes are in points (1/72 inch); x runs right and y down from the top left corner of the page. Drawing functions
 * return nothing: the canvas remembers the first failure, and canvas_write reports it. Equal calls give equal bytes. */
#ifndef NPMD_DRAW_H
#define NPMD_DRAW_H

#include "core.h"

typedef struct colour {
    unsigned char red, green, blue; /* sRGB */
} colour;
typedef struct spot { /* a place on the page */
    double x, y;
} spot;
typedef struct box { /* left and top edge, width and height */
    double x, y, width, height;
} box;
typedef struct stroke { /* a line, with round ends and corners */
    double width;
    colour ink;
    double clear;     /* transparency: 0 opaque, 1 invisible */
    double dash, gap; /* lengths; dash 0: unbroken */
} stroke;
typedef struct lettering {
    double size; /* of the font; a capital letter has TEXT_CAPITAL times this height */
    colour ink;
    bool bold;
} lettering;
#define TEXT_CAPITAL 0.716
/* Which part of the text lies at the given place. */
typedef enum text_place { TEXT_LEFT, TEXT_CENTRE, TEXT_RIGHT } text_place;

/* ---- canvas.c; see raster.h for its two writers ------------------------------------------------------------------ */

typedef struct canvas canvas;
#define CANVAS_DPI 300.0 /* default dots per inch of a .png, and of images in an .svg */

/* A white page for a .png or .svg, by the suffix of the path. The canvas borrows the path. */
npmd_status canvas_open(const char *path, double width, double height, double dpi, canvas **out, npmd_error *err);
npmd_status canvas_write(canvas *c, npmd_error *err); /* the first failure, or the file */
void canvas_free(canvas *c);                          /* accepts NULL */
double canvas_width(const canvas *c);
double canvas_height(const canvas *c);
/* Pixels of an image along this length, at least 1. */
int canvas_pixels(const canvas *c, double length);

void canvas_line(canvas *c, double x0, double y0, double x1, double y1, const stroke *how);
void canvas_polyline(canvas *c, const spot *p, size_t count, bool closed, const stroke *how);
void canvas_polygon(canvas *c, const spot *p, size_t count, colour ink, double clear); /* filled, even-odd */
void canvas_box(canvas *c, box at, colour ink, double clear);                          /* filled */
void canvas_frame(canvas *c, box at, const stroke *how);                               /* its edge */
/* Filled discs of one radius, each over those before it. */
void canvas_discs(canvas *c, const spot *p, size_t count, double radius, colour ink, double clear);
/* Text in UTF-8 with its baseline at (x, y), turned counterclockwise by `turned` degrees (90: upwards). A .png has
 * ASCII, the Greek letters and signs of letters.c, and raised and lowered digits; any other character becomes a
 * question mark there. A byte that is not UTF-8 becomes U+FFFD. */
void canvas_text(canvas *c, double x, double y, text_place place, double turned, const lettering *how,
                 const char *text);
/* As much of a text as fits into `size` bytes, cut between two characters. */
void text_copy(char *out, size_t size, const char *text);
/* The width of text in a .png. The font of an .svg is the viewer's, and may be a little narrower or wider. */
double canvas_text_width(const lettering *how, const char *text);
/* rgba (height, width, 4), not premultiplied, first row at the top, stretched to the box. */
void canvas_image(canvas *c, box at, const unsigned char *rgba, int width, int height);
/* Restricts what follows to the box, until canvas_unclip. Clips do not nest. */
void canvas_clip(canvas *c, box at);
void canvas_unclip(canvas *c);

/* ---- colour.c ---------------------------------------------------------------------------------------------------- */

typedef enum colour_map {
    MAP_RISING,  /* dark violet to yellow: lightness rises with the value */
    MAP_FALLING, /* white to dark blue: lightness falls, and 0 has the paper's colour */
    MAP_BALANCED /* blue, white at 1/2, red: lightness falls equally to both sides */
} colour_map;
/* The colour of t, cut to [0, 1]. Equal steps of t look equally large, also in grey. */
colour map_colour(colour_map which, double t);
/* The k-th colour for lines, k = 0, 1, ...; these differ in lightness too, and repeat after LINE_COLOURS. */
#define LINE_COLOURS 8
colour line_colour(int k);
double colour_lightness(colour c); /* OKLab lightness, 0 black to 1 white */
/* A byte of sRGB as linear light, 0 to 1, and back. */
double srgb_decode(unsigned char byte);
unsigned char srgb_encode(double linear);

/* ---- axis.c: numbers along a line -------------------------------------------------------------------------------- */

typedef enum axis_kind {
    AXIS_LINEAR,
    AXIS_LOG,    /* both ends positive; ticks at powers of ten */
    AXIS_PI,     /* radians: ticks at simple multiples of pi */
    AXIS_DEGREES /* whole degrees: ticks at divisors of 360 */
} axis_kind;
typedef struct axis {
    axis_kind kind;
    double from, to;  /* from is at the left or at the bottom; from < to */
    const char *name; /* with its unit; NULL: none */
} axis;
#define AXIS_TICKS 64
#define AXIS_LABEL 32
typedef struct axis_tick {
    double value;
    char label[AXIS_LABEL]; /* "": a small tick without a label */
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
/* A number as text: 3 digits, with a power of ten where that is shorter. */
void number_words(double value, char text[AXIS_LABEL]);

/* ---- furniture.c: axes, colour bars, legends --------------------------------------------------------------------- */

/* Letters and lines of all figures: legible when a picture 85 mm wide is printed at its size. */
extern const lettering LETTER_TITLE, LETTER_NAME, LETTER_LABEL, LETTER_SMALL;
extern const stroke STROKE_AXIS, STROKE_GRID;
extern const colour INK, PAPER;

/* Bits. The last label (END) is left out where the first one of the next panel would touch it. */
typedef enum axes_parts {
    AXES_NO_X_LABELS = 1,
    AXES_NO_Y_LABELS = 2,
    AXES_NO_X_NAME = 4,
    AXES_NO_Y_NAME = 8,
    AXES_NO_X_END = 64,
    AXES_NO_Y_END = 128,
    AXES_GRID = 16, /* adds pale lines at the ticks */
    /* labels and name of y at the right edge, for a second axis; no frame, no x */
    AXES_RIGHT = 32
} axes_parts;
typedef struct margins { /* room around a box */
    double left, right, top, bottom;
} margins;
margins axes_margins(box at, const axis *x, const axis *y, unsigned parts);
/* The frame of a box with ticks, labels and names; the box is what the axes span. */
void axes_draw(canvas *c, box at, const axis *x, const axis *y, unsigned parts);
spot axes_spot(box at, const axis *x, const axis *y, double x_value, double y_value);

typedef struct shade { /* a map from numbers to colours */
    colour_map map;
    axis scale;        /* its name is the quantity with its measure: "density per rad\xC2\xB2" */
    bool below, above; /* some values lie beyond that end, where the bar ends in a tip */
} shade;
colour shade_colour(const shade *s, double value);
double bar_room(box at, const shade *s); /* room that labels and name take across the bar, besides the bar itself */
/* An upright bar with labels at its right or, if the box is wider than high, a lying one with labels below. */
void bar_draw(canvas *c, box at, const shade *s);

typedef struct legend_row {
    const char *label;
    stroke line; /* width 0: none */
    double disc; /* radius of a mark in its colour; 0: none */
} legend_row;
/* At the corner of a box: 0 top left, 1 top right, 2 bottom left, 3 bottom right, halfway up 4 left, 5 right. On a
 * nearly opaque white ground. */
void legend_draw(canvas *c, box at, int corner, const legend_row *row, int rows);
box legend_size(const legend_row *row, int rows);
/* A title above a box, made smaller until it fits. */
void title_draw(canvas *c, box over, const char *text);
/* Text that must fit into a width: made smaller, down to 2/3, then cut with an ellipsis. */
void text_fit(canvas *c, double x, double y, text_place place, double turned, const lettering *how, double width,
              const char *text);

/* Panels of one size in rows; panel_box gives the k-th. */
typedef struct panel_grid {
    double x, y, width, height; /* of the first panel */
    double between_x, between_y;
    int columns;
} panel_grid;
box panel_box(const panel_grid *g, int k);

/* ---- contour.c --------------------------------------------------------------------------------------------------- */

/* The lines f = level of a function known at (columns, rows) nodes, f[i * rows + j] at x = i, y = j, linear along the
 * edges between them. Calls line once for each connected line, in the coordinates of the nodes. */
typedef void (*contour_line)(const spot *p, size_t count, bool closed, void *user);
npmd_status contour_trace(const double *f, int columns, int rows, double level, contour_line line, void *user,
                          npmd_error *err);

/* ---- projection.c: the sphere on paper --------------------------------------------------------------------------- */

/* Mollweide: the whole sphere on an ellipse of half-axes 2 and 1, areas in proportion (4 pi to 2 pi); the meridian
 * `longitude` (radians) is in the middle, north is up. Forward gives x right and y up. */
spot mollweide_forward(const double p[3], double longitude);
bool mollweide_inverse(double x, double y, double longitude, double p[3]); /* false: outside */
/* Orthographic: the half of the sphere that faces the direction `towards` on the unit disc, north up. false: behind, or
 * outside. */
bool orthographic_forward(const double p[3], const double towards[3], spot *out);
bool orthographic_inverse(double x, double y, const double towards[3], double p[3]);

#endif
