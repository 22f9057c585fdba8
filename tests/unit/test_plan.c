/* test_plan.c - what a fit usually has where nothing was asked for, the fits that other fits need, and plans. A
 * default that changes, changes here. */
#include "estimate.h"

/* ---- what is usual ----------------------------------------------------------------------------------------------- */

static const struct {
    const char *where;
    double tau, decay, accuracy;
    int features, separable, depth, integral;
    int64_t steps;
    int frequency[2], series[2]; /* of the first two factors: of a field, of a series before it shrinks */
} USUAL[] = {
    { "T1", 5e-5, 1.5, 1e-5, 2, 1, 3, INTEGRAL_UNIFORM, 500, { 20 }, { 40 } },
    { "T2", 5e-5, 2.0, 1e-5, 4, 1, 3, INTEGRAL_UNIFORM, 500, { 20, 20 }, { 10, 10 } },
    { "T4", 1e-4, 3.0, 5e-4, 8, 0, 4, INTEGRAL_IMPORTANCE, 500, { 20, 20 }, { 10, 10 } },
    { "S2", 5e-5, 2.0, 1e-5, 3, 1, 3, INTEGRAL_UNIFORM, 1000, { 16 }, { 24 } },
    { "S2 x S1", 1e-4, 2.5, 5e-4, 5, 1, 4, INTEGRAL_IMPORTANCE, 500, { 10, 20 }, { 10, 10 } },
    { "S2 x S2", 1e-4, 3.0, 5e-4, 6, 1, 4, INTEGRAL_IMPORTANCE, 500, { 10, 10 }, { 10, 10 } },
};
enum { USUAL_COUNT = sizeof USUAL / sizeof *USUAL };

static const struct {
    size_t n;
    int64_t batch, q1; /* q1 in one and two dimensions */
} SIZES[] = { { 100, 100, 512 },     { 700, 700, 700 },      { 1024, 1024, 1024 },     { 10000, 1024, 1024 },
              { 65536, 1024, 1024 }, { 100000, 1562, 1024 }, { 2000000, 31250, 1024 }, { 20000000, 131072, 1024 } };

static settings filled(const char *kind, const npmd_domain *dom, size_t n)
{
    npmd_options opt;
    options_of(&opt, (const char *const[]){ "estimator", kind, NULL });
    settings_fill(&opt.set, settings_readers(&opt.set, dom), dom, n);
    return opt.set;
}

static void fields_have_usual_sizes(void **state)
{
    (void)state;
    for (int i = 0; i < USUAL_COUNT; i++)
        for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++) {
            npmd_domain *dom = domain_of(USUAL[i].where);
            settings set = filled("field", dom, SIZES[k].n);
            assert_true(set.tau == USUAL[i].tau && set.holdout == 0.2);
            assert_int_equal(set.members, 1);
            assert_int_equal(set.encoding.from, FEATURES_COORDINATES);
            assert_int_equal(set.criterion, CRITERION_LIKELIHOOD);
            assert_int_equal(set.folds, 0);
            assert_int_equal(set.rivals, 1);
            assert_true(set.network.omega == 2.5);
            assert_int_equal(set.encoding.features, USUAL[i].features);
            assert_true(set.encoding.decay == USUAL[i].decay);
            assert_true(set.encoding.ridge == 0.0); /* of another law */
            assert_int_equal(set.encoding.separable, USUAL[i].separable);
            assert_int_equal(set.network.width, 64); /* small, as held-out points may choose a larger one */
            assert_int_equal(set.network.depth, 3);
            assert_int_equal(set.descent.steps, USUAL[i].steps);
            const bool low = dom->dimension <= 2;
            const int64_t share = SIZES[k].n / 24 < 131072 ? (int64_t)(SIZES[k].n / 24) : 131072;
            const int64_t q1 = low ? SIZES[k].q1 : share > 2048 ? share : 2048;
            assert_int_equal(set.descent.batch, low || share < SIZES[k].batch ? SIZES[k].batch : share);
            assert_int_equal(set.descent.q1, q1);
            assert_int_equal(set.descent.q2, q1 / 4);
            assert_int_equal(set.descent.integral, USUAL[i].integral);
            assert_true(set.descent.accuracy == USUAL[i].accuracy);
            assert_int_equal(set.descent.patience, 0); /* it does not stop early */
            assert_int_equal(settings_fill_frequencies(&set, dom, NULL), NPMD_OK);
            assert_int_equal(set.encoding.max_frequencies, dom->factors);
            for (int d = 0; d < dom->factors; d++)
                assert_int_equal(set.encoding.max_frequency[d], USUAL[i].frequency[d < 2 ? d : 1]);
            npmd_domain_free(dom);
        }
}

