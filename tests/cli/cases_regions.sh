# cases_regions.sh - marginal --roi: regions of two surfaces, here of the octahedron, whose areas are known.

# octahedron.off of this radius, labels a a b b - - (two vertices without a region), and a uniform model on S2 x S2.
with_octahedron() {
    awk -v r="${1:-1}" 'BEGIN {
        print "OFF"; print "6 8 0"
        print r, 0, 0; print -r, 0, 0; print 0, r, 0; print 0, -r, 0; print 0, 0, r; print 0, 0, -r
        print "3 0 2 4"; print "3 2 1 4"; print "3 1 3 4"; print "3 3 0 4"
        print "3 2 0 5"; print "3 1 2 5"; print "3 3 1 5"; print "3 0 3 5" }' >sphere.off
    printf '0\n0\n1\n1\n-1\n-1\n' >parts.csv
    printf '0 0 1 1 0 0\n0 0 1 0 1 0\n1 0 0 0 0 1\n' | tr ' ' , >pairs.csv
    run fit --domain 'S2 x S2' --data pairs.csv --out model --estimator uniform --quiet
    want_code 0
}
# Every line of file $1 is the number $2, to 1e-12.
want_all() {
    awk -v want="$2" '{ d = $1 / want - 1; if (d * d > 1e-24) bad = 1 } END { exit bad || NR == 0 }' "$1" \
        || wrong "$1 does not hold $2 throughout: $(head -n 1 "$1")"
}

