/* kde.h - kernel estimates: kernels about the points, and the choice of their width.
 *
 * A kernel about y is a product over the factors of densities c(kappa_d) exp(kappa_d (cos_d - 1)), cos_d = e_d(x) .
 * e_d(y): von Mises on S1, von Mises-Fisher on S2. An estimate is a mixture of the uniform density and of parts, each
 * the weighted mean of the kernels about all points:
 *
 *     f = uniform / Vol + sum over parts p of weight_p sum_i w_i prod_d kernel(kappa_pid),
 *     kappa_pid = kappa_p local_pi ratio_d,
 *
 * with local = 1 where a part is fixed, else from the distance of point i to its k-th nearest point. 1 - cos_d is
 * computed as |e_d(x) - e_d(y)|^2 / 2, which keeps its digits for near points: with coordinates scaled by sqrt(ratio_d
 * / 2), the exponent is -kappa_p local_pi |x - y|^2.
 *
 * Equal points are one point of the estimate with the sum of their weights. Where something is chosen they are so, too, and
 * are left out together, if ties are held out together; else every point is one of its own there, and a point that is left
 * out leaves its twins behind. */
#ifndef NPMD_KDE_H
#define NPMD_KDE_H

#include "series.h"

#define KDE_MOST_PARTS (MIXTURE_MOST_PARTS - 1) /* besides the uniform part */
#define KDE_KAPPA_MOST 1e8
#define KDE_MOST_GROUPS 5
#define KDE_MOST_COLUMNS DOMAIN_MAX_COLUMNS /* of the embedding: 2 or 3 for each factor */

extern const estimator ESTIMATOR_KDE;
extern const estimator ESTIMATOR_HEAT; /* kernels on domains with a surface */

/* ---- kde_cloud.c: the points ------------------------------------------------------------------------------------- */

typedef struct kde_cloud { /* points of positive weight, shuffled */
    const npmd_domain *domain;
    size_t n;
    size_t rows, distinct; /* points that it was made of, and how many of them differ */
    size_t *same;          /* (n): rows with the same number are equal; NULL: equal points were merged */
    int columns;           /* of the embedding */
    double *x;             /* (n, the domain's columns) */
    double *weight;        /* (n), sum 1 */
    double *e;             /* (n, columns): the unit vectors of all factors */
} kde_cloud;
int kde_columns(const npmd_domain *dom);
void kde_embed(const npmd_domain *dom, const double *x, double *e); /* one point */
npmd_status kde_cloud_open(const npmd_domain *dom, size_t n, kde_cloud *out, npmd_error *err);
/* ties (tie_rule): together, equal points become one. */
npmd_status kde_cloud_make(const npmd_points *pts, uint64_t seed, int ties, kde_cloud *out, npmd_error *err);
/* The rows outside first .. last - 1, with weights that sum to 1 again. */
npmd_status kde_cloud_without(const kde_cloud *cloud, size_t first, size_t last, kde_cloud *out, npmd_error *err);
void kde_cloud_close(kde_cloud *c);

/* Coordinates by columns, scaled by the root of half the ratio. Points are ordered so that each run of KDE_BOX points
 * lies in a small box (a leaf of a k-d tree); boxes that are too far away are skipped. */
#define KDE_BOX 64
typedef struct kde_view {
    const kde_cloud *cloud;
    const kernels *inner;   /* NULL: plain loops in double */
    const backend_ops *ops; /* forms the sums, if it can */
    int device;
    int groups;                        /* groups of rows, each padded to whole boxes with centres of weight 0 */
    size_t first[KDE_MOST_GROUPS + 1]; /* first row of a group */
    size_t start[KDE_MOST_GROUPS + 1]; /* first place of a group */
    size_t ld, boxes, box_ld;
    size_t *place; /* (n): place of a row */
    double ratio[NPMD_MAX_FACTORS];
    double root[KDE_MOST_COLUMNS];
    float *narrow;     /* (columns, ld) */
    double *wide;      /* the same in double */
    float *low, *high; /* (columns, box_ld): the boxes */
} kde_view;
npmd_status kde_view_open(const kde_cloud *cloud, int groups, const char *device, kde_view *out, npmd_error *err);
void kde_view_scale(kde_view *v, const double *ratio); /* ratio (factors) */
void kde_view_close(kde_view *v);
/* distance2 (counts, n): squared distances from every point to the count[k]-th nearest of those that differ from it, in
 * the scaled coordinates; the last count is the largest. */
typedef struct kde_watch kde_watch;
npmd_status kde_neighbours(const kde_view *v, int counts, const int *count, kde_watch *w, int threads,
                           double *distance2, npmd_error *err);

/* The largest common concentration, of which factor d has the ratio[d]-fold, that a choice may take: none of them is above
 * KDE_KAPPA_MOST and, where equal points are left out apart, above what the points resolve. */
npmd_status kde_sharpest(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w, double *out,
                         npmd_error *err);

/* ---- kde_sums.c: sums of kernels --------------------------------------------------------------------------------- */

