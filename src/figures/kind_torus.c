/* kind_torus.c - densities on T2 as maps, side by side on one scale; with several ranges, one row of maps for each. */
#include "figures.h"

#define GAP 9.0
#define BAR 7.0
#define EDGE 4.0

static bool torus_fits(const figure *f)
{
    return f->domain != NULL && f->domain->torus && f->domain->factors == 2;
}

typedef struct torus_page { /* where things stand */
    int columns, rows;      /* of panels within one range */
    panel_grid grid;
    double width, height, bar_x;
    margins around; /* of a panel, from its axes */
} torus_page;

/* Panels are as large as the width leaves; all but the first of a row have no labels at their side. */
static torus_page torus_layout(const figure *f, const axis *x, const axis *y, const shade *shades, int ranges)
{
    torus_page p = { .columns = f->sources <= 4 ? f->sources : (f->sources + 1) / 2 };
    const double usual = f->sources == 1 ? COLUMN_MM : f->sources == 2 ? 140.0 : PAGE_MM;
    double bar = 0.0;
    p.rows = (f->sources + p.columns - 1) / p.columns;
    p.width = figure_width(f, usual);
    const box rough = { 0.0, 0.0, p.width / p.columns, p.width / p.columns };
    for (int r = 0; r < ranges; r++)
        bar = fmax(bar, bar_room((box){ 0.0, 0.0, BAR, rough.height }, &shades[r]));
    p.around = axes_margins(rough, x, y, 0);
    const double side = (p.width - 2.0 * EDGE - p.around.left - GAP - BAR - bar - (p.columns - 1) * GAP) / p.columns;
    const double above = f->sources > 1 ? 13.0 : 4.0;
    p.grid = (panel_grid){
        EDGE + p.around.left, EDGE + figure_top(f) + above, side, side, GAP, p.around.bottom + above + 2.0, p.columns
    };
    p.bar_x = p.grid.x + p.columns * side + p.columns * GAP;
    p.height = p.grid.y + p.rows * ranges * side + (p.rows * ranges - 1) * p.grid.between_y + p.around.bottom + 11.0;
    return p;
}

static npmd_status torus_panel(figure *f, const torus_page *p, int k, int row, const sheet *s, const shade *h,
                               const axis *x, const axis *y, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    map_lines lines;
    const int cell = row * p->columns * p->rows + k;
    const box at = panel_box(&p->grid, cell);
    TRY(map_levels(f, s, &lines, err));
    TRY(map_torus(f, at, s, h, &lines, err));
    if (f->ask->data != NULL)
        map_torus_data(f, at, 0, 1);
    axes_draw(f->page, at, x, y,
              (cell % p->columns == 0 ? 0 : AXES_NO_Y_LABELS | AXES_NO_Y_NAME)
                  | (cell % p->columns == p->columns - 1 ? 0 : AXES_NO_X_END));
    if (f->sources > 1)
        title_draw(f->page, at, f->from[k].name);
done:
    return st;
}

static npmd_status torus_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    sheet *sheets = NULL;
    shade shades[RANGES_MOST];
    double least, most;
    char words[160];
    const view whole = { .shown = 3 };
    const int ranges = figure_rows(f);
    const axis x = figure_angle_axis(f, "x\xE2\x82\x81"), y = figure_angle_axis(f, "x\xE2\x82\x82");
    f->expected = 240.0 * 240.0 * f->sources;
    TRY(panel_sheets(f, SHEET_TORUS, f->ask->grid > 0 ? f->ask->grid : 240, &whole, &sheets, err));
    panel_range(sheets, f->sources, &least, &most);
    for (int r = 0; r < ranges; r++)
        shades[r] = figure_shade(f, figure_quantity(f, 2, false), least, most, r);
    const torus_page p = torus_layout(f, &x, &y, shades, ranges);
    TRY(figure_room(f, p.width, p.columns, p.grid.width, 36.0, err));
    TRY(figure_page(f, p.width, p.height, err));
    for (int r = 0; r < ranges; r++) {
        for (int k = 0; k < f->sources; k++)
            TRY(torus_panel(f, &p, k, r, &sheets[k], &shades[r], &x, &y, err));
        const box first = panel_box(&p.grid, r * p.columns * p.rows);
        bar_draw(f->page, (box){ p.bar_x, first.y, BAR, first.height }, &shades[r]);
    }
    panel_lines_words(f, words);
    figure_note(f, p.grid.x, p.height - EDGE, p.width - p.grid.x - EDGE, words);
    figure_shows(f, f->sources * ranges, &shades[0].scale);
done:
    panel_sheets_free(f, sheets);
    return st;
}

const figure_kind KIND_TORUS = { .name = "torus",
                                 .help = "T2: maps side by side, with contours of probability content and the data",
                                 .fits = torus_fits,
                                 .wants = "models on T2",
                                 .takes = torus_fits,
                                 .uses = USES_RANGES | USES_LEVELS | USES_WHAT | USES_LOG | USES_GRID | USES_DATA,
                                 .draw = torus_draw };
