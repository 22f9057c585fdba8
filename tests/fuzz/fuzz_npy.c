/* fuzz_npy.c - .npy files by all three readers, which must agree; and as integers. */
#include "fuzz.h"
#include "io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    table t = { 0 };
    npy_map m = { 0 };
    npmd_error err = { 0 };
    double *array = NULL;
    size_t shape[NPY_MAX_DIMENSIONS];
    int dimensions = 0;
    const char *path = fuzz_file(data, size);
    const npmd_status read = npy_read(path, &t, &err), map = npy_map_open(path, &m, &err),
                      whole = npy_read_array(path, &array, shape, &dimensions, &err);
    PROMISE(read == NPMD_OK || (read == NPMD_ERR_FORMAT && t.data == NULL));
    PROMISE(map == NPMD_OK || (map == NPMD_ERR_FORMAT && m.base == NULL));
    PROMISE(whole == NPMD_OK || (whole == NPMD_ERR_FORMAT && array == NULL));
    PROMISE((read == NPMD_OK) == (whole == NPMD_OK && dimensions <= 2));
    PROMISE(read != NPMD_OK || (map == NPMD_OK && m.count == t.rows && m.columns == t.columns));
    for (size_t i = 0; map == NPMD_OK && i < m.count * m.columns; i++) {
        double x;
        float narrow;
        memcpy(m.f4 ? (void *)&narrow : (void *)&x, m.rows + i * (m.f4 ? 4 : 8), m.f4 ? 4 : 8);
        x = m.f4 ? (double)narrow : x;
        PROMISE(read != NPMD_OK ? true : x == t.data[i] && x == array[i]);
    }
    int64_t *integer = NULL;
    size_t count = 0;
    const npmd_status whole_numbers = npy_read_integers(path, &integer, &count, &err);
    PROMISE(whole_numbers == NPMD_OK ? integer != NULL && count > 0
                                     : whole_numbers == NPMD_ERR_FORMAT && integer == NULL);
    memory_free(integer);
    memory_free(array);
    npy_map_close(&m);
    table_free(&t);
    return 0;
}
