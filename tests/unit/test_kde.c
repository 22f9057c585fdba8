/* test_kde.c - kernels about the points, with the width given: constants against quadrature, values against closed
 * forms and against plain loops, derivatives against differences, draws against their moments. */
#include "kernel_fits.h"

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* c(kappa) exp(kappa (cos t - 1)) over the distance t: 2 dt on S1, 2 pi sin t dt on S2, within 14 widths, beyond which
 * nothing is left to 1e-40. 200 Gauss-Legendre nodes are exact to rounding. */
static void kernels_integrate_to_one(void **state)
{
    (void)state;
    static const double KAPPA[] = { 1e-9, 1e-3, 0.5, 3.0, 20.0, 20.1, 300.0, 1e4, 1e6, 1e8 };
    enum { NODES = 200 };
    double node[NODES], weight[NODES], worst[2] = { 0 };
    gauss_legendre(NODES, node, weight);
    for (size_t k = 0; k < sizeof KAPPA / sizeof *KAPPA; k++) {
        const double end = fmin((double)CHECK_PI, 14.0 / sqrt(KAPPA[k]));
        double sum[2] = { 0 };
        for (int i = 0; i < NODES; i++) {
            const double t = 0.5 * end * (1.0 + node[i]), s = sin(0.5 * t), w = 0.5 * end * weight[i];
            const double decay = exp(-2.0 * KAPPA[k] * s * s);
            sum[0] += 2.0 * w * decay * exp(CIRCLE.log_kernel(&CIRCLE, KAPPA[k]));
            sum[1] += 2.0 * (double)CHECK_PI * sin(t) * w * decay * exp(SPHERE.log_kernel(&SPHERE, KAPPA[k]));
        }
        for (int m = 0; m < 2; m++)
            worst[m] = fmax(worst[m], fabs(sum[m] - 1.0));
    }
    check_below("S1: integral of a kernel - 1", worst[0], 1e-10);
    check_below("S2: integral of a kernel - 1", worst[1], 1e-10);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Two kernels on S1, written out with the Bessel function as a sum; at the antipode of both nearly, and with kappa up
 * to its bound: nothing overflows, nothing vanishes. */
static void closed_forms(void **state)
{
    (void)state;
    static const char *const KAPPA[] = { "0.001", "2", "300", "1000", "1e5", "1e8" };
    npmd_domain *circle = domain_of("S1"), *sphere = domain_of("S2");
    const double y[2] = { 1.0, 1.5 }, at[5] = { 1.0, 1.3, 1.5 + 1e-4, 4.0, (double)CHECK_PI + 1.0 };
    const double v[6] = { 0, 0, 1, 0, 0.6, 0.8 }, u[9] = { 0, 0, -1, 1, 0, 0, 0, 1e-4, sqrt(1.0 - 1e-8) };
    npmd_points *on_circle = points_of(circle, y, 2), *on_sphere = points_of(sphere, v, 2);
    double worst = 0.0;
    for (size_t k = 0; k < sizeof KAPPA / sizeof *KAPPA; k++) {
        const double kappa = atof(KAPPA[k]);
        for (int device = 0; device < 2; device++) {
            double f[5], g[3];
            npmd_model *a = FIT(circle, on_circle, "kappa", KAPPA[k]), *b = FIT(sphere, on_sphere, "kappa", KAPPA[k]);
            log_density(a, device ? "reference" : "cpu", at, 5, f);
            log_density(b, device ? "reference" : "cpu", u, 3, g);
            for (int i = 0; i < 8; i++) {
                double far[2], found = i < 5 ? f[i] : g[i - 5];
                for (int c = 0; c < 2; c++) /* 1 - cos */
                    if (i < 5) {
                        far[c] = 2.0 * pow(sin(0.5 * (at[i] - y[c])), 2.0);
                    } else {
                        far[c] = 0.0;
                        for (int j = 0; j < 3; j++)
                            far[c] += 0.5 * pow(u[3 * (i - 5) + j] - v[3 * c + j], 2.0);
                    }
                const double near = fmin(far[0], far[1]), rest = fmax(far[0], far[1]) - near;
                const double expected = -kappa * near + log1p(exp(-kappa * rest)) - log(2.0)
                                        + (i < 5 ? CIRCLE : SPHERE).log_kernel(NULL, kappa);
                assert_true(isfinite(found));
                /* float32 moves a point by 6e-8: kappa x distance x that; and rounding */
                const double bound = (device == 0 && kappa <= 2048.0
                                          ? 3e-7 * (1.0 + sqrt(fmin(kappa * near, 60.0) * kappa))
                                          : 0.0)
                                     + 1e-13 * (1.0 + fabs(expected)) + 1e-15 * kappa;
                worst = fmax(worst, fabs(found - expected) / bound);
            }
            npmd_model_free(a);
            npmd_model_free(b);
        }
    }
    check_below("log density of two kernels: error / bound", worst, 1.0);
    npmd_points_free(on_circle);
    npmd_points_free(on_sphere);
    npmd_domain_free(circle);
    npmd_domain_free(sphere);
}

/* All widths, all devices: float32 and boxes against plain loops. A term that counts has an exponent of 60 at most
 * and is moved by 2 sqrt(60 kappa) x 6e-8 x sqrt(columns): 6e-5 x sqrt(kappa / 2048) x 2. */
static void float32_is_near_the_reference(void **state)
{
    (void)state;
    static const char *const SETTING[][4] = {
        { "kappa", "5", "bandwidth", "fixed" },         { "kappa", "150", "bandwidth", "fixed" },
        { "kappa", "2000", "bandwidth", "fixed" },      { "kappa", "1e6", "bandwidth", "fixed" },
        { "neighbours", "6", "bandwidth", "adaptive" }, { "holdout", "0.2", "bandwidth", "mixture" }
    };
    static const char *const DOMAIN[] = { "S1^4", "S2 x S2", "S2 x S1" };
    enum { N = 400, M = 150 };
    for (int d = 0; d < 3; d++) {
        npmd_domain *dom = domain_of(DOMAIN[d]);
        double *x = doubles(N * 6), *y = doubles(M * 6), *f = doubles(M), *g = doubles(M);
        uint64_t seed = 8;
        uneven_clusters(dom, N, 11, x);
        uneven_clusters(dom, M, 12, y);
        for (size_t i = 0; i < M; i += 4) /* and far away */
            for (int k = 0; k < dom->factors; k++) {
                double u[2] = { test_uniform(&seed), test_uniform(&seed) };
                dom->factor[k]->uniform(dom->factor[k], u, y + i * (size_t)dom->columns + dom->column[k]);
            }
        npmd_points *pts = points_of(dom, x, N);
        for (size_t k = 0; k < sizeof SETTING / sizeof *SETTING; k++) {
            double worst = 0.0;
            char text[80];
            npmd_model *m = kernel_fit(
                dom, pts, (const char *const[]){ SETTING[k][0], SETTING[k][1], SETTING[k][2], SETTING[k][3], NULL });
            log_density(m, "cpu", y, M, f);
            log_density(m, "reference", y, M, g);
            for (size_t i = 0; i < M; i++)
                worst = fmax(worst, fabs(f[i] - g[i]) / (1.0 + 1e-8 * fabs(g[i])));
            snprintf(text, sizeof text, "%s %s %s", DOMAIN[d], SETTING[k][3], SETTING[k][1]);
            check_below(text, worst, 1.2e-4);
            npmd_model_free(m);
        }
        npmd_points_free(pts);
        npmd_domain_free(dom);
        free(x);
        free(y);
        free(f);
        free(g);
    }
}

/* Derivatives along geodesics by central differences of step h: the error is h^2 times derivatives of order three and
 * four, kappa^2 at most here, and rounding over h or h^2. */
static void jets_are_derivatives(void **state)
{
    (void)state;
    static const char *const SETTING[][4] = { { "kappa", "3", "bandwidth", "fixed" },
                                              { "neighbours", "12", "bandwidth", "adaptive" } };
    static const char *const DOMAIN[] = { "S1^2", "S2 x S1" };
    enum { N = 40, M = 12 };
    const double h = 1e-4;
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 2; k++) {
            npmd_domain *dom = domain_of(DOMAIN[d]);
            npmd_error err = { 0 };
            const size_t rows = (size_t)dom->dimension + 2, columns = (size_t)dom->columns;
            double x[N * 4], at[M * 4], jet[M * 5], slope = 0.0, bend = 0.0, value = 0.0;
            uneven_clusters(dom, N, 2, x);
            uneven_clusters(dom, M, 3, at);
            npmd_points *pts = points_of(dom, x, N), *where = points_of(dom, at, M);
            npmd_model *m = kernel_fit(
                dom, pts, (const char *const[]){ SETTING[k][0], SETTING[k][1], SETTING[k][2], SETTING[k][3], NULL });
            memcpy(at, where->x, M * columns * sizeof *at);
            must(model_evaluate(m, NULL, at, M, JET_ALL, jet, &err), &err);
            for (size_t i = 0; i < M; i++) {
                double lap = 0.0, centre = 0.0;
                must(model_values(m, &(npmd_compute){ .threads = 1, .device = "reference" }, at + i * columns, 1,
                                  &centre, &err),
                     &err);
                value = fmax(value, fabs(jet[i * rows] - centre));
                for (int f = 0; f < dom->factors; f++)
                    for (int t = 0; t < dom->factor[f]->dimension; t++) {
                        double side[2], frame[6], move[4];
                        dom->factor[f]->frame(dom->factor[f], at + i * columns + dom->column[f], frame);
                        for (int s = 0; s < 2; s++) {
                            memcpy(move, at + i * columns, columns * sizeof *move);
                            double *y = move + dom->column[f];
                            for (int j = 0; j < dom->factor[f]->columns; j++)
                                y[j] = dom->factor[f] == &CIRCLE
                                           ? y[j] + (s ? h : -h)
                                           : cos(h) * y[j] + (s ? 1.0 : -1.0) * sin(h) * frame[3 * t + j];
                            must(model_values(m, &(npmd_compute){ .threads = 1, .device = "reference" }, move, 1,
                                              &side[s], &err),
                                 &err);
                        }
                        const double size = 1.0 + fabs(jet[i * rows + rows - 1]);
                        slope = fmax(slope, fabs((side[1] - side[0]) / (2.0 * h)
                                                 - jet[i * rows + 1 + (size_t)(dom->direction[f] + t)])
                                                / size);
                        lap += (side[1] - 2.0 * centre + side[0]) / (h * h);
                    }
                bend = fmax(bend, fabs(lap - jet[i * rows + rows - 1]) / (1.0 + pow(jet[i * rows + rows - 1], 2.0)));
            }
            check_below("value of the jet", value, 1e-12);
            check_below("derivatives / (1 + |Laplacian|)", slope, 1e-5);
            check_below("Laplacian", bend, 1e-5);
            npmd_model_free(m);
            npmd_points_free(pts);
            npmd_points_free(where);
            npmd_domain_free(dom);
        }
}

