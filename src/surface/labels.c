/* labels.c - a region for every vertex: a table of formats, and what they share. */
#include "mesh_formats.h"

#include <stdio.h>

typedef struct label_format {
    const char *suffix; /* also followed by .gz */
    file_start starts;
    npmd_status (*read)(scanner *s, size_t vertices, labels *out, npmd_error *err);
} label_format;
static const label_format FORMATS[] = {
    { ".annot", annot_starts, annot_read },          { ".label", file_starts_text, label_read },
    { ".gii", file_starts_text, gifti_labels_read }, { ".csv", file_starts_text, label_table_read },
    { ".tsv", file_starts_text, label_table_read },  { ".txt", file_starts_text, label_table_read },
};
#define SUFFIXES ".annot, .label, .gii, .csv, .tsv, .txt (or these with .gz) or .npy"

/* ---- regions ----------------------------------------------------------------------------------------------------- */

npmd_status labels_start(size_t vertices, int regions, labels *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    labels l = { .vertices = vertices, .regions = regions };
    TRY(memory_new(&l.region, vertices, err));
    TRY(memory_new(&l.name, regions, err));
    for (size_t i = 0; i < vertices; i++)
        l.region[i] = -1;
    *out = l;
    l = (labels){ 0 };
done:
    labels_free(&l);
    return st;
}

npmd_status labels_name(labels *l, int region, const char *text, size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *name = NULL;
    TRY(memory_new(&name, size + 1, err));
    memcpy(name, text, size);
    memory_free(l->name[region]);
    l->name[region] = name;
done:
    return st;
}

void labels_free(labels *l)
{
    for (int i = 0; l->name != NULL && i < l->regions; i++)
        memory_free(l->name[i]);
    memory_free_all(l->name, l->region);
    *l = (labels){ 0 };
}

int labels_find(const labels *l, const char *name)
{
    char numbered[32];
    for (int i = 0; i < l->regions; i++)
        if (strcmp(l->name[i], name) == 0)
            return i;
    snprintf(numbered, sizeof numbered, "label %.20s", name); /* "3" is as good as "label 3" */
    for (int i = 0; i < l->regions; i++)
        if (strcmp(l->name[i], numbered) == 0)
            return i;
    return -1;
}

/* ---- a number or a word for every vertex ------------------------------------------------------------------------- */

/* By numbers, which are all equal where there are words, then by words. */
static int region_compare(const label_entry *a, const label_entry *b)
{
    const size_t least = a->word.size < b->word.size ? a->word.size : b->word.size;
    const int order = least > 0 ? memcmp(a->word.at, b->word.at, least) : 0;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return order != 0 ? order : (a->word.size > b->word.size) - (a->word.size < b->word.size);
}

static int entry_order(const void *p, const void *q)
{
    const label_entry *a = p, *b = q;
    const int order = region_compare(a, b);
    return order != 0 ? order : (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

static bool has_region(const label_entry *e, bool words)
{
    return words ? e->word.size > 0 : e->number >= 0;
}

static bool is_new_region(const label_entry *entry, size_t i, bool words)
{
    return has_region(&entry[i], words) && (i == 0 || region_compare(&entry[i], &entry[i - 1]) != 0);
}

npmd_status labels_from_entries(label_entry *entry, size_t vertices, bool words, labels *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    labels l = { 0 };
    int regions = 0, region = -1;
    qsort(entry, vertices, sizeof *entry, entry_order);
    for (size_t i = 0; i < vertices; i++)
        regions += is_new_region(entry, i, words);
    TRY(labels_start(vertices, regions, &l, err));
    for (size_t i = 0; i < vertices; i++) {
        if (is_new_region(entry, i, words)) {
            char numbered[32];
            region++;
            snprintf(numbered, sizeof numbered, "label %lld", (long long)entry[i].number);
            TRY(words ? labels_name(&l, region, entry[i].word.at, entry[i].word.size, err)
                      : labels_name(&l, region, numbered, strlen(numbered), err));
        }
        if (has_region(&entry[i], words))
            l.region[entry[i].vertex] = region;
    }
    *out = l;
    l = (labels){ 0 };
done:
    labels_free(&l);
    return st;
}

static npmd_status npy_labels_read(const char *path, size_t vertices, labels *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int64_t *number = NULL;
    label_entry *entry = NULL;
    size_t count = 0;
    TRY(npy_read_integers(path, &number, &count, err));
    TRY(scan_vertices_check(path, "labels", count, vertices, err));
    TRY(memory_new(&entry, vertices, err));
    for (size_t i = 0; i < vertices; i++)
        entry[i] = (label_entry){ .vertex = i, .number = number[i] };
    TRY(labels_from_entries(entry, vertices, false, out, err));
done:
    memory_free_all(entry, number);
    return st;
}

/* ---- regions by numbers ------------------------------------------------------------------------------------------ */

static int key_order(const void *p, const void *q)
{
    const label_key *a = p, *b = q;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

void label_keys_sort(label_key *key, size_t count)
{
    if (count > 0)
        qsort(key, count, sizeof *key, key_order);
}

int label_keys_find(const label_key *sorted, size_t count, double key)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((double)sorted[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && (double)sorted[low].key == key ? sorted[low].region : -1;
}

/* ---- GIFTI ------------------------------------------------------------------------------------------------------- */

/* Regions are in the order of their keys. */
npmd_status gifti_labels_read(scanner *s, size_t vertices, labels *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    gifti g = { 0 };
    labels l = { 0 };
    label_key *key = NULL;
    const gifti_array *a = NULL;
    TRY(gifti_parse(s, false, &g, err));
    TRY(gifti_find(&g, s->path, GIFTI_LABELS, 1, &a, err));
    TRY(scan_vertices_check(s->path, "labels", a->rows, vertices, err));
    if (g.labels > INT32_MAX)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s has more than 2^31 labels", s->path));
    TRY(memory_new(&key, g.labels, err));
    for (size_t i = 0; i < g.labels; i++)
        key[i] = (label_key){ g.label[i].key, (int)i };
    label_keys_sort(key, g.labels);
    TRY(labels_start(vertices, (int)g.labels, &l, err));
    for (int r = 0; r < l.regions; r++) {
        const char *name = g.label[key[r].region].name;
        if (r > 0 && key[r].key == key[r - 1].key)
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: its table has two labels of key %lld", s->path,
                          (long long)key[r].key));
        TRY(labels_name(&l, r, name, strlen(name), err));
        key[r].region = r;
    }
    for (size_t i = 0; i < vertices; i++) {
        l.region[i] = label_keys_find(key, g.labels, a->value[i]);
        if (l.region[i] < 0)
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: vertex %zu has the key %.17g, which its LabelTable lacks", s->path,
                          i, a->value[i]));
    }
    *out = l;
    l = (labels){ 0 };
done:
    labels_free(&l);
    gifti_free(&g);
    memory_free(key);
    return st;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const label_format *format_of(const char *path)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (scan_suffix(path, FORMATS[i].suffix))
            return &FORMATS[i];
    return NULL;
}

npmd_status labels_read(const char *path, size_t vertices, labels *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    scanner s = { 0 };
    if (file_has_suffix(path, ".npy"))
        return npy_labels_read(path, vertices, out, err);
    const label_format *format = format_of(path);
    if (format == NULL)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: unknown kind of labels, expected " SUFFIXES, path));
    TRY(scan_open(path, format->starts, &s, err));
    TRY(format->read(&s, vertices, out, err));
done:
    scan_close(&s);
    return st;
}
