/* fuzz_options_file.c - options in JSON. A file that is refused leaves the options as they were. */
#include "fuzz_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_options opt, before;
    npmd_error err = { 0 };
    memset(&opt, 0, sizeof opt); /* with its padding: the two are compared as bytes */
    options_init(&opt);
    memcpy(&before, &opt, sizeof before);
    const npmd_status st = npmd_options_read(&opt, fuzz_file(data, size), &err);
    if (st != NPMD_OK)
        PROMISE(err.text[0] != 0 && memcmp(&opt, &before, sizeof opt) == 0);
    else
        promise_options(&opt);
    return 0;
}
