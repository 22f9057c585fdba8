/* test_mesh_files.c - the same surfaces through every format and encoding are the same numbers; files that are cut
 * short, claim more than they hold or hold something else are refused in words; what is written reads back. */
#include "meshes.h"
#include "surface.h"

#include <zlib.h>

static const char *put_kind(place *p, const file_kind *k, const shape *s)
{
    buffer b = { 0 };
    k->make(s, k->variant, &b);
    const char *path = put_bytes(p, k->name, b.data, b.size);
    free(b.data);
    return path;
}

static void assert_shape(const mesh *m, const shape *s)
{
    assert_int_equal(m->vertices, s->vertices);
    assert_int_equal(m->faces, s->faces);
    assert_memory_equal(m->x, s->x, 3 * s->vertices * sizeof *s->x);
    assert_memory_equal(m->face, s->face, 3 * s->faces * sizeof *s->face);
}

static void same_through_every_format(void **state)
{
    place *p = *state;
    const shape *const SHAPES[] = { &TETRAHEDRON, &OCTAHEDRON, &ICOSAHEDRON };
    for (int i = 0; i < 3; i++) {
        uint64_t hash = 0;
        for (size_t k = 0; k < FILE_KIND_COUNT; k++) {
            mesh m = { 0 };
            npmd_error err = { 0 };
            const char *path = put_kind(p, &FILE_KINDS[k], SHAPES[i]);
            must(mesh_read(path, &m, &err), &err);
            assert_shape(&m, SHAPES[i]);
            assert_true(k == 0 || m.hash == hash);
            hash = m.hash;
            must(mesh_check(&m, path, &err), &err);
            mesh_free(&m);
        }
    }
}

/* Compressed as a whole, and without a telling name. */
static void recognised_by_first_bytes(void **state)
{
    place *p = *state;
    for (size_t k = 0; k < FILE_KIND_COUNT; k++) {
        buffer b = { 0 };
        mesh m = { 0 };
        npmd_error err = { 0 };
        char name[64];
        FILE_KINDS[k].make(&OCTAHEDRON, FILE_KINDS[k].variant, &b);
        snprintf(name, sizeof name, "%s.gz", FILE_KINDS[k].name);
        gzFile f = gzopen(in_folder(p, name), "wb");
        assert_non_null(f);
        assert_int_equal(gzwrite(f, b.data, (unsigned)b.size), b.size);
        assert_int_equal(gzclose(f), Z_OK);
        must(mesh_read(in_folder(p, name), &m, &err), &err);
        assert_shape(&m, &OCTAHEDRON);
        mesh_free(&m);
        put_bytes(p, "nameless", b.data, b.size);
        const npmd_status st = mesh_read(in_folder(p, "nameless"), &m, &err);
        if (strncmp((const char *)b.data, "# a comment", 11) == 0
            || strncmp((const char *)b.data, "# colours", 9) == 0) { /* .obj has no first bytes, nor a comment */
            assert_int_equal(st, NPMD_ERR_FORMAT);
            assert_says(&err, "unknown kind of surface");
        } else {
            must(st, &err);
            assert_shape(&m, &OCTAHEDRON);
            mesh_free(&m);
        }
        free(b.data);
    }
}

/* Every beginning of a file is refused, or (text) is another surface, which is not closed; or only blanks and what is
 * not read were cut. */
static void cut_anywhere(void **state)
{
    place *p = *state;
    for (size_t k = 0; k < FILE_KIND_COUNT; k++) {
        buffer b = { 0 };
        mesh whole = { 0 };
        npmd_error err = { 0 };
        FILE_KINDS[k].make(&TETRAHEDRON, FILE_KINDS[k].variant, &b);
        must(mesh_read(put_bytes(p, FILE_KINDS[k].name, b.data, b.size), &whole, &err), &err);
        for (size_t size = 0; size < b.size; size++) {
            mesh m = { 0 };
            const char *path = put_bytes(p, FILE_KINDS[k].name, b.data, size);
            const npmd_status st = mesh_read(path, &m, &err);
            if (st == NPMD_OK) {
                assert_true(m.hash == whole.hash || mesh_check(&m, path, &err) == NPMD_ERR_FORMAT);
            } else {
                assert_int_equal(st, NPMD_ERR_FORMAT);
                assert_says(&err, FILE_KINDS[k].name);
                assert_null(m.x);
            }
            mesh_free(&m);
        }
        mesh_free(&whole);
        free(b.data);
    }
}

