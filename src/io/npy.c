/* npy.c - NumPy's .npy files, format versions 1, 2 and 3: little-endian float64 or float32 in C order.
 *
 *   bytes 0..5   \x93 N U M P Y        bytes 6, 7   version, major and minor
 *   bytes 8..    length of the header: 2 bytes in version 1, else 4; little-endian
 *   then         the header, a Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }
 *   then         the numbers, to the end of the file
 *
 * The header is parsed strictly: the three keys, once each, in any order, and nothing else. */
#include "io.h"

#include <ctype.h>
#include <stdio.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they stand in the file");
_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "f4 and f8 are float and double");

#define PREFIX "\x93NUMPY"
#define PREFIX_SIZE 6
#define SHAPE_TEXT 400 /* 16 numbers of at most 20 digits, and " x " between them */

typedef struct npy_header {
    char type[FILE_QUOTE + 4];
    bool fortran;
    size_t shape[NPY_MAX_DIMENSIONS];
    int dimensions;
} npy_header;

/* Where the parser stands; offset is the header's first byte in the file, for messages. */
typedef struct npy_parser {
    const char *path, *start, *at, *end;
    size_t offset;
} npy_parser;

static npmd_status parse_fail(const npy_parser *p, const char *expected, npmd_error *err)
{
    char quote[FILE_QUOTE + 4];
    file_quote(p->at, (size_t)(p->end - p->at), quote);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %zu: header has '%s' where %s was expected", p->path,
                     p->offset + (size_t)(p->at - p->start) + 1, quote, expected);
}

static void blanks_skip(npy_parser *p)
{
    while (p->at < p->end && isspace((unsigned char)*p->at))
        p->at++;
}

/* Takes c, with blanks before it, if it comes next. */
static bool char_take(npy_parser *p, char c)
{
    blanks_skip(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static npmd_status char_expect(npy_parser *p, char c, npmd_error *err)
{
    const char expected[] = { '\'', c, '\'', 0 };
    return char_take(p, c) ? NPMD_OK : parse_fail(p, expected, err);
}

static bool word_take(npy_parser *p, const char *word)
{
    const size_t length = strlen(word);
    blanks_skip(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* 'text' or "text", without escapes, of which NumPy's type names have none. */
static npmd_status string_parse(npy_parser *p, char out[FILE_QUOTE + 4], npmd_error *err)
{
    blanks_skip(p);
    const char quote = p->at < p->end ? *p->at : 0;
    if (quote != '\'' && quote != '"')
        return parse_fail(p, "a quoted string", err);
    const char *close = memchr(p->at + 1, quote, (size_t)(p->end - p->at - 1));
    if (close == NULL)
        return parse_fail(p, "a closed string", err);
    file_quote(p->at + 1, (size_t)(close - p->at - 1), out);
    p->at = close + 1;
    return NPMD_OK;
}

static npmd_status count_parse(npy_parser *p, size_t *out, npmd_error *err)
{
    size_t value = 0;
    blanks_skip(p);
    const char *first = p->at;
    for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++) {
        const size_t digit = (size_t)(*p->at - '0');
        if (value > (SIZE_MAX - digit) / 10) {
            p->at = first;
            return parse_fail(p, "a size below 2^64", err);
        }
        value = 10 * value + digit;
    }
    if (p->at == first)
        return parse_fail(p, "a size", err);
    if (p->at < p->end && *p->at == 'L') /* Python 2 wrote its long integers so */
        p->at++;
    *out = value;
    return NPMD_OK;
}

/* A tuple: (), (3,), (3, 2), (3, 2,). (3) is a number in parentheses. */
static npmd_status shape_parse(npy_parser *p, npy_header *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bool comma = true;
    TRY(char_expect(p, '(', err));
    while (!char_take(p, ')')) {
        if (!comma) {
            st = parse_fail(p, "',' or ')'", err);
            goto done;
        }
        if (h->dimensions == NPY_MAX_DIMENSIONS) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s has more than %d dimensions", p->path,
                           NPY_MAX_DIMENSIONS);
            goto done;
        }
        TRY(count_parse(p, &h->shape[h->dimensions], err));
        h->dimensions++;
        comma = char_take(p, ',');
    }
    if (h->dimensions == 1 && !comma) {
        p->at--; /* the parenthesis */
        st = parse_fail(p, "',' of a tuple", err);
    }
done:
    return st;
}

static npmd_status header_parse(npy_parser *p, npy_header *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    enum { DESCR, FORTRAN, SHAPE, KEYS };
    static const char *const NAMES[KEYS] = { "descr", "fortran_order", "shape" };
    bool seen[KEYS] = { false }, comma = true;
    char key[FILE_QUOTE + 4];
    TRY(char_expect(p, '{', err));
    while (!char_take(p, '}')) {
        if (!comma) {
            st = parse_fail(p, "',' or '}'", err);
            goto done;
        }
        const npy_parser before = *p;
        TRY(string_parse(p, key, err));
        int k = 0;
        while (k < KEYS && strcmp(key, NAMES[k]) != 0)
            k++;
        if (k == KEYS || seen[k]) {
            st = parse_fail(&before, "'descr', 'fortran_order' or 'shape', once each,", err);
            goto done;
        }
        seen[k] = true;
        TRY(char_expect(p, ':', err));
        if (k == DESCR) {
            TRY(string_parse(p, h->type, err));
        } else if (k == SHAPE) {
            TRY(shape_parse(p, h, err));
        } else {
            h->fortran = word_take(p, "True");
            if (!h->fortran && !word_take(p, "False")) {
                st = parse_fail(p, "True or False", err);
                goto done;
            }
        }
        comma = char_take(p, ',');
    }
    for (int k = 0; k < KEYS; k++)
        if (!seen[k]) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: header has no '%s'", p->path, NAMES[k]);
            goto done;
        }
    blanks_skip(p);
    if (p->at < p->end)
        st = parse_fail(p, "its end", err);
done:
    return st;
}

