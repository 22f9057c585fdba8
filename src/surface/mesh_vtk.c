/* mesh_vtk.c - VTK's legacy files of polygons (DATASET POLYDATA), in text and in binary, which is big-endian.
 *
 *   # vtk DataFile Version 4.2
 *   a title
 *   ASCII                       or BINARY
 *   DATASET POLYDATA
 *   POINTS 4 float              then 4 x 3 numbers
 *   POLYGONS 4 16               then, for each, its number of corners and their vertices: 16 integers
 *
 * From version 5.1 on, instead,
 *
 *   POLYGONS 5 12
 *   OFFSETS vtktypeint64        5 integers: where the corners of each polygon begin, and where they end
 *   CONNECTIVITY vtktypeint64   12 integers, the vertices
 *
 * Single vertices, lines, fields, and data of points and cells are skipped. */
#include "mesh_formats.h"

static const number_name TYPES[] = { { "float", NUMBER_F32 },        { "double", NUMBER_F64 },
                                     { "int", NUMBER_I32 },          { "unsigned_int", NUMBER_U32 },
                                     { "long", NUMBER_I64 },         { "unsigned_long", NUMBER_U64 },
                                     { "vtktypeint64", NUMBER_I64 }, { "vtkIdType", NUMBER_I32 },
                                     { "short", NUMBER_I16 },        { "unsigned_short", NUMBER_U16 },
                                     { "char", NUMBER_I8 },          { "unsigned_char", NUMBER_U8 },
                                     { "signed_char", NUMBER_I8 },   { "vtktypeuint64", NUMBER_U64 } };

npmd_status vtk_type_read(scanner *line, number_type *out, npmd_error *err)
{
    return scan_number_type(line, TYPES, sizeof TYPES / sizeof *TYPES, out, err);
}

/* A line that must be there, and begin with this word; *line stands behind it. */
static npmd_status line_expect(scanner *s, const char *word, scanner *line, npmd_error *err)
{
    scan_text found = { "", 0 };
    if (!scan_full_line(s, line))
        return scan_unexpected(s, word, err);
    const scanner before = *line;
    scan_word(line, &found);
    return scan_is(found, word) ? NPMD_OK : scan_unexpected(&before, word, err);
}

/* ---- the parts of a file ----------------------------------------------------------------------------------------- */

static npmd_status points_read(scanner *s, scanner *line, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t points = 0;
    number_type type = NUMBER_NONE;
    if (out->vertices > 0)
        TRY(scan_fail(line, err, "POINTS are there twice"));
    TRY(scan_count(line, "the number of points", &points, err));
    TRY(vtk_type_read(line, &type, err));
    for (size_t i = 0; i < points; i++) /* each takes bytes: a false number ends with the file */
        TRY(parts_vertex_read(out, s, type, err));
done:
    return st;
}

static const char CORNER[] = "the number of a point";

/* Count, corners, count, corners, ...: size numbers in all. */
static npmd_status polygons_read(scanner *s, size_t polygons, size_t size, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (size_t i = 0; i < polygons; i++) {
        const scanner before = *s;
        int64_t corners = 0;
        TRY(scan_whole(s, NUMBER_I32, "a number of corners", &corners, err));
        if (corners != 3)
            TRY(parts_polygon_fail(out, &before, corners, err));
        TRY(parts_face_read(out, s, NUMBER_I32, CORNER, err));
    }
    if (size != 4 * polygons)
        st = scan_fail(s, err, "%zu triangles are %zu numbers, but POLYGONS announced %zu", polygons, 4 * polygons,
                       size);
done:
    return st;
}

