/* scan.c - the words and numbers of a file that is in memory, with the place of each for messages. */
#include "mesh_formats.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

/* ---- places and messages ----------------------------------------------------------------------------------------- */

bool scan_suffix(const char *path, const char *suffix)
{
    const size_t tail = strlen(suffix), length = strlen(path) - (file_has_suffix(path, ".gz") ? 3 : 0);
    return tail > 0 && length >= tail && strncasecmp(path + length - tail, suffix, tail) == 0;
}

npmd_status scan_start(const char *path, const file_bytes *b, scanner *out, npmd_error *err)
{
    const char *start = (const char *)b->data;
    const locale_t locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (locale == (locale_t)0)
        return npmd_fail(err, NPMD_ERR_MEMORY, "%s: no memory for the C locale", path);
    *out = (scanner){ .path = path, .start = start, .at = start, .end = start + b->size, .line = 1, .locale = locale };
    return NPMD_OK;
}

npmd_status scan_starts_line(const char *path, const unsigned char *first, size_t size, npmd_error *err)
{
    const unsigned char *end = size == 0 ? NULL : memchr(first, '\n', size);
    return file_starts_text(path, first, end == NULL ? size : (size_t)(end - first), err);
}

npmd_status scan_open(const char *path, file_start check, scanner *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes b = { 0 };
    TRY(gzip_read(path, check, &b, err));
    TRY(scan_start(path, &b, out, err));
    out->own = b;
    b.data = NULL;
done:
    file_bytes_free(&b);
    return st;
}

void scan_close(scanner *s)
{
    if (s->locale != (locale_t)0)
        freelocale(s->locale);
    file_bytes_free(&s->own);
    *s = (scanner){ 0 };
}

npmd_status scan_vertices_check(const char *path, const char *what, size_t found, size_t vertices, npmd_error *err)
{
    if (found == vertices)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "%s has %s of %zu vertices, but the surface has %zu: are they of another mesh?", path, what, found,
                     vertices);
}

size_t scan_left(const scanner *s)
{
    return (size_t)(s->end - s->at);
}

npmd_status scan_fail(const scanner *s, npmd_error *err, const char *format, ...)
{
    char sentence[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (s->mode == SCAN_TEXT)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s line %zu: %s", s->path, s->line, sentence);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %zu: %s", s->path, (size_t)(s->at - s->start) + 1, sentence);
}

npmd_status scan_unexpected(const scanner *s, const char *expected, npmd_error *err)
{
    char quote[FILE_QUOTE + 4];
    scanner ahead = *s;
    scan_text found;
    if (!scan_word(&ahead, &found))
        return scan_fail(s, err, "it ends where %s was expected", expected);
    file_quote(found.at, found.size, quote);
    ahead.at = found.at;
    return scan_fail(&ahead, err, "'%s' was found where %s was expected", quote, expected);
}

/* ---- lines and words --------------------------------------------------------------------------------------------- */

bool scan_is(scan_text t, const char *word)
{
    return strlen(word) == t.size && memcmp(word, t.at, t.size) == 0;
}

bool scan_line(scanner *s, scanner *line)
{
    if (s->at == s->end)
        return false;
    *line = *s;
    while (s->at < s->end && *s->at != '\n' && *s->at != '\r')
        s->at++;
    line->end = s->at;
    if (s->at < s->end)
        s->at += s->at[0] == '\r' && s->at + 1 < s->end && s->at[1] == '\n' ? 2 : 1;
    s->line++;
    return true;
}

bool scan_without_comment(scanner *s, scanner *line)
{
    if (!scan_line(s, line))
        return false;
    const char *comment = memchr(line->at, '#', scan_left(line));
    line->end = comment != NULL ? comment : line->end;
    return true;
}

bool scan_full_line(scanner *s, scanner *line)
{
    while (scan_line(s, line))
        if (!scan_ends(line))
            return true;
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void spaces_skip(scanner *s)
{
    for (; s->at < s->end && is_space(*s->at); s->at++)
        s->line += *s->at == '\n';
}

bool scan_word(scanner *s, scan_text *out)
{
    spaces_skip(s);
    if (s->at == s->end)
        return false;
    out->at = s->at;
    while (s->at < s->end && !is_space(*s->at))
        s->at++;
    out->size = (size_t)(s->at - out->at);
    return true;
}

bool scan_ends(const scanner *s)
{
    scanner ahead = *s;
    spaces_skip(&ahead);
    return ahead.at == ahead.end;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static npmd_status scan_real(scanner *s, const char *what, double *out, npmd_error *err)
{
    scan_text word;
    const scanner before = *s;
    if (!scan_word(s, &word))
        return scan_unexpected(&before, what, err);
    char *stop = NULL;
    *out = strtod_l(word.at, &stop, s->locale); /* what follows a word cannot continue a number */
    return stop == word.at + word.size ? NPMD_OK : scan_unexpected(&before, what, err);
}

npmd_status scan_number(scanner *s, number_type type, const char *what, double *out, npmd_error *err)
{
    const size_t size = number_size(type);
    if (s->mode == SCAN_TEXT) {
        const npmd_status st = scan_real(s, what, out, err);
        if (st == NPMD_OK && type == NUMBER_F32) /* the same number as in binary */
            *out = (double)(float)*out;
        return st;
    }
    if (scan_left(s) < size)
        return scan_fail(s, err, "it ends where %s was expected", what);
    *out = number_decode((const unsigned char *)s->at, type, s->mode == SCAN_BIG);
    s->at += size;
    return NPMD_OK;
}

/* Beyond 2^53 a double is no exact integer. */
static npmd_status whole_take(const scanner *before, double value, double least, const char *what, int64_t *out,
                              npmd_error *err)
{
    if (!(fabs(value) <= 0x1p53) || value != floor(value) || value < least)
        return scan_fail(before, err, "%.17g was found where %s was expected", value, what);
    *out = (int64_t)value;
    return NPMD_OK;
}

npmd_status scan_whole(scanner *s, number_type type, const char *what, int64_t *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *s;
    double value = 0.0;
    TRY(scan_number(s, type, what, &value, err));
    TRY(whole_take(&before, value, -INFINITY, what, out, err));
done:
    return st;
}

npmd_status scan_count(scanner *s, const char *what, size_t *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *s;
    double value = 0.0;
    int64_t count = 0;
    TRY(scan_real(s, what, &value, err));
    TRY(whole_take(&before, value, 0.0, what, &count, err));
    *out = (size_t)count;
done:
    return st;
}

npmd_status scan_skip(scanner *s, number_type type, size_t count, const char *what, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scan_text word;
    if (s->mode != SCAN_TEXT) {
        if (count > scan_left(s) / number_size(type))
            return scan_fail(s, err, "%zu %s should follow, but %zu bytes do", count, what, scan_left(s));
        s->at += count * number_size(type);
        return NPMD_OK;
    }
    for (size_t i = 0; i < count; i++)
        if (!scan_word(s, &word))
            TRY(scan_unexpected(s, what, err));
done:
    return st;
}

npmd_status scan_number_type(scanner *s, const number_name *names, size_t count, number_type *out, npmd_error *err)
{
    const scanner before = *s;
    scan_text word = { "", 0 };
    scan_word(s, &word);
    for (size_t i = 0; i < count; i++)
        if (scan_is(word, names[i].name)) {
            *out = names[i].type;
            return NPMD_OK;
        }
    return scan_unexpected(&before, "a type of numbers", err);
}
