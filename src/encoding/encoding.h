/* encoding.h - what the network is fed with: K random Laplace-Beltrami eigenfunctions of the product, or the
 * point's own columns.
 *
 * Products: feature k is the product over the factors d of eigenfunction function[k][d]. Plane waves (tori):
 * feature k < vectors is cos(frequency[k] . x), feature vectors + k is sin(frequency[k] . x). Rotated (where
 * there is no torus): features come in blocks, and a block's features are orthonormal combinations of
 * products of one eigenvalue, no longer separable. In every case a feature is an eigenfunction of the product
 * with eigenvalue lambda[k], so its Laplacian is -lambda[k] times its value.
 *
 * Columns: feature k is column k of the point, an angle in [0, 2 pi) or a coordinate of a unit vector; the paper's
 * identity encoding. Its Laplacian, too, is -lambda[k] times its value: 0 for an angle, and on S2 the coordinates
 * are eigenfunctions of eigenvalue 2. But an angle is no eigenfunction (it jumps at 2 pi), nor is it constant: what
 * takes lambda for an eigenvalue must not be asked of columns, and asserts that it is not. */
#ifndef NPMD_ENCODING_H
#define NPMD_ENCODING_H

#include "plan.h"

#define ENCODING_MAX_FEATURES 65536
#define ENCODING_BLOCK 32 /* most functions in a rotated block */

typedef struct encoding_block { /* features = its matrix (features, functions) x functions */
    int features, functions;    /* 1 <= features <= functions <= ENCODING_BLOCK */
} encoding_block;

typedef struct encoding_ridge { /* of features drawn by the ridge law; eps 0: by another */
    double eps, r_max, r_max_se;
} encoding_ridge;

typedef struct encoding {
    const npmd_domain *domain; /* borrowed */
    bool waves;                /* plane waves; else products of the factors' eigenfunctions, */
    bool columns;              /* or the point's columns; there are no vectors then */
    int features;              /* K */
    int vectors;               /* rows of function: K; distinct frequency vectors; products that a rotation combines */
    int *function;             /* (vectors, factors): eigenfunction numbers, or frequencies with their signs */
    double *lambda;            /* (K) */
    double *scale;             /* (K): multiplies the orthonormal function, or the cosine and sine */
    double square;             /* sum over the features of their mean squares; K at unit scale */
    int frequency[NPMD_MAX_FACTORS]; /* the highest that occurs on each factor */
    int blocks;                      /* 0: nothing is rotated */
    encoding_block *block;           /* (blocks): features and functions in their order */
    double *rotation;                /* the blocks' matrices one after another; rows are orthonormal */
    encoding_ridge ridge;
    int *copies; /* (K): features that are the same function, drawn again and again; NULL: all differ */
} encoding;

/* What --separable off means on this domain. */
static inline bool encoding_waves(const npmd_domain *dom, const settings *opt)
{
    return !opt->encoding.separable && dom->torus;
}
static inline bool encoding_rotated(const npmd_domain *dom, const settings *opt)
{
    return !opt->encoding.separable && !dom->torus;
}

static inline bool encoding_by_ridge(const settings *opt)
{
    return opt->encoding.law == LAW_RIDGE && opt->encoding.from != FEATURES_COORDINATES;
}

/* Draws the encoding that the (resolved) options describe. */
npmd_status encoding_draw(const npmd_domain *dom, const settings *opt, encoding *out, npmd_error *err);
/* From given indices, shape (vectors, factors); separable: features = vectors, else plane waves. */
npmd_status encoding_make(const npmd_domain *dom, bool separable, int features, int vectors, const int *function,
                          feature_scale scale, encoding *out, npmd_error *err);
/* The same with a rotation: the blocks' features add up to features, their functions to vectors, and the
 * functions of a block have one eigenvalue. */
npmd_status encoding_make_rotated(const npmd_domain *dom, int features, int vectors, const int *function, int blocks,
                                  const encoding_block *block, const double *rotation, feature_scale scale,
                                  encoding *out, npmd_error *err);
/* The columns of a domain without surfaces, as they are. */
npmd_status encoding_columns(const npmd_domain *dom, encoding *out, npmd_error *err);
/* Scales features that were made of draws by the ridge law: sqrt(S / q) each, at unit scale divided by their
 * root mean square. */
npmd_status encoding_scale_ridge(encoding *enc, const settings *opt, const encoding_ridge *ridge, npmd_error *err);
/* The eps that the options leave open: half as many features are wanted (r_max) as there are. */
npmd_status encoding_choose_ridge(const npmd_domain *dom, const settings *opt, double *eps, npmd_error *err);
/* The same on a domain that is equal to its own. */
npmd_status encoding_copy(const encoding *enc, const npmd_domain *dom, encoding *out, npmd_error *err);
void encoding_free(encoding *enc);
double encoding_eigenvalue(const encoding *enc, int vector);            /* of a row of function */
size_t encoding_rotation_size(int blocks, const encoding_block *block); /* numbers in all matrices */

/* How many features a domain offers up to these frequencies (may be huge, hence a double). */
double encoding_available(const npmd_domain *dom, const settings *opt);

/* The jet of all features at x, in double: eta (rows, K), rows = 1 (value) or dimension + 2 (value,
 * derivatives along the frame, Laplacian). work holds encoding_work doubles. */
size_t encoding_work(const encoding *enc);
void encoding_jet(const encoding *enc, const double *x, int rows, double *work, double *eta);

#endif
