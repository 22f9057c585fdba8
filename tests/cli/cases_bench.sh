# cases_bench.sh - the benchmark: how fast this machine is does not matter here.

t_bench_json() {
    mkdir temporary
    TMPDIR=$PWD/temporary
    export TMPDIR
    run bench --quick --json
    unset TMPDIR
    want_code 0
    [ "$(lines out)" = 1 ] || wrong "stdout has $(lines out) lines"
    want_json out mode machine kernels steps evaluation density seconds compiler product gflops_one gflops_all memory \
        cache gbs_one gbs_all variant gflops gbs share ns error bound ms ms_low ms_high floor_ms ratio ms_one_thread \
        speedup working_bytes flop points_per_second floor_points_per_second
    for row in layer-forward input-gradient weight-gradient sine-forward sine-forward-2 sine-forward-4 sine-adjoint \
        multiply turn sincos cauchy-mean t2 t4-authors t4 s2s2 s2s2-rotated; do want_out "\"name\": \"$row\""; done
    want_out '"variant": "plain"'; want_out '"mode": "quick"'
    [ -z "$(ls temporary)" ] || wrong "left behind: $(ls temporary)"
}
t_bench_for_people() {
    run bench --quick --only t2 --threads 1
    want_code 0; want_out '^ceilings '; want_out '^t2  '; want_out 'kernels .*, 1 thread$'; want_out '^evaluation'
    if grep -q 't4\|sine-forward' out; then wrong "t2 alone was asked for"; fi
    [ "$(awk 'length > 100' out | wc -l)" = 0 ] || wrong "a line has more than 100 columns"
    run bench --quick --only sincos --quiet
    want_code 0; want_no_out; want_no_err
}
n_bench_scaling() {
    run bench --quick --only scaling --json --threads 1
    want_code 0; want_json out scaling base rows exponent exponent_counted
    for row in n q1 q2 K W L D; do want_out "\"name\": \"$row\""; done
}
t_bench_refusals() {
    for words in '--only nosuch' '--quick --full' '--threads -1' '--device reference' '--device abacus' 'now' '--only' \
        '--fast'; do
        run bench $words
        want_failure 2
    done
    run bench --device cuda:99
    want_failure 6
    TMPDIR=$PWD/nowhere
    export TMPDIR
    run bench --quick --only density
    unset TMPDIR
    want_failure 5; want_err nowhere
}
t_bench_interrupted() { # between two repeats; nothing stays in the folder for temporary files
    mkdir temporary
    TMPDIR=$PWD/temporary "$program" bench --only density --json >out 2>err &
    pid=$!
    waited=0
    while [ -z "$(ls temporary)" ] && [ $waited -lt 200 ] && kill -0 $pid 2>/dev/null; do
        sleep 0.1
        waited=$((waited + 1))
    done
    kill -INT $pid
    code=0
    wait $pid || code=$?
    want_code 130; want_no_out; want_err 'interrupted'
    [ -z "$(ls temporary)" ] || wrong "left behind: $(ls temporary)"
}
