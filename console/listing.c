/* listing.c - a JSON object of the library as aligned lines for people.
 *
 *   version         0.1.0
 *   options
 *     width         128
 *     max-frequency 10, 10
 *
 * A text that is no such object is printed as it is. */
#include "console.h"
#include "json.h"

#include <string.h>

enum { LISTING_COLUMN = 24, LISTING_ITEMS = 12 };

static void list_object(const json_t *object, int depth, const char *without, FILE *out);

static void list_text(const char *text, FILE *out)
{
    for (; *text; text++)
        fputc((unsigned char)*text < 0x20 || *text == 0x7F ? ' ' : *text, out);
}

static void list_scalar(const json_t *value, FILE *out)
{
    if (json_is_string(value))
        list_text(json_string_value(value), out);
    else if (json_is_integer(value)) /* whole numbers stay whole, a seed among them; others are rounded */
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.6g", json_real_value(value));
    else
        fputs(!json_is_boolean(value) ? "-" : json_is_true(value) ? "yes" : "no", out);
}

/* On one line, so only the first few of a long one. */
static void list_array(const json_t *array, int depth, FILE *out)
{
    const size_t count = json_array_size(array);
    for (size_t i = 0; i < count && i < LISTING_ITEMS; i++) {
        const json_t *item = json_array_get(array, i);
        fputs(i > 0 ? ", " : "", out);
        if (json_is_array(item)) {
            fputc('(', out);
            list_array(item, depth, out);
            fputc(')', out);
        } else if (json_is_object(item)) {
            list_object(item, depth + 1, NULL, out);
        } else {
            list_scalar(item, out);
        }
    }
    if (count == 0)
        fputc('-', out);
    if (count > LISTING_ITEMS)
        fprintf(out, ", ... (%zu in all)", count);
}

/* Objects, one below the other, each under its number. */
static void list_objects(const json_t *array, int depth, FILE *out)
{
    const size_t count = json_array_size(array);
    for (size_t i = 0; i < count && i < LISTING_ITEMS; i++) {
        fprintf(out, "%*s%zu\n", 2 * depth, "", i + 1);
        list_object(json_array_get(array, i), depth + 1, NULL, out);
    }
    if (count > LISTING_ITEMS)
        fprintf(out, "%*s... (%zu in all)\n", 2 * depth, "", count);
}

static void list_object(const json_t *object, int depth, const char *without, FILE *out)
{
    for (size_t i = 0; i < json_object_size(object); i++) {
        const char *key = json_object_key(object, i);
        const json_t *value = json_object_value(object, i);
        const bool objects = json_is_object(json_array_get(value, 0));
        const int indent = 2 * depth, room = LISTING_COLUMN - indent;
        if (without && strcmp(key, without) == 0)
            continue;
        if (json_is_object(value) || objects) {
            fprintf(out, "%*s%s\n", indent, "", key);
            objects ? list_objects(value, depth + 1, out) : list_object(value, depth + 1, NULL, out);
            continue;
        }
        fprintf(out, "%*s%-*s ", indent, "", room > 0 ? room : 0, key);
        json_is_array(value) ? list_array(value, depth + 1, out) : list_scalar(value, out);
        fputc('\n', out);
    }
}

void cli_listing(const cli_args *args, const char *json, const char *without)
{
    json_t *object = NULL;
    if (!args->json && json_from_text(json, strlen(json), "", &object, NULL) == NPMD_OK && json_is_object(object))
        list_object(object, 0, without, stdout);
    else
        printf("%s\n", json);
    json_decref(object);
}
