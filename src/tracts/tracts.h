/* tracts.h - streamlines: the files that hold them, and where their ends meet a surface.
 *
 * A file is read in pieces, inflated if it is a gzip file, one streamline after the other: memory does not grow with
 * its size. Of a streamline only the two ends are kept. Readers give points in RAS mm: x to the right, y to the front,
 * z up, in the space of the scanner or of a template. */
#ifndef NPMD_TRACTS_H
#define NPMD_TRACTS_H

#include "surface.h"

/* ---- affine.c: y = a x + b --------------------------------------------------------------------------------------- */

typedef struct affine {
    double a[3][4]; /* the last column is b */
} affine;
extern const affine AFFINE_IDENTITY;
void affine_apply(const affine *m, const double x[3], double y[3]); /* y may be x */
affine affine_after(const affine *outer, const affine *inner);      /* x -> outer(inner(x)) */
/* The volume spanned by the unit vectors along its columns, 0 (singular) to 1, with the sign of the determinant. */
double affine_spread(const affine *m);
/* A table of numbers: .npy, or text, whatever its name. */
npmd_status numbers_read(const char *path, table *out, npmd_error *err);
/* Four rows of four numbers, the last one 0 0 0 1, as text (or .npy); a singular one is refused. */
npmd_status affine_read(const char *path, affine *out, npmd_error *err);
/* From a named space, "mni152", to that of FreeSurfer's fsaverage; NPMD_ERR_ARGUMENT for any other. */
npmd_status affine_from_space(const char *space, affine *out, npmd_error *err);

/* The direction of each voxel axis: axis 0, 1, 2 for left-right, back-front, down-up; sign +1 towards R, A, S. */
typedef struct orientation {
    int axis[3], sign[3];
} orientation;
/* From three letters, one of each pair L R, P A, I S; false: other letters. */
bool orientation_parse(const char letters[3], orientation *out);
/* The orientation closest to a matrix from voxels to RAS mm, by its orthogonal polar factor; the spread must not be
 * 0. */
orientation orientation_of(const affine *voxel_to_ras);

/* ---- tracts.c: a table of formats, known by their first bytes ---------------------------------------------------- */

typedef struct streamline {
    size_t points;
    double start[3], end[3]; /* RAS mm; set if there is at least one point */
} streamline;

typedef struct tracts tracts;
/* .trk (TrackVis) and .tck (MRtrix), also as gzip files. voxel_to_ras replaces the matrix in the header of a .trk;
 * NULL: the header's. A .tck has no voxels and is refused with such a matrix. */
npmd_status tracts_open(const char *path, const affine *voxel_to_ras, tracts **out, npmd_error *err);
/* After the last one *more is false and out unchanged; a file that ends early is NPMD_ERR_FORMAT. */
npmd_status tracts_next(tracts *t, streamline *out, bool *more, npmd_error *err);
void tracts_close(tracts *t); /* accepts NULL */
/* From now on keeps all points of a streamline: tracts_path gives those of the last one, (points, 3), until the next is
 * read. */
void tracts_keep_paths(tracts *t);
const double *tracts_path(const tracts *t);

/* ---- tracts_trk.c, tracts_tck.c: the table of a format ----------------------------------------------------------- */

typedef struct tracts_format {
    const char *magic; /* the first bytes of the file */
    npmd_status (*header)(tracts *t, const affine *voxel_to_ras, npmd_error *err);
    npmd_status (*next)(tracts *t, streamline *out, bool *more, npmd_error *err);
} tracts_format;
extern const tracts_format TRACTS_TRK, TRACTS_TCK;

struct tracts {
    char *path;
    const tracts_format *format;
    gzip_source *source;
    unsigned char *window; /* bytes read and not yet used: window[begin .. end - 1] */
    size_t begin, end, at; /* at: offset of window[begin] in the inflated file */
    bool over;             /* the last streamline was read */
    size_t done, count;    /* streamlines read so far; streamlines in the file, 0: unknown */
    bool big_endian;
    number_type type;           /* of coordinates: NUMBER_F32 or NUMBER_F64 */
    size_t scalars, properties; /* numbers after each point, and after each streamline, that are skipped */
    affine to_ras;              /* map of the coordinates in the file */
    bool keeps;                 /* all points of a streamline are kept, not its ends alone */
    double *kept;               /* (points, 3): those of the last streamline, RAS mm */
    size_t kept_room;
};
#define TRACTS_WINDOW 262144 /* bytes; more than any header, and any point with its scalars */
/* The next n <= TRACTS_WINDOW bytes; fewer (*got) only at the end of the file. tracts_skip moves on. */
npmd_status tracts_peek(tracts *t, size_t n, const unsigned char **bytes, size_t *got, npmd_error *err);
void tracts_skip(tracts *t, size_t n); /* skips n bytes that were peeked at */
/* One point, three numbers of t->type, in the coordinates of the file. */
void tracts_point(const tracts *t, const unsigned char *bytes, double x[3]);
/* Keeps the i-th point of the current streamline, in the coordinates of the file; does nothing unless paths are
 * kept. */
npmd_status tracts_keep(tracts *t, size_t i, const double x[3], npmd_error *err);
int64_t tracts_integer(const tracts *t, const unsigned char *bytes, number_type type); /* of 32 bits at most */
/* An error: the file ends after got more bytes. */
npmd_status tracts_cut_fail(const tracts *t, size_t got, npmd_error *err);
npmd_status tracts_count_fail(const tracts *t, const char *found, npmd_error *err);

struct npmd_endpoints {
    npmd_endpoints_facts facts;
    double *x[NPMD_PAIRS];      /* (count, 6): start and end, unit vectors or mm; NULL where count is 0 */
    double *weight[NPMD_PAIRS]; /* (count); NULL where there are none */
};
npmd_status endpoints_find(const npmd_endpoints_request *what, int threads, npmd_endpoints *out, npmd_error *err);
void endpoints_free(npmd_endpoints *e); /* frees its arrays, not e itself */

/* ---- endpoints.c, hemisphere.c: the ends on a surface ------------------------------------------------------------ */

typedef struct hemisphere {
    mesh surface, sphere; /* with equal faces; sphere.vertices is 0 where ends stay on the surface */
    locator *near;        /* locator of the surface */
} hemisphere;
/* sphere NULL: none. The locator borrows the surface, so a hemisphere must not be moved in memory. */
npmd_status hemisphere_open(const char *surface, const char *sphere, hemisphere *out, npmd_error *err);
void hemisphere_close(hemisphere *h);
/* The position of a point: on the unit sphere, by its barycentric coordinates; without a sphere, on the surface. */
void hemisphere_place(const hemisphere *h, const surface_point *at, double x[3]);

#endif
