/* reproduce_report.c - what an experiment found: mean and standard error over the replicates, a line for each method
 * and settings, beside what the paper says. */
#include "cli.h"

#include <math.h>
#include <string.h>

typedef struct moments {
    double mean, se; /* NaN: not known */
} moments;

typedef struct summary {
    const reproduce_row *row;
    const char *reason; /* of the last failure */
    int done, failed;
    moments nise, ae, fr, kl;
    double seconds; /* mean */
    uint64_t peak_memory;
    int64_t parameters;
} summary;

typedef double (*figure)(const reproduce_result *r);
static double figure_nise(const reproduce_result *r)
{
    return r->nise;
}
static double figure_ae(const reproduce_result *r)
{
    return r->ae;
}
static double figure_fr(const reproduce_result *r)
{
    return r->fr;
}
static double figure_kl(const reproduce_result *r)
{
    return r->kl;
}
static double figure_seconds(const reproduce_result *r)
{
    return r->seconds;
}

/* Over the replicates of a row: mean, and standard deviation / sqrt(R). */
static moments moments_of(const reproduce_plan *plan, const reproduce_row *row, figure of)
{
    double sum = 0.0, squares = 0.0;
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < plan->count; i++) {
            const reproduce_task *t = &plan->tasks[i];
            if (t->row != row || !t->done || t->failed)
                continue;
            const double x = of(&t->result);
            if (pass == 0) {
                sum += x;
                n++;
            } else {
                squares += (x - sum / n) * (x - sum / n);
            }
        }
    return (moments){ .mean = n > 0 ? sum / n : NAN, .se = n > 1 ? sqrt(squares / (n - 1) / n) : NAN };
}

static summary summarise(const reproduce_plan *plan, const reproduce_row *row)
{
    summary s = { .row = row,
                  .parameters = -1,
                  .nise = moments_of(plan, row, figure_nise),
                  .ae = moments_of(plan, row, figure_ae),
                  .fr = moments_of(plan, row, figure_fr),
                  .kl = moments_of(plan, row, figure_kl),
                  .seconds = moments_of(plan, row, figure_seconds).mean };
    for (int i = 0; i < plan->count; i++) {
        const reproduce_task *t = &plan->tasks[i];
        if (t->row != row)
            continue;
        if (t->failed) {
            s.failed++;
            s.reason = t->result.text;
        } else {
            s.done++;
            s.parameters = t->result.parameters > s.parameters ? t->result.parameters : s.parameters;
            s.peak_memory = t->result.peak_memory > s.peak_memory ? t->result.peak_memory : s.peak_memory;
        }
    }
    return s;
}

/* The rows that were run, in the order of the table; false after the last. */
static bool next_row(const reproduce_plan *plan, const reproduce_row **row)
{
    for (*row = *row ? *row + 1 : plan->experiment->rows; (*row)->domain; ++*row)
        for (int i = 0; i < plan->count; i++)
            if (plan->tasks[i].row == *row)
                return true;
    return false;
}

static void put_moments(cli_json *j, const char *mean_key, const char *se_key, moments m)
{
    cli_json_number(j, mean_key, m.mean);
    cli_json_number(j, se_key, m.se);
}

static void put_summary(cli_json *j, const reproduce_plan *plan, const summary *s)
{
    const reproduce_published *p = reproduce_published_find(plan->experiment, plan->domain_name,
                                                            s->row->method);
    cli_json_object(j);
    cli_json_text(j, "method", s->row->method);
    cli_json_text(j, "settings", s->row->settings);
    cli_json_text(j, "options", s->row->options);
    cli_json_signed(j, "replicates", s->done);
    cli_json_signed(j, "failed", s->failed);
    put_moments(j, "nise", "nise_se", s->nise);
    put_moments(j, "ae", "ae_se", s->ae);
    put_moments(j, "fr", "fr_se", s->fr);
    put_moments(j, "kl", "kl_se", s->kl);
    put_moments(j, "published_nise", "published_nise_se",
                p ? (moments){ p->nise, p->nise_se } : (moments){ NAN, NAN });
    put_moments(j, "published_ae", "published_ae_se",
                p ? (moments){ p->ae, p->ae_se } : (moments){ NAN, NAN });
    cli_json_number(j, "seconds", s->seconds);
    if (s->parameters >= 0)
        cli_json_signed(j, "parameters", s->parameters);
    else
        cli_json_text(j, "parameters", NULL);
    cli_json_unsigned(j, "peak_memory_bytes", s->peak_memory);
    if (s->reason)
        cli_json_text(j, "reason", s->reason);
    cli_json_object_end(j);
}

