/* sampling.h - where the points of a term come from: the data, fresh uniform points, or an importance proposal.
 *
 * A source is a pure function of the index: source_fill(first, count) gives the same points in any order and on any
 * thread, so that a backend makes them tile by tile and never holds them all. A term is sum_i weight_i g(x_i); for
 * uniform and importance sources its expectation is the mean of g over the domain. */
#ifndef NPMD_SAMPLING_H
#define NPMD_SAMPLING_H

#include "points.h"
#include "kernels.h"

/* The importance proposal: a share of uniform points, the rest from Cauchy kernels about data points.
 *
 * q(x) = share + (1 - share) mean_c prod_d k_d(x_d, c_d), relative to the uniform measure, with k_d = ((1 - rho^2)/(1 +
 * rho^2 - 2 rho cos(x_d, c_d)))^p_d: the law of the image of a uniform point under a conformal map. It needs no special
 * function, is drawn by inversion (so that quasi-random points can be used), and its tails keep weights bounded. A
 * mixture, q = (1 - beside_share) (the above) + beside_share q_beside, is a chain of such proposals. */
typedef struct proposal proposal;
struct proposal {
    const npmd_domain *domain;
    const kernels *inner;
    double share, rho;
    int centres;
    size_t *row;            /* (centres): rows of the data */
    double *centre;         /* (centres, columns) */
    double *embedded;       /* (embedding columns, centres): unit vectors, for the cosines */
    const proposal *beside; /* the next of the chain, borrowed; NULL: none */
    double beside_share;
};

/* log at y of the product of the Cauchy kernels about x, over these factors (bits). */
double domain_log_kernel(const npmd_domain *dom, unsigned factors, double rho, const double *x, const double *y);
npmd_status proposal_open(const npmd_domain *dom, double share, double rho, int centres, proposal *out,
                          npmd_error *err);
/* New centres: data points drawn with probability proportional to their weight. */
void proposal_aim(proposal *p, const npmd_points *pts, const double *cumulative, rng_key key);
double proposal_density(const proposal *p, const double *x);       /* relative to uniform */
void proposal_place(proposal *p, int c, const double *x);          /* moves kernel c */
double proposal_kernel(const proposal *p, int c, const double *x); /* contribution of kernel c to the density at x */
/* The rho under which data points are most likely, each left out of its own density. */
npmd_status proposal_tune(const npmd_domain *dom, const npmd_points *pts, const double *cumulative, double share,
                          int centres, uint64_t seed, double *rho, npmd_error *err);
bool proposal_is_narrowest(double rho); /* of those that it chooses among */
/* The same for a proposal that was aimed at points of this weight, with fewer of them and down to narrower kernels. */
void proposal_narrow(proposal *p, const npmd_points *pts, const double *cumulative, rng_key key);
void proposal_close(proposal *p);
/* Running sums of the weights, one for every CUMULATIVE_SHELF points, for draws in proportion to the weights; NULL when
 * there are none. */
#define CUMULATIVE_SHELF 256
npmd_status points_cumulative(const npmd_points *pts, double **out, npmd_error *err);

typedef enum source_kind { SOURCE_FIXED, SOURCE_DATA, SOURCE_UNIFORM, SOURCE_IMPORTANCE } source_kind;

typedef struct point_source {
    source_kind kind;
    const npmd_domain *domain;
    size_t count;
    const double *x, *weight;  /* fixed: (count, columns) and (count); weight NULL: 1/count */
    const npmd_points *points; /* data: rows first .. first + count - 1 of the shuffled order of this key */
    size_t first;
    bool shuffled;
    rng_key key;
    bool quasi; /* uniform and importance: scrambled Sobol, else independent */
    sobol sequence;
    const proposal *importance;
} point_source;

void source_fixed(point_source *s, const npmd_domain *dom, const double *x, const double *weight, size_t count);
void source_data(point_source *s, const npmd_points *pts, size_t first, size_t count, bool shuffled, rng_key epoch);
void source_uniform(point_source *s, const npmd_domain *dom, size_t count, bool quasi, rng_key key);
void source_importance(point_source *s, const proposal *p, size_t count, bool quasi, rng_key key);
size_t source_data_row(const point_source *s, size_t i); /* the data row behind point i of a data source */
void source_fill(const point_source *s, size_t first, size_t count, double *x, double *weight);
/* The same on several threads (0: all cores). */
void source_fill_all(const point_source *s, size_t first, size_t count, int threads, double *x, double *weight);

