/* test_surface_model.c - models on surfaces: fits, files, units, and what is refused. */
#include "api.h"
#include "icosphere.h"
#include "surface_factor.h"

#define POINTS 2000

typedef struct stage {
    place place;
    npmd_domain *small, *large, *sphere, *product; /* an icosphere, the same five times as large, S2; small x S1 */
    double *x;                                     /* (POINTS, 3), on S2 */
    double *both;                                  /* (POINTS, 4) */
} stage;

static npmd_domain *parse(const char *text, int frequency)
{
    npmd_domain *dom = NULL;
    npmd_error err = { 0 };
    must(domain_read(text, &(surface_request){ .max_frequency = frequency, .elements = 2 }, &dom, &err), &err);
    return dom;
}

static int stage_make(void **state)
{
    static stage s;
    char text[1200];
    uint64_t seed = 3;
    if (place_open(&s.place) != 0)
        return -1;
    snprintf(text, sizeof text, "mesh:%s", put_icosphere(&s.place, "small.off", 3, 1.0));
    s.small = parse(text, 6);
    strcat(text, " x S1");
    s.product = parse(text, 4);
    snprintf(text, sizeof text, "mesh:%s", put_icosphere(&s.place, "large.off", 3, 5.0));
    s.large = parse(text, 6);
    s.sphere = parse("S2", 0);
    s.x = doubles(3 * POINTS);
    s.both = doubles(4 * POINTS);
    for (int i = 0; i < POINTS; i++) { /* denser on one side: p ~ exp(2 z) roughly, by rejection */
        do
            test_unit_vector(&seed, s.x + 3 * i);
        while (test_uniform(&seed) > exp(2.0 * (s.x[3 * i + 2] - 1.0)));
        memcpy(s.both + 4 * i, s.x + 3 * i, 3 * sizeof *s.x);
        s.both[4 * i + 3] = 1.0 + 0.5 * test_normal(&seed);
    }
    *state = &s;
    return 0;
}

static int stage_remove(void **state)
{
    stage *s = *state;
    npmd_domain_free(s->small);
    npmd_domain_free(s->large);
    npmd_domain_free(s->sphere);
    npmd_domain_free(s->product);
    free(s->x);
    free(s->both);
    return place_close(&s->place);
}

static npmd_points *points_on(const npmd_domain *dom, const double *x, double scale)
{
    npmd_error err = { 0 };
    npmd_points *pts = NULL;
    npmd_domain *near = NULL;
    const size_t columns = (size_t)npmd_domain_columns(dom);
    double *scaled = doubles(POINTS * columns);
    for (size_t i = 0; i < POINTS * columns; i++)
        scaled[i] = scale * x[i];
    must(dom->surfaces ? npmd_domain_within(dom, scale, &near, &err) : domain_copy(dom, &near, &err), &err);
    must(points_from(scaled, POINTS, near, &pts, &err), &err);
    npmd_domain_free(near);
    free(scaled);
    return pts;
}

static npmd_model *fitted(const npmd_domain *dom, const npmd_points *pts, const char *const *set)
{
    npmd_options opt;
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    options_init(&opt);
    for (; *set != NULL; set += 2)
        must(npmd_options_set(&opt, set[0], set[1], &err), &err);
    must(npmd_fit(dom, pts, &opt, &model, &err), &err);
    return model;
}

static const char *const QUICK[] = { "steps", "30", "warmup", "5",        "tau", "1e-4",    "width", "32", "q1",
                                     "2048",  "q2", "512",    "features", "30",  "threads", "1",     NULL };
static const char *const QUICK_TWO[] = { "steps", "30", "warmup", "5",        "tau", "1e-4",    "width", "32", "q1",
                                         "2048",  "q2", "512",    "features", "30",  "threads", "2",     NULL };

