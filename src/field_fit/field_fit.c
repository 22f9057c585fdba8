/* field_fit.c - the paper's estimator: a sine network on random eigenfunctions, fitted by penalised likelihood. */
#include "field_fit.h"

#define LEAST_POINTS 20 /* fewer are too few for a relu to hold any out */

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static bool holds_out(const settings *set)
{
    return set->descent.stop == STOP_ISE && !set->descent.judged;
}

/* With a base a field starts at v = 0, and neither the linear start nor the convex optimum is known. */
static npmd_status base_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_origin *from = &p->origin;
    fit_plan *base = NULL;
    if (p->asked.base <= BASE_AUTO)
        return NPMD_OK;
    if (p->asked.network.skip_start == SKIP_CONVEX)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "`skip-start` convex: with a `base` a field starts at v = 0"));
    if (from->model != NULL && from->model->set.estimator != FIT_FIELD)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                      "`start-from`: with a `base` a field starts at v = 0 or from another field, not from a series"));
    if (from->base != NULL && model_depth(from->base) + 3 > MODEL_DEEPEST)
        TRY(npmd_fail(err, NPMD_ERR_SHAPE, "`base`: a model with %d models within each other is too deep",
                      model_depth(from->base)));
    p->full.network.skip_start = SKIP_ZERO;
    p->full.descent.convex_gap = 0;
    if (from->base == NULL) {
        TRY(memory_new(&base, 1, err));
        TRY(base_plan(p, p->n, base, err));
    }
    p->bytes += base_bytes(p, base);
done:
    memory_free(base);
    return st;
}

static npmd_status field_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = p->domain;
    settings *o = &p->full;
    size_t left = p->n; /* to fit to */
    if (holds_out(o)) {
        if (o->holdout == 0.0)
            o->holdout = settings_usual(o, "holdout", dom, p->n);
        const size_t held_out = stopping_held_out(o, p->n);
        if (held_out < 2) {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                           "`stop` ise: a share of %g of %zu points is too few to judge by; raise `holdout`",
                           o->holdout, p->n);
            goto done;
        }
        left -= held_out;
    }
    TRY(training_complete(o, settings_readers(o, dom), dom, left, err));
    TRY(origin_complete(p, err));
    if (o->base > BASE_AUTO)
        o->descent.convex_gap = 0; /* it is the field's own, of no base */
    if (o->network.skip_start == SKIP_CONVEX && o->encoding.features > CONVEX_FEATURES) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "`skip-start` convex: %d features, at most %d", o->encoding.features,
                       CONVEX_FEATURES);
        goto done;
    }
    field_plan plan = { .domain = dom, .shape = training_shape(o, dom), .rotated = encoding_rotated(dom, o) };
    const int threads = o->machine.threads;
    if (settings_open(&p->asked).size)
        settings_larger(dom, &plan.shape.width, &plan.shape.depth); /* which may be chosen */
    p->bytes = backend_bytes(o->machine.device, threads, &plan, p->n) + integrate_bytes(dom);
    if (o->network.skip_start == SKIP_CONVEX)
        p->bytes += convex_bytes(o->encoding.features);
    if (gap_wanted(o, dom, p->n))
        p->bytes += gap_bytes(&plan, threads);
    if (o->descent.snr || o->descent.stop == STOP_SNR)
        p->bytes += backend_squares_bytes(threads, &plan);
    if (left < p->n)
        p->bytes += p->n * (size_t)dom->columns * sizeof(double);
    TRY(base_complete(p, err));
done:
    return st;
}

/* The paper's plain network: ReLU layers on the point's own columns, stopped early by held-out points. */
static npmd_status relu_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = p->domain;
    settings *o = &p->full;
    size_t left = p->n;
    TRY(domain_refuse_surfaces(dom, "`estimator` relu: its features are", err));
    o->network.skip = 0;
    o->network.skip_start = SKIP_ZERO;
    o->descent.convex_gap = 0;
    if (o->holdout == 0.0)
        o->holdout = settings_usual(o, "holdout", dom, p->n);
    o->descent.stop = p->n >= LEAST_POINTS && stopping_held_out(o, p->n) >= 2 ? STOP_ISE : STOP_NONE;
    if (holds_out(o))
        left -= stopping_held_out(o, p->n);
    TRY(training_complete_bare(o, 1u << FIT_FIELD | 1u << FIT_RELU, dom, left, err));
    const field_plan plan = { .domain = dom, .shape = training_shape(o, dom) };
    p->bytes = backend_bytes(o->machine.device, o->machine.threads, &plan, p->n) + integrate_bytes(dom)
               + (left < p->n ? p->n * (size_t)dom->columns * sizeof(double) : 0);
