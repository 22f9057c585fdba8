/* locate.c - the closest point of a triangulated surface, through a tree of boxes.
 *
 * Faces are split at the median of their centroids, along the longest side of the box about the centroids, until LEAF
 * of them are left; the tree is balanced, so that its depth is bounded and a query walks it with a stack of fixed size.
 * A query allocates and changes nothing: many threads may query at once.
 *
 * Equal distances must be equal bits for the lowest face to win, and a point is most often equally close to the faces
 * about an edge or a vertex. So the distance from an edge is always computed from its vertex of lower number, whatever
 * the face. Boxes are wider than their contents by more than the rounding of a point on a face, so that no box with an
 * equally close face is skipped. */
#include "surface.h"

#include <float.h>

enum { LEAF = 4, DEPTH = 64 }; /* a halved set of 2^31 faces has 30 levels */
#define SLACK 1e-12

typedef struct box {
    double low[3], high[3];
} box;

typedef struct tree_node {
    box bounds;
    int32_t first; /* inner: its two children are first and first + 1; leaf: its first place */
    int32_t count; /* faces of a leaf; 0: inner */
} tree_node;

typedef struct triangle { /* a face with what a query needs, in the order of the leaves */
    double corner[3][3];
    double normal[3]; /* (b - a) x (c - a) */
    double square;    /* of the normal's length */
    int32_t face;
    unsigned char backward; /* bit k: edge k, from corner k to the next, runs to the vertex of lower number */
} triangle;

struct locator {
    tree_node *node;
    triangle *place; /* (faces) */
};

/* ---- Building ---------------------------------------------------------------------------------------------------- */

typedef struct builder {
    const mesh *m;
    double *centroid; /* (faces, 3) */
    int32_t *order;   /* (faces) the faces, as the leaves will have them */
    double slack;     /* by which boxes are wider than their faces */
} builder;

static bool before(const builder *b, int axis, int32_t i, int32_t j)
{
    const double a = b->centroid[3 * (size_t)i + (size_t)axis], c = b->centroid[3 * (size_t)j + (size_t)axis];
    return a < c || (a == c && i < j);
}

static void swap(int32_t *a, int32_t *b)
{
    const int32_t held = *a;
    *a = *b;
    *b = held;
}

/* Of order[low .. high - 1] the lower part comes before place middle, the upper behind (Hoare's selection, with the
 * median of three as pivot). */
