/* test_model.c - what a fitted model tells: densities that integrate to one and agree with each other, derivatives
 * against differences of the density, and the facts of its encoding. */
#include "models.h"
#include "trees.h"

/* info: r_max is half of the 20 features, the bound is the theorem's. */
static void ridges_tell_their_bound(void **state)
{
    models *s = *state;
    char *json = NULL;
    assert_int_equal(npmd_model_describe(s->model[RIDGE], &json, NULL), NPMD_OK);
    json_t *root = tree_read(json, strlen(json));
    const double r_max = json_real_value(json_object_get(root, "r_max")),
                 bound = json_real_value(json_object_get(root, "features_bound"));
    check_below("r_max", fabs(r_max - 10.0), 1e-8);
    check_below("features_bound", fabs(bound / (50.0 * log(160.0 / 0.05)) - 1.0), 1e-8);
    assert_true(json_real_value(json_object_get(root, "features_bound_delta")) == 0.05);
    assert_true(json_real_value(json_object_get(root, "r_max_se")) == 0.0);
    assert_true(json_real_value(json_object_get(root, "spectrum_ridge")) > 0.0);
    assert_true(json_real_value(json_object_get(root, "spectrum_ridge"))
                == json_real_value(json_object_get(json_object_get(root, "options"), "spectrum-ridge")));
    json_decref(root);
    npmd_text_free(json);
    assert_int_equal(npmd_model_describe(s->model[0], &json, NULL), NPMD_OK);
    assert_null(strstr(json, "r_max"));
    npmd_text_free(json);
}

/* A rotated field is a field like any other: its objective falls, and info tells of its blocks. */
static void rotated_fields_train(void **state)
{
    models *s = *state;
    char *json = NULL;
    npmd_options opt;
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    const double after = s->model[ROTATED]->facts.objective;
    static const char *const SET[][2] = { { "rate", "1e-7" }, { "threads", "2" }, { "separable", "off" } };
    models_options(&opt);
    for (size_t j = 0; j < sizeof SET / sizeof *SET; j++)
        assert_int_equal(npmd_options_set(&opt, SET[j][0], SET[j][1], &err), NPMD_OK);
    if (npmd_fit(s->domain[ROTATED], s->points[ROTATED], &opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    const double before = m->facts.objective; /* at this rate nothing moves */
    print_message("    objective %.4f at the start, %.4f after 60 steps\n", before, after);
    assert_true(after < before - 0.02);
    assert_int_equal(npmd_model_describe(s->model[ROTATED], &json, NULL), NPMD_OK);
    json_t *root = tree_read(json, strlen(json));
    const json_t *rotated = json_object_get(root, "rotated");
    const json_int_t blocks = json_integer_value(json_object_get(rotated, "blocks")),
                     largest = json_integer_value(json_object_get(rotated, "largest_block")),
                     functions = json_integer_value(json_object_get(rotated, "functions"));
    assert_true(1 <= blocks && blocks <= 20 && 1 <= largest && largest <= 32 && functions >= 20
                && functions <= 32 * blocks);
    json_decref(root);
    npmd_text_free(json);
    npmd_model_free(m);
}

/* ---- densities --------------------------------------------------------------------------------------------------- */

/* Nodes with weights that sum to the volume: 192^2 on T2, 96 x 192 on S2 (Gauss-Legendre in z), exact for
 * frequencies below 192. v has frequencies up to 4 inside two sines, of which the first eight harmonics
 * count: exp v is resolved to rounding. */
static npmd_points *quadrature(const npmd_domain *dom, double **weight)
{
    enum { N = 192, LATITUDES = 96 };
    const bool torus = dom->torus;
    const size_t count = torus ? N * N : LATITUDES * N;
    double *x = doubles(count * 3), *w = doubles(count), z[LATITUDES], wz[LATITUDES];
    npmd_points *pts = NULL;
    gauss_legendre(LATITUDES, z, wz);
    for (size_t k = 0; k < count; k++) {
        const double phi = 2.0 * (double)CHECK_PI * (double)(k % N) / N;
        const size_t i = k / N;
        if (torus) {
            x[2 * k] = 2.0 * (double)CHECK_PI * (double)i / N;
            x[2 * k + 1] = phi;
            w[k] = 4.0 * (double)(CHECK_PI * CHECK_PI) / ((double)N * N);
        } else {
            x[3 * k] = sqrt(1.0 - z[i] * z[i]) * cos(phi);
            x[3 * k + 1] = sqrt(1.0 - z[i] * z[i]) * sin(phi);
            x[3 * k + 2] = z[i];
            w[k] = wz[i] * 2.0 * (double)CHECK_PI / N;
        }
    }
    assert_int_equal(points_from(x, count, dom, &pts, NULL), NPMD_OK);
    free(x);
    *weight = w;
    return pts;
}

static double weighted_sum(const double *w, const double *f, size_t n, int power)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += w[i] * (power == 1 ? f[i] : f[i] * f[i]);
    return sum;
}

static double mean_of(const npmd_points *pts, const double *f)
{
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < pts->n; i++) {
        const double w = pts->weight == NULL ? 1.0 : pts->weight[i];
        sum += w * f[i];
        total += w;
    }
    return sum / total;
}

