/* file.c - reads whole files, and writes files so that either the old or the new one is there.
 *
 * A writer fills a temporary file in the target's folder (a rename within one folder is atomic), syncs it, renames it
 * and syncs the folder. It keeps the folder open instead of its name: if the folder is moved, or the program changes
 * its working folder, no temporary file stays behind. A link is followed: its target is replaced, not the link. A
 * target that is no ordinary file (/dev/null, a pipe) is written directly: renaming over it would destroy it. */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define WRITER_BUFFER 65536
#define FIRST_GUESS 65536    /* bytes, for a file that does not tell its size */
#define TEMPORARY_TRIES 1000 /* as many may write to one target at a time */
#ifdef O_PATH
#define FOLDER_ACCESS O_PATH /* a folder may be written to and not be read */
#else
#define FOLDER_ACCESS O_RDONLY
#endif
#define NAME_KEPT 200 /* bytes of the target's name in the temporary one; a name may have 255 in all */

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Why nothing can be read from here; NULL: something can. */
static const char *unreadable(int fd, const struct stat *facts)
{
    if (S_ISDIR(facts->st_mode))
        return strerror(EISDIR);
    if (S_ISREG(facts->st_mode) || S_ISFIFO(facts->st_mode) || (S_ISCHR(facts->st_mode) && isatty(fd)))
        return NULL;
    return S_ISSOCK(facts->st_mode) ? "it is a socket, a file or a pipe was expected"
                                    : "it is a device, a file or a pipe was expected";
}

npmd_status file_source_open(const char *path, file_source *out, npmd_error *err)
{
    struct stat facts;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return npmd_fail(err, NPMD_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    const char *reason = fstat(fd, &facts) != 0 ? strerror(errno) : unreadable(fd, &facts);
    if (reason != NULL) {
        close(fd);
        return npmd_fail(err, NPMD_ERR_FILE, "cannot read %s: %s", path, reason);
    }
    const bool ordinary = S_ISREG(facts.st_mode);
    *out = (file_source){ path, fd, ordinary, ordinary && facts.st_size > 0 ? (size_t)facts.st_size : 0 };
    return NPMD_OK;
}

void file_source_close(file_source *s)
{
    if (s->path != NULL)
        close(s->fd);
    *s = (file_source){ 0 };
}

npmd_status file_source_take(file_source *s, void *out, size_t size, size_t *got, npmd_error *err)
{
    size_t have = 0;
    while (have < size) {
        const ssize_t more = read(s->fd, (unsigned char *)out + have, size - have);
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return npmd_fail(err, NPMD_ERR_FILE, "cannot read %s: %s", s->path, strerror(errno));
        if (more == 0)
            break;
        have += (size_t)more;
    }
    *got = have;
    return NPMD_OK;
}

npmd_status file_source_seek(file_source *s, size_t byte, npmd_error *err)
{
    if (lseek(s->fd, (off_t)byte, SEEK_SET) < 0)
        return npmd_fail(err, NPMD_ERR_FILE, "cannot read %s: %s", s->path, strerror(errno));
    return NPMD_OK;
}

npmd_status file_source_rest(file_source *s, const unsigned char *first, size_t count, file_bytes *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes b = { 0 };
    /* Two bytes more than the file tells: one for the closing zero, one to meet its end in. */
    size_t capacity = (s->size > count ? s->size : count + FIRST_GUESS) + 2, got = 0;
    TRY(memory_new(&b.data, capacity, err));
    if (count > 0)
        memcpy(b.data, first, count);
    b.size = count;
    for (;;) {
        const size_t room = capacity - 1 - b.size;
        TRY(file_source_take(s, b.data + b.size, room, &got, err));
        b.size += got;
        if (got < room)
            break;
        TRY(memory_grow((void **)&b.data, &capacity, capacity + 1, 1, err));
    }
    b.data[b.size] = 0;
    *out = b;
    b.data = NULL;
done:
    memory_free(b.data);
    return st;
}

/* A zero byte is in no text file; UTF-16, as some spreadsheets save it, has one beside every digit. */
npmd_status file_starts_text(const char *path, const unsigned char *first, size_t size, npmd_error *err)
{
    const unsigned char *zero = size == 0 ? NULL : memchr(first, 0, size);
    size_t line = 1;
    if (zero == NULL)
        return NPMD_OK;
    for (const unsigned char *p = first; p < zero; p++)
        line += *p == '\n';
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "%s line %zu: NUL byte (byte %zu) where text was expected: a binary or UTF-16 file?", path, line,
                     (size_t)(zero - first) + 1);
}

