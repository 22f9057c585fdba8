/* choose.h - choices by points that are held out: parts of the points, short fits that are compared on the others, a
 * tau, a set of options, and when a fit has gone on for long enough. */
#ifndef NPMD_CHOOSE_H
#define NPMD_CHOOSE_H

#include "ask.h"

/* ---- holdout.c: parts of the points ---------------------------------------------------------------------- */

/* Up to count rows of the shuffled order from *next on, without those whose hash is among the avoided ones (sorted). */
npmd_status points_part(const npmd_points *pts, rng_key key, size_t *next, size_t count, const uint64_t *avoid,
                        size_t avoided, npmd_points **out, npmd_error *err);
/* As many rows, drawn with replacement. */
npmd_status points_resample(const npmd_points *pts, rng_key key, npmd_points **out, npmd_error *err);
npmd_status points_twins(const npmd_points *pts, uint64_t **out, npmd_error *err); /* sorted hashes of all rows */
/* Rows first .. first + count - 1 of the shuffled order of this key, and the others without those equal to one of
 * them. */
npmd_status points_hold_out(const npmd_points *pts, rng_key key, size_t first, size_t count, npmd_points **held_out,
                            npmd_points **training, npmd_error *err);

/* ---- mixture_weights.c ----------------------------------------------------------------------------------- */

#define MIXTURE_MOST_PARTS 65
/* logs (parts, n), log densities of parts at points, become densities relative to the largest at each point; the sum of
 * the logs of these, by the points' weights. */
double mixture_densities(double *logs, const double *weight, int parts, size_t n);
/* mix (parts): the weights under which points of these weights (n) are most likely, given such densities; their mean
 * log density. NaN: no point has a weight. */
double mixture_weights(const double *density, const double *weight, double tops, int parts, size_t n, double *mix);

/* ---- pilot.c: short fits to a part of the points, compared on the others ------------------------------------ */

#define PILOTS_MOST 512 /* more than a selection among 64 settings can need */
typedef struct pilot {
    choice_row row;
    double *log_density;   /* (held-out points), per volume */
    double own_mean, mean; /* over points of the fit, and over held-out ones */
    double log_volume;
    bool failed; /* collapsed or ran away */
} pilot;
typedef struct pilots {
    int criterion;
    npmd_points *training, *held_out, *own; /* own: as many of the training points as are held out */
    bool usable;                            /* there are points enough */
    bool whole;                             /* most points are training ones */
    const fit_watch *watch;                 /* is told that they live */
    npmd_compute how;
    pilot pilot[PILOTS_MOST];
    int count;
    int stop;     /* the caller asked for it */
    double *rise; /* (held-out points), room */
} pilots;
npmd_status pilots_open(pilots *p, const npmd_points *pts, const settings *set, const fit_watch *watch,
                        npmd_error *err);
void pilots_close(pilots *p);
/* One more, of a plan whose settings are to begin as base; *which: its number. A fit that collapses is marked and no
 * error. */
npmd_status pilot_fit(pilots *p, const fit_plan *plan, const settings *base, double tau, int64_t steps, int stage,
                      const char *words, int *which, npmd_error *err);
void pilot_gain(const pilots *p, int from, int to, double *gain, double *se); /* of log-likelihood, a point */
/* How much larger the criterion is than that of another; NaN if either failed. */
void pilot_compare(const pilots *p, int which, int other, double *difference, double *se);
bool pilot_better(const pilots *p, int which, int other);
npmd_status pilots_record(pilots *p, int best, choice_record *into, npmd_error *err);

/* ---- search_tau.c: a tau for data that came without one ------------------------------------------------------- */

typedef struct tau_found {
    double tau, first; /* first: the usual one */
    int moved;         /* by tens, in half-decades */
    double gain;       /* nats a held-out point gained by that */
    int64_t steps;     /* of the fits that say so */
    int best;          /* the pilot */
} tau_found;
int64_t pilot_steps(const npmd_domain *dom, const settings *full);
/* Of a plan, from the tau of its full settings; first: a pilot that was fitted with it already, or -1. */
npmd_status search_tau(pilots *p, const fit_plan *plan, const char *words, int first, tau_found *out, npmd_error *err);
/* Lowers or raises the model's tau from its usual value where held-out points ask for it. *stopped: the caller ended
 * the search, and the tau is the best so far. */
npmd_status choose_tau(const fit *f, const fit_watch *watch, bool *stopped, npmd_error *err);
/* Between a row and its neighbours, which are worse by this much: where the parabola has its vertex, in steps of the
 * grid, towards above; at most half a step away, and 0 if a neighbour is not known. */
double choice_vertex(double below, double above);

/* ---- stopping.c: early stopping ------------------------------------------------------------------------- */

enum { /* all that the rule remembers, beside the best weights */
       STOPPING_LOOKS,
       STOPPING_MEAN, /* of the criterion over the latest looks; */
       STOPPING_LEAST,
       STOPPING_SINCE,     /* looks since then, */
       STOPPING_STEP,      /* its step, */
       STOPPING_OBJECTIVE, /* and the mean of the objective there */
       STOPPING_ENOUGH,
       STOPPING_NUMBERS
};
typedef struct stopping {
    int rule; /* stop_rule */
    int64_t patience, every;
    double number[STOPPING_NUMBERS];
    double *best; /* (parameters); NULL: the last ones are kept */
    size_t parameters;
} stopping;
size_t stopping_held_out(const settings *set, size_t n); /* how many points the rule judges by */
/* The parts that full settings ask for. */
npmd_status stopping_hold_out(const settings *set, const npmd_points *pts, npmd_points **held_out,
                              npmd_points **training, npmd_error *err);
npmd_status stopping_open(stopping *s, const settings *set, size_t parameters, npmd_error *err);
void stopping_close(stopping *s);
void stopping_again(stopping *s);
npmd_status stopping_judge(stopping *s, backend *b, const npmd_report *now, double mean, bool *enough, npmd_error *err);

/* ---- select.c: a fit whose options are chosen first
 * --------------------------------------------------------------- */

/* over (lists): "option=v1:v2:v3", or "tau" alone; every combination of them is compared. base: the plan of what was
 * asked for without them. */
npmd_status select_run(const fit_plan *base, const npmd_options *asked, const npmd_points *pts, const char *const *over,
                       int lists, npmd_model **out, npmd_error *err);

#endif
