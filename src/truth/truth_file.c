/* truth_file.c - known densities in files: a mixture as a JSON object, a density on a torus' nodes as .npy.
 *
 *     { "domain": "S1^2", "kind": "wrapped normal mixture", "weights": [C], "means": [C][columns],
 *       "covariances": [C][D][D], "measure": "volume" }
 *     { "domain": "S2 x S1", "kind": "von Mises-Fisher mixture", "weights": [C], "means": [C][columns],
 *       "kappas": [C][factors], "measure": "volume" }
 *
 *     { "domain": "S1 x S2", "kind": "shapes", "components": [C] of { "weight": w, "shape": "ring", ... },
 *       "measure": "volume" }
 *
 * "measure" may be missing; a mixture is a density per volume in any case. Other fields are ignored. A message names
 * the file and the element, as in means[2][0]. */
#include "json.h"
#include "truth.h"

#include <stdio.h>

static const char *const KIND[] = {
    [TRUTH_WRAPPED_NORMAL] = "wrapped normal mixture",
    [TRUTH_VON_MISES_FISHER] = "von Mises-Fisher mixture",
    [TRUTH_SHAPES] = "shapes",
};

/* ---- Reading JSON ------------------------------------------------------------------------------------------------ */

/* Where in the file: its path, the field, and how many indices of the element are known. */
typedef struct element {
    const char *path, *field;
    int indices;
    size_t index[3];
} element;

static const char *element_name(const element *e, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", e->field);
    for (int i = 0; i < e->indices && used > 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "[%zu]", e->index[i]);
    return text;
}

/* A nested array of numbers, shape[0] x ... x shape[depth-1], row-major into out. */
static npmd_status read_numbers(const json_t *array, element at, const size_t *shape, int depth, double *out,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char name[96];
    element_name(&at, name, sizeof name);
    if (array == NULL)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: the field \"%s\" is missing", at.path, name);
    if (depth == 0) {
        if (!json_is_number(array))
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %s is not a number", at.path, name);
        *out = json_number_value(array);
        return NPMD_OK;
    }
    if (!json_is_array(array) || json_array_size(array) != shape[0])
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %s has %zu elements, expected an array of %zu", at.path, name,
                         json_array_size(array), shape[0]);
    size_t stride = 1;
    for (int d = 1; d < depth; d++)
        stride *= shape[d];
    at.indices++;
    for (size_t i = 0; i < shape[0]; i++) {
        at.index[at.indices - 1] = i;
        TRY(read_numbers(json_array_get(array, i), at, shape + 1, depth - 1, out + i * stride, err));
    }
done:
    return st;
}

static npmd_status read_text(const json_t *root, const char *path, const char *field, const char **out, npmd_error *err)
{
    const json_t *value = json_object_get(root, field);
    if (!json_is_string(value))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: the field \"%s\" is %s, expected a text", path, field,
                         value == NULL ? "missing" : "not a text");
    *out = json_string_value(value);
    return NPMD_OK;
}

static npmd_status read_kind(const json_t *root, const char *path, truth_kind *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *text = NULL, *measure = "volume";
    TRY(read_text(root, path, "kind", &text, err));
    if (json_object_get(root, "measure") != NULL)
        TRY(read_text(root, path, "measure", &measure, err));
    if (strcmp(measure, "volume") != 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: measure is \"%.40s\", expected \"volume\"", path, measure);
        goto done;
    }
    for (truth_kind k = TRUTH_WRAPPED_NORMAL; k <= TRUTH_SHAPES; k++)
        if (strcmp(text, KIND[k]) == 0) {
            *out = k;
            goto done;
        }
    st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: kind is \"%.60s\", expected \"%s\", \"%s\" or \"%s\"", path, text,
                   KIND[TRUTH_WRAPPED_NORMAL], KIND[TRUTH_VON_MISES_FISHER], KIND[TRUTH_SHAPES]);
done:
    return st;
}

static npmd_status read_domain(const json_t *root, const char *path, truth_kind kind, npmd_domain **out,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *dom = NULL;
    const char *text = NULL;
    npmd_error why = { 0 };
    TRY(read_text(root, path, "domain", &text, err));
    if (domain_read(text, NULL, &dom, &why) != NPMD_OK) {
        st = npmd_fail(err, why.status == NPMD_ERR_MEMORY ? why.status : NPMD_ERR_FORMAT, "%s: %s", path, why.text);
        goto done;
    }
    if (kind == TRUTH_WRAPPED_NORMAL && !dom->torus) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: a wrapped normal mixture needs a torus, the domain is %s", path,
                       dom->text);
        goto done;
    }
    for (int d = 0; d < dom->factors && kind != TRUTH_SHAPES; d++)
        if (dom->factor[d] != &CIRCLE && dom->factor[d] != &SPHERE) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: a mixture needs factors S1 and S2, the domain is %s", path,
                           dom->text);
            goto done;
        }
    *out = dom;
    dom = NULL;
