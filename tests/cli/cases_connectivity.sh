# cases_connectivity.sh - reproduce connectivity on a sphere of 42 vertices, and pairs without an order.

# sphere.off (five rings of eight vertices and two poles), a surface of the same faces, labels by rings, 200 pairs.
with_pairs() {
    for file in sphere surface; do
        awk -v stretch="$([ $file = sphere ] && echo 1 || echo 1.5)" 'BEGIN {
            rings = 5; sides = 8; pi = 3.14159265358979
            print "OFF"; print rings * sides + 2, 2 * rings * sides, 0
            print 0, 0, 1
            for (i = 1; i <= rings; i++) for (j = 0; j < sides; j++) {
                t = pi * i / (rings + 1); p = 2 * pi * (j + i / 2) / sides
                printf "%.9f %.9f %.9f\n", stretch * sin(t) * cos(p), sin(t) * sin(p), cos(t) }
            print 0, 0, -1
            for (j = 0; j < sides; j++) print 3, 0, 1 + j, 1 + (j + 1) % sides
            for (i = 0; i < rings - 1; i++) for (j = 0; j < sides; j++) {
                a = 1 + i * sides + j; b = 1 + i * sides + (j + 1) % sides
                print 3, a, a + sides, b; print 3, b, a + sides, b + sides }
            last = 1 + (rings - 1) * sides
            for (j = 0; j < sides; j++) print 3, last + j, last + sides, last + (j + 1) % sides }' >$file.off
    done
    awk 'BEGIN { for (i = 0; i < 42; i++) print (i < 17 ? "north" : i < 25 ? "middle" : "south") }' >labels.txt
    directions 400 | paste -d, - - >pairs.csv
}
place="--sphere sphere.off --surface surface.off --labels labels.txt --roi north"
connect="reproduce connectivity --data pairs.csv --threads 1 --replicates 2"

