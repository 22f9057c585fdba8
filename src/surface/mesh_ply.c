/* mesh_ply.c - Stanford's .ply, in text and in binary of either order of bytes.
 *
 *   ply
 *   format ascii 1.0            or binary_little_endian, binary_big_endian
 *   element vertex 8            8 rows of ...     
 *   property float x            ... a number each
 *   element face 12
 *   property list uchar int vertex_indices    a count, and that many numbers
 *   end_header
 *
 * and then the rows of each element, in this order. Other elements and properties are skipped, number by number. */
#include "mesh_formats.h"

enum { PROPERTIES_MOST = 64, ELEMENTS_MOST = 32 };

typedef enum role { ROLE_NONE, ROLE_X, ROLE_Y, ROLE_Z, ROLE_CORNERS } role;
typedef struct property {
    bool list;
    number_type count, type;
    role is;
} property;
typedef struct element {
    bool vertices, faces;
    size_t rows;
    int properties;
    property property[PROPERTIES_MOST];
} element;
typedef struct ply_header {
    bool has_mode;
    scan_mode mode;
    int elements;
    element element[ELEMENTS_MOST];
} ply_header;

static const number_name TYPES[] = {
    { "char", NUMBER_I8 },   { "int8", NUMBER_I8 },     { "uchar", NUMBER_U8 },   { "uint8", NUMBER_U8 },
    { "short", NUMBER_I16 }, { "int16", NUMBER_I16 },   { "ushort", NUMBER_U16 }, { "uint16", NUMBER_U16 },
    { "int", NUMBER_I32 },   { "int32", NUMBER_I32 },   { "uint", NUMBER_U32 },   { "uint32", NUMBER_U32 },
    { "float", NUMBER_F32 }, { "float32", NUMBER_F32 }, { "double", NUMBER_F64 }, { "float64", NUMBER_F64 },
};

/* ---- the header -------------------------------------------------------------------------------------------------- */

static npmd_status type_read(scanner *line, number_type *out, npmd_error *err)
{
    return scan_number_type(line, TYPES, sizeof TYPES / sizeof *TYPES, out, err);
}

static role role_of(const element *e, scan_text name, bool list)
{
    static const char *const AXIS[] = { "x", "y", "z" };
    for (int k = 0; k < 3; k++)
        if (e->vertices && !list && scan_is(name, AXIS[k]))
            return (role)(ROLE_X + k);
    if (e->faces && list && (scan_is(name, "vertex_indices") || scan_is(name, "vertex_index")))
        return ROLE_CORNERS;
    return ROLE_NONE;
}

static npmd_status property_read(scanner *line, element *e, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    property p = { 0 };
    scan_text word = { "", 0 };
    if (e->properties == PROPERTIES_MOST)
        TRY(scan_fail(line, err, "an element has more than %d properties", PROPERTIES_MOST));
    scanner ahead = *line;
    p.list = scan_word(&ahead, &word) && scan_is(word, "list");
    if (p.list) {
        *line = ahead;
        const scanner before = *line;
        TRY(type_read(line, &p.count, err));
        if (p.count >= NUMBER_F32)
            TRY(scan_unexpected(&before, "a type of integers", err));
    }
    TRY(type_read(line, &p.type, err));
    if (!scan_word(line, &word))
        TRY(scan_unexpected(line, "the name of a property", err));
    p.is = role_of(e, word, p.list);
    for (int i = 0; i < e->properties; i++)
        if (p.is != ROLE_NONE && e->property[i].is == p.is)
            TRY(scan_fail(line, err, "a property is there twice"));
    e->property[e->properties++] = p;
done:
    return st;
}

static npmd_status element_read(scanner *line, ply_header *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scan_text name;
    if (h->elements == ELEMENTS_MOST)
        TRY(scan_fail(line, err, "more than %d elements", ELEMENTS_MOST));
    element *e = &h->element[h->elements];
    *e = (element){ 0 };
    if (!scan_word(line, &name))
        TRY(scan_unexpected(line, "the name of an element", err));
    e->vertices = scan_is(name, "vertex");
    e->faces = scan_is(name, "face");
    for (int i = 0; i < h->elements; i++)
        if ((e->vertices && h->element[i].vertices) || (e->faces && h->element[i].faces))
            TRY(scan_fail(line, err, "an element is there twice"));
    TRY(scan_count(line, "a number of rows", &e->rows, err));
    h->elements++;
done:
    return st;
}

static npmd_status format_read(scanner *line, ply_header *h, npmd_error *err)
{
    static const char *const NAMES[] = { "ascii", "binary_little_endian", "binary_big_endian" };
    const scanner before = *line;
    scan_text name = { "", 0 }, version = { "", 0 };
    scan_word(line, &name);
    scan_word(line, &version);
    for (int mode = SCAN_TEXT; mode <= SCAN_BIG; mode++)
        if (scan_is(name, NAMES[mode]) && scan_is(version, "1.0")) {
            h->mode = (scan_mode)mode;
            h->has_mode = true;
            return NPMD_OK;
        }
    return scan_unexpected(&before, "ascii, binary_little_endian or binary_big_endian 1.0", err);
}

