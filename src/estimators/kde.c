/* kde.c - kernels about the points. */
#include "estimators.h"

static npmd_status kde_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                               size_t *working_bytes, npmd_error *err)
{
    (void)opt, (void)dom, (void)n, (void)out, (void)working_bytes;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "--estimator kde is not there yet");
}

const estimator ESTIMATOR_KDE = {
    .name = "kde",
    .resolve = kde_resolve,
};
