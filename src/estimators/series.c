/* series.c - a linear series of eigenfunctions. */
#include "estimators.h"

static npmd_status series_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n,
                                  npmd_options *out, size_t *working_bytes, npmd_error *err)
{
    (void)opt, (void)dom, (void)n, (void)out, (void)working_bytes;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "--estimator series is not there yet");
}

const estimator ESTIMATOR_SERIES = {
    .name = "series",
    .resolve = series_resolve,
};
