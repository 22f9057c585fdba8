/* npz.c - see npz.h. Only the central directory at the end of the archive is read; local headers are skipped. */
#include "npz.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t little(const unsigned char *p, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

/* The whole file; NULL if it cannot be read. */
static unsigned char *read_all(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return NULL;
    unsigned char *bytes = NULL;
    long end = -1;
    if (fseek(in, 0, SEEK_END) == 0 && (end = ftell(in)) >= 0 && fseek(in, 0, SEEK_SET) == 0
        && (bytes = malloc((size_t)end + 1)) != NULL) {
        *size = (size_t)end;
        if (fread(bytes, 1, *size, in) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(in);
    return bytes;
}

/* Raw deflate of exactly these sizes. */
static int inflate_member(const unsigned char *in, size_t in_size, unsigned char *out, size_t out_size)
{
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (in_size > UINT_MAX || out_size > UINT_MAX || inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return -1;
    stream.next_in = (unsigned char *)(uintptr_t)in; /* zlib does not write there */
    stream.avail_in = (unsigned)in_size;
    stream.next_out = out;
    stream.avail_out = (unsigned)out_size;
    const int st = inflate(&stream, Z_FINISH);
    const int complete = st == Z_STREAM_END && stream.total_out == out_size;
    inflateEnd(&stream);
    return complete ? 0 : -1;
}

static double element(const unsigned char *p, char kind, int bytes)
{
    double f8;
    float f4;
    int32_t i4;
    int64_t i8;
    if (kind == 'f' && bytes == 8)
        return memcpy(&f8, p, 8), f8;
    if (kind == 'f')
        return memcpy(&f4, p, 4), (double)f4;
    if (bytes == 8)
        return memcpy(&i8, p, 8), (double)i8;
    return memcpy(&i4, p, 4), (double)i4;
}

static const char *parse_npy(const unsigned char *p, size_t size, npz_array *out)
{
    if (size < 12 || memcmp(p, "\x93NUMPY", 6) != 0)
        return "a member is no .npy array";
    const size_t start = p[6] == 1 ? 10 : 12, length = little(p + 8, p[6] == 1 ? 2 : 4);
    char header[512] = { 0 };
    if (length >= sizeof header || start + length > size)
        return "a .npy header is too long";
    memcpy(header, p + start, length);
    const char *descr = strstr(header, "'descr': '<"), *order = strstr(header, "'fortran_order': ");
    const char *shape = strstr(header, "'shape': (");
    if (descr == NULL || order == NULL || shape == NULL)
        return "a .npy header lacks descr, fortran_order or shape";
    const char kind = descr[11];
    const int bytes = descr[12] - '0';
    if ((kind != 'f' && kind != 'i') || (bytes != 4 && bytes != 8))
        return "a .npy type is none of f4, f8, i4, i8";
    size_t dims[2] = { 1, 1 };
    int count = 0;
    for (const char *at = shape + 10; *at != ')' && *at != '\0';) {
        char *end;
        const unsigned long long n = strtoull(at, &end, 10);
        if (end == at || count == 2 || n > (size_t)1 << 40)
            return "a .npy shape has more than two dimensions or makes no sense";
        dims[count++] = (size_t)n;
        at = end + strspn(end, ", ");
    }
    const size_t n = dims[0] * dims[1];
    if (n > (size - start - length) / (size_t)bytes)
        return "a .npy array is truncated";
    out->rows = dims[0];
    out->cols = dims[1];
    out->x = malloc((n + 1) * sizeof *out->x);
    if (out->x == NULL)
        return "out of memory";
    const int fortran = strncmp(order + 17, "True", 4) == 0;
    for (size_t i = 0; i < dims[0]; i++)
        for (size_t j = 0; j < dims[1]; j++) {
            const size_t from = fortran ? j * dims[0] + i : i * dims[1] + j;
            out->x[i * dims[1] + j] = element(p + start + length + from * (size_t)bytes, kind, bytes);
        }
    return NULL;
}

/* One entry of the central directory at p (46 bytes and its name are inside the file). */
static const char *read_member(const unsigned char *file, size_t size, const unsigned char *p, npz_array *out)
{
    const uint32_t method = little(p + 10, 2), packed = little(p + 20, 4), whole = little(p + 24, 4);
    const size_t name = little(p + 28, 2), local = little(p + 42, 4);
    if (packed == UINT32_MAX || whole == UINT32_MAX)
        return "a member needs zip64";
    if (name < 5 || name - 4 >= sizeof out->name)
        return "a member's name is too long or too short";
    memcpy(out->name, p + 46, name - 4); /* without .npy */
    if (local + 30 > size || little(file + local, 4) != 0x04034b50u)
        return "a local header is missing";
    const size_t start = local + 30 + little(file + local + 26, 2) + little(file + local + 28, 2);
    if (start > size || packed > size - start || (method != 0 && method != 8) || (method == 0 && packed != whole))
        return "a member is truncated or packed in another way than stored or deflated";
    unsigned char *bytes = malloc((size_t)whole + 1);
    if (bytes == NULL)
        return "out of memory";
    const char *why = NULL;
    if (method == 0)
        memcpy(bytes, file + start, whole);
    else if (inflate_member(file + start, packed, bytes, whole) != 0)
        why = "a member does not inflate";
    if (why == NULL)
        why = parse_npy(bytes, whole, out);
    free(bytes);
    return why;
}

int npz_read(const char *path, npz *out, const char **why)
{
    size_t size = 0;
    *out = (npz){ 0 };
    *why = "cannot be read";
    unsigned char *file = read_all(path, &size);
    if (file == NULL)
        return -1;
    size_t end = size < 22 ? 0 : size - 22;
    while (end > 0 && little(file + end, 4) != 0x06054b50u)
        end--;
    *why = end == 0 ? "is no zip archive" : NULL;
    const int entries = end == 0 ? 0 : (int)little(file + end + 10, 2);
    size_t at = end == 0 ? 0 : little(file + end + 16, 4);
    out->array = calloc((size_t)entries + 1, sizeof *out->array);
    if (out->array == NULL)
        *why = "out of memory";
    for (int i = 0; i < entries && *why == NULL; i++) {
        if (at + 46 > end || little(file + at, 4) != 0x02014b50u || at + 46 + little(file + at + 28, 2) > end) {
            *why = "its directory is damaged";
            break;
        }
        *why = read_member(file, size, file + at, &out->array[out->count++]);
        at += 46 + (size_t)little(file + at + 28, 2) + little(file + at + 30, 2) + little(file + at + 32, 2);
    }
    free(file);
    if (*why == NULL)
        return 0;
    npz_free(out);
    return -1;
}

const npz_array *npz_find(const npz *z, const char *name)
{
    for (int i = 0; i < z->count; i++)
        if (strcmp(z->array[i].name, name) == 0)
            return &z->array[i];
    return NULL;
}

void npz_free(npz *z)
{
    for (int i = 0; i < z->count; i++)
        free(z->array[i].x);
    free(z->array);
    *z = (npz){ 0 };
}
