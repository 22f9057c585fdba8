/* table.c - rows and columns of numbers: the suffix of a file gives its format. */
#include "io.h"

#include <stdio.h>
#include <unistd.h>

typedef struct table_format {
    char suffix[9];
    char separator; /* 0: .npy */
    bool zipped;    /* written as gzip; a reader looks for itself */
} table_format;
static const table_format FORMATS[] = {
    { ".npy", 0, false },     { ".csv", ',', false },    { ".tsv", '\t', false },  { ".txt", ' ', false },
    { ".csv.gz", ',', true }, { ".tsv.gz", '\t', true }, { ".txt.gz", ' ', true },
};
#define SUFFIXES ".csv, .tsv, .txt (or these with .gz), .npy"

/* The format that the suffix names; NULL: none. */
static const table_format *format_of(const char *path)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (file_has_suffix(path, FORMATS[i].suffix))
            return &FORMATS[i];
    return NULL;
}

npmd_status table_read(const char *path, table *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *file = NULL; /* what stands before the last colon */
    const char *colon = strrchr(path, ':');
    const table_format *format = format_of(path);
    TRY(memory_text(&file, path, err));
    if (colon != NULL)
        file[colon - path] = 0;
    if (colon != NULL && file_has_suffix(file, ".mat") && access(path, F_OK) != 0)
        TRY(mat_read(file, colon + 1, out, err));
    else if (file_has_suffix(path, ".mat"))
        TRY(mat_read(path, NULL, out, err));
    else if (format == NULL)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: unknown suffix, expected " SUFFIXES " or .mat", path);
    else
        st = format->separator == 0 ? npy_read(path, out, err) : csv_read(path, out, err);
done:
    memory_free(file);
    return st;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

struct table_writer {
    file_writer *file;
    char *path;
    char separator;
    size_t columns, rows, done; /* rows announced, rows written */
};

void table_writer_abandon(table_writer *w)
{
    if (w == NULL)
        return;
    file_writer_abandon(w->file);
    memory_free_all(w->path, w);
}

static npmd_status suffix_fail(const char *path, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "%s: unknown suffix, expected " SUFFIXES, path);
}

npmd_status table_writer_open(const char *path, size_t columns, size_t rows, table_writer **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table_writer *w = NULL;
    const table_format *format = format_of(path);
    if (format == NULL)
        return suffix_fail(path, err);
    if (format->separator == 0 && rows == TABLE_ROWS_UNKNOWN)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "%s: an .npy file begins with its number of rows, which must be known",
                      path));
    TRY(memory_new(&w, 1, err));
    w->separator = format->separator;
    w->columns = columns;
    w->rows = rows;
    TRY(memory_text(&w->path, path, err));
    TRY(file_writer_open(path, &w->file, err));
    if (format->zipped)
        TRY(file_writer_zip(w->file, err));
    if (format->separator == 0)
        TRY(npy_put_header(w->file, rows, columns, err));
    *out = w;
    w = NULL;
done:
    table_writer_abandon(w);
    return st;
}

npmd_status table_writer_put(table_writer *w, const double *a, size_t rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (rows > w->rows - w->done)
        TRY(npmd_fail(err, NPMD_ERR_SHAPE, "%s: %zu rows were announced, more came", w->path, w->rows));
    if (w->separator == 0)
        TRY(file_writer_put(w->file, a, rows * w->columns * sizeof *a, err));
    else
        TRY(csv_put(w->file, w->separator, a, rows, w->columns, err));
    w->done += rows;
done:
    return st;
}

npmd_status table_writer_commit(table_writer *w, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (w->rows != TABLE_ROWS_UNKNOWN && w->done != w->rows)
        TRY(npmd_fail(err, NPMD_ERR_SHAPE, "%s: %zu rows were announced, %zu came", w->path, w->rows, w->done));
    st = file_writer_commit(w->file, err);
    w->file = NULL;
done:
    table_writer_abandon(w);
    return st;
}

npmd_status table_write(const char *path, const double *a, size_t rows, size_t columns, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table_writer *w = NULL;
    TRY(table_writer_open(path, columns, rows, &w, err));
    TRY(table_writer_put(w, a, rows, err));
    st = table_writer_commit(w, err);
    w = NULL;
done:
    table_writer_abandon(w);
    return st;
}

npmd_status table_output_check(const char *path, npmd_error *err)
{
    return format_of(path) == NULL ? suffix_fail(path, err) : file_output_check(path, err);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

void table_free(table *t)
{
    memory_free_all(t->data, t->line, t->path);
    *t = (table){ 0 };
}

void table_where(const table *t, size_t row, char *text, size_t size)
{
    assert(row < t->rows);
    if (t->line != NULL)
        snprintf(text, size, "%s line %zu", t->path, t->line[row]);
    else
        snprintf(text, size, "%s row %zu", t->path, row + 1);
}
