# cases_resume.sh - fits that are killed, interrupted and resumed: the same model, byte for byte, and the same log but
# for the seconds; and checkpoints that belong to something else.
#
# Moments are random, counted in lines of the log and not in seconds, so that a slow machine changes nothing.
# NPMD_DEEP=1 kills 20 times where the ordinary run kills 3 times.

kills=3
[ "${NPMD_DEEP:-0}" = 0 ] || kills=20

# 800 steps of 0.2 ms, 160 lines; a checkpoint after every few steps.
short="--domain S1^2 --data points.csv --steps 800 --width 16 --features 16 --q1 256 --q2 64 --folds 1 --log-every 5 \
    --threads 1 --quiet"
often="--checkpoint-every 0.01"

random() { echo $((1 + $(od -An -N2 -tu2 /dev/urandom) % $1)); } # 1 .. $1

# begin ARGUMENT...: a fit in the background, in $pid.
begin() {
    "$program" fit "$@" >out 2>err </dev/null &
    pid=$!
}
# until_true COMMAND...: waits for it, or for the end of $pid.
until_true() {
    polls=0
    until "$@"; do
        kill -0 $pid 2>/dev/null || return 0
        polls=$((polls + 1))
        [ $polls -lt 3000 ] || { wrong "nothing after a minute: $*"; return 0; }
        sleep 0.02
    done
}
has_lines() { [ -e "$1" ] && [ "$(lines "$1")" -ge "$2" ]; }
ended() { # its exit status into $code; a hang is a failure
    polls=0
    while kill -0 $pid 2>/dev/null && [ $polls -lt 3000 ]; do
        polls=$((polls + 1))
        sleep 0.02
    done
    [ $polls -lt 3000 ] || { wrong "it goes on after a minute"; kill -9 $pid; }
    code=0
    wait $pid 2>/dev/null || code=$?
}
# killed_at LINES [LOG]: kill -9 once the log has so many lines.
killed_at() {
    until_true has_lines "${2:-log}" "$1"
    kill -9 $pid 2>/dev/null
    ended
}
want_same_log() {
    for f in "$1" "$2"; do sed 's/"seconds": [^,]*, //' "$f" >"$f.timeless"; done
    cmp -s "$1.timeless" "$2.timeless" \
        || wrong "$1 and $2 differ in more than seconds: $(diff "$1.timeless" "$2.timeless" | head -n 3)"
    rm -f "$1.timeless" "$2.timeless"
    # one clock over all runs, which starts anew with no attempt
    awk -v f="$2" '{ match($0, /"seconds": [0-9.e+-]*/); s = substr($0, RSTART + 11, RLENGTH - 11) + 0
        if (s < last) { print f " line " NR ": seconds fall from " last " to " s; exit } last = s }' "$2" >falls
    [ ! -s falls ] || wrong "$(cat falls)"
    rm -f falls
}
# killed_and_resumed NAME ARGUMENT...: a fit that is left alone, the same fit killed at a random line and
# resumed: they must agree. The first is kept as NAME.m and NAME.log.
killed_and_resumed() {
    whole=$1
    shift
    if [ ! -s "$whole.m" ]; then
        run fit "$@" --out "$whole.m" --log "$whole.log"
        want_code 0
    fi
    total=$(lines "$whole.log")
    moment=${moment:-$(random $total)} # a case may ask for one
    rm -f m log ck
    begin "$@" --out m --log log --checkpoint ck $often
    killed_at $moment
    trained=no
    [ ! -e ck ] || ! grep -q 'chosen\\":true' ck || trained=yes
    run fit "$@" --out m --log log --checkpoint ck --resume ck --json
    want_code 0; want_no_err
    [ $trained = no ] || want_out '"resumed": [1-9]'
    cmp -s "$whole.m" m || wrong "$whole: killed at line $moment of $total, the model is another"
    want_same_log "$whole.log" log
    want_clean
    moment=
}

