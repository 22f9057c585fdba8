/* json.c - the tree of JSON values and its printer, which allocates nothing.
 *
 * An array is a list of values, an object a list of values with keys. A few keys are compared one by one; more are also
 * in an index, a hash table with linear probing, so that adding n keys takes time of order n. */
#include "json.h"

#include "core.h"

#include <stdio.h>

#define FEW_KEYS 8 /* are found without an index */

typedef struct json_member {
    char *key; /* NULL in an array */
    json_t *value;
} json_member;

struct json_t { /* a text follows it in the same block */
    json_type type;
    uint32_t shares;
    union {
        json_int_t integer; /* of a boolean: 0 or 1 */
        double real;
        struct {
            json_member *member; /* (room), the first `count` of them in use */
            size_t count, room;  /* room is 0 or a power of two */
            size_t *index;       /* (2 room) places of members, from 1; 0: free. NULL: there is none */
        };
    };
};

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* NULL: no memory. */
static json_t *node_new(json_type type, const char *text, size_t length)
{
    json_t *node = NULL;
    size_t capacity = 0;
    if (memory_grow((void **)&node, &capacity, sizeof *node + length + 1, 1, NULL) != NPMD_OK)
        return NULL;
    *node = (json_t){ .type = type, .shares = 1 };
    if (length > 0)
        memcpy(node + 1, text, length);
    ((char *)(node + 1))[length] = 0;
    return node;
}

static json_t *node_whole(json_type type, json_int_t value)
{
    json_t *node = node_new(type, NULL, 0);
    if (node != NULL)
        node->integer = value;
    return node;
}

json_t *json_null(void)
{
    return node_new(JSON_NULL, NULL, 0);
}

json_t *json_boolean(bool value)
{
    return node_whole(JSON_BOOLEAN, value);
}

json_t *json_integer(json_int_t value)
{
    return node_whole(JSON_INTEGER, value);
}

json_t *json_unsigned(uint64_t value)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_printed(digits, (size_t)length);
}

json_t *json_real(double value)
{
    json_t *node = node_new(JSON_REAL, NULL, 0);
    if (node != NULL)
        node->real = value;
    return node;
}

