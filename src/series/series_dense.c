/* series_dense.c - the Hessian of a series on one factor as a matrix, and its Cholesky factor: a preconditioner that
 * leaves conjugate gradients nothing to do, where diagonals would leave them thousands of products.
 *
 *     H = sum over nodes of p phi phi' - E phi E phi' + diag(curb) = L L'
 *
 * Sums run in one order, whoever computes them. */
#include "series.h"

#define ROWS_AT_ONCE 48 /* of H; a multiple of PANEL */
#define NODES_AT_ONCE 256

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows first .. first + rows - 1 of H, up to the diagonal and a bit beyond. */
static void dense_rows(const series_grid *g, const double *probability, const double *expected,
                       const double *curb, size_t first, size_t rows, double *scaled, double *H)
{
    const series_basis *b = g->basis;
    const size_t ld = b->last, columns = first + rows, nodes = g->nodes[0];
    for (size_t at = 0; at < nodes; at += NODES_AT_ONCE) {
        const size_t some = least(nodes - at, NODES_AT_ONCE);
        for (size_t i = 0; i < some; i++)
            for (size_t j = 0; j < rows; j++)
                scaled[i * ROWS_AT_ONCE + j] = probability[at + i] * g->table[0][(at + i) * ld + first + j];
        g->kernels->product_double(rows, columns, some, (strided_double){ scaled, 1, ROWS_AT_ONCE },
                                   g->table[0] + at * ld, ld, H + first * ld, ld, at > 0);
    }
    for (size_t i = first; i < columns; i++) {
        double *row = H + i * ld;
        for (size_t j = 0; j <= i; j++)
            row[j] = b->lambda[i] > 0.0 && b->lambda[j] > 0.0 ? row[j] - expected[i] * expected[j] : 0.0;
        row[i] = b->lambda[i] > 0.0 ? row[i] + curb[i] : 1.0; /* what is not fitted stands alone */
    }
}

/* L of rows from .. size - 1 in columns first .. first + width - 1, given all columns before. */
static void factor_below(const kernels *kern, size_t from, size_t size, size_t first, size_t width, size_t ld,
                         const double *across, double *H)
{
    kern->product_double(size - from, width, first, (strided_double){ H + from * ld, ld, 1 }, across,
                         ROWS_AT_ONCE, H + from * ld + first, ld, 1);
}

static bool factor_corner(size_t first, size_t width, size_t ld, double *H)
{
    for (size_t j = first; j < first + width; j++) {
        double sum = H[j * ld + j];
        for (size_t k = first; k < j; k++)
            sum -= H[j * ld + k] * H[j * ld + k];
        if (!(sum > 0.0))
            return false;
        H[j * ld + j] = sqrt(sum);
        for (size_t i = j + 1; i < first + width; i++) {
            double dot = H[i * ld + j];
            for (size_t k = first; k < j; k++)
                dot -= H[i * ld + k] * H[j * ld + k];
            H[i * ld + j] = dot / H[j * ld + j];
        }
    }
    return true;
}

npmd_status series_factor(const series_grid *g, const double *probability, const double *expected,
                          const double *curb, double *H, bool *positive, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t size = g->basis->size, ld = g->basis->last,
                 blocks = (size + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    double *scaled = NULL, *across = NULL;
    assert(g->basis->factors == 1);
    TRY(memory_new(&scaled, (size_t)g->threads * NODES_AT_ONCE * ROWS_AT_ONCE, err));
    TRY(memory_new(&across, size * ROWS_AT_ONCE, err));
#pragma omp parallel for schedule(dynamic, 1)                                                                \
    num_threads(g->threads) if (size * size * g->nodes[0] > WORTH_THREADS)
    for (size_t k = 0; k < blocks; k++) {
        const size_t block = blocks - 1 - k, first = block * ROWS_AT_ONCE; /* the longest first */
        dense_rows(g, probability, expected, curb, first, least(size - first, ROWS_AT_ONCE),
                   scaled + (size_t)omp_get_thread_num() * NODES_AT_ONCE * ROWS_AT_ONCE, H);
    }
    *positive = true;
    for (size_t first = 0; first < size && *positive; first += ROWS_AT_ONCE) {
        const size_t width = least(size - first, ROWS_AT_ONCE);
        for (size_t j = 0; j < width; j++) /* -L' of these columns, for the products */
            for (size_t k = 0; k < first; k++)
                across[k * ROWS_AT_ONCE + j] = -H[(first + j) * ld + k];
        if (first > 0)
            factor_below(g->kernels, first, first + width, first, width, ld, across, H);
        *positive = factor_corner(first, width, ld, H);
        const size_t rest = first + width, parts = (size - rest + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
#pragma omp parallel for schedule(static)                                                                    \
    num_threads(g->threads) if ((size - rest) * first * width > WORTH_THREADS)
        for (size_t part = 0; part < parts; part++) {
            const size_t from = rest + part * ROWS_AT_ONCE, to = least(from + ROWS_AT_ONCE, size);
            if (first > 0)
                factor_below(g->kernels, from, to, first, width, ld, across, H);
            for (size_t i = from; i < to; i++)
                for (size_t j = first; j < first + width; j++) {
                    double dot = H[i * ld + j];
                    for (size_t k = first; k < j; k++)
                        dot -= H[i * ld + k] * H[j * ld + k];
                    H[i * ld + j] = dot / H[j * ld + j];
                }
        }
    }
done:
    memory_free(scaled);
    memory_free(across);
    return st;
}

void series_factor_solve(const series_basis *b, const double *L, const double *r, double *z)
{
    const size_t size = b->size, ld = b->last;
    for (size_t i = 0; i < size; i++) {
        double sum = r[i];
        for (size_t j = 0; j < i; j++)
            sum -= L[i * ld + j] * z[j];
        z[i] = sum / L[i * ld + i];
    }
    for (size_t i = size; i-- > 0;) {
        z[i] /= L[i * ld + i];
        for (size_t j = 0; j < i; j++)
            z[j] -= L[i * ld + j] * z[i];
    }
}
