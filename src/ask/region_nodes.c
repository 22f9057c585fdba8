/* region_nodes.c - the vertices of a mesh as nodes of an integral over one factor.
 *
 * The cell of a vertex is, of every face about it, the third at its corner, bounded by the midpoints of two edges and
 * the centroid of the face. There are two rules: the vertex, with the area of its cell; and, for the error, one node
 * for each third of a face, at the centroid of that third, which is exact for functions that are linear on the face.
 * For corner a of (a, b, c) this centroid is
 *
 *     (22 a + 7 b + 7 c) / 36,
 *
 * the mean of the centroids of the triangles (a, (a + b)/2, (a + b + c)/3) and (a, (a + b + c)/3, (a + c)/2).
 *
 * On S2 the mesh is a sphere about the origin of any radius, its vertices are brought to unit length, and a face is the
 * spherical triangle of its corners (Van Oosterom and Strackee 1983):
 *
 *     tan(area / 2) = det(a, b, c) / (1 + a.b + b.c + c.a)
 *
 * Areas keep their sign, so that a face that a registration folded over cancels what its neighbours count twice, and
 * all areas add up to 4 pi. */
#include "region.h"
#include "surface_factor.h"

#define CORNER 22.0 / 36 /* barycentric coordinates of a third's centroid */
#define OTHERS 7.0 / 36

/* ---- regions, "unknown" among them ------------------------------------------------------------------------------- */

static bool has_strays(const labels *l)
{
    for (size_t i = 0; i < l->vertices; i++)
        if (l->region[i] < 0)
            return true;
    return false;
}

/* Where vertices without a region are counted. */
static int stray_region(const labels *l)
{
    const int named = labels_find(l, "unknown");
    return named >= 0 ? named : l->regions;
}

int region_count(const npmd_labels *l)
{
    return l->l.regions + (has_strays(&l->l) && stray_region(&l->l) == l->l.regions);
}

const char *region_name(const npmd_labels *l, int region)
{
    return region == l->l.regions ? "unknown" : l->l.name[region];
}

int region_find(const npmd_labels *l, const char *name)
{
    const int found = labels_find(&l->l, name);
    if (found < 0 && strcmp(name, "unknown") == 0 && region_count(l) > l->l.regions)
        return l->l.regions;
    return found;
}

size_t region_vertices(const npmd_labels *l, int region)
{
    const int stray = stray_region(&l->l);
    size_t count = 0;
    for (size_t i = 0; i < l->l.vertices; i++)
        count += region == (l->l.region[i] >= 0 ? (int)l->l.region[i] : stray);
    return count;
}

/* ---- the sphere -------------------------------------------------------------------------------------------------- */

/* unit (vertices, 3) */
static void sphere_vertices(const mesh *m, double *unit)
{
    for (size_t i = 0; i < m->vertices; i++)
        for (size_t j = 3 * i; j < 3 * i + 3; j++)
            unit[j] = m->x[j] / sqrt(dot3(m->x + 3 * i, m->x + 3 * i));
}

/* area (faces), with the sign that makes their sum positive. */
static npmd_status sphere_areas(const mesh *m, const double *unit, double *area, npmd_error *err)
{
    double sum = 0.0;
    for (size_t f = 0; f < m->faces; f++) {
        const int32_t *at = m->face + 3 * f;
        area[f] = sphere_triangle_area(unit + 3 * (size_t)at[0], unit + 3 * (size_t)at[1], unit + 3 * (size_t)at[2]);
        sum += area[f];
    }
    for (size_t f = 0; sum < 0.0 && f < m->faces; f++)
        area[f] = -area[f];
    if (fabs(fabs(sum) - 4.0 * NPMD_PI) <= 1e-6) /* else it is another multiple of 4 pi */
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_FORMAT, "the faces of the sphere cover it %.0f times, expected once",
                     fabs(sum) / (4.0 * NPMD_PI));
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

void region_nodes_close(region_nodes *g)
{
    memory_free_all(g->x, g->area, g->region);
    *g = (region_nodes){ 0 };
}

static npmd_status nodes_new(region_nodes *g, size_t n, size_t columns, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    region_nodes made = { .n = n };
    TRY(memory_new(&made.x, n * columns, err));
    TRY(memory_new(&made.area, n, err));
    TRY(memory_new(&made.region, n, err));
    *g = made;
    made = (region_nodes){ 0 };
done:
    region_nodes_close(&made);
    return st;
}

