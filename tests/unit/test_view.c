/* test_view.c - the interactive page: its nodes and their weights, how numbers are packed, what is refused, equal
 * bytes. */
#include "icosphere.h"
#include "models.h"
#include "view.h"

#define EPS 2.2e-16

static void assert_within(double found, double expected, double bound)
{
    check_quiet("distance", fabs(found - expected), bound);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* The grid has the symmetry of the icosahedron, and no harmonic of degree 1 to 5 has: sums of x_a and of x_a x_b are
 * those of the sphere, 0 and 4 pi / 3 or 0, to rounding. A sum of n terms below 4 pi in all is right to n eps 4 pi. */
static void geodesic_sums_are_those_of_the_sphere(void **state)
{
    (void)state;
    for (int R = 1; R <= 13; R += 4) {
        const size_t n = geodesic_nodes(R);
        double *x = doubles(3 * n), *weight = doubles(n), sum[13] = { 0.0 };
        const double bound = 20.0 * (double)n * EPS * 4.0 * NPMD_PI; /* 20: what an area and a node are off */
        geodesic_grid(R, x, weight);
        for (size_t i = 0; i < n; i++) {
            const double *p = x + 3 * i;
            assert_within(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), 1.0, 4.0 * EPS);
            sum[0] += weight[i];
            for (int a = 0; a < 3; a++)
                for (int b = -1; b < 3; b++)
                    sum[1 + 4 * a + b + 1] += weight[i] * p[a] * (b < 0 ? 1.0 : p[b]);
        }
        assert_within(sum[0], 4.0 * NPMD_PI, bound);
        for (int a = 0; a < 3; a++)
            for (int b = -1; b < 3; b++)
                assert_within(sum[1 + 4 * a + b + 1], a == b ? 4.0 * NPMD_PI / 3.0 : 0.0, bound);
        free(x);
        free(weight);
    }
}

/* Every number from 0 to nodes - 1 is some place of the lattice, and neighbours on two faces agree where they meet. */
static void geodesic_numbers_are_whole(void **state)
{
    (void)state;
    for (int R = 1; R <= 6; R++) {
        const size_t n = geodesic_nodes(R);
        double *times = doubles(n);
        size_t seen = 0;
        for (int f = 0; f < 20; f++)
            for (int j = 0; j <= R; j++)
                for (int i = 0; i + j <= R; i++) {
                    assert_true(geodesic_node(R, f, i, j) < n);
                    times[geodesic_node(R, f, i, j)] += 1.0;
                }
        for (size_t k = 0; k < n; k++) {
            seen += times[k] > 0.0;
            /* corners lie on five faces, edges on two */
            assert_within(times[k], k < 12 ? 5.0 : k < 12 + 30 * (size_t)(R - 1) ? 2.0 : 1.0, 0.0);
        }
        assert_int_equal(seen, n);
        free(times);
    }
}

