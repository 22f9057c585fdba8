/* kind_choice.c - the path of tau: the criterion on held-out points for every tau that a fit compared (fit --tau auto,
 * select), with its standard error; one line for each stage and setting. */
#include "figures.h"

#include <stdio.h>

static bool choice_takes(const figure *f)
{
    npmd_choice c = NPMD_SIZED(npmd_choice);
    return f->ask->models == 1 && npmd_model_choice(f->ask->model[0], &c, NULL) == NPMD_OK && c.rows > 0;
}

/* A row belongs to the curve of its stage and settings. */
static void choice_name(const npmd_choice_row *row, char name[96])
{
    snprintf(name, 96, "stage %d%s%.70s", row->stage, row->settings[0] != 0 ? ", " : "", row->settings);
}

static npmd_status choice_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    chart one = { 0 };
    const npmd_model *m = f->ask->model[0];
    npmd_choice c = NPMD_SIZED(npmd_choice);
    npmd_choice_row row = NPMD_SIZED(npmd_choice_row);
    TRY(npmd_model_choice(m, &c, err));
    one = (chart){ .title = "the choice of tau",
                   .x = { .kind = AXIS_LOG, .name = "\xCF\x84" },
                   .y = { .kind = AXIS_LINEAR,
                          .name = strcmp(c.criterion, "ise") == 0 ? "ISE criterion, held out"
                                                                  : "negative log-likelihood, held out" },
                   .legend = 0 };
    for (int k = 0; k < c.rows; k++) {
        char name[96];
        curve *into = NULL;
        TRY(npmd_model_choice_row(m, k, &row, err));
        choice_name(&row, name);
        for (int j = 0; j < one.curves.count; j++)
            if (strcmp(one.curves.curve[j].name, name) == 0)
                into = &one.curves.curve[j];
        if (into == NULL) {
            TRY(curve_add(&one.curves, (size_t)c.rows, name, &into, err));
            into->count = 0;
            into->disc = 1.6;
        }
        into->x[into->count] = row.tau;
        into->y[into->count++] = row.criterion;
    }
    const int curves = one.curves.count;
    for (int k = 0; k < c.rows; k++) { /* bars of one standard error */
        char name[96];
        curve *bar = NULL;
        int of = 0;
        TRY(npmd_model_choice_row(m, k, &row, err));
        choice_name(&row, name);
        while (of < curves && strcmp(one.curves.curve[of].name, name) != 0)
            of++;
        TRY(curve_add(&one.curves, 2, "", &bar, err));
        bar->line = (stroke){ .width = 0.6, .ink = line_colour(of) };
        bar->x[0] = bar->x[1] = row.tau;
        bar->y[0] = row.criterion - row.criterion_se;
        bar->y[1] = row.criterion + row.criterion_se;
    }
    TRY(charts_draw(f, &one, 1, 1, "chose among no taus", err));
done:
    charts_free(&one, 1);
    return st;
}

const figure_kind KIND_CHOICE = { .name = "choice",
                                  .help = "a model that chose its tau: the criterion of every tau compared",
                                  .fits = NULL, /* a model is drawn as its density */
                                  .wants = "one model that chose its tau",
                                  .takes = choice_takes,
                                  .uses = USES_RANGE,
                                  .draw = choice_draw };
