/* training.h - the penalised likelihood, minimised by stochastic gradients, and diagnostics of the fit.
 *
 *     objective = -mean over data of v + mean over the domain of exp v + tau mean of (Lap v)^2
 *
 * v is the log density relative to the uniform measure; the second term makes exp v integrate to one at the optimum
 * (Silverman 1982). All three terms are estimated afresh every step. With a base f0, v is the log density relative to
 * f0, and the second term the mean over the domain of f0 exp v, f0 relative to the uniform measure. */
#ifndef NPMD_TRAINING_H
#define NPMD_TRAINING_H

#include "backend.h"

/* ---- complete.c: sizes from n and the domain --------------------------------------------------------------------- */

/* Fills every open setting of the encoding, the network and its training that these readers read. */
npmd_status training_complete(settings *set, unsigned readers, const npmd_domain *dom, size_t n, npmd_error *err);
/* The same for estimators without an encoding and without a penalty. */
npmd_status training_complete_bare(settings *set, unsigned readers, const npmd_domain *dom, size_t n, npmd_error *err);
field_shape training_shape(const settings *full, const npmd_domain *dom);

/* ---- schedule.c -------------------------------------------------------------------------------------------------- */

typedef struct schedule_point {
    double rate, beta1;
} schedule_point;
schedule_point schedule_at(const settings *opt, int64_t step);
/* The optimiser's step of this number; updates the products of the betas. A negative max_norm: the guard applies, see
 * schedule_guard. */
optimiser_step schedule_step(const settings *opt, const rate_share *shares, int64_t step, double *beta1_product,
                             double *beta2_product);
/* The longest gradient that the guard lets pass, and the running length after a gradient of this norm. */
double schedule_guard(double clip, const optimiser_step *step, double running_log_norm);
double schedule_running(int64_t step, double running_log_norm, double norm, double max_norm);

/* ---- objective.c ------------------------------------------------------------------------------------------------- */

/* The base's measure: points x (count, columns) and weights (count) of this step with sum_i weight_i g(x_i) the integral
 * of g under the base, in expectation; a pure function of the step, on any number of threads. */
typedef struct base_measure {
    npmd_status (*points)(void *self, int64_t step, size_t count, double *x, double *weight, npmd_error *err);
    void *self;
} base_measure;

typedef struct objective { /* one step's points; a pure function of (seed, step) */
    const settings *opt;   /* complete */
    const npmd_domain *domain;
    const npmd_points *points;
    double *cumulative; /* running sums of the weights, or NULL */
    proposal proposal;
    bool importance;
    const base_measure *base; /* of the integral; NULL: the uniform one. Set after objective_open */
    double *x, *weight;       /* (room, columns), (room): points of the base's measure */
    size_t room;
} objective;

typedef struct objective_value {
    /* -mean v, mean exp v, mean of the penalised quantity; total: the objective */
    double data, integral, penalty, total;
} objective_value;

npmd_status objective_open(objective *o, const npmd_domain *dom, const npmd_points *pts, const settings *opt,
                           npmd_error *err);
void objective_close(objective *o);
/* The data points of this step: every epoch is a new shuffle, cut into batches; a batch of all points is not
 * shuffled. */
void batch_points(const settings *set, const npmd_points *pts, int64_t step, point_source *out);
void objective_batch(const objective *o, int64_t step, point_source *out);
/* The points of this step's integral; with a base they are in use until the next call. */
npmd_status objective_integral_points(objective *o, int64_t step, size_t count, point_source *out, npmd_error *err);
/* The terms of this step; their gradients accumulate in the backend. */
npmd_status objective_step(objective *o, backend *b, int64_t step, objective_value *out, npmd_error *err);
step_recipe objective_recipe(const objective *o); /* for a backend that runs many steps in one call */
int64_t objective_steps_an_epoch(const settings *opt, size_t n);

/* ---- train.c: the loop ------------------------------------------------------------------------------------------- */

/* What is trained: a field on a backend, or anything else that follows a gradient. */
typedef struct trainee {
    void *self;
    bool several; /* it can take several steps in one call */
    /* Steps first .. first + count - 1, each with its update; out (count). Where max_norm is negative the guard
     * applies, starting from this running length. */
    npmd_status (*advance)(void *self, int64_t first, size_t count, optimiser_step *steps, double running_log_norm,
                           step_record *out, npmd_error *err);
} trainee;

typedef struct train_look { /* callbacks that look at a fit; may be NULL */
    /* Fills log_integral, nise, ae, ise and the signal-to-noise ratios of a report: at logged steps and before each
     * judge. */
    npmd_status (*look)(void *self, npmd_report *report, npmd_error *err);
    void *self;
    /* Early stopping, from the report; objective: its mean over the latest steps. NULL: no early stopping. */
    npmd_status (*judge)(void *self, const npmd_report *report, double objective, bool *enough, npmd_error *err);
    void (*again)(void *self); /* the fit was started again */
    int64_t every;             /* steps between judgements */
} train_look;

/* The state of a fit between two steps: with theta and the moments, all that is needed to resume it. */
typedef struct train_state {
    int64_t restart, step;                                 /* restarts before this attempt; steps done in it */
    double last;                                           /* objective of the latest step */
    double beta1_product, beta2_product, running_log_norm; /* state of the optimiser and of the guard */
    double tail;                                           /* sum of the objective over the last steps */
    int64_t tail_steps;
    double seconds; /* of training, over all attempts */
    bool linear;    /* the last attempt failed as well, and the convex start, or the base alone, is the result */
    bool enough;    /* it was stopped early */
} train_state;

