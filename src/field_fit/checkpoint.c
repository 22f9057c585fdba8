/* checkpoint.c - the state of a field's fit in a file, to resume after an unwanted end.
 *
 * A step is a function of (seed, step, theta, moments): the file holds these vectors, a few numbers of the optimiser,
 * what early stopping remembers, the tau that was chosen and the warnings that came with it. Everything else (encoding,
 * proposal, linear start) is computed again from data and options, to the same bits; so is an interrupted choice, whose
 * short fits are kept beside it (model/kept.c). What the file says of its fit is in model/described.c.
 *
 * A checkpoint that cannot be written does not end the fit: the failure is remembered, the next checkpoint is tried
 * when due, and the caller is told at the end. */
#include "field_fit.h"

#include <stdio.h>

#define FIRST_AFTER 1.0 /* seconds */

enum {
    STATE_RESTART,
    STATE_STEP,
    STATE_LAST,
    STATE_BETA1,
    STATE_BETA2,
    STATE_NORM,
    STATE_TAIL,
    STATE_TAIL_STEPS,
    STATE_TRAINED,
    STATE_LINEAR,
    STATE_TAU,
    STATE_STEPS,
    STATE_EPOCHS,
    STATE_SECONDS,
    STATE_NUMBERS
};

static const char *const VECTOR_NAME[VECTORS] = {
    [VECTOR_THETA] = "theta", [VECTOR_MOMENT1] = "moment1", [VECTOR_MOMENT2] = "moment2"
};

struct checkpoint {
    const npmd_model *model;
    kept_fits *kept;
    const char *path, *resume; /* where it is written, and what it goes on from */
    double every;              /* seconds between two */
    json_t *identity;          /* what must be equal in a fit that resumes it */
    backend *backend;          /* that has theta and the moments; NULL: training has not begun */
    double spent;              /* seconds of the runs before, as the file has them */
    double due;
    double *vector; /* (parameters), room for one */
    size_t parameters;
    int warnings; /* of the model before its training: later ones come again */
    char failure[256];
    record resumed; /* the file that was read, until its vectors are restored */
    bool read, resuming, chosen;
    train_state state;
    stopping *rule; /* of early stopping; NULL: there is none */
};

void checkpoint_close(checkpoint *c)
{
    if (c == NULL)
        return;
    json_decref(c->identity);
    record_free(&c->resumed);
    memory_free(c->vector);
    memory_free(c);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* What was chosen: the network and its encoding. A checkpoint of an older version has none of it, nor had its fit. */
static npmd_status settled_read(const json_t *settled, npmd_model *m, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options *as = NULL;
    if (settled == NULL)
        return NPMD_OK;
    TRY(memory_new(&as, 1, err));
    options_init(as);
    TRY(options_from_json(as, settled, path, err));
    m->set.network.omega = as->set.network.omega;
    m->set.network.width = as->set.network.width;
    m->set.network.depth = as->set.network.depth;
    m->set.encoding = as->set.encoding;
done:
    memory_free(as);
    return st;
}

static npmd_status state_read(checkpoint *c, npmd_model *m, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const tensor *t = NULL;
    TRY(record_find(&c->resumed, path, "state", TENSOR_F64, 1, &(size_t){ STATE_NUMBERS }, &t, err));
    const double *s = t->data;
    const bool sound = s[STATE_RESTART] >= 0.0 && s[STATE_RESTART] < 100.0 && s[STATE_STEP] >= 0.0
                       && s[STATE_STEP] <= s[STATE_STEPS] && s[STATE_STEPS] <= 4e9 && s[STATE_EPOCHS] >= 0.0
                       && s[STATE_EPOCHS] <= (double)m->set.descent.epochs && s[STATE_TAIL_STEPS] >= 0.0
                       && s[STATE_TAIL_STEPS] <= s[STATE_STEP] && s[STATE_TAU] >= 0.0 && s[STATE_TRAINED] >= 0.0
                       && s[STATE_SECONDS] >= 0.0;
    if (!sound) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the checkpoint's state makes no sense", path);
        goto done;
    }
    c->state = (train_state){ .restart = (int64_t)s[STATE_RESTART],
                              .step = (int64_t)s[STATE_STEP],
                              .last = s[STATE_LAST],
                              .beta1_product = s[STATE_BETA1],
                              .beta2_product = s[STATE_BETA2],
                              .running_log_norm = s[STATE_NORM],
                              .tail = s[STATE_TAIL],
                              .tail_steps = (int64_t)s[STATE_TAIL_STEPS],
                              .seconds = s[STATE_TRAINED],
                              .linear = s[STATE_LINEAR] != 0.0 };
    c->spent = s[STATE_SECONDS];
    m->set.tau = s[STATE_TAU]; /* as they were chosen */
    m->set.descent.steps = (int64_t)s[STATE_STEPS];
    if (m->set.descent.warmup > m->set.descent.steps / 2)
        m->set.descent.warmup = m->set.descent.steps / 2;
    m->set.descent.epochs = (int64_t)s[STATE_EPOCHS];
done:
    return st;
}

