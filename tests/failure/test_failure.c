/* test_failure.c - memory runs out, a disk is full: the library says so and leaves everything as it was.
 *
 * Every operation is done once undisturbed, and then again and again with its k-th allocation failing,
 * k = 1, 2, ..., until none is left to fail; a second time with the k-th and all later ones failing. After
 * each failure
 *
 *   - the status is NPMD_ERR_MEMORY, in the error as well, with a sentence;
 *   - no output was written to, the old file stands byte for byte, and there is no other file in its folder;
 *   - every block of memory is free again and every file closed.
 *
 * An operation that ends well has the undisturbed result to the last bit: nothing may get lost in silence.
 * Files are treated alike: the k-th write, fsync, rename, ... fails, and the status is NPMD_ERR_FILE. */
#include "check.h"
#include "estimators.h"
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#ifndef _OPENMP
static void omp_set_num_threads(int threads)
{
    (void)threads;
}
#endif

enum { TORUS, MIXED, DOMAINS };
enum { POINTS = 220, VALUES = 600, LARGE = 20000 }; /* enough for a choice of tau; more than one write */

typedef struct stage { /* what the operations are given */
    char folder[256], path[512];
    npmd_domain *domain[DOMAINS];
    npmd_points *points[DOMAINS]; /* those of MIXED are weighted */
    npmd_model *model[DOMAINS];
    npmd_model *squared, *relu, *kernels, *series; /* on MIXED */
    npmd_truth *normals, *grid;                    /* on the torus */
    npmd_truth *fisher;                            /* on MIXED */
    double x[DOMAINS][POINTS * 4], large[LARGE];
} stage;

typedef struct outcome { /* what they may write to */
    npmd_domain *domain;
    npmd_points *points;
    npmd_model *model;
    npmd_truth *truth;
    npmd_options *made;
    char *text;
    npmd_options options;
    npmd_score score;
    npmd_comparison comparison;
    npmd_sample_facts facts;
    double entropy, se, value[VALUES];
} outcome;

typedef struct operation {
    const char *name;
    npmd_status (*run)(stage *s, outcome *o, npmd_error *err);
    void (*prepare)(stage *s, outcome *o); /* undisturbed, before each run; may be NULL */
    const char *file;                      /* that it writes; NULL: none */
    bool branch; /* takes long, and is done once, with a child for each failure: see faults.h */
    bool spares; /* some of its allocations it can do without */
} operation;

static void must(npmd_status st, const npmd_error *err)
{
    if (st != NPMD_OK)
        fail_msg("%s", err->text);
}

static const char *in_folder(stage *s, const char *name)
{
    snprintf(s->path, sizeof s->path, "%s/%.200s", s->folder, name);
    return s->path;
}

static void put_text(stage *s, const char *name, const char *text)
{
    FILE *f = fopen(in_folder(s, name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d) != NULL)
        count++;
    closedir(d);
    return count;
}

/* ---- Fingerprints: FNV-1a of all that a result holds --------------------------------------------------- */

static uint64_t print_bytes(uint64_t h, const void *data, size_t size)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 0x100000001B3u;
    return h;
}

static uint64_t print_file(uint64_t h, const char *path)
{
    unsigned char part[4096];
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s: %s", path, strerror(errno));
    for (size_t got; (got = fread(part, 1, sizeof part, f)) > 0;)
        h = print_bytes(h, part, got);
    fclose(f);
    return h;
}

static uint64_t print_points(uint64_t h, const npmd_points *pts)
{
    h = print_bytes(h, pts->domain->text, strlen(pts->domain->text));
    h = print_bytes(h, pts->x, pts->n * (size_t)pts->domain->columns * sizeof *pts->x);
    h = print_bytes(h, &pts->total, sizeof pts->total);
    return pts->weight == NULL ? h : print_bytes(h, pts->weight, pts->n * sizeof *pts->weight);
}

/* A model by its file, a mixture by its own. */
static uint64_t print_model(stage *s, uint64_t h, const npmd_model *m)
{
    npmd_error err = { 0 };
    must(npmd_save(m, in_folder(s, "print"), &err), &err);
    h = print_file(h, s->path);
    unlink(s->path);
    return h;
}

static uint64_t print_truth(stage *s, uint64_t h, const npmd_truth *t)
{
    npmd_error err = { 0 };
    if (t->kind == TRUTH_GRID)
        return print_bytes(h, t->grid, t->nodes * sizeof *t->grid);
    must(npmd_truth_write(t, in_folder(s, "print"), &err), &err);
    h = print_file(h, s->path);
    unlink(s->path);
    return h;
}

static uint64_t print_outcome(stage *s, const outcome *o, const char *file)
{
    const double number[] = { (double)o->facts.proposed, o->facts.acceptance, o->facts.raised, o->entropy,
                              o->se };
    uint64_t h = print_bytes(0xCBF29CE484222325u, number, sizeof number);
    h = print_bytes(h, &o->score, sizeof o->score);
    h = print_bytes(h, &o->comparison, sizeof o->comparison);
    h = print_bytes(h, o->value, sizeof o->value);
    h = print_bytes(h, &o->options, sizeof o->options);
    if (o->domain != NULL)
        h = print_bytes(h, o->domain->text, strlen(o->domain->text));
    if (o->points != NULL)
        h = print_points(h, o->points);
    if (o->model != NULL)
        h = print_model(s, h, o->model);
    if (o->truth != NULL)
        h = print_truth(s, h, o->truth);
    if (o->made != NULL)
        h = print_bytes(h, o->made, sizeof *o->made);
    if (o->text != NULL)
        h = print_bytes(h, o->text, strlen(o->text));
    return file == NULL ? h : print_file(h, in_folder(s, file));
}

