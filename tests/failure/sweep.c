/* sweep.c - fingerprints of results, one attempt, and the loops over all of them. */
#include "sweep.h"

#include <stdarg.h>

/* Every seventh allocation fails, and with all later ones another seventh; with NPMD_DEEP set (tests/deep/failures.sh)
 * every one. Neighbours fail alike: a seventh finds what is forgotten, and the sanitizers see it. */
static long stride(void)
{
    return sweep_deep() ? 1 : 7;
}

bool sweep_deep(void)
{
    const char *deep = getenv("NPMD_DEEP");
    return deep != NULL && strcmp(deep, "0") != 0;
}

/* ---- Fingerprints: FNV-1a of all that a result holds ------------------------------------------------------------- */

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
    double room[DOMAIN_MAX_COLUMNS];
    for (size_t i = 0; i < pts->n; i++) /* where they lie, in memory or elsewhere */
        h = print_bytes(h, points_rows(pts, i, 1, room), (size_t)pts->domain->columns * sizeof *room);
    h = print_bytes(h, &pts->total, sizeof pts->total);
    return pts->weight == NULL ? h : print_bytes(h, pts->weight, pts->n * sizeof *pts->weight);
}

/* A model by its file, a mixture by its own. */
static uint64_t print_model(stage *s, uint64_t h, const npmd_model *m)
{
    npmd_error err = { 0 };
    must(npmd_save(m, in_folder(&s->at, "print"), &err), &err);
    h = print_file(h, s->at.path);
    unlink(s->at.path);
    return h;
}

static uint64_t print_truth(stage *s, uint64_t h, const npmd_truth *t)
{
    npmd_error err = { 0 };
    if (t->kind == TRUTH_GRID)
        return print_bytes(h, t->grid, t->nodes * sizeof *t->grid);
    must(npmd_truth_write(t, in_folder(&s->at, "print"), &err), &err);
    h = print_file(h, s->at.path);
    unlink(s->at.path);
    return h;
}

static uint64_t print_outcome(stage *s, const outcome *o, const char *file)
{
    const double number[] = { (double)o->facts.proposed, o->facts.acceptance, o->facts.raised, o->entropy, o->se };
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
    return file == NULL ? h : print_file(h, in_folder(&s->at, file));
}

/* ---- The sweep --------------------------------------------------------------------------------------------------- */

static void outcome_open(stage *s, const operation *op, outcome *o)
{
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < VALUES; i++)
        o->value[i] = -7.0;
    o->score.size = sizeof o->score;
    o->comparison.size = sizeof o->comparison;
    o->facts.size = sizeof o->facts;
    options_init(&o->options);
    if (op->prepare != NULL)
        op->prepare(s, o);
    if (op->file != NULL)
        put_text(&s->at, op->file, "the old file");
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
    const size_t files = files_in(s->at.folder);
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
    if (files_in(s->at.folder) != files && !op->keeps)
        complain(op, &what, "%zu files where %zu were", files_in(s->at.folder), files);
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

/* k = first, first + stride, ... */
static tally sweep(stage *s, const operation *op, fault what, long first, long stride, uint64_t result)
{
    tally count = { 0 };
    for (what.at = first; !attempt(s, op, what, result, &count); what.at += stride)
        ;
    return count;
}

void sweep_memory(stage *s, const operation *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const operation *op = &ops[i];
        const double started = clock_seconds();
        const uint64_t result = undisturbed(s, op);
        fault what = { .call = FAULT_MEMORY, .reason = ENOMEM, .branch = op->branch, .stride = stride() };
        tally once = { 0 }, onwards = { 0 };
        if (op->branch) {
            assert_true(attempt(s, op, what, result, &once));
            const fault_branches b = faults_branched();
            once = (tally){ b.calls - b.borne[0], b.borne[0] };
            onwards = (tally){ b.calls - b.borne[1], b.borne[1] };
            if (b.wrong > 0)
                fail_msg("%s: %ld failures were not handled", op->name, b.wrong);
        } else {
            once = sweep(s, op, what, 1, stride(), result);
            what.onwards = true;
            onwards = sweep(s, op, what, stride() > 1 ? 2 : 1, stride(), result);
        }
        print_message("    %-40s %4ld allocations, one in %ld (%.2f s)\n", op->name, once.failed + once.borne, stride(),
                      clock_seconds() - started);
        if (once.borne + onwards.borne > 0 && !op->spares)
            fail_msg("%s: %ld allocations failed in silence", op->name, once.borne + onwards.borne);
    }
}

void sweep_files(stage *s, const operation *ops, size_t count, const allowance *calls, size_t kinds)
{
    for (size_t i = 0; i < count; i++) {
        const operation *op = &ops[i];
        const uint64_t result = undisturbed(s, op);
        for (size_t j = 0; j < kinds; j++) {
            const fault what = { .call = calls[j].call, .reason = calls[j].reason };
            const tally found = sweep(s, op, what, 1, 1, result);
            print_message("    %-24s %-8s %3ld failed, %ld borne\n", op->name, FAULT_NAME[what.call], found.failed,
                          found.borne);
            if (found.failed < calls[j].least || found.borne > calls[j].borne)
                fail_msg("%s: %s failed %ld times, and %ld times it was borne", op->name, FAULT_NAME[what.call],
                         found.failed, found.borne);
        }
        /* Interrupted once, or given little at a time: no failure at all. */
        for (fault_call call = FAULT_READ; call <= FAULT_WRITE; call++) {
            const tally found = sweep(s, op, (fault){ .call = call, .reason = EINTR }, 1, 1, result);
            if (found.failed != 0)
                fail_msg("%s: an interrupted %s ends it", op->name, FAULT_NAME[call]);
        }
        tally none = { 0 };
        assert_true(attempt(s, op, (fault){ .call = FAULT_WRITE, .most = 1000 }, result, &none));
    }
}
