/* figure.c - what all kinds of figures share: the page, scales, the data as dots, texts. */
#include "figures.h"

#include <stdio.h>

double figure_width(const figure *f, double usual_mm)
{
    return POINTS_PER_MM * (f->ask->width_mm > 0.0 ? f->ask->width_mm : usual_mm);
}

/* A tenth more than it seems: larger panels have more labels. */
npmd_status figure_room(const figure *f, double width, int panels, double each, double least, npmd_error *err)
{
    if (each >= least)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "%s %.0f mm wide leaves no room for what it shows: `width-mm` %.0f is enough",
                     f->ask->width_mm > 0.0 ? "a picture" : "a picture of the usual width,", width / POINTS_PER_MM,
                     ceil(1.1 * (width + panels * (least - each)) / POINTS_PER_MM));
}

/* Room for a title above all; the kinds leave TITLE_ROOM at the top where there is one. */
npmd_status figure_page(figure *f, double width, double height, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double dpi = f->ask->dpi > 0.0 ? f->ask->dpi : CANVAS_DPI;
    TRY(canvas_open(f->path, width, height, dpi, &f->page, err));
    if (f->ask->title != NULL)
        text_fit(f->page, 0.5 * width, 12.0, TEXT_CENTRE, 0.0, &LETTER_TITLE, width - 8.0, f->ask->title);
done:
    return st;
}

double figure_top(const figure *f)
{
    return f->ask->title != NULL ? 16.0 : 0.0;
}

#define RAISED_2 "\xC2\xB2"
const char *figure_quantity(const figure *f, int dimension, bool sphere)
{
    if (f->ask->what == NPMD_PLOT_SPREAD)
        return "spread of the log density";
    if (f->ask->what == NPMD_PLOT_RELATIVE)
        return "density relative to uniform";
    if (sphere)
        return "density per steradian";
    if (dimension == 1)
        return f->ask->coords & NPMD_COORDS_DEGREES ? "density per degree" : "density per rad";
    return "density per rad" RAISED_2;
}

void figure_shows(figure *f, int panels, const axis *scale)
{
    f->facts.panels = panels;
    f->facts.low = scale->from, f->facts.high = scale->to;
}

void figure_given(const figure *f, double *fixed)
{
    double packed[LOOK_COLUMNS];
    npmd_points_row(f->ask->at, 0, packed); /* its factors side by side */
    for (int d = 0, at = 0; d < f->domain->factors; d++)
        if (f->ask->given >> d & 1U) {
            const factor_look *of = &f->domain->factor[d];
            memcpy(fixed + of->column, packed + at, (size_t)of->columns * sizeof *fixed);
            at += of->columns;
        }
}

int figure_rows(const figure *f)
{
    return f->ask->ranges > 0 ? f->ask->ranges : 1;
}

/* Of a linear scale all from 0 to the largest, or, where nothing is above 0, from the least to the largest; of a
 * logarithmic one what is above a 10,000th of it. */
#define LOG_DEPTH 1e-4
shade figure_shade(const figure *f, const char *name, double least, double most, int row)
{
    shade s = { .map = MAP_RISING, .scale = { .kind = f->ask->log_scale ? AXIS_LOG : AXIS_LINEAR, .name = name } };
    const bool given = row < f->ask->ranges, negative = !f->ask->log_scale && most <= 0.0 && least < 0.0;
    s.scale.to = given ? f->ask->range[2 * row + 1] : most > 1e-300 || negative ? most : 1.0;
    s.scale.from = given               ? f->ask->range[2 * row]
                   : f->ask->log_scale ? fmax(least, LOG_DEPTH * s.scale.to)
                   : negative          ? least
                                       : 0.0;
    if (!(s.scale.from < s.scale.to)) /* a constant function: on a log scale, or below 0 */
        s.scale.from = s.scale.to - 0.9 * fabs(s.scale.to);
    s.below = least < s.scale.from - 1e-9 * fabs(s.scale.from) - 1e-300;
    s.above = most > s.scale.to + 1e-9 * fabs(s.scale.to);
    return s;
}

size_t figure_data(figure *f, size_t most)
{
    const size_t n = f->ask->data == NULL ? 0 : npmd_points_count(f->ask->data);
    f->facts.data = n < most ? n : most;
    return f->facts.data;
}

size_t figure_datum(const figure *f, size_t k)
{
    const size_t n = npmd_points_count(f->ask->data);
    return f->facts.data == n ? k : (size_t)rng_permute(rng_key_make(0, RNG_TEST, 0), k, n);
}

/* Dots of the least size would cover at most an eighth of the area, and 20,000 are enough for any eye; fewer are
 * larger, until all together cover about a twelfth. */
#define LEAST_DOT 0.3
#define MOST_DOTS 20000.0
static const colour DOT = { 255, 140, 60 };
void figure_dots(figure *f, double side, dot_place where, void *user)
{
    enum { RUN = 256 };
    const double room = 0.12 * side * side / (NPMD_PI * LEAST_DOT * LEAST_DOT);
    const size_t count = figure_data(f, (size_t)fmin(room, MOST_DOTS));
    const double radius = fmin(fmax(side * sqrt(0.08 / (NPMD_PI * (double)(count > 0 ? count : 1))), LEAST_DOT), 1.1);
    spot run[RUN];
    size_t held = 0;
    for (size_t k = 0; k < count; k++) {
        double row[LOOK_COLUMNS];
        npmd_points_row(f->ask->data, figure_datum(f, k), row);
        held += where(row, user, &run[held]) ? 1 : 0;
        if (held == RUN || k + 1 == count) {
            canvas_discs(f->page, run, held, radius, DOT, 0.35);
            held = 0;
        }
    }
}

void figure_note(figure *f, double x, double y, double width, const char *text)
{
    text_fit(f->page, x, y, TEXT_LEFT, 0.0, &LETTER_SMALL, width, text);
}

axis figure_angle_axis(const figure *f, const char *name)
{
    const bool degrees = (f->ask->coords & NPMD_COORDS_DEGREES) != 0;
    return (axis){ degrees ? AXIS_DEGREES : AXIS_PI, 0.0, degrees ? 360.0 : TWO_PI, name };
}

void factor_name(const domain_look *dom, int factor, char text[16])
{
    const int number = factor + 1; /* at most 16; lowered digits are E2 82 80 and on */
    char tens[4] = "", ones[4] = { (char)0xE2, (char)0x82, (char)(0x80 + number % 10), 0 };
    if (number >= 10)
        memcpy(tens, (const char[]){ (char)0xE2, (char)0x82, (char)0x81, 0 }, 4);
    if (dom->factors == 1)
        snprintf(text, 16, "x");
    else
        snprintf(text, 16, "x%s%s", tens, ones);
}
