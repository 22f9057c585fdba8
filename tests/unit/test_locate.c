/* test_locate.c - the closest point of a surface against a search through all faces, in higher precision; areas on a
 * registered sphere against solid angles. */
#include "icosphere.h"
#include "shapes.h"

/* ---- The distance of a point from a triangle, in long double: the least over its interior, edges and corners ----- */

typedef long double real;

static real along(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static real square_at(real x[3][3], const real *p, real a, real b, real c)
{
    real away[3];
    for (int i = 0; i < 3; i++)
        away[i] = p[i] - a * x[0][i] - b * x[1][i] - c * x[2][i];
    return along(away, away);
}

/* The normal equations of the foot, which the library does not use. */
static double distance_from(const mesh *m, size_t face, const double *point)
{
    real x[3][3], p[3], e[2][3], d[3], w[3], best = INFINITY;
    for (int i = 0; i < 3; i++) {
        p[i] = point[i];
        for (int k = 0; k < 3; k++)
            x[k][i] = m->x[3 * (size_t)m->face[3 * face + (size_t)k] + (size_t)i];
        e[0][i] = x[1][i] - x[0][i];
        e[1][i] = x[2][i] - x[0][i];
        d[i] = p[i] - x[0][i];
    }
    const real aa = along(e[0], e[0]), ab = along(e[0], e[1]), bb = along(e[1], e[1]), pa = along(d, e[0]),
               pb = along(d, e[1]), det = aa * bb - ab * ab;
    w[1] = (bb * pa - ab * pb) / det;
    w[2] = (aa * pb - ab * pa) / det;
    w[0] = 1 - w[1] - w[2];
    if (w[0] >= 0 && w[1] >= 0 && w[2] >= 0)
        best = square_at(x, p, w[0], w[1], w[2]);
    for (int k = 0; k < 3; k++) { /* each edge, its ends among its points */
        const int next = (k + 1) % 3;
        real share = 0, length = 0, weight[3] = { 0 };
        for (int i = 0; i < 3; i++) {
            share += (p[i] - x[k][i]) * (x[next][i] - x[k][i]);
            length += (x[next][i] - x[k][i]) * (x[next][i] - x[k][i]);
        }
        share = share < 0 ? 0 : share > length ? 1 : share / length;
        weight[k] = 1 - share;
        weight[next] = share;
        const real found = square_at(x, p, weight[0], weight[1], weight[2]);
        best = found < best ? found : best;
    }
    return (double)sqrtl(best);
}

static double distance_of_all(const mesh *m, const double *p)
{
    double best = INFINITY;
    for (size_t f = 0; f < m->faces; f++)
        best = fmin(best, distance_from(m, f, p));
    return best;
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

static locator *opened(const mesh *m)
{
    locator *l = NULL;
    npmd_error err = { 0 };
    must(locator_open(m, &l, &err), &err);
    return l;
}

/* Rounding of a point on a face of size 1, seen from afar: a few units in the last place of the larger of the two. */
static void check_point(const mesh *m, const locator *l, const double *p)
{
    surface_point at = { 0 };
    double x[3], away = 0.0;
    const double found = locator_nearest(l, p, &at), expected = distance_of_all(m, p),
                 bound = 16.0 * DBL_EPSILON * (2.0 + expected);
    assert_true(at.face < m->faces);
    assert_true(at.u >= 0.0 && at.v >= 0.0 && at.u + at.v <= 1.0 + DBL_EPSILON);
    check_quiet("distance", fabs(found - expected), bound);
    mesh_point(m, at.face, at.u, at.v, x);
    for (int k = 0; k < 3; k++)
        away += (x[k] - p[k]) * (x[k] - p[k]);
    check_quiet("distance of the point given", fabs(sqrt(away) - expected), bound);
}

static void random_points(void **state)
{
    (void)state;
    mesh m = { 0 };
    uint64_t seed = 5;
    shape_bumpy(3, &m); /* 1,280 faces */
    locator *l = opened(&m);
    static const double REACH[] = { 0.3, 1.0, 1.5, 10.0, 1e6 }; /* inside, about, outside, far away */
    for (size_t r = 0; r < sizeof REACH / sizeof *REACH; r++)
        for (int i = 0; i < 800; i++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = REACH[r] * (2.0 * test_uniform(&seed) - 1.0);
            check_point(&m, l, p);
        }
    for (int i = 0; i < 800; i++) { /* close to the surface */
        double p[3];
        const double u = test_uniform(&seed), v = test_uniform(&seed) * (1.0 - u);
        mesh_point(&m, (size_t)(test_uniform(&seed) * (double)m.faces), u, v, p);
        for (int k = 0; k < 3; k++)
            p[k] += 1e-3 * test_normal(&seed);
        check_point(&m, l, p);
    }
    locator_close(l);
    mesh_free(&m);
}

static size_t first_face_of(const mesh *m, int32_t a, int32_t b)
{
    for (size_t f = 0; f < m->faces; f++) {
        int have = 0;
        for (size_t k = 0; k < 3; k++)
            have += m->face[3 * f + k] == a || m->face[3 * f + k] == b;
        if (have == (a == b ? 1 : 2))
            return f;
    }
    return m->faces;
}

/* On a vertex, and out from a vertex of a convex surface, all faces about it are equally close, to the last bit: the
 * first of them is given. */
static void vertices_are_ties(void **state)
{
    (void)state;
    mesh m = { 0 };
    shape_icosphere(3, &m);
    locator *l = opened(&m);
    for (size_t i = 0; i < m.vertices; i++)
        for (int out = 0; out < 2; out++) {
            surface_point at = { 0 };
            double p[3], x[3];
            for (size_t k = 0; k < 3; k++)
                p[k] = (out ? 1.75 : 1.0) * m.x[3 * i + k];
            const double d = locator_nearest(l, p, &at);
            assert_int_equal(at.face, first_face_of(&m, (int32_t)i, (int32_t)i));
            check_quiet("distance", fabs(d - (out ? 0.75 : 0.0)), 4.0 * DBL_EPSILON);
            mesh_point(&m, at.face, at.u, at.v, x);
            for (size_t k = 0; k < 3; k++)
                check_quiet("the vertex", fabs(x[k] - m.x[3 * i + k]), 2.0 * DBL_EPSILON);
        }
    locator_close(l);
    mesh_free(&m);
}

/* Out from the middle of an edge of the octahedron both faces are equally close. */
static void edges_are_ties(void **state)
{
    (void)state;
    mesh m = { 0 };
    shape_octahedron(&m);
    locator *l = opened(&m);
    for (int32_t a = 0; a < 6; a++)
        for (int32_t b = 0; b < 6; b++) {
            surface_point at = { 0 };
            double p[3];
            if (a == b || (a + 3) % 6 == b)
                continue; /* no edge */
            for (int k = 0; k < 3; k++)
                p[k] = 0.9 * m.x[3 * a + k] + 0.7 * m.x[3 * b + k];
            const double d = locator_nearest(l, p, &at);
            assert_int_equal(at.face, first_face_of(&m, a, b));
            check_quiet("distance", fabs(d - 0.6 / sqrt(2.0)), 4.0 * DBL_EPSILON); /* (0.9 + 0.7 - 1) / sqrt 2 */
        }
    locator_close(l);
    mesh_free(&m);
}

/* One face; and one that is all but a line. */
static void few_faces(void **state)
{
    (void)state;
    static const double X[2][9] = { { 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { 0, 0, 0, 1, 0, 0, 0.5, 1e-9, 0 } };
    static const int32_t FACE[3] = { 0, 1, 2 };
    uint64_t seed = 9;
    for (int which = 0; which < 2; which++) {
        mesh m = { 0 };
        shape_of(X[which], 3, FACE, 1, &m);
        locator *l = opened(&m);
        for (int i = 0; i < 500; i++) {
            const double p[3] = { 3.0 * test_uniform(&seed) - 1.0, 3.0 * test_uniform(&seed) - 1.0,
                                  test_uniform(&seed) - 0.5 };
            check_point(&m, l, p);
        }
        locator_close(l);
        mesh_free(&m);
    }
}

/* ---- A surface and its sphere ------------------------------------------------------------------------------------ */

/* The solid angle of a triangle (van Oosterom and Strackee 1983). */
static double solid_angle(const double *a, const double *b, const double *c)
{
    const double A = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), B = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]),
                 C = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]), ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
                 ac = a[0] * c[0] + a[1] * c[1] + a[2] * c[2], bc = b[0] * c[0] + b[1] * c[1] + b[2] * c[2],
                 triple = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                          + a[2] * (b[0] * c[1] - b[1] * c[0]);
    return 2.0 * atan2(fabs(triple), A * B * C + ab * C + ac * B + bc * A);
}

