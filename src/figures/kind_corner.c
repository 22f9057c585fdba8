/* kind_corner.c - densities on tori of three and more angles: every one- and two-factor marginal.
 *
 * For up to four angles all are sums over one grid of the whole torus, accurate to many digits for a density that the
 * grid resolves. For more, they come from independent draws, counted in cells and smoothed by a kernel as wide as a
 * cell. The diagonal has the densities of one angle; below it are those of two angles for the estimate, above it those
 * for the truth, if there is one. */
#include "figures.h"

#include <stdio.h>

#define EDGE 4.0
#define GAP 5.0
#define BAR 6.0
#define DRAWS 200000 /* as the note says */
#define MOST_SHOWN 8

static bool corner_fits(const figure *f)
{
    return f->domain != NULL && f->domain->torus && f->domain->factors >= 3;
}

static bool corner_takes(const figure *f)
{
    return f->domain != NULL && f->domain->torus && f->domain->factors >= 2 && f->sources <= 2;
}

typedef struct corner { /* of one source */
    int shown;          /* angles */
    int factor[MOST_SHOWN];
    int nodes;
    sheet one[MOST_SHOWN], two[MOST_SHOWN][MOST_SHOWN]; /* two[a][b], a < b: a along x1, b along x2 */
} corner;

static void corner_free(corner *c)
{
    for (int a = 0; a < MOST_SHOWN; a++) {
        sheet_free(&c->one[a]);
        for (int b = 0; b < MOST_SHOWN; b++)
            sheet_free(&c->two[a][b]);
    }
}

static npmd_status corner_open(corner *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int a = 0; a < c->shown; a++) {
        TRY(sheet_open(SHEET_CIRCLE, c->nodes, &c->one[a], err));
        for (int b = a + 1; b < c->shown; b++)
            TRY(sheet_open(SHEET_TORUS, c->nodes, &c->two[a][b], err));
    }
done:
    return st;
}

/* Adds a mass at a point of the grid, whose coordinates are numbers of nodes. */
static void corner_add(corner *c, const int *at, double mass)
{
    for (int a = 0; a < c->shown; a++) {
        const int i = at[c->factor[a]];
        c->one[a].value[i] += mass;
        for (int b = a + 1; b < c->shown; b++)
            c->two[a][b].value[i * c->nodes + at[c->factor[b]]] += mass;
    }
}

/* From masses at nodes to log densities; an empty cell becomes a density far below all that is shown. */
static void sheet_from_masses(sheet *s)
{
    const double nodes = (double)s->columns * s->rows;
    for (size_t k = 0; k < (size_t)s->columns * (size_t)s->rows; k++)
        s->value[k] = log(fmax(s->value[k] * nodes / s->volume, 1e-12 / s->volume));
}

static void corner_finish(figure *f, corner *c)
{
    for (int a = 0; a < c->shown; a++) {
        sheet_from_masses(&c->one[a]);
        c->one[a].unit = panel_circle_unit(f);
        f->facts.mass_error = fmax(f->facts.mass_error, fabs(sheet_mass(&c->one[a]) - 1.0));
        for (int b = a + 1; b < c->shown; b++) {
            sheet_from_masses(&c->two[a][b]);
            c->two[a][b].unit = f->ask->what == NPMD_PLOT_RELATIVE ? c->two[a][b].volume : 1.0;
        }
    }
}

/* ---- By a grid --------------------------------------------------------------------------------------------------- */

