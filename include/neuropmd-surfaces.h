/* neuropmd-surfaces.h - triangle meshes, regions of them, and streamlines that end there: densities of brain
 * connectivity, as numbers. It is part of libneuropmd; its conventions are those of neuropmd.h. Everything here is
 * experimental: it may change with any version. */
#ifndef NEUROPMD_SURFACES_H
#define NEUROPMD_SURFACES_H

#include "neuropmd.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct npmd_surface npmd_surface;

/* ---- Surfaces: closed triangle meshes, and regions of their vertices --------------------------------------------- */

/* Reads .obj .off .ply .vtk .gii (each also with .gz) or FreeSurfer's binary surfaces, and checks that it is one
 * closed, connected, consistently oriented surface of triangles: else NPMD_ERR_FORMAT says what is wrong and where. */
NPMD_API npmd_status npmd_surface_read(const char *path, npmd_surface **out, npmd_error *err);
NPMD_API void npmd_surface_free(npmd_surface *s);
/* The surface of a factor, counted from 1; NULL: it is none. It belongs to the domain. */
NPMD_API const npmd_surface *npmd_domain_surface(const npmd_domain *dom, int factor);
NPMD_API size_t npmd_surface_vertices(const npmd_surface *s);
NPMD_API size_t npmd_surface_faces(const npmd_surface *s);
NPMD_API double npmd_surface_area(const npmd_surface *s); /* in the file's units, squared */
/* Vertex i and face i, counted from 0, as are the corners. */
NPMD_API void npmd_surface_vertex(const npmd_surface *s, size_t i, double x[3]);
NPMD_API void npmd_surface_face(const npmd_surface *s, size_t i, int32_t corner[3]);
/* A third of the area of the faces about each vertex: area (vertices). */
NPMD_API void npmd_surface_vertex_areas(const npmd_surface *s, double *area);
/* With columns of numbers on the vertices: values[c] (vertices) under names[c]. .vtk (with all digits), .gii or .gii.gz
 * (float32); .shape.gii and .func.gii hold the values alone, .surf.gii the surface alone. */
NPMD_API npmd_status npmd_surface_write(const npmd_surface *s, const char *path, const char *const *names,
                                        const double *const *values, int count, npmd_error *err);
NPMD_API npmd_status npmd_surface_check(const char *path, npmd_error *err); /* as npmd_output_check, for such a file */
/* Of n unit vectors x (n, 3), points of the sphere that the surface is registered to (the same faces, about the
 * origin): the log of area on the unit sphere per area of the surface there. Added to a log density on S2 it makes the
 * log density of the same points on the surface, per area of the surface. NaN where the sphere's faces leave a hole, as
 * folded ones may. */
NPMD_API npmd_status npmd_surface_log_area(const npmd_surface *s, const npmd_surface *sphere, const double *x, size_t n,
                                           double *values, npmd_error *err);
NPMD_API int npmd_surface_is_file(const char *path); /* by its suffix or by FreeSurfer's first bytes: 1 or 0 */
/* What a file holds, as one JSON object: vertices, faces, area, hash, whether it is the closed surface that
 * npmd_surface_read wants, its genus, and else what is wrong. */
NPMD_API npmd_status npmd_surface_describe(const char *path, char **out, npmd_error *err);
/* Laplace-Beltrami eigenpairs by finite elements, linear (elements 1) or quadratic (2) on the flat faces, with
 * consistent mass: lambda (pairs) rises from 0, per area of the surface's units; phi (vertices, pairs) are the
 * functions on the vertices, orthonormal as functions, of which the first is constant and the largest entry of each
 * positive. residual (pairs, or NULL): |K phi - lambda M phi| / max(lambda, lambda_1), with |r|^2 = sum_i r_i^2 / M_ii.
 * NPMD_ERR_DEVICE in a build without ARPACK, SuperLU and METIS. One solve at a time; where BLAS is OpenBLAS it is held
 * to one thread meanwhile, in the whole process, and has as many as before afterwards. METIS seeds rand() and handles
 * SIGABRT and SIGTERM for a moment; all are then as before. Until then other threads should block SIGTERM, and leave
 * rand() alone, or the last digits move. */
