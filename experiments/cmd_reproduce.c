/* cmd_reproduce.c - neuropmd reproduce: the paper's tables, row by row, replicate by replicate.
 *
 * The tables are in reproduce_table.c, the processes in reproduce_run.c, the file of results in
 * reproduce_file.c. */
#include "connectivity.h"
#include "gauntlet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECTIVITY "connectivity"
#define GAUNTLET "gauntlet"

static const cli_option OPTIONS[] = {
    { "domain", "D",
      .help = "the torus: T2 (unless said) or T4; of spectral-bias, diagnostics, tau and frequencies T2; of "
              "dimensions one of T1 to T7, without it all; of connectivity S2 x S2, or mesh:FILE^2 of the surface "
              "itself" },
    { "data", "FOLDER",
      .help = "replicates from points_01.npy, points_02.npy, ...; without it they are simulated. Of connectivity a "
              "file of pairs as endpoints writes it, given once for each tractogram; of gauntlet a folder of real "
              "data sets" },
    { "truth", "FILE",
      .help = "the known density, as for evaluate; without it the authors' mixture on T2, the recipe on T4, of "
              "dimensions that recipe for any number of angles" },
    { "truth-seed", "S", .help = "the recipe of simulate with this seed, on T2, too (T4 without it: 0)" },
    { "replicates", "R", .fallback = "2", .help = "the paper has 20; of connectivity 3, splits of the pairs" },
    { "n", "N",
      .help = "points of a replicate; without it 10,000, on T4 100,000 (of dimensions 10,000), of frequencies "
              "1,000, or all of a file; connectivity takes all pairs" },
    { "methods", "LIST",
      .help = "all, or names separated by commas: a method (series), settings (best) or both (series:best); "
              "without it all but those that take hours; of gauntlet estimators, field,series,kde,stack,uniform" },
    { "steps", "N", .help = "for a try: fits that take steps take so many instead of their own number" },
    { "out", "FILE.jsonl",
      .help = "of connectivity a folder; else a file that keeps one line for each fit; started again, goes on from "
              "there; what belongs to figures is written beside it: FILE_profiles.csv, FILE_spectra.csv, "
              "FILE_course.csv, FILE_courses.csv, FILE_coefficients.csv, FILE_truth_T3.json" },
    { "jobs", "J", .fallback = "1", .help = "fits at a time, the cores divided among them" },
    { "tracks", "TRACKS", .group = CONNECTIVITY,
      .help = "streamlines (.trk or .tck, also .gz) in the place of --data, once for each tractogram; their ends "
              "are found as endpoints does" },
    { "space", "mni152", .group = CONNECTIVITY, .help = "of the tracks, as for endpoints" },
    { "max-distance", "X", .group = CONNECTIVITY,
      .help = "how far an end may be from the surface: of tracks 5 unless said, as for endpoints; of pairs on a "
              "mesh as for fit" },
    { "surface", "FILE", .group = CONNECTIVITY,
      .help = "the cortical surface: the streamlines end there, maps are drawn on it" },
    { "sphere", "FILE", .group = CONNECTIVITY, .help = "the sphere it is registered to, of the same faces" },
    { "labels", "FILE", .group = CONNECTIVITY, .help = "a region for every vertex: .annot .label .gii .csv .npy" },
    { "roi", "NAME", .group = CONNECTIVITY,
      .help = "the region of the maps and of the row of the matrix: medialorbitofrontal" },
    { "unordered", "on|off", .fallback = "off", .group = CONNECTIVITY,
      .help = "every fit is one of pairs without an order" },
    { "list", .group = GAUNTLET, .help = "the names, families, domains and sizes of its truths, and no more" },
    { "only", "PATTERN", .group = GAUNTLET,
      .help = "truths and data sets whose names match, as in '*-t2' or 'ridge*'" },
    { "half", "develop|report", .fallback = "report", .group = GAUNTLET,
      .help = "truths of even seeds, to develop with, or of odd ones, which are reported" },
    { "seeds", "N", .fallback = "1", .group = GAUNTLET, .help = "how many seeds of that half" },
    { "against", "FILE.jsonl", .group = GAUNTLET,
      .help = "results of another run or version: KL divergences over the best of that file, too" },
    { 0 },
};

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

