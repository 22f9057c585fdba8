/* test_sample.c - draws from a model are draws from its own density: chi-square on cells of equal area.
 *
 * With C cells and expected counts above 5 the statistic has C - 1 degrees of freedom; by Wilson and Hilferty
 * its cube root is nearly normal, and z = 3.09 is passed by chance once in a thousand. Cells with fewer than
 * 5 expected are pooled. The expected share of a cell is the mean of the density over a grid of nodes in it,
 * whose error is far below the sampling error. */
#include "check.h"
#include "api.h"

#define DRAWS 100000
#define SOME 20000 /* given each of some values */

static npmd_model *fitted(const char *domain_text, const char *sd_steps, npmd_domain **dom)
{
    npmd_options opt;
    npmd_model *m = NULL;
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    uint64_t seed = 5;
    enum { N = 1500 };
    assert_int_equal(npmd_domain_parse(domain_text, dom, &err), NPMD_OK);
    const int columns = npmd_domain_columns(*dom);
    double *x = doubles((size_t)N * (size_t)columns);
    for (int i = 0; i < N; i++)
        for (int d = 0; d < (*dom)->factors; d++) {
            const int c = (*dom)->column[d], sphere = (*dom)->factor[d]->columns == 3;
            double *at = x + (size_t)i * (size_t)columns + c, r = 0.0;
            if (!sphere) {
                at[0] = 2.0 + (i % 3) + 0.5 * test_normal(&seed);
                continue;
            }
            for (int j = 0; j < 3; j++) { /* about one of three axes */
                at[j] = (j == i % 3) + 0.4 * test_normal(&seed);
                r += at[j] * at[j];
            }
            for (int j = 0; j < 3; j++)
                at[j] /= sqrt(r);
        }
    options_init(&opt);
    assert_int_equal(npmd_options_set(&opt, "steps", sd_steps, &err), NPMD_OK);
    assert_int_equal(npmd_options_set(&opt, "tau", "1e-5", &err), NPMD_OK);
    opt.set.encoding.features = 64;
    opt.set.network.width = 32;
    opt.set.descent.q1 = 2048;
    opt.set.descent.q2 = 256;
    opt.set.descent.accuracy = 0.01; /* shares are divided by their sum: the integral does not count */
    assert_int_equal(points_from(x, N, *dom, &pts, &err), NPMD_OK);
    if (npmd_fit(*dom, pts, &opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    npmd_points_free(pts);
    free(x);
    return m;
}

static void check_chi_square(const char *what, const double *share, const double *count, int cells, int draws)
{
    double chi2 = 0.0, pooled_share = 0.0, pooled_count = 0.0;
    int used = 0;
    for (int c = 0; c < cells; c++) {
        if (share[c] * draws < 5.0) {
            pooled_share += share[c];
            pooled_count += count[c];
            continue;
        }
        chi2 += pow(count[c] - share[c] * draws, 2) / (share[c] * draws);
        used++;
    }
    if (pooled_share * draws >= 5.0) {
        chi2 += pow(pooled_count - pooled_share * draws, 2) / (pooled_share * draws);
        used++;
    }
    const double f = used - 1.0, z = (cbrt(chi2 / f) - (1.0 - 2.0 / (9.0 * f))) / sqrt(2.0 / (9.0 * f));
    print_message("    chi-square %.1f on %.0f degrees of freedom\n", chi2, f);
    check_below(what, z, 3.09);
}

/* Cells of equal area of one factor, as boxes of the unit cube behind its uniform map. */
enum { SIDE = 20, FINE = 12 };

static int cell_of(const manifold *m, const double *x)
{
    if (m == &CIRCLE) {
        const int c = (int)(x[0] / TWO_PI * SIDE);
        return c < SIDE ? c : SIDE - 1;
    }
    double angle = atan2(x[1], x[0]);
    angle += angle < 0.0 ? TWO_PI : 0.0;
    const int row = (int)(0.5 * (x[2] + 1.0) * SIDE), column = (int)(angle / TWO_PI * SIDE);
    return (row < SIDE ? row : SIDE - 1) * SIDE + (column < SIDE ? column : SIDE - 1);
}

static double *draws_of(const npmd_model *m, const npmd_domain *dom)
{
    npmd_sample_facts facts = NPMD_SIZED(npmd_sample_facts);
    npmd_error err = { 0 };
    double *x = doubles(DRAWS * (size_t)dom->columns);
    if (npmd_sample(m, 11, DRAWS, NULL, x, &facts, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    print_message("    %s: acceptance %.3f, envelope raised %d times\n", dom->text, facts.acceptance, facts.raised);
    return x;
}

/* T2 and S2: two dimensions, cells SIDE x SIDE of the unit square. */
static void check_surface(const char *text)
{
    npmd_domain *dom = NULL;
    npmd_model *m = fitted(text, "150", &dom);
    double *x = draws_of(m, dom), *share = doubles(SIDE * SIDE), *count = doubles(SIDE * SIDE);
    const size_t side = SIDE * FINE, nodes = side * side;
    double *u = doubles(2 * nodes), *at = doubles(nodes * (size_t)dom->columns), *log_f = doubles(nodes);
    npmd_error err = { 0 };
    for (size_t i = 0; i < nodes; i++) {
        u[2 * i] = ((double)(i / side) + 0.5) / (double)side;
        u[2 * i + 1] = ((double)(i % side) + 0.5) / (double)side;
    }
    assert_int_equal(npmd_domain_uniform(dom, u, nodes, at, &err), NPMD_OK);
    assert_int_equal(npmd_log_density(m, at, nodes, log_f, &err), NPMD_OK);
    double total = 0.0;
    for (size_t i = 0; i < nodes; i++)
        total += exp(log_f[i]);
    for (size_t i = 0; i < nodes; i++)
        share[i / side / FINE * SIDE + i % side / FINE] += exp(log_f[i]) / total;
    for (int i = 0; i < DRAWS; i++) {
        const double *p = x + (size_t)i * (size_t)dom->columns;
        count[dom->torus ? cell_of(&CIRCLE, p) * SIDE + cell_of(&CIRCLE, p + 1) : cell_of(&SPHERE, p)] += 1.0;
    }
    check_chi_square(text, share, count, SIDE * SIDE, DRAWS);
    free(x), free(share), free(count), free(u), free(at), free(log_f);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

static void draws_on_t2(void **state)
{
    (void)state;
    check_surface("T2");
}

static void draws_on_s2(void **state)
{
    (void)state;
    check_surface("S2");
}

/* S2 x S1: the marginals, by quadrature over the other factor. */
static void draws_on_s2_x_s1(void **state)
{
    (void)state;
    enum { HEIGHT = 40, ROUND = 40, ANGLE = 60, NODES = HEIGHT * ROUND * ANGLE };
    npmd_domain *dom = NULL;
    npmd_model *m = fitted("S2 x S1", "150", &dom);
    double *x = draws_of(m, dom), *u = doubles(3 * NODES), *at = doubles(4 * NODES), *log_f = doubles(NODES);
    double angle_share[SIDE] = { 0 }, angle_count[SIDE] = { 0 }, height_share[SIDE] = { 0 }, height_count[SIDE] = { 0 };
    double total = 0.0;
    npmd_error err = { 0 };
    for (int i = 0; i < NODES; i++) {
        u[3 * i] = (i / (ROUND * ANGLE) + 0.5) / HEIGHT;
        u[3 * i + 1] = (i / ANGLE % ROUND + 0.5) / ROUND;
        u[3 * i + 2] = (i % ANGLE + 0.5) / ANGLE;
    }
    assert_int_equal(npmd_domain_uniform(dom, u, NODES, at, &err), NPMD_OK);
    assert_int_equal(npmd_log_density(m, at, NODES, log_f, &err), NPMD_OK);
    for (int i = 0; i < NODES; i++)
        total += exp(log_f[i]);
    for (int i = 0; i < NODES; i++) {
        height_share[i / (ROUND * ANGLE) * SIDE / HEIGHT] += exp(log_f[i]) / total;
        angle_share[i % ANGLE * SIDE / ANGLE] += exp(log_f[i]) / total;
    }
    for (int i = 0; i < DRAWS; i++) {
        height_count[cell_of(&SPHERE, x + 4 * i) / SIDE] += 1.0;
        angle_count[cell_of(&CIRCLE, x + 4 * i + 3)] += 1.0;
    }
    check_chi_square("S2 x S1, heights on the sphere", height_share, height_count, SIDE, DRAWS);
    check_chi_square("S2 x S1, angles", angle_share, angle_count, SIDE, DRAWS);
    free(x), free(u), free(at), free(log_f);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

/* A circle given the others, and a sphere given the others: cells of the factor that is drawn, against the model's
 * own density along it, normalised there. Two rows of given values: one where the mass is, one where it is not. */
static void check_conditional(const char *text, const char *given_text, int drawn, const double *at_rows)
{
    npmd_domain *dom = NULL, *part = NULL;
    npmd_model *m = fitted(text, "150", &dom);
    npmd_points *at = NULL;
    unsigned given = 0;
    npmd_error err = { 0 };
    npmd_sample_facts facts = NPMD_SIZED(npmd_sample_facts);
    assert_int_equal(npmd_factors_parse(given_text, dom, &given, &err), NPMD_OK);
    assert_int_equal(npmd_domain_part(dom, given, &part, &err), NPMD_OK);
    assert_int_equal(points_from(at_rows, 2, part, &at, &err), NPMD_OK);
    double *x = doubles(2 * SOME * (size_t)dom->columns);
    if (npmd_sample_given(m, given, at, 7, SOME, NULL, x, &facts, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    print_message("    %s given %s: acceptance %.3f, envelope raised %d times\n", text, given_text, facts.acceptance,
                  facts.raised);
    const manifold *man = dom->factor[drawn];
    const bool circle = man == &CIRCLE;
    const size_t side = SIDE * FINE, nodes = circle ? side : side * side;
    const int cells = circle ? SIDE : SIDE * SIDE;
    double *share = doubles((size_t)cells), *count = doubles((size_t)cells);
    double *where = doubles(nodes * (size_t)dom->columns), *log_f = doubles(nodes);
    for (size_t row = 0; row < 2; row++) {
        const double *draws = x + row * SOME * (size_t)dom->columns;
        double total = 0.0;
        memset(share, 0, (size_t)cells * sizeof *share);
        memset(count, 0, (size_t)cells * sizeof *count);
        for (size_t i = 0; i < nodes; i++) {
            const double u[2] = { ((double)(circle ? i : i / side) + 0.5) / (double)side,
                                  ((double)(i % side) + 0.5) / (double)side };
            memcpy(where + i * (size_t)dom->columns, draws, (size_t)dom->columns * sizeof *where);
            man->uniform(man, u, where + i * (size_t)dom->columns + dom->column[drawn]);
        }
        assert_int_equal(npmd_log_density(m, where, nodes, log_f, &err), NPMD_OK);
        for (size_t i = 0; i < nodes; i++)
            total += exp(log_f[i]);
        for (size_t i = 0; i < nodes; i++)
            share[circle ? i / FINE : i / side / FINE * SIDE + i % side / FINE] += exp(log_f[i]) / total;
        for (size_t i = 0; i < SOME; i++) {
            const double *p = draws + i * (size_t)dom->columns;
            count[cell_of(man, p + dom->column[drawn])] += 1.0;
            for (int c = 0; c < dom->columns; c++) /* the given factors stay where they were put */
                if (c < dom->column[drawn] || c >= dom->column[drawn] + man->columns)
                    assert_true(p[c] == draws[c]);
        }
        check_chi_square(text, share, count, cells, SOME);
    }
    free(x), free(share), free(count), free(where), free(log_f);
    npmd_points_free(at);
    npmd_domain_free(part);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

static void conditional_draws(void **state)
{
    (void)state;
    check_conditional("T2", "1", 1, (const double[]){ 3.0, 0.2 });
    check_conditional("T4", "1,2,4", 2, (const double[]){ 2.1, 2.0, 1.8, 4.0, 2.0, 5.9 });
    check_conditional("S2 x S1", "2", 0, (const double[]){ 2.5, 5.5 });
    check_conditional("S2 x S1", "1", 1, (const double[]){ 1.0, 0.0, 0.0, 0.0, 0.6, -0.8 });
}

/* The same draws whatever the number of threads, other draws for another seed. */
static void draws_depend_on_the_seed_alone(void **state)
{
    (void)state;
    enum { N = 500 };
    npmd_domain *dom = NULL;
    npmd_model *m = fitted("T2", "50", &dom);
    double a[2 * N], b[2 * N], c[2 * N];
    assert_int_equal(npmd_sample(m, 1, N, &(npmd_compute){ .size = sizeof(npmd_compute), .threads = 1 }, a, NULL, NULL),
                     NPMD_OK);
    assert_int_equal(npmd_sample(m, 1, N, &(npmd_compute){ .size = sizeof(npmd_compute), .threads = 3 }, b, NULL, NULL),
                     NPMD_OK);
    assert_int_equal(npmd_sample(m, 2, N, NULL, c, NULL, NULL), NPMD_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
    npmd_model_free(m);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_on_t2),
        cmocka_unit_test(draws_on_s2),
        cmocka_unit_test(draws_on_s2_x_s1),
        cmocka_unit_test(conditional_draws),
        cmocka_unit_test(draws_depend_on_the_seed_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
