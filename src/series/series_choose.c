/* series_choose.c - the choice of tau and, where open, of the highest frequency.
 *
 * A path of decreasing taus is solved on a part of the points, each from the solution before, and judged on held-out
 * points: by the likelihood, -mean log f(x_i), or by the integrated squared error less the truth's own square, mean f^2 -
 * 2 mean f(x_i), f relative to the uniform measure. Most of the latter lies at the peaks, where it is noise: on twenty
 * draws it chose worse, in the squared error, too. Where points are few, one share of them chooses badly: several are
 * held out in turn, and count together. The taus are a factor of sqrt 10 apart; between them the criterion is taken as a
 * parabola in log tau, and its vertex is what all points are fitted with.
 *
 * From four dimensions on, sum_k 1/lambda_k^2 diverges: the penalty alone does not keep the noise of ever more
 * coefficients bounded, and the highest frequency smooths as well. Where it is open it is lowered by one as long as the
 * criterion falls by what is WORTHWHILE: smaller gains are noise, and a rough series of few functions needs grids as
 * fine as one of many. */
#include "series.h"

#define PATH_TARGET 1e-5  /* nats, and */
#define PATH_SETTLED 1e-3 /* of the log integral: enough to compare */
/* Products with the Hessian, more where they are cheap; a tau that asks for more is the last: lower ones ask for more
 * still. */
#define PATH_PRODUCTS 400
#define PATH_WORK 1e6   /* products times functions */
#define PATH_FIRST 10.0 /* what is nearly flat wants next to nothing learnt */
#define PATH_SURE 1e-2  /* down to here every tau is tried: so far up noise outweighs what a step gains */
#define PATH_STEPS 19   /* taus at a frequency */
#define PATH_PATIENCE 2 /* taus after the best one */
#define PATH_LOWER 4    /* taus at a lower frequency, about the best before */
#define LEAST_POINTS 50 /* to hold some of them out */
#define WORTHWHILE 5e-4
#define MANY_FUNCTIONS 10000 /* a path of so many takes too long to be solved for each share: one share chooses */

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
    const judging *judging;
    int shares;
    double *rough;                                                     /* (size) */
    double *mean[JUDGING_MOST], *c[JUDGING_MOST], *best[JUDGING_MOST]; /* (size) each; best: the solution at tau */
    double tau, criterion;                                             /* the best of this stage */
    int level;                                                         /* of the grid that its solutions needed */
} stage;

static void stage_close(stage *s)
{
    series_basis_close(&s->basis);
    memory_free(s->rough);
    for (int k = 0; k < JUDGING_MOST; k++)
        memory_free_all(s->mean[k], s->c[k], s->best[k]);
    *s = (stage){ 0 };
}

static npmd_status stage_open(stage *s, const judging *j, const npmd_domain *dom, const int *frequency, int penalty,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *s = (stage){ .criterion = INFINITY, .judging = j, .shares = j->folds };
    TRY(series_basis_open(&s->basis, dom, frequency, err));
    TRY(series_rough(&s->basis, penalty, &s->rough, err));
    for (int k = 0; k < s->shares; k++) {
        TRY(memory_new(&s->mean[k], s->basis.size, err));
        TRY(memory_new(&s->c[k], s->basis.size, err));
        TRY(memory_new(&s->best[k], s->basis.size, err));
    }
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
    const npmd_status st = stage_open(out, s->judging, s->basis.domain, frequency, penalty, err);
    for (int k = 0; k < s->shares && st == NPMD_OK; k++) {
        series_transfer(&s->basis, s->mean[k], &out->basis, out->mean[k]);
        series_transfer(&s->basis, s->best[k], &out->basis, out->c[k]);
    }
    return st;
}

/* What the solution without share k is by the points of that share. */
static npmd_status share_criterion(const stage *s, int k, const series_certificate *found, int threads, double *out,
                                   npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_points *held_out = s->judging->held_out[k];
    double *v = NULL, mean = 0.0, se = 0.0;
    TRY(memory_new(&v, held_out->n, err));
    TRY(series_evaluate(&s->basis, s->c[k], held_out->x, held_out->n, JET_VALUE, threads, v, err));
    const bool ise = s->judging->criterion == CRITERION_ISE;
    for (size_t i = 0; i < held_out->n; i++)
        v[i] = ise ? exp(v[i] - found->log_integral) : v[i] - found->log_integral;
    weighted_mean(held_out, v, &mean, &se);
    *out = ise ? found->square - 2.0 * mean : -mean;
done:
    memory_free(v);
    return st;
}

static int stage_products(const stage *s)
{
    return (int)fmax(PATH_PRODUCTS, PATH_WORK / (double)s->basis.size);
}

