/* choice_words.c - how options were chosen: as text, as JSON and as a table in a file. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static npmd_choice choice_of(const npmd_model *model)
{
    npmd_choice c = NPMD_SIZED(npmd_choice);
    npmd_model_choice(model, &c, NULL);
    return c;
}

static npmd_choice_row row_of(const npmd_model *model, int i)
{
    npmd_choice_row row = NPMD_SIZED(npmd_choice_row);
    npmd_model_choice_row(model, i, &row, NULL);
    return row;
}

/* The row that decided: the best of the last stage. -1: none did. */
static int chosen_row(const npmd_model *model)
{
    const int rows = choice_of(model).rows;
    int best = -1, stage = 0;
    for (int i = 0; i < rows; i++) {
        const npmd_choice_row row = row_of(model, i);
        if (row.difference == 0.0 && (best < 0 || row.stage >= stage)) {
            best = i;
            stage = row.stage;
        }
    }
    return best;
}

void cli_choice_line(const npmd_model *model)
{
    const npmd_choice c = choice_of(model);
    const int chosen = chosen_row(model);
    if (chosen < 0)
        return;
    const npmd_choice_row best = row_of(model, chosen);
    char tau[40] = "";
    if (isfinite(best.tau))
        snprintf(tau, sizeof tau, " at tau %.2g", best.tau);
    if (best.settings[0])
        snprintf(tau + strlen(tau), sizeof tau - strlen(tau), isfinite(best.tau) ? " with " : ": ");
    cli_row(stdout, "chosen by", "%s, %s held out: %d fits, the best%s%s", c.criterion,
            cli_words_count(c.held_out).text, c.rows, tau, best.settings);
}

static npmd_rival rival_of(const npmd_model *model, int i)
{
    npmd_rival r = NPMD_SIZED(npmd_rival);
    npmd_model_rival(model, i, &r, NULL);
    return r;
}

/* "field -1.254, series -1.262 (-0.008 +- 0.002), kde mixture -1.281 (-0.027 +- 0.003)": the larger, the better. */
void cli_rivals_line(const npmd_model *model, const char *own)
{
    const npmd_choice c = choice_of(model);
    char text[512];
    if (c.rivals == 0)
        return;
    size_t used = (size_t)snprintf(text, sizeof text, "%s %.4f", own, -c.nll);
    for (int i = 0; i < c.rivals && used < sizeof text; i++) {
        const npmd_rival r = rival_of(model, i);
        used += (size_t)snprintf(text + used, sizeof text - used, ", %s %.4f ", r.estimator, -r.nll);
        if (used < sizeof text)
            used += r.difference == 0.0 && r.difference_se == 0.0
                        ? (size_t)snprintf(text + used, sizeof text - used, "(the same)")
                        : (size_t)snprintf(text + used, sizeof text - used, "(%+.2g +- %.1g)", -r.difference,
                                           r.difference_se);
    }
    cli_row(stdout, "held-out nats", "%s", text);
}

void cli_rivals_json(cli_json *j, const npmd_model *model)
{
    const npmd_choice c = choice_of(model);
    if (c.nll == c.nll) /* NaN: not known */
        CLI_PUT(j, REAL("held_out_nll", c.nll), REAL("held_out_nll_se", c.nll_se));
    cli_json_list(j, "rivals");
    for (int i = 0; i < c.rivals; i++) {
        const npmd_rival r = rival_of(model, i);
        CLI_PUT_OBJECT(j, TEXT("estimator", r.estimator), REAL("nll", r.nll), REAL("nll_se", r.nll_se),
                       REAL("difference", r.difference), REAL("difference_se", r.difference_se));
    }
    cli_json_leave(j);
}

