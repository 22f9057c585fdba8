/* integrate.c - integrals of exp v and exp 2v over the domain.
 *
 * In one and two dimensions without surfaces: by the product of the factors' quadrature rules, whose resolution is
 * doubled until the log integral settles; the last change is taken as its error. A rule whose nodes all lie between
 * narrow peaks settles, too, on what it meets: so points about the data are asked for a second opinion, and where they
 * do not agree, or the rule has not settled, random points decide.
 *
 * Else by randomised quasi-Monte Carlo, in REPLICATES independently scrambled Sobol sets, whose spread gives the
 * standard error; they grow until it is small enough. The points are uniform or follow a proposal: uniform points,
 * kernels about given points, and kernels where a population (population.c) found the function large. There are two
 * populations, independent of each other, each the proposal of half of the sets: where one has found what the other has
 * missed, the halves disagree, and the error says so. Larger populations follow if the first ones were not good enough.
 * A proposal is fixed before the points of the estimate are drawn, which is therefore unbiased.
 *
 * Who asks to stop gets the last estimate that is whole, or one of few points where there is none yet. */
#include "sampling.h"

#define REPLICATES 16
#define PILOT 2048 /* points in a replicate at first */
#define CHUNK 16384

#define HALVES 2

/* ---- Being asked to stop ----------------------------------------------------------------------------------------- */

#define PIECE 4096  /* points of which nobody is asked on the way */
#define BETWEEN 0.1 /* seconds: who is asked may print a line */

/* The values of an integral that may be given up: a values_fn that ends with NPMD_STOPPED where the caller wishes so. */
typedef struct guarded {
    const integral_request *what;
    values_fn values;
    void *self;
    double asked; /* clock of the last question */
    bool stopped;
} guarded;

static bool guard_asks(guarded *g)
{
    const double now = clock_seconds();
    if (!g->stopped && g->what->stop != NULL && now - g->asked >= BETWEEN) {
        g->stopped = g->what->stop(g->what->user) != 0;
        g->asked = clock_seconds();
    }
    return g->stopped;
}

static npmd_status guarded_values(void *self, const double *x, size_t n, double *v, npmd_error *err)
{
    guarded *g = self;
    const size_t columns = (size_t)g->what->domain->columns;
    npmd_status st = NPMD_OK;
    for (size_t at = 0; at < n && st == NPMD_OK; at += PIECE) {
        if (guard_asks(g))
            return npmd_fail(err, NPMD_STOPPED, "the caller asked to stop");
        st = g->values(g->self, x + at * columns, n - at < PIECE ? n - at : PIECE, v + at, err);
    }
    return st;
}

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

typedef struct sets {             /* an estimate: its points and sums so far */
    const proposal *half[HALVES]; /* NULL: uniform points */
    uint64_t stream;              /* of random numbers */
    size_t count;                 /* points in each replicate */
    replicate replicate[REPLICATES];
    tail largest;
} sets;

/* Half of the difference between the halves, where that is more than the spread within them explains; else 0. */
static double disagreement(const double *values)
{
    const int some = REPLICATES / HALVES;
    double mean[HALVES] = { 0.0 }, variance = 0.0;
    for (int r = 0; r < REPLICATES; r++)
        mean[r / some] += values[r] / some;
    for (int r = 0; r < REPLICATES; r++)
        variance += pow(values[r] - mean[r / some], 2.0) / ((some - 1) * some);
    const double difference = fabs(mean[0] - mean[1]);
    return difference > 3.0 * sqrt(variance) ? 0.5 * difference : 0.0;
}

