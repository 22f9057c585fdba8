/* test_surface_factor.c - a triangulated surface as a factor: on an icosphere, against the sphere in closed form. */
#include "icosphere.h"
#include "points.h"
#include "surface_factor.h"

#define LEVEL 3    /* 642 vertices, 1280 faces */
#define EDGE 0.17  /* the longest edge of it: 1.107 / 8 on the first icosahedron's arcs, stretched in the middle */
#define RADIUS 5.0 /* in the user's units */

typedef struct stage {
    place place;
    npmd_domain *domain[2]; /* linear and quadratic elements */
} stage;

static int stage_make(void **state)
{
    static stage s;
    char text[1200];
    if (place_open(&s.place) != 0)
        return -1;
    snprintf(text, sizeof text, "mesh:%s", put_icosphere(&s.place, "ico.off", LEVEL, RADIUS));
    for (int e = 0; e < 2; e++) {
        npmd_error err = { 0 };
        must(npmd_domain_parse_with(text,
                                    &(npmd_surface_options){ .size = sizeof(npmd_surface_options),
                                                             .elements = e + 1,
                                                             .max_frequency = "10" },
                                    &s.domain[e], &err),
             &err);
    }
    *state = &s;
    return 0;
}

static int stage_remove(void **state)
{
    stage *s = *state;
    for (int e = 0; e < 2; e++)
        npmd_domain_free(s->domain[e]);
    return place_close(&s->place);
}

static const manifold *factor_of(void **state, int elements)
{
    const stage *s = *state;
    return s->domain[elements - 1]->factor[0];
}

static void random_point(const manifold *m, uint64_t *seed, double *x)
{
    const double u[2] = { test_uniform(seed), test_uniform(seed) };
    m->uniform(m, u, x);
}

/* ---- the sphere behind it ---------------------------------------------------------------------------------------- */

static void facts_are_those_of_the_mesh(void **state)
{
    const manifold *m = factor_of(state, 1);
    const surface *s = surface_of(m);
    assert_int_equal(s->mesh.vertices, 642);
    assert_int_equal(s->mesh.faces, 1280);
    assert_int_equal(m->max_frequency, 10);
    /* an inscribed polyhedron with edges up to h has less area by h^2 / 6 at most (chord against arc, both ways) */
    check_below("area against that of the sphere", 1.0 - m->volume / (4.0 * (double)CHECK_PI * RADIUS * RADIUS),
                EDGE * EDGE / 6.0);
    assert_true(m->volume < 4.0 * (double)CHECK_PI * RADIUS * RADIUS);
    check_below("scaled area", fabs(m->volume * m->scale * m->scale / (4.0 * (double)CHECK_PI) - 1.0), 1e-14);
    assert_true(m->eigenvalue(m, 0) == 0.0);
    assert_null(surface_of(&SPHERE));
}

/* Relative errors: the metric of the mesh is off by h^2 / 4; Rayleigh quotients of interpolants add lambda h^2 / 12
 * with linear and (lambda h^2)^2 / 720 with quadratic elements. */
static void eigenvalues_are_those_of_the_sphere(void **state)
{
    for (int e = 1; e <= 2; e++) {
        const manifold *m = factor_of(state, e);
        for (int j = 1; j < m->functions(m, 10); j++) {
            const int l = m->frequency(m, j);
            const double exact = l * (l + 1.0), q = exact * EDGE * EDGE,
                         bound = EDGE * EDGE / 4.0 + (e == 1 ? q / 12.0 : q * q / 720.0);
            check_quiet("eigenvalue", fabs(m->eigenvalue(m, j) / exact - 1.0), bound);
        }
        assert_true(m->eigenvalue(m, m->functions(m, 10)) == 11.0 * 12.0); /* Weyl's law goes on */
    }
}

/* Eigenspaces rotate, their projections do not: sum over degree l of psi(x) psi(y) = (2 l + 1)/(4 pi) P_l(x . y). The
 * space of degree l turns by (relative error of the operator) lambda_l / (distance to the next eigenvalue) = error x l
 * / 2; both arguments are off by the interpolation of a function of that degree, (lambda h^2)^(3/2) / 24 at most. */