/* Some nodes of the first angle at a time: all values together may be more than memory holds. */
static npmd_status corner_by_grid(figure *f, const source *s, corner *c, npmd_error *err)
{
    enum { TOGETHER = 65536 }; /* values */
    npmd_status st = NPMD_OK;
    const int D = f->domain->factors;
    const size_t side = (size_t)c->nodes;
    figure_nodes nodes = { 0 };
    size_t behind = 1; /* values for every node of the first angle */
    double *x = NULL, *value = NULL, cell = 1.0;
    TRY(memory_new(&x, side, err));
    for (size_t i = 0; i < side; i++)
        x[i] = TWO_PI * (double)i / (double)side;
    for (int d = 0; d < D; d++) {
        nodes.x[d] = x;
        nodes.n[d] = side;
        behind *= d > 0 ? side : 1;
        cell *= TWO_PI / c->nodes;
    }
    const size_t some = behind < TOGETHER ? TOGETHER / behind : 1, most = side < some ? side : some;
    TRY(memory_new(&value, most * behind, err));
    for (size_t first = 0; first < side; first += most) {
        nodes.x[0] = x + first;
        nodes.n[0] = side - first < most ? side - first : most;
        TRY(source_values(f, s, false, &nodes, value, err));
        TRY(zeros_raise(s, value, nodes.n[0] * behind, err));
        for (size_t i = 0; i < nodes.n[0] * behind; i++) {
            int at[NPMD_MAX_FACTORS];
            size_t left = first * behind + i;
            for (int d = D - 1; d >= 0; d--) {
                at[d] = (int)(left % side);
                left /= side;
            }
            corner_add(c, at, cell * exp(value[i]));
        }
    }
done:
    memory_free_all(x, value);
    return st;
}

/* ---- By draws ---------------------------------------------------------------------------------------------------- */

/* Every row of n numbers, `step` apart, with the next ones, around: weights of a normal of one cell's width. */
static void smooth_ring(double *v, int n, size_t step, double *room)
{
    enum { REACH = 4 };
    double kernel[2 * REACH + 1], sum = 0.0;
    for (int k = -REACH; k <= REACH; k++)
        sum += kernel[k + REACH] = exp(-0.5 * k * k);
    for (int i = 0; i < n; i++) {
        room[i] = 0.0;
        for (int k = -REACH; k <= REACH; k++)
            room[i] += kernel[k + REACH] / sum * v[(size_t)((i + k + n) % n) * step];
    }
    for (int i = 0; i < n; i++)
        v[(size_t)i * step] = room[i];
}

static npmd_status corner_smooth(corner *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *room = NULL;
    const size_t n = (size_t)c->nodes;
    TRY(memory_new(&room, n, err));
    for (int a = 0; a < c->shown; a++) {
        smooth_ring(c->one[a].value, c->nodes, 1, room);
        for (int b = a + 1; b < c->shown; b++)
            for (size_t i = 0; i < n; i++)
                smooth_ring(c->two[a][b].value + i * n, c->nodes, 1, room);
        for (int b = a + 1; b < c->shown; b++)
            for (size_t j = 0; j < n; j++)
                smooth_ring(c->two[a][b].value + j, c->nodes, n, room);
    }
done:
    memory_free(room);
    return st;
}

static npmd_status corner_by_draws(figure *f, const source *s, corner *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t D = (size_t)f->domain->factors;
    double *x = NULL;
    const double before = (double)(s - f->from) / f->sources;
    compute_part part = { f->how, "picture", before, before + 1.0 / f->sources };
    const npmd_compute own = compute_of_part(&part);
    TRY(memory_new(&x, DRAWS * D, err));
    if (s->truth != NULL)
        TRY(npmd_truth_sample(s->truth, f->ask->seed, DRAWS, &own, x, err));
    else
        TRY(npmd_sample(s->model, f->ask->seed, DRAWS, &own, x, NULL, err));
    for (size_t i = 0; i < DRAWS; i++) {
        int at[NPMD_MAX_FACTORS];
        for (size_t d = 0; d < D; d++)
            at[d] = (int)lrint(x[i * D + d] / TWO_PI * c->nodes) % c->nodes;
        corner_add(c, at, 1.0 / DRAWS);
    }
    TRY(corner_smooth(c, err));
done:
    memory_free(x);
    return st;
}

/* ---- The picture ------------------------------------------------------------------------------------------------- */

static bool corner_exact(const figure *f)
{
    return f->domain->factors <= 4;
}