/* ---- The sweep ----------------------------------------------------------------------------------------- */

static void outcome_open(stage *s, const operation *op, outcome *o)
{
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < VALUES; i++)
        o->value[i] = -7.0;
    npmd_options_init(&o->options);
    if (op->prepare != NULL)
        op->prepare(s, o);
    if (op->file != NULL)
        put_text(s, op->file, "the old file");
}

static void outcome_close(outcome *o)
{
    npmd_domain_free(o->domain);
    npmd_points_free(o->points);
    npmd_model_free(o->model);
    npmd_truth_free(o->truth);
    npmd_options_free(o->made);
    npmd_text_free(o->text);
}

typedef struct tally {
    long failed; /* k that ended the operation */
    long borne;  /* k that it did not mind */
} tally;

/* Ends the test, or the child that the test goes on in. */
static void complain(const operation *op, const fault *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void complain(const operation *op, const fault *what, const char *format, ...)
{
    char text[1024];
    fault child;
    const int used = snprintf(text, sizeof text, "%s, %s %ld%s: ", op->name, FAULT_NAME[what->call], what->at,
                              what->onwards ? " and all later ones" : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    if (!faults_in_child(&child))
        fail_msg("%s", text);
    fprintf(stderr, "%s\n", text);
    faults_leave(FAULT_WRONG);
}

/* One run with its fault. True: there was nothing left to fail. */
static bool attempt(stage *s, const operation *op, fault what, uint64_t undisturbed, tally *count)
{
    static outcome o, before; /* large */
    npmd_error err = { 0 };
    const npmd_status expected = what.call == FAULT_MEMORY ? NPMD_ERR_MEMORY : NPMD_ERR_FILE;
    outcome_open(s, op, &o);
    memcpy(&before, &o, sizeof o);
    const uint64_t old = print_outcome(s, &o, op->file);
    const size_t files = files_in(s->folder);
    faults_arm(what);
    const npmd_status st = op->run(s, &o, &err);
    const long failures = faults_disarm();
    const bool child = faults_in_child(&what);
    if (failures == 0 && st != NPMD_OK)
        complain(op, &what, "nothing failed, but: %s", err.text);
    if (st == NPMD_OK) {
        if (print_outcome(s, &o, op->file) != undisturbed)
            complain(op, &what, "it ends well with another result, %ld calls failed", failures);
        count->borne += failures > 0;
    } else {
        if (st != expected || err.status != st || err.text[0] == '\0')
            complain(op, &what, "status %d, in the error %d: \"%s\"", (int)st, (int)err.status, err.text);
        if (memcmp(&o, &before, sizeof o) != 0 || print_outcome(s, &o, op->file) != old)
            complain(op, &what, "an output was written to: %s", err.text);
        count->failed++;
    }
    if (files_in(s->folder) != files)
        complain(op, &what, "%zu files where %zu were", files_in(s->folder), files);
    outcome_close(&o);
    if (faults_blocks() != 0)
        complain(op, &what, "%zu blocks of memory are lost: %s", faults_blocks(), err.text);
    if (faults_descriptors() != 0)
        complain(op, &what, "%d files are left open: %s", faults_descriptors(), err.text);
    if (child)
        faults_leave(st == NPMD_OK ? FAULT_BORNE : FAULT_REPORTED);
    return failures == 0;
}

static uint64_t undisturbed(stage *s, const operation *op)
{
    static outcome o;
    npmd_error err = { 0 };
    outcome_open(s, op, &o);
    must(op->run(s, &o, &err), &err);
    const uint64_t result = print_outcome(s, &o, op->file);
    outcome_close(&o);
    return result;
}

static tally sweep(stage *s, const operation *op, fault what, uint64_t result)
{
    tally count = { 0 };
    for (what.at = 1; !attempt(s, op, what, result, &count); what.at++)
        ;
    return count;
}

/* Every allocation of every operation: the k-th, and the k-th with all later ones. */
static void sweep_memory(stage *s, const operation *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const operation *op = &ops[i];
        const double started = clock_seconds();
        const uint64_t result = undisturbed(s, op);
        fault what = { .call = FAULT_MEMORY, .reason = ENOMEM, .branch = op->branch };
        tally once = { 0 }, onwards = { 0 };
        if (op->branch) {
            assert_true(attempt(s, op, what, result, &once));
            const fault_branches b = faults_branched();
            once = (tally){ b.calls - b.borne[0], b.borne[0] };
            onwards = (tally){ b.calls - b.borne[1], b.borne[1] };
            if (b.wrong > 0)
                fail_msg("%s: %ld failures were not handled", op->name, b.wrong);
        } else {
            once = sweep(s, op, what, result);
            what.onwards = true;
            onwards = sweep(s, op, what, result);
        }
        print_message("    %-40s %4ld allocations (%.2f s)\n", op->name, once.failed + once.borne,
                      clock_seconds() - started);
        if (once.borne + onwards.borne > 0 && !op->spares)
            fail_msg("%s: %ld allocations failed in silence", op->name, once.borne + onwards.borne);
    }
}
#define SWEEP_MEMORY(s, ops) sweep_memory(s, ops, sizeof(ops) / sizeof *(ops))

/* ---- Domains, points, options -------------------------------------------------------------------------- */

static npmd_status run_domain(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_domain_parse("S2 x S1^3", &o->domain, err);
}

static npmd_status run_points(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_from(s->x[MIXED], POINTS, s->domain[MIXED], &o->points, err);
}

static npmd_status run_points_csv(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_read(in_folder(s, "mixed.csv"), s->domain[MIXED],
                            NPMD_COORDS_LATLON | NPMD_COORDS_DEGREES, &o->points, err);
}

static npmd_status run_points_npy(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_read(in_folder(s, "torus.npy"), s->domain[TORUS], 0, &o->points, err);
}

static npmd_status run_points_narrow(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_read(in_folder(s, "narrow.npy"), s->domain[TORUS], 0, &o->points, err);
}

static void prepare_points(stage *s, outcome *o)
{
    npmd_error err = { 0 };
    must(run_points(s, o, &err), &err);
    must(npmd_points_weigh(o->points, in_folder(s, "weights.csv"), &err), &err);
}

static npmd_status run_weigh(stage *s, outcome *o, npmd_error *err)
{
    return npmd_points_weigh(o->points, in_folder(s, "others.npy"), err);
}

static npmd_status run_options_read(stage *s, outcome *o, npmd_error *err)
{
    return npmd_options_read(&o->options, in_folder(s, "options.json"), err);
}

/* The only one without a status: NULL is all it says. */
static npmd_status run_options_new(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    o->made = npmd_options_new();
    return o->made != NULL ? NPMD_OK : npmd_fail(err, NPMD_ERR_MEMORY, "no options");
}

static npmd_status run_build(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_build_describe(&o->text, err);
}

/* Times differ from run to run: nothing is kept of what it tells. Not from file to file, where a child would remove its
 * parent's folder: the functions that this goes through have lines of their own. */
static npmd_status run_bench(stage *s, const char *only, npmd_error *err)
{
    char *text = NULL;
    const npmd_bench_request what = {
        .how = { .threads = 1 }, .quick = 1, .only = only, .folder = s->folder
    };
    const npmd_status st = npmd_bench(&what, &text, err);
    if (st != NPMD_OK && text != NULL)
        fail_msg("a benchmark that failed told something");
    npmd_text_free(text);
    return st;
}

static npmd_status run_bench_kernel(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return run_bench(s, "scale", err);
}

static npmd_status run_bench_step(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return run_bench(s, "t2", err);
}

static npmd_status run_bench_words(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_bench_words("{\"machine\": {\"threads\": 2, \"memory\": {}}, \"steps\": [{\"ms\": 1.5}],"
                            " \"density\": {\"n\": 3}, \"seconds\": 1}",
                            &o->text, err);
}

static void benchmark_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "benchmark of a kernel", .run = run_bench_kernel, .branch = true },
        { .name = "benchmark of a step", .run = run_bench_step, .branch = true },
        { .name = "benchmark in words", .run = run_bench_words },
    };
    SWEEP_MEMORY(*state, OPS);
}

