/* cmd_sample.c - neuropmd sample: independent draws from a model. */
#include "cli.h"

#include <stdlib.h>

static const cli_option OPTIONS[] = {
    { "n", "N", .required = true, .help = "how many points; with --at, for each of its rows" },
    { "out", "FILE", .required = true, .help = "the points, one in each row; .csv .tsv .txt .npy" },
    { "given", "N,...", .help = "factors whose values are given, counted from 1: 1,3" },
    { "at", "FILE|X,...",
      .help = "the given values: a file with the columns of these factors, one or more rows, or one row of numbers" },
    CLI_OPTION_MAX_DISTANCE,
    CLI_OPTION_COORDS("write (and read --at with)"),
    { 0 },
};

static int report(const cli_args *args, const npmd_model *model, size_t n, const npmd_sample_facts *facts)
{
    const char *domain = npmd_domain_text(npmd_model_domain(model)), *out = cli_value(args, "out");
    if (args->json) {
        return CLI_PRINT(args, COUNT("n", n), TEXT("domain", domain), TEXT("out", out),
                         COUNT("proposed", facts->proposed), REAL("acceptance", facts->acceptance),
                         COUNT("envelope_raised", (uint64_t)facts->raised));
    }
    if (!args->quiet) {
        cli_row(stdout, "points", "%s on %s", cli_words_count(n).text, domain);
        cli_row(stdout, "accepted", "%.3g of the proposals", facts->acceptance);
        if (facts->raised > 0)
            cli_row(stdout, "envelope", "raised %d time%s, and all was drawn again", facts->raised,
                    facts->raised == 1 ? "" : "s");
        cli_row(stdout, "out", "%s", out);
    }
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_points *at = NULL;
    npmd_compute how;
    npmd_sample_facts facts = NPMD_SIZED(npmd_sample_facts);
    uint64_t seed = 0;
    size_t n = 0;
    unsigned coords = 0, given = 0;
    double *x = NULL;
    const char *out = cli_value(args, "out");
    TRY(cli_compute(args, &seed, &how));
    TRY(cli_count(args, "n", &n));
    TRY(cli_distinct(args, "--out", out, "MODEL", args->operand));
    TRY(cli_distinct(args, "--out", out, "--at", cli_value(args, "at")));
    if (!cli_value(args, "given") != !cli_value(args, "at"))
        TRY(cli_fail(args, CLI_USAGE, "--given names factors and --at their values: both or neither"));
    TRY(cli_checked(args,
                    cli_coords(args, &coords, &err) || cli_output(npmd_array_check, out, &err)
                        || npmd_load(args->operand, &model, &err)
                        || (cli_value(args, "given")
                            && cli_given_points(args, npmd_model_domain(model), coords, &given, &at, &err)),
                    &err));
    const npmd_domain *domain = npmd_model_domain(model);
    const size_t rows = at ? npmd_points_count(at) : 1, total = n > SIZE_MAX / rows ? SIZE_MAX : n * rows;
    TRY((x = cli_doubles(args, total, (size_t)npmd_domain_columns(domain))) ? CLI_DONE : CLI_MEMORY);
    TRY(cli_checked(args,
                    npmd_sample_given(model, given, at, seed, n, &how, x, &facts, &err)
                        || npmd_points_write(out, domain, coords, x, total, &err),
                    &err));
    st = report(args, model, total, &facts);
done:
    free(x);
    npmd_points_free(at);
    npmd_model_free(model);
    return st;
}

const cli_command command_sample = {
    .name = "sample",
    .operand = "MODEL",
    .summary = "draw points from a model",
    .details = "Independent draws by rejection. The envelope comes from the largest ratio of density to proposal "
               "that was found; a larger one met later raises it, all is drawn again, and that is reported. With "
               "--given and --at the draws are from the conditional density of the other factors; whole points are "
               "written.",
    .examples = "neuropmd sample torus.safetensors --n 10000 --out draws.npy --seed 3\n"
                "neuropmd sample t4.safetensors --n 1000 --given 1,3 --at 0.5,2.1 --out draws.npy\n",
    .options = OPTIONS,
    .run = run,
};
