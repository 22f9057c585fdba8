/* model.c - a fitted model: making, asking, saving, loading. */
#include "estimators.h"

#include <stdarg.h>
#include <stdio.h>

#define FILE_VERSION 1 /* of the model file; older ones stay readable */

/* In the order of npmd_estimator. */
static const estimator *const ESTIMATORS[] = { &ESTIMATOR_FIELD,  &ESTIMATOR_SERIES, &ESTIMATOR_KDE,
                                               &ESTIMATOR_PSNF,   &ESTIMATOR_RELU,   &ESTIMATOR_STACK,
                                               &ESTIMATOR_UNIFORM };

/* What fits: one estimator, or several members of it. */
static const estimator *kind_of(const npmd_options *opt)
{
    if (opt->estimator == NPMD_STACK || (opt->members <= 1 && !opt->bootstrap))
        return ESTIMATORS[opt->estimator];
    return opt->combine == NPMD_COMBINE_LOG ? &ESTIMATOR_LOG_MEAN : &ESTIMATOR_MIXTURE;
}

static int usual_members(const npmd_options *opt)
{
    return opt->bootstrap ? 16 : opt->estimator == NPMD_STACK ? 4 : 1;
}

const estimator *estimator_find(const char *name)
{
    for (size_t i = 0; i < sizeof ESTIMATORS / sizeof *ESTIMATORS; i++)
        if (strcmp(ESTIMATORS[i]->name, name) == 0)
            return ESTIMATORS[i];
    return NULL;
}

void npmd_model_free(npmd_model *m)
{
    if (m == NULL)
        return;
    if (m->kind != NULL)
        m->kind->free(m->state);
    blend_close(m);
    checkpoint_close(m->checkpoint);
    npmd_domain_free(m->domain);
    memory_free(m->seen);
    choice_close(&m->choice);
    memory_free(m);
}

void model_warn(npmd_model *m, const char *format, ...)
{
    va_list args;
    if (m->warnings == MODEL_MAX_WARNINGS)
        return;
    va_start(args, format);
    vsnprintf(m->warning[m->warnings++], sizeof *m->warning, format, args);
    va_end(args);
}

const npmd_domain *npmd_model_domain(const npmd_model *m)
{
    return m->domain;
}

npmd_fit_facts npmd_model_facts(const npmd_model *m)
{
    return m->facts;
}

int npmd_model_warnings(const npmd_model *m)
{
    return m->warnings;
}

const char *npmd_model_warning(const npmd_model *m, int i)
{
    return 0 <= i && i < m->warnings ? m->warning[i] : "";
}

int npmd_model_parts(const npmd_model *m)
{
    return m->parts;
}

npmd_part npmd_model_part(const npmd_model *m, int i)
{
    static const char *const KERNELS[] = { "kde fixed", "kde adaptive", "kde mixture" };
    if (i < 0 || i >= m->parts)
        return (npmd_part){ .name = "" };
    const npmd_model *part = m->part[i];
    return (npmd_part){ .name = part->options.estimator == NPMD_KDE
                                    ? KERNELS[part->options.bandwidth]
                                    : ESTIMATORS[part->options.estimator]->name,
                        .members = part->facts.members,
                        .weight = m->part_weight[i],
                        .held_out_nll = part->held_out_nll,
                        .held_out_nll_se = part->held_out_nll_se };
}

npmd_status npmd_options_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                                 size_t *working_bytes, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options asked = *opt, resolved;
    size_t bytes = 0;
    TRY(options_check(opt, err));
    if (asked.members == 0)
        asked.members = usual_members(opt);
    TRY(kind_of(&asked)->resolve(&asked, dom, n, &resolved, &bytes, err));
    if (working_bytes != NULL)
        *working_bytes = bytes;
    *out = resolved;
done:
    return st;
}

