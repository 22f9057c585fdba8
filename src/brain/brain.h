/* brain.h - figures of surfaces, brains above all: densities and values on them, maps of regions, matrices of regions,
 * streamlines, eigenfunctions; and what these figures share: sides a surface is seen from, what is drawn on it. */
#ifndef NPMD_BRAIN_H
#define NPMD_BRAIN_H

#include "figures.h"
#include "relief.h"
#include "surface.h"

extern const figure_kind KIND_SURFACE, KIND_VALUES, KIND_MATRIX, KIND_CONNECTIVITY, KIND_TRACTS, KIND_EIGENFUNCTIONS;

extern const colour SURFACE_GROUND; /* of a surface without values */

/* ---- surface_views.c ------------------------------------------------------------------------------------- */

#define VIEWS_MOST 8
typedef struct surface_views {
    relief_view view[VIEWS_MOST];
    char name[VIEWS_MOST][24];
    int count;
} surface_views;
/* From request's views, hemisphere and up; where nothing is said, a file whose name tells a hemisphere is seen from the
 * lateral, medial, dorsal and ventral side, and any other surface from four sides about the upright axis. file may be
 * NULL. */
npmd_status surface_views_find(const npmd_plot_surfaces *ask, const char *file, surface_views *out, npmd_error *err);
/* One view with this direction towards the eye, as upright as it can be. */
relief_view surface_view_towards(const double towards[3]);

/* ---- surface_scene.c: a mesh, a region on it, points on it ------------------------------------------------- */

typedef struct surface_scene {
    mesh own;        /* read from a file; mesh_free */
    const mesh *m;   /* own, or another's */
    double *outline; /* of the region */
    double *point;   /* (points, 3), to be freed */
    relief_lines lines;
    relief_points points;
    double centre[3], radius; /* of the region: the mean of its vertices, and how far they reach */
} surface_scene;
npmd_status surface_scene_read(const char *path, surface_scene *out, npmd_error *err);
void surface_scene_free(surface_scene *s);
/* The region by name in these labels. */
npmd_status surface_scene_region(surface_scene *s, const char *labels_path, const char *region, npmd_error *err);
/* Takes over x (count, 3), memory_free'd with the scene. */
void surface_scene_points(surface_scene *s, double *x, size_t count);
relief_scene surface_scene_relief(const surface_scene *s, const double *value, const shade *how);
/* The range of finite numbers. false: there is none. */
bool values_range(const double *value, size_t n, double *least, double *most);
/* A scale for these values: from 0 where none is negative, balanced about 0 where some are, from the least to the
 * largest where none is positive, as asked for else. */
npmd_status values_shade(const figure *f, const char *name, const double *value, size_t n, shade *out, npmd_error *err);
/* Draws the page: its size, its panels, what the facts say. */
npmd_status surface_page_draw(figure *f, const relief_page *page, npmd_error *err);
/* The views of one scene in two columns, or in one row of up to two. */
npmd_status surface_single_draw(figure *f, const relief_scene *scene, const surface_views *views, const shade *how,
                                npmd_error *err);

#endif
