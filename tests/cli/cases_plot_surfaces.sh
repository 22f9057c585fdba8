# cases_plot_surfaces.sh - figures of surfaces: values, regions, matrices, streamlines, eigenfunctions, densities; and every
# way to be refused.

# octahedron.off, values.csv (two columns), parts.csv (labels a a b b c c)
with_painted() {
    awk 'BEGIN {
        print "OFF"; print "6 8 0"
        print 1, 0, 0; print -1, 0, 0; print 0, 1, 0; print 0, -1, 0; print 0, 0, 1; print 0, 0, -1
        print "3 0 2 4"; print "3 2 1 4"; print "3 1 3 4"; print "3 3 0 4"
        print "3 2 0 5"; print "3 1 2 5"; print "3 3 1 5"; print "3 0 3 5" }' >octahedron.off
    printf '1,-1\n2,0.5\n3,0\n4,1\n5,2\n0,-2\n' >values.csv
    printf 'a\na\nb\nb\nc\nc\n' >parts.csv
}

t_surfplot_values() {
    with_painted
    printf '0,0,1\n' >points.csv
    run plot values.csv --surface octahedron.off --roi parts.csv --region a --points points.csv --dpi 40 --out v.svg --json
    want_code 0; want_no_err; want_clean; want_json out out kind panels low high data
    want_out '"kind": "values"'; want_out '"panels": 4'; want_out '"high": 5'; want_out '"data": 1'
    figure_well_formed v.svg
    grep -q 'from +x' v.svg || wrong "the views are not named"
    run plot values.csv --surface octahedron.off --column 2 --hemisphere left --views lateral --dpi 40 --out one.png --json
    want_code 0; want_out '"panels": 1'; want_out '"low": -2'; want_out '"high": 2' # both signs: the scale is balanced
    run plot values.csv --surface octahedron.off --column 2 --hemisphere left --views lateral --dpi 40 --out two.png --quiet --threads 3
    want_same one.png two.png
}
t_surfplot_says_what_is_there() {
    with_painted
    points 5 2 >t2.csv
    run plot --domain S2 --data t2.csv --out v.png
    want_failure 2; want_err 'but --domain S2 asks for eigenfunctions'
    run plot values.csv --surface octahedron.off --data t2.csv --out v.png
    want_failure 2; want_err 'but values.csv holds numbers'; want_no_file v.png
}
t_surfplot_negative() { # as log densities are
    with_painted
    printf -- '-1\n-2\n-3\n-4\n-5\n-6\n' >v.csv
    run plot v.csv --surface octahedron.off --dpi 40 --out v.png --json
    want_code 0; want_out '"low": -6'; want_out '"high": -1'
    printf -- '-2\n-2\n-2\n-2\n-2\n-2\n' >v.csv
    run plot v.csv --surface octahedron.off --dpi 40 --out v.png --json
    want_code 0; want_out '"high": -2'
}
t_surfplot_refusals() {
    with_painted
    run plot values.csv --out v.png
    want_failure 2; want_err 'whose vertices they belong to'
    run plot values.csv --surface octahedron.off --column 3 --out v.png
    want_failure 2; want_err "has no column '3'"; want_no_file v.png
    head -n 5 values.csv >short.csv
    run plot short.csv --surface octahedron.off --out v.png
    want_failure 3; want_err 'values of 5 vertices, but the surface has 6'
    run plot values.csv --surface octahedron.off --roi parts.csv --region z --out v.png
    want_failure 2; want_err "no region 'z'"
    run plot values.csv --surface octahedron.off --roi parts.csv --out v.png
    want_failure 2; want_err 'region is missing'
    run plot values.csv --surface octahedron.off --views lateral --out v.png
    want_failure 2; want_err 'left or right'
    run plot values.csv --surface octahedron.off --views sideways --out v.png
    want_failure 2; want_err "'sideways' is no view"
    run plot --out v.png
    want_failure 2; want_err 'FILE is missing'
    run plot . --out v.png
    want_failure 3; want_err 'maps of 0 regions'
    run plot --tracks octahedron.off --out v.png
    want_failure 2; want_err 'needs --surface'
    run plot --tracks octahedron.off --surface octahedron.off --out v.png
    want_failure 3; want_err 'no file of streamlines'
    run plot --domain S1^2 --eigenvalue 3 --out v.png
    want_failure 2; want_err 'a^2 + b^2'
    run plot --domain S1^3 --out v.png
    want_failure 2; want_err 'not on S1^3'
    want_no_file v.png
}
t_surfplot_matrix() {
    with_painted
    printf 'region,a,"b, c"\na,0.5,1e-3\n"b, c",0,0.4\n' >m.csv
    run plot m.csv --kind matrix --dpi 40 --out m.svg --json
    want_code 0; want_out '"kind": "matrix"'; want_out '"low": 0.001'; want_out '"high": 0.5'
    figure_well_formed m.svg; grep -q 'b, c' m.svg || wrong "the names are not in the picture"
    printf 'region,a\na region whose name is long,0.5\n' >long.csv
    run plot long.csv --kind matrix --width-mm 40 --out n.svg
    want_failure 2; want_err 'is enough'
    run plot m.csv --kind matrix --range 0:1 --out n.svg
    want_failure 2; want_err 'begin above 0'; want_no_file n.svg
    run plot m.csv --kind matrix --range 0:1 --scale linear --dpi 40 --out n.svg --json
    want_code 0; want_out '"low": 0'; rm n.svg
    printf 'region,a,b\na,0.5,x\nb,0,0\n' >m.csv
    run plot m.csv --kind matrix --out n.svg
    want_failure 3; want_err "row 2, column 3: 'x' is no number"; want_no_file n.svg
    printf '1,2\n-3,4\n' >m.csv
    run plot m.csv --kind matrix --out n.svg
    want_failure 2; want_err 'negative'
}
t_surfplot_eigenfunctions() {
    with_painted
    run plot --domain T2 --eigenvalue 20 --dpi 40 --out t.svg --json
    want_code 0; want_out '"kind": "eigenfunctions"'; figure_well_formed t.svg
    run plot --domain S2 --eigenvalue 6 --dpi 30 --out s.png --json
    want_code 0; want_out '"panels": 4'
}
t_surfplot_folder() {
    with_painted
    mkdir brain
    printf '0 0 1 1 0 0\n0 0 1 0 1 0\n1 0 0 0 0 1\n' | tr ' ' , >pairs.csv
    run fit --domain 'S2 x S2' --data pairs.csv --out model --estimator uniform --quiet
    run marginal model --roi parts.csv --region a --sphere octahedron.off --out brain/sphere_a.vtk --quiet
    want_code 0
    printf 'vertex,region\n0,inside\n1,inside\n2,\n3,\n4,\n5,\n' >brain/region_a.csv
    printf 'pair,x,y,z,vertex,region,partner_vertex\n0,0,0,1,4,"c, d",0\n' >brain/partners_a.csv
    run plot brain --dpi 40 --out b.svg --json
    want_code 0; want_out '"kind": "connectivity"'; want_out '"data": 1'; figure_well_formed b.svg
    printf 'pair,x,y,z,vertex,region,partner_vertex\n0,0,0,1,9,c,0\n' >brain/partners_a.csv
    run plot brain --out c.svg
    want_failure 3; want_err 'line 2: its fifth field is no vertex'; want_no_file c.svg
}
surfplot_vtk() { # the octahedron as .vtk with a column of values for each name
    awk 'NR == 2 { n = $1; m = $2; print "# vtk DataFile Version 3.0\noctahedron\nASCII\nDATASET POLYDATA\nPOINTS", n, "double" }
         NR > 2 && NR <= 2 + n { print } NR == 3 + n { print "POLYGONS", m, 4 * m } NR > 2 + n { print }' octahedron.off
    echo POINT_DATA 6
    for map in "$@"; do printf 'SCALARS %s double 1\nLOOKUP_TABLE default\n1\n2\n3\n4\n5\n6\n' "$map"; done
}
t_surfplot_folder_columns() { # maps are found by their names, not by their places
    with_painted
    mkdir brain
    printf 'pair,x,y,z,vertex,region,partner_vertex\n0,0,0,1,4,c,0\n' >brain/partners_a.csv
    surfplot_vtk a b c >brain/sphere_a.vtk
    surfplot_vtk a >brain/surface_a.vtk
    run plot brain --dpi 40 --out b.svg
    want_failure 3; want_err "surface_a has none of that name"; want_no_file b.svg
    run plot brain --column a --dpi 40 --out b.svg
    want_code 0
    surfplot_vtk c b a >brain/surface_a.vtk
    run plot brain --dpi 40 --out b.svg --json
    want_code 0; want_out '"kind": "connectivity"'
}
t_surfplot_own_surface() { # a file of values that holds its surface
    with_painted
    surfplot_vtk a >own.vtk
    run plot own.vtk --dpi 40 --out o.png --json
    want_code 0; want_out '"kind": "values"'; want_out '"high": 6'
    printf '0 0 1 1 0 0\n0 0 1 0 1 0\n' | tr ' ' , >pairs.csv
    run fit --domain 'S2 x S2' --data pairs.csv --out model --estimator uniform --quiet
    run marginal model --roi parts.csv --region a --sphere octahedron.off --out mof.gii --quiet
    run plot mof.gii --dpi 40 --out g.png --json
    want_code 0; want_out '"kind": "values"'
}
t_surfplot_model() {
    with_painted
    printf '0.3,0.3,0.4\n0.1,0.2,0.7\n0.5,0.2,0.3\n' >on.csv
    run fit --domain mesh:octahedron.off --data on.csv --out m --estimator uniform --elements 2 --max-frequency 1 --quiet
    want_code 0
    run plot m --data on.csv --views +x,-z --dpi 40 --out m.png --json
    want_code 0; want_out '"kind": "surface"'; want_out '"data": 3'
    printf '3,3,4\n' >far.csv
    run plot m --data far.csv --views +x --dpi 40 --out far.png
    want_failure 3; want_no_file far.png
    run plot m --data far.csv --max-distance inf --views +x --dpi 40 --out far.png --json
    want_code 0; want_out '"data": 1'
    run plot m --data far.csv --max-distance=-1 --out no.png
    want_failure 2; want_err 'positive number or inf'
    printf '0.3,0.3,0.4,1\n0.1,0.2,0.7,2\n0.5,0.2,0.3,3\n' >pair.csv
    run fit --domain 'mesh:octahedron.off x S1' --data pair.csv --out p --estimator uniform --elements 2 --max-frequency 1 --quiet
    run plot p --given 2 --at 1.5 --views +x --dpi 40 --out p.png --json
    want_code 0; want_out '"kind": "surface"'
    run plot p --given 2 --at 90 --coords degrees --data pair.csv --views +x --dpi 40 --out p.svg --json
    want_code 0; want_out '"data": 0' # none on the conditional map
    for text in 'density per degree' '360' 'stroke="#d63c1e"'; do
        grep -q "$text" p.svg || wrong "the circle lacks $text"
    done
    grep -q 'fill="#cdd2da"' p.svg || wrong "the circle has no histogram"
    run plot p --scale log --views +x --dpi 40 --out p.svg --json
    want_code 0
}
