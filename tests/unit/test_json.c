/* test_json.c - the tree of JSON: texts that are read, refused in words and printed; keys in their order and found at
 * once; numbers to the last bit; limits. Every allocation that can fail does so in tests/failure. */
#include "place.h"
#include "trees.h"

/* What is read, and how it is printed again without blanks. */
static const char *const GOOD[][2] = {
    { "{}", "{}" },
    { " [ ] ", "[]" },
    { "0", "0" },
    { "-0", "0" },
    { "[0, -1, 9223372036854775807, -9223372036854775808]", "[0,-1,9223372036854775807,-9223372036854775808]" },
    { "[0.1, -2.5e-3, 1E5, 1e+5, 1e22, 1e-05, 0.12345678901234567, 5e-324, 1.7976931348623157e308, 1e-400, -0.0]",
      "[0.10000000000000001,-0.0025000000000000001,100000.0,100000.0,1e22,1.0000000000000001e-5,"
      "0.12345678901234566,4.9406564584124654e-324,1.7976931348623157e308,0.0,-0.0]" },
    { "[true, false, null]\r\n\t ", "[true,false,null]" },
    { "{\"a\": {\"b\": [1, [2, [3, []]]]}, \"c\": \"\"}", "{\"a\":{\"b\":[1,[2,[3,[]]]]},\"c\":\"\"}" },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\"" },
    { "\"caf\\u00e9 \\u20AC \\ud83d\\uDE00 \x7f\"", "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \x7f\"" },
    { "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xEF\xBF\xBF \xF4\x8F\xBF\xBF\"",
      "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xEF\xBF\xBF \xF4\x8F\xBF\xBF\"" },
    { "{\"z\": 1, \"\": 2, \"a\": 3, \"a longer key\": \"x\"}", "{\"z\":1,\"\":2,\"a\":3,\"a longer key\":\"x\"}" },
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

static json_t *accepted(const char *text) /* NULL: it is refused */
{
    json_t *value = NULL;
    const npmd_status st = json_from_text(text, strlen(text), "here", &value, NULL);
    assert_true(st == NPMD_OK ? value != NULL : st == NPMD_ERR_FORMAT && value == NULL);
    return value;
}

static void check_print(const json_t *value, size_t flags, const char *expected)
{
    char *text = tree_print(value, flags), cut[8];
    assert_string_equal(text, expected);
    assert_int_equal(json_print(value, flags, cut, sizeof cut), strlen(expected)); /* as snprintf does */
    assert_int_equal(strncmp(cut, expected, sizeof cut - 1), 0);
    assert_true(strlen(cut) == (strlen(expected) < sizeof cut ? strlen(expected) : sizeof cut - 1));
    npmd_text_free(text);
}

static void good_texts_are_read_and_printed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        json_t *value = tree_read(GOOD[i][0], strlen(GOOD[i][0])), *again = tree_read(GOOD[i][1], strlen(GOOD[i][1]));
        check_print(value, JSON_COMPACT, GOOD[i][1]);
        assert_true(json_equal(value, again) && json_equal(again, value));
        json_decref(value);
        json_decref(again);
    }
}

static void bad_texts_are_refused_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        npmd_error err = { 0 };
        json_t *value = NULL;
        assert_int_equal(json_from_text(BAD[i][0], strlen(BAD[i][0]), "here", &value, &err), NPMD_ERR_FORMAT);
        assert_null(value);
        if (strncmp(err.text, "here line ", 10) != 0 || strstr(err.text, BAD[i][1]) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", BAD[i][0], err.text, BAD[i][1]);
    }
}

/* One to three bytes of a good text are changed, taken out or put in. What is still accepted is printed, read and
 * printed again without a change. */
static void spoilt_texts_are_refused_or_kept(void **state)
{
    static const char BYTES[] = "{}[]:,\"\\u0123456789abcdefDE.+-eEntfls/ \n\t\x01\x7f\x80\xC3\xA9\xE2\xED\xF0\xF4";
    uint64_t seed = 7;
    int good = 0;
    (void)state;
    for (int round = 0; round < 40000; round++) {
        char text[160];
        const size_t which = (size_t)(test_uniform(&seed) * (double)(sizeof GOOD / sizeof *GOOD));
        snprintf(text, sizeof text, "%s", GOOD[which][0]);
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
        json_t *value = accepted(text);
        if (value != NULL) {
            char *once = tree_print(value, JSON_INDENT(2) | JSON_ENSURE_ASCII);
            json_t *again = tree_read(once, strlen(once));
            check_print(again, JSON_INDENT(2) | JSON_ENSURE_ASCII, once);
            assert_true(json_equal(value, again));
            json_decref(again);
            npmd_text_free(once);
            good++;
        }
        json_decref(value);
    }
    print_message("    %d of 40000 spoilt texts are still good\n", good);
    assert_in_range(good, 1000, 39000); /* else one of the two cases is hardly tried */
}

