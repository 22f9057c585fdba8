/* test_stopping.c - early stopping: the rule by itself, and fits that it ends, whose weights are those of a fit that
 * was told to end there. */
#include "check.h"
#include "api.h"

enum { N = 400, OUT = 100 };

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

/* theta is the number of the look. */
static npmd_status get_look(void *self, backend_vector which, double *out, npmd_error *err)
{
    (void)err;
    assert_int_equal(which, VECTOR_THETA);
    *out = *(const double *)self;
    return NPMD_OK;
}

/* A look at that criterion; true: enough. */
static bool look(stopping *s, double number, double ise, double a, double b)
{
    static const backend_ops OPS = { .name = "look", .get = get_look };
    bool enough = false;
    npmd_report now = report_new((int64_t)number, 1000, 1, 0.0);
    now.ise = ise;
    now.snr_a = a;
    now.snr_b = b;
    assert_int_equal(stopping_judge(s, &(backend){ &OPS, &number }, &now, -number, &enough, NULL), NPMD_OK);
    return enough;
}

static void a_minimum_and_patience(void **state)
{
    npmd_options opt;
    stopping s;
    (void)state;
    options_init(&opt);
    opt.set.descent.stop = STOP_ISE;
    opt.set.descent.steps = 1000;
    opt.set.descent.patience = 3;
    assert_int_equal(stopping_open(&s, &opt.set, 1, NULL), NPMD_OK);
    assert_int_equal(s.every, 5);
    for (int round = 0; round < 2; round++) { /* once more after a restart */
        /* means: -1, -1.5, -2, then up by a fifth of the distance: -1.8, -1.64, -1.512 */
        assert_false(look(&s, 1, -1.0, NAN, NAN));
        assert_false(look(&s, 2, -2.0, NAN, NAN));
        assert_false(look(&s, 3, -3.0, NAN, NAN));
        assert_true(fabs(s.number[STOPPING_MEAN] + 2.0) < 1e-15 && s.number[STOPPING_STEP] == 3.0);
        assert_false(look(&s, 4, -1.2, NAN, NAN));
        assert_true(fabs(s.number[STOPPING_MEAN] + 1.8) < 1e-15);
        assert_false(look(&s, 5, -1.0, NAN, NAN));
        assert_true(fabs(s.number[STOPPING_MEAN] + 1.64) < 1e-15);
        assert_true(look(&s, 6, -1.0, NAN, NAN));
        assert_true(s.best[0] == 3.0 && s.number[STOPPING_STEP] == 3.0 && s.number[STOPPING_OBJECTIVE] == -3.0
                    && s.number[STOPPING_ENOUGH] == 1.0);
        stopping_again(&s);
    }
    stopping_close(&s);
    opt.set.descent.stop = STOP_SNR;
    opt.set.descent.patience = 2;
    assert_int_equal(stopping_open(&s, &opt.set, 1, NULL), NPMD_OK);
    assert_null(s.best);
    assert_false(look(&s, 1, NAN, 3.0, 1.0));
    assert_false(look(&s, 2, NAN, 2.0, 1.0)); /* the sum falls */
    assert_false(look(&s, 3, NAN, 1.0, 4.0)); /* the mean of 4, 3 and 5 is above 3.5 */
    assert_true(look(&s, 4, NAN, 1.0, 4.0));
    assert_true(s.number[STOPPING_STEP] == 2.0);
    stopping_close(&s);
}

/* ---- fits -------------------------------------------------------------------------------------------------------- */

typedef struct data {
    npmd_domain *domain;
    npmd_points *points, *held_out;
} data;

static data data_open(void)
{
    data d = { 0 };
    uint64_t seed = 3;
    double x[2 * (N + OUT)];
    assert_int_equal(npmd_domain_parse("T2", &d.domain, NULL), NPMD_OK);
    for (int i = 0; i < 2 * (N + OUT); i++)
        x[i] = 3.0 + 0.6 * test_normal(&seed);
    assert_int_equal(points_from(x, N, d.domain, &d.points, NULL), NPMD_OK);
    assert_int_equal(points_from(x + 2 * N, OUT, d.domain, &d.held_out, NULL), NPMD_OK);
    return d;
}

static void data_close(data *d)
{
    npmd_points_free(d->points);
    npmd_points_free(d->held_out);
    npmd_domain_free(d->domain);
}

/* A high fixed rate and no penalty to speak of: a few points are soon learnt by heart. */
static npmd_options eager_options(const char *stop)
{
    const char *const SET[][2] = { { "features", "40" }, { "max-frequency", "6" }, { "width", "16" },
                                   { "depth", "3" },     { "q1", "512" },          { "q2", "64" },
                                   { "tau", "1e-9" },    { "steps", "400" },       { "schedule", "fixed" },
                                   { "rate", "1e-2" },   { "warmup", "0" },        { "threads", "1" },
                                   { "patience", "15" }, { "convex-gap", "off" },  { "skip-start", "zero" },
                                   { "stop", stop } };
    npmd_options opt;
    npmd_error err = { 0 };
    options_init(&opt);
    for (size_t i = 0; i < sizeof SET / sizeof *SET; i++)
        if (npmd_options_set(&opt, SET[i][0], SET[i][1], &err) != NPMD_OK)
            fail_msg("%s", err.text);
    return opt;
}

