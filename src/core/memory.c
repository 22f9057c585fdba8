/* memory.c - zeroed memory aligned to a cache line; every size is multiplied here, with an overflow check. */
#include "core.h"

npmd_status memory_take(void **out, size_t count, size_t size, npmd_error *err)
{
    assert(size > 0);
    if (count > (SIZE_MAX - MEMORY_ALIGNMENT) / size)
        return npmd_fail(err, NPMD_ERR_MEMORY, "%zu elements of %zu bytes are more than this machine can address",
                         count, size);
    /* aligned_alloc wants a multiple of the alignment, and a non-zero size */
    const size_t bytes = (count * size + MEMORY_ALIGNMENT) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
    void *p = aligned_alloc(MEMORY_ALIGNMENT, bytes);
    if (p == NULL)
        return npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory: %zu bytes were asked for", bytes);
    memset(p, 0, bytes);
    *out = p;
    return NPMD_OK;
}

void memory_free(void *p)
{
    free(p);
}

void memory_free_each(void *const *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memory_free(p[i]);
}

npmd_status memory_text(char **out, const char *text, npmd_error *err)
{
    const size_t size = strlen(text) + 1;
    char *copy = NULL;
    const npmd_status st = memory_new(&copy, size, err);
    if (st == NPMD_OK) {
        memcpy(copy, text, size);
        *out = copy;
    }
    return st;
}

npmd_status memory_grow(void **p, size_t *capacity, size_t need, size_t size, npmd_error *err)
{
    if (need <= *capacity)
        return NPMD_OK;
    const size_t doubled = *capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * *capacity;
    const size_t count = need > doubled ? need : doubled;
    if (count > SIZE_MAX / size)
        return npmd_fail(err, NPMD_ERR_MEMORY, "%zu elements of %zu bytes are more than this machine can address",
                         count, size);
    void *grown = realloc(*p, count * size);
    if (grown == NULL)
        return npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory: %zu bytes were asked for", count * size);
    *p = grown;
    *capacity = count;
    return NPMD_OK;
}

void text_free(char *text)
{
    free(text);
}
