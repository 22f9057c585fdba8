/* catalog.c - the list of all estimators. A new one is a new file, and a row here. */
#include "api.h"

static bool several(const settings *set)
{
    return set->members > 1 || set->bootstrap;
}

const estimator *estimators_all(const settings *set, const npmd_domain *dom)
{
    static const estimator *const ONE[FIT_KINDS] = {
        [FIT_FIELD] = &ESTIMATOR_FIELD,     [FIT_SERIES] = &ESTIMATOR_SERIES, [FIT_KDE] = &ESTIMATOR_KDE,
        [FIT_PSNF] = &ESTIMATOR_PSNF,       [FIT_RELU] = &ESTIMATOR_RELU,     [FIT_STACK] = &ESTIMATOR_STACK,
        [FIT_UNIFORM] = &ESTIMATOR_UNIFORM, [FIT_AUTO] = &ESTIMATOR_AUTO
    };
    if (several(set) && set->estimator != FIT_STACK && set->estimator != FIT_AUTO)
        return set->combine == COMBINE_LOG ? &ESTIMATOR_LOG_MEAN : &ESTIMATOR_MIXTURE;
    if (set->estimator == FIT_KDE && dom->surfaces)
        return &ESTIMATOR_HEAT;
    if (set->estimator == FIT_SERIES && set->solver == SOLVER_STOCHASTIC)
        return &ESTIMATOR_SERIES_SGD;
    return ONE[set->estimator];
}
