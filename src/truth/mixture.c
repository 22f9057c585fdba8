/* mixture.c - mixtures of wrapped normals on tori, and of von Mises-Fisher kernels on products of S1 and S2.
 *
 * A wrapped normal on the torus R^D / (2 pi Z)^D is a normal density summed over the lattice of shifts:
 *
 *     f(x) = sum over k in Z^D of N(x - mean + 2 pi k; 0, C),      C = L L',  L lower triangular.
 *
 * With t = L^-1 (x - mean + 2 pi k) a term depends on |t|^2 = t_0^2 + ... + t_{D-1}^2, and t_i on k_0 .. k_i alone. So
 * the shifts are walked as a tree, coordinate by coordinate, nearest first, and a branch ends where the partial sum
 * shows that its terms are negligible (the sphere decoder of lattice coding: Schnorr and Euchner 1994).
 *
 * A von Mises-Fisher component is a product over the factors of exp(kappa (cos d(x, mean) - 1)) times a constant.
 * Everything is summed in logarithms: far from all means the density underflows, its logarithm does not. */
#include "truth_shapes.h"

/* ---- Constants of the kernels ------------------------------------------------------------------------------------ */

double truth_log_von_mises_constant(double kappa)
{
    return CIRCLE.log_kernel(&CIRCLE, kappa);
}

double truth_log_fisher_constant(double kappa)
{
    return SPHERE.log_kernel(&SPHERE, kappa);
}

/* ---- Making and checking ----------------------------------------------------------------------------------------- */

/* Tolerances of what a file may hold. Weights and unit vectors may be rounded; they are then made exact. */
#define WEIGHT_SUM_TOLERANCE 1e-6
#define UNIT_TOLERANCE 1e-3
#define SYMMETRY_TOLERANCE 1e-9
/* Below it a mean or the weights count as exact and are kept bit by bit, so that a file survives reading and
 * writing. */
#define EXACT_TOLERANCE 1e-14
#define VARIANCE_LEAST 1e-12
#define KAPPA_MOST 1e8         /* the smallest width either kernel is meant for: 1e-4 radians */
#define LATTICE_TERMS_MOST 1e5 /* terms a point; with more, evaluation would seem to hang */

npmd_status mixture_new(truth_kind kind, npmd_domain *dom, size_t components, npmd_truth **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_truth *t = NULL;
    assert(kind != TRUTH_GRID);
    const size_t columns = (size_t)dom->columns, factors = (size_t)dom->factors;
    if (components == 0 || components > 1000000) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "a mixture of %zu components; expected 1 to 1,000,000", components);
        goto done;
    }
    TRY(memory_new(&t, 1, err));
    t->kind = kind;
    t->components = (int)components;
    TRY(memory_new(&t->weight, components, err));
    TRY(memory_new(&t->cumulative, components, err));
    if (kind == TRUTH_SHAPES) {
        TRY(memory_new(&t->shape, components, err));
    } else {
        TRY(memory_new(&t->mean, components * columns, err));
        TRY(memory_new(&t->constant, components, err));
    }
    if (kind == TRUTH_WRAPPED_NORMAL) {
        assert(dom->torus);
        TRY(memory_new(&t->covariance, components * columns * columns, err));
        TRY(memory_new(&t->lower, components * columns * columns, err));
    } else if (kind == TRUTH_VON_MISES_FISHER) {
        TRY(memory_new(&t->kappa, components * factors, err));
    }
    t->domain = dom;
    dom = NULL;
    *out = t;
    t = NULL;
done:
    domain_free(dom);
    truth_free(t);
    return st;
}

void truth_free(npmd_truth *t)
{
    if (t == NULL)
        return;
    shapes_free(t->shape, t->components);
    memory_free(t->spelling);
    domain_free(t->domain);
    memory_free(t->weight);
    memory_free(t->mean);
    memory_free(t->covariance);
    memory_free(t->kappa);
    memory_free(t->cumulative);
    memory_free(t->constant);
    memory_free(t->lower);
    memory_free(t->grid);
    memory_free(t);
}

