/* json.c - text to JSON and back, with nothing lost when memory runs out.
 *
 * The tree is Jansson's, whose constructors report a failed allocation. Its reader does not: where the memory
 * for a long word or number cannot grow it drops a digit, or reads and writes beyond the end (2.14, load.c:
 * lex_save), and elsewhere it calls a text malformed. Its printer drops a key (dump.c: dump_string). Here the
 * text is read by descent through the grammar of RFC 8259, and printed into memory of known size.
 *
 * Beyond the grammar: no duplicate keys, no \u0000, integers within 64 bits, real numbers finite. */
#include "core.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>

#define DEEPEST 200 /* arrays and objects within each other: the reader calls itself */

typedef struct json_reader {
    const char *start, *at, *end;
    const char *where; /* opens each message */
    locale_t locale;   /* "C": a number has a point whatever the host program has set */
    char *word;        /* the latest string, decoded, with a closing zero */
    size_t length, capacity;
    int depth;
} json_reader;

static npmd_status no_memory(const char *where, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory for its JSON", where);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static npmd_status reader_complain(const json_reader *r, const char *complaint, npmd_error *err)
{
    size_t line = 1, column = 1;
    for (const char *p = r->start; p < r->at; p++) {
        line += *p == '\n';
        column = *p == '\n' ? 1 : column + 1;
    }
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s line %zu, column %zu: %s", r->where, line, column, complaint);
}

static npmd_status reader_fail(const json_reader *r, const char *expected, npmd_error *err)
{
    char found[32] = "the end of the text", complaint[160];
    if (r->at < r->end && *r->at >= ' ' && *r->at <= '~')
        snprintf(found, sizeof found, "'%c'", *r->at);
    else if (r->at < r->end)
        snprintf(found, sizeof found, "byte 0x%02x", (unsigned)(unsigned char)*r->at);
    snprintf(complaint, sizeof complaint, "%s was found where %s was expected", found, expected);
    return reader_complain(r, complaint, err);
}

static void blanks_skip(json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* Takes c, with blanks before it, if it comes next. */
static bool char_take(json_reader *r, char c)
{
    blanks_skip(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool word_take(json_reader *r, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static size_t utf8_put(unsigned long code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char MARK[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(MARK[length] | code);
    return length;
}

/* Four hexadecimal digits. */
static bool hex_take(json_reader *r, unsigned long *out)
{
    unsigned long value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const char c = r->at < r->end ? *r->at : 0;
        if (!isxdigit((unsigned char)c))
            return false;
        value = 16 * value + (unsigned long)(isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    *out = value;
    return true;
}

/* What follows a backslash; a character beyond U+FFFF is written as two escapes. */
static npmd_status escape_take(json_reader *r, npmd_error *err)
{
    static const char NAMED[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    const char *named = r->at < r->end && *r->at != 0 ? strchr(NAMED, *r->at) : NULL;
    unsigned long code = 0, low = 0;
    if (named != NULL) {
        r->word[r->length++] = MEANT[named - NAMED];
        r->at++;
        return NPMD_OK;
    }
    if (!word_take(r, "u"))
        return reader_fail(r, "an escape", err);
    if (!hex_take(r, &code))
        return reader_fail(r, "a hexadecimal digit", err);
    if (code >= 0xD800 && code <= 0xDBFF) {
        if (!word_take(r, "\\u") || !hex_take(r, &low) || low < 0xDC00 || low > 0xDFFF)
            return reader_fail(r, "the second half of a surrogate pair", err);
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code == 0 || (code >= 0xDC00 && code <= 0xDFFF))
        return reader_complain(r, "an escape stands for no character", err);
    r->length += utf8_put(code, r->word + r->length);
    return NPMD_OK;
}

/* A string, from its opening quote on, into word. */
static npmd_status string_read(json_reader *r, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *close = r->at + 1; /* first only look for the end: no character grows when it is decoded */
    while (close < r->end && *close != '"')
        close += *close == '\\' && close + 1 < r->end ? 2 : 1;
    if (memory_grow((void **)&r->word, &r->capacity, (size_t)(close - r->at) + 1, 1, NULL) != NPMD_OK)
        return no_memory(r->where, err);
    r->length = 0;
    for (r->at++; r->at < r->end && *r->at != '"';) {
        if (*r->at == '\\') {
            r->at++;
            TRY(escape_take(r, err));
            continue;
        }
        const size_t length = (unsigned char)*r->at < 0x20 ? 0 : utf8_length(r->at, r->end);
        if (length == 0) {
            st = reader_fail(r, "a character of a string in UTF-8", err);
            goto done;
        }
        memcpy(r->word + r->length, r->at, length);
        r->length += length;
        r->at += length;
    }
    if (!word_take(r, "\""))
        st = reader_fail(r, "the '\"' that ends a string", err);
    r->word[r->length] = 0;
done:
    return st;
}

static bool digits_take(json_reader *r)
{
    const char *first = r->at;
    while (r->at < r->end && isdigit((unsigned char)*r->at))
        r->at++;
    return r->at > first;
}

static npmd_status number_read(json_reader *r, json_t **out, npmd_error *err)
{
    const char *first = r->at;
    bool whole = true;
    word_take(r, "-");
    if (!word_take(r, "0") && !digits_take(r)) /* no digit follows a leading 0 */
        return reader_fail(r, "a digit", err);
    if (word_take(r, ".")) {
        whole = false;
        if (!digits_take(r))
            return reader_fail(r, "a digit", err);
    }
    if (word_take(r, "e") || word_take(r, "E")) {
        whole = false;
        if (!word_take(r, "+"))
            word_take(r, "-");
        if (!digits_take(r))
            return reader_fail(r, "a digit", err);
    }
    errno = 0;
    const long long integer = whole ? strtoll(first, NULL, 10) : 0;
    if (errno == ERANGE)
        return reader_complain(r, "a whole number is beyond 64 bits", err);
    const double real = whole ? 0.0 : strtod_l(first, NULL, r->locale);
    if (!isfinite(real))
        return reader_complain(r, "a number is too large for a double", err);
    *out = whole ? json_integer(integer) : json_real(real);
    return *out != NULL ? NPMD_OK : no_memory(r->where, err);
}

static npmd_status value_read(json_reader *r, json_t **out, npmd_error *err);

static npmd_status array_read(json_reader *r, json_t *array, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *value = NULL;
    if (char_take(r, ']'))
        return NPMD_OK;
    do {
        TRY(value_read(r, &value, err));
        if (json_array_append_new(array, value) != 0) { /* has taken the value over in any case */
            st = no_memory(r->where, err);
            goto done;
        }
    } while (char_take(r, ','));
    if (!char_take(r, ']'))
        st = reader_fail(r, "',' or ']'", err);
done:
    return st;
}

static npmd_status object_read(json_reader *r, json_t *object, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *value = NULL;
    char *key = NULL;
    if (char_take(r, '}'))
        return NPMD_OK;
    do {
        blanks_skip(r);
        if (r->at == r->end || *r->at != '"') {
            st = reader_fail(r, "a key in quotes", err);
            goto done;
        }
        TRY(string_read(r, err));
        if (json_object_get(object, r->word) != NULL) {
            st = reader_complain(r, "duplicate key", err);
            goto done;
        }
        memory_free(key);
        key = NULL;
        if (memory_text(&key, r->word, NULL) != NPMD_OK) {
            st = no_memory(r->where, err);
            goto done;
        }
        if (!char_take(r, ':')) {
            st = reader_fail(r, "':'", err);
            goto done;
        }
        TRY(value_read(r, &value, err));
        if (json_object_set_new_nocheck(object, key, value) != 0) {
            st = no_memory(r->where, err);
            goto done;
        }
    } while (char_take(r, ','));
    if (!char_take(r, '}'))
        st = reader_fail(r, "',' or '}'", err);
done:
    memory_free(key);
    return st;
}

/* Writes *out only on success. */
static npmd_status value_read(json_reader *r, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *value = NULL;
    bool nested = false;
    blanks_skip(r);
    const char c = r->at < r->end ? *r->at : 0;
    if (c == '-' || isdigit((unsigned char)c))
        return number_read(r, out, err);
    if (c == '"') {
        TRY(string_read(r, err));
        value = json_stringn_nocheck(r->word, r->length);
    } else if (c == '{' || c == '[') {
        if (r->depth == DEEPEST) {
            st = reader_complain(r, "arrays and objects lie too deep within each other", err);
            goto done;
        }
        nested = true;
        r->at++;
        value = c == '{' ? json_object() : json_array();
    } else if (word_take(r, "true") || word_take(r, "false")) {
        value = json_boolean(c == 't');
    } else if (word_take(r, "null")) {
        value = json_null();
    } else {
        st = reader_fail(r, "a value", err);
        goto done;
    }
    if (value == NULL) {
        st = no_memory(r->where, err);
        goto done;
    }
    if (nested) {
        r->depth++;
        TRY(c == '{' ? object_read(r, value, err) : array_read(r, value, err));
        r->depth--;
    }
    *out = value;
    value = NULL;
done:
    json_decref(value);
    return st;
}

npmd_status json_from_text(const char *text, size_t size, const char *where, struct json_t **out,
                           npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_reader r = { .start = text, .at = text, .end = text + size, .where = where };
    json_t *value = NULL;
    r.locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (r.locale == (locale_t)0) {
        st = no_memory(where, err);
        goto done;
    }
    TRY(value_read(&r, &value, err));
    blanks_skip(&r);
    if (r.at < r.end) {
        st = reader_fail(&r, "the end of the text", err);
        goto done;
    }
    *out = value;
    value = NULL;
done:
    if (r.locale != (locale_t)0)
        freelocale(r.locale);
    memory_free(r.word);
    json_decref(value);
    return st;
}

/* ---- Making and printing ------------------------------------------------------------------------------- */

struct json_t *json_known(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

struct json_t *json_any_text(const char *text)
{
    char *clean = NULL;
    struct json_t *value = utf8_mend(text, &clean, NULL) == NPMD_OK ? json_string(clean) : NULL;
    memory_free(clean);
    return value;
}

npmd_status json_put(struct json_t *object, const char *key, struct json_t *value, npmd_error *err)
{
    if (json_object_set_new(object, key, value) == 0) /* refuses NULL, and takes the value over in any case */
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory for \"%s\"", key);
}

npmd_status json_append(struct json_t *array, struct json_t *value, npmd_error *err)
{
    if (json_array_append_new(array, value) == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory for a list of %zu", json_array_size(array));
}

npmd_status json_to_text(const struct json_t *value, size_t flags, char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *text = NULL;
    const size_t style = flags | JSON_REAL_PRECISION(17); /* every double comes back to the last bit */
    const size_t length = json_dumpb(value, NULL, 0, style);
    if (length == 0) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to print JSON");
        goto done;
    }
    TRY(memory_new(&text, length + 1, err));
    if (json_dumpb(value, text, length, style) != length) {
        st = npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to print JSON");
        goto done;
    }
    *out = text;
    text = NULL;
done:
    memory_free(text);
    return st;
}