/* Draws about a point on S2 x S1: the mean cosine with the centre is coth k - 1/k on S2 and I_1/I_0 on S1 (here by
 * the trapezium rule), within five standard errors; draws are functions of seed and row. */
static void draws_have_the_right_moments(void **state)
{
    (void)state;
    enum { N = 40000 };
    static const char *const KAPPA[] = { "1e-5", "0.7", "12", "4000", "1e8" };
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_error err = { 0 };
    const double x[8] = { 0, 0.6, 0.8, 1.0, 0, 0.6, 0.8, 4.0 };
    double *y = doubles(N * 4), *again = doubles(N * 4), worst = 0.0;
    npmd_points *pts = weighted_points(dom, x, 2, (const double[]){ 1.0, 1e-9 });
    for (size_t k = 0; k < sizeof KAPPA / sizeof *KAPPA; k++) {
        const double kappa = atof(KAPPA[k]);
        double sum[2] = { 0 }, square[2] = { 0 }, mean[2], top = 0.0, bottom = 0.0, side = 0.0;
        npmd_model *m = FIT(dom, pts, "kappa", KAPPA[k]);
        npmd_sample_facts facts = NPMD_SIZED(npmd_sample_facts);
        must(npmd_sample_given(m, 0, NULL, 5, N, NULL, y, &facts, &err), &err); /* as the program asks */
        assert_true(facts.acceptance == 1.0 && facts.proposed == N);
        must(npmd_sample(m, 5, 100, &(npmd_compute){ .size = sizeof(npmd_compute), .threads = 1 }, again, NULL, &err),
             &err);
        assert_memory_equal(y, again, 400 * sizeof *y);
        for (int i = 0; i < N; i++) {
            double far[2] = { 0.0, 2.0 * pow(sin(0.5 * (y[4 * i + 3] - x[3])), 2.0) }; /* 1 - cos */
            for (int j = 0; j < 3; j++)
                far[0] += 0.5 * pow(y[4 * i + j] - x[j], 2.0);
            for (int d = 0; d < 2; d++) {
                sum[d] += far[d] / N;
                square[d] += far[d] * far[d] / N;
            }
            side += sin(y[4 * i + 3] - x[3]) / N;
        }
        const double reach = fmin((double)CHECK_PI, 14.0 / sqrt(kappa));
        for (int t = 0; t < 2000; t++) { /* midpoints */
            const double half = 2.0 * pow(sin(0.5 * reach * (t + 0.5) / 2000.0), 2.0);
            top += half * exp(-kappa * half);
            bottom += exp(-kappa * half);
        }
        mean[0] = kappa < 1e-3 ? 1.0 - kappa / 3.0 : 1.0 - (1.0 / tanh(kappa) - 1.0 / kappa);
        mean[1] = top / bottom;
        for (int d = 0; d < 2; d++) {
            const double se = sqrt((square[d] - sum[d] * sum[d]) / N);
            worst = fmax(worst, fabs(sum[d] - mean[d]) / (se + 1e-15));
        }
        worst = fmax(worst, fabs(side) / sqrt(2.0 * sum[1] / N));
        npmd_model_free(m);
    }
    check_below("mean cosine: standard errors", worst, 5.0);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(y);
    free(again);
}

