/* train.c - the loop: steps, the guard on the gradient, restarts. */
#include "training.h"

#define MOST_RESTARTS 2
#define RESTART_RATE 0.3     /* a restart runs at this share of the rate before */
#define SAFE_INPUTS 128.0    /* the width at which rate 1e-3 was found safe */
#define CONVEX_SHARE 20.0    /* a series alone has far to go, and nothing that could blow up */
#define RUNAWAY 1e6          /* a likelihood above this will not come back, */
#define RUNAWAY_PENALTY 1e10 /* nor will such a penalty */
#define WORSE 1.05           /* the uniform density has 1 */
#define FEWEST_STEPS 300     /* a shorter run that is still at v = 0 has not collapsed, it has not begun */
#define SIGN_OF_LIFE 0.2     /* seconds between calls of progress */

typedef struct attempt {
    train_state at;
    bool runaway, stopped;
} attempt;

/* The last tenth of the steps, at most 200: their mean is the final objective. */
static int64_t tail_length(const npmd_options *opt)
{
    const int64_t tenth = opt->steps / 10;
    return tenth < 1 ? 1 : tenth > 200 ? 200 : tenth;
}

/* Is this a step after which the watch judges? */
static bool is_look(const train_watch *watch, const npmd_options *opt, int64_t step)
{
    return watch != NULL && watch->judge != NULL && (step % watch->every == 0 || step == opt->steps);
}

/* One step, whose terms and update the backend makes one by one. */
static npmd_status attempt_step(backend *b, objective *o, const npmd_options *opt, optimiser_step *step,
                                attempt *a, step_record *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    objective_value value;
    TRY(objective_step(o, b, a->at.step, &value, err));
    *out = (step_record){ .data = -value.data, .integral = value.integral, .penalty = value.penalty };
    step->max_norm = schedule_guard(opt, step, a->at.running_log_norm);
    TRY(b->ops->update(b->self, step, &out->norm, err));
    out->running_log_norm = schedule_running(a->at.step, a->at.running_log_norm, out->norm, step->max_norm);
done:
    return st;
}

/* The next count steps; value: of the last of them. */
static npmd_status attempt_advance(backend *b, objective *o, const npmd_options *opt,
                                   const rate_share *shares, bool judged, size_t count, attempt *a,
                                   objective_value *value, double *rate, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    optimiser_step step[BACKEND_MOST_STEPS];
    step_record record[BACKEND_MOST_STEPS];
    for (size_t i = 0; i < count; i++)
        step[i] = schedule_step(opt, shares, a->at.step + (int64_t)i, &a->at.beta1_product,
                                &a->at.beta2_product);
    if (b->ops->run == NULL) {
        TRY(attempt_step(b, o, opt, step, a, record, err));
    } else {
        const step_recipe recipe = objective_recipe(o);
        TRY(b->ops->run(b->self, &recipe, a->at.step, count, step, opt->clip, a->at.running_log_norm, record,
                        err));
    }
    for (size_t i = 0; i < count && !a->runaway; i++) {
        const step_record *r = &record[i];
        *value = (objective_value){ .data = -r->data, .integral = r->integral, .penalty = r->penalty };
        value->total = value->data + value->integral + opt->tau * value->penalty;
        a->at.last = value->total;
        a->at.running_log_norm = r->running_log_norm;
        a->runaway = !(value->data + value->integral < RUNAWAY && value->penalty < RUNAWAY_PENALTY)
                     || !isfinite(r->norm);
        if (judged || a->at.step >= opt->steps - tail_length(opt)) { /* any look may be the last */
            a->at.tail += value->total;
            a->at.tail_steps++;
        }
        a->at.step++;
    }
    *rate = step[count - 1].rate;
done:
    return st;
}

/* Says where the attempt stands, and may end it. */
static npmd_status attempt_report(backend *b, const npmd_options *opt, const train_watch *watch, attempt *a,
                                  npmd_report *report, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const bool look = is_look(watch, opt, a->at.step);
    if ((look || report->logged) && watch != NULL && !a->runaway)
        TRY(watch->look(watch->self, b, report, err));
    if (look && !a->runaway) {
        TRY(watch->judge(watch->self, b, report, a->at.tail / (double)a->at.tail_steps, &a->at.enough, err));
        if (!a->at.enough && a->at.step < opt->steps - tail_length(opt))
            a->at.tail = (double)(a->at.tail_steps = 0);
        report->logged = report->logged || a->at.enough; /* the last of the attempt */
    }
    a->stopped = opt->progress != NULL && opt->progress(report, opt->user) != 0;
done:
    return st;
}

