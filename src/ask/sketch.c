/* sketch.c - where a model has its mass, learnt from the model alone; and slices of it.
 *
 * Uniform points rarely meet a peaked density in several dimensions. A sketch is a pool of points weighted by the
 * model: points drawn from Cauchy kernels (sampling.h) about the heaviest points of one pool make the next pool, as
 * long as its effective size grows; a density that few kernels cannot follow gets more of them. From the pool come
 * proposals for rejection and for integrals.
 *
 * A slice fixes some factors at given values and is a function on the product of the others. Kernels factorise over the
 * factors, so a slice needs no sketch of its own: with the pool weighted by the kernels of the fixed factors, the
 * kernels of the other factors are its proposal. */
#include "ask.h"

#define POOL_LEAST 32768 /* points; a pool has 32 for every kernel of the proposals made from it */
#define POOL_MOST 262144
#define A_KERNEL 32
#define ENOUGH 0.15 /* share of a pool that is effective; below, a larger pool with more kernels does better */
#define MOST_ROUNDS 16
#define GROWTH 1.1     /* growth of the effective size below which a further round is not worth its time */
#define FOUND_MORE 0.7 /* a fall below this share means that new mass was found, which the next round explores */
#define PIECE 16384

npmd_status asking_go_on(const asking *ask, npmd_error *err)
{
    return compute_go_on(ask->how, ask->doing, ask->done, err);
}

