/* test_mat.c - MATLAB's files of version 5 against those that SciPy wrote (tests/fixtures/mat/make.py), and files that
 * are damaged or claim more than they hold. */
#include "io.h"
#include "place.h"

#define MAT "tests/fixtures/mat/" /* tests run from the root of the source tree */
static const double MAT_X[6] = { 0.1, -2.0, 1.0 / 3.0, 4.0, 5e-324, 1e300 };
static const double MAT_N[6] = { 1, 2, 3, 4, 5, 100 };

static void assert_table(const char *path, size_t rows, size_t columns, const double *a)
{
    table t = { 0 };
    npmd_error err = { 0 };
    if (table_read(path, &t, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_true(t.rows == rows && t.columns == columns);
    assert_memory_equal(t.data, a, rows * columns * sizeof *a);
    assert_string_equal(t.path, path);
    assert_null(t.line);
    table_free(&t);
}

static void mat_reads_all_classes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double least; /* of the type */
    } CLASSES[] = { { "i1", -128 },        { "u1", 0 }, { "i2", -32768 },  { "u2", 0 },
                    { "i4", -2147483648 }, { "u4", 0 }, { "i8", -0x1p63 }, { "u8", 0 } };
    double singles[6];
    for (int i = 0; i < 6; i++)
        singles[i] = (double)(float)(MAT_X[i] < 1e30 ? MAT_X[i] : 1e30);
    for (int zipped = 0; zipped < 2; zipped++) {
        const char *file = zipped ? MAT "zipped.mat" : MAT "plain.mat";
        char path[128];
        snprintf(path, sizeof path, "%s:x", file);
        assert_table(path, 3, 2, MAT_X);
        snprintf(path, sizeof path, "%s:single", file);
        assert_table(path, 3, 2, singles);
        snprintf(path, sizeof path, "%s:row", file);
        assert_table(path, 1, 3, MAT_N);
        for (size_t k = 0; k < sizeof CLASSES / sizeof CLASSES[0]; k++) {
            snprintf(path, sizeof path, "%s:%s", file, CLASSES[k].name);
            assert_table(path, 2, 3, MAT_N);
            snprintf(path, sizeof path, "%s:%s_least", file, CLASSES[k].name);
            assert_table(path, 1, 1, &CLASSES[k].least);
        }
    }
    assert_table(MAT "one.mat", 3, 2, MAT_X); /* the only matrix needs no name */
    assert_table(MAT "one_zipped.mat", 3, 2, MAT_X);
}

static void mat_reads_other_layouts(void **state)
{
    (void)state;
    const double negative[6] = { -1, -2, -3, -4, -5, -100 };
    assert_table(MAT "big_endian.mat:x", 3, 2, MAT_X);
    assert_table(MAT "big_endian.mat:single", 2, 3, MAT_N);
    assert_table(MAT "big_endian.mat:long", 2, 3, negative);
    assert_table(MAT "big_endian.mat:two", 1, 2, (const double[]){ -2, 300 });
    assert_table(MAT "packed.mat:n", 2, 3, MAT_N);
    assert_table(MAT "packed.mat:m", 2, 2, (const double[]){ 1, -2, 3, 4 });
}

