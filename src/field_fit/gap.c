/* gap.c - the objective of a fitted field, less its minimum over all functions.
 *
 * With the constant of v solved for, the objective is f(v) = -mean_i w_i v(x_i) + log mean exp v + tau mean (Lap v)^2,
 * convex in v. The field's own f is computed in double, by quadrature. The minimum is that of a series of high enough
 * frequency F, solved to a certificate (series_solve.c). Its value falls slowly with F: beyond all structure, a
 * function still gains from the noise of n points, 1 / (2 n curb), curb = 2 tau lambda^2, less its next order, s / (2 n
 * curb^2) with s the mean of the squared relative density (the noise has covariance C / n, C the covariance of the
 * functions, and the diagonal of C^2 is s). There are F^(p-1) functions at F and curb grows like F^4, so the remainder
 * at F is
 *
 *     f(F) - min f = a (1 - eps),   a ~ F^(p-4),   eps = (4 - p) / (8 - p) s / curb(F),
 *
 * and two solutions, at F/2 and F, give the limit: with q = 2^(4-p), a = (f(F/2) - f(F)) / (q - 1) to first order,
 *
 *     min f = f(F) - a - a eps 15 q / (q - 1).
 *
 * The last term is taken as the accuracy. Structure beyond F/2, above all clusters, makes f(F/2) - f(F) larger than the
 * noise explains; the excess does not follow the known law of the tail, and is added to the accuracy as extrapolated.
 * Measured: on the paper's T2 data at tau 5e-5, F = 64 and F = 170 agree to 1e-6. */
#include "field_fit.h"

#define CHUNK 4096  /* points */
#define COARSEST 64 /* resolutions of the quadrature for the field */
#define FINEST 512
/* largest change in nats of its objective on a finer rule, or a tenth of the optimum's accuracy */
#define SETTLED 2e-6
#define ENOUGH 1e-5      /* accuracy in nats that ends the search */
#define USEFUL 0.1       /* a worse accuracy must be at most this share of the gap, else nothing is reported */
#define SMALL_EPS 0.03   /* largest eps; beyond, the orders (16 eps at F/2) do not decrease */
#define NOISE_SHARE 1.25 /* of the gain expected from noise, which varies, and whose law is that of large n */
#define FIRST_FREQUENCY 8
#define MOST_FUNCTIONS 20000.0
#define LEVELS 4        /* of grids for the series */
#define LEAST_CURB 30.0 /* 2 tau lambda^2 at the highest frequency: below, there is structure beyond it */
#define CHEAP 10.0      /* the gap is computed where it takes this many times less work than the fit */
#define SLOWER 16.0     /* cost of an operation here, in plain double loops, in operations of the fit */

/* ---- what it would take ------------------------------------------------------------------------------------------ */

static series_basis basis_sketch(const npmd_domain *dom, int frequency)
{
    series_basis b = { .domain = dom, .factors = dom->factors };
    for (int d = 0; d < dom->factors; d++) {
        b.frequency[d] = frequency;
        b.functions[d] = (size_t)dom->factor[d]->functions(dom->factor[d], frequency);
    }
    b.last = b.functions[dom->factors - 1] + PANEL;
    return b;
}

static bool affordable(const npmd_domain *dom, int frequency)
{
    const series_basis b = basis_sketch(dom, frequency);
    bool within = true;
    for (int d = 0; d < dom->factors; d++)
        within = within && frequency <= dom->factor[d]->max_frequency;
    return within && series_count(dom, b.frequency) <= MOST_FUNCTIONS && series_grid_allowed(&b, 1);
}

static int highest_frequency(const npmd_domain *dom)
{
    int F = FIRST_FREQUENCY;
    while (affordable(dom, 2 * F))
        F *= 2;
    return F;
}

/* The least eigenvalue beyond a frequency. */
static double next_eigenvalue(const npmd_domain *dom, int frequency)
{
    double lambda = INFINITY;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        lambda = fmin(lambda, m->eigenvalue(m, m->functions(m, frequency)));
    }
    return lambda;
}