npmd_status npmd_fit(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt,
                     npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = NULL;
    char unused[200];
    const double started = clock_seconds();
    if (strcmp(dom->text, pts->domain->text) != 0) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "the points lie on %s, the fit was asked for on %s",
                       pts->domain->text, dom->text);
        goto done;
    }
    if (opt->truth != NULL && strcmp(npmd_truth_domain(opt->truth)->text, dom->text) != 0) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "the truth lies on %s, the points on %s",
                       npmd_truth_domain(opt->truth)->text, dom->text);
        goto done;
    }
    if (opt->held_out != NULL && strcmp(opt->held_out->domain->text, dom->text) != 0) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "the held-out points lie on %s, the points on %s",
                       opt->held_out->domain->text, dom->text);
        goto done;
    }
    TRY(points_check_distinct(pts, "the data", err));
    TRY(memory_new(&m, 1, err));
    TRY(domain_copy(dom, &m->domain, err));
    m->total = pts->total;
    TRY(npmd_options_resolve(opt, dom, pts->n, &m->options, &m->facts.working_bytes, err));
    m->facts.working_bytes += npmd_points_bytes(pts);
    m->facts.n = pts->n;
    m->facts.seed = m->options.seed;
    m->facts.members = 1;
    m->facts.convex_optimum = m->facts.convex_gap = m->facts.convex_gap_accuracy = NAN;
    m->held_out_nll = m->held_out_nll_se = NAN;
    m->kind = kind_of(&m->options);
    if (!m->kind->keeps && (opt->checkpoint[0] != '\0' || opt->resume[0] != '\0')) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--estimator %s keeps no checkpoints: do without --checkpoint and --resume",
                       m->kind->name);
        goto done;
    }
    TRY(m->kind->fit(m, opt, pts, err));
    if (options_unused(opt, unused, sizeof unused) > 0)
        model_warn(m, "--estimator %s does not use %s", m->kind->name, unused);
    TRY(points_seen(pts, &m->seen, &m->seen_count, err));
    m->facts.tau = m->options.tau;
    m->facts.seconds = clock_seconds() - started + checkpoint_seconds(m->checkpoint);
    snprintf(m->facts.checkpoint_failure, sizeof m->facts.checkpoint_failure, "%s",
             checkpoint_failure(m->checkpoint));
    m->options.truth = NULL; /* the caller's */
    m->options.held_out = NULL;
    m->options.progress = NULL;
    checkpoint_close(m->checkpoint);
    m->checkpoint = NULL;
    *out = m;
    m = NULL;
done:
    npmd_model_free(m);
    return st;
}

/* ---- values -------------------------------------------------------------------------------------------- */

npmd_status model_check_domain(const npmd_model *m, const npmd_domain *dom, const char *what, npmd_error *err)
{
    if (strcmp(m->domain->text, dom->text) == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_SHAPE, "the %s on %s, the model on %s", what, dom->text, m->domain->text);
}

double model_offset(const npmd_model *m)
{
    return m->facts.log_integral + log(m->domain->volume);
}

npmd_status model_values(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, double *v,
                         npmd_error *err)
{
    return m->kind->evaluate(m, how, x, n, JET_VALUE, v, err);
}

npmd_status npmd_log_density(const npmd_model *m, const double *x, size_t n, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    TRY(npmd_points_from(x, n, m->domain, &pts, err));
    TRY(npmd_evaluate_at(m, pts, NPMD_LOG_DENSITY, NULL, out, err));
done:
    npmd_points_free(pts);
    return st;
}

npmd_status npmd_what_parse(const char *text, npmd_what *out, npmd_error *err)
{
    static const char *const NAMES[] = { "log-density", "density",   "relative", "intensity",
                                         "gradient",    "laplacian", "spread" };
    for (int i = 0; i < (int)(sizeof NAMES / sizeof *NAMES); i++)
        if (strcmp(text, NAMES[i]) == 0) {
            *out = (npmd_what)i;
            return NPMD_OK;
        }
    return npmd_fail(
        err, NPMD_ERR_ARGUMENT,
        "--what: \"%.40s\" was found where log-density, density, relative, intensity, gradient, laplacian or "
        "spread was expected",
        text);
}

