/* cmd_plot.c - neuropmd plot: figures of densities, fits and experiments. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SURFACES "Surfaces, streamlines, eigenfunctions"
static const cli_option OPTIONS[] = {
    { "out", "FILE", .required = true, .help = "the picture, .png or .svg" },
    { "kind", "KIND", .fallback = "by what is given",
      .help = "circle, torus, sphere, corner, factors, choice (of models); training, snr (of logs); profiles, "
              "learning, spectra, tau, snr (of results of reproduce); surface, values, matrix, connectivity, "
              "tracts, eigenfunctions (of surfaces)" },
    { "data", "FILE", .help = "points, drawn as dots on maps and as a histogram behind curves" },
    { "truth", "FILE", .help = "a known density, drawn beside the estimate on one scale" },
    { "what", .names = npmd_plot_what_name, .fallback = "density",
      .help = "f per volume; f relative to the uniform density; the standard deviation of log f over members" },
    { "scale", "linear|log", .fallback = "linear",
      .help = "of the colours, or of the height of curves; of a corner plot of its maps alone" },
    { "range", "A:B,...", .fallback = "from 0, of a log scale from 1e-4 of the largest, to the largest",
      .help = "ends of the colours, or of the height of curves, where all panels show one quantity (of surfaces "
              "and a circle those of the colours); several of them give T2 one row of maps each" },
    { "levels", "P,...|none", .fallback = "50,90,99; with --data none",
      .help = "contours of the smallest regions that hold so many per cent of the probability" },
    { "factors", "N,...", .help = "which marginals are shown, counted from 1; else all, of T2 the joint density" },
    { "given", "N,...", .help = "the conditional density given these factors" },
    { "at", "X,...|FILE", .help = "where: their columns as numbers, 0.1,2.5, or the first row of a file" },
    { "coords", "latlon|degrees|latlon,degrees",
      .help = "--data and --at hold latitude, longitude in degrees for each S2; degrees for each S1, whose axes "
              "are then in degrees" },
    { "names", "NAME,...", .help = "titles of the models, in their order; else the names of the files" },
    { "title", "TEXT", .help = "over the whole" },
    { "width-mm", "X", .fallback = "85 or 180", .help = "width of the picture" },
    { "dpi", "X", .fallback = "300", .help = "dots an inch, of a .png and of maps in an .svg" },
    { "grid", "N", .help = "nodes along a side at which densities are evaluated" },
    { "surface", "FILE", .group = SURFACES,
      .help = "the surface whose vertices the values belong to (default: the one in their own file, if it holds "
              "one), or where the streamlines end" },
    { "column", "NAME|N", .group = SURFACES,
      .help = "which of the values, by name or counted from 1 (default: 1); of folders: the only model that is "
              "drawn" },
    { "roi", "FILE", .group = SURFACES, .help = "a region for every vertex: .annot .label .gii .csv" },
    { "region", "NAME", .group = SURFACES, .help = "the region of --roi that is outlined" },
    { "points", "FILE", .group = SURFACES, .help = "x y z, drawn as dots on the surface of values" },
    { "hemisphere", "left|right", .group = SURFACES, .fallback = "by the surface's name: lh.white, white_left.gii",
      .help = "it is a cortex, seen from its lateral, medial, dorsal and ventral side" },
    { "views", "SIDE,...", .group = SURFACES,
      .help = "sides it is seen from: lateral, medial, dorsal, ventral, anterior, posterior, or axes as +x or -z" },
    { "up", "x|y|z", .group = SURFACES, .fallback = "z", .help = "the axis that points up" },
    { "tracks", "TRACKS", .group = SURFACES, .help = "streamlines, .trk or .tck (also .gz); given once for each file" },
    { "sphere", "FILE", .group = SURFACES, .help = "of tracks: the sphere the surface is registered to" },
    { "space", "mni152", .group = SURFACES, .help = "of the tracks, as for endpoints" },
    { "transform", "FILE", .group = SURFACES, .help = "of the tracks, as for endpoints" },
    { "affine", "FILE", .group = SURFACES, .help = "of the tracks, as for endpoints" },
    { "max-distance", "X", .group = SURFACES,
      .help = "how far the ends of streamlines may lie from the surface (default: 5 mm), or --data from its own "
              "(default: a thousandth of the square root of its area); inf: any distance" },
    { "most", "N", .group = SURFACES, .fallback = "1500", .help = "streamlines that are drawn" },
    { "domain", "D", .group = SURFACES, .help = "its eigenfunctions: S1^2, S2 or mesh:FILE" },
    { "eigenvalue", "X", .group = SURFACES, .fallback = "20", .help = "of those on S1^2 and S2" },
    { "function", "N", .group = SURFACES, .fallback = "9",
      .help = "the first of four on mesh:FILE; number 0 is the constant" },
    { 0 },
};

#define MOST 64
typedef struct job {
    const cli_args *args;
    npmd_plot_request ask;
    npmd_model *model[MOST];
    const npmd_model *models[MOST];
    const char *file[MOST], *name[MOST];
    char names[MOST][96];
    double range[2 * MOST], level[MOST];
    plot_surfaces surfaces;
    npmd_truth *truth;
    npmd_points *data, *at;
    npmd_compute how;
    npmd_plot_facts facts;
} job;

/* ---- options ----------------------------------------------------------------------------------------------------- */

