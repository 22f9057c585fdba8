#!/usr/bin/env bash
# test.sh - builds in three ways and runs every test. The last line counts them: "N passed, N failed".
#
#   gcc, optimised      warnings are errors; all tests, the examples, installation, the Debian package, and programs
#                       that use either
#   clang, optimised    warnings are errors; unit tests but the long ones
#   gcc, sanitizers     addresses and undefined behaviour; unit tests, injected failures, kept fuzz inputs, program
#                       tests, one fit from end to end
#
# A case of a cmocka program or of tests/cli counts as one test, and so does every other check made here. Each line ends
# with the seconds it took and those of processors. Logs stay in build/test. JOBS is the number of parallel jobs
# (default: all cores).
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
jobs=${JOBS:-$(nproc)}
work=$root/build/test
mkdir -p "$work"

export CMOCKA_MESSAGE_OUTPUT=TAP
export OMP_WAIT_POLICY=passive # programs run side by side: a waiting thread must not hold a core
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1

. scripts/counting.sh

# The test that must fail, through the same counting as all others: it has to come out as one failure.
harness_notices() {
    mkdir -p "$work/harness"
    echo "add_test(must_fail \"$work/gcc/tests/must_fail\")" >"$work/harness/CTestTestfile.cmake"
    [ "$(count "$work/harness" "$work/harness/tests.log" | head -n 1)" = "0 1 0" ]
}

