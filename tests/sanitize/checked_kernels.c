/* checked_kernels.c - which kernels a test runs on in a build with sanitizers.
 *
 * There the plain kernels are compiled with every access checked, the wider ones without: they are the same text, and
 * checked they would take most of a test's time. So tests run on the plain ones, unless they are long and said to be so
 * (NPMD_LONG in tests/CMakeLists.txt, which sets NPMD_TEST_KERNELS=fast): others call the same kernels from the same
 * places. The linker puts this function in the place of the library's. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

const kernels *__real_kernels_select(const char *name_or_null);
const kernels *__wrap_kernels_select(const char *name_or_null);

const kernels *__wrap_kernels_select(const char *name_or_null)
{
    const char *wanted = getenv("NPMD_TEST_KERNELS");
    const int fast = wanted != NULL && strcmp(wanted, "fast") == 0;
    return __real_kernels_select(name_or_null == NULL && !fast ? "plain" : name_or_null);
}
