/* proposal.c - the importance proposal: uniform points and Cauchy kernels about data points, with exact
 * density. */
#include "sampling.h"

double domain_log_kernel(const npmd_domain *dom, unsigned factors, double rho, const double *x, const double *y)
{
    double log_kernel = 0.0;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        double e[2][MANIFOLD_MAX_COLUMNS], cosine = 0.0;
        if (!(factors >> d & 1u))
            continue;
        m->embed(m, x + dom->column[d], e[0]);
        m->embed(m, y + dom->column[d], e[1]);
        for (int j = 0; j < m->embedding; j++)
            cosine += e[0][j] * e[1][j];
        log_kernel += m->dimension * log((1.0 - rho * rho) / (1.0 + rho * rho - 2.0 * rho * cosine));
    }
    return log_kernel;
}

npmd_status proposal_open(const npmd_domain *dom, double share, double rho, int centres, proposal *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    proposal p = {
        .domain = dom, .share = share, .rho = rho, .centres = (centres + 7) / 8 * 8, .inner = kernels_select(NULL)
    };
    TRY(memory_new(&p.row, p.centres, err));
    TRY(memory_new(&p.centre, (size_t)p.centres * (size_t)dom->columns, err));
    TRY(memory_new(&p.embedded, (size_t)p.centres * (size_t)domain_embedding(dom), err));
    *out = p;
    p = (proposal){ 0 };
done:
    proposal_close(&p);
    return st;
}

void proposal_close(proposal *p)
{
    memory_free(p->row);
    memory_free(p->centre);
    memory_free(p->embedded);
    *p = (proposal){ 0 };
}

npmd_status points_cumulative(const npmd_points *pts, double **out, npmd_error *err)
{
    double *cumulative = NULL, sum = 0.0;
    if (points_weighted(pts)) {
        const npmd_status st = memory_new(&cumulative, (pts->n + CUMULATIVE_SHELF - 1) / CUMULATIVE_SHELF, err);
        if (st != NPMD_OK)
            return st;
        for (size_t i = 0; i < pts->n; i++)
            cumulative[i / CUMULATIVE_SHELF] = sum += points_weight(pts, i);
    }
    *out = cumulative;
    return NPMD_OK;
}

