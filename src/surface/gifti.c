/* gifti.c - the arrays and the table of labels in a GIFTI file (Harwell et al. 2011, version 1.0), which is XML:
 *
 *   <GIFTI Version="1.0" NumberOfDataArrays="2">
 *     <LabelTable> <Label Key="1" Red="..." ...>name</Label> ... </LabelTable>
 *     <DataArray Intent="NIFTI_INTENT_POINTSET" DataType="NIFTI_TYPE_FLOAT32" Dim0="..." Dim1="3" ...>
 *       <Data>...</Data>
 *     </DataArray>
 *   </GIFTI>
 *
 * Expat reads the XML. Entities are refused: no GIFTI file declares one, and with them a small file can expand to a
 * huge one. Transformations between spaces are not applied: coordinates stay as they are. */
#include "mesh_formats.h"

#include <expat.h>
#include <stdio.h>

typedef struct gifti_reader {
    XML_Parser parser;
    scanner where; /* the file, and the line that is read */
    gifti g;
    gifti_array array;     /* the one that is read */
    gifti_label label;     /* the same, its name still empty */
    bool in_array, wanted; /* between the tags of a DataArray; of one that is decoded */
    bool is_gifti;         /* the outermost element was met */
    bool values;           /* those are decoded, else all others */
    bool is_name;          /* of the metadata of an array, what comes next is its name */
    bool listening;        /* text is kept: within Data or Label, or the Name or Value of an array's metadata */
    char *text;
    size_t size, room;
    npmd_status st; /* the first failure */
    npmd_error *err;
} gifti_reader;

