/* test_kde.c - kernels about the points: constants, criteria against brute force, values, jets, choices, files. */
#include "check.h"
#include "kde.h"

#include <unistd.h>

static void must(npmd_status st, const npmd_error *err)
{
    if (st != NPMD_OK)
        fail_msg("%s", err->text);
}

static npmd_domain *domain_of(const char *text)
{
    npmd_domain *dom = NULL;
    npmd_error err = { 0 };
    must(npmd_domain_parse(text, &dom, &err), &err);
    return dom;
}

/* Two clusters of different width in every factor. */
static void clusters(const npmd_domain *dom, size_t n, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < dom->factors; d++) {
            double *at = x + i * (size_t)dom->columns + dom->column[d], r = 0.0;
            const double width = i % 3 == 0 ? 0.1 : 0.6;
            if (dom->factor[d] == &CIRCLE) {
                at[0] = (i % 3 == 0 ? 1.0 : 4.0) + width * test_normal(&seed);
                continue;
            }
            for (int j = 0; j < 3; j++) {
                at[j] = (j == (i % 3 == 0 ? 0 : 2)) + width * test_normal(&seed);
                r += at[j] * at[j];
            }
            for (int j = 0; j < 3; j++)
                at[j] /= sqrt(r);
        }
}

/* weight (n) or NULL; its mean is made 1. */
static npmd_points *points_of(const npmd_domain *dom, const double *x, size_t n, const double *weight)
{
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    double sum = 0.0;
    must(npmd_points_from(x, n, dom, &pts, &err), &err);
    if (weight != NULL) {
        must(memory_new(&pts->weight, n, &err), &err);
        for (size_t i = 0; i < n; i++)
            sum += weight[i];
        for (size_t i = 0; i < n; i++)
            pts->weight[i] = weight[i] * (double)n / sum;
        pts->total = sum;
    }
    return pts;
}

static npmd_model *fit(const npmd_domain *dom, const npmd_points *pts, const char *const *setting)
{
    npmd_options opt;
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    npmd_options_init(&opt);
    opt.estimator = NPMD_KDE;
    opt.threads = 1;
    for (; *setting != NULL; setting += 2)
        must(npmd_options_set(&opt, setting[0], setting[1], &err), &err);
    must(npmd_fit(dom, pts, &opt, &m, &err), &err);
    return m;
}
#define FIT(dom, pts, ...) fit(dom, pts, (const char *const[]){ __VA_ARGS__, NULL })

static void log_density(const npmd_model *m, const char *device, const double *x, size_t n, double *out)
{
    npmd_error err = { 0 };
    npmd_compute how = { .threads = 1 };
    npmd_points *pts = points_of(m->domain, x, n, NULL);
    snprintf(how.device, sizeof how.device, "%s", device);
    must(npmd_evaluate_at(m, pts, NPMD_LOG_DENSITY, &how, out, &err), &err);
    npmd_points_free(pts);
}

/* ---- constants ----------------------------------------------------------------------------------------------- */

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
            sum[0] += 2.0 * w * decay * exp(CIRCLE.log_kernel(KAPPA[k]));
            sum[1] += 2.0 * (double)CHECK_PI * sin(t) * w * decay * exp(SPHERE.log_kernel(KAPPA[k]));
        }
        for (int m = 0; m < 2; m++)
            worst[m] = fmax(worst[m], fabs(sum[m] - 1.0));
    }
    check_below("S1: integral of a kernel - 1", worst[0], 1e-10);
    check_below("S2: integral of a kernel - 1", worst[1], 1e-10);
}

/* ---- criteria ------------------------------------------------------------------------------------------------ */

enum { FEW = 24 };

