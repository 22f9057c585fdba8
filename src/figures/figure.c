/* figure.c - from a request to a picture: what is given, which kind it is, the page. */
#include "figures.h"
#include "io.h"

#include <stdio.h>
#include <strings.h>

/* The first that fits what is given is drawn, so the special stand before the general. */
static const figure_kind *const KINDS[] = {
    &KIND_SURFACE, &KIND_CONNECTIVITY, &KIND_VALUES,   &KIND_MATRIX,  &KIND_TRACTS, &KIND_EIGENFUNCTIONS,
    &KIND_FACTORS, &KIND_CIRCLE,       &KIND_TORUS,    &KIND_SPHERE,  &KIND_CORNER, &KIND_TAU,
    &KIND_SNR,     &KIND_PROFILES,     &KIND_LEARNING, &KIND_SPECTRA, &KIND_CHOICE, &KIND_TRAINING,
};
#define KIND_COUNT ((int)(sizeof KINDS / sizeof KINDS[0]))

const char *npmd_plot_kind(int i, const char **help)
{
    if (i < 0 || i >= KIND_COUNT)
        return NULL;
    if (help != NULL)
        *help = KINDS[i]->help;
    return KINDS[i]->name;
}

const char *npmd_plot_what_name(int i)
{
    static const char *const NAMES[] = { "density", "relative", "spread" };
    return i >= 0 && i < (int)(sizeof NAMES / sizeof *NAMES) ? NAMES[i] : NULL;
}

npmd_status npmd_plot_what_parse(const char *text, npmd_plot_what *out, npmd_error *err)
{
    for (int k = 0; npmd_plot_what_name(k) != NULL; k++)
        if (strcasecmp(text, npmd_plot_what_name(k)) == 0) {
            *out = (npmd_plot_what)k;
            return NPMD_OK;
        }
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "`what` is '%s', expected density, relative or spread", text);
}

/* ---- What is given ------------------------------------------------------------------------------------------ */

static void source_name(const npmd_plot_request *ask, int k, source *s)
{
    static const char *const WORDS[] = { "field",        "series", "kernels", "squared family",
                                         "ReLU network", "stack",  "uniform" };
    if (ask->name != NULL && ask->name[k] != NULL)
        text_copy(s->name, sizeof s->name, ask->name[k]);
    else if (ask->models == 1)
        snprintf(s->name, sizeof s->name, "estimate");
    else
        snprintf(s->name, sizeof s->name, "%s", WORDS[s->model->set.estimator]);
}

static npmd_status figure_sources(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_plot_request *ask = f->ask;
    TRY(memory_new(&f->from, (size_t)ask->models + 1, err));
    TRY(memory_new(&f->log, (size_t)ask->files + 1, err));
    if (ask->truth != NULL) {
        source *s = &f->from[f->sources++];
        s->truth = ask->truth;
        snprintf(s->name, sizeof s->name, "truth");
        f->domain = ask->truth->domain;
    }
    for (int k = 0; k < ask->models; k++) {
        source *s = &f->from[f->sources++];
        s->model = ask->model[k];
        source_name(ask, k, s);
        if (f->domain != NULL)
            TRY(model_check_domain(ask->model[k], f->domain, k == 0 ? "truth lies" : "model before it lies",
                                   err));
        f->domain = npmd_model_domain(ask->model[k]);
    }
    for (int k = 0; k < ask->files; k++) {
        TRY(lines_read(ask->file[k], &f->log[k], err));
        f->logs = k + 1;
    }
done:
    return st;
}

