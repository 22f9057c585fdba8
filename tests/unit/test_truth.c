/* test_truth.c - known densities, their draws and their entropies, held to closed forms and to brute force in long
 * double. */
#include "truths.h"

#include <dirent.h>
#include <omp.h>

#define PI CHECK_PI

/* ---- Densities --------------------------------------------------------------------------------------------------- */

/* The lattice sum over the whole box |k_d| <= reach, in long double, straight from the definition. */
static long double brute_log_density(const npmd_truth *t, const double *x, int reach)
{
    const int D = t->domain->dimension;
    long double density = 0.0L;
    for (int c = 0; c < t->components; c++) {
        const double *C = t->covariance + c * D * D, *mean = t->mean + c * D;
        long double L[16] = { 0 }, determinant = 1.0L;
        for (int i = 0; i < D; i++)
            for (int j = 0; j <= i; j++) {
                long double rest = 0.5L * ((long double)C[i * D + j] + C[j * D + i]);
                for (int k = 0; k < j; k++)
                    rest -= L[i * D + k] * L[j * D + k];
                L[i * D + j] = i == j ? sqrtl(rest) : rest / L[j * D + j];
                determinant *= i == j ? L[i * D + i] : 1.0L;
            }
        int shift[4] = { -reach, -reach, -reach, -reach };
        for (int d = 0; d < D;) {
            long double z[4], norm2 = 0.0L;
            for (int i = 0; i < D; i++) {
                z[i] = (long double)x[i] - mean[i] + 2.0L * PI * shift[i];
                for (int j = 0; j < i; j++)
                    z[i] -= L[i * D + j] * z[j];
                z[i] /= L[i * D + i];
                norm2 += z[i] * z[i];
            }
            density += t->weight[c] * expl(-0.5L * norm2) / (determinant * powl(2.0L * PI, 0.5L * D));
            for (d = 0; d < D && ++shift[d] > reach; d++)
                shift[d] = -reach;
        }
    }
    return logl(density);
}

/* Greatest |log f - brute force| / (1 + |log f|) over random points. */
static double brute_error(const npmd_truth *t, int reach, int points)
{
    double worst = 0.0, x[4], log_f = 0.0;
    uint64_t state = 5;
    for (int i = 0; i < points; i++) {
        for (int d = 0; d < t->domain->dimension; d++)
            x[d] = TWO_PI * test_uniform(&state);
        assert_int_equal(npmd_truth_log_density(t, x, 1, NULL, &log_f, NULL), NPMD_OK);
        const double exact = (double)brute_log_density(t, x, reach);
        worst = fmax(worst, fabs(log_f - exact) / (1.0 + fabs(exact)));
    }
    return worst;
}

/* Rounding: |t|^2 comes from D <= 4 steps of substitution in a factor of condition 10 or less (anisotropy
 * 100), so it is right to about 4 D eps x 10 = 4e-14 relative. Wide kernels have condition near 1, and show
 * what truncation alone leaves out: there 1e-15 is asked, four units in the last place. */
static void wrapped_normals_equal_brute_force(void **state)
{
    npmd_truth *t2 = recipe_of("t2-authors", 0), *t4 = recipe_of("t4", 3);
    npmd_truth *wide1 = truth_of(*state, T1_WIDE), *wide2 = truth_of(*state, T2_WIDE);
    check_below("T2, authors' mixture, 300 points", brute_error(t2, 5, 300), 4e-14);
    check_below("T4 recipe, 25 points", brute_error(t4, 3, 25), 4e-14);
    check_below("T1, standard deviation 3", brute_error(wide1, 12, 300), 1e-15);
    check_below("T2, standard deviations 1.2 to 2", brute_error(wide2, 16, 300), 1e-15);
    npmd_truth_free(t2);
    npmd_truth_free(t4);
    npmd_truth_free(wide1);
    npmd_truth_free(wide2);
}

/* 2 pi in double is off by 2.4e-16: k turns move the point by k times that, and log f by its slope (below
 * 100) times as much, besides rounding of x itself (1e-14 at 20 pi). */
static void another_branch_changes_nothing(void **state)
{
    (void)state;
    npmd_truth *t = recipe_of("t4", 3);
    uint64_t random = 9;
    for (int i = 0; i < 100; i++) {
        double x[8], log_f[2];
        for (int d = 0; d < 4; d++) {
            x[d] = TWO_PI * test_uniform(&random);
            x[4 + d] = x[d] + TWO_PI * (double)((i + 3 * d) % 21 - 10);
        }
        assert_int_equal(npmd_truth_log_density(t, x, 2, NULL, log_f, NULL), NPMD_OK);
        check_quiet("another branch", fabs(log_f[0] - log_f[1]), 1e-11 * (1.0 + fabs(log_f[0])));
    }
    npmd_truth_free(t);
}

