/* safetensors.c - named arrays with a JSON header, as the Python package `safetensors` reads and writes them.
 *
 *   bytes 0..7   length of the header, little-endian
 *   then         the header, a JSON object padded with blanks:
 *                {"__metadata__": {"format": "neuropmd", "neuropmd": "<the facts, JSON as text>"},
 *                 "weight": {"dtype": "F64", "shape": [3, 2], "data_offsets": [0, 48]}, ...}
 *   then         the arrays, row-major and little-endian, without holes or overlap, to the end of the file
 *
 * The header is padded to a multiple of 8 bytes and 8-byte numbers come before 4-byte ones (else in the record's
 * order), so that a mapped file has every array aligned. Nothing else is in the file: equal records give equal
 * bytes. */
#include "io.h"
#include "json.h"

#include <stdio.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they stand in the file");

#define HEADER_MOST 100000000 /* bytes; the limit that the safetensors library sets itself */
#define LENGTH_SIZE 8
#define SHAPE_TEXT 128 /* 4 numbers of at most 20 digits, and " x " between them */

typedef struct type_facts {
    const char *name;
    size_t size;
} type_facts;
static const type_facts TYPES[] = {
    [TENSOR_F64] = { "F64", 8 },
    [TENSOR_F32] = { "F32", 4 },
    [TENSOR_I32] = { "I32", 4 },
    [TENSOR_I64] = { "I64", 8 },
};
#define TYPE_COUNT (sizeof TYPES / sizeof TYPES[0])

/* False if the number of bytes does not fit a size_t. */
static bool tensor_bytes(const tensor *t, size_t *out)
{
    size_t bytes = TYPES[t->type].size;
    bool empty = false, fits = true;
    for (int d = 0; d < t->dimensions; d++)
        empty |= t->shape[d] == 0;
    for (int d = 0; d < t->dimensions && !empty && fits; d++)
        fits = !__builtin_mul_overflow(bytes, t->shape[d], &bytes);
    *out = empty ? 0 : bytes;
    return fits;
}

/* ---- Tensors by name --------------------------------------------------------------------------------------------- */

/* The slot that has the name, or the free one where it would stand. The index's own address in the hash keeps a file
 * from choosing names that all collide. */
static size_t *index_slot(const record *rec, const char *name)
{
    const size_t last = 2 * rec->room - 1;
    size_t at = (size_t)hash_bytes((uintptr_t)rec->index, name, strlen(name)) & last;
    while (rec->index[at] != 0 && strcmp(rec->tensors[rec->index[at] - 1].name, name) != 0)
        at = (at + 1) & last;
    return &rec->index[at];
}

static const tensor *record_look(const record *rec, const char *name)
{
    const size_t place = rec->room == 0 ? 0 : *index_slot(rec, name);
    return place == 0 ? NULL : &rec->tensors[place - 1];
}

/* Room for one tensor more: doubled when it is full, so that n tensors take time of order n. */
static npmd_status record_grow(record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record larger = { .metadata = rec->metadata, .count = rec->count, .room = rec->room == 0 ? 16 : 2 * rec->room };
    if (rec->count < rec->room)
        return NPMD_OK;
    TRY(memory_new(&larger.tensors, larger.room, err));
    TRY(memory_new(&larger.index, 2 * larger.room, err));
    for (size_t i = 0; i < rec->count; i++) {
        larger.tensors[i] = rec->tensors[i];
        *index_slot(&larger, larger.tensors[i].name) = i + 1;
    }
    memory_free_all(rec->tensors, rec->index);
    *rec = larger;
    larger = (record){ 0 };
done:
    memory_free_all(larger.tensors, larger.index);
    return st;
}

/* Takes a tensor over, whose name no other has; there is room. */
static tensor *record_append(record *rec, const tensor *t)
{
    *index_slot(rec, t->name) = rec->count + 1;
    rec->tensors[rec->count] = *t;
    return &rec->tensors[rec->count++];
}

void record_free(record *rec)
{
    for (size_t i = 0; i < rec->count; i++)
        if (rec->tensors[i].owned)
            memory_free(rec->tensors[i].data);
    memory_free_all(rec->tensors, rec->index, rec->metadata);
    *rec = (record){ 0 };
}

