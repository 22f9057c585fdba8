/* cmd_fit.c - neuropmd fit: fits a model to points.
 *
 * Whatever can be checked beforehand is checked before the training starts: options, whether outputs can be written,
 * the data. The first SIGINT or SIGTERM ends the training at the next report and saves the checkpoint or, without one,
 * the model so far; a second one ends the program at once. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option OPTIONS[] = {
    CLI_OPTION_DOMAIN,    CLI_OPTION_DATA, { "out", "FILE", .required = true, .help = "the model, a safetensors file" },
    CLI_OPTIONS_OF_A_FIT, { 0 },
};

typedef struct fit_job {
    const cli_args *args;
    npmd_options *options;
    npmd_domain *domain;
    npmd_points *points;
    npmd_truth *truth;
    npmd_plan *plan;
    npmd_model *model;
    cli_progress progress;
    cli_log log;
    bool shown; /* the plan */
} fit_job;

static cli_words estimator_name(const fit_job *j)
{
    cli_words name = { "" };
    npmd_plan_get(j->plan, "estimator", name.text, sizeof name.text);
    return name;
}

static bool is_estimator(const fit_job *j, const char *name)
{
    return strcmp(estimator_name(j).text, name) == 0;
}

static cli_words ties_of(const fit_job *j)
{
    cli_words rule = { "" };
    npmd_plan_get(j->plan, "ties", rule.text, sizeof rule.text);
    return rule;
}

/* Whether the estimator may hold points out. */
static bool holds_out(const fit_job *j)
{
    int i = 0;
    while (strcmp(npmd_option_text(i, NPMD_OPTION_NAME), "ties") != 0)
        i++;
    return npmd_option_is_read(i, estimator_name(j).text) != 0;
}

/* A number of the plan that counts something. */
static uint64_t planned(const fit_job *j, const char *name)
{
    return (uint64_t)npmd_plan_number(j->plan, name);
}

static npmd_fit_facts facts_of(const npmd_model *model)
{
    npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
    npmd_model_facts(model, &facts, NULL);
    return facts;
}

/* ---- Before ------------------------------------------------------------------------------------------------------ */

static npmd_status read_options(const cli_args *args, npmd_options *options, npmd_error *err)
{
    const char *preset = cli_value(args, "preset"), *config = cli_value(args, "config");
    npmd_status st = NPMD_OK;
    if (preset)
        st = npmd_options_set(options, "preset", preset, err);
    if (st == NPMD_OK && config)
        st = npmd_options_read(options, config, err);
    for (int i = 0; i < args->count && st == NPMD_OK; i++) {
        const cli_given *given = &args->given[i];
        if (given->option.library && strcmp(given->option.name, "preset") != 0)
            st = npmd_options_set(options, given->option.name, given->value, err);
    }
    return st;
}

/* No output may be another output or an input, and all must be possible to write. Only a checkpoint may be the
 * one that is resumed. */
static int check_files(const cli_args *args, const npmd_options *options)
{
    static const char *const NAMES[] = { "checkpoint", "resume", "start-from", "encoding-from", "base" };
    enum { NAMED = sizeof NAMES / sizeof *NAMES };
    char text[NAMED][CLI_PATH_MOST];
    const char *named[NAMED];
    for (int i = 0; i < NAMED; i++)
        named[i] = npmd_options_get(options, NAMES[i], text[i], sizeof text[i]) > 0 ? text[i] : NULL;
    for (int i = 0; i < 3; i++) /* these are no files */
        if (named[4] && strcmp(named[4], ((const char *const[]){ "none", "kde", "series" })[i]) == 0)
            named[4] = NULL;
    const struct {
        const char *label, *path;
    } files[] = { { "--out", cli_value(args, "out") },
                  { "--log", cli_value(args, "log") },
                  { "--table", cli_value(args, "table") },
                  { "--checkpoint", named[0] },
                  { "--resume", named[1] },
                  { "--data", cli_value(args, "data") },
                  { "--weights", cli_value(args, "weights") },
                  { "--config", cli_value(args, "config") },
                  { "--truth", cli_value(args, "truth") },
                  { "--start-from", named[2] },
                  { "--encoding-from", named[3] },
                  { "--base", named[4] } };
    enum { CHECKPOINT = 3, RESUME = 4, FILES = sizeof files / sizeof *files };
    npmd_error err = { 0 };
    int st = CLI_DONE;
    for (int i = 0; i <= RESUME; i++) {
        for (int j = i + 1; j < FILES; j++)
            if (i != CHECKPOINT || j != RESUME)
                TRY(cli_distinct(args, files[i].label, files[i].path, files[j].label, files[j].path));
        if (i == CHECKPOINT && files[i].path) /* it is the fit that claims it */
            TRY(cli_checked(args, npmd_output_check(files[i].path, &err), &err));
        else if (i != RESUME && files[i].path)
            TRY(cli_checked(args, cli_output(npmd_output_check, files[i].path, &err), &err));
    }
done:
    return st;
}

