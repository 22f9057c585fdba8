#!/usr/bin/env bash
# check-deep.sh [SECTION...] - what takes too long for every change: races, memory, asserts, another compiler, invented
# input and what it reaches, and all of tests/deep. The last line counts: "N passed, N failed".
#
#   threads     clang's ThreadSanitizer, on libomp and its tool archer: unit tests but the long ones, by four threads
#   memory      valgrind: unit tests but the long ones
#   asserts     gcc -O3 with asserts on: unit tests, conformance, golden, statistics, kept fuzz inputs
#   compilers   gcc against clang: the same fits and values agree within the bounds of tests/deep/compilers.py
#   fuzz        every target under libFuzzer, FUZZ_SECONDS each (default 30)
#   coverage    which lines of readers the kept and the new inputs reach, by file; 90 % at least (tests/fuzz/covered.txt)
#   NAME        tests/deep/NAME.sh or NAME.py: every executable file there, given the program of the section asserts; it ends
#               with 0, or 77 where it cannot run, and its last line says what was found
#
# No SECTION: all, in this order. Logs and builds stay in build/deep. JOBS is the number of parallel jobs (default: all
# cores). Each line ends with the seconds it took and those of processors.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
jobs=${JOBS:-$(nproc)}
work=$root/build/deep
fuzz_seconds=${FUZZ_SECONDS:-30}
mkdir -p "$work"

export CMOCKA_MESSAGE_OUTPUT=TAP
export OMP_WAIT_POLICY=passive

. scripts/counting.sh

SHORT=(--label-regex '^unit$' --label-exclude '^long$')

# ---- threads ---------------------------------------------------------------------------------------------------------

# The tool that tells the sanitizer when OpenMP's threads wait for each other. Without it every parallel loop looks like
# a race; gcc's OpenMP has none.
archer() {
    local folder
    for folder in "$(dirname "$(readlink -f "$(clang -print-file-name=libomp.so)")")" "$(clang -print-resource-dir)/../.."; do
        [ ! -e "$folder/libarcher.so" ] || { readlink -f "$folder/libarcher.so"; return 0; }
    done
    return 1
}

# Four threads write each other's slots, with a barrier before they read them or without.
races_are_seen() {
    local source=$work/race.c barrier
    for barrier in '' '#pragma omp barrier'; do
        printf '%s\n' '#include <omp.h>' '#include <stdio.h>' 'int main(void)' '{' '    long slot[4] = { 0 }, sum[4] = { 0 };' \
            '#pragma omp parallel num_threads(4)' '    {' '        const int k = omp_get_thread_num();' \
            '        for (int i = 0; i < 100000; i++)' '            slot[k] += i;' "$barrier" \
            '        for (int i = 0; i < 4; i++)' '            sum[k] += slot[i];' '    }' \
            '    printf("%ld\n", sum[0]);' '}' >"$source"
        clang -g -fopenmp -fsanitize=thread "$source" -o "$work/race" || return 1
        "$work/race" >"$work/race.log" 2>&1
        grep -c 'data race' "$work/race.log"
    done >"$work/races"
    cat "$work/races" "$work/race.log"
    [ "$(sed -n 1p "$work/races")" -gt 0 ] && [ "$(sed -n 2p "$work/races")" -eq 0 ]
}

section_threads() {
    OMP_TOOL_LIBRARIES=$(archer) || { check "threads: libarcher.so beside libomp" false; return; }
    export OMP_TOOL_LIBRARIES
    # libomp itself is not compiled for the sanitizer, nor are LAPACK and SuperLU
    export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66
    check "threads: a race is seen, and nothing else" races_are_seen || return
    check "threads: build" build threads -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
        "-DCMAKE_C_FLAGS_DEBUG=-O1 -g -fsanitize=thread" -DBUILD_SHARED_LIBS=OFF -DNPMD_CUDA=OFF -DNPMD_TEST_THREADS=4 \
        -DNPMD_TEST_SECONDS=1800 || return
    tests "threads: unit tests, four threads" threads "${SHORT[@]}"
    unset OMP_TOOL_LIBRARIES TSAN_OPTIONS
}

