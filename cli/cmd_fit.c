/* cmd_fit.c - neuropmd fit: points to a model.
 *
 * Everything that can fail for a reason known beforehand fails before the training starts: options, outputs
 * that cannot be written, data that make no sense. The first SIGINT or SIGTERM ends the training at the next
 * report and the checkpoint, or without one the model so far, is saved; a second one ends the program at once. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ru_maxrss is in KiB, but on macOS in bytes. */
#if defined(__APPLE__)
#define MAXRSS_UNIT 1u
#else
#define MAXRSS_UNIT 1024u
#endif

static const cli_option OPTIONS[] = {
    CLI_OPTION_DOMAIN,
    CLI_OPTION_DATA,
    { .name = "out", .values = "FILE", .required = true, .help = "the model, a safetensors file" },
    CLI_OPTIONS_OF_A_FIT,
    { 0 },
};

/* Indexed by npmd_estimator. */
static const char *const ESTIMATORS[] = {
    [NPMD_FIELD] = "field", [NPMD_SERIES] = "series", [NPMD_KDE] = "kde",        [NPMD_PSNF] = "psnf",
    [NPMD_RELU] = "relu",   [NPMD_STACK] = "stack",   [NPMD_UNIFORM] = "uniform"
};

static const char *estimator_name(int estimator)
{
    const int known = (int)(sizeof ESTIMATORS / sizeof *ESTIMATORS);
    return estimator >= 0 && estimator < known ? ESTIMATORS[estimator] : NULL;
}

/* ---- Before -------------------------------------------------------------------------------------------- */

static npmd_status read_options(const cli_args *args, npmd_options *options, npmd_error *err)
{
    const char *preset = cli_value(args, "preset"), *config = cli_value(args, "config");
    npmd_status st = NPMD_OK;
    npmd_options_init(options);
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
    const struct {
        const char *label, *path;
    } files[] = { { "--out", cli_value(args, "out") },
                  { "--log", cli_value(args, "log") },
                  { "--table", cli_value(args, "table") },
                  { "--checkpoint", options->checkpoint[0] ? options->checkpoint : NULL },
                  { "--resume", options->resume[0] ? options->resume : NULL },
                  { "--data", cli_value(args, "data") },
                  { "--weights", cli_value(args, "weights") },
                  { "--config", cli_value(args, "config") },
                  { "--truth", cli_value(args, "truth") },
                  { "--start-from", options->start_from[0] ? options->start_from : NULL },
                  { "--encoding-from", options->encoding_from[0] ? options->encoding_from : NULL } };
    enum { CHECKPOINT = 3, RESUME = 4, FILES = sizeof files / sizeof *files };
    npmd_error err = { 0 };
    for (int i = 0; i <= RESUME; i++) {
        for (int j = i + 1; j < FILES; j++) {
            const int code = i == CHECKPOINT && j == RESUME
                                 ? CLI_DONE
                                 : cli_distinct(args, files[i].label, files[i].path, files[j].label,
                                                files[j].path);
            if (code != CLI_DONE)
                return code;
        }
        if (i != RESUME && files[i].path && npmd_output_check(files[i].path, &err))
            return cli_refuse(args, &err);
    }
    return CLI_DONE;
}

/* Eigenpairs of surfaces as far as the options want them, kept beside the model. */
static npmd_status read_domain(const cli_args *args, const npmd_options *options, npmd_domain **domain,
                               npmd_error *err)
{
    const char *out = cli_value(args, "out"), *elements = cli_value(args, "elements"),
               *slash = out ? strrchr(out, '/') : NULL;
    char folder[NPMD_MAX_PATH] = ".";
    cli_progress progress;
    npmd_surface_options surfaces = { .cache = out ? folder : NULL,
                                      .progress = cli_progress_solves,
                                      .user = &progress };
    cli_progress_begin(&progress, args);
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == out ? 1 : (int)(slash - out), out);
    if (elements) /* anything but 1 and 2 is refused below */
        surfaces.elements = strcmp(elements, "1") == 0 ? 1 : strcmp(elements, "2") == 0 ? 2 : -1;
    if (options->max_frequencies > 1) {
        surfaces.frequency = options->max_frequency;
        surfaces.frequencies = options->max_frequencies;
    } else {
        surfaces.max_frequency = options->max_frequency[0];
    }
    const npmd_status st = npmd_domain_parse_with(cli_value(args, "domain"), &surfaces, domain, err);
    cli_progress_end(&progress);
    return st;
}

