/* fuzz_checkpoint.c - checkpoints. The first byte says which fit goes on from it; the parts of a record follow, as in
 * fuzz_record. The seal is made anew, since no mutation would come past it: a checkpoint that was written so, and not one that
 * was damaged. What is accepted goes on to its end, or for a tenth of a second.
 *
 * The seeds are made by the program (seeds/make.py) with the options and the data that stand here. */
#include "fuzz.h"
#include "io.h"
#include "json.h"

#include <stdio.h>

#define ROWS 24
#define SECONDS 0.1
static const char *const COMMON[][2] = {
    { "steps", "6" },   { "batch", "12" },       { "q1", "16" },      { "q2", "8" },
    { "width", "2" },   { "depth", "2" },        { "features", "2" }, { "omega", "5" },
    { "threads", "1" }, { "convex-gap", "off" }, { "accuracy", "1" }, { "max-frequency", "1" },
};
static const char *const KIND[][2] = {
    { "tau", "1e-3" }, { "stop", "ise" }, { "stop", "snr" }, { "tau", "auto" }, { "members", "2" }
};
#define KINDS (int)(sizeof KIND / sizeof *KIND)

static void options_make(npmd_options *opt, int kind, const char *resume)
{
    npmd_error err = { 0 };
    for (size_t k = 0; k < sizeof COMMON / sizeof *COMMON; k++)
        PROMISE(npmd_options_set(opt, COMMON[k][0], COMMON[k][1], &err) == NPMD_OK);
    if (kind != 0)
        PROMISE(npmd_options_set(opt, "tau", kind == 3 ? "auto" : "1e-3", &err) == NPMD_OK);
    PROMISE(npmd_options_set(opt, KIND[kind][0], KIND[kind][1], &err) == NPMD_OK);
    PROMISE(npmd_options_set(opt, "resume", resume, &err) == NPMD_OK);
    PROMISE(npmd_options_set(opt, "checkpoint", fuzz_output("checkpoint"), &err) == NPMD_OK);
    PROMISE(npmd_options_set(opt, "checkpoint-every", "1000", &err) == NPMD_OK);
    fuzz_output("checkpoint.2"); /* of the second member: goes with the others */
}

/* The hash of checkpoint.c, over the description without its seal and over the tensors. */
static void seal_put(record *rec)
{
    json_t *root = NULL;
    char *text = NULL, seal[24];
    if (json_from_text(rec->metadata, strlen(rec->metadata), "fuzz", &root, NULL) != NPMD_OK || !json_is_object(root)) {
        json_decref(root);
        return;
    }
    json_object_del(root, "seal");
    PROMISE(json_to_text(root, JSON_COMPACT | JSON_ENSURE_ASCII, &text, NULL) == NPMD_OK);
    uint64_t h = hash_bytes(0, text, strlen(text));
    memory_free(text);
    for (size_t i = 0; i < rec->count; i++) {
        size_t bytes = rec->tensors[i].type == TENSOR_F64 || rec->tensors[i].type == TENSOR_I64 ? 8 : 4;
        for (int d = 0; d < rec->tensors[i].dimensions; d++)
            bytes *= rec->tensors[i].shape[d];
        h = hash_bytes(h, rec->tensors[i].data, bytes);
    }
    snprintf(seal, sizeof seal, "%016llx", (unsigned long long)h);
    PROMISE(json_put(root, "seal", json_string(seal), NULL) == NPMD_OK);
    memory_free(rec->metadata);
    PROMISE(json_to_text(root, JSON_COMPACT | JSON_ENSURE_ASCII, &rec->metadata, NULL) == NPMD_OK);
    json_decref(root);
}

static const char *sealed(const uint8_t *data, size_t size)
{
    const char *path = fuzz_record(data, size);
    record rec = { 0 };
    char *bytes = NULL;
    size_t count = 0;
    if (record_read(path, &rec, NULL) != NPMD_OK)
        return path;
    seal_put(&rec);
    PROMISE(record_pack(&rec, &bytes, &count, NULL) == NPMD_OK);
    fuzz_file((const uint8_t *)bytes, count);
    npmd_text_free(bytes);
    record_free(&rec);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_error err = { 0 };
    npmd_domain *dom = NULL;
    npmd_points *pts = NULL;
    npmd_model *m = NULL;
    double x[ROWS];
    if (size == 0)
        return 0;
    for (int i = 0; i < ROWS; i++)
        x[i] = 0.25 * i;
    npmd_options *opt = npmd_options_new();
    options_make(opt, data[0] % KINDS, sealed(data + 1, size - 1));
    const npmd_compute how = fuzz_compute(SECONDS);
    npmd_options_watch(opt, how.progress, how.user);
    PROMISE(npmd_domain_parse("S1", &dom, &err) == NPMD_OK);
    PROMISE(npmd_points_from(x, ROWS, 1, dom, NPMD_COORDS_DEFAULT, &pts, &err) == NPMD_OK);
    const npmd_status st = npmd_fit(dom, pts, opt, &m, &err);
    PROMISE((st == NPMD_OK) == (m != NULL) && (st == NPMD_OK || err.text[0] != 0));
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    npmd_options_free(opt);
    return 0;
}