static void degrees_span_those_of_the_sphere(void **state)
{
    const manifold *m = factor_of(state, 2);
    const int L = 6, count = m->functions(m, L);
    double *jet[2] = { doubles((size_t)count), doubles((size_t)count) }, worst[7] = { 0.0 };
    uint64_t seed = 1;
    for (int i = 0; i < 400; i++) {
        double x[2][3], at[2][3], z = 0.0, length[2] = { 0.0, 0.0 };
        for (int k = 0; k < 2; k++) {
            random_point(m, &seed, x[k]);
            m->jets(m, 1, x[k], 0, L, 1, jet[k]);
            m->position(m, x[k], at[k]);
            for (int c = 0; c < 3; c++)
                length[k] += at[k][c] * at[k][c];
        }
        for (int c = 0; c < 3; c++)
            z += at[0][c] * at[1][c] / sqrt(length[0] * length[1]);
        double P[7] = { 1.0, z };
        for (int l = 2; l <= L; l++)
            P[l] = ((2.0 * l - 1.0) * z * P[l - 1] - (l - 1.0) * P[l - 2]) / l;
        for (int l = 0; l <= L; l++) {
            double sum = 0.0;
            for (int j = l * l; j < (l + 1) * (l + 1); j++)
                sum += jet[0][j] * jet[1][j] * m->volume;
            worst[l] = fmax(worst[l], fabs(sum - (2.0 * l + 1.0) * P[l]) / (2.0 * l + 1.0));
        }
    }
    for (int l = 0; l <= L; l++) {
        const double h = EDGE, q = l * (l + 1.0) * h * h;
        check_below("projection on a degree", worst[l], 1e-6 + 0.5 * l * h * h / 4.0 * 2.0 + 2.0 * pow(q, 1.5) / 24.0);
    }
    free(jet[0]);
    free(jet[1]);
}

/* On a face functions are polynomials of degree two at most, whose products the rule of the edges' middles integrates
 * exactly for linear elements. Eigenfunctions are kept in float32: 6e-8 sqrt(2) a product, whose sum has 1280 terms of
 * random sign; what is left of ARPACK's own error, 1e-10, does not matter. */
