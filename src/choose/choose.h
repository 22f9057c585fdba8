/* choose.h - choices by held-out points: parts of the points, short fits compared on held-out points, the choice of tau
 * and of other options, and early stopping. */
#ifndef NPMD_CHOOSE_H
#define NPMD_CHOOSE_H

#include "ask.h"
#include "kept.h"

/* ---- holdout.c: parts of the points ------------------------------------------------------------------------------ */

/* As many rows as pts has, drawn with replacement. */
npmd_status points_resample(const npmd_points *pts, rng_key key, npmd_points **out, npmd_error *err);
/* Rows first .. first + count - 1 of the shuffled order of this key, and the other rows, at most `most`. ties
 * (tie_rule): apart, the other rows are all of them; together, they are those that equal no held-out row. */
npmd_status points_hold_out(const npmd_points *pts, rng_key key, size_t first, size_t count, int ties, size_t most,
                            npmd_points **held_out, npmd_points **training, npmd_error *err);
npmd_status points_count_twins(const npmd_points *pts, size_t *out, npmd_error *err); /* rows that equal another one */
/* The sum of the squared weights of all that is held out at once: a row, or equal rows. */
npmd_status points_squared_weights(const npmd_points *pts, int ties, double *out, npmd_error *err);

/* ---- judging.c: held-out points that several fits are judged on -------------------------------------------------- */

/* Passes on the progress of a fit that is compared: attempt 0, in no log. Nonzero: stop. */
int watch_choosing(const fit_watch *w, const npmd_report *now);
#define JUDGING_MOST 100 /* shares */
#define NO_ACCIDENT 2.0  /* standard errors: a difference that is larger is no accident */
typedef struct judging {
    int folds; /* shares held out in turn; 0: the points are too few */
    npmd_points *training[JUDGING_MOST], *held_out[JUDGING_MOST];
    size_t judged;  /* points held out, of all shares */
    double *weight; /* (judged) */
    double *room;   /* (judged): scratch */
    int criterion;  /* choice_criterion */
    uint64_t seed;
    double volume;
} judging;
typedef struct verdict {  /* what held-out points say of fits to the others */
    double *log_density;  /* (judged), per volume; memory_free frees it */
    double criterion, se; /* smaller is better */
} verdict;
#define JUDGING_TRAINING 262144 /* points, copied; a step takes no more time for it, its batch being far smaller */
/* A function of the points, the settings' seed, holdout and folds; most: points that remain to be fitted to. */
npmd_status judging_open(judging *j, const npmd_points *pts, const settings *set, size_t most, npmd_error *err);
void judging_close(judging *j);
/* The mean of values (judged) by the points' weights, and its standard error; that of a - b. */
void judging_mean(const judging *j, const double *value, double *mean, double *se);
void judging_difference(const judging *j, const double *a, const double *b, double *mean, double *se);
double judging_points(const settings *set, size_t n); /* how many are held out, of all shares */
/* The verdict on fits to all shares, which are heard in order, from 0 on. */
npmd_status judging_hear(const judging *j, int fold, const npmd_model *m, const npmd_compute *how, verdict *v,
                         npmd_error *err);
/* By how much the criterion of v is larger than that of another verdict, point by point. */
void judging_compare(const judging *j, const verdict *v, const verdict *other, double *difference, double *se);
/* The verdict on fits to the other points, made of this plan. *first: the first of them; NULL: one could not be fitted,
 * for the reason in err, and nothing is known. */
npmd_status judging_fit(const judging *j, const fit_plan *plan, const derived *d, const fit_watch *watch, verdict *v,
                        npmd_model **first, npmd_error *err);

/* ---- rivals.c: series and kernels beside a field ----------------------------------------------------------------- */

typedef struct heard_rival {
    int estimator; /* fit_kind */
    char name[24];
    verdict verdict;
} heard_rival;
typedef struct rivals {
    heard_rival heard[CHOICE_RIVALS];
    int count;
} rivals;
/* Fits them to what the field of this plan is fitted to while its settings are chosen. *stopped: the caller ended it;
 * some are missing. */
npmd_status rivals_fit(rivals *r, const judging *j, const fit_plan *plan, const fit_watch *watch, bool *stopped,
                       npmd_error *err);
