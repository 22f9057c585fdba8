/* fem.c - linear and quadratic finite elements on flat triangles: nodes, stiffness and consistent mass.
 *
 * On a face with corners a, b, c let l_i be the barycentric coordinates, e_i the edge that faces corner i and A the
 * area. Their gradients satisfy  k_ij = A grad l_i . grad l_j = e_i . e_j / (4 A)  (half the cotangents, with signs),
 * and integral of l_a^p l_b^q l_c^r = 2 A p! q! r! / (p + q + r + 2)!. All that follows is exact.
 *
 *   linear     e_i = l_i:                   K = k,  M = A / 12 (1 + delta_ij)
 *   quadratic  e_i = l_i (2 l_i - 1) at the corners, e_ij = 4 l_i l_j at the middles of the edges:
 *              K(i, i) = k_ii      K(i, j) = -k_ij / 3        K(i, ij) = 4 k_ij / 3     K(i, jk) = 0
 *              K(ij, ij) = 8/3 (k_ii + k_jj + k_ij)           K(ij, ik) = 8 k_jk / 3
 *              M = A / 180 times 6 (i, i), -1 (i, j), 0 (i, ij), -4 (i, jk), 32 (ij, ij), 16 (ij, ik) */
#include "surface.h"

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

/* Lists by number: those of i are item[start[i] .. start[i + 1] - 1]. */
typedef struct lists {
    int32_t *start, *item;
} lists;

static void lists_free(lists *l)
{
    memory_free_all(l->start, l->item);
}

/* From counts in start[i + 1] to starts; afterwards start[i] may be moved on while i's list is filled. */
static void lists_sum(int32_t *start, size_t count)
{
    for (size_t i = 0; i < count; i++)
        start[i + 1] += start[i];
}

/* The lists are filled, and start[i] stands where list i ends: back to where it begins. */
static void lists_rewind(int32_t *start, size_t count)
{
    memmove(start + 1, start, count * sizeof *start);
    start[0] = 0;
}

static void sort_rising(int32_t *a, int32_t count) /* by insertion: a vertex has a handful of neighbours */
{
    for (int32_t i = 1; i < count; i++) {
        const int32_t held = a[i];
        int32_t j = i;
        for (; j > 0 && a[j - 1] > held; j--)
            a[j] = a[j - 1];
        a[j] = held;
    }
}

/* Corner k of a face and the next one, lower vertex first. */
static void edge_ends(const int32_t *face, int k, int32_t *low, int32_t *high)
{
    const int32_t a = face[k], b = face[(k + 1) % 3];
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

/* For each vertex its neighbours of higher number, rising, each once: the edges in their order. */
static npmd_status edges_make(const mesh *m, lists *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    lists l = { 0 };
    int32_t low = 0, high = 0, kept = 0, from = 0;
    TRY(memory_new(&l.start, m->vertices + 1, err));
    TRY(memory_new(&l.item, 3 * m->faces, err));
    for (size_t i = 0; i < 3 * m->faces; i++) {
        edge_ends(m->face + i / 3 * 3, (int)(i % 3), &low, &high);
        l.start[low + 1]++;
    }
    lists_sum(l.start, m->vertices);
    for (size_t i = 0; i < 3 * m->faces; i++) {
        edge_ends(m->face + i / 3 * 3, (int)(i % 3), &low, &high);
        l.item[l.start[low]++] = high;
    }
    lists_rewind(l.start, m->vertices);
    for (size_t v = 0; v < m->vertices; v++) {
        const int32_t end = l.start[v + 1], first = kept;
        sort_rising(l.item + from, end - from);
        for (int32_t i = from; i < end; i++)
            if (kept == first || l.item[kept - 1] != l.item[i])
                l.item[kept++] = l.item[i];
        l.start[v] = first;
        from = end;
    }
    l.start[m->vertices] = kept;
    *out = l;
    l = (lists){ 0 };
done:
    lists_free(&l);
    return st;
}

static int32_t edge_number(const lists *edges, int32_t low, int32_t high)
{
    int32_t first = edges->start[low], last = edges->start[low + 1] - 1;
    while (first < last) {
        const int32_t middle = first + (last - first) / 2;
        if (edges->item[middle] < high)
            first = middle + 1;
        else
            last = middle;
    }
    assert(edges->item[first] == high);
    return first;
}

npmd_status fem_nodes_make(const mesh *m, int elements, fem_nodes *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    lists edges = { 0 };
    fem_nodes n = { .elements = elements, .nodes = m->vertices, .corners = elements == 2 ? 6 : 3 };
    int32_t low = 0, high = 0;
    if (elements != 1 && elements != 2)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "elements: %d was found, 1 or 2 was expected", elements);
    /* entries of a matrix are counted in 32 bits: two edges a face, six or at most 12 + 3 neighbours a node */
    if (m->faces > (size_t)INT32_MAX / 36 || m->vertices > (size_t)INT32_MAX / 36)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "%zu faces are too many for finite elements (most: %d)", m->faces,
                         INT32_MAX / 36);
    TRY(memory_new(&n.node, (size_t)n.corners * m->faces, err));
    if (elements == 2) {
        TRY(edges_make(m, &edges, err));
        n.nodes += (size_t)edges.start[m->vertices];
    }
    for (size_t f = 0; f < m->faces; f++) {
        int32_t *node = n.node + (size_t)n.corners * f;
        memcpy(node, m->face + 3 * f, 3 * sizeof *node);
        for (int k = 0; k < n.corners - 3; k++) {
            edge_ends(m->face + 3 * f, k, &low, &high);
            node[3 + k] = (int32_t)m->vertices + edge_number(&edges, low, high);
        }
    }
    *out = n;
    n = (fem_nodes){ 0 };
