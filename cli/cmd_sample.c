/* cmd_sample.c - neuropmd sample: independent draws from a model. */
#include "cli.h"

#include <stdlib.h>

static const cli_option OPTIONS[] = {
    { .name = "n", .values = "N", .required = true, .help = "how many points" },
    { .name = "out",
      .values = "FILE",
      .required = true,
      .help = "the points, one a row; .csv .tsv .txt .npy" },
    { .name = "coords",
      .values = "latlon|degrees|latlon,degrees",
      .help = "write latitude, longitude in degrees for each S2; degrees for each S1" },
    { 0 },
};

static int report(const cli_args *args, const npmd_model *model, size_t n, const npmd_sample_facts *facts)
{
    const char *domain = npmd_domain_text(npmd_model_domain(model)), *out = cli_value(args, "out");
    cli_json j = { 0 };
    if (args->json) {
        cli_json_begin(&j);
        cli_json_unsigned(&j, "n", n);
        cli_json_text(&j, "domain", domain);
        cli_json_text(&j, "out", out);
        cli_json_unsigned(&j, "proposed", facts->proposed);
        cli_json_number(&j, "acceptance", facts->acceptance);
        cli_json_unsigned(&j, "envelope_raised", (uint64_t)facts->raised);
        return cli_json_print(args, &j);
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
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_compute how;
    npmd_sample_facts facts;
    uint64_t seed = 0;
    size_t n = 0;
    unsigned coords = 0;
    double *x = NULL;
    const char *out = cli_value(args, "out");
    int code = cli_compute(args, &seed, &how);
    if (code != CLI_DONE || (code = cli_count(args, "n", &n)) != CLI_DONE
        || (code = cli_distinct(args, "--out", out, "MODEL", args->operand)) != CLI_DONE)
        goto done;
    if (cli_coords(args, &coords, &err) || npmd_array_check(out, &err)
        || npmd_load(args->operand, &model, &err)) {
        code = cli_refuse(args, &err);
        goto done;
    }
    const npmd_domain *domain = npmd_model_domain(model);
    if (!(x = cli_doubles(args, n, (size_t)npmd_domain_columns(domain)))) {
        code = CLI_MEMORY;
        goto done;
    }
    if (npmd_sample(model, seed, n, &how, x, &facts, &err)
        || npmd_points_write(out, domain, coords, x, n, &err))
        code = cli_refuse(args, &err);
    else
        code = report(args, model, n, &facts);
done:
    free(x);
    npmd_model_free(model);
    return code;
}

const cli_command command_sample = {
    .name = "sample",
    .operand = "MODEL",
    .summary = "draw points from a model",
    .details =
        "Independent draws by rejection. The envelope comes from the largest ratio of density to proposal that was "
        "found; a larger one met later raises it, all is drawn again, and that is reported.",
    .examples = "neuropmd sample torus.safetensors --n 10000 --out draws.npy --seed 3\n",
    .options = OPTIONS,
    .run = run,
};
