/* model.h - plans of fits, and models: fitting, evaluating, normalising, saving and loading.
 *
 * An estimator is one table of functions. A plan says completely which estimator fits what; fit_run runs it. A model
 * holds its domain, its settings, the facts of its fit and the estimator's own state. Its v is the log of an
 * unnormalised density relative to the uniform measure: log f = v - log Z - log Vol, with log Z the stored log
 * integral.
 *
 * A model may be made of others, its parts, with weights that sum to one (blend_values.c); or it changes another, its
 * base: then v is the sum of the estimator's and of the log of the base's relative density. */
#ifndef NPMD_MODEL_H
#define NPMD_MODEL_H

#include "derive.h"
#include "io.h"
#include "json.h"
#include "surface.h"
#include "training.h"
#include "truth.h"

#include <stdatomic.h>

typedef struct estimator estimator;
typedef struct evaluator evaluator;

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* The estimator for such settings on this domain. The list of all estimators is not known here (api/catalog.c) and is
 * handed in. */
typedef const estimator *(*catalog)(const settings *set, const npmd_domain *dom);

#define MODEL_HASH 17                                      /* 16 digits and a closing zero */
typedef struct fit_origin {                                /* the models that a fit starts from */
    const npmd_model *model;                               /* gives the initial weights; NULL: none */
    const npmd_model *encoded;                             /* gives the encoding; NULL: none */
    const npmd_model *base;                                /* the density that a field changes; NULL: see settings */
    struct base_set *bases;                                /* all that belongs to the base, ready; NULL: made anew */
    char model_hash[MODEL_HASH], encoded_hash[MODEL_HASH]; /* of their files */
    char base_hash[MODEL_HASH];
    const char *model_path, *encoded_path; /* for messages */
} fit_origin;

/* All that determines the answer, apart from the points. A plan is immutable and does not depend on files, clocks or
 * callbacks: equal plans and equal points give equal models. What it points to is borrowed. */
typedef struct fit_plan {
    settings asked; /* as asked for, with open values; they identify a checkpoint */
    settings full;  /* the same with every value that the estimator reads */
    const estimator *kind;
    catalog estimators;
    const npmd_domain *domain;
    size_t n;          /* points */
    size_t bytes;      /* memory that the fit takes, besides its points */
    fit_origin origin; /* all zero: it starts from no model */
    bool rough;        /* its log integral need not be known: it is a member, and the blend has its own */
} fit_plan;
/* The plan of another fit, to n points, that this one needs. */
npmd_status plan_derive(const fit_plan *from, const derived *d, size_t n, fit_plan *out, npmd_error *err);
npmd_status plan_make(catalog estimators, const settings *asked, const fit_origin *origin, const npmd_domain *dom,
                      size_t n, fit_plan *out, npmd_error *err);

/* ---- Estimators -------------------------------------------------------------------------------------------------- */

typedef struct fit { /* a fit while it runs */
    const fit_plan *plan;
    const npmd_points *points;
    const fit_watch *watch;
    npmd_model *model;      /* being fitted; its settings begin as the plan's and become what is chosen */
    struct kept_fits *kept; /* kept.h: what is kept of it; NULL: nothing */
} fit;

