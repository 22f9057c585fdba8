/* trees.h - JSON in tests; any failure ends the test. */
#ifndef NPMD_TEST_TREES_H
#define NPMD_TEST_TREES_H

#include "check.h"
#include "json.h"

/* The caller frees it with json_decref. */
static inline json_t *tree_read(const char *text, size_t size)
{
    json_t *value = NULL;
    npmd_error err = { 0 };
    if (json_from_text(text, size, "a text", &value, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return value;
}

/* The caller frees it with npmd_text_free. */
static inline char *tree_print(const json_t *value, size_t flags)
{
    char *text = NULL;
    assert_int_equal(json_to_text(value, flags, &text, NULL), NPMD_OK);
    return text;
}

/* The object or array at the key, to be changed in place. */
static inline json_t *tree_inside(json_t *object, const char *key)
{
    json_t *inside = json_incref(json_object_get(object, key));
    assert_non_null(inside);
    json_decref(inside); /* the object's own reference remains */
    return inside;
}

#endif
