/* test_psnf.c - squared families: the closed-form integral against quadrature, the adjoint and the jet against
 * differences, what a fit promises. */
#include "estimate.h"

#include <stdbool.h>

static const char *const DOMAINS[] = { "S1^2", "S1^4", "S2", "S2 x S1" };
enum { DOMAIN_COUNT = 4 };

/* ---- the mean of an exponential over a sphere -------------------------------------------------------------------- */

/* Circle: trapezoidal rule of 512 nodes, exact to rounding for r <= 100, whose Fourier coefficients I_512(r) / I_0(r)
 * vanish. Sphere: sinh r / r. */
static void mean_over_spheres(void **state)
{
    (void)state;
    double worst = 0.0, slopes = 0.0;
    for (double r = 0.0; r <= 100.0; r += r < 1.0 ? 0.05 : r > 19.0 && r < 21.0 ? 0.1 : 1.0) {
        double sum = 0.0, slope[2], h = 1e-4, unused;
        for (int i = 0; i < 512; i++)
            sum += exp(r * (cos(2.0 * (double)CHECK_PI * i / 512.0) - 1.0)) / 512.0;
        const double circle = log(sum) + r, sphere = r == 0.0 ? 0.0 : r + log(-expm1(-2.0 * r) / (2.0 * r));
        /* a sum of n terms is exact to n u at worst, u = 1.1e-16; the logarithm is taken of it */
        worst = fmax(worst, fabs(sphere_log_mean(2, r, &slope[0]) - circle) / (1.0 + r));
        worst = fmax(worst, fabs(sphere_log_mean(3, r, &slope[1]) - sphere) / (1.0 + r));
        for (int e = 2; e <= 3; e++) {
            const double by_difference = (sphere_log_mean(e, r + h, &unused) - sphere_log_mean(e, fabs(r - h), &unused))
                                         / (2.0 * h);
            slopes = fmax(slopes, fabs(r * slope[e - 2] - by_difference));
        }
        if (r == 0.0)
            check_below("slope at 0, times the embedding, minus 1",
                        fabs(2.0 * slope[0] - 1.0) + fabs(3.0 * slope[1] - 1.0), 1e-15);
    }
    check_below("log mean over circle and sphere, relative", worst, 512 * 1.2e-16);
    /* rounding: 100 u / h = 1e-10; truncation: h^2 / 6 times a third derivative below 1 */
    check_below("its slope against differences", slopes, 2e-8);
}

/* ---- a family by hand -------------------------------------------------------------------------------------------- */

typedef struct hand {
    npmd_domain *domain;
    npmd_model model;
    psnf family;
    psnf_work *work;
} hand;

