/* fuzz_model.c - models from a file: what can be loaded can be described and evaluated. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    char *json = NULL;
    const npmd_status st = npmd_load(fuzz_record(data, size), &m, &err);
    if (st != NPMD_OK) {
        PROMISE(m == NULL && err.text[0] != 0 && (st == NPMD_ERR_FORMAT || st == NPMD_ERR_MEMORY));
        return 0;
    }
    const npmd_domain *dom = npmd_model_domain(m);
    double u[2 * NPMD_MAX_FACTORS], x[3 * NPMD_MAX_FACTORS], value;
    for (int d = 0; d < 2 * NPMD_MAX_FACTORS; d++)
        u[d] = 0.3;
    PROMISE(npmd_domain_uniform(dom, u, 1, x, &err) == NPMD_OK);
    PROMISE(npmd_model_describe(m, &json, &err) == NPMD_OK || err.status == NPMD_ERR_MEMORY);
    PROMISE(npmd_log_density(m, x, 1, &value, &err) == NPMD_OK || err.text[0] != 0);
    npmd_text_free(json);
    npmd_model_free(m);
    return 0;
}
