/* test_csv.c - tables as text, plain or compressed by gzip: every number comes back bit for bit, all dialects are one
 * table, and what is wrong is named by its line and column. */
#include "awkward.h"
#include "io.h"
#include "place.h"

/* ---- csv.c ------------------------------------------------------------------------------------------------------- */

static void csv_round_trip(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "trip.csv", "trip.tsv", "trip.txt", "trip.npy", "TRIP.CSV", "trip.txt.gz" };
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        for (size_t columns = 1; columns <= 4; columns++) {
            table t = { 0 };
            const char *path = in_folder(p, NAMES[k]);
            assert_int_equal(table_write(path, AWKWARD, AWKWARD_COUNT / columns, columns, NULL), NPMD_OK);
            assert_int_equal(table_read(path, &t, NULL), NPMD_OK);
            assert_int_equal(t.rows, AWKWARD_COUNT / columns);
            assert_int_equal(t.columns, columns);
            assert_memory_equal(t.data, AWKWARD, sizeof AWKWARD);
            assert_string_equal(t.path, path);
            table_free(&t);
        }
}

/* One text a case; all hold the rows (1, 2.5) and (-3, 4e2), the second on the line given. */
static void csv_dialects(void **state)
{
    place *p = *state;
    static const struct {
        const char *text;
        size_t line;
    } CASES[] = {
        { "1,2.5\n-3,4e2\n", 2 },
        { "1,2.5\n-3,4e2", 2 },
        { "1\t2.5\n-3\t4e2\n", 2 },
        { "1;2.5\n-3;4e2\n", 2 },
        { "  1  2.5 \n-3 \t 4e2\n", 2 },
        { "1 , 2.5\r\n -3,\t400.0\r\n", 2 },
        { "1,2.5\r-3,4e2\r", 2 },
        { "\xEF\xBB\xBF# a comment\n\n  \nphi,psi\n1,2.5\n# between\n-3,4e2 # behind\n\n", 7 },
        { "\xEF\xBB\xBFphi psi\n+1. .25e1\n-3 400", 3 },
        { "\"angle, first\",\"angle # 2\"\n\"1\",2.5\n-3,\"4E+2\"\n", 3 },
        { "angle, first\tangle, second\n1\t2.5\n-3\t4e2\n", 3 },
        { ",\n1,2.5\n-3,4e2\n", 3 },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        char where[1100], expected[1100];
        const char *path = put_text(p, "dialect.csv", CASES[k].text);
        if (table_read(path, &t, &err) != NPMD_OK)
            fail_msg("case %zu: %s", k, err.text);
        assert_int_equal(t.rows, 2);
        assert_int_equal(t.columns, 2);
        assert_true(t.data[0] == 1.0 && t.data[1] == 2.5 && t.data[2] == -3.0 && t.data[3] == 400.0);
        table_where(&t, 1, where, sizeof where);
        snprintf(expected, sizeof expected, "%s line %zu", path, CASES[k].line);
        assert_string_equal(where, expected);
        table_free(&t);
    }
}

