# cases_doors.sh - what comes and goes through the program's doors: links, locks, special files, pipes that close, files that
# shrink, signals.

# ---- Links ----------------------------------------------------------------------------------------------------

t_links_of_strangers() {
    with_model
    mkdir open
    chmod 1777 open
    echo precious >victim.csv
    ln -s ../victim.csv open/out.csv
    chown -h 12345 open/out.csv 2>/dev/null || { skipped='only root can make the link of a stranger'; return 0; }
    run sample model --n 3 --out open/out.csv
    want_failure 5; want_err "cannot write open/out.csv: .*somebody else's link"
    [ "$(cat victim.csv)" = precious ] || wrong "the file behind a stranger's link was overwritten"
    [ -L open/out.csv ] || wrong "the link is gone"
    run fit --domain S1^2 --data points.csv --out m --checkpoint open/out.csv $tiny --quiet
    want_failure 5; want_err "somebody else's link"; want_no_file m
}
t_links_to_nothing() {
    with_model
    ln -s later.csv link.csv
    run sample model --n 3 --out link.csv --quiet
    want_code 0; want_file later.csv
    [ -L link.csv ] || wrong "the link was replaced by a file"
    ln -s round.csv round.csv
    run sample model --n 3 --out round.csv
    want_failure 5; want_err 'cannot write round.csv'
    [ -L round.csv ] || wrong "the link was replaced by a file"
    want_clean
}

# ---- Two runs that write to one file --------------------------------------------------------------------------

t_two_runs_one_output() {
    points 200 2 >points.csv
    long="--domain S1^2 --data points.csv --tau 1e-4 --width 8 --features 8 --q1 256 --q2 64 --threads 1 --quiet"
    begin $long --steps 10000000 --out m --checkpoint ck --checkpoint-every 0.05 --log log --log-every 100
    until_true test -e ck
    until_true has_lines log 1
    run fit $long --steps 20 --out m
    want_failure 5; want_err 'cannot write m: another run is writing to it'
    run fit $long --steps 20 --out other --checkpoint ck
    want_failure 5; want_err 'cannot write ck: another run is writing to it'
    run fit $long --steps 10000000 --out other --resume ./ck
    want_failure 5; want_err 'cannot write ./ck: another run is writing to it'
    run fit $long --steps 20 --out other --log log
    want_failure 5; want_err 'cannot write log: another run is writing to it'
    has_lines log 1 || wrong "the log of the first run was emptied"
    want_no_file other
    run fit $long --steps 20 --out other --checkpoint other.ck # another name is another file
    want_code 0
    kill -0 $pid 2>/dev/null || wrong "the first run has ended: $(cat err)"
    kill -9 $pid
    ended
    set -- *lock*
    [ ! -e "$1" ] || wrong "a lock stayed behind: $*"
    run fit $long --steps 20 --out m --checkpoint ck --log log # a crash gives back what it had
    want_code 0; want_no_err; want_clean
}

# ---- Special files --------------------------------------------------------------------------------------------

t_special_files() {
    with_model
    if [ -c /dev/zero ]; then
        run info /dev/zero
        want_failure 5; want_err 'cannot read /dev/zero: it is a device'
        run fit --domain S1^2 --data /dev/zero --out m $tiny
        want_code 3; want_one_line
        ln -s /dev/zero zero.csv
        run fit --domain S1^2 --data zero.csv --out m $tiny
        want_failure 5; want_err 'cannot read zero.csv: it is a device'
    fi
    mkdir folder.csv
    run fit --domain S1^2 --data folder.csv --out m $tiny
    want_failure 5; want_err 'Is a directory'
    run info folder.csv
    want_failure 5; want_err 'Is a directory'
    # a pipe where one makes sense, and not where a file is read twice
    mkfifo pipe.csv
    cat points.csv >pipe.csv &
    run fit --domain S1^2 --data pipe.csv --out piped $tiny --quiet
    want_code 0; want_same piped model
    mkfifo pipe.st
    cat model >pipe.st &
    run info pipe.st --json
    want_code 0; want_json out domain
    run fit --domain S1^2 --data points.csv --start-from pipe.st --out m $tiny
    want_failure 5; want_err 'pipe.st: it is no file'
    want_no_file m; want_clean
}
t_large_files_of_nothing() {
    have truncate || { skipped='no truncate(1)'; return 0; }
    truncate -s 64G nothing.st 2>/dev/null || { skipped='no sparse files here'; return 0; }
    limit="timeout 20" # read whole, it took minutes or all memory
    run info nothing.st
    want_failure 3; want_err "nothing.st is no safetensors file"
    for f in nothing.csv nothing.csv.gz nothing.npy nothing.mat nothing.json; do
        mv nothing.* $f
        run fit --domain S1^2 --data $f --out m $tiny
        want_failure 3; want_err "$f"
    done
    mv nothing.* nothing.off
    run fit --domain mesh:nothing.off --data points.csv --out m $tiny
    want_failure 3; want_err "nothing.off line 1: NUL byte"
    limit="timeout 60"
}