t_region_map_of_the_uniform_density() {
    with_octahedron 100
    run marginal model --roi parts.csv --region 0 --sphere sphere.off --out map.csv --json
    want_code 0; want_clean
    want_json out out region factor n share probability error_median error_largest error_vertices warnings
    [ "$(lines map.csv)" = 6 ] || wrong "one value a vertex was expected"
    want_all map.csv 0.02652582384864922 # (1/3) / 4 pi
    run marginal model --roi parts.csv --region unknown,1 --sphere sphere.off --factor 2 --out map.csv --what counts
    want_code 0; want_out 'probability 0.6667'; want_out 'error'
    want_all map.csv 0.33333333333333333 # 3 points x 2/3 / 6 vertices
    run marginal model --roi parts.csv --region 0 --sphere sphere.off --out map.npy --quiet
    want_code 0; want_file map.npy; want_no_out; want_no_err
}
t_region_options_that_do_nothing() {
    with_octahedron
    run marginal model --roi parts.csv --sphere sphere.off --matrix m.csv --what log-density
    want_failure 2; want_err "'log-density', expected probability or counts"; want_no_file m.csv
    run marginal model --roi parts.csv --sphere sphere.off --matrix m.csv --factor 2
    want_failure 2; want_err 'region of a map'
    run marginal model --roi parts.csv --sphere sphere.off --dense d.npy
    want_failure 2; want_err 'no regions'
    run marginal model --roi parts.csv --sphere sphere.off --matrix m.csv --json
    want_code 0; want_out '"what": "probability"'; want_out '"matrix_what": "probability"'
    run marginal model --roi parts.csv --sphere sphere.off --matrix m.csv --out map.csv --region 0 --what intensity --json
    want_code 0; want_out '"what": "intensity"'; want_out '"matrix_what": "counts"'
}
t_region_names_in_quotes() { # a quote within quotes stands doubled, as this program writes it
    with_octahedron
    printf '"a ""b"", c"\n"a ""b"", c"\nd\nd\nd\nd\n' >names.csv
    run marginal model --roi names.csv --sphere sphere.off --matrix m.csv --quiet
    want_code 0
    [ "$(head -n 1 m.csv)" = 'region,"a ""b"", c",d' ] || wrong "the names became $(head -n 1 m.csv)"
}
t_region_labels_of_every_kind() {
    with_octahedron
    printf '#!ascii label\n2\n0 0 0 0 0\n1 0 0 0 0\n' >west.label
    { echo '<?xml version="1.0"?><GIFTI Version="1.0" NumberOfDataArrays="1"><LabelTable>'
      echo '<Label Key="0">rest</Label><Label Key="3">west</Label></LabelTable>'
      echo '<DataArray Intent="NIFTI_INTENT_LABEL" DataType="NIFTI_TYPE_INT32" ArrayIndexingOrder="RowMajorOrder"'
      echo 'Dimensionality="1" Dim0="6" Encoding="ASCII" Endian="LittleEndian"><Data>3 3 0 0 0 0</Data></DataArray>'
      echo '</GIFTI>'; } >west.gii
    printf 'west\nwest\neast\neast\npole\npole\n' >west.txt
    for file in west.label west.gii west.txt; do
        which='--region west'
        [ $file = west.label ] && which= # it is the only one
        run marginal model --roi $file $which --sphere sphere.off --out $file.csv --quiet
        want_code 0
        want_all $file.csv 0.02652582384864922
    done
}
t_region_files_for_other_tools() {
    with_octahedron
    sed 's/^1 0 0$/2 0 0/' sphere.off >cortex.off
    for file in map.gii map.vtk map.gii.gz; do
        run marginal model --roi parts.csv --region 1 --sphere sphere.off --surface cortex.off --out $file --quiet
        want_code 0; want_file $file
    done
    grep -q density map.vtk || wrong "map.vtk does not name its values"
    run marginal model --roi parts.csv --region 1 --sphere sphere.off --out plain.vtk --quiet
    want_code 0; want_differ map.vtk plain.vtk
}
t_region_matrix() {
    with_octahedron
    run marginal model --roi parts.csv --sphere sphere.off --matrix m.csv --json
    want_code 0; want_clean
    want_json out matrix regions sum sum_error within matrix_error_median matrix_error_largest
    [ "$(head -n 1 m.csv)" = 'region,label 0,label 1,unknown' ] || wrong "the header is $(head -n 1 m.csv)"
    [ "$(cut -d, -f1 m.csv | tr '\n' ' ')" = 'region label 0 label 1 unknown ' ] || wrong "the names: $(cut -d, -f1 m.csv)"
    tail -n +2 m.csv | cut -d, -f2- | tr , '\n' >cells
    want_all cells 0.11111111111111111
    run marginal model --roi parts.csv --sphere sphere.off --matrix m.npy --what counts
    want_code 0; want_out 'sum *1'; want_file m.npy
    run marginal model --sphere sphere.off --dense all.npy --what probability
    want_code 0; want_err '6 x 6 values'; want_file all.npy
}
t_region_refusals() {
    with_octahedron
    of="--sphere sphere.off --out map.csv"
    run marginal model --roi parts.csv --region bogus $of
    want_failure 2; want_err "no region 'bogus'"; want_err 'label 0, label 1, unknown'; want_no_file map.csv
    run marginal model --roi parts.csv $of
    want_failure 2; want_err 'has 2 regions: --region says which'
    run marginal model --roi parts.csv --region 0 --out map.csv
    want_failure 2; want_err '--sphere is missing'
    run marginal model --roi parts.csv --region 0 --sphere sphere.off
    want_failure 2; want_err 'nothing to write\|--out'
    run marginal model --roi parts.csv --region 0 $of --factor 3
    want_failure 2
    run marginal model --roi parts.csv --region 0 $of --points pairs.csv
    want_failure 2; want_err 'does not go with regions'
    run marginal model --region 0 $of
    want_failure 2; want_err 'needs --roi'
    run marginal model --roi parts.csv --region 0 $of --what gradient
    want_failure 2; want_err 'log-density, density, relative, intensity, probability or counts'
    run marginal model --roi parts.csv --region 0 --sphere sphere.off --out parts.csv
    want_failure 2; want_err '--out and --roi name the same file'
    run marginal model --roi nothing.csv --region 0 --sphere sphere.off --out map.surf.gii # known before labels are read
    want_failure 2; want_err 'holds no values'
    printf '0\n0\n1\n' >short.csv
    run marginal model --roi short.csv --region 0 $of
    want_failure 3; want_err '3 .*6.*another mesh'; want_no_file map.csv
    sed 's/^1 0 0$/2 0 0/' sphere.off >egg.off
    run marginal model --roi parts.csv --region 0 --sphere egg.off --out map.csv
    want_failure 3; want_err 'registered sphere'; want_no_file map.csv
    printf 'OFF\n4 4 0\n1 1 1\n-1 -1 1\n-1 1 -1\n1 -1 -1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n' >four.off
    run marginal model --roi parts.csv --region 0 $of --surface four.off
    want_failure 3; want_err 'four.off.*the surface has 4 and 4'; want_no_file map.csv
    run marginal model --roi parts.csv --region 0 --sphere four.off --out map.csv
    want_failure 3; want_err 'another mesh'; want_no_file map.csv
    with_model
    run marginal model --roi parts.csv --region 0 $of
    want_failure 2; want_err 'two surfaces'; want_no_file map.csv
}
t_region_on_the_mesh_itself() {
    with_octahedron 10
    run fit --domain mesh:sphere.off^2 --data /dev/null --out own --estimator uniform --elements 2 --quiet
    case $(cat err) in *ARPACK*) skipped='built without ARPACK'; return 0 ;; esac
    awk -F, -v OFS=, '{ for (i = 1; i <= 6; i++) $i = 10 * $i; print }' pairs.csv >own.csv
    run fit --domain mesh:sphere.off^2 --data own.csv --out own --estimator uniform --elements 2 --quiet
    want_code 0
    run marginal own --roi parts.csv --region 0 --surface sphere.off --out map.csv --what relative --quiet
    want_code 0
    want_all map.csv 0.33333333333333333
    run marginal own --roi parts.csv --region 0 --sphere sphere.off --out map2.csv
    want_failure 2; want_err '--surface is missing'
    sed 's/^10 0 0$/11 0 0/' sphere.off >other.off
    run marginal own --roi parts.csv --region 0 --surface other.off --out map2.csv
    want_failure 3; want_err 'another mesh'; want_no_file map2.csv
}