header_alone() {
    local header
    for header in include/*.h; do
        gcc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$header" 2>&1 \
            && g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$header" 2>&1 || return 1
    done
}

# A shared library shows the functions of its headers and nothing else.
symbols_of() { # symbols_of LIBRARY HEADER...
    local library=$1
    shift
    nm -D --defined-only "$work/gcc/$library" | awk '{ print $3 }' | sort -u >"$work/shown"
    grep -h '^NPMD_API' "$@" | grep -o 'npmd_[a-z_]*(' | tr -d '(' | sort -u >"$work/declared"
    comm -3 "$work/shown" "$work/declared" | tee "$work/differ"
    [ -s "$work/declared" ] && [ ! -s "$work/differ" ]
}

symbols() {
    symbols_of libneuropmd.so include/neuropmd.h include/neuropmd-surfaces.h \
        && symbols_of libneuropmd-draw.so include/neuropmd-draw.h
}

install_tree() {
    rm -rf "$work/prefix"
    cmake --install "$work/gcc" --prefix "$work/prefix" && "$work/prefix/bin/neuropmd" version
}

# The package, unpacked beside the system and not into it.
package_tree() {
    local folder=$work/package file
    command -v dpkg-deb >/dev/null || { echo "dpkg-deb was not found: no Debian package is made"; return 77; }
    rm -rf "$folder" && mkdir -p "$folder" || return 1
    (cd "$work/gcc" && cpack -G DEB -D CPACK_OUTPUT_FILE_PREFIX="$folder") || return 1
    dpkg-deb -x "$folder"/neuropmd_*_"$(dpkg --print-architecture)".deb "$folder" || return 1
    for file in libneuropmd{,-draw}.{so,a} neuropmd{,-draw}.{h,pc} neuropmdConfig.cmake; do
        [ -n "$(find "$folder/usr" -name "$file")" ] || { echo "$file is not in the package"; return 1; }
    done
    dpkg-deb -f "$folder"/*.deb Depends | grep libexpat || { echo "its dependencies were not found"; return 1; }
    gzip -dc "$folder/usr/share/man/man1/neuropmd.1.gz" | grep '^\.TH' >/dev/null || { echo "no manual page"; return 1; }
    LD_LIBRARY_PATH=$(libdir "$folder/usr") "$folder/usr/bin/neuropmd" version
}

# In all that follows PREFIX is where an installed tree begins.
libdir() { dirname "$(find "$1" -name 'libneuropmd.*' | head -n 1)"; }

consumer_pkgconfig() { # consumer_pkgconfig PREFIX
    local flags
    PKG_CONFIG_PATH=$(libdir "$1")/pkgconfig
    export PKG_CONFIG_PATH
    flags=$(pkg-config --cflags --libs neuropmd-draw) || return 1
    # shellcheck disable=SC2086 # flags are words
    gcc -std=c17 -Wall -Werror tests/consumer/main.c $flags -lm -o "$work/consumer" \
        && LD_LIBRARY_PATH=$(libdir "$1") "$work/consumer"
}

consumer_cmake() { # consumer_cmake PREFIX [COMPONENTS]
    local folder=$work/consumer_cmake
    rm -rf "$folder"
    cmake -S tests/consumer -B "$folder" -DCMAKE_PREFIX_PATH="$1" -DKINDS="${2:-}" && cmake --build "$folder" \
        && "$folder/consumer" && { [ -z "${2:-}" ] || "$folder/consumer_static"; }
}

# Libraries of one kind, and a program by pkg-config and one by CMake on them. Objects are there: only links are made.
one_kind() { # one_kind ON|OFF: BUILD_SHARED_LIBS
    local prefix=$work/prefix_$1 other='libneuropmd*.a'
    [ "$1" = ON ] || other='libneuropmd*.so*'
    rm -rf "$prefix"
    cmake -S . -B "$work/gcc" -DBUILD_SHARED_LIBS="$1" && cmake --build "$work/gcc" --parallel "$jobs" \
        && cmake --install "$work/gcc" --prefix "$prefix" && "$prefix/bin/neuropmd" version || return 1
    [ -z "$(find "$prefix" -name "$other")" ] || { echo "$other was not asked for, and was installed"; return 1; }
    consumer_pkgconfig "$prefix" && consumer_cmake "$prefix"
}

# The Python package in an environment of its own, without network: as a wheel that carries the libraries, and as a link to
# the source tree, which has none.
wheel() {
    local env=$work/env python name
    for python in python3 /usr/bin/python3 ''; do
        [ -z "$python" ] || ! "$python" -c 'import ensurepip, numpy, setuptools, wheel' 2>/dev/null || break
    done
    [ -n "$python" ] || { echo "no Python with numpy, setuptools, wheel and venv was found: no wheel is made"; return 77; }
    rm -rf "$env" && "$python" -m venv --system-site-packages "$env" || return 1
    NEUROPMD_LIBRARY=$work/gcc/libneuropmd.so "$env/bin/pip" install --no-index ./python || return 1
    ! ls -d python/build python/*.egg-info python/__pycache__ 2>/dev/null || { echo "are left behind"; return 1; }
    for name in libneuropmd libneuropmd-draw; do
        [ ! -e "$work/gcc/$name.so" ] || ls "$env"/lib/python3*/site-packages/neuropmd/$name.so || return 1
    done
    (cd "$env" && bin/python -B -c 'import neuropmd, sys
assert neuropmd._library.library._name.startswith(sys.argv[1])
print(neuropmd.Series("S1", tau=1e-3).fit([[0.0], [1.0], [1.5]]).density([[1.0]]), len(neuropmd.plot_kinds()))' "$env") \
        || return 1
    "$env/bin/pip" install --no-index -e ./python || return 1
    (cd "$env" && NEUROPMD_LIBRARY=$work/gcc/libneuropmd.so bin/python -B -c 'import neuropmd, sys
assert neuropmd.__file__.startswith(sys.argv[1])' "$root")
}

# Simulate, fit, ask the model everything: each program under the sanitizers.
cycle() {
    local program=$work/sanitize/neuropmd folder=$work/cycle
    rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || return 1
    set -e
    "$program" simulate t2 --authors --n 500 --seed 1 --out points.csv --truth truth.json
    "$program" fit --domain S1^2 --data points.csv --out model.safetensors --steps 200 --batch 200 --q1 256 --q2 64 \
        --width 16 --features 24 --seed 1 --log fit.jsonl --quiet
    "$program" evaluate model.safetensors --truth truth.json --grid authors --json
    "$program" score model.safetensors --data points.csv --json
    "$program" density model.safetensors --points points.csv --out density.npy
    "$program" plot model.safetensors --truth truth.json --out torus.png
    "$program" info model.safetensors
}

check "layout (clang-format 14)" scripts/format.sh --check
check "header alone, C17 and C++17" header_alone

if check "gcc, optimised: build without a warning" build gcc -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release \
    -DNPMD_WERROR=ON -DCMAKE_INSTALL_PREFIX=/usr -DNPMD_CUDA=AUTO -DCMAKE_CUDA_ARCHITECTURES=90; then
    check "the test that must fail is noticed" harness_notices
    # those of failing memory and files run once, where the sanitizers see what they leave behind
    tests "gcc, optimised: all other tests and examples" gcc --label-exclude '^failure$'
    check "symbols of the shared library" symbols
    check "Python: a wheel that carries the libraries, an editable installation" wheel
    if check "installation" install_tree; then
        check "a program by pkg-config" consumer_pkgconfig "$work/prefix"
        check "programs by CMake, shared and static" consumer_cmake "$work/prefix" 'static;draw_static'
    fi
    if check "Debian package" package_tree; then
        check "package: a program by pkg-config" consumer_pkgconfig "$work/package/usr"
        check "package: programs by CMake" consumer_cmake "$work/package/usr" 'static;draw_static'
    fi
    check "shared libraries alone, and programs on them" one_kind ON
    check "static libraries alone, and programs on them" one_kind OFF
fi

if check "clang, optimised: build without a warning" build clang -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release \
    -DNPMD_WERROR=ON -DNPMD_CUDA=OFF; then
    tests "clang, optimised: unit tests" clang --label-regex '^(unit|harness)$' \
        --label-exclude '^long$'
fi

if check "gcc, sanitizers: build without a warning" build sanitize -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_C_FLAGS_DEBUG=-O1 -g1" -DNPMD_WERROR=ON -DNPMD_SANITIZE=ON -DNPMD_CUDA=OFF; then
    tests "gcc, sanitizers: unit, failure, fuzz, program tests" sanitize --label-regex '^(unit|failure|fuzz|cli|harness)$'
    check "gcc, sanitizers: one fit from end to end" cycle
fi

echo
summary="$passed passed, $failed failed"
[ "$skipped" -gt 0 ] && summary+=", $skipped skipped"
echo "$summary"
[ "$failed" -eq 0 ]