/* Eigenpairs of surfaces as far as the options want them, kept beside the model. */
static npmd_status read_domain(const cli_args *args, const npmd_options *options, npmd_domain **domain, npmd_error *err)
{
    const char *out = cli_value(args, "out"), *elements = cli_value(args, "elements"),
               *slash = out ? strrchr(out, '/') : NULL;
    char folder[CLI_PATH_MOST] = ".", frequency[CLI_PATH_MOST];
    cli_progress progress;
    npmd_surface_options surfaces = NPMD_SIZED(npmd_surface_options);
    npmd_options_get(options, "max-frequency", frequency, sizeof frequency);
    surfaces.max_frequency = frequency;
    surfaces.cache = out ? folder : NULL;
    surfaces.progress = cli_progress_show;
    surfaces.user = &progress;
    cli_progress_begin(&progress, args);
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == out ? 1 : (int)(slash - out), out);
    if (elements) /* anything but 1 and 2 is refused below */
        surfaces.elements = strcmp(elements, "1") == 0 ? 1 : strcmp(elements, "2") == 0 ? 2 : -1;
    const npmd_status st = npmd_domain_parse_with(cli_value(args, "domain"), &surfaces, domain, err);
    cli_progress_end(&progress);
    return st;
}

static npmd_status read_inputs(fit_job *j, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const cli_args *args = j->args;
    const char *weights = cli_value(args, "weights"), *known = cli_value(args, "truth");
    unsigned coords = 0;
    TRY(cli_coords(args, &coords, err));
    TRY(read_domain(args, j->options, &j->domain, err));
    TRY(cli_points(args, cli_value(args, "data"), j->domain, coords, &j->points, err));
    if (weights)
        TRY(npmd_points_weigh(j->points, weights, err));
    if (known)
        TRY(npmd_truth_read(known, &j->truth, err));
done:
    return st;
}

/* One point, or one point many times, has no density. */
static int check_distinct(const cli_args *args, const npmd_points *points)
{
    enum { COLUMNS_MOST = 3 * NPMD_MAX_FACTORS };
    double first[COLUMNS_MOST] = { 0 },
           other[COLUMNS_MOST] = { 0 }; /* the domain fills its columns, the rest stays 0 */
    const size_t n = npmd_points_count(points);
    if (n > 0)
        npmd_points_row(points, 0, first);
    for (size_t i = 1; i < n; i++) {
        npmd_points_row(points, i, other);
        if (memcmp(first, other, sizeof first) != 0)
            return CLI_DONE;
    }
    return cli_fail(args, CLI_INPUT, "%s: found %zu point%s, expected at least two distinct ones",
                    cli_value(args, "data"), n, n == 1 ? "" : "s, all equal");
}

static int check_truth(const cli_args *args, const npmd_domain *domain, const npmd_truth *truth)
{
    const char *known = truth ? npmd_domain_text(npmd_truth_domain(truth)) : NULL;
    if (!known || strcmp(known, npmd_domain_text(domain)) == 0)
        return CLI_DONE;
    return cli_fail(args, CLI_INPUT, "%s: the density is on %s, the data are on %s", cli_value(args, "truth"), known,
                    npmd_domain_text(domain));
}

/* Both given, nothing is chosen. */
static bool is_chosen(const fit_job *j)
{
    return npmd_options_number(j->options, "tau") < 0.0
           || (npmd_options_number(j->options, "steps") == 0.0 && npmd_options_number(j->options, "epochs") == 0.0);
}

