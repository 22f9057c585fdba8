/* models.h - five small models, fitted once: T2 (products, weighted data), T3 (plane waves), S2, S2 x S1 (rotated
 * products) and T2 under the ridge law. They are trained for a few steps only: the tests hold for any parameters. */
#ifndef NPMD_TEST_MODELS_H
#define NPMD_TEST_MODELS_H

#include "model.h"
#include "place.h"

enum { MODELS = 5, ROTATED = 3, RIDGE = 4, POINTS = 240, PROBES = 40 };

typedef struct models {
    place at;
    npmd_domain *domain[MODELS];
    npmd_points *points[MODELS];
    npmd_model *model[MODELS];
    double total[MODELS]; /* sum of the weights */
} models;

extern const char *const MODEL_DOMAIN[MODELS];
extern const npmd_compute EXACT; /* the reference device */

int models_open(void **state); /* a group's setup and teardown */
int models_close(void **state);

/* Clustered points: half of them near one place. x (n, columns). */
void models_coordinates(const npmd_domain *dom, size_t n, uint64_t seed, double *x);
npmd_points *models_points(const npmd_domain *dom, size_t n, uint64_t seed);

void models_options(npmd_options *opt); /* the options of all five */
double *models_values(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how);
npmd_model *models_again(models *s, const npmd_model *m, const char *name); /* saved and loaded */

#endif
