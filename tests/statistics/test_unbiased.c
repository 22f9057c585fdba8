/* test_unbiased.c - stochastic gradients are unbiased, and plane waves span what they should.
 *
 * The mean of 10^4 stochastic gradients of a term is held to its full gradient - an integral over the
 * domain by quadrature that is exact to rounding, or the sum over all data - along 10 fixed random
 * directions, within 4 standard errors. One direction fails by chance with probability 6.3e-5; there are
 * 20 laws x 11 figures (10 directions and the sum), so a correct library would fail with probability 1.4 %
 * at a random seed. Seeds are fixed: the verdict never changes, and was drawn once. Replicates are
 * independent (each has a key of its own), quasi-random ones too: their points depend on each other within
 * a scramble, not between scrambles, so the standard error comes from the replicates. */
#include "fixture.h"

enum { REPLICATES = 10000, POINTS = 16, DIRECTIONS = 10, DATA = 100 };

typedef struct stage {
    fixture field;
    void *self;
    npmd_points *plain, *weighted;
    double *cumulative, *cumulative_weighted;
    proposal importance;
    double *quadrature, *weight; /* nodes (count, columns), and weights that sum to 1 */
    size_t nodes;
    double *direction; /* (DIRECTIONS, parameters) */
} stage;

/* Mean over the domain, exact for what occurs: trigonometric polynomials of degree < 96 on T2; on S2
 * polynomials of degree < 96 (Gauss-Legendre in z, equidistant longitudes). v is analytic with frequencies
 * up to 5 (degree 6) inside one or two sines of omega 2 and an exponential: its series has fallen below
 * 1e-10 there, far less than a standard error. */
static void stage_quadrature(stage *s)
{
    enum { N = 96, LATITUDES = 48 };
    const double pi = (double)CHECK_PI;
    const bool torus = s->field.domain->torus;
    double node[LATITUDES], w[LATITUDES];
    gauss_legendre(LATITUDES, node, w);
    s->nodes = torus ? N * N : LATITUDES * N;
    s->quadrature = doubles(s->nodes * (size_t)s->field.domain->columns);
    s->weight = doubles(s->nodes);
    for (size_t k = 0; k < s->nodes; k++) {
        const size_t i = k / N, j = k % N;
        if (torus) {
            s->quadrature[2 * k] = 2.0 * pi * (double)i / N;
            s->quadrature[2 * k + 1] = 2.0 * pi * (double)j / N;
            s->weight[k] = 1.0 / ((double)N * N);
        } else {
            const double r = sqrt(1.0 - node[i] * node[i]), phi = 2.0 * pi * (double)j / N;
            s->quadrature[3 * k] = r * cos(phi);
            s->quadrature[3 * k + 1] = r * sin(phi);
            s->quadrature[3 * k + 2] = node[i];
            s->weight[k] = w[i] / 2.0 / N;
        }
    }
}

static void stage_open(const char *domain, stage *s)
{
    const field_case c = { domain, true, 6, 5, 3, true, 2.0, SCALE_UNIT };
    uint64_t seed = 31;
    memset(s, 0, sizeof *s);
    fixture_open(&c, 77, &s->field);
    const npmd_domain *dom = s->field.domain;
    s->self = fixture_backend(&s->field, &BACKEND_REFERENCE, 1);
    stage_quadrature(s);
    double *x = doubles((size_t)(DATA * dom->columns));
    fixture_points(dom, DATA / 2, 1.0, &seed, x);
    for (int i = DATA / 2; i < DATA; i++) /* half of the data in a heap, so that proposals are far from uniform */
        for (int j = 0; j < dom->columns; j++)
            x[i * dom->columns + j] = dom->torus ? 2.0 + 0.3 * test_normal(&seed) : (j == 1) + 0.2 * test_normal(&seed);
    for (int i = DATA / 2; i < DATA && !dom->torus; i++) {
        double *at = x + i * 3, r = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
        for (int j = 0; j < 3; j++)
            at[j] /= r;
    }
    assert_int_equal(points_from(x, DATA, dom, &s->plain, NULL), NPMD_OK);
    assert_int_equal(points_from(x, DATA, dom, &s->weighted, NULL), NPMD_OK);
    assert_int_equal(memory_new(&s->weighted->weight, DATA, NULL), NPMD_OK);
    double total = 0.0;
    for (int i = 0; i < DATA; i++)
        total += s->weighted->weight[i] = pow(test_uniform(&seed), 3); /* very uneven */
    for (int i = 0; i < DATA; i++)
        s->weighted->weight[i] *= DATA / total;
    s->weighted->total = total;
    assert_int_equal(points_cumulative(s->plain, &s->cumulative, NULL), NPMD_OK);
    assert_int_equal(points_cumulative(s->weighted, &s->cumulative_weighted, NULL), NPMD_OK);
    assert_int_equal(proposal_open(dom, 0.25, 0.7, 8, &s->importance, NULL), NPMD_OK);
    s->direction = doubles(DIRECTIONS * s->field.parameters);
    for (size_t i = 0; i < DIRECTIONS * s->field.parameters; i++)
        s->direction[i] = test_normal(&seed);
    free(x);
}

