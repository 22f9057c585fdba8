/* reproduce_data.c - the rows of numbers in the lines of results, as one table beside the file of results.
 *
 * The lines have all the data, so the tables can be made again at any time; they have the tasks of this run. */
#include "reproduce.h"

#include <stdlib.h>
#include <string.h>

char *reproduce_beside(const char *out, const char *prefix, const char *name, const char *ending)
{
    const char *slash = strrchr(out, '/'), *dot = strrchr(out, '.');
    const size_t stem = dot && dot > (slash ? slash + 1 : out) ? (size_t)(dot - out) : strlen(out);
    return reproduce_words("%.*s_%s%s%s", (int)stem, out, prefix, name, ending);
}

/* "[1,2],[3,4]]" to lines that begin with the task. */
static void write_rows(FILE *f, const reproduce_task *task, const char *rows)
{
    for (const char *at = rows; *at == '[';) {
        const size_t length = strcspn(at + 1, "]");
        fprintf(f, "%s,%s,%d,%.*s\n", task->row->method, task->row->settings, task->replicate, (int)length, at + 1);
        at += length + 2;
        at += *at == ',';
    }
}

typedef struct table_of {
    const reproduce_plan *plan;
    const reproduce_data *data;
} table_of;

static void write_table(FILE *f, const void *user)
{
    const table_of *table = user;
    const reproduce_plan *plan = table->plan;
    const reproduce_data *data = table->data;
    char key[48];
    snprintf(key, sizeof key, "\"%s\": [", data->key);
    fprintf(f, "method,settings,replicate,%s\n", data->columns);
    for (int i = 0; i < plan->count; i++) {
        const reproduce_task *task = &plan->tasks[i];
        const char *at = task->done && !task->failed ? strstr(task->line, key) : NULL;
        if (at)
            write_rows(f, task, at + strlen(key));
    }
}

static int write_file(const reproduce_plan *plan, const reproduce_data *data)
{
    char *path = reproduce_beside(plan->out, "", data->suffix, ".csv");
    const table_of table = { plan, data };
    const int code = path ? cli_write(plan->args, path, write_table, &table)
                          : cli_fail(plan->args, CLI_MEMORY, "not enough memory for a file's name");
    free(path);
    return code;
}

int reproduce_data_write(const reproduce_plan *plan)
{
    int code = CLI_DONE;
    for (const reproduce_data *d = plan->experiment->data; plan->out && d->key && code == CLI_DONE; d++)
        code = write_file(plan, d);
    return code;
}
