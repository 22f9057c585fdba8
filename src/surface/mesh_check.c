/* mesh_check.c - is a mesh a closed, connected, consistently oriented surface?
 *
 * Half-edge 3 f + k runs from corner k of face f to corner k + 1. They are sorted by their two vertices, so that those
 * of one edge are adjacent: on a closed surface two, twins of opposite direction. About a vertex, the twin of the
 * half-edge that enters it leaves it in the next face; a fan is closed when the walk returns to its start. All faces
 * may be oriented inwards: the Laplacian is the same. */
#include "mesh_formats.h"

#include <stdio.h>

typedef struct half_edge {
    int32_t low, high; /* vertices */
    uint32_t number;   /* 3 f + k */
    bool up;           /* from low to high */
} half_edge;

typedef struct inspection {
    const mesh *m;
    const char *where;
    half_edge *edge;  /* (3 faces), sorted */
    uint32_t *twin;   /* (3 faces) */
    int32_t *parent;  /* (vertices): trees of vertices that hang together */
    uint32_t *leaves; /* (vertices): a half-edge that leaves it */
    int32_t *degree;  /* (vertices): faces about it */
} inspection;

/* " (and 4 more)" */
static const char *more(size_t count, char text[48])
{
    text[0] = 0;
    if (count > 1)
        snprintf(text, 48, " (and %zu more)", count - 1);
    return text;
}

static size_t shown(const inspection *s, size_t index)
{
    return index + (size_t)s->m->first;
}

/* ---- faces one by one -------------------------------------------------------------------------------------------- */

static bool face_repeats(const int32_t *v)
{
    return v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
}

/* Is the cross product of two sides no more than its rounding? Each of its entries is a difference of products of
 * differences, with a relative error of at most 4 eps (eps = 2^-53) of |u| |v|: 2^-49 covers all three. */
static bool face_flat(const mesh *m, const int32_t *v)
{
    const double *a = m->x + 3 * (size_t)v[0], *b = m->x + 3 * (size_t)v[1], *c = m->x + 3 * (size_t)v[2];
    double p[3], q[3], n[3];
    minus3(b, a, p);
    minus3(c, a, q);
    cross3(p, q, n);
    return sqrt(dot3(n, n)) <= 0x1p-49 * sqrt(dot3(p, p)) * sqrt(dot3(q, q));
}

static npmd_status faces_check(const inspection *s, npmd_error *err)
{
    const mesh *m = s->m;
    size_t repeating = 0, flat = 0, first[2] = { 0 };
    char rest[48];
    for (size_t f = m->faces; f-- > 0;) {
        if (face_repeats(m->face + 3 * f)) {
            repeating++;
            first[0] = f;
        } else if (face_flat(m, m->face + 3 * f)) {
            flat++;
            first[1] = f;
        }
    }
    const int32_t *v = m->face + 3 * first[repeating == 0];
    if (repeating > 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: face %zu (%zu, %zu, %zu) has a vertex twice%s", s->where,
                         shown(s, first[0]), shown(s, (size_t)v[0]), shown(s, (size_t)v[1]), shown(s, (size_t)v[2]),
                         more(repeating, rest));
    if (flat > 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: face %zu (%zu, %zu, %zu) has no area: its corners lie on a line%s",
                         s->where, shown(s, first[1]), shown(s, (size_t)v[0]), shown(s, (size_t)v[1]),
                         shown(s, (size_t)v[2]), more(flat, rest));
    return NPMD_OK;
}

/* ---- equal faces ------------------------------------------------------------------------------------------------- */

typedef struct sorted_face {
    int32_t vertex[3]; /* rising */
    uint32_t number;
} sorted_face;