struct estimator {
    const char *name; /* for messages */
    bool keeps;       /* it writes checkpoints */
    /* Fills p->bytes and the open values of p->full, which begins as p->asked; or an error. */
    npmd_status (*complete)(fit_plan *p, npmd_error *err);
    /* Fills the model's state and the facts: objective, steps, restarts, seconds, and the log integral with its
     * error. */
    npmd_status (*fit)(fit *f, npmd_error *err);
    /* v at n points: values (n), or jets (n, dimension + 2). open: what is kept between two calls, or NULL. */
    npmd_status (*open)(const npmd_model *m, const npmd_compute *how, void **out, npmd_error *err);
    npmd_status (*evaluate)(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
    void (*close)(void *open);
    /* n independent draws, rows of x: functions of (seed, row). NULL: by rejection. */
    npmd_status (*draw)(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x,
                        npmd_error *err);
    /* For a density with peaks that random points would miss: the mean of exp log_g under it, from draws that meet the
     * peaks; its standard error need not be below enough. NULL: it has no such peaks. */
    npmd_status (*mean)(const npmd_model *m, uint64_t seed, values_fn log_g, void *self, double enough, double *mean,
                        double *se, npmd_error *err);
    /* The mean of f_a f_b, both of this estimator, in closed form; NaN: it would take too long. NULL: there is none. */
    npmd_status (*overlap)(const npmd_model *a, const npmd_model *b, const npmd_compute *how, double *out,
                           npmd_error *err);
    /* NULL where there is no state to save, load, describe or free; save adds tensors, which may borrow from it. */
    npmd_status (*save)(const npmd_model *m, record *rec, npmd_error *err);
    npmd_status (*load)(npmd_model *m, const record *rec, const char *path, npmd_error *err);
    npmd_status (*describe)(const npmd_model *m, json_t *into, npmd_error *err);
    void (*free)(void *state);
};
extern const estimator ESTIMATOR_UNIFORM;

/* Runs a plan on points of its domain. */
npmd_status fit_run(const fit_plan *plan, const npmd_points *pts, const fit_watch *watch, npmd_model **out,
                    npmd_error *err);
/* Reports progress between steps or after the last; nonzero: stop, the fit counts as interrupted. */
int fit_stop(void *f);
int64_t fit_log_every(const fit *f); /* steps between reports */
/* Puts the log integral of v, to the accuracy asked for, into the facts; warns if it is not reached. */
npmd_status fit_normalise(fit *f, values_fn values, void *self, size_t most_points, npmd_error *err);
integral_request fit_integral(fit *f, size_t most_points); /* what it asks for */
void fit_normalised(fit *f, const integral_result *z);     /* puts it into the facts, and warns */
/* The same for the model's own v. known: what a grid found, to be checked; or NULL. */
npmd_status fit_normalise_model(fit *f, size_t most_points, const integral_result *known, npmd_error *err);
/* During the fit: fills the report's nise and ae against the watched truth, for v and the report's log integral. */
npmd_status fit_truth(const fit *f, values_fn v, void *self, npmd_report *report, npmd_error *err);

/* ---- The model --------------------------------------------------------------------------------------------------- */

typedef struct fit_facts {
    size_t n;
    double tau;
    uint64_t seed;
    int64_t steps;
    double seconds, objective, log_integral, log_integral_se;
    double convex_optimum, convex_gap, convex_gap_accuracy; /* of a field, in nats; NaN: not known */
    int restarts, members, interrupted;
    int stopped;                  /* the stop_rule that ended a field's fit early */
    int64_t kept_step;            /* the step whose weights a stop rule kept; 0: the last step */
    int64_t resumed;              /* steps done before the fit was resumed, in that attempt; 0: none */
    char checkpoint_failure[256]; /* why the last checkpoint could not be written; "": it was */
    size_t working_bytes;
    int64_t twins; /* points that equal another one; -1: not counted */
} fit_facts;

typedef struct choice_row { /* as npmd_choice_row */
    int stage;
    int64_t steps;
    double tau, criterion, criterion_se, difference, difference_se;
    int kept;
    char settings[128];
} choice_row;
typedef struct choice_rival { /* as npmd_rival */
    char estimator[16];
    double nll, nll_se, difference, difference_se;
} choice_rival;
#define CHOICE_RIVALS 8
typedef struct choice_record { /* choice.c: the fits that were compared; all zero: none */
    int criterion;             /* choice_criterion */
    size_t training, held_out;
    choice_row *row;
    int rows;
    size_t room;
    choice_rival rival[CHOICE_RIVALS];
    int rivals;
    double *log_density; /* (held_out): of the best row, per volume; in no file. NULL: not known */
} choice_record;

#define MODEL_MAX_WARNINGS 16
struct npmd_model {
    const estimator *kind;
    void *state; /* the estimator's own */
    npmd_domain *domain;
    settings set;
    fit_facts facts;
    double total; /* n, or the sum of the weights: the integral of the intensity */
    char started_from[MODEL_HASH], encoded_from[MODEL_HASH]; /* hashes of the files of other models; "": none */
    uint64_t *seen;                                          /* hashes of the rows it was fitted to, see points_seen */
    size_t seen_count;
    choice_record choice;
    int warnings;
    char warning[MODEL_MAX_WARNINGS][256];
    bool linear;         /* a field whose network did not help: it is its linear start */
    npmd_model **part;   /* (parts): the models it is made of; NULL: none */
    double *part_weight; /* (parts): their weights, sum 1 */
    int parts;
    npmd_model *base;                     /* f = base exp(v - log Z), v the estimator's; NULL: the uniform density */
    atomic_size_t shared;                 /* owners besides the first */
    double held_out_nll, held_out_nll_se; /* per volume, where settings or weights were chosen; NaN: not known */
};
void model_free(npmd_model *m); /* accepts NULL */
/* The same model with one owner more, who frees it, too. Nobody changes it from now on. */
npmd_model *model_share(const npmd_model *m);
void model_warn(npmd_model *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
npmd_status model_check_domain(const npmd_model *m, const npmd_domain *dom, const char *what, npmd_error *err);
double model_offset(const npmd_model *m);        /* log f = v - offset */
npmd_compute model_compute(const settings *set); /* where a fit with these settings computes */

npmd_status choice_add(choice_record *c, const choice_row *row, npmd_error *err);
npmd_status choice_to_json(const choice_record *c, json_t *into, npmd_error *err); /* adds "choice", if there is one */
npmd_status choice_from_json(choice_record *c, const json_t *root, const char *path, npmd_error *err);
void choice_close(choice_record *c);

/* Which rows a model was fitted to, so that a score on the same rows carries a warning: the smallest hashes of its
 * rows, sorted, at most SEEN_MOST. For every hash up to the largest of these it is known whether a row was seen. */
#define SEEN_MOST 16384
npmd_status points_seen(const npmd_points *pts, uint64_t **out, size_t *count, npmd_error *err);
/* About how many of the points were seen; NaN: unknown. */
double points_seen_before(const npmd_points *pts, const uint64_t *seen, size_t count);

/* ---- evaluate.c, mirror.c: values -------------------------------------------------------------------------------- */

/* v of any model; used by everything but its fit and its file. Opened once and used many times, by one thread. */
struct evaluator {
    const npmd_model *model;
    const npmd_compute *how;
    void *open;      /* the estimator's */
    evaluator *part; /* (parts of the model) */
    evaluator *base; /* of the model's base; NULL: it has none */
};
npmd_status evaluator_open(evaluator *e, const npmd_model *m, const npmd_compute *how, npmd_error *err);
void evaluator_close(evaluator *e); /* accepts {0} */
npmd_status evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
npmd_status evaluator_values(void *evaluator, const double *x, size_t n, double *v, npmd_error *err); /* a values_fn */
/* The same, opened for a single call. */
npmd_status model_evaluate(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, jet_rows rows,
                           double *out, npmd_error *err);
npmd_status model_values(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, double *v,
                         npmd_error *err);
/* A values_fn: computed where the model was fitted. */
npmd_status model_own_values(void *m, const double *x, size_t n, double *v, npmd_error *err);
const char *what_name(int i); /* name of an npmd_what; NULL after the last */
npmd_status what_parse(const char *text, npmd_what *out, npmd_error *err);
size_t what_columns(const npmd_model *m, npmd_what what); /* numbers for each point */
bool what_needs_jets(npmd_what what);
size_t piece_points(const npmd_compute *how); /* points evaluated together */
/* jet (n, dimension + 2): scratch where what_needs_jets, else NULL; out (n, what_columns). */
npmd_status evaluate_what(const evaluator *e, npmd_what what, const double *x, size_t n, double *jet, double *out,
                          npmd_error *err);
npmd_status model_evaluate_at(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how,
                              double *out, npmd_error *err);
npmd_status model_evaluate_to(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how,
                              const char *path, npmd_error *err);
/* Unordered pairs. mirror_check: an error if the settings ask for them on a domain that is not M x M. model_mirrored:
 * is v averaged over both orders? mirror_draws: puts each draw in a random order. */
npmd_status mirror_check(const settings *set, const npmd_domain *dom, npmd_error *err);
bool model_mirrored(const npmd_model *m);
void mirror_rows(const npmd_domain *dom, const double *x, size_t n, double *y); /* exchanges the factors; y may be x */
void mirror_jet(const npmd_domain *dom, double *jet);
void mirror_draws(const npmd_model *m, uint64_t seed, size_t n, double *x);

/* ---- model_file.c ------------------------------------------------------------------------------------------------ */

#define MODEL_DEEPEST 6               /* models within models: members of a stack have 2, each base below has 1 more */
int model_depth(const npmd_model *m); /* models within models, below this one */
npmd_status model_save(const npmd_model *m, const char *path, npmd_error *err);
npmd_status model_pack(const npmd_model *m, char **bytes, size_t *size, npmd_error *err);
npmd_status model_load(const char *path, catalog estimators, npmd_model **out, npmd_error *err);
npmd_status model_unpack(const char *bytes, size_t size, catalog estimators, npmd_model **out, npmd_error *err);
npmd_status model_describe(const npmd_model *m, char **json, npmd_error *err);

#include "blend_values.h"
#endif