static void reader_stop(gifti_reader *r, npmd_status st)
{
    if (r->st == NPMD_OK && st != NPMD_OK) {
        r->st = st;
        XML_StopParser(r->parser, XML_FALSE);
    }
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static const char *attribute(const XML_Char **pairs, const char *name)
{
    for (; *pairs != NULL; pairs += 2)
        if (strcmp(pairs[0], name) == 0)
            return pairs[1];
    return "";
}

typedef struct choice {
    const char *name;
    int value;
} choice;

/* The value of an attribute that has few. */
static npmd_status choice_read(gifti_reader *r, const XML_Char **pairs, const char *name, const choice *among,
                               size_t count, int *out)
{
    const char *found = attribute(pairs, name);
    char quote[FILE_QUOTE + 4];
    for (size_t i = 0; i < count; i++)
        if (strcmp(found, among[i].name) == 0) {
            *out = among[i].value;
            return NPMD_OK;
        }
    file_quote(found, strlen(found), quote);
    return scan_fail(&r->where, r->err, "%s is '%s', expected %s%s", name, quote, among[0].name,
                     count > 1 ? " or its like" : "");
}
#define CHOICE(r, pairs, name, among, out) choice_read(r, pairs, name, among, sizeof(among) / sizeof *(among), out)

static npmd_status integer_read(gifti_reader *r, const XML_Char **pairs, const char *name, long least, long most,
                                long *out)
{
    const char *found = attribute(pairs, name);
    char *stop = NULL, quote[FILE_QUOTE + 4];
    const long value = strtol(found, &stop, 10);
    if (stop == found || *stop != 0 || value < least || value > most) {
        file_quote(found, strlen(found), quote);
        return scan_fail(&r->where, r->err, "%s is '%s', expected an integer from %ld to %ld", name, quote, least,
                         most);
    }
    *out = value;
    return NPMD_OK;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static gifti_intent intent_of(const char *name)
{
    return strcmp(name, "NIFTI_INTENT_POINTSET") == 0   ? GIFTI_POINTS
           : strcmp(name, "NIFTI_INTENT_TRIANGLE") == 0 ? GIFTI_TRIANGLES
           : strcmp(name, "NIFTI_INTENT_LABEL") == 0    ? GIFTI_LABELS
                                                        : GIFTI_VALUES;
}

static npmd_status array_open(gifti_reader *r, const XML_Char **pairs)
{
    static const choice TYPES[] = { { "NIFTI_TYPE_FLOAT32", NUMBER_F32 }, { "NIFTI_TYPE_FLOAT64", NUMBER_F64 },
                                    { "NIFTI_TYPE_INT32", NUMBER_I32 },   { "NIFTI_TYPE_UINT32", NUMBER_U32 },
                                    { "NIFTI_TYPE_INT64", NUMBER_I64 },   { "NIFTI_TYPE_UINT64", NUMBER_U64 },
                                    { "NIFTI_TYPE_INT16", NUMBER_I16 },   { "NIFTI_TYPE_UINT16", NUMBER_U16 },
                                    { "NIFTI_TYPE_INT8", NUMBER_I8 },     { "NIFTI_TYPE_UINT8", NUMBER_U8 } };
    static const choice ENCODINGS[] = { { "ASCII", GIFTI_ASCII },
                                        { "Base64Binary", GIFTI_BASE64 },
                                        { "GZipBase64Binary", GIFTI_GZIP_BASE64 } };
    static const choice ENDS[] = { { "LittleEndian", 0 }, { "BigEndian", 1 } };
    static const choice ORDERS[] = { { "RowMajorOrder", 0 }, { "ColumnMajorOrder", 1 } };
    npmd_status st = NPMD_OK;
    int type = 0, encoding = 0, big_endian = 0, column_major = 0;
    long dimensions = 0, rows = 0, columns = 1;
    r->in_array = true;
    memory_free(r->array.name);
    r->array = (gifti_array){ .intent = intent_of(attribute(pairs, "Intent")) };
    r->wanted = (r->array.intent == GIFTI_VALUES) == r->values;
    if (!r->wanted)
        goto done;
    TRY(CHOICE(r, pairs, "DataType", TYPES, &type));
    TRY(CHOICE(r, pairs, "Encoding", ENCODINGS, &encoding));
    if (encoding != GIFTI_ASCII)
        TRY(CHOICE(r, pairs, "Endian", ENDS, &big_endian));
    TRY(CHOICE(r, pairs, "ArrayIndexingOrder", ORDERS, &column_major));
    TRY(integer_read(r, pairs, "Dimensionality", 1, 2, &dimensions));
    TRY(integer_read(r, pairs, "Dim0", 1, INT32_MAX, &rows));
    if (dimensions == 2)
        TRY(integer_read(r, pairs, "Dim1", 1, INT32_MAX, &columns));
    r->array.type = (number_type)type;
    r->array.encoding = (gifti_encoding)encoding;
    r->array.big_endian = big_endian != 0;
    r->array.column_major = column_major != 0;
    r->array.rows = (size_t)rows;
    r->array.columns = (size_t)columns;
done:
    return st;
}

static npmd_status label_open(gifti_reader *r, const XML_Char **pairs)
{
    npmd_status st = NPMD_OK;
    long key = 0; /* files of the first days say Index */
    TRY(integer_read(r, pairs, *attribute(pairs, "Key") != 0 ? "Key" : "Index", INT32_MIN, INT32_MAX, &key));
    r->label = (gifti_label){ .key = key };
done:
    return st;
}

/* Within an array: its data, and of values the pairs of names and values in its metadata. */
static bool is_listened_to(const gifti_reader *r, const char *name)
{
    return strcmp(name, "Data") == 0 || (r->values && (strcmp(name, "Name") == 0 || strcmp(name, "Value") == 0));
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **pairs)
{
    gifti_reader *r = user;
    r->where.line = XML_GetCurrentLineNumber(r->parser);
    if (!r->is_gifti && strcmp(name, "GIFTI") != 0) {
        char quote[FILE_QUOTE + 4];
        file_quote(name, strlen(name), quote);
        reader_stop(r, scan_fail(&r->where, r->err, "<%s> was found where <GIFTI> was expected", quote));
        return;
    }
    r->is_gifti = true;
    if (strcmp(name, "DataArray") == 0) {
        reader_stop(r, array_open(r, pairs));
    } else if (strcmp(name, "Label") == 0 && !r->in_array) {
        reader_stop(r, label_open(r, pairs));
        r->listening = true;
        r->size = 0;
    } else if (r->in_array && r->wanted && is_listened_to(r, name)) {
        r->listening = true;
        r->size = 0;
    }
}

static void XMLCALL on_text(void *user, const XML_Char *text, int length)
{
    gifti_reader *r = user;
    if (!r->listening || r->st != NPMD_OK)
        return;
    const npmd_status st = memory_grow((void **)&r->text, &r->room, r->size + (size_t)length + 1, 1, r->err);
    reader_stop(r, st);
    if (st != NPMD_OK)
        return;
    memcpy(r->text + r->size, text, (size_t)length);
    r->size += (size_t)length;
    r->text[r->size] = 0;
}

static npmd_status label_close(gifti_reader *r)
{
    npmd_status st = NPMD_OK;
    gifti *g = &r->g;
    TRY(memory_grow((void **)&g->label, &g->label_room, g->labels + 1, sizeof *g->label, r->err));
    TRY(memory_text(&r->label.name, r->size > 0 ? r->text : "", r->err));
    g->label[g->labels++] = r->label;
done:
    return st;
}

static npmd_status data_close(gifti_reader *r)
{
    npmd_status st = NPMD_OK;
    gifti *g = &r->g;
    TRY(memory_grow((void **)&g->array, &g->array_room, g->arrays + 1, sizeof *g->array, r->err));
    TRY(gifti_decode(&r->where, r->size > 0 ? r->text : "", r->size, &r->array, r->err));
    g->array[g->arrays++] = r->array;
    r->array.value = NULL;
    r->array.name = NULL;
    r->wanted = false; /* one Data element is all */
done:
    return st;
}

/* The end of an element whose text was kept. */
static npmd_status text_close(gifti_reader *r, const char *name)
{
    npmd_status st = NPMD_OK;
    const char *text = r->size > 0 ? r->text : "";
    if (!r->in_array)
        return label_close(r);
    if (strcmp(name, "Data") == 0)
        return data_close(r);
    if (strcmp(name, "Name") == 0) {
        r->is_name = strcmp(text, "Name") == 0;
    } else if (r->is_name && r->array.name == NULL) {
        TRY(memory_text(&r->array.name, text, r->err));
    }
done:
    return st;
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    gifti_reader *r = user;
    if (r->st != NPMD_OK)
        return;
    if (strcmp(name, "DataArray") == 0) {
        if (r->wanted)
            reader_stop(r, scan_fail(&r->where, r->err, "a DataArray has no Data"));
        r->in_array = false;
    } else if (r->listening) {
        r->listening = false;
        reader_stop(r, text_close(r, name));
    }
}

static void XMLCALL on_entity(void *user, const XML_Char *name, int is_parameter, const XML_Char *value, int length,
                              const XML_Char *base, const XML_Char *system_id, const XML_Char *public_id,
                              const XML_Char *notation)
{
    gifti_reader *r = user;
    (void)name, (void)is_parameter, (void)value, (void)length, (void)base, (void)system_id, (void)public_id,
        (void)notation;
    r->where.line = XML_GetCurrentLineNumber(r->parser);
    reader_stop(r, scan_fail(&r->where, r->err, "an entity is declared, of which GIFTI has none"));
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

#define FEED 1048576 /* bytes given to Expat at a time */

static npmd_status xml_feed(gifti_reader *r, const scanner *s)
{
    for (size_t at = 0, size = scan_left(s); at <= size;) {
        const size_t piece = size - at < FEED ? size - at : FEED;
        const bool last = at + piece == size;
        const enum XML_Status fed = XML_Parse(r->parser, s->at + at, (int)piece, last);
        if (r->st != NPMD_OK)
            return r->st;
        if (fed != XML_STATUS_OK) {
            const enum XML_Error code = XML_GetErrorCode(r->parser);
            r->where.line = XML_GetCurrentLineNumber(r->parser);
            if (code == XML_ERROR_NO_MEMORY)
                return npmd_fail(r->err, NPMD_ERR_MEMORY, "%s: not enough memory to read its XML", s->path);
            return scan_fail(&r->where, r->err, "it is no XML: %s", XML_ErrorString(code));
        }
        if (last)
            break;
        at += piece;
    }
    return NPMD_OK;
}

npmd_status gifti_parse(const scanner *s, bool values, gifti *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const XML_Memory_Handling_Suite MEMORY = { malloc, realloc, free };
    gifti_reader r = { .where = *s, .values = values, .err = err, .parser = XML_ParserCreate_MM(NULL, &MEMORY, NULL) };
    if (r.parser == NULL)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory to read its XML", s->path));
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetEntityDeclHandler(r.parser, on_entity);
    TRY(xml_feed(&r, s));
    *out = r.g;
    r.g = (gifti){ 0 };
done:
    if (r.parser != NULL)
        XML_ParserFree(r.parser);
    memory_free_all(r.array.value, r.array.name, r.text);
    gifti_free(&r.g);
    return st;
}

void gifti_free(gifti *g)
{
    for (size_t i = 0; i < g->arrays; i++) {
        memory_free_all(g->array[i].value, g->array[i].name);
    }
    for (size_t i = 0; i < g->labels; i++)
        memory_free(g->label[i].name);
    memory_free_all(g->array, g->label);
    *g = (gifti){ 0 };
}

npmd_status gifti_find(const gifti *g, const char *path, gifti_intent intent, size_t columns, const gifti_array **out,
                       npmd_error *err)
{
    static const char *const NAMES[] = { "", "POINTSET", "TRIANGLE", "LABEL" };
    const gifti_array *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < g->arrays; i++)
        if (g->array[i].intent == intent) {
            found = &g->array[i];
            count++;
        }
    if (count != 1)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s has %zu arrays of intent NIFTI_INTENT_%s, expected 1", path, count,
                         NAMES[intent]);
    if (found->columns != columns)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: the array of intent NIFTI_INTENT_%s has %zu columns, expected %zu",
                         path, NAMES[intent], found->columns, columns);
    *out = found;
    return NPMD_OK;
}
