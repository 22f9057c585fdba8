/* values_vtk.c - what a legacy VTK file stores on the points of its polygons.
 *
 *   POINT_DATA 4                            CELL_DATA n: what follows belongs to cells, and is skipped
 *   SCALARS name double 1                   components, 1 by default
 *   LOOKUP_TABLE default                    then 4 numbers for each component
 *   VECTORS name float                      NORMALS too: 3 components; TENSORS: 9
 *   FIELD FieldData 2                       2 arrays: "name components tuples type", and numbers
 *   LOOKUP_TABLE name 256                   a table of colours: 4 bytes each, in text 4 numbers
 *
 * Arrays of several components are skipped. */
#include "mesh_formats.h"

/* "a%20b" is "a b". size is that of the outcome. */
static void name_decode(scan_text word, char *out, size_t room, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < word.size && *size + 1 < room; i++) {
        char digits[3] = { 0 };
        if (word.at[i] == '%' && i + 2 < word.size) {
            memcpy(digits, word.at + i + 1, 2);
            char *stop = NULL;
            const long code = strtol(digits, &stop, 16);
            if (*stop == 0 && code > 0) {
                out[(*size)++] = (char)code;
                i += 2;
                continue;
            }
        }
        out[(*size)++] = word.at[i];
    }
}

/* The numbers of an array: one component a vertex becomes a column. */
static npmd_status array_read(scanner *s, scan_text word, size_t components, size_t tuples, number_type type,
                              bool points, vertex_columns *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char name[256];
    size_t size = 0;
    double *value = NULL;
    if (components > 0 && tuples > scan_left(s) / components)
        TRY(scan_fail(s, err, "%zu x %zu numbers are announced, but %zu bytes follow", tuples, components,
                      scan_left(s)));
    if (!points || components != 1) {
        TRY(scan_skip(s, type, components * tuples, "numbers of an array", err));
        goto done;
    }
    TRY(scan_vertices_check(s->path, "values", tuples, out->vertices, err));
    name_decode(word, name, sizeof name, &size);
    TRY(columns_add(out, name, size, &value, err));
    for (size_t i = 0; i < tuples; i++)
        TRY(scan_number(s, type, "a value", &value[i], err));
done:
    return st;
}

static npmd_status field_read(scanner *s, scanner *line, bool points, vertex_columns *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t arrays = 0, components = 0, tuples = 0;
    number_type type = NUMBER_NONE;
    scan_text name = { "", 0 };
    scan_word(line, &name);
    TRY(scan_count(line, "a number of arrays", &arrays, err));
    for (size_t i = 0; i < arrays; i++) {
        if (!scan_full_line(s, line) || !scan_word(line, &name))
            TRY(scan_unexpected(s, "the name of an array", err));
        if (scan_is(name, "METADATA")) { /* of the array before: up to an empty line */
            while (scan_line(s, line) && !scan_ends(line))
                ;
            i--;
            continue;
        }
        TRY(scan_count(line, "a number of components", &components, err));
        TRY(scan_count(line, "a number of tuples", &tuples, err));
        TRY(vtk_type_read(line, &type, err));
        TRY(array_read(s, name, components, tuples, type, points, out, err));
    }
done:
    return st;
}

static npmd_status scalars_read(scanner *s, scanner *line, size_t count, bool points, vertex_columns *out,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t components = 1;
    number_type type = NUMBER_NONE;
    scan_text name = { "", 0 }, word = { "", 0 };
    scan_word(line, &name);
    TRY(vtk_type_read(line, &type, err));
    if (!scan_ends(line))
        TRY(scan_count(line, "a number of components", &components, err));
    if (!scan_full_line(s, line) || !scan_word(line, &word) || !scan_is(word, "LOOKUP_TABLE"))
        TRY(scan_unexpected(s, "LOOKUP_TABLE", err));
    TRY(array_read(s, name, components, count, type, points, out, err));
done:
    return st;
}

static npmd_status vectors_skip(scanner *s, scanner *line, size_t components, size_t count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    number_type type = NUMBER_NONE;
    scan_text name = { "", 0 };
    scan_word(line, &name);
    TRY(vtk_type_read(line, &type, err));
    TRY(array_read(s, name, components, count, type, false, NULL, err));
done:
    return st;
}

/* "LOOKUP_TABLE name size" and "COLOR_SCALARS name components": bytes. */
static npmd_status colours_skip(scanner *s, scanner *line, bool lookup, size_t count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scan_text name = { "", 0 };
    size_t size = 0;
    scan_word(line, &name);
    TRY(scan_count(line, "a number", &size, err));
    TRY(array_read(s, name, lookup ? 4 : size, lookup ? size : count, NUMBER_U8, false, NULL, err));
done:
    return st;
}

static npmd_status attribute_read(scanner *s, scanner *line, bool *points, size_t *count, vertex_columns *out,
                                  npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *line;
    scan_text word = { "", 0 };
    scan_word(line, &word);
    if (scan_is(word, "POINT_DATA") || scan_is(word, "CELL_DATA")) {
        *points = scan_is(word, "POINT_DATA");
        TRY(scan_count(line, "a number of values", count, err));
    } else if (scan_is(word, "SCALARS"))
        TRY(scalars_read(s, line, *count, *points, out, err));
    else if (scan_is(word, "FIELD"))
        TRY(field_read(s, line, *points, out, err));
    else if (scan_is(word, "VECTORS") || scan_is(word, "NORMALS"))
        TRY(vectors_skip(s, line, 3, *count, err));
    else if (scan_is(word, "TENSORS"))
        TRY(vectors_skip(s, line, 9, *count, err));
    else if (scan_is(word, "LOOKUP_TABLE") || scan_is(word, "COLOR_SCALARS"))
        TRY(colours_skip(s, line, scan_is(word, "LOOKUP_TABLE"), *count, err));
    else if (scan_is(word, "METADATA"))
        while (scan_line(s, line) && !scan_ends(line))
            ;
    else
        st = scan_unexpected(&before, "SCALARS, FIELD or what else is stored on points", err);
done:
    return st;
}

npmd_status vtk_values_read(scanner *s, vertex_columns *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mesh_parts parts = { 0 };
    scanner line = *s;
    bool data = false, points = false;
    size_t count = 0;
    TRY(vtk_mesh_read(s, &parts, &line, &data, err));
    TRY(scan_vertices_check(s->path, "values", parts.vertices, out->vertices, err));
    for (bool more = data; more; more = scan_full_line(s, &line))
        TRY(attribute_read(s, &line, &points, &count, out, err));
done:
    memory_free_all(parts.x, parts.face);
    return st;
}
