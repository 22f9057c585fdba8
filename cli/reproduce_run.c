/* reproduce_run.c - the fits of an experiment, each in a process of its own.
 *
 * So its memory is its own, a crash is one failed row, and several can run at once. A process sends fixed records
 * through a pipe: how far it is, about once a second, then what came out. If the pipe ends before that, the process
 * died. When this program dies, its processes notice and end. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ru_maxrss is in KiB, but on macOS in bytes. */
#if defined(__APPLE__)
#define MAXRSS_UNIT 1u
#else
#define MAXRSS_UNIT 1024u
#endif

#if defined(__linux__)
#include <sys/prctl.h>
static void end_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}
#else
static void end_with_parent(void)
{
}
#endif

static double clock_seconds(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- In the process of a fit --------------------------------------------------------------------------- */

typedef struct child {
    const reproduce_plan *plan;
    const reproduce_task *task; /* NULL: only reads */
    pid_t parent;
    int fd;
    double told;
} child;

static void send_result(const child *c, const reproduce_result *r)
{
    const char *bytes = (const char *)r;
    for (size_t done = 0; done < sizeof *r;) {
        const ssize_t wrote = write(c->fd, bytes + done, sizeof *r - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            _exit(CLI_FILE); /* nobody listens */
        done += (size_t)wrote;
    }
}

static int tell(const npmd_report *now, void *user)
{
    child *c = user;
    const double clock = clock_seconds();
    if (getppid() != c->parent)
        _exit(CLI_INTERRUPTED);
    if (clock - c->told >= 1.0) {
        reproduce_result r;
        memset(&r, 0, sizeof r);
        r.kind = REPRODUCE_PROGRESS;
        r.share = now->attempt > 0 && now->steps > 0 ? (double)now->step / (double)now->steps : 0.0;
        send_result(c, &r);
        c->told = clock;
    }
    return 0;
}

static npmd_status fail(npmd_error *err, npmd_status st, const char *text)
{
    err->status = st;
    snprintf(err->text, sizeof err->text, "%s", text);
    return st;
}

static npmd_status read_truth(const reproduce_plan *plan, npmd_truth **truth, npmd_error *err)
{
    npmd_domain *wanted = NULL;
    npmd_status st = plan->truth_path ? npmd_truth_read(plan->truth_path, truth, err)
                                      : npmd_truth_make(plan->recipe, plan->truth_seed, truth, err);
    if (st == NPMD_OK)
        st = npmd_domain_parse(plan->domain_name, &wanted, err);
    if (st == NPMD_OK) {
        const char *found = npmd_domain_text(npmd_truth_domain(*truth)), *expected = npmd_domain_text(wanted);
        if (strcmp(found, expected) != 0) {
            st = fail(err, NPMD_ERR_FORMAT, "");
            snprintf(err->text, sizeof err->text, "%.300s: the density is on %s, expected %s",
                     plan->truth_path ? plan->truth_path : plan->recipe, found, expected);
        }
    }
    npmd_domain_free(wanted);
    return st;
}

/* The first n of the points in a file. */
static npmd_status shorten(const char *path, npmd_points **points, const npmd_domain *domain, size_t n,
                           npmd_error *err)
{
    const size_t columns = (size_t)npmd_domain_columns(domain), have = npmd_points_count(*points);
    npmd_points *part = NULL;
    if (n == 0 || n == have)
        return NPMD_OK;
    if (n > have) {
        snprintf(err->text, sizeof err->text, "%.300s: found %zu points, expected at least the %zu of --n",
                 path, have, n);
        return err->status = NPMD_ERR_FORMAT;
    }
    double *x = malloc(n * columns * sizeof *x);
    if (!x)
        return fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    for (size_t i = 0; i < n; i++)
        npmd_points_row(*points, i, x + i * columns);
    const npmd_status st = npmd_points_from(x, n, domain, &part, err);
    free(x);
    if (st == NPMD_OK) {
        npmd_points_free(*points);
        *points = part;
    }
    return st;
}

static npmd_status read_points(const reproduce_plan *plan, int replicate, const npmd_truth *truth,
                               npmd_points **out, npmd_error *err)
{
    const npmd_domain *domain = npmd_truth_domain(truth);
    npmd_status st = NPMD_OK;
    if (plan->folder) {
        char *path = reproduce_file_of(plan, replicate);
        if (!path)
            return fail(err, NPMD_ERR_MEMORY, "not enough memory for a file's name");
        st = npmd_points_read(path, domain, 0, out, err);
        if (st == NPMD_OK)
            st = shorten(path, out, domain, plan->n, err);
        free(path);
        return st;
    }
    double *x = malloc(plan->n * (size_t)npmd_domain_columns(domain) * sizeof *x);
    if (!x)
        return fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    st = npmd_truth_sample(truth, plan->seed + (uint64_t)replicate - 1, plan->n, x, err);
    if (st == NPMD_OK)
        st = npmd_points_from(x, plan->n, domain, out, err);
    free(x);
    return st;
}

/* "--name value --name value" */
static npmd_status set_options(npmd_options *options, const char *text, npmd_error *err)
{
    char name[64], value[256];
    npmd_status st = NPMD_OK;
    int used = 0;
    npmd_options_init(options);
    for (const char *at = text; st == NPMD_OK && sscanf(at, " --%63s %255s%n", name, value, &used) == 2;
         at += used)
        st = npmd_options_set(options, name, value, err);
    return st;
}

static int64_t parameters_of(const npmd_model *model)
{
    static const char key[] = "\"parameters\":";
    char *json = NULL;
    long long count = -1;
    if (npmd_model_describe(model, &json, NULL) != NPMD_OK)
        return -1;
    const char *at = strstr(json, key);
    if (at)
        count = strtoll(at + sizeof key - 1, NULL, 10);
    npmd_text_free(json);
    return count;
}

static npmd_status fit_and_compare(child *c, const npmd_truth *truth, const npmd_points *points,
                                   reproduce_result *r, npmd_error *err)
{
    const reproduce_plan *plan = c->plan;
    /* T2 as the paper did it: its nodes, both densities divided by their means there */
    const npmd_grid grid = strcmp(plan->domain_name, "T2") == 0 ? NPMD_GRID_AUTHORS : NPMD_GRID_FINE;
    npmd_options options;
    npmd_model *model = NULL;
    npmd_comparison found;
    struct rusage usage = { 0 };
    npmd_status st = set_options(&options, c->task->options, err);
    if (st != NPMD_OK)
        return st;
    options.threads = plan->how.threads;
    options.progress = tell;
    options.user = c;
    const double started = clock_seconds();
    st = npmd_fit(npmd_truth_domain(truth), points, &options, &model, err);
    r->seconds = clock_seconds() - started;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        r->peak_memory = (uint64_t)usage.ru_maxrss * MAXRSS_UNIT;
    if (st == NPMD_OK) {
        r->tau = npmd_model_facts(model).tau;
        r->parameters = parameters_of(model);
        /* the seed of the points is the same for all, so all methods are compared at the same ones */
        st = npmd_compare(model, truth, grid, 0, plan->seed, &plan->how, &found, err);
    }
    if (st == NPMD_OK) {
        r->nise = found.nise;
        r->ae = found.ae;
        r->fr = found.fr;
        r->kl = found.kl;
    }
    npmd_model_free(model);
    return st;
}

static void child_run(child *c)
{
    reproduce_result r;
    npmd_error err = { 0 };
    npmd_truth *truth = NULL;
    npmd_points *points = NULL;
    memset(&r, 0, sizeof r); /* its padding goes through the pipe, too */
    r.nise = r.ae = r.fr = r.kl = r.tau = NAN;
    r.parameters = -1;
    npmd_status st = read_truth(c->plan, &truth, &err);
    if (c->task) {
        if (st == NPMD_OK)
            st = read_points(c->plan, c->task->replicate, truth, &points, &err);
        if (st == NPMD_OK) {
            r.n = npmd_points_count(points);
            st = fit_and_compare(c, truth, points, &r, &err);
        }
    }
    for (int i = 1; !c->task && c->plan->folder && st == NPMD_OK && i <= c->plan->replicates; i++) {
        st = read_points(c->plan, i, truth, &points, &err);
        npmd_points_free(points);
        points = NULL;
    }
    r.kind = st == NPMD_OK ? REPRODUCE_DONE : REPRODUCE_FAILED;
    r.status = st;
    snprintf(r.text, sizeof r.text, "%s", st == NPMD_OK ? "" : err.text[0] ? err.text : npmd_status_text(st));
    npmd_points_free(points);
    npmd_truth_free(truth);
    send_result(c, &r);
}

/* ---- The processes ------------------------------------------------------------------------------------- */

typedef struct worker {
    pid_t pid; /* 0: free */
    int fd;
    reproduce_task *task;
    reproduce_result record;
    size_t have; /* bytes of it */
    double started, share;
} worker;

/* A signal that comes between the fork and the child's own handling must end the child, not mark it. */
static int worker_start(worker *w, const reproduce_plan *plan, reproduce_task *task)
{
    int ends[2];
    sigset_t held, before;
    if (pipe(ends) != 0)
        return cli_fail(plan->args, CLI_MEMORY, "cannot start a process: %s", strerror(errno));
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigprocmask(SIG_BLOCK, &held, &before);
    fflush(stderr);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        end_with_parent();
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(ends[0]);
        if (getppid() != parent)
            _exit(CLI_INTERRUPTED);
        child_run(&(child){ .plan = plan, .task = task, .parent = parent, .fd = ends[1] });
        _exit(CLI_DONE);
    }
    const int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return cli_fail(plan->args, CLI_MEMORY, "cannot start a process: %s", strerror(why));
    }
    *w = (worker){ .pid = pid, .fd = ends[0], .task = task, .started = clock_seconds() };
    return CLI_DONE;
}

