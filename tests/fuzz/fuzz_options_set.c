/* fuzz_options_set.c - options by name, one a line, name=value; what is taken is in its range. */
#include "fuzz_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_options *opt = npmd_options_new();
    char *text = fuzz_text(data, size), *rest = NULL;
    PROMISE(opt != NULL);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        npmd_error err = { 0 };
        char *equals = strchr(line, '=');
        if (equals == NULL)
            continue;
        *equals = 0;
        const npmd_status st = npmd_options_set(opt, line, equals + 1, &err);
        PROMISE(st == NPMD_OK || (st == NPMD_ERR_ARGUMENT && err.text[0] != 0));
        promise_options(opt);
    }
    npmd_options_free(opt);
    free(text);
    return 0;
}
