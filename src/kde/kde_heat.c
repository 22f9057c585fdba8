/* kde_heat.c - kernels on surfaces: heat kernels, from the spectrum.
 *
 * With c_k the mean over the points of the k-th product of eigenfunctions (mean square 1, eigenvalue lambda_k), heat
 * that starts at the points has at time t the density, relative to the uniform measure,
 *
 *     f(x) = sum_k exp(-lambda_k t) c_k psi_k(x).
 *
 * t corresponds to 1 / (2 kappa) of a von Mises-Fisher kernel. It is chosen by least squares, without a draw or a grid:
 * by Parseval's identity the criterion is
 *
 *     integral of f^2 - 2 mean_i f_(-i)(x_i) = sum_k e_k^2 c_k^2 - 2 e_k (n c_k^2 - s_k) / (n - 1),
 *     e_k = exp(-lambda_k t),
 *
 * f_(-i) the estimate without point i, s_k the mean of psi_k^2 over the points. Points that are left out together count
 * as one of their common weight. The series is finite, so f may fall
 * below zero where there are no points: it is kept above FLOOR times the uniform density, and normalised again. */
#include "kde.h"

#define FLOOR 1e-3
#define MUCH 0.05     /* largest addition of the floor to the integral, which is 1, without a warning */
#define LONGEST 1.0   /* longest time: little more than the mean is left */
#define SHORTEST 1e-6 /* shortest time: kernels are narrower than any computed eigenfunction */
#define TRIALS 300
#define MOST_FUNCTIONS                                                                                                 \
    ((size_t)1 << 20) /* coefficients, 8 MiB: there is no grid, and so more of them than a series has */
#define MOST_POINTS ((size_t)1 << 21)

typedef struct heat {
    series_basis basis;
    double *c; /* (size): with the heat's decay */
} heat;

static void heat_free(void *state)
{
    heat *h = state;
    if (h == NULL)
        return;
    series_basis_close(&h->basis);
    memory_free_all(h->c, h);
}

static npmd_status heat_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = p->domain;
    const kernel_settings *k = &p->full.kernels;
    settings *o = &p->full;
    int *frequency = o->encoding.max_frequency;
    if (k->bandwidth != BANDWIDTH_FIXED || k->concentration != 0 || k->rule != RULE_LEAST_SQUARES)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                      "kernels on a surface are those of the heat equation: `bandwidth` fixed, "
                      "`concentration` common and `concentration-rule` least-squares"));
    if (k->kappas > 1)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "`kappa`: one value was expected, since %s has a surface", dom->text));
    const bool asked = frequency[0] > 0 || o->encoding.max_frequencies > 1;
    settings_fill(o, settings_readers(o, dom), dom, p->n);
    TRY(settings_fill_frequencies(o, dom, err));
    const size_t budget = asked ? MOST_FUNCTIONS : SERIES_USUAL_FUNCTIONS;
    int most = 1;
    for (int d = 0; d < dom->factors; d++)
        most = frequency[d] > most ? frequency[d] : most;
    for (; !asked && most > 1 && series_count(dom, frequency) > (double)budget; most--)
        for (int d = 0; d < dom->factors; d++) /* the highest go down by one */
            frequency[d] -= frequency[d] == most;
    if (series_count(dom, frequency) > (double)budget)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                      "kernels on %s would be sums of %.3g products of eigenfunctions%s, at most %zu are possible",
                      dom->text, series_count(dom, frequency), asked ? "" : " even at frequency 1", budget));
    p->bytes = (LANES + 10) * (size_t)series_count(dom, frequency) * sizeof(double);
    o->encoding.features = 0; /* all of them */
    o->descent.batch = 0;
    o->tau = 0.0; /* nothing is penalised */
    o->kernels.kappas = 1;
done:
    return st;
}

/* The least-squares criterion after the time t. */
static double heat_criterion(const series_basis *b, const double *c, const double *s, double n, double t)
{
    double sum = 0.0;
    for (size_t k = 0; k < b->size; k++) {
        const double e = exp(-b->lambda[k] * t);
        sum += e * e * c[k] * c[k] - 2.0 * e * (n * c[k] * c[k] - s[k]) / (n - 1.0);
    }
    return sum;
}

static double heat_choose(const series_basis *b, const double *c, const double *s, double n, double *criterion)
{
    double best = LONGEST;
    *criterion = INFINITY;
    for (int i = 0; i < TRIALS; i++) {
        const double t = LONGEST * pow(SHORTEST / LONGEST, (double)i / (TRIALS - 1)),
                     now = heat_criterion(b, c, s, n, t);
        if (now < *criterion) {
            *criterion = now;
            best = t;
        }
    }
    return best;
}