static void eigenfunctions_are_orthonormal(void **state)
{
    const manifold *m = factor_of(state, 1);
    const surface *s = surface_of(m);
    const int count = m->functions(m, 10);
    static const double MIDDLE[3][2] = { { 0.5, 0.0 }, { 0.5, 0.5 }, { 0.0, 0.5 } };
    double *gram = doubles((size_t)count * (size_t)count), *jet = doubles((size_t)count), worst = 0.0;
    for (size_t f = 0; f < s->mesh.faces; f++) {
        const double *corner = s->map.corner[f], area = m->volume * (corner[1] - corner[0]) * (corner[3] - corner[2]);
        for (int k = 0; k < 3; k++) {
            const double x[3] = { (double)f, MIDDLE[k][0], MIDDLE[k][1] };
            m->jets(m, 1, x, 0, 10, 1, jet);
            for (int a = 0; a < count; a++)
                for (int b = 0; b < count; b++)
                    gram[a * count + b] += area / 3.0 * jet[a] * jet[b];
        }
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            worst = fmax(worst, fabs(gram[a * count + b] - (a == b ? 1.0 : 0.0)));
    check_below("Gram matrix against the identity", worst, 1e-6);
    free(gram);
    free(jet);
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

/* A central difference of a quadratic polynomial is exact but for rounding, 1e-16 / step. A step along frame vector t
 * of the scaled surface is scale times shorter in the user's units, where the frame's vectors have the length scale. */
static void derivatives_are_differences(void **state)
{
    for (int e = 1; e <= 2; e++) {
        const manifold *m = factor_of(state, e);
        const surface *s = surface_of(m);
        const int count = m->functions(m, 10);
        double *jet = doubles(3 * (size_t)count), *side[2] = { doubles((size_t)count), doubles((size_t)count) },
               worst = 0.0, size = 0.0;
        uint64_t seed = 3;
        for (int i = 0; i < 200; i++) {
            double x[3], frame[6], at[3];
            random_point(m, &seed, x);
            m->jets(m, 1, x, 0, 10, 3, jet);
            m->frame(m, x, frame);
            m->position(m, x, at);
            const int32_t *corner = s->mesh.face + 3 * (size_t)x[0];
            for (int t = 0; t < 2; t++) {
                const double step = 1e-3;
                for (int way = 0; way < 2; way++) {
                    /* the barycentric coordinates of the displaced point, by solving for them in space */
                    double d[3], ab[3], ac[3], g[5] = { 0.0 };
                    for (int c = 0; c < 3; c++) {
                        d[c] = (way ? step : -step) * frame[3 * t + c] / (m->scale * m->scale);
                        ab[c] = s->mesh.x[3 * corner[1] + c] - s->mesh.x[3 * corner[0] + c];
                        ac[c] = s->mesh.x[3 * corner[2] + c] - s->mesh.x[3 * corner[0] + c];
                        g[0] += ab[c] * ab[c];
                        g[1] += ab[c] * ac[c];
                        g[2] += ac[c] * ac[c];
                        g[3] += ab[c] * d[c];
                        g[4] += ac[c] * d[c];
                    }
                    const double det = g[0] * g[2] - g[1] * g[1];
                    const double y[3] = { x[0], x[1] + (g[2] * g[3] - g[1] * g[4]) / det,
                                          x[2] + (g[0] * g[4] - g[1] * g[3]) / det };
                    m->jets(m, 1, y, 0, 10, 1, side[way]);
                }
                for (int j = 0; j < count; j++) {
                    const double slope = (side[1][j] - side[0][j]) / (2.0 * step);
                    worst = fmax(worst, fabs(slope - jet[(1 + t) * count + j]));
                    size = fmax(size, fabs(slope));
                }
            }
            double dot = 0.0, length = 0.0;
            for (int c = 0; c < 3; c++) {
                dot += frame[c] * frame[3 + c];
                length += frame[c] * frame[c];
            }
            check_quiet("frame", fabs(dot) + fabs(length / (m->scale * m->scale) - 1.0), 1e-12);
        }
        check_below("derivatives against differences, over the largest", worst / size, 1e-11);
        free(jet);
        free(side[0]);
        free(side[1]);
    }
}

/* ---- the map ----------------------------------------------------------------------------------------------------- */

static void the_map_is_a_bijection(void **state)
{
    const manifold *m = factor_of(state, 1);
    const surface *s = surface_of(m);
    uint64_t seed = 5;
    double worst = 0.0, there = 0.0, total = 0.0;
    for (int i = 0; i < 20000; i++) {
        const double u[2] = { test_uniform(&seed), test_uniform(&seed) };
        double x[3], back[2], again[3], e[3];
        surface_map_from(&s->map, u, x);
        assert_null(m->canonical(m, x));
        surface_map_to(&s->map, x, back);
        worst = fmax(worst, fmax(fabs(back[0] - u[0]), fabs(back[1] - u[1])));
        surface_map_from(&s->map, back, again);
        there += again[0] == x[0]; /* a point within rounding of an edge may change over */
        m->embed(m, x, e);
        check_quiet("embedded as a unit vector", fabs(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] - 1.0), 1e-14);
    }
    check_below("from the square and back", worst, 1e-14);
    assert_true(there >= 19990.0);
    /* every rectangle has its face's share of the area: a product of ten proportions or so, each to rounding */
    for (size_t f = 0; f < s->mesh.faces; f++) {
        const double *corner = s->map.corner[f], share = (corner[1] - corner[0]) * (corner[3] - corner[2]);
        double a[3][3], n[3];
        for (int k = 0; k < 3; k++)
            memcpy(a[k], s->mesh.x + 3 * s->mesh.face[3 * f + (size_t)k], sizeof a[k]);
        for (int c = 0; c < 3; c++) {
            const int p = (c + 1) % 3, q = (c + 2) % 3;
            n[c] = (a[1][p] - a[0][p]) * (a[2][q] - a[0][q]) - (a[1][q] - a[0][q]) * (a[2][p] - a[0][p]);
        }
        const double area = 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        check_quiet("a rectangle's share", fabs(share / (area / m->volume) - 1.0), 1e-11);
        total += share;
    }
    check_below("all rectangles together", fabs(total - 1.0), 1e-12);
}

/* Quasi-random points of a map in 1280 pieces: the error of a mean over n = 2^16 points is between 1/n and that of
 * independent points, 1/256; four of the latter are allowed. */
static void uniform_points_cover_the_area(void **state)
{
    enum { POINTS = 65536 };
    const manifold *m = factor_of(state, 1);
    const int count = m->functions(m, 4);
    double *jet = doubles((size_t)count), *mean = doubles((size_t)count), worst = 0.0, above = 0.0;
    sobol q;
    sobol_open(&q, 2, rng_key_make(1, RNG_TEST, 0));
    for (uint32_t i = 0; i < POINTS; i++) {
        double u[2], x[3], at[3];
        sobol_point(&q, i, u);
        m->uniform(m, u, x);
        m->jets(m, 1, x, 0, 4, 1, jet);
        m->position(m, x, at);
        above += at[2] > 0.0;
        for (int j = 0; j < count; j++)
            mean[j] += jet[j] * sqrt(m->volume) / POINTS;
    }
    for (int j = 0; j < count; j++)
        worst = fmax(worst, fabs(mean[j] - (j == 0 ? 1.0 : 0.0)));
    check_below("means of eigenfunctions", worst, 4.0 / 256.0);
    check_below("share of the upper half", fabs(above / POINTS - 0.5), 4.0 * 0.5 / 256.0);
    free(jet);
    free(mean);
}

/* y drawn about x has the density q = ((1 - rho^2)/(1 + rho^2 - 2 rho e(x) . e(y)))^2 relative to the uniform measure,
 * so the mean of g / q over y is the uniform mean of g: 1, and 0 for eigenfunctions. The standard error of independent
 * points is sqrt(mean of 1/q (relative to uniform) / n), 1/q <= ((1 + rho)/(1 - rho))^2 = 9 at rho = 1/2. */
static void importance_points_are_unbiased(void **state)
{
    enum { POINTS = 65536 };
    const manifold *m = factor_of(state, 1);
    const double rho = 0.5, se = 3.0 / 256.0;
    const int count = m->functions(m, 3);
    double *jet = doubles((size_t)count), *mean = doubles((size_t)count), x[3], e[3], near = 0.0;
    uint64_t seed = 9;
    sobol q;
    random_point(m, &seed, x);
    m->embed(m, x, e);
    sobol_open(&q, 2, rng_key_make(2, RNG_TEST, 0));
    for (uint32_t i = 0; i < POINTS; i++) {
        double u[2], y[3], f[3];
        sobol_point(&q, i, u);
        m->cauchy(m, x, rho, u, y);
        assert_null(m->canonical(m, y));
        m->embed(m, y, f);
        const double z = e[0] * f[0] + e[1] * f[1] + e[2] * f[2],
                     density = pow((1.0 - rho * rho) / (1.0 + rho * rho - 2.0 * rho * z), 2.0);
        m->jets(m, 1, y, 0, 3, 1, jet);
        for (int j = 0; j < count; j++)
            mean[j] += jet[j] * sqrt(m->volume) / density / POINTS;
        near += z > 0.5;
    }
    for (int j = 0; j < count; j++)
        check_quiet("importance mean", fabs(mean[j] - (j == 0 ? 1.0 : 0.0)), 4.0 * se);
    /* the height of a spherical Cauchy variable is the Moebius image of a uniform one: z > 1/2 from h > -1/2 */
    check_below("share near the centre", fabs(near / POINTS - 0.75), 4.0 * 0.44 / 256.0);
    free(jet);
    free(mean);
}

/* On a sphere the map is laid out by where the faces are: near points must mostly stay near, or proposals waste
 * points. */
static void near_points_stay_near(void **state)
{
    const manifold *m = factor_of(state, 1);
    uint64_t seed = 11;
    int near = 0;
    for (int i = 0; i < 2000; i++) {
        double x[2][3], p[2][3], e[2][3], z = 0.0;
        random_point(m, &seed, x[0]);
        m->position(m, x[0], p[0]);
        for (int c = 0; c < 3; c++)
            p[1][c] = p[0][c] + 0.1 * RADIUS * test_normal(&seed);
        m->locate(m, p[1], x[1]);
        m->embed(m, x[0], e[0]);
        m->embed(m, x[1], e[1]);
        for (int c = 0; c < 3; c++)
            z += e[0][c] * e[1][c];
        near += z > cos(0.5);
    }
    print_message("    within 0.5 radians of each other on the sphere: %d of 2000\n", near);
    assert_true(near > 1800);
}

/* ---- quadrature -------------------------------------------------------------------------------------------------- */

static void the_rule_is_exact_for_eigenfunctions(void **state)
{
    const manifold *m = factor_of(state, 1);
    const size_t N = 16, n = m->rule_nodes(m, N);
    const int count = m->functions(m, 10);
    double *x = doubles(3 * n), *w = doubles(n), *jet = doubles((size_t)count), *sum = doubles((size_t)count),
           least = 1.0;
    npmd_error err = { 0 };
    must(m->rule(m, N, x, w, &err), &err);
    for (size_t i = 0; i < n; i++) {
        assert_null(m->canonical(m, x + 3 * i));
        m->jets(m, 1, x + 3 * i, 0, 10, 1, jet);
        for (int j = 0; j < count; j++)
            sum[j] += w[i] * jet[j] * sqrt(m->volume);
        least = fmin(least, w[i] * (double)n);
    }
    for (int j = 0; j < count; j++)
        check_quiet("a mean by the rule", fabs(sum[j] - (j == 0 ? 1.0 : 0.0)), j == 0 ? 1e-6 : 1e-12);
    print_message("    least weight over the mean one: %.3f\n", least);
    assert_true(least > 0.0);
    free(x);
    free(w);
    free(jet);
    free(sum);
}

/* ---- text and points --------------------------------------------------------------------------------------------- */

static void domains_are_spelt(void **state)
{
    stage *s = *state;
    char text[1400], named[64];
    const char *path = in_folder(&s->place, "ico.off");
    const npmd_surface_options few = { .size = sizeof few, .max_frequency = "1" },
                               many = { .size = sizeof many, .max_frequency = "100" },
                               cubic = { .size = sizeof cubic, .elements = 3 };
    const char *const good[] = { "mesh:%s",   " MESH: %s ",  "mesh:\"%s\"", "S2 x mesh:%s",
                                 "mesh:%s^2", "mesh:%s ^ 2", "mesh:%s*S1",  "mesh:%s x mesh:\"%s\"x s1" };
    const int factors[] = { 1, 1, 1, 2, 2, 2, 2, 3 };
    snprintf(named, sizeof named, "%s", npmd_domain_text(s->domain[0]));
    assert_int_equal(strlen(named), 21); /* mesh: and the hash, no path */
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        npmd_domain *dom = NULL;
        npmd_error err = { 0 };
        char first[1400];
        const char *gap = strstr(good[i], "%s"), *second = strstr(gap + 2, "%s");
        snprintf(first, sizeof first, "%.*s%s%.*s%s%s", (int)(gap - good[i]), good[i], path,
                 (int)(second ? second - gap - 2 : (long)strlen(gap + 2)), gap + 2, second ? path : "",
                 second ? second + 2 : "");
        must(npmd_domain_parse_with(first, &few, &dom, &err), &err);
        assert_int_equal(npmd_domain_factors(dom), factors[i]);
        assert_non_null(strstr(npmd_domain_text(dom), named));
        for (int d = 1; d < dom->factors; d++) /* equal paths are one surface */
            if (dom->factor[d]->locate != NULL && dom->factor[0]->locate != NULL)
                assert_ptr_equal(dom->factor[d], dom->factor[0]);
        if (i == 4)
            snprintf(text, sizeof text, "%s^2", named), assert_string_equal(npmd_domain_text(dom), text);
        npmd_domain_free(dom);
    }
    const char *const bad[] = { "mesh:", "mesh:\"ico.off", "mesh:\"\"", "S1 x mesh:^2", "mesh" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        npmd_domain *dom = NULL;
        npmd_error err = { 0 };
        assert_int_equal(npmd_domain_parse(bad[i], &dom, &err), NPMD_ERR_ARGUMENT);
        assert_null(dom);
    }
    npmd_domain *dom = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_domain_parse("mesh:/nowhere/x.off", &dom, &err), NPMD_ERR_FILE);
    snprintf(text, sizeof text, "mesh:%s^0", path);
    assert_int_equal(npmd_domain_parse_with(text, &few, &dom, NULL), NPMD_ERR_ARGUMENT);
    snprintf(text, sizeof text, "mesh:%s^17", path);
    assert_int_equal(npmd_domain_parse_with(text, &few, &dom, NULL), NPMD_ERR_ARGUMENT);
    snprintf(text, sizeof text, "mesh:%s", path);
    assert_int_equal(npmd_domain_parse_with(text, &many, &dom, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "frequency 100 needs 40804 nodes");
    assert_int_equal(npmd_domain_parse_with(text, &cubic, &dom, &err), NPMD_ERR_ARGUMENT);
    assert_null(dom);
}

