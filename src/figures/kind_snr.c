/* kind_snr.c - convergence diagnostics (Figure S7): the true error, the ISE criterion on held-out points and the
 * signal-to-noise ratios of the gradients against epochs, with running minima marked on the axis. From the results of
 * reproduce diagnostics (the first replicate of each row), or from logs of fits with --snr on. */
#include "figures.h"

#include <stdio.h>

static bool snr_fits(const figure *f)
{
    return figure_experiment(f, "diagnostics");
}

static bool snr_takes(const figure *f)
{
    return snr_fits(f) || figure_of_fits(f);
}

enum { SNR_EPOCH, SNR_AE, SNR_ISE, SNR_A, SNR_B, SNR_C, SNR_COLUMNS };
static const char *const KEYS[SNR_COLUMNS] = { "epoch", "ae", "ise", "snr_a", "snr_b", "snr_c" };
/* Where they stand in a row of the experiment's course: step, epoch, seconds, objective, nise, ae, ise, ise_se, snr_a,
 * ... */
static const size_t COLUMN[SNR_COLUMNS] = { 1, 5, 6, 8, 9, 10 };

typedef struct snr_row { /* where the numbers come from */
    const json_t *rows;  /* a list of lists, or of objects */
    bool objects;
    char name[96];
} snr_row;

static double snr_number(const snr_row *r, size_t i, int column)
{
    return r->objects ? json_number_at(json_array_get(r->rows, i), KEYS[column])
                      : json_number_in(r->rows, i, COLUMN[column]);
}

/* A curve, and where it is below all values before it. */
static npmd_status snr_curve(chart *into, const snr_row *r, int column, const char *name, colour ink, bool marked,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t rows = json_array_size(r->rows);
    double lowest = INFINITY;
    curve *c = NULL, *m = NULL;
    size_t minima = 0;
    TRY(curve_add(&into->curves, rows, name, &c, err));
    c->line.ink = ink;
    for (size_t i = 0; i < rows; i++) {
        c->x[i] = snr_number(r, i, SNR_EPOCH);
        c->y[i] = snr_number(r, i, column);
    }
    if (!marked)
        goto done;
    TRY(curve_add(&into->marks, rows, "", &m, err));
    m->line = (stroke){ .width = 0.5, .ink = ink };
    for (size_t i = 0; i < rows; i++)
        if (c->y[i] < lowest) {
            lowest = c->y[i];
            m->x[minima++] = c->x[i];
        }
    m->count = minima;
done:
    return st;
}

static npmd_status snr_charts(const snr_row *r, int k, bool alone, chart list[3], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const char *const TERM[] = { "data", "integral", "penalty" };
    TRY(snr_curve(&list[0], r, SNR_AE, alone ? "" : r->name, line_colour(k), false, err));
    TRY(snr_curve(&list[1], r, SNR_ISE, alone ? "" : r->name, line_colour(k), true, err));
    static const double DASH[] = { 0.0, 4.0, 1.2 };
    for (int t = 0; t < 3;
         t++) { /* of several fits the colour tells the fit, as in the other panels, the dashes the term */
        TRY(snr_curve(&list[2], r, SNR_A + t, k == 0 ? TERM[t] : "", line_colour(alone ? t : k), true, err));
        stroke *line = &list[2].curves.curve[list[2].curves.count - 1].line;
        line->dash = alone ? 0.0 : DASH[t], line->gap = 2.5;
    }
done:
    return st;
}

/* Rows of an experiment: the first replicate of each method that was done. */
static bool snr_take(const log_lines *l, size_t i, snr_row *out)
{
    const json_t *row = json_array_get(l->rows, i);
    if (!l->experiment) {
        *out = (snr_row){ .rows = l->rows, .objects = true };
        snprintf(out->name, sizeof out->name, "%s", l->name);
        return i == 0;
    }
    *out = (snr_row){ .rows = json_object_get(row, "course") };
    figure_method(row, out->name);
    return json_number_at(row, "replicate") == 1.0 && json_is_array(out->rows);
}

static npmd_status snr_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int rows = 0, drawn = 0;
    snr_row r;
    chart list[3] = {
        { .title = "error against the truth", .y = { .kind = AXIS_LOG, .name = "ae" }, .legend = 1 },
        { .title = "ISE criterion, held out", .y = { .kind = AXIS_LINEAR, .name = "ISE \xC3\x97 Vol" }, .legend = 1 },
        { .title = "signal-to-noise ratio", .y = { .kind = AXIS_LOG, .name = "SNR" }, .legend = 1 }
    };
    for (int k = 0; k < 3; k++)
        list[k].x = (axis){ .kind = AXIS_LINEAR, .name = "epoch" };
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < f->logs; k++)
            for (size_t i = 0; i < json_array_size(f->log[k].rows); i++)
                if (snr_take(&f->log[k], i, &r)) {
                    if (pass == 0)
                        rows++;
                    else
                        TRY(snr_charts(&r, drawn++, rows == 1, list, err));
                }
    TRY(charts_draw(f, list, 3, 3, "holds no signal-to-noise ratios; fit with `snr` on", err));
done:
    charts_free(list, 3);
    return st;
}

const figure_kind KIND_SNR = { .name = "snr",
                               .help = "diagnostics (Figure S7): error, ISE criterion and signal-to-noise ratios",
                               .fits = snr_fits,
                               .wants = "logs of fit `snr` on or results of reproduce diagnostics",
                               .takes = snr_takes,
                               .uses = USES_RANGE,
                               .draw = snr_draw };
