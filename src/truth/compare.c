/* compare.c - distances of an estimate g from a known density f.
 *
 * With f, g relative densities, a = sqrt f, b = sqrt g, and E the mean over the domain or the nodes:
 *
 *     nise = E (f - g)^2 / E f^2                    the normalised integrated squared error
 *     fr   = arccos E ab                            the Fisher-Rao half-distance
 *     fr2  = arccos (E ab)^2                        as the paper prints it
 *     ae   = arccos of Pearson's correlation of a and b      as its tables were computed
 *     kl   = E f log(f / g)                         KL(truth || estimate)
 *
 * Each is formed from moments of differences, d = a - b, which vanish with the error itself:
 *
 *     1 - E ab = E d^2 / 2 + 1 - (E f + E g) / 2,      kl = E [f log(f/g) - f + g] + E f - E g,
 *     1 - correlation = (Var d - (s_a - s_b)^2) / (2 s_a s_b),   s_a - s_b = (s_a^2 - s_b^2) / (s_a + s_b),
 *     s_a^2 - s_b^2 = E (f - g) - E d E (a + b).
 *
 * Nodes: on T1 and T2 a fine half-open grid; on S2 Gauss-Legendre times equally spaced longitudes; for a truth that is
 * a grid, its own nodes. Elsewhere 16 independent batches of points, with standard errors by the delete-one jackknife
 * over the batches. Uniform points alone are poor where f is peaked (on the paper's T4 E f^2 is about 60), so one half
 * of a batch is uniform (scrambled Sobol) and the other half drawn from f; together they have density (1 + f) / 2, and
 * a point weighs 2 / (1 + f) (the balance heuristic of Veach and Guibas 1995): no weight exceeds 2, and E f^2 becomes a
 * mean of numbers below 2 f. There E f = E g = 1 is known, and used in fr and kl, where the noise of both masses would
 * drown a small error; on a grid the masses are those of the nodes. */
#include "truth.h"

/* ---- Moments ----------------------------------------------------------------------------------------------------- */

enum { WEIGHT, F, G, A, B, D1, D2, FF, DIFF, DIFF2, KL, MOMENTS };

/* Adds a node of weight w; log_f or log_g may be -infinity. */
static void moments_add(double m[MOMENTS], double w, double log_f, double log_g)
{
    const double a = exp(0.5 * log_f), b = exp(0.5 * log_g), d = a - b, f = a * a, g = b * b, diff = d * (a + b);
    const double delta = log_f - log_g;
    double kl = g; /* f (delta - 1 + exp(-delta)), without cancellation near delta = 0; g where f = 0 */
    if (f > 0.0)
        kl = fabs(delta) < 0.5 ? f * (delta + expm1(-delta)) : f * delta - diff;
    m[WEIGHT] += w;
    m[F] += w * f;
    m[G] += w * g;
    m[A] += w * a;
    m[B] += w * b;
    m[D1] += w * d;
    m[D2] += w * d * d;
    m[FF] += w * f * f;
    m[DIFF] += w * diff;
    m[DIFF2] += w * diff * diff;
    m[KL] += w * kl;
}

/* arccos(1 - e), which near e = 0 keeps all digits in this form. */
static double arccos_of_complement(double e)
{
    return 2.0 * asin(sqrt(fmin(1.0, fmax(0.0, 0.5 * e))));
}

/* Pearson's correlation is not defined when a or b is constant: then 0 (a right angle), or 1 if both are. */
static double pearson_angle(const double E[MOMENTS])
{
    const double constant = 1e-14; /* a variance below what rounding leaves of it */
    const double va = E[F] - E[A] * E[A], vb = E[G] - E[B] * E[B];
    const bool a_constant = !(va > constant * E[F]), b_constant = !(vb > constant * E[G]);
    if (a_constant || b_constant)
        return a_constant && b_constant ? 0.0 : 0.5 * NPMD_PI;
    const double sa = sqrt(va), sb = sqrt(vb);
    const double apart = (E[DIFF] - E[D1] * (E[A] + E[B])) / (sa + sb); /* s_a - s_b */
    return arccos_of_complement((E[D2] - E[D1] * E[D1] - apart * apart) / (2.0 * sa * sb));
}

