/* fuzz_obj.c - Wavefront's .obj. */
#include "fuzz_surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return surface_fuzz(data, size, obj_read);
}
