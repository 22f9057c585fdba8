# cases_mesh_domains.sh - triangulated surfaces as factors of a domain.

bumpy=$here/../fixtures/surface/bumpy.off

# Points of a surface: vertices of the mesh, and middles of its edges.
surface_points() {
    awk 'NR > 2 && NF == 3 { x[n++] = $0; print $1 "," $2 "," $3 }
         NF == 4 { split(x[$2], a, " "); split(x[$3], b, " "); print (a[1]+b[1])/2 "," (a[2]+b[2])/2 "," (a[3]+b[3])/2 }' "$bumpy"
}
# The domain of a case is a copy, so that eigenpairs are kept in its folder.
with_surface() {
    cp "$bumpy" "a mesh.off"
    surface_points >points.csv
    run fit --domain 'mesh:a mesh.off' --data points.csv --out model --tau 1e-4 --max-frequency 4 $tiny --quiet
    want_code 0
}

t_mesh_domain_fit() {
    with_surface
    want_clean
    [ -n "$(ls eigen-*)" ] || wrong "no eigenpairs beside the model"
    run fit --domain 'mesh:"a mesh.off"' --data points.csv --out again --tau 1e-4 --max-frequency 4 $tiny --quiet --threads 2
    want_code 0; want_same model again
    rm "a mesh.off" eigen-*
    run info model
    want_code 0; want_out 'vertices *258'; want_out 'mesh:[0-9a-f]\{16\}'
    run score model --data points.csv --json
    want_code 0; want_json out n nll log_integral
    run density model --points points.csv --what gradient --out g.csv --quiet
    want_code 0
    [ "$(head -n 1 g.csv | tr -cd , | wc -c)" -eq 2 ] || wrong "a gradient on a surface has three columns"
    run sample model --n 50 --out draws.csv --quiet
    want_code 0
    run density model --points draws.csv --out f.csv --quiet # draws lie on the surface
    want_code 0; [ "$(lines f.csv)" = 50 ] || wrong "50 densities were expected"
}
t_mesh_domain_other_estimators() {
    cp "$bumpy" m.off
    surface_points >points.csv
    for e in series kde uniform; do
        run fit --domain mesh:m.off --data points.csv --out "$e" --estimator $e --max-frequency 3 --quiet
        want_code 0
    done
    run fit --domain mesh:m.off --data points.csv --out kde5 --estimator kde --max-frequency 5
    want_code 0
    grep -q 'does not use' err && wrong "kernels on a surface do use --max-frequency"
    run info kde5
    want_out '^eigenfunctions  *36$'
    run info kde
    want_out '^eigenfunctions  *16$'
    for e in psnf relu; do
        run fit --domain mesh:m.off --data points.csv --out no --estimator $e
        want_failure 2; want_err 'surface'; want_no_file no
    done
    run probability series --at 1,0,0 --radius 1
    want_code 3 # (1, 0, 0) is not on the surface
    run fit --domain mesh:m.off --data points.csv --out no --estimator kde --bandwidth adaptive
    want_failure 2; want_err 'heat'; want_no_file no
}
t_mesh_domain_frequencies() { # one a factor: those of a circle are nothing to a surface
    cp "$bumpy" m.off
    surface_points | awk -F, '{ print $0 "," NR % 6 }' >points.csv
    for e in kde series; do
        run fit --domain 'mesh:m.off x S1' --data points.csv --out $e --estimator $e --max-frequency 3,30 --tau 1e-3 --quiet
        want_code 0
        run info $e --json
        tr -d ' \n' <out | grep -q '"max-frequency":\[3,30\]' || wrong "frequencies of $e are not 3 and 30"
        run fit --domain 'mesh:m.off x S1' --data points.csv --out $e --estimator $e --max-frequency 3,0 --tau 1e-3 --quiet
        want_code 0
        run info $e --json
        tr -d ' \n' <out | grep -q '"max-frequency":\[3,10\]' || wrong "frequencies of $e are not 3 and 10"
    done
    surface_points | awk '{ print $0 "," $0 "," $0 "," $0 }' >four.csv
    run fit --domain 'mesh:m.off^4' --data four.csv --out no --estimator kde --max-frequency 7 --quiet
    want_failure 2; want_err 'kernels on .* would be sums of .* at most 1048576'
}
t_mesh_domain_product() {
    cp "$bumpy" m.off
    surface_points | awk -F, '{ print $0 "," NR % 6 }' >points.csv
    run fit --domain 'mesh:m.off x S1' --data points.csv --out model --tau 1e-4 --max-frequency 3 $tiny --quiet
    want_code 0
    surface_points | head -n 3 >at.csv
    run marginal model --factors 1 --points at.csv --out f.csv --quiet
    want_code 0; [ "$(lines f.csv)" = 3 ] || wrong "three densities were expected"
    run sample model --n 5 --given 1 --at at.csv --out draws.csv --quiet
    want_code 0; [ "$(lines draws.csv)" = 15 ] || wrong "15 draws were expected"
}
t_mesh_domain_points_too_far() {
    with_surface
    { head -n 6 points.csv; echo 9,9,9; } >far.csv
    run density model --points far.csv --out f.csv
    want_failure 3; want_err 'far.csv line 7'; want_err 'away from the surface'; want_no_file f.csv
    run density model --points far.csv --out f.csv --max-distance 1
    want_failure 3; want_no_file f.csv
    run density model --points far.csv --out f.csv --max-distance inf --quiet
    want_code 0; want_file f.csv
    run density model --points far.csv --out g.csv --max-distance often
    want_failure 2; want_err 'max-distance'
    printf '1\n2\n' >angles.csv
    run fit --domain S1 --data angles.csv --out no --max-distance 1
    want_failure 2; want_err 'S1 has no surface'; want_no_file no
}
t_mesh_domain_refusals() {
    surface_points >points.csv
    run fit --domain mesh:absent.off --data points.csv --out no
    want_failure 5; want_err 'absent.off'; want_no_file no
    run fit --domain mesh: --data points.csv --out no
    want_failure 2; want_err 'path of a surface'; want_no_file no
    head -n 400 "$bumpy" >cut.off
    run fit --domain mesh:cut.off --data points.csv --out no
    want_failure 3; want_err 'cut.off'; want_no_file no
    run fit --domain "mesh:$bumpy" --data points.csv --out no --max-frequency 60
    want_failure 2; want_err 'needs'; want_no_file no
    run fit --domain "mesh:$bumpy" --data points.csv --out no --elements 3
    want_failure 2; want_err 'expected 1 or 2'; want_no_file no
    run fit --domain "mesh:$bumpy" --data points.csv --out no --max-frequency 3 --device cuda:99
    want_code 6; want_no_file no
}