static npmd_status figure_check(const figure *f, npmd_error *err)
{
    const npmd_plot_request *ask = f->ask;
    if (ask->models == 0 && ask->files == 0 && ask->surfaces == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "there is neither a model nor a log to draw");
    if (ask->models > 0 && ask->files > 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "models and logs are drawn apart: %s holds lines, but there is a model too",
                         ask->file[0]);
    if (ask->files > 0 && (ask->truth != NULL || ask->data != NULL || ask->given != 0))
        return npmd_fail(
            err, NPMD_ERR_ARGUMENT,
            "%s holds the lines of a log: with them no truth, data or conditional density is drawn",
            ask->file[0]);
    if (ask->data != NULL && strcmp(ask->data->domain->text, f->domain->text) != 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "the data lie on %s, the models on %s",
                         ask->data->domain->text, f->domain->text);
    for (int k = 0; k < ask->ranges; k++)
        if (!(ask->range[2 * k] < ask->range[2 * k + 1]) || (ask->log_scale && !(ask->range[2 * k] > 0.0)))
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "the range %g:%g does not rise%s", ask->range[2 * k],
                             ask->range[2 * k + 1],
                             ask->log_scale ? " from a number above 0, as a log scale needs" : "");
    for (int k = 0; k < ask->levels; k++)
        if (!(ask->level[k] > 0.0 && ask->level[k] < 100.0))
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "a contour encloses more than 0 and less than 100 %%, not %g", ask->level[k]);
    if (ask->what == NPMD_PLOT_SPREAD && ask->truth != NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "a truth has no spread: leave it out, or draw the density");
    return NPMD_OK;
}

/* What a kind does not look at is not passed over in silence. */
static npmd_status figure_uses(const figure *f, const figure_kind *kind, npmd_error *err)
{
    const npmd_plot_request *ask = f->ask;
    const unsigned all = f->domain != NULL ? (1U << f->domain->factors) - 1 : 0;
    const struct {
        bool asked;
        unsigned use;
        const char *name;
    } of[] = { { ask->factors != 0 && ask->factors != all, USES_FACTORS, "factors" },
               { ask->given != 0, USES_GIVEN, "given" },
               { ask->ranges > 0, USES_RANGE, "range" },
               { ask->levels != 0, USES_LEVELS, "levels" },
               { ask->what != NPMD_PLOT_DENSITY, USES_WHAT, "what" },
               { ask->log_scale != 0, USES_LOG, "scale" },
               { ask->grid != 0, USES_GRID, "grid" },
               { ask->data != NULL, USES_DATA, "data" } };
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        if (of[k].asked && !(kind->uses & of[k].use))
            return npmd_fail(
                err, NPMD_ERR_ARGUMENT,
                "a figure of the kind %s makes no use of `%s`: leave it out, or choose another `kind`",
                kind->name, of[k].name);
    const int most = (kind->uses & USES_RANGES) == USES_RANGES ? RANGES_MOST : 1;
    if (ask->ranges > most)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "`range` has %d ranges, a figure of the kind %s has at most %d", ask->ranges,
                         kind->name, most);
    return NPMD_OK;
}

static void kinds_list(char *text, size_t size)
{
    text[0] = 0;
    for (int k = 0; k < KIND_COUNT; k++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s",
                 k == 0               ? ""
                 : k + 1 < KIND_COUNT ? ", "
                                      : " or ",
                 KINDS[k]->name);
}

static npmd_status figure_choose(const figure *f, const figure_kind **out, npmd_error *err)
{
    char names[384];
    const char *given = f->domain != NULL ? f->domain->text
                        : f->logs > 0     ? f->log[0].path
                        : f->ask->surfaces != NULL && f->ask->surfaces->values != NULL
                            ? f->ask->surfaces->values
                            : "what is given";
    for (int k = 0; k < KIND_COUNT; k++) {
        const figure_kind *kind = KINDS[k];
        if (f->ask->kind == NULL ? !kind->fits(f) : strcasecmp(kind->name, f->ask->kind) != 0)
            continue;
        if (!kind->takes(f))
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "`kind` %s draws %s, but given %s %s%s", kind->name,
                             kind->wants,
                             f->sources > 1      ? "are several densities on"
                             : f->domain != NULL ? "is a density on"
                                                 : "is",
                             given, f->ask->kind == NULL ? "" : "; without `kind` it is drawn as what it is");
        *out = kind;
        return NPMD_OK;
    }
    kinds_list(names, sizeof names);
    if (f->ask->kind != NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`kind` is '%s', expected %s", f->ask->kind, names);
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     f->domain != NULL
                         ? "there is no figure of a density on %s yet"
                         : "%s holds nothing that is drawn: profiles, spectra or courses of reproduce, or "
                           "the steps of a fit",
                     given);
}

/* ---- The request ---------------------------------------------------------------------------------------------- */