static npmd_comparison comparison_from(const double m[MOMENTS], bool masses_known)
{
    double E[MOMENTS];
    for (int k = 0; k < MOMENTS; k++)
        E[k] = m[k] / m[WEIGHT];
    const double f = masses_known ? 1.0 : E[F], g = masses_known ? 1.0 : E[G];
    const double gap = 0.5 * E[D2] + 1.0 - 0.5 * (f + g); /* 1 - E ab */
    npmd_comparison c = { .nise = E[DIFF2] / E[FF],
                          .ae = pearson_angle(E),
                          .fr = arccos_of_complement(gap),
                          .fr2 = arccos_of_complement(gap * (2.0 - gap)),
                          .kl = E[KL] + f - g,
                          .nise_undivided = E[DIFF2] / E[FF] };
    c.nise_se = c.ae_se = c.fr_se = c.fr2_se = c.kl_se = NAN;
    return c;
}

/* ---- Evaluation by chunks ---------------------------------------------------------------------------------------- */

typedef struct bench { /* what is compared, and space for a chunk */
    const npmd_truth *truth;
    log_density_fn estimate;
    void *self;
    double *x;                      /* (TRUTH_CHUNK, columns) */
    double *log_f, *log_g, *weight; /* (TRUTH_CHUNK): relative densities; weights of the nodes, any scale */
} bench;

static npmd_status bench_open(bench *b, const npmd_truth *t, log_density_fn estimate, void *self, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *b = (bench){ .truth = t, .estimate = estimate, .self = self };
    TRY(memory_new(&b->x, (size_t)TRUTH_CHUNK * (size_t)t->domain->columns, err));
    TRY(memory_new(&b->log_f, TRUTH_CHUNK, err));
    TRY(memory_new(&b->log_g, TRUTH_CHUNK, err));
    TRY(memory_new(&b->weight, TRUTH_CHUNK, err));
done:
    return st;
}

static void bench_close(bench *b)
{
    memory_free(b->weight);
    memory_free(b->log_g);
    memory_free(b->log_f);
    memory_free(b->x);
}

/* log_f and log_g at the n points in x; those of a grid truth are its nodes first .. first + n - 1. */
static npmd_status bench_evaluate(bench *b, size_t first, size_t n, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double log_volume = log(b->truth->domain->volume);
    if (b->truth->kind == TRUTH_GRID) {
        for (size_t i = 0; i < n; i++)
            b->log_f[i] = log(b->truth->grid[first + i]);
    } else {
        mixture_log_densities(b->truth, b->x, n, b->log_f);
        for (size_t i = 0; i < n; i++)
            b->log_f[i] += log_volume;
    }
    TRY(b->estimate(b->self, b->x, n, b->log_g, err));
    for (size_t i = 0; i < n; i++) {
        if (!(b->log_g[i] < INFINITY)) {
            st = npmd_fail(err, NPMD_ERR_NUMERIC, "the estimate's log density is %g at a point of the comparison",
                           b->log_g[i]);
            goto done;
        }
        b->log_g[i] += log_volume;
    }
done:
    return st;
}

/* A chunk's moments are summed on their own first: the rounding error of long sums stays small. */
static void bench_fold(const bench *b, size_t n, double m[MOMENTS])
{
    double chunk[MOMENTS] = { 0 };
    for (size_t i = 0; i < n; i++)
        moments_add(chunk, b->weight[i], b->log_f[i], b->log_g[i]);
    for (int k = 0; k < MOMENTS; k++)
        m[k] += chunk[k];
}

