/* choose.h - choices by held-out points: parts of the points, short fits compared on held-out points, the choice of tau
 * and of other options, and early stopping. */
#ifndef NPMD_CHOOSE_H
#define NPMD_CHOOSE_H

#include "ask.h"

/* ---- holdout.c: parts of the points ------------------------------------------------------------------------------ */

/* Up to count rows of the shuffled order, from *next on, whose hash is not in avoid (avoided, sorted). */
npmd_status points_part(const npmd_points *pts, rng_key key, size_t *next, size_t count, const uint64_t *avoid,
                        size_t avoided, npmd_points **out, npmd_error *err);
/* As many rows as pts has, drawn with replacement. */
npmd_status points_resample(const npmd_points *pts, rng_key key, npmd_points **out, npmd_error *err);
npmd_status points_twins(const npmd_points *pts, uint64_t **out, npmd_error *err); /* sorted hashes of all rows */
/* Rows first .. first + count - 1 of the shuffled order of this key, and the other rows, without those that equal one
 * of them. */
npmd_status points_hold_out(const npmd_points *pts, rng_key key, size_t first, size_t count, npmd_points **held_out,
                            npmd_points **training, npmd_error *err);

/* ---- mixture_weights.c ------------------------------------------------------------------------------------------- */

#define MIXTURE_MOST_PARTS 65
/* logs (parts, n), the log densities of the parts at n points, become densities relative to the largest at each point.
 * Returns the weighted sum over points of the logs of these largest densities. */
double mixture_densities(double *logs, const double *weight, int parts, size_t n);
/* mix (parts): the weights that maximise the likelihood of n weighted points, given densities and tops from
 * mixture_densities. Returns the mean log density; NaN: all points have weight 0. */
double mixture_weights(const double *density, const double *weight, double tops, int parts, size_t n, double *mix);

/* ---- pilot.c: short fits to a part of the points, compared on the others ----------------------------------------- */

#define PILOTS_MOST 512 /* more than a selection among 64 combinations needs */
typedef struct pilot {
    choice_row row;
    double *log_density;   /* (held-out points), per volume */
    double own_mean, mean; /* mean log density over points of the fit, and over held-out points */
    double log_volume;
    bool failed; /* the fit collapsed or diverged */
} pilot;
typedef struct pilots {
    int criterion;
    npmd_points *training, *held_out, *own; /* own: training points, as many as are held out */
    bool usable;                            /* there are enough points */
    bool whole;                             /* most of the points are training points */
    const fit_watch *watch;                 /* gets the progress reports */
    npmd_compute how;
    pilot pilot[PILOTS_MOST];
    int count;
    int stop;     /* the caller asked to stop */
    double *rise; /* (held-out points): scratch */
} pilots;
npmd_status pilots_open(pilots *p, const npmd_points *pts, const settings *set, const fit_watch *watch,
                        npmd_error *err);
void pilots_close(pilots *p);
/* Fits one more pilot, from a plan with base as its settings; *which: its number. A fit that collapses is marked as
 * failed; that is no error. */
npmd_status pilot_fit(pilots *p, const fit_plan *plan, const settings *base, double tau, int64_t steps, int stage,
                      const char *words, int *which, npmd_error *err);
void pilot_gain(const pilots *p, int from, int to, double *gain, double *se); /* log-likelihood gained per point */
/* Criterion of which less that of other, with its standard error; NaN if either failed. */
void pilot_compare(const pilots *p, int which, int other, double *difference, double *se);
bool pilot_better(const pilots *p, int which, int other);
npmd_status pilots_record(pilots *p, int best, choice_record *into, npmd_error *err);

/* ---- base.c: the density that a field changes -------------------------------------------------------------------- */

