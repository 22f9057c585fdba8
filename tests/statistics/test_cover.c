/* test_cover.c - intervals of 95 % hold the truth for 95 % of its mass.
 *
 * Kernels and series on S1 with --bootstrap on, fitted to 100 known data sets of 200 points from a mixture of two von Mises
 * densities; the share of the mass where the true log density lies in the band, and how often `probability` holds that of
 * 20 random arcs. What one data set says of the band scatters by 0.09, so the mean of 100 is known to 0.009; that of 20 arcs
 * to 0.05. Three times that is allowed beyond 92 and 97 %. */
#include "estimate.h"
#include "place.h"

enum { SETS = 100, POINTS = 200, NODES = 64, ARC_EVERY = 5, ARCS = SETS / ARC_EVERY };
static const double SHARE = 0.6, MEAN[] = { 1.0, 3.5 }, KAPPA[] = { 12.0, 2.0 };

static double bessel_i0(double k)
{
    double term = 1.0, sum = 1.0;
    for (int i = 1; i < 100; i++)
        sum += term *= k * k / 4.0 / i / i;
    return sum;
}

static double density(double x)
{
    double f = 0.0;
    for (int c = 0; c < 2; c++)
        f += (c == 0 ? SHARE : 1.0 - SHARE) * exp(KAPPA[c] * cos(x - MEAN[c]))
             / (2.0 * (double)CHECK_PI * bessel_i0(KAPPA[c]));
    return f;
}

/* By rejection, under the largest value of the density. */
static void draw(uint64_t *seed, double *x, size_t n)
{
    for (size_t i = 0; i < n;) {
        x[i] = 2.0 * (double)CHECK_PI * test_uniform(seed);
        if (test_uniform(seed) < density(x[i])) /* it is below 1 */
            i++;
    }
}

static double arc(double centre, double radius)
{
    double sum = 0.0;
    for (int i = 0; i < 2000; i++)
        sum += density(centre + radius * ((i + 0.5) / 1000.0 - 1.0)) * radius / 1000.0;
    return sum;
}

static void cover(const char *kind)
{
    npmd_domain *dom = domain_of("S1");
    npmd_error err = { 0 };
    npmd_options opt;
    uint64_t seed = 5;
    double node[NODES], v[NODES], band[NODES], spread[NODES], x[POINTS], held = 0.0, narrow = 0.0, arcs = 0.0;
    for (int i = 0; i < NODES; i++)
        node[i] = 2.0 * (double)CHECK_PI * i / NODES;
    npmd_points *at = points_of(dom, node, NODES);
    options_of(&opt, (const char *const[]){ "estimator", kind, "bootstrap", "on", NULL });
    for (int set = 0; set < SETS; set++) {
        draw(&seed, x, POINTS);
        npmd_points *pts = points_of(dom, x, POINTS);
        npmd_model *m = fit_of(pts, &opt);
        must(npmd_evaluate_at(m, at, NPMD_LOG_DENSITY, NULL, v, &err), &err);
        must(npmd_evaluate_at(m, at, NPMD_BAND, NULL, band, &err), &err);
        must(npmd_evaluate_at(m, at, NPMD_SPREAD, NULL, spread, &err), &err);
        for (int i = 0; i < NODES; i++) {
            const double f = density(node[i]), mass = f * 2.0 * (double)CHECK_PI / NODES / SETS;
            held += fabs(v[i] - log(f)) <= band[i] ? mass : 0.0;
            narrow += fabs(v[i] - log(f)) <= 1.96 * spread[i] ? mass : 0.0;
        }
        if (set % ARC_EVERY == 0) { /* 18 densities at thousands of points */
            const double centre = 2.0 * (double)CHECK_PI * test_uniform(&seed), radius = 0.3 + test_uniform(&seed);
            npmd_points *middle = points_of(dom, &centre, 1);
            npmd_probability found = NPMD_SIZED(npmd_probability);
            must(npmd_probability_near(m, middle, &radius, 0.0, 1, NULL, &found, &err), &err);
            const double p = arc(centre, radius);
            arcs += found.low <= p && p <= found.high ? 1.0 / ARCS : 0.0;
            npmd_points_free(middle);
        }
        npmd_model_free(m);
        npmd_points_free(pts);
    }
    print_message("%s: band %.3f, intervals %.3f; 1.96 spreads %.3f\n", kind, held, arcs, narrow);
    assert_true(held > 0.92 - 3.0 * 0.009 && held < 0.97 + 3.0 * 0.009);
    assert_true(arcs > 0.92 - 3.0 * 0.05 && arcs < 0.97 + 3.0 * 0.05);
    assert_true(narrow < held);
    npmd_points_free(at);
    npmd_domain_free(dom);
}

static void of_kernels(void **state)
{
    (void)state;
    cover("kde");
}

static void of_series(void **state)
{
    (void)state;
    cover("series");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(of_kernels), cmocka_unit_test(of_series) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