json_t *json_known(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_string(const char *text)
{
    return text != NULL && utf8_wrong(text) == 0 ? node_new(JSON_STRING, text, strlen(text)) : NULL;
}

json_t *json_any_text(const char *text)
{
    char *clean = NULL;
    json_t *value = utf8_mend(text, &clean, NULL) == NPMD_OK ? json_string(clean) : NULL;
    memory_free(clean);
    return value;
}

json_t *json_printed(const char *text, size_t length)
{
    return node_new(JSON_PRINTED, text, length);
}

json_t *json_array(void)
{
    return node_new(JSON_ARRAY, NULL, 0);
}

json_t *json_object(void)
{
    return node_new(JSON_OBJECT, NULL, 0);
}

json_t *json_incref(const json_t *value)
{
    json_t *shared = (json_t *)(uintptr_t)value; /* how many share a value is no part of it */
    if (shared != NULL)
        shared->shares++;
    return shared;
}

void json_decref(json_t *value)
{
    if (value == NULL || --value->shares > 0)
        return;
    if (json_is_array(value) || json_is_object(value)) {
        for (size_t i = 0; i < value->count; i++) {
            memory_free(value->member[i].key);
            json_decref(value->member[i].value);
        }
        memory_free_all(value->member, value->index);
    }
    memory_free(value);
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* The slot that has the key, or the free one where it would stand. The object's address in the hash keeps a file
 * from choosing keys that all collide. */
static size_t *index_slot(const json_t *object, const char *key)
{
    const size_t last = 2 * object->room - 1;
    size_t at = (size_t)hash_bytes((uintptr_t)object, key, strlen(key)) & last;
    while (object->index[at] != 0 && strcmp(object->member[object->index[at] - 1].key, key) != 0)
        at = (at + 1) & last;
    return &object->index[at];
}

static void index_fill(json_t *object)
{
    if (object->index == NULL)
        return;
    memset(object->index, 0, 2 * object->room * sizeof *object->index);
    for (size_t i = 0; i < object->count; i++)
        *index_slot(object, object->member[i].key) = i + 1;
}

/* Which member has the key; their count: none has. */
static size_t member_find(const json_t *object, const char *key)
{
    size_t i = 0;
    if (object->index != NULL) {
        i = *index_slot(object, key);
        return i > 0 ? i - 1 : object->count;
    }
    while (i < object->count && strcmp(object->member[i].key, key) != 0)
        i++;
    return i;
}

/* Takes key, which no member has, and value over if there is memory; else the list is as it was. */
static bool member_add(json_t *list, char *key, json_t *value)
{
    if (list->count == list->room) {
        size_t room = list->room, *index = NULL;
        if (memory_grow((void **)&list->member, &room, room + 1, sizeof *list->member, NULL) != NPMD_OK)
            return false;
        if (key != NULL && room > FEW_KEYS && memory_new(&index, 2 * room, NULL) != NPMD_OK)
            return false; /* there is more room than is noted */
        memory_free(list->index);
        list->index = index;
        list->room = room;
        index_fill(list);
    }
    if (list->index != NULL)
        *index_slot(list, key) = list->count + 1;
    list->member[list->count++] = (json_member){ key, value };
    return true;
}

/* A number that JSON cannot hold is the failure of whoever computed it, and no lack of memory. */
static bool number_wrong(const json_t *value)
{
    return json_is_real(value) && !isfinite(value->real);
}

npmd_status json_put(json_t *object, const char *key, json_t *value, npmd_error *err)
{
    char *copy = NULL;
    if (number_wrong(value)) {
        const double found = value->real;
        json_decref(value);
        return npmd_fail(err, NPMD_ERR_NUMERIC, "\"%s\" is %g, a finite number was expected", key, found);
    }
    if (json_is_object(object) && value != NULL && utf8_wrong(key) == 0) {
        const size_t i = member_find(object, key);
        if (i < object->count) {
            json_decref(object->member[i].value);
            object->member[i].value = value;
            return NPMD_OK;
        }
        if (memory_text(&copy, key, NULL) == NPMD_OK && member_add(object, copy, value))
            return NPMD_OK;
    }
    memory_free(copy);
    json_decref(value);
    return npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory for \"%s\"", key);
}

npmd_status json_append(json_t *array, json_t *value, npmd_error *err)
{
    if (number_wrong(value)) {
        const double found = value->real;
        json_decref(value);
        return npmd_fail(err, NPMD_ERR_NUMERIC, "number %zu of a list is %g, a finite one was expected",
                         json_array_size(array) + 1, found);
    }
    if (json_is_array(array) && value != NULL && member_add(array, NULL, value))
        return NPMD_OK;
    json_decref(value);
    return npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory for a list of %zu", json_array_size(array));
}

void json_object_del(json_t *object, const char *key)
{
    const size_t i = json_is_object(object) ? member_find(object, key) : 0;
    if (i >= json_object_size(object))
        return;
    memory_free(object->member[i].key);
    json_decref(object->member[i].value);
    object->count--;
    memmove(object->member + i, object->member + i + 1, (object->count - i) * sizeof *object->member);
    index_fill(object);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

json_type json_type_of(const json_t *value)
{
    return value == NULL ? JSON_MISSING : value->type;
}

bool json_is_true(const json_t *value)
{
    return json_is_boolean(value) && value->integer != 0;
}

json_int_t json_integer_value(const json_t *value)
{
    return json_is_integer(value) ? value->integer : 0;
}

double json_real_value(const json_t *value)
{
    return json_is_real(value) ? value->real : 0.0;
}

double json_number_value(const json_t *value)
{
    return json_is_integer(value) ? (double)value->integer : json_real_value(value);
}

static const char *text_of(const json_t *value)
{
    return (const char *)(value + 1);
}

const char *json_string_value(const json_t *value)
{
    return json_is_string(value) ? text_of(value) : NULL;
}

size_t json_array_size(const json_t *array)
{
    return json_is_array(array) ? array->count : 0;
}

const json_t *json_array_get(const json_t *array, size_t i)
{
    return i < json_array_size(array) ? array->member[i].value : NULL;
}

size_t json_object_size(const json_t *object)
{
    return json_is_object(object) ? object->count : 0;
}

const char *json_object_key(const json_t *object, size_t i)
{
    return i < json_object_size(object) ? object->member[i].key : NULL;
}

const json_t *json_object_value(const json_t *object, size_t i)
{
    return i < json_object_size(object) ? object->member[i].value : NULL;
}

const json_t *json_object_get(const json_t *object, const char *key)
{
    return json_is_object(object) ? json_object_value(object, member_find(object, key)) : NULL;
}

bool json_equal(const json_t *a, const json_t *b)
{
    if (a == NULL || b == NULL || a->type != b->type || json_array_size(a) != json_array_size(b)
        || json_object_size(a) != json_object_size(b))
        return false;
    if (a->type == JSON_REAL)
        return a->real == b->real;
    if (a->type == JSON_STRING || a->type == JSON_PRINTED)
        return strcmp(text_of(a), text_of(b)) == 0;
    if (a->type == JSON_BOOLEAN || a->type == JSON_INTEGER)
        return a->integer == b->integer;
    for (size_t i = 0; i < json_array_size(a); i++)
        if (!json_equal(a->member[i].value, b->member[i].value))
            return false;
    for (size_t i = 0; i < json_object_size(a); i++)
        if (!json_equal(a->member[i].value, json_object_get(b, a->member[i].key)))
            return false;
    return true;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

typedef struct json_page {
    char *text;
    size_t size, length; /* what it holds; what it would, were there room */
    size_t flags;
} json_page;

static void page_put(json_page *p, const char *bytes, size_t count)
{
    const size_t left = p->length < p->size ? p->size - p->length : 0;
    if (left > 0)
        memcpy(p->text + p->length, bytes, count < left ? count : left);
    p->length += count;
}

static void page_puts(json_page *p, const char *text)
{
    page_put(p, text, strlen(text));
}

/* The decimal point that printf writes is the host program's, and may have several bytes. */
static void real_print(json_page *p, double value)
{
    static const char DIGITS[] = "-0123456789";
    const size_t precision = p->flags >> 16 & 0xff;
    char text[64];
    snprintf(text, sizeof text, "%.*g", precision > 0 && precision < 17 ? (int)precision : 17, value);
    const size_t whole = strspn(text, DIGITS), point = strcspn(text + whole, "0123456789e");
    const char *at = text + whole + point;
    page_put(p, text, whole);
    if (point > 0) {
        page_put(p, ".", 1);
        page_put(p, at, strspn(at, DIGITS));
        at += strspn(at, DIGITS);
    }
    if (p->flags & JSON_PRINTF) {
        page_puts(p, at);
    } else if (*at == 'e') { /* its zeros and its plus are left out */
        page_puts(p, at[1] == '-' ? "e-" : "e");
        page_puts(p, at + 2 + strspn(at + 2, "0"));
    } else if (point == 0) {
        page_put(p, ".0", 2); /* it is read as a real again */
    }
}

/* The character at text, of this length in bytes, as it is or as an escape. */
static void char_print(json_page *p, const char *text, size_t length)
{
    static const char NAMED[] = "\"\\bfnrt", MEANT[] = "\"\\\b\f\n\r\t";
    const bool printf_like = (p->flags & JSON_PRINTF) != 0;
    const char *named = length == 1 ? strchr(MEANT, *text) : NULL;
    char escape[16];
    const uint32_t code = utf8_code(text, length);
    if (named != NULL && (!printf_like || *text >= ' ')) {
        page_put(p, (const char[]){ '\\', NAMED[named - MEANT] }, 2);
    } else if (code >= 0x10000 && (p->flags & JSON_ENSURE_ASCII)) {
        snprintf(escape, sizeof escape, "\\u%04X\\u%04X", 0xD800 + ((code - 0x10000) >> 10),
                 0xDC00 + ((code - 0x10000) & 0x3FF));
        page_puts(p, escape);
    } else if (code < ' ' || (code > 0x7F && (p->flags & JSON_ENSURE_ASCII))
               || (printf_like && (code == 0x7F || code == 0xFFFD))) {
        snprintf(escape, sizeof escape, printf_like ? "\\u%04x" : "\\u%04X", code);
        page_puts(p, escape);
    } else {
        page_put(p, text, length);
    }
}

static void string_print(json_page *p, const char *text)
{
    const char *end = text + strlen(text);
    page_put(p, "\"", 1);
    for (size_t length = 0; text < end; text += length) {
        length = utf8_length(text, end); /* not 0: what is not UTF-8 comes into no tree */
        char_print(p, text, length);
    }
    page_put(p, "\"", 1);
}

/* What stands before a member, or before the end of a list. */
static void break_print(json_page *p, const char *instead, int depth)
{
    const size_t indent = p->flags >> 8 & 0xff;
    page_puts(p, indent == 0 ? instead : "\n");
    for (size_t i = 0; i < (size_t)depth * indent; i++)
        page_put(p, " ", 1);
}

static void value_print(json_page *p, const json_t *value, int depth)
{
    char digits[24];
    const char *blank = p->flags & JSON_COMPACT ? "" : " ";
    switch (value->type) {
    case JSON_BOOLEAN:
        page_puts(p, value->integer ? "true" : "false");
        break;
    case JSON_INTEGER:
        snprintf(digits, sizeof digits, "%lld", (long long)value->integer);
        page_puts(p, digits);
        break;
    case JSON_REAL:
        real_print(p, value->real);
        break;
    case JSON_STRING:
        string_print(p, text_of(value));
        break;
    case JSON_PRINTED:
        page_puts(p, text_of(value));
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        page_puts(p, value->type == JSON_ARRAY ? "[" : "{");
        for (size_t i = 0; i < value->count; i++) {
            page_puts(p, i > 0 ? "," : "");
            break_print(p, i > 0 ? blank : "", depth + 1);
            if (value->type == JSON_OBJECT) {
                string_print(p, value->member[i].key);
                page_puts(p, ":");
                page_puts(p, blank);
            }
            value_print(p, value->member[i].value, depth + 1);
        }
        if (value->count > 0)
            break_print(p, "", depth);
        page_puts(p, value->type == JSON_ARRAY ? "]" : "}");
        break;
    default:
        page_puts(p, "null");
    }
}

size_t json_print(const json_t *value, size_t flags, char *text, size_t size)
{
    json_page p = { .text = text, .size = size, .flags = flags };
    if (value != NULL)
        value_print(&p, value, 0);
    if (size > 0)
        text[p.length < size ? p.length : size - 1] = 0;
    return p.length;
}

npmd_status json_to_text(const json_t *value, size_t flags, char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *text = NULL;
    if (value == NULL)
        return npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to print JSON");
    const size_t length = json_print(value, flags, NULL, 0);
    TRY(memory_new(&text, length + 1, err));
    json_print(value, flags, text, length + 1);
    *out = text;
done:
    return st;
}