/* Integral over the domain of f^2, by a product rule far finer than the kernels. */
static double integral_of_square(const npmd_model *m, size_t resolution, double *one)
{
    const npmd_domain *dom = m->domain;
    double *x[NPMD_MAX_FACTORS], *w[NPMD_MAX_FACTORS], square = 0.0;
    size_t count[NPMD_MAX_FACTORS], nodes = 1;
    for (int d = 0; d < dom->factors; d++) {
        count[d] = dom->factor[d]->rule_nodes(resolution);
        x[d] = doubles(count[d] * 3);
        w[d] = doubles(count[d]);
        dom->factor[d]->rule(resolution, x[d], w[d]);
        nodes *= count[d];
    }
    double *all = doubles(nodes * (size_t)dom->columns), *weight = doubles(nodes), *f = doubles(nodes);
    for (size_t i = 0; i < nodes; i++) {
        size_t rest = i;
        weight[i] = dom->volume;
        for (int d = 0; d < dom->factors; d++) {
            const size_t j = rest % count[d], columns = (size_t)dom->factor[d]->columns;
            rest /= count[d];
            memcpy(all + i * (size_t)dom->columns + dom->column[d], x[d] + j * columns,
                   columns * sizeof *all);
            weight[i] *= w[d][j];
        }
    }
    log_density(m, "reference", all, nodes, f);
    *one = 0.0;
    for (size_t i = 0; i < nodes; i++) {
        square += weight[i] * exp(2.0 * f[i]);
        *one += weight[i] * exp(f[i]);
    }
    for (int d = 0; d < dom->factors; d++) {
        free(x[d]);
        free(w[d]);
    }
    free(all);
    free(weight);
    free(f);
    return square;
}

/* The cloud's rows first .. last - 1 left out, of concentration kappa. */
static npmd_model *fit_without(const kde_cloud *c, size_t first, size_t last, const char *kappa)
{
    double *x = doubles(c->n * (size_t)c->domain->columns), *w = doubles(c->n);
    size_t have = 0;
    const size_t columns = (size_t)c->domain->columns;
    for (size_t i = 0; i < c->n; i++)
        if (i < first || i >= last) {
            memcpy(x + have * columns, c->x + i * columns, columns * sizeof *x);
            w[have++] = c->weight[i];
        }
    npmd_points *pts = points_of(c->domain, x, have, w);
    npmd_model *m = FIT(c->domain, pts, "kappa", kappa);
    npmd_points_free(pts);
    free(x);
    free(w);
    return m;
}

/* The criterion of a rule from its definition. */
static double brute_force(const kde_cloud *c, npmd_rule rule, const char *kappa, size_t resolution)
{
    const size_t columns = (size_t)c->domain->columns;
    const size_t folds = rule == NPMD_RULE_ISE ? 5 : c->n;
    double sum = 0.0, one = 0.0;
    for (size_t k = 0; k < folds; k++) {
        const size_t first = c->n * k / folds, last = c->n * (k + 1) / folds;
        double f[FEW], mean = 0.0, total = 0.0;
        npmd_model *m = fit_without(c, first, last, kappa);
        log_density(m, "reference", c->x + first * columns, last - first, f);
        for (size_t i = first; i < last; i++) {
            mean += c->weight[i] * (rule == NPMD_RULE_LIKELIHOOD ? f[i - first] : exp(f[i - first]));
            total += c->weight[i];
        }
        if (rule == NPMD_RULE_ISE)
            sum += (integral_of_square(m, resolution, &one) - 2.0 * mean / total) / (double)folds;
        else
            sum -= (rule == NPMD_RULE_LIKELIHOOD ? 1.0 : 2.0) * mean;
        npmd_model_free(m);
    }
    if (rule == NPMD_RULE_LEAST_SQUARES) {
        npmd_model *m = fit_without(c, 0, 0, kappa);
        sum += integral_of_square(m, resolution, &one);
        npmd_model_free(m);
        check_quiet("integral of f - 1", fabs(one - 1.0), 1e-8);
    }
    return sum;
}

/* float32 gives about 1e-6 of the larger of the two sums that are subtracted; the reference rounds only. On S2 x S1
 * the rule of the test is the coarser one. */
