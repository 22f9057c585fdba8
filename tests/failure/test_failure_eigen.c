/* test_failure_eigen.c - closest points and eigenpairs of surfaces without memory. What METIS, SuperLU and ARPACK
 * allocate for themselves is not of this test: see src/surface/fem_solve.c. */
#include "shapes.h"
#include "sweep.h"

enum { PAIRS = 5 };
static mesh small, large; /* 42 vertices, solved by a dense solver; 642, by Lanczos */
static char kept[64];     /* the file of small's eigenpairs */

static int shapes_open(void **state)
{
    shape_bumpy(1, &small);
    shape_bumpy(3, &large);
    snprintf(kept, sizeof kept, "eigen-%016llx-1-%d.safetensors", (unsigned long long)small.hash, PAIRS);
    return stage_open(state);
}

static int shapes_close(void **state)
{
    mesh_free(&small);
    mesh_free(&large);
    return stage_close(state);
}

static npmd_status take(npmd_status st, eigenpairs *e, outcome *o)
{
    if (st == NPMD_OK) {
        memcpy(o->value, e->lambda, PAIRS * sizeof *e->lambda);
        memcpy(o->value + PAIRS, e->phi, 100 * sizeof *e->phi);
    }
    eigenpairs_free(e);
    return st;
}

static npmd_status locate(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    locator *l = NULL;
    surface_point at = { 0 };
    const double p[3] = { 0.3, 0.5, -2.0 };
    const npmd_status st = locator_open(&large, &l, err);
    if (st == NPMD_OK)
        o->value[0] = locator_nearest(l, p, &at);
    locator_close(l);
    return st;
}

static npmd_status dense(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    eigenpairs e = { 0 };
    return take(fem_eigenpairs(&small, 2, PAIRS, NULL, &e, err), &e, o);
}

static npmd_status sparse(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    eigenpairs e = { 0 };
    return take(fem_eigenpairs(&large, 1, PAIRS, NULL, &e, err), &e, o);
}

static npmd_status through_a_file(stage *s, outcome *o, npmd_error *err)
{
    eigenpairs e = { 0 };
    return take(eigenpairs_cached(&small, 1, PAIRS, s->at.folder, NULL, &e, err), &e, o);
}

static void file_fits(stage *s, outcome *o)
{
    (void)o;
    npmd_error err = { 0 };
    eigenpairs e = { 0 };
    must(eigenpairs_cached(&small, 1, PAIRS, s->at.folder, NULL, &e, &err), &err);
    eigenpairs_free(&e);
}

static void file_does_not_fit(stage *s, outcome *o)
{
    (void)o;
    put_text(&s->at, kept, "something else");
}

static void memory_runs_out(void **state)
{
    static const operation LOCATE[] = { { "closest point", locate, NULL, NULL, false, false, false } };
    static const operation SOLVE[] = {
        { "eigenpairs, dense", dense, NULL, NULL, false, false, false },
        { "eigenpairs, Lanczos", sparse, NULL, NULL, false, false, false },
        { "eigenpairs read", through_a_file, file_fits, NULL, false, false, false },
        { "eigenpairs written", through_a_file, file_does_not_fit, NULL, false, true, false },
    };
    SWEEP_MEMORY(*state, LOCATE);
    if (FEM_SOLVES)
        SWEEP_MEMORY(*state, SOLVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_runs_out) };
    return cmocka_run_group_tests_name("failures of surfaces", tests, shapes_open, shapes_close);
}
