/* surface.h - closed triangulated surfaces: files, validity, Laplace-Beltrami eigenpairs, closest points.
 *
 * A mesh is kept in the user's units. A point is a face and two barycentric coordinates: on face (a, b, c), (1 - u - v)
 * x_a + u x_b + v x_c. */
#ifndef NPMD_SURFACE_H
#define NPMD_SURFACE_H

#include "io.h"
#include "neuropmd-surfaces.h"

/* ---- mesh.c: vertices and faces ---------------------------------------------------------------------------------- */

typedef struct mesh {
    size_t vertices, faces; /* each below 2^31 */
    double *x;              /* (vertices, 3) */
    int32_t *face;          /* (faces, 3) */
    double area;            /* of all faces */
    uint64_t hash;          /* of vertices and faces, whatever file they came from */
    int first;              /* number of the first vertex and face in messages: 1 for an .obj file, else 0 */
} mesh;

/* Takes over x and face, also on failure. Every index is in range and every number finite, else NPMD_ERR_FORMAT;
 * where (a path) opens the message. */
npmd_status mesh_make(size_t vertices, double *x, size_t faces, int32_t *face, const char *where, mesh *out,
                      npmd_error *err);
void mesh_free(mesh *m);
/* A closed, connected, consistently oriented surface without degenerate or repeated faces, every vertex in use and
 * with one fan of faces about it; else NPMD_ERR_FORMAT says what is wrong and where. Nothing is repaired. */
npmd_status mesh_check(const mesh *m, const char *where, npmd_error *err);
void mesh_point(const mesh *m, size_t face, double u, double v, double *x); /* x (3) */
double mesh_face_area(const mesh *m, size_t face);
/* The area of a spherical triangle with these unit vectors as corners; negative where they run clockwise. */
double sphere_triangle_area(const double *a, const double *b, const double *c);
/* A third of the area of the faces about each vertex: area (vertices). */
void mesh_vertex_areas(const mesh *m, double *area);

/* ---- mesh_file.c: a table of formats, by suffix and by the first bytes; each format is a file -------------------- */

/* .obj .off .ply .vtk .gii (and .gz of each) and FreeSurfer's binary surfaces. */
npmd_status mesh_read(const char *path, mesh *out, npmd_error *err);
bool mesh_is_file(const char *path); /* by its suffix, or by the first bytes of FreeSurfer's format */
/* A named column of numbers on the vertices: value (vertices). Written to .gii, .gii.gz or .vtk. */
typedef struct vertex_values {
    const char *name;
    const double *value;
} vertex_values;
npmd_status mesh_output_check(const char *path, npmd_error *err); /* can values be written there? */
npmd_status mesh_write(const char *path, const mesh *m, const vertex_values *values, int count, npmd_error *err);

/* ---- values.c: columns of numbers on the vertices of a surface --------------------------------------------------- */

typedef struct vertex_columns {
    size_t vertices;
    int columns;
    char **name;    /* (columns) */
    double **value; /* (columns), each (vertices); NaN: no value */
    size_t name_room, value_room;
} vertex_columns;
/* .gii (arrays that are neither points nor triangles nor labels) and .vtk (what is stored on points), each also with
 * .gz; .csv .tsv .txt .npy .mat with a row for every vertex. At least one column, of exactly this many vertices, else
 * NPMD_ERR_FORMAT. */
npmd_status vertex_columns_read(const char *path, size_t vertices, vertex_columns *out, npmd_error *err);
void vertex_columns_free(vertex_columns *c);
/* Finds a column by its name, or by its number from 1; the error lists the names. path opens the message. */
npmd_status vertex_columns_find(const vertex_columns *c, const char *name, const char *path, int *out, npmd_error *err);

/* ---- labels.c: a region for every vertex ------------------------------------------------------------------------- */

typedef struct labels {
    size_t vertices;
    int regions;
    int32_t *region; /* (vertices): 0 .. regions - 1; -1: no region */
    char **name;     /* (regions) */
} labels;
/* .annot .label .gii .csv .npy; of exactly this many vertices, else NPMD_ERR_FORMAT. A .label file is one region. */
npmd_status labels_read(const char *path, size_t vertices, labels *out, npmd_error *err);
void labels_free(labels *l);
int labels_find(const labels *l, const char *name); /* -1: there is none */

/* ---- outline.c: contour lines, and where a region ends ----------------------------------------------------------- */

/* The line f = level of a function on the vertices, linear on every face: segments (count, 2, 3), to be freed. */
npmd_status mesh_contour(const mesh *m, const double *f, double level, double **segments, size_t *count,
                         npmd_error *err);
/* The line between the vertices inside and those outside, smoothed within half an edge. */
npmd_status mesh_outline(const mesh *m, const bool *inside, double **segments, size_t *count, npmd_error *err);

/* ---- the structs of the public names (src/api/surface_api.c) ----------------------------------------------------- */

struct npmd_surface {
    mesh m;
};
struct npmd_labels {
    labels l;
};