static void flags_change_the_form(void **state)
{
    (void)state;
    static const char TEXT[] = "{\"a\":[1,{}],\"b\":[],\"c\":\"\\u00e9\\u20ac\\ud83d\\ude00\\ufffd\\n\\u001b\x7f\","
                               "\"d\":[5.0,0.1,1e-5,-1e22]}";
    json_t *value = tree_read(TEXT, sizeof TEXT - 1);
    check_print(value, JSON_ENSURE_ASCII,
                "{\"a\": [1, {}], \"b\": [], \"c\": \"\\u00E9\\u20AC\\uD83D\\uDE00\\uFFFD\\n\\u001B\x7f\", "
                "\"d\": [5.0, 0.10000000000000001, 1.0000000000000001e-5, -1e22]}");
    check_print(value, JSON_INDENT(2) | JSON_REAL_PRECISION(6),
                "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n"
                "  \"c\": \"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD\\n\\u001B\x7f\",\n"
                "  \"d\": [\n    5.0,\n    0.1,\n    1e-5,\n    -1e22\n  ]\n}");
    check_print(
        value, JSON_PRINTF,
        "{\"a\": [1, {}], \"b\": [], \"c\": \"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\\ufffd\\u000a\\u001b\\u007f\", "
        "\"d\": [5, 0.10000000000000001, 1.0000000000000001e-05, -1e+22]}");
    json_decref(value);
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

enum { MANY = 100000 };

static const char *nth_key(int i) /* their order is neither that of the alphabet nor that of any hash */
{
    static char key[32];
    snprintf(key, sizeof key, "key %d", (int)((long long)i * 7919 % MANY));
    return key;
}

/* With few keys and with an index: order, lookup, replacing, taking out. */
static void members_keep_their_order(void **state)
{
    (void)state;
    for (int count = 1; count <= 40; count++) {
        json_t *object = json_object(), *other = json_object();
        for (int i = 0; i < count; i++)
            assert_int_equal(json_put(object, nth_key(i), json_integer(-1), NULL), NPMD_OK);
        for (int i = count - 1; i >= 0; i--) { /* replaced where they stand */
            assert_int_equal(json_put(object, nth_key(i), json_integer(i), NULL), NPMD_OK);
            assert_int_equal(json_put(other, nth_key(i), json_integer(i), NULL), NPMD_OK);
        }
        assert_true(json_equal(object, other)); /* in another order */
        assert_null(json_object_get(object, "no such key"));
        for (int out = 0; out < count; out++) {
            assert_int_equal(json_object_size(object), count - out);
            for (int i = out; i < count; i++) {
                assert_string_equal(json_object_key(object, (size_t)(i - out)), nth_key(i));
                assert_int_equal(json_integer_value(json_object_value(object, (size_t)(i - out))), i);
                assert_int_equal(json_integer_value(json_object_get(object, nth_key(i))), i);
            }
            json_object_del(object, nth_key(out));
            json_object_del(object, nth_key(out)); /* nothing is left of it */
            assert_null(json_object_get(object, nth_key(out)));
            assert_false(json_equal(object, other));
        }
        json_decref(object);
        json_decref(other);
    }
}

/* Looked for one by one they would take minutes, and not a twentieth of a second. */
static void many_keys_are_read_at_once(void **state)
{
    (void)state;
    char *text = malloc(MANY * 24);
    size_t length = 0;
    assert_non_null(text);
    for (int i = 0; i < MANY; i++)
        length += (size_t)sprintf(text + length, "%s\"%s\":%d", i == 0 ? "{" : ",", nth_key(i), i);
    length += (size_t)sprintf(text + length, "}");
    json_t *object = tree_read(text, length);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(json_integer_value(json_object_get(object, nth_key(i))), i);
    char *again = tree_print(object, JSON_COMPACT);
    assert_string_equal(again, text);
    npmd_text_free(again);
    json_decref(object);
    free(text);
}

/* A value in two places lives until both are gone. */
static void values_are_shared(void **state)
{
    (void)state;
    json_t *value = json_string("shared"), *array = json_array(), *object = json_object();
    assert_int_equal(json_append(array, json_incref(value), NULL), NPMD_OK);
    assert_int_equal(json_put(object, "a", json_incref(json_array_get(array, 0)), NULL), NPMD_OK);
    json_decref(value);
    json_decref(array);
    assert_string_equal(json_string_value(json_object_get(object, "a")), "shared");
    assert_null(json_incref(NULL));
    json_decref(object);
    json_decref(NULL);
}

/* Whatever is asked of a value of another type, or of none, is NULL, 0 or false. */
static void other_types_answer_nothing(void **state)
{
    (void)state;
    static const char TEXT[] = "[null, true, 3, 2.5, \"x\", [7], {\"a\": 8}]";
    json_t *all = tree_read(TEXT, sizeof TEXT - 1);
    for (size_t i = 0; i <= json_array_size(all); i++) {
        const json_t *v = json_array_get(all, i); /* the last is NULL */
        assert_true(json_is_boolean(v) == (i == 1) && json_is_true(v) == (i == 1));
        assert_true(json_is_integer(v) == (i == 2) && json_integer_value(v) == (i == 2 ? 3 : 0));
        assert_true(json_is_real(v) == (i == 3) && json_real_value(v) == (i == 3 ? 2.5 : 0.0));
        assert_true(json_is_number(v) == (i == 2 || i == 3));
        assert_true(json_number_value(v) == (i == 2 ? 3.0 : i == 3 ? 2.5 : 0.0));
        assert_true(json_is_string(v) == (i == 4) && (json_string_value(v) != NULL) == (i == 4));
        assert_true(json_is_array(v) == (i == 5) && json_array_size(v) == (i == 5));
        assert_true((json_array_get(v, 0) != NULL) == (i == 5) && json_array_get(v, 1) == NULL);
        assert_true(json_is_object(v) == (i == 6) && json_object_size(v) == (i == 6));
        assert_true((json_object_get(v, "a") != NULL) == (i == 6) && json_object_get(v, "b") == NULL);
        assert_true((json_object_key(v, 0) != NULL) == (i == 6) && json_object_value(v, 1) == NULL);
        for (size_t k = 0; k <= json_array_size(all); k++)
            assert_true(json_equal(v, json_array_get(all, k)) == (i == k && v != NULL));
    }
    json_decref(all);
}

/* ---- Numbers and limits ------------------------------------------------------------------------------------------ */

/* Doubles of any bits come back as they were, in either form. */
static void doubles_keep_every_bit(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = (uint64_t)(test_uniform(&seed) * 0x1p32) << 32 | (uint64_t)(test_uniform(&seed) * 0x1p32);
        double value, back;
        char text[40];
        if (i % 16 == 0)
            bits &= (uint64_t)0x800FFFFFFFFFFFFF; /* below the smallest normal number */
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue; /* comes into no tree */
        json_t *real = json_real(value), *again = NULL;
        assert_non_null(real);
        const size_t length = json_print(real, i % 2 ? JSON_PRINTF : 0, text, sizeof text);
        assert_true(length < 26);
        again = tree_read(text, length);
        back = json_number_value(again);
        if (memcmp(&back, &value, sizeof back) != 0 && !(i % 2 && value == 0.0))
            fail_msg("%a is printed as %s, which is %a", value, text, back);
        json_decref(real);
        json_decref(again);
    }
}

