/* ask.h - what can be asked of a fitted model: draws, integrals over some factors, probabilities of regions, scores.
 *
 * Everything here uses a model through its values alone (model.h), whatever its estimator. */
#ifndef NPMD_ASK_H
#define NPMD_ASK_H

#include "model.h"

/* ---- sketch.c: where a model has its mass, and slices of it ------------------------------------------------------ */

/* Where a long computation reports before each piece of its work; the answer may be to stop. */
typedef struct asking {
    const npmd_compute *how; /* NULL, or without progress: no reports */
    const char *doing;
    double done; /* share of the work that is done, set by the computation */
} asking;
#define ASKING_PIECE 2048 /* points */
npmd_status asking_go_on(const asking *ask, npmd_error *err);
/* An evaluator that reports between pieces, as a values_fn. */
typedef struct asked_evaluator {
    const evaluator *of;
    const asking *ask;
} asked_evaluator;
npmd_status asked_values(void *self, const double *x, size_t n, double *v, npmd_error *err);

typedef struct slice { /* some factors fixed: a function on the product of the others */
    const npmd_model *model;
    evaluator of;
    unsigned given;    /* bit d: factor d is fixed */
    npmd_domain *rest; /* the product of the others */
    double x[DOMAIN_MAX_COLUMNS];
    double *room;
    const asking *ask; /* reports while values are computed */
} slice;
npmd_status slice_open(slice *s, const npmd_model *m, const npmd_compute *how, unsigned given, const asking *ask,
                       npmd_error *err);
void slice_close(slice *s);
/* Do the points lie on the product of these factors? */
npmd_status slice_check(const npmd_model *m, unsigned factors, const npmd_points *at, npmd_error *err);
/* given: the columns of the fixed factors, side by side */
void slice_fix(slice *s, const double *given);
/* x (n): whole points, from points y of the other factors */
void slice_rows(const slice *s, const double *y, size_t n, double *x);
npmd_status slice_values(void *self, const double *y, size_t n, double *v, npmd_error *err);
/* Copies the columns of these factors, side by side, from a whole point. */
void factors_gather(const npmd_domain *dom, unsigned factors, const double *row, double *packed);

#define SKETCH_SHARE 0.25 /* share of uniform points in its proposals; bounds the ratio far from all kernels */
typedef struct sketch {
    npmd_points *pool; /* points weighted by the model */
    double *cumulative;
    double effective; /* effective size of the pool over its number of points */
    double rho;       /* width of the kernels that suit the pool */
    int centres;      /* number of these kernels */
    int threads;
    uint64_t seed;
} sketch;
npmd_status sketch_open(sketch *k, const npmd_model *m, const npmd_compute *how, uint64_t seed, const asking *ask,
                        npmd_error *err);
void sketch_close(sketch *k);
/* A proposal for the slice as it is fixed now, on the product of its other factors. */
npmd_status sketch_proposal(const sketch *k, const slice *s, int centres, rng_key key, proposal *out, npmd_error *err);

/* ---- marginal.c: integrals over some factors, one for each point ------------------------------------------------- */

npmd_status model_marginal_at(const npmd_model *m, unsigned factors, const npmd_points *pts, npmd_what what,
                              double accuracy, uint64_t seed, const npmd_compute *how, double *out, double *log_se,
                              npmd_error *err);
npmd_status model_conditional_at(const npmd_model *m, unsigned given, const npmd_points *pts, npmd_what what,
                                 double accuracy, uint64_t seed, const npmd_compute *how, double *out, double *log_se,
                                 npmd_error *err);

/* ---- grid.c: values at all combinations of nodes ----------------------------------------------------------------- */

/* x[d] (n[d], columns of factor d) in the user's coordinates; out (n[0], n[1], ...). */
npmd_status model_evaluate_grid(const npmd_model *m, const double *const *x, const size_t *n, npmd_what what,
                                const npmd_compute *how, double *out, npmd_error *err);

/* ---- sample.c ---------------------------------------------------------------------------------------------------- */

/* n draws for each row of at, a point of the product of the given factors (given 0: at is ignored). Rows of x are in
 * the domain's coordinates, not the user's; facts may be NULL. */
npmd_status model_sample_given(const npmd_model *m, unsigned given, const npmd_points *at, uint64_t seed, size_t n,
                               const npmd_compute *how, double *x, npmd_sample_facts *facts, npmd_error *err);
npmd_status model_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                         npmd_error *err);

/* ---- probability.c, score.c -------------------------------------------------------------------------------------- */

npmd_status model_probability_near(const npmd_model *m, const npmd_points *centre, const double *radius,
                                   double accuracy, uint64_t seed, const npmd_compute *how, npmd_probability *out,
                                   npmd_error *err);
npmd_status model_score(const npmd_model *m, const npmd_points *pts, uint64_t seed, const npmd_compute *how,
                        npmd_score *out, npmd_error *err);
npmd_status model_compare(const npmd_model *m, const npmd_truth *t, npmd_grid grid, size_t points, uint64_t seed,
                          const npmd_compute *how, npmd_comparison *out, npmd_error *err);

/* ---- region.c, region_dense.c, region_nodes.c: densities on two surfaces, see the public header ------------------ */

int region_count(const npmd_labels *l);
const char *region_name(const npmd_labels *l, int region);
int region_find(const npmd_labels *l, const char *name);
size_t region_vertices(const npmd_labels *l, int region);
const char *region_what_name(int i);
npmd_status region_what_parse(const char *text, npmd_region_what *out, npmd_error *err);
npmd_status model_region_map(const npmd_model *m, const npmd_region_request *at, int factor, const int *region,
                             int regions, npmd_region_what what, double *out, npmd_region_facts *facts,
                             npmd_error *err);
npmd_status model_region_matrix(const npmd_model *m, const npmd_region_request *at, npmd_region_what what, double *out,
                                npmd_region_facts *facts, npmd_error *err);
npmd_status model_region_dense(const npmd_model *m, const npmd_region_request *at, npmd_region_what what,
                               const char *path, npmd_error *err);
npmd_status region_matrix_write(const npmd_region_request *at, const double *matrix, const char *path, npmd_error *err);
size_t region_bytes(const npmd_region_request *at);

#endif
