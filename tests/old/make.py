"""make.py PROGRAM - what version 0.1.0 wrote, kept for ever: one small model of each kind, in the folder of this script, and
what that version said of it.

It was run once, with the program of version 0.1.0, and is not run again: tests/unit/test_old_models.c reads what it left.
NAME.csv holds points and the log density there, by the device `reference`; facts.csv the tau and the log integral of
each model, 0 where a model of this kind has none."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
program = os.path.abspath(sys.argv[1])
# An octahedron whose edges are halved: linear elements have a node a vertex, 18.
CORNERS = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
FACES = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
POINTS = 40
PROBES = 8
FIELD = ["--steps", "5", "--batch", "20", "--q1", "64", "--q2", "16", "--width", "3", "--depth", "3", "--features", "4",
         "--max-frequency", "3", "--tau", "1e-3", "--convex-gap", "off"]
MESH = FIELD[:8] + ["--width", "3", "--depth", "3", "--features", "2", "--max-frequency", "1", "--tau", "1e-3"]
KINDS = [
    ("field_t2", "S1^2", FIELD + ["--weights", "weights.csv"]),
    ("field_s2s1", "S2 x S1", FIELD + ["--separable", "off", "--skip", "off"]),
    ("field_t3_ridge", "S1^3", FIELD + ["--spectrum-law", "ridge"]),
    ("field_t2_gap", "S1^2", FIELD[:-2] + ["--convex-gap", "on"]),
    ("field_t2_unordered", "S1^2", FIELD + ["--unordered", "on"]),
    ("field_s2_auto", "S2", FIELD[:12] + ["--max-frequency", "2"]),
    ("field_mesh", "mesh:octahedron.off", MESH),
    ("field_mesh_quadratic", "mesh:octahedron.off", MESH + ["--elements", "2"]),
    ("field_mesh_s1", "mesh:octahedron.off x S1", MESH),
    ("relu_s2", "S2", ["--estimator", "relu", "--width", "3", "--depth", "3", "--steps", "5", "--batch", "20"]),
    ("series_t2", "S1^2", ["--estimator", "series", "--max-frequency", "2", "--tau", "1e-3"]),
    ("series_s2_auto", "S2", ["--estimator", "series", "--max-frequency", "2"]),
    ("kde_t2", "S1^2", ["--estimator", "kde", "--weights", "weights.csv"]),
    ("kde_s2_adaptive", "S2", ["--estimator", "kde", "--bandwidth", "adaptive"]),
    ("kde_s2s1_mixture", "S2 x S1", ["--estimator", "kde", "--bandwidth", "mixture"]),
    ("kde_mesh", "mesh:octahedron.off", ["--estimator", "kde", "--max-frequency", "1"]),
    ("psnf_t2", "S1^2", ["--estimator", "psnf", "--width", "3", "--steps", "5", "--batch", "20"]),
    ("psnf_s2", "S2", ["--estimator", "psnf", "--width", "3", "--steps", "5", "--batch", "20"]),
    ("members_t2", "S1^2", FIELD + ["--members", "2"]),
    ("members_t2_mixture", "S1^2", FIELD + ["--members", "3", "--combine", "mixture", "--bootstrap", "on"]),
    ("stack_t2", "S1^2", FIELD + ["--estimator", "stack", "--members", "1"]),
    ("uniform_s2", "S2", ["--estimator", "uniform"]),
]


def octahedron():
    vertices, faces = list(CORNERS), []

    def middle(a, b):
        m = tuple((p + q) / 2 for p, q in zip(CORNERS[a], CORNERS[b]))
        if m not in vertices:
            vertices.append(m)
        return vertices.index(m)

    for a, b, c in FACES:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        faces += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    rows = ["%g %g %g" % v for v in vertices] + ["3 %d %d %d" % f for f in faces]
    return "OFF\n%d %d 0\n%s\n" % (len(vertices), len(faces), "\n".join(rows))


def run(*words):
    return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE).stdout


def points(rng, domain, n):
    columns = []
    for factor in domain.replace("^2", " x S1").replace("^3", " x S1 x S1").split(" x "):
        if factor == "S1":
            columns.append((2.0 + 0.7 * rng.standard_normal((n, 1))) % (2 * np.pi))
        else:
            x = rng.standard_normal((n, 3)) + [0.8, 0, 0]
            # on the octahedron the coordinates' sizes have the sum 1, on the sphere their squares
            columns.append(x / (np.abs(x).sum(1, keepdims=True) if "mesh" in factor
                                else np.linalg.norm(x, axis=1, keepdims=True)))
    return np.hstack(columns)


assert json.loads(run("version", "--json"))["version"] == "0.1.0", "the program of version 0.1.0 was expected"
facts = []
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    open("octahedron.off", "w").write(octahedron())
    np.savetxt("weights.csv", 0.5 + np.arange(POINTS) % 3)
    for k, (name, domain, options) in enumerate(KINDS):
        rng = np.random.default_rng(k)
        np.savetxt("data.csv", points(rng, domain, POINTS), delimiter=",", fmt="%.17g")
        probes = points(rng, domain, PROBES)
        np.savetxt("probes.csv", probes, delimiter=",", fmt="%.17g")
        model = name + ".safetensors"
        run("fit", "--domain", domain, "--data", "data.csv", "--out", model, "--seed", str(k + 1), "--threads", "1", "--quiet",
            *options)
        shutil.copy(model, here)
        run("density", model, "--points", "probes.csv", "--out", "logs.npy", "--device", "reference", "--quiet")
        logs = np.load("logs.npy").reshape(-1, 1)
        np.savetxt(os.path.join(here, name + ".csv"), np.hstack([probes, logs]), delimiter=",", fmt="%.17g")
        said = json.loads(run("info", model, "--json"))
        facts.append((name, said.get("tau", "nan"), said["log_integral"], said["log_integral_se"]))
with open(os.path.join(here, "facts.csv"), "w") as f:
    f.write("model,tau,log_integral,log_integral_se\n")
    for row in facts:
        f.write("%s,%s,%r,%r\n" % row)
