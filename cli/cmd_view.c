/* cmd_view.c - neuropmd view: an interactive page of a model, in one file. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const cli_option OPTIONS[] = {
    { "out", "FILE", .required = true, .help = "the page, a .html" },
    { "data", "FILE", .help = "points to show with the density, one in each row, as for fit" },
    { "coords", "latlon|degrees|latlon,degrees",
      .help = "the data hold latitude, longitude in degrees for each S2, degrees for each S1" },
    { "places", "latlon|degrees|latlon,degrees", .fallback = "--coords",
      .help = "how the page reads places out: of S2 latitude and longitude, of S1 degrees" },
    CLI_OPTION_MAX_DISTANCE,
    { "title", "TEXT", .fallback = "the domain", .help = "the heading of the page" },
    { "names", "A,B",
      .help = "what the factors shown are called: \"origin,destination\"; of themselves by their number and kind" },
    { "factors", "N[,N]", .fallback = "the first two",
      .help = "the one or two factors that are shown, counted from 1; the others are integrated out" },
    { "nodes", "N", .fallback = "by the domain",
      .help = "values on each factor, at most: 1 to 1000000; more is sharper and slower, and the page larger" },
    { "points-most", "N", .fallback = "5000",
      .help = "data points that are shown, chosen at random if there are more" },
    { "surface", "FILE", .help = "draw a factor S2 on this surface, a cortex, instead of a globe; with --sphere" },
    { "sphere", "FILE", .help = "the registered sphere that has the faces of the surface" },
    { "surface2", "FILE", .fallback = "--surface", .help = "the same for the second factor" },
    { "sphere2", "FILE", .fallback = "--sphere", .help = "the same for the second factor" },
    CLI_OPTION_ACCURACY,
    { 0 },
};

typedef struct job {
    const cli_args *args;
    npmd_model *model;
    npmd_points *points;
    npmd_surface *surface[2], *sphere[2];
    char *names;
    npmd_compute how;
    npmd_view_request request;
    npmd_view_facts facts;
} job;

/* "A,B": the first comma parts them. */
static int read_names(job *j)
{
    const char *given = cli_value(j->args, "names");
    if (!given)
        return CLI_DONE;
    if (!(j->names = strdup(given)))
        return cli_fail(j->args, CLI_MEMORY, "not enough memory for the names");
    char *comma = strchr(j->names, ',');
    j->request.name[0] = j->names;
    if (comma) {
        *comma = '\0';
        j->request.name[1] = comma + 1;
    }
    if (*j->request.name[0] == '\0' || (comma && (comma[1] == '\0' || strchr(comma + 1, ','))))
        return cli_fail(j->args, CLI_USAGE, "--names: \"%.60s\" was found where one or two names were expected", given);
    return CLI_DONE;
}

/* Which factors the page shows, in order; 0: there is no such. */
static int shown_factor(const npmd_domain *domain, unsigned factors, int which)
{
    for (int d = 0; d < npmd_domain_factors(domain); d++)
        if ((factors ? factors : 3u) >> d & 1u)
            if (which-- == 0)
                return d + 1;
    return 0;
}

static bool is_sphere(const npmd_domain *domain, int factor)
{
    npmd_domain *part = NULL;
    const bool sphere = factor > 0 && npmd_domain_part(domain, 1u << (factor - 1), &part, NULL) == NPMD_OK
                        && strcmp(npmd_domain_text(part), "S2") == 0;
    npmd_domain_free(part);
    return sphere;
}

/* Surfaces of the factors shown that are S2; those of the second are by default those of the first. */
static npmd_status read_surfaces(job *j, npmd_error *err)
{
    static const char *const SURFACE[2] = { "surface", "surface2" }, *const SPHERE[2] = { "sphere", "sphere2" };
    const npmd_domain *domain = npmd_model_domain(j->model);
    for (int s = 0; s < 2; s++) {
        const int factor = shown_factor(domain, j->request.factors, s);
        const bool sphere = is_sphere(domain, factor), own = cli_value(j->args, SURFACE[s]) != NULL;
        const char *surface = cli_value(j->args, own ? SURFACE[s] : SURFACE[0]);
        const char *registered = cli_value(j->args, cli_value(j->args, SPHERE[s]) ? SPHERE[s] : SPHERE[0]);
        if (!sphere && !(own || cli_value(j->args, SPHERE[s])))
            continue; /* the library says what is wrong with one that was given for another kind */
        if (s == 0 && !sphere && is_sphere(domain, shown_factor(domain, j->request.factors, 1)))
            continue; /* it is meant for the other */
        if ((surface && npmd_surface_read(surface, &j->surface[s], err))
            || (registered && npmd_surface_read(registered, &j->sphere[s], err)))
            return err->status;
        j->request.surface[s] = j->surface[s];
        j->request.sphere[s] = j->sphere[s];
    }
    return NPMD_OK;
}

