/* meshes.c - the file formats by their specifications, written by hand. */
#include "meshes.h"

#include <zlib.h>

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

const shape TETRAHEDRON = { 4, 4, (const double[]){ 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1 },
                            (const int32_t[]){ 0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2 } };

const shape OCTAHEDRON = { 6, 8, (const double[]){ 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1 },
                           (const int32_t[]){
                               0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5 } };

#define G 1.618033988749895
#define F(x) (double)(float)(x)
const shape ICOSAHEDRON = { 12, 20, (const double[]){ -1, F(G), 0, 1, F(G),  0, -1, F(-G), 0, 1, F(-G), 0,    0,
                                                      -1, F(G), 0, 1, F(G),  0, -1, F(-G), 0, 1, F(-G), F(G), 0,
                                                      -1, F(G), 0, 1, F(-G), 0, -1, F(-G), 0, 1 },
                            (const int32_t[]){ 0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
                                               4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
                                               6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1 } };

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

void buffer_put(buffer *b, const void *bytes, size_t size)
{
    if (b->size + size + 1 > b->room) {
        b->room = 2 * (b->size + size + 1);
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    if (size > 0)
        memcpy(b->data + b->size, bytes, size);
    b->size += size;
    b->data[b->size] = 0;
}

void buffer_print(buffer *b, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < sizeof text);
    buffer_put(b, text, (size_t)length);
}

