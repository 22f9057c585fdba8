/* tracks.c - files of streamlines, byte by byte. */
#include "tracks.h"

#include <zlib.h>

void track_put(track_bytes *b, const void *bytes, size_t size)
{
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size) + 1024;
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    memcpy(b->data + b->size, bytes, size);
    b->size += size;
}

void track_put_integer(track_bytes *b, int64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        const size_t digit = b->big_endian ? width - 1 - i : i;
        const unsigned char byte = (unsigned char)((uint64_t)value >> 8 * digit & 255u);
        track_put(b, &byte, 1);
    }
}

void track_put_real(track_bytes *b, double value, size_t width)
{
    const float single = (float)value;
    uint32_t narrow;
    uint64_t wide;
    memcpy(&narrow, &single, sizeof narrow);
    memcpy(&wide, &value, sizeof wide);
    track_put_integer(b, width == 4 ? (int64_t)narrow : (int64_t)wide, width);
}

void track_free(track_bytes *b)
{
    free(b->data);
    *b = (track_bytes){ 0 };
}

/* ---- TrackVis ---------------------------------------------------------------------------------------------------- */

const trk_header TRK_PLAIN = {
    .version = 2,
    .size = 1000,
    .dim = { 10, 20, 30 },
    .voxel = { 1, 1, 1 },
    .matrix = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } },
    .order = "RAS",
};

static void put_zeros(track_bytes *b, size_t until)
{
    while (b->size < until)
        track_put(b, "", 1);
}

void trk_begin(track_bytes *b, const trk_header *h)
{
    char order[4] = { 0 };
    b->big_endian = h->big_endian;
    memcpy(order, h->order, strlen(h->order) < 4 ? strlen(h->order) : 4);
    track_put(b, "TRACK", 6);
    for (int i = 0; i < 3; i++)
        track_put_integer(b, h->dim[i], 2);
    for (int i = 0; i < 3; i++)
        track_put_real(b, h->voxel[i], 4);
    put_zeros(b, 36);
    track_put_integer(b, h->scalars, 2);
    put_zeros(b, 238);
    track_put_integer(b, h->properties, 2);
    put_zeros(b, 440);
    for (int i = 0; i < 16; i++)
        track_put_real(b, h->matrix[i / 4][i % 4], 4);
    put_zeros(b, 948);
    track_put(b, order, 4);
    put_zeros(b, 988);
    track_put_integer(b, h->count, 4);
    track_put_integer(b, h->version, 4);
    track_put_integer(b, h->size, 4);
}

void trk_line(track_bytes *b, const trk_header *h, size_t points, const double (*x)[3])
{
    track_put_integer(b, (int64_t)points, 4);
    for (size_t i = 0; i < points; i++) {
        for (int k = 0; k < 3; k++)
            track_put_real(b, x[i][k], 4);
        for (int k = 0; k < h->scalars; k++)
            track_put_real(b, 1e6, 4);
    }
    for (int k = 0; k < h->properties; k++)
        track_put_real(b, -1e6, 4);
}

/* ---- MRtrix ------------------------------------------------------------------------------------------------------ */

static size_t width_of(const char *type)
{
    return strstr(type, "64") != NULL ? 8 : 4;
}

void tck_begin(track_bytes *b, const char *type, const char *count)
{
    char text[256], line[64] = "";
    b->big_endian = strstr(type, "BE") != NULL;
    if (count != NULL)
        snprintf(line, sizeof line, "count: %s\n", count);
    const int length = snprintf(text, sizeof text,
                                "mrtrix tracks\nstep_size: 0.5\ndatatype: %s\n%stimestamp: 1\nfile: . 200\nEND\n", type,
                                line);
    track_put(b, text, (size_t)length);
    put_zeros(b, 200);
}

void tck_line(track_bytes *b, const char *type, size_t points, const double (*x)[3])
{
    for (size_t i = 0; i <= points; i++)
        for (int k = 0; k < 3; k++)
            track_put_real(b, i < points ? x[i][k] : (double)NAN, width_of(type));
}

void tck_end(track_bytes *b, const char *type)
{
    for (int k = 0; k < 3; k++)
        track_put_real(b, (double)INFINITY, width_of(type));
}

/* ---- gzip -------------------------------------------------------------------------------------------------------- */

void track_zip(const track_bytes *b, size_t members, track_bytes *out)
{
    for (size_t m = 0; m < members; m++) {
        const size_t first = b->size * m / members, size = b->size * (m + 1) / members - first;
        z_stream zip = { 0 };
        assert_int_equal(deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        const size_t room = deflateBound(&zip, (uLong)size);
        unsigned char *packed = malloc(room);
        assert_non_null(packed);
        zip.next_in = b->data + first;
        zip.avail_in = (uInt)size;
        zip.next_out = packed;
        zip.avail_out = (uInt)room;
        assert_int_equal(deflate(&zip, Z_FINISH), Z_STREAM_END);
        track_put(out, packed, room - zip.avail_out);
        deflateEnd(&zip);
        free(packed);
    }
}