static npmd_status prepare_weights(npmd_truth *t, const char *where, npmd_error *err)
{
    double sum = 0.0;
    for (int c = 0; c < t->components; c++) {
        if (!(t->weight[c] > 0.0 && isfinite(t->weight[c])))
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %s[%d] is %g, expected a positive number", where,
                             t->kind == TRUTH_SHAPES ? "the weight of components" : "weights", c, t->weight[c]);
        sum += t->weight[c];
    }
    if (!(fabs(sum - 1.0) <= WEIGHT_SUM_TOLERANCE))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: the weights sum to %.9g, expected 1 to within %g", where, sum,
                         WEIGHT_SUM_TOLERANCE);
    if (fabs(sum - 1.0) > EXACT_TOLERANCE * t->components)
        for (int c = 0; c < t->components; c++)
            t->weight[c] /= sum;
    double cumulative = 0.0;
    for (int c = 0; c < t->components; c++)
        t->cumulative[c] = cumulative += t->weight[c];
    t->cumulative[t->components - 1] = 1.0;
    return NPMD_OK;
}

static npmd_status prepare_means(npmd_truth *t, const char *where, npmd_error *err)
{
    const npmd_domain *dom = t->domain;
    for (int c = 0; c < t->components; c++)
        for (int d = 0; d < dom->factors; d++) {
            double *m = t->mean + (size_t)c * (size_t)dom->columns + dom->column[d];
            double norm2 = 0.0;
            for (int i = 0; i < dom->factor[d]->columns; i++) {
                if (!isfinite(m[i]))
                    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: means[%d][%d] is not finite", where, c,
                                     dom->column[d] + i);
                norm2 += m[i] * m[i];
            }
            if (dom->factor[d] != &SPHERE)
                continue;
            const double norm = sqrt(norm2);
            if (!(fabs(norm - 1.0) <= UNIT_TOLERANCE))
                return npmd_fail(err, NPMD_ERR_FORMAT,
                                 "%s: means[%d], factor %d (S2) has length %.6g, expected a unit vector to within %g",
                                 where, c, d, norm, UNIT_TOLERANCE);
            if (fabs(norm - 1.0) > EXACT_TOLERANCE)
                for (int i = 0; i < 3; i++)
                    m[i] /= norm;
        }
    return NPMD_OK;
}

/* A term with |t|^2 above the smallest one by this much is left out: the chi-square distribution with D <= 16
 * degrees of freedom has less than 1e-17 beyond it, and that is what the terms left out add up to, relative
 * to the sum. */
static double lattice_slack(int D)
{
    return 80.0 + 3.0 * D;
}

/* Branches of the walk after its first d coordinates: lattice points in the ellipsoid |t|^2 <= slack, by its
 * volume V_d slack^(d/2) L_00 ... L_{d-1,d-1} over (2 pi)^d; the unit ball has V_d = V_{d-2} 2 pi / d. */
static double lattice_branches(int d, double slack, double log_determinant)
{
    double ball = d % 2 ? 2.0 : 1.0;
    for (int k = d; k > 1; k -= 2)
        ball *= TWO_PI / k;
    return ball * exp(0.5 * d * log(slack) + log_determinant - d * log(TWO_PI));
}