npmd_status file_read_checked(const char *path, file_start check, file_bytes *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_source s = { 0 };
    unsigned char first[FILE_START];
    size_t count = 0;
    TRY(file_source_open(path, &s, err));
    TRY(file_source_take(&s, first, sizeof first, &count, err));
    if (check != NULL)
        TRY(check(path, first, count, err));
    TRY(file_source_rest(&s, first, count, out, err));
done:
    file_source_close(&s);
    return st;
}

npmd_status file_read(const char *path, file_bytes *out, npmd_error *err)
{
    return file_read_checked(path, NULL, out, err);
}

size_t file_size(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0 ? (size_t)facts.st_size : 0;
}

void file_bytes_free(file_bytes *b)
{
    memory_free(b->data);
    *b = (file_bytes){ 0 };
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

struct file_writer {
    char *path;                     /* as the caller wrote it, for messages */
    char *target;                   /* the file behind a link */
    char temporary[NAME_KEPT + 64]; /* a name in the target's folder; "": the target is written directly */
    int folder;
    int fd, lock; /* lock: fd once more; it keeps the temporary file locked until that has its own name */
    size_t used;
    z_stream *zip;    /* NULL: bytes are written as they are */
    npmd_error first; /* the first failure; every later call repeats it */
    unsigned char buffer[WRITER_BUFFER];
};

static npmd_status writer_fail(file_writer *w, int reason, npmd_error *err)
{
    if (w->first.status == NPMD_OK)
        npmd_fail(&w->first, NPMD_ERR_FILE, "cannot write %s: %s", w->path, strerror(reason));
    return npmd_fail(err, w->first.status, "%s", w->first.text);
}

void file_writer_abandon(file_writer *w)
{
    if (w == NULL)
        return;
    if (w->temporary[0] != 0)
        unlinkat(w->folder, w->temporary, 0); /* before the lock is given up: then it may be another writer's */
    if (w->fd >= 0)
        close(w->fd);
    if (w->lock >= 0)
        close(w->lock);
    if (w->folder >= 0)
        close(w->folder);
    if (w->zip != NULL)
        deflateEnd(w->zip);
    memory_free_all(w->zip, w->path, w->target, w);
}

/* ---- Temporary names: TARGET.neuropmd-0.tmp, -1 if another writer is at work on the same target, and so on.
 *
 * A live writer holds a lock on its file. One that nobody holds was left by a writer that was killed; the next
 * one removes it, so that killed runs leave one file behind and not one each. Nothing is ever written to a file
 * that was there before. */

static bool is_named(int fd, int folder, const char *name)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
           && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* Removes what a killed writer left. Where files cannot be locked, all stay. */
static void temporary_clear(int folder, const char *name)
{
    const int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    /* Without the second look this could be a target by now: a writer may have renamed it before the lock. */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, folder, name))
        unlinkat(folder, name, 0);
    close(fd);
}

/* A file that did not exist before, locked; or -1, and errno. */
static int temporary_create(int folder, const char *name)
{
    const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* less the user's mask */
    if (fd < 0)
        return fd;
    const bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(fd, folder, name))
        return fd;
    close(fd); /* another writer took it for a leftover, in the moment before it was locked */
    errno = EEXIST;
    return -1;
}

/* If it cannot, errno says why and w->fd stays negative. */
static void temporary_open(file_writer *w)
{
    char name[sizeof w->temporary];
    for (int k = 0; k < TEMPORARY_TRIES && w->fd < 0; k++) {
        snprintf(name, sizeof name, "%.*s.neuropmd-%d.tmp", NAME_KEPT, file_name_of(w->target), k);
        w->fd = temporary_create(w->folder, name);
        if (w->fd < 0 && errno == EEXIST) {
            temporary_clear(w->folder, name);
            w->fd = temporary_create(w->folder, name);
        }
        if (w->fd < 0 && errno != EEXIST)
            break;
    }
    if (w->fd >= 0)
        memcpy(w->temporary, name, sizeof name);
}

