/* fuzz_truth.c - known densities, in JSON or as a grid: what can be read can be evaluated, drawn from and written. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_truth *t = NULL;
    npmd_error err = { 0 };
    const bool grid = size > 0 && data[0] == 0x93;
    const npmd_status st = npmd_truth_read(grid ? fuzz_named("t.npy", data, size) : fuzz_file(data, size), &t, &err);
    if (st != NPMD_OK) {
        PROMISE(t == NULL && err.text[0] != 0 && st == NPMD_ERR_FORMAT);
        return 0;
    }
    double x[2 * 3 * NPMD_MAX_FACTORS], value[2];
    PROMISE(npmd_truth_sample(t, 1, 2, NULL, x, &err) == NPMD_OK || err.text[0] != 0);
    if (err.status == NPMD_OK)
        PROMISE(npmd_truth_log_density(t, x, 2, NULL, value, &err) == NPMD_OK || err.text[0] != 0);
    PROMISE(npmd_truth_write(t, "/dev/null", &err) == NPMD_OK || (grid && err.text[0] != 0));
    npmd_truth_free(t);
    return 0;
}
