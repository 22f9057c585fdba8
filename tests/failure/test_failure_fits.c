/* test_failure_fits.c - fits of every estimator while memory runs out: they say so and leave everything as it was
 * (sweep.h); and a step of training takes no memory at all. */
#include "sweep.h"

static int quiet(const npmd_report *now, void *user)
{
    (void)now, (void)user;
    return 0;
}

#define FIT(name, which, ...)                                                                                          \
    static void prepare_##name(stage *s, outcome *o)                                                                   \
    {                                                                                                                  \
        (void)s;                                                                                                       \
        fit_options(&o->options, (const char *const[]){ __VA_ARGS__, NULL });                                          \
    }                                                                                                                  \
    static npmd_status run_##name(stage *s, outcome *o, npmd_error *err)                                               \
    {                                                                                                                  \
        return npmd_fit(s->domain[which], s->points[which], &o->options, &o->model, err);                              \
    }
enum { STEPS = 8 };
typedef struct step_count {
    long before, steps; /* allocations at the first step, steps since */
} step_count;

static int count_at_step(const npmd_report *now, void *user)
{
    step_count *c = user;
    (void)now;
    if (c->steps++ == 0)
        c->before = faults_calls();
    else if (c->steps <= STEPS && faults_calls() != c->before) /* the integral comes after them */
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
            options_init(&opt);
            fit_options(&opt, CASES[i]);
            opt.set.descent.steps = STEPS;
            opt.watch.log_every = 1;
            opt.set.machine.threads = 2;
            opt.watch.progress = count_at_step;
            opt.watch.user = &count;
            faults_arm((fault){ .call = FAULT_MEMORY });
            must(npmd_fit(s->domain[which], s->points[which], &opt, &m, &err), &err);
            faults_disarm();
            assert_true(count.before > 0 && count.steps >= STEPS);
            npmd_model_free(m);
        }
}

FIT(fit_torus, TORUS, "integral", "importance")
FIT(fit_linear, TORUS, "integral", "uniform", "depth", "1", "penalty", "gradient")
FIT(fit_waves, TORUS, "separable", "off", "device", "reference")
FIT(fit_choice, TORUS, "tau", "auto", "integral", "importance", "folds", "1")
FIT(fit_mixed, MIXED, "integral", "importance")
FIT(fit_mixed_choice, MIXED, "tau", "auto", "integral", "uniform", "depth", "1", "folds", "1")
FIT(fit_watched, TORUS, "log-every", "1")
FIT(fit_ridge, TORUS, "spectrum-law", "ridge")
FIT(fit_rotated, MIXED, "separable", "off")
FIT(fit_resumed, TORUS, "log-every", "1")
FIT(fit_until_ise, TORUS, "log-every", "1", "stop", "ise", "holdout", "0.3", "patience", "1")
FIT(fit_until_snr, MIXED, "stop", "snr", "patience", "1")
FIT(fit_convex, TORUS, "skip-start", "convex")
FIT(fit_from, TORUS, "log-every", "1")
FIT(fit_squared, MIXED, "estimator", "psnf")
FIT(fit_relu, MIXED, "estimator", "relu", "integral", "importance")
FIT(fit_series, MIXED, "estimator", "series", "max-frequency", "1")
FIT(fit_series_path, TORUS, "estimator", "series", "tau", "auto", "max-frequency", "1")
FIT(fit_series_sgd, TORUS, "estimator", "series", "solver", "sgd", "max-frequency", "1")
FIT(fit_kernels, MIXED, "estimator", "kde")
FIT(fit_folds, TORUS, "estimator", "kde", "concentration-rule", "ise", "concentration", "factor")
FIT(fit_adaptive, TORUS, "estimator", "kde", "bandwidth", "adaptive", "neighbours", "8")
FIT(fit_members, TORUS, "members", "3", "bootstrap", "on")
FIT(fit_pair, TORUS, "members", "2")
FIT(fit_stack, TORUS, "estimator", "stack", "members", "1", "max-frequency", "1", "holdout", "0.5", "folds", "1")
FIT(fit_resampled, TORUS, "estimator", "kde", "members", "3", "bootstrap", "on")
FIT(fit_mixture, MIXED, "estimator", "kde", "bandwidth", "mixture", "holdout", "0.5")

