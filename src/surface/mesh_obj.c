/* mesh_obj.c - Wavefront's .obj: "v x y z" and "f 1 2 3", a corner also as 1/2/3 with texture and normal, which are
 * ignored; negative indices count from the end. A face may come before its vertices. */
#include "mesh_formats.h"

static bool is_skipped(scan_text word)
{
    static const char *const WORDS[] = { "vt",         "vn",        "vp",     "o",        "g",       "s", "mg",
                                         "usemtl",     "mtllib",    "usemap", "maplib",   "l",       "p", "lod",
                                         "shadow_obj", "trace_obj", "bevel",  "c_interp", "d_interp" };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (scan_is(word, WORDS[i]))
            return true;
    return false;
}

/* The number before the first slash. */
static npmd_status corner_read(const scanner *line, scan_text word, size_t vertices, int64_t *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner s = *line;
    const char *slash = memchr(word.at, '/', word.size);
    int64_t number = 0;
    s.at = word.at;
    s.end = slash != NULL ? slash : word.at + word.size;
    TRY(scan_whole(&s, NUMBER_I64, "the number of a vertex", &number, err));
    if (number == 0 || number < -(int64_t)vertices)
        TRY(scan_fail(line, err, "a face has a corner at vertex %lld, but %zu vertices stand before it",
                      (long long)number, vertices));
    *out = number > 0 ? number - 1 : (int64_t)vertices + number;
done:
    return st;
}

static npmd_status face_read(scanner *line, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int64_t corner[3] = { 0 }, corners = 0;
    scan_text word;
    for (; scan_word(line, &word); corners++)
        if (corners < 3)
            TRY(corner_read(line, word, out->vertices, &corner[corners], err));
    if (corners != 3)
        TRY(parts_polygon_fail(out, line, corners, err));
    TRY(parts_face(out, line, corner, err));
done:
    return st;
}

npmd_status obj_read(scanner *s, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner line;
    scan_text word;
    while (scan_without_comment(s, &line)) {
        const scanner before = line;
        if (!scan_word(&line, &word) || is_skipped(word))
            continue;
        if (scan_is(word, "v")) /* what stands behind the coordinates (a weight, a colour) is left */
            TRY(parts_vertex_read(out, &line, NUMBER_F64, err));
        else if (scan_is(word, "f"))
            TRY(face_read(&line, out, err));
        else
            TRY(scan_unexpected(&before, "a vertex (v) or a face (f)", err));
    }
done:
    return st;
}
