# Models of a moment's work on every kind of domain, under the names of docs/figures.md. Kernels everywhere: they fit at once.
kernels() { neuropmd fit --domain "$1" --data "$2" --out "$3" --estimator kde --kappa 20 --quiet; }
mixture() { # mixture FILE DOMAIN MEAN KAPPAS N OUT...: one bump
    echo "{\"domain\": \"$2\", \"kind\": \"von Mises-Fisher mixture\", \"weights\": [1], \"means\": [[$3]], \"kappas\": [[$4]]}" >"$1"
    neuropmd simulate "$1" --n "$5" --out "$6" --quiet
}
neuropmd simulate t2 --authors --n 400 --out points.csv --truth truth.json --quiet
kernels T2 points.csv torus.safetensors
for name in field series kde psnf field50k psnf50k; do cp torus.safetensors $name.m; done
mixture circle.json S1 1.0 3 300 angles.csv
kernels S1 angles.csv angles.safetensors
mixture earth.json S2 1,0,0 5 300 flood.npy
kernels S2 flood.npy flood.safetensors
neuropmd sample flood.safetensors --n 300 --coords latlon --out flood.csv --quiet
