/* checkpoint.c - the state of a fit in a file, to resume after an unwanted end.
 *
 * A step is a function of (seed, step, theta, moments): the file holds these vectors, a few numbers of the optimiser,
 * what early stopping remembers, the tau that was chosen and the warnings that came with it. Everything else (encoding,
 * proposal, linear start) is computed again from data and options, to the same bits; so is an interrupted choice of
 * tau. The file identifies its data and options, and no other fit may resume it. A hash over its contents detects
 * damage, of which a single bit would make another model.
 *
 * A checkpoint that cannot be written does not end the fit: the failure is remembered, the next checkpoint is tried
 * when due, and the caller is told at the end. */
#include "field_fit.h"

#include <stdio.h>
#include <unistd.h>

#define CHECKPOINT_VERSION 1
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
    const char *path, *resume; /* where it is written, and what it goes on from */
    double every;              /* seconds between two */
    npmd_claim *claim;         /* no other run may write to it meanwhile */
    json_t *identity;          /* what must be equal in a fit that resumes it */
    backend *backend;          /* that has theta and the moments; NULL: training has not begun */
    double started, before;    /* clock at the start of this run; seconds of the runs before */
    double due;
    double *vector; /* (parameters), room for one */
    size_t parameters;
    int warnings; /* of the model before its training: later ones come again */
    char failure[256];
    record resumed; /* the file that was read, until its vectors are restored */
    bool resuming, chosen;
    train_state state;
    stopping *rule; /* of early stopping; NULL: there is none */
};

void checkpoint_close(checkpoint *c)
{
    if (c == NULL)
        return;
    json_decref(c->identity);
    file_claim_release(c->claim);
    record_free(&c->resumed);
    memory_free(c->vector);
    memory_free(c);
}

/* {"domain", "data", "started_from", "encoded_from", "base", "options"}: hashes stand for the data and for other models. */
static npmd_status identity_make(const fit *f, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *identity = json_object(), *options = NULL;
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)points_hash(f->points));
    TRY(json_put(identity, "domain", json_string(f->plan->domain->text), err));
    TRY(json_put(identity, "data", json_string(hash), err));
    TRY(json_put(identity, "started_from", json_string(f->plan->origin.model_hash), err));
    TRY(json_put(identity, "encoded_from", json_string(f->plan->origin.encoded_hash), err));
    if (f->plan->asked.base != BASE_AUTO) { /* checkpoints of before have none */
        const int base = f->plan->asked.base;
        const char *name = base == BASE_MODEL ? f->plan->origin.base_hash : base_name((base_kind)base);
        TRY(json_put(identity, "base", json_string(name), err));
    }
    TRY(settings_to_json(&f->plan->asked, &options, err));
    TRY(json_put(identity, "options", options, err));
    *out = identity;
    identity = NULL;
done:
    json_decref(identity);
    return st;
}

