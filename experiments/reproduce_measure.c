/* reproduce_measure.c - the measurements of one task, in its own process: points of the truth, a fit, its distance from
 * the truth, its criterion on fresh points, its trajectory. */
#include "connectivity.h"
#include "gauntlet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ru_maxrss is in KiB, but on macOS in bytes. */
#if defined(__APPLE__)
#define MAXRSS_UNIT 1u
#else
#define MAXRSS_UNIT 1024u
#endif

npmd_status reproduce_fail(npmd_error *err, npmd_status st, const char *text)
{
    err->status = st;
    snprintf(err->text, sizeof err->text, "%s", text);
    return st;
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
    npmd_domain *wanted = NULL;
    npmd_status st = plan->truth_path ? npmd_truth_read(plan->truth_path, truth, err)
                                      : reproduce_truth_make(plan, domain, truth, err);
    if (st == NPMD_OK)
        st = npmd_domain_parse(domain, &wanted, err);
    if (st == NPMD_OK) {
        const char *found = npmd_domain_text(npmd_truth_domain(*truth)), *expected = npmd_domain_text(wanted);
        if (strcmp(found, expected) != 0) {
            st = reproduce_fail(err, NPMD_ERR_FORMAT, "");
            snprintf(err->text, sizeof err->text, "%.300s: the density is on %s, expected %s",
                     plan->truth_path ? plan->truth_path : reproduce_recipe(plan, domain), found, expected);
        }
    }
    npmd_domain_free(wanted);
    return st;
}

npmd_status reproduce_points(const double *x, size_t n, const npmd_domain *domain, npmd_points **out, npmd_error *err)
{
    return npmd_points_from(x, n, (size_t)npmd_domain_columns(domain), domain, NPMD_COORDS_DEFAULT, out, err);
}

/* The first n of the points in a file. */
static npmd_status shorten(const char *path, npmd_points **points, const npmd_domain *domain, size_t n, npmd_error *err)
{
    const size_t columns = (size_t)npmd_domain_columns(domain), have = npmd_points_count(*points);
    npmd_points *part = NULL;
    if (n == 0 || n == have)
        return NPMD_OK;
    if (n > have) {
        snprintf(err->text, sizeof err->text, "%.300s: found %zu points, expected at least the %zu of --n", path, have,
                 n);
        return err->status = NPMD_ERR_FORMAT;
    }
    double *x = malloc(n * columns * sizeof *x);
    if (!x)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    for (size_t i = 0; i < n; i++)
        npmd_points_row(*points, i, x + i * columns);
    const npmd_status st = reproduce_points(x, n, domain, &part, err);
    free(x);
    if (st == NPMD_OK) {
        npmd_points_free(*points);
        *points = part;
    }
    return st;
}

static npmd_status draw_points(const reproduce_plan *plan, const npmd_truth *truth, uint64_t seed, size_t n,
                               npmd_points **out, npmd_error *err)
{
    const npmd_domain *domain = npmd_truth_domain(truth);
    double *x = malloc(n * (size_t)npmd_domain_columns(domain) * sizeof *x);
    if (!x)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    npmd_status st = npmd_truth_sample(truth, seed, n, &plan->how, x, err);
    if (st == NPMD_OK)
        st = reproduce_points(x, n, domain, out, err);
    free(x);
    return st;
}