# ---- memory ----------------------------------------------------------------------------------------------------------

# Sanitizers see wrong addresses; this sees what was never written. What libgomp keeps to the end is "possibly lost", no error.
section_memory() {
    local watch="valgrind;--quiet;--error-exitcode=9;--leak-check=full;--errors-for-leak-kinds=definite"
    check "memory: build" build memory -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-O2 -g" \
        -DNPMD_CUDA=OFF -DNPMD_TEST_SECONDS=3600 "-DCMAKE_CROSSCOMPILING_EMULATOR=$watch" || return
    tests "memory: unit tests under valgrind" memory "${SHORT[@]}" --exclude-regex test_bench # which waits for a clock
}

# ---- asserts and compilers -------------------------------------------------------------------------------------------

built_asserts=
need_asserts() {
    [ -z "$built_asserts" ] || return "$built_asserts"
    check "asserts: build" build asserts -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release \
        "-DCMAKE_C_FLAGS_RELEASE=-O3" -DNPMD_CUDA=OFF
    built_asserts=$?
    return $built_asserts
}

section_asserts() {
    need_asserts || return
    tests "asserts: unit, conformance, golden, statistics, fuzz" asserts \
        --label-regex '^(unit|conformance|golden|statistics|fuzz)$'
}

build_clang() {
    cmake -S . -B "$work/clang" -G "Unix Makefiles" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release \
        "-DCMAKE_C_FLAGS_RELEASE=-O3" -DNPMD_CUDA=OFF -DBUILD_TESTING=OFF \
        && cmake --build "$work/clang" --parallel "$jobs" --target neuropmd
}

section_compilers() {
    need_asserts && check "compilers: build by clang" build_clang || return
    check "compilers: gcc and clang agree" python3 tests/deep/compilers.py "$work/asserts/neuropmd" "$work/clang/neuropmd"
    last_line compilers_gcc_and_clang_agree
}

# ---- invented input --------------------------------------------------------------------------------------------------

last_line() { tail -n 1 "$work/$1.log" | sed 's/^/    /'; }

section_fuzz() {
    local source name
    check "fuzz: build" scripts/fuzz.sh build || return
    for source in tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        name=${name%.c}
        check "fuzz: $name" scripts/fuzz.sh "$fuzz_seconds" "$name" && last_line "fuzz_$name"
    done
}

section_coverage() {
    check "coverage: readers, by file" scripts/coverage.sh
    cat "$work/coverage_readers_by_file.log"
}

# ---- tests/deep ------------------------------------------------------------------------------------------------------

deep_names() { find tests/deep -maxdepth 1 -type f -perm -u+x \( -name '*.sh' -o -name '*.py' \) -printf '%f\n' | sort; }

section_of_file() { # section_of_file FILE
    local name=${1%.*}
    need_asserts || return
    check "deep $name" "tests/deep/$1" "$work/asserts/neuropmd"
    [ $? -eq 1 ] || last_line "deep_$name"
}

# ---- which -----------------------------------------------------------------------------------------------------------

sections=(threads memory asserts compilers fuzz coverage)
mapfile -t files < <(deep_names)
wanted=("$@")
[ $# -gt 0 ] || wanted=("${sections[@]}" "${files[@]%.*}")
for name in "${wanted[@]}"; do
    found=
    for section in "${sections[@]}"; do
        [ "$section" != "$name" ] || { found=1; "section_$section"; }
    done
    for file in "${files[@]}"; do
        [ "${file%.*}" != "$name" ] || { found=1; section_of_file "$file"; }
    done
    if [ -z "$found" ]; then
        echo "check-deep.sh: there is no section '$name'; there are ${sections[*]} ${files[*]%.*}" >&2
        exit 2
    fi
done

echo
summary="$passed passed, $failed failed"
[ "$skipped" -gt 0 ] && summary+=", $skipped skipped"
echo "$summary"
[ "$failed" -eq 0 ]
