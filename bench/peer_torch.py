#!/usr/bin/python3
"""peer_torch.py - the steps of `neuropmd bench` in PyTorch: float32, eager, automatic differentiation.

The same work, written after the paper: batch, fresh points for the integral and the penalty, the three terms of the
objective, the gradient, Adam. On tori the Laplacian is a sum of second derivatives by automatic differentiation in
the angles; on S2 x S2 it is tr(P H P) with a Hessian by central differences, 133 passes of the network.

Styles, made of choices:
  plain     as PyTorch comes
  authors   settings of the process alone, nothing of the computation: memory is kept instead of given back
            (memory), 512-bit instructions (avx512), threads sleep instead of spinning (passive)
  tuned     what else can be done without leaving eager PyTorch: all harmonics of a sphere together (together),
            omega folded into the weights (fold), encodings of the data kept (once), no derivatives by points that
            nobody wants (detach), and on tori the points in tiles (tile)

Before anything is timed, the Laplacians are checked in double precision: against the closed form on tori, against
automatic differentiation in spherical coordinates on S2 x S2. Where build/neuropmd is there (or --neuropmd names
it), it is timed between the styles, and the ratio of the two is printed.
"""
import argparse
import ctypes
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time

OMEGA = 10.0  # frequency of every sine layer
SHIFT = 1e-3  # step of the finite differences, in ambient coordinates
TAU = 1e-5    # multiplies the mean of (Lap v)^2; its value costs nothing

# name: domain, features K, width W, depth L with the linear output, batch b, q1, q2, highest frequency or degree;
# steps timed, points evaluated
ROWS = {
    "T2": ("T2", 128, 128, 3, 9000, 1024, 1024, 10, 40, 400000),
    "T4-paper": ("T4", 256, 128, 4, 50000, 1024, 1024, 20, 12, 0),
    "T4": ("T4", 256, 128, 4, 47500, 65536, 16384, 20, 6, 200000),
    "S2xS2": ("S2 x S2", 256, 256, 6, 115411, 100000, 10000, 10, 4, 40000),
}
CHOICES = ("together", "fold", "once", "detach", "memory", "avx512", "passive", "tile")
STYLES = {"plain": (), "authors": ("memory", "avx512", "passive"), "tuned": CHOICES}
TILE = {"T2": (4096, 1024), "T4": (4096, 1024)}  # points of a tile: values, Laplacians
PROGRAM = {"T2": "t2", "T4-paper": "t4", "T4": "t4-authors", "S2xS2": "s2s2"}  # names in `neuropmd bench`
EVALUATED_TILE = 4096


