/* estimators.h - what is fitted, and what a fitted model can tell.
 *
 * An estimator is one table of functions and one file; a model holds the domain, the options, the facts of
 * its fit and the estimator's own state. A model's v is the log of an unnormalised density relative to the
 * uniform measure: log f = v - log Z - log Vol, with log Z the stored log integral. */
#ifndef NPMD_ESTIMATORS_H
#define NPMD_ESTIMATORS_H

#include "io.h"
#include "json.h"
#include "surface.h"
#include "training.h"
#include "truth.h"

typedef struct estimator estimator;

/* v (n) at points x, of whatever self is. */
typedef npmd_status (*values_fn)(void *self, const double *x, size_t n, double *v, npmd_error *err);

typedef struct choice_record { /* choice.c: what was compared; all zero: nothing was */
    int criterion;             /* npmd_criterion */
    size_t training, held_out;
    npmd_choice_row *row;
    int rows;
    size_t room;
} choice_record;

#define MODEL_MAX_WARNINGS 16
#define MODEL_HASH 17 /* 16 digits and a closing zero */
struct npmd_model {
    const estimator *kind;
    void *state; /* the estimator's own */
    npmd_domain *domain;
    npmd_options options; /* resolved */
    npmd_fit_facts facts;
    double total;                  /* n, or the sum of the weights: what the intensity integrates to */
    struct checkpoint *checkpoint; /* while it is fitted, if one was asked for */
    char started_from[MODEL_HASH], encoded_from[MODEL_HASH]; /* hashes of other models; "": there was none */
    uint64_t *seen;                                          /* of the rows it was made of, see points_seen */
    size_t seen_count;
    choice_record choice;
    int warnings;
    char warning[MODEL_MAX_WARNINGS][256];
    bool linear;         /* a field whose network only did harm: its linear start alone */
    npmd_model **part;   /* of a blend, */
    double *part_weight; /* with their weights, sum 1 */
    int parts;
    double held_out_nll, held_out_nll_se; /* of a stack and its parts, per volume; NaN: not known */
};

struct estimator {
    const char *name;
    bool keeps; /* checkpoints, to go on from */
    /* Every size that was left open, for n points; and the memory a fit will take. The options were checked. */
    npmd_status (*resolve)(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                           size_t *working_bytes, npmd_error *err);
    /* Fills the state, the facts' objective, steps, restarts and seconds, the log integral with its error, and
     * tau. m->options are resolved, asked are the options as given. */
    npmd_status (*fit)(npmd_model *m, const npmd_options *asked, const npmd_points *pts, npmd_error *err);
    /* v at n points: values (n), or jets (n, dimension + 2). */
    npmd_status (*evaluate)(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                            jet_rows rows, double *out, npmd_error *err);
    /* n independent draws, rows of x: functions of (seed, row). NULL: by rejection. */
    npmd_status (*draw)(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x,
                        npmd_error *err);
    /* Of a density with peaks that points drawn at random would miss: the mean of exp log_g under it, by draws that meet
     * them, with a standard error that need not be below enough. NULL: it has no such peaks. */
    npmd_status (*mean)(const npmd_model *m, uint64_t seed, values_fn log_g, void *self, double enough,
                        double *mean, double *se, npmd_error *err);
    /* NULL where there is no state of its own to save, load, describe or free. */
    npmd_status (*save)(const npmd_model *m, record *rec, npmd_error *err); /* adds tensors */
    npmd_status (*load)(npmd_model *m, const record *rec, const char *path, npmd_error *err);
    npmd_status (*describe)(const npmd_model *m, json_t *into, npmd_error *err);
    void (*free)(void *state);
};
extern const estimator ESTIMATOR_FIELD, ESTIMATOR_SERIES, ESTIMATOR_KDE, ESTIMATOR_PSNF, ESTIMATOR_RELU,
    ESTIMATOR_STACK, ESTIMATOR_UNIFORM;