static int parse_range(job *j, const char *text)
{
    while (text && *text) {
        char *end = NULL, *last = NULL;
        double *pair = j->range + 2 * j->ask.ranges;
        pair[0] = strtod(text, &end);
        pair[1] = end != text && *end == ':' ? strtod(end + 1, &last) : NAN;
        if (!last || last == end + 1 || (*last && *last != ',') || !(pair[0] < pair[1]) || !isfinite(pair[1] - pair[0])
            || j->ask.ranges == MOST)
            return cli_fail(j->args, CLI_USAGE,
                            "--range is '%s', expected A:B with A below B, as in 0:0.4 or 0:1,0:0.1",
                            cli_value(j->args, "range"));
        j->ask.ranges++;
        text = *last ? last + 1 : last;
    }
    j->ask.range = j->range;
    return CLI_DONE;
}

static int parse_levels(job *j, const char *text)
{
    if (!text)
        return CLI_DONE;
    if (strcasecmp(text, "none") == 0) {
        j->ask.levels = -1;
        return CLI_DONE;
    }
    for (const char *at = text; *at;) {
        char *end = NULL;
        const double level = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !(level > 0.0 && level < 100.0) || j->ask.levels == 8)
            return cli_fail(j->args, CLI_USAGE, "--levels is '%s', expected up to 8 numbers between 0 and 100, or none",
                            text);
        j->level[j->ask.levels++] = level;
        at = *end ? end + 1 : end;
    }
    j->ask.level = j->level;
    return CLI_DONE;
}

/* Copies up to length bytes of a name, as far as they fit, cut between two characters of UTF-8. */
static void copy_name(char *out, size_t size, const char *name, size_t length)
{
    if (length >= size)
        for (length = size - 1; length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80;)
            length--;
    memcpy(out, name, length);
    out[length] = 0;
}

/* Names of the models: as given, or those of their files without folder and suffix. */
static int name_models(job *j)
{
    const char *given = cli_value(j->args, "names");
    int count = 0;
    for (const char *at = given; at && *at && count < MOST; count++) {
        const size_t length = strcspn(at, ",");
        copy_name(j->names[count], sizeof j->names[count], at, length);
        at += length + (at[length] == ',');
    }
    if (given && count != j->ask.models)
        return cli_fail(j->args, CLI_USAGE, "--names holds %d, but there %s %d model%s", count,
                        j->ask.models == 1 ? "is" : "are", j->ask.models, j->ask.models == 1 ? "" : "s");
    for (int k = 0; k < j->ask.models; k++) {
        const char *path = j->name[k], *slash = strrchr(path, '/');
        if (!given) {
            path = slash ? slash + 1 : path;
            copy_name(j->names[k], sizeof j->names[k], path, strlen(path));
            char *dot = strrchr(j->names[k], '.');
            if (dot && dot != j->names[k])
                *dot = 0;
        }
        j->name[k] = j->names[k];
    }
    if (given || j->ask.models > 1)
        j->ask.name = j->name;
    return CLI_DONE;
}