/* Every third of every face, as a node at the vertex (which takes all thirds about it) or at the centroid. */
static void sphere_nodes(const mesh *m, const double *unit, const double *area, bool cells, region_nodes *g)
{
    if (!cells)
        memcpy(g->x, unit, 3 * m->vertices * sizeof *unit);
    for (size_t i = 0; i < 3 * m->faces; i++) {
        const size_t f = i / 3, node = cells ? i : (size_t)m->face[i];
        g->area[node] += area[f] / 3.0;
        if (!cells)
            continue;
        double x[3] = { 0.0 };
        for (size_t k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                x[j] += (k == i % 3 ? CORNER : OTHERS) * unit[3 * (size_t)m->face[3 * f + k] + (size_t)j];
        const double r = sqrt(dot3(x, x));
        for (int j = 0; j < 3; j++)
            g->x[3 * i + (size_t)j] = x[j] / r;
    }
}

/* The same on a surface, whose points are (face, u, v): corner 1 has u = 1, corner 2 has v = 1. */
static void surface_nodes(const mesh *m, bool cells, region_nodes *g)
{
    const double at = cells ? CORNER : 1.0, off = cells ? OTHERS : 0.0;
    for (size_t i = 0; i < 3 * m->faces; i++) {
        double *x = g->x + 3 * (cells ? i : (size_t)m->face[i]);
        x[0] = (double)(i / 3);
        x[1] = i % 3 == 1 ? at : off;
        x[2] = i % 3 == 2 ? at : off;
    }
    if (!cells) {
        mesh_vertex_areas(m, g->area);
        return;
    }
    for (size_t i = 0; i < 3 * m->faces; i++)
        g->area[i] = mesh_face_area(m, i / 3) / 3.0;
}

static npmd_status nodes_on_sphere(region_nodes *g, const mesh *m, bool cells, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *unit = NULL, *area = NULL;
    TRY(memory_new(&unit, 3 * m->vertices, err));
    TRY(memory_new(&area, m->faces, err));
    TRY(sphere_radii_check(m, err));
    sphere_vertices(m, unit);
    TRY(sphere_areas(m, unit, area, err));
    sphere_nodes(m, unit, area, cells, g);
done:
    memory_free_all(unit, area);
    return st;
}

static npmd_status surface_check(const surface *s, const mesh *m, int d, npmd_error *err)
{
    if (s->mesh.hash == m->hash)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "the surface of factor %d has %zu vertices and is not the one that the model was fitted "
                     "on, of %zu: labels and values would be of another mesh",
                     d + 1, m->vertices, s->mesh.vertices);
}

static npmd_status labels_check(const npmd_region_request *at, int d, npmd_error *err)
{
    if (at->labels[d] == NULL || at->labels[d]->l.vertices == at->surface[d]->m.vertices)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_SHAPE, "the labels of factor %d are of %zu vertices, its surface has %zu", d + 1,
                     at->labels[d]->l.vertices, at->surface[d]->m.vertices);
}

npmd_status region_nodes_open(region_nodes *out, const npmd_domain *dom, int d, const npmd_region_request *at,
                              bool cells, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const mesh *m = &at->surface[d]->m;
    const surface *s = surface_of(dom->factor[d]);
    region_nodes g = { 0 };
    TRY(labels_check(at, d, err));
    TRY(nodes_new(&g, cells ? 3 * m->faces : m->vertices, (size_t)dom->factor[d]->columns, err));
    if (s == NULL) {
        TRY(nodes_on_sphere(&g, m, cells, err));
    } else {
        TRY(surface_check(s, m, d, err));
        surface_nodes(m, cells, &g);
    }
    for (size_t i = 0; at->labels[d] != NULL && i < g.n; i++)
        g.region[i] = at->labels[d]->l.region[cells ? (size_t)m->face[i] : i];
    const int stray = at->labels[d] == NULL ? 0 : stray_region(&at->labels[d]->l);
    for (size_t i = 0; i < g.n; i++)
        g.region[i] = g.region[i] < 0 ? stray : g.region[i];
    *out = g;
    g = (region_nodes){ 0 };
done:
    region_nodes_close(&g);
    return st;
}

npmd_status region_nodes_pick(region_nodes *out, const region_nodes *from, const unsigned char *keep, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    region_nodes g = { 0 };
    size_t count = 0, at = 0;
    for (size_t i = 0; i < from->n; i++)
        count += keep[i] != 0;
    TRY(nodes_new(&g, count, 3, err));
    for (size_t i = 0; i < from->n; i++)
        if (keep[i]) {
            memcpy(g.x + 3 * at, from->x + 3 * i, 3 * sizeof *g.x);
            g.area[at] = from->area[i];
            g.region[at++] = from->region[i];
        }
    *out = g;
done:
    return st;
}
