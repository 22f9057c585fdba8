/* fuzz_evaluate.c - models from bytes: every value that they can be asked for at a few points, on both devices, and on a
 * grid. The reference and the grid of a small model take no longer than its reading. */
#include "fuzz_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_model *m = fuzz_model(data, size);
    if (m == NULL)
        return 0;
    double x[FUZZ_POINTS * 3 * NPMD_MAX_FACTORS], value[FUZZ_POINTS * 3 * NPMD_MAX_FACTORS];
    const npmd_domain *dom = npmd_model_domain(m);
    npmd_points *pts = fuzz_points(dom, x);
    npmd_error err = { 0 };
    for (int what = NPMD_LOG_DENSITY; npmd_what_name(what) != NULL; what++)
        for (int exact = 0; exact < 2; exact++) {
            npmd_compute how = fuzz_compute(1.0);
            how.device = exact ? "reference" : "cpu";
            const size_t count = FUZZ_POINTS * (what == NPMD_GRADIENT ? (size_t)npmd_domain_columns(dom) : 1);
            err.text[0] = 0;
            fuzz_promise(npmd_evaluate_at(m, pts, (npmd_what)what, &how, value, &err), &err, value, count);
        }
    const double *node[NPMD_MAX_FACTORS];
    size_t n[NPMD_MAX_FACTORS];
    double at[3 * NPMD_MAX_FACTORS];
    memcpy(at, x, sizeof at);
    for (int d = 0, column = 0; d < npmd_domain_factors(dom); d++) {
        npmd_domain *one = NULL;
        node[d] = at + column;
        n[d] = 1;
        PROMISE(npmd_domain_part(dom, 1u << d, &one, &err) == NPMD_OK);
        column += npmd_domain_columns(one);
        npmd_domain_free(one);
    }
    const npmd_compute how = fuzz_compute(1.0);
    err.text[0] = 0;
    fuzz_promise(npmd_evaluate_grid(m, node, n, NPMD_LOG_DENSITY, &how, value, &err), &err, value, 1);
    npmd_points_free(pts);
    npmd_model_free(m);
    return 0;
}
