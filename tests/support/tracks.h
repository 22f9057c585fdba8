/* tracks.h - small files of streamlines, written byte by byte from the formats' descriptions. Nothing here calls the
 * library. */
#ifndef NPMD_TEST_TRACKS_H
#define NPMD_TEST_TRACKS_H

#include "check.h"

#include <stdbool.h>

typedef struct track_bytes {
    unsigned char *data;
    size_t size, room;
    bool big_endian;
} track_bytes;
void track_put(track_bytes *b, const void *bytes, size_t size);
void track_put_integer(track_bytes *b, int64_t value, size_t width);
void track_put_real(track_bytes *b, double value, size_t width); /* 4 or 8 bytes */
void track_free(track_bytes *b);

typedef struct trk_header { /* start from TRK_PLAIN */
    int version, dim[3], scalars, properties, count, size;
    double voxel[3], matrix[4][4];
    const char *order;
    bool big_endian;
} trk_header;
extern const trk_header TRK_PLAIN; /* 1 mm voxels, RAS, the identity */
void trk_begin(track_bytes *b, const trk_header *h);
/* Scalars and properties are numbers far from all coordinates, so that taking them for coordinates is noticed. */
void trk_line(track_bytes *b, const trk_header *h, size_t points, const double (*x)[3]);

/* type: "Float32LE", ...; count: the text after "count:", NULL: no such line. */
void tck_begin(track_bytes *b, const char *type, const char *count);
void tck_line(track_bytes *b, const char *type, size_t points, const double (*x)[3]);
void tck_end(track_bytes *b, const char *type);

/* The same bytes as a gzip file of one or more members. */
void track_zip(const track_bytes *b, size_t members, track_bytes *out);

#endif