static npmd_status corner_fill(figure *f, const source *s, corner *c, npmd_error *err)
{
    static const int GRID[] = { 0, 0, 240, 80, 44 }; /* 44^4 is 3.7 million points */
    npmd_status st = NPMD_OK;
    for (int d = 0; d < f->domain->factors; d++)
        if (f->ask->factors == 0 || f->ask->factors >> d & 1) {
            if (c->shown == MOST_SHOWN)
                return npmd_fail(err, NPMD_ERR_ARGUMENT,
                                 "a corner plot has room for %d angles; choose some of the %d with `factors`",
                                 MOST_SHOWN, f->domain->factors);
            c->factor[c->shown++] = d;
        }
    c->nodes = f->ask->grid > 0 ? f->ask->grid : corner_exact(f) ? GRID[f->domain->factors] : 48;
    TRY(corner_open(c, err));
    f->expected = corner_exact(f) ? f->sources * pow(c->nodes, f->domain->factors) : 0.0;
    if (corner_exact(f))
        TRY(corner_by_grid(f, s, c, err));
    else
        TRY(corner_by_draws(f, s, c, err));
    corner_finish(f, c);
done:
    return st;
}

static npmd_status corner_diagonal(figure *f, box at, const corner *all, int a, unsigned parts, const axis *x,
                                   npmd_error *err)
{
    npmd_status st = NPMD_OK;
    curve_set curves = { 0 };
    double bars[HISTOGRAM_BARS], most = 0.0;
    axis y = { .kind = AXIS_LINEAR, .from = 0.0 };
    for (int k = 0; k < f->sources; k++) {
        double least, top;
        TRY(panel_curve(f, &all[k].one[a], f->from[k].name, &curves, err));
        sheet_range(&all[k].one[a], &least, &top);
        most = fmax(most, top);
    }
    if (f->ask->data != NULL)
        most = fmax(most, panel_histogram(f, f->domain->factor[all->factor[a]].column, bars));
    y.to = 1.08 * most;
    if (f->ask->data != NULL)
        panel_histogram_draw(f, at, &y, bars);
    curves_draw(f->page, at, &curves, x, &y);
    axes_draw(f->page, at, x, &y, parts | AXES_NO_Y_LABELS | AXES_NO_Y_NAME);
    if (a == 0 && f->sources > 1)
        curves_legend(f->page, at, 1, &curves, x, &y);
done:
    curves_free(&curves);
    return st;
}

/* Cell in row r, column q: below the diagonal x is the angle of the column and y that of the row. Above it the truth
 * stands mirrored, with the same angle along x. */
static npmd_status corner_map(figure *f, box at, const sheet *s, bool mirrored, const shade *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    sheet turned = { 0 };
    map_lines lines;
    TRY(map_levels(f, s, &lines, err));
    if (!mirrored) {
        TRY(map_torus(f, at, s, h, &lines, err));
        goto done;
    }
    TRY(sheet_open(SHEET_TORUS, s->columns, &turned, err));
    turned.unit = s->unit;
    for (int i = 0; i < s->columns; i++)
        for (int j = 0; j < s->rows; j++)
            turned.value[j * s->rows + i] = s->value[i * s->rows + j];
    TRY(map_torus(f, at, &turned, h, &lines, err));
done:
    sheet_free(&turned);
    return st;
}

static npmd_status corner_cells(figure *f, const panel_grid *g, const corner *all, const shade *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int D = all->shown;
    const corner *estimate = &all[f->sources - 1];
    for (int r = 0; r < D; r++)
        for (int q = 0; q < D; q++) {
            char name_x[16], name_y[16];
            const box at = panel_box(g, r * D + q);
            factor_name(f->domain, all->factor[q], name_x);
            factor_name(f->domain, all->factor[r], name_y);
            const axis x = figure_angle_axis(f, name_x), y = figure_angle_axis(f, name_y);
            unsigned parts = r == D - 1 ? (q == D - 1 ? 0 : AXES_NO_X_END) : AXES_NO_X_LABELS | AXES_NO_X_NAME;
            parts |= r > 1 ? AXES_NO_Y_END : 0;
            parts |= q == 0 && r > 0 ? 0 : AXES_NO_Y_LABELS | AXES_NO_Y_NAME;
            if (r == q)
                TRY(corner_diagonal(f, at, all, r, parts, &x, err));
            if (r == q || (r < q && f->sources == 1))
                continue;
            TRY(corner_map(f, at, r > q ? &estimate->two[q][r] : &all[0].two[r][q], r < q, h, err));
            if (f->ask->data != NULL && r > q)
                map_torus_data(f, at, f->domain->factor[all->factor[q]].column,
                               f->domain->factor[all->factor[r]].column);
            axes_draw(f->page, at, &x, &y, parts);
        }
done:
    return st;
}

