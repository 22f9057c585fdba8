/* cuda.c - the host side of the cuda backend. */
#include "backend.h"
#include "cuda_device.h"

static npmd_status cuda_present(int device, npmd_error *err)
{
    int count = 0;
    const int status = device_count(&count);
    if (count == 0)
        return npmd_fail(err, NPMD_ERR_DEVICE, "--device cuda: no CUDA device was found here (%s)",
                         status == 0 ? "none is listed" : device_text(status));
    if (device >= count)
        return npmd_fail(err, NPMD_ERR_DEVICE, "--device cuda:%d: there are %d, counted from 0", device,
                         count);
    return NPMD_OK;
}

static npmd_status cuda_open(const field_plan *plan, int device, int threads, void **self, npmd_error *err)
{
    (void)plan, (void)threads, (void)self;
    const npmd_status st = cuda_present(device, err);
    return st != NPMD_OK ? st
                         : npmd_fail(err, NPMD_ERR_DEVICE, "--device cuda: not in this version; choose cpu");
}

const backend_ops BACKEND_CUDA = { .name = "cuda", .present = cuda_present, .open = cuda_open };
