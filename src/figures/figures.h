/* figures.h - what can be drawn: a table of figure kinds, and what they share.
 *
 * A figure shows sources: the truth, if there is one, then the models; or the logs of fits and experiments. A density
 * is shown on sheets: its values at the nodes of a quadrature rule of a circle, a torus T2 or a sphere, so that its
 * mass is checked. */
#ifndef NPMD_FIGURES_H
#define NPMD_FIGURES_H

#include "neuropmd-draw.h"

#include "draw.h"
#include "json.h"
#include "look.h"

#define POINTS_PER_MM (72.0 / 25.4)
#define COLUMN_MM 85.0 /* width of a column of text */
#define PAGE_MM 180.0  /* width of a page */

typedef struct source { /* a density: a model or a truth */
    const npmd_model *model;
    const npmd_truth *truth; /* NULL if there is a model */
    char name[96];
} source;

typedef struct log_lines { /* JSON lines of a file: objects with a "step", or results of reproduce */
    const char *path;
    json_t *rows;    /* an array of objects */
    bool experiment; /* the rows have an "experiment" */
    char name[96];   /* name of the file, without folder and suffix */
} log_lines;

typedef struct figure {
    const npmd_plot_request *ask;
    const char *path;
    const npmd_compute *how;   /* NULL: all cores, no progress reports */
    const domain_look *domain; /* domain of all sources; NULL: there are none */
    source *from;
    int sources;
    log_lines *log;
    int logs;
    canvas *page;
    npmd_plot_facts facts;
    double done, expected; /* points evaluated so far, and about how many in all */
    double told;           /* largest share reported so far */
} figure;

/* Bits: the parts of a request that a kind reads; any other part is refused. */
typedef enum kind_uses {
    USES_FACTORS = 1,
    USES_GIVEN = 2,
    USES_RANGE = 4,   /* one range */
    USES_RANGES = 12, /* several ranges, one row of maps for each */
    USES_LEVELS = 16,
    USES_WHAT = 32,
    USES_LOG = 64,
    USES_GRID = 128,
    USES_DATA = 256
} kind_uses;
#define RANGES_MOST 8 /* ranges of one figure */

typedef struct figure_kind {
    const char *name;
    const char *help; /* half a line */
    /* do these inputs suit it? Unless one is named, the first kind that fits is drawn; NULL: only by its name */
    bool (*fits)(const figure *f);
    const char *wants;                               /* its requirement, for a message: "models on T2" */
    bool (*takes)(const figure *f);                  /* can it be drawn from these inputs, if asked for by name? */
    unsigned uses;                                   /* kind_uses */
    npmd_status (*draw)(figure *f, npmd_error *err); /* opens the page; the caller writes it */
} figure_kind;
extern const figure_kind KIND_CIRCLE, KIND_TORUS, KIND_CORNER, KIND_SPHERE, KIND_FACTORS, KIND_CHOICE, KIND_TRAINING,
    KIND_SNR, KIND_PROFILES, KIND_LEARNING, KIND_SPECTRA, KIND_TAU;

/* ---- figure.c ---------------------------------------------------------------------------------------------------- */

/* Opens a page of this size in points; figure_width gives the width. */
npmd_status figure_page(figure *f, double width, double height, npmd_error *err);
double figure_width(const figure *f, double usual_mm); /* the width asked for, else the usual one; in points */
/* Refuses a page of this width if it leaves each of `panels` panels, side by side, less than `least` points; the
 * message has the width that they need. */
npmd_status figure_room(const figure *f, double width, int panels, double each, double least, npmd_error *err);
double figure_top(const figure *f);                                       /* room for a title above the whole figure */
const char *figure_quantity(const figure *f, int dimension, bool sphere); /* "density per rad^2" and so on */
void figure_shows(figure *f, int panels, const axis *scale);              /* for the facts: panels, and their scale */
/* The point of the given factors, each at its place in a point of the domain; the others' columns stay. */
void figure_given(const figure *f, double *fixed);
/* The range of values that colours or heights span: from least to most, or the range asked for of this row. */
shade figure_shade(const figure *f, const char *name, double least, double most, int row);
int figure_rows(const figure *f); /* one for each range asked for, at least 1 */
/* Chooses at most this many rows of the data by a fixed shuffle; returns their number. figure_datum: the k-th. */
size_t figure_data(figure *f, size_t most);
size_t figure_datum(const figure *f, size_t k);
/* Draws the data as dots; where gives a row's place, or false if it is hidden. Number and size suit a square of that
 * side. */
