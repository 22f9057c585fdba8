/* test_core.c - random numbers, quasi-random points, checked memory and the spelling of domains, held to
 * published values and to what they must satisfy by definition. */
#include "check.h"
#include "points.h"

/* ---- Philox ------------------------------------------------------------------------------------------------------ */

static void philox_known_answers(void **state)
{
    (void)state;
    /* Random123, tests/kat_vectors, philox4x32 with 10 rounds */
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } KNOWN[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u } },
        { { 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu },
          { 0xffffffffu, 0xffffffffu },
          { 0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu } },
        { { 0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u },
          { 0xa4093822u, 0x299f31d0u },
          { 0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u } },
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        uint32_t out[4];
        philox4x32_10(KNOWN[i].counter, KNOWN[i].key, out);
        assert_memory_equal(out, KNOWN[i].out, sizeof out);
    }
}

/* A number depends on each of seed, purpose, step, index and slot. */
static void numbers_depend_on_everything(void **state)
{
    (void)state;
    const double u = rng_uniform(rng_key_make(7, RNG_TEST, 3), 11, 5);
    assert_true(u == rng_uniform(rng_key_make(7, RNG_TEST, 3), 11, 5));
    assert_true(u != rng_uniform(rng_key_make(8, RNG_TEST, 3), 11, 5));
    assert_true(u != rng_uniform(rng_key_make(7 + ((uint64_t)1 << 32), RNG_TEST, 3), 11, 5));
    assert_true(u != rng_uniform(rng_key_make(7, RNG_SCORE, 3), 11, 5));
    assert_true(u != rng_uniform(rng_key_make(7, RNG_TEST, 4), 11, 5));
    assert_true(u != rng_uniform(rng_key_make(7, RNG_TEST, 3), 12, 5));
    assert_true(u != rng_uniform(rng_key_make(7, RNG_TEST, 3), 11 + ((uint64_t)1 << 32), 5));
    for (uint32_t slot = 0; slot < 40; slot++)
        for (uint32_t other = 0; other < slot; other++) {
            const rng_key key = rng_key_make(7, RNG_TEST, 3);
            assert_true(rng_uniform(key, 11, slot) != rng_uniform(key, 11, other));
            assert_true(rng_normal(key, 11, slot) != rng_normal(key, 11, other));
        }
}

/* Sample moments lie within 5 standard errors: P < 6e-7 each, about 30 of them, so a false alarm has P <
 * 2e-5. */
static void uniform_and_normal_moments(void **state)
{
    (void)state;
    const int n = 200000;
    const rng_key key = rng_key_make(2026, RNG_TEST, 0);
    double u_power[5] = { 0 }, z_power[9] = { 0 }, lag = 0.0, slots = 0.0, normal_slots = 0.0;
    for (int i = 0; i < n; i++) {
        const double u = rng_uniform(key, (uint64_t)i, 0), z = rng_normal(key, (uint64_t)i, 1);
        assert_true(u > 0.0 && u < 1.0);
        for (int k = 1; k <= 4; k++) {
            u_power[k] += pow(u, k) / n;
            z_power[k] += pow(z, k) / n;
        }
        lag += (u - 0.5) * (rng_uniform(key, (uint64_t)i + 1, 0) - 0.5) / n;
        slots += (u - 0.5) * (rng_uniform(key, (uint64_t)i, 1) - 0.5) / n;
        normal_slots += z * rng_normal(key, (uint64_t)i, 2) / n;
    }
    for (int k = 1; k <= 4; k++) {
        const double mean = 1.0 / (k + 1), variance = 1.0 / (2 * k + 1) - mean * mean;
        check_quiet("moment of a uniform number", fabs(u_power[k] - mean), 5.0 * sqrt(variance / n));
    }
    static const double NORMAL[9] = { 1, 0, 1, 0, 3, 0, 15, 0, 105 };
    for (int k = 1; k <= 4; k++)
        check_quiet("moment of a normal number", fabs(z_power[k] - NORMAL[k]),
                    5.0 * sqrt((NORMAL[2 * k] - NORMAL[k] * NORMAL[k]) / n));
    check_quiet("neighbouring indices", fabs(lag), 5.0 / 12.0 / sqrt(n));
    check_quiet("neighbouring slots", fabs(slots), 5.0 / 12.0 / sqrt(n));
    check_quiet("neighbouring normal slots", fabs(normal_slots), 5.0 / sqrt(n));
}

