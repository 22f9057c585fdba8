/* truth_shapes.c - mixtures of shapes: the table of shapes, their JSON, density and draws.
 *
 *     { "domain": "S1^2", "kind": "shapes", "measure": "volume", "components": [
 *       { "weight": 0.5, "shape": "uniform" },
 *       { "weight": 0.5, "shape": "kernel", "mean": [1, 2], "kappa": [9, 4] } ] } */
#include "truth_shapes.h"

#include <stdio.h>

static const shape_kind *const KINDS[] = { &SHAPE_UNIFORM, &SHAPE_KERNEL, &SHAPE_NORMAL, &SHAPE_RIDGE,
                                           &SHAPE_RING,    &SHAPE_BOX,    &SHAPE_BUMP };
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };
#define WHERE_SIZE 400

/* ---- What checks share ------------------------------------------------------------------------------------------- */

/* "kappa[2]", or "width" of a field that is one number. */
static const char *number_name(const truth_shape *s, int field, size_t i, char *text, size_t size)
{
    if (s->kind->fields[field].size == SHAPE_ONE)
        snprintf(text, size, "%s", s->kind->fields[field].name);
    else
        snprintf(text, size, "%s[%zu]", s->kind->fields[field].name, i);
    return text;
}

npmd_status shape_number(const truth_shape *s, int field, size_t i, double least, double most, bool whole,
                         const char *where, npmd_error *err)
{
    char name[64];
    const double value = s->field[field][i];
    if (value >= least && value <= most && (!whole || value == rint(value)))
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %s is %g, expected %s%g to %g", where,
                     number_name(s, field, i, name, sizeof name), value, whole ? "a whole number, " : "", least, most);
}

npmd_status shape_factor(const npmd_domain *dom, const truth_shape *s, int field, size_t i, const manifold *wanted,
                         const char *where, int *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char name[64];
    TRY(shape_number(s, field, i, 1.0, dom->factors, true, where, err));
    const int d = (int)s->field[field][i] - 1;
    if (wanted == NULL ? dom->factor[d]->locate == NULL : dom->factor[d] != wanted) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: %s is %d, which is %s; expected %s", where,
                       number_name(s, field, i, name, sizeof name), d + 1, dom->factor[d]->name,
                       wanted == NULL ? "a surface" : wanted->name);
        goto done;
    }
    *out = d;
done:
    return st;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* The extents of a field; a list is as long as the first list of the object. */
static int field_shape(const npmd_domain *dom, const shape_field *f, const json_t *object, size_t extent[2])
{
    const size_t columns = (size_t)dom->columns;
    extent[0] = extent[1] = columns;
    switch (f->size) {
    case SHAPE_ONE:
        extent[0] = 1;
        return 0;
    case SHAPE_THREE:
        extent[0] = 3;
        return 1;
    case SHAPE_COLUMNS:
        return 1;
    case SHAPE_FACTORS:
        extent[0] = (size_t)dom->factors;
        return 1;
    case SHAPE_SQUARE:
        return 2;
    case SHAPE_LIST:
        extent[0] = json_array_size(object);
        return 1;
    }
    return 0;
}

static const json_t *first_list(const shape_kind *kind, const json_t *object)
{
    for (const shape_field *f = kind->fields; f->name != NULL; f++)
        if (f->size == SHAPE_LIST)
            return json_object_get(object, f->name);
    return NULL;
}

static npmd_status read_fields(const json_t *object, const npmd_domain *dom, const char *where, truth_shape *s,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const json_t *list = first_list(s->kind, object);
    size_t total = 0, extent[2];
    if (list != NULL && (!json_is_array(list) || json_array_size(list) > NPMD_MAX_FACTORS)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: its list of factors is %s", where,
                       json_is_array(list) ? "too long" : "not an array");
        goto done;
    }
    for (int i = 0; s->kind->fields[i].name != NULL; i++) {
        const int depth = field_shape(dom, &s->kind->fields[i], list, extent);
        s->length[i] = depth == 2 ? extent[0] * extent[1] : extent[0];
        total += s->length[i];
    }
    TRY(memory_new(&s->number, total + 1, err));
    double *at = s->number;
    for (int i = 0; s->kind->fields[i].name != NULL; at += s->length[i++]) {
        const shape_field *f = &s->kind->fields[i];
        const json_t *value = json_object_get(object, f->name);
        s->field[i] = at;
        if (value == NULL && f->size == SHAPE_ONE && !isnan(f->fallback))
            *at = f->fallback;
        else
            TRY(truth_numbers_read(value, where, f->name, extent, field_shape(dom, f, list, extent), at, err));
    }
