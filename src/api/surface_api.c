/* surface_api.c - public functions of surfaces and labels: src/surface behind opaque types. */
#include "api.h"

#include <inttypes.h>
#include <stdio.h>

npmd_status npmd_surface_read(const char *path, npmd_surface **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_surface *s = NULL;
    TRY(memory_new(&s, 1, err));
    TRY(mesh_read(path, &s->m, err));
    TRY(mesh_check(&s->m, path, err));
    *out = s;
    s = NULL;
done:
    npmd_surface_free(s);
    return st;
}

void npmd_surface_free(npmd_surface *s)
{
    if (s == NULL)
        return;
    mesh_free(&s->m);
    memory_free(s);
}

size_t npmd_surface_vertices(const npmd_surface *s)
{
    return s->m.vertices;
}

size_t npmd_surface_faces(const npmd_surface *s)
{
    return s->m.faces;
}

double npmd_surface_area(const npmd_surface *s)
{
    return s->m.area;
}

void npmd_surface_vertex(const npmd_surface *s, size_t i, double x[3])
{
    assert(i < s->m.vertices);
    memcpy(x, s->m.x + 3 * i, 3 * sizeof *x);
}

void npmd_surface_face(const npmd_surface *s, size_t i, int32_t corner[3])
{
    assert(i < s->m.faces);
    memcpy(corner, s->m.face + 3 * i, 3 * sizeof *corner);
}

void npmd_surface_vertex_areas(const npmd_surface *s, double *area)
{
    mesh_vertex_areas(&s->m, area);
}

npmd_status npmd_surface_write(const npmd_surface *s, const char *path, const char *const *names,
                               const double *const *values, int count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    vertex_values *columns = NULL;
    if (count < 0)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "%d columns of values, a number from 0 on was expected", count));
    TRY(memory_new(&columns, count, err));
    for (int i = 0; i < count; i++)
        columns[i] = (vertex_values){ .name = names[i], .value = values[i] };
    TRY(mesh_write(path, &s->m, columns, count, err));
done:
    memory_free(columns);
    return st;
}

npmd_status npmd_surface_log_area(const npmd_surface *s, const npmd_surface *sphere, const double *x, size_t n,
                                  double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    locator *near = NULL;
    TRY(registered_check(&s->m, "the surface", &sphere->m, "its sphere", err));
    TRY(locator_open(&sphere->m, &near, err));
    for (size_t i = 0; i < n; i++)
        out[i] = registered_log_area(&s->m, &sphere->m, near, x + 3 * i);
done:
    locator_close(near);
    return st;
}

npmd_status npmd_surface_check(const char *path, npmd_error *err)
{
    return mesh_output_check(path, err);
}

npmd_status npmd_surface_eigen(const npmd_surface *s, int elements, int pairs, const npmd_compute *how, double *lambda,
                               double *phi, double *residual, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_compute own;
    eigenpairs e = { 0 };
    TRY(compute_take(how, &own, err));
    const fem_watch watch = { .progress = own.progress, .user = own.user };
    TRY(fem_eigenpairs(&s->m, elements, pairs, own.progress != NULL ? &watch : NULL, &e, err));
    memcpy(lambda, e.lambda, (size_t)pairs * sizeof *lambda);
    memcpy(phi, e.phi, s->m.vertices * (size_t)pairs * sizeof *phi); /* the vertices are the first nodes */
    if (residual != NULL)
        memcpy(residual, e.residual, (size_t)pairs * sizeof *residual);
done:
    eigenpairs_free(&e);
    return st;
}

int npmd_surface_is_file(const char *path)
{
    return mesh_is_file(path);
}

/* The genus g of a closed surface: V - E + F = 2 - 2 g, E = 3 F / 2. */
static int64_t genus_of(const mesh *m)
{
    return 1 - ((int64_t)m->vertices - (int64_t)m->faces / 2) / 2;
}

npmd_status npmd_surface_describe(const char *path, char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_error defect = { 0 };
    mesh m = { 0 };
    json_t *object = NULL;
    char hash[24];
    TRY(mesh_read(path, &m, err));
    st = mesh_check(&m, path, &defect);
    if (st != NPMD_OK && st != NPMD_ERR_FORMAT) {
        npmd_fail(err, st, "%s", defect.text);
        goto done;
    }
    const bool closed = st == NPMD_OK;
    snprintf(hash, sizeof hash, "%016" PRIx64, m.hash);
    object = json_object();
    TRY(json_put(object, "surface", json_any_text(path), err));
    TRY(json_put(object, "vertices", json_integer((json_int_t)m.vertices), err));
    TRY(json_put(object, "faces", json_integer((json_int_t)m.faces), err));
    TRY(json_put(object, "area", json_real(m.area), err));
    TRY(json_put(object, "hash", json_string(hash), err));
    TRY(json_put(object, "closed", json_boolean(closed), err));
    if (closed)
        TRY(json_put(object, "genus", json_integer((json_int_t)genus_of(&m)), err));
    else
        TRY(json_put(object, "defect", json_any_text(defect.text), err));
    TRY(json_to_text(object, JSON_INDENT(2), out, err));
done:
    json_decref(object);
    mesh_free(&m);
    return st;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

npmd_status npmd_labels_read(const char *path, const npmd_surface *s, npmd_labels **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_labels *l = NULL;
    TRY(memory_new(&l, 1, err));
    TRY(labels_read(path, s->m.vertices, &l->l, err));
    *out = l;
    l = NULL;
done:
    npmd_labels_free(l);
    return st;
}

void npmd_labels_free(npmd_labels *l)
{
    if (l == NULL)
        return;
    labels_free(&l->l);
    memory_free(l);
}

int npmd_labels_regions(const npmd_labels *l)
{
    return l->l.regions;
}

const char *npmd_labels_name(const npmd_labels *l, int region)
{
    assert(region >= 0 && region < l->l.regions);
    return l->l.name[region];
}

int npmd_labels_find(const npmd_labels *l, const char *name)
{
    return labels_find(&l->l, name);
}

int npmd_labels_region_of(const npmd_labels *l, size_t vertex)
{
    assert(vertex < l->l.vertices);
    return l->l.region[vertex];
}
