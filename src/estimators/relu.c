/* relu.c - a ReLU network on plain coordinates. */
#include "estimators.h"

static npmd_status relu_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n, npmd_options *out,
                                size_t *working_bytes, npmd_error *err)
{
    (void)opt, (void)dom, (void)n, (void)out, (void)working_bytes;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "--estimator relu is not there yet");
}

const estimator ESTIMATOR_RELU = {
    .name = "relu",
    .resolve = relu_resolve,
};