done:
    return st;
}

static npmd_status find_kind(const json_t *object, const char *where, const shape_kind **out, npmd_error *err)
{
    const json_t *name = json_object_get(object, "shape");
    char known[160] = "";
    for (int k = 0; k < KIND_COUNT; k++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", k == 0 ? "" : ", ", KINDS[k]->name);
        if (json_is_string(name) && strcmp(json_string_value(name), KINDS[k]->name) == 0) {
            *out = KINDS[k];
            return NPMD_OK;
        }
    }
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: shape is \"%.40s\", expected one of %s", where,
                     json_is_string(name) ? json_string_value(name) : "", known);
}

npmd_status shapes_from_json(const json_t *components, const char *path, npmd_truth *t, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char where[WHERE_SIZE];
    for (size_t c = 0; c < (size_t)t->components; c++) {
        const json_t *object = json_array_get(components, c);
        truth_shape *s = &t->shape[c];
        snprintf(where, sizeof where, "%.300s: components[%zu]", path, c);
        if (!json_is_object(object)) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is not an object with weight and shape", where);
            goto done;
        }
        TRY(find_kind(object, where, &s->kind, err));
        TRY(truth_numbers_read(json_object_get(object, "weight"), where, "weight", NULL, 0, &t->weight[c], err));
        TRY(read_fields(object, t->domain, where, s, err));
        TRY(s->kind->check(t->domain, s, where, err));
    }
done:
    return st;
}

npmd_status shapes_to_json(const npmd_truth *t, json_t *components, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int c = 0; c < t->components; c++) {
        const truth_shape *s = &t->shape[c];
        json_t *object = json_object();
        st = json_put(object, "weight", json_real(t->weight[c]), err);
        if (st == NPMD_OK)
            st = json_put(object, "shape", json_string(s->kind->name), err);
        for (int i = 0; st == NPMD_OK && s->kind->fields[i].name != NULL; i++) {
            size_t extent[2];
            const int depth = field_shape(t->domain, &s->kind->fields[i], NULL, extent);
            if (s->kind->fields[i].size == SHAPE_LIST)
                extent[0] = s->length[i];
            st = json_put(object, s->kind->fields[i].name, truth_numbers_json(s->field[i], extent, depth), err);
        }
        if (st != NPMD_OK) {
            json_decref(object);
            goto done;
        }
        TRY(json_append(components, object, err));
    }
done:
    return st;
}

void shapes_free(truth_shape *shapes, int count)
{
    for (int c = 0; shapes != NULL && c < count; c++) {
        memory_free(shapes[c].number);
        truth_free(shapes[c].known);
    }
    memory_free(shapes);
}

/* ---- Density and draws ------------------------------------------------------------------------------------------- */

double shapes_log_density(const npmd_truth *t, const double *x)
{
    double sum = -INFINITY;
    for (int c = 0; c < t->components; c++)
        sum = log_add(sum, log(t->weight[c]) + t->shape[c].kind->log_relative(t->domain, &t->shape[c], x));
    return sum - log(t->domain->volume);
}

void shapes_draw(const npmd_truth *t, int c, rng_key key, uint64_t index, double *x)
{
    double u[DOMAIN_MAX_DIMENSION];
    for (int i = 0; i < t->domain->dimension; i++)
        u[i] = rng_uniform(key, index, 2 + (uint32_t)i);
    domain_uniform_point(t->domain, u, x);
    t->shape[c].kind->draw(t->domain, &t->shape[c], key, index, x);
}
