/* sheet.c - a function on a circle, a torus or a sphere, known at the nodes of a quadrature rule.
 *
 * The rules are spectral: for a smooth density the sum over the nodes is its integral to many digits, so that a mass
 * other than 1 shows that the grid is too coarse. Between the nodes the value (the log of a density) is a cubic along
 * each direction, through four nodes (Catmull-Rom). */
#include "figures.h"

#include <stdlib.h>

/* The library's rule has a row of latitude after the other, a sheet a column of longitude. */
static npmd_status sphere_nodes(const sheet *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *sphere = NULL;
    double *x = NULL, *weight = NULL;
    const size_t columns = (size_t)s->columns, rows = (size_t)s->rows;
    TRY(npmd_domain_parse("S2", &sphere, err));
    assert(npmd_domain_rule_nodes(sphere, rows) == columns * rows);
    TRY(memory_new(&x, 3 * columns * rows, err));
    TRY(memory_new(&weight, columns * rows, err));
    TRY(npmd_domain_rule(sphere, rows, x, weight, err));
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < rows; j++) {
            const size_t k = i * rows + j, from = j * columns + i;
            memcpy(s->x + 3 * k, x + 3 * from, 3 * sizeof *x);
            s->weight[k] = weight[from];
        }
done:
    memory_free_all(x, weight);
    npmd_domain_free(sphere);
    return st;
}

npmd_status sheet_open(sheet_shape shape, int N, sheet *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const bool sphere = shape == SHEET_SPHERE;
    sheet s = { .shape = shape, .unit = 1.0 };
    s.columns = sphere ? 2 * N : N;
    s.rows = shape == SHEET_CIRCLE ? 1 : N;
    s.volume = shape == SHEET_TORUS ? TWO_PI * TWO_PI : sphere ? 4.0 * NPMD_PI : TWO_PI;
    const size_t nodes = (size_t)s.columns * (size_t)s.rows;
    assert(N > 0);
    TRY(memory_new(&s.x, sphere ? 3 * nodes : (size_t)N, err));
    TRY(memory_new(&s.weight, nodes, err));
    TRY(memory_new(&s.value, nodes, err));
    for (int i = 0; i < N && !sphere; i++)
        s.x[i] = TWO_PI * (double)i / N;
    for (size_t k = 0; k < nodes && !sphere; k++)
        s.weight[k] = 1.0 / (double)nodes;
    if (sphere)
        TRY(sphere_nodes(&s, err));
    *out = s;
    s = (sheet){ 0 };
done:
    sheet_free(&s);
    return st;
}

void sheet_free(sheet *s)
{
    memory_free_all(s->x, s->weight, s->value);
    *s = (sheet){ 0 };
}

static size_t sheet_nodes(const sheet *s)
{
    return (size_t)s->columns * (size_t)s->rows;
}

double sheet_mass(const sheet *s)
{
    double sum = 0.0;
    for (size_t k = 0; k < sheet_nodes(s); k++)
        sum += s->weight[k] * exp(s->value[k]);
    return s->volume * sum;
}

void sheet_normalise(sheet *s)
{
    double top = -INFINITY, sum = 0.0; /* a slice of a density may be far from 1 */
    for (size_t k = 0; k < sheet_nodes(s); k++)
        top = fmax(top, s->value[k]);
    for (size_t k = 0; k < sheet_nodes(s); k++)
        sum += s->weight[k] * exp(s->value[k] - top);
    const double offset = top + log(s->volume * sum);
    for (size_t k = 0; k < sheet_nodes(s); k++)
        s->value[k] -= offset;
}

/* Between nodes a cubic may go beyond them, where they fall steeply; the log of what is shown stays a number. */
static double sheet_shown(const sheet *s, double value)
{
    return s->unit == 0.0 ? value : s->unit * exp(fmin(fmax(value, -LOG_MOST - 400.0), LOG_MOST));
}

void sheet_range(const sheet *s, double *least, double *most)
{
    *least = INFINITY, *most = -INFINITY;
    for (size_t k = 0; k < sheet_nodes(s); k++) {
        const double shown = sheet_shown(s, s->value[k]);
        *least = fmin(*least, shown);
        *most = fmax(*most, shown);
    }
}

/* ---- Between the nodes ------------------------------------------------------------------------------------------- */

/* The node in column i, row j, beyond the edges too: columns come round; beyond a pole the sphere goes on on the other
 * side. */
static double node_value(const sheet *s, int i, int j)
{
    if (s->shape == SHEET_SPHERE && (j < 0 || j >= s->rows)) {
        j = j < 0 ? -1 - j : 2 * s->rows - 1 - j;
        i += s->columns / 2;
    }
    i = ((i % s->columns) + s->columns) % s->columns;
    j = ((j % s->rows) + s->rows) % s->rows;
    return s->value[(size_t)i * (size_t)s->rows + (size_t)j];
}

