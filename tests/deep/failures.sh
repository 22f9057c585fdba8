#!/bin/sh
# failures.sh PROGRAM: every allocation, read, write, fsync and rename of every operation in tests/failure fails once, and
# once with all later ones, where the ordinary run takes every seventh allocation (tests/failure/sweep.c).
set -u
build=$(cd "$(dirname "$1")" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2 # where the tests find their fixtures
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
NPMD_DEEP=1
CMOCKA_MESSAGE_OUTPUT=STDOUT
OMP_WAIT_POLICY=passive
export NPMD_DEEP CMOCKA_MESSAGE_OUTPUT OMP_WAIT_POLICY
failed=0 programs=0
for test in "$build"/tests/test_failure_*; do
    [ -x "$test" ] || continue
    programs=$((programs + 1))
    begun=$(date +%s)
    "$test" >>"$log" 2>&1 || { failed=$((failed + 1)); echo "${test##*/} failed:"; tail -n 30 "$log"; }
    echo "${test##*/}: $(($(date +%s) - begun)) s"
done
[ $programs -gt 0 ] || { echo "no test_failure_* in $build/tests: build with -DBUILD_TESTING=ON"; exit 1; }
awk -v programs=$programs -v failed=$failed '
    / allocations, one in 1 / { for (i = 2; i <= NF; i++) if ($i == "allocations,") { memory += $(i - 1); operations++ } }
    / failed, [0-9]+ borne/ { for (i = 2; i <= NF; i++) if ($i == "failed,") files += $(i - 1) + $(i + 1) }
    END { printf "%d programs, %d failed: %d allocations of %d operations, each alone and with all later ones; ", programs,
          failed, memory, operations; printf "%d opens, reads, writes, fsyncs, closes and renames\n", files }' "$log"
[ $failed -eq 0 ]
