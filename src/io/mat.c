/* mat.c - MATLAB's MAT-files of version 5 (save -v6 and -v7): one full real matrix, by its name.
 *
 *   bytes 0..115    text        116..123   not needed here
 *   bytes 124, 125  version     126, 127   "IM": little-endian, "MI": big-endian
 *   then            elements: type and size, 4 bytes each, then the data, padded to 8 bytes. Data of at most
 *                   4 bytes may be stored in place of the size; size and type then share the first 4 bytes.
 *
 * A variable is an element of type matrix, or a compressed one that inflates to it. It contains the class and its
 * flags, the dimensions, the name and the numbers, column by column, in any type that can hold them.
 *
 * Every size is checked against what contains it, and no number is held twice. libmatio is not used: it allocates what
 * a small file claims to need, and depends on HDF5. */
#include "io.h"

#include <stdio.h>
#include <zlib.h>

#define HEADER_SIZE 128
#define TAG_SIZE 8
#define BUFFER 65536
#define PIECE 8192 /* numbers converted at a time */
#define NAME_MOST 255
#define LIST_TEXT 320     /* the names of the variables, as far as a message has room */
#define INFLATE_MOST 1032 /* most bytes that deflate can make of one byte */

enum { TYPE_INT8 = 1, TYPE_INT32 = 5, TYPE_UINT32 = 6, TYPE_MATRIX = 14, TYPE_COMPRESSED = 15, TYPE_UTF8 = 16 };
enum { CLASS_SPARSE = 5, CLASS_DOUBLE = 6, CLASS_UINT64 = 15, CLASS_OPAQUE = 17, CLASSES };
static const char *const CLASS_NAME[CLASSES] = { "unknown", "cell",   "struct", "object", "char",     "sparse",
                                                 "double",  "single", "int8",   "uint8",  "int16",    "uint16",
                                                 "int32",   "uint32", "int64",  "uint64", "function", "object" };

typedef struct mat_variable {
    char name[NAME_MOST + 1];
    unsigned kind; /* its class */
    bool complex, logical;
    size_t dimensions, rows, columns;
} mat_variable;

typedef struct mat_tag {
    unsigned type;
    size_t size;
    bool small;
    unsigned char data[4]; /* of a small element */
} mat_tag;

typedef struct mat_reader {
    file_source file;
    size_t at;     /* the next byte of the file */
    bool swap;     /* a big-endian file */
    size_t left;   /* bytes of the variable not yet taken */
    size_t packed; /* compressed: bytes of the element that zip has not got */
    bool zipped;
    z_stream zip; /* its memory is taken at the first compressed element */
    bool zip_open;
    unsigned char buffer[BUFFER];
} mat_reader;

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static npmd_status raw_take(mat_reader *r, void *out, size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t got = 0;
    TRY(file_source_take(&r->file, out, size, &got, err));
    r->at += got;
    if (got < size)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is truncated: it ends at byte %zu, within an element", r->file.path,
                       r->at);
done:
    return st;
}

static npmd_status zip_fail(const mat_reader *r, int code, npmd_error *err)
{
    if (code == Z_MEM_ERROR)
        return npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory to inflate it", r->file.path);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s is damaged: the compressed data before byte %zu make no sense",
                     r->file.path, r->at + 1);
}

/* One step of inflation, with input if there is any; the caller has set the output. */
static npmd_status zip_step(mat_reader *r, int *code, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (r->zip.avail_in == 0 && r->packed > 0) {
        const size_t size = r->packed < BUFFER ? r->packed : BUFFER;
        TRY(raw_take(r, r->buffer, size, err));
        r->packed -= size;
        r->zip.next_in = r->buffer;
        r->zip.avail_in = (uInt)size;
    }
    *code = inflate(&r->zip, Z_NO_FLUSH);
    if (*code != Z_OK && *code != Z_STREAM_END) /* also at the end of the input */
        st = zip_fail(r, *code, err);
done:
    return st;
}

