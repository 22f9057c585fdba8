/* mesh.c - vertices and faces: indices checked, areas, a hash.
 *
 * The area of a face (a, b, c) is half the length of (x_b - x_a) x (x_c - x_a). */
#include "mesh_formats.h"

static const double *corner_of(const mesh *m, size_t face, int k)
{
    return m->x + 3 * (size_t)m->face[3 * face + (size_t)k];
}

double mesh_face_area(const mesh *m, size_t face)
{
    const double *a = corner_of(m, face, 0), *b = corner_of(m, face, 1), *c = corner_of(m, face, 2);
    double u[3], v[3], n[3];
    minus3(b, a, u);
    minus3(c, a, v);
    cross3(u, v, n);
    return 0.5 * sqrt(dot3(n, n));
}

/* tan(area / 2) = det(a, b, c) / (1 + a.b + b.c + c.a), Van Oosterom and Strackee 1983. */
double sphere_triangle_area(const double *a, const double *b, const double *c)
{
    double n[3];
    cross3(b, c, n);
    return 2.0 * atan2(dot3(a, n), 1.0 + dot3(a, b) + dot3(b, c) + dot3(c, a));
}

static npmd_status numbers_check(const mesh *m, const char *where, npmd_error *err)
{
    for (size_t i = 0; i < 3 * m->vertices; i++)
        if (!isfinite(m->x[i]))
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s: vertex %zu: coordinate %c is %s where a finite number was expected", where,
                             i / 3 + (size_t)m->first, "xyz"[i % 3], isnan(m->x[i]) ? "NaN" : "infinite");
    for (size_t i = 0; i < 3 * m->faces; i++)
        if (m->face[i] < 0 || (size_t)m->face[i] >= m->vertices)
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s: face %zu has a corner at vertex %lld, but the vertices are %d to %lld", where,
                             i / 3 + (size_t)m->first, (long long)m->face[i] + m->first, m->first,
                             (long long)m->vertices - 1 + m->first);
    return NPMD_OK;
}

static uint64_t hash_of(const mesh *m)
{
    uint64_t h = hash_word(hash_word(0, m->vertices), m->faces);
    for (size_t i = 0; i < 3 * m->vertices; i++) {
        const double x = m->x[i] + 0.0; /* -0 and 0 are equal numbers */
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        h = hash_word(h, bits);
    }
    for (size_t i = 0; i < 3 * m->faces; i++)
        h = hash_word(h, (uint64_t)m->face[i]);
    return h;
}

npmd_status mesh_make_counted(mesh_parts *parts, int first, const char *where, mesh *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mesh m = { .vertices = parts->vertices, .faces = parts->faces, .x = parts->x, .face = parts->face, .first = first };
    *parts = (mesh_parts){ 0 };
    if (m.vertices == 0 || m.faces == 0 || m.vertices > INT32_MAX || m.faces > INT32_MAX)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT,
                      "%s has %zu vertices and %zu faces, at least one and below 2^31 of each were expected", where,
                      m.vertices, m.faces));
    TRY(numbers_check(&m, where, err));
    for (size_t f = 0; f < m.faces; f++)
        m.area += mesh_face_area(&m, f);
    if (!isfinite(m.area))
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: the area of its faces is too large for a double", where));
    m.hash = hash_of(&m);
    *out = m;
    m = (mesh){ 0 };
done:
    mesh_free(&m);
    return st;
}

npmd_status mesh_make(size_t vertices, double *x, size_t faces, int32_t *face, const char *where, mesh *out,
                      npmd_error *err)
{
    mesh_parts parts = { .vertices = vertices, .faces = faces, .x = x, .face = face };
    return mesh_make_counted(&parts, 0, where, out, err);
}

void mesh_free(mesh *m)
{
    if (m == NULL)
        return;
    memory_free_all(m->x, m->face);
    *m = (mesh){ 0 };
}

/* x = (1 - u - v) x_a + u x_b + v x_c */
void mesh_point(const mesh *m, size_t face, double u, double v, double *x)
{
    const double *a = corner_of(m, face, 0), *b = corner_of(m, face, 1), *c = corner_of(m, face, 2);
    for (int i = 0; i < 3; i++)
        x[i] = (1.0 - u - v) * a[i] + u * b[i] + v * c[i];
}

void mesh_vertex_areas(const mesh *m, double *area)
{
    memset(area, 0, m->vertices * sizeof *area);
    for (size_t f = 0; f < m->faces; f++) {
        const double third = mesh_face_area(m, f) / 3.0;
        for (int k = 0; k < 3; k++)
            area[m->face[3 * f + (size_t)k]] += third;
    }
}
