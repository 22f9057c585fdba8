/* affine.c - maps y = a x + b between voxels, RAS mm and the spaces of templates. */
#include "tracts.h"

const affine AFFINE_IDENTITY = { { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } } };

/* Of a map that keeps space apart: single precision, in which headers hold their matrices, leaves a spread of some
 * 1e-7 to a matrix of rank two. */
#define SPREAD_LEAST 1e-6

void affine_apply(const affine *m, const double x[3], double y[3])
{
    const double in[3] = { x[0], x[1], x[2] };
    for (int i = 0; i < 3; i++)
        y[i] = m->a[i][0] * in[0] + m->a[i][1] * in[1] + m->a[i][2] * in[2] + m->a[i][3];
}

affine affine_after(const affine *outer, const affine *inner)
{
    affine m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            m.a[i][j] = j == 3 ? outer->a[i][3] : 0.0;
            for (int k = 0; k < 3; k++)
                m.a[i][j] += outer->a[i][k] * inner->a[k][j];
        }
    return m;
}

/* c (3, 3): the cofactors of a, so that a' c = det(a) times the identity; returns the determinant. */
static double cofactors(double a[3][3], double c[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            c[i][j] = a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1];
        }
    return a[0][0] * c[0][0] + a[0][1] * c[0][1] + a[0][2] * c[0][2];
}

/* The matrix with its columns at unit length; false: one has none. */
static bool unit_columns(const affine *m, double a[3][3])
{
    for (int j = 0; j < 3; j++) {
        const double length = hypot(hypot(m->a[0][j], m->a[1][j]), m->a[2][j]);
        if (!(length > 0.0 && isfinite(length)))
            return false;
        for (int i = 0; i < 3; i++)
            a[i][j] = m->a[i][j] / length;
    }
    return true;
}

double affine_spread(const affine *m)
{
    double a[3][3], c[3][3];
    if (!unit_columns(m, a))
        return 0.0;
    const double spread = cofactors(a, c);
    return fabs(spread) < SPREAD_LEAST ? 0.0 : spread;
}

/* The spread must not be 0. */
static affine affine_inverse(const affine *m)
{
    double a[3][3], c[3][3];
    affine inverse;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] = m->a[i][j];
    const double determinant = cofactors(a, c);
    assert(determinant != 0.0);
    for (int i = 0; i < 3; i++) {
        inverse.a[i][3] = 0.0;
        for (int j = 0; j < 3; j++) {
            inverse.a[i][j] = c[j][i] / determinant;
            inverse.a[i][3] -= inverse.a[i][j] * m->a[j][3];
        }
    }
    return inverse;
}

npmd_status numbers_read(const char *path, table *out, npmd_error *err)
{
    return file_has_suffix(path, ".npy") ? npy_read(path, out, err) : csv_read(path, out, err);
}

npmd_status affine_read(const char *path, affine *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const double LAST[4] = { 0, 0, 0, 1 };
    table t = { 0 };
    affine m;
    TRY(numbers_read(path, &t, err)); /* such files end in .txt, .mat, .xfm, or in nothing */
    if (t.rows != 4 || t.columns != 4 || memcmp(t.data + 12, LAST, sizeof LAST) != 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT,
                      "%s has %zu rows of %zu numbers, expected the 4 x 4 of an affine map, its last row 0 0 0 1", path,
                      t.rows, t.columns));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            m.a[i][j] = t.data[4 * i + j];
    if (affine_spread(&m) == 0.0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: this matrix flattens space, expected one that can be inverted", path));
    *out = m;
done:
    table_free(&t);
    return st;
}

/* FreeSurfer's matrix from MNI305, the space of fsaverage, to MNI152 (CoordinateSystems, case 8). */
static const affine MNI305_TO_MNI152 = { {
    { 0.9975, -0.0073, 0.0176, -0.0429 },
    { 0.0146, 1.0009, -0.0024, 1.5496 },
    { -0.0130, -0.0093, 0.9971, 1.1840 },
} };

npmd_status affine_from_space(const char *space, affine *out, npmd_error *err)
{
    if (strcmp(space, "mni152") != 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "'%s' is no space that is known, expected mni152", space);
    *out = affine_inverse(&MNI305_TO_MNI152);
    return NPMD_OK;
}

/* ---- Orientations ------------------------------------------------------------------------------------------------ */

bool orientation_parse(const char letters[3], orientation *out)
{
    static const char NEGATIVE[] = "LPI", POSITIVE[] = "RAS";
    bool seen[3] = { false };
    for (int i = 0; i < 3; i++) {
        const char c = (char)(letters[i] >= 'a' && letters[i] <= 'z' ? letters[i] - 'a' + 'A' : letters[i]);
        int axis = 0;
        while (axis < 3 && c != NEGATIVE[axis] && c != POSITIVE[axis])
            axis++;
        if (axis == 3 || seen[axis])
            return false;
        seen[axis] = true;
        out->axis[i] = axis;
        out->sign[i] = c == POSITIVE[axis] ? 1 : -1;
    }
    return true;
}

/* r = the orthogonal factor of a, by Newton's iteration r <- (r + inverse of r') / 2 (Higham 1986). A singular value s
 * of r becomes (s + 1/s) / 2: from 1e-6 it takes 20 halvings and some squarings of the error to reach 1. */
static void polar(double a[3][3], double r[3][3])
{
    enum { ITERATIONS = 40 };
    double c[3][3];
    memcpy(r, a, 9 * sizeof r[0][0]);
    for (int k = 0; k < ITERATIONS; k++) {
        const double determinant = cofactors(r, c);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                r[i][j] = 0.5 * (r[i][j] + c[i][j] / determinant);
    }
}

/* Axis by axis the largest entry of the column, of those whose row is not taken. */
orientation orientation_of(const affine *voxel_to_ras)
{
    orientation o = { { 0 }, { 0 } };
    double a[3][3], r[3][3];
    bool taken[3] = { false };
    const bool fine = unit_columns(voxel_to_ras, a);
    assert(fine && affine_spread(voxel_to_ras) != 0.0);
    (void)fine;
    polar(a, r);
    for (int j = 0; j < 3; j++) {
        int best = -1;
        for (int i = 0; i < 3; i++)
            if (!taken[i] && (best < 0 || fabs(r[i][j]) > fabs(r[best][j])))
                best = i;
        taken[best] = true;
        o.axis[j] = best;
        o.sign[j] = r[best][j] < 0.0 ? -1 : 1;
    }
    return o;
}
