# cases_results.sh - what the commands give when all is well.

fit_keys="model domain estimator n twins ties tau seed steps seconds objective log_integral log_integral_se restarts members
    peak_memory_bytes warnings interrupted"

t_version() {
    run version
    want_code 0; want_no_err; want_out '^neuropmd [0-9]'
    cp out first
    run --version
    want_code 0; want_same out first
    run version --json
    want_code 0; want_no_err; want_json out version
}
t_common_options_everywhere() {
    run version --quiet --seed 3 --threads 2 --device cpu
    want_code 0
}
t_fit_for_people() {
    points 60 2 >points.csv
    run fit --domain S1^2 --data points.csv --out m $tiny
    want_code 0; want_file m; want_clean
    for label in model domain points tau steps objective 'log integral'; do want_out "^$label  *"; done
    for label in domain points features network steps memory; do want_err "^$label  *"; done
    want_err 'tau'
}
t_fit_json() {
    points 60 2 >points.csv
    run fit --domain 't2' --data points.csv --out 'a "model"' --json $tiny --seed 18446744073709551615
    want_code 0; want_file 'a "model"'
    [ "$(lines out)" = 1 ] || wrong "stdout has $(lines out) lines"
    want_json out $fit_keys
    want_out '"model": "a \\"model\\""'; want_out '"n": 60'; want_out '"steps": 50'; want_out '"estimator": "field"'
    want_out '"seed": 18446744073709551615'; want_out '"domain": "S1^2"'; want_out '"interrupted": false'
}
t_fit_quiet() {
    points 60 2 >points.csv
    run fit --domain S1^2 --data points.csv --out m $tiny --quiet
    want_code 0; want_no_out; want_no_err; want_file m
    run fit --domain S1^2 --data points.csv --out m $tiny --quiet --json
    want_code 0; want_no_err; want_json out $fit_keys
}
t_fit_weights_sphere_latlon() {
    directions 60 >s2.csv
    points 60 1 >w.csv
    run fit --domain S2 --data s2.csv --weights w.csv --out m $tiny --quiet
    want_code 0; want_file m
    awk 'BEGIN { for (i = 0; i < 50; i++) printf "%g,%g\n", -80 + 3 * i, (i * 37) % 360 - 180 }' >latlon.csv
    run fit --domain S2 --data latlon.csv --coords latlon --out m2 $tiny --quiet
    want_code 0; want_file m2
}
t_fit_config_and_order() {
    points 60 2 >points.csv
    echo '{"steps": 30, "width": 16, "features": 16, "q1": 256, "q2": 64}' >config.json
    run fit --domain S1^2 --data points.csv --out m --config config.json --json
    want_code 0; want_out '"steps": 30'
    run fit --domain S1^2 --data points.csv --out m --steps 20 --config config.json --preset quick --json
    want_code 0; want_out '"steps": 20'
}
t_fit_log_and_truth() {
    run simulate t2 --n 200 --out points.csv --truth truth.json --quiet
    want_code 0
    run fit --domain S1^2 --data points.csv --out m --truth truth.json --log log $tiny --quiet
    want_code 0; want_file log
    head -n 1 log >first
    want_json first step epoch seconds rate data integral penalty objective log_integral
    tail -n 1 log >last
    want_json last step nise ae
    run simulate t4 --n 20 --out p4.csv --truth t4.json --quiet
    run fit --domain S1^2 --data points.csv --out m4 --truth t4.json $tiny
    want_failure 3; want_no_file m4
}
t_fit_signal_to_noise() { # shown, and no part of the model
    points 200 2 >points.csv
    run fit --domain S1^2 --data points.csv --out m $tiny --snr on --log log --quiet
    want_code 0
    tail -n 1 log >last
    want_json last step snr_a snr_b snr_c
    run fit --domain S1^2 --data points.csv --out plain $tiny --log log --quiet
    want_code 0; want_same m plain
    ! grep -q snr log || wrong "ratios that nobody asked for"
}
t_fit_stops_early() {
    points 200 2 >points.csv
    early="--domain S1^2 --data points.csv $tiny --steps 400 --schedule fixed --rate 1e-2 --tau 1e-9 --patience 5"
    run fit $early --stop ise --out m --log log --json
    want_code 0; want_json out stopped_by kept_step; want_err 'warning: stopped early, after [0-9]* of 400 steps: 20 held-out'
    tail -n 1 log >last
    want_json last step ise ise_se
    steps=$(sed 's/.*"steps": \([0-9]*\),.*/\1/' out)
    grep -q "\"step\": $steps," last || wrong "the log does not end at step $steps"
    run info m
    want_code 0; want_out '^stopped_by  *ise'; want_out '^kept_step  *[0-9]'
    run fit $early --stop snr --out m --quiet --log log
    want_code 0
    tail -n 1 log >last
    want_json last snr_a snr_b
    run fit $early --stop ise --holdout 0.001 --out none
    want_failure 2; want_err 'raise --holdout'; want_no_file none
    run fit $early --stop never --out none
    want_failure 2; want_err 'none, ise, snr'
    run fit --domain S1^2 --data points.csv --out m $tiny --patience 3
    want_code 0; want_err 'does not use --patience'
}
t_model_bytes_and_threads() {
    points 200 2 >points.csv
    for threads in 1 2 3; do
        run fit --domain S1^2 --data points.csv --out m$threads $tiny --seed 7 --threads $threads --quiet
        want_code 0
    done
    want_same m1 m2; want_same m1 m3
    run fit --domain S1^2 --data points.csv --out other $tiny --seed 8 --quiet
    want_differ m1 other
}
t_density() {
    with_model
    run density model --points points.csv --out d.npy --json
    want_code 0; want_no_err; want_json out out what measure n columns; want_out '"n": 200'
    # 200 float64 after a header that is a multiple of 64 bytes.
    case $(head -c 6 d.npy | od -An -c | tr -d ' ') in 223NUMPY) ;; *) wrong "d.npy is not an .npy file" ;; esac
    size=$(wc -c <d.npy)
    [ $(((size - 1600) % 64)) = 0 ] || wrong "d.npy has $size bytes"
    for what in density relative intensity gradient laplacian log-density; do
        run density model --points points.csv --out $what.npy --what $what --quiet
        want_code 0; want_no_out; want_no_err; want_file $what.npy
    done
    want_same d.npy log-density.npy
    want_differ d.npy density.npy
    run density model --points points.csv --out x.npy --what nonsense
    want_failure 2; want_no_file x.npy
}
t_density_bits() { # of a copied model, at any number of threads, after an equal fit
    with_model
    cp model copied
    run fit --domain S1^2 --data points.csv --out again $tiny --quiet
    want_same model again
    run density model --points points.csv --out one.npy --threads 1
    run density copied --points points.csv --out two.npy --threads 2
    run density again --points points.csv --out three.npy --threads 3
    want_same one.npy two.npy; want_same one.npy three.npy
}
t_score() {
    with_model
    run score model --data points.csv --json
    want_code 0; want_err 'all 200 of the 200 rows were used to fit'; want_out '"training_rows": 200'
    want_json out n log_integral log_integral_se nll nll_se ise_criterion ise_criterion_se ise_criterion_relative
    run simulate t2 --n 50 --seed 7 --out fresh.csv --quiet
    run score model --data fresh.csv --json
    want_code 0; want_no_err; want_out '"training_rows": 0'
    run score model --data points.csv
    want_code 0; want_out 'nats, per volume'
    points 200 1 >w.csv
    run score model --data points.csv --weights w.csv --json
    want_code 0; want_json out nll
}
t_estimators() {
    run simulate t2 --n 300 --out p.csv --truth t.json --quiet
    run simulate t2 --n 50 --seed 3 --out q.csv --quiet
    for e in series kde psnf relu; do
        run fit --estimator $e --domain T2 --data p.csv --out $e.m --steps 5 --width 8 --json
        want_code 0; want_json out model domain estimator n tau seed steps seconds objective log_integral \
            log_integral_se restarts members peak_memory_bytes warnings; want_out "\"estimator\": \"$e\""
        run fit --estimator $e --domain T2 --data p.csv --out again.m --steps 5 --width 8 --threads 1 --quiet
        want_code 0; want_same $e.m again.m
        run density $e.m --points q.csv --out d.csv --quiet
        want_code 0; want_no_err
        run density $e.m --points q.csv --what gradient --out g.csv --quiet
        want_code 0; want_no_err
        run score $e.m --data q.csv --json
        want_code 0; want_json out nll
        run sample $e.m --n 20 --out s.csv --quiet
        want_code 0; want_no_err
        run evaluate $e.m --truth t.json --grid authors --json
        want_code 0; want_json out nise ae fr fr2 kl nise_undivided
        run info $e.m --json
        want_code 0; want_json out estimator tau
        [ $e = relu ] && continue # it is trained as a field is, and keeps its checkpoints
        run fit --estimator $e --domain T2 --data p.csv --out c.m --checkpoint c.state
        want_code 2; want_err 'keeps no checkpoints'; want_no_file c.m
    done
    run fit --estimator series --domain T2 --data p.csv --out s.m --solver sgd --steps 5 --max-frequency 2 --quiet
    want_code 0
    run fit --estimator kde --kappa 1,2,3 --domain T2 --data p.csv --out k.m
    want_code 2; want_no_file k.m
    run fit --estimator none --domain T2 --data p.csv --out k.m
    want_code 2; want_err 'field, series, kde, psnf, relu'
}
t_simulate() {
    run simulate t2 --n 100 --out p.csv --truth t.json --json
    want_code 0; want_no_err; want_json out n domain entropy entropy_se out truth; want_out '"n": 100'
    want_json t.json
    run simulate t2 --n 100 --out again.csv
    want_code 0; want_out 'nats, per volume'; want_same p.csv again.csv
    run simulate t2 --n 100 --out other.csv --seed 99 --quiet
    want_code 0; want_no_out; want_differ p.csv other.csv
    run simulate t4 --n 10 --out p4.npy --json
    want_code 0; want_out '"domain": "S1^4"'; want_out '"truth": null'
    run simulate t.json --n 10 --out more.csv --quiet
    want_code 0; want_file more.csv
    run simulate t2 --authors --n 10 --out a.csv --quiet
    want_code 0; want_file a.csv
}
t_simulate_refusals() {
    run simulate t4 --authors --n 10 --out p.csv
    want_failure 2; want_no_file p.csv
    for n in 0 -1 x 1e3 99999999999999999999; do
        run simulate t2 --n $n --out p.csv
        want_failure 2; want_no_file p.csv
    done
    run simulate t2 --n 1000000000000000 --out p.csv
    want_failure 7; want_no_file p.csv
}
t_evaluate() {
    with_model
    run simulate t2 --n 10 --out p.csv --truth t.json --quiet
    run evaluate model --truth t.json --json
    want_code 0; want_no_err; want_json out nise ae fr fr2 kl points
    run evaluate model --truth t.json --grid authors --json
    want_code 0; want_json out nise ae fr fr2 kl points nise_undivided
    run evaluate model --truth t.json
    want_code 0; want_out '^nise '
    run evaluate model --truth t.json --grid coarse
    want_failure 2
    run evaluate model --truth t.json --points 0
    want_failure 2
}
t_info() {
    with_model
    run info model
    want_code 0; want_no_err; want_out '^[a-z_]*  '
    run info model --json
    want_code 0; want_no_err; want_json out
}
t_rotated() {
    directions 200 >points.csv
    run fit --domain S2 --data points.csv --out m $tiny --separable off --quiet
    want_code 0; want_no_err; want_file m
    run info m
    want_code 0; want_out '^rotated'; want_out '^  largest_block  '
    run density m --points points.csv --out d.npy --quiet
    want_code 0; want_file d.npy
}
t_ridge() {
    points 200 2 >points.csv
    run fit --domain S1^2 --data points.csv --out m $tiny --spectrum-law ridge --quiet
    want_code 0; want_no_err; want_file m
    run info m --json
    want_code 0; want_json out spectrum_ridge r_max features_bound
    run density m --points points.csv --out d.npy --quiet
    want_code 0; want_file d.npy
    directions 40 >points.csv
    run fit --domain S2 --data points.csv --out n $tiny --spectrum-law ridge --separable off
    want_failure 2; want_no_file n; want_err '--spectrum-law ridge'; want_err '--separable off'
}
t_plot() {
    with_model
    run simulate t2 --n 10 --out p.csv --truth t.json --quiet
    run plot model --out p.png --truth t.json --quiet
    want_code 0; want_no_out; want_no_err; want_file p.png
    case $(head -c 4 p.png | od -An -c | tr -d ' ') in 211PNG) ;; *) wrong "p.png is not a picture" ;; esac
    run plot model --out p.jpg
    want_failure 2; want_no_file p.jpg
    run plot model --out q.png --json
    want_code 0; want_json out out
}

