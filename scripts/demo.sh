#!/usr/bin/env bash
# demo.sh PROGRAM - the paper's T2 mixture: draw 10,000 points, estimate their density, compare, draw both.
set -euo pipefail
program=$(realpath "${1:-build/neuropmd}")
cd "$(dirname "$0")/.."
mkdir -p demo

# number KEY FILE FORMAT: a number of a JSON object, rounded.
number() {
    local value
    value=$(sed -n "s/.*\"$1\": *\([-+0-9.eE]*\).*/\1/p" "$2" | head -n 1)
    [ -n "$value" ] || { echo "demo: $2 holds no $1" >&2; exit 1; }
    # shellcheck disable=SC2059 # the format is an argument
    LC_ALL=C printf "$3" "$value"
}

echo
echo "A mixture of wrapped normals on the torus T2: 10,000 points drawn, their density estimated."
echo
"$program" simulate t2 --authors --n 10000 --seed 1 --out demo/points.csv --truth demo/truth.json --quiet
"$program" fit --domain S1^2 --data demo/points.csv --out demo/torus.safetensors --seed 1 --json >demo/fit.json
"$program" evaluate demo/torus.safetensors --truth demo/truth.json --grid authors --json >demo/evaluate.json
"$program" plot demo/torus.safetensors --truth demo/truth.json --out demo/torus.png --quiet

cat <<TABLE

                      this fit    published
  nISE                $(number nise demo/evaluate.json %-8.4f)    0.0148
  ae                  $(number ae demo/evaluate.json %-8.3f)    0.136
  fr                  $(number fr demo/evaluate.json %-8.3f)
  seconds             $(number seconds demo/fit.json %-8.1f)    390 to 700

  nISE  integrated squared error, divided by that of the truth itself
  ae    arccos of the correlation of the square roots of truth and estimate
  fr    arccos of their inner product (half the Fisher-Rao distance)
  published: means over 20 data sets of this mixture, and the time of the authors' code on two cores

  picture   demo/torus.png  (truth beside estimate)
  model     demo/torus.safetensors
TABLE
