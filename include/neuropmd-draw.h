/* neuropmd-draw.h - figures of densities and of fits, and pages to turn and click. The library libneuropmd-draw stands
 * on libneuropmd, and on nothing of it but its header. Everything here is experimental: it may change with any version.
 * Conventions are those of neuropmd.h. */
#ifndef NEUROPMD_DRAW_H
#define NEUROPMD_DRAW_H

#include "neuropmd-surfaces.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

typedef enum npmd_plot_what {
    NPMD_PLOT_DENSITY,  /* per volume of what is shown */
    NPMD_PLOT_RELATIVE, /* relative to the uniform density */
    NPMD_PLOT_SPREAD    /* standard deviation of log f over the members of an ensemble */
} npmd_plot_what;
NPMD_API const char *npmd_plot_what_name(int i); /* NULL after the last */
NPMD_API npmd_status npmd_plot_what_parse(const char *text, npmd_plot_what *what, npmd_error *err);

/* For figures of surfaces. Texts are names of files unless said otherwise. */
typedef struct npmd_plot_surfaces {
    size_t size;
    const char *surface; /* the surface that is drawn, or that the tracts end at */
    const char *sphere;  /* the one it is registered to; NULL: none */
    const char *values;  /* on the vertices, .gii .vtk .csv .npy; or a matrix of regions */
    const char *column;  /* of the values or of the maps: its name, or its number from 1; NULL: the first, all */
    const char *labels, *region; /* a region for every vertex, and the name of the one that is outlined */
    const char *points;          /* x y z, drawn on the values */
    const char *views;           /* "lateral,medial" or axes, "+x,-z"; NULL: chosen */
    const char *hemisphere, *up; /* "left" or "right"; the axis that points up, "x", "y" or "z" (also NULL) */
    const char *const *folder;   /* (folders): results of reproduce connectivity */
    int folders;
    const char *const *tracks; /* (track_files): streamlines */
    int track_files;
    const char *affine, *transform, *space; /* as in npmd_endpoints_request */
    double max_distance;
    int most;           /* streamlines drawn; 0: 1,500 */
    const char *domain; /* whose eigenfunctions are drawn: "S1^2", "S2", "mesh:FILE" */
    double eigenvalue;  /* of S1^2 and S2; 0: 20 */
    int function;       /* of a mesh: the first of four; 0: 9 */
    int linear;         /* 1: colours of a matrix on a linear scale */
} npmd_plot_surfaces;

typedef struct npmd_plot_request {
    size_t size;
    const npmd_model *const *model; /* (models), on one domain: side by side with one range of colours */
    const char *const *name;        /* (models): their titles; NULL: by their estimators */
    int models;
    const char *const *file; /* (files), instead of models: logs of fits or results of reproduce, JSON lines */
    int files;
    const npmd_truth *truth; /* a known density, drawn first; NULL: none */
    const npmd_points *data; /* drawn as points; NULL: none */
    const char *kind;        /* by the name of npmd_plot_kind; NULL: by what is given */
    const char *title;       /* over the whole; NULL: none */
    npmd_plot_what what;
    int log_scale;                      /* 1: of colours or heights */
    const double *level;                /* (levels): contours that enclose this many per cent of the probability */
    int levels;                         /* 0: 50, 90 and 99, with data none; negative: none */
    unsigned factors;                   /* bits: which are shown where a figure shows some; 0: all */
    unsigned given;                     /* bits: the conditional density given these */
    const npmd_points *at;              /* the given point: the first row, on the product of the given factors */
    const double *range;                /* (ranges, 2): ends of the colours, or of heights, for each row of maps */
    int ranges;                         /* 0: chosen */
    unsigned coords;                    /* NPMD_COORDS_DEGREES labels circles in degrees */
    int grid;                           /* nodes along a side; 0: chosen */
    double width_mm, dpi;               /* 0: 85 or 180 by the number of panels; 300 */
    uint64_t seed;                      /* of draws, where a marginal is made of them */
    const npmd_plot_surfaces *surfaces; /* NULL: none of that */
    const npmd_compute *how;
} npmd_plot_request;

typedef struct npmd_plot_facts {
    size_t size;
    const char *kind;
    int panels;
    double low, high;           /* range of the colours, or of the heights (of the first row); NaN: there is none */
    double width_mm, height_mm; /* of the picture */
    double mass_error;          /* largest |integral - 1| of the densities drawn, by their own nodes; NaN: none */
    size_t data;                /* points drawn */
} npmd_plot_facts;

/* One figure as .png or .svg, by the suffix of the path; facts may be NULL. */
NPMD_API npmd_status npmd_plot(const npmd_plot_request *what, const char *path, npmd_plot_facts *facts,
                               npmd_error *err);
/* The figures there are: the name of the i-th, NULL after the last; help may be NULL. */
NPMD_API const char *npmd_plot_kind(int i, const char **help);
/* Does the file hold JSON lines, which go to npmd_plot as they are? 1 or 0. */
NPMD_API int npmd_plot_is_lines(const char *path);

/* ---- An interactive page ----------------------------------------------------------------------------------------- */

typedef struct npmd_view_request {
    size_t size;
    const char *title;       /* NULL: the domain and the number of points */
    const char *name[2];     /* what the factors shown are called; NULL: their kind */
    unsigned factors;        /* one or two, as bits; 0: the first two. The others are integrated out */
    size_t nodes;            /* on each of them, at most; 0: by the domain; a million is the most */
    unsigned coords;         /* how places are read out */
    const npmd_points *data; /* shown as points; NULL: none */
    size_t most_points;      /* of them, chosen at random; 0: 5,000 */
    /* What a factor S2 is drawn on: this surface, by the sphere that it is registered to; NULL: a globe. */
    const npmd_surface *surface[2], *sphere[2];
    double accuracy; /* of integrals, see npmd_marginal_at */
    uint64_t seed;
    const npmd_compute *how;
} npmd_view_request;
typedef struct npmd_view_facts {
    size_t size;
    int factors, factor[2]; /* shown, and which, from 1 */
    size_t nodes[2];
    size_t points, points_shown;
    double level_error; /* of every density on the page, relative: its log is kept in steps */
    double mass;        /* the integral by the nodes: 1 is right */
    double sum_error;   /* the largest relative error of marginal densities by the nodes, among those compared */
    size_t compared;    /* nodes at which they were; 0 for a model of one factor or of more than two */
    size_t bytes;       /* of the file, 8 million at most */
} npmd_view_facts;
/* One HTML file that needs no server and no network: the density on one or two factors, to turn, click and compare; see
 * docs/view.md. what and facts may be NULL. NPMD_ERR_DEVICE in a build without three.js. */
NPMD_API npmd_status npmd_view(const npmd_model *m, const npmd_view_request *what, const char *path,
                               npmd_view_facts *facts, npmd_error *err);

#ifdef __cplusplus
}
#endif
#endif