#define BASE_FOLDS 5
#define BASE_POOLS 8
typedef struct base_pool { /* points with known densities */
    uint64_t number;
    size_t each;       /* points of one member */
    double *x, *log_f; /* (members, each, columns), (members, each): relative to uniform */
} base_pool;
typedef struct base_set {
    const fit_plan *of;           /* of the field */
    npmd_model *whole;            /* given, or fitted to all points: the base of the model */
    npmd_model *fold[BASE_FOLDS]; /* fitted without a fifth of the points each; the integral's measure is their mean */
    int folds;                    /* 0: the whole one serves */
    bool draws;                   /* exactly, by itself: base_integral can be asked */
    base_pool steps[BASE_POOLS], integral[BASE_POOLS];
    base_measure measure; /* for the objective; points to this */
} base_set;
/* The plan of a base that is fitted, and the memory that all of it takes; base NULL: it is given. */
npmd_status base_plan(const fit_plan *of, size_t n, fit_plan *out, npmd_error *err);
size_t base_bytes(const fit_plan *of, const fit_plan *base);
/* Of a field's plan: the model it was given, or fits to the points. It stays where it is, and serves one thread. */
npmd_status base_open(base_set *b, const fit_plan *of, const npmd_points *pts, const fit_watch *watch, npmd_error *err);
void base_close(base_set *b); /* accepts {0} */
/* The log of the integral of f0 exp v under the base of the model, from draws of it and uniform points, with the
 * request's target and stop. */
npmd_status base_integral(base_set *b, const integral_request *what, values_fn v, void *self, integral_result *out,
                          npmd_error *err);
/* As fit_normalise; total: log f0 + v of the model, change: v alone. */
npmd_status base_normalise(fit *f, base_set *b, values_fn total, void *total_self, values_fn change, void *change_self,
                           npmd_error *err);
npmd_status base_normalise_blend(fit *f, npmd_error *err); /* of a blend of members that have a base */

/* ---- search_tau.c: a tau for data that came without one ---------------------------------------------------------- */

typedef struct tau_found {
    double tau, first; /* tau chosen; the usual tau */
    int moved;         /* half-decades that the search in steps of ten moved */
    double gain;       /* nats gained per held-out point by that */
    int64_t steps;     /* steps of the short fits */
    int best;          /* number of the best pilot */
} tau_found;
int64_t pilot_steps(const npmd_domain *dom, const settings *full);
/* Searches from the tau of the plan's full settings; first: a pilot already fitted with that tau, or -1. */
npmd_status search_tau(pilots *p, const fit_plan *plan, const char *words, int first, tau_found *out, npmd_error *err);
/* Lowers or raises the model's tau from its usual value where held-out points show a gain. *stopped: the caller ended
 * the search; tau is then the best so far. */
npmd_status choose_tau(const fit *f, const fit_watch *watch, bool *stopped, npmd_error *err);
npmd_status choose_settings(const fit *f, const fit_watch *watch, bool *stopped, npmd_error *err);
/* The vertex of the parabola through a row and its two neighbours, which are worse by below and above: in steps of the
 * grid, positive towards above, at most 1/2 in size; 0 if a neighbour is not known. */
double choice_vertex(double below, double above);

/* ---- stopping.c: early stopping ---------------------------------------------------------------------------------- */

/* The rule's memory, besides the best weights. */
enum {
    STOPPING_LOOKS,
    STOPPING_MEAN, /* mean of the criterion over the latest looks */
    STOPPING_LEAST,
    STOPPING_SINCE,     /* looks since the least mean */
    STOPPING_STEP,      /* step of the least mean */
    STOPPING_OBJECTIVE, /* mean of the objective at that step */
    STOPPING_ENOUGH,
    STOPPING_NUMBERS
};
typedef struct stopping {
    int rule; /* stop_rule */
    int64_t patience, every;
    double number[STOPPING_NUMBERS];
    double *best; /* (parameters): the best weights; NULL: the last weights are kept */
    size_t parameters;
} stopping;
size_t stopping_held_out(const settings *set, size_t n); /* number of held-out points that the rule uses */
/* Splits the points as the full settings ask. */
npmd_status stopping_hold_out(const settings *set, const npmd_points *pts, npmd_points **held_out,
                              npmd_points **training, npmd_error *err);
npmd_status stopping_open(stopping *s, const settings *set, size_t parameters, npmd_error *err);
void stopping_close(stopping *s);
void stopping_again(stopping *s);
npmd_status stopping_judge(stopping *s, backend *b, const npmd_report *now, double mean, bool *enough, npmd_error *err);

/* ---- select.c: a fit whose options are chosen first -------------------------------------------------------------- */

/* over (lists): "option=v1:v2:v3", or "tau" alone; all combinations are compared. base: the plan of the options asked
 * for, without these lists. */
npmd_status select_run(const fit_plan *base, const npmd_options *asked, const npmd_points *pts, const char *const *over,
                       int lists, npmd_model **out, npmd_error *err);

#endif
