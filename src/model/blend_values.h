/* blend_values.h - models made of models: a part of model.h, which includes it. */
#ifndef NPMD_BLEND_VALUES_H
#define NPMD_BLEND_VALUES_H

#include "model.h"

npmd_status blend_open(npmd_model *m, int parts, npmd_error *err); /* equal weights, parts still empty */
void blend_close(npmd_model *m);
npmd_status blend_log_mean(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
npmd_status blend_mixture(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
/* The value or jet, of this length, of log((exp a + exp b) / 2) from those of a and b; out may be a or b. */
void mixture_of_two(const double *a, const double *b, size_t length, double *out);
/* The parts of m, and their parts in turn, that have peaks (estimator.mean), or those that have none; m itself where it
 * is no mixture. Borrows them; weight: their weights in m. */
typedef struct blend_parts {
    const npmd_domain *domain;
    int parts;
    evaluator *part;
    double *weight;
} blend_parts;
npmd_status blend_leaves(const npmd_model *m, bool peaked, const npmd_compute *how, blend_parts *out, npmd_error *err);
void blend_leaves_close(blend_parts *p);
/* The log of their weighted sum. */
npmd_status blend_leaves_values(const blend_parts *p, const double *x, size_t n, double *out, npmd_error *err);
/* out (n): the standard deviation of the members' log densities. */
npmd_status blend_spread(const evaluator *e, const double *x, size_t n, double *out, npmd_error *err);
int blend_counted(const npmd_model *m); /* parts but those of weight 0 */
int blend_members(const npmd_model *m); /* members that were fitted alike; 1: there is no spread */
int blend_first(const npmd_model *m);   /* first member that counts for the spread */
/* Half the width of the interval about the estimate that holds the truth with 95 %, over the mass: from what each of the
 * rows of blend_replicates says of it, value (rows), stride apart. */
bool blend_has_band(const npmd_model *m);
bool blend_knows_bias(const npmd_model *m); /* is that of the smoothing in it? */
double blend_half_95(const npmd_model *m, const double *value, size_t stride);
/* out (n): that of the log density. */
npmd_status blend_band(const evaluator *e, const double *x, size_t n, double *out, npmd_error *err);
/* log_density (rows, n): of each member, then of a pair of fits, one with more smoothing and one with less, where there
 * are two rows more; relative to the uniform measure. */
int blend_rows(const npmd_model *m);
npmd_status blend_replicates(const evaluator *e, const double *x, size_t n, double *log_density, npmd_error *err);

#endif
