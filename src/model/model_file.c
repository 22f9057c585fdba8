/* model_file.c - a model as a file and back: its facts as JSON, its arrays as tensors, the parts of a blend within
 * it. */
#include "kept.h"
#include "surface_file.h"

#include <stdio.h>

#define FILE_VERSION 1 /* older ones stay readable */

static npmd_status parts_json(const npmd_model *m, json_t **out, npmd_error *err);

static npmd_status model_json(const npmd_model *m, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_facts *f = &m->facts;
    json_t *facts = json_object(), *warnings = json_array(), *options = NULL, *parts = NULL, *base = NULL;
    TRY(json_put(facts, "file_version", json_integer(FILE_VERSION), err));
    TRY(json_put(facts, "version", json_string(version_text()), err));
    TRY(json_put(facts, "estimator", json_string(estimator_name(&m->set)), err));
    TRY(json_put(facts, "domain", json_string(m->domain->text), err));
    TRY(json_put(facts, "measure", json_string("Riemannian volume"), err));
    TRY(json_put(facts, "n", json_integer((json_int_t)f->n), err));
    if (f->twins >= 0)
        TRY(json_put(facts, "twins", json_integer(f->twins), err));
    TRY(json_put(facts, "total_weight", json_real(m->total), err));
    TRY(json_put(facts, "steps_done", json_integer(f->steps), err));
    TRY(json_put(facts, "objective", json_known(f->objective), err));
    TRY(json_put(facts, "log_integral", json_real(f->log_integral), err));
    TRY(json_put(facts, "log_integral_se", json_real(f->log_integral_se), err));
    TRY(json_put(facts, "restarts", json_integer(f->restarts), err));
    TRY(json_put(facts, "members", json_integer(f->members), err));
    if (isfinite(m->held_out_nll)) {
        TRY(json_put(facts, "held_out_nll", json_real(m->held_out_nll), err));
        TRY(json_put(facts, "held_out_nll_se", json_known(m->held_out_nll_se), err));
    }
    if (f->stopped != STOP_NONE)
        TRY(json_put(facts, "stopped_by", json_string(f->stopped == STOP_ISE ? "ise" : "snr"), err));
    if (f->kept_step > 0)
        TRY(json_put(facts, "kept_step", json_integer(f->kept_step), err));
    if (isfinite(f->convex_gap)) {
        TRY(json_put(facts, "convex_optimum", json_real(f->convex_optimum), err));
        TRY(json_put(facts, "convex_gap", json_real(f->convex_gap), err));
        TRY(json_put(facts, "convex_gap_accuracy", json_real(f->convex_gap_accuracy), err));
    }
    if (m->started_from[0] != '\0')
        TRY(json_put(facts, "started_from", json_string(m->started_from), err));
    if (m->encoded_from[0] != '\0')
        TRY(json_put(facts, "encoding_from", json_string(m->encoded_from), err));
    TRY(choice_to_json(&m->choice, facts, err));
    for (int i = 0; i < m->warnings; i++)
        TRY(json_append(warnings, json_string(m->warning[i]), err));
    TRY(json_put(facts, "warnings", json_incref(warnings), err));
    TRY(settings_to_json(&m->set, &options, err));
    TRY(json_put(facts, "options", options, err));
    if (m->parts > 0) {
        TRY(parts_json(m, &parts, err));
        TRY(json_put(facts, "parts", parts, err));
    }
    if (m->base != NULL) {
        TRY(model_json(m->base, &base, err));
        TRY(json_put(facts, "base", base, err));
    }
    *out = facts;
    facts = NULL;
done:
    json_decref(warnings);
    json_decref(facts);
    return st;
}

static npmd_status parts_json(const npmd_model *m, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *list = json_array(), *one = NULL;
    for (int k = 0; k < m->parts; k++) {
        TRY(model_json(m->part[k], &one, err));
        TRY(json_put(one, "weight", json_real(m->part_weight[k]), err));
        st = json_append(list, one, err);
        one = NULL;
        if (st != NPMD_OK)
            goto done;
    }
    *out = list;
    list = NULL;
done:
    json_decref(one);
    json_decref(list);
    return st;
}

