# cases_bad_input.sh - files that make no sense: exit 3, one line that says where, no output file. Files that cannot be read
# or written: exit 5, before the training.

# refused STATUS DOMAIN FILE [PATTERN]: a fit of FILE on DOMAIN.
refused() {
    run fit --domain "$2" --data "$3" --out m --log log $tiny
    want_failure "$1"
    want_no_file m
    want_no_file log
    want_clean
    want_err "$3"
    [ -z "${4:-}" ] || want_err "$4"
}

t_nan() { points 40 2 | sed '17s/.*/0.5,nan/' >bad.csv; refused 3 S1^2 bad.csv 17; }
t_infinity() { points 40 2 | sed '9s/.*/inf,0.5/' >bad.csv; refused 3 S1^2 bad.csv 9; }
t_text_field() { points 40 2 | sed '12s/.*/0.5,hello/' >bad.csv; refused 3 S1^2 bad.csv 12; }
t_ragged_row() { points 40 2 | sed '21s/.*/0.5/' >bad.csv; refused 3 S1^2 bad.csv 21; }
t_empty_file() { : >bad.csv; refused 3 S1^2 bad.csv; }
t_comments_only() { printf '# nothing\n# here\n' >bad.csv; refused 3 S1^2 bad.csv; }
t_one_point() { echo 1,2 >bad.csv; refused 3 S1^2 bad.csv; }
t_equal_points() { printf '1,2\n1,2\n1,2\n' >bad.csv; refused 3 S1^2 bad.csv; }
t_columns() { points 40 3 >bad.csv; refused 3 T2 bad.csv; }
t_zero_vector() { directions 40 | sed '5s/.*/0,0,0/' >bad.csv; refused 3 S2 bad.csv 5; }
t_npy_huge_header() {
    { npy_header '1152921504606846976, 2'; printf 12345678; } >bad.npy
    refused 3 S1^2 bad.npy
}
t_npy_product_overflow() { # 2^63 x 2 x 8 is 0 in 64 bits
    { npy_header '9223372036854775808, 2'; printf 12345678; } >bad.npy
    refused 3 S1^2 bad.npy
}
t_npy_truncated() {
    { npy_header '10, 2'; printf '%0100d' 0; } >bad.npy
    refused 3 S1^2 bad.npy
    npy_header '10, 2' | head -c 60 >bad.npy
    refused 3 S1^2 bad.npy
}
t_npy_not() { echo 'not numpy at all' >bad.npy; refused 3 S1^2 bad.npy; }
t_weights_length() {
    points 40 2 >points.csv
    points 39 1 >w.csv
    run fit --domain S1^2 --data points.csv --weights w.csv --out m $tiny
    want_failure 3; want_no_file m; want_err w.csv
}
t_weights_negative() {
    points 40 2 >points.csv
    points 40 1 | sed '7s/.*/-1/' >w.csv
    run fit --domain S1^2 --data points.csv --weights w.csv --out m $tiny
    want_failure 3; want_no_file m; want_err 7
}
t_model_header_too_long() {
    { printf '\377\377\000\000\000\000\000\000'; printf '{}'; } >bad.safetensors
    points 20 2 >points.csv
    run info bad.safetensors
    want_failure 3; want_err bad.safetensors
    run density bad.safetensors --points points.csv --out d.npy
    want_failure 3; want_no_file d.npy
}
t_model_not_one() {
    echo 'this is not a model' >bad
    run info bad --json
    want_failure 3
    : >empty
    run info empty
    want_failure 3
}
t_model_truncated() {
    with_model
    half=$(($(wc -c <model) / 2))
    head -c $half model >bad
    run info bad
    want_failure 3
}
t_density_of_bad_points() {
    with_model
    points 20 2 | sed '3s/.*/nan,1/' >bad.csv
    run density model --points bad.csv --out d.npy --json
    want_failure 3; want_no_file d.npy; want_err 3
    points 20 4 >bad.csv
    run score model --data bad.csv --json
    want_failure 3
}
t_truth_not_one() {
    with_model
    echo '{"kind": "nothing known"}' >truth.json
    run evaluate model --truth truth.json --json
    [ "$code" = 3 ] || [ "$code" = 2 ] || wrong "exit status $code, expected 3"
    want_no_out; want_one_line
}
t_missing_files() {
    refused 5 S1^2 absent.csv
    with_model
    run info absent
    want_failure 5; want_err absent
    run density model --points absent.csv --out d.npy
    want_failure 5; want_no_file d.npy
    run score model --data absent.csv
    want_failure 5
    run evaluate model --truth absent.json
    want_failure 5
    run simulate absent.json --n 10 --out p.csv
    want_failure 5; want_no_file p.csv
    run fit --domain S1^2 --data points.csv --out m --config absent.json
    want_failure 5; want_no_file m
}
t_unwritable_outputs() {
    with_model
    # So many steps that a failure after the training would be a timeout.
    run fit --domain S1^2 --data points.csv --out no/such/folder/m --steps 10000000
    want_failure 5; want_err no/such/folder/m
    run fit --domain S1^2 --data points.csv --out m --log no/such/folder/log --steps 10000000
    want_failure 5; want_no_file m
    run density model --points points.csv --out no/such/folder/d.npy
    want_failure 5
    run simulate t2 --n 10 --out no/such/folder/p.csv
    want_failure 5
    run simulate t2 --n 10 --out p.csv --truth no/such/folder/t.json
    want_failure 5; want_no_file p.csv
    run plot model --out no/such/folder/p.png
    want_failure 5
}
t_device_absent() {
    points 20 2 >points.csv
    run fit --domain S1^2 --data points.csv --out m $tiny --device nosuch --quiet
    [ "$code" = 6 ] || [ "$code" = 2 ] || wrong "exit status $code, expected 6"
    want_one_line; want_no_out; want_no_file m
}
t_stdout_unwritable() {
    code=0
    "$program" version >&- 2>err || code=$?
    : >out
    want_failure 5
    code=0
    [ -c /dev/full ] || return 0
    code=0
    "$program" help fit >/dev/full 2>err || code=$?
    want_failure 5
}