/* Of triangles alone, the i-th begins at 3 i. */
static npmd_status offsets_read(scanner *s, size_t offsets, size_t corners, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner line;
    number_type type = NUMBER_NONE;
    int64_t offset = 0;
    TRY(line_expect(s, "OFFSETS", &line, err));
    TRY(vtk_type_read(&line, &type, err));
    for (size_t i = 0; i < offsets; i++) {
        const scanner before = *s;
        const int64_t expected = 3 * (int64_t)i, last = expected - 3;
        TRY(scan_whole(s, type, "an offset", &offset, err));
        if (offset != expected)
            TRY(scan_fail(&before, err, "polygon %zu has %lld corners, 3 were expected: triangulate it",
                          i == 0 ? i : i - 1, (long long)(offset - last)));
    }
    if (offsets > 0 && corners != 3 * (offsets - 1))
        TRY(scan_fail(s, err, "%zu triangles have %zu corners, but POLYGONS announced %zu", offsets - 1,
                      3 * (offsets - 1), corners));
    TRY(line_expect(s, "CONNECTIVITY", &line, err));
    TRY(vtk_type_read(&line, &type, err));
    for (size_t i = 1; i < offsets; i++)
        TRY(parts_face_read(out, s, type, CORNER, err));
done:
    return st;
}

/* Vertices and lines: numbers as in polygons. */
static npmd_status cells_skip(scanner *s, bool offsets, size_t first, size_t second, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const char *const WORDS[] = { "OFFSETS", "CONNECTIVITY" };
    scanner line;
    number_type type = NUMBER_NONE;
    if (!offsets)
        return scan_skip(s, NUMBER_I32, second, "integers", err);
    for (int k = 0; k < 2; k++) {
        TRY(line_expect(s, WORDS[k], &line, err));
        TRY(vtk_type_read(&line, &type, err));
        TRY(scan_skip(s, type, k == 0 ? first : second, "integers", err));
    }
done:
    return st;
}

static npmd_status cells_read(scanner *s, scanner *line, bool polygons, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t first = 0, second = 0;
    scanner ahead = *s, next;
    scan_text word = { "", 0 };
    TRY(scan_count(line, "a number of cells", &first, err));
    TRY(scan_count(line, "a number of integers", &second, err));
    /* In binary an integer never begins with "OFFS": it would be a count of 10^9 corners. */
    const bool offsets = scan_full_line(&ahead, &next) && scan_word(&next, &word) && scan_is(word, "OFFSETS");
    if (!polygons)
        TRY(cells_skip(s, offsets, first, second, err));
    else if (offsets)
        TRY(offsets_read(s, first, second, out, err));
    else
        TRY(polygons_read(s, first, second, out, err));
done:
    return st;
}

/* FIELD name n, and n arrays, each with a line "name components tuples type". */
static npmd_status field_skip(scanner *s, scanner *line, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t arrays = 0, components = 0, tuples = 0;
    number_type type = NUMBER_NONE;
    scan_text name;
    if (!scan_word(line, &name))
        TRY(scan_unexpected(line, "the name of a field", err));
    TRY(scan_count(line, "a number of arrays", &arrays, err));
    for (size_t i = 0; i < arrays; i++) {
        if (!scan_full_line(s, line) || !scan_word(line, &name))
            TRY(scan_unexpected(s, "the name of an array", err));
        TRY(scan_count(line, "a number of components", &components, err));
        TRY(scan_count(line, "a number of tuples", &tuples, err));
        TRY(vtk_type_read(line, &type, err));
        if (components > 0 && tuples > scan_left(s) / components)
            TRY(scan_fail(line, err, "%zu x %zu numbers are announced, but %zu bytes follow", tuples, components,
                          scan_left(s)));
        TRY(scan_skip(s, type, components * tuples, "numbers of an array", err));
    }
done:
    return st;
}

static void metadata_skip(scanner *s) /* up to an empty line */
{
    scanner line;
    while (scan_line(s, &line) && !scan_ends(&line))
        ;
}

/* One part; *ends: what follows belongs to points and cells. */
static npmd_status part_read(scanner *s, scanner *line, mesh_parts *out, bool *ends, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *line;
    scan_text word = { "", 0 };
    scan_word(line, &word);
    if (scan_is(word, "POINTS"))
        TRY(points_read(s, line, out, err));
    else if (scan_is(word, "POLYGONS"))
        TRY(cells_read(s, line, true, out, err));
    else if (scan_is(word, "VERTICES") || scan_is(word, "LINES"))
        TRY(cells_read(s, line, false, out, err));
    else if (scan_is(word, "FIELD"))
        TRY(field_skip(s, line, err));
    else if (scan_is(word, "METADATA"))
        metadata_skip(s);
    else if (scan_is(word, "POINT_DATA") || scan_is(word, "CELL_DATA"))
        *ends = true;
    else
        st = scan_unexpected(&before, "POINTS, POLYGONS, POINT_DATA or CELL_DATA", err);
done:
    return st;
}

