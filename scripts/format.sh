#!/usr/bin/env bash
# format.sh [--check] - lays out all C files by .clang-format, or lists those that are not so laid out.
#
# Versions of clang-format disagree in small things; the project follows version 14. Exit status of --check: 0 all well,
# 1 some file differs, 77 there is no clang-format 14 here.
set -euo pipefail
cd "$(dirname "$0")/.."

tool=
for name in clang-format-14 clang-format; do
    if command -v "$name" >/dev/null 2>&1 && "$name" --version | grep -q 'version 14\.'; then
        tool=$name
        break
    fi
done
if [ -z "$tool" ]; then
    echo "clang-format 14 was not found" >&2
    exit 77
fi

mapfile -t files < <(find include src console experiments bench cli tests examples \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort)
if [ "${1:-}" != --check ]; then
    "$tool" -i "${files[@]}"
    exit 0
fi

wrong=$(printf '%s\0' "${files[@]}" | xargs -0 -n 32 -P "$(nproc)" "$tool" --dry-run 2>&1 \
    | sed -n "s/:[0-9]*:[0-9]*: warning: .*/: not as clang-format lays it out; run 'make format'/p" | sort -u)
[ -z "$wrong" ] || { echo "$wrong"; exit 1; }
