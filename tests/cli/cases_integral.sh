# cases_integral.sh - a density whose integral is not known is no model.

# Few points, no penalty, and eight points a step for the integral: the network has peaks that no step has seen. With a larger
# --accuracy the same fit is taken as it is.
t_integral_not_known() {
    points 60 6 >points.csv
    steep="--width 32 --q1 8 --q2 8 --batch 32 --encoding coordinates --tau 0 --omega 20 --rate 0.01 --steps 400 --skip off"
    run fit --domain T6 --data points.csv --out m $steep --quiet
    want_failure 4
    want_err 'the log integral is known to'
    want_err '\-\-accuracy'
    want_no_file m
    want_clean
    run fit --domain T6 --data points.csv --out m $steep --accuracy 1 --quiet
    want_code 0
    [ -s m ] || wrong "no model was written"
}