/* What an estimator does not read stays open. */
/* Where nothing is chosen the network has its size by the dimension. */
static void given_fields_have_a_size(void **state)
{
    (void)state;
    for (int i = 0; i < USUAL_COUNT; i++) {
        npmd_domain *dom = domain_of(USUAL[i].where);
        npmd_options opt;
        options_of(&opt, (const char *const[]){ "tau", "1e-4", "steps", "100", NULL });
        settings_fill(&opt.set, settings_readers(&opt.set, dom), dom, 1000);
        assert_int_equal(opt.set.network.width, 128);
        assert_int_equal(opt.set.network.depth, USUAL[i].depth);
        npmd_domain_free(dom);
    }
}

static void others_have_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < USUAL_COUNT; i++) {
        npmd_domain *dom = domain_of(USUAL[i].where);
        settings series = filled("series", dom, 10000);
        assert_true(series.tau == USUAL[i].tau && series.holdout == 0.1);
        assert_true(series.descent.steps == 0 && series.descent.batch == 0 && series.encoding.features == 0);
        assert_int_equal(settings_fill_frequencies(&series, dom, NULL), NPMD_OK);
        for (int d = 0; d < dom->factors; d++)
            assert_int_equal(series.encoding.max_frequency[d], USUAL[i].series[d < 2 ? d : 1]);
        const settings kde = filled("kde", dom, 10000);
        assert_true(kde.tau < 0.0 && kde.holdout == 0.0 && kde.descent.accuracy == 0.0);
        const settings stack = filled("stack", dom, 10000);
        assert_true(stack.holdout == 0.2 && stack.members == 4 && stack.descent.steps == USUAL[i].steps);
        const settings relu = filled("relu", dom, 10000);
        assert_true(relu.descent.accuracy == (dom->dimension <= 2 ? 1e-4 : 5e-4));
        assert_true(relu.descent.patience == 20 && relu.holdout == 0.1);
        npmd_domain_free(dom);
    }
}

/* Some depend on what else is asked for. */
static void usual_values_know_others(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    static const struct {
        const char *name, *value, *of;
        double usual;
    } CASES[] = { { "bootstrap", "on", "members", 16 },
                  { "stop", "ise", "patience", 40 },
                  { "stop", "snr", "patience", 40 },
                  { "features", "12", "encoding", FEATURES_DRAWN },
                  { "depth", "1", "encoding", FEATURES_DRAWN },
                  { "spectrum-decay", "3", "features", 192 },
                  { "spectrum-law", "uniform", "encoding", FEATURES_DRAWN },
                  { "max-frequency", "5", "features", 192 },
                  { "encoding", "coordinates", "features", 4 } };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        npmd_options opt;
        options_of(&opt, (const char *const[]){ CASES[k].name, CASES[k].value, NULL });
        settings_fill(&opt.set, settings_readers(&opt.set, dom), dom, 1000);
        if (options_number(&opt, CASES[k].of) != CASES[k].usual)
            fail_msg("%s %s: %s is %g, expected %g", CASES[k].name, CASES[k].value, CASES[k].of,
                     options_number(&opt, CASES[k].of), CASES[k].usual);
    }
    npmd_options opt;
    options_of(&opt, (const char *const[]){ "estimator", "stack", "folds", "4", NULL });
    settings_fill(&opt.set, settings_readers(&opt.set, dom), dom, 1000);
    assert_true(opt.set.holdout == 0.2); /* four shares of a fifth */
    options_of(&opt, (const char *const[]){ "folds", "8", NULL });
    settings_fill(&opt.set, settings_readers(&opt.set, dom), dom, 1000);
    assert_true(opt.set.holdout == 0.125);
    options_of(&opt, (const char *const[]){ "stop", "ise", NULL });
    settings_fill(&opt.set, settings_readers(&opt.set, dom), dom, 1000);
    assert_true(opt.set.holdout == 0.1); /* one number, the length, is learnt from them */
    static const struct {
        const char *share;
        size_t n;
        int64_t batch;
    } SHARES[] = { { "n/2", 1001, 500 }, { "n/1", 70000, 70000 }, { "n/1000", 10, 1 } };
    for (size_t k = 0; k < sizeof SHARES / sizeof *SHARES; k++) {
        options_of(&opt, (const char *const[]){ "batch", SHARES[k].share, NULL });
        settings_fill(&opt.set, settings_readers(&opt.set, dom), dom, SHARES[k].n);
        assert_int_equal(opt.set.descent.batch, SHARES[k].batch);
        assert_int_equal(opt.set.descent.batch_share, 0);
    }
    npmd_domain_free(dom);
}