typedef bool (*dot_place)(const double *row, void *user, spot *out);
void figure_dots(figure *f, double side, dot_place where, void *user);
void figure_note(figure *f, double x, double y, double width, const char *text); /* a small text below the figure */
axis figure_angle_axis(const figure *f, const char *name);                       /* from 0 to 2 pi, or to 360 degrees */
/* "x" with its number as a subscript */
void factor_name(const domain_look *dom, int factor, char text[16]);

/* ---- lines.c ----------------------------------------------------------------------------------------------------- */

npmd_status lines_read(const char *path, log_lines *out, npmd_error *err);
void lines_free(log_lines *l);

/* ---- marginals.c: densities at nodes ----------------------------------------------------------------------------- */

/* Nodes of some factors: x[d] (n[d], columns of factor d). Values are computed at all their combinations; the last
 * factor runs fastest. */
typedef struct figure_nodes {
    const double *x[NPMD_MAX_FACTORS];
    size_t n[NPMD_MAX_FACTORS];
} figure_nodes;
/* log f, or the spread of log f over members, at nodes of all factors. */
npmd_status source_values(figure *f, const source *s, bool spread, const figure_nodes *at, double *out,
                          npmd_error *err);
/* The gate of all that is drawn of a density. What is NaN or larger than any density is refused, and log densities of
 * -infinity, or far below all others, which no cubic passes through, become the least that one does. */
#define LOG_MOST 300.0  /* a density of exp(300), or its square times a volume, is still a number */
#define LOG_DEEPEST 1e6 /* below the largest: beyond all that is seen, and a cubic keeps its digits */
npmd_status zeros_raise(const source *s, double *value, size_t n, npmd_error *err);

/* Some factors are shown, some are fixed, and the others are integrated out:
 *     log g(a) = log integral of f(a, fixed, r) dr */
typedef struct view {
    unsigned shown, given; /* bits of factors */
    const double *fixed;   /* a point of the domain, of which only the given factors are read */
} view;
/* log g at nodes of the factors shown. */
npmd_status view_values(figure *f, const source *s, const view *v, const figure_nodes *shown, double *out,
                        npmd_error *err);

/* ---- sheet.c: a function on a circle, a torus or a sphere -------------------------------------------------------- */

typedef enum sheet_shape { SHEET_CIRCLE, SHEET_TORUS, SHEET_SPHERE } sheet_shape;
typedef struct sheet {
    sheet_shape shape;
    /* circle (N, 1): 2 pi i / N; torus (N, N): 2 pi i / N, 2 pi j / N; sphere (2N, N): longitude 2 pi (i + 1/2) / 2N,
     * sine of the latitude the j-th Gauss-Legendre node */
    int columns, rows;
    double *x;      /* nodes: circle (columns); torus (columns), the same for both angles; sphere (columns * rows, 3) */
    double *weight; /* (columns * rows), sum 1 */
    double *value;  /* (columns * rows), value[i * rows + j]: log density, or another function */
    double volume;  /* 2 pi, 4 pi^2, 4 pi */
    double unit;    /* unit x exp(value) is shown; 0: value itself */
} sheet;
npmd_status sheet_open(sheet_shape shape, int N, sheet *out, npmd_error *err);
void sheet_free(sheet *s);
double sheet_mass(const sheet *s);                             /* mass of exp(value); 1 for a density */
void sheet_normalise(sheet *s);                                /* makes the mass 1 */
void sheet_range(const sheet *s, double *least, double *most); /* range of what is shown */
/* What is shown at a point of the shape; the value is a cubic between nodes. */
double sheet_at(const sheet *s, const double *x);
/* The density on the boundary of the smallest region that has this share (0 to 1) of the probability. */
npmd_status sheet_content_level(const sheet *s, double share, double *level, npmd_error *err);

/* ---- map_torus.c, map_globe.c: sheets in boxes ------------------------------------------------------------------- */

