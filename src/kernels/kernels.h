/* kernels.h - the inner loops: one source (kernels.c), compiled once for each instruction set, chosen at run time.
 *
 * A tile is m points (a multiple of TILE_ROWS) with R rows each: row r of point i is row r m + i. The frequency omega
 * is folded into the weights, so that a sine layer is h = sin(a); a ReLU layer is h = max(0, a), which passes
 * derivatives where a > 0. NaN stays NaN. Units are padded to a multiple of TILE_UNITS with zero weights, so that
 * kernels have no edge cases; leading dimensions are padded further, because powers of two would fall on few cache
 * sets. */
#ifndef NPMD_KERNELS_H
#define NPMD_KERNELS_H

#include <stddef.h>

#define TILE_ROWS 16
#define TILE_UNITS 16
#define PANEL 8
#define KERNEL_PAD 16
#define KERNEL_BLOCK 512

typedef struct strided { /* a matrix seen through two strides: element (i, j) at p[i row + j column] */
    const float *p;
    size_t row, column;
} strided;

typedef struct strided_double {
    const double *p;
    size_t row, column;
} strided_double;

/* A layer on a tile of m points with T derivative rows and, with lap, a Laplacian row; n units. */
typedef struct layer_kernels {
    /* On entry pre holds the affine part without bias. On return post holds h, and pre what the adjoint needs: for
     * sines cos a on the value rows, and a_t and lap a on the others. */
    void (*forward)(size_t m, int T, int lap, size_t n, size_t ld, const float *bias, float *pre, float *post);
    /* Values without a way back: a (m, n) becomes h(a + bias). */
    void (*values)(size_t m, size_t n, size_t ld, const float *bias, float *a);
    /* bar holds h bar on entry, a bar on return; bias_gradient (n) += the sum of a bar over the value rows. */
    void (*adjoint)(size_t m, int T, int lap, size_t n, size_t ld, const float *pre, const float *post, float *bar,
                    float *bias_gradient);
} layer_kernels;

typedef struct kernels {
    const char *name;

    /* C (m, n) = A (m, k) B (k, n); with add, C += A B. n is a multiple of TILE_UNITS, in double of PANEL. */
    void (*product)(size_t m, size_t n, size_t k, strided A, const float *B, size_t ldb, float *C, size_t ldc, int add);
    void (*product_double)(size_t m, size_t n, size_t k, strided_double A, const double *B, size_t ldb, double *C,
                           size_t ldc, int add);

    layer_kernels sine, relu;

    /* v (rows) += h (rows, n) w. */
    void (*output_forward)(size_t rows, size_t n, size_t ld, const float *h, const float *w, float *v);
    /* bar (rows, n) = g w', w_gradient += h' g. */
    void (*output_adjoint)(size_t rows, size_t n, size_t ld, const float *h, const float *w, const float *g, float *bar,
                           float *w_gradient);

    /* v (rows) += eta (rows, K) c and c_gradient (K) += eta' g; eta is stored by rows or by columns. */
    void (*linear_forward)(size_t rows, size_t K, strided eta, const float *c, float *v);
    void (*linear_adjoint)(size_t rows, size_t K, strided eta, const float *g, float *c_gradient);

    /* out (count) = scale x a b elementwise; and out = scale x a. */
    void (*multiply)(size_t count, float scale, const float *a, const float *b, float *out);
    void (*scale)(size_t count, float scale, const float *a, float *out);
    /* (re, im) <- (re, im) (c + i sign s): multiplies a plane wave by that of one more factor. */
    void (*turn)(size_t count, const float *c, const float *s, float sign, float *re, float *im);

    /* In double: the mean over centres c of prod_d 1/(a - b e_d . c_d)^power[d], where e (columns) and centre (columns,
     * centres) hold the unit vectors of all factors, embedding[d] columns each. centres is a multiple of 8. */
    double (*cauchy_mean)(int factors, const int *embedding, const int *power, const double *e, size_t centres,
                          const double *centre, double a, double b);

    /* Kernel estimates. A query is a row (columns), centres are stored by columns (columns, ld); coordinates are scaled
     * so that z = |x - y|^2 is the exponent. centres is a multiple of KERNEL_PAD. Terms below exp(-87) count as
     * exp(-87). In float32 at most KERNEL_BLOCK centres are summed at a time, which bounds the rounding error.
     *     sum_q += sum over c of exp(offset_c - scale_c z) */
    void (*kernel_sums)(size_t queries, int columns, const float *query, size_t centres, const float *centre, size_t ld,
                        const float *scale, const float *offset, double *sum);
    /* One query; with z_d of factor d on S1 (embedding 2) or S2 (3), t_d = twice[d], s_d = sqrt(1 - z_d / t_d):
     *     kernel  += sum over c of exp(offset_c - sum_d z_d)
     *     overlap += sum over c of exp(offset_c - sum_d z_d / (1 + s_d)) prod_d gain_d g_d(t_d s_d)
     * g(r) = exp(-r) I_0(r) on S1, (1 - exp(-2 r))/r on S2: the integral of exp(r (cosine - 1)) over 2 pi. Centres with
     * offset_c - sum_d z_d / 2 below least may be skipped. */
    void (*kernel_pairs)(int factors, const int *embedding, float least, const float *twice, const float *gain,
                         const float *query, size_t centres, const float *centre, size_t ld, const float *offset,
                         double *kernel, double *overlap);
    /* In double, any number of centres: the log of the sum of exp(offset_c - scale_c z), without centre skip. */
    double (*kernel_log_sum)(int columns, const double *query, size_t centres, const double *centre, size_t ld,
                             const double *scale, const double *offset, size_t skip);
    /* Squared distances to boxes low .. high (columns, ld), and to centres; their number is a multiple of
     * KERNEL_PAD. */
    void (*box_distances)(int columns, const float *query, size_t boxes, const float *low, const float *high, size_t ld,
                          float *out);
    void (*squared_distances)(int columns, const float *query, size_t centres, const float *centre, size_t ld,
                              float *out);

    /* sin and cos of x; exp of x in -87 .. 87; for tests and benchmarks. */
    void (*sincos)(size_t count, const float *x, float *s, float *c);
    void (*exp)(size_t count, const float *x, float *y);
} kernels;

/* The best variant for this machine (NULL), or the one of this name; NULL if the machine does not have it. */
const kernels *kernels_select(const char *name_or_null);

/* ---- cholesky.c -------------------------------------------------------------------------------------------------- */

#define CHOLESKY_BLOCK 48 /* columns that are factorised together; a multiple of PANEL */
/* The lower half of H (n, ld) is replaced by that of its Cholesky factor. room: n CHOLESKY_BLOCK doubles. pivot (n, or
 * NULL): the squares of its diagonal. Returns the first row whose pivot is not positive; n: all are positive. */
size_t cholesky_factor(const kernels *kern, size_t n, size_t ld, int threads, double *room, double *H, double *pivot);
void cholesky_solve(size_t n, size_t ld, const double *L, const double *r, double *z); /* z = (L L')^-1 r */

#endif
