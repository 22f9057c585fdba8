/* field_model.c - a fitted field: its state, its values, its file. */
#include "field_fit.h"

#include <stdio.h>

#define BOUND_DELTA 0.05 /* the theorem's bound on the number of features holds with probability 0.95 */

void field_free(void *state)
{
    field_state *f = state;
    if (f == NULL)
        return;
    encoding_free(&f->encoding);
    memory_free(f->theta);
    memory_free(f);
}

field_plan field_plan_of(const npmd_model *m)
{
    const field_state *f = m->state;
    return (field_plan){
        .domain = m->domain, .encoding = &f->encoding, .shape = f->shape, .exact = m->set.machine.precision != 0
    };
}

npmd_status field_open(const npmd_model *m, const npmd_compute *how, void **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_state *f = m->state;
    const field_plan plan = field_plan_of(m);
    backend *b = NULL;
    TRY(memory_new(&b, 1, err));
    TRY(backend_open(compute_device(how), how == NULL ? 0 : how->threads, &plan, b, err));
    TRY(b->ops->put(b->self, VECTOR_THETA, f->theta, err));
    *out = b;
    b = NULL;
done:
    field_close(b);
    return st;
}

void field_close(void *open)
{
    backend *b = open;
    if (b != NULL)
        backend_close(b);
    memory_free(b);
}

npmd_status field_evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err)
{
    const backend *b = e->open;
    return b->ops->evaluate(b->self, x, n, rows, out, err);
}

/* ---- the file: one tensor for each matrix and vector ------------------------------------------------------------- */

/* What is done with the tensor that stands at theta + offset. */
typedef npmd_status (*tensor_visit)(void *self, const char *name, int dimensions, const size_t *shape, size_t offset,
                                    npmd_error *err);

static npmd_status each_tensor(const field_shape *s, tensor_visit visit, void *self, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char name[64];
    for (int l = 1; l <= s->depth; l++) {
        const size_t shape[2] = { (size_t)field_outputs(s, l), (size_t)field_inputs(s, l) };
        snprintf(name, sizeof name, "layer.%d.weight", l);
        TRY(visit(self, name, 2, shape, field_weights(s, l), err));
        snprintf(name, sizeof name, "layer.%d.bias", l);
        TRY(visit(self, name, 1, shape, field_biases(s, l), err));
    }
    if (s->skip)
        TRY(visit(self, "skip.weight", 1, &(size_t){ (size_t)s->features }, field_skip(s), err));
done:
    return st;
}

typedef struct tensor_sink {
    record *rec;
    const double *theta;
} tensor_sink;

static npmd_status add_tensor(void *self, const char *name, int dimensions, const size_t *shape, size_t offset,
                              npmd_error *err)
{
    const tensor_sink *to = self;
    return record_add(to->rec, name, TENSOR_F64, dimensions, shape, to->theta + offset, err);
}

npmd_status field_save(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_state *f = m->state;
    if (!f->encoding.columns) /* which are the domain's */
        TRY(encoding_save(&f->encoding, rec, err));
    TRY(each_tensor(&f->shape, add_tensor, &(tensor_sink){ rec, f->theta }, err));
done:
    return st;
}

typedef struct tensor_source {
    const record *rec;
    const char *path;
    double *theta; /* NULL: only look whether all is there */
} tensor_source;

static npmd_status take_tensor(void *self, const char *name, int dimensions, const size_t *shape, size_t offset,
                               npmd_error *err)
{
    const tensor_source *from = self;
    const tensor *t = NULL;
    const npmd_status st = record_find(from->rec, from->path, name, TENSOR_F64, dimensions, shape, &t, err);
    if (st != NPMD_OK || from->theta == NULL)
        return st;
    const size_t count = dimensions == 2 ? shape[0] * shape[1] : shape[0];
    double *data = from->theta + offset;
    memcpy(data, t->data, count * sizeof *data);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(data[i]))
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor %s holds a number that is not finite", from->path, name);
    return NPMD_OK;
}

npmd_status field_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *set = &m->set;
    field_state *f = NULL;
    const bool columns = set->estimator == FIT_RELU;
    if (set->network.depth < 1 || (columns && m->domain->surfaces)
        || (!columns && (set->encoding.features < 1 || set->encoding.max_frequencies != m->domain->factors))) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: its options do not describe a field on %s", path, m->domain->text);
        goto done;
    }
    const field_shape shape = training_shape(set, m->domain);
    /* before anything is allocated by what the options claim */
    TRY(each_tensor(&shape, take_tensor, &(tensor_source){ rec, path, NULL }, err));
    TRY(memory_new(&f, 1, err));
    m->state = f;
    f->shape = shape;
    if (columns)
        TRY(encoding_columns(m->domain, &f->encoding, err));
    else
        TRY(encoding_load(m->domain, set, rec, path, &f->encoding, err));
    TRY(memory_new(&f->theta, field_parameters(&f->shape), err));
    TRY(each_tensor(&f->shape, take_tensor, &(tensor_source){ rec, path, f->theta }, err));
done:
    return st;
}

npmd_status field_describe(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_state *f = m->state;
    double highest = 0.0;
    int largest = 0;
    json_t *rotated = NULL;
    for (int k = 0; k < f->encoding.features; k++)
        highest = fmax(highest, f->encoding.lambda[k]);
    for (int b = 0; b < f->encoding.blocks; b++)
        if (f->encoding.block[b].functions > largest)
            largest = f->encoding.block[b].functions;
    TRY(json_put(into, "parameters", json_integer((json_int_t)field_parameters(&f->shape)), err));
    if (f->encoding.columns) {
        TRY(json_put(into, "relu_layers", json_integer(f->shape.depth - 1), err));
        goto done;
    }
    TRY(json_put(into, "sine_layers", json_integer(f->shape.depth - 1), err));
    TRY(json_put(into, "highest_eigenvalue", json_real(highest), err));
    if (f->encoding.blocks > 0) {
        rotated = json_object();
        TRY(json_put(rotated, "blocks", json_integer(f->encoding.blocks), err));
        TRY(json_put(rotated, "largest_block", json_integer(largest), err));
        TRY(json_put(rotated, "functions", json_integer(f->encoding.vectors), err));
        TRY(json_put(into, "rotated", json_incref(rotated), err));
    }
    if (f->encoding.ridge.eps > 0.0) {
        const double r_max = f->encoding.ridge.r_max;
        TRY(json_put(into, "spectrum_ridge", json_real(f->encoding.ridge.eps), err));
        TRY(json_put(into, "r_max", json_real(r_max), err));
        TRY(json_put(into, "r_max_se", json_real(f->encoding.ridge.r_max_se), err));
        TRY(json_put(into, "features_bound", json_real(5.0 * r_max * log(16.0 * r_max / BOUND_DELTA)), err));
        TRY(json_put(into, "features_bound_delta", json_real(BOUND_DELTA), err));
    }
done:
    json_decref(rotated);
    return st;
}