done:
    return st;
}

/* ---- the start --------------------------------------------------------------------------------------------------- */

/* A few features cannot say what could be gained: a wide encoding does. */
static npmd_status draw_judge(const npmd_model *m, encoding *out, npmd_error *err)
{
    settings wide = m->set;
    wide.encoding.from = FEATURES_DRAWN;
    wide.encoding.law = LAW_POWER;
    wide.encoding.decay = settings_wide_decay(m->domain);
    wide.encoding.features = settings_wide_features(m->domain);
    const double available = encoding_available(m->domain, &wide);
    if (wide.encoding.features > available)
        wide.encoding.features = (int)available;
    return encoding_draw(m->domain, &wide, out, err);
}

/* The kinks of the first layer pass through data points. */
static npmd_status relu_start(const fit *f, double *theta, npmd_error *err)
{
    const field_state *own = f->model->state;
    const uint64_t seed = f->model->set.seed;
    const size_t width = (size_t)own->shape.width, columns = (size_t)f->plan->domain->columns;
    const rng_key key = rng_key_make(seed, RNG_START, 1);
    double *rows = NULL; /* (width, columns) */
    const npmd_status st = memory_new(&rows, width * columns, err);
    if (st != NPMD_OK)
        return st;
    for (size_t i = 0; i < width; i++)
        points_row(f->points, (size_t)rng_permute(key, i % f->points->n, f->points->n), rows + i * columns);
    field_start(&own->shape, false, seed, theta);
    field_start_kinks(&own->shape, rows, theta);
    memory_free(rows);
    return NPMD_OK;
}

/* Theta as another model gives it, or where its kinks want to be; NULL: the fit starts by itself. */
static npmd_status field_start_from(const fit *f, objective *o, double **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    const npmd_model *origin = f->plan->origin.model;
    const field_state *own = m->state;
    const field_shape *shape = &own->shape;
    const size_t parameters = field_parameters(shape);
    double *theta = NULL;
    const bool kinks = own->encoding.columns && m->set.network.start == 0;
    if (origin == NULL && !kinks)
        return NPMD_OK;
    TRY(memory_new(&theta, parameters, err));
    if (kinks) {
        TRY(relu_start(f, theta, err));
    } else if (origin->set.estimator == FIT_FIELD) {
        const field_state *from = origin->state;
        assert(field_parameters(&from->shape) == parameters);
        memcpy(theta, from->theta, parameters * sizeof *theta);
    } else {
        double *linear = theta + (shape->skip ? field_skip(shape) : field_weights(shape, 1));
        field_start(shape, m->set.network.start != 0, m->set.seed, theta);
        const int matched = origin_project(origin, &own->encoding, linear);
        TRY(linear_constant(&own->encoding, o, linear, theta + field_biases(shape, shape->depth), err));
        model_warn(m, "the linear path starts from a series that has %d of the %d features", matched,
                   own->encoding.features);
    }
    *out = theta;
    theta = NULL;
done:
    memory_free(theta);
    return st;
}

