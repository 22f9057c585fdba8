/* derive.c - settings made from settings: the fits that other fits need.
 *
 * Each begins as a copy; this table has what is kept and what is set.
 *
 *             a short fit       one of an        a part of a       a series as         a field's
 *             that is compared  ensemble         stack             a linear field      base
 *             pilot             member           part              linear              base
 *   made of   what it serves    what was asked,  what was asked    what was asked      what was asked
 *                               then the first
 *                               one's choices
 *   seed      kept              its own          kept              kept                kept
 *   estimator kept              kept             its own           field of one layer, kde or series
 *                                                                  every function
 *   base      kept              kept             none              none                none
 *   tau       given             kept             chosen before     kept                chosen
 *   steps     given             kept             chosen before     kept                not read
 *   batch     for its points    kept             kept              kept                not read
 *   holdout   kept              kept             kept              kept                kept
 *   ties      kept              kept; together   kept              kept                kept
 *                               if resampled
 *   members   1                 1                of fields and     kept                1
 *                                                resamples kept
 *   bootstrap off               off              last only         kept                off
 *   accuracy  rough             rough in a log   kept              kept                kept
 *                               mean, and may
 *                               be missed
 *   gap       off               first only       off               off                 not read
 *   rivals    off               first only       of fields kept    off                 off
 *   stop, snr off               kept             kept              off                 not read
 *   given     none              none             none              none                none
 *   weights   none              kept             last only         none                none
 *   encoding  kept              kept             kept              none                none
 *
 * Weights and encoding are those of the models that the fit was told to start from. A fit judged on held-out points
 * must not start from weights that may have seen them. Options given by name are checked once, by the fit that the user
 * asked for. */
#include "derive.h"

#define KERNELS_SHARPEST 1e8 /* as the option kappa allows */
#define PILOT_ACCURACY 1e-3  /* of its log integral, whose points all that is compared shares */
#define MEMBER_ACCURACY 2e-3 /* in three or more dimensions: the blend has its own */

static derived begin(const settings *from)
{
    derived d = { .set = *from };
    memset(d.set.given, 0, sizeof d.set.given);
    d.set.rivals = 0;
    return d;
}

derived derive_pilot(const settings *base, double tau, int64_t steps)
{
    derived d = begin(base);
    d.set.tau = tau;
    d.set.descent.steps = steps;
    d.set.descent.epochs = 0;
    d.set.descent.batch = 0;
    d.set.descent.batch_share = 0;
    d.set.descent.accuracy = fmax(PILOT_ACCURACY, base->descent.accuracy);
    d.set.descent.convex_gap = 0;
    d.set.descent.stop = STOP_NONE; /* by the very points that judge it */
    d.set.descent.snr = 0;
    d.set.members = 1;
    d.set.bootstrap = 0;
    d.encoding = true;
    return d;
}

derived derive_course(const settings *asked, const settings *full, const course_kind *kind, int64_t steps)
{
    derived d = derive_pilot(full, kind->tau, steps);
    d.set.network.omega = kind->omega;
    d.set.network.width = kind->width;
    d.set.network.depth = kind->depth;
    d.set.encoding = asked->encoding;
    d.set.encoding.from = kind->from;
    d.set.descent.warmup = asked->descent.warmup;
    d.set.descent.batch = full->descent.batch;
    return d;
}

derived derive_member(const settings *from, bool first, uint64_t seed, const npmd_domain *dom)
{
    derived d = begin(from);
    d.set.seed = seed;
    d.set.members = 1;
    d.set.bootstrap = 0;
    d.set.rivals = first && from->rivals;
    if (!first)
        d.set.descent.convex_gap = 0;
    if (d.set.descent.accuracy == 0.0 && !domain_has_rules(dom) && d.set.combine == COMBINE_LOG)
        d.set.descent.accuracy = MEMBER_ACCURACY;
    d.rough = d.set.combine == COMBINE_LOG;
    d.weights = d.encoding = true;
    return d;
}

derived derive_resampled(derived d)
{
    d.set.ties = TIES_TOGETHER; /* a resample repeats points that its source has once */
    return d;
}