/* As a caller asks: by name, with a text. What was asked for is what it will be; what has no usual value is "". */
static void usual_values_have_a_text(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1"), *torus = domain_of("T4");
    npmd_options *opt = npmd_options_new();
    npmd_error err = { 0 };
    char text[64];
    static const struct {
        const char *name, *sphere, *torus;
    } CASES[] = { { "steps", "500", "500" },
                  { "batch", "4166", "4166" },
                  { "features", "5", "8" },
                  { "encoding", "coordinates", "coordinates" },
                  { "omega", "2.5", "2.5" },
                  { "q1", "4166", "4166" },
                  { "q2", "1041", "1041" },
                  { "separable", "on", "off" },
                  { "max-frequency", "10,20", "20,20,20,20" },
                  { "integral", "importance", "importance" },
                  { "width", "64", "64" },
                  { "device", "", "" } };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        assert_int_equal(npmd_option_usual(CASES[k].name, NULL, dom, 100000, text, sizeof text, &err), NPMD_OK);
        assert_string_equal(text, CASES[k].sphere);
        assert_int_equal(npmd_option_usual(CASES[k].name, opt, torus, 100000, text, sizeof text, &err), NPMD_OK);
        assert_string_equal(text, CASES[k].torus);
    }
    assert_int_equal(npmd_options_set(opt, "steps", "7", NULL), NPMD_OK);
    assert_int_equal(npmd_options_set(opt, "estimator", "stack", NULL), NPMD_OK);
    assert_int_equal(npmd_option_usual("steps", opt, dom, 100, text, sizeof text, &err), NPMD_OK);
    assert_string_equal(text, "7");
    assert_int_equal(npmd_option_usual("members", opt, dom, 100, text, sizeof text, &err), NPMD_OK);
    assert_string_equal(text, "4");
    assert_int_equal(npmd_option_usual("no-such", NULL, dom, 100, text, sizeof text, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "no-such"));
    npmd_options_free(opt);
    npmd_domain_free(dom);
    npmd_domain_free(torus);
}

/* ---- derived settings: what each inherits ------------------------------------------------------------------------ */

/* Nothing at its default, nothing open. */
#define ASKED                                                                                                          \
    "estimator", "stack", "tau", "0.25", "holdout", "0.3", "criterion", "likelihood", "penalty", "gradient", "seed",   \
        "5", "members", "6", "combine", "log", "bootstrap", "on", "unordered", "on", "folds", "3", "encoding",         \
        "coordinates", "features", "33", "max-frequency", "3,4", "spectrum-law", "ridge", "spectrum-decay", "1.5",     \
        "spectrum-ridge", "0.5", "separable", "off", "constant", "on", "scale", "none", "width", "9", "depth", "5",    \
        "omega", "3", "skip", "on", "skip-start", "convex", "start", "authors", "steps", "400", "epochs", "2",         \
        "batch", "n/4", "q1", "64", "q2", "32", "rate", "0.5", "warmup", "11", "integral", "uniform", "accuracy",      \
        "0.75", "convex-gap", "on", "stop", "ise", "patience", "8", "solver", "sgd", "kappa", "2,3", "bandwidth",      \
        "mixture", "neighbours", "12", "threads", "2", "device", "reference", "snr", "on"

static settings asked_for(const char *const *more)
{
    npmd_options opt;
    options_of(&opt, (const char *const[]){ ASKED, NULL });
    for (; more != NULL && *more != NULL; more += 2)
        assert_int_equal(options_set(&opt, more[0], more[1], NULL), NPMD_OK);
    opt.set.descent.judged = 1;
    return opt.set;
}

