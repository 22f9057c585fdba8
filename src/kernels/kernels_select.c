/* kernels_select.c - chooses the variant of the kernels for this machine. */
#include "kernels.h"

#include <string.h>

extern const kernels kernels_plain;

#ifdef NPMD_X86
extern const kernels kernels_avx2, kernels_avx512;

static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512vl");
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static const struct {
    const kernels *table;
    int (*available)(void);
} WIDER[] = { { &kernels_avx512, has_avx512 }, { &kernels_avx2, has_avx2 } };
#define WIDER_COUNT (sizeof WIDER / sizeof *WIDER)
#else
static const struct {
    const kernels *table;
    int (*available)(void);
} WIDER[1];
#define WIDER_COUNT 0
#endif

const kernels *kernels_select(const char *name_or_null)
{
    for (size_t i = 0; i < WIDER_COUNT; i++)
        if (WIDER[i].available() && (name_or_null == NULL || strcmp(name_or_null, WIDER[i].table->name) == 0))
            return WIDER[i].table;
    if (name_or_null != NULL && strcmp(name_or_null, "plain") != 0)
        return NULL;
    return &kernels_plain;
}
