/* reproduce_pairs.c - connectivity, in the process of a task: end points of streamlines, of which nine tenths are
 * fitted and the others give the likelihood. */
#include "connectivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE = 10, PAIRS_LEAST = 20 }; /* one in SHARE is held out */

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

static npmd_status read_points(const reproduce_plan *plan, const npmd_domain *domain, npmd_points **points,
                               npmd_error *err)
{
    const reproduce_pairs *p = plan->pairs;
    npmd_status st = p->surfaces ? cli_points(plan->args, p->points, domain, 0, points, err)
                                 : npmd_points_read(p->points, domain, 0, points, err);
    if (st == NPMD_OK && npmd_points_count(*points) < PAIRS_LEAST) {
        snprintf(err->text, sizeof err->text, "%.300s: found %zu pairs, expected at least %d", p->points,
                 npmd_points_count(*points), PAIRS_LEAST);
        st = err->status = NPMD_ERR_FORMAT;
    }
    return st;
}

npmd_status reproduce_pairs_read(const reproduce_plan *plan, npmd_domain **domain, npmd_points **points,
                                 npmd_error *err)
{
    npmd_status st = npmd_domain_parse(plan->pairs->domain, domain, err);
    if (st == NPMD_OK)
        st = read_points(plan, *domain, points, err);
    return st;
}

/* Streamlines to pairs of end points, once. */
static npmd_status find_ends(const reproduce_plan *plan, npmd_error *err)
{
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
    npmd_status st = npmd_endpoints_find(&what, &found, err);
    if (st == NPMD_OK)
        st = npmd_endpoints_facts_of(found, &facts, err);
    if (st == NPMD_OK)
        st = npmd_array_write(p->points, npmd_endpoints_rows(found, NPMD_PAIR_LL), facts.count[NPMD_PAIR_LL], 6, err);
    npmd_endpoints_free(found);
    return st;
}

/* The meshes and the labels, so that a long run does not end with what could be seen before. */
static npmd_status check_regions(const reproduce_pairs *p, npmd_error *err)
{
    const char *nodes = p->surfaces ? p->surface : p->sphere;
    npmd_surface *at = NULL, *drawn = NULL;
    npmd_labels *labels = NULL;
    npmd_status st = nodes ? npmd_surface_read(nodes, &at, err) : NPMD_OK;
    if (st == NPMD_OK && p->labels)
        st = npmd_labels_read(p->labels, at, &labels, err);
    if (st == NPMD_OK && p->surface)
        st = npmd_surface_read(p->surface, &drawn, err);
    if (st == NPMD_OK && at && drawn && !p->surfaces)
        st = cli_registered(p->surface, drawn, p->sphere, at, err);
    const int region = labels ? npmd_region_find(labels, p->region) : -1;
    if (st == NPMD_OK && labels && (region < 0 || npmd_region_vertices(labels, region) == 0)) {
        snprintf(err->text, sizeof err->text, "%.300s: no vertex lies in a region '%.80s'", p->labels, p->region);
        st = err->status = region < 0 ? NPMD_ERR_ARGUMENT : NPMD_ERR_FORMAT;
    }
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
        st = npmd_domain_part(domain, 1u, &end[0], err);
        if (st == NPMD_OK)
            st = npmd_domain_part(domain, 2u, &end[1], err);
        same = st == NPMD_OK && strcmp(npmd_domain_text(end[0]), npmd_domain_text(end[1])) == 0;
    }
    if (st == NPMD_OK && !same) {
        snprintf(err->text, sizeof err->text,
                 "--domain is '%.200s', expected S2 x S2 or mesh:FILE^2: both ends of a streamline lie on the "
                 "same surface",
                 p->domain);
        st = err->status = NPMD_ERR_ARGUMENT;
    }
    if (st == NPMD_OK && p->surfaces) {
        st = is_surface(p->surface, npmd_domain_text(end[0]), &same, err);
        if (st == NPMD_OK && !same) {
            snprintf(err->text, sizeof err->text,
                     "--domain is '%.200s', but --surface %.200s is another mesh: expected the same", p->domain,
                     p->surface);
            st = err->status = NPMD_ERR_ARGUMENT;
        }
    }
    npmd_domain_free(end[0]);
    npmd_domain_free(end[1]);
    return st;
}

npmd_status reproduce_pairs_check(const reproduce_plan *plan, npmd_error *err)
{
    npmd_domain *domain = NULL;
    npmd_points *points = NULL;
    npmd_status st = check_regions(plan->pairs, err);
    if (st == NPMD_OK && plan->pairs->tracks)
        st = find_ends(plan, err);
    if (st == NPMD_OK)
        st = npmd_domain_parse(plan->pairs->domain, &domain, err);
    if (st == NPMD_OK)
        st = check_factors(domain, plan->pairs, err);
    if (st == NPMD_OK)
        st = read_points(plan, domain, &points, err);
    npmd_points_free(points);
    npmd_domain_free(domain);
    return st;
}

/* ---- The split --------------------------------------------------------------------------------------------------- */

/* splitmix64, the stream of a seed. */
static uint64_t next_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The order of n rows by Fisher and Yates: a function of (seed, n), so that domains that hold the same pairs are split
 * alike. */
static void shuffle(uint64_t seed, size_t n, size_t *order)
{
    uint64_t state = seed;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n - 1; i > 0; i--) {
        const size_t j = (size_t)(next_word(&state) % (i + 1)), held = order[i];
        order[i] = order[j];
        order[j] = held;
    }
}

static npmd_status fail_memory(npmd_error *err)
{
    return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the pairs");
}