done:
    lists_free(&edges);
    fem_nodes_free(&n);
    return st;
}

void fem_nodes_free(fem_nodes *n)
{
    memory_free(n->node);
    *n = (fem_nodes){ 0 };
}

/* ---- One face ---------------------------------------------------------------------------------------------------- */

enum { MOST = 6 };
typedef struct element {
    double stiffness[MOST][MOST], mass[MOST][MOST];
} element;

/* k_ij = e_i . e_j / (4 A), and the area; false where it has none. */
static bool face_products(const mesh *m, size_t face, double k[3][3], double *area)
{
    double edge[3][3], normal[3];
    for (int i = 0; i < 3; i++) {
        const double *from = m->x + 3 * (size_t)m->face[3 * face + (size_t)((i + 1) % 3)],
                     *to = m->x + 3 * (size_t)m->face[3 * face + (size_t)((i + 2) % 3)];
        minus3(to, from, edge[i]);
    }
    cross3(edge[0], edge[1], normal);
    *area = 0.5 * sqrt(dot3(normal, normal));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            k[i][j] = dot3(edge[i], edge[j]) / (4.0 * *area);
    return *area > 0.0 && isfinite(k[0][0] + k[1][1] + k[2][2]);
}

static void element_linear(double k[3][3], double area, element *e)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            e->stiffness[i][j] = k[i][j];
            e->mass[i][j] = area / 12.0 * (i == j ? 2.0 : 1.0);
        }
}

/* Node 3 + i is the middle of the edge from corner i to the next, and faces corner i + 2. */
static void element_quadratic(double k[3][3], double area, element *e)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int next = (j + 1) % 3, facing = (j + 2) % 3;
            const int i_next = (i + 1) % 3, i_facing = (i + 2) % 3;
            e->stiffness[i][j] = i == j ? k[i][i] : -k[i][j] / 3.0;
            e->mass[i][j] = area / 180.0 * (i == j ? 6.0 : -1.0);
            e->stiffness[i][3 + j] = i == facing ? 0.0 : 4.0 / 3.0 * k[j][next];
            e->mass[i][3 + j] = i == facing ? -4.0 * area / 180.0 : 0.0;
            e->stiffness[3 + j][i] = e->stiffness[i][3 + j];
            e->mass[3 + j][i] = e->mass[i][3 + j];
            /* edges i and j share the corner that neither of them faces; the others are those that they face */
            e->stiffness[3 + i][3 + j] = i == j ? 8.0 / 3.0 * (k[i][i] + k[i_next][i_next] + k[i][i_next])
                                                : 8.0 / 3.0 * k[i_facing][facing];
            e->mass[3 + i][3 + j] = area / 180.0 * (i == j ? 32.0 : 16.0);
        }
}

static bool element_make(const mesh *m, int elements, size_t face, element *e)
{
    double k[3][3], area = 0.0;
    const bool sound = face_products(m, face, k, &area);
    if (elements == 1)
        element_linear(k, area, e);
    else
        element_quadratic(k, area, e);
    return sound;
}

/* ---- All faces --------------------------------------------------------------------------------------------------- */

