/* json.h - JSON: a tree of values, read from text and printed as text.
 *
 * A value is null, true or false, an integer of 64 bits, a finite real number, a text in UTF-8 without zero bytes, an
 * array, or an object, whose members keep the order in which they came. Neither reading nor printing depends on the
 * host program's locale.
 *
 * Values are reference-counted. A maker returns one reference; json_decref gives it back, and the last frees the value
 * with its members. json_put and json_append take over the reference, getters lend theirs. Makers return NULL where
 * memory runs out, and every function that is given such a NULL fails for lack of memory, so that only the last call
 * need be checked. Counting takes no locks: a tree belongs to one thread at a time. */
#ifndef NPMD_JSON_H
#define NPMD_JSON_H

#include "neuropmd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Jansson and other libraries use the same names. The linker sees ours under other names, so that a program may link
 * libneuropmd.a and such a library. */
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

/* ---- Making ------------------------------------------------------------------------------------------------------ */

json_t *json_null(void);
json_t *json_boolean(bool value);
json_t *json_integer(json_int_t value);
json_t *json_unsigned(uint64_t value); /* printed in full; beyond 2^63 - 1 it is no integer for the getters */
json_t *json_real(double value);       /* json_put and json_append refuse what is not finite */
json_t *json_known(double value);      /* null where it is not finite */
json_t *json_string(const char *text); /* NULL where text is NULL or not UTF-8 */
json_t *json_array(void);
json_t *json_object(void);
/* A text of any bytes, such as a file name: bytes that are not UTF-8 become U+FFFD. */
json_t *json_any_text(const char *text);
/* JSON text that was printed before; it can only be printed again, as it is. */
json_t *json_printed(const char *text, size_t length);

json_t *json_incref(const json_t *value); /* another reference; NULL stays NULL */
void json_decref(json_t *value);          /* accepts NULL */

/* Take over the value, also when they fail. A NULL object, array or value is a failure of memory; a number that is not
 * finite, which JSON does not have, is NPMD_ERR_NUMERIC. */
npmd_status json_put(json_t *object, const char *key, json_t *value, npmd_error *err);
npmd_status json_append(json_t *array, json_t *value, npmd_error *err);
void json_object_del(json_t *object, const char *key);

/* ---- Asking: what is absent or of another type gives NULL, 0 or false -------------------------------------------- */

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
size_t json_object_size(const json_t *object); /* members 0 .. size - 1, in their order */
const char *json_object_key(const json_t *object, size_t i);
const json_t *json_object_value(const json_t *object, size_t i);
bool json_equal(const json_t *a, const json_t *b); /* regardless of the order of members; NULL equals nothing */

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* RFC 8259 with further limits: no duplicate keys, no \u0000, integers of 64 bits, finite reals, at most 200 nested
 * arrays and objects. The memory of the text must hold a zero byte at text[size] or later. where opens each message. */
npmd_status json_from_text(const char *text, size_t size, const char *where, json_t **out, npmd_error *err);

/* Flags. Without any: one line, a blank after each comma and colon, reals with 17 digits, which give back every double.
 * JSON_PRINTF is the program's form: 5 and 1e-05 for 5.0 and 1e-5, as printf writes them; \u000a for \n and the like,
 * \u007f, and \ufffd for what was not UTF-8. */
#define JSON_COMPACT ((size_t)1 << 0)      /* no blanks */
#define JSON_ENSURE_ASCII ((size_t)1 << 1) /* \uXXXX for all other characters */
#define JSON_PRINTF ((size_t)1 << 2)
#define JSON_INDENT(n) ((size_t)(n) << 8)          /* one line for each value, n blanks for each level */
#define JSON_REAL_PRECISION(n) ((size_t)(n) << 16) /* digits of a real */

npmd_status json_to_text(const json_t *value, size_t flags, char **out, npmd_error *err); /* memory_free it */
/* Prints into text (size), cut to fit, with a closing zero; returns the full length, as snprintf does. */
size_t json_print(const json_t *value, size_t flags, char *text, size_t size);

#endif
