#!/usr/bin/env python3
"""kills.py PROGRAM [CASES [FIRST SEED]]: random fits, killed at random moments and resumed, against the same left alone.

A case is a function of its seed: points on some domain, an estimator, options that cost little. It is fitted once without
a checkpoint; then with one, killed (SIGKILL, SIGTERM, SIGINT) up to six times and resumed, on other numbers of threads,
until it ends; then resumed once more after its end. Model and log must be those of the first fit, byte for byte, but for
the seconds in the log, and nothing may be left behind but the checkpoint. A case that differs is named by its seed, and
its folder stays. Moments depend on the machine: a seed repeats the fit, not the moment.
"""
import glob
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MOST_KILLS = 6
SIGNALS = [signal.SIGKILL] * 3 + [signal.SIGTERM, signal.SIGINT]
LONGEST = 120.0  # seconds of one run: nothing here takes as long


def circle(r):
    return [(1.0 + r.gauss(0, 0.5) + (2.0 if r.random() < 0.3 else 0.0)) % (2 * math.pi)]


def sphere(r):
    x = [r.gauss(0, 1), r.gauss(0, 1), r.gauss(1.5, 1)]
    length = math.sqrt(sum(v * v for v in x))
    return [v / length for v in x]


DOMAINS = {"S1": [circle], "S1^2": [circle] * 2, "S2": [sphere], "S2 x S1": [sphere, circle], "S1^3": [circle] * 3}


def write_points(path, r, factors, n):
    with open(path, "w", encoding="ascii") as file:
        for _ in range(n):
            file.write(",".join(f"{v:.12f}" for factor in factors for v in factor(r)) + "\n")


def small(r, features=8, width=8):
    return ["--features", str(features), "--width", str(width), "--depth", r.choice(["2", "3"]), "--q1", "64", "--q2", "32",
            "--accuracy", "0.02"]


def given(r, steps=(50, 400)):
    return ["--tau", r.choice(["1e-4", "1e-3"]), "--steps", str(r.randint(*steps))]


def schedule(r):
    return r.choice([[], ["--schedule", "fixed"], ["--schedule", "triangular2", "--cycle", "40"], ["--warmup", "10"],
                     ["--integral", "importance", "--centres", "16"], ["--batch", "30"], ["--skip", "off"]])


def alone(r):
    return small(r) + given(r) + schedule(r)


def wild(r):
    """Blows up, and starts again at a lower rate, or ends as its linear start, or not at all."""
    return small(r) + given(r, (40, 200)) + ["--rate", r.choice(["0.1", "1", "10"]), "--clip", "0"] + r.choice([[], ["--skip", "off"]])


def stopped(r):
    return small(r) + given(r, (200, 600)) + ["--stop", r.choice(["ise", "snr"]), "--patience", r.choice(["3", "100"])]


def members(r):
    more = ["--members", r.choice(["2", "3", "4"]), "--combine", r.choice(["log", "mixture"])]
    if more[1] != "2":
        more += r.choice([[], ["--bootstrap", "on"]])
    return small(r) + given(r, (30, 150)) + more + r.choice([[], [], ["--base", "kde"], ["--stop", "snr", "--patience", "3"]])


def behind(r):
    """Three or four members on so short a training that some fall behind and are fitted again."""
    return ["--features", "8", "--width", "8", "--q1", "128", "--q2", "32", "--tau", "1e-3", "--steps", "150", "--accuracy",
            "0.02", "--members", r.choice(["3", "4"])] + r.choice([[], ["--bootstrap", "on"], ["--combine", "mixture"]])


def chosen(r):
    return ["--q1", "64", "--q2", "16", "--batch", "40", "--folds", "1", "--accuracy", "0.02"] + r.choice(
        [["--steps", "60"], ["--steps", "40", "--omega", "3"], ["--steps", "80", "--rivals", "off", "--skip", "off"]])


def chosen_members(r):
    return chosen(r) + ["--members", "2"]


def over_base(r):
    return small(r) + given(r, (30, 150)) + ["--base", r.choice(["kde", "series"]), "--max-frequency", "3"]


def blend(r):
    return ["--estimator", r.choice(["stack", "auto"])] + small(r) + given(r, (20, 80)) + [
        "--max-frequency", "3", "--folds", r.choice(["1", "2"]), "--stack-by", r.choice(["likelihood", "ise"])] + r.choice(
        [[], [], ["--members", "2"], ["--bootstrap", "on", "--members", "3"]])


def blend_chosen(r):
    return ["--estimator", r.choice(["stack", "auto"]), "--steps", "40"] + small(r) + ["--max-frequency", "3", "--folds", "1"]


def relu(r):
    return ["--estimator", "relu", "--width", "8", "--depth", "3", "--q1", "64", "--q2", "32", "--accuracy", "0.05"] + given(r, (50, 300))


def resampled(r):
    return ["--estimator", r.choice(["kde", "series"]), "--bootstrap", "on", "--members", "4", "--max-frequency", "2",
            "--tau", "1e-3"]


def select(r):
    return ["select", "--over", r.choice(["width=6:10", "depth=1:2,rate=1e-3:1e-2", "omega=2:4:6"])] + [
        "--features", "8", "--q1", "64", "--q2", "16", "--folds", "1", "--accuracy", "0.02", "--steps", "50"] + r.choice(
        [[], ["--tau", "1e-3"], ["--members", "2"]])