/* lower (D, D): covariance = lower lower'. The two triangles may differ by rounding: their mean is taken. */
static npmd_status prepare_covariance(npmd_truth *t, int c, const char *where, npmd_error *err)
{
    const int D = t->domain->dimension;
    const double *C = t->covariance + (size_t)c * (size_t)(D * D);
    double *L = t->lower + (size_t)c * (size_t)(D * D);
    double log_determinant = 0.0, branches = 0.0, pivot[NPMD_MAX_FACTORS], room[NPMD_MAX_FACTORS * CHOLESKY_BLOCK];
    for (int i = 0; i < D; i++)
        if (!(C[i * D + i] >= VARIANCE_LEAST && isfinite(C[i * D + i])))
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s: covariances[%d][%d][%d] is %g, expected a variance of at least %g", where, c, i, i,
                             C[i * D + i], VARIANCE_LEAST);
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) {
            const double upper = C[j * D + i], scale = sqrt(C[i * D + i] * C[j * D + j]);
            if (!(fabs(C[i * D + j] - upper) <= SYMMETRY_TOLERANCE * scale))
                return npmd_fail(err, NPMD_ERR_FORMAT,
                                 "%s: covariances[%d] is not symmetric: [%d][%d] is %.9g, [%d][%d] is %.9g", where, c,
                                 i, j, C[i * D + j], j, i, upper);
            L[i * D + j] = 0.5 * (C[i * D + j] + upper);
        }
    const size_t n = (size_t)D, reached = cholesky_factor(kernels_select(NULL), n, n, 1, room, L, pivot);
    for (int i = 0; i < D; i++) {
        /* what rounding alone may leave of a singular matrix */
        if ((size_t)i >= reached || !(pivot[i] > 1e-13 * C[i * D + i]))
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s: covariances[%d] is not positive definite: pivot %d of its Cholesky factor is %.3g",
                             where, c, i, pivot[i]);
        log_determinant += 0.5 * log(pivot[i]);
        branches = fmax(branches, lattice_branches(i + 1, lattice_slack(D), log_determinant));
    }
    if (branches > LATTICE_TERMS_MOST)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: covariances[%d] is so wide that a density is a sum of %.3g terms; expected at most %g: "
                         "use smaller variances",
                         where, c, branches, LATTICE_TERMS_MOST);
    t->constant[c] = log(t->weight[c]) - log_determinant - 0.5 * D * log(TWO_PI);
    return NPMD_OK;
}

static npmd_status prepare_kappas(npmd_truth *t, int c, const char *where, npmd_error *err)
{
    const npmd_domain *dom = t->domain;
    t->constant[c] = log(t->weight[c]);
    for (int d = 0; d < dom->factors; d++) {
        const double kappa = t->kappa[c * dom->factors + d];
        if (!(kappa >= 0.0 && kappa <= KAPPA_MOST))
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s: kappas[%d][%d] is %g, expected 0 to %g", where, c, d, kappa,
                             KAPPA_MOST);
        t->constant[c] += dom->factor[d] == &CIRCLE ? truth_log_von_mises_constant(kappa)
                                                    : truth_log_fisher_constant(kappa);
    }
    return NPMD_OK;
}

npmd_status mixture_prepare(npmd_truth *t, const char *where, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(prepare_weights(t, where, err));
    if (t->kind == TRUTH_SHAPES) /* each checked itself */
        goto done;
    TRY(prepare_means(t, where, err));
    for (int c = 0; c < t->components; c++)
        TRY(t->kind == TRUTH_WRAPPED_NORMAL ? prepare_covariance(t, c, where, err) : prepare_kappas(t, c, where, err));
done:
    return st;
}

/* ---- Density ----------------------------------------------------------------------------------------------------- */

/* log(sum of exp of the terms so far) = greatest + log(sum). */
typedef struct log_sum {
    double greatest, sum;
} log_sum;

static void log_sum_add(log_sum *s, double term)
{
    if (term > s->greatest) {
        s->sum = s->sum * exp(s->greatest - term) + 1.0;
        s->greatest = term;
    } else {
        s->sum += exp(term - s->greatest);
    }
}

typedef struct lattice_walk {
    int D;
    const double *lower; /* (D, D) */
    double constant;     /* a term is constant - |t|^2 / 2 */
    double slack;
    double y[NPMD_MAX_FACTORS], t[NPMD_MAX_FACTORS]; /* x - mean; the coordinates of t chosen so far */
    log_sum *total;                                  /* over the whole mixture: a far component ends at once */
} lattice_walk;

/* Adds all terms whose first i coordinates of t are those chosen, norm2 their squares' sum. The shifts of
 * coordinate i are tried by rising |t_i|, so the first one beyond the limit ends the level. */
