# cases_mapped.sh - .npy files of more than 64 MiB, which stay on the disk: fits as ever, and refusals that name the row.
# The files are sparse: they take no room, and most of their rows are zero.

# large_npy FILE ROWS COLUMNS BYTES: a header, and so many bytes in all.
large_npy() {
    npy_header "$2, $3" >"$1"
    truncate -s "$4" "$1"
}
# number_at FILE INDEX OCTAL...: eight bytes at a number's place.
number_at() {
    file=$1
    index=$2
    shift 2
    printf "$*" | dd of="$file" bs=1 seek=$((128 + 8 * index)) conv=notrunc 2>/dev/null
}
one='\000\000\000\000\000\000\360\077'
nan8='\000\000\000\000\000\000\370\177'
large="--domain S1^2 --data big.npy --steps 3 --tau 1e-4 --features 16 --width 8 --batch 1000 --q1 256 --q2 64 --quiet"

t_large_npy() {
    have truncate || { skipped='no truncate(1)'; return 0; }
    large_npy big.npy 4500000 2 72000128
    number_at big.npy 8999998 $one # the row before the last is another point
    run fit $large --out m --json
    want_code 0; want_out '"n": 4500000'; want_no_err
    run fit $large --threads 1 --out m1
    want_same m m1
    run fit $large --checkpoint ck --checkpoint-every 0 --out m2
    want_same m m2
    number_at big.npy 17 $one
    run fit $large --resume ck --out m3
    want_failure 3; want_err 'other data'; want_no_file m3
}
t_large_npy_refusals() {
    have truncate || { skipped='no truncate(1)'; return 0; }
    large_npy big.npy 4500000 2 72000128
    run fit $large --out m
    want_failure 3; want_err 'big.npy'; want_err 'distinct'; want_no_file m
    number_at big.npy 5000001 $nan8
    number_at big.npy 5000009 $nan8
    run fit $large --out m
    want_failure 3; want_err 'big.npy row 2500001: factor 2 (S1) is not finite'; want_no_file m
    truncate -s 72000127 big.npy
    run fit $large --out m
    want_failure 3; want_err 'big.npy'; want_err 71999999; want_no_file m
    truncate -s 80000000 big.npy
    run fit $large --out m
    want_failure 3; want_err 'big.npy'; want_no_file m
    large_npy big.npy 9000000 1 72000128
    run fit $large --out m
    want_failure 3; want_err 'big.npy has 1 column, points of S1^2 need 2'; want_no_file m
    large_npy big.npy '3000000, 3' 1 72000128
    run fit $large --out m
    want_failure 3; want_err 'big.npy has 3 dimensions'; want_no_file m
    large_npy big.npy 1152921504606846976 2 72000128
    run fit $large --out m
    want_failure 3; want_err big.npy; want_no_file m
    # weights
    points 40 2 >points.csv
    large_npy w.npy 9000000 1 72000128
    run fit --domain S1^2 --data points.csv --weights w.npy --out m $tiny
    want_failure 3; want_err 'w.npy holds 9000000 x 1 numbers, 40 weights are needed'; want_no_file m
}