static void inputs_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "domain", .run = run_domain },
        { .name = "points from memory", .run = run_points },
        { .name = "points from .csv, other coordinates", .run = run_points_csv },
        { .name = "points from .npy", .run = run_points_npy },
        { .name = "points from .npy, float32", .run = run_points_narrow },
        { .name = "weights in the place of others", .run = run_weigh, .prepare = prepare_points },
        { .name = "options from a file", .run = run_options_read },
        { .name = "options for bindings", .run = run_options_new },
        { .name = "description of the build", .run = run_build },
    };
    SWEEP_MEMORY(*state, OPS);
}

/* ---- Fits ---------------------------------------------------------------------------------------------- */

/* Pairs of name and value; everything else as small as it can be. */
static void fit_options(npmd_options *opt, const char *const *pair)
{
    static const char *const SMALL[] = {
        "features", "6",    "width", "4",  "depth",         "3",    "steps",   "2",  "batch",    "50",
        "q1",       "64",   "q2",    "32", "tau",           "1e-4", "centres", "16", "accuracy", "1",
        "rate",     "1e-2", "seed",  "11", "max-frequency", "3",    "threads", "1",  NULL
    };
    npmd_error err = { 0 };
    for (const char *const *at = SMALL; *at != NULL; at += 2)
        must(npmd_options_set(opt, at[0], at[1], &err), &err);
    for (const char *const *at = pair; *at != NULL; at += 2)
        must(npmd_options_set(opt, at[0], at[1], &err), &err);
}

static int quiet(const npmd_report *now, void *user)
{
    (void)now, (void)user;
    return 0;
}

#define FIT(name, which, ...)                                                                                \
    static void prepare_##name(stage *s, outcome *o)                                                         \
    {                                                                                                        \
        (void)s;                                                                                             \
        fit_options(&o->options, (const char *const[]){ __VA_ARGS__, NULL });                                \
    }                                                                                                        \
    static npmd_status run_##name(stage *s, outcome *o, npmd_error *err)                                     \
    {                                                                                                        \
        return npmd_fit(s->domain[which], s->points[which], &o->options, &o->model, err);                    \
    }
typedef struct step_count {
    long before, steps; /* allocations at the first step, steps since */
} step_count;

static int count_at_step(const npmd_report *now, void *user)
{
    step_count *c = user;
    (void)now;
    if (c->steps++ == 0)
        c->before = faults_calls();
    else if (faults_calls() != c->before)
        fail_msg("step %ld allocates", c->steps);
    return 0;
}

