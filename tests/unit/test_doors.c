/* test_doors.c - what stands at the library's doors: links in the way of an output, claims on files, special files, numbers
 * of threads, children made by fork. */
#include "check.h"
#include "core.h"
#include "io.h"
#include "place.h"
#include "surface.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static npmd_status write_text(const char *path, npmd_error *err)
{
    return file_write(path, "new", 3, err);
}

static bool is_link(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);
}

static void assert_holds(const char *path, const char *text)
{
    size_t size = 0;
    unsigned char *bytes = get_bytes(path, &size);
    assert_string_equal((char *)bytes, text);
    free(bytes);
}

static void dangling_link_is_followed(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    char link[1100], second[1100];
    snprintf(link, sizeof link, "%s", in_folder(p, "link.txt"));
    snprintf(second, sizeof second, "%s", in_folder(p, "second.txt"));
    assert_int_equal(symlink("not there yet.txt", link), 0);
    assert_int_equal(symlink(link, second), 0); /* by a whole path, and by one more link */
    const char *target = in_folder(p, "not there yet.txt");
    must(write_text(second, &err), &err);
    assert_true(is_link(link) && is_link(second));
    assert_holds(target, "new");
    assert_int_equal(unlink(target), 0);
    must(write_text(link, &err), &err);
    assert_true(is_link(link));
    assert_holds(target, "new");
}

/* An error of stat that is not "there is no such file" was taken for it, and the link replaced by a file. */
static void only_absence_is_absence(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    const char *path = in_folder(p, "itself.txt");
    assert_int_equal(symlink("itself.txt", path), 0);
    assert_int_equal(write_text(path, &err), NPMD_ERR_FILE);
    assert_says(&err, strerror(ELOOP));
    assert_int_equal(file_output_check(path, &err), NPMD_ERR_FILE);
    assert_true(is_link(path));
}

static void strangers_link_is_refused(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    char folder[1100], link[1200];
    if (geteuid() != 0)
        skip(); /* who else could make a stranger's link? */
    const char *victim = put_text(p, "precious.txt", "old");
    snprintf(folder, sizeof folder, "%s", in_folder(p, "open"));
    snprintf(link, sizeof link, "%s/out.txt", folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chmod(folder, 01777), 0);
    assert_int_equal(symlink(victim, link), 0);
    assert_int_equal(lchown(link, 12345, 12345), 0);
    const npmd_status st = write_text(link, &err), claimed = file_claim_take(link, &(npmd_claim *){ NULL }, NULL);
    assert_int_equal(lchown(link, geteuid(), (gid_t)-1), 0);
    const npmd_status own = write_text(link, NULL);
    assert_int_equal(lchown(link, 12345, 12345), 0);
    assert_int_equal(chmod(folder, 0755), 0); /* not all may write there: whoever may is trusted */
    const npmd_status closed = write_text(link, NULL);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(st, NPMD_ERR_FILE);
    assert_says(&err, "somebody else's link");
    assert_int_equal(claimed, NPMD_ERR_FILE);
    assert_int_equal(own, NPMD_OK);
    assert_int_equal(closed, NPMD_OK);
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

static void claims_exclude_each_other(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    npmd_claim *first = NULL, *second = NULL, *other = NULL;
    const size_t before = files_in(p->folder);
    const char *path = in_folder(p, "claimed.ck");
    must(file_claim_take(path, &first, &err), &err);
    if (first == NULL)
        skip(); /* a place without locks */
    assert_int_equal(file_claim_take(path, &second, &err), NPMD_ERR_FILE);
    assert_says(&err, "claimed.ck: another run is writing to it");
    assert_null(second);
    must(file_claim_take(in_folder(p, "beside.ck"), &other, &err), &err);
    assert_non_null(other);
    assert_int_equal(files_in(p->folder), before); /* no file is made for it */
    must(write_text(path, &err), &err);
    assert_int_equal(file_claim_take(path, &second, &err), NPMD_ERR_FILE); /* the new file is the same one */
    const char *link = in_folder(p, "by another name.ck");
    assert_int_equal(symlink("claimed.ck", link), 0);
    assert_int_equal(file_claim_take(link, &second, &err), NPMD_ERR_FILE);
    file_claim_release(first);
    must(file_claim_take(link, &second, &err), &err);
    assert_non_null(second);
    file_claim_release(second);
    file_claim_release(other);
    must(file_claim_take("/dev/null", &first, &err), &err);
    assert_null(first);
}

/* A crash gives back what it had: the claim is the process's, and nothing stays behind. */
static void crash_ends_a_claim(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    npmd_claim *claim = NULL;
    const char *path = in_folder(p, "crashed.ck");
    int ends[2], status = 0;
    char word = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const npmd_status st = file_claim_take(path, &claim, NULL);
        word = st == NPMD_OK && claim != NULL ? 'y' : 'n';
        if (write(ends[1], &word, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &word, 1), 1);
    const npmd_status during = file_claim_take(path, &claim, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ends[0]), close(ends[1]);
    if (word == 'n')
        skip();
    assert_int_equal(during, NPMD_ERR_FILE);
    must(file_claim_take(path, &claim, &err), &err);
    file_claim_release(claim);
}

/* ---- Special files ----------------------------------------------------------------------------------------------- */

static void devices_are_no_input(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    file_bytes b = { 0 };
    record rec = { 0 };
    assert_int_equal(file_read("/dev/zero", &b, &err), NPMD_ERR_FILE); /* it has no end */
    assert_says(&err, "cannot read /dev/zero: it is a device");
    assert_int_equal(record_read("/dev/zero", &rec, &err), NPMD_ERR_FILE);
    assert_int_equal(file_read(p->folder, &b, &err), NPMD_ERR_FILE);
    assert_says(&err, strerror(EISDIR));
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    const char *path = in_folder(p, "s");
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && strlen(path) < sizeof at.sun_path) {
        memcpy(at.sun_path, path, strlen(path) + 1);
        assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
        assert_int_equal(file_read(path, &b, NULL), NPMD_ERR_FILE);
        assert_int_equal(write_text(path, &err), NPMD_ERR_FILE);
        assert_says(&err, "it is a socket");
        assert_int_equal(unlink(path), 0);
    }
    if (fd >= 0)
        close(fd);
}

