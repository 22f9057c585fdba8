/* cuda_absent.c - stands in for cuda.c in a build without CUDA. */
#include "backend.h"

static npmd_status absent(int device, npmd_error *err)
{
    (void)device;
    return npmd_fail(err, NPMD_ERR_DEVICE, "built without CUDA; rebuild with -DNPMD_CUDA=ON or choose `device` cpu");
}

static npmd_status absent_open(const field_plan *plan, int device, int threads, void **self, npmd_error *err)
{
    (void)plan, (void)threads, (void)self;
    return absent(device, err);
}

const backend_ops BACKEND_CUDA = { .name = "cuda", .present = absent, .open = absent_open };