/* All memory is taken before the second step. */
static void a_step_takes_no_memory(void **state)
{
    stage *s = *state;
    static const char *const CASES[][3] = { { "integral", "importance", NULL },
                                            { "integral", "uniform", NULL },
                                            { "separable", "off", NULL } };
    for (int which = 0; which < DOMAINS; which++)
        for (int i = 0; i < 3; i++) {
            npmd_error err = { 0 };
            npmd_options opt;
            npmd_model *m = NULL;
            step_count count = { 0 };
            npmd_options_init(&opt);
            fit_options(&opt, CASES[i]);
            opt.steps = 8;
            opt.log_every = 1;
            opt.threads = 2;
            opt.progress = count_at_step;
            opt.user = &count;
            faults_arm((fault){ .call = FAULT_MEMORY });
            must(npmd_fit(s->domain[which], s->points[which], &opt, &m, &err), &err);
            faults_disarm();
            assert_true(count.before > 0 && count.steps >= 8);
            npmd_model_free(m);
        }
}

FIT(fit_torus, TORUS, "integral", "importance")
FIT(fit_linear, TORUS, "integral", "uniform", "depth", "1", "penalty", "gradient")
FIT(fit_waves, TORUS, "separable", "off", "device", "reference")
FIT(fit_choice, TORUS, "tau", "auto", "integral", "importance")
FIT(fit_mixed, MIXED, "integral", "importance")
FIT(fit_mixed_choice, MIXED, "tau", "auto", "integral", "uniform", "depth", "1")
FIT(fit_watched, TORUS, "log-every", "1")
FIT(fit_ridge, TORUS, "spectrum-law", "ridge")
FIT(fit_rotated, MIXED, "separable", "off")
FIT(fit_resumed, TORUS, "log-every", "1")
FIT(fit_squared, MIXED, "estimator", "psnf")
FIT(fit_relu, MIXED, "estimator", "relu", "integral", "importance")
FIT(fit_series, MIXED, "estimator", "series", "max-frequency", "1")
FIT(fit_series_path, TORUS, "estimator", "series", "tau", "auto", "max-frequency", "1")
FIT(fit_series_sgd, TORUS, "estimator", "series", "solver", "sgd", "max-frequency", "1")
FIT(fit_kernels, MIXED, "estimator", "kde")
FIT(fit_folds, TORUS, "estimator", "kde", "concentration-rule", "ise", "concentration", "factor")
FIT(fit_adaptive, TORUS, "estimator", "kde", "bandwidth", "adaptive", "neighbours", "8")
FIT(fit_mixture, MIXED, "estimator", "kde", "bandwidth", "mixture", "holdout", "0.5")

static int stop_at_once(const npmd_report *now, void *user)
{
    (void)now, (void)user;
    return 1;
}

/* A fit that was stopped, and its checkpoint, to go on from. */
static void prepare_resumed(stage *s, outcome *o)
{
    npmd_model *none = NULL;
    prepare_fit_resumed(s, o);
    npmd_options stopped = o->options;
    stopped.progress = stop_at_once;
    snprintf(stopped.checkpoint, sizeof stopped.checkpoint, "%s", in_folder(s, "state.safetensors"));
    assert_int_equal(npmd_fit(s->domain[TORUS], s->points[TORUS], &stopped, &none, NULL), NPMD_STOPPED);
    assert_null(none);
    memcpy(o->options.resume, stopped.checkpoint, sizeof stopped.checkpoint);
}

static void prepare_watch(stage *s, outcome *o)
{
    prepare_fit_watched(s, o);
    o->options.progress = quiet;
    o->options.truth = s->normals;
}

static void fits_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "fit on T2", .run = run_fit_torus, .prepare = prepare_fit_torus, .branch = true },
        { .name = "fit on T2, linear, uniform integral",
          .run = run_fit_linear,
          .prepare = prepare_fit_linear,
          .branch = true },
        { .name = "fit on T2, plane waves, reference",
          .run = run_fit_waves,
          .prepare = prepare_fit_waves,
          .branch = true },
        { .name = "fit on T2, tau chosen",
          .run = run_fit_choice,
          .prepare = prepare_fit_choice,
          .branch = true },
        { .name = "fit on T2, watched", .run = run_fit_watched, .prepare = prepare_watch, .branch = true },
        { .name = "fit on T2, ridge law",
          .run = run_fit_ridge,
          .prepare = prepare_fit_ridge,
          .branch = true },
        /* a checkpoint that cannot be written on the way does not end a fit */
        { .name = "fit on T2, resumed",
          .run = run_fit_resumed,
          .prepare = prepare_resumed,
          .branch = true,
          .spares = true },
        { .name = "fit on S2 x S1, rotated",
          .run = run_fit_rotated,
          .prepare = prepare_fit_rotated,
          .branch = true },
        { .name = "fit on S2 x S1, weighted",
          .run = run_fit_mixed,
          .prepare = prepare_fit_mixed,
          .branch = true },
        { .name = "fit, series", .run = run_fit_series, .prepare = prepare_fit_series, .branch = true },
        { .name = "fit, series, path",
          .run = run_fit_series_path,
          .prepare = prepare_fit_series_path,
          .branch = true },
        { .name = "fit, series, sgd",
          .run = run_fit_series_sgd,
          .prepare = prepare_fit_series_sgd,
          .branch = true },
        { .name = "fit on S2 x S1, squared family",
          .run = run_fit_squared,
          .prepare = prepare_fit_squared,
          .branch = true },
        { .name = "fit on S2 x S1, ReLU network",
          .run = run_fit_relu,
          .prepare = prepare_fit_relu,
          .branch = true },
        { .name = "fit on S2 x S1, tau chosen, linear",
          .run = run_fit_mixed_choice,
          .prepare = prepare_fit_mixed_choice,
          .branch = true },
        { .name = "kernels on S2 x S1",
          .run = run_fit_kernels,
          .prepare = prepare_fit_kernels,
          .branch = true },
        { .name = "kernels on T2, five folds, one a factor",
          .run = run_fit_folds,
          .prepare = prepare_fit_folds,
          .branch = true },
        { .name = "kernels on T2, adaptive",
          .run = run_fit_adaptive,
          .prepare = prepare_fit_adaptive,
          .branch = true },
        { .name = "kernels on S2 x S1, mixture",
          .run = run_fit_mixture,
          .prepare = prepare_fit_mixture,
          .branch = true },
    };
    SWEEP_MEMORY(*state, OPS);
}

