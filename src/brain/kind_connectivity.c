/* kind_connectivity.c - maps of a region E from the folders that reproduce connectivity wrote: f_E of every model on
 * the sphere, on the cortex from four sides, and close to the region; E outlined, and the end points whose partner lies
 * in E.
 *
 *   sphere_R.gii, surface_R.gii   the meshes with a column of f_E for every model
 *   region_R.csv                  the region: a label for every vertex
 *   partners_R.csv                the end points: pair, x, y, z, closest vertex, ...
 *
 * A column of the page is a model of a folder. Colours go from 0 to the largest value of each column, so that shapes
 * can be compared. */
#include "io.h"
#include "brain.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

enum { COLUMNS_MOST = 6, ROWS_MOST = VIEWS_MOST + 3, NAME_SIZE = 128, PATH_SIZE = 1024 };
static const double PAGE_HIGH = 240.0 * POINTS_PER_MM;

typedef struct subject {        /* one folder */
    char region[NAME_SIZE];     /* as file names have it */
    surface_scene ball, cortex; /* m NULL: it is not there */
    vertex_columns on_ball, on_cortex;
} subject;

typedef struct pages {
    subject *of; /* (folders) */
    int folders, columns;
    int from[COLUMNS_MOST], column[COLUMNS_MOST]; /* which subject, which of its models */
    char title[COLUMNS_MOST][NAME_SIZE];
    const char *titles[COLUMNS_MOST];
    shade how[COLUMNS_MOST];
    relief_scene ball[COLUMNS_MOST], cortex[COLUMNS_MOST];
    relief_panel panel[ROWS_MOST * COLUMNS_MOST];
    surface_views views;
    int rows, wide; /* of the page */
} pages;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool file_there(const char *folder, const char *what, const char *region, const char *suffix, char *path,
                       size_t size)
{
    snprintf(path, size, "%s/%s_%s%s", folder, what, region, suffix);
    FILE *file = fopen(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

/* The region whose maps are in the folder: the one that was asked for, or the only one. */
static npmd_status region_lookup(const char *folder, const char *asked, char out[NAME_SIZE], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    DIR *list = opendir(folder);
    int count = 0;
    if (list == NULL)
        return npmd_fail(err, NPMD_ERR_FILE, "%s: cannot be read as a folder: %s", folder, strerror(errno));
    for (const struct dirent *e = readdir(list); e != NULL; e = readdir(list)) {
        const size_t size = strlen(e->d_name);
        if (size > 13 && strncmp(e->d_name, "partners_", 9) == 0 && strcmp(e->d_name + size - 4, ".csv") == 0
            && size - 13 < NAME_SIZE && (asked == NULL || strlen(asked) == size - 13)
            && (asked == NULL || strncmp(asked, e->d_name + 9, size - 13) == 0)) {
            memcpy(out, e->d_name + 9, size - 13);
            out[size - 13] = 0;
            count++;
        }
    }
    closedir(list);
    if (count != 1)
        st = npmd_fail(
            err, NPMD_ERR_FORMAT,
            "%s has maps of %d regions%s%.60s, expected one: it is a folder of reproduce connectivity `roi`%s", folder,
            count, asked ? " named " : "", asked ? asked : "", count > 1 ? "; say which by `region`" : "");
    return st;
}

/* A mesh with its maps, if the file is there. */
static npmd_status place_read(const char *folder, const char *what, const char *region, surface_scene *s,
                              vertex_columns *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char path[PATH_SIZE], region_path[PATH_SIZE];
    if (!file_there(folder, what, region, ".vtk", path, sizeof path)
        && !file_there(folder, what, region, ".gii", path, sizeof path))
        return NPMD_OK;
    TRY(surface_scene_read(path, s, err));
    TRY(vertex_columns_read(path, s->m->vertices, c, err));
    if (file_there(folder, "region", region, ".csv", region_path, sizeof region_path))
        TRY(surface_scene_region(s, region_path, "inside", err));
done:
    return st;
}

/* The closest vertices of the end points: column 5 of partners_R.csv, whose sixth may be words. */
static npmd_status partners_read(const char *folder, const char *region, surface_scene *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char path[PATH_SIZE];
    file_bytes bytes = { 0 };
    double *x = NULL;
    size_t count = 0, rows = 0;
    if (s->m == NULL || !file_there(folder, "partners", region, ".csv", path, sizeof path))
        return NPMD_OK;
    TRY(file_read_checked(path, file_starts_text, &bytes, err));
    for (const unsigned char *p = bytes.data; *p != 0; p++)
        rows += *p == '\n';
    TRY(memory_new(&x, 3 * (rows + 1), err));
    const char *p = strchr((const char *)bytes.data, '\n');
    for (; p != NULL && p[1] != 0; p = strchr(p + 1, '\n')) {
        const char *field = p + 1;
        for (int k = 0; k < 4 && field != NULL; k++) {
            field = strpbrk(field, ",\n"); /* a short line takes nothing from the next */
            field = field != NULL && *field == ',' ? field + 1 : NULL;
        }
        char *stop = NULL;
        const unsigned long vertex = field != NULL ? strtoul(field, &stop, 10) : 0;
        if (stop == NULL || stop == field || vertex >= s->m->vertices)
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s line %zu: its fifth field is no vertex of 0 to %zu", path,
                          count + 2, s->m->vertices - 1));
        memcpy(x + 3 * count++, s->m->x + 3 * vertex, 3 * sizeof *x);
    }
    surface_scene_points(s, x, count);
    x = NULL;
done:
    memory_free(x);
    file_bytes_free(&bytes);
    return st;
}

