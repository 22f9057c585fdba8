/* reproduce_pairs.c - connectivity, in the process of a task: end points of streamlines, of which nine tenths are
 * fitted and the others give the likelihood. */
#include "connectivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_LEAST = 20 };

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

static npmd_status read_points(const reproduce_plan *plan, const npmd_domain *domain, npmd_points **points,
                               npmd_error *err)
{
    const reproduce_pairs *p = plan->pairs;
    npmd_status st = p->surfaces ? cli_points(plan->args, p->points, domain, 0, points, err)
                                 : npmd_points_read(p->points, domain, 0, points, err);
    if (st == NPMD_OK && npmd_points_count(*points) < PAIRS_LEAST)
        st = reproduce_fail(err, NPMD_ERR_FORMAT, "%.300s: found %zu pairs, expected at least %d", p->points,
                            npmd_points_count(*points), PAIRS_LEAST);
    return st;
}

npmd_status reproduce_pairs_read(const reproduce_plan *plan, npmd_domain **domain, npmd_points **points,
                                 npmd_error *err)
{
    const npmd_status st = npmd_domain_parse(plan->pairs->domain, domain, err);
    return st == NPMD_OK ? read_points(plan, *domain, points, err) : st;
}

/* Streamlines to pairs of end points, once. */
static npmd_status find_ends(const reproduce_plan *plan, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const reproduce_pairs *p = plan->pairs;
    npmd_endpoints *found = NULL;
    npmd_endpoints_facts facts = NPMD_SIZED(npmd_endpoints_facts);
    npmd_endpoints_request what = NPMD_SIZED(npmd_endpoints_request);
    what.tracks = &p->tracks;
    what.files = 1;
    what.surface[0] = p->surface;
    what.sphere[0] = p->surfaces ? NULL : p->sphere;
    what.space = cli_value(plan->args, "space");
    what.max_distance = p->max_distance;
    what.how = &plan->how;
    TRY(npmd_endpoints_find(&what, &found, err));
    TRY(npmd_endpoints_facts_of(found, &facts, err));
    TRY(npmd_array_write(p->points, npmd_endpoints_rows(found, NPMD_PAIR_LL), facts.count[NPMD_PAIR_LL], 6, err));
done:
    npmd_endpoints_free(found);
    return st;
}

/* The meshes and the labels, so that a long run does not end with what could be seen before. */
static npmd_status check_regions(const reproduce_pairs *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *nodes = p->surfaces ? p->surface : p->sphere;
    npmd_surface *at = NULL, *drawn = NULL;
    npmd_labels *labels = NULL;
    TRY(nodes ? npmd_surface_read(nodes, &at, err) : NPMD_OK);
    if (p->labels)
        TRY(npmd_labels_read(p->labels, at, &labels, err));
    if (p->surface)
        TRY(npmd_surface_read(p->surface, &drawn, err));
    if (at && drawn && !p->surfaces)
        TRY(cli_registered(p->surface, drawn, p->sphere, at, err));
    const int region = labels ? npmd_region_find(labels, p->region) : -1;
    if (labels && (region < 0 || npmd_region_vertices(labels, region) == 0))
        st = reproduce_fail(err, region < 0 ? NPMD_ERR_ARGUMENT : NPMD_ERR_FORMAT,
                            "%.300s: no vertex lies in a region '%.80s'", p->labels, p->region);
done:
    npmd_labels_free(labels);
    npmd_surface_free(drawn);
    npmd_surface_free(at);
    return st;
}

/* Is it the mesh that a factor of a domain names by its hash, "mesh:94468301a269e1be"? */
static npmd_status is_surface(const char *path, const char *factor, bool *same, npmd_error *err)
{
    char *json = NULL;
    const npmd_status st = npmd_surface_describe(path, &json, err);
    *same = st == NPMD_OK && strncmp(factor, "mesh:", 5) == 0 && strstr(json, factor + 5);
    npmd_text_free(json);
    return st;
}

/* Both ends lie on one mesh: that of --surface, its labels and its maps. */
static npmd_status check_factors(const npmd_domain *domain, const reproduce_pairs *p, npmd_error *err)
{
    npmd_domain *end[2] = { NULL, NULL };
    npmd_status st = NPMD_OK;
    bool same = npmd_domain_factors(domain) == 2;
    if (same) {
        TRY(npmd_domain_part(domain, 1u, &end[0], err));
        TRY(npmd_domain_part(domain, 2u, &end[1], err));
        same = strcmp(npmd_domain_text(end[0]), npmd_domain_text(end[1])) == 0;
    }
    if (!same)
        TRY(reproduce_fail(
            err, NPMD_ERR_ARGUMENT,
            "--domain is '%.200s', expected S2 x S2 or mesh:FILE^2: both ends of a streamline lie on the "
            "same surface",
            p->domain));
    if (p->surfaces)
        TRY(is_surface(p->surface, npmd_domain_text(end[0]), &same, err));
    if (!same)
        st = reproduce_fail(err, NPMD_ERR_ARGUMENT,
                            "--domain is '%.200s', but --surface %.200s is another mesh: expected the same", p->domain,
                            p->surface);
done:
    npmd_domain_free(end[0]);
    npmd_domain_free(end[1]);
    return st;
}

