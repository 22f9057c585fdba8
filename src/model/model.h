/* model.h - a fit as a plan, and the model that it makes: fitting, evaluating, normalising, saving and loading.
 *
 * An estimator is one table of functions and one file. A plan says which one fits what, completely; fit_run runs it. A
 * model holds its domain, its settings, the facts of its fit and the estimator's own state. Its v is the log of an
 * unnormalised density relative to the uniform measure: log f = v - log Z - log Vol, log Z the stored log integral.
 *
 * A model may be made of others, its parts, with weights that sum to one (blend_values.c). */
#ifndef NPMD_MODEL_H
#define NPMD_MODEL_H

#include "derive.h"
#include "io.h"
#include "json.h"
#include "surface.h"
#include "training.h"
#include "truth.h"

typedef struct estimator estimator;
typedef struct evaluator evaluator;

/* ---- Plans -------------------------------------------------------------------------------------------------- */

/* Which estimator fits such settings on this domain: the list of all is far to the right, and is handed in. */
typedef const estimator *(*catalog)(const settings *set, const npmd_domain *dom);

#define MODEL_HASH 17                                      /* 16 digits and a closing zero */
typedef struct fit_origin {                                /* models that a fit begins with, read once */
    const npmd_model *model;                               /* gives weights, */
    const npmd_model *encoded;                             /* gives the encoding; NULL: there is none */
    char model_hash[MODEL_HASH], encoded_hash[MODEL_HASH]; /* of their files */
    const char *model_path, *encoded_path;                 /* for messages */
} fit_origin;

/* All that decides the answer, but for the points. It is not changed once it is made, and says nothing of files, clocks
 * or callbacks: equal plans and equal points give equal models. What it points to is borrowed. */
typedef struct fit_plan {
    settings asked; /* as they were asked for: what was left open, and what a checkpoint is known by */
    settings full;  /* with every size that the estimator reads */
    const estimator *kind;
    catalog estimators;
    const npmd_domain *domain;
    size_t n;          /* points */
    size_t bytes;      /* of memory that the fit takes, beside its points */
    fit_origin origin; /* all zero: it begins by itself */
} fit_plan;
/* A plan for another fit that this one needs, to so many points. */
npmd_status plan_derive(const fit_plan *from, const derived *d, size_t n, fit_plan *out, npmd_error *err);
npmd_status plan_make(catalog estimators, const settings *asked, const fit_origin *origin, const npmd_domain *dom,
                      size_t n, fit_plan *out, npmd_error *err);

/* ---- Estimators --------------------------------------------------------------------------------------------- */

typedef struct fit { /* one that runs */
    const fit_plan *plan;
    const npmd_points *points;
    const fit_watch *watch;
    npmd_model *model; /* in the making: its settings begin as the plan's and become what was chosen */
    double before;     /* seconds that were spent before it was resumed */
} fit;

