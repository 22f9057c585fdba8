# After setup_figures: torsion angles, products, and a model that chose its tau.
mixture() { # mixture FILE DOMAIN MEAN KAPPAS N OUT...: one bump
    echo "{\"domain\": \"$2\", \"kind\": \"von Mises-Fisher mixture\", \"weights\": [1], \"means\": [[$3]], \"kappas\": [[$4]]}" >"$1"
    neuropmd simulate "$1" --n "$5" --out "$6" --quiet
}
kernels() { neuropmd fit --domain "$1" --data "$2" --out "$3" --estimator kde --kappa 20 --quiet; }
neuropmd simulate t4 --n 400 --out dihedrals.npy --truth t4_truth.json --quiet
kernels T4 dihedrals.npy dihedrals.safetensors
cp dihedrals.safetensors t4.safetensors
mixture t5.json T5 1,2,3,4,5 3,3,3,3,3 300 t5.npy
kernels T5 t5.npy t5.safetensors
mixture storms.json "S2 x S1" 1,0,0,4 5,5 300 storms.npy
kernels "S2 x S1" storms.npy storms.safetensors
mixture flights.json "S2 x S2" 0.6,0,0.8,0,0.6,0.8 5,5 300 flights.npy
kernels "S2 x S2" flights.npy flights.safetensors
neuropmd simulate t2 --authors --n 400 --out points.csv --quiet
"$NPMD_PROGRAM" fit --domain T2 --data points.csv --estimator series --max-frequency 4 --out chosen.safetensors --quiet