/* Hermite's cubic between the two middle ones of four places t with values v; slopes are those of parabolas through
 * three neighbours. At equal steps this is the spline of Catmull and Rom. */
static double cubic(const double t[4], const double v[4], double at)
{
    const double h0 = t[1] - t[0], h1 = t[2] - t[1], h2 = t[3] - t[2];
    const double d0 = (v[1] - v[0]) / h0, d1 = (v[2] - v[1]) / h1, d2 = (v[3] - v[2]) / h2;
    const double m1 = h1 * (d0 * h1 + d1 * h0) / (h0 + h1), m2 = h1 * (d1 * h2 + d2 * h1) / (h1 + h2);
    const double s = (at - t[1]) / h1;
    return v[1] + s * (m1 + s * (3.0 * (v[2] - v[1]) - 2.0 * m1 - m2 + s * (m1 + m2 - 2.0 * (v[2] - v[1]))));
}

/* Where a row stands, in steps between rows: 0, 1, ... on a torus. On the sphere it is the angle from the south pole,
 * of Legendre's nodes pi (j + 3/4) / (N + 1/2) up to 1/(8 N^2) of a step, so that two rows are a step and a half apart
 * where they face each other across a pole. */
static double row_place(const sheet *s, int j)
{
    if (s->shape != SHEET_SPHERE)
        return j;
    const double around = s->rows + 0.5; /* steps from pole to pole */
    return j < 0 ? -(-1 - j + 0.75) : j >= s->rows ? 2.0 * around - (2 * s->rows - 1 - j + 0.75) : j + 0.75;
}

/* Columns and steps between rows. */
static void sheet_place(const sheet *s, const double *x, double *u, double *v, int *row)
{
    *v = 0.0, *row = 0;
    if (s->shape == SHEET_SPHERE) {
        const double angle = atan2(hypot(x[0], x[1]), -x[2]);
        *u = fmod(atan2(x[1], x[0]) + TWO_PI, TWO_PI) / TWO_PI * s->columns - 0.5;
        *v = angle / NPMD_PI * (s->rows + 0.5);
        *row = (int)floor(*v - 0.75); /* -1 and rows - 1: between the last row and its like beyond the pole */
        return;
    }
    *u = x[0] / TWO_PI * s->columns;
    if (s->shape == SHEET_TORUS) {
        *v = x[1] / TWO_PI * s->rows;
        *row = (int)floor(*v);
    }
}

double sheet_at(const sheet *s, const double *x)
{
    double u, v, across[4], column[4], place[4];
    int j;
    sheet_place(s, x, &u, &v, &j);
    const int i = (int)floor(u);
    for (int k = 0; k < 4; k++) {
        double along[4];
        column[k] = i - 1 + k;
        if (s->shape == SHEET_CIRCLE) {
            across[k] = node_value(s, i - 1 + k, 0);
            continue;
        }
        for (int l = 0; l < 4; l++) {
            along[l] = node_value(s, i - 1 + k, j - 1 + l);
            place[l] = row_place(s, j - 1 + l);
        }
        across[k] = cubic(place, along, v);
    }
    return sheet_shown(s, cubic(column, across, u));
}

/* ---- Regions of highest density ---------------------------------------------------------------------------------- */

typedef struct node_mass {
    double value, mass;
} node_mass;

static int by_falling_value(const void *a, const void *b)
{
    const double x = ((const node_mass *)a)->value, y = ((const node_mass *)b)->value;
    return x > y ? -1 : x < y ? 1 : 0;
}

/* Nodes in falling order of density, until their masses reach the share; between the last two, linearly in the mass. */
npmd_status sheet_content_level(const sheet *s, double share, double *level, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    node_mass *node = NULL;
    const size_t n = sheet_nodes(s);
    double total = 0.0, sum = 0.0;
    TRY(memory_new(&node, n, err));
    for (size_t k = 0; k < n; k++) {
        node[k] = (node_mass){ s->value[k], s->weight[k] * exp(s->value[k]) };
        total += node[k].mass;
    }
    qsort(node, n, sizeof *node, by_falling_value);
    size_t k = 0;
    while (k + 1 < n && sum + node[k].mass < share * total)
        sum += node[k++].mass;
    const double t = node[k].mass > 0.0 ? fmin(fmax((share * total - sum) / node[k].mass, 0.0), 1.0) : 0.0;
    const double next = k + 1 < n ? node[k + 1].value : node[k].value;
    *level = sheet_shown(s, node[k].value + t * (next - node[k].value));
done:
    memory_free(node);
    return st;
}