/* The reason why nothing can be said, or NULL. */
static const char *obstacle(const settings *opt, const npmd_domain *dom)
{
    const int F = domain_has_rules(dom) ? highest_frequency(dom) : 0;
    if (!domain_has_rules(dom))
        return "it is known in one and two dimensions only, and not on surfaces";
    if (opt->penalty != PENALTY_LAPLACIAN || opt->tau <= 0.0)
        return "without `penalty` laplacian there is no convex optimum to compare with";
    const double lambda = next_eigenvalue(dom, F);
    return 2.0 * opt->tau * lambda * lambda < LEAST_CURB
               ? "tau is so small that the optimum holds higher frequencies than the series can"
               : NULL;
}

static bool cheap(const settings *opt, const npmd_domain *dom, size_t n)
{
    const double rows = dom->dimension + 2.0;
    double nodes[2] = { 1.0, 1.0 };
    for (int d = 0; d < dom->factors; d++)
        for (int i = 0; i < 2; i++)
            nodes[i] *= (double)dom->factor[d]->rule_nodes(dom->factor[d], (size_t)COARSEST << i);
    const double ours = SLOWER * (rows * (nodes[0] + nodes[1]) + (double)n), /* in passes through the network */
        theirs = 3.0 * (double)opt->descent.steps
                 * ((double)(opt->descent.batch + opt->descent.q1) + rows * (double)opt->descent.q2); /* and back */
    return theirs >= CHEAP * ours;
}

bool gap_wanted(const settings *opt, const npmd_domain *dom, size_t n)
{
    return opt->descent.convex_gap != 0 && obstacle(opt, dom) == NULL
           && (opt->descent.convex_gap == 1 || cheap(opt, dom, n));
}

size_t gap_bytes(const field_plan *plan, int threads)
{
    const npmd_domain *dom = plan->domain;
    const int F = highest_frequency(dom);
    const series_basis b = basis_sketch(dom, F);
    const size_t size = (size_t)series_count(dom, b.frequency) + b.functions[0] * PANEL,
                 rows = (size_t)dom->dimension + 2;
    size_t grid = 0;
    for (int level = 0; level < LEVELS && series_grid_allowed(&b, level); level++)
        grid = series_grid_bytes(&b, level);
    const size_t dense = dom->factors == 1 && size <= SERIES_DENSE ? size * size : 0,
                 thread = (rows + 2) * (size_t)plan->shape.features + field_tape(&plan->shape);
    return grid
           + ((LANES + 14) * size + dense + CHUNK * ((size_t)dom->columns + rows)
              + (size_t)threads_wanted(threads) * thread)
                 * sizeof(double);
}

/* ---- the field's own objective ----------------------------------------------------------------------------------- */

typedef struct gap_room {
    const field_plan *plan;
    const double *theta;
    int threads;
    size_t a_thread; /* doubles of work */
    double *work, *x, *jet;
} gap_room;

/* Jets (n, rows) at n <= CHUNK points, in double. */
static void field_jets(const gap_room *r, const double *x, size_t n, int rows)
{
    const field_plan *plan = r->plan;
    const size_t K = (size_t)plan->shape.features, columns = (size_t)plan->domain->columns;
#pragma omp parallel for schedule(static) num_threads(r->threads)
    for (size_t i = 0; i < n; i++) {
        double *eta = r->work + (size_t)omp_get_thread_num() * r->a_thread, *tape = eta + (size_t)rows * K,
               *scratch = tape + field_tape(&plan->shape);
        encoding_jet(plan->encoding, x + i * columns, rows, scratch, eta);
        field_forward(&plan->shape, r->theta, eta, rows, tape, r->jet + i * (size_t)rows);
    }
}

/* log mean exp v + tau mean (Lap v)^2 by the rules of this resolution. */
static npmd_status domain_terms(const gap_room *r, double tau, size_t resolution, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = r->plan->domain;
    const size_t rows = (size_t)dom->dimension + 2, columns = (size_t)dom->columns;
    rules rule = { 0 };
    double top = -INFINITY, mass = 0.0, rough = 0.0, weight[CHUNK];
    TRY(rules_open(&rule, dom, resolution, err));
    for (size_t first = 0; first < rule.total; first += CHUNK) {
        const size_t some = rule.total - first < CHUNK ? rule.total - first : CHUNK;
        for (size_t i = 0; i < some; i++)
            weight[i] = rules_point(&rule, dom, first + i, r->x + i * columns);
        field_jets(r, r->x, some, (int)rows);
        for (size_t i = 0; i < some; i++) {
            const double v = r->jet[i * rows], laplacian = r->jet[i * rows + rows - 1];
            if (v > top) {
                mass *= exp(top - v);
                top = v;
            }
            mass += weight[i] * exp(v - top);
            rough += weight[i] * laplacian * laplacian;
        }
    }
    *out = top + log(mass) + tau * rough;
done:
    rules_close(&rule);
    return st;
}