npmd_status record_add(record *rec, const char *name, tensor_type type, int dimensions, const size_t *shape,
                       const void *data, npmd_error *err)
{
    tensor t = { .type = type, .dimensions = dimensions };
    assert(dimensions >= 0 && dimensions <= TENSOR_MAX_DIMENSIONS);
    if (strlen(name) >= sizeof t.name || strcmp(name, "__metadata__") == 0 || record_look(rec, name) != NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "'%s' cannot name a tensor: too long, reserved or in use", name);
    const npmd_status st = record_grow(rec, err);
    if (st != NPMD_OK)
        return st;
    snprintf(t.name, sizeof t.name, "%s", name);
    for (int d = 0; d < dimensions; d++)
        t.shape[d] = shape[d];
    t.data = (void *)(uintptr_t)data; /* borrowed, and never written to */
    record_append(rec, &t);
    return NPMD_OK;
}

/* "3 x 2"; zero is the word for a size of 0. */
static void shape_print(int dimensions, const size_t *shape, const char *zero, char text[SHAPE_TEXT])
{
    size_t used = (size_t)snprintf(text, SHAPE_TEXT, "%s", dimensions == 0 ? "a single number" : "");
    for (int d = 0; d < dimensions; d++) {
        const char *between = d == 0 ? "" : " x ";
        if (shape[d] == 0)
            used += (size_t)snprintf(text + used, SHAPE_TEXT - used, "%s%s", between, zero);
        else
            used += (size_t)snprintf(text + used, SHAPE_TEXT - used, "%s%zu", between, shape[d]);
    }
}

npmd_status record_find(const record *rec, const char *path, const char *name, tensor_type type, int dimensions,
                        const size_t *shape, const tensor **out, npmd_error *err)
{
    const tensor *t = record_look(rec, name);
    if (t == NULL)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s' is missing", path, name);
    bool agrees = t->type == type && t->dimensions == dimensions;
    for (int d = 0; d < dimensions && agrees; d++)
        agrees = shape[d] == 0 || t->shape[d] == shape[d];
    if (!agrees) {
        char found[SHAPE_TEXT], expected[SHAPE_TEXT];
        shape_print(t->dimensions, t->shape, "0", found);
        shape_print(dimensions, shape, "any", expected);
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s' is %s (%s), expected %s (%s)", path, name,
                         TYPES[t->type].name, found, TYPES[type].name, expected);
    }
    *out = t;
    return NPMD_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* A tensor's place in the data, for the check that together they cover it. */
typedef struct extent {
    size_t begin, end;
    const char *name;
    size_t tensor; /* of the record */
} extent;

static int extent_order(const void *left, const void *right)
{
    const extent *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end); /* an empty tensor comes before the one that starts there */
}

/* The format demands it: no byte of the data is unused or used twice. */
static npmd_status extents_check(const char *path, extent *e, size_t count, size_t size, npmd_error *err)
{
    size_t reached = 0;
    if (count > 0)
        qsort(e, count, sizeof *e, extent_order);
    for (size_t i = 0; i < count; i++) {
        char name[FILE_QUOTE + 4];
        file_quote(e[i].name, strlen(e[i].name), name);
        if (e[i].begin != reached)
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s' begins at byte %zu of the data, expected %zu (%s)",
                             path, name, e[i].begin, reached, e[i].begin < reached ? "overlap" : "hole");
        reached = e[i].end;
    }
    if (reached != size)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensors cover %zu bytes, but %zu follow the header", path, reached,
                         size);
    return NPMD_OK;
}

/* A non-negative JSON integer. */
static bool size_parse(const json_t *value, size_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (size_t)json_integer_value(value);
    return true;
}

