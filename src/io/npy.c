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
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they stand in the file");
_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "f4 and f8 are float and double");

#define PREFIX "\x93NUMPY"
#define PREFIX_SIZE 6
#define HEADER_MOST 1048576 /* bytes; 16 sizes need some hundred, the rest would be blanks */
#define PIECE 65536         /* numbers read at a time */
#define SHAPE_TEXT 400      /* 16 numbers of at most 20 digits, and " x " between them */

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
        if (!comma)
            TRY(parse_fail(p, "',' or ')'", err));
        if (h->dimensions == NPY_MAX_DIMENSIONS)
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s has more than %d dimensions", p->path, NPY_MAX_DIMENSIONS));
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
        if (!comma)
            TRY(parse_fail(p, "',' or '}'", err));
        const npy_parser before = *p;
        TRY(string_parse(p, key, err));
        int k = 0;
        while (k < KEYS && strcmp(key, NAMES[k]) != 0)
            k++;
        if (k == KEYS || seen[k])
            TRY(parse_fail(&before, "'descr', 'fortran_order' or 'shape', once each,", err));
        seen[k] = true;
        TRY(char_expect(p, ':', err));
        if (k == DESCR) {
            TRY(string_parse(p, h->type, err));
        } else if (k == SHAPE) {
            TRY(shape_parse(p, h, err));
        } else {
            h->fortran = word_take(p, "True");
            if (!h->fortran && !word_take(p, "False"))
                TRY(parse_fail(p, "True or False", err));
        }
        comma = char_take(p, ',');
    }
    for (int k = 0; k < KEYS; k++)
        if (!seen[k])
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: header has no '%s'", p->path, NAMES[k]));
    blanks_skip(p);
    if (p->at < p->end)
        st = parse_fail(p, "its end", err);
done:
    return st;
}

/* Reads what stands before the header: *start is the header's first byte in the file, *length its length. */
static npmd_status preamble_read(file_source *s, size_t *start, size_t *length, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char first[PREFIX_SIZE + 2] = { 0 }, digit[4] = { 0 };
    size_t got = 0;
    TRY(file_source_take(s, first, sizeof first, &got, err));
    if (got == 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty", s->path));
    if (got < PREFIX_SIZE || memcmp(first, PREFIX, PREFIX_SIZE) != 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is not an .npy file: it does not begin with \\x93NUMPY", s->path));
    const unsigned major = first[6], minor = first[7];
    if (got == sizeof first && (major < 1 || major > 3 || minor != 0))
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s has .npy version %u.%u, expected 1.0, 2.0 or 3.0", s->path, major,
                      minor));
    const size_t digits = major == 1 ? 2 : 4;
    TRY(file_source_take(s, digit, digits, &got, err)); /* nothing is got if the file has ended before */
    if (got < digits)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is truncated: it ends within its header", s->path));
    *start = sizeof first + digits;
    *length = 0;
    for (size_t i = 0; i < digits; i++)
        *length |= (size_t)digit[i] << 8 * i;
    if (*length > HEADER_MOST)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: its header should have %zu bytes, at most %d expected", s->path,
                       *length, HEADER_MOST);
done:
    return st;
}

/* Reads the header; *data_at is where the numbers begin. */
static npmd_status header_read(file_source *s, npy_header *h, size_t *data_at, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *text = NULL;
    size_t start = 0, length = 0, got = 0;
    TRY(preamble_read(s, &start, &length, err));
    TRY(memory_new(&text, length, err));
    TRY(file_source_take(s, text, length, &got, err));
    if (got < length)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is truncated: its header should have %zu bytes, but %zu follow",
                      s->path, length, got));
    npy_parser p = { .path = s->path, .start = text, .at = text, .end = text + length, .offset = start };
    TRY(header_parse(&p, h, err));
    *data_at = start + length;
done:
    memory_free(text);
    return st;
}

