/* evaluate.c - a model at points: its values, and the quantities computed from them. */
#include "model.h"

#include <stdio.h>

npmd_status evaluator_open(evaluator *e, const npmd_model *m, const npmd_compute *how, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *e = (evaluator){ .model = m, .how = how };
    if (m->kind->open != NULL)
        TRY(m->kind->open(m, how, &e->open, err));
    if (m->parts > 0)
        TRY(memory_new(&e->part, m->parts, err));
    for (int k = 0; k < m->parts; k++)
        TRY(evaluator_open(&e->part[k], m->part[k], how, err));
    if (m->base != NULL) {
        TRY(memory_new(&e->base, 1, err));
        TRY(evaluator_open(e->base, m->base, how, err));
    }
done:
    if (st != NPMD_OK)
        evaluator_close(e);
    return st;
}

void evaluator_close(evaluator *e)
{
    for (int k = 0; e->part != NULL && k < e->model->parts; k++)
        evaluator_close(&e->part[k]);
    memory_free(e->part);
    if (e->base != NULL)
        evaluator_close(e->base);
    memory_free(e->base);
    if (e->open != NULL)
        e->model->kind->close(e->open);
    *e = (evaluator){ 0 };
}

/* The estimator's v, and with a base log f0 + v, f0 relative to the uniform measure: values and jets add up. */
static npmd_status evaluate_one(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t length = rows == JET_VALUE ? 1 : (size_t)e->model->domain->dimension + 2;
    double *base = NULL;
    TRY(e->model->kind->evaluate(e, x, n, rows, out, err));
    if (e->base == NULL)
        goto done;
    TRY(memory_new(&base, n * length, err));
    TRY(evaluate(e->base, x, n, rows, base, err));
    for (size_t i = 0; i < n * length; i++)
        out[i] += base[i] - (i % length == 0 ? e->model->base->facts.log_integral : 0.0);
done:
    memory_free(base);
    return st;
}

/* Of all numbers here only a v may be infinite, where the density vanishes: whatever is made of these values, an integral,
 * draws, a figure, would pass the others on. */
static npmd_status values_known(const double *out, size_t n, size_t length, npmd_error *err)
{
    for (size_t i = 0; i < n * length; i++)
        if (!isfinite(out[i]) && (i % length != 0 || out[i] != -INFINITY))
            return numbers_known("the log density, or its derivative,", &out[i], 1, 0, 0, err);
    return NPMD_OK;
}

/* v of f, and where order means nothing the mixture of f(x, y) and f(y, x) (mirror.c). */
npmd_status evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = e->model;
    const npmd_domain *dom = m->domain;
    const size_t length = rows == JET_VALUE ? 1 : (size_t)dom->dimension + 2;
    double *y = NULL, *jet = NULL;
    TRY(evaluate_one(e, x, n, rows, out, err));
    TRY(values_known(out, n, length, err));
    if (!model_mirrored(m))
        goto done;
    TRY(memory_new(&y, n * (size_t)dom->columns, err));
    TRY(memory_new(&jet, n * length, err));
    mirror_rows(dom, x, n, y);
    TRY(evaluate_one(e, y, n, rows, jet, err));
    for (size_t i = 0; i < n; i++) {
        double *own = out + i * length, *other = jet + i * length;
        if (rows != JET_VALUE)
            mirror_jet(dom, other);
        mixture_of_two(own, other, length, own);
    }
    TRY(values_known(out, n, length, err));
done:
    memory_free(y);
    memory_free(jet);
    return st;
}

npmd_status evaluator_values(void *e, const double *x, size_t n, double *v, npmd_error *err)
{
    return evaluate(e, x, n, JET_VALUE, v, err);
}

npmd_status model_evaluate(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, jet_rows rows,
                           double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    evaluator e = { 0 };
    TRY(evaluator_open(&e, m, how, err));
    TRY(evaluate(&e, x, n, rows, out, err));
done:
    evaluator_close(&e);
    return st;
}

npmd_status model_values(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, double *v,
                         npmd_error *err)
{
    return model_evaluate(m, how, x, n, JET_VALUE, v, err);
}

npmd_status model_own_values(void *m, const double *x, size_t n, double *v, npmd_error *err)
{
    const npmd_model *own = m;
    const npmd_compute how = model_compute(&own->set);
    return model_values(own, &how, x, n, v, err);
}

/* ---- What can be asked for --------------------------------------------------------------------------------------- */

const char *what_name(int i)
{
    static const char *const NAMES[] = { "log-density", "density", "relative", "intensity", "gradient",
                                         "laplacian",   "spread",  "ratio",    "band" };
    return i >= 0 && i < (int)(sizeof NAMES / sizeof *NAMES) ? NAMES[i] : NULL;
}

npmd_status what_parse(const char *text, npmd_what *out, npmd_error *err)
{
    char known[128] = "";
    for (int i = 0; what_name(i) != NULL; i++) {
        if (strcmp(text, what_name(i)) == 0) {
            *out = (npmd_what)i;
            return NPMD_OK;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0                     ? ""
                 : what_name(i + 1) == NULL ? " or "
                                            : ", ",
                 what_name(i));
    }
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "`what`: \"%.40s\" was found where %s was expected", text, known);
}

size_t what_columns(const npmd_model *m, npmd_what what)
{
    return what == NPMD_GRADIENT ? (size_t)m->domain->columns : 1;
}

bool what_needs_jets(npmd_what what)
{
    return what == NPMD_GRADIENT || what == NPMD_LAPLACIAN;
}

