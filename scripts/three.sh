#!/usr/bin/env bash
# three.sh [BUILD] - fetches three.js, which the page of the command view is made with, into BUILD/three/package
# (default: build of this tree, where every build folder finds it).
#
# By npm, of the version and with the hash of view/three.txt. What is there already is left alone; what fails leaves
# nothing behind, and is one line. Configuring and building ask nothing of the network.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
place=${1:-$root/build}/three

told() { sed -n "s/^$1 //p" "$root/view/three.txt"; }
hash_of() { # hash_of BITS FILE
    if command -v "sha$1sum" >/dev/null 2>&1; then "sha$1sum" "$2"; else shasum -a "$1" "$2"; fi | cut -d ' ' -f 1
}
version=$(told version)
file=$(told file)
[ ! -e "$place/package/$file" ] || [ ! -e "$place/package/LICENSE" ] \
    || [ "$(hash_of 256 "$place/package/$file")" != "$(told file-sha256)" ] || exit 0

fail() {
    echo "three.js $version: $1; without it the command view has no page, and all else is built" >&2
    exit 1
}
command -v npm >/dev/null 2>&1 || fail "npm was not found"
fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
(cd "$fetched" && npm pack "three@$version" --silent --fetch-retries=1 --fetch-timeout=30000 >/dev/null 2>&1) \
    || fail "npm could not fetch it"
package=$fetched/three-$version.tgz
[ -e "$package" ] || fail "npm left no three-$version.tgz"
[ "$(hash_of 512 "$package")" = "$(told package-sha512)" ] || fail "what npm fetched has another hash"
tar -xzf "$package" -C "$fetched" "package/$file" package/LICENSE package/package.json \
    || fail "it could not be unpacked"
mkdir -p "$place"
rm -rf "$place/package"
mv "$fetched/package" "$place/package"
echo "three.js $version is in $place/package"