/* Finds the header and what follows it. */
static npmd_status header_read(const char *path, const file_bytes *b, npy_header *h, size_t *data_at,
                               npmd_error *err)
{
    if (b->size == 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty", path);
    if (b->size < PREFIX_SIZE || memcmp(b->data, PREFIX, PREFIX_SIZE) != 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is not an .npy file: it does not begin with \\x93NUMPY",
                         path);
    if (b->size < 8)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is truncated: it ends within its header", path);
    const unsigned major = b->data[6], minor = b->data[7];
    if (major < 1 || major > 3 || minor != 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s has .npy version %u.%u, expected 1.0, 2.0 or 3.0", path,
                         major, minor);
    const size_t digits = major == 1 ? 2 : 4, start = 8 + digits;
    size_t length = 0;
    if (b->size < start)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is truncated: it ends within its header", path);
    for (size_t i = 0; i < digits; i++)
        length |= (size_t)b->data[8 + i] << 8 * i;
    if (length > b->size - start)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s is truncated: its header should have %zu bytes, but %zu follow", path, length,
                         b->size - start);
    const char *text = (const char *)b->data + start;
    npy_parser p = { .path = path, .start = text, .at = text, .end = text + length, .offset = start };
    *data_at = start + length;
    return header_parse(&p, h, err);
}

static void shape_print(const npy_header *h, char text[SHAPE_TEXT])
{
    size_t used = 0;
    text[0] = 0;
    for (int d = 0; d < h->dimensions; d++)
        used += (size_t)snprintf(text + used, SHAPE_TEXT - used, "%s%zu", d == 0 ? "" : " x ", h->shape[d]);
}

/* Checks type, order and size against the bytes that follow, before anything is allocated. */
static npmd_status header_check(const char *path, const npy_header *h, size_t bytes, size_t *count,
                                size_t *size, npmd_error *err)
{
    char shape[SHAPE_TEXT];
    shape_print(h, shape);
    if (strcmp(h->type, "<f8") != 0 && strcmp(h->type, "<f4") != 0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s has numbers of type '%s', expected '<f8' or '<f4': save a.astype('<f8')", path,
                         h->type);
    if (h->dimensions == 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s holds a single number, expected an array", path);
    int wide = 0; /* in Fortran order the bytes are the same if at most one size exceeds 1 */
    for (int d = 0; d < h->dimensions; d++) {
        wide += h->shape[d] > 1;
        if (h->shape[d] == 0)
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty: header says %s", path, shape);
    }
    if (h->fortran && wide > 1)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s is in Fortran order, C order was expected: save np.ascontiguousarray(a)", path);
    const size_t item = h->type[2] == '8' ? 8 : 4, most = bytes / item;
    size_t product = 1;
    bool fits = true;
    for (int d = 0; d < h->dimensions && fits; d++) {
        fits = h->shape[d] <= most / product;
        if (fits)
            product *= h->shape[d];
    }
    if (!fits || product * item != bytes)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: header says %s of %zu bytes each, but %zu bytes follow",
                         path, shape, item, bytes);
    *count = product;
    *size = item;
    return NPMD_OK;
}

