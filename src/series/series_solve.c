/* series_solve.c - the convex problem of the series, by Newton's method with conjugate gradients.
 *
 *     f(c) = -mean . c + log Z(c) + tau sum_k rough_k c_k^2
 *     gradient g = E phi - mean + 2 tau rough c,    Hessian H = Cov phi + 2 tau diag(rough),
 *
 * expectation and covariance under the density of c, on a product grid. H is never formed: H u takes one map to the
 * grid and one back. Two bounds come with a solution. The Newton decrement g' H^-1 g / 2 is what the quadratic model
 * can still gain; conjugate gradients bound it from below, and the remainder r' H^-1 r is at most r' (2 tau rough)^-1
 * r. And since H >= 2 tau diag(rough) everywhere, f(c) - min f <= g' (2 tau rough)^-1 g / 2, whatever c is.
 *
 * A grid that is too coarse for the points has densities that live between its nodes, and then f has no least value
 * there. What tells: on m nodes of like weights no density exceeds m times the uniform one, so f < -log m is no
 * density's. No step goes there: the grid is left for a finer one, and where there is none the solution ends before it.
 * What is worse than the uniform density on a new grid begins at c = 0 again. */
#include "series.h"

#define MOST_NEWTON 100
#define MOST_PRODUCTS 4000 /* of one solution: where a peaked density leaves little curvature they end nowhere */
#define ENOUGH_PRODUCTS 20 /* for a direction, while the decrement is far from its target */

typedef struct solver {
    const series_problem *p;
    series_grid grid;
    size_t size;
    int most;                           /* products with the Hessian */
    double *gradient, *expected, *curb; /* (size); curb: 2 tau rough, 0 where nothing is fitted */
    double *direction, *residual, *search, *image, *trial;
    double *factor; /* of the Hessian where we are; NULL: the basis is too large, a diagonal has to do */
    bool factored;
    double *scaled;             /* M^-1 residual, M the preconditioner */
    double *probability, *work; /* on the grid */
    double objective, log_integral, square;
    double least; /* an objective below this is no density's */
    bool lost;    /* a step went there: the grid is too coarse */
} solver;

static double dot(const solver *s, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->size; k++)
        sum += a[k] * b[k];
    return sum;
}

static bool fitted(const solver *s, size_t k)
{
    return s->p->basis->lambda[k] > 0.0;
}

/* f at c: probabilities stay in s->work. */
static double solver_value(solver *s, const double *c, double *log_integral, double *square)
{
    series_values(&s->grid, c, s->work);
    *log_integral = series_normalise(&s->grid, s->work, square);
    double value = *log_integral;
    for (size_t k = 0; k < s->size; k++)
        value += (0.5 * s->curb[k] * c[k] - s->p->mean[k]) * c[k];
    return value;
}

/* Takes the point of the last solver_value as where we are. */
static void solver_accept(solver *s, const double *c, double value, double log_integral, double square)
{
    double *swap = s->probability;
    s->probability = s->work;
    s->work = swap;
    s->objective = value;
    s->log_integral = log_integral;
    s->square = square;
    series_adjoint(&s->grid, s->probability, s->expected);
    for (size_t k = 0; k < s->size; k++)
        s->gradient[k] = fitted(s, k) ? s->expected[k] - s->p->mean[k] + s->curb[k] * c[k] : 0.0;
}

static void solver_look(solver *s, const double *c)
{
    double log_integral, square;
    const double value = solver_value(s, c, &log_integral, &square);
    solver_accept(s, c, value, log_integral, square);
}

/* On a new grid: where c is no good there, at c = 0. */
static void solver_begin(solver *s, double *c)
{
    s->lost = false;
    solver_look(s, c);
    if (s->objective <= 0.0 && s->objective >= s->least)
        return;
    memset(c, 0, s->size * sizeof *c);
    solver_look(s, c);
}

/* image = H u */
static void hessian(solver *s, const double *u)
{
    series_values(&s->grid, u, s->work);
    const size_t size = s->grid.size;
    double *work = s->work;
    const double *probability = s->probability;
#pragma omp parallel for schedule(static) num_threads(s->grid.threads) if (size > WORTH_THREADS)
    for (size_t i = 0; i < size; i++)
        work[i] *= probability[i];
    series_adjoint(&s->grid, s->work, s->image);
    const double mean = dot(s, s->expected, u);
    for (size_t k = 0; k < s->size; k++)
        s->image[k] = fitted(s, k) ? s->image[k] - s->expected[k] * mean + s->curb[k] * u[k] : 0.0;
}

/* Diagonal preconditioner: functions have mean square 1, and about that under most densities. */
static double diagonal(const solver *s, size_t k)
{
    return fmax(0.1, 1.0 - s->expected[k] * s->expected[k]) + s->curb[k];
}

