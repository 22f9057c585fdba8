/* population.c - a proposal learnt from the function itself.
 *
 * Most of the integral of exp v may lie in small places, some of them far from all data: a network has peaks of its own
 * between the points that it was fitted to. Neither uniform points nor kernels about data meet them.
 *
 * A walk finds them: WALKERS points, uniform at first, follow exp(beta v) by Metropolis steps as beta rises from 0 to 1,
 * each rise as large as the effective number of weights exp(rise v), (sum w)^2 / sum w^2, allows. Walkers are not drawn
 * anew by these weights: a peak that is narrower than another has little of the mass at a small beta and would lose all
 * its walkers to the other one. So every basin keeps its own, and where they end says nothing of masses; that is left to
 * population Monte Carlo: points of a proposal, weighted by exp v / q, give the centres of the kernels of the next one.
 * The largest weights are cut down to that of one point in CUT, lest all centres be the same few points.
 *
 * The first proposal stays beside the kernels with a share of its own, so that nothing it meets is lost; what is learnt
 * here decides where an integral's points are drawn, never its value. */
#include "sampling.h"

#define WALKERS 1024
#define CANDIDATES 8  /* uniform points for each walker, which begins at the one where v is largest */
#define MOST_STEPS 60 /* of beta */
#define MOVES 3       /* between two of them */
#define KEPT 0.5      /* effective share of the walkers in a step of beta */
#define A_KERNEL 16   /* points of a round for every kernel */
#define MOST_ROUNDS 5
#define GROWTH 1.1 /* of the effective number, below which a further round is not worth its time */
#define CUT 100
#define SHARE 0.1   /* of uniform points */
#define BESIDE 0.25 /* share of the proposal that it began with */

typedef struct population {
    const integral_request *what;
    uint64_t step; /* of the next random numbers */
    values_fn values;
    void *self;
    npmd_points *points; /* weighted */
    double *v, *other;   /* (n); other: v of a move, or log of the weights */
    double *cumulative;
    double effective; /* share of the last round's points, before their weights were cut */
} population;

static rng_key next_key(population *p)
{
    return rng_key_make(p->what->seed, p->what->purpose, p->step++);
}

static npmd_status population_open(population *p, size_t n, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(points_make(p->what->domain, n, &p->points, err));
    TRY(memory_new(&p->points->weight, n, err));
    TRY(memory_new(&p->v, n, err));
    TRY(memory_new(&p->other, n, err));
done:
    return st;
}

static void population_close(population *p)
{
    points_free(p->points);
    memory_free_all(p->v, p->other, p->cumulative);
    p->points = NULL;
    p->v = p->other = p->cumulative = NULL;
}

static npmd_status population_values(const population *p, const double *x, double *v, npmd_error *err)
{
    const npmd_status st = p->values(p->self, x, p->points->n, v, err);
    for (size_t i = 0; st == NPMD_OK && i < p->points->n; i++)
        v[i] = fmax(v[i], -1e9); /* a density that vanishes, times a beta of zero */
    return st;
}

double weights_from_logs(double *weight, size_t count)
{
    const double n = (double)count;
    double top = -INFINITY, sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++)
        top = fmax(top, weight[i]);
    for (size_t i = 0; i < count; i++)
        sum += weight[i] = exp(weight[i] - top);
    for (size_t i = 0; i < count; i++) {
        weight[i] *= n / sum;
        squares += weight[i] * weight[i];
    }
    return n * n / squares;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static double walk_weigh(const population *p, double rise)
{
    for (size_t i = 0; i < p->points->n; i++)
        p->points->weight[i] = rise * p->v[i];
    return weights_from_logs(p->points->weight, p->points->n) / (double)p->points->n;
}

/* The largest rise of beta that keeps enough walkers effective, at most this one. */
static double walk_rise(const population *p, double most)
{
    double low = 0.0, high = most;
    if (walk_weigh(p, most) >= KEPT)
        return most;
    for (int i = 0; i < 30; i++) {
        const double middle = 0.5 * (low + high);
        if (walk_weigh(p, middle) >= KEPT)
            low = middle;
        else
            high = middle;
    }
    walk_weigh(p, high);
    return high;
}

/* One Metropolis step of each; the share of walkers that moved. */
static npmd_status walk_move(population *p, double beta, double width, double *y, double *moved, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = p->what->domain;
    const rng_key key = next_key(p);
    const size_t n = p->points->n, columns = (size_t)dom->columns;
    size_t count = 0;
    double u[DOMAIN_MAX_DIMENSION];
    for (size_t i = 0; i < n; i++) {
        for (int t = 0; t < dom->dimension; t++)
            u[t] = rng_uniform(key, i, (uint32_t)t);
        for (int d = 0; d < dom->factors; d++)
            dom->factor[d]->cauchy(dom->factor[d], p->points->x + i * columns + dom->column[d], 1.0 - width,
                                   u + dom->direction[d], y + i * columns + dom->column[d]);
    }
    TRY(population_values(p, y, p->other, err));
    for (size_t i = 0; i < n; i++)
        if (log(rng_uniform(key, i, DOMAIN_MAX_DIMENSION)) < beta * (p->other[i] - p->v[i])) {
            memcpy(p->points->x + i * columns, y + i * columns, columns * sizeof *y);
            p->v[i] = p->other[i];
            count++;
        }
    *moved = (double)count / (double)n;
done:
    return st;
}

