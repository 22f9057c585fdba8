/* test_resume.c - a fit that is stopped anywhere and resumed is the fit that was left alone, bit for bit. */
#include "check.h"
#include "model.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 300 };

typedef struct stage {
    char folder[256], model[300], checkpoint[300];
} stage;

static int stage_open(void **state)
{
    stage *s = calloc(1, sizeof *s);
    const char *base = getenv("TMPDIR");
    if (s == NULL)
        return -1;
    *state = s;
    snprintf(s->folder, sizeof s->folder, "%.200s/npmd-resume-XXXXXX", base != NULL && *base ? base : P_tmpdir);
    if (mkdtemp(s->folder) == NULL)
        return -1;
    snprintf(s->model, sizeof s->model, "%s/model", s->folder);
    snprintf(s->checkpoint, sizeof s->checkpoint, "%s/checkpoint", s->folder);
    return 0;
}

static int stage_close(void **state)
{
    stage *s = *state;
    unlink(s->model);
    unlink(s->checkpoint);
    const int result = rmdir(s->folder); /* fails if anything else was left */
    free(s);
    return result;
}

static void set(npmd_options *opt, const char *name, const char *value)
{
    npmd_error err = { 0 };
    if (npmd_options_set(opt, name, value, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

static npmd_options small_options(void)
{
    static const char *const SET[][2] = { { "features", "16" }, { "width", "8" },        { "depth", "3" },
                                          { "q1", "256" },      { "q2", "64" },          { "tau", "1e-4" },
                                          { "steps", "60" },    { "log-every", "1" },    { "threads", "1" },
                                          { "warmup", "10" },   { "max-frequency", "4" } };
    npmd_options opt;
    options_init(&opt);
    for (size_t i = 0; i < sizeof SET / sizeof *SET; i++)
        set(&opt, SET[i][0], SET[i][1]);
    return opt;
}

typedef struct data {
    npmd_domain *domain;
    npmd_points *points;
} data;

static data data_open(const char *domain, double spread)
{
    data d = { 0 };
    npmd_error err = { 0 };
    uint64_t seed = 5;
    assert_int_equal(npmd_domain_parse(domain, &d.domain, &err), NPMD_OK);
    const size_t columns = (size_t)npmd_domain_columns(d.domain);
    double *x = doubles(N * columns);
    for (size_t i = 0; i < N * columns; i++)
        x[i] = 3.0 + spread * test_normal(&seed);
    if (points_from(x, N, d.domain, &d.points, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    free(x);
    return d;
}

static void data_close(data *d)
{
    npmd_points_free(d->points);
    npmd_domain_free(d->domain);
}

/* The bytes of the model's file. */
typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static bytes model_bytes(stage *s, const npmd_model *m)
{
    enum { MOST = 1 << 20 };
    npmd_error err = { 0 };
    if (npmd_save(m, s->model, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    bytes b = { malloc(MOST), 0 };
    FILE *f = fopen(s->model, "rb");
    assert_true(b.data != NULL && f != NULL);
    b.size = fread(b.data, 1, MOST, f);
    fclose(f);
    assert_true(b.size > 100 && b.size < MOST);
    return b;
}

static bool holds(const bytes *b, const char *words)
{
    return memmem(b->data, b->size, words, strlen(words)) != NULL;
}

/* Where a fit is told to stop: at a step, in its own attempt; at a report of its choice; while it is normalised. */
typedef struct stop {
    int64_t step;
    int attempt;
    int choosing; /* the number of the report, from 1; 0: at none */
    int choosing_seen;
    bool normalising;
    int normalising_seen;
    int64_t last; /* the step reported last */
    double seconds;
} stop;

/* Does a report of a choice come wherever and whenever it is made? Not signs of life, between two lines of a log, nor an
 * integral's questions: both go by the clock. */
static bool is_regular(const npmd_report *now)
{
    const int64_t every = now->steps / 200 > 1 ? now->steps / 200 : 1;
    return isnan(now->epoch) ? now->step != now->steps : now->step % every == 0 || now->step == now->steps;
}

static int stop_there(const npmd_report *now, void *user)
{
    stop *at = user;
    const bool normalising = now->attempt > 0 && isnan(now->epoch);
    at->normalising_seen += normalising;
    at->choosing_seen += now->attempt == 0 && is_regular(now);
    if (!normalising && now->attempt > 0) {
        assert_true(now->seconds >= at->seconds || now->step == 1); /* one clock over all runs */
        at->seconds = now->seconds;
        at->last = now->step;
    }
    if (at->normalising)
        return normalising;
    if (at->choosing > 0)
        return at->choosing_seen >= at->choosing;
    return !normalising && now->attempt == at->attempt && now->step == at->step;
}

static bytes fit_whole(stage *s, const data *d, npmd_options opt, stop *watch)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    npmd_options_watch(&opt, stop_there, watch);
    if (npmd_fit(d->domain, d->points, &opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_int_equal(m->facts.resumed, 0);
    assert_string_equal(m->facts.checkpoint_failure, "");
    const bytes b = model_bytes(s, m);
    npmd_model_free(m);
    return b;
}

/* One run, from the checkpoint if there is one: true when it came to its end, with a model in *out. */
static bool fit_once(stage *s, const data *d, npmd_options opt, stop *at, npmd_model **out)
{
    npmd_error err = { 0 };
    npmd_model *untouched = (npmd_model *)(void *)s, *m = untouched;
    set(&opt, "checkpoint", s->checkpoint);
    set(&opt, "resume", s->checkpoint);
    npmd_options_watch(&opt, stop_there, at);
    const npmd_status st = npmd_fit(d->domain, d->points, &opt, &m, &err);
    if (st == NPMD_STOPPED) {
        assert_ptr_equal(m, untouched);
        assert_non_null(strstr(err.text, s->checkpoint));
        assert_int_equal(access(s->checkpoint, F_OK), 0);
        return false;
    }
    if (st != NPMD_OK)
        fail_msg("%s", err.text);
    *out = m;
    return true;
}

static void resumes_to(stage *s, const data *d, npmd_options opt, const stop *at, const bytes *whole, int64_t resumed)
{
    npmd_model *m = NULL;
    stop there = *at, never = { .step = -1 };
    unlink(s->checkpoint);
    if (fit_once(s, d, opt, &there, &m))
        fail_msg("it did not stop at step %d of attempt %d", (int)at->step, at->attempt);
    opt.set.machine.threads = 2; /* may differ */
    assert_true(fit_once(s, d, opt, &never, &m));
    assert_int_equal(m->facts.interrupted, 0);
    if (resumed >= 0)
        assert_int_equal(m->facts.resumed, resumed);
    const bytes b = model_bytes(s, m);
    assert_int_equal(b.size, whole->size);
    assert_memory_equal(b.data, whole->data, b.size);
    free(b.data);
    npmd_model_free(m);
}

/* Step 20 is where the guard on the gradient begins, step 54 where the tail does. */
static void stopped_at_any_step(void **state)
{
    stage *s = *state;
    static const char *const DOMAIN[] = { "T2", "T3" }; /* uniform points, importance */
    static const int64_t STEP[2][11] = { { 1, 2, 19, 20, 21, 53, 54, 55, 59, 60 }, { 1, 20, 54, 60 } };
    for (size_t k = 0; k < 2; k++) {
        data d = data_open(DOMAIN[k], 0.7);
        npmd_options opt = small_options();
        set(&opt, "batch", "90"); /* epochs of three steps */
        set(&opt, "centres", "32");
        set(&opt, "accuracy", "0.1");
        const bytes whole = fit_whole(s, &d, opt, &(stop){ .step = -1 });
        for (const int64_t *at = STEP[k]; *at > 0; at++)
            resumes_to(s, &d, opt, &(stop){ .step = *at, .attempt = 1 }, &whole, *at);
        free(whole.data);
        data_close(&d);
    }
}

static void stopped_again_and_again(void **state)
{
    stage *s = *state;
    data d = data_open("T2", 0.7);
    const npmd_options opt = small_options();
    const bytes whole = fit_whole(s, &d, opt, &(stop){ .step = -1 });
    npmd_model *m = NULL;
    stop at = { .step = 7, .attempt = 1 };
    int runs = 1;
    unlink(s->checkpoint);
    for (; !fit_once(s, &d, opt, &at, &m); at.step += 7)
        runs++;
    assert_int_equal(runs, 9); /* stopped at 7, 14, .. 56 */
    const bytes b = model_bytes(s, m);
    assert_int_equal(b.size, whole.size);
    assert_memory_equal(b.data, whole.data, b.size);
    free(b.data);
    free(whole.data);
    npmd_model_free(m);
    data_close(&d);
}

/* Courses, then rivals, each of which may be the last thing that was done; what they said is in the model, and so is
 * the warning of a better rival, once; and of features that are not there, another one. */
static void stopped_while_it_chooses(void **state)
{
    stage *s = *state;
    data d = data_open("T1", 0.03);
    npmd_options opt = small_options();
    stop watch = { .step = -1 }, alone = watch;
    set(&opt, "tau", "auto");
    set(&opt, "rate", "1e-4");
    set(&opt, "max-frequency", "60");
    set(&opt, "features", "200");
    set(&opt, "folds", "2");
    npmd_options without = opt;
    set(&without, "rivals", "off");
    const bytes poor = fit_whole(s, &d, without, &alone);
    assert_false(holds(&poor, "\\\"rivals\\\":["));
    free(poor.data);
    const bytes whole = fit_whole(s, &d, opt, &watch);
    assert_true(holds(&whole, "\\\"rivals\\\":[") && holds(&whole, "held_out_nll") && holds(&whole, "omega=2.5"));
    const int courses = alone.choosing_seen, all = watch.choosing_seen;
    assert_true(courses > 60 && all > courses + 1); /* rivals report, too: there is something to stop */
    const int when[] = { 1, courses / 2, courses, courses + 1, all - 1, all };
    for (size_t i = 0; i < sizeof when / sizeof *when; i++)
        resumes_to(s, &d, opt, &(stop){ .choosing = when[i] }, &whole, 0);
    resumes_to(s, &d, opt, &(stop){ .step = 1, .attempt = 1 }, &whole, 1);
    resumes_to(s, &d, opt, &(stop){ .step = 50, .attempt = 1 }, &whole, 50);
    npmd_model *m = NULL;
    watch = (stop){ .step = -1 };
    assert_true(fit_once(s, &d, opt, &watch, &m));
    assert_int_equal(watch.choosing_seen, 0); /* nothing is chosen again */
    assert_int_equal(m->choice.rivals, 2);
    assert_true(isfinite(m->held_out_nll));
    assert_int_equal(m->warnings, 3);
    assert_non_null(strstr(npmd_model_warning(m, 0), "held-out points prefer"));
    assert_non_null(strstr(npmd_model_warning(m, 1), "200 features were asked for"));
    assert_non_null(strstr(npmd_model_warning(m, 2), "60 steps are too few")); /* which comes again with training */
    npmd_model_free(m);
    free(whole.data);
    data_close(&d);
}

/* What was chosen is kept: the length, or tau alone beside a number of epochs; omega, and on spheres the encoding. */
static void stopped_after_a_choice(void **state)
{
    stage *s = *state;
    data d = data_open("T2", 0.2);
    static const char *const LENGTH[][2] = { { "epochs", "100" }, { "steps", "0" } };
    for (int k = 0; k < 2; k++) {
        npmd_options opt = small_options();
        stop watch = { .step = -1 };
        npmd_model *m = NULL;
        set(&opt, "tau", "auto");
        set(&opt, "rate", "1e-2");
        set(&opt, "folds", "1");
        set(&opt, LENGTH[k][0], LENGTH[k][1]);
        if (k == 1) { /* all of it is open */
            set(&opt, "features", "0");
            set(&opt, "max-frequency", "0");
        }
        const bytes whole = fit_whole(s, &d, opt, &watch);
        resumes_to(s, &d, opt, &(stop){ .step = 50, .attempt = 1 }, &whole, 50);
        watch = (stop){ .step = -1 };
        assert_true(fit_once(s, &d, opt, &watch, &m));
        assert_int_equal(watch.choosing_seen, 0);
        assert_true(m->choice.rows > 2);
        for (int i = 0; i < m->choice.rows; i++)
            if (m->choice.row[i].kept) {
                const double steps = (double)m->choice.row[i].steps;
                assert_true(m->set.tau == m->choice.row[i].tau);
                if (k == 0)
                    assert_true(steps == 100.0 && m->facts.steps == 100);
                else /* the vertex is at most half a doubling away */
                    assert_true((double)m->facts.steps > 0.7 * steps && (double)m->facts.steps < 1.42 * steps);
            }
        npmd_model_free(m);
        free(whole.data);
    }
    data_close(&d);
}

static void stopped_in_a_later_attempt(void **state)
{
    stage *s = *state;
    data d = data_open("T2", 0.7);
    npmd_options opt = small_options();
    static const char *const SET[][2] = {
        { "skip", "off" }, { "clip", "0" }, { "rate", "0.1" }, { "steps", "300" }, { "omega", "10" }
    };
    for (size_t i = 0; i < sizeof SET / sizeof *SET; i++)
        set(&opt, SET[i][0], SET[i][1]);
    const bytes whole = fit_whole(s, &d, opt, &(stop){ .step = -1 });
    resumes_to(s, &d, opt, &(stop){ .step = 5, .attempt = 1 }, &whole, 5);
    resumes_to(s, &d, opt, &(stop){ .step = 1, .attempt = 2 }, &whole, 1); /* the rate was too high once */
    resumes_to(s, &d, opt, &(stop){ .step = 20, .attempt = 2 }, &whole, 20);
    resumes_to(s, &d, opt, &(stop){ .step = 300, .attempt = 2 }, &whole, 300);
    free(whole.data);
    data_close(&d);
}

/* After the last step there is the integral, whose refinements may be stopped, too. The second fit ran away in
 * all attempts: what is normalised is its linear start, which no step of training may touch. */
static void stopped_while_it_is_normalised(void **state)
{
    stage *s = *state;
    data d = data_open("T3", 0.7);
    for (int linear = 0; linear < 2; linear++) {
        npmd_options opt = small_options();
        stop watch = { .step = -1 };
        npmd_model *m = NULL;
        set(&opt, "accuracy", "1e-4"); /* with fewer centres than by default this takes longer, not shorter */
        if (linear) {
            set(&opt, "rate", "100");
            set(&opt, "clip", "0");
            set(&opt, "steps", "400");
        }
        const bytes whole = fit_whole(s, &d, opt, &watch);
        assert_true(watch.normalising_seen > 0); /* else there is nothing to stop */
        resumes_to(s, &d, opt, &(stop){ .normalising = true }, &whole, watch.last);
        watch = (stop){ .step = -1 };
        assert_true(fit_once(s, &d, opt, &watch, &m));
        assert_int_equal(watch.last, 0); /* no step was taken again */
        assert_int_equal(m->warnings, linear);
        if (linear)
            assert_non_null(strstr(npmd_model_warning(m, 0), "linear start alone"));
        npmd_model_free(m);
        free(whole.data);
    }
    data_close(&d);
}

/* What early stopping remembers is kept, too: stopped before its end, at the very step that ends it, and after. */
static void stopped_before_it_stops_early(void **state)
{
    stage *s = *state;
    static const char *const RULE[] = { "ise", "snr" };
    for (int k = 0; k < 2; k++) {
        /* looks at held-out points integrate: T2 does that fast, and needs a finer end to be stopped there */
        data d = data_open(k == 0 ? "T2" : "T3", 0.7);
        npmd_options opt = small_options();
        stop watch = { .step = -1 };
        set(&opt, "stop", RULE[k]);
        set(&opt, "patience", "8");
        set(&opt, "steps", "250");
        set(&opt, "schedule", "fixed");
        set(&opt, "rate", "1e-2");
        set(&opt, "tau", "1e-9");
        set(&opt, "accuracy", k == 0 ? "1e-12" : "3e-3");
        const bytes whole = fit_whole(s, &d, opt, &watch);
        assert_true(holds(&whole, "stopped early"));
        assert_true(watch.normalising_seen > 0);
        resumes_to(s, &d, opt, &(stop){ .step = watch.last / 2, .attempt = 1 }, &whole, watch.last / 2);
        resumes_to(s, &d, opt, &(stop){ .step = watch.last - 1, .attempt = 1 }, &whole, watch.last - 1);
        resumes_to(s, &d, opt, &(stop){ .step = watch.last, .attempt = 1 }, &whole, watch.last);
        resumes_to(s, &d, opt, &(stop){ .normalising = true }, &whole, watch.last);
        free(whole.data);
        data_close(&d);
    }
}

typedef struct vanishing {
    char folder[300], path[320];
} vanishing;

/* The folder goes after ten steps, with the checkpoints that were written there. */
static int remove_folder(const npmd_report *now, void *user)
{
    const vanishing *v = user;
    if (now->step == 10) {
        unlink(v->path);
        assert_int_equal(rmdir(v->folder), 0);
    }
    return 0;
}

/* The fit goes on, and says so at its end. */
static void a_checkpoint_that_cannot_be_written(void **state)
{
    stage *s = *state;
    data d = data_open("T2", 0.7);
    npmd_options opt = small_options();
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    vanishing v;
    const bytes whole = fit_whole(s, &d, opt, &(stop){ .step = -1 });
    snprintf(v.folder, sizeof v.folder, "%s/gone", s->folder);
    snprintf(v.path, sizeof v.path, "%s/ck", v.folder);
    set(&opt, "checkpoint", v.path);
    set(&opt, "checkpoint-every", "0");
    assert_int_equal(npmd_fit(d.domain, d.points, &opt, &m, &err), NPMD_ERR_FILE); /* known beforehand */
    assert_null(m);
    assert_int_equal(mkdir(v.folder, 0700), 0);
    npmd_options_watch(&opt, remove_folder, &v);
    if (npmd_fit(d.domain, d.points, &opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_non_null(strstr(m->facts.checkpoint_failure, v.path));
    const bytes b = model_bytes(s, m);
    assert_int_equal(b.size, whole.size);
    assert_memory_equal(b.data, whole.data, b.size);
    free(b.data);
    free(whole.data);
    npmd_model_free(m);
    data_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stopped_at_any_step, stage_open, stage_close),
        cmocka_unit_test_setup_teardown(stopped_again_and_again, stage_open, stage_close),
        cmocka_unit_test_setup_teardown(stopped_while_it_chooses, stage_open, stage_close),
        cmocka_unit_test_setup_teardown(stopped_after_a_choice, stage_open, stage_close),
        cmocka_unit_test_setup_teardown(stopped_in_a_later_attempt, stage_open, stage_close),
        cmocka_unit_test_setup_teardown(stopped_while_it_is_normalised, stage_open, stage_close),
        cmocka_unit_test_setup_teardown(stopped_before_it_stops_early, stage_open, stage_close),
        cmocka_unit_test_setup_teardown(a_checkpoint_that_cannot_be_written, stage_open, stage_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