extern const estimator ESTIMATOR_HEAT;                        /* kernels where there is a surface */
extern const estimator ESTIMATOR_LOG_MEAN, ESTIMATOR_MIXTURE; /* ensembles of any of them */
/* Of a field of one layer: its encoding, and a weight a feature. */
void field_linear(const npmd_model *m, const encoding **enc, const double **weight);
/* Of a field: all its parameters. */
const double *field_theta(const npmd_model *m, size_t *parameters);
const estimator *estimator_find(const char *name); /* NULL if there is none of that name */
/* Of one fit, or of several members, on this domain. */
const estimator *estimator_of(const npmd_options *opt, const npmd_domain *dom);
const char *estimator_name(const npmd_options *opt); /* as a user says it */

/* ---- resolve.c: sizes from n and the domain ------------------------------------------------------------ */

npmd_status options_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                            npmd_error *err); /* of a field */
/* What estimators share: the device; one frequency a factor, where usual says what 0 stands for. */
npmd_status options_resolve_device(npmd_options *o, npmd_error *err);
npmd_status options_resolve_frequencies(npmd_options *o, const npmd_domain *dom,
                                        int (*usual)(const npmd_domain *dom, int d), npmd_error *err);
/* A wide encoding of the domain: how many features, and the decay of the law they are drawn by. */
int options_features(const npmd_domain *dom);
double options_decay(const npmd_domain *dom);
double options_accuracy(const npmd_domain *dom); /* of the log integral of a smooth density */
field_shape options_shape(const npmd_options *resolved, const npmd_domain *dom);

/* ---- encoding_file.c ------------------------------------------------------------------------------------ */

npmd_status encoding_save(const encoding *enc, record *rec, npmd_error *err); /* adds tensors that borrow */
/* For options that describe a field on the domain. */
npmd_status encoding_load(const npmd_domain *dom, const npmd_options *opt, const record *rec,
                          const char *path, encoding *out, npmd_error *err);

/* ---- start.c: fits that begin with another model --------------------------------------------------------- */

typedef struct fit_origin {
    npmd_model *model;   /* the one that gives weights, */
    npmd_model *encoded; /* and the one that gives the encoding; NULL: there is none */
} fit_origin;
/* For resolved options of a field: the encoding becomes that of the model they name; an error if it does not fit. */
npmd_status start_resolve(npmd_options *opt, const npmd_domain *dom, npmd_error *err);
/* Opens what the model's options name, and keeps their hashes there. */
npmd_status start_open(npmd_model *m, fit_origin *out, npmd_error *err);
void start_close(fit_origin *s);
/* The coefficients (K) of the features in a series; how many features lie in its basis. */
int start_project(const npmd_model *series, const encoding *enc, double *coefficient);

/* ---- gap.c: a field beside the optimum of its objective -------------------------------------------------- */

bool gap_wanted(const npmd_options *opt, const npmd_domain *dom, size_t n);
size_t gap_bytes(const field_plan *plan, int threads);
/* The least value of the objective over all functions, the constant solved for; NaN, infinite: not known. */
npmd_status gap_optimum(npmd_model *m, const npmd_points *pts, double *optimum, double *accuracy,
                        npmd_error *err);
/* Fills the facts' convex_optimum, convex_gap and its accuracy where they can be known. */
npmd_status field_gap(npmd_model *m, const field_plan *plan, const double *theta, const npmd_points *pts,
                      npmd_error *err);

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
    int rule; /* npmd_stop */
    int64_t patience, every;
    double number[STOPPING_NUMBERS];
    double *best; /* (parameters); NULL: the last ones are kept */
    size_t parameters;
} stopping;
/* Fills in patience and share; of n points, how many are left to fit to. */
npmd_status stopping_resolve(npmd_options *opt, size_t n, size_t *left, npmd_error *err);
/* The parts that resolved options ask for; the batch is no larger than the second. */
npmd_status stopping_hold_out(npmd_options *opt, const npmd_points *pts, npmd_points **held_out,
                              npmd_points **training, npmd_error *err);
npmd_status stopping_open(stopping *s, const npmd_options *opt, size_t parameters, npmd_error *err);
void stopping_close(stopping *s);
void stopping_again(stopping *s);
npmd_status stopping_judge(stopping *s, backend *b, const npmd_report *now, double mean, bool *enough,
                           npmd_error *err);

