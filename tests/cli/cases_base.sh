# cases_base.sh - fields that change a base density.

plain="--width 16 --q1 256 --q2 64 --tau 1e-3 --omega 2.5 --encoding coordinates"

t_base() {
    with_model
    for base in model kde series; do
        run fit --domain S1^2 --data points.csv --out "by_$base" $plain --steps 40 --base "$base" --json
        want_code 0
        run info "by_$base" --json
        want_json out base
        run density "by_$base" --points points.csv --what ratio --out "ratio_$base.csv" --json
        want_code 0
        want_out 'to the density of the base'
        [ "$(lines "ratio_$base.csv")" = 200 ] || wrong "a ratio for each point was expected"
        for what in gradient laplacian; do
            run density "by_$base" --points points.csv --what $what --out values.csv --quiet
            want_code 0
        done
        run sample "by_$base" --n 50 --out drawn.csv --quiet
        want_code 0
        cut -d, -f1 points.csv >first.csv
        run marginal "by_$base" --factors 1 --points first.csv --out marginal.csv --quiet
        want_code 0
    done
    cp model renamed # equal fits are equal bytes, whatever the other model is called
    run fit --domain S1^2 --data points.csv --out again $plain --steps 40 --base renamed --quiet
    want_same by_model again
    run info by_kde
    want_out 'base'
}

t_base_members() {
    with_model
    run fit --domain S1^2 --data points.csv --out m $plain --steps 20 --base kde --members 2 --quiet
    want_code 0
    for what in ratio spread; do
        run density m --points points.csv --what $what --out values.csv --quiet
        want_code 0
    done
}

t_base_resumes() {
    with_model
    run fit --domain S1^2 --data points.csv --out whole $plain --steps 40 --base model --quiet
    want_code 0
    run fit --domain S1^2 --data points.csv --out m $plain --steps 40 --base model --checkpoint c --checkpoint-every 0 --quiet
    want_code 0
    run fit --domain S1^2 --data points.csv --out parts $plain --steps 40 --base model --resume c --quiet
    want_code 0
    want_same whole parts
    run fit --domain S1^2 --data points.csv --out m $plain --steps 40 --resume c --quiet
    want_failure 3
    want_err 'another --base'
}

# The base is the truth: nothing is gained, one warning says so.
n_base_alone() {
    with_model
    run sample model --n 400 --out drawn.csv --quiet
    run fit --domain S1^2 --data drawn.csv --out m $plain --base model --json
    want_code 0
    want_err 'the model is the base, v = 0'
    run density m --points points.csv --what ratio --out ratio.csv --quiet
    want_code 0
    if grep -qv '^1$' ratio.csv; then wrong "a ratio is not 1"; fi
}

t_base_refuses() {
    with_model
    run fit --domain S1^2 --data points.csv --out m --base model --estimator series --quiet
    want_failure 2
    want_err '--base: --estimator series has none'
    run fit --domain S1^2 --data points.csv --out m --base nothing --quiet
    want_failure 5
    run fit --domain S1^2 --data points.csv --out m --base points.csv --quiet
    want_failure 3
    run fit --domain S1^2 --data points.csv --out model $plain --base model --quiet
    want_failure 2
    points 200 1 >line.csv
    run fit --domain S1 --data line.csv --out m --base model --quiet
    want_failure 3
    want_err 'S1^2, this fit is on S1'
    run density model --points points.csv --what ratio --out ratio.csv --quiet
    want_failure 2
    want_err 'has no base'
    want_no_file m
    want_no_file ratio.csv
}