def prepare(threads, choices, device):
    """What must be set before PyTorch is loaded, then PyTorch. On another device than the cpu everything is made there."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
    if "passive" in choices:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    if "avx512" in choices:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            if {"avx512vl", "avx512bw", "avx512dq"} <= set(f.read().split()):
                os.environ["ATEN_CPU_CAPABILITY"] = "avx512"
    if "memory" in choices:
        for name, value in ((-4, 0), (-1, 2**31 - 1), (-8, 1)):  # M_MMAP_MAX, M_TRIM_THRESHOLD, M_ARENA_MAX
            ctypes.CDLL(None).mallopt(name, value)
    try:
        import torch as module
    except ImportError:
        sys.exit("peer_torch.py: this Python has no torch; on Debian: apt-get install -y --no-install-recommends "
                 "python3-torch, then run it with /usr/bin/python3")
    module.set_num_threads(threads)
    if device != "cpu":
        module.set_default_device(device)
    return module


# Encodings: n points, one a row, to n x K features. jet: features, their derivatives, eigenvalues, for the checks.

class Circles:
    """Products over the circles of 1, cos kx, sin kx, orthonormal, drawn without replacement."""

    def __init__(self, circles, frequency, features, dtype):
        side = 2 * frequency + 1
        drawn = torch.randperm(side**circles)[:features]
        self.index = [drawn // side**d % side for d in range(circles)]
        self.k = torch.arange(1, frequency + 1, dtype=dtype)[:, None]

    def table(self, x):  # n angles to (2 frequency + 1) x n
        a = self.k * x
        return torch.cat((torch.full_like(x, math.sqrt(0.5))[None], a.cos(), a.sin())) / math.sqrt(math.pi)

    def derivative(self, x):
        a = self.k * x
        return torch.cat((torch.zeros_like(x)[None], -self.k * a.sin(), self.k * a.cos())) / math.sqrt(math.pi)

    def __call__(self, x):
        first, *rest = [self.table(x[:, d]).index_select(0, i) for d, i in enumerate(self.index)]
        return math.prod(rest, start=first).t()

    def jet(self, x):
        k = torch.cat((0 * self.k[:1], self.k, self.k))[:, 0]
        gradient = [math.prod((self.derivative if e == d else self.table)(x[:, e])[i]
                              for e, i in enumerate(self.index)).t() for d in range(len(self.index))]
        return self(x), gradient, sum(k[i]**2 for i in self.index)


class Waves:
    """cos and sin of f . x, f drawn from {1..frequency}^circles."""

    def __init__(self, circles, frequency, features, dtype):
        self.f = torch.randint(1, frequency + 1, (circles, features // 2)).to(dtype)

    def __call__(self, x):
        a = x @ self.f
        return torch.cat((a.cos(), a.sin()), 1)

    def jet(self, x):
        a = x @ self.f
        gradient = [torch.cat((-f * a.sin(), f * a.cos()), 1) for f in self.f]
        return self(x), gradient, (self.f**2).sum(0).repeat(2)


class Spheres:
    """Products of two real spherical harmonics, orthonormal, drawn without replacement, of x / |x|: constant along
    normals. Y = q(z) Re or Im (x + i y)^m with q by its recurrence in l, all m at a time."""

    def __init__(self, degree, features, dtype, together=True):
        side = (degree + 1)**2
        drawn = torch.randperm(side * side)[:features]
        self.index = drawn // side, drawn % side
        self.degree, self.together = degree, together
        self.recurrence = []
        for l in range(2, degree + 1):
            m = torch.arange(0, l - 1, dtype=torch.float64)[:, None]
            a = torch.sqrt((4 * l * l - 1) / (l * l - m * m))
            b = torch.sqrt(((l - 1)**2 - m * m) / (4 * (l - 1)**2 - 1))
            self.recurrence.append((a.to(dtype), (a * b).to(dtype)))

    def table(self, p):  # 3 x n to (degree + 1)^2 x n, row l^2 + m or l^2 + l + m
        x, y, z = (p / p.norm(dim=0)).unbind(0)
        re, im = [torch.full_like(x, math.sqrt(2))], [torch.zeros_like(x)]
        for m in range(self.degree):
            re.append(x * re[m] - y * im[m])
            im.append(x * im[m] + y * re[m])
        re[0] = torch.ones_like(x)
        re, im = torch.stack(re), torch.stack(im)
        q, rows = [torch.full_like(x, math.sqrt(0.25 / math.pi))[None]], []
        for l in range(self.degree + 1):
            if l > 0:
                corner = q[-1][-1:]
                new = [math.sqrt(2 * l + 1) * z * corner, math.sqrt(1 + 0.5 / l) * corner]
                if l > 1:
                    a, b = self.recurrence[l - 2]
                    new.insert(0, a * z * q[-1][:-1] - b * q[-2])
                q.append(torch.cat(new))
            rows += [q[-1] * re[:l + 1], q[-1][1:] * im[1:l + 1]]
        return torch.cat(rows)

    def __call__(self, x):
        if not self.together:
            return self.one_by_one(x[:, :3])[:, self.index[0]] * self.one_by_one(x[:, 3:])[:, self.index[1]]
        x = x.t()
        return (self.table(x[:3]).index_select(0, self.index[0])
                * self.table(x[3:]).index_select(0, self.index[1])).t()

    def one_by_one(self, p):  # n x 3 to n x (degree + 1)^2: Y_lm = N P_lm(cos g1) e^{i m g2}, then Re and Im
        p = p / p.norm(dim=1, keepdim=True)
        z, g2 = p[:, 2], torch.atan2(p[:, 1], p[:, 0])
        s = torch.sqrt((1 - z * z).clamp_min(0))
        harmonics = []
        for l in range(self.degree + 1):
            y = [self.legendre(l, m, z, s) * torch.exp(1j * m * g2) for m in range(l + 1)]
            harmonics += [y[0].real] + [math.sqrt(2) * y[m].real for m in range(1, l + 1)]
            harmonics += [math.sqrt(2) * y[m].imag for m in range(1, l + 1)]
        return torch.stack(harmonics, 1)

    @staticmethod
    def legendre(l, m, z, s):  # orthonormal P_lm, z = cos g1, s = sin g1
        scale = math.sqrt(math.prod(1 + 0.5 / k for k in range(1, m + 1)) / (4 * math.pi))
        below, p = torch.zeros_like(z), scale * s**m
        for k in range(m + 1, l + 1):
            a = math.sqrt((4 * k * k - 1) / (k * k - m * m))
            b = math.sqrt(((k - 1)**2 - m * m) / (4 * (k - 1)**2 - 1))
            below, p = p, a * (z * p - b * below)
        return p


def make_network(features, width, depth, fold, dtype):
    """depth - 1 sine layers and a linear one; fold: omega multiplies the weights, not the pre-activations."""
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            sizes = [features] + [width] * (depth - 1) + [1]
            self.layers = torch.nn.ModuleList(torch.nn.Linear(m, n, dtype=dtype) for m, n in zip(sizes, sizes[1:]))
            for i, layer in enumerate(self.layers):
                bound = 1 / features if i == 0 else math.sqrt(6 / width) / OMEGA
                torch.nn.init.uniform_(layer.weight, -bound, bound)

        def forward(self, h):
            for layer in self.layers[:-1]:
                if fold:
                    h = torch.nn.functional.linear(h, OMEGA * layer.weight, OMEGA * layer.bias).sin()
                else:
                    h = (OMEGA * layer(h)).sin()
            return self.layers[-1](h)[:, 0]

    return Network()


def laplacian_torus(encoding, network, x):
    """Sum of the second derivatives in the angles, one coordinate at a time."""
    x = x.detach().requires_grad_(True)
    gradient, = torch.autograd.grad(network(encoding(x)).sum(), x, create_graph=True)
    return sum(torch.autograd.grad(gradient[:, d].sum(), x, create_graph=True)[0][:, d] for d in range(x.shape[1]))


def laplacian_spheres(encoding, network, x):
    """tr(P H P), H the Hessian in the 6 ambient coordinates by central differences: one pass of the network at the
    points, 2 for each of 6 squares, 4 for each of 30 ordered pairs: 133. It is the Laplacian because the encoding
    is constant along normals."""
    e = SHIFT * torch.eye(6, dtype=x.dtype)

    def v(shift):
        with torch.no_grad():
            eta = encoding(x + shift)
        return network(eta)

    middle = v(0)
    hessian = torch.stack([torch.stack([
        (v(e[i]) - 2 * middle + v(-e[i])) / SHIFT**2 if i == j else
        (v(e[i] + e[j]) - v(e[i] - e[j]) - v(e[j] - e[i]) + v(-e[i] - e[j])) / (4 * SHIFT**2)
        for j in range(6)], 1) for i in range(6)], 1)
    tangent = torch.zeros(len(x), 6, 6, dtype=x.dtype)
    for s in (slice(0, 3), slice(3, 6)):
        tangent[:, s, s] = torch.eye(3, dtype=x.dtype) - x[:, s, None] * x[:, None, s]
    return (tangent @ hessian @ tangent).diagonal(dim1=1, dim2=2).sum(1)


class Problem:
    """One row of the table: its encoding, network, data and step."""

    def __init__(self, name, quarter, choices):
        self.domain, features, width, depth, b, q1, q2, frequency, self.repeats, self.evaluated = ROWS[name]
        if quarter and self.domain == "S2 x S2":
            b, q1, q2 = -(-b // 4), q1 // 4, q2 // 4
        self.b, self.q1, self.q2 = b, q1, q2
        self.choices = choices
        self.tile = TILE[self.domain] if self.domain in TILE and "tile" in choices else (b + q1, q2)
        torch.manual_seed(1)
        self.circles = {"T2": 2, "T4": 4}.get(self.domain, 0)
        if self.circles:
            self.sobol = torch.quasirandom.SobolEngine(self.circles, scramble=True, seed=1)
            self.volume = (2 * math.pi)**self.circles
            make = Circles if self.domain == "T2" else Waves
            self.encoding = make(self.circles, frequency, features, torch.float32)
        else:
            self.volume = (4 * math.pi)**2
            self.encoding = Spheres(frequency, features, torch.float32, "together" in choices)
        self.encoding.device = torch.empty(0).device
        self.network = make_network(features, width, depth, "fold" in choices, torch.float32)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=1e-4)
        self.data = self.uniform(b)
        if "once" in choices:
            with torch.no_grad():
                self.encoded = self.encoding(self.data).contiguous()

    def uniform(self, n):
        if self.circles:
            return self.sobol.draw(n).to(self.encoding.device) * (2 * math.pi)
        x = torch.randn(n, 2, 3)
        return (x / x.norm(dim=2, keepdim=True)).view(n, 6)

    def value(self, x):
        if "detach" not in self.choices:
            return self.network(self.encoding(x.detach().requires_grad_(True)))
        with torch.no_grad():
            eta = self.encoding(x)
        return self.network(eta)

    def laplacian(self, x):
        return (laplacian_torus if self.circles else laplacian_spheres)(self.encoding, self.network, x)

    def terms(self):
        """-mean v at the data, the integral of exp v, the penalty; in tiles of points."""
        if "once" in self.choices:
            for eta in self.encoded.split(self.tile[0]):
                yield self.network(eta).sum() * (-1 / self.b)
        else:
            for x in self.data.split(self.tile[0]):
                yield self.value(x).sum() * (-1 / self.b)
        for x in self.uniform(self.q1).split(self.tile[0]):
            yield self.value(x).exp().sum() * (self.volume / self.q1)
        for x in self.uniform(self.q2).split(self.tile[1]):
            yield self.laplacian(x).square().sum() * (TAU / self.q2)

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        if self.domain in TILE and "tile" in self.choices:
            for term in self.terms():
                term.backward()
        else:
            sum(self.terms()).backward()
        self.optimiser.step()

    def evaluate(self, points):
        with torch.inference_mode():
            return torch.cat([self.network(self.encoding(x)) for x in points.split(EVALUATED_TILE)])


# Checks. In float64, on a small network of the same make as the one that is timed.

def jet_laplacian(encoding, network, x):
    """Closed form: value, derivatives and Laplacian carried through the layers (docs/mathematics.md)."""
    h, gradient, eigenvalue = encoding.jet(x)
    laplacian = -eigenvalue * h
    for layer in network.layers[:-1]:
        a = OMEGA * layer(h)
        h, cos = a.sin(), a.cos()
        along = [OMEGA * g @ layer.weight.t() for g in gradient]
        laplacian = cos * (OMEGA * laplacian @ layer.weight.t()) - h * sum(t * t for t in along)
        gradient = [cos * t for t in along]
    return (laplacian @ network.layers[-1].weight.t())[:, 0]


def intrinsic_laplacian(encoding, network, angles):
    """On S2 x S2 in inclination and azimuth, by automatic differentiation; rows of angles: (g1, g2, g1', g2')."""
    g = [a.detach().requires_grad_(True) for a in angles.unbind(1)]
    v = network(encoding(sphere_points(torch.stack(g, 1))))
    first = torch.autograd.grad(v.sum(), g, create_graph=True)
    second = [torch.autograd.grad(d.sum(), a, retain_graph=True)[0] for d, a in zip(first, g)]
    return sum(second[s] + first[s] / g[s].tan() + second[s + 1] / g[s].sin()**2 for s in (0, 2))


def sphere_points(g):
    return torch.stack([f for s in (0, 2) for f in (g[:, s].sin() * g[:, s + 1].cos(),
                                                     g[:, s].sin() * g[:, s + 1].sin(), g[:, s].cos())], 1)


def error(a, b):
    return ((a - b).norm() / b.norm()).item()


def check():
    """Relative errors with their bounds: [what, error, bound]."""
    out = []
    for name, make, circles in (("T2", Circles, 2), ("T4", Waves, 4)):
        torch.manual_seed(2)
        encoding, x = make(circles, 3, 8, torch.float64), 6 * torch.rand(50, circles, dtype=torch.float64)
        network = make_network(8, 5, 3, True, torch.float64)
        # Rounding alone parts the two: 1e-10 leaves six digits for the growth of errors through the sines.
        out.append([name + ": automatic differentiation, closed form",
                    error(laplacian_torus(encoding, network, x), jet_laplacian(encoding, network, x)), 1e-10])
    torch.manual_seed(2)
    encoding, network = Spheres(10, 256, torch.float64), make_network(256, 32, 3, True, torch.float64)
    g = 0.3 + 2.5 * torch.rand(50, 4, dtype=torch.float64)
    x = sphere_points(g)
    table, l = encoding.table(x[:, :3].t()), torch.arange(11)
    sums = torch.stack([table[k * k:(k + 1)**2].square().sum(0) for k in l])
    out.append(["S2: sum over m of Y_lm^2 = (2 l + 1) / 4 pi",
                error(sums, (2 * l[:, None].double() + 1).expand_as(sums) / (4 * math.pi)), 1e-12])
    encoding.together = False
    other = encoding(x)
    encoding.together = True
    # Both are recurrences of ten steps.
    out.append(["S2 x S2: harmonics one by one, all together", error(other, encoding(x)), 1e-12])
    # Central differences leave (k h)^2 / 12 of a wave of frequency k, and more in mixed terms: 3e-3 allows k = 100.
    out.append(["S2 x S2: 133 passes, automatic differentiation in angles",
                error(laplacian_spheres(encoding, network, x), intrinsic_laplacian(encoding, network, g)), 3e-3])
    # In float32 rounding of v, 2^-24 |v|, is divided by h^2: an error of about 0.06 |v| a second difference.
    exact = laplacian_spheres(encoding, network, x)
    single = make_network(256, 32, 3, True, torch.float32)
    single.load_state_dict(network.state_dict())
    torch.manual_seed(2)
    out.append(["the same in float32",
                error(laplacian_spheres(Spheres(10, 256, torch.float32), single, x.float()), exact), 1])
    return out


# Timing.

def busy():
    """CPU seconds spent by every process since the start of the machine; none where there is no /proc."""
    try:
        with open("/proc/stat", encoding="ascii") as f:
            t = [int(v) for v in f.readline().split()[1:9]]
        return (sum(t) - t[3] - t[4]) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return math.nan


def repeat(f, times, threads):
    """Runs f once, then times: wall and CPU milliseconds of each, and what share of the machine others took."""
    work, wait = f, torch.cuda.synchronize if torch.empty(0).is_cuda else lambda: None

    def f():
        work()
        wait()

    f()
    wall, cpu, start = [], [], (busy(), time.perf_counter(), time.process_time())
    for _ in range(times):
        w, c = time.perf_counter(), time.process_time()
        f()
        wall.append(1e3 * (time.perf_counter() - w))
        cpu.append(1e3 * (time.process_time() - c) / threads)
    spent, seconds, own = busy() - start[0], time.perf_counter() - start[1], time.process_time() - start[2]
    return wall, cpu, max(0.0, (spent - own) / (seconds * os.cpu_count()))


def spread(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def time_row(name, style, args):
    p = Problem(name, not args.full, args.choices)
    wall, cpu, others = repeat(p.step, args.repeats or p.repeats, args.threads)
    out = {"name": name, "style": style, "batch": p.b, "q1": p.q1, "q2": p.q2, "repeats": len(wall)}
    out["ms_quartile1"], out["ms"], out["ms_quartile3"] = spread(wall)
    out["ms_best"], out["cpu_ms"], out["others_share"] = min(wall), statistics.median(cpu), others
    out["peak_memory_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if "once" not in p.choices and not p.data.is_cuda:
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(p.data), batch_size=p.b, shuffle=True)
        out["loader_ms"] = statistics.median(repeat(lambda: next(iter(loader)), 3, args.threads)[0])
    if p.evaluated:
        points = p.uniform(p.evaluated)
        wall, cpu, _ = repeat(lambda: p.evaluate(points), 5, args.threads)
        out["points_per_second"] = 1e3 * p.evaluated / statistics.median(wall)
        out["points_per_cpu_second"] = 1e3 * p.evaluated / statistics.median(cpu)
    return out


def child(args, *what):
    """Each row in a process of its own: its peak memory is its own, and so is its allocator."""
    command = [sys.executable, os.path.abspath(__file__), "--threads", str(args.threads), "--device", args.device, "--child", *what]
    if args.full:
        command.append("--full")
    if args.repeats:
        command += ["--repeats", str(args.repeats)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def time_program(args, name):
    """Milliseconds of the same step by the program; None where it is not there."""
    if not args.neuropmd:
        return None
    command = [args.neuropmd, "bench", "--only", PROGRAM[name], "--threads", str(args.threads), "--json", "--quiet"]
    command += ["--device", args.device]
    done = subprocess.run(command + ["--full"] * args.full, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"peer_torch.py: {args.neuropmd} bench ended with status {done.returncode}")
    rows = json.loads(done.stdout)["steps" if args.device == "cpu" else "device"]
    return next(s["ms"] for s in rows if s["name"] == PROGRAM[name])


def main():
    built = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "neuropmd")
    a = argparse.ArgumentParser(description="the optimisation steps of `neuropmd bench` in PyTorch",
                                epilog="styles and choices are explained at the top of this file")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--device", default="cpu", help="cpu, or cuda (then S2 x S2 with all points: --full)")
    a.add_argument("--repeats", type=int, help="steps timed; by default more for the short ones")
    a.add_argument("--only", metavar="NAME", help="one of " + ", ".join(ROWS))
    size = a.add_mutually_exclusive_group()
    size.add_argument("--quarter", action="store_true", help="S2 x S2 with a quarter of all points (the default)")
    size.add_argument("--full", action="store_true", help="S2 x S2 with all: plain takes 24 GB of memory")
    a.add_argument("--style", action="append", metavar="S", help="plain, authors, tuned (by default the last two), or "
                   "choices joined by '+': " + ", ".join(CHOICES))
    a.add_argument("--neuropmd", metavar="PROGRAM", default=built if os.access(built, os.X_OK) else None,
                   help="timed beside PyTorch; build/neuropmd if it is there")
    a.add_argument("--json", action="store_true")
    a.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    args = a.parse_args()

    def choices(style):
        out = STYLES.get(style, tuple(style.split("+")))
        for c in out:
            if c not in CHOICES:
                a.error(f"found the choice '{c}', expected one of {', '.join(CHOICES)}")
        return out

    global torch
    if args.child:
        args.choices = choices(args.child[0])
        torch = prepare(args.threads, args.choices, args.device)
        json.dump(check() if len(args.child) == 1 else time_row(args.child[1], args.child[0], args), sys.stdout)
        return 0
    names = {n.lower(): n for n in ROWS}
    if args.only and args.only.lower() not in names:
        a.error(f"found --only {args.only}, expected one of {', '.join(ROWS)}")
    styles = args.style or ["authors", "tuned"]
    for style in styles:
        choices(style)

    checks = child(args, "plain")
    failed = sum(not e <= bound for _, e, bound in checks)
    result = {"threads": args.threads, "steps": [],
              "checks": [{"what": what, "error": e, "bound": bound} for what, e, bound in checks]}
    if not args.json:
        for what, e, bound in checks:
            print(f"{'ok  ' if e <= bound else 'FAIL'}  {what}: {e:.1e} (bound {bound:.0e})")
        print(f"\n{'ms a step':<20}{'b':>8}{'q1':>8}{'q2':>7}  {'best':>8}{'25 %':>8}{'median':>8}{'75 %':>8}"
              f"{'cpu':>8}{'others':>8}{'memory':>9}{'loader':>8}{'points/s':>12}"
              + (f"{'neuropmd':>10}{'ratio':>7}" if args.neuropmd else ""))
    for name in [names[args.only.lower()]] if args.only else ROWS if not failed else []:
        for style in styles:
            ours = time_program(args, name)
            r = child(args, style, name)
            if ours:
                r["neuropmd_ms"] = statistics.mean((ours, time_program(args, name)))
                r["ratio"] = r["ms"] / r["neuropmd_ms"]
            result["steps"].append(r)
            if not args.json:
                print(f"{name + ', ' + style:<20}{r['batch']:>8}{r['q1']:>8}{r['q2']:>7}  {r['ms_best']:>8.4g}"
                      f"{r['ms_quartile1']:>8.4g}{r['ms']:>8.4g}{r['ms_quartile3']:>8.4g}{r['cpu_ms']:>8.4g}"
                      f"{r['others_share']:>8.0%}{r['peak_memory_bytes'] / 1e9:>6.2f} GB"
                      f"{format(r['loader_ms'], '.0f') if 'loader_ms' in r else '':>8}"
                      f"{format(r['points_per_second'], ',.0f') if 'points_per_second' in r else '':>12}"
                      + (f"{r['neuropmd_ms']:>10.4g}{r['ratio']:>7.1f}" if ours else ""), flush=True)
    if args.json:
        json.dump(result, sys.stdout, indent=1)
        print()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
