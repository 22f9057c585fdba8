# cases_usage.sh - help, and command lines that cannot be meant: exit 2, one line, nothing done.

t_no_arguments() {
    run
    want_code 2; want_no_out; want_err '^Usage: neuropmd COMMAND'
}
# It was taken for `auto`.
t_negative_tau() {
    points 40 2 >points.csv
    for tau in '--tau -1' --tau=-1e-9; do
        for estimator in field series; do
            run fit --domain S1^2 --data points.csv --out m --estimator $estimator $tau
            want_failure 2; want_err '--tau: -1.* lies outside 0 .. 1e+12'; want_no_file m
        done
    done
}
t_help() {
    for word in --help -h help; do
        run $word
        want_code 0; want_no_err; want_out '^Usage: neuropmd COMMAND'; want_out '^  fit '
    done
    if grep -q '^  man ' out; then wrong "the hidden command is listed"; fi
}
t_help_of_each_command() {
    for command in fit density score simulate evaluate plot reproduce bench info version man; do
        run $command --help
        want_code 0; want_no_err; want_out "^Usage: neuropmd $command"
        for option in json quiet seed threads device help; do want_out "^  --$option"; done
        cp out first
        run help $command
        want_code 0; want_same out first
    done
}
t_help_of_fit_holds_the_library_options() {
    run fit --help
    for option in domain data out weights config preset tau steps epochs batch q1 q2 rate schedule omega width depth \
        features max-frequency; do want_out "^  --$option "; done
}
# What the library knows better is asked of it: the names of --what, and what an option left open becomes.
t_help_asks_the_library() {
    run density --help
    want_code 0; want_out '^  --what log-density|density|relative|intensity|gradient|laplacian|spread|ratio|band$'
    run fit --help
    want_code 0
    tr -s ' \n' '  ' <out >flat && mv flat out
    want_out '(default: auto; usual: 5e-05 on S1, T2, S2; 0.0001 on T4, S2 x S2)'
    want_out '(default: 0; usual: 1024 for 10,000 points)'
    want_out '(default: 0; usual: 0.2)'
}
t_help_wins() {
    run fit --nonsense --help
    want_code 0; want_no_err; want_out 'Usage'
}
t_help_of_unknown() {
    run help dentsity
    want_failure 2; want_err 'did you mean density?'
}
t_unknown_command() {
    run frobnicate
    want_failure 2; want_err "unknown command 'frobnicate'"
    run densty
    want_failure 2; want_err 'did you mean density?'
    run --steps 3
    want_failure 2
}
t_unknown_option() {
    run fit --stpes 3
    want_failure 2; want_err 'unknown option --stpes; did you mean --steps?'
    run fit --max_frequency=3
    want_failure 2; want_err 'did you mean --max-frequency?'
    run score -x
    want_failure 2; want_err 'unknown option -x'
    run fit --xyzzyplugh 3
    want_failure 2; want_err 'unknown option --xyzzyplugh; see'
}
t_missing_value() {
    run fit --domain
    want_failure 2; want_err '^neuropmd fit: --domain needs a value'
    run fit --domain --data x
    want_failure 2; want_err '--domain needs a value'
    run fit --domain=
    want_failure 2; want_err '--domain needs a value'
}
t_flag_with_value() {
    run version --json=yes
    want_failure 2; want_err '--json takes no value'
}
t_missing_required() {
    run fit --domain S1 --data x
    want_failure 2; want_err '--out is missing'
    run info
    want_failure 2; want_err 'FILE is missing'
}
t_too_many_operands() {
    run info one two
    want_failure 2; want_err "'two'"
    run version one
    want_failure 2; want_err "'one'"
    run help fit density
    want_failure 2
}
t_file_given_twice() {
    run info model --json --json
    want_code 5 # the last counts; the model is not there
    run score model --data a --data b
    want_failure 2; want_err '--data is given twice'
}
t_bad_domain() {
    points 20 2 >points.csv
    run fit --domain S9 --data points.csv --out m $tiny
    want_failure 2; want_no_file m
}
t_bad_values() {
    points 20 2 >points.csv
    for pair in '--steps abc' '--steps -5' '--width -3' '--tau nan' '--threads -1' '--seed 1.5' '--preset nosuch' \
        '--coords nosuch'; do
        run fit --domain S1^2 --data points.csv --out m $pair
        want_failure 2; want_no_file m
    done
    run score model --data points.csv --seed x
    want_failure 2
}
t_same_file() {
    points 20 2 >points.csv
    cp points.csv copy
    run fit --domain S1^2 --data points.csv --out ./points.csv $tiny
    want_failure 2; want_same points.csv copy
    run fit --domain S1^2 --data points.csv --out m --log m $tiny
    want_failure 2; want_no_file m
}
t_option_with_equals() {
    points 20 2 >points.csv
    run fit --domain=S1^2 --data=points.csv --out=m --steps=10 --width=16 --features=16 --q1=256 --q2=64 --quiet
    want_code 0; want_file m; want_no_out; want_no_err
}
t_double_dash() {
    run info -- --no-such-model
    want_failure 5; want_err '--no-such-model'
}
t_newline_in_a_name() {
    run info "no
such"
    want_failure 5
}
t_manual_page() {
    run man
    want_code 0; want_no_err
    for section in NAME SYNOPSIS COMMANDS OPTIONS FILES 'EXIT STATUS' EXAMPLES; do want_out "^.SH $section"; done
    have groff || { skipped='no groff'; return 0; }
    groff -man -ww -Tascii out >page 2>complaints || wrong "groff fails"
    [ ! -s complaints ] || wrong "groff: $(head -n 3 complaints)"
}