# kind: what makes its options, domains, points
KINDS = {"alone": (alone, DOMAINS, 60), "wild": (wild, ["S1^2", "S2"], 60), "stopped": (stopped, ["S1^2", "S1"], 120),
         "members": (members, DOMAINS, 60), "behind": (behind, ["S2 x S1"], 60), "chosen": (chosen, ["S1", "S1^2"], 120),
         "chosen_members": (chosen_members, ["S1"], 120), "over_base": (over_base, ["S1", "S1^2", "S2"], 80),
         "blend": (blend, ["S1", "S1^2", "S2"], 60), "blend_chosen": (blend_chosen, ["S1"], 120),
         "relu": (relu, ["S1", "S1^2", "S2"], 60), "resampled": (resampled, ["S1", "S1^2"], 60),
         "select": (select, ["S1", "S1^2"], 120)}


class Case:
    def __init__(self, program, seed, folder):
        r = self.random = random.Random(seed)
        self.program, self.seed, self.folder = program, seed, folder
        self.kind = r.choice(sorted(KINDS))
        make, domains, n = KINDS[self.kind]
        domain = r.choice(sorted(domains))
        write_points(os.path.join(folder, "points.csv"), r, DOMAINS[domain], r.randint(n, 2 * n))
        options = make(r)
        command = ["select"] if options[0] == "select" else ["fit"]
        self.options = command + options[len(command) - 1 if command[0] == "fit" else 1:] + [
            "--domain", domain, "--data", "points.csv", "--seed", str(r.randint(1, 6)), "--log-every", r.choice(["1", "7", "20"]),
            "--quiet"]
        self.every = r.choice(["0", "0.005", "0.02", "10"])
        self.kills = []

    def start(self, *more):
        passive = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # other work on this machine must not stop a spinning thread
        return subprocess.Popen([self.program, *self.options, *more, "--threads", self.random.choice("1112")], cwd=self.folder, env=passive,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def read(self, name):
        try:
            with open(os.path.join(self.folder, name), "rb") as file:
                return re.sub(rb'"seconds": [^,]*, ', b"", file.read())
        except FileNotFoundError:
            return None

    def results(self, process):
        try:
            said = process.communicate(timeout=LONGEST)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            return None, process.communicate()[1] + b" (it goes on for ever)"
        return process.returncode, said

    def run(self):
        """A sentence about what is wrong; None: nothing is."""
        begun = time.monotonic()
        code, said = self.results(self.start("--out", "whole", "--log", "whole.log"))
        took = time.monotonic() - begun
        if code not in (0, 4):  # what cannot be fitted cannot be fitted when resumed either
            return f"left alone it ends with {code}: {said[-300:]!r}"
        kept = ["--out", "m", "--log", "log", "--checkpoint", "ck", "--resume", "ck", "--checkpoint-every", self.every]
        for _ in range(self.random.randint(1, MOST_KILLS)):
            process, kill = self.start(*kept), self.random.choice(SIGNALS)
            try:
                process.wait(0.003 + self.random.random() * took * self.random.choice([0.1, 0.4, 0.7, 1.0]))
            except subprocess.TimeoutExpired:
                process.send_signal(kill)
                self.kills.append(kill)
            now, said = self.results(process)
            if now in (0, 4):
                break
            if now not in (130, -kill):
                return f"killed by {kill.name} it ends with {now}: {said[-300:]!r}"
            # a run before may have been killed when its model was there
            if now == 130 and self.read("m") not in (None, self.read("whole")):
                return "interrupted with a checkpoint, and there is another model"
        for turn in ("resumed", "resumed after its end"):
            now, said = self.results(self.start(*kept))
            if now != code:
                return f"{turn} it ends with {now} and not {code}: {said[-300:]!r}"
            if self.read("m") != self.read("whole"):
                return f"{turn} the model is another one"
            if code == 0 and self.read("log") != self.read("whole.log"):
                return f"{turn} the log is another one"
        left = {os.path.basename(f) for f in glob.glob(os.path.join(self.folder, "*"))}
        left -= {"points.csv", "whole", "whole.log", "m", "log", "ck", "ck.parts"}
        return f"left behind: {sorted(left)}" if left and code == 0 else None


def main(program, cases="300", first="1"):
    work = tempfile.mkdtemp(prefix="neuropmd_kills.")
    program, wrong, kills, kinds = os.path.abspath(program), 0, [], {}
    for seed in range(int(first), int(first) + int(cases)):
        folder = os.path.join(work, str(seed))
        os.mkdir(folder)
        case = Case(program, seed, folder)
        said = case.run()
        kills += case.kills
        kinds[case.kind] = kinds.get(case.kind, 0) + 1
        if said is None:
            shutil.rmtree(folder)
            continue
        wrong += 1
        print(f"seed {seed}, {case.kind}, {len(case.kills)} kills: {said}\n    in {folder}: {' '.join(case.options)}", flush=True)
    if not wrong:
        shutil.rmtree(work)
    counts = ", ".join(f"{kills.count(s)} {s.name}" for s in sorted(set(SIGNALS)))
    print(", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    print(f"{cases} fits, seeds {first} to {int(first) + int(cases) - 1}, {len(kills)} kills ({counts}): {wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
