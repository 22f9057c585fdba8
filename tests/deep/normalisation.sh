#!/bin/sh
# normalisation.sh PROGRAM - every estimator on concentrated, degenerate, antipodal and clustered data: does each fit integrate
# to one, within its stated error, or say that it does not know? NPMD_CASES=FIRST COUNT STRIDE runs some of the cases.
# The tests' program of that name lies beside PROGRAM's, in the folder tests.
set -eu
cases=$(dirname "$1")/tests/normalisation
if [ ! -x "$cases" ]; then
    echo "there is no $cases: build with -DBUILD_TESTING=ON"
    exit 1
fi
OMP_NUM_THREADS=1 exec "$cases" ${NPMD_CASES:-}