static npmd_status read_inputs(const cli_args *args, const npmd_options *options, npmd_domain **domain,
                               npmd_points **points, npmd_truth **truth, npmd_error *err)
{
    const char *weights = cli_value(args, "weights"), *known = cli_value(args, "truth");
    unsigned coords = 0;
    npmd_status st = cli_coords(args, &coords, err);
    if (st == NPMD_OK)
        st = read_domain(args, options, domain, err);
    if (st == NPMD_OK)
        st = cli_points(args, cli_value(args, "data"), *domain, coords, points, err);
    if (st == NPMD_OK && weights)
        st = npmd_points_weigh(*points, weights, err);
    if (st == NPMD_OK && known)
        st = npmd_truth_read(known, truth, err);
    if (st == NPMD_OK && known)
        npmd_truth_threads(*truth, options->threads);
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
    return cli_fail(args, CLI_INPUT, "%s: the density is on %s, the data are on %s", cli_value(args, "truth"),
                    known, npmd_domain_text(domain));
}

static void print_plan(const cli_args *args, const npmd_domain *domain, size_t n, const npmd_options *plan,
                       size_t working_bytes)
{
    if (args->quiet)
        return;
    cli_row(stderr, "domain", "%s, dimension %d, volume %.5g", npmd_domain_text(domain),
            npmd_domain_dimension(domain), npmd_domain_volume(domain));
    cli_row(stderr, "points", "%s", cli_words_count(n).text);
    if (plan->members > 1)
        cli_row(stderr, "members", "%d%s", plan->members, plan->bootstrap ? ", on resampled points" : "");
    if (plan->estimator != NPMD_FIELD) {
        cli_row(stderr, "estimator", "%s", estimator_name(plan->estimator));
        cli_row(stderr, "memory", "%s for the fit", cli_words_bytes(working_bytes).text);
        return;
    }
    cli_row(stderr, "features", "%d", plan->features);
    cli_row(stderr, "network", "%d layers, width %d, omega %.4g", plan->depth, plan->width, plan->omega);
    cli_row(stderr, "steps", "%s, batch %s", cli_words_count((uint64_t)plan->steps).text,
            cli_words_count((uint64_t)plan->batch).text);
    cli_row(stderr, "integral", "q1 %s points a step", cli_words_count((uint64_t)plan->q1).text);
    cli_row(stderr, "penalty", "q2 %s points a step, tau %.4g", cli_words_count((uint64_t)plan->q2).text,
            plan->tau);
    cli_row(stderr, "memory", "%s for the fit", cli_words_bytes(working_bytes).text);
}

/* ---- Reports while it runs ----------------------------------------------------------------------------- */

typedef struct fit_watch {
    cli_progress progress;
    cli_log log;
    const cli_args *args; /* for a plan that is not shown before all was checked; else NULL */
    const npmd_domain *domain;
    const npmd_options *plan;
    size_t n, working_bytes;
} fit_watch;

static int show_report(const npmd_report *now, void *user)
{
    fit_watch *watch = user;
    if (watch->args)
        print_plan(watch->args, watch->domain, watch->n, watch->plan, watch->working_bytes);
    watch->args = NULL;
    cli_log_report(&watch->log, now);
    cli_progress_show(&watch->progress, now);
    return cli_interrupted();
}

/* ---- After --------------------------------------------------------------------------------------------- */

static uint64_t peak_memory(void)
{
    struct rusage usage = { 0 };
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * MAXRSS_UNIT : 0;
}

/* [{"part": "field", "weight": 0.61, ...}, ...]: what a stack is made of. */
static void report_parts(cli_json *j, const npmd_model *model)
{
    cli_json_list(j, "parts");
    for (int i = 0; i < npmd_model_parts(model); i++) {
        const npmd_part part = npmd_model_part(model, i);
        cli_json_object(j);
        cli_json_text(j, "part", part.name);
        cli_json_number(j, "weight", part.weight);
        cli_json_number(j, "held_out_nll", part.held_out_nll);
        cli_json_number(j, "held_out_nll_se", part.held_out_nll_se);
        cli_json_object_end(j);
    }
    cli_json_list_end(j);
}