bool derive_smoothed(derived *d, double way)
{
    settings *set = &d->set;
    if (set->estimator == FIT_KDE && set->kernels.bandwidth == BANDWIDTH_FIXED && set->kernels.kappa[0] > 0.0) {
        for (int j = 0; j < NPMD_MAX_FACTORS; j++) /* the square of a width is 1 / kappa */
            set->kernels.kappa[j] = fmin(set->kernels.kappa[j] * exp(-way), KERNELS_SHARPEST);
        return true;
    }
    if (set->estimator == FIT_SERIES && set->tau > 0.0) {
        set->tau *= exp(way);
        return true;
    }
    return false;
}

derived derive_part(const settings *asked, const part_kind *kind, int members, bool resampled, bool last,
                    const settings *before)
{
    derived d = begin(asked);
    d.set.estimator = (int)kind->estimator;
    d.set.kernels.bandwidth = (int)kind->bandwidth;
    d.set.members = kind->estimator == FIT_FIELD || resampled ? members : 1;
    d.set.bootstrap = resampled;
    d.set.rivals = kind->estimator == FIT_FIELD && asked->rivals; /* one of them may be its base */
    d.set.of_blend = 1;
    d.set.descent.convex_gap = 0;
    d.weights = last;
    d.encoding = true;
    if (before == NULL || kind->chooses_again)
        return d;
    /* found with fewer points, and as good for all of them */
    d.set.tau = before->tau;
    if (asked->descent.steps == 0 && asked->descent.epochs == 0) {
        d.set.descent.steps = before->descent.steps;
        d.set.descent.warmup = before->descent.warmup;
    }
    if (kind->estimator == FIT_FIELD) {
        d.set.network.omega = before->network.omega;
        d.set.network.width = before->network.width;
        d.set.network.depth = before->network.depth;
        d.set.encoding = before->encoding;
        if (asked->base == BASE_AUTO)
            d.set.base = before->base, d.set.alone = before->alone;
    }
    return derive_as_before(d, before);
}

derived derive_as_before(derived d, const settings *before)
{
    if (d.set.estimator == FIT_SERIES) {
        d.set.tau = before->tau;
        memcpy(d.set.encoding.max_frequency, before->encoding.max_frequency, sizeof d.set.encoding.max_frequency);
        d.set.encoding.max_frequencies = before->encoding.max_frequencies;
    }
    return d;
}

/* A field's own options, its penalty among them, say nothing of its base, but for those of kernels. Several widths are
 * by far the best kernels (docs/results.md), unless another kind is asked for. */
derived derive_base(const settings *asked, const npmd_domain *dom)
{
    static const fit_kind FITTED[] = { [BASE_UNIFORM] = FIT_UNIFORM, [BASE_KDE] = FIT_KDE, [BASE_SERIES] = FIT_SERIES };
    derived d = begin(asked);
    d.set.estimator = (int)FITTED[asked->base];
    d.set.base = BASE_NONE;
    d.set.alone = 0;
    d.set.tau = -1.0;
    d.set.solver = SOLVER_NEWTON;
    memset(d.set.encoding.max_frequency, 0, sizeof d.set.encoding.max_frequency);
    d.set.encoding.max_frequencies = 1; /* one for all: the usual one */
    d.set.members = 1;
    d.set.bootstrap = 0;
    if (!dom->surfaces && asked->kernels.bandwidth == BANDWIDTH_FIXED && !(asked->kernels.kappa[0] > 0.0))
        d.set.kernels.bandwidth = BANDWIDTH_MIXTURE;
    return d;
}

derived derive_over(const settings *asked, int base)
{
    derived d = { .set = *asked, .weights = true, .encoding = true };
    d.set.base = base;
    return d;
}

derived derive_linear(const settings *asked, const settings *full, int features)
{
    derived d = begin(asked);
    d.set.estimator = FIT_FIELD;
    d.set.network.depth = 1;
    d.set.network.skip = 0;
    d.set.network.skip_start = SKIP_STEP;
    d.set.encoding.from = FEATURES_DRAWN;
    d.set.encoding.separable = 1;
    d.set.encoding.law = LAW_UNIFORM;
    d.set.encoding.constant = 0;
    d.set.encoding.features = features;
    memcpy(d.set.encoding.max_frequency, full->encoding.max_frequency, sizeof d.set.encoding.max_frequency);
    d.set.encoding.max_frequencies = full->encoding.max_frequencies;
    d.set.descent.convex_gap = 0;
    d.set.descent.stop = STOP_NONE;
    d.set.descent.snr = 0;
    return d;
}
