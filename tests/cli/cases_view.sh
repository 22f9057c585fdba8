# The interactive page: what is written, what is said about it, what is refused. Browsers look at pages in tests/view.

view_model() { # T2, by kernels: at once
    points 60 2 >points.csv
    run fit --domain T2 --data points.csv --estimator kde --kappa 20 --out m --quiet
    want_code 0
}
view_absent() { # a build without three.js says so, and that is all there is to test
    run view m --out probe.html --nodes 8 --quiet
    [ "$code" = 6 ] || return 1
    want_failure 6; want_err 'three.js was not found'; want_no_file probe.html
    skipped='this build has no page'
}
t_view_writes_a_page() {
    view_model
    view_absent && return 0
    run view m --out page.html --nodes 16 --data points.csv --points-most 20 --title 'A </script> & "B"' --names 'phi,psi' --json
    want_code 0; want_no_err
    want_json out out domain factors nodes points points_shown level_error mass sum_error bytes
    want_out '"points_shown": *20'
    want_file page.html; want_clean
    [ "$(wc -c <page.html | tr -d ' ')" = "$(sed 's/.*"bytes": *\([0-9]*\).*/\1/' out)" ] || wrong "bytes in --json are not the file's"
    grep -q 'A \\u003c/script> & \\"B\\"' page.html || wrong "the title is not safe inside the page"
    run view m --out again.html --nodes 16 --data points.csv --points-most 20 --title 'A </script> & "B"' --names 'phi,psi' --threads 2
    want_code 0; want_same page.html again.html
    want_out '16 x 16 nodes of factors 1 and 2'
    run view m --out one.html --factors 2 --nodes 16 --quiet
    want_code 0; want_no_out; want_file one.html
}
t_view_refuses() {
    view_model
    view_absent && return 0
    run view m --out page.png
    want_failure 2; want_err 'ends in .html'
    run view m --out page.html --names a,b,c
    want_failure 2; want_err 'one or two names'
    run view m --out page.html --title "$(printf 'a\377\376')"
    want_failure 2; want_err '--title: byte 2 is 0xff, which is not UTF-8'
    run view m --out page.html --names "$(printf 'b,caf\351')"
    want_failure 2; want_err '--names, the second: byte 4 is 0xe9'
    run view m --out page.html --nodes 0
    want_failure 2
    run view m --out page.html --places north
    want_failure 2; want_err '--places: "north"'
    run view m --out page.html --factors 3
    want_failure 2; want_err 'factor'
    run view none --out page.html
    want_failure 5; want_err none
    run view m --out no/page.html
    want_failure 5; want_err no/page.html
    run view m --out page.html --data none.csv
    want_failure 5; want_err none.csv
    printf '1,2,3\n' >bad.csv
    run view m --out page.html --data bad.csv
    want_failure 3; want_err bad.csv
    run view m --out page.html --surface "$here/../fixtures/surface/bumpy.off" --sphere "$here/../fixtures/surface/bumpy.off"
    want_failure 2; want_err 'not S2'
    want_no_file page.html; want_clean
}
t_view_stops_inside_an_integral() { # on T12 even learning where the density is large takes far longer than this
    points 100 12 >points.csv
    run fit --domain S1^12 --data points.csv --estimator kde --kappa 5 --out m --quiet
    want_code 0
    run view m --out probe.html --nodes 99999999999 --quiet
    [ "$code" = 6 ] && { skipped='this build has no page'; return 0; }
    want_failure 2; want_err '--nodes is 99999999999, expected an integer from 1 to 1000000'
    "$program" view m --factors 1 --nodes 8 --out page.html --quiet >out 2>err </dev/null &
    pid=$!
    sleep 1
    kill -TERM $pid
    began=$(date +%s)
    wait $pid
    code=$?
    [ $(($(date +%s) - began)) -le 10 ] || wrong "it went on for more than 10 s"
    want_code 130; want_no_out; want_no_file page.html; want_clean
}
t_view_draws_a_sphere_on_a_surface() {
    directions 50 >points.csv
    run fit --domain S2 --data points.csv --estimator kde --kappa 20 --out m --quiet
    want_code 0
    view_absent && return 0
    printf 'OFF\n6 8 0\n1 0 0\n-1 0 0\n0 1 0\n0 -1 0\n0 0 1\n0 0 -1\n' >ball.off
    printf '3 0 2 4\n3 2 1 4\n3 1 3 4\n3 3 0 4\n3 2 0 5\n3 1 2 5\n3 3 1 5\n3 0 3 5\n' >>ball.off
    sed '3s/.*/3 0 0/' ball.off >long.off
    run view m --out page.html --nodes 42 --surface long.off --sphere ball.off --data points.csv --quiet
    want_code 0; grep -q 'id="sphere1"' page.html || wrong "the page has no sphere"
    run view m --out no.html --nodes 42 --surface long.off
    want_failure 2; want_err 'both are needed'
    run view m --out no.html --nodes 42 --surface ball.off --sphere long.off
    want_failure 3; want_err 'is it a registered sphere'
    run view m --out no.html --nodes 42 --surface "$here/../fixtures/surface/bumpy.off" --sphere ball.off
    want_failure 3; want_err 'same faces'; want_no_file no.html; want_clean
}
