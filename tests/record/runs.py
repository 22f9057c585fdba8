"""runs.py - the table of what record.py records: for each run a name, the files that it begins with, and its commands.

A command is the program's arguments as one would type them. Paths are relative to the run's folder, so that none of
them is part of an output. Points come from `simulate` with a given seed, or, with surfaces, labels and streamlines,
from this file: the same bytes every time. Sizes are as small as the path through the program allows; what is estimated
does not matter here, that it stays the same does."""

import functools
import itertools
import json
import math
import struct
from typing import NamedTuple


class Command(NamedTuple):
    text: str
    status: int = 0  # that it ends with
    log: str = ""  # it gets SIGTERM once this file has so many lines
    lines: int = 0


class Run(NamedTuple):
    name: str
    files: dict  # name -> bytes: there before the first command
    commands: list
    loose: tuple  # shell patterns of files that depend on the moment of an interruption: kept, but not compared
    takes: dict  # name -> RUN/FILE of the recording, for the program that is compared to read


RUNS = []


def run(name, *parts, loose=(), takes=None):
    """Parts are files (a dict), commands, or lists of both; commands keep their order."""
    files, commands, parts = {}, [], list(parts)
    while parts:
        part = parts.pop(0)
        if isinstance(part, list):
            parts[:0] = part
        elif isinstance(part, dict):
            files.update({k: v.encode() if isinstance(v, str) else v for k, v in part.items()})
        else:
            commands.append(Command(part) if isinstance(part, str) else part)
    assert all(r.name != name for r in RUNS), name
    RUNS.append(Run(name, files, commands, tuple(loose), takes or {}))


def refused(status, *texts):
    return [Command(text, status) for text in texts]


# ---- Files ------------------------------------------------------------------------------------------------------


def uniforms(seed):
    """Numbers in (0, 1) by Lehmer's generator: the same on every machine and in every Python."""
    while True:
        seed = seed * 16807 % 2147483647
        yield seed / 2147483647


def rows(values, separator=","):
    fields = [[f"{x:.9f}" if isinstance(x, float) else str(x) for x in row] for row in values]
    return "".join(separator.join(row) + "\n" for row in fields)


def npy(shape, values):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }" % shape
    return b"\x93NUMPY\x01\x00v\x00" + head.encode().ljust(117) + b"\n" + struct.pack(f"<{len(values)}d", *values)


def unit(v):
    length = math.sqrt(sum(x * x for x in v))
    return tuple(x / length for x in v)


@functools.lru_cache(None)
def icosphere(level):
    """Unit vertices and outward faces of an icosahedron divided `level` times: 42, 162, 642 vertices."""
    if level == 0:
        g = (1 + math.sqrt(5)) / 2
        corners = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g),
                   (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
        faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2),
                 (10, 7, 6), (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11),
                 (6, 2, 10), (8, 6, 7), (9, 8, 1)]
        return [unit(v) for v in corners], faces
    vertices, coarse = icosphere(level - 1)
    vertices, faces, middle = list(vertices), [], {}

    def between(a, b):
        edge = (min(a, b), max(a, b))
        if edge not in middle:
            middle[edge] = len(vertices)
            vertices.append(unit([p + q for p, q in zip(vertices[a], vertices[b])]))
        return middle[edge]

    for a, b, c in coarse:
        ab, bc, ca = between(a, b), between(b, c), between(c, a)
        faces += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return vertices, faces


def bumpy(level, size=1.0, shift=0.0):
    """A sphere with hills, so that no two of its eigenvalues are equal; moved along x."""
    vertices, faces = icosphere(level)
    heights = [size * (1 + 0.15 * math.sin(3 * x + 1) * math.cos(2 * y) + 0.1 * z) for x, y, z in vertices]
    moved = [(r * x + shift, r * y, r * z) for r, (x, y, z) in zip(heights, vertices)]
    return [tuple(round(x, 9) for x in v) for v in moved], faces


def obj(mesh):
    return rows([["v", *v] for v in mesh[0]], " ") + rows([["f", a + 1, b + 1, c + 1] for a, b, c in mesh[1]], " ")


def off(mesh):
    return f"OFF\n{len(mesh[0])} {len(mesh[1])} 0\n" + rows(mesh[0], " ") + rows([[3, *f] for f in mesh[1]], " ")


def on_mesh(mesh, n, seed):
    """Points on the faces, more of them where z is large."""
    u, (vertices, faces), found = uniforms(seed), mesh, []
    while len(found) < n:
        corners = [vertices[k] for k in faces[int(next(u) * len(faces))]]
        a, b = sorted((next(u), next(u)))
        point = tuple(a * p + (b - a) * q + (1 - b) * r for p, q, r in zip(*corners))
        if next(u) < math.exp(2 * unit(point)[2] - 2):
            found.append(point)
    return found


def streamlines(n):
    """n curves between points near a bumpy surface of 50 mm, a fifth with an end far off, and a single point."""
    ends, u, lines = on_mesh(bumpy(2, 50.0), 2 * n, 7), uniforms(8), []
    for a, b in zip(ends[::2], ends[1::2]):
        far = 1 + (0.5 if next(u) < 0.2 else 0.05 * next(u))
        lines.append([[far * x for x in a], [0.3 * (x + y) for x, y in zip(a, b)], [1.02 * y for y in b]])
    return lines + [[lines[0][0]]]


def singles(points):
    return b"".join(struct.pack("<3f", *p) for p in points)


def tck(lines):
    head = (b"mrtrix tracks\ndatatype: Float32LE\ncount: %d\nfile: . 80\nEND\n" % len(lines)).ljust(80, b"\n")
    return head + b"".join(singles([*line, [math.nan] * 3]) for line in lines) + singles([[math.inf] * 3])


def trk(lines):
    """Voxels of 1 mm whose first corner lies at -100.5 mm on each axis, where the points of the file begin to count."""
    head = bytearray(1000)
    struct.pack_into("<6s3h3f", head, 0, b"TRACK", 200, 200, 200, 1.0, 1.0, 1.0)
    struct.pack_into("<16f", head, 440, 1, 0, 0, -100, 0, 1, 0, -100, 0, 0, 1, -100, 0, 0, 0, 1)
    struct.pack_into("<4s", head, 948, b"RAS")
    struct.pack_into("<3i", head, 988, len(lines), 2, 1000)
    moved = [[[x + 100.5 for x in p] for p in line] for line in lines]
    return bytes(head) + b"".join(struct.pack("<i", len(line)) + singles(line) for line in moved)


# ---- Points -----------------------------------------------------------------------------------------------------

