/* plot_surfaces.c - neuropmd plot: options and inputs of figures of surfaces, streamlines and eigenfunctions. */
#include "cli.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* A file of numbers on vertices, or of a matrix; models and lines have other names. */
static bool holds_values(const char *path)
{
    static const char *const SUFFIXES[] = {
        ".gii", ".gii.gz", ".vtk", ".vtk.gz", ".csv", ".tsv", ".txt", ".npy", NULL
    };
    for (int k = 0; SUFFIXES[k]; k++)
        if (cli_ends_with(path, SUFFIXES[k]))
            return true;
    return false;
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool plot_surfaces_operand(plot_surfaces *s, const char *path)
{
    if (is_folder(path) && s->ask.folders < PLOT_SURFACES_MOST)
        s->folder[s->ask.folders++] = path;
    else if (holds_values(path) && !s->ask.values)
        s->ask.values = path;
    else
        return false;
    s->used = true;
    return true;
}

/* A .gii or .vtk may hold the surface that its values belong to. */
static bool holds_surface(const char *path)
{
    npmd_surface *s = NULL;
    const bool may = cli_ends_with(path, ".gii") || cli_ends_with(path, ".gii.gz") || cli_ends_with(path, ".vtk")
                     || cli_ends_with(path, ".vtk.gz");
    const bool found = may && npmd_surface_read(path, &s, NULL) == NPMD_OK;
    npmd_surface_free(s);
    return found;
}

static int check_together(const cli_args *args, const npmd_plot_surfaces *ask, bool matrix)
{
    if (!ask->labels != !ask->region && ask->folders == 0)
        return cli_fail(args, CLI_USAGE, "--%s is missing: a region is a name (--region) in labels (--roi)",
                        ask->labels ? "region" : "roi");
    if (ask->labels && ask->folders > 0)
        return cli_fail(args, CLI_USAGE, "--roi does not go with a folder, which has its region in region_*.csv");
    if (ask->values && !ask->surface && !matrix)
        return cli_fail(
            args, CLI_USAGE,
            "%s holds numbers: --surface is the surface whose vertices they belong to, --kind matrix draws a "
            "matrix of regions",
            ask->values);
    if (ask->track_files > 0 && !ask->surface)
        return cli_fail(args, CLI_USAGE, "--tracks needs --surface, which the streamlines end at");
    if (ask->transform && ask->space)
        return cli_fail(args, CLI_USAGE, "--transform and --space exclude each other");
    return CLI_DONE;
}

int plot_surfaces_read(const cli_args *args, plot_surfaces *s)
{
    static const char *const NAMES[] = { "surface", "sphere",     "column", "roi",       "region", "points", "views",
                                         "up",      "hemisphere", "affine", "transform", "space",  "domain" };
    npmd_plot_surfaces *ask = &s->ask;
    const char **const places[] = { &ask->surface,   &ask->sphere, &ask->column, &ask->labels,     &ask->region,
                                    &ask->points,    &ask->views,  &ask->up,     &ask->hemisphere, &ask->affine,
                                    &ask->transform, &ask->space,  &ask->domain };
    const char *scale = cli_value(args, "scale");
    size_t most = 0, function = 0;
    int code;
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        *places[k] = cli_value(args, NAMES[k]);
        s->used |= *places[k] != NULL;
    }
    for (int i = 0; i < args->count; i++)
        if (strcmp(args->given[i].option.name, "tracks") == 0) {
            if (ask->track_files == PLOT_SURFACES_MOST)
                return cli_fail(args, CLI_USAGE, "more than %d files of streamlines", PLOT_SURFACES_MOST);
            s->tracks[ask->track_files++] = args->given[i].value;
            s->used = true;
        }
    ask->tracks = s->tracks;
    ask->folder = s->folder;
    ask->linear = scale && strcasecmp(scale, "linear") == 0;
    if ((code = cli_distance(args, &ask->max_distance)) != CLI_DONE
        || (code = cli_real(args, "eigenvalue", &ask->eigenvalue)) != CLI_DONE
        || (code = cli_count(args, "most", &most)) != CLI_DONE
        || (code = cli_count(args, "function", &function)) != CLI_DONE)
        return code;
    if (most > 1000000 || function > 10000)
        return cli_fail(args, CLI_USAGE, "--%s is %zu, expected at most %d", most > 1000000 ? "most" : "function",
                        most > 1000000 ? most : function, most > 1000000 ? 1000000 : 10000);
    ask->most = (int)most;
    ask->function = (int)function;
    const char *kind = cli_value(args, "kind");
    const bool matrix = kind && strcasecmp(kind, "matrix") == 0;
    if (ask->values && !ask->surface && !matrix && holds_surface(ask->values))
        ask->surface = ask->values;
    return check_together(args, ask, matrix);
}