/* A step is reported before it is kept: a fit that resumes reports the steps after the one it was kept at, and
 * none is left out, whenever the run before was killed. */
static npmd_status attempt_run(backend *b, objective *o, const npmd_options *opt, const rate_share *shares,
                               const train_watch *watch, const train_keeper *keeper, double started,
                               attempt *a, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double an_epoch = (double)objective_steps_an_epoch(opt, o->points->n);
    const bool judged = watch != NULL && watch->judge != NULL;
    double last_sign = clock_seconds();
    int64_t together = 1; /* as many as take about a tenth of a second */
    while (a->at.step < opt->steps && !a->runaway && !a->stopped && !a->at.enough) {
        objective_value value = { 0 };
        double rate = 0.0;
        const int64_t until_log = opt->log_every - a->at.step % opt->log_every,
                      until_end = opt->steps - a->at.step;
        int64_t count = b->ops->run == NULL ? 1 : together;
        count = count < until_log ? count : until_log;
        count = count < until_end ? count : until_end;
        if (judged && count > watch->every - a->at.step % watch->every)
            count = watch->every - a->at.step % watch->every;
        const double before = clock_seconds();
        TRY(attempt_advance(b, o, opt, shares, judged, (size_t)count, a, &value, &rate, err));
        if (clock_seconds() - before < 0.5 * SIGN_OF_LIFE && count == together
            && together < BACKEND_MOST_STEPS)
            together *= 2;
        const bool logged = a->at.step % opt->log_every == 0 || a->at.step == opt->steps;
        const double now = clock_seconds();
        a->at.seconds = now - started;
        if ((opt->progress != NULL && (logged || now - last_sign >= SIGN_OF_LIFE))
            || is_look(watch, opt, a->at.step)) {
            npmd_report report = report_new(a->at.step, opt->steps, (int)a->at.restart + 1, a->at.seconds);
            report.logged = logged;
            report.epoch = (double)a->at.step / an_epoch;
            report.rate = rate;
            report.data = value.data;
            report.integral = value.integral;
            report.penalty = value.penalty;
            report.objective = value.total;
            report.log_integral = log(value.integral);
            last_sign = now;
            TRY(attempt_report(b, opt, watch, a, &report, err));
        }
        if (keeper != NULL && !a->runaway && !a->stopped)
            keeper->keep(keeper->self, b, &a->at);
    }
done:
    return st;
}

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

/* The network as field_start leaves it, the linear part with its first gain before any step; or as given. */
static npmd_status attempt_start(backend *b, const field_shape *shape, const npmd_options *opt,
                                 const double *from, const linear_gain *possible, double *theta,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    memset(theta, 0, field_parameters(shape) * sizeof *theta);
    TRY(b->ops->put(b->self, VECTOR_GRADIENT, theta, err));
    TRY(b->ops->put(b->self, VECTOR_MOMENT1, theta, err));
    TRY(b->ops->put(b->self, VECTOR_MOMENT2, theta, err));
    field_start(shape, opt->start != 0, opt->seed, theta);
    if (has_start(shape, possible) && opt->skip_start != NPMD_SKIP_ZERO)
        linear_start(shape, possible, theta);
    TRY(b->ops->put(b->self, VECTOR_THETA, from == NULL ? theta : from, err));
done:
    return st;
}

/* The linear part alone, where it starts; the network is silent. */
static npmd_status put_convex_start(backend *b, const field_shape *shape, const linear_gain *possible,
                                    double *theta, npmd_error *err)
{
    memset(theta, 0, field_parameters(shape) * sizeof *theta);
    linear_start(shape, possible, theta);
    return b->ops->put(b->self, VECTOR_THETA, theta, err);
}

/* A step of size r moves every weight of a layer by about r, and so its pre-activations by r x inputs: layers
 * with more than SAFE_INPUTS inputs move at a share of the rate that keeps this at what it is there. The skip
 * is convex and needs none. */