N = 220  # enough for a tau to be chosen on held-out points
MESH, BALL = bumpy(2), icosphere(2)
LABELS = "".join("north\n" if v[2] > 0.5 else "south\n" if v[2] < -0.3 else "middle\n" for v in BALL[0])
SURFACES = {"mesh.obj": obj(MESH), "sphere.obj": obj(BALL), "labels.csv": LABELS}
WEIGHTS = {"w.csv": rows([[0.5 + u] for u in itertools.islice(uniforms(5), N)])}

MIXTURES = {  # domain, means of three components, concentrations: one a factor
    "T1": ("S1", [[0.5], [2.5], [4.0]], [[8], [20], [2]]),
    "T3": ("S1^3", [[0.5, 1, 2], [2.5, 4, 4], [4, 0, 1]], [[8, 4, 2], [5, 5, 5], [2, 9, 3]]),
    "T6": ("S1^6", [[0.5, 1, 2, 3, 4, 5], [2.5, 4, 4, 0, 1, 2], [4, 0, 1, 2, 0, 3]], [[3] * 6, [5] * 6, [2] * 6]),
    "S2": ("S2", [[0, 0, 1], [1, 0, 0], [0, -0.6, 0.8]], [[10], [4], [30]]),
    "S2 x S1": ("S2 x S1", [[0, 0, 1, 0.5], [1, 0, 0, 3.5], [0, 1, 0, 5]], [[4, 2], [3, 3], [9, 0]]),
    "S2 x S2": ("S2 x S2", [[0, 0, 1, 1, 0, 0], [1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 1, 0]], [[9, 4], [5, 5], [3, 9]]),
}
MESH_1, MESH_S1, MESH_2 = MESHES = ("mesh:mesh.obj", "mesh:mesh.obj x S1", "mesh:mesh.obj^2")
FLAT = ("T1", "T2", "T3", "T4", "T6", "S2", "S2 x S1", "S2 x S2")


def short(domain):
    """Of a domain in the name of a run: t2, s2s1, mesh, mesh-s1, mesh2."""
    plain = domain.replace("mesh:mesh.obj", "mesh").replace("mesh x ", "mesh-")
    return plain.replace("^", "").replace(" x ", "").lower()


def points(domain, n=N, out="p.csv", seed=3, more=""):
    """A file of points on the domain; of tori and spheres with the truth that they come from."""
    if domain in ("T2", "T4"):
        return [f"simulate {domain.lower()} --n {n} --seed {seed} --out {out} --truth truth.json --json {more}"]
    if domain in MIXTURES:
        name, means, kappas = MIXTURES[domain]
        mixture = {"domain": name, "kind": "von Mises-Fisher mixture", "weights": [0.5, 0.3, 0.2], "means": means,
                   "kappas": kappas}
        return [{"mixture.json": json.dumps(mixture)},
                f"simulate mixture.json --n {n} --seed {seed} --out {out} --truth truth.json --json {more}"]
    found = on_mesh(MESH, n, seed)
    if domain == MESH_2:
        found = [(*a, *b) for a, b in zip(found, on_mesh(MESH, n, seed + 1))]
    if domain == MESH_S1:
        found = [(*a, 3 * u * u) for a, u in zip(found, uniforms(seed + 2))]
    return [{"mesh.obj": SURFACES["mesh.obj"], out: rows(found)}]


# ---- Commands ---------------------------------------------------------------------------------------------------

M = "m.safetensors"
SMALL = "--steps 40 --width 16 --features 16 --q1 256 --q2 64 --accuracy 0.02"
GIVEN = SMALL + " --tau 1e-4"
TINY = "--steps 20 --width 8 --features 4 --q1 256 --q2 32 --accuracy 0.02"


def fit(domain, options="", data="p.csv", out=M, say="--json"):
    return f'fit --domain "{domain}" --data {data} --out {out} {options} {say}'


DENSITY, SCORE = f"density {M} --points p.csv --out f.npy", f"score {M} --data p.csv --json"
ASK = [DENSITY, SCORE]
SPREAD = f"density {M} --points p.csv --out spread.npy --what spread --json"
DRAW = f"sample {M} --n 40 --out draws.csv --json"
INFO = f"info {M} --json"

# ---- Every estimator on every domain ----------------------------------------------------------------------------

FREQUENCY = {"T4": 2, "T6": 1, "S2 x S1": 3, "S2 x S2": 2, MESH_1: 4, MESH_S1: 3, MESH_2: 2}
for domain in FLAT + MESHES:
    few = f"--max-frequency {FREQUENCY.get(domain, 6)}"
    of_mesh = few if domain in MESHES else ""
    # Integrals over six factors, and choices of tau over three or more, take many seconds.
    ask = [DENSITY] if domain == "T6" else [*ASK, DRAW]
    tau = "--tau auto" if domain in ("T1", "T2", "S2", "S2 x S1", MESH_1) else ""
    run(f"field-{short(domain)}", points(domain), fit(domain, f"{GIVEN} {tau} {of_mesh} --log log.jsonl"), ASK, DRAW,
        f"info {M}")
    run(f"series-{short(domain)}", points(domain),
        fit(domain, f"--estimator series --tau 1e-3 {few} --log log.jsonl"), ask, INFO)
    run(f"kde-{short(domain)}", points(domain), fit(domain, f"--estimator kde {of_mesh}"), ASK, DRAW, INFO)
    if domain in FLAT:
        small = "--steps 40 --width 12 --log log.jsonl"
        run(f"psnf-{short(domain)}", points(domain), fit(domain, f"--estimator psnf {small}"), ask, INFO)
        run(f"relu-{short(domain)}", points(domain),
            fit(domain, f"--estimator relu --q1 256 {small} --accuracy 0.05"), ask, INFO)
for domain in ("T2", "S2", "S2 x S1", MESH_1):
    run(f"stack-{short(domain)}", points(domain),
        fit(domain, f"--estimator stack --members 2 {SMALL} --max-frequency 3 --log log.jsonl"), ASK, DRAW, f"info {M}")
for domain in ("T2", "S2 x S2", MESH_1):
    run(f"uniform-{short(domain)}", points(domain), fit(domain, "--estimator uniform", say=""), ASK, DRAW)

# Sizes as the program chooses them: more points and features than one tile holds.
run("field-t2-sizes", points("T2", 3000), fit("T2", "--steps 60 --tau 1e-4 --log log.jsonl", say=""), ASK)
run("field-t4-sizes", points("T4", 3000), fit("T4", "--steps 12 --tau 1e-4 --accuracy 0.01", say=""), ASK)
run("field-s2-sizes", points("S2", 2000), fit("S2", "--steps 40 --tau 1e-5", say=""), ASK)
run("field-s2s2-sizes", points("S2 x S2", 1000), fit("S2 x S2", "--steps 8 --tau 1e-4 --accuracy 0.02", say=""), ASK)
TWINS = [f"{(i * i % 97) / 15:.3f},{i * 7 % 31 / 5:.3f}\n" for i in range(80)]
for ties in ("apart", "together"):
    for name, options in {"kde": "--estimator kde --bandwidth mixture", "series": "--estimator series --max-frequency 3"}.items():
        run(f"{name}-ties-{ties}", {"p.csv": "".join(TWINS + TWINS[:30])}, fit("T2", f"{options} --ties {ties}"), ASK)