/* ---- Models -------------------------------------------------------------------------------------------- */

static npmd_status run_save(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_save(s->model[MIXED], in_folder(s, "out.safetensors"), err);
}

static npmd_status run_describe(stage *s, outcome *o, npmd_error *err)
{
    return npmd_model_describe(s->model[MIXED], &o->text, err);
}

static npmd_status run_load(stage *s, outcome *o, npmd_error *err)
{
    return npmd_load(in_folder(s, "mixed.safetensors"), &o->model, err);
}

#define MODEL(name)                                                                                          \
    static npmd_status run_save_##name(stage *s, outcome *o, npmd_error *err)                                \
    {                                                                                                        \
        (void)o;                                                                                             \
        return npmd_save(s->name, in_folder(s, "out.safetensors"), err);                                     \
    }                                                                                                        \
    static npmd_status run_load_##name(stage *s, outcome *o, npmd_error *err)                                \
    {                                                                                                        \
        return npmd_load(in_folder(s, #name ".safetensors"), &o->model, err);                                \
    }                                                                                                        \
    static npmd_status run_describe_##name(stage *s, outcome *o, npmd_error *err)                            \
    {                                                                                                        \
        return npmd_model_describe(s->name, &o->text, err);                                                  \
    }                                                                                                        \
    static npmd_status run_laplacian_##name(stage *s, outcome *o, npmd_error *err)                           \
    {                                                                                                        \
        return npmd_evaluate_at(s->name, s->points[MIXED], NPMD_LAPLACIAN, NULL, o->value, err);             \
    }
MODEL(squared)
MODEL(relu)
MODEL(series)
MODEL(kernels)

static npmd_status run_kernels_density(stage *s, outcome *o, npmd_error *err)
{
    return npmd_log_density(s->kernels, s->x[MIXED], 100, o->value, err);
}

static npmd_status run_sample_kernels(stage *s, outcome *o, npmd_error *err)
{
    return npmd_sample(s->kernels, 5, 100, NULL, o->value, &o->facts, err);
}

static npmd_status run_log_density(stage *s, outcome *o, npmd_error *err)
{
    return npmd_log_density(s->model[MIXED], s->x[MIXED], 100, o->value, err);
}

static npmd_status run_gradient(stage *s, outcome *o, npmd_error *err)
{
    return npmd_evaluate_at(s->model[TORUS], s->points[TORUS], NPMD_GRADIENT, NULL, o->value, err);
}

static npmd_status run_intensity(stage *s, outcome *o, npmd_error *err)
{
    return npmd_evaluate_at(s->model[MIXED], s->points[MIXED], NPMD_INTENSITY,
                            &(npmd_compute){ .device = "reference" }, o->value, err);
}

static npmd_status run_score(stage *s, outcome *o, npmd_error *err)
{
    return npmd_score_points(s->model[TORUS], s->points[TORUS], 3, NULL, &o->score, err);
}

static npmd_status run_sample(stage *s, outcome *o, npmd_error *err)
{
    return npmd_sample(s->model[TORUS], 5, 100, NULL, o->value, &o->facts, err);
}

static npmd_status run_sample_given(stage *s, outcome *o, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *circle = NULL;
    npmd_points *at = NULL;
    if ((st = npmd_domain_part(s->domain[TORUS], 1u, &circle, err)) == NPMD_OK
        && (st = npmd_points_from((const double[]){ 1.0 }, 1, circle, &at, err)) == NPMD_OK)
        st = npmd_sample_given(s->model[TORUS], 1u, at, 5, 100, NULL, o->value, &o->facts, err);
    npmd_points_free(at);
    npmd_domain_free(circle);
    return st;
}

static npmd_status run_conditional(stage *s, outcome *o, npmd_error *err)
{
    npmd_points *one = NULL;
    npmd_status st = npmd_points_from(s->x[MIXED], 1, s->domain[MIXED], &one, err);
    if (st == NPMD_OK)
        st = npmd_conditional_at(s->model[MIXED], 2u, one, NPMD_DENSITY, 0.5, 1, NULL, o->value, NULL, err);
    npmd_points_free(one);
    return st;
}

static npmd_status run_evaluate_to(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_evaluate_to(s->model[MIXED], s->points[MIXED], NPMD_GRADIENT, NULL, in_folder(s, "out.npy"),
                            err);
}

static npmd_status run_plot(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_plot(s->model[TORUS], NULL, in_folder(s, "out.png"), err);
}

static npmd_status run_compare(stage *s, outcome *o, npmd_error *err)
{
    return npmd_compare(s->model[TORUS], s->normals, NPMD_GRID_AUTHORS, 0, 1, NULL, &o->comparison, err);
}

static npmd_status run_compare_grid(stage *s, outcome *o, npmd_error *err)
{
    return npmd_compare(s->model[TORUS], s->grid, NPMD_GRID_FINE, 0, 1, NULL, &o->comparison, err);
}

static npmd_status run_compare_points(stage *s, outcome *o, npmd_error *err)
{
    return npmd_compare(s->model[MIXED], s->fisher, NPMD_GRID_FINE, 2048, 1,
                        &(npmd_compute){ .device = "reference" }, &o->comparison, err);
}

static npmd_status run_points_write(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_points_write(in_folder(s, "out.csv"), s->domain[TORUS], NPMD_COORDS_DEGREES, s->large,
                             LARGE / 2, err);
}

static npmd_status run_array_write(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_array_write(in_folder(s, "out.npy"), s->large, LARGE / 2, 2, err);
}

static npmd_status run_check(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_array_check(in_folder(s, "out.tsv"), err);
}

static void models_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "save", .run = run_save, .file = "out.safetensors" },
        { .name = "describe", .run = run_describe },
        /* json_unpack notes which keys it has seen, for a check that is not asked for */
        { .name = "load", .run = run_load, .spares = true },
        { .name = "save a squared family", .run = run_save_squared, .file = "out.safetensors" },
        { .name = "load a squared family", .run = run_load_squared, .spares = true },
        { .name = "describe a squared family", .run = run_describe_squared },
        { .name = "Laplacian of a squared family", .run = run_laplacian_squared },
        { .name = "save a ReLU network", .run = run_save_relu, .file = "out.safetensors" },
        { .name = "load a ReLU network", .run = run_load_relu, .spares = true },
        { .name = "describe a ReLU network", .run = run_describe_relu },
        { .name = "Laplacian of a ReLU network", .run = run_laplacian_relu },
        { .name = "save a series", .run = run_save_series, .file = "out.safetensors" },
        { .name = "load a series", .run = run_load_series, .spares = true },
        { .name = "describe a series", .run = run_describe_series },
        { .name = "Laplacian of a series", .run = run_laplacian_series },
        { .name = "Laplacian of kernels", .run = run_laplacian_kernels },
        { .name = "save kernels", .run = run_save_kernels, .file = "out.safetensors" },
        { .name = "describe kernels", .run = run_describe_kernels },
        { .name = "load kernels", .run = run_load_kernels, .spares = true },
        { .name = "log density of kernels", .run = run_kernels_density },
        { .name = "draws from kernels", .run = run_sample_kernels },
        { .name = "log density", .run = run_log_density },
        { .name = "gradient", .run = run_gradient },
        { .name = "intensity, reference", .run = run_intensity },
        { .name = "score", .run = run_score, .branch = true },
        { .name = "sample", .run = run_sample, .branch = true },
        { .name = "sample, given a factor", .run = run_sample_given, .branch = true },
        { .name = "conditional density", .run = run_conditional, .branch = true },
        { .name = "gradient to a file", .run = run_evaluate_to, .file = "out.npy" },
        { .name = "plot", .run = run_plot, .file = "out.png" },
        { .name = "comparison with a mixture", .run = run_compare, .branch = true },
        { .name = "comparison with a grid", .run = run_compare_grid, .branch = true },
        { .name = "comparison by points", .run = run_compare_points, .branch = true },
        { .name = "points to .csv", .run = run_points_write, .file = "out.csv" },
        { .name = "array to .npy", .run = run_array_write, .file = "out.npy" },
        { .name = "check of an output", .run = run_check, .file = "out.tsv" },
    };
    SWEEP_MEMORY(*state, OPS);
}

