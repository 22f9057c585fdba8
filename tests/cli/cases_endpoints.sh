# cases_endpoints.sh - ends of streamlines: files in, files out, counts, and what is refused.

# Two octahedra of radius 1, about (0, 0, 0) and (30, 0, 0), and a sphere for both.
octahedron_about() { # centre, radius
    printf 'OFF\n6 8 0\n'
    awk -v x="$1" -v r="$2" 'BEGIN { printf "%g 0 0\n%g 0 0\n%g %g 0\n%g %g 0\n%g 0 %g\n%g 0 %g\n", x + r, x - r, x, r, x, -r,
        x, r, x, -r }'
    printf '3 0 2 4\n3 2 1 4\n3 1 3 4\n3 3 0 4\n3 2 0 5\n3 1 2 5\n3 3 1 5\n3 0 3 5\n'
}
# Left to left, right to right, left to right, right to left, an end far off, both, a single point.
with_tracks() {
    # Big-endian float32: 0, 1.5, -1.5, 30, 31.5, 90, NaN, infinity.
    o='\000\000\000\000' a='\077\300\000\000' b='\277\300\000\000' c='\101\360\000\000' d='\101\374\000\000'
    e='\102\264\000\000' nan='\177\300\000\000' inf='\177\200\000\000'
    close=$nan$nan$nan
    octahedron_about 0 1 >lh.off
    octahedron_about 30 1 >rh.off
    octahedron_about 0 100 >sphere.off
    {
        printf 'mrtrix tracks\ndatatype: Float32BE\ncount: 7\nEND\n'
        printf "$a$o$o$o$a$o$close$c$a$o$c$b$o$close$o$o$a$d$o$o$close"
        printf "$d$o$o$o$o$a$close$o$o$a$e$e$o$close$e$e$o$e$e$e$close$o$o$a$close$inf$inf$inf"
    } >tracks.tck
    printf '# sift\n0.5 1 2 4 8 16 32\n' >sift.txt
}
t_endpoints_that_keep_nothing() {
    with_tracks
    printf '0 0 0 0 0 0 0\n' >none.txt
    run endpoints --tracks tracks.tck --weights none.txt --surface lh.off --sphere sphere.off --out ends.csv --weights-out w.csv
    want_failure 3; want_err 'none of 7 streamlines is kept: 1 have fewer than two points; 6 have the weight 0$'; want_no_file ends.csv
}
t_endpoints_of_one_hemisphere() {
    with_tracks
    run endpoints --tracks tracks.tck --surface lh.off --sphere sphere.off --out ends.csv
    want_code 0; want_no_err; want_clean
    want_out '^streamlines  *7'
    want_out '^kept  *1 (14.3 %)'
    want_out '^dropped  *1 with fewer than two points'
    want_out '^dropped  *2 both ends too far'
    want_out '^dropped  *1 start too far'
    want_out '^dropped  *2 end too far'
    want_out '^distance  *median 0.5 mm, largest 0.5 mm'
    [ "$(cat ends.csv)" = 1,0,0,0,1,0 ] || wrong "the ends are $(cat ends.csv)"
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --quiet # on the surface, whose radius is 1
    want_code 0; want_no_out
    [ "$(cat ends.csv)" = 1,0,0,0,1,0 ] || wrong "the ends are $(cat ends.csv)"
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --max-distance 0.4
    want_failure 3; want_err 'none of 7 streamlines is kept: .*6 have an end or both too far'
}
t_endpoints_of_two_hemispheres() {
    with_tracks
    both="--surface lh.off --surface-right rh.off --sphere sphere.off --sphere-right sphere.off"
    run endpoints --tracks tracks.tck $both --weights sift.txt --weights-out w.csv --out ends.csv --json
    want_code 0; want_clean
    want_json out streamlines kept dropped_too_few_points dropped_zero_weight dropped_both_too_far dropped_start_too_far \
        dropped_end_too_far dropped_other_hemisphere distance_median distance_max turned pairs pair n weights_out
    grep -q '"kept": 4, ' out && grep -q '"turned": 1, ' out || wrong "$(cat out)"
    want_no_file ends.csv
    [ "$(cat ends_LL.csv ends_RR.csv w_LL.csv w_RR.csv | tr '\n' ' ')" = '1,0,0,0,1,0 0,1,0,0,-1,0 0.5 1 ' ] \
        || wrong "LL and RR: $(cat ends_LL.csv ends_RR.csv w_LL.csv w_RR.csv)"
    [ "$(cat ends_LR.csv w_LR.csv | tr '\n' ' ')" = '0,0,1,1,0,0 0,0,1,1,0,0 2 4 ' ] || wrong "LR: $(cat ends_LR.csv w_LR.csv)"
    run endpoints --tracks tracks.tck $both --pairs LR --out lr.csv --quiet --threads 1
    want_code 0; want_same lr.csv ends_LR.csv
    run endpoints --tracks tracks.tck $both --pairs RR,LL --out some.csv.gz
    want_code 0; want_file some_LL.csv.gz; want_file some_RR.csv.gz; want_no_file some_LR.csv.gz
    want_out '^dropped  *2 between other hemispheres'
    run endpoints --tracks tracks.tck --tracks tracks.tck $both --pairs LL --out twice.csv --quiet
    want_code 0
    [ "$(lines twice.csv)" = 2 ] || wrong "two files, $(lines twice.csv) rows"
    # The weights that were kept are weights of a fit.
    octahedron_about 0 1 | sed -n 3,8p | tr ' ' , >rows
    paste -d, rows rows >more.csv
    awk '{ print NR }' rows >more_w.csv
    run fit --domain 'S2 x S2' --data more.csv --weights more_w.csv --estimator kde --kappa 5 --out m --quiet
    want_code 0
}
t_endpoints_usage() {
    with_tracks
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --pairs LR
    want_failure 2; want_err 'needs the right hemisphere'
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --pairs XY
    want_failure 2; want_err 'expected LL, RR, LR'
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --sphere-right sphere.off
    want_failure 2; want_err 'a sphere is given for every surface or for none'
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --space mni152 --transform m.txt
    want_failure 2
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --space talairach
    want_failure 2; want_err "'talairach' is no space"
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --weights sift.txt
    want_failure 2; want_err 'both or neither'
    run endpoints --tracks tracks.tck --tracks tracks.tck --surface lh.off --out e.csv --weights sift.txt --weights-out w.csv
    want_failure 2; want_err 'given 2 times and --weights 1 times'
    run endpoints --tracks tracks.tck --surface lh.off --out tracks.tck
    want_failure 2
    cp tracks.tck tracks.csv
    run endpoints --tracks tracks.csv --surface lh.off --out tracks.csv
    want_failure 2; want_err 'name the same file'; want_same tracks.csv tracks.tck
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --affine sphere.off
    want_failure 3; want_err 'sphere.off'
    printf '1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' >m.txt
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --affine m.txt
    want_failure 2; want_err 'in RAS mm already'
    want_no_file ends.csv
}
t_endpoints_bad_files() {
    with_tracks
    run endpoints --tracks absent.trk --surface lh.off --out ends.csv
    want_failure 5; want_err 'absent.trk'
    run endpoints --tracks lh.off --surface lh.off --out ends.csv
    want_failure 3; want_err 'is no file of streamlines'
    head -c 100 tracks.tck >cut.tck
    run endpoints --tracks cut.tck --surface lh.off --out ends.csv
    want_failure 3; want_err 'cut.tck is cut short: it ends at byte 100, in streamline 2 of the 7'
    { printf 'TRACK\000\012\000\012\000\012\000\000\000\200\077\000\000\200\077\000\000\200\077'
        head -c 964 /dev/zero
        printf '\002\000\000\000\001\000\000\000\350\003\000\000'; } >one.trk
    [ "$(wc -c <one.trk | tr -d ' ')" = 1000 ] || wrong "the header has $(wc -c <one.trk) bytes"
    run endpoints --tracks one.trk --surface lh.off --out ends.csv
    want_failure 3; want_err 'one.trk: its header (version 1) has no matrix'
    printf '1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' >m.txt
    run endpoints --tracks one.trk --affine m.txt --surface lh.off --out ends.csv
    want_failure 3; want_err 'one.trk is cut short: it ends at byte 1000, in streamline 1 of the 2'
    printf 'mrtrix tracks\ndatatype: Float32BE\nEND\n'"$inf$inf$inf" >none.tck
    run endpoints --tracks none.tck --surface lh.off --out ends.csv
    want_failure 3; want_err 'none.tck holds no streamline'
    sed '3s/.*/2 0 0/' sphere.off >egg.off
    run endpoints --tracks tracks.tck --surface lh.off --sphere egg.off --out ends.csv
    want_failure 3; want_err 'egg.off is no sphere'
    sed '$s/.*/3 3 5 0/' sphere.off >turned.off
    run endpoints --tracks tracks.tck --surface lh.off --sphere turned.off --out ends.csv
    want_failure 3; want_err 'they are not registered'
    printf '1 2 3\n' >short.txt
    run endpoints --tracks tracks.tck --surface lh.off --out ends.csv --weights short.txt --weights-out w.csv
    want_failure 3; want_err 'short.txt has 3 weights, but tracks.tck has 7 streamlines'
    want_no_file ends.csv; want_no_file w.csv
}
# Files that nibabel writes, with every flip of the voxel order, oblique matrices, scalars and properties. Their ends lie on
# the faces of an octahedron, so they are their own closest points.
t_endpoints_of_nibabels_files() {
    python=
    for candidate in python3 /usr/bin/python3; do
        "$candidate" -c 'import nibabel, numpy' >/dev/null 2>&1 && { python=$candidate; break; }
    done
    [ -n "$python" ] || { skipped='no nibabel'; return 0; }
    octahedron_about 0 60 >big.off
    cat >write.py <<'END'
import gzip, warnings
import nibabel as nib
import numpy as np
warnings.simplefilter("ignore")
rng = np.random.default_rng(3)
flip = dict(zip("LRPAIS", "RLAPSI"))
for k in range(16):
    matrix = np.eye(4)
    turn, _ = np.linalg.qr(np.eye(3) + 0.15 * rng.standard_normal((3, 3)))
    turn *= np.sign(np.diag(turn))
    matrix[:3, :3] = turn @ np.eye(3)[rng.permutation(3)] * rng.choice([-1, 1], 3) * rng.uniform(1, 3, 3)
    matrix[:3, 3] = rng.uniform(-90, 90, 3)
    order = "".join(flip[c] if k >> i & 1 else c for i, c in enumerate(nib.aff2axcodes(matrix)))
    header = nib.streamlines.TrkFile.create_empty_header()
    header.update(voxel_to_rasmm=matrix, voxel_order=order.encode(), dimensions=rng.integers(50, 200, 3),
                  voxel_sizes=np.linalg.norm(matrix[:3, :3], axis=0))
    lines = []
    for _ in range(30):
        ends = 60 * rng.dirichlet((1, 1, 1), 2) * rng.choice([-1, 1], (2, 3))
        lines.append(np.vstack([ends[:1], rng.uniform(-50, 50, (k, 3)), ends[1:]]).astype("f4"))
    more = {}
    if k % 2:
        more = dict(data_per_point={"a": [rng.random((len(s), 2)).astype("f4") for s in lines]},
                    data_per_streamline={"b": rng.random((30, 3)).astype("f4")})
    tracks = nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4), **more)
    nib.streamlines.TrkFile(tracks, header).save(f"{k}.trk")
    nib.streamlines.TckFile(nib.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4))).save(f"{k}.tck")
    if k % 3 == 0:
        with gzip.open(f"{k}.trk.gz", "wb") as f:
            f.write(open(f"{k}.trk", "rb").read())
    read = nib.streamlines.load(f"{k}.trk").streamlines
    np.save(f"{k}.npy", np.array([np.concatenate([s[0], s[-1]]) for s in read], "f8"))
END
    "$python" write.py >notes.py 2>&1 || { wrong "write.py: $(tail -n 1 notes.py)"; return 0; }
    for k in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        for file in $k.trk $k.tck $k.trk.gz; do
            [ -e "$file" ] || continue
            run endpoints --tracks "$file" --surface big.off --out "$file.npy" --quiet
            want_code 0
        done
    done
    # nibabel composes the maps in single precision: 6e-8 of some 600 mm, three times, and as far again to the closest point.
    "$python" -c '
import glob
import numpy as np
worst = max(np.abs(np.load(f) - np.load(f.split(".")[0] + ".npy")).max() for f in glob.glob("*.t?k*.npy"))
assert worst < 1e-3, worst' >notes.py 2>&1 || wrong "ends differ: $(tail -n 1 notes.py)"
}
