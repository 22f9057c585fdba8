"""check_run.py PROGRAM - holds the runner to pages whose verdicts are known: of wrong.md every block fails, of
wrong_output.md every second one, and what is shown rightly is found right."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run  # noqa: E402


def verdicts(page):
    done = subprocess.run([sys.executable, os.path.join(run.HERE, "run.py"), sys.argv[1], "tests/docs/" + page],
                          capture_output=True, text=True)
    assert done.returncode == 1, f"{page}: exit status {done.returncode}"
    return [line.startswith("ok") for line in done.stdout.split("\n") if line.startswith(("ok ", "not ok "))]


assert verdicts("wrong.md") == [False] * 11, "a block of wrong.md passed"
assert verdicts("wrong_output.md") == [True, False] * 5, "an output of wrong_output.md was taken for right"

right = [
    ("points 2,000 on S1^2", "points     2,000 on S1^2", 0.01),
    ("ae 0.126", "ae 0.1265", 0.0),  # one unit of the last digit shown
    ("took ... s", "took 12.5 s", 0.01),
    ("a\n...\nz", "a\nb\nc\nz", 0.01),
    ("tau 1e-4", "tau 0.0001", 0.01),
]
for shown, found, tolerance in right:
    assert run.compare(shown, found, tolerance) is None, (shown, found)
for shown, found, tolerance in [("ae 0.126", "ae 0.128", 0.01), ("n 100", "n 102", 0.01), ("a", "a\nb", 0.01), ("...\nz", "a\nb", 0.01)]:
    assert run.compare(shown, found, tolerance) is not None, (shown, found)
print("1 passed, 0 failed")