npmd_status npmd_plot(const npmd_plot_request *what, const char *path, npmd_plot_facts *facts,
                      npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_plot_request ask;
    npmd_plot_surfaces surfaces;
    npmd_compute how;
    figure f = { .ask = &ask, .path = path };
    const figure_kind *kind = NULL;
    f.facts = (npmd_plot_facts){ .low = NAN, .high = NAN, .mass_error = NAN };
    TRY(SIZED_TAKE(what, &ask, err));
    TRY(compute_take(ask.how, &how, err));
    ask.how = &how;
    if (ask.surfaces != NULL) {
        TRY(SIZED_TAKE(ask.surfaces, &surfaces, err));
        ask.surfaces = &surfaces;
    }
    if (!file_has_suffix(path, ".png") && !file_has_suffix(path, ".svg"))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "a picture is written as .png or .svg, but its name is '%s'",
                         path);
    TRY(figure_sources(&f, err));
    TRY(figure_check(&f, err));
    TRY(figure_choose(&f, &kind, err));
    TRY(figure_uses(&f, kind, err));
    TRY(kind->draw(&f, err));
    if (compute_tell(ask.how, "picture", 1.0) != 0) { /* not all kinds ask on the way */
        st = npmd_fail(err, NPMD_STOPPED, "stopped before the picture was written");
        goto done;
    }
    TRY(canvas_write(f.page, err));
    f.facts.kind = kind->name;
    f.facts.width_mm = canvas_width(f.page) / POINTS_PER_MM;
    f.facts.height_mm = canvas_height(f.page) / POINTS_PER_MM;
    if (facts != NULL)
        TRY(SIZED_GIVE(&f.facts, facts, err));
done:
    for (int k = 0; k < f.logs; k++)
        lines_free(&f.log[k]);
    memory_free(f.log);
    memory_free(f.from);
    canvas_free(f.page);
    return st;
}

/* ---- What kinds share ---------------------------------------------------------------------------------------- */

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
                     f->ask->width_mm > 0.0 ? "a picture" : "a picture of the usual width,",
                     width / POINTS_PER_MM, ceil(1.1 * (width + panels * (least - each)) / POINTS_PER_MM));
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
    return sphere ? "density per steradian" : dimension == 1 ? "density per rad" : "density per rad" RAISED_2;
}

int figure_rows(const figure *f)
{
    return f->ask->ranges > 0 ? f->ask->ranges : 1;
}

/* Of a linear scale all from 0 to the largest, or, where nothing is above 0, from the least to the largest; of a logarithmic one what is above a 10,000th of it. */
#define LOG_DEPTH 1e-4
shade figure_shade(const figure *f, const char *name, double least, double most, int row)
{
    shade s = { .map = MAP_RISING,
                .scale = { .kind = f->ask->log_scale ? AXIS_LOG : AXIS_LINEAR, .name = name } };
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
    f->facts.data = f->ask->data == NULL ? 0 : f->ask->data->n < most ? f->ask->data->n : most;
    return f->facts.data;
}

size_t figure_datum(const figure *f, size_t k)
{
    const size_t n = f->ask->data->n;
    return f->facts.data == n ? k : (size_t)rng_permute(rng_key_make(0, RNG_TEST, 0), k, n);
}

/* Dots of the least size would cover at most an eighth of the area, and 20,000 are enough for any eye; fewer are larger, until
 * all together cover about a twelfth. */
#define LEAST_DOT 0.3
#define MOST_DOTS 20000.0
static const colour DOT = { 255, 140, 60 };
void figure_dots(figure *f, double side, dot_place where, void *user)
{
    enum { RUN = 256 };
    const double room = 0.12 * side * side / (NPMD_PI * LEAST_DOT * LEAST_DOT);
    const size_t count = figure_data(f, (size_t)fmin(room, MOST_DOTS));
    const double radius = fmin(
        fmax(side * sqrt(0.08 / (NPMD_PI * (double)(count > 0 ? count : 1))), LEAST_DOT), 1.1);
    spot run[RUN];
    size_t held = 0;
    for (size_t k = 0; k < count; k++) {
        double row[DOMAIN_MAX_COLUMNS];
        points_row(f->ask->data, figure_datum(f, k), row);
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

void factor_name(const npmd_domain *dom, int factor, char text[16])
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
