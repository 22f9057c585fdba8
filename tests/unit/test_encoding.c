/* test_encoding.c - which eigenfunctions are drawn, and what they are like.
 *
 * Laws are held to their exact probabilities by chi-square tests over fixed seeds at z = 4 (a correct
 * library would fail one with probability 3.2e-5; there are 25). Seeds are fixed, so the verdict never
 * changes. Cells that expect fewer than 5 draws are pooled. */
#include "check.h"
#include "training.h"

#include <time.h>

typedef struct law {
    const char *domain;
    int top[2]; /* max frequency of each factor */
    bool separable, signs, constant;
    int features;
    const char *law;
    int seeds;
} law;

static npmd_domain *domain(const char *text)
{
    npmd_domain *dom = NULL;
    npmd_error err = { 0 };
    if (npmd_domain_parse(text, &dom, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return dom;
}

static npmd_options options(const npmd_domain *dom, const law *l)
{
    npmd_options opt;
    options_init(&opt);
    opt.set.encoding.separable = l->separable;
    opt.set.encoding.signs = l->signs;
    opt.set.encoding.constant = l->constant;
    opt.set.encoding.features = l->features;
    opt.set.encoding.max_frequencies = dom->factors;
    for (int d = 0; d < dom->factors; d++)
        opt.set.encoding.max_frequency[d] = l->top[d < 2 ? d : 1];
    assert_int_equal(npmd_options_set(&opt, "spectrum-law", l->law, NULL), NPMD_OK);
    opt.set.encoding.decay = 0.5 * dom->dimension + 1.0;
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
    double weight[512]; /* sums to 1 */
} members;

static double eigenvalue(const npmd_domain *dom, int d, bool separable, int f)
{
    if (!separable)
        return (double)f * f;
    if (dom->factor[d] == &CIRCLE) {
        const double k = (double)((f + 1) / 2); /* 1, cos x, sin x, cos 2x, sin 2x, ... */
        return k * k;
    }
    const double l = floor(sqrt((double)f)); /* degree l has 2l + 1 harmonics: numbers l^2 .. l^2 + 2l */
    return l * (l + 1.0);
}

static void list_members(const npmd_domain *dom, const npmd_options *opt, members *out)
{
    int low[2] = { 0, 0 }, high[2] = { 0, 0 };
    double sum = 0.0;
    assert_true(dom->factors <= 2);
    out->count = 0;
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
            assert_true(out->count < 512);
            out->function[out->count][0] = i;
            out->function[out->count][1] = j;
            out->weight[out->count] = opt->set.encoding.law == LAW_UNIFORM
                                          ? 1.0
                                          : pow(1.0 + lambda, -opt->set.encoding.decay);
            sum += out->weight[out->count++];
        }
    for (int k = 0; k < out->count; k++)
        out->weight[k] /= sum;
}

static int find_member(const members *all, const int *function, int factors)
{
    for (int k = 0; k < all->count; k++)
        if (memcmp(all->function[k], function, (size_t)factors * sizeof *function) == 0)
            return k;
    fail_msg("(%d, %d) is not among the members", function[0], factors > 1 ? function[1] : 0);
    return -1;
}

static void chi_square(const char *what, int cells, const double *probability, const int *seen, int total)
{
    double chi = 0.0, rest = 0.0, rest_seen = 0.0;
    int used = 0;
    for (int k = 0; k < cells; k++) {
        const double expected = probability[k] * total;
        if (expected < 5.0) {
            rest += expected;
            rest_seen += seen[k];
        } else {
            chi += (seen[k] - expected) * (seen[k] - expected) / expected;
            used++;
        }
    }
    if (rest >= 5.0) {
        chi += (rest_seen - rest) * (rest_seen - rest) / rest;
        used++;
    }
    assert_true(used > 2);
    check_below(what, chi, chi_square_bound(used - 1, 4.0));
}

/* The first draw, and the second: without replacement it is j with probability sum over i /= j of p_i p_j /
 * (1 - p_i). */
static void law_case(const law *l)
{
    npmd_domain *dom = domain(l->domain);
    npmd_options opt = options(dom, l);
    members *all = calloc(1, sizeof *all);
    assert_non_null(all);
    list_members(dom, &opt, all);
    int first[512] = { 0 }, second[512] = { 0 };
    double second_law[512];
    const int vectors = l->separable ? l->features : (l->features + 1) / 2;
    for (int j = 0; j < all->count; j++) {
        second_law[j] = 0.0;
        for (int i = 0; i < all->count; i++)
            if (i != j)
                second_law[j] += all->weight[i] * all->weight[j] / (1.0 - all->weight[i]);
    }
    for (int seed = 1; seed <= l->seeds; seed++) {
        encoding enc = { 0 };
        opt.set.seed = (uint64_t)seed;
        draw(dom, &opt, &enc);
        assert_int_equal(enc.vectors, vectors);
        first[find_member(all, enc.function, dom->factors)]++;
        if (vectors > 1)
            second[find_member(all, enc.function + dom->factors, dom->factors)]++;
        encoding_free(&enc);
    }
    const double raw = l->separable || l->signs ? all->count * (l->separable ? 1.0 : 2.0) + !l->constant : all->count;
    char text[96];
    snprintf(text, sizeof text, "%s %s %s, %s: first of %d", l->domain, l->law,
             l->separable ? "products"
             : l->signs   ? "waves"
                          : "positive waves",
             raw <= 8.0 * vectors + 64.0 ? "keys" : "rejection", all->count);
    chi_square(text, all->count, all->weight, first, l->seeds);
    if (vectors > 1) {
        snprintf(text, sizeof text, "%s %s: second", l->domain, l->law);
        chi_square(text, all->count, second_law, second, l->seeds);
    }
    free(all);
    npmd_domain_free(dom);
}

/* draw.c lists everything and sorts keys when the product has at most 8 vectors + 64 members, else it draws
 * from a mixture and rejects. The cases stand on both sides. */
static void draws_follow_the_law(void **state)
{
    (void)state;
    static const law CASE[] = {
        { "T2", { 3, 3 }, true, true, false, 2, "power", 12000 },      /* keys: 49 <= 80 */
        { "T2", { 3, 3 }, true, true, true, 1, "power", 12000 },       /* keys, the constant among them */
        { "T2", { 4, 4 }, true, true, false, 2, "power", 5000 },       /* rejection: 81 > 80 */
        { "T2", { 4, 4 }, true, true, true, 2, "power", 5000 },        /* rejection, with the constant */
        { "T2", { 3, 3 }, false, true, false, 4, "power", 12000 },     /* waves, keys */
        { "T2", { 5, 5 }, false, true, false, 4, "power", 5000 },      /* waves, rejection: 121 > 80 */
        { "T2", { 9, 9 }, false, false, false, 4, "power", 3000 },     /* positive waves, rejection: 81 > 80 */
        { "S2 x S1", { 2, 2 }, true, true, false, 2, "power", 12000 }, /* keys: 45 */
        { "S2 x S1", { 3, 3 }, true, true, false, 2, "power", 5000 },  /* rejection: 112 */
        { "T2", { 3, 3 }, true, true, false, 2, "uniform", 12000 },
        { "T2", { 4, 4 }, true, true, true, 2, "uniform", 12000 },
        { "T2", { 5, 5 }, false, true, false, 4, "uniform", 12000 },
        { "S2 x S1", { 3, 3 }, true, true, false, 2, "uniform", 12000 },
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++)
        law_case(&CASE[i]);
}

/* ---- what is in a draw ------------------------------------------------------------------------------------------- */

static int compare_rows(const encoding *enc, int a, int b)
{
    return memcmp(enc->function + a * enc->domain->factors, enc->function + b * enc->domain->factors,
                  (size_t)enc->domain->factors * sizeof(int));
}

static void check_members(const encoding *enc, const npmd_options *opt)
{
    const npmd_domain *dom = enc->domain;
    for (int k = 0; k < enc->vectors; k++) {
        const int *f = enc->function + k * dom->factors;
        int first = 0;
        double lambda = 0.0;
        for (int j = 0; j < k; j++)
            assert_int_not_equal(compare_rows(enc, k, j), 0); /* without replacement */
        while (first < dom->factors && f[first] == 0)
            first++;
        if (!opt->set.encoding.separable) {
            assert_true(first < dom->factors);
            assert_true(f[first] > 0);
        } else if (!opt->set.encoding.constant) {
            assert_true(first < dom->factors);
        }
        for (int d = 0; d < dom->factors; d++) {
            const int top = opt->set.encoding.max_frequency[d];
            if (opt->set.encoding.separable)
                assert_true(f[d] >= 0 && dom->factor[d]->frequency(dom->factor[d], f[d]) <= top
                            && f[d] < dom->factor[d]->functions(dom->factor[d], top));
            else if (opt->set.encoding.signs)
                assert_true(-top <= f[d] && f[d] <= top);
            else
                assert_true(1 <= f[d] && f[d] <= top);
            assert_true(enc->frequency[d] <= top);
            lambda += eigenvalue(dom, d, opt->set.encoding.separable != 0, f[d]);
        }
        assert_true(enc->lambda[k] == lambda); /* small whole numbers: exact */
        if (!opt->set.encoding.separable && enc->vectors + k < enc->features)
            assert_true(enc->lambda[enc->vectors + k] == lambda);
    }
}

static bool same_draw(const encoding *a, const encoding *b)
{
    const size_t entries = (size_t)a->vectors * (size_t)a->domain->factors;
    return a->features == b->features && a->vectors == b->vectors
           && memcmp(a->function, b->function, entries * sizeof *a->function) == 0
           && memcmp(a->lambda, b->lambda, (size_t)a->features * sizeof *a->lambda) == 0
           && memcmp(a->scale, b->scale, (size_t)a->features * sizeof *a->scale) == 0;
}

static void draws_are_distinct_and_within_limits(void **state)
{
    (void)state;
    static const law CASE[] = {
        { "S1", { 20, 0 }, true, true, false, 30, "power", 0 },
        { "T2", { 20, 20 }, true, true, false, 192, "power", 0 },
        { "T2", { 3, 12 }, true, true, false, 100, "power", 0 },
        { "T2", { 12, 3 }, false, true, false, 101, "uniform", 0 },
        { "T4", { 20, 20 }, false, true, false, 256, "power", 0 },
        { "T4", { 20, 20 }, false, false, false, 256, "uniform", 0 },
        { "T3", { 2, 9 }, false, false, false, 77, "power", 0 },
        { "S2", { 16, 0 }, true, true, false, 192, "power", 0 },
        { "S2 x S1", { 2, 5 }, true, true, true, 90, "power", 0 },
        { "S2 x S2", { 10, 10 }, true, true, true, 256, "uniform", 0 },
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        npmd_domain *dom = domain(CASE[i].domain);
        npmd_options opt = options(dom, &CASE[i]);
        encoding a = { 0 }, b = { 0 }, c = { 0 };
        draw(dom, &opt, &a);
        draw(dom, &opt, &b);
        check_members(&a, &opt);
        assert_true(same_draw(&a, &b)); /* a function of the seed ... */
        opt.set.seed++;
        draw(dom, &opt, &c);
        check_members(&c, &opt);
        assert_false(same_draw(&a, &c)); /* ... that does depend on it */
        encoding_free(&a);
        encoding_free(&b);
        encoding_free(&c);
        npmd_domain_free(dom);
    }
}

/* Asking for all there is gives all there is, each once; asking for more is an error here, and is cut by
 * npmd_options_resolve. */
static void all_that_is_available(void **state)
{
    (void)state;
    static const struct {
        law law;
        int available;
    } CASE[] = {
        { { "S1", { 3, 0 }, true, true, false, 0, "power", 0 }, 6 },
        { { "T2", { 3, 3 }, true, true, false, 0, "power", 0 }, 48 },
        { { "T2", { 3, 3 }, true, true, true, 0, "uniform", 0 }, 49 },
        { { "T2", { 3, 3 }, false, true, false, 0, "power", 0 }, 48 },    /* (7^2 - 1)/2 vectors, twice */
        { { "T2", { 3, 3 }, false, false, false, 0, "uniform", 0 }, 18 }, /* 3^2 vectors, twice */
        { { "S2 x S1", { 2, 3 }, true, true, false, 0, "power", 0 }, 62 },
        { { "S2 x S1", { 2, 3 }, true, true, true, 0, "power", 0 }, 63 },
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        npmd_domain *dom = domain(CASE[i].law.domain);
        npmd_options opt = options(dom, &CASE[i].law);
        encoding enc = { 0 };
        npmd_error err = { 0 };
        bool constant = false;
        assert_true(encoding_available(dom, &opt.set) == CASE[i].available);
        opt.set.encoding.features = CASE[i].available;
        draw(dom, &opt, &enc);
        assert_int_equal(enc.features, CASE[i].available);
        check_members(&enc, &opt); /* distinct, and as many as there are: all */
        for (int k = 0; k < enc.features; k++)
            constant = constant || enc.lambda[k] == 0.0;
        assert_true(constant == (CASE[i].law.separable && CASE[i].law.constant));
        encoding_free(&enc);
        opt.set.encoding.features = CASE[i].available + (CASE[i].law.separable ? 1 : 2);
        assert_int_equal(encoding_draw(dom, &opt.set, &enc, &err), NPMD_ERR_ARGUMENT);
        assert_null(enc.function);
        opt.set.encoding.features = 5000;
        settings cut = opt.set;
        assert_int_equal(training_complete(&cut, 1u << FIT_FIELD, dom, 100, &err), NPMD_OK);
        assert_int_equal(cut.encoding.features, CASE[i].available);
        npmd_domain_free(dom);
    }
}

/* ---- size of the features ---------------------------------------------------------------------------------------- */

/* Quadrature that is exact for squares of all features: N equidistant angles for frequencies below N/2,
 * Gauss-Legendre in z (n nodes: degree 2n - 1) and 2n longitudes for degrees below n. nodes (count,
 * columns), weights of sum 1. */
static size_t factor_nodes(const manifold *m, double *x, double *w)
{
    enum { N = 32, LATITUDES = 10, LONGITUDES = 20 };
    size_t count = 0;
    if (m == &CIRCLE) {
        for (int i = 0; i < N; i++) {
            x[i] = 2.0 * (double)CHECK_PI * i / N;
            w[count++] = 1.0 / N;
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

/* Mean squares: 1 (unit), 1/Vol (orthonormal), and for plain cosines and sines 1/2. The quadrature is
 * exact; sums of 6,400 positive terms of relative error 1e-14 (the jets, test_geometry) are off by less
 * than 1e-12. */
static void features_have_their_mean_square(void **state)
{
    (void)state;
    static const law CASE[] = {
        { "S1", { 15, 0 }, true, true, true, 31, "power", 0 },
        { "T2", { 10, 10 }, true, true, true, 128, "uniform", 0 },
        { "T2", { 7, 7 }, false, true, false, 61, "power", 0 },
        { "S2", { 9, 0 }, true, true, true, 80, "uniform", 0 },
        { "S2 x S1", { 5, 7 }, true, true, true, 90, "power", 0 },
    };
    static const feature_scale SCALE[] = { SCALE_UNIT, SCALE_ORTHONORMAL, SCALE_NONE };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++)
        for (int s = 0; s < 3; s++) {
            npmd_domain *dom = domain(CASE[i].domain);
            npmd_options opt = options(dom, &CASE[i]);
            encoding enc = { 0 };
            double node[2][600], weight[2][200], worst = 0.0;
            size_t count[2] = { 1, 1 };
            opt.set.encoding.scale = (int)SCALE[s];
            draw(dom, &opt, &enc);
            for (int d = 0; d < dom->factors; d++)
                count[d] = factor_nodes(dom->factor[d], node[d], weight[d]);
            double *square = doubles((size_t)enc.features), *eta = doubles((size_t)enc.features);
            double *work = doubles(encoding_work(&enc));
            for (size_t a = 0; a < count[0]; a++)
                for (size_t b = 0; b < count[1]; b++) {
                    double x[6], w = weight[0][a];
                    const size_t columns = (size_t)dom->factor[0]->columns;
                    memcpy(x, node[0] + a * columns, columns * sizeof *x);
                    if (dom->factors == 2) {
                        const size_t more = (size_t)dom->factor[1]->columns;
                        memcpy(x + columns, node[1] + b * more, more * sizeof *x);
                        w *= weight[1][b];
                    }
                    encoding_jet(&enc, x, 1, work, eta);
                    for (int k = 0; k < enc.features; k++)
                        square[k] += w * eta[k] * eta[k];
                }
            for (int k = 0; k < enc.features; k++) {
                const double expected = SCALE[s] == SCALE_UNIT          ? 1.0
                                        : opt.set.encoding.separable    ? 1.0 / dom->volume
                                        : SCALE[s] == SCALE_ORTHONORMAL ? 1.0 / dom->volume
                                                                        : 0.5;
                worst = fmax(worst, fabs(square[k] / expected - 1.0));
            }
            if (s == 0)
                check_below(CASE[i].domain, worst, 1e-12);
            else
                check_quiet(CASE[i].domain, worst, 1e-12);
            free(square);
            free(eta);
            free(work);
            encoding_free(&enc);
            npmd_domain_free(dom);
        }
}

/* ---- large products ---------------------------------------------------------------------------------------------- */

/* T7 at frequency 20 has 1e11 members, S1^16 far more than there are doubles: the default draw takes
 * milliseconds. The bound is processor time, tenfold where sanitizers slow everything down. */
static void large_products_are_drawn_quickly(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    const double slower = 10.0;
#else
    const double slower = 1.0;
#endif
    static const char *const DOMAIN[] = {
        "T7", "S1^16", "S2 x S2 x S2", "S2^4", "S2^2 x S1^6", "S2^16",
    };
    for (size_t i = 0; i < sizeof DOMAIN / sizeof *DOMAIN; i++) {
        npmd_domain *dom = domain(DOMAIN[i]);
        npmd_options opt;
        npmd_error err = { 0 };
        encoding enc = { 0 };
        options_init(&opt);
        if (training_complete(&opt.set, 1u << FIT_FIELD, dom, 1000, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        const clock_t before = clock();
        draw(dom, &opt, &enc);
        check_below(DOMAIN[i], (double)(clock() - before) / CLOCKS_PER_SEC, 0.5 * slower);
        check_members(&enc, &opt);
        encoding_free(&enc);
        npmd_domain_free(dom);
    }
}

/* A law as steep as (1 + lambda)^-60 draws the next eigenvalue after the first with probability (2/3)^60 x 24 / 8 =
 * 8e-11 on T4: for every seed the frequency vectors are the unit ones, each once. */
static void a_steep_law_draws_the_first_functions(void **state)
{
    (void)state;
    static const char *const DOMAIN[] = { "T3", "T4", "T7", "T16" };
    for (size_t i = 0; i < sizeof DOMAIN / sizeof *DOMAIN; i++) {
        npmd_domain *dom = domain(DOMAIN[i]);
        npmd_options opt = options(dom,
                                   &(law){ DOMAIN[i], { 20, 20 }, false, true, false, 2 * dom->factors, "power", 1 });
        opt.set.encoding.decay = 60.0;
        for (uint64_t seed = 1; seed <= 300; seed++) {
            encoding enc = { 0 };
            opt.set.seed = seed;
            draw(dom, &opt, &enc);
            for (int k = 0; k < enc.features; k++)
                if (enc.lambda[k] != 1.0)
                    fail_msg("%s, seed %d: feature %d has eigenvalue %g", DOMAIN[i], (int)seed, k, enc.lambda[k]);
            encoding_free(&enc);
        }
        npmd_domain_free(dom);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_the_law),
        cmocka_unit_test(draws_are_distinct_and_within_limits),
        cmocka_unit_test(all_that_is_available),
        cmocka_unit_test(features_have_their_mean_square),
        cmocka_unit_test(large_products_are_drawn_quickly),
        cmocka_unit_test(a_steep_law_draws_the_first_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
