/* figures.h - what can be drawn: a table of figure kinds, and what they share.
 *
 * A figure shows sources: the truth, if there is one, and the models, in this order; or lines that fits and experiments
 * have logged. A density is shown on sheets: its values at the nodes of a quadrature rule of a circle, a torus T2 or a
 * sphere, so that what is drawn can be integrated, and is. */
#ifndef NPMD_FIGURES_H
#define NPMD_FIGURES_H

#include "neuropmd-draw.h"

#include "draw.h"
#include "json.h"
#include "look.h"

#define POINTS_PER_MM (72.0 / 25.4)
#define COLUMN_MM 85.0 /* width of a column of text, and of a page */
#define PAGE_MM 180.0

typedef struct source { /* of a density */
    const npmd_model *model;
    const npmd_truth *truth; /* one of the two */
    char name[96];
} source;

typedef struct log_lines { /* JSON lines of a file: objects with a "step", or results of reproduce */
    const char *path;
    json_t *rows;    /* an array of objects */
    bool experiment; /* they have an "experiment" */
    char name[96];   /* of the file, without folder and suffix */
} log_lines;

typedef struct figure {
    const npmd_plot_request *ask;
    const char *path;
    const npmd_compute *how;   /* NULL: all cores, and nobody is told */
    const domain_look *domain; /* of all sources; NULL: there are none */
    source *from;
    int sources;
    log_lines *log;
    int logs;
    canvas *page;
    npmd_plot_facts facts;
    double done, expected; /* points evaluated, and about how many there will be */
    double told;           /* the share last reported, which does not fall */
} figure;

typedef enum kind_uses { /* bits: what of a request a kind looks at; the rest is refused */
                         USES_FACTORS = 1,
                         USES_GIVEN = 2,
                         USES_RANGE = 4,   /* one */
                         USES_RANGES = 12, /* a row of maps for each */
                         USES_LEVELS = 16,
                         USES_WHAT = 32,
                         USES_LOG = 64,
                         USES_GRID = 128,
                         USES_DATA = 256
} kind_uses;
#define RANGES_MOST 8 /* of one figure */

typedef struct figure_kind {
    const char *name;
    const char *help;               /* half a line */
    bool (*fits)(const figure *f);  /* is it what these inputs look like? The first that fits is drawn. */
    const char *wants;              /* what it needs, for a message: "models on T2" */
    bool (*takes)(const figure *f); /* can it be drawn, if asked for by name? */
    unsigned uses;                  /* kind_uses */
    npmd_status (*draw)(figure *f, npmd_error *err); /* opens the page; the caller writes it */
} figure_kind;
extern const figure_kind KIND_CIRCLE, KIND_TORUS, KIND_CORNER, KIND_SPHERE, KIND_FACTORS, KIND_CHOICE, KIND_TRAINING,
    KIND_SNR, KIND_PROFILES, KIND_LEARNING, KIND_SPECTRA, KIND_TAU;

/* ---- figure.c ------------------------------------------------------------------------------------------ */

/* A page of this size in points; the width asked for is a matter of the kind: figure_width. */
npmd_status figure_page(figure *f, double width, double height, npmd_error *err);
double figure_width(const figure *f, double usual_mm); /* in points */
/* Panels, so many side by side, that a page of this width leaves less than `least` points each are refused with the
 * width that they need. */
npmd_status figure_room(const figure *f, double width, int panels, double each, double least, npmd_error *err);
double figure_top(const figure *f);                                       /* room that a title over the whole takes */
const char *figure_quantity(const figure *f, int dimension, bool sphere); /* "density per rad^2" and so on */
/* The range of values that colours or heights span, from the sheets' least and most or as asked for; row: which of the
 * ranges asked for. */
