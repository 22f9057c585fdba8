/* cmd_simulate.c - neuropmd simulate: points from a known density, and the density itself. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const cli_option OPTIONS[] = {
    { "n", "N", .required = true, .help = "how many points" },
    { "out", "FILE", .required = true, .help = "the points, one in each row; .csv .tsv .txt .npy" },
    { "truth", "FILE", .help = "the density, as JSON for evaluate, fit and simulate" },
    { "authors", .help = "t2: the very mixture behind the paper's T2 table" },
    { "truth-seed", "S", .fallback = "0",
      .help = "seed of the random matrices of t2 and t4, of all of gauntlet:NAME; --seed is that of the points" },
    CLI_OPTION_COORDS("write"),
    { 0 },
};

typedef struct simulation {
    size_t n;
    uint64_t seed, truth_seed;
    double entropy, entropy_se;
} simulation;

static int report(const cli_args *args, const npmd_truth *truth, const simulation *s)
{
    const char *domain = npmd_domain_text(npmd_truth_domain(truth));
    const char *out = cli_value(args, "out"), *truth_path = cli_value(args, "truth");
    if (args->json) {
        return CLI_PRINT(args, COUNT("n", s->n), TEXT("domain", domain), REAL("entropy", s->entropy),
                         REAL("entropy_se", s->entropy_se), TEXT("out", out), TEXT("truth", truth_path),
                         COUNT("seed", s->seed));
    }
    if (!args->quiet) {
        cli_row(stdout, "points", "%s on %s", cli_words_count(s->n).text, domain);
        cli_row(stdout, "entropy", "%s (nats, per volume)", cli_words_error(s->entropy, s->entropy_se).text);
        cli_row(stdout, "out", "%s", out);
        if (truth_path)
            cli_row(stdout, "truth", "%s", truth_path);
    }
    return CLI_DONE;
}

static bool is_recipe(const char *text) /* else it is a file */
{
    return strcmp(text, "t2") == 0 || strcmp(text, "t4") == 0 || strncmp(text, "gauntlet:", 9) == 0;
}

static npmd_status make_truth(const cli_args *args, uint64_t truth_seed, npmd_truth **out, npmd_error *err)
{
    const char *recipe = args->operand;
    if (cli_value(args, "authors"))
        return npmd_truth_make("t2-authors", truth_seed, out, err);
    if (is_recipe(recipe))
        return npmd_truth_make(recipe, truth_seed, out, err);
    const npmd_status st = npmd_truth_read(recipe, out, err);
    if (st == NPMD_ERR_FILE) { /* a recipe mistyped looks like a file that is not there */
        char why[sizeof err->text];
        memcpy(why, err->text, sizeof why);
        snprintf(err->text, sizeof err->text, "%.400s; expected t2, t4, gauntlet:NAME or a file", why);
    }
    return st;
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    npmd_truth *truth = NULL;
    npmd_compute how;
    simulation s = { 0 };
    unsigned coords = 0;
    double *x = NULL;
    const char *out = cli_value(args, "out"), *truth_path = cli_value(args, "truth"), *recipe = args->operand;
    TRY(cli_compute(args, &s.seed, &how));
    TRY(cli_count(args, "n", &s.n));
    TRY(cli_seed(args, "truth-seed", &s.truth_seed));
    if (cli_value(args, "authors") && strcmp(recipe, "t2") != 0)
        TRY(cli_fail(args, CLI_USAGE, "--authors goes with t2, the recipe is '%s'", recipe));
    TRY(cli_distinct(args, "--out", out, "--truth", truth_path));
    if (!is_recipe(recipe))
        TRY(cli_distinct(args, "--out", out, "FILE", recipe));
    TRY(cli_checked(args,
                    cli_coords(args, &coords, &err) || cli_output(npmd_array_check, out, &err)
                        || (truth_path && cli_output(npmd_output_check, truth_path, &err))
                        || make_truth(args, s.truth_seed, &truth, &err),
                    &err));
    const npmd_domain *domain = npmd_truth_domain(truth);
    TRY((x = cli_doubles(args, s.n, (size_t)npmd_domain_columns(domain))) ? CLI_DONE : CLI_MEMORY);
    TRY(cli_checked(args,
                    npmd_truth_sample(truth, s.seed, s.n, &how, x, &err)
                        || npmd_truth_entropy(truth, s.seed, &how, &s.entropy, &s.entropy_se, &err)
                        || npmd_points_write(out, domain, coords, x, s.n, &err) /* first what needs the space */
                        || (truth_path && npmd_truth_write(truth, truth_path, &err)),
                    &err));
    st = report(args, truth, &s);
done:
    free(x);
    npmd_truth_free(truth);
    return st;
}

const cli_command command_simulate = {
    .name = "simulate",
    .operand = "t2|t4|gauntlet:NAME|FILE",
    .summary = "draw points from a known density",
    .details = "t2 and t4 are the paper's mixtures of anisotropic wrapped normals on the torus; gauntlet:NAME is "
               "one of the truths that reproduce gauntlet --list names; FILE describes a mixture in JSON, in the "
               "form that --truth writes.",
    .examples = "neuropmd simulate t2 --n 5000 --out points.csv --truth truth.json\n"
                "neuropmd simulate truth.json --n 1000 --out more.npy --seed 7\n"
                "neuropmd simulate gauntlet:ridge-narrow-t2 --truth-seed 3 --n 10000 --out ridge.csv\n",
    .options = OPTIONS,
    .run = run,
};
