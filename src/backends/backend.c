/* backend.c - the list of backends. */
#include "backend.h"

static const backend_ops *const BACKENDS[] = { &BACKEND_CPU, &BACKEND_REFERENCE, &BACKEND_CUDA };

/* Does text say "name", or, where devices are counted, "name:k" with k up to 99? */
static bool device_named(const char *text, const backend_ops *ops, int *number)
{
    const size_t length = strlen(ops->name);
    *number = 0;
    if (strncmp(text, ops->name, length) != 0)
        return false;
    text += length;
    if (*text == '\0')
        return true;
    if (ops->present == NULL || *text++ != ':' || *text == '\0')
        return false;
    for (; '0' <= *text && *text <= '9' && *number <= 9; text++)
        *number = 10 * *number + (*text - '0');
    return *text == '\0';
}

npmd_status backend_find_device(const char *device, const backend_ops **out, int *number, npmd_error *err)
{
    const char *name = device == NULL || device[0] == '\0' ? "cpu" : device;
    for (size_t i = 0; i < sizeof BACKENDS / sizeof *BACKENDS; i++) {
        const backend_ops *ops = BACKENDS[i];
        if (!device_named(name, ops, number))
            continue;
        const npmd_status st = ops->present == NULL ? NPMD_OK : ops->present(*number, err);
        if (st == NPMD_OK)
            *out = ops;
        return st;
    }
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "`device` %s: cpu, reference, cuda or cuda:k was expected", device);
}

npmd_status backend_find(const char *device, const backend_ops **out, npmd_error *err)
{
    int number = 0;
    return backend_find_device(device, out, &number, err);
}

npmd_status backend_open(const char *device, int threads, const field_plan *plan, backend *out, npmd_error *err)
{
    const backend_ops *ops = NULL;
    int number = 0;
    npmd_status st = backend_find_device(device, &ops, &number, err);
    if (st == NPMD_OK)
        st = ops->open(plan, number, threads, &out->self, err);
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
