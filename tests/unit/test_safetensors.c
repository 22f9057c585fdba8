/* test_safetensors.c - records of named tensors: bit for bit there and back, in the layout that other programs rely on;
 * whatever is not such a record is refused in words. */
#include "awkward.h"
#include "io.h"
#include "place.h"

#include <time.h>

static const float SINGLES[3] = { 0.1F, -2.0F, 3e38F };
static const int32_t INTEGERS[2][2] = { { INT32_MIN, -1 }, { 0, INT32_MAX } };
static const int64_t LONGS[1] = { INT64_MIN };
#define FACTS "{\"version\": 1, \"words\": \"a \\\"quoted\\\" \\u00e9\"}"

static void record_make(record *rec)
{
    *rec = (record){ 0 };
    assert_int_equal(memory_text(&rec->metadata, FACTS, NULL), NPMD_OK);
    assert_int_equal(record_add(rec, "singles", TENSOR_F32, 1, (const size_t[]){ 3 }, SINGLES, NULL), NPMD_OK);
    assert_int_equal(record_add(rec, "doubles", TENSOR_F64, 3, (const size_t[]){ 3, 2, 2 }, AWKWARD, NULL), NPMD_OK);
    assert_int_equal(record_add(rec, "integers", TENSOR_I32, 2, (const size_t[]){ 2, 2 }, INTEGERS, NULL), NPMD_OK);
    assert_int_equal(record_add(rec, "long", TENSOR_I64, 0, NULL, LONGS, NULL), NPMD_OK);
    assert_int_equal(record_add(rec, "nothing", TENSOR_F64, 2, (const size_t[]){ 0, 5 }, NULL, NULL), NPMD_OK);
}

static void record_round_trip(void **state)
{
    place *p = *state;
    record rec, back = { 0 };
    const tensor *t = NULL;
    npmd_error err = { 0 };
    const char *path = in_folder(p, "trip.safetensors"), *again = in_folder(p, "again.safetensors");
    record_make(&rec);
    assert_int_equal(record_write(path, &rec, &err), NPMD_OK);
    assert_int_equal(record_read(path, &back, &err), NPMD_OK);
    assert_int_equal(back.count, rec.count);
    assert_string_equal(back.metadata, FACTS);
    assert_int_equal(record_find(&back, path, "doubles", TENSOR_F64, 3, (const size_t[]){ 3, 0, 2 }, &t, &err),
                     NPMD_OK);
    assert_memory_equal(t->data, AWKWARD, sizeof AWKWARD);
    assert_true(t->owned);
    assert_int_equal(record_find(&back, path, "singles", TENSOR_F32, 1, (const size_t[]){ 3 }, &t, &err), NPMD_OK);
    assert_memory_equal(t->data, SINGLES, sizeof SINGLES);
    assert_int_equal(record_find(&back, path, "integers", TENSOR_I32, 2, (const size_t[]){ 2, 2 }, &t, &err), NPMD_OK);
    assert_memory_equal(t->data, INTEGERS, sizeof INTEGERS);
    assert_int_equal(record_find(&back, path, "long", TENSOR_I64, 0, NULL, &t, &err), NPMD_OK);
    assert_memory_equal(t->data, LONGS, sizeof LONGS);
    assert_int_equal(record_find(&back, path, "nothing", TENSOR_F64, 2, (const size_t[]){ 0, 5 }, &t, &err), NPMD_OK);
    assert_int_equal(record_write(again, &rec, &err), NPMD_OK); /* equal records are equal bytes */
    assert_same_bytes(path, again);
    record_free(&back);
    record_free(&rec);
    record_free(&rec);
}

