/* objective.c - the three terms of one step, each on its own points. */
#include "training.h"

npmd_status objective_open(objective *o, const npmd_domain *dom, const npmd_points *pts, const settings *opt,
                           npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double rho = opt->descent.proposal_rho;
    *o = (objective){
        .opt = opt, .domain = dom, .points = pts, .importance = opt->descent.integral == INTEGRAL_IMPORTANCE
    };
    TRY(points_cumulative(pts, &o->cumulative, err));
    if (o->importance) {
        if (rho == 0.0)
            TRY(proposal_tune(dom, pts, o->cumulative, opt->descent.uniform_share, opt->descent.centres, opt->seed,
                              &rho, err));
        TRY(proposal_open(dom, opt->descent.uniform_share, rho, opt->descent.centres, &o->proposal, err));
    }
done:
    if (st != NPMD_OK)
        objective_close(o);
    return st;
}

void objective_close(objective *o)
{
    proposal_close(&o->proposal);
    memory_free_all(o->cumulative, o->x, o->weight);
    o->cumulative = o->x = o->weight = NULL;
    o->room = 0;
}

int64_t objective_steps_an_epoch(const settings *opt, size_t n)
{
    const int64_t steps = (int64_t)n / opt->descent.batch;
    return steps < 1 ? 1 : steps;
}

/* Points that only the host can make: every backend takes them as they are. */
static npmd_status base_points(objective *o, int64_t step, size_t count, point_source *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (count > o->room) {
        memory_free_all(o->x, o->weight);
        o->x = o->weight = NULL;
        o->room = 0;
        TRY(memory_new(&o->x, count * (size_t)o->domain->columns, err));
        TRY(memory_new(&o->weight, count, err));
        o->room = count;
    }
    TRY(o->base->points(o->base->self, step, count, o->x, o->weight, err));
    source_fixed(out, o->domain, o->x, o->weight, count);
done:
    return st;
}

npmd_status objective_integral_points(objective *o, int64_t step, size_t count, point_source *out, npmd_error *err)
{
    if (o->base != NULL)
        return base_points(o, step, count, out, err);
    const uint64_t seed = o->opt->seed;
    const bool quasi = o->opt->descent.sequence == SEQUENCE_SOBOL;
    const rng_key key = rng_key_make(seed, RNG_INTEGRAL_POINTS, (uint64_t)step);
    if (o->importance) {
        proposal_aim(&o->proposal, o->points, o->cumulative, rng_key_make(seed, RNG_CENTRES, (uint64_t)step));
        source_importance(out, &o->proposal, count, quasi, key);
    } else {
        source_uniform(out, o->domain, count, quasi, key);
    }
    return NPMD_OK;
}

step_recipe objective_recipe(const objective *o)
{
    const settings *opt = o->opt;
    return (step_recipe){ .seed = opt->seed,
                          .batch = opt->descent.batch,
                          .q1 = opt->descent.q1,
                          .q2 = opt->descent.q2,
                          .steps_an_epoch = objective_steps_an_epoch(opt, o->points->n),
                          .quasi = opt->descent.sequence == SEQUENCE_SOBOL,
                          .importance = o->importance ? &o->proposal : NULL,
                          .cumulative = o->cumulative,
                          .penalised = opt->penalty != PENALTY_NONE && opt->tau > 0.0,
                          .penalty = opt->penalty == PENALTY_LAPLACIAN ? TERM_LAPLACIAN : TERM_GRADIENT,
                          .tau = opt->tau };
}

void batch_points(const settings *set, const npmd_points *pts, int64_t step, point_source *out)
{
    const int64_t an_epoch = objective_steps_an_epoch(set, pts->n), epoch = step / an_epoch;
    const size_t batch = (size_t)set->descent.batch < pts->n ? (size_t)set->descent.batch : pts->n;
    source_data(out, pts, (size_t)(step % an_epoch) * batch, batch, batch < pts->n,
                rng_key_make(set->seed, RNG_BATCH, (uint64_t)epoch));
}

void objective_batch(const objective *o, int64_t step, point_source *out)
{
    batch_points(o->opt, o->points, step, out);
}

npmd_status objective_step(objective *o, backend *b, int64_t step, objective_value *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *opt = o->opt;
    const bool quasi = opt->descent.sequence == SEQUENCE_SOBOL;
    point_source s;
    double mean = 0.0;
    *out = (objective_value){ 0 };

    objective_batch(o, step, &s);
    TRY(b->ops->term(b->self, &(term_request){ TERM_DATA, &s, -1.0 }, &mean, err));
    out->data = -mean;

    TRY(objective_integral_points(o, step, (size_t)opt->descent.q1, &s, err));
    TRY(b->ops->term(b->self, &(term_request){ TERM_INTEGRAL, &s, 1.0 }, &out->integral, err));

    const step_recipe recipe = objective_recipe(o);
    if (recipe.penalised) {
        source_uniform(&s, o->domain, (size_t)opt->descent.q2, quasi,
                       rng_key_make(opt->seed, RNG_PENALTY_POINTS, (uint64_t)step));
        TRY(b->ops->term(b->self, &(term_request){ recipe.penalty, &s, opt->tau }, &out->penalty, err));
    }
    out->total = out->data + out->integral + opt->tau * out->penalty;
done:
    return st;
}
