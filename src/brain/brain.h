/* brain.h - figures of surfaces, brains above all: densities and values on them, maps and matrices of regions,
 * streamlines, eigenfunctions; and what these figures share: the sides a surface is seen from, and what is drawn on
 * it. */
#ifndef NPMD_BRAIN_H
#define NPMD_BRAIN_H

#include "figures.h"
#include "relief.h"
#include "surface.h"

extern const figure_kind KIND_SURFACE, KIND_VALUES, KIND_MATRIX, KIND_CONNECTIVITY, KIND_TRACTS, KIND_EIGENFUNCTIONS;

extern const colour SURFACE_GROUND; /* colour of a surface without values */

/* ---- surface_views.c --------------------------------------------------------------------------------------------- */

#define VIEWS_MOST 8
typedef struct surface_views {
    relief_view view[VIEWS_MOST];
    char name[VIEWS_MOST][24];
    int count;
} surface_views;
/* By the views, hemisphere and up axis of the request. Without these, a file whose name tells its hemisphere is seen
 * from the lateral, medial, dorsal and ventral side, and any other surface from four sides about the upright axis. file
 * may be NULL. */
npmd_status surface_views_find(const npmd_plot_surfaces *ask, const char *file, surface_views *out, npmd_error *err);
/* The view with this direction towards the eye, as upright as possible. */
relief_view surface_view_towards(const double towards[3]);

/* ---- surface_scene.c: a mesh, a region on it, points on it ------------------------------------------------------- */

typedef struct surface_scene {
    mesh own;        /* read from a file; mesh_free */
    const mesh *m;   /* own, or a borrowed one */
    double *outline; /* outline of the region */
    double *point;   /* (points, 3), owned */
    relief_lines lines;
    relief_points points;
    double centre[3], radius; /* of the region: the mean of its vertices, and their largest distance from it */
} surface_scene;
npmd_status surface_scene_read(const char *path, surface_scene *out, npmd_error *err);
void surface_scene_free(surface_scene *s);
/* The sphere of radius 1 with this many steps from pole to pole, and twice as many around. */
npmd_status ball_make(int steps, mesh *out, npmd_error *err);
/* Sets the region, by its name in these labels. */
npmd_status surface_scene_region(surface_scene *s, const char *labels_path, const char *region, npmd_error *err);
/* Takes over x (count, 3); memory_free frees it with the scene. */
void surface_scene_points(surface_scene *s, double *x, size_t count);
relief_scene surface_scene_relief(const surface_scene *s, const double *value, const shade *how);
/* The range of the finite values; false: there are none. */
bool values_range(const double *value, size_t n, double *least, double *most);
/* A scale for these values: as the request asks; else from 0 where none is negative, from the least to the largest
 * where none is positive, and balanced about 0 where both signs occur. */
npmd_status values_shade(const figure *f, const char *name, const double *value, size_t n, shade *out, npmd_error *err);
/* Opens a page of the right size, draws its panels and fills the figure's facts. */
npmd_status surface_page_draw(figure *f, const relief_page *page, npmd_error *err);
/* The views of one scene, in two columns. */
npmd_status surface_single_draw(figure *f, const relief_scene *scene, const surface_views *views, const shade *how,
                                npmd_error *err);

#endif