npmd_status vtk_mesh_read(scanner *s, mesh_parts *out, scanner *last, bool *data, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner line = *s;
    scan_text word = { "", 0 };
    bool ends = false;
    if (!scan_line(s, &line) || scan_left(&line) < 14 || memcmp(line.at, "# vtk DataFile", 14) != 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is no legacy VTK file: it does not begin with '# vtk DataFile'",
                      s->path));
    scan_line(s, &line); /* the title */
    const scanner before = *s;
    if (!scan_full_line(s, &line) || !scan_word(&line, &word) || (!scan_is(word, "ASCII") && !scan_is(word, "BINARY")))
        TRY(scan_unexpected(&before, "ASCII or BINARY", err));
    s->mode = scan_is(word, "BINARY") ? SCAN_BIG : SCAN_TEXT;
    TRY(line_expect(s, "DATASET", &line, err));
    const scanner kind = line;
    if (!scan_word(&line, &word) || !scan_is(word, "POLYDATA"))
        TRY(scan_unexpected(&kind, "POLYDATA", err));
    while (!ends && scan_full_line(s, &line)) {
        *last = line;
        TRY(part_read(s, &line, out, &ends, err));
    }
    *data = ends;
done:
    return st;
}

npmd_status vtk_read(scanner *s, mesh_parts *out, npmd_error *err)
{
    scanner line;
    bool data = false;
    return vtk_mesh_read(s, out, &line, &data, err);
}

/* ---- writing: binary, with all digits, in the form that every version reads -------------------------------------- */

enum { PIECE = 1024 }; /* numbers that are turned to big-endian at a time */

static npmd_status doubles_put(file_writer *w, const double *x, size_t count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    uint64_t piece[PIECE];
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t n = count - at < PIECE ? count - at : PIECE;
        memcpy(piece, x + at, n * sizeof *x);
        for (size_t i = 0; i < n; i++)
            piece[i] = __builtin_bswap64(piece[i]);
        TRY(file_writer_put(w, piece, n * sizeof *piece, err));
    }
    TRY(file_writer_put(w, "\n", 1, err));
done:
    return st;
}

static npmd_status faces_put(file_writer *w, const mesh *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (size_t f = 0; f < m->faces; f++) {
        uint32_t row[4] = { __builtin_bswap32(3) };
        for (size_t k = 0; k < 3; k++)
            row[k + 1] = __builtin_bswap32((uint32_t)m->face[3 * f + k]);
        TRY(file_writer_put(w, row, sizeof row, err));
    }
    TRY(file_writer_put(w, "\n", 1, err));
done:
    return st;
}

/* A name is one word; VTK writes a blank, and what else it could not read back, as %20. */
static npmd_status name_put(file_writer *w, const char *name, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (const char *p = name; *p != 0; p++) {
        const unsigned char c = (unsigned char)*p;
        const bool plain = c > ' ' && c < 127 && c != '"' && c != '%';
        TRY(plain ? file_writer_put(w, p, 1, err) : file_writer_print(w, err, "%%%02X", c));
    }
done:
    return st;
}

npmd_status vtk_write(file_writer *w, const mesh *m, const vertex_values *values, int count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(file_writer_print(w, err, "# vtk DataFile Version 3.0\nneuropmd\nBINARY\nDATASET POLYDATA\nPOINTS %zu double\n",
                          m->vertices));
    TRY(doubles_put(w, m->x, 3 * m->vertices, err));
    TRY(file_writer_print(w, err, "POLYGONS %zu %zu\n", m->faces, 4 * m->faces));
    TRY(faces_put(w, m, err));
    if (count > 0)
        TRY(file_writer_print(w, err, "POINT_DATA %zu\n", m->vertices));
    for (int i = 0; i < count; i++) {
        TRY(file_writer_print(w, err, "SCALARS "));
        TRY(name_put(w, values[i].name, err));
        TRY(file_writer_print(w, err, " double 1\nLOOKUP_TABLE default\n"));
        TRY(doubles_put(w, values[i].value, m->vertices, err));
    }
done:
    return st;
}