static void corner_range(const figure *f, const corner *all, double *least, double *most)
{
    *least = INFINITY, *most = -INFINITY;
    for (int k = 0; k < f->sources; k++)
        for (int a = 0; a < all->shown; a++)
            for (int b = a + 1; b < all->shown; b++) {
                double low, high;
                sheet_range(&all[k].two[a][b], &low, &high);
                *least = fmin(*least, low);
                *most = fmax(*most, high);
            }
}

static npmd_status corner_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    corner *all = NULL;
    double least, most;
    char words[400];
    if (f->ask->what == NPMD_PLOT_SPREAD)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "the spread is drawn on S1, T2 and S2, not of marginals");
    TRY(memory_new(&all, f->sources, err));
    for (int k = 0; k < f->sources; k++)
        TRY(corner_fill(f, &f->from[k], &all[k], err));
    const int D = all->shown;
    if (D < 2)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "a corner plot shows two factors or more; `factors` names %d", D));
    corner_range(f, all, &least, &most);
    const shade h = figure_shade(f, figure_quantity(f, 2, false), least, most, 0);
    const double width = figure_width(f, PAGE_MM), top = EDGE + figure_top(f) + 4.0;
    const axis x = figure_angle_axis(f, "x");
    const margins m = axes_margins((box){ 0.0, 0.0, width / D, width / D }, &x, &x, 0);
    const double aside = f->sources > 1 ? BAR + GAP + bar_room((box){ 0.0, 0.0, BAR, width / D }, &h) : 4.0;
    const double side = (width - 2.0 * EDGE - m.left - aside - (D - 1) * GAP) / D;
    const panel_grid g = { EDGE + m.left, top, side, side, GAP, GAP, D };
    const double below = top + D * side + (D - 1) * GAP;
    TRY(figure_room(f, width, D, side, 24.0, err));
    TRY(figure_page(f, width, below + m.bottom + 13.0, err));
    TRY(corner_cells(f, &g, all, &h, err));
    /* the bar stands where the corner is empty, or beside it all */
    const box first = panel_box(&g, 0), last = panel_box(&g, D - 1);
    bar_draw(f->page, (box){ f->sources > 1 ? last.x + side + GAP : last.x + 0.3 * side, first.y, BAR, side }, &h);
    panel_lines_words(f, words);
    if (!corner_exact(f))
        snprintf(words + strlen(words), sizeof words - strlen(words), " Made of 200,000 draws.");
    if (f->sources > 1)
        snprintf(words + strlen(words), sizeof words - strlen(words), " Below the diagonal: %s; above: %s.",
                 f->from[1].name, f->from[0].name);
    figure_note(f, g.x, canvas_height(f->page) - EDGE, width - g.x - EDGE, words);
    figure_shows(f, f->sources > 1 ? D * D : D * (D + 1) / 2, &h.scale);
done:
    for (int k = 0; all != NULL && k < f->sources; k++)
        corner_free(&all[k]);
    memory_free(all);
    return st;
}

const figure_kind KIND_CORNER = { .name = "corner",
                                  .help = "T^D: all one- and two-factor marginals",
                                  .fits = corner_fits,
                                  .wants = "one model on a torus, and its truth",
                                  .takes = corner_takes,
                                  .uses = USES_FACTORS | USES_RANGE | USES_LEVELS | USES_WHAT | USES_LOG | USES_GRID
                                          | USES_DATA,
                                  .draw = corner_draw };
