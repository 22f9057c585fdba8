#!/usr/bin/env bash
# coverage.sh - which lines of the readers are reached by the inputs of the fuzz targets: seeds, past crashes, and what
# earlier runs of scripts/fuzz.sh found in build/fuzz/corpus. Prints a line a file; fails below the floor of
# tests/fuzz/covered.txt. clang's own coverage, counted where the source says it, not the compiler.
set -uo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/deep/coverage
mkdir -p "$work"
for tool in clang llvm-profdata llvm-cov; do
    command -v "$tool" >/dev/null || { echo "$tool was not found; Debian: apt-get install clang llvm"; exit 77; }
done

targets=() objects=()
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    targets+=(--target "$name")
    objects+=(-object "$work/tests/fuzz/$name")
done
# OpenMP is left out, and so are eigenpairs, whose files are not readers.
cmake -S . -B "$work" -G "Unix Makefiles" -DCMAKE_C_COMPILER=clang -DBUILD_TESTING=ON -DNPMD_OPENMP=OFF -DNPMD_CUDA=OFF \
    -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-O1 -fprofile-instr-generate -fcoverage-mapping" >"$work/build.log" 2>&1 \
    && cmake --build "$work" --parallel "${JOBS:-$(nproc)}" "${targets[@]}" >>"$work/build.log" 2>&1 \
    || { tail -n 40 "$work/build.log"; exit 1; }

rm -f "$work"/*.profraw
for source in tests/fuzz/fuzz_*.c; do
    name=${source##*/fuzz_}
    name=${name%.c}
    LLVM_PROFILE_FILE=$work/$name.profraw "$work/tests/fuzz/fuzz_$name" "tests/fuzz/seeds/$name" "tests/fuzz/crashes/$name" \
        "build/fuzz/corpus/$name" >"$work/$name.log" 2>&1 || { echo "fuzz_$name failed:"; tail -n 5 "$work/$name.log"; exit 1; }
done
llvm-profdata merge -sparse "$work"/*.profraw -o "$work/all.profdata" || exit 1
mapfile -t files < <(sed -n 's/^\(src[^ ]*\).*/\1/p' tests/fuzz/covered.txt)
llvm-cov report -show-functions -instr-profile "$work/all.profdata" "${objects[@]:1}" "${files[@]/#/$PWD/}" \
    >"$work/functions.txt" 2>"$work/warnings.txt" || { cat "$work/warnings.txt"; exit 1; }
python3 scripts/coverage.py tests/fuzz/covered.txt "$work/functions.txt"