/* ---- Known densities ----------------------------------------------------------------------------------- */

static npmd_status run_make(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return npmd_truth_make("t4", 3, &o->truth, err);
}

static npmd_status run_read_normals(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_read(in_folder(s, "normals.json"), &o->truth, err);
}

static npmd_status run_read_fisher(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_read(in_folder(s, "fisher.json"), &o->truth, err);
}

static npmd_status run_read_grid(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_read(in_folder(s, "grid.npy"), &o->truth, err);
}

static npmd_status run_truth_write(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return npmd_truth_write(s->normals, in_folder(s, "out.json"), err);
}

static npmd_status run_truth_sample(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_sample(s->normals, 7, 100, o->value, err);
}

static npmd_status run_truth_density(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_log_density(s->normals, s->x[TORUS], 100, o->value, err);
}

static npmd_status run_entropy(stage *s, outcome *o, npmd_error *err)
{
    return npmd_truth_entropy(s->fisher, 1, &o->entropy, &o->se, err);
}

static void truths_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "recipe", .run = run_make },
        { .name = "normals from a file", .run = run_read_normals },
        { .name = "kernels from a file", .run = run_read_fisher },
        { .name = "grid from a file", .run = run_read_grid },
        { .name = "truth to a file", .run = run_truth_write, .file = "out.json" },
        { .name = "draws from a truth", .run = run_truth_sample },
        { .name = "log density of a truth", .run = run_truth_density },
        { .name = "entropy of a truth", .run = run_entropy, .branch = true },
    };
    SWEEP_MEMORY(*state, OPS);
}