static void shape_print(const npy_header *h, char text[SHAPE_TEXT])
{
    size_t used = 0;
    text[0] = 0;
    for (int d = 0; d < h->dimensions; d++)
        used += (size_t)snprintf(text + used, SHAPE_TEXT - used, "%s%zu", d == 0 ? "" : " x ", h->shape[d]);
}

static npmd_status length_fail(const char *path, const npy_header *h, size_t item, const char *more, size_t bytes,
                               npmd_error *err)
{
    char shape[SHAPE_TEXT];
    shape_print(h, shape);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: header says %s of %zu bytes each, but %s%zu bytes follow", path, shape,
                     item, more, bytes);
}

/* Checks type, order and size before anything is allocated. follow: the bytes behind the header, NULL if
 * the file does not tell; the reader will then meet its end. */
static npmd_status header_check(const char *path, const npy_header *h, const size_t *follow, size_t *count,
                                size_t *size, npmd_error *err)
{
    if (strcmp(h->type, "<f8") != 0 && strcmp(h->type, "<f4") != 0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s has numbers of type '%s', expected '<f8' or '<f4': save a.astype('<f8')", path, h->type);
    if (h->dimensions == 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s holds a single number, expected an array", path);
    int wide = 0; /* in Fortran order the bytes are the same if at most one size exceeds 1 */
    for (int d = 0; d < h->dimensions; d++) {
        wide += h->shape[d] > 1;
        if (h->shape[d] == 0) {
            char shape[SHAPE_TEXT];
            shape_print(h, shape);
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty: header says %s", path, shape);
        }
    }
    if (h->fortran && wide > 1)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s is in Fortran order, C order was expected: save np.ascontiguousarray(a)", path);
    const size_t item = h->type[2] == '8' ? 8 : 4, most = (follow != NULL ? *follow : SIZE_MAX) / item;
    size_t product = 1;
    bool fits = true;
    for (int d = 0; d < h->dimensions && fits; d++) {
        fits = h->shape[d] <= most / product;
        if (fits)
            product *= h->shape[d];
    }
    if (follow != NULL && (!fits || product * item != *follow))
        return length_fail(path, h, item, "", *follow, err);
    *count = fits ? product : most;
    *size = item;
    return NPMD_OK;
}

static npmd_status entry_fail(const char *path, const npy_header *h, size_t entry, double value, npmd_error *err)
{
    const char *found = isnan(value) ? "NaN" : "infinity";
    npy_header index = *h; /* where the entry stands, counted from 1 for people */
    char place[SHAPE_TEXT];
    for (int d = h->dimensions - 1; d >= 0; d--) {
        index.shape[d] = entry % h->shape[d] + 1;
        entry /= h->shape[d];
    }
    if (h->dimensions <= 2)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s row %zu, column %zu: %s where a finite number was expected", path,
                         index.shape[0], h->dimensions == 2 ? index.shape[1] : 1, found);
    shape_print(&index, place);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s entry %s, counted from 1: %s where a finite number was expected", path,
                     place, found);
}

/* The next numbers of the file: doubles straight to their place, floats by way of narrow (PIECE). */
static npmd_status piece_read(file_source *s, const npy_header *h, size_t at, size_t count, size_t item, float *narrow,
                              double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t got = 0;
    TRY(file_source_take(s, item == 8 ? (void *)out : narrow, count * item, &got, err));
    if (got < count * item)
        TRY(length_fail(s->path, h, item, "", at * item + got, err));
    for (size_t i = 0; i < count; i++) {
        if (item == 4)
            out[i] = (double)narrow[i];
        if (!isfinite(out[i]))
            TRY(entry_fail(s->path, h, at + i, out[i], err));
    }
done:
    return st;
}

/* A large file is not held twice: its numbers go piece by piece to their place. Where the file does not tell
 * its size, memory grows with what arrives, whatever the header says. */