void buffer_number(buffer *b, double value, char type, bool big_endian)
{
    const float single = (float)value;
    const int32_t integer = (int32_t)value;
    const int64_t large = (int64_t)value;
    unsigned char bytes[8] = { (unsigned char)value }, turned[8];
    const size_t size = type == 'b' ? 1 : type == 'l' || type == 'd' ? 8 : 4;
    if (type == 'f')
        memcpy(bytes, &single, size);
    else if (type == 'd')
        memcpy(bytes, &value, size);
    else if (type == 'i')
        memcpy(bytes, &integer, size);
    else if (type == 'l')
        memcpy(bytes, &large, size);
    for (size_t i = 0; i < size; i++)
        turned[i] = bytes[big_endian ? size - 1 - i : i];
    buffer_put(b, turned, size);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

enum { OBJ_PLAIN, OBJ_SLASHES, OBJ_BACKWARDS, OBJ_LATE };

static void obj_faces(const shape *s, int variant, buffer *b)
{
    static const char *const CORNER[] = { " %lld", " %lld/7/9", " %lld//3", " %lld" };
    for (size_t f = 0; f < s->faces; f++) {
        buffer_print(b, "f");
        for (size_t k = 0; k < 3; k++) {
            const long long v = s->face[3 * f + k];
            char corner[32];
            snprintf(corner, sizeof corner, CORNER[variant],
                     variant == OBJ_BACKWARDS ? v - (long long)s->vertices : v + 1);
            buffer_put(b, corner, strlen(corner));
        }
        buffer_print(b, "%s\n", f % 2 == 0 ? "" : " # the corners");
    }
}

static void obj_make(const shape *s, int variant, buffer *b)
{
    buffer_print(b, "# a comment\nmtllib none.mtl\no thing\n\n");
    if (variant == OBJ_LATE)
        obj_faces(s, variant, b);
    for (size_t v = 0; v < s->vertices; v++) {
        buffer_print(b, "v %.17g %.17g\t%.17g%s", s->x[3 * v], s->x[3 * v + 1], s->x[3 * v + 2],
                     variant == OBJ_SLASHES ? " 1.0\r\n" : "\n");
        if (variant == OBJ_SLASHES)
            buffer_print(b, "vn 0 0 1\nvt 0.5 0.5\n");
    }
    if (variant != OBJ_LATE)
        obj_faces(s, variant, b);
}

static void off_make(const shape *s, int variant, buffer *b)
{
    if (variant == 0)
        buffer_print(b, "OFF\n%zu %zu 0\n", s->vertices, s->faces);
    else
        buffer_print(b, "# colours\nCOFF %zu %zu 0 # counts\n\n", s->vertices, s->faces);
    for (size_t v = 0; v < s->vertices; v++)
        buffer_print(b, "%.17g %.17g %.17g%s\n", s->x[3 * v], s->x[3 * v + 1], s->x[3 * v + 2],
                     variant == 0 ? "" : " 255 0 0 255");
    for (size_t f = 0; f < s->faces; f++)
        buffer_print(b, "3  %d %d %d%s\n", s->face[3 * f], s->face[3 * f + 1], s->face[3 * f + 2],
                     variant == 0 ? "" : " 0.5 0.5 0.5 # grey");
}

/* ---- .ply -------------------------------------------------------------------------------------------------------- */

enum { TEXT, LITTLE, BIG };

static void ply_put(buffer *b, int variant, double value, char type)
{
    if (variant == TEXT)
        buffer_print(b, "%.17g ", value);
    else
        buffer_number(b, value, type, variant == BIG);
}

/* With an element, properties and a list that are of no interest. */
static void ply_make(const shape *s, int variant, buffer *b)
{
    static const char *const FORMAT[] = { "ascii", "binary_little_endian", "binary_big_endian" };
    buffer_print(b,
                 "ply\nformat %s 1.0\ncomment by hand\nelement camera 1\nproperty list uchar short view\n"
                 "element vertex %zu\nproperty uchar red\nproperty double x\nproperty float y\nproperty float64 z\n"
                 "element face %zu\nproperty list uint8 int32 vertex_indices\nproperty float quality\nend_header\n",
                 FORMAT[variant], s->vertices, s->faces);
    if (variant == TEXT)
        buffer_print(b, "2 5 6\n");
    else
        buffer_put(b, "\x02\x01\x02\x03\x04", 5);
    for (size_t v = 0; v < s->vertices; v++) {
        ply_put(b, variant, 200, 'b');
        for (size_t i = 0; i < 3; i++)
            ply_put(b, variant, s->x[3 * v + i], i == 1 ? 'f' : 'd');
        if (variant == TEXT)
            buffer_print(b, "\n");
    }
    for (size_t f = 0; f < s->faces; f++) {
        ply_put(b, variant, 3, 'b');
        for (size_t k = 0; k < 3; k++)
            ply_put(b, variant, s->face[3 * f + k], 'i');
        ply_put(b, variant, 0.5, 'f');
        if (variant == TEXT)
            buffer_print(b, "\n");
    }
}

/* ---- .vtk -------------------------------------------------------------------------------------------------------- */

enum { VTK_TEXT, VTK_BINARY, VTK_TEXT_5, VTK_BINARY_5 };

static void vtk_put(buffer *b, bool binary, double value, char type)
{
    if (binary)
        buffer_number(b, value, type, true);
    else
        buffer_print(b, "%.17g ", value);
}

static void vtk_make(const shape *s, int variant, buffer *b)
{
    const bool binary = variant == VTK_BINARY || variant == VTK_BINARY_5, fifth = variant >= VTK_TEXT_5;
    buffer_print(b, "# vtk DataFile Version %s\na title\n%s\nDATASET POLYDATA\n", fifth ? "5.1" : "3.0",
                 binary ? "BINARY" : "ASCII");
    buffer_print(b, "FIELD FieldData 1\ntime 1 2 double\n");
    vtk_put(b, binary, 1.5, 'd');
    vtk_put(b, binary, 2.5, 'd');
    buffer_print(b, "\nPOINTS %zu float\n", s->vertices);
    for (size_t i = 0; i < 3 * s->vertices; i++)
        vtk_put(b, binary, s->x[i], 'f');
    buffer_print(b, fifth ? "\nMETADATA\nINFORMATION 0\n\n" : "\n");
    buffer_print(b, "LINES %d %d\n%s", fifth ? 2 : 1, fifth ? 2 : 3, fifth ? "OFFSETS vtktypeint64\n" : "");
    if (fifth) {
        vtk_put(b, binary, 0, 'l');
        vtk_put(b, binary, 2, 'l');
        buffer_print(b, "\nCONNECTIVITY vtktypeint64\n");
    } else {
        vtk_put(b, binary, 2, 'i');
    }
    vtk_put(b, binary, 0, fifth ? 'l' : 'i');
    vtk_put(b, binary, 1, fifth ? 'l' : 'i');
    if (!fifth) {
        buffer_print(b, "\nPOLYGONS %zu %zu\n", s->faces, 4 * s->faces);
        for (size_t i = 0; i < 3 * s->faces; i++) {
            if (i % 3 == 0)
                vtk_put(b, binary, 3, 'i');
            vtk_put(b, binary, s->face[i], 'i');
        }
    } else {
        buffer_print(b, "\nPOLYGONS %zu %zu\nOFFSETS vtktypeint64\n", s->faces + 1, 3 * s->faces);
        for (size_t f = 0; f <= s->faces; f++)
            vtk_put(b, binary, 3.0 * (double)f, 'l');
        buffer_print(b, "\nCONNECTIVITY vtktypeint64\n");
        for (size_t i = 0; i < 3 * s->faces; i++)
            vtk_put(b, binary, s->face[i], 'l');
    }
    buffer_print(b, "\nPOINT_DATA %zu\nSCALARS none float 1\n", s->vertices);
}

/* ---- FreeSurfer -------------------------------------------------------------------------------------------------- */

static void freesurfer_make(const shape *s, int variant, buffer *b)
{
    (void)variant;
    buffer_print(b, "\xff\xff\xfe"
                    "created by hand\n\n");
    buffer_number(b, (double)s->vertices, 'i', true);
    buffer_number(b, (double)s->faces, 'i', true);
    for (size_t i = 0; i < 3 * s->vertices; i++)
        buffer_number(b, s->x[i], 'f', true);
    for (size_t i = 0; i < 3 * s->faces; i++)
        buffer_number(b, s->face[i], 'i', true);
}

/* ---- GIFTI ------------------------------------------------------------------------------------------------------- */

static void base64_put(buffer *b, const unsigned char *bytes, size_t size)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t bit = 0; bit < 8 * size; bit += 6) {
        unsigned digit = 0;
        for (size_t k = bit; k < bit + 6; k++)
            digit = digit << 1 | (k < 8 * size ? (unsigned)bytes[k / 8] >> (7 - k % 8) & 1u : 0u);
        buffer_put(b, &DIGITS[digit], 1);
    }
    buffer_put(b, "==", size % 3 == 1 ? 2 : size % 3 == 2 ? 1 : 0);
}

