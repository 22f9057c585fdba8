/* train_field.c - the training of a field: its start, checks for divergence and collapse, restarts. */
#include "training.h"

#define MOST_RESTARTS 2
#define RESTART_RATE 0.3  /* a restart runs at this share of the rate before */
#define SAFE_INPUTS 128.0 /* the width at which rate 1e-3 was found safe */
#define CONVEX_SHARE 20.0 /* a series alone has far to go, and nothing that could blow up */
#define WORSE 1.05        /* the uniform density has 1 */
#define FEWEST_STEPS 300  /* a shorter run that is still at v = 0 has not collapsed, it has not begun */

/* ---- Steps on a backend ------------------------------------------------------------------------------------------ */

typedef struct field_steps {
    backend *backend;
    objective *terms;
    double clip;
} field_steps;

/* One step, whose terms and update the backend makes one by one. */
static npmd_status one_step(const field_steps *f, int64_t number, optimiser_step *step, double running,
                            step_record *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    backend *b = f->backend;
    objective_value value;
    TRY(objective_step(f->terms, b, number, &value, err));
    *out = (step_record){ .data = -value.data, .integral = value.integral, .penalty = value.penalty };
    step->max_norm = schedule_guard(f->clip, step, running);
    TRY(b->ops->update(b->self, step, &out->norm, err));
    out->running_log_norm = schedule_running(number, running, out->norm, step->max_norm);
done:
    return st;
}

/* A device that makes a step's points itself does not know a base. */
static bool takes_several(const backend *b, const objective *terms)
{
    return b->ops->run != NULL && terms->base == NULL;
}

