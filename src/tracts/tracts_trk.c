/* tracts_trk.c - TrackVis' .trk files, versions 1 and 2 (trackvis.org, "Track file format").
 *
 *   byte    0  "TRACK"                             36  scalars after each point (int16)
 *           6  dim: voxels along the axes (int16)  238 properties after each streamline  (int16)
 *          12  voxel size, mm (float32)            440 version 2: vox_to_ras (4 x 4 float32), [3][3] 0: not recorded
 *         948  voxel order, three letters          988 streamlines (int32), 0: not counted
 *         992  version (int32)                     996 1000, the size of the header: gives the byte order
 *   then, for each streamline: points n (int32), n times x y z and the scalars (float32), the properties (float32)
 *
 * A point is in mm along the voxel axes, from the corner of the first voxel; vox_to_ras maps voxel indices, whole at
 * the centres of voxels:
 *
 *   i = x / voxel size - 1/2,    RAS mm = vox_to_ras (i in the axis order of the matrix)
 *
 * The axes of the points follow the voxel order (LPS where it is not given); the matrix may be that of an image stored
 * in another order. Each axis is then matched with the one that runs the same way, or the opposite way: dim - 1 - i. */
#include "tracts.h"

#define HEADER 1000
#define AT_DIM 6
#define AT_SIZE 12
#define AT_SCALARS 36
#define AT_PROPERTIES 238
#define AT_MATRIX 440
#define AT_ORDER 948
#define AT_COUNT 988
#define AT_VERSION 992
#define AT_HEADER 996

static const char DEFAULT_ORDER[] = "LPS"; /* TrackVis' own */

static double single(const tracts *t, const unsigned char *at)
{
    return number_decode(at, NUMBER_F32, t->big_endian);
}

/* Which of the two orders of bytes makes the header 1000 bytes long? */
static npmd_status byte_order(tracts *t, const unsigned char *h, npmd_error *err)
{
    for (int big = 0; big < 2; big++) {
        t->big_endian = big == 1;
        if (tracts_integer(t, h + AT_HEADER, NUMBER_I32) == HEADER)
            return NPMD_OK;
    }
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %d: the size of its header is not %d in either order of bytes",
                     t->path, AT_HEADER + 1, HEADER);
}

static npmd_status number_read(const tracts *t, const unsigned char *h, size_t at, number_type type, const char *what,
                               size_t *out, npmd_error *err)
{
    const int64_t value = tracts_integer(t, h + at, type);
    if (value < 0)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %zu: its number of %s is %lld", t->path, at + 1, what,
                         (long long)value);
    *out = (size_t)value;
    return NPMD_OK;
}

/* From voxels of the points' order to those of the matrix' order: axis e of the matrix is axis s of the points. */
static npmd_status reorder(const tracts *t, const unsigned char *h, const affine *voxel_to_ras, affine *out,
                           npmd_error *err)
{
    orientation from;
    const orientation to = orientation_of(voxel_to_ras);
    const char *letters = (const char *)h + AT_ORDER;
    char quote[FILE_QUOTE + 4];
    if (!orientation_parse(letters[0] == 0 ? DEFAULT_ORDER : letters, &from)) {
        file_quote(letters, strnlen(letters, 4), quote);
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s byte %d: its voxel order is '%s', expected three letters like LPS or RAS", t->path,
                         AT_ORDER + 1, quote);
    }
    *out = (affine){ { { 0 } } };
    for (int e = 0; e < 3; e++)
        for (int s = 0; s < 3; s++) {
            if (from.axis[s] != to.axis[e])
                continue;
            const int64_t dim = tracts_integer(t, h + AT_DIM + 2 * s, NUMBER_I16);
            const bool same = from.sign[s] == to.sign[e];
            if (!same && dim <= 0)
                return npmd_fail(err, NPMD_ERR_FORMAT,
                                 "%s byte %d: %lld voxels along axis %d, which must be turned around: a positive "
                                 "number was expected",
                                 t->path, AT_DIM + 2 * s + 1, (long long)dim, s + 1);
            out->a[e][s] = same ? 1.0 : -1.0;
            out->a[e][3] = same ? 0.0 : (double)(dim - 1);
        }
    return NPMD_OK;
}

