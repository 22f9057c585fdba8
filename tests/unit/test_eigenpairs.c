/* test_eigenpairs.c - eigenpairs of surfaces against those known by hand and against the sphere's, and the files that
 * keep them. */
#include "shapes.h"

#include <signal.h>
#include <sys/stat.h>

static int needs_solver(void **state)
{
    (void)state;
    if (!FEM_SOLVES)
        print_message("    built without ARPACK, SuperLU and METIS\n");
    return 0;
}
#define SOLVED_ONLY                                                                                                    \
    do {                                                                                                               \
        if (!FEM_SOLVES)                                                                                               \
            skip();                                                                                                    \
    } while (0)

static eigenpairs solved(const mesh *m, int elements, int pairs)
{
    eigenpairs e = { 0 };
    npmd_error err = { 0 };
    must(fem_eigenpairs(m, elements, pairs, NULL, &e, &err), &err);
    assert_int_equal(e.pairs, pairs);
    assert_int_equal(e.at.elements, elements);
    return e;
}

/* ---- Known by hand ----------------------------------------------------------------------------------------------- */

/* Regular, with edge a: the cotangents are 1 / sqrt 3 and faces have the area F = sqrt 3 / 4 a^2.
 * Tetrahedron: K = (4 I - J) / sqrt 3, M = F / 6 (2 I + J): beside 0 there is 16 / a^2, three times. */
static void tetrahedron(void **state)
{
    (void)state;
    SOLVED_ONLY;
    mesh m = { 0 };
    shape_tetrahedron(&m);
    eigenpairs e = solved(&m, 1, 4);
    assert_true(e.lambda[0] == 0.0);
    for (int j = 1; j < 4; j++) /* a^2 = 8; a dense solver of 4 rows: some 4 x 4 roundings */
        check_quiet("eigenvalue", fabs(e.lambda[j] / 2.0 - 1.0), 64.0 * DBL_EPSILON);
    for (int i = 0; i < 4; i++)
        check_quiet("the constant", fabs(e.phi[4 * i] - 1.0 / sqrt(m.area)), 8.0 * DBL_EPSILON);
    eigenpairs_free(&e);
    mesh_free(&m);
}

/* Octahedron, adjacency A with the eigenvalues 4, 0 (three times), -2 (twice): K = (4 - A) / sqrt 3,
 * M = F (2/3 + A/6): beside 0 there is 8 / a^2, three times, and 24 / a^2, twice. */