run("kde-t2-sizes", points("T2", 5000), fit("T2", "--estimator kde", say=""), ASK)
run("series-t2-sizes", points("T2", 5000), fit("T2", "--estimator series", say=""), ASK)

# ---- Options of the field ---------------------------------------------------------------------------------------

FIELD = {  # name -> options beside GIVEN, on T2: of an option that is there twice the last one counts
    "tau-0": "--tau 0",
    "tau-auto-likelihood": "--tau auto --criterion likelihood --holdout 0.2",
    "tau-auto-batch": "--tau auto --batch 50 --log-every 7",
    "seed": "--seed 77",
    "penalty-gradient": "--penalty gradient",
    "penalty-none": "--penalty none",
    "law-power": "--spectrum-law power --spectrum-decay 1.2",
    "law-uniform": "--spectrum-law uniform",
    "law-ridge": "--spectrum-law ridge",
    "law-ridge-given": "--spectrum-law ridge --spectrum-decay 1.5 --spectrum-ridge 0.01",
    "frequencies": "--max-frequency 4,9",
    "waves": "--separable off",
    "waves-positive": "--separable off --signs off",
    "waves-ridge": "--separable off --spectrum-law ridge",
    "constant": "--constant on --spectrum-law uniform --max-frequency 2",
    "scale-orthonormal": "--scale orthonormal",
    "scale-none": "--scale none --separable off",
    "depth-1": "--depth 1",
    "depth-2": "--depth 2",
    "depth-5": "--depth 5",
    "omega": "--omega 3.5",
    "wide": "--width 150 --features 140 --steps 20",
    "layer-rates-off": "--width 150 --features 140 --steps 20 --layer-rates off",
    "skip-off": "--skip off",
    "skip-start-convex": "--skip-start convex",
    "skip-start-zero": "--skip-start zero",
    "start-authors": "--start authors",
    "epochs": "--epochs 9 --batch 40 --steps 0",
    "batch": "--batch 32",
    "sgd": "--optimiser sgd --rate 0.01",
    "schedule-fixed": "--schedule fixed",
    "schedule-triangular": "--schedule triangular --cycle 7 --rate-min 1e-5",
    "schedule-triangular2": "--schedule triangular2 --cycle 7 --rate-min 1e-5",
    "warmup": "--warmup 5 --rate-min 1e-4",
    "clip-0": "--clip 0",
    "restarts": "--skip off --rate 0.1 --clip 0 --steps 300",
    "linear-start-alone": "--rate 10 --clip 0 --steps 400",
    "importance": "--integral importance",
    "importance-given": "--integral importance --uniform-share 0.5 --centres 30 --proposal-rho 0.6",
    "independent": "--sequence independent",
    "convex-gap": "--convex-gap on",
    "convex-gap-off": "--convex-gap off",
    "stop-ise": "--stop ise --patience 3 --steps 200 --log-every 5",
    "stop-snr": "--stop snr --patience 3 --steps 200 --log-every 5",
    "snr": "--snr on --log-every 10",
    "truth": "--truth truth.json --log-every 10",
    "reference": "--device reference --steps 10",
    "preset-quick": "--preset quick --steps 60",
}
for name, options in FIELD.items():
    run(f"field-t2-{name}", points("T2"), fit("T2", f"{GIVEN} --log log.jsonl {options}"), ASK)

OTHERS = {  # name -> domain, options
    "s2-gradient-importance": ("S2", f"{GIVEN} --penalty gradient --integral importance"),
    "s2-reference": ("S2", f"{GIVEN} --device reference --steps 10"),
    "s2s1-rotated": ("S2 x S1", f"{GIVEN} --separable off --max-frequency 3,4"),
    "s2s1-ridge": ("S2 x S1", f"{GIVEN} --max-frequency 3,4 --spectrum-law ridge"),
    "s2s2-rotated": ("S2 x S2", f"{GIVEN} --separable off --max-frequency 3"),
    "t1-convex-gap": ("T1", f"{GIVEN} --tau 1e-3 --convex-gap on --skip-start convex"),
    "t3-separable": ("T3", f"{GIVEN} --separable on"),
    "t3-auto": ("T3", f"{TINY} --holdout 0.2"),
    "t4-uniform-integral": ("T4", f"{GIVEN} --integral uniform"),
    "t4-reference": ("T4", f"{GIVEN} --device reference --steps 6"),
    "mesh-quadratic": (MESH_1, f"{GIVEN} --elements 2 --max-frequency 4"),
    "t2-preset-best": ("T2", f"--preset best {TINY} --members 3 --max-frequency 3"),
    "t2-preset-paper-t2": ("T2", "--preset paper-t2 --epochs 60 --steps 0 --width 32 --rate 1e-3"),
    "t4-preset-paper-t4": ("T4", "--preset paper-t4 --epochs 3 --steps 0 --q1 512 --q2 128 --width 32 --accuracy 0.05"),
    "s2s2-preset-paper-s2s2": ("S2 x S2", "--preset paper-s2s2 --epochs 2 --steps 0 --q1 512 --q2 128 --width 32 "
                               "--accuracy 0.05"),
}
for name, (domain, options) in OTHERS.items():
    run(f"field-{name}", points(domain), fit(domain, f"{options} --log log.jsonl"), ASK, f"info {M}")

run("field-collapses", points("T2", 150),
    refused(4, fit("T2", "--preset paper-t2 --epochs 8 --steps 0 --width 16 --features 16")))
run("field-weights", points("T2"), WEIGHTS, fit("T2", f"{GIVEN} --weights w.csv --log log.jsonl"), ASK,
    f"score {M} --data p.csv --weights w.csv --json")
run("field-words", points("T2"), fit("T2", SMALL, say=""),
    fit("T2", f"{GIVEN} --convex-gap on", out="gap.safetensors", say=""),
    fit("T2", GIVEN, out="quiet.safetensors", say="--quiet"), f"score {M} --data p.csv")
run("field-config", points("T2"), fit("T2", "--config c.json --q1 128 --width 14"), ASK,
    {"c.json": json.dumps({"preset": "quick", "steps": 30, "width": 12, "features": 10, "max-frequency": [3, 5],
                           "tau": 1e-3, "skip": "off"})})
