/* sample.c - independent draws from a model, or from a slice of it, by rejection unless the estimator can draw.
 *
 * With ratio(x) = exp v(x) / q(x), q a proposal from the model's sketch, and an envelope M above every ratio, a point
 * of q is kept with probability ratio / M. M comes from the largest ratio found. A larger one met later raises M, and
 * everything drawn before is discarded and counted, so that all draws returned have one envelope. A model that changes a
 * base which can draw has the base as its proposal, and exp v as the ratio. */
#include "ask.h"

#define HEADROOM 1.3 /* of the envelope over the largest ratio found */
#define BATCH 16384
#define LEAST_ACCEPTED 1e-6 /* a smaller share would take for ever */
#define SLICE_CENTRES 1024
#define BAD 10.0   /* times the mean ratio */
#define A_ROUND 64 /* kernels that may be moved before the next look */
#define STRIDE 389 /* kernels are taken from all over: it divides no number of centres */
#define MOST_PATCHING 40
#define PATIENCE 6        /* looks that found nothing better */
#define PATCHING 1000000u /* batches from here on are for looking */

typedef struct sampler {
    slice target;
    proposal q;
    int threads;
    asking ask;
    double from, share; /* of all rows of given values: where this one begins, and what it counts */
    uint64_t seed;      /* one of its own for every row of given values */
    double *y, *weight, *v;
} sampler;

static void sampler_close(sampler *s)
{
    proposal_close(&s->q);
    slice_close(&s->target);
    memory_free_all(s->y, s->weight, s->v);
    *s = (sampler){ 0 };
}

static npmd_status sampler_open(sampler *s, const npmd_model *m, unsigned given, const npmd_compute *how,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *s = (sampler){ .threads = how == NULL ? 0 : how->threads, .ask = { .how = how, .doing = "draws" } };
    TRY(slice_open(&s->target, m, how, given, &s->ask, err));
    TRY(memory_new(&s->y, BATCH * (size_t)s->target.rest->columns, err));
    TRY(memory_new(&s->weight, BATCH, err));
    TRY(memory_new(&s->v, BATCH, err));
done:
    return st;
}

/* One batch of independent proposals, y, with their log ratios in v; the largest is returned. */
static npmd_status sampler_propose(sampler *s, uint64_t batch, double *largest, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    point_source source;
    *largest = -INFINITY;
    source_importance(&source, &s->q, BATCH, false, rng_key_make(s->seed, RNG_SAMPLE, 2 * batch));
    source_fill_all(&source, 0, BATCH, s->threads, s->y, s->weight);
    TRY(slice_values(&s->target, s->y, BATCH, s->v, err));
    for (size_t i = 0; i < BATCH; i++) { /* a source's weight is 1 / (BATCH q) */
        s->v[i] += log(s->weight[i] * BATCH);
        *largest = fmax(*largest, s->v[i]);
    }
done:
    return st;
}

/* Small bumps that no kernel stands on have by far the largest ratios, and with them the smallest acceptance:
 * kernels are moved there, each to the worst of the points met, until none is bad. excess: the largest
 * ratio over their mean, before. */
static npmd_status sampler_patch(sampler *s, uint64_t round, int *moved, double *excess, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)s->target.rest->columns;
    double largest = 0.0, mean = 0.0;
    TRY(sampler_propose(s, PATCHING + round, &largest, err));
    for (size_t i = 0; i < BATCH; i++)
        mean += exp(s->v[i] - largest) / BATCH;
    *excess = 1.0 / mean;
    const double bad = largest + log(mean * BAD);
    for (*moved = 0; *moved < A_ROUND && largest > bad;) {
        size_t worst = 0;
        for (size_t i = 1; i < BATCH; i++)
            worst = s->v[i] > s->v[worst] ? i : worst;
        largest = s->v[worst];
        if (!(largest > bad))
            break;
        const int c = (int)((round * A_ROUND + (uint64_t)(*moved)++) * STRIDE % (uint64_t)s->q.centres);
        proposal_place(&s->q, c, s->y + worst * columns);
        for (size_t i = 0; i < BATCH; i++) /* a source's weight is 1 / (BATCH q) */
            if (s->v[i] > bad) {
                const double q = 1.0 / (s->weight[i] * BATCH), more = proposal_kernel(&s->q, c, s->y + i * columns);
                s->v[i] -= log1p(more / q);
                s->weight[i] = 1.0 / ((q + more) * BATCH);
            }
    }
