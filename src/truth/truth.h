/* truth.h - known densities, draws from them, and the distance of an estimate from one.
 *
 * A truth is a mixture of wrapped normals (tori), a mixture of products of von Mises (S1) and von Mises-Fisher (S2)
 * kernels, a mixture of shapes (truth_shapes.h), or the values of a density on the nodes of a torus. Log densities are
 * per Riemannian volume, unless a name says relative (volume x density, mean 1 over the domain). Points are those of
 * the domain; truth_sample and truth_log_density have them as the user does. */
#ifndef NPMD_TRUTH_H
#define NPMD_TRUTH_H

#include "points.h"
#include "io.h"
#include "json.h"
#include "kernels.h"

typedef enum truth_kind { TRUTH_WRAPPED_NORMAL, TRUTH_VON_MISES_FISHER, TRUTH_SHAPES, TRUTH_GRID } truth_kind;
typedef struct truth_shape truth_shape;

struct npmd_truth {
    truth_kind kind;
    npmd_domain *domain;
    int threads; /* 0: all cores */

    /* Mixtures, as in their file. */
    int components;
    double *weight;     /* (components), sum 1 */
    double *mean;       /* (components, columns) */
    double *covariance; /* wrapped normals: (components, D, D), D = dimension of the torus */
    double *kappa;      /* von Mises-Fisher: (components, factors) */
    truth_shape *shape; /* shapes: (components) */
    char *spelling;     /* the domain in its file's words, where that has surfaces; else NULL */

    /* Computed from these by mixture_prepare. */
    double *cumulative; /* (components): weight[0] + ... + weight[c], the last exactly 1 */
    double *constant;   /* (components): log of weight x the kernel's value at its mode */
    double *lower;      /* wrapped normals: (components, D, D), covariance = lower lower' */

    /* Grids: node i of a side of G nodes is 2 pi i / G; the last coordinate runs fastest. */
    double *grid; /* (nodes): relative density, mean 1 */
    size_t nodes, side[NPMD_MAX_FACTORS];
};

#define TRUTH_CHUNK 65536 /* points evaluated at a time; bounds the memory of entropy and comparison */

/* ---- mixture.c: density and draws of a mixture ------------------------------------------------------------------- */

/* A truth with room for this many components; takes over the domain, also on failure. */
npmd_status mixture_new(truth_kind kind, npmd_domain *dom, size_t components, npmd_truth **out, npmd_error *err);
/* Checks the numbers of a mixture and computes the rest; where (a path) opens each message. */
npmd_status mixture_prepare(npmd_truth *t, const char *where, npmd_error *err);
double mixture_log_density(const npmd_truth *t, const double *x); /* x (columns), finite */
void mixture_log_densities(const npmd_truth *t, const double *x, size_t n, double *out);
void mixture_draw(const npmd_truth *t, rng_key key, uint64_t index, double *x); /* x (columns) */
void mixture_draws(const npmd_truth *t, rng_key key, uint64_t first, size_t n, double *x);
double truth_log_von_mises_constant(double kappa); /* log of exp(kappa) / (2 pi I_0(kappa)) */
double truth_log_fisher_constant(double kappa);    /* log of exp(kappa) kappa / (4 pi sinh kappa) */

/* ---- truth_shapes.c: the components of a mixture of shapes; how they are drawn, component c being chosen --------- */

npmd_status shapes_from_json(const json_t *components, const char *path, npmd_truth *t, npmd_error *err);
npmd_status shapes_to_json(const npmd_truth *t, json_t *components, npmd_error *err); /* an empty array, filled */
void shapes_free(truth_shape *shapes, int count);
double shapes_log_density(const npmd_truth *t, const double *x);
void shapes_draw(const npmd_truth *t, int c, rng_key key, uint64_t index, double *x);

void truth_free(npmd_truth *t);
npmd_status truth_sample(const npmd_truth *t, uint64_t seed, size_t n, double *x, npmd_error *err);
npmd_status truth_log_density(const npmd_truth *t, const double *x, size_t n, double *out, npmd_error *err);

/* ---- recipe.c, gauntlet.c, truth_mesh.c -------------------------------------------------------------------------- */

/* q (D, D), columns orthonormal, uniform over the orthogonal group. */
void recipe_orthogonal(int D, rng_key key, double *q);
#define GAUNTLET "gauntlet:" /* opens the recipes of */
npmd_status gauntlet_make(const char *name, uint64_t seed, npmd_truth **out, npmd_error *err);
npmd_status gauntlet_at(int i, npmd_recipe *out, npmd_error *err);
/* The surface that these have; as .off. */
npmd_status truth_mesh_domain(npmd_domain **out, npmd_error *err);
npmd_status truth_mesh_write(const npmd_truth *t, const char *path, npmd_error *err);

/* ---- recipe.c, truth_file.c, entropy.c --------------------------------------------------------------------------- */

npmd_status truth_make(const char *recipe, uint64_t seed, npmd_truth **out, npmd_error *err);
npmd_status truth_read(const char *path, npmd_truth **out, npmd_error *err);
npmd_status truth_write(const npmd_truth *t, const char *path, npmd_error *err);
/* A nested array of numbers, extent[0] x ... x extent[depth - 1], row-major; depth 0: one number. And back, NULL where
 * memory is short. */
npmd_status truth_numbers_read(const json_t *array, const char *where, const char *field, const size_t *extent,
                               int depth, double *out, npmd_error *err);
json_t *truth_numbers_json(const double *a, const size_t *extent, int depth);
npmd_status truth_entropy(const npmd_truth *t, uint64_t seed, double *entropy, double *se, npmd_error *err);

/* ---- compare.c --------------------------------------------------------------------------------------------------- */

/* The estimate: log density per volume, already normalised. */
typedef npmd_status (*log_density_fn)(void *self, const double *x, size_t n, double *out, npmd_error *err);

npmd_status truth_compare(const npmd_truth *t, log_density_fn estimate, void *self, npmd_grid grid, size_t points,
                          uint64_t seed, npmd_comparison *out, npmd_error *err);
/* truth_compare without a grid: points from an equal mixture of the uniform measure and the truth. */
npmd_status truth_compare_sampled(const npmd_truth *t, log_density_fn estimate, void *self, size_t points,
                                  uint64_t seed, npmd_comparison *out, npmd_error *err);

#endif
