/* points.h - the data: weighted points of a domain, in memory or in a mapped file.
 *
 * Points are kept in canonical form, in the columns of their domain; reading and writing convert from and to the
 * coordinates of a file. */
#ifndef NPMD_POINTS_H
#define NPMD_POINTS_H

#include "geometry.h"

/* ---- points.c: the data ------------------------------------------------------------------------------------------ */

/* Rows of numbers in a mapped file or in a caller's array; they are not copied. */
typedef struct number_rows {
    const unsigned char *bytes; /* little-endian, row-major, of any alignment; NULL: none */
    bool f4;                    /* float32, else float64 */
    size_t columns;
    void *owner;
    void (*release)(void *owner); /* NULL: the rows are borrowed */
} number_rows;

struct npmd_points {
    const npmd_domain *domain; /* the copy in owned */
    npmd_domain *owned;
    size_t n;
    double *x;        /* (n, columns), canonical; NULL: rows are read from the file when needed */
    number_rows file; /* rows in the coordinates coords */
    unsigned coords;
    double *weight;          /* (n), mean 1; NULL: in weight_file, or all 1 */
    number_rows weight_file; /* weights as given; their mean is 1 / weight_scale */
    double weight_scale;
    double total;      /* sum of the weights as given; n without weights */
    bool unordered;    /* a row and the row with its two factors exchanged are the same point */
    double angle_most; /* largest absolute value of an angle given in radians; 0: none was given */
};
npmd_status points_from(const double *x, size_t n, const npmd_domain *dom, npmd_points **out, npmd_error *err);
void points_free(npmd_points *pts);
size_t points_bytes(const npmd_points *pts);
npmd_status points_make(const npmd_domain *dom, size_t n, npmd_points **out, npmd_error *err);
void rows_release(number_rows *rows); /* releases their owner, if there is one */
/* Takes over the mapped rows, whose number of columns is right, also on failure. If a row is no point: *bad_row,
 * *factor and *reason; otherwise *reason is NULL. */
npmd_status points_map(const npmd_domain *dom, const number_rows *file, size_t n, unsigned coords, npmd_points **out,
                       size_t *bad_row, int *factor, const char **reason, npmd_error *err);
void points_unweigh(npmd_points *pts);
npmd_status points_check_distinct(const npmd_points *pts, const char *where, npmd_error *err);
/* Rows first .. first + count - 1: in place, or copied to room (count, columns). */
const double *points_rows(const npmd_points *pts, size_t first, size_t count, double *room);
/* One row in the user's coordinates, and in the domain's. */
void points_user_row(const npmd_points *pts, size_t i, double *x);
void points_row(const npmd_points *pts, size_t i, double *x);
/* Columns of a file in these coordinates: their number; and one row of them as a canonical point, NULL or why it is
 * none. */
size_t points_file_columns(const npmd_domain *dom, unsigned coords);
const char *points_from_row(const npmd_domain *dom, unsigned coords, const double *row, double *x, int *factor);
/* Why a row is no point, to follow its place in a message: "factor 2 (S2) is not finite". */
#define POINTS_REASON 256
void points_reason(const npmd_domain *dom, unsigned coords, const double *row, char text[POINTS_REASON]);
/* Takes all rows (n, file columns); returns the first that is no point, or n. */
size_t points_take(npmd_points *pts, unsigned coords, const double *rows);
/* From a row in the user's coordinates to those of a file. */
void points_to_row(const npmd_domain *dom, unsigned coords, const double *x, double *row);
/* A hash of the points, their order and their weights, whatever file they came from. */
uint64_t points_hash(const npmd_points *pts);
/* hash of one row; the same for both orders of an unordered pair */
uint64_t points_row_hash(const npmd_points *pts, size_t row);
/* The weighted mean of value (n) over the points, and its standard error. */
void weighted_mean(const npmd_points *pts, const double *value, double *mean, double *se);

/* ---- points_read.c: points from files and arrays, with weights from either --------------------------------------- */

npmd_status coords_parse(const char *text, unsigned *out, npmd_error *err);
npmd_status points_read(const char *path, const npmd_domain *dom, unsigned coords, npmd_points **out, npmd_error *err);
npmd_status points_from_rows(const double *rows, size_t n, size_t columns, const npmd_domain *dom, unsigned coords,
                             npmd_points **out, npmd_error *err);
npmd_status points_borrow(const void *rows, int float32, size_t n, size_t columns, const npmd_domain *dom,
                          unsigned coords, npmd_points **out, npmd_error *err);
npmd_status points_user_rows(const npmd_points *pts, unsigned coords, double *rows, npmd_error *err);
npmd_status points_weigh(npmd_points *pts, const char *weights_path, npmd_error *err);
npmd_status points_weigh_by(npmd_points *pts, const double *weight, size_t n, npmd_error *err);
npmd_status points_write(const char *path, const npmd_domain *dom, unsigned coords, const double *x, size_t n,
                         npmd_error *err);

static inline double number_at(const number_rows *r, size_t i) /* the i-th number */
{
    float single;
    double value;
    if (!r->f4) {
        memcpy(&value, r->bytes + i * sizeof value, sizeof value);
        return value;
    }
    memcpy(&single, r->bytes + i * sizeof single, sizeof single);
    return (double)single;
}
static inline bool points_weighted(const npmd_points *pts)
{
    return pts->weight != NULL || pts->weight_file.bytes != NULL;
}
static inline double points_weight(const npmd_points *pts, size_t i)
{
    if (pts->weight != NULL)
        return pts->weight[i];
    return pts->weight_file.bytes == NULL ? 1.0 : pts->weight_scale * number_at(&pts->weight_file, i);
}

#endif
