/* cmd_plot.c - neuropmd plot: a picture of a density on T2, beside the truth when one is given. */
#include "cli.h"

#include <string.h>
#include <strings.h>

static const cli_option OPTIONS[] = {
    { .name = "out", .values = "FILE", .required = true, .help = "the picture, a .png" },
    { .name = "truth", .values = "FILE", .help = "a known density, drawn beside the estimate on one scale" },
    { 0 },
};

static int run(const cli_args *args)
{
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_truth *truth = NULL;
    npmd_compute how;
    uint64_t seed = 0;
    cli_json j = { 0 };
    const char *out = cli_value(args, "out"), *known = cli_value(args, "truth"), *ending = strrchr(out, '.');
    int code = cli_compute(args, &seed, &how);
    if (code != CLI_DONE || (code = cli_distinct(args, "--out", out, "MODEL", args->operand)) != CLI_DONE
        || (code = cli_distinct(args, "--out", out, "--truth", known)) != CLI_DONE)
        return code;
    if (!ending || strcasecmp(ending, ".png") != 0)
        return cli_fail(args, CLI_USAGE, "--out is '%s', expected a name that ends in .png", out);
    if (npmd_output_check(out, &err) || npmd_load(args->operand, &model, &err)
        || (known && npmd_truth_read(known, &truth, &err)) || npmd_plot(model, truth, out, &err)) {
        code = cli_refuse(args, &err);
    } else if (args->json) {
        cli_json_begin(&j);
        cli_json_text(&j, "out", out);
        cli_json_text(&j, "domain", npmd_domain_text(npmd_model_domain(model)));
        cli_json_text(&j, "truth", known);
        code = cli_json_print(args, &j);
    } else if (!args->quiet) {
        cli_row(stdout, "picture", "%s", out);
    }
    npmd_truth_free(truth);
    npmd_model_free(model);
    return code;
}

const cli_command command_plot = {
    .name = "plot",
    .operand = "MODEL",
    .summary = "draw a density on the torus T2",
    .examples = "neuropmd plot torus.safetensors --out torus.png --truth truth.json\n",
    .options = OPTIONS,
    .run = run,
};
