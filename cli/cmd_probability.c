/* cmd_probability.c - neuropmd probability: the probability of a region, and its uncertainty. */
#include "cli.h"

#include <math.h>

static const cli_option OPTIONS[] = {
    { "at", "X,...", .required = true,
      .help = "the centre of the region: one point of the domain, its columns separated by commas" },
    { "radius", "R,...", .required = true,
      .help = "how far a point may be from the centre on each factor, along the factor: one value, or one for each "
              "factor, in radians, or in degrees with --coords; all: anywhere" },
    CLI_OPTION_ACCURACY,
    CLI_OPTION_COORDS("the centre is"),
    { 0 },
};

static int read_radius(const cli_args *args, const npmd_domain *domain, unsigned coords, double *radius)
{
    const int factors = npmd_domain_factors(domain);
    const int given = cli_numbers(cli_value(args, "radius"), NPMD_MAX_FACTORS, coords ? acos(-1.0) / 180.0 : 1.0, true,
                                  radius);
    if (given != 1 && given != factors)
        return cli_fail(args, CLI_USAGE, "--radius: \"%.60s\" was found where one number or %d were expected",
                        cli_value(args, "radius"), factors);
    for (int d = given; d < factors; d++)
        radius[d] = radius[0];
    return CLI_DONE;
}

const char *cli_interval(bool knows_bias)
{
    return knows_bias ? "95 %, the bias of smoothing included" : "95 % of the scatter, without the bias of smoothing";
}

static int report(const cli_args *args, const npmd_probability *found, bool knows_bias)
{
    if (args->json) {
        return CLI_PRINT(args, REAL("probability", found->probability), REAL("probability_se", found->se),
                         REAL("low", found->low), REAL("high", found->high), WHOLE("members", found->members),
                         REAL("uniform", found->share),
                         isfinite(found->low) ? FLAG("knows_bias", knows_bias) : NO_FACT);
    }
    if (args->quiet)
        return CLI_DONE;
    cli_row(stdout, "probability", "%s", cli_words_error(found->probability, found->se).text);
    if (isfinite(found->low))
        cli_row(stdout, "interval", "%.4g to %.4g, %s, by %d members", found->low, found->high,
                cli_interval(knows_bias), found->members);
    else
        cli_row(stdout, "interval", "not known: %s",
                found->members < 2 ? "fit with --bootstrap on" : "the density is too peaked for it");
    cli_row(stdout, "uniform", "%.4g, the region's share of the volume", found->share);
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_points *centre = NULL;
    npmd_compute how;
    npmd_probability found = NPMD_SIZED(npmd_probability);
    npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
    uint64_t seed = 0;
    unsigned coords = 0;
    double row[3 * NPMD_MAX_FACTORS], radius[NPMD_MAX_FACTORS], accuracy = 0.0;
    TRY(cli_compute(args, &seed, &how));
    TRY(cli_real(args, "accuracy", &accuracy));
    const int columns = cli_numbers(cli_value(args, "at"), 3 * NPMD_MAX_FACTORS, 1.0, false, row);
    if (columns < 0)
        TRY(cli_fail(args, CLI_USAGE, "--at: \"%.60s\" was found where numbers between commas were expected",
                     cli_value(args, "at")));
    TRY(cli_checked(args,
                    cli_coords(args, &coords, &err) || npmd_load(args->operand, &model, &err)
                        || npmd_points_from(row, 1, (size_t)columns, npmd_model_domain(model), coords, &centre, &err),
                    &err));
    TRY(read_radius(args, npmd_model_domain(model), coords, radius));
    TRY(cli_checked(args, npmd_model_facts(model, &facts, &err), &err));
    TRY(cli_checked(args, npmd_probability_near(model, centre, radius, accuracy, seed, &how, &found, &err), &err));
    cli_accuracy_missed(args, found.se / found.probability, accuracy);
    st = report(args, &found, facts.knows_bias != 0);
done:
    npmd_points_free(centre);
    npmd_model_free(model);
    return st;
}

const cli_command command_probability = {
    .name = "probability",
    .operand = "MODEL",
    .summary = "the probability of a region, with its interval",
    .details = "The region is all points whose every factor lies within a distance of the centre's. The interval "
               "of 95 % comes from the members of the model, and needs --bootstrap on at the fit.",
    .examples = "neuropmd probability quakes.safetensors --at 35.7,139.7 --radius 5 --coords latlon\n"
                "neuropmd probability t4.safetensors --at 1,2,0,0 --radius 0.5,0.5,all,all\n",
    .options = OPTIONS,
    .run = run,
};
