/* test_npy.c - NumPy's arrays: written as NumPy writes them, read in all types and orders, from files, pipes and maps;
 * headers that lie, and files that end early, are refused in words. */
#include "awkward.h"
#include "io.h"
#include "place.h"

/* A file of the given version with any header and data; returns its path. */
static const char *put_npy(place *p, int version, const char *header, const void *data, size_t size)
{
    unsigned char bytes[2048] = { 0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0 };
    const size_t length = strlen(header), start = version == 1 ? 10 : 12;
    assert_true(start + length + size <= sizeof bytes);
    bytes[8] = (unsigned char)(length & 255);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + start, header, length);
    if (size > 0)
        memcpy(bytes + start + length, data, size);
    return put_bytes(p, "made.npy", bytes, start + length + size);
}

static void npy_writes_as_numpy(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    const double a[6] = { 1, 2, 3, 4, 5, 6 };
    const char *path = in_folder(p, "made.npy");
    assert_int_equal(table_write(path, a, 3, 2, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_int_equal(b.size, 128 + sizeof a); /* NumPy's own size */
    static const char START[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, "
                                "'shape': (3, 2), }   ";
    assert_memory_equal(b.data, START, sizeof START - 1);
    assert_int_equal(b.data[127], '\n');
    file_bytes_free(&b);
    assert_int_equal(table_write(path, a, 6, 1, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_non_null(strstr((const char *)b.data + 10, "'shape': (6,), }"));
    file_bytes_free(&b);
}

static void npy_reads_all_kinds(void **state)
{
    place *p = *state;
    const double d[6] = { 0.1, -2, 3, 4, 5, 1e300 };
    const float f[6] = { 0.1F, -2, 3, 4, 5, 1e30F };
    static const struct {
        int version;
        const char *header;
        size_t rows, columns;
        bool single;
    } CASES[] = {
        { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }  \n", 3, 2, false },
        { 2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", 2, 3, false },
        { 3, "{\"shape\":(6L,),\"fortran_order\":False,\"descr\":\"<f8\"}\n", 6, 1, false },
        { 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (6, 1), }", 6, 1, false },
        { 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 6), }", 1, 6, false },
        { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 3, 2, true },
        { 2, "{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", 6, 1, true },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        const char *path = put_npy(p, CASES[k].version, CASES[k].header, CASES[k].single ? (const void *)f : d,
                                   CASES[k].single ? sizeof f : sizeof d);
        if (npy_read(path, &t, &err) != NPMD_OK)
            fail_msg("case %zu: %s", k, err.text);
        assert_int_equal(t.rows, CASES[k].rows);
        assert_int_equal(t.columns, CASES[k].columns);
        assert_null(t.line);
        for (int i = 0; i < 6; i++)
            assert_true(t.data[i] == (CASES[k].single ? (double)f[i] : d[i]));
        table_free(&t);
    }
    double *data = NULL;
    size_t shape[NPY_MAX_DIMENSIONS];
    int dimensions = 0;
    const char *path = put_npy(p, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3, 2), }", d, sizeof d);
    assert_int_equal(npy_read_array(path, &data, shape, &dimensions, NULL), NPMD_OK);
    assert_int_equal(dimensions, 3);
    assert_true(shape[0] == 1 && shape[1] == 3 && shape[2] == 2);
    assert_memory_equal(data, d, sizeof d);
    memory_free(data);
}

#define PLAIN "{'descr': '<f8', 'fortran_order': False, 'shape': "

static void npy_errors(void **state)
{
    place *p = *state;
    double d[6] = { 1, 2, 3, 4, 5, 6 };
    static const struct {
        int version;
        const char *header;
        size_t bytes;
        const char *words;
    } CASES[] = {
        { 1, PLAIN "(1152921504606846976, 2), }", 48,
          "header says 1152921504606846976 x 2 of 8 bytes each, but 48 bytes follow" },
        { 1, PLAIN "(4294967296, 4294967296), }", 48, "header says 4294967296 x 4294967296" }, /* product 2^64 */
        { 1, PLAIN "(2305843009213693952,), }", 0,
          "header says 2305843009213693952 of 8 bytes each, but 0 bytes follow" },
        { 1, PLAIN "(99999999999999999999, 2), }", 48, "a size below 2^64" },
        { 1, PLAIN "(3, 2), }", 47, "header says 3 x 2 of 8 bytes each, but 47 bytes follow" },
        { 1, PLAIN "(3, 2), }", 40, "but 40 bytes follow" },
        { 1, PLAIN "(2, 2), }", 48, "header says 2 x 2 of 8 bytes each, but 48 bytes follow" },
        { 1, PLAIN "(0, 2), }", 0, "is empty: header says 0 x 2" },
        { 1, PLAIN "(), }", 8, "single number" },
        { 1, PLAIN "(3, 2, 1), }", 48, "has 3 dimensions, expected rows and columns" },
        { 1, PLAIN "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }", 8, "more than 16 dimensions" },
        { 1, PLAIN "(6), }", 48, "',' of a tuple" },
        { 1, PLAIN "(-6,), }", 48, "a size was expected" },
        { 1, PLAIN "(3 2), }", 48, "',' or ')'" },
        { 1, PLAIN "(3, 2)", 0, "',' or '}'" },
        { 1, PLAIN "(3, 2), } x", 48, "its end was expected" },
        { 1, PLAIN "(3, 2), 'shape': (3, 2)}", 48, "once each" },
        { 1, PLAIN "(3, 2), 'extra': 1}", 48, "once each" },
        { 1, "{'descr': '<f8', 'shape': (3, 2), }", 48, "no 'fortran_order'" },
        { 1, "{'descr': '<f8', 'fortran_order': true, 'shape': (3, 2), }", 48, "True or False" },
        { 1, "{'descr': '<f8, 'fortran_order': False", 0, "where" },
        { 1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (6,), }", 48, "a quoted string" },
        { 1, "{'descr': '>f8', 'fortran_order': False, 'shape': (6,), }", 48, "type '>f8', expected '<f8' or '<f4'" },
        { 1, "{'descr': '|f8', 'fortran_order': False, 'shape': (6,), }", 48, "type '|f8'" },
        { 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (6,), }", 48, "type '<i8'" },
        { 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", 48, "np.ascontiguousarray" },
        { 1, "", 0, "'{' was expected" },
        { 4, PLAIN "(3, 2), }", 48, "version 4.0, expected 1.0, 2.0 or 3.0" },
    };
    table t = { 0 };
    npmd_error err = { 0 };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        const char *path = put_npy(p, CASES[k].version, CASES[k].header, d, CASES[k].bytes);
        assert_int_equal(npy_read(path, &t, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "made.npy");
        assert_says(&err, CASES[k].words);
        assert_null(t.data);
    }
    d[3] = NAN;
    assert_int_equal(npy_read(put_npy(p, 1, PLAIN "(3, 2), }", d, 48), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "made.npy row 2, column 2: NaN where a finite number was expected");
    assert_int_equal(npy_read(put_npy(p, 1, PLAIN "(6,), }", d, 48), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "row 4, column 1: NaN");
    d[3] = -INFINITY;
    assert_int_equal(npy_read(put_npy(p, 1, PLAIN "(2, 3), }", d, 48), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "row 2, column 1: infinity");
    assert_int_equal(npy_read(put_npy(p, 1, PLAIN "(3, 1, 2), }", d, 48), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "entry 2 x 1 x 2, counted from 1: infinity");
    assert_int_equal(npy_read(put_text(p, "made.npy", "1,2\n"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "not an .npy file");
    assert_int_equal(npy_read(put_text(p, "made.npy", ""), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "is empty");
    assert_int_equal(npy_read(put_bytes(p, "made.npy", "\x93NUMPY\x01\0\xff", 9), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "truncated");
    assert_int_equal(npy_read(put_bytes(p, "made.npy", "\x93NUMPY\x01\0\xff\xff{", 11), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "truncated: its header should have 65535 bytes, but 1 follow");
    assert_int_equal(npy_read(in_folder(p, "absent.npy"), &t, &err), NPMD_ERR_FILE);
}

/* Every beginning of a good file is refused, without a fault that a sanitizer would see. */
static void npy_truncated_anywhere(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    const char *path = in_folder(p, "made.npy");
    assert_int_equal(table_write(path, AWKWARD, AWKWARD_COUNT / 2, 2, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    for (size_t size = 0; size < b.size; size++) {
        table t = { 0 };
        assert_int_equal(npy_read(put_bytes(p, "cut.npy", b.data, size), &t, NULL), NPMD_ERR_FORMAT);
    }
    file_bytes_free(&b);
}

/* The bytes through a pipe, whose size no one knows before its end. */
static npmd_status npy_read_piped(const void *bytes, size_t size, table *t, npmd_error *err)
{
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size); /* fits the pipe */
    assert_int_equal(close(ends[1]), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const npmd_status st = npy_read(path, t, err);
    assert_int_equal(close(ends[0]), 0);
    return st;
}

static void npy_reads_a_pipe(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    table t = { 0 };
    npmd_error err = { 0 };
    const char *path = in_folder(p, "made.npy");
    assert_int_equal(table_write(path, AWKWARD, AWKWARD_COUNT / 2, 2, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_int_equal(npy_read_piped(b.data, b.size, &t, &err), NPMD_OK);
    assert_true(t.rows == AWKWARD_COUNT / 2 && t.columns == 2);
    assert_memory_equal(t.data, AWKWARD, sizeof AWKWARD);
    table_free(&t);
    assert_int_equal(npy_read_piped(b.data, b.size + 1, &t, &err), NPMD_ERR_FORMAT); /* the closing zero */
    assert_says(&err, "header says 6 x 2 of 8 bytes each, but more than 96 bytes follow");
    assert_int_equal(npy_read_piped(b.data, b.size - 1, &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "but 95 bytes follow");
    file_bytes_free(&b);
    static const char *const CLAIMS[] = { PLAIN "(1152921504606846976,), }", PLAIN "(4294967296, 4294967296), }" };
    for (int k = 0; k < 2; k++) { /* a claim takes no memory */
        path = put_npy(p, 1, CLAIMS[k], AWKWARD, sizeof AWKWARD);
        assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
        assert_int_equal(npy_read_piped(b.data, b.size, &t, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "but 96 bytes follow");
        file_bytes_free(&b);
    }
}

/* More numbers than are read at a time, of both widths. */
static void npy_reads_in_pieces(void **state)
{
    place *p = *state;
    enum { COUNT = 200001 };
    table t = { 0 };
    npmd_error err = { 0 };
    double *a = calloc(COUNT, sizeof *a);
    float *f = calloc(COUNT, sizeof *f);
    assert_true(a != NULL && f != NULL);
    for (int i = 0; i < COUNT; i++)
        a[i] = (double)(f[i] = 1.0F / (1.0F + (float)i));
    const char *path = in_folder(p, "long.npy");
    assert_int_equal(table_write(path, a, COUNT, 1, NULL), NPMD_OK);
    assert_int_equal(npy_read(path, &t, NULL), NPMD_OK);
    assert_int_equal(t.rows, COUNT);
    assert_memory_equal(t.data, a, COUNT * sizeof *a);
    table_free(&t);
    f[COUNT - 1] = NAN;
    path = put_npy(p, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (200001,), }", NULL, 0);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(f, sizeof *f, COUNT, file), COUNT);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(npy_read(path, &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "made.npy row 200001, column 1: NaN");
    free(a);
    free(f);
}

static void npy_maps(void **state)
{
    place *p = *state;
    npy_map m = { 0 };
    npmd_error err = { 0 };
    double d[6] = { 0.1, -2, NAN, 4, 5, 1e300 }; /* NaN: no pass is made over the numbers */
    const float f[6] = { 0.1F, -2, 3, 4, 5, 1e30F };
    assert_int_equal(npy_map_open(put_npy(p, 1, PLAIN "(3, 2), }", d, sizeof d), &m, &err), NPMD_OK);
    assert_true(m.count == 3 && m.columns == 2 && !m.f4);
    assert_int_not_equal((uintptr_t)m.rows % sizeof *d, 0); /* this header is not padded as NumPy pads it */
    assert_memory_equal(m.rows, d, sizeof d);
    npy_map_close(&m);
    npy_map_close(&m);
    npy_map_close(NULL);
    const char *path = put_npy(p, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", f, sizeof f);
    assert_int_equal(npy_map_open(path, &m, &err), NPMD_OK);
    assert_true(m.count == 6 && m.columns == 1 && m.f4);
    assert_memory_equal(m.rows, f, sizeof f);
    npy_map_close(&m);
    static const struct {
        const char *header;
        size_t bytes;
        const char *words;
    } CASES[] = {
        { PLAIN "(3, 2), }", 47, "header says 3 x 2 of 8 bytes each, but 47 bytes follow" },
        { PLAIN "(2, 2), }", 48, "header says 2 x 2 of 8 bytes each, but 48 bytes follow" },
        { PLAIN "(1152921504606846976, 2), }", 0, "but 0 bytes follow" },
        { PLAIN "(4294967296, 4294967296), }", 48, "but 48 bytes follow" },
        { PLAIN "(3, 1, 2), }", 48, "has 3 dimensions" },
        { PLAIN "(0,), }", 0, "is empty" },
        { "{'descr': '>f8', 'fortran_order': False, 'shape': (6,), }", 48, "type '>f8'" },
        { "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", 48, "Fortran order" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        path = put_npy(p, 1, CASES[k].header, d, CASES[k].bytes);
        assert_int_equal(npy_map_open(path, &m, &err), NPMD_ERR_FORMAT);
        assert_says(&err, CASES[k].words);
        assert_null(m.base);
    }
    assert_int_equal(npy_map_open(put_text(p, "made.npy", ""), &m, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "is empty");
    assert_int_equal(npy_map_open("/dev/null", &m, &err), NPMD_ERR_FILE);
    assert_says(&err, "cannot read /dev/null: it is a device, a file or a pipe was expected");
    assert_int_equal(npy_map_open(in_folder(p, "absent.npy"), &m, &err), NPMD_ERR_FILE);
    assert_int_equal(npy_map_open(p->folder, &m, &err), NPMD_ERR_FILE);
    assert_says(&err, "Is a directory");
    const unsigned char huge[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 255, 255, 255, 255, '{' };
    assert_int_equal(npy_map_open(put_bytes(p, "made.npy", huge, sizeof huge), &m, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "its header should have 4294967295 bytes, at most 1048576 expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_writes_as_numpy),
        cmocka_unit_test(npy_reads_all_kinds),
        cmocka_unit_test(npy_errors),
        cmocka_unit_test(npy_truncated_anywhere),
        cmocka_unit_test(npy_reads_a_pipe),
        cmocka_unit_test(npy_reads_in_pieces),
        cmocka_unit_test(npy_maps),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