static void stage_close(stage *s)
{
    BACKEND_REFERENCE.close(s->self);
    proposal_close(&s->importance);
    memory_free(s->cumulative);
    memory_free(s->cumulative_weighted);
    npmd_points_free(s->plain);
    npmd_points_free(s->weighted);
    free(s->quadrature), free(s->weight), free(s->direction);
    fixture_close(&s->field);
}

typedef enum law {
    UNIFORM_INDEPENDENT,
    UNIFORM_QUASI,
    IMPORTANCE_INDEPENDENT,
    IMPORTANCE_QUASI,
    IMPORTANCE_WEIGHTED, /* centres drawn from weighted data */
    DATA_SHUFFLED,
    DATA_WEIGHTED,
    LAWS
} law;
static const char *const LAW_NAME[LAWS] = { "uniform, independent",      "uniform, quasi",
                                            "importance, independent",   "importance, quasi",
                                            "importance, weighted data", "minibatches",
                                            "weighted minibatches" };

/* The source of replicate r; for importance the proposal is aimed afresh, as in training. */
static void draw_source(stage *s, law which, uint64_t r, point_source *out)
{
    const rng_key key = rng_key_make(424242, RNG_INTEGRAL_POINTS, r);
    const npmd_points *data = which == DATA_WEIGHTED || which == IMPORTANCE_WEIGHTED ? s->weighted : s->plain;
    if (which <= UNIFORM_QUASI) {
        source_uniform(out, s->field.domain, POINTS, which == UNIFORM_QUASI, key);
    } else if (which <= IMPORTANCE_WEIGHTED) {
        proposal_aim(&s->importance, data, which == IMPORTANCE_WEIGHTED ? s->cumulative_weighted : s->cumulative,
                     rng_key_make(424242, RNG_CENTRES, r));
        source_importance(out, &s->importance, POINTS, which != IMPORTANCE_INDEPENDENT, key);
    } else {
        /* every epoch is a fresh shuffle, and any of its batches is as good as another */
        source_data(out, data, (size_t)(r % (DATA / POINTS)) * POINTS, POINTS, true,
                    rng_key_make(424242, RNG_BATCH, r));
    }
}

/* figures[0 .. DIRECTIONS-1]: projections of the gradient; figures[DIRECTIONS]: the sum. */
static void figures_of(const stage *s, term_kind kind, const point_source *source, double *gradient, double *figures)
{
    const size_t P = s->field.parameters;
    figures[DIRECTIONS] = fixture_term(&s->field, &BACKEND_REFERENCE, s->self, kind, source, 1.0, gradient);
    for (int j = 0; j < DIRECTIONS; j++) {
        figures[j] = 0.0;
        for (size_t p = 0; p < P; p++)
            figures[j] += s->direction[(size_t)j * P + p] * gradient[p];
    }
}