npmd_status asked_values(void *self, const double *x, size_t n, double *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const asked_evaluator *e = self;
    const size_t piece = compute_is_watched(e->ask->how) ? ASKING_PIECE : n,
                 columns = (size_t)e->of->model->domain->columns;
    for (size_t first = 0; first < n; first += piece) {
        const size_t count = n - first < piece ? n - first : piece;
        TRY(asking_go_on(e->ask, err));
        TRY(evaluate(e->of, x + first * columns, count, JET_VALUE, v + first, err));
    }
done:
    return st;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

npmd_status slice_open(slice *s, const npmd_model *m, const npmd_compute *how, unsigned given, const asking *ask,
                       npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const unsigned all = (1u << m->domain->factors) - 1u;
    *s = (slice){ .model = m, .given = given, .ask = ask };
    TRY(evaluator_open(&s->of, m, how, err));
    TRY(domain_part(m->domain, all & ~given, &s->rest, err));
    TRY(memory_new(&s->room, PIECE * (size_t)m->domain->columns, err));
done:
    if (st != NPMD_OK)
        slice_close(s);
    return st;
}

npmd_status slice_check(const npmd_model *m, unsigned factors, const npmd_points *at, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *part = NULL;
    TRY(domain_part(m->domain, factors, &part, err));
    if (strcmp(part->text, at->domain->text) != 0)
        st = npmd_fail(err, NPMD_ERR_SHAPE, "the points lie on %s, these factors of %s on %s", at->domain->text,
                       m->domain->text, part->text);
done:
    domain_free(part);
    return st;
}

void slice_close(slice *s)
{
    evaluator_close(&s->of);
    domain_free(s->rest);
    memory_free(s->room);
    *s = (slice){ 0 };
}

/* The factors of one point: those of the mask packed side by side, to or from their places in a whole row. */
static void factors_scatter(const npmd_domain *dom, unsigned mask, const double *packed, double *row)
{
    for (int d = 0; d < dom->factors; d++)
        if (mask >> d & 1u) {
            const size_t columns = (size_t)dom->factor[d]->columns;
            memcpy(row + dom->column[d], packed, columns * sizeof *row);
            packed += columns;
        }
}

void factors_gather(const npmd_domain *dom, unsigned mask, const double *row, double *packed)
{
    for (int d = 0; d < dom->factors; d++)
        if (mask >> d & 1u) {
            const size_t columns = (size_t)dom->factor[d]->columns;
            memcpy(packed, row + dom->column[d], columns * sizeof *row);
            packed += columns;
        }
}

void slice_fix(slice *s, const double *given)
{
    factors_scatter(s->model->domain, s->given, given, s->x);
}

void slice_rows(const slice *s, const double *y, size_t n, double *x)
{
    const npmd_domain *dom = s->model->domain;
    const size_t columns = (size_t)dom->columns;
    for (size_t i = 0; i < n; i++) {
        memcpy(x + i * columns, s->x, columns * sizeof *x);
        factors_scatter(dom, ~s->given, y + i * (size_t)s->rest->columns, x + i * columns);
    }
}

npmd_status slice_values(void *self, const double *y, size_t n, double *v, npmd_error *err)
{
    const slice *s = self;
    npmd_status st = NPMD_OK;
    const size_t piece = compute_is_watched(s->ask->how) ? ASKING_PIECE : PIECE;
    if (s->given == 0)
        return asked_values(&(asked_evaluator){ &s->of, s->ask }, y, n, v, err);
    for (size_t first = 0; first < n; first += piece) {
        const size_t count = n - first < piece ? n - first : piece;
        TRY(asking_go_on(s->ask, err));
        slice_rows(s, y + first * (size_t)s->rest->columns, count, s->room);
        TRY(evaluate(&s->of, s->room, count, JET_VALUE, v + first, err));
    }
done:
    return st;
}

/* ---- the sketch -------------------------------------------------------------------------------------------------- */

void sketch_close(sketch *k)
{
    points_free(k->pool);
    memory_free(k->cumulative);
    *k = (sketch){ 0 };
}

/* Points of the source and the model there, the caller asked now and then. */
static npmd_status pool_fill(const point_source *source, const evaluator *of, int threads, const asking *ask, double *x,
                             double *weight, double *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t piece = compute_is_watched(ask->how) ? ASKING_PIECE : source->count,
                 columns = (size_t)of->model->domain->columns;
    for (size_t first = 0; first < source->count; first += piece) {
        const size_t count = source->count - first < piece ? source->count - first : piece;
        TRY(asking_go_on(ask, err));
        source_fill_all(source, first, count, threads, x + first * columns, weight + first);
        TRY(evaluate(of, x + first * columns, count, JET_VALUE, v + first, err));
    }
done:
    return st;
}

/* A pool of this many points: uniform ones when there is none yet, else from kernels about the one before. */
static npmd_status pool_draw(const sketch *k, const evaluator *of, int round, size_t size, const asking *ask,
                             npmd_points **out, double *effective, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = of->model;
    point_source source;
    proposal q = { 0 };
    npmd_points *pool = NULL;
    double *weight = NULL, *v = NULL, rho = 0.0;
    const rng_key key = rng_key_make(k->seed, RNG_SKETCH, (uint64_t)round);
    TRY(memory_new(&weight, size, err));
    TRY(memory_new(&v, size, err));
    TRY(points_make(m->domain, size, &pool, err));
    TRY(memory_new(&pool->weight, size, err));
    if (k->pool == NULL) {
        source_uniform(&source, m->domain, size, true, key);
    } else {
        const int centres = (int)(size / A_KERNEL);
        TRY(proposal_tune(m->domain, k->pool, k->cumulative, SKETCH_SHARE, centres, k->seed, &rho, err));
        TRY(proposal_open(m->domain, SKETCH_SHARE, rho, centres, &q, err));
        proposal_aim(&q, k->pool, k->cumulative, rng_key_make(k->seed, RNG_SKETCH, (uint64_t)(100 + round)));
        source_importance(&source, &q, size, true, key);
    }
    TRY(pool_fill(&source, of, k->threads, ask, pool->x, weight, v, err));
    for (size_t i = 0; i < size; i++) /* by exp v / q: a source's weight is 1 / (n q) */
        pool->weight[i] = v[i] + log(weight[i]);
    *effective = weights_from_logs(pool->weight, size);
    *out = pool;
    pool = NULL;
done:
    proposal_close(&q);
    points_free(pool);
    memory_free_all(weight, v);
    return st;
}

npmd_status sketch_open(sketch *k, const npmd_model *m, const npmd_compute *how, uint64_t seed, const asking *ask,
                        npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t size = POOL_LEAST;
    evaluator of = { 0 };
    *k = (sketch){ .threads = how == NULL ? 0 : how->threads, .seed = seed };
    TRY(evaluator_open(&of, m, how, err));
    for (int round = 0; round <= MOST_ROUNDS; round++) {
        npmd_points *pool = NULL;
        double effective = 0.0;
        TRY(pool_draw(k, &of, round, size, ask, &pool, &effective, err));
        const double share = effective / (double)size, growth = share / k->effective;
        const bool settled = round > 1 && growth > FOUND_MORE && growth < GROWTH;
        points_free(k->pool);
        memory_free(k->cumulative);
        k->cumulative = NULL;
        k->pool = pool;
        k->effective = share;
        TRY(points_cumulative(k->pool, &k->cumulative, err));
        if (settled && (share > ENOUGH || size == POOL_MOST))
            break;
        size *= settled ? 2 : 1;
    }
    k->centres = (int)(k->pool->n / A_KERNEL);
    TRY(proposal_tune(m->domain, k->pool, k->cumulative, SKETCH_SHARE, k->centres, seed, &k->rho, err));
done:
    evaluator_close(&of);
    if (st != NPMD_OK)
        sketch_close(k);
    return st;
}

/* ---- proposals from it ------------------------------------------------------------------------------------------- */

npmd_status sketch_proposal(const sketch *k, const slice *s, int centres, rng_key key, proposal *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = s->model->domain;
    npmd_points *part = NULL;
    double *cumulative = NULL;
    TRY(proposal_open(s->rest, SKETCH_SHARE, k->rho, centres, out, err));
    if (s->given == 0) {
        proposal_aim(out, k->pool, k->cumulative, key);
        goto done;
    }
    TRY(points_make(s->rest, k->pool->n, &part, err));
    TRY(memory_new(&part->weight, k->pool->n, err));
    for (size_t i = 0; i < part->n; i++) {
        const double *x = k->pool->x + i * (size_t)dom->columns;
        factors_gather(dom, ~s->given, x, part->x + i * (size_t)s->rest->columns);
        part->weight[i] = log(k->pool->weight[i]) + domain_log_kernel(dom, s->given, k->rho, s->x, x);
    }
    weights_from_logs(part->weight, part->n);
    TRY(points_cumulative(part, &cumulative, err));
    proposal_aim(out, part, cumulative, key);
done:
    points_free(part);
    memory_free(cumulative);
    return st;
}
