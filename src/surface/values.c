/* values.c - columns of numbers on the vertices of a surface, from marginal, eigen and other programs. */
#include "mesh_formats.h"

#include <stdio.h>

npmd_status columns_add(vertex_columns *c, const char *name, size_t size, double **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t next = (size_t)c->columns;
    char *text = NULL;
    double *value = NULL;
    TRY(memory_grow((void **)&c->name, &c->name_room, next + 1, sizeof *c->name, err));
    TRY(memory_grow((void **)&c->value, &c->value_room, next + 1, sizeof *c->value, err));
    TRY(memory_new(&text, size + 1, err));
    TRY(memory_new(&value, c->vertices, err));
    memcpy(text, name, size);
    c->name[next] = text;
    c->value[next] = *out = value;
    c->columns++;
    text = NULL;
done:
    memory_free(text);
    return st;
}

void vertex_columns_free(vertex_columns *c)
{
    for (int i = 0; i < c->columns; i++) {
        memory_free_all(c->name[i], c->value[i]);
    }
    memory_free_all(c->name, c->value);
    *c = (vertex_columns){ 0 };
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* An array of several columns becomes as many, with numbers behind its name. */
static npmd_status array_take(const gifti_array *a, size_t number, vertex_columns *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char name[256];
    double *value = NULL;
    for (size_t k = 0; k < a->columns; k++) {
        const bool named = a->name != NULL && *a->name != 0;
        int size = named ? snprintf(name, sizeof name, "%.200s", a->name)
                         : snprintf(name, sizeof name, "array %zu", number + 1);
        if (a->columns > 1)
            size += snprintf(name + size, sizeof name - (size_t)size, " %zu", k + 1);
        TRY(columns_add(c, name, (size_t)size, &value, err));
        for (size_t i = 0; i < c->vertices; i++)
            value[i] = a->value[i * a->columns + k];
    }
done:
    return st;
}

npmd_status gifti_values_read(scanner *s, vertex_columns *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    gifti g = { 0 };
    TRY(gifti_parse(s, true, &g, err));
    for (size_t i = 0; i < g.arrays; i++) {
        TRY(scan_vertices_check(s->path, "values", g.array[i].rows, c->vertices, err));
        TRY(array_take(&g.array[i], i, c, err));
    }
done:
    gifti_free(&g);
    return st;
}

static npmd_status table_values_read(const char *path, vertex_columns *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    char name[32];
    double *value = NULL;
    TRY(table_read(path, &t, err));
    TRY(scan_vertices_check(path, "values", t.rows, c->vertices, err));
    for (size_t k = 0; k < t.columns; k++) {
        const int size = snprintf(name, sizeof name, "column %zu", k + 1);
        TRY(columns_add(c, name, (size_t)size, &value, err));
        for (size_t i = 0; i < t.rows; i++)
            value[i] = t.data[i * t.columns + k];
    }
done:
    table_free(&t);
    return st;
}

npmd_status vertex_columns_read(const char *path, size_t vertices, vertex_columns *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    vertex_columns c = { .vertices = vertices };
    scanner s = { 0 };
    const bool is_gifti = scan_suffix(path, ".gii");
    if (is_gifti || scan_suffix(path, ".vtk")) {
        TRY(scan_open(path, is_gifti ? file_starts_text : scan_starts_line, &s, err));
        TRY(is_gifti ? gifti_values_read(&s, &c, err) : vtk_values_read(&s, &c, err));
    } else {
        TRY(table_values_read(path, &c, err));
    }
    if (c.columns == 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s has no values on its vertices", path));
    *out = c;
    c = (vertex_columns){ 0 };
done:
    scan_close(&s);
    vertex_columns_free(&c);
    return st;
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

npmd_status vertex_columns_find(const vertex_columns *c, const char *name, const char *path, int *out, npmd_error *err)
{
    char *stop = NULL, names[300] = "";
    for (int i = 0; i < c->columns; i++)
        if (strcmp(c->name[i], name) == 0) {
            *out = i;
            return NPMD_OK;
        }
    const long number = strtol(name, &stop, 10);
    if (stop != name && *stop == 0 && number >= 1 && number <= c->columns) {
        *out = (int)number - 1;
        return NPMD_OK;
    }
    for (int i = 0; i < c->columns && i < 6; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s'%.40s'", i > 0 ? ", " : "", c->name[i]);
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "%s has no column '%.60s'; it has %s%s: give a name or a number from 1 to %d", path, name, names,
                     c->columns > 6 ? ", ..." : "", c->columns);
}