static npmd_status header_line_read(scanner *line, ply_header *h, bool *ends, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *line;
    scan_text word = { "", 0 };
    scan_word(line, &word);
    if (scan_is(word, "end_header"))
        *ends = true;
    else if (scan_is(word, "format"))
        TRY(format_read(line, h, err));
    else if (scan_is(word, "element"))
        TRY(element_read(line, h, err));
    else if (scan_is(word, "property") && h->elements > 0)
        TRY(property_read(line, &h->element[h->elements - 1], err));
    else if (!scan_is(word, "comment") && !scan_is(word, "obj_info"))
        st = scan_unexpected(&before, "format, element, property or end_header", err);
done:
    return st;
}

/* Every row takes bytes, so that a false number of rows ends with the file; vertices and faces are what they claim. */
static npmd_status header_check(const scanner *s, const ply_header *h, npmd_error *err)
{
    for (int i = 0; i < h->elements; i++) {
        const element *e = &h->element[i];
        int axes = 0, corners = 0;
        for (int k = 0; k < e->properties; k++) {
            axes += e->property[k].is >= ROLE_X && e->property[k].is <= ROLE_Z;
            corners += e->property[k].is == ROLE_CORNERS;
        }
        if (e->properties == 0 && e->rows > 0)
            return scan_fail(s, err, "element %d has rows, but no property", i + 1);
        if (e->vertices && axes != 3)
            return scan_fail(s, err, "element vertex has no properties x, y and z");
        if (e->faces && corners != 1)
            return scan_fail(s, err, "element face has no list property vertex_indices");
    }
    return NPMD_OK;
}

static npmd_status header_read(scanner *s, ply_header *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner line = *s;
    scan_text word = { "", 0 };
    bool ends = false;
    const scanner before = *s;
    if (!scan_line(s, &line) || !scan_word(&line, &word) || !scan_is(word, "ply"))
        TRY(scan_unexpected(&before, "ply", err));
    while (!ends) {
        if (!scan_line(s, &line))
            TRY(scan_unexpected(s, "end_header", err));
        TRY(header_line_read(&line, h, &ends, err));
    }
    if (!h->has_mode)
        TRY(scan_fail(s, err, "the header has no format"));
    TRY(header_check(s, h, err));
    s->mode = h->mode;
done:
    return st;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static npmd_status corners_read(scanner *s, const property *p, const mesh_parts *out, int64_t corner[3],
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *s;
    int64_t corners = 0;
    TRY(scan_whole(s, p->count, "a number of corners", &corners, err));
    if (corners != 3)
        TRY(parts_polygon_fail(out, &before, corners, err));
    for (int k = 0; k < 3; k++)
        TRY(scan_whole(s, p->type, "the number of a vertex", &corner[k], err));
done:
    return st;
}

static npmd_status property_skip(scanner *s, const property *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *s;
    int64_t count = 1;
    if (p->list)
        TRY(scan_whole(s, p->count, "the length of a list", &count, err));
    if (count < 0)
        TRY(scan_fail(&before, err, "%lld was found where the length of a list was expected", (long long)count));
    TRY(scan_skip(s, p->type, (size_t)count, "numbers of a property", err));
done:
    return st;
}

static npmd_status row_read(scanner *s, const element *e, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *s;
    double x[3] = { 0 };
    int64_t corner[3] = { 0 };
    for (int k = 0; k < e->properties; k++) {
        const property *p = &e->property[k];
        if (p->is == ROLE_NONE)
            TRY(property_skip(s, p, err));
        else if (p->is == ROLE_CORNERS)
            TRY(corners_read(s, p, out, corner, err));
        else
            TRY(scan_number(s, p->type, "a coordinate", &x[p->is - ROLE_X], err));
    }
    if (e->vertices)
        TRY(parts_vertex(out, &before, x, err));
    if (e->faces)
        TRY(parts_face(out, &before, corner, err));
done:
    return st;
}

npmd_status ply_read(scanner *s, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    ply_header *h = NULL;
    TRY(memory_new(&h, 1, err));
    TRY(header_read(s, h, err));
    for (int i = 0; i < h->elements; i++)
        for (size_t row = 0; row < h->element[i].rows; row++)
            TRY(row_read(s, &h->element[i], out, err));
    if (s->mode == SCAN_TEXT ? !scan_ends(s) : scan_left(s) > 0)
        st = scan_fail(s, err, "%zu bytes follow where the end of the file was expected", scan_left(s));
done:
    memory_free(h);
    return st;
}
