/* cholesky.c - the dense factor H = L L' of a symmetric positive matrix, and solving with it.
 *
 * By blocks of columns: the contribution of earlier columns is a matrix product, done by a kernel; the rest is within
 * the block. The order of summation does not depend on the number of threads. */
#include "kernels.h"

#include <math.h>

#define BLOCK CHOLESKY_BLOCK
#define WORTH_THREADS ((size_t)300000) /* operations: below, waking another thread takes longer */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows from .. to - 1 in columns first .. first + width - 1, less what all columns before contribute; across (first,
 * BLOCK): -L' of these columns. */
static void subtract_before(const kernels *kern, size_t from, size_t to, size_t first, size_t width, size_t ld,
                            const double *across, double *H)
{
    if (first > 0)
        kern->product_double(to - from, width, first, (strided_double){ H + from * ld, ld, 1 }, across, BLOCK,
                             H + from * ld + first, ld, 1);
}

/* The block on the diagonal; the first row whose pivot is not positive, or first + width. */
static size_t factor_corner(size_t first, size_t width, size_t ld, double *H, double *pivot)
{
    for (size_t j = first; j < first + width; j++) {
        double sum = H[j * ld + j];
        for (size_t k = first; k < j; k++)
            sum -= H[j * ld + k] * H[j * ld + k];
        if (pivot != NULL)
            pivot[j] = sum;
        if (!(sum > 0.0))
            return j;
        H[j * ld + j] = sqrt(sum);
        for (size_t i = j + 1; i < first + width; i++) {
            double dot = H[i * ld + j];
            for (size_t k = first; k < j; k++)
                dot -= H[i * ld + k] * H[j * ld + k];
            H[i * ld + j] = dot / H[j * ld + j];
        }
    }
    return first + width;
}

static void factor_below(size_t from, size_t to, size_t first, size_t width, size_t ld, double *H)
{
    for (size_t i = from; i < to; i++)
        for (size_t j = first; j < first + width; j++) {
            double dot = H[i * ld + j];
            for (size_t k = first; k < j; k++)
                dot -= H[i * ld + k] * H[j * ld + k];
            H[i * ld + j] = dot / H[j * ld + j];
        }
}

size_t cholesky_factor(const kernels *kern, size_t n, size_t ld, int threads, double *room, double *H, double *pivot)
{
    (void)threads; /* without OpenMP */
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t width = least(n - first, BLOCK), rest = first + width, parts = (n - rest + BLOCK - 1) / BLOCK;
        for (size_t j = 0; j < width; j++)
            for (size_t k = 0; k < first; k++)
                room[k * BLOCK + j] = -H[(first + j) * ld + k];
        subtract_before(kern, first, rest, first, width, ld, room, H);
        const size_t reached = factor_corner(first, width, ld, H, pivot);
        if (reached < rest)
            return reached;
#pragma omp parallel for schedule(static) num_threads(threads) if ((n - rest) * first * width > WORTH_THREADS)
        for (size_t part = 0; part < parts; part++) {
            const size_t from = rest + part * BLOCK, to = least(from + BLOCK, n);
            subtract_before(kern, from, to, first, width, ld, room, H);
            factor_below(from, to, first, width, ld, H);
        }
    }
    return n;
}

void cholesky_solve(size_t n, size_t ld, const double *L, const double *r, double *z)
{
    for (size_t i = 0; i < n; i++) {
        double sum = r[i];
        for (size_t j = 0; j < i; j++)
            sum -= L[i * ld + j] * z[j];
        z[i] = sum / L[i * ld + i];
    }
    for (size_t i = n; i-- > 0;) {
        z[i] /= L[i * ld + i];
        for (size_t j = 0; j < i; j++)
            z[j] -= L[i * ld + j] * z[i];
    }
}