run("field-start-from-field", points("T2"), fit("T2", GIVEN, out="a.safetensors"),
    fit("T2", f"{GIVEN} --start-from a.safetensors --seed 9"), INFO)
run("field-start-from-series", points("T2"),
    fit("T2", "--estimator series --tau 1e-3 --max-frequency 4", out="a.safetensors"),
    fit("T2", "--steps 40 --width 16 --q1 256 --q2 64 --tau 1e-4 --max-frequency 4 --start-from a.safetensors"), ASK,
    INFO)
run("field-base", points("T2"), fit("T2", "--estimator kde --kappa 5", out="a.safetensors"),
    fit("T2", f"{GIVEN} --base a.safetensors"), ASK, INFO, f"density {M} --points p.csv --what ratio --out ratio.csv",
    fit("T2", f"{GIVEN} --base series", out="b.safetensors"), fit("T2", f"{GIVEN} --base kde", out="c.safetensors"))
run("field-encoding-from", points("T2"), fit("T2", GIVEN, out="a.safetensors"),
    fit("T2", f"{GIVEN} --encoding-from a.safetensors --seed 9 --width 20"), INFO)

# ---- Members, bootstrap, stacks, pairs without an order ---------------------------------------------------------

BLENDS = {  # name -> domain, options
    "members-log": ("T2", f"{GIVEN} --members 3 --log log.jsonl"),
    "members-mixture": ("T2", f"{GIVEN} --members 3 --combine mixture --log log.jsonl"),
    "members-auto": ("S2", f"{SMALL} --members 2"),
    "members-t4": ("T4", f"{GIVEN} --members 2"),
    "members-mesh": (MESH_1, f"{GIVEN} --members 2 --max-frequency 3"),
    "bootstrap-log": ("T2", f"{GIVEN} --members 4 --bootstrap on"),
    "bootstrap-mixture": ("T2", f"{GIVEN} --members 4 --bootstrap on --combine mixture --weights w.csv"),
    "bootstrap-series": ("S2", "--estimator series --max-frequency 3 --tau 1e-3 --members 4 --bootstrap on"),
    "bootstrap-kde": ("S2", "--estimator kde --members 4 --bootstrap on --combine mixture"),
    "bootstrap-stack": ("T2", f"--estimator stack --members 3 --bootstrap on {GIVEN} --steps 20 --max-frequency 3"),
}
for name, (domain, options) in BLENDS.items():
    run(name, points(domain), WEIGHTS, fit(domain, options), ASK, SPREAD, DRAW, f"info {M}")
run("stack-folds", points("T2"),
    fit("T2", f"--estimator stack --members 2 --folds 3 {TINY} --max-frequency 3", say=""), ASK)
for estimator, domain in (("field", "T2"), ("field", "S2 x S2"), ("series", "T2"), ("kde", "S2 x S2"), ("kde", MESH_2),
                          ("stack", "T2"), ("uniform", "T2")):
    members = 2 if estimator in ("field", "stack") else 1
    run(f"unordered-{estimator}-{short(domain)}", points(domain),
        fit(domain, f"--estimator {estimator} --unordered on {GIVEN} --members {members} --max-frequency 2"), ASK, DRAW)

# ---- Kernels, series, and the two other networks ----------------------------------------------------------------

KERNELS = {  # name -> domain, options
    "t2-adaptive": ("T2", "--bandwidth adaptive"),
    "t2-adaptive-given": ("T2", "--bandwidth adaptive --neighbours 12"),
    "t2-mixture": ("T2", "--bandwidth mixture"),
    "t2-factor": ("T2", "--concentration factor"),
    "t2-likelihood": ("T2", "--concentration-rule likelihood"),
    "t2-ise": ("T2", "--concentration-rule ise"),
    "t2-given": ("T2", "--kappa 20"),
    "t2-given-factors": ("T2", "--kappa 20,5"),
    "t2-weights": ("T2", "--weights w.csv"),
    "s2-adaptive": ("S2", "--bandwidth adaptive"),
    "s2-mixture": ("S2", "--bandwidth mixture"),
    "s2-ise": ("S2", "--concentration-rule ise"),
    "s2-likelihood": ("S2", "--concentration-rule likelihood"),
    "s2s1-factor": ("S2 x S1", "--concentration factor"),
    "s2s1-factor-likelihood": ("S2 x S1", "--concentration factor --concentration-rule likelihood"),
    "s2s2-adaptive": ("S2 x S2", "--bandwidth adaptive --neighbours 9"),
    "s2s2-mixture": ("S2 x S2", "--bandwidth mixture"),
    "t4-adaptive": ("T4", "--bandwidth adaptive"),
    "mesh-given": (MESH_1, "--kappa 30 --max-frequency 5"),
    "mesh-s1-given": (MESH_S1, "--kappa 30 --max-frequency 3,8"),
}
for name, (domain, options) in KERNELS.items():
    run(f"kde-{name}", points(domain), WEIGHTS, fit(domain, f"--estimator kde {options}"), ASK, DRAW)

SERIES = {  # name -> domain, options
    "auto": ("T2", "--max-frequency 5"),
    "auto-likelihood": ("T2", "--max-frequency 5 --criterion likelihood --holdout 0.2"),
    "auto-s2": ("S2", "--max-frequency 5"),
    "auto-mesh": (MESH_1, "--max-frequency 3"),
    "tau-0": ("T1", "--max-frequency 2 --tau 0"),
    "open": ("T2", "--tau 1e-3"),
    "frequencies": ("T2", "--max-frequency 3,7 --tau 1e-3"),
    "frequencies-open": ("S2 x S1", "--max-frequency 3,0 --tau 1e-3"),
    "gradient": ("T2", "--max-frequency 4 --tau 1e-3 --penalty gradient"),
    "no-penalty": ("T1", "--max-frequency 2 --tau 1e-3 --penalty none"),
    "weights": ("T2", "--max-frequency 4 --tau 1e-3 --weights w.csv"),
    "sgd": ("T2", "--solver sgd --steps 60 --q1 256 --q2 64 --max-frequency 4 --tau 1e-3"),
    "sgd-auto": ("T2", "--solver sgd --steps 40 --q1 256 --q2 64 --max-frequency 4"),
    "sgd-s2": ("S2", "--solver sgd --steps 60 --q1 256 --q2 64 --max-frequency 4 --tau 1e-3 --schedule fixed"),
}
for name, (domain, options) in SERIES.items():
    run(f"series-{name}", points(domain), WEIGHTS, fit(domain, f"--estimator series {options} --log log.jsonl"), ASK,
        INFO)

run("psnf-options", points("T2"),
    fit("T2", "--estimator psnf --steps 40 --width 20 --batch 50 --schedule fixed --rate 0.01 --start authors", say=""),
    ASK)