static npmd_status seal_of(const json_t *root, const record *rec, char seal[24], npmd_error *err)
{
    char *text = NULL;
    const npmd_status st = json_to_text(root, JSON_COMPACT | JSON_ENSURE_ASCII, &text, err);
    if (st != NPMD_OK)
        return st;
    uint64_t h = hash_bytes(0, text, strlen(text));
    memory_free(text);
    for (size_t i = 0; i < rec->count; i++) {
        const tensor *t = &rec->tensors[i];
        size_t size = t->type == TENSOR_F64 || t->type == TENSOR_I64 ? 8 : 4;
        for (int d = 0; d < t->dimensions; d++)
            size *= t->shape[d];
        h = hash_bytes(h, t->data, size);
    }
    snprintf(seal, 24, "%016llx", (unsigned long long)h);
    return NPMD_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static npmd_status seal_check(const char *path, json_t *root, const record *rec, npmd_error *err)
{
    char found[24], written[24] = "";
    const char *seal = json_string_value(json_object_get(root, "seal"));
    if (seal != NULL)
        snprintf(written, sizeof written, "%s", seal);
    json_object_del(root, "seal");
    const npmd_status st = seal_of(root, rec, found, err);
    if (st != NPMD_OK || strcmp(found, written) == 0)
        return st;
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: the checkpoint is damaged, its seal does not match", path);
}

static void value_print(const char *name, const json_t *value, char *text, size_t size)
{
    if (strcmp(name, "tau") == 0 && json_number_value(value) < 0.0)
        snprintf(text, size, "auto");
    else
        json_print(value, JSON_COMPACT | JSON_REAL_PRECISION(6), text, size);
}

/* A checkpoint of an older version knows nothing of an option that came later: it was left at its default. */
static npmd_status options_check(const char *path, const json_t *ours, const json_t *theirs, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options *untouched = NULL;
    json_t *defaults = NULL;
    TRY(memory_new(&untouched, 1, err));
    options_init(untouched);
    TRY(settings_to_json(&untouched->set, &defaults, err));
    for (size_t i = 0; i < json_object_size(ours); i++) {
        const char *name = json_object_key(ours, i);
        const json_t *mine = json_object_value(ours, i), *other = json_object_get(theirs, name);
        if (other == NULL)
            other = json_object_get(defaults, name);
        if (!json_equal(mine, other)) {
            char text[2][64];
            value_print(name, other, text[0], sizeof text[0]);
            value_print(name, mine, text[1], sizeof text[1]);
            st = npmd_fail(err, NPMD_ERR_FORMAT,
                           "%s is the checkpoint of a fit with `%s` %s, this one has %s; give the same options", path,
                           name, text[0], text[1]);
            goto done;
        }
    }
done:
    json_decref(defaults);
    memory_free(untouched);
    return st;
}

static npmd_status identity_check(const char *path, const json_t *ours, const json_t *theirs, npmd_error *err)
{
    const json_t *options = json_object_get(theirs, "options");
    const char *domain = json_string_value(json_object_get(theirs, "domain"));
    if (domain == NULL || !json_is_object(options))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: the checkpoint's description is incomplete", path);
    if (strcmp(domain, json_string_value(json_object_get(ours, "domain"))) != 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is the checkpoint of a fit on %.60s, this one is on %s", path,
                         domain, json_string_value(json_object_get(ours, "domain")));
    const npmd_status st = options_check(path, json_object_get(ours, "options"), options, err);
    if (st != NPMD_OK)
        return st;
    if (!json_equal(json_object_get(ours, "started_from"), json_object_get(theirs, "started_from"))
        || !json_equal(json_object_get(ours, "encoded_from"), json_object_get(theirs, "encoded_from")))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is the checkpoint of a fit that started from another model", path);
    const json_t *base[2] = { json_object_get(ours, "base"), json_object_get(theirs, "base") };
    if ((base[0] == NULL) != (base[1] == NULL) || (base[0] != NULL && !json_equal(base[0], base[1])))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is the checkpoint of a fit with another `base`", path);
    if (!json_equal(json_object_get(ours, "data"), json_object_get(theirs, "data")))
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s is the checkpoint of a fit to other data: other points, order or weights", path);
    return NPMD_OK;
}

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
    c->before = s[STATE_SECONDS];
    m->set.tau = s[STATE_TAU]; /* as they were chosen */
    m->set.descent.steps = (int64_t)s[STATE_STEPS];
    if (m->set.descent.warmup > m->set.descent.steps / 2)
        m->set.descent.warmup = m->set.descent.steps / 2;
    m->set.descent.epochs = (int64_t)s[STATE_EPOCHS];
done:
    return st;
}

