"""setup_surfaces.py - after setup_brain and setup_pairs: a closed surface called bunny.obj (an icosphere), points and a model on it,
a map of a region and eigenfunctions, for the pages that draw surfaces."""

import subprocess


def neuropmd(*words):
    subprocess.run(["neuropmd", *words, "--quiet"], check=True)


rows = open("ico4.off").read().split("\n")
vertices, faces = (int(n) for n in rows[1].split()[:2])
with open("bunny.obj", "w") as file:
    file.writelines(f"v {row}\n" for row in rows[2 : 2 + vertices])
    file.writelines("f " + " ".join(str(int(i) + 1) for i in row.split()[1:]) + "\n" for row in rows[2 + vertices : 2 + vertices + faces])
with open("bunny.csv", "w") as file:
    file.writelines(row.replace(" ", ",") + "\n" for row in rows[2 : 2 + vertices // 2])
neuropmd("fit", "--domain", "mesh:bunny.obj", "--data", "bunny.csv", "--estimator", "series", "--max-frequency", "4", "--tau", "1e-3",
         "--out", "bunny.safetensors")
neuropmd("eigen", "bunny.obj", "--k", "12", "--out", "phi.vtk")
neuropmd("marginal", "cortex.safetensors", "--roi", "lh.aparc.annot", "--region", "medialorbitofrontal", "--surface", "lh.white.gii",
         "--out", "map.gii")
neuropmd("sample", "cortex.safetensors", "--n", "20", "--out", "pairs.csv")
with open("ends.csv", "w") as file:
    file.writelines(",".join(line.split(",")[:3]) + "\n" for line in open("pairs.csv"))