done:
    return st;
}

/* How many points of the batch are kept; the first of them, as many as there is room for, go to x. */
static size_t sampler_keep(const sampler *s, uint64_t batch, double envelope, size_t room, double *x)
{
    const size_t columns = (size_t)s->target.model->domain->columns;
    const rng_key key = rng_key_make(s->seed, RNG_SAMPLE, 2 * batch + 1);
    size_t kept = 0;
    for (size_t i = 0; i < BATCH; i++)
        if (log(rng_uniform(key, i, 0)) < s->v[i] - envelope) {
            if (kept < room)
                slice_rows(&s->target, s->y + i * (size_t)s->target.rest->columns, 1, x + kept * columns);
            kept++;
        }
    return kept;
}

/* n draws from the slice as it is fixed, by the proposal as it is aimed; adds to the facts. */
static npmd_status sampler_draw(sampler *s, size_t n, double *x, npmd_sample_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)s->target.model->domain->columns;
    size_t have = 0, tried = 0;                             /* have may pass n in the last batch */
    double envelope = 0.0, largest = 0.0, least = INFINITY; /* the largest ratio over the mean, at its best */
    for (int round = 0, moved = 1, idle = 0; moved > 0 && idle < PATIENCE && round < MOST_PATCHING; round++) {
        double excess = 0.0;
        TRY(sampler_patch(s, (uint64_t)round, &moved, &excess, err));
        idle = excess < 0.9 * least ? 0 : idle + 1;
        least = fmin(least, excess);
    }
    TRY(sampler_propose(s, 0, &largest, err)); /* only to find the envelope */
    envelope = largest + log(HEADROOM);
    facts->proposed += BATCH;
    for (uint64_t batch = 1; have < n; batch++) {
        TRY(sampler_propose(s, batch, &largest, err));
        facts->proposed += BATCH;
        tried += BATCH;
        if (largest > envelope) {
            envelope = largest + log(HEADROOM);
            facts->raised++;
            have = tried = 0;
            continue;
        }
        have += sampler_keep(s, batch, envelope, n - have, x + have * columns);
        s->ask.done = fmax(s->ask.done, s->from + s->share * (double)have / (double)n);
        if ((double)have < LEAST_ACCEPTED * (double)tried && tried > (size_t)100 * BATCH)
            TRY(npmd_fail(err, NPMD_ERR_NUMERIC,
                          "fewer than one draw in %.0f is accepted: the density is too peaked for rejection",
                          1.0 / LEAST_ACCEPTED));
    }
    facts->acceptance = tried > 0 ? fmin(facts->acceptance, (double)have / (double)tried) : facts->acceptance;
done:
    return st;
}

/* How many of a batch of draws y from the base, with log ratios v, are kept; the first of them go to x. */
static size_t base_keep(const npmd_model *m, const double *y, const double *v, rng_key key, double envelope,
                        size_t room, double *x)
{
    const size_t columns = (size_t)m->domain->columns;
    size_t kept = 0;
    for (size_t i = 0; i < BATCH; i++)
        if (log(rng_uniform(key, i, 0)) < v[i] - envelope) {
            if (kept < room)
                memcpy(x + kept * columns, y + i * columns, columns * sizeof *x);
            kept++;
        }
    return kept;
}

