/* described.c - what a checkpoint says of its fit, so that no other fit resumes it, and its seal.
 *
 * It identifies data and options. A hash over all of the file's contents detects damage, of which a single bit would
 * make another model. */
#include "kept.h"

#include <stdio.h>
#include <unistd.h>

#define CHECKPOINT_VERSION 1

npmd_status described_fit(const fit *f, json_t **out, npmd_error *err)
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
    if (f->watch->kept != NULL) {
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kept_within(f->watch->kept, f->watch->kept_as));
        TRY(json_put(identity, "within", json_string(hash), err));
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
    static const char *const OTHERS[][2] = { { "base", "a fit with another `base`" },
                                             { "over", "a choice among other options" },
                                             { "within", "a part of another fit" } };
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
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        const json_t *mine = json_object_get(ours, OTHERS[i][0]), *other = json_object_get(theirs, OTHERS[i][0]);
        if ((mine == NULL) != (other == NULL) || (mine != NULL && !json_equal(mine, other)))
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s is the checkpoint of %s", path, OTHERS[i][1]);
    }
    if (!json_equal(json_object_get(ours, "data"), json_object_get(theirs, "data")))
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s is the checkpoint of a fit to other data: other points, order or weights", path);
    return NPMD_OK;
}

npmd_status described_read(const char *path, const json_t *what, record *rec, json_t **out, npmd_error *err)
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
    TRY(identity_check(path, what, json_object_get(root, "fit"), err));
    *out = root;
    root = NULL;
done:
    json_decref(root);
    return st;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

npmd_status described_begin(const json_t *what, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *root = json_object();
    TRY(json_put(root, "checkpoint_version", json_integer(CHECKPOINT_VERSION), err));
    TRY(json_put(root, "version", json_string(version_text()), err));
    TRY(json_put(root, "fit", json_incref(what), err));
    *out = root;
    root = NULL;
done:
    json_decref(root);
    return st;
}

npmd_status described_seal(json_t *root, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char seal[24];
    TRY(seal_of(root, rec, seal, err));
    TRY(json_put(root, "seal", json_string(seal), err));
    TRY(json_to_text(root, JSON_COMPACT | JSON_ENSURE_ASCII, &rec->metadata, err));
done:
    return st;
}

const char *described_path(const fit_watch *w)
{
    return w->checkpoint[0] != '\0' ? w->checkpoint : w->resume;
}

const char *described_resume(const fit_watch *w)
{
    const bool may_lack = w->checkpoint[0] != '\0' && strcmp(w->resume, w->checkpoint) == 0;
    return w->resume[0] == '\0' || (may_lack && access(w->resume, F_OK) != 0) ? NULL : w->resume;
}