/* ---- field_watch.c: a field's fit while it runs ---------------------------------------------------------- */

typedef struct field_watch {
    npmd_model *model;
    const npmd_points *points;
    objective *terms;
    snr ratios;        /* open where they are wanted */
    stopping rule;     /* of early stopping */
    train_watch table; /* what training is shown */
} field_watch;
/* *out stays NULL where nothing is to be watched. */
npmd_status field_watch_open(field_watch *w, const field_plan *plan, const backend *b,
                             const train_watch **out, npmd_error *err);
void field_watch_close(field_watch *w);
/* The weights that early stopping chose, and what it did in words. */
npmd_status field_watch_settle(const field_watch *w, backend *b, train_result *done_by, npmd_error *err);
npmd_status backend_values(void *b, const double *x, size_t n, double *v, npmd_error *err); /* a values_fn */

/* ---- checkpoint.c: the state of a fit in a file, to go on from ------------------------------------------ */

typedef struct checkpoint checkpoint;
/* Opens what m->options ask for; asked are the options before any choice. With a file to resume, the tau and the
 * warnings of that fit are taken over. *out stays NULL when nothing was asked for. */
npmd_status checkpoint_open(npmd_model *m, const npmd_options *asked, const npmd_points *pts,
                            checkpoint **out, npmd_error *err);
void checkpoint_close(checkpoint *c);
npmd_status checkpoint_seed(const char *path, uint64_t *seed, npmd_error *err); /* of the fit in this file */
/* Also keeps, and restores, what this rule remembers. Before the next. */
void checkpoint_stopping(checkpoint *c, stopping *rule);
/* The state to go on from, or NULL; theta and the moments are put into the backend. */
npmd_status checkpoint_restore(checkpoint *c, backend *b, size_t parameters, const train_state **out,
                               npmd_error *err);
bool checkpoint_chosen(const checkpoint *c); /* tau was chosen before it was written */
/* Writes the file when its time has come. backend NULL: tau is still being chosen. A failure is remembered, and
 * the fit goes on. */
void checkpoint_keep(checkpoint *c, backend *b, const train_state *now);
/* After the last step: a fit of several members that resumes is through with this one at once. */
void checkpoint_finish(checkpoint *c, backend *b, const train_state *now);
/* Writes it now: NPMD_STOPPED when that was possible, else NPMD_OK: the model so far is all that can be saved. */
npmd_status checkpoint_stop(checkpoint *c, backend *b, const train_state *now, npmd_error *err);
const char *checkpoint_failure(const checkpoint *c); /* of the last writing; "": none */
double checkpoint_seconds(const checkpoint *c);      /* spent before the fit was resumed */

/* ---- holdout.c: parts of the points ---------------------------------------------------------------------- */

/* Up to count rows of the shuffled order from *next on, without those whose hash is among the avoided ones (sorted). */
npmd_status points_part(const npmd_points *pts, rng_key key, size_t *next, size_t count,
                        const uint64_t *avoid, size_t avoided, npmd_points **out, npmd_error *err);
/* As many rows, drawn with replacement. */
npmd_status points_resample(const npmd_points *pts, rng_key key, npmd_points **out, npmd_error *err);
npmd_status points_twins(const npmd_points *pts, uint64_t **out,
                         npmd_error *err); /* sorted hashes of all rows */
/* Rows first .. first + count - 1 of the shuffled order of this key, and the others without those equal to one of
 * them. */
npmd_status points_hold_out(const npmd_points *pts, rng_key key, size_t first, size_t count,
                            npmd_points **held_out, npmd_points **training, npmd_error *err);

/* Which rows a model was made of, so that it is not judged by them in silence: the smallest hashes of its rows, sorted,
 * SEEN_MOST at most. Whether another row is among them is known for every hash up to the largest. */
#define SEEN_MOST 16384
npmd_status points_seen(const npmd_points *pts, uint64_t **out, size_t *count, npmd_error *err);
/* About how many of these rows; NaN: nothing is known. */
double points_seen_before(const npmd_points *pts, const uint64_t *seen, size_t count);