static int unknown_experiment(const cli_args *args)
{
    char known[256] = "";
    cli_nearest near = { .wanted = args->operand };
    for (const reproduce_experiment *e = REPRODUCE_EXPERIMENTS; e->name; e++) {
        cli_append(known, sizeof known, "%s%s", known[0] ? ", " : "", e->name);
        cli_nearest_try(&near, e->name);
    }
    if (near.best)
        return cli_fail(args, CLI_USAGE, "unknown experiment '%s'; did you mean %s? There are %s", args->operand,
                        near.best, known);
    return cli_fail(args, CLI_USAGE, "unknown experiment '%s'; there are %s", args->operand, known);
}

int reproduce_check_groups(const cli_args *args, const char *const *unknown)
{
    for (const cli_option *o = OPTIONS; o->name; o++)
        if (o->group && strcmp(o->group, args->operand) != 0 && cli_value(args, o->name))
            return cli_fail(args, CLI_USAGE, "--%s belongs to %s, not to %s", o->name, o->group, args->operand);
    for (; unknown && *unknown; unknown++)
        if (cli_value(args, *unknown))
            return cli_fail(args, CLI_USAGE, "--%s is nothing that %s knows", *unknown, args->operand);
    return CLI_DONE;
}

int reproduce_count(const cli_args *args, const char *name, int most, int *out)
{
    size_t value = (size_t)*out;
    const int code = cli_count(args, name, &value);
    if (code != CLI_DONE)
        return code;
    if (value > (size_t)most)
        return cli_fail(args, CLI_USAGE, "--%s is %zu, expected at most %d", name, value, most);
    *out = (int)value;
    return CLI_DONE;
}

int reproduce_read_jobs(reproduce_plan *plan)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    plan->jobs = 1;
    const int code = reproduce_count(plan->args, "jobs", 1024, &plan->jobs);
    if (plan->how.threads == 0 && plan->jobs > 1)
        plan->how.threads = cores > plan->jobs ? (int)(cores / plan->jobs) : 1;
    return code;
}

/* The name as the tables have it, T3 for S1^3; NULL: no row of the experiment is there. */
static const char *find_domain(const reproduce_experiment *e, const char *wanted)
{
    for (const reproduce_row *row = e->rows; row->domain; row++) {
        char alias[16];
        snprintf(alias, sizeof alias, "S1^%s", row->domain + 1);
        if (strcmp(wanted, row->domain) == 0 || strcmp(wanted, alias) == 0)
            return row->domain;
    }
    return NULL;
}

static int read_domain(const cli_args *args, reproduce_plan *plan)
{
    const reproduce_experiment *e = plan->experiment;
    const char *domain = cli_value(args, "domain");
    char known[64] = "";
    if (!domain && e->every_dimension) {
        if (plan->truth_path || plan->folder)
            return cli_fail(args, CLI_USAGE, "--%s is on one domain: %s needs --domain",
                            plan->truth_path ? "truth" : "data", e->name);
        return CLI_DONE;
    }
    plan->domain_name = find_domain(e, domain ? domain : "T2");
    for (const reproduce_row *row = e->rows; row->domain; row++)
        if (row == e->rows || strcmp(row->domain, row[-1].domain) != 0)
            cli_append(known, sizeof known, "%s%s", known[0] ? " or " : "", row->domain);
    return plan->domain_name ? CLI_DONE : cli_fail(args, CLI_USAGE, "--domain is '%s', expected %s", domain, known);
}

