/* backend.c - the list of backends. */
#include "backend.h"

static const backend_ops *const BACKENDS[] = { &BACKEND_CPU, &BACKEND_REFERENCE };

npmd_status backend_open(const char *device, int threads, const field_plan *plan, backend *out,
                         npmd_error *err)
{
    if (strncmp(device, "cuda", 4) == 0)
        return npmd_fail(err, NPMD_ERR_DEVICE, "device %s: this build has no CUDA backend; choose cpu",
                         device);
    for (size_t i = 0; i < sizeof BACKENDS / sizeof *BACKENDS; i++)
        if (strcmp(BACKENDS[i]->name, device[0] == '\0' ? "cpu" : device) == 0) {
            out->ops = BACKENDS[i];
            return BACKENDS[i]->open(plan, threads, &out->self, err);
        }
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "device \"%s\" was found where cpu or reference was expected",
                     device);
}

void backend_close(backend *b)
{
    if (b->ops != NULL)
        b->ops->close(b->self);
    *b = (backend){ 0 };
}