static void points_are_positions(void **state)
{
    stage *s = *state;
    const npmd_domain *dom = s->domain[0];
    enum { N = 100 };
    double x[3 * N], u[2 * N], back[3];
    uint64_t seed = 13;
    npmd_points *pts = NULL;
    npmd_domain *near = NULL;
    npmd_error err = { 0 };
    for (int i = 0; i < 2 * N; i++)
        u[i] = test_uniform(&seed);
    must(npmd_domain_uniform(dom, u, N, x, &err), &err);
    must(points_from(x, N, dom, &pts, &err), &err);
    for (int i = 0; i < N; i++) {
        npmd_points_row(pts, (size_t)i, back);
        for (int c = 0; c < 3; c++)
            check_quiet("position", fabs(back[c] - x[3 * i + c]), 1e-13 * RADIUS);
    }
    npmd_points_free(pts);
    pts = NULL;
    for (int c = 0; c < 3; c++) /* ten per cent above the surface, that is 0.5 */
        x[3 * 41 + c] *= 1.1;
    assert_int_equal(points_from(x, N, dom, &pts, &err), NPMD_ERR_FORMAT);
    assert_null(pts);
    assert_says(&err, "row 42");
    assert_says(&err, "`max-distance`");
    must(npmd_domain_within(dom, 1.0, &near, &err), &err);
    must(points_from(x, N, near, &pts, &err), &err);
    npmd_points_row(pts, 41, back);
    check_below("pulled back to the surface", sqrt(back[0] * back[0] + back[1] * back[1] + back[2] * back[2]), RADIUS);
    npmd_points_free(pts);
    npmd_domain_free(near);
    pts = NULL;
    near = NULL;
    must(npmd_domain_within(dom, INFINITY, &near, &err), &err);
    x[0] = 1e6;
    must(points_from(x, N, near, &pts, &err), &err);
    npmd_points_free(pts);
    pts = NULL;
    x[0] = NAN;
    assert_int_equal(points_from(x, N, near, &pts, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "not finite");
    npmd_domain_free(near);
    near = NULL;
    assert_int_equal(npmd_domain_within(dom, 0.0, &near, &err), NPMD_ERR_ARGUMENT);
    npmd_domain *sphere = NULL;
    must(npmd_domain_parse("S2", &sphere, &err), &err);
    assert_int_equal(npmd_domain_within(sphere, 1.0, &near, &err), NPMD_ERR_ARGUMENT);
    npmd_domain_free(sphere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_those_of_the_mesh),
        cmocka_unit_test(eigenvalues_are_those_of_the_sphere),
        cmocka_unit_test(degrees_span_those_of_the_sphere),
        cmocka_unit_test(eigenfunctions_are_orthonormal),
        cmocka_unit_test(derivatives_are_differences),
        cmocka_unit_test(the_map_is_a_bijection),
        cmocka_unit_test(uniform_points_cover_the_area),
        cmocka_unit_test(importance_points_are_unbiased),
        cmocka_unit_test(near_points_stay_near),
        cmocka_unit_test(the_rule_is_exact_for_eigenfunctions),
        cmocka_unit_test(domains_are_spelt),
        cmocka_unit_test(points_are_positions),
    };
    return cmocka_run_group_tests(tests, stage_make, stage_remove);
}
