/* panels.c - what the figures of densities share: one sheet for each source, on a common scale. */
#include "figures.h"

#include <stdio.h>

double panel_circle_unit(const figure *f)
{
    if (f->ask->what == NPMD_PLOT_RELATIVE)
        return TWO_PI;
    return f->ask->coords & NPMD_COORDS_DEGREES ? NPMD_PI / 180.0 : 1.0;
}

/* The nodes of a sheet as those of the factors that it shows: of a torus both angles have the same. */
static figure_nodes sheet_nodes_of(const figure *f, const sheet *s, unsigned shown)
{
    figure_nodes at = { 0 };
    for (int d = 0; d < f->domain->factors; d++)
        if (shown >> d & 1) {
            at.x[d] = s->x;
            at.n[d] = s->shape == SHEET_SPHERE ? (size_t)s->columns * (size_t)s->rows : (size_t)s->columns;
        }
    return at;
}

npmd_status panel_sheets(figure *f, sheet_shape shape, int N, const view *v, sheet **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_plot_what what = f->ask->what;
    const unsigned all = (1U << f->domain->factors) - 1;
    if (what == NPMD_PLOT_SPREAD && v->shown != all)
        return npmd_fail(
            err, NPMD_ERR_ARGUMENT,
            "the spread is drawn of whole densities on S1, T2 and S2, not of marginal or conditional ones");
    TRY(memory_new(out, f->sources, err));
    for (int k = 0; k < f->sources; k++) {
        sheet *s = &(*out)[k];
        TRY(sheet_open(shape, N, s, err));
        const figure_nodes nodes = sheet_nodes_of(f, s, v->shown);
        if (what == NPMD_PLOT_SPREAD) {
            s->unit = 0.0;
            TRY(source_values(f, &f->from[k], true, &nodes, s->value, err));
            TRY(zeros_raise(&f->from[k], s->value, (size_t)s->columns * (size_t)s->rows, err));
            continue;
        }
        TRY(view_values(f, &f->from[k], v, &nodes, s->value, err));
        if (v->given != 0)
            sheet_normalise(s);
        else
            f->facts.mass_error = fmax(f->facts.mass_error, fabs(sheet_mass(s) - 1.0)); /* fmax passes NaN over */
        s->unit = shape == SHEET_CIRCLE ? panel_circle_unit(f) : what == NPMD_PLOT_RELATIVE ? s->volume : 1.0;
    }
done:
    return st;
}

void panel_sheets_free(const figure *f, sheet *sheets)
{
    for (int k = 0; sheets != NULL && k < f->sources; k++)
        sheet_free(&sheets[k]);
    memory_free(sheets);
}

void panel_range(const sheet *sheets, int count, double *least, double *most)
{
    *least = INFINITY, *most = -INFINITY;
    for (int k = 0; k < count; k++) {
        double a, b;
        sheet_range(&sheets[k], &a, &b);
        *least = fmin(*least, a);
        *most = fmax(*most, b);
    }
}

void panel_lines_words(const figure *f, char text[160])
{
    const double *level = NULL;
    const int count = figure_levels(f, &level);
    text[0] = 0;
    if (count < 0 || f->ask->what == NPMD_PLOT_SPREAD)
        return;
    for (int k = 0; k < count && k < 8; k++) {
        char number[AXIS_LABEL];
        number_words(level[k], number);
        snprintf(text + strlen(text), 160 - strlen(text), "%s%s",
                 k == 0          ? "Lines enclose "
                 : k + 1 < count ? ", "
                                 : " and ",
                 number);
    }
    snprintf(text + strlen(text), 160 - strlen(text), " %% of the probability.");
}

npmd_status panel_curve(const figure *f, const sheet *s, const char *name, curve_set *set, npmd_error *err)
{
    enum { POINTS = 721 };
    npmd_status st = NPMD_OK;
    curve *c = NULL;
    const axis a = figure_angle_axis(f, NULL);
    TRY(curve_add(set, POINTS, name, &c, err));
    for (int i = 0; i < POINTS; i++) {
        const double x = TWO_PI * i / (POINTS - 1);
        c->x[i] = a.to * i / (POINTS - 1);
        c->y[i] = sheet_at(s, &x);
    }
done:
    return st;
}

double panel_histogram(const figure *f, int column, double height[HISTOGRAM_BARS])
{
    double total = 0.0, most = 0.0;
    memset(height, 0, HISTOGRAM_BARS * sizeof *height);
    for (size_t i = 0; i < npmd_points_count(f->ask->data); i++) {
        double row[LOOK_COLUMNS];
        npmd_points_row(f->ask->data, i, row);
        const int bar = (int)(row[column] / TWO_PI * HISTOGRAM_BARS);
        const double weight = npmd_points_weight(f->ask->data, i);
        height[bar < HISTOGRAM_BARS ? bar : HISTOGRAM_BARS - 1] += weight;
        total += weight;
    }
    for (int k = 0; k < HISTOGRAM_BARS; k++) {
        height[k] *= panel_circle_unit(f) * HISTOGRAM_BARS / (TWO_PI * total);
        most = fmax(most, height[k]);
    }
    return most;
}

void panel_histogram_draw(figure *f, box at, const axis *y, const double height[HISTOGRAM_BARS])
{
    const colour pale = { 205, 210, 218 };
    const double wide = at.width / HISTOGRAM_BARS, bottom = at.y + at.height;
    canvas_clip(f->page, at);
    for (int k = 0; k < HISTOGRAM_BARS; k++) {
        const double high = at.height * fmin(fmax(axis_place(y, height[k]), 0.0), 1.0);
        if (high > 0.0)
            canvas_box(f->page, (box){ at.x + k * wide + 0.1, bottom - high, wide - 0.2, high }, pale, 0.0);
    }
    canvas_unclip(f->page);
}