/* One round backwards: Philox is a bijection of its counter, so every output occurs and can be traced to
 * its counter. */
static void philox_backwards(const uint32_t out[4], const uint32_t key[2], uint32_t counter[4])
{
    uint32_t inverse0 = 1, inverse1 = 1; /* of the multipliers modulo 2^32, by Newton's iteration */
    for (int i = 0; i < 5; i++) {
        inverse0 *= 2 - 0xD2511F53u * inverse0;
        inverse1 *= 2 - 0xCD9E8D57u * inverse1;
    }
    memcpy(counter, out, 4 * sizeof *counter);
    for (uint32_t round = 10; round-- > 0;) {
        const uint32_t k0 = key[0] + round * 0x9E3779B9u, k1 = key[1] + round * 0xBB67AE85u;
        const uint32_t c0 = inverse0 * counter[3], c2 = inverse1 * counter[1];
        const uint32_t hi0 = (uint32_t)(((uint64_t)0xD2511F53u * c0) >> 32);
        const uint32_t hi1 = (uint32_t)(((uint64_t)0xCD9E8D57u * c2) >> 32);
        const uint32_t c1 = counter[0] ^ hi1 ^ k0, c3 = counter[2] ^ hi0 ^ k1;
        counter[0] = c0, counter[1] = c1, counter[2] = c2, counter[3] = c3;
    }
}

/* core.h promises (0, 1), open at both ends: log(u), log(1 - u) and tan(pi (u - 1/2)) stay finite. The
 * extreme words (all bits 0, all bits 1) are traced back to the key and index that produce them. */
static void uniform_never_reaches_the_ends(void **state)
{
    (void)state;
    const uint32_t seed[2] = { 1, 0 };
    int tried[2] = { 0, 0 };
    uint64_t stir = 5;
    for (int i = 0; i < 4000000 && (tried[0] < 3 || tried[1] < 3); i++) {
        const uint32_t word = i % 2 ? 0xffffffffu : 0u;
        const uint32_t out[4] = { word, word, (uint32_t)(0x1p32 * test_uniform(&stir)),
                                  (uint32_t)(0x1p32 * test_uniform(&stir)) };
        uint32_t counter[4], again[4];
        philox_backwards(out, seed, counter);
        const uint32_t purpose = counter[3] & 0xffffu, block = counter[3] >> 16;
        if (purpose < RNG_ENCODING || purpose > RNG_TEST)
            continue;
        philox4x32_10(counter, seed, again);
        assert_memory_equal(again, out, sizeof again); /* the inversion itself */
        const double u = rng_uniform(rng_key_make(1, (rng_purpose)purpose, counter[2]),
                                     (uint64_t)counter[1] << 32 | counter[0], 2 * block);
        if (!(u > 0.0 && u < 1.0))
            fail_msg("rng_uniform(rng_key_make(1, %u, %u), %llu, %u) = %.17g, outside the open interval", purpose,
                     counter[2], (unsigned long long)((uint64_t)counter[1] << 32 | counter[0]), 2 * block, u);
        tried[i % 2]++;
    }
    assert_true(tried[0] >= 3 && tried[1] >= 3);
}

/* ---- Permutations ------------------------------------------------------------------------------------------------ */

static void permutation_is_a_bijection(void **state)
{
    (void)state;
    static const uint64_t SIZE[] = { 1, 2, 3, 4, 5, 16, 17, 64, 1000, 1024, 65536, 65537 };
    for (size_t s = 0; s < sizeof SIZE / sizeof *SIZE; s++)
        for (uint64_t step = 0; step < 3; step++) {
            const uint64_t n = SIZE[s];
            const rng_key key = rng_key_make(99, RNG_BATCH, step);
            char *seen = calloc(n, 1);
            assert_non_null(seen);
            for (uint64_t i = 0; i < n; i++) {
                const uint64_t j = rng_permute(key, i, n);
                assert_true(j < n);
                assert_int_equal(seen[j], 0);
                seen[j] = 1;
            }
            free(seen);
        }
}

