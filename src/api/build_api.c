/* build_api.c - public functions: facts of the build, files and texts. */
#include "api.h"

#include <stdio.h>

const char *npmd_status_text(npmd_status st)
{
    return status_text(st);
}

const char *npmd_version(void)
{
    return version_text();
}

void npmd_text_free(char *text)
{
    text_free(text);
}

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef _OPENMP
#define WITH_OPENMP 1
#else
#define WITH_OPENMP 0
#endif
#ifndef NPMD_WITH_CUDA /* the build says 1 */
#define NPMD_WITH_CUDA 0
#endif

npmd_status npmd_build_describe(char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = json_object(), *devices = NULL, *manifolds = NULL; /* the lists belong to the object */
    TRY(json_put(object, "version", json_string(npmd_version()), err));
    TRY(json_put(object, "compiler", json_string(COMPILER), err));
    TRY(json_put(object, "kernels", json_string(cpu_kernels_name()), err));
    TRY(json_put(object, "openmp", json_boolean(WITH_OPENMP), err));
    TRY(json_put(object, "cuda", json_boolean(NPMD_WITH_CUDA), err));
    TRY(json_put(object, "devices", devices = json_array(), err));
    TRY(json_append(devices, json_string("cpu"), err));
    TRY(json_append(devices, json_string("reference"), err));
    if (NPMD_WITH_CUDA)
        TRY(json_append(devices, json_string(BACKEND_CUDA.name), err));
    TRY(json_put(object, "manifolds", manifolds = json_array(), err));
    TRY(json_append(manifolds, json_string(CIRCLE.name), err));
    TRY(json_append(manifolds, json_string(SPHERE.name), err));
    TRY(json_to_text(object, JSON_INDENT(2), out, err));
done:
    json_decref(object);
    return st;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

npmd_status npmd_array_write(const char *path, const double *a, size_t rows, size_t cols, npmd_error *err)
{
    return table_write(path, a, rows, cols, err);
}

npmd_status npmd_array_check(const char *path, npmd_error *err)
{
    return table_output_check(path, err);
}

npmd_status npmd_output_check(const char *path, npmd_error *err)
{
    return file_output_check(path, err);
}

npmd_status npmd_output_claim(const char *path, npmd_claim **out, npmd_error *err)
{
    return file_claim_take(path, out, err);
}

void npmd_claim_free(npmd_claim *claim)
{
    file_claim_release(claim);
}

npmd_status npmd_text_write(const char *path, const char *text, npmd_error *err)
{
    return file_write(path, text, strlen(text), err);
}
