/* lines.c - files of JSON lines: the log of a fit, or the results of an experiment. */
#include "figures.h"
#include "io.h"

#include <stdio.h>

int npmd_plot_is_lines(const char *path)
{
    file_source s = { 0 };
    char start[64] = { 0 };
    size_t got = 0;
    /* a pipe must be opened by its reader alone: what is taken from it is gone */
    if (file_size(path) == 0 || file_source_open(path, &s, NULL) != NPMD_OK)
        return 0;
    const npmd_status st = file_source_take(&s, start, sizeof start - 1, &got, NULL);
    file_source_close(&s);
    /* a model begins with eight bytes of a length, of which the last are zero */
    const char *brace = start + strspn(start, " \t\r\n");
    return st == NPMD_OK && strlen(start) == got && brace[0] == '{' && brace[1 + strspn(brace + 1, " \t")] == '"';
}

static void name_of_file(const char *path, char name[96])
{
    const char *slash = strrchr(path, '/');
    text_copy(name, 96, slash == NULL ? path : slash + 1);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = 0;
}

/* A last line without its end is one that a kill cut off, or that is being written: it is left out. */
npmd_status lines_read(const char *path, log_lines *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes bytes = { 0 };
    log_lines l = { .path = path };
    json_t *row = NULL;
    size_t number = 0;
    name_of_file(path, l.name);
    TRY(file_read_checked(path, file_starts_text, &bytes, err));
    l.rows = json_array();
    if (l.rows == NULL)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "%s: not enough memory for its JSON", path));
    for (char *at = (char *)bytes.data, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        char where[1100];
        number++;
        if (end == at || (end == at + 1 && *at == '\r'))
            continue;
        *end = 0;
        snprintf(where, sizeof where, "%.1000s, entry %zu:", path, number);
        TRY(json_from_text(at, (size_t)(end - at), where, &row, err));
        if (!json_is_object(row)
            || (json_object_get(row, "step") == NULL && json_object_get(row, "experiment") == NULL)) {
            json_decref(row);
            st = npmd_fail(err, NPMD_ERR_FORMAT,
                           "%s holds neither a \"step\", as the lines of fit `log` do, nor an \"experiment\", as those "
                           "of reproduce",
                           where);
            goto done;
        }
        l.experiment = json_object_get(row, "experiment") != NULL;
        TRY(json_append(l.rows, row, err));
    }
    if (json_array_size(l.rows) == 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s holds no line that could be drawn", path));
    *out = l;
    l.rows = NULL;
done:
    lines_free(&l);
    file_bytes_free(&bytes);
    return st;
}

void lines_free(log_lines *l)
{
    json_decref(l->rows);
    l->rows = NULL;
}
