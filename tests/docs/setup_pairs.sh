# After setup_brain: a model of pairs on the spheres (left) and one on the surface itself (cortex).
neuropmd endpoints --tracks brain.tck --surface lh.white.gii --surface-right rh.white.gii --pairs LL \
    --sphere lh.sphere.reg.gii --sphere-right rh.sphere.reg.gii --out ends.npy --quiet
neuropmd fit --domain "S2 x S2" --data ends.npy --out left.safetensors --quiet
neuropmd endpoints --tracks brain.tck --surface lh.white.gii --surface-right rh.white.gii --pairs LL --out ends_mm.npy --quiet
neuropmd fit --domain "mesh:lh.white.gii^2" --data ends_mm.npy --out cortex.safetensors --quiet