/* ---- Files --------------------------------------------------------------------------------------------- */

/* How many failing calls of a kind an operation bears. One fsync, with its open and close: that of the
 * folder, after the new file is in its place; and the closes of the folder and the lock that were held (src/io/file.c). */
typedef struct allowance {
    fault_call call;
    int reason;
    long least, borne; /* calls that must fail the operation, at least; calls that must not, at most */
} allowance;

static void sweep_files(stage *s, const operation *ops, size_t count, const allowance *calls, size_t kinds)
{
    for (size_t i = 0; i < count; i++) {
        const operation *op = &ops[i];
        const uint64_t result = undisturbed(s, op);
        for (size_t j = 0; j < kinds; j++) {
            const fault what = { .call = calls[j].call, .reason = calls[j].reason };
            const tally found = sweep(s, op, what, result);
            print_message("    %-24s %-8s %3ld failed, %ld borne\n", op->name, FAULT_NAME[what.call],
                          found.failed, found.borne);
            if (found.failed < calls[j].least || found.borne > calls[j].borne)
                fail_msg("%s: %s failed %ld times, and %ld times it was borne", op->name,
                         FAULT_NAME[what.call], found.failed, found.borne);
        }
        /* Interrupted once, or given little at a time: no failure at all. */
        for (fault_call call = FAULT_READ; call <= FAULT_WRITE; call++) {
            const tally found = sweep(s, op, (fault){ .call = call, .reason = EINTR }, result);
            if (found.failed != 0)
                fail_msg("%s: an interrupted %s ends it", op->name, FAULT_NAME[call]);
        }
        tally none = { 0 };
        assert_true(attempt(s, op, (fault){ .call = FAULT_WRITE, .most = 1000 }, result, &none));
    }
}

static void writing_to_a_bad_disk(void **state)
{
    static const operation OPS[] = {
        { .name = "save", .run = run_save, .file = "out.safetensors" },
        { .name = "plot", .run = run_plot, .file = "out.png" },
        { .name = "points to .csv", .run = run_points_write, .file = "out.csv" },
        { .name = "array to .npy", .run = run_array_write, .file = "out.npy" },
        { .name = "truth to a file", .run = run_truth_write, .file = "out.json" },
    };
    static const allowance CALLS[] = {
        { FAULT_OPEN, EMFILE, 1, 1 }, { FAULT_WRITE, ENOSPC, 1, 0 }, { FAULT_CHMOD, EPERM, 1, 0 },
        { FAULT_SYNC, EIO, 1, 1 },    { FAULT_CLOSE, EIO, 1, 3 },    { FAULT_RENAME, EACCES, 1, 0 },
    };
    sweep_files(*state, OPS, sizeof OPS / sizeof *OPS, CALLS, sizeof CALLS / sizeof *CALLS);
}

static void reading_from_a_bad_disk(void **state)
{
    static const operation OPS[] = {
        { .name = "points from .csv", .run = run_points_csv },
        { .name = "points from .npy", .run = run_points_npy },
        { .name = "weights", .run = run_weigh, .prepare = prepare_points },
        { .name = "options", .run = run_options_read },
        { .name = "load", .run = run_load },
        { .name = "normals from a file", .run = run_read_normals },
        { .name = "grid from a file", .run = run_read_grid },
    };
    static const allowance CALLS[] = {
        { FAULT_OPEN, EMFILE, 1, 0 },
        { FAULT_STAT, EIO, 1, 0 },
        { FAULT_READ, EIO, 1, 0 },
        { FAULT_CLOSE, EIO, 0, 1 }, /* all was read */
    };
    sweep_files(*state, OPS, sizeof OPS / sizeof *OPS, CALLS, sizeof CALLS / sizeof *CALLS);
}

/* ---- The stage ----------------------------------------------------------------------------------------- */

/* Clustered points, so that there is something to find. */
static void make_points(const npmd_domain *dom, size_t n, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < dom->factors; d++) {
            double *at = x + i * (size_t)dom->columns + dom->column[d];
            if (dom->factor[d] == &CIRCLE) {
                at[0] = 2.0 + 0.6 * test_normal(&seed);
            } else {
                do
                    test_unit_vector(&seed, at);
                while (at[0] < 0.2);
            }
        }
}

/* NumPy's float32, as the library never writes it. */
static void put_narrow(stage *s, const char *name, const double *x, size_t rows, size_t columns)
{
    char header[118 + 1];
    FILE *f = fopen(in_folder(s, name), "wb");
    assert_non_null(f);
    const int length = snprintf(header, sizeof header,
                                "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows,
                                columns);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%s%*s\n", header, 117 - length, "");
    for (size_t i = 0; i < rows * columns; i++)
        fwrite(&(float){ (float)x[i] }, sizeof(float), 1, f);
    assert_int_equal(fclose(f), 0);
}

static const char OPTIONS[] = "{ \"preset\": \"quick\", \"steps\": 30, \"max-frequency\": [3, 4],\n"
                              "  \"spectrum-law\": \"uniform\", \"tau\": 1.2345678901234567e-05,\n"
                              "  \"rate\": 0.12345678901234567, \"seed\": \"18446744073709551557\" }\n";
static const char FISHER[] =
    "{ \"domain\": \"S2 x S1\", \"kind\": \"von Mises-Fisher mixture\",\n"
    "  \"weights\": [0.75, 0.25], \"means\": [[0, 0, 1, 0.12345678901234567],\n"
    "  [1, 0, 0, 2.5]], \"kappas\": [[3, 0.5], [12.345678901234567, 8]],\n"
    "  \"remark\": \"caf\\u00e9, \\\"quoted\\\"; a text longer than sixteen bytes\" }\n";

