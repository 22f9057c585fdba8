/* reproduce_gauntlet.c - neuropmd reproduce gauntlet: which truths, data sets, methods and seeds; then as any
 * experiment (reproduce_run.c, reproduce_file.c). */
#include "gauntlet.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL_METHODS "field,series,kde,stack,uniform"

static const char *const only_for_others[] = { "truth", "truth-seed", "replicates", "domain", NULL };

const gauntlet_subject *gauntlet_subject_of(const reproduce_plan *plan, const reproduce_row *row)
{
    return &plan->gauntlet->subject[(row - plan->gauntlet->rows) / plan->gauntlet->methods];
}

void gauntlet_line_begin(const reproduce_plan *plan, const reproduce_task *task, cli_json *j)
{
    const gauntlet_subject *s = gauntlet_subject_of(plan, task->row);
    CLI_PUT(j, TEXT("name", s->name), TEXT("family", s->family), TEXT("domain", s->domain),
            WHOLE("seed", task->replicate), TEXT("half", plan->gauntlet->half), TEXT("method", task->row->method),
            TEXT("data", task->data), TEXT("options", task->options));
}

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

static int list(const cli_args *args)
{
    npmd_recipe r = NPMD_SIZED(npmd_recipe);
    cli_json j = { 0 };
    if (!args->json) {
        printf("%-18s %-12s %-8s %8s\n", "name", "family", "domain", "n");
        for (int i = 0; npmd_recipe_at(i, &r, NULL) == NPMD_OK; i++)
            printf("%-18s %-12s %-8s %8s\n", r.name, r.family, r.domain, cli_words_count(r.n).text);
        return CLI_DONE;
    }
    cli_json_begin(&j);
    cli_json_list(&j, "truths");
    for (int i = 0; npmd_recipe_at(i, &r, NULL) == NPMD_OK; i++)
        CLI_PUT_OBJECT(&j, TEXT("name", r.name), TEXT("family", r.family), TEXT("domain", r.domain), COUNT("n", r.n));
    cli_json_leave(&j);
    return cli_json_print(args, &j);
}

