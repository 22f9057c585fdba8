# cases_eigen.sh - eigenpairs of surfaces.

octahedron() { # edges of length sqrt 2: eigenvalues 0, 4 (three times), 12 (twice)
    printf 'OFF\n6 8 12\n1 0 0\n0 1 0\n0 0 1\n-1 0 0\n0 -1 0\n0 0 -1\n' >octahedron.off
    printf '3 0 1 2\n3 1 3 2\n3 3 4 2\n3 4 0 2\n3 1 0 5\n3 3 1 5\n3 4 3 5\n3 0 4 5\n' >>octahedron.off
}
# A torus of 30 x 24 vertices: more than the dense solver takes.
torus() {
    awk 'BEGIN { n = 30; m = 24; p = 6.283185307179586; print "OFF"; print n * m, 2 * n * m, 0
        for (i = 0; i < n; i++) for (j = 0; j < m; j++) { r = 2 + cos(p * j / m)
            printf "%.9f %.9f %.9f\n", r * cos(p * i / n), r * sin(p * i / n), 1.2 * sin(p * j / m) }
        for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
            a = i * m + j; b = ((i + 1) % n) * m + j; c = i * m + (j + 1) % m; d = ((i + 1) % n) * m + (j + 1) % m
            print 3, a, b, d; print 3, a, d, c } }' >torus.off
}
# In a build without a solver it says so; the cases then end here.
solves() {
    octahedron
    run eigen octahedron.off --k 2 --out probe.csv
    [ "$code" = 6 ] || return 0
    want_err 'built without ARPACK, SuperLU and METIS'
    skipped="built without ARPACK, SuperLU and METIS"
    return 1
}

t_eigen_octahedron() {
    solves || return 0
    run eigen octahedron.off --k 6 --out phi.csv --values lambda.csv --json
    want_code 0; want_clean; want_no_err
    want_json out out vertices faces area elements k seconds residual_max eigenvalues residuals
    [ "$(lines phi.csv)" = 6 ] || wrong "six rows were expected: $(cat phi.csv)"
    awk 'BEGIN { split("0 4 4 4 12 12", want, " ") } { d = $1 - want[NR]; if (d * d > 1e-20) bad = 1 }
        END { exit bad || NR != 6 }' lambda.csv || wrong "eigenvalues: $(tr '\n' ' ' <lambda.csv)"
    run eigen octahedron.off --k 6 --out phi.npy
    want_code 0; want_out 'x area'; want_out '^elements  *linear'
    [ "$(wc -c <phi.npy | tr -d ' ')" = $((128 + 6 * 6 * 8)) ] || wrong "phi.npy has $(wc -c <phi.npy) bytes"
    run eigen octahedron.off --k 3 --elements 2 --out q.npy --quiet
    want_code 0; want_no_out; want_no_err
}
t_eigen_on_a_surface() {
    solves || return 0
    run eigen octahedron.off --k 3 --out phi.vtk --quiet
    want_code 0; want_file phi.vtk
    grep -q 'phi_002' phi.vtk || wrong "no third function: $(head -c 300 phi.vtk)"
    run eigen octahedron.off --k 3 --out phi.gii --quiet
    want_code 0
    [ "$(grep -c 'phi_00' phi.gii)" -ge 3 ] || wrong "three functions were expected in phi.gii"
    run eigen phi.gii --k 3 --out again.csv --quiet
    want_code 0; want_file again.csv
}
# The number of threads, ours or those of BLAS, does not change a bit.
t_eigen_threads() {
    solves || return 0
    torus
    OPENBLAS_NUM_THREADS=1 run eigen torus.off --k 40 --out one.npy --values v1.npy --quiet --threads 1
    want_code 0
    OPENBLAS_NUM_THREADS=2 run eigen torus.off --k 40 --out two.npy --values v2.npy --quiet --threads 7
    want_code 0; want_same one.npy two.npy; want_same v1.npy v2.npy
}
t_eigen_refusals() {
    octahedron
    run eigen octahedron.off --k 7 --out phi.csv
    want_failure 2; want_err 'has 6 vertices'; want_no_file phi.csv
    run eigen octahedron.off --k 0 --out phi.csv
    want_failure 2; want_no_file phi.csv
    run eigen octahedron.off --out phi.csv
    want_failure 2; want_err '--k'
    run eigen octahedron.off --k 3 --elements 3 --out phi.csv
    want_failure 2; want_err '1 or 2 was expected'
    run eigen octahedron.off --k 3 --out phi.png
    want_failure 2
    run eigen nothing.off --k 3 --out phi.surf.gii # known before the mesh is read
    want_failure 2; want_err 'holds no values'
    run eigen octahedron.off --k 3 --out octahedron.off
    want_failure 2
    run eigen octahedron.off --k 3 --out a.csv --values a.csv
    want_failure 2
    run eigen nothing.off --k 3 --out phi.csv
    want_failure 5; want_no_file phi.csv
    sed '$d' octahedron.off | sed 's/^6 8/6 7/' >open.off
    run eigen open.off --k 3 --out phi.csv
    want_failure 3; want_no_file phi.csv
    run eigen octahedron.off --k 3 --out nowhere/phi.npy
    want_failure 5
}
