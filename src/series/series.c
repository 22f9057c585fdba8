/* series.c - the log density as a linear series of eigenfunctions (the paper's tensor product basis), solved to a
 * certificate.
 *
 * The objective is the field's, with the integral constraint solved for the constant: -mean v + log mean exp v + tau
 * mean (Lap v)^2. It is strictly convex and depends on the data through moments only, so the number of points does not
 * matter once these are computed. Without a tau, a path of decreasing taus is solved on a part of the points, each from
 * the solution before (series_choose.c); points held out choose one, with which all points are fitted.
 *
 * The file holds
 *     series.coefficients (functions of the first factor x ... x of the last), by rows; of functions of mean square 1
 *     series.certificate  (9)         objective, decrement, gap, square, Newton steps, products, nodes, verified, sgd
 *     series.path         (taus, 3)   only in older files: tau, criterion, highest frequency; see choice.c */
#include "series.h"

#include <stdio.h>

#define GRID_ENOUGH 0.02              /* nats: a log integral that a grid knows worse is found by random points */
#define MOST_POINTS ((size_t)1 << 20) /* of them */
#define TARGET 1e-8                   /* nats */

void series_free(void *state)
{
    series_state *s = state;
    if (s == NULL)
        return;
    series_basis_close(&s->basis);
    memory_free(s->c);
    memory_free(s->flat);
    memory_free(s);
}

/* Between the tensor with padding and the numbers side by side, as they stand in the file. */
static void series_pack(series_state *s, bool unpack)
{
    const series_basis *b = &s->basis;
    const size_t functions = b->functions[b->factors - 1];
    for (size_t row = 0; row < b->size / b->last; row++)
        if (unpack)
            memcpy(s->c + row * b->last, s->flat + row * functions, functions * sizeof *s->c);
        else
            memcpy(s->flat + row * functions, s->c + row * b->last, functions * sizeof *s->c);
}

/* What the file will hold: a fitted model does not change when it is saved. */
static npmd_status series_seal(series_state *s, npmd_error *err)
{
    const series_certificate *f = &s->found;
    const double all[CERTIFICATE] = { f->objective,
                                      f->decrement,
                                      f->gap,
                                      f->square,
                                      (double)f->newton,
                                      (double)f->products,
                                      (double)f->nodes,
                                      f->verified ? 1.0 : 0.0,
                                      s->stochastic ? 1.0 : 0.0 };
    const npmd_status st = memory_new(&s->flat, s->basis.coefficients + 1, err);
    if (st != NPMD_OK)
        return st;
    memcpy(s->written, all, sizeof all);
    series_pack(s, false);
    return NPMD_OK;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static bool affordable(const npmd_domain *dom, const int *frequency, size_t most)
{
    series_basis b = { .domain = dom, .factors = dom->factors };
    for (int d = 0; d < dom->factors; d++) {
        b.frequency[d] = frequency[d];
        b.functions[d] = (size_t)dom->factor[d]->functions(dom->factor[d], frequency[d]);
    }
    /* with a finer grid to verify on */
    return series_count(dom, frequency) <= (double)most && series_grid_allowed(&b, 1);
}

npmd_status series_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = p->domain;
    settings *o = &p->full;
    int *frequency = o->encoding.max_frequency;
    settings_fill(o, 1u << FIT_SERIES, dom, p->n);
    TRY(settings_fill_frequencies(o, dom, err));
    const size_t budget = p->asked.encoding.max_frequency[0] > 0 ? SERIES_MOST_FUNCTIONS : SERIES_USUAL_FUNCTIONS;
    while (!affordable(dom, frequency, budget)) { /* the highest go down by one */
        int most = 0;
        for (int d = 0; d < dom->factors; d++)
            most = frequency[d] > most ? frequency[d] : most;
        if (most <= 1) {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                           "`estimator` series: the full product of eigenfunctions on %s is too large even at "
                           "frequency 1; a field or kernels can do it",
                           dom->text);
            goto done;
        }
        for (int d = 0; d < dom->factors; d++)
            frequency[d] -= frequency[d] == most;
    }
    o->encoding.features = 0; /* all of them */
    if (p->asked.descent.batch_share > 0 && o->solver == SOLVER_NEWTON)
        o->descent.batch = 0; /* of no meaning here */
    series_basis b = { .domain = dom, .factors = dom->factors };
    for (int d = 0; d < dom->factors; d++) {
        b.frequency[d] = frequency[d];
        b.functions[d] = (size_t)dom->factor[d]->functions(dom->factor[d], frequency[d]);
    }
    b.last = b.functions[dom->factors - 1] + PANEL;
    for (int level = 0; series_grid_allowed(&b, level); level++)
        p->bytes = series_grid_bytes(&b, level);
    p->bytes += (LANES + 10) * (size_t)series_count(dom, frequency) * sizeof(double);