/* A density far from every mean underflows; its logarithm is still that of the nearest term. */
static void far_away_the_logarithm_is_finite(void **state)
{
    npmd_truth *t = truth_of(*state, "{\"domain\":\"S1^2\",\"kind\":\"wrapped normal mixture\",\"weights\":[1],"
                                     "\"means\":[[0,0]],\"covariances\":[[[1e-6,0],[0,1e-6]]]}");
    const double x[2] = { 1.0, 3.0 };
    double log_f = 0.0;
    assert_int_equal(npmd_truth_log_density(t, x, 1, NULL, &log_f, NULL), NPMD_OK);
    check_quiet("log density at 3,000 deviations", fabs(log_f - (-5e6 - log(TWO_PI * 1e-6))), 1e-8);
    npmd_truth_free(t);
}

static void bad_points_are_named(void **state)
{
    npmd_truth *t = truth_of(*state, S2_FISHER);
    const double x[6] = { 0, 0, 1, 0, NAN, 1 }, zero[3] = { 0 };
    double out[2] = { 7.0, 7.0 };
    npmd_error err = { 0 };
    assert_int_equal(npmd_truth_log_density(t, x, 2, NULL, out, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "row 1"));
    assert_true(out[0] == 7.0);
    assert_int_equal(npmd_truth_log_density(t, zero, 1, NULL, out, &err), NPMD_ERR_ARGUMENT);
    npmd_truth_free(t);
}

/* Integral over T1, T2, S2 or S2 x S1: G nodes a circle, Gauss-Legendre with G/2 heights on the sphere. */
static double mass_of(const npmd_truth *t, size_t G)
{
    const npmd_domain *dom = t->domain;
    const size_t rows = G / 2;
    const bool sphere = dom->factor[0] == &SPHERE;
    const size_t circles = (size_t)(dom->factors - (sphere ? 1 : 0));
    size_t nodes = sphere ? rows * G : 1;
    double *z = doubles(rows), *weight = doubles(rows), mass = 0.0;
    gauss_legendre((int)rows, z, weight);
    for (size_t d = 0; d < circles; d++)
        nodes *= G;
    for (size_t i = 0; i < nodes; i++) {
        double x[5], w = 1.0, log_f = 0.0;
        size_t rest = i;
        for (int d = 0; d < dom->factors; d++) {
            const double angle = TWO_PI * (double)(rest % G) / (double)G;
            double *p = x + dom->column[d];
            rest /= G;
            w *= TWO_PI / (double)G;
            if (dom->factor[d] == &CIRCLE) {
                p[0] = angle;
                continue;
            }
            const size_t row = rest % rows;
            const double r = sqrt(1.0 - z[row] * z[row]);
            rest /= rows;
            w *= weight[row];
            p[0] = r * cos(angle);
            p[1] = r * sin(angle);
            p[2] = z[row];
        }
        assert_int_equal(npmd_truth_log_density(t, x, 1, NULL, &log_f, NULL), NPMD_OK);
        mass += w * exp(log_f);
    }
    free(z);
    free(weight);
    return mass;
}

/* These quadratures converge faster than any power; at these sizes rounding is left: sums of up to 2.6e5
 * terms of random sign of error, each with that of an exponent of at most 100. */
static void mass_is_one(void **state)
{
    static const struct {
        const char *what, *text;
        size_t side;
    } CASES[] = {
        { "mass on T1, wrapped normal", T1_WIDE, 256 },  { "mass on T1, von Mises", T1_FISHER, 256 },
        { "mass on T2, wrapped normals", T2_WIDE, 256 }, { "mass on S2, von Mises-Fisher", S2_FISHER, 128 },
        { "mass on S2 x S1", S2S1_FISHER, 80 },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        npmd_truth *t = truth_of(*state, CASES[i].text);
        check_below(CASES[i].what, fabs(mass_of(t, CASES[i].side) - 1.0), 1e-12);
        npmd_truth_free(t);
    }
    npmd_truth *t = recipe_of("t2-authors", 0);
    check_below("mass on T2, authors' mixture", fabs(mass_of(t, 256) - 1.0), 1e-12);
    npmd_truth_free(t);
}