/* Any one byte changed: no crash, and a status with a sentence or a mesh in order. */
static void changed_anywhere(void **state)
{
    place *p = *state;
    for (size_t k = 0; k < FILE_KIND_COUNT; k++) {
        buffer b = { 0 };
        FILE_KINDS[k].make(&TETRAHEDRON, FILE_KINDS[k].variant, &b);
        for (size_t at = 0; at < b.size; at++) {
            mesh m = { 0 };
            npmd_error err = { 0 };
            b.data[at] ^= 0x81;
            const npmd_status st = mesh_read(put_bytes(p, FILE_KINDS[k].name, b.data, b.size), &m, &err);
            assert_true(st == NPMD_OK || (st == NPMD_ERR_FORMAT && err.text[0] != 0 && m.x == NULL));
            for (size_t i = 0; i < 3 * m.faces; i++)
                assert_true(m.face[i] >= 0 && (size_t)m.face[i] < m.vertices);
            mesh_free(&m);
            b.data[at] ^= 0x81;
        }
        free(b.data);
    }
}

typedef struct bad_file {
    const char *name, *text, *words;
} bad_file;

#define GII(attributes, data)                                                                                          \
    "<GIFTI><DataArray Intent=\"NIFTI_INTENT_POINTSET\" " attributes "><Data>" data "</Data></DataArray></GIFTI>"
#define POINTS "DataType=\"NIFTI_TYPE_FLOAT32\" ArrayIndexingOrder=\"RowMajorOrder\" Dimensionality=\"2\" "