void rivals_close(rivals *r);                    /* accepts {0} */
const heard_rival *rivals_best(const rivals *r); /* NULL: none was heard */
/* What they score goes to the model's choice, which has the field's log density. */
void rivals_record(const rivals *r, const judging *j, npmd_model *m);

/* ---- mixture_weights.c ------------------------------------------------------------------------------------------- */

#define MIXTURE_MOST_PARTS 65
/* logs (parts, n), the log densities of the parts at n points, become densities relative to the largest at each point.
 * Returns the weighted sum over points of the logs of these largest densities. */
double mixture_densities(double *logs, const double *weight, int parts, size_t n);
/* mix (parts): the weights that maximise the likelihood of n weighted points, given densities and tops from
 * mixture_densities. Returns the mean log density; NaN: all points have weight 0. */
double mixture_weights(const double *density, const double *weight, double tops, int parts, size_t n, double *mix);

/* ---- base.c: the density that a field changes -------------------------------------------------------------------- */

#define BASE_FOLDS 5
#define BASE_POOLS 8
typedef struct base_pool { /* points with known densities */
    uint64_t number;
    size_t each;       /* points of one member */
    double *x, *log_f; /* (members, each, columns), (members, each): relative to uniform */
} base_pool;
typedef struct base_set {
    const fit_plan *of;        /* of the field */
    const npmd_points *points; /* that it is fitted to; NULL: it is given */
    const fit_watch *watch;
    bool divided;                 /* are there folds? training asks for them */
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
/* The plan of a field as if this base had been asked for. */
npmd_status plan_over(const fit_plan *plan, base_kind base, fit_plan *out, npmd_error *err);
/* Of a field's plan: the model it was given, or fits to the points; before: what another share's base chose stands, where
 * a choice takes long; or NULL. It stays where it is, serves one thread, and borrows all, the watch among it. */
npmd_status base_open(base_set *b, const fit_plan *of, const npmd_points *pts, const settings *before,
                      const fit_watch *watch, npmd_error *err);
void base_close(base_set *b); /* accepts {0} */
/* The log of the integral of f0 exp v under the base of the model, from draws of it and uniform points, with the
 * request's target and stop. */
npmd_status base_integral(base_set *b, const integral_request *what, values_fn v, void *self, integral_result *out,
                          npmd_error *err);
/* As fit_normalise; total: log f0 + v of the model, change: v alone. */
npmd_status base_normalise(fit *f, base_set *b, values_fn total, void *total_self, values_fn change, void *change_self,
                           npmd_error *err);
npmd_status base_normalise_blend(fit *f, npmd_error *err); /* of a blend of members that have a base */

/* ---- search.c: the settings of a field --------------------------------------------------------------------------- */

/* What the options of the fit leave open of tau, omega, the encoding and the length becomes that of the model, and the
 * fits that were compared its choice. *stopped: the caller ended the search; the settings are the best so far. */
npmd_status choose_settings(const fit *f, const fit_watch *watch, bool *stopped, npmd_error *err);
/* The same in steps, for those who compare several plans: the first course, then the others. words: what the plans
 * differ in, for the record, which gets one row a look. All is borrowed. */
typedef struct search search;
npmd_status search_open(const fit_plan *plan, const judging *j, const char *words, const fit_watch *watch,
                        choice_record *into, search **out, npmd_error *err);
npmd_status search_start(search *s, npmd_error *err);
npmd_status search_go_on(search *s, npmd_error *err);
const verdict *search_verdict(const search *s);                /* on the best look; NULL: all failed */
void search_differences(const search *s, const verdict *best); /* of the rows, to the best of all */
void search_take(const search *s, settings *set);
void search_close(search *s); /* accepts NULL */
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
bool stopping_sound(const double number[STOPPING_NUMBERS], int64_t step); /* can a rule remember this at that step? */
npmd_status stopping_judge(stopping *s, backend *b, const npmd_report *now, double mean, bool *enough, npmd_error *err);

/* ---- select.c: a fit whose options are chosen first -------------------------------------------------------------- */

/* over (lists): "option=v1:v2:v3", or "tau" alone; all combinations are compared. base: the plan of the options asked
 * for, without these lists. */
npmd_status select_run(const fit_plan *base, const npmd_options *asked, const npmd_points *pts, const char *const *over,
                       int lists, npmd_model **out, npmd_error *err);

#endif
