/* probability.c - the probability of a region, and its uncertainty.
 *
 * The region is a product of geodesic balls, one for each factor. With its share of the volume and points uniform in
 * it,
 *     P = share x mean of f / uniform,
 * by scrambled Sobol points in a few independent scrambles, whose scatter is the error of the integral. Members on
 * resampled points, and the pair that tells the bias, give a probability each; from the logs of their odds comes the
 * interval, as the band of a log density does (blend_half_95).
 *
 * Points that meet no peak scatter little, about a wrong number. So the same is done for the whole domain first, where
 * P is 1; if that is not what they find, the density is too peaked for them, and draws from the model are asked how many
 * of them lie in the region. Where both do not agree, the draws count, as many as the accuracy wants; no interval is
 * known then. */
#include "ask.h"

#define SCRAMBLES 8
#define FIRST_POINTS ((size_t)1 << 10) /* of a scramble */
#define MOST_POINTS ((size_t)1 << 17)
#define ALL_POINTS                                                                                                     \
    (SCRAMBLES * (4.0 / 3.0 * MOST_POINTS + FIRST_POINTS)) /* of all rounds, each of four times the last one */
#define PIECE ((size_t)1 << 12)
#define MET 0.02 /* an error of the whole probability, 1, that speaks for the points */
#define FIRST_DRAWS ((size_t)1 << 14)
#define MOST_DRAWS ((size_t)1 << 18)

typedef struct region {
    const npmd_model *model;
    evaluator of;
    asking ask;
    const double *centre, *radius;
    double share;
    int rows;      /* 1: the model itself; then, with a band, its members and their pair */
    double *x, *v; /* (PIECE, columns), (rows, PIECE) */
    double *sum;   /* (rows) */
    bool drawn;    /* draws have decided, which say nothing of members */
} region;

static npmd_status region_open(region *r, const npmd_compute *how, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(evaluator_open(&r->of, r->model, how, err));
    r->rows = 1 + (blend_has_band(r->model) ? blend_rows(r->model) : 0);
    TRY(memory_new(&r->x, PIECE * (size_t)r->model->domain->columns, err));
    TRY(memory_new(&r->v, PIECE * (size_t)r->rows, err));
    TRY(memory_new(&r->sum, r->rows, err));
done:
    return st;
}

/* One point of the region behind u (dimension); its share of the volume. */
static double region_point(const region *r, const double *u, double *x)
{
    const npmd_domain *dom = r->model->domain;
    double share = 1.0;
    for (int d = 0; d < dom->factors; d++) {
        const int at = dom->column[d];
        share *= dom->factor[d]->ball(dom->factor[d], r->centre + at, r->radius[d], u + dom->direction[d], x + at);
    }
    return share;
}

/* Adds the means of the relative densities over points first .. first + PIECE - 1 of a scramble. */
static npmd_status region_piece(region *r, const sobol *s, size_t first, size_t points, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = r->model;
    const size_t count = points - first < PIECE ? points - first : PIECE;
    double u[DOMAIN_MAX_DIMENSION];
    for (size_t i = 0; i < count; i++) {
        sobol_point(s, (uint32_t)(first + i), u);
        r->share = region_point(r, u, r->x + i * (size_t)m->domain->columns);
    }
    TRY(asked_values(&(asked_evaluator){ &r->of, &r->ask }, r->x, count, r->v, err));
    for (size_t i = 0; i < count; i++)
        r->v[i] -= m->facts.log_integral;
    if (r->rows > 1)
        TRY(blend_replicates(&r->of, r->x, count, r->v + count, err));
    for (int k = 0; k < r->rows; k++)
        for (size_t i = 0; i < count; i++)
            r->sum[k] += exp(r->v[(size_t)k * count + i]) / (double)points;
done:
    return st;
}

/* The probability and its standard error from this many points in each scramble; the sums are means over all. */
static npmd_status region_integrate(region *r, uint64_t seed, size_t points, double *mean, double *se, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double one[SCRAMBLES], square = 0.0;
    memset(r->sum, 0, (size_t)r->rows * sizeof *r->sum);
    for (int k = 0; k < SCRAMBLES; k++) {
        sobol s;
        const double before = r->sum[0];
        sobol_open(&s, r->model->domain->dimension, rng_key_make(seed, RNG_REGION, (uint64_t)k));
        for (size_t first = 0; first < points; first += PIECE)
            TRY(region_piece(r, &s, first, points, err));
        r->ask.done += (double)points / ALL_POINTS;
        one[k] = r->sum[0] - before;
    }
    for (int k = 0; k < r->rows; k++)
        r->sum[k] *= r->share / SCRAMBLES;
    *mean = r->sum[0];
    for (int k = 0; k < SCRAMBLES; k++)
        square += pow(r->share * one[k] - *mean, 2.0);
    *se = sqrt(square / (SCRAMBLES - 1) / SCRAMBLES);
done:
    return st;
}

/* Do the points meet what density there is? */
static npmd_status region_met(region *r, uint64_t seed, bool *met, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double all[NPMD_MAX_FACTORS], mass = 0.0, se = 0.0;
    region whole = *r;
    for (int d = 0; d < r->model->domain->factors; d++)
        all[d] = NPMD_PI;
    whole.radius = all;
    whole.rows = 1; /* shares the workspace, and asks the model alone */
    TRY(region_integrate(&whole, seed, FIRST_POINTS, &mass, &se, err));
    *met = se <= MET && fabs(mass - 1.0) <= 4.0 * se + 1e-3;
    r->ask.done = whole.ask.done;
done:
    return st;
}