static void bad_files(void **state)
{
    place *p = *state;
    static const bad_file CASES[] = {
        { "a.obj", "", "a.obj is empty" },
        { "a.stl", "solid", "a.stl: unknown kind of surface, expected .obj, .off" },
        { "a.obj", "# nothing\n", "a.obj has 0 vertices and 0 faces" },
        { "a.obj", "v 1 2 3\nf 1 2 3 4\n", "line 2: the face after 0 others has 4 corners, 3 were expected" },
        { "a.obj", "v 1 2 3\nf 1 1\n", "line 2: the face after 0 others has 2 corners" },
        { "a.obj", "v 1 2 3\nf 1 1 0\n", "line 2: a face has a corner at vertex 0, but 1 vertices" },
        { "a.obj", "v 1 2 3\nf 1 -2 1\n", "line 2: a face has a corner at vertex -2" },
        { "a.obj", "v 1 2 3\nf 1 1 2\n", "a.obj: face 1 has a corner at vertex 2, but the vertices are 1 to 1" },
        { "a.obj", "v 1 2 3\nf 1 1 9000000000\n", "line 2: a face has a corner at vertex 8999999999" },
        { "a.obj", "v 1 2 x\n", "line 1: 'x' was found where a coordinate was expected" },
        { "a.obj", "v 1 2\n", "line 1: it ends where a coordinate was expected" },
        { "a.obj", "v 1 2 3\nf 1 1.5 1\n", "line 2: 1.5 was found where the number of a vertex was expected" },
        { "a.obj", "curv 1 2\n", "line 1: 'curv' was found where a vertex (v) or a face (f) was expected" },
        { "a.obj", "v 1 nan 3\nf 1 1 1\n", "a.obj: vertex 1: coordinate y is NaN" },
        { "a.off", "OFF\n1 1 0\n0 0 1e999\n3 0 0 0\n", "a.off: vertex 0: coordinate z is infinite" },
        { "a.off", "OFF BINARY\n", "'BINARY' was found where the number of vertices" },
        { "a.off", "4OFF\n", "'4OFF' was found where OFF" },
        { "a.off", "OFF\n9 1000000000000000 0\n0 0 0\n", "it ends where a vertex was expected" },
        { "a.off", "OFF\n-1 2 0\n", "-1 was found where the number of vertices was expected" },
        { "a.off", "OFF\n1 1 0\n0 0 0\n4 0 0 0 0\n", "line 4: the face after 0 others has 4 corners" },
        { "a.off", "OFF\n1 1 0\n0 0 0\n3 0 0 0\n0 0\n", "line 5: '0' was found where the end of the file" },
        { "a.off", "OFF\n1 1 0\n0 0 0\n3 0 -1 0\n",
          "a.off: face 0 has a corner at vertex -1, but the vertices are 0 to 0" },
        { "a.ply", "plx\n", "line 1: 'plx' was found where ply was expected" },
        { "a.ply", "ply\nformat ascii 2.0\n", "line 2: 'ascii' was found where ascii" },
        { "a.ply", "ply\nend_header\n", "the header has no format" },
        { "a.ply", "ply\nformat ascii 1.0\nproperty int x\n", "'property' was found where format" },
        { "a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nend_header\n", "element 1 has rows, but no property" },
        { "a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty int x\nend_header\n",
          "no properties x, y and z" },
        { "a.ply", "ply\nformat ascii 1.0\nelement face 1\nproperty int x\nend_header\n",
          "no list property vertex_indices" },
        { "a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty half x\n", "'half' was found where a type" },
        { "a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty int x\nproperty int x\n",
          "a property is there twice" },
        { "a.ply", "ply\nformat ascii 1.0\nelement face 1\nproperty list float int vertex_index\n",
          "'float' was found where a type of integers" },
        { "a.ply",
          "ply\nformat binary_big_endian 1.0\nelement thing 999999999999\nproperty list uint int x\nend_header\n\xff\xff\xff\xff",
          "4294967295 numbers of a property should follow" },
        { "a.ply",
          "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_index\nend_header\n4 0 0 0 0\n",
          "has 4 corners" },
        { "a.ply", "ply\nformat ascii 1.0\nelement x 1\nproperty int x\nend_header\n4 0\n",
          "line 6: 3 bytes follow where the end" },
        { "a.vtk", "# vtk\n", "a.vtk is no legacy VTK file" },
        { "a.vtk", "# vtk DataFile Version 3.0\n\nUTF8\n", "'UTF8' was found where ASCII or BINARY" },
        { "a.vtk", "# vtk DataFile Version 3.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\n",
          "'UNSTRUCTURED_GRID' was found where POLYDATA" },
        { "a.vtk", "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nTRIANGLE_STRIPS 1 4\n",
          "'TRIANGLE_STRIPS' was found where POINTS" },
        { "a.vtk", "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nPOINTS 1 half\n",
          "'half' was found where a type" },
        { "a.vtk", "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nPOLYGONS 1 5\n4 0 1 2 3\n",
          "line 6: the face after 0 others has 4 corners" },
        { "a.vtk", "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nPOLYGONS 1 5\n3 0 1 2\n",
          "1 triangles are 4 numbers, but POLYGONS announced 5" },
        { "a.vtk", "# vtk DataFile Version 5.1\n\nASCII\nDATASET POLYDATA\nPOLYGONS 2 4\nOFFSETS vtktypeint64\n0 4\n",
          "polygon 0 has 4 corners, 3 were expected" },
        { "a.vtk", "# vtk DataFile Version 5.1\n\nASCII\nDATASET POLYDATA\nPOLYGONS 2 4\nOFFSETS vtktypeint64\n0 3\n",
          "1 triangles have 3 corners, but POLYGONS announced 4" },
        { "a.vtk", "# vtk DataFile Version 3.0\n\nBINARY\nDATASET POLYDATA\nPOINTS 99999999999 float\n\1\2",
          "byte 78: it ends where a coordinate" },
        { "a.vtk", "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nFIELD f 1\na 4294967296 4294967296 float\n1",
          "4294967296 x 4294967296 numbers are announced" },
        { "lh.pial", "\xff\xff\xff", "such a file of FreeSurfer begins with ff ff fe" },
        { "lh.pial", "\xff\xff\xfehand\n\n\x7f\xff\xff\xff\x7f\xff\xff\xff", "it ends where a coordinate" },
        { "a.gii", "<svg/>", "a.gii line 1: <svg> was found where <GIFTI> was expected" },
        { "a.gii", "<GIFTI>\n<a></b>\n</GIFTI>", "a.gii line 2: it is no XML: mismatched tag" },
        { "a.gii", "<GIFTI/>", "a.gii has 0 arrays of intent NIFTI_INTENT_POINTSET, expected 1" },
        { "a.gii", "<!DOCTYPE a [<!ENTITY b \"cc\">]><GIFTI>&b;</GIFTI>", "an entity is declared" },
        { "a.gii", GII("", ""), "DataType is '', expected NIFTI_TYPE_FLOAT32" },
        { "a.gii", GII(POINTS "Dim0=\"2\" Dim1=\"3\" Encoding=\"ExternalFileBinary\"", ""),
          "Encoding is 'ExternalFileBinary'" },
        { "a.gii", GII(POINTS "Dim0=\"-2\" Dim1=\"3\" Encoding=\"ASCII\"", ""),
          "Dim0 is '-2', expected an integer from 1" },
        { "a.gii", GII(POINTS "Dim0=\"2147483647\" Dim1=\"2147483647\" Encoding=\"ASCII\"", "1 2"),
          "but its data hold fewer" },
        { "a.gii", GII(POINTS "Dim0=\"2147483647\" Dim1=\"3\" Encoding=\"Base64Binary\" Endian=\"BigEndian\"", "AAAA"),
          "numbers of 4 bytes are announced, but its data hold 3 bytes" },
        { "a.gii",
          GII(POINTS "Dim0=\"2147483647\" Dim1=\"2147483647\" Encoding=\"GZipBase64Binary\" Endian=\"BigEndian\"",
              "AAAA"),
          "but its data hold fewer" },
        { "a.gii", GII(POINTS "Dim0=\"1\" Dim1=\"3\" Encoding=\"GZipBase64Binary\" Endian=\"BigEndian\"", "AAAA"),
          "its compressed data are damaged" },
        { "a.gii", GII(POINTS "Dim0=\"1\" Dim1=\"3\" Encoding=\"Base64Binary\" Endian=\"BigEndian\"", "AA*A"),
          "character 3 of the data is none of base64" },
        { "a.gii", GII(POINTS "Dim0=\"1\" Dim1=\"3\" Encoding=\"ASCII\"", "1 2 x"),
          "'x' was found where a number of the array" },
        { "a.gii", GII(POINTS "Dim0=\"1\" Dim1=\"3\" Encoding=\"ASCII\"", "1 2 3 4"),
          "'4' was found where the end of the data" },
        { "a.gii", GII(POINTS "Dim0=\"1\" Dim1=\"2\" Encoding=\"ASCII\"", "1 2"), "has 2 columns, expected 3" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        mesh m = { 0 };
        npmd_error err = { 0 };
        const npmd_status st = mesh_read(put_text(p, CASES[k].name, CASES[k].text), &m, &err);
        if (st != NPMD_ERR_FORMAT)
            fail_msg("case %zu, which should say '%s': status %d, '%s'", k, CASES[k].words, (int)st, err.text);
        assert_says(&err, CASES[k].words);
        assert_null(m.x);
    }
    mesh m = { 0 };
    npmd_error err = { 0 };
    assert_int_equal(mesh_read(in_folder(p, "absent.obj"), &m, &err), NPMD_ERR_FILE);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void written_and_read_back(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "out.gii", "out.gii.gz", "out.vtk", "out.surf.gii" };
    double value[12], other[12];
    for (int i = 0; i < 12; i++) {
        value[i] = 1.0 / (i + 1);
        other[i] = -i;
    }
    const vertex_values columns[] = { { "a <b> & \"c\"", value }, { "100 %", other } };
    mesh m = { 0 }, back = { 0 };
    npmd_error err = { 0 };
    must(mesh_read(put_kind(p, &FILE_KINDS[0], &ICOSAHEDRON), &m, &err), &err);
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; k++) {
        const char *path = in_folder(p, NAMES[k]);
        must(mesh_write(path, &m, columns, k == 3 ? 0 : 2, &err), &err);
        must(mesh_read(path, &back, &err), &err);
        assert_shape(&back, &ICOSAHEDRON);
        assert_true(back.hash == m.hash);
        mesh_free(&back);
    }
    size_t size = 0;
    unsigned char *vtk = get_bytes(in_folder(p, "out.vtk"), &size);
    buffer expected = { 0 };
    buffer_print(&expected, "SCALARS 100%%20%%25 double 1\nLOOKUP_TABLE default\n");
    for (int i = 0; i < 12; i++)
        buffer_number(&expected, other[i], 'd', true);
    buffer_print(&expected, "\n");
    assert_true(size > expected.size);
    assert_memory_equal(vtk + size - expected.size, expected.data, expected.size);
    free(expected.data);
    free(vtk);
    unsigned char *gii = get_bytes(in_folder(p, "out.gii"), &size);
    assert_non_null(strstr((const char *)gii, "NumberOfDataArrays=\"4\""));
    assert_non_null(strstr((const char *)gii, "<Value>a &lt;b&gt; &amp; \"c\"</Value>"));
    free(gii);
    must(mesh_write(in_folder(p, "out.shape.gii"), &m, columns, 2, &err), &err);
    gii = get_bytes(in_folder(p, "out.shape.gii"), &size);
    assert_non_null(strstr((const char *)gii, "NumberOfDataArrays=\"2\""));
    assert_null(strstr((const char *)gii, "POINTSET"));
    free(gii);
    mesh_free(&m);
}