npmd_status reproduce_pairs_check(const reproduce_plan *plan, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *domain = NULL;
    npmd_points *points = NULL;
    TRY(check_regions(plan->pairs, err));
    if (plan->pairs->tracks)
        TRY(find_ends(plan, err));
    TRY(npmd_domain_parse(plan->pairs->domain, &domain, err));
    TRY(check_factors(domain, plan->pairs, err));
    TRY(read_points(plan, domain, &points, err));
done:
    npmd_points_free(points);
    npmd_domain_free(domain);
    return st;
}

static uint64_t split_seed(const reproduce_plan *plan, const reproduce_task *task)
{
    return plan->seed + (uint64_t)task->replicate - 1;
}

/* ---- The measure of the surface ---------------------------------------------------------------------------------- */

/* What makes the mean log-likelihood of pairs on two spheres one per squared area of the surface: the mean over the
 * pairs of the log areas at both ends. NaN where there is no surface. */
static npmd_status mean_log_areas(const reproduce_pairs *p, const npmd_points *pairs, double *mean, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    enum { ENDS = 2, COLUMNS = 3 * ENDS };
    const size_t n = npmd_points_count(pairs);
    npmd_surface *surface = NULL, *sphere = NULL;
    *mean = NAN;
    if (!p->surface || !p->sphere)
        return NPMD_OK;
    double *x = malloc(n * (COLUMNS + ENDS) * sizeof *x), *area = x ? x + n * COLUMNS : NULL;
    TRY(x ? npmd_surface_read(p->surface, &surface, err)
          : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the pairs"));
    TRY(npmd_surface_read(p->sphere, &sphere, err));
    for (size_t i = 0; i < n; i++)
        npmd_points_row(pairs, i, x + i * COLUMNS);
    TRY(npmd_surface_log_area(surface, sphere, x, n * ENDS, area, err));
    *mean = 0.0;
    for (size_t i = 0; i < n * ENDS; i++)
        *mean += area[i] / (double)n;
done:
    npmd_surface_free(sphere);
    npmd_surface_free(surface);
    free(x);
    return st;
}

/* ---- One task ---------------------------------------------------------------------------------------------------- */

static npmd_status score(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *figure = c->result.figure;
    const double volume = npmd_domain_volume(c->domain);
    const reproduce_pairs *p = c->plan->pairs;
    npmd_score s = NPMD_SIZED(npmd_score);
    double areas = 0.0;
    TRY(npmd_score_points(c->model, c->held_out, c->plan->seed, &c->plan->how, &s, err));
    if (!p->surfaces)
        TRY(mean_log_areas(p, c->held_out, &areas, err));
    figure[FIGURE_HELD_OUT] = (double)s.n;
    figure[FIGURE_LOG_LIKELIHOOD] = -s.nll;
    figure[FIGURE_LOG_LIKELIHOOD_SE] = s.nll_se;
    figure[FIGURE_LOG_LIKELIHOOD_RELATIVE] = log(volume) - s.nll;
    figure[FIGURE_LOG_LIKELIHOOD_SURFACE] = areas - s.nll;
    figure[FIGURE_ISE] = s.ise_criterion;
    figure[FIGURE_ISE_RELATIVE] = s.ise_criterion_relative;
    figure[FIGURE_ISE_SE] = s.ise_criterion_se * volume;
    figure[FIGURE_SEEN] = s.training_rows;
done:
    return st;
}

static npmd_status keep_model(const reproduce_child *c, npmd_error *err)
{
    if (c->task->replicate != 1)
        return NPMD_OK;
    char *path = reproduce_model_of(c->plan, c->task->row);
    const npmd_status st = path ? npmd_save(c->model, path, err)
                                : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a file's name");
    free(path);
    return st;
}

npmd_status measure_pairs(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const uint64_t seed = split_seed(c->plan, c->task);
    TRY(reproduce_pairs_read(c->plan, &c->parsed, &c->all, err));
    c->domain = c->parsed;
    TRY(reproduce_hold_out(c, &seed, err));
    TRY(reproduce_options(c, err));
    c->result.figure[FIGURE_N] = (double)npmd_points_count(c->points);
    TRY(reproduce_fit(c, err));
    TRY(score(c, err));
    TRY(keep_model(c, err));
done:
    return st;
}

int reproduce_pairs_areas(const reproduce_plan *plan)
{
    const reproduce_pairs *p = plan->pairs;
    npmd_domain *domain = NULL;
    npmd_points *points = NULL;
    npmd_error err = { 0 };
    npmd_status st = NPMD_OK;
    if (!p->surface || !p->sphere || p->surfaces)
        return CLI_DONE;
    for (int i = 0; i < plan->count && st == NPMD_OK; i++) {
        reproduce_task *task = &plan->tasks[i];
        double *figure = task->result.figure, areas = NAN;
        npmd_points *training = NULL, *held_out = NULL;
        if (task->failed || !task->done || !isnan(figure[FIGURE_LOG_LIKELIHOOD_SURFACE]))
            continue;
        if (!points)
            st = reproduce_pairs_read(plan, &domain, &points, &err);
        if (st == NPMD_OK)
            st = reproduce_split(points, domain, &(uint64_t){ split_seed(plan, task) }, &training, &held_out, &err);
        if (st == NPMD_OK)
            st = mean_log_areas(p, held_out, &areas, &err);
        if (st == NPMD_OK)
            figure[FIGURE_LOG_LIKELIHOOD_SURFACE] = figure[FIGURE_LOG_LIKELIHOOD] + areas;
        npmd_points_free(training);
        npmd_points_free(held_out);
    }
    npmd_points_free(points);
    npmd_domain_free(domain);
    return st == NPMD_OK ? CLI_DONE : cli_refuse(plan->args, &err);
}