/* The gradient as a tangent vector in the point's own columns: sum over the frame of v_t e_t. */
static void ambient_gradient(const npmd_domain *dom, const double *x, const double *jet, double *out)
{
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        double frame[MANIFOLD_MAX_DIMENSION * MANIFOLD_MAX_COLUMNS];
        m->frame(x + dom->column[d], frame);
        for (int j = 0; j < m->columns; j++) {
            double sum = 0.0;
            for (int t = 0; t < m->dimension; t++)
                sum += jet[1 + dom->direction[d] + t] * frame[t * m->columns + j];
            out[dom->column[d] + j] = sum;
        }
    }
}

/* Points that are evaluated together: what lies in a file never is in memory as a whole. Many, since a backend
 * is opened for each. */
#define PIECE 131072

typedef struct piece_room {
    double *x, *jet;
} piece_room;

static npmd_status piece_open(piece_room *room, const npmd_model *m, const npmd_points *pts, npmd_what what,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(model_check_domain(m, pts->domain, "points lie", err));
    if (pts->x == NULL)
        TRY(memory_new(&room->x, PIECE * (size_t)m->domain->columns, err));
    if (what == NPMD_GRADIENT || what == NPMD_LAPLACIAN)
        TRY(memory_new(&room->jet, PIECE * ((size_t)m->domain->dimension + 2), err));
done:
    return st;
}

static void piece_close(piece_room *room)
{
    memory_free(room->x);
    memory_free(room->jet);
}

/* Where points first .. first + count - 1 lie, or copied from their file to the room. */
static const double *piece_rows(const piece_room *room, const npmd_points *pts, size_t first, size_t count,
                                const npmd_compute *how)
{
    const size_t block = 1024, blocks = (count + block - 1) / block, columns = (size_t)pts->domain->columns;
    if (pts->x != NULL)
        return points_rows(pts, first, count, NULL);
    (void)how; /* unused without OpenMP */
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads_wanted(how == NULL ? 0 : how->threads))
    for (size_t b = 0; b < blocks; b++) {
        const size_t at = b * block, some = count - at < block ? count - at : block;
        points_rows(pts, first + at, some, room->x + at * columns);
    }
    return room->x;
}

static npmd_status piece_evaluate(const piece_room *room, const npmd_model *m, const npmd_points *pts,
                                  size_t first, size_t count, npmd_what what, const npmd_compute *how,
                                  double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t rows = (size_t)m->domain->dimension + 2, columns = (size_t)m->domain->columns;
    const double *x = piece_rows(room, pts, first, count, how);
    if (room->jet != NULL) {
        TRY(m->kind->evaluate(m, how, x, count, JET_ALL, room->jet, err));
        for (size_t i = 0; i < count; i++)
            if (what == NPMD_GRADIENT)
                ambient_gradient(m->domain, x + i * columns, room->jet + i * rows, out + i * columns);
            else
                out[i] = room->jet[i * rows + rows - 1];
        goto done;
    }
    if (what == NPMD_SPREAD)
        return blend_spread(m, how, x, count, out, err);
    TRY(model_values(m, how, x, count, out, err));
    double offset = model_offset(m);
    if (what == NPMD_RELATIVE)
        offset -= log(m->domain->volume);
    if (what == NPMD_INTENSITY)
        offset -= log(m->total);
    for (size_t i = 0; i < count; i++)
        out[i] = what == NPMD_LOG_DENSITY ? out[i] - offset : exp(out[i] - offset);
done:
    return st;
}

static size_t what_columns(const npmd_model *m, npmd_what what)
{
    return what == NPMD_GRADIENT ? (size_t)m->domain->columns : 1;
}

