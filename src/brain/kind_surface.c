/* kind_surface.c - densities with a surface among their factors: drawn on each surface and sphere from several sides,
 * and on a circle as a curve. For a product these are the marginal densities of the factors, or conditional densities
 * given some of them.
 *
 * A density is computed at the vertices. Given points are marked on the surfaces they lie on. */
#include "brain.h"

#include <stdio.h>

enum { COLUMNS_MOST = 4, CIRCLE_NODES = 180, DATA_MOST = 4000 };
enum { BALL_STEPS = 48, BALL_STEPS_ALONE = 120 }; /* of a marginal every node is an integral */

static const colour GIVEN = { 214, 60, 30 };

typedef struct factor_map { /* one factor that is shown */
    int factor;
    bool given;
    surface_scene scene;
    size_t nodes;
    double *x;     /* (nodes, columns): as the domain has them */
    double *value; /* (nodes) */
    double *share; /* (nodes): of the volume */
    shade how;
    relief_scene relief;
    char title[96];
} factor_map;

typedef struct surface_job {
    figure *f;
    const source *from;
    factor_map map[COLUMNS_MOST]; /* surfaces and spheres */
    int maps;
    factor_map circle; /* the only one; value NULL: there is none */
} surface_job;

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static bool is_surface(const figure *f, int d)
{
    return f->domain->factor[d].kind == FACTOR_SURFACE;
}

/* Nodes, and the share of the volume that each stands for. */
static npmd_status nodes_make(const figure *f, factor_map *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int columns = f->domain->factor[m->factor].columns;
    double total = 0.0;
    if (is_surface(f, m->factor))
        TRY(mesh_of_surface(npmd_domain_surface(f->domain->of, m->factor + 1), &m->scene.own, err));
    else if (columns == 3)
        TRY(ball_make(f->domain->factors == 1 ? BALL_STEPS_ALONE : BALL_STEPS, &m->scene.own, err));
    m->scene.m = columns == 1 ? NULL : &m->scene.own;
    m->nodes = columns == 1 ? CIRCLE_NODES + 1 : m->scene.m->vertices;
    TRY(memory_new(&m->x, m->nodes * (size_t)columns, err));
    TRY(memory_new(&m->value, m->nodes, err));
    TRY(memory_new(&m->share, m->nodes, err));
    if (columns == 1)
        for (size_t i = 0; i < m->nodes; i++) {
            m->x[i] = TWO_PI * (double)(i % CIRCLE_NODES) / CIRCLE_NODES;
            m->share[i] = i < CIRCLE_NODES ? 1.0 : 0.0; /* the last is the first again */
        }
    else
        mesh_vertex_areas(m->scene.m, m->share);
    if (columns == 3)
        memcpy(m->x, m->scene.m->x, 3 * m->nodes * sizeof *m->x);
    for (size_t i = 0; i < m->nodes; i++)
        total += m->share[i];
    for (size_t i = 0; i < m->nodes; i++)
        m->share[i] /= total;
done:
    return st;
}

/* Is it the density given the others, not a marginal one? */
static bool conditional(const figure *f, const factor_map *m)
{
    return f->ask->given != 0 && !m->given;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What is shown of log densities: exp of them, per volume or relative to uniform. A conditional density is known up to
 * a factor, possibly far from 1, so that its largest term is taken out; its integral by the nodes is made 1. */
static void values_show(const surface_job *j, factor_map *m)
{
    const bool fixed_rest = conditional(j->f, m);
    const double volume = j->f->domain->factor[m->factor].volume;
    double mass = 0.0, top = fixed_rest ? -INFINITY : 0.0;
    for (size_t i = 0; i < m->nodes && fixed_rest; i++)
        top = fmax(top, m->value[i]);
    for (size_t i = 0; i < m->nodes; i++) {
        m->value[i] = exp(m->value[i] - top);
        mass += volume * m->share[i] * m->value[i];
    }
    if (!fixed_rest)
        j->f->facts.mass_error = fmax(j->f->facts.mass_error, fabs(mass - 1.0)); /* fmax passes NaN over */
    const bool circle = j->f->domain->factor[m->factor].columns == 1;
    const double per = circle ? panel_circle_unit(j->f) : j->f->ask->what == NPMD_PLOT_RELATIVE ? volume : 1.0;
    const double unit = per / (fixed_rest ? mass : 1.0);
    for (size_t i = 0; i < m->nodes; i++)
        m->value[i] *= unit;
}

static npmd_status values_find(const surface_job *j, factor_map *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    figure *f = j->f;
    const bool fixed_rest = conditional(f, m);
    double fixed[LOOK_COLUMNS] = { 0.0 };
    view v = { .shown = 1U << m->factor, .given = fixed_rest ? f->ask->given : 0, .fixed = fixed };
    figure_nodes nodes = { 0 };
    nodes.x[m->factor] = m->x;
    nodes.n[m->factor] = m->nodes;
    if (f->ask->what == NPMD_PLOT_SPREAD) {
        if (f->domain->factors > 1)
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "the spread is drawn of a whole density on one factor; this one is on %s",
                             f->domain->text);
        TRY(source_values(f, j->from, true, &nodes, m->value, err));
        return zeros_raise(j->from, m->value, m->nodes, err);
    }
    if (fixed_rest)
        figure_given(f, fixed);
    TRY(view_values(f, j->from, &v, &nodes, m->value, err));
    values_show(j, m);
done:
    return st;
}

