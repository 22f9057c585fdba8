/* kde_choose.c - the choice of the kernels' concentration.
 *
 *     least-squares   integral of f^2 - 2 mean_i f_-i(x_i), with exact integrals of products of kernels
 *     likelihood      - mean_i log f_-i(x_i)
 *     ise             five folds: integral of f^2 - 2 mean of f over the fold, f from the other four; their mean
 *
 * f_-i is the estimate without point i. Equal points are one point here if they are held out together (kde.h). If they
 * are not, f_-i(x_i) of a point with a twin is unbounded: the concentration is then at most what the points resolve
 * (kde_sharpest).
 *
 * Every criterion is a mean over points i of sums over all other points; so is the integral of f^2, apart from an exact
 * diagonal, sum_i w_i^2 times the integral of a squared kernel. For many points the mean is therefore taken over a
 * random part of them, with all n points in the sums: an unbiased estimate of the criterion of n points. First comes a
 * coarse grid of concentrations with COARSE pairs each, then Brent's method about its best point with FINE pairs, which
 * is all pairs up to n = 100,000. */
#include "kde.h"

#define COARSE 3e8 /* pairs */
#define FINE 1.0e10
#define FINE_FACTOR 1e9 /* one kappa for each factor takes more evaluations */
#define GRID_FIRST 0.25
#define GRID_STEP 2.0
#define WORSE_IN_A_ROW 6 /* a factor of 64 beyond the best: what follows is worse still */
#define TOLERANCE 0.01   /* of log kappa */
#define MOST_SWEEPS 4
#define GUESS 40 /* evaluations, for the report: the grid ends on its own */

typedef struct chooser {
    const settings *set;
    const kde_cloud *cloud;
    kernel_rule rule;
    kde_view view;
    kde_part part;
    double squares; /* sum_i w_i^2 */
    double most;    /* concentration */
    double kappa[NPMD_MAX_FACTORS];
    int factor; /* that moves; -1: all alike */
    size_t queries;
    double *kernel, *overlap; /* (queries, groups) */
    kde_watch *watch;
} chooser;

static void chooser_close(chooser *c)
{
    kde_part_close(&c->part);
    kde_view_close(&c->view);
    memory_free_all(c->kernel, c->overlap);
}

static size_t queries_for(const kde_cloud *cloud, double pairs)
{
    const double most = fmax(pairs / (double)cloud->n, 100.0);
    return most < (double)cloud->n ? (size_t)most : cloud->n;
}

static npmd_status chooser_open(chooser *c, const kde_cloud *cloud, const settings *opt, kernel_rule rule,
                                bool adaptive, kde_watch *watch, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *c = (chooser){ .set = opt, .cloud = cloud, .rule = rule, .factor = -1, .most = KDE_KAPPA_MOST, .watch = watch };
    const int groups = rule == RULE_ISE ? KDE_MOST_GROUPS : 1;
    const size_t most = queries_for(cloud, FINE) + KDE_MOST_GROUPS;
    TRY(kde_view_open(cloud, groups, opt->machine.device, &c->view, err));
    TRY(kde_part_open(&c->part, &c->view, adaptive, err));
    TRY(memory_new(&c->kernel, most * (size_t)groups, err));
    if (rule != RULE_LIKELIHOOD)
        TRY(memory_new(&c->overlap, most * (size_t)groups, err));
    for (size_t i = 0; i < cloud->n; i++)
        c->squares += cloud->weight[i] * cloud->weight[i];
done:
    return st;
}

/* ---- the criteria ------------------------------------------------------------------------------------------------ */

/* The weight of all other points; one point may have nearly all there is. */
static double rest_of(double weight)
{
    return fmax(1.0 - weight, 1e-15);
}