/* Two keys give unrelated orders: the number of agreements of two random permutations is Poisson(1), and
 * P(more than 10) = 1e-8. */
static void permutations_differ_between_keys(void **state)
{
    (void)state;
    const uint64_t n = 65537;
    for (uint64_t step = 1; step < 4; step++) {
        int fixed = 0, equal = 0;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t a = rng_permute(rng_key_make(99, RNG_BATCH, 0), i, n);
            const uint64_t b = rng_permute(rng_key_make(99, RNG_BATCH, step), i, n);
            equal += a == b;
            fixed += b == i;
        }
        assert_true(equal <= 10 && fixed <= 10);
    }
}

/* Where index i lands, over many keys, is exactly uniform: that makes minibatches unbiased. Pairs of
 * images decide the variance only; a Feistel network on a few bits cannot make them exactly uniform, so
 * they are held to it at a size that data sets have: images of 0 and 1 of 1000, in 5 x 5 bins. Chi-square
 * at z = 5, P = 3e-7 each, 11 tests. */
static void permutation_is_uniform(void **state)
{
    (void)state;
    static const int SIZE[] = { 2, 3, 5, 17, 100 };
    const int keys = 40000;
    for (size_t s = 0; s < sizeof SIZE / sizeof *SIZE; s++)
        for (uint64_t i = 0; i < 2; i++) {
            const int n = SIZE[s];
            double count[100] = { 0 }, chi = 0.0;
            for (int k = 0; k < keys; k++)
                count[rng_permute(rng_key_make((uint64_t)k, RNG_BATCH, 1), i, (uint64_t)n)] += 1.0;
            for (int j = 0; j < n; j++)
                chi += pow(count[j] - (double)keys / n, 2) / ((double)keys / n);
            check_quiet("image of one index, chi-square", chi, chi_square_bound(n - 1, 5.0));
        }
    double pair[5][5] = { { 0 } }, chi = 0.0;
    for (int k = 0; k < keys; k++) {
        const rng_key key = rng_key_make((uint64_t)k, RNG_BATCH, 2);
        pair[rng_permute(key, 0, 1000) / 200][rng_permute(key, 1, 1000) / 200] += 1.0;
    }
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) {
            const double expected = keys * (a == b ? 200.0 * 199.0 : 200.0 * 200.0) / (1000.0 * 999.0);
            chi += pow(pair[a][b] - expected, 2) / expected;
        }
    check_below("images of two indices of 1000, chi-square", chi, chi_square_bound(24, 5.0));
}

/* Any prefix of the order is a fair sample of 0 .. n-1: mean rank of the first 100 of 1000, over 2000
 * keys. The variance of one mean without replacement is (n^2 - 1)/12/m (n - m)/(n - 1). */
static void prefix_is_a_fair_sample(void **state)
{
    (void)state;
    const int n = 1000, m = 100, keys = 2000;
    double sum = 0.0, square = 0.0;
    for (int k = 0; k < keys; k++) {
        double mean = 0.0;
        for (int i = 0; i < m; i++)
            mean += (double)rng_permute(rng_key_make((uint64_t)k, RNG_BATCH, 5), (uint64_t)i, (uint64_t)n) / m;
        sum += mean;
        square += (mean - 499.5) * (mean - 499.5);
    }
    const double variance = ((double)n * n - 1.0) / 12.0 / m * (n - m) / (n - 1.0);
    check_quiet("mean rank of a prefix", fabs(sum / keys - 499.5), 5.0 * sqrt(variance / keys));
    /* the variance of a nearly normal mean is estimated with relative error sqrt(2/keys) */
    check_quiet("variance of the mean rank", fabs(square / keys / variance - 1.0), 5.0 * sqrt(2.0 / keys));
}

/* ---- Sobol ------------------------------------------------------------------------------------------------------- */