static void data_term(const gap_room *r, const npmd_points *pts, double *out)
{
    double sum = 0.0, total = 0.0;
    for (size_t first = 0; first < pts->n; first += CHUNK) {
        const size_t some = pts->n - first < CHUNK ? pts->n - first : CHUNK;
        field_jets(r, points_rows(pts, first, some, r->x), some, 1);
        for (size_t i = 0; i < some; i++) {
            sum += points_weight(pts, first + i) * r->jet[i];
            total += points_weight(pts, first + i);
        }
    }
    *out = -sum / total;
}

static npmd_status field_objective(fit *f, const field_plan *plan, const double *theta, double settled, double *out,
                                   double *accuracy, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = f->model;
    const npmd_domain *dom = m->domain;
    const size_t rows = (size_t)dom->dimension + 2;
    gap_room r = { .plan = plan, .theta = theta, .threads = threads_wanted(m->set.machine.threads) };
    double data = 0.0, rest = 0.0, before = INFINITY;
    r.a_thread = rows * (size_t)plan->shape.features + field_tape(&plan->shape) + encoding_work(plan->encoding);
    TRY(memory_new(&r.work, (size_t)r.threads * r.a_thread, err));
    TRY(memory_new(&r.x, CHUNK * (size_t)dom->columns, err));
    TRY(memory_new(&r.jet, CHUNK * rows, err));
    data_term(&r, f->points, &data);
    for (size_t resolution = COARSEST;; resolution *= 2) {
        TRY(domain_terms(&r, m->set.tau, resolution, &rest, err));
        *accuracy = fabs(rest - before);
        before = rest;
        if (*accuracy <= settled || resolution >= FINEST || fit_stop(f))
            break;
    }
    *out = data + rest;
done:
    memory_free(r.work);
    memory_free(r.x);
    memory_free(r.jet);
    return st;
}

/* ---- the optimum ------------------------------------------------------------------------------------------------- */

static int solve_stop(void *user, int newton, double value, bool step)
{
    (void)newton, (void)value, (void)step;
    return fit_stop(user);
}

typedef struct ladder { /* the basis of the latest frequency and its solution */
    series_basis basis;
    double *c;
} ladder;

static void ladder_close(ladder *l)
{
    series_basis_close(&l->basis);
    memory_free(l->c);
    *l = (ladder){ 0 };
}

/* The optimum at this frequency, from the one before. */
static npmd_status ladder_climb(ladder *l, fit *f, int frequency, int *level, series_certificate *found,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = f->model;
    const settings *opt = &m->set;
    const series_basis of_frequency = basis_sketch(m->domain, frequency);
    ladder next = { 0 };
    double *mean = NULL, *rough = NULL;
    TRY(series_basis_open(&next.basis, m->domain, of_frequency.frequency, err));
    TRY(memory_new(&next.c, next.basis.size, err));
    TRY(memory_new(&mean, next.basis.size, err));
    TRY(series_rough(&next.basis, PENALTY_LAPLACIAN, &rough, err));
    if (l->c != NULL)
        series_transfer(&l->basis, l->c, &next.basis, next.c);
    TRY(series_moments(&next.basis, f->points, opt->machine.threads, mean, err));
    TRY(series_solve(&(series_problem){ .basis = &next.basis,
                                        .mean = mean,
                                        .rough = rough,
                                        .tau = opt->tau,
                                        .target = 0.01 * ENOUGH,
                                        .settled = 0.01 * ENOUGH,
                                        .levels = LEVELS,
                                        .threads = opt->machine.threads,
                                        .go_on = solve_stop,
                                        .user = f },
                     level, next.c, found, err));
    ladder_close(l);
    *l = next;
    next = (ladder){ 0 };
done:
    ladder_close(&next);
    memory_free(mean);
    memory_free(rough);
    return st;
}

