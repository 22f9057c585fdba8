/* fuzz_freesurfer.c - FreeSurfer's binary surfaces. */
#include "fuzz_surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return surface_fuzz(data, size, freesurfer_read);
}
