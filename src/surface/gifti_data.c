/* gifti_data.c - the text of a Data element to numbers, and back: numbers in ASCII, or their bytes in base64 (RFC
 * 4648); GZipBase64Binary deflates them first (in zlib's format; gzip's is read as well). */
#include "mesh_formats.h"

#include <zlib.h>

/* ---- base64 ------------------------------------------------------------------------------------------------------ */

/* out has room for 3 bytes of every 4 characters. Blanks do not count; = fills the last four up. */
static npmd_status base64_decode(const scanner *where, const char *text, size_t size, unsigned char *out, size_t *bytes,
                                 npmd_error *err)
{
    uint32_t bits = 0;
    size_t digits = 0, fill = 0;
    *bytes = 0;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        const int digit = base64_digit(c);
        if (c == ' ' || (c >= '\t' && c <= '\r'))
            continue;
        if (c == '=' ? ++fill > 2 : digit < 0 || fill > 0)
            return scan_fail(where, err, "character %zu of the data is none of base64", i + 1);
        bits = bits << 6 | (uint32_t)(digit < 0 ? 0 : digit);
        if (++digits % 4 == 0)
            for (size_t k = 0; k < 3 - fill; k++)
                out[(*bytes)++] = (unsigned char)(bits >> (16 - 8 * k));
    }
    if (digits % 4 != 0)
        return scan_fail(where, err, "its data are truncated: %zu characters are no fours of base64", digits);
    return NPMD_OK;
}

npmd_status gifti_encode(file_writer *w, const void *bytes, size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *packed = NULL;
    char *text = NULL;
    uLongf length = compressBound((uLong)size);
    TRY(memory_new(&packed, length, err));
    if (compress(packed, &length, bytes, (uLong)size) != Z_OK)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to compress %zu bytes", size));
    TRY(memory_new(&text, (length / 3 + 1) * 4, err));
    TRY(file_writer_put(w, text, base64_encode(packed, length, text), err));
done:
    memory_free_all(packed, text);
    return st;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Of the entry that stands at place i of the data, its place in row-major order. */
static size_t place_of(const gifti_array *a, size_t i)
{
    return a->column_major ? i % a->rows * a->columns + i / a->rows : i;
}

static npmd_status short_fail(const scanner *where, const gifti_array *a, npmd_error *err)
{
    return scan_fail(where, err, "%zu x %zu numbers are announced, but its data hold fewer", a->rows, a->columns);
}

static npmd_status ascii_decode(const scanner *where, const char *text, size_t size, gifti_array *a, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t count = a->rows * a->columns;
    scanner s = *where; /* its line stays that of the element */
    s.start = s.at = text;
    s.end = text + size;
    if (count > (size + 1) / 2) /* a digit and a blank each */
        TRY(short_fail(where, a, err));
    TRY(memory_new(&a->value, count, err));
    for (size_t i = 0; i < count; i++)
        TRY(scan_number(&s, a->type, "a number of the array", &a->value[place_of(a, i)], err));
    if (!scan_ends(&s))
        st = scan_unexpected(&s, "the end of the data", err);
done:
    return st;
}

/* Inflates to exactly size bytes. */
static npmd_status inflate_all(const scanner *where, const unsigned char *packed, size_t packed_size,
                               const gifti_array *a, unsigned char *out, size_t size, npmd_error *err)
{
    z_stream zip = { 0 };
    int code = inflateInit2(&zip, 15 + 32); /* zlib's words for: the largest window, either header */
    if (code == Z_OK) {
        zip.next_in = (unsigned char *)(uintptr_t)packed; /* not written to */
        zip.avail_in = (uInt)packed_size;
        zip.next_out = out;
        zip.avail_out = (uInt)size;
        code = inflate(&zip, Z_FINISH);
        inflateEnd(&zip);
    }
    if (code == Z_MEM_ERROR)
        return npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory to inflate it", where->path);
    if (code == Z_BUF_ERROR && zip.avail_out > 0)
        return short_fail(where, a, err);
    if (code == Z_BUF_ERROR)
        return scan_fail(where, err, "%zu x %zu numbers are announced, but its data hold more", a->rows, a->columns);
    if (code != Z_STREAM_END || zip.avail_in > 0)
        return scan_fail(where, err, "its compressed data are damaged");
    return zip.avail_out == 0 ? NPMD_OK : short_fail(where, a, err);
}

/* Deflated data hold at most 1032 bytes in one. */
#define DEFLATE_MOST 1032

static npmd_status bytes_decode(const scanner *where, const char *text, size_t size, gifti_array *a, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *bytes = NULL, *inflated = NULL;
    const unsigned char *from = NULL;
    const size_t count = a->rows * a->columns, item = number_size(a->type);
    size_t have = 0;
    TRY(memory_new(&bytes, size / 4 * 3 + 3, err));
    TRY(base64_decode(where, text, size, bytes, &have, err));
    from = bytes;
    if (a->encoding == GIFTI_GZIP_BASE64) {
        if (count > (have + 1) * DEFLATE_MOST / item || count * item > UINT32_MAX)
            TRY(short_fail(where, a, err));
        TRY(memory_new(&inflated, count * item, err));
        TRY(inflate_all(where, bytes, have, a, inflated, count * item, err));
        from = inflated;
    } else if (count > have / item || have != count * item)
        TRY(scan_fail(where, err, "%zu x %zu numbers of %zu bytes are announced, but its data hold %zu bytes", a->rows,
                      a->columns, item, have));
    TRY(memory_new(&a->value, count, err));
    for (size_t i = 0; i < count; i++)
        a->value[place_of(a, i)] = number_decode(from + i * item, a->type, a->big_endian);
done:
    memory_free_all(bytes, inflated);
    return st;
}

npmd_status gifti_decode(const scanner *where, const char *text, size_t size, gifti_array *a, npmd_error *err)
{
    return a->encoding == GIFTI_ASCII ? ascii_decode(where, text, size, a, err)
                                      : bytes_decode(where, text, size, a, err);
}
