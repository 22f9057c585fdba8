/* probability.c - the probability of a region, and its uncertainty.
 *
 * The region is a product of geodesic balls, one for each factor. With its share of the volume and points uniform in
 * it,
 *     P = share x mean of f / uniform,
 * by scrambled Sobol points in a few independent scrambles, whose scatter is the error of the integral. Members on
 * resampled points, and the pair that tells the bias, give a probability each; from the logs of their odds comes the
 * interval, as the band of a log density does (blend_half_95). */
#include "ask.h"

#define SCRAMBLES 8
#define FIRST_POINTS ((size_t)1 << 10) /* of a scramble */
#define MOST_POINTS ((size_t)1 << 17)
#define ALL_POINTS (SCRAMBLES * 4.0 / 3.0 * MOST_POINTS) /* of all rounds, each of four times the points of the last */
#define PIECE ((size_t)1 << 12)

typedef struct region {
    const npmd_model *model;
    evaluator of;
    asking ask;
    const double *centre, *radius;
    double share;
    int rows;      /* 1: the model itself; then, with a band, its members and their pair */
    double *x, *v; /* (PIECE, columns), (rows, PIECE) */
    double *sum;   /* (rows) */
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
    if (r->rows == 1)
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
    for (size_t points = FIRST_POINTS;; points *= 4) {
        TRY(region_integrate(&r, seed, points, &found.probability, &found.se, err));
        if (found.se <= (accuracy > 0.0 ? accuracy : NPMD_ACCURACY) * found.probability || points >= MOST_POINTS)
            break;
    }
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
