/* listing.c - a JSON object of the library as aligned lines for people.
 *
 *   version         0.1.0
 *   options
 *     width         128
 *     max-frequency 10, 10
 *
 * The text comes from the library, so it is read once, forwards; should it not be JSON after all, it is
 * printed as it is. */
#include "console.h"

#include <stdlib.h>
#include <string.h>

enum { LISTING_DEPTH = 16, LISTING_COLUMN = 24, LISTING_ITEMS = 12 };

static const char *skip_blank(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static void put_utf8(unsigned code, FILE *out)
{
    if (code < 0x80) {
        fputc(code < 0x20 || code == 0x7F ? ' ' : (int)code, out);
    } else if (code < 0x800) {
        fputc((int)(0xC0 | code >> 6), out);
        fputc((int)(0x80 | (code & 0x3F)), out);
    } else {
        fputc((int)(0xE0 | code >> 12), out);
        fputc((int)(0x80 | (code >> 6 & 0x3F)), out);
        fputc((int)(0x80 | (code & 0x3F)), out);
    }
}

/* Each function takes the text at a value and returns what follows it, or NULL. */
static const char *list_string(const char *p, FILE *out)
{
    static const char letters[] = "nrtbf";
    for (p++; *p && *p != '"'; p++) {
        if (*p != '\\') {
            fputc(*p, out);
            continue;
        }
        p++;
        if (*p == 'u') {
            unsigned code = 0;
            if (strspn(p + 1, "0123456789abcdefABCDEF") < 4 || sscanf(p + 1, "%4x", &code) != 1)
                return NULL;
            put_utf8(code, out);
            p += 4;
        } else if (*p && strchr(letters, *p)) {
            fputc(' ', out);
        } else if (*p) {
            fputc(*p, out);
        } else {
            return NULL;
        }
    }
    return *p == '"' ? p + 1 : NULL;
}

static const char *list_scalar(const char *p, FILE *out)
{
    static const struct {
        const char *json, *words;
    } names[] = { { "true", "yes" }, { "false", "no" }, { "null", "-" } };
    if (*p == '"')
        return list_string(p, out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(p, names[i].json, strlen(names[i].json)) == 0) {
            fputs(names[i].words, out);
            return p + strlen(names[i].json);
        }
    const size_t length = strspn(p, "+-.0123456789eE");
    if (length == 0)
        return NULL;
    if (strcspn(p, ".eE") < length) /* whole numbers stay whole, a seed among them; others are rounded */
        fprintf(out, "%.6g", strtod(p, NULL));
    else
        fprintf(out, "%.*s", (int)length, p);
    return p + length;
}

static const char *list_object(const char *p, int depth, const char *without, FILE *out);

/* On one line, so only the first few of a long one; what they hold in turn is shown as it stands. */
static const char *list_array(const char *p, int depth, FILE *out, FILE *nowhere)
{
    int count = 0;
    if (depth >= LISTING_DEPTH)
        return NULL;
    for (p = skip_blank(p + 1); p && *p && *p != ']'; count++) {
        FILE *here = count < LISTING_ITEMS ? out : nowhere;
        if (count > 0 && here == out)
            fputs(", ", out);
        if (*p == '[') {
            fputc('(', here);
            p = list_array(p, depth + 1, here, nowhere);
            fputc(')', here);
        } else if (*p == '{') {
            p = list_object(p, depth + 1, NULL, here);
        } else {
            p = list_scalar(p, here);
        }
        if (!p)
            return NULL;
        p = skip_blank(p);
        if (*p == ',')
            p = skip_blank(p + 1);
        else if (*p != ']')
            return NULL;
    }
    if (count == 0)
        fputc('-', out);
    if (count > LISTING_ITEMS)
        fprintf(out, ", ... (%d in all)", count);
    return p && *p == ']' ? p + 1 : NULL;
}

/* Objects, one below the other, each under its number. */
static const char *list_objects(const char *p, int depth, FILE *out, FILE *nowhere)
{
    int count = 0;
    for (p = skip_blank(p + 1); p && *p == '{'; count++) {
        FILE *here = count < LISTING_ITEMS ? out : nowhere;
        fprintf(here, "%*s%d\n", 2 * depth, "", count + 1);
        p = list_object(p, depth + 1, NULL, here);
        p = p ? skip_blank(p) : NULL;
        if (p && *p == ',')
            p = skip_blank(p + 1);
    }
    if (count > LISTING_ITEMS)
        fprintf(out, "%*s... (%d in all)\n", 2 * depth, "", count);
    return p && *p == ']' ? p + 1 : NULL;
}

static const char *list_member(const char *p, int depth, const char *without, FILE *out, FILE *nowhere)
{
    char *name = NULL;
    size_t length = 0;
    FILE *key = *p == '"' ? open_memstream(&name, &length) : NULL;
    if (!key)
        return NULL;
    p = list_string(p, key);
    if (fclose(key) != 0 || !p || *(p = skip_blank(p)) != ':') {
        free(name);
        return NULL;
    }
    p = skip_blank(p + 1);
    if (without && strcmp(name, without) == 0)
        out = nowhere;
    const int indent = 2 * depth, room = LISTING_COLUMN - indent;
    if (*p == '{') {
        fprintf(out, "%*s%s\n", indent, "", name);
        p = list_object(p, depth + 1, NULL, out);
    } else if (*p == '[' && *skip_blank(p + 1) == '{') {
        fprintf(out, "%*s%s\n", indent, "", name);
        p = depth + 1 < LISTING_DEPTH ? list_objects(p, depth + 1, out, nowhere) : NULL;
    } else {
        fprintf(out, "%*s%-*s ", indent, "", room > 0 ? room : 0, name);
        p = *p == '[' ? list_array(p, depth + 1, out, nowhere) : list_scalar(p, out);
        fputc('\n', out);
    }
    free(name);
    return p;
}

static const char *list_object(const char *p, int depth, const char *without, FILE *out)
{
    char *unseen = NULL;
    size_t length = 0;
    if (*p != '{' || depth >= LISTING_DEPTH)
        return NULL;
    FILE *nowhere = open_memstream(&unseen, &length);
    if (!nowhere)
        return NULL;
    for (p = skip_blank(p + 1); p && *p != '}';) {
        p = list_member(p, depth, without, out, nowhere);
        p = p ? skip_blank(p) : NULL;
        if (p && *p == ',')
            p = skip_blank(p + 1);
        else if (p && *p != '}')
            p = NULL;
    }
    fclose(nowhere);
    free(unseen);
    return p ? p + 1 : NULL;
}

void cli_listing(const char *json, const char *without)
{
    char *lines = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&lines, &length);
    const char *end = out ? list_object(skip_blank(json), 0, without, out) : NULL;
    const bool whole = out && fclose(out) == 0 && end && !*skip_blank(end);
    if (whole)
        fputs(lines, stdout);
    else
        printf("%s\n", json);
    free(lines);
}
