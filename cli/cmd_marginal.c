/* cmd_marginal.c - neuropmd marginal: the density of some factors, the others integrated out, whole or over a region
 * (marginal_regions.c). */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

#define REGIONS "regions of two surfaces"

static const cli_option OPTIONS[] = {
    { "factors", "N,...", .help = "the factors that are kept, counted from 1: 1,3" },
    { "points", "FILE",
      .help = "where to evaluate: one row a point, with the columns of these factors in the order of the domain" },
    { "out", "FILE",
      .help = "one value for each point, in their order; .npy or .csv; of a region one for each vertex, also .gii "
              "or .vtk" },
    { "what", .names = npmd_region_what_name, .fallback = "log-density; of a region density",
      .help = "log f or f per volume of the factors kept; f x that volume; n f; of a region also f and n f x the "
              "vertex's area" },
    { "errors", "FILE", .help = "the standard error of the log density at each point" },
    CLI_OPTION_ACCURACY,
    CLI_OPTION_MAX_DISTANCE,
    CLI_OPTION_COORDS("the points hold"),
    { "roi", "FILE", .group = REGIONS, .help = "a region for every vertex of factor 1: .annot .label .gii .csv .npy" },
    { "region", "NAME,...", .group = REGIONS, .help = "the region of the map, or several as one" },
    { "factor", "1|2", .fallback = "1", .group = REGIONS, .help = "where the region lies" },
    { "sphere", "FILE", .group = REGIONS, .help = "on S2: the registered sphere whose vertices are the nodes" },
    { "surface", "FILE", .group = REGIONS,
      .help = "on S2: the surface that .gii and .vtk files show; on mesh:FILE that very mesh" },
    { "matrix", "FILE", .group = REGIONS,
      .help = "the probability, or with --what counts the expected number, of both ends in each pair of regions; "
              ".csv with names or .npy" },
    { "dense", "FILE", .group = REGIONS, .help = "the values at all pairs of vertices; .npy" },
    { "roi2", "FILE", .group = REGIONS, .help = "the same for factor 2, if it is another mesh" },
    { "sphere2", "FILE", .group = REGIONS, .help = "the same" },
    { "surface2", "FILE", .group = REGIONS, .help = "the same" },
    { 0 },
};

static int report(const cli_args *args, const char *domain, size_t n, double worst)
{
    const char *out = cli_value(args, "out");
    if (args->json) {
        return CLI_PRINT(
            args, TEXT("out", out), TEXT("factors", cli_value(args, "factors")), TEXT("domain", domain),
            TEXT("what", cli_value(args, "what") ? cli_value(args, "what") : npmd_what_name(NPMD_LOG_DENSITY)),
            COUNT("n", n), REAL("log_se_max", worst));
    }
    if (!args->quiet) {
        cli_row(stdout, "factors", "%s (%s)", cli_value(args, "factors"), domain);
        cli_row(stdout, "points", "%s", cli_words_count(n).text);
        cli_row(stdout, "error", "at most %.2g in the log", worst);
        cli_row(stdout, "out", "%s", out);
    }
    return CLI_DONE;
}

static int check_given(const cli_args *args)
{
    static const char *const NEEDED[] = { "factors", "points", "out" }, *const OTHERS[] = {
        "region", "factor", "sphere", "surface", "matrix", "roi2", "sphere2", "surface2"
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (cli_value(args, OTHERS[i]))
            return cli_fail(args, CLI_USAGE, "--%s needs --roi, the labels of the vertices", OTHERS[i]);
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++)
        if (!cli_value(args, NEEDED[i]))
            return cli_fail(args, CLI_USAGE, "--%s is missing; see neuropmd marginal --help", NEEDED[i]);
    return CLI_DONE;
}

