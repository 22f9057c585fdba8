/* labels_annot.c - FreeSurfer's .annot files, everything int32 and big-endian:
 *
 *   n, and n times vertex, annotation           annotation = red + 256 green + 65536 blue
 *   1                                           a table of colours follows
 *   entries, length, file name                  the first version; each entry: length, name, red green blue alpha
 *   -2, structures, length, file name, entries  the second; each entry: structure, length, name, red green blue alpha
 *
 * A vertex lies in the region of its colour; if there are several, in the first, as in FreeSurfer. Annotation 0 without
 * an entry is no region. */
#include "mesh_formats.h"

static npmd_status int_read(scanner *s, const char *what, int64_t *out, npmd_error *err)
{
    return scan_whole(s, NUMBER_I32, what, out, err);
}

/* A text with its length before it; the last of its bytes may be zeros. */
static npmd_status text_read(scanner *s, const char *what, scan_text *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const scanner before = *s;
    int64_t length = 0;
    TRY(int_read(s, what, &length, err));
    if (length < 0 || (size_t)length > scan_left(s))
        TRY(scan_fail(&before, err, "%lld bytes are announced for %s, but %zu follow", (long long)length, what,
                      scan_left(s)));
    const char *zero = memchr(s->at, 0, (size_t)length);
    *out = (scan_text){ s->at, zero != NULL ? (size_t)(zero - s->at) : (size_t)length };
    s->at += length;
done:
    return st;
}

npmd_status annot_starts(const char *path, const unsigned char *first, size_t size, npmd_error *err)
{
    static const unsigned char NONE[4] = { 0 };
    if (size >= sizeof NONE && memcmp(first, NONE, sizeof NONE) == 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s has labels of no vertices", path);
    return NPMD_OK;
}

/* annotation (vertices) */
static npmd_status vertices_read(scanner *s, size_t vertices, int64_t *annotation, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int64_t count = 0, vertex = 0, value = 0;
    TRY(int_read(s, "the number of vertices", &count, err));
    TRY(scan_vertices_check(s->path, "labels", count < 0 ? 0 : (size_t)count, vertices, err));
    for (size_t i = 0; i < vertices; i++)
        annotation[i] = INT64_MIN; /* not there yet */
    for (size_t i = 0; i < vertices; i++) {
        const scanner before = *s;
        TRY(int_read(s, "a vertex", &vertex, err));
        TRY(int_read(s, "an annotation", &value, err));
        if (vertex < 0 || (size_t)vertex >= vertices || annotation[vertex] != INT64_MIN)
            TRY(scan_fail(&before, err, "vertex %lld was found where each of 0 to %zu was expected once",
                          (long long)vertex, vertices - 1));
        annotation[vertex] = value;
    }
done:
    return st;
}

/* The head of the table: how many entries follow, and in which version. */
static npmd_status table_open(scanner *s, size_t *entries, bool *second, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int64_t tag = 0, version = 0, structures = 0, count = 0;
    scan_text file;
    TRY(int_read(s, "a table of colours", &tag, err));
    if (tag != 1)
        TRY(scan_fail(s, err, "no table of colours follows, so that regions have no names"));
    TRY(int_read(s, "the version of the table", &version, err));
    *second = version < 0;
    if (*second && version != -2)
        TRY(scan_fail(s, err, "its table of colours has version %lld, expected 1 or 2", (long long)-version));
    if (*second)
        TRY(int_read(s, "the number of structures", &structures, err));
    TRY(text_read(s, "a file name", &file, err));
    count = version;
    if (*second)
        TRY(int_read(s, "the number of entries", &count, err));
    if (count < 0 || (size_t)count > scan_left(s) / 20) /* a length and four colours at least */
        TRY(scan_fail(s, err, "its table of colours has %lld entries, but %zu bytes follow", (long long)count,
                      scan_left(s)));
    *entries = (size_t)count;
done:
    return st;
}

static npmd_status entry_read(scanner *s, bool second, int region, labels *l, label_key *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int64_t structure = 0, part[4];
    scan_text name;
    if (second)
        TRY(int_read(s, "the number of a structure", &structure, err));
    TRY(text_read(s, "the name of a region", &name, err));
    for (int k = 0; k < 4; k++)
        TRY(int_read(s, "a colour", &part[k], err));
    TRY(labels_name(l, region, name.at, name.size, err));
    *out = (label_key){ part[0] + 256 * part[1] + 65536 * part[2], region };
done:
    return st;
}

npmd_status annot_read(scanner *s, size_t vertices, labels *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    labels l = { 0 };
    int64_t *annotation = NULL;
    label_key *colours = NULL;
    size_t entries = 0;
    bool second = false;
    s->mode = SCAN_BIG;
    TRY(memory_new(&annotation, vertices, err));
    TRY(vertices_read(s, vertices, annotation, err));
    TRY(table_open(s, &entries, &second, err));
    TRY(labels_start(vertices, (int)entries, &l, err));
    TRY(memory_new(&colours, entries, err));
    for (size_t i = 0; i < entries; i++)
        TRY(entry_read(s, second, (int)i, &l, &colours[i], err));
    label_keys_sort(colours, entries);
    for (size_t i = 0; i < vertices; i++) {
        l.region[i] = label_keys_find(colours, entries, (double)annotation[i]);
        if (l.region[i] < 0 && annotation[i] != 0)
            TRY(npmd_fail(err, NPMD_ERR_FORMAT,
                          "%s: vertex %zu has the annotation %lld, which its table of colours lacks", s->path, i,
                          (long long)annotation[i]));
    }
    *out = l;
    l = (labels){ 0 };
done:
    labels_free(&l);
    memory_free_all(annotation, colours);
    return st;
}
