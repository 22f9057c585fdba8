/* fuzz_options.h - options that were taken, by name or from a file, are such as a user may write. */
#ifndef NPMD_FUZZ_OPTIONS_H
#define NPMD_FUZZ_OPTIONS_H

#include "fuzz.h"
#include "plan.h"

/* The text of every option is taken again, and comes back as the same. A preset comes first in the table: what others
 * made of its settings is set after it. */
static inline void promise_options(const npmd_options *opt)
{
    npmd_options *again = npmd_options_new();
    PROMISE(again != NULL);
    for (int round = 0; round < 2; round++)
        for (int i = 0; npmd_option_text(i, NPMD_OPTION_NAME) != NULL; i++) {
            const char *name = npmd_option_text(i, NPMD_OPTION_NAME);
            char text[PLAN_MAX_PATH], back[PLAN_MAX_PATH];
            PROMISE(npmd_options_get(opt, name, text, sizeof text) < sizeof text);
            if (round == 0)
                PROMISE(npmd_options_set(again, name, text, NULL) == NPMD_OK);
            npmd_options_get(again, name, back, sizeof back);
            PROMISE(round == 0 || strcmp(text, back) == 0);
        }
    npmd_options_free(again);
}

#endif