static void kernel_constants_equal_integrals(void **state)
{
    (void)state;
    static const double KAPPA[] = { 0, 1e-6, 0.1, 1, 5, 19.99, 20.01, 25, 100, 700, 1e4, 1e6 };
    double worst = 0.0, fisher = 0.0;
    for (size_t i = 0; i < sizeof KAPPA / sizeof *KAPPA; i++) {
        const long double kappa = KAPPA[i], exact = scaled_bessel(0, KAPPA[i]);
        worst = fmax(worst, (double)fabsl(bessel_i0e(KAPPA[i]) / exact - 1.0L));
        /* 2 pi times the integral of exp(kappa (z - 1)) over -1..1 */
        const long double mass = kappa == 0.0L ? 4.0L * PI : 2.0L * PI * -expm1l(-2.0L * kappa) / kappa;
        fisher = fmax(fisher, (double)fabsl(truth_log_fisher_constant(KAPPA[i]) + logl(mass)));
    }
    check_below("I_0, relative", worst, 1e-14);
    check_below("von Mises-Fisher, log of the constant", fisher, 4e-15);
}

/* ---- Draws ------------------------------------------------------------------------------------------------------- */

#define DRAWS 200000

/* A mean of numbers in [-1, 1] with this expectation and mean square, within 4 standard errors:
 * P < 7e-5 each. */
static void check_mean(const char *what, const double *values, double expected)
{
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        mean += values[i] / DRAWS;
        square += values[i] * values[i] / DRAWS;
    }
    check_quiet(what, fabs(mean - expected), 4.0 * sqrt((square - mean * mean) / DRAWS) + 1e-15);
}

/* E cos(n . (x - mean)) = exp(-n' C n / 2) and E sin(...) = 0 for a wrapped normal. */
static void wrapped_normal_moments(void **state)
{
    npmd_truth *t = truth_of(*state, "{\"domain\":\"T3\",\"kind\":\"wrapped normal mixture\",\"weights\":[1],"
                                     "\"means\":[[0.1,3,-2]],"
                                     "\"covariances\":[[[1,-0.4,0.1],[-0.4,0.5,0.2],[0.1,0.2,0.3]]]}");
    static const int N[][3] = { { 1, 0, 0 },  { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 0 },
                                { 1, 0, -1 }, { 0, 1, 1 }, { 2, 0, 1 } };
    double *x = doubles(3 * DRAWS), *cosine = doubles(DRAWS), *sine = doubles(DRAWS);
    assert_int_equal(npmd_truth_sample(t, 11, DRAWS, NULL, x, NULL), NPMD_OK);
    for (size_t k = 0; k < sizeof N / sizeof *N; k++) {
        double form = 0.0;
        for (int i = 0; i < 9; i++)
            form += N[k][i / 3] * t->covariance[i] * N[k][i % 3];
        for (int i = 0; i < DRAWS; i++) {
            double phase = 0.0;
            for (int d = 0; d < 3; d++) {
                assert_true(x[3 * i + d] >= 0.0 && x[3 * i + d] < TWO_PI);
                phase += N[k][d] * (x[3 * i + d] - t->mean[d]);
            }
            cosine[i] = cos(phase);
            sine[i] = sin(phase);
        }
        check_mean("cosine moment of a wrapped normal", cosine, exp(-0.5 * form));
        check_mean("sine moment of a wrapped normal", sine, 0.0);
    }
    free(x);
    free(cosine);
    free(sine);
    npmd_truth_free(t);
}

/* On S1 E cos = I_1 / I_0; on S2 E cos = coth kappa - 1 / kappa,
 * and the longitude about the mean is uniform. */
