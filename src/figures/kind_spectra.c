/* kind_spectra.c - Fourier coefficients of truth and estimates on T2 while they are fitted (Figure S5): moduli on a log
 * scale, over all frequencies kept and, beside it, the lowest ones. The density is real, so (k1, k2) and (-k1, -k2)
 * have one modulus. From the first replicate of each row of reproduce spectral-bias. */
#include "figures.h"

#include <stdio.h>

#define HIGHEST 16
#define ZOOMED 6
#define SIDE (2 * HIGHEST + 1)
#define MOST_LOOKS 4
#define MOST_METHODS 8
#define EDGE 4.0
#define GAP 6.0
#define BAR 6.0

static bool spectra_takes(const figure *f)
{
    return figure_experiment(f, "spectral-bias");
}

typedef struct spectrum { /* moduli[k1 + HIGHEST][k2 + HIGHEST] */
    double step, modulus[SIDE][SIDE];
} spectrum;
typedef struct spectrum_row {
    char name[96];
    int looks;
    spectrum look[MOST_LOOKS];
} spectrum_row;
typedef struct spectra {
    int rows;
    spectrum_row row[MOST_METHODS];
    spectrum truth;
} spectra;

static void spectrum_put(spectrum *s, int k1, int k2, double modulus)
{
    if (abs(k1) > HIGHEST || abs(k2) > HIGHEST)
        return;
    s->modulus[k1 + HIGHEST][k2 + HIGHEST] = modulus;
    s->modulus[HIGHEST - k1][HIGHEST - k2] = modulus;
}

/* A list of step, k1, k2, estimate, truth; a new step is a new look. */
static void row_read(const json_t *list, spectrum_row *into, spectrum *truth)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const double step = json_number_in(list, i, 0);
        const double k1 = json_number_in(list, i, 1), k2 = json_number_in(list, i, 2);
        if (!(fabs(k1) <= HIGHEST && fabs(k2) <= HIGHEST))
            continue;
        if (into->looks == 0 || into->look[into->looks - 1].step != step) {
            if (into->looks == MOST_LOOKS)
                return;
            into->look[into->looks++].step = step;
        }
        spectrum_put(&into->look[into->looks - 1], (int)k1, (int)k2, json_number_in(list, i, 3));
        spectrum_put(truth, (int)k1, (int)k2, json_number_in(list, i, 4));
    }
}

static void spectra_read(const figure *f, spectra *out)
{
    for (int k = 0; k < f->logs; k++)
        for (size_t i = 0; i < json_array_size(f->log[k].rows) && out->rows < MOST_METHODS; i++) {
            const json_t *row = json_array_get(f->log[k].rows, i), *list = json_object_get(row, "spectrum");
            if (json_number_at(row, "replicate") != 1.0 || !json_is_array(list) || json_array_size(list) == 0)
                continue;
            spectrum_row *into = &out->row[out->rows++];
            figure_method(row, into->name);
            row_read(list, into, &out->truth);
        }
}

/* Coefficients as squares of one colour, k1 to the right and k2 upwards; each is several pixels wide, so that a reader
 * of the picture does not blur them into each other. */
#define FINE 8
static npmd_status spectrum_draw(figure *f, box at, const spectrum *s, int highest, const shade *h, unsigned parts,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int side = FINE * (2 * highest + 1);
    unsigned char *rgba = NULL;
    const axis x = { .kind = AXIS_LINEAR, .from = -highest - 0.5, .to = highest + 0.5, .name = "k\xE2\x82\x81" },
               y = { .kind = AXIS_LINEAR, .from = -highest - 0.5, .to = highest + 0.5, .name = "k\xE2\x82\x82" };
    TRY(memory_new(&rgba, 4 * (size_t)side * (size_t)side, err));
    for (int v = 0; v < side; v++)
        for (int u = 0; u < side; u++) {
            const int k1 = u / FINE - highest, k2 = highest - v / FINE;
            const colour ink = shade_colour(h, s->modulus[k1 + HIGHEST][k2 + HIGHEST]);
            const unsigned char pixel[4] = { ink.red, ink.green, ink.blue, 255 };
            memcpy(rgba + 4 * ((size_t)v * (size_t)side + (size_t)u), pixel, 4);
        }
    canvas_image(f->page, at, rgba, side, side);
    axes_draw(f->page, at, &x, &y, parts);
done:
    memory_free(rgba);
    return st;
}

