/* report.c - what the program says: one JSON object or aligned lines on stdout; failures, remarks and
 * progress on stderr. */
#include "cli.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* ---- Failures and remarks ------------------------------------------------------------------------------ */

/* One line on stderr: a control character, of a file's name for example, would break it. */
static void say(const cli_args *args, const char *what, const char *format, va_list values)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, values);
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    fflush(stdout);
    if (args->command)
        fprintf(stderr, "neuropmd %s: %s%s\n", args->command->name, what, text);
    else
        fprintf(stderr, "neuropmd: %s%s\n", what, text);
}

int cli_fail(const cli_args *args, int code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say(args, "", format, values);
    va_end(values);
    return code;
}

void cli_note(const cli_args *args, const char *format, ...)
{
    va_list values;
    if (args->quiet)
        return;
    va_start(values, format);
    say(args, "", format, values);
    va_end(values);
}

int cli_refuse(const cli_args *args, const npmd_error *err)
{
    static const int codes[] = {
        [NPMD_ERR_ARGUMENT] = CLI_USAGE,  [NPMD_ERR_SHAPE] = CLI_INPUT,     [NPMD_ERR_FORMAT] = CLI_INPUT,
        [NPMD_ERR_NUMERIC] = CLI_NUMERIC, [NPMD_ERR_FILE] = CLI_FILE,       [NPMD_ERR_DEVICE] = CLI_DEVICE,
        [NPMD_ERR_MEMORY] = CLI_MEMORY,   [NPMD_STOPPED] = CLI_INTERRUPTED,
    };
    const size_t known = sizeof codes / sizeof *codes;
    const int code = (size_t)err->status < known && err->status != NPMD_OK ? codes[err->status] : CLI_NUMERIC;
    return cli_fail(args, code, "%s", err->text[0] ? err->text : npmd_status_text(err->status));
}

double *cli_doubles(const cli_args *args, size_t rows, size_t cols)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const double wanted = (double)rows * (double)cols * (double)sizeof(double);
    /* The system may promise more than it has and end the program later: what cannot fit is refused here. */
    const bool fits = wanted < (double)PTRDIFF_MAX && (pages <= 0 || wanted < (double)pages * (double)page);
    double *x = fits ? malloc(rows * cols * sizeof *x + 1) : NULL;
    if (!x)
        cli_fail(args, CLI_MEMORY, "not enough memory for %zu rows of %zu numbers (%.3g GiB)", rows, cols,
                 wanted / (1024.0 * 1024.0 * 1024.0));
    return x;
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

/* key NULL: an item of a list. */
static void json_add(cli_json *j, const char *key, json_t *value)
{
    json_t *into = j->open[j->depth];
    if ((key ? json_put(into, key, value, NULL) : json_append(into, value, NULL)) != NPMD_OK)
        j->failed = true;
}

/* What is filled next; it is held here, too, so that it is there even if it could not be added. */
static void json_enter(cli_json *j, const char *key, json_t *value)
{
    assert(j->depth + 1 < CLI_JSON_DEEPEST);
    json_t *held = json_incref(value);
    json_add(j, key, value);
    j->open[++j->depth] = held;
}

static void json_leave(cli_json *j)
{
    json_decref(j->open[j->depth]);
    j->open[j->depth--] = NULL;
}

static json_t *json_words(const char *value)
{
    return value ? json_any_text(value) : json_null();
}

void cli_json_begin(cli_json *j)
{
    cli_json_free(j);
    j->open[0] = json_object();
}

void cli_json_text(cli_json *j, const char *key, const char *value)
{
    json_add(j, key, json_words(value));
}

void cli_json_number(cli_json *j, const char *key, double value)
{
    json_add(j, key, json_known(value));
}

void cli_json_finite(cli_json *j, const char *key, double value)
{
    if (isfinite(value))
        cli_json_number(j, key, value);
}

void cli_json_signed(cli_json *j, const char *key, int64_t value)
{
    json_add(j, key, json_integer(value));
}

void cli_json_unsigned(cli_json *j, const char *key, uint64_t value)
{
    json_add(j, key, json_unsigned(value));
}

void cli_json_flag(cli_json *j, const char *key, bool value)
{
    json_add(j, key, json_boolean(value));
}