npmd_status model_describe(const npmd_model *m, char **json, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = NULL, *base = NULL;
    TRY(model_json(m, &object, err));
    TRY(surfaces_json(m, object, err));
    TRY(json_put(object, "tau", json_real(m->facts.tau), err));
    TRY(json_put(object, "seed", json_incref(json_object_get(json_object_get(object, "options"), "seed")), err));
    TRY(json_put(object, "volume", json_real(m->domain->volume), err));
    TRY(json_put(object, "dimension", json_integer(m->domain->dimension), err));
    if (m->kind->describe != NULL)
        TRY(m->kind->describe(m, object, err));
    if (m->base != NULL && m->base->kind->describe != NULL) {
        base = json_incref(json_object_get(object, "base")); /* a share of it, to change it */
        TRY(m->base->kind->describe(m->base, base, err));
    }
    TRY(json_to_text(object, JSON_INDENT(2) | JSON_ENSURE_ASCII, json, err));
done:
    json_decref(base);
    json_decref(object);
    return st;
}

static npmd_status model_tensors(const npmd_model *m, record *rec, npmd_error *err);

/* The tensors of a model within another, with this before their names. */
static npmd_status inner_tensors(const npmd_model *m, const char *prefix, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record own = { 0 };
    char name[96]; /* longer than a tensor's may be: record_add looks */
    TRY(model_tensors(m, &own, err));
    for (size_t i = 0; i < own.count; i++) {
        const tensor *t = &own.tensors[i];
        snprintf(name, sizeof name, "%s%s", prefix, t->name);
        TRY(record_add(rec, name, t->type, t->dimensions, t->shape, t->data, err));
    }
done:
    record_free(&own);
    return st;
}

/* Tensors of part k of a blend stand under part.k. and their own name, those of a base under base. */
static npmd_status model_tensors(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char prefix[24];
    if (m->kind->save != NULL)
        TRY(m->kind->save(m, rec, err));
    for (int k = 0; k < m->parts; k++) {
        snprintf(prefix, sizeof prefix, "part.%d.", k + 1);
        TRY(inner_tensors(m->part[k], prefix, rec, err));
    }
    if (m->base != NULL)
        TRY(inner_tensors(m->base, "base.", rec, err));
done:
    return st;
}

/* All that a file of the model holds; its tensors are the model's. rec is freed by the caller, also on failure. */
static npmd_status model_to_record(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = NULL;
    TRY(model_json(m, &object, err));
    TRY(surfaces_json(m, object, err));
    TRY(json_to_text(object, JSON_COMPACT | JSON_ENSURE_ASCII, &rec->metadata, err));
    TRY(model_tensors(m, rec, err));
    TRY(surfaces_save(m, rec, err)); /* once, whatever its parts are */
    if (m->seen_count > 0)
        TRY(record_add(rec, "points.seen", TENSOR_I64, 1, &m->seen_count, m->seen, err));
done:
    json_decref(object);
    return st;
}

npmd_status model_save(const npmd_model *m, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    TRY(model_to_record(m, &rec, err));
    TRY(record_write(path, &rec, err));
done:
    record_free(&rec);
    return st;
}

npmd_status model_pack(const npmd_model *m, char **bytes, size_t *size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    TRY(model_to_record(m, &rec, err));
    TRY(record_pack(&rec, bytes, size, err));
done:
    record_free(&rec);
    return st;
}

typedef struct source_file { /* what its models are made with */
    surface_shelf *surfaces;
    catalog estimators;
    const npmd_domain *domain; /* of all of them; NULL: as their facts say */
} source_file;

#define OLD_COORDINATES 60.0 /* the decay by which files of 0.1 mean that only the coordinates were drawn */