/* ---- choice.c: the evidence of a choice -------------------------------------------------------------------- */

npmd_status choice_add(choice_record *c, const npmd_choice_row *row, npmd_error *err);
npmd_status choice_to_json(const choice_record *c, json_t *into,
                           npmd_error *err); /* as "choice", if there is one */
npmd_status choice_from_json(choice_record *c, const json_t *root, const char *path, npmd_error *err);
void choice_close(choice_record *c);

/* Between a row and its neighbours, which are worse by this much: where the parabola has its vertex, in steps of the grid,
 * towards above; at most half a step away, and 0 if a neighbour is not known. */
double choice_vertex(double below, double above);

/* ---- pilot.c: short fits to a part of the points, compared on the others ------------------------------------ */

#define PILOTS_MOST 512 /* more than a selection among 64 settings can need */
typedef struct pilot {
    npmd_choice_row row;
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
    checkpoint *checkpoint;
    npmd_progress progress;
    void *user;
    npmd_compute how;
    pilot pilot[PILOTS_MOST];
    int count;
    int stop;     /* the caller asked for it */
    double *rise; /* (held-out points), room */
} pilots;
npmd_status pilots_open(pilots *p, const npmd_points *pts, const npmd_options *opt, checkpoint *keep,
                        npmd_error *err);
void pilots_close(pilots *p);
/* One more, for resolved options; *which: its number. A fit that collapses is marked and no error. */
npmd_status pilot_fit(pilots *p, const npmd_options *base, double tau, int64_t steps, int stage,
                      const char *settings, int *which, npmd_error *err);
void pilot_gain(const pilots *p, int from, int to, double *gain, double *se); /* of log-likelihood, a point */
/* How much larger the criterion is than that of another; NaN if either failed. */
void pilot_compare(const pilots *p, int which, int other, double *difference, double *se);
bool pilot_better(const pilots *p, int which, int other);
npmd_status pilots_record(pilots *p, int best, choice_record *into, npmd_error *err);

/* ---- choose.c ------------------------------------------------------------------------------------------ */

/* Lowers or raises m->options.tau from its default where held-out points ask for it; asked: the options as given. */
typedef struct tau_found {
    double tau, first; /* first: the default */
    int moved;         /* by tens, in half-decades */
    double gain;       /* nats a held-out point gained by that */
    int64_t steps;     /* of the fits that say so */
    int best;          /* the pilot */
} tau_found;
int64_t pilot_steps(const npmd_domain *dom, const npmd_options *resolved);
/* For resolved options, from their tau; first: a pilot that was fitted with it already, or -1. */
npmd_status search_tau_of(pilots *p, const npmd_options *base, const char *settings, int first,
                          tau_found *out, npmd_error *err);
npmd_status choose_tau(npmd_model *m, const npmd_options *asked, const npmd_points *pts, npmd_error *err);

/* ---- blend.c: models made of models ---------------------------------------------------------------------- */

npmd_status blend_open(npmd_model *m, int parts, npmd_error *err); /* of equal weights, still empty */
void blend_close(npmd_model *m);
npmd_status blend_log_mean(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                           jet_rows rows, double *out, npmd_error *err);
npmd_status blend_mixture(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                          jet_rows rows, double *out, npmd_error *err);
/* The mixture of those of m's parts, and of their parts in turn, that have peaks (estimator.mean), or of the others; m itself
 * where it is none. It borrows them; the weights are those they have in m. */
npmd_status blend_leaves(const npmd_model *m, bool peaked, npmd_model *out, npmd_error *err);
void blend_leaves_close(npmd_model *m);
/* out (n): the standard deviation of the members' log densities. */
npmd_status blend_spread(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, double *out,
                         npmd_error *err);
int blend_members(const npmd_model *m); /* that were fitted alike; 1: there is no spread */
int blend_first(const npmd_model *m);   /* the first that counts for it */
/* log_density (members, n): of each, relative to the uniform measure. */
npmd_status blend_replicates(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                             double *log_density, npmd_error *err);
npmd_status blend_draw(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x,
                       npmd_error *err); /* from a mixture */
