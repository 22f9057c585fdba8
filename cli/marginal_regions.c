/* marginal_regions.c - neuropmd marginal --roi and --dense: integrals of a density on two surfaces over regions of
 * them. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { REGIONS_MOST = 1024, NAME_MOST = 256 };
/* Rules that differ by more than this are not a good integral; a user hears of it. */
static const double MEDIAN_MUCH = 0.01, LARGEST_MUCH = 0.1;

typedef struct place {                  /* of one factor */
    const char *nodes, *labels, *drawn; /* files */
    bool sphere;
    npmd_surface *surface;
    npmd_labels *regions;
    npmd_surface *picture; /* what values are drawn on, if not the surface */
} place;

typedef struct job {
    const cli_args *args;
    npmd_model *model;
    place at[2];
    npmd_compute how;
    npmd_region_request request;
    int factor, other; /* of the region and of the map, from 0 */
    int region[REGIONS_MOST], regions;
    npmd_region_what what;
    const char *out, *matrix, *dense;
    size_t values, cells; /* of the map and of the matrix */
    double *value, *cell;
    npmd_region_facts map, sum;
    cli_progress progress;
} job;

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static const char *either(const cli_args *args, const char *name, const char *fallback)
{
    return cli_value(args, name) ? cli_value(args, name) : fallback;
}

static const char *what_name(const job *j)
{
    return either(j->args, "what", npmd_region_what_name(NPMD_REGION_DENSITY));
}

/* The files of both factors; those of the second are by default those of the first. */
static int find_places(job *j)
{
    const cli_args *args = j->args;
    const char *sphere = cli_value(args, "sphere"), *surface = cli_value(args, "surface");
    const char *spheres[2] = { sphere, either(args, "sphere2", sphere) };
    const char *surfaces[2] = { surface, either(args, "surface2", cli_value(args, "sphere2") ? NULL : surface) };
    const npmd_domain *domain = npmd_model_domain(j->model);
    npmd_error err = { 0 };
    for (int d = 0; d < 2; d++) {
        place *p = &j->at[d];
        npmd_domain *factor = NULL;
        if (npmd_domain_part(domain, 1u << d, &factor, &err))
            return cli_refuse(args, &err);
        p->sphere = strcmp(npmd_domain_text(factor), "S2") == 0;
        const bool surface_factor = p->sphere || strncmp(npmd_domain_text(factor), "mesh:", 5) == 0;
        npmd_domain_free(factor);
        if (!surface_factor || npmd_domain_factors(domain) != 2)
            return cli_fail(args, CLI_USAGE, "regions need a model on two surfaces, this one is on %s",
                            npmd_domain_text(domain));
        p->nodes = p->sphere ? spheres[d] : surfaces[d];
        p->drawn = p->sphere ? surfaces[d] : NULL;
        p->labels = d == 0 ? cli_value(args, "roi") : either(args, "roi2", cli_value(args, "roi"));
        if (!p->nodes)
            return cli_fail(args, CLI_USAGE, "--%s is missing: the mesh whose vertices are the nodes on factor %d",
                            p->sphere ? "sphere" : "surface", d + 1);
    }
    return CLI_DONE;
}

static bool is_drawing(const char *path)
{
    const size_t size = strlen(path);
    return (size > 4 && (strcmp(path + size - 4, ".gii") == 0 || strcmp(path + size - 4, ".vtk") == 0))
           || (size > 7 && strcmp(path + size - 7, ".gii.gz") == 0);
}

static npmd_status check_outputs(const job *j, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (j->out)
        TRY(is_drawing(j->out) ? cli_output(npmd_surface_check, j->out, err)
                               : cli_output(npmd_array_check, j->out, err));
    if (j->matrix)
        TRY(cli_output(npmd_array_check, j->matrix, err));
    if (j->dense)
        TRY(cli_output(npmd_array_check, j->dense, err));
done:
    return st;
}

/* No output may be another, or one of the inputs. */
static int check_names(const job *j)
{
    static const char *const OUTPUTS[] = { "--out", "--matrix", "--dense" };
    static const char *const INPUTS[] = { "--roi", "--roi2", "--sphere", "--sphere2", "--surface", "--surface2" };
    int st = CLI_DONE;
    for (int i = 0; i < 3; i++) {
        const char *out = cli_value(j->args, OUTPUTS[i] + 2);
        TRY(cli_distinct(j->args, OUTPUTS[i], out, "MODEL", j->args->operand));
        for (int k = 0; k < 6; k++)
            TRY(cli_distinct(j->args, OUTPUTS[i], out, INPUTS[k], cli_value(j->args, INPUTS[k] + 2)));
        for (int k = 0; k < i; k++)
            TRY(cli_distinct(j->args, OUTPUTS[i], out, OUTPUTS[k], cli_value(j->args, OUTPUTS[k] + 2)));
    }
done:
    return st;
}

