/* cmd_density.c - neuropmd density: a model's values at given points. */
#include "cli.h"

static const cli_option OPTIONS[] = {
    { "points", "FILE", .required = true, .help = "where to evaluate, one point a row" },
    { "out", "FILE", .required = true, .help = "one value a point, in the order of the points; .npy or .csv" },
    { "what", .names = npmd_what_name, .fallback = "log-density",
      .help = "log f or f per volume; f x volume; n f; gradient (a row a point, in the point's own columns) or "
              "Laplacian of log f; its standard deviation over the members (spread); half its 95 % band, "
              "with --bootstrap on at the fit (band)" },
    { "given", "N,...", .help = "the conditional density of the other factors given these, counted from 1: 1,3" },
    CLI_OPTION_ACCURACY,
    { "errors", "FILE", .help = "with --given: the standard error of the log density at each point" },
    CLI_OPTION_MAX_DISTANCE,
    CLI_OPTION_COORDS("the points hold"),
    { 0 },
};

static const char *const UNITS[] = {
    [NPMD_LOG_DENSITY] = "nats, per volume",
    [NPMD_DENSITY] = "per volume",
    [NPMD_RELATIVE] = "to the uniform density, which is 1",
    [NPMD_INTENSITY] = "points per volume",
    [NPMD_GRADIENT] = "of log f, tangent vector in the point's own columns",
    [NPMD_LAPLACIAN] = "of log f",
    [NPMD_SPREAD] = "standard deviation of log f over the members",
    [NPMD_RATIO] = "to the density of the base",
    [NPMD_BAND] = "half the width of the band of log f",
};
_Static_assert(sizeof UNITS / sizeof *UNITS == NPMD_BAND + 1, "a row for everything that can be asked for");

static int report(const cli_args *args, const npmd_model *model, npmd_what what, size_t n, size_t cols, double log_se)
{
    const char *out = cli_value(args, "out");
    npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
    npmd_error err = { 0 };
    const int st = cli_checked(args, npmd_model_facts(model, &facts, &err), &err);
    if (st != CLI_DONE)
        return st;
    if (args->json) {
        return CLI_PRINT(args, TEXT("out", out), TEXT("what", npmd_what_name((int)what)), TEXT("measure", UNITS[what]),
                         TEXT("domain", npmd_domain_text(npmd_model_domain(model))), COUNT("n", n),
                         COUNT("columns", cols), what == NPMD_BAND ? FLAG("knows_bias", facts.knows_bias) : NO_FACT,
                         cli_value(args, "given") ? REAL("log_se_max", log_se) : NO_FACT);
    }
    if (!args->quiet) {
        cli_row(stdout, "values", "%s (%s)", npmd_what_name((int)what), UNITS[what]);
        if (what == NPMD_BAND)
            cli_row(stdout, "band", "%s", cli_interval(facts.knows_bias != 0));
        cli_row(stdout, "points", "%s", cli_words_count(n).text);
        if (cli_value(args, "given"))
            cli_row(stdout, "error", "at most %.2g in the log", log_se);
        cli_row(stdout, "out", "%s", out);
    }
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_points *points = NULL;
    npmd_compute how;
    npmd_what what = NPMD_LOG_DENSITY;
    uint64_t seed = 0;
    unsigned coords = 0, factors = 0;
    double accuracy = 0.0, worst = 0.0;
    const char *out = cli_value(args, "out"), *at = cli_value(args, "points"), *errors = cli_value(args, "errors");
    const char *given = cli_value(args, "given"), *word = cli_value(args, "what");
    TRY(cli_compute(args, &seed, &how));
    TRY(cli_distinct(args, "--out", out, "--points", at));
    TRY(cli_distinct(args, "--out", out, "MODEL", args->operand));
    TRY(cli_distinct(args, "--errors", errors, "--out", out));
    TRY(cli_distinct(args, "--errors", errors, "--points", at));
    TRY(cli_distinct(args, "--errors", errors, "MODEL", args->operand));
    TRY(cli_real(args, "accuracy", &accuracy));
    if (errors && !given)
        TRY(cli_fail(args, CLI_USAGE, "--errors is for the conditional density, with --given"));
    TRY(cli_checked(args,
                    (word && npmd_what_parse(word, &what, &err)) || cli_coords(args, &coords, &err)
                        || cli_output(npmd_array_check, out, &err) || npmd_load(args->operand, &model, &err)
                        || (given && npmd_factors_parse(given, npmd_model_domain(model), &factors, &err))
                        || cli_points(args, at, npmd_model_domain(model), coords, &points, &err),
                    &err));
    const size_t cols = what == NPMD_GRADIENT ? (size_t)npmd_domain_columns(npmd_model_domain(model)) : 1;
    if (given)
        TRY(cli_integrals(args, false, model, factors, points, what, accuracy, seed, &how, &worst));
    else
        TRY(cli_checked(args, npmd_evaluate_to(model, points, what, &how, out, &err), &err));
    st = report(args, model, what, npmd_points_count(points), cols, worst);
done:
    npmd_points_free(points);
    npmd_model_free(model);
    return st;
}

const cli_command command_density = {
    .name = "density",
    .operand = "MODEL",
    .summary = "evaluate a model at points",
    .details = "Writes one float64 a point. Densities are per Riemannian volume; relative ones are with respect to "
               "the uniform probability measure.",
    .examples = "neuropmd density torus.safetensors --points where.csv --out logf.npy\n"
                "neuropmd density torus.safetensors --points where.csv --out grad.npy --what gradient\n"
                "neuropmd density storms.safetensors --points map.csv --out june.npy --given 2\n",
    .options = OPTIONS,
    .run = run,
};
