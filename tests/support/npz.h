/* npz.h - reads NumPy's .npz archives for the golden tests: zip files of .npy arrays, stored or deflated.
 *
 * Every array is converted to doubles in C order, whatever its type (f4, f8, i4, i8, little-endian) and order. At most
 * two dimensions: a scalar is 1 x 1, a vector n x 1. */
#ifndef NPMD_TEST_NPZ_H
#define NPMD_TEST_NPZ_H

#include <stddef.h>

typedef struct npz_array {
    char name[64]; /* without .npy */
    size_t rows, cols;
    double *x; /* (rows, cols) */
} npz_array;

typedef struct npz {
    int count;
    npz_array *array;
} npz;

/* 0, or -1 with a reason in why (a static text); out is empty then. */
int npz_read(const char *path, npz *out, const char **why);
const npz_array *npz_find(const npz *z, const char *name); /* NULL when absent */
void npz_free(npz *z);

#endif
