# cases_plot.sh - figures: what is drawn of which file, and every way to be refused.

figure_log() { # a log of three steps
    for k in 1 2 3; do
        printf '{"step": %d, "epoch": %d, "rate": 0.1, "data": -%d, "integral": 1, "penalty": 2, "objective": -0.%d}\n' $k $k $k $k
    done
}
figure_well_formed() { # by xmllint where there is one
    have xmllint || return 0
    xmllint --noout "$1" 2>xml || wrong "$1 is not well-formed: $(head -c 200 xml)"
}

t_figure_torus() {
    with_model
    run simulate t2 --n 10 --out p.csv --truth t.json --quiet
    run plot model model --truth t.json --names 'a & b,<c>' --scale log --range 0.001:1,0.01:0.1 --dpi 60 --grid 40 --out p.svg --json
    want_code 0; want_no_err; want_clean; want_json out out kind panels low high width_mm height_mm mass_error data
    want_out '"kind": "torus"'; want_out '"panels": 6'
    figure_well_formed p.svg
    grep -q 'a &amp; b' p.svg || wrong "the title is not in the picture"
    run plot model --data points.csv --levels 50 --what relative --width-mm 60 --dpi 60 --out p.png
    want_code 0; want_out '^kind  *torus, 1 panel, 60 x'
    run plot model --data points.csv --levels 50 --what relative --width-mm 60 --dpi 60 --out q.png --quiet --threads 2
    want_same p.png q.png
    run plot model --given 2 --at 1.5 --dpi 60 --out c.png --json
    want_code 0; want_out '"kind": "factors"'
}
t_figure_sphere() {
    directions 60 >points.csv
    run fit --domain S2 --data points.csv --out m --estimator kde --quiet
    run plot m --data points.csv --grid 30 --dpi 60 --scale log --out s.svg --json
    want_code 0; want_out '"kind": "sphere"'; want_out '"data": 60'; figure_well_formed s.svg
    run plot m --what spread --out e.png
    want_failure 2; want_err 'member'; want_no_file e.png
}
t_figure_logs() {
    with_model
    figure_log >fit.jsonl
    run plot fit.jsonl --dpi 60 --out l.svg --json
    want_code 0; want_out '"kind": "training"'; figure_well_formed l.svg
    run plot fit.jsonl --kind spectra --out l.png
    want_failure 2; want_err 'results of reproduce spectral-bias'; want_no_file l.png
    run plot fit.jsonl model --out l.png
    want_failure 2; want_err 'drawn apart'
    run plot fit.jsonl --data points.csv --out l.png
    want_failure 2; want_err '--data belongs to a density'
    printf '{"step": 1' >bad.jsonl
    run plot bad.jsonl --out l.png
    want_failure 3; want_err 'no line'
    printf '{"step": 1}}\n' >bad.jsonl
    run plot bad.jsonl --out l.png
    want_failure 3; want_err 'entry 1'
}
t_figure_letters() { # what is no UTF-8 does not reach the file, and names are cut between letters
    with_model
    odd=$(printf '\377<a>&\355\240\200\303')
    long=$(printf '%095d' 0)$(printf '\303\274')
    run plot model model --title "$odd" --names "$long,b" --grid 20 --dpi 40 --out u.svg
    want_code 0; figure_well_formed u.svg
    grep -q "$(printf '\357\277\275')&lt;a&gt;&amp;" u.svg || wrong "the title is not in the picture"
    ! grep '>0*\(\.\|[^<]\)*<' u.svg | grep '000' | grep -q "$(printf '\357\277\275')" || wrong "a name is cut within a letter"
}
t_figure_narrow() { # refused with the width that is enough
    with_model
    run plot model model model model --width-mm 40 --grid 20 --dpi 40 --out n.png
    want_failure 2; want_err 'width-mm [0-9]* is enough'; want_no_file n.png
    run plot model model model model --width-mm "$(sed 's/.*--width-mm \([0-9]*\) is enough.*/\1/' err)" --grid 20 --dpi 40 --out n.png
    want_code 0
}
t_figure_many_logs() { # a legend of 24 rows says how many there are beyond
    for k in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26; do figure_log >$k.jsonl; done
    run plot ??.jsonl --dpi 60 --out l.svg
    want_code 0
    grep -q 'and 3 more' l.svg || wrong "the legend does not say what it leaves out"
}
t_figure_ranges_of_logs() { # a range is of one quantity, and of a log scale above 0
    figure_log >fit.jsonl
    run plot fit.jsonl --range 0:1 --out l.png
    want_failure 2; want_err 'different quantities'
    run plot fit.jsonl --range=-1:1 --out l.png
    want_failure 2
    printf '{"step": 1, "penalty": 2}\n{"step": 2, "penalty": 3}\n' >one.jsonl
    run plot one.jsonl --range 0:1 --out l.png
    want_failure 2; want_err 'begin above 0'; want_no_file l.png
    run plot one.jsonl --range 1:9 --dpi 60 --out l.png --json
    want_code 0; want_out '"low": 1'; want_out '"high": 9'
}
t_figure_unused() { # what a kind does not look at is refused
    with_model
    run plot model --factors 1 --dpi 60 --out f.png --json
    want_code 0; want_out '"kind": "factors"'; want_out '"panels": 1'
    for odd in '--kind torus --factors 1' '--kind torus --given 1 --at 0.3' '--kind corner --given 1 --at 0.3' \
        '--kind corner --range 0:1,0:2' '--range 0:1,0:2,0:3,0:4,0:5,0:6,0:7,0:8,0:9' '--kind factors --range 0:1,0:2'; do
        run plot model $odd --out p.png
        want_failure 2; want_err 'a figure of the kind'; want_no_file p.png
    done
    figure_log >fit.jsonl
    run plot fit.jsonl --scale log --out p.png
    want_failure 2; want_err 'no use of --scale'
}
t_figure_costs() { # integrals over many factors are counted before they are begun
    points 20 8 >points.csv
    run fit --domain S1^8 --data points.csv --out m --estimator uniform --quiet
    (
        [ -n "${NPMD_SANITIZED:-}" ] || ulimit -v 1000000 # sanitizers reserve terabytes
        run plot m --factors 1 --out p.png
        want_failure 2; want_err 'is a sum over 4.59e+09 nodes'
    )
    want_no_file p.png
}
n_figure_stopped() { # 4000^2 nodes take many times longer than the signal
    with_model
    code=0
    "$program" plot model --grid 4000 --out p.png >out 2>err </dev/null &
    sleep 2
    kill -TERM $!
    wait $! || code=$?
    want_code 130; want_no_out; want_no_file p.png; want_clean
}
t_figure_refusals() {
    with_model
    run plot model --out p.png --kind sphere
    want_failure 2; want_err 'models on S2'; want_no_file p.png
    run plot model --out p.png --kind nonsense
    want_failure 2; want_err "nonsense"; want_err 'corner'
    run plot model --out p.png --range 2:1
    want_failure 2; want_err 'A below B'
    run plot model --out p.png --levels 50,100
    want_failure 2; want_err 'between 0 and 100'
    run plot model --out p.png --scale loud
    want_failure 2; want_err 'linear or log'
    run plot model --out p.png --what nothing
    want_failure 2; want_err 'density, relative or spread'
    run plot model --out p.png --given 1
    want_failure 2; want_err '--at'
    run plot model --out p.png --names a,b
    want_failure 2; want_err '--names'
    run plot model --out p.png --dpi 9999
    want_failure 2; want_err '--dpi'
    run plot model --out p.png --grid 2
    want_failure 2; want_err '--grid'
    run plot model --out model
    want_failure 2
    run plot missing.m --out p.png
    want_failure 5; want_err 'missing.m'
    want_no_file p.png
}