npmd_status blend_load(npmd_model *m, const record *rec, const char *path, npmd_error *err);
npmd_status blend_describe(const npmd_model *m, json_t *into, npmd_error *err);

/* The value or jet of log((exp a + exp b) / 2) from two of this length; out may be one of them. */
void mixture_of_two(const double *a, const double *b, size_t length, double *out);

/* ---- mirror.c: pairs without an order --------------------------------------------------------------------- */

/* An error, if options ask for unordered pairs on a domain that is not M x M. */
npmd_status mirror_check(const npmd_options *opt, const npmd_domain *dom, npmd_error *err);
bool model_mirrored(const npmd_model *m); /* it is evaluated in both orders */
void mirror_rows(const npmd_domain *dom, const double *x, size_t n, double *y);
void mirror_draws(const npmd_model *m, uint64_t seed, size_t n, double *x);
/* v of any model: all but its own fit and its own file asks here. */
npmd_status model_evaluate(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                           jet_rows rows, double *out, npmd_error *err);

/* ---- mixture_weights.c ----------------------------------------------------------------------------------- */

#define MIXTURE_MOST_PARTS 65
/* logs (parts, n), log densities of parts at points, become densities relative to the largest at each point; the sum of the
 * logs of these, by the points' weights. */
double mixture_densities(double *logs, const double *weight, int parts, size_t n);
/* mix (parts): the weights under which points of these weights (n) are most likely, given such densities; their mean log
 * density. NaN: no point has a weight. */
double mixture_weights(const double *density, const double *weight, double tops, int parts, size_t n,
                       double *mix);

/* ---- descent.c: stochastic gradients for what is no field ----------------------------------------------- */

typedef struct descent {
    npmd_model *model; /* its options rule; its facts are filled, its state holds theta */
    size_t n;          /* points that an epoch passes through */
    size_t parameters;
    double *theta;
    const rate_share *shares; /* NULL: 1 throughout */
    /* The data term, -mean v, and the integral, mean exp v, at theta; their gradient is added to gradient. */
    npmd_status (*terms)(void *self, int64_t step, double *gradient, double *data, double *integral,
                         npmd_error *err);
    /* After a step, with as many done; *stop: that is enough. May be NULL. */
    npmd_status (*look)(void *self, int64_t steps, bool *stop, npmd_error *err);
    npmd_status (*log_integral)(void *self, double *out, npmd_error *err); /* for reports against a truth */
    void *self;
} descent;
npmd_status descend(const descent *what, npmd_error *err);
/* The sizes that a field would have, without encoding and penalty. */
npmd_status descent_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                            npmd_error *err);
/* The data points of a step: every epoch is a new shuffle, cut into batches. */
void descent_batch(const npmd_options *opt, const npmd_points *pts, int64_t step, point_source *out);

/* ---- psnf.c --------------------------------------------------------------------------------------------- */

/* log M(r) for the mean M of exp(r e_1) over the unit sphere of R^embedding; *slope = (log M)'(r) / r. */
double sphere_log_mean(int embedding, double r, double *slope);

typedef struct psnf { /* rate = |V psi|^2 + v0^2, psi_i = exp(w_i . e + b_i) */
    int width, embedding;
    double *theta; /* W (width, embedding), V (width, width), v0 */
    double *bias;  /* (width), fixed */
} psnf;
size_t psnf_parameters(const psnf *p);
typedef struct psnf_work psnf_work;
npmd_status psnf_work_open(const npmd_domain *dom, const psnf *p, int threads, psnf_work **out,
                           npmd_error *err);
void psnf_work_close(psnf_work *w);
/* -mean log rate and the integral, whose gradients are added. */
void psnf_terms(psnf_work *w, const psnf *p, const point_source *data, double *gradient, double *data_term,
                double *integral);
double psnf_log_integral(psnf_work *w, const psnf *p);

/* ---- relu.c --------------------------------------------------------------------------------------------- */

/* v = W_L h_(L-1) + b_L, h_l = max(0, W_l h_(l-1) + b_l), h_0 the point's own columns; theta as a field's without skip,
 * its features being the columns. */
