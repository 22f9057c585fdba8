/* table.c - rows and columns of numbers: the format is read off the file's suffix. */
#include "io.h"

#include <stdio.h>

npmd_status table_read(const char *path, table *out, npmd_error *err)
{
    if (file_has_suffix(path, ".npy"))
        return npy_read(path, out, err);
    if (file_has_suffix(path, ".csv") || file_has_suffix(path, ".tsv") || file_has_suffix(path, ".txt"))
        return csv_read(path, out, err);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: unknown suffix, expected .csv, .tsv, .txt or .npy", path);
}

static const char TEXT_SUFFIX[][5] = { ".csv", ".tsv", ".txt" }, SEPARATOR[] = { ',', '\t', ' ' };
#define TEXT_SUFFIXES (sizeof TEXT_SUFFIX / sizeof *TEXT_SUFFIX)

npmd_status table_output_check(const char *path, npmd_error *err)
{
    bool known = file_has_suffix(path, ".npy");
    for (size_t i = 0; i < TEXT_SUFFIXES; i++)
        known = known || file_has_suffix(path, TEXT_SUFFIX[i]);
    if (!known)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "%s: unknown suffix, expected .csv, .tsv, .txt or .npy",
                         path);
    return file_output_check(path, err);
}

npmd_status table_write(const char *path, const double *a, size_t rows, size_t columns, npmd_error *err)
{
    for (size_t i = 0; i < TEXT_SUFFIXES; i++)
        if (file_has_suffix(path, TEXT_SUFFIX[i]))
            return csv_write(path, SEPARATOR[i], a, rows, columns, err);
    if (file_has_suffix(path, ".npy"))
        return npy_write(path, a, rows, columns, err);
    return table_output_check(path, err);
}

void table_free(table *t)
{
    if (t == NULL)
        return;
    memory_free(t->data);
    memory_free(t->line);
    memory_free(t->path);
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