static npmd_status likelihood(chooser *c, size_t queries, double *value, npmd_error *err)
{
    double sum = 0.0, total = 0.0;
    const npmd_status st = kde_log_sums(&c->view, &c->part, c->cloud->e, queries, 0, -INFINITY, c->set->machine.threads,
                                        c->watch, c->kernel, err);
    for (size_t i = 0; i < queries; i++) {
        const double w = c->cloud->weight[i];
        sum += w * (c->kernel[i] - log(rest_of(w)));
        total += w;
    }
    *value = log(c->cloud->domain->volume) - sum / total;
    return st;
}

static npmd_status least_squares(chooser *c, size_t queries, double *value, npmd_error *err)
{
    double kernel = 0.0, overlap = 0.0, total = 0.0;
    const npmd_status st = kde_pair_sums(&c->view, &c->part, 0, queries, c->set->machine.threads, c->watch, c->kernel,
                                         c->overlap, err);
    for (size_t i = 0; i < queries; i++) {
        const double w = c->cloud->weight[i];
        kernel += w * c->kernel[i] / rest_of(w);
        overlap += w * c->overlap[i];
        total += w;
    }
    *value = exp(kde_log_square(c->cloud->domain, c->view.ratio)) * (c->squares + overlap / total)
             - 2.0 * exp(kde_log_peak(c->cloud->domain, c->view.ratio)) * kernel / total;
    return st;
}

/* With W_a the weight of fold a, P_ab and K_ab the sums over i in a, j in b, j != i, of w_i w_j overlap and kernel. */
static npmd_status five_folds(chooser *c, size_t queries, double *value, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    enum { G = KDE_MOST_GROUPS };
    const kde_view *v = &c->view;
    const double square = exp(kde_log_square(c->cloud->domain, v->ratio)),
                 peak = exp(kde_log_peak(c->cloud->domain, v->ratio));
    double W[G] = { 0 }, squares[G] = { 0 }, P[G][G] = { { 0 } }, K[G][G] = { { 0 } }, sum = 0.0;
    for (int a = 0; a < G; a++) {
        const size_t rows = v->first[a + 1] - v->first[a], part = 1 + queries / G;
        const size_t some = part < rows ? part : rows;
        double used = 0.0;
        TRY(kde_pair_sums(v, &c->part, v->first[a], some, c->set->machine.threads, c->watch, c->kernel, c->overlap,
                          err));
        for (size_t i = 0; i < rows; i++) {
            const double w = c->cloud->weight[v->first[a] + i];
            W[a] += w;
            squares[a] += w * w;
            used += i < some ? w : 0.0;
            for (int b = 0; i < some && b < G; b++) {
                K[a][b] += w * c->kernel[i * G + (size_t)b];
                P[a][b] += w * c->overlap[i * G + (size_t)b];
            }
        }
        for (int b = 0; b < G; b++) {
            K[a][b] *= W[a] / used;
            P[a][b] *= W[a] / used;
        }
    }
    for (int fold = 0; fold < G; fold++) {
        double integral = 0.0, mean = 0.0;
        const double rest = 1.0 - W[fold];
        for (int a = 0; a < G; a++) {
            for (int b = 0; b < G; b++)
                integral += a != fold && b != fold ? P[a][b] : 0.0;
            integral += a != fold ? squares[a] : 0.0;
            mean += a != fold ? K[fold][a] : 0.0;
        }
        sum += square * integral / (rest * rest) - 2.0 * peak * mean / (W[fold] * rest);
    }
    *value = sum / G;
done:
    return st;
}

/* At log kappa, of all factors or of the one that moves. */
static npmd_status criterion(chooser *c, double log_kappa, double *value, npmd_error *err)
{
    const double kappa = kde_concentration(exp(log_kappa));
    double at[NPMD_MAX_FACTORS];
    npmd_status st = NPMD_OK;
    for (int d = 0; d < c->cloud->domain->factors; d++)
        at[d] = c->factor < 0 || c->factor == d ? kappa : c->kappa[d];
    if (c->part.local != NULL) {
        kde_part_set(&c->part, &c->view, exp(log_kappa));
    } else {
        kde_view_scale(&c->view, at);
        kde_part_set(&c->part, &c->view, 1.0);
    }
    st = c->rule == RULE_LIKELIHOOD      ? likelihood(c, c->queries, value, err)
         : c->rule == RULE_LEAST_SQUARES ? least_squares(c, c->queries, value, err)
                                         : five_folds(c, c->queries, value, err);
    c->watch->step++;
    c->watch->objective = *value;
    return st;
}