static npmd_status field_advance(void *self, int64_t first, size_t count, optimiser_step *steps, double running,
                                 step_record *out, npmd_error *err)
{
    const field_steps *f = self;
    const backend *b = f->backend;
    if (!takes_several(b, f->terms))
        return one_step(f, first, steps, running, out, err);
    const step_recipe recipe = objective_recipe(f->terms);
    return b->ops->run(b->self, &recipe, first, count, steps, f->clip, running, out, err);
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

/* Is there a linear part whose start is known? Of columns it is not. */
static bool has_start(const field_shape *shape, const linear_gain *possible)
{
    return (shape->skip || shape->depth == 1) && possible->coefficient != NULL;
}

/* The linear part, the skip or the series itself, at the best point of its Newton step or at its optimum. */
static void linear_start(const field_shape *shape, const linear_gain *possible, double *theta)
{
    memcpy(theta + (shape->skip ? field_skip(shape) : field_weights(shape, 1)), possible->coefficient,
           (size_t)shape->features * sizeof *theta);
    theta[field_biases(shape, shape->depth)] = possible->constant;
}

/* v = 0: the last layer is silent, and with it all others; what they are fed with is as it was. */
static void silence(const field_shape *shape, double *theta)
{
    const size_t last = field_weights(shape, shape->depth), end = field_biases(shape, shape->depth) + 1;
    memset(theta + last, 0, (end - last) * sizeof *theta);
}

/* The network as field_start leaves it, the linear part with its first gain before any step; or as given. */
static npmd_status put_start(const field_training *what, const linear_gain *possible, double *theta, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_shape *shape = what->shape;
    const network_settings *net = &what->set->network;
    backend *b = what->backend;
    memset(theta, 0, field_parameters(shape) * sizeof *theta);
    TRY(b->ops->put(b->self, VECTOR_GRADIENT, theta, err));
    TRY(b->ops->put(b->self, VECTOR_MOMENT1, theta, err));
    TRY(b->ops->put(b->self, VECTOR_MOMENT2, theta, err));
    field_start(shape, net->start != 0, what->set->seed, theta);
    if (what->terms->base != NULL)
        silence(shape, theta);
    if (has_start(shape, possible) && net->skip_start != SKIP_ZERO)
        linear_start(shape, possible, theta);
    TRY(b->ops->put(b->self, VECTOR_THETA, what->from == NULL ? theta : what->from, err));
done:
    return st;
}

/* The linear part alone, where it starts, or with a base nothing; the network is silent. */
static npmd_status put_convex_start(const field_training *what, const linear_gain *possible, double *theta,
                                    npmd_error *err)
{
    memset(theta, 0, field_parameters(what->shape) * sizeof *theta);
    if (what->terms->base == NULL)
        linear_start(what->shape, possible, theta);
    return what->backend->ops->put(what->backend->self, VECTOR_THETA, theta, err);
}

/* A step of size r moves every weight of a layer by about r, and so its pre-activations by r x inputs: layers
 * with more than SAFE_INPUTS inputs move at a share of the rate that keeps this at what it is there. The skip
 * is convex and needs none. */
static void layer_shares(const field_shape *shape, rate_share *shares)
{
    for (int l = 1; l <= shape->depth; l++)
        shares[l - 1] = (rate_share){ field_weights(shape, l + 1), fmin(1.0, SAFE_INPUTS / field_inputs(shape, l)) };
    shares[shape->depth] = (rate_share){ SIZE_MAX, 1.0 };
    if (shape->depth == 1) /* convex: it may run */
        shares[0].share = CONVEX_SHARE;
}

/* ---- Attempts ---------------------------------------------------------------------------------------------------- */

static npmd_status fail_astray(const train_attempt *a, int restarts, double reached, double promised, npmd_error *err)
{
    if (a->runaway)
        return npmd_fail(err, NPMD_ERR_NUMERIC,
                         "the objective ran away at step %lld, also after %d restarts at lower rates; lower `rate`, "
                         "or use `skip` on",
                         (long long)a->at.step, restarts);
    return npmd_fail(err, NPMD_ERR_NUMERIC,
                     "the fit collapsed to the uniform density (objective %.4g where %.4g is within reach), also "
                     "after %d restarts at lower rates; use `skip` on, lower `tau` or `rate`, or take more `steps`",
                     reached, promised, restarts);
}

npmd_status train(const field_training *what, train_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const field_shape *shape = what->shape;
    const settings *set = what->set;
    const train_state *resume = what->keeper == NULL ? NULL : what->keeper->resume;
    settings now = *set;
    field_steps steps = { what->backend, what->terms, set->descent.clip };
    double *theta = NULL;
    linear_gain possible = { 0 }, judged = { 0 };
    rate_share shares[FIELD_MAX_DEPTH + 1];
    const train_run run = { .what = &(trainee){ .self = &steps,
                                                .several = takes_several(what->backend, what->terms),
                                                .advance = field_advance },
                            .set = &now,
                            .n = what->terms->points->n,
                            .shares = set->descent.layer_rates ? shares : NULL,
                            .watch = what->watch,
                            .look = what->look,
                            .keeper = what->keeper,
                            .started = clock_seconds() - (resume == NULL ? 0.0 : resume->seconds) };
    layer_shares(shape, shares);
    TRY(memory_new(&theta, field_parameters(shape), err));
    if (!what->encoding->columns && what->terms->base == NULL)
        TRY(linear_gain_open(&possible, what->encoding, what->terms, err));
    if (set->network.skip_start == SKIP_CONVEX && has_start(shape, &possible))
        TRY(convex_start(&possible, what->encoding, what->terms, err));
    if (what->judge != NULL && what->terms->base == NULL)
        TRY(linear_gain_open(&judged, what->judge, what->terms, err));
    const linear_gain *promise = what->judge == NULL ? &possible : &judged;
    for (int restart = resume == NULL ? 0 : (int)resume->restart;; restart++) {
        train_attempt a = { .at = { .restart = restart, .beta1_product = 1.0, .beta2_product = 1.0 } };
        a.at.last = what->terms->base == NULL ? 0.0 : 1.0; /* of v = 0, should there be no step */
        const double slower = pow(RESTART_RATE, restart);
        now.descent.rate = set->descent.rate * slower;
        now.descent.rate_min = set->descent.rate_min * slower;
        if (resume != NULL)
            a.at = *resume;
        else
            TRY(put_start(what, &possible, theta, err));
        if (resume == NULL && what->look != NULL && what->look->again != NULL)
            what->look->again(what->look->self);
        resume = NULL;
        if (!a.at.linear)
            TRY(train_attempt_run(&run, &a, err));
        const double reached = train_reached(&a);
        const bool astray = !a.stopped && (has_collapsed(promise, reached) || reached > WORSE);
        const bool unfinished = astray && set->descent.steps < FEWEST_STEPS;
        *out = (train_result){ .state = a.at,
                               .steps = a.at.step,
                               .objective = reached,
                               .seconds = clock_seconds() - run.started,
                               .restarts = restart,
                               .rate = now.descent.rate,
                               .interrupted = a.stopped,
                               .unfinished = unfinished };
        if (!a.at.linear && !a.runaway && (!astray || unfinished))
            break;
        if (restart < MOST_RESTARTS)
            continue;
        if (what->terms->base == NULL && (!shape->skip || possible.coefficient == NULL)) {
            st = fail_astray(&a, restart, reached, 1.0 - promise->gain, err);
            goto done;
        }
        TRY(put_convex_start(what, &possible, theta, err));
        out->objective = 1.0 - possible.reached;
        out->linear = out->state.linear = true;
        break;
    }
done:
    linear_gain_close(&possible);
    linear_gain_close(&judged);
    memory_free(theta);
    return st;
}