npmd_status npmd_evaluate_at(const npmd_model *m, const npmd_points *pts, npmd_what what,
                             const npmd_compute *how, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    piece_room room = { 0 };
    TRY(piece_open(&room, m, pts, what, err));
    for (size_t first = 0; first < pts->n; first += PIECE) {
        const size_t count = pts->n - first < PIECE ? pts->n - first : PIECE;
        TRY(piece_evaluate(&room, m, pts, first, count, what, how, out + first * what_columns(m, what), err));
    }
done:
    piece_close(&room);
    return st;
}

npmd_status npmd_evaluate_to(const npmd_model *m, const npmd_points *pts, npmd_what what,
                             const npmd_compute *how, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    piece_room room = { 0 };
    table_writer *w = NULL;
    double *out = NULL;
    const size_t columns = what_columns(m, what);
    TRY(piece_open(&room, m, pts, what, err));
    TRY(memory_new(&out, PIECE * columns, err));
    TRY(table_writer_open(path, columns, pts->n, &w, err));
    for (size_t first = 0; first < pts->n; first += PIECE) {
        const size_t count = pts->n - first < PIECE ? pts->n - first : PIECE;
        TRY(piece_evaluate(&room, m, pts, first, count, what, how, out, err));
        for (size_t i = 0; i < count * columns; i++)
            if (!isfinite(out[i])) {
                st = npmd_fail(err, NPMD_ERR_NUMERIC,
                               "the value at row %zu is not finite, nothing was written",
                               first + i / columns + 1);
                goto done;
            }
        TRY(table_writer_put(w, out, count, err));
    }
    st = table_writer_commit(w, err);
    w = NULL;
done:
    table_writer_abandon(w);
    piece_close(&room);
    memory_free(out);
    return st;
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* JSON has no NaN: an objective that was never reached stands in the file as null. */
static npmd_status parts_json(const npmd_model *m, json_t **out, npmd_error *err);

static npmd_status model_json(const npmd_model *m, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_fit_facts *f = &m->facts;
    json_t *facts = json_object(), *warnings = json_array(), *options = NULL, *parts = NULL;
    TRY(json_put(facts, "file_version", json_integer(FILE_VERSION), err));
    TRY(json_put(facts, "version", json_string(npmd_version()), err));
    TRY(json_put(facts, "estimator", json_string(ESTIMATORS[m->options.estimator]->name), err));
    TRY(json_put(facts, "domain", json_string(m->domain->text), err));
    TRY(json_put(facts, "measure", json_string("Riemannian volume"), err));
    TRY(json_put(facts, "n", json_integer((json_int_t)f->n), err));
    TRY(json_put(facts, "total_weight", json_real(m->total), err));
    TRY(json_put(facts, "steps_done", json_integer(f->steps), err));
    TRY(json_put(facts, "objective", isfinite(f->objective) ? json_real(f->objective) : json_null(), err));
    TRY(json_put(facts, "log_integral", json_real(f->log_integral), err));
    TRY(json_put(facts, "log_integral_se", json_real(f->log_integral_se), err));
    TRY(json_put(facts, "restarts", json_integer(f->restarts), err));
    TRY(json_put(facts, "members", json_integer(f->members), err));
    if (isfinite(m->held_out_nll)) {
        TRY(json_put(facts, "held_out_nll", json_real(m->held_out_nll), err));
        TRY(json_put(facts, "held_out_nll_se", json_real(m->held_out_nll_se), err));
    }
    if (f->stopped != NPMD_STOP_NONE)
        TRY(json_put(facts, "stopped_by", json_string(f->stopped == NPMD_STOP_ISE ? "ise" : "snr"), err));
    if (f->kept_step > 0)
        TRY(json_put(facts, "kept_step", json_integer(f->kept_step), err));
    if (isfinite(f->convex_gap)) {
        TRY(json_put(facts, "convex_optimum", json_real(f->convex_optimum), err));
        TRY(json_put(facts, "convex_gap", json_real(f->convex_gap), err));
        TRY(json_put(facts, "convex_gap_accuracy", json_real(f->convex_gap_accuracy), err));
    }
    if (m->started_from[0] != '\0')
        TRY(json_put(facts, "started_from", json_string(m->started_from), err));
    if (m->encoded_from[0] != '\0')
        TRY(json_put(facts, "encoding_from", json_string(m->encoded_from), err));
    TRY(choice_to_json(&m->choice, facts, err));
    for (int i = 0; i < m->warnings; i++)
        TRY(json_append(warnings, json_string(m->warning[i]), err));
    TRY(json_put(facts, "warnings", json_incref(warnings), err));
    TRY(options_to_json(&m->options, &options, err));
    TRY(json_put(facts, "options", options, err));
    if (m->parts > 0) {
        TRY(parts_json(m, &parts, err));
        TRY(json_put(facts, "parts", parts, err));
    }
    *out = facts;
    facts = NULL;
done:
    json_decref(warnings);
    json_decref(facts);
    return st;
}

static npmd_status parts_json(const npmd_model *m, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *list = json_array(), *one = NULL;
    for (int k = 0; k < m->parts; k++) {
        TRY(model_json(m->part[k], &one, err));
        TRY(json_put(one, "weight", json_real(m->part_weight[k]), err));
        st = json_append(list, one, err);
        one = NULL;
        if (st != NPMD_OK)
            goto done;
    }
    *out = list;
    list = NULL;
done:
    json_decref(one);
    json_decref(list);
    return st;
}

npmd_status npmd_model_describe(const npmd_model *m, char **json, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = NULL;
    TRY(model_json(m, &object, err));
    TRY(json_put(object, "tau", json_real(m->facts.tau), err));
    TRY(json_put(object, "seed", json_incref(json_object_get(json_object_get(object, "options"), "seed")),
                 err));
    TRY(json_put(object, "volume", json_real(m->domain->volume), err));
    TRY(json_put(object, "dimension", json_integer(m->domain->dimension), err));
    TRY(m->kind->describe(m, object, err));
    TRY(json_to_text(object, JSON_INDENT(2) | JSON_ENSURE_ASCII, json, err));
done:
    json_decref(object);
    return st;
}

/* Tensors of part k of a blend stand under part.k. and their own name. */
static npmd_status model_tensors(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record own = { 0 };
    char name[96]; /* longer than a tensor's may be: record_add looks */
    TRY(m->kind->save(m, rec, err));
    for (int k = 0; k < m->parts; k++) {
        record_free(&own);
        TRY(model_tensors(m->part[k], &own, err));
        for (size_t i = 0; i < own.count; i++) {
            const tensor *t = &own.tensors[i];
            snprintf(name, sizeof name, "part.%d.%s", k + 1, t->name);
            TRY(record_add(rec, name, t->type, t->dimensions, t->shape, t->data, err));
        }
    }
done:
    record_free(&own);
    return st;
}

npmd_status npmd_save(const npmd_model *m, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    json_t *object = NULL;
    TRY(model_json(m, &object, err));
    TRY(json_to_text(object, JSON_COMPACT | JSON_ENSURE_ASCII, &rec.metadata, err));
    TRY(model_tensors(m, &rec, err));
    if (m->seen_count > 0)
        TRY(record_add(&rec, "points.seen", TENSOR_I64, 1, &m->seen_count, m->seen, err));
    TRY(record_write(path, &rec, err));
done:
    json_decref(object);
    record_free(&rec);
    return st;
}

static double take_number(json_t *root, const char *key) /* NaN: it is not there */
{
    const json_t *value = json_object_get(root, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void take_hash(json_t *root, const char *key, char hash[MODEL_HASH])
{
    const char *text = json_string_value(json_object_get(root, key));
    if (text != NULL && strlen(text) < MODEL_HASH)
        snprintf(hash, MODEL_HASH, "%s", text);
}

/* The facts of a file, each checked; what is missing is named. */
static npmd_status model_from_json(npmd_model *m, json_t *root, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *domain = NULL, *name = NULL;
    json_int_t n = 0, steps = 0;
    json_error_t why;
    json_t *options = NULL, *warnings = NULL;
    const json_int_t version = json_integer_value(json_object_get(root, "file_version")); /* 0: no integer */
    if (version < 1) {
        st = json_object_get(root, "checkpoint_version") != NULL
                 ? npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s is no model, but the checkpoint of a fit: fit --resume goes on", path)
                 : npmd_fail(err, NPMD_ERR_FORMAT, "%s: the model's description has no file version", path);
        goto done;
    }
    if (version > FILE_VERSION) {
        st = npmd_fail(err, NPMD_ERR_FORMAT,
                       "%s was written by a newer neuropmd (file version %lld, this program reads up to %d)",
                       path, (long long)version, FILE_VERSION);
        goto done;
    }
    if (json_unpack_ex(root, &why, 0, "{s:s, s:s, s:I, s:F, s:I, s:F, s:F, s:i, s:i, s:o, s:o}", "estimator",
                       &name, "domain", &domain, "n", &n, "total_weight", &m->total, "steps_done", &steps,
                       "log_integral", &m->facts.log_integral, "log_integral_se", &m->facts.log_integral_se,
                       "restarts", &m->facts.restarts, "members", &m->facts.members, "warnings", &warnings,
                       "options", &options)
        != 0) {
        st = json_error_code(&why) == json_error_out_of_memory
                 ? npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory for the model's description", path)
                 : npmd_fail(err, NPMD_ERR_FORMAT, "%s: the model's description is incomplete: %s", path,
                             why.text);
        goto done;
    }
    if (!(m->total > 0.0) || !(m->facts.log_integral_se >= 0.0) || n < 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: n, total_weight or log_integral_se is out of range", path);
        goto done;
    }
    npmd_error inner = { 0 };
    if (npmd_domain_parse(domain, &m->domain, &inner) != NPMD_OK) {
        st = npmd_fail(err, inner.status == NPMD_ERR_MEMORY ? inner.status : NPMD_ERR_FORMAT, "%s: %.300s",
                       path, inner.text);
        goto done;
    }
    if (estimator_find(name) == NULL) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: estimator \"%.40s\" is unknown to this version", path,
                       name);
        goto done;
    }
    npmd_options_init(&m->options);
    TRY(options_from_json(&m->options, options, path, err));
    m->kind = kind_of(&m->options);
    if (strcmp(ESTIMATORS[m->options.estimator]->name, name) != 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT,
                       "%s: the estimator is \"%.40s\", but its options are those of \"%s\"", path, name,
                       ESTIMATORS[m->options.estimator]->name);
        goto done;
    }
    memset(m->options.given, 0, sizeof m->options.given); /* nobody gave them now */
    m->facts.n = (size_t)n;
    m->facts.steps = (int64_t)steps;
    m->facts.objective = take_number(root, "objective");
    m->held_out_nll = take_number(root, "held_out_nll");
    m->held_out_nll_se = take_number(root, "held_out_nll_se");
    m->facts.kept_step = (int64_t)json_integer_value(json_object_get(root, "kept_step"));
    const char *stopped = json_string_value(json_object_get(root, "stopped_by"));
    m->facts.stopped = stopped == NULL               ? NPMD_STOP_NONE
                       : strcmp(stopped, "ise") == 0 ? NPMD_STOP_ISE
                                                     : NPMD_STOP_SNR;
    m->facts.convex_optimum = take_number(root, "convex_optimum");
    m->facts.convex_gap = take_number(root, "convex_gap");
    m->facts.convex_gap_accuracy = take_number(root, "convex_gap_accuracy");
    m->facts.tau = m->options.tau;
    m->facts.seed = m->options.seed;
    TRY(choice_from_json(&m->choice, root, path, err));
    take_hash(root, "started_from", m->started_from);
    take_hash(root, "encoding_from", m->encoded_from);
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (json_is_string(json_array_get(warnings, i)))
            model_warn(m, "%s", json_string_value(json_array_get(warnings, i)));
done:
    return st;
}

