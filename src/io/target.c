/* target.c - which file a write to a path replaces, and who may write to it.
 *
 * Links are followed, to a file or to where one would be, by the rules that Linux has for them in folders that all may
 * write to (fs.protected_symlinks): there a stranger's link is followed by nobody, since it would choose for others
 * what they overwrite. Only "there is no such file" is taken for that: what cannot be looked at is an error.
 *
 * A claim keeps two runs from writing to one file. It is a lock on one byte of the file's folder, the hash of the file's
 * name: folders may be locked for reading alone, which keeps nobody away but can be asked about. So there is no file of
 * its own that a crash could leave behind, and the claim ends with the process, however that ends. Where folders cannot
 * be locked, or may not be read, there are no claims: the last run to end wins, with a whole file. */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINKS_MOST 40 /* as the kernel allows */

const char *file_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

npmd_status file_folder_of(const char *path, char **out, npmd_error *err)
{
    const size_t length = (size_t)(file_name_of(path) - path); /* with the slash: "/file" lies in "/" */
    const npmd_status st = memory_text(out, length == 0 ? "." : path, err);
    if (st == NPMD_OK && length > 0)
        (*out)[length > 1 ? length - 1 : 1] = 0;
    return st;
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static npmd_status target_fail(const char *path, const char *reason, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_FILE, "cannot write %s: %s", path, reason);
}

/* Is the link a stranger's, in a folder where everybody may put one? */
static npmd_status link_check(const char *path, const char *at, const struct stat *link, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *folder = NULL;
    struct stat facts;
    TRY(file_folder_of(at, &folder, err));
    if (stat(folder, &facts) != 0)
        TRY(target_fail(path, strerror(errno), err));
    const bool open_to_all = (facts.st_mode & S_ISVTX) != 0 && (facts.st_mode & S_IWOTH) != 0;
    if (open_to_all && link->st_uid != geteuid() && link->st_uid != facts.st_uid)
        st = npmd_fail(
            err, NPMD_ERR_FILE,
            "cannot write %s: %.200s is somebody else's link in a folder that all may write to; remove it, or "
            "choose another place",
            path, at);
done:
    memory_free(folder);
    return st;
}

/* *at becomes what the link there points to. */
static npmd_status link_follow(const char *path, char **at, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char to[PATH_MAX], *next = NULL;
    const ssize_t length = readlink(*at, to, sizeof to);
    if (length < 0 || (size_t)length >= sizeof to)
        TRY(target_fail(path, strerror(length < 0 ? errno : ENAMETOOLONG), err));
    const size_t folder = length > 0 && to[0] == '/' ? 0 : (size_t)(file_name_of(*at) - *at);
    TRY(memory_new(&next, folder + (size_t)length + 1, err));
    memcpy(next, *at, folder);
    memcpy(next + folder, to, (size_t)length);
    memory_free(*at);
    *at = next;
done:
    return st;
}

npmd_status file_target(const char *path, char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *at = NULL;
    struct stat facts;
    TRY(memory_text(&at, path, err));
    for (int links = 0; lstat(at, &facts) == 0 && S_ISLNK(facts.st_mode); links++) {
        if (links == LINKS_MOST)
            TRY(target_fail(path, strerror(ELOOP), err));
        TRY(link_check(path, at, &facts, err));
        TRY(link_follow(path, &at, err));
    }
    *out = at;
    at = NULL;
done:
    memory_free(at);
    return st;
}

npmd_status file_look(const char *path, struct stat *facts, bool *exists, npmd_error *err)
{
    *exists = stat(path, facts) == 0;
    /* ENOTDIR: the folder will be found wanting, with its name */
    return *exists || errno == ENOENT || errno == ENOTDIR ? NPMD_OK : target_fail(path, strerror(errno), err);
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

struct npmd_claim {
    int folder; /* holds the lock */
};

#ifdef F_OFD_SETLK /* of an open file, not of a process: two fits of one process are kept apart, too */
static int lock_set(int fd, struct flock *what)
{
    return fcntl(fd, F_OFD_SETLK, what);
}
static int lock_ask(int fd, struct flock *what)
{
    return fcntl(fd, F_OFD_GETLK, what);
}
#else
static int lock_set(int fd, struct flock *what)
{
    (void)fd, (void)what;
    return -1;
}
static int lock_ask(int fd, struct flock *what)
{
    return lock_set(fd, what);
}
#endif

typedef enum claim_state { CLAIM_HELD, CLAIM_TAKEN, CLAIM_IMPOSSIBLE } claim_state;

/* Locks the byte for reading, then asks who would be in the way of writing it. Of two who do this at once both may see
 * the other, but never neither. */
static claim_state claim_try(int folder, off_t byte)
{
    struct flock own = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 }, other = own;
    other.l_type = F_WRLCK;
    if (lock_set(folder, &own) != 0 || lock_ask(folder, &other) != 0)
        return CLAIM_IMPOSSIBLE;
    if (other.l_type == F_UNLCK)
        return CLAIM_HELD;
    own.l_type = F_UNLCK;
    lock_set(folder, &own);
    return CLAIM_TAKEN;
}

#define CLAIM_TRIES 4 /* two that met go on after unequal pauses of milliseconds, so that one of them gets it */

static claim_state claim_lock(int folder, const char *name)
{
    const uint64_t hash = hash_bytes(0, name, strlen(name));
    const off_t byte = (off_t)(hash >> (sizeof(off_t) == 8 ? 2 : 34));
    uint64_t draw = hash_word((uint64_t)getpid(), (uint64_t)(clock_seconds() * 1e9));
    claim_state state = claim_try(folder, byte);
    for (int k = 1; k < CLAIM_TRIES && state == CLAIM_TAKEN; k++) {
        draw = hash_word(draw, (uint64_t)k);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 + (long)(draw % 8000000) }, NULL);
        state = claim_try(folder, byte);
    }
    return state;
}

npmd_status file_claim_take(const char *path, npmd_claim **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *target = NULL, *folder = NULL;
    npmd_claim *c = NULL;
    struct stat facts;
    *out = NULL;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) /* many may write to a pipe or a terminal */
        return NPMD_OK;
    TRY(file_target(path, &target, err));
    TRY(file_folder_of(target, &folder, err));
    TRY(memory_new(&c, 1, err));
    c->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->folder < 0 && errno != EACCES && errno != ENOENT && errno != ENOTDIR) /* the writer will name the last two */
        TRY(target_fail(path, strerror(errno), err));
    const claim_state state = c->folder < 0 ? CLAIM_IMPOSSIBLE : claim_lock(c->folder, file_name_of(target));
    if (state == CLAIM_TAKEN)
        TRY(target_fail(path, "another run is writing to it; wait for its end, or choose another name", err));
    if (state == CLAIM_HELD) {
        *out = c;
        c = NULL;
    }
done:
    file_claim_release(c);
    memory_free_all(target, folder);
    return st;
}

void file_claim_release(npmd_claim *c)
{
    if (c == NULL)
        return;
    if (c->folder >= 0)
        close(c->folder);
    memory_free(c);
}
