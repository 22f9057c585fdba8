/* kind_factors.c - densities on products: the marginal density of each factor, a map for a sphere and a curve for a
 * circle; or, given a point of some factors, their marginal densities with that point marked and the conditional
 * densities of the others. */
#include "figures.h"

#include <stdio.h>

#define EDGE 4.0
#define GAP 12.0
#define BAR 5.5
#define ABOVE 13.0
#define MOST_PARTS 4

static bool factors_takes(const figure *f)
{
    return f->domain != NULL && !f->domain->surfaces && f->domain->factors >= 2;
}

static int bits_count(unsigned bits)
{
    int n = 0;
    for (; bits != 0; bits &= bits - 1)
        n++;
    return n;
}

/* Of a torus some marginals: those of T2, or a single one; several of more angles are a corner plot. */
static bool factors_fits(const figure *f)
{
    return factors_takes(f)
           && (f->ask->given != 0 || !f->domain->torus || bits_count(f->ask->factors) == 1
               || (f->ask->factors != 0 && f->domain->factors == 2));
}

typedef struct factor_part { /* one panel, for every source */
    view what;
    sheet_shape shape;
    int factor;         /* the first that is shown */
    int second;         /* and the other of a torus */
    const double *mark; /* a point that is marked; NULL: none */
    sheet *sheets;      /* (sources) */
    shade shade;
    char title[136];
    const char *quantity;
} factor_part;

typedef struct factor_page {
    int parts;
    factor_part part[MOST_PARTS];
    double fixed[LOOK_COLUMNS];
} factor_page;

/* ---- Which panels ------------------------------------------------------------------------------------------------ */

static void point_words(const figure *f, unsigned given, const double *row, char *text, size_t size)
{
    text[0] = 0;
    for (int d = 0; d < f->domain->factors; d++) {
        const double *x = row + f->domain->factor[d].column;
        char name[16];
        if (!(given >> d & 1))
            continue;
        factor_name(f->domain, d, name);
        snprintf(text + strlen(text), size - strlen(text), "%s%s = ", text[0] == 0 ? "" : ", ", name);
        if (f->domain->factor[d].kind == FACTOR_SPHERE) {
            const double north = asin(fmin(fmax(x[2], -1.0), 1.0)) * 180.0 / NPMD_PI,
                         east = atan2(x[1], x[0]) * 180.0 / NPMD_PI;
            snprintf(text + strlen(text), size - strlen(text), "%.4g\xC2\xB0 %s %.4g\xC2\xB0 %s", fabs(north),
                     north < 0.0 ? "S" : "N", fabs(east), east < 0.0 ? "W" : "E");
        } else if (f->ask->coords & NPMD_COORDS_DEGREES) {
            snprintf(text + strlen(text), size - strlen(text), "%.4g\xC2\xB0", x[0] * 180.0 / NPMD_PI);
        } else {
            snprintf(text + strlen(text), size - strlen(text), "%.4g", x[0]);
        }
    }
}

static npmd_status part_add(const figure *f, factor_page *p, unsigned shown, unsigned given, npmd_error *err)
{
    const domain_look *dom = f->domain;
    factor_part *part = &p->part[p->parts];
    char names[40] = "", where[80];
    if (p->parts == MOST_PARTS)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "there is room for %d marginals; choose some with `factors`",
                         MOST_PARTS);
    *part = (factor_part){ .what = { shown, given, p->fixed }, .factor = -1, .second = -1 };
    for (int d = 0; d < dom->factors; d++)
        if (shown >> d & 1) {
            char name[16];
            factor_name(dom, d, name);
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] == 0 ? "" : ", ", name);
            *(part->factor < 0 ? &part->factor : &part->second) = d;
        }
    const bool sphere = dom->factor[part->factor].kind == FACTOR_SPHERE;
    part->shape = part->second >= 0 ? SHEET_TORUS : sphere ? SHEET_SPHERE : SHEET_CIRCLE;
    point_words(f, given, p->fixed, where, sizeof where);
    if (given == 0)
        snprintf(part->title, sizeof part->title, "marginal density of %s", names);
    else
        snprintf(part->title, sizeof part->title, "%s given %s", names, where);
    part->quantity = figure_quantity(f, part->shape == SHEET_TORUS ? 2 : 1, sphere);
    p->parts++;
    return NPMD_OK;
}

