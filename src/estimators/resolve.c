/* resolve.c - every size that was left open, chosen from n and the domain. */
#include "estimators.h"

#define MOST_BATCH 131072 /* by then the noise of the integral is far larger than that of the data */

static int64_t at_least(int64_t value, int64_t least)
{
    return value < least ? least : value;
}

npmd_status options_resolve_frequencies(npmd_options *o, const npmd_domain *dom,
                                        int (*usual)(const npmd_domain *dom, int d), npmd_error *err)
{
    if (o->max_frequencies > 1 && o->max_frequencies != dom->factors)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "--max-frequency has %d values, but %s has %d factors",
                         o->max_frequencies, dom->text, dom->factors);
    if (o->max_frequencies <= 1) /* one value serves all */
        for (int d = 1; d < dom->factors; d++)
            o->max_frequency[d] = o->max_frequency[0];
    o->max_frequencies = dom->factors;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        if (o->max_frequency[d] == 0)
            o->max_frequency[d] = usual(dom, d) < m->max_frequency ? usual(dom, d) : m->max_frequency;
        if (o->max_frequency[d] > m->max_frequency)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "--max-frequency %d: on %s at most %d",
                             o->max_frequency[d], m->name, m->max_frequency);
    }
    return NPMD_OK;
}

/* The power law rarely draws near the limit, so it may be generous. */
static int usual_frequency(const npmd_domain *dom, int d)
{
    return dom->factor[d]->dimension == 1 ? 20 : dom->dimension == 2 ? 16 : 10;
}

/* The cosine and the sine of every angle, and nothing else: a law so steep that the next eigenvalue is never drawn
 * before these. A sine network makes the higher frequencies itself, and learns far less noise from a few inputs than
 * from many; the linear path is then too poor to say what a fit could gain, so a wide encoding judges it. */
#define FIRST_ONLY 60.0

double options_decay(const npmd_domain *dom)
{
    return 0.5 * dom->dimension + 1.0;
}

double options_accuracy(const npmd_domain *dom)
{
    return integrate_by_rules(dom)
               ? 1e-5
               : 5e-4; /* quadrature reaches the first, sampling the second in good time */
}

int options_features(const npmd_domain *dom)
{
    return dom->dimension <= 2 ? 192 : 256;
}

static npmd_status resolve_encoding(npmd_options *o, const npmd_domain *dom, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (o->separable == 2) /* auto */
        o->separable = !(dom->torus && dom->factors >= 3);
    if (o->spectrum_law == NPMD_LAW_RIDGE && encoding_rotated(dom, o))
        return npmd_fail(
            err, NPMD_ERR_ARGUMENT,
            "--spectrum-law ridge draws with replacement and scales each function by itself: it cannot "
            "be combined with --separable off on %s, which is no torus",
            dom->text);
    const bool open = o->features == 0 && o->spectrum_decay == 0.0 && o->max_frequency[0] == 0;
    TRY(options_resolve_frequencies(o, dom, usual_frequency, err));
    if (open && dom->torus && o->spectrum_law == NPMD_LAW_POWER
        && o->depth != 1) { /* a series makes no others */
        o->features = 2 * dom->factors;
        o->spectrum_decay = FIRST_ONLY;
    }
    if (o->spectrum_decay == 0.0)
        o->spectrum_decay = options_decay(dom);
    if (o->features == 0)
        o->features = options_features(dom);
    const double available = encoding_available(dom, o);
    if (o->features > available)
        o->features = (int)available;
    if (o->spectrum_law == NPMD_LAW_RIDGE && o->spectrum_ridge == 0.0)
        TRY(encoding_choose_ridge(dom, o, &o->spectrum_ridge, err));
done:
    return st;
}

npmd_status options_resolve_device(npmd_options *o, npmd_error *err)
{
    const backend_ops *ops = NULL;
    const npmd_status st = backend_find(o->device, &ops, err);
    if (st == NPMD_OK && o->device[0] == '\0')
        memcpy(o->device, "cpu", sizeof "cpu");
    return st;
}

npmd_status options_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options o = *opt;
    const int p = dom->dimension;
    TRY(options_resolve_device(&o, err));
    if (o.tau < 0.0)
        o.tau = p <= 2 ? 5e-5 : 1e-4;
    if (o.holdout == 0.0)
        o.holdout = 0.1;
    TRY(resolve_encoding(&o, dom, err));
    if (o.depth == 0)
        o.depth = p <= 2 ? 3 : 4;
    if (o.depth == 1)
        o.skip = 0;  /* the network is the linear part already */
    if (o.batch < 0) /* a preset's share of n */
        o.batch = at_least((int64_t)n / -o.batch, 1);
    /* the paper: between n/4 and n/2; a large n needs no more than the noise of the integral deserves */
    if (o.batch == 0)
        o.batch = n <= 16384 ? (int64_t)n : at_least(16384, n / 8 < MOST_BATCH ? (int64_t)n / 8 : MOST_BATCH);
    if (o.batch > (int64_t)n)
        o.batch = (int64_t)n;
    /* scrambled Sobol points on a surface integrate a smooth density better than any proposal; not so in more
     * dimensions */
    if (o.integral == NPMD_INTEGRAL_AUTO)
        o.integral = p <= 2 ? NPMD_INTEGRAL_UNIFORM : NPMD_INTEGRAL_IMPORTANCE;
    if (o.q1 == 0)
        o.q1 = p <= 2 ? 8192 : 16384;
    if (o.q2 == 0)
        o.q2 = p <= 2 ? 1024 : 2048;
    if (o.accuracy == 0.0)
        o.accuracy = options_accuracy(dom);
    /* more steps lower the objective further but not the error: the optimum fits noise. Clusters on a sphere gain by
     * them, tori and many dimensions lose (docs/results.md) */
    if (o.steps == 0)
        o.steps = p <= 2 && !dom->torus ? 1000 : 500;
    if (o.epochs > 0)
        o.steps = o.epochs * objective_steps_an_epoch(&o, n);
    if (o.steps > UINT32_MAX) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "%lld steps were asked for; at most 2^32", (long long)o.steps);
        goto done;
    }
    if (o.warmup > o.steps / 2)
        o.warmup = o.steps / 2;
    if (o.log_every == 0)
        o.log_every = at_least(o.steps / 200, 1);
    *out = o;
done:
    return st;
}

field_shape options_shape(const npmd_options *o, const npmd_domain *dom)
{
    return (field_shape){ .features = o->features,
                          .width = o->width,
                          .depth = o->depth,
                          .directions = dom->dimension,
                          .skip = o->skip != 0,
                          .omega = o->omega };
}