/* scaled = M^-1 residual; returns residual . scaled. */
static double precondition(solver *s)
{
    if (s->factored)
        cholesky_solve(s->p->basis->size, s->p->basis->last, s->factor, s->residual, s->scaled);
    else
        for (size_t k = 0; k < s->size; k++)
            s->scaled[k] = s->residual[k] / diagonal(s, k);
    return dot(s, s->residual, s->scaled);
}

/* a' (2 tau rough)^-1 a / 2; infinite where nothing curbs. */
static double curbed(const solver *s, const double *a)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->size; k++)
        if (fitted(s, k))
            sum += 0.5 * a[k] * a[k] / s->curb[k];
    return sum;
}

/* direction = -H^-1 g, roughly, and an upper bound of the decrement. far: the direction is enough. */
static double solver_direction(solver *s, series_certificate *out)
{
    const series_problem *p = s->p;
    const double target = p->target;
    double bound = INFINITY;
    for (size_t k = 0; k < s->size; k++) {
        s->direction[k] = 0.0;
        s->residual[k] = -s->gradient[k];
    }
    double rho = precondition(s);
    const double first = rho;
    memcpy(s->search, s->scaled, s->size * sizeof *s->search);
    for (int i = 0; (i == 0 || out->products < s->most) && rho > 0.0 && !out->stopped; i++) {
        hessian(s, s->search);
        out->products++;
        out->stopped = p->go_on != NULL && p->go_on(p->user, out->newton, s->objective, false) != 0;
        const double step = rho / dot(s, s->search, s->image);
        for (size_t k = 0; k < s->size; k++) {
            s->direction[k] += step * s->search[k];
            s->residual[k] -= step * s->image[k];
        }
        const double before = rho;
        rho = precondition(s);
        const double below = -0.5 * dot(s, s->gradient, s->direction), rest = curbed(s, s->residual);
        bound = below + (!p->rough_bound && isfinite(rest) ? rest : 0.5 * rho);
        /* forcing: the closer to the solution, the better the direction must be */
        const double wanted = fmin(0.1, sqrt(below));
        const bool good = rho <= wanted * wanted * first, far = below > target;
        if ((far && good && i + 1 >= ENOUGH_PRODUCTS) || (far && rho <= 1e-4 * wanted * wanted * first)
            || bound <= target)
            break;
        for (size_t k = 0; k < s->size; k++)
            s->search[k] = s->scaled[k] + rho / before * s->search[k];
    }
    return rho > 0.0 || first > 0.0 ? bound : 0.0;
}

static bool finer_allowed(const series_problem *p, int level)
{
    return series_grid_allowed(p->basis, level + 1) && (p->levels == 0 || level + 1 < p->levels);
}

/* Newton steps on this grid until the decrement is below its target, or the grid turns out to be too coarse. */
static npmd_status solver_run(solver *s, int level, double *c, series_certificate *out, npmd_error *err)
{
    const series_problem *p = s->p;
    for (int i = 0;; i++) {
        if (!isfinite(s->objective))
            return npmd_fail(err, NPMD_ERR_NUMERIC, "series: the objective is not finite after %d Newton steps",
                             out->newton);
        if (s->factor != NULL) {
            const npmd_status st = series_factor(&s->grid, s->probability, s->expected, s->curb, s->factor,
                                                 &s->factored, err);
            if (st != NPMD_OK)
                return st;
        }
        out->decrement = solver_direction(s, out);
        out->stopped = out->stopped || (p->go_on != NULL && p->go_on(p->user, out->newton, s->objective, true) != 0);
        if (out->decrement <= p->target || i == MOST_NEWTON || out->stopped)
            return NPMD_OK;
        const double slope = dot(s, s->gradient, s->direction);
        double step = 1.0, value, log_integral, square;
        for (;; step *= 0.5) {
            for (size_t k = 0; k < s->size; k++)
                s->trial[k] = c[k] + step * s->direction[k];
            value = solver_value(s, s->trial, &log_integral, &square);
            s->lost = s->lost || value < s->least;
            if (s->lost && finer_allowed(p, level))
                return NPMD_OK;
            if (value >= s->least && value <= s->objective + 1e-4 * step * slope)
                break;
            if (step < 1e-10) /* rounding: this is as good as it gets */
                return NPMD_OK;
        }
        memcpy(c, s->trial, s->size * sizeof *c);
        solver_accept(s, c, value, log_integral, square);
        out->newton++;
        if (out->products >= s->most || s->lost)
            return NPMD_OK;
    }
}