shade figure_shade(const figure *f, const char *name, double least, double most, int row);
int figure_rows(const figure *f); /* one for each range asked for, at least 1 */
/* Which rows of the data are drawn: at most that many, spread evenly by a fixed shuffle. */
size_t figure_data(figure *f, size_t most);
size_t figure_datum(const figure *f, size_t k);
/* The data as dots: where a row stands, false: it is not seen. Their number and size suit an area of that side. */
typedef bool (*dot_place)(const double *row, void *user, spot *out);
void figure_dots(figure *f, double side, dot_place where, void *user);
void figure_note(figure *f, double x, double y, double width, const char *text); /* small, below */
axis figure_angle_axis(const figure *f, const char *name);                       /* 0 to 2 pi, or to 360 degrees */
void factor_name(const domain_look *dom, int factor, char text[16]);             /* "x" with its number, lowered */

/* ---- lines.c ------------------------------------------------------------------------------------------- */

npmd_status lines_read(const char *path, log_lines *out, npmd_error *err);
void lines_free(log_lines *l);

/* ---- marginals.c: densities at nodes --------------------------------------------------------------------- */

/* Nodes of some factors: of factor d x[d] (n[d], columns of it). What is computed is at all their combinations, the
 * last factor's nodes side by side. */
typedef struct figure_nodes {
    const double *x[NPMD_MAX_FACTORS];
    size_t n[NPMD_MAX_FACTORS];
} figure_nodes;
/* log f, or the spread of log f over members, with nodes of all factors. */
npmd_status source_values(figure *f, const source *s, bool spread, const figure_nodes *at, double *out,
                          npmd_error *err);
/* A density may be zero at a node, whose log, -inf, has no cubic through it: it becomes the least of the others. */
npmd_status zeros_raise(const source *s, double *value, size_t n, npmd_error *err);

/* Some factors are shown, some are fixed, over the others it is integrated:
 *     log g(a) = log integral of f(a, fixed, r) dr */
typedef struct view {
    unsigned shown, given; /* bits of factors */
    const double *fixed;   /* a whole row of the domain, of which the given factors count */
} view;
/* With nodes of the factors shown. */
npmd_status view_values(figure *f, const source *s, const view *v, const figure_nodes *shown, double *out,
                        npmd_error *err);

/* ---- sheet.c: a function on a circle, a torus or a sphere ------------------------------------------------- */

typedef enum sheet_shape { SHEET_CIRCLE, SHEET_TORUS, SHEET_SPHERE } sheet_shape;
typedef struct sheet {
    sheet_shape shape;
    int columns, rows; /* circle (N, 1): 2 pi i / N. torus (N, N): 2 pi i / N, 2 pi j / N. sphere (2N, N): longitude
                           2 pi (i + 1/2) / 2N, sine of latitude the j-th node of Legendre's rule */
    double *
        x; /* the nodes: of a circle (columns), of a sphere (columns * rows, 3), of a torus (columns) of either angle */
    double *weight; /* (columns * rows), sum 1 */
    double *value;  /* (columns * rows), value[i * rows + j]: log density, or another function */
    double volume;  /* 2 pi, 4 pi^2, 4 pi */
    double unit;    /* what is shown of a density is unit x exp(value); 0: value itself */
} sheet;
npmd_status sheet_open(sheet_shape shape, int N, sheet *out, npmd_error *err);
void sheet_free(sheet *s);
double sheet_mass(const sheet *s);                             /* of exp(value): 1 is right for a density */
void sheet_normalise(sheet *s);                                /* makes it so */
void sheet_range(const sheet *s, double *least, double *most); /* of what is shown */
/* What is shown at a point of the shape: between nodes a cubic in the value. */
double sheet_at(const sheet *s, const double *x);
/* The density shown on the edge of the smallest region that holds this share (0 to 1) of the probability. */
npmd_status sheet_content_level(const sheet *s, double share, double *level, npmd_error *err);

/* ---- map_torus.c, map_globe.c: sheets in boxes
 * -------------------------------------------------------------------------------- */

typedef struct map_lines { /* contours: levels of what is shown */
    double level[8];
    int count;
} map_lines;
npmd_status map_levels(const figure *f, const sheet *s, map_lines *out, npmd_error *err);
npmd_status map_torus(figure *f, box at, const sheet *s, const shade *h, const map_lines *lines, npmd_error *err);
/* Data: columns a and b of the points, angles. */
void map_torus_data(figure *f, box at, int column_x, int column_y);

