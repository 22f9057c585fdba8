# cases_convex.sh - options that the estimator does not read, fits that begin with another model, the gap.

t_unused_options_warn() {
    points 200 2 >points.csv
    run fit --domain S1^2 --data points.csv --out m --estimator kde --kappa 5 --width 300 --json
    want_code 0
    want_json out warnings
    want_out '"--estimator kde does not use --width"'
    want_err 'warning: --estimator kde does not use --width'
    echo '{"preset": "paper-t2", "estimator": "kde", "kappa": 5, "depth": 3}' >config.json
    run fit --domain S1^2 --data points.csv --out m --config config.json --json
    want_code 0
    want_out '"--estimator kde does not use --depth"'
    run fit --domain S1^2 --data points.csv --out m --estimator kde --kappa 5 --preset quick --json
    want_code 0
    want_out '"warnings": \[\]'
}

t_start_from() {
    with_model
    run fit --domain S1^2 --data points.csv --out again $tiny --start-from model --seed 9 --json
    want_code 0
    run info again --json
    want_json out started_from encoding_from
    grep -q start-from again && wrong "the model holds an option of this name"
    run fit --domain S1^2 --data points.csv --out third $tiny --encoding-from model --seed 9 --quiet
    want_code 0
    want_differ again third
    cp model renamed # equal fits are equal bytes, whatever the other model is called
    run fit --domain S1^2 --data points.csv --out fourth $tiny --start-from renamed --seed 9 --quiet
    want_code 0
    want_same again fourth
    # the encoding's options may be left open
    run fit --domain S1^2 --data points.csv --out fifth --steps 50 --width 16 --q1 256 --q2 64 --folds 1 --start-from model --seed 9 \
        --quiet
    want_same again fifth
}

t_start_from_resumes() {
    with_model
    run fit --domain S1^2 --data points.csv --out whole $tiny --tau 1e-3 --start-from model --quiet
    want_code 0
    run fit --domain S1^2 --data points.csv --out m $tiny --tau 1e-3 --start-from model --checkpoint c --checkpoint-every 0 \
        --quiet
    want_code 0
    run fit --domain S1^2 --data points.csv --out parts $tiny --tau 1e-3 --start-from model --resume c --quiet
    want_code 0
    want_same whole parts
    run fit --domain S1^2 --data points.csv --out m $tiny --tau 1e-3 --resume c --quiet
    want_failure 3
    want_err 'another model'
}

t_start_from_refuses() {
    with_model
    run fit --domain S1^2 --data points.csv --out m $tiny --start-from model --width 17 --quiet
    want_failure 3
    want_err 'width 16, this fit has 3 and 17'
    run fit --domain S1^2 --data points.csv --out m --start-from nothing --quiet
    want_failure 5
    run fit --domain S1^2 --data points.csv --out m --start-from points.csv --quiet
    want_failure 3
    run fit --domain S1^2 --data points.csv --out model $tiny --start-from model --quiet
    want_failure 2
    points 200 1 >line.csv
    run fit --domain S1 --data line.csv --out m --encoding-from model --quiet
    want_failure 3
    want_err 'S1^2, this fit is on S1'
    want_no_file m
}

t_convex_gap() {
    points 200 1 >line.csv
    run fit --domain S1 --data line.csv --out m $tiny --tau 1e-3 --convex-gap on --skip-start convex --json
    want_code 0
    want_json out convex_optimum convex_gap convex_gap_accuracy
    grep -q '"convex_gap": null' out && wrong "no gap: $(head -c 600 out)"
    run info m
    want_out '^convex_gap '
    run fit --domain S1 --data line.csv --out m3 $tiny --tau 1e-3 --convex-gap on --skip-start convex --threads 3 --quiet
    want_same m m3
    run fit --domain S1 --data line.csv --out m $tiny --tau 1e-3 --convex-gap on --penalty gradient --json
    want_code 0
    want_out '"convex_gap": null'
    want_out 'not known: without --penalty laplacian'
}