static int face_order(const void *p, const void *q)
{
    const sorted_face *a = p, *b = q;
    for (int k = 0; k < 3; k++)
        if (a->vertex[k] != b->vertex[k])
            return a->vertex[k] < b->vertex[k] ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static sorted_face face_sorted(const int32_t *v, size_t number)
{
    const int32_t low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
    sorted_face out = { .vertex = { low, high, v[2] }, .number = (uint32_t)number };
    if (v[2] < low)
        out = (sorted_face){ .vertex = { v[2], low, high }, .number = (uint32_t)number };
    else if (v[2] < high)
        out = (sorted_face){ .vertex = { low, v[2], high }, .number = (uint32_t)number };
    return out;
}

static npmd_status repeats_check(const inspection *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const mesh *m = s->m;
    sorted_face *face = NULL;
    size_t repeats = 0, first = SIZE_MAX, of = 0;
    char rest[48];
    TRY(memory_new(&face, m->faces, err));
    for (size_t f = 0; f < m->faces; f++)
        face[f] = face_sorted(m->face + 3 * f, f);
    qsort(face, m->faces, sizeof *face, face_order);
    for (size_t f = 1; f < m->faces; f++)
        if (memcmp(face[f].vertex, face[f - 1].vertex, sizeof face[f].vertex) == 0) {
            repeats++;
            if (face[f].number < first) {
                first = face[f].number;
                of = face[f - 1].number;
            }
        }
    if (repeats > 0)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: face %zu has the same corners as face %zu%s", s->where,
                       shown(s, first), shown(s, of), more(repeats, rest));
done:
    memory_free(face);
    return st;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

static int edge_order(const void *p, const void *q)
{
    const half_edge *a = p, *b = q;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void edges_sort(inspection *s)
{
    const mesh *m = s->m;
    for (size_t h = 0; h < 3 * m->faces; h++) {
        const int32_t from = m->face[h], to = m->face[h % 3 == 2 ? h - 2 : h + 1];
        s->edge[h] = (half_edge){
            .low = from < to ? from : to, .high = from < to ? to : from, .number = (uint32_t)h, .up = from < to
        };
    }
    qsort(s->edge, 3 * m->faces, sizeof *s->edge, edge_order);
}

/* How many half-edges from e on are of the same edge. */
static size_t edge_faces(const inspection *s, size_t e)
{
    size_t end = e + 1;
    while (end < 3 * s->m->faces && s->edge[end].low == s->edge[e].low && s->edge[end].high == s->edge[e].high)
        end++;
    return end - e;
}

/* A tree's root; the path to it is halved on the way. */
static int32_t root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* False: they hung together before. */
static bool join(int32_t *parent, int32_t a, int32_t b)
{
    const int32_t p = root_of(parent, a), q = root_of(parent, b);
    if (p < q)
        parent[q] = p;
    else
        parent[p] = q;
    return p != q;
}

static void trees_plant(const inspection *s)
{
    for (size_t v = 0; v < s->m->vertices; v++)
        s->parent[v] = (int32_t)v;
}

/* Edges of one face hang together in loops: as many as there are edges that close one. */
static npmd_status holes_fail(const inspection *s, size_t count, size_t first, npmd_error *err)
{
    size_t loops = 0;
    trees_plant(s);
    for (size_t e = 0, faces = 0; e < 3 * s->m->faces; e += faces) {
        faces = edge_faces(s, e);
        if (faces == 1)
            loops += !join(s->parent, s->edge[e].low, s->edge[e].high);
    }
    const half_edge *at = &s->edge[first];
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "%s is not closed: %zu edge%s one face only, in %zu loop%s; the first is the edge of "
                     "vertices %zu and %zu in face %zu",
                     s->where, count, count == 1 ? " has" : "s have", loops, loops == 1 ? "" : "s",
                     shown(s, (size_t)at->low), shown(s, (size_t)at->high), shown(s, at->number / 3));
}

static npmd_status edges_check(const inspection *s, npmd_error *err)
{
    enum { ONE, MANY, SAME, DEFECTS };
    size_t count[DEFECTS] = { 0 }, first[DEFECTS] = { 0 };
    char rest[48];
    for (size_t e = 0, faces = 0; e < 3 * s->m->faces; e += faces) {
        faces = edge_faces(s, e);
        const int defect = faces == 1 ? ONE : faces > 2 ? MANY : SAME;
        if (faces == 2 && s->edge[e].up != s->edge[e + 1].up)
            continue;
        if (count[defect]++ == 0 || s->edge[e].number < s->edge[first[defect]].number)
            first[defect] = e; /* the first in the order of the file's faces */
    }
    const half_edge *many = &s->edge[first[MANY]], *same = &s->edge[first[SAME]];
    if (count[MANY] > 0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: the edge of vertices %zu and %zu has %zu faces (%zu, %zu, %zu%s), expected 2%s", s->where,
                         shown(s, (size_t)many->low), shown(s, (size_t)many->high), edge_faces(s, first[MANY]),
                         shown(s, many[0].number / 3), shown(s, many[1].number / 3), shown(s, many[2].number / 3),
                         edge_faces(s, first[MANY]) > 3 ? ", ..." : "", more(count[MANY], rest));
    if (count[ONE] > 0)
        return holes_fail(s, count[ONE], first[ONE], err);
    if (count[SAME] > 0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: faces %zu and %zu are oriented against each other: both run along the edge of "
                         "vertices %zu and %zu in the same direction%s",
                         s->where, shown(s, same[0].number / 3), shown(s, same[1].number / 3),
                         shown(s, (size_t)same->low), shown(s, (size_t)same->high), more(count[SAME], rest));
    return NPMD_OK;
}

/* ---- vertices ---------------------------------------------------------------------------------------------------- */

static npmd_status use_check(const inspection *s, npmd_error *err)
{
    const mesh *m = s->m;
    size_t unused = 0, first = 0;
    char rest[48];
    for (size_t h = 0; h < 3 * m->faces; h++) {
        s->degree[m->face[h]]++;
        s->leaves[m->face[h]] = (uint32_t)h;
    }
    for (size_t v = m->vertices; v-- > 0;)
        if (s->degree[v] == 0) {
            unused++;
            first = v;
        }
    if (unused > 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: vertex %zu is a corner of no face%s", s->where, shown(s, first),
                         more(unused, rest));
    return NPMD_OK;
}

static npmd_status pieces_check(const inspection *s, npmd_error *err)
{
    const mesh *m = s->m;
    size_t pieces = 0, other = 0, kept = 0;
    trees_plant(s);
    for (size_t f = 0; f < m->faces; f++) {
        join(s->parent, m->face[3 * f], m->face[3 * f + 1]);
        join(s->parent, m->face[3 * f], m->face[3 * f + 2]);
    }
    for (size_t v = 0; v < m->vertices; v++)
        pieces += s->parent[v] == (int32_t)v;
    if (pieces < 2)
        return NPMD_OK;
    const int32_t whole = root_of(s->parent, m->face[0]);
    for (size_t f = m->faces; f-- > 0;) {
        if (root_of(s->parent, m->face[3 * f]) == whole)
            kept++;
        else
            other = f;
    }
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "%s is in %zu pieces, one was expected: that of face %zu has %zu of the %zu faces, and face "
                     "%zu lies in another",
                     s->where, pieces, shown(s, 0), kept, m->faces, shown(s, other));
}

