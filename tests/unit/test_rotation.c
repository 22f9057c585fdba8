/* test_rotation.c - features that are random combinations of products of one eigenvalue.
 *
 * What a rotation promises is exact: orthonormal rows, orthonormal features, one eigenvalue a block. Sums of
 * at most 32 products of numbers below one are off by a few 1e-16, so rows are held to 1e-14; Gram matrices
 * under a quadrature that is exact for them, as in test_encoding.c, to 1e-12. Laws are held to 4.5 standard
 * errors at fixed seeds. */
#include "check.h"
#include "training.h"

#include <time.h>

typedef struct rotation_case {
    const char *domain;
    int top[2]; /* max frequency of each factor */
    int features;
    const char *law;
} rotation_case;

static const rotation_case CASES[] = {
    { "S2", { 9, 0 }, 60, "power" },      { "S2", { 9, 0 }, 99, "uniform" },
    { "S2 x S1", { 5, 7 }, 90, "power" }, { "S2 x S1", { 5, 7 }, 200, "uniform" },
    { "S2 x S2", { 4, 4 }, 40, "power" }, { "S2 x S2", { 4, 4 }, 150, "uniform" },
    { "S1 x S2", { 4, 3 }, 1, "power" },
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

static npmd_domain *domain(const char *text)
{
    npmd_domain *dom = NULL;
    npmd_error err = { 0 };
    if (npmd_domain_parse(text, &dom, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return dom;
}

static npmd_options options(const npmd_domain *dom, const rotation_case *c)
{
    npmd_options opt;
    options_init(&opt);
    opt.set.encoding.separable = 0;
    opt.set.encoding.features = c->features;
    opt.set.encoding.max_frequencies = dom->factors;
    for (int d = 0; d < dom->factors; d++)
        opt.set.encoding.max_frequency[d] = c->top[d < 2 ? d : 1];
    assert_int_equal(npmd_options_set(&opt, "spectrum-law", c->law, NULL), NPMD_OK);
    opt.set.encoding.decay = 0.5 * dom->dimension + 1.0;
    opt.set.encoding.scale = SCALE_ORTHONORMAL;
    return opt;
}

static void draw(const npmd_domain *dom, const npmd_options *opt, encoding *enc)
{
    npmd_error err = { 0 };
    if (encoding_draw(dom, &opt->set, enc, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

/* ---- blocks and matrices ----------------------------------------------------------------------------------------- */

static double row_lambda(const encoding *enc, int row)
{
    double lambda = 0.0;
    for (int d = 0; d < enc->domain->factors; d++)
        lambda += enc->domain->factor[d]->eigenvalue(enc->domain->factor[d],
                                                     enc->function[row * enc->domain->factors + d]);
    return lambda;
}

/* Sizes, eigenvalues and distinct functions; returns the largest departure of a matrix's rows from
 * orthonormal ones. */
static double check_blocks(const encoding *enc, const npmd_options *opt)
{
    const int D = enc->domain->factors;
    const double *matrix = enc->rotation;
    int features = 0, functions = 0, least = 0;
    double worst = 0.0;
    assert_true(enc->blocks > 0);
    for (int b = 0; b < enc->blocks; b++) {
        const int m = enc->block[b].features, B = enc->block[b].functions;
        assert_true(1 <= m && m <= B && B <= 32);
        for (int i = 0; i < m; i++)
            assert_true(enc->lambda[features + i] == row_lambda(enc, functions)); /* whole numbers */
        for (int j = 0; j < B; j++)
            assert_true(row_lambda(enc, functions + j) == row_lambda(enc, functions));
        for (int i = 0; i < m; i++)
            for (int k = 0; k <= i; k++) {
                double dot = 0.0;
                for (int j = 0; j < B; j++)
                    dot += matrix[i * B + j] * matrix[k * B + j];
                worst = fmax(worst, fabs(dot - (i == k)));
            }
        features += m;
        functions += B;
        matrix += m * B;
        least += B > 1;
    }
    assert_int_equal(features, enc->features);
    assert_int_equal(functions, enc->vectors);
    assert_true(enc->vectors <= 32 * enc->blocks && enc->blocks <= enc->features);
    assert_true(matrix - enc->rotation == (ptrdiff_t)encoding_rotation_size(enc->blocks, enc->block));
    assert_true(2 * least >= enc->blocks); /* companions are found for most */
    for (int i = 0; i < enc->vectors; i++) {
        bool constant = true;
        for (int d = 0; d < D; d++) {
            const int f = enc->function[i * D + d];
            assert_true(f >= 0
                        && enc->domain->factor[d]->frequency(enc->domain->factor[d], f)
                               <= opt->set.encoding.max_frequency[d]);
            assert_true(enc->domain->factor[d]->frequency(enc->domain->factor[d], f) <= enc->frequency[d]);
            constant = constant && f == 0;
        }
        assert_false(constant);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(memcmp(enc->function + i * D, enc->function + j * D, (size_t)D * sizeof(int)), 0);
    }
    return worst;
}

static bool same_encoding(const encoding *a, const encoding *b)
{
    return a->vectors == b->vectors && a->blocks == b->blocks
           && memcmp(a->function, b->function, (size_t)(a->vectors * a->domain->factors) * sizeof *a->function) == 0
           && memcmp(a->block, b->block, (size_t)a->blocks * sizeof *a->block) == 0
           && memcmp(a->rotation, b->rotation, encoding_rotation_size(a->blocks, a->block) * sizeof *a->rotation) == 0;
}

static void blocks_hold_one_eigenvalue(void **state)
{
    (void)state;
    double worst = 0.0;
    for (int c = 0; c < CASE_COUNT; c++) {
        npmd_domain *dom = domain(CASES[c].domain);
        npmd_options opt = options(dom, &CASES[c]);
        encoding a = { 0 }, b = { 0 }, other = { 0 };
        draw(dom, &opt, &a);
        draw(dom, &opt, &b);
        worst = fmax(worst, check_blocks(&a, &opt));
        assert_true(same_encoding(&a, &b)); /* a function of the seed ... */
        opt.set.seed++;
        draw(dom, &opt, &other);
        worst = fmax(worst, check_blocks(&other, &opt));
        assert_false(same_encoding(&a, &other)); /* ... that does depend on it */
        encoding_free(&a);
        encoding_free(&b);
        encoding_free(&other);
        npmd_domain_free(dom);
    }
    check_below("rows of the matrices, from orthonormal", worst, 1e-14);
}

/* More than 32 of one eigenvalue: blocks of nearly equal size. On S2 x S2 up to degree 4 eigenvalue 8 has
 * 2 x 3 x 5 = 30 functions, 14 has 2 x 3 x 7 = 42; all 624 functions are asked for. */
static void large_groups_are_split(void **state)
{
    (void)state;
    npmd_domain *dom = domain("S2 x S2");
    const rotation_case all = { "S2 x S2", { 4, 4 }, 624, "power" };
    npmd_options opt = options(dom, &all);
    encoding enc = { 0 };
    int of_8 = 0, of_14 = 0;
    draw(dom, &opt, &enc);
    check_blocks(&enc, &opt);
    assert_int_equal(enc.vectors, 624);
    for (int b = 0, k = 0; b < enc.blocks; k += enc.block[b++].features) {
        assert_int_equal(enc.block[b].features, enc.block[b].functions);
        of_8 += enc.lambda[k] == 8.0;
        of_14 += enc.lambda[k] == 14.0;
        if (enc.lambda[k] == 8.0)
            assert_int_equal(enc.block[b].features, 30);
        if (enc.lambda[k] == 14.0)
            assert_int_equal(enc.block[b].features, 21);
    }
    assert_int_equal(of_8, 1);
    assert_int_equal(of_14, 2);
    encoding_free(&enc);
    npmd_domain_free(dom);
}

/* ---- features ---------------------------------------------------------------------------------------------------- */

/* Nodes (count, columns) and weights of sum 1: exact for products of two eigenfunctions up to frequency 15
 * on S1, up to degree 9 on S2. */
static size_t factor_nodes(const manifold *m, double *x, double *w)
{
    enum { N = 32, LATITUDES = 10, LONGITUDES = 20 };
    size_t count = 0;
    if (m == &CIRCLE) {
        for (; count < N; count++) {
            x[count] = 2.0 * (double)CHECK_PI * (double)count / N;
            w[count] = 1.0 / N;
        }
        return count;
    }
    double z[LATITUDES], weight[LATITUDES];
    gauss_legendre(LATITUDES, z, weight);
    for (int i = 0; i < LATITUDES; i++)
        for (int j = 0; j < LONGITUDES; j++) {
            const double phi = 2.0 * (double)CHECK_PI * j / LONGITUDES, r = sqrt(1.0 - z[i] * z[i]);
            x[3 * count] = r * cos(phi);
            x[3 * count + 1] = r * sin(phi);
            x[3 * count + 2] = z[i];
            w[count++] = 0.5 * weight[i] / LONGITUDES;
        }
    return count;
}

/* All features on all nodes: value (nodes of factor 0, nodes of factor 1, K), weight (nodes). */
typedef struct grid {
    size_t count[2];
    double *value, *weight;
} grid;

static void grid_open(const encoding *enc, grid *g)
{
    const npmd_domain *dom = enc->domain;
    const size_t K = (size_t)enc->features;
    double node[2][600], weight[2][200] = { { 1.0 }, { 1.0 } }, x[6], *work = doubles(encoding_work(enc));
    g->count[0] = g->count[1] = 1;
    for (int d = 0; d < dom->factors; d++)
        g->count[d] = factor_nodes(dom->factor[d], node[d], weight[d]);
    g->value = doubles(g->count[0] * g->count[1] * K);
    g->weight = doubles(g->count[0] * g->count[1]);
    for (size_t a = 0, i = 0; a < g->count[0]; a++)
        for (size_t b = 0; b < g->count[1]; b++, i++) {
            const size_t index[2] = { a, b };
            for (int d = 0; d < dom->factors; d++) {
                const size_t columns = (size_t)dom->factor[d]->columns;
                memcpy(x + dom->column[d], node[d] + index[d] * columns, columns * sizeof *x);
            }
            encoding_jet(enc, x, 1, work, g->value + i * K);
            g->weight[i] = weight[0][a] * weight[1][b] * dom->volume;
        }
    free(work);
}

static void grid_close(grid *g)
{
    free(g->value), free(g->weight);
}

static void features_are_orthonormal(void **state)
{
    (void)state;
    for (int c = 0; c < CASE_COUNT; c++) {
        npmd_domain *dom = domain(CASES[c].domain);
        npmd_options opt = options(dom, &CASES[c]);
        encoding enc = { 0 };
        grid g;
        draw(dom, &opt, &enc);
        grid_open(&enc, &g);
        const size_t K = (size_t)enc.features, nodes = g.count[0] * g.count[1];
        double *gram = doubles(K * K), worst = 0.0;
        for (size_t i = 0; i < nodes; i++) {
            const double *v = g.value + i * K;
            for (size_t k = 0; k < K; k++)
                for (size_t l = 0; l <= k; l++)
                    gram[k * K + l] += g.weight[i] * v[k] * v[l];
        }
        for (size_t k = 0; k < K; k++)
            for (size_t l = 0; l <= k; l++)
                worst = fmax(worst, fabs(gram[k * K + l] - (k == l)));
        char text[96];
        snprintf(text, sizeof text, "%s %s, %d features: Gram matrix", CASES[c].domain, CASES[c].law,
                 CASES[c].features);
        check_below(text, worst, 1e-12);
        free(gram);
        grid_close(&g);
        encoding_free(&enc);
        npmd_domain_free(dom);
    }
}

/* How far a feature's values on a product grid are from a matrix of rank one: what is left after the row and
 * the column of its largest entry explain what they can, relative in norm. */
static double beyond_rank_one(const grid *g, size_t K, size_t k)
{
    size_t at = 0;
    double left = 0.0, size = 0.0;
    for (size_t i = 0; i < g->count[0] * g->count[1]; i++)
        if (fabs(g->value[i * K + k]) > fabs(g->value[at * K + k]))
            at = i;
    const size_t row = at / g->count[1], column = at % g->count[1];
    for (size_t a = 0; a < g->count[0]; a++)
        for (size_t b = 0; b < g->count[1]; b++) {
            const double v = g->value[(a * g->count[1] + b) * K + k];
            const double explained = g->value[(a * g->count[1] + column) * K + k]
                                     * g->value[(row * g->count[1] + b) * K + k] / g->value[at * K + k];
            left += (v - explained) * (v - explained);
            size += v * v;
        }
    return sqrt(left / size);
}

/* Of a block whose functions differ on both factors nothing is a product; without a rotation all are. A block
 * that differs on one factor only (cos and sin of one frequency, say) has nothing to lose. */
static void features_are_not_separable(void **state)
{
    (void)state;
    for (int c = 2; c < 6; c++) {
        npmd_domain *dom = domain(CASES[c].domain);
        npmd_options opt = options(dom, &CASES[c]);
        encoding enc = { 0 }, plain = { 0 };
        grid g;
        double least = INFINITY, most = 0.0;
        int mixed = 0;
        draw(dom, &opt, &enc);
        grid_open(&enc, &g);
        for (int b = 0, k = 0, row = 0; b < enc.blocks; row += enc.block[b++].functions) {
            bool differs[2] = { false, false };
            for (int j = 1; j < enc.block[b].functions; j++)
                for (int d = 0; d < 2; d++)
                    differs[d] = differs[d] || enc.function[(row + j) * 2 + d] != enc.function[row * 2 + d];
            for (int i = 0; i < enc.block[b].features; i++, k++)
                if (differs[0] && differs[1]) {
                    least = fmin(least, beyond_rank_one(&g, (size_t)enc.features, (size_t)k));
                    mixed++;
                }
        }
        grid_close(&g);
        opt.set.encoding.separable = 1;
        draw(dom, &opt, &plain);
        assert_int_equal(plain.blocks, 0);
        grid_open(&plain, &g);
        for (int k = 0; k < plain.features; k++)
            most = fmax(most, beyond_rank_one(&g, (size_t)plain.features, (size_t)k));
        print_message("    %s %s: %d of %d features mixed, beyond rank one by %.3f or more\n", CASES[c].domain,
                      CASES[c].law, mixed, enc.features, least);
        assert_true(2 * mixed > enc.features);
        assert_true(least > 1e-3);
        check_below("the same without a rotation", most, 1e-12);
        grid_close(&g);
        encoding_free(&enc);
        encoding_free(&plain);
        npmd_domain_free(dom);
    }
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

/* Uniformly distributed: the first row of the block of eigenvalue 2 on S2 is uniform on the sphere in three
 * dimensions, so r_j has mean 0, r_j^2 mean 1/3 and variance 3/15 - 1/9, r_i r_j mean 0 and variance 1/15;
 * and determinants of both signs are equally frequent. */
static void matrices_are_uniform(void **state)
{
    (void)state;
    enum { SEEDS = 4000 };
    npmd_domain *dom = domain("S2");
    const rotation_case all = { "S2", { 1, 0 }, 3, "power" };
    npmd_options opt = options(dom, &all);
    double mean[3] = { 0 }, square[3] = { 0 }, cross = 0.0;
    int positive = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        encoding enc = { 0 };
        opt.set.seed = (uint64_t)seed;
        draw(dom, &opt, &enc);
        assert_int_equal(enc.blocks, 1);
        const double *r = enc.rotation;
        for (int j = 0; j < 3; j++) {
            mean[j] += r[j] / SEEDS;
            square[j] += r[j] * r[j] / SEEDS;
        }
        cross += r[0] * r[1] / SEEDS;
        positive += r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6])
                        + r[2] * (r[3] * r[7] - r[4] * r[6])
                    > 0.0;
        encoding_free(&enc);
    }
    for (int j = 0; j < 3; j++) {
        check_below("mean of an entry", fabs(mean[j]), 4.5 * sqrt(1.0 / 3.0 / SEEDS));
        check_below("mean of its square", fabs(square[j] - 1.0 / 3.0), 4.5 * sqrt(4.0 / 45.0 / SEEDS));
    }
    check_below("mean of a product", fabs(cross), 4.5 * sqrt(1.0 / 15.0 / SEEDS));
    check_below("determinants", fabs(positive - 0.5 * SEEDS), 4.5 * sqrt(0.25 * SEEDS));
    npmd_domain_free(dom);
}

/* One feature: when its eigenvalue is 14, its block holds 32 of 42 functions, each with probability 32/42. */
static void companions_are_uniform(void **state)
{
    (void)state;
    npmd_domain *dom = domain("S2 x S2");
    const rotation_case one = { "S2 x S2", { 4, 4 }, 1, "uniform" };
    npmd_options opt = options(dom, &one);
    int hits = 0, seen[25][25] = { { 0 } }, members = 0;
    double worst = 0.0;
    for (int seed = 1; seed <= 6000; seed++) {
        encoding enc = { 0 };
        opt.set.seed = (uint64_t)seed;
        draw(dom, &opt, &enc);
        if (enc.lambda[0] == 14.0) {
            assert_int_equal(enc.vectors, 32);
            hits++;
            for (int j = 0; j < 32; j++)
                seen[enc.function[2 * j]][enc.function[2 * j + 1]]++;
        }
        encoding_free(&enc);
    }
    assert_true(hits > 200);
    for (int i = 0; i < 25; i++)
        for (int j = 0; j < 25; j++)
            if (seen[i][j] > 0) {
                const double p = 32.0 / 42.0;
                worst = fmax(worst, fabs(seen[i][j] - hits * p) / sqrt(hits * p * (1.0 - p)));
                members++;
            }
    assert_int_equal(members, 42);
    check_below("members of an eigenspace, worst in standard errors", worst, 4.5);
    npmd_domain_free(dom);
}

/* Products that are never listed: time is bounded, and most blocks find companions. */
static void large_products_are_rotated_quickly(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    const double slower = 10.0;
#else
    const double slower = 1.0;
#endif
    static const char *const DOMAIN[] = { "S2 x S2 x S2", "S2^4", "S2^2 x S1^6", "S2^16" };
    for (size_t i = 0; i < sizeof DOMAIN / sizeof *DOMAIN; i++) {
        npmd_domain *dom = domain(DOMAIN[i]);
        npmd_options opt;
        npmd_error err = { 0 };
        encoding enc = { 0 };
        options_init(&opt);
        opt.set.encoding.separable = 0;
        if (training_complete(&opt.set, 1u << FIT_FIELD, dom, 1000, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        const clock_t before = clock();
        draw(dom, &opt, &enc);
        check_below(DOMAIN[i], (double)(clock() - before) / CLOCKS_PER_SEC, 1.0 * slower);
        check_blocks(&enc, &opt);
        int alone = 0;
        for (int b = 0; b < enc.blocks; b++)
            alone += enc.block[b].functions == 1;
        print_message("    %d blocks of %d functions in all, %d alone\n", enc.blocks, enc.vectors, alone);
        encoding_free(&enc);
        npmd_domain_free(dom);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_hold_one_eigenvalue),
        cmocka_unit_test(large_groups_are_split),
        cmocka_unit_test(features_are_orthonormal),
        cmocka_unit_test(features_are_not_separable),
        cmocka_unit_test(matrices_are_uniform),
        cmocka_unit_test(companions_are_uniform),
        cmocka_unit_test(large_products_are_rotated_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
