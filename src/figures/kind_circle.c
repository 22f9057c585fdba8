/* kind_circle.c - densities on S1 as curves, with the data as a histogram and a rug. */
#include "figures.h"

static bool circle_fits(const figure *f)
{
    return f->domain != NULL && f->domain->torus && f->domain->factors == 1;
}

#define MOST_RUG 2000
static void rug_draw(figure *f, box at)
{
    const stroke how = { .width = 0.3, .ink = INK, .clear = 0.5 };
    const size_t count = figure_data(f, MOST_RUG);
    for (size_t k = 0; k < count; k++) {
        double x;
        npmd_points_row(f->ask->data, figure_datum(f, k), &x);
        const double place = at.x + at.width * x / TWO_PI;
        canvas_line(f->page, place, at.y + at.height, place, at.y + at.height - 3.0, &how);
    }
}

/* The axis of heights: from 0, or of a log scale from a 10,000th of the largest. */
static axis heights(const figure *f, const sheet *sheets, double tallest)
{
    double least, most;
    axis y = { .kind = f->ask->log_scale ? AXIS_LOG : AXIS_LINEAR };
    panel_range(sheets, f->sources, &least, &most);
    const shade s = figure_shade(f, NULL, least, fmax(most, tallest), 0);
    y.name = figure_quantity(f, 1, false);
    if (f->ask->ranges > 0)
        y.from = s.scale.from, y.to = s.scale.to;
    else
        axis_fit(&y, s.scale.from, s.scale.to);
    return y;
}

static npmd_status circle_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    sheet *sheets = NULL;
    curve_set curves = { 0 };
    double bars[HISTOGRAM_BARS], tallest = 0.0;
    const view whole = { .shown = 1 };
    TRY(panel_sheets(f, SHEET_CIRCLE, f->ask->grid > 0 ? f->ask->grid : 720, &whole, &sheets, err));
    for (int k = 0; k < f->sources; k++)
        TRY(panel_curve(f, &sheets[k], f->from[k].name, &curves, err));
    const bool histogram = f->ask->data != NULL && f->ask->what != NPMD_PLOT_SPREAD;
    if (histogram)
        tallest = panel_histogram(f, 0, bars);
    const axis x = figure_angle_axis(f, "x"), y = heights(f, sheets, tallest);
    const double width = figure_width(f, COLUMN_MM), height = 0.68 * width + figure_top(f);
    const box rough = { 0.0, 0.0, width, height };
    const margins m = axes_margins(rough, &x, &y, 0);
    const box at = { m.left + 4.0, figure_top(f) + m.top + 4.0, width - m.left - fmax(m.right, 6.0) - 8.0,
                     height - figure_top(f) - m.top - m.bottom - 8.0 };
    TRY(figure_page(f, width, height, err));
    if (histogram) {
        panel_histogram_draw(f, at, &y, bars);
        rug_draw(f, at);
    }
    curves_draw(f->page, at, &curves, &x, &y);
    axes_draw(f->page, at, &x, &y, 0);
    if (f->sources > 1)
        curves_legend(f->page, at, 1, &curves, &x, &y);
    figure_shows(f, 1, &y);
done:
    panel_sheets_free(f, sheets);
    curves_free(&curves);
    return st;
}

const figure_kind KIND_CIRCLE = { .name = "circle",
                                  .help = "S1: the density as a curve, the data as a histogram",
                                  .fits = circle_fits,
                                  .wants = "models on S1",
                                  .takes = circle_fits,
                                  .uses = USES_RANGE | USES_WHAT | USES_LOG | USES_GRID | USES_DATA,
                                  .draw = circle_draw };
