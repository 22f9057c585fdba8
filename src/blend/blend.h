/* blend.h - blends of several fits: the members of an ensemble, the parts of a stack. */
#ifndef NPMD_BLEND_H
#define NPMD_BLEND_H

#include "field_fit.h"

extern const estimator ESTIMATOR_LOG_MEAN, ESTIMATOR_MIXTURE; /* ensembles of any estimator */
extern const estimator ESTIMATOR_STACK, ESTIMATOR_AUTO;

/* Draws from a mixture. */
npmd_status blend_draw(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x,
                       npmd_error *err);
npmd_status blend_load(npmd_model *m, const record *rec, const char *path, npmd_error *err);
npmd_status blend_describe(const npmd_model *m, json_t *into, npmd_error *err);

#endif