/* The criterion of one tau over all shares. *products: the most that one of them asked for. */
static npmd_status stage_solve(stage *s, double tau, series_watch *watch, double *criterion, int *products,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = watch->fit->model;
    size_t judged = 0;
    *criterion = 0.0;
    *products = 0;
    for (int k = 0; k < s->shares; k++)
        judged += s->judging->held_out[k]->n;
    for (int k = 0; k < s->shares && !m->facts.interrupted; k++) {
        series_certificate found;
        double of_share = 0.0;
        TRY(series_solve(&(series_problem){ .basis = &s->basis,
                                            .mean = s->mean[k],
                                            .rough = s->rough,
                                            .tau = tau,
                                            .target = PATH_TARGET,
                                            .rough_bound = true,
                                            .most_products = stage_products(s),
                                            .settled = series_accuracy(m->domain, PATH_SETTLED),
                                            .finer = series_accuracy(m->domain, PATH_TARGET),
                                            .threads = m->set.machine.threads,
                                            .go_on = series_progress,
                                            .user = watch },
                         &s->level, s->c[k], &found, err));
        if (m->facts.interrupted)
            break;
        TRY(share_criterion(s, k, &found, m->set.machine.threads, &of_share, err));
        *criterion += of_share * (double)s->judging->held_out[k]->n / (double)judged;
        *products = found.products > *products ? found.products : *products;
    }
done:
    return st;
}

/* Solves up to steps taus from tau down, until patience of them in a row, below PATH_SURE, are no better than the best. */
static npmd_status stage_run(stage *s, double tau, int steps, int patience, series_watch *watch, series_path *path,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = watch->fit->model;
    for (int i = 0, best_at = 0; i < steps && (i - best_at <= patience || tau > PATH_SURE) && path->size < PATH_MOST;
         i++, tau /= sqrt(10.0)) {
        double *row = path->row[path->size];
        int products = 0;
        TRY(stage_solve(s, tau, watch, &row[1], &products, err));
        if (m->facts.interrupted)
            break;
        row[0] = tau;
        row[2] = highest(s->basis.frequency, s->basis.factors);
        path->size++;
        if (row[1] < s->criterion) {
            s->criterion = row[1];
            s->tau = tau;
            best_at = i;
            for (int k = 0; k < s->shares; k++)
                memcpy(s->best[k], s->c[k], s->basis.size * sizeof *s->c[k]);
        }
        if (products >= stage_products(s))
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

/* A share of the squared error, or so many nats. */
static double worthwhile(const stage *s)
{
    return WORTHWHILE * (s->judging->criterion == CRITERION_ISE ? fabs(s->criterion) : 1.0);
}

npmd_status series_choose(series_watch *watch, bool open, series_basis *basis, double **c, int *level,
                          series_path *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = watch->fit->model;
    const npmd_points *pts = watch->fit->points;
    settings *opt = &m->set, judged = *opt;
    judging j = { 0 };
    stage now = { 0 }, lower = { 0 };
    path->size = 0;
    if (pts->n < LEAST_POINTS || opt->penalty == PENALTY_NONE)
        return NPMD_OK;
    if (judged.folds == 0 && basis->size > MANY_FUNCTIONS)
        judged.folds = 1;
    TRY(judging_open(&j, pts, &judged, SIZE_MAX, err));
    if (j.folds == 0)
        goto done;
    TRY(stage_open(&now, &j, m->domain, opt->encoding.max_frequency, opt->penalty, err));
    m->choice.criterion = j.criterion;
    m->choice.training = j.training[0]->n;
    for (int k = 0; k < now.shares; k++) {
        m->choice.held_out += j.held_out[k]->n;
        TRY(series_moments(&now.basis, j.training[k], opt->machine.threads, now.mean[k], err));
    }
    watch->attempt = 0;
    TRY(stage_run(&now, PATH_FIRST, PATH_STEPS, PATH_PATIENCE, watch, path, err));
    open = open && m->domain->dimension >= 4;
    while (open && !m->facts.interrupted && highest(now.basis.frequency, now.basis.factors) > 1) {
        TRY(stage_lower(&now, opt->penalty, &lower, err));
        TRY(stage_run(&lower, now.tau * sqrt(10.0), PATH_LOWER, 1, watch, path, err));
        if (!(now.criterion - lower.criterion > worthwhile(&now)))
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
        *c = now.best[0];
        now.best[0] = NULL;
        now.basis = (series_basis){ 0 };
    }
done:
    stage_close(&now);
    stage_close(&lower);
    judging_close(&j);
    return st;
}