static void octahedron(void **state)
{
    (void)state;
    SOLVED_ONLY;
    static const double LAMBDA[6] = { 0.0, 4.0, 4.0, 4.0, 12.0, 12.0 }; /* a^2 = 2 */
    mesh m = { 0 };
    npmd_error err = { 0 };
    shape_octahedron(&m);
    eigenpairs e = solved(&m, 1, 6), kept = e;
    for (int j = 0; j < 6; j++)
        check_quiet("eigenvalue", fabs(e.lambda[j] - LAMBDA[j]), 12.0 * 64.0 * DBL_EPSILON);
    assert_int_equal(fem_eigenpairs(&m, 1, 7, NULL, &e, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "7 eigenpairs were asked for, 1 to 6 are there");
    assert_int_equal(fem_eigenpairs(&m, 2, 0, NULL, &e, &err), NPMD_ERR_ARGUMENT);
    assert_memory_equal(&e, &kept, sizeof e);
    eigenpairs_free(&e);
    e = solved(&m, 1, 1);
    assert_true(e.lambda[0] == 0.0);
    eigenpairs_free(&e);
    mesh_free(&m);
}

/* ---- The sphere -------------------------------------------------------------------------------------------------- */

/* The largest relative error of the 2 l + 1 eigenvalues of degree l; scaled: to area 4 pi. */
static double degree_error(int times, int elements, int l, bool scaled)
{
    mesh m = { 0 };
    double worst = 0.0;
    shape_icosphere(times, &m);
    eigenpairs e = solved(&m, elements, (l + 1) * (l + 1));
    for (int j = l * l; j < (l + 1) * (l + 1); j++) {
        const double value = e.lambda[j] * (scaled ? m.area / (4.0 * (double)CHECK_PI) : 1.0);
        worst = fmax(worst, fabs(value / (l * (l + 1.0)) - 1.0));
    }
    eigenpairs_free(&e);
    mesh_free(&m);
    return worst;
}

/* What linear elements do: on a plane grid of equilateral triangles of side h the symbols of K and M give lambda_h =
 * lambda (1 + lambda h^2 / 16 + ...), and the faces lack area: lambda_h is larger by 4 pi / area - 1, too. The longest
 * edge bounds h. */
static double linear_bound(int times, int l)
{
    mesh m = { 0 };
    double longest = 0.0;
    shape_icosphere(times, &m);
    for (size_t i = 0; i < 3 * m.faces; i++) {
        const double *a = m.x + 3 * m.face[i], *b = m.x + 3 * m.face[i / 3 * 3 + (i + 1) % 3];
        longest = fmax(longest,
                       (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
    }
    const double bound = l * (l + 1.0) * longest / 16.0 + 4.0 * (double)CHECK_PI / m.area - 1.0;
    mesh_free(&m);
    return bound;
}

/* From 642 to 2,562 vertices h halves. Errors of order h^2 fall by 4, but for terms that are smaller by lambda h^2 /
 * 16: 30 x 0.023 / 16. Quadratic elements on flat faces are off by the area that the faces lack, of order h^2; what is
 * left when that is scaled away is a tenth of it at most, and falls by 16 at most. */
static void orders(void **state)
{
    (void)state;
    SOLVED_ONLY;
    const double linear = degree_error(3, 1, 5, false), finer = degree_error(4, 1, 5, false),
                 quadratic = degree_error(3, 2, 5, false), finest = degree_error(4, 2, 5, false),
                 scaled = degree_error(4, 2, 5, true);
    print_message("    linear %.3e, %.3e; quadratic %.3e, %.3e; scaled %.3e\n", linear, finer, quadratic, finest,
                  scaled);
    check_below("linear, 2,562 vertices, degree 5", finer, linear_bound(4, 5));
    check_below("linear: quotient of errors - 4", fabs(linear / finer - 4.0), 4.0 * 30.0 * 0.023 / 16.0);
    check_below("quadratic, scaled / unscaled", scaled / finest, 0.1);
    check_below("quadratic: quotient of errors - 4", fabs(quadratic / finest - 4.0), 12.0 * scaled / finest);
}

/* Weyl: number j lies near lambda area / (4 pi). On the sphere it is off by at most l + 1 with l^2 <= j, to which the
 * elements add their error. */
static void weyl(void **state)
{
    (void)state;
    SOLVED_ONLY;
    mesh m = { 0 };
    shape_icosphere(4, &m);
    eigenpairs e = solved(&m, 1, 100);
    for (int j = 0; j < 100; j++) {
        const double count = e.lambda[j] * m.area / (4.0 * (double)CHECK_PI);
        check_quiet("count", fabs(count - j), floor(sqrt(j)) + 1.0 + 0.05 * j);
        assert_true(j == 0 || e.lambda[j] >= e.lambda[j - 1]);
    }
    eigenpairs_free(&e);
    mesh_free(&m);
}

/* ---- What holds of all ------------------------------------------------------------------------------------------- */

/* Orthonormal, small residuals, signs. The operator's rounding, eps times the largest eigenvalue of M^-1 K (about
 * 100 / h^2 = 1e4 here) over lambda_1, is 1e-12; a hundred times that is the bound. */
static void checks_of(const mesh *m, const eigenpairs *e)
{
    npmd_error err = { 0 };
    fem_matrices a = { 0 };
    double worst = 0.0, residual = 0.0;
    must(fem_assemble(m, &e->at, &a, &err), &err);
    double *phi = doubles(a.nodes), *mass = doubles(a.nodes);
    for (int j = 0; j < e->pairs; j++) {
        size_t top = 0;
        for (size_t i = 0; i < a.nodes; i++) {
            phi[i] = e->phi[i * (size_t)e->pairs + (size_t)j];
            if (fabs(phi[i]) > fabs(phi[top]) * (1.0 + 1e-5))
                top = i;
        }
        assert_true(phi[top] > 0.0);
        fem_apply(&a, a.mass, phi, mass);
        for (int other = 0; other <= j; other++) {
            double sum = other == j ? -1.0 : 0.0;
            for (size_t i = 0; i < a.nodes; i++)
                sum += mass[i] * e->phi[i * (size_t)e->pairs + (size_t)other];
            worst = fmax(worst, fabs(sum));
        }
        residual = fmax(residual, e->residual[j]);
    }
    check_below("phi' M phi - 1", worst, 1e-10);
    check_below("residuals", residual, 1e-10);
    free(phi);
    free(mass);
    fem_matrices_free(&a);
}

/* Two solvers: Lanczos for some of the pairs, a dense one where more than half are asked for. */
static void lanczos_against_dense(void **state)
{
    (void)state;
    SOLVED_ONLY;
    for (int shape = 0; shape < 2; shape++) {
        mesh m = { 0 };
        double worst = 0.0;
        if (shape == 0)
            shape_bumpy(3, &m);
        else
            shape_icosphere(3, &m); /* eigenvalues that come in threes, fours and fives */
        eigenpairs few = solved(&m, 1, 60), again = solved(&m, 1, 60), all = solved(&m, 1, 400);
        checks_of(&m, &few);
        checks_of(&m, &all);
        for (int j = 1; j < 60; j++)
            worst = fmax(worst, fabs(few.lambda[j] / all.lambda[j] - 1.0));
        check_below("eigenvalues, Lanczos against dense", worst, 1e-11);
        assert_memory_equal(few.lambda, again.lambda, 60 * sizeof *few.lambda);
        assert_memory_equal(few.phi, again.phi, 60 * m.vertices * sizeof *few.phi);
        eigenpairs_free(&few);
        eigenpairs_free(&again);
        eigenpairs_free(&all);
        mesh_free(&m);
    }
}

/* Two poles at height 1 and -1 and a ring of n at radius 1: in the graph that is put in order two nodes see all others.
 * On the ring cos k phi and sin k phi are eigenfunctions, zero at the poles; with t = 2 pi / n, c = cos t/2 and s = sin
 * t/2
 *   lambda_k = 6 (1 + (c / s)^2 (1 - cos k t)) / ((1 + c^2) (2 + cos k t)),
 * and the height has the lambda of k = 1. */
static void about_a_hub(void **state)
{
    (void)state;
    SOLVED_ONLY;
    enum { RING = 1500, DEGREES = 15 };
    const double t = 2.0 * NPMD_PI / RING, c = cos(0.5 * t), s = sin(0.5 * t);
    double x[3 * (RING + 2)] = { 0.0, 0.0, 1.0, 0.0, 0.0, -1.0 };
    int32_t face[6 * RING];
    mesh m = { 0 };
    for (int i = 0; i < RING; i++) {
        const int32_t a = 2 + i, b = 2 + (i + 1) % RING, two[6] = { 0, a, b, 1, b, a };
        x[3 * a] = cos(t * i);
        x[3 * a + 1] = sin(t * i);
        memcpy(face + 6 * i, two, sizeof two);
    }
    shape_of(x, RING + 2, face, 2 * RING, &m);
    eigenpairs e = solved(&m, 1, 2 * DEGREES + 10);
    for (int k = 1; k <= DEGREES; k++) {
        const double lambda = 6.0 * (1.0 + c * c / (s * s) * (1.0 - cos(k * t))) / ((1.0 + c * c) * (2.0 + cos(k * t)));
        int found = 0;
        for (int j = 0; j < e.pairs; j++) /* rounded entries move it by eps times the highest one, 6 / s^2 */
            found += fabs(e.lambda[j] - lambda) < 10.0 * DBL_EPSILON * 6.0 / (s * s);
        assert_int_equal(found, k == 1 ? 3 : 2);
    }
    eigenpairs_free(&e);
    mesh_free(&m);
}

static void ending(int number, siginfo_t *why, void *where)
{
    (void)number, (void)why, (void)where;
}

/* METIS seeds rand() and handles SIGTERM and SIGABRT while it runs: the caller's are afterwards as they were. */
static void caller_keeps_its_own(void **state)
{
    (void)state;
    SOLVED_ONLY;
    static const int SIGNAL[2] = { SIGABRT, SIGTERM };
    struct sigaction mine = { .sa_sigaction = ending, .sa_flags = SA_SIGINFO }, before[2], found;
    sigset_t mask;
    mesh m = { 0 };
    shape_bumpy(3, &m);
    srand(7);
    const int next = rand();
    for (int i = 0; i < 2; i++)
        sigaction(SIGNAL[i], &mine, &before[i]);
    srand(7);
    eigenpairs e = solved(&m, 1, 5);
    assert_int_equal(rand(), next);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (int i = 0; i < 2; i++) {
        sigaction(SIGNAL[i], &before[i], &found);
        assert_true(found.sa_sigaction == ending && (found.sa_flags & SA_SIGINFO) != 0);
        assert_false(sigismember(&mask, SIGNAL[i]));
    }
    eigenpairs_free(&e);
    mesh_free(&m);
}

static void quadratic_pairs(void **state)
{
    (void)state;
    SOLVED_ONLY;
    mesh m = { 0 };
    shape_bumpy(2, &m);
    eigenpairs e = solved(&m, 2, 40);
    assert_int_equal(e.at.nodes, 162 + 480);
    checks_of(&m, &e);
    eigenpairs_free(&e);
    mesh_free(&m);
}

static int stop_after(const npmd_report *now, void *user)
{
    assert_string_equal(now->doing, "eigenfunctions");
    assert_true(now->step <= now->steps);
    return now->step >= *(const int64_t *)user;
}

static void stopped(void **state)
{
    (void)state;
    SOLVED_ONLY;
    mesh m = { 0 };
    eigenpairs e = { 0 };
    npmd_error err = { 0 };
    int64_t most = 5;
    const fem_watch watch = { .progress = stop_after, .user = &most };
    shape_bumpy(3, &m);
    assert_int_equal(fem_eigenpairs(&m, 1, 40, &watch, &e, &err), NPMD_STOPPED);
    assert_null(e.phi);
    most = INT64_MAX;
    must(fem_eigenpairs(&m, 1, 40, &watch, &e, &err), &err);
    eigenpairs_free(&e);
    mesh_free(&m);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void same_pairs(const eigenpairs *a, const eigenpairs *b)
{
    assert_int_equal(a->pairs, b->pairs);
    assert_memory_equal(a->lambda, b->lambda, (size_t)a->pairs * sizeof *a->lambda);
    assert_memory_equal(a->residual, b->residual, (size_t)a->pairs * sizeof *a->residual);
    assert_memory_equal(a->phi, b->phi, a->at.nodes * (size_t)a->pairs * sizeof *a->phi);
}

static eigenpairs cached(const mesh *m, int pairs, const char *folder)
{
    eigenpairs e = { 0 };
    npmd_error err = { 0 };
    must(eigenpairs_cached(m, 1, pairs, folder, NULL, &e, &err), &err);
    return e;
}

static void kept_in_a_file(void **state)
{
    SOLVED_ONLY;
    place *p = *state;
    mesh m = { 0 };
    char name[64];
    size_t size = 0;
    shape_bumpy(1, &m); /* 42 vertices */
    snprintf(name, sizeof name, "eigen-%016llx-1-10.safetensors", (unsigned long long)m.hash);
    eigenpairs fresh = solved(&m, 1, 10), made = cached(&m, 10, p->folder), read = cached(&m, 10, p->folder),
               few = cached(&m, 6, p->folder), six = solved(&m, 1, 6), none = cached(&m, 10, NULL),
               lost = cached(&m, 10, "/nowhere/at/all");
    same_pairs(&fresh, &made);
    same_pairs(&fresh, &read);
    same_pairs(&fresh, &none);
    same_pairs(&fresh, &lost);
    same_pairs(&six, &few); /* not the first of ten: what lies in the folder changes nothing */
    const char *path = in_folder(p, name);
    unsigned char *bytes = get_bytes(path, &size);
    for (int flaw = 0; flaw < 4; flaw++) { /* a bit of phi, of the header; cut short; empty: all are made good */
        unsigned char *bad = malloc(size);
        assert_non_null(bad);
        memcpy(bad, bytes, size);
        bad[flaw == 0 ? size - 200 : 12] ^= 1;
        put_bytes(p, name, bad, flaw == 2 ? size / 2 : flaw == 3 ? 0 : size);
        eigenpairs again = cached(&m, 10, p->folder);
        same_pairs(&fresh, &again);
        size_t now = 0;
        unsigned char *rewritten = get_bytes(path, &now);
        assert_int_equal(now, size);
        assert_memory_equal(rewritten, bytes, size);
        free(rewritten);
        free(bad);
        eigenpairs_free(&again);
    }
    eigenpairs *all[] = { &fresh, &made, &read, &few, &six, &none, &lost };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        eigenpairs_free(all[i]);
    free(bytes);
    mesh_free(&m);
}

/* A file of another mesh under this one's name does not fit; without a solver that is said. */
static void file_of_another(void **state)
{
    SOLVED_ONLY;
    place *p = *state;
    mesh m = { 0 }, other = { 0 };
    char name[64];
    size_t size = 0;
    shape_bumpy(1, &m);
    shape_icosphere(1, &other);
    eigenpairs theirs = cached(&other, 10, p->folder), expected = solved(&m, 1, 10);
    snprintf(name, sizeof name, "eigen-%016llx-1-10.safetensors", (unsigned long long)other.hash);
    unsigned char *bytes = get_bytes(in_folder(p, name), &size);
    snprintf(name, sizeof name, "eigen-%016llx-1-10.safetensors", (unsigned long long)m.hash);
    put_bytes(p, name, bytes, size);
    eigenpairs found = cached(&m, 10, p->folder);
    same_pairs(&found, &expected);
    eigenpairs_free(&theirs);
    eigenpairs_free(&expected);
    eigenpairs_free(&found);
    free(bytes);
    mesh_free(&m);
    mesh_free(&other);
}

static void without_a_solver(void **state)
{
    (void)state;
    if (FEM_SOLVES)
        skip();
    mesh m = { 0 };
    eigenpairs e = { 0 };
    npmd_error err = { 0 };
    shape_octahedron(&m);
    assert_int_equal(fem_eigenpairs(&m, 1, 3, NULL, &e, &err), NPMD_ERR_DEVICE);
    assert_says(&err, "built without ARPACK, SuperLU and METIS");
    mesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tetrahedron, needs_solver),
        cmocka_unit_test(octahedron),
        cmocka_unit_test(orders),
        cmocka_unit_test(weyl),
        cmocka_unit_test(lanczos_against_dense),
        cmocka_unit_test(about_a_hub),
        cmocka_unit_test(caller_keeps_its_own),
        cmocka_unit_test(quadratic_pairs),
        cmocka_unit_test(stopped),
        cmocka_unit_test(kept_in_a_file),
        cmocka_unit_test(file_of_another),
        cmocka_unit_test(without_a_solver),
    };
    return cmocka_run_group_tests_name("eigenpairs", tests, place_make, place_remove);
}
