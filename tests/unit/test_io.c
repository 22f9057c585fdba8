/* test_io.c - what is written comes back bit for bit, what is wrong is named, and a failed write changes
 * nothing. */
#include "io.h"

#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Calls of the system that fail when told to: the linker puts these in their place -------------- */

static int calls_left = -1;   /* until one fails; negative: none will */
static size_t write_most = 0; /* bytes that one write takes; 0: all */

static bool call_fails(int reason)
{
    if (calls_left < 0 || calls_left-- > 0)
        return false;
    errno = reason;
    return true;
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    return call_fails(ENOSPC)
               ? -1
               : __real_write(fd, data, write_most > 0 && size > write_most ? write_most : size);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    return call_fails(EIO) ? -1 : __real_fsync(fd);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    const bool fails = call_fails(EDQUOT);
    const int result = __real_close(fd); /* a failed close has closed the file */
    errno = fails ? EDQUOT : errno;
    return fails ? -1 : result;
}

int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return call_fails(EACCES) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

/* ---- A folder of its own for the run --------------------------------------------------------------- */

typedef struct place {
    char folder[512];
    char (*path)[1024]; /* the last four names made by in_folder, in turn */
    int turn;
} place;

static const char *in_folder(place *p, const char *name)
{
    char *path = p->path[p->turn++ % 4];
    snprintf(path, sizeof *p->path, "%s/%s", p->folder, name);
    return path;
}

static int place_make(void **state)
{
    place *p = calloc(1, sizeof *p);
    const char *base = getenv("TMPDIR");
    if (p == NULL || (p->path = calloc(4, sizeof *p->path)) == NULL)
        return -1;
    snprintf(p->folder, sizeof p->folder, "%s/npmd-io-XXXXXX", base != NULL && *base != 0 ? base : P_tmpdir);
    *state = p;
    return mkdtemp(p->folder) == NULL;
}

static int place_remove(void **state)
{
    place *p = *state;
    DIR *d = opendir(p->folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            const char *path = in_folder(p, e->d_name);
            if (unlink(path) != 0)
                rmdir(path);
        }
    if (d != NULL)
        closedir(d);
    const int result = rmdir(p->folder);
    free(p->path);
    free(p);
    return result;
}

static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

static const char *put_bytes(place *p, const char *name, const void *bytes, size_t size)
{
    const char *path = in_folder(p, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}

static const char *put_text(place *p, const char *name, const char *text)
{
    return put_bytes(p, name, text, strlen(text));
}

static void assert_says(const npmd_error *err, const char *words)
{
    if (strstr(err->text, words) == NULL)
        fail_msg("'%s' does not say '%s'", err->text, words);
}

/* Files are compared through the same reader that is under test, which file_whole checks. */
static void assert_same_bytes(const char *a, const char *b)
{
    file_bytes x = { 0 }, y = { 0 };
    assert_int_equal(file_read(a, &x, NULL), NPMD_OK);
    assert_int_equal(file_read(b, &y, NULL), NPMD_OK);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    file_bytes_free(&x);
    file_bytes_free(&y);
}

/* Doubles that a careless text format would lose. */
static const double AWKWARD[] = {
    0.1,
    -0.0,
    1.0 / 3.0,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    -NPMD_PI,
    123456789.125,
    1e22,
    9007199254740992.0,
    -1e-7,
    6.02214076e23,
};
#define AWKWARD_COUNT (sizeof AWKWARD / sizeof AWKWARD[0])

/* ---- file.c ---------------------------------------------------------------------------------------- */

static void file_whole(void **state)
{
    place *p = *state;
    unsigned char bytes[70000]; /* longer than any buffer inside */
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 256);
    file_bytes b = { 0 };
    assert_int_equal(file_read(put_bytes(p, "whole.bin", bytes, sizeof bytes), &b, NULL), NPMD_OK);
    assert_int_equal(b.size, sizeof bytes);
    assert_memory_equal(b.data, bytes, sizeof bytes);
    assert_int_equal(b.data[b.size], 0);
    file_bytes_free(&b);
    file_bytes_free(&b);
    assert_int_equal(file_read(put_bytes(p, "none.bin", bytes, 0), &b, NULL), NPMD_OK);
    assert_int_equal(b.size, 0);
    assert_int_equal(b.data[0], 0);
    file_bytes_free(&b);
}

static void file_unreadable(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    npmd_error err = { 0 };
    assert_int_equal(file_read(in_folder(p, "absent.csv"), &b, &err), NPMD_ERR_FILE);
    assert_says(&err, "absent.csv: No such file or directory");
    assert_int_equal(file_read(p->folder, &b, &err), NPMD_ERR_FILE);
    assert_says(&err, "Is a directory");
    assert_null(b.data);
}