int cli_integrals(const cli_args *args, bool marginal, const npmd_model *model, unsigned factors,
                  const npmd_points *points, npmd_what what, double accuracy, uint64_t seed, const npmd_compute *how,
                  double *worst)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    const size_t n = npmd_points_count(points);
    const char *errors = cli_value(args, "errors");
    double *values = cli_doubles(args, n, 1), *log_se = values ? cli_doubles(args, n, 1) : NULL;
    TRY(log_se ? CLI_DONE : CLI_MEMORY);
    TRY(cli_checked(args,
                    (marginal ? npmd_marginal_at : npmd_conditional_at)(model, factors, points, what, accuracy, seed,
                                                                        how, values, log_se, &err),
                    &err));
    for (size_t i = 0; i < n; i++)
        *worst = fmax(*worst, log_se[i]);
    cli_accuracy_missed(args, *worst, accuracy);
    st = cli_checked(args,
                     npmd_array_write(cli_value(args, "out"), values, n, 1, &err)
                         || (errors && npmd_array_write(errors, log_se, n, 1, &err)),
                     &err);
done:
    free(values);
    free(log_se);
    return st;
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_domain *part = NULL;
    npmd_points *points = NULL;
    npmd_compute how;
    npmd_what what = NPMD_LOG_DENSITY;
    uint64_t seed = 0;
    unsigned coords = 0, factors = 0;
    double accuracy = 0.0, worst = 0.0;
    const char *out = cli_value(args, "out"), *at = cli_value(args, "points"), *errors = cli_value(args, "errors");
    const char *word = cli_value(args, "what");
    if (cli_value(args, "roi") || cli_value(args, "dense"))
        return marginal_regions(args);
    TRY(check_given(args));
    TRY(cli_compute(args, &seed, &how));
    TRY(cli_distinct(args, "--out", out, "--points", at));
    TRY(cli_distinct(args, "--out", out, "MODEL", args->operand));
    TRY(cli_distinct(args, "--out", out, "--errors", errors));
    TRY(cli_distinct(args, "--errors", errors, "--points", at));
    TRY(cli_distinct(args, "--errors", errors, "MODEL", args->operand));
    TRY(cli_real(args, "accuracy", &accuracy));
    TRY(cli_checked(args,
                    (word && npmd_what_parse(word, &what, &err)) || cli_coords(args, &coords, &err)
                        || cli_output(npmd_array_check, out, &err)
                        || (errors && cli_output(npmd_array_check, errors, &err))
                        || npmd_load(args->operand, &model, &err)
                        || npmd_factors_parse(cli_value(args, "factors"), npmd_model_domain(model), &factors, &err)
                        || npmd_domain_part(npmd_model_domain(model), factors, &part, &err)
                        || cli_points(args, at, part, coords, &points, &err),
                    &err));
    TRY(cli_integrals(args, true, model, factors, points, what, accuracy, seed, &how, &worst));
    st = report(args, npmd_domain_text(part), npmd_points_count(points), worst);
done:
    npmd_points_free(points);
    npmd_domain_free(part);
    npmd_model_free(model);
    return st;
}

const cli_command command_marginal = {
    .name = "marginal",
    .operand = "MODEL",
    .summary = "the density of some factors, the others integrated out, whole or over a region",
    .details = "Integrates by quadrature where the other factors have one or two dimensions, else by randomised "
               "quasi-Monte Carlo with points that follow the model. The standard error is of the integral alone. "
               "With --roi, of a model on two surfaces: the integral over a region of one, at every vertex of the "
               "other, and the matrix of all regions, by the areas of vertices; the error is the difference to "
               "another rule.",
    .examples =
        "neuropmd marginal t4.safetensors --factors 1,3 --points where.csv --out logf13.npy\n"
        "neuropmd marginal storms.safetensors --factors 2 --points days.csv --out season.csv --what density\n"
        "neuropmd marginal brain.safetensors --roi lh.aparc.annot --region cuneus --sphere lh.sphere.reg --surface "
        "lh.white --out cuneus.gii\n"
        "neuropmd marginal brain.safetensors --roi lh.aparc.annot --sphere lh.sphere.reg --matrix regions.csv\n",
    .options = OPTIONS,
    .run = run,
};
