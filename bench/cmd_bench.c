/* cmd_bench.c - neuropmd bench: how fast this machine is, part by part. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const cli_option OPTIONS[] = {
    { .name = "quick", .help = "everything small and seldom repeated: a look in a few seconds" },
    { .name = "full", .help = "S2 x S2 at its full size, a density of ten million points" },
    { .name = "scaling", .help = "also how a step grows with n, q1, q2, K, W, L and D" },
    { .name = "only",
      .values = "NAME",
      .help = "machine, kernels, steps, evaluation, density or scaling; a kernel (sine-forward), a variant "
              "(avx2) or a size (t2, t4-authors, t4, s2s2, s2s2-rotated)" },
    { 0 },
};

/* ---- Progress ------------------------------------------------------------------------------------------ */

typedef struct bench_watch {
    const cli_args *args;
    bool terminal;
    time_t shown;
} bench_watch;

/* What is measured now: one line that is drawn over and over, or in a log a line every few seconds. */
static int show(const char *next, void *user)
{
    bench_watch *w = user;
    const time_t now = time(NULL);
    if (!next || w->args->quiet)
        return cli_interrupted();
    if (w->terminal) {
        fprintf(stderr, "\r\033[K%s", next);
        fflush(stderr);
    } else if (now - w->shown >= 5) {
        cli_note(w->args, "%s", next);
        w->shown = now;
    }
    return cli_interrupted();
}

static void watch_begin(bench_watch *w, const cli_args *args)
{
    const char *kind = getenv("TERM");
    *w = (bench_watch){ .args = args, .shown = time(NULL) };
    w->terminal = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
}

static void watch_end(const bench_watch *w)
{
    if (w->terminal && !w->args->quiet)
        fputs("\r\033[K", stderr);
}

/* ---- The command --------------------------------------------------------------------------------------- */

static int run(const cli_args *args)
{
    npmd_error err = { 0 };
    const char *folder = getenv("TMPDIR");
    uint64_t seed = 0;
    char *json = NULL, *words = NULL;
    bench_watch watch;
    npmd_bench_request request = { .quick = cli_value(args, "quick") != NULL,
                                   .full = cli_value(args, "full") != NULL,
                                   .scaling = cli_value(args, "scaling") != NULL,
                                   .only = cli_value(args, "only"),
                                   .folder = folder && folder[0] ? folder : "/tmp",
                                   .progress = show,
                                   .user = &watch };
    int code = cli_compute(args, &seed, &request.how);
    if (code != CLI_DONE)
        return code;
    watch_begin(&watch, args);
    cli_watch_signals(true);
    const npmd_status st = npmd_bench(&request, &json, &err);
    watch_end(&watch);
    if (st != NPMD_OK || (!args->json && npmd_bench_words(json, &words, &err)))
        code = cli_refuse(args, &err);
    else if (args->json)
        printf("%s\n", json);
    else if (!args->quiet)
        fputs(words, stdout);
    npmd_text_free(json);
    npmd_text_free(words);
    return code;
}

const cli_command command_bench = {
    .name = "bench",
    .summary = "speed of each kernel and step on this machine",
    .details =
        "Verifies first, then times: kernels against plain double loops, steps and evaluation against the reference "
        "backend. What is wrong ends the command with exit status 4. The floor of a step is its exact operation count "
        "(products only) over the number of threads times the rate of one thread, measured in the same run. Without "
        "--quick it takes a minute on two cores; run it on an idle machine. The density from file to file is "
        "written to $TMPDIR (or /tmp), where nothing stays.",
    .examples = "neuropmd bench\n"
                "neuropmd bench --only steps --threads 1\n"
                "neuropmd bench --full --scaling --json > this_machine.json\n",
    .options = OPTIONS,
    .run = run,
};