static int report_json(const reproduce_plan *plan, const char *out)
{
    const reproduce_row *row = NULL;
    cli_json j = { 0 };
    cli_json_begin(&j);
    cli_json_text(&j, "experiment", plan->experiment->name);
    cli_json_text(&j, "domain", plan->domain_name);
    cli_json_text(&j, "truth", plan->truth_path ? plan->truth_path : plan->recipe);
    cli_json_text(&j, "data", plan->folder);
    cli_json_signed(&j, "replicates", plan->replicates);
    cli_json_unsigned(&j, "seed", plan->seed);
    cli_json_text(&j, "out", out);
    cli_json_text(&j, "version", npmd_version());
    cli_json_list(&j, "rows");
    while (next_row(plan, &row)) {
        const summary s = summarise(plan, row);
        put_summary(&j, plan, &s);
    }
    cli_json_list_end(&j);
    cli_json_list(&j, "results");
    for (int i = 0; i < plan->count; i++)
        cli_json_whole(&j, plan->tasks[i].line);
    cli_json_list_end(&j);
    return cli_json_print(plan->args, &j);
}

static void print_summary(const reproduce_plan *plan, const summary *s)
{
    const reproduce_published *p = reproduce_published_find(plan->experiment, plan->domain_name,
                                                            s->row->method);
    char paper[32] = "-", parameters[48] = "-";
    if (p)
        snprintf(paper, sizeof paper, "%.4g/%.4g", p->nise, p->ae);
    if (s->parameters >= 0)
        snprintf(parameters, sizeof parameters, "%s", cli_words_count((uint64_t)s->parameters).text);
    printf("%-6s %-9s %2d ", s->row->method, s->row->settings, s->done);
    if (s->done == 0) {
        printf("%-37s %s\n", "failed", paper);
        return;
    }
    printf("%-18s %-18s %-12s %8s %10s %8s\n", cli_words_error(s->nise.mean, s->nise.se).text,
           cli_words_error(s->ae.mean, s->ae.se).text, paper, parameters, cli_words_time(s->seconds).text,
           cli_words_bytes(s->peak_memory).text);
}

static void report_words(const reproduce_plan *plan)
{
    const reproduce_row *row = NULL;
    printf("%s, %s, %d replicate%s\n\n", plan->experiment->title, plan->domain_name, plan->replicates,
           plan->replicates == 1 ? "" : "s");
    printf("%-6s %-9s %2s %-18s %-18s %-12s %8s %10s %8s\n", "method", "settings", "R", "nISE", "ae", "paper",
           "numbers", "a fit", "memory");
    while (next_row(plan, &row)) {
        const summary s = summarise(plan, row);
        print_summary(plan, &s);
    }
    for (row = NULL; next_row(plan, &row);) {
        const summary s = summarise(plan, row);
        if (s.failed > 0)
            printf("\n%s %s: %d failed, %s\n", row->method, row->settings, s.failed, s.reason);
    }
    printf("\nMeans over R replicates +- their standard errors; paper: its nISE/ae; numbers: parameters.\n");
}

int reproduce_report(const reproduce_plan *plan, const char *out)
{
    if (plan->args->json)
        return report_json(plan, out);
    if (!plan->args->quiet)
        report_words(plan);
    return CLI_DONE;
}