static void criteria_are_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *domain;
        size_t resolution;
    } CASE[] = { { "S1^2", 96 }, { "S2", 48 }, { "S2 x S1", 48 } };
    static const char *const RULE[] = { "least-squares", "likelihood", "ise" };
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++)
        for (int rule = 0; rule < 3; rule++) {
            npmd_domain *dom = domain_of(CASE[k].domain);
            npmd_error err = { 0 };
            kde_cloud c = { 0 };
            double x[FEW * 4], w[FEW];
            char text[80], kappa[32];
            clusters(dom, FEW, 3 + k, x);
            for (int i = 0; i < FEW; i++) { /* so wide that the rule sees the kernels */
                w[i] = 0.5 + i % 4;
                if (dom->factor[0] == &CIRCLE)
                    x[i * 2] *= 1.7;
            }
            npmd_points *pts = points_of(dom, x, FEW, w);
            must(kde_cloud_make(pts, 1, &c, &err), &err);
            npmd_model *fast = FIT(dom, pts, "concentration-rule", RULE[rule]),
                       *exact = FIT(dom, pts, "concentration-rule", RULE[rule], "device", "reference");
            snprintf(kappa, sizeof kappa, "%.17g", exact->options.kappa[0]);
            const double expected = brute_force(&c, (npmd_rule)rule, kappa, CASE[k].resolution);
            print_message("    kappa %s, criterion %.9g\n", kappa, expected);
            assert_true(exact->options.kappa[0] < 80.0); /* what the rules were made for */
            snprintf(text, sizeof text, "%s %s, reference", CASE[k].domain, RULE[rule]);
            check_below(text, fabs(exact->facts.objective / expected - 1.0), k < 2 ? 1e-9 : 1e-6);
            snprintf(text, sizeof text, "%s %s, float32", CASE[k].domain, RULE[rule]);
            /* at the same kappa: both stand at a minimum, so a difference in kappa is of second order */
            check_below(text, fabs(fast->facts.objective / expected - 1.0), 5e-6);
            npmd_model_free(fast);
            npmd_model_free(exact);
            kde_cloud_close(&c);
            npmd_points_free(pts);
            npmd_domain_free(dom);
        }
}

/* Repeated points are weights, for the density and for the choice. */
static void twins_are_weights(void **state)
{
    (void)state;
    enum { N = 60 };
    static const char *const RULE[] = { "least-squares", "likelihood" };
    npmd_domain *dom = domain_of("S2 x S1");
    double *x = doubles(N * 4), *twice = doubles(3 * N * 4), *w = doubles(N), one[N], other[N];
    size_t have = 0;
    clusters(dom, N, 5, x);
    for (size_t i = 0; i < N; i++) {
        w[i] = 1.0 + (double)(i % 3);
        for (size_t k = 0; k <= i % 3; k++)
            memcpy(twice + 4 * have++, x + 4 * i, 4 * sizeof *x);
    }
    npmd_points *weighted = points_of(dom, x, N, w), *repeated = points_of(dom, twice, have, NULL);
    for (int rule = 0; rule < 2; rule++) {
        npmd_model *a = FIT(dom, weighted, "concentration-rule", RULE[rule]),
                   *b = FIT(dom, repeated, "concentration-rule", RULE[rule]);
        check_quiet("kappa", fabs(a->options.kappa[0] / b->options.kappa[0] - 1.0), 1e-9);
        assert_true(a->options.kappa[0] < 1e4); /* twins do not drive it up */
        log_density(a, "cpu", x, N, one);
        log_density(b, "cpu", x, N, other);
        for (size_t i = 0; i < N; i++)
            check_quiet("log density", fabs(one[i] - other[i]), 1e-6);
        npmd_model_free(a);
        npmd_model_free(b);
    }
    npmd_points_free(weighted);
    npmd_points_free(repeated);
    npmd_domain_free(dom);
    free(x);
    free(twice);
    free(w);
}

/* ---- values -------------------------------------------------------------------------------------------------- */

/* Two kernels on S1, written out with the Bessel function as a sum; at the antipode of both nearly, and with kappa up
 * to its bound: nothing overflows, nothing vanishes. */