/* Two panels: all frequencies, and the lowest. */
static npmd_status spectrum_pair(figure *f, const panel_grid *g, int cell, const spectrum *s, const shade *h, bool last,
                                 const char *title, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const box all = panel_box(g, cell), near = panel_box(g, cell + 1);
    const unsigned below = last ? 0 : AXES_NO_X_NAME, beside = cell % g->columns == 0 ? 0 : AXES_NO_Y_NAME;
    TRY(spectrum_draw(f, all, s, HIGHEST, h, below | beside, err));
    TRY(spectrum_draw(f, near, s, ZOOMED, h, below | AXES_NO_Y_NAME, err));
    text_fit(f->page, all.x, all.y - 4.0, TEXT_LEFT, 0.0, &LETTER_LABEL, near.x + near.width - all.x, title);
done:
    return st;
}

static npmd_status spectra_panels(figure *f, const spectra *s, const panel_grid *g, const shade *h, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(spectrum_pair(f, g, 0, &s->truth, h, s->rows == 0, "truth", err));
    for (int r = 0; r < s->rows; r++)
        for (int k = 0; k < s->row[r].looks; k++) {
            char title[160];
            snprintf(title, sizeof title, "%s: step %.0f", s->row[r].name, s->row[r].look[k].step);
            TRY(spectrum_pair(f, g, (r + 1) * g->columns + 2 * k, &s->row[r].look[k], h, r == s->rows - 1, title, err));
        }
done:
    return st;
}

static npmd_status spectra_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    spectra *s = NULL;
    int looks = 1;
    TRY(memory_new(&s, 1, err));
    spectra_read(f, s);
    if (s->rows == 0)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "%s holds no spectra", f->log[0].path));
    for (int r = 0; r < s->rows; r++)
        looks = s->row[r].looks > looks ? s->row[r].looks : looks;
    /* the constant is 1; what is below 1e-4 of it cannot be seen in a density either */
    const shade h = { .map = MAP_RISING,
                      .scale = { AXIS_LOG, 1e-4, 1.0, "modulus of the coefficient" },
                      .below = true };
    const double width = figure_width(f, PAGE_MM), left = 24.0, top = EDGE + figure_top(f) + 11.0;
    const int columns = 2 * looks;
    const double side = (width - 2.0 * EDGE - left - (columns - 1) * (GAP + 14.0)) / columns;
    const panel_grid g = { EDGE + left, top, side, side, GAP + 14.0, 28.0, columns };
    const int rows = s->rows + 1;
    TRY(figure_room(f, width, columns, side, 24.0, err));
    TRY(figure_page(f, width, top + rows * side + (rows - 1) * g.between_y + 30.0, err));
    TRY(spectra_panels(f, s, &g, &h, err));
    const box beside = panel_box(&g, 2);
    bar_draw(f->page,
             (box){ looks > 1 ? beside.x + 10.0 : width - 60.0, top + 0.3 * side, looks > 1 ? 1.6 * side : BAR,
                    looks > 1 ? BAR : 0.6 * side },
             &h);
    figure_shows(f, 2 + 2 * s->rows * looks, &h.scale);
done:
    memory_free(s);
    return st;
}

const figure_kind KIND_SPECTRA = {
    .name = "spectra",
    .help = "reproduce spectral-bias (Figure S5): Fourier coefficients while fitting",
    .fits = NULL, /* learning curves are what such a file shows unless it is told otherwise */
    .wants = "results of reproduce spectral-bias",
    .takes = spectra_takes,
    .draw = spectra_draw
};
