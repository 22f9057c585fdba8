/* mesh_gifti.c - surfaces in GIFTI files: points of NIFTI_INTENT_POINTSET, faces of NIFTI_INTENT_TRIANGLE, from 0.
 *
 * Files are written with deflated float32 and int32, the only types that FreeSurfer and Connectome Workbench take;
 * every column of values is an array of NIFTI_INTENT_SHAPE with its name. */
#include "mesh_formats.h"

#include <float.h>

npmd_status gifti_mesh_read(scanner *s, mesh_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    gifti g = { 0 };
    const gifti_array *points = NULL, *triangles = NULL;
    int64_t corner[3];
    TRY(gifti_parse(s, false, &g, err));
    TRY(gifti_find(&g, s->path, GIFTI_POINTS, 3, &points, err));
    TRY(gifti_find(&g, s->path, GIFTI_TRIANGLES, 3, &triangles, err));
    for (size_t i = 0; i < points->rows; i++)
        TRY(parts_vertex(out, s, points->value + 3 * i, err));
    for (size_t i = 0; i < triangles->rows; i++) {
        for (size_t k = 0; k < 3; k++) {
            const double v = triangles->value[3 * i + k];
            if (!(fabs(v) <= INT32_MAX) || v != floor(v))
                TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: face %zu has a corner at vertex %.17g", s->path, i, v));
            corner[k] = (int64_t)v;
        }
        TRY(parts_face(out, s, corner, err));
    }
done:
    gifti_free(&g);
    return st;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static npmd_status text_put(file_writer *w, const char *text, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (const char *p = text; *p != 0; p++) {
        const unsigned char c = (unsigned char)*p;
        const char *escaped = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c < ' ' ? "?" : NULL;
        TRY(escaped != NULL ? file_writer_print(w, err, "%s", escaped) : file_writer_put(w, p, 1, err));
    }
done:
    return st;
}

typedef struct array_facts {
    const char *intent, *type, *name; /* name NULL: it needs none */
    size_t rows, columns;
} array_facts;

static npmd_status array_put(file_writer *w, const array_facts *a, const void *bytes, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(file_writer_print(w, err,
                          "  <DataArray Intent=\"NIFTI_INTENT_%s\" DataType=\"NIFTI_TYPE_%s\"\n"
                          "             ArrayIndexingOrder=\"RowMajorOrder\" Dimensionality=\"%d\" Dim0=\"%zu\"",
                          a->intent, a->type, a->columns > 1 ? 2 : 1, a->rows));
    if (a->columns > 1)
        TRY(file_writer_print(w, err, " Dim1=\"%zu\"", a->columns));
    TRY(file_writer_print(w, err,
                          "\n             Encoding=\"GZipBase64Binary\" Endian=\"LittleEndian\""
                          " ExternalFileName=\"\" ExternalFileOffset=\"\">\n    <MetaData>"));
    if (a->name != NULL) {
        TRY(file_writer_print(w, err, "<MD><Name>Name</Name><Value>"));
        TRY(text_put(w, a->name, err));
        TRY(file_writer_print(w, err, "</Value></MD>"));
    }
    TRY(file_writer_print(w, err, "</MetaData>\n"));
    if (strcmp(a->intent, "POINTSET") == 0) /* whose space is not known; readers look for it */
        TRY(file_writer_print(w, err,
                              "    <CoordinateSystemTransformMatrix>\n"
                              "      <DataSpace>NIFTI_XFORM_UNKNOWN</DataSpace>\n"
                              "      <TransformedSpace>NIFTI_XFORM_UNKNOWN</TransformedSpace>\n"
                              "      <MatrixData>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</MatrixData>\n"
                              "    </CoordinateSystemTransformMatrix>\n"));
    TRY(file_writer_print(w, err, "    <Data>"));
    TRY(gifti_encode(w, bytes, a->rows * a->columns * 4, err));
    TRY(file_writer_print(w, err, "</Data>\n  </DataArray>\n"));
done:
    return st;
}

/* What is too large for a float32 is not written as infinity. */
static npmd_status floats_put(file_writer *w, const array_facts *a, const double *x, float *narrow, npmd_error *err)
{
    for (size_t i = 0; i < a->rows * a->columns; i++) {
        if (isfinite(x[i]) && fabs(x[i]) > (double)FLT_MAX)
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "%s: %g at vertex %zu is more than the float32 of a .gii file holds; write .vtk",
                             a->name != NULL ? a->name : "coordinates", x[i], i / a->columns);
        narrow[i] = (float)x[i];
    }
    return array_put(w, a, narrow, err);
}

npmd_status gifti_write(file_writer *w, const mesh *m, bool geometry, const vertex_values *values, int count,
                        npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const array_facts points = { "POINTSET", "FLOAT32", NULL, m->vertices, 3 };
    const array_facts triangles = { "TRIANGLE", "INT32", NULL, m->faces, 3 };
    float *narrow = NULL;
    TRY(memory_new(&narrow, 3 * m->vertices, err));
    TRY(file_writer_print(w, err,
                          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          "<!DOCTYPE GIFTI SYSTEM \"http://gifti.projects.nitrc.org/gifti.dtd\">\n"
                          "<GIFTI Version=\"1.0\" NumberOfDataArrays=\"%d\">\n  <MetaData/>\n  <LabelTable/>\n",
                          count + (geometry ? 2 : 0)));
    if (geometry) {
        TRY(floats_put(w, &points, m->x, narrow, err));
        TRY(array_put(w, &triangles, m->face, err));
    }
    for (int i = 0; i < count; i++) {
        const array_facts column = { "SHAPE", "FLOAT32", values[i].name, m->vertices, 1 };
        TRY(floats_put(w, &column, values[i].value, narrow, err));
    }
    TRY(file_writer_print(w, err, "</GIFTI>\n"));
done:
    memory_free(narrow);
    return st;
}
