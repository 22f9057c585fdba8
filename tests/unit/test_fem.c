/* test_fem.c - finite elements against integrals and eigenvalues that are known, and what is kept of them in files.
 *
 * Bounds on rounding: a sum of n terms of size s is within n eps s. */
#include "shapes.h"

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

typedef struct assembled {
    mesh m;
    fem_nodes at;
    fem_matrices a;
} assembled;

static void assemble(assembled *s, int elements) /* of s->m */
{
    npmd_error err = { 0 };
    must(fem_nodes_make(&s->m, elements, &s->at, &err), &err);
    must(fem_assemble(&s->m, &s->at, &s->a, &err), &err);
}

static void assembled_free(assembled *s)
{
    fem_matrices_free(&s->a);
    fem_nodes_free(&s->at);
    mesh_free(&s->m);
}

static double entry_of(const fem_matrices *a, const double *entry, int i, int j)
{
    for (int32_t c = a->start[i]; c < a->start[i + 1]; c++)
        if (a->column[c] == j)
            return entry[c];
    return NAN;
}

/* x' A y */
static double form(const fem_matrices *a, const double *entry, const double *x, const double *y)
{
    double sum = 0.0, *ay = doubles(a->nodes);
    fem_apply(a, entry, y, ay);
    for (size_t i = 0; i < a->nodes; i++)
        sum += x[i] * ay[i];
    free(ay);
    return sum;
}

