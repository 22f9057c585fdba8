/* sample.c - independent draws from a model by rejection.
 *
 * Uniform points would be accepted once in max f draws, which is hopeless in more dimensions. The proposal is
 * learnt from the model alone: points weighted by the model give the centres of Cauchy kernels (sampling.h),
 * points drawn from these give better centres, a few times over. With ratio(x) = exp v(x) / q(x) and an
 * envelope M above every ratio, a point of q is kept with probability ratio / M. M comes from the largest
 * ratio found; a larger one met later raises M, everything drawn before is thrown away, and that is counted:
 * what is returned was drawn under one envelope. */
#include "estimators.h"

#define POOL 32768 /* points that carry the model's weights, in each round of learning */
#define ROUNDS 3   /* of learning, after uniform points */
#define CENTRES 1024
#define SHARE 0.1    /* uniform points in the proposal: they bound the ratio where no kernel stands */
#define HEADROOM 1.3 /* of the envelope over the largest ratio found */
#define BATCH 16384
#define LEAST_ACCEPTED 1e-6 /* a smaller share would take for ever */

typedef struct sampler {
    const npmd_model *model;
    const npmd_compute *how;
    int threads;
    proposal q;
    npmd_points *pool; /* weighted by the model */
    double *weight, *v;
    double top; /* log of the largest ratio found */
} sampler;

static void sampler_close(sampler *s)
{
    proposal_close(&s->q);
    npmd_points_free(s->pool);
    memory_free(s->weight);
    memory_free(s->v);
    *s = (sampler){ 0 };
}

/* Fills the pool from the source, with weights exp v / q of mean one. */
static npmd_status sampler_look(sampler *s, const point_source *source, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double top = -INFINITY, sum = 0.0;
    source_fill_all(source, 0, POOL, s->threads, s->pool->x, s->weight);
    TRY(model_values(s->model, s->how, s->pool->x, POOL, s->v, err));
    for (size_t i = 0; i < POOL; i++) { /* a source's weight is 1 / (POOL q) */
        s->v[i] += log(s->weight[i] * POOL);
        top = fmax(top, s->v[i]);
    }
    for (size_t i = 0; i < POOL; i++)
        sum += s->pool->weight[i] = exp(s->v[i] - top);
    for (size_t i = 0; i < POOL; i++)
        s->pool->weight[i] *= POOL / sum;
    s->top = top;
done:
    return st;
}

static npmd_status sampler_open(sampler *s, const npmd_model *m, const npmd_compute *how, uint64_t seed,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    point_source source;
    double *cumulative = NULL, rho = 0.0;
    *s = (sampler){ .model = m, .how = how, .threads = how == NULL ? 0 : how->threads };
    TRY(points_make(m->domain, POOL, &s->pool, err));
    TRY(memory_new(&s->pool->weight, POOL, err));
    TRY(memory_new(&s->weight, POOL, err));
    TRY(memory_new(&s->v, POOL, err));
    source_uniform(&source, m->domain, POOL, true, rng_key_make(seed, RNG_SAMPLE, 0));
    TRY(sampler_look(s, &source, err));
    for (int round = 1; round <= ROUNDS; round++) {
        memory_free(cumulative);
        cumulative = NULL;
        proposal_close(&s->q);
        TRY(points_cumulative(s->pool, &cumulative, err));
        TRY(proposal_tune(m->domain, s->pool, cumulative, SHARE, CENTRES, seed, &rho, err));
        TRY(proposal_open(m->domain, SHARE, rho, CENTRES, &s->q, err));
        proposal_aim(&s->q, s->pool, cumulative, rng_key_make(seed, RNG_SAMPLE, (uint64_t)(100 + round)));
        source_importance(&source, &s->q, POOL, true, rng_key_make(seed, RNG_SAMPLE, (uint64_t)round));
        TRY(sampler_look(s, &source, err));
    }
done:
    memory_free(cumulative);
    if (st != NPMD_OK)
        sampler_close(s);
    return st;
}

/* One batch of independent proposals: those kept go to x, at most room of them. A ratio above the envelope
 * ends the batch: *raised is its log. */
static npmd_status sampler_batch(sampler *s, uint64_t seed, uint64_t batch, double envelope, size_t room,
                                 double *x, size_t *kept, double *raised, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)s->model->domain->columns;
    const rng_key keep = rng_key_make(seed, RNG_SAMPLE, 2000 + 2 * batch);
    point_source source;
    *kept = 0;
    *raised = -INFINITY;
    source_importance(&source, &s->q, BATCH, false, rng_key_make(seed, RNG_SAMPLE, 2001 + 2 * batch));
    source_fill_all(&source, 0, BATCH, s->threads, s->pool->x, s->weight);
    TRY(model_values(s->model, s->how, s->pool->x, BATCH, s->v, err));
    for (size_t i = 0; i < BATCH; i++) {
        const double ratio = s->v[i] + log(s->weight[i] * BATCH);
        *raised = fmax(*raised, ratio);
        if (*kept < room && log(rng_uniform(keep, i, 0)) < ratio - envelope)
            memcpy(x + (*kept)++ * columns, s->pool->x + i * columns, columns * sizeof *x);
    }
done:
    return st;
}

npmd_status npmd_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                        npmd_sample_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    sampler s = { 0 };
    npmd_sample_facts found = { 0 };
    size_t have = 0, tried = 0;
    TRY(sampler_open(&s, m, how, seed, err));
    double envelope = s.top + log(HEADROOM);
    for (uint64_t batch = 0; have < n; batch++) {
        size_t kept = 0;
        double raised = 0.0;
        TRY(sampler_batch(&s, seed, batch, envelope, n - have, x + have * (size_t)m->domain->columns, &kept,
                          &raised, err));
        found.proposed += BATCH;
        tried += BATCH;
        have += kept;
        if (raised > envelope) {
            envelope = raised + log(HEADROOM);
            found.raised++;
            have = tried = 0;
        } else if ((double)have < LEAST_ACCEPTED * (double)tried && tried > (size_t)100 * BATCH) {
            st = npmd_fail(err, NPMD_ERR_NUMERIC,
                           "fewer than one draw in %.0f is accepted: the density is too peaked for rejection",
                           1.0 / LEAST_ACCEPTED);
            goto done;
        }
    }
    found.acceptance = tried > 0 ? (double)have / (double)tried : 1.0;
    if (facts != NULL)
        *facts = found;
done:
    sampler_close(&s);
    return st;
}