static npmd_status folder_open(file_writer *w, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *folder = NULL;
    TRY(file_folder_of(w->target, &folder, err));
    w->folder = open(folder, FOLDER_ACCESS | O_DIRECTORY | O_CLOEXEC);
    if (w->folder >= 0)
        temporary_open(w);
    if (w->fd < 0) {
        const int reason = errno;
        st = npmd_fail(err, NPMD_ERR_FILE, "cannot write %s: folder %s: %s", w->path, folder, strerror(reason));
    }
    if (st == NPMD_OK && (w->lock = fcntl(w->fd, F_DUPFD_CLOEXEC, 0)) < 0)
        st = writer_fail(w, errno, err);
done:
    memory_free(folder);
    return st;
}

/* What may be written to directly, since renaming over it would destroy it: not a disk. */
static npmd_status device_open(file_writer *w, const struct stat *facts, npmd_error *err)
{
    if (S_ISBLK(facts->st_mode) || S_ISSOCK(facts->st_mode))
        return npmd_fail(err, NPMD_ERR_FILE, "cannot write %s: it is a %s, a file was expected", w->path,
                         S_ISBLK(facts->st_mode) ? "disk" : "socket");
    w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return w->fd < 0 ? writer_fail(w, errno, err) : NPMD_OK;
}

npmd_status file_writer_open(const char *path, file_writer **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    struct stat facts;
    bool exists = false;
    TRY(memory_new(&w, 1, err));
    w->fd = w->lock = w->folder = -1;
    TRY(memory_text(&w->path, path, err));
    TRY(file_look(path, &facts, &exists, err)); /* the path, not its target: /dev/stdout leads to a nameless pipe */
    const size_t length = strlen(path);
    if (exists ? S_ISDIR(facts.st_mode) : length > 0 && path[length - 1] == '/')
        TRY(writer_fail(w, EISDIR, err));
    if (length == 0)
        TRY(writer_fail(w, ENOENT, err));
    if (exists && access(path, W_OK) != 0) /* a rename would slip past a file's own write protection */
        TRY(writer_fail(w, errno, err));
    if (exists && !S_ISREG(facts.st_mode)) {
        TRY(device_open(w, &facts, err));
    } else {
        TRY(file_target(path, &w->target, err));
        TRY(folder_open(w, err));
        if (exists && fchmod(w->fd, facts.st_mode & 07777) != 0)
            TRY(writer_fail(w, errno, err));
    }
done:
    if (st == NPMD_OK)
        *out = w;
    else
        file_writer_abandon(w);
    return st;
}

static npmd_status write_all(file_writer *w, const unsigned char *data, size_t size, npmd_error *err)
{
    while (size > 0) {
        const ssize_t put = write(w->fd, data, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return writer_fail(w, errno, err);
        data += put;
        size -= (size_t)put;
    }
    return NPMD_OK;
}

static npmd_status writer_flush(file_writer *w, npmd_error *err)
{
    const size_t used = w->used;
    w->used = 0;
    return write_all(w, w->buffer, used, err);
}

npmd_status file_writer_zip(file_writer *w, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    z_stream *zip = NULL;
    assert(w->zip == NULL && w->used == 0);
    TRY(memory_new(&zip, 1, err));
    /* + 16: gzip's header, which deflate leaves without name and time; equal bytes in, equal bytes out */
    if (deflateInit2(zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "cannot write %s: not enough memory to compress it", w->path));
    w->zip = zip;
    zip = NULL;
done:
    memory_free(zip);
    return st;
}

/* Deflates into the buffer, which is written whenever it is full; Z_FINISH ends the stream. */
static npmd_status zip_put(file_writer *w, const void *data, size_t size, int flush, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int code = Z_OK;
    const unsigned char *at = data;
    do {
        const size_t piece = size < WRITER_BUFFER ? size : WRITER_BUFFER;
        w->zip->next_in = (unsigned char *)(uintptr_t)at; /* not written to */
        w->zip->avail_in = (uInt)piece;
        do {
            if (w->used == WRITER_BUFFER)
                TRY(writer_flush(w, err));
            w->zip->next_out = w->buffer + w->used;
            w->zip->avail_out = (uInt)(WRITER_BUFFER - w->used);
            code = deflate(w->zip, size == piece ? flush : Z_NO_FLUSH);
            w->used = WRITER_BUFFER - w->zip->avail_out;
        } while (w->zip->avail_out == 0 || w->zip->avail_in > 0);
        at = size > 0 ? at + piece : at;
        size -= piece;
    } while (size > 0);
    if (flush == Z_FINISH && code != Z_STREAM_END)
        st = writer_fail(w, EIO, err);
done:
    return st;
}

npmd_status file_writer_put(file_writer *w, const void *data, size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (w->first.status != NPMD_OK)
        return npmd_fail(err, w->first.status, "%s", w->first.text);
    if (w->zip != NULL)
        return size == 0 ? NPMD_OK : zip_put(w, data, size, Z_NO_FLUSH, err);
    if (size > WRITER_BUFFER - w->used)
        TRY(writer_flush(w, err));
    if (size > WRITER_BUFFER)
        return write_all(w, data, size, err);
    if (size > 0) /* data may be NULL with size 0 */
        memcpy(w->buffer + w->used, data, size);
    w->used += size;
done:
    return st;
}

npmd_status file_writer_print(file_writer *w, npmd_error *err, const char *format, ...)
{
    npmd_status st = NPMD_OK;
    char line[512], *text = line, *longer = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0)
        TRY(writer_fail(w, errno, err));
    if ((size_t)length >= sizeof line) {
        TRY(memory_new(&longer, (size_t)length + 1, err));
        va_start(arguments, format);
        vsnprintf(longer, (size_t)length + 1, format, arguments);
        va_end(arguments);
        text = longer;
    }
    TRY(file_writer_put(w, text, (size_t)length, err));
done:
    if (st != NPMD_OK && w->first.status == NPMD_OK) /* a commit after this would leave a gap in the file */
        npmd_fail(&w->first, st, "cannot write %s: %s", w->path, status_text(st));
    memory_free(longer);
    return st;
}

