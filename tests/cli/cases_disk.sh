# cases_disk.sh - disks that fill up, folders that vanish or may not be written: exit 5, one line that says which file
# and why, old files as they were, nothing temporary left, and no model lost that took hours.
#
# The limit on a file's size plays the full disk everywhere; with root there is also a real one of 1 MiB.

# limited BLOCKS ARGUMENT...: the program with files of at most so many blocks of 512 bytes.
limited() {
    blocks=$1
    shift
    code=0
    (ulimit -f "$blocks" && exec $limit "$program" "$@" >out 2>err </dev/null) || code=$?
}
# refused_write FILE WORDS: the last run could not write FILE, an old file that must be intact.
refused_write() {
    want_failure 5
    want_err "$1"
    want_err "$2"
    [ ! -e "$1" ] || [ "$(cat "$1")" = "the old $1" ] || wrong "$1 is not as it was"
    want_clean
}
olds() { for f in "$@"; do echo "the old $f" >"$f"; done; }

t_file_too_large() {
    with_model
    olds m d.npy s.npy p.npy p.csv t.json p.png
    limited 8 fit --domain S1^2 --data points.csv --out m $tiny --quiet
    refused_write m 'File too large'
    limited 1 density model --points points.csv --out d.npy
    refused_write d.npy 'File too large'
    limited 8 sample model --n 1000 --out s.npy
    refused_write s.npy 'File too large'
    limited 8 simulate t2 --n 1000 --out p.npy --truth t.json
    refused_write p.npy 'File too large'
    [ "$(cat t.json)" = 'the old t.json' ] || wrong "the truth is that of points which were not written"
    limited 8 simulate t2 --n 1000 --out p.csv
    refused_write p.csv 'File too large'
    limited 4 plot model --out p.png
    refused_write p.png 'File too large'
    # all is well when there is room again
    run sample model --n 1000 --out s.npy --quiet
    want_code 0; want_clean
}
t_log_too_large() {
    points 100 2 >points.csv
    limited 16 fit --domain S1^2 --data points.csv --out m --log log $tiny --features 8 --width 8 --depth 2 --quiet
    want_failure 5; want_err 'the log log is not whole: File too large'; want_clean
    run info m # the model is there all the same
    want_code 0
}
# The state is three times the parameters, the model once: the fit goes on, the model is saved, the status says 5.
t_checkpoint_too_large() {
    points 100 2 >points.csv
    olds ck
    limited 24 fit --domain S1^2 --data points.csv --out m --checkpoint ck --checkpoint-every 0 $tiny --tau 1e-4 --json
    want_code 5; want_err 'the model is saved, but no checkpoint: cannot write ck: File too large'; want_clean
    [ "$(cat ck)" = 'the old ck' ] || wrong "the old checkpoint is lost"
    run fit --domain S1^2 --data points.csv --out again $tiny --tau 1e-4 --quiet
    want_same m again
    # interrupted, and no checkpoint can be written: then the model so far
    (ulimit -f 24 && exec "$program" fit --domain S1^2 --data points.csv --out so_far --checkpoint ck \
        --checkpoint-every 0 $tiny --tau 1e-4 --steps 1000000 --log log --log-every 100 --quiet >out 2>err </dev/null) &
    pid=$!
    until_true has_lines log 1
    kill -TERM $pid
    ended
    want_code 5; want_err 'no checkpoint: cannot write ck: File too large'; want_clean
    run density so_far --points points.csv --out d.npy --quiet
    want_code 0
}
# A fit that began with a folder which is gone at its end.
t_folder_vanishes() {
    points 100 2 >points.csv
    mkdir out_folder other kept
    long="--domain S1^2 --data points.csv --width 8 --features 8 --q1 256 --q2 64 --tau 1e-4 --steps 2000 \
        --threads 1 --quiet"
    run fit $long --out whole
    want_code 0
    TMPDIR=$PWD/kept "$program" fit $long --out out_folder/m --checkpoint other/ck --checkpoint-every 0.05 --log log \
        >out 2>err </dev/null &
    pid=$!
    until_true test -e other/ck
    rm -r out_folder other
    ended
    want_failure 5; want_err 'cannot write out_folder/m'; want_err 'No such file'; want_err 'the model is in'
    set -- kept/*
    [ $# = 1 ] || wrong "in the rescue's folder: $*"
    want_same whole "$1"
    grep -q "the model is in $PWD/$1 instead" err || wrong "the message does not say where: $(cat err)"
    # nowhere to go
    mkdir out_folder
    TMPDIR=/no/such/folder "$program" fit $long --out out_folder/m --log log2 >out 2>err </dev/null &
    pid=$!
    until_true has_lines log2 1
    rm -r out_folder
    ended
    want_failure 5; want_err 'cannot write out_folder/m'
}
# As somebody who may not write there; root may everywhere.
t_read_only_folder() {
    points 100 2 >points.csv
    with_model
    mkdir closed
    olds closed/m closed/d.npy
    stranger=
    if [ "$(id -u)" = 0 ]; then
        have setpriv || { skipped='no setpriv(1)'; return 0; }
        stranger='setpriv --reuid=65534 --regid=65534 --clear-groups'
        $stranger true 2>/dev/null || { skipped='root cannot become nobody here'; return 0; }
        chmod 711 "$work"
        $stranger "$program" version >/dev/null 2>&1 || { skipped='nobody may not run the program here'; return 0; }
        chmod 755 .
    fi
    mkdir open
    chmod 777 open
    chmod 555 closed
    for output in '--out closed/m' '--out open/m --log closed/log' '--out open/m --checkpoint closed/ck'; do
        code=0
        $stranger $limit "$program" fit --domain S1^2 --data points.csv --steps 10000000 $output >out 2>err </dev/null \
            || code=$?
        want_failure 5; want_err 'cannot write closed/.*Permission denied'; want_no_file open/m
    done
    code=0
    $stranger "$program" density model --points points.csv --out closed/d.npy >out 2>err </dev/null || code=$?
    refused_write closed/d.npy 'Permission denied'
    [ "$(cat closed/m)" = 'the old closed/m' ] || wrong "closed/m is not as it was"
    set -- closed/*
    [ $# = 2 ] || wrong "in the folder: $*"
    chmod 755 closed
}

# ---- A real disk ------------------------------------------------------------------------------------------------

# with_disk: 1 MiB in the folder disk; false where that cannot be.
with_disk() {
    mkdir disk
    [ "$(id -u)" = 0 ] || { skipped='needs root, for a disk of 1 MiB'; return 1; }
    mount -t tmpfs -o size=1m neuropmd_test "$PWD/disk" 2>/dev/null && return 0
    skipped='tmpfs cannot be mounted here'
    return 1
}
fill() { cat /dev/zero >disk/filler 2>/dev/null; } # to the last page
want_disk_clean() {
    for f in disk/*; do case $f in *tmp) wrong "left on the disk: $f" ;; esac; done
}

t_full_disk() {
    with_disk || return 0
    with_model
    olds disk/m disk/d.npy disk/s.npy disk/p.csv disk/t.json disk/p.png disk/ck
    fill
    full='No space left on device'
    mkdir kept
    run fit --domain S1^2 --data points.csv --out reference $tiny --quiet
    TMPDIR=$PWD/kept
    export TMPDIR
    run fit --domain S1^2 --data points.csv --out disk/m $tiny --quiet
    unset TMPDIR
    refused_write disk/m "$full"
    want_err 'the model is in .*/kept/neuropmd-.*safetensors instead'
    want_same reference kept/*
    TMPDIR=$PWD/disk
    export TMPDIR
    run fit --domain S1^2 --data points.csv --out disk/m $tiny --quiet
    unset TMPDIR
    refused_write disk/m "$full"
    run density model --points points.csv --out disk/d.npy
    refused_write disk/d.npy "$full"
    run sample model --n 2000 --out disk/s.npy
    refused_write disk/s.npy "$full"
    run simulate t2 --n 2000 --out disk/p.csv --truth disk/t.json
    refused_write disk/p.csv "$full"
    [ "$(cat disk/t.json)" = 'the old disk/t.json' ] || wrong "the truth is that of points which were not written"
    run plot model --out disk/p.png
    refused_write disk/p.png "$full"
    # a checkpoint and a log there: the fit goes on, the model is elsewhere and whole
    run fit --domain S1^2 --data points.csv --out m --checkpoint disk/ck --checkpoint-every 0 $tiny --quiet
    refused_write disk/ck "$full"
    want_same reference m
    : >disk/log
    run fit --domain S1^2 --data points.csv --out m --log disk/log $tiny --quiet
    want_failure 5; want_err "the log disk/log is not whole: $full"; want_same reference m
    code=0
    $limit "$program" fit --domain S1^2 --data points.csv --out m --json $tiny >disk/report 2>err </dev/null || code=$?
    : >out
    want_code 5; want_err 'cannot write to standard output'; want_same reference m
    want_disk_clean
    # with room again all is well
    rm disk/filler
    run fit --domain S1^2 --data points.csv --out disk/m --checkpoint disk/ck --checkpoint-every 0 --log disk/log $tiny \
        --quiet
    want_code 0; want_same reference disk/m; want_disk_clean
}
# The disk fills up during the run; and becomes read-only.
t_disk_fills_up() {
    with_disk || return 0
    points 100 2 >points.csv
    mkdir kept
    long="--domain S1^2 --data points.csv --width 8 --features 8 --q1 256 --q2 64 --tau 1e-4 --steps 2000 \
        --threads 1 --quiet"
    run fit $long --out whole
    for way in fill "mount -o remount,ro $PWD/disk"; do
        olds disk/m
        rm -f log
        TMPDIR=$PWD/kept "$program" fit $long --out disk/m --checkpoint disk/ck --checkpoint-every 0.02 --log log \
            >out 2>err </dev/null &
        pid=$!
        until_true test -e disk/ck
        if [ "$way" = fill ]; then
            fill
        else
            until_true $way 2>/dev/null # between two checkpoints
        fi
        ended
        want_failure 5; want_err 'cannot write disk/m'; want_err 'No space left\|Read-only'; want_disk_clean
        [ "$(cat disk/m)" = 'the old disk/m' ] || wrong "disk/m is not as it was"
        set -- kept/*
        [ $# = 1 ] || wrong "in the rescue's folder: $*"
        want_same whole "$1"
        cp disk/ck ck # of the time before, and whole
        mount -o remount,rw "$PWD/disk"
        run fit $long --out m --resume ck
        want_code 0; want_same whole m
        rm -f kept/* disk/*
    done
}
