/* meshes.h - small closed surfaces, and their files in every format and encoding, byte by byte. Nothing here calls the
 * library. */
#ifndef NPMD_TEST_MESHES_H
#define NPMD_TEST_MESHES_H

#include "place.h"

#include <stdbool.h>

typedef struct shape {
    size_t vertices, faces;
    const double *x; /* (vertices, 3), each a float32 */
    const int32_t *face;
} shape;
extern const shape TETRAHEDRON, OCTAHEDRON, ICOSAHEDRON;

typedef struct buffer { /* bytes of a file; free its data */
    unsigned char *data;
    size_t size, room;
} buffer;
void buffer_put(buffer *b, const void *bytes, size_t size);
void buffer_print(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number in binary: 'b' one byte, 'i' and 'l' integers of 4 and 8, 'f' and 'd' floats of 4 and 8. */
void buffer_number(buffer *b, double value, char type, bool big_endian);

typedef struct file_kind {
    const char *name; /* with its suffix */
    void (*make)(const shape *s, int variant, buffer *out);
    int variant;
} file_kind;
extern const file_kind FILE_KINDS[];
extern const size_t FILE_KIND_COUNT;

/* Appends a GIFTI array as the text of its Data element; encoding: 'a' ASCII, 'b' base64, 'z' deflated base64. */
void gifti_data_put(buffer *b, const double *value, size_t rows, size_t columns, char type, char encoding,
                    bool big_endian, bool column_major);

#endif
