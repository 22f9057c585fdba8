/* reproduce_run.c - the tasks of an experiment, each in a process of its own.
 *
 * So memory is measured for each task, a crash is one failed row, and several tasks can run at once. A process sends
 * fixed-size records through a pipe: its progress about once a second, then its result, followed by its rows of data as
 * text. If the pipe ends before that, the process died. When this program dies, its processes notice and end. */
#include "reproduce.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- In the process of a task ------------------------------------------------------------------------------------ */

size_t reproduce_write(int fd, const void *from, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t wrote = write(fd, (const char *)from + done, size - done);
        if (wrote <= 0 && !(wrote < 0 && errno == EINTR))
            break;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return done;
}

size_t reproduce_read(int fd, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = read(fd, (char *)to + done, size - done);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

static void send_bytes(const reproduce_child *c, const void *from, size_t size)
{
    if (reproduce_write(c->fd, from, size) < size)
        _exit(CLI_FILE); /* nobody listens */
}

void reproduce_child_tell(reproduce_child *c, const npmd_report *now)
{
    const double clock = cli_clock();
    if (getppid() != c->parent)
        _exit(CLI_INTERRUPTED);
    if (clock - c->told >= 1.0) {
        reproduce_result r;
        memset(&r, 0, sizeof r);
        r.kind = REPRODUCE_PROGRESS;
        r.share = now->attempt > 0 && now->steps > 0 ? (double)now->step / (double)now->steps : 0.0;
        send_bytes(c, &r, sizeof r);
        c->told = clock;
    }
}

static void child_run(reproduce_child *c)
{
    reproduce_result *r = &c->result;
    npmd_error err = { 0 };
    memset(r, 0, sizeof *r); /* its padding goes through the pipe, too */
    for (int i = 0; i < FIGURES; i++)
        r->figure[i] = NAN;
    const double started = cli_clock();
    npmd_status st = reproduce_child_run(c, &err);
    for (int i = 0; i < REPRODUCE_DATA_MOST; i++) {
        r->bytes[i] = st == NPMD_OK ? c->rows[i].length : 0;
        if (c->rows[i].failed && st == NPMD_OK)
            st = reproduce_fail(&err, NPMD_ERR_MEMORY, "not enough memory for its data");
    }
    if (isnan(r->figure[FIGURE_SECONDS]))
        r->figure[FIGURE_SECONDS] = cli_clock() - started;
    r->kind = st == NPMD_OK ? REPRODUCE_DONE : REPRODUCE_FAILED;
    r->status = st;
    cli_respell(st == NPMD_OK ? "" : err.text[0] ? err.text : npmd_status_text(st), r->text, sizeof r->text);
    send_bytes(c, r, sizeof *r);
    for (int i = 0; i < REPRODUCE_DATA_MOST; i++)
        send_bytes(c, c->rows[i].text, st == NPMD_OK ? r->bytes[i] : 0);
}

/* ---- The processes ----------------------------------------------------------------------------------------------- */

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
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, &before);
    fflush(stderr);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        end_with_parent();
        cli_leave_signals();
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(ends[0]);
        if (getppid() != parent)
            _exit(CLI_INTERRUPTED);
        child_run(&(reproduce_child){ .plan = plan, .task = task, .parent = (int)parent, .fd = ends[1] });
        _exit(CLI_DONE);
    }
    const int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return cli_fail(plan->args, CLI_MEMORY, "cannot start a process: %s", strerror(why));
    }
    *w = (worker){ .pid = pid, .fd = ends[0], .task = task, .started = cli_clock() };
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