/* The layout that other programs rely on: an aligned, padded header and gapless, aligned data. */
static void record_layout(void **state)
{
    place *p = *state;
    record rec;
    file_bytes b = { 0 };
    uint64_t length = 0;
    static const char HEADER[] = "{\"__metadata__\":{\"format\":\"neuropmd\",\"neuropmd\":\"{}\"},"
                                 "\"doubles\":{\"dtype\":\"F64\",\"shape\":[3,2,2],\"data_offsets\":[0,96]},"
                                 "\"long\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[96,104]},"
                                 "\"nothing\":{\"dtype\":\"F64\",\"shape\":[0,5],\"data_offsets\":[104,104]},"
                                 "\"singles\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[104,116]},"
                                 "\"integers\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[116,132]}}";
    const char *path = in_folder(p, "layout.safetensors");
    record_make(&rec);
    memory_free(rec.metadata);
    assert_int_equal(memory_text(&rec.metadata, "{}", NULL), NPMD_OK);
    assert_int_equal(record_write(path, &rec, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    memcpy(&length, b.data, 8);
    assert_int_equal(length % 8, 0);
    assert_int_equal(b.size, 8 + length + 132);
    assert_memory_equal(b.data + 8, HEADER, sizeof HEADER - 1);
    for (size_t i = 8 + sizeof HEADER - 1; i < 8 + length; i++)
        assert_int_equal(b.data[i], ' ');
    assert_memory_equal(b.data + 8 + length, AWKWARD, sizeof AWKWARD);
    assert_memory_equal(b.data + 8 + length + 104, SINGLES, sizeof SINGLES);
    file_bytes_free(&b);
    record_free(&rec);
}

static void record_find_errors(void **state)
{
    (void)state;
    record rec;
    const tensor *t = NULL;
    npmd_error err = { 0 };
    record_make(&rec);
    assert_int_equal(record_find(&rec, "m.safetensors", "weight", TENSOR_F64, 1, (const size_t[]){ 3 }, &t, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "m.safetensors: tensor 'weight' is missing");
    assert_int_equal(record_find(&rec, "m", "singles", TENSOR_F64, 1, (const size_t[]){ 3 }, &t, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "tensor 'singles' is F32 (3), expected F64 (3)");
    assert_int_equal(record_find(&rec, "m", "integers", TENSOR_I32, 2, (const size_t[]){ 0, 3 }, &t, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "is I32 (2 x 2), expected I32 (any x 3)");
    assert_int_equal(record_find(&rec, "m", "long", TENSOR_I64, 1, (const size_t[]){ 1 }, &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "is I64 (a single number), expected I64 (1)");
    assert_null(t);
    assert_int_equal(record_add(&rec, "long", TENSOR_I64, 0, NULL, LONGS, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(record_add(&rec, "__metadata__", TENSOR_I64, 0, NULL, LONGS, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(record_add(&rec, "a name of sixty-four bytes is one byte too long for a tensor, sir", TENSOR_I64,
                                0, NULL, LONGS, &err),
                     NPMD_ERR_ARGUMENT);
    assert_int_equal(rec.count, 5);
    record_free(&rec);
}

static const char *put_record(place *p, const char *header, size_t data_size)
{
    unsigned char bytes[2048] = { 0 };
    const uint64_t length = strlen(header);
    assert_true(8 + length + data_size <= sizeof bytes);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    return put_bytes(p, "made.safetensors", bytes, 8 + length + data_size);
}

#define OURS "{\"__metadata__\":{\"neuropmd\":\"{}\"}"
#define A_TENSOR(facts) OURS ",\"a\":{" facts "}}"

static void record_errors(void **state)
{
    place *p = *state;
    static const struct {
        const char *header;
        size_t bytes;
        const char *words;
    } CASES[] = {
        { "{}", 0, "is a safetensors file but not a neuropmd model" },
        { "{\"__metadata__\":{\"format\":\"pt\"},\"w\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,"
          "2]}}",
          2, "is a safetensors file but not a neuropmd model" },
        { "{\"__metadata__\":{\"neuropmd\":{}}}", 0, "no map from strings to strings" },
        { "{\"__metadata__\":{\"neuropmd\":\"{}\",\"n\":1}}", 0, "no map from strings to strings" },
        { "{\"__metadata__\":[]}", 0, "no map from strings to strings" },
        { OURS ",\"__metadata__\":{}}", 0, "no valid JSON" },
        { OURS, 0, "no valid JSON" },
        { OURS "} x", 0, "no valid JSON" },
        { "[]", 0, "does not begin with '{'" },
        { "", 0, "does not begin with '{'" },
        { OURS ",\"a\":1}", 0, "needs dtype, shape, data_offsets" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1]"), 0, "needs dtype, shape, data_offsets" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8],\"more\":1"), 8, "nothing else" },
        { A_TENSOR("\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]"), 2,
          "tensor 'a' has type 'F16', expected F64" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,8]"), 8, "has 5 dimensions" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[-1],\"data_offsets\":[0,8]"), 8, "no size" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1.0],\"data_offsets\":[0,8]"), 8, "no size" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[8,0]"), 8, "data_offsets are no pair" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8,16]"), 8, "data_offsets are no pair" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]"), 8,
          "ends at byte 16 of the data, but 8 bytes follow" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,8]"), 8,
          "is F64 (2), but its data_offsets hold 8 bytes" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1152921504606846976,16],\"data_offsets\":[0,8]"), 8, "hold 8 bytes" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]"), 0, "hold 0 bytes" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]"), 8, "no valid JSON" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[8,16]"), 16,
          "begins at byte 8 of the data, expected 0 (hole)" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]"), 16, "cover 8 bytes, but 16 follow" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
                   "\"b\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[8,24]"),
          24, "tensor 'b' begins at byte 8 of the data, expected 16 (overlap)" },
        { OURS ",\"a name of sixty-four bytes is one byte too long for a tensor, sir\":{}}", 0,
          "longer than 63 bytes" },
    };
    record rec = { 0 };
    npmd_error err = { 0 };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        assert_int_equal(record_read(put_record(p, CASES[k].header, CASES[k].bytes), &rec, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "made.safetensors");
        assert_says(&err, CASES[k].words);
        assert_null(rec.tensors);
    }
    static const char STRANGER[] = A_TENSOR("\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[8,24]},"
                                            "\"b\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
                                            "\"c\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[8,8]");
    assert_int_equal(record_read(put_record(p, STRANGER, 24), &rec, &err), NPMD_OK); /* any order of names is good */
    assert_int_equal(rec.count, 3);
    record_free(&rec);
    assert_int_equal(record_read(put_text(p, "made.safetensors", ""), &rec, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "is empty");
    assert_int_equal(record_read(put_text(p, "made.safetensors", "short"), &rec, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "truncated: 5 bytes");
    assert_int_equal(record_read(put_text(p, "made.safetensors", "{\"a text file\": 1}"), &rec, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "safetensors its header says");
    assert_int_equal(record_read(in_folder(p, "absent.safetensors"), &rec, &err), NPMD_ERR_FILE);
    assert_says(&err, "No such file or directory");
}

static void record_truncated_anywhere(void **state)
{
    place *p = *state;
    record rec;
    file_bytes b = { 0 };
    const char *path = in_folder(p, "whole.safetensors");
    record_make(&rec);
    assert_int_equal(record_write(path, &rec, NULL), NPMD_OK);
    record_free(&rec);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    for (size_t size = 0; size < b.size; size++)
        assert_int_equal(record_read(put_bytes(p, "cut.safetensors", b.data, size), &rec, NULL), NPMD_ERR_FORMAT);
    file_bytes_free(&b);
}

/* Seconds of this thread for a record of so many tensors, made, packed, parsed and looked at: the least of three. */
static double record_seconds(size_t count)
{
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        struct timespec before, after;
        char name[32], *packed = NULL;
        size_t size = 0;
        record rec = { 0 }, back = { 0 };
        const tensor *t = NULL;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
        assert_int_equal(memory_text(&rec.metadata, "{}", NULL), NPMD_OK);
        for (size_t i = 0; i < count; i++) {
            snprintf(name, sizeof name, "part.1.x%zu", i);
            assert_int_equal(record_add(&rec, name, TENSOR_F64, 1, (const size_t[]){ 0 }, NULL, NULL), NPMD_OK);
        }
        assert_int_equal(record_pack(&rec, &packed, &size, NULL), NPMD_OK);
        const file_bytes bytes = { (unsigned char *)packed, size };
        assert_int_equal(record_parse("the record", &bytes, &back, NULL), NPMD_OK);
        for (size_t i = 0; i < count; i++) {
            snprintf(name, sizeof name, "part.1.x%zu", i);
            assert_int_equal(record_find(&back, "", name, TENSOR_F64, 1, (const size_t[]){ 0 }, &t, NULL), NPMD_OK);
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
        const double seconds = (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
        least = seconds < least ? seconds : least;
        record_free(&back);
        record_free(&rec);
        memory_free(packed);
    }
    return least;
}

/* Four times the tensors take four times as long, not sixteen times: 9 lies between with room for caches on one side and
 * for what is linear in any case on the other. (With a table that is copied for each tensor it was 15.) */
static void record_of_many_tensors(void **state)
{
    (void)state;
    const double few = record_seconds(3000);
    check_below("time of 12,000 tensors over that of 3,000", record_seconds(12000) / few, 9.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_round_trip),         cmocka_unit_test(record_layout),
        cmocka_unit_test(record_find_errors),        cmocka_unit_test(record_errors),
        cmocka_unit_test(record_truncated_anywhere), cmocka_unit_test(record_of_many_tensors),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