/* The stored integral is known to log_integral_se (5 of them), and float32 evaluation adds less than 1e-5
 * (relative error of a density: a few hundred roundings of 6e-8 in v). */
static void the_density_integrates_to_one(void **state)
{
    models *s = *state;
    for (int i = 0; i < MODELS; i += 2) {
        double *w;
        npmd_points *nodes = quadrature(s->domain[i], &w);
        double *f = models_values(s->model[i], nodes, NPMD_DENSITY, &EXACT);
        double *g = models_values(s->model[i], nodes, NPMD_DENSITY, NULL);
        const double bound = 5.0 * s->model[i]->facts.log_integral_se + 1e-5;
        char text[64];
        snprintf(text, sizeof text, "%s: |integral - 1|, reference", MODEL_DOMAIN[i]);
        check_below(text, fabs(weighted_sum(w, f, nodes->n, 1) - 1.0), bound);
        snprintf(text, sizeof text, "%s: |integral - 1|, cpu", MODEL_DOMAIN[i]);
        check_below(text, fabs(weighted_sum(w, g, nodes->n, 1) - 1.0), bound);

        /* the score of the training points: its integral of f^2 moves at most twice as much as log f, plus
         * what a rule at its accuracy (1e-5 or what it states) leaves: 4 log_integral_se */
        npmd_score score = NPMD_SIZED(npmd_score);
        assert_int_equal(npmd_score_points(s->model[i], s->points[i], 3, NULL, &score, NULL), NPMD_OK);
        double *at = models_values(s->model[i], s->points[i], NPMD_DENSITY, &EXACT);
        double *logs = models_values(s->model[i], s->points[i], NPMD_LOG_DENSITY, &EXACT);
        const double square = weighted_sum(w, f, nodes->n, 2), ise = square - 2.0 * mean_of(s->points[i], at);
        assert_int_equal(score.n, POINTS);
        snprintf(text, sizeof text, "%s: ISE criterion, relative to integral f^2", MODEL_DOMAIN[i]);
        check_below(text, fabs(score.ise_criterion - ise) / square, 20.0 * score.log_integral_se + 4e-5);
        check_below("    times the volume",
                    fabs(score.ise_criterion_relative / score.ise_criterion - s->domain[i]->volume),
                    1e-12 * s->domain[i]->volume);
        check_below("    mean of -log f", fabs(score.nll + mean_of(s->points[i], logs)), 1e-5);
        check_below("    log integral", fabs(score.log_integral), 5.0 * score.log_integral_se + bound);
        assert_true(score.nll_se > 0.0 && score.ise_criterion_se > 0.0);
        free(f);
        free(g);
        free(w);
        free(at);
        free(logs);
        npmd_points_free(nodes);
    }
}

/* exp, log and one product: a few roundings of 2^-53 in numbers below 10, and 3e-15 more for the logarithms
 * in the offset. */
