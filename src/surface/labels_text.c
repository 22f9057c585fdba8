/* labels_text.c - labels in text: FreeSurfer's .label, and tables.
 *
 * A .label file is one region, named after the file:
 *
 *   #!ascii label, from subject ...
 *   2
 *   17  -12.3 4.5 6.7  0.0     a vertex, its coordinates, a number; a line each
 *
 * A table (.csv, .tsv, .txt) has a row for every vertex: its label, or its number and its label, separated by a comma,
 * semicolon or tab; numbers count from 0. A label is a name or, if all of them are, an integer. An empty label in a
 * line that is not empty, or a negative number, is no region. # opens a comment; a first row in excess is a header. */
#include "mesh_formats.h"

/* ---- .label ------------------------------------------------------------------------------------------------------ */

static npmd_status file_name_take(const char *path, labels *l, npmd_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t size = strlen(name);
    if (file_has_suffix(name, ".gz"))
        size -= 3;
    if (size > 6 && strncmp(name + size - 6, ".label", 6) == 0)
        size -= 6;
    return labels_name(l, 0, name, size, err);
}

npmd_status label_read(scanner *s, size_t vertices, labels *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    labels l = { 0 };
    scanner line = *s;
    size_t count = 0, vertex = 0;
    if (!scan_line(s, &line) || scan_left(&line) == 0 || *line.at != '#')
        TRY(scan_unexpected(&line, "#!ascii label", err));
    if (!scan_full_line(s, &line))
        TRY(scan_unexpected(s, "the number of vertices", err));
    TRY(scan_count(&line, "the number of vertices", &count, err));
    TRY(labels_start(vertices, 1, &l, err));
    TRY(file_name_take(s->path, &l, err));
    for (size_t i = 0; i < count; i++) { /* each takes a line: a false number ends with the file */
        if (!scan_full_line(s, &line))
            TRY(scan_unexpected(s, "a vertex", err));
        TRY(scan_count(&line, "a vertex, from 0", &vertex, err));
        if (vertex >= vertices)
            TRY(scan_fail(&line, err, "vertex %zu, but the surface has %zu: is the label of another mesh?", vertex,
                          vertices));
        TRY(scan_skip(&line, NUMBER_F64, 4, "three coordinates and a number", err));
        l.region[vertex] = 0;
    }
    if (!scan_ends(s))
        TRY(scan_unexpected(s, "the end of the file", err));
    *out = l;
    l = (labels){ 0 };
done:
    labels_free(&l);
    return st;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Without blanks and quotes around it. */
static scan_text text_trim(const char *at, const char *end)
{
    const span s = span_trim((span){ at, end });
    const bool quoted = s.end - s.at >= 2 && *s.at == '"' && s.end[-1] == '"';
    return (scan_text){ s.at + quoted, (size_t)(s.end - s.at) - (quoted ? 2 : 0) };
}

/* The next row that is not empty: one field or two. */
static bool row_take(scanner *s, scanner *line, scan_text field[2], int *fields)
{
    while (scan_line(s, line)) {
        const char *split = NULL, *end = line->at;
        bool quoted = false, full = false;
        for (; end < line->end && (quoted || *end != '#'); end++) {
            quoted ^= *end == '"';
            full |= *end != ' ' && *end != '\t';
            if (!quoted && split == NULL && (*end == ',' || *end == ';' || *end == '\t'))
                split = end;
        }
        *fields = split != NULL ? 2 : 1;
        field[0] = text_trim(line->at, split != NULL ? split : end);
        field[1] = split != NULL ? text_trim(split + 1, end) : (scan_text){ end, 0 };
        if (full)
            return true;
    }
    return false;
}

static bool is_integer(const scanner *line, scan_text field, int64_t *out)
{
    scanner s = *line;
    scan_text word;
    s.at = field.at;
    s.end = field.at + field.size;
    scanner once = s;
    return scan_word(&once, &word) && word.size == field.size && strspn(field.at, "+-0123456789") >= field.size
           && scan_whole(&s, NUMBER_I64, "an integer", out, NULL) == NPMD_OK;
}

/* The rows of a file, and of how many fields they are. The first line is a header if it is a row too many, or has no
 * number where others have that of a vertex. */
typedef struct row_facts {
    size_t rows;
    int fields;
    bool header, words;
} row_facts;

static npmd_status rows_count(scanner s, size_t vertices, row_facts *out, npmd_error *err)
{
    scanner line = s;
    scan_text field[2];
    int64_t number;
    int fields;
    bool first_number = true;
    row_facts r = { 0 };
    for (; row_take(&s, &line, field, &fields); r.rows++) {
        const scan_text label = field[fields - 1];
        const bool integer = label.size == 0 || is_integer(&line, label, &number);
        if (r.rows == 0) {
            r.fields = fields;
            first_number = integer;
            r.header = fields == 2 && !is_integer(&line, field[0], &number);
        } else if (fields != r.fields) {
            return scan_fail(&line, err, "%d fields were found, %d expected as in the first row", fields, r.fields);
        } else {
            r.words |= !integer;
        }
    }
    r.header |= r.fields == 1 && r.rows == vertices + 1 && !first_number;
    r.words |= !r.header && !first_number;
    *out = r;
    return NPMD_OK;
}

/* A quote within quotes stands doubled in the file. */
static void single_quotes(char *name)
{
    char *to = name;
    for (const char *at = name; *at != '\0'; at++) {
        *to++ = *at;
        at += at[0] == '"' && at[1] == '"';
    }
    *to = '\0';
}

npmd_status label_table_read(scanner *s, size_t vertices, labels *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    label_entry *entry = NULL;
    row_facts r = { 0 };
    scanner line = *s;
    scan_text field[2];
    int fields = 0;
    TRY(rows_count(*s, vertices, &r, err));
    TRY(scan_vertices_check(s->path, "labels", r.rows - r.header, vertices, err));
    TRY(memory_new(&entry, vertices, err));
    for (size_t i = 0; i < vertices; i++)
        entry[i].vertex = SIZE_MAX; /* not there yet */
    if (r.header)
        row_take(s, &line, field, &fields);
    for (size_t i = 0; row_take(s, &line, field, &fields); i++) {
        int64_t vertex = (int64_t)i, number = -1;
        const scan_text label = field[fields - 1];
        if (fields == 2 && !is_integer(&line, field[0], &vertex))
            vertex = -1;
        if (vertex < 0 || (size_t)vertex >= vertices || entry[vertex].vertex != SIZE_MAX)
            TRY(scan_fail(&line, err, "each vertex of 0 to %zu was expected once in the first field", vertices - 1));
        if (!r.words && label.size > 0)
            is_integer(&line, label, &number);
        entry[vertex] = (label_entry){ .vertex = (size_t)vertex, .number = number };
        if (r.words)
            entry[vertex].word = label;
    }
    TRY(labels_from_entries(entry, vertices, r.words, out, err));
    for (int i = 0; i < out->regions; i++)
        single_quotes(out->name[i]);
done:
    memory_free(entry);
    return st;
}