static void closed_forms(void **state)
{
    (void)state;
    static const char *const KAPPA[] = { "0.001", "2", "300", "1000", "1e5", "1e8" };
    npmd_domain *circle = domain_of("S1"), *sphere = domain_of("S2");
    const double y[2] = { 1.0, 1.5 }, at[5] = { 1.0, 1.3, 1.5 + 1e-4, 4.0, (double)CHECK_PI + 1.0 };
    const double v[6] = { 0, 0, 1, 0, 0.6, 0.8 }, u[9] = { 0, 0, -1, 1, 0, 0, 0, 1e-4, sqrt(1.0 - 1e-8) };
    npmd_points *on_circle = points_of(circle, y, 2, NULL), *on_sphere = points_of(sphere, v, 2, NULL);
    double worst = 0.0;
    for (size_t k = 0; k < sizeof KAPPA / sizeof *KAPPA; k++) {
        const double kappa = atof(KAPPA[k]);
        for (int device = 0; device < 2; device++) {
            double f[5], g[3];
            npmd_model *a = FIT(circle, on_circle, "kappa", KAPPA[k]),
                       *b = FIT(sphere, on_sphere, "kappa", KAPPA[k]);
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
                                        + (i < 5 ? CIRCLE : SPHERE).log_kernel(kappa);
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
        clusters(dom, N, 11, x);
        clusters(dom, M, 12, y);
        for (size_t i = 0; i < M; i += 4) /* and far away */
            for (int k = 0; k < dom->factors; k++) {
                double u[2] = { test_uniform(&seed), test_uniform(&seed) };
                dom->factor[k]->uniform(u, y + i * (size_t)dom->columns + dom->column[k]);
            }
        npmd_points *pts = points_of(dom, x, N, NULL);
        for (size_t k = 0; k < sizeof SETTING / sizeof *SETTING; k++) {
            double worst = 0.0;
            char text[80];
            npmd_model *m = fit(
                dom, pts,
                (const char *const[]){ SETTING[k][0], SETTING[k][1], SETTING[k][2], SETTING[k][3], NULL });
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
            clusters(dom, N, 2, x);
            clusters(dom, M, 3, at);
            npmd_points *pts = points_of(dom, x, N, NULL), *where = points_of(dom, at, M, NULL);
            npmd_model *m = fit(
                dom, pts,
                (const char *const[]){ SETTING[k][0], SETTING[k][1], SETTING[k][2], SETTING[k][3], NULL });
            memcpy(at, where->x, M * columns * sizeof *at);
            must(m->kind->evaluate(m, NULL, at, M, JET_ALL, jet, &err), &err);
            for (size_t i = 0; i < M; i++) {
                double lap = 0.0, centre = 0.0;
                must(model_values(m, &(npmd_compute){ .threads = 1, .device = "reference" }, at + i * columns,
                                  1, &centre, &err),
                     &err);
                value = fmax(value, fabs(jet[i * rows] - centre));
                for (int f = 0; f < dom->factors; f++)
                    for (int t = 0; t < dom->factor[f]->dimension; t++) {
                        double side[2], frame[6], move[4];
                        dom->factor[f]->frame(at + i * columns + dom->column[f], frame);
                        for (int s = 0; s < 2; s++) {
                            memcpy(move, at + i * columns, columns * sizeof *move);
                            double *y = move + dom->column[f];
                            for (int j = 0; j < dom->factor[f]->columns; j++)
                                y[j] = dom->factor[f] == &CIRCLE
                                           ? y[j] + (s ? h : -h)
                                           : cos(h) * y[j] + (s ? 1.0 : -1.0) * sin(h) * frame[3 * t + j];
                            must(model_values(m, &(npmd_compute){ .threads = 1, .device = "reference" }, move,
                                              1, &side[s], &err),
                                 &err);
                        }
                        const double size = 1.0 + fabs(jet[i * rows + rows - 1]);
                        slope = fmax(slope, fabs((side[1] - side[0]) / (2.0 * h)
                                                 - jet[i * rows + 1 + (size_t)(dom->direction[f] + t)])
                                                / size);
                        lap += (side[1] - 2.0 * centre + side[0]) / (h * h);
                    }
                bend = fmax(bend, fabs(lap - jet[i * rows + rows - 1])
                                      / (1.0 + pow(jet[i * rows + rows - 1], 2.0)));
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
    npmd_points *pts = points_of(dom, x, 2, (const double[]){ 1.0, 1e-9 });
    for (size_t k = 0; k < sizeof KAPPA / sizeof *KAPPA; k++) {
        const double kappa = atof(KAPPA[k]);
        double sum[2] = { 0 }, square[2] = { 0 }, mean[2], top = 0.0, bottom = 0.0, side = 0.0;
        npmd_model *m = FIT(dom, pts, "kappa", KAPPA[k]);
        npmd_sample_facts facts = { 0 };
        must(npmd_sample_given(m, 0, NULL, 5, N, NULL, y, &facts, &err), &err); /* as the program asks */
        assert_true(facts.acceptance == 1.0 && facts.proposed == N);
        must(npmd_sample(m, 5, 100, &(npmd_compute){ .threads = 1 }, again, NULL, &err), &err);
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

/* ---- fits ---------------------------------------------------------------------------------------------------- */

static const char *const WAYS[][5] = { { "bandwidth", "fixed", "kappa", "30", NULL },
                                       { "bandwidth", "fixed", "concentration-rule", "least-squares", NULL },
                                       { "bandwidth", "fixed", "concentration-rule", "likelihood", NULL },
                                       { "bandwidth", "fixed", "concentration-rule", "ise", NULL },
                                       { "bandwidth", "fixed", "concentration", "factor", NULL },
                                       { "bandwidth", "adaptive", "kappa", "30", NULL },
                                       { "bandwidth", "adaptive", "neighbours", "0", NULL },
                                       { "bandwidth", "mixture", "holdout", "0.25", NULL },
                                       { "bandwidth", "mixture", "concentration", "factor", NULL } };
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

/* One thread, two, seven; and the file: equal bytes all the way. */
static void threads_and_files_change_nothing(void **state)
{
    (void)state;
    enum { N = 350, M = 130 };
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_error err = { 0 };
    double *x = doubles(N * 4), f[3][M], g[M];
    char path[300];
    temporary_path(path, sizeof path);
    clusters(dom, N, 21, x);
    npmd_points *pts = points_of(dom, x, N, NULL), *at = points_of(dom, x + 4 * 200, M, NULL);
    for (int way = 0; way < WAY_COUNT; way++) {
        static const int THREADS[] = { 1, 2, 7 };
        for (int t = 0; t < 3; t++) {
            npmd_options opt;
            npmd_model *m = NULL, *again = NULL;
            char *one = NULL, *other = NULL;
            npmd_options_init(&opt);
            opt.estimator = NPMD_KDE;
            opt.threads = THREADS[t];
            for (int i = 0; WAYS[way][i] != NULL; i += 2)
                must(npmd_options_set(&opt, WAYS[way][i], WAYS[way][i + 1], &err), &err);
            must(npmd_fit(dom, pts, &opt, &m, &err), &err);
            const npmd_compute how = { .threads = THREADS[t] };
            must(npmd_evaluate_at(m, at, NPMD_LOG_DENSITY, &how, f[t], &err), &err);
            assert_memory_equal(f[t], f[0], sizeof f[0]);
            must(npmd_save(m, path, &err), &err);
            must(npmd_load(path, &again, &err), &err);
            must(npmd_evaluate_at(again, at, NPMD_LOG_DENSITY, &how, g, &err), &err);
            assert_memory_equal(g, f[0], sizeof g);
            must(npmd_model_describe(m, &one, &err), &err);
            must(npmd_model_describe(again, &other, &err), &err);
            assert_string_equal(one, other);
            assert_non_null(strstr(one, "\"parts\""));
            npmd_text_free(one);
            npmd_text_free(other);
            npmd_model_free(m);
            npmd_model_free(again);
        }
    }
    unlink(path);
    npmd_points_free(pts);
    npmd_points_free(at);
    npmd_domain_free(dom);
    free(x);
}

/* Every tensor spoilt in turn: a sentence, never a model. */
static void spoilt_files_are_refused(void **state)
{
    (void)state;
    enum { N = 300 };
    static const double BAD[] = { NAN, INFINITY, -1.0, 1e30 };
    npmd_domain *dom = domain_of("S2 x S1");
    npmd_error err = { 0 };
    double *x = doubles(N * 4);
    char path[300];
    int refused = 0;
    temporary_path(path, sizeof path);
    clusters(dom, N, 21, x);
    npmd_points *pts = points_of(dom, x, N, NULL);
    npmd_model *m = FIT(dom, pts, "bandwidth", "mixture"), *none = NULL;
    must(npmd_save(m, path, &err), &err);
    record rec = { 0 };
    must(record_read(path, &rec, &err), &err);
    for (size_t t = 0; t < rec.count; t++) {
        tensor *spoilt = &rec.tensors[t];
        if (spoilt->type != TENSOR_F64)
            continue;
        double *number = spoilt->data;
        for (size_t b = 0; b < sizeof BAD / sizeof *BAD; b++) {
            const double right = number[0];
            number[0] = BAD[b];
            must(record_write(path, &rec, &err), &err);
            if (npmd_load(path, &none, &err) != NPMD_ERR_FORMAT)
                fail_msg("%s with %g was taken", spoilt->name, BAD[b]);
            assert_null(none);
            number[0] = right;
            refused++;
        }
        const size_t rows = spoilt->shape[0];
        spoilt->shape[0] = rows > 1 ? rows - 1 : 0;
        must(record_write(path, &rec, &err), &err);
        assert_int_equal(npmd_load(path, &none, &err), NPMD_ERR_FORMAT);
        spoilt->shape[0] = rows;
    }
    assert_true(refused > 20);
    record_free(&rec);
    unlink(path);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

static int stop_now(const npmd_report *now, void *user)
{
    (void)now;
    return ++*(int *)user > 3;
}

static void a_fit_can_be_stopped_and_refused(void **state)
{
    (void)state;
    enum { N = 200 };
    static const char *const REFUSED[][4] = { { "kappa", "1,2,3", "bandwidth", "fixed" },
                                              { "kappa", "0,2", "bandwidth", "fixed" },
                                              { "kappa", "5", "bandwidth", "mixture" },
                                              { "neighbours", "200", "bandwidth", "adaptive" } };
    npmd_domain *dom = domain_of("S1^2");
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    double x[N * 2];
    npmd_options opt;
    clusters(dom, N, 1, x);
    npmd_points *pts = points_of(dom, x, N, NULL);
    for (int way = 1; way < WAY_COUNT; way++) {
        int calls = 0;
        npmd_options_init(&opt);
        opt.estimator = NPMD_KDE;
        for (int i = 0; WAYS[way][i] != NULL; i += 2)
            must(npmd_options_set(&opt, WAYS[way][i], WAYS[way][i + 1], &err), &err);
        if (opt.kappa[0] > 0.0)
            continue; /* over at once */
        npmd_options_watch(&opt, stop_now, &calls);
        assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_STOPPED);
        assert_null(m);
        assert_int_equal(calls, 4);
        assert_non_null(strstr(err.text, "interrupted while"));
    }
    for (size_t k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++) {
        npmd_options_init(&opt);
        opt.estimator = NPMD_KDE;
        for (int i = 0; i < 4; i += 2)
            must(npmd_options_set(&opt, REFUSED[k][i], REFUSED[k][i + 1], &err), &err);
        assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_ARGUMENT);
        assert_null(m);
    }
    npmd_points *four = points_of(dom, x, 4, NULL); /* fewer than there are folds */
    npmd_options_init(&opt);
    opt.estimator = NPMD_KDE;
    opt.concentration_rule = NPMD_RULE_ISE;
    assert_int_equal(npmd_fit(dom, four, &opt, &m, &err), NPMD_ERR_ARGUMENT);
    assert_null(m);
    npmd_points_free(four);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

static double mean_log_density(const npmd_model *m, const double *x, size_t n)
{
    double *f = doubles(n), sum = 0.0;
    log_density(m, "cpu", x, n, f);
    for (size_t i = 0; i < n; i++)
        sum += f[i] / (double)n;
    free(f);
    return sum;
}

/* Clusters of two widths: one width suits neither. On fresh points an adaptive estimate does better than the best
 * fixed one, and the mixture no worse than either by more than the noise of its weights (log parts / n). Adaptive and
 * mixed densities integrate to one; equal points leave the concentration finite. */
static void widths_that_adapt(void **state)
{
    (void)state;
    enum { N = 1500, M = 1000 };
    npmd_domain *dom = domain_of("S2");
    double *x = doubles(N * 3), *y = doubles(M * 3), one = 0.0;
    clusters(dom, N, 31, x);
    clusters(dom, M, 32, y);
    for (int i = 0; i < 30; i++) /* twins */
        memcpy(x + 3 * (10 + i), x + 3 * 500, 3 * sizeof *x);
    npmd_points *pts = points_of(dom, x, N, NULL), *few = points_of(dom, x + 3 * 600, 60, NULL);
    npmd_model *fixed = FIT(dom, pts, "concentration-rule", "likelihood"),
               *adaptive = FIT(dom, pts, "bandwidth", "adaptive"),
               *mixture = FIT(dom, pts, "bandwidth", "mixture"),
               *small = FIT(dom, few, "bandwidth", "adaptive", "kappa", "10");
    const double a = mean_log_density(fixed, y, M), b = mean_log_density(adaptive, y, M),
                 c = mean_log_density(mixture, y, M);
    print_message("    mean log density of fresh points: fixed %.4f, adaptive %.4f, mixture %.4f\n", a, b, c);
    assert_true(b > a + 0.02);
    assert_true(c > fmax(a, b) - 0.02);
    integral_of_square(small, 160, &one);
    check_below("adaptive: integral - 1", fabs(one - 1.0), 1e-9);
    npmd_model_free(fixed);
    npmd_model_free(adaptive);
    npmd_model_free(mixture);
    npmd_model_free(small);
    npmd_points_free(pts);
    npmd_points_free(few);
    npmd_domain_free(dom);
    free(x);
    free(y);
}

/* Factors of different roughness: one concentration a factor finds it, and lowers the criterion. */
static void a_concentration_for_each_factor(void **state)
{
    (void)state;
    enum { N = 400 };
    npmd_domain *dom = domain_of("S1^2");
    uint64_t seed = 4;
    double x[2 * N];
    for (int i = 0; i < N; i++) {
        x[2 * i] = 1.0 + 0.05 * test_normal(&seed);
        x[2 * i + 1] = 2.0 + 1.0 * test_normal(&seed);
    }
    npmd_points *pts = points_of(dom, x, N, NULL);
    npmd_model *common = FIT(dom, pts, "seed", "1"), *factor = FIT(dom, pts, "concentration", "factor");
    assert_true(factor->options.kappa[0] > 20.0 * factor->options.kappa[1]);
    assert_true(factor->facts.objective < common->facts.objective);
    npmd_model_free(common);
    npmd_model_free(factor);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_integrate_to_one),
        cmocka_unit_test(criteria_are_what_they_say),
        cmocka_unit_test(twins_are_weights),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(float32_is_near_the_reference),
        cmocka_unit_test(jets_are_derivatives),
        cmocka_unit_test(draws_have_the_right_moments),
        cmocka_unit_test(threads_and_files_change_nothing),
        cmocka_unit_test(spoilt_files_are_refused),
        cmocka_unit_test(a_fit_can_be_stopped_and_refused),
        cmocka_unit_test(widths_that_adapt),
        cmocka_unit_test(a_concentration_for_each_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
