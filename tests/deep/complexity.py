#!/usr/bin/env python3
"""complexity.py PROGRAM - the time of reading grows no faster than a file: of its header, rows, tensors, labels, lines.

Each case makes a file of n and of 4 n pieces and counts the program's own seconds of a processor, the least of three runs,
less what it takes with next to nothing. Four times the work takes 4 times as long, a sort a little more, a quadratic
reader 16 times: 8 is the bound. n grows until 4 n take half a second, so that noise is small beside what is counted; what
does not get there with the largest file is fast enough."""
import json
import math
import os
import resource
import struct
import subprocess
import sys
import tempfile

program = os.path.abspath(sys.argv[1])
only = sys.argv[2:]
old = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "old")
BOUND, ENOUGH = 8.0, 0.5
LARGEST = 64 << 20  # bytes of a file


def seconds(words):
    """Of one run; what it answers is its own affair, but a signal is none."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *words, "--threads", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode < 0:
        sys.exit("%s ended by signal %d" % (" ".join(words), -done.returncode))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def parts_of(name):
    data = open(os.path.join(old, name + ".safetensors"), "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def model_put(path, header, data):
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def changed(name, change):
    """A stored model whose description is changed."""
    def make(n, path):
        header, data = parts_of(name)
        facts = json.loads(header["__metadata__"]["neuropmd"])
        change(facts, header, n)
        header["__metadata__"]["neuropmd"] = json.dumps(facts)
        model_put(path, header, data)
        return ["info", path]
    return make


def empty_tensors(prefix):
    def change(facts, header, n):
        for i in range(n):
            header["%s%d" % (prefix, i)] = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
    return change


def warnings(facts, header, n):
    facts["warnings"] = ["warning %d" % i for i in range(n)]


def unknown_facts(facts, header, n):
    facts.update({"key %d" % i: i for i in range(n)})


def lists_in_lists(facts, header, n):
    facts["more"] = [[i] for i in range(n)]


def rows(facts, header, n):
    row = {"stage": 1, "steps": 1, "tau": 1e-3, "criterion": 0.0, "settings": ""}
    facts["choice"] = {"criterion": "ise", "training": 30, "held_out": 10, "rows": [row] * n}


def csv_rows(n, path):
    with open(path + ".csv", "w") as f:
        f.writelines("%d.5,0.25\n" % (i % 6) for i in range(n))
    return ["density", os.path.join(old, "psnf_t2.safetensors"), "--points", path + ".csv", "--out", "out.npy"]


def csv_columns(n, path):
    """Far too many, which is said; but they are counted first."""
    open(path + ".csv", "w").write(",".join(["1.5"] * n) + "\n")
    return ["density", os.path.join(old, "psnf_t2.safetensors"), "--points", path + ".csv", "--out", "out.npy"]


def torus(n):
    """A closed surface of about n vertices."""
    side = max(int(math.sqrt(n)), 3)
    def at(i, j):
        return i % side * side + j % side
    x = []
    for i in range(side):
        for j in range(side):
            u, v = 2 * math.pi * i / side, 2 * math.pi * j / side
            x.append(((3 + math.cos(v)) * math.cos(u), (3 + math.cos(v)) * math.sin(u), math.sin(v)))
    f = []
    for i in range(side):
        for j in range(side):
            a, b, c, d = at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)
            f += [(a, b, c), (a, c, d)]
    return x, f


def off_put(path, x, f):
    with open(path, "w") as out:
        out.write("OFF\n%d %d 0\n" % (len(x), len(f)))
        out.writelines("%.6f %.6f %.6f\n" % p for p in x)
        out.writelines("3 %d %d %d\n" % t for t in f)


def mesh_off(n, path):
    off_put(path + ".off", *torus(n))
    return ["info", path + ".off"]


def mesh_obj(n, path):
    x, f = torus(n)
    with open(path + ".obj", "w") as out:
        out.writelines("v %.6f %.6f %.6f\n" % p for p in x)
        out.writelines("f %d//1 %d//1 %d//1\n" % tuple(v + 1 for v in t) for t in f)
    return ["info", path + ".obj"]


def mesh_fan(n, path):
    """Two vertices that all faces share: what is done for each neighbour of a vertex is done n times there."""
    ring = [(math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n), 0.0) for i in range(n)]
    f = [(i, (i + 1) % n, n) for i in range(n)] + [((i + 1) % n, i, n + 1) for i in range(n)]
    off_put(path + ".off", ring + [(0, 0, 1), (0, 0, -1)], f)
    return ["info", path + ".off"]


def label_names(n, path):
    """As many names as vertices."""
    x, f = torus(n)
    off_put(path + ".off", x, f)
    with open(path + ".csv", "w") as out:
        out.write("vertex,label\n")
        out.writelines("%d,region %d\n" % (i, i) for i in range(len(x)))
    with open(path + ".values.csv", "w") as out:
        out.writelines("%d\n" % (i % 7) for i in range(len(x)))
    return ["plot", path + ".values.csv", "--kind", "values", "--surface", path + ".off", "--roi", path + ".csv", "--region", "region 1", "--out",
            "out.png", "--dpi", "30", "--views", "+z"]


def log_lines(n, path):
    with open(path + ".jsonl", "w") as out:
        out.writelines('{"step": %d, "objective": %d, "rate": 0.1}\n' % (i + 1, i % 5) for i in range(n))
    return ["plot", path + ".jsonl", "--out", "out.png", "--dpi", "30"]


def experiments(n, path):
    """Rows of as many methods."""
    with open(path + ".jsonl", "w") as out:
        out.writelines('{"experiment": "tau", "domain": "T2", "method": "m%d", "tau": 1e-3, "course": [[1,1,1,0,1,1],[2,1,1,0,1,2]]}\n'
                       % i for i in range(n))
    return ["plot", path + ".jsonl", "--out", "out.png", "--dpi", "30"]


def mixture(n, path):
    one = {"weights": [1.0 / n] * n, "means": [[1, 2]] * n, "kappas": [[3, 4]] * n}
    json.dump({"domain": "T2", "kind": "von Mises-Fisher mixture", **one}, open(path + ".json", "w"))
    return ["simulate", path + ".json", "--n", "2", "--out", "out.csv"]


CASES = {
    "tensors": (changed("field_t2", empty_tensors("x")), 1000),
    "tensors of a part": (changed("members_t2", empty_tensors("part.1.x")), 1000),
    "tensors of a base": (changed("field_t2", empty_tensors("base.x")), 1000),
    "warnings": (changed("field_t2", warnings), 1000),
    "unknown facts": (changed("field_t2", unknown_facts), 1000),
    "lists": (changed("field_t2", lists_in_lists), 1000),
    "rows of a choice": (changed("field_s2_auto", rows), 1000),
    "rows of text": (csv_rows, 10000),
    "columns of text": (csv_columns, 10000),
    "vertices, .off": (mesh_off, 4000),
    "vertices, .obj": (mesh_obj, 4000),
    "faces about a vertex": (mesh_fan, 4000),
    "names of labels": (label_names, 4000),
    "lines of a log": (log_lines, 1000),
    "methods of an experiment": (experiments, 25),
    "components of a truth": (mixture, 1000),
}


def size_of(path):
    return max(os.path.getsize(f) for f in os.listdir(".") if f.startswith(os.path.basename(path)))


def measure(make, n, startup):
    words = make(n, "file")
    return max(min(seconds(words)[0] for _ in range(3)) - startup, 1e-3), size_of("file")


REFUSED = ["columns of text"]  # which is the answer that they get


failed = 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, (make, n) in CASES.items():
        if only and name not in only:
            continue
        done = seconds(make(9, "file"))[1]
        if done.returncode != 0 and name not in REFUSED:
            sys.exit("%s: %s" % (name, done.stderr.decode()))
        startup = min(seconds(make(9, "file"))[0] for _ in range(3))
        small, size = measure(make, n, startup)
        while True:
            large, size = measure(make, 4 * n, startup)
            if large >= ENOUGH or 4 * size > LARGEST:
                break
            n, small = 4 * n, large
        ratio = large / small
        good = ratio <= BOUND or large < ENOUGH / 4
        failed += not good
        print("%-26s %8d: %6.3f s, %8d: %6.3f s, ratio %4.1f%s"
              % (name, n, small, 4 * n, large, ratio, "" if good else "  GROWS TOO FAST"))
        sys.stdout.flush()
        for f in os.listdir("."):
            os.remove(f)
print("%d of %d readers grow faster than their files" % (failed, len(CASES)))
sys.exit(failed > 0)
