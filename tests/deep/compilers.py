"""compilers.py GCC CLANG - two programs, the same source by two compilers: the same fits and values, within stated bounds.

Both kernels hold the same sums in single precision with partial sums in double; a compiler may order and fuse additions
in its own way. What is compared, and why it may differ by no more:

  stored models      the log densities of tests/old, by the reference device: 200 terms below 100, right to four roundings
                     of a double, 1e-11; by the cpu device: 24 bits, and at most omega K = 70 of gain a layer, 1e-4
  series             Newton's method ends where the gradient is below 1e-9 of its start: coefficients, and log densities,
                     that differ by less than 1e-6
  kernels            no iteration: sums of 300 terms in single precision, 300 x 6e-8 = 2e-5
  field, 1 step      Adam moves every weight by the rate, 1e-3, whatever the size of its gradient: a gradient of nought
                     moves the other way. 200 weights' moves of 2e-3 times features of order 1 stay below 0.4; that so few are
                     nought is seen in the median, below 1e-4
"""
import csv
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

programs = [os.path.abspath(p) for p in sys.argv[1:3]]
old = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "old")


def run(program, *words):
    done = subprocess.run([program, *words, "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("%s %s: %s" % (program, " ".join(words), done.stderr))
    return done.stdout


def column(path):
    return [float(row[-1]) for row in csv.reader(open(path)) if row]


def points_of(name):
    rows = [row[:-1] for row in csv.reader(open(os.path.join(old, name + ".csv")))]
    with open("points.csv", "w") as f:
        csv.writer(f).writerows(rows)
    return "points.csv"


def both(model, points, device):
    values = []
    for k, program in enumerate(programs):
        run(program, "density", model[k], "--points", points, "--out", "values.csv", "--device", device, "--quiet")
        values.append(column("values.csv"))
    return sorted(abs(a - b) for a, b in zip(*values))


failed, worst = 0, {}


def compare(what, differences, bound, name):
    global failed
    most = differences[-1] if all(math.isfinite(d) for d in differences) else math.inf
    worst[what] = max(worst.get(what, 0.0), most / bound)
    if not most <= bound:
        failed += 1
        print("%s, %s: apart by %.3g, the bound is %.3g" % (what, name, most, bound))


compilers = [json.loads(run(p, "version", "--json"))["compiler"] for p in programs]
print("%s against %s" % tuple(compilers))
assert compilers[0].split()[0] != compilers[1].split()[0], "two compilers were expected"
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for path in sorted(glob.glob(os.path.join(old, "*.safetensors"))):
        name = os.path.basename(path)[: -len(".safetensors")]
        compare("stored models, reference", both([path] * 2, points_of(name), "reference"), 1e-11, name)
        compare("stored models, cpu", both([path] * 2, points_of(name), "cpu"), 1e-4, name)
    others = [os.path.join(old, name + ".safetensors") for name in ("field_t2", "series_t2")]
    assert both(others, points_of("field_t2"), "cpu")[0] > 0.0, "two models are seen to differ"
    run(programs[0], "simulate", "t2", "--authors", "--n", "300", "--seed", "1", "--out", "data.csv", "--truth", "truth.json",
        "--quiet")
    for what, bound, options in (
            ("series", 1e-6, ["--estimator", "series", "--max-frequency", "5", "--tau", "1e-3"]),
            ("kernels", 2e-5, ["--estimator", "kde", "--kappa", "20"]),
            ("field, 1 step", 0.4, ["--steps", "1", "--warmup", "0", "--width", "8", "--features", "8", "--tau", "1e-3"])):
        for k, program in enumerate(programs):
            run(program, "fit", "--domain", "T2", "--data", "data.csv", "--out", "model%d" % k, "--quiet", *options)
        differences = both(["model0", "model1"], "data.csv", "reference")
        compare(what, differences, bound, "the largest")
        if what == "field, 1 step":
            compare(what, [differences[len(differences) // 2]], 1e-4, "the median")
print("%d beyond their bounds; the largest share of a bound: %s" % (failed, ", ".join("%s %.1g" % v for v in worst.items())))
sys.exit(failed > 0)