/* Rows first .. first + count - 1 of an order. */
static npmd_status take_rows(const npmd_points *points, const npmd_domain *domain, const size_t *order, size_t count,
                             npmd_points **out, npmd_error *err)
{
    const size_t columns = (size_t)npmd_domain_columns(domain);
    double *x = malloc(count * columns * sizeof *x);
    if (!x)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        npmd_points_row(points, order[i], x + i * columns);
    const npmd_status st = reproduce_points(x, count, domain, out, err);
    free(x);
    return st;
}

static npmd_status split(const npmd_points *points, const npmd_domain *domain, uint64_t seed, npmd_points **training,
                         npmd_points **held_out, npmd_error *err)
{
    const size_t n = npmd_points_count(points), out = n / SHARE;
    size_t *order = malloc(n * sizeof *order);
    if (!order)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the order of the pairs");
    shuffle(seed, n, order);
    npmd_status st = take_rows(points, domain, order, out, held_out, err);
    if (st == NPMD_OK)
        st = take_rows(points, domain, order + out, n - out, training, err);
    free(order);
    return st;
}

/* ---- The measure of the surface ---------------------------------------------------------------------------------- */

/* What makes the mean log-likelihood of pairs on two spheres one per squared area of the surface: the mean over the
 * pairs of the log areas at both ends. NaN where there is no surface. */
static npmd_status mean_log_areas(const reproduce_pairs *p, const npmd_points *pairs, double *mean, npmd_error *err)
{
    enum { ENDS = 2, COLUMNS = 3 * ENDS };
    const size_t n = npmd_points_count(pairs);
    npmd_surface *surface = NULL, *sphere = NULL;
    *mean = NAN;
    if (!p->surface || !p->sphere)
        return NPMD_OK;
    double *x = malloc(n * (COLUMNS + ENDS) * sizeof *x), *area = x ? x + n * COLUMNS : NULL;
    npmd_status st = x ? npmd_surface_read(p->surface, &surface, err) : fail_memory(err);
    if (st == NPMD_OK)
        st = npmd_surface_read(p->sphere, &sphere, err);
    for (size_t i = 0; st == NPMD_OK && i < n; i++)
        npmd_points_row(pairs, i, x + i * COLUMNS);
    if (st == NPMD_OK)
        st = npmd_surface_log_area(surface, sphere, x, n * ENDS, area, err);
    if (st == NPMD_OK)
        *mean = 0.0;
    for (size_t i = 0; st == NPMD_OK && i < n * ENDS; i++)
        *mean += area[i] / (double)n;
    npmd_surface_free(sphere);
    npmd_surface_free(surface);
    free(x);
    return st;
}

/* ---- One task ---------------------------------------------------------------------------------------------------- */

static npmd_status score(reproduce_child *c, const npmd_model *model, const npmd_points *held_out, npmd_error *err)
{
    double *figure = c->result.figure;
    const double volume = npmd_domain_volume(c->domain);
    const reproduce_pairs *p = c->plan->pairs;
    npmd_score s = NPMD_SIZED(npmd_score);
    double areas = 0.0;
    npmd_status st = npmd_score_points(model, held_out, c->plan->seed, &c->plan->how, &s, err);
    if (st == NPMD_OK && !p->surfaces)
        st = mean_log_areas(p, held_out, &areas, err);
    if (st != NPMD_OK)
        return st;
    figure[FIGURE_HELD_OUT] = (double)s.n;
    figure[FIGURE_LOG_LIKELIHOOD] = -s.nll;
    figure[FIGURE_LOG_LIKELIHOOD_SE] = s.nll_se;
    figure[FIGURE_LOG_LIKELIHOOD_RELATIVE] = log(volume) - s.nll;
    figure[FIGURE_LOG_LIKELIHOOD_SURFACE] = areas - s.nll;
    figure[FIGURE_ISE] = s.ise_criterion;
    figure[FIGURE_ISE_RELATIVE] = s.ise_criterion_relative;
    figure[FIGURE_ISE_SE] = s.ise_criterion_se * volume;
    figure[FIGURE_SEEN] = s.training_rows;
    return st;
}

static npmd_status keep_model(const reproduce_child *c, const npmd_model *model, npmd_error *err)
{
    if (c->task->replicate != 1)
        return NPMD_OK;
    char *path = reproduce_model_of(c->plan, c->task->row);
    const npmd_status st = path ? npmd_save(model, path, err)
                                : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a file's name");
    free(path);
    return st;
}

npmd_status measure_pairs(reproduce_child *c, npmd_error *err)
{
    const uint64_t seed = c->plan->seed + (uint64_t)c->task->replicate - 1;
    npmd_options *options = NULL;
    npmd_domain *domain = NULL;
    npmd_points *points = NULL, *training = NULL, *held_out = NULL;
    npmd_model *model = NULL;
    npmd_status st = reproduce_pairs_read(c->plan, &domain, &points, err);
    if (st == NPMD_OK)
        st = split(points, domain, seed, &training, &held_out, err);
    if (st == NPMD_OK)
        st = reproduce_options(c, &options, err);
    if (st == NPMD_OK) {
        c->domain = domain;
        c->points = training;
        c->result.figure[FIGURE_N] = (double)npmd_points_count(training);
        st = reproduce_fit(c, options, &model, err);
    }
    if (st == NPMD_OK)
        st = score(c, model, held_out, err);
    if (st == NPMD_OK)
        st = keep_model(c, model, err);
    npmd_model_free(model);
    npmd_points_free(training);
    npmd_points_free(held_out);
    npmd_points_free(points);
    npmd_domain_free(domain);
    npmd_options_free(options);
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
            st = split(points, domain, plan->seed + (uint64_t)task->replicate - 1, &training, &held_out, &err);
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
