/* fuzz_ply.c - Stanford's .ply, in text and binary. */
#include "fuzz_surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return surface_fuzz(data, size, ply_read);
}
