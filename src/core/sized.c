/* sized.c - structs that begin with their size, passed between a caller and the library, either of which may be
 * older. */
#include "core.h"

static npmd_status size_check(size_t found, const char *name, npmd_error *err)
{
    if (found >= sizeof(size_t) && found <= 65536)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "%s begins with size %zu: begin it with NPMD_SIZED", name, found);
}

npmd_status sized_check(const void *given, const char *name, npmd_error *err)
{
    size_t found = sizeof found;
    if (given != NULL)
        memcpy(&found, given, sizeof found);
    return size_check(found, name, err);
}

npmd_status sized_take(const void *given, void *own, size_t size, const char *name, npmd_error *err)
{
    size_t found = size;
    npmd_status st = NPMD_OK;
    memset(own, 0, size);
    if (given != NULL) {
        memcpy(&found, given, sizeof found);
        st = size_check(found, name, err);
        if (st == NPMD_OK)
            memcpy(own, given, found < size ? found : size);
    }
    memcpy(own, &size, sizeof size);
    return st;
}

npmd_status sized_give(const void *own, size_t size, void *given, const char *name, npmd_error *err)
{
    size_t found = 0;
    const npmd_status st = sized_check(given, name, err);
    if (st != NPMD_OK)
        return st;
    memcpy(&found, given, sizeof found);
    memcpy(given, own, found < size ? found : size);
    if (found > size)
        memset((char *)given + size, 0, found - size);
    memcpy(given, &found, sizeof found);
    return NPMD_OK;
}
