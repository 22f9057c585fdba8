/* field_fit.c - the paper's estimator: a sine network on random eigenfunctions, penalised likelihood. */
#include "estimators.h"

#include <stdio.h>

#define BOUND_DELTA 0.05 /* the theorem's bound on the number of features holds with probability 0.95 */

typedef struct field_state {
    encoding encoding;
    field_shape shape;
    double *theta;
} field_state;

static void field_free(void *state)
{
    field_state *f = state;
    if (f == NULL)
        return;
    encoding_free(&f->encoding);
    memory_free(f->theta);
    memory_free(f);
}

static field_plan field_plan_of(const npmd_model *m)
{
    const field_state *f = m->state;
    return (field_plan){
        .domain = m->domain, .encoding = &f->encoding, .shape = f->shape, .exact = m->options.precision != 0
    };
}

void field_linear(const npmd_model *m, const encoding **enc, const double **weight)
{
    const field_state *f = m->state;
    assert(m->kind == &ESTIMATOR_FIELD && f->shape.depth == 1);
    *enc = &f->encoding;
    *weight = f->theta + field_weights(&f->shape, 1);
}

const double *field_theta(const npmd_model *m, size_t *parameters)
{
    const field_state *f = m->state;
    assert(m->kind == &ESTIMATOR_FIELD);
    *parameters = field_parameters(&f->shape);
    return f->theta;
}

/* ---- fitting ------------------------------------------------------------------------------------------- */

static void keep_state(void *self, backend *b, const train_state *now)
{
    checkpoint_keep(self, b, now);
}

/* A few features cannot say what could be gained: a wide encoding does. */
static npmd_status draw_judge(const npmd_model *m, encoding *out, npmd_error *err)
{
    npmd_options wide = m->options;
    wide.spectrum_law = NPMD_LAW_POWER;
    wide.spectrum_decay = options_decay(m->domain);
    wide.features = options_features(m->domain);
    const double available = encoding_available(m->domain, &wide);
    if (wide.features > available)
        wide.features = (int)available;
    return encoding_draw(m->domain, &wide, out, err);
}

static npmd_status field_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                                 size_t *working_bytes, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options asked = *opt, o;
    size_t left = n;
    TRY(stopping_resolve(&asked, n, &left, err));
    TRY(options_resolve(&asked, dom, left, &o, err));
    TRY(start_resolve(&o, dom, err));
    if (o.skip_start == NPMD_SKIP_CONVEX && o.features > CONVEX_FEATURES) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "--skip-start convex: %d features, at most %d", o.features,
                       CONVEX_FEATURES);
        goto done;
    }
    const field_plan plan = { .domain = dom,
                              .shape = options_shape(&o, dom),
                              .rotated = encoding_rotated(dom, &o) };
    *working_bytes = backend_bytes(o.device, o.threads, &plan, n) + integrate_bytes(dom);
    if (o.skip_start == NPMD_SKIP_CONVEX)
        *working_bytes += convex_bytes(o.features);
    if (gap_wanted(&o, dom, n))
        *working_bytes += gap_bytes(&plan, o.threads);
    if (o.snr || o.stop == NPMD_STOP_SNR)
        *working_bytes += backend_squares_bytes(o.threads, &plan);
    if (left < n)
        *working_bytes += n * (size_t)dom->columns * sizeof(double);
    *out = o;
done:
    return st;
}

/* Theta as another model gives it; NULL: the fit starts by itself. */
static npmd_status field_start_from(npmd_model *m, const fit_origin *s, objective *o, double **out,
                                    npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_state *f = m->state;
    size_t parameters = field_parameters(&f->shape), found = parameters;
    double *theta = NULL;
    if (s->model == NULL)
        return NPMD_OK;
    TRY(memory_new(&theta, parameters, err));
    if (s->model->kind == &ESTIMATOR_FIELD) {
        const double *from = field_theta(s->model, &found);
        assert(found == parameters);
        memcpy(theta, from, parameters * sizeof *theta);
    } else {
        double *linear = theta + (f->shape.skip ? field_skip(&f->shape) : field_weights(&f->shape, 1));
        field_start(&f->shape, m->options.start != 0, m->options.seed, theta);
        const int matched = start_project(s->model, &f->encoding, linear);
        TRY(linear_constant(&f->encoding, o, linear, theta + field_biases(&f->shape, f->shape.depth), err));
        model_warn(m, "the linear path starts from a series that has %d of the %d features", matched,
                   f->encoding.features);
    }
    *out = theta;
    theta = NULL;
done:
    memory_free(theta);
    return st;
}