/* ---- At points, in the units that were asked for ----------------------------------------------------------------- */

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

/* Points that are evaluated together: what lies in a file never is in memory as a whole. Fewer where somebody is told
 * how far it is. */
#define PIECE 131072
#define PIECE_WATCHED 8192

size_t piece_points(const npmd_compute *how)
{
    return compute_is_watched(how) ? PIECE_WATCHED : PIECE;
}

typedef struct piece_room {
    evaluator of;
    size_t points;
    double *x, *jet;
} piece_room;

static npmd_status piece_open(piece_room *room, const npmd_model *m, const npmd_points *pts, npmd_what what,
                              const npmd_compute *how, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(model_check_domain(m, pts->domain, "points lie", err));
    room->points = piece_points(how);
    TRY(evaluator_open(&room->of, m, how, err));
    if (pts->x == NULL)
        TRY(memory_new(&room->x, room->points * (size_t)m->domain->columns, err));
    if (what_needs_jets(what))
        TRY(memory_new(&room->jet, room->points * ((size_t)m->domain->dimension + 2), err));
done:
    return st;
}

static void piece_close(piece_room *room)
{
    evaluator_close(&room->of);
    memory_free(room->x);
    memory_free(room->jet);
}

/* Where points first .. first + count - 1 lie, or copied from their file to the room. */
static const double *piece_rows(const piece_room *room, const npmd_points *pts, size_t first, size_t count)
{
    const size_t block = 1024, blocks = (count + block - 1) / block, columns = (size_t)pts->domain->columns;
    if (pts->x != NULL)
        return points_rows(pts, first, count, NULL);
#pragma omp parallel for schedule(dynamic, 4) num_threads(compute_threads(room->of.how))
    for (size_t b = 0; b < blocks; b++) {
        const size_t at = b * block, some = count - at < block ? count - at : block;
        points_rows(pts, first + at, some, room->x + at * columns);
    }
    return room->x;
}

/* The base of a model, or of its first member, which saw the points themselves. */
static const evaluator *base_of(const evaluator *e)
{
    return e->base != NULL ? e->base : e->part != NULL ? base_of(&e->part[0]) : NULL;
}

/* f / f0. */
static npmd_status evaluate_ratio(const evaluator *e, const double *x, size_t count, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const evaluator *base = base_of(e);
    double *log_base = NULL;
    if (base == NULL) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "`what` ratio: the model has no base to be divided by; fit it with `base`");
        goto done;
    }
    TRY(memory_new(&log_base, count, err));
    TRY(evaluate(e, x, count, JET_VALUE, out, err));
    TRY(evaluate(base, x, count, JET_VALUE, log_base, err));
    for (size_t i = 0; i < count; i++)
        out[i] = exp(out[i] - model_offset(e->model) - (log_base[i] - model_offset(base->model)));
done:
    memory_free(log_base);
    return st;
}

npmd_status evaluate_what(const evaluator *e, npmd_what what, const double *x, size_t count, double *jet, double *out,
                          npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = e->model;
    const size_t rows = (size_t)m->domain->dimension + 2, columns = (size_t)m->domain->columns;
    const double unit = domain_laplacian_unit(m->domain);
    if (what_needs_jets(what)) {
        TRY(evaluate(e, x, count, JET_ALL, jet, err));
        for (size_t i = 0; i < count; i++)
            if (what == NPMD_GRADIENT)
                ambient_gradient(m->domain, x + i * columns, jet + i * rows, out + i * columns);
            else
                out[i] = unit * jet[i * rows + rows - 1];
        goto done;
    }
    if (what == NPMD_SPREAD)
        return blend_spread(e, x, count, out, err);
    if (what == NPMD_BAND)
        return blend_band(e, x, count, out, err);
    if (what == NPMD_RATIO)
        return evaluate_ratio(e, x, count, out, err);
    TRY(evaluate(e, x, count, JET_VALUE, out, err));
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

npmd_status model_evaluate_at(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how,
                              double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    piece_room room = { 0 };
    const size_t columns = what_columns(m, what);
    TRY(piece_open(&room, m, pts, what, how, err));
    for (size_t first = 0; first < pts->n; first += room.points) {
        const size_t count = pts->n - first < room.points ? pts->n - first : room.points;
        TRY(compute_go_on(how, "values", (double)first / (double)pts->n, err));
        TRY(evaluate_what(&room.of, what, piece_rows(&room, pts, first, count), count, room.jet, out + first * columns,
                          err));
        TRY(numbers_known("the value", out + first * columns, count * columns, columns, first, err));
    }
done:
    piece_close(&room);
    return st;
}

npmd_status model_evaluate_to(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how,
                              const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    piece_room room = { 0 };
    table_writer *w = NULL;
    double *out = NULL;
    const size_t columns = what_columns(m, what);
    TRY(piece_open(&room, m, pts, what, how, err));
    TRY(memory_new(&out, room.points * columns, err));
    TRY(table_writer_open(path, columns, pts->n, &w, err));
    for (size_t first = 0; first < pts->n; first += room.points) {
        const size_t count = pts->n - first < room.points ? pts->n - first : room.points;
        TRY(compute_go_on(how, "values", (double)first / (double)pts->n, err));
        TRY(evaluate_what(&room.of, what, piece_rows(&room, pts, first, count), count, room.jet, out, err));
        TRY(numbers_known("the value", out, count * columns, columns, first, err));
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