/* Every setting that is not as it was, in the order of the table: "seed=9 members=1". */
static const char *changes(const settings *from, const settings *to)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < option_count(); i++) {
        const option_row *row = option_at(i);
        char a[PLAN_MAX_PATH], b[PLAN_MAX_PATH];
        if (row->field >= sizeof(settings))
            continue; /* it watches */
        option_print(from, row, a, sizeof a);
        option_print(to, row, b, sizeof b);
        if (strcmp(a, b) != 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", used == 0 ? "" : " ", row->name, b);
    }
    return text;
}

static void assert_derived(const derived *d, const settings *from, const char *expected, bool weights, bool encoded)
{
    static const uint64_t NONE[PLAN_GIVEN_WORDS];
    assert_string_equal(changes(from, &d->set), expected);
    assert_memory_equal(d->set.given, NONE, sizeof NONE); /* looked at once, by the fit that was asked for */
    assert_int_equal(d->set.descent.judged, from->descent.judged);
    assert_string_equal(d->set.preset, from->preset);
    assert_int_equal(d->weights, weights);
    assert_int_equal(d->encoding, encoded);
}

/* A short fit that is compared: given tau and steps, rough, alone, to its end, without weights that may have seen the
 * points that judge it. */
static void pilots_inherit(void **state)
{
    (void)state;
    const settings from = asked_for(NULL);
    const derived d = derive_pilot(&from, 0.125, 77);
    assert_derived(&d, &from,
                   "tau=0.125 members=1 bootstrap=off rivals=off steps=77 epochs=0 batch=0 "
                   "convex-gap=off stop=none snr=off",
                   false, true);
}

/* A course of a search: a pilot with its own omega and encoding, whose batch is that of the fit it serves. */
static void courses_inherit(void **state)
{
    (void)state;
    const settings from = asked_for(NULL);
    settings full = from;
    full.descent.batch = 123; /* what is known of the fit to all points */
    full.descent.batch_share = 0;
    full.descent.warmup = 3;
    full.descent.q1 = 77;
    full.encoding.features = 99;
    const derived d = derive_course(
        &from, &full, &(course_kind){ .omega = 7.5, .tau = 0.125, .width = 11, .depth = 6, .from = FEATURES_DRAWN },
        77);
    assert_derived(
        &d, &from,
        "tau=0.125 members=1 bootstrap=off rivals=off encoding=drawn width=11 depth=6 omega=7.5 steps=77 epochs=0 batch=123 "
        "q1=77 convex-gap=off stop=none snr=off",
        false, true);
}

/* One of an ensemble: its own seed; the first alone tells the gap. */
static void members_inherit(void **state)
{
    (void)state;
    npmd_domain *flat = domain_of("T2"), *high = domain_of("T4");
    const settings from = asked_for(NULL), open = asked_for((const char *const[]){ "accuracy", "0", NULL }),
                   mixed = asked_for((const char *const[]){ "accuracy", "0", "combine", "mixture", NULL });
    derived d = derive_member(&from, true, 99, high);
    assert_derived(&d, &from, "seed=99 members=1 bootstrap=off", true, true);
    d = derive_member(&from, false, 99, high);
    assert_derived(&d, &from, "seed=99 members=1 bootstrap=off rivals=off convex-gap=off", true, true);
    /* an accuracy that is left open is rough where it is dear, since the mean of the logs has its own */
    d = derive_member(&open, true, 99, high);
    assert_derived(&d, &open, "seed=99 members=1 bootstrap=off accuracy=0.002", true, true);
    d = derive_member(&open, true, 99, flat);
    assert_derived(&d, &open, "seed=99 members=1 bootstrap=off", true, true);
    d = derive_member(&mixed, true, 99, high);
    assert_derived(&d, &mixed, "seed=99 members=1 bootstrap=off", true, true);
    npmd_domain_free(flat);
    npmd_domain_free(high);
}

/* A part of a stack: of its own kind; what was chosen with some points held out stays, unless it is cheap to choose
 * again. */