static int worker_reap(worker *w)
{
    int status = 0;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(w->fd);
    w->pid = 0;
    return status;
}

static void workers_stop(worker *workers, int count)
{
    for (int i = 0; i < count; i++)
        if (workers[i].pid)
            kill(workers[i].pid, SIGKILL);
    for (int i = 0; i < count; i++)
        if (workers[i].pid)
            worker_reap(&workers[i]);
}

/* What there is in the pipe; true when the last record has come, or nothing more will. */
static bool worker_listen(worker *w, reproduce_result *last)
{
    const ssize_t got = read(w->fd, (char *)&w->record + w->have, sizeof w->record - w->have);
    if (got < 0 && errno == EINTR)
        return false;
    w->have += got > 0 ? (size_t)got : 0;
    if (got > 0 && w->have < sizeof w->record)
        return false;
    if (got > 0) {
        w->have = 0;
        w->share = w->record.share;
        *last = w->record;
        if (w->record.kind == REPRODUCE_PROGRESS)
            return false;
        worker_reap(w);
        return true;
    }
    const double seconds = clock_seconds() - w->started;
    const int status = worker_reap(w);
    *last = (reproduce_result){ .kind = REPRODUCE_FAILED,
                                .status = NPMD_ERR_NUMERIC,
                                .parameters = -1,
                                .nise = NAN,
                                .ae = NAN,
                                .fr = NAN,
                                .kl = NAN,
                                .tau = NAN,
                                .seconds = seconds };
    if (WIFSIGNALED(status))
        snprintf(last->text, sizeof last->text, "its process was ended by signal %d", WTERMSIG(status));
    else
        snprintf(last->text, sizeof last->text, "its process ended with status %d", WEXITSTATUS(status));
    return true;
}

