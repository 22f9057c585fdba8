/* test_truth_shapes.c - mixtures of shapes: every shape has mass 1 and draws with its own moments, by quadratures that
 * share nothing with the library; files come back, and what makes no sense is refused in words. */
#include "icosphere.h"
#include "truths.h"

#include <omp.h>

#define DRAWS 100000
#define MOMENTS 8
#define T2(components) "{\"domain\":\"S1^2\",\"kind\":\"shapes\",\"components\":[" components "]}"
#define S2S1(components) "{\"domain\":\"S2 x S1\",\"kind\":\"shapes\",\"components\":[" components "]}"
#define ONE(shape) "{\"weight\":1,\"shape\":" shape "}"

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

/* Products of the midpoints of G cells a circle, and G/2 Gauss-Legendre heights x G longitudes a sphere: x (n, columns)
 * and weight (n), with the volume as their sum. */
typedef struct nodes {
    size_t n, columns;
    double *x, *weight;
} nodes;

static nodes nodes_make(const npmd_domain *dom, size_t G)
{
    const size_t rows = G / 2;
    nodes q = { .n = 1, .columns = (size_t)dom->columns };
    double *z = doubles(rows), *height = doubles(rows);
    gauss_legendre((int)rows, z, height);
    for (int d = 0; d < dom->factors; d++)
        q.n *= dom->factor[d] == &SPHERE ? rows * G : G;
    q.x = doubles(q.n * q.columns);
    q.weight = doubles(q.n);
    for (size_t i = 0; i < q.n; i++) {
        size_t rest = i;
        q.weight[i] = 1.0;
        for (int d = 0; d < dom->factors; d++) {
            double *p = q.x + i * q.columns + dom->column[d];
            const double angle = TWO_PI * ((double)(rest % G) + 0.5) / (double)G;
            rest /= G;
            q.weight[i] *= TWO_PI / (double)G;
            if (dom->factor[d] == &CIRCLE) {
                *p = angle;
                continue;
            }
            const double r = sqrt(1.0 - z[rest % rows] * z[rest % rows]);
            p[0] = r * cos(angle);
            p[1] = r * sin(angle);
            p[2] = z[rest % rows];
            q.weight[i] *= height[rest % rows];
            rest /= rows;
        }
    }
    free(z);
    free(height);
    return q;
}

/* The middles of pieces^2 parts of every face of the icosphere of this level and radius. */
static nodes nodes_on_icosphere(int level, double radius, int pieces)
{
    icosphere s = icosphere_make(level);
    nodes q = { .n = s.faces * (size_t)(pieces * pieces), .columns = 3 };
    q.x = doubles(3 * q.n);
    q.weight = doubles(q.n);
    size_t at = 0;
    for (size_t f = 0; f < s.faces; f++) {
        const double *a = s.x + 3 * s.face[3 * f], *b = s.x + 3 * s.face[3 * f + 1], *c = s.x + 3 * s.face[3 * f + 2];
        double e[3], g[3];
        for (int k = 0; k < 3; k++) {
            e[k] = radius * (b[k] - a[k]);
            g[k] = radius * (c[k] - a[k]);
        }
        const double n[3] = { e[1] * g[2] - e[2] * g[1], e[2] * g[0] - e[0] * g[2], e[0] * g[1] - e[1] * g[0] };
        const double area = 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int i = 0; i < pieces; i++)
            for (int j = 0; i + j < pieces; j++)
                for (int turned = 0; turned < (i + j + 1 < pieces ? 2 : 1); turned++, at++) {
                    const double third = turned ? 2.0 / 3.0 : 1.0 / 3.0, u = (i + third) / pieces,
                                 v = (j + third) / pieces;
                    for (int k = 0; k < 3; k++)
                        q.x[3 * at + (size_t)k] = radius * a[k] + u * e[k] + v * g[k];
                    q.weight[at] = area / (pieces * pieces);
                }
    }
    assert_int_equal(at, q.n);
    icosphere_free(&s);
    return q;
}