/* The given factors' marginals with the point on them, then the conditional density. */
static npmd_status parts_given(const figure *f, factor_page *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const domain_look *dom = f->domain;
    const unsigned all = (1U << dom->factors) - 1, given = f->ask->given & all;
    const unsigned shown = f->ask->factors == 0 ? all & ~given : f->ask->factors & ~given;
    if (f->ask->at == NULL || shown == 0 || (f->ask->factors & given) != 0)
        TRY(npmd_fail(
            err, NPMD_ERR_ARGUMENT,
            "a conditional density needs the given factors, a point of them (`at`), and other factors to show"));
    figure_given(f, p->fixed);
    for (int d = 0; d < dom->factors; d++)
        if (given >> d & 1) {
            TRY(part_add(f, p, 1U << d, 0, err));
            p->part[p->parts - 1].mark = p->fixed + dom->factor[d].column;
        }
    bool circles = bits_count(shown) == 2;
    for (int d = 0; d < dom->factors; d++)
        circles = circles && (!(shown >> d & 1) || dom->factor[d].kind == FACTOR_CIRCLE);
    if (circles)
        TRY(part_add(f, p, shown, given, err));
    for (int d = 0; d < dom->factors && !circles; d++)
        if (shown >> d & 1)
            TRY(part_add(f, p, 1U << d, given, err));
done:
    return st;
}

