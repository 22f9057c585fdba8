/* connectivity.h - what the files of the experiment `connectivity` share: a tractogram, its pairs of end points and its
 * results. */
#ifndef NEUROPMD_CONNECTIVITY_H
#define NEUROPMD_CONNECTIVITY_H

#include "reproduce.h"

struct reproduce_pairs {                            /* one tractogram */
    const char *tracks, *data;                      /* one is given, the other NULL */
    const char *surface, *sphere, *labels, *region; /* NULL: not given */
    const char *domain;                             /* as given by --domain */
    bool surfaces;                                  /* the domain is on the surface, not on its sphere */
    bool unordered;
    double max_distance;    /* of an end from the surface; 0: not given */
    char inputs[17];        /* hash of the inputs of the pairs: files, and the space of tracks */
    char *name, *folder;    /* of the results */
    char *points, *results; /* file of pairs, and file of lines */
};

/* reproduce_connectivity.c, reproduce_pairs.c, reproduce_maps.c */
int reproduce_connectivity(const cli_args *args);
char *reproduce_model_of(const reproduce_plan *plan, const reproduce_row *row); /* path; to be freed */
npmd_status reproduce_pairs_check(const reproduce_plan *plan, npmd_error *err);
npmd_status reproduce_pairs_read(const reproduce_plan *plan, npmd_domain **domain, npmd_points **points,
                                 npmd_error *err);
/* After all fits: adds the likelihood per area of the surface to fits of earlier runs that lack it. */
int reproduce_pairs_areas(const reproduce_plan *plan);
/* Does the model file still have the hash that the line has as "model"? */
bool reproduce_model_is_there(const reproduce_plan *plan, const reproduce_task *task);
int reproduce_maps(const reproduce_plan *plan); /* maps of the first replicate */

#endif
