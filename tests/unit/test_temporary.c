/* test_temporary.c - the temporary files of writers that were killed, that meet, and that find a stranger's file
 * under the name they wanted. */
#include "check.h"
#include "io.h"

#include <dirent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

typedef struct place {
    char folder[256], target[400], path[400];
} place;

static const char *in_folder(place *p, const char *name)
{
    snprintf(p->path, sizeof p->path, "%s/%s", p->folder, name);
    return p->path;
}

static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

static int place_open(void **state)
{
    place *p = calloc(1, sizeof *p);
    const char *base = getenv("TMPDIR");
    if (p == NULL)
        return -1;
    *state = p;
    snprintf(p->folder, sizeof p->folder, "%.200s/npmd-temporary-XXXXXX", base != NULL && *base ? base : P_tmpdir);
    if (mkdtemp(p->folder) == NULL)
        return -1;
    snprintf(p->target, sizeof p->target, "%s/model", p->folder);
    return 0;
}

static int place_close(void **state)
{
    place *p = *state;
    DIR *d = opendir(p->folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(p->path, sizeof p->path, "%s/%.100s", p->folder, e->d_name);
            if (unlink(p->path) != 0)
                rmdir(p->path);
        }
    if (d != NULL)
        closedir(d);
    const int result = rmdir(p->folder);
    free(p);
    return result;
}

static void write_whole(const char *path, const char *text)
{
    file_writer *w = NULL;
    npmd_error err = { 0 };
    if (file_writer_open(path, &w, &err) != NPMD_OK || file_writer_put(w, text, strlen(text), &err) != NPMD_OK
        || file_writer_commit(w, &err) != NPMD_OK)
        fail_msg("%s", err.text);
}