static void hand_open(const char *domain, int width, double size, uint64_t seed, hand *f)
{
    npmd_error err = { 0 };
    memset(f, 0, sizeof *f);
    f->domain = domain_of(domain);
    f->family = (psnf){ .width = width, .embedding = domain_embedding(f->domain) };
    f->family.theta = doubles(psnf_parameters(&f->family));
    f->family.bias = doubles((size_t)width);
    const size_t inner = (size_t)(width * f->family.embedding);
    for (size_t i = 0; i < psnf_parameters(&f->family); i++)
        f->family.theta[i] = (i < inner ? size : 1.0 / width) * test_normal(&seed);
    for (int i = 0; i < width; i++)
        f->family.bias[i] = 0.3 * test_normal(&seed);
    f->model = (npmd_model){ .kind = &ESTIMATOR_PSNF, .state = &f->family, .domain = f->domain };
    if (psnf_work_open(f->domain, &f->family, 1, &f->work, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

static void hand_close(hand *f)
{
    psnf_work_close(f->work);
    free(f->family.theta);
    free(f->family.bias);
    npmd_domain_free(f->domain);
}

/* log of the mean of exp v by the product of the factors' rules. */
static double log_mean_by_rules(const npmd_model *m, size_t resolution)
{
    const npmd_domain *dom = m->domain;
    double *node[NPMD_MAX_FACTORS], *weight[NPMD_MAX_FACTORS], sum = 0.0;
    size_t count[NPMD_MAX_FACTORS], total = 1;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *f = dom->factor[d];
        total *= count[d] = f->rule_nodes(f, resolution);
        node[d] = doubles(count[d] * (size_t)f->columns);
        weight[d] = doubles(count[d]);
        f->rule(f, resolution, node[d], weight[d], NULL);
    }
    double *x = doubles(total * (size_t)dom->columns), *w = doubles(total), *v = doubles(total);
    for (size_t i = 0; i < total; i++) {
        w[i] = 1.0;
        for (size_t d = 0, rest = i; d < (size_t)dom->factors; rest /= count[d++]) {
            const size_t at = rest % count[d], columns = (size_t)dom->factor[d]->columns;
            memcpy(x + i * (size_t)dom->columns + dom->column[d], node[d] + at * columns, columns * sizeof *x);
            w[i] *= weight[d][at];
        }
    }
    values_of(m, 1, x, total, JET_VALUE, v);
    for (size_t i = 0; i < total; i++)
        sum += w[i] * exp(v[i] - v[0]);
    const double result = v[0] + log(sum);
    for (int d = 0; d < dom->factors; d++) {
        free(node[d]);
        free(weight[d]);
    }
    free(x);
    free(w);
    free(v);
    return result;
}

/* A circle's rule of N nodes errs by 2 I_N(r) / I_0(r), r = |w_i + w_j| in a factor: on T4 r stays below 4, and the
 * error below 1e-11; elsewhere rounding is all. */
static void integral_in_closed_form(void **state)
{
    (void)state;
    static const size_t RESOLUTION[DOMAIN_COUNT] = { 96, 18, 64, 48 };
    static const double SIZE[DOMAIN_COUNT] = { 1.5, 0.35, 1.5, 1.0 };
    for (int i = 0; i < DOMAIN_COUNT; i++) {
        hand f;
        char text[64];
        hand_open(DOMAINS[i], 7, SIZE[i], 3, &f);
        snprintf(text, sizeof text, "log integral on %s against quadrature", DOMAINS[i]);
        check_below(text, fabs(psnf_log_integral(f.work, &f.family) - log_mean_by_rules(&f.model, RESOLUTION[i])),
                    1e-10);
        hand_close(&f);
    }
}

/* Weights of length 400: exp(800) is beyond doubles, its logarithm is not. Where one unit rules, the density is a
 * kernel exp(2 w . e), whose log integral is known. */
static void nothing_overflows(void **state)
{
    (void)state;
    hand f;
    double v, jet[3], slope, x = 0.0;
    hand_open("S1", 1, 0.0, 3, &f);
    f.family.theta[0] = 400.0;
    f.family.theta[2] = 1.0;
    f.family.bias[0] = 0.0;
    const double found = psnf_log_integral(f.work, &f.family);
    check_below("log integral of exp(800 cos x)", fabs(found / sphere_log_mean(2, 800.0, &slope) - 1.0), 1e-14);
    values_of(&f.model, 1, &x, 1, JET_VALUE, &v);
    assert_true(fabs(v - 800.0) < 1e-10);
    x = (double)CHECK_PI; /* only v0 is left there */
    values_of(&f.model, 1, &x, 1, JET_ALL, jet);
    assert_true(fabs(jet[0] - log(f.family.theta[3] * f.family.theta[3])) < 1e-12);
    assert_true(isfinite(jet[1]) && isfinite(jet[2]));
    hand_close(&f);
}

/* ---- adjoint and jet --------------------------------------------------------------------------------------------- */

/* More points than a tile holds, unevenly weighted. */
static void gradient_by_differences(void **state)
{
    (void)state;
    enum { N = 70 };
    for (int i = 0; i < DOMAIN_COUNT; i++) {
        hand f;
        char text[64];
        uint64_t seed = 21;
        point_source data;
        hand_open(DOMAINS[i], 5, 0.7, 8, &f);
        const size_t parameters = psnf_parameters(&f.family);
        double *x = doubles(N * (size_t)f.domain->columns), weight[N], *gradient = doubles(parameters),
               *unused = doubles(parameters), *by_difference = doubles(parameters), value[2];
        cluster_points(f.domain, N, 0.6, 5, x);
        for (int k = 0; k < N; k++)
            weight[k] = 2.0 * test_uniform(&seed) / N;
        source_fixed(&data, f.domain, x, weight, N);
        psnf_terms(f.work, &f.family, &data, gradient, &value[0], &value[1]);
        for (size_t p = 0; p < parameters; p++) {
            const double here = f.family.theta[p], h = 1e-5;
            double side[2];
            for (int k = 0; k < 2; k++) {
                f.family.theta[p] = here + (k == 0 ? -h : h);
                psnf_terms(f.work, &f.family, &data, unused, &value[0], &value[1]);
                side[k] = value[0] + value[1];
            }
            f.family.theta[p] = here;
            by_difference[p] = (side[1] - side[0]) / (2.0 * h);
        }
        snprintf(text, sizeof text, "gradient on %s against central differences", DOMAINS[i]);
        /* rounding u / h = 1e-11, truncation h^2 = 1e-10, both times derivatives of order 10 */
        check_below(text, relative_norm(gradient, by_difference, parameters), 1e-8);
        free(x);
        free(gradient);
        free(unused);
        free(by_difference);
        hand_close(&f);
    }
}

static void jets_by_differences(void **state)
{
    (void)state;
    enum { N = 40 }; /* more than a tile */
    for (int i = 0; i < DOMAIN_COUNT; i++) {
        hand f;
        char text[64];
        hand_open(DOMAINS[i], 6, 0.8, 4, &f);
        const size_t rows = (size_t)f.domain->dimension + 2, columns = (size_t)f.domain->columns;
        double *x = doubles(N * columns), *jet = doubles(N * rows), *v = doubles(N), *expected = doubles(rows);
        double worst = 0.0;
        cluster_points(f.domain, N, 0.0, 6, x);
        values_of(&f.model, 1, x, N, JET_ALL, jet);
        values_of(&f.model, 1, x, N, JET_VALUE, v);
        for (size_t k = 0; k < N; k++) {
            jet_by_differences(&f.model, NULL, x + k * columns, 2e-3, expected);
            check_quiet("values of jets", fabs(jet[k * rows] - v[k]), 1e-14 * (1.0 + fabs(v[k])));
            for (size_t r = 1; r < rows; r++)
                worst = fmax(worst, fabs(jet[k * rows + r] - expected[r]) / (1.0 + fabs(expected[r])));
        }
        snprintf(text, sizeof text, "jets on %s against differences", DOMAINS[i]);
        /* rounding 64 u / (12 h^2) = 2e-10 a direction; truncation h^4 / 90 = 2e-13 times a sixth derivative */
        check_below(text, worst, 1e-8);
        free(x);
        free(jet);
        free(v);
        free(expected);
        hand_close(&f);
    }
}

/* ---- fits -------------------------------------------------------------------------------------------------------- */

static const char *const SMALL[] = { "estimator", "psnf", "width",   "24", "steps", "60",
                                     "seed",      "5",    "threads", "1",  NULL };

/* 181 units on T2 and 257 on T4 have the published numbers of parameters, 222 on T4 the one that FINDINGS corrects. */
static void published_parameter_counts(void **state)
{
    (void)state;
    assert_int_equal(psnf_parameters(&(psnf){ .width = 181, .embedding = 4 }), 33486);
    assert_int_equal(psnf_parameters(&(psnf){ .width = 257, .embedding = 8 }), 68106);
    assert_int_equal(psnf_parameters(&(psnf){ .width = 222, .embedding = 8 }), 51061);
}

static void fits_on_every_domain(void **state)
{
    (void)state;
    for (int i = 0; i < DOMAIN_COUNT; i++) {
        const fit_facts facts = check_fit(DOMAINS[i], SMALL, 0.5, 0.7);
        assert_true(facts.log_integral_se == 0.0 && facts.tau == 0.0 && facts.steps == 60);
    }
}

static void uniform_data(void **state)
{
    (void)state;
    /* a family of 24 units spends well below 24 x 25 / 2 = 300 degrees of freedom: sqrt(300 / 4000) */
    check_uniform_data(SMALL, 0.27);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    check_threads(SMALL);
}

/* A weight of 3 is a point that stands there three times. */
static void weights_are_repeated_points(void **state)
{
    (void)state;
    enum { N = 120 };
    npmd_options opt;
    npmd_error err = { 0 };
    npmd_domain *dom = domain_of("S1^2");
    double x[2 * N], repeated[6 * N], weight[N], v[2][N], worst = 0.0;
    size_t total = 0;
    char path[300], named[310];
    cluster_points(dom, N, 0.5, 3, x);
    for (size_t i = 0; i < N; i++) {
        weight[i] = (double)(i % 4);
        for (size_t k = 0; k < i % 4; k++, total++)
            memcpy(repeated + 2 * total, x + 2 * i, 2 * sizeof *x);
    }
    npmd_points *weighted = points_of(dom, x, N), *all = points_of(dom, repeated, total);
    temporary_path(path, sizeof path);
    snprintf(named, sizeof named, "%s.npy", path);
    if (npmd_array_write(named, weight, N, 1, &err) != NPMD_OK || npmd_points_weigh(weighted, named, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    unlink(path);
    unlink(named);
    options_of(&opt, SMALL);
    npmd_options_set(&opt, "start", "authors", NULL); /* which does not look at the points */
    for (int i = 0; i < 2; i++) {
        npmd_model *m = fit_of(i == 0 ? weighted : all, &opt);
        values_of(m, 1, x, N, JET_VALUE, v[i]);
        npmd_model_free(m);
    }
    for (size_t i = 0; i < N; i++)
        worst = fmax(worst, fabs(v[0][i] - v[1][i]));
    /* sums in another order: 60 steps of 1e-3 at most each move by 1e-10 of that where a gradient nearly vanishes */
    check_below("weights against repeated points", worst, 1e-6);
    npmd_points_free(weighted);
    npmd_points_free(all);
    npmd_domain_free(dom);
}

typedef struct seen {
    int64_t steps, stop_at;
} seen;

static int watch(const npmd_report *now, void *user)
{
    seen *s = user;
    assert_true(now->step == s->steps + 1 && now->steps == 60 && now->attempt == 1);
    assert_true(fabs(now->objective - now->data - now->integral) < 1e-12);
    assert_true(now->rate > 0.0 && now->integral > 0.0);
    s->steps = now->step;
    return now->step == s->stop_at;
}

static void stops_when_asked(void **state)
{
    (void)state;
    npmd_options opt;
    npmd_domain *dom = domain_of("S1^2");
    npmd_points *pts = clusters(dom, 200, 0.5, 3);
    seen s = { .stop_at = 7 };
    options_of(&opt, SMALL);
    opt.watch.log_every = 1;
    npmd_options_watch(&opt, watch, &s);
    npmd_model *m = fit_of(pts, &opt);
    assert_true(m->facts.interrupted && m->facts.steps == 7 && s.steps == 7);
    assert_int_equal(m->warnings, 1);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    npmd_options opt;
    npmd_domain *dom = domain_of("S1^2");
    npmd_points *pts = clusters(dom, 200, 0.5, 3);
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    options_of(&opt, SMALL);
    opt.set.descent.rate = 1e4;
    opt.set.descent.warmup = 0;
    assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_NUMERIC);
    assert_null(m);
    assert_non_null(strstr(err.text, "at step"));
    options_of(&opt, SMALL);
    opt.set.descent.steps = 2;
    m = fit_of(pts, &opt);
    refuses_tensor(m, "V", tensor_not_finite, "tensor V holds a number that is not finite");
    refuses_tensor(m, "b", tensor_renamed, "b");
    m->set.network.width = 23;
    refuses_tensor(m, "", tensor_renamed, "W");
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_over_spheres),      cmocka_unit_test(integral_in_closed_form),
        cmocka_unit_test(nothing_overflows),      cmocka_unit_test(gradient_by_differences),
        cmocka_unit_test(jets_by_differences),    cmocka_unit_test(published_parameter_counts),
        cmocka_unit_test(fits_on_every_domain),   cmocka_unit_test(uniform_data),
        cmocka_unit_test(threads_change_nothing), cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(says_what_is_wrong),     cmocka_unit_test(weights_are_repeated_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
