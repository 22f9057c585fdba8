/* cmd_score.c - neuropmd score: how well a model predicts points it may not have seen. */
#include "cli.h"

#include <math.h>

#define INTEGRAL_NEEDED 0.05 /* nats, as of a fit: beyond, its error is no longer small beside what is compared */

static const cli_option OPTIONS[] = {
    { "data", "FILE", .required = true, .help = "the points, one in each row" },
    { "weights", "FILE", .help = "one weight a point, none negative" },
    CLI_OPTION_MAX_DISTANCE,
    CLI_OPTION_COORDS("the data hold"),
    { 0 },
};

static int report(const cli_args *args, const npmd_score *s)
{
    if (s->training_rows > 0.0)
        cli_note(args, "warning: %s%s of the %s rows were used to fit or to choose the model: the figures flatter it",
                 s->training_rows < (double)s->n ? "about " : "all ", cli_words_count((uint64_t)s->training_rows).text,
                 cli_words_count(s->n).text);
    if (s->log_integral_se > INTEGRAL_NEEDED)
        cli_note(args, "warning: the log integral is known to %.2g nats only", s->log_integral_se);
    else if (fabs(s->log_integral) > INTEGRAL_NEEDED + 4.0 * s->log_integral_se)
        cli_note(args,
                 "warning: the density integrates to %.3g, not to 1: the likelihood is wrong by %.2g nats a point",
                 exp(s->log_integral), s->log_integral);
    if (args->json) {
        return CLI_PRINT(args, COUNT("n", s->n), REAL("log_integral", s->log_integral),
                         REAL("log_integral_se", s->log_integral_se), REAL("nll", s->nll), REAL("nll_se", s->nll_se),
                         REAL("ise_criterion", s->ise_criterion), REAL("ise_criterion_se", s->ise_criterion_se),
                         REAL("ise_criterion_relative", s->ise_criterion_relative),
                         REAL("training_rows", s->training_rows));
    }
    cli_row(stdout, "points", "%s", cli_words_count(s->n).text);
    cli_row(stdout, "-log likelihood", "%s a point (nats, per volume)", cli_words_error(s->nll, s->nll_se).text);
    cli_row(stdout, "ISE criterion", "%s (per volume)", cli_words_error(s->ise_criterion, s->ise_criterion_se).text);
    cli_row(stdout, "", "%.5g (relative: times the volume)", s->ise_criterion_relative);
    cli_row(stdout, "log integral", "%s (%s)", cli_words_error(s->log_integral, s->log_integral_se).text,
            s->log_integral == 0.0 && s->log_integral_se == 0.0 ? "in closed form"
            : s->log_integral_se > INTEGRAL_NEEDED              ? "not known"
                                                                : "0 is right");
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_points *points = NULL;
    npmd_score score = NPMD_SIZED(npmd_score);
    npmd_compute how;
    uint64_t seed = 0;
    unsigned coords = 0;
    const char *weights = cli_value(args, "weights");
    int code = cli_compute(args, &seed, &how);
    if (code != CLI_DONE)
        return code;
    if (cli_coords(args, &coords, &err) || npmd_load(args->operand, &model, &err)
        || cli_points(args, cli_value(args, "data"), npmd_model_domain(model), coords, &points, &err)
        || (weights && npmd_points_weigh(points, weights, &err))
        || npmd_score_points(model, points, seed, &how, &score, &err))
        code = cli_refuse(args, &err);
    else
        code = report(args, &score);
    npmd_points_free(points);
    npmd_model_free(model);
    return code;
}

const cli_command command_score = {
    .name = "score",
    .operand = "MODEL",
    .summary = "likelihood and ISE criterion of a model on points",
    .details = "The mean negative log-likelihood in nats; the criterion integral of f^2 - 2 mean f, which is the "
               "integrated squared error up to a constant of the data's density; and the log of the density's "
               "integral, computed afresh, which is 0 up to its standard error. All densities are per volume.",
    .examples = "neuropmd score torus.safetensors --data held_out.csv --json\n",
    .options = OPTIONS,
    .run = run,
};
