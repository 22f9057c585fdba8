/* mesh_file.c - surfaces from files and back: the first bytes or the suffix give the format. */
#include "mesh_formats.h"

typedef struct mesh_format {
    const char *suffix; /* also followed by .gz; "": none */
    const char *magic;  /* the first bytes of such a file under any other name; "": there are none */
    int first;          /* the number of the first vertex */
    file_start starts;  /* NULL: the first bytes that give the format say all */
    npmd_status (*read)(scanner *s, mesh_parts *out, npmd_error *err);
} mesh_format;
static const mesh_format FORMATS[] = {
    { ".obj", "", 1, scan_starts_line, obj_read },
    { ".off", "OFF", 0, scan_starts_line, off_read },
    { ".ply", "ply", 0, scan_starts_line, ply_read },
    { ".vtk", "# vtk DataFile", 0, scan_starts_line, vtk_read },
    { ".gii", "<?xml", 0, scan_starts_line, gifti_mesh_read },
    { "", "\xff\xff", 0, NULL, freesurfer_read }, /* lh.white, rh.pial, ... */
};
#define SUFFIXES ".obj, .off, .ply, .vtk, .gii (or these with .gz)"

static const mesh_format *format_of(const char *path, const void *first, size_t size)
{
    const size_t count = sizeof FORMATS / sizeof *FORMATS;
    for (size_t i = 0; i < count; i++)
        if (scan_suffix(path, FORMATS[i].suffix))
            return &FORMATS[i];
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(FORMATS[i].magic);
        if (length > 0 && size >= length && memcmp(first, FORMATS[i].magic, length) == 0)
            return &FORMATS[i];
    }
    return NULL;
}

/* A file_start. */
static npmd_status mesh_starts(const char *path, const unsigned char *first, size_t size, npmd_error *err)
{
    const mesh_format *format = format_of(path, first, size);
    if (size == 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty", path);
    if (format == NULL)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: unknown kind of surface, expected " SUFFIXES " or FreeSurfer's",
                         path);
    return format->starts == NULL ? NPMD_OK : format->starts(path, first, size, err);
}

bool mesh_is_file(const char *path)
{
    unsigned char first[3] = { 0 };
    size_t got = 0;
    file_source s = { 0 };
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (scan_suffix(path, FORMATS[i].suffix))
            return true;
    /* a pipe must be opened by its reader alone: whoever writes to it ends when the first one closes it */
    if (file_size(path) < sizeof first || file_source_open(path, &s, NULL) != NPMD_OK)
        return false;
    const npmd_status st = file_source_take(&s, first, sizeof first, &got, NULL);
    file_source_close(&s);
    return st == NPMD_OK && got == sizeof first && memcmp(first, "\xff\xff\xfe", sizeof first) == 0;
}

/* ---- a mesh while it is read ------------------------------------------------------------------------------------- */

npmd_status parts_vertex(mesh_parts *p, const scanner *where, const double x[3], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (p->vertices == INT32_MAX)
        TRY(scan_fail(where, err, "more than 2^31 - 1 vertices"));
    TRY(memory_grow((void **)&p->x, &p->x_room, 3 * (p->vertices + 1), sizeof *p->x, err));
    memcpy(p->x + 3 * p->vertices, x, 3 * sizeof *x);
    p->vertices++;
done:
    return st;
}

npmd_status parts_face(mesh_parts *p, const scanner *where, const int64_t corner[3], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (p->faces == INT32_MAX)
        TRY(scan_fail(where, err, "more than 2^31 - 1 faces"));
    TRY(memory_grow((void **)&p->face, &p->face_room, 3 * (p->faces + 1), sizeof *p->face, err));
    for (int k = 0; k < 3; k++) {
        if (corner[k] < INT32_MIN || corner[k] > INT32_MAX)
            TRY(scan_fail(where, err, "a face has a corner at vertex %lld, vertices have numbers below 2^31",
                          (long long)corner[k]));
        p->face[3 * p->faces + (size_t)k] = (int32_t)corner[k];
    }
    p->faces++;
done:
    return st;
}

npmd_status parts_vertex_read(mesh_parts *p, scanner *s, number_type type, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double x[3];
    for (int k = 0; k < 3; k++)
        TRY(scan_number(s, type, "a coordinate", &x[k], err));
    TRY(parts_vertex(p, s, x, err));
done:
    return st;
}

npmd_status parts_face_read(mesh_parts *p, scanner *s, number_type type, const char *what, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int64_t corner[3];
    for (int k = 0; k < 3; k++)
        TRY(scan_whole(s, type, what, &corner[k], err));
    TRY(parts_face(p, s, corner, err));
done:
    return st;
}

npmd_status parts_polygon_fail(const mesh_parts *p, const scanner *where, int64_t corners, npmd_error *err)
{
    return scan_fail(where, err, "the face after %zu others has %lld corners, 3 were expected: triangulate it",
                     p->faces, (long long)corners);
}

npmd_status mesh_read(const char *path, mesh *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner s = { 0 };
    mesh_parts parts = { 0 };
    TRY(scan_open(path, mesh_starts, &s, err));
    const mesh_format *format = format_of(path, s.at, scan_left(&s));
    TRY(format->read(&s, &parts, err));
    TRY(mesh_make_counted(&parts, format->first, path, out, err));
done:
    memory_free_all(parts.x, parts.face);
    scan_close(&s);
    return st;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Workbench wants surfaces and values in files of their own, which these suffixes ask for. */
static bool is_values_alone(const char *path)
{
    return scan_suffix(path, ".shape.gii") || scan_suffix(path, ".func.gii");
}

static npmd_status target_check(const char *path, int count, npmd_error *err)
{
    if (!scan_suffix(path, ".gii") && !file_has_suffix(path, ".vtk"))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "%s: unknown suffix, expected .gii, .gii.gz or .vtk", path);
    if (scan_suffix(path, ".surf.gii") && count > 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "%s: such a file holds no values; write them to .shape.gii, .func.gii or .gii", path);
    if (is_values_alone(path) && count == 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "%s: such a file holds values, but none were given", path);
    return NPMD_OK;
}

npmd_status mesh_output_check(const char *path, npmd_error *err)
{
    const npmd_status st = target_check(path, 1, err);
    return st != NPMD_OK ? st : file_output_check(path, err);
}

npmd_status mesh_write(const char *path, const mesh *m, const vertex_values *values, int count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    TRY(target_check(path, count, err));
    TRY(file_writer_open(path, &w, err));
    if (file_has_suffix(path, ".gz"))
        TRY(file_writer_zip(w, err));
    if (file_has_suffix(path, ".vtk"))
        TRY(vtk_write(w, m, values, count, err));
    else
        TRY(gifti_write(w, m, !is_values_alone(path), values, count, err));
    st = file_writer_commit(w, err);
    w = NULL;
done:
    file_writer_abandon(w);
    return st;
}
