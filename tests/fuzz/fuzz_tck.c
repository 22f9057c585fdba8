/* fuzz_tck.c - files of streamlines that begin like MRtrix' ones. */
#include "fuzz_tracts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tracts_read_all(fuzz_file(data, size), NULL);
    return 0;
}
