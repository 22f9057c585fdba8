/* fuzz_options_set.c - options by name, one a line, name=value; what is taken is in its range. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_options opt;
    char *text = fuzz_text(data, size), *rest = NULL;
    options_init(&opt);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        npmd_error err = { 0 };
        char *equals = strchr(line, '=');
        if (equals == NULL)
            continue;
        *equals = 0;
        const npmd_status st = npmd_options_set(&opt, line, equals + 1, &err);
        PROMISE(st == NPMD_OK || (st == NPMD_ERR_ARGUMENT && err.text[0] != 0));
        PROMISE(options_check(&opt, &err) == NPMD_OK);
    }
    free(text);
    return 0;
}