void cli_json_list(cli_json *j, const char *key)
{
    json_enter(j, key, json_array());
}

void cli_json_item(cli_json *j, const char *value)
{
    json_add(j, NULL, json_words(value));
}

void cli_json_items(cli_json *j, const char *key, const double *value, size_t count)
{
    cli_json_list(j, key);
    for (size_t i = 0; i < count; i++)
        json_add(j, NULL, json_known(value[i]));
    cli_json_list_end(j);
}

void cli_json_list_end(cli_json *j)
{
    json_leave(j);
}

void cli_json_object(cli_json *j)
{
    json_enter(j, NULL, json_object());
}

void cli_json_object_end(cli_json *j)
{
    json_leave(j);
}

void cli_json_whole(cli_json *j, const char *object)
{
    json_add(j, NULL, json_printed(object, strcspn(object, "\n")));
}

void cli_json_end(cli_json *j)
{
    const size_t length = json_print(j->open[0], JSON_PRINTF, NULL, 0);
    j->text = j->failed || length == 0 ? NULL : malloc(length + 2);
    j->failed = !j->text;
    if (j->failed)
        return;
    json_print(j->open[0], JSON_PRINTF, j->text, length + 1);
    memcpy(j->text + length, "\n", 2);
}

void cli_json_free(cli_json *j)
{
    while (j->depth > 0)
        json_leave(j);
    json_decref(j->open[0]);
    free(j->text);
    *j = (cli_json){ 0 };
}

int cli_json_print(const cli_args *args, cli_json *j)
{
    int code = CLI_DONE;
    cli_json_end(j);
    if (j->failed)
        code = cli_fail(args, CLI_MEMORY, "not enough memory for the report");
    else
        fputs(j->text, stdout); /* main checks the stream when it closes it */
    cli_json_free(j);
    return code;
}

/* ---- Numbers and lines for people ---------------------------------------------------------------------- */

cli_words cli_words_count(uint64_t n)
{
    char digits[24];
    cli_words w = { { 0 } };
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *to = w.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    return w;
}

cli_words cli_words_bytes(uint64_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    cli_words w = { { 0 } };
    double x = (double)bytes;
    size_t u = 0;
    for (; x >= 1024.0 && u + 1 < sizeof units / sizeof *units; u++)
        x /= 1024.0;
    snprintf(w.text, sizeof w.text, u == 0 || x >= 100.0 ? "%.0f %s" : "%.1f %s", x, units[u]);
    return w;
}

cli_words cli_words_time(double seconds)
{
    cli_words w = { { 0 } };
    if (!isfinite(seconds) || seconds < 0.0 || seconds > 1e9) {
        snprintf(w.text, sizeof w.text, "?");
    } else if (seconds < 9.95) {
        snprintf(w.text, sizeof w.text, "%.1f s", seconds);
    } else {
        const int64_t s = (int64_t)(seconds + 0.5);
        if (s < 60)
            snprintf(w.text, sizeof w.text, "%" PRId64 " s", s);
        else if (s < 3600)
            snprintf(w.text, sizeof w.text, "%" PRId64 " min %02" PRId64 " s", s / 60, s % 60);
        else
            snprintf(w.text, sizeof w.text, "%" PRId64 " h %02" PRId64 " min", s / 3600, s % 3600 / 60);
    }
    return w;
}

cli_words cli_words_error(double x, double se)
{
    cli_words w = { { 0 } };
    if (!(isfinite(se) && se > 0.0)) {
        snprintf(w.text, sizeof w.text, "%.5g", x);
        return w;
    }
    /* Two digits of the error, and as many places of the value. */
    const int places = 1 - (int)floor(log10(se));
    if (places < 0 || places > 8)
        snprintf(w.text, sizeof w.text, "%.5g +- %.2g", x, se);
    else
        snprintf(w.text, sizeof w.text, "%.*f +- %.*f", places, x, places, se);
    return w;
}

void cli_row(FILE *stream, const char *label, const char *format, ...)
{
    va_list values;
    fprintf(stream, "%-16s ", label);
    va_start(values, format);
    vfprintf(stream, format, values);
    va_end(values);
    fputc('\n', stream);
}

/* ---- Progress ------------------------------------------------------------------------------------------ */

