/* fuzz_values.c - values on vertices: the first byte says of which format, the second of how many vertices; the file
 * follows. Formats from 4 on are files by their names, whose columns are looked for. */
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
    static const char *const NAMED[] = { "v.gii", "v.vtk", "v.csv", "v.npy" };
    const char *path = data[0] & 4 ? fuzz_named(NAMED[data[0] & 3], data + 2, size - 2) : NULL;
    const npmd_status st = path != NULL ? vertex_columns_read(path, c.vertices, &c, &err)
                                        : READ[data[0] & 1](&s, &c, &err);
    PROMISE(st == NPMD_OK || ((st == NPMD_ERR_FORMAT || st == NPMD_ERR_SHAPE) && err.text[0] != 0));
    for (int k = 0, found = -1; k < c.columns && st == NPMD_OK && path != NULL; k++) {
        PROMISE(vertex_columns_find(&c, c.name[k], path, &found, &err) == NPMD_OK && found >= 0 && found <= k);
        PROMISE(vertex_columns_find(&c, k % 2 ? "1" : "none has this", path, &found, &err) == NPMD_OK
                || err.text[0] != 0);
    }
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