void gifti_data_put(buffer *b, const double *value, size_t rows, size_t columns, char type, char encoding,
                    bool big_endian, bool column_major)
{
    buffer raw = { 0 };
    for (size_t i = 0; i < rows * columns; i++) {
        const double x = column_major ? value[i % rows * columns + i / rows] : value[i];
        if (encoding == 'a')
            buffer_print(b, "%.17g%s", x, i % 5 == 4 ? "\n" : " ");
        else
            buffer_number(&raw, x, type, big_endian);
    }
    if (encoding == 'z') {
        uLongf size = compressBound((uLong)raw.size);
        unsigned char *packed = malloc(size);
        assert_non_null(packed);
        assert_int_equal(compress(packed, &size, raw.data, (uLong)raw.size), Z_OK);
        base64_put(b, packed, size);
        free(packed);
    } else if (encoding == 'b') {
        base64_put(b, raw.data, raw.size);
    }
    free(raw.data);
}

enum { GIFTI_PLAIN = 0, GIFTI_BIG = 1, GIFTI_COLUMNS = 2, GIFTI_DOUBLES = 4, GIFTI_B64 = 8, GIFTI_ZIP = 16 };

static void gifti_make(const shape *s, int variant, buffer *b)
{
    const char encoding = variant & GIFTI_ZIP ? 'z' : variant & GIFTI_B64 ? 'b' : 'a';
    const char real = variant & GIFTI_DOUBLES ? 'd' : 'f';
    const bool big = (variant & GIFTI_BIG) != 0, columns = (variant & GIFTI_COLUMNS) != 0;
    double *corner = doubles(3 * s->faces);
    for (size_t i = 0; i < 3 * s->faces; i++)
        corner[i] = s->face[i];
    buffer_print(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE GIFTI SYSTEM \"gifti.dtd\">\n"
                    "<GIFTI Version=\"1.0\" NumberOfDataArrays=\"3\">\n<MetaData><MD><Name><![CDATA[Data]]></Name>"
                    "<Value>a &amp; b</Value></MD></MetaData><LabelTable/>\n");
    for (int k = 0; k < 3; k++) { /* the second array is of no interest */
        static const char *const INTENT[] = { "POINTSET", "SHAPE", "TRIANGLE" };
        buffer_print(b,
                     "<DataArray Intent=\"NIFTI_INTENT_%s\" DataType=\"NIFTI_TYPE_%s\" Dimensionality=\"2\"\n"
                     " ArrayIndexingOrder=\"%s\" Dim0=\"%zu\" Dim1=\"3\" Encoding=\"%s\" Endian=\"%s\"\n"
                     " ExternalFileName=\"\" ExternalFileOffset=\"\"><MetaData/>\n<Data>",
                     INTENT[k],
                     k == 2        ? "INT32"
                     : real == 'd' ? "FLOAT64"
                                   : "FLOAT32",
                     columns ? "ColumnMajorOrder" : "RowMajorOrder", k == 2 ? s->faces : s->vertices,
                     encoding == 'z'   ? "GZipBase64Binary"
                     : encoding == 'b' ? "Base64Binary"
                                       : "ASCII",
                     big ? "BigEndian" : "LittleEndian");
        if (k == 0)
            gifti_data_put(b, s->x, s->vertices, 3, real, encoding, big, columns);
        else if (k == 2)
            gifti_data_put(b, corner, s->faces, 3, 'i', encoding, big, columns);
        else
            buffer_print(b, "not read");
        buffer_print(b, "</Data>\n</DataArray>\n");
    }
    buffer_print(b, "</GIFTI>\n");
    free(corner);
}

