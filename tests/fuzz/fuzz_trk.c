/* fuzz_trk.c - files of streamlines that begin like TrackVis' ones, with the matrix of their header and with a given
 * one. */
#include "fuzz_tracts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    tracts_read_all(path, NULL);
    tracts_read_all(path, &AFFINE_IDENTITY);
    return 0;
}