run("relu-options", points("T2"), WEIGHTS,
    fit("T2", "--estimator relu --steps 120 --width 12 --depth 4 --q1 256 --patience 2 --log-every 5 --log log.jsonl "
        "--weights w.csv", say=""), ASK)
run("unused-options", points("T2"), fit("T2", "--estimator kde --kappa 5 --width 300 --tau 1"),
    fit("T2", "--estimator series --tau 1 --kappa 5 --max-frequency 2"))

# ---- Resuming ---------------------------------------------------------------------------------------------------

LONG = f"{GIVEN} --steps 5000 --log log.jsonl --log-every 5"  # so long that the signal comes in the middle
STOPS = f"{SMALL} --steps 3000 --log log.jsonl --log-every 5 --stop ise --patience 600"
OFTEN = "--checkpoint c.ck --checkpoint-every 0.01"
run("resume-signal", points("T2"), Command(fit("T2", f"{LONG} {OFTEN}"), 130, "log.jsonl", 20),
    fit("T2", f"{LONG} --resume c.ck --checkpoint other.ck"), loose=("*.ck",))
run("resume-signal-stop", points("T2"), Command(fit("T2", f"{STOPS} {OFTEN}"), 130, "log.jsonl", 20),
    fit("T2", f"{STOPS} --resume c.ck"), loose=("*.ck",))
run("resume-finished", points("T2"), fit("T2", f"{GIVEN} {OFTEN} --checkpoint-every 0 --log log.jsonl"),
    fit("T2", f"{GIVEN} --resume c.ck", out="again.safetensors"), loose=("*.ck",))
run("resume-members", points("T2"), fit("T2", f"{SMALL} --steps 150 --members 2 {OFTEN} --checkpoint-every 0"),
    fit("T2", f"{SMALL} --steps 150 --members 2 --resume c.ck", out="again.safetensors"), loose=("*.ck*",))
run("resume-refused", points("T2"), fit("T2", f"{GIVEN} {OFTEN} --checkpoint-every 0"), loose=("*.ck",), *refused(
    3, fit("T2", f"{GIVEN} --resume c.ck --seed 2", out="no"), fit("T2", f"{GIVEN} --resume c.ck --width 17", out="no"),
    fit("T2", f"{GIVEN} --resume {M}", out="no")), *refused(5, fit("T2", f"{GIVEN} --resume absent", out="no")))

# ---- Choices on held-out points ---------------------------------------------------------------------------------

SELECT = {  # name -> options, on T2
    "tau": f"{TINY} --out {M} --table rows.csv",
    "given-taus": f"{TINY} --out {M} --over tau=1e-4:1e-1 --json",
    "encodings": f"{TINY} --out {M} --over separable=on:off,max-frequency=3:6 --table rows.csv --json",
    "likelihood": f"{TINY} --out {M} --over skip=on:off --criterion likelihood --holdout 0.3",
    "kde": f"--estimator kde --out {M} --over bandwidth=fixed:adaptive --json",
    "series": f"--estimator series --out {M} --over max-frequency=2:4 --json",
    "members": f"{TINY} --out {M} --members 2 --json",
}
for name, options in SELECT.items():
    run(f"select-{name}", points("T2", 260), f"select --domain T2 --data p.csv {options}", f"info {M}", ASK)

# ---- What models are asked --------------------------------------------------------------------------------------

KINDS = ("log-density", "density", "relative", "intensity", "gradient", "laplacian")
MODELS = {  # name -> domain, options
    "field": ("T2", GIVEN),
    "field-s2s1": ("S2 x S1", GIVEN),
    "field-mesh": (MESH_1, f"{GIVEN} --max-frequency 3"),
    "series": ("S2", "--estimator series --max-frequency 4 --tau 1e-3"),
    "kde": ("S2 x S1", "--estimator kde"),
    "kde-adaptive": ("T2", "--estimator kde --bandwidth adaptive"),
    "kde-mixture": ("S2", "--estimator kde --bandwidth mixture"),
    "kde-mesh": (MESH_1, "--estimator kde --max-frequency 4"),
    "psnf": ("T2", "--estimator psnf --steps 20 --width 8"),
    "relu": ("T2", "--estimator relu --steps 20 --width 8 --q1 128"),
    "members": ("T2", f"{GIVEN} --members 2"),
    "mixture": ("T2", f"{GIVEN} --members 2 --combine mixture"),
    "stack": ("T2", f"--estimator stack --members 2 {SMALL} --max-frequency 3"),
    "uniform": ("S2", "--estimator uniform"),
}
for name, (domain, options) in MODELS.items():
    run(f"density-{name}", points(domain), fit(domain, options),
        [f"density {M} --points p.csv --out {kind}.npy --what {kind} --json" for kind in KINDS])
    run(f"sample-{name}", points(domain), fit(domain, options), f"sample {M} --n 200 --out d.csv --seed 4")
run("density-formats", points("T2"), fit("T2", GIVEN), f"density {M} --points p.csv --out f.csv",
    f"density {M} --points p.csv --out g.tsv --what gradient", f"density {M} --points p.csv --out f.txt.gz --quiet")
run("sample-formats", points("S2 x S1"), fit("S2 x S1", "--estimator kde --kappa 9"),
    f"sample {M} --n 30 --out d.npy --json", f"sample {M} --n 30 --out d.tsv --coords latlon,degrees",
    f"sample {M} --n 1 --out one.csv --quiet")

SLICES = {  # name -> domain, options, factors, places on them
    "t2": ("T2", GIVEN, "1", "0.5\n2.5\n"),
    "t4": ("T4", "--estimator kde --kappa 4", "1,3", "0.5,1\n2.5,4\n"),
    "s2s1": ("S2 x S1", GIVEN, "1", "0,0,1\n1,0,0\n"),
    "s2s2": ("S2 x S2", "--estimator series --max-frequency 2 --tau 1e-3", "2", "0,0,1\n"),
    "members": ("T2", f"{GIVEN} --members 2", "2", "0.5\n"),
    "stack": ("T2", f"--estimator stack --members 2 {SMALL} --max-frequency 3", "2", "0.5\n"),
    "mesh-s1": (MESH_S1, f"{GIVEN} --max-frequency 3", "2", "1\n2\n"),
}
for name, (domain, options, factors, places) in SLICES.items():
    model = [points(domain), fit(domain, options), {"at.csv": places}]
    run(f"marginal-{name}", model,
        f"marginal {M} --factors {factors} --points at.csv --out f.csv --errors e.csv --accuracy 0.01",
        f"marginal {M} --factors {factors} --points at.csv --out d.npy --what density --accuracy 0.01 --json")
    run(f"given-{name}", model, points(domain, 5, out="few.csv", seed=8),
        f"density {M} --points few.csv --given {factors} --out c.csv --errors e.csv --accuracy 0.01 --json",
        f"density {M} --points few.csv --given {factors} --out d.csv --what density --accuracy 0.01",
        f"sample {M} --n 15 --given {factors} --at at.csv --out draws.csv --json")