static int report_json(const cli_args *args, const npmd_model *model, const npmd_options *plan)
{
    const npmd_fit_facts facts = npmd_model_facts(model);
    cli_json j = { 0 };
    cli_json_begin(&j);
    cli_json_text(&j, "model", cli_value(args, "out"));
    cli_json_text(&j, "domain", npmd_domain_text(npmd_model_domain(model)));
    cli_json_text(&j, "estimator", estimator_name(plan->estimator));
    cli_json_unsigned(&j, "n", facts.n);
    cli_json_number(&j, "tau", facts.tau);
    cli_choice_json(&j, model);
    cli_json_unsigned(&j, "seed", facts.seed);
    cli_json_signed(&j, "steps", facts.steps);
    cli_json_number(&j, "seconds", facts.seconds);
    cli_json_number(&j, "objective", facts.objective);
    cli_json_number(&j, "log_integral", facts.log_integral);
    cli_json_number(&j, "log_integral_se", facts.log_integral_se);
    cli_json_number(&j, "convex_optimum", facts.convex_optimum);
    cli_json_number(&j, "convex_gap", facts.convex_gap);
    cli_json_number(&j, "convex_gap_accuracy", facts.convex_gap_accuracy);
    cli_json_signed(&j, "restarts", facts.restarts);
    cli_json_signed(&j, "members", facts.members);
    if (facts.stopped != NPMD_STOP_NONE)
        cli_json_text(&j, "stopped_by", facts.stopped == NPMD_STOP_ISE ? "ise" : "snr");
    if (facts.kept_step > 0)
        cli_json_signed(&j, "kept_step", facts.kept_step);
    cli_json_unsigned(&j, "peak_memory_bytes", peak_memory());
    if (plan->estimator == NPMD_STACK)
        report_parts(&j, model);
    cli_json_list(&j, "warnings");
    for (int i = 0; i < npmd_model_warnings(model); i++)
        cli_json_item(&j, npmd_model_warning(model, i));
    cli_json_list_end(&j);
    cli_json_flag(&j, "interrupted", facts.interrupted != 0);
    cli_json_signed(&j, "resumed", facts.resumed);
    return cli_json_print(args, &j);
}

static void report_words(const cli_args *args, const npmd_model *model, const npmd_options *plan)
{
    const npmd_fit_facts facts = npmd_model_facts(model);
    if (cli_value(args, "out"))
        cli_row(stdout, "model", "%s", cli_value(args, "out"));
    cli_row(stdout, "domain", "%s", npmd_domain_text(npmd_model_domain(model)));
    cli_row(stdout, "points", "%s", cli_words_count(facts.n).text);
    cli_row(stdout, "tau", "%.4g", facts.tau);
    cli_choice_line(model);
    cli_row(stdout, "seed", "%llu", (unsigned long long)facts.seed);
    cli_row(stdout, "steps", "%s in %s", cli_words_count((uint64_t)facts.steps).text,
            cli_words_time(facts.seconds).text);
    if (facts.kept_step > 0)
        cli_row(stdout, "weights", "those after step %s", cli_words_count((uint64_t)facts.kept_step).text);
    if (facts.resumed > 0)
        cli_row(stdout, "resumed", "after step %s", cli_words_count((uint64_t)facts.resumed).text);
    if (plan->estimator == NPMD_STACK)
        for (int i = 0; i < npmd_model_parts(model); i++) {
            const npmd_part part = npmd_model_part(model, i);
            cli_row(stdout, i == 0 ? "weights" : "", "%.3f %-14s held-out -log likelihood %s", part.weight,
                    part.name, cli_words_error(part.held_out_nll, part.held_out_nll_se).text);
        }
    cli_row(stdout, plan->estimator == NPMD_STACK ? "held-out" : "objective", "%.6g", facts.objective);
    cli_row(stdout, "log integral", "%s", cli_words_error(facts.log_integral, facts.log_integral_se).text);
    if (facts.convex_gap == facts.convex_gap) /* NaN: not known */
        cli_row(stdout, "convex gap", "%s nats",
                cli_words_error(facts.convex_gap, facts.convex_gap_accuracy).text);
    if (facts.restarts > 0)
        cli_row(stdout, "restarts", "%d", facts.restarts);
    if (facts.members > 1)
        cli_row(stdout, "members", "%d", facts.members);
    cli_row(stdout, "peak memory", "%s", cli_words_bytes(peak_memory()).text);
}

static int report_fit(const cli_args *args, const npmd_model *model, const npmd_options *plan, bool selected)
{
    const npmd_fit_facts facts = npmd_model_facts(model);
    int code = CLI_DONE;
    for (int i = 0; i < npmd_model_warnings(model); i++)
        cli_note(args, "warning: %s", npmd_model_warning(model, i));
    if (facts.interrupted)
        cli_note(
            args, "interrupted after step %s of %s; the model so far is %s%s",
            cli_words_count((uint64_t)facts.steps).text,
            plan->estimator == NPMD_STACK
                ? "all its parts'"
                : cli_words_count((uint64_t)plan->steps * (uint64_t)(plan->members > 1 ? plan->members : 1))
                      .text,
            cli_value(args, "out") ? "saved in " : "not saved",
            cli_value(args, "out") ? cli_value(args, "out") : "");
    if (selected && cli_value(args, "table"))
        code = cli_choice_write(args, model, cli_value(args, "table"));
    if (code != CLI_DONE)
        return code;
    if (args->json)
        code = report_json(args, model, plan);
    else if (!args->quiet) {
        if (selected) {
            cli_choice_words(model);
            putchar('\n');
        }
        report_words(args, model, plan);
    }
    if (code == CLI_DONE && facts.checkpoint_failure[0])
        return cli_fail(args, CLI_FILE, "the model is saved, but no checkpoint: %s",
                        facts.checkpoint_failure);
    return code == CLI_DONE && facts.interrupted ? CLI_INTERRUPTED : code;
}

