/* series.h - the log density as a linear series of eigenfunctions.
 *
 *     v(x) = sum_k c_k phi_k(x),   phi_k = prod_d phi_(k_d)(x_d),   0 <= k_d < functions_d,
 *
 * over the full tensor product of the factors' eigenfunctions up to a frequency, scaled to mean square 1 over the
 * domain. A tensor of coefficients is stored as (functions_1, ..., functions_D), its last side padded with zeros to a
 * multiple of PANEL; a tensor of values on a product grid likewise. Both maps between them are matrix products, one for
 * each factor: sums are factorised, and nothing of the size functions x nodes is formed.
 *
 * series_basis.c has the tensors and the maps, series_solve.c the convex problem, series_dense.c its Hessian as a
 * matrix, series_choose.c the choice of tau, series.c the estimator. */
#ifndef NPMD_SERIES_H
#define NPMD_SERIES_H

#include "choose.h"
#include "kernels.h"

#define SERIES_MOST_FUNCTIONS ((size_t)120000) /* coefficients; a larger basis is reduced */
#define SERIES_USUAL_FUNCTIONS ((size_t)60000) /* the same where the frequency was left open */
#define SERIES_MOST_NODES ((size_t)1 << 24)    /* of a grid */
#define WORTH_THREADS ((size_t)300000)         /* operations; with fewer, waking another thread takes longer */
#define SERIES_MOST_TABLE ((size_t)48 << 20)   /* entries of the table of a factor: functions x nodes */

typedef struct series_basis {
    const npmd_domain *domain; /* borrowed */
    int factors;
    int frequency[NPMD_MAX_FACTORS];
    size_t functions[NPMD_MAX_FACTORS]; /* functions of each factor */
    size_t last;                        /* functions of the last factor, padded */
    size_t size;                        /* of a tensor of coefficients, padding included */
    size_t coefficients;                /* number of fitted coefficients: without padding and the constant */
    double *lambda;                     /* (size): eigenvalues; 0 for the constant and padding, which stay 0 */
} series_basis;

npmd_status series_basis_open(series_basis *b, const npmd_domain *dom, const int *frequency, npmd_error *err);
void series_basis_close(series_basis *b);
/* out = c for the functions that both bases have; the rest of out stays. */
void series_transfer(const series_basis *from, const double *c, const series_basis *to, double *out);
/* Number of coefficients for these frequencies; may be huge. */
double series_count(const npmd_domain *dom, const int *frequency);

/* v at n points, or its jets (n, dimension + 2). */
npmd_status series_evaluate(const series_basis *b, const double *c, const double *x, size_t n, jet_rows rows,
                            int threads, double *out, npmd_error *err);
/* The weighted mean of every function over the points: mean (size). */
npmd_status series_moments(const series_basis *b, const npmd_points *pts, int threads, double *mean, npmd_error *err);

/* The same for the squares of the functions, with squared weights. */
npmd_status series_squares(const series_basis *b, const npmd_points *pts, int threads, double *mean, npmd_error *err);

typedef struct series_grid { /* a quadrature rule on every factor, and the functions there */
    const series_basis *basis;
    const kernels *kernels;
    int threads;
    size_t resolution[NPMD_MAX_FACTORS], nodes[NPMD_MAX_FACTORS], last; /* last: padded nodes of the last factor */
    size_t size, count;              /* size of a tensor of values with padding, and without */
    double *table[NPMD_MAX_FACTORS]; /* (nodes, functions); of the last factor (nodes, basis->last) */
    /* (functions, last): table of the last factor, transposed; when there are several factors */
    double *across;
    double *weight[NPMD_MAX_FACTORS]; /* (nodes) each with sum 1; the last padded with zeros */
    double *half[2];                  /* scratch of the maps */
} series_grid;

/* Levels 0, 1, ... have rising resolution; is this level allowed? */
bool series_grid_allowed(const series_basis *b, int level);
npmd_status series_grid_open(series_grid *g, const series_basis *b, int level, int threads, npmd_error *err);
void series_grid_close(series_grid *g);
/* Memory of the grid, with two tensors of values. */
size_t series_grid_bytes(const series_basis *b, int level);
void series_values(const series_grid *g, const double *c, double *v);  /* v (size): the values at the nodes */
void series_adjoint(const series_grid *g, const double *q, double *c); /* c_k = sum over nodes of q phi_k */
/* In place: v becomes weight x exp(v - log Z), the probabilities of the nodes. Returns log Z = log mean exp v; *square:
 * the mean of the squared relative density. */
double series_normalise(const series_grid *g, double *v, double *square);

/* ---- series_dense.c: one factor, few functions ------------------------------------------------------------------- */

