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

/* The same bytes in memory, a block of exactly this size; free it. */
uint8_t *fuzz_record_bytes(const uint8_t *data, size_t size, size_t *whole);

/* A path in a folder in memory that is this process's own: for what is written. */
const char *fuzz_output(const char *name);

/* The same for a file of these bytes, where a reader goes by the name. */
const char *fuzz_named(const char *name, const uint8_t *data, size_t size);

/* One thread, and a stop after so many seconds from now: a file may ask for more than a run has time for. */
npmd_compute fuzz_compute(double seconds);

#endif