static int report(const job *j)
{
    const npmd_view_facts *f = &j->facts;
    const char *out = cli_value(j->args, "out");
    const double factors[2] = { f->factor[0], f->factor[1] }, nodes[2] = { (double)f->nodes[0], (double)f->nodes[1] };
    cli_json json = { 0 };
    if (j->args->json) {
        cli_json_begin(&json);
        CLI_PUT(&json, TEXT("out", out), TEXT("domain", npmd_domain_text(npmd_model_domain(j->model))));
        cli_json_items(&json, "factors", factors, (size_t)f->factors);
        cli_json_items(&json, "nodes", nodes, (size_t)f->factors);
        CLI_PUT(&json, COUNT("points", f->points), COUNT("points_shown", f->points_shown),
                REAL("level_error", f->level_error), REAL("mass", f->mass),
                f->compared > 0 ? REAL("sum_error", f->sum_error) : NO_FACT, COUNT("bytes", f->bytes));
        return cli_json_print(j->args, &json);
    }
    if (j->args->quiet)
        return CLI_DONE;
    cli_row(stdout, "page", "%s, %s", out, cli_words_bytes(f->bytes).text);
    if (f->factors == 2)
        cli_row(stdout, "values", "at %s x %s nodes of factors %d and %d", cli_words_count(f->nodes[0]).text,
                cli_words_count(f->nodes[1]).text, f->factor[0], f->factor[1]);
    else
        cli_row(stdout, "values", "at %s nodes of factor %d", cli_words_count(f->nodes[0]).text, f->factor[0]);
    if (f->compared > 0)
        cli_row(stdout, "sums", "over nodes are within %.2g %% of the integral, at %zu nodes", 100.0 * f->sum_error,
                f->compared);
    if (f->points > 0)
        cli_row(stdout, "points", "%s of %s", cli_words_count(f->points_shown).text, cli_words_count(f->points).text);
    return CLI_DONE;
}

/* Sums over nodes that are this far off are no good picture; a user hears of it. */
static const double SUMS_MUCH = 0.05;

static int make(job *j)
{
    const cli_args *args = j->args;
    const char *out = cli_value(args, "out"), *data = cli_value(args, "data");
    npmd_error err = { 0 };
    npmd_view_request *r = &j->request;
    cli_progress progress;
    unsigned coords = 0; /* of the data */
    if (cli_coords(args, &coords, &err) || cli_output(npmd_output_check, out, &err)
        || npmd_load(args->operand, &j->model, &err)
        || (cli_value(args, "factors")
            && npmd_factors_parse(cli_value(args, "factors"), npmd_model_domain(j->model), &r->factors, &err))
        || (data && cli_points(args, data, npmd_model_domain(j->model), coords, &j->points, &err))
        || read_surfaces(j, &err))
        return cli_refuse(args, &err);
    r->data = j->points;
    r->coords = cli_value(args, "places") ? r->coords : coords;
    r->title = cli_value(args, "title");
    r->how = &j->how;
    cli_progress_watch(&progress, args, &j->how);
    const npmd_status st = npmd_view(j->model, r, out, &j->facts, &err);
    cli_progress_end(&progress);
    if (st != NPMD_OK)
        return err.status == NPMD_STOPPED ? CLI_INTERRUPTED : cli_refuse(args, &err);
    if (j->facts.sum_error > SUMS_MUCH)
        cli_note(args, "warning: marginal densities by %zu nodes are up to %.2g %% off; more --nodes are better",
                 j->facts.nodes[0], 100.0 * j->facts.sum_error);
    return report(j);
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    job j = { .args = args, .request = NPMD_SIZED(npmd_view_request), .facts = NPMD_SIZED(npmd_view_facts) };
    const char *out = cli_value(args, "out"), *ending = strrchr(out, '.'), *places = cli_value(args, "places");
    TRY(cli_compute(args, &j.request.seed, &j.how));
    TRY(cli_distinct(args, "--out", out, "MODEL", args->operand));
    TRY(cli_distinct(args, "--out", out, "--data", cli_value(args, "data")));
    TRY(cli_count(args, "nodes", &j.request.nodes));
    TRY(cli_count(args, "points-most", &j.request.most_points));
    TRY(cli_real(args, "accuracy", &j.request.accuracy));
    TRY(read_names(&j));
    if (!ending || (strcasecmp(ending, ".html") != 0 && strcasecmp(ending, ".htm") != 0))
        TRY(cli_fail(args, CLI_USAGE, "--out is '%s', expected a name that ends in .html", out));
    if (places && npmd_coords_parse(places, &j.request.coords, NULL))
        TRY(cli_fail(args, CLI_USAGE,
                     "--places: \"%.40s\" was found where latlon, degrees or latlon,degrees was expected", places));
    cli_watch_signals(true);
    st = make(&j);
done:
    for (int s = 0; s < 2; s++) {
        npmd_surface_free(j.surface[s]);
        npmd_surface_free(j.sphere[s]);
    }
    npmd_points_free(j.points);
    npmd_model_free(j.model);
    free(j.names);
    return st;
}

const cli_command command_view = {
    .name = "view",
    .operand = "MODEL",
    .summary = "an interactive page of a density, in one HTML file",
    .details = "The page needs no server and no network: any browser opens it. It shows one or two factors: "
               "circles as curves or rings, T2 as a torus or a flat map, spheres as globes or on a cortex, "
               "surfaces as they are; click a place on one factor to see the density of the other, given that "
               "place. Values are computed on nodes and kept to 0.2 percent or better; the page says how many "
               "there are and how far sums over them are from integrals.",
    .examples =
        "neuropmd view floods.safetensors --out floods.html --data floods.csv --coords latlon\n"
        "neuropmd view flights.safetensors --out flights.html --names origin,destination\n"
        "neuropmd view streamlines.safetensors --out cortex.html --surface lh.pial.gii --sphere lh.sphere.gii\n",
    .options = OPTIONS,
    .run = run,
};