static int parse_words(job *j)
{
    int st = CLI_DONE;
    const cli_args *args = j->args;
    const char *scale = cli_value(args, "scale");
    size_t grid = 0;
    if (scale && strcasecmp(scale, "log") != 0 && strcasecmp(scale, "linear") != 0)
        return cli_fail(args, CLI_USAGE, "--scale is '%s', expected linear or log", scale);
    j->ask.log_scale = scale && strcasecmp(scale, "log") == 0;
    j->ask.kind = cli_value(args, "kind");
    j->ask.title = cli_value(args, "title");
    TRY(parse_range(j, cli_value(args, "range")));
    TRY(parse_levels(j, cli_value(args, "levels")));
    TRY(cli_real(args, "width-mm", &j->ask.width_mm));
    TRY(cli_real(args, "dpi", &j->ask.dpi));
    TRY(cli_count(args, "grid", &grid));
    j->ask.grid = (int)grid;
    if (grid > 4000 || (grid > 0 && grid < 8))
        st = cli_fail(args, CLI_USAGE, "--grid is %zu, expected 8 to 4000", grid);
    else if (j->ask.width_mm > 0.0 && !(j->ask.width_mm >= 40.0 && j->ask.width_mm <= 1200.0))
        st = cli_fail(args, CLI_USAGE, "--width-mm is %g, expected 40 to 1200", j->ask.width_mm);
    else if (j->ask.dpi > 0.0 && !(j->ask.dpi >= 30.0 && j->ask.dpi <= 2400.0))
        st = cli_fail(args, CLI_USAGE, "--dpi is %g, expected 30 to 2400", j->ask.dpi);
    else if (!cli_value(args, "given") != !cli_value(args, "at"))
        st = cli_fail(args, CLI_USAGE, "--given and --at belong together: which factors, and where");
done:
    return st;
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* Files of values and folders were taken before. */
static bool is_surface_operand(const job *j, int k)
{
    const char *path = j->args->operands[k];
    const npmd_plot_surfaces *s = &j->surfaces.ask;
    bool found = s->values == path;
    for (int i = 0; i < s->folders; i++)
        found |= s->folder[i] == path;
    return found;
}

static int read_surfaces(job *j)
{
    for (int k = 0; k < j->args->operand_count; k++)
        if (!npmd_plot_is_lines(j->args->operands[k]))
            plot_surfaces_operand(&j->surfaces, j->args->operands[k]);
    j->ask.surfaces = &j->surfaces.ask;
    const int code = plot_surfaces_read(j->args, &j->surfaces);
    if (code == CLI_DONE && j->args->operand_count == 0 && !j->surfaces.used)
        return cli_fail(j->args, CLI_USAGE, "FILE is missing, and so are --tracks and --domain: what is drawn?");
    if (!j->surfaces.used)
        j->ask.surfaces = NULL;
    return code;
}

static npmd_status read_inputs(job *j, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const cli_args *args = j->args;
    const char *truth = cli_value(args, "truth"), *data = cli_value(args, "data"), *what = cli_value(args, "what"),
               *factors = cli_value(args, "factors");
    j->ask.model = j->models;
    j->ask.file = j->file;
    if (what)
        TRY(npmd_plot_what_parse(what, &j->ask.what, err));
    TRY(cli_coords(args, &j->ask.coords, err));
    for (int k = 0; k < args->operand_count; k++) {
        if (npmd_plot_is_lines(args->operands[k])) {
            j->file[j->ask.files++] = args->operands[k];
        } else if (!is_surface_operand(j, k)) {
            j->name[j->ask.models] = args->operands[k];
            TRY(npmd_load(args->operands[k], &j->model[j->ask.models], err));
            j->models[j->ask.models] = j->model[j->ask.models];
            j->ask.models++;
        }
    }
    if (truth)
        TRY(npmd_truth_read(truth, &j->truth, err));
    j->ask.truth = j->truth;
    if (j->ask.models == 0)
        goto done;
    const npmd_domain *domain = npmd_model_domain(j->model[0]);
    if (data)
        TRY(cli_points(args, data, domain, j->ask.coords, &j->data, err));
    j->ask.data = j->data;
    if (factors)
        TRY(npmd_factors_parse(factors, domain, &j->ask.factors, err));
    if (cli_value(args, "given"))
        TRY(cli_given_points(args, domain, j->ask.coords, &j->ask.given, &j->at, err));
    j->ask.at = j->at;
done:
    return st;
}

/* What is there instead of a model, as a sentence has it. */
static void what_is_there(const job *j, char *text, size_t size)
{
    const npmd_plot_surfaces *s = &j->surfaces.ask;
    if (j->ask.files > 0)
        snprintf(text, size, "%s holds the lines of a log", j->file[0]);
    else if (s->folders > 0)
        snprintf(text, size, "%s is a folder of maps", s->folder[0]);
    else if (s->values)
        snprintf(text, size, "%s holds numbers", s->values);
    else if (s->track_files > 0)
        snprintf(text, size, "%s holds streamlines", s->tracks[0]);
    else if (s->domain)
        snprintf(text, size, "--domain %s asks for eigenfunctions", s->domain);
    else
        snprintf(text, size, "no model is given");
}

/* What says something of a density says nothing of a log, of numbers or of streamlines. */
static int refuse_without_model(const job *j)
{
    char there[320];
    static const char *const NAMES[] = { "data", "truth", "what", "levels", "factors", "given", "grid", "names" };
    for (size_t k = 0; j->ask.models == 0 && k < sizeof NAMES / sizeof NAMES[0]; k++)
        if (cli_value(j->args, NAMES[k])) {
            what_is_there(j, there, sizeof there);
            return cli_fail(j->args, CLI_USAGE, "--%s belongs to a density, but %s", NAMES[k], there);
        }
    return CLI_DONE;
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

static int report(const job *j)
{
    const npmd_plot_facts *f = &j->facts;
    const char *out = cli_value(j->args, "out");
    if (j->args->json) {
        return CLI_PRINT(j->args, TEXT("out", out), TEXT("kind", f->kind),
                         j->ask.models > 0 ? TEXT("domain", npmd_domain_text(npmd_model_domain(j->model[0]))) : NO_FACT,
                         TEXT("truth", cli_value(j->args, "truth")), WHOLE("panels", f->panels), REAL("low", f->low),
                         REAL("high", f->high), REAL("width_mm", f->width_mm), REAL("height_mm", f->height_mm),
                         FINITE("mass_error", f->mass_error), COUNT("data", f->data));
    }
    if (!j->args->quiet) {
        cli_row(stdout, "picture", "%s", out);
        cli_row(stdout, "kind", "%s, %d panel%s, %.0f x %.0f mm", f->kind, f->panels, f->panels == 1 ? "" : "s",
                f->width_mm, f->height_mm);
        if (isfinite(f->low))
            cli_row(stdout, "range", "%.4g to %.4g", f->low, f->high);
    }
    /* colours hide a few per cent; more is a grid that does not resolve the density */
    if (f->mass_error > 0.05)
        cli_note(j->args, "the density drawn integrates to 1 only within %.2g: a finer --grid would show it better",
                 f->mass_error);
    return CLI_DONE;
}

static int check_names(const cli_args *args)
{
    static const char *const INPUTS[] = { "--truth", "--data", "--surface", "--roi", "--points" };
    int st = CLI_DONE;
    const char *out = cli_value(args, "out"), *ending = strrchr(out, '.');
    for (int k = 0; k < args->operand_count; k++)
        TRY(cli_distinct(args, "--out", out, "the input", args->operands[k]));
    for (size_t k = 0; k < sizeof INPUTS / sizeof *INPUTS; k++)
        TRY(cli_distinct(args, "--out", out, INPUTS[k], cli_value(args, INPUTS[k] + 2)));
    if (!ending || (strcasecmp(ending, ".png") != 0 && strcasecmp(ending, ".svg") != 0))
        st = cli_fail(args, CLI_USAGE, "--out is '%s', expected a name that ends in .png or .svg", out);
    else if (args->operand_count > MOST)
        st = cli_fail(args, CLI_USAGE, "%d files are more than %d", args->operand_count, MOST);
done:
    return st;
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    job *j = calloc(1, sizeof *j);
    cli_progress progress;
    const char *out = cli_value(args, "out");
    if (!j)
        return cli_fail(args, CLI_MEMORY, "not enough memory for a picture");
    j->args = args;
    j->ask = (npmd_plot_request)NPMD_SIZED(npmd_plot_request);
    j->facts = (npmd_plot_facts)NPMD_SIZED(npmd_plot_facts);
    j->surfaces.ask = (npmd_plot_surfaces)NPMD_SIZED(npmd_plot_surfaces);
    TRY(cli_compute(args, &j->ask.seed, &j->how));
    TRY(check_names(args));
    TRY(parse_words(j));
    TRY(read_surfaces(j));
    TRY(cli_checked(args, cli_output(npmd_output_check, out, &err) || read_inputs(j, &err), &err));
    TRY(refuse_without_model(j));
    TRY(name_models(j));
    j->ask.how = &j->how;
    cli_watch_signals(true);
    cli_progress_watch(&progress, args, &j->how);
    const npmd_status drawn = npmd_plot(&j->ask, out, &j->facts, &err);
    cli_progress_end(&progress);
    st = drawn == NPMD_STOPPED ? CLI_INTERRUPTED : drawn ? cli_refuse(args, &err) : report(j);
done:
    for (int k = 0; k < j->ask.models; k++)
        npmd_model_free(j->model[k]);
    npmd_truth_free(j->truth);
    npmd_points_free(j->data);
    npmd_points_free(j->at);
    free(j);
    return st;
}

const cli_command command_plot = {
    .name = "plot",
    .operand = "FILE",
    .operands = true,
    .no_operand = true,
    .summary = "draw densities, the course of fits, and the figures of experiments",
    .details = "FILE is a model, or several on one domain, which are drawn side by side with one range of colours; "
               "or the log of a fit (fit --log), or the results of reproduce. What it is is seen from what it "
               "holds. A density on S1 is a curve; on T2 a map with contours of probability content; on S2 "
               "Mollweide's map and two views; on T^D the one- and two-factor marginals; on other products the "
               "marginal of each factor, or with --given and --at a conditional density. A density on surfaces, "
               "values on the vertices of one (.gii, .vtk, .csv, .npy with --surface) and the folders of reproduce "
               "connectivity are drawn as shaded surfaces from several sides; --tracks are streamlines, --domain "
               "without a FILE shows eigenfunctions. --kind draws something else of the same file.",
    .examples =
        "neuropmd plot torus.safetensors --out torus.png --truth truth.json --data points.npy\n"
        "neuropmd plot field.m series.m kde.m --truth truth.json --scale log --range 1e-4:1,0.01:0.4 --out fig2.svg\n"
        "neuropmd plot flood.m --data flood.csv --coords latlon --scale log --out flood.png\n"
        "neuropmd plot flights.m --given 1 --at 51.5,-0.1 --coords latlon --out from_london.png\n"
        "neuropmd plot fit.jsonl --out training.svg\n"
        "neuropmd plot spectral-bias.jsonl --kind spectra --out figS5.png\n"
        "neuropmd plot mof.gii --surface lh.white.gii --roi lh.aparc.annot --region medialorbitofrontal --out mof.png\n"
        "neuropmd plot brain --out fig4.png                       # a folder of reproduce connectivity --roi\n"
        "neuropmd plot regions.csv --kind matrix --out regions.svg\n"
        "neuropmd plot --tracks brain.trk.gz --surface lh.white.gii --sphere lh.sphere.reg.gii --out fig1.png\n"
        "neuropmd plot --domain S1^2 --eigenvalue 20 --out figS1.png\n",
    .options = OPTIONS,
    .run = run,
};
