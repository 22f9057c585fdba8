/* plot.c - npmd_plot, from a request to a picture: reads the inputs and chooses the kind of figure. */
#include "brain.h"
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

/* ---- What is given ----------------------------------------------------------------------------------------------- */

/* What an estimator is called in a figure. */
static const char *estimator_words(const char *name)
{
    static const char *const WORDS[][2] = { { "kde", "kernels" },
                                            { "psnf", "squared family" },
                                            { "relu", "ReLU network" } };
    for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
        if (strcmp(name, WORDS[k][0]) == 0)
            return WORDS[k][1];
    return name;
}

static npmd_status source_name(const npmd_plot_request *ask, int k, source *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char estimator[ESTIMATOR_NAME];
    if (ask->name != NULL && ask->name[k] != NULL) {
        text_copy(s->name, sizeof s->name, ask->name[k]);
    } else if (ask->models == 1) {
        snprintf(s->name, sizeof s->name, "estimate");
    } else {
        TRY(estimator_of(s->model, estimator, err));
        snprintf(s->name, sizeof s->name, "%s", estimator_words(estimator));
    }
done:
    return st;
}

/* dom: of all sources, opened here. */
static npmd_status figure_sources(figure *f, domain_look *dom, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_plot_request *ask = f->ask;
    const npmd_domain *on = NULL;
    TRY(memory_new(&f->from, (size_t)ask->models + 1, err));
    TRY(memory_new(&f->log, (size_t)ask->files + 1, err));
    if (ask->truth != NULL) {
        source *s = &f->from[f->sources++];
        s->truth = ask->truth;
        snprintf(s->name, sizeof s->name, "truth");
        on = npmd_truth_domain(ask->truth);
    }
    for (int k = 0; k < ask->models; k++) {
        source *s = &f->from[f->sources++];
        s->model = ask->model[k];
        TRY(source_name(ask, k, s, err));
        if (on != NULL)
            TRY(domains_agree(on, npmd_model_domain(ask->model[k]), k == 0 ? "truth lies" : "model before it lies",
                              err));
        on = npmd_model_domain(ask->model[k]);
    }
    if (on != NULL) {
        TRY(domain_look_open(dom, on, err));
        f->domain = dom;
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
                         "models and logs are drawn apart: %s holds lines, but there is a model too", ask->file[0]);
    if (ask->files > 0 && (ask->truth != NULL || ask->data != NULL || ask->given != 0))
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "%s holds the lines of a log: with them no truth, data or conditional density is drawn",
                         ask->file[0]);
    const char *data_on = ask->data == NULL ? NULL : npmd_domain_text(npmd_points_domain(ask->data));
    if (data_on != NULL && f->domain == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "the data lie on %s, but there is no density on it to draw", data_on);
    if (data_on != NULL && strcmp(data_on, f->domain->text) != 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "the data lie on %s, the models on %s", data_on, f->domain->text);
    for (int k = 0; k < ask->ranges; k++)
        if (!(ask->range[2 * k] < ask->range[2 * k + 1]) || (ask->log_scale && !(ask->range[2 * k] > 0.0)))
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "the range %g:%g does not rise%s", ask->range[2 * k],
                             ask->range[2 * k + 1],
                             ask->log_scale ? " from a number above 0, as a log scale needs" : "");
    for (int k = 0; k < ask->levels; k++)
        if (!(ask->level[k] > 0.0 && ask->level[k] < 100.0))
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "a contour encloses more than 0 and less than 100 %%, not %g",
                             ask->level[k]);
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
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "a figure of the kind %s makes no use of `%s`: leave it out, or choose another `kind`",
                             kind->name, of[k].name);
    const int most = (kind->uses & USES_RANGES) == USES_RANGES ? RANGES_MOST : 1;
    if (ask->ranges > most)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`range` has %d ranges, a figure of the kind %s has at most %d",
                         ask->ranges, kind->name, most);
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
    const char *given = f->domain != NULL                                              ? f->domain->text
                        : f->logs > 0                                                  ? f->log[0].path
                        : f->ask->surfaces != NULL && f->ask->surfaces->values != NULL ? f->ask->surfaces->values
                                                                                       : "what is given";
    for (int k = 0; k < KIND_COUNT; k++) {
        const figure_kind *kind = KINDS[k];
        if (f->ask->kind == NULL ? kind->fits == NULL || !kind->fits(f) : strcasecmp(kind->name, f->ask->kind) != 0)
            continue;
        if (!kind->takes(f))
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "`kind` %s draws %s, but given %s %s%s", kind->name, kind->wants,
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

/* ---- The request ------------------------------------------------------------------------------------------------- */

npmd_status npmd_plot(const npmd_plot_request *what, const char *path, npmd_plot_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_plot_request ask;
    npmd_plot_surfaces surfaces;
    npmd_compute how;
    domain_look dom = { 0 };
    figure f = { .ask = &ask, .path = path, .how = &how };
    const figure_kind *kind = NULL;
    f.facts = (npmd_plot_facts){ .low = NAN, .high = NAN, .mass_error = NAN };
    TRY(SIZED_TAKE(what, &ask, err));
    TRY(SIZED_TAKE(ask.how, &how, err));
    TRY(compute_check(&how, err));
    if (ask.surfaces != NULL) {
        TRY(SIZED_TAKE(ask.surfaces, &surfaces, err));
        ask.surfaces = &surfaces;
    }
    if (!file_has_suffix(path, ".png") && !file_has_suffix(path, ".svg"))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "a picture is written as .png or .svg, but its name is '%s'", path);
    TRY(figure_sources(&f, &dom, err));
    TRY(figure_check(&f, err));
    TRY(figure_choose(&f, &kind, err));
    TRY(figure_uses(&f, kind, err));
    TRY(kind->draw(&f, err));
    if (compute_tell(&how, "picture", 1.0) != 0) /* not all kinds ask on the way */
        TRY(npmd_fail(err, NPMD_STOPPED, "stopped before the picture was written"));
    TRY(canvas_write(f.page, err));
    f.facts.kind = kind->name;
    f.facts.width_mm = canvas_width(f.page) / POINTS_PER_MM;
    f.facts.height_mm = canvas_height(f.page) / POINTS_PER_MM;
    if (facts != NULL)
        TRY(SIZED_GIVE(&f.facts, facts, err));
done:
    for (int k = 0; k < f.logs; k++)
        lines_free(&f.log[k]);
    memory_free_all(f.log, f.from);
    domain_look_close(&dom);
    canvas_free(f.page);
    return st;
}