static size_t chunk_at(size_t first, size_t total)
{
    return total - first < TRUTH_CHUNK ? total - first : TRUTH_CHUNK;
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

static npmd_status moments_on_torus(bench *b, const size_t *side, size_t nodes, double m[MOMENTS], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (size_t i = 0; i < TRUTH_CHUNK; i++)
        b->weight[i] = 1.0;
    for (size_t first = 0; first < nodes; first += TRUTH_CHUNK) {
        const size_t n = chunk_at(first, nodes);
        quadrature_torus(b->truth->domain->dimension, side, false, first, n, b->x);
        TRY(bench_evaluate(b, first, n, err));
        bench_fold(b, n, m);
    }
done:
    return st;
}

/* rows heights z, 2 x rows longitudes. */
static npmd_status moments_on_sphere(bench *b, size_t rows, double m[MOMENTS], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *z = NULL, *weight = NULL;
    const size_t around = 2 * rows, nodes = rows * around;
    TRY(memory_new(&z, rows, err));
    TRY(memory_new(&weight, rows, err));
    quadrature_legendre(rows, z, weight);
    for (size_t first = 0; first < nodes; first += TRUTH_CHUNK) {
        const size_t n = chunk_at(first, nodes);
        for (size_t i = 0; i < n; i++) {
            const size_t row = (first + i) / around;
            const double r = sqrt((1.0 - z[row]) * (1.0 + z[row]));
            const double longitude = TWO_PI * (double)((first + i) % around) / (double)around;
            b->x[3 * i] = r * cos(longitude);
            b->x[3 * i + 1] = r * sin(longitude);
            b->x[3 * i + 2] = z[row];
            b->weight[i] = weight[row] / (double)around;
        }
        TRY(bench_evaluate(b, first, n, err));
        bench_fold(b, n, m);
    }
done:
    memory_free(weight);
    memory_free(z);
    return st;
}

/* nodes^(1/dimension) to the nearest whole number, 8 or more. */
static size_t side_for(double nodes, int dimension)
{
    return (size_t)fmax(8.0, rint(pow(nodes, 1.0 / dimension)));
}

#define GRID_POINTS_MOST 1e10 /* hours of work; keeps the product of the sides far from overflow */

/* resolved: whether the truth has mass 1 on the nodes; with kernels narrower than a step it has not. */
static npmd_status compare_on_grid(const npmd_truth *t, log_density_fn estimate, void *self, size_t points,
                                   npmd_comparison *out, bool *resolved, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int dimension = t->domain->dimension;
    bench b = { 0 };
    double m[MOMENTS] = { 0 };
    size_t side[NPMD_MAX_FACTORS] = { 0 }, nodes = 1;
    if ((double)points > GRID_POINTS_MOST) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "%zu points are too many for a grid; expected at most %g", points,
                       GRID_POINTS_MOST);
        goto done;
    }
    TRY(bench_open(&b, t, estimate, self, err));
    if (t->domain->torus) {
        const double usual = dimension == 1 ? 4096.0 : 1048576.0;
        const size_t same = side_for(points > 0 ? (double)points : usual, dimension);
        for (int d = 0; d < dimension; d++) {
            side[d] = t->kind == TRUTH_GRID ? t->side[d] : same;
            nodes *= side[d];
        }
        TRY(moments_on_torus(&b, side, nodes, m, err));
    } else {
        const size_t rows = side_for(points > 0 ? 0.5 * (double)points : 262144.0, 2);
        nodes = 2 * rows * rows;
        TRY(moments_on_sphere(&b, rows, m, err));
    }
    *resolved = fabs(m[F] / m[WEIGHT] - 1.0) <= 1e-6;
    *out = comparison_from(m, false);
    out->points = nodes;
done:
    bench_close(&b);
    return st;
}

/* The authors' nodes on T2: linspace(0, 2 pi, side)^2, ends counted twice, both densities divided by their
 * means over the nodes; nise_undivided leaves the estimate as it was normalised, as the authors did for
 * kernel estimates. */