/* Makes a rename last through a power cut. A folder that may not be opened for reading, or a file system that
 * knows no such sync, is not a failed write: the new file is in its place. */
static void folder_sync(int folder)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

npmd_status file_writer_commit(file_writer *w, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(file_writer_put(w, NULL, 0, err)); /* repeats an earlier failure */
    if (w->zip != NULL)
        TRY(zip_put(w, NULL, 0, Z_FINISH, err));
    TRY(writer_flush(w, err));
    /* EINVAL: a file system that cannot sync */
    if (w->temporary[0] != 0 && fsync(w->fd) != 0 && errno != EINVAL)
        TRY(writer_fail(w, errno, err));
    const int closed = close(w->fd); /* a network file system may report a full disk only here */
    w->fd = -1;
    if (closed != 0 && errno != EINTR)
        TRY(writer_fail(w, errno, err));
    if (w->temporary[0] == 0)
        goto done;
    if (renameat(w->folder, w->temporary, w->folder, file_name_of(w->target)) != 0)
        TRY(writer_fail(w, errno, err));
    w->temporary[0] = 0; /* nothing is left to remove */
    folder_sync(w->folder);
done:
    file_writer_abandon(w);
    return st;
}

npmd_status file_write(const char *path, const void *data, size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    TRY(file_writer_open(path, &w, err));
    TRY(file_writer_put(w, data, size, err));
    st = file_writer_commit(w, err);
    w = NULL;
done:
    file_writer_abandon(w);
    return st;
}

npmd_status file_output_check(const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    struct stat facts;
    /* opening and closing a pipe would end its reader */
    if (stat(path, &facts) == 0 && S_ISFIFO(facts.st_mode))
        return access(path, W_OK) == 0 ? NPMD_OK
                                       : npmd_fail(err, NPMD_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    TRY(file_writer_open(path, &w, err)); /* everything that commit needs, except the space */
done:
    file_writer_abandon(w);
    return st;
}

/* ---- Names and messages ------------------------------------------------------------------------------------------ */

bool file_has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && strcasecmp(path + length - tail, suffix) == 0;
}

void file_quote(const char *text, size_t size, char out[FILE_QUOTE + 4])
{
    const size_t kept = size < FILE_QUOTE ? size : FILE_QUOTE;
    for (size_t i = 0; i < kept; i++) /* a control character could rewrite the reader's terminal */
        out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    snprintf(out + kept, 4, "%s", size > kept ? "..." : "");
}

span span_trim(span s)
{
    while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
        s.at++;
    while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == '\t' || s.end[-1] == '\r'))
        s.end--;
    return s;
}

bool span_is(span s, const char *word)
{
    return (size_t)(s.end - s.at) == strlen(word) && strncasecmp(s.at, word, strlen(word)) == 0;
}