/* ---- minimising -------------------------------------------------------------------------------------------------- */

/* The best point of a grid upwards from log kappa = first. */
static npmd_status grid(chooser *c, double first, double *best, double *value, bool *bound, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int worse = 0;
    *value = INFINITY;
    *bound = true;
    for (double at = first; worse < WORSE_IN_A_ROW; at += log(GRID_STEP)) {
        double here = 0.0;
        if (at > log(c->most))
            goto done;
        TRY(criterion(c, at, &here, err));
        worse = here < *value ? 0 : worse + 1;
        if (here < *value) {
            *value = here;
            *best = at;
        }
    }
    *bound = false;
done:
    *bound = *bound && *best > log(c->most) - 1.5 * log(GRID_STEP);
    return st;
}

/* Brent's method (1973, chapter 5) within low .. high: parabolas through the three best points, golden sections
 * where they do not behave. */
static npmd_status brent(chooser *c, double low, double high, double *best, double *value, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double golden = 0.3819660112501051;
    double x = *best, w = x, v = x, fx = 0.0, step = 0.0, before = 0.0;
    TRY(criterion(c, x, &fx, err));
    double fw = fx, fv = fx;
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (low + high), least = 0.5 * TOLERANCE;
        double p = 0.0, q = 0.0, fu = 0.0;
        if (fabs(x - middle) <= 2.0 * least - 0.5 * (high - low))
            break;
        if (fabs(before) > least) {
            const double r = (x - w) * (fx - fv), t = (x - v) * (fx - fw);
            p = (x - v) * t - (x - w) * r;
            q = 2.0 * (t - r);
            p = q > 0.0 ? -p : p;
            q = fabs(q);
        }
        const bool parabola = fabs(p) < fabs(0.5 * q * before) && p > q * (low - x) && p < q * (high - x);
        before = parabola ? step : (x < middle ? high - x : low - x);
        step = parabola ? p / q : golden * before;
        if (parabola && (x + step - low < 2.0 * least || high - x - step < 2.0 * least))
            step = x < middle ? least : -least;
        const double u = fabs(step) >= least ? x + step : x + (step > 0.0 ? least : -least);
        TRY(criterion(c, u, &fu, err));
        if (fu <= fx) {
            *(u < x ? &high : &low) = x;
            v = w, fv = fw;
            w = x, fw = fx;
            x = u, fx = fu;
        } else {
            *(u < x ? &low : &high) = u;
            if (fu <= fw || w == x) {
                v = w, fv = fw;
                w = u, fw = fu;
            } else if (fu <= fv || v == x || v == w) {
                v = u, fv = fu;
            }
        }
    }
    *best = x;
    *value = fx;
done:
    return st;
}

static npmd_status search_kappa(chooser *c, double first, double *best, double *value, bool *bound, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    c->queries = queries_for(c->cloud, COARSE);
    TRY(grid(c, first, best, value, bound, err));
    c->queries = queries_for(c->cloud, FINE);
    TRY(brent(c, *best - log(GRID_STEP), fmin(*best + log(GRID_STEP), log(c->most)), best, value, err));
done:
    return st;
}

/* From the common optimum, one factor after the other, until none moves. */
static npmd_status each_factor(chooser *c, kde_choice *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    c->queries = queries_for(c->cloud, FINE_FACTOR);
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double moved = 0.0;
        for (int d = 0; d < c->cloud->domain->factors; d++) {
            const double start = log(c->kappa[d]), reach = (sweep == 0 ? 4.0 : 1.0) * log(GRID_STEP);
            double at = start;
            c->factor = d;
            TRY(brent(c, start - reach, fmin(start + reach, log(c->most)), &at, &out->criterion, err));
            c->kappa[d] = kde_concentration(exp(at));
            moved = fmax(moved, fabs(at - start));
        }
        if (moved < 3.0 * TOLERANCE)
            break;
    }