static void nodes_free(nodes *q)
{
    free(q->x);
    free(q->weight);
}

/* ---- Mass and moments -------------------------------------------------------------------------------------------- */

/* cos(phase + sum of k_i x_i) with whole k_i, so that it is a function on circles, too. */
static double moment_at(int m, const double *x, size_t columns)
{
    double phase = 0.7 * m;
    for (size_t i = 0; i < columns; i++)
        phase += (double)((m * (int)(2 * i + 3) + (int)i) % 5 - 2) * x[i];
    return cos(phase);
}

/* The mass, and draws against the quadrature: means within 4.5 standard errors (P < 7e-6 each, some hundred of them)
 * beyond what the quadrature misses. */
static void check_shape(const char *what, const npmd_truth *t, const nodes *q, double accuracy)
{
    double *log_f = doubles(q->n), *x = doubles(DRAWS * q->columns), mass = 0.0, exact[MOMENTS] = { 0 };
    npmd_error err = { 0 };
    must(npmd_truth_log_density(t, q->x, q->n, NULL, log_f, &err), &err);
    for (size_t i = 0; i < q->n; i++) {
        mass += q->weight[i] * exp(log_f[i]);
        for (int m = 0; m < MOMENTS; m++)
            exact[m] += q->weight[i] * exp(log_f[i]) * moment_at(m, q->x + i * q->columns, q->columns);
    }
    check_below(what, fabs(mass - 1.0), accuracy);
    must(npmd_truth_sample(t, 4, DRAWS, NULL, x, &err), &err);
    for (int m = 0; m < MOMENTS; m++) {
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < DRAWS; i++) {
            const double g = moment_at(m, x + i * q->columns, q->columns);
            sum += g / DRAWS;
            squares += g * g / DRAWS;
        }
        check_quiet(what, fabs(sum - exact[m]), 4.5 * sqrt((squares - sum * sum) / DRAWS) + accuracy);
    }
    free(log_f);
    free(x);
}

/* Smooth shapes: the quadratures converge faster than any power, and rounding of sums of 4e5 terms is left; edges of
 * boxes stand at edges of cells, and are exact, too. */
static void every_shape_has_mass_one_and_its_moments(void **state)
{
    static const struct {
        const char *what, *text;
        size_t side;
    } CASES[] = {
        { "uniform, T2", T2(ONE("\"uniform\"")), 64 },
        { "kernel, T2", T2(ONE("\"kernel\",\"mean\":[1,5],\"kappa\":[3,20]")), 256 },
        { "kernel, S2 x S1, uniform on the circle", S2S1(ONE("\"kernel\",\"mean\":[0.6,0,0.8,1],\"kappa\":[30,0]")),
          80 },
        { "normal, T2", T2(ONE("\"normal\",\"mean\":[1,6],\"covariance\":[[0.5,0.46],[0.46,0.5]]")), 256 },
        { "ridge, T2",
          T2(ONE("\"ridge\",\"along\":1,\"across\":2,\"mean\":2,\"kappa_along\":1.5,\"offset\":1,"
                 "\"amplitude\":1.2,\"frequency\":2,\"kappa\":40")),
          256 },
        { "ridge with a slope, T2", T2(ONE("\"ridge\",\"along\":2,\"across\":1,\"slope\":-2,\"kappa\":60")), 256 },
        { "ridge, S1 x S2 x S1",
          "{\"domain\":\"S1 x S2 x S1\",\"kind\":\"shapes\",\"components\":[" ONE(
              "\"ridge\",\"along\":3,\"across\":1,\"amplitude\":0.5,\"kappa\":5") "]}",
          32 },
        { "ring, S2 x S1", S2S1(ONE("\"ring\",\"axis\":[0.48,0.64,0.6],\"height\":0.3,\"width\":0.15")), 96 },
        { "ring at the pole, wide, S2 x S1", S2S1(ONE("\"ring\",\"axis\":[0,0,-1],\"height\":1,\"width\":0.9")), 64 },
        { "ring on the second factor",
          "{\"domain\":\"S1 x S2\",\"kind\":\"shapes\",\"components\":[" ONE(
              "\"ring\",\"factor\":2,\"axis\":[1,0,0],\"height\":-0.5,\"width\":0.2") "]}",
          96 },
        { "box that wraps, T2",
          T2(ONE("\"box\",\"factors\":[2],\"lower\":[4.7123889803846899],\"upper\":[7.853981633974483]")), 64 },
        { "box with a floor, T2",
          T2("{\"weight\":0.25,\"shape\":\"uniform\"},{\"weight\":0.75,\"shape\":\"box\",\"factors\":[2,1],\"lower\":"
             "[0,-1.5707963267948966],\"upper\":[3.1415926535897931,0.78539816339744828]}"),
          64 },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        npmd_truth *t = truth_of(*state, CASES[i].text);
        nodes q = nodes_make(t->domain, CASES[i].side);
        check_shape(CASES[i].what, t, &q, 1e-11);
        nodes_free(&q);
        npmd_truth_free(t);
    }
}