static double take_number(const json_t *root, const char *key) /* NaN: it is not there */
{
    const json_t *value = json_object_get(root, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void take_hash(const json_t *root, const char *key, char hash[MODEL_HASH])
{
    const char *text = json_string_value(json_object_get(root, key));
    if (text != NULL && strlen(text) < MODEL_HASH)
        snprintf(hash, MODEL_HASH, "%s", text);
}

/* Of the facts without which there is no model the first that is not there, or no such thing; NULL: all are. */
static const char *facts_missing(const json_t *root)
{
    static const struct {
        const char *key;
        bool (*is)(const json_t *value);
    } NEEDED[] = {
        { "estimator", json_is_string },       { "domain", json_is_string },      { "n", json_is_integer },
        { "total_weight", json_is_number },    { "steps_done", json_is_integer }, { "log_integral", json_is_number },
        { "log_integral_se", json_is_number }, { "restarts", json_is_integer },   { "members", json_is_integer },
        { "warnings", json_is_array },         { "options", json_is_object }
    };
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++)
        if (!NEEDED[i].is(json_object_get(root, NEEDED[i].key)))
            return NEEDED[i].key;
    return NULL;
}

/* The facts of a file, each checked; what is missing is named. */
static npmd_status model_from_json(npmd_model *m, const json_t *root, const source_file *from, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *path = from->surfaces->path;
    const json_int_t version = json_integer_value(json_object_get(root, "file_version")); /* 0: no integer */
    if (version < 1) {
        st = json_object_get(root, "checkpoint_version") != NULL
                 ? npmd_fail(err, NPMD_ERR_FORMAT, "%s is no model, but the checkpoint of a fit: fit `resume` goes on",
                             path)
                 : npmd_fail(err, NPMD_ERR_FORMAT, "%s: the model's description has no file version", path);
        goto done;
    }
    if (version > FILE_VERSION) {
        st = npmd_fail(err, NPMD_ERR_FORMAT,
                       "%s was written by a newer neuropmd (file version %lld, this program reads up to %d)", path,
                       (long long)version, FILE_VERSION);
        goto done;
    }
    const char *missing = facts_missing(root);
    if (missing != NULL) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the model's description is incomplete: no %s", path, missing);
        goto done;
    }
    const char *domain = json_string_value(json_object_get(root, "domain")),
               *name = json_string_value(json_object_get(root, "estimator"));
    const json_t *options = json_object_get(root, "options"), *warnings = json_object_get(root, "warnings");
    const json_int_t n = json_integer_value(json_object_get(root, "n"));
    m->total = take_number(root, "total_weight");
    m->facts.log_integral = take_number(root, "log_integral");
    m->facts.log_integral_se = take_number(root, "log_integral_se");
    m->facts.restarts = (int)json_integer_value(json_object_get(root, "restarts"));
    m->facts.members = (int)json_integer_value(json_object_get(root, "members"));
    if (!(m->total > 0.0) || !(m->facts.log_integral_se >= 0.0) || n < 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: n, total_weight or log_integral_se is out of range", path);
        goto done;
    }
    npmd_error inner = { 0 };
    npmd_options read;
    if (from->domain != NULL)
        TRY(domain_copy(from->domain, &m->domain, err));
    else if (domain_parse(domain, surfaces_find, from->surfaces, &m->domain, &inner) != NPMD_OK) {
        st = npmd_fail(err, inner.status == NPMD_ERR_MEMORY ? inner.status : NPMD_ERR_FORMAT, "%s: %.300s", path,
                       inner.text);
        goto done;
    }
    if (estimator_number(name) < 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: estimator \"%.40s\" is unknown to this version", path, name);
        goto done;
    }
    options_init(&read);
    TRY(options_from_json(&read, options, path, err));
    m->set = read.set;
    if (json_object_get(options, "encoding") == NULL) /* files of 0.1 say it by their decay */
        m->set.encoding.from = m->set.encoding.decay == OLD_COORDINATES ? FEATURES_COORDINATES : FEATURES_DRAWN;
    if (json_object_get(options, "ties") == NULL) /* nothing else was known then */
        m->set.ties = TIES_TOGETHER;
    if (mirror_check(&m->set, m->domain, &inner) != NPMD_OK) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: %.300s", path, inner.text);
        goto done;
    }
    m->kind = from->estimators(&m->set, m->domain);
    if (strcmp(estimator_name(&m->set), name) != 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the estimator is \"%.40s\", but its options are those of \"%s\"",
                       path, name, estimator_name(&m->set));
        goto done;
    }
    memset(m->set.given, 0, sizeof m->set.given); /* nobody gave them now */
    m->facts.n = (size_t)n;
    const json_t *twins = json_object_get(root, "twins");
    m->facts.twins = json_is_integer(twins) ? (int64_t)json_integer_value(twins) : -1;
    m->facts.steps = json_integer_value(json_object_get(root, "steps_done"));
    m->facts.objective = take_number(root, "objective");
    m->held_out_nll = take_number(root, "held_out_nll");
    m->held_out_nll_se = take_number(root, "held_out_nll_se");
    m->facts.kept_step = (int64_t)json_integer_value(json_object_get(root, "kept_step"));
    const char *stopped = json_string_value(json_object_get(root, "stopped_by"));
    m->facts.stopped = stopped == NULL ? STOP_NONE : strcmp(stopped, "ise") == 0 ? STOP_ISE : STOP_SNR;
    m->facts.convex_optimum = take_number(root, "convex_optimum");
    m->facts.convex_gap = take_number(root, "convex_gap");
    m->facts.convex_gap_accuracy = take_number(root, "convex_gap_accuracy");
    m->facts.tau = m->set.tau;
    m->facts.seed = m->set.seed;
    TRY(choice_from_json(&m->choice, root, path, err));
    take_hash(root, "started_from", m->started_from);
    take_hash(root, "encoding_from", m->encoded_from);
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (json_is_string(json_array_get(warnings, i)))
            model_warn(m, "%s", json_string_value(json_array_get(warnings, i)));
