#!/bin/sh
# run.sh PROGRAM [all] - pages of `neuropmd view` in headless Chromium: rendered pixels, clicks, keys, requests.
#
# One small model on S2 x S1; with "all", or VIEW_TESTS=all, also T2, S2, S2 x S2, S1 and a mesh x mesh (make test-view).
# Needs Chromium and node, and nothing of npm; where they are absent it says so and passes. PICTURES=DIR keeps screenshots.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
which=${2:-${VIEW_TESTS:-one}}
skip() { echo "ok 1 - pages in a browser # SKIP $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "there is no Chromium here"
command -v node >/dev/null || skip "there is no node here"
work=$(mktemp -d "${TMPDIR:-/tmp}/neuropmd_view.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"

# n rows: so many unit vectors and angles each, about a few places, which move with the first number of a row.
rows() { # rows N VECTORS ANGLES
    awk -v n="$1" -v v="$2" -v a="$3" 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
        function g() { return sqrt(-2 * log(u())) * cos(6.2831853 * u()) }
        BEGIN { s = 4711
            for (i = 0; i < n; i++) { line = ""; turn = (i % 2) * 2 + 0.6 * g()
                for (k = 0; k < v; k++) {
                    x = cos(turn + k) + 0.2 * g(); y = sin(turn + k) + 0.2 * g(); z = 0.5 * cos(2 * turn) + 0.2 * g()
                    r = sqrt(x * x + y * y + z * z)
                    line = line sprintf("%s%.9f,%.9f,%.9f", line == "" ? "" : ",", x / r, y / r, z / r) }
                for (k = 0; k < a; k++) line = line sprintf("%s%.9f", line == "" ? "" : ",", turn + 0.4 * g() + k)
                print line } }'
}
model() { # model NAME DOMAIN VECTORS ANGLES OPTION... -- VIEW-OPTION...
    name=$1 domain=$2
    rows 400 "$3" "$4" >"$name.csv"
    shift 4
    fit=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do fit="$fit $1"; shift; done
    [ $# -eq 0 ] || shift
    # shellcheck disable=SC2086 # words
    "$program" fit --domain "$domain" --data "$name.csv" --out "$name.safetensors" --quiet $fit
    "$program" view "$name.safetensors" --out "$name.html" --data "$name.csv" --quiet "$@" 2>view.err && return
    if grep -q 'this build has no page' view.err; then skip "this build has no page"; fi
    cat view.err >&2
    exit 1
}
kernels="--estimator kde --kappa 12"
model s2s1 "S2 x S1" 1 1 $kernels -- --nodes 642
set -- s2s1
if [ "$which" = all ]; then
    cp "$here/../fixtures/surface/bumpy.off" .
    model t2 T2 0 2 $kernels --
    model s2 S2 1 0 $kernels -- --nodes 2562
    model s1 S1 0 1 $kernels --
    model s2s2 "S2 x S2" 2 0 $kernels -- --nodes 642
    model mesh mesh:bumpy.off^2 2 0 --estimator series --max-frequency 2 --tau 1e-2 --max-distance inf -- --max-distance inf
    set -- s2s1 t2 s2 s1 s2s2 mesh
fi
node "$here/page.mjs" "$chromium" "$program" "$work" "$@"
