/* fuzz.h - what every fuzz target stands on.
 *
 * A target is a file fuzz_NAME.c with LLVMFuzzerTestOneInput. libFuzzer calls it with inputs that it invents
 * (scripts/fuzz.sh); replay.c calls it in every ordinary run with the files of seeds/NAME and crashes/NAME.
 * It must return for any bytes, without a fault, a leak or more memory than the bytes explain. */
#ifndef NPMD_FUZZ_H
#define NPMD_FUZZ_H

#include "core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run: a promise of the library was broken. */
#define PROMISE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fuzz_stop(#condition, __FILE__, __LINE__);                                                                 \
    } while (0)
_Noreturn void fuzz_stop(const char *condition, const char *file, int line);

/* An ordinary file that holds these bytes until the next call, and its path. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* The bytes as a text, up to their first zero; free it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A model file. Bytes that begin with '{' are taken for three parts with a zero byte between them: the facts,
 * the tensors' part of the header, the data. They are put together here, since a mutation that changes a
 * length would hardly ever come through. Other bytes are the file itself. */
const char *fuzz_record(const uint8_t *data, size_t size);

#endif
