/* fuzz_csv.c - text tables, plain and as gzip files. What is read is finite. */
#include "fuzz.h"
#include "io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    table t = { 0 };
    npmd_error err = { 0 };
    const npmd_status st = csv_read(fuzz_file(data, size), &t, &err);
    if (st != NPMD_OK) {
        PROMISE(st == NPMD_ERR_FORMAT && err.status == st && err.text[0] != 0 && t.data == NULL);
        return 0;
    }
    PROMISE(t.rows > 0 && t.columns > 0 && t.line != NULL);
    for (size_t i = 0; i < t.rows * t.columns; i++)
        PROMISE(isfinite(t.data[i]));
    table_free(&t);
    return 0;
}
