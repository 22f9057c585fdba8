#!/usr/bin/env bash
# fuzz.sh [SECONDS [NAME...]] - every reader under libFuzzer and the sanitizers, one after the other; build: only builds them.
#
# SECONDS is the time of each target (default 300); NAME is one of tests/fuzz/fuzz_NAME.c (default: all). Inputs that
# reached something new stay in build/fuzz/corpus/NAME and are the start of the next run, beside tests/fuzz/seeds and
# tests/fuzz/crashes. What breaks a target is left as build/fuzz/found/NAME-*: mend the code, and keep the file in
# tests/fuzz/crashes/NAME, where every ordinary run replays it.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build/fuzz
duration=${1:-300}
[ $# -gt 0 ] && shift
if [ "$duration" != build ] && ! [[ $duration =~ ^[1-9][0-9]*$ ]]; then
    echo "fuzz.sh: '$duration' was found where a number of seconds was expected" >&2
    exit 2
fi

echo 'int LLVMFuzzerTestOneInput(const void *data, unsigned long size) { return data == 0 && size != 0; }' \
    | clang -fsanitize=fuzzer,address,undefined -x c -o /dev/null - 2>/dev/null || {
    echo "make fuzz needs clang with libFuzzer; Debian: apt-get install clang libclang-rt-dev" >&2
    exit 1
}

# OpenMP is left out: threads would only blur what a single input does.
mkdir -p "$work/found"
cmake -S . -B "$work" -G "Unix Makefiles" -DCMAKE_C_COMPILER=clang -DNPMD_FUZZ=ON -DNPMD_OPENMP=OFF \
    -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-O1 -g" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }

if [ "$duration" = build ]; then
    cmake --build "$work" --parallel "${JOBS:-$(nproc)}" >>"$work/build.log" 2>&1 || { tail -n 40 "$work/build.log"; exit 1; }
    exit 0
fi
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        names+=("${name%.c}")
    done
fi
status=0
for name in "${names[@]}"; do
    if [ ! -e "tests/fuzz/fuzz_$name.c" ]; then
        echo "fuzz.sh: there is no tests/fuzz/fuzz_$name.c" >&2
        exit 2
    fi
    cmake --build "$work" --parallel "${JOBS:-$(nproc)}" --target "fuzz_$name" >>"$work/build.log" 2>&1 \
        || { tail -n 40 "$work/build.log"; exit 1; }
    folders=("$work/corpus/$name")
    mkdir -p "${folders[0]}"
    for folder in "tests/fuzz/seeds/$name" "tests/fuzz/crashes/$name"; do
        [ -d "$folder" ] && folders+=("$folder")
    done
    log=$work/$name.log
    # A mutation longer than 32 KB, the largest seed, finds nothing that a shorter one does not, only later.
    "$work/tests/fuzz/fuzz_$name" -max_total_time="$duration" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
        -max_len=32768 -artifact_prefix="$work/found/$name-" "${folders[@]}" >"$log" 2>&1
    verdict=$?
    done_line=$(grep -E '^Done ' "$log" | tail -n 1)
    reached=$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1)
    if [ $verdict -eq 0 ]; then
        printf '%-14s %s, %s\n' "$name" "${done_line:-no run}" "$reached"
    else
        status=1
        printf '%-14s FAILED, %s\n' "$name" "$log"
        grep -E 'ERROR|SUMMARY|runtime error|promised|artifact_prefix|^    #[0-9]' "$log" | head -n 16 | sed 's/^/    /'
    fi
done
exit $status