const file_kind FILE_KINDS[] = {
    { "plain.obj", obj_make, OBJ_PLAIN },
    { "slashes.OBJ", obj_make, OBJ_SLASHES },
    { "backwards.obj", obj_make, OBJ_BACKWARDS },
    { "late.obj", obj_make, OBJ_LATE },
    { "plain.off", off_make, 0 },
    { "colours.off", off_make, 1 },
    { "text.ply", ply_make, TEXT },
    { "little.ply", ply_make, LITTLE },
    { "big.ply", ply_make, BIG },
    { "text.vtk", vtk_make, VTK_TEXT },
    { "binary.vtk", vtk_make, VTK_BINARY },
    { "text5.vtk", vtk_make, VTK_TEXT_5 },
    { "binary5.vtk", vtk_make, VTK_BINARY_5 },
    { "lh.white", freesurfer_make, 0 },
    { "text.gii", gifti_make, GIFTI_PLAIN },
    { "text_columns.gii", gifti_make, GIFTI_COLUMNS | GIFTI_DOUBLES },
    { "little.gii", gifti_make, GIFTI_B64 },
    { "big.gii", gifti_make, GIFTI_B64 | GIFTI_BIG },
    { "big_doubles.gii", gifti_make, GIFTI_B64 | GIFTI_BIG | GIFTI_DOUBLES },
    { "columns.gii", gifti_make, GIFTI_B64 | GIFTI_COLUMNS },
    { "zip.gii", gifti_make, GIFTI_ZIP },
    { "zip_big.gii", gifti_make, GIFTI_ZIP | GIFTI_BIG },
    { "zip_columns.gii", gifti_make, GIFTI_ZIP | GIFTI_BIG | GIFTI_COLUMNS | GIFTI_DOUBLES },
};
const size_t FILE_KIND_COUNT = sizeof FILE_KINDS / sizeof FILE_KINDS[0];