done:
    domain_free(dom);
    return st;
}

npmd_status truth_numbers_read(const json_t *array, const char *where, const char *field, const size_t *extent,
                               int depth, double *out, npmd_error *err)
{
    return read_numbers(array, (element){ where, field, 0, { 0 } }, extent, depth, out, err);
}

static npmd_status truth_from_json(const json_t *root, const char *path, npmd_truth **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *dom = NULL;
    npmd_truth *t = NULL;
    truth_kind kind = TRUTH_WRAPPED_NORMAL;
    if (!json_is_object(root)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: expected one JSON object that describes a mixture", path);
        goto done;
    }
    TRY(read_kind(root, path, &kind, err));
    const char *field = kind == TRUTH_SHAPES ? "components" : "weights"; /* an element for each component */
    const json_t *weights = json_object_get(root, field);
    if (!json_is_array(weights) || json_array_size(weights) == 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the field \"%s\" is %s, expected one %s a component", path, field,
                       weights == NULL ? "missing" : "not a filled array", kind == TRUTH_SHAPES ? "object" : "number");
        goto done;
    }
    TRY(read_domain(root, path, kind, &dom, err));
    const size_t C = json_array_size(weights), columns = (size_t)dom->columns, factors = (size_t)dom->factors;
    npmd_domain *given = dom;
    dom = NULL; /* mixture_new takes it over */
    TRY(mixture_new(kind, given, C, &t, err));
    if (kind == TRUTH_SHAPES) {
        if (given->surfaces)
            TRY(memory_text(&t->spelling, json_string_value(json_object_get(root, "domain")), err));
        TRY(shapes_from_json(weights, path, t, err));
        TRY(mixture_prepare(t, path, err));
        *out = t;
        t = NULL;
        goto done;
    }
    TRY(read_numbers(weights, (element){ path, "weights", 0, { 0 } }, (size_t[]){ C }, 1, t->weight, err));
    TRY(read_numbers(json_object_get(root, "means"), (element){ path, "means", 0, { 0 } }, (size_t[]){ C, columns }, 2,
                     t->mean, err));
    if (kind == TRUTH_WRAPPED_NORMAL)
        TRY(read_numbers(json_object_get(root, "covariances"), (element){ path, "covariances", 0, { 0 } },
                         (size_t[]){ C, columns, columns }, 3, t->covariance, err));
    else
        TRY(read_numbers(json_object_get(root, "kappas"), (element){ path, "kappas", 0, { 0 } },
                         (size_t[]){ C, factors }, 2, t->kappa, err));
    TRY(mixture_prepare(t, path, err));
    *out = t;
    t = NULL;
done:
    domain_free(dom);
    truth_free(t);
    return st;
}

static npmd_status mixture_read(const char *path, npmd_truth **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes bytes = { 0 };
    json_t *root = NULL;
    npmd_error why = { 0 };
    TRY(file_read_checked(path, file_starts_text, &bytes, err));
    if (json_from_text((const char *)bytes.data, bytes.size, path, &root, &why) != NPMD_OK) {
        st = npmd_fail(err, why.status, "%.400s%s", why.text,
                       why.status == NPMD_ERR_FORMAT ? "; expected a mixture in JSON, or an .npy grid" : "");
        goto done;
    }
    TRY(truth_from_json(root, path, out, err));
done:
    json_decref(root);
    file_bytes_free(&bytes);
    return st;
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

/* Values on the nodes of T^D, of any scale: what is kept is relative density, divided by its mean over the
 * nodes. */
static npmd_status grid_read(const char *path, npmd_truth **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_truth *t = NULL;
    size_t shape[NPY_MAX_DIMENSIONS] = { 0 };
    int dimensions = 0;
    char text[16];
    double sum = 0.0;
    TRY(memory_new(&t, 1, err));
    t->kind = TRUTH_GRID;
    TRY(npy_read_array(path, &t->grid, shape, &dimensions, err));
    if (dimensions < 1 || dimensions > NPMD_MAX_FACTORS) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s has %d dimensions, expected one a circle, 1 to %d", path, dimensions,
                       NPMD_MAX_FACTORS);
        goto done;
    }
    t->nodes = 1;
    for (int d = 0; d < dimensions; d++) {
        if (shape[d] < 2) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s has %zu nodes along dimension %d, expected 2 or more", path,
                           shape[d], d);
            goto done;
        }
        t->side[d] = shape[d];
        t->nodes *= shape[d]; /* the array is in memory: no overflow */
    }
    snprintf(text, sizeof text, "S1^%d", dimensions);
    TRY(domain_read(text, NULL, &t->domain, err));
    for (size_t i = 0; i < t->nodes; i++) {
        if (!(t->grid[i] >= 0.0 && isfinite(t->grid[i]))) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: value %zu is %g, expected a density: finite, not negative", path,
                           i, t->grid[i]);
            goto done;
        }
        sum += t->grid[i];
    }
    if (!(sum > 0.0 && isfinite(sum))) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the values sum to %g, expected a density", path, sum);
        goto done;
    }
    for (size_t i = 0; i < t->nodes; i++)
        t->grid[i] /= sum / (double)t->nodes;
    *out = t;
    t = NULL;
