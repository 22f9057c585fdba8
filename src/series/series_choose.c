/* series_choose.c - the choice of tau and, where open, of the highest frequency.
 *
 * A path of decreasing taus is solved on a part of the points, each from the solution before. The criterion is the
 * integrated squared error less the truth's own square, estimated from held-out points: mean f^2 - 2 mean f(x_i), f
 * relative to the uniform measure. The taus are a factor of sqrt 10 apart; between them the criterion is taken as a
 * parabola in log tau, and its vertex is what all points are fitted with.
 *
 * From four dimensions on, sum_k 1/lambda_k^2 diverges: the penalty alone does not keep the noise of ever more
 * coefficients bounded, and the highest frequency smooths as well. Where it is open it is lowered by one as long as the
 * criterion falls by the share WORTHWHILE: smaller gains are noise, and a rough series of few functions needs grids as
 * fine as one of many. */
#include "series.h"

#define PATH_TARGET 1e-5  /* nats, and */
#define PATH_SETTLED 1e-3 /* of the log integral: enough to compare */
#define PATH_PRODUCTS 400 /* with the Hessian; a tau that asks for more is the last: lower ones ask for more still */
#define PATH_FIRST 1e-2
#define PATH_STEPS 13   /* taus at a frequency */
#define PATH_PATIENCE 2 /* taus after the best one */
#define PATH_LOWER 4    /* taus at a lower frequency, about the best before */
#define LEAST_POINTS 50 /* to hold some of them out */
#define WORTHWHILE 5e-4

int series_progress(void *user, int newton, double value, bool step)
{
    const series_watch *w = user;
    npmd_report report = report_new(newton, 0, w->attempt, clock_seconds() - w->started);
    report.logged = step && w->attempt > 0;
    report.epoch = newton;
    report.integral = 1.0;
    report.objective = value + 1.0;
    if (watch_tell(w->fit->watch, &report) != 0)
        w->fit->model->facts.interrupted = 1;
    return w->fit->model->facts.interrupted;
}

npmd_status series_rough(const series_basis *b, int penalty, double **out, npmd_error *err)
{
    double *rough = NULL;
    const npmd_status st = memory_new(&rough, b->size, err);
    if (st != NPMD_OK)
        return st;
    for (size_t k = 0; k < b->size; k++)
        rough[k] = penalty == PENALTY_LAPLACIAN  ? b->lambda[k] * b->lambda[k]
                   : penalty == PENALTY_GRADIENT ? b->lambda[k]
                                                 : 0.0;
    *out = rough;
    return NPMD_OK;
}

typedef struct stage { /* one highest frequency */
    series_basis basis;
    double *mean, *rough, *c, *best; /* (size) each; best: the solution at tau */
    double tau, criterion;           /* the best of this stage */
    int level;                       /* of the grid that its solutions needed */
} stage;

static void stage_close(stage *s)
{
    series_basis_close(&s->basis);
    memory_free(s->mean);
    memory_free(s->rough);
    memory_free(s->c);
    memory_free(s->best);
    *s = (stage){ 0 };
}

static npmd_status stage_open(stage *s, const npmd_domain *dom, const int *frequency, int penalty, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *s = (stage){ .criterion = INFINITY };
    TRY(series_basis_open(&s->basis, dom, frequency, err));
    TRY(series_rough(&s->basis, penalty, &s->rough, err));
    TRY(memory_new(&s->mean, s->basis.size, err));
    TRY(memory_new(&s->c, s->basis.size, err));
    TRY(memory_new(&s->best, s->basis.size, err));
done:
    if (st != NPMD_OK)
        stage_close(s);
    return st;
}

static int highest(const int *frequency, int factors)
{
    int most = 0;
    for (int d = 0; d < factors; d++)
        most = frequency[d] > most ? frequency[d] : most;
    return most;
}

/* The same problem with the highest frequencies lowered by one, started from what is known. */
static npmd_status stage_lower(const stage *s, int penalty, stage *out, npmd_error *err)
{
    int frequency[NPMD_MAX_FACTORS];
    const int factors = s->basis.factors, most = highest(s->basis.frequency, factors);
    for (int d = 0; d < factors; d++)
        frequency[d] = s->basis.frequency[d] - (s->basis.frequency[d] == most);
    const npmd_status st = stage_open(out, s->basis.domain, frequency, penalty, err);
    if (st == NPMD_OK) {
        series_transfer(&s->basis, s->mean, &out->basis, out->mean);
        series_transfer(&s->basis, s->best, &out->basis, out->c);
    }
    return st;
}

static npmd_status stage_criterion(const stage *s, const series_certificate *found, const npmd_points *held_out,
                                   int threads, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *v = NULL, mean = 0.0, se = 0.0;
    TRY(memory_new(&v, held_out->n, err));
    TRY(series_evaluate(&s->basis, s->c, held_out->x, held_out->n, JET_VALUE, threads, v, err));
    for (size_t i = 0; i < held_out->n; i++)
        v[i] = exp(v[i] - found->log_integral);
    weighted_mean(held_out, v, &mean, &se);
    *out = found->square - 2.0 * mean;
done:
    memory_free(v);
    return st;
}

