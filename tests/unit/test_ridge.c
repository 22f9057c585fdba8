/* test_ridge.c - the law of the shallow-network theorem: draws, sums, scales, and the linear start on
 * features that repeat.
 *
 * Laws are held to their exact probabilities by chi-square tests at z = 4, means to 4.5 standard errors, all
 * at fixed seeds. Sums over a torus of any dimension are known exactly without a list: the number of
 * frequency vectors of length^2 lambda is a convolution over the factors. */
#include "check.h"
#include "spectrum.h"
#include "training.h"

#include <time.h>

typedef struct ridge_case {
    const char *domain;
    int top[2]; /* max frequency of each factor */
    bool separable, signs, constant;
    double decay, eps;
} ridge_case;

/* Steep laws and flat ones, s below, at and above 1, eps above and below every S. */
static const ridge_case CASES[] = {
    { "T2", { 3, 3 }, true, true, false, 2.0, 0.01 },      { "T2", { 3, 3 }, true, true, true, 2.0, 0.3 },
    { "T2", { 4, 4 }, false, true, false, 2.0, 1e-3 },     { "T2", { 6, 6 }, false, false, false, 2.0, 1e-3 },
    { "S2 x S1", { 3, 3 }, true, true, false, 2.5, 0.01 }, { "S2 x S1", { 3, 3 }, true, true, false, 1.0, 0.1 },
    { "S2 x S1", { 3, 3 }, true, true, true, 0.7, 0.2 },   { "S2", { 6, 0 }, true, true, false, 12.0, 1e-12 },
    { "T2", { 3, 3 }, true, true, false, 4.5, 1e-9 },      { "T2", { 3, 3 }, true, true, false, 2.0, 50.0 },
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

static npmd_options options(const npmd_domain *dom, const ridge_case *c)
{
    npmd_options opt;
    options_init(&opt);
    opt.set.encoding.separable = c->separable;
    opt.set.encoding.signs = c->signs;
    opt.set.encoding.constant = c->constant;
    opt.set.encoding.max_frequencies = dom->factors;
    for (int d = 0; d < dom->factors; d++)
        opt.set.encoding.max_frequency[d] = c->top[d < 2 ? d : 1];
    assert_int_equal(npmd_options_set(&opt, "spectrum-law", "ridge", NULL), NPMD_OK);
    opt.set.encoding.decay = c->decay;
    opt.set.encoding.ridge = c->eps;
    return opt;
}

static void draw(const npmd_domain *dom, const npmd_options *opt, encoding *enc)
{
    npmd_error err = { 0 };
    if (encoding_draw(dom, &opt->set, enc, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

/* ---- the list of all members, written down here independently ---------------------------------------------------- */

typedef struct members {
    int count;
    int function[512][2];
    double lambda[512], weight[512], r_max; /* w; its sum over all features */
} members;

static double eigenvalue(const npmd_domain *dom, int d, bool separable, int f)
{
    if (!separable)
        return (double)f * f;
    if (dom->factor[d] == &CIRCLE)
        return (double)((f + 1) / 2) * (double)((f + 1) / 2); /* 1, cos x, sin x, cos 2x, sin 2x, ... */
    const double l = floor(sqrt((double)f));
    return l * (l + 1.0);
}

static void list_members(const npmd_domain *dom, const npmd_options *opt, members *out)
{
    int low[2] = { 0, 0 }, high[2] = { 0, 0 };
    out->count = 0;
    out->r_max = 0.0;
    for (int d = 0; d < dom->factors; d++) {
        const int F = opt->set.encoding.max_frequency[d];
        low[d] = opt->set.encoding.separable ? 0 : opt->set.encoding.signs ? -F : 1;
        high[d] = !opt->set.encoding.separable ? F : dom->factor[d] == &CIRCLE ? 2 * F : (F + 1) * (F + 1) - 1;
    }
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++) {
            const bool zero = i == 0 && j == 0;
            if (opt->set.encoding.separable ? zero && !opt->set.encoding.constant : zero || i < 0 || (i == 0 && j < 0))
                continue;
            const double lambda = eigenvalue(dom, 0, opt->set.encoding.separable != 0, i)
                                  + (dom->factors == 1 ? 0.0 : eigenvalue(dom, 1, opt->set.encoding.separable != 0, j));
            const double S = pow(1.0 + lambda, -opt->set.encoding.decay);
            assert_true(out->count < 512);
            out->function[out->count][0] = i;
            out->function[out->count][1] = j;
            out->lambda[out->count] = lambda;
            out->weight[out->count] = S / (S + opt->set.encoding.ridge);
            out->r_max += (opt->set.encoding.separable ? 1.0 : 2.0) * out->weight[out->count++];
        }
}

static double chi_square(int cells, const double *weight, double total, const int *seen, int draws, int *freedom)
{
    double chi = 0.0, rest = 0.0, rest_seen = 0.0;
    *freedom = -1;
    for (int k = 0; k < cells; k++) {
        const double expected = weight[k] / total * draws;
        if (expected < 5.0) {
            rest += expected;
            rest_seen += seen[k];
        } else {
            chi += (seen[k] - expected) * (seen[k] - expected) / expected;
            ++*freedom;
        }
    }
    if (rest >= 5.0) {
        chi += (rest_seen - rest) * (rest_seen - rest) / rest;
        ++*freedom;
    }
    return chi;
}

/* Both ways to draw from one product: by its list, and by rejection as if it were too large for one. */
static void both_ways_follow_the_law(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    members *all = calloc(1, sizeof *all);
    assert_non_null(all);
    for (int c = 0; c < CASE_COUNT; c++)
        for (int listed = 0; listed < 2; listed++) {
            npmd_domain *dom = domain(CASES[c].domain);
            const npmd_options opt = options(dom, &CASES[c]);
            spectrum s = { 0 };
            ridge_law law = { 0 };
            int seen[512] = { 0 }, freedom = 0, *function = calloc((size_t)(DRAWS * dom->factors), sizeof(int));
            double total = 0.0;
            assert_non_null(function);
            list_members(dom, &opt, all);
            for (int k = 0; k < all->count; k++)
                total += all->weight[k];
            assert_int_equal(spectrum_open(dom, &opt.set, &s, NULL), NPMD_OK);
            assert_int_equal(ridge_open(&s, listed != 0, opt.set.encoding.decay, opt.set.encoding.ridge,
                                        rng_key_make(7, RNG_TEST, 1), &law, NULL),
                             NPMD_OK);
            assert_int_equal(ridge_draw(&law, rng_key_make(7, RNG_TEST, 2), DRAWS, function, NULL), NPMD_OK);
            for (int i = 0; i < DRAWS; i++) {
                int k = 0;
                while (k < all->count
                       && memcmp(all->function[k], function + i * dom->factors, (size_t)dom->factors * sizeof(int))
                              != 0)
                    k++;
                assert_true(k < all->count);
                seen[k]++;
            }
            char text[96];
            const double chi = chi_square(all->count, all->weight, total, seen, DRAWS, &freedom);
            snprintf(text, sizeof text, "%s, s %g, eps %g, %s", CASES[c].domain, CASES[c].decay, CASES[c].eps,
                     listed ? "listed" : "by rejection");
            assert_true(freedom > 2);
            check_below(text, chi, chi_square_bound(freedom, 4.0));
            if (listed) {
                check_quiet("r_max, listed", fabs(law.r_max / all->r_max - 1.0), 1e-12);
                assert_true(law.r_max_se == 0.0);
            } else {
                check_below("    r_max, in standard errors", fabs(law.r_max - all->r_max),
                            4.5 * law.r_max_se + 1e-9 * all->r_max);
                assert_true(law.r_max_se < 0.02 * law.r_max);
                for (int k = 0; k < all->count; k++) /* what is accepted is a probability */
                    check_quiet("envelope",
                                log(all->weight[k]) - (law.log_height - law.decay * log(law.shift + all->lambda[k])),
                                1e-12);
            }
            free(function);
            ridge_close(&law);
            spectrum_free(&s);
            npmd_domain_free(dom);
        }
    free(all);
}

/* eps for a wanted r_max: exact from the list, within the error of its draws otherwise. */
static void eps_follows_from_r_max(void **state)
{
    (void)state;
    members *all = calloc(1, sizeof *all);
    assert_non_null(all);
    for (int c = 0; c < CASE_COUNT; c++) {
        npmd_domain *dom = domain(CASES[c].domain);
        npmd_options opt = options(dom, &CASES[c]);
        spectrum s = { 0 };
        assert_int_equal(spectrum_open(dom, &opt.set, &s, NULL), NPMD_OK);
        const double features = encoding_available(dom, &opt.set);
        for (int share = 0; share < 3; share++)
            for (int listed = 0; listed < 2; listed++) {
                const double target = share == 0 ? 0.5 : share == 1 ? 0.1 * features : 0.5 * features;
                assert_int_equal(ridge_choose(&s, listed != 0, opt.set.encoding.decay, target,
                                              rng_key_make(3, RNG_TEST, 3), &opt.set.encoding.ridge, NULL),
                                 NPMD_OK);
                list_members(dom, &opt, all);
                if (listed)
                    check_quiet("r_max from the list", fabs(all->r_max / target - 1.0), 1e-9);
                else
                    check_quiet("r_max from draws", fabs(all->r_max / target - 1.0), 0.03);
            }
        spectrum_free(&s);
        npmd_domain_free(dom);
    }
    free(all);
}

/* ---- tori of many dimensions: exact sums by convolution ---------------------------------------------------------- */

/* count[lambda]: vectors of integers within +-F on each of D factors. */
static double *lattice_counts(int D, int F, int *top)
{
    *top = D * F * F;
    double *count = doubles((size_t)*top + 1), *next = doubles((size_t)*top + 1);
    count[0] = 1.0;
    for (int d = 0; d < D; d++) {
        memset(next, 0, ((size_t)*top + 1) * sizeof *next);
        for (int f = -F; f <= F; f++)
            for (int l = 0; l <= d * F * F; l++)
                next[l + f * f] += count[l];
        double *swap = count;
        count = next;
        next = swap;
    }
    free(next);
    return count;
}

static double lattice_sum(const double *count, int from, int to, double decay, double eps)
{
    double sum = 0.0;
    for (int l = from; l <= to; l++) {
        const double S = pow(1.0 + l, -decay);
        sum += count[l] * S / (S + eps);
    }
    return sum;
}

static double clock_limit(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return 10.0;
#else
    return 1.0;
#endif
}

/* The default encoding of T2, T3, T4 and T7 under the ridge law: r_max against the whole sum, by list and by
 * draws, and half the number of features; and in T7 how often the lowest eigenvalues are drawn. */
static void sums_on_tori(void **state)
{
    (void)state;
    static const struct {
        const char *domain;
        int D, F;
    } CASE[] = { { "T2", 2, 20 }, { "T3", 3, 12 }, { "T3", 3, 40 }, { "T4", 4, 20 }, { "T7", 7, 20 }, { "T7", 7, 64 } };
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
        npmd_domain *dom = domain(CASE[c].domain);
        npmd_options opt;
        npmd_error err = { 0 };
        encoding enc = { 0 };
        char text[96];
        int top = 0;
        double *count = lattice_counts(CASE[c].D, CASE[c].F, &top);
        options_init(&opt);
        opt.set.encoding.max_frequencies = 1;
        opt.set.encoding.max_frequency[0] = CASE[c].F;
        opt.set.encoding.features = 4096;
        if (CASE[c].D == 2)
            opt.set.encoding.features = 1000;
        opt.set.encoding.law = LAW_RIDGE;
        const clock_t before = clock();
        if (training_complete(&opt.set, 1u << FIT_FIELD, dom, 1000, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        draw(dom, &opt, &enc);
        const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
        const double exact = lattice_sum(count, 1, top, opt.set.encoding.decay, opt.set.encoding.ridge);
        assert_true(enc.ridge.eps == opt.set.encoding.ridge);
        snprintf(text, sizeof text, "%s up to %d: r_max, relative error", CASE[c].domain, CASE[c].F);
        check_below(text, fabs(enc.ridge.r_max / exact - 1.0),
                    enc.ridge.r_max_se > 0.0 ? 4.5 * enc.ridge.r_max_se / exact : 1e-12);
        check_below("    its standard error, relative", enc.ridge.r_max_se / exact, 0.01);
        check_below("    distance from features / 2, relative", fabs(2.0 * exact / opt.set.encoding.features - 1.0),
                    0.02);
        check_below("    seconds, eps and draws together", seconds, clock_limit());
        double low = 0.0; /* lowest eigenvalues with a third of the probability */
        int edge = 0, seen = 0;
        while (low < exact / 3.0) {
            edge++;
            low += lattice_sum(count, edge, edge, opt.set.encoding.decay, opt.set.encoding.ridge);
        }
        for (int k = 0; k < enc.vectors; k++)
            seen += enc.lambda[k] <= edge;
        const double p = low / exact;
        check_below("    low eigenvalues, in standard errors",
                    fabs(seen - p * enc.vectors) / sqrt(p * (1.0 - p) * enc.vectors), 4.5);
        encoding_free(&enc);
        free(count);
        npmd_domain_free(dom);
    }
}

/* Every law draws from T7, T7 up to frequency 64 and other large products in well under a second. */
static void large_products_are_drawn_quickly(void **state)
{
    (void)state;
    static const char *const LAW[] = { "power", "uniform", "ridge" };
    static const struct {
        const char *domain;
        int top;
    } CASE[] = { { "T7", 20 }, { "T7", 64 }, { "S1^16", 20 }, { "S2^4", 10 }, { "S2^2 x S1^6", 10 }, { "S2^16", 10 } };
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++)
        for (int l = 0; l < 3; l++) {
            npmd_domain *dom = domain(CASE[c].domain);
            npmd_options opt;
            npmd_error err = { 0 };
            encoding enc = { 0 };
            char text[64];
            options_init(&opt);
            opt.set.encoding.max_frequencies = 1;
            opt.set.encoding.max_frequency[0] = CASE[c].top;
            assert_int_equal(npmd_options_set(&opt, "spectrum-law", LAW[l], NULL), NPMD_OK);
            const clock_t before = clock();
            if (training_complete(&opt.set, 1u << FIT_FIELD, dom, 1000, &err) != NPMD_OK)
                fail_msg("%s", err.text);
            draw(dom, &opt, &enc);
            snprintf(text, sizeof text, "%s up to %d, %s", CASE[c].domain, CASE[c].top, LAW[l]);
            check_below(text, (double)(clock() - before) / CLOCKS_PER_SEC, clock_limit());
            if (l == 2) {
                check_below("    r_max against features / 2", fabs(2.0 * enc.ridge.r_max / enc.features - 1.0), 0.05);
                check_below("    its relative standard error", enc.ridge.r_max_se / enc.ridge.r_max, 0.02);
            }
            encoding_free(&enc);
            npmd_domain_free(dom);
        }
}

/* ---- scales ------------------------------------------------------------------------------------------------------ */

/* The theorem's kernel without the constant, sum_i S_i psi_i(x) psi_i(y), by cosines and Legendre polynomials
 * of the distances. */
static double kernel_t2(int F, double decay, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = -F; i <= F; i++)
        for (int j = -F; j <= F; j++)
            if (i != 0 || j != 0)
                sum += pow(1.0 + i * i + j * j, -decay) * cos(i * (x[0] - y[0])) * cos(j * (x[1] - y[1]));
    return sum / (4.0 * (double)(CHECK_PI * CHECK_PI));
}

static double kernel_s2s1(int L, int F, double decay, const double *x, const double *y)
{
    const double z = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    double sum = 0.0, p = 1.0, before = 0.0;
    for (int l = 0; l <= L; l++) {
        for (int k = -F; k <= F; k++)
            if (l != 0 || k != 0)
                sum += pow(1.0 + l * (l + 1) + k * k, -decay) * (2 * l + 1) * p * cos(k * (x[3] - y[3]));
        const double next = ((2 * l + 1) * z * p - l * before) / (l + 1);
        before = p;
        p = next;
    }
    return sum / (8.0 * (double)(CHECK_PI * CHECK_PI));
}

/* The scaling makes K^-1 sum_k eta_k(x) eta_k(y) an unbiased estimate of that kernel: the mean over seeds. */
static void the_kernel_is_unbiased(void **state)
{
    (void)state;
    enum { SEEDS = 600, PAIRS = 12, K = 40 };
    static const ridge_case CASE[] = { { "T2", { 5, 5 }, true, true, false, 2.0, 0.01 },
                                       { "T2", { 5, 5 }, false, true, false, 2.0, 0.01 },
                                       { "S2 x S1", { 3, 4 }, true, true, false, 2.5, 0.003 } };
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
        npmd_domain *dom = domain(CASE[c].domain);
        npmd_options opt = options(dom, &CASE[c]);
        double x[PAIRS][2][4], mean[PAIRS] = { 0 }, square[PAIRS] = { 0 }, worst = 0.0;
        uint64_t random = 5;
        opt.set.encoding.features = K;
        opt.set.encoding.scale = SCALE_ORTHONORMAL;
        for (int i = 0; i < 2 * PAIRS; i++) {
            double *at = x[i / 2][i % 2];
            if (!dom->torus)
                test_unit_vector(&random, at);
            for (int d = dom->torus ? 0 : 3; d < dom->columns; d++)
                at[d] = 2.0 * (double)CHECK_PI * test_uniform(&random);
            if (i == 1)
                memcpy(x[0][1], x[0][0], sizeof x[0][0]); /* the diagonal, too */
        }
        for (int seed = 1; seed <= SEEDS; seed++) {
            encoding enc = { 0 };
            double eta[2][K];
            opt.set.seed = (uint64_t)seed;
            draw(dom, &opt, &enc);
            double *work = doubles(encoding_work(&enc));
            for (int i = 0; i < PAIRS; i++) {
                double sum = 0.0;
                encoding_jet(&enc, x[i][0], 1, work, eta[0]);
                encoding_jet(&enc, x[i][1], 1, work, eta[1]);
                for (int k = 0; k < K; k++)
                    sum += eta[0][k] * eta[1][k] / K;
                mean[i] += sum / SEEDS;
                square[i] += sum * sum / SEEDS;
            }
            free(work);
            encoding_free(&enc);
        }
        for (int i = 0; i < PAIRS; i++) {
            const double exact = dom->torus
                                     ? kernel_t2(CASE[c].top[0], CASE[c].decay, x[i][0], x[i][1])
                                     : kernel_s2s1(CASE[c].top[0], CASE[c].top[1], CASE[c].decay, x[i][0], x[i][1]),
                         se = sqrt((square[i] - mean[i] * mean[i]) / SEEDS);
            worst = fmax(worst, fabs(mean[i] - exact) / fmax(se, 1e-12 * exact));
            if (i == 0) /* a wrong factor would be seen */
                check_below("standard error on the diagonal, relative", se / exact, 0.02);
        }
        check_below(CASE[c].domain, worst, 4.5);
        npmd_domain_free(dom);
    }
}

static void scales_are_what_they_say(void **state)
{
    (void)state;
    static const feature_scale SCALE[] = { SCALE_UNIT, SCALE_ORTHONORMAL, SCALE_NONE };
    for (int c = 0; c < CASE_COUNT; c++)
        for (int n = 0; n < 3; n++) {
            npmd_domain *dom = domain(CASES[c].domain);
            npmd_options opt = options(dom, &CASES[c]);
            encoding enc = { 0 };
            opt.set.encoding.features = 21;
            opt.set.encoding.scale = (int)SCALE[n];
            draw(dom, &opt, &enc);
            assert_true(enc.ridge.eps == CASES[c].eps);
            double square = 0.0;
            for (int k = 0; k < 21; k++) {
                const double S = pow(1.0 + enc.lambda[k], -CASES[c].decay),
                             q = S / (S + CASES[c].eps) / enc.ridge.r_max;
                /* of the orthonormal function, or of a cosine; the constant is no cosine */
                const double plain = CASES[c].separable ? 1.0 / dom->volume : 0.5;
                const double orthonormal = CASES[c].separable ? 1.0 : sqrt(2.0 / dom->volume);
                square += enc.scale[k] * enc.scale[k] * plain;
                if (SCALE[n] == SCALE_ORTHONORMAL)
                    check_quiet("sqrt(S / q)", fabs(enc.scale[k] / sqrt(S / q) / orthonormal - 1.0), 1e-13);
                if (SCALE[n] == SCALE_NONE)
                    check_quiet("sqrt(S / q)", fabs(enc.scale[k] / sqrt(S / q) - 1.0), 1e-13);
                check_quiet(
                    "one ratio for all",
                    fabs(enc.scale[k] / enc.scale[0]
                             / sqrt((S + CASES[c].eps) / (pow(1.0 + enc.lambda[0], -CASES[c].decay) + CASES[c].eps))
                         - 1.0),
                    1e-13);
            }
            check_quiet("sum of the mean squares", fabs(square / enc.square - 1.0), 1e-12);
            if (SCALE[n] == SCALE_UNIT)
                assert_true(enc.square == 21.0);
            encoding_free(&enc);
            npmd_domain_free(dom);
        }
}

/* The first layer starts with pre-activations omega W eta of variance 1 whatever the scale: the variance of
 * U(+-a) is a^2 / 3, and a^2 = 3 / sum_k mean eta_k^2 / omega^2. */
static void the_start_knows_the_scale(void **state)
{
    (void)state;
    enum { WIDTH = 400, K = 60 };
    npmd_domain *dom = domain("T2");
    const ridge_case c = { "T2", { 5, 5 }, true, true, false, 2.0, 0.01 };
    npmd_options opt = options(dom, &c);
    opt.set.encoding.features = K;
    for (int scale = 0; scale < 3; scale++) {
        encoding enc = { 0 };
        field_shape shape = { .features = K, .width = WIDTH, .depth = 2, .directions = 2, .omega = 10.0 };
        double *theta = doubles(field_parameters(&shape)), *plain = doubles(field_parameters(&shape)), sum = 0.0;
        opt.set.encoding.scale = scale;
        draw(dom, &opt, &enc);
        field_start(&shape, false, 1, plain); /* K features of mean square 1 */
        shape.square = enc.square;
        field_start(&shape, false, 1, theta);
        for (int j = 0; j < WIDTH; j++)
            for (int k = 0; k < K; k++)
                sum += pow(shape.omega * theta[j * K + k] * enc.scale[k], 2) / dom->volume / WIDTH;
        /* a mean of 24,000 squares of relative variance 4/5 with unequal weights: 3 % is 4 standard errors */
        check_below("variance of the first pre-activations, minus 1", fabs(sum - 1.0), 0.03);
        if (scale == SCALE_UNIT)
            assert_memory_equal(theta, plain, field_parameters(&shape) * sizeof *theta);
        free(theta), free(plain);
        encoding_free(&enc);
    }
    npmd_domain_free(dom);
}

/* ---- features that repeat ---------------------------------------------------------------------------------------- */

static void copies_are_counted(void **state)
{
    (void)state;
    npmd_domain *dom = domain("T2");
    npmd_options opt;
    encoding enc = { 0 };
    static const int WAVE[] = { 1, 0, 0, 1, 1, 0, 1, 2, 1, 0 }; /* (1, 0) three times; five cosines, four sines */
    static const int EXPECTED[] = { 3, 1, 3, 1, 3, 2, 1, 2, 1 };
    options_init(&opt);
    opt.set.encoding.decay = 2.0;
    assert_int_equal(encoding_make(dom, false, 9, 5, WAVE, SCALE_UNIT, &enc, NULL), NPMD_OK);
    assert_int_equal(encoding_scale_ridge(&enc, &opt.set, &(encoding_ridge){ 0.1, 10.0, 0.0 }, NULL), NPMD_OK);
    assert_memory_equal(enc.copies, EXPECTED, sizeof EXPECTED);
    encoding_free(&enc);
    npmd_domain_free(dom);
}

/* Drawing a function three times changes nothing but names: the linear part gains the same, the copies'
 * coefficients add up to the one. */
static void copies_change_no_gain(void **state)
{
    (void)state;
    enum { N = 400 };
    static const int FUNCTION[2][10] = { { 1, 0, 0, 2, 3, 1 }, { 1, 0, 0, 2, 1, 0, 3, 1, 1, 0 } };
    static const int COUNT[2] = { 3, 5 }, TOTAL[2][5] = { { 0, 1, 2 }, { 0, 1, 0, 2, 0 } };
    npmd_domain *dom = domain("T2");
    npmd_options opt;
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    double x[2 * N], step[2][3] = { { 0 } }, figure[2][4];
    uint64_t random = 9;
    for (int i = 0; i < N; i++) {
        x[2 * i] = 2.0 + 0.7 * test_normal(&random);
        x[2 * i + 1] = 1.0 + 0.9 * test_normal(&random);
    }
    options_init(&opt);
    opt.set.tau = 1e-3;
    opt.set.encoding.decay = 2.0;
    opt.set.descent.integral = INTEGRAL_UNIFORM;
    assert_int_equal(points_from(x, N, dom, &pts, &err), NPMD_OK);
    for (int r = 0; r < 2; r++) {
        encoding enc = { 0 };
        objective o = { 0 };
        linear_gain possible = { 0 };
        assert_int_equal(encoding_make(dom, true, COUNT[r], COUNT[r], FUNCTION[r], SCALE_UNIT, &enc, &err), NPMD_OK);
        assert_int_equal(encoding_scale_ridge(&enc, &opt.set, &(encoding_ridge){ 0.1, 10.0, 0.0 }, &err), NPMD_OK);
        assert_int_equal(objective_open(&o, dom, pts, &opt.set, &err), NPMD_OK);
        assert_int_equal(linear_gain_open(&possible, &enc, &o, &err), NPMD_OK);
        figure[r][0] = possible.gain0;
        figure[r][1] = possible.gain;
        figure[r][2] = possible.noise;
        figure[r][3] = possible.constant;
        for (int k = 0; k < COUNT[r]; k++) /* of the orthonormal function */
            step[r][TOTAL[r][k]] += possible.coefficient[k] * enc.scale[k];
        linear_gain_close(&possible);
        objective_close(&o);
        encoding_free(&enc);
    }
    assert_true(figure[0][1] > 0.1);
    check_below("gain0, gain, noise, constant", relative_norm(figure[1], figure[0], 4), 1e-12);
    check_below("steps", relative_norm(step[1], step[0], 3), 1e-12);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_follow_the_law),
        cmocka_unit_test(eps_follows_from_r_max),
        cmocka_unit_test(sums_on_tori),
        cmocka_unit_test(large_products_are_drawn_quickly),
        cmocka_unit_test(the_kernel_is_unbiased),
        cmocka_unit_test(scales_are_what_they_say),
        cmocka_unit_test(the_start_knows_the_scale),
        cmocka_unit_test(copies_are_counted),
        cmocka_unit_test(copies_change_no_gain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
