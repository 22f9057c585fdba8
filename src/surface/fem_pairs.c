/* fem_pairs.c - eigenpairs of a surface: solved, normalised, with residuals, and cached in a file.
 *
 * The file is a record eigen-HASH-ELEMENTS-PAIRS.safetensors: lambda (pairs), phi (nodes, pairs), residual (pairs), and
 * as metadata what they belong to and a hash of their bytes. A file that does not fit in any respect counts as
 * absent. */
#include "json.h"
#include "surface.h"

#include <stdio.h>

void eigenpairs_free(eigenpairs *e)
{
    fem_nodes_free(&e->at);
    memory_free_all(e->lambda, e->phi, e->residual);
    *e = (eigenpairs){ 0 };
}

/* ---- Solved ------------------------------------------------------------------------------------------------------ */

static double product(const double *x, const double *y, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* The largest entry is positive; of entries that are as large but for rounding, the first. */
static bool is_turned(const double *phi, size_t n)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(phi[i]));
    for (size_t i = 0; i < n; i++)
        if (fabs(phi[i]) >= (1.0 - 1e-6) * largest)
            return phi[i] < 0.0;
    return false;
}

/* phi' M phi = 1, and the sign; mass (nodes) becomes M phi. */
static void normalise(const fem_matrices *a, double *phi, double *mass)
{
    fem_apply(a, a->mass, phi, mass);
    const double scale = (is_turned(phi, a->nodes) ? -1.0 : 1.0) / sqrt(product(phi, mass, a->nodes));
    for (size_t i = 0; i < a->nodes; i++) {
        phi[i] *= scale;
        mass[i] *= scale;
    }
}

/* |K phi - lambda M phi|, |r|^2 = sum_i r_i^2 / M_ii: a norm that does not know the units or the size of the faces. */
static double residual_norm(const fem_matrices *a, double lambda, const double *phi, const double *mass,
                            double *stiffness)
{
    double sum = 0.0;
    fem_apply(a, a->stiffness, phi, stiffness);
    for (size_t i = 0; i < a->nodes; i++) {
        const double r = stiffness[i] - lambda * mass[i];
        for (int32_t c = a->start[i]; c < a->start[i + 1]; c++)
            if (a->column[c] == (int32_t)i)
                sum += r * r / a->mass[c];
    }
    return sqrt(sum);
}

/* From the solver's rows phi (pairs, nodes) to the columns of e, with their residuals. The lowest is known: constants,
 * with the eigenvalue 0. */
static npmd_status finish(const fem_matrices *a, double *phi, eigenpairs *e, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *mass = NULL, *stiffness = NULL;
    TRY(memory_new(&mass, a->nodes, err));
    TRY(memory_new(&stiffness, a->nodes, err));
    e->lambda[0] = 0.0;
    for (size_t i = 0; i < a->nodes; i++)
        phi[i] = 1.0;
    for (int j = 0; j < e->pairs; j++) {
        double *row = phi + (size_t)j * a->nodes;
        const double size = fmax(e->lambda[j], e->lambda[1]);
        normalise(a, row, mass);
        e->residual[j] = residual_norm(a, e->lambda[j], row, mass, stiffness) / size;
    }
    enum { TILE = 32 }; /* rows to columns, in squares that stay in cache */
    for (size_t from = 0; from < a->nodes; from += TILE)
        for (int j = 0; j < e->pairs; j++)
            for (size_t i = from; i < from + TILE && i < a->nodes; i++)
                e->phi[i * (size_t)e->pairs + (size_t)j] = phi[(size_t)j * a->nodes + i];
done:
    memory_free_all(mass, stiffness);
    return st;
}

static npmd_status pairs_check(int pairs, size_t nodes, npmd_error *err)
{
    if (pairs < 1 || (size_t)pairs > nodes)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "%d eigenpairs were asked for, 1 to %zu are there (one a node of the elements)", pairs, nodes);
    return NPMD_OK;
}

npmd_status fem_eigenpairs(const mesh *m, int elements, int pairs, const fem_watch *watch, eigenpairs *out,
                           npmd_error *err)
{
    npmd_status st = NPMD_OK;
    eigenpairs e = { .pairs = pairs };
    fem_matrices a = { 0 };
    double *phi = NULL;
    TRY(fem_nodes_make(m, elements, &e.at, err));
    TRY(pairs_check(pairs, e.at.nodes, err));
    TRY(fem_assemble(m, &e.at, &a, err));
    const int solved = pairs > 2 ? pairs : 2; /* residuals are measured by the second eigenvalue */
    TRY(memory_new(&e.lambda, solved, err));
    TRY(memory_new(&e.residual, pairs, err));
    TRY(memory_new(&phi, (size_t)solved * a.nodes, err));
    TRY(fem_solve(&a, solved, watch, e.lambda, phi, err));
    TRY(memory_new(&e.phi, (size_t)pairs * a.nodes, err));
    TRY(finish(&a, phi, &e, err));
    *out = e;
    e = (eigenpairs){ 0 };
done:
    memory_free(phi);
    fem_matrices_free(&a);
    eigenpairs_free(&e);
    return st;
}

/* ---- Kept -------------------------------------------------------------------------------------------------------- */

enum { CACHE_VERSION = 1 }; /* of the file's layout and of the solver: another number, another file */

