/* place.h - a folder of its own for a test program, the files in it, and what an error says. Nothing here calls the
 * library. */
#ifndef NPMD_TEST_PLACE_H
#define NPMD_TEST_PLACE_H

#include "check.h"
#include "neuropmd.h"

#include <dirent.h>

typedef struct place {
    char folder[256];
    char (*made)[1024]; /* the last four names made by in_folder, in turn */
    int turn;
    const char *path; /* the last of them */
} place;

const char *in_folder(place *p, const char *name);

int place_open(place *p);  /* 0, or -1 where no folder can be made */
int place_close(place *p); /* its files and empty folders go with it; not 0 when something else is left */

/* The same as a group's setup and teardown, where a place is all the state there is. */
int place_make(void **state);
int place_remove(void **state);

size_t files_in(const char *folder); /* hidden ones, too */
const char *put_bytes(place *p, const char *name, const void *bytes, size_t size);
const char *put_text(place *p, const char *name, const char *text);
unsigned char *get_bytes(const char *path, size_t *size); /* a zero behind them; the caller frees them */
void assert_same_bytes(const char *path, const char *other);
void assert_says(const npmd_error *err, const char *words);
void must(npmd_status st, const npmd_error *err); /* a failure ends the test with its sentence */

/* The path of a file in $NEUROPMD_SHARED, or a word that it is absent and NULL. */
const char *shared_file(place *p, const char *name);

#endif