/* What the header says of one tensor; size is that of all data. */
static npmd_status tensor_parse(const char *path, const char *name, const json_t *facts, size_t size, tensor *t,
                                extent *place, npmd_error *err)
{
    char quote[FILE_QUOTE + 4], type_quote[FILE_QUOTE + 4];
    file_quote(name, strlen(name), quote);
    const char *type = json_string_value(json_object_get(facts, "dtype"));
    const json_t *shape = json_object_get(facts, "shape"), *offsets = json_object_get(facts, "data_offsets");
    if (strlen(name) >= sizeof t->name)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor name '%s' is longer than %zu bytes", path, quote,
                         sizeof t->name - 1);
    if (type == NULL || !json_is_array(shape) || !json_is_array(offsets) || json_object_size(facts) != 3)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s' needs dtype, shape, data_offsets and nothing else",
                         path, quote);
    size_t known = 0;
    while (known < TYPE_COUNT && strcmp(type, TYPES[known].name) != 0)
        known++;
    file_quote(type, strlen(type), type_quote);
    if (known == TYPE_COUNT)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s' has type '%s', expected F64, F32, I64 or I32", path,
                         quote, type_quote);
    if (json_array_size(shape) > TENSOR_MAX_DIMENSIONS)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s' has %zu dimensions, expected at most %d", path, quote,
                         json_array_size(shape), TENSOR_MAX_DIMENSIONS);
    snprintf(t->name, sizeof t->name, "%s", name);
    t->type = (tensor_type)known;
    t->dimensions = (int)json_array_size(shape);
    for (int d = 0; d < t->dimensions; d++)
        if (!size_parse(json_array_get(shape, (size_t)d), &t->shape[d]))
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s': the shape holds something that is no size", path,
                             quote);
    if (json_array_size(offsets) != 2 || !size_parse(json_array_get(offsets, 0), &place->begin)
        || !size_parse(json_array_get(offsets, 1), &place->end) || place->begin > place->end)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s': data_offsets are no pair begin <= end", path, quote);
    if (place->end > size)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s' ends at byte %zu of the data, but %zu bytes follow",
                         path, quote, place->end, size);
    size_t bytes;
    if (!tensor_bytes(t, &bytes) || bytes != place->end - place->begin) {
        char text[SHAPE_TEXT];
        shape_print(t->dimensions, t->shape, "0", text);
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: tensor '%s' is %s (%s), but its data_offsets hold %zu bytes", path,
                         quote, type_quote, text, place->end - place->begin);
    }
    return NPMD_OK;
}

/* __metadata__ maps strings to strings; ours is the text under "neuropmd". */
static npmd_status metadata_parse(const char *path, const json_t *header, char **out, npmd_error *err)
{
    const json_t *map = json_object_get(header, "__metadata__");
    if (map != NULL && !json_is_object(map))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: __metadata__ is no map from strings to strings", path);
    for (size_t i = 0; i < json_object_size(map); i++)
        if (!json_is_string(json_object_value(map, i)))
            return npmd_fail(err, NPMD_ERR_FORMAT, "%s: __metadata__ is no map from strings to strings", path);
    const char *facts = json_string_value(json_object_get(map, "neuropmd"));
    if (facts == NULL)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is a safetensors file but not a neuropmd model", path);
    return memory_text(out, facts, err);
}

/* The bytes of a record: in memory, or in an ordinary file, of which only what is asked for is read. */
typedef struct record_bytes {
    const char *path;
    const unsigned char *memory; /* NULL: in the file */
    file_source *file;
    size_t size;
} record_bytes;

static npmd_status bytes_take(const record_bytes *b, size_t from, size_t size, void *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t got = 0;
    assert(from <= b->size && size <= b->size - from);
    if (size == 0)
        return NPMD_OK;
    if (b->memory != NULL) {
        memcpy(out, b->memory + from, size);
        return NPMD_OK;
    }
    TRY(file_source_seek(b->file, from, err));
    TRY(file_source_take(b->file, out, size, &got, err));
    if (got < size)
        st = npmd_fail(err, NPMD_ERR_FILE, "cannot read %s: it became shorter while it was read", b->path);
done:
    return st;
}

/* Reads the length and the header; *data_at is where the arrays begin. */
static npmd_status header_read(const record_bytes *b, json_t **out, size_t *data_at, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *path = b->path;
    char first = 0, where[340], *text = NULL;
    uint64_t length = 0;
    if (b->size == 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty", path);
    if (b->size < LENGTH_SIZE)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is truncated: %zu bytes are no safetensors file", path, b->size);
    TRY(bytes_take(b, 0, LENGTH_SIZE, &length, err));
    const size_t follow = b->size - LENGTH_SIZE;
    if (length > follow || length > HEADER_MOST)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT,
                      "%s is no model, or a truncated one: as safetensors its header says %llu bytes, but %zu follow",
                      path, (unsigned long long)length, follow));
    if (length > 0)
        TRY(bytes_take(b, LENGTH_SIZE, 1, &first, err));
    if (first != '{')
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is no safetensors file: its header does not begin with '{'", path));
    TRY(memory_new(&text, (size_t)length, err));
    TRY(bytes_take(b, LENGTH_SIZE, (size_t)length, text, err));
    snprintf(where, sizeof where, "%.300s: header is no valid JSON:", path);
    *data_at = LENGTH_SIZE + (size_t)length;
    st = json_from_text(text, (size_t)length, where, out, err);
