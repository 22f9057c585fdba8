/* encoding.h - the first layer: K random Laplace-Beltrami eigenfunctions of the product.
 *
 * Separable: feature k is the product over the factors d of eigenfunction function[k][d]. Plane waves (tori):
 * feature k < vectors is cos(frequency[k] . x), feature vectors + k is sin(frequency[k] . x). Either way a
 * feature is an eigenfunction of the product with eigenvalue lambda[k], so its Laplacian is -lambda[k] times
 * its value. */
#ifndef NPMD_ENCODING_H
#define NPMD_ENCODING_H

#include "geometry.h"

#define ENCODING_MAX_FEATURES 65536

typedef struct encoding {
    const npmd_domain *domain; /* borrowed */
    bool separable;
    int features;   /* K */
    int vectors;    /* plane waves: distinct frequency vectors; else K */
    int *function;  /* (vectors, factors): eigenfunction numbers, or frequencies with their signs */
    double *lambda; /* (K) */
    double *scale;  /* (K): multiplies the product of orthonormal eigenfunctions, or the cosine and sine */
    int frequency[NPMD_MAX_FACTORS]; /* the highest that occurs on each factor */
} encoding;

/* Draws the encoding that the (resolved) options describe. */
npmd_status encoding_draw(const npmd_domain *dom, const npmd_options *opt, encoding *out, npmd_error *err);
/* From given indices, shape (vectors, factors); separable: features = vectors. */
npmd_status encoding_make(const npmd_domain *dom, bool separable, int features, int vectors,
                          const int *function, npmd_scale scale, encoding *out, npmd_error *err);
void encoding_free(encoding *enc);

/* How many features a domain offers up to these frequencies (may be huge, hence a double). */
double encoding_available(const npmd_domain *dom, const npmd_options *opt);

/* The jet of all features at x, in double: eta (rows, K), rows = 1 (value) or dimension + 2 (value,
 * derivatives along the frame, Laplacian). work holds encoding_work doubles. */
size_t encoding_work(const encoding *enc);
void encoding_jet(const encoding *enc, const double *x, int rows, double *work, double *eta);

#endif