static double whole_i0(double x)
{
    return bessel_i0e(x) * exp(x);
}

/* Two kernels of S1 x S2, angles a and b apart. The integral of f^2 in closed form: with the product over the factors
 * of I0(2 kappa |cos(a/2)|) / (2 pi I0(kappa)^2) and (kappa / (4 pi sinh kappa))^2 4 pi sinh(r) / r, r = 2 kappa
 * cos(b/2). The score has it up to draws; 5 of its standard errors. */
static void the_score_knows_the_square(void **state)
{
    (void)state;
    const double kappa = 7.0, a = 0.8, b = 0.5, x[] = { 1.0, 0.0, 0.0, 1.0, 1.0 + a, sin(b), 0.0, cos(b) };
    npmd_domain *dom = domain_of("S1 x S2");
    npmd_points *pts = points_of(dom, x, 2);
    npmd_model *m = FIT(dom, pts, "kappa", "7", "bandwidth", "fixed");
    npmd_error err = { 0 };
    npmd_score s = NPMD_SIZED(npmd_score);
    double f[2], square = 0.0;
    must(npmd_score_points(m, pts, 1, NULL, &s, &err), &err);
    must(npmd_evaluate_at(m, pts, NPMD_DENSITY, NULL, f, &err), &err);
    for (int apart = 0; apart < 2; apart++) {
        const double r = 2.0 * kappa * cos(apart * b / 2.0), own = kappa / (4.0 * M_PI * sinh(kappa));
        square += 0.5 * whole_i0(2.0 * kappa * fabs(cos(apart * a / 2.0))) / (TWO_PI * pow(whole_i0(kappa), 2.0)) * own
                  * own * 4.0 * M_PI * sinh(r) / r;
    }
    assert_true(s.log_integral == 0.0 && s.log_integral_se == 0.0);
    /* a closed form: rounding alone, of exponents below 30 and of Bessel functions to 1e-13 */
    check_below("score: the integral of f^2", fabs(s.ise_criterion + f[0] + f[1] - square) / square, 1e-11);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* Two pairs of points of S2 without an order: four kernels, each of weight 1/4. The integral of the product of two
 * kernels about p and q is (kappa / (4 pi sinh kappa))^2 4 pi sinh(r) / r, r = kappa |p + q|, a factor. */
static void the_score_knows_the_square_of_unordered_pairs(void **state)
{
    (void)state;
    const double kappa = 6.0, x[] = { 0, 0, 1, sin(0.7), 0, cos(0.7), 0, sin(0.3), cos(0.3), -1, 0, 0 };
    const double *const pair[4][2] = { { x, x + 3 }, { x + 3, x }, { x + 6, x + 9 }, { x + 9, x + 6 } };
    npmd_domain *dom = domain_of("S2 x S2");
    npmd_points *pts = points_of(dom, x, 2);
    npmd_model *m = FIT(dom, pts, "kappa", "6", "bandwidth", "fixed", "unordered", "on");
    npmd_error err = { 0 };
    npmd_score s = NPMD_SIZED(npmd_score);
    double f[2], square = 0.0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            double product = 1.0 / 16.0;
            for (int end = 0; end < 2; end++) {
                double length2 = 0.0;
                for (int j = 0; j < 3; j++)
                    length2 += pow(pair[a][end][j] + pair[b][end][j], 2.0);
                const double r = kappa * sqrt(length2);
                product *= pow(kappa / (4.0 * M_PI * sinh(kappa)), 2.0) * 4.0 * M_PI * sinh(r) / r;
            }
            square += product;
        }
    must(npmd_score_points(m, pts, 3, NULL, &s, &err), &err);
    must(npmd_evaluate_at(m, pts, NPMD_DENSITY, NULL, f, &err), &err);
    check_below("score of pairs: the integral of f^2", fabs(s.ise_criterion + f[0] + f[1] - square) / square, 1e-11);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* The integral of f^2 that the score found, against the known one, over seeds: within 5 standard errors of their mean,
 * which are below a bound. */
static void check_square(const char *what, const npmd_model *m, const npmd_points *pts, double square, double bound)
{
    enum { SEEDS = 8 };
    char words[100];
    double *f = doubles(pts->n), mean = 0.0, off = 0.0, off2 = 0.0;
    log_density(m, "cpu", pts->x, pts->n, f);
    for (size_t i = 0; i < pts->n; i++)
        mean += exp(f[i]) / (double)pts->n;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        npmd_error err = { 0 };
        npmd_score s = NPMD_SIZED(npmd_score);
        must(npmd_score_points(m, pts, seed, NULL, &s, &err), &err);
        const double d = (s.ise_criterion + 2.0 * mean) / square - 1.0;
        off += d / SEEDS;
        off2 += d * d / SEEDS;
    }
    const double se = sqrt((off2 - off * off) / (SEEDS - 1));
    snprintf(words, sizeof words, "score of %s: the integral of f^2, standard errors", what);
    check_below(words, fabs(off) / fmax(se, 1e-10),
                5.0); /* rounding of a closed form: values are float32 sums, and cancel */
    snprintf(words, sizeof words, "score of %s: its error", what);
    check_below(words, se, bound);
    free(f);
}