static npmd_status fans_check(const inspection *s, npmd_error *err)
{
    const mesh *m = s->m;
    size_t pinched = 0, first = 0;
    char rest[48];
    for (size_t e = 0; e < 3 * m->faces; e += 2) {
        s->twin[s->edge[e].number] = s->edge[e + 1].number;
        s->twin[s->edge[e + 1].number] = s->edge[e].number;
    }
    for (size_t v = m->vertices; v-- > 0;) {
        int32_t walked = 0;
        uint32_t h = s->leaves[v];
        do { /* back to the half-edge that enters v, across it, and out again */
            h = s->twin[h % 3 == 0 ? h + 2 : h - 1];
            walked++;
        } while (h != s->leaves[v]);
        if (walked < s->degree[v]) {
            pinched++;
            first = v;
        }
    }
    if (pinched > 0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: at vertex %zu parts of the surface touch in a point: its faces are not one fan%s",
                         s->where, shown(s, first), more(pinched, rest));
    return NPMD_OK;
}

npmd_status mesh_check(const mesh *m, const char *where, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    inspection s = { .m = m, .where = where };
    if (m->faces > UINT32_MAX / 3) /* half-edges have numbers of 32 bits */
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s has %zu faces, at most %u were expected", where, m->faces,
                      UINT32_MAX / 3));
    TRY(faces_check(&s, err));
    TRY(repeats_check(&s, err));
    TRY(memory_new(&s.edge, 3 * m->faces, err));
    TRY(memory_new(&s.twin, 3 * m->faces, err));
    TRY(memory_new(&s.parent, m->vertices, err));
    TRY(memory_new(&s.leaves, m->vertices, err));
    TRY(memory_new(&s.degree, m->vertices, err));
    edges_sort(&s);
    TRY(edges_check(&s, err));
    TRY(use_check(&s, err));
    TRY(pieces_check(&s, err));
    TRY(fans_check(&s, err));
done:
    memory_free_all(s.edge, s.twin, s.parent, s.leaves, s.degree);
    return st;
}
