/* fuzz_values.c - values on vertices: the first byte says of which format, the second of how many vertices; the file
 * follows. */
#include "fuzz_surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static npmd_status (*const READ[])(scanner *, vertex_columns *, npmd_error *) = { gifti_values_read,
                                                                                      vtk_values_read };
    if (size < 2)
        return 0;
    file_bytes b = surface_bytes(data + 2, size - 2);
    scanner s = { 0 };
    vertex_columns c = { .vertices = 1 + (size_t)(data[1] & 15) };
    npmd_error err = { 0 };
    PROMISE(scan_start("fuzz", &b, &s, &err) == NPMD_OK);
    const npmd_status st = READ[data[0] & 1](&s, &c, &err);
    PROMISE(st == NPMD_OK || (st == NPMD_ERR_FORMAT && err.text[0] != 0));
    double sum = 0.0;
    for (int k = 0; k < c.columns; k++) {
        PROMISE(c.name[k] != NULL);
        for (size_t i = 0; i < c.vertices; i++)
            sum += c.value[k][i];
    }
    PROMISE(sum == sum || sum != sum); /* every number was there to be read */
    vertex_columns_free(&c);
    scan_close(&s);
    free(b.data);
    return 0;
}