static int read_plan(const cli_args *args, reproduce_plan *plan)
{
    int code = CLI_DONE;
    *plan = (reproduce_plan){ .args = args,
                              .experiment = reproduce_find(args->operand),
                              .folder = cli_value(args, "data"),
                              .truth_path = cli_value(args, "truth"),
                              .out = cli_value(args, "out"),
                              .truth_seeded = cli_value(args, "truth-seed") != NULL,
                              .replicates = 2 };
    if (!plan->experiment)
        return unknown_experiment(args);
    if ((code = reproduce_check_groups(args, NULL)) != CLI_DONE || (code = read_domain(args, plan)) != CLI_DONE)
        return code;
    plan->n = plan->folder                           ? 0
              : plan->experiment->n > 0              ? plan->experiment->n
              : strcmp(plan->domain_name, "T4") == 0 ? 100000
                                                     : 10000;
    if (plan->truth_path && plan->truth_seeded)
        return cli_fail(args, CLI_USAGE, "--truth and --truth-seed exclude each other");
    if ((code = cli_compute(args, &plan->seed, &plan->how)) != CLI_DONE
        || (code = cli_seed(args, "truth-seed", &plan->truth_seed)) != CLI_DONE
        || (code = reproduce_count(args, "replicates", 10000, &plan->replicates)) != CLI_DONE
        || (code = reproduce_read_jobs(plan)) != CLI_DONE)
        return code;
    return cli_count(args, "n", &plan->n);
}

/* ---- Which rows -------------------------------------------------------------------------------------------------- */