static void summarise(sets *all, integral_result *out)
{
    const replicate *set = all->replicate;
    const size_t count = all->count;
    double top = -INFINITY, first[REPLICATES], second[REPLICATES];
    for (int r = 0; r < REPLICATES; r++)
        top = fmax(top, set[r].top);
    for (int r = 0; r < REPLICATES; r++) {
        first[r] = set[r].sum * exp(set[r].top - top) / (double)count;
        second[r] = set[r].sum2 * exp(2.0 * (set[r].top - top)) / (double)count;
    }
    const mean_error m1 = spread(first), m2 = spread(second);
    out->points = count * REPLICATES;
    out->log_integral = top + log(m1.mean);
    out->log_integral_se = fmax(m1.se, disagreement(first)) / m1.mean;
    out->log_integral_se = hypot(
        out->log_integral_se,
        tail_missing(&all->largest, out->points, out->log_integral + log((double)out->points), &out->tail_index));
    out->log_square = 2.0 * top + log(m2.mean);
    out->square = m2.mean / (m1.mean * m1.mean);
    double ratio[REPLICATES]; /* linearised: the two sums share their points */
    for (int r = 0; r < REPLICATES; r++)
        ratio[r] = out->square * (1.0 + (second[r] / m2.mean - 1.0) - 2.0 * (first[r] / m1.mean - 1.0));
    out->square_se = spread(ratio).se;
}

typedef struct chunk {
    double *x, *weight, *v;
} chunk;

/* Adds points from .. s->count - 1: a longer scrambled sequence begins with the shorter one. */
static npmd_status integrate_set(const point_source *s, size_t from, int threads, values_fn values, void *self,
                                 const chunk *room, replicate *r, tail *largest, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (size_t first = from; first < s->count; first += CHUNK) {
        const size_t count = s->count - first < CHUNK ? s->count - first : CHUNK;
        source_fill_all(s, first, count, threads, room->x, room->weight);
        TRY(values(self, room->x, count, room->v, err));
        for (size_t i = 0; i < count; i++) {
            const double log_weight = log(room->weight[i] * (double)s->count);
            replicate_add(r, log_weight, room->v[i]);
            tail_add(largest, log_weight + room->v[i]);
        }
    }
done:
    return st;
}

/* All replicates, from their points so far up to count each. */
static npmd_status integrate_sets(const integral_request *what, sets *all, size_t count, values_fn values, void *self,
                                  const chunk *room, integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (all->count == 0)
        all->largest.kept = 0;
    for (int r = 0; r < REPLICATES; r++) {
        const rng_key key = rng_key_make(what->seed, what->purpose, all->stream + (uint64_t)r);
        const proposal *q = all->half[r / (REPLICATES / HALVES)];
        point_source s;
        if (all->count == 0)
            all->replicate[r] = (replicate){ .top = -INFINITY };
        if (q != NULL)
            source_importance(&s, q, count, true, key);
        else
            source_uniform(&s, what->domain, count, true, key);
        TRY(integrate_set(&s, all->count, what->threads, values, self, room, &all->replicate[r], &all->largest, err));
    }
    all->count = count;
    summarise(all, out);
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
                              .tail_index = -INFINITY,
                              .points = r.total };
done:
    rules_close(&r);
    return st;
}

#define COARSEST 64
#define SINGLE 6e-8 /* 2^-24: networks and kernels are summed in single precision, and no rule knows them better */
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
        out->log_integral_se = fmax(SINGLE, fabs(out->log_integral - before.log_integral));
        out->square_se = fmax(SINGLE * out->square, fabs(out->square - before.square));
        if (out->log_integral_se <= what->target || 4 * out->points > what->most_points
            || (what->stop != NULL && what->stop(what->user)))
            break;
        before = *out;
    }
done:
    return st;
}

#define LEVELS 2 /* populations of 8,192 and 32,768 points, one after the other */
#define SIZE(level) ((size_t)8192 << 2 * (level))
#define POOR 10.0                /* times the target: an error at the last point for which better places are sought */
#define A_LOOK ((size_t)1 << 16) /* with fewer points nothing is learnt */

size_t integrate_bytes(const npmd_domain *dom)
{
    size_t nodes = 0;
    for (int d = 0; domain_has_rules(dom) && d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        const size_t finest = dom->dimension == 1 ? FINEST_LINE : FINEST_SURFACE;
        nodes += m->rule_nodes(m, finest) * (size_t)(m->columns + 1);
    }
    /* a population, and the kernels about it and those before; rules are no longer there by then */
    const size_t populations = SIZE(LEVELS - 1) * ((size_t)dom->columns + 3)
                               + SIZE(LEVELS - 1) / 4 * 2 * (size_t)dom->columns;
    return (CHUNK * ((size_t)dom->columns + 2) + (nodes > populations ? nodes : populations)) * sizeof(double);
}

/* ---- either ------------------------------------------------------------------------------------------------------ */

