/* nodes.c - the nodes of a factor on the page, and the volume that each represents. */
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

static npmd_status mesh_nodes(view_factor *f, size_t most, const npmd_compute *how, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const mesh *m = &f->own;
    f->n = m->vertices <= most ? m->vertices : most < 8 ? 8 : most;
    if (f->n > m->vertices)
        f->n = m->vertices;
    TRY(memory_new(&f->x, 3 * f->n, err));
    TRY(memory_new(&f->weight, f->n, err));
    if (f->n == m->vertices) {
        mesh_vertex_areas(m, f->weight);
    } else {
        TRY(memory_new(&f->vertex, f->n, err));
        TRY(thin_vertices(m, f->n, how, f->vertex, f->weight, err));
    }
    for (size_t i = 0; i < f->n; i++)
        memcpy(f->x + 3 * i, m->x + 3 * (f->vertex == NULL ? i : (size_t)f->vertex[i]), 3 * sizeof *f->x);
done:
    return st;
}

npmd_status view_factor_open(view_factor *f, const domain_look *dom, int factor, size_t most, const npmd_compute *how,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *f = (view_factor){ .factor = factor, .on = &dom->factor[factor] };
    switch (f->on->kind) {
    case FACTOR_SURFACE:
        TRY(mesh_of_surface(npmd_domain_surface(dom->of, factor + 1), &f->own, err));
        TRY(mesh_nodes(f, most, how, err));
        break;
    case FACTOR_SPHERE:
        TRY(sphere_nodes(f, most, err));
        break;
    case FACTOR_CIRCLE:
        TRY(circle_nodes(f, most, err));
        break;
    default:
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "the page knows S1, S2 and surfaces; factor %d of the model is %s",
                       factor + 1, f->on->name);
    }
done:
    return st;
}

void view_factor_close(view_factor *f)
{
    mesh_free(&f->own);
    memory_free_all(f->x, f->weight, f->vertex);
    *f = (view_factor){ 0 };
}