run("probability", points("S2 x S1"), fit("S2 x S1", "--estimator kde"),
    f"probability {M} --at 0,0,1,0.5 --radius 0.5,1 --json",
    f"probability {M} --at 1,0,0,3 --radius all --accuracy 0.01",
    f"probability {M} --at 80,10,30 --radius 20,all --coords latlon,degrees")
run("probability-bootstrap", points("S2"),
    fit("S2", "--estimator series --max-frequency 3 --tau 1e-3 --bootstrap on --members 6"),
    f"probability {M} --at 0,0,1 --radius 0.6", f"probability {M} --at 0,0,1 --radius 0.6 --json")
for domain in ("T1", "T2", "T4", "S2", "S2 x S2"):
    run(f"evaluate-{short(domain)}", points(domain), fit(domain, "--estimator kde"),
        f"evaluate {M} --truth truth.json --points 4096 --json", f"evaluate {M} --truth truth.json --points 4096")
run("evaluate-grid", points("T2"), fit("T2", GIVEN), f"evaluate {M} --truth truth.json --grid authors --json",
    {"grid.npy": npy("4, 4", [1.0 + k % 5 for k in range(16)])}, f"evaluate {M} --truth grid.npy --json")
run("simulate", "simulate t2 --authors --n 50 --out a.csv --truth a.json",
    "simulate t2 --n 50 --truth-seed 4 --seed 9 --out b.npy --truth b.json --json",
    "simulate t4 --n 50 --out c.tsv --truth c.json", "simulate t2 --n 20 --out e.csv --quiet",
    "simulate b.json --n 20 --out d.csv --coords degrees --json --truth e.json")
for domain in MIXTURES:
    run(f"simulate-{short(domain)}", points(domain, 50, more="--coords latlon" if "S2" in domain else ""))
PLACES = [[180 * u - 90, 360 * v - 180] for u, v in itertools.islice(zip(uniforms(3), uniforms(4)), 80)]
run("coords", {"places.csv": "lat,lon\n" + rows(PLACES), "angles.csv": rows([p[1:] for p in PLACES])},
    fit("S2", f"{GIVEN} --coords latlon", data="places.csv"),
    f"density {M} --points places.csv --coords latlon --out f.csv",
    f"score {M} --data places.csv --coords latlon --json", f"sample {M} --n 20 --coords latlon --out d.csv",
    fit("S1", f"{GIVEN} --coords degrees", data="angles.csv", out="angles.safetensors"),
    "sample angles.safetensors --n 20 --coords degrees --out e.csv")
for suffix in ("npy", "tsv", "csv.gz"):
    run(f"format-{suffix}", f"simulate t2 --n 60 --out p.{suffix}", fit("T2", "--estimator kde", f"p.{suffix}"))
run("info", points("T2"), fit("T2", GIVEN), f"info {M}", INFO, {**SURFACES, "open.off": off((MESH[0], MESH[1][:-1]))},
    "info mesh.obj", "info mesh.obj --json", "info open.off", "info open.off --json")
run("help", "help", [f"help {command}" for command in (
    "fit select density score sample marginal probability endpoints simulate evaluate plot view eigen reproduce bench "
    "info version").split()], "man")

# ---- Surfaces and streamlines -----------------------------------------------------------------------------------

run("eigen-dense", SURFACES, "eigen mesh.obj --k 20 --out phi.npy --values v.csv --json",
    "eigen mesh.obj --k 5 --out phi.csv", "eigen mesh.obj --k 3 --out phi.vtk", "eigen mesh.obj --k 3 --out phi.gii")
run("eigen-quadratic", SURFACES, "eigen mesh.obj --k 12 --elements 2 --out phi.npy --values v.npy --json")
run("eigen-sparse", {"fine.off": off(bumpy(3))}, "eigen fine.off --k 30 --out phi.npy --values v.csv --json",
    "eigen fine.off --k 9 --elements 2 --out quadratic.npy --values q.csv --json")
run("field-mesh-sparse", {"fine.off": off(bumpy(3)), "p.csv": rows(on_mesh(bumpy(3), 200, 3))},
    fit("mesh:fine.off", f"{GIVEN} --max-frequency 5"), ASK)

ROI = f"marginal {M} --roi labels.csv --sphere sphere.obj"
run("regions-sphere", points("S2 x S2"), SURFACES, fit("S2 x S2", "--estimator kde"),
    f"{ROI} --region north --out map.csv --json",
    f"{ROI} --region south,middle --surface mesh.obj --factor 2 --what counts --out map.gii",
    f"{ROI} --region north --surface mesh.obj --out map.vtk --quiet", f"{ROI} --matrix matrix.csv --json",
    f"marginal {M} --sphere sphere.obj --dense dense.npy --what probability")
run("regions-sphere-field", points("S2 x S2"), SURFACES, fit("S2 x S2", GIVEN),
    f"{ROI} --region north --out map.csv --json", f"{ROI} --matrix matrix.npy --what counts")
run("regions-mesh", points(MESH_2), SURFACES, fit(MESH_2, "--estimator series --max-frequency 2 --tau 1e-3"),
    f"marginal {M} --roi labels.csv --surface mesh.obj --region north --out map.csv --what relative --json",
    f"marginal {M} --roi labels.csv --surface mesh.obj --matrix matrix.csv")

BRAIN = {"lh.obj": obj(bumpy(2, 50.0)), "sphere.obj": obj(BALL), "a.tck": tck(streamlines(60)),
         "b.trk": trk(streamlines(60)), "w.txt": rows([[0.5 + k % 3] for k in range(61)])}
run("endpoints-sphere", BRAIN, "endpoints --tracks a.tck --surface lh.obj --sphere sphere.obj --out e.npy --json",
    "endpoints --tracks b.trk --surface lh.obj --sphere sphere.obj --out f.csv",
    "endpoints --tracks a.tck --tracks b.trk --weights w.txt --weights w.txt --weights-out v.csv --surface lh.obj "
    "--sphere sphere.obj --out g.csv --max-distance 2", fit("S2 x S2", "--estimator kde --weights v.csv", data="g.csv"))
BOTH = [line for s in streamlines(20)[:20] for line in (  # left to left, right to right, left to right
    s, [[x + 150, y, z] for x, y, z in s], [s[0], [s[2][0] + 150, *s[2][1:]]])]
