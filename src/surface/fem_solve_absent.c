/* fem_solve_absent.c - stands in for fem_solve.c in a build without ARPACK, SuperLU and METIS. Cached eigenpairs are
 * still read. */
#include "surface.h"

const bool FEM_SOLVES = false;

npmd_status fem_solve(const fem_matrices *a, int pairs, const fem_watch *watch, double *lambda, double *phi,
                      npmd_error *err)
{
    (void)a, (void)pairs, (void)watch, (void)lambda, (void)phi;
    return npmd_fail(err, NPMD_ERR_DEVICE,
                     "built without ARPACK, SuperLU and METIS: eigenpairs of a surface can be read, not computed; "
                     "rebuild with -DNPMD_EIGEN=ON");
}
