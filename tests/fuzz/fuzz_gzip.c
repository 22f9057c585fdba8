/* fuzz_gzip.c - compressed files: as a whole and in pieces they have the same contents, or neither is read. The first byte
 * says how large the pieces are. */
#include "fuzz.h"
#include "io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    file_bytes whole = { 0 };
    gzip_source *s = NULL;
    npmd_error err = { 0 };
    unsigned char piece[256];
    size_t at = 0, got = 0;
    if (size == 0)
        return 0;
    const size_t most = 1 + (size_t)data[0];
    const char *path = fuzz_named(data[0] % 2 ? "f.gz" : "f", data + 1, size - 1);
    const npmd_status read = gzip_read(path, NULL, &whole, &err);
    PROMISE(read == NPMD_OK || (err.text[0] != 0 && (read == NPMD_ERR_FORMAT || read == NPMD_ERR_MEMORY)));
    npmd_status st = gzip_source_open(path, &s, &err);
    do {
        if (st == NPMD_OK)
            st = gzip_source_take(s, piece, most, &got, &err);
        if (st != NPMD_OK)
            break;
        PROMISE(read != NPMD_OK || (at + got <= whole.size && memcmp(whole.data + at, piece, got) == 0));
        at += got;
    } while (got == most);
    PROMISE((st == NPMD_OK) == (read == NPMD_OK) || read == NPMD_ERR_MEMORY);
    PROMISE(st != NPMD_OK || read != NPMD_OK || at == whole.size);
    gzip_source_close(s);
    file_bytes_free(&whole);
    return 0;
}