static void prepare_select(stage *s, outcome *o)
{
    prepare_fit_torus(s, o);
    o->options.set.folds = 1;
}

static npmd_status run_select(stage *s, outcome *o, npmd_error *err)
{
    static const char *const OVER[] = { "depth=1:2" };
    return npmd_select(s->domain[TORUS], s->points[TORUS], &o->options, OVER, 1, &o->model, err);
}

/* A plan, and its fit: as long as npmd_fit. */
static npmd_status run_plan(stage *s, outcome *o, npmd_error *err)
{
    npmd_plan *plan = NULL;
    npmd_status st = npmd_plan_make(s->domain[TORUS], POINTS, &o->options, &plan, err);
    if (st != NPMD_OK && plan != NULL)
        fail_msg("a plan that failed was told");
    if (st == NPMD_OK)
        st = npmd_plan_fit(plan, s->points[TORUS], &o->model, err);
    npmd_plan_free(plan);
    return st;
}

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
    stopped.watch.progress = stop_at_once;
    snprintf(stopped.watch.checkpoint, sizeof stopped.watch.checkpoint, "%s", in_folder(&s->at, "state.safetensors"));
    assert_int_equal(npmd_fit(s->domain[TORUS], s->points[TORUS], &stopped, &none, NULL), NPMD_STOPPED);
    assert_null(none);
    memcpy(o->options.watch.resume, stopped.watch.checkpoint, sizeof stopped.watch.checkpoint);
}

/* From the weights and the encoding of the model in a file. */
static void prepare_from(stage *s, outcome *o)
{
    prepare_fit_from(s, o);
    snprintf(o->options.start_from, sizeof o->options.start_from, "%s", in_folder(&s->at, "torus.safetensors"));
}

static void prepare_watch(stage *s, outcome *o)
{
    prepare_fit_watched(s, o);
    o->options.watch.progress = quiet;
    o->options.watch.truth = s->normals;
}

/* Names a checkpoint, and takes away what is there. */
static void keep_afresh(stage *s, outcome *o)
{
    fit_watch *w = &o->options.watch;
    snprintf(w->checkpoint, sizeof w->checkpoint, "%s", in_folder(&s->at, "kept"));
    memcpy(w->resume, w->checkpoint, sizeof w->resume);
    w->checkpoint_every = 0.0;
    unlink(w->checkpoint);
    unlink(in_folder(&s->at, "kept.parts"));
}

static void prepare_kept_members(stage *s, outcome *o)
{
    prepare_fit_pair(s, o);
    keep_afresh(s, o);
}

static void prepare_kept_resampled(stage *s, outcome *o)
{
    prepare_fit_resampled(s, o);
    keep_afresh(s, o);
}

/* The same after its end: nothing is fitted. */
static void prepare_kept_again(stage *s, outcome *o)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    prepare_kept_resampled(s, o);
    must(npmd_fit(s->domain[TORUS], s->points[TORUS], &o->options, &m, &err), &err);
    npmd_model_free(m);
}

static const operation KEPT[] = {
    { .name = "three resamples, kept",
      .run = run_fit_resampled,
      .prepare = prepare_kept_resampled,
      .branch = true,
      .spares = true,
      .keeps = true },
    { .name = "three resamples, after their end",
      .run = run_fit_resampled,
      .prepare = prepare_kept_again,
      .branch = true,
      .keeps = true },
    { .name = "two members, kept", /* takes minutes */
      .run = run_fit_pair,
      .prepare = prepare_kept_members,
      .branch = true,
      .spares = true,
      .keeps = true },
};
enum { KEPT_FEW = 2, KEPT_ALL = sizeof KEPT / sizeof *KEPT };

static void kept_without_memory(void **state)
{
    sweep_memory(*state, KEPT, sweep_deep() ? KEPT_ALL : KEPT_FEW);
}

