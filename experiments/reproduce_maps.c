/* reproduce_maps.c - connectivity of a region E by the fits to the first split: field and series side by side.
 *
 *     f_E(y) = integral over x in E of f(x, y) dx        at every vertex y, drawn on the sphere and on the surface
 *     p_R    = integral over y in R of f_E(y) dy         for every region R: the row of E in the matrix of regions
 *
 * and beside them the data: the end points whose partner lies in E, and their share in each region. An end point
 * belongs to the region of the closest vertex. */
#include "connectivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAPS_MOST = 8 };

typedef struct maps {
    const reproduce_plan *plan;
    npmd_surface *nodes, *surface; /* surface NULL: there is no other */
    npmd_labels *labels;
    int region;
    size_t vertices;
    npmd_compute how;
    npmd_region_request request;
    int count; /* of models */
    char *name[MAPS_MOST];
    double *density[MAPS_MOST], *probability[MAPS_MOST]; /* (vertices) */
    npmd_region_facts facts[MAPS_MOST];
    /* the data */
    npmd_domain *domain;
    npmd_points *points;
    size_t *vertex; /* (pairs, 2), the closest */
} maps;

static int no_memory(const maps *m)
{
    return cli_fail(m->plan->args, CLI_MEMORY, "not enough memory for the maps");
}

static int stop(const npmd_report *now, void *user)
{
    (void)now, (void)user;
    return cli_interrupted();
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int read_meshes(maps *m)
{
    const reproduce_pairs *p = m->plan->pairs;
    npmd_error err = { 0 };
    if (npmd_surface_read(p->surfaces ? p->surface : p->sphere, &m->nodes, &err)
        || npmd_labels_read(p->labels, m->nodes, &m->labels, &err)
        || (!p->surfaces && p->surface && npmd_surface_read(p->surface, &m->surface, &err))
        || reproduce_pairs_read(m->plan, &m->domain, &m->points, &err))
        return cli_refuse(m->plan->args, &err);
    m->region = npmd_region_find(m->labels, p->region);
    m->vertices = npmd_surface_vertices(m->nodes);
    m->how = m->plan->how;
    m->how.progress = stop;
    m->request = (npmd_region_request)NPMD_SIZED(npmd_region_request);
    m->request.how = &m->how;
    for (int d = 0; d < 2; d++) {
        m->request.surface[d] = m->nodes;
        m->request.labels[d] = m->labels;
    }
    return CLI_DONE;
}

/* The closest of the vertices (V, 3) to a point: on a sphere all of them have one length. */
static size_t closest(const double *vertex, size_t V, const double *x)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < V; i++) {
        const double *v = vertex + 3 * i;
        const double d2 = (v[0] - x[0]) * (v[0] - x[0]) + (v[1] - x[1]) * (v[1] - x[1]) + (v[2] - x[2]) * (v[2] - x[2]);
        if (d2 < least) {
            least = d2;
            best = i;
        }
    }
    return best;
}

static int find_vertices(maps *m)
{
    const size_t n = npmd_points_count(m->points), V = m->vertices;
    double *vertex = malloc(3 * V * sizeof *vertex), x[6];
    m->vertex = malloc(2 * n * sizeof *m->vertex);
    if (!vertex || !m->vertex) {
        free(vertex);
        return no_memory(m);
    }
    for (size_t i = 0; i < V; i++) {
        double *v = vertex + 3 * i;
        npmd_surface_vertex(m->nodes, i, v);
        const double length = m->plan->pairs->surfaces ? 1.0 : hypot(hypot(v[0], v[1]), v[2]);
        for (int j = 0; j < 3; j++)
            v[j] /= length;
    }
    cli_watch_signals(true);
    for (size_t i = 0; i < n && !cli_interrupted(); i++) {
        npmd_points_row(m->points, i, x);
        m->vertex[2 * i] = closest(vertex, V, x);
        m->vertex[2 * i + 1] = closest(vertex, V, x + 3);
    }
    free(vertex);
    return cli_interrupted()
               ? cli_fail(m->plan->args, CLI_INTERRUPTED, "interrupted; the same command goes on from there")
               : CLI_DONE;
}