static void pipes_are(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    file_bytes b = { 0 };
    const char *path = in_folder(p, "pipe.csv");
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(path, O_WRONLY);
        _exit(fd >= 0 && write(fd, "1,2\n", 4) == 4 ? 0 : 1);
    }
    must(file_read(path, &b, &err), &err);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_string_equal((char *)b.data, "1,2\n");
    file_bytes_free(&b);
}

/* A file of 1 TiB without a byte of contents: whoever reads it whole first runs out of memory or time. */
static void headers_come_first(void **state)
{
    place *p = *state;
    npmd_error err = { 0 };
    record rec = { 0 };
    const char *path = put_text(p, "sparse.safetensors", "");
    if (truncate(path, (off_t)1 << 40) != 0)
        skip(); /* a file system that has no such files */
    assert_int_equal(record_read(path, &rec, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "does not begin with '{'");
    /* a header that is one, and claims less than there is */
    const uint64_t length = 2;
    unsigned char start[10];
    memcpy(start, &length, 8);
    memcpy(start + 8, "{}", 2);
    path = put_bytes(p, "sparse.safetensors", start, sizeof start);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_int_equal(record_read(path, &rec, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "not a neuropmd model");
}

/* Files of text, and of other kinds, of 1 TiB of zeros: their first bytes are enough, whoever reads them. */
static void first_bytes_come_first(void **state)
{
    static const struct {
        const char *name, *says;
    } FILES[] = { { "zeros.csv", "NUL byte (byte 1)" },      { "zeros.csv.gz", "is no gzip file" },
                  { "zeros.obj", "NUL byte (byte 1)" },      { "zeros.off", "NUL byte (byte 1)" },
                  { "zeros.ply", "NUL byte (byte 1)" },      { "zeros.vtk", "NUL byte (byte 1)" },
                  { "zeros.gii", "NUL byte (byte 1)" },      { "zeros.gii.gz", "is no gzip file" },
                  { "lh.zeros", "unknown kind of surface" }, { "zeros.annot", "labels of no vertices" },
                  { "zeros.label", "NUL byte (byte 1)" },    { "zeros.shape.gii", "NUL byte (byte 1)" },
                  { "zeros.json", "NUL byte (byte 1)" } };
    place *p = *state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        npmd_error err = { 0 };
        table t = { 0 };
        mesh m = { 0 };
        labels l = { 0 };
        vertex_columns c = { 0 };
        npmd_status st = NPMD_OK;
        const char *path = put_text(p, FILES[i].name, "");
        if (truncate(path, (off_t)1 << 40) != 0)
            skip(); /* a file system that has no such files */
        npmd_options *opt = npmd_options_new();
        if (file_has_suffix(path, ".annot") || file_has_suffix(path, ".label"))
            st = labels_read(path, 4, &l, &err);
        else if (strstr(path, ".shape") != NULL)
            st = vertex_columns_read(path, 4, &c, &err);
        else if (file_has_suffix(path, ".json"))
            st = npmd_options_read(opt, path, &err);
        else
            st = strstr(path, ".csv") != NULL ? csv_read(path, &t, &err) : mesh_read(path, &m, &err);
        assert_int_equal(st, NPMD_ERR_FORMAT);
        assert_says(&err, FILES[i].says);
        assert_int_equal(unlink(path), 0);
        npmd_options_free(opt);
    }
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* What a child made by fork finds; its exit status says which of these failed. */
static int in_child(int (*look)(void))
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(look());
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* As a user who may have one thread. */
static int starts_too_many(void)
{
    npmd_error err = { 0 };
    const struct rlimit one = { 1, 1 };
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        return 77;
    if (setrlimit(RLIMIT_NPROC, &one) != 0)
        return 77;
    if (threads_check(1, &err) != NPMD_OK)
        return 1;
    if (threads_check(64, &err) != NPMD_ERR_MEMORY)
        return 2;
    return strstr(err.text, "64 threads were wanted, and 1 could be started") != NULL ? 0 : 3;
}

/* First of all: the parent has used no threads yet. */
static void threads_that_cannot_start(void **state)
{
    (void)state;
    const int found = in_child(starts_too_many);
    if (found == 77)
        skip();
    assert_int_equal(found, 0);
}

static int uses_threads_of_its_own(void)
{
    return threads_check(2, NULL) == NPMD_OK && threads_wanted(2) == 2 ? 0 : 1;
}

static int looks_after_fork(void)
{
    npmd_error err = { 0 };
    if (threads_check(2, &err) != NPMD_ERR_ARGUMENT || strstr(err.text, "made by fork") == NULL)
        return 1;
    if (threads_check(1, NULL) != NPMD_OK || threads_check(0, NULL) != NPMD_OK)
        return 2;
    return threads_wanted(0) == 1 ? 0 : 3;
}

static void numbers_of_threads(void **state)
{
    (void)state;
    npmd_error err = { 0 };
    assert_int_equal(in_child(uses_threads_of_its_own), 0); /* its parent had one: it may have more */
    assert_int_equal(threads_check(-1, &err), NPMD_ERR_ARGUMENT);
    assert_int_equal(threads_check(100000, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "`threads`: 100000 lies outside 0 .. 4096");
    must(threads_check(0, &err), &err);
    must(threads_check(3, &err), &err);
    assert_int_equal(threads_wanted(3), 3);
    assert_int_equal(in_child(looks_after_fork), 0);
}

/* The public functions ask, whatever leads to a parallel region. */
static npmd_domain *circle;
static npmd_points *on_circle;
static npmd_model *smooth;

static int computes_after_fork(void)
{
    double value = 0.0;
    npmd_error err = { 0 };
    npmd_compute how = NPMD_SIZED(npmd_compute);
    how.threads = 1;
    if (npmd_evaluate_at(smooth, on_circle, NPMD_DENSITY, &how, (double[64]){ 0 }, &err) != NPMD_OK)
        return 1;
    if (npmd_log_density(smooth, (const double[]){ 1.0 }, 1, &value, &err) != NPMD_OK)
        return 2;
    how.threads = 2;
    if (npmd_evaluate_at(smooth, on_circle, NPMD_DENSITY, &how, (double[64]){ 0 }, &err) != NPMD_ERR_ARGUMENT)
        return 3;
    npmd_options *opt = npmd_options_new();
    npmd_model *m = NULL;
    npmd_options_set(opt, "estimator", "kde", NULL);
    npmd_options_set(opt, "kappa", "3", NULL);
    npmd_options_set(opt, "threads", "2", NULL);
    if (npmd_fit(circle, on_circle, opt, &m, &err) != NPMD_ERR_ARGUMENT)
        return 4;
    npmd_options_set(opt, "threads", "1", NULL);
    const npmd_status st = npmd_fit(circle, on_circle, opt, &m, &err);
    npmd_model_free(m);
    npmd_options_free(opt);
    return st == NPMD_OK ? 0 : 5;
}

static void fits_and_values_after_fork(void **state)
{
    (void)state;
    npmd_error err = { 0 };
    double x[64];
    npmd_compute how = NPMD_SIZED(npmd_compute);
    npmd_options *opt = npmd_options_new();
    for (int i = 0; i < 64; i++)
        x[i] = 0.02 * i * i / 64.0 + 1.0;
    must(npmd_domain_parse("S1", &circle, &err), &err);
    must(npmd_points_from(x, 64, 1, circle, 0, &on_circle, &err), &err);
    npmd_options_set(opt, "estimator", "kde", NULL);
    npmd_options_set(opt, "kappa", "3", NULL);
    npmd_options_set(opt, "threads", "2", NULL);
    must(npmd_fit(circle, on_circle, opt, &smooth, &err), &err);
    how.threads = 100000;
    assert_int_equal(npmd_evaluate_at(smooth, on_circle, NPMD_DENSITY, &how, x, &err), NPMD_ERR_ARGUMENT);
    how.threads = 2;
    must(npmd_evaluate_at(smooth, on_circle, NPMD_DENSITY, &how, x, &err), &err);
    assert_int_equal(in_child(computes_after_fork), 0);
    npmd_options_free(opt);
    npmd_model_free(smooth);
    npmd_points_free(on_circle);
    npmd_domain_free(circle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_cannot_start),  cmocka_unit_test(numbers_of_threads),
        cmocka_unit_test(fits_and_values_after_fork), cmocka_unit_test(dangling_link_is_followed),
        cmocka_unit_test(only_absence_is_absence),    cmocka_unit_test(strangers_link_is_refused),
        cmocka_unit_test(claims_exclude_each_other),  cmocka_unit_test(crash_ends_a_claim),
        cmocka_unit_test(devices_are_no_input),       cmocka_unit_test(pipes_are),
        cmocka_unit_test(headers_come_first),         cmocka_unit_test(first_bytes_come_first),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