static npmd_status compare_as_authors(const npmd_truth *t, log_density_fn estimate, void *self, size_t points,
                                      npmd_comparison *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench b = { 0 };
    double *log_f = NULL, *log_g = NULL, mean_f = 0.0, mean_g = 0.0;
    double divided[MOMENTS] = { 0 }, undivided[MOMENTS] = { 0 };
    if (!t->domain->torus || t->domain->dimension != 2) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "the authors' grid lies on S1^2, the domain is %s", t->domain->text);
        goto done;
    }
    const size_t same = points > 0 ? side_for(fmin((double)points, 1e8), 2) : 100;
    const size_t side[2] = { t->kind == TRUTH_GRID ? t->side[0] : same, t->kind == TRUTH_GRID ? t->side[1] : same };
    const size_t nodes = side[0] * side[1];
    TRY(bench_open(&b, t, estimate, self, err));
    TRY(memory_new(&log_f, nodes, err));
    TRY(memory_new(&log_g, nodes, err));
    for (size_t first = 0; first < nodes; first += TRUTH_CHUNK) {
        const size_t n = chunk_at(first, nodes);
        quadrature_torus(2, side, true, first, n, b.x);
        TRY(bench_evaluate(&b, first, n, err));
        memcpy(log_f + first, b.log_f, n * sizeof *log_f);
        memcpy(log_g + first, b.log_g, n * sizeof *log_g);
    }
    for (size_t i = 0; i < nodes; i++) {
        mean_f += exp(log_f[i]) / (double)nodes;
        mean_g += exp(log_g[i]) / (double)nodes;
    }
    if (!(mean_f > 0.0 && mean_g > 0.0 && isfinite(mean_g))) {
        st = npmd_fail(err, NPMD_ERR_NUMERIC, "the node means of truth and estimate are %g and %g, expected about 1",
                       mean_f, mean_g);
        goto done;
    }
    for (size_t i = 0; i < nodes; i++) {
        moments_add(divided, 1.0, log_f[i] - log(mean_f), log_g[i] - log(mean_g));
        moments_add(undivided, 1.0, log_f[i] - log(mean_f), log_g[i]);
    }
    *out = comparison_from(divided, false);
    out->nise_undivided = comparison_from(undivided, false).nise;
    out->points = nodes;
done:
    memory_free(log_g);
    memory_free(log_f);
    bench_close(&b);
    return st;
}

/* ---- Points drawn ------------------------------------------------------------------------------------------------ */

#define BATCHES 16
#define SAMPLED_POINTS ((size_t)1 << 20)

/* The moments of a batch: half points of a fresh scramble, half draws from the truth. */
static npmd_status moments_of_batch(bench *b, uint64_t seed, uint64_t batch, size_t half, double m[MOMENTS],
                                    npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = b->truth->domain;
    const rng_key draw = rng_key_make(seed, RNG_COMPARE, BATCHES + batch);
    sobol sequence;
    sobol_open(&sequence, dom->dimension, rng_key_make(seed, RNG_COMPARE, batch));
    for (int drawn = 0; drawn < 2; drawn++)
        for (size_t first = 0; first < half; first += TRUTH_CHUNK) {
            const size_t n = chunk_at(first, half);
            for (size_t i = 0; i < n && !drawn; i++) {
                double u[DOMAIN_MAX_DIMENSION];
                sobol_point(&sequence, (uint32_t)(first + i), u);
                domain_uniform_point(dom, u, b->x + i * (size_t)dom->columns);
            }
            if (drawn)
                mixture_draws(b->truth, draw, first, n, b->x);
            TRY(bench_evaluate(b, 0, n, err));
            for (size_t i = 0; i < n; i++)
                b->weight[i] = 2.0 / (1.0 + exp(b->log_f[i]));
            bench_fold(b, n, m);
        }
done:
    return st;
}

/* se of a statistic from its values with each batch left out: ((B - 1)/B sum (value - mean)^2)^(1/2). The
 * statistic is the member of npmd_comparison at this offset. */