#define CENTRES 1024 /* of kernels about data */

typedef struct proposals {
    proposal data; /* about the given points, as wide as suits most of them */
    proposal fine; /* as wide as suits the closest; its centres NULL: the former does */
    proposal learnt[LEVELS][HALVES];
    int levels;
} proposals;

static void proposals_close(proposals *p)
{
    proposal_close(&p->data);
    proposal_close(&p->fine);
    for (int level = 0; level < LEVELS; level++)
        for (int h = 0; h < HALVES; h++)
            proposal_close(&p->learnt[level][h]);
}

/* Kernels about the given points, which *out shows to. Where the points are closer than the widths of a list of those that
 * suit data, there are narrower ones beside them. */
static npmd_status data_aim(const integral_request *what, int centres, proposals *known, const proposal **out,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double share = 0.2;
    const rng_key key = rng_key_make(what->seed, what->purpose, 1000);
    double *cumulative = NULL, rho = 0.0;
    TRY(points_cumulative(what->about, &cumulative, err));
    TRY(proposal_tune(what->domain, what->about, cumulative, share, centres, what->seed, &rho, err));
    TRY(proposal_open(what->domain, share, rho, centres, &known->data, err));
    proposal_aim(&known->data, what->about, cumulative, key);
    *out = &known->data;
    if (proposal_is_narrowest(rho)) {
        TRY(proposal_open(what->domain, 0.0, rho, centres, &known->fine, err));
        proposal_aim(&known->fine, what->about, cumulative, key);
        proposal_narrow(&known->fine, what->about, cumulative, key);
        known->fine.beside = &known->data;
        known->fine.beside_share = 0.5;
        *out = &known->fine;
    }
done:
    memory_free(cumulative);
    return st;
}

/* Two populations larger than those before, which they begin with, and a first estimate with points about them. */
static npmd_status learn(const integral_request *what, proposals *known, const proposal *start, values_fn values,
                         void *self, const chunk *room, sets *about, integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int level = known->levels;
    *about = (sets){ .stream = 100 * (uint64_t)(level + 1) };
    for (int h = 0; h < HALVES; h++) {
        TRY(population_learn(what, level == 0 ? start : &known->learnt[level - 1][h], level == 0, SIZE(level),
                             (uint64_t)(HALVES * level + h + 1), values, self, &known->learnt[level][h], err));
        about->half[h] = &known->learnt[level][h];
    }
    known->levels++;
    TRY(integrate_sets(what, about, PILOT, values, self, room, out, err));
done:
    return st;
}

/* Would the last point leave an error that is of no use? A few doublings are waited for: first errors are rough. */
static bool hopeless(const integral_request *what, const integral_result *now)
{
    const double points = (double)now->points, last = now->log_integral_se * sqrt(points / (double)what->most_points);
    return what->useless > 0.0 && points >= 8.0 * REPLICATES * PILOT && last > what->useless;
}

#define CLEAR 0.02  /* an error of the learnt estimate that is small enough to judge others by it */
#define DEARER 1.25 /* a point about a population costs more than one about data: data may have a larger error */

/* Is the other estimate as good as the learnt one? An error that is small because a peak was missed does not count. */
static bool as_good(const integral_result *other, const integral_result *learnt, double factor)
{
    const double both = hypot(other->log_integral_se, learnt->log_integral_se);
    return learnt->log_integral_se < CLEAR && other->log_integral_se < factor * learnt->log_integral_se
           && fabs(other->log_integral - learnt->log_integral) < 4.0 * both;
}

