/* compute_api.c - checks where a caller wants something computed. */
#include "api.h"

npmd_status compute_take(const npmd_compute *given, npmd_compute *own, npmd_error *err)
{
    const backend_ops *ops = NULL;
    npmd_status st = NPMD_OK;
    TRY(SIZED_TAKE(given, own, err));
    TRY(backend_find(own->device, &ops, err));
    TRY(compute_check(own, err));
done:
    return st;
}