static void thinned_vertices_share_the_area(void **state)
{
    models *s = *state;
    mesh m = { 0 };
    npmd_error err = { 0 };
    int32_t vertex[60];
    double weight[60], sum = 0.0, nearest = INFINITY;
    must(mesh_read(put_icosphere(&s->at, "fine.off", 3, 1.0), &m, &err), &err);
    must(thin_vertices(&m, 60, NULL, vertex, weight, &err), &err);
    for (int i = 0; i < 60; i++) {
        assert_true(vertex[i] >= 0 && (size_t)vertex[i] < m.vertices && weight[i] > 0.0);
        sum += weight[i];
        for (int j = 0; j < i; j++) {
            double d = 0.0;
            for (int c = 0; c < 3; c++)
                d += pow(m.x[3 * vertex[i] + c] - m.x[3 * vertex[j] + c], 2.0);
            nearest = fmin(nearest, sqrt(d));
        }
    }
    assert_within(sum, m.area, 1000.0 * EPS * m.area);
    /* 60 caps about nodes that are at most r away from all points, along edges, cover the sphere: 60 r^2 / 4 >= 1, so r
     * >= 0.258. Nodes are no nearer to each other than the last was to those before it, r or more. Along the edges of
     * equilateral triangles it is at most 2 / sqrt(3) = 1.155 times as far as straight, and these are nearly so. */
    assert_true(nearest > 0.258 / 1.2);
    mesh_free(&m);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* What the page does. */
static void unpack(const unsigned char *bytes, size_t rows, size_t columns, uint16_t *level)
{
    const size_t n = rows * columns;
    for (size_t k = 0; k < n; k++) {
        const unsigned u = bytes[k] | (unsigned)bytes[n + k] << 8;
        const unsigned difference = u & 1u ? 0u - ((u + 1u) >> 1) : u >> 1;
        const unsigned left = k % columns > 0 ? level[k - 1] : 0u, above = k >= columns ? level[k - columns] : 0u;
        const unsigned both = k % columns > 0 && k >= columns ? level[k - columns - 1] : 0u;
        level[k] = (uint16_t)(difference + left + above - both);
    }
}

static void levels_are_half_a_step_off_at_most(void **state)
{
    enum { ROWS = 37, COLUMNS = 53, N = ROWS * COLUMNS };
    const double STEP = 0.004;
    uint64_t seed = 5;
    double *log_f = doubles(N), top = -INFINITY;
    uint16_t level[N], again[N];
    unsigned char bytes[2 * N];
    (void)state;
    for (int i = 0; i < N; i++) {
        log_f[i] = -200.0 * test_uniform(&seed);
        top = fmax(top, log_f[i]);
    }
    log_f[7] = -1e6; /* as good as zero */
    log_f[8] = -INFINITY;
    pack_levels(log_f, N, top, STEP, level);
    memcpy(again, level, sizeof level);
    pack_predict(again, ROWS, COLUMNS);
    pack_planes(again, N, bytes);
    unpack(bytes, ROWS, COLUMNS, again);
    assert_memory_equal(again, level, sizeof level);
    for (int i = 0; i < N; i++)
        if (i == 7 || i == 8)
            assert_int_equal(level[i], VIEW_LEVELS);
        else /* rounding to a whole number; and of the division, 200 / STEP eps */
            assert_within(top - STEP * level[i], log_f[i], 0.5 * STEP + 1e-10);
    free(log_f);
}

static void shares_of_a_box(void **state)
{
    (void)state;
    assert_int_equal(pack_share(-1.0, -1.0, 1.0), 0);
    assert_int_equal(pack_share(1.0, -1.0, 1.0), 65535);
    assert_int_equal(pack_share(7.0, -1.0, 1.0), 65535); /* never outside */
    assert_int_equal(pack_share(3.0, 3.0, 3.0), 0);      /* a flat box */
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static file_bytes page_of(models *s, int model, const npmd_view_request *what, npmd_view_facts *facts)
{
    npmd_error err = { 0 };
    file_bytes b = { 0 };
    must(npmd_view(s->model[model], what, in_folder(&s->at, "page.html"), facts, &err), &err);
    must(file_read(in_folder(&s->at, "page.html"), &b, &err), &err);
    assert_int_equal(b.size, facts->bytes);
    return b;
}

static bool no_page(void)
{
    if (VIEW_BUNDLE_SIZE > 0)
        return false;
    print_message("this build has no page\n");
    return true;
}

static void equal_pages_are_equal_bytes(void **state)
{
    models *s = *state;
    npmd_view_facts facts = NPMD_SIZED(npmd_view_facts), others = NPMD_SIZED(npmd_view_facts);
    if (no_page())
        skip();
    npmd_compute how = { .size = sizeof how, .threads = 1 };
    const npmd_view_request what = { .size = sizeof what, .nodes = 42, .data = s->points[ROTATED], .how = &how };
    file_bytes a = page_of(s, ROTATED, &what, &facts);
    how.threads = 2;
    file_bytes b = page_of(s, ROTATED, &what, &others);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    assert_int_equal(facts.factors, 2);
    assert_int_equal(facts.nodes[0], 42);
    assert_int_equal(facts.points_shown, POINTS);
    assert_non_null(strstr((char *)a.data, "The MIT License")); /* three.js asks for no more */
    assert_null(strstr((char *)a.data, " src="));               /* nothing is loaded */
    file_bytes_free(&a);
    file_bytes_free(&b);
}

/* Sums over equidistant nodes of a circle converge faster than any power: on T2 they are as good as the integrals of
 * the library, which are asked for to 1e-6. The mass is off by the model's own log integral as well. */
static void sums_over_nodes_are_integrals(void **state)
{
    models *s = *state;
    view_values v = { 0 };
    npmd_error err = { 0 };
    const npmd_view_request what = { .accuracy = 1e-6 };
    must(view_values_open(&v, s->model[0], &what, &err), &err);
    must(view_values_compute(&v, &err), &err);
    assert_int_equal(v.compared, 8);
    assert_within(v.sum_error, 0.0, 4e-6);
    assert_within(v.mass, 1.0, 4e-6 + 4.0 * s->model[0]->facts.log_integral_se);
    view_values_close(&v);
}

/* One factor of two: at each node compared the sum is as near to the library's integral as the page says; the two
 * integrals are known to 1e-3 each, and the nodes here are others. The density of S2 x S1 is smooth at this scale. */
static void one_factor_of_two_is_summed(void **state)
{
    models *s = *state;
    npmd_error err = { 0 };
    for (int d = 0; d < 2; d++) {
        view_values v = { 0 };
        npmd_points *at = NULL;
        npmd_domain *part = NULL;
        double log_f[3];
        const npmd_view_request what = { .factors = 1u << d, .nodes = 12 };
        must(view_values_open(&v, s->model[ROTATED], &what, &err), &err);
        must(view_values_compute(&v, &err), &err);
        assert_int_equal(v.factors, 1);
        assert_int_equal(v.compared, 4);
        must(npmd_domain_part(s->model[ROTATED]->domain, 1u << d, &part, &err), &err);
        must(points_from(v.factor[0].x, 3, part, &at, &err), &err);
        must(npmd_marginal_at(s->model[ROTATED], 1u << d, at, NPMD_LOG_DENSITY, 0.0, 1, NULL, log_f, NULL, &err), &err);
        for (int i = 0; i < 3; i++)
            assert_within(expm1(v.log_f[i] - log_f[i]), 0.0, 2.0 * v.sum_error + 2e-3);
        assert_within(v.sum_error, 0.0, 0.01);
        npmd_points_free(at);
        npmd_domain_free(part);
        view_values_close(&v);
    }
}

/* Values at nodes are the library's own. */
static void values_are_those_of_the_model(void **state)
{
    models *s = *state;
    view_values v = { 0 };
    npmd_error err = { 0 };
    const npmd_view_request what = { .nodes = 12 };
    must(view_values_open(&v, s->model[ROTATED], &what, &err), &err);
    must(view_values_compute(&v, &err), &err);
    double x[4], log_f = 0.0;
    for (size_t k = 0; k < 20; k++) {
        const size_t pair = k * 23, i = pair / v.factor[1].n, j = pair % v.factor[1].n;
        memcpy(x, v.factor[0].x + 3 * i, 3 * sizeof *x);
        x[3] = v.factor[1].x[j];
        must(npmd_log_density(s->model[ROTATED], x, 1, &log_f, &err), &err);
        assert_within(v.log_f[pair], log_f, 1e-5); /* float32 networks in tiles of other sizes */
    }
    view_values_close(&v);
}

static int stop_at_once(const npmd_report *now, void *user)
{
    (void)now, (void)user;
    return 1;
}

static void what_cannot_be_shown_is_refused(void **state)
{
    models *s = *state;
    npmd_error err = { 0 };
    npmd_surface *ball = NULL;
    const char *out = in_folder(&s->at, "none.html");
    if (no_page())
        skip();
    must(npmd_surface_read(put_icosphere(&s->at, "ball.off", 1, 1.0), &ball, &err), &err);
    const npmd_compute stop = { .size = sizeof stop, .progress = stop_at_once };
    const struct {
        int model;
        npmd_view_request what;
        npmd_status st;
        const char *says;
    } cases[] = {
        { 1, { .factors = 7u }, NPMD_ERR_ARGUMENT, "one or two factors" },
        { 1, { .factors = 8u }, NPMD_ERR_ARGUMENT, "one or two factors" },
        { 0, { .data = s->points[1] }, NPMD_ERR_SHAPE, "points lie" },
        { 0, { .surface = { ball }, .sphere = { ball } }, NPMD_ERR_ARGUMENT, "not S2" },
        { 2, { .surface = { ball }, .nodes = 42 }, NPMD_ERR_ARGUMENT, "both are needed" },
        { 0, { .how = &stop }, NPMD_STOPPED, "asked to stop" },
        { 1, { .factors = 1u, .how = &stop }, NPMD_STOPPED, "asked to stop" },
        /* and before anything is computed */
        { 0, { .surface = { ball }, .sphere = { ball }, .how = &stop }, NPMD_ERR_ARGUMENT, "not S2" },
        { 0, { .nodes = 10000, .how = &stop }, NPMD_ERR_ARGUMENT, "10000 x 10000 nodes would take 50 million" },
        { 0, { .nodes = 1000001 }, NPMD_ERR_ARGUMENT, "expected an integer from 1 to 1000000" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        npmd_view_request what = cases[i].what;
        what.size = sizeof what;
        const npmd_status st = npmd_view(s->model[cases[i].model], &what, out, NULL, &err);
        if (st != cases[i].st || strstr(err.text, cases[i].says) == NULL)
            fail_msg("case %zu: status %d, \"%s\"; expected %d and \"%s\"", i, (int)st, err.text, (int)cases[i].st,
                     cases[i].says);
        assert_int_equal(file_size(out), 0);
    }
    npmd_surface_free(ball);
}

/* A density of mass e^2000, from a file whose log integral is that far off: the sentence says so, and not that memory was
 * short. */
static void a_mass_that_is_no_number_is_refused(void **state)
{
    models *s = *state;
    npmd_error err = { 0 };
    const char *out = in_folder(&s->at, "none.html");
    char path[1024];
    snprintf(path, sizeof path, "%s", out);
    if (no_page())
        skip();
    for (int k = 0; k < MODELS; k++) {
        npmd_model *m = models_again(s, s->model[k], "far.safetensors");
        m->facts.log_integral -= 2000.0;
        const npmd_view_request what = { .size = sizeof what, .nodes = 12, .accuracy = 0.1 };
        assert_int_equal(npmd_view(m, &what, path, NULL, &err), NPMD_ERR_NUMERIC);
        assert_non_null(strstr(err.text, "mass inf"));
        assert_int_equal(file_size(path), 0);
        npmd_model_free(m);
    }
}

static void a_page_has_its_limit(void **state)
{
    models *s = *state;
    view_page page = { 0 };
    npmd_error err = { 0 };
    const size_t size = 6200000; /* base 64 makes four letters of three bytes */
    unsigned char *noise = NULL;
    uint64_t seed = 1;
    if (no_page())
        skip();
    must(memory_new(&noise, size, &err), &err);
    for (size_t i = 0; i < size; i++)
        noise[i] = (unsigned char)(256.0 * test_uniform(&seed));
    must(page_open(&page, in_folder(&s->at, "large.html"), &err), &err);
    assert_int_equal(page_blob(&page, "noise", noise, size, &err), NPMD_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "larger than 8 million bytes"));
    page_close(&page);
    assert_int_equal(file_size(in_folder(&s->at, "large.html")), 0);
    memory_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geodesic_sums_are_those_of_the_sphere),
        cmocka_unit_test(geodesic_numbers_are_whole),
        cmocka_unit_test(thinned_vertices_share_the_area),
        cmocka_unit_test(levels_are_half_a_step_off_at_most),
        cmocka_unit_test(shares_of_a_box),
        cmocka_unit_test(equal_pages_are_equal_bytes),
        cmocka_unit_test(sums_over_nodes_are_integrals),
        cmocka_unit_test(one_factor_of_two_is_summed),
        cmocka_unit_test(values_are_those_of_the_model),
        cmocka_unit_test(what_cannot_be_shown_is_refused),
        cmocka_unit_test(a_mass_that_is_no_number_is_refused),
        cmocka_unit_test(a_page_has_its_limit),
    };
    return cmocka_run_group_tests(tests, models_open, models_close);
}
