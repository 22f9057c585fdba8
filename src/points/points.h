/* points.h - the data: points of a domain, with their weights, in memory or in a mapped file.
 *
 * A point is kept in its canonical form and in the columns of its domain; what a file has in other coordinates is
 * turned on the way in and on the way out. */
#ifndef NPMD_POINTS_H
#define NPMD_POINTS_H

#include "geometry.h"

/* ---- points.c: the data -------------------------------------------------------------------------------- */

/* Rows of numbers that stay where they lie, in a mapped file or a caller's array: nothing of them is copied. */
typedef struct number_rows {
    const unsigned char *bytes; /* little-endian, row-major, of any alignment; NULL: there are none */
    bool f4;                    /* float32, else float64 */
    size_t columns;
    void *owner;
    void (*release)(void *owner); /* NULL: nobody, they are borrowed */
} number_rows;

struct npmd_points {
    const npmd_domain *domain; /* a copy of its own */
    npmd_domain *owned;
    size_t n;
    double *x;        /* (n, columns), canonical; NULL: every row is read from the file when it is wanted */
    number_rows file; /* in these coordinates: */
    unsigned coords;
    double *weight;          /* (n), mean 1; NULL: all 1, or in a file */
    number_rows weight_file; /* weights as given; the mean is 1 after multiplication by */
    double weight_scale;
    double total;      /* sum of the weights as given; n without weights */
    bool unordered;    /* a row and the same with its two factors exchanged are one point */
    double angle_most; /* the largest angle that was given in radians, without its sign; 0: there is none */
};
npmd_status points_from(const double *x, size_t n, const npmd_domain *dom, npmd_points **out, npmd_error *err);
void points_free(npmd_points *pts);
size_t points_bytes(const npmd_points *pts);
npmd_status points_make(const npmd_domain *dom, size_t n, npmd_points **out, npmd_error *err);
void rows_release(number_rows *rows); /* what owns them, if anything does */
/* Takes the mapped rows over, also on failure; their columns are right. A row that is no point: *bad_row,
 * *factor, and the reason in *reason; otherwise *reason is NULL. */
npmd_status points_map(const npmd_domain *dom, const number_rows *file, size_t n, unsigned coords, npmd_points **out,
                       size_t *bad_row, int *factor, const char **reason, npmd_error *err);
void points_unweigh(npmd_points *pts);
npmd_status points_check_distinct(const npmd_points *pts, const char *where, npmd_error *err);
/* Rows first .. first + count - 1: where they lie, or copied to room (count, columns). */
const double *points_rows(const npmd_points *pts, size_t first, size_t count, double *room);
/* One row as the domain has it; and in the user's coordinates. */
void points_user_row(const npmd_points *pts, size_t i, double *x);
void points_row(const npmd_points *pts, size_t i, double *x);
/* What stands in the columns of a file: how many there are in these coordinates, and one row as a canonical
 * point; the reason if it is none. */
size_t points_file_columns(const npmd_domain *dom, unsigned coords);
const char *points_from_row(const npmd_domain *dom, unsigned coords, const double *row, double *x, int *factor);
/* Why a row is no point, in words that follow the place where it stands: "factor 2 (S2) is not finite". */
#define POINTS_REASON 256
void points_reason(const npmd_domain *dom, unsigned coords, const double *row, char text[POINTS_REASON]);
/* All rows (n, file columns) at once; the first that is no point, or n. */
size_t points_take(npmd_points *pts, unsigned coords, const double *rows);
/* From a row in the user's coordinates to those of a file. */
void points_to_row(const npmd_domain *dom, unsigned coords, const double *x, double *row);
/* Equal points in equal order with equal weights, whatever file they came from: equal numbers. */
uint64_t points_hash(const npmd_points *pts);
uint64_t points_row_hash(const npmd_points *pts, size_t row); /* of one row; of unordered pairs the same both ways */
/* The mean of value (n) over points by their weights, and its standard error. */
void weighted_mean(const npmd_points *pts, const double *value, double *mean, double *se);

/* ---- points_read.c: points from files and arrays, with weights from either ------------------------------ */

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