static void mat_errors(void **state)
{
    place *p = *state;
    static const struct {
        const char *path, *words;
    } CASES[] = {
        { "plain.mat:y",
          "plain.mat holds no variable 'y', but x (3 x 2 double), single (3 x 2 single), i1 (2 x 3 int8)" },
        { "plain.mat:y", ", ..." },
        { "plain.mat:", "holds no variable ''" },
        { "plain.mat", "plain.mat holds several matrices, name one as in FILE.mat:NAME: x (3 x 2 double)" },
        { "words.mat", "words.mat holds no matrix of real numbers, but label (1 x 9 char), cell (1 x 2 cell)" },
        { "plain.mat:nan", "plain.mat:nan row 2, column 2: NaN where a finite number was expected" },
        { "zipped.mat:inf", "zipped.mat:inf row 1, column 3: infinity where a finite number was expected" },
        { "plain.mat:complex", "'complex' is complex, expected real numbers" },
        { "zipped.mat:sparse", "'sparse' is sparse, expected a full matrix: save full(sparse)" },
        { "plain.mat:text", "'text' is of class char, expected a matrix of numbers" },
        { "plain.mat:cell", "'cell' is of class cell" },
        { "zipped.mat:structure", "'structure' is of class struct" },
        { "plain.mat:truth", "'truth' is of class logical" },
        { "plain.mat:cube", "'cube' has 3 dimensions, expected rows and columns" },
        { "plain.mat:empty", "'empty' is empty: 0 x 2" },
        { "version4.mat", "version4.mat is a MAT-file of version 4, expected 5: save it with -v7" },
        { "version73.mat:x", "version73.mat is a MAT-file of version 7.3, expected 5: save it with -v7" },
    };
    table t = { 0 };
    npmd_error err = { 0 };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        char path[128];
        snprintf(path, sizeof path, MAT "%s", CASES[k].path);
        assert_int_equal(table_read(path, &t, &err), NPMD_ERR_FORMAT);
        assert_says(&err, CASES[k].words);
        assert_null(t.data);
    }
    assert_int_equal(table_read(put_text(p, "bad.mat", ""), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.mat is empty");
    assert_int_equal(table_read(put_text(p, "bad.mat", "1,2\n"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.mat is no MAT-file, or truncated");
    assert_int_equal(table_read(in_folder(p, "absent.mat"), &t, &err), NPMD_ERR_FILE);
    assert_int_equal(table_read(in_folder(p, "absent.mat:x"), &t, &err), NPMD_ERR_FILE);
    assert_says(&err, "absent.mat: No such file");
    assert_int_equal(table_write(in_folder(p, "bad.mat"), MAT_X, 1, 1, &err), NPMD_ERR_ARGUMENT);
}

/* A file with exactly the name wins over a variable of a file. */
static void mat_colons(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    const double x = 5.0;
    char path[1100];
    assert_int_equal(file_read(MAT "one.mat", &b, NULL), NPMD_OK);
    assert_table(put_bytes(p, "a:b.mat", b.data, b.size), 3, 2, MAT_X);
    snprintf(path, sizeof path, "%s:x", in_folder(p, "a:b.mat"));
    assert_table(path, 3, 2, MAT_X);
    assert_table(put_bytes(p, "a:b.mat:x.mat", b.data, b.size), 3, 2, MAT_X);
    const char *text = in_folder(p, "a:b.mat:x.csv");
    assert_int_equal(table_write(text, &x, 1, 1, NULL), NPMD_OK);
    table t = { 0 };
    assert_int_equal(table_read(text, &t, NULL), NPMD_OK);
    assert_true(t.rows == 1 && t.data[0] == 5.0);
    table_free(&t);
    file_bytes_free(&b);
}

/* Every beginning of a good file is refused; a changed bit of a zipped one is found or changes nothing. */
static void mat_damaged_anywhere(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { MAT "one.mat", MAT "one_zipped.mat" };
    for (int k = 0; k < 2; k++) {
        file_bytes b = { 0 };
        table t = { 0 };
        npmd_error err = { 0 };
        assert_int_equal(file_read(NAMES[k], &b, NULL), NPMD_OK);
        for (size_t size = 0; size < b.size; size++) {
            assert_int_equal(table_read(put_bytes(p, "cut.mat", b.data, size), &t, &err), NPMD_ERR_FORMAT);
            assert_says(&err, "cut.mat");
        }
        for (size_t bit = 8 * 128; bit < 8 * b.size; bit++) {
            b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            const char *path = put_bytes(p, "cut.mat", b.data, b.size);
            if (table_read(path, &t, &err) == NPMD_OK && k == 1)
                assert_memory_equal(t.data, MAT_X, sizeof MAT_X);
            table_free(&t);
            b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        file_bytes_free(&b);
    }
}

/* One number, of which the file says what it wants. */
static void mat_claims_take_no_memory(void **state)
{
    place *p = *state;
    static const struct {
        uint32_t element, rows, columns, type, size;
        const char *words;
    } CASES[] = {
        { 56, 1, 1, 9, 8, NULL },
        { 56, 0x7fffffff, 0x7fffffff, 9, 8, "2147483647 x 2147483647 numbers, but 8 bytes of type 9" },
        { 56, 0x7fffffff, 2, 2, 0xfffffffe, "a part of a variable claims 4294967294 bytes, at most 8 fit" },
        { 0xfffffff0, 0x7fffffff, 1, 9, 0xfffffff0, "should have 4294967280 bytes, but 56 follow" },
        { 56, 0x80000000, 1, 9, 8, "negative size" },
        { 56, 1, 1, 10, 8, "8 bytes of type 10" },
        { 56, 1, 1, 9, 7, "7 bytes of type 9" },
        { 40, 1, 1, 9, 8, "the element at byte 177 is no variable (type 9, 8 bytes)" },
        { 36, 1, 1, 9, 8, "a variable ends within one of its parts" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        const uint32_t words[] = { 14,
                                   CASES[k].element,
                                   6,
                                   8,
                                   6,
                                   0,
                                   5,
                                   8,
                                   CASES[k].rows,
                                   CASES[k].columns,
                                   1u << 16 | 1,
                                   'x',
                                   CASES[k].type,
                                   CASES[k].size,
                                   0,
                                   0x3ff00000 };
        unsigned char bytes[128 + sizeof words] = { 0 };
        table t = { 0 };
        npmd_error err = { 0 };
        memcpy(bytes + 124, "\0\1IM", 4);
        memcpy(bytes + 128, words, sizeof words);
        const npmd_status st = table_read(put_bytes(p, "claim.mat", bytes, sizeof bytes), &t, &err);
        assert_int_equal(st, CASES[k].words == NULL ? NPMD_OK : NPMD_ERR_FORMAT);
        if (CASES[k].words != NULL)
            assert_says(&err, CASES[k].words);
        else
            assert_true(t.rows == 1 && t.columns == 1 && t.data[0] == 1.0);
        table_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mat_reads_all_classes),
        cmocka_unit_test(mat_reads_other_layouts),
        cmocka_unit_test(mat_errors),
        cmocka_unit_test(mat_colons),
        cmocka_unit_test(mat_damaged_anywhere),
        cmocka_unit_test(mat_claims_take_no_memory),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