typedef struct relu_work relu_work;
npmd_status relu_work_open(const npmd_domain *dom, const field_shape *shape, int threads, bool gradients,
                           relu_work **out, npmd_error *err);
void relu_work_close(relu_work *w);
void relu_work_put(relu_work *w, const double *theta);
/* *sum = the sum over points of weight x v, or of weight x exp v; factor times its gradient is added. */
void relu_term(relu_work *w, const point_source *points, bool exponential, double factor, double *gradient,
               double *sum);

/* ---- model.c ------------------------------------------------------------------------------------------- */

void model_warn(npmd_model *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
npmd_status model_values(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, double *v,
                         npmd_error *err);
/* A values_fn: computed where the model is fitted. */
npmd_status model_own_values(void *m, const double *x, size_t n, double *v, npmd_error *err);
npmd_status model_check_domain(const npmd_model *m, const npmd_domain *dom, const char *what,
                               npmd_error *err);
double model_offset(const npmd_model *m);         /* log f = v - offset */
npmd_compute compute_of(const npmd_options *opt); /* where a fit computes, for asking its model */

/* ---- surface_file.c: the surfaces of a domain in a model's file ------------------------------------------- */

typedef struct surface_shelf { /* what a file holds, each once */
    const char *path;
    const manifold *surface[NPMD_MAX_FACTORS];
    int count;
} surface_shelf;
npmd_status surfaces_json(const npmd_model *m, json_t *into,
                          npmd_error *err); /* as "surfaces", if there are any */
/* Adds tensors: mesh, eigenvalues and eigenfunctions up to the highest frequency that the model, or a part, has. */
npmd_status surfaces_save(const npmd_model *m, record *rec, npmd_error *err);
npmd_status surfaces_load(const record *rec, const json_t *root, const char *path, surface_shelf *out,
                          npmd_error *err);
void surfaces_close(surface_shelf *s);
npmd_status surfaces_find(void *shelf, const char *hash, const manifold **out, npmd_error *err);

/* ---- sample.c -------------------------------------------------------------------------------------------- */

/* As npmd_sample; rows are as the domain has them, not in the user's coordinates. */
npmd_status model_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                         npmd_error *err);

/* ---- sketch.c: where a model has its mass, and slices of it --------------------------------------------- */

/* Asked before every piece of what takes long; nonzero: it ends with NPMD_STOPPED. stop may be NULL: nobody is asked. */
typedef struct asking {
    int (*stop)(void *user);
    void *user;
} asking;
#define ASKING_PIECE 2048 /* points */
npmd_status asking_go_on(const asking *ask, npmd_error *err);

typedef struct slice { /* some factors fixed: a function on the product of the others */
    const npmd_model *model;
    const npmd_compute *how;
    unsigned given;    /* bit d: factor d is fixed */
    npmd_domain *rest; /* the product of the others */
    double x[DOMAIN_MAX_COLUMNS];
    double *room;
    asking ask; /* while values are computed */
} slice;
npmd_status slice_open(slice *s, const npmd_model *m, const npmd_compute *how, unsigned given,
                       npmd_error *err);
void slice_close(slice *s);
/* Do the points lie on the product of these factors? */
npmd_status slice_check(const npmd_model *m, unsigned factors, const npmd_points *at, npmd_error *err);
void slice_fix(slice *s, const double *given); /* the fixed factors' columns, side by side */
void slice_rows(const slice *s, const double *y, size_t n, double *x); /* whole points */
npmd_status slice_values(void *self, const double *y, size_t n, double *v, npmd_error *err);
/* The columns of these factors of a whole point, side by side. */
void factors_gather(const npmd_domain *dom, unsigned factors, const double *row, double *packed);

#define SKETCH_SHARE 0.25 /* uniform points in its proposals: they bound the ratio where no kernel stands */
typedef struct sketch {
    npmd_points *pool; /* weighted by the model */
    double *cumulative;
    double effective; /* share of its points */
    double rho;       /* of the kernels that suit it, */
    int centres;      /* and how many */
    int threads;
    uint64_t seed;
} sketch;
npmd_status sketch_open(sketch *k, const npmd_model *m, const npmd_compute *how, uint64_t seed,
                        const asking *ask, npmd_error *err);
