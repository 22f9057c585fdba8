/* compute_api.c - checks where a caller wants something computed. */
#include "api.h"

npmd_status compute_take(const npmd_compute *given, npmd_compute *own, npmd_error *err)
{
    const backend_ops *ops = NULL;
    const npmd_status st = SIZED_TAKE(given, own, err);
    if (st != NPMD_OK)
        return st;
    if (own->threads < 0 || own->threads > PLAN_MOST_THREADS)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`threads`: %d lies outside 0 .. %d", own->threads, PLAN_MOST_THREADS);
    return backend_find(own->device, &ops, err);
}