static npmd_status read_points(const reproduce_plan *plan, int replicate, const npmd_truth *truth, npmd_points **out,
                               npmd_error *err)
{
    const npmd_domain *domain = npmd_truth_domain(truth);
    if (!plan->folder)
        return draw_points(plan, truth, plan->seed + (uint64_t)replicate - 1, plan->n, out, err);
    char *path = reproduce_file_of(plan, replicate);
    if (!path)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a file's name");
    npmd_status st = npmd_points_read(path, domain, 0, out, err);
    if (st == NPMD_OK)
        st = shorten(path, out, domain, plan->n, err);
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
            char name[32];
            snprintf(name, sizeof name, "truth_%s.json", row->domain);
            char *path = reproduce_beside(plan->out, name);
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
npmd_status reproduce_options(const reproduce_child *c, npmd_options **options, npmd_error *err)
{
    char name[64], value[256];
    npmd_status st = NPMD_OK;
    int used = 0;
    if (!(*options = npmd_options_new()))
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the options");
    for (const char *at = c->task->options; st == NPMD_OK && sscanf(at, " --%63s %255s%n", name, value, &used) == 2;
         at += used)
        st = npmd_options_set(*options, name, value, err);
    snprintf(value, sizeof value, "%d", c->plan->how.threads);
    return st == NPMD_OK ? npmd_options_set(*options, "threads", value, err) : st;
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
    static const char key[] = "\"parameters\":";
    char *json = NULL;
    double count = NAN;
    if (npmd_model_describe(model, &json, NULL) != NPMD_OK)
        return NAN;
    const char *at = strstr(json, key);
    if (at)
        count = strtod(at + sizeof key - 1, NULL);
    npmd_text_free(json);
    return count;
}

/* Its seconds are added up: a task may fit more than once. */
npmd_status reproduce_fit(reproduce_child *c, npmd_options *options, npmd_model **out, npmd_error *err)
{
    double *figure = c->result.figure;
    struct rusage usage = { 0 };
    npmd_options_watch(options, watch, c);
    const double started = cli_clock();
    const npmd_status st = npmd_fit(c->domain, c->points, options, out, err);
    figure[FIGURE_SECONDS] = (isnan(figure[FIGURE_SECONDS]) ? 0.0 : figure[FIGURE_SECONDS]) + cli_clock() - started;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        figure[FIGURE_MEMORY] = (double)usage.ru_maxrss * MAXRSS_UNIT;
    if (st == NPMD_OK) {
        npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
        npmd_model_facts(*out, &facts, NULL);
        figure[FIGURE_TAU] = facts.tau;
        figure[FIGURE_PARAMETERS] = parameters_of(*out);
    }
    return st;
}

npmd_status reproduce_compare(reproduce_child *c, const npmd_model *model, npmd_error *err)
{
    const reproduce_plan *plan = c->plan;
    /* T2 as the paper did it: its nodes, both densities divided by their means there */
    const bool authors = strcmp(c->task->row->domain, "T2") == 0 && !plan->experiment->every_dimension;
    npmd_comparison found = NPMD_SIZED(npmd_comparison);
    /* the seed of the points is the same for all, so all methods are compared at the same ones */
    const npmd_status st = npmd_compare(model, c->truth, authors ? NPMD_GRID_AUTHORS : NPMD_GRID_FINE, 0, plan->seed,
                                        &plan->how, &found, err);
    if (st == NPMD_OK) {
        c->result.figure[FIGURE_NISE] = found.nise;
        c->result.figure[FIGURE_AE] = found.ae;
        c->result.figure[FIGURE_FR] = found.fr;
        c->result.figure[FIGURE_KL] = found.kl;
    }
    return st;
}

npmd_status measure_fit(reproduce_child *c, npmd_error *err)
{
    npmd_options *options = NULL;
    npmd_model *model = NULL;
    npmd_status st = reproduce_options(c, &options, err);
    if (st == NPMD_OK)
        st = reproduce_fit(c, options, &model, err);
    if (st == NPMD_OK)
        st = reproduce_compare(c, model, err);
    npmd_model_free(model);
    npmd_options_free(options);
    return st;
}

/* The ISE criterion on points of the truth that the fit has not seen, a tenth of its own number. */
static npmd_status score_fresh(reproduce_child *c, const npmd_model *model, npmd_error *err)
{
    const uint64_t apart = UINT64_C(1) << 32; /* from the seeds of the replicates */
    const size_t n = npmd_points_count(c->points) / 10 + 2;
    npmd_points *fresh = NULL;
    npmd_score score = NPMD_SIZED(npmd_score);
    npmd_status st = draw_points(c->plan, c->truth, c->plan->seed + (uint64_t)c->task->replicate - 1 + apart, n, &fresh,
                                 err);
    if (st == NPMD_OK)
        st = npmd_score_points(model, fresh, c->plan->seed, &c->plan->how, &score, err);
    if (st == NPMD_OK) {
        c->result.figure[FIGURE_ISE] = score.ise_criterion;
        c->result.figure[FIGURE_ISE_RELATIVE] = score.ise_criterion_relative;
        c->result.figure[FIGURE_ISE_SE] = score.ise_criterion_se * npmd_domain_volume(npmd_truth_domain(c->truth));
    }
    npmd_points_free(fresh);
    return st;
}

npmd_status measure_encoding(reproduce_child *c, npmd_error *err)
{
    npmd_options *options = NULL;
    npmd_model *model = NULL;
    npmd_status st = reproduce_options(c, &options, err);
    c->profile = true;
    if (st == NPMD_OK) {
        npmd_options_truth(options, c->truth);
        st = reproduce_fit(c, options, &model, err);
    }
    if (st == NPMD_OK)
        st = reproduce_compare(c, model, err);
    if (st == NPMD_OK)
        st = score_fresh(c, model, err);
    npmd_model_free(model);
    npmd_options_free(options);
    return st;
}

npmd_status reproduce_child_run(reproduce_child *c, npmd_error *err)
{
    npmd_truth *truth = NULL;
    npmd_points *points = NULL;
    if (c->plan->gauntlet)
        return c->task ? c->plan->experiment->measure(c, err) : NPMD_OK;
    if (c->plan->pairs)
        return c->task ? c->plan->experiment->measure(c, err) : reproduce_pairs_check(c->plan, err);
    if (!c->task)
        return check_inputs(c->plan, err);
    npmd_status st = read_truth(c->plan, c->task->row->domain, &truth, err);
    if (st == NPMD_OK)
        st = read_points(c->plan, c->task->replicate, truth, &points, err);
    if (st == NPMD_OK) {
        c->truth = truth;
        c->domain = npmd_truth_domain(truth);
        c->points = points;
        c->result.figure[FIGURE_N] = (double)npmd_points_count(points);
        st = c->plan->experiment->measure(c, err);
    }
    npmd_points_free(points);
    npmd_truth_free(truth);
    return st;
}