/* As npmd_region_name counts them: those without a label are the last. */
static int region_of(const maps *m, size_t vertex)
{
    const int found = npmd_labels_region_of(m->labels, vertex);
    return found >= 0 ? found : npmd_region_find(m->labels, "unknown");
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

static int map_of(maps *m, const reproduce_row *row)
{
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    const int k = m->count++;
    m->facts[k] = (npmd_region_facts)NPMD_SIZED(npmd_region_facts);
    char *path = reproduce_model_of(m->plan, row);
    int code = CLI_DONE;
    m->name[k] = reproduce_words("%s_%s", row->method, row->settings);
    m->density[k] = malloc(m->vertices * sizeof *m->density[k]);
    m->probability[k] = malloc(m->vertices * sizeof *m->probability[k]);
    cli_watch_signals(true);
    if (!path || !m->name[k] || !m->density[k] || !m->probability[k])
        code = no_memory(m);
    else if (npmd_load(path, &model, &err)
             || npmd_region_map(model, &m->request, 1, &m->region, 1, NPMD_REGION_DENSITY, m->density[k], &m->facts[k],
                                &err)
             || npmd_region_map(model, &m->request, 1, &m->region, 1, NPMD_REGION_PROBABILITY, m->probability[k], NULL,
                                &err))
        code = cli_refuse(m->plan->args, &err);
    else
        cli_note(m->plan->args, "%s: probability of %s %.4g, median error of the map %.2g", m->name[k],
                 m->plan->pairs->region, m->facts[k].probability, m->facts[k].error_median);
    npmd_model_free(model);
    free(path);
    return code;
}

static bool has_map(const reproduce_task *task)
{
    return task->replicate == 1 && !task->failed
           && (strcmp(task->row->method, "field") == 0 || strcmp(task->row->method, "series") == 0);
}

/* The fields and series whose models are there; a folder may have been tidied up since. */
static int make_maps(maps *m)
{
    int code = CLI_DONE;
    for (int i = 0; i < m->plan->count && code == CLI_DONE && m->count < MAPS_MOST; i++) {
        const reproduce_row *row = m->plan->tasks[i].row;
        if (!has_map(&m->plan->tasks[i]))
            continue;
        if (reproduce_model_is_there(m->plan, &m->plan->tasks[i])) {
            code = map_of(m, row);
        } else {
            char *path = reproduce_model_of(m->plan, row);
            cli_note(m->plan->args, "%s %s has no map: %s is not its model (any more); a new --out fits it again",
                     row->method, row->settings, path ? path : "the file");
            free(path);
        }
    }
    return code;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static char *file_of(const maps *m, const char *what, const char *suffix)
{
    char *path = reproduce_words("%s/%s_%s%s", m->plan->pairs->folder, what, m->plan->pairs->region, suffix);
    char *name = path ? path + strlen(m->plan->pairs->folder) + 1 : NULL;
    for (; name && *name; name++) /* a name of a region may hold anything */
        if (*name == '/' || *name == ' ')
            *name = '-';
    return path;
}

static int write_drawing(const maps *m, const npmd_surface *s, const char *what)
{
    static const char *const SUFFIXES[] = { ".gii", ".vtk" };
    npmd_error err = { 0 };
    int code = CLI_DONE;
    for (int i = 0; i < 2 && code == CLI_DONE; i++) {
        char *path = file_of(m, what, SUFFIXES[i]);
        if (!path)
            return no_memory(m);
        if (npmd_surface_write(s, path, (const char *const *)m->name, (const double *const *)m->density, m->count,
                               &err))
            code = cli_refuse(m->plan->args, &err);
        free(path);
    }
    return code;
}

static int write_table(const maps *m, const char *what, void (*put)(FILE *f, const void *maps))
{
    char *path = file_of(m, what, ".csv");
    const int code = path ? cli_write(m->plan->args, path, put, m) : no_memory(m);
    free(path);
    return code;
}

/* Which ends of pair i have their partner in the region: the second, and of unordered pairs either. */
static bool is_partner(const maps *m, size_t i, size_t end)
{
    return (end == 1 || m->plan->pairs->unordered) && region_of(m, m->vertex[2 * i + 1 - end]) == m->region;
}

/* As .csv wants it: what holds a comma, a quote or a line's end stands in quotes, and a quote is doubled. */
static void put_name(const maps *m, int region, FILE *f)
{
    const char *name = npmd_region_name(m->labels, region);
    if (!strpbrk(name, ",\"\n\r")) {
        fputs(name, f);
        return;
    }
    fputc('"', f);
    for (; *name != '\0'; name++) {
        if (*name == '"')
            fputc('"', f);
        fputc(*name, f);
    }
    fputc('"', f);
}

static void put_partners(FILE *f, const void *user)
{
    const maps *m = user;
    const size_t n = npmd_points_count(m->points);
    double x[6];
    fputs("pair,x,y,z,vertex,region,partner_vertex\n", f);
    for (size_t i = 0; i < n; i++)
        for (size_t end = 0; end < 2; end++)
            if (is_partner(m, i, end)) {
                const size_t vertex = m->vertex[2 * i + end];
                npmd_points_row(m->points, i, x);
                fprintf(f, "%zu,%.9g,%.9g,%.9g,%zu,", i, x[3 * end], x[3 * end + 1], x[3 * end + 2], vertex);
                put_name(m, region_of(m, vertex), f);
                fprintf(f, ",%zu\n", m->vertex[2 * i + 1 - end]);
            }
}

/* The share of pairs that join E and region r: of unordered ones half for each order, as the density has it. */
static double observed(const maps *m, int r)
{
    const size_t n = npmd_points_count(m->points);
    double count = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t end = 0; end < 2; end++)
            if (is_partner(m, i, end) && region_of(m, m->vertex[2 * i + end]) == r)
                count += m->plan->pairs->unordered ? 0.5 : 1.0;
    return count / (double)n;
}

static void put_row(FILE *f, const void *user)
{
    const maps *m = user;
    fputs("region,vertices,observed", f);
    for (int k = 0; k < m->count; k++)
        fprintf(f, ",%s", m->name[k]);
    fputc('\n', f);
    for (int r = 0; r < npmd_region_count(m->labels); r++) {
        put_name(m, r, f);
        fprintf(f, ",%zu,%.6g", npmd_region_vertices(m->labels, r), observed(m, r));
        for (int k = 0; k < m->count; k++) {
            double sum = 0.0;
            for (size_t i = 0; i < m->vertices; i++)
                sum += region_of(m, i) == r ? m->probability[k][i] : 0.0;
            fprintf(f, ",%.6g", sum);
        }
        fputc('\n', f);
    }
}

/* The region, as labels of the vertices. */
static void put_region(FILE *f, const void *user)
{
    const maps *m = user;
    fputs("vertex,region\n", f);
    for (size_t i = 0; i < m->vertices; i++)
        fprintf(f, "%zu,%s\n", i, region_of(m, i) == m->region ? "inside" : "");
}

static int write_all(const maps *m)
{
    int st = CLI_DONE;
    if (m->count > 0)
        TRY(write_drawing(m, m->nodes, m->plan->pairs->surfaces ? "surface" : "sphere"));
    if (m->count > 0 && m->surface)
        TRY(write_drawing(m, m->surface, "surface"));
    TRY(write_table(m, "partners", put_partners));
    TRY(write_table(m, "row", put_row));
    TRY(write_table(m, "region", put_region));
done:
    return st;
}

int reproduce_maps(const reproduce_plan *plan)
{
    maps m = { .plan = plan };
    int st = CLI_DONE;
    TRY(read_meshes(&m));
    TRY(find_vertices(&m));
    TRY(make_maps(&m));
    st = write_all(&m);
done:
    for (int k = 0; k < m.count; k++) {
        free(m.name[k]);
        free(m.density[k]);
        free(m.probability[k]);
    }
    free(m.vertex);
    npmd_points_free(m.points);
    npmd_domain_free(m.domain);
    npmd_labels_free(m.labels);
    npmd_surface_free(m.surface);
    npmd_surface_free(m.nodes);
    return st;
}
