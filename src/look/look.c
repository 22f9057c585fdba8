/* look.c - domains, surfaces and models, through their public functions. */
#include "look.h"

#include "json.h"

#include <stdio.h>

static factor_kind kind_of(const char *name)
{
    if (strcmp(name, "S1") == 0)
        return FACTOR_CIRCLE;
    if (strcmp(name, "S2") == 0)
        return FACTOR_SPHERE;
    return strncmp(name, "mesh:", 5) == 0 ? FACTOR_SURFACE : FACTOR_OTHER;
}

npmd_status domain_look_open(domain_look *l, const npmd_domain *dom, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *l = (domain_look){ .of = dom, .text = npmd_domain_text(dom), .torus = true };
    const int factors = npmd_domain_factors(dom);
    for (int d = 0; d < factors; d++) {
        factor_look *f = &l->factor[d];
        TRY(npmd_domain_part(dom, 1u << d, &f->alone, err));
        l->factors = d + 1;
        f->name = npmd_domain_text(f->alone);
        f->kind = kind_of(f->name);
        f->columns = npmd_domain_columns(f->alone);
        f->column = l->columns;
        f->dimension = npmd_domain_dimension(f->alone);
        f->volume = npmd_domain_volume(f->alone);
        l->columns += f->columns;
        l->torus = l->torus && f->kind == FACTOR_CIRCLE;
        l->surfaces = l->surfaces || f->kind == FACTOR_SURFACE;
    }
done:
    if (st != NPMD_OK)
        domain_look_close(l);
    return st;
}

void domain_look_close(domain_look *l)
{
    for (int d = 0; d < l->factors; d++)
        npmd_domain_free(l->factor[d].alone);
    *l = (domain_look){ 0 };
}

npmd_status mesh_of_surface(const npmd_surface *s, mesh *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mesh m = { .vertices = npmd_surface_vertices(s), .faces = npmd_surface_faces(s), .area = npmd_surface_area(s) };
    TRY(memory_new(&m.x, 3 * m.vertices, err));
    TRY(memory_new(&m.face, 3 * m.faces, err));
    for (size_t i = 0; i < m.vertices; i++)
        npmd_surface_vertex(s, i, m.x + 3 * i);
    for (size_t i = 0; i < m.faces; i++)
        npmd_surface_face(s, i, m.face + 3 * i);
    *out = m;
    m = (mesh){ 0 };
done:
    mesh_free(&m);
    return st;
}

npmd_status estimator_of(const npmd_model *m, char name[ESTIMATOR_NAME], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *text = NULL;
    json_t *root = NULL;
    TRY(npmd_model_describe(m, &text, err));
    TRY(json_from_text(text, strlen(text), "the description of a model", &root, err));
    const char *found = json_string_value(json_object_get(root, "estimator"));
    snprintf(name, ESTIMATOR_NAME, "%s", found != NULL ? found : "");
done:
    json_decref(root);
    npmd_text_free(text);
    return st;
}

npmd_status domains_agree(const npmd_domain *dom, const npmd_domain *of_model, const char *what, npmd_error *err)
{
    if (strcmp(npmd_domain_text(dom), npmd_domain_text(of_model)) == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_SHAPE, "the %s on %s, the model on %s", what, npmd_domain_text(dom),
                     npmd_domain_text(of_model));
}
