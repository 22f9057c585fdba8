/* fuzz_tracts.h - a file of streamlines from its beginning to its end, or to what is wrong with it. */
#ifndef NPMD_FUZZ_TRACTS_H
#define NPMD_FUZZ_TRACTS_H

#include "fuzz.h"
#include "tracts.h"

static inline void tracts_read_all(const char *path, const affine *voxel_to_ras)
{
    tracts *t = NULL;
    npmd_error err = { 0 };
    streamline s = { 0 };
    npmd_status st = tracts_open(path, voxel_to_ras, &t, &err);
    PROMISE((st == NPMD_OK) == (t != NULL));
    if (t != NULL && voxel_to_ras == NULL)
        tracts_keep_paths(t);
    for (bool more = true; st == NPMD_OK && more;) {
        st = tracts_next(t, &s, &more, &err);
        for (int k = 0; k < 3 && st == NPMD_OK; k++)
            PROMISE(isfinite(s.start[k]) && isfinite(s.end[k]));
    }
    PROMISE(st == NPMD_OK || ((st == NPMD_ERR_FORMAT || st == NPMD_ERR_ARGUMENT) && err.text[0] != 0));
    tracts_close(t);
}

#endif