static void sobol_first_points(void **state)
{
    (void)state;
    /* Bratley and Fox's order visits index i ^ (i >> 1) at place i */
    static const double KNOWN[8][4] = {
        { 0, 0, 0, 0 },
        { .5, .5, .5, .5 },
        { .75, .25, .25, .25 },
        { .25, .75, .75, .75 },
        { .375, .375, .625, .875 },
        { .875, .875, .125, .375 },
        { .625, .125, .875, .625 },
        { .125, .625, .375, .125 },
    };
    for (uint32_t i = 0; i < 8; i++)
        for (int d = 0; d < 4; d++)
            assert_true(0x1p-32 * sobol_raw(d, i ^ (i >> 1)) == KNOWN[i][d]);
}

/* Is x a generator of the multiplicative group of GF(2)[x]/p, p of degree s? */
static int is_primitive(uint32_t p, int s)
{
    uint32_t power = 1;
    for (uint32_t order = 1;; order++) {
        power <<= 1;
        if (power >> s & 1)
            power ^= p;
        if (power == 1)
            return order == ((uint32_t)1 << s) - 1;
        if (power == 0 || order >= (uint32_t)1 << s)
            return 0;
    }
}

/* Joe and Kuo take the primitive polynomials by rising degree, then by rising value. Each dimension's
 * direction numbers obey the recurrence of its polynomial (Sobol 1967), and each integer m_k = v_k 2^k is
 * odd and below 2^k. */
static void sobol_directions_obey_their_polynomials(void **state)
{
    (void)state;
    uint32_t p = 2;
    int s = 1;
    for (int d = 1; d < SOBOL_MAX_DIMENSIONS; d++) {
        do {
            p++;
            while (p >> (s + 1))
                s++;
        } while (!is_primitive(p, s));
        uint32_t m[33];
        for (int k = 1; k <= 32; k++) {
            const uint32_t v = sobol_raw(d, (uint32_t)1 << (k - 1));
            assert_int_equal((uint32_t)((uint64_t)v << k), 0); /* no digit below the k-th */
            m[k] = v >> (32 - k);
            assert_int_equal(m[k] & 1, 1);
        }
        for (int k = s + 1; k <= 32; k++) {
            uint32_t expected = m[k - s];
            for (int j = 1; j <= s; j++)
                if (p >> (s - j) & 1)
                    expected ^= m[k - j] << j;
            assert_int_equal(m[k], expected);
        }
    }
}

/* (0,1)-sequences: of points j 2^k .. (j+1) 2^k - 1 each falls in its own dyadic interval of length 2^-k,
 * in every dimension, before and after scrambling. */
static void sobol_fills_dyadic_intervals(void **state)
{
    (void)state;
    sobol plain;
    sobol_open(&plain, SOBOL_MAX_DIMENSIONS, rng_key_make(3, RNG_TEST, 1));
    for (int k = 0; k <= 10; k++)
        for (uint32_t block = 0; block < 3; block++) {
            const uint32_t n = (uint32_t)1 << k;
            char seen[2][SOBOL_MAX_DIMENSIONS][1024];
            memset(seen, 0, sizeof seen);
            for (uint32_t i = 0; i < n; i++) {
                double u[SOBOL_MAX_DIMENSIONS];
                sobol_point(&plain, block * n + i, u);
                for (int d = 0; d < SOBOL_MAX_DIMENSIONS; d++) {
                    assert_true(u[d] > 0.0 && u[d] < 1.0);
                    const uint32_t cell = (uint32_t)((uint64_t)sobol_raw(d, block * n + i) >> (32 - k));
                    const uint32_t scrambled = (uint32_t)(u[d] * n);
                    assert_int_equal(seen[0][d][cell]++, 0);
                    assert_int_equal(seen[1][d][scrambled]++, 0);
                }
            }
        }
}

/* A scrambled point is by itself uniform, whichever its index: over 20,000 scrambles, mean and second
 * moment within 5 standard errors (24 tests, false alarm 2e-5); likewise the product of two dimensions. */