static npmd_status walk_begin(population *p, double *room, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = p->points->n, columns = (size_t)p->what->domain->columns;
    point_source s;
    source_uniform(&s, p->what->domain, CANDIDATES * n, true, next_key(p));
    for (size_t k = 0; k < CANDIDATES; k++) {
        source_fill_all(&s, k * n, n, p->what->threads, room, p->points->weight);
        TRY(population_values(p, room, p->other, err));
        for (size_t i = 0; i < n; i++)
            if (k == 0 || p->other[i] > p->v[i]) {
                memcpy(p->points->x + i * columns, room + i * columns, columns * sizeof *room);
                p->v[i] = p->other[i];
            }
    }
done:
    return st;
}

/* Leaves the walkers with weights of one; last_width: of a move, 1 - rho. */
static npmd_status walk(population *p, double *last_width, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = p->points->n;
    double beta = 0.0, width = 0.5, moved = 0.0, *room = NULL;
    TRY(memory_new(&room, n * (size_t)p->what->domain->columns, err));
    TRY(walk_begin(p, room, err));
    for (int step = 0; step < MOST_STEPS && beta < 1.0; step++) {
        beta += walk_rise(p, 1.0 - beta);
        for (int move = 0; move < MOVES; move++) {
            TRY(walk_move(p, beta, width, room, &moved, err));
            width = fmin(0.9, fmax(1e-3, width * (moved > 0.3 ? 1.5 : moved < 0.15 ? 0.6 : 1.0)));
        }
        if (p->what->stop != NULL && p->what->stop(p->what->user))
            break;
    }
    for (size_t i = 0; i < n; i++)
        p->points->weight[i] = 1.0;
    *last_width = width;
done:
    memory_free(room);
    return st;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Points of q with their weights, the largest cut down. */
static npmd_status round_draw(population *p, const proposal *q, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = p->points->n;
    double *w = p->points->weight;
    point_source s;
    source_importance(&s, q, n, true, next_key(p));
    source_fill_all(&s, 0, n, p->what->threads, p->points->x, p->other);
    TRY(population_values(p, p->points->x, p->v, err));
    for (size_t i = 0; i < n; i++)
        p->v[i] = w[i] = p->v[i] + log(p->other[i]);
    p->effective = weights_from_logs(w, n) / (double)n;
    memcpy(w, p->v, n * sizeof *w);
    memcpy(p->other, w, n * sizeof *w);
    qsort(p->other, n, sizeof *p->other, falling);
    for (size_t i = 0; i < n; i++)
        w[i] = fmin(w[i], p->other[n / CUT]);
    (void)weights_from_logs(w, n);
done:
    return st;
}

/* Kernels about the points, in proportion to their weights. */
static npmd_status aim(population *p, proposal *q, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const rng_key key = next_key(p);
    memory_free(p->cumulative);
    p->cumulative = NULL;
    TRY(points_cumulative(p->points, &p->cumulative, err));
    proposal_aim(q, p->points, p->cumulative, key);
    proposal_narrow(q, p->points, p->cumulative, key);
done:
    return st;
}

npmd_status population_learn(const integral_request *what, const proposal *start, bool walks, size_t size,
                             uint64_t stream, values_fn values, void *self, proposal *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    population p = { .what = what, .step = 10000 * (1 + stream), .values = values, .self = self };
    proposal q = { 0 };
    const proposal *from = start;
    TRY(proposal_open(what->domain, SHARE, 0.5, (int)(size / A_KERNEL), &q, err));
    q.beside = start;
    q.beside_share = BESIDE;
    if (walks) {
        TRY(population_open(&p, WALKERS, err));
        double width = 0.5;
        TRY(walk(&p, &width, err));
        TRY(aim(&p, &q, err));
        q.rho = 1.0 - width; /* a walker that stayed where it was drawn twice says nothing of widths */
        population_close(&p);
        from = &q;
    }
    TRY(population_open(&p, size, err));
    for (int round = 0; round < MOST_ROUNDS && !(what->stop != NULL && what->stop(what->user)); round++) {
        const double before = p.effective;
        TRY(round_draw(&p, from, err));
        TRY(aim(&p, &q, err));
        from = &q;
        if (round > 0 && p.effective < GROWTH * before)
            break;
    }
    *out = q;
    q = (proposal){ 0 };
done:
    proposal_close(&q);
    population_close(&p);
    return st;
}