static npmd_status array_read(const char *path, npy_header *h, double **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_source s = { 0 };
    double *data = NULL;
    float *narrow = NULL;
    size_t data_at = 0, count = 0, item = 0, have = 0, got = 0;
    unsigned char beyond;
    TRY(file_source_open(path, &s, err));
    TRY(header_read(&s, h, &data_at, err));
    const bool told = s.size >= data_at;
    const size_t follow = told ? s.size - data_at : 0;
    TRY(header_check(path, h, told ? &follow : NULL, &count, &item, err));
    size_t capacity = told || count < PIECE ? count : PIECE;
    TRY(memory_new(&data, capacity, err));
    if (item == 4)
        TRY(memory_new(&narrow, PIECE, err));
    while (have < count) {
        if (have == capacity)
            TRY(memory_grow((void **)&data, &capacity, capacity + 1, sizeof *data, err));
        const size_t room = (capacity < count ? capacity : count) - have, piece = room < PIECE ? room : PIECE;
        TRY(piece_read(&s, h, have, piece, item, narrow, data + have, err));
        have += piece;
    }
    TRY(file_source_take(&s, &beyond, 1, &got, err));
    if (got > 0)
        TRY(length_fail(path, h, item, "more than ", count * item, err));
    *out = data;
    data = NULL;
done:
    memory_free_all(data, narrow);
    file_source_close(&s);
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

static npmd_status dimensions_check(const char *path, const npy_header *h, npmd_error *err)
{
    if (h->dimensions > 2)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s has %d dimensions, expected rows and columns", path, h->dimensions);
    return NPMD_OK;
}

npmd_status npy_read(const char *path, table *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npy_header h = { 0 };
    table t = { 0 };
    TRY(array_read(path, &h, &t.data, err));
    TRY(dimensions_check(path, &h, err));
    t.rows = h.shape[0];
    t.columns = h.dimensions == 2 ? h.shape[1] : 1;
    TRY(memory_text(&t.path, path, err));
    *out = t;
    t = (table){ 0 };
done:
    table_free(&t);
    return st;
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

/* "<i4", "|u1", ...: the number of bytes; 0: not a type of integers. */
static size_t integer_size(const char *type)
{
    const bool fits = (type[0] == '<' || type[0] == '|') && (type[1] == 'i' || type[1] == 'u') && type[2] != 0
                      && strchr("1248", type[2]) != NULL && type[3] == 0;
    return fits ? (size_t)(type[2] - '0') : 0;
}

static int64_t integer_decode(const unsigned char *bytes, size_t size, bool is_signed)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)bytes[i] << 8 * i;
    if (is_signed && size < 8 && bits >> (8 * size - 1) != 0)
        bits |= ~(uint64_t)0 << 8 * size;
    return (int64_t)bits;
}

static npmd_status integers_take(file_source *s, const npy_header *h, size_t data_at, int64_t **out, size_t *count,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *bytes = NULL;
    int64_t *value = NULL;
    const size_t item = integer_size(h->type), follow = s->size > data_at ? s->size - data_at : 0;
    const size_t rows = h->dimensions > 0 ? h->shape[0] : 0;
    size_t got = 0;
    if (h->dimensions < 1 || h->dimensions > 2 || (h->dimensions == 2 && h->shape[1] != 1) || rows == 0) {
        char shape[SHAPE_TEXT];
        shape_print(h, shape);
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: header says %s, one column was expected", s->path,
                       h->dimensions == 0 ? "a single number" : shape);
        goto done;
    }
    if (rows > follow / item || rows * item != follow)
        TRY(length_fail(s->path, h, item, "", follow, err));
    TRY(memory_new(&bytes, follow, err));
    TRY(memory_new(&value, rows, err));
    TRY(file_source_take(s, bytes, follow, &got, err));
    if (got < follow)
        TRY(length_fail(s->path, h, item, "", got, err));
    for (size_t i = 0; i < rows; i++) {
        value[i] = integer_decode(bytes + i * item, item, h->type[1] == 'i');
        if (value[i] < 0 && h->type[1] == 'u')
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s row %zu: a number below 2^63 was expected", s->path, i + 1));
    }
    *out = value;
    *count = rows;
    value = NULL;