/* The same by draws, which take its place where there are too many kernels. */
static void check_draws(const npmd_model *m, double square, double bound)
{
    enum { SEEDS = 4 };
    double off = 0.0, off2 = 0.0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        npmd_error err = { 0 };
        double mean = 0.0, se = 0.0;
        must(kde_mean(m, seed, model_own_values, (void *)(uintptr_t)m, 0.0, &mean, &se, &err), &err);
        const double d = mean / (square * m->domain->volume) - 1.0;
        off += d / SEEDS;
        off2 += d * d / SEEDS;
    }
    const double se = sqrt((off2 - off * off) / (SEEDS - 1));
    check_below("draws: the integral of f^2, standard errors", fabs(off) / se, 6.0); /* of a Student law with 3 */
    check_below("draws: its error", se, bound);
}

/* log of the product over S2 of two normalised kernels about points d apart: with r = |k p + l q|,
 * k + l - r = k l d^2 / (k + l + r), and a kernel is k / (2 pi (1 - exp(-2 k))) exp(k (cos - 1)). */
static double log_overlap(double k, double l, double d2)
{
    const double r = sqrt((k + l) * (k + l) - k * l * d2);
    return log(-k / (TWO_PI * expm1(-2.0 * k)) * -l / (TWO_PI * expm1(-2.0 * l)) * -TWO_PI * expm1(-2.0 * r) / r)
           - k * l * d2 / (k + l + r);
}

