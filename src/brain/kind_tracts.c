/* kind_tracts.c - streamlines inside a surface, and where they end: on it, and on the sphere it is registered to.
 *
 * Streamlines count if both ends lie within a distance of the surface, as in the command endpoints. Some of them,
 * chosen by a fixed shuffle, are drawn behind a translucent surface in the usual colours of directions: red left-right,
 * green back-front, blue down-up. Beside it are the ends of as many pairs: starts red, ends blue. */
#include "brain.h"
#include "tracts.h"

#include <stdio.h>

enum { TRACTS_DRAWN = 1500, PAIRS_DRAWN = 4000 };
static const double DISTANCE = 5.0; /* mm, as endpoints has it */
static const double STEP = 1.0; /* mm: points of a streamline that are closer than this to the last are passed over */
static const colour START = { 200, 40, 45 }, END = { 35, 85, 200 }, EDGE_INK = { 255, 255, 255 };

typedef struct tract_job {
    const npmd_plot_surfaces *ask;
    hemisphere cortex;
    double most;
    affine transform, voxel_to_ras;
    size_t number; /* in all files, of the streamline that is read */
    /* found in the first reading */
    size_t seen, kept, room;
    struct landing {
        size_t number; /* in all files */
        surface_point at[2];
    } * ends; /* (kept) */
    /* how many are drawn, and which */
    size_t lines, pairs;
    bool *drawn; /* (seen) */
    /* found in the second reading */
    double *x; /* (segments, 2, 3) */
    colour *ink;
    size_t segments, x_room, ink_room;
} tract_job;

/* Every streamline of every file, with all of its points or with its ends alone. */
typedef npmd_status (*streamline_fn)(tract_job *j, const tracts *t, const streamline *s, npmd_error *err);
static npmd_status tracks_read(tract_job *j, bool paths, streamline_fn take, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    tracts *t = NULL;
    streamline s = { 0 };
    j->number = 0;
    for (int file = 0; file < j->ask->track_files; file++) {
        TRY(tracts_open(j->ask->tracks[file], j->ask->affine != NULL ? &j->voxel_to_ras : NULL, &t, err));
        if (paths)
            tracts_keep_paths(t);
        for (bool more = true; more; j->number += more) {
            TRY(tracts_next(t, &s, &more, err));
            if (more)
                TRY(take(j, t, &s, err));
        }
        tracts_close(t);
        t = NULL;
    }
done:
    tracts_close(t);
    return st;
}

/* ---- first reading: which streamlines count ---------------------------------------------------------------------- */

static npmd_status end_keep(tract_job *j, const tracts *t, const streamline *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    struct landing l = { .number = j->number };
    double p[2][3];
    bool near = s->points >= 2;
    (void)t;
    affine_apply(&j->transform, s->start, p[0]);
    affine_apply(&j->transform, s->end, p[1]);
    for (int end = 0; end < 2 && near; end++)
        near = locator_nearest(j->cortex.near, p[end], &l.at[end]) <= j->most;
    if (!near)
        goto done;
    TRY(memory_grow((void **)&j->ends, &j->room, j->kept + 1, sizeof *j->ends, err));
    j->ends[j->kept++] = l;
done:
    return st;
}

static npmd_status ends_find(tract_job *j, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(tracks_read(j, false, end_keep, err));
    j->seen = j->number;
    if (j->kept == 0)
        st = npmd_fail(err, NPMD_ERR_FORMAT,
                       "none of %zu streamlines has both ends within %g mm of %s: are they in another space?", j->seen,
                       j->most, j->ask->surface);
done:
    return st;
}

/* ---- second reading: their paths --------------------------------------------------------------------------------- */

static colour direction_colour(const double *a, const double *b)
{
    const double d[3] = { fabs(b[0] - a[0]), fabs(b[1] - a[1]), fabs(b[2] - a[2]) };
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    unsigned char c[3];
    for (int k = 0; k < 3; k++)
        c[k] = (unsigned char)lrint(255.0 * (length > 0.0 ? 0.1 + 0.85 * d[k] / length : 0.5));
    return (colour){ c[0], c[1], c[2] };
}

static npmd_status path_add(tract_job *j, const tracts *t, const streamline *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double *x = tracts_path(t);
    const size_t points = s->points;
    double last[3], next[3];
    if (j->number >= j->seen || !j->drawn[j->number])
        goto done;
    affine_apply(&j->transform, x, last);
    for (size_t i = 1; i < points; i++) {
        affine_apply(&j->transform, x + 3 * i, next);
        const double step = hypot(hypot(next[0] - last[0], next[1] - last[1]), next[2] - last[2]);
        if (step < STEP && i + 1 < points)
            continue;
        TRY(memory_grow((void **)&j->x, &j->x_room, j->segments + 1, 6 * sizeof *j->x, err));
        TRY(memory_grow((void **)&j->ink, &j->ink_room, j->segments + 1, sizeof *j->ink, err));
        memcpy(j->x + 6 * j->segments, last, sizeof last);
        memcpy(j->x + 6 * j->segments + 3, next, sizeof next);
        j->ink[j->segments++] = direction_colour(last, next);
        memcpy(last, next, sizeof last);
    }
done:
    return st;
}