t_resume_after_a_kill() {
    points 200 2 >points.csv
    i=0
    while [ $i -lt $kills ]; do
        killed_and_resumed plain $short --tau 1e-4
        i=$((i + 1))
    done
    moment=1
    killed_and_resumed plain $short --tau 1e-4
}
# One fit, killed again and again: on other numbers of threads, from other folders, once during the choice of tau.
t_resume_again_and_again() {
    points 400 2 >points.csv
    run fit $short --out whole --log whole.log
    want_code 0
    mkdir elsewhere
    i=0
    while [ $i -lt $kills ]; do
        had=0
        [ ! -e log ] || had=$(lines log)
        # what the run before wrote beyond its checkpoint is taken back first
        if [ $((i % 2)) = 0 ]; then
            begin $short --out m --log log --checkpoint ck --resume ck $often --threads $((1 + i % 3))
        else
            cd elsewhere || return 1
            begin $short --data ../points.csv --out ../m --log ../log --checkpoint ../ck --resume ../ck $often
            cd ..
        fi
        killed_at $((had + $(random $((160 / kills)))))
        want_no_file m
        i=$((i + 1))
    done
    want_file ck
    set -- *tmp*
    [ $# -le 3 ] || wrong "temporary files pile up: $*"
    run fit $short --out m --log log --resume ck --threads 3
    want_code 0; want_no_err; want_same whole m; want_same_log whole.log log; want_clean
}
t_resume_the_choice_of_tau() {
    points 400 2 | awk -F, '{ printf "%.9f,%.9f\n", $1 / 10, $2 / 10 }' >points.csv
    chosen="$short --q1 2048 --steps 200"
    run fit $chosen --out whole --log whole.log
    want_code 0
    "$program" info whole --json | tr -d ' \n' | grep -q '"rivals":\[{' || wrong "nothing was chosen: the case tests nothing"
    begin $chosen --out m --log log --checkpoint ck $often
    until_true test -s ck
    kill -9 $pid 2>/dev/null
    ended
    grep -q 'chosen\\":false' ck || wrong "the kill did not come during the choice: the case tests nothing"
    run fit $chosen --out m --log log --checkpoint ck --resume ck
    want_code 0; want_same whole m; want_same_log whole.log log; want_clean
    moment=3
    cp whole choice.m
    cp whole.log choice.log
    killed_and_resumed choice $chosen
    grep -q 'chosen\\":true' ck || wrong "the choice is not in the checkpoint"
}
t_resume_spheres_weights_importance_truth() {
    directions 200 >s2.csv
    points 200 1 >w.csv
    killed_and_resumed s2 --domain S2 --data s2.csv --weights w.csv --tau 1e-4 --steps 200 --width 16 --features 16 \
        --q1 256 --q2 64 --log-every 5 --threads 1 --quiet
    points 200 4 >t4.csv
    killed_and_resumed t4 --domain T4 --data t4.csv --weights w.csv --tau 1e-4 --steps 150 --width 16 --features 16 \
        --q1 256 --q2 64 --centres 64 --accuracy 0.05 --log-every 5 --threads 1 --quiet --integral importance --batch 70
    run simulate t2 --n 200 --out points.csv --truth truth.json --quiet
    # most of the time goes into the comparison with the truth, between a step and its line
    killed_and_resumed truth $short --tau 1e-4 --steps 60 --truth truth.json
}
t_resume_on_the_reference_device() {
    points 100 2 >points.csv
    killed_and_resumed exact $short --tau 1e-4 --steps 100 --device reference
}
t_resume_restarts() {
    points 200 2 >points.csv
    # the rate blows up twice; then once more, and the linear start stands
    moment=$((40 + $(random 30)))
    killed_and_resumed restarts $short --tau 1e-4 --steps 300 --skip off --rate 0.1 --clip 0 --omega 10
    grep -q '"attempt": 2' restarts.log || wrong "there was no restart: the case tests nothing"
    moment=$((20 + $(random 10)))
    killed_and_resumed linear $short --tau 1e-4 --steps 400 --rate 10 --clip 0
    "$program" info linear.m | grep -q 'linear start alone' || wrong "no linear start: the case tests nothing"
}
# Fits that need others. Members that fell behind, the first among them, are fitted again; a kill may come then, too.
t_resume_members_that_fell_behind() {
    points 60 2 >points.csv
    behind="--domain S1^2 --data points.csv --steps 120 --width 8 --features 8 --q1 128 --q2 32 --tau 1e-3 --members 3 \
        --accuracy 0.05 --log-every 5 --threads 1 --quiet"
    for moment in 30 90 130; do killed_and_resumed behind $behind; done # of 144 lines, half of them of second tries
    run info behind.m
    want_out 'member 1 collapsed' # if no first member fell behind, the case tests nothing
    [ "$(lines behind.log)" = 144 ] || wrong "$(lines behind.log) lines"
    run fit $behind --out m --log log --checkpoint ck --resume ck # after its end
    want_code 0; want_same behind.m m; want_same_log behind.log log
    set -- ck.parts.*
    [ ! -e "$1" ] || wrong "left behind: $*"
}
n_resume_a_stack() {
    points 100 1 >points.csv
    parts="--domain S1 --data points.csv --steps 60 --width 8 --features 8 --q1 128 --q2 32 --max-frequency 3 --folds 1 \
        --accuracy 0.02 --log-every 2 --threads 1 --quiet"
    killed_and_resumed stack $parts --estimator stack --tau 1e-3 --members 2
    killed_and_resumed auto $parts --estimator auto
}
# Interrupted while it chooses, select goes on choosing.
t_resume_select() {
    points 100 1 >points.csv
    over="--domain S1 --data points.csv --over width=6:10 --steps 60 --features 8 --q1 128 --q2 32 --folds 1 --accuracy 0.05 \
        --log-every 5 --threads 1 --quiet"
    run select $over --out whole --log whole.log
    want_code 0
    run select $over --out m --log log --checkpoint ck
    want_code 0; want_same whole m; want_same_log whole.log log; want_file ck.parts
    # as a kill leaves it: the last fits are not there, and one is cut off
    head -c $(($(wc -c <ck.parts) * 2 / 3)) ck.parts >cut
    mv cut ck.parts
    run select $over --out m --log log --resume ck --threads 2
    want_code 0; want_same whole m; want_same_log whole.log log; want_clean
    run select $over --over width=6:11 --out m --resume ck
    want_code 3; want_err 'a choice among other options'
    run fit --domain S1 --data points.csv --steps 60 --features 8 --q1 128 --q2 32 --folds 1 --accuracy 0.05 --out m --resume ck
    want_code 3; want_err 'a choice among other options'
}
t_resume_a_finished_fit() {
    points 200 2 >points.csv
    run fit $short --tau 1e-4 --out m --log log --checkpoint ck $often
    want_code 0; want_file ck
    mv m first
    cp log first.log
    run fit $short --tau 1e-4 --out m --log log --resume ck
    want_code 0; want_same first m; want_same_log first.log log
    cp ck before
    run fit $short --tau 1e-4 --out m --resume ck --checkpoint other --checkpoint-every 0 --threads 2
    want_code 0; want_same first m; want_same ck before # kept elsewhere
}
# A line that the end of the run before cut off, and lines beyond the checkpoint, are taken back.
t_resume_the_log() {
    points 200 2 >points.csv
    run fit $short --tau 1e-4 --steps 100 --out whole --log whole.log --checkpoint ck --checkpoint-every 0
    want_code 0
    head -c -20 whole.log >log
    run fit $short --tau 1e-4 --steps 100 --out m --log log --resume ck
    want_code 0 # the last line came before the last checkpoint: it is not made again, and this is not a log of ours
    for junk in '{"step": 90, "epo' 'not a log'; do
        rm -f log ck
        begin $short --tau 1e-4 --steps 1000 --out m --log log --checkpoint ck $often
        killed_at 30
        printf '%s' "$junk" >>log
        run fit $short --tau 1e-4 --steps 1000 --out m --log log --checkpoint ck --resume ck
        want_code 0
        ! grep -v '^{"step": [0-9]*, .*}$' log >strange || wrong "in the log: $(cat strange)"
        [ "$(lines log)" = 200 ] || wrong "the log has $(lines log) lines, expected 200"
    done
    # a log that is no ordinary file takes lines and gives none back
    run fit $short --tau 1e-4 --steps 1000 --out m --log /dev/null --resume ck
    want_code 0; want_no_err
    code=0
    $limit "$program" fit $short --tau 1e-4 --steps 100 --out m --log /dev/stdout --checkpoint new --resume new \
        2>err </dev/null | cat >out
    [ "$(lines out)" = 20 ] || wrong "a pipe got $(lines out) lines of the log, expected 20"
}

# ---- Signals --------------------------------------------------------------------------------------------------

# interrupted_and_resumed SIGNAL WHEN: with a checkpoint, one line, exit 130 and no model; and the fit goes on to the
# same bytes. WHEN is a number of lines, or ck: during the choice of tau.
interrupted_and_resumed() {
    begin $arguments --out m --log log --checkpoint ck --checkpoint-every 0.01
    if [ "$2" = ck ]; then until_true test -s ck; else until_true has_lines log "$2"; fi
    kill -"$1" $pid
    ended
    want_failure 130; want_err 'interrupted; --resume ck goes on'; want_no_file m; want_file ck; want_clean
    run fit $arguments --out m --log log --checkpoint ck --resume ck
    want_code 0; want_same whole m; want_same_log whole.log log
    rm -f m log ck
}
t_resume_after_signals() {
    points 400 2 >points.csv
    arguments="$short --steps 1500"
    run fit $arguments --out whole --log whole.log
    want_code 0
    interrupted_and_resumed TERM ck
    interrupted_and_resumed INT 5
    interrupted_and_resumed TERM 50
}
# Without a checkpoint there is a model, also if tau was still being chosen.
t_signal_during_the_choice() {
    points 400 2 >points.csv
    begin $short --steps 1000000 --q1 8192 --out m
    until_true has_handler
    kill -TERM $pid
    ended
    want_code 130; want_file m; want_clean
    run density m --points points.csv --out d.npy --quiet
    want_code 0
}
# The first signal waits for the end of a step, here of seconds; the second, of either kind, does not.
t_second_signal() {
    points 200 2 >points.csv
    for pair in 'TERM TERM' 'INT TERM'; do
        begin $short --tau 1e-4 --q1 400000000 --out m --log log
        until_true has_handler
        kill -"${pair% *}" $pid
        sleep 0.1
        kill -0 $pid 2>/dev/null || wrong "the first signal ended it: $(cat err)"
        kill -"${pair#* }" $pid
        ended
        want_code 143; want_no_file m; want_clean
        rm -f m log
    done
}
# The program, no longer the shell that starts it, catches SIGTERM (15) by now.
has_handler() {
    [ -r /proc/self/status ] || { sleep 0.5; return 0; }
    case $(sed -n 's/^\(Name\|SigCgt\):[[:space:]]*//p' /proc/$pid/status 2>/dev/null | tr '\n' ' ') in
    neuropmd*[4567cdef]???' ') return 0 ;;
    esac
    return 1
}

