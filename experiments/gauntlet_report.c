/* gauntlet_report.c - what the gauntlet found: for each truth the KL divergence of every method, the best one starred,
 * and how far each method is from the best, as a ratio: its regret.
 *
 * In a ratio a divergence counts as its standard error at least, and as 1 / (2 n) at least, which is what an estimate
 * with one free number costs on average: below that nothing is won. Likelihoods of real data are compared by
 * differences. */
#include "gauntlet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry { /* of a row of results: a subject with a seed */
    char name[48];
    int seed;
    double n, best; /* the least divergence, floored; of real data the least negative log-likelihood */
} entry;

typedef struct entries {
    entry *at;
    size_t count, room;
} entries;

static double floored(double kl, double se, double n)
{
    return fmax(fmax(kl, isnan(se) ? 0.0 : se), 0.5 / n);
}

static const reproduce_task *task_at(const reproduce_plan *plan, int seed, int subject, int method)
{
    const reproduce_gauntlet *g = plan->gauntlet;
    return &plan->tasks[(seed * g->subjects + subject) * g->methods + method];
}

/* What methods are compared by: a divergence, floored, or a likelihood; NaN: the fit failed. */
static double figure_of(const reproduce_plan *plan, int seed, int subject, int method)
{
    const reproduce_task *task = task_at(plan, seed, subject, method);
    const double *figure = task->result.figure;
    const gauntlet_subject *s = &plan->gauntlet->subject[subject];
    if (!task->done || task->failed)
        return NAN;
    return s->set ? figure[FIGURE_NLL] : floored(figure[FIGURE_KL], figure[FIGURE_KL_SE], (double)s->n);
}

static double best_of(const reproduce_plan *plan, int seed, int subject)
{
    double best = NAN;
    for (int m = 0; m < plan->gauntlet->methods; m++)
        best = fmin(best, figure_of(plan, seed, subject, m));
    return best;
}

/* ---- Another file of results ------------------------------------------------------------------------------------- */

static bool line_text(const char *line, const char *key, char *out, size_t size)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
    const char *at = strstr(line, quoted);
    if (at)
        snprintf(out, size, "%.*s", (int)strcspn(at + strlen(quoted), "\""), at + strlen(quoted));
    return at != NULL;
}

static entry *entry_find(const entries *e, const char *name, int seed, double n)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->at[i].seed == seed && strcmp(e->at[i].name, name) == 0 && e->at[i].n == n)
            return &e->at[i];
    return NULL;
}

static bool entries_add(entries *e, const char *line)
{
    entry found = { .seed = (int)reproduce_line_number(line, "seed"), .n = reproduce_line_number(line, "n") };
    const double kl = reproduce_line_number(line, "kl"), nll = reproduce_line_number(line, "nll");
    if (!strstr(line, "\"experiment\": \"gauntlet\"") || !strstr(line, "\"status\": \"done\"")
        || !line_text(line, "name", found.name, sizeof found.name) || (isnan(kl) && isnan(nll)))
        return true;
    found.best = isnan(kl) ? nll : floored(kl, reproduce_line_number(line, "kl_se"), found.n);
    entry *old = entry_find(e, found.name, found.seed, found.n);
    if (old) {
        old->best = fmin(old->best, found.best);
        return true;
    }
    if (e->count == e->room) {
        entry *more = realloc(e->at, (2 * e->room + 64) * sizeof *more);
        if (!more)
            return false;
        e->at = more;
        e->room = 2 * e->room + 64;
    }
    e->at[e->count++] = found;
    return true;
}

static int entries_read(const cli_args *args, const char *path, entries *e)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    int code = CLI_DONE;
    if (!f)
        return cli_fail(args, CLI_FILE, "%s: cannot be read", path);
    while (code == CLI_DONE && getline(&line, &room, f) >= 0)
        if (!entries_add(e, line))
            code = cli_fail(args, CLI_MEMORY, "%s: not enough memory for its lines", path);
    free(line);
    fclose(f);
    if (code == CLI_DONE && e->count == 0)
        code = cli_fail(args, CLI_INPUT, "%s: found no line of results of gauntlet", path);
    return code;
}