static npmd_status matrix_read(const tracts *t, const unsigned char *h, int64_t version, affine *out, npmd_error *err)
{
    const unsigned char *at = h + AT_MATRIX;
    affine m;
    if (version == 1 || single(t, at + 4 * 15) == 0.0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: its header (version %lld) has no matrix from voxels to RAS mm: the affine of the image "
                         "that it was made from must be given",
                         t->path, (long long)version);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            m.a[i][j] = single(t, at + 4 * (4 * i + j));
    const bool finite = isfinite(m.a[0][3]) && isfinite(m.a[1][3]) && isfinite(m.a[2][3]);
    if (!finite || affine_spread(&m) == 0.0 || single(t, at + 4 * 15) != 1.0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s byte %d: its matrix from voxels to RAS mm makes no sense; it can be given instead",
                         t->path, AT_MATRIX + 1);
    *out = m;
    return NPMD_OK;
}

/* x (mm from the corner) -> i = x / size - 1/2 -> the matrix' order -> RAS mm */
static npmd_status space_read(tracts *t, const unsigned char *h, const affine *voxel_to_ras, int64_t version,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    affine matrix, order, index = AFFINE_IDENTITY;
    for (int i = 0; i < 3; i++) {
        const double size = single(t, h + AT_SIZE + 4 * i);
        if (!(size > 0.0 && isfinite(size)))
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %d: its voxels have the size %g, expected a positive one",
                          t->path, AT_SIZE + 4 * i + 1, size));
        index.a[i][i] = 1.0 / size;
        index.a[i][3] = -0.5;
    }
    if (voxel_to_ras != NULL)
        matrix = *voxel_to_ras;
    else
        TRY(matrix_read(t, h, version, &matrix, err));
    TRY(reorder(t, h, &matrix, &order, err));
    const affine voxel = affine_after(&order, &index);
    t->to_ras = affine_after(&matrix, &voxel);
done:
    return st;
}

static npmd_status trk_header(tracts *t, const affine *voxel_to_ras, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const unsigned char *h = NULL;
    size_t got = 0;
    TRY(tracts_peek(t, HEADER, &h, &got, err));
    if (got < HEADER)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is cut short: it has %zu bytes, %d of a header were expected", t->path,
                      got, HEADER));
    t->type = NUMBER_F32;
    TRY(byte_order(t, h, err));
    const int64_t version = tracts_integer(t, h + AT_VERSION, NUMBER_I32);
    if (version != 1 && version != 2)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %d: a .trk file of version %lld, expected 1 or 2", t->path,
                      AT_VERSION + 1, (long long)version));
    TRY(number_read(t, h, AT_SCALARS, NUMBER_I16, "scalars a point", &t->scalars, err));
    TRY(number_read(t, h, AT_PROPERTIES, NUMBER_I16, "properties a streamline", &t->properties, err));
    TRY(number_read(t, h, AT_COUNT, NUMBER_I32, "streamlines", &t->count, err));
    TRY(space_read(t, h, voxel_to_ras, version, err));
    tracts_skip(t, HEADER);
done:
    return st;
}

static npmd_status points_read(tracts *t, streamline *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t row = 4 * (3 + t->scalars);
    const unsigned char *bytes = NULL;
    size_t got = 0;
    for (size_t i = 0; i < out->points; i++) {
        TRY(tracts_peek(t, row, &bytes, &got, err));
        if (got < row)
            TRY(tracts_cut_fail(t, got, err));
        tracts_point(t, bytes, out->end);
        if (!isfinite(out->end[0]) || !isfinite(out->end[1]) || !isfinite(out->end[2]))
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %zu: point %zu of streamline %zu is not finite", t->path,
                          t->at + 1, i + 1, t->done + 1));
        if (i == 0)
            memcpy(out->start, out->end, sizeof out->start);
        TRY(tracts_keep(t, i, out->end, err));
        tracts_skip(t, row);
    }
done:
    return st;
}

static npmd_status trk_next(tracts *t, streamline *out, bool *more, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const unsigned char *bytes = NULL;
    size_t got = 0;
    TRY(tracts_peek(t, 4, &bytes, &got, err));
    const bool last = t->count > 0 ? t->done == t->count : got == 0;
    if (last && got > 0)
        TRY(tracts_count_fail(t, "more follows", err));
    if (!last && got < 4)
        TRY(tracts_cut_fail(t, got, err));
    if (!last) {
        const int64_t points = tracts_integer(t, bytes, NUMBER_I32);
        if (points < 0)
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s byte %zu: streamline %zu has %lld points", t->path, t->at + 1,
                          t->done + 1, (long long)points));
        out->points = (size_t)points;
        tracts_skip(t, 4);
        TRY(points_read(t, out, err));
        TRY(tracts_peek(t, 4 * t->properties, &bytes, &got, err));
        if (got < 4 * t->properties)
            TRY(tracts_cut_fail(t, got, err));
        tracts_skip(t, got);
    }
    *more = !last;
done:
    return st;
}

const tracts_format TRACTS_TRK = { .magic = "TRACK", .header = trk_header, .next = trk_next };