/* The data that follow a result; false: the process died over them. */
static bool worker_take(const worker *w, const reproduce_result *r)
{
    for (int i = 0; i < REPRODUCE_DATA_MOST; i++) {
        char *text = r->bytes[i] > 0 ? malloc(r->bytes[i] + 1) : NULL;
        const size_t have = text ? reproduce_read(w->fd, text, r->bytes[i]) : 0;
        if (r->bytes[i] > 0 && have < r->bytes[i]) {
            free(text);
            return false;
        }
        if (text)
            text[have] = '\0';
        w->task->rows[i] = text;
    }
    return true;
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
        if (!w->task || worker_take(w, last)) {
            worker_reap(w);
            return true;
        }
        kill(w->pid, SIGKILL); /* it may still want to write */
    }
    const double seconds = cli_clock() - w->started;
    const int status = worker_reap(w);
    *last = (reproduce_result){ .kind = REPRODUCE_FAILED, .status = NPMD_ERR_NUMERIC };
    for (int i = 0; i < FIGURES; i++)
        last->figure[i] = NAN;
    last->figure[FIGURE_SECONDS] = seconds;
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

static bool any_running(const worker *workers, int count)
{
    for (int i = 0; i < count; i++)
        if (workers[i].pid)
            return true;
    return false;
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

static void watch_clear(cli_progress *w)
{
    if (w->drawn)
        fputs("\r\033[K", stderr);
    w->drawn = false;
}

/* What runs now: one line that is drawn over and over, or in a log a line every ten seconds. */
static void watch_show(cli_progress *w, const reproduce_plan *plan, const worker *workers, int done)
{
    const double clock = cli_clock();
    char text[512];
    if (plan->args->quiet || !any_running(workers, plan->jobs) || clock - w->shown < (w->terminal ? 0.5 : 10.0))
        return;
    w->shown = clock;
    snprintf(text, sizeof text, "%d of %d done; now", done, plan->count);
    for (int i = 0; i < plan->jobs && strlen(text) + 120 < sizeof text; i++) {
        const worker *job = &workers[i];
        if (!job->pid)
            continue;
        const double spent = clock - job->started;
        cli_append(text, sizeof text, " %s %s %s #%d for %s", job->task->row->domain, job->task->row->method,
                   job->task->row->settings, job->task->replicate, cli_words_time(spent).text);
        if (job->share > 0.0 && job->share < 1.0)
            cli_append(text, sizeof text, " (%.0f %%, %s left)", 100.0 * job->share,
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

/* "T3 " where an experiment has several domains. */
static cli_words domain_prefix(const reproduce_plan *plan, const reproduce_row *row)
{
    return plan->domain_name ? (cli_words){ "" } : cli_words_of("%s ", row->domain);
}

static void say_ended(cli_progress *w, const reproduce_plan *plan, const reproduce_task *task, int done)
{
    const reproduce_row *row = task->row;
    watch_clear(w);
    if (task->failed) {
        cli_note(plan->args, "%d of %d: %s%s %s #%d failed: %s", done, plan->count, domain_prefix(plan, row).text,
                 row->method, row->settings, task->replicate, task->result.text);
        return;
    }
    char found[128] = "";
    int shown = 0;
    for (const reproduce_column *c = plan->experiment->columns; c->heading && shown < 2; c++)
        if (c->form == COLUMN_ERROR || c->form == COLUMN_NUMBER) {
            cli_append(found, sizeof found, "%s %.4g, ", c->heading, task->result.figure[c->figure]);
            shown++;
        }
    cli_note(plan->args, "%d of %d: %s%s %s #%d, %s%s", done, plan->count, domain_prefix(plan, row).text, row->method,
             row->settings, task->replicate, found, cli_words_time(task->result.figure[FIGURE_SECONDS]).text);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

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

int reproduce_run(reproduce_plan *plan, reproduce_file *file)
{
    worker *workers = calloc((size_t)plan->jobs, sizeof *workers);
    struct pollfd *polls = calloc((size_t)plan->jobs, sizeof *polls);
    cli_progress show;
    int code = CLI_DONE, next = 0, done = 0;
    if (!workers || !polls) {
        code = cli_fail(plan->args, CLI_MEMORY, "not enough memory for %d jobs", plan->jobs);
        goto end;
    }
    for (int i = 0; i < plan->count; i++)
        done += plan->tasks[i].done;
    cli_watch_signals(false);
    cli_progress_begin(&show, plan->args);
    show.shown = show.began;
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
                if ((code = reproduce_line_finish(plan, task)) == CLI_DONE)
                    code = reproduce_file_append(plan->args, file, task->line);
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