void cli_choice_json(cli_json *j, const npmd_model *model)
{
    const npmd_choice c = choice_of(model);
    if (c.rows == 0)
        return;
    CLI_PUT(j, TEXT("criterion", c.criterion), COUNT("choice_training", c.training),
            COUNT("choice_held_out", c.held_out));
    cli_json_list(j, "choice");
    for (int i = 0; i < c.rows; i++) {
        const npmd_choice_row row = row_of(model, i);
        CLI_PUT_OBJECT(j, WHOLE("stage", row.stage), WHOLE("steps", row.steps), REAL("tau", row.tau),
                       REAL("criterion", row.criterion), REAL("criterion_se", row.criterion_se),
                       REAL("difference", row.difference), REAL("difference_se", row.difference_se),
                       FLAG("kept", row.kept != 0), TEXT("settings", row.settings));
    }
    cli_json_leave(j);
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

static cli_words number_words(double x, double se)
{
    return isfinite(x) ? cli_words_error(x, se) : (cli_words){ "-" };
}

typedef struct curve_row {
    npmd_choice_row row;
    bool best;
} curve_row;

static int by_tau(const void *a, const void *b)
{
    const curve_row *x = a, *y = b;
    return x->row.tau < y->row.tau ? -1 : x->row.tau > y->row.tau;
}

/* The criterion against tau, a line a tau: the rows that are as long as the best one and have its settings. */
static void print_curve(const npmd_model *model)
{
    enum { WIDE = 50, MOST = 64 };
    const int rows = choice_of(model).rows, chosen = chosen_row(model);
    curve_row shown[MOST];
    double most = 0.0, least = 0.0;
    int count = 0;
    if (chosen < 0)
        return;
    const npmd_choice_row best = row_of(model, chosen);
    for (int i = 0; i < rows && count < MOST; i++) {
        const npmd_choice_row row = row_of(model, i);
        if (row.steps != best.steps || strcmp(row.settings, best.settings) != 0 || !isfinite(row.difference)
            || !isfinite(row.tau))
            continue;
        shown[count++] = (curve_row){ row, i == chosen };
        most = fmax(most, row.difference);
        least = fmin(least, row.difference);
    }
    if (count < 2 || !(most > least))
        return;
    qsort(shown, (size_t)count, sizeof *shown, by_tau);
    printf("\ncriterion against tau, from %.3g to %.3g above the best\n", least, most);
    for (int i = 0; i < count; i++)
        printf("%9.2g |%*s\n", shown[i].row.tau,
               1 + (int)(WIDE * (shown[i].row.difference - least) / (most - least) + 0.5), shown[i].best ? "#" : "*");
}

void cli_choice_words(const npmd_model *model)
{
    const npmd_choice c = choice_of(model);
    if (c.rows == 0)
        return;
    printf("%s fitted, %s held out; criterion: %s\n\n", cli_words_count(c.training).text,
           cli_words_count(c.held_out).text, c.criterion);
    printf("stage  steps      tau  criterion             above the best      \n");
    for (int i = 0; i < c.rows; i++) {
        const npmd_choice_row row = row_of(model, i);
        char tau[32] = "-";
        if (isfinite(row.tau))
            snprintf(tau, sizeof tau, "%.2g", row.tau);
        printf("%5d %6lld %8s  %-20s  %-18s  %-7s  %s\n", row.stage, (long long)row.steps, tau,
               number_words(row.criterion, row.criterion_se).text, number_words(row.difference, row.difference_se).text,
               row.kept ? "kept" : "dropped", row.settings);
    }
    print_curve(model);
}

/* ---- A table in a file ------------------------------------------------------------------------------------------- */

static void put_rows(FILE *f, const void *model)
{
    const int rows = choice_of(model).rows;
    fprintf(f, "stage,steps,tau,criterion,criterion_se,difference,difference_se,kept,settings\n");
    for (int i = 0; i < rows; i++) {
        const npmd_choice_row row = row_of(model, i);
        fprintf(f, "%d,%lld,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%s\n", row.stage, (long long)row.steps, row.tau,
                row.criterion, row.criterion_se, row.difference, row.difference_se, row.kept, row.settings);
    }
}

int cli_choice_write(const cli_args *args, const npmd_model *model, const char *path)
{
    return cli_write(args, path, put_rows, model);
}
