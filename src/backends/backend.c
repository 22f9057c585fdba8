/* backend.c - the list of backends. */
#include "backend.h"

static const backend_ops *const BACKENDS[] = { &BACKEND_CPU, &BACKEND_REFERENCE };

npmd_status backend_find(const char *device, const backend_ops **out, npmd_error *err)
{
    for (size_t i = 0; i < sizeof BACKENDS / sizeof *BACKENDS; i++)
        if (strcmp(BACKENDS[i]->name, device[0] == '\0' ? "cpu" : device) == 0) {
            *out = BACKENDS[i];
            return NPMD_OK;
        }
    const bool absent = strncmp(device, "cuda", 4) == 0; /* a device that other builds may have */
    return npmd_fail(err, absent ? NPMD_ERR_DEVICE : NPMD_ERR_ARGUMENT,
                     "--device %s: this build has cpu and reference", device);
}

npmd_status backend_open(const char *device, int threads, const field_plan *plan, backend *out,
                         npmd_error *err)
{
    const backend_ops *ops = NULL;
    npmd_status st = backend_find(device, &ops, err);
    if (st == NPMD_OK)
        st = ops->open(plan, threads, &out->self, err);
    if (st == NPMD_OK)
        out->ops = ops;
    return st;
}

void backend_close(backend *b)
{
    if (b->ops != NULL)
        b->ops->close(b->self);
    *b = (backend){ 0 };
}
