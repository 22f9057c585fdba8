/* test_options.c - the table of options, its presets, its JSON, and the sizes that a fit chooses. No figure
 * here is rounded: what is compared is equal, or differs by the decimal digits that are said. */
#include "api.h"
#include "trees.h"

#include <unistd.h>

static char *as_text(const npmd_options *opt)
{
    json_t *object = NULL;
    assert_int_equal(settings_to_json(&opt->set, &object, NULL), NPMD_OK);
    char *text = tree_print(object, 0);
    json_decref(object);
    return text;
}

/* Also threads, device and log_every, which are no part of the answer. */
static void assert_same(const npmd_options *a, const npmd_options *b)
{
    char *x = as_text(a), *y = as_text(b);
    assert_string_equal(x, y);
    assert_int_equal(a->set.machine.threads, b->set.machine.threads);
    assert_string_equal(a->set.machine.device, b->set.machine.device);
    assert_int_equal(a->watch.log_every, b->watch.log_every);
    free(x);
    free(y);
}

static void set(npmd_options *opt, const char *name, const char *value)
{
    npmd_error err = { 0 };
    if (npmd_options_set(opt, name, value, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

typedef struct row {
    const char *name, *values, *fallback, *help, *group;
} row;

static row row_at(int i)
{
    return (row){ npmd_option_text(i, NPMD_OPTION_NAME), npmd_option_text(i, NPMD_OPTION_VALUES),
                  npmd_option_text(i, NPMD_OPTION_FALLBACK), npmd_option_text(i, NPMD_OPTION_HELP),
                  npmd_option_text(i, NPMD_OPTION_GROUP) };
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void every_row_stands(void **state)
{
    (void)state;
    assert_true(option_count() > 30);
    assert_null(row_at(-1).name);
    assert_null(row_at(option_count()).name);
    for (int i = 0; i < option_count(); i++) {
        const row o = row_at(i);
        npmd_options fresh, opt;
        assert_non_null(o.name);
        assert_non_null(o.values);
        assert_non_null(o.fallback);
        assert_non_null(o.help);
        assert_non_null(o.group);
        assert_true(o.name[0] != '\0' && o.values[0] != '\0' && o.help[0] != '\0');
        for (int j = 0; j < i; j++)
            assert_string_not_equal(o.name, row_at(j).name);
        options_init(&fresh);
        options_init(&opt);
        set(&opt, o.name, o.fallback);
        assert_same(&opt, &fresh);
    }
    npmd_options *opt = npmd_options_new();
    npmd_options fresh;
    options_init(&fresh);
    assert_non_null(opt);
    assert_same(opt, &fresh);
    npmd_options_free(opt);
    npmd_options_free(NULL);
}

/* Each alternative of a choice is accepted, and each gives a value of its own. */
static void every_choice_is_accepted(void **state)
{
    (void)state;
    for (int i = 0; row_at(i).name != NULL; i++) {
        const row o = row_at(i);
        char list[128], *rest = list, *one, *seen[8] = { 0 };
        int count = 0;
        if (strchr(o.values, '|') == NULL || strpbrk(o.values, "NX") == o.values) /* a number, or a word */
            continue;
        snprintf(list, sizeof list, "%s", o.values);
        while ((one = strsep(&rest, "|")) != NULL) {
            npmd_options opt;
            options_init(&opt);
            set(&opt, o.name, one);
            assert_true(count < 8);
            seen[count] = as_text(&opt);
            for (int j = 0; j < count && strcmp(o.group, "Machine") != 0; j++) /* those are in no file */
                assert_string_not_equal(seen[j], seen[count]);
            count++;
        }
        for (int j = 0; j < count; j++)
            free(seen[j]);
    }
}

static void refuse(const char *name, const char *value)
{
    npmd_options opt, fresh;
    npmd_error err = { 0 };
    char wanted[64];
    options_init(&opt);
    options_init(&fresh);
    snprintf(wanted, sizeof wanted, "`%s`", name);
    if (npmd_options_set(&opt, name, value, &err) != NPMD_ERR_ARGUMENT)
        fail_msg("%s \"%s\" was accepted", name, value);
    assert_int_equal(err.status, NPMD_ERR_ARGUMENT);
    if (strstr(err.text, wanted) == NULL)
        fail_msg("\"%s\" does not name %s", err.text, wanted);
    assert_same(&opt, &fresh);
    assert_int_equal(npmd_options_set(&opt, name, value, NULL), NPMD_ERR_ARGUMENT);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    static const char *const WHOLE[] = { "", "abc", "1.5", "-5", "1e30", "12x", "nan", "inf", "1e400", "1 2" };
    static const char *const REAL[] = { "", "abc", "-2", "1e300", "nan", "inf", "-inf", "0.1.2" };
    static const char *const LIST[] = { "",    "3,",  ",3",
                                        "3,x", "1.5", "2000",
                                        "-1",  "3;4", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1" };
    static const char *const CHOICE[] = { "", "maybe", "0", "ON" };
    for (int i = 0; row_at(i).name != NULL; i++) {
        const row o = row_at(i);
        if (strcmp(o.values, "N") == 0 || strcmp(o.values, "N|n/K") == 0)
            for (size_t j = 0; j < sizeof WHOLE / sizeof *WHOLE; j++)
                refuse(o.name, WHOLE[j]);
        else if (o.values[0] == 'X')
            for (size_t j = 0; j < sizeof REAL / sizeof *REAL; j++)
                refuse(o.name, REAL[j]);
        else if (strcmp(o.values, "N,...") == 0)
            for (size_t j = 0; j < sizeof LIST / sizeof *LIST; j++)
                refuse(o.name, LIST[j]);
        else if (strcmp(o.values, "NAME") != 0 && strcmp(o.values, "FILE") != 0)
            for (size_t j = 0; j < sizeof CHOICE / sizeof *CHOICE; j++)
                refuse(o.name, CHOICE[j]);
    }
    refuse("preset", "nonsense");
    refuse("preset", "");
    refuse("device", "a name that is far longer than any device");
    refuse("seed", "18446744073709551616");
    refuse("none-such", "1");
    refuse("batch", "n/0");
    refuse("batch", "n/");
    refuse("batch", "n/-2");
    refuse("batch", "n/2000000");
    refuse("batch", "n");
    npmd_options opt;
    options_init(&opt);
    set(&opt, "seed", "18446744073709551615");
    assert_true(opt.set.seed == UINT64_MAX);
    set(&opt, "max-frequency", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
    assert_int_equal(opt.set.encoding.max_frequencies, 16);
    assert_int_equal(opt.set.encoding.max_frequency[15], 16);
    set(&opt, "steps", "2e3"); /* whole, in any spelling */
    assert_int_equal(opt.set.descent.steps, 2000);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static npmd_domain *domain(const char *text)
{
    npmd_domain *dom = NULL;
    npmd_error err = { 0 };
    if (npmd_domain_parse(text, &dom, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return dom;
}

/* The same with every size that a fit to n points there has. */
static npmd_options resolved(const npmd_options *opt, const char *where, size_t n)
{
    npmd_domain *dom = domain(where);
    npmd_options out = *opt;
    fit_plan plan;
    npmd_error err = { 0 };
    if (plan_make(estimators_all, &opt->set, NULL, dom, n, &plan, &err) != NPMD_OK)
        fail_msg("%s: %s", where, err.text);
    assert_true(plan.bytes > 0);
    out.set = plan.full;
    npmd_domain_free(dom);
    return out;
}

static npmd_options preset(const char *name, const char *where, size_t n)
{
    npmd_options opt;
    options_init(&opt);
    set(&opt, "preset", name);
    assert_string_equal(opt.set.preset, name);
    return resolved(&opt, where, n);
}

/* What the three presets share: omega 10, the authors' start, uniform draws, no skip, uniform integration
 * points, Adam without guard or warm-up. */
static void assert_paper(const npmd_options *o)
{
    assert_true(o->set.network.omega == 10.0);
    assert_int_equal(o->set.network.start, 1);
    assert_int_equal(o->set.encoding.law, LAW_UNIFORM);
    assert_int_equal(o->set.network.skip, 0);
    assert_int_equal(o->set.descent.integral, INTEGRAL_UNIFORM);
    assert_int_equal(o->set.descent.optimiser, OPTIMISER_ADAM);
    assert_int_equal(o->set.descent.warmup, 0);
    assert_true(o->set.descent.clip == 0.0);
    assert_int_equal(o->set.penalty, PENALTY_LAPLACIAN);
}

static void presets_are_the_papers(void **state)
{
    (void)state;
    const npmd_options a = preset("paper-t2", "T2", 9000);
    assert_paper(&a);
    assert_int_equal(a.set.encoding.separable, 1);
    assert_int_equal(a.set.encoding.features, 128);
    assert_int_equal(a.set.encoding.max_frequency[0], 10);
    assert_int_equal(a.set.encoding.max_frequency[1], 10);
    assert_int_equal(a.set.encoding.constant, 1);
    assert_int_equal(a.set.encoding.scale, SCALE_ORTHONORMAL);
    assert_int_equal(a.set.network.width, 128);
    assert_int_equal(a.set.network.depth, 3);
    assert_int_equal(a.set.descent.batch, 9000);
    assert_int_equal(a.set.descent.q1, 1024);
    assert_int_equal(a.set.descent.q2, 1024);
    assert_int_equal(a.set.descent.sequence, SEQUENCE_SOBOL);
    assert_int_equal(a.set.descent.schedule, SCHEDULE_FIXED);
    assert_true(a.set.descent.rate == 1e-4);
    assert_int_equal(a.set.descent.steps, 10000);

    const npmd_options b = preset("paper-t4", "T4", 95000);
    assert_paper(&b);
    assert_int_equal(b.set.encoding.separable, 0);
    assert_int_equal(b.set.encoding.signs, 0);
    assert_int_equal(b.set.encoding.features, 256); /* 128 vectors, cosine and sine */
    for (int d = 0; d < 4; d++)
        assert_int_equal(b.set.encoding.max_frequency[d], 20);
    assert_int_equal(b.set.encoding.scale, SCALE_NONE);
    assert_int_equal(b.set.network.width, 128);
    assert_int_equal(b.set.network.depth, 4);
    assert_int_equal(b.set.descent.batch, 47500);
    assert_int_equal(b.set.descent.q1, 65536);
    assert_int_equal(b.set.descent.q2, 16384);
    assert_int_equal(b.set.descent.sequence, SEQUENCE_SOBOL);
    assert_int_equal(b.set.descent.schedule, SCHEDULE_TRIANGULAR2);
    assert_true(b.set.descent.rate == 1e-3 && b.set.descent.rate_min == 1e-5);
    assert_int_equal(b.set.descent.cycle, 5000);
    assert_int_equal(b.set.descent.steps, 20000);

    const npmd_options c = preset("paper-s2s2", "S2 x S2", 230822);
    assert_paper(&c);
    assert_int_equal(c.set.encoding.separable, 1);
    assert_int_equal(c.set.encoding.features, 256);
    assert_int_equal(c.set.encoding.max_frequency[0], 10);
    assert_int_equal(c.set.encoding.max_frequency[1], 10);
    assert_int_equal(c.set.encoding.constant, 1);
    assert_int_equal(c.set.encoding.scale, SCALE_ORTHONORMAL);
    assert_int_equal(c.set.network.width, 256);
    assert_int_equal(c.set.network.depth, 6);
    assert_int_equal(c.set.descent.batch, 115411);
    assert_int_equal(c.set.descent.q1, 100000);
    assert_int_equal(c.set.descent.q2, 10000);
    assert_int_equal(c.set.descent.sequence, SEQUENCE_INDEPENDENT);
    assert_int_equal(c.set.descent.schedule, SCHEDULE_TRIANGULAR2);
    assert_true(c.set.descent.rate == 1e-3 && c.set.descent.rate_min == 1e-5);
    assert_int_equal(c.set.descent.cycle, 2000);
    assert_int_equal(c.set.descent.steps, 20000);
    /* lambda_2 = 1e-4 given: tau = 1e-4 (4 pi)^2 / batch = 1.368e-7, written with two digits */
    const double tau = 1e-4 * 16.0 * (double)(CHECK_PI * CHECK_PI) / 115411.0;
    check_below("paper-s2s2: tau, relative to lambda_2 (4 pi)^2 / batch", fabs(c.set.tau - tau) / tau, 0.05 / 1.4);
}

static void open_sizes_are_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *where;
        double tau, decay;
        int separable;
        int features;
    } CASE[] = { { "S1", 5e-5, 1.5, 1, 2 },      { "T2", 5e-5, 2.0, 1, 4 },      { "S2", 5e-5, 2.0, 1, 3 },
                 { "T3", 1e-4, 2.5, 0, 6 },      { "S2 x S1", 1e-4, 2.5, 1, 5 }, { "T4", 1e-4, 3.0, 0, 8 },
                 { "S2 x S2", 1e-4, 3.0, 1, 6 }, { "T7", 1e-4, 4.5, 0, 14 } }; /* two an angle, three a sphere */
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        npmd_options opt;
        options_init(&opt);
        const npmd_options o = resolved(&opt, CASE[i].where, 1000);
        assert_true(o.set.tau == CASE[i].tau);
        assert_true(o.set.encoding.decay == CASE[i].decay);
        assert_int_equal(o.set.encoding.separable, CASE[i].separable);
        assert_int_equal(o.set.encoding.from, FEATURES_COORDINATES);
        assert_int_equal(o.set.encoding.features, CASE[i].features);
        assert_true(o.set.encoding.features > 0 && o.set.network.depth > 0 && o.set.descent.q1 > 0
                    && o.set.descent.q2 > 0 && watch_log_every(&o.watch, &o.set) > 0);
        assert_int_equal(o.set.descent.batch, 1000);
        assert_int_not_equal(o.set.descent.integral, INTEGRAL_AUTO);
        const npmd_options again = resolved(&o, CASE[i].where, 1000); /* nothing is left to choose */
        assert_same(&again, &o);
        set(&opt, "tau", "0.25"); /* what was given stays */
        set(&opt, "spectrum-decay", "1.25");
        const npmd_options given = resolved(&opt, CASE[i].where, 1000);
        assert_true(given.set.tau == 0.25 && given.set.encoding.decay == 1.25);
        assert_int_equal(given.set.encoding.from, FEATURES_DRAWN); /* a law was asked for */
    }
    npmd_options opt;
    options_init(&opt);
    set(&opt, "batch", "300");
    set(&opt, "epochs", "7");
    assert_int_equal(resolved(&opt, "T2", 1000).set.descent.steps, 21); /* floor(1000 / 300) = 3 a pass */
    assert_int_equal(resolved(&opt, "T2", 100).set.descent.batch, 100);
    assert_int_equal(resolved(&opt, "T2", 100).set.descent.steps, 7);
    set(&opt, "depth", "1");
    assert_int_equal(resolved(&opt, "T2", 100).set.network.skip, 0);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *where, *name, *value;
        npmd_status expected;
    } CASE[] = { { "T2", "max-frequency", "3,4,5", NPMD_ERR_ARGUMENT },
                 { "S2", "max-frequency", "1000", NPMD_ERR_ARGUMENT },
                 { "T2", "device", "abacus", NPMD_ERR_ARGUMENT },
                 { "T2", "device", "cuda:99", NPMD_ERR_DEVICE } };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        npmd_domain *dom = domain(CASE[i].where);
        npmd_options opt;
        npmd_plan *plan = NULL;
        npmd_error err = { 0 };
        char wanted[64];
        options_init(&opt);
        set(&opt, CASE[i].name, CASE[i].value);
        assert_int_equal(npmd_plan_make(dom, 100, &opt, &plan, &err), CASE[i].expected);
        snprintf(wanted, sizeof wanted, "`%s`", CASE[i].name);
        assert_non_null(strstr(err.text, wanted));
        assert_null(plan); /* outputs are written only on success */
        npmd_domain_free(dom);
    }
}

/* The ridge law needs its eps, and leaves rotations alone. */
static void the_ridge_law_is_resolved(void **state)
{
    (void)state;
    static const char *const WHERE[] = { "S1", "T2", "T4", "T7", "S2 x S1" };
    npmd_options opt;
    npmd_plan *plan = NULL;
    npmd_error err = { 0 };
    options_init(&opt);
    assert_true(resolved(&opt, "T2", 100).set.encoding.ridge == 0.0); /* another law */
    set(&opt, "spectrum-law", "ridge");
    for (size_t i = 0; i < sizeof WHERE / sizeof *WHERE; i++) {
        const npmd_options o = resolved(&opt, WHERE[i], 1000);
        assert_true(o.set.encoding.ridge > 0.0 && o.set.encoding.ridge < 1.0);
        const npmd_options again = resolved(&o, WHERE[i], 1000);
        assert_same(&again, &o);
        set(&opt, "spectrum-ridge", "0.25");
        assert_true(resolved(&opt, WHERE[i], 1000).set.encoding.ridge == 0.25);
        set(&opt, "spectrum-ridge", "0");
    }
    set(&opt, "separable", "off");
    assert_true(resolved(&opt, "T2", 100).set.encoding.ridge > 0.0); /* plane waves */
    npmd_domain *dom = domain("S2 x S1");
    assert_int_equal(npmd_plan_make(dom, 100, &opt, &plan, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "`spectrum-law` ridge"));
    assert_non_null(strstr(err.text, "`separable` off"));
    assert_null(plan);
    set(&opt, "spectrum-law", "power");
    assert_int_equal(npmd_plan_make(dom, 100, &opt, &plan, &err), NPMD_OK);
    assert_true(npmd_plan_number(plan, "separable") == 0.0);
    npmd_plan_free(plan);
    npmd_domain_free(dom);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static npmd_status read_text(const char *text, npmd_options *opt, char path[64], npmd_error *err)
{
    snprintf(path, 64, "%s/npmd_options_XXXXXX", P_tmpdir);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    const npmd_status st = npmd_options_read(opt, path, err);
    unlink(path);
    return st;
}

static void a_file_sets_options(void **state)
{
    (void)state;
    npmd_options opt, expected;
    npmd_error err = { 0 };
    char path[64];
    options_init(&opt);
    options_init(&expected);
    if (read_text("{ \"steps\": 5000, \"tau\": 5e-5, \"max-frequency\": [3, 4], \"skip\": false, \"constant\": true,\n"
                  "  \"schedule\": \"fixed\", \"seed\": \"18446744073709551615\", \"q1\": 2e3, \"rate\": 1,\n"
                  "  \"features\": \"17\", \"device\": \"reference\" }",
                  &opt, path, &err)
        != NPMD_OK)
        fail_msg("%s", err.text);
    set(&expected, "steps", "5000");
    set(&expected, "tau", "5e-5");
    set(&expected, "max-frequency", "3,4");
    set(&expected, "skip", "off");
    set(&expected, "constant", "on");
    set(&expected, "schedule", "fixed");
    set(&expected, "seed", "18446744073709551615");
    set(&expected, "q1", "2000");
    set(&expected, "rate", "1");
    set(&expected, "features", "17");
    set(&expected, "device", "reference");
    assert_same(&opt, &expected);

    /* a preset goes first, wherever it stands */
    options_init(&opt);
    options_init(&expected);
    assert_int_equal(
        read_text("{ \"features\": 7, \"rate\": 0.5, \"preset\": \"paper-t2\", \"width\": 9 }", &opt, path, &err),
        NPMD_OK);
    set(&expected, "preset", "paper-t2");
    set(&expected, "features", "7");
    set(&expected, "rate", "0.5");
    set(&expected, "width", "9");
    assert_same(&opt, &expected);

    options_init(&expected);
    options_init(&opt);
    assert_int_equal(read_text("{}", &opt, path, &err), NPMD_OK);
    assert_same(&opt, &expected);
}

/* Options survive JSON: every field that shapes the answer, with all digits. */
static void options_survive_json(void **state)
{
    (void)state;
    static const char *const PRESET[] = { "default", "quick", "paper-t2", "paper-s2s2" };
    for (size_t i = 0; i < sizeof PRESET / sizeof *PRESET; i++) {
        npmd_options a, b;
        json_t *object = NULL;
        options_init(&a);
        options_init(&b);
        set(&a, "preset", PRESET[i]);
        set(&a, "tau", "1.2345678901234567e-5");
        set(&a, "seed", "18446744073709551557");
        assert_int_equal(settings_to_json(&a.set, &object, NULL), NPMD_OK);
        char *text = tree_print(object, 0);
        json_decref(object);
        object = tree_read(text, strlen(text));
        assert_int_equal(options_from_json(&b, object, "here", NULL), NPMD_OK);
        assert_same(&a, &b);
        json_decref(object);
        free(text);
    }
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } CASE[] = { { "{ \"steps\": 10, \"none-such\": 1 }", "none-such" },
                 { "{ \"steps\": 10, \"steps\": 20 }", "duplicate" },
                 { "{ \"steps\": 10,\n  \"tau\" 1 }", "line 2" },
                 { "{ \"steps\": 10", "line 1" },
                 { "", "line 1" },
                 { "[1, 2]", "object" },
                 { "3", "" },
                 { "{ \"steps\": true }", "`steps`" },
                 { "{ \"steps\": 1.5 }", "`steps`" },
                 { "{ \"steps\": -1 }", "`steps`" },
                 { "{ \"steps\": null }", "steps" },
                 { "{ \"steps\": {} }", "steps" },
                 { "{ \"skip\": \"maybe\" }", "`skip`" },
                 { "{ \"max-frequency\": [] }", "max-frequency" },
                 { "{ \"max-frequency\": [1, \"2\"] }", "max-frequency" },
                 { "{ \"max-frequency\": [1, 1.5] }", "max-frequency" },
                 { "{ \"max-frequency\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] }", "max-frequency" },
                 { "{ \"preset\": \"worst\", \"steps\": 3 }", "`preset`" },
                 { "{ \"steps\": 10 } trailing", "line 1" } };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        npmd_options opt, fresh;
        npmd_error err = { 0 };
        char path[64];
        options_init(&opt);
        options_init(&fresh);
        if (read_text(CASE[i].text, &opt, path, &err) != NPMD_ERR_FORMAT)
            fail_msg("%s was accepted", CASE[i].text);
        if (strstr(err.text, path) == NULL || strstr(err.text, CASE[i].says) == NULL)
            fail_msg("%s: \"%s\" does not say %s and \"%s\"", CASE[i].text, err.text, path, CASE[i].says);
        assert_same(&opt, &fresh);
    }
    npmd_options opt;
    npmd_error err = { 0 };
    options_init(&opt);
    assert_int_equal(npmd_options_read(&opt, "no/such/file.json", &err), NPMD_ERR_FILE);
    assert_non_null(strstr(err.text, "no/such/file.json"));
}

/* A host program may have set a locale with a decimal comma; options do not follow it. */
static void a_locale_changes_nothing(void **state)
{
    (void)state;
    npmd_options opt;
    npmd_error err = { 0 };
    options_init(&opt);
    if (!comma_locale())
        skip(); /* none is installed here */
    const npmd_status point = npmd_options_set(&opt, "rate", "0.5", &err),
                      comma = npmd_options_set(&opt, "rate", "0,25", NULL);
    char path[64];
    const npmd_status file = read_text("{\"tau\": 0.125}", &opt, path, &err);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(file, NPMD_OK);
    assert_true(opt.set.tau == 0.125);
    assert_int_equal(point, NPMD_OK);
    assert_int_equal(comma, NPMD_ERR_ARGUMENT);
    assert_true(opt.set.descent.rate == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_stands),          cmocka_unit_test(every_choice_is_accepted),
        cmocka_unit_test(bad_values_are_refused),    cmocka_unit_test(presets_are_the_papers),
        cmocka_unit_test(open_sizes_are_chosen),     cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(the_ridge_law_is_resolved), cmocka_unit_test(a_file_sets_options),
        cmocka_unit_test(options_survive_json),      cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(a_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