/* The encoding of another field, or a drawn one. */
static npmd_status field_encode(const npmd_model *m, fit_origin *s, encoding *out, npmd_error *err)
{
    if (s->encoded == NULL)
        return encoding_draw(m->domain, &m->options, out, err);
    field_state *from = s->encoded->state;
    *out = from->encoding;
    out->domain = m->domain;
    from->encoding = (encoding){ 0 };
    return NPMD_OK;
}

/* The short fits that choose tau run to their end, and nobody watches them. */
static npmd_status field_choose_tau(npmd_model *m, const npmd_options *asked, const npmd_points *pts,
                                    npmd_error *err)
{
    const int stop = m->options.stop, ratios = m->options.snr;
    m->options.stop = NPMD_STOP_NONE;
    m->options.snr = 0;
    const npmd_status st = choose_tau(m, asked, pts, err);
    m->options.stop = stop;
    m->options.snr = ratios;
    return st;
}

static npmd_status field_fit_to(npmd_model *m, const npmd_options *asked, const npmd_points *pts,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_options *opt = &m->options;
    field_state *f = NULL;
    backend b = { 0 };
    objective o = { 0 };
    train_result done_by = { 0 };
    encoding judge = { 0 };
    fit_origin origin = { 0 };
    double *from = NULL;
    field_watch watching = { .model = m, .points = pts, .terms = &o };
    const train_watch *watch = NULL;
    TRY(start_open(m, &origin, err));
    TRY(checkpoint_open(m, asked, pts, &m->checkpoint, err));
    if (asked->tau < 0.0 && !checkpoint_chosen(m->checkpoint))
        TRY(field_choose_tau(m, asked, pts, err));
    if (asked->features > opt->features && !checkpoint_chosen(m->checkpoint))
        model_warn(m, "%d features were asked for, %s has %d up to this frequency", asked->features,
                   m->domain->text, opt->features);
    TRY(memory_new(&f, 1, err));
    m->state = f;
    f->shape = options_shape(opt, m->domain);
    TRY(field_encode(m, &origin, &f->encoding, err));
    f->shape.square = f->encoding.square;
    TRY(memory_new(&f->theta, field_parameters(&f->shape), err));
    const field_plan plan = field_plan_of(m);
    TRY(backend_open(opt->device, opt->threads, &plan, &b, err));
    TRY(b.ops->set_points(b.self, pts, err));
    TRY(objective_open(&o, m->domain, pts, opt, err));
    m->options.proposal_rho = o.proposal.rho;
    TRY(field_start_from(m, &origin, &o, &from, err));
    TRY(field_watch_open(&watching, &plan, &b, &watch, err));
    train_keeper keeper = { .keep = keep_state, .self = m->checkpoint };
    if (m->checkpoint != NULL)
        TRY(checkpoint_restore(m->checkpoint, &b, field_parameters(&f->shape), &keeper.resume, err));
    m->facts.resumed = keeper.resume == NULL ? 0 : keeper.resume->step;
    if (f->encoding.features < options_features(m->domain) / 4)
        TRY(draw_judge(m, &judge, err));
    TRY(train(&b, &f->shape, &f->encoding, judge.features > 0 ? &judge : NULL, from, &o, opt, watch,
              m->checkpoint == NULL ? NULL : &keeper, &done_by, err));
    if (done_by.interrupted)
        TRY(checkpoint_stop(m->checkpoint, &b, &done_by.state, err));
    else
        checkpoint_finish(m->checkpoint, &b, &done_by.state);
    TRY(field_watch_settle(&watching, &b, &done_by, err));
    TRY(b.ops->get(b.self, VECTOR_THETA, f->theta, err));
    m->facts.steps = done_by.steps;
    m->facts.objective = done_by.objective;
    m->facts.restarts = done_by.restarts;
    m->facts.seconds = done_by.seconds;
    m->facts.interrupted = done_by.interrupted;
    m->linear = done_by.linear;
    if (done_by.linear)
        model_warn(
            m,
            "the network ended worse than its linear start in %d attempts: the model is that linear start alone",
            done_by.restarts + 1);
    else if (done_by.restarts > 0)
        model_warn(
            m,
            "the fit was started again %d time%s, at last with rate %.2g, since it had collapsed or blown up",
            done_by.restarts, done_by.restarts == 1 ? "" : "s", done_by.rate);
    if (done_by.unfinished)
        model_warn(m, "%lld steps are too few: the objective stands at %.3g, far from what is within reach",
                   (long long)done_by.steps, done_by.objective);
    if (done_by.interrupted)
        model_warn(m, "the fit was interrupted after %lld of %lld steps", (long long)done_by.steps,
                   (long long)opt->steps);
    TRY(model_normalise(m, backend_values, &b, pts, (size_t)1 << 22, err));
    if (!m->facts.interrupted)
        TRY(field_gap(m, &plan, f->theta, pts, err));
    if (m->facts.interrupted && !done_by.interrupted)
        TRY(checkpoint_stop(m->checkpoint, &b, &done_by.state, err));
done:
    field_watch_close(&watching);
    encoding_free(&judge);
    start_close(&origin);
    memory_free(from);
    objective_close(&o);
    backend_close(&b);
    return st;
}

