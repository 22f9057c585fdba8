#!/usr/bin/env bash
# docs.sh PROGRAM - builds the documentation into build/site; a warning of Sphinx is an error.
#
# Pages are docs/*.md, CONTRIBUTING.md, CHANGELOG.md and SECURITY.md. References are generated: the program's from its own help, the C
# library's from its header, the Python package's from its docstrings. All are gathered in build/site-source first, so that the
# source tree holds nothing that was generated.
set -euo pipefail
program=$(realpath "${1:-build/neuropmd}")
cd "$(dirname "$0")/.."
source=build/site-source

rm -rf "$source" build/site
mkdir -p "$source"
cp -r docs/*.md docs/*.png docs/*.svg docs/site/conf.py docs/site/index.md docs/site/static "$source"
[ ! -d docs/pictures ] || cp -r docs/pictures "$source"
# Links of the pages from above docs/ are relative to where they stand there; what the site does not hold is named only.
for page in CONTRIBUTING CHANGELOG SECURITY; do
    sed -e 's|](docs/|](|g' -e 's|\[\([^]]*\)](LICENSE)|\1|g' $page.md >"$source/$(echo $page | tr '[:upper:]' '[:lower:]').md"
done
sed -i -e 's|](../CONTRIBUTING.md|](contributing.md|g' -e 's|](../CHANGELOG.md|](changelog.md|g' \
    -e 's|](../SECURITY.md|](security.md|g' "$source"/*.md
python3 docs/site/program_reference.py "$program" >"$source/program.rst"
python3 docs/site/c_reference.py include/neuropmd.h include/neuropmd-surfaces.h include/neuropmd-draw.h >"$source/c.rst"
python3 docs/site/python_reference.py python/neuropmd >"$source/python-reference.rst"
NEUROPMD_VERSION=$("$program" version --json | sed -n 's/.*"version": *"\([^"]*\)".*/\1/p')
export NEUROPMD_VERSION
NEUROPMD_LIBRARY=$(dirname "$program")/libneuropmd.so
export NEUROPMD_LIBRARY PYTHONPATH=$PWD/python

# A page to turn and click, where the program was built with it.
extra=$source/extra
mkdir -p "$extra"
"$program" simulate t2 --authors --n 2000 --out "$source/angles.csv" --quiet
"$program" fit --domain T2 --data "$source/angles.csv" --estimator series --tau 1e-4 --out "$source/torus.safetensors" --quiet
"$program" view "$source/torus.safetensors" --data "$source/angles.csv" --out "$extra/torus.html" --quiet \
    || sed -i '/torus\.html/d' "$source/index.md"
rm -f "$source/angles.csv" "$source/torus.safetensors"

sphinx-build -W --keep-going -q -b html -d build/site-doctrees "$source" build/site
echo "build/site/index.html"
