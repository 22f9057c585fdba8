/* kept.h - what is kept of a fit while it runs, so that it can be resumed at any point, and after its end.
 *
 * A fit whose checkpoint is the file F keeps there what it is, and where it trains by itself the state of that
 * (field_fit/checkpoint.c). The fits that it needs (pilots of a choice, members, parts) are kept in F.parts as they end.
 * Resumed, it does all again in the same order, and fit_run answers for the fits that have ended from that file. One
 * that takes long has a checkpoint of its own, F.parts.NUMBER, until it ends, and so on within it. */
#ifndef NPMD_KEPT_H
#define NPMD_KEPT_H

#include "model.h"

/* ---- described.c: what a checkpoint says of its fit -------------------------------------------------------------- */

/* {"domain", "data", "started_from", "encoded_from", "base", "within", "options"}: hashes stand for the data, for other
 * models, and for the fit that this one is a part of. Two fits with equal descriptions are one. */
npmd_status described_fit(const fit *f, json_t **out, npmd_error *err);
/* A checkpoint's description: begun, to be added to; then sealed, with the tensors beside it, into rec's metadata. */
npmd_status described_begin(const json_t *what, json_t **out, npmd_error *err);
npmd_status described_seal(json_t *root, record *rec, npmd_error *err);
/* The file, whole and undamaged, and its description; an error if it is another fit's. */
npmd_status described_read(const char *path, const json_t *what, record *rec, json_t **out, npmd_error *err);
/* The file to resume from, NULL: there is none. In a script that is run again and again the first run finds nothing. */
const char *described_resume(const fit_watch *w);
const char *described_path(const fit_watch *w); /* where it is kept; "": nowhere */

/* ---- kept.c ------------------------------------------------------------------------------------------------------ */

typedef struct kept_fits kept_fits;
/* Of a fit that is watched so; *out stays NULL where nothing is kept, and all functions accept NULL. */
npmd_status kept_open(const fit_watch *watch, kept_fits **out, npmd_error *err);
void kept_close(kept_fits *k);
int kept_told(const npmd_report *now, void *kept); /* progress of the fit itself: passed on with its line in the log */
/* resuming: fits that ended in earlier runs of this very fit are answered for. */
npmd_status kept_begin(kept_fits *k, const json_t *what, bool resuming, npmd_error *err);
/* All of this for a fit that trains nothing itself, with its file. */
npmd_status kept_compose(const fit *f, npmd_error *err);
npmd_status kept_compose_as(kept_fits *k, const fit_watch *watch, const json_t *what, npmd_error *err);
void kept_clear(kept_fits *k); /* nobody will ask for these fits again */
/* One of the fits that k needs: from an earlier run, or by fit_run. */
npmd_status kept_run(kept_fits *k, const fit_plan *plan, const npmd_points *pts, const fit_watch *watch,
                     npmd_model **out, npmd_error *err);
/* A fit was interrupted. NPMD_STOPPED: it can be resumed; NPMD_OK: it cannot, only the model so far can be saved. */
npmd_status kept_stop(const kept_fits *k, npmd_error *err);
uint64_t kept_within(const kept_fits *k, int number); /* stands for the fit of this number */
int64_t kept_lines(const kept_fits *k);               /* lines of the log so far */
double kept_clock(const kept_fits *k);                /* seconds of the fit, in all runs */
void kept_resume_at(kept_fits *k, int64_t lines, double clock);
const char *kept_failure(const kept_fits *k); /* why the last fit that ended could not be kept; "": it was */
double fit_clock(const fit *f, double since); /* the same; of a fit that is not kept, since then */

/* ---- model_file.c: a model among others in F.parts --------------------------------------------------------------- */

/* As in a file, but without surfaces, and with what only the fits around it ask for. */
npmd_status model_keep(const npmd_model *m, json_t **out, record *rec, npmd_error *err);
npmd_status model_kept(const record *rec, const json_t *root, const char *path, const fit_plan *plan, npmd_model **out,
                       npmd_error *err);

#endif
