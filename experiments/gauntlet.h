/* gauntlet.h - the experiment `gauntlet`: many known densities, and real data sets, each fitted by every method.
 *
 * A subject is a truth of npmd_recipe_at or a data set. Tasks stand seed by seed, subject by subject, method by method;
 * the row of a task has its domain, its method, and its subject's name as settings; its replicate is the seed. */
#ifndef NEUROPMD_GAUNTLET_H
#define NEUROPMD_GAUNTLET_H

#include "reproduce.h"

typedef struct gauntlet_set { /* of real data, in a folder */
    const char *name, *domain;
    const char *file;   /* .npy */
    const char *splits; /* .npz of row numbers, "%d" stands for the split; NULL: a fifth of the rows is held out */
    int split_count;
    enum { SPLIT_ROWS, SPLIT_PAIRS, SPLIT_LAST } by; /* rows; pairs of places, either way round; the last tenth */
} gauntlet_set;

typedef struct gauntlet_subject {
    const char *name, *family, *domain;
    size_t n;                /* 0: what the data set has */
    const gauntlet_set *set; /* NULL: a truth */
} gauntlet_subject;

enum { GAUNTLET_SUBJECTS_MOST = 256, GAUNTLET_METHODS_MOST = 16 };
struct reproduce_gauntlet {
    const char *half;
    int first, seeds; /* first, first + 2, ... */
    gauntlet_subject subject[GAUNTLET_SUBJECTS_MOST];
    int subjects;
    char method[GAUNTLET_METHODS_MOST][32];
    int methods;
    reproduce_row *rows; /* (subjects, methods) */
    char *options;       /* of the rows, one behind the other */
    const char *folder;  /* of data sets, or NULL */
};

int reproduce_gauntlet_run(const cli_args *args);
const gauntlet_subject *gauntlet_subject_of(const reproduce_plan *plan, const reproduce_row *row);
void gauntlet_line_begin(const reproduce_plan *plan, const reproduce_task *task, cli_json *j);

/* gauntlet_data.c: the sets that a folder has, *at how many so far, those whose names match; says which are missing. */
void gauntlet_sets_find(const cli_args *args, const char *folder, const char *pattern, gauntlet_subject *subject,
                        int *at);
/* In the process of a task: points to fit, and points to score with. */
npmd_status gauntlet_set_read(const char *folder, const gauntlet_set *set, int seed, npmd_domain **domain,
                              npmd_points **train, npmd_points **test, npmd_error *err);

int gauntlet_report(const reproduce_plan *plan); /* gauntlet_report.c */

#endif
