/* progress.c - progress on stderr: one line that is redrawn on a terminal, else a line every few seconds. */
#include "console.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ru_maxrss is in KiB, but on macOS in bytes. */
#if defined(__APPLE__)
#define MAXRSS_UNIT 1u
#else
#define MAXRSS_UNIT 1024u
#endif

double cli_clock(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t cli_peak_memory(void)
{
    struct rusage usage = { 0 };
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * MAXRSS_UNIT : 0;
}

static int terminal_width(void)
{
    struct winsize size = { 0 };
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

void cli_progress_begin(cli_progress *p, const cli_args *args)
{
    const char *kind = getenv("TERM");
    *p = (cli_progress){ .args = args, .attempt = 1 };
    p->terminal = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
    p->began = cli_clock();
    p->shown = p->terminal ? -1e9 : p->began;
}

void cli_progress_watch(cli_progress *p, const cli_args *args, npmd_compute *how)
{
    cli_progress_begin(p, args);
    how->progress = cli_progress_show;
    how->user = p;
}

/* "field, member 3/8, step"; attempt 0 is a short fit that helps to choose tau. */
static cli_words progress_noun(const npmd_report *now)
{
    char member[32] = "";
    if (now->member > 0)
        snprintf(member, sizeof member, "member %d/%d, ", now->member, now->members);
    return cli_words_of("%.30s%s%s%sstep", now->part ? now->part : "", now->part ? ": " : "", member,
                        now->attempt == 0 ? "choosing, " : "");
}

/* Nothing where there is none, as of weights that are chosen. */
static cli_words progress_objective(const npmd_report *now, const char *before)
{
    return isfinite(now->objective) ? cli_words_of("%sobjective %.5g", before, now->objective) : (cli_words){ "" };
}

/* One line that is drawn over and over: bar, step, objective, rate, time left. The bar gets what the text
 * leaves. */
static void progress_draw(const npmd_report *now, double done, double rate, const char *left)
{
    enum { BAR_MOST = 30, BAR_LEAST = 5, TEXT_MOST = 200 };
    char text[TEXT_MOST], bar[BAR_MOST + 3] = "";
    int length = snprintf(text, sizeof text, "%3.0f%%  %s %s/%s%s  %.4g/s  %s left", 100.0 * done,
                          progress_noun(now).text, cli_words_count((uint64_t)now->step).text,
                          cli_words_count((uint64_t)now->steps).text, progress_objective(now, "  ").text, rate, left);
    if (isfinite(now->nise) && length > 0 && length < TEXT_MOST)
        length += snprintf(text + length, (size_t)(TEXT_MOST - length), "  nISE %.3g", now->nise);
    const int width = terminal_width() - 1; /* the last column would wrap */
    int room = width - length - 3;
    room = room > BAR_MOST ? BAR_MOST : room;
    if (room >= BAR_LEAST) {
        const int full = (int)(done * room + 0.5);
        bar[0] = '[';
        for (int i = 0; i < room; i++)
            bar[1 + i] = i < full ? '#' : '.';
        bar[1 + room] = ']';
    }
    fprintf(stderr, "\r\033[K%s %.*s", bar, room >= BAR_LEAST ? TEXT_MOST : width - 1, text);
    fflush(stderr);
}

static void show_fit(cli_progress *p, const npmd_report *now)
{
    const double interval = p->terminal ? 0.1 : 5.0, clock = cli_clock();
    const bool last = now->steps > 0 && now->step >= now->steps;
    const bool another = now->part != p->part || now->member != p->member;
    if (!another && now->attempt > p->attempt && p->attempt > 0) {
        cli_progress_end(p);
        cli_note(p->args, "restarted, attempt %d", now->attempt);
    }
    /* a choice makes one short fit after another: each counts its steps, and its rate, afresh */
    if (another || now->attempt > p->attempt || now->step < p->last_step) {
        p->part = now->part;
        p->member = now->member;
        p->attempt = now->attempt;
        p->first_step = now->step;
        p->first_seconds = now->seconds;
    }
    p->last_step = now->step;
    if (clock - p->shown < interval && !(p->terminal && last))
        return;
    const double spent = now->seconds - p->first_seconds;
    const double rate = spent > 0.0 ? (double)(now->step - p->first_step) / spent : 0.0;
    const double done = now->steps > 0 ? fmin(1.0, (double)now->step / (double)now->steps) : 0.0;
    const cli_words left = cli_words_time(rate > 0.0 ? (double)(now->steps - now->step) / rate : NAN);
    const cli_words noun = progress_noun(now), step = cli_words_count((uint64_t)now->step);
    const cli_words objective = progress_objective(now, p->terminal ? "  " : ", ");
    p->shown = clock;
    p->drawn |= p->terminal;
    if (now->steps == 0 && p->terminal) /* the number of steps is not known */
        fprintf(stderr, "\r\033[K%s %s%s  %s", noun.text, step.text, objective.text, cli_words_time(now->seconds).text);
    else if (now->steps == 0)
        cli_note(p->args, "%s %s%s", noun.text, step.text, objective.text);
    else if (p->terminal)
        progress_draw(now, done, rate, left.text);
    else
        cli_note(p->args, "%s %s of %s (%.0f %%)%s, %.4g steps/s, %s left", noun.text, step.text,
                 cli_words_count((uint64_t)now->steps).text, 100.0 * done, objective.text, rate, left.text);
}

/* Shows progress when it is due: over the last line on a terminal, else as a new line. */
static CLI_FORMAT(2, 3) void show_words(cli_progress *p, const char *format, ...)
{
    const double now = cli_clock();
    va_list values;
    if (now - p->shown < (p->terminal ? 0.2 : 5.0))
        return;
    p->shown = now;
    p->drawn = p->terminal;
    va_start(values, format);
    if (p->terminal) {
        fputs("\r\033[K", stderr);
        vfprintf(stderr, format, values);
    } else {
        cli_say(p->args, format, values);
    }
    va_end(values);
}

/* Everything but a fit knows the share that is done; a page looks for where the density is large before it does. */
static void show_share(cli_progress *p, const npmd_report *now)
{
    const double spent = cli_clock() - p->began;
    const cli_words left = cli_words_time(spent * (1.0 - now->done) / now->done);
    if (strcmp(now->doing, "eigenfunctions") == 0)
        show_words(p, "eigenfunctions of a surface: solve %s of about %s", cli_words_count((uint64_t)now->step).text,
                   cli_words_count((uint64_t)now->steps).text);
    else if (strcmp(now->doing, "picture") == 0 && now->done < 1.0)
        show_words(p, "%.0f %% evaluated", 100.0 * now->done);
    else if (strcmp(now->doing, "page") == 0 && now->done <= 0.0)
        show_words(p, "learning where the density is large, %s so far", cli_words_time(spent).text);
    else if (strcmp(now->doing, "page") == 0)
        show_words(p, "%.0f %%, %s left", 100.0 * now->done, left.text);
    else if (strcmp(now->doing, "picture") != 0)
        show_words(p, "%s %.0f %%, %s left", now->doing, 100.0 * now->done, left.text);
}

int cli_progress_show(const npmd_report *now, void *progress)
{
    cli_progress *p = progress;
    if (!p->args->quiet && strcmp(now->doing, "fit") == 0)
        show_fit(p, now);
    else if (!p->args->quiet)
        show_share(p, now);
    return cli_interrupted();
}

void cli_progress_end(cli_progress *p)
{
    if (p->drawn)
        fputc('\n', stderr);
    p->drawn = false;
}