static uint64_t pairs_hash(const eigenpairs *e)
{
    uint64_t h = hash_bytes(0, e->lambda, (size_t)e->pairs * sizeof *e->lambda);
    h = hash_bytes(h, e->phi, e->at.nodes * (size_t)e->pairs * sizeof *e->phi);
    return hash_bytes(h, e->residual, (size_t)e->pairs * sizeof *e->residual);
}

/* All that the pairs stand for, as text that is compared whole. */
static npmd_status facts_of(const mesh *m, const eigenpairs *e, char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char mesh_hash[24], data_hash[24];
    json_t *facts = json_object();
    snprintf(mesh_hash, sizeof mesh_hash, "%016llx", (unsigned long long)m->hash);
    snprintf(data_hash, sizeof data_hash, "%016llx", (unsigned long long)pairs_hash(e));
    TRY(json_put(facts, "kind", json_string("eigenpairs"), err));
    TRY(json_put(facts, "version", json_integer(CACHE_VERSION), err));
    TRY(json_put(facts, "elements", json_integer(e->at.elements), err));
    TRY(json_put(facts, "mesh", json_string(mesh_hash), err));
    TRY(json_put(facts, "vertices", json_integer((json_int_t)m->vertices), err));
    TRY(json_put(facts, "faces", json_integer((json_int_t)m->faces), err));
    TRY(json_put(facts, "pairs", json_integer(e->pairs), err));
    TRY(json_put(facts, "data", json_string(data_hash), err));
    TRY(json_to_text(facts, 0, out, err));
done:
    json_decref(facts);
    return st;
}

/* Sets *fits where the file holds these very pairs: the first columns of more would be other functions where an
 * eigenvalue is multiple, and a result must not depend on what lies in a folder. Only a failure of memory is one. */
static npmd_status cache_read(const char *path, const mesh *m, int pairs, eigenpairs *e, bool *fits, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    const tensor *lambda = NULL, *phi = NULL, *residual = NULL;
    char *facts = NULL;
    npmd_error unused = { 0 };
    *fits = false;
    const npmd_status read = record_read(path, &rec, &unused);
    if (read != NPMD_OK)
        return read == NPMD_ERR_MEMORY ? npmd_fail(err, read, "%s", unused.text) : NPMD_OK;
    if (record_find(&rec, path, "lambda", TENSOR_F64, 1, (const size_t[]){ 0 }, &lambda, &unused)
        || lambda->shape[0] != (size_t)pairs
        || record_find(&rec, path, "phi", TENSOR_F64, 2, (const size_t[]){ e->at.nodes, lambda->shape[0] }, &phi,
                       &unused)
        || record_find(&rec, path, "residual", TENSOR_F64, 1, lambda->shape, &residual, &unused))
        goto done;
    const eigenpairs held = { .at = e->at,
                              .pairs = (int)lambda->shape[0],
                              .lambda = lambda->data,
                              .phi = phi->data,
                              .residual = residual->data };
    TRY(facts_of(m, &held, &facts, err));
    if (rec.metadata == NULL || strcmp(rec.metadata, facts) != 0)
        goto done;
    TRY(memory_new(&e->lambda, pairs, err));
    TRY(memory_new(&e->residual, pairs, err));
    TRY(memory_new(&e->phi, e->at.nodes * (size_t)pairs, err));
    e->pairs = pairs;
    memcpy(e->lambda, held.lambda, (size_t)pairs * sizeof *e->lambda);
    memcpy(e->residual, held.residual, (size_t)pairs * sizeof *e->residual);
    memcpy(e->phi, held.phi, e->at.nodes * (size_t)pairs * sizeof *e->phi);
    *fits = true;
done:
    memory_free(facts);
    record_free(&rec);
    return st;
}

/* Pairs that were found are not lost for a disk that is full. */
static void cache_write(const char *path, const mesh *m, const eigenpairs *e)
{
    record rec = { 0 };
    const size_t pairs = (size_t)e->pairs;
    if (facts_of(m, e, &rec.metadata, NULL) == NPMD_OK
        && record_add(&rec, "lambda", TENSOR_F64, 1, (const size_t[]){ pairs }, e->lambda, NULL) == NPMD_OK
        && record_add(&rec, "phi", TENSOR_F64, 2, (const size_t[]){ e->at.nodes, pairs }, e->phi, NULL) == NPMD_OK
        && record_add(&rec, "residual", TENSOR_F64, 1, (const size_t[]){ pairs }, e->residual, NULL) == NPMD_OK)
        (void)record_write(path, &rec, NULL);
    record_free(&rec);
}

npmd_status eigenpairs_cached(const mesh *m, int elements, int pairs, const char *folder, const fem_watch *watch,
                              eigenpairs *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    eigenpairs e = { 0 };
    char *path = NULL;
    bool fits = false;
    if (folder == NULL)
        return fem_eigenpairs(m, elements, pairs, watch, out, err);
    const size_t room = strlen(folder) + 64;
    TRY(fem_nodes_make(m, elements, &e.at, err));
    TRY(pairs_check(pairs, e.at.nodes, err));
    TRY(memory_new(&path, room, err));
    snprintf(path, room, "%s/eigen-%016llx-%d-%d.safetensors", folder, (unsigned long long)m->hash, elements, pairs);
    TRY(cache_read(path, m, pairs, &e, &fits, err));
    if (!fits) {
        eigenpairs_free(&e);
        TRY(fem_eigenpairs(m, elements, pairs, watch, &e, err));
        cache_write(path, m, &e);
    }
    *out = e;
    e = (eigenpairs){ 0 };
done:
    memory_free(path);
    eigenpairs_free(&e);
    return st;
}