/* Pilots say which points are best: uniform (smooth densities, few dimensions), about data, or about populations. */
static npmd_status integrate_random(const integral_request *what, values_fn values, void *self, const chunk *room,
                                    integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    proposals known = { 0 };
    sets *uniform = NULL, *about = NULL, *data = NULL, *set = NULL;
    const proposal *start = what->aimed;
    const bool learns = what->aimed == NULL && what->most_points > A_LOOK;
    integral_result found, other;
    TRY(memory_new(&uniform, 1, err));
    TRY(memory_new(&about, 1, err));
    TRY(memory_new(&data, 1, err));
    if (what->about != NULL && what->aimed == NULL) {
        TRY(data_aim(what, CENTRES, &known, &start, err));
    }
    if (learns) {
        TRY(learn(what, &known, start, values, self, room, about, &found, err));
        set = about;
        *out = found;
    }
    if (start != NULL) {
        data->half[0] = data->half[1] = start;
        TRY(integrate_sets(what, data, PILOT, values, self, room, &other, err));
        if (!learns || as_good(&other, &found, DEARER)) {
            set = data;
            *out = other;
        }
    }
    if (what->aimed == NULL) {
        TRY(integrate_sets(what, uniform, PILOT, values, self, room, &other, err));
        if (set == NULL
            || (learns ? as_good(&other, &found, 1.0) && other.log_integral_se < out->log_integral_se
                       : !(out->log_integral_se <= other.log_integral_se))) {
            set = uniform;
            *out = other;
        }
    }
    size_t most = what->most_points;
    /* the last point would leave an error that is far too large: look for better places first, at points that take
     * several times as long */
    if (learns && set == about && !(what->stop != NULL && what->stop(what->user))
        && out->log_integral_se > POOR * what->target * sqrt((double)most / (double)out->points)) {
        TRY(learn(what, &known, start, values, self, room, about, out, err));
        most /= 4;
    }
    while (out->log_integral_se > what->target && 2 * set->count * REPLICATES <= most) {
        if ((what->stop != NULL && what->stop(what->user)) || hopeless(what, out))
            break;
        TRY(integrate_sets(what, set, 2 * set->count, values, self, room, out, err));
    }
done:
    proposals_close(&known);
    memory_free_all(uniform, about, data);
    return st;
}

const integral_result *integral_of_two(const integral_result *a, const integral_result *b)
{
    const double both = hypot(a->log_integral_se, b->log_integral_se);
    if (fabs(a->log_integral - b->log_integral) <= 4.0 * both)
        return a->log_integral_se <= b->log_integral_se ? a : b;
    return a->log_integral > b->log_integral ? a : b;
}

#define SETTLED 1e-3 /* a last change of a rule that says how far it is from the integral */

/* The larger, where they disagree: whichever it is, the other has missed a peak. But a rule that has not settled errs
 * by more than its last change, either way: then what is known better counts, and nothing is known better than they
 * agree. */
static integral_result rule_or_points(const integral_result *rule, const integral_result *points)
{
    integral_result best = *integral_of_two(rule, points);
    if (best.log_integral != rule->log_integral || rule->log_integral_se <= SETTLED
        || rule->log_integral_se <= points->log_integral_se)
        return best;
    best = *points;
    best.log_integral_se = hypot(points->log_integral_se, rule->log_integral - points->log_integral);
    return best;
}

#define FIRST_OPINION 256 /* points in a replicate */
#define LAST_OPINION 2048
#define TELLING 0.005   /* an error at which a second opinion is one, */
#define FEW_CENTRES 256 /* of kernels about data for it */
#define LOCALLY 1e-3    /* what is aimed at where rules do not do */
#define LOCAL_POINTS (1u << 20)

/* Do points about the data say the same as the rule? */
static npmd_status second_opinion(const integral_request *what, values_fn values, void *self, const chunk *room,
                                  const integral_result *rule, bool *agrees, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    proposals known = { 0 };
    sets *data = NULL;
    integral_result found = { .log_integral_se = INFINITY };
    TRY(memory_new(&data, 1, err));
    TRY(data_aim(what, FEW_CENTRES, &known, &data->half[0], err));
    data->half[1] = data->half[0];
    for (size_t count = FIRST_OPINION; count <= LAST_OPINION && found.log_integral_se > TELLING; count *= 2)
        TRY(integrate_sets(what, data, count, values, self, room, &found, err));
    *agrees = found.log_integral_se < CLEAR
              && fabs(found.log_integral - rule->log_integral)
                     <= 4.0 * hypot(found.log_integral_se, rule->log_integral_se);
done:
    proposals_close(&known);
    memory_free(data);
    return st;
}

