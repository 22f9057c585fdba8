/* integrate.c - integrals of exp v and exp 2v over the domain.
 *
 * In one and two dimensions without surfaces: by the product of the factors' quadrature rules, whose resolution is
 * doubled until the log integral settles; the last change is taken as its error. Else by randomised quasi-Monte Carlo,
 * with points of the importance proposal (kernels about given points, and a uniform share) or uniform points, in
 * REPLICATES independently scrambled Sobol sets; their spread gives the standard error. Sets grow until it is small
 * enough. */
#include "sampling.h"

#define REPLICATES 16
#define PILOT 2048 /* points in a replicate at first */
#define CHUNK 16384

typedef struct replicate { /* log-sum-exp state: sums are scaled by exp(-top) */
    double top, sum, sum2;
} replicate;

static void replicate_add(replicate *r, double log_weight, double v)
{
    const double lifted = v + log_weight; /* exp v w */
    if (v > r->top) {
        const double shrink = exp(r->top - v);
        r->sum *= shrink;
        r->sum2 *= shrink * shrink;
        r->top = v;
    }
    r->sum += exp(lifted - r->top);
    r->sum2 += exp(lifted + v - 2.0 * r->top);
}

typedef struct mean_error {
    double mean, se;
} mean_error;

static mean_error spread(const double *values)
{
    double mean = 0.0, squares = 0.0;
    for (int r = 0; r < REPLICATES; r++)
        mean += values[r] / REPLICATES;
    for (int r = 0; r < REPLICATES; r++)
        squares += (values[r] - mean) * (values[r] - mean);
    return (mean_error){ mean, sqrt(squares / (REPLICATES - 1) / REPLICATES) };
}

static void summarise(const replicate *set, size_t count, integral_result *out)
{
    double top = -INFINITY, first[REPLICATES], second[REPLICATES];
    for (int r = 0; r < REPLICATES; r++)
        top = fmax(top, set[r].top);
    for (int r = 0; r < REPLICATES; r++) {
        first[r] = set[r].sum * exp(set[r].top - top) / (double)count;
        second[r] = set[r].sum2 * exp(2.0 * (set[r].top - top)) / (double)count;
    }
    const mean_error m1 = spread(first), m2 = spread(second);
    out->log_integral = top + log(m1.mean);
    out->log_integral_se = m1.se / m1.mean;
    out->log_square = 2.0 * top + log(m2.mean);
    out->square = m2.mean / (m1.mean * m1.mean);
    double ratio[REPLICATES]; /* linearised: the two sums share their points */
    for (int r = 0; r < REPLICATES; r++)
        ratio[r] = out->square * (1.0 + (second[r] / m2.mean - 1.0) - 2.0 * (first[r] / m1.mean - 1.0));
    out->square_se = spread(ratio).se;
    out->points = count * REPLICATES;
}

typedef struct chunk {
    double *x, *weight, *v;
} chunk;

/* Adds points from .. s->count - 1: a longer scrambled sequence begins with the shorter one. */
static npmd_status integrate_set(const point_source *s, size_t from, int threads, values_fn values, void *self,
                                 const chunk *room, replicate *r, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (size_t first = from; first < s->count; first += CHUNK) {
        const size_t count = s->count - first < CHUNK ? s->count - first : CHUNK;
        source_fill_all(s, first, count, threads, room->x, room->weight);
        TRY(values(self, room->x, count, room->v, err));
        for (size_t i = 0; i < count; i++)
            replicate_add(r, log(room->weight[i] * (double)s->count), room->v[i]);
    }
done:
    return st;
}

/* All replicates, from their points so far up to count each. */
static npmd_status integrate_sets(const integral_request *what, const proposal *p, bool kernels_on, size_t from,
                                  size_t count, values_fn values, void *self, const chunk *room, replicate *set,
                                  integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int r = 0; r < REPLICATES; r++) {
        const rng_key key = rng_key_make(what->seed, what->purpose, (uint64_t)r);
        point_source s;
        if (from == 0)
            set[r] = (replicate){ .top = -INFINITY };
        if (kernels_on)
            source_importance(&s, p, count, true, key);
        else
            source_uniform(&s, what->domain, count, true, key);
        TRY(integrate_set(&s, from, what->threads, values, self, room, &set[r], err));
    }
    summarise(set, count, out);
done:
    return st;
}

/* ---- quadrature -------------------------------------------------------------------------------------------------- */

void rules_close(rules *r)
{
    for (int d = 0; d < NPMD_MAX_FACTORS; d++) {
        memory_free(r->x[d]);
        memory_free(r->weight[d]);
    }
    *r = (rules){ 0 };
}

npmd_status rules_open(rules *r, const npmd_domain *dom, size_t resolution, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *r = (rules){ .total = 1 };
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        r->nodes[d] = m->rule_nodes(m, resolution);
        r->total *= r->nodes[d];
        TRY(memory_new(&r->x[d], r->nodes[d] * (size_t)m->columns, err));
        TRY(memory_new(&r->weight[d], r->nodes[d], err));
        TRY(m->rule(m, resolution, r->x[d], r->weight[d], err));
    }
done:
    if (st != NPMD_OK)
        rules_close(r);
    return st;
}

double rules_point(const rules *r, const npmd_domain *dom, size_t index, double *x)
{
    double weight = 1.0;
    for (int d = dom->factors - 1; d >= 0; d--) {
        const size_t i = index % r->nodes[d], columns = (size_t)dom->factor[d]->columns;
        index /= r->nodes[d];
        memcpy(x + dom->column[d], r->x[d] + i * columns, columns * sizeof *x);
        weight *= r->weight[d][i];
    }
    return weight;
}