# interrupted_fit SIGNAL: a long fit, told to stop once its log has a line.
interrupted_fit() {
    points 200 2 >points.csv
    begin --domain S1^2 --data points.csv --out m --log log --json $tiny --tau 1e-4 --steps 1000000
    until_true test -s log
    kill -"$1" $pid
    ended
    want_code 130; want_file m; want_clean
    want_json out $fit_keys; want_out '"interrupted": true'; want_err 'interrupted after step'
    run density m --points points.csv --out d.npy --quiet
    want_code 0; want_file d.npy
}
t_sigint() { interrupted_fit INT; }
t_sigterm() { interrupted_fit TERM; }

t_progress_bar_on_a_terminal() {
    have script || { skipped='no script(1)'; return 0; }
    script -qec true /dev/null >/dev/null 2>&1 </dev/null || { skipped='no pseudo-terminal here'; return 0; }
    points 60 2 >points.csv
    TERM=xterm script -qec "'$program' fit --domain S1^2 --data points.csv --out m $tiny --steps 200" /dev/null >out 2>err </dev/null
    grep -q 'step .*/200 .*objective' out || wrong "no bar: $(head -c 600 out)"
    want_file m
}
t_sample_draws_points() {
    with_model
    run sample model --n 50 --out draws.csv --json --seed 4
    want_code 0
    want_json out n domain out proposed acceptance envelope_raised
    [ "$(lines draws.csv)" = 50 ] || wrong "draws.csv has $(lines draws.csv) lines"
    run sample model --n 50 --out again.csv --quiet --seed 4 --threads 1
    want_same draws.csv again.csv
    run sample model --n 50 --out draws.foo
    want_failure 2
    want_no_file draws.foo
}
t_degrees_taken_for_radians() { # a warning, once, also where members repeat it
    awk 'BEGIN { for (i = 0; i < 60; i++) print (i * 37) % 360 - 180 "," (i * i) % 360 - 180 }' >degrees.csv
    run fit --domain T2 --estimator kde --data degrees.csv --out m
    want_code 0; want_err 'are they degrees'
    run fit --domain T2 --estimator kde --data degrees.csv --out m --coords degrees
    want_code 0
    ! grep -q 'are they degrees' err || wrong 'degrees are degrees'
    run fit --domain T2 $tiny --tau 1e-3 --members 2 --data degrees.csv --out m --json
    want_code 0
    [ "$(grep -o 'are they degrees' out | wc -l)" = 1 ] || wrong "said $(grep -o 'are they degrees' out | wc -l) times"
}
