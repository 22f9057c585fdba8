/* reference.c - the definition of every term and its gradient: double precision, plain loops, one point at a
 * time. */
#include "backend.h"

typedef struct reference {
    field_plan plan;
    size_t parameters;
    double *vector[VECTORS];
    double *work, *eta, *tape;
} reference;

static void reference_close(void *self)
{
    reference *r = self;
    if (r == NULL)
        return;
    for (int i = 0; i < VECTORS; i++)
        memory_free(r->vector[i]);
    memory_free(r->work);
    memory_free(r->eta);
    memory_free(r->tape);
    memory_free(r);
}

static npmd_status reference_open(const field_plan *plan, int device, int threads, void **self, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    reference *r = NULL;
    (void)device, (void)threads;
    TRY(memory_new(&r, 1, err));
    r->plan = *plan;
    r->parameters = field_parameters(&plan->shape);
    for (int i = 0; i < VECTORS; i++)
        TRY(memory_new(&r->vector[i], r->parameters, err));
    TRY(memory_new(&r->work, encoding_work(plan->encoding), err));
    TRY(memory_new(&r->eta, (size_t)(plan->shape.directions + 2) * (size_t)plan->shape.features, err));
    TRY(memory_new(&r->tape, field_tape(&plan->shape), err));
    *self = r;
    r = NULL;
done:
    reference_close(r);
    return st;
}

static npmd_status reference_set_points(void *self, const npmd_points *pts, npmd_error *err)
{
    (void)self, (void)pts, (void)err;
    return NPMD_OK; /* nothing is cached */
}

/* g(jet of v), and v_bar = dg/d(jet). */
static double term_value(term_kind kind, int rows, const double *v, double *v_bar)
{
    double sum = 0.0;
    memset(v_bar, 0, (size_t)rows * sizeof *v_bar);
    switch (kind) {
    case TERM_DATA:
        v_bar[0] = 1.0;
        return v[0];
    case TERM_INTEGRAL:
        return v_bar[0] = exp(v[0]);
    case TERM_LAPLACIAN:
        v_bar[rows - 1] = 2.0 * v[rows - 1];
        return v[rows - 1] * v[rows - 1];
    case TERM_GRADIENT:
        for (int t = 1; t < rows - 1; t++) {
            v_bar[t] = 2.0 * v[t];
            sum += v[t] * v[t];
        }
        return sum;
    }
    return sum;
}

static npmd_status reference_term(void *self, const term_request *what, double *sum, npmd_error *err)
{
    reference *r = self;
    const field_shape *f = &r->plan.shape;
    const int rows = what->kind == TERM_DATA || what->kind == TERM_INTEGRAL ? 1 : f->directions + 2;
    double x[DOMAIN_MAX_COLUMNS], weight, v[DOMAIN_MAX_DIMENSION + 2], v_bar[DOMAIN_MAX_DIMENSION + 2], total = 0.0;
    (void)err;
    for (size_t i = 0; i < what->points->count; i++) {
        source_fill(what->points, i, 1, x, &weight);
        encoding_jet(r->plan.encoding, x, rows, r->work, r->eta);
        field_forward(f, r->vector[VECTOR_THETA], r->eta, rows, r->tape, v);
        total += weight * term_value(what->kind, rows, v, v_bar);
        for (int t = 0; t < rows; t++)
            v_bar[t] *= weight * what->factor;
        field_adjoint(f, r->vector[VECTOR_THETA], r->eta, rows, r->tape, v_bar, r->vector[VECTOR_GRADIENT]);
    }
    *sum = total;
    return NPMD_OK;
}

/* The gradient of every point by itself. */
static npmd_status reference_squares(void *self, const term_request *what, double *gradient, double *square,
                                     npmd_error *err)
{
    npmd_status st = NPMD_OK;
    reference *r = self;
    const size_t n = r->parameters;
    double sum = 0.0, x[DOMAIN_MAX_COLUMNS], weight, *before = NULL, *one = r->vector[VECTOR_GRADIENT];
    TRY(memory_new(&before, n, err));
    memcpy(before, one, n * sizeof *before);
    memset(gradient, 0, n * sizeof *gradient);
    memset(square, 0, n * sizeof *square);
    for (size_t i = 0; i < what->points->count; i++) {
        point_source point;
        source_fill(what->points, i, 1, x, &weight);
        source_fixed(&point, r->plan.domain, x, &weight, 1);
        memset(one, 0, n * sizeof *one);
        TRY(reference_term(r, &(term_request){ what->kind, &point, what->factor }, &sum, err));
        for (size_t p = 0; p < n; p++) {
            gradient[p] += one[p];
            square[p] += one[p] * one[p];
        }
    }
    memcpy(one, before, n * sizeof *one);
done:
    memory_free(before);
    return st;
}

static npmd_status reference_update(void *self, const optimiser_step *step, double *gradient_norm, npmd_error *err)
{
    reference *r = self;
    (void)err;
    *gradient_norm = optimiser_apply(step, r->parameters, r->vector[VECTOR_THETA], r->vector[VECTOR_GRADIENT],
                                     r->vector[VECTOR_MOMENT1], r->vector[VECTOR_MOMENT2]);
    return NPMD_OK;
}

static npmd_status reference_evaluate(void *self, const double *x, size_t n, jet_rows what, double *out,
                                      npmd_error *err)
{
    reference *r = self;
    const field_shape *f = &r->plan.shape;
    const int rows = what == JET_VALUE ? 1 : f->directions + 2;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        encoding_jet(r->plan.encoding, x + i * (size_t)r->plan.domain->columns, rows, r->work, r->eta);
        field_forward(f, r->vector[VECTOR_THETA], r->eta, rows, r->tape, out + i * (size_t)rows);
    }
    return NPMD_OK;
}

static npmd_status reference_get(void *self, backend_vector which, double *out, npmd_error *err)
{
    const reference *r = self;
    (void)err;
    memcpy(out, r->vector[which], r->parameters * sizeof *out);
    return NPMD_OK;
}

static npmd_status reference_put(void *self, backend_vector which, const double *in, npmd_error *err)
{
    reference *r = self;
    (void)err;
    memcpy(r->vector[which], in, r->parameters * sizeof *in);
    return NPMD_OK;
}

const backend_ops BACKEND_REFERENCE = {
    .name = "reference",
    .open = reference_open,
    .set_points = reference_set_points,
    .term = reference_term,
    .squares = reference_squares,
    .update = reference_update,
    .evaluate = reference_evaluate,
    .get = reference_get,
    .put = reference_put,
    .close = reference_close,
};
