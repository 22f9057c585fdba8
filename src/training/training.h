/* training.h - the penalised likelihood, minimised by stochastic gradients, and what watches it.
 *
 *     objective = -mean over data of v + mean over the domain of exp v + tau mean of (Lap v)^2
 *
 * v is the log density relative to the uniform measure; the second term makes exp v integrate to one at the
 * optimum (Silverman 1982). All three terms are estimated afresh every step. */
#ifndef NPMD_TRAINING_H
#define NPMD_TRAINING_H

#include "backend.h"

/* ---- schedule.c ---------------------------------------------------------------------------------------- */

typedef struct schedule_point {
    double rate, beta1;
} schedule_point;
schedule_point schedule_at(const npmd_options *opt, int64_t step);
/* The optimiser's step of that number; the products of the betas go on with it. A negative max_norm: the guard acts, and
 * schedule_guard says how. */
optimiser_step schedule_step(const npmd_options *opt, const rate_share *shares, int64_t step,
                             double *beta1_product, double *beta2_product);
/* The longest gradient that the guard lets pass, and the running length after a gradient of this norm. */
double schedule_guard(const npmd_options *opt, const optimiser_step *step, double running_log_norm);
double schedule_running(int64_t step, double running_log_norm, double norm, double max_norm);

/* ---- objective.c --------------------------------------------------------------------------------------- */

typedef struct objective {   /* one step's points; a pure function of (seed, step) */
    const npmd_options *opt; /* resolved */
    const npmd_domain *domain;
    const npmd_points *points;
    double *cumulative; /* of the weights, or NULL */
    proposal proposal;
    bool importance;
} objective;

typedef struct objective_value {
    double data, integral, penalty,
        total; /* -mean v, mean exp v, mean of the penalised quantity, their sum */
} objective_value;

npmd_status objective_open(objective *o, const npmd_domain *dom, const npmd_points *pts,
                           const npmd_options *opt, npmd_error *err);
void objective_close(objective *o);
/* The data points of this step. */
void objective_batch(const objective *o, int64_t step, point_source *out);
/* The source of this step's integral. */
void objective_integral_points(objective *o, int64_t step, size_t count, point_source *out);
/* The terms of this step and their gradient, added up in the backend. */
npmd_status objective_step(objective *o, backend *b, int64_t step, objective_value *out, npmd_error *err);
step_recipe objective_recipe(const objective *o); /* the same for a backend that runs steps by itself */
int64_t objective_steps_an_epoch(const npmd_options *opt, size_t n);

/* ---- train.c ------------------------------------------------------------------------------------------- */

typedef struct train_watch { /* may be NULL */
    /* Fills log_integral, nise, ae, ise and the signal-to-noise ratios of a report: at logged steps, and where it is judged. */
    npmd_status (*look)(void *self, backend *b, npmd_report *report, npmd_error *err);
    void *self;
    /* Early stopping, by what look found; objective: its mean over the latest steps. NULL: there is none. */
    npmd_status (*judge)(void *self, backend *b, const npmd_report *report, double objective, bool *enough,
                         npmd_error *err);
    void (*again)(void *self); /* the fit was started again */
    int64_t every;             /* steps between judgements */
} train_watch;

/* Where a fit stands between two steps: with theta and the moments in the backend, all that it needs to go on. */
typedef struct train_state {
    int64_t restart, step; /* restarts before this attempt; steps done in it */
    double last;           /* objective of the latest step */
    double beta1_product, beta2_product, running_log_norm; /* state of the optimiser and of the guard */
    double tail;                                           /* sum of the objective over the last steps */
    int64_t tail_steps;
    double seconds; /* of training, over all attempts */
    bool linear;    /* the last attempt failed, too: the convex start stands */
    bool enough;    /* it was stopped early */
} train_state;

typedef struct train_keeper { /* is shown the state after every step; may be NULL */
    void (*keep)(void *self, backend *b, const train_state *now);
    void *self;
    const train_state *resume; /* where to go on, theta and the moments being there; NULL: from the start */
} train_keeper;