/* Widths by distance, and two pairs of points that nearly coincide: the square is that of their narrow kernels and of
 * the overlap of each with its neighbour, which draws by weight would seldom meet. Against the sum over all pairs of
 * kernels. */
static void the_score_finds_narrow_overlaps(void **state)
{
    (void)state;
    enum { N = 150 };
    npmd_domain *dom = domain_of("S2 x S2");
    double *x = doubles(N * 6), square = 0.0;
    uneven_clusters(dom, N, 9, x);
    for (int i = 0; i < 4; i += 2)
        for (int j = 0; j < 6; j++)
            x[6 * (i + 1) + j] = x[6 * i + j] + (j == 1 ? 2e-3 : 0.0);
    npmd_points *pts = points_of(dom, x, N);
    npmd_model *m = FIT(dom, pts, "bandwidth", "adaptive", "kappa", "2", "neighbours", "1");
    const kde_state *k = m->state;
    assert_true(k->parts == 1 && k->cloud.n == N);
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++) {
            double sum = 0.0;
            for (int end = 0; end < 2; end++) {
                double d2 = 0.0;
                for (int j = 3 * end; j < 3 * end + 3; j++)
                    d2 += pow(k->cloud.x[6 * a + (size_t)j] - k->cloud.x[6 * b + (size_t)j], 2.0);
                sum += log_overlap(k->part[0].scale_wide[k->view.place[a]], k->part[0].scale_wide[k->view.place[b]],
                                   d2);
            }
            square += exp(sum) * k->cloud.weight[a] * k->cloud.weight[b] * k->part[0].weight * k->part[0].weight;
        }
    check_square("narrow kernels", m, pts, square, 1e-9);
    check_draws(m, square, 0.02);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

