/* fuzz_mat.c - MATLAB's files. If byte 116, which the reader does not look at, is not zero, what follows the
 * header is compressed here: a mutation of compressed bytes hardly ever passes their checksum. */
#include "fuzz.h"
#include "io.h"

#include <zlib.h>

#define HEADER 128
#define TAG 8

static const char *mat_file(const uint8_t *data, size_t size)
{
    if (size <= HEADER || data[116] == 0)
        return fuzz_file(data, size);
    uLongf packed = compressBound((uLong)(size - HEADER));
    uint8_t *bytes = malloc(HEADER + TAG + packed);
    PROMISE(bytes != NULL);
    memcpy(bytes, data, HEADER);
    PROMISE(compress(bytes + HEADER + TAG, &packed, data + HEADER, (uLong)(size - HEADER)) == Z_OK);
    const uint32_t tag[2] = { 15, (uint32_t)packed };
    for (size_t i = 0; i < TAG; i++) /* in the order of the file's own bytes */
        bytes[HEADER + i] = ((const uint8_t *)tag)[data[126] == 'M' ? i ^ 3 : i];
    const char *path = fuzz_file(bytes, HEADER + TAG + packed);
    free(bytes);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const NAMES[] = { NULL, "x", "single", "i8" };
    const char *path = mat_file(data, size);
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        const npmd_status st = mat_read(path, NAMES[k], &t, &err);
        PROMISE(st == NPMD_OK || (st == NPMD_ERR_FORMAT && err.text[0] != 0 && t.data == NULL));
        for (size_t i = 0; i < t.rows * t.columns; i++)
            PROMISE(isfinite(t.data[i]));
        table_free(&t);
    }
    return 0;
}