static npmd_model *fitted(const data *d, const npmd_options *opt)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    if (npmd_fit(d->domain, d->points, opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return m;
}

static void same_density(const npmd_model *a, const npmd_model *b)
{
    enum { AT = 50 };
    double x[2 * AT], f[AT], g[AT];
    uint64_t seed = 9;
    for (int i = 0; i < 2 * AT; i++)
        x[i] = 6.0 * test_uniform(&seed);
    assert_int_equal(npmd_log_density(a, x, AT, f, NULL), NPMD_OK);
    assert_int_equal(npmd_log_density(b, x, AT, g, NULL), NPMD_OK);
    assert_memory_equal(f, g, sizeof f);
}

typedef struct course {
    double least, last; /* of ise */
    int64_t lines, last_line;
} course;

static int follow(const npmd_report *now, void *user)
{
    course *c = user;
    if (!now->logged || isnan(now->epoch))
        return 0;
    c->last = now->ise;
    c->least = fmin(c->least, now->ise);
    c->last_line = now->step;
    c->lines++;
    return 0;
}

/* At a fixed rate a step does not know how many will come. */
static void the_best_weights_are_kept(void **state)
{
    data d = data_open();
    npmd_options opt = eager_options("ise");
    course c = { .least = INFINITY };
    (void)state;
    npmd_options_hold_out(&opt, d.held_out);
    npmd_options silent = opt;
    npmd_options_watch(&opt, follow, &c);
    npmd_model *m = fitted(&d, &opt);
    const fit_facts facts = m->facts;
    print_message("    stopped after %d steps, kept %d; ise %.3f, at last %.3f\n", (int)facts.steps,
                  (int)facts.kept_step, c.least, c.last);
    assert_int_equal(facts.stopped, STOP_ISE);
    assert_true(facts.steps < 400 && facts.kept_step == facts.steps - 15 * 2); /* looks come every 2 steps */
    assert_int_equal(c.last_line, facts.steps);
    assert_true(c.last > c.least);
    assert_non_null(strstr(npmd_model_warning(m, 0), "stopped early"));
    /* what is shown, and to whom, changes nothing */
    silent.watch.log_every = 7;
    npmd_model *unseen = fitted(&d, &silent);
    same_density(m, unseen);
    npmd_options until = eager_options("none");
    until.set.descent.steps = facts.kept_step;
    npmd_model *told = fitted(&d, &until);
    same_density(m, told);
    /* the file knows */
    char path[256];
    npmd_model *loaded = NULL;
    temporary_path(path, sizeof path);
    assert_int_equal(npmd_save(m, path, NULL), NPMD_OK);
    assert_int_equal(npmd_load(path, &loaded, NULL), NPMD_OK);
    unlink(path);
    npmd_fit_facts told_of = NPMD_SIZED(npmd_fit_facts);
    assert_int_equal(npmd_model_facts(loaded, &told_of, NULL), NPMD_OK);
    assert_string_equal(told_of.stopped_by, "ise");
    assert_int_equal(loaded->facts.kept_step, facts.kept_step);
    npmd_model_free(m), npmd_model_free(unseen), npmd_model_free(told), npmd_model_free(loaded);
    data_close(&d);
}

/* Without points of the caller's, a part of the data is held out. */
static void a_share_is_held_out(void **state)
{
    data d = data_open();
    npmd_options opt = eager_options("ise");
    fit_plan plan;
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    (void)state;
    opt.set.holdout = 0.25;
    assert_int_equal(plan_make(estimators_all, &opt.set, NULL, d.domain, N, &plan, NULL), NPMD_OK);
    assert_int_equal(plan.full.descent.batch, N - N / 4);
    m = fitted(&d, &opt);
    assert_int_equal(m->facts.n, N);
    assert_non_null(strstr(npmd_model_warning(m, 0), "100 held-out points"));
    npmd_model_free(m);
    m = NULL;
    opt.set.holdout = 1e-3;
    assert_int_equal(npmd_fit(d.domain, d.points, &opt, &m, &err), NPMD_ERR_ARGUMENT);
    assert_null(m);
    assert_non_null(strstr(err.text, "raise `holdout`"));
    data_close(&d);
}

static void the_last_weights_are_kept(void **state)
{
    data d = data_open();
    npmd_options opt = eager_options("snr");
    (void)state;
    opt.set.descent.patience = 8;
    npmd_model *m = fitted(&d, &opt);
    const fit_facts facts = m->facts;
    print_message("    stopped after %d steps\n", (int)facts.steps);
    assert_int_equal(facts.stopped, STOP_SNR);
    assert_true(facts.steps < 400 && facts.kept_step == 0);
    npmd_options until = eager_options("none");
    until.set.descent.steps = facts.steps;
    npmd_model *told = fitted(&d, &until);
    same_density(m, told);
    npmd_model_free(m), npmd_model_free(told);
    data_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minimum_and_patience),
        cmocka_unit_test(the_best_weights_are_kept),
        cmocka_unit_test(a_share_is_held_out),
        cmocka_unit_test(the_last_weights_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
