/* series_dense.c - the Hessian of a series on one factor as a matrix, and its Cholesky factor: a preconditioner with
 * which conjugate gradients converge at once, where a diagonal one would need thousands of products.
 *
 *     H = sum over nodes of p phi phi' - E phi E phi' + diag(curb) = L L'
 *
 * The order of summation does not depend on the number of threads. */
#include "series.h"

#define ROWS_AT_ONCE 48 /* of H; a multiple of PANEL */
#define NODES_AT_ONCE 256

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows first .. first + rows - 1 of H, up to the diagonal and a bit beyond. */
static void dense_rows(const series_grid *g, const double *probability, const double *expected, const double *curb,
                       size_t first, size_t rows, double *scaled, double *H)
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

npmd_status series_factor(const series_grid *g, const double *probability, const double *expected, const double *curb,
                          double *H, bool *positive, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t size = g->basis->size, ld = g->basis->last, blocks = (size + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    double *scaled = NULL, *room = NULL;
    assert(g->basis->factors == 1);
    TRY(memory_new(&scaled, (size_t)g->threads * NODES_AT_ONCE * ROWS_AT_ONCE, err));
    TRY(memory_new(&room, size * CHOLESKY_BLOCK, err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(g->threads) if (size * size * g->nodes[0] > WORTH_THREADS)
    for (size_t k = 0; k < blocks; k++) {
        const size_t block = blocks - 1 - k, first = block * ROWS_AT_ONCE; /* the longest first */
        dense_rows(g, probability, expected, curb, first, least(size - first, ROWS_AT_ONCE),
                   scaled + (size_t)omp_get_thread_num() * NODES_AT_ONCE * ROWS_AT_ONCE, H);
    }
    *positive = cholesky_factor(g->kernels, size, ld, g->threads, room, H, NULL) == size;
done:
    memory_free(scaled);
    memory_free(room);
    return st;
}