/* Equal bytes whatever the threads; a loaded model gives equal bits, and is saved as the same bytes. */
static void files_hold_all(void **state)
{
    stage *s = *state;
    npmd_error err = { 0 };
    npmd_points *pts = points_on(s->product, s->both, 1.0);
    npmd_model *one = fitted(s->product, pts, QUICK), *two = fitted(s->product, pts, QUICK_TWO), *again = NULL;
    double before[POINTS], after[POINTS];
    char path[3][1024];
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s", in_folder(&s->place, i == 0 ? "a.st" : i == 1 ? "b.st" : "c.st"));
    must(npmd_save(one, path[0], &err), &err);
    must(npmd_save(two, path[1], &err), &err);
    assert_same_bytes(path[0], path[1]);
    must(npmd_load(path[0], &again, &err), &err);
    must(npmd_save(again, path[2], &err), &err);
    assert_same_bytes(path[0], path[2]);
    assert_string_equal(npmd_domain_text(npmd_model_domain(again)), npmd_domain_text(s->product));
    must(npmd_evaluate_at(one, pts, NPMD_LOG_DENSITY, NULL, before, &err), &err);
    must(npmd_evaluate_at(again, pts, NPMD_LOG_DENSITY, NULL, after, &err), &err);
    assert_memory_equal(before, after, sizeof before);
    npmd_model_free(again);
    again = NULL;
    char *json = NULL;
    must(npmd_model_describe(one, &json, &err), &err);
    assert_non_null(strstr(json, "\"vertices\": 642"));
    npmd_text_free(json);
    /* a bit of a vertex is changed: the hash tells */
    size_t size = 0;
    const surface *ico = surface_of(s->product->factor[0]);
    unsigned char *bytes = get_bytes(path[0], &size), *found = memmem(bytes, size, ico->mesh.x, 3 * sizeof(double));
    assert_non_null(found);
    *found ^= 1u;
    FILE *file = fopen(path[1], "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    free(bytes);
    assert_int_equal(npmd_load(path[1], &again, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "hash");
    assert_null(again);
    npmd_model_free(one);
    npmd_model_free(two);
    npmd_points_free(pts);
}

/* The same points on a mesh five times as large: equal relative densities, gradients a fifth and Laplacians a
 * twenty-fifth. Eigenfunctions agree to the solver's error, 1e-8, and float32; training for 30 steps in float32 lets
 * that grow by a few hundred at most. */
static void units_are_the_users(void **state)
{
    stage *s = *state;
    npmd_error err = { 0 };
    npmd_points *pts[2] = { points_on(s->small, s->x, 1.0), points_on(s->large, s->x, 5.0) };
    npmd_model *model[2] = { fitted(s->small, pts[0], QUICK), fitted(s->large, pts[1], QUICK) };
    double *value[2] = { doubles(3 * POINTS), doubles(3 * POINTS) }, worst = 0.0, size = 0.0;
    static const npmd_what WHAT[] = { NPMD_RELATIVE, NPMD_GRADIENT, NPMD_LAPLACIAN };
    static const double UNIT[] = { 1.0, 5.0, 25.0 };
    for (int w = 0; w < 3; w++) {
        worst = size = 0.0;
        for (int k = 0; k < 2; k++)
            must(npmd_evaluate_at(model[k], pts[k], WHAT[w], NULL, value[k], &err), &err);
        for (int i = 0; i < (WHAT[w] == NPMD_GRADIENT ? 3 : 1) * POINTS; i++) {
            worst = fmax(worst, fabs(value[0][i] - UNIT[w] * value[1][i]));
            size = fmax(size, fabs(value[0][i]));
        }
        check_below("in units of five", worst / size, 1e-3);
    }
    for (int k = 0; k < 2; k++) {
        npmd_model_free(model[k]);
        npmd_points_free(pts[k]);
        free(value[k]);
    }
}

/* A fifth of a face's edge along the gradient, inside the face: log f is smooth there, and changes by step x |gradient|
 * up to the second derivative, Laplacian x step / 2. */
static void gradients_are_slopes(void **state)
{
    stage *s = *state;
    npmd_error err = { 0 };
    npmd_points *pts = points_on(s->large, s->x, 5.0), *side[2] = { NULL, NULL };
    npmd_model *model = fitted(s->large, pts, QUICK);
    double *gradient = doubles(3 * POINTS), *x = doubles(3 * POINTS), *y[2] = { doubles(POINTS), doubles(POINTS) };
    const double step = 1e-3;
    double error = 0.0, size = 0.0;
    must(npmd_evaluate_at(model, pts, NPMD_GRADIENT, NULL, gradient, &err), &err);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < POINTS; i++) {
            double length = 0.0;
            npmd_points_row(pts, (size_t)i, x + 3 * i);
            for (int c = 0; c < 3; c++)
                length += gradient[3 * i + c] * gradient[3 * i + c];
            for (int c = 0; c < 3; c++)
                x[3 * i + c] += (k ? step : -step) * gradient[3 * i + c] / sqrt(length);
        }
        must(points_from(x, POINTS, s->large, &side[k], &err), &err);
        must(npmd_evaluate_at(model, side[k], NPMD_LOG_DENSITY, NULL, y[k], &err), &err);
    }
    for (int i = 0; i < POINTS; i++) {
        double length = 0.0;
        for (int c = 0; c < 3; c++)
            length += gradient[3 * i + c] * gradient[3 * i + c];
        const double slope = (y[1][i] - y[0][i]) / (2.0 * step);
        error += fabs(slope - sqrt(length)) / POINTS;
        size += sqrt(length) / POINTS;
    }
    /* values are float32: 1e-7 / 1e-3; a step in 300 or so crosses an edge, where the slope jumps by some per cent */
    check_below("mean error of the slope", error / size, 5e-3);
    for (int k = 0; k < 2; k++) {
        npmd_points_free(side[k]);
        free(y[k]);
    }
    free(gradient);
    free(x);
    npmd_model_free(model);
    npmd_points_free(pts);
}