t_connectivity_to_its_table() {
    with_pairs
    run $connect --methods series,kde:published $place --out brain
    want_code 0; want_out '^pairs$'; want_out '^series best  *2 .*+- '; want_out '^kde    published  *2 '
    [ "$(lines brain/results.jsonl)" = 4 ] || wrong "$(lines brain/results.jsonl) lines, expected 4"
    head -n 1 brain/results.jsonl >first
    want_json first domain replicate method settings data unordered n held_out log_likelihood log_likelihood_se_points \
        log_likelihood_relative log_likelihood_surface ise_criterion_relative held_out_seen seconds options status
    grep -q '"log_likelihood_surface": -[0-9]' first || wrong "no likelihood per area of the surface: $(cat first)"
    for file in sphere_north.gii sphere_north.vtk surface_north.gii surface_north.vtk row_north.csv partners_north.csv region_north.csv \
        models/series_best.safetensors models/kde_published.safetensors; do want_file brain/$file; done
    grep -q '^region,vertices,observed,series_best$' brain/row_north.csv || wrong "the row does not name its columns"
    grep -q '^middle,8,0' brain/row_north.csv || wrong "the row does not name its regions"
    # the row adds up to the probability of the region, that of the observed ones to its share of first ends
    awk -F, 'NR > 1 { o += $3; p += $4 } END { exit !(p > 0.2 && p < 0.6 && o > 0.2 && o < 0.6) }' brain/row_north.csv \
        || wrong "the row does not add up: $(tr '\n' ' ' <brain/row_north.csv)"
    grep -q series_best brain/surface_north.vtk || wrong "the map does not name its values"
    cd brain || return
    want_clean
    cd ..
    cp brain/results.jsonl before
    rm brain/row_north.csv
    mkdir brain/row_north.csv.part # what another program may have there is in nobody's way
    run $connect --methods series,kde:published $place --out brain --json
    want_code 0; want_same brain/results.jsonl before; want_err '4 of them done before'; want_file brain/row_north.csv
    [ "$(lines out)" = 1 ] || wrong "stdout has $(lines out) lines"
    want_json out experiment tractograms name rows results log_likelihood
    rm brain/models/series_best.safetensors # what is not there has no map
    run $connect --methods series $place --out brain
    want_code 0; want_err 'no map'
}
t_connectivity_of_changed_inputs() { # lines belong to what was fitted, models to their lines
    with_pairs
    run $connect --methods series --replicates 1 $place --out brain
    want_code 0
    cp brain/row_north.csv row
    run $connect --methods series --replicates 1 $place --out brain --unordered on
    want_code 0
    cmp -s brain/row_north.csv row && wrong "unordered pairs have the same row"
    run $connect --methods series --replicates 1 $place --out brain # its model was overwritten
    want_code 0; want_err '1 of them done before'; want_err 'series best has no map: brain/models/series_best.safetensors is not its model'
    grep -q series_best brain/row_north.csv && wrong "the row is that of another run's model"
    run reproduce connectivity --data pairs.csv --threads 1 --methods kde:best --replicates 1 --out plain
    want_code 0
    run reproduce connectivity --data pairs.csv --threads 1 --methods kde:best --replicates 1 --out plain --sphere sphere.off --surface surface.off --json
    want_code 0; want_err '1 of them done before'
    grep -q '"log_likelihood_surface": -[0-9]' out || wrong "what was done before has no likelihood per area"
    sed 1d pairs.csv >other.csv
    mv other.csv pairs.csv
    run reproduce connectivity --data pairs.csv --threads 1 --methods kde:best --replicates 1 --out plain
    want_code 0; want_err '0 of them done before'
}
t_connectivity_says_what_does_not_belong() {
    with_pairs
    run $connect --methods kde:best --space mni152 --out brain
    want_failure 2; want_err 'there are none'
    run $connect --methods kde:best --max-distance 3 --out brain
    want_failure 2; want_err 'from a surface'
    run $connect --methods kde:best --max-distance three --domain 'mesh:surface.off^2' --surface surface.off --out brain
    want_failure 2; want_err "'three' was found where a positive number or inf was expected"
    run reproduce table1 --surface surface.off --out table.jsonl
    want_failure 2; want_err 'belongs to connectivity'
}
t_connectivity_of_another_surface() { # as many vertices, other faces
    with_pairs
    awk 'NR > 2 && NF == 4 && !done { print $1, $3, $4, $2; done = 1; next } { print }' surface.off >other.off
    run $connect --methods kde:best --sphere sphere.off --surface other.off --out brain
    want_failure 3; want_err 'not registered'
}
t_connectivity_of_several() {
    with_pairs
    sed 1d pairs.csv >second.csv
    run $connect --data second.csv --methods kde:best --replicates 1 --out both --unordered on --domain 's2*S2'
    want_code 0; want_out '^pairs$'; want_out '^second$'; want_file both/second/results.jsonl
    grep -q '"unordered": true' both/pairs/results.jsonl || wrong "the line does not say that pairs have no order"
    run info both/pairs/models/kde_best.safetensors
    want_out 'unordered *on'
}
t_connectivity_on_the_surface() {
    with_pairs
    awk 'NR > 2 && NF == 3 { x[n++] = $1 "," $2 "," $3 }
         END { for (i = 0; i < 120; i++) print x[(i * 7) % n] "," x[(i * 11 + 3) % n] }' surface.off >ends.csv
    "$program" eigen surface.off --k 2 --out probe.csv --quiet 2>/dev/null \
        || { skipped="a build without finite elements"; return 1; }
    run reproduce connectivity --data ends.csv --domain 'mesh:surface.off^2' --methods kde --replicates 1 --surface surface.off \
        --labels labels.txt --roi south --threads 1 --out cortex
    want_code 0; want_out '^kde    best  *1 '; want_file cortex/row_south.csv; want_no_file cortex/sphere_south.gii
    awk -F'"log_likelihood' '{ split($2, a, /[:,]/); for (i = 3; i <= NF; i++) if ($i ~ /^_surface/) { split($i, b, /[:,]/); exit a[2] != b[2] } exit 1 }' \
        cortex/results.jsonl || wrong "on the surface the likelihood is per area of the surface"
    sed 's/^0 0 1$/0 0 1.001/' surface.off >other.off
    run reproduce connectivity --data ends.csv --domain 'mesh:surface.off^2' --methods kde --replicates 1 --surface other.off --threads 1 --out no
    want_failure 2; want_err 'is another mesh'
    grep -q '"domain": "mesh:surface.off^2"' cortex/results.jsonl || wrong "the line does not name the surface"
}
t_connectivity_that_takes_days() { # only with a card, or with a given number of steps; a step takes a minute under sanitizers
    with_pairs
    run $connect --methods field:published --out days
    want_failure 2; want_err 'days without a card'; want_no_file days
    run $connect --methods published --replicates 1 --out days
    want_code 0; want_err 'left out'; want_out '^kde    published'
    rm -f err # its words would be taken for those of the next run
    "$program" $connect --methods field:published --steps 1 --replicates 1 --out steps >out 2>err & # it begins
    pid=$!
    waited=0
    while ! grep -qs '1 to fit' err && [ $waited -lt 200 ] && kill -0 $pid 2>/dev/null; do
        sleep 0.1
        waited=$((waited + 1))
    done
    kill -INT $pid
    code=0
    wait $pid || code=$?
    want_code 130; want_err '1 to fit'
}
t_connectivity_refused() {
    with_pairs
    run $connect --methods kde
    want_failure 2; want_err '--out'
    run $connect --methods kde --out o --roi north --sphere sphere.off
    want_failure 2; want_err '--labels is missing'
    run $connect --methods kde --out o --roi north --labels labels.txt
    want_failure 2; want_err 'needs --sphere'
    run $connect --methods kde --out o $place --roi east
    want_failure 2; want_err "region 'east'"
    run $connect --methods kde --out o --domain T2
    want_failure 2; want_err 'S2 x S2 or mesh'
    "$program" eigen surface.off --k 2 --out probe.csv --quiet 2>/dev/null && {
        run $connect --methods kde --out o --domain 'mesh:surface.off x mesh:sphere.off' --surface surface.off
        want_failure 2; want_err 'same surface'
    }
    run $connect --methods kde --out o --truth t.json
    want_failure 2; want_err '--truth'
    run $connect --methods kde --out o --unordered maybe
    want_failure 2; want_err 'on or off'
    run $connect --methods kde --out o --tracks t.trk
    want_failure 2; want_err 'exclude each other'
    run reproduce connectivity --methods kde --tracks none.trk --surface surface.off --sphere sphere.off --out o
    want_failure 5; want_err none.trk
    NEUROPMD_SHARED=nowhere run reproduce connectivity --out o
    want_failure 2; want_err 'nowhere/data'
    head -n 20 labels.txt >short.txt
    run $connect --methods kde --out o --sphere sphere.off --labels short.txt --roi north
    want_failure 3; want_err short.txt
    head -n 5 pairs.csv >few.csv
    run reproduce connectivity --data few.csv --methods kde --out o
    want_failure 3; want_err 'found 5 pairs'
    echo taken >file
    run $connect --methods kde --out file
    want_failure 5; want_err 'a file is there'
    run table1 --roi north
    want_failure 2
}
t_unordered_pairs() {
    points 200 2 >points.csv
    awk -F, '{ print $2 "," $1 }' points.csv >swapped.csv
    for e in field series kde; do
        run fit --domain T2 --data points.csv --out $e --estimator $e --unordered on --tau 1e-3 $tiny --quiet
        want_code 0
        for file in points swapped; do
            for what in log-density laplacian; do
                run density $e --points $file.csv --out $file.$what.csv --what $what --quiet
                want_code 0
            done
        done
        want_same points.log-density.csv swapped.log-density.csv
        run info $e
        want_code 0; want_out 'unordered *on'
        run sample $e --n 20 --out draws.csv --quiet
        want_code 0
        run marginal $e --factors 1 --points draws.csv --out f.csv
        want_failure 3 # two columns where one factor was expected
        cut -d, -f1 draws.csv >first.csv
        for factor in 1 2; do
            run marginal $e --factors $factor --points first.csv --out f$factor.csv --quiet
            want_code 0
        done
        paste -d, f1.csv f2.csv | awk -F, '{ d = $1 - $2; if (d * d > 1e-10) bad = 1 } END { exit bad }' \
            || wrong "$e: the marginal densities of both points differ"
        run score $e --data swapped.csv --json # the same pairs: it has seen them
        want_code 0; want_err 'all 200 of the 200 rows\|all 200'
    done
}
t_unordered_refused() {
    points 50 3 >points.csv
    run fit --domain S1^3 --data points.csv --out no --unordered on
    want_failure 2; want_err 'two equal factors'; want_no_file no
    run fit --domain T2 --data points.csv --out no --unordered perhaps
    want_failure 2
}