# ---- Checkpoints of something else ------------------------------------------------------------------------------

t_resume_refuses_another_fit() {
    points 200 2 >points.csv
    points 200 1 >w.csv
    tiny_ck="--steps 20 --width 16 --features 16 --q1 256 --q2 64 --threads 1 --quiet"
    run fit --domain S1^2 --data points.csv --tau 1e-4 $tiny_ck --out m --checkpoint ck --checkpoint-every 0
    want_code 0
    rm m
    cp ck copy
    sed '1!G;h;$!d' points.csv >reversed.csv
    sed '7s/^1/2/' points.csv >moved.csv
    # not_this WORDS ARGUMENT...: refused with these words; the checkpoint stays as it was.
    not_this() {
        words=$1
        shift
        run fit $tiny_ck --out m --log log --checkpoint ck --resume ck "$@"
        want_failure 3; want_err "$words"; want_no_file m; want_no_file log; want_same ck copy; want_clean
    }
    t2="--domain S1^2 --data points.csv --tau 1e-4"
    not_this 'ck is the checkpoint of a fit with --seed 1, this one has 2' $t2 --seed 2
    not_this '--steps 20, this one has 21' $t2 --steps 21
    not_this '--width 16, this one has 17' $t2 --width 17
    not_this '--integral "auto", this one has "importance"' $t2 --integral importance
    not_this '--tau 0.0001, this one has auto' --domain S1^2 --data points.csv
    not_this '--preset "default", this one has "quick"' $t2 --preset quick
    not_this 'to other data' --domain S1^2 --data moved.csv --tau 1e-4
    not_this 'to other data' --domain S1^2 --data reversed.csv --tau 1e-4
    not_this 'to other data' $t2 --weights w.csv
    points 199 2 >fewer.csv
    not_this 'to other data' --domain S1^2 --data fewer.csv --tau 1e-4
    directions 100 >s2.csv
    not_this 'of a fit on S1^2, this one is on S2' --domain S2 --data s2.csv --tau 1e-4
    not_this 'of a fit on S1^2, this one is on S1^3' --domain T3 --data s2.csv --tau 1e-4
    run fit $t2 $tiny_ck --weights w.csv --out m --checkpoint weighted --checkpoint-every 0
    awk '{ print 2 * $1 }' w.csv >w2.csv # the same density, another intensity
    run fit $t2 $tiny_ck --weights w2.csv --out m2 --resume weighted
    want_failure 3; want_err 'other data'; want_no_file m2
    # what does not shape the answer may differ
    run fit $t2 $tiny_ck --out m --resume ck --threads 2 --log-every 3 --log log --checkpoint-every 100
    want_code 0
    tr , '\t' <points.csv >points.tsv
    run fit --domain T2 --data points.tsv --tau 1e-4 $tiny_ck --out m2 --resume ck
    want_code 0; want_same m m2
    run fit $t2 $tiny_ck --out m3 --resume ck --device reference
    want_code 0
}
t_resume_refuses_what_is_no_checkpoint() {
    points 200 2 >points.csv
    base="$short --tau 1e-4 --steps 20"
    run fit $base --out model --checkpoint ck --checkpoint-every 0
    want_code 0
    # not_one STATUS FILE WORDS
    not_one() {
        run fit $base --out m --log log --resume "$2"
        want_failure "$1"; want_err "$2"; want_err "$3"; want_no_file m; want_no_file log; want_clean
    }
    not_one 5 absent 'No such file'
    run fit $base --out m --checkpoint there --resume absent
    want_failure 5; want_no_file m; want_no_file there
    not_one 3 model 'is no checkpoint, but a model'
    echo 'this is not a checkpoint' >words
    not_one 3 words words
    : >empty
    not_one 3 empty 'empty'
    size=$(wc -c <ck)
    for part in 4 100 $((size / 2)) $((size - 1)); do
        head -c "$part" ck >cut
        not_one 3 cut cut
    done
    { cat ck; printf x; } >longer
    not_one 3 longer longer
    sed 's/checkpoint_version\\":1,/checkpoint_version\\":2,/' ck >newer
    want_differ ck newer
    not_one 3 newer 'written by a newer neuropmd'
    # one byte of the numbers, and one of the words
    { head -c $((size - 1000)) ck; printf '\001'; tail -c 999 ck; } >damaged
    want_differ ck damaged
    not_one 3 damaged 'is damaged'
    sed 's/chosen\\":true/chosen\\":null/' ck >damaged
    want_differ ck damaged
    not_one 3 damaged 'is damaged'
    run info ck
    want_failure 3; want_err ck
    run density ck --points points.csv --out d.npy
    want_failure 3; want_no_file d.npy
    # in a script that is run again and again the first run finds nothing
    run fit $base --out m --checkpoint fresh --resume fresh --checkpoint-every 0
    want_code 0; want_same model m; want_file fresh
    run fit $base --out m --checkpoint fresh --resume fresh --checkpoint-every 0
    want_code 0; want_same model m
    # no output may take the checkpoint's place, wherever it is named
    cp ck copy
    run fit $base --out ck --resume ck
    want_failure 2; want_same ck copy
    run fit $base --out m --log ck --resume ck
    want_failure 2; want_same ck copy
    run fit $base --out ck --checkpoint ck
    want_failure 2; want_same ck copy
    echo '{"checkpoint": "ck"}' >config.json
    run fit $base --out ck --config config.json
    want_failure 2; want_same ck copy
}
