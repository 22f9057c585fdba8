/* view.h - the interactive page: values at nodes of one or two factors, compressed, inside one HTML file.
 *
 * A factor is known at its nodes: equidistant angles of a circle, the points of a geodesic grid on the sphere, vertices
 * of a surface. The page gets log f at every node, or at every pair of nodes of two factors; all that it shows (both
 * marginal densities, every conditional density) are sums and quotients of these. The page itself, with three.js, is
 * built from the folder view/. */
#ifndef NPMD_VIEW_H
#define NPMD_VIEW_H

#include "neuropmd-draw.h"

#include "draw.h"
#include "json.h"
#include "look.h"

/* ---- geodesic.c: a grid on the sphere ---------------------------------------------------------------------------- */

#define GEODESIC_MOST 64
size_t geodesic_nodes(int resolution); /* 10 resolution^2 + 2 */
/* x (nodes, 3): unit vectors; weight (nodes): a third of the area of the spherical triangles about a node; the sum is 4
 * pi. */
void geodesic_grid(int resolution, double *x, double *weight);
/* The node at place (i, j) of the lattice on one of the 20 faces; i, j >= 0, i + j <= resolution. */
size_t geodesic_node(int resolution, int face, int i, int j);

/* ---- thin.c: some vertices that represent all -------------------------------------------------------------------- */

/* Chooses count < vertices vertices, each farthest along the edges from those before it, and orders them so that
 * neighbours are near. weight (count): the area of the vertices nearest to each. */
npmd_status thin_vertices(const mesh *m, size_t count, const npmd_compute *how, int32_t *vertex, double *weight,
                          npmd_error *err);

/* ---- nodes.c: a factor of the page ------------------------------------------------------------------------------- */

typedef struct view_factor {
    const factor_look *on;
    int factor; /* number of the factor in the domain, from 0 */
    mesh own;   /* mesh of a surface */
    size_t n;
    double *x;       /* (n, columns) */
    double *weight;  /* (n), their sum is the volume */
    int resolution;  /* of a sphere's grid */
    int32_t *vertex; /* (n): vertices of a thinned mesh; NULL: all, in order */
} view_factor;
/* At most this many nodes, but no fewer than a coarse picture needs. */
npmd_status view_factor_open(view_factor *f, const domain_look *dom, int factor, size_t most, const npmd_compute *how,
                             npmd_error *err);
void view_factor_close(view_factor *f);

/* ---- view_values.c: the density at nodes and at pairs of them ---------------------------------------------------- */

typedef struct view_values {
    const npmd_model *model;
    const npmd_view_request *what;
    domain_look domain;
    int factors;
    view_factor factor[2];
    /* the surface on which a factor S2 is drawn, and its sphere; without vertices: a globe */
    mesh surface[2], sphere[2];
    view_factor hidden;      /* the factor that is summed over, where one of two is shown; else without nodes */
    double step;             /* step of log f on the page */
    unsigned shown;          /* the factors shown, as bits */
    double *log_f;           /* (nodes of the first, nodes of the second or 1), per volume of the factors shown */
    double *log_marginal[2]; /* (nodes): sums over the other factor's nodes; NULL: there is one factor */
    double mass;             /* the integral by the nodes; ideally 1 */
    double sum_error;        /* largest relative difference of a marginal density from the library's integral */
    size_t compared;         /* number of nodes compared */
} view_values;
#define VIEW_NODES_MOST 1000000
/* Makes the nodes, without values, so that an invalid request fails at once. */
npmd_status view_values_open(view_values *v, const npmd_model *m, const npmd_view_request *what, npmd_error *err);
size_t view_values_count(const view_values *v); /* of log_f */
npmd_status view_values_compute(view_values *v, npmd_error *err);
void view_values_close(view_values *v);

/* ---- pack.c: numbers as few bytes -------------------------------------------------------------------------------- */

/* log f is kept to half a step: a density of a pair to 0.2 percent; of one factor, where a curve shows more, to
 * 0.05. */
#define VIEW_STEP_PAIR 0.004
#define VIEW_STEP_ONE 0.001
#define VIEW_LEVELS 65535
/* level (n) = round((top - log f) / step), at most VIEW_LEVELS, which counts as 0: at least exp(65) below the top. */
void pack_levels(const double *log_f, size_t n, double top, double step, uint16_t *level);
/* pack_predict, in place: each level less its prediction from the neighbours in row and column. pack_planes: levels as
 * bytes (2 n), the low bytes first. */
void pack_predict(uint16_t *level, size_t rows, size_t columns);
void pack_planes(const uint16_t *level, size_t n, unsigned char *bytes);
/* A number in [low, high] as one of 65,536 levels. */
uint16_t pack_share(double x, double low, double high);

/* ---- page.c: the file -------------------------------------------------------------------------------------------- */

typedef struct view_page {
    file_writer *file;
    file_bytes text; /* the page as it was built */
    size_t tail;     /* offset where the text continues after the data */
    size_t bytes;    /* written */
} view_page;
#define VIEW_PAGE_MOST 8000000
npmd_status page_open(view_page *p, const char *path, npmd_error *err);
npmd_status page_json(view_page *p, const char *name, const json_t *value, npmd_error *err);
/* Writes the bytes deflated, in base64. */
npmd_status page_blob(view_page *p, const char *name, const unsigned char *bytes, size_t size, npmd_error *err);
npmd_status page_commit(view_page *p, npmd_error *err);
void page_close(view_page *p);

/* Made by the build: the page, as a gzip file; empty in a build without three.js. */
extern const unsigned char VIEW_BUNDLE[];
extern const size_t VIEW_BUNDLE_SIZE;

/* ---- contents.c: the data of the page ---------------------------------------------------------------------------- */

/* Writes surfaces and data, which are known before the values; then the values, and a description of all. */
npmd_status contents_write_shapes(const view_values *v, view_page *p, const npmd_view_facts *facts, npmd_error *err);
npmd_status contents_write_values(const view_values *v, view_page *p, const npmd_view_facts *facts, npmd_error *err);

#endif