static npmd_status zip_take(mat_reader *r, void *out, size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    r->zip.next_out = out;
    r->zip.avail_out = (uInt)size;
    while (r->zip.avail_out > 0) {
        int code = Z_OK;
        TRY(zip_step(r, &code, err));
        if (code == Z_STREAM_END && r->zip.avail_out > 0)
            TRY(zip_fail(r, code, err));
    }
done:
    return st;
}

/* The checksum stands behind the last byte; nothing else may. */
static npmd_status zip_finish(mat_reader *r, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char beyond;
    int code = Z_OK;
    r->zip.next_out = &beyond;
    r->zip.avail_out = 1;
    while (code != Z_STREAM_END && r->zip.avail_out > 0)
        TRY(zip_step(r, &code, err));
    if (r->zip.avail_out == 0)
        st = zip_fail(r, code, err);
done:
    return st;
}

/* The next bytes of the variable. size is at most some thousand. */
static npmd_status bytes_take(mat_reader *r, void *out, size_t size, npmd_error *err)
{
    if (size > r->left)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s is damaged: before byte %zu, a variable ends within one of its parts", r->file.path,
                         r->at + 1);
    r->left -= size;
    return r->zipped ? zip_take(r, out, size, err) : raw_take(r, out, size, err);
}

static npmd_status bytes_skip(mat_reader *r, size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char scratch[512];
    for (size_t piece; size > 0; size -= piece) {
        piece = size < sizeof scratch ? size : sizeof scratch;
        TRY(bytes_take(r, scratch, piece, err));
    }
done:
    return st;
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static uint32_t word_of(const mat_reader *r, const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return r->swap ? __builtin_bswap32(word) : word;
}

/* The tag of a part of a variable. */
static npmd_status tag_take(mat_reader *r, mat_tag *tag, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char bytes[TAG_SIZE];
    TRY(bytes_take(r, bytes, sizeof bytes, err));
    const uint32_t first = word_of(r, bytes);
    tag->small = first >> 16 != 0;
    tag->type = first & 0xFFFF;
    tag->size = tag->small ? first >> 16 : word_of(r, bytes + 4);
    memcpy(tag->data, bytes + 4, sizeof tag->data);
    if (tag->size > (tag->small ? sizeof tag->data : r->left))
        st = npmd_fail(err, NPMD_ERR_FORMAT,
                       "%s is damaged: before byte %zu, a part of a variable claims %zu bytes, at most %zu fit",
                       r->file.path, r->at + 1, tag->size, tag->small ? sizeof tag->data : r->left);
done:
    return st;
}

/* The next size bytes of an element; of a small one, which is taken at once, the first. */
static npmd_status data_take(mat_reader *r, const mat_tag *tag, void *out, size_t size, npmd_error *err)
{
    if (!tag->small)
        return bytes_take(r, out, size, err);
    memcpy(out, tag->data, size < sizeof tag->data ? size : sizeof tag->data); /* size <= tag->size */
    return NPMD_OK;
}

/* Steps over the rest of an element and its padding; a last element may lack it. */
static npmd_status data_close(mat_reader *r, const mat_tag *tag, size_t rest, npmd_error *err)
{
    const size_t padding = (8 - tag->size % 8) % 8;
    if (tag->small)
        return NPMD_OK;
    return bytes_skip(r, rest + (padding < r->left - rest ? padding : r->left - rest), err);
}

static npmd_status part_fail(const mat_reader *r, const char *part, const mat_tag *tag, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "%s is damaged: before byte %zu, the %s of a variable have type %u and %zu bytes", r->file.path,
                     r->at + 1, part, tag->type, tag->size);
}

/* ---- Variables --------------------------------------------------------------------------------------------------- */

