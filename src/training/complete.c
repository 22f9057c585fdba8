/* complete.c - fills the open settings of estimators that are trained by steps. */
#include "training.h"

static npmd_status complete_encoding(settings *set, const npmd_domain *dom, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    encoding_settings *e = &set->encoding;
    if (encoding_by_ridge(set) && encoding_rotated(dom, set))
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "`spectrum-law` ridge draws with replacement and scales each function by itself: it cannot "
                         "be combined with `separable` off on %s, which is no torus",
                         dom->text);
    TRY(settings_fill_frequencies(set, dom, err));
    const double available = encoding_available(dom, set);
    if (e->features > available)
        e->features = (int)available;
    if (encoding_by_ridge(set) && e->ridge == 0.0)
        TRY(encoding_choose_ridge(dom, set, &e->ridge, err));
done:
    return st;
}

npmd_status training_complete(settings *set, unsigned readers, const npmd_domain *dom, size_t n, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    descent_settings *d = &set->descent;
    settings_fill(set, readers, dom, n);
    TRY(complete_encoding(set, dom, err));
    if (set->network.depth == 1)
        set->network.skip = 0; /* the network is the linear part already */
    if (d->batch > (int64_t)n)
        d->batch = (int64_t)n;
    if (d->epochs > 0)
        d->steps = d->epochs * objective_steps_an_epoch(set, n);
    if (d->steps > UINT32_MAX) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "%lld steps were asked for; at most 2^32", (long long)d->steps);
        goto done;
    }
    if (d->warmup > d->steps / 2)
        d->warmup = d->steps / 2;
done:
    return st;
}

npmd_status training_complete_bare(settings *set, unsigned readers, const npmd_domain *dom, size_t n, npmd_error *err)
{
    npmd_options usual;
    options_init(&usual);
    const encoding_settings *e = &usual.set.encoding;
    set->encoding.from = e->from;
    set->encoding.features = e->features;
    set->encoding.law = e->law;
    set->encoding.separable = e->separable;
    set->encoding.max_frequencies = 0;
    memset(set->encoding.max_frequency, 0, sizeof set->encoding.max_frequency);
    set->tau = 0.0;
    set->penalty = PENALTY_NONE;
    return training_complete(set, readers, dom, n, err);
}

field_shape training_shape(const settings *set, const npmd_domain *dom)
{
    if (set->estimator == FIT_RELU)
        return (field_shape){ .features = dom->columns,
                              .width = set->network.width,
                              .depth = set->network.depth,
                              .directions = dom->dimension,
                              .activation = FIELD_RELU };
    return (field_shape){ .features = set->encoding.features,
                          .width = set->network.width,
                          .depth = set->network.depth,
                          .directions = dom->dimension,
                          .skip = set->network.skip != 0,
                          .omega = set->network.omega };
}
