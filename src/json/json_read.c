/* json_read.c - text to JSON, by descent through the grammar of RFC 8259. Errors give the line and column. */
#include "json.h"

#include "core.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>

#define DEEPEST 200 /* arrays and objects within each other: the reader calls itself */

typedef struct json_reader {
    const char *start, *at, *end;
    const char *where; /* opens each message */
    locale_t locale;   /* "C": a number has a point whatever the host program has set */
    char *word;        /* the latest string, decoded, or number; with a closing zero */
    size_t length, capacity;
    int depth;
} json_reader;

static npmd_status no_memory(const char *where, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory for its JSON", where);
}

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

static bool word_take(json_reader *r, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* With blanks before it. */
static bool sign_take(json_reader *r, const char *sign)
{
    blanks_skip(r);
    return word_take(r, sign);
}

/* Four hexadecimal digits. */
static bool hex_take(json_reader *r, uint32_t *out)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const char c = r->at < r->end ? *r->at : 0;
        if (!isxdigit((unsigned char)c))
            return false;
        value = 16 * value + (uint32_t)(isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    *out = value;
    return true;
}

/* What follows a backslash; a character beyond U+FFFF is written as two escapes. */
static npmd_status escape_take(json_reader *r, npmd_error *err)
{
    static const char NAMED[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    const char *named = r->at < r->end && *r->at != 0 ? strchr(NAMED, *r->at) : NULL;
    uint32_t code = 0, low = 0;
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
        if (length == 0)
            TRY(reader_fail(r, "a character of a string in UTF-8", err));
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
    word_take(r, "-");
    bool whole = true, good = word_take(r, "0") || digits_take(r); /* no digit follows a leading 0 */
    if (good && word_take(r, ".")) {
        whole = false;
        good = digits_take(r);
    }
    if (good && (word_take(r, "e") || word_take(r, "E"))) {
        whole = false;
        if (!word_take(r, "+"))
            word_take(r, "-");
        good = digits_take(r);
    }
    if (!good)
        return reader_fail(r, "a digit", err);
    /* strtod looks for an end of its own, and behind the text there may be nothing that it could read */
    const size_t length = (size_t)(r->at - first);
    if (memory_grow((void **)&r->word, &r->capacity, length + 1, 1, NULL) != NPMD_OK)
        return no_memory(r->where, err);
    memcpy(r->word, first, length);
    r->word[length] = 0;
    errno = 0;
    const long long integer = whole ? strtoll(r->word, NULL, 10) : 0;
    if (errno == ERANGE)
        return reader_complain(r, "a whole number is beyond 64 bits", err);
    const double real = whole ? 0.0 : strtod_l(r->word, NULL, r->locale);
    if (!isfinite(real))
        return reader_complain(r, "a number is too large for a double", err);
    *out = whole ? json_integer(integer) : json_real(real);
    return *out != NULL ? NPMD_OK : no_memory(r->where, err);
}

static npmd_status value_read(json_reader *r, json_t **out, npmd_error *err);

/* The key of a member and the colon behind it; the caller frees *key, also on failure. */
static npmd_status key_read(json_reader *r, const json_t *object, char **key, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    blanks_skip(r);
    if (r->at == r->end || *r->at != '"')
        return reader_fail(r, "a key in quotes", err);
    TRY(string_read(r, err));
    if (json_object_get(object, r->word) != NULL)
        return reader_complain(r, "duplicate key", err);
    if (memory_text(key, r->word, NULL) != NPMD_OK)
        return no_memory(r->where, err);
    if (!sign_take(r, ":"))
        return reader_fail(r, "':'", err);
done:
    return st;
}

/* An array or object, from behind its bracket on. */
static npmd_status members_read(json_reader *r, json_t *list, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const bool object = json_is_object(list);
    const char *close = object ? "}" : "]";
    json_t *value = NULL;
    char *key = NULL;
    if (sign_take(r, close))
        return NPMD_OK;
    do {
        if (object)
            TRY(key_read(r, list, &key, err));
        TRY(value_read(r, &value, err));
        if ((object ? json_put(list, key, value, NULL) : json_append(list, value, NULL)) != NPMD_OK) {
            st = no_memory(r->where, err);
            goto done;
        }
        memory_free(key);
        key = NULL;
    } while (sign_take(r, ","));
    if (!sign_take(r, close))
        st = reader_fail(r, object ? "',' or '}'" : "',' or ']'", err);
done:
    memory_free(key);
    return st;
}

/* Writes *out only on success. */
static npmd_status value_read(json_reader *r, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *value = NULL;
    blanks_skip(r);
    const char c = r->at < r->end ? *r->at : 0;
    const bool nested = c == '{' || c == '[';
    if (c == '-' || isdigit((unsigned char)c))
        return number_read(r, out, err);
    if (nested && r->depth == DEEPEST)
        return reader_complain(r, "arrays and objects lie too deep within each other", err);
    if (c == '"') {
        TRY(string_read(r, err));
        value = json_string(r->word);
    } else if (word_take(r, "{") || word_take(r, "[")) {
        value = c == '{' ? json_object() : json_array();
    } else if (word_take(r, "true") || word_take(r, "false")) {
        value = json_boolean(c == 't');
    } else if (word_take(r, "null")) {
        value = json_null();
    } else {
        return reader_fail(r, "a value", err);
    }
    if (value == NULL)
        return no_memory(r->where, err);
    r->depth += nested;
    if (nested)
        TRY(members_read(r, value, err));
    r->depth -= nested;
    *out = value;
    value = NULL;
done:
    json_decref(value);
    return st;
}

npmd_status json_from_text(const char *text, size_t size, const char *where, json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_reader r = { .start = text, .at = text, .end = text + size, .where = where };
    json_t *value = NULL;
    r.locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (r.locale == (locale_t)0)
        return no_memory(where, err);
    TRY(value_read(&r, &value, err));
    blanks_skip(&r);
    if (r.at < r.end)
        TRY(reader_fail(&r, "the end of the text", err));
    *out = value;
    value = NULL;
done:
    freelocale(r.locale);
    memory_free(r.word);
    json_decref(value);
    return st;
}
