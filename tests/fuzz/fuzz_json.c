/* fuzz_json.c - any text as JSON. What is accepted is printed, read and printed again without a change, in either form
 * of its numbers and texts; what is refused is refused in words. */
#include "fuzz.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t FLAGS[] = { JSON_COMPACT, JSON_INDENT(2) | JSON_ENSURE_ASCII, JSON_PRINTF };
    char *text = fuzz_text(data, size), *printed[2] = { NULL, NULL };
    json_t *value = NULL;
    npmd_error err = { 0 };
    const npmd_status st = json_from_text(text, size, "text", &value, &err);
    PROMISE(st == NPMD_OK ? value != NULL : value == NULL && err.text[0] != 0);
    for (size_t k = 0; k < sizeof FLAGS / sizeof *FLAGS && st == NPMD_OK; k++) {
        json_t *again = NULL;
        PROMISE(json_to_text(value, FLAGS[k], &printed[0], &err) == NPMD_OK);
        PROMISE(json_from_text(printed[0], strlen(printed[0]), "again", &again, &err) == NPMD_OK);
        /* 5.0 is printed as 5 in the last form, which is another type */
        PROMISE(json_equal(value, again) || (FLAGS[k] & JSON_PRINTF) != 0);
        PROMISE(json_to_text(again, FLAGS[k], &printed[1], &err) == NPMD_OK);
        PROMISE(strcmp(printed[0], printed[1]) == 0 || strstr(printed[0], "-0") != NULL);
        json_decref(again);
        npmd_text_free(printed[0]);
        npmd_text_free(printed[1]);
    }
    json_decref(value);
    free(text);
    return 0;
}