/* From f to v = log of what stands above the floor; jets (n, rows): f, its derivatives, its Laplacian. */
static void heat_log(double *out, size_t n, size_t rows)
{
    for (size_t i = 0; i < n; i++) {
        double *jet = out + i * rows, square = 0.0;
        const double f = jet[0];
        jet[0] = log(fmax(f, FLOOR));
        for (size_t t = 1; t + 1 < rows; t++) {
            jet[t] = f > FLOOR ? jet[t] / f : 0.0;
            square += jet[t] * jet[t];
        }
        if (rows > 1)
            jet[rows - 1] = f > FLOOR ? jet[rows - 1] / f - square : 0.0;
    }
}

static npmd_status heat_evaluate(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out,
                                 npmd_error *err)
{
    const npmd_model *m = e->model;
    const heat *h = m->state;
    const npmd_status st = series_evaluate(&h->basis, h->c, x, n, rows, compute_threads(e->how), out, err);
    if (st == NPMD_OK)
        heat_log(out, n, rows == JET_VALUE ? 1 : (size_t)m->domain->dimension + 2);
    return st;
}

static npmd_status heat_fit(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    const npmd_points *pts = f->points;
    double *square = NULL, t = 0.0, weights = 0.0;
    heat *h = NULL;
    TRY(memory_new(&h, 1, err));
    m->state = h;
    TRY(series_basis_open(&h->basis, m->domain, m->set.encoding.max_frequency, err));
    TRY(memory_new(&h->c, h->basis.size, err));
    TRY(memory_new(&square, h->basis.size, err));
    TRY(series_moments(&h->basis, pts, m->set.machine.threads, h->c, err));
    TRY(series_squares(&h->basis, pts, m->set.machine.threads, square, err));
    TRY(points_squared_weights(pts, m->set.ties, &weights, err));
    /* points of unequal weight count as fewer: n = (sum w)^2 / sum w^2, with the sum of w equal to their number */
    const double n = (double)pts->n * (double)pts->n / weights;
    if (m->set.kernels.kappa[0] > 0.0) {
        t = 0.5 / m->set.kernels.kappa[0];
        m->facts.objective = heat_criterion(&h->basis, h->c, square, n, t);
    } else {
        t = heat_choose(&h->basis, h->c, square, n, &m->facts.objective);
        m->set.kernels.kappa[0] = 0.5 / t;
    }
    for (size_t k = 0; k < h->basis.size; k++)
        h->c[k] *= exp(-h->basis.lambda[k] * t);
    TRY(fit_normalise_model(f, MOST_POINTS, NULL, err));
    if (expm1(m->facts.log_integral) > MUCH)
        model_warn(
            m,
            "the sum of eigenfunctions ends before kernels of kappa %.4g do: it is negative in places, and raising "
            "it to %g there added %.0f %%; a higher `max-frequency` or a smaller `kappa` has less of that",
            m->set.kernels.kappa[0], FLOOR, 100.0 * expm1(m->facts.log_integral));
done:
    memory_free(square);
    return st;
}

static npmd_status heat_save(const npmd_model *m, record *rec, npmd_error *err)
{
    const heat *h = m->state;
    return record_add(rec, "heat.coefficients", TENSOR_F64, 1, &h->basis.size, h->c, err);
}

static npmd_status heat_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *opt = &m->set;
    const tensor *coefficients = NULL;
    heat *h = NULL;
    bool sound = opt->encoding.max_frequencies == m->domain->factors;
    for (int d = 0; sound && d < m->domain->factors; d++)
        sound = opt->encoding.max_frequency[d] >= 1
                && opt->encoding.max_frequency[d] <= m->domain->factor[d]->max_frequency;
    if (!sound || series_count(m->domain, opt->encoding.max_frequency) > (double)MOST_FUNCTIONS)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: its options do not describe kernels on %s", path, m->domain->text));
    TRY(memory_new(&h, 1, err));
    m->state = h;
    TRY(series_basis_open(&h->basis, m->domain, opt->encoding.max_frequency, err));
    TRY(memory_new(&h->c, h->basis.size, err));
    TRY(record_find(rec, path, "heat.coefficients", TENSOR_F64, 1, &h->basis.size, &coefficients, err));
    memcpy(h->c, coefficients->data, h->basis.size * sizeof *h->c);
    for (size_t k = 0; k < h->basis.size; k++)
        if (!isfinite(h->c[k]))
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor heat.coefficients holds a number that is not finite",
                          path));
done:
    return st;
}

static npmd_status heat_describe(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const heat *h = m->state;
    TRY(json_put(into, "kernel", json_string("heat"), err));
    TRY(json_put(into, "heat_time", json_real(0.5 / m->set.kernels.kappa[0]), err));
    TRY(json_put(into, "eigenfunctions", json_integer((json_int_t)h->basis.coefficients + 1), err));
    TRY(json_put(into, "least_relative_density", json_real(FLOOR * exp(-m->facts.log_integral)), err));
done:
    return st;
}

const estimator ESTIMATOR_HEAT = {
    .name = "kde",
    .complete = heat_complete,
    .fit = heat_fit,
    .evaluate = heat_evaluate,
    .save = heat_save,
    .load = heat_load,
    .describe = heat_describe,
    .free = heat_free,
};