/* The file, whole and undamaged, and its description. */
static npmd_status checkpoint_file(const char *path, record *rec, json_t **description, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *root = NULL;
    TRY(record_read(path, rec, err));
    TRY(json_from_text(rec->metadata, strlen(rec->metadata), path, &root, err));
    const json_int_t version = json_integer_value(json_object_get(root, "checkpoint_version"));
    if (version < 1) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is no checkpoint%s", path,
                       json_object_get(root, "estimator") == NULL ? "" : ", but a model");
        goto done;
    }
    if (version > CHECKPOINT_VERSION) {
        st = npmd_fail(err, NPMD_ERR_FORMAT,
                       "%s was written by a newer neuropmd (checkpoint version %lld, this program reads up to %d)",
                       path, (long long)version, CHECKPOINT_VERSION);
        goto done;
    }
    TRY(seal_check(path, root, rec, err));
    *description = root;
    root = NULL;
done:
    json_decref(root);
    return st;
}

npmd_status checkpoint_seed(const char *path, uint64_t *seed, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    json_t *root = NULL;
    TRY(checkpoint_file(path, &rec, &root, err));
    const json_t *options = json_object_get(json_object_get(root, "fit"), "options"),
                 *value = json_object_get(options, "seed");
    *seed = json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) /* JSON integers end at 2^63 */
                                  : (uint64_t)json_integer_value(value);
done:
    json_decref(root);
    record_free(&rec);
    return st;
}

static double number_read(const json_t *root, const char *key) /* NaN: null, or nothing */
{
    const json_t *value = json_object_get(root, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static npmd_status checkpoint_read(checkpoint *c, npmd_model *m, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *root = NULL;
    TRY(checkpoint_file(path, &c->resumed, &root, err));
    TRY(identity_check(path, c->identity, json_object_get(root, "fit"), err));
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
    const char *resume = w->resume, *path = w->checkpoint[0] != '\0' ? w->checkpoint : resume;
    if (path[0] == '\0')
        return NPMD_OK;
    TRY(memory_new(&c, 1, err));
    c->model = f->model;
    c->path = path;
    c->resume = resume;
    c->every = w->checkpoint_every;
    c->started = clock_seconds();
    c->due = c->started + fmin(FIRST_AFTER, c->every);
    TRY(file_claim_take(path, &c->claim, err)); /* before it is read: who writes it now would go on */
    TRY(identity_make(f, &c->identity, err));
    /* in a script that is run again and again the first run finds nothing */
    if (resume[0] != '\0' && !(strcmp(resume, path) == 0 && w->checkpoint[0] != '\0' && access(resume, F_OK) != 0))
        TRY(checkpoint_read(c, f->model, resume, err));
    const npmd_status writable = file_output_check(path, c->resuming ? NULL : err); /* clears leftovers, too */
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

static npmd_status description_make(const checkpoint *c, bool chosen, const record *rec, char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = c->model;
    char seal[24];
    json_t *root = json_object(), *warnings = json_array(), *settled = NULL;
    TRY(json_put(root, "checkpoint_version", json_integer(CHECKPOINT_VERSION), err));
    TRY(json_put(root, "version", json_string(version_text()), err));
    TRY(json_put(root, "fit", json_incref(c->identity), err));
    TRY(json_put(root, "chosen", json_boolean(chosen), err));
    if (chosen) {
        TRY(choice_to_json(&m->choice, root, err));
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
    TRY(seal_of(root, rec, seal, err));
    TRY(json_put(root, "seal", json_string(seal), err));
    TRY(json_to_text(root, JSON_COMPACT | JSON_ENSURE_ASCII, out, err));
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
        state[STATE_SECONDS] = c->before + clock_seconds() - c->started;
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
    TRY(description_make(c, now != NULL, &rec, &rec.metadata, err));
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
    const bool is_there = c != NULL && c->chosen && strcmp(c->path, c->resume) == 0;
    if (c == NULL || (!is_there && checkpoint_try(c, NULL) != NPMD_OK))
        return NPMD_STOPPED;
    return npmd_fail(err, NPMD_STOPPED, "interrupted; `resume` %s goes on from here", c->path);
}

void checkpoint_report(const checkpoint *c, fit *f)
{
    if (c == NULL)
        return;
    snprintf(f->model->facts.checkpoint_failure, sizeof f->model->facts.checkpoint_failure, "%s", c->failure);
    f->before = c->before;
}
