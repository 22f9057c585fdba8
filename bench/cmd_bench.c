/* cmd_bench.c - neuropmd bench: how fast this machine is, part by part. */
#include "bench.h"
#include "console.h"

#include <stdlib.h>

static const cli_option OPTIONS[] = {
    { "quick", .help = "everything small and seldom repeated: a look in a few seconds" },
    { "full", .help = "S2 x S2 at its full size, a density of ten million points" },
    { "scaling", .help = "also how a step grows with n, q1, q2, K, W, L and D" },
    { "only", "NAME",
      .help = "machine, kernels, steps, evaluation, density or scaling; a kernel (sine-forward), a variant (avx2) "
              "or a size (t2, t4-authors, t4, s2s2, s2s2-rotated)" },
    { 0 },
};

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/* What is measured now: one line that is drawn over and over, or in a log a line every few seconds. */
static int show(const char *next, void *user)
{
    cli_progress *p = user;
    const double now = cli_clock();
    if (!next || p->args->quiet)
        return cli_interrupted();
    if (p->terminal) {
        fprintf(stderr, "\r\033[K%s", next);
        fflush(stderr);
    } else if (now - p->shown >= 5.0) {
        cli_note(p->args, "%s", next);
        p->shown = now;
    }
    return cli_interrupted();
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int run(const cli_args *args)
{
    npmd_error err = { 0 };
    const char *folder = getenv("TMPDIR");
    uint64_t seed = 0;
    char *json = NULL, *words = NULL;
    cli_progress progress;
    bench_request request = { .quick = cli_value(args, "quick") != NULL,
                              .full = cli_value(args, "full") != NULL,
                              .scaling = cli_value(args, "scaling") != NULL,
                              .only = cli_value(args, "only"),
                              .folder = folder && folder[0] ? folder : "/tmp",
                              .progress = show,
                              .user = &progress };
    int code = cli_compute(args, &seed, &request.how);
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(&progress, args);
    cli_watch_signals(true);
    const npmd_status st = bench_run(&request, &json, &err);
    if (progress.terminal && !args->quiet)
        fputs("\r\033[K", stderr);
    if (st != NPMD_OK || (!args->json && bench_words(json, &words, &err)))
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
    .details = "Verifies first, then times: kernels against plain double loops, steps and evaluation against the "
               "reference backend. What is wrong ends the command with exit status 4. The floor of a step is its "
               "exact operation count (products only) over the number of threads times the rate of one thread, "
               "measured in the same run. Without --quick it takes a minute on two cores; run it on an idle "
               "machine. The density from file to file is written to $TMPDIR (or /tmp), where nothing stays.",
    .examples = "neuropmd bench\n"
                "neuropmd bench --only steps --threads 1\n"
                "neuropmd bench --full --scaling --json > this_machine.json\n",
    .options = OPTIONS,
    .run = run,
};