static void parts_inherit(void **state)
{
    (void)state;
    static const part_kind FIELD = { FIT_FIELD, BANDWIDTH_FIXED, false },
                           SERIES = { FIT_SERIES, BANDWIDTH_FIXED, false },
                           NEAR = { FIT_KDE, BANDWIDTH_ADAPTIVE, true };
    const settings from = asked_for(NULL), open = asked_for((const char *const[]){ "steps", "0", NULL });
    settings before = from;
    before.tau = 0.0625;
    before.descent.steps = 123;
    before.descent.warmup = 45;
    before.encoding.max_frequency[0] = 1;
    before.encoding.max_frequency[1] = 2;
    before.network.omega = 10.0;
    /* a field hears its rivals wherever it is chosen: one of them may be its base */
    derived d = derive_part(&from, &FIELD, 4, false, false, NULL);
    assert_derived(&d, &from, "estimator=field members=4 bootstrap=off convex-gap=off bandwidth=fixed", false, true);
    d = derive_part(&from, &NEAR, 4, false, false, NULL);
    assert_derived(&d, &from, "estimator=kde members=1 bootstrap=off rivals=off convex-gap=off bandwidth=adaptive",
                   false, true);
    d = derive_part(&from, &NEAR, 4, true, true, &before); /* resampled, and chosen again */
    assert_derived(&d, &from, "estimator=kde members=4 rivals=off convex-gap=off bandwidth=adaptive", true, true);
    d = derive_part(&from, &FIELD, 4, false, true, &before); /* a length that was asked for stays */
    assert_derived(&d, &from,
                   "estimator=field tau=0.0625 members=4 bootstrap=off max-frequency=1,2 omega=10 "
                   "convex-gap=off bandwidth=fixed",
                   true, true);
    d = derive_part(&open, &FIELD, 4, false, true, &before);
    assert_derived(
        &d, &open,
        "estimator=field tau=0.0625 members=4 bootstrap=off max-frequency=1,2 omega=10 steps=123 warmup=45 convex-gap=off "
        "bandwidth=fixed",
        true, true);
    d = derive_part(&open, &SERIES, 4, false, true, &before);
    assert_derived(
        &d, &open,
        "estimator=series tau=0.0625 members=1 bootstrap=off rivals=off max-frequency=1,2 steps=123 warmup=45 "
        "convex-gap=off bandwidth=fixed",
        true, true);
}

/* A series that is trained as a field: one layer on every function of its basis. */
static void linear_fields_inherit(void **state)
{
    (void)state;
    const settings from = asked_for(NULL);
    settings full = from;
    full.encoding.max_frequency[0] = 7;
    full.encoding.max_frequency[1] = 8;
    full.tau = 9.0;
    full.descent.steps = 9; /* of what is known of the series, the basis alone */
    const derived d = derive_linear(&from, &full, 48);
    assert_derived(
        &d, &from,
        "estimator=field rivals=off encoding=drawn features=48 max-frequency=7,8 spectrum-law=uniform separable=on "
        "constant=off depth=1 skip=off skip-start=step convex-gap=off stop=none snr=off",
        false, false);
}

/* Weights and encoding of models that a fit begins with go on where the derived fit wants them. */
static void plans_pass_their_origin_on(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_model model = { 0 }, encoded = { 0 }; /* which nobody looks at: the estimator is the uniform one */
    npmd_options opt;
    fit_plan from, to;
    options_of(&opt, (const char *const[]){ "estimator", "uniform", NULL });
    const fit_origin origin = { .model = &model,
                                .encoded = &encoded,
                                .model_hash = "0123456789abcdef",
                                .encoded_hash = "fedcba9876543210",
                                .model_path = "a",
                                .encoded_path = "b" };
    assert_int_equal(plan_make(estimators_all, &opt.set, &origin, dom, 10, &from, NULL), NPMD_OK);
    assert_true(from.origin.model == &model && from.origin.encoded == &encoded && from.n == 10);
    for (int weights = 0; weights < 2; weights++)
        for (int encoding_too = weights; encoding_too < 2; encoding_too++) {
            const derived d = { .set = opt.set, .weights = weights, .encoding = encoding_too };
            assert_int_equal(plan_derive(&from, &d, 5, &to, NULL), NPMD_OK);
            assert_int_equal(to.n, 5);
            assert_ptr_equal(to.origin.model, weights ? &model : NULL);
            assert_string_equal(to.origin.model_hash, weights ? origin.model_hash : "");
            assert_ptr_equal(to.origin.encoded, encoding_too ? &encoded : NULL);
            assert_string_equal(to.origin.encoded_hash, encoding_too ? origin.encoded_hash : "");
        }
    npmd_domain_free(dom);
}

/* ---- plans, as a caller has them --------------------------------------------------------------------------------- */

