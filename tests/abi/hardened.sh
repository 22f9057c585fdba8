#!/bin/sh
# hardened.sh WORDS PROGRAM ARCHIVE LIBRARY... - is what the build says it has (cmake/hardening.cmake) in the built files?
#
# WORDS: names between commas. The program and the shared libraries are looked at as the loader sees them; marks of CET are
# those of our own objects, in the archive, since one object of the system without them takes them from a whole program.
set -u
words=,$1,
program=$2
archive=$3
shift 2
command -v readelf >/dev/null 2>&1 || { echo "no readelf here: skipped"; exit 0; }
case $(head -c 4 "$program" | od -An -c | tr -d ' ') in *177ELF) ;; *) echo "no ELF file: skipped"; exit 0 ;; esac
failed=0
has() { case $words in *,"$1",*) return 0 ;; esac; return 1; }
wrong() { echo "$*"; failed=1; }
shift
for file in "$program" "$@"; do
    ! has relro || readelf -lW "$file" | grep -q GNU_RELRO || wrong "$file: no GNU_RELRO"
    ! has now || readelf -dW "$file" | grep -q 'BIND_NOW\|NOW' || wrong "$file: not bound at the start"
    readelf -lW "$file" | grep 'GNU_STACK' | grep -q 'RW ' || wrong "$file: its stack can be executed"
    ! has stack-protector || readelf -sW "$file" | grep -q '__stack_chk_fail' || wrong "$file: no stack protector"
    ! has fortify || readelf -sW "$file" | grep -q '__[a-z]*_chk\(@\|$\)' || wrong "$file: no checked copies"
done
! has pie || readelf -hW "$program" | grep -q 'Type: *DYN' || wrong "$program: always at the same address"
if has cet; then
    objects=$(ar t "$archive" | grep -vc '\.cu\.o$')
    marked=$(readelf -nW "$archive" 2>/dev/null | grep -c 'IBT, SHSTK')
    [ "$marked" -ge "$objects" ] || wrong "$archive: $marked of $objects objects have the marks of CET"
fi
[ $failed = 0 ] && echo "found: $(echo "$words" | tr ',' ' ')"
exit $failed