/* What a rule found is checked where the data are known, or where the function itself has its mass. */
static npmd_status settle(const integral_request *what, values_fn values, void *self, const chunk *room,
                          integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bool agrees = false;
    integral_request local = *what;
    integral_result found;
    if ((what->about == NULL && !what->twice) || what->most_points <= A_LOOK)
        return NPMD_OK;
    if (out->log_integral_se <= CLEAR && !what->twice)
        TRY(second_opinion(what, values, self, room, out, &agrees, err));
    if (agrees || (what->stop != NULL && what->stop(what->user)))
        goto done;
    local.target = fmax(what->target, LOCALLY);
    local.most_points = what->most_points < LOCAL_POINTS ? what->most_points : LOCAL_POINTS;
    TRY(integrate_random(&local, values, self, room, &found, err));
    *out = rule_or_points(out, &found);
done:
    return st;
}

static npmd_status chunk_open(chunk *room, const npmd_domain *dom, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(memory_new(&room->x, CHUNK * (size_t)dom->columns, err));
    TRY(memory_new(&room->weight, CHUNK, err));
    TRY(memory_new(&room->v, CHUNK, err));
done:
    return st;
}

static void chunk_close(chunk *room)
{
    memory_free_all(room->x, room->weight, room->v);
}

static npmd_status integral_finite(const integral_result *z, npmd_error *err)
{
    if (!isfinite(z->log_integral))
        return npmd_fail(err, NPMD_ERR_NUMERIC, "the integral of the density is not finite");
    if (!isfinite(z->log_integral_se))
        return npmd_fail(
            err, NPMD_ERR_NUMERIC,
            "nothing is known of the integral of the density: it has peaks that points do not meet; a larger "
            "`tau` makes it smoother");
    return NPMD_OK;
}

npmd_status integral_settle(const integral_request *what, values_fn values, void *self, integral_result *known,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    chunk room = { 0 };
    npmd_error why = { 0 };
    guarded g = { what, values, self, clock_seconds(), false };
    TRY(chunk_open(&room, what->domain, err));
    st = settle(what, guarded_values, &g, &room, known, &why);
    if (st == NPMD_STOPPED && g.stopped) /* what was known stands */
        st = NPMD_OK;
    if (st != NPMD_OK)
        TRY(npmd_fail(err, st, "%s", why.text));
    TRY(integral_finite(known, err));
done:
    chunk_close(&room);
    return st;
}

#define HASTY_POINTS 128 /* in a replicate */
#define HASTY_RULE 32    /* resolution, and twice that */

/* For a caller who has no time: a rough estimate, with its honest error. */
static npmd_status integrate_hastily(const integral_request *what, values_fn values, void *self, const chunk *room,
                                     integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const proposal *aimed = what->aimed;
    integral_request brief = *what;
    proposals known = { 0 };
    sets *set = NULL;
    if (domain_has_rules(what->domain)) {
        brief.coarsest = HASTY_RULE;
        brief.most_points = 1;
        TRY(integrate_rules(&brief, values, self, room, out, err));
        goto done;
    }
    TRY(memory_new(&set, 1, err));
    if (what->about != NULL && aimed == NULL) {
        TRY(data_aim(what, CENTRES, &known, &aimed, err));
    }
    set->half[0] = set->half[1] = aimed;
    TRY(integrate_sets(what, set, HASTY_POINTS, values, self, room, out, err));
done:
    proposals_close(&known);
    memory_free(set);
    return st;
}

npmd_status integrate(const integral_request *what, values_fn values, void *self, integral_result *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    chunk room = { 0 };
    integral_result found = { 0 };
    npmd_error why = { 0 };
    guarded g = { what, values, self, clock_seconds(), false };
    TRY(chunk_open(&room, what->domain, err));
    if (domain_has_rules(what->domain)) {
        st = integrate_rules(what, guarded_values, &g, &room, &found, &why);
        if (st == NPMD_OK)
            st = settle(what, guarded_values, &g, &room, &found, &why);
    } else {
        st = integrate_random(what, guarded_values, &g, &room, &found, &why);
    }
    if (st == NPMD_STOPPED && g.stopped)
        st = found.points > 0 ? NPMD_OK : integrate_hastily(what, values, self, &room, &found, &why);
    if (st != NPMD_OK)
        TRY(npmd_fail(err, st, "%s", why.text));
    *out = found;
    TRY(integral_finite(out, err));
done:
    chunk_close(&room);
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
