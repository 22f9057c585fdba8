/* look.h - what figures and pages see of a density: the factors of its domain, its surfaces, its estimator.
 *
 * This folder and those that build on it use libneuropmd through its public header alone, besides the folders without
 * handles (core, json, io, surface, tracts). */
#ifndef NPMD_LOOK_H
#define NPMD_LOOK_H

#include "neuropmd-surfaces.h"

#include "core.h"
#include "surface.h"

#define LOOK_COLUMNS (3 * NPMD_MAX_FACTORS) /* of a point, at most */

typedef enum factor_kind { FACTOR_CIRCLE, FACTOR_SPHERE, FACTOR_SURFACE, FACTOR_OTHER } factor_kind;
typedef struct factor_look {
    factor_kind kind;
    const char *name;    /* "S1", "S2", "mesh:" and its hash */
    int columns, column; /* columns of the factor, and the first of them in a point of the domain */
    int dimension;
    double volume;
    npmd_domain *alone; /* the factor alone, as a domain */
} factor_look;
typedef struct domain_look {
    const npmd_domain *of;
    const char *text;
    int factors, columns;
    bool torus;    /* all factors are circles */
    bool surfaces; /* some factor is a surface */
    factor_look factor[NPMD_MAX_FACTORS];
} domain_look;
/* Borrows the domain. */
npmd_status domain_look_open(domain_look *l, const npmd_domain *dom, npmd_error *err);
void domain_look_close(domain_look *l); /* from {0}, too */

/* A copy of the vertices and faces, without a hash. */
npmd_status mesh_of_surface(const npmd_surface *s, mesh *out, npmd_error *err);
/* "field", "kde", ... */
#define ESTIMATOR_NAME 24
npmd_status estimator_of(const npmd_model *m, char name[ESTIMATOR_NAME], npmd_error *err);
/* An error if the two domains differ; what, for the message: "points lie". */
npmd_status domains_agree(const npmd_domain *dom, const npmd_domain *of_model, const char *what, npmd_error *err);

#endif
