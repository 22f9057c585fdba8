#!/usr/bin/env bash
# gallery.sh PROGRAM - makes the pictures of docs/gallery.md again, by the commands that stand there, from the data in
# $NEUROPMD_SHARED (default ../shared). Models stay in build/gallery, and are not fitted twice: remove them to begin anew.
set -euo pipefail
program=$(realpath "${1:-build/neuropmd}")
cd "$(dirname "$0")/.."
mkdir -p build/gallery docs/pictures
NPMD_DOCS_ALL=1 python3 tests/docs/run.py --keep build/gallery "$program" docs/gallery.md
for picture in $(sed -n 's|.*(pictures/\([^)]*\)).*|\1|p' docs/gallery.md); do
    cp "build/gallery/$picture" docs/pictures/
done
du -k docs/pictures/*