/* The row that the share u of the total weight falls on. */
static size_t points_pick(const npmd_points *pts, const double *cumulative, double u)
{
    if (cumulative == NULL) {
        const size_t row = (size_t)(u * (double)pts->n);
        return row < pts->n ? row : pts->n - 1;
    }
    size_t low = 0, high = (pts->n - 1) / CUMULATIVE_SHELF, last = 0;
    const double target = u * cumulative[high];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (cumulative[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    double sum = low == 0 ? 0.0 : cumulative[low - 1];
    for (size_t i = low * CUMULATIVE_SHELF; i < pts->n && i < (low + 1) * CUMULATIVE_SHELF && sum < target; i++) {
        const double weight = points_weight(pts, i);
        sum += weight;
        last = weight > 0.0 ? i : last; /* rounding of the sums never lands on a weight of zero */
    }
    return last;
}

void proposal_place(proposal *p, int c, const double *x)
{
    double e[DOMAIN_MAX_COLUMNS];
    const int columns = domain_embedding(p->domain);
    memcpy(p->centre + (size_t)c * (size_t)p->domain->columns, x, (size_t)p->domain->columns * sizeof *x);
    domain_embed(p->domain, x, e);
    for (int i = 0; i < columns; i++)
        p->embedded[(size_t)i * (size_t)p->centres + (size_t)c] = e[i];
}

/* Stratified: centre c takes a random row of the c-th share of the total weight. */
void proposal_aim(proposal *p, const npmd_points *pts, const double *cumulative, rng_key key)
{
    double x[DOMAIN_MAX_COLUMNS];
    for (int c = 0; c < p->centres; c++) {
        const double u = ((double)c + rng_uniform(key, (uint64_t)c, 0)) / (double)p->centres;
        p->row[c] = points_pick(pts, cumulative, u);
        proposal_place(p, c, points_rows(pts, p->row[c], 1, x));
    }
}

/* Of this member of the chain alone. */
static double own_density(const proposal *p, const double *x)
{
    const npmd_domain *dom = p->domain;
    const double rho = p->rho, a = (1.0 + rho * rho) / (1.0 - rho * rho), b = 2.0 * rho / (1.0 - rho * rho);
    double e[DOMAIN_MAX_COLUMNS];
    int embedding[NPMD_MAX_FACTORS], power[NPMD_MAX_FACTORS];
    domain_embed(dom, x, e);
    for (int d = 0; d < dom->factors; d++) {
        embedding[d] = dom->factor[d]->embedding;
        power[d] = dom->factor[d]->dimension;
    }
    return p->share
           + (1.0 - p->share)
                 * p->inner->cauchy_mean(dom->factors, embedding, power, e, (size_t)p->centres, p->embedded, a, b);
}

double proposal_density(const proposal *p, const double *x)
{
    double density = 0.0, share = 1.0;
    for (; p != NULL; p = p->beside) {
        const double others = p->beside == NULL ? 0.0 : p->beside_share;
        density += share * (1.0 - others) * own_density(p, x);
        share *= others;
    }
    return density;
}

double proposal_kernel(const proposal *p, int c, const double *x)
{
    const double *centre = p->centre + (size_t)c * (size_t)p->domain->columns;
    return (1.0 - p->share) / p->centres * exp(domain_log_kernel(p->domain, ~0u, p->rho, centre, x));
}

/* The density at data point row without the kernels that stand on that very point. */
static double density_without_itself(const proposal *p, const npmd_points *pts, size_t row)
{
    double x[DOMAIN_MAX_COLUMNS];
    int own = 0;
    for (int c = 0; c < p->centres; c++)
        own += p->row[c] == row;
    const double peak = pow((1.0 + p->rho) / (1.0 - p->rho), p->domain->dimension);
    const double kernels_sum = (own_density(p, points_rows(pts, row, 1, x)) - p->share) / (1.0 - p->share) * p->centres
                               - own * peak;
    return p->share + (own == p->centres ? 0.0 : (1.0 - p->share) * fmax(0.0, kernels_sum) / (p->centres - own));
}

/* Cross-entropy: gives p the width of a list (1 - rho) under which points drawn in proportion to the weights are most
 * likely, each left out of its own density. */
static void proposal_fit(proposal *p, const npmd_points *pts, const double *cumulative, rng_key key, size_t trials,
                         const double *width, size_t widths)
{
    double best = -INFINITY, rho = p->rho;
    for (size_t j = 0; j < widths; j++) {
        double sum = 0.0;
        p->rho = 1.0 - width[j];
        for (size_t i = 0; i < trials; i++)
            sum += log(density_without_itself(p, pts, points_pick(pts, cumulative, rng_uniform(key, i, 3))));
        if (sum > best) {
            best = sum;
            rho = p->rho;
        }
    }
    p->rho = rho;
}

/* Of data; a function that was learnt from data may have narrower peaks, in one or two dimensions as narrow as rules miss.
 * In more, few of the points have most of the weight at first, and the narrowest kernels would fit them alone. */
#define WIDTHS 12
#define NARROWER 18
static const double WIDTH[] = { 0.6,    0.45, 0.33, 0.25,  0.18, 0.13,  0.1,   0.075,  0.055,
                                0.04,   0.03, 0.02, 0.014, 0.01, 0.007, 0.005, 0.0035, 0.0025,
                                1.6e-3, 8e-4, 4e-4, 2e-4,  1e-4, 5e-5,  2.5e-5 };

bool proposal_is_narrowest(double rho)
{
    return rho >= 1.0 - WIDTH[WIDTHS - 1];
}

npmd_status proposal_tune(const npmd_domain *dom, const npmd_points *pts, const double *cumulative, double share,
                          int centres, uint64_t seed, double *rho, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    proposal p = { 0 };
    const rng_key key = rng_key_make(seed, RNG_TUNE, 0);
    TRY(proposal_open(dom, share, 0.5, centres, &p, err));
    proposal_aim(&p, pts, cumulative, key);
    proposal_fit(&p, pts, cumulative, key, 1024, WIDTH, WIDTHS);
    *rho = p.rho;
done:
    proposal_close(&p);
    return st;
}

void proposal_narrow(proposal *p, const npmd_points *pts, const double *cumulative, rng_key key)
{
    const size_t all = sizeof WIDTH / sizeof *WIDTH;
    proposal_fit(p, pts, cumulative, key, 256, WIDTH, p->domain->dimension <= 2 ? all : NARROWER);
}