/* The middles of parts of length h = edge / pieces miss about h^2 / 12 times the mean second derivative, at most
 * f / width^2: edges are 0.7 at most, so with 12 pieces and width 0.4 it is (0.06 / 0.4)^2 / 12 = 1.8e-3. */
static void a_bump_has_mass_one_and_its_moments(void **state)
{
    place *p = *state;
    char text[2048], mesh[1024];
    snprintf(mesh, sizeof mesh, "%s", put_icosphere(p, "ball.off", 2, 2.0));
    snprintf(
        text, sizeof text,
        "{\"domain\":\"mesh:%s\",\"kind\":\"shapes\",\"components\":[{\"weight\":0.7,\"shape\":\"bump\",\"centre\":"
        "[1,2,0],\"width\":0.4},{\"weight\":0.3,\"shape\":\"uniform\"}]}",
        mesh);
    npmd_truth *t = NULL;
    npmd_error err = { 0 };
    if (truth_from_text(p, text, &t, &err) != NPMD_OK && strstr(err.text, "ARPACK") != NULL)
        skip();
    must(err.status, &err);
    nodes q = nodes_on_icosphere(2, 2.0, 12);
    check_shape("bump with a floor, a mesh", t, &q, 1.8e-3);
    nodes_free(&q);

    /* the file names the mesh as it was named; read again it is the same truth */
    npmd_truth *back = NULL;
    double x[30], there[10], here[10];
    must(npmd_truth_write(t, in_folder(p, "bump.json"), &err), &err);
    must(npmd_truth_read(p->path, &back, &err), &err);
    must(npmd_truth_sample(t, 1, 10, NULL, x, &err), &err);
    must(npmd_truth_log_density(t, x, 10, NULL, there, &err), &err);
    must(npmd_truth_log_density(back, x, 10, NULL, here, &err), &err);
    assert_memory_equal(there, here, sizeof here);
    npmd_truth_free(back);

    /* a point off the surface is named; shapes that are not for a surface, and the other way round, too */
    x[0] += 0.5;
    assert_int_equal(npmd_truth_log_density(t, x, 1, NULL, here, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "row 0, factor 1");
    npmd_truth_free(t);
    static const char *const BAD[][2] = {
        { "\"bump\",\"centre\":[0,0,2],\"width\":1e-4", "so small" },
        { "\"bump\",\"centre\":[0,0,2],\"width\":0.002", "so small" },
        { "\"bump\",\"centre\":[0,0,2],\"width\":0", "width is 0" },
        { "\"bump\",\"centre\":[0,0],\"width\":1", "centre has 2 elements" },
        { "\"kernel\",\"mean\":[0,0,1],\"kappa\":[3]", "needs factors S1 and S2" },
        { "\"ring\",\"axis\":[0,0,1],\"width\":0.1", "expected S2" },
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        snprintf(text, sizeof text,
                 "{\"domain\":\"mesh:%s\",\"kind\":\"shapes\",\"components\":[{\"weight\":1,\"shape\":%s}]}", mesh,
                 BAD[i][0]);
        assert_int_equal(truth_from_text(p, text, &t, &err), NPMD_ERR_FORMAT);
        assert_says(&err, BAD[i][1]);
    }
}

/* ---- What else holds --------------------------------------------------------------------------------------------- */

/* A kernel, a normal and mixtures of them are those of the older kinds. */
static void kernels_and_normals_are_the_older_kinds(void **state)
{
    npmd_truth *old = truth_of(*state, T2_WIDE);
    npmd_truth *new = truth_of(
        *state, T2("{\"weight\":0.25,\"shape\":\"normal\",\"mean\":[1,2],\"covariance\":[[4,1],[1,2]]},"
                   "{\"weight\":0.75,\"shape\":\"normal\",\"mean\":[-3,40],\"covariance\":[[1.5,-1],[-1,3]]}"));
    double x[200], a[100], b[100], worst = 0.0;
    must(npmd_truth_sample(old, 3, 100, NULL, x, NULL), NULL);
    must(npmd_truth_log_density(old, x, 100, NULL, a, NULL), NULL);
    must(npmd_truth_log_density(new, x, 100, NULL, b, NULL), NULL);
    for (int i = 0; i < 100; i++)
        worst = fmax(worst, fabs(a[i] - b[i]));
    check_below("normals as shapes, log density", worst, 1e-13); /* log sums in another order */
    double y[200];
    must(npmd_truth_sample(new, 3, 100, NULL, y, NULL), NULL);
    assert_memory_equal(x, y, sizeof x);
    npmd_truth_free(old);
    npmd_truth_free(new);
}

static void outside_of_a_box_is_minus_infinity(void **state)
{
    npmd_truth *t = truth_of(*state, T2(ONE("\"box\",\"factors\":[1],\"lower\":[6],\"upper\":[7]")));
    const double x[] = { 0.5, 1, 6.5, 1, -0.1, 1, 2, 1 };
    double log_f[4];
    must(npmd_truth_log_density(t, x, 4, NULL, log_f, NULL), NULL);
    for (int i = 0; i < 3; i++)
        check_quiet("inside", fabs(log_f[i] + log(TWO_PI)), 1e-14);
    assert_true(log_f[3] == -INFINITY);
    npmd_truth_free(t);
}

static const char ALL[] =
    "{\"domain\":\"S1 x S2 x S1\",\"kind\":\"shapes\",\"components\":["
    "{\"weight\":0.1,\"shape\":\"uniform\"},"
    "{\"weight\":0.2,\"shape\":\"kernel\",\"mean\":[1,0.57752,0.57752,0.57752,3],\"kappa\":[1,2,3]},"
    "{\"weight\":0.3,\"shape\":\"ridge\",\"along\":1,\"across\":3,\"amplitude\":0.7,\"kappa\":11},"
    "{\"weight\":0.2,\"shape\":\"ring\",\"factor\":2,\"axis\":[0.577,0.577,0.5777],\"height\":0.1,\"width\":0.3},"
    "{\"weight\":0.2,\"shape\":\"box\",\"factors\":[3,1],\"lower\":[1,2],\"upper\":[2,3]}]}";

/* Written, read and written again: the same bytes; and the same draws, on any number of threads. */
static void files_come_back_bit_for_bit(void **state)
{
    place *p = *state;
    npmd_truth *t = truth_of(p, ALL), *back = NULL;
    npmd_error err = { 0 };
    double x[5 * 600], y[5 * 600];
    const int before = omp_get_max_threads();
    must(npmd_truth_write(t, in_folder(p, "first.json"), &err), &err);
    must(npmd_truth_read(p->path, &back, &err), &err);
    const char *first = p->path;
    must(npmd_truth_write(back, in_folder(p, "second.json"), &err), &err);
    assert_same_bytes(first, p->path);
    omp_set_num_threads(1);
    must(npmd_truth_sample(t, 7, 600, NULL, x, &err), &err);
    omp_set_num_threads(3);
    must(npmd_truth_sample(back, 7, 600, NULL, y, &err), &err);
    omp_set_num_threads(before);
    assert_memory_equal(x, y, sizeof x);
    npmd_truth_free(t);
    npmd_truth_free(back);
}

/* Equal names and seeds give equal truths, others others; a mesh that was made is written beside its truth. */
static void recipes_of_the_gauntlet(void **state)
{
    place *p = *state;
    enum { POINTS = 50 };
    int count = 0;
    for (npmd_recipe r = NPMD_SIZED(npmd_recipe); npmd_recipe_at(count, &r, NULL) == NPMD_OK; count++) {
        double x[POINTS * 12], f[3][POINTS];
        char name[64];
        npmd_truth *t = NULL, *back = NULL;
        npmd_error err = { 0 };
        if (strcmp(r.domain, "mesh") == 0 && strcmp(r.name, "wide-mesh") != 0)
            continue; /* eigenpairs take a second */
        snprintf(name, sizeof name, "gauntlet:%s", r.name);
        if (npmd_truth_make(name, 1, &t, &err) != NPMD_OK && strstr(err.text, "ARPACK") != NULL)
            continue;
        must(err.status, &err);
        assert_true(r.n >= 200 && t->domain->columns <= 12);
        must(npmd_truth_sample(t, 1, POINTS, NULL, x, &err), &err);
        must(npmd_truth_log_density(t, x, POINTS, NULL, f[0], &err), &err);
        must(npmd_truth_write(t, in_folder(p, "recipe.json"), &err), &err);
        npmd_truth_free(t);
        must(npmd_truth_read(p->path, &back, &err), &err);
        must(npmd_truth_log_density(back, x, POINTS, NULL, f[1], &err), &err);
        must(npmd_truth_make(name, 3, &t, &err), &err);
        must(npmd_truth_log_density(t, x, POINTS, NULL, f[2], &err), &err);
        for (int i = 0; i < POINTS; i++)
            assert_true(isfinite(f[0][i]));
        assert_memory_equal(f[0], f[1], sizeof f[0]);
        assert_true((strcmp(r.family, "uniform") == 0) == (memcmp(f[0], f[2], sizeof f[0]) == 0));
        npmd_truth_free(t);
        npmd_truth_free(back);
    }
    assert_true(count >= 30);
    npmd_truth *t = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_truth_make("gauntlet:egg", 1, &t, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "\"egg\"");
}

static void bad_files_are_refused_in_words(void **state)
{
    static const struct {
        const char *text, *words;
    } BAD[] = {
        { "{\"domain\":\"S1\",\"kind\":\"shapes\"}", "\"components\" is missing" },
        { T2(""), "not a filled array" },
        { T2("3"), "components[0] is not an object" },
        { T2("{\"weight\":1}"), "shape is \"\", expected one of uniform, kernel" },
        { T2("{\"weight\":1,\"shape\":\"egg\"}"), "shape is \"egg\"" },
        { T2("{\"shape\":\"uniform\"}"), "components[0]: the field \"weight\" is missing" },
        { T2("{\"weight\":0.5,\"shape\":\"uniform\"}"), "sum to 0.5" },
        { T2("{\"weight\":2,\"shape\":\"uniform\"},{\"weight\":-1,\"shape\":\"uniform\"}"), "components[1] is -1" },
        { T2(ONE("\"kernel\",\"mean\":[1],\"kappa\":[1,1]")), "mean has 1 elements, expected an array of 2" },
        { T2(ONE("\"kernel\",\"mean\":[1,1],\"kappa\":[1,-1]")), "kappas[0][1] is -1" },
        { S2S1(ONE("\"kernel\",\"mean\":[1,1,1,0],\"kappa\":[1,1]")), "unit vector" },
        { T2(ONE("\"normal\",\"mean\":[1,1],\"covariance\":[[1,2],[2,1]]")), "not positive definite" },
        { T2(ONE("\"normal\",\"mean\":[1,1],\"covariance\":[[1,2]]")), "covariance has 1 elements" },
        { S2S1(ONE("\"normal\",\"mean\":[0,0,1,1],\"covariance\":[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]")),
          "needs a torus" },
        { T2(ONE("\"ridge\",\"along\":1,\"across\":1,\"kappa\":1")), "both 1" },
        { T2(ONE("\"ridge\",\"along\":1,\"across\":3,\"kappa\":1")), "across is 3, expected a whole number, 1 to 2" },
        { T2(ONE("\"ridge\",\"along\":1,\"kappa\":1")), "\"across\" is missing" },
        { T2(ONE("\"ridge\",\"along\":1,\"across\":2,\"kappa\":1,\"slope\":0.5")), "slope is 0.5, expected a whole" },
        { T2(ONE("\"ridge\",\"along\":1,\"across\":2,\"kappa\":1,\"frequency\":1.5")), "frequency is 1.5" },
        { T2(ONE("\"ridge\",\"along\":1,\"across\":2,\"kappa\":-1")), "kappa is -1" },
        { S2S1(ONE("\"ridge\",\"along\":1,\"across\":2,\"kappa\":1")), "along is 1, which is S2; expected S1" },
        { T2(ONE("\"ring\",\"axis\":[0,0,1],\"width\":1")), "factor is 1, which is S1; expected S2" },
        { S2S1(ONE("\"ring\",\"axis\":[0,0,2],\"width\":1")), "axis has length 2" },
        { S2S1(ONE("\"ring\",\"axis\":[0,0,1],\"width\":0")), "width is 0" },
        { S2S1(ONE("\"ring\",\"axis\":[0,0,1],\"width\":1,\"height\":1.5")), "height is 1.5" },
        { T2(ONE("\"box\",\"factors\":[],\"lower\":[],\"upper\":[]")), "factors is empty" },
        { T2(ONE("\"box\",\"lower\":[],\"upper\":[]")), "\"factors\" is missing" },
        { T2(ONE("\"box\",\"factors\":3,\"lower\":[],\"upper\":[]")), "not an array" },
        { T2(ONE("\"box\",\"factors\":[1,1],\"lower\":[0,0],\"upper\":[1,1]")), "circle 1 twice" },
        { T2(ONE("\"box\",\"factors\":[1],\"lower\":[0,0],\"upper\":[1]")), "lower has 2 elements" },
        { T2(ONE("\"box\",\"factors\":[1],\"lower\":[2],\"upper\":[1]")), "expected an angle and a larger one" },
        { T2(ONE("\"box\",\"factors\":[1],\"lower\":[0],\"upper\":[7]")), "by 2 pi at most" },
        { T2(ONE("\"bump\",\"centre\":[0,0,1],\"width\":1")), "expected a surface" },
        { "{\"domain\":\"mesh:absent.off\",\"kind\":\"shapes\",\"components\":[1]}", "absent.off" },
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        npmd_truth *t = NULL;
        npmd_error err = { 0 };
        assert_int_equal(truth_from_text(*state, BAD[i].text, &t, &err), NPMD_ERR_FORMAT);
        assert_null(t);
        if (strstr(err.text, BAD[i].words) == NULL || strstr(err.text, "truth.json") == NULL)
            fail_msg("found \"%s\", expected \"%s\" and the file's name", err.text, BAD[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_has_mass_one_and_its_moments),
        cmocka_unit_test(a_bump_has_mass_one_and_its_moments),
        cmocka_unit_test(kernels_and_normals_are_the_older_kinds),
        cmocka_unit_test(outside_of_a_box_is_minus_infinity),
        cmocka_unit_test(files_come_back_bit_for_bit),
        cmocka_unit_test(recipes_of_the_gauntlet),
        cmocka_unit_test(bad_files_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
