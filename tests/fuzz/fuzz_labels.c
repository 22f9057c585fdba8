/* fuzz_labels.c - labels: the first byte says of which format, the second of how many vertices; the file follows. Formats from
 * 4 on are files by their names. */
#include "fuzz_surface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static npmd_status (*const READ[])(scanner *, size_t, labels *,
                                       npmd_error *) = { annot_read, label_read, label_table_read, gifti_labels_read };
    if (size < 2)
        return 0;
    const size_t vertices = 1 + (size_t)(data[1] & 15);
    file_bytes b = surface_bytes(data + 2, size - 2);
    scanner s = { 0 };
    labels l = { 0 };
    npmd_error err = { 0 };
    PROMISE(scan_start("fuzz", &b, &s, &err) == NPMD_OK);
    static const char *const NAMED[] = { "l.npy", "l.csv", "l.annot", "l.label" };
    const npmd_status st = data[0] & 4
                               ? labels_read(fuzz_named(NAMED[data[0] & 3], data + 2, size - 2), vertices, &l, &err)
                               : READ[data[0] & 3](&s, vertices, &l, &err);
    PROMISE(st == NPMD_OK || (st == NPMD_ERR_FORMAT && err.text[0] != 0 && l.region == NULL));
    PROMISE(st != NPMD_OK || l.vertices == vertices);
    for (size_t i = 0; i < l.vertices; i++)
        PROMISE(l.region[i] >= -1 && l.region[i] < l.regions);
    PROMISE(labels_find(&l, "no region has this name, or it is found") < l.regions);
    for (int i = 0; i < l.regions; i++)
        PROMISE(labels_find(&l, l.name[i]) >= 0 && labels_find(&l, l.name[i]) <= i);
    labels_free(&l);
    scan_close(&s);
    free(b.data);
    return 0;
}