static int stage_open(void **state)
{
    static const char *const DOMAIN[DOMAINS] = { "S1^2", "S2 x S1" };
    stage *s = calloc(1, sizeof *s);
    const char *base = getenv("TMPDIR");
    npmd_error err = { 0 };
    double weight[POINTS], grid[64];
    if (s == NULL)
        return -1;
    *state = s;
    json_set_alloc_funcs(fault_malloc, fault_free);
    omp_set_num_threads(1); /* none that a child would miss */
    snprintf(s->folder, sizeof s->folder, "%.200s/npmd-failure-XXXXXX",
             base != NULL && *base ? base : P_tmpdir);
    if (mkdtemp(s->folder) == NULL)
        return -1;
    for (int i = 0; i < DOMAINS; i++) {
        must(npmd_domain_parse(DOMAIN[i], &s->domain[i], &err), &err);
        make_points(s->domain[i], POINTS, (uint64_t)(5 + i), s->x[i]);
        must(npmd_points_from(s->x[i], POINTS, s->domain[i], &s->points[i], &err), &err);
    }
    for (int i = 0; i < LARGE; i++)
        s->large[i] = 6.0 * i / LARGE;
    for (int i = 0; i < POINTS; i++)
        weight[i] = 0.5 + i % 5;
    must(npmd_array_write(in_folder(s, "weights.csv"), weight, POINTS, 1, &err), &err);
    must(npmd_points_weigh(s->points[MIXED], s->path, &err), &err);
    for (int i = 0; i < POINTS; i++)
        weight[i] = 1.0 + i % 3;
    must(npmd_array_write(in_folder(s, "others.npy"), weight, POINTS, 1, &err), &err);
    must(npmd_points_write(in_folder(s, "mixed.csv"), s->domain[MIXED],
                           NPMD_COORDS_LATLON | NPMD_COORDS_DEGREES, s->x[MIXED], POINTS, &err),
         &err);
    must(npmd_array_write(in_folder(s, "torus.npy"), s->x[TORUS], POINTS, 2, &err), &err);
    put_narrow(s, "narrow.npy", s->x[TORUS], POINTS, 2);
    for (int i = 0; i < 64; i++)
        grid[i] = 1.0 + sin(2.0 * (double)CHECK_PI * (i % 8) / 8.0);
    must(npmd_array_write(in_folder(s, "grid.npy"), grid, 8, 8, &err), &err);
    must(npmd_truth_read(s->path, &s->grid, &err), &err);
    must(npmd_truth_make("t2", 3, &s->normals, &err), &err);
    must(npmd_truth_write(s->normals, in_folder(s, "normals.json"), &err), &err);
    put_text(s, "fisher.json", FISHER);
    must(npmd_truth_read(s->path, &s->fisher, &err), &err);
    put_text(s, "options.json", OPTIONS);
    for (int i = 0; i < DOMAINS; i++) {
        npmd_options opt;
        npmd_options_init(&opt);
        fit_options(&opt, (const char *const[]){ NULL });
        must(npmd_fit(s->domain[i], s->points[i], &opt, &s->model[i], &err), &err);
        must(npmd_save(s->model[i], in_folder(s, i == TORUS ? "torus.safetensors" : "mixed.safetensors"),
                       &err),
             &err);
    }
    struct {
        npmd_model **model;
        const char *file, *setting[7];
    } others[] = {
        { &s->squared, "squared.safetensors", { "estimator", "psnf", NULL } },
        { &s->relu, "relu.safetensors", { "estimator", "relu", NULL } },
        { &s->series, "series.safetensors", { "estimator", "series", "max-frequency", "1", NULL } },
        { &s->kernels,
          "kernels.safetensors",
          { "estimator", "kde", "bandwidth", "adaptive", "neighbours", "8", NULL } },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        npmd_options opt;
        npmd_options_init(&opt);
        fit_options(&opt, others[i].setting);
        must(npmd_fit(s->domain[MIXED], s->points[MIXED], &opt, others[i].model, &err), &err);
        must(npmd_save(*others[i].model, in_folder(s, others[i].file), &err), &err);
    }
    return 0;
}

static int stage_close(void **state)
{
    stage *s = *state;
    DIR *d = opendir(s->folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.')
            unlink(in_folder(s, e->d_name));
    if (d != NULL)
        closedir(d);
    for (int i = 0; i < DOMAINS; i++) {
        npmd_model_free(s->model[i]);
        npmd_points_free(s->points[i]);
        npmd_domain_free(s->domain[i]);
    }
    npmd_model_free(s->squared);
    npmd_model_free(s->relu);
    npmd_model_free(s->kernels);
    npmd_model_free(s->series);
    npmd_truth_free(s->normals);
    npmd_truth_free(s->grid);
    npmd_truth_free(s->fisher);
    const int result = rmdir(s->folder);
    free(s);
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_without_memory),    cmocka_unit_test(fits_without_memory),
        cmocka_unit_test(models_without_memory),    cmocka_unit_test(truths_without_memory),
        cmocka_unit_test(writing_to_a_bad_disk),    cmocka_unit_test(reading_from_a_bad_disk),
        cmocka_unit_test(benchmark_without_memory), cmocka_unit_test(a_step_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