done:
    memory_free(text);
    return st;
}

/* The tensors that the header lists, without their data, and the place of each; size is that of all data. */
static npmd_status tensors_parse(const char *path, const json_t *header, size_t size, record *rec, extent *places,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (size_t i = 0; i < json_object_size(header); i++) {
        tensor t = { 0 };
        extent *place = &places[rec->count];
        const char *name = json_object_key(header, i);
        if (strcmp(name, "__metadata__") == 0)
            continue;
        TRY(tensor_parse(path, name, json_object_value(header, i), size, &t, place, err));
        TRY(record_grow(rec, err));
        place->name = name;
        place->tensor = rec->count;
        record_append(rec, &t);
    }
    TRY(extents_check(path, places, rec->count, size, err));
done:
    return st;
}

/* All that the header says is checked before the first array is read. */
static npmd_status record_take(const record_bytes *b, record *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    extent *places = NULL; /* in the order of the data once they are checked */
    json_t *header = NULL;
    size_t data_at = 0;
    TRY(header_read(b, &header, &data_at, err));
    TRY(metadata_parse(b->path, header, &rec.metadata, err)); /* first: a stranger's file may hold any type */
    TRY(memory_new(&places, json_object_size(header), err));
    TRY(tensors_parse(b->path, header, b->size - data_at, &rec, places, err));
    for (size_t i = 0; i < rec.count; i++) {
        tensor *t = &rec.tensors[places[i].tensor];
        const size_t bytes = places[i].end - places[i].begin;
        TRY(memory_take(&t->data, bytes, 1, err));
        t->owned = true;
        TRY(bytes_take(b, data_at + places[i].begin, bytes, t->data, err));
    }
    *out = rec;
    rec = (record){ 0 };
done:
    record_free(&rec);
    memory_free(places);
    json_decref(header);
    return st;
}

npmd_status record_parse(const char *path, const file_bytes *b, record *out, npmd_error *err)
{
    return record_take(&(record_bytes){ .path = path, .memory = b->data, .size = b->size }, out, err);
}

npmd_status record_read(const char *path, record *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_source s = { 0 };
    file_bytes whole = { 0 };
    record_bytes b = { .path = path, .file = &s };
    TRY(file_source_open(path, &s, err));
    b.size = s.size;
    if (!s.ordinary) { /* a pipe has no size to check a header against, and is not read twice */
        TRY(file_source_rest(&s, NULL, 0, &whole, err));
        b = (record_bytes){ .path = path, .memory = whole.data, .size = whole.size };
    }
    TRY(record_take(&b, out, err));
done:
    file_bytes_free(&whole);
    file_source_close(&s);
    return st;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The largest numbers first: the order in which every array of a gapless file is aligned. */
static const size_t ITEM_SIZES[] = { 8, 4 };
#define ITEM_SIZE_COUNT (sizeof ITEM_SIZES / sizeof ITEM_SIZES[0])

/* Adds one tensor to the header; *offset moves behind its data. A value belongs to what it was put into. */
static npmd_status header_add(json_t *header, const tensor *t, size_t *offset)
{
    npmd_status st = NPMD_OK;
    size_t bytes = 0;
    json_t *facts = NULL, *shape = NULL, *offsets = NULL;
    if (!tensor_bytes(t, &bytes))
        return NPMD_ERR_MEMORY;
    TRY(json_put(header, t->name, facts = json_object(), NULL));
    TRY(json_put(facts, "dtype", json_string(TYPES[t->type].name), NULL));
    TRY(json_put(facts, "shape", shape = json_array(), NULL));
    for (int d = 0; d < t->dimensions; d++)
        TRY(json_append(shape, json_integer((json_int_t)t->shape[d]), NULL));
    TRY(json_put(facts, "data_offsets", offsets = json_array(), NULL));
    TRY(json_append(offsets, json_integer((json_int_t)*offset), NULL));
    TRY(json_append(offsets, json_integer((json_int_t)(*offset + bytes)), NULL));
    *offset += bytes;
done:
    return st;
}

static npmd_status header_fill(json_t *header, const record *rec)
{
    npmd_status st = NPMD_OK;
    size_t offset = 0;
    json_t *metadata = NULL;
    TRY(json_put(header, "__metadata__", metadata = json_object(), NULL));
    TRY(json_put(metadata, "format", json_string("neuropmd"), NULL));
    TRY(json_put(metadata, "neuropmd", json_string(rec->metadata), NULL));
    for (size_t s = 0; s < ITEM_SIZE_COUNT; s++)
        for (size_t i = 0; i < rec->count; i++)
            if (TYPES[rec->tensors[i].type].size == ITEM_SIZES[s])
                TRY(header_add(header, &rec->tensors[i], &offset));
done:
    return st;
}

/* The header as text, members in the order of insertion; *size is that with blanks behind it. */
static npmd_status header_print(const char *path, const record *rec, char **out, size_t *size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *text = NULL;
    json_t *header = json_object();
    if (header_fill(header, rec) != NPMD_OK)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "cannot write %s: no memory for its header, or a text that is not UTF-8",
                      path));
    TRY(json_to_text(header, JSON_COMPACT, &text, err));
    const size_t padded = (strlen(text) + 7) / 8 * 8;
    if (padded > HEADER_MOST)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "cannot write %s: its header would have %zu bytes, at most %d allowed",
                      path, padded, HEADER_MOST));
    *out = text;
    *size = padded;
    text = NULL;
