/* field_fit.h - the field: the paper's estimator, from its plan to its file. */
#ifndef NPMD_FIELD_FIT_H
#define NPMD_FIELD_FIT_H

#include "series.h"

extern const estimator ESTIMATOR_FIELD;
extern const estimator ESTIMATOR_RELU;       /* the same with ReLUs on the point's own columns */
extern const estimator ESTIMATOR_SERIES_SGD; /* a series that is trained as a field of one layer */

/* ---- field_model.c: a fitted field ------------------------------------------------------------------------- */

typedef struct field_state {
    encoding encoding;
    field_shape shape;
    double *theta;
} field_state;
field_plan field_plan_of(const npmd_model *m);
npmd_status field_evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err);
npmd_status field_open(const npmd_model *m, const npmd_compute *how, void **out, npmd_error *err);
void field_close(void *open);
npmd_status field_save(const npmd_model *m, record *rec, npmd_error *err);
npmd_status field_load(npmd_model *m, const record *rec, const char *path, npmd_error *err);
npmd_status field_describe(const npmd_model *m, json_t *into, npmd_error *err);
void field_free(void *state);

/* ---- encoding_file.c --------------------------------------------------------------------------------------- */

npmd_status encoding_save(const encoding *enc, record *rec, npmd_error *err); /* adds tensors that borrow */
/* For settings that describe a field on the domain. */
npmd_status encoding_load(const npmd_domain *dom, const settings *set, const record *rec, const char *path,
                          encoding *out, npmd_error *err);

/* ---- origin.c: fits that begin with another model ------------------------------------------------------------ */

/* The plan's encoding becomes that of the model it begins with; an error if that model does not fit. */
npmd_status origin_complete(fit_plan *p, npmd_error *err);
/* The coefficients (K) of the features in a series; how many features lie in its basis. */
int origin_project(const npmd_model *series, const encoding *enc, double *coefficient);

/* ---- field_watch.c: a field's fit while it runs ---------------------------------------------------------------- */

typedef struct field_watch {
    const fit *fit;
    const fit_watch *watch; /* the fit's, with the points that are held out */
    backend *backend;
    objective *terms;
    snr ratios;       /* open where they are wanted */
    stopping rule;    /* of early stopping */
    train_look table; /* what training is shown */
} field_watch;
npmd_status field_watch_open(field_watch *w, const field_plan *plan, npmd_error *err);
void field_watch_close(field_watch *w);
const train_look *field_watch_look(const field_watch *w); /* NULL: nothing is to be looked at */
stopping *field_watch_rule(field_watch *w);               /* NULL: it does not stop early */
/* The weights that early stopping chose, and what it did in words. */
npmd_status field_watch_settle(const field_watch *w, train_result *done_by, npmd_error *err);
npmd_status backend_values(void *b, const double *x, size_t n, double *v, npmd_error *err); /* a values_fn */

/* ---- checkpoint.c: the state of a fit in a file, to go on from -------------------------------------------------- */

typedef struct checkpoint checkpoint;
/* Opens what the watch asks for. With a file to resume, the tau and the warnings of that fit are taken over. *out stays
 * NULL when nothing was asked for; all but the next accept that. */
npmd_status checkpoint_open(const fit *f, checkpoint **out, npmd_error *err);
/* Before training: what is kept from now on, a rule that stops early among it (or NULL). *resume: the state to go on
 * from, theta and the moments being put into the backend; or NULL. */
npmd_status checkpoint_restore(checkpoint *c, backend *b, size_t parameters, stopping *rule, const train_state **resume,
                               npmd_error *err);
void checkpoint_close(checkpoint *c);
npmd_status checkpoint_seed(const char *path, uint64_t *seed, npmd_error *err); /* of the fit in this file */
bool checkpoint_chosen(const checkpoint *c); /* tau was chosen before it was written */
/* Writes the file when its time has come. now NULL: tau is still being chosen. A failure is remembered, and the fit
 * goes on. */
void checkpoint_keep(void *checkpoint, const train_state *now);
/* After the last step: a fit of several members that resumes is through with this one at once. */
void checkpoint_finish(checkpoint *c, const train_state *now);
/* Writes it now: NPMD_STOPPED when that was possible, else NPMD_OK: the model so far is all that can be saved. */
npmd_status checkpoint_stop(checkpoint *c, const train_state *now, npmd_error *err);
void checkpoint_report(const checkpoint *c, fit *f); /* its failure, and the seconds of runs before */

/* ---- gap.c: a field beside the optimum of its objective ---------------------------------------------------------- */

bool gap_wanted(const settings *full, const npmd_domain *dom, size_t n);
size_t gap_bytes(const field_plan *plan, int threads);
/* The least value of the objective over all functions, the constant solved for; NaN, infinite: not known. */
npmd_status gap_optimum(fit *f, double *optimum, double *accuracy, npmd_error *err);
/* Fills the facts' convex_optimum, convex_gap and its accuracy where they can be known. */
npmd_status field_gap(fit *f, const field_plan *plan, const double *theta, npmd_error *err);

#endif