# ---- Pipes that close, files that shrink ------------------------------------------------------------------------

# As of any filter, no word and the status of the signal.
t_reader_that_leaves() {
    with_model
    for arguments in 'info model' 'info model --json' 'help fit' 'density --help' 'man'; do
        { (sleep 0.2; "$program" $arguments 2>err; echo $? >status) | true; }
        code=$(cat status)
        want_code 141; want_no_err
    done
    { (sleep 0.2; "$program" fit --domain S1^2 --data points.csv --out m $tiny --json 2>err; echo $? >status) | true; }
    want_file m
    [ "$(cat status)" = 141 ] || wrong "the status is $(cat status)"
}
t_mapped_file_that_shrinks() {
    have truncate || { skipped='no truncate(1)'; return 0; }
    large_npy big.npy 4500000 2 72000128
    number_at big.npy 8999998 $one
    begin --domain S1^2 --data big.npy --steps 10000000 --tau 1e-4 --features 16 --width 8 --batch 10000 --q1 256 --q2 64 \
        --threads 1 --quiet --out m --log log --log-every 1
    until_true has_lines log 2
    truncate -s 1000000 big.npy
    ended
    want_failure 5; want_err 'became shorter'; want_no_file m; want_clean
}

# ---- Threads --------------------------------------------------------------------------------------------------

t_threads_that_cannot_be() {
    with_model
    run density model --points points.csv --out d.npy --threads 100000
    want_failure 2; want_err 'threads: 100000 lies outside 0 .. 4096'
    run fit --domain S1^2 --data points.csv --out m --threads -1 $tiny
    want_failure 2; want_err 'threads'
    OMP_NUM_THREADS=100000
    export OMP_NUM_THREADS # a crash
    run density model --points points.csv --out d.npy
    unset OMP_NUM_THREADS
    want_failure 2; want_err '100000 threads are set for all of this process'; want_no_file d.npy
    # the library of threads would end the program with 1 and words of its own
    have setpriv && [ "$(id -u)" = 0 ] && chmod 711 "$work" && chmod 755 . \
        && setpriv --reuid=65533 --regid=65533 --clear-groups "$program" version >/dev/null 2>&1 \
        || { skipped='nobody else can run the program here'; return 0; }
    code=0
    (ulimit -u 1 2>/dev/null || ulimit -p 1
        ASAN_OPTIONS=detect_leaks=0 # which looks from a process of its own
        export ASAN_OPTIONS
        exec setpriv --reuid=65533 --regid=65533 --clear-groups "$program" \
        score model --data points.csv --threads 64 >out 2>err </dev/null) || code=$?
    want_failure 7; want_err '64 threads were wanted'
}

# ---- Signals --------------------------------------------------------------------------------------------------

# SIGHUP, as SIGTERM; but not under nohup.
t_hangup() {
    points 200 2 >points.csv
    begin $short --tau 1e-4 --steps 10000000 --out m --log log
    until_true has_lines log 5
    kill -HUP $pid
    ended
    want_code 130; want_file m; want_clean
    (trap '' HUP; exec "$program" fit $short --tau 1e-4 --steps 10000000 --out n --log hlog >out 2>err </dev/null) &
    pid=$!
    until_true has_lines hlog 5
    kill -HUP $pid
    had=$(lines hlog)
    until_true has_lines hlog $((had + 20))
    kill -0 $pid 2>/dev/null || wrong "SIGHUP ended it although it was to be ignored"
    kill -TERM $pid
    ended
    want_code 130
}
# One long integral of a slow density: a log mean of kernels in six dimensions. The time that counts is the processor's, in
# hundredths of a second: 20 to 30 go by after the signal here, and were 250 when only the ends of sums were looked at.
n_signal_in_an_integral() {
    [ -r /proc/self/stat ] || { skipped='no /proc'; return 0; }
    points 5000 6 >points.csv
    begin --domain T6 --data points.csv --estimator kde --kappa 5 --members 16 --bootstrap on --combine log --out m \
        --threads 1 --quiet --accuracy 1e-5
    until_true has_used 100
    before=$(used_by $pid)
    kill -TERM $pid
    while kill -0 $pid 2>/dev/null && now=$(used_by $pid) && [ -n "$now" ]; do after=$now; sleep 0.02; done
    ended
    want_code 130; want_file m
    [ $((after - before)) -lt 100 ] || wrong "$((after - before)) hundredths of a second went by after the signal"
}
used_by() { sed 's/.*)//' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'; }
has_used() { [ "$(used_by $pid)" -ge "$1" ]; }
