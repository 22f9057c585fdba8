/* surface_file.h - the surfaces of a model's domain in its file; model_file.c alone includes it. */
#ifndef NPMD_SURFACE_FILE_H
#define NPMD_SURFACE_FILE_H

#include "model.h"

typedef struct surface_shelf { /* the distinct surfaces of a file */
    const char *path;
    const manifold *surface[NPMD_MAX_FACTORS];
    int count;
} surface_shelf;
npmd_status surfaces_json(const npmd_model *m, json_t *into, npmd_error *err); /* adds "surfaces", if there are any */
/* Adds tensors: mesh, eigenvalues and eigenfunctions up to the highest frequency of the model or of a part. */
npmd_status surfaces_save(const npmd_model *m, record *rec, npmd_error *err);
npmd_status surfaces_load(const record *rec, const json_t *root, const char *path, surface_shelf *out, npmd_error *err);
void surfaces_close(surface_shelf *s);
npmd_status surfaces_find(void *shelf, const char *hash, const manifold **out, npmd_error *err);

#endif