/* What the functions up to a frequency gain by noise alone: sum_k 1 / (2 n (curb_k + s)). */
static npmd_status noise_gain(const npmd_model *m, const npmd_points *pts, int frequency, double square, double *out,
                              npmd_error *err)
{
    const series_basis of_frequency = basis_sketch(m->domain, frequency);
    series_basis b = { 0 };
    double sum = 0.0, weight = 0.0, weight2 = 0.0;
    const npmd_status st = series_basis_open(&b, m->domain, of_frequency.frequency, err);
    for (size_t k = 0; st == NPMD_OK && k < b.size; k++)
        if (b.lambda[k] > 0.0)
            sum += 1.0 / (2.0 * m->set.tau * b.lambda[k] * b.lambda[k] + square);
    for (size_t i = 0; i < pts->n; i++) {
        weight += points_weight(pts, i);
        weight2 += points_weight(pts, i) * points_weight(pts, i);
    }
    series_basis_close(&b);
    *out = 0.5 * sum * weight2 / (weight * weight);
    return st;
}

npmd_status gap_optimum(fit *f, double *optimum, double *accuracy, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = f->model;
    const int p = m->domain->dimension;
    const double q = pow(2.0, 4 - p);
    double before = NAN; /* f at half the frequency */
    ladder l = { 0 };
    int level = 0;
    *optimum = NAN;
    *accuracy = INFINITY;
    for (int F = FIRST_FREQUENCY; affordable(m->domain, F) && !(*accuracy <= ENOUGH); F *= 2) {
        series_certificate found;
        level = level > 1 ? level - 1 : 0; /* a grid of that frequency is finer to begin with */
        TRY(ladder_climb(&l, f, F, &level, &found, err));
        if (found.stopped || !found.verified)
            break;
        const double lambda = next_eigenvalue(m->domain, F), curb = 2.0 * m->set.tau * lambda * lambda,
                     eps = (4.0 - p) / (8.0 - p) * found.square / curb, a = (before - found.objective) / (q - 1.0);
        before = found.objective;
        if (eps <= SMALL_EPS && isfinite(a)) {
            const double next = a * eps * 15.0 * q / (q - 1.0);
            double noise[2];
            TRY(noise_gain(m, f->points, F / 2, found.square, &noise[0], err));
            TRY(noise_gain(m, f->points, F, found.square, &noise[1], err));
            *accuracy = next + fmax(0.0, a - NOISE_SHARE * (noise[1] - noise[0]) / (q - 1.0));
            *optimum = found.objective - a - next;
        }
    }
done:
    ladder_close(&l);
    return st;
}

npmd_status field_gap(fit *f, const field_plan *plan, const double *theta, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    double own = NAN, own_accuracy = INFINITY, optimum = NAN, accuracy = INFINITY;
    const char *why = obstacle(&m->set, m->domain);
    if (gap_wanted(&m->set, m->domain, f->points->n)) {
        why = "the frequencies that the series can hold are not enough";
        TRY(gap_optimum(f, &optimum, &accuracy, err));
        /* about: the objective of the last steps is noisy, but says whether it is worth the time */
        const double about = fmax(0.0, m->facts.objective - 1.0 - optimum);
        if (accuracy <= fmax(ENOUGH, 2.0 * USEFUL * about) && !m->facts.interrupted) {
            TRY(field_objective(f, plan, theta, fmax(SETTLED, 0.1 * accuracy), &own, &own_accuracy, err));
            accuracy += own_accuracy;
            if (accuracy <= fmax(2.0 * ENOUGH, USEFUL * (own - optimum)))
                why = NULL;
        }
    }
    if (m->facts.interrupted)
        goto done;
    if (isfinite(own) && why == NULL) {
        m->facts.convex_optimum = optimum + 1.0; /* as the objective counts: mean exp v is 1 there */
        m->facts.convex_gap = own - optimum;
        m->facts.convex_gap_accuracy = accuracy;
    } else if (m->set.descent.convex_gap == 1) {
        model_warn(m, "the gap to the convex optimum is not known: %s", why);
    }
done:
    return st;
}
