/* kde.h - kernels about the points, and how wide they are.
 *
 * A kernel about y is a product over the factors of densities c(kappa_d) exp(kappa_d (cos_d - 1)), cos_d = e_d(x) .
 * e_d(y): von Mises on S1, von Mises-Fisher on S2. An estimate is a mixture of parts, each the mean of all kernels by
 * their points' weights, and of the uniform density:
 *
 *     f = uniform / Vol + sum over parts p of weight_p sum_i w_i prod_d kernel(kappa_pid),
 *     kappa_pid = kappa_p local_pi ratio_d,
 *
 * local 1 where a part is fixed, else by the distance of point i from its k-th nearest. 1 - cos_d is always
 * |e_d(x) - e_d(y)|^2 / 2, which keeps its digits for near points: coordinates are scaled by sqrt(ratio_d / 2), and
 * the exponent is -kappa_p local_pi |x - y|^2.
 *
 * Equal points are one point with the sum of their weights: left out, they are left out together. */
#ifndef NPMD_KDE_H
#define NPMD_KDE_H

#include "series.h"

#define KDE_MOST_PARTS (MIXTURE_MOST_PARTS - 1) /* and the uniform one */
#define KDE_KAPPA_MOST 1e8
#define KDE_MOST_GROUPS 5
#define KDE_MOST_COLUMNS DOMAIN_MAX_COLUMNS /* of the embedding: 2 or 3 a factor */

extern const estimator ESTIMATOR_KDE;
extern const estimator ESTIMATOR_HEAT; /* kernels where there is a surface */

/* ---- kde_cloud.c: the points --------------------------------------------------------------------------- */

typedef struct kde_cloud { /* distinct points of positive weight, shuffled */
    const npmd_domain *domain;
    size_t n;
    int columns;    /* of the embedding */
    double *x;      /* (n, the domain's columns) */
    double *weight; /* (n), sum 1 */
    double *e;      /* (n, columns): the unit vectors of all factors */
} kde_cloud;
int kde_columns(const npmd_domain *dom);
void kde_embed(const npmd_domain *dom, const double *x, double *e); /* one point */
npmd_status kde_cloud_open(const npmd_domain *dom, size_t n, kde_cloud *out, npmd_error *err);
npmd_status kde_cloud_make(const npmd_points *pts, uint64_t seed, kde_cloud *out, npmd_error *err);
/* The rows outside first .. last - 1; their weights sum to 1 again. */
npmd_status kde_cloud_without(const kde_cloud *cloud, size_t first, size_t last, kde_cloud *out, npmd_error *err);
void kde_cloud_close(kde_cloud *c);

/* Coordinates by columns, scaled by the root of half the ratio. Points stand so that each run of KDE_BOX of them lies
 * in a small box (a k-d tree's leaves): boxes that are too far away are passed over. */
#define KDE_BOX 64
typedef struct kde_view {
    const kde_cloud *cloud;
    const kernels *inner;   /* NULL: plain loops in double */
    const backend_ops *ops; /* where sums are made, if it can */
    int device;
    int groups;                        /* of rows, each padded to whole boxes with centres that do not count */
    size_t first[KDE_MOST_GROUPS + 1]; /* row that opens a group, */
    size_t start[KDE_MOST_GROUPS + 1]; /* and the place where it starts */
    size_t ld, boxes, box_ld;
    size_t *place; /* (n): where a row stands */
    double ratio[NPMD_MAX_FACTORS];
    double root[KDE_MOST_COLUMNS];
    float *narrow;     /* (columns, ld) */
    double *wide;      /* the same */
    float *low, *high; /* (columns, box_ld): the boxes */
} kde_view;
npmd_status kde_view_open(const kde_cloud *cloud, int groups, const char *device, kde_view *out, npmd_error *err);
void kde_view_scale(kde_view *v, const double *ratio); /* ratio (factors) */
void kde_view_close(kde_view *v);
/* distance2 (counts, n): squared distances from every point to its count[k]-th nearest other point, in the scaled
 * coordinates; the last count is the largest. */
typedef struct kde_watch kde_watch;
npmd_status kde_neighbours(const kde_view *v, int counts, const int *count, kde_watch *w, int threads,
                           double *distance2, npmd_error *err);

/* ---- kde_sums.c: sums of kernels ------------------------------------------------------------------------ */

struct kde_watch { /* a sign of life between pieces of work */
    const fit_watch *watch;
    const char *doing;
    int64_t step, steps;
    double started, objective;
};
npmd_status kde_watch_go(kde_watch *w, npmd_error *err); /* NPMD_STOPPED when the caller wants that */

