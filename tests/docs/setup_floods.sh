# Places on the Earth, latitude and longitude in degrees, and a model of them.
echo '{"domain": "S2", "kind": "von Mises-Fisher mixture", "weights": [0.6, 0.4], "means": [[1, 0, 0], [0, 0.6, 0.8]], "kappas": [[9], [30]]}' >earth.json
neuropmd simulate earth.json --n 400 --coords latlon --out floods.csv --quiet
neuropmd fit --domain S2 --coords latlon --data floods.csv --estimator kde --out floods.safetensors --quiet