static void print_plan(fit_job *j)
{
    if (j->args->quiet || j->shown)
        return;
    j->shown = true;
    cli_row(stderr, "domain", "%s, dimension %d, volume %.5g", npmd_domain_text(j->domain),
            npmd_domain_dimension(j->domain), npmd_domain_volume(j->domain));
    cli_row(stderr, "points", "%s", cli_words_count(npmd_points_count(j->points)).text);
    if (planned(j, "members") > 1)
        cli_row(stderr, "members", "%" PRIu64 "%s", planned(j, "members"),
                planned(j, "bootstrap") ? ", on resampled points" : "");
    if (is_estimator(j, "field")) {
        cli_row(stderr, "features", "%" PRIu64, planned(j, "features"));
        cli_row(stderr, "network", "%" PRIu64 " layers, width %" PRIu64 ", omega %.4g", planned(j, "depth"),
                planned(j, "width"), npmd_plan_number(j->plan, "omega"));
        cli_row(stderr, "steps", "%s, batch %s", cli_words_count(planned(j, "steps")).text,
                cli_words_count(planned(j, "batch")).text);
        cli_row(stderr, "integral", "q1 %s points a step", cli_words_count(planned(j, "q1")).text);
        cli_row(stderr, "penalty", "q2 %s points a step, tau %.4g", cli_words_count(planned(j, "q2")).text,
                npmd_plan_number(j->plan, "tau"));
        if (is_chosen(j))
            cli_row(stderr, "chosen", "steps, tau, omega and encoding, where they were left open, by held-out points");
    } else {
        cli_row(stderr, "estimator", "%s", estimator_name(j).text);
    }
    cli_row(stderr, "memory", "%s for the fit",
            cli_words_bytes(npmd_plan_bytes(j->plan) + npmd_points_bytes(j->points)).text);
}

/* ---- Reports while it runs --------------------------------------------------------------------------------------- */

/* Of select the plan is shown here: the library has checked its lists by now. */
static int show_report(const npmd_report *now, void *user)
{
    fit_job *j = user;
    print_plan(j);
    cli_log_report(&j->log, now);
    return cli_progress_show(now, &j->progress);
}

/* ---- After ------------------------------------------------------------------------------------------------------- */

/* [{"part": "field", "weight": 0.61, ...}, ...]: what a stack is made of. */
static void report_parts(cli_json *j, const npmd_model *model)
{
    cli_json_list(j, "parts");
    for (int i = 0; i < npmd_model_parts(model); i++) {
        npmd_part part = NPMD_SIZED(npmd_part);
        npmd_model_part(model, i, &part, NULL);
        CLI_PUT_OBJECT(j, TEXT("part", part.name), REAL("weight", part.weight), REAL("held_out_nll", part.held_out_nll),
                       REAL("held_out_nll_se", part.held_out_nll_se));
    }
    cli_json_leave(j);
}

static int report_json(const fit_job *job)
{
    const npmd_model *model = job->model;
    const npmd_fit_facts facts = facts_of(model);
    cli_json j = { 0 };
    cli_json_begin(&j);
    CLI_PUT(&j, TEXT("model", cli_value(job->args, "out")), TEXT("domain", npmd_domain_text(npmd_model_domain(model))),
            TEXT("estimator", facts.estimator), COUNT("n", facts.n), WHOLE("twins", facts.twins),
            TEXT("ties", ties_of(job).text), REAL("tau", facts.tau));
    cli_choice_json(&j, model);
    cli_rivals_json(&j, model);
    CLI_PUT(&j, COUNT("seed", facts.seed), WHOLE("steps", facts.steps), REAL("seconds", facts.seconds),
            REAL("objective", facts.objective), REAL("log_integral", facts.log_integral),
            REAL("log_integral_se", facts.log_integral_se), REAL("convex_optimum", facts.convex_optimum),
            REAL("convex_gap", facts.convex_gap), REAL("convex_gap_accuracy", facts.convex_gap_accuracy),
            WHOLE("restarts", facts.restarts), WHOLE("members", facts.members),
            facts.stopped_by[0] ? TEXT("stopped_by", facts.stopped_by) : NO_FACT,
            facts.kept_step > 0 ? WHOLE("kept_step", facts.kept_step) : NO_FACT,
            COUNT("peak_memory_bytes", cli_peak_memory()));
    if (strcmp(facts.estimator, "stack") == 0)
        report_parts(&j, model);
    cli_json_list(&j, "warnings");
    for (int i = 0; npmd_model_warning(model, i); i++) {
        char text[512];
        cli_respell(npmd_model_warning(model, i), text, sizeof text);
        cli_json_item(&j, text);
    }
    cli_json_leave(&j);
    CLI_PUT(&j, FLAG("interrupted", facts.interrupted != 0), WHOLE("resumed", facts.resumed));
    return cli_json_print(job->args, &j);
}