/* Early stopping by held-out points fits to the others. */
static npmd_status field_fit(npmd_model *m, const npmd_options *asked, const npmd_points *pts,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *held_out = NULL, *training = NULL;
    if (m->options.stop == NPMD_STOP_ISE && m->options.held_out == NULL) {
        TRY(stopping_hold_out(&m->options, pts, &held_out, &training, err));
        m->options.held_out = held_out;
    }
    TRY(field_fit_to(m, asked, training == NULL ? pts : training, err));
done:
    if (held_out != NULL)
        m->options.held_out = NULL;
    npmd_points_free(held_out);
    npmd_points_free(training);
    return st;
}

static npmd_status field_evaluate(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                                  jet_rows rows, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_state *f = m->state;
    const field_plan plan = field_plan_of(m);
    backend b = { 0 };
    TRY(backend_open(how == NULL ? "" : how->device, how == NULL ? 0 : how->threads, &plan, &b, err));
    TRY(b.ops->put(b.self, VECTOR_THETA, f->theta, err));
    TRY(b.ops->evaluate(b.self, x, n, rows, out, err));
done:
    backend_close(&b);
    return st;
}

/* ---- the file: one tensor for each matrix and vector --------------------------------------------------- */

/* What is done with the tensor that stands at theta + offset. */
typedef npmd_status (*tensor_visit)(void *self, const char *name, int dimensions, const size_t *shape,
                                    size_t offset, npmd_error *err);

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

static npmd_status add_tensor(void *self, const char *name, int dimensions, const size_t *shape,
                              size_t offset, npmd_error *err)
{
    const tensor_sink *to = self;
    return record_add(to->rec, name, TENSOR_F64, dimensions, shape, to->theta + offset, err);
}

static npmd_status field_save(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_state *f = m->state;
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

static npmd_status take_tensor(void *self, const char *name, int dimensions, const size_t *shape,
                               size_t offset, npmd_error *err)
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
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor %s holds a number that is not finite",
                             from->path, name);
    return NPMD_OK;
}

static npmd_status field_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_options *opt = &m->options;
    field_state *f = NULL;
    if (opt->depth < 1 || opt->features < 1 || opt->max_frequencies != m->domain->factors) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: its options do not describe a field on %s", path,
                       m->domain->text);
        goto done;
    }
    const field_shape shape = options_shape(opt, m->domain);
    /* before anything is allocated by what the options claim */
    TRY(each_tensor(&shape, take_tensor, &(tensor_source){ rec, path, NULL }, err));
    TRY(memory_new(&f, 1, err));
    m->state = f;
    f->shape = shape;
    TRY(encoding_load(m->domain, opt, rec, path, &f->encoding, err));
    TRY(memory_new(&f->theta, field_parameters(&f->shape), err));
    TRY(each_tensor(&f->shape, take_tensor, &(tensor_source){ rec, path, f->theta }, err));
done:
    return st;
}

static npmd_status field_describe(const npmd_model *m, json_t *into, npmd_error *err)
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

const estimator ESTIMATOR_FIELD = {
    .name = "field",
    .keeps = true,
    .resolve = field_resolve,
    .fit = field_fit,
    .evaluate = field_evaluate,
    .save = field_save,
    .load = field_load,
    .describe = field_describe,
    .free = field_free,
};
