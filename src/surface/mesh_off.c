/* mesh_off.c - Geomview's .off, in text:
 *
 *   OFF                    or COFF, NOFF, CNOFF: colours or normals follow the coordinates
 *   vertices faces edges   on the first line or the next; the number of edges is ignored
 *   x y z                  one line for each vertex
 *   3 a b c                one line for each face, vertices from 0; a colour may follow
 *
 * # opens a comment. */
#include "mesh_formats.h"

/* The next line with something on it before a comment. */
static bool line_take(scanner *s, scanner *line)
{
    while (scan_without_comment(s, line))
        if (!scan_ends(line))
            return true;
    return false;
}

static npmd_status header_read(scanner *s, size_t *vertices, size_t *faces, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner line = *s, before = *s;
    scan_text word = { "", 0 };
    if (line_take(s, &line)) {
        before = line;
        scan_word(&line, &word);
    }
    if (!scan_is(word, "OFF") && !scan_is(word, "COFF") && !scan_is(word, "NOFF") && !scan_is(word, "CNOFF"))
        TRY(scan_unexpected(&before, "OFF, COFF, NOFF or CNOFF", err));
    if (scan_ends(&line) && !line_take(s, &line))
        TRY(scan_unexpected(s, "the number of vertices", err));
    TRY(scan_count(&line, "the number of vertices", vertices, err));
    TRY(scan_count(&line, "the number of faces", faces, err));
done:
    return st;
}

static npmd_status vertex_read(scanner *s, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner line;
    if (!line_take(s, &line))
        TRY(scan_unexpected(s, "a vertex", err));
    TRY(parts_vertex_read(out, &line, NUMBER_F64, err));
done:
    return st;
}

static npmd_status face_read(scanner *s, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner line;
    size_t corners = 0;
    if (!line_take(s, &line))
        TRY(scan_unexpected(s, "a face", err));
    TRY(scan_count(&line, "a number of corners", &corners, err));
    if (corners != 3)
        TRY(parts_polygon_fail(out, &line, (int64_t)corners, err));
    TRY(parts_face_read(out, &line, NUMBER_I64, "the number of a vertex", err));
done:
    return st;
}

npmd_status off_read(scanner *s, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner line;
    size_t vertices = 0, faces = 0;
    TRY(header_read(s, &vertices, &faces, err));
    for (size_t i = 0; i < vertices; i++) /* each takes a line, so a false number ends with the file */
        TRY(vertex_read(s, out, err));
    for (size_t i = 0; i < faces; i++)
        TRY(face_read(s, out, err));
    if (line_take(s, &line))
        st = scan_unexpected(&line, "the end of the file", err);
done:
    return st;
}