struct estimator {
    const char *name; /* for messages */
    bool keeps;       /* checkpoints, to go on from */
    /* Fills what is open of p->full, which begins as what was asked for, and p->bytes; or says why that cannot be. */
    npmd_status (*complete)(fit_plan *p, npmd_error *err);
    /* Fills the model's state, the facts' objective, steps, restarts and seconds, the log integral with its error. */
    npmd_status (*fit)(fit *f, npmd_error *err);
    /* v at n points: values (n), or jets (n, dimension + 2). What it keeps open from one call to the next, or NULL. */
    npmd_status (*open)(const npmd_model *m, const npmd_compute *how, void **out, npmd_error *err);
    npmd_status (*evaluate)(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
    void (*close)(void *open);
    /* n independent draws, rows of x: functions of (seed, row). NULL: by rejection. */
    npmd_status (*draw)(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x,
                        npmd_error *err);
    /* Of a density with peaks that points drawn at random would miss: the mean of exp log_g under it, by draws that
     * meet them, with a standard error that need not be below enough. NULL: it has no such peaks. */
    npmd_status (*mean)(const npmd_model *m, uint64_t seed, values_fn log_g, void *self, double enough, double *mean,
                        double *se, npmd_error *err);
    /* NULL where there is no state of its own to save, load, describe or free. */
    npmd_status (*save)(const npmd_model *m, record *rec, npmd_error *err); /* adds tensors, which may borrow */
    npmd_status (*load)(npmd_model *m, const record *rec, const char *path, npmd_error *err);
    npmd_status (*describe)(const npmd_model *m, json_t *into, npmd_error *err);
    void (*free)(void *state);
};
extern const estimator ESTIMATOR_UNIFORM;

/* Runs a plan. The points lie on its domain. */
npmd_status fit_run(const fit_plan *plan, const npmd_points *pts, const fit_watch *watch, npmd_model **out,
                    npmd_error *err);
/* A sign of life between steps, or after the last; nonzero: enough, and the fit counts as interrupted. */
int fit_stop(void *f);
int64_t fit_log_every(const fit *f); /* steps between reports */
/* The log integral of v, to the accuracy asked for, into the facts; a warning if it is not reached. */
npmd_status fit_normalise(fit *f, values_fn values, void *self, size_t most_points, npmd_error *err);
npmd_status fit_normalise_model(fit *f, size_t most_points, npmd_error *err); /* the same, v being the model's */
/* While it runs, v with the report's log integral being its function: nise and ae against the truth that is watched. */
npmd_status fit_truth(const fit *f, values_fn v, void *self, npmd_report *report, npmd_error *err);

/* ---- The model ---------------------------------------------------------------------------------------------- */

typedef struct fit_facts {
    size_t n;
    double tau;
    uint64_t seed;
    int64_t steps;
    double seconds, objective, log_integral, log_integral_se;
    double convex_optimum, convex_gap, convex_gap_accuracy; /* of a field, nats; NaN: not known */
    int restarts, members, interrupted;
    int stopped;                  /* stop_rule that ended a field's fit before its steps were done */
    int64_t kept_step;            /* whose weights the field has, where a rule chose; 0: the last step's */
    int64_t resumed;              /* steps that a checkpoint had done already, in its attempt; 0: none */
    char checkpoint_failure[256]; /* why the last checkpoint could not be written; "": it was */
    size_t working_bytes;
} fit_facts;

typedef struct choice_row { /* as npmd_choice_row */
    int stage;
    int64_t steps;
    double tau, criterion, criterion_se, difference, difference_se;
    int kept;
    char settings[128];
} choice_row;
typedef struct choice_record { /* choice.c: what was compared; all zero: nothing was */
    int criterion;             /* choice_criterion */
    size_t training, held_out;
    choice_row *row;
    int rows;
    size_t room;
} choice_record;

#define MODEL_MAX_WARNINGS 16
struct npmd_model {
    const estimator *kind;
    void *state; /* the estimator's own */
    npmd_domain *domain;
    settings set;
    fit_facts facts;
    double total; /* n, or the sum of the weights: what the intensity integrates to */
    char started_from[MODEL_HASH], encoded_from[MODEL_HASH]; /* hashes of other models' files; "": there was none */
    uint64_t *seen;                                          /* of the rows it was made of, see points_seen */
    size_t seen_count;
    choice_record choice;
    int warnings;
    char warning[MODEL_MAX_WARNINGS][256];
    bool linear;         /* a field whose network only did harm: its linear start alone */
    npmd_model **part;   /* what it is made of, if of models, */
    double *part_weight; /* with their weights, sum 1 */
    int parts;
    double held_out_nll, held_out_nll_se; /* of a stack and its parts, per volume; NaN: not known */
};
void model_free(npmd_model *m); /* accepts NULL */
void model_warn(npmd_model *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
npmd_status model_check_domain(const npmd_model *m, const npmd_domain *dom, const char *what, npmd_error *err);
double model_offset(const npmd_model *m);        /* log f = v - offset */
npmd_compute model_compute(const settings *set); /* where a fit computes, for asking its model */

npmd_status choice_add(choice_record *c, const choice_row *row, npmd_error *err);
npmd_status choice_to_json(const choice_record *c, json_t *into, npmd_error *err); /* as "choice", if there is one */
npmd_status choice_from_json(choice_record *c, const json_t *root, const char *path, npmd_error *err);
void choice_close(choice_record *c);

/* Which rows a model was made of, so that it is not judged by them in silence: the smallest hashes of its rows, sorted,
 * SEEN_MOST at most. Whether another row is among them is known for every hash up to the largest. */
#define SEEN_MOST 16384
npmd_status points_seen(const npmd_points *pts, uint64_t **out, size_t *count, npmd_error *err);
double points_seen_before(const npmd_points *pts, const uint64_t *seen,
                          size_t count); /* about how many; NaN: unknown */

/* ---- evaluate.c, mirror.c: values ----------------------------------------------------------------------------- */

/* v of any model: all but its own fit and its own file asks here. Opened once, asked many times, by one thread. */
struct evaluator {
    const npmd_model *model;
    const npmd_compute *how;
    void *open;      /* the estimator's */
    evaluator *part; /* (the model's parts) */
};
npmd_status evaluator_open(evaluator *e, const npmd_model *m, const npmd_compute *how, npmd_error *err);
void evaluator_close(evaluator *e); /* from {0}, too */
npmd_status evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
npmd_status evaluator_values(void *evaluator, const double *x, size_t n, double *v, npmd_error *err); /* a values_fn */
/* The same for a single call. */
npmd_status model_evaluate(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, jet_rows rows,
                           double *out, npmd_error *err);
npmd_status model_values(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, double *v,
                         npmd_error *err);
npmd_status model_own_values(void *m, const double *x, size_t n, double *v,
                             npmd_error *err); /* a values_fn: computed where the model is fitted */
const char *what_name(int i);                  /* of an npmd_what; NULL after the last */
npmd_status what_parse(const char *text, npmd_what *out, npmd_error *err);
size_t what_columns(const npmd_model *m, npmd_what what); /* numbers for each point */
bool what_needs_jets(npmd_what what);
size_t piece_points(const npmd_compute *how); /* that are evaluated together */
/* jet (n, dimension + 2) where it needs jets, else NULL; out (n, columns). */
npmd_status evaluate_what(const evaluator *e, npmd_what what, const double *x, size_t n, double *jet, double *out,
                          npmd_error *err);
npmd_status model_evaluate_at(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how,
                              double *out, npmd_error *err);
npmd_status model_evaluate_to(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how,
                              const char *path, npmd_error *err);
/* Unordered pairs: an error, if settings ask for them on a domain that is not M x M; whether a model is evaluated in
 * both orders; draws put in an order by chance. */
npmd_status mirror_check(const settings *set, const npmd_domain *dom, npmd_error *err);
bool model_mirrored(const npmd_model *m);
void mirror_rows(const npmd_domain *dom, const double *x, size_t n, double *y); /* factors exchanged; y may be x */
void mirror_jet(const npmd_domain *dom, double *jet);
void mirror_draws(const npmd_model *m, uint64_t seed, size_t n, double *x);

/* ---- blend_values.c: models made of models --------------------------------------------------------------------- */

npmd_status blend_open(npmd_model *m, int parts, npmd_error *err); /* of equal weights, still empty */
void blend_close(npmd_model *m);
npmd_status blend_log_mean(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
npmd_status blend_mixture(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
/* The value or jet of log((exp a + exp b) / 2) from two of this length; out may be one of them. */
void mixture_of_two(const double *a, const double *b, size_t length, double *out);
/* Those of m's parts, and of their parts in turn, that have peaks (estimator.mean), or the others; m itself where it is
 * no mixture. It borrows them; the weights are those they have in m. */
typedef struct blend_parts {
    const npmd_domain *domain;
    int parts;
    evaluator *part;
    double *weight;
} blend_parts;
npmd_status blend_leaves(const npmd_model *m, bool peaked, const npmd_compute *how, blend_parts *out, npmd_error *err);
void blend_leaves_close(blend_parts *p);
npmd_status blend_leaves_values(const blend_parts *p, const double *x, size_t n, double *out,
                                npmd_error *err); /* log of their sum by their weights */
npmd_status blend_spread(const evaluator *e, const double *x, size_t n, double *out,
                         npmd_error *err); /* out (n): the standard deviation of the members' log densities */
int blend_members(const npmd_model *m);    /* that were fitted alike; 1: there is no spread */
int blend_first(const npmd_model *m);      /* the first that counts for it */
/* log_density (members, n): of each, relative to the uniform measure. */
npmd_status blend_replicates(const evaluator *e, const double *x, size_t n, double *log_density, npmd_error *err);

/* ---- model_file.c
 * -------------------------------------------------------------------------------------------------- */

npmd_status model_save(const npmd_model *m, const char *path, npmd_error *err);
npmd_status model_pack(const npmd_model *m, char **bytes, size_t *size, npmd_error *err);
npmd_status model_load(const char *path, catalog estimators, npmd_model **out, npmd_error *err);
npmd_status model_unpack(const char *bytes, size_t size, catalog estimators, npmd_model **out, npmd_error *err);
npmd_status model_describe(const npmd_model *m, char **json, npmd_error *err);

#endif