typedef struct globe { /* how the sphere is seen */
    bool whole;        /* Mollweide, else orthographic */
    double longitude;  /* in the middle, radians */
    double towards[3]; /* the point in the middle of an orthographic view */
} globe;
npmd_status map_globe(figure *f, box at, const sheet *s, const shade *h, const globe *g, const map_lines *lines,
                      npmd_error *err);
void map_globe_data(figure *f, box at, const globe *g, int column);        /* unit vectors from this column on */
void map_globe_mark(figure *f, box at, const globe *g, const double p[3]); /* a cross at one point */
void globe_words(const globe *g, char text[48]);                           /* "60 N, 100 W" */

/* A line, and some of them. */
typedef struct curve {
    double *x, *y; /* (count), NaN: a gap */
    size_t count;
    stroke line;
    double disc; /* radius of a mark at every point; 0: none */
    char name[96];
} curve;
typedef struct curve_set {
    curve *curve;
    int count;
    size_t capacity;
} curve_set;
/* ---- panels.c: one sheet a source ------------------------------------------------------------------------------ */

/* Fills a sheet for every source with what is asked for, of the factors shown; a conditional density is normalised, of
 * others the facts have the largest error of the mass. sheets (sources) is the caller's to free, also on failure. */
npmd_status panel_sheets(figure *f, sheet_shape shape, int N, const view *v, sheet *sheets, npmd_error *err);
void panel_range(const sheet *sheets, int count, double *least, double *most);
/* "50, 90 and 99 % of the probability lie within the lines", or "" where there are none. */
void panel_lines_words(const figure *f, char text[160]);
/* The curve of a density on a circle, in the axes' units. */
npmd_status panel_curve(const figure *f, const sheet *s, const char *name, curve_set *set, npmd_error *err);
/* A histogram of one column of the data behind a curve, as a density, and its largest height. */
#define HISTOGRAM_BARS 48
double panel_histogram(const figure *f, int column, double height[HISTOGRAM_BARS]);
void panel_histogram_draw(figure *f, box at, const axis *y, const double height[HISTOGRAM_BARS]);
/* What a value means beside that of a density per radian: 1, 2 pi, or pi/180 where circles are in degrees. */
double panel_circle_unit(const figure *f);

/* ---- curves.c: lines in axes ---------------------------------------------------------------------------------- */

npmd_status curve_add(curve_set *set, size_t points, const char *name, curve **out, npmd_error *err);
void curves_free(curve_set *set);
/* Axes that fit all curves; logs drop what is not positive. false: nothing can be drawn. */
bool curves_fit(const curve_set *set, axis *x, axis *y);
void curves_draw(canvas *c, box at, const curve_set *set, const axis *x, const axis *y);
/* At this corner, unless another covers less of the curves. */
void curves_legend(canvas *c, box at, int corner, const curve_set *set, const axis *x, const axis *y);

/* ---- charts.c: figures of curves ------------------------------------------------------------------------------ */

typedef struct chart { /* one panel */
    const char *title;
    axis x, y;  /* kinds and names; the ends come from the curves, those of y as asked for */
    int legend; /* its corner; negative: none */
    curve_set curves;
    curve_set marks; /* short strokes on the x axis, one a point of each, in the curve's colour */
} chart;
/* The charts that hold anything, in a grid; frees their curves in any case. */
npmd_status charts_draw(figure *f, chart *list, int count, int columns, const char *nothing, npmd_error *err);
double json_number_at(const json_t *object, const char *key);         /* NaN: it is not there */
double json_number_in(const json_t *list, size_t row, size_t column); /* of a list of lists */
const char *json_text_at(const json_t *object, const char *key);      /* "": it is not there */
bool figure_experiment(const figure *f, const char *name);            /* are all logs results of this one? */

#endif