static npmd_status entry_fail(const char *path, const npy_header *h, size_t entry, double value,
                              npmd_error *err)
{
    const char *found = isnan(value) ? "NaN" : "infinity";
    npy_header index = *h; /* where the entry stands, counted from 1 for people */
    char place[SHAPE_TEXT];
    for (int d = h->dimensions - 1; d >= 0; d--) {
        index.shape[d] = entry % h->shape[d] + 1;
        entry /= h->shape[d];
    }
    if (h->dimensions <= 2)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s row %zu, column %zu: %s where a finite number was expected", path,
                         index.shape[0], h->dimensions == 2 ? index.shape[1] : 1, found);
    shape_print(&index, place);
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "%s entry %s, counted from 1: %s where a finite number was expected", path, place,
                     found);
}

static npmd_status array_read(const char *path, npy_header *h, double **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes b = { 0 };
    double *data = NULL;
    size_t data_at = 0, count = 0, item = 0;
    TRY(file_read(path, &b, err));
    TRY(header_read(path, &b, h, &data_at, err));
    TRY(header_check(path, h, b.size - data_at, &count, &item, err));
    if (item == 8) { /* the file's own memory becomes the array: a large file is not held twice */
        memmove(b.data, b.data + data_at, count * item);
        data = (double *)(void *)b.data;
        b.data = NULL;
    } else {
        TRY(memory_new(&data, count, err));
        for (size_t i = 0; i < count; i++) {
            float narrow;
            memcpy(&narrow, b.data + data_at + i * item, item);
            data[i] = (double)narrow;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(data[i])) {
            st = entry_fail(path, h, i, data[i], err);
            goto done;
        }
    *out = data;
    data = NULL;
done:
    memory_free(data);
    file_bytes_free(&b);
    return st;
}

npmd_status npy_read_array(const char *path, double **data, size_t shape[NPY_MAX_DIMENSIONS], int *dimensions,
                           npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npy_header h = { 0 };
    TRY(array_read(path, &h, data, err));
    memcpy(shape, h.shape, sizeof h.shape);
    *dimensions = h.dimensions;
done:
    return st;
}

npmd_status npy_read(const char *path, table *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npy_header h = { 0 };
    table t = { 0 };
    TRY(array_read(path, &h, &t.data, err));
    if (h.dimensions > 2) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s has %d dimensions, expected rows and columns", path,
                       h.dimensions);
        goto done;
    }
    t.rows = h.shape[0];
    t.columns = h.dimensions == 2 ? h.shape[1] : 1;
    TRY(memory_text(&t.path, path, err));
    *out = t;
    t = (table){ 0 };
done:
    table_free(&t);
    return st;
}

npmd_status npy_write(const char *path, const double *a, size_t rows, size_t columns, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    char shape[64], header[192];
    if (columns == 1)
        snprintf(shape, sizeof shape, "(%zu,)", rows);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", rows, columns);
    const int length = snprintf(header, sizeof header,
                                "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape);
    const int unpadded = PREFIX_SIZE + 4 + length + 1;
    const int padded = (unpadded + 63) / 64 * 64; /* as NumPy aligns the data */
    const unsigned header_size = (unsigned)(padded - PREFIX_SIZE - 4);
    const unsigned char start[4] = { 1, 0, (unsigned char)(header_size & 255),
                                     (unsigned char)(header_size >> 8) };
    TRY(file_writer_open(path, &w, err));
    TRY(file_writer_put(w, PREFIX, PREFIX_SIZE, err));
    TRY(file_writer_put(w, start, sizeof start, err));
    TRY(file_writer_print(w, err, "%s%*s\n", header, padded - unpadded, ""));
    TRY(file_writer_put(w, a, rows * columns * sizeof *a, err));
    st = file_writer_commit(w, err);
    w = NULL;
done:
    file_writer_abandon(w);
    return st;
}
