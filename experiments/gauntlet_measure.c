/* gauntlet_measure.c - what is measured of one fit of the gauntlet, in the process of its own: against a truth the KL
 * divergence by fresh draws, nise and ae; on real data the likelihood of rows that were not fitted. */
#include "gauntlet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_DRAWS 40000
#define COMPARED_POINTS 131072 /* resolves kernels of width 0.02 on T2 */

/* The mean of n numbers, and its standard error. */
static void mean_of(const double *x, size_t n, double *mean, double *se)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - sum) * (x[i] - sum);
    *mean = sum;
    *se = sqrt(squares / ((double)n - 1.0) / (double)n);
}

/* -log f of the model at the points: mean and error among the figures, the values to value (n). */
static npmd_status score(reproduce_child *c, const npmd_points *points, double *value, npmd_error *err)
{
    const size_t n = npmd_points_count(points);
    const npmd_status st = npmd_evaluate_at(c->model, points, NPMD_LOG_DENSITY, &c->plan->how, value, err);
    for (size_t i = 0; i < n && st == NPMD_OK; i++)
        value[i] = -value[i];
    if (st == NPMD_OK)
        mean_of(value, n, &c->result.figure[FIGURE_NLL], &c->result.figure[FIGURE_NLL_SE]);
    return st;
}

/* KL(f || g) as the mean of log f - log g over draws from f that are the same for all methods. */
static npmd_status score_fresh(reproduce_child *c, uint64_t seed, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const uint64_t apart = UINT64_C(1) << 32; /* from the seeds of points that are fitted */
    double *figure = c->result.figure;
    double *x = malloc(FRESH_DRAWS * (size_t)npmd_domain_columns(c->domain) * sizeof *x);
    double *log_f = malloc(FRESH_DRAWS * sizeof *log_f), *value = malloc(FRESH_DRAWS * sizeof *value);
    npmd_points *fresh = NULL;
    TRY(x && log_f && value ? NPMD_OK : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for draws"));
    TRY(npmd_truth_sample(c->truth, seed + apart, FRESH_DRAWS, &c->plan->how, x, err));
    TRY(npmd_truth_log_density(c->truth, x, FRESH_DRAWS, &c->plan->how, log_f, err));
    TRY(reproduce_points(x, FRESH_DRAWS, c->domain, &fresh, err));
    TRY(score(c, fresh, value, err));
    for (size_t i = 0; i < FRESH_DRAWS; i++)
        value[i] += log_f[i];
    mean_of(value, FRESH_DRAWS, &figure[FIGURE_KL], &figure[FIGURE_KL_SE]);
done:
    npmd_points_free(fresh);
    free(value);
    free(log_f);
    free(x);
    return st;
}

static npmd_status compare(reproduce_child *c, uint64_t seed, npmd_error *err)
{
    npmd_comparison found = NPMD_SIZED(npmd_comparison);
    const npmd_status st = npmd_compare(c->model, c->truth, NPMD_GRID_FINE, COMPARED_POINTS, seed, &c->plan->how,
                                        &found, err);
    if (st == NPMD_OK) {
        c->result.figure[FIGURE_NISE] = found.nise;
        c->result.figure[FIGURE_AE] = found.ae;
        c->result.figure[FIGURE_KL_COMPARED] = found.kl;
        c->result.figure[FIGURE_KL_COMPARED_SE] = found.kl_se;
    }
    return st;
}

/* The text or number behind a key of the model's description, up to what ends it. */
static void take_chosen(const char *json, const char *key, bool text, cli_json *j)
{
    char quoted[48], value[64] = "";
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    if (at) {
        at += strlen(quoted) + strspn(at + strlen(quoted), " \"");
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\",\n}"), at);
    }
    CLI_PUT(j, text ? TEXT(key, at ? value : NULL) : REAL(key, at ? strtod(value, NULL) : NAN));
}

/* What the fit chose, as an object behind "chosen". */
static void keep_chosen(reproduce_child *c)
{
    char *json = NULL;
    npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
    cli_json j = { 0 };
    if (npmd_model_facts(c->model, &facts, NULL) != NPMD_OK || npmd_model_describe(c->model, &json, NULL) != NPMD_OK)
        return;
    c->result.figure[FIGURE_LOG_INTEGRAL_SE] = facts.log_integral_se;
    cli_json_begin(&j);
    take_chosen(json, "estimator", true, &j);
    CLI_PUT(&j, REAL("tau", facts.tau), WHOLE("steps", facts.steps));
    take_chosen(json, "omega", false, &j);
    take_chosen(json, "encoding", true, &j);
    CLI_PUT(&j, WHOLE("restarts", facts.restarts));
    cli_json_end(&j);
    c->rows[0].failed |= j.failed;
    if (!j.failed) {
        c->rows[0].text = j.text;
        c->rows[0].length = strlen(j.text);
        j.text = NULL;
    }
    cli_json_free(&j);
    npmd_text_free(json);
}

static npmd_status fit_and_score(reproduce_child *c, uint64_t seed, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *value = NULL;
    c->result.figure[FIGURE_N] = (double)npmd_points_count(c->points);
    TRY(reproduce_options(c, err));
    TRY(reproduce_fit(c, err));
    keep_chosen(c);
    if (c->held_out) {
        value = malloc(npmd_points_count(c->held_out) * sizeof *value);
        TRY(value ? score(c, c->held_out, value, err)
                  : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points"));
    } else {
        TRY(score_fresh(c, seed, err));
        TRY(compare(c, seed, err));
    }
done:
    free(value);
    return st;
}

npmd_status measure_gauntlet(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const gauntlet_subject *s = gauntlet_subject_of(c->plan, c->task->row);
    const int seed = c->task->replicate;
    char recipe[64];
    snprintf(recipe, sizeof recipe, "gauntlet:%s", s->name);
    if (s->set) {
        TRY(gauntlet_set_read(c->plan->gauntlet->folder, s->set, seed, &c->parsed, &c->training, &c->held_out, err));
    } else {
        TRY(npmd_truth_make(recipe, (uint64_t)seed, &c->truth, err));
        TRY(reproduce_draw(c->plan, c->truth, (uint64_t)seed, s->n, &c->all, err));
    }
    c->domain = s->set ? c->parsed : npmd_truth_domain(c->truth);
    c->points = s->set ? c->training : c->all;
    TRY(fit_and_score(c, (uint64_t)seed, err));
done:
    return st;
}