static void fisher_moments(void **state)
{
    static const double KAPPA[] = { 0.0, 1e-9, 0.3, 4.0, 90.0, 1e4 };
    double *x = doubles(4 * DRAWS), *value = doubles(DRAWS);
    for (size_t k = 0; k < sizeof KAPPA / sizeof *KAPPA; k++) {
        const double kappa = KAPPA[k];
        char text[256];
        snprintf(text, sizeof text,
                 "{\"domain\":\"S1 x S2\",\"kind\":\"von Mises-Fisher mixture\",\"weights\":[1],"
                 "\"means\":[[2,0.48,0.64,0.6]],\"kappas\":[[%.17g,%.17g]]}",
                 kappa, kappa);
        npmd_truth *t = truth_of(*state, text);
        const double *m = t->mean + 1, across[3] = { 0.8, -0.6, 0.0 };
        assert_int_equal(npmd_truth_sample(t, 12, DRAWS, NULL, x, NULL), NPMD_OK);
        for (int i = 0; i < DRAWS; i++)
            value[i] = cos(x[4 * i] - 2.0);
        check_mean("von Mises: cosine", value, (double)(scaled_bessel(1, kappa) / scaled_bessel(0, kappa)));
        for (int i = 0; i < DRAWS; i++)
            value[i] = sin(x[4 * i] - 2.0);
        check_mean("von Mises: sine", value, 0.0);
        for (int i = 0; i < DRAWS; i++)
            value[i] = m[0] * x[4 * i + 1] + m[1] * x[4 * i + 2] + m[2] * x[4 * i + 3];
        check_mean("von Mises-Fisher: cosine", value, kappa < 1e-3 ? kappa / 3.0 : 1.0 / tanh(kappa) - 1.0 / kappa);
        for (int i = 0; i < DRAWS; i++)
            value[i] = across[0] * x[4 * i + 1] + across[1] * x[4 * i + 2];
        check_mean("von Mises-Fisher: across", value, 0.0);
        for (int i = 0; i < DRAWS; i++) /* the two factors are independent */
            value[i] = sin(x[4 * i] - 2.0) * (across[0] * x[4 * i + 1] + across[1] * x[4 * i + 2]);
        check_mean("von Mises-Fisher: product", value, 0.0);
        npmd_truth_free(t);
    }
    free(x);
    free(value);
}

/* -log f over draws has mean equal to the entropy by the grid: draws and density are of the same mixture. */
static void draws_follow_their_density(void **state)
{
    npmd_truth *t[3] = { recipe_of("t2-authors", 0), truth_of(*state, T2_WIDE), truth_of(*state, T1_FISHER) };
    for (int k = 0; k < 3; k++) {
        double *x = doubles(2 * DRAWS), *value = doubles(DRAWS), entropy = 0.0, se = 1.0;
        assert_int_equal(npmd_truth_sample(t[k], 13, DRAWS, NULL, x, NULL), NPMD_OK);
        assert_int_equal(npmd_truth_log_density(t[k], x, DRAWS, NULL, value, NULL), NPMD_OK);
        assert_int_equal(npmd_truth_entropy(t[k], 1, NULL, &entropy, &se, NULL), NPMD_OK);
        assert_true(se == 0.0);
        check_mean("log density of draws", value, -entropy);
        free(x);
        free(value);
        npmd_truth_free(t[k]);
    }
}

static void draws_do_not_know_chunks_or_threads(void **state)
{
    npmd_truth *t[2] = { recipe_of("t4", 1), truth_of(*state, S2S1_FISHER) };
    for (int k = 0; k < 2; k++) {
        double whole[400], parts[400];
        const int before = omp_get_max_threads();
        const rng_key key = rng_key_make(77, RNG_SIMULATE, 0);
        omp_set_num_threads(1);
        assert_int_equal(npmd_truth_sample(t[k], 77, 100, NULL, whole, NULL), NPMD_OK);
        omp_set_num_threads(3);
        for (uint64_t first = 0; first < 100; first += 7)
            mixture_draws(t[k], key, first, first + 7 < 100 ? 7 : 100 - first, parts + 4 * first);
        omp_set_num_threads(before);
        assert_memory_equal(whole, parts, sizeof whole);
        npmd_truth_free(t[k]);
    }
}

/* ---- Recipes and entropy ----------------------------------------------------------------------------------------- */

static void recipes_follow_the_paper(void **state)
{
    (void)state;
    double cosine = 0.0, sine = 0.0;
    const int seeds = 2000;
    for (int seed = 0; seed < seeds; seed++) {
        npmd_truth *t = recipe_of("t2", (uint64_t)seed);
        const double *C = t->covariance, trace = C[0] + C[3], determinant = C[0] * C[3] - C[1] * C[2];
        const double root = sqrt(trace * trace - 4.0 * determinant);
        assert_true(C[1] == C[2]);
        assert_true(fmax(C[0], C[3]) == 1.0);
        check_quiet("anisotropy 100", fabs((trace + root) / (trace - root) / 100.0 - 1.0), 1e-10);
        /* twice the angle of the axis is uniform when Q is: mean cosine and sine 0, variance 1/2 */
        cosine += (C[0] - C[3]) / root / seeds;
        sine += 2.0 * C[1] / root / seeds;
        npmd_truth_free(t);
    }
    check_below("axis of the covariance: mean cosine", fabs(cosine), 4.0 * sqrt(0.5 / seeds));
    check_below("axis of the covariance: mean sine", fabs(sine), 4.0 * sqrt(0.5 / seeds));

    npmd_truth *a = recipe_of("t4", 8), *b = recipe_of("t4", 8), *c = recipe_of("t4", 9);
    assert_memory_equal(a->covariance, b->covariance, 80 * sizeof(double));
    assert_memory_not_equal(a->covariance, c->covariance, 80 * sizeof(double));
    assert_memory_not_equal(a->covariance, a->covariance + 16, 16 * sizeof(double));
    npmd_truth_free(a);
    npmd_truth_free(b);
    npmd_truth_free(c);
    npmd_error err = { 0 };
    assert_int_equal(npmd_truth_make("t3", 0, &a, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "t2-authors"));
}

