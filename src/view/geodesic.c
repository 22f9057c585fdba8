/* geodesic.c - a grid on the sphere: the faces of an icosahedron, each cut into resolution^2 triangles.
 *
 * On face (A, B, C) the lattice place (i, j) is the point ((R - i - j) A + i B + j C) / R, R the resolution, brought to
 * unit length. So the barycentric coordinates of a direction on its flat face, times R, give the triangle of the grid
 * that contains it; the page uses this to find nodes (view/sphere.js has the same tables).
 *
 * Nodes are numbered: the 12 corners, R - 1 nodes on each of the 30 edges, (R - 1)(R - 2)/2 inside of each face. */
#include "view.h"

enum { CORNERS = 12, EDGES = 30, FACES = 20 };

/* Corner 0 is the north pole and 11 the south pole; 1 .. 5 stand around the first, 6 .. 10 around the second. */
static void corner_point(int corner, double *x)
{
    const double height = 1.0 / sqrt(5.0), radius = 2.0 / sqrt(5.0);
    const bool upper = corner <= 5;
    const double angle = TWO_PI / 5.0 * (upper ? corner - 1 : corner - 6 + 0.5);
    if (corner == 0 || corner == CORNERS - 1) {
        x[0] = x[1] = 0.0;
        x[2] = corner == 0 ? 1.0 : -1.0;
        return;
    }
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
    x[2] = upper ? height : -height;
}

/* Face 4 r + t, r = 0 .. 4: counter-clockwise from outside. */
static void face_corners(int face, int corner[3])
{
    const int r = face / 4, next = (r + 1) % 5, u = 1 + r, v = 1 + next, l = 6 + r, k = 6 + next;
    const int corners[4][3] = { { 0, u, v }, { u, l, v }, { v, l, k }, { CORNERS - 1, k, l } };
    memcpy(corner, corners[face % 4], sizeof corners[0]);
}

/* Edge 6 r + t. */
static void edge_corners(int edge, int corner[2])
{
    const int r = edge / 6, next = (r + 1) % 5, u = 1 + r, v = 1 + next, l = 6 + r, k = 6 + next;
    const int corners[6][2] = { { 0, u }, { u, v }, { u, l }, { v, l }, { l, k }, { CORNERS - 1, l } };
    memcpy(corner, corners[edge % 6], sizeof corners[0]);
}

/* Of the edge between two corners, the node that is k steps from the first of them. */
static size_t edge_node(int R, int from, int to, int k)
{
    int at[2];
    for (int e = 0; e < EDGES; e++) {
        edge_corners(e, at);
        if (at[0] == from && at[1] == to)
            return (size_t)(CORNERS + e * (R - 1) + k - 1);
        if (at[0] == to && at[1] == from)
            return (size_t)(CORNERS + e * (R - 1) + R - k - 1);
    }
    assert(from == to); /* never: they are corners of one face */
    return 0;
}

size_t geodesic_nodes(int resolution)
{
    return (size_t)10 * (size_t)resolution * (size_t)resolution + 2;
}

size_t geodesic_node(int R, int face, int i, int j)
{
    int corner[3];
    face_corners(face, corner);
    if (i == 0 && j == 0)
        return (size_t)corner[0];
    if (i == R)
        return (size_t)corner[1];
    if (j == R)
        return (size_t)corner[2];
    if (j == 0)
        return edge_node(R, corner[0], corner[1], i);
    if (i == 0)
        return edge_node(R, corner[0], corner[2], j);
    if (i + j == R)
        return edge_node(R, corner[1], corner[2], j);
    const int inside = (j - 1) * (R - 1) - j * (j - 1) / 2 + i - 1;
    return (size_t)(CORNERS + EDGES * (R - 1) + face * (R - 1) * (R - 2) / 2 + inside);
}

static void lattice_point(int R, int face, int i, int j, double *x)
{
    int corner[3];
    double a[3], b[3], c[3], length = 0.0;
    face_corners(face, corner);
    corner_point(corner[0], a);
    corner_point(corner[1], b);
    corner_point(corner[2], c);
    for (int k = 0; k < 3; k++) {
        x[k] = (R - i - j) * a[k] + i * b[k] + j * c[k];
        length += x[k] * x[k];
    }
    for (int k = 0; k < 3; k++)
        x[k] /= sqrt(length);
}

static void triangle_weigh(const double *x, size_t a, size_t b, size_t c, double *weight)
{
    const double third = sphere_triangle_area(x + 3 * a, x + 3 * b, x + 3 * c) / 3.0;
    weight[a] += third;
    weight[b] += third;
    weight[c] += third;
}

void geodesic_grid(int R, double *x, double *weight)
{
    assert(R >= 1 && R <= GEODESIC_MOST);
    for (int f = 0; f < FACES; f++)
        for (int j = 0; j <= R; j++)
            for (int i = 0; i + j <= R; i++)
                lattice_point(R, f, i, j, x + 3 * geodesic_node(R, f, i, j));
    memset(weight, 0, geodesic_nodes(R) * sizeof *weight);
    for (int f = 0; f < FACES; f++)
        for (int j = 0; j < R; j++)
            for (int i = 0; i + j < R; i++) {
                const size_t right = geodesic_node(R, f, i + 1, j), left = geodesic_node(R, f, i, j + 1);
                triangle_weigh(x, geodesic_node(R, f, i, j), right, left, weight);
                if (i + j + 2 <= R)
                    triangle_weigh(x, right, geodesic_node(R, f, i + 1, j + 1), left, weight);
            }
}
