/* gzip.c - files, whole or in pieces, inflated if they are gzip files, whatever their name.
 *
 * A gzip file is a sequence of members, each with its own checksum and length; their contents are joined. The stored
 * length is not trusted: memory grows with the output. */
#include "io.h"

#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib's words for: the largest window, and gzip's header and checksum */
#define FEED 1048576          /* bytes given to zlib at a time, and of first output */
#define PIECE 65536           /* the same where a file is read in pieces */

static bool is_gzip(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static npmd_status damage_fail(const char *path, int code, size_t byte, npmd_error *err)
{
    if (code == Z_MEM_ERROR)
        return npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory to inflate it", path);
    if (code == Z_BUF_ERROR)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is truncated: its gzip data end too soon, after %zu bytes", path,
                         byte);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s is damaged: its gzip data before byte %zu make no sense", path,
                     byte + 1);
}

static npmd_status not_gzip_fail(const char *path, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s is no gzip file: it does not begin with the bytes 1f 8b", path);
}

/* All members of packed, one behind the other, and a closing zero. */
npmd_status gzip_inflate(const char *path, const unsigned char *packed, size_t size, file_start check, file_bytes *out,
                         npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bool unchecked = check != NULL;
    file_bytes b = { 0 };
    size_t capacity = 0, at = 0; /* at: bytes of packed that are used up */
    z_stream zip = { 0 };
    int code = inflateInit2(&zip, GZIP_WINDOW);
    const bool open = code == Z_OK;
    while (code == Z_OK) {
        if (capacity - b.size < 2) /* one for the closing zero */
            TRY(memory_grow((void **)&b.data, &capacity, capacity == 0 ? FEED : capacity + 1, 1, err));
        const size_t in = size - at < FEED ? size - at : FEED, room = capacity - 1 - b.size;
        zip.next_in = (unsigned char *)(uintptr_t)packed + at; /* not written to */
        zip.avail_in = (uInt)in;
        zip.next_out = b.data + b.size;
        zip.avail_out = (uInt)(room < FEED ? room : FEED);
        const uInt given = zip.avail_out;
        code = inflate(&zip, Z_NO_FLUSH); /* Z_BUF_ERROR: no input is left, though more was expected */
        at += in - zip.avail_in;
        b.size += given - zip.avail_out;
        if (code == Z_STREAM_END && at < size)
            code = is_gzip(packed + at, size - at) ? inflateReset(&zip) : Z_DATA_ERROR;
        if (unchecked && (b.size >= FILE_START || code == Z_STREAM_END)) {
            TRY(check(path, b.data, b.size < FILE_START ? b.size : FILE_START, err));
            unchecked = false;
        }
    }
    if (code != Z_STREAM_END)
        TRY(damage_fail(path, code, at, err));
    b.data[b.size] = 0;
    *out = b;
    b.data = NULL;
done:
    if (open)
        inflateEnd(&zip);
    memory_free(b.data);
    return st;
}

npmd_status gzip_read(const char *path, file_start check, file_bytes *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_source s = { 0 };
    file_bytes b = { 0 };
    unsigned char first[FILE_START];
    size_t count = 0;
    TRY(file_source_open(path, &s, err));
    TRY(file_source_take(&s, first, sizeof first, &count, err));
    const bool packed = is_gzip(first, count);
    if (!packed && count > 0 && file_has_suffix(path, ".gz"))
        TRY(not_gzip_fail(path, err));
    if (!packed && check != NULL)
        TRY(check(path, first, count, err));
    TRY(file_source_rest(&s, first, count, &b, err));
    if (packed) {
        TRY(gzip_inflate(path, b.data, b.size, check, out, err));
    } else {
        *out = b;
        b.data = NULL;
    }
done:
    file_bytes_free(&b);
    file_source_close(&s);
    return st;
}

/* ---- In pieces --------------------------------------------------------------------------------------------------- */

struct gzip_source {
    file_source file;
    z_stream zip;
    bool packed, open;   /* a gzip file; zlib has memory that is to be given back */
    bool over;           /* the last member has ended, and the file with it */
    unsigned char *feed; /* of the file: what zip.next_in points to, or what is to be handed out first */
    size_t read;         /* bytes of the file that were read into it */
};

/* More of the file, once all of the feed is used. */
static npmd_status feed_fill(gzip_source *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t got = 0;
    if (s->zip.avail_in > 0)
        goto done;
    TRY(file_source_take(&s->file, s->feed, PIECE, &got, err));
    s->read += got;
    s->zip.next_in = s->feed;
    s->zip.avail_in = (uInt)got;
done:
    return st;
}

npmd_status gzip_source_open(const char *path, gzip_source **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    gzip_source *s = NULL;
    TRY(memory_new(&s, 1, err));
    TRY(memory_new(&s->feed, PIECE, err));
    TRY(file_source_open(path, &s->file, err));
    TRY(feed_fill(s, err));
    s->packed = is_gzip(s->feed, s->zip.avail_in);
    if (s->packed) {
        const int code = inflateInit2(&s->zip, GZIP_WINDOW);
        s->open = code == Z_OK;
        if (!s->open)
            st = damage_fail(path, code, 0, err);
    } else if (s->zip.avail_in > 0 && file_has_suffix(path, ".gz")) {
        st = not_gzip_fail(path, err);
    }
    if (st == NPMD_OK) {
        *out = s;
        s = NULL;
    }
done:
    gzip_source_close(s);
    return st;
}

/* What inflates to at most size bytes (and fits zlib's counters); none (*got) only at the end. */
static npmd_status piece_inflate(gzip_source *s, unsigned char *out, size_t size, size_t *got, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const uInt room = (uInt)(size < PIECE ? size : PIECE);
    s->zip.next_out = out;
    s->zip.avail_out = room;
    while (!s->over && s->zip.avail_out == room) {
        TRY(feed_fill(s, err));
        int code = inflate(&s->zip, Z_NO_FLUSH); /* Z_BUF_ERROR: no input is left, though more was expected */
        if (code == Z_STREAM_END) {
            TRY(feed_fill(s, err));
            s->over = s->zip.avail_in == 0;
            code = s->over ? Z_OK : inflateReset(&s->zip); /* another member, or it will make no sense */
        }
        if (code != Z_OK)
            TRY(damage_fail(s->file.path, code, s->read - s->zip.avail_in, err));
    }
    *got = room - s->zip.avail_out;
done:
    return st;
}

npmd_status gzip_source_take(gzip_source *s, void *out, size_t size, size_t *got, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t done = 0, piece = 1;
    if (!s->packed) { /* what was looked at, then the file itself */
        done = s->zip.avail_in < size ? s->zip.avail_in : size;
        memcpy(out, s->zip.next_in, done);
        s->zip.next_in += done;
        s->zip.avail_in -= (uInt)done;
        if (done < size)
            TRY(file_source_take(&s->file, (unsigned char *)out + done, size - done, &piece, err));
        done += done < size ? piece : 0;
    }
    while (s->packed && done < size && piece > 0) {
        TRY(piece_inflate(s, (unsigned char *)out + done, size - done, &piece, err));
        done += piece;
    }
    *got = done;
done:
    return st;
}

void gzip_source_close(gzip_source *s)
{
    if (s == NULL)
        return;
    if (s->open)
        inflateEnd(&s->zip);
    file_source_close(&s->file);
    memory_free_all(s->feed, s);
}