done:
    return st;
}

/* Files of before have none. */
static npmd_status model_take_seen(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const tensor *t = NULL;
    if (record_find(rec, path, "points.seen", TENSOR_I64, 1, (const size_t[]){ 0 }, &t, NULL) != NPMD_OK
        || t->shape[0] == 0 || t->shape[0] > SEEN_MOST)
        return NPMD_OK;
    TRY(memory_new(&m->seen, t->shape[0], err));
    memcpy(m->seen, t->data, t->shape[0] * sizeof *m->seen);
    m->seen_count = t->shape[0];
    for (size_t i = 1; i < m->seen_count; i++)
        if (m->seen[i] <= m->seen[i - 1]) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor points.seen does not rise at %zu", path, i + 1);
            goto done;
        }
done:
    return st;
}

/* The tensors of a model within another, under their own names; they are borrowed. */
static npmd_status record_within(const record *rec, const char *prefix, record *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t length = strlen(prefix);
    for (size_t i = 0; i < rec->count; i++) {
        const tensor *t = &rec->tensors[i];
        if (strncmp(t->name, prefix, length) == 0)
            TRY(record_add(out, t->name + length, t->type, t->dimensions, t->shape, t->data, err));
    }
done:
    return st;
}

/* The tensors of all parts of a blend, each with its part's, in one pass: own (parts). What belongs to none stays. */
static npmd_status record_deal(const record *rec, size_t parts, record *own, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (size_t i = 0; i < rec->count; i++) {
        const tensor *t = &rec->tensors[i];
        size_t k = 0;
        const char *at = t->name + strlen("part.");
        if (strncmp(t->name, "part.", strlen("part.")) != 0 || *at == '0') /* as "part.%d." is written */
            continue;
        for (; *at >= '0' && *at <= '9' && k <= parts; at++)
            k = 10 * k + (size_t)(*at - '0');
        if (*at == '.' && k >= 1 && k <= parts)
            TRY(record_add(&own[k - 1], at + 1, t->type, t->dimensions, t->shape, t->data, err));
    }
done:
    return st;
}

#define DEEPEST MODEL_DEEPEST
#define MOST_PARTS 1024

static npmd_status model_from_record(const record *rec, const json_t *root, const source_file *from, int depth,
                                     npmd_model **out, npmd_error *err);

static npmd_status parts_load(npmd_model *m, const record *rec, const json_t *root, const source_file *from, int depth,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *path = from->surfaces->path;
    record *own = NULL;
    const json_t *list = json_object_get(root, "parts");
    const size_t parts = json_array_size(list);
    if (m->kind->evaluate != blend_mixture && m->kind->evaluate != blend_log_mean)
        return NPMD_OK;
    if (parts < 1 || parts > MOST_PARTS || depth >= DEEPEST) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: a blend of %zu parts at depth %d", path, parts, depth);
        goto done;
    }
    TRY(blend_open(m, (int)parts, err));
    TRY(memory_new(&own, parts, err));
    TRY(record_deal(rec, parts, own, err));
    for (int k = 0; k < m->parts; k++) {
        const json_t *one = json_array_get(list, (size_t)k);
        const double weight = take_number(one, "weight");
        TRY(model_from_record(&own[k], one, from, depth + 1, &m->part[k], err));
        if (!(weight >= 0.0 && weight <= 1.0) || strcmp(m->part[k]->domain->text, m->domain->text) != 0) {
            st = npmd_fail(err, NPMD_ERR_FORMAT,
                           "%s: part %d has weight %g and lies on %s; expected a share of 1, and %s", path, k + 1,
                           weight, m->part[k]->domain->text, m->domain->text);
            goto done;
        }
        m->part_weight[k] = weight;
    }
done:
    for (size_t k = 0; own != NULL && k < parts; k++)
        record_free(&own[k]);
    memory_free(own);
    return st;
}

static npmd_status base_load(npmd_model *m, const record *rec, const json_t *root, const source_file *from, int depth,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *path = from->surfaces->path;
    record own = { 0 };
    const json_t *base = json_object_get(root, "base");
    if (base == NULL) /* as in files of before */
        return NPMD_OK;
    if (depth >= DEEPEST || m->parts > 0 || m->set.estimator != FIT_FIELD) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: a base of a model of estimator %s, at depth %d", path,
                       estimator_name(&m->set), depth);
        goto done;
    }
    TRY(record_within(rec, "base.", &own, err));
    TRY(model_from_record(&own, base, from, depth + 1, &m->base, err));
    if (strcmp(m->base->domain->text, m->domain->text) != 0)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: its base lies on %s, expected %s", path, m->base->domain->text,
                       m->domain->text);
