# cases_ties.sh - points that occur more than once: the count, the rule by which they are held out, the warning.

# 60 points of T2, and the first 40 of them twice more.
repeated() {
    points 60 2 >once.csv
    cat once.csv >points.csv
    head -n 40 once.csv >>points.csv
    head -n 40 once.csv >>points.csv
}
kernels="--domain T2 --estimator kde --bandwidth mixture"

t_ties_apart() {
    repeated
    run fit $kernels --data points.csv --out m
    want_code 0; want_out '^ties .*120 of 140 points equal another one; held out apart (--ties)'
    want_err 'warning: points that equal another one account for'; want_err '--ties together'
    run fit $kernels --data points.csv --out same --json
    want_code 0; want_json out twins ties warnings; want_out '"twins": 120'; want_out '"ties": "apart"'; want_same m same
    run info m --json
    want_code 0; want_out '"twins": 120'; want_out '"ties": "apart"'
}
t_ties_together() {
    repeated
    run fit $kernels --data points.csv --out m --ties together
    want_code 0; want_out '^ties .*120 of 140 points equal another one; held out together (--ties)'
    grep -q 'equal another one account' err && wrong "a warning of repeats that nothing was learnt from"
    run fit --domain T2 --estimator psnf --data points.csv --out m --steps 5
    want_code 0; want_out '120 of 140 points equal another one$'
}
t_ties_of_none() {
    points 60 2 >points.csv
    run fit $kernels --data points.csv --out a --json
    want_code 0; want_out '"twins": 0'
    run fit $kernels --data points.csv --out b --ties together
    want_code 0; grep -q '^ties' out && wrong "ties are told where there are none"
    for model in a b; do
        run density $model --points points.csv --out $model.csv --quiet
        want_code 0
    done
    want_same a.csv b.csv
}
t_ties_bad_value() {
    points 60 2 >points.csv
    run fit $kernels --data points.csv --out m --ties never
    want_failure 2; want_err 'ties'; want_err 'apart'; want_no_file m
}
