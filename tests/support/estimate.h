/* estimate.h - data with two clusters on any domain, small fits of any estimator, and derivatives of a fitted v along
 * geodesics, for the tests. */
#ifndef NPMD_TEST_ESTIMATE_H
#define NPMD_TEST_ESTIMATE_H

#include "check.h"
#include "api.h"

#include <unistd.h>

static inline npmd_domain *domain_of(const char *text)
{
    npmd_domain *dom = NULL;
    npmd_error err = { 0 };
    if (npmd_domain_parse(text, &dom, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return dom;
}

/* Two clusters; spread 0: uniform points. x (n, columns). */
static inline void cluster_points(const npmd_domain *dom, size_t n, double spread, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < dom->factors; d++) {
            double *at = x + i * (size_t)dom->columns + dom->column[d], r = 0.0;
            if (dom->factor[d] == &CIRCLE) {
                at[0] = spread == 0.0 ? 2.0 * (double)CHECK_PI * test_uniform(&seed)
                                      : 3.0 + (i % 2 ? 1.0 : -1.0) + spread * test_normal(&seed);
                continue;
            }
            for (int j = 0; j < 3; j++) {
                at[j] = spread == 0.0 ? test_normal(&seed) : (j == (int)(i % 2)) + spread * test_normal(&seed);
                r += at[j] * at[j];
            }
            for (int j = 0; j < 3; j++)
                at[j] /= sqrt(r);
        }
}

static inline npmd_points *points_of(const npmd_domain *dom, const double *x, size_t n)
{
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    if (points_from(x, n, dom, &pts, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return pts;
}

static inline npmd_points *clusters(const npmd_domain *dom, size_t n, double spread, uint64_t seed)
{
    double *x = doubles(n * (size_t)dom->columns);
    cluster_points(dom, n, spread, seed, x);
    npmd_points *pts = points_of(dom, x, n);
    free(x);
    return pts;
}

/* Options from pairs of name and value, ending with NULL. */
static inline void options_of(npmd_options *opt, const char *const *pair)
{
    npmd_error err = { 0 };
    options_init(opt);
    for (; *pair != NULL; pair += 2)
        if (npmd_options_set(opt, pair[0], pair[1], &err) != NPMD_OK)
            fail_msg("%s", err.text);
}

/* The complete settings of a fit to n points on this domain; out may be the options' own. */
static inline npmd_status full_settings(const npmd_options *opt, const npmd_domain *dom, size_t n, settings *out,
                                        npmd_error *err)
{
    fit_plan plan;
    const npmd_status st = plan_make(estimators_all, &opt->set, NULL, dom, n, &plan, err);
    if (st == NPMD_OK)
        *out = plan.full;
    return st;
}

static inline npmd_model *fit_of(const npmd_points *pts, const npmd_options *opt)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    if (npmd_fit(pts->domain, pts, opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return m;
}

static inline void values_on(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, jet_rows rows,
                             double *out)
{
    npmd_error err = { 0 };
    if (model_evaluate(m, how, x, n, rows, out, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

static inline void values_of(const npmd_model *m, int threads, const double *x, size_t n, jet_rows rows, double *out)
{
    values_on(m, &(npmd_compute){ .threads = threads }, x, n, rows, out);
}

/* The point at distance h along direction t of factor d's frame. */
static inline void geodesic(const npmd_domain *dom, const double *x, int d, int t, double h, double *y)
{
    const manifold *m = dom->factor[d];
    double frame[MANIFOLD_MAX_DIMENSION * MANIFOLD_MAX_COLUMNS];
    memcpy(y, x, (size_t)dom->columns * sizeof *y);
    m->frame(m, x + dom->column[d], frame);
    double *at = y + dom->column[d];
    if (m == &CIRCLE)
        at[0] += h;
    else
        for (int j = 0; j < 3; j++)
            at[j] = cos(h) * at[j] + sin(h) * frame[3 * t + j];
}

/* The jet (dimension + 2) of v at x by fourth-order differences. */
static inline void jet_by_differences(const npmd_model *m, const npmd_compute *how, const double *x, double h,
                                      double *jet)
{
    enum { SIDES = 4 };
    static const double AT[SIDES] = { -2.0, -1.0, 1.0, 2.0 };
    const npmd_domain *dom = m->domain;
    const size_t columns = (size_t)dom->columns, count = 1 + SIDES * (size_t)dom->dimension;
    double *y = doubles(count * columns), *values = doubles(count), lap = 0.0;
    memcpy(y, x, columns * sizeof *y);
    for (int d = 0; d < dom->factors; d++)
        for (int t = 0; t < dom->factor[d]->dimension; t++)
            for (int k = 0; k < SIDES; k++)
                geodesic(dom, x, d, t, AT[k] * h, y + (size_t)(1 + SIDES * (dom->direction[d] + t) + k) * columns);
    values_on(m, how, y, count, JET_VALUE, values);
    jet[0] = values[0];
    for (int t = 0; t < dom->dimension; t++) {
        const double *v = values + 1 + SIDES * t;
        jet[1 + t] = (v[0] - 8.0 * v[1] + 8.0 * v[2] - v[3]) / (12.0 * h);
        lap += (-v[0] + 16.0 * v[1] - 30.0 * jet[0] + 16.0 * v[2] - v[3]) / (12.0 * h * h);
    }
    jet[dom->dimension + 1] = lap;
    free(y);
    free(values);
}

/* The model, saved and loaded; saved again it must give equal bytes. */
static inline npmd_model *saved_and_loaded(const npmd_model *m)
{
    char path[2][300];
    npmd_error err = { 0 };
    npmd_model *back = NULL;
    unsigned char *bytes[2];
    long size[2];
    for (int i = 0; i < 2; i++) {
        temporary_path(path[i], sizeof path[i]);
        if (npmd_save(i == 0 ? m : back, path[i], &err) != NPMD_OK
            || (i == 0 && npmd_load(path[i], &back, &err) != NPMD_OK))
            fail_msg("%s", err.text);
        FILE *f = fopen(path[i], "rb");
        assert_non_null(f);
        assert_int_equal(fseek(f, 0, SEEK_END), 0);
        size[i] = ftell(f);
        rewind(f);
        bytes[i] = malloc((size_t)size[i]);
        assert_non_null(bytes[i]);
        assert_int_equal(fread(bytes[i], 1, (size_t)size[i], f), (size_t)size[i]);
        fclose(f);
        unlink(path[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)size[0]);
    free(bytes[0]);
    free(bytes[1]);
    return back;
}

/* A file of the model in which this tensor is changed must not load; the message must contain `said`. */
static inline void refuses_tensor(const npmd_model *m, const char *name, void (*change)(tensor *t), const char *said)
{
    char path[300];
    npmd_error err = { 0 };
    npmd_model *back = NULL;
    record rec = { 0 };
    temporary_path(path, sizeof path);
    if (npmd_save(m, path, &err) != NPMD_OK || record_read(path, &rec, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < rec.count; i++)
        if (strcmp(rec.tensors[i].name, name) == 0)
            change(&rec.tensors[i]);
    if (record_write(path, &rec, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_int_equal(npmd_load(path, &back, &err), NPMD_ERR_FORMAT);
    assert_null(back);
    if (strstr(err.text, said) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, said);
    record_free(&rec);
    unlink(path);
}

static inline void tensor_not_finite(tensor *t)
{
    const double nan = NAN;
    memcpy(t->data, &nan, sizeof nan);
}

static inline void tensor_renamed(tensor *t)
{
    t->name[0] = '_';
}

/* A fit to clusters reaches an objective below most (the uniform density has 1), and its file gives the same values. */
static inline fit_facts check_fit(const char *domain, const char *const *pair, double share, double most)
{
    npmd_options opt;
    npmd_domain *dom = domain_of(domain);
    npmd_points *pts = clusters(dom, 500, share, 3);
    double a[500], b[500];
    options_of(&opt, pair);
    npmd_model *m = fit_of(pts, &opt), *back = saved_and_loaded(m);
    const fit_facts facts = m->facts;
    assert_true(facts.objective < most);
    values_of(m, 1, pts->x, pts->n, JET_VALUE, a);
    values_of(back, 2, pts->x, pts->n, JET_VALUE, b);
    assert_memory_equal(a, b, sizeof a);
    npmd_model_free(m);
    npmd_model_free(back);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    return facts;
}

/* A fit to uniform data: the mean |log relative density| at the points is below the bound. */
static inline void check_uniform_data(const char *const *pair, double bound)
{
    enum { N = 4000 };
    npmd_options opt;
    npmd_domain *dom = domain_of("S1^2");
    npmd_points *pts = clusters(dom, N, 0.0, 3);
    double v[N], mean = 0.0;
    options_of(&opt, pair);
    npmd_model *m = fit_of(pts, &opt);
    values_of(m, 1, pts->x, pts->n, JET_VALUE, v);
    for (size_t i = 0; i < pts->n; i++)
        mean += fabs(v[i] - m->facts.log_integral) / (double)pts->n;
    check_below("mean |log relative density| of uniform data", mean, bound);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* The same values after a fit on one, two and three threads. */
static inline void check_threads(const char *const *pair)
{
    npmd_options opt;
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_points *pts = clusters(dom, 700, 0.5, 3);
    double v[3][700];
    options_of(&opt, pair);
    opt.set.descent.batch = 333;
    opt.set.descent.steps = 5;
    for (int t = 0; t < 3; t++) {
        opt.set.machine.threads = t + 1;
        npmd_model *m = fit_of(pts, &opt);
        values_of(m, opt.set.machine.threads, pts->x, pts->n, JET_VALUE, v[t]);
        npmd_model_free(m);
    }
    assert_memory_equal(v[0], v[1], sizeof v[0]);
    assert_memory_equal(v[0], v[2], sizeof v[0]);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

#endif