done:
    memory_free_all(value, bytes);
    return st;
}

/* Floats that are whole. */
static npmd_status whole_take(const char *path, int64_t **out, size_t *count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    int64_t *value = NULL;
    TRY(npy_read(path, &t, err));
    TRY(memory_new(&value, t.rows, err));
    for (size_t i = 0; i < t.rows; i++) {
        if (t.columns != 1 || fabs(t.data[i]) > 0x1p53 || t.data[i] != floor(t.data[i]))
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s row %zu: one integer was expected", path, i + 1));
        value[i] = (int64_t)t.data[i];
    }
    *out = value;
    *count = t.rows;
    value = NULL;
done:
    memory_free(value);
    table_free(&t);
    return st;
}

npmd_status npy_read_integers(const char *path, int64_t **out, size_t *count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_source s = { 0 };
    npy_header h = { 0 };
    size_t data_at = 0;
    TRY(file_source_open(path, &s, err));
    TRY(header_read(&s, &h, &data_at, err));
    if (integer_size(h.type) > 0)
        TRY(integers_take(&s, &h, data_at, out, count, err));
    else
        TRY(whole_take(path, out, count, err));
done:
    file_source_close(&s);
    return st;
}

npmd_status npy_map_open(const char *path, npy_map *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_source s = { 0 };
    npy_header h = { 0 };
    size_t data_at = 0, numbers = 0, item = 0;
    TRY(file_source_open(path, &s, err));
    if (!s.ordinary)
        TRY(npmd_fail(err, NPMD_ERR_FILE, "cannot map %s: it is no ordinary file", path));
    TRY(header_read(&s, &h, &data_at, err));
    const size_t follow = s.size > data_at ? s.size - data_at : 0;
    TRY(header_check(path, &h, &follow, &numbers, &item, err));
    TRY(dimensions_check(path, &h, err));
    void *base = mmap(NULL, s.size, PROT_READ, MAP_PRIVATE, s.fd, 0);
    if (base == MAP_FAILED)
        TRY(npmd_fail(err, errno == ENOMEM ? NPMD_ERR_MEMORY : NPMD_ERR_FILE, "cannot map %s: %s", path,
                      strerror(errno)));
    *out = (npy_map){ .base = base,
                      .length = s.size,
                      .rows = (const unsigned char *)base + data_at,
                      .f4 = item == 4,
                      .count = h.shape[0],
                      .columns = h.dimensions == 2 ? h.shape[1] : 1 };
done:
    file_source_close(&s); /* the map stays */
    return st;
}

void npy_map_close(npy_map *m)
{
    if (m == NULL)
        return;
    if (m->base != NULL)
        munmap((void *)(uintptr_t)m->base, m->length);
    *m = (npy_map){ 0 };
}

npmd_status npy_put_header(file_writer *w, size_t rows, size_t columns, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char shape[64], header[192];
    if (columns == 1)
        snprintf(shape, sizeof shape, "(%zu,)", rows);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", rows, columns);
    const int length = snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }",
                                shape);
    const int unpadded = PREFIX_SIZE + 4 + length + 1;
    const int padded = (unpadded + 63) / 64 * 64; /* as NumPy aligns the data */
    const unsigned header_size = (unsigned)(padded - PREFIX_SIZE - 4);
    const unsigned char start[4] = { 1, 0, (unsigned char)(header_size & 255), (unsigned char)(header_size >> 8) };
    TRY(file_writer_put(w, PREFIX, PREFIX_SIZE, err));
    TRY(file_writer_put(w, start, sizeof start, err));
    TRY(file_writer_print(w, err, "%s%*s\n", header, padded - unpadded, ""));
done:
    return st;
}