static int workers_wait(const worker *workers, int count, struct pollfd *polls)
{
    for (int i = 0; i < count; i++)
        polls[i] = (struct pollfd){ .fd = workers[i].pid ? workers[i].fd : -1, .events = POLLIN };
    return poll(polls, (nfds_t)count, 250);
}

int reproduce_check(const reproduce_plan *plan)
{
    worker w = { 0 };
    struct pollfd polls;
    reproduce_result last = { 0 };
    bool ended = false;
    cli_watch_signals(false);
    int code = worker_start(&w, plan, NULL);
    if (code != CLI_DONE)
        return code;
    while (!ended && !cli_interrupted())
        if (workers_wait(&w, 1, &polls) > 0)
            ended = worker_listen(&w, &last);
    if (!ended) {
        workers_stop(&w, 1);
        return cli_fail(plan->args, CLI_INTERRUPTED, "interrupted");
    }
    npmd_error err = { .status = last.status };
    memcpy(err.text, last.text, sizeof err.text);
    return last.kind == REPRODUCE_DONE ? CLI_DONE : cli_refuse(plan->args, &err);
}

/* ---- Progress ------------------------------------------------------------------------------------------ */

typedef struct watch {
    bool terminal, drawn;
    double shown;
} watch;

static void watch_begin(watch *w)
{
    const char *kind = getenv("TERM");
    *w = (watch){ .terminal = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0,
                  .shown = clock_seconds() };
}

static void watch_clear(watch *w)
{
    if (w->drawn)
        fputs("\r\033[K", stderr);
    w->drawn = false;
}

