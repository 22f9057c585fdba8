/* objective.c - the three terms of one step, each on its own points. */
#include "training.h"

npmd_status objective_open(objective *o, const npmd_domain *dom, const npmd_points *pts,
                           const npmd_options *opt, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double rho = opt->proposal_rho;
    *o = (objective){
        .opt = opt, .domain = dom, .points = pts, .importance = opt->integral == NPMD_INTEGRAL_IMPORTANCE
    };
    TRY(points_cumulative(pts, &o->cumulative, err));
    if (o->importance) {
        if (rho == 0.0)
            TRY(proposal_tune(dom, pts, o->cumulative, opt->uniform_share, opt->centres, opt->seed, &rho,
                              err));
        TRY(proposal_open(dom, opt->uniform_share, rho, opt->centres, &o->proposal, err));
    }
done:
    if (st != NPMD_OK)
        objective_close(o);
    return st;
}

void objective_close(objective *o)
{
    proposal_close(&o->proposal);
    memory_free(o->cumulative);
    o->cumulative = NULL;
}

int64_t objective_steps_an_epoch(const npmd_options *opt, size_t n)
{
    const int64_t steps = (int64_t)n / opt->batch;
    return steps < 1 ? 1 : steps;
}

void objective_integral_points(objective *o, int64_t step, size_t count, point_source *out)
{
    const uint64_t seed = o->opt->seed;
    const bool quasi = o->opt->sequence == NPMD_SEQUENCE_SOBOL;
    const rng_key key = rng_key_make(seed, RNG_INTEGRAL_POINTS, (uint64_t)step);
    if (o->importance) {
        proposal_aim(&o->proposal, o->points, o->cumulative, rng_key_make(seed, RNG_CENTRES, (uint64_t)step));
        source_importance(out, &o->proposal, count, quasi, key);
    } else {
        source_uniform(out, o->domain, count, quasi, key);
    }
}

step_recipe objective_recipe(const objective *o)
{
    const npmd_options *opt = o->opt;
    return (step_recipe){ .seed = opt->seed,
                          .batch = opt->batch,
                          .q1 = opt->q1,
                          .q2 = opt->q2,
                          .steps_an_epoch = objective_steps_an_epoch(opt, o->points->n),
                          .quasi = opt->sequence == NPMD_SEQUENCE_SOBOL,
                          .importance = o->importance ? &o->proposal : NULL,
                          .cumulative = o->cumulative,
                          .penalised = opt->penalty != NPMD_PENALTY_NONE && opt->tau > 0.0,
                          .penalty = opt->penalty == NPMD_PENALTY_LAPLACIAN ? TERM_LAPLACIAN : TERM_GRADIENT,
                          .tau = opt->tau };
}

/* every epoch is a new shuffle, cut into batches; a batch of all points needs none */
void objective_batch(const objective *o, int64_t step, point_source *out)
{
    const npmd_options *opt = o->opt;
    const int64_t an_epoch = objective_steps_an_epoch(opt, o->points->n), epoch = step / an_epoch;
    source_data(out, o->points, (size_t)(step % an_epoch * opt->batch), (size_t)opt->batch,
                (size_t)opt->batch < o->points->n, rng_key_make(opt->seed, RNG_BATCH, (uint64_t)epoch));
}

npmd_status objective_step(objective *o, backend *b, int64_t step, objective_value *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_options *opt = o->opt;
    const bool quasi = opt->sequence == NPMD_SEQUENCE_SOBOL;
    point_source s;
    double mean = 0.0;
    *out = (objective_value){ 0 };

    objective_batch(o, step, &s);
    TRY(b->ops->term(b->self, &(term_request){ TERM_DATA, &s, -1.0 }, &mean, err));
    out->data = -mean;

    objective_integral_points(o, step, (size_t)opt->q1, &s);
    TRY(b->ops->term(b->self, &(term_request){ TERM_INTEGRAL, &s, 1.0 }, &out->integral, err));

    const step_recipe recipe = objective_recipe(o);
    if (recipe.penalised) {
        source_uniform(&s, o->domain, (size_t)opt->q2, quasi,
                       rng_key_make(opt->seed, RNG_PENALTY_POINTS, (uint64_t)step));
        TRY(b->ops->term(b->self, &(term_request){ recipe.penalty, &s, opt->tau }, &out->penalty, err));
    }
    out->total = out->data + out->integral + opt->tau * out->penalty;
done:
    return st;
}