/* The corners (0, 0), (1, 0), (0, 1):  grad l = (-1, -1), (1, 0), (0, 1), area 1/2. */
static void right_triangle(assembled *s, int elements)
{
    static const double X[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    static const int32_t FACE[3] = { 0, 1, 2 };
    shape_of(X, 3, FACE, 1, &s->m);
    assemble(s, elements);
}

static void linear_on_one_triangle(void **state)
{
    (void)state;
    static const double K[3][3] = { { 1.0, -0.5, -0.5 }, { -0.5, 0.5, 0.0 }, { -0.5, 0.0, 0.5 } };
    assembled s = { 0 };
    right_triangle(&s, 1);
    assert_int_equal(s.a.nodes, 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            check_quiet("stiffness", fabs(entry_of(&s.a, s.a.stiffness, i, j) - K[i][j]), 4.0 * DBL_EPSILON);
            check_quiet("mass", fabs(entry_of(&s.a, s.a.mass, i, j) - (i == j ? 2.0 : 1.0) / 24.0), DBL_EPSILON);
        }
    assembled_free(&s);
}

/* Against Gauss quadrature: the map (p, q) -> (p, (1 - p) q) takes the square to the triangle, and 4 nodes a side are
 * exact for degree 7, more than the 4 + 1 that mass and the map have. */
static void quadratic_on_one_triangle(void **state)
{
    (void)state;
    assembled s = { 0 };
    double node[4], weight[4], K[6][6] = { { 0 } }, M[6][6] = { { 0 } };
    right_triangle(&s, 2);
    assert_int_equal(s.a.nodes, 6);
    gauss_legendre(4, node, weight);
    for (int q = 0; q < 16; q++) {
        const double x = 0.5 + 0.5 * node[q / 4], y = (1.0 - x) * (0.5 + 0.5 * node[q % 4]);
        const double w = 0.25 * weight[q / 4] * weight[q % 4] * (1.0 - x), l[3] = { 1.0 - x - y, x, y };
        static const double G[3][2] = { { -1, -1 }, { 1, 0 }, { 0, 1 } };
        double value[6], slope[6][2];
        for (int i = 0; i < 3; i++) {
            const int next = (i + 1) % 3;
            value[i] = l[i] * (2.0 * l[i] - 1.0);
            value[3 + i] = 4.0 * l[i] * l[next];
            for (int d = 0; d < 2; d++) {
                slope[i][d] = (4.0 * l[i] - 1.0) * G[i][d];
                slope[3 + i][d] = 4.0 * (l[i] * G[next][d] + l[next] * G[i][d]);
            }
        }
        for (int i = 0; i < 36; i++) {
            K[i / 6][i % 6] += w * (slope[i / 6][0] * slope[i % 6][0] + slope[i / 6][1] * slope[i % 6][1]);
            M[i / 6][i % 6] += w * value[i / 6] * value[i % 6];
        }
    }
    for (int i = 0; i < 36; i++) {
        const int a = s.at.node[i / 6], b = s.at.node[i % 6];
        /* 16 terms of size up to 16 / 3 */
        check_quiet("stiffness", fabs(entry_of(&s.a, s.a.stiffness, a, b) - K[i / 6][i % 6]), 100.0 * DBL_EPSILON);
        check_quiet("mass", fabs(entry_of(&s.a, s.a.mass, a, b) - M[i / 6][i % 6]), 10.0 * DBL_EPSILON);
    }
    for (int i = 0; i < 6; i++) { /* the integral of a basis function: none at a corner, a third of the area */
        double sum = 0.0;
        for (int j = 0; j < 6; j++)
            sum += entry_of(&s.a, s.a.mass, i, j);
        check_quiet("row of the mass", fabs(sum - (i < 3 ? 0.0 : 0.5 / 3.0)), 4.0 * DBL_EPSILON);
    }
    assembled_free(&s);
}

/* K 1 = 0 and 1' M 1 = area, on a surface without symmetry; both matrices are symmetric to the last bit. */
static void constants(void **state)
{
    (void)state;
    for (int elements = 1; elements <= 2; elements++) {
        assembled s = { 0 };
        shape_bumpy(3, &s.m);
        assemble(&s, elements);
        const size_t n = s.a.nodes;
        double *one = doubles(n), *k_one = doubles(n), worst = 0.0;
        assert_int_equal(n, elements == 1 ? 642 : 642 + 1920);
        for (size_t i = 0; i < n; i++)
            one[i] = 1.0;
        fem_apply(&s.a, s.a.stiffness, one, k_one);
        for (size_t i = 0; i < n; i++) {
            worst = fmax(worst, fabs(k_one[i]));
            for (int32_t c = s.a.start[i]; c < s.a.start[i + 1]; c++) {
                assert_true(c == s.a.start[i] || s.a.column[c - 1] < s.a.column[c]);
                assert_true(s.a.stiffness[c] == entry_of(&s.a, s.a.stiffness, s.a.column[c], (int)i));
                assert_true(s.a.mass[c] == entry_of(&s.a, s.a.mass, s.a.column[c], (int)i));
            }
        }
        check_below("K 1", worst, 30.0 * 10.0 * DBL_EPSILON); /* up to 30 entries of size up to 10 */
        check_below("1' M 1 / area - 1", fabs(form(&s.a, s.a.mass, one, one) / s.m.area - 1.0),
                    (double)n * DBL_EPSILON);
        free(one);
        free(k_one);
        assembled_free(&s);
    }
}

static void polynomial(const assembled *s, int p, int q, double *u) /* x^p y^q at the nodes */
{
    for (size_t f = 0; f < s->m.faces; f++)
        for (int k = 0; k < s->at.corners; k++) {
            const int32_t *v = s->m.face + 3 * f;
            const double *a = s->m.x + 3 * v[k % 3], *b = s->m.x + 3 * v[k < 3 ? k : (k + 1) % 3];
            u[s->at.node[f * (size_t)s->at.corners + (size_t)k]] = pow(0.5 * (a[0] + b[0]), p)
                                                                   * pow(0.5 * (a[1] + b[1]), q);
        }
}

/* Of polynomials that the elements hold, energy and square are exact on the unit square:
 * integral of |grad x^p y^q|^2 = p^2 / ((2p-1)(2q+1)) + q^2 / ((2p+1)(2q-1)),  of x^2p y^2q = 1 / ((2p+1)(2q+1)). */
static void polynomials_on_a_square(void **state)
{
    (void)state;
    for (int elements = 1; elements <= 2; elements++) {
        assembled s = { 0 };
        shape_square(5, &s.m);
        assemble(&s, elements);
        double *u = doubles(s.a.nodes);
        for (int p = 0; p <= elements; p++)
            for (int q = 0; p + q <= elements; q++) {
                const double energy = (p ? p * p / ((2.0 * p - 1.0) * (2.0 * q + 1.0)) : 0.0)
                                      + (q ? q * q / ((2.0 * p + 1.0) * (2.0 * q - 1.0)) : 0.0),
                             square = 1.0 / ((2.0 * p + 1.0) * (2.0 * q + 1.0));
                polynomial(&s, p, q, u);
                check_quiet("energy", fabs(form(&s.a, s.a.stiffness, u, u) - energy), 1e4 * DBL_EPSILON);
                check_quiet("square", fabs(form(&s.a, s.a.mass, u, u) - square), 1e3 * DBL_EPSILON);
            }
        free(u);
        assembled_free(&s);
    }
}

static void no_area(void **state)
{
    (void)state;
    static const double X[12] = { 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0 };
    static const int32_t LINE[6] = { 0, 1, 3, 0, 1, 2 };
    assembled s = { 0 };
    npmd_error err = { 0 };
    shape_of(X, 4, LINE, 2, &s.m);
    must(fem_nodes_make(&s.m, 1, &s.at, &err), &err);
    assert_int_equal(fem_assemble(&s.m, &s.at, &s.a, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "has no area");
    assert_int_equal(fem_nodes_make(&s.m, 3, &s.at, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "1 or 2 was expected");
    assembled_free(&s);
    shape_of(X, 4, LINE, 1, &s.m);
    must(fem_nodes_make(&s.m, 1, &s.at, &err), &err);
    assert_int_equal(fem_assemble(&s.m, &s.at, &s.a, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "belongs to no face");
    assembled_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_on_one_triangle),
        cmocka_unit_test(quadratic_on_one_triangle),
        cmocka_unit_test(constants),
        cmocka_unit_test(polynomials_on_a_square),
        cmocka_unit_test(no_area),
    };
    return cmocka_run_group_tests_name("fem", tests, NULL, NULL);
}