/* The same objective, solved to its optimum on both. Quadratic elements on 642 vertices have eigenvalues to h^2 / 4 =
 * 0.8 per cent (the mesh is not the sphere), functions alike; coefficients of size 1 on functions of size 2. */
static void series_is_that_of_the_sphere(void **state)
{
    stage *s = *state;
    npmd_error err = { 0 };
    static const char *const SERIES[] = { "estimator", "series", "max-frequency", "6", "tau", "1e-4", NULL };
    npmd_points *pts[2] = { points_on(s->small, s->x, 1.0), points_on(s->sphere, s->x, 1.0) };
    npmd_model *model[2] = { fitted(s->small, pts[0], SERIES), fitted(s->sphere, pts[1], SERIES) };
    double y[2][POINTS], square = 0.0;
    npmd_score score = NPMD_SIZED(npmd_score);
    for (int k = 0; k < 2; k++)
        must(npmd_evaluate_at(model[k], pts[k], NPMD_RELATIVE, NULL, y[k], &err), &err);
    for (int i = 0; i < POINTS; i++)
        square += pow(log(y[0][i] / y[1][i]), 2.0) / POINTS;
    check_below("log densities, root mean square", sqrt(square), 0.02);
    must(npmd_score_points(model[0], pts[0], 1, NULL, &score, &err), &err);
    check_below("log integral, computed afresh", fabs(score.log_integral), 4.0 * score.log_integral_se + 1e-3);
    for (int k = 0; k < 2; k++) {
        npmd_model_free(model[k]);
        npmd_points_free(pts[k]);
    }
}

/* Draws lie on the surface, and have the mean of the density: that of the points up to both standard errors. */
static void draws_are_positions(void **state)
{
    stage *s = *state;
    npmd_error err = { 0 };
    static const char *const SERIES[] = { "estimator", "series", "max-frequency", "3", "tau", "1e-5", NULL };
    npmd_points *pts = points_on(s->large, s->x, 5.0), *drawn = NULL;
    npmd_model *model = fitted(s->large, pts, SERIES);
    double *x = doubles(3 * POINTS), mean[2] = { 0.0, 0.0 };
    must(npmd_sample(model, 1, POINTS, NULL, x, NULL, &err), &err);
    must(points_from(x, POINTS, s->large, &drawn, &err), &err);
    for (int i = 0; i < POINTS; i++) {
        double at[3];
        npmd_points_row(pts, (size_t)i, at);
        mean[0] += at[2] / POINTS;
        mean[1] += x[3 * i + 2] / POINTS;
    }
    check_below("mean height", fabs(mean[0] - mean[1]), 4.0 * sqrt(2.0) * 5.0 * 0.5 / sqrt(POINTS));
    npmd_points_free(drawn);
    npmd_points_free(pts);
    npmd_model_free(model);
    free(x);
}

/* Heat on the sphere: f = sum_l (2 l + 1) exp(-l (l + 1) t) mean_i P_l(x . x_i), the kernel estimate that the surface's
 * eigenfunctions up to degree 6 give; they are off by about one per cent (test_surface_factor.c), and so is each term.
 * The criterion chooses among times 5 per cent apart. */