/* Kernels of two widths and a series, mixed: against a product rule. */
static void the_score_knows_the_square_of_a_mixture(void **state)
{
    (void)state;
    enum { N = 60, PARTS = 3 };
    npmd_domain *dom = domain_of("S1 x S2");
    double x[N * 4], one;
    uneven_clusters(dom, N, 5, x);
    npmd_points *pts = points_of(dom, x, N);
    npmd_model *part[PARTS] = { FIT(dom, pts, "kappa", "9", "bandwidth", "fixed"),
                                FIT(dom, pts, "estimator", "series", "max-frequency", "2", "tau", "1e-2"),
                                FIT(dom, pts, "kappa", "30", "bandwidth", "fixed") };
    double weight[PARTS] = { 0.3, 0.5, 0.2 };
    npmd_model m = { .kind = &ESTIMATOR_STACK, .domain = dom, .part = part, .part_weight = weight, .parts = PARTS };
    const double square = integral_of_square(&m, 30, &one);
    check_below("mixture: a rule integrates it", fabs(one - 1.0), 1e-4);
    check_square("a mixture", &m, pts, square, 0.01);
    for (int k = 0; k < PARTS; k++)
        npmd_model_free(part[k]);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_integrate_to_one),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(float32_is_near_the_reference),
        cmocka_unit_test(jets_are_derivatives),
        cmocka_unit_test(draws_have_the_right_moments),
        cmocka_unit_test(the_score_knows_the_square),
        cmocka_unit_test(the_score_knows_the_square_of_unordered_pairs),
        cmocka_unit_test(the_score_finds_narrow_overlaps),
        cmocka_unit_test(the_score_knows_the_square_of_a_mixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
