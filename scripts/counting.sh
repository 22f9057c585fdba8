# counting.sh - what scripts/test.sh and scripts/check-deep.sh share: builds, checks, and the counting of tests. They set
# work, the folder of builds and logs, and jobs.
# shellcheck shell=bash disable=SC2154 # which they set
passed=0 failed=0 skipped=0

# used: seconds of processors that ended children took so far, into $cpu.
used() {
    local user system
    times >"$work/times"
    read -r user system < <(tail -n 1 "$work/times")
    cpu=$(awk -v a="$user" -v b="$system" 'BEGIN { split(a, u, /[ms]/); split(b, s, /[ms]/)
        printf "%d", 60 * (u[1] + s[1]) + u[2] + s[2] }')
}
spent=0

# report NAME SECONDS PASSED FAILED SKIPPED: adds to the totals and prints one line.
report() {
    used
    passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
    local words="$3 passed"
    [ "$4" -gt 0 ] && words+=", $4 FAILED"
    [ "$5" -gt 0 ] && words+=", $5 skipped"
    printf '%-52s %s (%d s, %d s of processors)\n' "$1" "$words" "$2" $((cpu - spent))
    spent=$cpu
}

# check NAME COMMAND...: one test; what the command says is shown if it fails. Status 77 means: cannot be tested here.
check() {
    local name=$1 start=$SECONDS log status
    log=$work/$(echo "$name" | tr -cs 'a-z0-9\n' _).log
    shift
    ("$@") >"$log" 2>&1
    status=$?
    case $status in
    0) report "$name" $((SECONDS - start)) 1 0 0 ;;
    77)
        report "$name" $((SECONDS - start)) 0 0 1
        tail -n 1 "$log" | sed 's/^/    /'
        ;;
    *)
        report "$name" $((SECONDS - start)) 0 1 0
        tail -n 40 "$log" | sed 's/^/    /'
        ;;
    esac
    return $status
}

# build FOLDER OPTION...: configures and compiles.
build() {
    local folder=$work/$1
    shift
    cmake -S . -B "$folder" -G "Unix Makefiles" -UBUILD_SHARED_LIBS -DBUILD_TESTING=ON "$@" \
        && cmake --build "$folder" --parallel "$jobs"
}

# count FOLDER LOG OPTION...: runs the tests that ctest finds in the folder; prints "PASSED FAILED SKIPPED" and then
# what the failing ones said. Cases are TAP lines, or a line "N passed, N failed" which sums up a script; a program
# with neither is one case, and one that fails without a failed case (a crash, a leak) is a failed case.
count() {
    local folder=$1 log=$2
    shift 2
    # One more than there are cores: tests of the program wait for it some of the time.
    ctest --test-dir "$folder" --verbose --parallel $((jobs + 1)) --no-tests=error "$@" >"$log" 2>&1
    local verdict=$?
    awk -v verdict=$verdict '
        match($0, /^[0-9]+: /) {
            id = $1; sub(/:$/, "", id)
            text = substr($0, RLENGTH + 1)
            if (text ~ /^(not )?ok [0-9]+ *(- .*)?# *[Ss][Kk][Ii][Pp]/) skip[id]++
            else if (text ~ /^ok [0-9]+/) pass[id]++
            else if (text ~ /^not ok [0-9]+/) { fail[id]++; said[id] = said[id] "    " text "\n" }
            else {
                if (text ~ /^[0-9]+ passed, [0-9]+ failed/) {
                    split(text, n, /[^0-9]+/); pass[id] = n[1]; fail[id] = n[2]; skip[id] = n[3] + 0
                }
                if (lines[id]++ < 60 && text !~ /^(Test command|Working Directory|Test timeout|Environment)/)
                    said[id] = said[id] "    " text "\n"
            }
        }
        /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
            match($0, /#[0-9]+/); id = substr($0, RSTART + 1, RLENGTH - 1)
            match($0, /#[0-9]+: [^ ]+/); name = substr($0, RSTART, RLENGTH); sub(/^#[0-9]+: /, "", name)
            good = $0 ~ / Passed +[0-9.]+ sec/
            if (name ~ /^harness\./) pass[id] = fail[id] = skip[id] = 0
            if (!good && !fail[id]) fail[id] = 1
            if (good && !pass[id] && !fail[id] && !skip[id]) pass[id] = 1
            p += pass[id]; f += fail[id]; s += skip[id]
            if (fail[id]) complaints = complaints "  " name " failed:\n" said[id]
        }
        END {
            if (verdict != 0 && f == 0) { f = 1; complaints = "  ctest failed, see the log\n" }
            printf "%d %d %d\n%s", p, f, s, complaints
        }' "$log"
}

# tests NAME FOLDER OPTION...: runs them, adds up, shows what failed.
tests() {
    local name=$1 folder=$work/$2 start=$SECONDS result p f s
    shift 2
    result=$(count "$folder" "$folder/tests.log" "$@")
    read -r p f s <<<"$result"
    report "$name" $((SECONDS - start)) "${p:-0}" "${f:-1}" "${s:-0}"
    [ "${f:-1}" -eq 0 ] || echo "$result" | tail -n +2
}