/* Solves up to steps taus from tau down, until patience of them in a row are no better than the best. */
static npmd_status stage_run(stage *s, const npmd_points *held_out, double tau, int steps, int patience,
                             series_watch *watch, series_path *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = watch->fit->model;
    for (int i = 0, best_at = 0; i < steps && i - best_at <= patience && path->size < PATH_MOST;
         i++, tau /= sqrt(10.0)) {
        series_certificate found;
        double *row = path->row[path->size];
        TRY(series_solve(&(series_problem){ .basis = &s->basis,
                                            .mean = s->mean,
                                            .rough = s->rough,
                                            .tau = tau,
                                            .target = PATH_TARGET,
                                            .rough_bound = true,
                                            .most_products = PATH_PRODUCTS,
                                            .settled = series_accuracy(m->domain, PATH_SETTLED),
                                            .finer = series_accuracy(m->domain, PATH_TARGET),
                                            .threads = m->set.machine.threads,
                                            .go_on = series_progress,
                                            .user = watch },
                         &s->level, s->c, &found, err));
        if (m->facts.interrupted)
            break;
        TRY(stage_criterion(s, &found, held_out, m->set.machine.threads, &row[1], err));
        row[0] = tau;
        row[2] = highest(s->basis.frequency, s->basis.factors);
        path->size++;
        if (row[1] < s->criterion) {
            s->criterion = row[1];
            s->tau = tau;
            best_at = i;
            memcpy(s->best, s->c, s->basis.size * sizeof *s->c);
        }
        if (found.products >= PATH_PRODUCTS)
            break;
    }
done:
    return st;
}

/* The vertex of the parabola through the best row of this frequency and its neighbours. False: the best is the last
 * there, and a lower tau might still be better. */
static bool path_vertex(const series_path *path, double frequency, double *tau)
{
    int at = -1;
    for (int i = 0; i < path->size; i++)
        if (path->row[i][2] == frequency && (at < 0 || path->row[i][1] < path->row[at][1]))
            at = i;
    assert(at >= 0);
    const double(*r)[PATH_COLUMNS] = path->row + at;
    *tau = r[0][0];
    if (at + 1 >= path->size || r[1][2] != r[0][2])
        return false;
    if (at == 0 || r[-1][2] != r[0][2])
        return true;
    const double above = r[-1][1] - r[0][1], below = r[1][1] - r[0][1]; /* neither negative: |shift| <= 1/2 */
    *tau *= pow(10.0, 0.5 * choice_vertex(below, above));
    return true;
}

npmd_status series_choose(series_watch *watch, bool open, series_basis *basis, double **c, int *level,
                          series_path *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = watch->fit->model;
    const npmd_points *pts = watch->fit->points;
    settings *opt = &m->set;
    npmd_points *training = NULL, *held_out = NULL;
    stage now = { 0 }, lower = { 0 };
    path->size = 0;
    if (pts->n < LEAST_POINTS || opt->penalty == PENALTY_NONE)
        return NPMD_OK;
    TRY(points_hold_out(pts, rng_key_make(opt->seed, RNG_TUNE, 2), 0, (size_t)(opt->holdout * (double)pts->n),
                        opt->ties, SIZE_MAX, &held_out, &training, err));
    TRY(points_check_distinct(training, "the points that are not held out", err));
    m->choice.training = training->n;
    m->choice.held_out = held_out->n;
    TRY(stage_open(&now, m->domain, opt->encoding.max_frequency, opt->penalty, err));
    TRY(series_moments(&now.basis, training, opt->machine.threads, now.mean, err));
    watch->attempt = 0;
    TRY(stage_run(&now, held_out, PATH_FIRST, PATH_STEPS, PATH_PATIENCE, watch, path, err));
    open = open && m->domain->dimension >= 4;
    while (open && !m->facts.interrupted && highest(now.basis.frequency, now.basis.factors) > 1) {
        TRY(stage_lower(&now, opt->penalty, &lower, err));
        TRY(stage_run(&lower, held_out, now.tau * sqrt(10.0), PATH_LOWER, 1, watch, path, err));
        if (!(now.criterion - lower.criterion > WORTHWHILE * fabs(now.criterion)))
            break;
        stage_close(&now);
        now = lower;
        lower = (stage){ 0 };
    }
    if (isfinite(now.criterion)) {
        if (!path_vertex(path, highest(now.basis.frequency, now.basis.factors), &opt->tau))
            model_warn(m, "tau %.2g is the last of its path: less smoothing might still be better", opt->tau);
        memcpy(opt->encoding.max_frequency, now.basis.frequency, sizeof opt->encoding.max_frequency);
        series_basis_close(basis);
        memory_free(*c);
        *level = now.level;
        *basis = now.basis;
        *c = now.best;
        now.best = NULL;
        now.basis = (series_basis){ 0 };
    }
done:
    stage_close(&now);
    stage_close(&lower);
    points_free(training);
    points_free(held_out);
    return st;
}
