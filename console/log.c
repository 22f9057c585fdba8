/* log.c - the log of a fit: one JSON line for each report, flushed at once.
 *
 * A resumed fit continues the log of the run before. That run may have gone beyond its last checkpoint: its later
 * lines, and an incomplete last one, are removed, so that the log reads like that of one run. */
#include "console.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_log_open(const cli_args *args, cli_log *log, const char *path, bool resumed)
{
    struct stat facts;
    if (!path)
        return CLI_DONE;
    log->path = path;
    log->made = stat(path, &facts) != 0;
    log->old = resumed && !log->made && S_ISREG(facts.st_mode); /* from a pipe nothing can be taken back */
    log->file = log->old ? fopen(path, "r+") : NULL;
    if (!log->file)
        log->file = fopen(path, "w");
    if (!log->file)
        return cli_fail(args, CLI_FILE, "cannot write the log %s: %s", path, strerror(errno));
    setvbuf(log->file, NULL, _IOLBF, 0);
    return CLI_DONE;
}

static long long line_number(const char *line, const char *key, long long fallback)
{
    const char *at = strstr(line, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : fallback;
}

/* Was this line, the one of that number, written before the report? A checkpoint of before does not know its place in the
 * log, but by attempt and step. */
static bool line_is_before(const char *line, int64_t number, const npmd_report *now)
{
    if (now->line >= 0)
        return number < now->line;
    const long long step = line_number(line, "\"step\":", -1), attempt = line_number(line, "\"attempt\":", 1);
    return step >= 0 && (attempt < now->attempt || (attempt == now->attempt && step < now->step));
}

/* Cuts the log before the line that this report will be: what follows was written beyond the checkpoint. */
static void log_take_back(cli_log *log, const npmd_report *now)
{
    char *line = NULL;
    size_t room = 0;
    long good = 0;
    ssize_t length;
    rewind(log->file);
    for (int64_t at = 0; (length = getline(&line, &room, log->file)) > 0 && line[length - 1] == '\n'; at++) {
        if (!line_is_before(line, at, now))
            break;
        good = ftell(log->file);
    }
    free(line);
    if (fseek(log->file, good, SEEK_SET) != 0 || ftruncate(fileno(log->file), (off_t)good) != 0)
        log->error = errno;
}

void cli_log_report(cli_log *log, const npmd_report *now)
{
    cli_json *j = &log->line;
    if (!log->file || !now->logged)
        return;
    if (log->old)
        log_take_back(log, now);
    log->old = false;
    cli_json_begin(j);
    CLI_PUT(j, WHOLE("step", now->step), REAL("epoch", now->epoch), REAL("seconds", now->seconds),
            REAL("rate", now->rate), REAL("data", now->data), REAL("integral", now->integral),
            REAL("penalty", now->penalty), REAL("objective", now->objective), REAL("log_integral", now->log_integral),
            FINITE("nise", now->nise), FINITE("ae", now->ae), FINITE("ise", now->ise), FINITE("ise_se", now->ise_se),
            FINITE("snr_a", now->snr_a), FINITE("snr_b", now->snr_b), FINITE("snr_c", now->snr_c),
            now->attempt > 1 ? WHOLE("attempt", now->attempt) : NO_FACT,
            now->member > 0 ? WHOLE("member", now->member) : NO_FACT, now->part ? TEXT("part", now->part) : NO_FACT);
    cli_json_end(j);
    errno = 0;
    if (!log->error && (j->failed || fputs(j->text, log->file) == EOF))
        log->error = errno ? errno : ENOMEM;
}

void cli_log_discard(cli_log *log)
{
    if (log->file && log->made && ftell(log->file) == 0)
        unlink(log->path);
}

int cli_log_close(const cli_args *args, cli_log *log)
{
    const bool closed = !log->file || fclose(log->file) == 0;
    const int why = log->error ? log->error : errno;
    log->file = NULL;
    cli_json_free(&log->line);
    if (closed && !log->error)
        return CLI_DONE;
    return cli_fail(args, CLI_FILE, "the log %s is not whole: %s", log->path, strerror(why));
}
