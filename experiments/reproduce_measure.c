/* reproduce_measure.c - the measurements of one task, in its own process: points of the truth, a fit, its distance from
 * the truth, its criterion on fresh points, its trajectory. */
#include "connectivity.h"
#include "gauntlet.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
npmd_status reproduce_fail(npmd_error *err, npmd_status st, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(err->text, sizeof err->text, format, values);
    va_end(values);
    return err->status = st;
}

/* ---- Rows of data ------------------------------------------------------------------------------------------------ */

void reproduce_text_row(reproduce_text *t, const double *x, int count)
{
    char *row = cli_json_row(x, (size_t)count);
    const size_t need = t->length + (row ? strlen(row) : 0) + 2; /* a comma and a zero */
    t->failed |= !row;
    if (!t->failed && need > t->room) {
        char *text = realloc(t->text, 2 * need);
        t->failed = !text;
        t->text = text ? text : t->text;
        t->room = text ? 2 * need : t->room;
    }
    if (!t->failed)
        t->length += (size_t)sprintf(t->text + t->length, "%s%s", t->length > 0 ? "," : "", row);
    free(row);
}

/* ---- Truth and points -------------------------------------------------------------------------------------------- */

static npmd_status read_truth(const reproduce_plan *plan, const char *domain, npmd_truth **truth, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *wanted = NULL;
    TRY(plan->truth_path ? npmd_truth_read(plan->truth_path, truth, err)
                         : reproduce_truth_make(plan, domain, truth, err));
    TRY(npmd_domain_parse(domain, &wanted, err));
    const char *found = npmd_domain_text(npmd_truth_domain(*truth)), *expected = npmd_domain_text(wanted);
    if (strcmp(found, expected) != 0)
        st = reproduce_fail(err, NPMD_ERR_FORMAT, "%.300s: the density is on %s, expected %s",
                            plan->truth_path ? plan->truth_path : reproduce_recipe(plan, domain), found, expected);
done:
    npmd_domain_free(wanted);
    return st;
}

npmd_status reproduce_points(const double *x, size_t n, const npmd_domain *domain, npmd_points **out, npmd_error *err)
{
    return npmd_points_from(x, n, (size_t)npmd_domain_columns(domain), domain, NPMD_COORDS_DEFAULT, out, err);
}

static npmd_status reproduce_rows(const npmd_points *from, const npmd_domain *domain, const size_t *order, size_t count,
                                  npmd_points **out, npmd_error *err)
{
    const size_t columns = (size_t)npmd_domain_columns(domain);
    double *x = malloc(count * columns * sizeof *x);
    if (!x)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    for (size_t i = 0; i < count; i++)
        npmd_points_row(from, order ? order[i] : i, x + i * columns);
    const npmd_status st = reproduce_points(x, count, domain, out, err);
    free(x);
    return st;
}

/* The first n of the points in a file. */
static npmd_status shorten(const char *path, npmd_points **points, const npmd_domain *domain, size_t n, npmd_error *err)
{
    const size_t have = npmd_points_count(*points);
    npmd_points *part = NULL;
    if (n == 0 || n == have)
        return NPMD_OK;
    if (n > have)
        return reproduce_fail(err, NPMD_ERR_FORMAT, "%.300s: found %zu points, expected at least the %zu of --n", path,
                              have, n);
    const npmd_status st = reproduce_rows(*points, domain, NULL, n, &part, err);
    if (st == NPMD_OK) {
        npmd_points_free(*points);
        *points = part;
    }
    return st;
}

npmd_status reproduce_draw(const reproduce_plan *plan, const npmd_truth *truth, uint64_t seed, size_t n,
                           npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *domain = npmd_truth_domain(truth);
    double *x = malloc(n * (size_t)npmd_domain_columns(domain) * sizeof *x);
    if (!x)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    TRY(npmd_truth_sample(truth, seed, n, &plan->how, x, err));
    TRY(reproduce_points(x, n, domain, out, err));
done:
    free(x);
    return st;
}

/* ---- Points that are held out ------------------------------------------------------------------------------------ */

uint64_t reproduce_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* By Fisher and Yates: a function of (seed, n), so that domains that hold the same points are split alike. */
static void shuffle(uint64_t state, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)(reproduce_word(&state) % i), held = order[i - 1];
        order[i - 1] = order[j];
        order[j] = held;
    }
}

/* Every tenth, then the others. */
static void tenths_first(size_t n, size_t *order)
{
    for (size_t i = 0, tenth = 0, other = n / 10; i < n; i++)
        order[(i + 1) % 10 == 0 ? tenth++ : other++] = i;
}

