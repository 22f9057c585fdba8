/* test_marginal.c - marginal and conditional densities against sums over fine grids of the joint one.
 *
 * The models are small networks after a few steps: smooth, nothing special. Where quadrature is used on both sides
 * the grid of the test is finer than any that is needed; where quasi-Monte Carlo is, its error rules. */
#include "check.h"
#include "api.h"

static npmd_model *model_on(const char *text, npmd_domain **dom)
{
    npmd_options opt;
    npmd_model *m = NULL;
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    uint64_t seed = 9;
    enum { N = 400 };
    assert_int_equal(npmd_domain_parse(text, dom, &err), NPMD_OK);
    double *x = doubles(N * (size_t)(*dom)->columns);
    for (size_t i = 0; i < N; i++)
        for (int d = 0; d < (*dom)->factors; d++) {
            double *at = x + i * (size_t)(*dom)->columns + (*dom)->column[d], r = 0.0;
            if ((*dom)->factor[d] == &CIRCLE) {
                at[0] = 3.0 + (i % 2 ? 1.0 : -1.0) + 0.6 * test_normal(&seed);
                continue;
            }
            for (int j = 0; j < 3; j++) {
                at[j] = (j == (int)(i % 2)) + 0.5 * test_normal(&seed);
                r += at[j] * at[j];
            }
            for (int j = 0; j < 3; j++)
                at[j] /= sqrt(r);
        }
    options_init(&opt);
    opt.set.tau = 1e-3;
    opt.set.descent.steps = 40;
    opt.set.encoding.features = 24;
    opt.set.network.width = 16;
    opt.set.network.depth = 2;
    opt.set.descent.q1 = 1024;
    opt.set.descent.q2 = 128;
    assert_int_equal(points_from(x, N, *dom, &pts, &err), NPMD_OK);
    if (npmd_fit(*dom, pts, &opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    npmd_points_free(pts);
    free(x);
    return m;
}

/* A rule on the whole domain; weights add up to the volume. */
typedef struct grid {
    size_t nodes;
    double *x, *weight;
} grid;

static grid grid_on(const npmd_domain *dom, size_t resolution)
{
    grid g = { .nodes = 1 };
    double *node[NPMD_MAX_FACTORS], *weight[NPMD_MAX_FACTORS];
    size_t count[NPMD_MAX_FACTORS];
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        count[d] = m->rule_nodes(m, resolution);
        node[d] = doubles(count[d] * (size_t)m->columns);
        weight[d] = doubles(count[d]);
        m->rule(m, resolution, node[d], weight[d], NULL);
        g.nodes *= count[d];
    }
    g.x = doubles(g.nodes * (size_t)dom->columns);
    g.weight = doubles(g.nodes);
    for (size_t i = 0; i < g.nodes; i++) {
        size_t rest = i;
        g.weight[i] = dom->volume;
        for (int d = dom->factors - 1; d >= 0; d--) {
            const size_t j = rest % count[d], columns = (size_t)dom->factor[d]->columns;
            rest /= count[d];
            memcpy(g.x + i * (size_t)dom->columns + dom->column[d], node[d] + j * columns, columns * sizeof *g.x);
            g.weight[i] *= weight[d][j];
        }
    }
    for (int d = 0; d < dom->factors; d++)
        free(node[d]), free(weight[d]);
    return g;
}

/* log of the sum over a grid of the other factors, at one point of these. */
static double marginal_by_grid(const npmd_model *m, const npmd_domain *dom, unsigned factors, const double *x,
                               size_t resolution)
{
    npmd_domain *rest = NULL;
    const unsigned others = ~factors & ((1u << dom->factors) - 1u);
    assert_int_equal(npmd_domain_part(dom, others, &rest, NULL), NPMD_OK);
    grid g = grid_on(rest, resolution);
    double *row = doubles(g.nodes * (size_t)dom->columns), *log_f = doubles(g.nodes), sum = 0.0;
    for (size_t i = 0; i < g.nodes; i++) {
        const double *fixed = x, *free_part = g.x + i * (size_t)rest->columns;
        for (int d = 0; d < dom->factors; d++) {
            const size_t columns = (size_t)dom->factor[d]->columns;
            const double **from = factors >> d & 1u ? &fixed : &free_part;
            memcpy(row + i * (size_t)dom->columns + dom->column[d], *from, columns * sizeof *row);
            *from += columns;
        }
    }
    assert_int_equal(npmd_log_density(m, row, g.nodes, log_f, NULL), NPMD_OK);
    for (size_t i = 0; i < g.nodes; i++)
        sum += g.weight[i] * exp(log_f[i]);
    free(row), free(log_f), free(g.x), free(g.weight);
    npmd_domain_free(rest);
    return log(sum);
}

static void check_marginals(const char *text, const char *factors_text, size_t resolution, double tolerance)
{
    enum { POINTS = 6 };
    npmd_domain *dom = NULL, *part = NULL;
    npmd_model *m = model_on(text, &dom);
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    unsigned factors = 0;
    double u[POINTS * DOMAIN_MAX_DIMENSION], x[POINTS * DOMAIN_MAX_COLUMNS], out[POINTS], se[POINTS];
    uint64_t seed = 3;
    assert_int_equal(npmd_factors_parse(factors_text, dom, &factors, &err), NPMD_OK);
    assert_int_equal(npmd_domain_part(dom, factors, &part, &err), NPMD_OK);
    for (int i = 0; i < POINTS * part->dimension; i++)
        u[i] = test_uniform(&seed);
    assert_int_equal(npmd_domain_uniform(part, u, POINTS, x, &err), NPMD_OK);
    assert_int_equal(points_from(x, POINTS, part, &pts, &err), NPMD_OK);
    if (npmd_marginal_at(m, factors, pts, NPMD_LOG_DENSITY, 0.0, 1, NULL, out, se, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    print_message("    %s, factors %s\n", text, factors_text);
    for (int i = 0; i < POINTS; i++) {
        const double known = marginal_by_grid(m, dom, factors, x + i * part->columns, resolution);
        assert_true(se[i] <= 1.5e-3); /* the accuracy asked for, which these models allow */
        check_below("log marginal density", fabs(out[i] - known), tolerance + 4.0 * se[i]);
    }
    npmd_points_free(pts);
    npmd_domain_free(part);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

static void marginals_are_sums_over_the_others(void **state)
{
    (void)state;
    check_marginals("T2", "2", 128, 1e-6); /* quadrature against quadrature, float32 values */
    check_marginals("T3", "1", 48, 1e-6);
    check_marginals("T3", "1,3", 128, 1e-6);
    check_marginals("T4", "2", 48, 1e-6); /* three dimensions left: quasi-Monte Carlo with its error */
    check_marginals("S2 x S1", "1", 128, 1e-6);
    check_marginals("S2 x S1", "2", 48, 1e-6);
    check_marginals("S2 x T2", "1,3", 128, 1e-6);
    check_marginals("S1 x S2 x S1", "3", 32, 1e-6);
}

static void a_marginal_integrates_to_one(void **state)
{
    (void)state;
    npmd_domain *dom = NULL, *part = NULL;
    npmd_model *m = model_on("S2 x S1", &dom);
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_domain_part(dom, 2u, &part, &err), NPMD_OK);
    grid g = grid_on(part, 48);
    double *f = doubles(g.nodes), sum = 0.0;
    assert_int_equal(points_from(g.x, g.nodes, part, &pts, &err), NPMD_OK);
    assert_int_equal(npmd_marginal_at(m, 2u, pts, NPMD_DENSITY, 1e-5, 1, NULL, f, NULL, &err), NPMD_OK);
    for (size_t i = 0; i < g.nodes; i++)
        sum += g.weight[i] * f[i];
    /* the model's own integral is known to this much */
    check_below("mass", fabs(sum - 1.0), 1e-5 + 4.0 * m->facts.log_integral_se);
    npmd_points_free(pts);
    free(f), free(g.x), free(g.weight);
    npmd_domain_free(part);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

/* joint = marginal x conditional, in all measures; and a conditional density integrates to one. */
static void conditional_times_marginal_is_joint(void **state)
{
    (void)state;
    npmd_domain *dom = NULL, *circle = NULL;
    npmd_model *m = model_on("S2 x S1", &dom);
    npmd_points *pts = NULL, *given = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_domain_part(dom, 2u, &circle, &err), NPMD_OK);
    npmd_domain *sphere = NULL;
    assert_int_equal(npmd_domain_part(dom, 1u, &sphere, &err), NPMD_OK);
    grid g = grid_on(sphere, 48);
    const double angle = 2.2;
    double *row = doubles(4 * g.nodes), *f = doubles(g.nodes), *relative = doubles(g.nodes), *joint = doubles(g.nodes);
    double marginal = 0.0, mass = 0.0;
    for (size_t i = 0; i < g.nodes; i++) {
        memcpy(row + 4 * i, g.x + 3 * i, 3 * sizeof *row);
        row[4 * i + 3] = angle;
    }
    assert_int_equal(points_from(row, g.nodes, dom, &pts, &err), NPMD_OK);
    assert_int_equal(points_from(&angle, 1, circle, &given, &err), NPMD_OK);
    assert_int_equal(npmd_conditional_at(m, 2u, pts, NPMD_DENSITY, 1e-6, 1, NULL, f, NULL, &err), NPMD_OK);
    assert_int_equal(npmd_conditional_at(m, 2u, pts, NPMD_RELATIVE, 1e-6, 1, NULL, relative, NULL, &err), NPMD_OK);
    assert_int_equal(npmd_evaluate_at(m, pts, NPMD_DENSITY, NULL, joint, &err), NPMD_OK);
    assert_int_equal(npmd_marginal_at(m, 2u, given, NPMD_DENSITY, 1e-6, 1, NULL, &marginal, NULL, &err), NPMD_OK);
    for (size_t i = 0; i < g.nodes; i++) {
        mass += g.weight[i] * f[i];
        check_quiet("joint", fabs(f[i] * marginal / joint[i] - 1.0), 1e-12);
        check_quiet("relative", fabs(relative[i] / f[i] / sphere->volume - 1.0), 1e-12);
    }
    check_below("mass of the conditional density", fabs(mass - 1.0), 1e-5);
    npmd_points_free(pts);
    npmd_points_free(given);
    free(row), free(f), free(relative), free(joint), free(g.x), free(g.weight);
    npmd_domain_free(circle);
    npmd_domain_free(sphere);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

static void wrong_factors_are_refused(void **state)
{
    (void)state;
    static const char *const WRONG[] = { "", "0", "4", "1,1", "1,", ",1", "1 2", "a", "1,2,3,4", "-1" };
    npmd_domain *dom = NULL, *part = NULL;
    npmd_error err = { 0 };
    unsigned factors = 77;
    assert_int_equal(npmd_domain_parse("S2 x S1 x S2", &dom, &err), NPMD_OK);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        assert_int_equal(npmd_factors_parse(WRONG[i], dom, &factors, &err), NPMD_ERR_ARGUMENT);
        assert_int_equal(factors, 77);
    }
    assert_int_equal(npmd_factors_parse("3,1", dom, &factors, &err), NPMD_OK);
    assert_int_equal(factors, 5);
    assert_int_equal(npmd_domain_part(dom, factors, &part, &err), NPMD_OK);
    assert_string_equal(npmd_domain_text(part), "S2^2");
    npmd_domain_free(part);
    part = NULL;
    assert_int_equal(npmd_domain_part(dom, 0, &part, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(npmd_domain_part(dom, 8, &part, &err), NPMD_ERR_ARGUMENT);
    assert_null(part);
    npmd_domain_free(dom);
}

/* Points of the wrong domain, all factors given, a gradient: refused, with nothing written. */
static void wrong_questions_are_refused(void **state)
{
    (void)state;
    npmd_domain *dom = NULL, *circle = NULL;
    npmd_model *m = model_on("T2", &dom);
    npmd_points *pts = NULL, *one = NULL;
    npmd_error err = { 0 };
    const double x[2] = { 1.0, 2.0 };
    double out = -7.0;
    assert_int_equal(npmd_domain_part(dom, 1u, &circle, &err), NPMD_OK);
    assert_int_equal(points_from(x, 1, dom, &pts, &err), NPMD_OK);
    assert_int_equal(points_from(x, 1, circle, &one, &err), NPMD_OK);
    assert_int_equal(npmd_marginal_at(m, 1u, pts, NPMD_DENSITY, 0, 1, NULL, &out, NULL, &err), NPMD_ERR_SHAPE);
    assert_int_equal(npmd_marginal_at(m, 1u, one, NPMD_GRADIENT, 0, 1, NULL, &out, NULL, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(npmd_conditional_at(m, 3u, pts, NPMD_DENSITY, 0, 1, NULL, &out, NULL, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(npmd_conditional_at(m, 1u, one, NPMD_DENSITY, 0, 1, NULL, &out, NULL, &err), NPMD_ERR_SHAPE);
    assert_int_equal(npmd_sample_given(m, 1u, pts, 1, 1, NULL, &out, NULL, &err), NPMD_ERR_SHAPE);
    assert_true(out == -7.0);
    npmd_points_free(pts);
    npmd_points_free(one);
    npmd_domain_free(circle);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marginals_are_sums_over_the_others),  cmocka_unit_test(a_marginal_integrates_to_one),
        cmocka_unit_test(conditional_times_marginal_is_joint), cmocka_unit_test(wrong_factors_are_refused),
        cmocka_unit_test(wrong_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
