/* test_regions.c - integrals over regions of two surfaces: areas, the uniform density, kernels in closed form,
 * symmetry.
 *
 * Kernels (--estimator kde with given concentrations) make a density that is known: a mean of products of von
 * Mises-Fisher densities, kappa exp(kappa (cos - 1)) / (2 pi (1 - exp(-2 kappa))). The probability that it gives to the
 * cap of angle t about its centre is (1 - exp(kappa (cos t - 1))) / (1 - exp(-2 kappa)). They are evaluated in
 * float32. */
#include "place.h"
#include "region.h"
#include "spheres.h"

#define PI NPMD_PI
#define SINGLE 1e-5 /* of values in float32: exponents up to 100 with 24 bits */

/* ---- what the tests stand on ------------------------------------------------------------------------------------- */

static npmd_surface *surface_from(const icosphere *s)
{
    npmd_error err = { 0 };
    npmd_surface *made = NULL;
    double *x = NULL;
    int32_t *face = NULL;
    must(memory_new(&made, 1, &err), &err);
    must(memory_new(&x, 3 * s->vertices, &err), &err);
    must(memory_new(&face, 3 * s->faces, &err), &err);
    memcpy(x, s->x, 3 * s->vertices * sizeof *x);
    memcpy(face, s->face, 3 * s->faces * sizeof *face);
    must(mesh_make(s->vertices, x, s->faces, face, "a sphere", &made->m, &err), &err);
    must(mesh_check(&made->m, "a sphere", &err), &err);
    return made;
}

static npmd_surface *sphere_of(int refinements, double radius)
{
    icosphere s = icosphere_make(refinements, radius);
    npmd_surface *made = surface_from(&s);
    icosphere_free(&s);
    return made;
}

/* Regions by a rule on the vertex; a negative number: none. */
static npmd_labels *labels_by(const npmd_surface *s, int regions, int (*rule)(const double *x))
{
    static const char *const NAMES[] = { "north", "south", "belt", "cap" };
    npmd_error err = { 0 };
    npmd_labels *made = NULL;
    must(memory_new(&made, 1, &err), &err);
    labels *l = &made->l;
    l->vertices = s->m.vertices;
    l->regions = regions;
    must(memory_new(&l->region, l->vertices, &err), &err);
    must(memory_new(&l->name, regions, &err), &err);
    for (int i = 0; i < regions; i++)
        must(memory_text(&l->name[i], NAMES[i], &err), &err);
    for (size_t i = 0; i < l->vertices; i++)
        l->region[i] = rule(s->m.x + 3 * i);
    return made;
}

static int by_height(const double *x) /* of the unit sphere: two caps, a belt without a region between them */
{
    return x[2] > 0.4 ? 0 : x[2] < -0.2 ? 1 : -1;
}

static int by_side(const double *x) /* four of different sizes, none empty */
{
    return x[2] > 0.5 ? 0 : x[0] > 0.3 ? 1 : x[1] > 0.0 ? 2 : 3;
}

#define CAP 0.8 /* radians about the pole */
static int by_cap(const double *x)
{
    return x[2] > cos(CAP) ? 0 : -1;
}

static int everywhere(const double *x)
{
    (void)x;
    return 0;
}

/* pairs: name, value of options, NULL at the end; rows (n, 6). */
static npmd_model *fitted(const char *domain, const double *rows, size_t n, const char *const *pairs)
{
    npmd_error err = { 0 };
    npmd_domain *dom = NULL;
    npmd_points *pts = NULL;
    npmd_model *m = NULL;
    npmd_options opt;
    options_init(&opt);
    for (; *pairs != NULL; pairs += 2)
        must(npmd_options_set(&opt, pairs[0], pairs[1], &err), &err);
    must(npmd_domain_parse(domain, &dom, &err), &err);
    must(points_from(rows, n, dom, &pts, &err), &err);
    must(npmd_fit(dom, pts, &opt, &m, &err), &err);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    return m;
}

static const double TWO[2][6] = { { 0, 0, 1, 1, 0, 0 }, { 0, 0, 1, 0, 1, 0 } };
static const char *const UNIFORM[] = { "estimator", "uniform", NULL };
#define KAPPA 6.0
static const char *const KERNELS[] = { "estimator", "kde", "kappa", "6", NULL };
static const char *const NETWORK[] = { "steps", "30",  "features", "24",  "width", "16",   "depth", "2",
                                       "q1",    "512", "q2",       "128", "tau",   "1e-3", NULL };

