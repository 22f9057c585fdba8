/* fuzz_models.h - a model from any bytes, and points on its domain. */
#ifndef NPMD_FUZZ_MODELS_H
#define NPMD_FUZZ_MODELS_H

#include "fuzz.h"

/* NULL: the bytes are no model, and a sentence says so. */
static inline npmd_model *fuzz_model(const uint8_t *data, size_t size)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    size_t whole = 0;
    uint8_t *bytes = fuzz_record_bytes(data, size, &whole);
    const npmd_status st = npmd_model_unpack((const char *)bytes, whole, &m, &err);
    free(bytes);
    PROMISE((st == NPMD_OK) == (m != NULL));
    PROMISE(st == NPMD_OK || (err.text[0] != 0 && (st == NPMD_ERR_FORMAT || st == NPMD_ERR_MEMORY)));
    return m;
}

#define FUZZ_POINTS 5
/* Points anywhere, the same for all models of a domain. x (FUZZ_POINTS, columns) */
static inline npmd_points *fuzz_points(const npmd_domain *dom, double x[FUZZ_POINTS * 3 * NPMD_MAX_FACTORS])
{
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    double u[FUZZ_POINTS * 2 * NPMD_MAX_FACTORS];
    for (int k = 0; k < FUZZ_POINTS * 2 * NPMD_MAX_FACTORS; k++)
        u[k] = fmod(0.31 + 0.137 * k, 1.0);
    PROMISE(npmd_domain_uniform(dom, u, FUZZ_POINTS, x, &err) == NPMD_OK);
    PROMISE(npmd_points_from(x, FUZZ_POINTS, (size_t)npmd_domain_columns(dom), dom, NPMD_COORDS_DEFAULT, &pts, &err)
            == NPMD_OK);
    return pts;
}

/* A failure has its sentence; what went well has no NaN. */
static inline void fuzz_promise(npmd_status st, const npmd_error *err, const double *value, size_t n)
{
    PROMISE(st == NPMD_OK || err->text[0] != 0);
    for (size_t i = 0; st == NPMD_OK && i < n; i++)
        PROMISE(!isnan(value[i]));
}

#endif