/* ---- integrate.c: integrals over the domain, with their error ---------------------------------------------------- */

/* v (n) at the points x; self: the function's own data. */
typedef npmd_status (*values_fn)(void *self, const double *x, size_t n, double *v, npmd_error *err);
typedef struct shifted { /* a function less a constant */
    values_fn values;
    void *self;
    double offset;
} shifted;
npmd_status shifted_values(void *shifted, const double *x, size_t n, double *out, npmd_error *err);

typedef struct integral_request {
    const npmd_domain *domain;
    /* the proposal has kernels about these points; NULL: uniform points, unless aimed is given */
    const npmd_points *about;
    const proposal *aimed; /* a proposal to use as it is */
    size_t coarsest;       /* resolution of the first quadrature rule; 0: 64 */
    uint64_t seed;
    rng_purpose purpose;
    double target;      /* stop when the error of the log integral is below this */
    size_t most_points; /* stop when this many points were used */
    bool twice;         /* a rule's answer is always checked by points that are learnt from the function */
    double useless;     /* or when not even they would bring the error below this; 0: never */
    int threads;
    int (*stop)(void *user); /* called between refinements; nonzero: stop. May be NULL */
    void *user;
} integral_request;

typedef struct integral_result { /* relative to the uniform measure */
    double log_integral, log_integral_se;
    double log_square, square_se; /* log mean exp(2v); standard error of square */
    double square;                /* mean exp(2v) / (mean exp v)^2, the mean of the squared relative density */
    double tail_index;            /* of the largest terms, see tail.c; by a rule -INFINITY */
    size_t points;
} integral_result;

/* ---- tail.c: the largest terms of a sum -------------------------------------------------------------------------- */

#define TAIL_MOST 4096
typedef struct tail {             /* begins as {0} */
    double log_weight[TAIL_MOST]; /* a heap, its least first */
    size_t kept;
} tail;
void tail_add(tail *t, double log_weight);
/* What a sum of so many terms lacks, as a share of it, if its largest terms have heavy tails; else 0. index: of their
 * Pareto law, heavy above 0.7. */
double tail_missing(tail *t, size_t terms, double log_sum, double *index);

/* ---- population.c: a proposal learnt from the function itself ---------------------------------------------------- */

/* From the logs of weights to weights of mean one; their effective number. */
double weights_from_logs(double *weight, size_t count);
/* Kernels where exp v has its mass, beside start (borrowed; NULL where it walks: none). walks: places that start does
 * not know are looked for; size: points of a round. Populations of different streams are independent. */
npmd_status population_learn(const integral_request *what, const proposal *start, bool walks, size_t size,
                             uint64_t stream, values_fn values, void *self, proposal *out, npmd_error *err);

/* Of two estimates of one integral: that with the smaller error, if they agree; else the larger one, since a sum that
 * misses a peak is too small, and its error knows nothing of it. */
const integral_result *integral_of_two(const integral_result *a, const integral_result *b);
size_t integrate_bytes(const npmd_domain *dom); /* bytes it takes at most */
/* By quadrature rules where the domain has them, else by quasi-random points. */
npmd_status integrate(const integral_request *what, values_fn values, void *self, integral_result *out,
                      npmd_error *err);
/* Checks what a grid found by points about the data (what->about), and where they do not agree finds it by random ones. */
npmd_status integral_settle(const integral_request *what, values_fn values, void *self, integral_result *known,
                            npmd_error *err);
/* A quadrature rule on every factor; resolution 1, 2, ... */
typedef struct rules {
    size_t nodes[NPMD_MAX_FACTORS], total;
    double *x[NPMD_MAX_FACTORS], *weight[NPMD_MAX_FACTORS];
} rules;
npmd_status rules_open(rules *r, const npmd_domain *dom, size_t resolution, npmd_error *err);
void rules_close(rules *r);
/* Node x of this index; returns its weight. The weights sum to 1. */
double rules_point(const rules *r, const npmd_domain *dom, size_t index, double *x);

#endif