static void writer_writes(void **state)
{
    place *p = *state;
    file_writer *w = NULL;
    file_bytes b = { 0 };
    char large[100000]; /* longer than the buffer inside */
    memset(large, 'x', sizeof large);
    const char *path = in_folder(p, "written.txt");
    assert_int_equal(file_writer_open(path, &w, NULL), NPMD_OK);
    assert_int_not_equal(access(path, F_OK), 0); /* nothing under its name before the end */
    assert_int_equal(file_writer_print(w, NULL, "%d %s ", 17, "words"), NPMD_OK);
    assert_int_equal(file_writer_print(w, NULL, "%*s", 2000, "right"),
                     NPMD_OK); /* longer than print's own line */
    assert_int_equal(file_writer_put(w, large, sizeof large, NULL), NPMD_OK);
    assert_int_equal(file_writer_put(w, "end", 3, NULL), NPMD_OK);
    assert_int_equal(file_writer_commit(w, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_int_equal(b.size, 9 + 2000 + sizeof large + 3);
    assert_memory_equal(b.data, "17 words ", 9);
    assert_memory_equal(b.data + 9 + 1995, "right", 5);
    assert_memory_equal(b.data + b.size - 4, "xend", 4);
    file_bytes_free(&b);
    file_writer_abandon(NULL);
}

static void writer_keeps_permission(void **state)
{
    place *p = *state;
    struct stat facts;
    const double x = 1.0;
    const char *path = put_text(p, "mine.csv", "old\n");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(csv_write(path, ',', &x, 1, 1, NULL), NPMD_OK);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0640);
}

static void writer_follows_link(void **state)
{
    place *p = *state;
    struct stat facts;
    table t = { 0 };
    const double x = 2.5;
    const char *real = put_text(p, "real.csv", "1\n"), *link = in_folder(p, "link.csv");
    assert_int_equal(symlink("real.csv", link), 0);
    assert_int_equal(csv_write(link, ',', &x, 1, 1, NULL), NPMD_OK);
    assert_int_equal(lstat(link, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_int_equal(csv_read(real, &t, NULL), NPMD_OK);
    assert_true(t.data[0] == 2.5);
    table_free(&t);
}

static void writer_spares_devices(void **state)
{
    (void)state;
    struct stat facts;
    const double x = 1.0;
    assert_int_equal(csv_write("/dev/null", ',', &x, 1, 1, NULL), NPMD_OK);
    assert_int_equal(stat("/dev/null", &facts), 0);
    assert_true(S_ISCHR(facts.st_mode)); /* a rename would have made a file of it */
}

static void writer_fails_with_reason(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    file_writer *w = NULL;
    const size_t before = files_in(p->folder);
    assert_int_equal(file_writer_open(in_folder(p, "nowhere/out.csv"), &w, &err), NPMD_ERR_FILE);
    assert_says(&err, "nowhere/out.csv");
    assert_says(&err, "No such file or directory");
    assert_int_equal(file_writer_open(p->folder, &w, &err), NPMD_ERR_FILE);
    assert_says(&err, "Is a directory");
    assert_int_equal(file_writer_open("", &w, &err), NPMD_ERR_FILE);
    assert_int_equal(file_writer_open("/proc/out.csv", &w, &err), NPMD_ERR_FILE); /* holds for root as well */
    assert_says(&err, "cannot write /proc/out.csv: folder /proc: ");
    assert_null(w);
    if (geteuid() != 0) { /* root may write everywhere */
        const char *path = put_text(p, "protected.csv", "old\n");
        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(file_writer_open(path, &w, &err), NPMD_ERR_FILE);
        assert_says(&err, "Permission denied");
        unlink(path);
    }
    assert_int_equal(files_in(p->folder), before);
}

/* A full disk, played by the limit on a file's size. Nothing is asserted while the limit holds. */
static void writer_failure_keeps_old_file(void **state)
{
    place *p = *state;
    enum { COUNT = 20000 };
    static double many[COUNT]; /* 160,000 bytes */
    npmd_error err = { 0 }, first = { 0 }, later = { 0 };
    struct rlimit old, tight;
    file_writer *w = NULL;
    const char *path = put_text(p, "kept.npy", "the old file"),
               *copy = put_text(p, "copy.npy", "the old file");
    const size_t before = files_in(p->folder);
    assert_int_equal(file_writer_open(path, &w, NULL), NPMD_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = 100000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN); /* so that write fails instead of ending the test */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    const npmd_status array = npy_write(path, many, COUNT / 2, 2, &err);
    const npmd_status put = file_writer_put(w, many, sizeof many, &first);
    const npmd_status again = file_writer_put(w, "x", 1,
                                              &later); /* would fit, but the file has a gap by now */
    const npmd_status commit = file_writer_commit(w, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(array, NPMD_ERR_FILE);
    assert_says(&err, "kept.npy: File too large");
    assert_int_equal(put, NPMD_ERR_FILE);
    assert_int_equal(again, NPMD_ERR_FILE);
    assert_string_equal(first.text, later.text);
    assert_int_equal(commit, NPMD_ERR_FILE);
    assert_same_bytes(path, copy);
    assert_int_equal(files_in(p->folder), before);
}

/* All that is written here goes through a file_writer; these are its users in this folder. */
enum { WRITE_CSV, WRITE_GZIP, WRITE_NPY, WRITE_RECORD, WRITES };
static const char *const WRITE_NAMES[WRITES] = { "w.csv", "w.csv.gz", "w.npy", "w.safetensors" };

static npmd_status write_some(int kind, const char *path, npmd_error *err)
{
    enum { COUNT = 20000 }; /* 160,000 bytes: more than the writer's buffer */
    static double many[COUNT];
    record rec = { 0 };
    tensor t = { .name = "many", .type = TENSOR_F64, .dimensions = 1, .shape = { COUNT }, .data = many };
    char facts[] = "{}";
    for (int i = 0; i < COUNT; i++)
        many[i] = sqrt(i);
    rec.metadata = facts;
    rec.tensors = &t;
    rec.count = 1;
    return kind == WRITE_RECORD ? record_write(path, &rec, err) : table_write(path, many, COUNT / 2, 2, err);
}

/* The k-th call of write, fsync, close and rename fails, k = 0, 1, ... until none is left to fail. */
static void writer_survives_every_failure(void **state)
{
    place *p = *state;
    for (int kind = 0; kind < WRITES; kind++) {
        const char *path = put_text(p, WRITE_NAMES[kind], "the old file"),
                   *copy = put_text(p, "copy.txt", "the old file");
        const size_t before = files_in(p->folder);
        int failures = 0;
        for (;; failures++) {
            npmd_error err = { 0 };
            calls_left = failures;
            const npmd_status st = write_some(kind, path, &err);
            calls_left = -1;
            assert_int_equal(files_in(p->folder), before);
            if (st == NPMD_OK)
                break;
            assert_int_equal(st, NPMD_ERR_FILE);
            assert_int_equal(err.status, NPMD_ERR_FILE);
            assert_says(&err, "cannot write");
            assert_says(&err, WRITE_NAMES[kind]);
            assert_same_bytes(path, copy);
        }
        assert_true(failures >= 5); /* two writes or more, the sync, the close, the rename */
    }
}

/* The same with a limit on the file's size in place of every number of bytes that a disk may have left. */
static void writer_survives_full_disk(void **state)
{
    place *p = *state;
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (int kind = 0; kind < WRITES; kind++) {
        struct stat facts;
        const char *path = in_folder(p, WRITE_NAMES[kind]), *copy = put_text(p, "copy.txt", "the old file");
        assert_int_equal(write_some(kind, path, NULL), NPMD_OK);
        assert_int_equal(stat(path, &facts), 0);
        put_text(p, WRITE_NAMES[kind], "the old file");
        const size_t before = files_in(p->folder);
        for (rlim_t room = 0; room < (rlim_t)facts.st_size; room += (rlim_t)facts.st_size / 7) {
            npmd_error err = { 0 };
            tight = old;
            tight.rlim_cur = room;
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
            const npmd_status st = write_some(kind, path, &err);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
            assert_int_equal(st, NPMD_ERR_FILE);
            assert_says(&err, "File too large");
            assert_int_equal(files_in(p->folder), before);
            assert_same_bytes(path, copy);
        }
    }
    signal(SIGXFSZ, handler);
    npmd_error err = { 0 };
    if (access("/dev/full", W_OK) == 0) { /* a device that is always full, written directly */
        assert_int_equal(write_some(WRITE_RECORD, "/dev/full", &err), NPMD_ERR_FILE);
        assert_says(&err, "cannot write /dev/full: No space left on device");
    }
}

/* A write that takes fewer bytes than it was given is no failure. */
static void writer_goes_on_after_short_writes(void **state)
{
    place *p = *state;
    for (int kind = 0; kind < WRITES; kind++) {
        const char *path = in_folder(p, WRITE_NAMES[kind]), *copy = in_folder(p, "short");
        char name[1100];
        assert_int_equal(write_some(kind, path, NULL), NPMD_OK);
        snprintf(name, sizeof name, "%s-%s", copy, WRITE_NAMES[kind]);
        write_most = 1000;
        const npmd_status st = write_some(kind, name, NULL);
        write_most = 0;
        assert_int_equal(st, NPMD_OK);
        assert_same_bytes(path, name);
    }
}

static void writer_without_its_folder(void **state)
{
    place *p = *state;
    char folder[1100], path[1200], moved[1100];
    npmd_error err = { 0 };
    file_writer *w = NULL;
    struct stat facts;
    snprintf(folder, sizeof folder, "%s", in_folder(p, "sub"));
    snprintf(moved, sizeof moved, "%s", in_folder(p, "moved"));
    snprintf(path, sizeof path, "%s/out.csv", folder);

    assert_int_equal(mkdir(folder, 0777), 0); /* removed with all that is in it */
    assert_int_equal(file_writer_open(path, &w, &err), NPMD_OK);
    assert_int_equal(file_writer_put(w, "new", 3, &err), NPMD_OK);
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(file_writer_commit(w, &err), NPMD_ERR_FILE);
    assert_says(&err, "sub/out.csv: No such file or directory");
    assert_int_not_equal(stat(folder, &facts), 0);

    assert_int_equal(mkdir(folder, 0777), 0); /* moved: nothing stays under a temporary name */
    assert_int_equal(file_writer_open(path, &w, &err), NPMD_OK);
    assert_int_equal(rename(folder, moved), 0);
    file_writer_abandon(w);
    assert_int_equal(files_in(moved), 0);
    assert_int_equal(rmdir(moved), 0);

    char here[4096]; /* a relative path stays what it was when the program changes its folder */
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chdir(folder), 0);
    const npmd_status opened = file_writer_open("out.csv", &w, &err);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(opened, NPMD_OK);
    assert_int_equal(file_writer_put(w, "new", 3, &err), NPMD_OK);
    assert_int_equal(file_writer_commit(w, &err), NPMD_OK);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(files_in(folder), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void writer_in_protected_folder(void **state)
{
    place *p = *state;
    char folder[1100], path[1200];
    npmd_error err = { 0 };
    if (geteuid() == 0)
        skip(); /* root may write everywhere */
    snprintf(folder, sizeof folder, "%s", in_folder(p, "protected"));
    snprintf(path, sizeof path, "%s/old.csv", folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const npmd_status st = table_write(path, AWKWARD, 1, 1, &err), check = table_output_check(path, NULL);
    const size_t files = files_in(folder);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(st, NPMD_ERR_FILE);
    assert_int_equal(check, NPMD_ERR_FILE);
    assert_int_equal(files, 1);
    assert_says(&err, "protected: Permission denied");
}

static void writer_abandon_keeps_old_file(void **state)
{
    place *p = *state;
    file_writer *w = NULL;
    const char *path = put_text(p, "a.txt", "old"), *copy = put_text(p, "b.txt", "old");
    const size_t before = files_in(p->folder);
    assert_int_equal(file_writer_open(path, &w, NULL), NPMD_OK);
    assert_int_equal(files_in(p->folder), before + 1);
    assert_int_equal(file_writer_put(w, "new", 3, NULL), NPMD_OK);
    file_writer_abandon(w);
    assert_int_equal(files_in(p->folder), before);
    assert_same_bytes(path, copy);
}

static void two_writers_do_not_meet(void **state)
{
    place *p = *state;
    file_writer *w[2] = { NULL, NULL };
    file_bytes b = { 0 };
    const char *path = in_folder(p, "both.txt");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(file_writer_open(path, &w[i], NULL), NPMD_OK);
        assert_int_equal(file_writer_put(w[i], i == 0 ? "first" : "second", i == 0 ? 5 : 6, NULL), NPMD_OK);
    }
    assert_int_equal(file_writer_commit(w[1], NULL), NPMD_OK);
    assert_int_equal(file_writer_commit(w[0], NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_string_equal((const char *)b.data, "first"); /* the last to commit, whole */
    file_bytes_free(&b);
}

static void output_check(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    char longest[256];
    memset(longest, 'n', 255); /* the most a name may have: the temporary name must not be longer */
    longest[255] = 0;
    const size_t before = files_in(p->folder);
    assert_int_equal(file_output_check(in_folder(p, "later.csv"), &err), NPMD_OK);
    assert_int_equal(file_output_check(in_folder(p, longest), &err), NPMD_OK);
    assert_int_equal(file_output_check("/dev/null", &err), NPMD_OK);
    assert_int_equal(file_output_check(in_folder(p, "nowhere/later.csv"), &err), NPMD_ERR_FILE);
    assert_int_equal(file_output_check(in_folder(p, "later/"), &err), NPMD_ERR_FILE);
    assert_int_equal(file_output_check(p->folder, &err), NPMD_ERR_FILE);
    assert_says(&err, "Is a directory");
    assert_int_equal(files_in(p->folder), before);
    assert_true(file_has_suffix("a/B.CSV", ".csv"));
    assert_false(file_has_suffix("csv", ".csv"));
}

/* ---- csv.c ----------------------------------------------------------------------------------------- */

static void csv_round_trip(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "trip.csv", "trip.tsv", "trip.txt",
                                         "trip.npy", "TRIP.CSV", "trip.txt.gz" };
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        for (size_t columns = 1; columns <= 4; columns++) {
            table t = { 0 };
            const char *path = in_folder(p, NAMES[k]);
            assert_int_equal(table_write(path, AWKWARD, AWKWARD_COUNT / columns, columns, NULL), NPMD_OK);
            assert_int_equal(table_read(path, &t, NULL), NPMD_OK);
            assert_int_equal(t.rows, AWKWARD_COUNT / columns);
            assert_int_equal(t.columns, columns);
            assert_memory_equal(t.data, AWKWARD, sizeof AWKWARD);
            assert_string_equal(t.path, path);
            table_free(&t);
        }
}

/* One text a case; all hold the rows (1, 2.5) and (-3, 4e2), the second on the line given. */
static void csv_dialects(void **state)
{
    place *p = *state;
    static const struct {
        const char *text;
        size_t line;
    } CASES[] = {
        { "1,2.5\n-3,4e2\n", 2 },
        { "1,2.5\n-3,4e2", 2 },
        { "1\t2.5\n-3\t4e2\n", 2 },
        { "1;2.5\n-3;4e2\n", 2 },
        { "  1  2.5 \n-3 \t 4e2\n", 2 },
        { "1 , 2.5\r\n -3,\t400.0\r\n", 2 },
        { "1,2.5\r-3,4e2\r", 2 },
        { "\xEF\xBB\xBF# a comment\n\n  \nphi,psi\n1,2.5\n# between\n-3,4e2 # behind\n\n", 7 },
        { "\xEF\xBB\xBFphi psi\n+1. .25e1\n-3 400", 3 },
        { "\"angle, first\",\"angle # 2\"\n\"1\",2.5\n-3,\"4E+2\"\n", 3 },
        { "angle, first\tangle, second\n1\t2.5\n-3\t4e2\n", 3 },
        { ",\n1,2.5\n-3,4e2\n", 3 },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        char where[1100], expected[1100];
        const char *path = put_text(p, "dialect.csv", CASES[k].text);
        if (table_read(path, &t, &err) != NPMD_OK)
            fail_msg("case %zu: %s", k, err.text);
        assert_int_equal(t.rows, 2);
        assert_int_equal(t.columns, 2);
        assert_true(t.data[0] == 1.0 && t.data[1] == 2.5 && t.data[2] == -3.0 && t.data[3] == 400.0);
        table_where(&t, 1, where, sizeof where);
        snprintf(expected, sizeof expected, "%s line %zu", path, CASES[k].line);
        assert_string_equal(where, expected);
        table_free(&t);
    }
}

static void csv_errors(void **state)
{
    place *p = *state;
    static const struct {
        const char *text, *words;
    } CASES[] = {
        { "", "bad.csv is empty" },
        { "# only this\n\n", "bad.csv is empty: it holds no row of numbers" },
        { "x,y\n", "is empty: it holds no row of numbers" },
        { "1,2\n3,nan\n", "bad.csv line 2, column 2: NaN where a finite number was expected" },
        { "-NaN,NaN\n", "line 1, column 1: NaN" },
        { "x\n1\n\n-Infinity\n", "line 4, column 1: infinity where a finite number was expected" },
        { "1\ninf\n", "line 2, column 1: infinity" },
        { "1\n1e999\n", "line 2, column 1: '1e999' is too large for a double" },
        { "1,2\n3\n", "line 2: 1 field found, 2 expected" },
        { "1,2\n3,4,5\n", "line 2: 3 fields found, 2 expected" },
        { "x,y,z\n3,4\n", "line 2: 2 fields found, 3 expected" },
        { "1,2\n3,4,\n", "line 2: 3 fields found, 2 expected" },
        { "1,2\n3,\n", "line 2, column 2: empty field" },
        { "id,0.5\n", "line 1, column 1: text 'id' where a number was expected" },
        { "x,y\n1,2\nx,y\n", "line 3, column 1: text 'x'" },
        { "1;2\n1,5;2\n", "line 2, column 1: text '1,5'" },
        { "1\n0x10\n", "text '0x10'" },
        { "1\n1e\n", "text '1e'" },
        { "1\n.\n", "text '.'" },
        { "1\n1d5\n", "text '1d5'" },
        { "1\n\x1b[31mred\n", "text '?[31mred'" },
        { "1\n0123456789a0123456789a0123456789a0123456789a\n",
          "text '0123456789a0123456789a0123456789a0123456...'" },
        { "1\n\"2\n", "text '\"2'" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        const char *path = put_text(p, "bad.csv", CASES[k].text);
        assert_int_equal(csv_read(path, &t, &err), NPMD_ERR_FORMAT);
        assert_int_equal(err.status, NPMD_ERR_FORMAT);
        assert_says(&err, CASES[k].words);
        assert_null(t.data);
    }
    table t = { 0 };
    npmd_error err = { 0 };
    assert_int_equal(csv_read(put_bytes(p, "bad.csv", "1,2\n3,\0004\n", 10), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "line 2: NUL byte (byte 7)");
    assert_int_equal(csv_read(in_folder(p, "absent.csv"), &t, &err), NPMD_ERR_FILE);
    assert_int_equal(table_read(in_folder(p, "points.xls"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "unknown suffix");
    assert_int_equal(table_write(in_folder(p, "points.xls"), AWKWARD, 1, 1, &err), NPMD_ERR_ARGUMENT);
}

static void csv_long_line(void **state)
{
    place *p = *state;
    enum { COLUMNS = 50000 };
    table t = { 0 };
    double *a = calloc(2 * COLUMNS, sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < 2 * COLUMNS; i++)
        a[i] = 1.0 / (1.0 + i);
    const char *path = in_folder(p, "wide.csv");
    assert_int_equal(csv_write(path, ',', a, 2, COLUMNS, NULL), NPMD_OK);
    assert_int_equal(csv_read(path, &t, NULL), NPMD_OK);
    assert_int_equal(t.columns, COLUMNS);
    assert_memory_equal(t.data, a, 2 * COLUMNS * sizeof *a);
    table_free(&t);
    free(a);
}

/* A host program may have set a locale with a decimal comma; files do not follow it. */
static void csv_ignores_locale(void **state)
{
    static const char *const LOCALES[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR", "ps_AF.UTF-8" };
    place *p = *state;
    bool set = false;
    for (size_t k = 0; k < sizeof LOCALES / sizeof LOCALES[0] && !set; k++)
        set = setlocale(LC_NUMERIC, LOCALES[k]) != NULL;
    if (!set)
        skip(); /* none is installed here */
    table t = { 0 };
    const double x = 1234.5;
    const char *path = in_folder(p, "locale.csv"), *plain = put_text(p, "plain.csv", "1234.5\n");
    const npmd_status written = csv_write(path, ',', &x, 1, 1, NULL), got = csv_read(path, &t, NULL);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(written, NPMD_OK);
    assert_int_equal(got, NPMD_OK);
    assert_true(t.data[0] == x);
    assert_same_bytes(path, plain);
    table_free(&t);
}

/* ---- gzip.c ---------------------------------------------------------------------------------------- */

/* "1,2.5\n" and "-3,4e2\n", each a member made by gzip -n. */
static const unsigned char MEMBERS[2][32] = {
    { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x33, 0xd4, 0x31,
      0xd2, 0x33, 0xe5, 0x02, 0x00, 0xc6, 0xc7, 0xc0, 0x50, 0x06, 0x00, 0x00, 0x00 },
    { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xd3, 0x35, 0xd6, 0x31,
      0x49, 0x35, 0xe2, 0x02, 0x00, 0x76, 0xeb, 0x29, 0x89, 0x07, 0x00, 0x00, 0x00 },
};
static const size_t MEMBER_SIZE[2] = { 26, 27 };

static void gzip_reads_members(void **state)
{
    place *p = *state;
    unsigned char both[64];
    memcpy(both, MEMBERS[0], MEMBER_SIZE[0]);
    memcpy(both + MEMBER_SIZE[0], MEMBERS[1], MEMBER_SIZE[1]);
    const size_t size = MEMBER_SIZE[0] + MEMBER_SIZE[1];
    static const char *const NAMES[] = { "two.csv.gz", "two.tsv.gz", "TWO.TXT.GZ",
                                         "two.csv" }; /* known by its bytes */
    for (int k = 0; k < 4; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        if (table_read(put_bytes(p, NAMES[k], both, size), &t, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        assert_true(t.rows == 2 && t.columns == 2);
        assert_true(t.data[0] == 1.0 && t.data[1] == 2.5 && t.data[2] == -3.0 && t.data[3] == 400.0);
        table_free(&t);
    }
    for (size_t cut = 1; cut < size; cut++) {
        table t = { 0 };
        npmd_error err = { 0 };
        const npmd_status st = table_read(put_bytes(p, "cut.csv.gz", both, cut), &t, &err);
        assert_int_equal(st, cut == MEMBER_SIZE[0] ? NPMD_OK : NPMD_ERR_FORMAT); /* one member is a file */
        assert_true(st == NPMD_OK || strstr(err.text, "cut.csv.gz is") != NULL);
        table_free(&t);
    }
}

static void gzip_errors(void **state)
{
    place *p = *state;
    table t = { 0 };
    npmd_error err = { 0 };
    unsigned char bytes[64] = { 0 };
    const size_t size = MEMBER_SIZE[0];
    memcpy(bytes, MEMBERS[0], size);
    assert_int_equal(table_read(put_bytes(p, "bad.csv.gz", bytes, size - 1), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is truncated: its gzip data end too soon");
    assert_int_equal(table_read(put_bytes(p, "bad.csv.gz", bytes, size + 1), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is damaged");
    bytes[size - 5] ^= 1; /* the checksum */
    assert_int_equal(table_read(put_bytes(p, "bad.csv.gz", bytes, size), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is damaged");
    bytes[size - 5] ^= 1;
    bytes[size - 1] = 255; /* the length claims gigabytes */
    assert_int_equal(table_read(put_bytes(p, "bad.csv.gz", bytes, size), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is damaged");
    assert_int_equal(table_read(put_text(p, "bad.csv.gz", "1,2\n"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is no gzip file: it does not begin with the bytes 1f 8b");
    assert_int_equal(table_read(put_text(p, "bad.csv.gz", ""), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.csv.gz is empty");
    assert_int_equal(table_read(in_folder(p, "bad.npy.gz"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "unknown suffix");
    assert_null(t.data);
}

/* More than any buffer inside; the same numbers give the same bytes. */
static void gzip_round_trip(void **state)
{
    place *p = *state;
    enum { ROWS = 60000 };
    table t = { 0 };
    npmd_error err = { 0 };
    double *a = calloc(2 * ROWS, sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < 2 * ROWS; i++)
        a[i] = sin(i);
    const char *path = in_folder(p, "many.tsv.gz"), *again = in_folder(p, "again.tsv.gz");
    assert_int_equal(table_write(path, a, ROWS, 2, &err), NPMD_OK);
    assert_int_equal(table_write(again, a, ROWS, 2, &err), NPMD_OK);
    assert_same_bytes(path, again);
    assert_int_equal(table_read(path, &t, &err), NPMD_OK);
    assert_true(t.rows == ROWS && t.columns == 2);
    assert_memory_equal(t.data, a, 2 * ROWS * sizeof *a);
    table_free(&t);
    free(a);
    file_bytes b = { 0 };
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_true(b.size < ROWS * 2 * 12 && b.data[0] == 0x1f && b.data[1] == 0x8b);
    file_bytes_free(&b);
}

/* ---- table.c --------------------------------------------------------------------------------------- */

/* Rows in any portions give the bytes of the whole. */
static void table_writer_streams(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "rows.csv", "rows.tsv", "rows.txt", "rows.npy" };
    npmd_error err = { 0 };
    for (size_t k = 0; k < 4; k++) {
        table_writer *w = NULL;
        const char *path = in_folder(p, NAMES[k]), *whole = in_folder(p, k < 3 ? "whole.csv" : "whole.npy");
        assert_int_equal(table_writer_open(path, 2, 6, &w, &err), NPMD_OK);
        assert_int_equal(table_writer_put(w, AWKWARD, 1, &err), NPMD_OK);
        assert_int_equal(table_writer_put(w, AWKWARD, 0, &err), NPMD_OK);
        assert_int_equal(table_writer_put(w, AWKWARD + 2, 5, &err), NPMD_OK);
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_equal(table_writer_commit(w, &err), NPMD_OK);
        assert_int_equal(k < 3 ? csv_write(whole, ",\t "[k], AWKWARD, 6, 2, &err)
                               : npy_write(whole, AWKWARD, 6, 2, &err),
                         NPMD_OK);
        assert_same_bytes(path, whole);
    }
}

static void table_writer_counts(void **state)
{
    place *p = *state;
    table_writer *w = NULL;
    table t = { 0 };
    npmd_error err = { 0 };
    const char *path = in_folder(p, "few.npy"), *text = in_folder(p, "any.csv");
    const size_t before = files_in(p->folder);
    assert_int_equal(table_writer_open(path, 2, 3, &w, &err), NPMD_OK);
    assert_int_equal(table_writer_put(w, AWKWARD, 2, &err), NPMD_OK);
    assert_int_equal(table_writer_put(w, AWKWARD, 2, &err), NPMD_ERR_SHAPE);
    assert_says(&err, "few.npy: 3 rows were announced, more came");
    assert_int_equal(table_writer_commit(w, &err), NPMD_ERR_SHAPE);
    assert_says(&err, "few.npy: 3 rows were announced, 2 came");
    assert_int_equal(table_writer_open(path, 2, TABLE_ROWS_UNKNOWN, &w, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "which must be known");
    assert_int_equal(table_writer_open(in_folder(p, "few.xls"), 2, 3, &w, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(table_writer_open(path, 2, 3, &w, &err), NPMD_OK);
    table_writer_abandon(w);
    table_writer_abandon(NULL);
    assert_int_equal(files_in(p->folder), before);
    assert_int_equal(table_writer_open(text, 2, TABLE_ROWS_UNKNOWN, &w, &err), NPMD_OK);
    assert_int_equal(table_writer_put(w, AWKWARD, 2, &err), NPMD_OK);
    assert_int_equal(table_writer_put(w, AWKWARD + 4, 1, &err), NPMD_OK);
    assert_int_equal(table_writer_commit(w, &err), NPMD_OK);
    assert_int_equal(table_read(text, &t, &err), NPMD_OK);
    assert_true(t.rows == 3 && t.columns == 2);
    table_free(&t);
}

/* ---- npy.c ----------------------------------------------------------------------------------------- */

/* A file of the given version with any header and data; returns its path. */
static const char *put_npy(place *p, int version, const char *header, const void *data, size_t size)
{
    unsigned char bytes[2048] = { 0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0 };
    const size_t length = strlen(header), start = version == 1 ? 10 : 12;
    assert_true(start + length + size <= sizeof bytes);
    bytes[8] = (unsigned char)(length & 255);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + start, header, length);
    if (size > 0)
        memcpy(bytes + start + length, data, size);
    return put_bytes(p, "made.npy", bytes, start + length + size);
}

static void npy_writes_as_numpy(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    const double a[6] = { 1, 2, 3, 4, 5, 6 };
    const char *path = in_folder(p, "made.npy");
    assert_int_equal(npy_write(path, a, 3, 2, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_int_equal(b.size, 128 + sizeof a); /* NumPy's own size */
    static const char START[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, "
                                "'shape': (3, 2), }   ";
    assert_memory_equal(b.data, START, sizeof START - 1);
    assert_int_equal(b.data[127], '\n');
    file_bytes_free(&b);
    assert_int_equal(npy_write(path, a, 6, 1, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_non_null(strstr((const char *)b.data + 10, "'shape': (6,), }"));
    file_bytes_free(&b);
}

static void npy_reads_all_kinds(void **state)
{
    place *p = *state;
    const double d[6] = { 0.1, -2, 3, 4, 5, 1e300 };
    const float f[6] = { 0.1F, -2, 3, 4, 5, 1e30F };
    static const struct {
        int version;
        const char *header;
        size_t rows, columns;
        bool single;
    } CASES[] = {
        { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }  \n", 3, 2, false },
        { 2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", 2, 3, false },
        { 3, "{\"shape\":(6L,),\"fortran_order\":False,\"descr\":\"<f8\"}\n", 6, 1, false },
        { 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (6, 1), }", 6, 1, false },
        { 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 6), }", 1, 6, false },
        { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 3, 2, true },
        { 2, "{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", 6, 1, true },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        table t = { 0 };
        npmd_error err = { 0 };
        const char *path = put_npy(p, CASES[k].version, CASES[k].header,
                                   CASES[k].single ? (const void *)f : d,
                                   CASES[k].single ? sizeof f : sizeof d);
        if (npy_read(path, &t, &err) != NPMD_OK)
            fail_msg("case %zu: %s", k, err.text);
        assert_int_equal(t.rows, CASES[k].rows);
        assert_int_equal(t.columns, CASES[k].columns);
        assert_null(t.line);
        for (int i = 0; i < 6; i++)
            assert_true(t.data[i] == (CASES[k].single ? (double)f[i] : d[i]));
        table_free(&t);
    }
    double *data = NULL;
    size_t shape[NPY_MAX_DIMENSIONS];
    int dimensions = 0;
    const char *path = put_npy(p, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3, 2), }", d,
                               sizeof d);
    assert_int_equal(npy_read_array(path, &data, shape, &dimensions, NULL), NPMD_OK);
    assert_int_equal(dimensions, 3);
    assert_true(shape[0] == 1 && shape[1] == 3 && shape[2] == 2);
    assert_memory_equal(data, d, sizeof d);
    memory_free(data);
}

#define PLAIN "{'descr': '<f8', 'fortran_order': False, 'shape': "

static void npy_errors(void **state)
{
    place *p = *state;
    double d[6] = { 1, 2, 3, 4, 5, 6 };
    static const struct {
        int version;
        const char *header;
        size_t bytes;
        const char *words;
    } CASES[] = {
        { 1, PLAIN "(1152921504606846976, 2), }", 48,
          "header says 1152921504606846976 x 2 of 8 bytes each, but 48 bytes follow" },
        { 1, PLAIN "(4294967296, 4294967296), }", 48,
          "header says 4294967296 x 4294967296" }, /* product 2^64 */
        { 1, PLAIN "(2305843009213693952,), }", 0,
          "header says 2305843009213693952 of 8 bytes each, but 0 bytes follow" },
        { 1, PLAIN "(99999999999999999999, 2), }", 48, "a size below 2^64" },
        { 1, PLAIN "(3, 2), }", 47, "header says 3 x 2 of 8 bytes each, but 47 bytes follow" },
        { 1, PLAIN "(3, 2), }", 40, "but 40 bytes follow" },
        { 1, PLAIN "(2, 2), }", 48, "header says 2 x 2 of 8 bytes each, but 48 bytes follow" },
        { 1, PLAIN "(0, 2), }", 0, "is empty: header says 0 x 2" },
        { 1, PLAIN "(), }", 8, "single number" },
        { 1, PLAIN "(3, 2, 1), }", 48, "has 3 dimensions, expected rows and columns" },
        { 1, PLAIN "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }", 8, "more than 16 dimensions" },
        { 1, PLAIN "(6), }", 48, "',' of a tuple" },
        { 1, PLAIN "(-6,), }", 48, "a size was expected" },
        { 1, PLAIN "(3 2), }", 48, "',' or ')'" },
        { 1, PLAIN "(3, 2)", 0, "',' or '}'" },
        { 1, PLAIN "(3, 2), } x", 48, "its end was expected" },
        { 1, PLAIN "(3, 2), 'shape': (3, 2)}", 48, "once each" },
        { 1, PLAIN "(3, 2), 'extra': 1}", 48, "once each" },
        { 1, "{'descr': '<f8', 'shape': (3, 2), }", 48, "no 'fortran_order'" },
        { 1, "{'descr': '<f8', 'fortran_order': true, 'shape': (3, 2), }", 48, "True or False" },
        { 1, "{'descr': '<f8, 'fortran_order': False", 0, "where" },
        { 1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (6,), }", 48, "a quoted string" },
        { 1, "{'descr': '>f8', 'fortran_order': False, 'shape': (6,), }", 48,
          "type '>f8', expected '<f8' or '<f4'" },
        { 1, "{'descr': '|f8', 'fortran_order': False, 'shape': (6,), }", 48, "type '|f8'" },
        { 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (6,), }", 48, "type '<i8'" },
        { 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", 48, "np.ascontiguousarray" },
        { 1, "", 0, "'{' was expected" },
        { 4, PLAIN "(3, 2), }", 48, "version 4.0, expected 1.0, 2.0 or 3.0" },
    };
    table t = { 0 };
    npmd_error err = { 0 };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        const char *path = put_npy(p, CASES[k].version, CASES[k].header, d, CASES[k].bytes);
        assert_int_equal(npy_read(path, &t, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "made.npy");
        assert_says(&err, CASES[k].words);
        assert_null(t.data);
    }
    d[3] = NAN;
    assert_int_equal(npy_read(put_npy(p, 1, PLAIN "(3, 2), }", d, 48), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "made.npy row 2, column 2: NaN where a finite number was expected");
    assert_int_equal(npy_read(put_npy(p, 1, PLAIN "(6,), }", d, 48), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "row 4, column 1: NaN");
    d[3] = -INFINITY;
    assert_int_equal(npy_read(put_npy(p, 1, PLAIN "(2, 3), }", d, 48), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "row 2, column 1: infinity");
    assert_int_equal(npy_read(put_npy(p, 1, PLAIN "(3, 1, 2), }", d, 48), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "entry 2 x 1 x 2, counted from 1: infinity");
    assert_int_equal(npy_read(put_text(p, "made.npy", "1,2\n"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "not an .npy file");
    assert_int_equal(npy_read(put_text(p, "made.npy", ""), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "is empty");
    assert_int_equal(npy_read(put_bytes(p, "made.npy", "\x93NUMPY\x01\0\xff", 9), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "truncated");
    assert_int_equal(npy_read(put_bytes(p, "made.npy", "\x93NUMPY\x01\0\xff\xff{", 11), &t, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "truncated: its header should have 65535 bytes, but 1 follow");
    assert_int_equal(npy_read(in_folder(p, "absent.npy"), &t, &err), NPMD_ERR_FILE);
}

/* Every beginning of a good file is refused, without a fault that a sanitizer would see. */
static void npy_truncated_anywhere(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    const char *path = in_folder(p, "made.npy");
    assert_int_equal(npy_write(path, AWKWARD, AWKWARD_COUNT / 2, 2, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    for (size_t size = 0; size < b.size; size++) {
        table t = { 0 };
        assert_int_equal(npy_read(put_bytes(p, "cut.npy", b.data, size), &t, NULL), NPMD_ERR_FORMAT);
    }
    file_bytes_free(&b);
}

/* The bytes through a pipe, whose size no one knows before its end. */
static npmd_status npy_read_piped(const void *bytes, size_t size, table *t, npmd_error *err)
{
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size); /* fits the pipe */
    assert_int_equal(close(ends[1]), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const npmd_status st = npy_read(path, t, err);
    assert_int_equal(close(ends[0]), 0);
    return st;
}

static void npy_reads_a_pipe(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    table t = { 0 };
    npmd_error err = { 0 };
    const char *path = in_folder(p, "made.npy");
    assert_int_equal(npy_write(path, AWKWARD, AWKWARD_COUNT / 2, 2, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    assert_int_equal(npy_read_piped(b.data, b.size, &t, &err), NPMD_OK);
    assert_true(t.rows == AWKWARD_COUNT / 2 && t.columns == 2);
    assert_memory_equal(t.data, AWKWARD, sizeof AWKWARD);
    table_free(&t);
    assert_int_equal(npy_read_piped(b.data, b.size + 1, &t, &err), NPMD_ERR_FORMAT); /* the closing zero */
    assert_says(&err, "header says 6 x 2 of 8 bytes each, but more than 96 bytes follow");
    assert_int_equal(npy_read_piped(b.data, b.size - 1, &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "but 95 bytes follow");
    file_bytes_free(&b);
    static const char *const CLAIMS[] = { PLAIN "(1152921504606846976,), }",
                                          PLAIN "(4294967296, 4294967296), }" };
    for (int k = 0; k < 2; k++) { /* a claim takes no memory */
        path = put_npy(p, 1, CLAIMS[k], AWKWARD, sizeof AWKWARD);
        assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
        assert_int_equal(npy_read_piped(b.data, b.size, &t, &err), NPMD_ERR_FORMAT);
        assert_says(&err, "but 96 bytes follow");
        file_bytes_free(&b);
    }
}

/* More numbers than are read at a time, of both widths. */
static void npy_reads_in_pieces(void **state)
{
    place *p = *state;
    enum { COUNT = 200001 };
    table t = { 0 };
    npmd_error err = { 0 };
    double *a = calloc(COUNT, sizeof *a);
    float *f = calloc(COUNT, sizeof *f);
    assert_true(a != NULL && f != NULL);
    for (int i = 0; i < COUNT; i++)
        a[i] = (double)(f[i] = 1.0F / (1.0F + (float)i));
    const char *path = in_folder(p, "long.npy");
    assert_int_equal(npy_write(path, a, COUNT, 1, NULL), NPMD_OK);
    assert_int_equal(npy_read(path, &t, NULL), NPMD_OK);
    assert_int_equal(t.rows, COUNT);
    assert_memory_equal(t.data, a, COUNT * sizeof *a);
    table_free(&t);
    f[COUNT - 1] = NAN;
    path = put_npy(p, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (200001,), }", NULL, 0);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(f, sizeof *f, COUNT, file), COUNT);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(npy_read(path, &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "made.npy row 200001, column 1: NaN");
    free(a);
    free(f);
}

static void npy_maps(void **state)
{
    place *p = *state;
    npy_map m = { 0 };
    npmd_error err = { 0 };
    double d[6] = { 0.1, -2, NAN, 4, 5, 1e300 }; /* NaN: no pass is made over the numbers */
    const float f[6] = { 0.1F, -2, 3, 4, 5, 1e30F };
    assert_int_equal(npy_map_open(put_npy(p, 1, PLAIN "(3, 2), }", d, sizeof d), &m, &err), NPMD_OK);
    assert_true(m.count == 3 && m.columns == 2 && !m.f4);
    assert_int_not_equal((uintptr_t)m.rows % sizeof *d, 0); /* this header is not padded as NumPy pads it */
    assert_memory_equal(m.rows, d, sizeof d);
    npy_map_close(&m);
    npy_map_close(&m);
    npy_map_close(NULL);
    const char *path = put_npy(p, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", f,
                               sizeof f);
    assert_int_equal(npy_map_open(path, &m, &err), NPMD_OK);
    assert_true(m.count == 6 && m.columns == 1 && m.f4);
    assert_memory_equal(m.rows, f, sizeof f);
    npy_map_close(&m);
    static const struct {
        const char *header;
        size_t bytes;
        const char *words;
    } CASES[] = {
        { PLAIN "(3, 2), }", 47, "header says 3 x 2 of 8 bytes each, but 47 bytes follow" },
        { PLAIN "(2, 2), }", 48, "header says 2 x 2 of 8 bytes each, but 48 bytes follow" },
        { PLAIN "(1152921504606846976, 2), }", 0, "but 0 bytes follow" },
        { PLAIN "(4294967296, 4294967296), }", 48, "but 48 bytes follow" },
        { PLAIN "(3, 1, 2), }", 48, "has 3 dimensions" },
        { PLAIN "(0,), }", 0, "is empty" },
        { "{'descr': '>f8', 'fortran_order': False, 'shape': (6,), }", 48, "type '>f8'" },
        { "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", 48, "Fortran order" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        path = put_npy(p, 1, CASES[k].header, d, CASES[k].bytes);
        assert_int_equal(npy_map_open(path, &m, &err), NPMD_ERR_FORMAT);
        assert_says(&err, CASES[k].words);
        assert_null(m.base);
    }
    assert_int_equal(npy_map_open(put_text(p, "made.npy", ""), &m, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "is empty");
    assert_int_equal(npy_map_open("/dev/null", &m, &err), NPMD_ERR_FILE);
    assert_says(&err, "cannot map /dev/null: it is no ordinary file");
    assert_int_equal(npy_map_open(in_folder(p, "absent.npy"), &m, &err), NPMD_ERR_FILE);
    assert_int_equal(npy_map_open(p->folder, &m, &err), NPMD_ERR_FILE);
    assert_says(&err, "Is a directory");
    const unsigned char huge[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 255, 255, 255, 255, '{' };
    assert_int_equal(npy_map_open(put_bytes(p, "made.npy", huge, sizeof huge), &m, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "its header should have 4294967295 bytes, at most 1048576 expected");
}

/* ---- mat.c: files written by SciPy, see tests/fixtures/mat/make.py --------------------------------- */

#define MAT "tests/fixtures/mat/" /* tests run from the root of the source tree */
static const double MAT_X[6] = { 0.1, -2.0, 1.0 / 3.0, 4.0, 5e-324, 1e300 };
static const double MAT_N[6] = { 1, 2, 3, 4, 5, 100 };

static void assert_table(const char *path, size_t rows, size_t columns, const double *a)
{
    table t = { 0 };
    npmd_error err = { 0 };
    if (table_read(path, &t, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_true(t.rows == rows && t.columns == columns);
    assert_memory_equal(t.data, a, rows * columns * sizeof *a);
    assert_string_equal(t.path, path);
    assert_null(t.line);
    table_free(&t);
}

static void mat_reads_all_classes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double least; /* of the type */
    } CLASSES[] = { { "i1", -128 },        { "u1", 0 }, { "i2", -32768 },  { "u2", 0 },
                    { "i4", -2147483648 }, { "u4", 0 }, { "i8", -0x1p63 }, { "u8", 0 } };
    double singles[6];
    for (int i = 0; i < 6; i++)
        singles[i] = (double)(float)(MAT_X[i] < 1e30 ? MAT_X[i] : 1e30);
    for (int zipped = 0; zipped < 2; zipped++) {
        const char *file = zipped ? MAT "zipped.mat" : MAT "plain.mat";
        char path[128];
        snprintf(path, sizeof path, "%s:x", file);
        assert_table(path, 3, 2, MAT_X);
        snprintf(path, sizeof path, "%s:single", file);
        assert_table(path, 3, 2, singles);
        snprintf(path, sizeof path, "%s:row", file);
        assert_table(path, 1, 3, MAT_N);
        for (size_t k = 0; k < sizeof CLASSES / sizeof CLASSES[0]; k++) {
            snprintf(path, sizeof path, "%s:%s", file, CLASSES[k].name);
            assert_table(path, 2, 3, MAT_N);
            snprintf(path, sizeof path, "%s:%s_least", file, CLASSES[k].name);
            assert_table(path, 1, 1, &CLASSES[k].least);
        }
    }
    assert_table(MAT "one.mat", 3, 2, MAT_X); /* the only matrix needs no name */
    assert_table(MAT "one_zipped.mat", 3, 2, MAT_X);
}

static void mat_reads_other_layouts(void **state)
{
    (void)state;
    const double negative[6] = { -1, -2, -3, -4, -5, -100 };
    assert_table(MAT "big_endian.mat:x", 3, 2, MAT_X);
    assert_table(MAT "big_endian.mat:single", 2, 3, MAT_N);
    assert_table(MAT "big_endian.mat:long", 2, 3, negative);
    assert_table(MAT "big_endian.mat:two", 1, 2, (const double[]){ -2, 300 });
    assert_table(MAT "packed.mat:n", 2, 3, MAT_N);
    assert_table(MAT "packed.mat:m", 2, 2, (const double[]){ 1, -2, 3, 4 });
}

static void mat_errors(void **state)
{
    place *p = *state;
    static const struct {
        const char *path, *words;
    } CASES[] = {
        { "plain.mat:y",
          "plain.mat holds no variable 'y', but x (3 x 2 double), single (3 x 2 single), i1 (2 x 3 int8)" },
        { "plain.mat:y", ", ..." },
        { "plain.mat:", "holds no variable ''" },
        { "plain.mat", "plain.mat holds several matrices, name one as in FILE.mat:NAME: x (3 x 2 double)" },
        { "words.mat",
          "words.mat holds no matrix of real numbers, but label (1 x 9 char), cell (1 x 2 cell)" },
        { "plain.mat:nan", "plain.mat:nan row 2, column 2: NaN where a finite number was expected" },
        { "zipped.mat:inf", "zipped.mat:inf row 1, column 3: infinity where a finite number was expected" },
        { "plain.mat:complex", "'complex' is complex, expected real numbers" },
        { "zipped.mat:sparse", "'sparse' is sparse, expected a full matrix: save full(sparse)" },
        { "plain.mat:text", "'text' is of class char, expected a matrix of numbers" },
        { "plain.mat:cell", "'cell' is of class cell" },
        { "zipped.mat:structure", "'structure' is of class struct" },
        { "plain.mat:truth", "'truth' is of class logical" },
        { "plain.mat:cube", "'cube' has 3 dimensions, expected rows and columns" },
        { "plain.mat:empty", "'empty' is empty: 0 x 2" },
        { "version4.mat", "version4.mat is a MAT-file of version 4, expected 5: save it with -v7" },
        { "version73.mat:x", "version73.mat is a MAT-file of version 7.3, expected 5: save it with -v7" },
    };
    table t = { 0 };
    npmd_error err = { 0 };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        char path[128];
        snprintf(path, sizeof path, MAT "%s", CASES[k].path);
        assert_int_equal(table_read(path, &t, &err), NPMD_ERR_FORMAT);
        assert_says(&err, CASES[k].words);
        assert_null(t.data);
    }
    assert_int_equal(table_read(put_text(p, "bad.mat", ""), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.mat is empty");
    assert_int_equal(table_read(put_text(p, "bad.mat", "1,2\n"), &t, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "bad.mat is no MAT-file, or truncated");
    assert_int_equal(table_read(in_folder(p, "absent.mat"), &t, &err), NPMD_ERR_FILE);
    assert_int_equal(table_read(in_folder(p, "absent.mat:x"), &t, &err), NPMD_ERR_FILE);
    assert_says(&err, "absent.mat: No such file");
    assert_int_equal(table_write(in_folder(p, "bad.mat"), AWKWARD, 1, 1, &err), NPMD_ERR_ARGUMENT);
}

/* A file with exactly the name wins over a variable of a file. */
static void mat_colons(void **state)
{
    place *p = *state;
    file_bytes b = { 0 };
    const double x = 5.0;
    char path[1100];
    assert_int_equal(file_read(MAT "one.mat", &b, NULL), NPMD_OK);
    assert_table(put_bytes(p, "a:b.mat", b.data, b.size), 3, 2, MAT_X);
    snprintf(path, sizeof path, "%s:x", in_folder(p, "a:b.mat"));
    assert_table(path, 3, 2, MAT_X);
    assert_table(put_bytes(p, "a:b.mat:x.mat", b.data, b.size), 3, 2, MAT_X);
    const char *text = in_folder(p, "a:b.mat:x.csv");
    assert_int_equal(csv_write(text, ',', &x, 1, 1, NULL), NPMD_OK);
    table t = { 0 };
    assert_int_equal(table_read(text, &t, NULL), NPMD_OK);
    assert_true(t.rows == 1 && t.data[0] == 5.0);
    table_free(&t);
    file_bytes_free(&b);
}

/* Every beginning of a good file is refused; a changed bit of a zipped one is found or changes nothing. */
static void mat_damaged_anywhere(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { MAT "one.mat", MAT "one_zipped.mat" };
    for (int k = 0; k < 2; k++) {
        file_bytes b = { 0 };
        table t = { 0 };
        npmd_error err = { 0 };
        assert_int_equal(file_read(NAMES[k], &b, NULL), NPMD_OK);
        for (size_t size = 0; size < b.size; size++) {
            assert_int_equal(table_read(put_bytes(p, "cut.mat", b.data, size), &t, &err), NPMD_ERR_FORMAT);
            assert_says(&err, "cut.mat");
        }
        for (size_t bit = 8 * 128; bit < 8 * b.size; bit++) {
            b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            const char *path = put_bytes(p, "cut.mat", b.data, b.size);
            if (table_read(path, &t, &err) == NPMD_OK && k == 1)
                assert_memory_equal(t.data, MAT_X, sizeof MAT_X);
            table_free(&t);
            b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        file_bytes_free(&b);
    }
}

/* One number, of which the file says what it wants. */
static void mat_claims_take_no_memory(void **state)
{
    place *p = *state;
    static const struct {
        uint32_t element, rows, columns, type, size;
        const char *words;
    } CASES[] = {
        { 56, 1, 1, 9, 8, NULL },
        { 56, 0x7fffffff, 0x7fffffff, 9, 8, "2147483647 x 2147483647 numbers, but 8 bytes of type 9" },
        { 56, 0x7fffffff, 2, 2, 0xfffffffe, "a part of a variable claims 4294967294 bytes, at most 8 fit" },
        { 0xfffffff0, 0x7fffffff, 1, 9, 0xfffffff0, "should have 4294967280 bytes, but 56 follow" },
        { 56, 0x80000000, 1, 9, 8, "negative size" },
        { 56, 1, 1, 10, 8, "8 bytes of type 10" },
        { 56, 1, 1, 9, 7, "7 bytes of type 9" },
        { 40, 1, 1, 9, 8, "the element at byte 177 is no variable (type 9, 8 bytes)" },
        { 36, 1, 1, 9, 8, "a variable ends within one of its parts" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        const uint32_t words[] = { 14,
                                   CASES[k].element,
                                   6,
                                   8,
                                   6,
                                   0,
                                   5,
                                   8,
                                   CASES[k].rows,
                                   CASES[k].columns,
                                   1u << 16 | 1,
                                   'x',
                                   CASES[k].type,
                                   CASES[k].size,
                                   0,
                                   0x3ff00000 };
        unsigned char bytes[128 + sizeof words] = { 0 };
        table t = { 0 };
        npmd_error err = { 0 };
        memcpy(bytes + 124, "\0\1IM", 4);
        memcpy(bytes + 128, words, sizeof words);
        const npmd_status st = table_read(put_bytes(p, "claim.mat", bytes, sizeof bytes), &t, &err);
        assert_int_equal(st, CASES[k].words == NULL ? NPMD_OK : NPMD_ERR_FORMAT);
        if (CASES[k].words != NULL)
            assert_says(&err, CASES[k].words);
        else
            assert_true(t.rows == 1 && t.columns == 1 && t.data[0] == 1.0);
        table_free(&t);
    }
}

/* ---- safetensors.c --------------------------------------------------------------------------------- */

static const float SINGLES[3] = { 0.1F, -2.0F, 3e38F };
static const int32_t INTEGERS[2][2] = { { INT32_MIN, -1 }, { 0, INT32_MAX } };
static const int64_t LONGS[1] = { INT64_MIN };
#define FACTS "{\"version\": 1, \"words\": \"a \\\"quoted\\\" \\u00e9\"}"

static void record_make(record *rec)
{
    *rec = (record){ 0 };
    assert_int_equal(memory_text(&rec->metadata, FACTS, NULL), NPMD_OK);
    assert_int_equal(record_add(rec, "singles", TENSOR_F32, 1, (const size_t[]){ 3 }, SINGLES, NULL),
                     NPMD_OK);
    assert_int_equal(record_add(rec, "doubles", TENSOR_F64, 3, (const size_t[]){ 3, 2, 2 }, AWKWARD, NULL),
                     NPMD_OK);
    assert_int_equal(record_add(rec, "integers", TENSOR_I32, 2, (const size_t[]){ 2, 2 }, INTEGERS, NULL),
                     NPMD_OK);
    assert_int_equal(record_add(rec, "long", TENSOR_I64, 0, NULL, LONGS, NULL), NPMD_OK);
    assert_int_equal(record_add(rec, "nothing", TENSOR_F64, 2, (const size_t[]){ 0, 5 }, NULL, NULL),
                     NPMD_OK);
}

static void record_round_trip(void **state)
{
    place *p = *state;
    record rec, back = { 0 };
    const tensor *t = NULL;
    npmd_error err = { 0 };
    const char *path = in_folder(p, "trip.safetensors"), *again = in_folder(p, "again.safetensors");
    record_make(&rec);
    assert_int_equal(record_write(path, &rec, &err), NPMD_OK);
    assert_int_equal(record_read(path, &back, &err), NPMD_OK);
    assert_int_equal(back.count, rec.count);
    assert_string_equal(back.metadata, FACTS);
    assert_int_equal(
        record_find(&back, path, "doubles", TENSOR_F64, 3, (const size_t[]){ 3, 0, 2 }, &t, &err), NPMD_OK);
    assert_memory_equal(t->data, AWKWARD, sizeof AWKWARD);
    assert_true(t->owned);
    assert_int_equal(record_find(&back, path, "singles", TENSOR_F32, 1, (const size_t[]){ 3 }, &t, &err),
                     NPMD_OK);
    assert_memory_equal(t->data, SINGLES, sizeof SINGLES);
    assert_int_equal(record_find(&back, path, "integers", TENSOR_I32, 2, (const size_t[]){ 2, 2 }, &t, &err),
                     NPMD_OK);
    assert_memory_equal(t->data, INTEGERS, sizeof INTEGERS);
    assert_int_equal(record_find(&back, path, "long", TENSOR_I64, 0, NULL, &t, &err), NPMD_OK);
    assert_memory_equal(t->data, LONGS, sizeof LONGS);
    assert_int_equal(record_find(&back, path, "nothing", TENSOR_F64, 2, (const size_t[]){ 0, 5 }, &t, &err),
                     NPMD_OK);
    assert_int_equal(record_write(again, &rec, &err), NPMD_OK); /* equal records are equal bytes */
    assert_same_bytes(path, again);
    record_free(&back);
    record_free(&rec);
    record_free(&rec);
}

/* The layout that other programs rely on: an aligned, padded header and gapless, aligned data. */
static void record_layout(void **state)
{
    place *p = *state;
    record rec;
    file_bytes b = { 0 };
    uint64_t length = 0;
    static const char HEADER[] =
        "{\"__metadata__\":{\"format\":\"neuropmd\",\"neuropmd\":\"{}\"},"
        "\"doubles\":{\"dtype\":\"F64\",\"shape\":[3,2,2],\"data_offsets\":[0,96]},"
        "\"long\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[96,104]},"
        "\"nothing\":{\"dtype\":\"F64\",\"shape\":[0,5],\"data_offsets\":[104,104]},"
        "\"singles\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[104,116]},"
        "\"integers\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[116,132]}}";
    const char *path = in_folder(p, "layout.safetensors");
    record_make(&rec);
    memory_free(rec.metadata);
    assert_int_equal(memory_text(&rec.metadata, "{}", NULL), NPMD_OK);
    assert_int_equal(record_write(path, &rec, NULL), NPMD_OK);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    memcpy(&length, b.data, 8);
    assert_int_equal(length % 8, 0);
    assert_int_equal(b.size, 8 + length + 132);
    assert_memory_equal(b.data + 8, HEADER, sizeof HEADER - 1);
    for (size_t i = 8 + sizeof HEADER - 1; i < 8 + length; i++)
        assert_int_equal(b.data[i], ' ');
    assert_memory_equal(b.data + 8 + length, AWKWARD, sizeof AWKWARD);
    assert_memory_equal(b.data + 8 + length + 104, SINGLES, sizeof SINGLES);
    file_bytes_free(&b);
    record_free(&rec);
}

static void record_find_errors(void **state)
{
    (void)state;
    record rec;
    const tensor *t = NULL;
    npmd_error err = { 0 };
    record_make(&rec);
    assert_int_equal(
        record_find(&rec, "m.safetensors", "weight", TENSOR_F64, 1, (const size_t[]){ 3 }, &t, &err),
        NPMD_ERR_FORMAT);
    assert_says(&err, "m.safetensors: tensor 'weight' is missing");
    assert_int_equal(record_find(&rec, "m", "singles", TENSOR_F64, 1, (const size_t[]){ 3 }, &t, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "tensor 'singles' is F32 (3), expected F64 (3)");
    assert_int_equal(record_find(&rec, "m", "integers", TENSOR_I32, 2, (const size_t[]){ 0, 3 }, &t, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "is I32 (2 x 2), expected I32 (any x 3)");
    assert_int_equal(record_find(&rec, "m", "long", TENSOR_I64, 1, (const size_t[]){ 1 }, &t, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "is I64 (a single number), expected I64 (1)");
    assert_null(t);
    assert_int_equal(record_add(&rec, "long", TENSOR_I64, 0, NULL, LONGS, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(record_add(&rec, "__metadata__", TENSOR_I64, 0, NULL, LONGS, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(record_add(&rec, "a name of sixty-four bytes is one byte too long for a tensor, sir",
                                TENSOR_I64, 0, NULL, LONGS, &err),
                     NPMD_ERR_ARGUMENT);
    assert_int_equal(rec.count, 5);
    record_free(&rec);
}

static const char *put_record(place *p, const char *header, size_t data_size)
{
    unsigned char bytes[2048] = { 0 };
    const uint64_t length = strlen(header);
    assert_true(8 + length + data_size <= sizeof bytes);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    return put_bytes(p, "made.safetensors", bytes, 8 + length + data_size);
}

#define OURS "{\"__metadata__\":{\"neuropmd\":\"{}\"}"
#define A_TENSOR(facts) OURS ",\"a\":{" facts "}}"

static void record_errors(void **state)
{
    place *p = *state;
    static const struct {
        const char *header;
        size_t bytes;
        const char *words;
    } CASES[] = {
        { "{}", 0, "is a safetensors file but not a neuropmd model" },
        { "{\"__metadata__\":{\"format\":\"pt\"},\"w\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,"
          "2]}}",
          2, "is a safetensors file but not a neuropmd model" },
        { "{\"__metadata__\":{\"neuropmd\":{}}}", 0, "no map from strings to strings" },
        { "{\"__metadata__\":{\"neuropmd\":\"{}\",\"n\":1}}", 0, "no map from strings to strings" },
        { "{\"__metadata__\":[]}", 0, "no map from strings to strings" },
        { OURS ",\"__metadata__\":{}}", 0, "no valid JSON" },
        { OURS, 0, "no valid JSON" },
        { OURS "} x", 0, "no valid JSON" },
        { "[]", 0, "does not begin with '{'" },
        { "", 0, "does not begin with '{'" },
        { OURS ",\"a\":1}", 0, "needs dtype, shape, data_offsets" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1]"), 0, "needs dtype, shape, data_offsets" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8],\"more\":1"), 8, "nothing else" },
        { A_TENSOR("\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]"), 2,
          "tensor 'a' has type 'F16', expected F64" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,8]"), 8, "has 5 dimensions" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[-1],\"data_offsets\":[0,8]"), 8, "no size" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1.0],\"data_offsets\":[0,8]"), 8, "no size" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[8,0]"), 8, "data_offsets are no pair" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8,16]"), 8,
          "data_offsets are no pair" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]"), 8,
          "ends at byte 16 of the data, but 8 bytes follow" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,8]"), 8,
          "is F64 (2), but its data_offsets hold 8 bytes" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1152921504606846976,16],\"data_offsets\":[0,8]"), 8,
          "hold 8 bytes" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]"), 0,
          "hold 0 bytes" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]"), 8,
          "no valid JSON" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[8,16]"), 16,
          "begins at byte 8 of the data, expected 0 (hole)" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]"), 16,
          "cover 8 bytes, but 16 follow" },
        { A_TENSOR("\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
                   "\"b\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[8,24]"),
          24, "tensor 'b' begins at byte 8 of the data, expected 16 (overlap)" },
        { OURS ",\"a name of sixty-four bytes is one byte too long for a tensor, sir\":{}}", 0,
          "longer than 63 bytes" },
    };
    record rec = { 0 };
    npmd_error err = { 0 };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        assert_int_equal(record_read(put_record(p, CASES[k].header, CASES[k].bytes), &rec, &err),
                         NPMD_ERR_FORMAT);
        assert_says(&err, "made.safetensors");
        assert_says(&err, CASES[k].words);
        assert_null(rec.tensors);
    }
    static const char STRANGER[] = A_TENSOR("\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[8,24]},"
                                            "\"b\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
                                            "\"c\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[8,8]");
    assert_int_equal(record_read(put_record(p, STRANGER, 24), &rec, &err),
                     NPMD_OK); /* any order of names is good */
    assert_int_equal(rec.count, 3);
    record_free(&rec);
    assert_int_equal(record_read(put_text(p, "made.safetensors", ""), &rec, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "is empty");
    assert_int_equal(record_read(put_text(p, "made.safetensors", "short"), &rec, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "truncated: 5 bytes");
    assert_int_equal(record_read(put_text(p, "made.safetensors", "{\"a text file\": 1}"), &rec, &err),
                     NPMD_ERR_FORMAT);
    assert_says(&err, "safetensors its header says");
    assert_int_equal(record_read(in_folder(p, "absent.safetensors"), &rec, &err), NPMD_ERR_FILE);
    assert_says(&err, "No such file or directory");
}

static void record_truncated_anywhere(void **state)
{
    place *p = *state;
    record rec;
    file_bytes b = { 0 };
    const char *path = in_folder(p, "whole.safetensors");
    record_make(&rec);
    assert_int_equal(record_write(path, &rec, NULL), NPMD_OK);
    record_free(&rec);
    assert_int_equal(file_read(path, &b, NULL), NPMD_OK);
    for (size_t size = 0; size < b.size; size++)
        assert_int_equal(record_read(put_bytes(p, "cut.safetensors", b.data, size), &rec, NULL),
                         NPMD_ERR_FORMAT);
    file_bytes_free(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_whole),
        cmocka_unit_test(file_unreadable),
        cmocka_unit_test(writer_writes),
        cmocka_unit_test(writer_keeps_permission),
        cmocka_unit_test(writer_follows_link),
        cmocka_unit_test(writer_spares_devices),
        cmocka_unit_test(writer_fails_with_reason),
        cmocka_unit_test(writer_failure_keeps_old_file),
        cmocka_unit_test(writer_survives_every_failure),
        cmocka_unit_test(writer_survives_full_disk),
        cmocka_unit_test(writer_goes_on_after_short_writes),
        cmocka_unit_test(writer_without_its_folder),
        cmocka_unit_test(writer_in_protected_folder),
        cmocka_unit_test(writer_abandon_keeps_old_file),
        cmocka_unit_test(two_writers_do_not_meet),
        cmocka_unit_test(output_check),
        cmocka_unit_test(csv_round_trip),
        cmocka_unit_test(csv_dialects),
        cmocka_unit_test(csv_errors),
        cmocka_unit_test(csv_long_line),
        cmocka_unit_test(csv_ignores_locale),
        cmocka_unit_test(gzip_reads_members),
        cmocka_unit_test(gzip_errors),
        cmocka_unit_test(gzip_round_trip),
        cmocka_unit_test(table_writer_streams),
        cmocka_unit_test(table_writer_counts),
        cmocka_unit_test(npy_writes_as_numpy),
        cmocka_unit_test(npy_reads_all_kinds),
        cmocka_unit_test(npy_errors),
        cmocka_unit_test(npy_truncated_anywhere),
        cmocka_unit_test(npy_reads_a_pipe),
        cmocka_unit_test(npy_reads_in_pieces),
        cmocka_unit_test(npy_maps),
        cmocka_unit_test(mat_reads_all_classes),
        cmocka_unit_test(mat_reads_other_layouts),
        cmocka_unit_test(mat_errors),
        cmocka_unit_test(mat_colons),
        cmocka_unit_test(mat_damaged_anywhere),
        cmocka_unit_test(mat_claims_take_no_memory),
        cmocka_unit_test(record_round_trip),
        cmocka_unit_test(record_layout),
        cmocka_unit_test(record_find_errors),
        cmocka_unit_test(record_errors),
        cmocka_unit_test(record_truncated_anywhere),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