static void assert_holds(const char *path, const char *text)
{
    file_bytes b = { 0 };
    npmd_error err = { 0 };
    if (file_read(path, &b, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_string_equal((const char *)b.data, text);
    file_bytes_free(&b);
}

/* A process that is killed after it has written a large part of the target's next version. */
static void killed_writer(const char *path)
{
    static char much[200000];
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        file_writer *w = NULL;
        if (file_writer_open(path, &w, NULL) == NPMD_OK)
            file_writer_put(w, much, sizeof much, NULL);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void killed_writers_leave_one_file(void **state)
{
    place *p = *state;
    write_whole(p->target, "the old one");
    const size_t before = files_in(p->folder);
    for (int i = 0; i < 5; i++) {
        killed_writer(p->target);
        assert_int_equal(files_in(p->folder), before + 1);
        assert_holds(p->target, "the old one");
    }
    write_whole(p->target, "the new one"); /* and the next whole one removes that */
    assert_int_equal(files_in(p->folder), before);
    assert_holds(p->target, "the new one");
    killed_writer(p->target);
    assert_int_equal(file_output_check(p->target, NULL), NPMD_OK);
    assert_int_equal(files_in(p->folder), before);
}

/* What is new has the user's mask, whatever the leftover had. */
static void a_leftover_gives_nothing_on(void **state)
{
    place *p = *state;
    struct stat facts;
    const mode_t mask = umask(027);
    write_whole(p->target, "old");
    assert_int_equal(chmod(p->target, 0666), 0);
    killed_writer(p->target); /* its temporary file may be written by all */
    assert_int_equal(unlink(p->target), 0);
    write_whole(p->target, "new");
    umask(mask);
    assert_int_equal(stat(p->target, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0640);
    assert_holds(p->target, "new"); /* and nothing of the longer leftover */
}

/* A writer in another process, at work, is not taken for a killed one; nor does it lose its name. */
static void live_writers_are_left_alone(void **state)
{
    place *p = *state;
    int ready[2], go[2], status = 0;
    char sign = 0;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    const size_t before = files_in(p->folder);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(go[1]); /* if the test fails, the end of the pipe is the sign to leave */
        file_writer *w = NULL;
        const bool opened = file_writer_open(p->target, &w, NULL) == NPMD_OK
                            && file_writer_put(w, "theirs", 6, NULL) == NPMD_OK;
        const bool told = write(ready[1], "r", 1) == 1 && read(go[0], &sign, 1) == 1;
        _exit(opened && told && file_writer_commit(w, NULL) == NPMD_OK ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &sign, 1), 1);
    file_writer *w = NULL;
    assert_int_equal(file_writer_open(p->target, &w, NULL), NPMD_OK);
    assert_int_equal(files_in(p->folder), before + 2); /* a name of its own */
    assert_int_equal(file_writer_put(w, "ours", 4, NULL), NPMD_OK);
    assert_int_equal(file_output_check(p->target, NULL), NPMD_OK);
    assert_int_equal(file_writer_commit(w, NULL), NPMD_OK);
    assert_holds(p->target, "ours");
    assert_int_equal(write(go[1], "g", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_holds(p->target, "theirs");
    assert_int_equal(files_in(p->folder), before + 1);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
}

/* A link, a folder or a pipe under the temporary name is stepped over, and nothing behind it is touched. */
static void strangers_are_stepped_over(void **state)
{
    place *p = *state;
    struct stat facts;
    char precious[400];
    snprintf(precious, sizeof precious, "%s/precious", p->folder);
    write_whole(precious, "not yours");
    assert_int_equal(symlink(precious, in_folder(p, "model.neuropmd-0.tmp")), 0);
    assert_int_equal(mkdir(in_folder(p, "model.neuropmd-1.tmp"), 0700), 0);
    assert_int_equal(mkfifo(in_folder(p, "model.neuropmd-2.tmp"), 0600), 0);
    const int held = open(in_folder(p, "model.neuropmd-3.tmp"), O_RDWR | O_CREAT, 0600);
    assert_true(held >= 0 && flock(held, LOCK_EX) == 0);
    const size_t before = files_in(p->folder);
    write_whole(p->target, "mine");
    assert_holds(p->target, "mine");
    assert_holds(precious, "not yours");
    assert_int_equal(files_in(p->folder), before + 1);
    assert_int_equal(lstat(in_folder(p, "model.neuropmd-0.tmp"), &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    close(held);
}

/* Several processes replace one file again and again: a reader finds it whole at any moment, and every commit
 * succeeds. A lock that is given up before the rename fails here. */
static void many_writers_one_target(void **state)
{
    enum { WRITERS = 3, ROUNDS = 150, MOST = 3000 };
    place *p = *state;
    pid_t child[WRITERS];
    int running = WRITERS, status = 0;
    write_whole(p->target, "A");
    for (int k = 0; k < WRITERS; k++) {
        child[k] = fork();
        assert_true(child[k] >= 0);
        if (child[k] != 0)
            continue;
        char text[MOST];
        memset(text, 'A' + k, sizeof text);
        for (int i = 0; i < ROUNDS; i++) {
            file_writer *w = NULL;
            if (file_writer_open(p->target, &w, NULL) != NPMD_OK
                || file_writer_put(w, text, (size_t)(1 + (i * 97 + k * 31) % MOST), NULL) != NPMD_OK)
                _exit(1);
            if (i % 7 == 6)
                file_writer_abandon(w);
            else if (file_writer_commit(w, NULL) != NPMD_OK)
                _exit(2);
        }
        _exit(0);
    }
    while (running > 0) {
        file_bytes b = { 0 };
        assert_int_equal(file_read(p->target, &b, NULL), NPMD_OK);
        assert_true(b.size > 0);
        for (size_t i = 1; i < b.size; i++)
            assert_int_equal(b.data[i], b.data[0]);
        file_bytes_free(&b);
        while (running > 0 && waitpid(child[running - 1], &status, WNOHANG) == child[running - 1]) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
            running--;
        }
    }
    assert_int_equal(files_in(p->folder), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_writers_leave_one_file, place_open, place_close),
        cmocka_unit_test_setup_teardown(a_leftover_gives_nothing_on, place_open, place_close),
        cmocka_unit_test_setup_teardown(live_writers_are_left_alone, place_open, place_close),
        cmocka_unit_test_setup_teardown(strangers_are_stepped_over, place_open, place_close),
        cmocka_unit_test_setup_teardown(many_writers_one_target, place_open, place_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
