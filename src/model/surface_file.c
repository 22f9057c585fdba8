/* surface_file.c - the surfaces of a domain in a model's file, so that the model needs neither the mesh's file nor a
 * solver: vertices and faces, eigenvalues, and eigenfunctions at the nodes of the elements.
 *
 * The k-th distinct surface, in the order of the factors, has the tensors surface.k.vertices, .faces, .eigenvalues (per
 * area in the user's units) and .functions (nodes, pairs). */
#include "surface_file.h"
#include "surface_factor.h"

#include <inttypes.h>
#include <stdio.h>

/* The domain's surfaces, each once: how many. */
static int surfaces_list(const npmd_domain *dom, const surface *list[NPMD_MAX_FACTORS])
{
    int count = 0;
    for (int d = 0; d < dom->factors; d++) {
        const surface *s = surface_of(dom->factor[d]);
        bool known = s == NULL;
        for (int k = 0; k < count && !known; k++)
            known = strcmp(list[k]->name, s->name) == 0;
        if (!known)
            list[count++] = s;
    }
    return count;
}

/* The highest frequency on this surface that the model or one of its parts can have. */
static int frequency_in_use(const npmd_model *m, const surface *s)
{
    int most = 1;
    for (int d = 0; d < m->domain->factors; d++)
        if (strcmp(m->domain->factor[d]->name, s->name) == 0 && m->set.encoding.max_frequency[d] > most)
            most = m->set.encoding.max_frequency[d];
    for (int k = 0; k < m->parts; k++) {
        const int part = frequency_in_use(m->part[k], s);
        most = part > most ? part : most;
    }
    return most < s->table.max_frequency ? most : s->table.max_frequency;
}

static size_t pairs_in_use(const npmd_model *m, const surface *s)
{
    return (size_t)s->table.functions(&s->table, frequency_in_use(m, s));
}

npmd_status surfaces_json(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const surface *surfaces[NPMD_MAX_FACTORS];
    const int count = surfaces_list(m->domain, surfaces);
    if (count == 0)
        return NPMD_OK;
    json_t *list = json_array(), *one = NULL;
    for (int k = 0; k < count; k++) {
        const surface *s = surfaces[k];
        one = json_object();
        TRY(json_put(one, "hash", json_string(s->name + strlen("mesh:")), err));
        TRY(json_put(one, "vertices", json_integer((json_int_t)s->mesh.vertices), err));
        TRY(json_put(one, "faces", json_integer((json_int_t)s->mesh.faces), err));
        TRY(json_put(one, "area", json_real(s->mesh.area), err));
        TRY(json_put(one, "elements", json_integer(s->at.elements), err));
        TRY(json_put(one, "eigenpairs", json_integer((json_int_t)pairs_in_use(m, s)), err));
        st = json_append(list, one, err);
        one = NULL;
        TRY(st);
    }
    TRY(json_put(into, "surfaces", json_incref(list), err));
done:
    json_decref(one);
    json_decref(list);
    return st;
}

static npmd_status surface_add(record *rec, int k, const char *name, tensor_type type, int dimensions,
                               const size_t *shape, const void *data, npmd_error *err)
{
    char full[64];
    snprintf(full, sizeof full, "surface.%d.%s", k + 1, name);
    return record_add(rec, full, type, dimensions, shape, data, err);
}

npmd_status surfaces_save(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const surface *surfaces[NPMD_MAX_FACTORS];
    const int count = surfaces_list(m->domain, surfaces);
    float *phi = NULL;
    for (int k = 0; k < count; k++) {
        const surface *s = surfaces[k];
        const size_t pairs = pairs_in_use(m, s), nodes = s->at.nodes;
        TRY(surface_add(rec, k, "vertices", TENSOR_F64, 2, (const size_t[]){ s->mesh.vertices, 3 }, s->mesh.x, err));
        TRY(surface_add(rec, k, "faces", TENSOR_I32, 2, (const size_t[]){ s->mesh.faces, 3 }, s->mesh.face, err));
        TRY(surface_add(rec, k, "eigenvalues", TENSOR_F64, 1, &pairs, s->lambda, err));
        TRY(memory_new(&phi, nodes * pairs, err));
        for (size_t i = 0; i < nodes; i++)
            memcpy(phi + i * pairs, s->phi + i * (size_t)s->pairs, pairs * sizeof *phi);
        TRY(surface_add(rec, k, "functions", TENSOR_F32, 2, (const size_t[]){ nodes, pairs }, phi, err));
        rec->tensors[rec->count - 1].owned = true;
        phi = NULL;
    }
done:
    memory_free(phi);
    return st;
}

/* ---- and back ---------------------------------------------------------------------------------------------------- */

static npmd_status surface_find(const record *rec, const char *path, int k, const char *name, tensor_type type,
                                int dimensions, const size_t *shape, const tensor **out, npmd_error *err)
{
    char full[64];
    snprintf(full, sizeof full, "surface.%d.%s", k + 1, name);
    return record_find(rec, path, full, type, dimensions, shape, out, err);
}