/* Where each node is a corner: numbers into at->node, rising, so that sums run in the order of the faces. */
static npmd_status incidences_make(const mesh *m, const fem_nodes *at, lists *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    lists l = { 0 };
    const size_t count = (size_t)at->corners * m->faces;
    TRY(memory_new(&l.start, at->nodes + 1, err));
    TRY(memory_new(&l.item, count, err));
    for (size_t i = 0; i < count; i++)
        l.start[at->node[i] + 1]++;
    lists_sum(l.start, at->nodes);
    for (size_t i = 0; i < count; i++)
        l.item[l.start[at->node[i]]++] = (int32_t)i;
    lists_rewind(l.start, at->nodes);
    *out = l;
    l = (lists){ 0 };
done:
    lists_free(&l);
    return st;
}

/* The columns of row i into column (NULL: only counted), each once, in no order; seen (nodes) holds no i yet. */
static int32_t row_columns(const fem_nodes *at, const lists *uses, int32_t i, int32_t *seen, int32_t *column)
{
    int32_t count = 0;
    for (int32_t u = uses->start[i]; u < uses->start[i + 1]; u++) {
        const int32_t *node = at->node + uses->item[u] / at->corners * at->corners;
        for (int k = 0; k < at->corners; k++)
            if (seen[node[k]] != i) {
                seen[node[k]] = i;
                if (column != NULL)
                    column[count] = node[k];
                count++;
            }
    }
    return count;
}

static npmd_status pattern_make(const fem_nodes *at, const lists *uses, int32_t *place, fem_matrices *a,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int32_t nodes = (int32_t)at->nodes;
    TRY(memory_new(&a->start, at->nodes + 1, err));
    for (int32_t i = 0; i < nodes; i++)
        place[i] = -1;
    for (int32_t i = 0; i < nodes; i++)
        a->start[i + 1] = a->start[i] + row_columns(at, uses, i, place, NULL);
    TRY(memory_new(&a->column, a->start[nodes], err));
    for (int32_t i = 0; i < nodes; i++)
        place[i] = -1;
    for (int32_t i = 0; i < nodes; i++)
        sort_rising(a->column + a->start[i], row_columns(at, uses, i, place, a->column + a->start[i]));
done:
    return st;
}

/* Row i: the sum over the faces about it of their element's row. place (nodes) is room. */
static npmd_status row_fill(const mesh *m, const fem_nodes *at, const lists *uses, int32_t i, int32_t *place,
                            fem_matrices *a, npmd_error *err)
{
    element e;
    if (uses->start[i] == uses->start[i + 1])
        return npmd_fail(err, NPMD_ERR_FORMAT, "vertex %d belongs to no face", i + 1);
    for (int32_t c = a->start[i]; c < a->start[i + 1]; c++)
        place[a->column[c]] = c;
    for (int32_t u = uses->start[i]; u < uses->start[i + 1]; u++) {
        const int32_t face = uses->item[u] / at->corners, row = uses->item[u] % at->corners;
        if (!element_make(m, at->elements, (size_t)face, &e))
            return npmd_fail(err, NPMD_ERR_FORMAT, "face %d has no area", face + 1);
        for (int k = 0; k < at->corners; k++) {
            const int32_t c = place[at->node[face * at->corners + k]];
            a->stiffness[c] += e.stiffness[row][k];
            a->mass[c] += e.mass[row][k];
        }
    }
    return NPMD_OK;
}

npmd_status fem_assemble(const mesh *m, const fem_nodes *at, fem_matrices *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    fem_matrices a = { .nodes = at->nodes };
    lists uses = { 0 };
    int32_t *place = NULL;
    TRY(memory_new(&place, at->nodes, err));
    TRY(incidences_make(m, at, &uses, err));
    TRY(pattern_make(at, &uses, place, &a, err));
    TRY(memory_new(&a.stiffness, a.start[at->nodes], err));
    TRY(memory_new(&a.mass, a.start[at->nodes], err));
    for (int32_t i = 0; i < (int32_t)at->nodes; i++)
        TRY(row_fill(m, at, &uses, i, place, &a, err));
    *out = a;
    a = (fem_matrices){ 0 };
done:
    memory_free(place);
    lists_free(&uses);
    fem_matrices_free(&a);
    return st;
}

void fem_matrices_free(fem_matrices *a)
{
    memory_free_all(a->start, a->column, a->stiffness, a->mass);
    *a = (fem_matrices){ 0 };
}

void fem_apply(const fem_matrices *a, const double *entry, const double *x, double *y)
{
    for (size_t i = 0; i < a->nodes; i++) {
        double sum = 0.0;
        for (int32_t c = a->start[i]; c < a->start[i + 1]; c++)
            sum += entry[c] * x[a->column[c]];
        y[i] = sum;
    }
}