static void halve(const builder *b, int axis, int32_t low, int32_t middle, int32_t high)
{
    int32_t *o = b->order;
    while (high - low > 1) {
        const int32_t last = high - 1, half = low + (last - low) / 2;
        if (before(b, axis, o[half], o[low]))
            swap(&o[half], &o[low]);
        if (before(b, axis, o[last], o[half]))
            swap(&o[last], &o[half]);
        if (before(b, axis, o[half], o[low]))
            swap(&o[half], &o[low]);
        const int32_t pivot = o[half];
        int32_t i = low, j = last;
        while (i <= j) {
            while (before(b, axis, o[i], pivot))
                i++;
            while (before(b, axis, pivot, o[j]))
                j--;
            if (i <= j)
                swap(&o[i++], &o[j--]);
        }
        if (middle <= j)
            high = j + 1;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static void box_add(box *a, const double *x)
{
    for (int k = 0; k < 3; k++) {
        a->low[k] = fmin(a->low[k], x[k]);
        a->high[k] = fmax(a->high[k], x[k]);
    }
}

static const box NOTHING = { .low = { DBL_MAX, DBL_MAX, DBL_MAX }, .high = { -DBL_MAX, -DBL_MAX, -DBL_MAX } };

static box bounds_of(const builder *b, int32_t low, int32_t high)
{
    box all = NOTHING;
    for (int32_t i = low; i < high; i++)
        for (int k = 0; k < 3; k++)
            box_add(&all, b->m->x + 3 * (size_t)b->m->face[3 * (size_t)b->order[i] + (size_t)k]);
    for (int k = 0; k < 3; k++) {
        all.low[k] -= b->slack;
        all.high[k] += b->slack;
    }
    return all;
}

static int longest_axis(const builder *b, int32_t low, int32_t high)
{
    box all = NOTHING;
    int axis = 0;
    for (int32_t i = low; i < high; i++)
        box_add(&all, b->centroid + 3 * (size_t)b->order[i]);
    for (int k = 1; k < 3; k++)
        if (all.high[k] - all.low[k] > all.high[axis] - all.low[axis])
            axis = k;
    return axis;
}

typedef struct range {
    int32_t node, low, high;
} range;

/* A full binary tree whose leaves hold at least LEAF / 2 faces. */
static void build(const builder *b, tree_node *node)
{
    range todo[DEPTH] = { { 0, 0, (int32_t)b->m->faces } };
    int32_t used = 1;
    for (int left = 1; left > 0;) {
        const range r = todo[--left];
        tree_node *at = &node[r.node];
        at->bounds = bounds_of(b, r.low, r.high);
        if (r.high - r.low <= LEAF) {
            at->first = r.low;
            at->count = r.high - r.low;
            continue;
        }
        const int32_t middle = r.low + (r.high - r.low) / 2;
        halve(b, longest_axis(b, r.low, r.high), r.low, middle, r.high);
        at->first = used;
        todo[left++] = (range){ used, r.low, middle };
        todo[left++] = (range){ used + 1, middle, r.high };
        used += 2;
    }
}

static void triangle_make(const mesh *m, int32_t face, triangle *out)
{
    const int32_t *v = m->face + 3 * (size_t)face;
    double ab[3], ac[3];
    for (int k = 0; k < 3; k++) {
        memcpy(out->corner[k], m->x + 3 * (size_t)v[k], sizeof out->corner[k]);
        if (v[(k + 1) % 3] < v[k])
            out->backward = (unsigned char)(out->backward | 1 << k);
    }
    minus3(out->corner[1], out->corner[0], ab);
    minus3(out->corner[2], out->corner[0], ac);
    cross3(ab, ac, out->normal);
    out->square = dot3(out->normal, out->normal);
    out->face = face;
}

npmd_status locator_open(const mesh *m, locator **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    builder b = { .m = m };
    locator *l = NULL;
    if (m->faces == 0 || m->faces > INT32_MAX)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "a surface of %zu faces: 1 to %d were expected", m->faces, INT32_MAX);
    TRY(memory_new(&l, 1, err));
    TRY(memory_new(&b.centroid, 3 * m->faces, err));
    TRY(memory_new(&b.order, m->faces, err));
    /* every leaf has at least LEAF / 2 faces, or there is one only */
    TRY(memory_new(&l->node, 2 * (m->faces / (LEAF / 2)) + 1, err));
    TRY(memory_new(&l->place, m->faces, err));
    for (size_t i = 0; i < 3 * m->vertices; i++)
        b.slack = fmax(b.slack, fabs(m->x[i]));
    b.slack *= 8.0 * DBL_EPSILON; /* a point of a face is off by less: three products, two sums */
    for (size_t i = 0; i < m->faces; i++) {
        b.order[i] = (int32_t)i;
        for (size_t k = 0; k < 9; k++)
            b.centroid[3 * i + k % 3] += m->x[3 * (size_t)m->face[3 * i + k / 3] + k % 3] / 3.0;
    }
    build(&b, l->node);
    for (size_t i = 0; i < m->faces; i++)
        triangle_make(m, b.order[i], &l->place[i]);
    *out = l;
    l = NULL;
done:
    memory_free_all(b.centroid, b.order);
    locator_close(l);
    return st;
}

void locator_close(locator *l)
{
    if (l == NULL)
        return;
    memory_free_all(l->node, l->place, l);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

typedef struct closest {
    double square; /* of the distance */
    int32_t face;
    double weight[3]; /* of the corners */
} closest;

static void closest_take(closest *best, double square, int32_t face, double a, double b, double c)
{
    if (square < best->square || (square == best->square && face < best->face))
        *best = (closest){ square, face, { a, b, c } };
}

/* Edge k: x = a + t (b - a), t = (p - a).(b - a) / |b - a|^2 within [0, 1], a the vertex of lower number. */
static void edge_try(const triangle *t, int k, const double *p, closest *best)
{
    const int next = (k + 1) % 3, from = t->backward >> k & 1 ? next : k, to = from == k ? next : k;
    double along[3], away[3], weight[3] = { 0.0 };
    minus3(t->corner[to], t->corner[from], along);
    minus3(p, t->corner[from], away);
    const double length = dot3(along, along), reach = dot3(away, along);
    double share = length > 0.0 ? reach / length : 0.0;
    if (share >= 1.0) {
        share = 1.0;
        minus3(p, t->corner[to], away); /* the vertex itself: the same for every face about it */
    } else if (share > 0.0) {
        for (int i = 0; i < 3; i++)
            away[i] = p[i] - (t->corner[from][i] + share * along[i]);
    } else {
        share = 0.0;
    }
    weight[to] = share;
    weight[from] = 1.0 - share;
    closest_take(best, dot3(away, away), t->face, weight[0], weight[1], weight[2]);
}

/* The foot of the perpendicular has the weights w_a = ((c - b) x (p - b)).n / |n|^2 and its like, n = (b - a) x (c -
 * a): areas of the triangles that it makes with the edges. If none is negative it is the closest point, else that lies
 * on an edge that has the foot on its far side. (Areas by cross products keep twice the digits that the normal
 * equations would on a narrow face.) No face is closer than its plane; the slack is for rounding. */
static void triangle_try(const triangle *t, const double *p, closest *best)
{
    double away[3], weight[3];
    minus3(p, t->corner[0], away);
    const double height = dot3(away, t->normal), reach = dot3(away, away);
    if (height * height > t->square * (best->square + SLACK * reach))
        return;
    for (int k = 0; k < 3; k++) { /* the edge that faces corner k */
        const double *from = t->corner[(k + 1) % 3], *to = t->corner[(k + 2) % 3];
        double along[3], area[3];
        minus3(to, from, along);
        minus3(p, from, away);
        cross3(along, away, area);
        weight[k] = dot3(area, t->normal);
    }
    if (weight[0] >= 0.0 && weight[1] >= 0.0 && weight[2] >= 0.0 && t->square > 0.0) {
        const double total = weight[0] + weight[1] + weight[2], u = weight[1] / total, v = weight[2] / total;
        double foot[3];
        for (int i = 0; i < 3; i++)
            foot[i] = p[i]
                      - (t->corner[0][i] + u * (t->corner[1][i] - t->corner[0][i])
                         + v * (t->corner[2][i] - t->corner[0][i]));
        closest_take(best, dot3(foot, foot), t->face, 1.0 - u - v, u, v);
        return;
    }
    for (int k = 0; k < 3; k++)
        if (weight[(k + 2) % 3] <= SLACK * t->square)
            edge_try(t, k, p, best);
}

static double box_square(const box *b, const double *p)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        const double below = b->low[k] - p[k], above = p[k] - b->high[k], out = below > above ? below : above,
                     gap = out > 0.0 ? out : 0.0;
        sum += gap * gap;
    }
    return sum;
}

typedef struct visit {
    double square;
    int32_t node;
} visit;

double locator_nearest(const locator *l, const double *p, surface_point *out)
{
    visit todo[DEPTH] = { { 0.0, 0 } };
    closest best = { .square = INFINITY, .face = INT32_MAX };
    for (int left = 1; left > 0;) {
        const visit now = todo[--left];
        if (now.square > best.square)
            continue;
        const tree_node *at = &l->node[now.node];
        if (at->count > 0) {
            for (int32_t i = 0; i < at->count; i++)
                triangle_try(&l->place[at->first + i], p, &best);
            continue;
        }
        const visit a = { box_square(&l->node[at->first].bounds, p), at->first },
                    b = { box_square(&l->node[at->first + 1].bounds, p), at->first + 1 };
        const bool nearer = a.square <= b.square; /* the nearer one is walked first: it lies on top */
        todo[left++] = nearer ? b : a;
        todo[left++] = nearer ? a : b;
    }
    if (best.face == INT32_MAX) { /* so far away that squares overflow */
        *out = (surface_point){ 0 };
        return INFINITY;
    }
    *out = (surface_point){ (size_t)best.face, best.weight[1], best.weight[2] };
    return sqrt(best.square);
}
