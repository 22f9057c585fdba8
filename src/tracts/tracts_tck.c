/* tracts_tck.c - MRtrix' .tck files.
 *
 *   mrtrix tracks          lines of text up to END; other lines are skipped
 *   datatype: Float32LE    or Float32BE, Float64LE, Float64BE
 *   count: 1000            streamlines; absent or 0: not counted
 *   file: . 67             the numbers are in this file, from byte 67 on (counted from 0); absent: after END
 *   END
 *
 * The numbers are triples, points in RAS mm; a triple of NaN closes a streamline, a triple of infinities the file. A
 * streamline without points counts, as in the weights of SIFT2. */
#include "tracts.h"

#include <stdio.h>

typedef struct tck_header {
    size_t length; /* up to and with the line END */
    size_t data;   /* where the numbers begin; 0: it does not say */
    bool typed;
} tck_header;

static npmd_status line_fail(const tracts *t, const char *key, span value, const char *expected, npmd_error *err)
{
    char quote[FILE_QUOTE + 4];
    file_quote(value.at, (size_t)(value.end - value.at), quote);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: its header has %s '%s', expected %s", t->path, key, quote, expected);
}

/* Digits and nothing else. */
static bool line_number(span l, size_t *out)
{
    size_t value = 0;
    if (l.at == l.end)
        return false;
    for (; l.at < l.end; l.at++) {
        if (*l.at < '0' || *l.at > '9' || value > (SIZE_MAX - 9) / 10)
            return false;
        value = 10 * value + (size_t)(*l.at - '0');
    }
    *out = value;
    return true;
}

static npmd_status type_read(tracts *t, span value, npmd_error *err)
{
    static const struct {
        const char *name;
        number_type type;
        bool big_endian;
    } TYPES[] = {
        { "Float32LE", NUMBER_F32, false },
        { "Float32BE", NUMBER_F32, true },
        { "Float64LE", NUMBER_F64, false },
        { "Float64BE", NUMBER_F64, true },
    };
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (span_is(value, TYPES[i].name)) {
            t->type = TYPES[i].type;
            t->big_endian = TYPES[i].big_endian;
            return NPMD_OK;
        }
    return line_fail(t, "datatype:", value, "Float32LE, Float32BE, Float64LE or Float64BE", err);
}

static npmd_status pair_read(tracts *t, span key, span value, tck_header *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (span_is(key, "datatype")) {
        TRY(type_read(t, value, err));
        h->typed = true;
    } else if (span_is(key, "count") && !line_number(value, &t->count)) {
        st = line_fail(t, "count:", value, "a number", err);
    } else if (span_is(key, "file")) {
        const bool here = value.end - value.at > 1 && value.at[0] == '.' && (value.at[1] == ' ' || value.at[1] == '\t');
        if (!here || !line_number(span_trim((span){ value.at + 1, value.end }), &h->data))
            st = line_fail(t, "file:", value, "a dot and the byte at which the numbers begin", err);
    }
done:
    return st;
}

/* The lines behind the first one, up to END. */
static npmd_status lines_read(tracts *t, const char *text, size_t size, tck_header *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *end = text + size;
    for (const char *at = text, *next; at < end; at = next) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL)
            break;
        next = stop + 1;
        const span line = span_trim((span){ at, stop });
        if (span_is(line, "END")) {
            h->length = (size_t)(next - text);
            goto done;
        }
        const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
        if (at != text && colon != NULL)
            TRY(pair_read(t, span_trim((span){ line.at, colon }), span_trim((span){ colon + 1, line.end }), h, err));
    }
    st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is cut short, or no .tck file: its header has no line END", t->path);
done:
    return st;
}

/* Skips the bytes between header and numbers. */
static npmd_status bytes_pass(tracts *t, size_t count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const unsigned char *bytes = NULL;
    while (count > 0) {
        const size_t step = count < TRACTS_WINDOW ? count : TRACTS_WINDOW;
        size_t got = 0;
        TRY(tracts_peek(t, step, &bytes, &got, err));
        if (got < step)
            TRY(tracts_cut_fail(t, got, err));
        tracts_skip(t, step);
        count -= step;
    }
done:
    return st;
}

static npmd_status tck_header_read(tracts *t, const affine *voxel_to_ras, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const unsigned char *bytes = NULL;
    tck_header h = { 0 };
    size_t got = 0;
    if (voxel_to_ras != NULL)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                      "%s is a .tck file, in RAS mm already: an affine from voxels is for .trk files", t->path));
    TRY(tracts_peek(t, TRACTS_WINDOW, &bytes, &got, err));
    TRY(lines_read(t, (const char *)bytes, got, &h, err));
    if (!h.typed)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: its header has no datatype", t->path));
    if (h.data != 0 && h.data < h.length)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: its numbers should begin at byte %zu, within the header of %zu bytes",
                      t->path, h.data, h.length));
    TRY(bytes_pass(t, h.data != 0 ? h.data : h.length, err));
done:
    return st;
}

typedef enum triple_kind { TRIPLE_POINT, TRIPLE_CLOSE, TRIPLE_END, TRIPLE_NONSENSE } triple_kind;

static triple_kind triple_classify(const double x[3])
{
    if (isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]))
        return TRIPLE_POINT;
    if (isnan(x[0]) && isnan(x[1]) && isnan(x[2]))
        return TRIPLE_CLOSE;
    return isinf(x[0]) && isinf(x[1]) && isinf(x[2]) ? TRIPLE_END : TRIPLE_NONSENSE;
}

/* Behind the infinities: nothing, and as many streamlines as were announced. */
static npmd_status end_check(tracts *t, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const unsigned char *bytes = NULL;
    char found[64];
    size_t got = 0;
    TRY(tracts_peek(t, 1, &bytes, &got, err));
    if (got > 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %zu: more follows the infinities that end it", t->path,
                      t->at + 1));
    snprintf(found, sizeof found, "it has %zu and ends", t->done);
    if (t->count > 0 && t->count != t->done)
        st = tracts_count_fail(t, found, err);
done:
    return st;
}

static npmd_status tck_next(tracts *t, streamline *out, bool *more, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t row = 3 * number_size(t->type);
    const unsigned char *bytes = NULL;
    double x[3];
    for (;;) {
        size_t got = 0;
        TRY(tracts_peek(t, row, &bytes, &got, err));
        if (got < row)
            TRY(tracts_cut_fail(t, got, err));
        tracts_point(t, bytes, x);
        const triple_kind kind = triple_classify(x);
        if (kind == TRIPLE_NONSENSE || (kind == TRIPLE_END && out->points > 0))
            TRY(npmd_fail(
                err, NPMD_ERR_FORMAT, "%s byte %zu: %s in streamline %zu, which NaN should close", t->path, t->at + 1,
                kind == TRIPLE_END ? "the infinities that end the file stand" : "a point is not finite", t->done + 1));
        tracts_skip(t, row);
        if (kind == TRIPLE_END)
            TRY(end_check(t, err));
        *more = kind != TRIPLE_END;
        if (kind != TRIPLE_POINT)
            goto done;
        TRY(tracts_keep(t, out->points, x, err));
        if (out->points++ == 0)
            memcpy(out->start, x, sizeof x);
        memcpy(out->end, x, sizeof x);
    }
done:
    return st;
}

const tracts_format TRACTS_TCK = { .magic = "mrtrix tracks", .header = tck_header_read, .next = tck_next };