static npmd_status mesh_load(const record *rec, const char *path, int k, mesh *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const tensor *vertices = NULL, *faces = NULL;
    double *x = NULL;
    int32_t *face = NULL;
    TRY(surface_find(rec, path, k, "vertices", TENSOR_F64, 2, (const size_t[]){ 0, 3 }, &vertices, err));
    TRY(surface_find(rec, path, k, "faces", TENSOR_I32, 2, (const size_t[]){ 0, 3 }, &faces, err));
    TRY(memory_new(&x, 3 * vertices->shape[0], err));
    TRY(memory_new(&face, 3 * faces->shape[0], err));
    memcpy(x, vertices->data, 3 * vertices->shape[0] * sizeof *x);
    memcpy(face, faces->data, 3 * faces->shape[0] * sizeof *face);
    st = mesh_make(vertices->shape[0], x, faces->shape[0], face, path, out, err);
    x = NULL;
    face = NULL;
    TRY(st);
    TRY(mesh_check(out, path, err));
done:
    memory_free(x);
    memory_free(face);
    return st;
}

static npmd_status pairs_load(const record *rec, const char *path, int k, size_t nodes, int *pairs, double **lambda,
                              float **phi, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const tensor *values = NULL, *functions = NULL;
    TRY(surface_find(rec, path, k, "eigenvalues", TENSOR_F64, 1, (const size_t[]){ 0 }, &values, err));
    const size_t count = values->shape[0];
    if (count < SURFACE_LEAST_PAIRS || count > nodes) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: surface %d has %zu eigenpairs at %zu nodes", path, k + 1, count,
                       nodes);
        goto done;
    }
    TRY(surface_find(rec, path, k, "functions", TENSOR_F32, 2, (const size_t[]){ nodes, count }, &functions, err));
    TRY(memory_new(lambda, count, err));
    TRY(memory_new(phi, nodes * count, err));
    memcpy(*lambda, values->data, count * sizeof **lambda);
    memcpy(*phi, functions->data, nodes * count * sizeof **phi);
    bool sound = true;
    for (size_t i = 0; i < count; i++)
        sound = sound && isfinite((*lambda)[i]) && (i == 0 || (*lambda)[i] >= (*lambda)[i - 1]);
    for (size_t i = 0; i < nodes * count; i++)
        sound = sound && isfinite((*phi)[i]);
    if (!sound)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the eigenpairs of surface %d are not finite or do not rise", path,
                       k + 1);
    *pairs = (int)count;
done:
    return st;
}

static npmd_status surface_load(const record *rec, const json_t *one, const char *path, int k, const manifold **out,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mesh m = { 0 };
    fem_nodes at = { 0 };
    int pairs = 0;
    double *lambda = NULL;
    float *phi = NULL;
    char hash[24];
    const int elements = (int)json_integer_value(json_object_get(one, "elements"));
    const char *expected = json_string_value(json_object_get(one, "hash"));
    if ((elements != 1 && elements != 2) || expected == NULL) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the description of surface %d is incomplete", path, k + 1);
        goto done;
    }
    TRY(mesh_load(rec, path, k, &m, err));
    snprintf(hash, sizeof hash, "%016" PRIx64, m.hash);
    if (strcmp(hash, expected) != 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: surface %d has the hash %s, but %.40s was expected", path, k + 1,
                       hash, expected);
        goto done;
    }
    TRY(fem_nodes_make(&m, elements, &at, err));
    TRY(pairs_load(rec, path, k, at.nodes, &pairs, &lambda, &phi, err));
    st = surface_make(&m, &at, pairs, lambda, phi, out, err);
    lambda = NULL;
    phi = NULL;
done:
    memory_free(lambda);
    memory_free(phi);
    fem_nodes_free(&at);
    mesh_free(&m);
    return st;
}

npmd_status surfaces_load(const record *rec, const json_t *root, const char *path, surface_shelf *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const json_t *list = json_object_get(root, "surfaces");
    *out = (surface_shelf){ .path = path };
    if (json_array_size(list) > NPMD_MAX_FACTORS) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: %zu surfaces, expected at most %d", path, json_array_size(list),
                       NPMD_MAX_FACTORS);
        goto done;
    }
    for (; out->count < (int)json_array_size(list); out->count++)
        TRY(surface_load(rec, json_array_get(list, (size_t)out->count), path, out->count, &out->surface[out->count],
                         err));
done:
    return st;
}

void surfaces_close(surface_shelf *s)
{
    for (int k = 0; k < s->count; k++)
        manifold_release(s->surface[k]);
    s->count = 0;
}

npmd_status surfaces_find(void *shelf, const char *hash, const manifold **out, npmd_error *err)
{
    const surface_shelf *s = shelf;
    for (int k = 0; k < s->count; k++)
        if (strcmp(s->surface[k]->name + strlen("mesh:"), hash) == 0) {
            manifold_retain(s->surface[k]);
            *out = s->surface[k];
            return NPMD_OK;
        }
    return npmd_fail(err, NPMD_ERR_FORMAT, "the domain names surface %.40s, which the file does not hold", hash);
}
