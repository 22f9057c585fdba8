/* facts.h - results for programs: one JSON object, made of facts, each a key with its value. */
#ifndef NEUROPMD_FACTS_H
#define NEUROPMD_FACTS_H

#include "neuropmd.h"

#include <stdbool.h>

typedef struct cli_args cli_args; /* console.h */

typedef struct cli_fact { /* a member of an object */
    const char *key;      /* NULL ends a list; "": it is left out */
    enum { FACT_TEXT, FACT_REAL, FACT_FINITE, FACT_WHOLE, FACT_COUNT, FACT_FLAG } kind;
    union {
        const char *text; /* NULL: null */
        double real;      /* not finite: null, of FACT_FINITE left out */
        int64_t whole;
        uint64_t count;
    } is;
} cli_fact;
#define TEXT(key, value) ((cli_fact){ key, FACT_TEXT, { .text = (value) } })
#define REAL(key, value) ((cli_fact){ key, FACT_REAL, { .real = (value) } })
#define FINITE(key, value) ((cli_fact){ key, FACT_FINITE, { .real = (value) } })
#define WHOLE(key, value) ((cli_fact){ key, FACT_WHOLE, { .whole = (int64_t)(value) } })
#define COUNT(key, value) ((cli_fact){ key, FACT_COUNT, { .count = (value) } })
#define FLAG(key, value) ((cli_fact){ key, FACT_FLAG, { .whole = (value) } })
#define NO_FACT ((cli_fact){ .key = "" })
#define CLI_FACTS(...) ((const cli_fact[]){ __VA_ARGS__, { 0 } })

enum { CLI_JSON_DEEPEST = 8 };
typedef struct cli_json {
    /* the object, then the lists and objects being filled, each inside the one before */
    struct json_t *open[CLI_JSON_DEEPEST];
    int depth;   /* number of those inside the object */
    char *text;  /* set by cli_json_end */
    bool failed; /* memory ran out; nothing is printed */
} cli_json;

void cli_json_begin(cli_json *j); /* from {0}, or again for the next object */
void cli_json_put(cli_json *j, const cli_fact *facts);
#define CLI_PUT(j, ...) cli_json_put(j, CLI_FACTS(__VA_ARGS__))
#define CLI_PUT_OBJECT(j, ...) (cli_json_object(j), CLI_PUT(j, __VA_ARGS__), cli_json_leave(j)) /* in a list */
void cli_json_list(cli_json *j, const char *key); /* key NULL, here and in cli_json_items: a list in a list */
void cli_json_item(cli_json *j, const char *value);
void cli_json_items(cli_json *j, const char *key, const double *value, size_t count); /* a list of numbers */
void cli_json_object(cli_json *j);                                                    /* starts an object in a list */
void cli_json_leave(cli_json *j);                     /* ends a list, or an object in one */
void cli_json_whole(cli_json *j, const char *object); /* adds an item that was printed before, up to its newline */
void cli_json_end(cli_json *j);                       /* makes text: one line with its newline */
void cli_json_free(cli_json *j);
int cli_json_print(const cli_args *args, cli_json *j); /* ends, prints to stdout and frees it */
/* An object of these facts alone, to stdout. */
#define CLI_PRINT(args, ...) cli_facts_print(args, CLI_FACTS(__VA_ARGS__))
int cli_facts_print(const cli_args *args, const cli_fact *facts);
npmd_status cli_facts_put(struct json_t *object, const cli_fact *facts, npmd_error *err);
char *cli_json_row(const double *x, size_t count); /* "[1,2.5,null]" with 7 digits, to be freed; NULL: no memory */

#endif
