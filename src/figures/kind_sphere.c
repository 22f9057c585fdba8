/* kind_sphere.c - densities on S2: Mollweide's map of the whole sphere, and two views from opposite sides; one row for
 * each source.
 *
 * The views are from the mean direction of the first model's mass and from the opposite side; where there is no mean
 * direction, from 0 and 180 degrees east on the equator. */
#include "figures.h"

#define EDGE 4.0
#define GAP 8.0
#define BAR 6.0

static bool sphere_fits(const figure *f)
{
    return f->domain != NULL && f->domain->factors == 1 && f->domain->factor[0].kind == FACTOR_SPHERE;
}

static void sphere_views(const sheet *s, globe side[2])
{
    double mean[3] = { 0.0 };
    for (size_t k = 0; k < (size_t)s->columns * (size_t)s->rows; k++)
        for (int d = 0; d < 3; d++)
            mean[d] += s->weight[k] * exp(s->value[k]) * s->x[3 * k + (size_t)d] * s->volume;
    double length = sqrt(dot3(mean, mean));
    if (s->unit == 0.0 || length < 0.05)
        mean[0] = 1.0, mean[1] = mean[2] = 0.0, length = 1.0;
    for (int d = 0; d < 3; d++) {
        side[0].towards[d] = mean[d] / length;
        side[1].towards[d] = -mean[d] / length;
    }
    side[0].whole = side[1].whole = false;
}

static npmd_status sphere_row(figure *f, double x, double y, double high, const sheet *s, const shade *h,
                              const globe side[3], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    map_lines lines;
    const double left[3] = { x, x + 2.0 * high + GAP, x + 3.0 * high + 2.0 * GAP };
    TRY(map_levels(f, s, &lines, err));
    for (int k = 0; k < 3; k++) {
        const box at = { left[k], y, k == 0 ? 2.0 * high : high, high };
        TRY(map_globe(f, at, s, h, &side[k], &lines, err));
        if (f->ask->data != NULL)
            map_globe_data(f, at, &side[k], 0);
        if (k > 0) {
            char words[48];
            globe_words(&side[k], words);
            text_fit(f->page, at.x + 0.5 * at.width, y + high + 9.0, TEXT_CENTRE, 0.0, &LETTER_SMALL, high, words);
        }
    }
    figure_note(f, x, y + high + 9.0, 2.0 * high,
                "all of the sphere (Mollweide), 0\xC2\xB0 in the middle; lines every 30\xC2\xB0");
done:
    return st;
}

static npmd_status sphere_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    sheet *sheets = NULL;
    globe side[3] = { { .whole = true }, { .whole = false }, { .whole = false } };
    double least, most;
    char words[160];
    const view whole = { .shown = 1 };
    const int N = f->ask->grid > 0 ? f->ask->grid : 180;
    f->expected = 2.0 * N * N * f->sources;
    TRY(panel_sheets(f, SHEET_SPHERE, N, &whole, &sheets, err));
    panel_range(sheets, f->sources, &least, &most);
    sphere_views(&sheets[f->sources - 1], side + 1);
    const shade h = figure_shade(f, figure_quantity(f, 2, true), least, most, 0);
    const double width = figure_width(f, PAGE_MM), high = (width - 2.0 * EDGE - 2.0 * GAP) / 4.0;
    const double title = f->sources > 1 ? 12.0 : 0.0, each = high + 14.0 + title;
    const double top = EDGE + figure_top(f), bar_y = top + each * f->sources + 2.0;
    const box bar = { 0.25 * width, bar_y, 0.5 * width, BAR };
    TRY(figure_page(f, width, bar_y + BAR + bar_room(bar, &h) + 10.0, err));
    for (int k = 0; k < f->sources; k++) {
        const double y = top + each * k + title;
        if (title > 0.0)
            text_fit(f->page, EDGE, y - 2.0, TEXT_LEFT, 0.0, &LETTER_TITLE, high, f->from[k].name);
        TRY(sphere_row(f, EDGE, y, high, &sheets[k], &h, side, err));
    }
    bar_draw(f->page, bar, &h);
    panel_lines_words(f, words);
    figure_note(f, EDGE, canvas_height(f->page) - EDGE, width - 2.0 * EDGE, words);
    figure_shows(f, 3 * f->sources, &h.scale);
done:
    panel_sheets_free(f, sheets);
    return st;
}

const figure_kind KIND_SPHERE = { .name = "sphere",
                                  .help = "S2: Mollweide's map and two views from opposite sides",
                                  .fits = sphere_fits,
                                  .wants = "models on S2",
                                  .takes = sphere_fits,
                                  .uses = USES_RANGE | USES_LEVELS | USES_WHAT | USES_LOG | USES_GRID | USES_DATA,
                                  .draw = sphere_draw };