/* Files of before have none. */
static npmd_status model_take_seen(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const tensor *t = NULL;
    if (record_find(rec, path, "points.seen", TENSOR_I64, 1, (const size_t[]){ 0 }, &t, NULL) != NPMD_OK
        || t->shape[0] == 0 || t->shape[0] > SEEN_MOST)
        return NPMD_OK;
    TRY(memory_new(&m->seen, t->shape[0], err));
    memcpy(m->seen, t->data, t->shape[0] * sizeof *m->seen);
    m->seen_count = t->shape[0];
    for (size_t i = 1; i < m->seen_count; i++)
        if (m->seen[i] <= m->seen[i - 1]) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor points.seen does not rise at %zu", path, i + 1);
            goto done;
        }
done:
    return st;
}

/* The tensors of part k, under their own names; they are borrowed. */
static npmd_status record_of_part(const record *rec, int k, record *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char prefix[24];
    const size_t length = (size_t)snprintf(prefix, sizeof prefix, "part.%d.", k + 1);
    for (size_t i = 0; i < rec->count; i++) {
        const tensor *t = &rec->tensors[i];
        if (strncmp(t->name, prefix, length) == 0)
            TRY(record_add(out, t->name + length, t->type, t->dimensions, t->shape, t->data, err));
    }
done:
    return st;
}

