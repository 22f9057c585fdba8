/* support.c - files and texts for the fuzz targets. */
#include "fuzz.h"
#include "json.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

_Noreturn void fuzz_stop(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: promised, but not so: %s\n", file, line, condition);
    abort();
}

/* A file in memory: no run wears out a disk. */
const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    PROMISE(fd >= 0 && ftruncate(fd, 0) == 0);
    for (size_t at = 0; at < size;) {
        const ssize_t put = pwrite(fd, data + at, size - at, (off_t)at);
        PROMISE(put > 0);
        at += (size_t)put;
    }
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    PROMISE(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    return text;
}

uint8_t *fuzz_record_bytes(const uint8_t *data, size_t size, size_t *whole)
{
    uint8_t *bytes = NULL;
    if (size == 0 || data[0] != '{') {
        bytes = malloc(size > 0 ? size : 1);
        PROMISE(bytes != NULL);
        if (size > 0)
            memcpy(bytes, data, size);
        *whole = size;
        return bytes;
    }
    char *facts = fuzz_text(data, size);
    const size_t facts_size = strlen(facts), tensors_at = facts_size < size ? facts_size + 1 : size;
    char *tensors = fuzz_text(data + tensors_at, size - tensors_at);
    const size_t tensors_end = tensors_at + strlen(tensors), data_at = tensors_end < size ? tensors_end + 1 : size;
    json_t *header = NULL, *metadata = json_object(), *text = json_string(facts);
    char *line = NULL;
    if (json_from_text(tensors, strlen(tensors), "tensors", &header, NULL) != NPMD_OK || !json_is_object(header)) {
        json_decref(header);
        header = json_object();
    }
    if (text != NULL) /* NULL: not UTF-8 */
        PROMISE(json_put(metadata, "neuropmd", text, NULL) == NPMD_OK
                && json_put(header, "__metadata__", json_incref(metadata), NULL) == NPMD_OK);
    PROMISE(json_to_text(header, JSON_COMPACT, &line, NULL) == NPMD_OK);
    const uint64_t length = strlen(line);
    *whole = sizeof length + (size_t)length + size - data_at;
    bytes = malloc(*whole);
    PROMISE(bytes != NULL);
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, line, (size_t)length);
    if (size > data_at)
        memcpy(bytes + sizeof length + length, data + data_at, size - data_at);
    free(line);
    json_decref(metadata);
    json_decref(header);
    free(tensors);
    free(facts);
    return bytes;
}

const char *fuzz_record(const uint8_t *data, size_t size)
{
    size_t whole = 0;
    uint8_t *bytes = fuzz_record_bytes(data, size, &whole);
    const char *path = fuzz_file(bytes, whole);
    free(bytes);
    return path;
}

/* The folder and what is in it go with the process, however it ends but by a signal. */
enum { OUTPUTS = 8 };
static char folder[64], outputs[OUTPUTS][128];
static void folder_remove(void)
{
    for (int k = 0; k < OUTPUTS; k++)
        if (outputs[k][0] != 0)
            unlink(outputs[k]);
    rmdir(folder);
}

const char *fuzz_output(const char *name)
{
    if (folder[0] == 0) {
        snprintf(folder, sizeof folder, "%s/npmd-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        PROMISE(mkdtemp(folder) != NULL && atexit(folder_remove) == 0);
    }
    for (int k = 0; k < OUTPUTS; k++) {
        const char *slash = strrchr(outputs[k], '/');
        if (slash == NULL)
            snprintf(outputs[k], sizeof outputs[k], "%s/%s", folder, name);
        else if (strcmp(slash + 1, name) != 0)
            continue;
        return outputs[k];
    }
    fuzz_stop("no more than eight names", __FILE__, __LINE__);
}

const char *fuzz_named(const char *name, const uint8_t *data, size_t size)
{
    const char *path = fuzz_output(name);
    FILE *f = fopen(path, "wb");
    PROMISE(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    return path;
}

static double stop_at;
static int stop_late(const npmd_report *now, void *user)
{
    (void)now, (void)user;
    return clock_seconds() > stop_at;
}

npmd_compute fuzz_compute(double seconds)
{
    stop_at = clock_seconds() + seconds;
    return (npmd_compute){ .size = sizeof(npmd_compute), .threads = 1, .progress = stop_late };
}
