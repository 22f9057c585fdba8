/* fuzz_off.c - Geomview's .off. */
#include "fuzz_surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return surface_fuzz(data, size, off_read);
}