static double number_read(const json_t *root, const char *key) /* NaN: null, or nothing */
{
    const json_t *value = json_object_get(root, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* What the held-out points said of the choice, for those who compare it with others. */
static npmd_status judged_read(const checkpoint *c, choice_record *choice, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const tensor *t = NULL;
    if (choice->held_out == 0
        || record_find(&c->resumed, path, "held_out", TENSOR_F64, 1, &choice->held_out, &t, NULL) != NPMD_OK)
        return NPMD_OK;
    TRY(memory_new(&choice->log_density, choice->held_out, err));
    memcpy(choice->log_density, t->data, choice->held_out * sizeof *choice->log_density);
done:
    return st;
}

static npmd_status checkpoint_read(checkpoint *c, npmd_model *m, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *root = NULL;
    TRY(described_read(path, c->identity, &c->resumed, &root, err));
    c->read = true;
    c->chosen = json_is_true(json_object_get(root, "chosen"));
    if (!c->chosen)
        goto done; /* tau was still being chosen: that is done again */
    TRY(settled_read(json_object_get(root, "settings"), m, path, err));
    if (json_is_string(json_object_get(root, "chosen_base")))
        m->set.base = base_named(json_string_value(json_object_get(root, "chosen_base")));
    TRY(state_read(c, m, path, err));
    TRY(choice_from_json(&m->choice, root, path, err));
    m->held_out_nll = number_read(root, "held_out_nll");
    m->held_out_nll_se = number_read(root, "held_out_nll_se");
    const json_t *warnings = json_object_get(root, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (json_is_string(json_array_get(warnings, i)))
            model_warn(m, "%s", json_string_value(json_array_get(warnings, i)));
    const json_t *lines = json_object_get(root, "lines"); /* checkpoints of before have none */
    kept_resume_at(c->kept, json_is_integer(lines) ? (int64_t)json_integer_value(lines) : -1, c->spent);
    TRY(judged_read(c, &m->choice, path, err));
    c->resuming = true;
done:
    json_decref(root);
    return st;
}

npmd_status checkpoint_open(const fit *f, checkpoint **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    checkpoint *c = NULL;
    const fit_watch *w = f->watch;
    if (f->kept == NULL)
        return NPMD_OK;
    TRY(memory_new(&c, 1, err));
    c->model = f->model;
    c->kept = f->kept;
    c->path = described_path(w);
    c->resume = described_resume(w);
    c->every = w->checkpoint_every;
    c->due = clock_seconds() + fmin(FIRST_AFTER, c->every);
    TRY(described_fit(f, &c->identity, err));
    if (c->resume != NULL)
        st = checkpoint_read(c, f->model, c->resume, err);
    if (st == NPMD_ERR_FORMAT && !c->read && w->kept != NULL) /* left by another fit: nothing for this one */
        st = NPMD_OK;
    TRY(st);
    TRY(kept_begin(c->kept, c->identity, c->read && !c->chosen, err));
    const npmd_status writable = file_output_check(c->path, c->resuming ? NULL : err); /* clears leftovers, too */
    if (!c->resuming) /* a place that is read-only by now is no reason not to finish */
        TRY(writable);
    *out = c;
    c = NULL;
done:
    checkpoint_close(c);
    return st;
}

static npmd_status stopping_restore(checkpoint *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *path = c->resume;
    stopping *s = c->rule;
    const tensor *t = NULL;
    TRY(record_find(&c->resumed, path, "stopping", TENSOR_F64, 1, &(size_t){ STOPPING_NUMBERS }, &t, err));
    if (!stopping_sound(t->data, c->state.step)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: what the checkpoint says of `stop` makes no sense", path);
        goto done;
    }
    memcpy(s->number, t->data, sizeof s->number);
    c->state.enough = s->number[STOPPING_ENOUGH] != 0.0;
    if (s->best != NULL) {
        TRY(record_find(&c->resumed, path, "best", TENSOR_F64, 1, &s->parameters, &t, err));
        memcpy(s->best, t->data, s->parameters * sizeof *s->best);
    }
done:
    return st;
}

npmd_status checkpoint_restore(checkpoint *c, backend *b, size_t parameters, stopping *rule, const train_state **out,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    c->backend = b;
    c->rule = rule;
    c->parameters = parameters;
    c->warnings = c->model->warnings;
    TRY(memory_new(&c->vector, parameters, err));
    TRY(b->ops->put(b->self, VECTOR_GRADIENT, c->vector, err)); /* zero between two steps */
    for (int v = 0; c->resuming && v < VECTORS; v++) {
        const tensor *t = NULL;
        if (VECTOR_NAME[v] == NULL)
            continue;
        TRY(record_find(&c->resumed, c->resume, VECTOR_NAME[v], TENSOR_F64, 1, &parameters, &t, err));
        TRY(b->ops->put(b->self, (backend_vector)v, t->data, err));
    }
    if (c->resuming && c->rule != NULL)
        TRY(stopping_restore(c, err));
    record_free(&c->resumed);
    c->resumed = (record){ 0 };
    *out = c->resuming ? &c->state : NULL;
done:
    return st;
}

bool checkpoint_chosen(const checkpoint *c)
{
    return c != NULL && c->chosen;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static npmd_status description_make(const checkpoint *c, bool chosen, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = c->model;
    json_t *root = NULL, *warnings = json_array(), *settled = NULL;
    TRY(described_begin(c->identity, &root, err));
    TRY(json_put(root, "chosen", json_boolean(chosen), err));
    if (chosen) {
        TRY(choice_to_json(&m->choice, root, err));
        if (kept_lines(c->kept) >= 0)
            TRY(json_put(root, "lines", json_integer(kept_lines(c->kept)), err));
        TRY(json_put(root, "held_out_nll", json_known(m->held_out_nll), err));
        TRY(json_put(root, "held_out_nll_se", json_known(m->held_out_nll_se), err));
        TRY(settings_to_json(&m->set, &settled, err));
        TRY(json_put(root, "settings", json_incref(settled), err));
        if (m->set.base < BASE_MODEL)
            TRY(json_put(root, "chosen_base", json_string(base_name((base_kind)m->set.base)), err));
    }
    for (int i = 0; i < c->warnings; i++)
        TRY(json_append(warnings, json_string(m->warning[i]), err));
    TRY(json_put(root, "warnings", json_incref(warnings), err));
    TRY(described_seal(root, rec, err));
done:
    json_decref(settled);
    json_decref(warnings);
    json_decref(root);
    return st;
}

/* now NULL: tau is still being chosen. */
static npmd_status checkpoint_write(checkpoint *c, const train_state *now, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    backend *b = c->backend;
    double state[STATE_NUMBERS], *copy[VECTORS] = { NULL };
    if (now != NULL) {
        state[STATE_RESTART] = (double)now->restart;
        state[STATE_STEP] = (double)now->step;
        state[STATE_LAST] = now->last;
        state[STATE_BETA1] = now->beta1_product;
        state[STATE_BETA2] = now->beta2_product;
        state[STATE_NORM] = now->running_log_norm;
        state[STATE_TAIL] = now->tail;
        state[STATE_TAIL_STEPS] = (double)now->tail_steps;
        state[STATE_TRAINED] = now->seconds;
        state[STATE_LINEAR] = now->linear;
        state[STATE_TAU] = c->model->set.tau;
        state[STATE_STEPS] = (double)c->model->set.descent.steps;
        state[STATE_EPOCHS] = (double)c->model->set.descent.epochs;
        state[STATE_SECONDS] = kept_clock(c->kept);
        TRY(record_add(&rec, "state", TENSOR_F64, 1, &(size_t){ STATE_NUMBERS }, state, err));
    }
    for (int v = 0; now != NULL && v < VECTORS; v++) {
        if (VECTOR_NAME[v] == NULL)
            continue;
        TRY(memory_new(&copy[v], c->parameters, err));
        TRY(b->ops->get(b->self, (backend_vector)v, copy[v], err));
        TRY(record_add(&rec, VECTOR_NAME[v], TENSOR_F64, 1, &c->parameters, copy[v], err));
    }
    if (now != NULL && c->rule != NULL) {
        TRY(record_add(&rec, "stopping", TENSOR_F64, 1, &(size_t){ STOPPING_NUMBERS }, c->rule->number, err));
        if (c->rule->best != NULL)
            TRY(record_add(&rec, "best", TENSOR_F64, 1, &c->parameters, c->rule->best, err));
    }
    const choice_record *choice = &c->model->choice;
    if (now != NULL && choice->log_density != NULL)
        TRY(record_add(&rec, "held_out", TENSOR_F64, 1, &choice->held_out, choice->log_density, err));
    TRY(description_make(c, now != NULL, &rec, err));
    TRY(record_write(c->path, &rec, err));
done:
    for (int v = 0; v < VECTORS; v++)
        memory_free(copy[v]);
    record_free(&rec);
    return st;
}

static npmd_status checkpoint_try(checkpoint *c, const train_state *now)
{
    npmd_error why = { 0 };
    const npmd_status st = checkpoint_write(c, now, &why);
    snprintf(c->failure, sizeof c->failure, "%.255s", st == NPMD_OK ? "" : why.text);
    if (now != NULL && st == NPMD_OK)
        kept_clear(c->kept); /* what was chosen is in the file */
    c->due = clock_seconds() + c->every;
    return st;
}

void checkpoint_keep(void *self, const train_state *now)
{
    checkpoint *c = self;
    if (c != NULL && clock_seconds() >= c->due)
        checkpoint_try(c, now);
}

void checkpoint_finish(checkpoint *c, const train_state *now)
{
    if (c != NULL)
        checkpoint_try(c, now);
}

npmd_status checkpoint_stop(checkpoint *c, const train_state *now, npmd_error *err)
{
    if (c == NULL || checkpoint_try(c, now) != NPMD_OK)
        return NPMD_OK;
    return npmd_fail(err, NPMD_STOPPED, "interrupted; `resume` %s goes on from here", c->path);
}

npmd_status checkpoint_leave(checkpoint *c, npmd_error *err)
{
    const bool is_there = c != NULL && c->chosen && c->resume != NULL && strcmp(c->path, c->resume) == 0;
    if (c == NULL || (!is_there && checkpoint_try(c, NULL) != NPMD_OK))
        return NPMD_STOPPED;
    return npmd_fail(err, NPMD_STOPPED, "interrupted; `resume` %s goes on from here", c->path);
}

void checkpoint_report(const checkpoint *c, fit *f)
{
    if (c == NULL)
        return;
    snprintf(f->model->facts.checkpoint_failure, sizeof f->model->facts.checkpoint_failure, "%s", c->failure);
}