static void scrambled_points_are_unbiased(void **state)
{
    (void)state;
    static const uint32_t INDEX[] = { 0, 1, 2, 1000 };
    const int scrambles = 20000;
    double sum[4][3] = { { 0 } }, square[4][3] = { { 0 } }, cross[4] = { 0 };
    for (int r = 0; r < scrambles; r++) {
        sobol s;
        double u[3];
        sobol_open(&s, 3, rng_key_make(17, RNG_TEST, (uint64_t)r));
        for (int i = 0; i < 4; i++) {
            sobol_point(&s, INDEX[i], u);
            for (int d = 0; d < 3; d++) {
                sum[i][d] += u[d] / scrambles;
                square[i][d] += u[d] * u[d] / scrambles;
            }
            cross[i] += (u[0] - 0.5) * (u[2] - 0.5) / scrambles;
        }
    }
    for (int i = 0; i < 4; i++) {
        check_quiet("dimensions are scrambled independently", fabs(cross[i]), 5.0 / 12.0 / sqrt(scrambles));
        for (int d = 0; d < 3; d++) {
            check_quiet("mean of a scrambled point", fabs(sum[i][d] - 0.5), 5.0 * sqrt(1.0 / 12.0 / scrambles));
            check_quiet("second moment", fabs(square[i][d] - 1.0 / 3.0), 5.0 * sqrt(4.0 / 45.0 / scrambles));
        }
    }
}

/* f(u) = prod_d (1 + (u_d - 1/2)(1 + sin 3 u_d)/2), smooth, with the integral computed by Gauss-Legendre.
 * Independent points err as N^-1/2; scrambled Sobol points as N^-3/2 (Owen 1997). From N = 2^6 to 2^12 the
 * root mean square over 100 scrambles must fall by more than 2^6 (the rate N^-1); it is known to
 * 1/sqrt(200) = 7 %, and N^-3/2 gives 2^9, so the verdict does not hang on luck. Also unbiased: the mean
 * of the 100 errors lies within 5 standard errors of 0. */
static double smooth(const double *u, int dimensions)
{
    double f = 1.0;
    for (int d = 0; d < dimensions; d++)
        f *= 1.0 + (u[d] - 0.5) * (1.0 + sin(3.0 * u[d])) / 2.0;
    return f;
}

static double rqmc_rms(int dimensions, uint32_t n, double exact, double *bias_in_se)
{
    const int scrambles = 100;
    double square = 0.0, sum = 0.0;
    for (int r = 0; r < scrambles; r++) {
        sobol s;
        double u[8], mean = 0.0;
        sobol_open(&s, dimensions, rng_key_make(5, RNG_TEST, (uint64_t)r));
        for (uint32_t i = 0; i < n; i++) {
            sobol_point(&s, i, u);
            mean += smooth(u, dimensions) / n;
        }
        sum += mean - exact;
        square += (mean - exact) * (mean - exact);
    }
    *bias_in_se = fabs(sum) / sqrt(square); /* sum / scrambles over rms / sqrt(scrambles) */
    return sqrt(square / scrambles);
}

