/* shapes.h - triangulated surfaces with known geometry. */
#ifndef NPMD_TEST_SHAPES_H
#define NPMD_TEST_SHAPES_H

#include "place.h"
#include "surface.h"

void shape_of(const double *x, size_t vertices, const int32_t *face, size_t faces, mesh *out); /* copies the arrays */
void shape_tetrahedron(mesh *out); /* corners of the cube [-1, 1]^3: edges of length sqrt 8 */
void shape_octahedron(mesh *out);  /* unit vectors of the axes: edges of length sqrt 2 */
/* The unit sphere: an icosahedron whose edges are halved `times` times; 10 x 4^times + 2 vertices. */
void shape_icosphere(int times, mesh *out);
/* The same without symmetry: the radius varies by a fifth. */
void shape_bumpy(int times, mesh *out);
/* The square [0, 1]^2 in steps of 1 / n, each cell two triangles: flat, not closed. */
void shape_square(int n, mesh *out);

#endif
