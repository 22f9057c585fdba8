#!/bin/sh
# run.sh LIBRARY [TEST...] - the tests of the Python package on this libneuropmd.so, by a Python that has numpy. The last line is
# "N passed, N failed[, N skipped]". NEUROPMD_PYTHON names the Python; NEUROPMD_LONG=1 runs the long tests, too.
here=$(cd "$(dirname "$0")" && pwd)
for python in "${NEUROPMD_PYTHON:-python3}" /usr/bin/python3; do
    if "$python" -c 'import sys, numpy; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        NEUROPMD_LIBRARY=$1
        export NEUROPMD_LIBRARY
        shift
        exec "$python" -B "$here/run.py" "$@"
    fi
done
echo "no Python 3.9 or later with numpy was found (Debian: python3-numpy): the Python package is not tested"
echo "0 passed, 0 failed, 1 skipped"