static npmd_status base_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                               npmd_sample_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_compute silent = { .size = sizeof silent,
                                  .threads = how == NULL ? 0 : how->threads,
                                  .device = how == NULL ? NULL : how->device };
    const size_t columns = (size_t)m->domain->columns;
    evaluator e = { 0 };
    double *y = NULL, *v = NULL, envelope = INFINITY;
    size_t have = 0, tried = 0;
    TRY(evaluator_open(&e, m, &silent, err));
    TRY(memory_new(&y, BATCH * columns, err));
    TRY(memory_new(&v, BATCH, err));
    for (uint64_t batch = 0; have < n || batch == 0; batch++) { /* the first only finds the envelope */
        double largest = -INFINITY;
        TRY(compute_go_on(how, "draws", (double)have / (double)(n + 1), err));
        TRY(model_sample(m->base, hash_word(hash_word(seed, RNG_SAMPLE), batch), BATCH, &silent, y, err));
        TRY(m->kind->evaluate(&e, y, BATCH, JET_VALUE, v, err));
        for (size_t i = 0; i < BATCH; i++)
            largest = fmax(largest, v[i]);
        facts->proposed += BATCH;
        if (batch == 0 || largest > envelope) {
            facts->raised += batch > 0;
            envelope = largest + log(HEADROOM);
            have = tried = 0;
            continue;
        }
        tried += BATCH;
        have += base_keep(m, y, v, rng_key_make(seed, RNG_SAMPLE, 2 * batch + 1), envelope, n - have,
                          x + have * columns);
        if ((double)have < LEAST_ACCEPTED * (double)tried && tried > (size_t)100 * BATCH)
            TRY(npmd_fail(err, NPMD_ERR_NUMERIC, "fewer than one draw in %.0f of the base is accepted",
                          1.0 / LEAST_ACCEPTED));
    }
    facts->acceptance = tried > 0 ? (double)have / (double)tried : 1.0;
    if (model_mirrored(m))
        mirror_draws(m, seed, n, x);
done:
    evaluator_close(&e);
    memory_free_all(y, v);
    return st;
}

npmd_status model_sample_given(const npmd_model *m, unsigned given, const npmd_points *at, uint64_t seed, size_t n,
                               const npmd_compute *how, double *x, npmd_sample_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    sketch learnt = { 0 };
    sampler s = { 0 };
    npmd_sample_facts found = { .acceptance = 1.0 };
    double fixed[DOMAIN_MAX_COLUMNS];
    const rng_key seeds = rng_key_make(seed, RNG_SAMPLE, 0);
    const size_t rows = given == 0 ? 1 : at->n;
    if (given == 0 && m->kind->draw != NULL) {
        TRY(compute_go_on(how, "draws", 0.0, err));
        TRY(m->kind->draw(m, how, seed, n, x, err));
        if (model_mirrored(m))
            mirror_draws(m, seed, n, x);
        if (facts != NULL)
            *facts = (npmd_sample_facts){ .proposed = n, .acceptance = 1.0 };
        goto done;
    }
    if (given == 0 && m->base != NULL && m->base->kind->draw != NULL) {
        TRY(base_sample(m, seed, n, how, x, &found, err));
        if (facts != NULL)
            *facts = found;
        goto done;
    }
    if (given != 0)
        TRY(slice_check(m, given, at, err));
    TRY(sampler_open(&s, m, given, how, err));
    TRY(sketch_open(&learnt, m, how, seed, &s.ask, err));
    for (size_t i = 0; i < rows; i++) {
        if (given != 0) {
            points_row(at, i, fixed);
            slice_fix(&s.target, fixed);
        }
        proposal_close(&s.q);
        s.share = 1.0 / (double)rows;
        s.from = (double)i * s.share;
        s.seed = (uint64_t)rng_word(seeds, i, 0) << 32 | rng_word(seeds, i, 1);
        TRY(sketch_proposal(&learnt, &s.target, given == 0 ? learnt.centres : SLICE_CENTRES,
                            rng_key_make(seed, RNG_SKETCH, 1000), &s.q, err));
        TRY(sampler_draw(&s, n, x + i * n * (size_t)m->domain->columns, &found, err));
    }
    if (facts != NULL)
        *facts = found;
done:
    sampler_close(&s);
    sketch_close(&learnt);
    return st;
}

npmd_status model_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                         npmd_error *err)
{
    return model_sample_given(m, 0, NULL, seed, n, how, x, NULL, err);
}