static npmd_status dimensions_take(mat_reader *r, mat_variable *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mat_tag tag;
    unsigned char bytes[8];
    TRY(tag_take(r, &tag, err));
    /* some programs write them as unsigned */
    if ((tag.type != TYPE_INT32 && tag.type != TYPE_UINT32) || tag.size < sizeof bytes || tag.size % 4 != 0)
        TRY(part_fail(r, "dimensions", &tag, err));
    v->dimensions = tag.size / 4;
    TRY(data_take(r, &tag, bytes, sizeof bytes, err));
    TRY(data_close(r, &tag, tag.size - sizeof bytes, err));
    const uint32_t rows = word_of(r, bytes), columns = word_of(r, bytes + 4);
    if (rows > INT32_MAX || columns > INT32_MAX)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is damaged: before byte %zu, a variable of negative size",
                       r->file.path, r->at + 1);
    v->rows = rows;
    v->columns = columns;
done:
    return st;
}

/* What stands before the numbers. */
static npmd_status variable_take(mat_reader *r, mat_variable *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mat_tag tag;
    unsigned char flags[8];
    *v = (mat_variable){ 0 };
    if (r->left == 0) /* an empty element has no name either */
        goto done;
    TRY(tag_take(r, &tag, err));
    if (tag.type != TYPE_UINT32 || tag.size != sizeof flags)
        TRY(part_fail(r, "flags", &tag, err));
    TRY(data_take(r, &tag, flags, sizeof flags, err));
    const uint32_t word = word_of(r, flags);
    v->kind = (word & 255) < CLASSES ? word & 255 : 0;
    v->complex = (word & 0x800) != 0;
    v->logical = (word & 0x200) != 0;
    if (v->kind != CLASS_OPAQUE) /* which has none */
        TRY(dimensions_take(r, v, err));
    TRY(tag_take(r, &tag, err));
    if ((tag.type != TYPE_INT8 && tag.type != TYPE_UTF8) || tag.size > NAME_MOST)
        TRY(part_fail(r, "letters of the name", &tag, err));
    TRY(data_take(r, &tag, v->name, tag.size, err));
    TRY(data_close(r, &tag, 0, err));
done:
    return st;
}

/* Opens the element at a byte of the file and reads on to the variable's numbers; *next is where the element
 * behind it begins. */
static npmd_status variable_at(mat_reader *r, size_t byte, mat_variable *v, size_t *next, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char bytes[TAG_SIZE];
    TRY(file_source_seek(&r->file, byte, err));
    r->at = byte;
    TRY(raw_take(r, bytes, sizeof bytes, err));
    unsigned type = word_of(r, bytes);
    const size_t size = word_of(r, bytes + 4), follow = r->file.size - r->at;
    if (size > follow)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT,
                      "%s is truncated: the element at byte %zu should have %zu bytes, but %zu follow", r->file.path,
                      byte + 1, size, follow));
    *next = r->at + size;
    r->left = size;
    r->zipped = type == TYPE_COMPRESSED;
    if (r->zipped) {
        r->left = TAG_SIZE;
        r->packed = size;
        r->zip.avail_in = 0;
        const int code = r->zip_open ? inflateReset(&r->zip) : inflateInit(&r->zip);
        if (code != Z_OK)
            TRY(zip_fail(r, code, err));
        r->zip_open = true;
        TRY(bytes_take(r, bytes, sizeof bytes, err));
        type = word_of(r, bytes);
        r->left = word_of(r, bytes + 4);
    }
    if (type != TYPE_MATRIX || (r->zipped && r->left / INFLATE_MOST > size))
        TRY(npmd_fail(err, NPMD_ERR_FORMAT,
                      "%s is damaged: the element at byte %zu is no variable (type %u, %zu bytes)", r->file.path,
                      byte + 1, type, r->left));
    TRY(variable_take(r, v, err));
done:
    return st;
}