/* log(2 pi I_0) - kappa I_1 / I_0 on S1; for a product the sum over factors, with
 * log(4 pi sinh kappa / kappa) - kappa coth kappa + 1 on S2. */
static void entropies_are_known(void **state)
{
    npmd_truth *t2 = recipe_of("t2-authors", 0);
    npmd_truth *mises = truth_of(*state, "{\"domain\":\"S1\",\"kind\":\"von Mises-Fisher mixture\",\"weights\":[1],"
                                         "\"means\":[[1]],\"kappas\":[[7]]}");
    npmd_truth *product = truth_of(*state, "{\"domain\":\"S1 x S2\",\"kind\":\"von Mises-Fisher mixture\","
                                           "\"weights\":[1],\"means\":[[1,0,1,0]],\"kappas\":[[7,3]]}");
    double entropy = 0.0, se = 0.0;
    assert_int_equal(npmd_truth_entropy(t2, 1, NULL, &entropy, &se, NULL), NPMD_OK);
    check_below("entropy of the authors' T2 mixture, 2.010662", fabs(entropy - 2.010662), 1e-6);
    const double i0 = (double)scaled_bessel(0, 7.0), i1 = (double)scaled_bessel(1, 7.0);
    const double circle = log(TWO_PI * i0) + 7.0 - 7.0 * i1 / i0;
    const double sphere = log(2.0 * TWO_PI * sinh(3.0) / 3.0) - 3.0 / tanh(3.0) + 1.0;
    assert_int_equal(npmd_truth_entropy(mises, 1, NULL, &entropy, &se, NULL), NPMD_OK);
    check_below("entropy of a von Mises density", fabs(entropy - circle), 1e-9);
    assert_int_equal(npmd_truth_entropy(product, 1, NULL, &entropy, &se, NULL), NPMD_OK);
    assert_true(se > 0.0 && se < 0.01);
    check_below("entropy on S1 x S2, in standard errors", fabs(entropy - circle - sphere) / se, 4.0);
    npmd_truth_free(t2);
    npmd_truth_free(mises);
    npmd_truth_free(product);
}

/* The threads of this process; 0 where there is no such list. */
static int threads_alive(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
        count += e->d_name[0] != '.';
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* Those of OpenMP stay alive after their work: as many as were asked for, whatever the environment says. */
static void threads_are_as_many_as_asked_for(void **state)
{
    (void)state;
    enum { MANY = 5 };
    npmd_truth *t = NULL;
    double *x = doubles(2 * DRAWS);
    const int before = threads_alive();
    if (before == 0 || before >= MANY || omp_get_max_threads() >= MANY)
        skip();
    assert_int_equal(npmd_truth_make("t2", 0, &t, NULL), NPMD_OK);
    const npmd_compute how = { .size = sizeof how, .threads = MANY };
    assert_int_equal(npmd_truth_sample(t, 1, DRAWS, &how, x, NULL), NPMD_OK);
    assert_true(threads_alive() >= MANY);
    npmd_truth_free(t);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapped_normals_equal_brute_force),
        cmocka_unit_test(another_branch_changes_nothing),
        cmocka_unit_test(far_away_the_logarithm_is_finite),
        cmocka_unit_test(bad_points_are_named),
        cmocka_unit_test(mass_is_one),
        cmocka_unit_test(kernel_constants_equal_integrals),
        cmocka_unit_test(wrapped_normal_moments),
        cmocka_unit_test(fisher_moments),
        cmocka_unit_test(draws_follow_their_density),
        cmocka_unit_test(draws_do_not_know_chunks_or_threads),
        cmocka_unit_test(recipes_follow_the_paper),
        cmocka_unit_test(entropies_are_known),
        cmocka_unit_test(threads_are_as_many_as_asked_for),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