static void lattice_walk_from(lattice_walk *w, int i, double norm2)
{
    if (i == w->D) {
        log_sum_add(w->total, w->constant - 0.5 * norm2);
        return;
    }
    const double *row = w->lower + i * w->D;
    double y = w->y[i];
    for (int j = 0; j < i; j++)
        y -= row[j] * w->t[j];
    y -= TWO_PI * rint(y / TWO_PI); /* |y| <= pi: the nearest shift is 0, the next lies across the origin */
    const double side = y > 0.0 ? -TWO_PI : TWO_PI;
    for (int tried = 0;; tried++) {
        const int shift = tried % 2 ? (tried + 1) / 2 : -(tried / 2); /* 0, 1, -1, 2, -2, ... towards side */
        const double t = (y + side * shift) / row[i], sum = norm2 + t * t;
        /* the limit falls as terms are found; a NaN ends the walk too */
        const double limit = 2.0 * (w->constant - w->total->greatest) + w->slack;
        if (!(sum <= limit))
            return;
        w->t[i] = t;
        lattice_walk_from(w, i + 1, sum);
    }
}

static void wrapped_normal_add(const npmd_truth *t, int c, const double *x, log_sum *total)
{
    const int D = t->domain->dimension;
    lattice_walk walk = { .D = D,
                          .lower = t->lower + (size_t)c * (size_t)(D * D),
                          .constant = t->constant[c],
                          .slack = lattice_slack(D) + 2.0 * log(t->components),
                          .total = total };
    const double *mean = t->mean + (size_t)c * (size_t)D;
    for (int i = 0; i < D; i++) {
        const double y = x[i] - mean[i];
        /* of a far branch: as the domain wraps it, digit by digit */
        walk.y[i] = fabs(y) > 2.0 * TWO_PI ? remainder(y, TWO_PI) : y;
    }
    lattice_walk_from(&walk, 0, 0.0);
}

/* kappa (cos d - 1) as -2 kappa sin^2(d/2) on S1 and -kappa |x - mean|^2 / 2 on S2: near the mean no digits
 * cancel. */
static double fisher_log_kernel(const npmd_truth *t, int c, const double *x)
{
    const npmd_domain *dom = t->domain;
    const double *mean = t->mean + (size_t)c * (size_t)dom->columns, *kappa = t->kappa + c * dom->factors;
    double sum = 0.0;
    for (int d = 0; d < dom->factors; d++) {
        const double *p = x + dom->column[d], *m = mean + dom->column[d];
        if (dom->factor[d] == &CIRCLE) {
            const double s = sin(0.5 * (p[0] - m[0]));
            sum -= 2.0 * kappa[d] * s * s;
        } else {
            const double u = p[0] - m[0], v = p[1] - m[1], w = p[2] - m[2];
            sum -= 0.5 * kappa[d] * (u * u + v * v + w * w);
        }
    }
    return sum;
}

double mixture_log_density(const npmd_truth *t, const double *x)
{
    const npmd_domain *dom = t->domain;
    log_sum total = { .greatest = -INFINITY, .sum = 0.0 };
    if (t->kind == TRUTH_SHAPES)
        return shapes_log_density(t, x);
    if (t->kind == TRUTH_WRAPPED_NORMAL) {
        for (int c = 0; c < t->components; c++)
            wrapped_normal_add(t, c, x, &total);
        return total.greatest + log(total.sum);
    }
    double unit[DOMAIN_MAX_COLUMNS]; /* x, its unit vectors made exact */
    memcpy(unit, x, (size_t)dom->columns * sizeof *unit);
    for (int d = 0; d < dom->factors; d++)
        if (dom->factor[d] == &SPHERE) {
            double *p = unit + dom->column[d];
            const double norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            for (int i = 0; i < 3; i++)
                p[i] /= norm;
        }
    for (int c = 0; c < t->components; c++)
        log_sum_add(&total, t->constant[c] + fisher_log_kernel(t, c, unit));
    return total.greatest + log(total.sum);
}