static int check_options(job *j)
{
    static const char *const OTHERS[] = { "factors", "points", "errors", "accuracy", "coords", "max-distance" };
    const char *factor = either(j->args, "factor", "1");
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (cli_value(j->args, OTHERS[i]))
            return cli_fail(j->args, CLI_USAGE, "--%s does not go with regions of surfaces", OTHERS[i]);
    if (strcmp(factor, "1") != 0 && strcmp(factor, "2") != 0)
        return cli_fail(j->args, CLI_USAGE, "--factor is '%s', expected 1 or 2", factor);
    j->factor = factor[0] - '1';
    j->other = 1 - j->factor;
    j->out = cli_value(j->args, "out");
    j->matrix = cli_value(j->args, "matrix");
    j->dense = cli_value(j->args, "dense");
    if (!j->out && !j->matrix && !j->dense)
        return cli_fail(j->args, CLI_USAGE, "nothing to write: give --out, --matrix or --dense");
    if ((j->out || j->matrix) && !cli_value(j->args, "roi"))
        return cli_fail(j->args, CLI_USAGE, "--roi is missing: a region for every vertex");
    if (!j->out && cli_value(j->args, "region"))
        return cli_fail(j->args, CLI_USAGE, "--region chooses the region of a map: --out says where to write it");
    if (!j->out && cli_value(j->args, "factor"))
        return cli_fail(j->args, CLI_USAGE,
                        "--factor says where the region of a map lies: --out says where to write it");
    if (!j->out && !j->matrix && (cli_value(j->args, "roi") || cli_value(j->args, "roi2")))
        return cli_fail(j->args, CLI_USAGE, "--roi is for --out and --matrix; --dense has no regions");
    return check_names(j);
}

/* ---- names of regions -------------------------------------------------------------------------------------------- */