typedef struct train_result {
    train_state state;
    int64_t steps;    /* done */
    double objective; /* mean over the last steps */
    double seconds;
    int restarts;
    double rate; /* the highest rate of the attempt that stood */
    bool interrupted;
    bool unfinished; /* too short a run to judge, and far from what is within reach */
    bool linear;     /* the network only did harm: its convex start stands in its place */
} train_result;

/* Starts again at a lower rate when the fit runs away, collapses or ends worse than the uniform density, at
 * most twice. Then, with a skip, the convex start stands; without one it is an error. */
/* judge: the encoding that says what could be gained; NULL: enc itself, or, of columns, nothing is known and no fit
 * counts as collapsed. from (parameters): theta at the start; NULL: as the options say. */
npmd_status train(backend *b, const field_shape *shape, const encoding *enc, const encoding *judge,
                  const double *from, objective *o, const npmd_options *opt, const train_watch *watch,
                  const train_keeper *keeper, train_result *out, npmd_error *err);

/* ---- diagnose.c ---------------------------------------------------------------------------------------- */

/* What the linear part could gain for certain: g_k is the data mean of feature k at mean square 1, the Newton
 * step from v = 0 is d = sum_k c_k eta_k with c_k = g_k / (1 + 2 tau lambda_k^2); its quadratic model
 * promises gain0 = 1/2 sum_k g_k c_k, of which noise = 1/(2n) sum_k 1/(1 + 2 tau lambda_k^2) would come from
 * nothing. On peaked densities the model promises far too much, so the gain is also bounded by what v = a d
 * truly reaches, the best of a = 1, 1/2, 1/4, ... */
typedef struct linear_gain {
    double gain0, gain, noise;
    double *coefficient; /* (K): of the best a d, where the skip starts; K zeros if nothing is gained */
    double constant;     /* -log mean exp(a d), so that it integrates to one */
    double reached;      /* what the coefficients gain, by the points of the integral */
} linear_gain;
npmd_status linear_gain_open(linear_gain *out, const encoding *enc, objective *o, npmd_error *err);
void linear_gain_close(linear_gain *gain);
/* A fit that stayed at v = 0 although there was something to gain. Uniform data are no collapse. */
bool has_collapsed(const linear_gain *possible, double reached);

static inline double feature_unit(const encoding *enc,
                                  int k) /* brings it to mean square 1; 0: the constant */
{
    assert(!enc->columns);
    return enc->lambda[k] == 0.0 ? 0.0 : sqrt(enc->waves ? 2.0 : enc->domain->volume) / enc->scale[k];
}
/* mean (Lap psi)^2 = lambda^2 and mean |grad psi|^2 = lambda at mean square 1 */
static inline double penalty_rough(const npmd_options *opt, double lambda)
{
    return opt->penalty == NPMD_PENALTY_LAPLACIAN ? lambda * lambda : lambda;
}
static inline double penalty_weight(const npmd_options *opt)
{
    return opt->penalty == NPMD_PENALTY_NONE ? 0.0 : opt->tau;
}

/* ---- snr.c: how much of the gradients is signal --------------------------------------------------------- */

typedef struct snr {
    size_t parameters;
    double *gradient, *square; /* (parameters) */
    backend other;             /* a cpu, where the fit's own backend knows no squares, */
    double *theta;             /* and what goes there; else NULL */
} snr;
typedef struct snr_values { /* NaN: there is no penalty, or no parameter that varies */
    double a, b, c;
} snr_values;
npmd_status snr_open(snr *s, const field_plan *plan, const backend *b, int threads, npmd_error *err);
void snr_close(snr *s);
/* At the backend's theta, after that many steps. */
npmd_status snr_at(snr *s, objective *o, backend *b, int64_t step, snr_values *out, npmd_error *err);

/* ---- convex.c: the linear part at its optimum ----------------------------------------------------------- */

#define CONVEX_FEATURES 1024 /* its Hessian is a matrix */
size_t convex_bytes(int features);
/* The coefficients of an open gain, their constant and what they reach become those of the optimum. */
npmd_status convex_start(linear_gain *out, const encoding *enc, objective *o, npmd_error *err);
/* -log mean exp(coefficient . eta). */
npmd_status linear_constant(const encoding *enc, objective *o, const double *coefficient, double *constant,
                            npmd_error *err);

#endif