done:
    return st;
}

npmd_status kde_choose_fixed(const kde_cloud *cloud, const settings *opt, kde_watch *w, kde_choice *out,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    chooser c = { 0 };
    double best = 0.0;
    w->doing = "the concentration was being chosen";
    w->steps = w->step + GUESS + (opt->kernels.concentration == 1 ? MOST_SWEEPS * 8 * cloud->domain->factors : 0);
    if (opt->kernels.rule == RULE_ISE && cloud->n < KDE_MOST_GROUPS)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                      "`concentration-rule` ise makes %d folds, and there are %zu distinct points: give `kappa`, or "
                      "another rule",
                      KDE_MOST_GROUPS, cloud->n));
    TRY(chooser_open(&c, cloud, opt, (kernel_rule)opt->kernels.rule, false, w, err));
    for (int d = 0; d < cloud->domain->factors; d++)
        c.kappa[d] = 1.0;
    TRY(kde_sharpest(cloud, opt, c.kappa, w, &c.most, err));
    out->most = c.most;
    TRY(search_kappa(&c, log(GRID_FIRST), &best, &out->criterion, &out->bound, err));
    for (int d = 0; d < cloud->domain->factors; d++)
        c.kappa[d] = kde_concentration(exp(best));
    if (opt->kernels.concentration == 1 && cloud->domain->factors > 1)
        TRY(each_factor(&c, out, err));
    memcpy(out->kappa, c.kappa, sizeof out->kappa);
    out->queries = c.queries;
done:
    chooser_close(&c);
    return st;
}

/* kappa_i = kappa local_i. A point does not count as its own neighbour, but it may be one of those of the points that
 * f_-i is made of: their kernels know of it, a little. */
npmd_status kde_choose_adaptive(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w,
                                kde_choice *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const int COUNTS[] = { 8, 16, 32, 64, 128 };
    int count[5] = { opt->kernels.neighbours }, counts = opt->kernels.neighbours > 0 ? 1 : 0;
    chooser c = { 0 };
    double *distance2 = NULL;
    w->doing = "the adaptive concentration was being chosen";
    for (size_t k = 0; opt->kernels.neighbours == 0 && k < sizeof COUNTS / sizeof *COUNTS; k++)
        if (k == 0 || (size_t)COUNTS[k] < cloud->distinct / 8)
            count[counts++] = (size_t)COUNTS[k] < cloud->distinct ? COUNTS[k] : (int)cloud->distinct - 1;
    w->steps = w->step + counts * GUESS;
    TRY(chooser_open(&c, cloud, opt, RULE_LIKELIHOOD, true, w, err));
    kde_view_scale(&c.view, ratio);
    TRY(memory_new(&distance2, (size_t)counts * cloud->n, err));
    TRY(kde_neighbours(&c.view, counts, count, w, opt->machine.threads, distance2, err));
    out->criterion = INFINITY;
    out->most = c.most;
    for (int k = 0; k < counts; k++) {
        double best = 0.0, value = 0.0;
        bool bound = false;
        kde_local(distance2 + (size_t)k * cloud->n, cloud->n, c.part.local);
        if (opt->kernels.kappa[0] > 0.0) {
            c.queries = queries_for(cloud, COARSE);
            best = log(opt->kernels.kappa[0]);
            TRY(criterion(&c, best, &value, err));
        } else {
            TRY(search_kappa(&c, log(GRID_FIRST), &best, &value, &bound, err));
        }
        if (value < out->criterion) {
            out->criterion = value;
            out->neighbours = count[k];
            out->bound = bound;
            for (int d = 0; d < cloud->domain->factors; d++)
                out->kappa[d] = exp(best) * ratio[d];
        }
    }
    out->queries = c.queries;
done:
    memory_free(distance2);
    chooser_close(&c);
    return st;
}