static double fisher(double cosine)
{
    return KAPPA * exp(KAPPA * (cosine - 1.0)) / (2.0 * PI * (1.0 - exp(-2.0 * KAPPA)));
}

static double fisher_cap(double angle)
{
    return (1.0 - exp(KAPPA * (cos(angle) - 1.0))) / (1.0 - exp(-2.0 * KAPPA));
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static double sum_of(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static void open_nodes(npmd_surface *s, const npmd_domain *dom, bool cells, region_nodes *g)
{
    npmd_error err = { 0 };
    must(region_nodes_open(g, dom, 0, &(npmd_region_request){ .surface = { s } }, cells, &err), &err);
}

/* All areas add up to 4 pi whatever the radius and whichever way the faces turn; those of the icosahedron are equal. */
static void areas_cover_the_sphere(void **state)
{
    npmd_error err = { 0 };
    npmd_domain *dom = NULL;
    region_nodes g = { 0 };
    (void)state;
    must(npmd_domain_parse("S2 x S2", &dom, &err), &err);
    for (int refinements = 0; refinements < 4; refinements++)
        for (int inwards = 0; inwards < 2; inwards++) {
            icosphere s = icosphere_make(refinements, 100.0);
            for (size_t f = 0; inwards && f < s.faces; f++) {
                const int32_t swap = s.face[3 * f];
                s.face[3 * f] = s.face[3 * f + 1];
                s.face[3 * f + 1] = swap;
            }
            npmd_surface *at = surface_from(&s);
            for (int cells = 0; cells < 2; cells++) {
                open_nodes(at, dom, cells, &g);
                /* a thousand sums of numbers of size 0.01 */
                check_quiet("areas of a sphere", fabs(sum_of(g.area, g.n) - 4.0 * PI), 1e-12);
                for (size_t i = 0; i < g.n; i++) {
                    const double *x = g.x + 3 * i;
                    check_quiet("a node off the sphere", fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1.0),
                                1e-15 * 4);
                    if (refinements == 0)
                        check_quiet("a twelfth", fabs(g.area[i] - 4.0 * PI / (cells ? 60.0 : 12.0)), 1e-14);
                }
                region_nodes_close(&g);
            }
            npmd_surface_free(at);
            icosphere_free(&s);
        }
    npmd_domain_free(dom);
}

/* ---- the uniform density ----------------------------------------------------------------------------------------- */

static void uniform_gives_shares(void **state)
{
    npmd_error err = { 0 };
    npmd_model *m = fitted("S2 x S2", TWO[0], 2, UNIFORM);
    npmd_surface *s = sphere_of(3, 1.0);
    npmd_labels *l = labels_by(s, 2, by_height);
    const npmd_region_request at = { .size = sizeof at, .surface = { s, s }, .labels = { l, l } };
    const size_t n = s->m.vertices;
    double *map = doubles(n), area[3] = { 0.0 }, cell[9];
    region_nodes g = { 0 };
    npmd_region_facts facts = NPMD_SIZED(npmd_region_facts);
    (void)state;
    must(region_nodes_open(&g, m->domain, 0, &at, false, &err), &err);
    for (size_t i = 0; i < n; i++)
        area[g.region[i]] += g.area[i];
    assert_int_equal(npmd_region_count(l), 3);
    assert_string_equal(npmd_region_name(l, 2), "unknown");
    assert_int_equal(npmd_region_find(l, "unknown"), 2);
    assert_int_equal(npmd_region_vertices(l, 0) + npmd_region_vertices(l, 1) + npmd_region_vertices(l, 2), n);
    const int both[2] = { 0, 2 };
    for (int factor = 1; factor <= 2; factor++) {
        must(npmd_region_map(m, &at, factor, both, 2, NPMD_REGION_DENSITY, map, &facts, &err), &err);
        for (size_t i = 0; i < n; i++)
            check_quiet("marginal of the uniform density", fabs(map[i] - (area[0] + area[2]) / (16.0 * PI * PI)),
                        1e-12);
        check_below("share of the area", fabs(facts.share - (area[0] + area[2]) / (4.0 * PI)), 1e-12);
        check_below("probability", fabs(facts.probability - facts.share), 1e-12);
        check_below("two rules on a constant", facts.error_largest, 1e-13);
        assert_true(facts.compared >= 16);
    }
    must(npmd_region_map(m, &at, 1, both, 1, NPMD_REGION_COUNTS, map, NULL, &err), &err);
    check_below("counts add up to n x share", fabs(sum_of(map, n) - 2.0 * area[0] / (4.0 * PI)), 1e-12);
    must(npmd_region_matrix(m, &at, NPMD_REGION_PROBABILITY, cell, &facts, &err), &err);
    double within = 0.0;
    for (int a = 0; a < 3; a++) {
        within += area[a] * area[a] / (16.0 * PI * PI);
        for (int b = 0; b < 3; b++)
            check_quiet("cell of the uniform density", fabs(cell[3 * a + b] - area[a] * area[b] / (16.0 * PI * PI)),
                        1e-12);
    }
    check_below("sum over all regions", fabs(facts.probability - 1.0), 1e-12);
    check_below("within", fabs(facts.within - within), 1e-12);
    region_nodes_close(&g);
    free(map);
    npmd_labels_free(l);
    npmd_surface_free(s);
    npmd_model_free(m);
}

/* ---- kernels in closed form -------------------------------------------------------------------------------------- */

/* The marginal over the whole sphere is the mean of two kernels. Both rules err by second derivatives times second
 * moments of the cells, so a refinement takes the error to a quarter, and to more than a third is a mistake. About the
 * vertex the moment of a third of an equilateral face of edge h is 5 h^2 / 36, about its centroid 49 h^2 / 432 less:
 * the true error is 1.22 times the difference of the rules; faces of an icosphere are nearly equilateral, hence 1.5. */
static void whole_sphere_converges(void **state)
{
    npmd_error err = { 0 };
    npmd_model *m = fitted("S2 x S2", TWO[0], 2, KERNELS);
    double before = INFINITY;
    (void)state;
    for (int refinements = 1; refinements <= 3; refinements++) {
        npmd_surface *s = sphere_of(refinements, 1.0);
        npmd_labels *l = labels_by(s, 1, everywhere);
        const npmd_region_request at = { .size = sizeof at, .surface = { s, s }, .labels = { l, NULL } };
        const int all = 0;
        double *map = doubles(s->m.vertices), worst = 0.0;
        npmd_region_facts facts = NPMD_SIZED(npmd_region_facts);
        must(npmd_region_map(m, &at, 1, &all, 1, NPMD_REGION_DENSITY, map, &facts, &err), &err);
        for (size_t i = 0; i < s->m.vertices; i++) {
            const double *y = s->m.x + 3 * i, truth = 0.5 * (fisher(y[0]) + fisher(y[1]));
            worst = fmax(worst, fabs(map[i] / truth - 1.0));
        }
        check_below("relative error, by its estimate", worst, 1.5 * facts.error_largest + SINGLE);
        check_below("and by a third a refinement", worst, before / 3.0 + SINGLE);
        before = worst;
        free(map);
        npmd_labels_free(l);
        npmd_surface_free(s);
    }
    npmd_model_free(m);
}

/* Cells of vertices in a cap are the cap up to a band: a cell reaches two thirds of an edge from its vertex. The rule's
 * own error comes on top, three times its estimate being generous. */
static void cap_within_its_band(void **state)
{
    npmd_error err = { 0 };
    npmd_model *m = fitted("S2 x S2", TWO[0], 2, KERNELS);
    icosphere ico = icosphere_make(4, 1.0);
    npmd_surface *s = surface_from(&ico);
    npmd_labels *l = labels_by(s, 1, by_cap);
    const npmd_region_request at = { .size = sizeof at, .surface = { s, s }, .labels = { l, NULL } };
    const double reach = 2.0 / 3.0 * icosphere_edge(&ico), band = fisher_cap(CAP + reach) - fisher_cap(CAP - reach);
    const int cap = 0;
    double *map = doubles(s->m.vertices), worst = 0.0;
    npmd_region_facts facts = NPMD_SIZED(npmd_region_facts);
    (void)state;
    must(npmd_region_map(m, &at, 1, &cap, 1, NPMD_REGION_LOG_DENSITY, map, &facts, &err), &err);
    for (size_t i = 0; i < s->m.vertices; i++) {
        const double *y = s->m.x + 3 * i, share = exp(map[i]) / (0.5 * (fisher(y[0]) + fisher(y[1])));
        worst = fmax(worst, fabs(share - fisher_cap(CAP)));
    }
    check_below("probability of a cap", worst, band + 3.0 * facts.error_largest);
    check_below("and of the whole map", fabs(facts.probability - fisher_cap(CAP)), band + 3.0 * facts.error_largest);
    free(map);
    npmd_labels_free(l);
    npmd_surface_free(s);
    icosphere_free(&ico);
    npmd_model_free(m);
}

/* A density that does not care which end is first has a symmetric matrix; its sum is 1 within its error. The mesh of
 * factor 2 is finer when they differ, and the matrix is nearly the same. */
static void symmetric_matrix(void **state)
{
    static const double PAIRS[4][6] = {
        { 0, 0, 1, 1, 0, 0 }, { 1, 0, 0, 0, 0, 1 }, { 0, 1, 0, 0, 0.6, 0.8 }, { 0, 0.6, 0.8, 0, 1, 0 }
    };
    npmd_error err = { 0 };
    npmd_model *m = fitted("S2 x S2", PAIRS[0], 4, KERNELS);
    npmd_surface *s = sphere_of(3, 1.0), *fine = sphere_of(4, 1.0);
    npmd_labels *l = labels_by(s, 4, by_side), *lf = labels_by(fine, 4, by_side);
    double cell[16], counts[16], other[16];
    npmd_region_facts facts = NPMD_SIZED(npmd_region_facts);
    (void)state;
    npmd_region_request at = { .size = sizeof at, .surface = { s, s }, .labels = { l, l } };
    must(npmd_region_matrix(m, &at, NPMD_REGION_PROBABILITY, cell, &facts, &err), &err);
    must(npmd_region_matrix(m, &at, NPMD_REGION_COUNTS, counts, NULL, &err), &err);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            check_quiet("symmetry", fabs(cell[4 * a + b] - cell[4 * b + a]), SINGLE);
            check_quiet("counts", fabs(counts[4 * a + b] - 4.0 * cell[4 * a + b]), 1e-14);
        }
    check_below("sum, by its error", fabs(facts.probability - 1.0), 1.5 * facts.sum_error + SINGLE);
    check_below("trace", fabs(facts.within - (cell[0] + cell[5] + cell[10] + cell[15])), 1e-14);
    at.surface[1] = fine;
    at.labels[1] = lf;
    must(npmd_region_matrix(m, &at, NPMD_REGION_PROBABILITY, other, &facts, &err), &err);
    check_below("sum on two meshes", fabs(facts.probability - 1.0), 1.5 * facts.sum_error + SINGLE);
    npmd_labels_free(l);
    npmd_labels_free(lf);
    npmd_surface_free(s);
    npmd_surface_free(fine);
    npmd_model_free(m);
}

