# cases_blends.sh - ensembles, stacks, their spread, and the probability of regions.

t_members() {
    points 60 2 >points.csv
    run fit --domain T2 --data points.csv --out m $tiny --members 3 --json --log log
    want_code 0; want_file m; want_json out $fit_keys
    want_out '"estimator": "field"'; want_out '"members": 3'; want_out '"steps": 150'
    grep -q '"member": 3' log || wrong "the log does not tell members apart: $(tail -n 1 log)"
    run density m --points points.csv --out spread.csv --what spread --quiet
    want_code 0
    awk '$1 <= 0 { exit 1 }' spread.csv || wrong "a spread is not positive"
    run density m --points points.csv --out spread.csv --what spread --json
    want_code 0; want_out '"what": "spread"'; want_out 'over the members'
    run info m --json
    want_code 0; want_json out parts members; want_out '"weight"'
}
t_members_on_other_threads() {
    points 60 2 >points.csv
    run fit --domain T2 --data points.csv --out a $tiny --members 2 --bootstrap off --quiet --threads 1
    run fit --domain T2 --data points.csv --out b $tiny --members 2 --quiet --threads 2
    want_code 0; want_same a b
}
t_spread_of_one() {
    with_model
    run density model --points points.csv --out f.csv --what spread
    want_failure 2; want_err '1 member'; want_err 'bootstrap'; want_no_file f.csv
}
t_members_alike() {
    points 60 2 >points.csv
    run fit --domain T2 --data points.csv --out m --estimator series --members 3
    want_failure 2; want_err 'bootstrap'; want_no_file m
    run fit --domain T2 --data points.csv --out m --estimator series --max-frequency 2 --tau 1e-3 --bootstrap on --members 4 --quiet
    want_code 0; want_file m
}
t_members_resume() {
    points 60 2 >points.csv
    run fit --domain T2 --data points.csv --out a $tiny --members 2 --quiet
    run fit --domain T2 --data points.csv --out b $tiny --members 2 --quiet --checkpoint c
    want_code 0; want_same a b; want_file c; want_file c.parts
    # the same after its end, on other threads; also if the members are gone, or cut off, or another fit's
    run fit --domain T2 --data points.csv --out b $tiny --members 2 --quiet --resume c --threads 2
    want_code 0; want_same a b
    cp c.parts whole.parts
    head -c $(($(wc -c <whole.parts) - 100)) whole.parts >c.parts
    run fit --domain T2 --data points.csv --out b $tiny --members 2 --quiet --resume c
    want_code 0; want_same a b
    run fit --domain T2 --data points.csv --out d $tiny --members 2 --seed 2 --quiet --checkpoint other
    want_code 0
    cp other.parts c.parts
    run fit --domain T2 --data points.csv --out b $tiny --members 2 --quiet --resume c
    want_code 0; want_same a b
    run fit --domain T2 --data points.csv --out b $tiny --members 3 --quiet --resume c
    want_failure 3; want_err '--members 2, this one has 3'
    rm c.parts
    run fit --domain T2 --data points.csv --out b $tiny --members 2 --quiet --resume c
    want_code 0; want_same a b
}
t_stack() {
    points 80 2 >points.csv
    run fit --domain T2 --data points.csv --out m $tiny --estimator stack --members 2 --json
    want_code 0; want_file m; want_json out $fit_keys parts
    want_out '"estimator": "stack"'
    run fit --domain T2 --data points.csv --out m $tiny --estimator stack --members 2
    want_code 0; want_out '^weights '
    run density m --points points.csv --out f.csv --quiet
    want_code 0
    run sample m --n 10 --out draws.csv --quiet
    want_code 0; want_file draws.csv
    points 10 2 >few.csv
    run fit --domain T2 --data few.csv --out n $tiny --estimator stack
    want_failure 3; want_err 'too few'; want_no_file n
    run fit --domain T2 --data points.csv --out n $tiny --estimator stack --members 2 --checkpoint c --quiet
    want_code 0; want_file c.parts
    run fit --domain T2 --data points.csv --out n2 $tiny --estimator stack --members 2 --resume c --quiet
    want_code 0; want_same n n2; want_clean
}
t_stack_refusals() {
    points 80 2 >points.csv
    run fit --domain T2 --data points.csv --out n $tiny --estimator stack --bootstrap on --members 2
    want_failure 2; want_err 'at least 3 members'; want_no_file n
    run fit --domain T2 --data points.csv --out n $tiny --estimator stack --holdout 0.01
    want_failure 2; want_err 'two points held out'; want_no_file n
    awk 'BEGIN { for (i = 0; i < 80; i++) print (i < 2) }' >weights.csv
    run fit --domain T2 --data points.csv --weights weights.csv --out n $tiny --estimator stack --tau 1e-3 --quiet
    [ "$code" = 0 ] || want_failure 3
    [ "$code" != 0 ] || { run info n --json; want_code 0; }
}
t_bootstrap_of_few() {
    printf '1,2\n2,3\n3,4\n' >three.csv
    run fit --domain T2 --data three.csv --out m $tiny --tau 1e-2 --bootstrap on --members 4 --quiet
    want_code 0; want_file m
}
t_uniform() {
    points 60 2 >points.csv
    run fit --domain T2 --data points.csv --out m --estimator uniform --quiet
    want_code 0
    run score m --data points.csv --json
    want_code 0; want_out '"nll": 3.6757541328186'
}
t_probability() {
    with_model
    run probability model --at 1,2 --radius 0.5 --json
    want_code 0; want_json out probability probability_se low high members uniform
    want_out '"low": null'
    run probability model --at 1,2 --radius all
    want_code 0; want_out '^probability  *1.000'; want_out 'fit with --bootstrap on'
    run probability model --at 1,2 --radius 0.5,4
    want_failure 2; want_err 'at most pi'
    run probability model --at 1,x --radius 0.5
    want_failure 2
    run probability model --at 1 --radius 0.5
    want_failure 3
    run probability model --at 1,2 --radius 1,2,3
    want_failure 2; want_err 'one number or 2'
}