static int unknown_region(const job *j, const char *name)
{
    const npmd_labels *l = j->at[j->factor].regions;
    cli_nearest near = { .wanted = name };
    char list[400] = "";
    const int regions = npmd_region_count(l);
    size_t length = 0;
    for (int i = 0; i < regions; i++) {
        const char *known = npmd_region_name(l, i);
        cli_nearest_try(&near, known);
        if (length + strlen(known) + 8 < sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", known);
        else if (length + 6 < sizeof list && (length == 0 || list[length - 1] != '.'))
            length += (size_t)snprintf(list + length, sizeof list - length, ", ...");
    }
    return cli_fail(j->args, CLI_USAGE, "%s has no region '%s'%s%s%s it has %s", j->at[j->factor].labels, name,
                    near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'? Else" : ";", list);
}

/* --region NAME,NAME; of labels with one region, that one. */
static int find_regions(job *j)
{
    const npmd_labels *l = j->at[j->factor].regions;
    const char *text = cli_value(j->args, "region");
    char name[NAME_MOST];
    if (!text) {
        if (npmd_labels_regions(l) != 1)
            return cli_fail(j->args, CLI_USAGE, "%s has %d regions: --region says which", j->at[j->factor].labels,
                            npmd_labels_regions(l));
        j->region[j->regions++] = 0;
        return CLI_DONE;
    }
    for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t size = strcspn(at, ",");
        if (size >= sizeof name || j->regions == REGIONS_MOST)
            return cli_fail(j->args, CLI_USAGE, "--region: a name is too long, or there are too many");
        memcpy(name, at, size);
        name[size] = '\0';
        const int found = npmd_region_find(l, name);
        if (found < 0)
            return unknown_region(j, name);
        if (npmd_region_vertices(l, found) == 0)
            return cli_fail(j->args, CLI_INPUT, "%s: no vertex lies in region '%s'", j->at[j->factor].labels, name);
        j->region[j->regions++] = found;
    }
    return CLI_DONE;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int read_picture(const job *j, place *p)
{
    npmd_error err = { 0 };
    if (npmd_surface_read(p->drawn, &p->picture, &err)
        || cli_registered(p->drawn, p->picture, p->nodes, p->surface, &err))
        return cli_refuse(j->args, &err);
    return CLI_DONE;
}

static int read_place(job *j, int d)
{
    npmd_error err = { 0 };
    place *p = &j->at[d];
    if (npmd_surface_read(p->nodes, &p->surface, &err)
        || ((j->matrix || (j->out && d == j->factor)) && npmd_labels_read(p->labels, p->surface, &p->regions, &err)))
        return cli_refuse(j->args, &err);
    j->request.surface[d] = p->surface;
    j->request.labels[d] = p->regions;
    return p->drawn ? read_picture(j, p) : CLI_DONE;
}

/* ---- computing --------------------------------------------------------------------------------------------------- */

/* Beside a map of an intensity, expected numbers; beside any other, probabilities. */
static npmd_region_what matrix_what(const job *j)
{
    return j->what == NPMD_REGION_COUNTS || j->what == NPMD_REGION_INTENSITY ? NPMD_REGION_COUNTS
                                                                             : NPMD_REGION_PROBABILITY;
}

enum part { MAP, MATRIX, DENSE };

static npmd_status compute_part(job *j, enum part part, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    cli_progress_begin(&j->progress, j->args);
    if (part == MAP)
        st = npmd_region_map(j->model, &j->request, j->factor + 1, j->region, j->regions, j->what, j->value, &j->map,
                             err);
    else if (part == MATRIX)
        st = npmd_region_matrix(j->model, &j->request, matrix_what(j), j->cell, &j->sum, err);
    else
        st = npmd_region_dense(j->model, &j->request, j->what, j->dense, err);
    cli_progress_end(&j->progress);
    return st;
}

static void note_dense(const job *j)
{
    const size_t rows = npmd_surface_vertices(j->at[0].surface), columns = npmd_surface_vertices(j->at[1].surface);
    cli_note(j->args, "dense: %s x %s values, %s in the file, %s of memory", cli_words_count(rows).text,
             cli_words_count(columns).text, cli_words_bytes((uint64_t)rows * columns * sizeof(double)).text,
             cli_words_bytes(npmd_region_bytes(&j->request)).text);
}

static npmd_status write_map(const job *j, npmd_error *err)
{
    const place *p = &j->at[j->other];
    const char *name = what_name(j);
    const double *column = j->value;
    if (!is_drawing(j->out))
        return npmd_array_write(j->out, j->value, j->values, 1, err);
    return npmd_surface_write(p->picture ? p->picture : p->surface, j->out, &name, &column, 1, err);
}

/* ---- reporting --------------------------------------------------------------------------------------------------- */

static const char *warning(const npmd_region_facts *f)
{
    return f->error_median > MEDIAN_MUCH || f->error_largest > LARGEST_MUCH
               ? "two rules on the faces differ much: the mesh is coarse for this density; refine it"
               : NULL;
}

static int report_json(const job *j)
{
    cli_json o = { 0 };
    cli_json_begin(&o);
    CLI_PUT(&o, TEXT("what", j->out || j->dense ? what_name(j) : npmd_region_what_name((int)matrix_what(j))));
    if (j->out) {
        CLI_PUT(&o, TEXT("out", j->out),
                TEXT("region", either(j->args, "region", npmd_region_name(j->at[j->factor].regions, 0))),
                WHOLE("factor", j->factor + 1), COUNT("n", j->values), REAL("share", j->map.share),
                REAL("probability", j->map.probability), REAL("error_median", j->map.error_median),
                REAL("error_largest", j->map.error_largest), COUNT("error_vertices", j->map.compared));
    }
    if (j->matrix) {
        CLI_PUT(&o, TEXT("matrix", j->matrix), TEXT("matrix_what", npmd_region_what_name((int)matrix_what(j))),
                WHOLE("regions", npmd_region_count(j->at[0].regions)), REAL("sum", j->sum.probability),
                REAL("sum_error", j->sum.sum_error), REAL("within", j->sum.within),
                REAL("matrix_error_median", j->sum.error_median), REAL("matrix_error_largest", j->sum.error_largest));
    }
    if (j->dense)
        CLI_PUT(&o, TEXT("dense", j->dense));
    cli_json_list(&o, "warnings");
    if (j->out && warning(&j->map))
        cli_json_item(&o, warning(&j->map));
    if (j->matrix && warning(&j->sum))
        cli_json_item(&o, warning(&j->sum));
    cli_json_leave(&o);
    return cli_json_print(j->args, &o);
}

static void report_words(const job *j)
{
    if (j->out) {
        cli_row(stdout, "region", "%s: %.3g of the area, probability %.4g",
                either(j->args, "region", npmd_region_name(j->at[j->factor].regions, 0)), j->map.share,
                j->map.probability);
        cli_row(stdout, "error", "median %.2g, largest %.2g, relative, at %s of %s vertices", j->map.error_median,
                j->map.error_largest, cli_words_count(j->map.compared).text, cli_words_count(j->values).text);
        cli_row(stdout, "out", "%s", j->out);
    }
    if (j->matrix) {
        cli_row(stdout, "sum", "%s, 1 is right", cli_words_error(j->sum.probability, j->sum.sum_error).text);
        cli_row(stdout, "within", "%.4g, both ends in one region", j->sum.within);
        cli_row(stdout, "regions", "median error %.2g, largest %.2g, relative", j->sum.error_median,
                j->sum.error_largest);
        cli_row(stdout, "matrix", "%s", j->matrix);
    }
    if (j->dense)
        cli_row(stdout, "dense", "%s", j->dense);
}

static int report(const job *j)
{
    if (j->out && warning(&j->map))
        cli_note(j->args, "map: %s", warning(&j->map));
    if (j->matrix && warning(&j->sum))
        cli_note(j->args, "matrix: %s", warning(&j->sum));
    if (j->args->json)
        return report_json(j);
    if (!j->args->quiet)
        report_words(j);
    return CLI_DONE;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int compute(job *j)
{
    npmd_error err = { 0 };
    j->values = npmd_surface_vertices(j->at[j->other].surface);
    j->cells = j->matrix ? (size_t)npmd_region_count(j->at[0].regions) * (size_t)npmd_region_count(j->at[1].regions)
                         : 0;
    if (!(j->value = cli_doubles(j->args, j->values, 1)) || !(j->cell = cli_doubles(j->args, j->cells, 1)))
        return CLI_MEMORY;
    cli_watch_signals(true);
    if ((j->out && (compute_part(j, MAP, &err) || write_map(j, &err)))
        || (j->matrix
            && (compute_part(j, MATRIX, &err) || npmd_region_matrix_write(&j->request, j->cell, j->matrix, &err))))
        return cli_refuse(j->args, &err);
    if (j->dense)
        note_dense(j);
    return j->dense && compute_part(j, DENSE, &err) ? cli_refuse(j->args, &err) : report(j);
}

static int prepare(job *j)
{
    npmd_error err = { 0 };
    uint64_t seed = 0;
    int code = cli_compute(j->args, &seed, &j->how);
    if (code != CLI_DONE || (code = check_options(j)) != CLI_DONE)
        return code;
    if (npmd_region_what_parse(what_name(j), &j->what, &err) || check_outputs(j, &err)
        || npmd_load(j->args->operand, &j->model, &err))
        return cli_refuse(j->args, &err);
    if (cli_value(j->args, "what") && !j->out && !j->dense && j->what != NPMD_REGION_PROBABILITY
        && j->what != NPMD_REGION_COUNTS)
        return cli_fail(j->args, CLI_USAGE, "--what is '%s', expected probability or counts of a matrix",
                        cli_value(j->args, "what"));
    if ((code = find_places(j)) != CLI_DONE || (code = read_place(j, 0)) != CLI_DONE
        || (code = read_place(j, 1)) != CLI_DONE)
        return code;
    return j->out ? find_regions(j) : CLI_DONE;
}

int marginal_regions(const cli_args *args)
{
    job j = { .args = args,
              .request = NPMD_SIZED(npmd_region_request),
              .map = NPMD_SIZED(npmd_region_facts),
              .sum = NPMD_SIZED(npmd_region_facts) };
    int code = prepare(&j);
    j.how.progress = cli_progress_show;
    j.how.user = &j.progress;
    j.request.how = &j.how;
    if (code == CLI_DONE)
        code = compute(&j);
    free(j.value);
    free(j.cell);
    for (int d = 0; d < 2; d++) {
        npmd_surface_free(j.at[d].surface);
        npmd_surface_free(j.at[d].picture);
        npmd_labels_free(j.at[d].regions);
    }
    npmd_model_free(j.model);
    return code;
}
