/* view.h - the interactive page: values on nodes of one or two factors, packed small, inside one HTML file.
 *
 * A factor is known at its nodes: equidistant angles of a circle, the points of a geodesic grid on the sphere, vertices
 * of a surface. The page gets log f at every node, or at every pair of nodes of two factors; all that it shows (both
 * marginal densities, every conditional one) are sums and quotients of these. The page itself, with three.js, is text
 * that the build made of the folder view/. */
#ifndef NPMD_VIEW_H
#define NPMD_VIEW_H

#include "neuropmd-draw.h"

#include "draw.h"
#include "json.h"
#include "look.h"

/* ---- geodesic.c: a grid on the sphere ---------------------------------------------------------------------- */

#define GEODESIC_MOST 64
size_t geodesic_nodes(int resolution); /* 10 resolution^2 + 2 */
/* x (nodes, 3): unit vectors; weight (nodes): a third of each spherical triangle about a node, their sum is 4 pi. */
void geodesic_grid(int resolution, double *x, double *weight);
/* The node at lattice place (i, j) of one of the 20 faces, i, j >= 0, i + j <= resolution. */
size_t geodesic_node(int resolution, int face, int i, int j);

/* ---- thin.c: some vertices that stand for all --------------------------------------------------------------- */

/* count < vertices of them, each farthest from those before it along the edges, in an order in which neighbours are
 * near; weight (count): the areas of the vertices that are nearest to each. */
npmd_status thin_vertices(const mesh *m, size_t count, const npmd_compute *how, int32_t *vertex, double *weight,
                          npmd_error *err);

/* ---- nodes.c: a factor of the page -------------------------------------------------------------------------- */

typedef struct view_factor {
    const factor_look *on;
    int factor; /* of the domain, from 0 */
    mesh own;   /* of a surface */
    size_t n;
    double *x;       /* (n, columns) */
    double *weight;  /* (n), their sum is the volume */
    int resolution;  /* of a sphere's grid */
    int32_t *vertex; /* (n), of a mesh that is thinned; NULL: all, in their order */
} view_factor;
/* At most so many nodes, but no fewer than a coarse picture needs. */
npmd_status view_factor_open(view_factor *f, const domain_look *dom, int factor, size_t most, const npmd_compute *how,
                             npmd_error *err);
void view_factor_close(view_factor *f);

/* ---- view_values.c: the density at nodes and at pairs of them ------------------------------------------------ */

typedef struct view_values {
    const npmd_model *model;
    const npmd_view_request *what;
    domain_look domain;
    int factors;
    view_factor factor[2];
    mesh surface[2], sphere[2]; /* that a factor S2 is drawn on; without vertices: a globe */
    view_factor hidden;         /* the other one of two, where one is shown: it is summed over; else without nodes */
    double step;                /* of log f on the page */
    unsigned shown;             /* the same as bits */
    double *log_f;              /* (nodes of the first, nodes of the second or 1), per volume of the factors shown */
    double *log_marginal[2];    /* (nodes): by the weights of the other factor's nodes; NULL: there is one factor */
    double mass;                /* the integral by the nodes: 1 is right */
    double sum_error;           /* largest relative difference of a marginal density to the library's integral, */
    size_t compared;            /* at so many nodes */
} view_values;
#define VIEW_NODES_MOST 1000000
/* The nodes; nothing is computed there yet, so that what is wrong with a request shows at once. */
npmd_status view_values_open(view_values *v, const npmd_model *m, const npmd_view_request *what, npmd_error *err);
size_t view_values_count(const view_values *v); /* of log_f */
npmd_status view_values_compute(view_values *v, npmd_error *err);
void view_values_close(view_values *v);

/* ---- pack.c: numbers as few bytes ----------------------------------------------------------------------------- */

/* log f is kept to half of a step: of a pair a density to 0.2 percent, of one factor, where a curve shows more, to
 * 0.05. */
#define VIEW_STEP_PAIR 0.004
#define VIEW_STEP_ONE 0.001
#define VIEW_LEVELS 65535
/* level (n) = round((top - log f) / step), VIEW_LEVELS at most: what lies exp(-65) below the top, or more, is as good
 * as 0. */
void pack_levels(const double *log_f, size_t n, double top, double step, uint16_t *level);
/* In place: each level less what its neighbours in row and column foretell; and then as bytes (2 n), low ones first. */
void pack_predict(uint16_t *level, size_t rows, size_t columns);
void pack_planes(const uint16_t *level, size_t n, unsigned char *bytes);
/* A number in [low, high] as one of 65,536. */
uint16_t pack_share(double x, double low, double high);

/* ---- page.c: the file ------------------------------------------------------------------------------------------- */

typedef struct view_page {
    file_writer *file;
    file_bytes text; /* the page as it was built */
    size_t tail;     /* where it goes on behind the data */
    size_t bytes;    /* written */
} view_page;
#define VIEW_PAGE_MOST 8000000
npmd_status page_open(view_page *p, const char *path, npmd_error *err);
npmd_status page_json(view_page *p, const char *name, const json_t *value, npmd_error *err);
npmd_status page_blob(view_page *p, const char *name, const unsigned char *bytes, size_t size,
                      npmd_error *err); /* deflated, in base 64 */
npmd_status page_commit(view_page *p, npmd_error *err);
void page_close(view_page *p);

/* Made by the build: the page, as a gzip file; of no bytes where three.js could not be had. */
extern const unsigned char VIEW_BUNDLE[];
extern const size_t VIEW_BUNDLE_SIZE;

/* ---- contents.c: what the page is given ------------------------------------------------------------------------- */

/* Surfaces and data, which are known before any value is; then the values, and what everything is. */
npmd_status contents_write_shapes(const view_values *v, view_page *p, const npmd_view_facts *facts, npmd_error *err);
npmd_status contents_write_values(const view_values *v, view_page *p, const npmd_view_facts *facts, npmd_error *err);

#endif