run("endpoints-surfaces", BRAIN, {"rh.obj": obj(bumpy(2, 50.0, 150.0)), "c.tck": tck(BOTH)},
    "endpoints --tracks c.tck --surface lh.obj --surface-right rh.obj --out e.csv --json",
    "endpoints --tracks c.tck --surface lh.obj --surface-right rh.obj --pairs LR --out lr.csv",
    "endpoints --tracks a.tck --surface lh.obj --space mni152 --max-distance 9 --out m.csv --json")

# ---- Figures and pages ------------------------------------------------------------------------------------------

PLOTS = {  # name -> domain, options of the fit, of the figure
    "circle": ("T1", "--estimator kde", "--grid 30 --data p.csv --truth truth.json"),
    "torus": ("T2", GIVEN, "--grid 30 --truth truth.json --scale log --range 0.001:1,0.01:0.1"),
    "torus-relative": ("T2", GIVEN, '--grid 30 --what relative --data p.csv --levels 50,90 --title "a & b"'),
    "torus-spread": ("T2", f"{GIVEN} --members 3", "--grid 30 --what spread"),
    "torus-factor": ("T2", GIVEN, "--factors 1"),
    "choice": ("T2", SMALL, "--kind choice"),
    "sphere": ("S2", "--estimator kde", "--grid 30 --data p.csv --scale log"),
    "corner": ("T3", "--estimator kde", "--grid 30 --data p.csv"),
    "factors": ("S2 x S1", "--estimator kde", "--grid 30 --data p.csv"),
    "given": ("S2 x S1", "--estimator kde", "--grid 30 --given 1 --at 0,0,1"),
    "surface": (MESH_1, "--estimator kde --max-frequency 3", "--data p.csv --views +x,-z"),
    "surface-factors": (MESH_S1, "--estimator kde --max-frequency 3", "--data p.csv --views +x"),
    "surface-given": (MESH_S1, "--estimator kde --max-frequency 3",
                      "--given 2 --at 1.5 --hemisphere left --views lateral,dorsal"),
}
for name, (domain, options, figure) in PLOTS.items():
    run(f"plot-{name}", points(domain), fit(domain, options), f"plot {M} --dpi 50 {figure} --out a.svg --json",
        f"plot {M} --dpi 50 {figure} --out b.png")
run("plot-several", points("T2"), fit("T2", GIVEN), fit("T2", "--estimator kde", out="k.safetensors"),
    f"plot {M} k.safetensors --truth truth.json --names field,kernels --grid 30 --dpi 50 --out a.svg --json")
run("plot-logs", points("T2"), fit("T2", f"{GIVEN} --truth truth.json --snr on --log a.jsonl --log-every 2"),
    fit("T2", f"{GIVEN} --seed 2 --log b.jsonl"), "plot a.jsonl --out a.svg --json",
    "plot a.jsonl b.jsonl --title both --out b.svg", "plot a.jsonl --kind snr --out c.svg --json",
    "plot a.jsonl --out d.png --dpi 50")
run("plot-values", SURFACES,
    {"values.csv": rows([[x, y * z] for x, y, z in MESH[0]]), "dots.csv": rows(MESH[0][:5])},
    "plot values.csv --surface mesh.obj --roi labels.csv --region north --points dots.csv --dpi 50 --out a.svg --json",
    "plot values.csv --surface mesh.obj --column 2 --hemisphere left --views lateral,medial --dpi 50 --out b.png",
    {"m.csv": 'region,a,"b, c"\na,0.5,1e-3\n"b, c",0,0.4\n'}, "plot m.csv --kind matrix --dpi 50 --out c.svg --json")
run("plot-eigenfunctions", SURFACES, "plot --domain T2 --eigenvalue 20 --dpi 40 --out t.svg --json",
    "plot --domain S2 --eigenvalue 6 --dpi 30 --out s.svg --json",
    "plot --domain mesh:mesh.obj --function 3 --dpi 40 --out m.svg")
run("plot-tracks", BRAIN, "plot --tracks a.tck --surface lh.obj --sphere sphere.obj --dpi 40 --out t.svg --json",
    "plot --tracks b.trk --surface lh.obj --most 20 --dpi 40 --out u.png --json")

PAGES = {  # name -> domain, options of the fit, of the page
    "t2": ("T2", GIVEN, '--data p.csv --points-most 20 --names phi,psi --title "A </script> & B"'),
    "t3": ("T3", "--estimator kde --kappa 5", "--factors 1,3 --accuracy 0.01"),
    "s2s1": ("S2 x S1", "--estimator kde", "--data p.csv --places latlon"),
    "cortex": ("S2", "--estimator kde", "--surface mesh.obj --sphere sphere.obj"),
    "mesh": (MESH_1, "--estimator kde --max-frequency 3", "--data p.csv"),
}
for name, (domain, options, page) in PAGES.items():
    run(f"view-{name}", points(domain), SURFACES, fit(domain, options),
        f"view {M} --nodes 42 {page} --out page.html --json")

# ---- The paper's experiments, in miniature ----------------------------------------------------------------------

REPRODUCE = {  # name -> options, and of a figure of the results
    "table1": ("table1 --methods series:best,kde:best,field:best", ""),
    "relu": ("relu --methods relu:best", ""),
    "encodings": ("encodings --methods angles:best", "--kind profiles"),
    "spectral-bias": ("spectral-bias --methods psnf:best", "--kind spectra"),
    "diagnostics": ("diagnostics", "--kind snr"),
    "tau": ("tau", "--kind tau"),
    "frequencies": ("frequencies --methods product", ""),
}
for name, (options, figure) in REPRODUCE.items():
    again = f"reproduce {options} --n {N} --steps 20 --replicates 1 --out r.jsonl"
    run(f"reproduce-{name}", again, f"{again} --json",
        [f"plot r.jsonl {figure} --dpi 50 --out r.svg"] if figure else [])
PAIRS = [(*unit(a), *unit(b)) for a, b in zip(on_mesh(BALL, 150, 3), on_mesh(BALL, 150, 4))]
SHAPES = ('{"domain": "S1 x S2", "kind": "shapes", "components": [{"weight": 0.3, "shape": "uniform"}, '
          '{"weight": 0.4, "shape": "ring", "factor": 2, "axis": [0, 0, 1], "width": 0.1}, '
          '{"weight": 0.3, "shape": "kernel", "mean": [1, 0, 0, 1], "kappa": [5, 9]}]}')
run("simulate-shapes", {"s.json": SHAPES}, "simulate s.json --n 50 --out a.csv --truth a.json --json",
    "simulate gauntlet:ridge-t3 --truth-seed 2 --n 50 --out b.csv --truth b.json --json")