/* What runs now: one line that is drawn over and over, or in a log a line every ten seconds. */
static void watch_show(watch *w, const reproduce_plan *plan, const worker *workers, int done)
{
    const double clock = clock_seconds();
    char text[512];
    if (plan->args->quiet || clock - w->shown < (w->terminal ? 0.5 : 10.0))
        return;
    w->shown = clock;
    int length = snprintf(text, sizeof text, "%d of %d done; now", done, plan->count);
    for (int i = 0; i < plan->jobs && length > 0 && (size_t)length + 120 < sizeof text; i++) {
        const worker *job = &workers[i];
        if (!job->pid)
            continue;
        const double spent = clock - job->started;
        length += snprintf(text + length, sizeof text - (size_t)length, " %s %s #%d for %s",
                           job->task->row->method, job->task->row->settings, job->task->replicate,
                           cli_words_time(spent).text);
        if (job->share > 0.0 && job->share < 1.0 && (size_t)length < sizeof text)
            length += snprintf(text + length, sizeof text - (size_t)length, " (%.0f %%, %s left)",
                               100.0 * job->share,
                               cli_words_time(spent * (1.0 - job->share) / job->share).text);
    }
    if (w->terminal) {
        fprintf(stderr, "\r\033[K%.100s", text);
        fflush(stderr);
        w->drawn = true;
    } else {
        cli_note(plan->args, "%s", text);
    }
}

static void say_ended(watch *w, const reproduce_plan *plan, const reproduce_task *task, int done)
{
    const reproduce_row *row = task->row;
    watch_clear(w);
    if (task->failed)
        cli_note(plan->args, "%d of %d: %s %s #%d failed: %s", done, plan->count, row->method, row->settings,
                 task->replicate, task->result.text);
    else
        cli_note(plan->args, "%d of %d: %s %s #%d, nISE %.4g, ae %.4g, %s", done, plan->count, row->method,
                 row->settings, task->replicate, task->result.nise, task->result.ae,
                 cli_words_time(task->result.seconds).text);
}

/* ---- All of them --------------------------------------------------------------------------------------- */

/* The next one that is not done, for a worker that is free. */
static int start_more(reproduce_plan *plan, worker *workers, int *next)
{
    for (int i = 0; i < plan->jobs; i++) {
        if (workers[i].pid)
            continue;
        while (*next < plan->count && plan->tasks[*next].done)
            ++*next;
        if (*next == plan->count)
            break;
        const int code = worker_start(&workers[i], plan, &plan->tasks[*next]);
        if (code != CLI_DONE)
            return code;
        ++*next;
    }
    return CLI_DONE;
}

static bool any_running(const worker *workers, int count)
{
    for (int i = 0; i < count; i++)
        if (workers[i].pid)
            return true;
    return false;
}

int reproduce_run(reproduce_plan *plan, int (*keep)(reproduce_task *task, void *user), void *user)
{
    worker *workers = calloc((size_t)plan->jobs, sizeof *workers);
    struct pollfd *polls = calloc((size_t)plan->jobs, sizeof *polls);
    watch show;
    int code = CLI_DONE, next = 0, done = 0;
    if (!workers || !polls) {
        code = cli_fail(plan->args, CLI_MEMORY, "not enough memory for %d jobs", plan->jobs);
        goto end;
    }
    for (int i = 0; i < plan->count; i++)
        done += plan->tasks[i].done;
    cli_watch_signals(false);
    watch_begin(&show);
    while (code == CLI_DONE && !cli_interrupted() && (code = start_more(plan, workers, &next)) == CLI_DONE
           && any_running(workers, plan->jobs)) {
        if (workers_wait(workers, plan->jobs, polls) > 0)
            for (int i = 0; i < plan->jobs && code == CLI_DONE && !cli_interrupted(); i++) {
                reproduce_result last = { 0 };
                if (!workers[i].pid || !polls[i].revents || !worker_listen(&workers[i], &last))
                    continue;
                reproduce_task *task = workers[i].task;
                if (last.kind == REPRODUCE_FAILED && cli_interrupted())
                    break; /* Ctrl-C ends the processes, too: that is no failure of the method */
                task->result = last;
                task->failed = last.kind == REPRODUCE_FAILED;
                task->done = true;
                code = keep(task, user);
                say_ended(&show, plan, task, ++done);
            }
        watch_show(&show, plan, workers, done);
    }
    watch_clear(&show);
    workers_stop(workers, plan->jobs);
    if (code == CLI_DONE && cli_interrupted())
        code = cli_fail(plan->args, CLI_INTERRUPTED, "interrupted after %d of %d fits%s", done, plan->count,
                        cli_value(plan->args, "out") ? "; the same command goes on from there" : "");
end:
    free(workers);
    free(polls);
    return code;
}
