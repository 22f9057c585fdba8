# Angles on the torus T2 in three files, the density they were drawn from, and a model of a moment's work.
neuropmd simulate t2 --authors --n 600 --out angles.csv --truth truth.json --quiet
neuropmd simulate t2 --authors --n 100 --seed 2 --out held_out.csv --quiet
cp held_out.csv new.csv
neuropmd fit --domain T2 --data angles.csv --out torus.safetensors --quiet