static void rqmc_converges_faster_than_1_over_n(void **state)
{
    (void)state;
    double node[20], weight[20], one = 0.0, bias;
    gauss_legendre(20, node, weight);
    for (int i = 0; i < 20; i++) {
        const double u = (1.0 + node[i]) / 2.0;
        one += weight[i] / 2.0 * smooth(&u, 1);
    }
    static const int DIMENSIONS[] = { 1, 2, 4 };
    for (size_t k = 0; k < 3; k++) {
        const double exact = pow(one, DIMENSIONS[k]);
        const double coarse = rqmc_rms(DIMENSIONS[k], 64, exact, &bias);
        check_quiet("bias over scrambles, standard errors", bias, 5.0);
        const double fine = rqmc_rms(DIMENSIONS[k], 4096, exact, &bias);
        check_quiet("bias over scrambles, standard errors", bias, 5.0);
        print_message("    %d dimensions: rms %.2e at 64 points, %.2e at 4096: rate N^-%.2f\n", DIMENSIONS[k], coarse,
                      fine, log(coarse / fine) / log(64.0));
        assert_true(coarse / fine > 64.0);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void memory_checks_overflow(void **state)
{
    (void)state;
    npmd_error err = { 0 };
    char here;
    void *p = &here;
    size_t capacity = 7;
    assert_int_equal(memory_take(&p, SIZE_MAX / 4, 8, &err), NPMD_ERR_MEMORY);
    assert_int_equal(err.status, NPMD_ERR_MEMORY);
    assert_true(strlen(err.text) > 0);
    assert_ptr_equal(p, &here); /* outputs are written on success only */
    assert_int_equal(memory_take(&p, SIZE_MAX, 1, NULL), NPMD_ERR_MEMORY);
    assert_int_equal(memory_take(&p, SIZE_MAX / 8 + 1, 8, NULL), NPMD_ERR_MEMORY);
    assert_ptr_equal(p, &here);
    p = NULL;
    assert_int_equal(memory_grow(&p, &capacity, SIZE_MAX / 4, 8, NULL), NPMD_ERR_MEMORY);
    assert_null(p);
    assert_int_equal(capacity, 7);
}

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    for (size_t n = 0; n < 200; n += 13) {
        double *p = NULL;
        assert_int_equal(memory_new(&p, n, NULL), NPMD_OK);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % MEMORY_ALIGNMENT, 0);
        for (size_t i = 0; i < n; i++)
            assert_true(p[i] == 0.0);
        memory_free(p);
    }
    memory_free(NULL);
    void *grown = NULL;
    size_t capacity = 0;
    for (size_t need = 1; need < 1000; need += 7) {
        assert_int_equal(memory_grow(&grown, &capacity, need, sizeof(int), NULL), NPMD_OK);
        assert_true(capacity >= need);
        ((int *)grown)[need - 1] = (int)need;
    }
    for (size_t need = 1; need < 1000; need += 7)
        assert_int_equal(((int *)grown)[need - 1], (int)need); /* what was there is kept */
    free(grown);
    char *copy = NULL;
    assert_int_equal(memory_text(&copy, "S2 x S1", NULL), NPMD_OK);
    assert_string_equal(copy, "S2 x S1");
    memory_free(copy);
}

/* ---- Domains ----------------------------------------------------------------------------------------------------- */

static void domains_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *spelled;
        int factors, columns, dimension, circles;
    } GOOD[] = {
        { "S1", "S1", 1, 1, 1, 1 },
        { "T1", "S1", 1, 1, 1, 1 },
        { "T4", "S1^4", 4, 4, 4, 4 },
        { "t4", "S1^4", 4, 4, 4, 4 },
        { "S1^4", "S1^4", 4, 4, 4, 4 },
        { "  S1 ^ 4 ", "S1^4", 4, 4, 4, 4 },
        { "S1 x S1", "S1^2", 2, 2, 2, 2 },
        { "S1*S1*S1", "S1^3", 3, 3, 3, 3 },
        { "S1xS1", "S1^2", 2, 2, 2, 2 },
        { "S2", "S2", 1, 3, 2, 0 },
        { "s2 X s1", "S2 x S1", 2, 4, 3, 1 },
        { "S2*S2", "S2^2", 2, 6, 4, 0 },
        { "S2 x S2", "S2^2", 2, 6, 4, 0 },
        { "S2\tx\nS1", "S2 x S1", 2, 4, 3, 1 },
        { "T2 x S2^2", "S1^2 x S2^2", 4, 8, 6, 2 },
        { "S1 * T2 x s1^1", "S1^4", 4, 4, 4, 4 },
        { "S1 x S2 x S1", "S1 x S2 x S1", 3, 5, 4, 2 },
        { "T16", "S1^16", 16, 16, 16, 16 },
        { "S1^16", "S1^16", 16, 16, 16, 16 },
        { "S2^16", "S2^16", 16, 48, 32, 0 },
        { "T8 x S2^8", "S1^8 x S2^8", 16, 32, 24, 8 },
    };
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        npmd_domain *dom = NULL, *again = NULL;
        npmd_error err = { 0 };
        if (npmd_domain_parse(GOOD[i].text, &dom, &err) != NPMD_OK)
            fail_msg("\"%s\": %s", GOOD[i].text, err.text);
        assert_string_equal(npmd_domain_text(dom), GOOD[i].spelled);
        assert_int_equal(npmd_domain_factors(dom), GOOD[i].factors);
        assert_int_equal(npmd_domain_columns(dom), GOOD[i].columns);
        assert_int_equal(npmd_domain_dimension(dom), GOOD[i].dimension);
        assert_int_equal(dom->torus, GOOD[i].circles == GOOD[i].factors);
        const double pi = (double)CHECK_PI;
        const double volume = pow(2.0 * pi, GOOD[i].circles) * pow(4.0 * pi, GOOD[i].factors - GOOD[i].circles);
        /* 16 multiplications and the rounding of pow: below 40 eps */
        check_quiet("volume", fabs(npmd_domain_volume(dom) / volume - 1.0), 40.0 * DBL_EPSILON);
        int column = 0, direction = 0;
        for (int d = 0; d < dom->factors; d++) {
            assert_int_equal(dom->column[d], column);
            assert_int_equal(dom->direction[d], direction);
            column += dom->factor[d]->columns;
            direction += dom->factor[d]->dimension;
        }
        assert_int_equal(npmd_domain_parse(npmd_domain_text(dom), &again, &err), NPMD_OK); /* its own spelling */
        assert_string_equal(npmd_domain_text(again), GOOD[i].spelled);
        npmd_domain_free(dom);
        npmd_domain_free(again);
    }
    npmd_domain_free(NULL);
}