static double jackknife_se(const npmd_comparison without[BATCHES], size_t offset)
{
    double value[BATCHES], mean = 0.0, sum = 0.0;
    for (int j = 0; j < BATCHES; j++) {
        memcpy(&value[j], (const char *)&without[j] + offset, sizeof value[j]);
        mean += value[j] / BATCHES;
    }
    for (int j = 0; j < BATCHES; j++)
        sum += (value[j] - mean) * (value[j] - mean);
    return sqrt(sum * (BATCHES - 1) / BATCHES);
}

npmd_status truth_compare_sampled(const npmd_truth *t, log_density_fn estimate, void *self, size_t points,
                                  uint64_t seed, npmd_comparison *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bench b = { 0 };
    double m[BATCHES][MOMENTS] = { 0 }, total[MOMENTS] = { 0 };
    npmd_comparison all, without[BATCHES];
    const size_t half = (points > 0 ? points : SAMPLED_POINTS) / (2 * BATCHES);
    assert(t->kind != TRUTH_GRID);
    if (half == 0 || half > UINT32_MAX) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "%zu points to compare with; expected %d or more, and at most 2^37",
                       points, 2 * BATCHES);
        goto done;
    }
    TRY(bench_open(&b, t, estimate, self, err));
    for (int j = 0; j < BATCHES; j++) {
        TRY(moments_of_batch(&b, seed, (uint64_t)j, half, m[j], err));
        for (int k = 0; k < MOMENTS; k++)
            total[k] += m[j][k];
    }
    for (int j = 0; j < BATCHES; j++) {
        double rest[MOMENTS];
        for (int k = 0; k < MOMENTS; k++)
            rest[k] = total[k] - m[j][k];
        without[j] = comparison_from(rest, true);
    }
    all = comparison_from(total, true);
    all.points = 2 * BATCHES * half;
    all.nise_se = jackknife_se(without, offsetof(npmd_comparison, nise));
    all.ae_se = jackknife_se(without, offsetof(npmd_comparison, ae));
    all.fr_se = jackknife_se(without, offsetof(npmd_comparison, fr));
    all.fr2_se = jackknife_se(without, offsetof(npmd_comparison, fr2));
    all.kl_se = jackknife_se(without, offsetof(npmd_comparison, kl));
    *out = all;
done:
    bench_close(&b);
    return st;
}

/* Whether the first and the last node of the first side hold the same values, and are not all one number. */
static bool grid_is_closed(const npmd_truth *t)
{
    const size_t slice = t->nodes / t->side[0];
    const double *first = t->grid, *last = t->grid + t->nodes - slice;
    bool varies = false;
    for (size_t i = 0; i < slice; i++) {
        if (fabs(first[i] - last[i]) > 1e-9 * fmax(1.0, fabs(first[i])))
            return false;
        varies = varies || fabs(first[i] - t->grid[(t->side[0] / 2) * slice + i]) > 1e-6;
    }
    return t->side[0] > 2 && varies;
}

npmd_status truth_compare(const npmd_truth *t, log_density_fn estimate, void *self, npmd_grid grid, size_t points,
                          uint64_t seed, npmd_comparison *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_comparison result;
    bool resolved = false;
    const npmd_domain *dom = t->domain;
    const bool small = dom->torus ? dom->dimension <= 2 : dom->factors == 1 && dom->factor[0] == &SPHERE;
    if (grid != NPMD_GRID_AUTHORS && t->kind == TRUTH_GRID && grid_is_closed(t)) {
        st = npmd_fail(
            err, NPMD_ERR_ARGUMENT,
            "the first and last rows of the truth's grid are equal, as if its ends were both there: `grid` authors "
            "reads it so; without it node i of G stands at 2 pi i / G");
        goto done;
    }
    if (grid == NPMD_GRID_AUTHORS) {
        TRY(compare_as_authors(t, estimate, self, points, &result, err));
    } else {
        if (small || t->kind == TRUTH_GRID)
            TRY(compare_on_grid(t, estimate, self, points, &result, &resolved, err));
        if (!resolved) /* no grid here, or one too coarse for this truth */
            TRY(truth_compare_sampled(t, estimate, self, small ? 0 : points, seed, &result, err));
    }
    *out = result;
done:
    return st;
}