static void solver_close_grid(solver *s)
{
    memory_free(s->probability);
    memory_free(s->work);
    s->probability = s->work = NULL;
    series_grid_close(&s->grid);
}

static npmd_status solver_open_grid(solver *s, int level, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    solver_close_grid(s);
    TRY(series_grid_open(&s->grid, s->p->basis, level, s->p->threads, err));
    s->least = -log((double)s->grid.count);
    TRY(memory_new(&s->probability, s->grid.size, err));
    TRY(memory_new(&s->work, s->grid.size, err));
done:
    return st;
}

double series_accuracy(const npmd_domain *dom, double target)
{
    const double surface = 1e-4; /* nats: far below the noise of any data */
    return dom->surfaces ? fmax(surface, target) : target;
}

npmd_status series_solve(const series_problem *p, int *level, double *c, series_certificate *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    solver s = { .p = p, .size = p->basis->size, .most = p->most_products > 0 ? p->most_products : MOST_PRODUCTS };
    series_certificate done_by = { .log_integral_se = INFINITY };
    TRY(memory_new(&s.gradient, s.size, err));
    TRY(memory_new(&s.expected, s.size, err));
    TRY(memory_new(&s.curb, s.size, err));
    TRY(memory_new(&s.direction, s.size, err));
    TRY(memory_new(&s.residual, s.size, err));
    TRY(memory_new(&s.search, s.size, err));
    TRY(memory_new(&s.image, s.size, err));
    TRY(memory_new(&s.trial, s.size, err));
    TRY(memory_new(&s.scaled, s.size, err));
    if (p->basis->factors == 1 && s.size <= SERIES_DENSE)
        TRY(memory_new(&s.factor, s.size * s.size, err));
    for (size_t k = 0; k < s.size; k++)
        s.curb[k] = fitted(&s, k) ? 2.0 * p->tau * p->rough[k] : 0.0;
    TRY(solver_open_grid(&s, *level, err));
    solver_begin(&s, c);
    for (;;) {
        done_by.log_integral_se = INFINITY;
        TRY(solver_run(&s, *level, c, &done_by, err));
        if (done_by.stopped || done_by.products >= s.most || !finer_allowed(p, *level))
            break;
        const double coarse = s.log_integral;
        const bool lost = s.lost;
        TRY(solver_open_grid(&s, ++*level, err));
        solver_begin(&s, c);
        if (lost)
            continue;
        /* the same point on a finer grid: has the integral settled, is it still the solution? */
        done_by.log_integral_se = fabs(s.log_integral - coarse);
        const double finer = fmin(solver_direction(&s, &done_by), curbed(&s, s.gradient));
        done_by.verified = done_by.log_integral_se <= p->settled && finer <= fmax(p->target, p->finer);
        if (done_by.verified) {
            done_by.decrement = finer;
            --*level; /* was enough */
            break;
        }
    }
    done_by.objective = s.objective;
    done_by.log_integral = s.log_integral;
    done_by.square = s.square;
    done_by.gap = curbed(&s, s.gradient);
    done_by.nodes = s.grid.count;
    done_by.lost = s.lost;
    if (!isfinite(done_by.log_integral_se) && *level > 0) { /* nothing finer is allowed: what did the last one bring? */
        TRY(solver_open_grid(&s, *level - 1, err));
        solver_look(&s, c);
        done_by.log_integral_se = fabs(done_by.log_integral - s.log_integral);
    }
    *out = done_by;
done:
    solver_close_grid(&s);
    memory_free(s.gradient);
    memory_free(s.expected);
    memory_free(s.curb);
    memory_free(s.direction);
    memory_free(s.residual);
    memory_free(s.search);
    memory_free(s.image);
    memory_free(s.trial);
    memory_free(s.factor);
    memory_free(s.scaled);
    return st;
}

npmd_status series_integral(const series_basis *b, const double *c, int threads, series_certificate *out,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    series_certificate done_by = { .log_integral_se = INFINITY, .decrement = INFINITY, .gap = INFINITY };
    series_grid g = { 0 };
    double *v = NULL;
    for (int level = 0; series_grid_allowed(b, level) && !(done_by.log_integral_se <= series_accuracy(b->domain, 1e-8));
         level++) {
        series_grid_close(&g);
        memory_free(v);
        v = NULL;
        TRY(series_grid_open(&g, b, level, threads, err));
        TRY(memory_new(&v, g.size, err));
        series_values(&g, c, v);
        const double log_integral = series_normalise(&g, v, &done_by.square);
        if (level > 0)
            done_by.log_integral_se = fabs(log_integral - done_by.log_integral);
        done_by.log_integral = log_integral;
        done_by.nodes = g.count;
    }
    *out = done_by;
done:
    series_grid_close(&g);
    memory_free(v);
    return st;
}