static npmd_status subject_read(const char *folder, const char *asked, subject *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(region_lookup(folder, asked, s->region, err));
    TRY(place_read(folder, "sphere", s->region, &s->ball, &s->on_ball, err));
    TRY(place_read(folder, "surface", s->region, &s->cortex, &s->on_cortex, err));
    if (s->ball.m == NULL && s->cortex.m == NULL)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s has neither sphere_%s.vtk nor surface_%s.vtk: no model of it had a map",
                      folder, s->region, s->region));
    TRY(partners_read(folder, s->region, &s->ball, err));
    TRY(partners_read(folder, s->region, &s->cortex, err));
done:
    return st;
}

static void subject_free(subject *s)
{
    surface_scene_free(&s->ball);
    surface_scene_free(&s->cortex);
    vertex_columns_free(&s->on_ball);
    vertex_columns_free(&s->on_cortex);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static const char *folder_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

/* "field_best" to "field, best". */
static void title_make(const pages *p, const npmd_plot_surfaces *ask, int from, const char *model, char *out)
{
    size_t size = 0;
    if (p->folders > 1) {
        text_copy(out, 52, folder_name(ask->folder[from]));
        size = strlen(out);
        memcpy(out + size, ": ", 2);
        size += 2;
    }
    text_copy(out + size, NAME_SIZE - size, model);
    for (char *c = out + size; *c != 0; c++)
        *c = *c == '_' ? ' ' : *c;
}

static npmd_status columns_choose(const figure *f, pages *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_plot_surfaces *ask = f->ask->surfaces;
    for (int i = 0; i < p->folders; i++) {
        const subject *s = &p->of[i];
        const vertex_columns *c = s->ball.m != NULL ? &s->on_ball : &s->on_cortex;
        int chosen = -1;
        if (ask->column != NULL)
            TRY(vertex_columns_find(c, ask->column, ask->folder[i], &chosen, err));
        for (int k = 0; k < c->columns; k++) {
            if (chosen >= 0 && k != chosen)
                continue;
            if (p->columns == COLUMNS_MOST)
                TRY(npmd_fail(err, NPMD_ERR_ARGUMENT,
                              "more than %d maps side by side: draw fewer folders, or choose one model by `column`",
                              COLUMNS_MOST));
            p->from[p->columns] = i;
            p->column[p->columns] = k;
            title_make(p, ask, i, c->name[k], p->title[p->columns]);
            p->titles[p->columns] = p->title[p->columns];
            p->columns++;
        }
    }
done:
    return st;
}

/* The map of the same model on the cortex; its file may have others, or have them in another order. */
static npmd_status cortex_column(const subject *s, const char *folder, const char *name, const double **out,
                                 npmd_error *err)
{
    for (int k = 0; k < s->on_cortex.columns; k++)
        if (strcmp(s->on_cortex.name[k], name) == 0) {
            *out = s->on_cortex.value[k];
            return NPMD_OK;
        }
    return npmd_fail(err, NPMD_ERR_FORMAT,
                     "%s: sphere_%s has a map '%.60s', surface_%s has none of that name; choose one that both have by "
                     "`column`, or run reproduce connectivity again",
                     folder, s->region, name, s->region);
}

/* Both meshes of a column show the same numbers: one scale. */
static npmd_status scenes_make(const figure *f, pages *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int k = 0; k < p->columns; k++) {
        const subject *s = &p->of[p->from[k]];
        const vertex_columns *c = s->ball.m != NULL ? &s->on_ball : &s->on_cortex;
        TRY(values_shade(
            f, s->ball.m != NULL ? "density f_E per area of the unit sphere" : "density f_E per area of the surface",
            c->value[p->column[k]], c->vertices, &p->how[k], err));
        if (s->ball.m != NULL)
            p->ball[k] = surface_scene_relief(&s->ball, s->on_ball.value[p->column[k]], &p->how[k]);
        if (s->cortex.m != NULL) {
            const double *value = NULL;
            TRY(cortex_column(s, f->ask->surfaces->folder[p->from[k]], c->name[p->column[k]], &value, err));
            p->cortex[k] = surface_scene_relief(&s->cortex, value, &p->how[k]);
        }
    }
done:
    return st;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

enum { GROUP_CORTEX, GROUP_BALL, GROUP_CLOSE };
enum { ROW_BALL = -1, ROW_CLOSE = -2 }; /* others: the number of a view */

/* The side from which the region's middle lies farthest out. */
static int best_view(const pages *p, const surface_scene *s)
{
    int best = 0;
    double most = -INFINITY;
    for (int v = 0; v < p->views.count; v++) {
        const double *toward = p->views.view[v].toward;
        double reach = -INFINITY;
        for (size_t i = 0; i < s->m->vertices; i++)
            reach = fmax(reach, dot3(toward, s->m->x + 3 * i));
        const double out = dot3(toward, s->centre);
        if (out - reach > most) {
            most = out - reach;
            best = v;
        }
    }
    return best;
}

/* The sphere from above the region (from the front, where none is known), the cortex from one of its sides, or close to
 * the region from the side that shows it best. */
static relief_panel panel_make(const pages *p, int column, int which)
{
    static const double FRONT[3] = { 0.0, 1.0, 0.0 };
    const subject *s = &p->of[p->from[column]];
    relief_panel panel = { .scene = which == ROW_BALL ? &p->ball[column] : &p->cortex[column] };
    if (which == ROW_BALL) {
        const bool known = s->ball.radius > 0.0;
        panel.view = surface_view_towards(known ? s->ball.centre : FRONT);
        panel.name = known ? "sphere, facing the region" : "sphere, from the front";
        panel.group = GROUP_BALL;
    } else if (which == ROW_CLOSE) {
        panel.view = p->views.view[best_view(p, &s->cortex)];
        panel.name = "close to the region";
        panel.group = GROUP_CLOSE;
        panel.radius = 1.35 * s->cortex.radius;
        memcpy(panel.centre, s->cortex.centre, sizeof panel.centre);
    } else {
        panel.view = p->views.view[which];
        panel.name = p->views.name[which];
    }
    return panel;
}

static bool all_have(const pages *p, bool cortex, bool region)
{
    for (int i = 0; i < p->folders; i++) {
        const surface_scene *s = cortex ? &p->of[i].cortex : &p->of[i].ball;
        if (s->m == NULL || (region && !(s->radius > 0.0)))
            return false;
    }
    return true;
}

/* Several maps: a column each, a row a view. A single one: its views in two columns. */
static void panels_make(pages *p)
{
    int which[ROWS_MOST], count = 0;
    if (all_have(p, false, false))
        which[count++] = ROW_BALL;
    if (all_have(p, true, true))
        which[count++] = ROW_CLOSE;
    for (int v = 0; v < p->views.count && all_have(p, true, false); v++)
        which[count++] = v;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < p->columns; k++)
            p->panel[i * p->columns + k] = panel_make(p, k, which[i]);
    p->wide = p->columns > 1 || count == 1 ? p->columns : 2;
    p->rows = (count * p->columns + p->wide - 1) / p->wide;
}