NPMD_API npmd_status npmd_surface_eigen(const npmd_surface *s, int elements, int pairs, const npmd_compute *how,
                                        double *lambda, double *phi, double *residual, npmd_error *err);

typedef struct npmd_labels npmd_labels;

/* Reads .annot .label .gii .csv .tsv .txt (each also with .gz) or .npy: a region for each vertex of this surface. */
NPMD_API npmd_status npmd_labels_read(const char *path, const npmd_surface *s, npmd_labels **out, npmd_error *err);
NPMD_API void npmd_labels_free(npmd_labels *l);
NPMD_API int npmd_labels_regions(const npmd_labels *l);
NPMD_API const char *npmd_labels_name(const npmd_labels *l, int region);
NPMD_API int npmd_labels_find(const npmd_labels *l, const char *name);   /* -1: there is none */
NPMD_API int npmd_labels_region_of(const npmd_labels *l, size_t vertex); /* -1: it lies in none */

/* ---- Regions: a density on two surfaces, integrated over parts of them ------------------------------------------- */

/* The factors of the model are two surfaces, S2 or mesh:FILE each. Nodes are the vertices of a triangle mesh: on S2
 * those of a sphere about the origin, of any radius; on a surface those of the very mesh that the model has. A vertex
 * stands for a third of each face about it (on S2 of the spherical triangle), and a region for its vertices. */
typedef struct npmd_region_request {
    size_t size;
    const npmd_surface *surface[2]; /* of each factor */
    const npmd_labels *labels[2];   /* of its vertices; NULL: none */
    const npmd_compute *how;
} npmd_region_request;

/* Regions are those of the labels; vertices without one are a region of their own, "unknown", which comes last unless
 * the labels have one of that name. */
NPMD_API int npmd_region_count(const npmd_labels *l);
NPMD_API const char *npmd_region_name(const npmd_labels *l, int region);
NPMD_API int npmd_region_find(const npmd_labels *l, const char *name); /* -1: there is none */
NPMD_API size_t npmd_region_vertices(const npmd_labels *l, int region);

/* Areas are in the user's units; on S2 they are those of the unit sphere. */
typedef enum npmd_region_what {
    NPMD_REGION_LOG_DENSITY,
    NPMD_REGION_DENSITY,     /* per area */
    NPMD_REGION_RELATIVE,    /* density x area of the surface */
    NPMD_REGION_INTENSITY,   /* expected counts per area: density x n, or x the sum of the weights */
    NPMD_REGION_PROBABILITY, /* density x area of the vertex */
    NPMD_REGION_COUNTS       /* expected counts of the vertex */
} npmd_region_what;
NPMD_API const char *npmd_region_what_name(int i); /* as npmd_what_name */
NPMD_API npmd_status npmd_region_what_parse(const char *text, npmd_region_what *what, npmd_error *err);

typedef struct npmd_region_facts {
    size_t size;
    double share;        /* of a map's region in the area of its surface */
    double probability;  /* that x lies in the region; of a matrix: the sum of all entries, 1 is right */
    double within;       /* of a matrix: both ends in regions of one name */
    double sum_error;    /* of a matrix: how far the sum may be from that of the density, and that from 1 */
    size_t compared;     /* vertices at which the integral was taken by another rule as well: */
    double error_median; /* relative differences of a map there, or of a matrix's rows and columns */
    double error_largest;
} npmd_region_facts;

/* f_E(y) = integral over x in E of f(x, y) dx at every vertex y of the other factor; E is the union of these regions of
 * factor (1 or 2). values (vertices of the other surface); facts may be NULL. The other rule takes the centroid of
 * every third of a face in place of its corner. */
NPMD_API npmd_status npmd_region_map(const npmd_model *m, const npmd_region_request *at, int factor, const int *region,
                                     int regions, npmd_region_what what, double *values, npmd_region_facts *facts,
                                     npmd_error *err);