/* The state of the model: its encoding, of another field or drawn, and room for its parameters. */
static npmd_status field_make(const fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    const npmd_model *encoded = f->plan->origin.encoded;
    field_state *s = NULL;
    TRY(memory_new(&s, 1, err));
    m->state = s; /* freed with the model */
    s->shape = training_shape(&m->set, m->domain);
    if (m->set.estimator == FIT_RELU)
        TRY(encoding_columns(m->domain, &s->encoding, err));
    else if (encoded != NULL)
        TRY(encoding_copy(&((const field_state *)encoded->state)->encoding, m->domain, &s->encoding, err));
    else
        TRY(encoding_draw(m->domain, &m->set, &s->encoding, err));
    s->shape.square = s->encoding.square;
    TRY(memory_new(&s->theta, field_parameters(&s->shape), err));
done:
    return st;
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

/* Progress reports while tau is chosen: a checkpoint says that nothing is chosen yet. */
typedef struct choosing {
    checkpoint *keep;
    const fit_watch *watch;
} choosing;

static int choosing_progress(const npmd_report *now, void *user)
{
    const choosing *c = user;
    checkpoint_keep(c->keep, NULL);
    return watch_tell(c->watch, now);
}

static npmd_status field_choose_tau(const fit *f, checkpoint *keep, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    choosing c = { keep, f->watch };
    bool stopped = false;
    st = choose_settings(f, &(fit_watch){ .progress = choosing_progress, .user = &c, .kept = f->kept }, &stopped, err);
    if (st == NPMD_STOPPED) /* in a base */
        st = checkpoint_leave(keep, err);
    TRY(st);
    if (stopped)
        TRY(checkpoint_stop(keep, NULL, err));
done:
    return st;
}

/* What training did, in the facts and in words. */
static void field_report(npmd_model *m, const train_result *done_by)
{
    m->facts.steps = done_by->steps;
    m->facts.objective = done_by->objective;
    m->facts.restarts = done_by->restarts;
    m->facts.seconds = done_by->seconds;
    m->facts.interrupted = done_by->interrupted;
    m->linear = done_by->linear;
    if (done_by->linear && m->base != NULL)
        model_warn(m, "the network ended worse than the base in %d attempts: the model is the base alone, v = 0",
                   done_by->restarts + 1);
    else if (done_by->linear)
        model_warn(m,
                   "the network ended worse than its linear start in %d attempts: the model is that linear start alone",
                   done_by->restarts + 1);
    else if (done_by->restarts > 0)
        model_warn(m, "the fit was started again %d time%s, at last with rate %.2g, since it had collapsed or blown up",
                   done_by->restarts, done_by->restarts == 1 ? "" : "s", done_by->rate);
    if (done_by->unfinished)
        model_warn(m, "%lld steps are too few: the objective stands at %.3g, far from what is within reach",
                   (long long)done_by->steps, done_by->objective);
    if (done_by->interrupted)
        model_warn(m, "the fit was interrupted after %lld of %lld steps", (long long)done_by->steps,
                   (long long)m->set.descent.steps);
}

/* Trains on an open backend, and asks it for the log integral. */
static npmd_status field_train(fit *f, const fit_watch *watch, backend *b, base_set *bases, checkpoint *keep,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    field_state *s = m->state;
    const field_plan plan = field_plan_of(m);
    objective o = { 0 };
    train_result done_by = { 0 };
    encoding judge = { 0 };
    double *from = NULL;
    field_values values = { .backend = b };
    field_watch watching = { .fit = f, .watch = watch, .backend = b, .terms = &o, .values = &values };
    train_keeper keeper = { .keep = checkpoint_keep, .self = keep };
    TRY(b->ops->set_points(b->self, f->points, err));
    TRY(objective_open(&o, m->domain, f->points, &m->set, err));
    m->set.descent.proposal_rho = o.proposal.rho;
    if (bases != NULL) {
        o.base = &bases->measure;
        values.how = model_compute(&m->set);
        TRY(evaluator_open(&values.base, m->base, &values.how, err));
    }
    TRY(field_start_from(f, &o, &from, err));
    TRY(field_watch_open(&watching, &plan, err));
    if (keep != NULL)
        TRY(checkpoint_restore(keep, b, field_parameters(&s->shape), field_watch_rule(&watching), &keeper.resume, err));
    m->facts.resumed = keeper.resume == NULL ? 0 : keeper.resume->step;
    if (s->encoding.features < settings_wide_features(m->domain) / 4 && bases == NULL)
        TRY(draw_judge(m, &judge, err));
    st = train(&(field_training){ .backend = b,
                                  .shape = &s->shape,
                                  .encoding = &s->encoding,
                                  .judge = judge.features > 0 ? &judge : NULL,
                                  .from = from,
                                  .terms = &o,
                                  .set = &m->set,
                                  .watch = watch,
                                  .look = field_watch_look(&watching),
                                  .keeper = keep == NULL ? NULL : &keeper },
               &done_by, err);
    if (st == NPMD_STOPPED) /* in its base: what was kept before stays */
        st = checkpoint_leave(keep, err);
    TRY(st);
    if (done_by.interrupted)
        TRY(checkpoint_stop(keep, &done_by.state, err));
    else
        checkpoint_finish(keep, &done_by.state);
    TRY(field_watch_settle(&watching, &done_by, err));
    TRY(b->ops->get(b->self, VECTOR_THETA, s->theta, err));
    field_report(m, &done_by);
    if (bases != NULL && (m->set.alone || m->linear)) /* v = 0 */
        fit_normalised(f, &(integral_result){ .log_integral_se = m->base->facts.log_integral_se });
    else if (bases != NULL)
        TRY(base_normalise(f, bases, field_values_at, &values, backend_values, b, err));
    else
        TRY(fit_normalise(f, backend_values, b, (size_t)1 << 22, err));
    if (!m->facts.interrupted)
        TRY(field_gap(f, &plan, s->theta, err));
    if (m->facts.interrupted && !done_by.interrupted)
        TRY(checkpoint_stop(keep, &done_by.state, err));
done:
    field_watch_close(&watching);
    evaluator_close(&values.base);
    encoding_free(&judge);
    memory_free(from);
    objective_close(&o);
    return st;
}

static int base_progress(const npmd_report *now, void *user)
{
    npmd_report report = *now;
    report.attempt = 0;
    report.logged = 0;
    return watch_tell(user, &report);
}

/* The base of the model, and what it takes to train against it: the plan's own, or made here. */
static npmd_status field_base(const fit *f, const fit_watch *watch, base_set *own, base_set **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    if (m->set.base == BASE_NONE)
        return NPMD_OK;
    *out = f->plan->origin.bases;
    if (*out == NULL) {
        TRY(base_open(own, f->plan, f->points, NULL, watch, err));
        *out = own;
    }
    m->base = model_share((*out)->whole);
    if (m->set.alone)
        m->set.descent.steps = 0;
    m->set.alone = m->set.descent.steps == 0; /* as a checkpoint has it */
done:
    return st;
}

/* A base that held-out points chose, now or before an interruption: the fit goes on as if it had been asked for. */
static npmd_status field_over_base(fit *f, fit_plan **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    settings *set = &f->model->set;
    if (set->base == BASE_AUTO)
        set->base = BASE_NONE;
    if (set->base == BASE_NONE || set->base == f->plan->asked.base)
        return NPMD_OK;
    TRY(memory_new(out, 1, err));
    TRY(plan_over(f->plan, (base_kind)set->base, *out, err));
    f->plan = *out;
    set->network.skip_start = (*out)->full.network.skip_start;
    set->descent.convex_gap = (*out)->full.descent.convex_gap;
done:
    return st;
}

static npmd_status field_fit_to(fit *f, const npmd_points *held_out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    const int features = f->plan->asked.encoding.features;
    checkpoint *keep = NULL;
    backend b = { 0 };
    base_set own = { 0 };
    base_set *bases = NULL;
    fit_plan *over = NULL;
    const fit_watch base_watch = { .progress = base_progress, .user = (void *)(uintptr_t)f->watch };
    fit_watch watch = *f->watch;
    watch.log_every = fit_log_every(f);
    watch.held_out = held_out;
    TRY(checkpoint_open(f, &keep, err));
    if (m->set.estimator == FIT_FIELD && !checkpoint_chosen(keep))
        TRY(field_choose_tau(f, keep, err));
    if (m->set.estimator == FIT_FIELD && features > m->set.encoding.features && !checkpoint_chosen(keep))
        model_warn(m, "%d features were asked for, %s has %d up to this frequency", features, m->domain->text,
                   m->set.encoding.features);
    TRY(field_over_base(f, &over, err));
    st = field_base(f, &base_watch, &own, &bases, err);
    if (st == NPMD_STOPPED || (st == NPMD_OK && keep != NULL && m->base != NULL && m->base->facts.interrupted))
        st = checkpoint_leave(keep, err);
    TRY(st);
    TRY(field_make(f, err));
    const field_plan plan = field_plan_of(m);
    TRY(backend_open(m->set.machine.device, m->set.machine.threads, &plan, &b, err));
    TRY(field_train(f, &watch, &b, bases, keep, err));
    checkpoint_report(keep, f);
done:
    backend_close(&b);
    checkpoint_close(keep);
    base_close(&own);
    memory_free(over);
    return st;
}

/* Early stopping by held-out points fits to the others. */
static npmd_status field_fit(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *held_out = NULL, *training = NULL;
    fit to = *f;
    descent_settings *d = &f->model->set.descent;
    if (holds_out(&f->plan->full)) {
        TRY(stopping_hold_out(&f->plan->full, f->points, &held_out, &training, err));
        to.points = training;
        if (d->batch > (int64_t)training->n)
            d->batch = (int64_t)training->n; /* twins of held-out points are left out, too */
    }
    TRY(field_fit_to(&to, held_out == NULL ? f->watch->held_out : held_out, err));
done:
    points_free(held_out);
    points_free(training);
    return st;
}

const estimator ESTIMATOR_FIELD = {
    .name = "field",
    .keeps = true,
    .complete = field_complete,
    .fit = field_fit,
    .open = field_open,
    .evaluate = field_evaluate,
    .close = field_close,
    .save = field_save,
    .load = field_load,
    .describe = field_describe,
    .free = field_free,
};

const estimator ESTIMATOR_RELU = {
    .name = "relu",
    .keeps = true,
    .complete = relu_complete,
    .fit = field_fit,
    .open = field_open,
    .evaluate = field_evaluate,
    .close = field_close,
    .save = field_save,
    .load = field_load,
    .describe = field_describe,
    .free = field_free,
};
