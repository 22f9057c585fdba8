/* report.c - text output: aligned lines on stdout, failures and notes on stderr, files. */
#include "console.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Failures and remarks ---------------------------------------------------------------------------------------- */

/* Where a library's sentence has an option's name at this place, between back quotes: its length; else 0. */
static size_t quoted_option(const char *at)
{
    size_t length = 0;
    if (*at != '`' || !islower((unsigned char)at[1]))
        return 0;
    while (islower((unsigned char)at[1 + length]) || isdigit((unsigned char)at[1 + length]) || at[1 + length] == '-')
        length++;
    return at[1 + length] == '`' ? length : 0;
}

void cli_respell(const char *text, char *out, size_t size)
{
    size_t used = 0;
    while (*text && used + 1 < size) {
        const size_t length = quoted_option(text);
        if (length == 0) {
            out[used++] = *text++;
            continue;
        }
        used += (size_t)snprintf(out + used, size - used, "--%.*s", (int)length, text + 1);
        text += length + 2;
    }
    out[used < size ? used : size - 1] = 0;
}

/* One line on stderr: a control character, of a file's name for example, would break it. */
void cli_say(const cli_args *args, const char *format, va_list values)
{
    char said[2048], text[2048];
    vsnprintf(said, sizeof said, format, values);
    cli_respell(said, text, sizeof text);
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    fflush(stdout);
    if (args->command)
        fprintf(stderr, "neuropmd %s: %s\n", args->command->name, text);
    else
        fprintf(stderr, "neuropmd: %s\n", text);
}

int cli_fail(const cli_args *args, int code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    cli_say(args, format, values);
    va_end(values);
    return code;
}

void cli_note(const cli_args *args, const char *format, ...)
{
    va_list values;
    if (args->quiet)
        return;
    va_start(values, format);
    cli_say(args, format, values);
    va_end(values);
}

int cli_exit_of(npmd_status st)
{
    static const int codes[] = {
        [NPMD_ERR_ARGUMENT] = CLI_USAGE,  [NPMD_ERR_SHAPE] = CLI_INPUT,     [NPMD_ERR_FORMAT] = CLI_INPUT,
        [NPMD_ERR_NUMERIC] = CLI_NUMERIC, [NPMD_ERR_FILE] = CLI_FILE,       [NPMD_ERR_DEVICE] = CLI_DEVICE,
        [NPMD_ERR_MEMORY] = CLI_MEMORY,   [NPMD_STOPPED] = CLI_INTERRUPTED,
    };
    const size_t known = sizeof codes / sizeof *codes;
    return (size_t)st < known && st != NPMD_OK ? codes[st] : CLI_NUMERIC;
}

int cli_refuse(const cli_args *args, const npmd_error *err)
{
    return cli_fail(args, cli_exit_of(err->status), "%s", err->text[0] ? err->text : npmd_status_text(err->status));
}

int cli_checked(const cli_args *args, bool failed, const npmd_error *err)
{
    return failed ? cli_refuse(args, err) : CLI_DONE;
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

void cli_accuracy_missed(const cli_args *args, double error, double accuracy)
{
    const double wanted = accuracy > 0.0 ? accuracy : NPMD_ACCURACY;
    if (error > 1.05 * wanted)
        cli_note(args, "warning: the largest error of an integral is %.2g in its log, above %.2g, which was wanted",
                 error, wanted);
}

int cli_write(const cli_args *args, const char *path, void (*put)(FILE *f, const void *user), const void *user)
{
    npmd_error err = { 0 };
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    bool whole = f != NULL;
    int code = CLI_DONE;
    if (f) {
        put(f, user);
        whole = !ferror(f);
        whole = fclose(f) == 0 && whole;
    }
    if (!whole)
        code = cli_fail(args, CLI_MEMORY, "not enough memory for what goes to %s", path);
    else if (npmd_text_write(path, text, &err))
        code = cli_refuse(args, &err);
    free(text);
    return code;
}

/* ---- Numbers and lines for people -------------------------------------------------------------------------------- */

cli_words cli_words_of(const char *format, ...)
{
    cli_words w;
    va_list values;
    va_start(values, format);
    vsnprintf(w.text, sizeof w.text, format, values);
    va_end(values);
    return w;
}

void cli_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

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
    double x = (double)bytes;
    size_t u = 0;
    for (; x >= 1024.0 && u + 1 < sizeof units / sizeof *units; u++)
        x /= 1024.0;
    return cli_words_of(u == 0 || x >= 100.0 ? "%.0f %s" : "%.1f %s", x, units[u]);
}

cli_words cli_words_time(double seconds)
{
    if (!isfinite(seconds) || seconds < 0.0 || seconds > 1e9)
        return cli_words_of("?");
    if (seconds < 9.95)
        return cli_words_of("%.1f s", seconds);
    const int64_t s = (int64_t)(seconds + 0.5);
    return s < 60     ? cli_words_of("%" PRId64 " s", s)
           : s < 3600 ? cli_words_of("%" PRId64 " min %02" PRId64 " s", s / 60, s % 60)
                      : cli_words_of("%" PRId64 " h %02" PRId64 " min", s / 3600, s % 3600 / 60);
}

cli_words cli_words_error(double x, double se)
{
    if (!(isfinite(se) && se > 0.0))
        return cli_words_of("%.5g", x);
    /* Two digits of the error, and as many places of the value. */
    const int places = 1 - (int)floor(log10(se));
    return places < 0 || places > 8 ? cli_words_of("%.5g +- %.2g", x, se)
                                    : cli_words_of("%.*f +- %.*f", places, x, places, se);
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
