/* field_fit.h - the field, the paper's estimator: fitting, values, files, checkpoints. */
#ifndef NPMD_FIELD_FIT_H
#define NPMD_FIELD_FIT_H

#include "series.h"

extern const estimator ESTIMATOR_FIELD;
extern const estimator ESTIMATOR_RELU;       /* the same with ReLUs on the point's own columns */
extern const estimator ESTIMATOR_SERIES_SGD; /* a series trained as a field of one layer */

/* ---- field_model.c: a fitted field ------------------------------------------------------------------------------- */

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

/* ---- encoding_file.c --------------------------------------------------------------------------------------------- */

npmd_status encoding_save(const encoding *enc, record *rec, npmd_error *err); /* adds tensors that borrow from enc */
/* set: the settings of a field on this domain. */
npmd_status encoding_load(const npmd_domain *dom, const settings *set, const record *rec, const char *path,
                          encoding *out, npmd_error *err);

/* ---- origin.c: fits that begin with another model ---------------------------------------------------------------- */

/* The plan's encoding becomes that of the model it begins with; an error if that model does not fit. */
npmd_status origin_complete(fit_plan *p, npmd_error *err);
/* The coefficients (K) of the features in a series; returns how many features its basis contains. */
int origin_project(const npmd_model *series, const encoding *enc, double *coefficient);

/* ---- field_watch.c: a field's fit while it runs ------------------------------------------------------------------ */

typedef struct field_values { /* log f0 + v of a field while it is fitted */
    backend *backend;
    evaluator base; /* open where the field has one */
    npmd_compute how;
} field_values;
npmd_status field_values_at(void *field_values, const double *x, size_t n, double *out, npmd_error *err);

typedef struct field_watch {
    const fit *fit;
    const fit_watch *watch; /* the fit's own watch, with the held-out points */
    backend *backend;
    objective *terms;
    field_values *values;
    snr ratios;       /* signal-to-noise ratios; open where they are asked for */
    stopping rule;    /* of early stopping */
    train_look table; /* the table that training calls */
} field_watch;
npmd_status field_watch_open(field_watch *w, const field_plan *plan, npmd_error *err);
void field_watch_close(field_watch *w);
const train_look *field_watch_look(const field_watch *w); /* NULL: there is nothing to look at */
stopping *field_watch_rule(field_watch *w);               /* NULL: no early stopping */
/* Puts the weights that early stopping chose into the backend, and records what it did. */
npmd_status field_watch_settle(const field_watch *w, train_result *done_by, npmd_error *err);
npmd_status backend_values(void *b, const double *x, size_t n, double *v, npmd_error *err); /* a values_fn */

/* ---- checkpoint.c: the state of a fit in a file, to resume from -------------------------------------------------- */

typedef struct checkpoint checkpoint;
/* Opens what the watch asks for. With a file to resume from, takes over the tau and the warnings of that fit. *out
 * stays NULL when nothing was asked for; all functions but checkpoint_restore accept NULL. */
npmd_status checkpoint_open(const fit *f, checkpoint **out, npmd_error *err);
/* Before training: says what to keep from now on; rule: early stopping, or NULL. *resume: the state to resume from,
 * with theta and the moments put into the backend; or NULL. */
npmd_status checkpoint_restore(checkpoint *c, backend *b, size_t parameters, stopping *rule, const train_state **resume,
                               npmd_error *err);
void checkpoint_close(checkpoint *c);
bool checkpoint_chosen(const checkpoint *c); /* had tau been chosen when the file was written? */
/* Writes the file when it is due. now NULL: tau is still being chosen. A failure is remembered, and the fit goes on. */
void checkpoint_keep(void *checkpoint, const train_state *now);
/* After the last step: when a fit of several members is resumed, this member is already done. */
void checkpoint_finish(checkpoint *c, const train_state *now);
/* Writes the file now. NPMD_STOPPED: done; NPMD_OK: not possible, only the model so far can be saved. */
npmd_status checkpoint_stop(checkpoint *c, const train_state *now, npmd_error *err);
/* Stopped before there is anything to train: as when tau is being chosen, but what is being resumed stays as it is. */
npmd_status checkpoint_leave(checkpoint *c, npmd_error *err); /* NPMD_STOPPED */
void checkpoint_report(const checkpoint *c, fit *f);          /* its failure */

/* ---- gap.c: a field against the optimum of its objective --------------------------------------------------------- */

bool gap_wanted(const settings *full, const npmd_domain *dom, size_t n);
size_t gap_bytes(const field_plan *plan, int threads);
/* The minimum of the objective over all functions, the constant solved for; NaN, with infinite accuracy: not known. */
npmd_status gap_optimum(fit *f, double *optimum, double *accuracy, npmd_error *err);
/* Fills the facts' convex_optimum, convex_gap and convex_gap_accuracy where they can be computed. */
npmd_status field_gap(fit *f, const field_plan *plan, const double *theta, npmd_error *err);

#endif
