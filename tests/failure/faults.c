/* faults.c - the wrappers, their counters and the list of blocks that are alive. */
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const FAULT_NAME[FAULT_CALLS] = { "allocation", "open",  "fstat", "read",  "write",
                                              "fchmod",     "fsync", "close", "rename" };

/* What the linker calls the true functions and ours. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_realpath(const char *path, char *out);
locale_t __real_newlocale(int mask, const char *name, locale_t base);
void __real_free(void *p);
int __real_open(const char *path, int flags, ...);
int __real_fstat(int fd, struct stat *out);
ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
int __real_fchmod(int fd, mode_t mode);
int __real_close(int fd);
int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __real_openat(int folder, const char *path, int flags, ...);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_realpath(const char *path, char *out);
locale_t __wrap_newlocale(int mask, const char *name, locale_t base);
void __wrap_free(void *p);
int __wrap_open(const char *path, int flags, ...);
int __wrap_fstat(int fd, struct stat *out);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_fsync(int fd);
int __wrap_close(int fd);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_openat(int folder, const char *path, int flags, ...);

#define MOST_BLOCKS 16384 /* places in the list; it is far from full, or the test ends */
#define MOST_DESCRIPTORS 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows: threads may allocate */
static bool armed;
static fault now;
static long calls, failures;
static void *block[MOST_BLOCKS];
static size_t blocks;
static bool ours[MOST_DESCRIPTORS];
static int descriptors;
static bool in_child;
static fault_branches branched;

void faults_arm(fault what)
{
    pthread_mutex_lock(&lock);
    now = what;
    calls = failures = 0;
    branched = (fault_branches){ 0 };
    memset(block, 0, sizeof block);
    memset(ours, 0, sizeof ours);
    blocks = 0;
    descriptors = 0;
    armed = true;
    pthread_mutex_unlock(&lock);
}

long faults_disarm(void)
{
    pthread_mutex_lock(&lock);
    armed = false;
    const long failed = failures;
    pthread_mutex_unlock(&lock);
    return failed;
}

long faults_calls(void)
{
    pthread_mutex_lock(&lock);
    const long made = calls;
    pthread_mutex_unlock(&lock);
    return made;
}

size_t faults_blocks(void)
{
    return blocks;
}

int faults_descriptors(void)
{
    return descriptors;
}

/* Two children for which now is a fault at this call; true in them. With a stride the two take turns. */
static bool branch(void)
{
    for (int onwards = 0; onwards < 2; onwards++) {
        int status = -1;
        if (now.stride > 1 && (calls + onwards) % now.stride != 0)
            continue;
        fflush(NULL);
        const pid_t pid = fork();
        if (pid == 0) {
            in_child = true;
            now.branch = false;
            now.at = calls;
            now.onwards = onwards != 0;
            return true;
        }
        if (pid > 0)
            waitpid(pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == FAULT_BORNE)
            branched.borne[onwards]++;
        else if (!WIFEXITED(status) || WEXITSTATUS(status) != FAULT_REPORTED)
            branched.wrong++;
    }
    branched.calls++;
    return false;
}

bool faults_in_child(fault *what)
{
    if (in_child)
        *what = now;
    return in_child;
}