void mixture_log_densities(const npmd_truth *t, const double *x, size_t n, double *out)
{
    const size_t columns = (size_t)t->domain->columns;
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads_wanted(t->threads)) if (n > 256)
    for (size_t i = 0; i < n; i++)
        out[i] = mixture_log_density(t, x + i * columns);
}

/* On surfaces, where a point of the user is another row than the domain's. */
static npmd_status log_density_on_surfaces(const npmd_truth *t, const double *x, size_t n, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)t->domain->columns;
    double *own = NULL;
    TRY(memory_new(&own, n * columns, err));
    for (size_t i = 0; i < n; i++) {
        int factor = 0;
        if (points_from_row(t->domain, 0, x + i * columns, own + i * columns, &factor) != NULL) {
            char reason[POINTS_REASON];
            points_reason(t->domain, 0, x + i * columns, reason);
            st = npmd_fail(err, NPMD_ERR_ARGUMENT, "row %zu, %s", i, reason);
            goto done;
        }
    }
    mixture_log_densities(t, own, n, out);
done:
    memory_free(own);
    return st;
}

npmd_status truth_log_density(const npmd_truth *t, const double *x, size_t n, double *out, npmd_error *err)
{
    const size_t columns = (size_t)t->domain->columns;
    if (t->kind == TRUTH_GRID)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "this truth is known on the nodes of its grid only: it can be compared with, not evaluated");
    if (t->domain->surfaces)
        return log_density_on_surfaces(t, x, n, out, err);
    for (size_t i = 0; i < n; i++) {
        double row[DOMAIN_MAX_COLUMNS];
        int factor = 0;
        memcpy(row, x + i * columns, columns * sizeof *row);
        const char *reason = domain_canonical(t->domain, row, &factor);
        if (reason != NULL)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "row %zu, factor %d (%s) %s", i, factor,
                             t->domain->factor[factor]->name, reason);
    }
    mixture_log_densities(t, x, n, out);
    return NPMD_OK;
}

/* ---- Draws ------------------------------------------------------------------------------------------------------- */

/* Uniform numbers of a row: 0 chooses the component, those of normal i are 2 i and 2 i + 1 from i = 1 on (as
 * rng_normal counts them), and a factor of a von Mises-Fisher kernel has a stretch of its own from 2 on. */
#define VON_MISES_TRIES 256 /* each succeeds with probability above 0.65: all fail once in 1e116 rows */
#define FACTOR_SLOTS (3 * VON_MISES_TRIES)

/* The angle of a von Mises deviate from its mean: rejection from a wrapped Cauchy (Best and Fisher 1979). rho
 * is (tau - sqrt(2 tau)) / (2 kappa), tau = 1 + sqrt(1 + 4 kappa^2), written so that nothing cancels for
 * small kappa. */
static double von_mises_angle(double kappa, rng_key key, uint64_t index, uint32_t slot)
{
    if (kappa < 1e-12)
        return TWO_PI * rng_uniform(key, index, slot);
    const double root = sqrt(1.0 + 4.0 * kappa * kappa), tau = 1.0 + root;
    const double rho = 2.0 * kappa * sqrt(tau) / ((sqrt(tau) + sqrt(2.0)) * tau);
    const double r = (1.0 + rho * rho) / (2.0 * rho);
    double cosine = 1.0;
    for (uint32_t tried = 0; tried < VON_MISES_TRIES; tried++, slot += 3) {
        const double z = cos(NPMD_PI * rng_uniform(key, index, slot)), v = rng_uniform(key, index, slot + 1);
        cosine = (1.0 + r * z) / (r + z);
        const double c = kappa * (r - cosine);
        if (c * (2.0 - c) > v || log(c / v) + 1.0 - c >= 0.0)
            break;
    }
    const double angle = acos(fmin(1.0, fmax(-1.0, cosine)));
    return rng_uniform(key, index, slot + 2) < 0.5 ? -angle : angle;
}

