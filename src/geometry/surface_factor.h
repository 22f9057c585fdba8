/* surface_factor.h - a closed triangulated surface as a factor of a domain: its map to the square, its state, its
 * rule. */
#ifndef NPMD_SURFACE_FACTOR_H
#define NPMD_SURFACE_FACTOR_H

#include "geometry.h"
#include "maps.h"
#include "surface.h"

#include <stdatomic.h>

/* ---- surface_map.c ----------------------------------------------------------------------------------------------- */

/* The map of maps.h. centroid (faces, 2): the wanted places of the faces in the square; area (faces). */
npmd_status surface_map_open(surface_map *map, size_t faces, const double *centroid, const double *area,
                             npmd_error *err);
void surface_map_close(surface_map *map);

/* ---- surface_factor.c -------------------------------------------------------------------------------------------- */

/* A point is (face, u, v), see surface.h. The library scales the surface to the area of the unit sphere, so that tau
 * means the same on both; eigenfunctions are orthonormal with respect to the user's area. They are numbered as on S2:
 * frequency f has the numbers f^2 .. (f + 1)^2 - 1, since by Weyl's law their eigenvalues are about f (f + 1). */
typedef struct surface {
    manifold table; /* the manifold whose state this is */
    atomic_size_t owners;
    char name[24];
    union {
        mesh mesh;
        npmd_surface shown; /* the same for a caller */
    };
    locator *locator;
    fem_nodes at;
    int pairs;
    double *lambda;      /* (pairs), per area in the user's units */
    float *phi;          /* (nodes, pairs); float32 rounding is far below the error of the elements */
    double (*metric)[3]; /* (faces): derivatives of u along both frame vectors, and of v along the second one */
    surface_map map;
} surface;
#define SURFACE_LEAST_PAIRS 4 /* the constant, and three that lay out the map */
/* Takes over mesh, nodes, lambda (pairs) and phi (nodes, pairs), also on failure. */
npmd_status surface_make(mesh *m, fem_nodes *at, int pairs, double *lambda, float *phi, const manifold **out,
                         npmd_error *err);
/* A closed mesh with its eigenpairs; where opens each message, how may be NULL. Takes the mesh's arrays over. */
npmd_status surface_from_mesh(mesh *m, const char *where, const surface_request *how, const manifold **out,
                              npmd_error *err);
const surface *surface_of(const manifold *m); /* NULL: not a surface */

/* ---- surface_rule.c ---------------------------------------------------------------------------------------------- */

size_t surface_rule_nodes(const manifold *self, size_t N);
npmd_status surface_rule(const manifold *self, size_t N, double *x, double *weight, npmd_error *err);

#endif
