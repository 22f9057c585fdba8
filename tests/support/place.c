/* place.c - folders and files, with the C library alone. */
#include "place.h"

static char *next_path(place *p)
{
    char *path = p->made[p->turn++ % 4];
    p->path = path;
    return path;
}

const char *in_folder(place *p, const char *name)
{
    char *path = next_path(p);
    snprintf(path, sizeof *p->made, "%s/%s", p->folder, name);
    return path;
}

int place_open(place *p)
{
    const char *base = getenv("TMPDIR");
    memset(p, 0, sizeof *p);
    if ((p->made = calloc(4, sizeof *p->made)) == NULL)
        return -1;
    snprintf(p->folder, sizeof p->folder, "%.200s/npmd-test-XXXXXX", base != NULL && *base != 0 ? base : P_tmpdir);
    return mkdtemp(p->folder) == NULL ? -1 : 0;
}

int place_close(place *p)
{
    DIR *d = opendir(p->folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.' && unlink(in_folder(p, e->d_name)) != 0)
            rmdir(p->path);
    if (d != NULL)
        closedir(d);
    free(p->made);
    return rmdir(p->folder);
}

int place_make(void **state)
{
    place *p = calloc(1, sizeof *p);
    *state = p;
    return p == NULL ? -1 : place_open(p);
}

int place_remove(void **state)
{
    const int result = place_close(*state);
    free(*state);
    return result;
}

size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

const char *put_bytes(place *p, const char *name, const void *bytes, size_t size)
{
    const char *path = in_folder(p, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}

const char *put_text(place *p, const char *name, const char *text)
{
    return put_bytes(p, name, text, strlen(text));
}

unsigned char *get_bytes(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s cannot be opened", path);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    const long length = ftell(f);
    assert_true(length >= 0);
    rewind(f);
    unsigned char *data = malloc((size_t)length + 1);
    assert_non_null(data);
    *size = fread(data, 1, (size_t)length, f);
    assert_int_equal(*size, length);
    data[*size] = 0;
    fclose(f);
    return data;
}

void assert_same_bytes(const char *path, const char *other)
{
    size_t size[2];
    unsigned char *x = get_bytes(path, &size[0]), *y = get_bytes(other, &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(x, y, size[0]);
    free(x);
    free(y);
}

void assert_says(const npmd_error *err, const char *words)
{
    if (strstr(err->text, words) == NULL)
        fail_msg("'%s' does not say '%s'", err->text, words);
}

const char *shared_file(place *p, const char *name)
{
    const char *root = getenv("NEUROPMD_SHARED");
    char *path = next_path(p);
    snprintf(path, sizeof *p->made, "%.200s/%s", root != NULL && *root ? root : "../shared", name);
    if (access(path, R_OK) == 0)
        return path;
    print_message("    skipped: %s is not here\n", path);
    return NULL;
}

void must(npmd_status st, const npmd_error *err)
{
    if (st != NPMD_OK)
        fail_msg("%s", err->text);
}
