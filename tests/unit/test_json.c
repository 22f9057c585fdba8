/* test_json.c - JSON read by the library against Jansson's own reader, and what is wrong in words. */
#include "check.h"
#include "core.h"

#include <jansson.h>

static const char *const GOOD[] = {
    "{}",
    " [ ] ",
    "0",
    "-0",
    "[0, -1, 9223372036854775807, -9223372036854775808]",
    "[0.1, -2.5e-3, 1E5, 1e+5, 0.12345678901234567, 5e-324, 1.7976931348623157e308, 1e-400]",
    "[true, false, null]\r\n\t ",
    "{\"a\": {\"b\": [1, [2, [3, []]]]}, \"c\": \"\"}",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"caf\\u00e9 \\u20AC \\ud83d\\uDE00 \x7f\"",
    "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xEF\xBF\xBF \xF4\x8F\xBF\xBF\"",
    "{\"\": 1, \"a key much longer than sixteen bytes, as Jansson's buffer has them\": \"x\"}",
    "{\"domain\": \"S1^2\", \"weights\": [0.25, 0.75], \"means\": [[1.5, 2], [-3, 4e-1]], \"n\": 120}",
};

static const char *const BAD[][2] = {
    { "", "the end of the text was found where a value was expected" },
    { "[1, 2", "the end of the text was found where ',' or ']' was expected" },
    { "{\"a\": 1", "',' or '}'" },
    { "{\"a\" 1}", "column 6: '1' was found where ':' was expected" },
    { "{a: 1}", "column 2: 'a' was found where a key in quotes was expected" },
    { "{\"a\": 1,}", "a key in quotes" },
    { "[1,]", "']' was found where a value was expected" },
    { "[1 2]", "',' or ']'" },
    { "{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", "line 3, column 5: duplicate key" },
    { "{} {}", "'{' was found where the end of the text was expected" },
    { "nul", "a value" },
    { "True", "a value" },
    { "+1", "a value" },
    { ".5", "a value" },
    { "-", "a digit" },
    { "1.", "a digit" },
    { "1e", "a digit" },
    { "01", "the end of the text" },
    { "0x10", "the end of the text" },
    { "NaN", "a value" },
    { "1e999", "too large for a double" },
    { "9223372036854775808", "beyond 64 bits" },
    { "\"abc", "the '\"' that ends a string" },
    { "\"a\nb\"", "line 1, column 3: byte 0x0a was found where a character of a string in UTF-8" },
    { "\"\\x\"", "an escape" },
    { "\"\\u12g4\"", "a hexadecimal digit" },
    { "\"\\u0000\"", "no character" },
    { "\"\\udc00\"", "no character" },
    { "\"\\ud800\"", "surrogate pair" },
    { "\"\\ud800\\u0041\"", "surrogate pair" },
    { "\"\\", "an escape" },
    { "\"\xC3\"", "byte 0xc3" },
    { "\"\xC0\xAF\"", "UTF-8" },
    { "\"\xE0\x9F\xBF\"", "UTF-8" },
    { "\"\xED\xA0\x80\"", "UTF-8" },
    { "\"\xF4\x90\x80\x80\"", "UTF-8" },
    { "\"\xFF\"", "UTF-8" },
    { "\xEF\xBB\xBF{}", "byte 0xef" },
};

static json_t *theirs(const char *text)
{
    return json_loadb(text, strlen(text), JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
}

static json_t *ours(const char *text)
{
    json_t *value = NULL;
    const npmd_status st = json_from_text(text, strlen(text), "here", &value, NULL);
    assert_true(st == NPMD_OK ? value != NULL : st == NPMD_ERR_FORMAT && value == NULL);
    return value;
}

static void good_texts_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        json_t *a = ours(GOOD[i]), *b = theirs(GOOD[i]);
        if (a == NULL || b == NULL || !json_equal(a, b))
            fail_msg("%s is read in two ways", GOOD[i]);
        json_decref(a);
        json_decref(b);
    }
}

static void bad_texts_are_refused_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        npmd_error err = { 0 };
        json_t *value = NULL;
        assert_null(theirs(BAD[i][0]));
        assert_int_equal(json_from_text(BAD[i][0], strlen(BAD[i][0]), "here", &value, &err), NPMD_ERR_FORMAT);
        assert_null(value);
        if (strncmp(err.text, "here line ", 10) != 0 || strstr(err.text, BAD[i][1]) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", BAD[i][0], err.text, BAD[i][1]);
    }
}

