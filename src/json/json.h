/* json.h - JSON: a tree of values, read from text and printed as text.
 *
 * A value is null, true or false, an integer of 64 bits, a finite real number, a text in UTF-8 without zero
 * bytes, an array, or an object, whose members keep the order in which they came. Neither reading nor printing
 * depends on the host program's locale.
 *
 * Whoever makes a value owns a share of it; json_decref gives it back, the last one frees the value and what it
 * holds. json_put and json_append take a share over, the getters lend. Makers return NULL where memory runs
 * out; NULL is then a failure of memory for whoever is given it, so that only the last call need be looked at.
 * Shares are counted without locks: a tree belongs to one thread at a time. */
#ifndef NPMD_JSON_H
#define NPMD_JSON_H

#include "neuropmd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The names are those of Jansson, and some of them of other libraries. Whoever links libneuropmd.a may link one of
 * these as well: for the linker ours are called otherwise. */
#define json_object npmd_json_object
#define json_array npmd_json_array
#define json_string npmd_json_string
#define json_any_text npmd_json_any_text
#define json_integer npmd_json_integer
#define json_unsigned npmd_json_unsigned
#define json_real npmd_json_real
#define json_known npmd_json_known
#define json_boolean npmd_json_boolean
#define json_null npmd_json_null
#define json_printed npmd_json_printed
#define json_incref npmd_json_incref
#define json_decref npmd_json_decref
#define json_put npmd_json_put
#define json_append npmd_json_append
#define json_object_del npmd_json_object_del
#define json_type_of npmd_json_type_of
#define json_object_get npmd_json_object_get
#define json_object_size npmd_json_object_size
#define json_object_key npmd_json_object_key
#define json_object_value npmd_json_object_value
#define json_array_get npmd_json_array_get
#define json_array_size npmd_json_array_size
#define json_string_value npmd_json_string_value
#define json_integer_value npmd_json_integer_value
#define json_real_value npmd_json_real_value
#define json_number_value npmd_json_number_value
#define json_is_true npmd_json_is_true
#define json_equal npmd_json_equal
#define json_from_text npmd_json_from_text
#define json_to_text npmd_json_to_text
#define json_print npmd_json_print

typedef struct json_t json_t;
typedef int64_t json_int_t;

/* ---- Making -------------------------------------------------------------------------------------------- */

json_t *json_null(void);
json_t *json_boolean(bool value);
json_t *json_integer(json_int_t value);
json_t *json_unsigned(uint64_t value); /* printed in full; beyond 2^63 - 1 it is no integer for the getters */
json_t *json_real(double value);       /* NULL where it is not finite, for which JSON has no word */
json_t *json_known(double value);      /* null where it is not finite */
json_t *json_string(const char *text); /* NULL where it is not UTF-8, or NULL */
json_t *json_array(void);
json_t *json_object(void);
/* A text of any bytes, as names of files are: those that are not UTF-8 become U+FFFD. */
json_t *json_any_text(const char *text);
/* What was printed before, as it stands; it is only good for being printed again. */
json_t *json_printed(const char *text, size_t length);

json_t *json_incref(const json_t *value); /* another share, to be put elsewhere; NULL stays NULL */
void json_decref(json_t *value);          /* accepts NULL */

/* Take the value over, also when they fail; a NULL, object, array or value, is a failure of memory. */
npmd_status json_put(json_t *object, const char *key, json_t *value, npmd_error *err);
npmd_status json_append(json_t *array, json_t *value, npmd_error *err);
void json_object_del(json_t *object, const char *key);

/* ---- Asking: whatever is not there or of another type is NULL, 0 or false -------------------------------- */

typedef enum json_type {
    JSON_MISSING, /* NULL */
    JSON_NULL,
    JSON_BOOLEAN,
    JSON_INTEGER,
    JSON_REAL,
    JSON_STRING,
    JSON_PRINTED,
    JSON_ARRAY,
    JSON_OBJECT
} json_type;
json_type json_type_of(const json_t *value);

static inline bool json_is_boolean(const json_t *value)
{
    return json_type_of(value) == JSON_BOOLEAN;
}
static inline bool json_is_integer(const json_t *value)
{
    return json_type_of(value) == JSON_INTEGER;
}
static inline bool json_is_real(const json_t *value)
{
    return json_type_of(value) == JSON_REAL;
}
static inline bool json_is_number(const json_t *value)
{
    return json_is_integer(value) || json_is_real(value);
}
static inline bool json_is_string(const json_t *value)
{
    return json_type_of(value) == JSON_STRING;
}
static inline bool json_is_array(const json_t *value)
{
    return json_type_of(value) == JSON_ARRAY;
}
static inline bool json_is_object(const json_t *value)
{
    return json_type_of(value) == JSON_OBJECT;
}

bool json_is_true(const json_t *value);
json_int_t json_integer_value(const json_t *value);
double json_real_value(const json_t *value);
double json_number_value(const json_t *value); /* of an integer or real */
const char *json_string_value(const json_t *value);
size_t json_array_size(const json_t *array);
const json_t *json_array_get(const json_t *array, size_t i);
const json_t *json_object_get(const json_t *object, const char *key);
size_t json_object_size(const json_t *object); /* for (i = 0; i < size; i++) key i, value i: in their order */
const char *json_object_key(const json_t *object, size_t i);
const json_t *json_object_value(const json_t *object, size_t i);
bool json_equal(const json_t *a, const json_t *b); /* members in any order; NULL equals nothing */

/* ---- Text ---------------------------------------------------------------------------------------------- */

/* RFC 8259, and beyond it: no duplicate keys, no \u0000, integers within 64 bits, reals finite, at most 200 arrays
 * and objects within each other. The text lies in memory that ends with a zero byte, at text[size] or behind.
 * where opens each message. */
npmd_status json_from_text(const char *text, size_t size, const char *where, json_t **out, npmd_error *err);

/* Flags. Without any: one line, a blank behind each comma and colon, reals with 17 digits, which give back every
 * double. JSON_PRINTF is the program's form: 5 and 1e-05 for 5.0 and 1e-5, as printf writes them; \u000a for \n and its
 * like, \u007f, and \ufffd for what was not UTF-8. */
#define JSON_COMPACT ((size_t)1 << 0)      /* no blanks */
#define JSON_ENSURE_ASCII ((size_t)1 << 1) /* \uXXXX for all other characters */
#define JSON_PRINTF ((size_t)1 << 2)
#define JSON_INDENT(n) ((size_t)(n) << 8)          /* a line for each value, n blanks for each level */
#define JSON_REAL_PRECISION(n) ((size_t)(n) << 16) /* digits of a real */

npmd_status json_to_text(const json_t *value, size_t flags, char **out, npmd_error *err); /* memory_free it */
/* Into text (size), cut where it ends, with a closing zero; returns the length of the whole, as snprintf does. */
size_t json_print(const json_t *value, size_t flags, char *text, size_t size);

#endif