/* values (regions of factor 1, regions of factor 2): the integral of f over both, as a probability or as expected
 * counts. Not normalised: the sum shows the error of the nodes. */
NPMD_API npmd_status npmd_region_matrix(const npmd_model *m, const npmd_region_request *at, npmd_region_what what,
                                        double *values, npmd_region_facts *facts, npmd_error *err);
/* .csv: with the names of the regions in the first row and column; .npy: the numbers alone. */
NPMD_API npmd_status npmd_region_matrix_write(const npmd_region_request *at, const double *matrix, const char *path,
                                              npmd_error *err);
/* One row for each vertex of factor 1, one column for each vertex of factor 2, into a file piece by piece. */
NPMD_API npmd_status npmd_region_dense(const npmd_model *m, const npmd_region_request *at, npmd_region_what what,
                                       const char *path, npmd_error *err);
NPMD_API size_t npmd_region_bytes(const npmd_region_request *at); /* of memory that these functions take */

/* ---- Streamlines ------------------------------------------------------------------------------------------------- */

/* Which hemispheres a streamline joins. The left end of LR comes first, whichever way the streamline runs. */
typedef enum npmd_pair { NPMD_PAIR_LL, NPMD_PAIR_RR, NPMD_PAIR_LR, NPMD_PAIRS } npmd_pair;
/* Why a streamline is left out: the first reason that holds. */
typedef enum npmd_drop {
    NPMD_DROP_POINTS, /* it has fewer than two points */
    NPMD_DROP_WEIGHT, /* its weight is zero */
    NPMD_DROP_BOTH,   /* both ends are too far from the surface */
    NPMD_DROP_START,  /* its start alone is */
    NPMD_DROP_END,    /* its end alone is */
    NPMD_DROP_PAIR,   /* it joins other hemispheres than were asked for */
    NPMD_DROPS
} npmd_drop;

typedef struct npmd_endpoints_request {
    size_t size;
    const char *const *tracks;  /* (files): .trk, .tck, and .gz of these */
    const char *const *weights; /* (files): a number for each streamline, as SIFT2 writes it; NULL: none */
    int files;
    const char *surface[2]; /* left and right, or the only one and NULL */
    const char *sphere[2];  /* registered to fsaverage, with the surface's faces; NULL: ends stay on the surface */
    double max_distance;    /* of an end from the surface, mm; 0: 5 */
    unsigned pairs;         /* bits 1 << npmd_pair; 0: all that the surfaces allow */
    const char *affine;     /* 4 x 4, from voxels to RAS mm, instead of that of a .trk header; NULL: the header's */
    const char *transform;  /* 4 x 4, from the streamlines' RAS mm to the surface's; NULL: they are the same */
    const char *space;      /* instead of transform: "mni152" goes to surfaces in MNI305, as fsaverage's; NULL: none */
    const npmd_compute *how;
} npmd_endpoints_request;
typedef struct npmd_endpoints_facts {
    size_t size;
    size_t streamlines;
    size_t dropped[16];                   /* for each npmd_drop, with room for more */
    size_t count[8];                      /* kept, for each npmd_pair */
    size_t turned;                        /* how many of LR ran from right to left */
    double distance_median, distance_max; /* of the ends kept, mm; NaN: there are none */
} npmd_endpoints_facts;

typedef struct npmd_endpoints npmd_endpoints;
NPMD_API npmd_status npmd_endpoints_find(const npmd_endpoints_request *what, npmd_endpoints **out, npmd_error *err);
NPMD_API void npmd_endpoints_free(npmd_endpoints *e);
NPMD_API npmd_status npmd_endpoints_facts_of(const npmd_endpoints *e, npmd_endpoints_facts *facts, npmd_error *err);
/* (count, 6): start and end, unit vectors or mm; and (count) weights; NULL where there are none. They belong to e. */
NPMD_API const double *npmd_endpoints_rows(const npmd_endpoints *e, npmd_pair pair);
NPMD_API const double *npmd_endpoints_weights(const npmd_endpoints *e, npmd_pair pair);

#ifdef __cplusplus
}
#endif
#endif