/* One to three bytes of a good text are changed, taken out or put in: both readers must agree on it. */
static void spoilt_texts_are_judged_alike(void **state)
{
    static const char BYTES[] =
        "{}[]:,\"\\u0123456789abcdefDE.+-eEntfls/ \n\t\x01\x7f\x80\xC3\xA9\xE2\xED\xF0\xF4";
    uint64_t seed = 7;
    int accepted = 0;
    (void)state;
    for (int round = 0; round < 40000; round++) {
        char text[160];
        const size_t which = (size_t)(test_uniform(&seed) * (double)(sizeof GOOD / sizeof *GOOD));
        snprintf(text, sizeof text, "%s", GOOD[which]);
        for (int times = 1 + round % 3; times > 0; times--) {
            const size_t length = strlen(text), at = (size_t)(test_uniform(&seed) * (double)(length + 1));
            const char byte = BYTES[(size_t)(test_uniform(&seed) * (double)(sizeof BYTES - 1))];
            const double what = test_uniform(&seed);
            if (what < 0.4 && at < length) {
                text[at] = byte;
            } else if (what < 0.7 && at < length) {
                memmove(text + at, text + at + 1, length - at);
            } else {
                memmove(text + at + 1, text + at, length - at + 1);
                text[at] = byte;
            }
        }
        json_t *a = ours(text), *b = theirs(text);
        if ((a == NULL) != (b == NULL) || (a != NULL && !json_equal(a, b)))
            fail_msg("%s is judged in two ways", text);
        accepted += a != NULL;
        json_decref(a);
        json_decref(b);
    }
    print_message("    %d of 40000 spoilt texts are still good\n", accepted);
    assert_in_range(accepted, 1000, 39000); /* else one of the two cases is hardly tried */
}

static void depth_is_bounded(void **state)
{
    (void)state;
    for (int depth = 200; depth <= 201; depth++) {
        char text[512] = "";
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        json_t *value = ours(text);
        assert_true((value != NULL) == (depth == 200));
        json_decref(value);
    }
    char *deep = malloc(1000001); /* no overflow of the stack */
    assert_non_null(deep);
    memset(deep, '[', 1000000);
    deep[1000000] = 0;
    assert_null(ours(deep));
    free(deep);
}

/* A host program in a locale with a decimal comma, and text that does not end where it is told to. */
static void numbers_have_a_point(void **state)
{
    (void)state;
    json_t *value = NULL;
    char *text = NULL;
    const bool comma = comma_locale();
    assert_int_equal(json_from_text("[2.5, 12]345", 9, "here", &value, NULL), NPMD_OK);
    assert_int_equal(json_to_text(value, JSON_COMPACT, &text, NULL), NPMD_OK);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "[2.5,12]");
    print_message("    %s\n", comma ? "with a decimal comma around it" : "no such locale here");
    npmd_text_free(text);
    json_decref(value);
}

static void what_is_missing_is_a_failure(void **state)
{
    (void)state;
    npmd_error err = { 0 };
    char *text = NULL;
    json_t *object = json_object(), *array = json_array();
    assert_int_equal(json_put(object, "a", NULL, &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_put(NULL, "a", json_integer(1), &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_append(array, NULL, &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_append(NULL, json_integer(1), &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_to_text(NULL, 0, &text, &err), NPMD_ERR_MEMORY);
    assert_null(text);
    assert_int_equal(json_append(array, json_real(0.1), &err), NPMD_OK);
    assert_int_equal(json_put(object, "a", array, &err), NPMD_OK);
    assert_int_equal(json_to_text(object, JSON_COMPACT, &text, &err), NPMD_OK);
    assert_string_equal(text, "{\"a\":[0.10000000000000001]}");
    npmd_text_free(text);
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts_are_read),           cmocka_unit_test(bad_texts_are_refused_in_words),
        cmocka_unit_test(spoilt_texts_are_judged_alike), cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(numbers_have_a_point),          cmocka_unit_test(what_is_missing_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