static void report_words(const fit_job *j)
{
    const npmd_model *model = j->model;
    const npmd_fit_facts facts = facts_of(model);
    const bool stack = strcmp(facts.estimator, "stack") == 0;
    if (cli_value(j->args, "out"))
        cli_row(stdout, "model", "%s", cli_value(j->args, "out"));
    cli_row(stdout, "domain", "%s", npmd_domain_text(npmd_model_domain(model)));
    cli_row(stdout, "points", "%s", cli_words_count(facts.n).text);
    if (is_estimator(j, "auto"))
        cli_row(stdout, "estimator", "%s, chosen by held-out points", facts.estimator);
    if (facts.twins > 0)
        cli_row(stdout, "ties", "%s of %s points equal another one%s%s%s", cli_words_count((uint64_t)facts.twins).text,
                cli_words_count(facts.n).text, holds_out(j) ? "; held out " : "", holds_out(j) ? ties_of(j).text : "",
                holds_out(j) ? " (--ties)" : "");
    cli_row(stdout, "tau", "%.4g", facts.tau);
    cli_choice_line(model);
    cli_rivals_line(model, facts.estimator);
    cli_row(stdout, "seed", "%llu", (unsigned long long)facts.seed);
    cli_row(stdout, "steps", "%s in %s", cli_words_count((uint64_t)facts.steps).text,
            cli_words_time(facts.seconds).text);
    if (facts.kept_step > 0)
        cli_row(stdout, "weights", "those after step %s", cli_words_count((uint64_t)facts.kept_step).text);
    if (facts.resumed > 0)
        cli_row(stdout, "resumed", "after step %s", cli_words_count((uint64_t)facts.resumed).text);
    for (int i = 0; stack && i < npmd_model_parts(model); i++) {
        npmd_part part = NPMD_SIZED(npmd_part);
        npmd_model_part(model, i, &part, NULL);
        cli_row(stdout, i == 0 ? "weights" : "", "%.3f %-14s held-out -log likelihood %s", part.weight, part.name,
                cli_words_error(part.held_out_nll, part.held_out_nll_se).text);
    }
    cli_row(stdout, stack ? "held-out" : "objective", "%.6g", facts.objective);
    cli_row(stdout, "log integral", "%s", cli_words_error(facts.log_integral, facts.log_integral_se).text);
    if (facts.convex_gap == facts.convex_gap) /* NaN: not known */
        cli_row(stdout, "convex gap", "%s nats", cli_words_error(facts.convex_gap, facts.convex_gap_accuracy).text);
    if (facts.restarts > 0)
        cli_row(stdout, "restarts", "%d", facts.restarts);
    if (facts.members > 1)
        cli_row(stdout, "members", "%d", facts.members);
    cli_row(stdout, "peak memory", "%s", cli_words_bytes(cli_peak_memory()).text);
}

/* Of how many steps; a stack does not know how many its parts would have taken. */
static cli_words all_steps(const fit_job *j)
{
    const uint64_t members = planned(j, "members");
    return is_estimator(j, "stack") || is_estimator(j, "auto")
               ? (cli_words){ "all its parts'" }
               : cli_words_count(planned(j, "steps") * (members > 1 ? members : 1));
}

static int report_fit(const fit_job *j, bool selected)
{
    const cli_args *args = j->args;
    const npmd_model *model = j->model;
    const npmd_fit_facts facts = facts_of(model);
    const char *out = cli_value(args, "out");
    int code = CLI_DONE;
    for (int i = 0; npmd_model_warning(model, i); i++)
        cli_note(args, "warning: %s", npmd_model_warning(model, i));
    if (facts.interrupted)
        cli_note(args, "interrupted after step %s of %s; the model so far is %s%s",
                 cli_words_count((uint64_t)facts.steps).text, all_steps(j).text, out ? "saved in " : "not saved",
                 out ? out : "");
    if (selected && cli_value(args, "table"))
        code = cli_choice_write(args, model, cli_value(args, "table"));
    if (code != CLI_DONE)
        return code;
    if (args->json)
        code = report_json(j);
    else if (!args->quiet) {
        if (selected) {
            cli_choice_words(model);
            putchar('\n');
        }
        report_words(j);
    }
    if (code == CLI_DONE && facts.checkpoint_failure[0])
        return cli_fail(args, CLI_FILE, "the model is saved, but no checkpoint: %s", facts.checkpoint_failure);
    return code == CLI_DONE && facts.interrupted ? CLI_INTERRUPTED : code;
}

/* A model that took hours is not lost because its place filled up meanwhile: it is saved where temporary files
 * go, and the message says so. */