/* ---- the dense table, threads ------------------------------------------------------------------------------------ */

static void dense_is_the_density(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    npmd_model *m = fitted("S2 x S2", TWO[0], 2, KERNELS);
    npmd_surface *s = sphere_of(2, 50.0);
    const npmd_region_request at = { .size = sizeof at, .surface = { s, s } };
    npmd_labels *l = labels_by(s, 1, everywhere);
    const npmd_region_request whole = { .size = sizeof whole, .surface = { s, s }, .labels = { l, l } };
    const char *path = in_folder(p, "dense.npy");
    double sum = 0.0;
    table t = { 0 };
    must(npmd_region_dense(m, &at, NPMD_REGION_DENSITY, path, &err), &err);
    must(table_read(path, &t, &err), &err);
    assert_int_equal(t.rows, s->m.vertices);
    assert_int_equal(t.columns, s->m.vertices);
    for (size_t i = 0; i < t.rows; i += 7)
        for (size_t j = 0; j < t.columns; j += 5) {
            const double *x = s->m.x + 3 * i, *y = s->m.x + 3 * j;
            const double truth = fisher(x[2] / 50.0) * 0.5 * (fisher(y[0] / 50.0) + fisher(y[1] / 50.0));
            check_quiet("a pair of vertices", fabs(t.data[i * t.columns + j] - truth), SINGLE * truth);
        }
    table_free(&t);
    must(npmd_region_dense(m, &at, NPMD_REGION_PROBABILITY, path, &err), &err);
    must(table_read(path, &t, &err), &err);
    must(npmd_region_matrix(m, &whole, NPMD_REGION_PROBABILITY, &sum, NULL, &err), &err);
    check_below("probabilities of all pairs", fabs(sum_of(t.data, t.rows * t.columns) - sum), 1e-12);
    npmd_labels_free(l);
    table_free(&t);
    npmd_surface_free(s);
    npmd_model_free(m);
}