/* Without the duties of an exit, which are the parent's: buffers to empty, leaks to look for. */
_Noreturn void faults_leave(fault_verdict v)
{
    /* LLVM's OpenMP leaves a file for every process that does not exit in order; thousands of them would meet processes
     * of the same number later, and stop them. */
    char name[64];
    snprintf(name, sizeof name, "/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(), (int)getuid());
    shm_unlink(name);
    _exit((int)v);
}

fault_branches faults_branched(void)
{
    return branched;
}

/* Is this call to fail? */
static bool fails(fault_call call)
{
    bool result = false;
    pthread_mutex_lock(&lock);
    if (armed && now.call == call) {
        calls++;
        result = now.branch ? branch() : calls == now.at || (now.onwards && now.at > 0 && calls > now.at);
        failures += result;
    }
    pthread_mutex_unlock(&lock);
    if (result)
        errno = now.reason;
    return result;
}

/* Under the address sanitizer freed memory is kept for a while; with much of it, splitting takes long. */
const char *__asan_default_options(void) __attribute__((visibility("default")));
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8";
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* A hash table with linear probing; a freed place is marked, so that those behind it are still found. */
static char freed;
static size_t place_of(const void *p)
{
    return (size_t)((uintptr_t)p >> 4) * 0x9E3779B97F4A7C15u >> 48;
}

static void block_add(void *p)
{
    pthread_mutex_lock(&lock);
    if (armed && p != NULL) {
        size_t i = place_of(p) % MOST_BLOCKS;
        for (size_t tried = 0; block[i] != NULL && block[i] != &freed; i = (i + 1) % MOST_BLOCKS)
            if (++tried == MOST_BLOCKS) {
                fprintf(stderr, "more than %d blocks of memory\n", MOST_BLOCKS);
                abort();
            }
        block[i] = p;
        blocks++;
    }
    pthread_mutex_unlock(&lock);
}

static void block_remove(const void *p)
{
    pthread_mutex_lock(&lock);
    size_t i = place_of(p) % MOST_BLOCKS;
    for (size_t tried = 0; p != NULL && block[i] != NULL && tried < MOST_BLOCKS; tried++, i = (i + 1) % MOST_BLOCKS)
        if (block[i] == p) {
            block[i] = &freed;
            blocks--;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void *__wrap_malloc(size_t size)
{
    void *p = fails(FAULT_MEMORY) ? NULL : __real_malloc(size);
    block_add(p);
    return p;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *p = fails(FAULT_MEMORY) ? NULL : __real_calloc(count, size);
    block_add(p);
    return p;
}

void *__wrap_realloc(void *p, size_t size)
{
    if (fails(FAULT_MEMORY))
        return NULL;
    block_remove(p);
    void *grown = __real_realloc(p, size);
    block_add(grown == NULL ? p : grown);
    return grown;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    void *p = fails(FAULT_MEMORY) ? NULL : __real_aligned_alloc(alignment, size);
    block_add(p);
    return p;
}

char *__wrap_strdup(const char *text)
{
    char *copy = fails(FAULT_MEMORY) ? NULL : __real_strdup(text);
    block_add(copy);
    return copy;
}

/* Without a place for its answer it allocates one. */
char *__wrap_realpath(const char *path, char *out)
{
    char *found = out == NULL && fails(FAULT_MEMORY) ? NULL : __real_realpath(path, out);
    if (out == NULL)
        block_add(found);
    return found;
}

locale_t __wrap_newlocale(int mask, const char *name, locale_t base)
{
    return fails(FAULT_MEMORY) ? (locale_t)0 : __real_newlocale(mask, name, base);
}

void __wrap_free(void *p)
{
    block_remove(p);
    __real_free(p);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void descriptor_mark(int fd, bool open_now)
{
    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < MOST_DESCRIPTORS && ours[fd] != open_now && (armed || !open_now)) {
        ours[fd] = open_now;
        descriptors += open_now ? 1 : -1;
    }
    pthread_mutex_unlock(&lock);
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    const int fd = fails(FAULT_OPEN) ? -1 : __real_open(path, flags, mode);
    descriptor_mark(fd, true);
    return fd;
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    const int fd = fails(FAULT_OPEN) ? -1 : __real_openat(folder, path, flags, mode);
    descriptor_mark(fd, true);
    return fd;
}

int __wrap_fstat(int fd, struct stat *out)
{
    return fails(FAULT_STAT) ? -1 : __real_fstat(fd, out);
}

static size_t cut(size_t size)
{
    return armed && now.most > 0 && size > now.most ? now.most : size;
}

ssize_t __wrap_read(int fd, void *data, size_t size)
{
    return fails(FAULT_READ) ? -1 : __real_read(fd, data, cut(size));
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    return fails(FAULT_WRITE) ? -1 : __real_write(fd, data, cut(size));
}

int __wrap_fchmod(int fd, mode_t mode)
{
    return fails(FAULT_CHMOD) ? -1 : __real_fchmod(fd, mode);
}

int __wrap_fsync(int fd)
{
    (void)fd; /* a test may be lost with the power */
    return fails(FAULT_SYNC) ? -1 : 0;
}

int __wrap_close(int fd)
{
    const bool failed = fails(FAULT_CLOSE);
    const int result = __real_close(fd);
    descriptor_mark(fd, false);
    if (failed)
        errno = now.reason;
    return failed ? -1 : result;
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails(FAULT_RENAME) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}
