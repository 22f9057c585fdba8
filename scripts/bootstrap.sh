#!/usr/bin/env bash
# bootstrap.sh [build|python|package|test|fuzz|deep|docs] - installs with apt-get what building (the Python package, packing,
# testing, fuzzing, the deep checks, the documentation) needs and is missing, and fetches three.js (scripts/three.sh).
#
# It looks for the tools and libraries themselves: where all are found it does nothing, asks for nothing and needs no
# network, on any system. "python", "package", "test" (the default), "fuzz", "deep" and "docs" are "build" and more.
set -euo pipefail
purpose=${1:-test}
here=$(dirname "$0")

have() { command -v "$1" >/dev/null 2>&1; }
module() { have pkg-config && pkg-config --exists "$1"; }
clang_openmp() { have clang && echo '#include <omp.h>
int main(void) { return omp_get_max_threads() < 1; }' | clang -fopenmp -x c -o /dev/null - 2>/dev/null; }
clang_fuzzer() { have clang && echo 'int LLVMFuzzerTestOneInput(const void *p, unsigned long n) { return !p && n; }' \
    | clang -fsanitize=fuzzer,address,undefined -x c -o /dev/null - 2>/dev/null; }
clang_threads() { have clang && echo 'int main(void) { return 0; }' \
    | clang -fsanitize=thread -x c -o /dev/null - 2>/dev/null; }
metis() { have gcc && echo '#include <metis.h>
int main(void) { return METIS_NodeND == 0; }' | gcc -x c -o /dev/null - -lmetis 2>/dev/null; }
browser() { have chromium || have chromium-browser || have google-chrome; }
compiler() { have gcc && have g++ && have make && [ -e "$(gcc -print-file-name=libc.so)" ]; }
# In the Python that runs Sphinx, which may be another than the one called python3.
sphinx_has() { have sphinx-build && "$(sed -n '1s/^#! *\([^ ]*\).*/\1/p' "$(command -v sphinx-build)")" -c "import $1" 2>/dev/null; }
python_has() { python3 -c "import $1" 2>/dev/null || /usr/bin/python3 -c "import $1" 2>/dev/null; }

missing=()
need() { # need PACKAGE PROBE...: the package is missing when the probe fails
    local package=$1
    shift
    "$@" || missing+=("$package")
}

wanted=() # all works without these, but for one part
want() {
    local package=$1
    shift
    "$@" || wanted+=("$package")
}

need build-essential compiler
need cmake have cmake
need pkg-config have pkg-config
need libpng-dev module libpng
need zlib1g-dev module zlib
need libexpat1-dev module expat
need libarpack2-dev module arpack # these four for eigenpairs of surfaces; cmake -DNPMD_EIGEN=OFF does without
need libsuperlu-dev module superlu
need libmetis-dev metis
need liblapack-dev module lapack
# npm fetches three.js for the page of the command view, once
[ -e "$here/../build/three/package/LICENSE" ] || want npm have npm
python_package() { # python_package need|want: what pip needs to install it without network, in an environment of its own
    "$1" python3-numpy python_has numpy
    "$1" python3-setuptools python_has setuptools
    "$1" python3-wheel python_has wheel
    "$1" python3-venv python_has ensurepip
}
packing() { # what cpack asks for a Debian package
    need dpkg-dev have dpkg-shlibdeps
    need file have file
}
case $purpose in
build) ;;
python)
    need python3 have python3
    python_package need
    ;;
package) packing ;;
test)
    if have dpkg-deb; then packing; fi
    need libcmocka-dev module cmocka
    need clang have clang
    need libomp-dev clang_openmp
    need clang-format have clang-format
    need python3 have python3 # runs the code blocks of the documentation
    if have python3; then # the Python package is tested where there is a Python
        python_package want
        want python3-sklearn python_has sklearn
    fi
    want nodejs have node # these two look at pages
    want chromium browser
    ;;
fuzz)
    need clang have clang
    need libclang-rt-dev clang_fuzzer # libFuzzer and the sanitizers of clang
    ;;
deep)
    need libcmocka-dev module cmocka
    need clang have clang
    need libomp-dev clang_openmp # and archer, the tool that tells the thread sanitizer of it
    need libclang-rt-dev clang_fuzzer
    need libclang-rt-dev clang_threads
    need llvm have llvm-cov
    need valgrind have valgrind
    need python3 have python3
    need python3-numpy python_has numpy
    ;;
docs)
    need python3 have python3
    need python3-sphinx have sphinx-build
    need python3-myst-parser sphinx_has myst_parser
    need furo sphinx_has furo
    need python3-sphinx-copybutton sphinx_has sphinx_copybutton
    need python3-numpy sphinx_has numpy # which the Python package imports; its reference is made from docstrings
    ;;
*)
    echo "bootstrap.sh: '$purpose' was found, build, python, package, test, fuzz, deep or docs was expected" >&2
    exit 2
    ;;
esac

# The end of every way through: a build without three.js has no page, and that is all.
finish() {
    "$here/three.sh" || true
    exit 0
}
[ ${#missing[@]} -gt 0 ] || [ ${#wanted[@]} -gt 0 ] || finish

explain() {
    if [ ${#missing[@]} -eq 0 ]; then
        echo "going on without ${wanted[*]} (Debian's names): no page of the command view is made or looked at," \
            "or less of the Python package is tested" >&2
        finish
    fi
    echo "neuropmd needs these packages (Debian's names): ${missing[*]}" >&2
    echo "$1" >&2
    exit 1
}

have apt-get || explain "There is no apt-get here: please install them, then run the command again."
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    have sudo || explain "Please install them as root (apt-get install ${missing[*]}), then run the command again."
    as_root=(sudo)
fi

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >/dev/null; }
get() { # what apt-get says is shown when its lists are fresh and it fails all the same
    echo "installing $*"
    apt install -y --no-install-recommends "$@" 2>/dev/null \
        || { apt update && apt install -y --no-install-recommends "$@"; }
}
if [ ${#missing[@]} -gt 0 ]; then
    get "${missing[@]}" \
        || explain "apt-get could not install them: is this machine connected, and are its package lists in order?"
    missing=()
fi
[ ${#wanted[@]} -eq 0 ] || get "${wanted[@]}" || explain ""
finish