static void kinds_of_density_agree(void **state)
{
    models *s = *state;
    for (int i = 0; i < MODELS; i++) {
        npmd_model *again = models_again(s, s->model[i], "d.safetensors");
        npmd_points *probe = models_points(s->domain[i], PROBES, 97);
        const npmd_model *both[2] = { s->model[i], again };
        double worst = 0.0;
        for (int k = 0; k < 2; k++) {
            double *log_f = models_values(both[k], probe, NPMD_LOG_DENSITY, NULL),
                   *f = models_values(both[k], probe, NPMD_DENSITY, NULL);
            double *relative = models_values(both[k], probe, NPMD_RELATIVE, NULL);
            double *intensity = models_values(both[k], probe, NPMD_INTENSITY, NULL);
            for (int j = 0; j < PROBES; j++) {
                worst = fmax(worst, fabs(exp(log_f[j]) / f[j] - 1.0));
                worst = fmax(worst, fabs(relative[j] / (f[j] * s->domain[i]->volume) - 1.0));
                worst = fmax(worst, fabs(intensity[j] / (f[j] * s->total[i]) - 1.0));
            }
            free(log_f);
            free(f);
            free(relative);
            free(intensity);
        }
        check_below(MODEL_DOMAIN[i], worst, 1e-13);
        npmd_points_free(probe);
        npmd_model_free(again);
    }
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

typedef struct walk { /* a geodesic through x along unit tangent direction t of one factor */
    const npmd_domain *domain;
    const double *x;
    int factor;
    double t[3];
} walk;

static double value_at(const npmd_model *m, const walk *way, double h)
{
    double x[DOMAIN_MAX_COLUMNS], out = NAN;
    npmd_points *pts = NULL;
    const int c = way->domain->column[way->factor];
    memcpy(x, way->x, (size_t)way->domain->columns * sizeof *x);
    if (way->domain->factor[way->factor] == &CIRCLE)
        x[c] += h;
    else
        for (int j = 0; j < 3; j++)
            x[c + j] = cos(h) * way->x[c + j] + sin(h) * way->t[j];
    assert_int_equal(points_from(x, 1, way->domain, &pts, NULL), NPMD_OK);
    assert_int_equal(npmd_evaluate_at(m, pts, NPMD_LOG_DENSITY, &EXACT, &out, NULL), NPMD_OK);
    npmd_points_free(pts);
    return out;
}

/* Five-point formulas: their error is O(h^4), so the difference between steps 2h and h is 15 times the
 * error at h: it bounds it. Rounding: values of size 10 carry about 1e-14; the formulas divide 1.5 (slope)
 * and 5.3 (bend) such errors by h and h^2. */
static void differences(const npmd_model *m, const walk *way, double h, double *slope, double *bend)
{
    const double f0 = value_at(m, way, 0.0), p1 = value_at(m, way, h), m1 = value_at(m, way, -h),
                 p2 = value_at(m, way, 2.0 * h), m2 = value_at(m, way, -2.0 * h);
    *slope = (8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * h);
    *bend = (16.0 * (p1 + m1) - (p2 + m2) - 30.0 * f0) / (12.0 * h * h);
}

static void derivatives_are_those_of_the_density(void **state)
{
    models *s = *state;
    const double h = 1e-3, noise = 1e-14;
    for (int i = 0; i < MODELS; i++) {
        const npmd_domain *dom = s->domain[i];
        npmd_points *probe = models_points(dom, PROBES, 96);
        double *gradient = models_values(s->model[i], probe, NPMD_GRADIENT, &EXACT);
        double *laplacian = models_values(s->model[i], probe, NPMD_LAPLACIAN, &EXACT);
        double *rough_gradient = models_values(s->model[i], probe, NPMD_GRADIENT, NULL);
        double *rough_laplacian = models_values(s->model[i], probe, NPMD_LAPLACIAN, NULL);
        double slope_worst = 0.0, bend_worst = 0.0;
        uint64_t seed = 12;
        for (int k = 0; k < PROBES; k++) {
            double sum = 0.0, sum_bound = 0.0;
            for (int d = 0; d < dom->factors; d++) {
                const int c = dom->column[d];
                walk way = { dom, points_rows(probe, (size_t)k, 1, NULL), d, { 1.0 } };
                const double *x = way.x + c, *g = gradient + k * dom->columns + c;
                double first[3], normal = 0.0;
                for (int t = 0; t < dom->factor[d]->dimension; t++) {
                    double slope[2], bend[2], along = g[0];
                    if (dom->factor[d] == &SPHERE) { /* a random tangent vector, then the one across */
                        if (t == 0) {
                            double inner = 0.0, r2 = 0.0;
                            test_unit_vector(&seed, first);
                            for (int j = 0; j < 3; j++)
                                inner += first[j] * x[j];
                            for (int j = 0; j < 3; j++) {
                                first[j] -= inner * x[j];
                                r2 += first[j] * first[j];
                            }
                            for (int j = 0; j < 3; j++)
                                way.t[j] = first[j] /= sqrt(r2);
                        } else {
                            for (int j = 0; j < 3; j++)
                                way.t[j] = x[(j + 1) % 3] * first[(j + 2) % 3] - x[(j + 2) % 3] * first[(j + 1) % 3];
                        }
                        along = g[0] * way.t[0] + g[1] * way.t[1] + g[2] * way.t[2];
                        normal = g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
                    }
                    differences(s->model[i], &way, 2.0 * h, &slope[0], &bend[0]);
                    differences(s->model[i], &way, h, &slope[1], &bend[1]);
                    const double bound = fabs(slope[0] - slope[1]) + 1.5 * noise / h * 3.0;
                    slope_worst = fmax(slope_worst, fabs(along - slope[1]) / bound);
                    sum += bend[1];
                    sum_bound += fabs(bend[0] - bend[1]) + 5.3 * noise / (h * h) * 3.0;
                }
                check_quiet("the gradient is tangent", fabs(normal), 1e-12);
            }
            bend_worst = fmax(bend_worst, fabs(laplacian[k] - sum) / sum_bound);
        }
        char text[64];
        snprintf(text, sizeof text, "%s: gradient by differences, error / bound", MODEL_DOMAIN[i]);
        check_below(text, slope_worst, 1.0);
        snprintf(text, sizeof text, "%s: Laplacian by differences, error / bound", MODEL_DOMAIN[i]);
        check_below(text, bend_worst, 1.0);
        /* float32: sums of at most 20 terms, three layers, each with a few roundings of 6e-8 magnified by
         * omega = 10 a layer: 1e-4 of the size of the whole */
        snprintf(text, sizeof text, "%s: gradient, float32", MODEL_DOMAIN[i]);
        check_below(text, relative_norm(rough_gradient, gradient, PROBES * (size_t)dom->columns), 1e-4);
        snprintf(text, sizeof text, "%s: Laplacian, float32", MODEL_DOMAIN[i]);
        check_below(text, relative_norm(rough_laplacian, laplacian, PROBES), 1e-4);
        free(gradient);
        free(laplacian);
        free(rough_gradient);
        free(rough_laplacian);
        npmd_points_free(probe);
    }
}

static void points_of_another_domain_are_refused(void **state)
{
    models *s = *state;
    npmd_error err = { 0 };
    double out[POINTS * 3];
    npmd_score score = NPMD_SIZED(npmd_score);
    assert_int_equal(npmd_evaluate_at(s->model[0], s->points[2], NPMD_DENSITY, NULL, out, &err), NPMD_ERR_SHAPE);
    assert_int_equal(npmd_score_points(s->model[0], s->points[2], 1, NULL, &score, &err), NPMD_ERR_SHAPE);
    assert_int_not_equal(npmd_evaluate_at(s->model[0], s->points[0], NPMD_DENSITY,
                                          &(npmd_compute){ .size = sizeof(npmd_compute), .device = "abacus" }, out,
                                          &err),
                         NPMD_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ridges_tell_their_bound),
        cmocka_unit_test(rotated_fields_train),
        cmocka_unit_test(the_density_integrates_to_one),
        cmocka_unit_test(kinds_of_density_agree),
        cmocka_unit_test(derivatives_are_those_of_the_density),
        cmocka_unit_test(points_of_another_domain_are_refused),
    };
    return cmocka_run_group_tests(tests, models_open, models_close);
}