static double check_law(stage *s, law which, term_kind kind)
{
    const npmd_points *data = which == DATA_WEIGHTED || which == IMPORTANCE_WEIGHTED ? s->weighted : s->plain;
    double full[DIRECTIONS + 1], one[DIRECTIONS + 1], sum[DIRECTIONS + 1] = { 0 }, square[DIRECTIONS + 1] = { 0 };
    double *gradient = doubles(s->field.parameters), worst = 0.0, resolution = 0.0, size = 0.0, all[DATA];
    point_source source;
    assert_int_equal(BACKEND_REFERENCE.set_points(s->self, data, NULL), NPMD_OK);
    if (which >= DATA_SHUFFLED) { /* the mean over all data, with the test's own weights */
        for (int i = 0; i < DATA; i++)
            all[i] = (which == DATA_WEIGHTED ? data->weight[i] : 1.0) / DATA;
        source_fixed(&source, s->field.domain, data->x, all, DATA);
    } else {
        source_fixed(&source, s->field.domain, s->quadrature, s->weight, s->nodes);
    }
    figures_of(s, kind, &source, gradient, full);
    for (int j = 0; j < DIRECTIONS; j++)
        size += full[j] * full[j] / DIRECTIONS;
    for (uint64_t r = 0; r < REPLICATES; r++) {
        draw_source(s, which, r, &source);
        figures_of(s, kind, &source, gradient, one);
        for (int j = 0; j <= DIRECTIONS; j++) {
            sum[j] += one[j] - full[j];
            square[j] += (one[j] - full[j]) * (one[j] - full[j]);
        }
    }
    for (int j = 0; j <= DIRECTIONS; j++) {
        const double mean = sum[j] / REPLICATES, variance = square[j] / REPLICATES - mean * mean;
        const double se = sqrt(variance / (REPLICATES - 1));
        worst = fmax(worst, fabs(mean) / se);
        if (j < DIRECTIONS)
            resolution = fmax(resolution, se / sqrt(size));
    }
    char what[100];
    static const char *const TERM_NAME[] = { "data", "integral", "Laplacian", "gradient" };
    snprintf(what, sizeof what, "%s, %s term: largest error in SE (SE %.1e)", LAW_NAME[which], TERM_NAME[kind],
             resolution);
    check_below(what, worst, 4.0);
    /* the test could see something: a standard error is below 5 % of the gradient */
    assert_true(resolution < 0.05);
    free(gradient);
    return resolution;
}

static void gradients_are_unbiased(const char *domain)
{
    stage s;
    stage_open(domain, &s);
    const double independent = check_law(&s, UNIFORM_INDEPENDENT, TERM_INTEGRAL);
    const double quasi = check_law(&s, UNIFORM_QUASI, TERM_INTEGRAL);
    assert_true(quasi < independent); /* or quasi-random points are not worth their name */
    check_law(&s, UNIFORM_INDEPENDENT, TERM_LAPLACIAN);
    check_law(&s, UNIFORM_QUASI, TERM_LAPLACIAN);
    check_law(&s, UNIFORM_QUASI, TERM_GRADIENT);
    check_law(&s, IMPORTANCE_INDEPENDENT, TERM_INTEGRAL);
    check_law(&s, IMPORTANCE_QUASI, TERM_INTEGRAL);
    check_law(&s, IMPORTANCE_WEIGHTED, TERM_INTEGRAL);
    check_law(&s, DATA_SHUFFLED, TERM_DATA);
    check_law(&s, DATA_WEIGHTED, TERM_DATA);
    stage_close(&s);
}

static void unbiased_on_t2(void **state)
{
    (void)state;
    gradients_are_unbiased("T2");
}

static void unbiased_on_s2(void **state)
{
    (void)state;
    gradients_are_unbiased("S2");
}

/* The batches of one epoch together are the data: sums of disjoint batches add up to the full sum. 50
 * batches of 2; to rounding of 100 terms. */
static void an_epoch_sees_each_point_once(void **state)
{
    (void)state;
    stage s;
    stage_open("S2", &s);
    for (int weighted = 0; weighted < 2; weighted++) {
        const npmd_points *data = weighted ? s.weighted : s.plain;
        const size_t P = s.field.parameters;
        double *one = doubles(P), *total = doubles(P), *full = doubles(P), sum = 0.0;
        point_source source;
        char seen[DATA] = { 0 };
        assert_int_equal(BACKEND_REFERENCE.set_points(s.self, data, NULL), NPMD_OK);
        for (size_t first = 0; first < DATA; first += 2) {
            source_data(&source, data, first, 2, true, rng_key_make(8, RNG_BATCH, 3));
            for (size_t i = 0; i < 2; i++)
                assert_int_equal(seen[source_data_row(&source, i)]++, 0);
            sum += fixture_term(&s.field, &BACKEND_REFERENCE, s.self, TERM_DATA, &source, 1.0, one) / 50;
            for (size_t p = 0; p < P; p++)
                total[p] += one[p] / 50;
        }
        source_data(&source, data, 0, DATA, false, rng_key_make(8, RNG_BATCH, 0));
        const double all = fixture_term(&s.field, &BACKEND_REFERENCE, s.self, TERM_DATA, &source, 1.0, full);
        check_quiet("sums of an epoch's batches", fabs(sum - all), 1e-13 * (1.0 + fabs(all)));
        check_quiet("gradients of an epoch's batches", relative_norm(total, full, P), 1e-12);
        free(one), free(total), free(full);
    }
    stage_close(&s);
}