/* On every face of the surface the integral of exp(log area) is the solid angle of the sphere's face. The rule of three
 * inner points is exact for squares; of (n . x) / |q|^2 it leaves terms of fourth order in the face's width, 0.14^4 /
 * 12. */
static void areas_on_the_sphere(void **state)
{
    (void)state;
    icosphere round = icosphere_make(3);
    npmd_surface surface = { 0 }, sphere = { 0 };
    npmd_error err = { 0 };
    double worst = 0.0;
    shape_of(round.x, round.vertices, round.face, round.faces, &surface.m);
    for (size_t i = 0; i < 3 * round.vertices; i++)
        round.x[i] *= 100.0;
    shape_of(round.x, round.vertices, round.face, round.faces, &sphere.m);
    for (size_t i = 0; i < surface.m.vertices; i++) {
        double *x = surface.m.x + 3 * i;
        const double swell = 1.0 + 0.3 * sin(4.0 * x[2] + x[0]);
        x[0] *= 2.0 * swell, x[1] *= swell, x[2] *= 1.5 * swell;
    }
    for (size_t f = 0; f < round.faces; f++) {
        double x[9], out[3], area, angle;
        const double *corner[2][3];
        for (int k = 0; k < 3; k++) {
            corner[0][k] = sphere.m.x + 3 * (size_t)round.face[3 * f + (size_t)k];
            corner[1][k] = surface.m.x + 3 * (size_t)round.face[3 * f + (size_t)k];
        }
        for (int k = 0; k < 3; k++) {
            double r = 0.0;
            for (int i = 0; i < 3; i++) {
                x[3 * k + i] = (corner[0][0][i] + corner[0][1][i] + corner[0][2][i] + 3.0 * corner[0][k][i]) / 6.0;
                r += x[3 * k + i] * x[3 * k + i];
            }
            for (int i = 0; i < 3; i++)
                x[3 * k + i] /= sqrt(r);
        }
        assert_int_equal(npmd_surface_log_area(&surface, &sphere, x, 3, out, &err), NPMD_OK);
        const double u[3] = { corner[1][1][0] - corner[1][0][0], corner[1][1][1] - corner[1][0][1],
                              corner[1][1][2] - corner[1][0][2] },
                     v[3] = { corner[1][2][0] - corner[1][0][0], corner[1][2][1] - corner[1][0][1],
                              corner[1][2][2] - corner[1][0][2] };
        area = 0.5
               * sqrt(pow(u[1] * v[2] - u[2] * v[1], 2) + pow(u[2] * v[0] - u[0] * v[2], 2)
                      + pow(u[0] * v[1] - u[1] * v[0], 2));
        angle = solid_angle(corner[0][0], corner[0][1], corner[0][2]);
        worst = fmax(worst, fabs(area / 3.0 * (exp(out[0]) + exp(out[1]) + exp(out[2])) / angle - 1.0));
    }
    check_below("area on a registered sphere against solid angles, relative", worst, 3.2e-5);
    surface.m.face[0] ^= 1;
    assert_int_equal(npmd_surface_log_area(&surface, &sphere, NULL, 0, NULL, &err), NPMD_ERR_SHAPE);
    surface.m.face[0] ^= 1;
    assert_int_equal(npmd_surface_log_area(&sphere, &surface, NULL, 0, NULL, &err), NPMD_ERR_FORMAT);
    mesh_free(&surface.m);
    mesh_free(&sphere.m);
    icosphere_free(&round);
}