GAUNTLET = "reproduce gauntlet --only few-t1 --n 60 --methods series,kde,uniform --out g.jsonl"
run("reproduce-gauntlet", GAUNTLET, f"{GAUNTLET} --json", "reproduce gauntlet --list")
run("reproduce-connectivity", {"pairs.csv": rows(PAIRS)}, SURFACES,
    "reproduce connectivity --data pairs.csv --replicates 1 --methods series,kde:published --sphere sphere.obj "
    "--surface mesh.obj --labels labels.csv --roi north --out brain", "plot brain --dpi 40 --out b.svg --json")

# ---- What is refused: the status and the sentence ---------------------------------------------------------------


def spoiled(row, text):
    lines = rows([[1 + u, 2 + 3 * v] for u, v in itertools.islice(zip(uniforms(3), uniforms(4)), 40)]).splitlines()
    return "\n".join(lines[:row - 1] + [text] + lines[row:]) + "\n"


BAD = {"nan.csv": spoiled(17, "0.5,nan"), "inf.csv": spoiled(9, "inf,0.5"), "word.csv": spoiled(12, "0.5,hello"),
       "ragged.csv": spoiled(21, "0.5"), "empty.csv": "", "comments.csv": "# nothing\n", "one.csv": "1,2\n",
       "equal.csv": "1,2\n1,2\n1,2\n", "three.csv": "1,2,3\n2,3,4\n3,4,5\n",
       "huge.npy": npy("1152921504606846976, 2", [1.0]), "cut.npy": npy("10, 2", [1.0]),
       "header.npy": npy("10, 2", [])[:60], "not.npy": "not numpy at all\n"}
run("refused-points", BAD, {"zero.csv": "1,0,0\n0,0,0\n", "long.csv": "1,0,0\n2,0,0\n"},
    refused(3, *[fit("T2", SMALL, name) for name in BAD], fit("S2", SMALL, "zero.csv"), fit("S2", SMALL, "long.csv")),
    refused(5, fit("T2", SMALL, "absent.csv")))
run("refused-usage", points("T2", 40), points("S2 x S1", 40, out="q.csv"), refused(
    2, "fit", "nonsense", fit("T2", "--nonsense 3"), fit("T2", "--width many"), fit("T2", "--width -3"),
    fit("T2", "--estimator x"), fit("T2", "--preset x"), fit("X3"), fit("T2 x"), fit("T99"), fit("T2", out="p.csv"),
    fit("T2", "--estimator series --members 3"), fit("S2 x S1", "--unordered on", "q.csv"),
    fit("T2", "--max-distance 1"), fit("T2", "--device nosuch"),
    fit("S2 x S1", "--separable off --spectrum-law ridge", "q.csv"), fit("T2", "--kappa 1,2,3 --estimator kde")),
    refused(5, fit("T2", SMALL, out="no/such/m"), fit("T2", "--config absent.json")),
    refused(6, fit("T2", "--device cuda:99")))
run("refused-weights", points("T2", 40), {"short.csv": "1\n2\n", "negative.csv": "1\n" * 39 + "-1\n"},
    refused(3, fit("T2", f"{SMALL} --weights short.csv"), fit("T2", f"{SMALL} --weights negative.csv")))
run("refused-models", points("T2", 40), fit("T2", "--estimator uniform"),
    {"bad.safetensors": b"\xff\xff\0\0\0\0\0\0{}", "words": "this is no model\n"},
    refused(3, "info bad.safetensors", "info words", "density bad.safetensors --points p.csv --out d.npy",
            f"evaluate {M} --truth words", f"marginal {M} --factors 1 --points p.csv --out d.csv"),
    refused(5, "info absent", f"score {M} --data absent.csv"),
    refused(2, f"density {M} --points p.csv --out d.npy --what nothing",
            f"density {M} --points p.csv --out d.npy --what spread",
            f"sample {M} --n 5 --given 2 --out d.csv", f"marginal {M} --factors 3 --points p.csv --out d.csv",
            f"probability {M} --at 1,2 --radius 0.5,4", f"plot {M} --kind sphere --out d.svg",
            f"plot {M} --range 2:1 --out d.svg"))
run("refused-surfaces", SURFACES, {
    "open.off": off((MESH[0], MESH[1][:-1])), "turned.off": off((MESH[0], [MESH[1][0][::-1], *MESH[1][1:]])),
    "index.obj": "v 1 1 1\nv 1 -1 -1\nv -1 1 -1\nf 1 2 9\n", "p.csv": rows(MESH[0][:50]),
    "far.csv": rows([*MESH[0], (9.0, 9.0, 9.0)])},
    refused(3, fit("mesh:open.off", GIVEN), fit("mesh:turned.off", GIVEN), fit(MESH_1, GIVEN, "far.csv"),
            "info index.obj", "eigen open.off --k 3 --out phi.csv"),
    refused(2, fit(MESH_1, "--estimator psnf"), fit(MESH_1, "--estimator kde --bandwidth adaptive"),
            fit(MESH_1, "--estimator kde --concentration-rule ise"), fit(MESH_1, "--max-frequency 60"),
            "eigen mesh.obj --k 0 --out phi.csv"), refused(5, fit("mesh:absent.off")))
SELECT_IT = f"select --domain T2 --data p.csv {TINY}"
run("refused-select", points("T2", 50), refused(3, f"{SELECT_IT} --out m"),
    refused(2, f"{SELECT_IT} --over depth", f"{SELECT_IT} --over nonsense=1:2"))

# ---- Files of the recording, read by the program that is compared -----------------------------------------------
# Old models and checkpoints stay readable, whatever new ones look like.

OLD = ("field-t2", "field-s2s1", "field-s2s2-rotated", "field-t2-law-ridge", "field-t2-stop-ise", "field-mesh",
       "field-mesh2", "field-mesh-quadratic", "series-s2", "series-mesh-s1", "kde-t2", "kde-mesh", "kde-t2-adaptive",
       "kde-s2-mixture", "psnf-t2", "relu-t2", "stack-t2", "stack-mesh", "uniform-s2s2", "members-log",
       "members-mixture", "bootstrap-mixture", "unordered-field-t2", "select-encodings")
for name in OLD:
    run(f"old-{name}", INFO, ASK, f"sample {M} --n 20 --out d.csv", takes={M: f"{name}/{M}", "p.csv": f"{name}/p.csv"})
run("old-start-from", points("T2"), fit("T2", f"{GIVEN} --seed 9 --start-from old.safetensors"),
    takes={"old.safetensors": f"field-t2/{M}"})
run("old-checkpoint", points("T2"), fit("T2", f"{LONG} --resume c.ck"), loose=("c.ck",),
    takes={"c.ck": "resume-signal/c.ck", "log.jsonl": "resume-signal/log.jsonl"})