void sketch_close(sketch *k);
/* A proposal for the slice as it is fixed now, on the product of its other factors. */
npmd_status sketch_proposal(const sketch *k, const slice *s, int centres, rng_key key, proposal *out,
                            npmd_error *err);

/* ---- marginal.c: integrals over some factors, one a point ---------------------------------------------- */

typedef struct marginal_integral {
    slice at;
    sketch learnt; /* only where quadrature does not reach */
    double accuracy, log_volume;
    uint64_t seed;
    int threads;
    size_t most_points; /* of one integral */
} marginal_integral;
/* Open once for many points: where the model has its mass is learnt here, which may take longer than an integral. */
npmd_status marginal_open(marginal_integral *g, const npmd_model *m, unsigned factors, double accuracy,
                          uint64_t seed, const npmd_compute *how, const asking *ask, npmd_error *err);
/* The same without learning: uniform points and few of them, for the integral over a single factor. */
npmd_status marginal_open_plain(marginal_integral *g, const npmd_model *m, unsigned factors, double accuracy,
                                uint64_t seed, const npmd_compute *how, const asking *ask, npmd_error *err);
/* log f_A at one point of the factors, and its standard error. */
npmd_status marginal_log_density(marginal_integral *g, const double *x, double *log_density, double *se,
                                 npmd_error *err);
void marginal_close(marginal_integral *g);

/* ---- score.c ------------------------------------------------------------------------------------------- */

/* The mean of value (n) over points by their weights, and its standard error. */
void weighted_mean(const npmd_points *pts, const double *value, double *mean, double *se);
/* While m is fitted, and v with the report's log integral is its function: nise and ae against the truth that was given. */
npmd_status report_truth(const npmd_model *m, values_fn v, void *self, npmd_report *report, npmd_error *err);

/* ---- normalise.c: integrals over the domain, with their error ------------------------------------------ */

typedef struct integral_request {
    const npmd_domain *domain;
    const npmd_points *about; /* kernels of the proposal stand on these; NULL: uniform points, */
    const proposal *aimed;    /* unless a proposal is given as it is */
    size_t coarsest;          /* resolution of the first quadrature rule; 0: 64 */
    uint64_t seed;
    rng_purpose purpose;
    double target;      /* stop when the error of the log integral is below this */
    size_t most_points; /* or when this many were used */
    int threads;
    int (*stop)(void *user); /* asked between refinements; nonzero: this is accurate enough. May be NULL */
    void *user;
} integral_request;

typedef struct integral_result { /* relative to the uniform measure */
    double log_integral, log_integral_se;
    double log_square,
        square_se; /* log of the mean of exp(2 v); standard error of mean exp(2v) / mean exp(v)^2 */
    double square; /* mean exp(2v) / (mean exp v)^2: mean of the squared relative density */
    size_t points;
} integral_result;

/* By quadrature rules that converge faster than any power of their resolution; else by quasi-random points. */
bool integrate_by_rules(const npmd_domain *dom);
size_t integrate_bytes(const npmd_domain *dom); /* the most it takes */
npmd_status integrate(const integral_request *what, values_fn values, void *self, integral_result *out,
                      npmd_error *err);
/* A quadrature rule on every factor; resolution 1, 2, ... */
typedef struct rules {
    size_t nodes[NPMD_MAX_FACTORS], total;
    double *x[NPMD_MAX_FACTORS], *weight[NPMD_MAX_FACTORS];
} rules;
npmd_status rules_open(rules *r, const npmd_domain *dom, size_t resolution, npmd_error *err);
void rules_close(rules *r);
double rules_point(const rules *r, const npmd_domain *dom, size_t index,
                   double *x); /* its weight; their sum is 1 */

/* A sign of life after the last step; nonzero: enough, and m's fit counts as interrupted. */
int model_stop(void *m);
/* After a fit: the log integral of v, to the accuracy asked for, into the facts; a warning if it is not reached. */
npmd_status model_normalise(npmd_model *m, values_fn values, void *self, const npmd_points *pts,
                            size_t most_points, npmd_error *err);

#endif