/* Is a point in the region? By chords, which keep their digits where radii are small. */
static bool region_holds(const region *r, const double *y)
{
    const npmd_domain *dom = r->model->domain;
    double a[DOMAIN_MAX_COLUMNS + NPMD_MAX_FACTORS], b[DOMAIN_MAX_COLUMNS + NPMD_MAX_FACTORS];
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        double square = 0.0;
        m->embed(m, r->centre + dom->column[d], a);
        m->embed(m, y + dom->column[d], b);
        for (int k = 0; k < m->embedding; k++)
            square += (a[k] - b[k]) * (a[k] - b[k]);
        if (sqrt(square) > 2.0 * sin(0.5 * fmin(r->radius[d], NPMD_PI)))
            return false;
    }
    return true;
}

/* The share of n draws that lies in the region; of none or all the error is that of one. */
static npmd_status region_draws(region *r, uint64_t seed, size_t n, const npmd_compute *how, double *mean, double *se,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)r->model->domain->columns;
    double *y = NULL, inside = 0.0;
    TRY(memory_new(&y, n * columns, err));
    TRY(model_sample(r->model, hash_word(seed, RNG_REGION), n, how, y, err));
    for (size_t i = 0; i < n; i++)
        inside += region_holds(r, y + i * columns);
    const double some = fmin(fmax(inside, 1.0), (double)n - 1.0) / (double)n;
    *mean = inside / (double)n;
    *se = sqrt(some * (1.0 - some) / (double)n);
done:
    memory_free(y);
    return st;
}

/* What draws say, where points and draws do not agree. */
static npmd_status region_settle(region *r, uint64_t seed, double accuracy, const npmd_compute *how,
                                 npmd_probability *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double mean = 0.0, se = 0.0;
    for (size_t n = FIRST_DRAWS; n <= MOST_DRAWS; n *= 4) {
        TRY(region_draws(r, seed, n, how, &mean, &se, err));
        if (fabs(mean - out->probability) <= 4.0 * hypot(se, out->se) && n == FIRST_DRAWS && out->se <= se)
            goto done; /* the points know it better */
        if (se <= accuracy * mean)
            break;
    }
    out->probability = mean;
    out->se = se;
    r->drawn = true;
done:
    return st;
}

static double log_odds(double p) /* of a number that is a probability but for rounding */
{
    const double within = fmin(fmax(p, 1e-300), 1.0 - 1e-12);
    return log(within / (1.0 - within));
}

/* The interval about the model's own probability: of each its log odds, in place. */
static void region_interval(region *r, npmd_probability *out)
{
    out->low = out->high = NAN;
    out->members = blend_members(r->model) - blend_first(r->model);
    if (r->rows == 1 || r->drawn)
        return;
    for (int k = 1; k < r->rows; k++)
        r->sum[k] = log_odds(r->sum[k]);
    const double half = blend_half_95(r->model, r->sum + 1, 1), at = log_odds(out->probability);
    out->low = 1.0 / (1.0 + exp(half - at));
    out->high = 1.0 / (1.0 + exp(-half - at));
}

npmd_status model_probability_near(const npmd_model *m, const npmd_points *centre, const double *radius,
                                   double accuracy, uint64_t seed, const npmd_compute *how, npmd_probability *out,
                                   npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double x[DOMAIN_MAX_COLUMNS];
    const double wanted = accuracy > 0.0 ? accuracy : NPMD_ACCURACY;
    bool met = true;
    region r = { .model = m, .ask = { .how = how, .doing = "probability" }, .centre = x, .radius = radius };
    npmd_probability found = { 0 };
    TRY(model_check_domain(m, centre->domain, "centre lies", err));
    TRY(domain_refuse_surfaces(m->domain, "`radius`: geodesic balls are", err));
    for (int d = 0; d < m->domain->factors; d++)
        if (!(radius[d] > 0.0 && radius[d] <= NPMD_PI * (1.0 + 1e-12)))
            TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "`radius`: %g on factor %d; expected more than 0 and at most pi",
                          radius[d], d + 1));
    points_row(centre, 0, x);
    TRY(region_open(&r, how, err));
    TRY(region_met(&r, seed, &met, err));
    for (size_t points = FIRST_POINTS;; points *= 4) {
        TRY(region_integrate(&r, seed, points, &found.probability, &found.se, err));
        if (found.se <= wanted * found.probability || points >= MOST_POINTS
            || (!met && found.se > MET * found.probability))
            break;
    }
    if (!met)
        TRY(region_settle(&r, seed, wanted, how, &found, err));
    TRY(numbers_known("the probability", (const double[]){ found.probability, found.se }, 2, 0, 0, err));
    found.probability = fmin(found.probability, 1.0); /* the integral's error may pass it */
    found.share = r.share;
    region_interval(&r, &found);
    *out = found;
done:
    evaluator_close(&r.of);
    memory_free_all(r.x, r.v, r.sum);
    return st;
}
