/* fuzz_vtk.c - VTK's legacy polygons, in text and binary. */
#include "fuzz_surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return surface_fuzz(data, size, vtk_read);
}
