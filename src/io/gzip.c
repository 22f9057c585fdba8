/* gzip.c - whole files, inflated if they are gzip files, whatever their name.
 *
 * A gzip file is a sequence of members, each with its own checksum and length; their contents are joined. The
 * stored length is not believed: memory grows with what comes out. */
#include "io.h"

#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib's words for: the largest window, and gzip's header and checksum */
#define FEED 1048576          /* bytes given to zlib at a time, and of first output */

static bool is_gzip(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static npmd_status damage_fail(const char *path, int code, size_t byte, npmd_error *err)
{
    if (code == Z_MEM_ERROR)
        return npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory to inflate it", path);
    if (code == Z_BUF_ERROR)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is truncated: its gzip data end too soon, after %zu bytes",
                         path, byte);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s is damaged: its gzip data before byte %zu make no sense", path,
                     byte + 1);
}

/* All members of packed, one behind the other, and a closing zero. */
static npmd_status members_inflate(const char *path, const file_bytes *packed, file_bytes *out,
                                   npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes b = { 0 };
    size_t capacity = 0, at = 0; /* at: bytes of packed that are used up */
    z_stream zip = { 0 };
    int code = inflateInit2(&zip, GZIP_WINDOW);
    const bool open = code == Z_OK;
    while (code == Z_OK) {
        if (capacity - b.size < 2) /* one for the closing zero */
            TRY(memory_grow((void **)&b.data, &capacity, capacity == 0 ? FEED : capacity + 1, 1, err));
        const size_t in = packed->size - at < FEED ? packed->size - at : FEED, room = capacity - 1 - b.size;
        zip.next_in = packed->data + at;
        zip.avail_in = (uInt)in;
        zip.next_out = b.data + b.size;
        zip.avail_out = (uInt)(room < FEED ? room : FEED);
        const uInt given = zip.avail_out;
        code = inflate(&zip, Z_NO_FLUSH); /* Z_BUF_ERROR: no input is left, though more was expected */
        at += in - zip.avail_in;
        b.size += given - zip.avail_out;
        if (code == Z_STREAM_END && at < packed->size)
            code = is_gzip(packed->data + at, packed->size - at) ? inflateReset(&zip) : Z_DATA_ERROR;
    }
    if (code != Z_STREAM_END) {
        st = damage_fail(path, code, at, err);
        goto done;
    }
    b.data[b.size] = 0;
    *out = b;
    b.data = NULL;
done:
    if (open)
        inflateEnd(&zip);
    memory_free(b.data);
    return st;
}

npmd_status gzip_read(const char *path, file_bytes *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes b = { 0 };
    TRY(file_read(path, &b, err));
    if (is_gzip(b.data, b.size)) {
        TRY(members_inflate(path, &b, out, err));
    } else if (b.size > 0 && file_has_suffix(path, ".gz")) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is no gzip file: it does not begin with the bytes 1f 8b",
                       path);
    } else {
        *out = b;
        b.data = NULL;
    }
done:
    file_bytes_free(&b);
    return st;
}