static int save_model(const cli_args *args, const npmd_model *model)
{
    static const char ending[] = ".safetensors";
    npmd_error err = { 0 };
    const char *folder = getenv("TMPDIR");
    char rescue[CLI_PATH_MOST];
    if (!cli_value(args, "out") || npmd_save(model, cli_value(args, "out"), &err) == NPMD_OK)
        return CLI_DONE;
    snprintf(rescue, sizeof rescue, "%.900s/neuropmd-XXXXXX%s", folder && folder[0] ? folder : "/tmp", ending);
    const int fd = err.status == NPMD_ERR_FILE ? mkstemps(rescue, (int)sizeof ending - 1) : -1;
    if (fd < 0)
        return cli_refuse(args, &err);
    close(fd); /* a file of our own under a name that nobody could foresee; the model takes its place */
    if (npmd_save(model, rescue, NULL) == NPMD_OK)
        return cli_fail(args, CLI_FILE, "%s; the model is in %s instead", err.text, rescue);
    unlink(rescue);
    return cli_refuse(args, &err);
}

/* Everything up to the first step: options, files, inputs, and the plan with its watch. */
static int prepare(fit_job *j)
{
    const cli_args *args = j->args;
    npmd_error err = { 0 };
    int st = CLI_DONE;
    if (!(j->options = npmd_options_new()))
        return cli_fail(args, CLI_MEMORY, "not enough memory for the options");
    TRY(cli_checked(args, read_options(args, j->options, &err), &err));
    TRY(check_files(args, j->options));
    TRY(cli_checked(args, read_inputs(j, &err), &err));
    TRY(check_distinct(args, j->points));
    TRY(check_truth(args, j->domain, j->truth));
    npmd_options_watch(j->options, show_report, j);
    npmd_options_truth(j->options, j->truth);
    TRY(cli_checked(args, npmd_plan_make(j->domain, npmd_points_count(j->points), j->options, &j->plan, &err), &err));
done:
    return st;
}

int cli_fit(const cli_args *args, const char *const *over, int lists)
{
    npmd_error err = { 0 };
    fit_job j = { .args = args };
    char resumed[CLI_PATH_MOST];
    int code = prepare(&j);
    if (code != CLI_DONE)
        goto done;
    if (!over)
        print_plan(&j);
    const bool goes_on = npmd_options_get(j.options, "resume", resumed, sizeof resumed) > 0;
    if ((code = cli_log_open(args, &j.log, cli_value(args, "log"), goes_on)) != CLI_DONE)
        goto done;
    cli_watch_signals(true);
    cli_progress_begin(&j.progress, args);
    const npmd_status st = over ? npmd_select(j.domain, j.points, j.options, over, lists, &j.model, &err)
                                : npmd_plan_fit(j.plan, j.points, &j.model, &err);
    cli_progress_end(&j.progress);
    if (st != NPMD_OK) {
        code = cli_refuse(args, &err);
        cli_log_discard(&j.log);
    } else if ((code = save_model(args, j.model)) == CLI_DONE && (code = cli_log_close(args, &j.log)) == CLI_DONE) {
        code = report_fit(&j, over != NULL);
    }
done:
    if (j.log.file)
        cli_log_close(args, &j.log);
    npmd_model_free(j.model);
    npmd_plan_free(j.plan);
    npmd_truth_free(j.truth);
    npmd_points_free(j.points);
    npmd_domain_free(j.domain);
    npmd_options_free(j.options);
    return code;
}

static int run(const cli_args *args)
{
    return cli_fit(args, NULL, 0);
}

const cli_command command_fit = {
    .name = "fit",
    .summary = "estimate a density from points",
    .details = "Fits log f(x) = v(x) - log Z, a sine network on Laplace-Beltrami eigenfunctions, by penalised "
               "maximum likelihood: the mean of -v over the data, plus the integral of exp v, plus tau times the "
               "mean of (Laplacian v)^2. The result depends on the data, the options and the seed, not on the "
               "number of threads. Ctrl-C saves the checkpoint if one was asked for, else the model so far.",
    .examples = "neuropmd fit --domain S1^2 --data points.csv --out torus.safetensors\n"
                "neuropmd fit --domain S2 --data quakes.csv --coords latlon --out quakes.safetensors --tau 1e-5\n"
                "neuropmd fit --domain T4 --data torsion.npy --out t4.safetensors --preset paper-t4 --log t4.jsonl\n",
    .options = OPTIONS,
    .library_options = true,
    .run = run,
};
