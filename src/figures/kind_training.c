/* kind_training.c - fits over their steps, from their logs (fit --log): objective, its terms, errors, criterion, rate
 * and signal-to-noise ratios. Several logs are drawn in the same panels, one colour each. */
#include "figures.h"

#include <stdio.h>

#define MOST_KEYS 3
typedef struct course { /* what a panel shows */
    const char *title;
    axis_kind kind;
    const char *key[MOST_KEYS], *label[MOST_KEYS];
    int legend;
} course;

/* The penalty is without its tau: the term in the objective is tau times as large. */
static const course COURSES[] = {
    { "objective", AXIS_LINEAR, { "objective" }, { "objective" }, -1 },
    { "data and integral",
      AXIS_LINEAR,
      { "data", "integral" },
      { "data, \xE2\x88\x92mean v", "integral, mean exp v" },
      1 },
    { "penalty, mean (\xCE\x94v)\xC2\xB2", AXIS_LOG, { "penalty" }, { "penalty" }, -1 },
    { "error against the truth", AXIS_LOG, { "nise", "ae" }, { "nISE", "ae" }, 1 },
    { "ISE criterion, held out", AXIS_LINEAR, { "ise" }, { "ISE criterion" }, -1 },
    { "signal-to-noise ratio", AXIS_LOG, { "snr_a", "snr_b", "snr_c" }, { "data", "integral", "penalty" }, 1 },
    { "rate", AXIS_LINEAR, { "rate" }, { "rate" }, -1 },
};
#define COURSE_COUNT ((int)(sizeof COURSES / sizeof COURSES[0]))

/* One column of a log; where the steps begin anew, at another member or attempt, the line has a gap. */
static npmd_status log_curve(const log_lines *l, const char *key, const char *name, curve_set *set, curve **out,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t rows = json_array_size(l->rows);
    curve *c = NULL;
    double before = -INFINITY;
    size_t at = 0;
    TRY(curve_add(set, 2 * rows, name, &c, err));
    for (size_t i = 0; i < rows; i++) {
        const json_t *row = json_array_get(l->rows, i);
        const double step = json_number_at(row, "step");
        if (step <= before)
            c->x[at] = c->y[at] = NAN, at++;
        c->x[at] = step;
        c->y[at++] = json_number_at(row, key);
        before = step;
    }
    c->count = at;
    *out = c;
done:
    return st;
}

static npmd_status course_curves(const figure *f, const course *what, chart *out, npmd_error *err)
{
    static const double DASH[MOST_KEYS] = { 0.0, 4.0, 1.2 };
    npmd_status st = NPMD_OK;
    int keys = 0;
    *out = (chart){ .title = what->title, .legend = f->logs > 1 ? 1 : what->legend };
    out->x = (axis){ .kind = AXIS_LINEAR, .name = "step" };
    out->y = (axis){ .kind = what->kind };
    while (keys < MOST_KEYS && what->key[keys] != NULL)
        keys++;
    for (int k = 0; k < f->logs; k++)
        for (int j = 0; j < keys; j++) {
            char name[96];
            curve *c = NULL;
            if (f->logs == 1)
                snprintf(name, sizeof name, "%s", what->label[j]);
            else if (keys == 1)
                text_copy(name, sizeof name, f->log[k].name);
            else {
                text_copy(name, 48, f->log[k].name);
                snprintf(name + strlen(name), sizeof name - strlen(name), ": %s", what->label[j]);
            }
            TRY(log_curve(&f->log[k], what->key[j], name, &out->curves, &c, err));
            if (f->logs > 1) {
                c->line.ink = line_colour(k);
                c->line.dash = DASH[j], c->line.gap = 2.5;
            }
        }
done:
    return st;
}

static npmd_status training_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    chart list[COURSE_COUNT] = { { .title = "" } };
    for (int k = 0; k < COURSE_COUNT; k++)
        TRY(course_curves(f, &COURSES[k], &list[k], err));
    TRY(charts_draw(f, list, COURSE_COUNT, 3, "holds no numbers of a fit", err));
done:
    charts_free(list, COURSE_COUNT);
    return st;
}

const figure_kind KIND_TRAINING = { .name = "training",
                                    .help = "logs of fits: objective, terms, errors, rate against steps",
                                    .fits = figure_of_fits,
                                    .wants = "logs of fit `log`",
                                    .takes = figure_of_fits,
                                    .uses = USES_RANGE,
                                    .draw = training_draw };
