/* encoding.h - the input of the network: K random Laplace-Beltrami eigenfunctions of the product, or the point's own
 * columns.
 *
 * Products: feature k is the product over the factors d of eigenfunction function[k][d]. Plane waves (tori): feature k
 * < vectors is cos(frequency[k] . x), feature vectors + k is sin(frequency[k] . x). Rotated (other domains): features
 * come in blocks; the features of a block are orthonormal combinations of products with one eigenvalue, and not
 * separable. In every case a feature is an eigenfunction of the product with eigenvalue lambda[k], so its Laplacian is
 * -lambda[k] times its value.
 *
 * Columns: feature k is column k of the point, an angle in [0, 2 pi) or a coordinate of a unit vector; the paper's
 * identity encoding. Its Laplacian, too, is -lambda[k] times its value: 0 for an angle, and on S2 the coordinates are
 * eigenfunctions of eigenvalue 2. But an angle is no eigenfunction (it jumps at 2 pi), nor is it constant: code that
 * takes lambda for an eigenvalue must not be given columns, and asserts so. */
#ifndef NPMD_ENCODING_H
#define NPMD_ENCODING_H

#include "plan.h"

#define ENCODING_BLOCK 32 /* most functions in a rotated block */

typedef struct encoding_block { /* features = its matrix (features, functions) x functions */
    int features, functions;    /* 1 <= features <= functions <= ENCODING_BLOCK */
} encoding_block;

typedef struct encoding_ridge { /* of features drawn by the ridge law; eps 0: drawn by another law */
    double eps, r_max, r_max_se;
} encoding_ridge;

typedef struct encoding {
    const npmd_domain *domain; /* borrowed */
    bool waves;                /* features are plane waves; else products, or columns */
    bool columns;              /* features are the point's columns; vectors is then 0 */
    int features;              /* K */
    /* rows of function: K products, the distinct frequency vectors, or the products that rotations combine */
    int vectors;
    int *function;                   /* (vectors, factors): eigenfunction numbers, or frequencies with their signs */
    double *lambda;                  /* (K) */
    double *scale;                   /* (K): factor of the orthonormal function, or of the cosine and sine */
    double square;                   /* sum over the features of their mean squares; K at unit scale */
    int frequency[NPMD_MAX_FACTORS]; /* highest frequency on each factor */
    int blocks;                      /* 0: nothing is rotated */
    encoding_block *block;           /* (blocks), in the order of features and functions */
    double *rotation;                /* the blocks' matrices one after another; rows are orthonormal */
    encoding_ridge ridge;
    int *copies; /* (K): number of features equal to this one, drawn repeatedly; NULL: all differ */
} encoding;

/* The meaning of --separable off on this domain. */
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
/* From given indices function (vectors, factors); separable: products, features = vectors; else plane waves. */
npmd_status encoding_make(const npmd_domain *dom, bool separable, int features, int vectors, const int *function,
                          feature_scale scale, encoding *out, npmd_error *err);
/* The same with a rotation: the blocks' features add up to features, their functions to vectors, and the
 * functions of a block have one eigenvalue. */
npmd_status encoding_make_rotated(const npmd_domain *dom, int features, int vectors, const int *function, int blocks,
                                  const encoding_block *block, const double *rotation, feature_scale scale,
                                  encoding *out, npmd_error *err);
/* The columns of a domain without surfaces, as they are. */
npmd_status encoding_columns(const npmd_domain *dom, encoding *out, npmd_error *err);
/* Scales features drawn by the ridge law by sqrt(S / q), and at unit scale divides them by their root mean square. */
npmd_status encoding_scale_ridge(encoding *enc, const settings *opt, const encoding_ridge *ridge, npmd_error *err);
/* Chooses the eps that the options leave open: r_max is then half the number of features. */
npmd_status encoding_choose_ridge(const npmd_domain *dom, const settings *opt, double *eps, npmd_error *err);
/* A copy, on a domain equal to that of enc. */
npmd_status encoding_copy(const encoding *enc, const npmd_domain *dom, encoding *out, npmd_error *err);
void encoding_free(encoding *enc);
double encoding_eigenvalue(const encoding *enc, int vector);            /* eigenvalue of a row of function */
size_t encoding_rotation_size(int blocks, const encoding_block *block); /* number of entries of all matrices */

/* Number of features up to these frequencies (may be huge, hence a double). */
double encoding_available(const npmd_domain *dom, const settings *opt);

/* The jet of all features at x, in double: eta (rows, K), rows = 1 (value) or dimension + 2 (value,
 * derivatives along the frame, Laplacian). work holds encoding_work doubles. */
size_t encoding_work(const encoding *enc);
void encoding_jet(const encoding *enc, const double *x, int rows, double *work, double *eta);

#endif