/* ---- locate.c: the closest point, through a tree of boxes -------------------------------------------------------- */

typedef struct surface_point {
    size_t face;
    double u, v;
} surface_point;
typedef struct locator locator; /* borrows the mesh */
npmd_status locator_open(const mesh *m, locator **out, npmd_error *err);
/* The closest point of the surface, and its distance; of equally close faces, the one with the lowest number. */
double locator_nearest(const locator *l, const double *p, surface_point *out);
void locator_close(locator *l);

/* ---- registered.c: a surface and its sphere, with the same vertices and faces ------------------------------------ */

/* NPMD_ERR_SHAPE unless both have the same faces, NPMD_ERR_FORMAT unless sphere is a sphere about the origin. The names
 * open the messages. */
npmd_status registered_check(const mesh *surface, const char *surface_name, const mesh *sphere, const char *sphere_name,
                             npmd_error *err);
/* NPMD_ERR_FORMAT unless all vertices are equally far from the origin, to 1 percent. */
npmd_status sphere_radii_check(const mesh *m, npmd_error *err);
/* The log of area on the unit sphere per area of the surface, at the unit vector x; near: the locator of the sphere.
 * NaN: the ray of x meets no face, since the mesh of the sphere does not enclose the origin. */
double registered_log_area(const mesh *surface, const mesh *sphere, const locator *near, const double x[3]);

/* ---- fem.c: finite elements on flat triangles -------------------------------------------------------------------- */

/* Nodes of the elements: the vertices (linear), then the middles of the edges (quadratic). node (faces, 3 or 6): the
 * face's vertices, then its edges ab, bc, ca. Edges are numbered by their lower vertex, then by their upper one. */
typedef struct fem_nodes {
    int elements; /* 1 linear, 2 quadratic */
    size_t nodes;
    int corners;   /* 3 or 6 */
    int32_t *node; /* (faces, corners) */
} fem_nodes;
npmd_status fem_nodes_make(const mesh *m, int elements, fem_nodes *out, npmd_error *err);
void fem_nodes_free(fem_nodes *n);

/* Stiffness K_ij = integral of grad e_i . grad e_j and consistent mass M_ij = integral of e_i e_j, both symmetric and
 * with the same pattern: row i has the columns column[start[i] .. start[i + 1] - 1], rising. */
typedef struct fem_matrices {
    size_t nodes;
    int32_t *start;           /* (nodes + 1) */
    int32_t *column;          /* (start[nodes]) */
    double *stiffness, *mass; /* (start[nodes]) */
} fem_matrices;
npmd_status fem_assemble(const mesh *m, const fem_nodes *at, fem_matrices *out, npmd_error *err);
void fem_matrices_free(fem_matrices *a);
/* y = A x, A with the pattern of a and these entries; x, y (nodes). */
void fem_apply(const fem_matrices *a, const double *entry, const double *x, double *y);

/* ---- fem_pairs.c, fem_solve.c: eigenpairs ------------------------------------------------------------------------ */

/* phi' M phi = 1, K phi = lambda M phi, M the consistent mass and K the stiffness; lambda rises from 0, and the
 * first function is constant. Signs: the entry of largest size (the first of those within 1e-6 of it) is positive. */
typedef struct eigenpairs {
    fem_nodes at;
    int pairs;
    double *lambda;   /* (pairs), per area of the user's units */
    double *phi;      /* (nodes, pairs) */
    double *residual; /* (pairs): |r| / max(lambda, lambda_1), r = K phi - lambda M phi, |r|^2 = sum_i r_i^2 / M_ii */
} eigenpairs;
void eigenpairs_free(eigenpairs *e);
/* Progress reports: how many systems are solved, and about how many there will be; nonzero stops with NPMD_STOPPED. */
typedef struct fem_watch {
    npmd_progress progress;
    void *user;
} fem_watch;
npmd_status fem_eigenpairs(const mesh *m, int elements, int pairs, const fem_watch *watch, eigenpairs *out,
                           npmd_error *err); /* watch may be NULL */
/* The same with a cache: a file in this folder (NULL: none), named by the mesh's hash, the elements and the number of
 * pairs, is read if it exists, else computed and written. A file that does not fit is replaced; a folder that cannot be
 * written is no failure. */
npmd_status eigenpairs_cached(const mesh *m, int elements, int pairs, const char *folder, const fem_watch *watch,
                              eigenpairs *out, npmd_error *err);
/* fem_solve.c, or fem_solve_absent.c in a build without ARPACK, SuperLU and METIS: the lowest pairs of K phi = lambda M
 * phi, 2 <= pairs <= nodes; lambda (pairs) rising, phi (pairs, nodes) with phi' M phi = 1. watch may be NULL. */
npmd_status fem_solve(const fem_matrices *a, int pairs, const fem_watch *watch, double *lambda, double *phi,
                      npmd_error *err);
extern const bool FEM_SOLVES; /* false: fem_solve_absent.c */

#endif