static void csv_errors(void **state)
{
    place *p = *state;
    static const struct {
        const char *text, *words;
    } CASES[] = {
        { "", "bad.csv is empty" },
        { "# only this\n\n", "bad.csv is empty: it holds no row of numbers" },
        { "x,y\n", "is empty: it holds no row of numbers" },
        { "1,2\n3,nan\n", "bad.csv line 2, column 2: NaN where a finite number was expected" },
        { "-NaN,NaN\n", "line 1, column 1: NaN" },
        { "x\n1\n\n-Infinity\n", "line 4, column 1: infinity where a finite number was expected" },
        { "1\ninf\n", "line 2, column 1: infinity" },
        { "1\n1e999\n", "line 2, column 1: '1e999' is too large for a double" },
        { "1,2\n3\n", "line 2: 1 field found, 2 expected" },
        { "1,2\n3,4,5\n", "line 2: 3 fields found, 2 expected" },
        { "x,y,z\n3,4\n", "line 2: 2 fields found, 3 expected" },
        { "1,2\n3,4,\n", "line 2: 3 fields found, 2 expected" },
        { "1,2\n3,\n", "line 2, column 2: empty field" },
        { "id,0.5\n", "line 1, column 1: text 'id' where a number was expected" },
        { "x,y\n1,2\nx,y\n", "line 3, column 1: text 'x'" },
        { "1;2\n1,5;2\n", "line 2, column 1: text '1,5'" },
        { "1\n0x10\n", "text '0x10'" },
        { "1\n1e\n", "text '1e'" },
        { "1\n.\n", "text '.'" },
        { "1\n1d5\n", "text '1d5'" },
        { "1\n\x1b[31mred\n", "text '?[31mred'" },
        { "1\n0123456789a0123456789a0123456789a0123456789a\n", "text '0123456789a0123456789a0123456789a0123456...'" },
        { "1\n\"2\n", "text '\"2'" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        const char *path = put_text(p, "bad.csv", CASES[k].text);
        assert_int_equal(csv_read(path, &t, &err), NPMD_ERR_FORMAT);
        assert_int_equal(err.status, NPMD_ERR_FORMAT);
        assert_says(&err, CASES[k].words);
        assert_null(t.data);
    }
    table t = { 0 };
    npmd_error err = { 0 };
    assert_int_equal(csv_read(put_bytes(p, "bad.csv", "1,2\n3,\0004\n", 10), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "line 2: NUL byte (byte 7)");
    assert_int_equal(csv_read(in_folder(p, "absent.csv"), &t, &err), NPMD_ERR_FILE);
    assert_int_equal(table_read(in_folder(p, "points.xls"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "unknown suffix");
    assert_int_equal(table_write(in_folder(p, "points.xls"), AWKWARD, 1, 1, &err), NPMD_ERR_ARGUMENT);
}

static void csv_long_line(void **state)
{
    place *p = *state;
    enum { COLUMNS = 50000 };
    table t = { 0 };
    double *a = calloc(2 * COLUMNS, sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < 2 * COLUMNS; i++)
        a[i] = 1.0 / (1.0 + i);
    const char *path = in_folder(p, "wide.csv");
    assert_int_equal(table_write(path, a, 2, COLUMNS, NULL), NPMD_OK);
    assert_int_equal(csv_read(path, &t, NULL), NPMD_OK);
    assert_int_equal(t.columns, COLUMNS);
    assert_memory_equal(t.data, a, 2 * COLUMNS * sizeof *a);
    table_free(&t);
    free(a);
}

/* A host program may have set a locale with a decimal comma; files do not follow it. */
static void csv_ignores_locale(void **state)
{
    place *p = *state;
    if (!comma_locale())
        skip(); /* none is installed here */
    table t = { 0 };
    const double x = 1234.5;
    const char *path = in_folder(p, "locale.csv"), *plain = put_text(p, "plain.csv", "1234.5\n");
    const npmd_status written = table_write(path, &x, 1, 1, NULL), got = csv_read(path, &t, NULL);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(written, NPMD_OK);
    assert_int_equal(got, NPMD_OK);
    assert_true(t.data[0] == x);
    assert_same_bytes(path, plain);
    table_free(&t);
}

/* ---- gzip.c ------------------------------------------------------------------------------------------------------ */

/* "1,2.5\n" and "-3,4e2\n", each a member made by gzip -n. */
static const unsigned char MEMBERS[2][32] = {
    { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x33, 0xd4, 0x31,
      0xd2, 0x33, 0xe5, 0x02, 0x00, 0xc6, 0xc7, 0xc0, 0x50, 0x06, 0x00, 0x00, 0x00 },
    { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xd3, 0x35, 0xd6, 0x31,
      0x49, 0x35, 0xe2, 0x02, 0x00, 0x76, 0xeb, 0x29, 0x89, 0x07, 0x00, 0x00, 0x00 },
};
static const size_t MEMBER_SIZE[2] = { 26, 27 };

static void gzip_reads_members(void **state)
{
    place *p = *state;
    unsigned char both[64];
    memcpy(both, MEMBERS[0], MEMBER_SIZE[0]);
    memcpy(both + MEMBER_SIZE[0], MEMBERS[1], MEMBER_SIZE[1]);
    const size_t size = MEMBER_SIZE[0] + MEMBER_SIZE[1];
    static const char *const NAMES[] = { "two.csv.gz", "two.tsv.gz", "TWO.TXT.GZ", "two.csv" }; /* known by its bytes */
    for (int k = 0; k < 4; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        if (table_read(put_bytes(p, NAMES[k], both, size), &t, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        assert_true(t.rows == 2 && t.columns == 2);
        assert_true(t.data[0] == 1.0 && t.data[1] == 2.5 && t.data[2] == -3.0 && t.data[3] == 400.0);
        table_free(&t);
    }
    for (size_t cut = 1; cut < size; cut++) {
        table t = { 0 };
        npmd_error err = { 0 };
        const npmd_status st = table_read(put_bytes(p, "cut.csv.gz", both, cut), &t, &err);
        assert_int_equal(st, cut == MEMBER_SIZE[0] ? NPMD_OK : NPMD_ERR_FORMAT); /* one member is a file */
        assert_true(st == NPMD_OK || strstr(err.text, "cut.csv.gz is") != NULL);
        table_free(&t);
    }
}

static void gzip_errors(void **state)
{
    place *p = *state;
    table t = { 0 };
    npmd_error err = { 0 };
    unsigned char bytes[64] = { 0 };
    const size_t size = MEMBER_SIZE[0];
    memcpy(bytes, MEMBERS[0], size);
    assert_int_equal(table_read(put_bytes(p, "bad.csv.gz", bytes, size - 1), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is truncated: its gzip data end too soon");
    assert_int_equal(table_read(put_bytes(p, "bad.csv.gz", bytes, size + 1), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is damaged");
    bytes[size - 5] ^= 1; /* the checksum */
    assert_int_equal(table_read(put_bytes(p, "bad.csv.gz", bytes, size), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is damaged");
    bytes[size - 5] ^= 1;
    bytes[size - 1] = 255; /* the length claims gigabytes */
    assert_int_equal(table_read(put_bytes(p, "bad.csv.gz", bytes, size), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is damaged");
    assert_int_equal(table_read(put_text(p, "bad.csv.gz", "1,2\n"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is no gzip file: it does not begin with the bytes 1f 8b");
    assert_int_equal(table_read(put_text(p, "bad.csv.gz", ""), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is empty");
    assert_int_equal(table_read(in_folder(p, "bad.npy.gz"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "unknown suffix");
    assert_null(t.data);
}

/* More than any buffer inside; the same numbers give the same bytes. */
static void gzip_round_trip(void **state)
{
    place *p = *state;
    enum { ROWS = 60000 };
    table t = { 0 };
    npmd_error err = { 0 };
    double *a = calloc(2 * ROWS, sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < 2 * ROWS; i++)
        a[i] = sin(i);
    const char *path = in_folder(p, "many.tsv.gz"), *again = in_folder(p, "again.tsv.gz");
    assert_int_equal(table_write(path, a, ROWS, 2, &err), NPMD_OK);
    assert_int_equal(table_write(again, a, ROWS, 2, &err), NPMD_OK);
    assert_same_bytes(path, again);
    assert_int_equal(table_read(path, &t, &err), NPMD_OK);
    assert_true(t.rows == ROWS && t.columns == 2);
    assert_memory_equal(t.data, a, 2 * ROWS * sizeof *a);
    table_free(&t);
    free(a);
    file_bytes b = { 0 };
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_true(b.size < ROWS * 2 * 12 && b.data[0] == 0x1f && b.data[1] == 0x8b);
    file_bytes_free(&b);
}

/* ---- table.c ----------------------------------------------------------------------------------------------------- */

/* Rows in any portions give the bytes of the whole. */
static void table_writer_streams(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "rows.csv", "rows.tsv", "rows.txt", "rows.npy" }, *const WHOLE[] = {
        "whole.csv", "whole.tsv", "whole.txt", "whole.npy"
    };
    npmd_error err = { 0 };
    for (size_t k = 0; k < 4; k++) {
        table_writer *w = NULL;
        const char *path = in_folder(p, NAMES[k]), *whole = in_folder(p, WHOLE[k]);
        assert_int_equal(table_writer_open(path, 2, 6, &w, &err), NPMD_OK);
        assert_int_equal(table_writer_put(w, AWKWARD, 1, &err), NPMD_OK);
        assert_int_equal(table_writer_put(w, AWKWARD, 0, &err), NPMD_OK);
        assert_int_equal(table_writer_put(w, AWKWARD + 2, 5, &err), NPMD_OK);
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_equal(table_writer_commit(w, &err), NPMD_OK);
        assert_int_equal(table_write(whole, AWKWARD, 6, 2, &err), NPMD_OK);
        assert_same_bytes(path, whole);
    }
}

static void table_writer_counts(void **state)
{
    place *p = *state;
    table_writer *w = NULL;
    table t = { 0 };
    npmd_error err = { 0 };
    const char *path = in_folder(p, "few.npy"), *text = in_folder(p, "any.csv");
    const size_t before = files_in(p->folder);
    assert_int_equal(table_writer_open(path, 2, 3, &w, &err), NPMD_OK);
    assert_int_equal(table_writer_put(w, AWKWARD, 2, &err), NPMD_OK);
    assert_int_equal(table_writer_put(w, AWKWARD, 2, &err), NPMD_ERR_SHAPE);
    assert_says(&err, "few.npy: 3 rows were announced, more came");
    assert_int_equal(table_writer_commit(w, &err), NPMD_ERR_SHAPE);
    assert_says(&err, "few.npy: 3 rows were announced, 2 came");
    assert_int_equal(table_writer_open(path, 2, TABLE_ROWS_UNKNOWN, &w, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "which must be known");
    assert_int_equal(table_writer_open(in_folder(p, "few.xls"), 2, 3, &w, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(table_writer_open(path, 2, 3, &w, &err), NPMD_OK);
    table_writer_abandon(w);
    table_writer_abandon(NULL);
    assert_int_equal(files_in(p->folder), before);
    assert_int_equal(table_writer_open(text, 2, TABLE_ROWS_UNKNOWN, &w, &err), NPMD_OK);
    assert_int_equal(table_writer_put(w, AWKWARD, 2, &err), NPMD_OK);
    assert_int_equal(table_writer_put(w, AWKWARD + 4, 1, &err), NPMD_OK);
    assert_int_equal(table_writer_commit(w, &err), NPMD_OK);
    assert_int_equal(table_read(text, &t, &err), NPMD_OK);
    assert_true(t.rows == 3 && t.columns == 2);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_round_trip),       cmocka_unit_test(csv_dialects),
        cmocka_unit_test(csv_errors),           cmocka_unit_test(csv_long_line),
        cmocka_unit_test(csv_ignores_locale),   cmocka_unit_test(gzip_reads_members),
        cmocka_unit_test(gzip_errors),          cmocka_unit_test(gzip_round_trip),
        cmocka_unit_test(table_writer_streams), cmocka_unit_test(table_writer_counts),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
