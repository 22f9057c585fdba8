/* json_text.c - a result for programs: one JSON object, made key by key. */
#include "console.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void json_put(cli_json *j, const char *bytes, size_t n)
{
    if (j->failed)
        return;
    if (j->length + n + 1 > j->room) {
        const size_t room = 2 * (j->length + n + 1) + 256;
        char *text = realloc(j->text, room);
        if (!text) {
            j->failed = true;
            return;
        }
        j->text = text;
        j->room = room;
    }
    memcpy(j->text + j->length, bytes, n);
    j->length += n;
    j->text[j->length] = '\0';
}

static void json_puts(cli_json *j, const char *text)
{
    json_put(j, text, strlen(text));
}

/* Bytes of the well-formed UTF-8 character at s, 0 when there is none (RFC 3629: no surrogates, nothing too
 * long). */
static size_t utf8_length(const unsigned char *s)
{
    const unsigned char c = s[0];
    size_t n = 0;
    unsigned char low = 0x80, high = 0xBF; /* of the second byte */
    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c <= 0xDF)
        n = 2;
    else if (c >= 0xE0 && c <= 0xEF)
        n = 3;
    else if (c >= 0xF0 && c <= 0xF4)
        n = 4;
    else
        return 0;
    low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : low;
    high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : high;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (s[i] < 0x80 || s[i] > 0xBF)
            return 0;
    return n;
}

static void json_quote(cli_json *j, const char *value)
{
    char escape[8];
    if (!value) {
        json_puts(j, "null");
        return;
    }
    json_puts(j, "\"");
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        const size_t n = utf8_length(s);
        if (n == 0) {
            json_puts(j, "\\ufffd"); /* a file's name may be any bytes, JSON may not */
        } else if (*s == '"' || *s == '\\') {
            snprintf(escape, sizeof escape, "\\%c", *s);
            json_puts(j, escape);
        } else if (*s < 0x20 || *s == 0x7F) {
            snprintf(escape, sizeof escape, "\\u%04x", *s);
            json_puts(j, escape);
        } else {
            json_put(j, (const char *)s, n);
        }
        s += n ? n : 1;
    }
    json_puts(j, "\"");
}

static void json_separate(cli_json *j)
{
    if (j->comma)
        json_puts(j, ", ");
    j->comma = true;
}

static void json_key(cli_json *j, const char *key)
{
    json_separate(j);
    json_quote(j, key);
    json_puts(j, ": ");
}

void cli_json_begin(cli_json *j)
{
    j->length = 0;
    j->comma = j->failed = false;
    json_puts(j, "{");
}

void cli_json_text(cli_json *j, const char *key, const char *value)
{
    json_key(j, key);
    json_quote(j, value);
}

void cli_json_number(cli_json *j, const char *key, double value)
{
    char digits[40];
    json_key(j, key);
    snprintf(digits, sizeof digits, "%.17g", value);
    json_puts(j, isfinite(value) ? digits : "null");
}

void cli_json_finite(cli_json *j, const char *key, double value)
{
    if (isfinite(value))
        cli_json_number(j, key, value);
}

void cli_json_signed(cli_json *j, const char *key, int64_t value)
{
    char digits[32];
    json_key(j, key);
    snprintf(digits, sizeof digits, "%" PRId64, value);
    json_puts(j, digits);
}

void cli_json_unsigned(cli_json *j, const char *key, uint64_t value)
{
    char digits[32];
    json_key(j, key);
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    json_puts(j, digits);
}

void cli_json_flag(cli_json *j, const char *key, bool value)
{
    json_key(j, key);
    json_puts(j, value ? "true" : "false");
}

void cli_json_list(cli_json *j, const char *key)
{
    json_key(j, key);
    json_puts(j, "[");
    j->comma = false;
}

void cli_json_item(cli_json *j, const char *value)
{
    json_separate(j);
    json_quote(j, value);
}

void cli_json_items(cli_json *j, const char *key, const double *value, size_t count)
{
    char digits[40];
    cli_json_list(j, key);
    for (size_t i = 0; i < count; i++) {
        json_separate(j);
        snprintf(digits, sizeof digits, "%.17g", value[i]);
        json_puts(j, isfinite(value[i]) ? digits : "null");
    }
    cli_json_list_end(j);
}

void cli_json_list_end(cli_json *j)
{
    json_puts(j, "]");
    j->comma = true;
}

void cli_json_object(cli_json *j)
{
    json_separate(j);
    json_puts(j, "{");
    j->comma = false;
}

void cli_json_object_end(cli_json *j)
{
    json_puts(j, "}");
    j->comma = true;
}

void cli_json_whole(cli_json *j, const char *object)
{
    json_separate(j);
    json_put(j, object, strcspn(object, "\n"));
}

void cli_json_end(cli_json *j)
{
    json_puts(j, "}\n");
}

void cli_json_free(cli_json *j)
{
    free(j->text);
    *j = (cli_json){ 0 };
}

int cli_json_print(const cli_args *args, cli_json *j)
{
    int code = CLI_DONE;
    cli_json_end(j);
    if (j->failed)
        code = cli_fail(args, CLI_MEMORY, "not enough memory for the report");
    else
        fputs(j->text, stdout); /* main checks the stream when it closes it */
    cli_json_free(j);
    return code;
}