#define SERIES_DENSE ((size_t)4096) /* largest basis whose Hessian is formed */
/* The lower half of H (size, size) becomes the Cholesky factor of the Hessian; *positive false: rounding leaves
 * none. */
npmd_status series_factor(const series_grid *g, const double *probability, const double *expected, const double *curb,
                          double *H, bool *positive, npmd_error *err);

/* ---- series_solve.c ---------------------------------------------------------------------------------------------- */

/* minimise  -mean . c + log Z(c) + tau sum_k rough_k c_k^2  (strictly convex). */
typedef struct series_problem {
    const series_basis *basis;
    const double *mean, *rough; /* (size); rough: the penalty of each function, such as lambda^2 */
    double tau;
    double target;    /* Newton decrement to reach, g' H^-1 g / 2, in nats */
    bool rough_bound; /* the decrement as estimated by conjugate gradients, without the bound of the remainder */
    double settled;   /* largest change of log Z on a finer grid */
    double finer;     /* decrement allowed on the finer grid; 0: target */
    int levels;       /* number of grids; 0: as many as are allowed */
    int threads;
    /* limit of products with the Hessian; 0: MOST_PRODUCTS. Beyond it the solver stops, and the decrement says how
     * far */
    int most_products;
    /* Nonzero: stop. step: a Newton step is done; else it only reports progress. May be NULL. */
    int (*go_on)(void *user, int newton, double objective, bool step);
    void *user;
} series_problem;

typedef struct series_certificate {
    double objective, log_integral, log_integral_se; /* se: its change on a finer grid */
    double decrement;                                /* upper bound of g' H^-1 g / 2, on the finest grid */
    double gap;           /* f(c) - min f <= g' (2 tau Lambda^2)^-1 g / 2, from strong convexity by the penalty alone */
    double square;        /* mean of the squared relative density */
    int newton, products; /* steps, and products with the Hessian */
    size_t nodes;
    bool verified, stopped;
    bool lost; /* the finest grid is too coarse for the points: the solution is smoother than it would be */
} series_certificate;

/* The accuracy that a grid can reach: target, or less on surfaces, whose rule is not spectral. */
double series_accuracy(const npmd_domain *dom, double target);
/* Starts from c (size) and leaves the solution there; *level: the first grid, on return the last. */
npmd_status series_solve(const series_problem *p, int *level, double *c, series_certificate *out, npmd_error *err);
/* The log integral of a given c, on grids refined until it settles, and the square. */
npmd_status series_integral(const series_basis *b, const double *c, int threads, series_certificate *out,
                            npmd_error *err);

/* ---- series_choose.c: the penalty, and the choice of tau --------------------------------------------------------- */

#define PATH_MOST 48 /* rows of a path */
enum { PATH_COLUMNS = 3 };
typedef struct series_path {
    double row[PATH_MOST][PATH_COLUMNS]; /* tau, criterion and highest frequency, in the order of trial */
    int size;
} series_path;

typedef struct series_watch {
    fit *fit;
    double started;
    int attempt; /* 0: a fit of the path */
} series_watch;

int series_progress(void *watch, int newton, double value, bool step);
/* rough (size): the penalty of a squared coefficient. */
npmd_status series_rough(const series_basis *b, int penalty, double **out, npmd_error *err);
/* Chooses the model's tau and, if open, its highest frequency, by held-out points. *basis and *c become those chosen;
 * *c is the best solution, from which the fit to all points starts. */
npmd_status series_choose(series_watch *watch, bool open, series_basis *basis, double **c, int *level,
                          series_path *path, npmd_error *err);

/* ---- series.c: the estimator ------------------------------------------------------------------------------------- */

extern const estimator ESTIMATOR_SERIES;
enum { CERTIFICATE = 9 };
typedef struct series_state {
    series_basis basis;
    double *c;                   /* (basis.size) */
    double *flat;                /* c without padding, as in the file */
    double written[CERTIFICATE]; /* the certificate, as in the file */
    series_certificate found;
    bool stochastic; /* solved by stochastic gradients: there is no certificate */
} series_state;
npmd_status series_complete(fit_plan *p, npmd_error *err);
/* A fit by a given solver: the model has its state with a basis, and solve finds c. */
typedef npmd_status (*series_solver_fn)(fit *f, npmd_error *err);
npmd_status series_fit_by(fit *f, series_solver_fn solve, npmd_error *err);
npmd_status series_values_at(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out,
                             npmd_error *err);
npmd_status series_save(const npmd_model *m, record *rec, npmd_error *err);
npmd_status series_load(npmd_model *m, const record *rec, const char *path, npmd_error *err);
npmd_status series_describe(const npmd_model *m, json_t *into, npmd_error *err);
void series_free(void *state);

#endif
