#!/bin/sh
# run.sh PROGRAM [CASE|GROUP ...] - tests of the program: stdout, stderr and exit status of each case.
#
# The cases named, or all of cases_GROUP.sh, or all there are.
# A case is a function t_* in one of the cases_*.sh beside this file; one named n_* is about numbers, on paths that
# others take, too, and runs in ordinary builds alone (NPMD_SANITIZED is set in those with sanitizers). It runs in an
# empty folder of its own that is removed at the end, calls the program with `run`, and states what it expects with
# `want_*`. TAP lines on stdout, last line `N passed, N failed`; the exit status is the verdict.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: run.sh PROGRAM [CASE|GROUP ...]" >&2; exit 2; }
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
[ -x "$program" ] || { echo "run.sh: $1 is not a program" >&2; exit 2; }
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/neuropmd_cli.XXXXXX") || exit 2
# What a case mounted goes, however the case ends.
release() {
    [ -r /proc/mounts ] || return 0
    sed -n "s|^[^ ]* \\($work/[^ ]*\\) .*|\\1|p" /proc/mounts | while read -r place; do umount -l "$place"; done
}
trap 'release; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
shared=$work/shared
mkdir "$shared"
LC_ALL=C
export LC_ALL

# A fit of a second or less; what it estimates does not matter here.
tiny="--steps 50 --width 16 --features 16 --q1 256 --q2 64 --folds 1"

# ---- What the cases use ---------------------------------------------------------------------------------------

have() { command -v "$1" >/dev/null 2>&1; }
python_works=no
python3 -c 'import json' >/dev/null 2>&1 && python_works=yes

# The program, its two streams into `out` and `err`, its exit status into $code; a hang is a failure.
limit=
have timeout && limit="timeout 60"
run() { code=0; $limit "$program" "$@" >out 2>err </dev/null || code=$?; }

wrong() { printf '# %s\n' "$(printf '%s' "$*" | tr '\n\r' '||')" >>"$notes"; } # one line, whatever it quotes
lines() { wc -l <"$1" | tr -d ' '; }
want_code() { [ "$code" = "$1" ] || wrong "exit status $code, expected $1: $(head -c 300 err)"; }
want_out() { grep -q -- "$1" out || wrong "stdout lacks '$1': $(head -c 300 out)"; }
want_err() { grep -q -- "$1" err || wrong "stderr lacks '$1': $(head -c 300 err)"; }
want_no_out() { [ ! -s out ] || wrong "stdout is not empty: $(head -c 300 out)"; }
want_no_err() { [ ! -s err ] || wrong "stderr is not empty: $(head -c 300 err)"; }
want_one_line() { # of error, complete, and begun by the program's name
    [ "$(lines err)" = 1 ] || wrong "stderr has $(lines err) lines, expected 1: $(head -c 300 err)"
    grep -q '^neuropmd' err || wrong "stderr does not begin with neuropmd: $(head -c 300 err)"
}
want_file() { [ -s "$1" ] || wrong "file $1 is missing or empty"; }
want_no_file() { [ ! -e "$1" ] || wrong "file $1 should not be there"; }
want_same() { cmp -s "$1" "$2" || wrong "$1 and $2 differ"; }
want_differ() { ! cmp -s "$1" "$2" || wrong "$1 and $2 are the same"; }
want_clean() { # no temporary file is left beside the outputs
    for f in * .[!.]*; do
        case $f in *tmp* | *.part | *.probe) wrong "left behind: $f" ;; esac
    done
}
want_json() { # one valid object in file $1 that holds the other arguments as keys
    file=$1
    shift
    if [ $python_works = yes ]; then
        python3 -m json.tool "$file" >/dev/null 2>&1 || wrong "$file is not JSON: $(head -c 300 "$file")"
    fi
    case $(head -c 1 "$file") in '{') ;; *) wrong "$file does not begin with {" ;; esac
    for key in "$@"; do
        grep -q "\"$key\" *:" "$file" || wrong "$file lacks the key $key: $(head -c 600 "$file")"
    done
}
want_failure() { # exit status $1, one line, empty stdout
    want_code "$1"
    want_one_line
    want_no_out
}

# n rows of d columns in (0, 2 pi), clustered enough to have something to fit; the same on every machine.
points() {
    awk -v n="$1" -v d="$2" 'BEGIN { s = 12345
        for (i = 0; i < n; i++) { line = ""
            for (k = 0; k < d; k++) {
                s = (s * 16807) % 2147483647; u = s / 2147483647
                line = line (k ? "," : "") sprintf("%.9f", 1 + k + 1.5 * u * u) }
            print line } }'
}
# n unit vectors.
directions() {
    awk -v n="$1" 'BEGIN { s = 54321
        for (i = 0; i < n; i++) {
            s = (s * 16807) % 2147483647; z = 2 * s / 2147483647 - 1
            s = (s * 16807) % 2147483647; a = 6.2831853 * s / 2147483647; r = sqrt(1 - z * z)
            printf "%.9f,%.9f,%.9f\n", r * cos(a), r * sin(a), z } }'
}
# An .npy header of 128 bytes for float64 of shape $1.
npy_header() {
    printf '\223NUMPY\001\000v\000'
    printf '%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': ($1), }"
}
# The model that most cases read: fitted once.
with_model() {
    if [ ! -s "$shared/model" ]; then
        points 200 2 >"$shared/points.csv"
        "$program" fit --domain S1^2 --data "$shared/points.csv" --out "$shared/model" $tiny --quiet 2>/dev/null \
            || wrong "the shared model could not be fitted"
    fi
    [ -s "$shared/model" ] && cp "$shared/model" model
    cp "$shared/points.csv" points.csv
}

# ---- The run --------------------------------------------------------------------------------------------------

for f in "$here"/cases_*.sh; do . "$f"; done
kinds=tn
[ -z "${NPMD_SANITIZED:-}" ] || kinds=t
cases_of() { sed -n "s/^\([$kinds]_[a-z0-9_]*\)().*/\1/p" "$@"; }
cases=
for word in "$@"; do
    [ ! -f "$here/cases_$word.sh" ] || word=$(cases_of "$here/cases_$word.sh")
    cases="$cases $word"
done
[ $# -gt 0 ] || cases=$(cases_of "$here"/cases_*.sh)
passed=0 failed=0 number=0
echo "1..$(echo $cases | wc -w | tr -d ' ')"
for name in $cases; do
    number=$((number + 1))
    notes=$work/notes
    : >"$notes"
    mkdir -p "$work/$name"
    cd "$work/$name" || exit 2
    skipped=
    code=
    "$name" || { [ -n "$skipped" ] || wrong "no such case, or it ended early"; }
    cd "$work" || exit 2
    release
    if [ -s "$notes" ]; then
        failed=$((failed + 1))
        echo "not ok $number - $name"
        cat "$notes"
    else
        passed=$((passed + 1))
        echo "ok $number - $name${skipped:+ # SKIP $skipped}"
    fi
    rm -rf "${work:?}/$name"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