done:
    truth_free(t);
    return st;
}

npmd_status truth_read(const char *path, npmd_truth **out, npmd_error *err)
{
    return file_has_suffix(path, ".npy") ? grid_read(path, out, err) : mixture_read(path, out, err);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The inverse of read_numbers; NULL when memory is short. */
json_t *truth_numbers_json(const double *a, const size_t *extent, int depth)
{
    if (depth == 0)
        return json_real(*a);
    size_t stride = 1;
    for (int d = 1; d < depth; d++)
        stride *= extent[d];
    json_t *array = json_array();
    for (size_t i = 0; i < extent[0]; i++)
        if (json_append(array, truth_numbers_json(a + i * stride, extent + 1, depth - 1), NULL) != NPMD_OK) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* A surface that was made has no file: it goes beside the truth, t.json and t.off, and is named there. */
static npmd_status write_surface(const npmd_truth *t, const char *path, char **spelling, npmd_error *err)
{
    static const char OPENING[] = "mesh:", SUFFIX[] = ".off", OTHER[] = ".json";
    npmd_status st = NPMD_OK;
    char *text = NULL;
    const size_t stem = strlen(path) - (file_has_suffix(path, OTHER) ? strlen(OTHER) : 0);
    TRY(memory_new(&text, sizeof OPENING + stem + sizeof SUFFIX, err));
    sprintf(text, "%s%.*s%s", OPENING, (int)stem, path, SUFFIX);
    TRY(truth_mesh_write(t, text + strlen(OPENING), err));
    *spelling = text;
    text = NULL;
done:
    memory_free(text);
    return st;
}

/* The fields keep their order. */
npmd_status truth_write(const npmd_truth *t, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    json_t *root = NULL, *components = NULL;
    char *text = NULL, *spelling = NULL;
    if (t->kind == TRUTH_GRID)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "%s: a truth read from a grid is not a mixture and cannot be written",
                         path);
    const size_t C = (size_t)t->components, columns = (size_t)t->domain->columns, factors = (size_t)t->domain->factors;
    root = json_object();
    if (t->domain->surfaces && t->spelling == NULL) {
        TRY(write_surface(t, path, &spelling, err));
        TRY(json_put(root, "domain", json_string(spelling), err));
    } else {
        TRY(json_put(root, "domain", json_string(t->spelling != NULL ? t->spelling : t->domain->text), err));
    }
    TRY(json_put(root, "kind", json_string(KIND[t->kind]), err));
    if (t->kind == TRUTH_SHAPES) {
        components = json_array();
        TRY(shapes_to_json(t, components, err));
        TRY(json_put(root, "components", json_incref(components), err));
    } else {
        TRY(json_put(root, "weights", truth_numbers_json(t->weight, (size_t[]){ C }, 1), err));
        TRY(json_put(root, "means", truth_numbers_json(t->mean, (size_t[]){ C, columns }, 2), err));
    }
    if (t->kind == TRUTH_WRAPPED_NORMAL)
        TRY(json_put(root, "covariances", truth_numbers_json(t->covariance, (size_t[]){ C, columns, columns }, 3),
                     err));
    else if (t->kind == TRUTH_VON_MISES_FISHER)
        TRY(json_put(root, "kappas", truth_numbers_json(t->kappa, (size_t[]){ C, factors }, 2), err));
    TRY(json_put(root, "measure", json_string("volume"), err));
    TRY(json_to_text(root, JSON_INDENT(1), &text, err));
    TRY(file_writer_open(path, &w, err));
    TRY(file_writer_put(w, text, strlen(text), err));
    TRY(file_writer_put(w, "\n", 1, err));
    st = file_writer_commit(w, err); /* frees w in any case */
    w = NULL;
done:
    file_writer_abandon(w);
    memory_free(spelling);
    memory_free(text);
    json_decref(components);
    json_decref(root);
    return st;
}