static npmd_status integrate_rule(const npmd_domain *dom, size_t resolution, values_fn values, void *self,
                                  const chunk *room, integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    rules r = { 0 };
    replicate sum = { .top = -INFINITY };
    TRY(rules_open(&r, dom, resolution, err));
    for (size_t first = 0; first < r.total; first += CHUNK) {
        const size_t count = r.total - first < CHUNK ? r.total - first : CHUNK;
        for (size_t i = 0; i < count; i++)
            room->weight[i] = rules_point(&r, dom, first + i, room->x + i * (size_t)dom->columns);
        TRY(values(self, room->x, count, room->v, err));
        for (size_t i = 0; i < count; i++)
            replicate_add(&sum, log(room->weight[i]), room->v[i]);
    }
    *out = (integral_result){ .log_integral = sum.top + log(sum.sum),
                              .log_square = 2.0 * sum.top + log(sum.sum2),
                              .square = sum.sum2 / (sum.sum * sum.sum),
                              .points = r.total };
done:
    rules_close(&r);
    return st;
}

#define COARSEST 64
#define FINEST_LINE ((size_t)1 << 17) /* resolutions: one dimension, and two */
#define FINEST_SURFACE 1152

static npmd_status integrate_rules(const integral_request *what, values_fn values, void *self, const chunk *room,
                                   integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t finest = what->domain->dimension == 1 ? FINEST_LINE : FINEST_SURFACE;
    integral_result before;
    const size_t first = what->coarsest == 0 ? COARSEST : what->coarsest;
    const size_t coarsest = what->purpose == RNG_SCORE ? first + 8 : first; /* a check has nodes of its own */
    TRY(integrate_rule(what->domain, coarsest, values, self, room, &before, err));
    for (size_t resolution = 2 * coarsest; resolution <= finest; resolution *= 2) {
        TRY(integrate_rule(what->domain, resolution, values, self, room, out, err));
        out->log_integral_se = fmax(1e-9, fabs(out->log_integral - before.log_integral));
        out->square_se = fmax(1e-9, fabs(out->square - before.square));
        if (out->log_integral_se <= what->target || 4 * out->points > what->most_points
            || (what->stop != NULL && what->stop(what->user)))
            break;
        before = *out;
    }
done:
    return st;
}

size_t integrate_bytes(const npmd_domain *dom)
{
    size_t doubles = CHUNK * ((size_t)dom->columns + 2);
    for (int d = 0; domain_has_rules(dom) && d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        const size_t finest = dom->dimension == 1 ? FINEST_LINE : FINEST_SURFACE;
        doubles += m->rule_nodes(m, finest) * (size_t)(m->columns + 1);
    }
    return doubles * sizeof(double);
}

/* ---- either ------------------------------------------------------------------------------------------------------ */

/* A pilot says whether uniform points (smooth densities, few dimensions) or the proposal's are better. */
static npmd_status integrate_random(const integral_request *what, values_fn values, void *self, const chunk *room,
                                    integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int centres = 1024;
    const double share = 0.2;
    proposal p = { 0 };
    double *cumulative = NULL, rho = 0.0;
    const proposal *q = what->aimed == NULL ? &p : what->aimed;
    replicate uniform[REPLICATES], about[REPLICATES], *set = uniform;
    out->log_integral_se = INFINITY;
    if (what->aimed == NULL)
        TRY(integrate_sets(what, q, false, 0, PILOT, values, self, room, uniform, out, err));
    if (what->aimed == NULL && what->about != NULL) {
        TRY(points_cumulative(what->about, &cumulative, err));
        TRY(proposal_tune(what->domain, what->about, cumulative, share, centres, what->seed, &rho, err));
        TRY(proposal_open(what->domain, share, rho, centres, &p, err));
        proposal_aim(&p, what->about, cumulative, rng_key_make(what->seed, what->purpose, 1000));
    }
    if (what->aimed != NULL || what->about != NULL) {
        integral_result other;
        TRY(integrate_sets(what, q, true, 0, PILOT, values, self, room, about, &other, err));
        if (!(out->log_integral_se <= other.log_integral_se)) {
            *out = other;
            set = about;
        }
    }
    for (size_t count = PILOT; out->log_integral_se > what->target && 2 * count * REPLICATES <= what->most_points;
         count *= 2) {
        if (what->stop != NULL && what->stop(what->user))
            break;
        TRY(integrate_sets(what, q, set == about, count, 2 * count, values, self, room, set, out, err));
    }
done:
    proposal_close(&p);
    memory_free(cumulative);
    return st;
}

npmd_status integrate(const integral_request *what, values_fn values, void *self, integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    chunk room = { 0 };
    TRY(memory_new(&room.x, CHUNK * (size_t)what->domain->columns, err));
    TRY(memory_new(&room.weight, CHUNK, err));
    TRY(memory_new(&room.v, CHUNK, err));
    if (domain_has_rules(what->domain))
        TRY(integrate_rules(what, values, self, &room, out, err));
    else
        TRY(integrate_random(what, values, self, &room, out, err));
    if (!isfinite(out->log_integral))
        st = npmd_fail(err, NPMD_ERR_NUMERIC, "the integral of the density is not finite");
done:
    memory_free(room.x);
    memory_free(room.weight);
    memory_free(room.v);
    return st;
}

npmd_status shifted_values(void *self, const double *x, size_t n, double *out, npmd_error *err)
{
    const shifted *a = self;
    const npmd_status st = a->values(a->self, x, n, out, err);
    for (size_t i = 0; st == NPMD_OK && i < n; i++)
        out[i] -= a->offset;
    return st;
}
