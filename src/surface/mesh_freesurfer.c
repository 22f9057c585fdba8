/* mesh_freesurfer.c - FreeSurfer's binary surfaces (lh.white, rh.pial, ...), everything big-endian:
 *
 *   ff ff fe             three bytes; ff ff ff and ff ff fd are the older files of quadrangles
 *   two lines of text    who made it, and when
 *   int32                number of vertices, number of faces
 *   float32              x y z of each vertex
 *   int32                the three vertices of each face, from 0
 *
 * What follows (the geometry of the volume it came from) is not read: coordinates stay as they are. */
#include "mesh_formats.h"

npmd_status freesurfer_read(scanner *s, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int64_t count[2] = { 0 };
    s->mode = SCAN_BIG;
    if (scan_left(s) < 3 || memcmp(s->at, "\xff\xff\xfe", 3) != 0)
        TRY(scan_fail(s, err,
                      "no surface of triangles: such a file of FreeSurfer begins with ff ff fe (one of "
                      "quadrangles with ff ff ff or ff ff fd)"));
    s->at += 3;
    for (int i = 0; i < 2; i++) { /* ended by LF alone: the next byte may be a CR that belongs to a number */
        const char *end = memchr(s->at, '\n', scan_left(s));
        s->at = end != NULL ? end + 1 : s->end;
    }
    for (int i = 0; i < 2; i++)
        TRY(scan_whole(s, NUMBER_I32, "the number of vertices or faces", &count[i], err));
    for (int64_t i = 0; i < count[0]; i++) /* each takes bytes: a false number ends with the file */
        TRY(parts_vertex_read(out, s, NUMBER_F32, err));
    for (int64_t i = 0; i < count[1]; i++)
        TRY(parts_face_read(out, s, NUMBER_I32, "the number of a vertex", err));
done:
    return st;
}