npmd_status reproduce_split(const npmd_points *points, const npmd_domain *domain, const uint64_t *seed,
                            npmd_points **training, npmd_points **held_out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = npmd_points_count(points), out = n / 10;
    size_t *order = malloc(n * sizeof *order);
    if (!order)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the order of the points");
    if (seed)
        shuffle(*seed, n, order);
    else
        tenths_first(n, order);
    TRY(reproduce_rows(points, domain, order, out, held_out, err));
    TRY(reproduce_rows(points, domain, order + out, n - out, training, err));
done:
    free(order);
    return st;
}

npmd_status reproduce_hold_out(reproduce_child *c, const uint64_t *seed, npmd_error *err)
{
    const npmd_status st = reproduce_split(c->all, c->domain, seed, &c->training, &c->held_out, err);
    c->points = c->training;
    return st;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

static npmd_status read_points(const reproduce_plan *plan, int replicate, const npmd_truth *truth, npmd_points **out,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *domain = npmd_truth_domain(truth);
    if (!plan->folder)
        return reproduce_draw(plan, truth, plan->seed + (uint64_t)replicate - 1, plan->n, out, err);
    char *path = reproduce_file_of(plan, replicate);
    if (!path)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a file's name");
    TRY(npmd_points_read(path, domain, 0, out, err));
    TRY(shorten(path, out, domain, plan->n, err));
done:
    free(path);
    return st;
}

/* All that the tasks will read. A truth that was made for this experiment stands beside --out, for
 * `simulate`. */
static npmd_status check_inputs(const reproduce_plan *plan, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (const reproduce_row *row = plan->experiment->rows; row->domain && st == NPMD_OK; row++) {
        npmd_truth *truth = NULL;
        if ((plan->domain_name && strcmp(plan->domain_name, row->domain) != 0)
            || (row != plan->experiment->rows && strcmp(row->domain, row[-1].domain) == 0 && !plan->domain_name))
            continue;
        st = read_truth(plan, row->domain, &truth, err);
        for (int i = 1; plan->folder && st == NPMD_OK && i <= plan->replicates; i++) {
            npmd_points *points = NULL;
            st = read_points(plan, i, truth, &points, err);
            npmd_points_free(points);
        }
        if (st == NPMD_OK && plan->experiment->every_dimension && plan->out && !plan->truth_path) {
            char *path = reproduce_beside(plan->out, "truth_", row->domain, ".json");
            st = path ? npmd_truth_write(truth, path, err)
                      : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a file's name");
            free(path);
        }
        npmd_truth_free(truth);
        if (plan->domain_name)
            break;
    }
    return st;
}

/* ---- A fit ------------------------------------------------------------------------------------------------------- */

/* "--name value --name value" */
npmd_status reproduce_options(reproduce_child *c, npmd_error *err)
{
    char name[64], value[256];
    npmd_status st = NPMD_OK;
    int used = 0;
    npmd_options_free(c->options);
    if (!(c->options = npmd_options_new()))
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the options");
    for (const char *at = c->task->options; st == NPMD_OK && sscanf(at, " --%63s %255s%n", name, value, &used) == 2;
         at += used)
        st = npmd_options_set(c->options, name, value, err);
    snprintf(value, sizeof value, "%d", c->plan->how.threads);
    return st == NPMD_OK ? npmd_options_set(c->options, "threads", value, err) : st;
}

static int watch(const npmd_report *now, void *user)
{
    reproduce_child *c = user;
    reproduce_child_tell(c, now);
    if (c->profile && now->logged && now->attempt > 0) {
        if (now->attempt != c->attempt) /* begun again: what was before is no part of the course */
            c->rows[0].length = 0;
        c->attempt = now->attempt;
        if (c->keep_row)
            c->keep_row(c, now);
        else
            reproduce_text_row(
                &c->rows[0],
                (const double[]){ (double)now->step, now->epoch, now->seconds, now->objective, now->nise, now->ae }, 6);
    }
    /* only where it logs, so that the step does not depend on the clock */
    return now->logged && now->attempt > 0 && c->until > 0.0 && (double)now->step >= c->until * (double)now->steps;
}

static double parameters_of(const npmd_model *model)
{
    char *json = NULL;
    const bool known = npmd_model_describe(model, &json, NULL) == NPMD_OK;
    const double count = known ? reproduce_line_number(json, "parameters") : NAN;
    npmd_text_free(json);
    return count;
}

/* Its seconds are added up: a task may fit more than once. */
npmd_status reproduce_fit(reproduce_child *c, npmd_error *err)
{
    double *figure = c->result.figure;
    npmd_options_watch(c->options, watch, c);
    npmd_model_free(c->model);
    c->model = NULL;
    const double started = cli_clock();
    const npmd_status st = npmd_fit(c->domain, c->points, c->options, &c->model, err);
    figure[FIGURE_SECONDS] = (isnan(figure[FIGURE_SECONDS]) ? 0.0 : figure[FIGURE_SECONDS]) + cli_clock() - started;
    figure[FIGURE_MEMORY] = (double)cli_peak_memory();
    if (st == NPMD_OK) {
        npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
        npmd_model_facts(c->model, &facts, NULL);
        figure[FIGURE_TAU] = facts.tau;
        figure[FIGURE_PARAMETERS] = parameters_of(c->model);
    }
    return st;
}

npmd_status reproduce_compare(reproduce_child *c, npmd_error *err)
{
    const reproduce_plan *plan = c->plan;
    /* T2 as the paper did it: its nodes, both densities divided by their means there */
    const bool authors = strcmp(c->task->row->domain, "T2") == 0 && !plan->experiment->every_dimension;
    npmd_comparison found = NPMD_SIZED(npmd_comparison);
    /* the seed of the points is the same for all, so all methods are compared at the same ones */
    const npmd_status st = npmd_compare(c->model, c->truth, authors ? NPMD_GRID_AUTHORS : NPMD_GRID_FINE, 0, plan->seed,
                                        &plan->how, &found, err);
    if (st == NPMD_OK) {
        c->result.figure[FIGURE_NISE] = found.nise;
        c->result.figure[FIGURE_AE] = found.ae;
        c->result.figure[FIGURE_FR] = found.fr;
        c->result.figure[FIGURE_KL] = found.kl;
    }
    return st;
}

/* The ISE criterion on points of the truth that the fit has not seen, a tenth of its own number. */
static npmd_status score_fresh(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const uint64_t apart = UINT64_C(1) << 32; /* from the seeds of the replicates */
    const size_t n = npmd_points_count(c->points) / 10 + 2;
    npmd_points *fresh = NULL;
    npmd_score score = NPMD_SIZED(npmd_score);
    TRY(reproduce_draw(c->plan, c->truth, c->plan->seed + (uint64_t)c->task->replicate - 1 + apart, n, &fresh, err));
    TRY(npmd_score_points(c->model, fresh, c->plan->seed, &c->plan->how, &score, err));
    c->result.figure[FIGURE_ISE] = score.ise_criterion;
    c->result.figure[FIGURE_ISE_RELATIVE] = score.ise_criterion_relative;
    c->result.figure[FIGURE_ISE_SE] = score.ise_criterion_se * npmd_domain_volume(npmd_truth_domain(c->truth));
done:
    npmd_points_free(fresh);
    return st;
}

npmd_status measure_fit(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(reproduce_options(c, err));
    TRY(reproduce_fit(c, err));
    TRY(reproduce_compare(c, err));
done:
    return st;
}

npmd_status measure_encoding(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(reproduce_options(c, err));
    c->profile = true;
    npmd_options_truth(c->options, c->truth);
    TRY(reproduce_fit(c, err));
    TRY(reproduce_compare(c, err));
    TRY(score_fresh(c, err));
done:
    return st;
}

static npmd_status measure_points(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(read_truth(c->plan, c->task->row->domain, &c->truth, err));
    TRY(read_points(c->plan, c->task->replicate, c->truth, &c->all, err));
    c->domain = npmd_truth_domain(c->truth);
    c->points = c->all;
    c->result.figure[FIGURE_N] = (double)npmd_points_count(c->points);
    TRY(c->plan->experiment->measure(c, err));
done:
    return st;
}

npmd_status reproduce_child_run(reproduce_child *c, npmd_error *err)
{
    const reproduce_plan *plan = c->plan;
    npmd_status st = NPMD_OK;
    if (c->task)
        st = plan->gauntlet || plan->pairs ? plan->experiment->measure(c, err) : measure_points(c, err);
    else if (!plan->gauntlet)
        st = plan->pairs ? reproduce_pairs_check(plan, err) : check_inputs(plan, err);
    npmd_model_free(c->model);
    npmd_options_free(c->options);
    npmd_points_free(c->held_out);
    npmd_points_free(c->training);
    npmd_points_free(c->all);
    npmd_domain_free(c->parsed);
    npmd_truth_free(c->truth);
    return st;
}