typedef struct map_lines { /* contours: levels of what is shown */
    double level[8];
    int count;
} map_lines;
/* The shares of probability, in percent, that lines enclose: how many; -1: none, the data are in their place. */
int figure_levels(const figure *f, const double **level);
npmd_status map_levels(const figure *f, const sheet *s, map_lines *out, npmd_error *err);
npmd_status map_torus(figure *f, box at, const sheet *s, const shade *h, const map_lines *lines, npmd_error *err);
/* The data: two columns of angles. */
void map_torus_data(figure *f, box at, int column_x, int column_y);

typedef struct globe { /* how the sphere is seen */
    bool whole;        /* Mollweide, else orthographic */
    double longitude;  /* longitude of the middle, radians */
    double towards[3]; /* middle of an orthographic view */
} globe;
npmd_status map_globe(figure *f, box at, const sheet *s, const shade *h, const globe *g, const map_lines *lines,
                      npmd_error *err);
void map_globe_data(figure *f, box at, const globe *g, int column);        /* unit vectors from this column on */
void map_globe_mark(figure *f, box at, const globe *g, const double p[3]); /* a cross at one point */
void globe_words(const globe *g, char text[48]);                           /* "60 N, 100 W" */

/* A curve, and a set of curves. */
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

/* ---- panels.c: one sheet for each source ------------------------------------------------------------------------- */

/* Fills one sheet for each source, on the factors shown. Conditional densities are normalised; for others the facts
 * record the largest error of the mass. The caller frees *out (sources), also on failure. */
npmd_status panel_sheets(figure *f, sheet_shape shape, int N, const view *v, sheet **out, npmd_error *err);
void panel_sheets_free(const figure *f, sheet *sheets); /* accepts NULL */
void panel_range(const sheet *sheets, int count, double *least, double *most);
/* "50, 90 and 99 % of the probability lie within the lines", or "" where there are none. */
void panel_lines_words(const figure *f, char text[160]);
/* The curve of a density on a circle, in the axes' units. */
npmd_status panel_curve(const figure *f, const sheet *s, const char *name, curve_set *set, npmd_error *err);
/* A histogram of one column of the data, as a density; returns its largest height. */
#define HISTOGRAM_BARS 48
double panel_histogram(const figure *f, int column, double height[HISTOGRAM_BARS]);
void panel_histogram_draw(figure *f, box at, const axis *y, const double height[HISTOGRAM_BARS]);
/* The factor from a density per radian to what is shown: 1, 2 pi, or pi/180 where circles are in degrees. */
double panel_circle_unit(const figure *f);

/* ---- curves.c: lines in axes ------------------------------------------------------------------------------------- */

npmd_status curve_add(curve_set *set, size_t points, const char *name, curve **out, npmd_error *err);
void curves_free(curve_set *set);
/* Axes that fit all curves; log axes leave out values that are not positive. false: nothing can be drawn. */
bool curves_fit(const curve_set *set, axis *x, axis *y);
void curves_draw(canvas *c, box at, const curve_set *set, const axis *x, const axis *y);
/* A legend at this corner, unless at another it covers less of the curves. */
void curves_legend(canvas *c, box at, int corner, const curve_set *set, const axis *x, const axis *y);

/* ---- charts.c: figures of curves --------------------------------------------------------------------------------- */

typedef struct chart { /* one panel */
    const char *title;
    axis x, y;  /* kinds and names; the ends come from the curves, those of y from the request if given */
    int legend; /* its corner; negative: none */
    curve_set curves;
    curve_set marks; /* short strokes on the x axis, one for each point, in the curve's colour */
} chart;
/* Draws the charts that have curves, in a grid, and puts them first in the list. nothing: the message if none has. */
npmd_status charts_draw(figure *f, chart *list, int count, int columns, const char *nothing, npmd_error *err);
void charts_free(chart *list, int count);                             /* their curves */
double json_number_at(const json_t *object, const char *key);         /* NaN: absent */
double json_number_in(const json_t *list, size_t row, size_t column); /* from a list of lists */
const char *json_text_at(const json_t *object, const char *key);      /* "": absent */
bool figure_experiment(const figure *f, const char *name);            /* are all logs results of this experiment? */
bool figure_of_fits(const figure *f);                                 /* are all logs those of fits? */
void figure_method(const json_t *row, char name[96]);                 /* method and settings of a row of results */

#endif