/* A fit whose file cannot be begun fails; what cannot be kept later on is told, and the fit goes on. */
static void kept_without_disk(void **state)
{
    static const allowance KEEPING[] = {
        { FAULT_OPEN, EMFILE, 1, 100 }, { FAULT_WRITE, ENOSPC, 1, 100 }, { FAULT_SYNC, EIO, 1, 100 },
        { FAULT_RENAME, EIO, 1, 100 },  { FAULT_CLOSE, EIO, 1, 100 },
    };
    sweep_files(*state, KEPT, 1, KEEPING, sizeof KEEPING / sizeof *KEEPING);
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
        { .name = "fit on T2, tau chosen", .run = run_fit_choice, .prepare = prepare_fit_choice, .branch = true },
        { .name = "plan on T2", .run = run_plan, .prepare = prepare_fit_linear, .branch = true },
        { .name = "select on T2", .run = run_select, .prepare = prepare_select, .branch = true },
        { .name = "fit on T2, watched", .run = run_fit_watched, .prepare = prepare_watch, .branch = true },
        { .name = "fit on T2, until held-out points say so",
          .run = run_fit_until_ise,
          .prepare = prepare_fit_until_ise,
          .branch = true },
        { .name = "fit on S2 x S1, until the gradients say so",
          .run = run_fit_until_snr,
          .prepare = prepare_fit_until_snr,
          .branch = true },
        { .name = "fit on T2, ridge law", .run = run_fit_ridge, .prepare = prepare_fit_ridge, .branch = true },
        { .name = "fit on T2, convex start", .run = run_fit_convex, .prepare = prepare_fit_convex, .branch = true },
        { .name = "fit on T2, from a model", .run = run_fit_from, .prepare = prepare_from, .branch = true },
        /* a checkpoint that cannot be written on the way does not end a fit */
        { .name = "fit on T2, resumed",
          .run = run_fit_resumed,
          .prepare = prepare_resumed,
          .branch = true,
          .spares = true },
        { .name = "fit on S2 x S1, rotated", .run = run_fit_rotated, .prepare = prepare_fit_rotated, .branch = true },
        { .name = "fit on S2 x S1, weighted", .run = run_fit_mixed, .prepare = prepare_fit_mixed, .branch = true },
        { .name = "fit, series", .run = run_fit_series, .prepare = prepare_fit_series, .branch = true },
        { .name = "fit, series, path", .run = run_fit_series_path, .prepare = prepare_fit_series_path, .branch = true },
        { .name = "fit, series, sgd", .run = run_fit_series_sgd, .prepare = prepare_fit_series_sgd, .branch = true },
        { .name = "fit on S2 x S1, squared family",
          .run = run_fit_squared,
          .prepare = prepare_fit_squared,
          .branch = true },
        { .name = "fit on S2 x S1, ReLU network", .run = run_fit_relu, .prepare = prepare_fit_relu, .branch = true },
        { .name = "fit on S2 x S1, tau chosen, linear",
          .run = run_fit_mixed_choice,
          .prepare = prepare_fit_mixed_choice,
          .branch = true },
        { .name = "kernels on S2 x S1", .run = run_fit_kernels, .prepare = prepare_fit_kernels, .branch = true },
        { .name = "kernels on T2, five folds, one a factor",
          .run = run_fit_folds,
          .prepare = prepare_fit_folds,
          .branch = true },
        { .name = "kernels on T2, adaptive", .run = run_fit_adaptive, .prepare = prepare_fit_adaptive, .branch = true },
        { .name = "three members on T2", .run = run_fit_members, .prepare = prepare_fit_members, .branch = true },
        { .name = "a stack on T2", .run = run_fit_stack, .prepare = prepare_fit_stack, .branch = true },
        { .name = "kernels on S2 x S1, mixture",
          .run = run_fit_mixture,
          .prepare = prepare_fit_mixture,
          .branch = true },
    };
    SWEEP_MEMORY(*state, OPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_without_memory), cmocka_unit_test(kept_without_memory),
        cmocka_unit_test(kept_without_disk),
        cmocka_unit_test(a_step_takes_no_memory), /* last: it starts threads, which children would miss */
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
