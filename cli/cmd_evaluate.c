/* cmd_evaluate.c - neuropmd evaluate: distances of a model from a known density. */
#include "cli.h"

#include <math.h>
#include <string.h>

static const cli_option OPTIONS[] = {
    { "truth", "FILE", .required = true, .help = "mixture from simulate (.json), or a grid (.npy)" },
    { "grid", "fine|authors", .fallback = "fine",
      .help = "where the two are compared; authors: the paper's 100 x 100 nodes on T2, each density divided by its "
              "mean" },
    { "points", "N", .help = "how many points or nodes; without it chosen from the domain" },
    { 0 },
};

static int report(const cli_args *args, const npmd_comparison *c, npmd_grid grid)
{
    const struct {
        const char *name, *name_se, *meaning;
        double value, se;
    } rows[] = {
        { "nise", "nise_se", "mean of (f - g)^2 over mean of f^2, f the truth", c->nise, c->nise_se },
        { "ae", "ae_se", "arccos of the correlation of sqrt f and sqrt g; the paper's table", c->ae, c->ae_se },
        { "fr", "fr_se", "Fisher-Rao half-distance, arccos <sqrt f, sqrt g>", c->fr, c->fr_se },
        { "fr2", "fr2_se", "arccos <sqrt f, sqrt g>^2; the paper's formula", c->fr2, c->fr2_se },
        { "kl", "kl_se", "Kullback-Leibler divergence of g from f, nats", c->kl, c->kl_se },
    };
    enum { DISTANCES = sizeof rows / sizeof *rows };
    cli_json j = { 0 };
    if (args->json) {
        cli_json_begin(&j);
        for (int i = 0; i < DISTANCES; i++)
            CLI_PUT(&j, REAL(rows[i].name, rows[i].value));
        CLI_PUT(&j, COUNT("points", c->points),
                grid == NPMD_GRID_AUTHORS ? FINITE("nise_undivided", c->nise_undivided) : NO_FACT);
        for (int i = 0; i < DISTANCES; i++)
            CLI_PUT(&j, FINITE(rows[i].name_se, rows[i].se));
        return cli_json_print(args, &j);
    }
    for (int i = 0; i < DISTANCES; i++)
        cli_row(stdout, rows[i].name, "%-20s %s", cli_words_error(rows[i].value, rows[i].se).text, rows[i].meaning);
    if (grid == NPMD_GRID_AUTHORS)
        cli_row(stdout, "nise undivided", "%-20.5g %s", c->nise_undivided, "without the division by the means");
    cli_row(stdout, "points", "%s", cli_words_count(c->points).text);
    return CLI_DONE;
}

static int parse_grid(const cli_args *args, npmd_grid *out)
{
    const char *text = cli_value(args, "grid");
    if (!text || strcmp(text, "fine") == 0)
        *out = NPMD_GRID_FINE;
    else if (strcmp(text, "authors") == 0)
        *out = NPMD_GRID_AUTHORS;
    else
        return cli_fail(args, CLI_USAGE, "--grid is '%s', expected fine or authors", text);
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_truth *truth = NULL;
    npmd_comparison comparison = NPMD_SIZED(npmd_comparison);
    npmd_compute how;
    npmd_grid grid = NPMD_GRID_FINE;
    uint64_t seed = 0;
    size_t points = 0; /* the library chooses */
    int code = cli_compute(args, &seed, &how);
    if (code != CLI_DONE || (code = parse_grid(args, &grid)) != CLI_DONE
        || (code = cli_count(args, "points", &points)) != CLI_DONE)
        return code;
    code = npmd_load(args->operand, &model, &err) || npmd_truth_read(cli_value(args, "truth"), &truth, &err)
                   || npmd_compare(model, truth, grid, points, seed, &how, &comparison, &err)
               ? cli_refuse(args, &err)
               : report(args, &comparison, grid);
    npmd_truth_free(truth);
    npmd_model_free(model);
    return code;
}

const cli_command command_evaluate = {
    .name = "evaluate",
    .operand = "MODEL",
    .summary = "compare a model with a known density",
    .details = "f is the truth and g the model. On tori of one and two dimensions the integrals are sums over a "
               "grid; elsewhere they are means over quasi-random points, with their standard errors.",
    .examples = "neuropmd evaluate torus.safetensors --truth truth.json\n"
                "neuropmd evaluate torus.safetensors --truth truth.json --grid authors --json\n",
    .options = OPTIONS,
    .run = run,
};
