/* thin.c - some vertices of a surface that represent all.
 *
 * Each is the vertex that lies farthest, along the edges, from those chosen before it (Gonzalez 1985): they are spread
 * evenly whatever the size of the faces. A vertex and its area belong to the nearest of them. At the end they are
 * sorted along a space-filling curve (Morton 1966), so that neighbours in the order are neighbours on the surface and
 * their values differ little. */
#include "view.h"

typedef struct thinning {
    const mesh *m;
    int32_t *start, *next; /* (vertices + 1), (3 faces): the neighbours of a vertex */
    double *distance;      /* (vertices): distance to the nearest chosen vertex */
    int32_t *owner;        /* (vertices): that nearest vertex */
    int32_t *heap, *place; /* (vertices): those to be looked at, nearest first; where each stands, or -1 */
    size_t waiting;
    double *area;    /* (vertices) */
    uint64_t *order; /* (count): Morton's number and which one it is of */
} thinning;

/* In a closed, oriented surface every edge is run through once each way: b follows a in one face. */
static void neighbours_list(thinning *t)
{
    const mesh *m = t->m;
    for (size_t k = 0; k < 3 * m->faces; k++)
        t->start[m->face[k] + 1]++;
    for (size_t i = 0; i < m->vertices; i++)
        t->start[i + 1] += t->start[i];
    for (size_t k = 3 * m->faces; k-- > 0;) {
        const int32_t a = m->face[k], b = m->face[k % 3 == 2 ? k - 2 : k + 1];
        t->next[t->start[a] + t->place[a]++] = b; /* place: here, how many it has so far */
    }
}

static npmd_status thinning_open(thinning *t, const mesh *m, size_t count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    t->m = m;
    TRY(memory_new(&t->start, m->vertices + 1, err));
    TRY(memory_new(&t->next, 3 * m->faces, err));
    TRY(memory_new(&t->distance, m->vertices, err));
    TRY(memory_new(&t->owner, m->vertices, err));
    TRY(memory_new(&t->heap, m->vertices, err));
    TRY(memory_new(&t->place, m->vertices, err));
    TRY(memory_new(&t->area, m->vertices, err));
    TRY(memory_new(&t->order, count, err));
    neighbours_list(t);
    mesh_vertex_areas(m, t->area);
    for (size_t i = 0; i < m->vertices; i++) {
        t->distance[i] = INFINITY;
        t->place[i] = -1;
    }
done:
    return st;
}

/* ---- nearest first: a heap of vertices, equal distances by their number ------------------------------------------ */

static bool nearer(const thinning *t, int32_t a, int32_t b)
{
    return t->distance[a] < t->distance[b] || (t->distance[a] == t->distance[b] && a < b);
}

static void heap_set(thinning *t, size_t at, int32_t vertex)
{
    t->heap[at] = vertex;
    t->place[vertex] = (int32_t)at;
}

static void heap_rise(thinning *t, size_t at, int32_t vertex)
{
    while (at > 0 && nearer(t, vertex, t->heap[(at - 1) / 2])) {
        heap_set(t, at, t->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_set(t, at, vertex);
}

static int32_t heap_take(thinning *t)
{
    const int32_t first = t->heap[0], last = t->heap[--t->waiting];
    size_t at = 0;
    t->place[first] = -1;
    if (t->waiting == 0)
        return first;
    for (size_t child = 1; child < t->waiting; child = 2 * at + 1) {
        if (child + 1 < t->waiting && nearer(t, t->heap[child + 1], t->heap[child]))
            child++;
        if (!nearer(t, t->heap[child], last))
            break;
        heap_set(t, at, t->heap[child]);
        at = child;
    }
    heap_set(t, at, last);
    return first;
}

/* A vertex is now so far from this one, if that is less than before. */
static void reach(thinning *t, int32_t vertex, double distance, int32_t owner)
{
    if (distance >= t->distance[vertex])
        return;
    t->distance[vertex] = distance;
    t->owner[vertex] = owner;
    heap_rise(t, t->place[vertex] < 0 ? t->waiting++ : (size_t)t->place[vertex], vertex);
}

static void spread(thinning *t, int32_t vertex, int32_t owner)
{
    reach(t, vertex, 0.0, owner);
    while (t->waiting > 0) {
        const int32_t a = heap_take(t);
        for (int32_t k = t->start[a]; k < t->start[a + 1]; k++) {
            const double *p = t->m->x + 3 * (size_t)a, *q = t->m->x + 3 * (size_t)t->next[k];
            double d[3];
            minus3(p, q, d);
            reach(t, t->next[k], t->distance[a] + sqrt(dot3(d, d)), owner);
        }
    }
}

static int32_t farthest(const thinning *t)
{
    size_t best = 0;
    for (size_t i = 1; i < t->m->vertices; i++)
        if (t->distance[i] > t->distance[best])
            best = i;
    return (int32_t)best;
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/* The digits of the three coordinates in turn, ten each; the number among those chosen behind them. */
static void order_make(thinning *t, const int32_t *vertex, size_t count)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, side = 0.0;
    for (size_t i = 0; i < 3 * t->m->vertices; i++)
        low[i % 3] = fmin(low[i % 3], t->m->x[i]);
    for (size_t i = 0; i < 3 * t->m->vertices; i++)
        side = fmax(side, t->m->x[i] - low[i % 3]);
    for (size_t k = 0; k < count; k++) {
        uint64_t code = 0;
        for (int digit = 9; digit >= 0; digit--)
            for (int c = 0; c < 3; c++) {
                const double share = (t->m->x[3 * (size_t)vertex[k] + (size_t)c] - low[c]) / side;
                code = code << 1 | ((uint64_t)(1023.0 * share) >> digit & 1);
            }
        t->order[k] = code << 32 | k;
    }
    qsort(t->order, count, sizeof *t->order, by_number);
}

npmd_status thin_vertices(const mesh *m, size_t count, const npmd_compute *how, int32_t *vertex, double *weight,
                          npmd_error *err)
{
    npmd_status st = NPMD_OK;
    thinning t = { 0 };
    int32_t *chosen = NULL;
    assert(count >= 1 && count <= m->vertices && count < UINT32_MAX);
    TRY(thinning_open(&t, m, count, err));
    TRY(memory_new(&chosen, count, err));
    for (size_t k = 0; k < count; k++) {
        if (k % 64 == 0)
            TRY(compute_go_on(how, "page", 0.0, err));
        chosen[k] = k == 0 ? 0 : farthest(&t);
        spread(&t, chosen[k], (int32_t)k);
    }
    order_make(&t, chosen, count);
    int32_t *rank = t.heap; /* of those chosen; nothing waits any more */
    for (size_t k = 0; k < count; k++) {
        const size_t which = (size_t)(t.order[k] & UINT32_MAX);
        rank[which] = (int32_t)k;
        vertex[k] = chosen[which];
        weight[k] = 0.0;
    }
    for (size_t i = 0; i < m->vertices; i++)
        weight[rank[t.owner[i]]] += t.area[i];
done:
    memory_free_all(chosen, t.start, t.next, t.distance, t.owner, t.heap, t.place, t.area, t.order);
    return st;
}
