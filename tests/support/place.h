/* place.h - a temporary folder for a test program, its files, and checks of messages. Nothing here calls the
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
int place_close(place *p); /* removes its files and empty folders; not 0 when something else is left */

/* The same as setup and teardown of a group whose only state is a place. */
int place_make(void **state);
int place_remove(void **state);

size_t files_in(const char *folder); /* number of files, including hidden ones */
const char *put_bytes(place *p, const char *name, const void *bytes, size_t size);
const char *put_text(place *p, const char *name, const char *text);
unsigned char *get_bytes(const char *path, size_t *size); /* followed by a zero byte; the caller frees them */
void assert_same_bytes(const char *path, const char *other);
void assert_says(const npmd_error *err, const char *words);
void must(npmd_status st, const npmd_error *err); /* a failure ends the test with its message */

/* The path of a file in $NEUROPMD_SHARED; NULL, with a message, if it is absent. */
const char *shared_file(place *p, const char *name);

#endif
