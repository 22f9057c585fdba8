/* status.c - a failure is a value and a sentence. */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

npmd_status npmd_fail(npmd_error *err, npmd_status st, const char *format, ...)
{
    if (err != NULL) {
        char text[sizeof err->text]; /* an argument may be err->text itself */
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        err->status = st;
        memcpy(err->text, text, sizeof text);
    }
    return st;
}

npmd_status numbers_known(const char *what, const double *x, size_t n, size_t columns, size_t first, npmd_error *err)
{
    static const char WHY[] = "the model's numbers are too large there, or its density vanishes";
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]) && columns == 0)
            return npmd_fail(err, NPMD_ERR_NUMERIC, "%s is not finite: %s", what, WHY);
        else if (!isfinite(x[i]))
            return npmd_fail(err, NPMD_ERR_NUMERIC, "%s at row %zu is not finite: %s", what, first + i / columns + 1,
                             WHY);
    return NPMD_OK;
}

const char *status_text(npmd_status st)
{
    static const char *const TEXT[] = {
        [NPMD_OK] = "done",
        [NPMD_ERR_ARGUMENT] = "a value lies outside its documented range",
        [NPMD_ERR_SHAPE] = "sizes disagree",
        [NPMD_ERR_FORMAT] = "a file makes no sense",
        [NPMD_ERR_NUMERIC] = "numerical failure",
        [NPMD_ERR_FILE] = "a file cannot be read or written",
        [NPMD_ERR_DEVICE] = "the device is absent or failing",
        [NPMD_ERR_MEMORY] = "not enough memory",
        [NPMD_STOPPED] = "stopped, and kept in its checkpoint",
    };
    const size_t i = (size_t)st;
    return i < sizeof TEXT / sizeof *TEXT && TEXT[i] != NULL ? TEXT[i] : "unknown status";
}

npmd_report report_new(int64_t step, int64_t steps, int attempt, double seconds)
{
    return (npmd_report){ .size = sizeof(npmd_report),
                          .doing = "fit",
                          .done = NAN,
                          .step = step,
                          .steps = steps,
                          .attempt = attempt,
                          .epoch = NAN,
                          .seconds = seconds,
                          .rate = NAN,
                          .data = NAN,
                          .integral = NAN,
                          .penalty = NAN,
                          .objective = NAN,
                          .log_integral = NAN,
                          .nise = NAN,
                          .ae = NAN,
                          .ise = NAN,
                          .ise_se = NAN,
                          .snr_a = NAN,
                          .snr_b = NAN,
                          .snr_c = NAN };
}

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *version_text(void)
{
    return NPMD_VERSION;
}

int compute_tell(const npmd_compute *how, const char *doing, double done)
{
    if (how == NULL || how->progress == NULL)
        return 0;
    npmd_report report = report_new(0, 0, 1, NAN);
    report.doing = doing;
    report.done = done > 1.0 ? 1.0 : done;
    return how->progress(&report, how->user);
}

npmd_status compute_go_on(const npmd_compute *how, const char *doing, double done, npmd_error *err)
{
    return compute_tell(how, doing, done) == 0 ? NPMD_OK : npmd_fail(err, NPMD_STOPPED, "the caller asked to stop");
}

static int part_progress(const npmd_report *now, void *user)
{
    const compute_part *part = user;
    return compute_tell(part->how, part->doing, part->from + now->done * (part->to - part->from));
}

npmd_compute compute_of_part(compute_part *part)
{
    npmd_compute own = { .size = sizeof own };
    if (part->how != NULL)
        own = *part->how;
    if (own.progress != NULL) {
        own.progress = part_progress;
        own.user = part;
    }
    return own;
}
