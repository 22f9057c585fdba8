/* tracts.h - streamlines: the files that hold them, and where their ends meet a surface.
 *
 * A file is read in pieces, inflated on the way if it is a gzip file, one streamline after the other: memory does not
 * grow with it. Of a streamline its two ends are kept. Points leave a reader in RAS mm: x to the right, y to the front,
 * z up, in the space of the scanner or of a template. */
#ifndef NPMD_TRACTS_H
#define NPMD_TRACTS_H

#include "surface.h"

/* ---- affine.c: y = a x + b -------------------------------------------------------------------------------- */

typedef struct affine {
    double a[3][4]; /* the last column is b */
} affine;
extern const affine AFFINE_IDENTITY;
void affine_apply(const affine *m, const double x[3], double y[3]); /* y may be x */
affine affine_after(const affine *outer, const affine *inner);      /* x -> outer(inner(x)) */
/* The volume that unit vectors along its columns span, 0 (it flattens space) to 1, with the sign of the determinant. */
double affine_spread(const affine *m);
affine affine_inverse(const affine *m); /* its spread is not 0 */
/* Four rows of four numbers, the last one 0 0 0 1, as text (or .npy); one that flattens space is refused. */
npmd_status affine_read(const char *path, affine *out, npmd_error *err);
/* From a named space to that of FreeSurfer's fsaverage. "mni152"; else NPMD_ERR_ARGUMENT. */
npmd_status affine_from_space(const char *space, affine *out, npmd_error *err);

/* Which way each voxel axis runs: axis 0, 1, 2 for left-right, back-front, down-up; sign +1 for R, A, S. */
typedef struct orientation {
    int axis[3], sign[3];
} orientation;
/* Three letters, one of each pair L R, P A, I S; false: they are something else. */
bool orientation_parse(const char letters[3], orientation *out);
/* The closest one to a matrix from voxels to RAS mm, by its orthogonal polar factor; the spread is not 0. */
orientation orientation_of(const affine *voxel_to_ras);

/* ---- tracts.c: a table of formats, known by their first bytes ------------------------------------------------ */

typedef struct streamline {
    size_t points;
    double start[3], end[3]; /* RAS mm; of at least one point */
} streamline;

typedef struct tracts tracts;
/* .trk (TrackVis) and .tck (MRtrix), also as gzip files. voxel_to_ras stands in for what the header of a .trk says, or
 * does not say; NULL: the header's. A .tck has no voxels: it is refused with one. */
npmd_status tracts_open(const char *path, const affine *voxel_to_ras, tracts **out, npmd_error *err);
/* *more is false, and out as it was, after the last one; an end before that is NPMD_ERR_FORMAT. */
npmd_status tracts_next(tracts *t, streamline *out, bool *more, npmd_error *err);
void tracts_close(tracts *t); /* accepts NULL */
/* From now on all points of a streamline are kept: tracts_path gives those of the last one, (points, 3), until the
 * next. */
void tracts_keep_paths(tracts *t);
const double *tracts_path(const tracts *t);

/* ---- tracts_trk.c, tracts_tck.c: what a format is made of ------------------------------------------------------ */

typedef struct tracts_format {
    const char *name, *magic; /* the first bytes of the file */
    npmd_status (*header)(tracts *t, const affine *voxel_to_ras, npmd_error *err);
    npmd_status (*next)(tracts *t, streamline *out, bool *more, npmd_error *err);
} tracts_format;
extern const tracts_format TRACTS_TRK, TRACTS_TCK;

struct tracts {
    char *path;
    const tracts_format *format;
    gzip_source *source;
    unsigned char *window; /* bytes of the file that are read and not yet used: window[begin .. end - 1] */
    size_t begin, end, at; /* at: where in the file, inflated, window[begin] stands */
    bool over;             /* the last streamline was read */
    size_t done, count;    /* streamlines: read so far; in the file, 0: it does not say */
    bool big_endian;
    size_t width;               /* bytes of a number: 4 or 8 */
    size_t scalars, properties; /* numbers beside each point, and behind each streamline, that are skipped */
    affine to_ras;              /* of the numbers in the file */
    bool keeps;                 /* all points of a streamline are wanted, not its ends alone: */
    double *kept;               /* (points, 3) of the last one, RAS mm */
    size_t kept_room;
};
#define TRACTS_WINDOW 262144 /* bytes; larger than any header and any point with its scalars */
/* The next n <= TRACTS_WINDOW bytes; fewer (*got) only where the file ends. They remain the next ones until the
 * skip. */
npmd_status tracts_peek(tracts *t, size_t n, const unsigned char **bytes, size_t *got, npmd_error *err);
void tracts_skip(tracts *t, size_t n); /* of those that were peeked at */
/* One point, three numbers of this width, as they stand in the file. */
void tracts_point(const tracts *t, const unsigned char *bytes, double x[3]);
/* The i-th point of the streamline that is read, as it stands in the file; does nothing unless paths are kept. */
npmd_status tracts_keep(tracts *t, size_t i, const double x[3], npmd_error *err);
int64_t tracts_integer(const tracts *t, const unsigned char *bytes, size_t width); /* signed */
npmd_status tracts_cut_fail(const tracts *t, size_t got, npmd_error *err);         /* it ends got bytes ahead */
npmd_status tracts_count_fail(const tracts *t, const char *found, npmd_error *err);

struct npmd_endpoints {
    npmd_endpoints_facts facts;
    double *x[NPMD_PAIRS];      /* (count, 6): start and end, unit vectors or mm; NULL where count is 0 */
    double *weight[NPMD_PAIRS]; /* (count); NULL where there are none */
};
npmd_status endpoints_find(const npmd_endpoints_request *what, int threads, npmd_endpoints *out, npmd_error *err);
void endpoints_free(npmd_endpoints *e); /* what it holds, not e itself */

/* ---- endpoints.c, hemisphere.c: the ends on a surface ----------------------------------------------------------- */

typedef struct hemisphere {
    mesh surface, sphere; /* equal faces; sphere.vertices is 0 where ends stay on the surface */
    locator *near;        /* on the surface */
} hemisphere;
/* sphere NULL: there is none. The closest point of a hemisphere borrows its surface: it is not to be moved. */
npmd_status hemisphere_open(const char *surface, const char *sphere, hemisphere *out, npmd_error *err);
void hemisphere_close(hemisphere *h);
/* The point's place: on the unit sphere, by its barycentric coordinates on the surface; or on the surface itself. */
void hemisphere_place(const hemisphere *h, const surface_point *at, double x[3]);

#endif