static void whole_numbers_have_64_bits(void **state)
{
    (void)state;
    json_t *array = json_array();
    assert_int_equal(json_append(array, json_integer(INT64_MIN), NULL), NPMD_OK);
    assert_int_equal(json_append(array, json_unsigned(INT64_MAX), NULL), NPMD_OK);
    assert_int_equal(json_append(array, json_unsigned(UINT64_MAX), NULL), NPMD_OK);
    assert_true(json_integer_value(json_array_get(array, 1)) == INT64_MAX);
    assert_int_equal(json_append(array, json_printed("[1,2], ...", 5), NULL), NPMD_OK);
    check_print(array, 0, "[-9223372036854775808, 9223372036854775807, 18446744073709551615, [1,2]]");
    json_decref(array);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    for (int depth = 200; depth <= 201; depth++) {
        char text[512] = "";
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        json_t *value = accepted(text);
        assert_true((value != NULL) == (depth == 200));
        json_decref(value);
    }
    char *deep = malloc(1000001); /* no overflow of the stack */
    assert_non_null(deep);
    memset(deep, '[', 1000000);
    deep[1000000] = 0;
    assert_null(accepted(deep));
    free(deep);
}

/* A host program in a locale with a decimal comma, and text that does not end where it is told to. */
static void numbers_have_a_point(void **state)
{
    (void)state;
    const bool comma = comma_locale();
    json_t *value = tree_read("[2.5, 12, 1.5e-7]345", 17);
    char *text = tree_print(value, JSON_COMPACT), *plain = tree_print(value, JSON_PRINTF);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "[2.5,12,1.4999999999999999e-7]");
    assert_string_equal(plain, "[2.5, 12, 1.4999999999999999e-07]");
    print_message("    %s\n", comma ? "with a decimal comma around it" : "no such locale here");
    npmd_text_free(text);
    npmd_text_free(plain);
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
    assert_int_equal(json_put(array, "a", json_integer(1), &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_put(object, "\xff", json_integer(1), &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_append(array, NULL, &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_append(NULL, json_integer(1), &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_append(object, json_integer(1), &err), NPMD_ERR_MEMORY);
    assert_int_equal(json_to_text(NULL, 0, &text, &err), NPMD_ERR_MEMORY);
    assert_null(text);
    assert_null(json_string(NULL));
    assert_null(json_string("caf\xE9"));
    assert_int_equal(json_append(array, json_real(NAN), &err), NPMD_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "nan"));
    assert_int_equal(json_put(object, "mass", json_real(INFINITY), &err), NPMD_ERR_NUMERIC);
    assert_string_equal(err.text, "\"mass\" is inf, a finite number was expected");
    assert_int_equal(json_append(array, json_real(0.1), &err), NPMD_OK);
    assert_int_equal(json_append(array, json_known(-INFINITY), &err), NPMD_OK);
    assert_int_equal(json_append(array, json_any_text("caf\xE9"), &err), NPMD_OK);
    assert_int_equal(json_put(object, "a", array, &err), NPMD_OK);
    check_print(object, JSON_COMPACT, "{\"a\":[0.10000000000000001,null,\"caf\xEF\xBF\xBD\"]}");
    json_decref(object);
}

/* Of a text in a longer buffer, or one with nothing behind it, no byte beyond its end is read. */
static void texts_end_where_they_end(void **state)
{
    (void)state;
    npmd_error err = { 0 };
    json_t *value = NULL;
    must(json_from_text("12345", 2, "here", &value, &err), &err);
    assert_int_equal(json_integer_value(value), 12);
    json_decref(value);
    must(json_from_text("0.25e2", 4, "here", &value, &err), &err);
    assert_true(json_real_value(value) == 0.25);
    json_decref(value);
    assert_int_equal(json_from_text("{\"a\":17", 6, "here", &value, &err), NPMD_ERR_FORMAT); /* {"a":1 */
    for (size_t size = 0; size < 20; size++) { /* under the address sanitizer each is a heap block of its own size */
        static const char TEXT[] = "{\"a\": [1.5, -2e3]} ";
        char *copy = malloc(size > 0 ? size : 1);
        assert_non_null(copy);
        memcpy(copy, TEXT, size);
        value = NULL;
        assert_int_equal(json_from_text(copy, size, "here", &value, NULL), size < 18 ? NPMD_ERR_FORMAT : NPMD_OK);
        json_decref(value);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts_are_read_and_printed),
        cmocka_unit_test(bad_texts_are_refused_in_words),
        cmocka_unit_test(spoilt_texts_are_refused_or_kept),
        cmocka_unit_test(flags_change_the_form),
        cmocka_unit_test(members_keep_their_order),
        cmocka_unit_test(many_keys_are_read_at_once),
        cmocka_unit_test(values_are_shared),
        cmocka_unit_test(other_types_answer_nothing),
        cmocka_unit_test(doubles_keep_every_bit),
        cmocka_unit_test(whole_numbers_have_64_bits),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(numbers_have_a_point),
        cmocka_unit_test(texts_end_where_they_end),
        cmocka_unit_test(what_is_missing_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