static void threads_change_nothing(void **state)
{
    npmd_error err = { 0 };
    double x[40][6];
    uint64_t seed = 4;
    (void)state;
    for (int i = 0; i < 80; i++) {
        double *at = x[i / 2] + 3 * (i % 2);
        for (int j = 0; j < 3; j++)
            at[j] = test_normal(&seed) + (j == i % 2);
        const double r = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
        for (int j = 0; j < 3; j++)
            at[j] /= r;
    }
    npmd_model *m = fitted("S2 x S2", x[0], 40, NETWORK);
    npmd_surface *s = sphere_of(3, 1.0);
    npmd_labels *l = labels_by(s, 4, by_side);
    double *map[3], cell[3][16];
    const int threads[3] = { 1, 2, 7 }, north = 0;
    for (int k = 0; k < 3; k++) {
        const npmd_compute how = { .size = sizeof how, .threads = threads[k] };
        const npmd_region_request at = { .size = sizeof at, .surface = { s, s }, .labels = { l, l }, .how = &how };
        map[k] = doubles(s->m.vertices);
        must(npmd_region_map(m, &at, 2, &north, 1, NPMD_REGION_INTENSITY, map[k], NULL, &err), &err);
        must(npmd_region_matrix(m, &at, NPMD_REGION_PROBABILITY, cell[k], NULL, &err), &err);
        assert_memory_equal(map[k], map[0], s->m.vertices * sizeof **map);
        assert_memory_equal(cell[k], cell[0], sizeof *cell);
    }
    for (int k = 0; k < 3; k++)
        free(map[k]);
    npmd_labels_free(l);
    npmd_surface_free(s);
    npmd_model_free(m);
}

