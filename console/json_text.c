/* json_text.c - results for programs: one JSON object, built key by key. */
#include "console.h"
#include "json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* key NULL: an item of a list. */
static void json_add(cli_json *j, const char *key, json_t *value)
{
    json_t *into = j->open[j->depth];
    if ((key ? json_put(into, key, value, NULL) : json_append(into, value, NULL)) != NPMD_OK)
        j->failed = true;
}

/* What is filled next; it is held here, too, so that it is there even if it could not be added. */
static void json_enter(cli_json *j, const char *key, json_t *value)
{
    assert(j->depth + 1 < CLI_JSON_DEEPEST);
    json_t *held = json_incref(value);
    json_add(j, key, value);
    j->open[++j->depth] = held;
}

void cli_json_leave(cli_json *j)
{
    json_decref(j->open[j->depth]);
    j->open[j->depth--] = NULL;
}

static json_t *fact_value(const cli_fact *f)
{
    return f->kind == FACT_TEXT    ? f->is.text ? json_any_text(f->is.text) : json_null()
              : f->kind == FACT_WHOLE ? json_integer(f->is.whole)
           : f->kind == FACT_COUNT ? json_unsigned(f->is.count)
           : f->kind == FACT_FLAG  ? json_boolean(f->is.whole)
                                   : json_known(f->is.real);
}

npmd_status cli_facts_put(json_t *object, const cli_fact *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (const cli_fact *f = facts; f->key && st == NPMD_OK; f++)
        if (f->key[0] && (f->kind != FACT_FINITE || isfinite(f->is.real)))
            st = json_put(object, f->key, fact_value(f), err);
    return st;
}

void cli_json_begin(cli_json *j)
{
    cli_json_free(j);
    j->open[0] = json_object();
}

void cli_json_put(cli_json *j, const cli_fact *facts)
{
    j->failed |= cli_facts_put(j->open[j->depth], facts, NULL) != NPMD_OK;
}

void cli_json_list(cli_json *j, const char *key)
{
    json_enter(j, key, json_array());
}

void cli_json_item(cli_json *j, const char *value)
{
    json_add(j, NULL, json_any_text(value));
}

void cli_json_items(cli_json *j, const char *key, const double *value, size_t count)
{
    cli_json_list(j, key);
    for (size_t i = 0; i < count; i++)
        json_add(j, NULL, json_known(value[i]));
    cli_json_leave(j);
}

void cli_json_object(cli_json *j)
{
    json_enter(j, NULL, json_object());
}

void cli_json_whole(cli_json *j, const char *object)
{
    json_add(j, NULL, json_printed(object, strcspn(object, "\n")));
}

void cli_json_end(cli_json *j)
{
    const size_t length = json_print(j->open[0], JSON_PRINTF, NULL, 0);
    j->text = j->failed || length == 0 ? NULL : malloc(length + 2);
    j->failed = !j->text;
    if (j->failed)
        return;
    json_print(j->open[0], JSON_PRINTF, j->text, length + 1);
    memcpy(j->text + length, "\n", 2);
}

void cli_json_free(cli_json *j)
{
    while (j->depth > 0)
        cli_json_leave(j);
    json_decref(j->open[0]);
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

int cli_facts_print(const cli_args *args, const cli_fact *facts)
{
    cli_json j = { 0 };
    cli_json_begin(&j);
    cli_json_put(&j, facts);
    return cli_json_print(args, &j);
}

char *cli_json_row(const double *x, size_t count)
{
    const size_t flags = JSON_COMPACT | JSON_PRINTF | JSON_REAL_PRECISION(7);
    json_t *row = json_array();
    bool whole = row != NULL;
    for (size_t i = 0; i < count; i++)
        whole &= json_append(row, json_known(x[i]), NULL) == NPMD_OK;
    const size_t length = json_print(row, flags, NULL, 0);
    char *text = whole ? malloc(length + 1) : NULL;
    if (text)
        json_print(row, flags, text, length + 1);
    json_decref(row);
    return text;
}