static void writing_refused(void **state)
{
    place *p = *state;
    mesh m = { 0 };
    npmd_error err = { 0 };
    const double large[4] = { 0, 1, 1e300, 2 };
    const vertex_values column = { "large", large };
    must(mesh_read(put_kind(p, &FILE_KINDS[0], &TETRAHEDRON), &m, &err), &err);
    const size_t files = files_in(p->folder);
    assert_int_equal(mesh_write(in_folder(p, "out.obj"), &m, NULL, 0, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "out.obj: unknown suffix, expected .gii, .gii.gz or .vtk");
    assert_int_equal(mesh_write(in_folder(p, "new.surf.gii"), &m, &column, 1, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(mesh_write(in_folder(p, "new.func.gii"), &m, NULL, 0, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(mesh_write(in_folder(p, "new.gii"), &m, &column, 1, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "large: 1e+300 at vertex 2 is more than the float32");
    assert_int_equal(files_in(p->folder), files);
    must(mesh_write(in_folder(p, "new.vtk"), &m, &column, 1, &err), &err);
    mesh_free(&m);
}

/* ---- real files -------------------------------------------------------------------------------------------------- */

static void shared_surfaces(void **state)
{
    place *p = *state;
    static const struct {
        const char *name;
        size_t vertices, faces;
        const char *wrong; /* what mesh_check says; NULL: nothing */
    } FILES[] = {
        { "data/mesh/white_left.gii.gz", 10242, 20480, NULL },
        { "data/mesh/pial_left.gii.gz", 10242, 20480, NULL },
        { "data/mesh/sphere_left.gii.gz", 10242, 20480, NULL },
        { "data/mesh/infl_left.gii.gz", 10242, 20480, NULL },
        { "data/mesh/lh_white_avg_ico4.vtk", 2562, 5120, NULL },
        { "data/mesh/lh_inflated_avg_ico4.vtk", 2562, 5120, NULL },
        { "data/mesh/lh_sphere_avg_ico4.vtk", 2562, 5120, "faces 0 and 1 are oriented against each other" },
        { "data/mesh/bunny.off", 3485, 6966, NULL },
        { "data/mesh/bunny_simp.obj", 2502, 5000, NULL },
        { "data/mesh/bun_zipper.ply", 35947, 69451,
          "bun_zipper.ply is not closed: 223 edges have one face only, in 5 loops" },
    };
    for (size_t k = 0; k < sizeof FILES / sizeof FILES[0]; k++) {
        mesh m = { 0 };
        npmd_error err = { 0 };
        const char *path = shared_file(p, FILES[k].name);
        if (path == NULL)
            continue;
        must(mesh_read(path, &m, &err), &err);
        assert_int_equal(m.vertices, FILES[k].vertices);
        assert_int_equal(m.faces, FILES[k].faces);
        const npmd_status st = mesh_check(&m, path, &err);
        if (FILES[k].wrong == NULL)
            must(st, &err);
        else
            assert_says(&err, FILES[k].wrong);
        mesh_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_through_every_format),
        cmocka_unit_test(recognised_by_first_bytes),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(changed_anywhere),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(written_and_read_back),
        cmocka_unit_test(writing_refused),
        cmocka_unit_test(shared_surfaces),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