/* A plan tells all sizes, holds on to nothing of the caller's, and its fit is the fit. */
static void plans_are_fits(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2");
    npmd_points *pts = clusters(dom, 200, 0.5, 3);
    npmd_options opt;
    npmd_plan *plan = NULL;
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    char text[32], *bytes[2] = { NULL };
    size_t size[2] = { 0 };
    options_of(&opt, (const char *const[]){ "steps", "5", "q1", "64", "width", "8", "tau", "1e-3", "convex-gap", "off",
                                            NULL });
    npmd_model *known = fit_of(pts, &opt);
    if (npmd_plan_make(dom, 200, &opt, &plan, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_int_equal(npmd_options_set(&opt, "steps", "9", NULL), NPMD_OK);
    npmd_domain_free(dom);
    assert_true(npmd_plan_number(plan, "steps") == 5.0 && npmd_plan_number(plan, "batch") == 200.0
                && npmd_plan_number(plan, "q2") == 128.0);
    assert_int_equal(npmd_plan_get(plan, "encoding", text, sizeof text), strlen("coordinates"));
    assert_string_equal(text, "coordinates");
    assert_int_equal(npmd_plan_get(plan, "no-such", text, sizeof text), 0);
    assert_true(isnan(npmd_plan_number(plan, "no-such")));
    assert_int_equal(npmd_plan_bytes(plan) + npmd_points_bytes(pts), known->facts.working_bytes);
    for (int k = 0; k < 2; k++) { /* as often as one likes */
        if (npmd_plan_fit(plan, pts, &m, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        m->facts.seconds = known->facts.seconds = 0.0;
        assert_int_equal(npmd_model_pack(m, &bytes[0], &size[0], NULL), NPMD_OK);
        assert_int_equal(npmd_model_pack(known, &bytes[1], &size[1], NULL), NPMD_OK);
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        npmd_text_free(bytes[0]);
        npmd_text_free(bytes[1]);
        npmd_model_free(m);
    }
    npmd_plan_free(plan);
    npmd_plan_free(NULL);
    npmd_model_free(known);
    npmd_points_free(pts);
}

static void plans_want_their_points(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("T2"), *other = domain_of("T3");
    npmd_points *pts = clusters(dom, 200, 0.5, 3), *few = clusters(dom, 100, 0.5, 3),
                *far = clusters(other, 200, 0.5, 3);
    npmd_options opt;
    npmd_plan *plan = NULL;
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    options_of(&opt, (const char *const[]){ "estimator", "uniform", NULL });
    assert_int_equal(npmd_plan_make(dom, 200, &opt, &plan, &err), NPMD_OK);
    assert_int_equal(npmd_plan_fit(plan, far, &m, &err), NPMD_ERR_SHAPE);
    assert_non_null(strstr(err.text, "S1^3"));
    assert_int_equal(npmd_plan_fit(plan, few, &m, &err), NPMD_ERR_SHAPE);
    assert_non_null(strstr(err.text, "100"));
    assert_null(m);
    npmd_plan_free(plan);
    plan = NULL;
    npmd_options_hold_out(&opt, far); /* of another domain */
    assert_int_equal(npmd_plan_make(dom, 200, &opt, &plan, &err), NPMD_ERR_SHAPE);
    npmd_options_hold_out(&opt, NULL);
    npmd_truth *t = NULL;
    assert_int_equal(npmd_truth_make("t4", 1, &t, NULL), NPMD_OK);
    npmd_options_truth(&opt, t);
    assert_int_equal(npmd_plan_make(dom, 200, &opt, &plan, &err), NPMD_ERR_SHAPE);
    assert_null(plan);
    npmd_truth_free(t);
    npmd_points_free(pts);
    npmd_points_free(few);
    npmd_points_free(far);
    npmd_domain_free(dom);
    npmd_domain_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_have_usual_sizes),
        cmocka_unit_test(given_fields_have_a_size),
        cmocka_unit_test(others_have_their_own),
        cmocka_unit_test(usual_values_know_others),
        cmocka_unit_test(usual_values_have_a_text),
        cmocka_unit_test(pilots_inherit),
        cmocka_unit_test(courses_inherit),
        cmocka_unit_test(members_inherit),
        cmocka_unit_test(parts_inherit),
        cmocka_unit_test(linear_fields_inherit),
        cmocka_unit_test(plans_pass_their_origin_on),
        cmocka_unit_test(plans_are_fits),
        cmocka_unit_test(plans_want_their_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