static double clock_seconds(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
    p->shown = p->terminal ? -1e9 : clock_seconds();
}

/* "field, member 3/8, step"; attempt 0 is a short fit that helps to choose tau. */
static cli_words progress_noun(const npmd_report *now)
{
    cli_words noun;
    char member[32] = "";
    if (now->member > 0)
        snprintf(member, sizeof member, "member %d/%d, ", now->member, now->members);
    snprintf(noun.text, sizeof noun.text, "%.30s%s%s%sstep", now->part ? now->part : "",
             now->part ? ": " : "", member, now->attempt == 0 ? "choosing tau, " : "");
    return noun;
}

void cli_accuracy_missed(const cli_args *args, double error, double accuracy)
{
    const double wanted = accuracy > 0.0 ? accuracy : 1e-3;
    if (error > 1.05 * wanted)
        cli_note(args,
                 "warning: the largest error of an integral is %.2g in its log, above %.2g, which was wanted",
                 error, wanted);
}

/* Nothing where there is none, as of weights that are chosen. */
static cli_words progress_objective(const npmd_report *now, const char *before)
{
    cli_words w = { "" };
    if (isfinite(now->objective))
        snprintf(w.text, sizeof w.text, "%sobjective %.5g", before, now->objective);
    return w;
}

/* One line that is drawn over and over: bar, step, objective, rate, time left. The bar gets what the text
 * leaves. */
static void progress_draw(const npmd_report *now, double done, double rate, const char *left)
{
    enum { BAR_MOST = 30, BAR_LEAST = 5, TEXT_MOST = 200 };
    char text[TEXT_MOST], bar[BAR_MOST + 3] = "";
    int length = snprintf(text, sizeof text, "%3.0f%%  %s %s/%s%s  %.4g/s  %s left", 100.0 * done,
                          progress_noun(now).text, cli_words_count((uint64_t)now->step).text,
                          cli_words_count((uint64_t)now->steps).text, progress_objective(now, "  ").text,
                          rate, left);
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

void cli_progress_show(cli_progress *p, const npmd_report *now)
{
    const double interval = p->terminal ? 0.1 : 5.0, clock = clock_seconds();
    const bool last = now->steps > 0 && now->step >= now->steps;
    if (p->args->quiet)
        return;
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
    p->shown = clock;
    if (now->steps == 0) { /* nobody knows how many it takes */
        if (p->terminal)
            fprintf(stderr, "\r\033[K%s %s%s  %s", progress_noun(now).text,
                    cli_words_count((uint64_t)now->step).text, progress_objective(now, "  ").text,
                    cli_words_time(now->seconds).text);
        else
            cli_note(p->args, "%s %s%s", progress_noun(now).text, cli_words_count((uint64_t)now->step).text,
                     progress_objective(now, ", ").text);
        p->drawn = p->terminal;
    } else if (p->terminal) {
        progress_draw(now, done, rate, left.text);
        p->drawn = true;
    } else {
        cli_note(p->args, "%s %s of %s (%.0f %%)%s, %.4g steps/s, %s left", progress_noun(now).text,
                 cli_words_count((uint64_t)now->step).text, cli_words_count((uint64_t)now->steps).text,
                 100.0 * done, progress_objective(now, ", ").text, rate, left.text);
    }
}

void cli_progress_say(cli_progress *p, const char *format, ...)
{
    const double now = clock_seconds();
    va_list values;
    if (p->args->quiet || now - p->shown < (p->terminal ? 0.2 : 5.0))
        return;
    p->shown = now;
    p->drawn = p->terminal;
    va_start(values, format);
    if (p->terminal) {
        fputs("\r\033[K", stderr);
        vfprintf(stderr, format, values);
    } else {
        say(p->args, "", format, values);
    }
    va_end(values);
}

int cli_progress_solves(int64_t solved, int64_t expected, void *progress)
{
    cli_progress_say(progress, "eigenfunctions of a surface: solve %s of about %s",
                     cli_words_count((uint64_t)solved).text, cli_words_count((uint64_t)expected).text);
    return cli_interrupted();
}

void cli_progress_end(cli_progress *p)
{
    if (p->drawn)
        fputc('\n', stderr);
    p->drawn = false;
}