/* The cosine w to the mean has distribution function
 * (exp(kappa w) - exp(-kappa)) / (exp(kappa) - exp(-kappa)), which is inverted as a fall v = 1 - w from the
 * mode (Ulrich 1984; in the form of Jakob 2012, stable for any kappa); the direction around the mean is
 * uniform. */
static void fisher_point(const double *mean, double kappa, rng_key key, uint64_t index, uint32_t slot, double *x)
{
    const double u = rng_uniform(key, index, slot), angle = TWO_PI * rng_uniform(key, index, slot + 1);
    const double fall = kappa < 1e-12 ? 2.0 * u : -log1p(u * expm1(-2.0 * kappa)) / kappa;
    const double v = fmin(2.0, fall), sine = sqrt(v * (2.0 - v));
    const double a = sine * cos(angle), b = sine * sin(angle);
    double frame[6], norm2 = 0.0;
    SPHERE.frame(&SPHERE, mean, frame);
    for (int i = 0; i < 3; i++) {
        x[i] = (1.0 - v) * mean[i] + a * frame[i] + b * frame[3 + i];
        norm2 += x[i] * x[i];
    }
    for (int i = 0; i < 3; i++)
        x[i] /= sqrt(norm2);
}

/* x = mean + L z, z standard normal, wrapped to [0, 2 pi). */
static void wrapped_normal_point(const npmd_truth *t, int c, rng_key key, uint64_t index, double *x)
{
    const int D = t->domain->dimension;
    const double *L = t->lower + (size_t)c * (size_t)(D * D), *mean = t->mean + (size_t)c * (size_t)D;
    double z[NPMD_MAX_FACTORS];
    for (int i = 0; i < D; i++) {
        z[i] = rng_normal(key, index, (uint32_t)i + 1);
        x[i] = mean[i];
        for (int j = 0; j <= i; j++)
            x[i] += L[i * D + j] * z[j];
        CIRCLE.canonical(&CIRCLE, x + i);
    }
}

void mixture_draw(const npmd_truth *t, rng_key key, uint64_t index, double *x)
{
    const npmd_domain *dom = t->domain;
    const double u = rng_uniform(key, index, 0);
    int c = 0;
    while (c < t->components - 1 && u >= t->cumulative[c])
        c++;
    if (t->kind == TRUTH_SHAPES) {
        shapes_draw(t, c, key, index, x);
        return;
    }
    if (t->kind == TRUTH_WRAPPED_NORMAL) {
        wrapped_normal_point(t, c, key, index, x);
        return;
    }
    for (int d = 0; d < dom->factors; d++) {
        const double *mean = t->mean + (size_t)c * (size_t)dom->columns + dom->column[d];
        const double kappa = t->kappa[c * dom->factors + d];
        const uint32_t slot = 2 + (uint32_t)d * FACTOR_SLOTS;
        double *p = x + dom->column[d];
        if (dom->factor[d] == &SPHERE) {
            fisher_point(mean, kappa, key, index, slot, p);
        } else {
            *p = *mean + von_mises_angle(kappa, key, index, slot);
            CIRCLE.canonical(&CIRCLE, p);
        }
    }
}

void mixture_draws(const npmd_truth *t, rng_key key, uint64_t first, size_t n, double *x)
{
    const size_t columns = (size_t)t->domain->columns;
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads_wanted(t->threads)) if (n > 256)
    for (size_t i = 0; i < n; i++)
        mixture_draw(t, key, first + i, x + i * columns);
}

npmd_status truth_sample(const npmd_truth *t, uint64_t seed, size_t n, double *x, npmd_error *err)
{
    if (t->kind == TRUTH_GRID)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "this truth is known on the nodes of its grid only: it can be compared with, not sampled");
    mixture_draws(t, rng_key_make(seed, RNG_SIMULATE, 0), 0, n, x);
    for (size_t i = 0; t->domain->surfaces && i < n; i++)
        domain_position(t->domain, x + i * (size_t)t->domain->columns);
    return NPMD_OK;
}
