/* model.c - a fitted model: making and asking; model_file.c saves and loads it. */
#include "estimators.h"

#include <stdarg.h>
#include <stdio.h>

/* In the order of npmd_estimator. */
static const estimator *const ESTIMATORS[] = { &ESTIMATOR_FIELD,  &ESTIMATOR_SERIES, &ESTIMATOR_KDE,
                                               &ESTIMATOR_PSNF,   &ESTIMATOR_RELU,   &ESTIMATOR_STACK,
                                               &ESTIMATOR_UNIFORM };

/* What fits: one estimator, or several members of it. */
const estimator *estimator_of(const npmd_options *opt, const npmd_domain *dom)
{
    if (opt->estimator == NPMD_KDE && dom->surfaces && opt->members <= 1 && !opt->bootstrap)
        return &ESTIMATOR_HEAT;
    if (opt->estimator == NPMD_STACK || (opt->members <= 1 && !opt->bootstrap))
        return ESTIMATORS[opt->estimator];
    return opt->combine == NPMD_COMBINE_LOG ? &ESTIMATOR_LOG_MEAN : &ESTIMATOR_MIXTURE;
}

static int usual_members(const npmd_options *opt)
{
    return opt->bootstrap ? 16 : opt->estimator == NPMD_STACK ? 4 : 1;
}

const char *estimator_name(const npmd_options *opt)
{
    return ESTIMATORS[opt->estimator]->name;
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
    if (m->kind != NULL && m->kind->free != NULL)
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
    vsnprintf(m->warning[m->warnings], sizeof *m->warning, format, args);
    va_end(args);
    for (int i = 0; i < m->warnings; i++) /* a part may have said it before */
        if (strcmp(m->warning[i], m->warning[m->warnings]) == 0)
            return;
    m->warnings++;
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
    return (npmd_part){ .name = part->options.estimator == NPMD_KDE ? KERNELS[part->options.bandwidth]
                                                                    : estimator_name(&part->options),
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
    TRY(mirror_check(opt, dom, err));
    if (asked.members == 0)
        asked.members = usual_members(opt);
    TRY(estimator_of(&asked, dom)->resolve(&asked, dom, n, &resolved, &bytes, err));
    if (working_bytes != NULL)
        *working_bytes = bytes;
    *out = resolved;
done:
    return st;
}

#define MANY_TURNS (10.0 * NPMD_PI) /* any branch of an angle is welcome, but nobody counts turns like this */

npmd_status npmd_fit(const npmd_domain *dom, const npmd_points *points, const npmd_options *opt,
                     npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points own = *points; /* another look at the same rows: what equals what depends on the options */
    const npmd_points *const pts = &own;
    npmd_model *m = NULL;
    own.unordered = opt->unordered != 0;
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
    m->kind = estimator_of(&m->options, dom);
    if (!m->kind->keeps && (opt->checkpoint[0] != '\0' || opt->resume[0] != '\0')) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--estimator %s keeps no checkpoints: do without --checkpoint and --resume",
                       m->kind->name);
        goto done;
    }
    TRY(m->kind->fit(m, opt, pts, err));
    if (options_unused(opt, dom->surfaces, unused, sizeof unused) > 0)
        model_warn(m, "--estimator %s does not use %s", estimator_name(&m->options), unused);
    if (pts->angle_most > MANY_TURNS)
        model_warn(m,
                   "an angle of %.4g radians is among the points, more than five turns: are they degrees? "
                   "--coords degrees takes them as such",
                   pts->angle_most);
    TRY(points_seen(pts, &m->seen, &m->seen_count, err));
    m->facts.tau = m->options.tau;
    m->facts.seconds = clock_seconds() - started + checkpoint_seconds(m->checkpoint);
    if (m->checkpoint != NULL) /* an ensemble has none of its own, but its members' */
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

npmd_status model_own_values(void *m, const double *x, size_t n, double *v, npmd_error *err)
{
    const npmd_model *own = m;
    const npmd_compute how = compute_of(&own->options);
    return model_values(own, &how, x, n, v, err);
}

npmd_compute compute_of(const npmd_options *opt)
{
    npmd_compute how = { .threads = opt->threads };
    memcpy(how.device, opt->device, sizeof how.device);
    return how;
}

double model_offset(const npmd_model *m)
{
    return m->facts.log_integral + log(m->domain->volume);
}

npmd_status model_values(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, double *v,
                         npmd_error *err)
{
    return model_evaluate(m, how, x, n, JET_VALUE, v, err);
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
        m->frame(m, x + dom->column[d], frame);
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
    const double *x = piece_rows(room, pts, first, count, how), unit = domain_laplacian_unit(m->domain);
    if (room->jet != NULL) {
        TRY(model_evaluate(m, how, x, count, JET_ALL, room->jet, err));
        for (size_t i = 0; i < count; i++)
            if (what == NPMD_GRADIENT)
                ambient_gradient(m->domain, x + i * columns, room->jet + i * rows, out + i * columns);
            else
                out[i] = unit * room->jet[i * rows + rows - 1];
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
