/* reproduce_report.c - the results of an experiment: mean and standard error over the replicates, one line for each
 * method and settings, beside the paper's numbers. */
#include "connectivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct moments {
    double mean, se, most; /* NaN: not known */
} moments;

typedef struct summary {
    const reproduce_row *row;
    const char *reason; /* of the last failure */
    int done, failed;
    moments figure[FIGURES];
} summary;

/* Over the replicates of a row that know a figure: mean, and standard deviation / sqrt(R). */
static moments moments_of(const reproduce_plan *plan, const reproduce_row *row, int figure)
{
    double sum = 0.0, squares = 0.0, most = NAN;
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < plan->count; i++) {
            const reproduce_task *t = &plan->tasks[i];
            const double x = t->result.figure[figure];
            if (t->row != row || !t->done || t->failed || isnan(x))
                continue;
            if (pass == 0) {
                sum += x;
                most = fmax(most, x);
                n++;
            } else {
                squares += (x - sum / n) * (x - sum / n);
            }
        }
    return (moments){ .mean = n > 0 ? sum / n : NAN, .se = n > 1 ? sqrt(squares / (n - 1) / n) : NAN, .most = most };
}

static summary summarise(const reproduce_plan *plan, const reproduce_row *row)
{
    summary s = { .row = row };
    for (int f = 0; f < FIGURES; f++)
        s.figure[f] = moments_of(plan, row, f);
    for (int i = 0; i < plan->count; i++) {
        const reproduce_task *t = &plan->tasks[i];
        if (t->row != row)
            continue;
        s.failed += t->failed;
        s.done += !t->failed;
        if (t->failed)
            s.reason = t->result.text;
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

static bool is_published(const reproduce_published *p, const reproduce_row *row)
{
    return strcmp(p->domain, row->domain) == 0 && strcmp(p->method, row->method) == 0;
}

static void put_error(cli_json *j, const char *prefix, int figure, double mean, double se)
{
    const char *key = REPRODUCE_KEYS[figure];
    CLI_PUT(j, REAL(cli_words_of("%s%s", prefix, key).text, mean), REAL(cli_words_of("%s%s_se", prefix, key).text, se));
}

static void put_summary(cli_json *j, const reproduce_plan *plan, const summary *s)
{
    cli_json_object(j);
    CLI_PUT(j, TEXT("domain", s->row->domain), TEXT("method", s->row->method), TEXT("settings", s->row->settings),
            TEXT("options", s->row->options), WHOLE("replicates", s->done), WHOLE("failed", s->failed));
    for (const int *f = plan->experiment->figures; *f != FIGURES_END; f++) {
        const moments *m = &s->figure[*f];
        if (REPRODUCE_HAS_ERROR[*f])
            put_error(j, "", *f, m->mean, m->se);
        else if (*f != FIGURE_ISE_SE && *f != FIGURE_LOG_LIKELIHOOD_SE) /* of one replicate */
            CLI_PUT(j, REAL(REPRODUCE_KEYS[*f], *f == FIGURE_MEMORY ? m->most : m->mean));
    }
    for (const reproduce_published *p = plan->experiment->published; p->domain; p++)
        if (is_published(p, s->row))
            put_error(j, "published_", p->figure, p->mean, p->se);
    if (s->reason)
        CLI_PUT(j, TEXT("reason", s->reason));
    cli_json_leave(j);
}

void reproduce_report_put(const reproduce_plan *plan, cli_json *j)
{
    const reproduce_row *row = NULL;
    CLI_PUT(j, TEXT("experiment", plan->experiment->name),
            TEXT("domain", plan->pairs ? plan->pairs->domain : plan->domain_name),
            !plan->pairs
                ? TEXT("truth", plan->truth_path ? plan->truth_path
                                                 : reproduce_recipe(plan, plan->domain_name ? plan->domain_name : ""))
                : NO_FACT,
            TEXT("data", plan->pairs ? plan->pairs->points : plan->folder), WHOLE("replicates", plan->replicates),
            COUNT("seed", plan->seed), TEXT("out", plan->pairs ? plan->pairs->folder : plan->out),
            TEXT("version", npmd_version()));
    cli_json_list(j, "rows");
    while (next_row(plan, &row)) {
        const summary s = summarise(plan, row);
        put_summary(j, plan, &s);
    }
    cli_json_leave(j);
    cli_json_list(j, "results");
    for (int i = 0; i < plan->count; i++)
        cli_json_whole(j, plan->tasks[i].line);
    cli_json_leave(j);
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

static cli_words words_paper(const reproduce_plan *plan, const reproduce_row *row)
{
    cli_words w = { "" };
    for (const reproduce_published *p = plan->experiment->published; p->domain; p++)
        if (is_published(p, row))
            cli_append(w.text, sizeof w.text, "%s%.4g", w.text[0] ? "/" : "", p->mean);
    return w.text[0] ? w : (cli_words){ "-" };
}

static cli_words words_of(const reproduce_plan *plan, const reproduce_column *c, const summary *s)
{
    const moments *m = &s->figure[c->figure];
    if (c->form == COLUMN_PAPER)
        return words_paper(plan, s->row);
    if (isnan(m->mean))
        return (cli_words){ "-" };
    if (c->form == COLUMN_ERROR)
        return cli_words_error(m->mean, m->se);
    if (c->form == COLUMN_TIME)
        return cli_words_time(m->mean);
    if (c->form == COLUMN_COUNT || c->form == COLUMN_BYTES)
        return c->form == COLUMN_COUNT ? cli_words_count((uint64_t)m->most) : cli_words_bytes((uint64_t)m->most);
    return cli_words_of("%.*g", m->mean != 0.0 && fabs(m->mean) < 0.01 ? 2 : 4, m->mean);
}

/* Methods and settings are as wide as the widest, six and nine columns at least. */
static void print_label(const reproduce_plan *plan, const char *domain, const char *method, const char *settings)
{
    const reproduce_row *row = NULL;
    int widest = 6;
    while (next_row(plan, &row))
        widest = (int)strlen(row->method) > widest ? (int)strlen(row->method) : widest;
    if (!plan->domain_name)
        printf("%-3s", domain);
    printf("%-*s %-9s ", widest, method, settings);
}

static void print_summary(const reproduce_plan *plan, const summary *s)
{
    print_label(plan, s->row->domain, s->row->method, s->row->settings);
    printf("%2d", s->done);
    for (const reproduce_column *c = plan->experiment->columns; c->heading; c++)
        if (s->done > 0 || c->form == COLUMN_PAPER)
            printf(" %*s", c->width, words_of(plan, c, s).text);
        else
            printf(" %*s", c->width, c == plan->experiment->columns ? "failed" : "");
    putchar('\n');
}

void reproduce_report_words(const reproduce_plan *plan)
{
    const reproduce_row *row = NULL;
    printf("%s%s%s, %d replicate%s\n\n", plan->experiment->title, plan->domain_name ? ", " : "",
           plan->domain_name ? plan->domain_name : "", plan->replicates, plan->replicates == 1 ? "" : "s");
    print_label(plan, "", "method", "settings");
    printf("%2s", "R");
    for (const reproduce_column *c = plan->experiment->columns; c->heading; c++)
        printf(" %*s", c->width, c->heading);
    putchar('\n');
    while (next_row(plan, &row)) {
        const summary s = summarise(plan, row);
        print_summary(plan, &s);
    }
    for (row = NULL; next_row(plan, &row);) {
        const summary s = summarise(plan, row);
        if (s.failed > 0)
            printf("\n%s%s%s %s: %d failed, %s\n", plan->domain_name ? "" : row->domain, plan->domain_name ? "" : " ",
                   row->method, row->settings, s.failed, s.reason);
    }
    printf("\n%s\n", plan->experiment->note);
    for (const reproduce_data *d = plan->experiment->data; plan->out && d->key; d++) {
        char *path = reproduce_beside(plan->out, "", d->suffix, ".csv");
        if (path)
            printf("%s: %s\n", path, d->columns);
        free(path);
    }
}

int reproduce_report(const reproduce_plan *plan)
{
    cli_json j = { 0 };
    if (plan->args->json) {
        cli_json_begin(&j);
        reproduce_report_put(plan, &j);
        return cli_json_print(plan->args, &j);
    }
    if (!plan->args->quiet)
        reproduce_report_words(plan);
    return CLI_DONE;
}