typedef struct kde_part {
    double weight, kappa;
    int neighbours; /* 0: fixed */
    double *local;  /* (n), geometric mean 1; NULL: fixed */
    bool narrow;    /* float32 serves */
    double top;     /* of the offsets */
    float *scale, *offset;
    double *scale_wide, *offset_wide; /* (ld): the exponent is offset - scale z */
    float *box_scale, *box_offset;    /* (box_ld): the least scale and the largest offset in a box */
} kde_part;
double kde_concentration(double kappa); /* within 0 .. KDE_KAPPA_MOST */
npmd_status kde_part_open(kde_part *p, const kde_view *v, bool adaptive, npmd_error *err);
void kde_part_set(kde_part *p, const kde_view *v, double kappa); /* offsets: relative to the uniform measure */
void kde_part_close(kde_part *p);
/* out (n) = log of the part's density relative to uniform at the points with unit vectors e (n, columns). own: they
 * are rows own .. own + n - 1 of the cloud, each left out at itself (the others keep their weights); SIZE_MAX: they
 * are not. Below least a value need only be small. w may be NULL. */
npmd_status kde_log_sums(const kde_view *v, const kde_part *p, const double *e, size_t n, size_t own, double least,
                         int threads, kde_watch *w, double *out, npmd_error *err);
/* For rows first .. first + n - 1 and one kappa a factor, which the view is scaled by: sums over the other rows j of
 * each group of w_j kernel(i, j) and of w_j overlap(i, j), both relative to their values for i = j: (n, groups). */
npmd_status kde_pair_sums(const kde_view *v, const kde_part *p, size_t first, size_t n, int threads, kde_watch *w,
                          double *kernel, double *overlap, npmd_error *err);
/* log of kernel(i, i), and of the integral of its square: sums over the factors. */
double kde_log_peak(const npmd_domain *dom, const double *kappa);
double kde_log_square(const npmd_domain *dom, const double *kappa);

/* log of the normalisers of a kernel relative to the uniform measure, its concentrations common x the view's ratios. */
double kde_log_constant(const kde_view *v, double common);

/* ---- kde_choose.c ---------------------------------------------------------------------------------------- */

typedef struct kde_choice {
    double kappa[NPMD_MAX_FACTORS]; /* with one a factor */
    double criterion;               /* its value, at the end */
    int neighbours;
    bool bound;     /* the largest concentration there is would do better still */
    size_t queries; /* points that the criterion was summed over */
} kde_choice;
/* One kappa for all factors, or one a factor, by the rule of the options. */
npmd_status kde_choose_fixed(const kde_cloud *cloud, const settings *opt, kde_watch *w, kde_choice *out,
                             npmd_error *err);
/* ratio (factors), and the k-th neighbour unless it is given. kappa: the geometric mean, by likelihood. */
npmd_status kde_choose_adaptive(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w,
                                kde_choice *out, npmd_error *err);

/* ---- kde_mixture.c --------------------------------------------------------------------------------------- */

typedef struct kde_recipe { /* parts without their points */
    int parts;
    double weight[KDE_MOST_PARTS], kappa[KDE_MOST_PARTS]; /* adaptive: kappa_i = kappa / (k-th distance)^2 */
    int neighbours[KDE_MOST_PARTS];
    double uniform;
    double held_out, best_part; /* mean log density relative to uniform of the mixture, of its best part */
    size_t queries;
} kde_recipe;
npmd_status kde_choose_mixture(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w,
                               kde_recipe *out, npmd_error *err);
/* local (n) from squared distances: their inverses over the geometric mean, which is returned. */
double kde_local(const double *distance2, size_t n, double *local);

/* ---- kde_draw.c: an estimate, what it draws, and means under it ---------------------------------------------- */

typedef struct kde_state {
    kde_cloud cloud;
    kde_view view;
    int parts;
    kde_part part[KDE_MOST_PARTS];
    double uniform;
    int64_t queries; /* points that the criterion of the choice was summed over; 0: nothing was chosen */
    double weights[KDE_MOST_PARTS], kappas[KDE_MOST_PARTS]; /* of the parts, for the file */
    int neighbours[KDE_MOST_PARTS];
} kde_state;
npmd_status kde_draw(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x, npmd_error *err);
npmd_status kde_mean(const npmd_model *m, uint64_t seed, values_fn log_g, void *self, double enough, double *mean,
                     double *se, npmd_error *err); /* see struct estimator */

#endif