static void kernels_are_those_of_heat(void **state)
{
    stage *s = *state;
    npmd_error err = { 0 };
    static const char *const HEAT[] = { "estimator", "kde", "kappa", "5", NULL }, *const CHOSEN[] = { "estimator",
                                                                                                      "kde", NULL };
    npmd_points *pts = points_on(s->small, s->x, 1.0);
    npmd_model *model = fitted(s->small, pts, HEAT), *chosen = fitted(s->small, pts, CHOSEN), *again = NULL;
    double y[POINTS], z[POINTS], worst = 0.0, best[2] = { INFINITY, 0.0 };
    must(npmd_evaluate_at(model, pts, NPMD_RELATIVE, NULL, y, &err), &err);
    for (int i = 0; i < 20; i++) {
        double sum = 0.0;
        for (int j = 0; j < POINTS; j++) {
            double P[7] = { 1.0 };
            const double *a = s->x + 3 * i, *b = s->x + 3 * j;
            P[1] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            for (int l = 0; l <= 6; l++) {
                if (l > 1)
                    P[l] = ((2.0 * l - 1.0) * P[1] * P[l - 1] - (l - 1.0) * P[l - 2]) / l;
                sum += (2.0 * l + 1.0) * exp(-l * (l + 1.0) * 0.1) * P[l] / POINTS;
            }
        }
        worst = fmax(worst, fabs(y[i] - sum) / sum);
    }
    check_below("against the heat of the sphere", worst, 0.02);
    /* by brute force: the integral of f^2 in closed form, and the estimate at each point without the point */
    for (double t = 0.01; t < 0.2; t *= 1.05) {
        double criterion = 0.0, e[7];
        for (int l = 0; l <= 6; l++)
            e[l] = (2.0 * l + 1.0) * exp(-l * (l + 1.0) * t);
        for (int i = 0; i < 400; i++)
            for (int j = 0; j < 400; j++) {
                double P[7] = { 1.0 };
                const double *a = s->x + 3 * i, *b = s->x + 3 * j;
                P[1] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
                for (int l = 0; l <= 6; l++) {
                    if (l > 1)
                        P[l] = ((2.0 * l - 1.0) * P[1] * P[l - 1] - (l - 1.0) * P[l - 2]) / l;
                    criterion += e[l] * e[l] / (2.0 * l + 1.0) * P[l] / (400.0 * 400.0);
                    if (i != j)
                        criterion -= 2.0 * e[l] * P[l] / (400.0 * 399.0);
                }
            }
        if (criterion < best[0]) {
            best[0] = criterion;
            best[1] = t;
        }
    }
    npmd_points *few = NULL;
    must(points_make(pts->domain, 400, &few, &err), &err);
    memcpy(few->x, pts->x, 1200 * sizeof *few->x);
    npmd_model *small = fitted(s->small, few, CHOSEN);
    check_below("the time that is chosen, against brute force", fabs(log(0.5 / small->set.kernels.kappa[0] / best[1])),
                0.2);
    must(npmd_save(chosen, in_folder(&s->place, "heat.st"), &err), &err);
    must(npmd_load(in_folder(&s->place, "heat.st"), &again, &err), &err);
    must(npmd_evaluate_at(chosen, pts, NPMD_LAPLACIAN, NULL, y, &err), &err);
    must(npmd_evaluate_at(again, pts, NPMD_LAPLACIAN, NULL, z, &err), &err);
    assert_memory_equal(y, z, sizeof y);
    npmd_model_free(model);
    npmd_model_free(chosen);
    npmd_model_free(again);
    npmd_model_free(small);
    npmd_points_free(few);
    npmd_points_free(pts);
}

static void what_makes_no_sense_is_refused(void **state)
{
    stage *s = *state;
    npmd_points *pts = points_on(s->small, s->x, 1.0), *centre = NULL;
    static const char *const NAME[] = { "psnf", "relu" };
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++) {
        npmd_options opt;
        options_init(&opt);
        must(npmd_options_set(&opt, "estimator", NAME[i], &err), &err);
        assert_int_equal(npmd_fit(s->small, pts, &opt, &model, &err), NPMD_ERR_ARGUMENT);
        assert_says(&err, "surface");
        assert_null(model);
    }
    static const char *const UNIFORM[] = { "estimator", "uniform", NULL };
    model = fitted(s->small, pts, UNIFORM);
    double row[3], radius = 0.5;
    npmd_probability found = NPMD_SIZED(npmd_probability);
    npmd_points_row(pts, 0, row);
    must(points_from(row, 1, s->small, &centre, &err), &err);
    assert_int_equal(npmd_probability_near(model, centre, &radius, 0.0, 1, NULL, &found, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "surface");
    npmd_points_free(centre);
    npmd_points_free(pts);
    npmd_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_hold_all),
        cmocka_unit_test(units_are_the_users),
        cmocka_unit_test(gradients_are_slopes),
        cmocka_unit_test(series_is_that_of_the_sphere),
        cmocka_unit_test(draws_are_positions),
        cmocka_unit_test(kernels_are_those_of_heat),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, stage_make, stage_remove);
}
