/* kind_profiles.c - medians over replicates of the trajectories in the results of experiments: convergence profiles of
 * encodings (Figure S2), learning curves of field and squared family (Figure S3), trajectories of several taus (Figure
 * S6). */
#include "figures.h"

#include <stdio.h>

static bool profiles_fits(const figure *f)
{
    return figure_experiment(f, "encodings");
}

static bool learning_fits(const figure *f)
{
    return figure_experiment(f, "spectral-bias");
}

static bool tau_fits(const figure *f)
{
    return figure_experiment(f, "tau");
}

static bool has_profiles(const figure *f)
{
    return profiles_fits(f) || learning_fits(f);
}

#define GROUPS_MOST 200 /* more than any figure tells apart; each row is compared with all groups */

/* ---- Groups of lines --------------------------------------------------------------------------------------------- */

typedef struct group { /* replicates of one method with one setting on one domain */
    char domain[24], name[96];
    double tau;
    const json_t **list; /* their courses */
    int count;
} group;
typedef struct groups {
    group *group;
    int count;
    size_t capacity;
} groups;

static void groups_free(groups *g)
{
    for (int k = 0; k < g->count; k++)
        memory_free(g->group[k].list);
    free(g->group); /* memory_grow is realloc */
}

static npmd_status groups_collect(const figure *f, const char *key, groups *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int k = 0; k < f->logs; k++)
        for (size_t i = 0; i < json_array_size(f->log[k].rows); i++) {
            const json_t *row = json_array_get(f->log[k].rows, i), *list = json_object_get(row, key);
            group g = { .tau = json_number_at(row, "tau") };
            int found = 0;
            if (!json_is_array(list) || json_array_size(list) == 0)
                continue;
            snprintf(g.domain, sizeof g.domain, "%.20s", json_text_at(row, "domain"));
            figure_method(row, g.name);
            while (found < out->count
                   && (strcmp(out->group[found].domain, g.domain) != 0 || strcmp(out->group[found].name, g.name) != 0))
                found++;
            if (found == GROUPS_MOST)
                TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                              "%s holds more than %d methods, settings and domains: draw some of it", f->log[k].path,
                              GROUPS_MOST));
            if (found == out->count) {
                TRY(memory_grow((void **)&out->group, &out->capacity, (size_t)found + 1, sizeof g, err));
                TRY(memory_new(&g.list, 256, err));
                out->group[out->count++] = g;
            }
            group *into = &out->group[found];
            if (into->count < 256)
                into->list[into->count++] = list;
        }
done:
    return st;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* At every row of the first course, the median of a column over the courses that have this row. */
static npmd_status group_curve(const group *g, size_t x, size_t y, const char *name, curve_set *into, curve **out,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t rows = json_array_size(g->list[0]);
    TRY(curve_add(into, rows, name, out, err));
    for (size_t i = 0; i < rows; i++) {
        double value[256];
        size_t count = 0;
        const double at = json_number_in(g->list[0], i, x);
        for (int k = 0; k < g->count; k++) {
            const double v = json_number_in(g->list[k], i, y);
            if (json_number_in(g->list[k], i, x) == at && isfinite(v))
                value[count++] = v;
        }
        qsort(value, count, sizeof *value, by_size);
        (*out)->x[i] = at;
        (*out)->y[i] = count == 0 ? NAN : 0.5 * (value[(count - 1) / 2] + value[count / 2]);
    }
done:
    return st;
}

/* ---- Figure S2: a panel a domain --------------------------------------------------------------------------------- */

static npmd_status profiles_draw(figure *f, npmd_error *err)
{
    enum { MOST = 8 };
    npmd_status st = NPMD_OK;
    groups g = { 0 };
    chart list[MOST] = { { .title = "" } };
    int panels = 0;
    TRY(groups_collect(f, "profile", &g, err));
    for (int k = 0; k < g.count; k++) {
        int p = 0;
        curve *c = NULL;
        while (p < panels && strcmp(list[p].title, g.group[k].domain) != 0)
            p++;
        if (p == MOST)
            continue;
        if (p == panels)
            list[panels++] = (chart){ .title = g.group[k].domain,
                                      .x = { .kind = AXIS_LINEAR, .name = "epoch" },
                                      .y = { .kind = AXIS_LOG, .name = "ae (FR), median" },
                                      .legend = 1 };
        TRY(group_curve(&g.group[k], 1, 5, g.group[k].name, &list[p].curves, &c, err));
    }
    TRY(charts_draw(f, list, panels, 2, "holds no profiles", err));
done:
    charts_free(list, panels);
    groups_free(&g);
    return st;
}