/* Is it one of field|series|..., as the library's table of options has them? */
static bool is_estimator(const char *word, size_t length, const char **known)
{
    const char *name = NULL, *at = NULL;
    for (int i = 0; (name = npmd_option_text(i, NPMD_OPTION_NAME)) != NULL; i++)
        if (strcmp(name, "estimator") == 0)
            at = *known = npmd_option_text(i, NPMD_OPTION_VALUES);
    for (; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

static int read_methods(const cli_args *args, reproduce_gauntlet *g)
{
    const char *at = cli_value(args, "methods") ? cli_value(args, "methods") : USUAL_METHODS, *known = "";
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        if (!is_estimator(at, length, &known))
            return cli_fail(args, CLI_USAGE, "--methods: '%.*s' is no estimator; there are %s",
                            length < 40 ? (int)length : 40, at, known);
        for (int m = 0; m < g->methods; m++)
            if (strlen(g->method[m]) == length && strncmp(g->method[m], at, length) == 0)
                return cli_fail(args, CLI_USAGE, "--methods has %s twice", g->method[m]);
        if (g->methods == GAUNTLET_METHODS_MOST)
            return cli_fail(args, CLI_USAGE, "--methods has more than %d", GAUNTLET_METHODS_MOST);
        snprintf(g->method[g->methods++], sizeof g->method[0], "%.*s", (int)length, at);
    }
    return CLI_DONE;
}

static int read_subjects(const cli_args *args, size_t n, reproduce_gauntlet *g)
{
    const char *pattern = cli_value(args, "only");
    npmd_recipe r = NPMD_SIZED(npmd_recipe);
    for (int i = 0; npmd_recipe_at(i, &r, NULL) == NPMD_OK && g->subjects < GAUNTLET_SUBJECTS_MOST; i++)
        if (!pattern || fnmatch(pattern, r.name, 0) == 0)
            g->subject[g->subjects++] = (gauntlet_subject){
                .name = r.name, .family = r.family, .domain = r.domain, .n = n > 0 ? n : r.n
            };
    if (g->folder)
        gauntlet_sets_find(args, g->folder, pattern, g->subject, &g->subjects);
    return g->subjects > 0 ? CLI_DONE
                           : cli_fail(args, CLI_USAGE, "--only %s names nothing; --list has the names", pattern);
}

static int read_seeds(const cli_args *args, const reproduce_plan *plan, reproduce_gauntlet *g)
{
    const char *half = cli_value(args, "half");
    g->half = half ? half : "report";
    g->seeds = 1;
    const bool odd = strcmp(g->half, "report") == 0;
    if (!odd && strcmp(g->half, "develop") != 0)
        return cli_fail(args, CLI_USAGE, "--half is '%s', expected develop or report", half);
    g->first = odd ? 1 : 0;
    if (cli_value(args, "seed")) {
        if (plan->seed % 2 != (odd ? 1 : 0) || plan->seed > 1000000)
            return cli_fail(args, CLI_USAGE, "--seed is %" PRIu64 ", expected an %s number up to 1,000,000: --half %s",
                            plan->seed, odd ? "odd" : "even", g->half);
        g->first = (int)plan->seed;
    }
    return reproduce_count(args, "seeds", 10000, &g->seeds);
}

static int read_plan(const cli_args *args, reproduce_plan *plan, reproduce_gauntlet *g)
{
    int code = reproduce_check_groups(args, only_for_others);
    *plan = (reproduce_plan){
        .args = args, .experiment = reproduce_find(args->operand), .out = cli_value(args, "out"), .gauntlet = g
    };
    g->folder = cli_value(args, "data");
    if (code != CLI_DONE || (code = cli_compute(args, &plan->seed, &plan->how)) != CLI_DONE
        || (code = reproduce_read_jobs(plan)) != CLI_DONE || (code = cli_count(args, "n", &plan->n)) != CLI_DONE
        || (code = reproduce_check_steps(args)) != CLI_DONE
        || (code = cli_distinct(args, "--out", plan->out, "--against", cli_value(args, "against"))) != CLI_DONE
        || (code = read_seeds(args, plan, g)) != CLI_DONE || (code = read_methods(args, g)) != CLI_DONE
        || (code = read_subjects(args, plan->n, g)) != CLI_DONE)
        return code;
    const char *against = cli_value(args, "against"); /* read at the end; that it is there is known now */
    if (against && access(against, R_OK) != 0)
        return cli_fail(args, CLI_FILE, "%s: cannot be read: %s", against, strerror(errno));
    return CLI_DONE;
}

/* ---- Rows and tasks ---------------------------------------------------------------------------------------------- */

enum { OPTIONS_SIZE = 64 };

/* Defaults, but for kernels, which are best as a mixture of widths; on surfaces they have one. */
static void row_make(reproduce_gauntlet *g, int subject, int method)
{
    const int at = subject * g->methods + method;
    const char *name = g->method[method], *domain = g->subject[subject].domain;
    const bool mixture = strcmp(name, "kde") == 0 && !strstr(domain, "mesh");
    char *options = g->options + at * OPTIONS_SIZE;
    snprintf(options, OPTIONS_SIZE, "--estimator %s%s", name, mixture ? " --bandwidth mixture" : "");
    g->rows[at] = (reproduce_row){
        .domain = domain, .method = name, .settings = g->subject[subject].name, .options = options, .usual = true
    };
}

static bool takes_steps(const char *method)
{
    return strcmp(method, "series") != 0 && strcmp(method, "kde") != 0 && strcmp(method, "uniform") != 0;
}

static int task_make(const reproduce_plan *plan, const reproduce_row *row, int seed, reproduce_task *task)
{
    const gauntlet_subject *s = gauntlet_subject_of(plan, row);
    char *data = s->set ? reproduce_words("%s, split %d", s->set->file, seed)
                        : reproduce_words("simulated, n %zu, seed %d", s->n, seed);
    return reproduce_task_make(plan, row, seed, (uint64_t)seed, takes_steps(row->method), data, task);
}

static int tasks_make(reproduce_plan *plan, reproduce_gauntlet *g)
{
    const int rows = g->subjects * g->methods;
    int code = CLI_DONE;
    g->rows = calloc((size_t)rows, sizeof *g->rows);
    g->options = calloc((size_t)rows, OPTIONS_SIZE);
    plan->tasks = calloc((size_t)rows * (size_t)g->seeds, sizeof *plan->tasks);
    if (!g->rows || !g->options || !plan->tasks)
        return cli_fail(plan->args, CLI_MEMORY, "not enough memory for the list of fits");
    for (int i = 0; i < rows; i++)
        row_make(g, i / g->methods, i % g->methods);
    for (int s = 0; s < g->seeds; s++)
        for (int i = 0; i < rows && code == CLI_DONE; i++)
            code = task_make(plan, &g->rows[i], g->first + 2 * s, &plan->tasks[plan->count++]);
    return code;
}

int reproduce_gauntlet_run(const cli_args *args)
{
    int st = CLI_DONE;
    reproduce_gauntlet *g = NULL;
    reproduce_plan plan = { .args = args };
    if (cli_value(args, "list"))
        return list(args);
    if (!(g = calloc(1, sizeof *g)))
        return cli_fail(args, CLI_MEMORY, "not enough memory for the list of truths");
    TRY(read_plan(args, &plan, g));
    TRY(tasks_make(&plan, g));
    TRY(reproduce_compute(&plan, plan.out));
    st = gauntlet_report(&plan);
done:
    reproduce_tasks_free(&plan);
    free(g->rows);
    free(g->options);
    free(g);
    return st;
}