#define DEEPEST 3 /* a stack of ensembles of fields */
#define MOST_PARTS 1024

static npmd_status model_from_record(const record *rec, json_t *root, const char *path, int depth,
                                     npmd_model **out, npmd_error *err);

static npmd_status parts_load(npmd_model *m, const record *rec, json_t *root, const char *path, int depth,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record own = { 0 };
    json_t *list = json_object_get(root, "parts");
    const size_t parts = json_array_size(list);
    const bool blended = m->options.estimator == NPMD_STACK || m->kind != ESTIMATORS[m->options.estimator];
    if (!blended)
        return NPMD_OK;
    if (parts < 1 || parts > MOST_PARTS || depth >= DEEPEST) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: a blend of %zu parts at depth %d", path, parts, depth);
        goto done;
    }
    TRY(blend_open(m, (int)parts, err));
    for (int k = 0; k < m->parts; k++) {
        json_t *one = json_array_get(list, (size_t)k);
        const double weight = take_number(one, "weight");
        record_free(&own);
        TRY(record_of_part(rec, k, &own, err));
        TRY(model_from_record(&own, one, path, depth + 1, &m->part[k], err));
        if (!(weight > 0.0 && weight <= 1.0) || strcmp(m->part[k]->domain->text, m->domain->text) != 0) {
            st = npmd_fail(err, NPMD_ERR_FORMAT,
                           "%s: part %d has weight %g and lies on %s; expected a share of 1, and %s", path,
                           k + 1, weight, m->part[k]->domain->text, m->domain->text);
            goto done;
        }
        m->part_weight[k] = weight;
    }
done:
    record_free(&own);
    return st;
}

static npmd_status model_from_record(const record *rec, json_t *root, const char *path, int depth,
                                     npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = NULL;
    if (!json_is_object(root)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: the model's description is no JSON object", path);
        goto done;
    }
    TRY(memory_new(&m, 1, err));
    TRY(model_from_json(m, root, path, err));
    TRY(parts_load(m, rec, root, path, depth, err));
    TRY(m->kind->load(m, rec, path, err));
    TRY(model_take_seen(m, rec, path, err));
    *out = m;
    m = NULL;
done:
    npmd_model_free(m);
    return st;
}

npmd_status npmd_load(const char *path, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char where[340];
    record rec = { 0 };
    json_t *root = NULL;
    TRY(record_read(path, &rec, err));
    snprintf(where, sizeof where, "%.300s: the model's description,", path);
    TRY(json_from_text(rec.metadata, strlen(rec.metadata), where, &root, err));
    TRY(model_from_record(&rec, root, path, 0, out, err));
done:
    json_decref(root);
    record_free(&rec);
    return st;
}
