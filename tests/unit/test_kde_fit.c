/* test_kde_fit.c - a fit of kernels as an operation: the same on any number of threads and after its file was loaded,
 * refused where the file is spoilt or the options make no sense, stopped when told to. */
#include "kernel_fits.h"

static const char *const WAYS[][5] = { { "bandwidth", "fixed", "kappa", "30", NULL },
                                       { "bandwidth", "fixed", "concentration-rule", "least-squares", NULL },
                                       { "bandwidth", "fixed", "concentration-rule", "likelihood", NULL },
                                       { "bandwidth", "fixed", "concentration-rule", "ise", NULL },
                                       { "bandwidth", "fixed", "concentration", "factor", NULL },
                                       { "bandwidth", "adaptive", "kappa", "30", NULL },
                                       { "bandwidth", "adaptive", "neighbours", "0", NULL },
                                       { "bandwidth", "mixture", "holdout", "0.25", NULL },
                                       { "bandwidth", "mixture", "concentration", "factor", NULL } };
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

/* One thread, two, seven; and the file: equal bytes all the way. */
static void threads_and_files_change_nothing(void **state)
{
    (void)state;
    enum { N = 350, M = 130 };
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_error err = { 0 };
    double *x = doubles(N * 4), f[3][M], g[M];
    char path[300];
    temporary_path(path, sizeof path);
    uneven_clusters(dom, N, 21, x);
    npmd_points *pts = points_of(dom, x, N), *at = points_of(dom, x + 4 * 200, M);
    for (int way = 0; way < WAY_COUNT; way++) {
        static const int THREADS[] = { 1, 2, 7 };
        for (int t = 0; t < 3; t++) {
            npmd_options opt;
            npmd_model *m = NULL, *again = NULL;
            char *one = NULL, *other = NULL;
            options_init(&opt);
            opt.set.estimator = FIT_KDE;
            opt.set.machine.threads = THREADS[t];
            for (int i = 0; WAYS[way][i] != NULL; i += 2)
                must(npmd_options_set(&opt, WAYS[way][i], WAYS[way][i + 1], &err), &err);
            must(npmd_fit(dom, pts, &opt, &m, &err), &err);
            const npmd_compute how = { .size = sizeof how, .threads = THREADS[t] };
            must(npmd_evaluate_at(m, at, NPMD_LOG_DENSITY, &how, f[t], &err), &err);
            assert_memory_equal(f[t], f[0], sizeof f[0]);
            must(npmd_save(m, path, &err), &err);
            must(npmd_load(path, &again, &err), &err);
            must(npmd_evaluate_at(again, at, NPMD_LOG_DENSITY, &how, g, &err), &err);
            assert_memory_equal(g, f[0], sizeof g);
            must(npmd_model_describe(m, &one, &err), &err);
            must(npmd_model_describe(again, &other, &err), &err);
            assert_string_equal(one, other);
            assert_non_null(strstr(one, "\"parts\""));
            npmd_text_free(one);
            npmd_text_free(other);
            npmd_model_free(m);
            npmd_model_free(again);
        }
    }
    unlink(path);
    npmd_points_free(pts);
    npmd_points_free(at);
    npmd_domain_free(dom);
    free(x);
}

/* Every tensor spoilt in turn: a sentence, never a model. */
static void spoilt_files_are_refused(void **state)
{
    (void)state;
    enum { N = 300 };
    static const double BAD[] = { NAN, INFINITY, -1.0, 1e30 };
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_error err = { 0 };
    double *x = doubles(N * 4);
    char path[300];
    int refused = 0;
    temporary_path(path, sizeof path);
    uneven_clusters(dom, N, 21, x);
    npmd_points *pts = points_of(dom, x, N);
    npmd_model *m = FIT(dom, pts, "bandwidth", "mixture"), *none = NULL;
    must(npmd_save(m, path, &err), &err);
    record rec = { 0 };
    must(record_read(path, &rec, &err), &err);
    for (size_t t = 0; t < rec.count; t++) {
        tensor *spoilt = &rec.tensors[t];
        if (spoilt->type != TENSOR_F64)
            continue;
        double *number = spoilt->data;
        for (size_t b = 0; b < sizeof BAD / sizeof *BAD; b++) {
            const double right = number[0];
            number[0] = BAD[b];
            must(record_write(path, &rec, &err), &err);
            if (npmd_load(path, &none, &err) != NPMD_ERR_FORMAT)
                fail_msg("%s with %g was taken", spoilt->name, BAD[b]);
            assert_null(none);
            number[0] = right;
            refused++;
        }
        const size_t rows = spoilt->shape[0];
        spoilt->shape[0] = rows > 1 ? rows - 1 : 0;
        must(record_write(path, &rec, &err), &err);
        assert_int_equal(npmd_load(path, &none, &err), NPMD_ERR_FORMAT);
        spoilt->shape[0] = rows;
    }
    assert_true(refused > 20);
    record_free(&rec);
    unlink(path);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

static int stop_now(const npmd_report *now, void *user)
{
    (void)now;
    return ++*(int *)user > 3;
}

static void a_fit_can_be_stopped_and_refused(void **state)
{
    (void)state;
    enum { N = 200 };
    static const char *const REFUSED[][4] = { { "kappa", "1,2,3", "bandwidth", "fixed" },
                                              { "kappa", "0,2", "bandwidth", "fixed" },
                                              { "kappa", "5", "bandwidth", "mixture" },
                                              { "neighbours", "200", "bandwidth", "adaptive" } };
    npmd_domain *dom = domain_of("S1^2");
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    double x[N * 2];
    npmd_options opt;
    uneven_clusters(dom, N, 1, x);
    npmd_points *pts = points_of(dom, x, N);
    for (int way = 1; way < WAY_COUNT; way++) {
        int calls = 0;
        options_init(&opt);
        opt.set.estimator = FIT_KDE;
        for (int i = 0; WAYS[way][i] != NULL; i += 2)
            must(npmd_options_set(&opt, WAYS[way][i], WAYS[way][i + 1], &err), &err);
        if (opt.set.kernels.kappa[0] > 0.0)
            continue; /* over at once */
        npmd_options_watch(&opt, stop_now, &calls);
        assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_STOPPED);
        assert_null(m);
        assert_int_equal(calls, 4);
        assert_non_null(strstr(err.text, "interrupted while"));
    }
    for (size_t k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++) {
        options_init(&opt);
        opt.set.estimator = FIT_KDE;
        for (int i = 0; i < 4; i += 2)
            must(npmd_options_set(&opt, REFUSED[k][i], REFUSED[k][i + 1], &err), &err);
        assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_ARGUMENT);
        assert_null(m);
    }
    npmd_points *four = points_of(dom, x, 4); /* fewer than there are folds */
    options_init(&opt);
    opt.set.estimator = FIT_KDE;
    opt.set.kernels.rule = RULE_ISE;
    assert_int_equal(npmd_fit(dom, four, &opt, &m, &err), NPMD_ERR_ARGUMENT);
    assert_null(m);
    npmd_points_free(four);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_files_change_nothing),
        cmocka_unit_test(spoilt_files_are_refused),
        cmocka_unit_test(a_fit_can_be_stopped_and_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