done:
    return st;
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

/* The path as the evidence of a choice: a stage a frequency. */
static npmd_status series_evidence(npmd_model *m, const series_path *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int best = 0;
    for (int i = 1; i < path->size; i++)
        if (path->row[i][1] < path->row[best][1])
            best = i;
    for (int i = 0, stage = 1; i < path->size; i++) {
        const double *r = path->row[i];
        stage += i > 0 && r[2] != path->row[i - 1][2];
        choice_row row = { .stage = stage,
                           .tau = r[0],
                           .criterion = r[1],
                           .criterion_se = NAN,
                           .difference = r[1] - path->row[best][1],
                           .difference_se = NAN,
                           .kept = i == best };
        snprintf(row.settings, sizeof row.settings, "max-frequency=%.0f", r[2]);
        TRY(choice_add(&m->choice, &row, err));
    }
done:
    return st;
}

static npmd_status series_newton(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    const npmd_points *pts = f->points;
    const settings *asked = &f->plan->asked;
    series_state *s = m->state;
    double *mean = NULL, *rough = NULL;
    series_watch watch = { .fit = f, .started = clock_seconds() };
    int level = 0;
    series_path path = { 0 };
    const double accuracy = series_accuracy(m->domain, TARGET);
    if (asked->tau < 0.0) {
        TRY(series_choose(&watch, asked->encoding.max_frequency[0] == 0, &s->basis, &s->c, &level, &path, err));
        TRY(series_evidence(m, &path, err));
    }
    TRY(series_rough(&s->basis, m->set.penalty, &rough, err));
    TRY(memory_new(&mean, s->basis.size, err));
    TRY(series_moments(&s->basis, pts, m->set.machine.threads, mean, err));
    watch.attempt = 1;
    TRY(series_solve(&(series_problem){ .basis = &s->basis,
                                        .mean = mean,
                                        .rough = rough,
                                        .tau = m->set.tau,
                                        .target = TARGET,
                                        .settled = accuracy,
                                        .finer = accuracy,
                                        .threads = m->set.machine.threads,
                                        .go_on = series_progress,
                                        .user = &watch },
                     &level, s->c, &s->found, err));
    m->facts.steps = s->found.newton;
    m->facts.objective = s->found.objective + 1.0;
    if (s->found.stopped)
        model_warn(m, "the fit was interrupted: the decrement stands at %.1e nats", s->found.decrement);
    else if (s->found.lost)
        model_warn(m,
                   "the points are closer to each other than the nodes of the finest grid allowed, %zu: the series is "
                   "smoother than tau %.2g would make it",
                   s->found.nodes, m->set.tau);
    else if (!(s->found.decrement <= accuracy))
        model_warn(m, "the Newton decrement stands at %.1e nats, above %.0e", s->found.decrement, accuracy);
done:
    memory_free(mean);
    memory_free(rough);
    return st;
}

npmd_status series_fit_by(fit *f, series_solver_fn solve, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    const encoding_settings *full = &m->set.encoding, *asked = &f->plan->asked.encoding;
    series_state *s = NULL;
    TRY(memory_new(&s, 1, err));
    m->state = s;
    TRY(series_basis_open(&s->basis, m->domain, full->max_frequency, err));
    TRY(memory_new(&s->c, s->basis.size, err));
    for (int d = 0; d < m->domain->factors; d++) {
        const int wanted = asked->max_frequencies > 1 ? asked->max_frequency[d] : asked->max_frequency[0];
        if (wanted > full->max_frequency[d]) {
            model_warn(m, "the full product is too large: frequencies up to %d on factor %d, %zu coefficients",
                       full->max_frequency[d], d + 1, s->basis.coefficients);
            break;
        }
    }
    TRY(solve(f, err));
    TRY(series_seal(s, err));
    const integral_result grid = { .log_integral = s->found.log_integral, .log_integral_se = s->found.log_integral_se };
    /* of one grid alone, or with peaks between its nodes, there is nothing to check */
    TRY(fit_normalise_model(f, MOST_POINTS, grid.log_integral_se <= GRID_ENOUGH ? &grid : NULL, err));
done:
    return st;
}

static npmd_status series_fit(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    TRY(series_fit_by(f, series_newton, err));
    const series_certificate *found = &((series_state *)m->state)->found;
    if (m->facts.log_integral != found->log_integral) /* the grid was wrong, and not what decided */
        m->facts.objective += m->facts.log_integral - found->log_integral;
    else if (!found->verified && !found->stopped && !found->lost)
        model_warn(m, "the finest grid allowed, %zu nodes, knows the log integral to %.1e only", found->nodes,
                   found->log_integral_se);
done:
    return st;
}

