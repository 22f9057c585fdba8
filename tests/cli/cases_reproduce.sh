# cases_reproduce.sh - the paper's tables on a few points: the table, the file of results, and runs that are cut short.

# A fit of a fraction of a second, on one thread.
few="reproduce table1 --n 300 --methods series:best --threads 1"

t_reproduce_to_its_table() {
    run $few --replicates 2 --out results.jsonl
    want_code 0; want_out '^Table 1'; want_out '^series best  *2 .*+- .*0.0165/0.203'; want_err '2 of 2: series best #2'
    [ "$(awk 'length > 100' out | wc -l)" = 0 ] || wrong "a line has more than 100 columns"
    [ "$(lines results.jsonl)" = 2 ] || wrong "$(lines results.jsonl) lines, expected 2"
    head -n 1 results.jsonl >first
    want_json first replicate method settings data n nise ae fr kl seconds parameters peak_memory_bytes options version \
        status
    cp results.jsonl before
    run $few --replicates 2 --out results.jsonl --json
    want_code 0; want_same results.jsonl before; want_err '2 of them done before'
    [ "$(lines out)" = 1 ] || wrong "stdout has $(lines out) lines"
    want_json out experiment domain rows results nise_se published_nise published_ae_se
    # what it says can be repeated by hand
    run simulate t2 --authors --n 300 --seed 2 --out p.npy --truth t.json
    run fit --domain T2 --data p.npy --out m --quiet $(tail -n 1 results.jsonl | sed 's/.*"options": "\([^"]*\)".*/\1/')
    want_code 0
    run evaluate m --truth t.json --grid authors --json
    nise=$(sed 's/.*"nise": \([^,]*\),.*/\1/' out)
    grep -q "\"replicate\": 2, .*\"nise\": $nise," results.jsonl || wrong "fit and evaluate give nise $nise"
}
t_reproduce_data_of_others() {
    mkdir sets
    for i in 1 2; do "$program" simulate t2 --authors --n 400 --seed $i --out sets/points_0$i.npy --quiet; done
    run $few --data sets --replicates 2 --out results.jsonl --jobs 2
    want_code 0; want_out '^series best  *2 '
    grep -q '"data": "sets/points_02.npy, first 300"' results.jsonl || wrong "the data are not named"
    run $few --data sets/ --replicates 3
    want_failure 5; want_err 'sets/points_03.npy'
    run $few --data sets --n 500
    want_failure 3; want_err 'sets/points_01.npy: found 400 points'
    echo '1,2' >sets/points_02.npy
    run $few --data sets --out other.jsonl
    want_failure 3; want_err points_02; want_no_file other.jsonl
}
# Killed at once, after a line, and in the middle of one: what was there stays, byte for byte, and nothing is repeated.
t_reproduce_after_a_kill() {
    run $few --replicates 5 --out whole.jsonl --quiet
    want_code 0; want_no_out; want_no_err
    for moment in 1 3; do
        "$program" $few --replicates 5 --out r.jsonl >out 2>err &
        pid=$!
        until_true has_lines r.jsonl $moment
        kill -9 $pid 2>/dev/null
        ended
        cp r.jsonl before
        [ $moment = 1 ] || printf '{"experiment": "table1", "domain": "T2", "replicate": 4, "me' >>r.jsonl
    done
    run $few --replicates 5 --out r.jsonl
    want_code 0; want_out '^series best  *5 '; want_err 'was cut off'; want_err "5 to fit, $(lines before) of them done"
    [ "$(lines r.jsonl)" = 5 ] || wrong "$(lines r.jsonl) lines, expected 5"
    head -n "$(lines before)" r.jsonl >kept
    want_same before kept
    for f in whole.jsonl r.jsonl; do sed 's/"seconds": [^,]*, //; s/"peak_memory_bytes": [^,]*, //' $f >$f.timeless; done
    want_same whole.jsonl.timeless r.jsonl.timeless
}
t_reproduce_interrupted() {
    "$program" reproduce table1 --methods psnf:published --threads 1 --out r.jsonl >out 2>err &
    pid=$!
    until_true test -e r.jsonl
    sleep 0.3
    kill -TERM $pid
    ended
    want_code 130; want_no_out; want_err 'interrupted after 0 of 2'
    [ ! -s r.jsonl ] || wrong "a fit that did not end is in the file"
}
t_reproduce_a_row_that_fails() { # the others go on; it is tried again
    have pgrep || { skipped="no pgrep"; return 1; }
    two="reproduce table1 --methods field:published,series:best --n 300 --steps 50 --replicates 1 --threads 1 --out r.jsonl"
    "$program" $two >out 2>err &
    pid=$!
    until_true grep -q ' to fit, ' err
    until_true pgrep -P $pid >child
    kill -9 "$(head -n 1 child)"
    ended
    want_code 0; want_err 'field published #1 failed: its process was ended by signal 9'
    grep -q '"nise": null.*"reason": ".*signal 9", "status": "failed"}' r.jsonl || wrong "the failure is not in the file"
    want_out '^series best  *1 '; want_out 'field published: 1 failed'
    run $two
    want_code 0; want_err '2 to fit, 1 of them done before'; want_out '^field  published  1 '
    [ "$(lines r.jsonl)" = 3 ] || wrong "$(lines r.jsonl) lines, expected 3"
}
t_reproduce_full_disk() { # whole lines or none
    code=0
    (ulimit -f 2; exec "$program" $few --replicates 4 --out r.jsonl --quiet) >out 2>err || code=$?
    want_failure 5; want_err 'r.jsonl: cannot write'
    [ "$(grep -c '"status": "done"}$' r.jsonl)" = "$(lines r.jsonl)" ] || wrong "a line is cut off"
    run $few --replicates 4 --out r.jsonl
    want_code 0; [ "$(lines r.jsonl)" = 4 ] || wrong "$(lines r.jsonl) lines, expected 4"
}
# Theorem 1: nothing outside the corrected set; (0, 4) from a product of frequencies 1 and 2, which the paper's lacks.
t_reproduce_frequencies() {
    run reproduce frequencies --methods product --replicates 1 --n 100 --steps 20 --threads 1 --out f.jsonl
    want_code 0; want_out '^product depth6 '; want_out '^f_coefficients.csv: k1,k2,modulus'
    [ "$(awk 'length > 100' out | wc -l)" = 0 ] || wrong "a line has more than 100 columns"
    [ "$(grep -c '"outside": 0, ' f.jsonl)" = 7 ] || wrong "a frequency that the theorem does not permit"
    grep -q '"settings": "depth1".*"found": 2, .*"outside_paper": 0,' f.jsonl || wrong "depth 1 is not its encoding"
    grep -q '^product,depth2,1,0,4,.*,2,-1$' f_coefficients.csv || wrong "(0, 4) is not of degree 2, or in the paper's set"
    awk -F, '$2 == "depth1" && NR > 1 && ($4 != 1 || $5 * $5 != 4)' f_coefficients.csv | grep -q . && wrong "depth 1 has others"
    want_clean
}
t_reproduce_frequencies_after_a_kill() { # the table of coefficients, too, is that of a run that was left alone
    lines_of="reproduce frequencies --methods wave --replicates 2 --n 100 --steps 20 --threads 1"
    run $lines_of --out whole.jsonl
    want_code 0
    "$program" $lines_of --out r.jsonl >out 2>err &
    pid=$!
    until_true has_lines r.jsonl 3
    kill -9 $pid 2>/dev/null
    ended
    cp r.jsonl before
    run $lines_of --out r.jsonl
    want_code 0; want_err "14 to fit, $(lines before) of them done"; want_same whole_coefficients.csv r_coefficients.csv
    head -n "$(lines before)" r.jsonl >kept
    want_same before kept
}
t_reproduce_encodings() {
    run reproduce encodings --methods angles --n 300 --steps 10 --replicates 1 --threads 1 --out e.jsonl --json
    want_code 0; want_json out ise_criterion ise_criterion_se ise_criterion_relative nise ae profile
    want_json e.jsonl ise_criterion ise_criterion_relative ise_criterion_relative_se
    head -n 1 e_profiles.csv >header
    echo method,settings,replicate,step,epoch,seconds,objective,nise,ae >expected
    want_same header expected
    [ "$(grep -c '^angles,best,1,[0-9]*,.*,[0-9.e-]*,[0-9.]*$' e_profiles.csv)" = 10 ] || wrong "not a row a step"
    run reproduce encodings --methods separable:published --n 300 --steps 5 --replicates 1 --threads 1
    want_code 0; want_out '^separable published  1 .*-6.876'
    [ "$(awk 'length > 100' out | wc -l)" = 0 ] || wrong "a line has more than 100 columns"
}
t_reproduce_spectral_bias() {
    run reproduce spectral-bias --methods psnf:published --n 300 --steps 20 --replicates 1 --threads 1 --out s.jsonl
    want_code 0; want_out '^psnf   published  1 '; want_file s_profiles.csv
    [ "$(awk 'length > 100' out | wc -l)" = 0 ] || wrong "a line has more than 100 columns"
    [ "$(lines s_spectra.csv)" = 1636 ] || wrong "$(lines s_spectra.csv) lines, expected 3 spectra of 545"
    [ "$(cut -d, -f4 s_spectra.csv | uniq | tr '\n' ' ')" = "step 1 2 20 " ] || wrong "spectra of other steps"
    grep -q '^psnf,published,1,20,0,0,1,1$' s_spectra.csv || wrong "the densities are not relative to the uniform one"
}
t_reproduce_diagnostics() { # a row every 25 steps, and one for the last
    run reproduce diagnostics --n 60 --steps 30 --replicates 1 --threads 1 --out g.jsonl
    want_code 0; want_out '^Figure S7'; want_out '^field  *published  *1 '; want_out '^field  *best  *1 '
    head -n 1 g.jsonl >first
    want_json first n ae ise_criterion_relative snr_a snr_b snr_c last_minimum_ise last_minimum_snr_b course status
    [ "$(lines g_course.csv)" = 5 ] || wrong "g_course.csv has $(lines g_course.csv) lines, expected 5"
    [ "$(awk -F, 'NR > 1 && NF != 18' g_course.csv | wc -l)" = 0 ] || wrong "g_course.csv: a row has not 18 columns"
    cp g.jsonl before
    run reproduce diagnostics --n 60 --steps 30 --replicates 1 --threads 1 --out g.jsonl
    want_code 0; want_same g.jsonl before
}
t_reproduce_dimensions() { # the truth that it made serves the other commands
    run reproduce dimensions --domain S1^1 --methods kde --n 200 --replicates 2 --threads 1 --out d.jsonl --truth-seed 3
    want_code 0; want_out '^kde .*best .* 2 '
    run simulate d_truth_T1.json --n 200 --seed 2 --out p.npy --truth t.json
    run fit --domain T1 --data p.npy --out m --quiet $(tail -n 1 d.jsonl | sed 's/.*"options": "\([^"]*\)".*/\1/')
    want_code 0
    run evaluate m --truth d_truth_T1.json --json
    nise=$(sed 's/.*"nise": \([^,]*\),.*/\1/' out)
    grep -q "\"replicate\": 2, .*\"nise\": $nise," d.jsonl || wrong "fit and evaluate give nise $nise"
}
t_reproduce_refusals() {
    run reproduce
    want_failure 2
    run reproduce figure9
    want_failure 2; want_err "there are table1"
    for words in '--domain S2' '--methods nosuch' '--replicates 0' '--jobs 0' '--n -3' '--steps few' '--seed x' \
        '--truth t --truth-seed 1' '--methods=' '--methods series,'; do
        run reproduce table1 $words
        want_failure 2
    done
    run reproduce encodings --domain T3
    want_failure 2; want_err 'expected T2 or T4'
    run reproduce frequencies --domain T4
    want_failure 2; want_err 'expected T2'
    run reproduce dimensions --domain T8
    want_failure 2; want_err 'T1 or .* or T7'
    run reproduce dimensions --truth t.json
    want_failure 2; want_err 'needs --domain'
    run reproduce dimensions --data .
    want_failure 2; want_err 'needs --domain'
    run reproduce spectral-bias --methods kde
    want_failure 2; want_err 'psnf:best'
    run $few --truth nowhere.json
    want_failure 5; want_err nowhere.json
    "$program" simulate t4 --n 10 --out p.csv --truth t4.json --quiet
    run $few --truth t4.json --out r.jsonl
    want_failure 3; want_err 'the density is on S1^4'; want_no_file r.jsonl
    echo 'my,own,file' >mine.csv
    cp mine.csv kept
    run $few --out mine.csv
    want_failure 3; want_err 'mine.csv, line 1'; want_same mine.csv kept
    run $few --out nowhere/r.jsonl
    want_failure 5; want_err nowhere
    [ ! -c /dev/full ] || { run $few --out /dev/full; want_failure 5; }
}
# Figure S6: the criterion beside the error, 50 looks a fit.
t_reproduce_tau() {
    run reproduce tau --n 60 --steps 10 --replicates 1 --methods 5.6e-5,5.6e-4 --threads 1 --out tau.jsonl
    want_code 0; want_out '^Figure S6'; want_out '^5.6e-5 published  *1 '
    head -n 1 tau.jsonl >first
    want_json first tau nise ise_criterion_relative ise_criterion_relative_se course
    head -n 1 tau_courses.csv | grep -q '^method,settings,replicate,step,epoch,ise,ise_se,ise_smoothed,nise,ae$' \
        || wrong "tau_courses.csv begins with $(head -n 1 tau_courses.csv)"
    [ "$(lines tau_courses.csv)" = 21 ] || wrong "tau_courses.csv has $(lines tau_courses.csv) lines, expected 21"
}