/* ---- points on the maps ------------------------------------------------------------------------------------------ */

/* The data, on marginal densities alone, or the point that is given. */
static npmd_status points_place(const surface_job *j, factor_map *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    figure *f = j->f;
    const domain_look *dom = f->domain;
    double *x = NULL, row[LOOK_COLUMNS];
    const bool one = m->given;
    const size_t count = one ? 1 : f->ask->data != NULL && !conditional(f, m) ? figure_data(f, DATA_MOST) : 0;
    if (count == 0 || dom->factor[m->factor].columns != 3)
        goto done;
    TRY(memory_new(&x, 3 * count, err));
    for (size_t k = 0; k < count; k++) {
        if (one)
            figure_given(f, row);
        else
            npmd_points_row(f->ask->data, figure_datum(f, k), row);
        memcpy(x + 3 * k, row + dom->factor[m->factor].column, 3 * sizeof *x);
    }
    surface_scene_points(&m->scene, x, count);
    if (one) {
        m->scene.points.radius = 2.2;
        m->scene.points.rim = 0.8;
        m->scene.points.ink = GIVEN;
    }
done:
    return st;
}

/* ---- the job ----------------------------------------------------------------------------------------------------- */

static void title_make(const surface_job *j, factor_map *m)
{
    char name[16];
    factor_name(j->f->domain, m->factor, name);
    if (j->f->domain->factors == 1)
        m->title[0] = 0;
    else
        snprintf(m->title, sizeof m->title, "%s %s%s",
                 m->given || j->f->ask->given == 0 ? "marginal of" : "conditional of", name,
                 m->given ? ", with the point given" : "");
}

static npmd_status map_make(surface_job *j, int d, factor_map *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    m->factor = d;
    m->given = j->f->ask->given >> d & 1U;
    const bool circle = j->f->domain->factor[d].columns == 1, sphere = !circle && !is_surface(j->f, d);
    const char *quantity = !circle && !sphere && j->f->ask->what == NPMD_PLOT_DENSITY
                               ? "density per area of the surface"
                               : figure_quantity(j->f, circle ? 1 : 2, sphere);
    TRY(nodes_make(j->f, m, err));
    TRY(values_find(j, m, err));
    TRY(values_shade(j->f, quantity, m->value, m->nodes, &m->how, err));
    title_make(j, m);
    if (circle)
        goto done;
    TRY(points_place(j, m, err));
    if (j->f->ask->surfaces != NULL && j->f->ask->surfaces->labels != NULL && is_surface(j->f, d))
        TRY(surface_scene_region(&m->scene, j->f->ask->surfaces->labels, j->f->ask->surfaces->region, err));
    m->relief = surface_scene_relief(&m->scene, m->value, &m->how);
done:
    return st;
}

static void map_free(factor_map *m)
{
    surface_scene_free(&m->scene);
    memory_free_all(m->x, m->value, m->share);
}

static npmd_status maps_make(surface_job *j, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const unsigned shown = j->f->ask->factors != 0 ? j->f->ask->factors : ~0U;
    for (int d = 0; d < j->f->domain->factors; d++) {
        if (!(shown >> d & 1U))
            continue;
        if (j->f->domain->factor[d].columns == 1 && j->circle.value == NULL) {
            TRY(map_make(j, d, &j->circle, err));
        } else if (j->f->domain->factor[d].columns == 3 && j->maps < COLUMNS_MOST) {
            TRY(map_make(j, d, &j->map[j->maps++], err));
        } else {
            TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                          "a figure has at most %d surfaces and spheres and one circle: choose some by `factors`",
                          COLUMNS_MOST));
        }
    }
done:
    return st;
}

/* Heights of the curve and of the histogram: from 0, or of a log scale from a 10,000th of the largest. --range is of
 * the colours, whose quantity is another. */
static axis circle_heights(const figure *f, const factor_map *m, double tallest)
{
    double least = 0.0, most = 0.0;
    axis y = { .kind = f->ask->log_scale ? AXIS_LOG : AXIS_LINEAR, .name = m->how.scale.name };
    values_range(m->value, m->nodes, &least, &most);
    most = fmax(fmax(most, tallest), 1e-300);
    axis_fit(&y, f->ask->log_scale ? fmin(fmax(least, 1e-4 * most), most) : 0.0, most);
    return y;
}