struct kde_watch { /* progress reports between pieces of work */
    const fit_watch *watch;
    const char *doing;
    int64_t step, steps;
    double started, objective;
};
npmd_status kde_watch_go(kde_watch *w, npmd_error *err); /* NPMD_STOPPED when the caller asks to stop */

typedef struct kde_part {
    double weight, kappa;
    int neighbours; /* 0: fixed */
    double *local;  /* (n), geometric mean 1; NULL: fixed */
    bool narrow;    /* float32 is accurate enough */
    double top;     /* largest offset */
    float *scale, *offset;
    double *scale_wide, *offset_wide; /* (ld): the exponent is offset - scale z */
    float *box_scale, *box_offset;    /* (box_ld): the least scale and the largest offset in a box */
} kde_part;
double kde_concentration(double kappa); /* cut to 0 .. KDE_KAPPA_MOST */
npmd_status kde_part_open(kde_part *p, const kde_view *v, bool adaptive, npmd_error *err);
void kde_part_set(kde_part *p, const kde_view *v, double kappa); /* offsets are relative to the uniform measure */
void kde_part_close(kde_part *p);
/* out (n) = log of the part's density relative to uniform at the points with unit vectors e (n, columns). own: the
 * points are rows own .. own + n - 1 of the cloud, and each is left out of its own sum (the others keep their weights);
 * SIZE_MAX: they are not of the cloud. A value below least need not be accurate. w may be NULL. */
npmd_status kde_log_sums(const kde_view *v, const kde_part *p, const double *e, size_t n, size_t own, double least,
                         int threads, kde_watch *w, double *out, npmd_error *err);
/* For rows i = first .. first + n - 1 and one kappa for each factor, by which the view is scaled: the sums over the
 * other rows j of each group of w_j kernel(i, j) and of w_j overlap(i, j), both relative to their values at i = j: (n,
 * groups). */
npmd_status kde_pair_sums(const kde_view *v, const kde_part *p, size_t first, size_t n, int threads, kde_watch *w,
                          double *kernel, double *overlap, npmd_error *err);
/* log of kernel(i, i), and of the integral of its square; both are sums over the factors. */
double kde_log_peak(const npmd_domain *dom, const double *kappa);
double kde_log_square(const npmd_domain *dom, const double *kappa);

/* log of the normalising constant of a kernel, relative to the uniform measure, with concentrations common x the view's
 * ratios. */
double kde_log_constant(const kde_view *v, double common);

/* ---- kde_choose.c ------------------------------------------------------------------------------------------------ */

typedef struct kde_choice {
    double kappa[NPMD_MAX_FACTORS]; /* one for each factor */
    double criterion;               /* its value for the choice */
    int neighbours;
    bool bound;     /* the choice is the largest concentration allowed, */
    double most;    /* which is this */
    size_t queries; /* points over which the criterion was summed */
} kde_choice;
/* One kappa for all factors, or one for each factor, by the rule of the options. */
npmd_status kde_choose_fixed(const kde_cloud *cloud, const settings *opt, kde_watch *w, kde_choice *out,
                             npmd_error *err);
/* For given ratio (factors): chooses kappa, the geometric mean, and the number of neighbours unless given, by
 * likelihood. */
npmd_status kde_choose_adaptive(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w,
                                kde_choice *out, npmd_error *err);

/* ---- kde_mixture.c ----------------------------------------------------------------------------------------------- */

typedef struct kde_recipe { /* the parts of a mixture, without points */
    int parts;
    double weight[KDE_MOST_PARTS], kappa[KDE_MOST_PARTS]; /* adaptive: kappa_i = kappa / (k-th distance)^2 */
    int neighbours[KDE_MOST_PARTS];
    double uniform;
    double held_out; /* mean log density relative to uniform */
    double held_out_se;
    double repeats; /* what of it is owed to points that equal a held-out one */
    size_t queries;
} kde_recipe;
npmd_status kde_choose_mixture(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w,
                               kde_recipe *out, npmd_error *err);
/* local (n) from squared distances: their inverses divided by the geometric mean of these, which is returned. */
double kde_local(const double *distance2, size_t n, double *local);

/* ---- kde_draw.c: an estimate, draws from it, and means under it -------------------------------------------------- */

typedef struct kde_state {
    kde_cloud cloud;
    kde_view view;
    int parts;
    kde_part part[KDE_MOST_PARTS];
    double uniform;
    int64_t queries; /* points over which the criterion was summed; 0: nothing was chosen */
    double weights[KDE_MOST_PARTS], kappas[KDE_MOST_PARTS]; /* of the parts, for the file */
    int neighbours[KDE_MOST_PARTS];
} kde_state;
npmd_status kde_draw(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x, npmd_error *err);
/* See overlap and mean of struct estimator. */
npmd_status kde_overlap(const npmd_model *a, const npmd_model *b, const npmd_compute *how, double *mean,
                        npmd_error *err);
npmd_status kde_mean(const npmd_model *m, uint64_t seed, values_fn log_g, void *self, double enough, double *mean,
                     double *se, npmd_error *err);

#endif
