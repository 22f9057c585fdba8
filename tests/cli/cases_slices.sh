# cases_slices.sh - marginal and conditional densities, draws given some factors, and the files that points come in.

t_marginal_density() {
    with_model
    cut -d, -f2 points.csv >second.csv
    run marginal model --factors 2 --points second.csv --out logf.csv --json --errors se.csv
    want_code 0; want_clean
    want_json out out factors domain what n log_se_max
    [ "$(lines logf.csv)" = 200 ] && [ "$(lines se.csv)" = 200 ] || wrong "200 rows were expected in both files"
    run marginal model --factors 2 --points second.csv --out again.csv --quiet --threads 1
    want_code 0; want_same logf.csv again.csv; want_no_out; want_no_err
    run marginal model --factors 1,2 --points points.csv --out all.csv --quiet
    run density model --points points.csv --out joint.csv --quiet
    want_same all.csv joint.csv
}
t_marginal_refusals() {
    with_model
    run marginal model --factors 3 --points points.csv --out f.csv
    want_failure 2; want_err 'numbers from 1 to 2'; want_no_file f.csv
    run marginal model --factors 1 --points points.csv --out f.csv
    want_failure 3; want_err 'has 2 columns'; want_no_file f.csv
    run marginal model --factors 1 --points points.csv --out points.csv
    want_failure 2
    run marginal model --factors 1 --points points.csv --out f.csv --accuracy -1
    want_failure 2; want_err 'positive number'
    cut -d, -f1 points.csv >first.csv
    run marginal model --factors 1 --points first.csv --out f.csv --what gradient
    want_failure 2; want_err 'log-density, density, relative or intensity'; want_no_file f.csv
}
t_conditional_density() {
    with_model
    run density model --points points.csv --out c.csv --given 1 --json
    want_code 0; want_file c.csv; want_json out n what
    run density model --points points.csv --out c2.csv --given 1,2
    want_failure 2; want_err 'at least one must remain'; want_no_file c2.csv
}
# log f(x) = log f_1(x_1) + log f(x_2 | x_1), from three commands.
t_joint_is_marginal_times_conditional() {
    with_model
    head -n 5 points.csv >some.csv
    cut -d, -f1 some.csv >first.csv
    run density model --points some.csv --out joint.csv --quiet
    run density model --points some.csv --out cond.csv --given 1 --quiet
    run marginal model --factors 1 --points first.csv --out marg.csv --quiet
    paste -d, joint.csv cond.csv marg.csv | awk -F, '{ d = $1 - $2 - $3; if (d * d > 1e-20) bad = 1 } END { exit bad }' \
        || wrong "the log densities do not add up: $(paste -d, joint.csv cond.csv marg.csv | head -n 2)"
}
t_draws_given_a_factor() {
    with_model
    run sample model --n 20 --given 2 --at 2.5 --out draws.csv --json
    want_code 0
    [ "$(cut -d, -f2 draws.csv | sort -u)" = 2.5 ] || wrong "the given factor moved: $(head -n 2 draws.csv)"
    printf '2.5\n3.0\n' >two.csv
    run sample model --n 20 --given 2 --at two.csv --out both.csv --quiet
    want_code 0
    [ "$(lines both.csv)" = 40 ] || wrong "20 draws for each of two rows, but $(lines both.csv) lines"
    head -n 20 both.csv | cmp -s - draws.csv || wrong "the draws given the first row depend on the others"
    run sample model --n 5 --given 2 --out no.csv
    want_failure 2; want_err 'both or neither'; want_no_file no.csv
    run sample model --n 5 --given 2 --at 1,2 --out no.csv
    want_failure 3; want_no_file no.csv
}
t_the_same_points_from_every_format() {
    have gzip || { skipped='no gzip'; return 0; }
    points 120 2 >points.csv
    tr , '\t' <points.csv >points.tsv
    gzip -c points.csv >points.csv.gz
    fit="--domain S1^2 $tiny --quiet --tau 1e-4"
    for file in points.csv points.tsv points.csv.gz; do
        run fit --data $file --out "m_$file" $fit
        want_code 0; want_same m_points.csv "m_$file"
    done
    head -c 300 points.csv.gz >cut.csv.gz
    run fit --data cut.csv.gz --out no $fit
    want_failure 3; want_err 'cut.csv.gz'; want_no_file no
}
t_mat_files() {
    fixture=$here/../fixtures/mat/plain.mat
    run fit --domain S1^2 --data "$fixture:nope" --out m $tiny
    want_failure 3; want_err "no variable 'nope', but x (3 x 2 double)"; want_no_file m
    run fit --domain S1^2 --data "$fixture" --out m $tiny
    want_failure 3; want_no_file m
    run fit --domain S1^2 --data "$fixture:x" --out m $tiny --quiet --tau 1e-2
    want_code 0
    run fit --domain S1^2 --data "$here/../fixtures/mat/zipped.mat:x" --out z $tiny --quiet --tau 1e-2
    want_code 0; want_same m z
    run fit --domain S1^2 --data "$here/../fixtures/mat/version73.mat:x" --out z $tiny
    want_failure 3; want_err 'version 7.3, expected 5'
}
