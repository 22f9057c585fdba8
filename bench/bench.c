/* bench.c - the parts of a benchmark, one after the other, into one JSON object. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>

const char *const BENCH_VARIANTS[] = { "avx512", "avx2", "plain", NULL };
static const char *const PARTS[] = { "machine", "kernels", "steps", "evaluation", "density", "scaling", NULL };

static bool in_list(const char *const *list, const char *name)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* ---- What the parts use ------------------------------------------------------------------------------------------ */

bool bench_wants(const bench *b, const char *part, const char *name)
{
    const char *only = b->asked->only;
    return only == NULL || (part != NULL && strcmp(only, part) == 0) || (name != NULL && strcmp(only, name) == 0);
}

npmd_status bench_say(const bench *b, npmd_error *err, const char *format, ...)
{
    char text[128];
    va_list values;
    if (b->asked->progress == NULL)
        return NPMD_OK;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (b->asked->progress(text, b->asked->user) == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_STOPPED, "interrupted before %s", text);
}

npmd_status bench_go_on(const bench *b, npmd_error *err)
{
    if (b->asked->progress == NULL || b->asked->progress(NULL, b->asked->user) == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_STOPPED, "interrupted");
}

npmd_status bench_verify(const char *what, double error, double bound, npmd_error *err)
{
    if (error <= bound)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_NUMERIC, "%s is wrong: its error is %.2e, the bound %.2e", what, error, bound);
}

json_t *bench_row(json_t *rows)
{
    json_t *row = json_object();
    return json_append(rows, row, NULL) == NPMD_OK ? row : NULL;
}

json_t *bench_object(json_t *into, const char *key)
{
    json_t *object = json_object();
    return json_put(into, key, object, NULL) == NPMD_OK ? object : NULL;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool is_known(const char *only)
{
    if (in_list(PARTS, only) || in_list(BENCH_VARIANTS, only))
        return true;
    for (int i = 0; bench_kernel_name(i) != NULL; i++)
        if (strcmp(bench_kernel_name(i), only) == 0)
            return true;
    for (int i = 0; i < BENCH_SIZE_COUNT; i++)
        if (strcmp(BENCH_SIZES[i].name, only) == 0)
            return true;
    return false;
}

static npmd_status check_request(const bench_request *r, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const backend_ops *ops = NULL;
    TRY(backend_find(r->how.device, &ops, err));
    if (ops != &BACKEND_CPU && ops->run == NULL)
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--device %s: the benchmark measures cpu and cuda, and verifies them against %s", r->how.device,
                       ops->name);
    else if (r->how.threads < 0)
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "--threads %d: at least 0, which is all cores", r->how.threads);
    else if (r->quick && r->full)
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "--quick and --full exclude each other");
    else if (r->only != NULL && !is_known(r->only))
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--only: \"%.40s\" was found where a part (machine, kernels, steps, evaluation, density, "
                       "scaling), a kernel, a variant of the kernels or a size (t2, t4-authors, t4, s2s2, "
                       "s2s2-rotated) was expected",
                       r->only);
done:
    return st;
}

typedef npmd_status (*bench_part)(const bench *b, json_t *into, npmd_error *err);

/* What a part fills, under its name; nothing if nothing came of it. Takes empty over. */
static npmd_status run_part(const bench *b, const char *key, bench_part part, json_t *empty, json_t *root,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(part(b, empty, err));
    if (empty == NULL || json_array_size(empty) + json_object_size(empty) > 0)
        TRY(json_put(root, key, json_incref(empty), err));
done:
    json_decref(empty);
    return st;
}

npmd_status bench_run(const bench_request *what, char **json, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const bench_request everything = { 0 };
    const double started = clock_seconds();
    bench b = { .asked = what == NULL ? &everything : what };
    json_t *root = json_object();
    TRY(check_request(b.asked, err));
    b.kernels = kernels_select(NULL);
    b.threads = threads_wanted(b.asked->how.threads);
    TRY(BENCH_PUT(root, err, TEXT("mode", b.asked->quick ? "quick" : b.asked->full ? "full" : "default")));
    const backend_ops *ops = NULL;
    TRY(backend_find(b.asked->how.device, &ops, err));
    if (ops->run != NULL) {
        TRY(run_part(&b, "device", bench_device, json_array(), root, err));
    } else {
        TRY(bench_machine(&b, bench_object(root, "machine"), err)); /* in any case: the others are measured by it */
        TRY(run_part(&b, "kernels", bench_kernels, json_array(), root, err));
        TRY(run_part(&b, "steps", bench_steps, json_array(), root, err));
        TRY(run_part(&b, "evaluation", bench_evaluation, json_array(), root, err));
        if (bench_wants(&b, "density", NULL) && b.asked->folder != NULL)
            TRY(run_part(&b, "density", bench_density, json_object(), root, err));
        if (b.asked->only == NULL ? b.asked->scaling : bench_wants(&b, "scaling", NULL))
            TRY(run_part(&b, "scaling", bench_scaling, json_object(), root, err));
    }
    TRY(BENCH_PUT(root, err, REAL("seconds", clock_seconds() - started)));
    TRY(json_to_text(root, JSON_ENSURE_ASCII, json, err));
done:
    json_decref(root);
    return st;
}