done:
    record_free(&own);
    return st;
}

static npmd_status model_from_record(const record *rec, const json_t *root, const source_file *from, int depth,
                                     npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = NULL;
    const char *path = from->surfaces->path;
    if (!json_is_object(root)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the model's description is no JSON object", path);
        goto done;
    }
    TRY(memory_new(&m, 1, err));
    TRY(model_from_json(m, root, from, err));
    TRY(parts_load(m, rec, root, from, depth, err));
    TRY(base_load(m, rec, root, from, depth, err));
    if (m->kind->load != NULL)
        TRY(m->kind->load(m, rec, path, err));
    TRY(model_take_seen(m, rec, path, err));
    *out = m;
    m = NULL;
done:
    model_free(m);
    return st;
}

/* rec is that of a file, or of bytes that errors call path. */
static npmd_status model_of_record(const char *path, const record *rec, catalog estimators, npmd_model **out,
                                   npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char where[340];
    json_t *root = NULL;
    surface_shelf surfaces = { .path = path };
    snprintf(where, sizeof where, "%.300s: the model's description,", path);
    TRY(json_from_text(rec->metadata, strlen(rec->metadata), where, &root, err));
    TRY(surfaces_load(rec, root, path, &surfaces, err));
    TRY(model_from_record(rec, root, &(source_file){ &surfaces, estimators, NULL }, 0, out, err));
done:
    surfaces_close(&surfaces);
    json_decref(root);
    return st;
}

npmd_status model_load(const char *path, catalog estimators, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    TRY(record_read(path, &rec, err));
    TRY(model_of_record(path, &rec, estimators, out, err));
done:
    record_free(&rec);
    return st;
}

npmd_status model_unpack(const char *bytes, size_t size, catalog estimators, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    const file_bytes b = { .data = (unsigned char *)(uintptr_t)bytes, .size = size }; /* only read */
    TRY(record_parse("the model in memory", &b, &rec, err));
    TRY(model_of_record("the model in memory", &rec, estimators, out, err));
done:
    record_free(&rec);
    return st;
}

/* ---- a model among others that a fit needs ----------------------------------------------------------------------- */

npmd_status model_keep(const npmd_model *m, json_t **out, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = NULL;
    const choice_record *c = &m->choice;
    TRY(model_json(m, &object, err));
    TRY(json_put(object, "linear", json_boolean(m->linear), err));
    TRY(json_put(object, "alone", json_integer(m->set.alone), err));
    TRY(json_put(object, "base_kind", json_integer(m->set.base), err));
    TRY(json_put(object, "seconds", json_real(m->facts.seconds), err));
    TRY(model_tensors(m, rec, err));
    if (m->seen_count > 0)
        TRY(record_add(rec, "points.seen", TENSOR_I64, 1, &m->seen_count, m->seen, err));
    if (c->log_density != NULL)
        TRY(record_add(rec, "choice.held_out", TENSOR_F64, 1, &c->held_out, c->log_density, err));
    *out = object;
    object = NULL;
done:
    json_decref(object);
    return st;
}

npmd_status model_kept(const record *rec, const json_t *root, const char *path, const fit_plan *plan, npmd_model **out,
                       npmd_error *err)
{
    npmd_status st = NPMD_OK;
    surface_shelf none = { .path = path };
    npmd_model *m = NULL;
    const tensor *t = NULL;
    TRY(model_from_record(rec, root, &(source_file){ &none, plan->estimators, plan->domain }, 0, &m, err));
    m->linear = json_is_true(json_object_get(root, "linear"));
    m->set.alone = (int)json_integer_value(json_object_get(root, "alone"));
    m->set.base = (int)json_integer_value(json_object_get(root, "base_kind"));
    m->set.machine = plan->full.machine;
    m->set.descent.judged = plan->full.descent.judged;
    m->set.descent.snr = plan->full.descent.snr;
    m->facts.seconds = take_number(root, "seconds");
    m->facts.working_bytes = plan->bytes;
    m->facts.resumed = m->facts.steps;
    if (m->choice.held_out > 0
        && record_find(rec, path, "choice.held_out", TENSOR_F64, 1, &m->choice.held_out, &t, NULL) == NPMD_OK) {
        TRY(memory_new(&m->choice.log_density, m->choice.held_out, err));
        memcpy(m->choice.log_density, t->data, m->choice.held_out * sizeof *m->choice.log_density);
    }
    *out = m;
    m = NULL;
done:
    model_free(m);
    return st;
}