/* A sphere so coarse that the closest face often is not the one on the ray: a tetrahedron with one corner drawn out,
 * all on the unit sphere. The log area is log((n . x) / t^2) of the face on the ray, as the surface is the sphere
 * itself. */
static void areas_on_a_coarse_sphere(void **state)
{
    (void)state;
    static const int32_t FACE[] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    const double x[] = { 0, 0, 1, sin(1.3), 0, cos(1.3), -0.6, 0.7, -sqrt(0.15), -0.6, -0.7, -sqrt(0.15) };
    npmd_surface s = { 0 };
    npmd_error err = { 0 };
    uint64_t seed = 4;
    double worst = 0.0;
    shape_of(x, 4, FACE, 4, &s.m);
    for (int i = 0; i < 2000; i++) {
        double p[3], out = 0.0, found = NAN;
        test_unit_vector(&seed, p);
        assert_int_equal(npmd_surface_log_area(&s, &s, p, 1, &out, &err), NPMD_OK);
        for (int f = 0; f < 4; f++) { /* x = sum of w_k corner_k with w >= 0 on one face */
            const double *a = x + 3 * FACE[3 * f], *b = x + 3 * FACE[3 * f + 1], *c = x + 3 * FACE[3 * f + 2];
            double n[3], w[3], e[2][3];
            for (int k = 0; k < 3; k++)
                e[0][k] = b[k] - a[k], e[1][k] = c[k] - a[k];
            const double *corner[3] = { a, b, c };
            for (int k = 0; k < 3; k++) {
                const double *u = corner[(k + 1) % 3], *v = corner[(k + 2) % 3];
                n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
                w[k] = p[0] * (u[1] * v[2] - u[2] * v[1]) + p[1] * (u[2] * v[0] - u[0] * v[2])
                       + p[2] * (u[0] * v[1] - u[1] * v[0]);
            }
            const double side = a[0] * n[0] + a[1] * n[1] + a[2] * n[2],
                         length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]),
                         ahead = p[0] * n[0] + p[1] * n[1] + p[2] * n[2], t = side / ahead;
            if (side * w[0] >= 0 && side * w[1] >= 0 && side * w[2] >= 0 && t > 0)
                found = log(fabs(ahead) / length / (t * t));
        }
        worst = fmax(worst, fabs(out - found));
    }
    check_below("log area on a coarse sphere", worst, 1e-12);
    mesh_free(&s.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_points),       cmocka_unit_test(vertices_are_ties),
        cmocka_unit_test(edges_are_ties),      cmocka_unit_test(few_faces),
        cmocka_unit_test(areas_on_the_sphere), cmocka_unit_test(areas_on_a_coarse_sphere),
    };
    return cmocka_run_group_tests_name("locate", tests, NULL, NULL);
}
