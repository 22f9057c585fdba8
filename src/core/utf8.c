/* utf8.c - text in UTF-8. Names of files and titles may contain other bytes. */
#include "core.h"

size_t utf8_length(const char *p, const char *end)
{
    const unsigned char first = (unsigned char)*p;
    const size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first > 0xF4 || length == 0 || (size_t)(end - p) < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)p[i] & 0xC0) != 0x80)
            return 0;
    const unsigned char second = length > 1 ? (unsigned char)p[1] : 0;
    const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)
                       || (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return wrong ? 0 : length;
}

size_t utf8_wrong(const char *text)
{
    const char *end = text + strlen(text);
    for (const char *at = text; at < end;) {
        const size_t length = utf8_length(at, end);
        if (length == 0)
            return (size_t)(at - text) + 1;
        at += length;
    }
    return 0;
}

npmd_status utf8_mend(const char *text, char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *end = text + strlen(text);
    TRY(memory_new(out, 3 * strlen(text) + 1, err));
    for (char *to = *out; text < end;) {
        const size_t length = utf8_length(text, end);
        memcpy(to, length > 0 ? text : "\xEF\xBF\xBD", length > 0 ? length : 3);
        to += length > 0 ? length : 3;
        text += length > 0 ? length : 1;
    }
done:
    return st;
}

size_t utf8_put(uint32_t code, char *out)
{
    static const unsigned char MARK[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(MARK[length] | code);
    return length;
}

uint32_t utf8_code(const char *p, size_t length)
{
    uint32_t code = (unsigned char)*p & (length > 1 ? 0x7Fu >> length : 0x7Fu);
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)p[i] & 0x3Fu);
    return code;
}
