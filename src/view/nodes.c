/* nodes.c - where the values of a factor are known to the page, and what volume each node stands for. */
#include "view.h"

static npmd_status circle_nodes(view_factor *f, size_t most, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    f->n = most < 8 ? 8 : most;
    TRY(memory_new(&f->x, f->n, err));
    TRY(memory_new(&f->weight, f->n, err));
    for (size_t i = 0; i < f->n; i++) {
        f->x[i] = TWO_PI * (double)i / (double)f->n;
        f->weight[i] = TWO_PI / (double)f->n;
    }
done:
    return st;
}

static npmd_status sphere_nodes(view_factor *f, size_t most, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    f->resolution = 2;
    while (f->resolution < GEODESIC_MOST && geodesic_nodes(f->resolution + 1) <= most)
        f->resolution++;
    f->n = geodesic_nodes(f->resolution);
    TRY(memory_new(&f->x, 3 * f->n, err));
    TRY(memory_new(&f->weight, f->n, err));
    geodesic_grid(f->resolution, f->x, f->weight);
done:
    return st;
}

/* x (n, 3): vertices as a corner of the first face that has them; vertex NULL: all. */
static npmd_status vertices_as_points(const mesh *m, const int32_t *vertex, size_t n, double *x,
                                      npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t *corner = NULL;
    TRY(memory_new(&corner, m->vertices, err));
    for (size_t k = 3 * m->faces; k-- > 0;)
        corner[m->face[k]] = k;
    for (size_t i = 0; i < n; i++) {
        const size_t k = corner[vertex == NULL ? i : (size_t)vertex[i]];
        x[3 * i] = (double)(k / 3);
        x[3 * i + 1] = k % 3 == 1 ? 1.0 : 0.0;
        x[3 * i + 2] = k % 3 == 2 ? 1.0 : 0.0;
    }
done:
    memory_free(corner);
    return st;
}

static npmd_status mesh_nodes(view_factor *f, size_t most, const asking *ask, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const mesh *m = &surface_of(f->on)->mesh;
    f->n = m->vertices <= most ? m->vertices : most < 8 ? 8 : most;
    if (f->n > m->vertices)
        f->n = m->vertices;
    TRY(memory_new(&f->x, 3 * f->n, err));
    TRY(memory_new(&f->weight, f->n, err));
    if (f->n == m->vertices) {
        mesh_vertex_areas(m, f->weight);
    } else {
        TRY(memory_new(&f->vertex, f->n, err));
        TRY(thin_vertices(m, f->n, ask, f->vertex, f->weight, err));
    }
    TRY(vertices_as_points(m, f->vertex, f->n, f->x, err));
done:
    return st;
}

npmd_status view_factor_open(view_factor *f, const npmd_domain *dom, int factor, size_t most,
                             const asking *ask, npmd_error *err)
{
    *f = (view_factor){ .factor = factor, .on = dom->factor[factor] };
    if (surface_of(f->on) != NULL) {
        f->kind = VIEW_MESH;
        return mesh_nodes(f, most, ask, err);
    }
    if (strcmp(f->on->name, SPHERE.name) == 0) {
        f->kind = VIEW_SPHERE;
        return sphere_nodes(f, most, err);
    }
    if (strcmp(f->on->name, CIRCLE.name) == 0) {
        f->kind = VIEW_CIRCLE;
        return circle_nodes(f, most, err);
    }
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "the page knows S1, S2 and surfaces; factor %d of the model is %s", factor + 1,
                     f->on->name);
}

void view_factor_close(view_factor *f)
{
    memory_free(f->x);
    memory_free(f->weight);
    memory_free(f->vertex);
    *f = (view_factor){ 0 };
}