/* The proposal's density has mean 1 over the domain, and draws follow it: E[g/q] = mean g was tested above
 * with random centres; here the density itself, by quadrature. Kernels of rho = 0.7 are analytic with a
 * series 0.7^k, on 96 nodes a turn below 1e-14; on S2 through Gauss-Legendre the same about any centre (a
 * polynomial of degree 95 approximates them to 95 0.7^95 = 2e-13). */
static void proposal_densities_have_mean_one(void **state)
{
    (void)state;
    static const char *const DOMAIN[] = { "T2", "S2" };
    for (int d = 0; d < 2; d++) {
        stage s;
        stage_open(DOMAIN[d], &s);
        for (uint64_t aim = 0; aim < 5; aim++) {
            double mean = 0.0;
            proposal_aim(&s.importance, s.plain, s.cumulative, rng_key_make(3, RNG_CENTRES, aim));
            for (size_t i = 0; i < s.nodes; i++) {
                const double q = proposal_density(&s.importance, s.quadrature + i * (size_t)s.field.domain->columns);
                assert_true(q >= 0.25); /* the uniform share keeps weights bounded by 1/share */
                mean += s.weight[i] * q;
            }
            check_quiet("mean of the proposal's density", fabs(mean - 1.0), 1e-10);
        }
        stage_close(&s);
    }
}

/* ---- Plane waves ------------------------------------------------------------------------------------------------- */

enum { MAX_SPACE = 128, GRID_MAX = 4096 };

/* All i in Z^D with |i|^2 = lambda and first non-zero entry positive (or no negative entry: positive). */
static int wave_vectors(int D, int lambda, bool signs, int *out)
{
    const int top = (int)sqrt((double)lambda), side = 2 * top + 1;
    int count = 0, total = 1;
    for (int d = 0; d < D; d++)
        total *= side;
    for (int code = 0; code < total; code++) {
        int i[3], norm = 0, rest = code, first = 0;
        bool negative = false;
        for (int d = 0; d < D; d++, rest /= side) {
            i[d] = rest % side - top;
            norm += i[d] * i[d];
            negative = negative || i[d] < 0;
            first = first == 0 ? i[d] : first;
        }
        if (norm != lambda || (signs ? first <= 0 : negative))
            continue;
        assert_true(count < MAX_SPACE);
        memcpy(out + D * count++, i, (size_t)D * sizeof *out);
    }
    return count;
}

/* All products of circle eigenfunctions with sum of squared frequencies lambda. */
static int product_functions(int D, int lambda, int *out)
{
    const int side = 2 * (int)sqrt((double)lambda) + 1;
    int count = 0, total = 1;
    for (int d = 0; d < D; d++)
        total *= side;
    for (int code = 0; code < total; code++) {
        int j[3], norm = 0, rest = code;
        for (int d = 0; d < D; d++, rest /= side) {
            j[d] = rest % side;
            norm += (j[d] + 1) / 2 * ((j[d] + 1) / 2);
        }
        if (norm != lambda)
            continue;
        assert_true(count < MAX_SPACE);
        memcpy(out + D * count++, j, (size_t)D * sizeof *out);
    }
    return count;
}

/* Values at the nodes of an equidistant grid, (nodes, features). */
static double *values_on_grid(const encoding *enc, int D, int N, int nodes)
{
    double *work = doubles(encoding_work(enc)), *out = doubles((size_t)(nodes * enc->features));
    for (int k = 0; k < nodes; k++) {
        double x[3];
        for (int d = 0, rest = k; d < D; d++, rest /= N)
            x[d] = 2.0 * (double)CHECK_PI * (rest % N + 0.25) / N;
        encoding_jet(enc, x, 1, work, out + k * enc->features);
    }
    free(work);
    return out;
}

/* Largest pointwise part of the products outside the span of the waves (which are orthonormal), and the
 * Gram error. */
