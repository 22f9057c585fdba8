/* fuzz_gifti.c - surfaces in GIFTI files. */
#include "fuzz_surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return surface_fuzz(data, size, gifti_mesh_read);
}