static npmd_status parts_choose(const figure *f, factor_page *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (f->ask->given != 0)
        return parts_given(f, p, err);
    for (int d = 0; d < f->domain->factors; d++)
        if (f->ask->factors == 0 || f->ask->factors >> d & 1)
            TRY(part_add(f, p, 1U << d, 0, err));
done:
    return st;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* Nodes along a side: the finer, the fewer factors are integrated out at each. */
static int part_nodes(const figure *f, const factor_part *part)
{
    const int rest = f->domain->factors - bits_count(part->what.shown | part->what.given);
    if (f->ask->grid > 0)
        return f->ask->grid;
    if (part->shape == SHEET_CIRCLE)
        return 180;
    if (part->shape == SHEET_TORUS)
        return rest == 0 ? 200 : 64;
    return rest == 0 ? 120 : 48;
}

static npmd_status part_fill(figure *f, factor_part *part, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double least, most;
    TRY(panel_sheets(f, part->shape, part_nodes(f, part), &part->what, &part->sheets, err));
    panel_range(part->sheets, f->sources, &least, &most);
    part->shade = figure_shade(f, part->quantity, least, most, 0);
done:
    return st;
}

/* One range suits panels of one quantity. */
static npmd_status parts_range(const figure *f, const factor_page *p, npmd_error *err)
{
    for (int k = 1; k < p->parts && f->ask->ranges > 0; k++)
        if (strcmp(p->part[k].quantity, p->part[0].quantity) != 0)
            return npmd_fail(
                err, NPMD_ERR_ARGUMENT,
                "`range` would be one range for panels of different quantities, '%s' and '%s': leave it out, "
                "or choose some by `factors`",
                p->part[0].quantity, p->part[k].quantity);
    return NPMD_OK;
}

/* ---- The picture ------------------------------------------------------------------------------------------------- */

/* The curve of one source, or, k negative, of all of them. */
static npmd_status curve_panel(figure *f, box cell, const factor_part *part, int k, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    curve_set curves = { 0 };
    double bars[HISTOGRAM_BARS], most = part->shade.scale.to;
    char name[16];
    factor_name(f->domain, part->factor, name);
    axis x = figure_angle_axis(f, name), y = { .kind = part->shade.scale.kind, .name = part->quantity };
    const bool histogram = f->ask->data != NULL && part->what.given == 0;
    if (histogram)
        most = fmax(most, panel_histogram(f, f->domain->factor[part->factor].column, bars));
    if (f->ask->ranges > 0)
        y.from = part->shade.scale.from, y.to = part->shade.scale.to;
    else
        axis_fit(&y, part->shade.scale.from, most);
    const margins m = axes_margins(cell, &x, &y, 0);
    const box at = { cell.x + m.left, cell.y, cell.width - m.left - m.right, cell.height - m.bottom };
    for (int i = k < 0 ? 0 : k; i < (k < 0 ? f->sources : k + 1); i++)
        TRY(panel_curve(f, &part->sheets[i], k < 0 && f->sources > 1 ? f->from[i].name : "", &curves, err));
    if (histogram)
        panel_histogram_draw(f, at, &y, bars);
    curves_draw(f->page, at, &curves, &x, &y);
    axes_draw(f->page, at, &x, &y, 0);
    curves_legend(f->page, at, 1, &curves, &x, &y);
    if (part->mark != NULL) {
        const stroke red = { .width = 1.0, .ink = { 214, 40, 57 } };
        const double place = at.x + at.width * part->mark[0] / TWO_PI;
        canvas_line(f->page, place, at.y, place, at.y + at.height, &red);
    }
done:
    curves_free(&curves);
    return st;
}

static npmd_status map_panel(figure *f, box cell, const factor_part *part, int k, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    map_lines lines;
    const sheet *s = &part->sheets[k];
    const globe all = { .whole = true };
    const bool data = f->ask->data != NULL && part->what.given == 0;
    const box bar = { cell.x + 0.12 * cell.width, 0.0, 0.76 * cell.width, BAR };
    const double room = BAR + bar_room(bar, &part->shade) + 5.0;
    TRY(map_levels(f, s, &lines, err));
    if (part->shape == SHEET_TORUS) {
        char name_x[16], name_y[16];
        factor_name(f->domain, part->factor, name_x);
        factor_name(f->domain, part->second, name_y);
        const axis x = figure_angle_axis(f, name_x), y = figure_angle_axis(f, name_y);
        const margins m = axes_margins(cell, &x, &y, 0);
        const double side = fmin(cell.width - m.left - m.right, cell.height - m.bottom - room);
        const box at = { cell.x + m.left, cell.y, side, side };
        TRY(map_torus(f, at, s, &part->shade, &lines, err));
        axes_draw(f->page, at, &x, &y, 0);
        bar_draw(f->page, (box){ at.x, at.y + side + m.bottom + 5.0, side, BAR }, &part->shade);
        goto done;
    }
    const double high = fmin(0.5 * cell.width, cell.height - room);
    const box at = { cell.x + 0.5 * cell.width - high, cell.y, 2.0 * high, high };
    TRY(map_globe(f, at, s, &part->shade, &all, &lines, err));
    if (data)
        map_globe_data(f, at, &all, f->domain->factor[part->factor].column);
    if (part->mark != NULL)
        map_globe_mark(f, at, &all, part->mark);
    bar_draw(f->page, (box){ bar.x, at.y + high + 5.0, bar.width, BAR }, &part->shade);
done:
    return st;
}

static npmd_status factors_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    factor_page p = { 0 };
    char words[160];
    bool torus = false, curves = true; /* curves of all sources share their panels */
    TRY(parts_choose(f, &p, err));
    TRY(parts_range(f, &p, err));
    for (int k = 0; k < p.parts; k++) {
        TRY(part_fill(f, &p.part[k], err));
        torus = torus || p.part[k].shape == SHEET_TORUS;
        curves = curves && p.part[k].shape == SHEET_CIRCLE;
    }
    const int columns = p.parts < 3 ? p.parts : p.parts == 4 ? 2 : p.parts, down = (p.parts + columns - 1) / columns;
    const double width = figure_width(f, columns == 1 ? COLUMN_MM : PAGE_MM);
    const double each = (width - 2.0 * EDGE - (columns - 1) * GAP) / columns;
    const double high = torus ? each + 20.0 : 0.5 * each + 36.0, top = EDGE + figure_top(f) + ABOVE;
    const panel_grid g = { EDGE, top, each, high, GAP, ABOVE + 8.0, columns };
    const int shown = curves ? 1 : f->sources, rows = down * shown;
    TRY(figure_room(f, width, columns, each, 84.0, err));
    TRY(figure_page(f, width, top + rows * high + (rows - 1) * g.between_y + 14.0, err));
    for (int k = 0; k < shown; k++)
        for (int i = 0; i < p.parts; i++) {
            char title[200];
            const factor_part *part = &p.part[i];
            const box cell = panel_box(&g, k * columns * down + i);
            snprintf(title, sizeof title, "%s%s%s", shown > 1 ? f->from[k].name : "", shown > 1 ? ": " : "",
                     part->title);
            text_fit(f->page, cell.x + 0.5 * cell.width, cell.y - 5.0, TEXT_CENTRE, 0.0, &LETTER_TITLE, cell.width,
                     title);
            if (part->shape == SHEET_CIRCLE)
                TRY(curve_panel(f, cell, part, curves ? -1 : k, err));
            else
                TRY(map_panel(f, cell, part, k, err));
        }
    panel_lines_words(f, words);
    if (!curves)
        figure_note(f, EDGE, canvas_height(f->page) - EDGE, width - 2.0 * EDGE, words);
    figure_shows(f, p.parts * shown, &p.part[p.parts - 1].shade.scale);
done:
    for (int i = 0; i < p.parts; i++)
        panel_sheets_free(f, p.part[i].sheets);
    return st;
}

const figure_kind KIND_FACTORS = { .name = "factors",
                                   .help = "products: the marginal of each factor; with `given`, conditional densities",
                                   .fits = factors_fits,
                                   .wants = "models on a product of S1 and S2",
                                   .takes = factors_takes,
                                   .uses = USES_FACTORS | USES_GIVEN | USES_RANGE | USES_LEVELS | USES_WHAT | USES_LOG
                                           | USES_GRID | USES_DATA,
                                   .draw = factors_draw };