/* The curve on the circle, below all; over the data, and with the place that is given. */
static npmd_status circle_draw(figure *f, const factor_map *m, double height, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    curve_set curves = { 0 };
    curve *line = NULL;
    char name[16];
    double bars[HISTOGRAM_BARS], tallest = 0.0;
    const bool histogram = f->ask->data != NULL && !conditional(f, m);
    factor_name(f->domain, m->factor, name);
    if (histogram)
        tallest = panel_histogram(f, f->domain->factor[m->factor].column, bars);
    const axis x = figure_angle_axis(f, name), y = circle_heights(f, m, tallest);
    const box at = { 46.0, canvas_height(f->page) - height + 18.0, fmin(canvas_width(f->page) - 66.0, 260.0),
                     height - 52.0 };
    TRY(curve_add(&curves, m->nodes, "", &line, err));
    line->line.width = 1.2;
    for (size_t i = 0; i < m->nodes; i++) {
        line->x[i] = x.to * (double)i / CIRCLE_NODES;
        line->y[i] = m->value[i];
    }
    if (histogram)
        panel_histogram_draw(f, at, &y, bars);
    curves_draw(f->page, at, &curves, &x, &y);
    axes_draw(f->page, at, &x, &y, 0);
    if (m->given) {
        const stroke red = { .width = 1.0, .ink = GIVEN };
        double row[LOOK_COLUMNS];
        figure_given(f, row);
        const double place = at.x + at.width * row[f->domain->factor[m->factor].column] / TWO_PI;
        canvas_line(f->page, place, at.y, place, at.y + at.height, &red);
    }
    title_draw(f->page, at, m->title);
done:
    curves_free(&curves);
    return st;
}

/* A column a surface, a row a view; the views of a single surface in two columns. */
static npmd_status several_draw(surface_job *j, const surface_views *views, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    figure *f = j->f;
    const int wide = j->maps > 1 || views->count == 1 ? j->maps : 2;
    const double foot = j->circle.value != NULL ? 130.0 : 0.0;
    relief_panel panel[COLUMNS_MOST * VIEWS_MOST + 1] = { { 0 } };
    shade bars[COLUMNS_MOST];
    const char *titles[COLUMNS_MOST] = { "", "", "", "" };
    for (int k = 0; k < j->maps; k++) {
        bars[k] = j->map[k].how;
        titles[k] = j->map[k].title;
        for (int v = 0; v < views->count; v++)
            panel[v * j->maps + k] = (relief_panel){
                .scene = &j->map[k].relief, .view = views->view[v], .name = views->name[v], .group = k
            };
    }
    const relief_page page = {
        .rows = (views->count * j->maps + wide - 1) / wide,
        .columns = wide,
        .panel = panel,
        .cell = (figure_width(f, wide > 1 ? 0.8 * PAGE_MM : COLUMN_MM) - (wide > j->maps ? 62.0 : 0.0)) / wide - 12.0,
        .titles = titles,
        .bars = bars,
        .bar_count = j->maps,
        .head = figure_top(f),
        .foot = foot
    };
    TRY(surface_page_draw(f, &page, err));
    if (j->circle.value != NULL)
        TRY(circle_draw(f, &j->circle, foot, err));
done:
    return st;
}

static npmd_status surface_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const npmd_plot_surfaces NOTHING = { 0 };
    surface_job *j = NULL;
    surface_views views;
    TRY(memory_new(&j, 1, err));
    j->f = f;
    j->from = &f->from[0];
    TRY(surface_views_find(f->ask->surfaces != NULL ? f->ask->surfaces : &NOTHING,
                           f->ask->surfaces != NULL ? f->ask->surfaces->surface : NULL, &views, err));
    TRY(maps_make(j, err));
    for (int k = 1; k < j->maps && f->ask->ranges > 0; k++)
        if (strcmp(j->map[k].how.scale.name, j->map[0].how.scale.name) != 0)
            TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                          "`range` would be one range for '%s' and '%s': leave it out, or choose one by `factors`",
                          j->map[0].how.scale.name, j->map[k].how.scale.name));
    if (j->maps == 0)
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "none of the factors shown is a surface or a sphere");
    else if (j->maps == 1 && j->circle.value == NULL)
        TRY(surface_single_draw(f, &j->map[0].relief, &views, &j->map[0].how, err));
    else
        TRY(several_draw(j, &views, err));
done:
    for (int k = 0; j != NULL && k < j->maps; k++)
        map_free(&j->map[k]);
    if (j != NULL)
        map_free(&j->circle);
    memory_free(j);
    return st;
}

/* One model, with a surface; given factors leave one. */
static bool surface_takes(const figure *f)
{
    if (f->sources != 1 || f->from[0].model == NULL)
        return false;
    int given = 0;
    for (int d = 0; d < f->domain->factors; d++)
        given += (int)(f->ask->given >> d & 1U);
    return given == 0 || given == f->domain->factors - 1;
}

static bool surface_fits(const figure *f)
{
    return f->domain != NULL && f->domain->surfaces;
}

const figure_kind KIND_SURFACE = { .name = "surface",
                                   .help = "a density on surfaces and spheres, shaded, from four sides",
                                   .fits = surface_fits,
                                   .wants = "one model on surfaces or spheres, all factors but one given if any is",
                                   .takes = surface_takes,
                                   .uses = USES_FACTORS | USES_GIVEN | USES_RANGE | USES_WHAT | USES_LOG | USES_DATA,
                                   .draw = surface_draw };
