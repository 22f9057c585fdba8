/* connectivity.h - what the files of the experiment `connectivity` share: a tractogram, its pairs of end points and its
 * results. */
#ifndef NEUROPMD_CONNECTIVITY_H
#define NEUROPMD_CONNECTIVITY_H

#include "reproduce.h"

struct reproduce_pairs {                            /* one tractogram */
    const char *tracks, *data;                      /* one of them, the other NULL */
    const char *surface, *sphere, *labels, *region; /* NULL: not given */
    const char *domain;                             /* as --domain says it */
    bool surfaces;                                  /* it is the surface, not its sphere */
    bool unordered;
    double max_distance;    /* of an end from the surface; 0: not given */
    char inputs[17];        /* hash of what the pairs are made of: files, and the space of tracks */
    char *name, *folder;    /* of its results */
    char *points, *results; /* files of pairs, and of lines */
};

/* reproduce_connectivity.c, reproduce_pairs.c, reproduce_maps.c */
int reproduce_connectivity(const cli_args *args);
char *reproduce_model_of(const reproduce_plan *plan, const reproduce_row *row); /* its file; free it */
npmd_status reproduce_pairs_check(const reproduce_plan *plan, npmd_error *err);
npmd_status reproduce_pairs_read(const reproduce_plan *plan, npmd_domain **domain, npmd_points **points,
                                 npmd_error *err);
/* The likelihood per area of the surface of fits that were done before without one; after all fits. */
int reproduce_pairs_areas(const reproduce_plan *plan);
/* "model": of a line, the hash of its file's bytes: does the file still hold that model? */
bool reproduce_model_is_there(const reproduce_plan *plan, const reproduce_task *task);
int reproduce_maps(const reproduce_plan *plan); /* of the first replicate */

#endif
