/* test_kept.c - fits that need other fits, stopped anywhere and resumed, and resumed after their end: the same model, to
 * the byte, and the same lines of a log. */
#include "estimate.h"
#include "place.h"

enum { MOST_LINES = 4000 };

/* Under the address sanitizer, where a run takes many times as long, fewer runs are stopped. */
#ifdef __SANITIZE_ADDRESS__
enum { SPARSER = 12, LEAST_RUNS = 1 };
#else
enum { SPARSER = 1, LEAST_RUNS = 4 };
#endif

typedef struct told { /* a log, and a caller who stops */
    uint64_t line[MOST_LINES];
    int64_t lines;
    int reports, stop; /* after so many reports; 0: never */
    bool resumed;      /* the first line says where it goes on */
} told;

static int tell(const npmd_report *now, void *user)
{
    told *t = user;
    if (now->logged) {
        const uint64_t key = hash_word(hash_word(hash_word(0, (uint64_t)now->member), (uint64_t)now->attempt),
                                       (uint64_t)now->step);
        if (t->resumed) {
            assert_true(now->line <= t->lines);
            t->lines = now->line;
        }
        t->resumed = false;
        assert_true(t->lines < MOST_LINES);
        t->line[t->lines++] = hash_bytes(key, &now->objective, sizeof now->objective);
    }
    return t->stop > 0 && ++t->reports >= t->stop;
}

typedef struct kept_case {
    const char *name, *domain;
    size_t n;
    const char *over; /* of select; NULL: a fit */
    const char *warning;
    int stride; /* runs are stopped after 1, 1 + stride, 1 + 3 stride, ... reports */
    const char *option[32];
} kept_case;

static npmd_status run(const kept_case *c, const npmd_points *pts, const char *path, told *t, npmd_model **out,
                       npmd_error *err)
{
    npmd_options opt;
    options_of(&opt, c->option);
    opt.watch.progress = tell;
    opt.watch.user = t;
    opt.watch.log_every = 10;
    if (path != NULL) {
        snprintf(opt.watch.checkpoint, sizeof opt.watch.checkpoint, "%s", path);
        snprintf(opt.watch.resume, sizeof opt.watch.resume, "%s", path);
        opt.watch.checkpoint_every = 0.0;
        opt.set.machine.threads = 1 + t->stop % 2;
    }
    t->reports = 0;
    return c->over == NULL ? npmd_fit(pts->domain, pts, &opt, out, err)
                           : npmd_select(pts->domain, pts, &opt, &c->over, 1, out, err);
}

static bool warns(const npmd_model *m, const char *words)
{
    bool found = false;
    for (int i = 0; npmd_model_warning(m, i) != NULL; i++)
        found = found || strstr(npmd_model_warning(m, i), words) != NULL;
    return found;
}

static void resumes(const kept_case *c, place *at)
{
    static told whole, t;
    npmd_domain *dom = domain_of(c->domain);
    npmd_points *pts = clusters(dom, c->n, 0.4, 7);
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    char *bytes = NULL, *again = NULL;
    size_t size = 0, length = 0;
    whole = t = (told){ 0 };
    must(run(c, pts, NULL, &whole, &m, &err), &err);
    if (c->warning != NULL && !warns(m, c->warning))
        fail_msg("%s: no \"%s\" among its warnings, the case tests nothing", c->name, c->warning);
    must(npmd_model_pack(m, &bytes, &size, &err), &err);
    npmd_model_free(m);
    int runs = 0;
    for (bool ended = false;; runs++) {
        t.stop = ended ? 0 : 1 + SPARSER * c->stride * runs * (runs + 1) / 2; /* some need hundreds of reports */
        t.resumed = true;
        m = NULL;
        const npmd_status st = run(c, pts, in_folder(at, "state"), &t, &m, &err);
        if (st == NPMD_STOPPED && !ended)
            continue;
        must(st, &err);
        must(npmd_model_pack(m, &again, &length, &err), &err);
        if (length != size || memcmp(bytes, again, size) != 0)
            fail_msg("%s: after %d runs the model is another one", c->name, runs + 1);
        if (t.lines != whole.lines || memcmp(t.line, whole.line, (size_t)t.lines * sizeof *t.line) != 0)
            fail_msg("%s: after %d runs the log is another one, of %lld lines and not %lld", c->name, runs + 1,
                     (long long)t.lines, (long long)whole.lines);
        npmd_text_free(again);
        npmd_model_free(m);
        if (ended)
            break;
        ended = true;
    }
    if (runs < LEAST_RUNS)
        fail_msg("%s: it was stopped %d times only", c->name, runs);
    print_message("    %-40s %3d runs\n", c->name, runs + 1);
    assert_true(files_in(at->folder) <= 2); /* of its parts none has a file any more */
    unlink(in_folder(at, "state"));
    unlink(in_folder(at, "state.parts"));
    npmd_text_free(bytes);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

#define SMALL                                                                                                          \
    "width", "6", "depth", "2", "features", "6", "q1", "64", "q2", "16", "accuracy", "0.02", "max-frequency", "3",     \
        "threads", "1"

static void resumed(void **state)
{
    static const kept_case CASES[] = {
        { "members", "T2", 60, NULL, NULL, 3, { "members", "3", "steps", "40", "tau", "1e-3", SMALL } },
        { "members on resampled points, a base",
          "S1",
          60,
          NULL,
          NULL,
          12,
          { "members", "3", "bootstrap", "on", "base", "kde", "steps", "20", "tau", "1e-3", SMALL } },
        { "a base that is a series",
          "S1",
          60,
          NULL,
          NULL,
          1,
          { "base", "series", "steps", "20", "tau", "1e-3", SMALL } },
        { "a stack",
          "S1",
          60,
          NULL,
          NULL,
          7,
          { "estimator", "stack", "folds", "1", "steps", "20", "tau", "1e-3", SMALL } },
        { "auto, with members and a choice",
          "S1",
          100,
          NULL,
          NULL,
          15,
          { "estimator", "auto", "folds", "1", "members", "2", "steps", "20", SMALL } },
        { "kernels on resampled points",
          "S1",
          60,
          NULL,
          NULL,
          1,
          { "estimator", "kde", "bootstrap", "on", "members", "4", "threads", "1" } },
        { "a choice", "S1", 100, NULL, NULL, 8, { "folds", "1", "steps", "20", SMALL } },
        { "select",
          "S1",
          100,
          "depth=1:2",
          NULL,
          8,
          { "folds", "1", "steps", "20", "width", "6", "features", "6", "q1", "64", "q2", "16", "threads", "1" } },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        resumes(&CASES[i], *state);
}

/* Members that fell behind, the first among them, are fitted again with the choices that the first one made. */
static void resumed_behind(void **state)
{
    static const kept_case CASES[] = {
        { "members that fell behind",
          "S2 x S1",
          60,
          NULL,
          "was replaced",
          11,
          { "members", "3", "steps", "60", "tau", "1e-3", SMALL } },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        resumes(&CASES[i], *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(resumed, place_make, place_remove),
        cmocka_unit_test_setup_teardown(resumed_behind, place_make, place_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