/* Says why a variable is no matrix of real numbers, if so. */
static npmd_status variable_check(const char *path, const mat_variable *v, npmd_error *err)
{
    char name[FILE_QUOTE + 4];
    file_quote(v->name, strlen(v->name), name);
    if (v->kind == CLASS_SPARSE)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: '%s' is sparse, expected a full matrix: save full(%s)", path, name,
                         name);
    if (v->kind < CLASS_DOUBLE || v->kind > CLASS_UINT64 || v->logical)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: '%s' is of class %s, expected a matrix of numbers", path, name,
                         v->logical ? "logical" : CLASS_NAME[v->kind]);
    if (v->complex)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: '%s' is complex, expected real numbers", path, name);
    if (v->dimensions != 2)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: '%s' has %zu dimensions, expected rows and columns", path, name,
                         v->dimensions);
    if (v->rows == 0 || v->columns == 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: '%s' is empty: %zu x %zu", path, name, v->rows, v->columns);
    return NPMD_OK;
}

/* ", x (3 x 2 double)" at the end of the list, or dots if there is no room. */
static void list_add(char list[LIST_TEXT], const mat_variable *v)
{
    char name[FILE_QUOTE + 4], size[48] = "", entry[160];
    const size_t used = strlen(list);
    file_quote(v->name, strlen(v->name), name);
    if (v->dimensions == 2)
        snprintf(size, sizeof size, "%zu x %zu ", v->rows, v->columns);
    else if (v->dimensions > 2)
        snprintf(size, sizeof size, "%zu-dimensional ", v->dimensions);
    snprintf(entry, sizeof entry, "%s%s (%s%s%s)", used == 0 ? "" : ", ", name, size, v->complex ? "complex " : "",
             v->logical ? "logical" : CLASS_NAME[v->kind]);
    if (used + strlen(entry) + sizeof ", ..." <= LIST_TEXT)
        memcpy(list + used, entry, strlen(entry) + 1);
    else if (used > 0 && list[used - 1] != '.')
        memcpy(list + used, ", ...", sizeof ", ...");
}

/* Where the variable of that name stands; without a name, the only matrix of numbers. */
static npmd_status variable_find(mat_reader *r, const char *name, size_t *byte, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mat_variable v;
    const char *path = r->file.path;
    char list[LIST_TEXT] = "", quote[FILE_QUOTE + 4];
    size_t found = 0;
    for (size_t at = HEADER_SIZE, next = 0; at < r->file.size; at = next) {
        TRY(variable_at(r, at, &v, &next, err));
        if (v.name[0] == 0) /* what MATLAB keeps for itself */
            continue;
        list_add(list, &v);
        const bool fits = name != NULL ? strcmp(v.name, name) == 0 : variable_check(path, &v, NULL) == NPMD_OK;
        found += fits;
        if (fits)
            *byte = at;
        if (fits && name != NULL)
            goto done;
    }
    if (list[0] == 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty: it holds no variable", path);
    } else if (name != NULL) {
        file_quote(name, strlen(name), quote);
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s holds no variable '%s', but %s", path, quote, list);
    } else if (found == 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s holds no matrix of real numbers, but %s", path, list);
    } else if (found > 1) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s holds several matrices, name one as in FILE.mat:NAME: %s", path, list);
    }
done:
    return st;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* What the file calls type 0, 1, ... */
static number_type number_type_of(unsigned type)
{
    static const number_type TYPES[] = { NUMBER_NONE, NUMBER_I8,   NUMBER_U8,  NUMBER_I16,  NUMBER_U16,
                                         NUMBER_I32,  NUMBER_U32,  NUMBER_F32, NUMBER_NONE, NUMBER_F64,
                                         NUMBER_NONE, NUMBER_NONE, NUMBER_I64, NUMBER_U64 };
    return type < sizeof TYPES / sizeof *TYPES ? TYPES[type] : NUMBER_NONE;
}

