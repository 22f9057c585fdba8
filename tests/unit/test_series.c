/* test_series.c - the linear series: its maps, its solutions against closed forms, its certificate.
 *
 * A density whose log is itself a short series is the solution when the moments are its own and tau vanishes: the
 * coefficients are known exactly. */
#include "check.h"
#include "api.h"

#include <unistd.h>

static npmd_domain *domain(const char *text)
{
    npmd_domain *dom = NULL;
    npmd_error err = { 0 };
    if (npmd_domain_parse(text, &dom, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return dom;
}

static const struct {
    const char *domain;
    int frequency[4];
} CASES[] = { { "S1", { 5 } },         { "S2", { 4 } },         { "T2", { 3, 2 } },      { "T3", { 2, 1, 3 } },
              { "S2 x S1", { 3, 2 } }, { "S2 x S2", { 2, 2 } }, { "S1 x S2", { 2, 3 } }, { "T4", { 1, 2, 1, 1 } } };
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

/* Random where a coefficient is fitted, 0 elsewhere. */
static void random_tensor(const series_basis *b, double size, uint64_t *seed, double *c)
{
    for (size_t k = 0; k < b->size; k++)
        c[k] = b->lambda[k] > 0.0 ? size * (2.0 * test_uniform(seed) - 1.0) : 0.0;
}

/* The sum, term by term. */
static double plain_value(const series_basis *b, const double *c, const double *x)
{
    const npmd_domain *dom = b->domain;
    double *jet[NPMD_MAX_FACTORS], sum = 0.0;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        jet[d] = doubles((size_t)(1 + m->dimension) * b->functions[d]);
        m->jets(m, 1, x + dom->column[d], 0, b->frequency[d], 1, jet[d]);
    }
    for (size_t k = 0; k < b->size; k++) {
        double term = c[k];
        size_t at = k / b->last;
        if (k % b->last >= b->functions[dom->factors - 1])
            continue;
        term *= jet[dom->factors - 1][k % b->last];
        for (int d = dom->factors - 2; d >= 0; at /= b->functions[d--])
            term *= jet[d][at % b->functions[d]];
        sum += term * sqrt(dom->volume);
    }
    for (int d = 0; d < dom->factors; d++)
        free(jet[d]);
    return sum;
}

static void random_point(const npmd_domain *dom, uint64_t *seed, double *x)
{
    double u[DOMAIN_MAX_DIMENSION];
    for (int d = 0; d < dom->dimension; d++)
        u[d] = test_uniform(seed);
    domain_uniform_point(dom, u, x);
}

/* At points, on the nodes, and <Phi c, q> = <c, Phi' q>; sums of at most 300 terms below 10 in size. */
static void maps_agree(void **state)
{
    (void)state;
    uint64_t seed = 3;
    double worst = 0.0, worst_adjoint = 0.0, worst_mean = 0.0;
    for (int i = 0; i < CASE_COUNT; i++) {
        enum { POINTS = 70 };
        npmd_domain *dom = domain(CASES[i].domain);
        series_basis b;
        series_grid g;
        assert_int_equal(series_basis_open(&b, dom, CASES[i].frequency, NULL), NPMD_OK);
        assert_int_equal(series_grid_open(&g, &b, 0, 2, NULL), NPMD_OK);
        double *c = doubles(b.size), *back = doubles(b.size), *v = doubles(g.size), *q = doubles(g.size);
        double *x = doubles((size_t)POINTS * (size_t)dom->columns), out[POINTS];
        random_tensor(&b, 1.0, &seed, c);
        for (int p = 0; p < POINTS; p++)
            random_point(dom, &seed, x + p * dom->columns);
        assert_int_equal(series_evaluate(&b, c, x, POINTS, JET_VALUE, 2, out, NULL), NPMD_OK);
        for (int p = 0; p < POINTS; p++)
            worst = fmax(worst, fabs(out[p] - plain_value(&b, c, x + p * dom->columns)));
        series_values(&g, c, v);
        double forward = 0.0, adjoint = 0.0, size = 0.0;
        for (size_t k = 0; k < g.size; k++) {
            q[k] = k % g.last < g.nodes[dom->factors - 1] ? test_uniform(&seed) - 0.5 : 0.0;
            forward += v[k] * q[k];
            size += fabs(v[k] * q[k]);
        }
        series_adjoint(&g, q, back);
        for (size_t k = 0; k < b.size; k++)
            adjoint += back[k] * c[k];
        worst_adjoint = fmax(worst_adjoint, fabs(forward - adjoint) / size);
        /* every function but the constant has mean 0 */
        double square = 0.0;
        memset(v, 0, g.size * sizeof *v);
        check_quiet("the integral of 1", fabs(series_normalise(&g, v, &square)), 1e-14);
        check_quiet("its square", fabs(square - 1.0), 1e-13);
        series_adjoint(&g, v, back);
        for (size_t k = 1; k < b.size; k++)
            worst_mean = fmax(worst_mean, fabs(back[k]));
        check_quiet("the constant's mean", fabs(back[0] - 1.0), 1e-13);
        free(c), free(back), free(v), free(q), free(x);
        series_grid_close(&g);
        series_basis_close(&b);
        npmd_domain_free(dom);
    }
    check_below("values at points against the plain sum", worst, 1e-11);
    check_below("adjoint", worst_adjoint, 1e-14);
    check_below("means of functions on the grid", worst_mean, 1e-13);
}

/* Derivatives along a frame, and the Laplacian, against central differences of values along geodesics: h = 1e-4 leaves
 * h^2 k^4 / 12 < 1e-6 of frequency 4, and rounding 1e-15 / h^2 = 1e-7 of values near 10. */
static void jets_are_derivatives(void **state)
{
    (void)state;
    const double h = 1e-4;
    uint64_t seed = 5;
    double worst = 0.0;
    for (int i = 0; i < CASE_COUNT; i++) {
        npmd_domain *dom = domain(CASES[i].domain);
        series_basis b;
        double x[DOMAIN_MAX_COLUMNS], y[DOMAIN_MAX_COLUMNS], jet[DOMAIN_MAX_DIMENSION + 2], laplacian = 0.0;
        assert_int_equal(series_basis_open(&b, dom, CASES[i].frequency, NULL), NPMD_OK);
        double *c = doubles(b.size);
        random_tensor(&b, 0.3, &seed, c);
        random_point(dom, &seed, x);
        assert_int_equal(series_evaluate(&b, c, x, 1, JET_ALL, 1, jet, NULL), NPMD_OK);
        for (int d = 0; d < dom->factors; d++) {
            const manifold *m = dom->factor[d];
            double frame[MANIFOLD_MAX_DIMENSION * MANIFOLD_MAX_COLUMNS];
            m->frame(m, x + dom->column[d], frame);
            for (int t = 0; t < m->dimension; t++) {
                double at[2];
                for (int side = 0; side < 2; side++) {
                    const double step = side == 0 ? -h : h;
                    memcpy(y, x, sizeof y);
                    for (int k = 0; k < m->columns; k++)
                        y[dom->column[d] + k] = m->columns == 1 ? x[dom->column[d]] + step
                                                                : cos(step) * x[dom->column[d] + k]
                                                                      + sin(step) * frame[t * m->columns + k];
                    at[side] = plain_value(&b, c, y);
                }
                worst = fmax(worst, fabs((at[1] - at[0]) / (2.0 * h) - jet[1 + dom->direction[d] + t]));
                laplacian += (at[1] - 2.0 * jet[0] + at[0]) / (h * h);
            }
        }
        worst = fmax(worst, fabs(laplacian - jet[dom->dimension + 1]) / 100.0);
        free(c);
        series_basis_close(&b);
        npmd_domain_free(dom);
    }
    check_below("jets against central differences", worst, 1e-6);
}

typedef struct solved {
    double *c, *mean, *rough;
    series_certificate found;
} solved;

static solved solve(const series_basis *b, const double *mean, double tau, double target)
{
    solved s = { .c = doubles(b->size), .mean = doubles(b->size), .rough = doubles(b->size) };
    npmd_error err = { 0 };
    int level = 0;
    memcpy(s.mean, mean, b->size * sizeof *mean);
    for (size_t k = 0; k < b->size; k++)
        s.rough[k] = b->lambda[k] * b->lambda[k];
    if (series_solve(&(series_problem){ .basis = b,
                                        .mean = s.mean,
                                        .rough = s.rough,
                                        .tau = tau,
                                        .target = target,
                                        .settled = target,
                                        .threads = 2 },
                     &level, s.c, &s.found, &err)
        != NPMD_OK)
        fail_msg("%s", err.text);
    return s;
}

static void solved_free(solved *s)
{
    free(s->c), free(s->mean), free(s->rough);
}

/* exp(kappa cos x) and exp(kappa z): E cos x = I1/I0, E z = coth kappa - 1/kappa; functions sqrt 2 cos x and sqrt 3 z.
 * tau = 1e-14 moves a coefficient by 2 tau lambda^2 c / variance < 1e-12; the decrement's target, 1e-14, by 1e-6. */
static void exponential_families(void **state)
{
    (void)state;
    const double kappa = 2.0, ratio = 0.69777465796400798; /* I1(2) / I0(2) */
    const double height = 1.0 / tanh(kappa) - 1.0 / kappa;
    double worst = 0.0;
    {
        npmd_domain *dom = domain("S1");
        series_basis b;
        assert_int_equal(series_basis_open(&b, dom, (const int[]){ 3 }, NULL), NPMD_OK);
        double *mean = doubles(b.size);
        /* E cos k x = I_k / I_0: the recurrence I_(k+1) = I_(k-1) - (2 k / kappa) I_k */
        double before = 1.0, now = ratio;
        for (int k = 1; k <= 3; k++) {
            mean[2 * k - 1] = sqrt(2.0) * now;
            const double next = before - 2.0 * k / kappa * now;
            before = now;
            now = next;
        }
        solved s = solve(&b, mean, 1e-14, 1e-14);
        for (size_t k = 1; k < 7; k++)
            worst = fmax(worst, fabs(s.c[k] - (k == 1 ? kappa / sqrt(2.0) : 0.0)));
        check_below("von Mises: log of its integral", fabs(s.found.log_integral - log(2.2795853023360673)), 1e-6);
        assert_true(s.found.verified);
        solved_free(&s);
        free(mean);
        series_basis_close(&b);
        npmd_domain_free(dom);
    }
    check_below("von Mises: coefficients", worst, 1e-6);
    worst = 0.0;
    {
        npmd_domain *dom = domain("S2 x S1");
        series_basis b;
        assert_int_equal(series_basis_open(&b, dom, (const int[]){ 1, 1 }, NULL), NPMD_OK);
        double *mean = doubles(b.size);
        /* number 2 of the sphere is z, number 1 of the circle cos: products of independent means */
        mean[2 * b.last] = sqrt(3.0) * height;
        mean[1] = sqrt(2.0) * ratio;
        mean[2 * b.last + 1] = mean[1] * mean[2 * b.last];
        solved s = solve(&b, mean, 1e-14, 1e-14);
        for (size_t k = 0; k < b.size; k++)
            worst = fmax(worst, fabs(s.c[k]
                                     - (k == 1            ? kappa / sqrt(2.0)
                                        : k == 2 * b.last ? kappa / sqrt(3.0)
                                                          : 0.0)));
        check_below("von Mises-Fisher x von Mises: log of the integral",
                    fabs(s.found.log_integral - log(2.2795853023360673) - log(sinh(kappa) / kappa)), 1e-6);
        solved_free(&s);
        free(mean);
        series_basis_close(&b);
        npmd_domain_free(dom);
    }
    check_below("von Mises-Fisher x von Mises: coefficients", worst, 1e-6);
}

/* The gap that is promised is never smaller than the true one, and a huge tau leaves the uniform density. */
static void certificates_hold(void **state)
{
    (void)state;
    static const char *const DOMAINS[] = { "S2", "T2", "S2 x S1" };
    uint64_t seed = 9;
    for (int i = 0; i < 3; i++) {
        npmd_domain *dom = domain(DOMAINS[i]);
        series_basis b;
        npmd_points *pts = NULL;
        double x[60 * DOMAIN_MAX_COLUMNS];
        for (int p = 0; p < 60; p++) /* clustered: the first of three uniform points, and again */
            random_point(dom, &seed, x + p * dom->columns);
        for (int p = 3; p < 40; p++)
            memcpy(x + p * dom->columns, x + p % 3 * dom->columns, (size_t)dom->columns * sizeof *x);
        assert_int_equal(points_from(x, 60, dom, &pts, NULL), NPMD_OK);
        assert_int_equal(series_basis_open(&b, dom, (const int[]){ 4, 3 }, NULL), NPMD_OK);
        double *mean = doubles(b.size);
        assert_int_equal(series_moments(&b, pts, 2, mean, NULL), NPMD_OK);
        check_quiet("the constant's moment", fabs(mean[0] - 1.0), 1e-13);
        solved best = solve(&b, mean, 1e-4, 1e-12);
        for (double target = 1e-1; target > 1e-9; target *= 1e-2) {
            solved s = solve(&b, mean, 1e-4, target);
            const double gap = s.found.objective - best.found.objective;
            assert_true(gap <= s.found.gap + 1e-9 && s.found.decrement <= target);
            assert_true(gap >= -1e-9);
            solved_free(&s);
        }
        solved flat = solve(&b, mean, 1e9, 1e-12);
        check_quiet("uniform under a huge tau", fabs(flat.found.log_integral), 1e-8);
        solved_free(&flat);
        solved_free(&best);
        free(mean);
        series_basis_close(&b);
        npmd_points_free(pts);
        npmd_domain_free(dom);
    }
}

/* Through the public interface: the same bytes on 1, 2 and 7 threads, and after saving and loading. */
static void fits_through_the_library(void **state)
{
    (void)state;
    npmd_error err = { 0 };
    npmd_domain *dom = domain("S2 x S1");
    npmd_points *pts = NULL;
    enum { N = 400 };
    double x[N * 4], first[N], again[N];
    uint64_t seed = 21;
    for (int i = 0; i < N; i++) {
        random_point(dom, &seed, x + 4 * i);
        x[4 * i + 3] *= test_uniform(&seed); /* a density that falls with the angle */
    }
    assert_int_equal(points_from(x, N, dom, &pts, &err), NPMD_OK);
    for (int t = 0; t < 3; t++) {
        npmd_options opt;
        npmd_model *m = NULL, *loaded = NULL;
        options_init(&opt);
        opt.set.estimator = FIT_SERIES;
        opt.set.machine.threads = t == 0 ? 1 : t == 1 ? 2 : 7;
        opt.set.encoding.max_frequency[0] = 3;
        if (npmd_fit(dom, pts, &opt, &m, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        assert_int_equal(npmd_log_density(m, x, N, t == 0 ? first : again, &err), NPMD_OK);
        if (t > 0)
            assert_memory_equal(first, again, sizeof first);
        char path[300];
        temporary_path(path, sizeof path);
        assert_int_equal(npmd_save(m, path, &err), NPMD_OK);
        assert_int_equal(npmd_load(path, &loaded, &err), NPMD_OK);
        assert_int_equal(npmd_log_density(loaded, x, N, again, &err), NPMD_OK);
        assert_memory_equal(first, again, sizeof first);
        unlink(path);
        npmd_model_free(m);
        npmd_model_free(loaded);
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static int stop_at_third(void *user, int newton, double value, bool step)
{
    (void)newton, (void)value;
    return !step && ++*(int *)user == 3;
}

/* The work of a solution is bounded, and a stop is heard between two products: what was reached so far comes back, with
 * a decrement that says how far it is. T2 with moments of a peaked density takes far more than three products. */
static void work_is_bounded(void **state)
{
    (void)state;
    npmd_domain *dom = domain("T2");
    npmd_error err = { 0 };
    series_basis b;
    assert_int_equal(series_basis_open(&b, dom, (const int[]){ 4, 4 }, NULL), NPMD_OK);
    double *mean = doubles(b.size), *rough = doubles(b.size), *c = doubles(b.size);
    for (size_t k = 0; k < b.size; k++) {
        mean[k] = b.lambda[k] > 0.0 ? exp(-0.05 * b.lambda[k]) : 1.0;
        rough[k] = b.lambda[k] * b.lambda[k];
    }
    for (int stopped = 0; stopped < 2; stopped++) {
        series_certificate found;
        int calls = 0, level = 0;
        memset(c, 0, b.size * sizeof *c);
        assert_int_equal(series_solve(&(series_problem){ .basis = &b,
                                                         .mean = mean,
                                                         .rough = rough,
                                                         .tau = 1e-9,
                                                         .target = 1e-12,
                                                         .settled = 1e-12,
                                                         .most_products = stopped ? 0 : 3,
                                                         .go_on = stopped ? stop_at_third : NULL,
                                                         .user = &calls,
                                                         .threads = 1 },
                                      &level, c, &found, &err),
                         NPMD_OK);
        assert_int_equal(found.products, 3);
        assert_int_equal(found.stopped, stopped);
        assert_true(found.decrement > 1e-12 && isfinite(found.objective));
    }
    free(mean), free(rough), free(c);
    series_basis_close(&b);
    npmd_domain_free(dom);
}

/* Too large a product shrinks, saying so. */
static void the_basis_shrinks(void **state)
{
    (void)state;
    npmd_domain *dom = domain("T6");
    npmd_options opt;
    fit_plan plan;
    options_init(&opt);
    opt.set.estimator = FIT_SERIES;
    opt.set.encoding.max_frequency[0] = 9;
    assert_int_equal(plan_make(estimators_all, &opt.set, NULL, dom, 1000, &plan, NULL), NPMD_OK);
    const int *frequency = plan.full.encoding.max_frequency;
    assert_true(frequency[0] >= 1 && frequency[0] < 9);
    assert_true(series_count(dom, frequency) <= (double)SERIES_MOST_FUNCTIONS);
    npmd_domain_free(dom);
}

/* Points in a sixth of a circle, two frequencies and no penalty: a grid of few nodes has none or one where the points
 * are, and there f falls for ever. Solved on finer ones, the density's moments are those of the points, and it is better
 * than the uniform one, f = 0; each was wrong by orders of magnitude, and no warning said so. The decrement, 1e-8, bounds
 * the error of f; an error e of a moment costs e^2 / (2 variance) at least, and no function's variance is above 2:
 * e < 2e-4. */
static void grids_too_coarse_are_left(void **state)
{
    (void)state;
    enum { N = 200 };
    npmd_domain *dom = domain("S1");
    npmd_points *pts = NULL;
    series_basis b;
    series_grid g = { 0 };
    double x[N];
    uint64_t seed = 12;
    for (int i = 0; i < N; i++)
        x[i] = 1.0 + test_uniform(&seed);
    assert_int_equal(points_from(x, N, dom, &pts, NULL), NPMD_OK);
    assert_int_equal(series_basis_open(&b, dom, (const int[]){ 2 }, NULL), NPMD_OK);
    double *mean = doubles(b.size), *moment = doubles(b.size), worst = 0.0, square = 0.0;
    assert_int_equal(series_moments(&b, pts, 1, mean, NULL), NPMD_OK);
    solved s = solve(&b, mean, 0.0, 1e-8);
    assert_true(s.found.verified && !s.found.lost && s.found.decrement <= 1e-8 && s.found.objective < 0.0);
    assert_int_equal(series_grid_open(&g, &b, 9, 1, NULL), NPMD_OK);
    double *p = doubles(g.size);
    series_values(&g, s.c, p);
    check_below("log integral on a grid of many nodes", fabs(series_normalise(&g, p, &square) - s.found.log_integral),
                1e-6);
    series_adjoint(&g, p, moment);
    for (size_t k = 0; k < b.size; k++)
        worst = fmax(worst, fabs(moment[k] - mean[k]));
    check_below("moments of the density and of its points", worst, 2e-4);
    series_grid_close(&g);
    solved_free(&s);
    free(mean), free(moment), free(p);
    series_basis_close(&b);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_agree),
        cmocka_unit_test(jets_are_derivatives),
        cmocka_unit_test(exponential_families),
        cmocka_unit_test(certificates_hold),
        cmocka_unit_test(fits_through_the_library),
        cmocka_unit_test(work_is_bounded),
        cmocka_unit_test(the_basis_shrinks),
        cmocka_unit_test(grids_too_coarse_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
