# cases_surfaces.sh - what info says of surfaces, whole, with a defect, or unreadable.

tetrahedron() { printf 'v 1 1 1\nv 1 -1 -1\nv -1 1 -1\nv -1 -1 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n'; }
t_info_surface() {
    tetrahedron >a.obj
    run info a.obj
    want_code 0; want_no_err; want_out 'vertices.*4'; want_out 'closed'
    run info a.obj --json
    want_code 0; want_json out surface vertices faces area hash closed genus
    want_out '"closed": true'; want_out '"genus": 0'
}
t_info_surface_of_freesurfer() {
    printf '\377\377\376by hand\n\n\000\000\000\001\000\000\000\001\000\000\000\000\000\000\000\000\000\000\000\000' >lh.white
    printf '\000\000\000\000\000\000\000\000\000\000\000\000' >>lh.white
    run info lh.white --json
    want_code 0; want_out '"closed": false'; want_out 'has a vertex twice'
}
t_info_surface_with_a_hole() {
    tetrahedron | sed '$d' >a.obj
    run info a.obj --json
    want_code 0; want_json out defect
    want_out 'is not closed: 3 edges have one face only, in 1 loop'
}
t_info_surface_bad_index() {
    tetrahedron | sed 's/^f 2 4 3/f 2 4 9/' >a.obj
    run info a.obj
    want_failure 3; want_err 'a.obj: face 4 has a corner at vertex 9, but the vertices are 1 to 4'
}
t_info_surface_not_one() {
    echo 'v 1 2' >a.obj
    run info a.obj
    want_failure 3; want_err 'a.obj line 1'
    run info absent.gii
    want_failure 5
}
t_surface_names_of_any_bytes() { # JSON is UTF-8, a file's name need not be
    odd=$(printf 'caf\351.off')
    cp "$here/../fixtures/surface/bumpy.off" "$odd" 2>/dev/null || { skipped='this file system takes UTF-8 names only'; return 0; }
    run info "$odd" --json
    want_code 0; want_no_err; want_json out surface vertices faces
}