/* As wide as asked for, unless that makes it higher than a page. */
static void page_fit(relief_page *page)
{
    double width = 0.0, height = 0.0;
    for (int i = 0; i < 3; i++) { /* letters keep their size, so that one step is not exact */
        relief_page_size(page, &width, &height);
        if (height > PAGE_HIGH)
            page->cell *= PAGE_HIGH / height;
    }
}

/* Streamlines end on the cortex of a brain, in RAS: the left half has x below zero. NULL: neither side prevails, as on
 * inflated surfaces. */
static const char *hemisphere_of_mesh(const mesh *m)
{
    double sum = 0.0, size = 0.0;
    for (size_t i = 0; m != NULL && i < m->vertices; i++) {
        sum += m->x[3 * i];
        size += fabs(m->x[3 * i]);
    }
    return fabs(sum) > 0.8 * size ? (sum < 0.0 ? "left" : "right") : NULL;
}

static npmd_status connectivity_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_plot_surfaces *ask = f->ask->surfaces;
    npmd_plot_surfaces sides = *ask;
    pages *p = NULL;
    TRY(memory_new(&p, 1, err));
    TRY(memory_new(&p->of, ask->folders, err));
    p->folders = ask->folders;
    for (int i = 0; i < p->folders; i++)
        TRY(subject_read(ask->folder[i], ask->region, &p->of[i], err));
    if (sides.hemisphere == NULL) /* the titles of the panels say which was found */
        sides.hemisphere = hemisphere_of_mesh(p->of[0].cortex.m);
    TRY(surface_views_find(&sides, NULL, &p->views, err));
    TRY(columns_choose(f, p, err));
    TRY(scenes_make(f, p, err));
    panels_make(p);
    relief_page page = {
        .rows = p->rows,
        .columns = p->wide,
        .panel = p->panel,
        .cell = (figure_width(f, p->wide > 1 ? PAGE_MM : COLUMN_MM) - (p->wide > p->columns ? 62.0 : 0.0)) / p->wide
                - 12.0,
        .share = { [GROUP_BALL] = 0.62, [GROUP_CLOSE] = 0.9 },
        .titles = p->columns > 1 ? p->titles : NULL,
        .bars = p->how,
        .bar_count = p->columns,
        .head = figure_top(f)
    };
    page_fit(&page);
    TRY(surface_page_draw(f, &page, err));
    for (int i = 0; i < p->folders; i++)
        f->facts.data += p->of[i].ball.m != NULL ? p->of[i].ball.points.count : p->of[i].cortex.points.count;
done:
    for (int i = 0; p != NULL && p->of != NULL && i < p->folders; i++)
        subject_free(&p->of[i]);
    if (p != NULL)
        memory_free(p->of);
    memory_free(p);
    return st;
}

static bool connectivity_takes(const figure *f)
{
    return f->ask->surfaces != NULL && f->ask->surfaces->folders > 0;
}

const figure_kind KIND_CONNECTIVITY = { .name = "connectivity",
                                        .help = "maps of a region from folders of reproduce connectivity",
                                        .fits = connectivity_takes,
                                        .wants = "folders that reproduce connectivity `roi` wrote",
                                        .takes = connectivity_takes,
                                        .uses = USES_RANGE | USES_LOG,
                                        .draw = connectivity_draw };