/* The numbers of a variable, columns in the file to rows in the table. */
static npmd_status numbers_take(mat_reader *r, const mat_variable *v, table *t, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mat_tag tag;
    unsigned char bytes[8 * PIECE];
    const size_t count = v->rows * v->columns; /* of less than 2^31 each */
    size_t bad = count;                        /* the first number that is none */
    TRY(tag_take(r, &tag, err));
    const number_type type = number_type_of(tag.type);
    const size_t item = type == NUMBER_NONE ? 0 : number_size(type);
    if (item == 0 || tag.size % item != 0 || tag.size / item != count)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT,
                      "%s is damaged: %zu x %zu numbers, but %zu bytes of type %u before byte %zu", t->path, v->rows,
                      v->columns, tag.size, tag.type, r->at + 1));
    TRY(memory_new(&t->data, count, err));
    t->rows = v->rows;
    t->columns = v->columns;
    for (size_t from = 0, piece; from < count; from += piece) {
        piece = count - from < PIECE ? count - from : PIECE;
        TRY(data_take(r, &tag, bytes, piece * item, err));
        for (size_t i = from; i < from + piece; i++) {
            const double x = number_decode(bytes + (i - from) * item, type, r->swap);
            t->data[i % t->rows * t->columns + i / t->rows] = x;
            if (!isfinite(x) && bad == count)
                bad = i;
        }
    }
    TRY(data_close(r, &tag, 0, err));
    TRY(bytes_skip(r, r->left, err));
    if (r->zipped) /* first: in a damaged file the numbers mean nothing */
        TRY(zip_finish(r, err));
    if (bad < count) {
        const size_t row = bad % t->rows, column = bad / t->rows;
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s row %zu, column %zu: %s where a finite number was expected", t->path,
                       row + 1, column + 1, isnan(t->data[row * t->columns + column]) ? "NaN" : "infinity");
    }
done:
    return st;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Version 4 has no header: five small integers begin every variable. */
static bool is_version_4(const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    if (word > 5000)
        word = __builtin_bswap32(word);
    return word < 5000 && word / 100 % 10 == 0 && word / 10 % 10 <= 5 && word % 10 <= 2;
}

static npmd_status header_check(mat_reader *r, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const char HDF5[] = "\x89HDF\r\n\x1a\n";
    unsigned char bytes[HEADER_SIZE];
    const char *path = r->file.path;
    size_t got = 0;
    TRY(file_source_take(&r->file, bytes, sizeof bytes, &got, err));
    const bool order = got == sizeof bytes && (memcmp(bytes + 126, "IM", 2) == 0 || memcmp(bytes + 126, "MI", 2) == 0);
    r->swap = order && bytes[126] == 'M';
    const unsigned version = order ? bytes[r->swap ? 124 : 125] : 0;
    if (got == 0)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty", path);
    else if ((order && version == 2) || (got >= 8 && memcmp(bytes, HDF5, 8) == 0))
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is a MAT-file of version 7.3, expected 5: save it with -v7", path);
    else if (order && version != 1)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is a MAT-file of unknown version %u, expected 5: save it with -v7",
                       path, version);
    else if (!order && got >= 20 && is_version_4(bytes))
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is a MAT-file of version 4, expected 5: save it with -v7", path);
    else if (!order)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is no MAT-file, or truncated: its header makes no sense", path);
done:
    return st;
}

npmd_status mat_read(const char *path, const char *variable, table *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mat_reader *r = NULL;
    mat_variable v;
    table t = { 0 };
    size_t byte = 0, next = 0;
    TRY(memory_new(&r, 1, err));
    TRY(file_source_open(path, &r->file, err));
    if (!r->file.ordinary)
        TRY(npmd_fail(err, NPMD_ERR_FILE, "cannot read %s: a MAT-file must be an ordinary file", path));
    TRY(header_check(r, err));
    TRY(variable_find(r, variable, &byte, err));
    TRY(variable_at(r, byte, &v, &next, err));
    TRY(variable_check(path, &v, err));
    const size_t length = strlen(path) + strlen(v.name) + 2;
    TRY(memory_new(&t.path, length, err));
    snprintf(t.path, length, "%s%s%s", path, variable == NULL ? "" : ":", variable == NULL ? "" : v.name);
    TRY(numbers_take(r, &v, &t, err));
    *out = t;
    t = (table){ 0 };
done:
    table_free(&t);
    if (r != NULL && r->zip_open)
        inflateEnd(&r->zip);
    if (r != NULL)
        file_source_close(&r->file);
    memory_free(r);
    return st;
}