/* ---- a model on the mesh itself ---------------------------------------------------------------------------------- */

/* A network adds up to 1 by the nodes, too: four of its errors, one of which is a standard error. */
static void field_on_its_mesh(const char *domain, const icosphere *ico, const npmd_region_request *at)
{
    npmd_error err = { 0 };
    double rows[40][6], cell[4];
    npmd_region_facts facts = NPMD_SIZED(npmd_region_facts);
    for (size_t i = 0; i < 40; i++)
        for (size_t j = 0; j < 6; j++) /* vertices, those of the second end apart from the first */
            rows[i][j] = ico->x[3 * ((j < 3 ? i : 3 * i + 40) % ico->vertices) + j % 3];
    npmd_model *m = fitted(domain, rows[0], 40, NETWORK);
    must(npmd_region_matrix(m, at, NPMD_REGION_PROBABILITY, cell, &facts, &err), &err);
    check_below("sum of a network over its mesh", fabs(facts.probability - 1.0), 4.0 * facts.sum_error);
    check_below("which is an error of a few per cent", facts.sum_error, 0.05);
    npmd_model_free(m);
}

static void own_mesh_in_its_units(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    icosphere ico = icosphere_make(2, 10.0);
    for (size_t i = 0; i < ico.vertices; i++) /* no sphere at all */
        ico.x[3 * i] *= 1.5;
    char *off = icosphere_off(&ico), domain[1100];
    double rows[2][6];
    memcpy(rows[0], ico.x, sizeof rows);
    snprintf(domain, sizeof domain, "mesh:%s^2", put_text(p, "egg.off", off));
    npmd_domain *dom = NULL;
    if (npmd_domain_parse(domain, &dom, &err) == NPMD_ERR_DEVICE) {
        free(off);
        icosphere_free(&ico);
        skip();
    }
    npmd_domain_free(dom);
    npmd_model *m = fitted(domain, rows[0], 2, UNIFORM);
    npmd_surface *s = surface_from(&ico), *round = sphere_of(2, 10.0);
    npmd_labels *l = labels_by(s, 1, by_cap);
    npmd_region_request at = { .size = sizeof at, .surface = { s, s }, .labels = { l, l } };
    double *map = doubles(s->m.vertices), *area = doubles(s->m.vertices), inside = 0.0, cell[4];
    const int cap = 0;
    npmd_region_facts facts = NPMD_SIZED(npmd_region_facts);
    mesh_vertex_areas(&s->m, area);
    for (size_t i = 0; i < s->m.vertices; i++)
        inside += by_cap(s->m.x + 3 * i) == 0 ? area[i] : 0.0;
    must(npmd_region_map(m, &at, 1, &cap, 1, NPMD_REGION_DENSITY, map, &facts, &err), &err);
    for (size_t i = 0; i < s->m.vertices; i++)
        check_quiet("per area of the mesh", fabs(map[i] * s->m.area * s->m.area / inside - 1.0), 1e-12);
    must(npmd_region_matrix(m, &at, NPMD_REGION_PROBABILITY, cell, &facts, &err), &err);
    check_below("sum over the mesh", fabs(facts.probability - 1.0), 1e-12);
    field_on_its_mesh(domain, &ico, &at);
    at.surface[0] = round;
    assert_int_equal(npmd_region_map(m, &at, 1, &cap, 1, NPMD_REGION_DENSITY, map, &facts, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "another mesh");
    free(map);
    free(area);
    free(off);
    npmd_labels_free(l);
    npmd_surface_free(s);
    npmd_surface_free(round);
    npmd_model_free(m);
    icosphere_free(&ico);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static int stop_at_once(const npmd_report *now, void *user)
{
    *(double *)user = now->done;
    return 1;
}

static void refusals(void **state)
{
    static const double ANGLES[2][2] = { { 1, 2 }, { 2, 1 } };
    npmd_error err = { 0 };
    npmd_model *m = fitted("S2 x S2", TWO[0], 2, UNIFORM), *torus = fitted("S1 x S1", ANGLES[0], 2, UNIFORM);
    icosphere ico = icosphere_make(1, 1.0);
    npmd_surface *s = surface_from(&ico), *larger = sphere_of(2, 1.0);
    ico.x[0] *= 1.02;
    ico.x[1] *= 1.02;
    ico.x[2] *= 1.02;
    npmd_surface *dented = surface_from(&ico);
    npmd_labels *l = labels_by(s, 2, by_height);
    npmd_region_request at = { .size = sizeof at, .surface = { s, s }, .labels = { l, l } };
    double map[642] = { 7.0 }, done = 0.0;
    int region = 0;
    (void)state;
    at.surface[0] = dented;
    assert_int_equal(npmd_region_map(m, &at, 1, &region, 1, NPMD_REGION_DENSITY, map, NULL, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "registered sphere");
    at.surface[0] = larger;
    assert_int_equal(npmd_region_map(m, &at, 1, &region, 1, NPMD_REGION_DENSITY, map, NULL, &err), NPMD_ERR_SHAPE);
    assert_says(&err, "of 42 vertices, its surface has 162");
    at.surface[0] = s;
    assert_int_equal(npmd_region_map(torus, &at, 1, &region, 1, NPMD_REGION_DENSITY, map, NULL, &err),
                     NPMD_ERR_ARGUMENT);
    assert_says(&err, "two surfaces");
    assert_int_equal(npmd_region_map(m, &at, 3, &region, 1, NPMD_REGION_DENSITY, map, NULL, &err), NPMD_ERR_ARGUMENT);
    region = 3;
    assert_int_equal(npmd_region_map(m, &at, 1, &region, 1, NPMD_REGION_DENSITY, map, NULL, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(npmd_region_matrix(m, &at, NPMD_REGION_DENSITY, map, NULL, &err), NPMD_ERR_ARGUMENT);
    region = 0;
    const npmd_compute how = { .size = sizeof how, .progress = stop_at_once, .user = &done };
    at.how = &how;
    assert_int_equal(npmd_region_map(m, &at, 1, &region, 1, NPMD_REGION_DENSITY, map, NULL, &err), NPMD_STOPPED);
    assert_int_equal(npmd_region_matrix(m, &at, NPMD_REGION_COUNTS, map, NULL, &err), NPMD_STOPPED);
    assert_true(done > 0.0 && map[0] == 7.0);
    npmd_labels_free(l);
    npmd_surface_free(s);
    npmd_surface_free(larger);
    npmd_surface_free(dented);
    icosphere_free(&ico);
    npmd_model_free(m);
    npmd_model_free(torus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(areas_cover_the_sphere),
        cmocka_unit_test(uniform_gives_shares),
        cmocka_unit_test(whole_sphere_converges),
        cmocka_unit_test(cap_within_its_band),
        cmocka_unit_test(symmetric_matrix),
        cmocka_unit_test(dense_is_the_density),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(own_mesh_in_its_units),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