/* A model that took hours is not lost because its place filled up meanwhile: it is saved where temporary files
 * go, and the message says so. */
static int save_model(const cli_args *args, const npmd_model *model)
{
    static const char ending[] = ".safetensors";
    npmd_error err = { 0 };
    const char *folder = getenv("TMPDIR");
    char rescue[NPMD_MAX_PATH];
    if (!cli_value(args, "out") || npmd_save(model, cli_value(args, "out"), &err) == NPMD_OK)
        return CLI_DONE;
    snprintf(rescue, sizeof rescue, "%.900s/neuropmd-XXXXXX%s", folder && folder[0] ? folder : "/tmp",
             ending);
    const int fd = err.status == NPMD_ERR_FILE ? mkstemps(rescue, (int)sizeof ending - 1) : -1;
    if (fd < 0)
        return cli_refuse(args, &err);
    close(fd); /* a file of our own under a name that nobody could foresee; the model takes its place */
    if (npmd_save(model, rescue, NULL) == NPMD_OK)
        return cli_fail(args, CLI_FILE, "%s; the model is in %s instead", err.text, rescue);
    unlink(rescue);
    return cli_refuse(args, &err);
}

int cli_fit(const cli_args *args, const char *const *over, int lists)
{
    npmd_error err = { 0 };
    npmd_domain *domain = NULL;
    npmd_points *points = NULL;
    npmd_truth *truth = NULL;
    npmd_model *model = NULL;
    npmd_options options, plan;
    fit_watch watch = { 0 };
    size_t working_bytes = 0;
    int code = CLI_DONE;

    if (read_options(args, &options, &err)) {
        code = cli_refuse(args, &err);
        goto done;
    }
    if ((code = check_files(args, &options)) != CLI_DONE)
        goto done;
    if (read_inputs(args, &options, &domain, &points, &truth, &err)) {
        code = cli_refuse(args, &err);
        goto done;
    }
    if ((code = check_distinct(args, points)) != CLI_DONE
        || (code = check_truth(args, domain, truth)) != CLI_DONE)
        goto done;
    if (npmd_options_resolve(&options, domain, npmd_points_count(points), &plan, &working_bytes, &err)) {
        code = cli_refuse(args, &err);
        goto done;
    }
    working_bytes += npmd_points_bytes(points);
    if (!over)
        print_plan(args, domain, npmd_points_count(points), &plan, working_bytes);
    if ((code = cli_log_open(args, &watch.log, cli_value(args, "log"), options.resume[0] != '\0'))
        != CLI_DONE)
        goto done;

    if (over) { /* the library checks the lists */
        watch.args = args;
        watch.domain = domain;
        watch.plan = &plan;
        watch.n = npmd_points_count(points);
        watch.working_bytes = working_bytes;
    }
    options.progress = show_report;
    options.user = &watch;
    options.truth = truth;
    cli_watch_signals(true);
    cli_progress_begin(&watch.progress, args);
    const npmd_status st = over ? npmd_select(domain, points, &options, over, lists, &model, &err)
                                : npmd_fit(domain, points, &options, &model, &err);
    cli_progress_end(&watch.progress);
    if (st != NPMD_OK) {
        code = cli_refuse(args, &err);
        cli_log_discard(&watch.log);
    } else if ((code = save_model(args, model)) == CLI_DONE
               && (code = cli_log_close(args, &watch.log)) == CLI_DONE) {
        code = report_fit(args, model, &plan, over != NULL);
    }
done:
    if (watch.log.file)
        cli_log_close(args, &watch.log);
    npmd_model_free(model);
    npmd_truth_free(truth);
    npmd_points_free(points);
    npmd_domain_free(domain);
    return code;
}

static int run(const cli_args *args)
{
    return cli_fit(args, NULL, 0);
}

const cli_command command_fit = {
    .name = "fit",
    .summary = "estimate a density from points",
    .details =
        "Fits log f(x) = v(x) - log Z, a sine network on Laplace-Beltrami eigenfunctions, by penalised "
        "maximum "
        "likelihood: the mean of -v over the data, plus the integral of exp v, plus tau times the mean of "
        "(Laplacian v)^2. The result depends on the data, the options and the seed, not on the number of "
        "threads. Ctrl-C saves the checkpoint if one was asked for, else the model so far.",
    .examples =
        "neuropmd fit --domain S1^2 --data points.csv --out torus.safetensors\n"
        "neuropmd fit --domain S2 --data quakes.csv --coords latlon --out quakes.safetensors --tau 1e-5\n"
        "neuropmd fit --domain T4 --data torsion.npy --out t4.safetensors --preset paper-t4 --log t4.jsonl\n",
    .options = OPTIONS,
    .library_options = true,
    .run = run,
};