static npmd_status paths_choose(tract_job *j, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t most = j->ask->most > 0 ? (size_t)j->ask->most : TRACTS_DRAWN;
    j->lines = j->kept < most ? j->kept : most;
    j->pairs = j->kept < PAIRS_DRAWN ? j->kept : PAIRS_DRAWN;
    TRY(memory_new(&j->drawn, j->seen, err));
    for (size_t k = 0; k < j->lines; k++)
        j->drawn[j->ends[rng_permute(rng_key_make(0, RNG_TEST, 0), k, j->kept)].number] = true;
    TRY(tracks_read(j, true, path_add, err));
done:
    return st;
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* x (pairs, 3): one end of the pairs that are drawn, on the surface or on the sphere. */
static npmd_status ends_place(const tract_job *j, int end, const mesh *on, double **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *x = NULL;
    TRY(memory_new(&x, 3 * j->pairs, err));
    for (size_t k = 0; k < j->pairs; k++) {
        const surface_point *at = &j->ends[rng_permute(rng_key_make(0, RNG_TEST, 0), k, j->kept)].at[end];
        mesh_point(on, at->face, at->u, at->v, x + 3 * k);
    }
    *out = x;
done:
    return st;
}

static relief_points ends_points(const tract_job *j, const double *x, colour ink)
{
    return (relief_points){ .count = j->pairs, .x = x, .ink = ink, .edge = EDGE_INK, .radius = 0.55, .rim = 0.12 };
}

static relief_scene mesh_scene(const mesh *m)
{
    const surface_scene s = { .m = m };
    relief_scene scene = surface_scene_relief(&s, NULL, NULL);
    scene.line_sets = scene.point_sets = 0;
    scene.lines = NULL;
    scene.points = NULL;
    return scene;
}

static npmd_status page_draw(figure *f, tract_job *j, const surface_views *views, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    enum { SHOWN = 2 };
    static const char *const TITLES[3] = { "A  streamlines", "B  their ends on the surface", "C  and on the sphere" };
    const bool ball = j->cortex.sphere.vertices > 0;
    const int columns = ball ? 3 : 2, rows = views->count < SHOWN ? views->count : SHOWN;
    double *x[4] = { NULL };
    relief_panel panel[3 * SHOWN] = { { 0 } };
    char note[256];
    for (int k = 0; k < (ball ? 4 : 2); k++)
        TRY(ends_place(j, k % 2, k < 2 ? &j->cortex.surface : &j->cortex.sphere, &x[k], err));
    const relief_points on_cortex[2] = { ends_points(j, x[0], START), ends_points(j, x[1], END) };
    const relief_points on_ball[2] = { ends_points(j, x[2], START), ends_points(j, x[3], END) };
    const relief_lines paths = { .segments = j->segments, .x = j->x, .inks = j->ink, .thickness = 0.4, .round = true };
    relief_scene scene[3] = { mesh_scene(&j->cortex.surface), mesh_scene(&j->cortex.surface) };
    scene[0].lines = &paths, scene[0].line_sets = 1, scene[0].opacity = 0.14;
    scene[1].points = on_cortex, scene[1].point_sets = 2;
    if (ball) {
        scene[2] = mesh_scene(&j->cortex.sphere);
        scene[2].points = on_ball, scene[2].point_sets = 2;
    }
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < columns; k++)
            panel[r * columns + k] = (relief_panel){
                .scene = &scene[k], .view = views->view[r], .name = views->name[r], .group = k == 2
            };
    const legend_row legend[2] = { { .label = "start", .line = { .ink = START }, .disc = 1.6 },
                                   { .label = "end", .line = { .ink = END }, .disc = 1.6 } };
    const relief_page page = { .rows = rows,
                               .columns = columns,
                               .panel = panel,
                               .cell = (figure_width(f, PAGE_MM) - 12.0 * columns) / columns,
                               .share = { 0.0, 0.66 },
                               .titles = TITLES,
                               .head = figure_top(f),
                               .foot = 12.0,
                               .legend = legend,
                               .legend_rows = 2 };
    TRY(surface_page_draw(f, &page, err));
    snprintf(
        note, sizeof note,
        "%zu of %zu streamlines with both ends within %g mm of the surface (of %zu in all), %zu of their pairs of ends. "
        "Colour: red left-right, green front-back, blue up-down.",
        j->lines, j->kept, j->most, j->seen, j->pairs);
    figure_note(f, 6.0, canvas_height(f->page) - 6.0, canvas_width(f->page) - 12.0, note);
    f->facts.data = j->pairs;
done:
    for (int k = 0; k < 4; k++)
        memory_free(x[k]);
    return st;
}

static npmd_status tracts_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_plot_surfaces *ask = f->ask->surfaces;
    tract_job j = { .ask = ask, .most = ask->max_distance > 0.0 ? ask->max_distance : DISTANCE };
    surface_views views;
    j.transform = AFFINE_IDENTITY;
    TRY(surface_views_find(ask, ask->surface, &views, err));
    if (ask->space != NULL)
        TRY(affine_from_space(ask->space, &j.transform, err));
    if (ask->transform != NULL)
        TRY(affine_read(ask->transform, &j.transform, err));
    if (ask->affine != NULL)
        TRY(affine_read(ask->affine, &j.voxel_to_ras, err));
    TRY(hemisphere_open(ask->surface, ask->sphere, &j.cortex, err));
    TRY(ends_find(&j, err));
    TRY(paths_choose(&j, err));
    TRY(page_draw(f, &j, &views, err));
done:
    hemisphere_close(&j.cortex);
    memory_free_all(j.ends, j.drawn, j.x, j.ink);
    return st;
}

static bool tracts_takes(const figure *f)
{
    const npmd_plot_surfaces *ask = f->ask->surfaces;
    return ask != NULL && ask->track_files > 0 && ask->surface != NULL;
}

const figure_kind KIND_TRACTS = { .name = "tracts",
                                  .help = "streamlines in a surface, and where they end",
                                  .fits = tracts_takes,
                                  .wants = "`tracks` and `surface`",
                                  .takes = tracts_takes,
                                  .draw = tracts_draw };