static bool row_is_called(const reproduce_row *row, const char *word, size_t length)
{
    char both[64];
    snprintf(both, sizeof both, "%s:%s", row->method, row->settings);
    const char *names[] = { row->method, row->settings, both, "all" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            return true;
    return false;
}

static bool row_is_on(const reproduce_row *row, const char *domain) /* NULL: any */
{
    return !domain || strcmp(row->domain, domain) == 0;
}

/* Row by row whether it runs; chosen has room for all rows of the table. */
static int choose_rows(const reproduce_plan *plan, bool *chosen)
{
    const reproduce_row *rows = plan->experiment->rows;
    const char *list = cli_value(plan->args, "methods");
    for (int i = 0; rows[i].domain; i++)
        chosen[i] = !list && rows[i].usual && row_is_on(&rows[i], plan->domain_name);
    for (const char *at = list; at;) {
        const size_t length = strcspn(at, ",");
        bool known = false;
        for (int i = 0; rows[i].domain; i++)
            if (row_is_on(&rows[i], plan->domain_name) && row_is_called(&rows[i], at, length))
                known = chosen[i] = true;
        if (!known) {
            char have[512] = "";
            for (int i = 0; rows[i].domain; i++)
                if (row_is_on(&rows[i], plan->domain_name ? plan->domain_name : rows->domain))
                    cli_append(have, sizeof have, "%s%s:%s", have[0] ? ", " : "", rows[i].method, rows[i].settings);
            return cli_fail(plan->args, CLI_USAGE, "--methods: '%.*s' is no row of %s%s%s; there are %s",
                            length < 40 ? (int)length : 40, at, plan->experiment->name, plan->domain_name ? " on " : "",
                            plan->domain_name ? plan->domain_name : "", have);
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return CLI_DONE;
}

/* ---- The tasks --------------------------------------------------------------------------------------------------- */

char *reproduce_words(const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    const int length = vsnprintf(NULL, 0, format, values);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(values);
    return text;
}

char *reproduce_file_of(const reproduce_plan *plan, int replicate)
{
    const size_t length = strlen(plan->folder);
    return reproduce_words("%s%spoints_%02d.npy", plan->folder, length && plan->folder[length - 1] == '/' ? "" : "/",
                           replicate);
}

/* Newton's method and kernels take no steps that could be fewer, weights at their start one. */
static bool takes_steps(const reproduce_row *row)
{
    return strcmp(row->method, "kde") != 0 && !strstr(row->options, "newton") && !strstr(row->options, "--rate 0 ");
}

int reproduce_task_make(const reproduce_plan *plan, const reproduce_row *row, int replicate, uint64_t seed, bool steps,
                        char *data, reproduce_task *task)
{
    const char *fewer = steps ? cli_value(plan->args, "steps") : NULL, *device = plan->how.device;
    const bool elsewhere = device && strcmp(device, "cpu") != 0;
    *task = (reproduce_task){ .row = row, .replicate = replicate, .data = data };
    task->options = reproduce_words(
        "%s%s%s%s%s%s --seed %" PRIu64, row->options, plan->pairs && plan->pairs->unordered ? " --unordered on" : "",
        fewer ? " --steps " : "", fewer ? fewer : "", elsewhere ? " --device " : "", elsewhere ? device : "", seed);
    if (!task->options || !task->data)
        return cli_fail(plan->args, CLI_MEMORY, "not enough memory for the list of fits");
    return reproduce_line_begin(plan, task);
}

static int task_make(const reproduce_plan *plan, const reproduce_row *row, int replicate, reproduce_task *task)
{
    const uint64_t seed = plan->seed + (uint64_t)replicate - 1;
    char *path = plan->folder ? reproduce_file_of(plan, replicate) : NULL, *data = NULL;
    if (plan->pairs)
        data = reproduce_words("%s, nine tenths by seed %" PRIu64,
                               plan->pairs->tracks ? plan->pairs->tracks : plan->pairs->data, seed);
    else if (!plan->folder)
        data = reproduce_words("simulated, n %zu, seed %" PRIu64, plan->n, seed);
    else if (path)
        data = plan->n > 0 ? reproduce_words("%s, first %zu", path, plan->n) : reproduce_words("%s", path);
    free(path);
    return reproduce_task_make(plan, row, replicate, seed, takes_steps(row), data, task);
}

void reproduce_task_free(reproduce_task *task)
{
    free(task->options);
    free(task->data);
    free(task->line);
    for (int i = 0; i < REPRODUCE_DATA_MOST; i++)
        free(task->rows[i]);
}

void reproduce_tasks_free(reproduce_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        reproduce_task_free(&plan->tasks[i]);
    free(plan->tasks);
}

/* Replicate by replicate, so that a run that is cut short has whole ones. */
int reproduce_tasks(reproduce_plan *plan)
{
    enum { ROWS_MOST = 128 };
    const reproduce_row *rows = plan->experiment->rows;
    bool chosen[ROWS_MOST] = { false };
    int per_replicate = 0, code = choose_rows(plan, chosen);
    if (code != CLI_DONE)
        return code;
    for (int i = 0; rows[i].domain; i++)
        per_replicate += chosen[i];
    plan->tasks = calloc((size_t)per_replicate * (size_t)plan->replicates + 1, sizeof *plan->tasks);
    if (!plan->tasks)
        return cli_fail(plan->args, CLI_MEMORY, "not enough memory for the list of fits");
    for (int r = 1; r <= plan->replicates; r++)
        for (int i = 0; rows[i].domain; i++)
            if (chosen[i] && (code = task_make(plan, &rows[i], r, &plan->tasks[plan->count++])) != CLI_DONE)
                return code;
    return CLI_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

int reproduce_check_steps(const cli_args *args)
{
    npmd_error err = { 0 };
    const char *steps = cli_value(args, "steps");
    npmd_options *options = npmd_options_new();
    int code = CLI_DONE;
    if (!options)
        code = cli_fail(args, CLI_MEMORY, "not enough memory for the options");
    else if (steps && npmd_options_set(options, "steps", steps, &err))
        code = cli_refuse(args, &err);
    npmd_options_free(options);
    return code;
}

static int check_files(const reproduce_plan *plan, const char *out)
{
    int code = cli_distinct(plan->args, "--out", out, "--truth", plan->truth_path);
    for (int r = 1; plan->folder && r <= plan->replicates && code == CLI_DONE; r++) {
        char *path = reproduce_file_of(plan, r);
        if (!path)
            return cli_fail(plan->args, CLI_MEMORY, "not enough memory for a file's name");
        code = cli_distinct(plan->args, "--out", out, "--data", path);
        if (code == CLI_DONE && access(path, R_OK) != 0)
            code = cli_fail(plan->args, CLI_FILE, "%s: cannot read replicate %d of %d: %s", path, r, plan->replicates,
                            strerror(errno));
        free(path);
    }
    return code;
}

int reproduce_compute(reproduce_plan *plan, const char *results)
{
    reproduce_file file = { .fd = -1 };
    const char *name = plan->pairs ? plan->pairs->name : NULL;
    int known = 0, failed = 0, code = reproduce_check(plan);
    if (code != CLI_DONE || (code = reproduce_file_open(plan, results, &file)) != CLI_DONE)
        goto done;
    for (int i = 0; i < plan->count; i++)
        known += plan->tasks[i].done;
    cli_note(plan->args, "%s%s%s%s%s: %d to fit, %d of them done before", plan->experiment->name, name ? " of " : "",
             name ? name : "", plan->domain_name ? " on " : "", plan->domain_name ? plan->domain_name : "", plan->count,
             known);
    if (!results)
        cli_note(plan->args, "without --out nothing is kept until the end");
    if ((code = reproduce_run(plan, &file)) != CLI_DONE)
        goto done;
    for (int i = 0; i < plan->count; i++)
        failed += plan->tasks[i].failed;
    if (failed == plan->count)
        code = cli_fail(plan->args, CLI_NUMERIC, "every fit failed, the first one so: %s", plan->tasks[0].result.text);
done:
    reproduce_file_close(&file);
    return code;
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    const reproduce_experiment *experiment = reproduce_find(args->operand);
    reproduce_plan plan;
    if (experiment && experiment->run)
        return experiment->run(args);
    TRY(read_plan(args, &plan));
    TRY(reproduce_check_steps(args));
    TRY(check_files(&plan, plan.out));
    TRY(reproduce_tasks(&plan));
    TRY(reproduce_compute(&plan, plan.out));
    TRY(reproduce_data_write(&plan));
    st = reproduce_report(&plan);
done:
    reproduce_tasks_free(&plan);
    return st;
}

const cli_command command_reproduce = {
    .name = "reproduce",
    .operand = "EXPERIMENT",
    .summary = "the paper's tables, measured again",
    .details = "table1: every method on every replicate of the torus mixtures (Table 1); relu: the plain network "
               "(Table S1); encodings: separable and other first layers, the ISE criterion and courses of the "
               "error (Table S2, Figure S2); spectral-bias: error and Fourier spectra while field and psnf are "
               "fitted (Figures S3 to S5); diagnostics: criteria of convergence while a field is fitted (Figure "
               "S7); frequencies: those in v against Theorem 1, corrected; dimensions: every method on T1 to T7; "
               "gauntlet: every method on some fifty known densities of many families, whose numbers are drawn "
               "from seeds, and on real data; connectivity: pairs of end points of streamlines, likelihood of "
               "those that were not fitted, maps and the row of a region (Figures 3, 4, S8, S9). Settings: "
               "published (those of the code behind the published numbers), text (as printed), best (this "
               "program's own). One JSON line a fit goes to --out; a run that was stopped or killed goes on from "
               "there and repeats nothing but fits that failed. Minutes a replicate on two idle cores: table1 8 to "
               "10; encodings 5; spectral-bias 1, with --methods published 30; diagnostics 4; frequencies 0.1; "
               "dimensions about 30, most of it for the series. T4: some minutes a fit; with --methods all hours "
               "to days, since the published settings take 20,000 steps of a second or more.",
    .examples =
        "neuropmd reproduce table1 --out table1.jsonl\n"
        "neuropmd reproduce table1 --data torus_mixture --replicates 10 --jobs 2 --out table1.jsonl\n"
        "neuropmd reproduce encodings --domain T4 --methods best --out t4.jsonl --json\n"
        "neuropmd reproduce dimensions --domain T3 --methods field,kde --out t3.jsonl\n"
        "neuropmd reproduce gauntlet --list\n"
        "neuropmd reproduce gauntlet --only '*-t2' --half develop --methods series,kde --out develop.jsonl\n"
        "neuropmd reproduce connectivity --data ends.npy --sphere lh.sphere.reg.gii --surface lh.white.gii --labels "
        "lh.aparc.annot --roi medialorbitofrontal --out brain\n",
    .options = OPTIONS,
    .run = run,
};
