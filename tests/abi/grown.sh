#!/usr/bin/env bash
# grown.sh SOURCE BUILD OLD_CALLER - builds a library that has grown (one more option in front of all others, one more
# field in structs that callers hand over), and runs on it a program that was compiled before.
set -euo pipefail
source=$1 build=$2 caller=$3
copy=$build/abi-grown
rm -rf "$copy" && mkdir -p "$copy/tree"
cp -r "$source/CMakeLists.txt" "$source/cmake" "$source/include" "$source/src" "$copy/tree/"
for part in console experiments bench cli view docs README.md CHANGELOG.md CITATION.cff LICENSE NOTICE; do
    [ ! -e "$source/$part" ] || cp -r "$source/$part" "$copy/tree/"
done
cd "$copy/tree"
sed -i 's|^typedef struct settings {|&\n    double one_more;|' src/plan/plan.h
sed -i 's|^static const option_row OPTIONS\[\] = {|&\n    { "one-more", "Choices", OPTION_REAL, AT(set.one_more), "7", NULL, 0, 9, NULL, NULL, true, ALL, "grown" },|' \
    src/plan/option_rows.c
for struct in npmd_report npmd_fit_facts npmd_score npmd_compute; do
    sed -i "s|^} $struct;|    double one_more, another;\n} $struct;|" include/neuropmd.h
done
grep -q 'one_more' src/plan/plan.h && grep -q '"one-more"' src/plan/option_rows.c
[ "$(grep -c 'one_more, another' include/neuropmd.h)" -eq 4 ] || { echo "the structs could not be grown"; exit 1; }
cmake -S . -B ../made -DCMAKE_BUILD_TYPE=Debug -DNPMD_CUDA=OFF -DNPMD_EIGEN=OFF -DNPMD_VIEW=OFF >../log 2>&1 \
    && cmake --build ../made --target neuropmd_shared --parallel 2 >>../log 2>&1 || { tail -n 30 ../log; exit 1; }
LD_LIBRARY_PATH=$copy/made${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$caller"
rm -rf "$copy"
