/* test_file.c - reading a file whole and writing one: what is written is there under its name at once or not at all,
 * and a write that fails, at any call of the system, leaves the old file and no other. */
#include "io.h"
#include "place.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- Calls of the system that fail when told to: the linker puts these in their place ---------------------------- */

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
    return call_fails(ENOSPC) ? -1 : __real_write(fd, data, write_most > 0 && size > write_most ? write_most : size);
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
    assert_int_equal(file_writer_print(w, NULL, "%*s", 2000, "right"), NPMD_OK); /* longer than print's own line */
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
    assert_int_equal(table_write(path, &x, 1, 1, NULL), NPMD_OK);
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
    assert_int_equal(table_write(link, &x, 1, 1, NULL), NPMD_OK);
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
    assert_int_equal(file_write("/dev/null", &x, sizeof x, NULL), NPMD_OK);
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
    const char *path = put_text(p, "kept.npy", "the old file"), *copy = put_text(p, "copy.npy", "the old file");
    const size_t before = files_in(p->folder);
    assert_int_equal(file_writer_open(path, &w, NULL), NPMD_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = 100000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN); /* so that write fails instead of ending the test */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    const npmd_status array = table_write(path, many, COUNT / 2, 2, &err);
    const npmd_status put = file_writer_put(w, many, sizeof many, &first);
    const npmd_status again = file_writer_put(w, "x", 1, &later); /* would fit, but the file has a gap by now */
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
    const double x = 1.0;
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
    const npmd_status st = table_write(path, &x, 1, 1, &err), check = table_output_check(path, NULL);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
