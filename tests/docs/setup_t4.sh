# Torsion angles on T4, and a model of a moment's work.
neuropmd simulate t4 --n 600 --out t4.npy --truth t4.json --quiet
cp t4.npy torsion.npy