typedef struct train_keeper { /* gets the state after every step; may be NULL */
    void (*keep)(void *self, const train_state *now);
    void *self;
    const train_state *resume; /* where to resume, with theta and the moments in the backend; NULL: from the start */
} train_keeper;

typedef struct train_run { /* a sequence of steps */
    const trainee *what;
    const settings *set;
    size_t n;                 /* points of an epoch */
    const rate_share *shares; /* NULL: 1 throughout */
    const fit_watch *watch;   /* progress reports; its log_every is positive */
    const train_look *look;   /* NULL: none */
    const train_keeper *keeper;
    double started; /* clock */
} train_run;

typedef struct train_attempt {
    train_state at;
    bool runaway, stopped; /* the fit diverged; the caller asked to stop */
} train_attempt;
/* Continues from a->at until the steps are done, or until runaway, stopped or early stopping. */
npmd_status train_attempt_run(const train_run *run, train_attempt *a, npmd_error *err);
double train_reached(const train_attempt *a); /* the mean of the objective over the last steps */

typedef struct train_result {
    train_state state;
    int64_t steps;    /* done */
    double objective; /* mean over the last steps */
    double seconds;
    int restarts;
    double rate; /* highest rate of the attempt that was kept */
    bool interrupted;
    bool unfinished; /* too short to judge, and far from the gain that is within reach */
    bool linear;     /* the network did not help; the convex start, or the base alone, is the result */
} train_result;

/* ---- train_field.c: a field's fit -------------------------------------------------------------------------------- */

typedef struct field_training {
    backend *backend;
    const field_shape *shape;
    const encoding *encoding;
    /* the encoding that bounds the possible gain; NULL: the field's own, unless that is columns */
    const encoding *judge;
    const double *from; /* (parameters): theta at the start; NULL: by the settings */
    objective *terms;
    const settings *set;
    const fit_watch *watch;
    const train_look *look;
    const train_keeper *keeper;
} field_training;
/* Restarts at a lower rate, at most twice, when the fit diverges, collapses or ends worse than the uniform density, or
 * than the base. After that the result is the convex start if there is a skip, or the base with v = 0; else an error.
 * With a base the start is v = 0. */
npmd_status train(const field_training *what, train_result *out, npmd_error *err);

/* ---- diagnose.c -------------------------------------------------------------------------------------------------- */

/* What the linear part can certainly gain. With g_k the data mean of feature k at mean square 1, the Newton step from v
 * = 0 is d = sum_k c_k eta_k, c_k = g_k / (1 + 2 tau lambda_k^2). Its quadratic model promises gain0 = 1/2 sum_k g_k
 * c_k, of which noise = 1/(2n) sum_k 1/(1 + 2 tau lambda_k^2) is expected from uniform data. On peaked densities the
 * model promises far too much, so gain is also bounded by what v = a d reaches, for the best of a = 1, 1/2, 1/4, ... */
typedef struct linear_gain {
    double gain0, gain, noise;
    double *coefficient; /* (K): those of the best a d, where the skip starts; zero if nothing is gained */
    double constant;     /* -log mean exp(a d), so that exp v has mean one */
    double reached;      /* gain of the coefficients, with the integral over this fit's points */
} linear_gain;
npmd_status linear_gain_open(linear_gain *out, const encoding *enc, objective *o, npmd_error *err);
void linear_gain_close(linear_gain *gain);
/* Did the fit stay at v = 0 although there was something to gain? Uniform data are no collapse. */
bool has_collapsed(const linear_gain *possible, double reached);

static inline double feature_unit(const encoding *enc, int k) /* factor to mean square 1; 0: the constant */
{
    assert(!enc->columns);
    return enc->lambda[k] == 0.0 ? 0.0 : sqrt(enc->waves ? 2.0 : enc->domain->volume) / enc->scale[k];
}
/* mean (Lap psi)^2 = lambda^2 and mean |grad psi|^2 = lambda, for psi of mean square 1. */
static inline double penalty_rough(const settings *opt, double lambda)
{
    return opt->penalty == PENALTY_LAPLACIAN ? lambda * lambda : lambda;
}
static inline double penalty_weight(const settings *opt)
{
    return opt->penalty == PENALTY_NONE ? 0.0 : opt->tau;
}

/* ---- snr.c: how much of the gradients is signal ------------------------------------------------------------------ */

typedef struct snr {
    size_t parameters;
    double *gradient, *square; /* (parameters) */
    backend other;             /* a cpu backend, where the fit's own has no squares */
    double *theta;             /* (parameters): copied to other; else NULL */
} snr;
typedef struct snr_values { /* NaN: no penalty, or no parameter whose gradient varies */
    double a, b, c;
} snr_values;
npmd_status snr_open(snr *s, const field_plan *plan, const backend *b, int threads, npmd_error *err);
void snr_close(snr *s);
/* At the backend's theta, after this many steps. */
npmd_status snr_at(snr *s, objective *o, backend *b, int64_t step, snr_values *out, npmd_error *err);

/* ---- convex.c: the linear part at its optimum -------------------------------------------------------------------- */

#define CONVEX_FEATURES 1024 /* most features: the Hessian is formed */
size_t convex_bytes(int features);
/* Replaces coefficient, constant and reached of an open gain by those of the optimum. */
npmd_status convex_start(linear_gain *out, const encoding *enc, objective *o, npmd_error *err);
/* -log mean exp(coefficient . eta). */
npmd_status linear_constant(const encoding *enc, objective *o, const double *coefficient, double *constant,
                            npmd_error *err);

#endif
