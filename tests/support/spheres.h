/* spheres.h - icospheres: 10 x 4^n + 2 vertices on a sphere of any radius, from n refinements of the icosahedron. */
#ifndef NPMD_TEST_SPHERES_H
#define NPMD_TEST_SPHERES_H

#include "check.h"

typedef struct icosphere {
    size_t vertices, faces;
    double *x;     /* (vertices, 3); from malloc, as is face */
    int32_t *face; /* (faces, 3), outwards */
} icosphere;
icosphere icosphere_make(int refinements, double radius);
void icosphere_free(icosphere *s);
double icosphere_edge(const icosphere *s); /* length of the longest edge */
/* The text of an .off file; the caller frees it. */
char *icosphere_off(const icosphere *s);

#endif
