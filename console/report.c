/* report.c - what the program says: one JSON object or aligned lines on stdout; failures, remarks and
 * progress on stderr. */
#include "cli.h"

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

static void json_put(cli_json *j, const char *bytes, size_t n)
{
    if (j->failed)
        return;
    if (j->length + n + 1 > j->room) {
        const size_t room = 2 * (j->length + n + 1) + 256;
        char *text = realloc(j->text, room);
        if (!text) {
            j->failed = true;
            return;
        }
        j->text = text;
        j->room = room;
    }
    memcpy(j->text + j->length, bytes, n);
    j->length += n;
    j->text[j->length] = '\0';
}

static void json_puts(cli_json *j, const char *text)
{
    json_put(j, text, strlen(text));
}

/* Bytes of the well-formed UTF-8 character at s, 0 when there is none (RFC 3629: no surrogates, nothing too
 * long). */
static size_t utf8_length(const unsigned char *s)
{
    const unsigned char c = s[0];
    size_t n = 0;
    unsigned char low = 0x80, high = 0xBF; /* of the second byte */
    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c <= 0xDF)
        n = 2;
    else if (c >= 0xE0 && c <= 0xEF)
        n = 3;
    else if (c >= 0xF0 && c <= 0xF4)
        n = 4;
    else
        return 0;
    low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : low;
    high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : high;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (s[i] < 0x80 || s[i] > 0xBF)
            return 0;
    return n;
}

static void json_quote(cli_json *j, const char *value)
{
    char escape[8];
    if (!value) {
        json_puts(j, "null");
        return;
    }
    json_puts(j, "\"");
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        const size_t n = utf8_length(s);
        if (n == 0) {
            json_puts(j, "\\ufffd"); /* a file's name may be any bytes, JSON may not */
        } else if (*s == '"' || *s == '\\') {
            snprintf(escape, sizeof escape, "\\%c", *s);
            json_puts(j, escape);
        } else if (*s < 0x20 || *s == 0x7F) {
            snprintf(escape, sizeof escape, "\\u%04x", *s);
            json_puts(j, escape);
        } else {
            json_put(j, (const char *)s, n);
        }
        s += n ? n : 1;
    }
    json_puts(j, "\"");
}

static void json_separate(cli_json *j)
{
    if (j->comma)
        json_puts(j, ", ");
    j->comma = true;
}

static void json_key(cli_json *j, const char *key)
{
    json_separate(j);
    json_quote(j, key);
    json_puts(j, ": ");
}

void cli_json_begin(cli_json *j)
{
    j->length = 0;
    j->comma = j->failed = false;
    json_puts(j, "{");
}

void cli_json_text(cli_json *j, const char *key, const char *value)
{
    json_key(j, key);
    json_quote(j, value);
}

void cli_json_number(cli_json *j, const char *key, double value)
{
    char digits[40];
    json_key(j, key);
    snprintf(digits, sizeof digits, "%.17g", value);
    json_puts(j, isfinite(value) ? digits : "null");
}

void cli_json_finite(cli_json *j, const char *key, double value)
{
    if (isfinite(value))
        cli_json_number(j, key, value);
}

void cli_json_signed(cli_json *j, const char *key, int64_t value)
{
    char digits[32];
    json_key(j, key);
    snprintf(digits, sizeof digits, "%" PRId64, value);
    json_puts(j, digits);
}

void cli_json_unsigned(cli_json *j, const char *key, uint64_t value)
{
    char digits[32];
    json_key(j, key);
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    json_puts(j, digits);
}

void cli_json_flag(cli_json *j, const char *key, bool value)
{
    json_key(j, key);
    json_puts(j, value ? "true" : "false");
}

void cli_json_list(cli_json *j, const char *key)
{
    json_key(j, key);
    json_puts(j, "[");
    j->comma = false;
}

void cli_json_item(cli_json *j, const char *value)
{
    json_separate(j);
    json_quote(j, value);
}

void cli_json_items(cli_json *j, const char *key, const double *value, size_t count)
{
    char digits[40];
    cli_json_list(j, key);
    for (size_t i = 0; i < count; i++) {
        json_separate(j);
        snprintf(digits, sizeof digits, "%.17g", value[i]);
        json_puts(j, isfinite(value[i]) ? digits : "null");
    }
    cli_json_list_end(j);
}

void cli_json_list_end(cli_json *j)
{
    json_puts(j, "]");
    j->comma = true;
}

void cli_json_object(cli_json *j)
{
    json_separate(j);
    json_puts(j, "{");
    j->comma = false;
}

void cli_json_object_end(cli_json *j)
{
    json_puts(j, "}");
    j->comma = true;
}

void cli_json_whole(cli_json *j, const char *object)
{
    json_separate(j);
    json_put(j, object, strcspn(object, "\n"));
}

void cli_json_end(cli_json *j)
{
    json_puts(j, "}\n");
}

void cli_json_free(cli_json *j)
{
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

double cli_clock(void)
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
    p->began = cli_clock();
    p->shown = p->terminal ? -1e9 : p->began;
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

/* When it is time for a sign of life: over the last words on a terminal, a line in a log. */
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
        say(p->args, "", format, values);
    }
    va_end(values);
}

/* Everything but a fit knows the share that is done; a page looks for where the density is large before it does. */
static void show_share(cli_progress *p, const npmd_report *now)
{
    const double spent = cli_clock() - p->began;
    const cli_words left = cli_words_time(spent * (1.0 - now->done) / now->done);
    if (strcmp(now->doing, "eigenfunctions") == 0)
        show_words(p, "eigenfunctions of a surface: solve %s of about %s",
                   cli_words_count((uint64_t)now->step).text, cli_words_count((uint64_t)now->steps).text);
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