/* ---- Regrets ----------------------------------------------------------------------------------------------------- */

typedef struct regret { /* of a method, over truths; of real data over the best, in nats */
    double mean, worst, above;
    int count;
} regret;

/* The best of a row of this run, or of another file; NaN: it has none. */
static double reference(const reproduce_plan *plan, const entries *against, int seed, int subject)
{
    const gauntlet_subject *s = &plan->gauntlet->subject[subject];
    if (!against)
        return best_of(plan, seed, subject);
    double n = NAN;
    for (int m = 0; m < plan->gauntlet->methods && isnan(n); m++)
        n = task_at(plan, seed, subject, m)->result.figure[FIGURE_N];
    const entry *e = entry_find(against, s->name, plan->gauntlet->first + 2 * seed, s->set ? n : (double)s->n);
    return e ? e->best : NAN;
}

static regret regret_of(const reproduce_plan *plan, const entries *against, int method, bool real)
{
    const reproduce_gauntlet *g = plan->gauntlet;
    regret r = { .worst = real ? -INFINITY : 0.0 };
    for (int s = 0; s < g->seeds; s++)
        for (int j = 0; j < g->subjects; j++) {
            const double best = reference(plan, against, s, j), found = figure_of(plan, s, j, method);
            if ((g->subject[j].set != NULL) != real || isnan(best) || isnan(found))
                continue;
            const double apart = real ? found - best : found / best;
            r.mean += real ? apart : log(apart);
            r.worst = fmax(r.worst, apart);
            r.above += apart > (real ? 0.01 : 1.10);
            r.count++;
        }
    r.mean = r.count == 0 ? NAN : real ? r.mean / r.count : exp(r.mean / r.count);
    r.worst = r.count == 0 ? NAN : r.worst;
    r.above = r.count == 0 ? NAN : r.above / r.count;
    return r;
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

#define LABEL 29
#define WIDTH 11

static void print_methods(const reproduce_plan *plan, const char *label)
{
    printf("%-*s", LABEL, label);
    for (int m = 0; m < plan->gauntlet->methods; m++)
        printf(" %*s ", WIDTH - 2, plan->gauntlet->method[m]);
    putchar('\n');
}

static void print_rows(const reproduce_plan *plan, bool real)
{
    const reproduce_gauntlet *g = plan->gauntlet;
    for (int s = 0; s < g->seeds; s++)
        for (int j = 0; j < g->subjects; j++) {
            const double best = best_of(plan, s, j), n = task_at(plan, s, j, 0)->result.figure[FIGURE_N];
            if ((g->subject[j].set != NULL) != real)
                continue;
            printf("%-16s %4d %7s", g->subject[j].name, g->first + 2 * s,
                   cli_words_count(real ? (isnan(n) ? 0 : (uint64_t)n) : g->subject[j].n).text);
            for (int m = 0; m < g->methods; m++) {
                const double found = figure_of(plan, s, j, m);
                const double *figure = task_at(plan, s, j, m)->result.figure;
                if (isnan(found))
                    printf(" %*s ", WIDTH - 2, "failed");
                else
                    printf(" %*.*f%s", WIDTH - 2, real ? 4 : 5, figure[real ? FIGURE_NLL : FIGURE_KL],
                           found <= best ? "*" : " ");
            }
            putchar('\n');
        }
}

static void print_regrets(const reproduce_plan *plan, const entries *against, bool real)
{
    static const char *const WORDS[2][4] = { { "geometric mean", "worst", "above 1.10, %", "of truths" },
                                             { "mean, nats", "worst, nats", "above 0.01, %", "of data sets" } };
    for (int row = 0; row < 4; row++) {
        printf("%-*s", LABEL, WORDS[real][row]);
        for (int m = 0; m < plan->gauntlet->methods; m++) {
            const regret r = regret_of(plan, against, m, real);
            const double value = row == 0 ? r.mean : row == 1 ? r.worst : row == 2 ? 100.0 * r.above : r.count;
            if (isnan(value))
                printf(" %*s ", WIDTH - 2, "-");
            else
                printf(" %*.*f ", WIDTH - 2, row >= 2 ? 0 : 3, value);
        }
        putchar('\n');
    }
}

static bool has_kind(const reproduce_gauntlet *g, bool real)
{
    for (int j = 0; j < g->subjects; j++)
        if ((g->subject[j].set != NULL) == real)
            return true;
    return false;
}

static void report_words(const reproduce_plan *plan, const entries *against)
{
    const reproduce_gauntlet *g = plan->gauntlet;
    printf("%s, half %s, %d seed%s\n", plan->experiment->title, g->half, g->seeds, g->seeds == 1 ? "" : "s");
    for (int real = 0; real < 2; real++) {
        if (!has_kind(g, real))
            continue;
        putchar('\n');
        print_methods(plan, real ? "NLL of real data  seed       n" : "KL, nats         seed       n");
        print_rows(plan, real);
        printf("\n%s\n", real ? "Over the best of these methods" : "Regret: KL over that of the best of these methods");
        print_regrets(plan, NULL, real);
        if (against->count > 0) {
            printf("\nThe same over the best of %s\n", cli_value(plan->args, "against"));
            print_regrets(plan, against, real);
        }
    }
    int failed = 0;
    for (int i = 0; i < plan->count; i++)
        failed += plan->tasks[i].failed;
    printf("\n* the best of its row. In ratios a KL counts as its standard error and as 1 / (2 n) at least.\n");
    if (failed > 0)
        printf("%d of %d fits failed%s\n", failed, plan->count, plan->out ? "; their lines say why" : "");
}

/* ---- For programs ------------------------------------------------------------------------------------------------ */

static void put_regret(cli_json *j, const char *prefix, const regret *r)
{
    const cli_words count = cli_words_of("%scount", prefix), mean = cli_words_of("%smean", prefix),
                    worst = cli_words_of("%sworst", prefix), above = cli_words_of("%sabove", prefix);
    CLI_PUT(j, WHOLE(count.text, r->count), REAL(mean.text, r->mean), REAL(worst.text, r->worst),
            REAL(above.text, r->above));
}

static int report_json(const reproduce_plan *plan, const entries *against)
{
    const reproduce_gauntlet *g = plan->gauntlet;
    cli_json j = { 0 };
    cli_json_begin(&j);
    CLI_PUT(&j, TEXT("experiment", plan->experiment->name), TEXT("half", g->half), WHOLE("seeds", g->seeds),
            TEXT("against", cli_value(plan->args, "against")), TEXT("out", plan->out), TEXT("version", npmd_version()));
    cli_json_list(&j, "methods");
    for (int m = 0; m < g->methods; m++)
        for (int real = 0; real < 2; real++) {
            if (!has_kind(g, real))
                continue;
            const regret own = regret_of(plan, NULL, m, real), other = regret_of(plan, against, m, real);
            cli_json_object(&j);
            CLI_PUT(&j, TEXT("method", g->method[m]), TEXT("subjects", real ? "real" : "truths"));
            put_regret(&j, "regret_", &own);
            if (against->count > 0)
                put_regret(&j, "against_", &other);
            cli_json_leave(&j);
        }
    cli_json_leave(&j);
    cli_json_list(&j, "results");
    for (int i = 0; i < plan->count; i++)
        cli_json_whole(&j, plan->tasks[i].line);
    cli_json_leave(&j);
    return cli_json_print(plan->args, &j);
}

int gauntlet_report(const reproduce_plan *plan)
{
    const char *path = cli_value(plan->args, "against");
    entries against = { 0 };
    int code = path ? entries_read(plan->args, path, &against) : CLI_DONE;
    if (code == CLI_DONE && plan->args->json)
        code = report_json(plan, &against);
    else if (code == CLI_DONE && !plan->args->quiet)
        report_words(plan, &against);
    free(against.at);
    return code;
}