npmd_status series_values_at(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err)
{
    const series_state *s = e->model->state;
    return series_evaluate(&s->basis, s->c, x, n, rows, compute_threads(e->how), out, err);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

npmd_status series_save(const npmd_model *m, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const series_state *s = m->state;
    const size_t numbers = CERTIFICATE, coefficients = s->basis.coefficients + 1;
    TRY(record_add(rec, "series.coefficients", TENSOR_F64, 1, &coefficients, s->flat, err));
    TRY(record_add(rec, "series.certificate", TENSOR_F64, 1, &numbers, s->written, err));
done:
    return st;
}

npmd_status series_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *opt = &m->set;
    const npmd_domain *dom = m->domain;
    const tensor *t = NULL;
    series_state *s = NULL;
    const size_t numbers = CERTIFICATE;
    bool sound = opt->encoding.max_frequencies == dom->factors;
    for (int d = 0; sound && d < dom->factors; d++)
        sound = opt->encoding.max_frequency[d] >= 1 && opt->encoding.max_frequency[d] <= dom->factor[d]->max_frequency;
    if (!sound || series_count(dom, opt->encoding.max_frequency) > (double)SERIES_MOST_FUNCTIONS) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: its options do not describe a series on %s", path, dom->text);
        goto done;
    }
    const size_t count = (size_t)series_count(dom, opt->encoding.max_frequency);
    TRY(record_find(rec, path, "series.coefficients", TENSOR_F64, 1, &count, &t, err));
    TRY(memory_new(&s, 1, err));
    m->state = s;
    TRY(series_basis_open(&s->basis, dom, opt->encoding.max_frequency, err));
    TRY(memory_new(&s->c, s->basis.size, err));
    TRY(memory_new(&s->flat, count, err));
    memcpy(s->flat, t->data, count * sizeof *s->flat);
    for (size_t k = 0; k < count; k++)
        if (!isfinite(s->flat[k])) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor series.coefficients holds a number that is not finite",
                           path);
            goto done;
        }
    series_pack(s, true);
    TRY(record_find(rec, path, "series.certificate", TENSOR_F64, 1, &numbers, &t, err));
    const double *a = t->data;
    for (int i = 0; i < CERTIFICATE; i++)
        if (isnan(a[i]) || (i >= 4 && !(a[i] >= 0.0 && a[i] < 1e9))) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor series.certificate, number %d is out of range", path,
                           i + 1);
            goto done;
        }
    s->found = (series_certificate){ .objective = a[0],
                                     .decrement = a[1],
                                     .gap = a[2],
                                     .square = a[3],
                                     .newton = (int)a[4],
                                     .products = (int)a[5],
                                     .nodes = (size_t)a[6],
                                     .verified = a[7] != 0.0 };
    s->stochastic = a[8] != 0.0;
    memcpy(s->written, a, sizeof s->written);
    if (record_find(rec, path, "series.path", TENSOR_F64, 2, (const size_t[]){ 0, PATH_COLUMNS }, &t, NULL) == NPMD_OK
        && t->shape[0] <= PATH_MOST && m->choice.rows == 0) {
        series_path old = { .size = (int)t->shape[0] };
        memcpy(old.row, t->data, t->shape[0] * sizeof *old.row);
        TRY(series_evidence(m, &old, err));
    }
done:
    return st;
}

npmd_status series_describe(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const series_state *s = m->state;
    const series_certificate *f = &s->found;
    TRY(json_put(into, "parameters", json_integer((json_int_t)s->basis.coefficients), err));
    TRY(json_put(into, "grid_nodes", json_integer((json_int_t)f->nodes), err));
    if (!s->stochastic) {
        TRY(json_put(into, "newton_steps", json_integer(f->newton), err));
        TRY(json_put(into, "hessian_products", json_integer(f->products), err));
        TRY(json_put(into, "newton_decrement", json_known(f->decrement), err));
        TRY(json_put(into, "optimality_gap_bound", json_known(f->gap), err));
        TRY(json_put(into, "verified_on_finer_grid", json_boolean(f->verified), err));
    }
done:
    return st;
}

const estimator ESTIMATOR_SERIES = {
    .name = "series",
    .complete = series_complete,
    .fit = series_fit,
    .evaluate = series_values_at,
    .save = series_save,
    .load = series_load,
    .describe = series_describe,
    .free = series_free,
};