done:
    memory_free(text);
    json_decref(header);
    return st;
}

/* Where the bytes of a record go, in their order. */
typedef npmd_status (*record_sink)(void *to, const void *bytes, size_t size, npmd_error *err);

static npmd_status record_pour(const record *rec, const char *header, size_t size, record_sink put, void *to,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const uint64_t length = size;
    size_t bytes = 0;
    TRY(put(to, &length, sizeof length, err));
    TRY(put(to, header, strlen(header), err));
    TRY(put(to, "        ", size - strlen(header), err));
    for (size_t s = 0; s < ITEM_SIZE_COUNT; s++)
        for (size_t i = 0; i < rec->count; i++) {
            const tensor *t = &rec->tensors[i];
            if (TYPES[t->type].size == ITEM_SIZES[s] && tensor_bytes(t, &bytes))
                TRY(put(to, t->data, bytes, err));
        }
done:
    return st;
}

static npmd_status put_in_file(void *to, const void *bytes, size_t size, npmd_error *err)
{
    return file_writer_put(to, bytes, size, err);
}

npmd_status record_write(const char *path, const record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    char *header = NULL;
    size_t size = 0;
    assert(rec->metadata != NULL);
    TRY(header_print(path, rec, &header, &size, err));
    TRY(file_writer_open(path, &w, err));
    TRY(record_pour(rec, header, size, put_in_file, w, err));
    st = file_writer_commit(w, err);
    w = NULL;
done:
    file_writer_abandon(w);
    memory_free(header);
    return st;
}

static npmd_status put_nowhere(void *to, const void *bytes, size_t size, npmd_error *err)
{
    (void)bytes;
    if (__builtin_add_overflow(*(size_t *)to, size, (size_t *)to))
        return npmd_fail(err, NPMD_ERR_MEMORY, "the model is larger than this machine can address");
    return NPMD_OK;
}

static npmd_status put_in_memory(void *to, const void *bytes, size_t size, npmd_error *err)
{
    char **at = to;
    (void)err;
    if (size > 0) /* an empty tensor may be NULL */
        memcpy(*at, bytes, size);
    *at += size;
    return NPMD_OK;
}

npmd_status record_pack(const record *rec, char **out, size_t *size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *header = NULL, *bytes = NULL, *at = NULL;
    size_t header_size = 0, total = 0;
    assert(rec->metadata != NULL);
    TRY(header_print("the model", rec, &header, &header_size, err));
    TRY(record_pour(rec, header, header_size, put_nowhere, &total, err));
    TRY(memory_new(&bytes, total, err));
    at = bytes;
    TRY(record_pour(rec, header, header_size, put_in_memory, &at, err));
    *out = bytes;
    *size = total;
done:
    memory_free(header);
    return st;
}