static void span(const npmd_domain *dom, int lambda, bool signs, int *dimension, int *products, double *gram_error,
                 double *residual)
{
    const int D = dom->factors, N = D == 2 ? 64 : 16; /* exact while 2 x frequency < N: lambda < 1024, 64 */
    const int nodes = D == 2 ? N * N : N * N * N;
    assert_true(nodes <= GRID_MAX);
    int vectors[3 * MAX_SPACE], functions[3 * MAX_SPACE];
    const int count = wave_vectors(D, lambda, signs, vectors);
    *products = product_functions(D, lambda, functions);
    *dimension = 2 * count;
    encoding waves, separable;
    assert_int_equal(encoding_make(dom, false, 2 * count, count, vectors, SCALE_ORTHONORMAL, &waves, NULL), NPMD_OK);
    assert_int_equal(encoding_make(dom, true, *products, *products, functions, SCALE_ORTHONORMAL, &separable, NULL),
                     NPMD_OK);
    double *w = values_on_grid(&waves, D, N, nodes), *p = values_on_grid(&separable, D, N, nodes);
    const int n = 2 * count, m = *products;
    const double cell = dom->volume / nodes;
    *gram_error = *residual = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double g = 0.0;
            for (int k = 0; k < nodes; k++)
                g += cell * w[k * n + i] * w[k * n + j];
            *gram_error = fmax(*gram_error, fabs(g - (i == j)));
        }
    for (int j = 0; j < m; j++) {
        double *rest = doubles((size_t)nodes);
        for (int k = 0; k < nodes; k++)
            rest[k] = p[k * m + j];
        for (int i = 0; i < n; i++) {
            double c = 0.0;
            for (int k = 0; k < nodes; k++)
                c += cell * w[k * n + i] * p[k * m + j];
            for (int k = 0; k < nodes; k++)
                rest[k] -= c * w[k * n + i];
        }
        for (int k = 0; k < nodes; k++)
            *residual = fmax(*residual, fabs(rest[k]));
        free(rest);
    }
    free(w), free(p);
    encoding_free(&waves);
    encoding_free(&separable);
}

/* Sums of 4096 products of numbers below 1, each good to about 1e-15: 1e-12 with room; and frequencies up
 * to 8 by way of angle doubling cost 4 x 8 eps. */
static void plane_waves_span_the_eigenspaces(void **state)
{
    (void)state;
    static const struct {
        const char *domain;
        int lambda;
    } SPACE[] = { { "T2", 1 },  { "T2", 2 }, { "T2", 5 }, { "T2", 25 }, { "T2", 50 },
                  { "T2", 65 }, { "T3", 1 }, { "T3", 3 }, { "T3", 9 },  { "T3", 14 } };
    double worst_gram = 0.0, worst_residual = 0.0;
    for (size_t i = 0; i < sizeof SPACE / sizeof *SPACE; i++) {
        npmd_domain *dom = NULL;
        int dimension, products;
        double gram, residual;
        assert_int_equal(npmd_domain_parse(SPACE[i].domain, &dom, NULL), NPMD_OK);
        span(dom, SPACE[i].lambda, true, &dimension, &products, &gram, &residual);
        assert_int_equal(dimension, products);
        worst_gram = fmax(worst_gram, gram);
        worst_residual = fmax(worst_residual, residual);
        npmd_domain_free(dom);
    }
    check_below("plane waves: Gram matrix", worst_gram, 1e-12);
    check_below("products outside their span", worst_residual, 1e-12);
}

/* With positive frequencies alone (the authors' code) half of cos(3 x) cos(4 y) is missing: they are not a
 * basis. */
static void positive_frequencies_are_not_a_basis(void **state)
{
    (void)state;
    npmd_domain *dom = NULL;
    int dimension, products;
    double gram, residual;
    assert_int_equal(npmd_domain_parse("T2", &dom, NULL), NPMD_OK);
    span(dom, 25, false, &dimension, &products, &gram, &residual);
    assert_int_equal(products, 12);
    assert_int_equal(dimension, 8); /* (5,0), (0,5), (3,4), (4,3) */
    /* cos 3x cos 4y / pi = (cos(3x + 4y) + cos(3x - 4y)) / (2 pi): the second half has size 1/(2 pi) */
    print_message("    positive frequencies leave %.3f of the products out\n", residual);
    assert_true(residual > 0.9 / (2.0 * (double)CHECK_PI));
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unbiased_on_t2),
        cmocka_unit_test(unbiased_on_s2),
        cmocka_unit_test(an_epoch_sees_each_point_once),
        cmocka_unit_test(proposal_densities_have_mean_one),
        cmocka_unit_test(plane_waves_span_the_eigenspaces),
        cmocka_unit_test(positive_frequencies_are_not_a_basis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
