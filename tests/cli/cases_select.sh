# cases_select.sh - options chosen on held-out points: what is shown, what is kept, and lists that make no sense.

small="--domain S1^2 --data points.csv --steps 20 --width 8 --features 4 --q1 256 --q2 32 --threads 1"

t_select_for_people() {
    points 260 2 >points.csv
    run select $small --over skip=on:off --out m --table rows.csv
    want_code 0; want_file m; want_clean
    want_out '^208 fitted, 260 held out; criterion: ise'; want_out 'kept  *skip=on'; want_out '^tau  *'; want_out '^chosen by'
    [ "$(awk 'length > 110' out | wc -l)" = 0 ] || wrong "a line has more than 110 columns"
    head -n 1 rows.csv | grep -q '^stage,steps,tau,criterion,criterion_se,difference,difference_se,kept,settings$' \
        || wrong "rows.csv begins with $(head -n 1 rows.csv)"
    [ "$(lines rows.csv)" -ge 5 ] || wrong "rows.csv has $(lines rows.csv) lines"
    cp out shown
    run info m
    want_code 0; want_out '^208 fitted, 260 held out'
    run info m --json
    want_code 0; want_json out choice options
}
t_select_json() {
    points 260 2 >points.csv
    run select $small --criterion likelihood --holdout 0.2 --folds 1 --json --quiet
    want_code 0; want_no_err; want_json out model tau criterion choice choice_training choice_held_out
    want_out '"model": null'; want_out '"criterion": "likelihood"'; want_out '"choice_held_out": 52'
    # tau alone: what fit does by itself
    tau=$(sed 's/.*"estimator": "field", "n": 260, .* "tau": \([^,]*\), "criterion": "likelihood", "choice_training.*/\1/' out)
    run fit $small --criterion likelihood --holdout 0.2 --folds 1 --out m --json --quiet
    want_code 0; want_out "\"tau\": $tau,"
}
t_select_given_taus() {
    points 260 2 >points.csv
    run select $small --over tau=1e-4:1e-1 --json --quiet
    want_code 0; want_out '"settings": "tau=1e-4 omega=2.5 encoding=drawn"'; want_out '"settings": "tau=1e-1 omega=2.5 encoding=drawn"'
    run select --domain S1^2 --data points.csv --estimator kde --over bandwidth=fixed:adaptive --json --quiet
    want_code 0; want_out '"settings": "bandwidth=adaptive"'; want_out '"estimator": "kde"'
}
t_select_bad_lists() {
    points 260 2 >points.csv
    run select $small --over depth --out m
    want_failure 2; want_err "'depth' was found"; want_no_file m
    run select $small --over depth=2:many
    want_failure 2; want_err many
    run select $small --over nonsense=1:2
    want_failure 2; want_err nonsense
    run select $small --out m --table m
    want_failure 2
    run select $small --table nowhere/rows.csv
    want_failure 5
    points 19 2 >points.csv
    run select $small --out m
    want_failure 3; want_err '19 points are too few'; want_no_file m
    run select --help
    want_code 0; want_out '--over'; want_out '--criterion'
}
t_select_lists() {
    points 240 2 >points.csv
    long=$(printf 'a%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 \
        41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70)
    run select --domain T2 --data points.csv $tiny --over "penalty=$long"
    want_failure 2; want_err 'at most 63 letters'
    run select --domain T2 --data points.csv $tiny --over criterion=ise:likelihood
    want_failure 2; want_err 'can be chosen'
}