static void layer_shares(const field_shape *shape, rate_share *shares)
{
    for (int l = 1; l <= shape->depth; l++)
        shares[l - 1] = (rate_share){ field_weights(shape, l + 1),
                                      fmin(1.0, SAFE_INPUTS / field_inputs(shape, l)) };
    shares[shape->depth] = (rate_share){ SIZE_MAX, 1.0 };
    if (shape->depth == 1) /* convex: it may run */
        shares[0].share = CONVEX_SHARE;
}

npmd_status train(backend *b, const field_shape *shape, const encoding *enc, const encoding *judge,
                  const double *from, objective *o, const npmd_options *opt, const train_watch *watch,
                  const train_keeper *keeper, train_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const train_state *resume = keeper == NULL ? NULL : keeper->resume;
    const double started = clock_seconds() - (resume == NULL ? 0.0 : resume->seconds);
    npmd_options now = *opt;
    double *theta = NULL;
    linear_gain possible = { 0 }, judged = { 0 };
    rate_share shares[FIELD_MAX_DEPTH + 1];
    layer_shares(shape, shares);
    TRY(memory_new(&theta, field_parameters(shape), err));
    if (!enc->columns)
        TRY(linear_gain_open(&possible, enc, o, err));
    if (opt->skip_start == NPMD_SKIP_CONVEX && has_start(shape, &possible))
        TRY(convex_start(&possible, enc, o, err));
    if (judge != NULL)
        TRY(linear_gain_open(&judged, judge, o, err));
    const linear_gain *promise = judge == NULL ? &possible : &judged;
    for (int restart = resume == NULL ? 0 : (int)resume->restart;; restart++) {
        attempt a = { .at = { .restart = restart, .beta1_product = 1.0, .beta2_product = 1.0 } };
        const double slower = pow(RESTART_RATE, restart);
        now.rate = opt->rate * slower;
        now.rate_min = opt->rate_min * slower;
        if (resume != NULL)
            a.at = *resume;
        else
            TRY(attempt_start(b, shape, opt, from, &possible, theta, err));
        if (resume == NULL && watch != NULL && watch->again != NULL)
            watch->again(watch->self);
        resume = NULL;
        if (!a.at.linear)
            TRY(attempt_run(b, o, &now, opt->layer_rates ? shares : NULL, watch, keeper, started, &a, err));
        const double reached = a.at.tail_steps > 0 ? a.at.tail / (double)a.at.tail_steps : a.at.last;
        const bool astray = !a.stopped && (has_collapsed(promise, reached) || reached > WORSE);
        const bool unfinished = astray && opt->steps < FEWEST_STEPS;
        *out = (train_result){ .state = a.at,
                               .steps = a.at.step,
                               .objective = reached,
                               .seconds = clock_seconds() - started,
                               .restarts = restart,
                               .rate = now.rate,
                               .interrupted = a.stopped,
                               .unfinished = unfinished };
        if (!a.at.linear && !a.runaway && (!astray || unfinished))
            break;
        if (restart >= MOST_RESTARTS && shape->skip && possible.coefficient != NULL) {
            TRY(put_convex_start(b, shape, &possible, theta, err));
            out->objective = 1.0 - possible.reached;
            out->linear = out->state.linear = true;
            break;
        }
        if (restart >= MOST_RESTARTS && a.runaway) {
            st = npmd_fail(
                err, NPMD_ERR_NUMERIC,
                "the objective ran away at step %lld, also after %d restarts at lower rates; lower --rate, "
                "or use --skip on",
                (long long)a.at.step, restart);
            goto done;
        }
        if (restart >= MOST_RESTARTS) {
            st = npmd_fail(
                err, NPMD_ERR_NUMERIC,
                "the fit collapsed to the uniform density (objective %.4g where %.4g is within reach), also "
                "after %d restarts at lower rates; use --skip on, lower --tau or --rate, or take more --steps",
                reached, 1.0 - promise->gain, restart);
            goto done;
        }
    }
done:
    linear_gain_close(&possible);
    linear_gain_close(&judged);
    memory_free(theta);
    return st;
}