static void wrong_domains_are_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = { "S9",          "",          " ",         "S1^",   "S1^0",
                                       "S1^17",       "T0",        "S1 S2",     "mesh:", "T",
                                       "S",           "T17",       "S1 x",      "x S1",  "S1 ** S1",
                                       "S1^2^2",      "S1^-1",     "S1^1.5",    "S1^x",  "R2",
                                       "S1,S1",       "S2^9 x T8", "T4^5",      "S10",   "S1^99999999999999999999",
                                       "T4294967297", "S1 + S1",   "S1 x x S1", "S1^^2", "S3" };
    npmd_domain *const untouched = (npmd_domain *)&BAD;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        npmd_domain *dom = untouched;
        npmd_error err = { 0 };
        if (npmd_domain_parse(BAD[i], &dom, &err) != NPMD_ERR_ARGUMENT)
            fail_msg("\"%s\" was not refused", BAD[i]);
        assert_int_equal(err.status, NPMD_ERR_ARGUMENT);
        assert_true(strlen(err.text) > 10);
        assert_ptr_equal(dom, untouched);
        assert_int_equal(npmd_domain_parse(BAD[i], &dom, NULL), NPMD_ERR_ARGUMENT);
    }
}

/* However long the text, its end counts: nothing is guessed and nothing lost. */
static void long_domains_are_read_to_the_end(void **state)
{
    (void)state;
    for (size_t zeros = 10; zeros<2000; zeros += zeros> 200 && zeros < 300 ? 1 : 50) {
        char text[2100] = "S1^";
        memset(text + 3, '0', zeros);
        strcpy(text + 3 + zeros, "2 and rubbish");
        npmd_domain *dom = NULL;
        const npmd_status st = npmd_domain_parse(text, &dom, NULL);
        npmd_domain_free(dom);
        if (st != NPMD_ERR_ARGUMENT)
            fail_msg("\"S1^\", %zu zeros, \"2 and rubbish\" was taken for a domain", zeros);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(numbers_depend_on_everything),
        cmocka_unit_test(uniform_and_normal_moments),
        cmocka_unit_test(uniform_never_reaches_the_ends),
        cmocka_unit_test(permutation_is_a_bijection),
        cmocka_unit_test(permutations_differ_between_keys),
        cmocka_unit_test(permutation_is_uniform),
        cmocka_unit_test(prefix_is_a_fair_sample),
        cmocka_unit_test(sobol_first_points),
        cmocka_unit_test(sobol_directions_obey_their_polynomials),
        cmocka_unit_test(sobol_fills_dyadic_intervals),
        cmocka_unit_test(scrambled_points_are_unbiased),
        cmocka_unit_test(rqmc_converges_faster_than_1_over_n),
        cmocka_unit_test(memory_checks_overflow),
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(domains_are_read),
        cmocka_unit_test(wrong_domains_are_refused),
        cmocka_unit_test(long_domains_are_read_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
