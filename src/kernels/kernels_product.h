/* kernels_product.h - a matrix product on registers; kernels.c includes it once for each kind of number.
 *
 * The includer defines REAL (a number), VEC (LANES of them in a register), VEC_MEMORY (the same at any alignment),
 * STRIDED (a matrix), and BLOCK and PRODUCT, the names of the functions made here. No include guard: it is included
 * repeatedly. */

/* One register block: C (rows, nv vectors) over the whole inner dimension; inlined with constant rows and nv. */
static inline __attribute__((always_inline)) void BLOCK(size_t k, const REAL *A, size_t row, size_t column,
                                                        const REAL *B, size_t ldb, REAL *C, size_t ldc, int add,
                                                        int rows, int nv)
{
    VEC sum[MR][NV];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < nv; j++)
            sum[i][j] = (VEC){ 0 };
    }
    for (size_t p = 0; p < k; p++) {
        VEC b[NV];
        UNROLL
        for (int j = 0; j < nv; j++)
            b[j] = *(const VEC_MEMORY *)(B + p * ldb + (size_t)(j * LANES));
        UNROLL
        for (int i = 0; i < rows; i++) {
            const VEC a = A[(size_t)i * row + p * column] - (VEC){ 0 };
            UNROLL
            for (int j = 0; j < nv; j++)
                sum[i][j] += a * b[j];
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < nv; j++) {
            VEC_MEMORY *c = (VEC_MEMORY *)(C + (size_t)i * ldc + (size_t)(j * LANES));
            const VEC before = add ? (VEC)*c : (VEC){ 0 };
            *c = before + sum[i][j];
        }
    }
}

static void PRODUCT(size_t m, size_t n, size_t k, STRIDED A, const REAL *B, size_t ldb, REAL *C, size_t ldc, int add)
{
    for (size_t j = 0; j < n;) { /* a panel of B stays in the first cache while the rows of A pass by */
        const size_t left = (n - j) / LANES;
        const size_t nv = left >= NV && left != NV + 1 ? NV : left > 2 ? 2 : left; /* never a lone vector at the end */
        size_t i = 0;
        for (; i + MR <= m; i += MR) {
            const REAL *a = A.p + i * A.row;
            REAL *c = C + i * ldc + j;
            if (nv == NV)
                BLOCK(k, a, A.row, A.column, B + j, ldb, c, ldc, add, MR, NV);
            else if (nv == 2)
                BLOCK(k, a, A.row, A.column, B + j, ldb, c, ldc, add, MR, 2);
            else
                BLOCK(k, a, A.row, A.column, B + j, ldb, c, ldc, add, MR, 1);
        }
        for (; i < m; i++) {
            const REAL *a = A.p + i * A.row;
            REAL *c = C + i * ldc + j;
            if (nv == NV)
                BLOCK(k, a, A.row, A.column, B + j, ldb, c, ldc, add, 1, NV);
            else if (nv == 2)
                BLOCK(k, a, A.row, A.column, B + j, ldb, c, ldc, add, 1, 2);
            else
                BLOCK(k, a, A.row, A.column, B + j, ldb, c, ldc, add, 1, 1);
        }
        j += nv * LANES;
    }
}

#undef REAL
#undef LANES
#undef VEC
#undef VEC_MEMORY
#undef STRIDED
#undef BLOCK
#undef PRODUCT