/* ---- Figure S3: nISE and ae -------------------------------------------------------------------------------------- */

static npmd_status learning_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    groups g = { 0 };
    chart list[2] = { { .title = "nISE", .y = { .kind = AXIS_LOG, .name = "nISE, median" }, .legend = 1 },
                      { .title = "ae (FR)", .y = { .kind = AXIS_LOG, .name = "ae, median" }, .legend = 1 } };
    TRY(groups_collect(f, "profile", &g, err));
    for (int p = 0; p < 2; p++) {
        list[p].x = (axis){ .kind = AXIS_LINEAR, .name = "epoch" };
        for (int k = 0; k < g.count; k++) {
            curve *c = NULL;
            TRY(group_curve(&g.group[k], 1, (size_t)(4 + p), g.group[k].name, &list[p].curves, &c, err));
        }
    }
    TRY(charts_draw(f, list, 2, 2, "holds no profiles", err));
done:
    charts_free(list, 2);
    groups_free(&g);
    return st;
}

/* ---- Figure S6: the criterion, smoothed, and the error, for every tau -------------------------------------------- */

static npmd_status tau_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    groups g = { 0 };
    chart list[3] = {
        { .title = "ISE criterion, held out", .y = { .kind = AXIS_LINEAR, .name = "ISE \xC3\x97 Vol" }, .legend = -1 },
        { .title = "smoothed over 50 looks", .y = { .kind = AXIS_LINEAR, .name = "ISE \xC3\x97 Vol" }, .legend = -1 },
        { .title = "error against the truth", .y = { .kind = AXIS_LOG, .name = "nISE" }, .legend = 1 }
    };
    static const size_t COLUMN[3] = { 2, 4, 5 };
    double least = INFINITY, most = 0.0;
    TRY(groups_collect(f, "course", &g, err));
    for (int k = 0; k < g.count; k++)
        if (g.group[k].tau > 0.0) {
            least = fmin(least, g.group[k].tau);
            most = fmax(most, g.group[k].tau);
        }
    for (int p = 0; p < 3; p++) {
        list[p].x = (axis){ .kind = AXIS_LINEAR, .name = "step" };
        for (int k = 0; k < g.count; k++) {
            char name[96], tau[AXIS_LABEL];
            curve *c = NULL;
            number_words(g.group[k].tau, tau);
            snprintf(name, sizeof name, "\xCF\x84 = %s", tau);
            TRY(group_curve(&g.group[k], 0, COLUMN[p], name, &list[p].curves, &c, err));
            /* dark for the smallest tau to light, short of the palest */
            c->line.ink = map_colour(MAP_RISING,
                                     most > least ? 0.88 * log(g.group[k].tau / least) / log(most / least) : 0.3);
        }
    }
    TRY(charts_draw(f, list, 3, 3, "holds no courses", err));
done:
    charts_free(list, 3);
    groups_free(&g);
    return st;
}

const figure_kind KIND_PROFILES = { .name = "profiles",
                                    .help = "reproduce encodings (Figure S2): median error against epochs",
                                    .fits = profiles_fits,
                                    .wants = "results of reproduce encodings or spectral-bias",
                                    .takes = has_profiles,
                                    .uses = USES_RANGE,
                                    .draw = profiles_draw };
const figure_kind KIND_LEARNING = { .name = "learning",
                                    .help = "reproduce spectral-bias (Figure S3): nISE and ae against epochs",
                                    .fits = learning_fits,
                                    .wants = "results of reproduce spectral-bias or encodings",
                                    .takes = has_profiles,
                                    .uses = USES_RANGE,
                                    .draw = learning_draw };
const figure_kind KIND_TAU = { .name = "tau",
                               .help = "reproduce tau (Figure S6): criterion and error of several taus against steps",
                               .fits = tau_fits,
                               .wants = "results of reproduce tau",
                               .takes = tau_fits,
                               .uses = USES_RANGE,
                               .draw = tau_draw };
