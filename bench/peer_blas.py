#!/usr/bin/python3
"""peer_blas.py - the products of a layer by a BLAS library, one thread, float32, beside those of `neuropmd bench`.

Shapes and layouts are those of a tile: 192 rows of 128 units, or 48 rows of 256. Leading dimensions are padded as in
the program. The median of the repeats is printed; a call through ctypes costs about a microsecond.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112
PAD = 16


def main():
    built = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "neuropmd")
    a = argparse.ArgumentParser(description="products of a layer by a BLAS library, one thread")
    a.add_argument("--library", default="libopenblas.so.0", help="with the C interface (cblas_sgemm)")
    a.add_argument("--neuropmd", metavar="PROGRAM", default=built, help="timed beside it")
    a.add_argument("--json", action="store_true")
    args = a.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    try:
        sgemm = ctypes.CDLL(args.library).cblas_sgemm
    except (OSError, AttributeError) as e:
        sys.exit(f"peer_blas.py: {e}; on Debian: apt-get install -y libopenblas0")
    one = ctypes.c_float(1)
    result = []
    for suffix, rows, width in (("", 192, 128), ("-256", 48, 256)):
        ld = width + PAD
        x, w, y = ((ctypes.c_float * (max(rows, width) * (max(rows, width) + PAD)))() for _ in range(3))
        for i in range(len(x)):
            x[i], w[i] = (i * 7 % 13 - 6) / 6, (i * 5 % 11 - 5) / 5
        # name: transposition of A and B, m, n, k, leading dimensions of A and B, beta
        calls = {
            "layer-forward": (PLAIN, PLAIN, rows, width, width, ld, ld, 0),          # y = x w
            "first-layer": (TRANSPOSED, PLAIN, rows, width, width, rows + PAD, ld, 0),  # the encoding is by features
            "input-gradient": (PLAIN, PLAIN, rows, width, width, ld, ld, 0),
            "weight-gradient": (TRANSPOSED, PLAIN, width, width, rows, ld, ld, 1),   # w += x' y
        }
        for name, (ta, tb, m, n, k, lda, ldb, beta) in calls.items():
            def call():
                sgemm(ROW_MAJOR, ta, tb, m, n, k, one, x, lda, w, ldb, ctypes.c_float(beta), y, ld)
            seconds = []
            for _ in range(30):
                start = time.perf_counter()
                for _ in range(50):
                    call()
                seconds.append((time.perf_counter() - start) / 50)
            result.append({"name": name + suffix, "gflops": 2e-9 * m * n * k / statistics.median(seconds)})
    for r in result:
        done = subprocess.run([args.neuropmd, "bench", "--only", r["name"], "--threads", "1", "--json", "--quiet"],
                              stdout=subprocess.PIPE, check=False) if os.access(args.neuropmd, os.X_OK) else None
        if done and done.returncode == 0:
            r["neuropmd_gflops"] = json.loads(done.stdout)["kernels"][0]["gflops"]
    if args.json:
        json.dump({"library": args.library, "products": result}, sys.stdout, indent=1)
        print()
        return
    print(f"{'GFLOP/s, one thread':<24}{args.library:>20}{'neuropmd':>10}")
    for r in result:
        print(f"{r['name']:<24}{r['gflops']:>20.1f}{r.get('neuropmd_gflops', float('nan')):>10.1f}")


if __name__ == "__main__":
    main()
